"""Measures of probabilities in evaluations: against scikit-learn, and between the paths."""

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.naive_bayes import MultinomialNB

import skstream as sk
from skstream.metrics import Measure
from skstream.naive_bayes import IncrementalGaussianNB

N = 90
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(N, 3))
LABELS = np.array(["a", "b", "c"])
METRICS = ["accuracy", "log_loss", "brier"]


@cache
def labels(n_classes: int) -> np.ndarray:
    y = np.minimum((X[:, 0] * n_classes + RNG.normal(0, 0.3, N)).clip(0), n_classes - 1)
    return LABELS[y.astype(int)]


def models() -> dict[str, Any]:
    return {
        "sgd": SGDClassifier(loss="log_loss"),
        "corrected": sk.TemporalCorrection(SGDClassifier(loss="log_loss")),
        "bayes": MultinomialNB(),
    }


def prequential(**parameters: Any) -> sk.PrequentialEvaluator:
    return sk.PrequentialEvaluator(METRICS, random_state=0, **parameters)


def expected(model: Any, y: np.ndarray, weight: Any = None, window: int = N) -> dict[str, float]:
    shares, rows = sk.prequential_predict(
        model, X, y, method="predict_proba", sample_weight=weight, return_rows=True
    )
    if weight is not None:
        kept = weight[rows] > 0
        shares, rows = shares[kept], rows[kept]
    shares, rows = shares[-window:], rows[-window:]
    options = {"sample_weight": None if weight is None else weight[rows]}
    classes = np.unique(y)
    two = len(classes) == 2
    return {
        "log_loss": log_loss(y[rows], shares, labels=classes, **options),
        "brier": brier_score_loss(
            y[rows],
            shares[:, 1] if two else shares,
            **({"pos_label": classes[1]} if two else {"labels": classes}),
            **options,
        ),
    }


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_they_are_those_of_scikit_learn(n_classes: int, engine: Any) -> None:
    y, several = labels(n_classes), models()
    if engine == "loop":
        del several["corrected"]  # slow
    result = prequential(run=sk.RunOptions(kernels=engine == "auto")).evaluate(several, X, y)
    for name, model in several.items():
        wanted = expected(model, y)
        for metric, value in wanted.items():
            assert result.scores[name][metric] == pytest.approx(value, rel=1e-9)
    kind = "kernel" if engine == "auto" else "loop"
    assert all(path == kind for path in result.paths.values())
    # What is asked besides does not change the answers.
    alone = sk.PrequentialEvaluator(
        "accuracy", random_state=0, run=sk.RunOptions(kernels=engine == "auto")
    )
    its = alone.evaluate(several, X, y)
    for name in result.model_names:
        np.testing.assert_array_equal(
            its.predictions(name, every_row=True), result.predictions(name, every_row=True)
        )


class NoScores(ClassifierMixin, BaseEstimator):
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "NoScores":
        self.classes_ = np.array(["a", "b"])
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), "a")


def test_a_model_without_them_is_an_error_before_the_run() -> None:
    y = labels(2)
    with pytest.raises(ValueError, match=r"'svm' \(SGDClassifier\) has no predict_proba") as caught:
        prequential().evaluate({"sgd": models()["sgd"], "svm": SGDClassifier()}, X, y)
    words = "log_loss and brier need. It can be scored by accuracy and rankings such as auc. Leave"
    assert words in str(caught.value) and "error_score=nan" in str(caught.value)
    with pytest.raises(ValueError, match="neither predict_proba nor decision_function"):
        sk.PrequentialEvaluator("brier").evaluate(NoScores(), X, y)


def first_score(sums: Any) -> Any:
    return sums["rows"]


def test_or_it_is_nan_for_this_model_alone() -> None:
    y = labels(2)
    several = {"sgd": models()["sgd"], "svm": SGDClassifier(), "none": NoScores()}
    rank = Measure(formula=first_score, name="rank", needs="scores")
    share = Measure(formula=first_score, name="share", needs="probabilities")
    evaluator = sk.PrequentialEvaluator([*METRICS, rank, share], random_state=0, error_score=np.nan)
    with pytest.raises(ValueError, match="None of the models has what is needed"):
        evaluator.evaluate(several["svm"], X, y)
    with pytest.warns(UserWarning, match="These scores are NaN") as said:
        result = evaluator.evaluate(several, X, y)
    assert len(said) == 2
    alone = prequential().evaluate(several["sgd"], X, y)
    for metric in METRICS[1:]:
        assert result.scores["sgd"][metric] == alone.scores["SGDClassifier"][metric]
    for metric in (*METRICS[1:], "share"):
        assert np.isnan([result.scores[name][metric] for name in ("svm", "none")]).all()
    assert result.scores["svm"]["rank"] == N - 1
    assert np.isfinite([result.scores[name]["accuracy"] for name in several]).all()


class Moody(NoScores):
    """Its probabilities are bad after 20 rows."""

    def __init__(self, bad: Any = None):
        self.bad = bad

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Moody":
        self.n_ = getattr(self, "n_", 0) + 1
        super().partial_fit(X, y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.array([self.bad if self.n_ == 20 else [0.75, 0.25]] * len(X))


@pytest.mark.parametrize("bad", [[0.5, 0.6], [1.5, -0.5], [np.nan, np.nan]])
def test_bad_probabilities_are_an_error_with_model_and_row(bad: Any) -> None:
    with pytest.raises(sk.ModelError, match=r"'moody'.*row 20") as caught:
        prequential().evaluate({"moody": Moody(bad)}, X, labels(2))
    if bad[0] == bad[0]:
        assert f"predict_proba returned {bad}" in str(caught.value)
    assert caught.value.result.n_rows == 20


def test_no_probabilities_count_as_certain_of_a_wrong_class_if_they_may() -> None:
    y = labels(2)
    evaluator = prequential(unanswered="wrong")
    result = evaluator.evaluate(Moody([np.nan, np.nan]), X, y)
    share = np.where(y == "b", 0.25, 0.75)[1:]
    share[19] = 0.0
    assert result.n_unanswered == {"Moody": 1}
    losses = -np.log(share.clip(np.finfo(float).eps))
    assert result.scores["Moody"]["log_loss"] == pytest.approx(losses.mean())
    assert result.scores["Moody"]["brier"] == pytest.approx(np.mean((1 - share) ** 2))


EVALUATORS = [
    sk.PrequentialEvaluator,
    partial(sk.KFoldEvaluator, n_folds=2),
    partial(sk.HoldoutEvaluator, holdout=(X[:30].copy(), labels(3)[:30]), every=20),
]


@pytest.mark.filterwarnings("ignore:Model .* has no predict_proba")
@pytest.mark.parametrize("make", EVALUATORS, ids=["prequential", "folds", "holdout"])
def test_the_tape_keeps_them(make: Any, tmp_path: Path) -> None:
    several = {"svm": SGDClassifier(), "sgd": models()["sgd"]}
    rows = X[30:].copy(), labels(3)[30:]
    evaluator = make(METRICS, random_state=0, error_score=np.nan)
    result = evaluator.evaluate(several, *rows)
    loaded = sk.load(result.save(tmp_path / "result.npz"))
    for one in (result, loaded):
        again = one.rescore([*METRICS, "log_skill"])
        for metric in METRICS:
            np.testing.assert_array_equal(
                again.curve("sgd", metric), result.curve("sgd", metric), strict=True
            )
        assert np.isnan(again.curve("svm", "log_loss")).all()
        chosen = one.select(models="sgd", folds=[0]).rescore("brier")
        np.testing.assert_array_equal(
            chosen.curve("sgd", "brier"), result.curve("sgd", "brier")[:, :1]
        )
        assert one.tape.methods == {"sgd": "predict_proba"}
        shares = one.tape.probabilities("sgd")
        given = ~np.isnan(shares[:, 0])
        np.testing.assert_array_equal(
            shares[given].argmax(axis=1), one.tape.answers["sgd"][0][given]
        )
        with pytest.raises(ValueError, match="no probabilities for model 'svm'"):
            one.tape.probabilities("svm")


def test_a_large_tape_is_announced() -> None:
    with pytest.warns(UserWarning, match=r"take 1\.3 GB, and are not kept"):
        prequential()._settings(
            {"a": sk.MajorityClass(), "b": sk.MajorityClass()},
            np.arange(2),
            n_rows=7 * 10**7,
            source="y",
            seed=0,
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_late_labels_have_them_in_every_bin(n_classes: int) -> None:
    n, codes = 40, np.searchsorted(LABELS, labels(n_classes)[:40])
    evaluator = sk.DelayedEvaluator(
        METRICS,
        delay=5,
        random_state=0,
        run=sk.RunOptions(keep_tape=True),
        polling=sk.Polling(n_bins=2, poll_every=1),
    )
    result = evaluator.evaluate(MultinomialNB(), X[:n], codes)
    model, shares = MultinomialNB(), np.empty((n + 1, n, n_classes))
    for row in range(n):
        model.partial_fit(X[row : row + 1], codes[row : row + 1], classes=np.arange(n_classes))
        shares[row + 1] = model.predict_proba(X[:n])
    # A row arrives right after the label of the row five before. At each label that comes while it
    # waits, it is asked again, before the label is learnt.
    rows = np.arange(5, n)
    asked = np.stack([shares[rows + behind, rows] for behind in (-4, -4, -3, -2, -1)])
    weights = np.array([[2, 2, 1, 0, 0], [0, 0, 1, 2, 2]]) / 5
    lines = [asked[0], *np.tensordot(weights, asked, 1), shares[rows, rows]]
    expected = [log_loss(codes[rows], line, labels=np.arange(n_classes)) for line in lines]
    again = result.rescore(METRICS)
    for one in (result, again):
        np.testing.assert_allclose(one.curve("MultinomialNB", "log_loss")[-1, 0], expected)
    given = result.tape.probabilities("MultinomialNB")[-len(rows) :]
    np.testing.assert_allclose(given, lines[-1])


class Single(ClassifierMixin, BaseEstimator):
    """Very sure, in single precision: its larger probabilities are often exactly 1."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Single":
        if classes is not None:
            self.classes_ = np.asarray(classes)
        return self

    def predict_proba(self, X: Any) -> Any:
        z = 30 * (np.asarray(X, np.float32)[:, :1] - np.float32(0.5))
        return np.hstack([1 / (1 + np.exp(z)), 1 / (1 + np.exp(-z))])

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_small_probabilities_of_either_class_count_in_single_precision() -> None:
    y = np.where(RNG.random(N) < 0.5, "a", "b")
    said = Single().predict_proba(X)[1:].astype(np.float64)
    said[said[:, 0] < said[:, 1], 1] = 1 - said[said[:, 0] < said[:, 1], 0]
    said[said[:, 0] > said[:, 1], 0] = 1 - said[said[:, 0] > said[:, 1], 1]
    evaluator = sk.PrequentialEvaluator("log_loss")
    there = evaluator.evaluate({"m": Single()}, X, y).scores["m"]["log_loss"]
    assert there == pytest.approx(log_loss(y[1:], said), rel=1e-9)
    swapped = np.where(y == "a", "b", "a")
    mirrored = evaluator.evaluate({"m": Single()}, 1 - X, swapped).scores["m"]["log_loss"]
    assert mirrored == pytest.approx(there, rel=1e-4)  # 1 - X is rounded, too


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rounded_probabilities_end_no_run(n_classes: int) -> None:
    class Rounding(IncrementalGaussianNB):
        def predict_proba(self, X: Any) -> Any:
            return np.floor(super().predict_proba(X) * 1000) / 1000

    y = labels(n_classes)
    exact = prequential().evaluate(IncrementalGaussianNB(), X, y)
    with pytest.warns(UserWarning, match="they are normalised") as caught:
        found = prequential().evaluate(Rounding(), X, y)
    assert sum("they are normalised" in str(one.message) for one in caught) == 1
    (scores,), (expected,) = found.scores.values(), exact.scores.values()
    assert scores["brier"] == pytest.approx(expected["brier"], abs=0.002)
    # Without a measure of them they are not even asked for.
    sk.PrequentialEvaluator("accuracy").evaluate(Rounding(), X, y)


def test_what_no_measure_can_read_is_said() -> None:
    class Other(Single):
        def predict_proba(self, X: Any) -> Any:
            return np.full((len(X), 2), 0.4)

    with pytest.raises(sk.ModelError, match=r"which sums to 0.8. The .* sum to one within 0.01"):
        prequential().evaluate(Other(), X, labels(2))
    with pytest.raises(
        sk.ModelError, match=r"columns for the classes \['a', 'b'\].*must be a column"
    ):
        KnowsTwo = type("KnowsTwo", (Single,), {"classes_": property(lambda self: ["a", "b"])})
        KnowsTwo.partial_fit = lambda self, X, y, classes=None: self
        prequential().evaluate(KnowsTwo(), X, labels(3))
    for answer, message in (
        (np.full(1, 0.9), "one column per class"),
        ([["x", "y"]], "not numbers"),
    ):
        OneOff = type("OneOff", (Single,), {"predict_proba": lambda self, X, a=answer: np.array(a)})
        OneOff.predict = lambda self, X: np.repeat("a", len(X))
        with pytest.raises(sk.ModelError, match=message):
            prequential().evaluate(OneOff(), X, labels(2))
    tape = prequential().evaluate({"bayes": MultinomialNB()}, X, labels(2)).tape
    with pytest.raises(ValueError, match=r"no model 'zz' on the tape; it has \['bayes'\]"):
        tape.probabilities("zz")
