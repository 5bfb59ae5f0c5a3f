"""PeriodicRefit against a loop written out, and models that never change."""

import pickle
import re
from datetime import timedelta

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import skstream as sk
from skstream.core.run.tape import tape_of
from skstream.drift import ADWIN, DDM, RandomAlarm
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.plotting import PrequentialDisplay
from skstream.tree import HoeffdingTreeClassifier
from tests._examples import examples
from tests.kernels._reference import both_ways

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)).round(2)
Y = np.where(X[:, 0] + np.where(np.arange(400) < 200, 1, -1) * X[:, 1] > 0, "up", "down")
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
CLASSES = np.array(["down", "up"])


def literal(model, X, y, *, every, window, weight_decay=None, delay=0):
    """Answers and shares of a model refitted by hand, whose labels come `delay` rows late."""
    known, current, answers, shares = [], sk.MajorityClass(), [], []

    def learn(row, current):
        known.append(row)
        if isinstance(current, sk.MajorityClass):
            current.partial_fit(X[[row]], y[[row]], classes=CLASSES)
        if len(known) % every:
            return current
        rows, weight = known[-window:], None
        if weight_decay is not None:
            weight = weight_decay ** np.arange(len(rows) - 1, -1, -1)
        return clone(model).fit(X[rows], y[rows], sample_weight=weight)

    for row in range(len(y)):
        if row >= delay > 0:  # a label comes before the row that arrives with it
            current = learn(row - delay, current)
        if known:
            answers.append(current.predict(X[[row]])[0])
            table = np.zeros(2)
            columns = np.searchsorted(CLASSES, current.classes_)
            table[columns] = current.predict_proba(X[[row]])
            shares.append(table)
        if not delay:
            current = learn(row, current)
    return answers, np.array(shares)


def taped(evaluator, model, X=X, y=Y, **options):
    result = evaluator.evaluate({"model": model}, X, y, **options)
    tape = tape_of(result)
    return tape.predictions("model"), tape.probabilities("model"), result


@pytest.mark.filterwarnings("ignore:model was never refitted")
@examples(12)
@given(
    every=st.integers(1, 90),
    window=st.none() | st.integers(2, 150),
    decay=st.sampled_from([None, 0.9, 1.0]),
    engine=st.sampled_from(["auto", "loop"]),
    n_rows=st.integers(60, 130),
    chunk=st.integers(1, 70),
)
def test_answers_are_those_of_the_loop_written_out(every, window, decay, engine, n_rows, chunk):
    model = sk.PeriodicRefit(TREE, every=every, window=window, weight_decay=decay)
    evaluator = sk.PrequentialEvaluator(
        ["accuracy", "log_loss"],
        random_state=0,
        run=sk.RunOptions(kernels=engine == "auto", keep_tape=True),
    )
    stream = [(X[i:n_rows][:chunk], Y[i:n_rows][:chunk]) for i in range(0, n_rows, chunk)]
    answers, shares, result = taped(evaluator, model, stream, None, classes=CLASSES)
    by_hand = literal(
        TREE, X[:n_rows], Y[:n_rows], every=every, window=window or n_rows, weight_decay=decay
    )
    assert answers[1:].tolist() == by_hand[0]
    assert shares[1:, 1].tolist() == by_hand[1][:, 1].tolist()
    assert result.paths["model"] == ("kernel" if engine == "auto" else "loop")


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("polls", [None, 4])
def test_late_labels_are_learnt_when_they_come_and_not_before(engine, polls):
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        delay=7,
        random_state=0,
        run=sk.RunOptions(kernels=engine == "auto"),
        polling=sk.Polling(n_bins=3, poll_every=polls),
    )
    model = sk.PeriodicRefit(TREE, every=30, window=50)

    def first_answers(y):
        result = evaluator.evaluate({"model": model}, X[:200], y)
        codes = np.asarray(tape_of(result).answers["model"][0])[:, 0]
        return np.append(CLASSES, None)[codes]

    first = first_answers(Y[:200])
    by_hand, _ = literal(TREE, X[:200], Y[:200], every=30, window=50, delay=7)
    asked = first != None  # noqa: E711 - elementwise
    assert first[asked].tolist() == by_hand and asked.sum() == 193
    other = Y[:200].copy()
    other[120:] = other[120:][::-1]
    # Labels that come after a question change no answer to it.
    assert first_answers(other)[:127].tolist() == first[:127].tolist()


EVALUATORS = {
    "prequential": sk.PrequentialEvaluator(["accuracy", "log_loss"], random_state=0),
    "batches": sk.PrequentialEvaluator(["accuracy", "log_loss"], batch_size=16, random_state=0),
    "folds": sk.KFoldEvaluator(["accuracy", "log_loss"], n_folds=3, random_state=0),
    "holdout": sk.HoldoutEvaluator(
        ["accuracy", "log_loss"], holdout=(X[:30], Y[:30]), every=60, random_state=0
    ),
}
MODELS = {
    "plain": sk.PeriodicRefit(TREE, every=40, window=100),
    "alarms": sk.PeriodicRefit(TREE, every=None, min_rows=20, window=90, detector=DDM()),
    "both": sk.PeriodicRefit(TREE, every=70, detector=RandomAlarm(0.05, random_state=3)),
    "pipeline": sk.PeriodicRefit(
        make_pipeline(StandardScaler(), TREE), every=45, weight_decay=0.99
    ),
    "before": sk.PeriodicRefit(RandomForestClassifier(3), every=60, before=IncrementalGaussianNB()),
    "corrected": sk.TemporalCorrection(sk.PeriodicRefit(TREE, every=50)),
    "augmented": sk.TemporallyAugmented(sk.PeriodicRefit(TREE, every=50)),
    "calibrated": sk.PrequentialCalibrator(sk.PeriodicRefit(TREE, every=50), every=30),
    "noisy": sk.LabelNoise(sk.PeriodicRefit(TREE, every=50), noise=0.2, random_state=0),
    "bagged": sk.OnlineBagging(sk.PeriodicRefit(TREE, every=50), 2, random_state=0),
    "in a pipeline": sk.make_stream_pipeline(StandardScaler(), sk.PeriodicRefit(TREE, every=50)),
    "tree of streams": sk.PeriodicRefit(
        HoeffdingTreeClassifier(grace_period=20, tau=0.5), every=70
    ),
    "frozen": FrozenEstimator(clone(TREE).fit(X[:50], Y[:50])),
}


META = {"corrected", "augmented", "calibrated", "noisy", "bagged", "in a pipeline"}
CASES = [
    (name, protocol)
    for name in MODELS
    for protocol in EVALUATORS
    if protocol == "prequential" or name in ("plain", "alarms")
]


@pytest.mark.parametrize(("name", "protocol"), CASES)
def test_the_kernel_does_what_the_loop_does(name, protocol):
    found = []
    for engine in ("auto", "loop"):
        evaluator = clone(EVALUATORS[protocol]).set_params(run__kernels=engine == "auto")
        data = {"model": MODELS[name]}, X[100:200], Y[100:200]
        result = evaluator.evaluate(*data, return_models=True)
        fitted = result.models["model"]
        fitted = fitted[0] if isinstance(fitted, list) else fitted
        tape = tape_of(result)
        found.append([np.asarray(tape.answers["model"]), np.asarray(tape.scores["model"])])
        if isinstance(fitted, sk.PeriodicRefit):
            found[-1] += [fitted.refit_rows_, fitted.predict_proba(X)]
        if name not in META:
            assert result.paths["model"] == ("kernel" if engine == "auto" else "loop")
    for one, other in zip(*found, strict=True):
        if name in ("calibrated", "noisy"):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)
        else:
            np.testing.assert_array_equal(one, other)


def test_an_alarm_refits_on_the_rows_since_the_warning():
    y = np.where(np.arange(300) >= 200, "up", "down")
    y[::10] = "up"
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    rows = np.zeros((300, 1))
    for fewest in (5, 50):
        model = sk.PeriodicRefit(stump, every=None, min_rows=fewest, window=60, detector=DDM())
        detector, n_warned = DDM(), 0
        for row in range(300):
            model.partial_fit(rows[[row]], y[[row]], classes=CLASSES)
            if row < fewest:
                continue
            detector.update(bool(y[row] != "down"))
            alarm = detector.drift_detected
            n_warned = n_warned + 1 if alarm or detector.warning_detected else 0
            if alarm:
                break
        assert model.refit_rows_.tolist() == [fewest, row + 1] and row > 200
        n_rows = n_warned if n_warned >= fewest else 60
        assert (n_rows == 60) == (fewest == 50)
        share = np.mean(y[row + 1 - n_rows : row + 1] == "up")
        assert model.predict_proba(rows[:1])[0, 1] == pytest.approx(share)


def test_a_stretch_is_asked_in_one_call(monkeypatch):
    asked = []
    ask = DecisionTreeClassifier.predict
    monkeypatch.setattr(
        DecisionTreeClassifier, "predict", lambda self, X: asked.append(len(X)) or ask(self, X)
    )
    frozen = FrozenEstimator(clone(TREE).fit(X, Y))
    evaluator = sk.PrequentialEvaluator("accuracy")
    evaluator.evaluate({"frozen": frozen}, X, Y)
    assert len(asked) < 12 and sum(asked) == len(Y) - 1
    asked.clear()
    evaluator.evaluate({"refit": sk.PeriodicRefit(TREE, every=50)}, X, Y)
    assert len(asked) < 25 and sum(asked) == len(Y) - 50
    asked.clear()
    late = sk.DelayedEvaluator("accuracy", delay=100, polling=sk.Polling(n_bins=4, poll_every=5))
    late.evaluate({"frozen": frozen}, X, Y)
    assert len(asked) < 60


def test_a_run_goes_on_in_the_middle_of_a_window(tmp_path):
    models = {name: MODELS[name] for name in ("plain", "alarms", "before", "corrected")}
    evaluator = sk.PrequentialEvaluator(["accuracy", "log_loss"], random_state=0)
    whole = evaluator.evaluate(models, X, Y)
    run = evaluator.start(models, classes=CLASSES)
    run.update(X[:133], Y[:133])
    run = sk.load_run(run.save(tmp_path / "run"))
    run.update(X[133:], Y[133:])
    assert run.close().result().scores == whole.scores


@pytest.mark.parametrize("name", ["plain", "alarms", "both", "pipeline"])
def test_pickling_and_calls_of_any_size_change_nothing(name):
    one, other = clone(MODELS[name]), clone(MODELS[name])
    for row in range(400):
        one.partial_fit(X[[row]], Y[[row]], classes=CLASSES)
    for begin in range(0, 400, 57):
        rows = slice(begin, begin + 57)
        other = pickle.loads(pickle.dumps(other)).partial_fit(X[rows], Y[rows], CLASSES)
    assert one.refit_rows_.tolist() == other.refit_rows_.tolist()
    assert one.predict_proba(X).tolist() == other.predict_proba(X).tolist()
    before = joblib.hash(one)
    one.predict(X)
    assert joblib.hash(one) == before  # asking changes nothing


class Picky(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        if X[0, 0] > 100:
            raise ValueError("too large")
        return super().fit(X, y, sample_weight)


def test_a_refit_that_fails_keeps_the_model_and_counts():
    y = Y.copy()
    y[:60] = "down"
    model = sk.PeriodicRefit(Picky(), every=20, window=20)
    model.partial_fit(X[:40], y[:40], classes=CLASSES)
    assert (model.n_refits_, model.n_failed_refits_) == (0, 2)
    assert "after 40 rows, on 20 of them, failed: ValueError" in model.last_failure_
    assert set(model.predict(X)) == {"down"}
    model.partial_fit(X[40:200], y[40:200])
    assert (model.n_refits_, model.n_failed_refits_) == (7, 3)
    answers, large = model.predict(X), X[200:220].copy()
    large[0] = 1000.0
    model.partial_fit(large, y[200:220])
    assert model.n_failed_refits_ == 4 and "too large" in model.last_failure_
    assert model.predict(X).tolist() == answers.tolist()


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_a_first_refit_that_fails_names_itself(engine):
    evaluator = sk.PrequentialEvaluator(
        "accuracy", random_state=0, run=sk.RunOptions(kernels=engine == "auto")
    )
    bad = sk.PeriodicRefit(DecisionTreeClassifier(criterion="wrong"), every=30)
    with pytest.raises(Exception, match="The first refit of DecisionTreeClassifier after 30 rows"):
        evaluator.evaluate({"bad": bad}, X, Y)
    trees = sk.PeriodicRefit(HistGradientBoostingClassifier(max_iter=2), every=30)
    with pytest.raises(Exception, match=r"Let the steps before it return arrays: sparse_output=F"):
        evaluator.evaluate({"trees": trees}, sparse.csr_matrix(X), Y)


def test_classes_that_a_refit_has_not_seen():
    y = RNG.integers(0, 4, 300)
    y[:100] %= 2
    for inner in (DecisionTreeClassifier(random_state=0), LogisticRegression()):
        model = sk.PeriodicRefit(inner, every=50, window=50)
        model.partial_fit(X[:60], y[:60], classes=[0, 1, 2, 3])
        shares = model.predict_proba(X)
        assert shares.shape == (400, 4) and (shares[:, 2:] == 0.0).all()
        assert (shares[:, :2] == model.estimator_.predict_proba(X)).all()
    values = model.decision_function(X)
    assert (values.argmax(axis=1) == model.predict(X)).all() and values.shape == (400, 4)
    model.partial_fit(X[60:200], y[60:200])
    assert (model.decision_function(X) == model.estimator_.decision_function(X)).all()


def test_weights_repeat_rows_where_fit_takes_none():
    weight = RNG.integers(1, 4, 60)
    model = sk.PeriodicRefit(KNeighborsClassifier(3), every=60)
    model.partial_fit(X[:60], Y[:60], classes=CLASSES, sample_weight=weight)
    again = np.repeat(np.arange(60), weight)
    same = KNeighborsClassifier(3).fit(X[again], Y[again])
    assert model.predict_proba(X).tolist() == same.predict_proba(X).tolist()
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit has no sample_weight"):
        model.partial_fit(X[:2], Y[:2], sample_weight=[0.5, 1.0])
    piped = sk.PeriodicRefit(make_pipeline(StandardScaler(), TREE), every=60)
    piped.partial_fit(X[:60], Y[:60], classes=CLASSES, sample_weight=weight)
    scaled = StandardScaler().fit_transform(X[:60])
    tree = clone(TREE).fit(scaled, Y[:60], sample_weight=weight)
    assert (piped.estimator_[-1].tree_.threshold == tree.tree_.threshold).all()


def scores_of_both_paths(model, rows, y, metric="accuracy"):
    evaluator = sk.PrequentialEvaluator(metric, random_state=0)
    return [one.scores for one in both_ways(evaluator, {"one": model}, rows, y)]


def test_sparse_rows_and_texts():
    texts = np.array([f"word{i % 5} {label}ish" for i, label in enumerate(Y[:110])], dtype=object)
    few = sparse.csr_array(np.where(X[:110] > 0, X[:110], 0.0))
    for inner, rows in [
        (TREE, few),
        (make_pipeline(TfidfVectorizer(), LogisticRegression()), texts),
    ]:
        scores = scores_of_both_paths(sk.PeriodicRefit(inner, every=40, window=60), rows, Y[:110])
        assert scores[0] == scores[1]


def test_frames(pd):
    frame = pd.DataFrame({"a": X[:110, 0], "b": RNG.choice(["x", "y", "z"], 110)})
    encoder = OneHotEncoder(handle_unknown="ignore")
    encode = make_column_transformer((encoder, ["b"]), remainder="passthrough")
    model = sk.PeriodicRefit(make_pipeline(encode, TREE), every=40, window=60)
    scores = scores_of_both_paths(model, frame, Y[:110])
    assert scores[0] == scores[1]
    model.partial_fit(frame[:20], Y[:20], classes=CLASSES)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame.rename(columns={"a": "c"})[:20], Y[:20])


@pytest.mark.parametrize(
    ("inner", "options"),
    [
        (DecisionTreeRegressor(random_state=0), {"every": 40, "window": 100}),
        (LinearRegression(), {"every": None, "detector": ADWIN()}),
    ],
)
def test_regressors(inner, options):
    target = X @ [1.0, 2.0, 0.0, 0.0]
    scores = scores_of_both_paths(sk.PeriodicRefit(inner, **options), X, target, "mae")
    assert scores[0] == scores[1]
    assert scores[0]["one"]["mae"] < 1.0


def test_schedules_are_searched():
    model = sk.PeriodicRefit(TREE, every=100, window=100, detector=DDM())
    grid = {"every": [50, 100], "window": [100, None], "weight_decay": [None, 0.99]}
    evaluator = sk.PrequentialEvaluator(random_state=0)
    search = sk.PrequentialSearch(model, grid, evaluator=evaluator, metric="accuracy").fit(X, Y)
    assert set(search.best_params_) == set(grid)
    few = {"every": [50], "detector__drift_level": [3.0, 4.0]}
    assert GridSearchCV(model, few, cv=2).fit(X, Y).best_score_ > 0.4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 0}, "'every' parameter of PeriodicRefit must be an int in the range"),
        ({"every": 10, "window": 0}, "'window' parameter of PeriodicRefit must be"),
        ({"every": 10, "window": 1}, "window=1 rows cannot hold a row of each of 2 classes"),
        ({"every": None}, "every=None refits only on alarms .* detector=None"),
        ({"every": "1D"}, "every='1D' of PeriodicRefit counts time, but no time was given"),
        ({"every": 10, "window": "90D"}, "window='90D' of PeriodicRefit counts time"),
        ({"every": 10, "window": "3MS"}, "window='3MS' is not a duration"),
        ({"every": "0D"}, "'0D' is not a period that a clock can count"),
        ({"every": "ME"}, "'ME' is not a period .* such as 'MS' .the first of a month."),
        ({"every": " 3M"}, "' 3M' is not a period"),
        ({"every": "B"}, "'B' is not a period"),
        ({"every": timedelta(0)}, "timedelta.0. is not a period that a clock can count"),
        ({"every": 10, "window": timedelta(-1)}, "window=.* is not a duration"),
        (
            {"every": 10, "time_zone": "UTC"},
            "time_zone='UTC' applies to a calendar period in every=",
        ),
        ({"every": "1D", "time_zone": "Mars"}, "time_zone='Mars' is not a known time zone"),
        ({"every": 10, "weight_decay": 0.0}, "'weight_decay' parameter of PeriodicRefit"),
        ({"every": 10, "detector": DDM}, "detector is the class DDM, not an instance; pass DDM"),
        ({"every": 10, "before": TREE}, "it has no partial_fit"),
        ({"every": 10, "before": SGDClassifier}, "is a class; pass an instance"),
        (
            {"estimator": KNeighborsClassifier(), "every": 10, "weight_decay": 0.9},
            "KNeighborsClassifier.fit has no sample_weight",
        ),
        ({"estimator": StandardScaler(), "every": 10}, "StandardScaler has no predict"),
        ({"estimator": DecisionTreeClassifier, "every": 10}, "DecisionTreeClassifier is a class"),
    ],
)
def test_wrong_parameters(options, message):
    if options.get("every") in ("ME", " 3M", "B"):
        pytest.importorskip("pandas", reason="it knows the names of periods")
    model = sk.PeriodicRefit(**{"estimator": TREE, **options})
    with pytest.raises((TypeError, ValueError), match=message):
        model.partial_fit(X[:20], Y[:20], classes=CLASSES)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_only_a_model_that_learns_row_by_row_is_warned_of():
    evaluator = sk.PrequentialEvaluator("accuracy")
    refitted = sk.PeriodicRefit(GaussianNB(), every=50)
    rows, labels = X[:120], Y[:120]
    assert evaluator.evaluate(refitted, rows, labels).scores  # a warning is an error
    for inside in (sk.TemporalCorrection(refitted), sk.make_stream_pipeline(refitted)):
        assert evaluator.evaluate(inside, rows, labels).scores
    before = sk.PeriodicRefit(TREE, every=50, before=GaussianNB())
    with pytest.warns(UserWarning, match="trains GaussianNB row by row"):
        evaluator.evaluate(before, rows, labels)


def test_a_model_without_partial_fit_is_led_on():
    evaluator = sk.PrequentialEvaluator("accuracy")
    with pytest.raises(TypeError, match=r"(?s)PeriodicRefit.*FrozenEstimator"):
        evaluator.evaluate(HistGradientBoostingClassifier(), X, Y)
    with pytest.raises(TypeError, match="It is already fitted: which of the two do you mean"):
        evaluator.evaluate(clone(TREE).fit(X, Y), X, Y)


def test_a_frozen_model_answers_what_it_was_fitted_to():
    fitted = HistGradientBoostingClassifier(max_iter=5).fit(X[:100], Y[:100])
    evaluator = sk.PrequentialEvaluator(["accuracy", "log_loss"], n_warmup=0)
    answers, shares, result = taped(evaluator, FrozenEstimator(fitted))
    assert answers.tolist() == fitted.predict(X).tolist()
    assert shares[:, 1].tolist() == fitted.predict_proba(X)[:, 1].tolist()
    assert result.paths["model"] == "kernel"
    sgd = FrozenEstimator(SGDClassifier(random_state=0).fit(X[:100], Y[:100]))
    by_loop = sk.PrequentialEvaluator("accuracy").evaluate(sgd, X, Y)
    (path,) = by_loop.paths.values()
    assert "may depend on the rows asked in one call" in path


# -- what it cost and when


def test_a_result_knows_refits_and_their_cost(tmp_path):
    models = {
        "tree": sk.PeriodicRefit(TREE, every=100),
        "bag": sk.OnlineBagging(sk.PeriodicRefit(TREE, every=60), 2, random_state=0),
        "fast": sk.MajorityClass(),
    }
    result = sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0).evaluate(models, X, Y)
    result.save(tmp_path / "r.npz")
    for one in (result, sk.load(tmp_path / "r.npz")):
        cost = one.costs["tree"]
        assert [rows[:2] for rows in cost.refit_rows] == [[100, 200]] * 2
        assert 0 < cost.seconds_refitting <= cost.seconds
        assert all(rows == sorted(rows) for rows in one.costs["bag"].refit_rows)
        assert one.costs["fast"].refit_rows == [] and not one.costs["fast"].seconds_refitting
        assert "refit seconds" in str(one) and "refit seconds" in one._repr_html_()
    assert "refits" not in str(result.select(models="fast"))


def test_what_was_fitted_before_the_evaluation_is_no_cost_of_it():
    model = sk.PeriodicRefit(TREE, every=50).fit(X[:100], Y[:100])
    cost = (
        sk.PrequentialEvaluator("accuracy").evaluate(model, X[100:], Y[100:]).costs["PeriodicRefit"]
    )
    assert cost.refit_rows == [[50, 100, 150, 200, 250, 300]]


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_failed_and_missing_refits_are_said(engine):
    rows, late = X[:160], np.r_[np.repeat("down", 40), Y[40:160]]
    models = {
        "fails": sk.PeriodicRefit(LogisticRegression(), every=40, window=40),
        "never": sk.PeriodicRefit(TREE, every=1_000),
    }
    with pytest.warns(FitFailedWarning) as caught:
        result = sk.PrequentialEvaluator(
            "accuracy", run=sk.RunOptions(kernels=engine == "auto")
        ).evaluate(models, rows, late)
    said = [str(one.message) for one in caught]
    assert any(
        re.match(
            r"A refit of fails failed, and the previous model stayed in use: .* after 40 rows", one
        )
        for one in said
    )
    assert any(one.startswith("never was never refitted: its initial model") for one in said)
    assert all(one in str(result) for one in said)
    assert result.costs["fails"].n_failed_refits == 1
    assert result.costs["fails"].refit_rows == [[80, 120, 160]]


def test_pictures_mark_refits(matplotlib):
    models = {"tree": sk.PeriodicRefit(TREE, every=100), "majority": sk.MajorityClass()}
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    result = evaluator.evaluate(models, X, Y)
    display = PrequentialDisplay.from_result(result, refits=True)
    (marks,) = display.detections.values()
    np.testing.assert_array_equal(marks["tree"].alarms, [99, 199, 299, 399])
    assert [text.get_text() for text in display.legend_.get_texts()][-1] == "refit"
    with pytest.raises(ValueError, match="no model of the result has any"):
        PrequentialDisplay.from_result(result.select(models="majority"), refits=True)
    folds = sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0).evaluate(models, X, Y)
    with pytest.raises(ValueError, match="are trained on only some of the rows"):
        PrequentialDisplay.from_result(folds, refits=True)


def test_boosting_of_one_class_answers_it_for_sure():
    one = HistGradientBoostingClassifier(max_iter=2)
    for method in ("predict_proba", "decision_function"):
        model = sk.PeriodicRefit(one, every=10).partial_fit(X[:10], ["up"] * 10, CLASSES)
        answers = getattr(model, method)(X[:3])
        expected = [[0.0, 1.0]] * 3 if method == "predict_proba" else [1.0] * 3
        np.testing.assert_array_equal(answers, expected)


def test_fitted_once_keeps_no_rows():
    once = sk.PeriodicRefit(TREE, every=None, min_rows=100)
    result = sk.PrequentialEvaluator("accuracy").evaluate(once, X, Y, return_models=True)
    model = result.models["PeriodicRefit"]
    assert model.refit_rows_.tolist() == [100] and model.n_rows_learnt_ == 400
    assert model._progress.window == ()
    with pytest.raises(ValueError, match="fitted once and for all: min_rows="):
        sk.PeriodicRefit(TREE, every=None).fit(X, Y)


def test_an_alarm_refits_on_no_more_than_the_window(rng):
    sizes = []

    class Counting(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            sizes.append(len(y))
            return super().fit(X, y, sample_weight)

    y = np.where(rng.random(1500) < np.linspace(0.05, 0.5, 1500), "up", "down")
    model = sk.PeriodicRefit(
        Counting(max_depth=1), every=None, min_rows=20, window=30, detector=DDM()
    )
    model.partial_fit(np.zeros((1500, 1)), y, classes=CLASSES)
    assert sizes[0] == 20 and len(sizes) > 1 and max(sizes) <= 30


def centred(rows):
    return rows - rows.mean(axis=0)


@pytest.mark.parametrize(
    "inner",
    [
        make_pipeline(
            make_column_transformer(
                (StandardScaler(), [0]), remainder=FunctionTransformer(centred)
            ),
            TREE,
        ),
        DummyClassifier(strategy="stratified", random_state=0),
        GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()),
    ],
    ids=["remainder", "draws", "init"],
)
def test_what_depends_on_the_rows_of_a_call_is_asked_row_by_row(inner):
    model = sk.PeriodicRefit(inner, every=50)
    by_engine, by_loop = scores_of_both_paths(model, X[:110], Y[:110])
    assert by_engine == by_loop
    path = sk.PrequentialEvaluator("accuracy").evaluate({"one": model}, X[:60], Y[:60]).paths["one"]
    own = isinstance(inner[0], ColumnTransformer) if isinstance(inner, Pipeline) else False
    assert "may depend on the rows asked in one call" in path if own else path == "kernel"


LINEAR = LogisticRegression()
LINEAR_MODELS = {
    "linear": sk.PeriodicRefit(LINEAR, every=30, window=70),
    "pipeline": sk.PeriodicRefit(make_pipeline(StandardScaler(), PCA(3), LINEAR), every=30),
    "svc": sk.PeriodicRefit(SVC(), every=60, before=IncrementalGaussianNB()),
    "inside": sk.make_stream_pipeline(StandardScaler(), sk.PeriodicRefit(LINEAR, every=30)),
    "alarms": sk.PeriodicRefit(LINEAR, every=50, detector=DDM()),
    "bagging": sk.OnlineBagging(sk.PeriodicRefit(LINEAR, every=30), n_estimators=2),
}


LINEAR_EVALUATORS = [
    sk.PrequentialEvaluator("auc"),
    sk.DelayedEvaluator("accuracy", delay=5, polling=sk.Polling(n_bins=2, poll_every=3)),
    sk.PrequentialEvaluator("accuracy", batch_size=7),
    sk.KFoldEvaluator("accuracy", n_folds=2),
    sk.HoldoutEvaluator("accuracy", holdout="next", every=20),
]


@pytest.mark.parametrize(
    ("model", "evaluator"),
    [
        (model, evaluator)
        for model in LINEAR_MODELS
        for evaluator in LINEAR_EVALUATORS[: 5 if model in ("linear", "inside") else 2]
    ],
    ids=str,
)
def test_linear_models_are_asked_as_by_the_loop(model, evaluator):
    its = clone(evaluator).set_params(random_state=0, run__keep_tape=True)
    runs = both_ways(its, LINEAR_MODELS[model], X[:100] / 3, Y[:100])
    for name in ("answers", "scores"):
        found, expected = (getattr(run.tape, name) for run in runs)
        assert found.keys() == expected.keys()
        for one in found:
            np.testing.assert_array_equal(found[one], expected[one])


def test_calls_of_own_classes_are_made_by_the_loop_alone():
    inside = {"m": LINEAR_MODELS["inside"]}
    path = (
        sk.PrequentialEvaluator("accuracy", random_state=0)
        .evaluate(inside, X[:60], Y[:60])
        .paths["m"]
    )
    assert "PeriodicRefit inside another model" in path
    for inner in (Picky(), make_pipeline(FunctionTransformer(centred), LINEAR)):
        result = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(
            {"m": sk.PeriodicRefit(inner, every=30)}, X[:60], Y[:60]
        )
        assert "may depend on the rows asked" in result.paths["m"]


def test_fit_learns_no_row_of_weight_zero():
    weight = np.where(np.arange(100) < 60, 1.0, 0.0)
    model = sk.PeriodicRefit(TREE, every=10, window=40).fit(X[:100], Y[:100], sample_weight=weight)
    same = clone(TREE).fit(X[20:60], Y[20:60])
    assert model.n_rows_learnt_ == 60 and model.refit_rows_.tolist() == [60]
    assert model.predict_proba(X).tolist() == same.predict_proba(X).tolist()


@pytest.mark.parametrize("wrong", [{"every": 0}, {"every": "1D"}, {"weight_decay": 5.0}])
def test_parameters_set_after_rows_were_learnt_are_checked(wrong):
    model = sk.PeriodicRefit(TREE, every=50).partial_fit(X[:100], Y[:100], CLASSES)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        model.set_params(**wrong).partial_fit(X[100:], Y[100:])


def test_a_model_that_never_changes_is_not_refitted():
    frozen = FrozenEstimator(clone(TREE).fit(X, Y))
    with pytest.raises(TypeError, match="FrozenEstimator never changes"):
        sk.PeriodicRefit(frozen, every=50).partial_fit(X, Y, CLASSES)


def test_decision_values_of_pairs_are_not_those_of_classes():
    y, pairs = np.arange(60) % 3, SVC(decision_function_shape="ovo")
    model = sk.PeriodicRefit(pairs, every=60).partial_fit(X[:60], y, [0, 1, 2, 3])
    with pytest.raises(ValueError, match="decision_function_shape='ovr'"):
        model.decision_function(X)
    assert model.set_params(estimator=SVC()).fit(X[:60], y).decision_function(X).shape == (400, 3)
