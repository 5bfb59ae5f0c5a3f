"""``score`` of models that use the previous label: each row's label is known to the next row."""

import copy
import itertools
import pickle
import warnings
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score, make_scorer, r2_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import skstream as sk
from skstream._meta import MetaEstimator
from skstream.drift import RandomAlarm
from skstream.preprocessing import StreamImputer, StreamOneHotEncoder, StreamOrdinalEncoder
from skstream.utils._sklearn import rows_of
from tests._data import load_stream
from tests._examples import examples, newest_alone
from tests._public import public_objects
from tests.test_estimators_common import instances

CLASSES = ["ant", "bee", "cow"]


def labels(n_rows: int, seed: int, stay: float = 0.8) -> np.ndarray:
    """Labels that repeat."""
    rng = np.random.default_rng(seed)
    moves = np.where(rng.random(n_rows) < stay, 0, rng.integers(1, 3, n_rows))
    return np.array(CLASSES)[np.cumsum(moves) % 3]


def rows(y: np.ndarray, seed: int) -> np.ndarray:
    """Features of little use, positive."""
    rng = np.random.default_rng(seed)
    codes = np.unique(y, return_inverse=True)[1]
    return rng.gamma(2.0, size=(len(y), 3)) + 0.5 * codes[:, np.newaxis] * [1.0, 0.0, -0.1] + 0.2


N = 60
Y = labels(110, 1)
X = rows(Y, 2)
TARGETS = np.cumsum(np.random.default_rng(3).normal(size=110))


def users_in(value: Any, seen: set[int] | None = None) -> list[Any]:
    """Fitted models in attributes that hold a previous label."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    if isinstance(value, dict | list | tuple):
        inside = value.values() if isinstance(value, dict) else value
    elif isinstance(value, BaseEstimator):
        inside = vars(value).values()
    else:
        return []
    found = [part for one in list(inside) for part in users_in(one, seen)]
    names = ("previous_labels_", "previous_label_", "previous_target_")
    return (
        [value, *found] if any(name in getattr(value, "__dict__", {}) for name in names) else found
    )


def show(part: Any, label: Any) -> None:
    """Make a label the newest one, and teach nothing."""
    if isinstance(part, sk.PersistentRegressor):
        part.previous_target_ = float(label)
    elif isinstance(part, sk.Persistent):
        part.previous_label_ = label
    else:
        newest = np.array([label, *part.previous_labels_.tolist()])
        part.previous_labels_ = newest[: getattr(part, "n_lags", 1)]


def by_hand(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Predict single rows with a copy that is shown each label, or its own answer."""
    model = copy.deepcopy(model)
    parts, answers = users_in(model), []
    for row in range(len(y)):
        answer = model.predict(rows_of(X, slice(row, row + 1)))[0]
        answers.append(answer)
        for part in parts:
            known = getattr(part, "previous_label", "known") == "known"
            show(part, y[row] if known else answer)
    return np.array(answers)


def check(model: Any, X: Any, y: np.ndarray, weight: Any = None) -> bool:
    """Check the law on a fitted model; return whether its block of answers is another one."""
    # Masked arrays, as searches have them, have no hash.
    state = pickle.dumps if "GridSearchCV" in repr(model) else joblib.hash
    before, block = state(model), np.array(model.predict(X))
    measure = accuracy_score if is_classifier(model) else r2_score
    wanted = by_hand(model, X, y)
    assert model.score(X, y, sample_weight=weight) == measure(y, wanted, sample_weight=weight)
    assert state(model) == before
    np.testing.assert_array_equal(model.predict(X), block)
    return not np.array_equal(wanted, block)


BASES = {
    "corrected": sk.TemporalCorrection(GaussianNB(), fading_factor=0.9),
    "augmented": sk.TemporallyAugmented(MultinomialNB(), n_lags=2, encoding="ordinal"),
    "tree": sk.TemporallyAugmented(
        sk.PeriodicRefit(DecisionTreeClassifier(random_state=0), every=20)
    ),
    "predicted": sk.TemporalCorrection(GaussianNB(), previous_label="predicted"),
    "predicted, augmented": sk.TemporallyAugmented(
        SGDClassifier(loss="log_loss", random_state=0), previous_label="predicted"
    ),
    "persistent": sk.Persistent(),
    "both": sk.TemporalCorrection(sk.TemporallyAugmented(GaussianNB())),
}


def around(kind: type, model: Any) -> Any:
    """Put an exported meta-estimator around a model."""
    settings = {
        sk.PeriodicRefit: {"every": 25, "min_rows": 10},
        sk.OnlineBagging: {"n_estimators": 2},
    }
    names = kind._get_param_names()
    seed = {"random_state": 0} if "random_state" in names else {}
    return kind(model, **settings.get(kind, {}), **seed)


META = {
    path.rpartition(".")[2]: value
    for path, value in public_objects().items()
    if isinstance(value, type) and issubclass(value, MetaEstimator)
}
MODELS = [model for model in instances() if hasattr(model, "predict")]


def fitted(model: Any, X: Any, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_exported_estimator_scores_in_order(model: Any) -> None:
    if not hasattr(model, "predict") or isinstance(model, sk.PrequentialSearch):
        pytest.skip("no model of its own")
    y = Y if is_classifier(model) else TARGETS
    check(fitted(model, X[:N], y[:N]), X[N:], y[N:])


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", META)
def test_every_wrapper_scores_in_order(name: str, base: str) -> None:
    kind, model, y = META[name], BASES[base], Y
    if kind is sk.OnlineConformalRegressor:
        model, y = sk.PersistentRegressor(), TARGETS
    elif name in ("TemporalCorrection", "PrequentialCalibrator") and not hasattr(
        model, "predict_proba"
    ):
        pytest.skip("no probabilities")
    elif "predicted" in base and kind not in (sk.DriftReset, sk.PeriodicRefit):
        pytest.skip("by hand the answer of the whole is taken for that of the part")
    model = fitted(around(kind, model), X[:N], y[:N])
    check(model, X[N:], y[N:], np.arange(50) % 3)


NESTED = {
    "pipeline": sk.make_stream_pipeline(StandardScaler(), BASES["corrected"]),
    "pipeline inside": sk.TemporallyAugmented(
        sk.make_stream_pipeline(StandardScaler(), sk.TemporalCorrection(GaussianNB())), n_lags=3
    ),
    "three": sk.DriftReset(
        sk.LabelNoise(sk.PrequentialCalibrator(BASES["augmented"]), random_state=0),
        detector=RandomAlarm(0.1, random_state=0),
    ),
    "refit": sk.PeriodicRefit(Pipeline([("s", StandardScaler()), ("m", BASES["both"])]), every=15),
    "bag": sk.OnlineBagging(
        sk.make_stream_pipeline(StandardScaler(), BASES["corrected"]), 2, random_state=0
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_pipelines_and_nested_wrappers_score_in_order(name: str) -> None:
    model = fitted(NESTED[name], X[:N], Y[:N])
    if name == "before":
        model = clone(NESTED[name]).partial_fit(X[:N], Y[:N], classes=CLASSES)
    assert check(model, X[N:], Y[N:]) or "predicted" in str(NESTED[name])
    frozen = sk.make_stream_pipeline(FrozenEstimator(model))
    frozen.partial_fit(X[:1], Y[:1])
    assert frozen.score(X[N:], Y[N:]) == FrozenEstimator(model).score(X[N:], Y[N:])
    assert frozen.score(X[N:], Y[N:]) == model.score(X[N:], Y[N:])


@given(
    seed=st.integers(0, 10**6),
    model=st.sampled_from([*BASES, "pipeline", "pipeline inside", "three"]),
    n_rows=st.integers(2, 30),
    kind=st.sampled_from(["array", "fortran", "list", "csr", "frame"]),
)
@examples(40)
def test_law_on_random_streams(seed: int, model: str, n_rows: int, kind: str) -> None:
    y = labels(N + n_rows, seed, stay=0.6)
    X = rows(y, seed)
    one = fitted({**BASES, **NESTED}[model], X[:N], y[:N])
    later: Any = X[N:]
    if kind == "fortran":
        later = np.asfortranarray(later)
    elif kind == "list":
        later = later.tolist()
    elif kind == "csr" and model == "augmented":
        sparse = pytest.importorskip("scipy.sparse")
        later = sparse.csr_matrix(later)
    elif kind == "frame":
        pd = pytest.importorskip("pandas", reason="frames")
        one = fitted({**BASES, **NESTED}[model], pd.DataFrame(X[:N], columns=list("abc")), y[:N])
        later = pd.DataFrame(later, columns=list("abc"))
    check(one, later, y[N:])


class Blockwise(ClassifierMixin, BaseEstimator):
    """Answers a row of a block otherwise than a single row, into an array that it keeps."""

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.asarray(CLASSES)
        self._out = np.full((1, 3), 1 / 3)
        return self

    def predict_proba(self, X):
        if len(X) > 1:
            return np.full((len(X), 3), [0.0, 0.0, 1.0])
        self._out[0] = [0.5, 0.3, 0.2] if np.asarray(X)[0, 0] > 1 else [0.2, 0.3, 0.5]
        return self._out

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_models_that_answer_blocks_otherwise_are_asked_row_by_row() -> None:
    model = sk.TemporalCorrection(Blockwise()).partial_fit(X[:N], Y[:N], classes=CLASSES)
    assert model.score(X[N:], Y[N:]) == accuracy_score(Y[N:], by_hand(model, X[N:], Y[N:]))


def test_models_that_answer_each_row_alone_are_asked_once(monkeypatch) -> None:
    refit = sk.PeriodicRefit(DecisionTreeClassifier(random_state=0), every=20)
    model = sk.TemporalCorrection(refit).fit(X[:N], Y[:N])
    calls, honest = [], DecisionTreeClassifier.predict_proba
    monkeypatch.setattr(
        DecisionTreeClassifier,
        "predict_proba",
        lambda tree, X, **options: calls.append(len(X)) or honest(tree, X, **options),
    )
    model.score(X[N:], Y[N:])
    assert calls == [50]


def test_preprocessors_of_frames_are_asked_once(monkeypatch) -> None:
    pd = pytest.importorskip("pandas", reason="frames")
    gaps = np.where(X[:, 1] > 3, np.nan, X[:, 1])
    texts = np.where(X[:, 2] > 3, None, np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
    frame = pd.DataFrame({"a": X[:, 0], "b": gaps, "c": texts, "d": texts})
    numbers = sk.make_stream_pipeline(StreamImputer(add_indicator=True), StandardScaler())
    columns = make_column_transformer(
        (numbers, ["a", "b"]), (StreamOneHotEncoder(), ["c"]), (StreamOrdinalEncoder(), ["d"])
    )
    corrected = sk.TemporalCorrection(SGDClassifier(loss="log_loss", random_state=0))
    model = sk.make_stream_pipeline(columns, corrected).fit(frame[:N], Y[:N])
    check(model, frame[N:], Y[N:])
    calls, honest = [], ColumnTransformer.transform
    monkeypatch.setattr(
        ColumnTransformer, "transform", lambda one, X: calls.append(len(X)) or honest(one, X)
    )
    model.score(frame[N:], Y[N:])
    assert calls == [50]


def test_labels_that_a_model_does_not_know_are_not_shown() -> None:
    y = Y[N:].copy()
    y[5:8] = "dog"
    for name, model in BASES.items():
        if name != "tree" and "predicted" not in name:
            model = fitted(model, X[:N], Y[:N])
            shown = np.where(y == "dog", y[4], y)  # the one before them stays the newest
            wanted = by_hand(model, X[N:], shown)
            if getattr(model, "n_lags", 1) == 1:
                assert model.score(X[N:], y) == accuracy_score(y, wanted)


def test_labels_of_one_against_the_rest_are_not_those_of_all() -> None:
    codes = np.unique(Y, return_inverse=True)[1]
    model = OneVsRestClassifier(sk.TemporalCorrection(GaussianNB())).fit(X[:N], codes[:N])
    model = sk.make_stream_pipeline(StandardScaler(), FrozenEstimator(model))
    model.partial_fit(X[:N], codes[:N])
    with pytest.warns(sk.StaleLabelWarning):
        score = model.score(X[N:], codes[N:])
    assert score == accuracy_score(codes[N:], model.predict(X[N:]))


def test_mistakes() -> None:
    with pytest.raises(NotFittedError):
        sk.TemporalCorrection(GaussianNB()).score(X, Y)
    model = fitted(BASES["corrected"], X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(X, Y[:-1])
    with pytest.raises(ValueError, match="0 sample"):
        model.score(X[:0], Y[:0])
    assert model.score(X, Y[:, np.newaxis]) == model.score(X, Y.tolist()) == model.score(X, Y)


# -- searches


def stream(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels whose runs are long, and features of little use."""
    y = labels(n_rows, 7, stay=0.95)
    return rows(y, 8), y


GRID = {"fading_factor": [0.5, 0.9, 0.99, 1.0]}


def prequential(model: Any, grid: dict[str, list[Any]], X: np.ndarray, y: np.ndarray) -> np.ndarray:
    ((name, values),) = grid.items()
    models = {str(value): clone(model).set_params(**{name: value}) for value in values}
    scores = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(models, X, y).scores
    return np.array([scores[str(value)]["accuracy"] for value in values])


@pytest.mark.parametrize("cv", [None, TimeSeriesSplit(3), sk.PrequentialSplit(200)])
def test_the_default_search_finds_what_the_evaluation_finds(cv: Any) -> None:
    X, y = stream(500)
    model = sk.TemporalCorrection(MultinomialNB())
    search = GridSearchCV(model, GRID, cv=cv).fit(X, y)
    scores = prequential(model, GRID, X, y)
    assert scores[search.best_index_] == scores.max()
    assert search.cv_results_["mean_test_score"].argmin() == scores.argmin() == 0


@newest_alone  # 12,000 rows are predicted one by one
def test_the_default_search_on_electricity() -> None:
    X, y = load_stream("electricity", 3_000)
    model, grid = sk.TemporalCorrection(MultinomialNB()), {"fading_factor": [0.9, 0.99, 0.999, 1.0]}
    search = GridSearchCV(model, grid, refit=False).fit(X, y)
    scores = prequential(model, grid, X, y)
    assert scores[search.best_index_] == scores.max()
    assert scores.argmin() == search.cv_results_["mean_test_score"].argmin() == 0


def test_default_scores_of_folds() -> None:
    X, y = stream(300)
    model = sk.make_stream_pipeline(StandardScaler(), sk.TemporalCorrection(GaussianNB()))
    cv = TimeSeriesSplit(3)
    scores = cross_val_score(model, X, y, cv=cv)
    by_loop = [
        accuracy_score(y[test], by_hand(fitted(model, X[train], y[train]), X[test], y[test]))
        for train, test in cv.split(X)
    ]
    assert scores.tolist() == by_loop
    search = sk.PrequentialSearch(sk.TemporalCorrection(MultinomialNB()), GRID, tuning=100).fit(
        X, y
    )
    assert search.score(X[:50], y[:50]) == search.best_estimator_.score(X[:50], y[:50])


def told(call: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught if one.category is sk.StaleLabelWarning]


@pytest.mark.parametrize("name", ["corrected", "both", "predicted", "refit", "bag", "three"])
def test_scorers_by_name_are_told_once(name: str) -> None:
    model, predicted = {**BASES, **NESTED}[name], "predicted" in name
    X, y = stream(120)
    cv = TimeSeriesSplit(2)
    grid = {"smoothing": [1.0, 2.0]} if name == "corrected" else {}
    for scoring in (
        "accuracy",
        make_scorer(accuracy_score),
        {"a": "accuracy", "b": "recall_macro"},
    ):
        options = {"refit": False} if isinstance(scoring, dict) else {}
        search = GridSearchCV(model, grid, scoring=scoring, cv=cv, **options)
        messages = told(lambda s=search: s.fit(X, y))
        # Of several scorers, each may be the first one that asks.
        assert (len(messages) == 0) if predicted else (1 <= len(messages) <= 2)
        assert all(
            "prequential_scorer" in message and "rows at once" in message for message in messages
        )
    assert not told(lambda: cross_validate(model, X, y, cv=cv))
    one = fitted(model, X[:100], y[:100])
    assert not told(lambda: (one.predict(X[100:]), one.score(X[100:], y[100:])))
    assert not told(lambda: make_scorer(accuracy_score)(one, X[100:101], y[100:101]))
    if hasattr(one, "partial_fit"):
        scorer = sk.prequential_scorer("accuracy", batch_size=5)
        assert not told(lambda: cross_validate(model, X, y, cv=cv, scoring=scorer))


INSIDE = sk.TemporalCorrection(GaussianNB())


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier([("m", INSIDE)]),
        FixedThresholdClassifier(INSIDE),
        StackingClassifier([("m", INSIDE)], cv=2),
        BaggingClassifier(INSIDE, 2, random_state=0),
        CalibratedClassifierCV(INSIDE, cv=2),
        OneVsRestClassifier(INSIDE),
        VotingClassifier([("m", sk.Persistent())]),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_advice_fits_wrappers_that_ask_for_all_rows_at_once(model: Any, scoring: Any) -> None:
    X, y = stream(120)
    y = (y == y[0]).astype(int)
    messages = told(lambda: cross_val_score(model, X, y, cv=TimeSeriesSplit(2), scoring=scoring))
    kind = type(model).__name__
    assert messages
    for message in messages:
        assert f"{kind} predicts all rows at once, whatever scoring is. Put it inside" in message
        assert "at its default" not in message
    inside = sk.TemporallyAugmented(
        sk.PeriodicRefit(VotingClassifier([("m", GaussianNB())]), every=1000)
    )
    assert not told(lambda: cross_val_score(inside, X, y, cv=TimeSeriesSplit(2)))


def test_no_alarm_in_evaluations() -> None:
    X, y = stream(100)
    models = {name: BASES[name] for name in ("corrected", "augmented", "persistent")}
    for batch_size, engine in itertools.product([1, 7], ["auto", "loop"]):
        evaluator = sk.PrequentialEvaluator(
            ["accuracy", accuracy_score],
            batch_size=batch_size,
            run=sk.RunOptions(kernels=engine == "auto"),
        )
        assert not told(lambda e=evaluator: e.evaluate(models, X, y))


def test_a_dummy_inside_is_no_part() -> None:
    model = sk.StreamPipeline([("m", FrozenEstimator(DummyClassifier().fit(X, Y)))])
    model.partial_fit(X[:1], Y[:1])
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X))
