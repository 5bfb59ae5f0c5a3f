"""Estimators work where River's models do."""

import copy
import pickle
from itertools import islice

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.svm import SVC

from skstream.naive_bayes import IncrementalGaussianNB
from skstream.temporal import TemporalCorrection
from tests._examples import newest_alone

pytest.importorskip("river")
from river import base, checks, compose, datasets, ensemble, preprocessing

from skstream.compat import from_river, to_river

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.where(X[:, 0] > 0, "up", "down").tolist()
ROWS = [{"a": a, "b": b} for a, b in X.tolist()]


def test_answers_are_those_of_the_estimator() -> None:
    estimator = TemporalCorrection(IncrementalGaussianNB())
    model = to_river(estimator, classes=["up", "down"])
    assert model.predict_one(ROWS[0]) is None and model.predict_proba_one(ROWS[0]) == {}
    for number, (row, label) in enumerate(zip(ROWS, Y, strict=True)):
        if number:
            assert model.predict_one(row) == estimator.predict(X[[number]])[0]
            shares = dict(zip(["down", "up"], *estimator.predict_proba(X[[number]]), strict=True))
            assert model.predict_proba_one(dict(reversed(row.items()))) == shares
        model.learn_one(row, label)
        estimator.partial_fit(X[[number]], [label], classes=["down", "up"])
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert same.predict_proba_one(ROWS[0]) == model.predict_proba_one(ROWS[0])
    assert model.clone().predict_one(ROWS[0]) is None
    assert repr(model) and str(model) == "EstimatorClassifier(TemporalCorrection)"


def test_in_pipelines_and_ensembles() -> None:
    inner = to_river(SGDClassifier(loss="log_loss", random_state=0), classes=["down", "up"])
    pipeline = preprocessing.StandardScaler() | inner
    assert isinstance(pipeline, base.Classifier)
    bagging = ensemble.BaggingClassifier(pipeline, n_models=2, seed=0)
    for row, label in zip(ROWS, Y, strict=True):
        bagging.learn_one(row, label)
    assert sum(bagging.predict_one(r) == label for r, label in zip(ROWS, Y, strict=True)) > 50
    there_and_back = from_river(pipeline).fit(X, Y)
    assert there_and_back.score(X, Y) > 0.8


def test_regressors() -> None:
    model = compose.Pipeline(preprocessing.StandardScaler(), to_river(SGDRegressor()))
    assert model.predict_one(ROWS[0]) == 0.0
    for row in ROWS:
        model.learn_one(row, row["a"])
    assert isinstance(model.predict_one(ROWS[0]), float)


def test_features_are_found_by_their_names() -> None:
    seen = []

    class Shows(SGDRegressor):
        def partial_fit(self, X, y):
            seen.append(X)
            return super().partial_fit(np.nan_to_num(X), y)

    model = to_river(Shows(), features=["b", "a"])
    model.learn_one({"a": 1.0, "c": 9.0}, 1.0)
    np.testing.assert_array_equal(seen[-1], [[np.nan, 1.0]])
    words = to_river(Shows())
    with pytest.raises((TypeError, ValueError)):
        words.learn_one({"a": "text"}, 1.0)
    assert seen[-1].dtype == object


def test_a_fitted_estimator_goes_on() -> None:
    fitted = IncrementalGaussianNB().fit(X, Y)
    model = to_river(fitted)
    expected = dict(zip(["down", "up"], *fitted.predict_proba(X[:1]), strict=True))
    assert model.predict_proba_one(ROWS[0]) == expected
    model.learn_one(ROWS[0], "up")
    assert fitted.class_count_.sum() == 60
    assert model.clone().predict_one(ROWS[0]) is None


def test_what_is_not_taken() -> None:
    with pytest.raises(ValueError, match="n_kept must be"):
        to_river(SGDClassifier(), n_kept=0)
    with pytest.raises(TypeError, match="MiniBatchKMeans is neither"):
        to_river(MiniBatchKMeans())
    with pytest.raises(TypeError, match="no partial_fit"):
        to_river(SVC())
    with pytest.raises(NotImplementedError, match="SGDClassifier has no predict_proba"):
        model = to_river(SGDClassifier(), classes=[0, 1])
        model.learn_one({0: 1.0}, 1)
        model.predict_proba_one({0: 1.0})


def coming(n=40):
    """Rows whose labels and features come one after another, and go again."""
    for row in range(n):
        values = {f"x{i}": float(v) for i, v in enumerate(RNG.normal(size=4)) if i <= row / 10}
        if row % 7 == 3:
            del values["x0"]
        yield values, "abc"[int(RNG.integers(0, 1 + min(row // 8, 2)))]


@pytest.mark.parametrize("n_kept", [1000, 12])
def test_labels_and_features_that_were_not_known(n_kept) -> None:
    estimator = SGDClassifier(loss="log_loss", random_state=0)
    model, kept, began = to_river(estimator, missing=0.0, n_kept=n_kept), [], 0
    assert model.predict_one({}) is None
    labels, names = set(), []
    for number, (x, y) in enumerate(coming()):
        new = [name for name in x if name not in names]
        if new or y not in labels:
            began = max(0, number + 1 - n_kept)
        labels.add(y)
        names += new
        kept.append((x, y))
        model.learn_one(x, y)
        if len(labels) == 1:
            assert model.predict_one(x) == y and model.predict_proba_one(x) == {y: 1.0}
            continue
        # As one that has known labels and features before, and began with the rows kept.
        told = to_river(estimator, classes=sorted(labels), features=names, missing=0.0)
        for row, label in kept[began:]:
            told.learn_one(row, label)
        assert model.predict_proba_one(x) == told.predict_proba_one(x)
        assert set(model.predict_proba_one(x)) == labels
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert same.predict_proba_one(x) == model.predict_proba_one(x)
    assert model.clone().predict_one(x) is None


def test_a_row_that_fails_is_not_kept() -> None:
    model = to_river(SGDRegressor(random_state=0), missing=0.0)
    model.learn_one({"a": 1.0}, 1.0)
    expected = model.predict_one({"a": 1.0})
    for x, y in (({"a": 1.0, "b": "text"}, 1.0), ({"c": 1.0}, np.nan)):
        with pytest.raises((TypeError, ValueError)):
            model.learn_one(x, y)
    assert model.predict_one({"a": 1.0, "b": 5.0}) == expected
    model.learn_one({"a": 1.0, "d": 0.0}, 1.0)
    assert list(model._columns) == ["a", "d"]


@pytest.mark.parametrize(
    "estimator", [pytest.param(SGDClassifier(loss="log_loss"), marks=newest_alone), SGDRegressor()]
)
def test_checks_of_river(estimator, monkeypatch) -> None:
    # Fifty rows show what two hundred do.
    monkeypatch.setattr(datasets.base.Dataset, "take", lambda self, k: islice(self, k // 4))
    model = to_river(estimator.set_params(random_state=0), missing=0.0)
    for check in checks.yield_checks(model):
        if check.__name__ != "check_bounded_memory_growth":  # it takes long
            check(model.clone())
