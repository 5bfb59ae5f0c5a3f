"""The scorer: the evaluator on the test rows, and a hand-written loop, to the last bit."""

import pickle
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse
from sklearn import clone, config_context
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - it is experimental
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import skstream as sk
from skstream.metrics import Measure, kappa_m_score
from skstream.model_selection import (
    ExpandingWindowSplit,
    FutureLeakWarning,
    PrequentialSplit,
    check_time_order,
    prequential_scorer,
)
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import make_demo_stream
from tests._examples import examples

X, Y, _ = next(iter(make_demo_stream(240, random_state=3)))
N = 80
SGD = SGDClassifier(random_state=0)
LOG = SGDClassifier(loss="log_loss", random_state=0)
MODELS = {
    "sgd": SGD,
    "corrected": sk.TemporalCorrection(LOG, fading_factor=0.99),
    "augmented": sk.TemporallyAugmented(SGD),
    "scaled": sk.make_stream_pipeline(StandardScaler(), SGD),
    "naive Bayes": IncrementalGaussianNB(),
    "persistent": sk.Persistent(),
    "frozen": FrozenEstimator(clone(SGD).fit(X[:N], Y[:N])),
}
METRICS = ["accuracy", "error", "kappa", "kappa_m", "kappa_temporal", "kappa_plus", "f1:UP"]


def hand_loop(model, rows, labels, weight=None):
    """Share of rows that a fitted model predicts before it learns them."""
    right = np.zeros(len(labels), dtype=bool)
    for row in range(len(labels)):
        right[row] = model.predict(rows[[row]])[0] == labels[row]
        if weight is None or weight[row] > 0:
            w = {} if weight is None else {"sample_weight": weight[[row]]}
            model.partial_fit(rows[[row]], labels[[row]], **w)
    # Sums of whole numbers are exact in any order.
    weight = np.ones(len(labels)) if weight is None else weight
    return weight[right].sum() / weight.sum()


def evaluated(model, metric, rows, labels, **params):
    evaluator = sk.PrequentialEvaluator(metric, n_warmup=0, **params)
    return evaluator.evaluate(
        {"m": model}, rows, labels, classes=["DOWN", "UP"], warm_start=True
    ).scores["m"]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_the_scorer_is_the_evaluator_on_the_same_rows(name, engine):
    model = clone(MODELS[name]).fit(X[:N], Y[:N])
    before = pickle.dumps(model)
    # The loop is slow: fewer rows and measures.
    metrics, end = (METRICS, 240) if engine == "auto" else (METRICS[3:5], 110)
    rows, labels = X[N:end], Y[N:end]
    expected = evaluated(model, metrics, rows, labels, run=sk.RunOptions(kernels=engine == "auto"))
    scores = {
        m: prequential_scorer(m, kernels=engine == "auto")(model, rows, labels) for m in metrics
    }
    assert scores == {m: -expected[m] if m == "error" else expected[m] for m in metrics}
    assert pickle.dumps(model) == before


@given(
    begin=st.integers(20, 100),
    size=st.integers(1, 40),
    batch_size=st.integers(1, 70),
    forgetting=st.sampled_from(["cumulative", "window:7", sk.FadingFactor(0.9), "adwin"]),
    metric=st.sampled_from(METRICS),
    name=st.sampled_from(sorted(MODELS)),
    engine=st.sampled_from(["auto", "loop"]),
)
@examples(15)
@pytest.mark.filterwarnings("ignore:batch_size=", "ignore:Undefined at the last row")
def test_the_scorer_is_the_evaluator_under_all_settings(
    begin, size, batch_size, forgetting, metric, name, engine
):
    model = clone(MODELS[name]).fit(X[:begin], Y[:begin])
    rows, labels = X[begin : begin + size], Y[begin : begin + size]
    options, kernels = {"forgetting": forgetting, "batch_size": batch_size}, engine == "auto"
    score = prequential_scorer(metric, kernels=kernels, **options)(model, rows, labels)
    run = sk.RunOptions(kernels=kernels)
    expected = evaluated(model, metric, rows, labels, run=run, **options)[metric]
    np.testing.assert_equal(score, -expected if metric == "error" else expected)


@pytest.mark.parametrize("splitter", [PrequentialSplit(N), PrequentialSplit(N, n_splits=3, gap=2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_grid_search_is_a_hand_loop(splitter, weighted):
    model = MODELS["corrected"]
    weight = np.arange(130) % 3.0 if weighted else None
    grid = [{"fading_factor": [0.9]}, {"estimator__alpha": [1e-2]}]
    search = GridSearchCV(
        model, grid, scoring=prequential_scorer("accuracy"), cv=splitter, error_score="raise"
    )
    rows, labels = X[:130], Y[:130]
    search.fit(rows, labels, **({} if weight is None else {"sample_weight": weight}))
    for i, params in enumerate(search.cv_results_["params"]):
        for k, (train, test) in enumerate(splitter.split(rows)):
            fitted = clone(model).set_params(**params)
            w = {} if weight is None else {"sample_weight": weight[train]}
            fitted.fit(X[train], Y[train], **w)
            tested = None if weight is None else weight[test]
            expected = hand_loop(fitted, X[test], Y[test], tested)
            assert search.cv_results_[f"split{k}_test_score"][i] == expected


def test_the_first_test_row_is_asked_and_baselines_begin_with_it():
    model = sk.Persistent().fit(X[:2], ["DOWN", "UP"])
    assert prequential_scorer("accuracy")(model, X[2:3], ["UP"]) == 1.0
    assert prequential_scorer("accuracy")(model, X[2:3], ["DOWN"]) == 0.0
    # It knows the last training label; the baseline, which does not, has no answer to row 0.
    rows, labels = X[2:6], ["DOWN", "DOWN", "UP", "UP"]
    assert prequential_scorer("kappa_temporal")(model, rows, labels) == 0.0


def test_all_tools_of_scikit_learn_take_it():
    model, cv = MODELS["corrected"], PrequentialSplit(N)
    accuracy = prequential_scorer("accuracy")
    expected = accuracy(clone(model).fit(X[:N], Y[:N]), X[N:], Y[N:])
    scorers = {m: prequential_scorer(m) for m in ("accuracy", "kappa_temporal", "error")}
    found = cross_validate(model, X, Y, cv=cv, scoring=scorers, error_score="raise")
    assert found["test_accuracy"] == [expected] == 1 + found["test_error"]
    values = validation_curve(
        model, X, Y, param_name="fading_factor", param_range=[0.9, 0.99], cv=cv, scoring=accuracy
    )
    assert values[1][1] == expected
    # The oldest rows of the warm-up: those between them and the test rows are not learnt.
    _, _, curve = learning_curve(model, X, Y, train_sizes=[40, N], cv=cv, scoring=accuracy)
    assert curve[1] == expected
    assert curve[0] == accuracy(clone(model).fit(X[:40], Y[:40]), X[N:], Y[N:])
    search = RandomizedSearchCV(
        model, {"fading_factor": [0.99, 0.9]}, n_iter=2, cv=cv, scoring=accuracy, random_state=0
    )
    with parallel_config(backend="threading", n_jobs=2):
        search.fit(X, Y)
    assert expected in search.cv_results_["mean_test_score"]
    assert search.score(X, Y) == accuracy(search.best_estimator_, X, Y)
    assert repr(clone(search).scoring) == repr(pickle.loads(pickle.dumps(accuracy)))


def test_weights_are_routed():
    weight = np.arange(240) % 2.0
    fitted = clone(SGD).fit(X[:N], Y[:N])
    expected = prequential_scorer("accuracy")(fitted, X[N:], Y[N:], sample_weight=weight[N:])
    assert expected != prequential_scorer("accuracy")(fitted, X[N:], Y[N:])
    with config_context(enable_metadata_routing=True):
        scorer = prequential_scorer("accuracy").set_score_request(sample_weight=True)
        model = clone(SGD).set_fit_request(sample_weight=False)
        params = {"scoring": deepcopy(scorer), "cv": PrequentialSplit(N), "error_score": "raise"}
        search = GridSearchCV(model, {"alpha": [1e-4]}, **params)
        assert search.fit(X, Y, sample_weight=weight).best_score_ == expected
        found = cross_validate(
            model, X, Y, params={"sample_weight": weight}, **{**params, "scoring": {"a": scorer}}
        )
        assert found["test_a"] == [expected]


def test_regressors_and_measures_of_which_lower_is_better():
    target = X @ [1.0, 2.0, 3.0, 4.0]
    model = SGDRegressor(random_state=0).fit(X[:N], target[:N])
    evaluator = sk.PrequentialEvaluator(["mae", "r2"], n_warmup=0)
    expected = evaluator.evaluate({"m": model}, X[N:], target[N:], warm_start=True).scores["m"]
    for metric in ("mae", "neg_mean_absolute_error"):
        assert prequential_scorer(metric)(model, X[N:], target[N:]) == -expected["mae"]
    assert prequential_scorer("r2")(model, X[N:], target[N:]) == expected["r2"]
    assert repr(prequential_scorer("mae")) == "prequential_scorer('mae') -> -mae"
    assert repr(prequential_scorer("r2", batch_size=2)) == "prequential_scorer('r2', batch_size=2)"


def test_functions_and_measures():
    def cost(y_true, y_pred):
        return float(np.mean(y_true != y_pred))

    model = clone(SGD).fit(X[:N], Y[:N])
    error = -prequential_scorer("error")(model, X[N:], Y[N:])
    assert prequential_scorer(cost)(model, X[N:], Y[N:]) == pytest.approx(error)
    loss = prequential_scorer(Measure(cost, higher_is_better=False))
    assert loss(model, X[N:], Y[N:]) == pytest.approx(-error)
    f1 = prequential_scorer(partial(f1_score, pos_label="UP"))(model, X[N:], Y[N:])
    assert f1 == prequential_scorer("f1:UP")(model, X[N:], Y[N:])
    hindsight = prequential_scorer(partial(kappa_m_score, majority="hindsight"))
    expected = sk.PrequentialEvaluator(hindsight.metric, n_warmup=0)
    found = expected.evaluate({"m": model}, X[N:], Y[N:], warm_start=True).scores["m"]
    assert [hindsight(model, X[N:], Y[N:])] == list(found.values())
    assert repr(prequential_scorer(cost)) == "prequential_scorer(cost)"


@pytest.mark.parametrize("container", ["csr", "list", "frame"])
def test_containers(container):
    if container == "frame":
        rows = pytest.importorskip("pandas").DataFrame(X, columns=list("abcd"))
    else:
        rows = sparse.csr_array(X) if container == "csr" else X.tolist()
    cv, scorer = PrequentialSplit(N), prequential_scorer("accuracy")
    model = IncrementalGaussianNB() if container != "csr" else SGD
    found = cross_validate(model, rows, list(Y), cv=cv, scoring=scorer, error_score="raise")
    head = rows[:N]
    fitted = clone(model).fit(head, Y[:N])
    assert found["test_score"] == [scorer(fitted, rows[N:], Y[N:])]


def test_a_plain_pipeline_goes_on_with_its_fitted_steps():
    plain = clone(make_pipeline(Normalizer(), make_pipeline(StandardScaler()), SGD))
    plain.fit(X[:N], Y[:N])
    before = pickle.dumps(plain)
    score = prequential_scorer("accuracy")(plain, X[N:], Y[N:])
    assert pickle.dumps(plain) == before
    norm, scale, sgd = plain[0], pickle.loads(pickle.dumps(plain[1][0])), plain[2]
    sgd, right = pickle.loads(pickle.dumps(sgd)), 0
    for row in range(N, len(Y)):
        x = norm.transform(X[[row]])
        right += sgd.predict(scale.transform(x))[0] == Y[row]
        sgd.partial_fit(scale.partial_fit(x).transform(x), Y[[row]])
    assert score == right / (len(Y) - N)
    columns = ColumnTransformer([("s", StandardScaler(), [0, 1])], remainder="passthrough")
    frozen = FrozenEstimator(PCA(2).fit(X[:N]))
    for step in (columns, frozen, "passthrough"):
        whole = make_pipeline(step, clone(SGD)).fit(X[:N], Y[:N])
        assert 0.5 < prequential_scorer("accuracy")(whole, X[N:], Y[N:]) < 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RandomForestClassifier(2), "RandomForestClassifier cannot learn from a stream"),
        (make_pipeline(PCA(2), SGD), "Step 'pca': PCA cannot be trained row by row"),
        (make_pipeline(StandardScaler(), RandomForestClassifier(2)), "Step 'randomforest"),
        (
            make_pipeline(ColumnTransformer([("p", PCA(1), [0, 1])]), SGD),
            "Step 'columntransformer__p': PCA cannot be trained row by row",
        ),
    ],
)
def test_models_that_cannot_go_on(model, message):
    model = clone(model).fit(X[:N], Y[:N])
    with pytest.raises(TypeError, match=message):
        prequential_scorer("accuracy")(model, X[N:], Y[N:])


def test_other_mistakes_with_fitted_models():
    scorer = prequential_scorer("accuracy")
    for model in (SGD, sk.make_stream_pipeline(StandardScaler(), SGD)):
        with pytest.raises(ValueError, match="is not fitted: call fit first"):
            scorer(model, X, Y)
    fitted = clone(SGD).fit(X[:N], Y[:N])
    with pytest.raises(ValueError, match="needs y"):
        scorer(fitted, X)
    with pytest.raises(ValueError, match="Test row 2 has no label"):
        scorer(fitted, X[:3], ["UP", "DOWN", None])
    labels = np.r_[Y[:5], ["LEVEL"]]
    message = "not know the label of test row 5, 'LEVEL', which is not among .* longer warm-up"
    with pytest.raises(ValueError, match=message):
        scorer(fitted, X[:6], labels)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("acuracy",), ValueError, "Did you mean 'accuracy'"),
        (("hinge",), ValueError, "probabilities"),
        (("kappa_se",), ValueError, "has no better direction"),
        ((["accuracy"],), TypeError, "a dict of scorers"),
        (({"a": "accuracy"},), TypeError, "a dict of scorers"),
        ((None,), TypeError, "one number, for one measure"),
        ((3,), TypeError, "Got 3 of type int"),
        (("accuracy", "fadign:0.9"), ValueError, "forgetting"),
        (("accuracy", ["cumulative", "adwin"]), TypeError, "one forgetting mechanism"),
        (("accuracy", "cumulative", 0), ValueError, "'batch_size' parameter"),
        (("accuracy", "cumulative", 1, "fast"), ValueError, "'kernels' parameter"),
    ],
)
def test_mistakes_are_found_when_the_scorer_is_made(arguments, error, message):
    names = ("forgetting", "batch_size", "kernels")
    options = dict(zip(names, arguments[1:], strict=False))
    with pytest.raises(error, match=message):
        prequential_scorer(arguments[0], **options)


@pytest.mark.parametrize("kind", [HalvingGridSearchCV, HalvingRandomSearchCV])
@pytest.mark.parametrize(
    "cv", [PrequentialSplit(N), ExpandingWindowSplit(N, test_size=60)], ids=["preq", "window"]
)
def test_halving_by_rows_is_refused(kind, cv):
    params = {"cv": cv, "scoring": prequential_scorer("accuracy"), "random_state": 0}
    if kind is HalvingRandomSearchCV:
        params["n_candidates"] = 3
    grid = {"alpha": [1e-4, 1e-3, 1e-2]}
    with pytest.raises(ValueError, match='HalvingRandomSearchCV do so with resource="n_samples"'):
        kind(SGD, grid, **params).fit(X, Y)
    by_epochs = {"resource": "max_iter", "min_resources": 3, "max_resources": 9}
    halving = kind(SGDClassifier(random_state=0, tol=None), grid, **by_epochs, **params)
    assert halving.fit(X, Y).best_params_["max_iter"] == 9


def test_positions_are_arrays_in_every_other_way():
    train, test = next(PrequentialSplit(5).split(X))
    assert (train[:3] == [0, 1, 2]).all() and (train[train > 2] == [3, 4]).all()
    assert (np.unique(train, return_index=True)[1] == train).all()
    assert type(train + 1) is np.ndarray and train.sum() == 10
    assert (X[test] == X[5:]).all()
    for rows in ([2], [0, 2], np.array([4, 3, 2, 1, 0]), (np.array([2, 0]), ...)):
        with pytest.raises(ValueError, match="in the order of time"):
            train[rows]
    with pytest.raises(ValueError, match="in the order of time"):
        np.take(train, [2, 0])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (KFold(3), r"Split 0 of KFold tests row 0 and trains on 160 rows .* \(up to row 239\)"),
        (KFold(3, shuffle=True, random_state=0), "Split 0 of KFold .* the future of that row"),
        (ShuffleSplit(2, random_state=0), "Split 0 of ShuffleSplit"),
        ([([1, 0], [2, 3])], "Split 0 of cv has its training rows in shuffled order"),
        (iter([([0], [1]), ([0, 1], [3, 2])]), "Split 1 of cv has its test rows in shuffled"),
        ([(np.arange(240) > 5, np.arange(240) <= 5)], "tests row 0 and trains on 234 rows"),
    ],
)
def test_splitters_that_train_on_the_future_are_named(cv, message):
    with pytest.warns(FutureLeakWarning, match=message):
        checked = check_time_order(cv, X, Y)
    assert checked is cv or isinstance(checked, list)


def test_splitters_in_the_order_of_time_pass():
    for cv in (PrequentialSplit(20), ExpandingWindowSplit(9, test_size=5), TimeSeriesSplit(3)):
        assert check_time_order(cv, X) is cv
    assert check_time_order(iter([([0], [1])]), X) == [([0], [1])]
    assert check_time_order([([0, -240], [-1])], X) == [([0, -240], [-1])]
    for cv in (5, None, np.int64(3)):
        with pytest.raises(ValueError, match=r"Use PrequentialSplit\(n_warmup=24\)"):
            check_time_order(cv, X)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (TimeSeriesSplit, r"class TimeSeriesSplit\. Pass one of its splitters: TimeSeriesSplit\("),
        ("accuracy", "cv must be a splitter, .* Got 'accuracy' of type str"),
        (5.0, "Got 5.0 of type float"),
        (("a", 5), r"Split 0 of cv must be a pair \(train, test\) .* 0 to 239, .* Got 'a'"),
        ([(["a"], [5])], r"Got \(\['a'\], \[5\]\)"),
        ([([0], [1]), ([0], [1], [2])], "Split 1 of cv must be a pair"),
        ([([0], [240])], "Split 0 of cv must be a pair"),
        ([([0], [True, False])], "masks of 240 values"),
        ([([0.5], [1])], "Split 0 of cv must be a pair"),
    ],
)
def test_what_is_no_splitter_is_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        check_time_order(cv, X)


def test_splitters_get_what_routing_would_give_them():
    splitter, times = ExpandingWindowSplit(9.0, test_size=5.0), np.arange(240.0)
    assert check_time_order(splitter, X, times=times) is splitter
    with pytest.raises(ValueError, match="but cv already contains its splits"):
        check_time_order([([0], [1])], X, times=times)
    with pytest.raises(TypeError, match=r"PrequentialSplit\.split.* unexpected .*'times'"):
        check_time_order(PrequentialSplit(50), X, times=times)


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ([0, 1, 2], [2, 3], "trains on row 2 and also tests it"),
        ([0, 1, 2, 3], [2, 3], "trains on row 2 and 1 more and also tests it"),
        ([-1], [5], "tests row 5 and trains on 1 rows? that comes? after it"),
        ([0], [5, 5, 6], "tests row 5 more than once"),
    ],
)
def test_rows_that_a_split_may_not_have_are_named(train, test, message):
    with pytest.warns(FutureLeakWarning, match=message):
        check_time_order([(train, test)], X)


@pytest.mark.parametrize("rows", ["array", "frame"])
@pytest.mark.parametrize("folds", [4, KFold(4), KFold(4, shuffle=True, random_state=0)])
def test_folds_that_train_on_the_future_are_told_once(rows, folds):
    data = X
    if rows == "frame":  # its index says nothing
        pd = pytest.importorskip("pandas", reason="a frame")
        data = pd.DataFrame(X, index=[f"row {i}" for i in range(240)])
    scorer = prequential_scorer("accuracy")
    with pytest.warns(FutureLeakWarning, match="The split tests row .* after it .up to row") as w:
        GridSearchCV(SGD, {"alpha": [1e-4, 1e-3]}, scoring=scorer, cv=folds).fit(data, Y)
    assert 3 <= len(w) <= 4  # of two candidates; the last fold may have all rows that come last
    assert len({str(one.message) for one in w}) == len(w)
    for cv in (PrequentialSplit(N), TimeSeriesSplit(3)):
        cross_validate(SGD, data, Y, cv=cv, scoring=scorer, return_train_score=True)
    with pytest.warns(
        FutureLeakWarning, match=r"The split trains on row 0 and 79 more and also tests"
    ):
        cross_validate(SGD, data, Y, cv=[(range(100), range(80))], scoring=scorer)
    fresh = prequential_scorer("accuracy")
    with pytest.warns(FutureLeakWarning, match="The split tests row"):
        permutation_test_score(SGD, data, Y, cv=folds, scoring=fresh, n_permutations=1)
    with pytest.warns(FutureLeakWarning, match="The split tests row"):
        learning_curve(
            sk.Persistent(), data, Y, cv=folds, scoring=prequential_scorer("error"),
            train_sizes=[60], exploit_incremental_learning=True,
        )  # fmt: skip


def test_an_unknown_measure_is_told_of_classes_in_general():
    with pytest.raises(ValueError, match="for every class f1:<class>, precision:<class>"):
        prequential_scorer("f1")
