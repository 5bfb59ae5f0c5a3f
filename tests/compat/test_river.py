"""River's models give in every evaluator the answers of a bare River loop."""

import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.core.run.run_outcome import pickled_size

pytest.importorskip("river")
from river import (
    active,
    base,
    compose,
    dummy,
    ensemble,
    feature_extraction,
    forest,
    linear_model,
    metrics,
    model_selection,
    multiclass,
    naive_bayes,
    neighbors,
    preprocessing,
    tree,
)
from river import bandit as bandit_policies

from skstream.compat import from_river
from skstream.compat._by_row import dicts_of
from skstream.compat._river import RiverClassifier, RiverRegressor
from skstream.utils._numba import numba_enabled

RNG = np.random.default_rng(0)
N = 100
X = RNG.normal(size=(N, 3)).round(2)
Y = np.array(["down", "same", "up"])[np.digitize(X[:, 0] + 0.3 * RNG.normal(size=N), [-0.5, 0.5])]
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)


def grown(**options: Any) -> tree.HoeffdingTreeClassifier:
    return tree.HoeffdingTreeClassifier(grace_period=20, delta=0.1, **options)


MODELS = {
    "tree": grown(),
    "adaptive tree": tree.HoeffdingAdaptiveTreeClassifier(grace_period=20, seed=1),
    "forest": forest.ARFClassifier(n_models=3, grace_period=20, seed=1),
    "bagging": ensemble.LeveragingBaggingClassifier(grown(), n_models=2, seed=1),
    "neighbours": neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=40)),
    "pipeline": preprocessing.StandardScaler()
    | multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def dicts(rows: Any, names: Any = range(3)) -> list[dict[Any, Any]]:
    """Rows as users of River write them: a missing feature is not there."""
    return [
        {k: v for k, v in zip(names, row, strict=True) if v is not None and v == v} for row in rows
    ]


def bare_loop(model: Any, rows: list[dict[Any, Any]], y: Any, weights: Any = None) -> list[Any]:
    model, answers = model.clone(), []
    for number, (row, label) in enumerate(zip(rows, y, strict=True)):
        if number:
            answers.append(model.predict_one(row))
        if weights is None:
            model.learn_one(row, label)
        else:
            model.learn_one(row, label, w=weights[number])
    return answers


@every_model
def test_answers_are_those_of_a_bare_loop(model) -> None:
    expected = bare_loop(model, dicts(GAPS.tolist()), Y.tolist())
    for engine in ("auto", "loop"):
        result = sk.PrequentialEvaluator(
            "accuracy", run=sk.RunOptions(kernels=engine == "auto")
        ).evaluate(model, GAPS, Y)
        (name,) = result.model_names
        assert result.predictions(name, every_row=True)[1:].tolist() == expected
        if engine == "auto":
            has_kernel = type(model).__name__ in ("HoeffdingTreeClassifier", "ARFClassifier")
            reason = "rows with NaN" if has_kernel and numba_enabled() else "adapted by from_river"
            assert reason in result.paths[name] or "called row by row" in result.paths[name]
    by_hand, answers = from_river(model), []
    for row in range(N):
        if row:
            answers += by_hand.predict(GAPS[[row]]).tolist()
        by_hand.partial_fit(GAPS[[row]], Y[[row]], classes=np.unique(Y))
    assert answers == expected
    assert model.__class__.__name__ != "ARFClassifier" or not len(model)  # it has learnt nothing


@every_model
def test_every_evaluator_calls_it_as_the_loop_does(model) -> None:
    held_out = (X[:20], Y[:20])
    for make in (
        lambda engine: sk.KFoldEvaluator(
            "accuracy", n_folds=2, random_state=0, run=sk.RunOptions(kernels=engine == "auto")
        ),
        lambda engine: sk.DelayedEvaluator(
            "accuracy", delay=7, run=sk.RunOptions(kernels=engine == "auto")
        ),
        lambda engine: sk.HoldoutEvaluator(
            "accuracy", holdout=held_out, every=40, run=sk.RunOptions(kernels=engine == "auto")
        ),
        lambda engine: sk.PrequentialEvaluator(
            "accuracy", batch_size=8, run=sk.RunOptions(kernels=engine == "auto")
        ),
    ):
        direct, loop = (make(engine).evaluate({"m": model}, GAPS, Y) for engine in ("auto", "loop"))
        np.testing.assert_array_equal(direct.curve("m"), loop.curve("m"))


def test_regressors() -> None:
    target = X[:, 0] * 2 + 1
    for model in (
        tree.HoeffdingTreeRegressor(grace_period=20),
        preprocessing.StandardScaler() | linear_model.LinearRegression(),
        forest.ARFRegressor(n_models=2, seed=3),
    ):
        expected = bare_loop(model, dicts(GAPS.tolist()), target.tolist())
        assert sk.prequential_predict(model, GAPS, target).tolist() == expected
    with pytest.raises(ValueError, match="NaN"):
        from_river(dummy.StatisticRegressor(None)).partial_fit(X[:1], [np.nan])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_give_names_and_categories(library) -> None:
    frames = pytest.importorskip(library)
    colours = [None if n % 11 == 0 else ["red", "blue", "green"][n % 3] for n in range(N)]
    shops = RNG.integers(0, 3, N).tolist()
    data = {"x": X[:, 0].tolist(), "colour": colours, "shop": shops}
    frame = frames.DataFrame(data)
    if library == "pandas":
        frame["colour"] = frame["colour"].astype("category")
    rows = dicts(zip(*data.values(), strict=True), data)
    y = [str(c) if n % 5 else "other" for n, c in enumerate(colours)]
    model = grown(nominal_attributes=["colour", "shop"], leaf_prediction="mc")
    answers = sk.prequential_predict(model, frame, y)
    assert answers.tolist() == bare_loop(model, rows, y)
    fitted = from_river(model).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == [*data]
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[["colour", "x", "shop"]])


def test_sparse_rows_and_objects() -> None:
    sparse_rows = sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X))
    rows = [{k: v for k, v in enumerate(row) if v} for row in sparse_rows.toarray().tolist()]
    expected = bare_loop(MODELS["pipeline"], rows, Y.tolist())
    assert sk.prequential_predict(MODELS["pipeline"], sparse_rows, Y).tolist() == expected
    objects = np.array([[1.5, "a", None], [2.5, "b", 3]] * 10, dtype=object)
    y = [False, True] * 10
    model = grown()
    expected = bare_loop(model, dicts(objects.tolist()), y)
    assert sk.prequential_predict(model, objects, y).tolist() == expected


def test_single_texts() -> None:
    words = np.array(["up and up", "down we go", "nothing new"] * 10)
    model = feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()
    expected = bare_loop(model, words.tolist(), words.tolist())
    assert sk.prequential_predict(model, words, words).tolist() == expected
    assert sk.prequential_predict(model, words.tolist(), words, kernels=False).tolist() == expected


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("dtype", ["S", object])
def test_the_row_of_texts_as_bytes_is_named(engine, dtype) -> None:
    X = np.array([b"win now", b"meet me"] * 5).astype(dtype)
    model = feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()
    with pytest.raises(sk.ModelError, match=r"row 0: .*bytes"):
        sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(kernels=engine == "auto")).evaluate(
            model, X, [0, 1] * 5
        )


def test_a_model_inside_a_pipeline_is_to_be_adapted() -> None:
    model = sk.make_stream_pipeline(StandardScaler(), tree.HoeffdingTreeClassifier())
    with pytest.raises(TypeError, match=r"HoeffdingTree.* has learn_one.*from_river\(model\)"):
        sk.PrequentialEvaluator("accuracy").evaluate(model, np.zeros((4, 1)), [0, 1] * 2)


def test_missing_values_can_be_none() -> None:
    model = preprocessing.PreviousImputer() | grown()
    rows = [{k: None if v != v else v for k, v in enumerate(row)} for row in GAPS[20:].tolist()]
    first = np.nan_to_num(GAPS[:20])
    rows = dicts(first.tolist()) + rows
    data = np.concatenate([first, GAPS[20:]])
    expected = bare_loop(model, rows, Y.tolist())
    assert sk.prequential_predict(from_river(model, missing="none"), data, Y).tolist() == expected


def test_two_classes_of_any_name() -> None:
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    y = np.where(Y == "up", "yes", "no")
    expected = bare_loop(model, dicts(X.tolist()), (Y == "up").tolist())
    answers = sk.prequential_predict(model, X, y)
    assert answers.tolist() == ["yes" if answer else "no" for answer in expected]
    with pytest.raises(sk.ModelError, match=r"supports two classes, but here are 3"):
        sk.PrequentialEvaluator("accuracy").evaluate(model, X, Y)
    bandit = model_selection.BanditClassifier(
        [grown(), grown(leaf_prediction="mc")],
        metric=metrics.Accuracy(),
        policy=bandit_policies.UCB(delta=1, seed=1),
    )
    sk.prequential_predict(bandit, X, Y)


def test_weights() -> None:
    weights = RNG.integers(1, 4, N).astype(float)
    weights[::7] = 0.5
    model = grown()
    expected = bare_loop(model, dicts(X.tolist()), Y.tolist(), weights)
    for one in (model, preprocessing.StandardScaler() | grown()):
        result = sk.PrequentialEvaluator("accuracy").evaluate(
            {"m": one}, X, Y, sample_weight=weights
        )
        if one is model:
            assert result.predictions("m", every_row=True)[1:].tolist() == expected
    repeated = neighbors.KNNClassifier(engine=neighbors.LazySearch(window_size=40))
    twice = from_river(repeated).fit(X, Y, sample_weight=np.full(N, 2.0)).predict(X)
    index = np.repeat(np.arange(N), 2)
    np.testing.assert_array_equal(twice, from_river(repeated).fit(X[index], Y[index]).predict(X))
    with pytest.raises(ValueError, match=r"KNNClassifier takes no weights.*a weight is 0.5"):
        from_river(repeated).fit(X, Y, sample_weight=weights)


def test_probabilities_are_in_the_order_of_the_classes() -> None:
    model = from_river(grown()).fit(X[:60], Y[:60])
    inside = grown()
    for row, label in zip(dicts(X[:60].tolist()), Y[:60].tolist(), strict=True):
        inside.learn_one(row, label)
    expected = [inside.predict_proba_one(row) for row in dicts(X.tolist())]
    P = model.predict_proba(X)
    assert [dict(zip(model.classes_.tolist(), row, strict=True)) for row in P.tolist()] == [
        {label: answer.get(label, 0.0) for label in model.classes_.tolist()} for answer in expected
    ]
    late = from_river(grown()).partial_fit(X[:1], Y[:1], classes=["down", "same", "up"])
    assert late.predict_proba(X[:2]).tolist() == [[float(c == Y[0]) for c in late.classes_]] * 2
    assert not hasattr(from_river(Fails()), "predict_proba")


def test_no_answer_is_none() -> None:
    class Silent(base.Classifier):
        def learn_one(self, x, y):
            pass

        def predict_proba_one(self, x):
            return {}

        _multiclass = True

    model = from_river(Silent()).fit(X, Y)
    assert model.predict(X[:2]).tolist() == [None, None]
    assert np.isnan(model.predict_proba(X[:2])).all()
    with pytest.raises(sk.ModelError, match="prediction was missing"):
        sk.PrequentialEvaluator("accuracy").evaluate(Silent(), X, Y)
    result = sk.PrequentialEvaluator("accuracy", unanswered="wrong").evaluate(Silent(), X, Y)
    assert result.n_unanswered == {"Silent": N - 1}


class Fails(base.Classifier):
    """Majority class that fails at the rows whose first feature says so."""

    def __init__(self, learning: float = np.inf, asking: float = np.inf):
        self.learning, self.asking, self.counts = learning, asking, {}

    _multiclass = True

    def learn_one(self, x, y):
        if x[0] == self.learning:
            raise ArithmeticError("no")
        self.counts[y] = self.counts.get(y, 0) + 1

    def predict_one(self, x):
        if x[0] == self.asking:
            raise ArithmeticError("no")
        return max(self.counts, key=self.counts.get, default=None)


@pytest.mark.parametrize("action", ["learning", "asking"])
@pytest.mark.parametrize("row", [0, 1, 5, 29])
def test_failures_are_those_of_the_loop(action, row) -> None:
    numbered = np.arange(30.0).reshape(-1, 1)
    model = Fails(**{action: float(row)})
    for make in (
        lambda engine: sk.PrequentialEvaluator(
            "accuracy", record_every=1, run=sk.RunOptions(kernels=engine == "auto")
        ),
        lambda engine: sk.DelayedEvaluator(
            "accuracy", delay=3, run=sk.RunOptions(kernels=engine == "auto")
        ),
    ):
        found = []
        for engine in ("auto", "loop"):
            try:
                result = make(engine).evaluate({"m": model}, numbered, Y[:30])
                found.append(str(result.curve("m").tolist()))
            except sk.ModelError as error:
                so_far = error.result and str(error.result.curve("m").tolist())
                found.append((str(error), error.row, so_far))
        assert found[0] == found[1]


def test_a_run_is_pickled_and_goes_on(tmp_path) -> None:
    models = {name: from_river(model) for name, model in MODELS.items()}
    whole = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True)).evaluate(
        models, GAPS, Y
    )
    run = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True)).start(
        models, classes=np.unique(Y)
    )
    run.update(GAPS[:70], Y[:70])
    run.save(tmp_path / "run")
    run = sk.load_run(tmp_path / "run")
    run.update(GAPS[70:], Y[70:])
    result = run.result()
    for name in models:
        np.testing.assert_array_equal(
            result.predictions(name, every_row=True), whole.predictions(name, every_row=True)
        )
        again = pickle.loads(pickle.dumps(clone(models[name]).fit(X, Y)))
        assert again.predict(X).shape == (N,)


def test_seeds_that_are_none_come_from_the_evaluator() -> None:
    model = preprocessing.StandardScaler() | ensemble.BaggingClassifier(
        forest.ARFClassifier(n_models=2, grace_period=10), n_models=2
    )
    one, two, other = (
        sk.PrequentialEvaluator("accuracy", random_state=seed).evaluate(
            {"m": model}, X, Y, return_models=True
        )
        for seed in (1, 1, 2)
    )
    assert (
        one.predictions("m", every_row=True).tolist()
        == two.predictions("m", every_row=True).tolist()
    )
    fitted = [result.models["m"].get_params() for result in (one, other)]
    names = [name for name in fitted[0] if name.endswith("__seed")]
    assert len(names) == 2 and all(fitted[0][name] is None for name in names)
    seeds = [
        (bagging.seed, bagging.model.seed)
        for bagging in (result.models["m"].model_["BaggingClassifier"] for result in (one, other))
    ]
    assert len({*seeds[0], *seeds[1]}) == 4  # another in each place and for each seed
    voting = ensemble.VotingClassifier([forest.ARFClassifier(2), forest.ARFClassifier(2)])
    inside = from_river(voting, random_state=0).fit(X, Y).model_
    assert None not in {part.seed for part in inside} and inside[0].seed != inside[1].seed


def test_parameters_to_any_depth() -> None:
    model = from_river(preprocessing.StandardScaler() | grown())
    name = "model__HoeffdingTreeClassifier__grace_period"
    assert model.get_params()[name] == 20
    changed = clone(model).set_params(**{name: 7})
    assert changed.model["HoeffdingTreeClassifier"].grace_period == 7
    assert model.get_params()[name] == 20
    with pytest.raises(ValueError, match="Invalid parameter 'model__graceful'"):
        model.set_params(model__graceful=1)
    search = sk.PrequentialSearch(
        from_river(grown()), {"model__grace_period": [10, 100]}, tuning=40
    )
    assert search.fit(X, Y).best_params_["model__grace_period"] in (10, 100)


def test_inside_pipelines_and_meta_classifiers() -> None:
    inside = from_river(grown())
    for model in (
        sk.make_stream_pipeline(StandardScaler(), inside),
        sk.TemporalCorrection(inside),
        sk.TemporalCorrection(sk.make_stream_pipeline(StandardScaler(), inside)),
    ):
        auto, loop = (
            sk.prequential_predict(model, X, Y, kernels=engine == "auto")
            for engine in ("auto", "loop")
        )
        np.testing.assert_array_equal(auto, loop)
    with pytest.raises(TypeError, match=r"River.*from_river"):
        sk.TemporalCorrection(grown()).fit(X, Y)


def test_subclasses_keep_their_own_methods() -> None:
    class Shouts(RiverClassifier):
        def predict(self, X):
            return np.full(len(X), "up")

    result = sk.PrequentialEvaluator("accuracy").evaluate({"m": Shouts(grown())}, X, Y)
    assert set(result.predictions("m", every_row=True)[1:]) == {"up"}


def test_names() -> None:
    models = [grown(), from_river(grown()), MODELS["pipeline"], forest.ARFClassifier(2, seed=1)]
    names = sk.PrequentialEvaluator("accuracy").evaluate(models, X[:20], Y[:20]).model_names
    assert list(names) == [
        *("HoeffdingTreeClassifier-1", "HoeffdingTreeClassifier-2"),
        *("OneVsRestClassifier", "ARFClassifier"),
    ]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (preprocessing.StandardScaler(), "StandardScaler is neither a classifier nor a regressor"),
        (tree.ISOUPTreeRegressor(), "ISOUPTreeRegressor answers several targets"),
        (
            active.EntropySampler(linear_model.LogisticRegression()),
            "EntropySampler chooses itself which labels",
        ),
        (tree.HoeffdingTreeClassifier, "instance, HoeffdingTreeClassifier()"),
        (StandardScaler(), "a River classifier or regressor. Got StandardScaler"),
    ],
)
def test_what_is_not_taken(model, message) -> None:
    with pytest.raises(TypeError, match=message):
        from_river(model)


def test_the_kind_is_checked() -> None:
    with pytest.raises(TypeError, match="HoeffdingTreeRegressor is no classifier"):
        RiverClassifier(tree.HoeffdingTreeRegressor()).fit(X, Y)
    with pytest.raises(TypeError, match="HoeffdingTreeClassifier is no regressor"):
        RiverRegressor(grown()).fit(X, X[:, 0])
    assert isinstance(compose.Pipeline(grown()), base.Classifier)


@pytest.mark.parametrize("name", ["tree", "pipeline", "bagging"])
@pytest.mark.parametrize("adapt", [from_river, lambda model: model])
def test_a_warm_start_goes_on_from_what_was_learnt(name, adapt) -> None:
    warm = MODELS[name].clone()
    for row, label in zip(dicts(X[:50]), Y[:50], strict=True):
        warm.learn_one(row, label)
    going_on, expected = pickle.loads(pickle.dumps(warm)), []
    for row, label in zip(dicts(X[50:]), Y[50:], strict=True):
        expected.append(going_on.predict_one(row))
        going_on.learn_one(row, label)
    for engine in ("auto", "loop"):
        evaluator = sk.PrequentialEvaluator(
            "accuracy", n_warmup=0, run=sk.RunOptions(kernels=engine == "auto", keep_tape=True)
        )
        result = evaluator.evaluate({"m": adapt(warm)}, X[50:], Y[50:], warm_start=True)
        assert result.predictions("m", every_row=True).tolist() == expected
    with pytest.raises(ValueError, match="is untrained"):
        evaluator.evaluate(adapt(MODELS[name]), X, Y, warm_start=True)


def test_a_warm_start_of_a_regressor_and_of_two_classes() -> None:
    warm = linear_model.LinearRegression()
    for row, target in zip(dicts(X[:50]), X[:50, 1], strict=True):
        warm.learn_one(row, float(target))
    evaluator = sk.PrequentialEvaluator("mae", n_warmup=0, run=sk.RunOptions(keep_tape=True))
    result = evaluator.evaluate({"m": warm}, X[50:], X[50:, 1], warm_start=True)
    assert result.predictions("m", every_row=True)[0] == warm.predict_one(dicts(X[50:])[0])
    two = linear_model.LogisticRegression()
    two.learn_one({0: 1.0}, True)
    with pytest.raises(sk.ModelError, match=r"'m'.*supports two classes, but here are 3"):
        sk.PrequentialEvaluator("accuracy").evaluate({"m": two}, X, Y, warm_start=True)


def test_what_a_part_has_learnt_is_left_out_with_a_warning() -> None:
    """As with a model of scikit-learn inside a pipeline that has learnt nothing."""
    tree_ = tree.HoeffdingTreeClassifier()
    for i in range(30):
        tree_.learn_one({0: float(i)}, "a")
    X, y = np.arange(9.0)[:, None], np.array(["a", "b", "c"] * 3)
    model = sk.make_stream_pipeline(StandardScaler(), from_river(tree_))
    warm = sk.PrequentialEvaluator("accuracy")
    with pytest.warns(UserWarning, match="HoeffdingTreeClassifier inside model 'm' is fitted, but"):
        warm.evaluate({"m": model}, X, y, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sk.PrequentialEvaluator("accuracy").evaluate({"m": model}, X, y)
        new = sk.make_stream_pipeline(StandardScaler(), from_river(tree.HoeffdingTreeClassifier()))
        warm.evaluate({"m": new}, X, y, warm_start=True)


@pytest.mark.parametrize("missing", ["omit", "none"])
def test_sparse_rows_hold_what_their_matrix_holds(missing) -> None:
    """Features stored twice are summed, and stored NaN are missing, as in dense rows."""
    data, columns = np.array([1.0, 2.0, np.nan, 5.0]), np.array([0, 0, 1, 1])
    rows = sparse.csr_array((data, columns, np.array([0, 3, 4])), shape=(2, 2))
    gap = {} if missing == "omit" else {1: None}
    assert dicts_of(rows, missing) == [{0: 3.0, **gap}, {1: 5.0}]
    assert rows.nnz == 4  # the caller's matrix is as it was


def test_generators_count_with_their_memory_in_the_size() -> None:
    """River keeps one in each normal distribution; pickled they take longer than the learning."""
    assert pickled_size([1.0, "a"]) == len(pickle.dumps([1.0, "a"], pickle.HIGHEST_PROTOCOL))
    one, many = ([random.Random(seed) for seed in range(n)] for n in (1, 101))
    assert 2500 <= (pickled_size(many) - pickled_size(one)) / 100 < 2520
    assert np.isnan(pickled_size(lambda: None))


def test_columns_without_names_are_those_that_were_learnt_with_names(pd: Any) -> None:
    frame = pd.DataFrame(X, columns=[f"f{place}" for place in range(X.shape[1])])
    model = from_river(tree.HoeffdingTreeClassifier(grace_period=10, tau=0.5)).fit(frame, Y)
    expected = model.predict_proba(frame)
    assert len(np.unique(expected, axis=0)) > 2
    for rows in (X, sparse.csr_array(X)):
        with pytest.warns(UserWarning, match="feature names"):
            np.testing.assert_array_equal(model.predict_proba(rows), expected)
