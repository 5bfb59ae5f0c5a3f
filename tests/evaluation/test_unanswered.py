"""Models that are asked and give no answer."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

import skstream as sk
from skstream.metrics import kappa_m_score, kappa_temporal_score
from tests.evaluation._models import Scripted, numbered_rows

N = 160
LABELS = np.random.default_rng(0).choice(["a", "b", "c"], N, p=[0.5, 0.3, 0.2])
ROWS = numbered_rows(N)


def refusing(step=3, classes=None, y=LABELS):
    """A model that answers rightly, but gives None to every third row."""
    answers = {row: [y[row]] for row in range(N)}
    answers.update({row: [None] for row in range(9, N, step)})
    return Scripted(answers=answers)


def evaluate(evaluator, y=LABELS, **models):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluator.evaluate({"m": refusing(y=y), "last": sk.Persistent(), **models}, ROWS, y)


@pytest.mark.parametrize(
    "evaluator",
    [
        sk.PrequentialEvaluator("accuracy"),
        sk.PrequentialEvaluator("accuracy", batch_size=2, run=sk.RunOptions(kernels=False)),
        sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0),
        sk.DelayedEvaluator("accuracy", delay=3, polling=sk.Polling(n_bins=2)),
    ],
    ids=lambda evaluator: type(evaluator).__name__,
)
def test_no_answer_is_an_error_that_names_model_and_row(evaluator):
    with pytest.raises(sk.ModelError, match=r"'m'.* row 9: its prediction was missing") as caught:
        evaluate(evaluator)
    assert caught.value.row == 9
    with pytest.raises(sk.ModelError, match=r"'Scripted'.* row 9: its prediction was missing"):
        sk.prequential_predict(refusing(), ROWS, LABELS)


NAMES = [
    *("accuracy", "kappa", "kappa_m", "kappa_temporal", "mcc", "f1_macro", "precision_macro"),
    "recall_macro",
]


def twin(y, p):
    """The same measures, by others, with an answer "none" that is no label."""
    past = [y[0]]
    y, p = y[1:], np.array([answer or "none" for answer in p[1:]])
    classes = sorted(set(y))
    averaged = {"labels": classes, "average": "macro", "zero_division": 0}
    return {
        "accuracy": accuracy_score(y, p),
        "kappa": cohen_kappa_score(y, p),
        "kappa_m": kappa_m_score(y, p, past=past),
        "kappa_temporal": kappa_temporal_score(y, p, previous_label=past[0]),
        "mcc": matthews_corrcoef(y, p),
        "f1_macro": f1_score(y, p, **averaged),
        "precision_macro": precision_score(y, p, **averaged),
        "recall_macro": recall_score(y, p, **averaged),
    }


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("record_every", [1, 130])
def test_every_measure_counts_them_as_an_answer_that_no_label_agrees_with(
    n_classes, weighted, record_every
):
    y = np.where(LABELS == "c", "b", LABELS) if n_classes == 2 else LABELS
    evaluator = sk.PrequentialEvaluator(NAMES, unanswered="wrong", record_every=record_every)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = evaluator.evaluate(
            {"m": refusing(y=y)}, ROWS, y, sample_weight=np.full(N, 2.0) if weighted else None
        )
    expected = twin(y, result.predictions("m", every_row=True))
    for name in NAMES:
        assert result.scores["m"][name] == pytest.approx(expected[name], rel=1e-9), name
    assert result.rescore(NAMES).scores["m"] == pytest.approx(result.scores["m"])


def test_comparison_counts_them_as_wrong():
    evaluator = sk.PrequentialEvaluator("accuracy", unanswered="wrong")
    result = evaluate(evaluator, y=np.repeat("a", N), always=Scripted())
    anytime = result.compare("m", "always", test="anytime")
    assert anytime.better == "always"
    tested = result.compare("m", "always", test="mcnemar")
    assert tested.better == "always"
    assert result.compare("m", "always", test="q").ahead == "always"


def test_folds_bins_frames_and_files_count_them(tmp_path):
    folds = evaluate(sk.KFoldEvaluator("accuracy", n_folds=2, unanswered="wrong", random_state=0))
    assert folds.n_unanswered["m"] == 2 * len(range(9, N, 3))
    assert folds.scores["m"]["accuracy"] == pytest.approx(1 - len(range(9, N, 3)) / (N - 1))
    for reduce in ("dominant", lambda answers, durations: answers[-1]):
        evaluator = sk.DelayedEvaluator(
            "accuracy",
            delay=7,
            unanswered="wrong",
            polling=sk.Polling(n_bins=3, poll_every=2, reduce=reduce),
        )
        delayed = evaluate(evaluator)
        assert delayed.n_unanswered["m"] > len(range(9, N, 3))
        bins = delayed.by_bin("m", "accuracy")
        tape = delayed.tape
        right = (tape.answers["m"][0] == tape.y[:, None])[tape.answers["m"][0][:, 0] != -1]
        np.testing.assert_allclose(bins, right.mean(axis=0))
        assert (bins < 0.7).all()
        assert delayed.rescore("accuracy").scores == delayed.scores
    loaded = sk.load(folds.save(tmp_path / "folds.npz"))
    assert loaded.n_unanswered == folds.n_unanswered
    assert loaded.rescore("accuracy").scores == folds.scores
    assert str(loaded) == str(folds)


def test_regressors_must_answer():
    rows, y = ROWS, np.linspace(0.0, 1.0, N)
    for evaluator in (
        sk.PrequentialEvaluator(unanswered="wrong"),
        sk.KFoldEvaluator(unanswered="wrong"),
        sk.DelayedEvaluator(unanswered="wrong", delay=2),
    ):
        with pytest.raises(ValueError, match='unanswered="wrong" is for classifiers'):
            evaluator.evaluate(sk.PersistentRegressor(), rows, y)
    with pytest.raises(ValueError, match='unanswered="wrong" is for classifiers'):
        sk.prequential_predict(sk.PersistentRegressor(), rows, y, unanswered="wrong")
    with pytest.raises(ValueError, match="'unanswered' parameter of PrequentialEvaluator"):
        sk.PrequentialEvaluator(unanswered="skip").evaluate(sk.Persistent(), rows, LABELS)
    with pytest.raises(ValueError, match='unanswered="first" is for classifiers'):
        sk.PrequentialEvaluator(unanswered="first").evaluate(sk.PersistentRegressor(), rows, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_they_can_count_as_the_first_class(n_classes, weighted):
    y = np.where(LABELS == "c", "b", LABELS) if n_classes == 2 else LABELS
    weight = np.arange(1.0, N + 1) if weighted else None
    answers = {row: [y[row] if row < 9 or row % 3 else "a"] for row in range(N)}
    evaluator = sk.PrequentialEvaluator(NAMES, unanswered="first")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = evaluator.evaluate({"m": refusing(y=y)}, ROWS, y, sample_weight=weight)
        like = evaluator.evaluate({"m": Scripted(answers=answers)}, ROWS, y, sample_weight=weight)
    assert result.scores == like.scores
    assert result.n_unanswered == {"m": len(range(9, N, 3))}


class Silent(sk.Persistent):
    """Gives no label to every third row, and NaN for its probabilities."""

    def predict(self, X):
        silent = np.asarray(X)[:, 0] % 3 == 0
        return np.where(silent, None, super().predict(X).astype(object))

    def predict_proba(self, X):
        n = len(self.classes_)
        certain = (super().predict(X)[:, None] == self.classes_) * 1.0
        return np.where(np.asarray(X)[:, :1] % 3 == 0, np.full(n, np.nan), certain)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_first_class_is_then_certain(n_classes):
    y = np.where(LABELS == "c", "b", LABELS) if n_classes == 2 else LABELS
    evaluator = sk.PrequentialEvaluator(["accuracy", "brier"], unanswered="first")
    result = evaluator.evaluate(Silent(), ROWS, y)
    (scores,) = result.scores.values()
    halves = 1.0 if n_classes == 2 else 2.0  # of one probability, or of those of all classes
    assert scores["brier"] == pytest.approx(halves * (1 - scores["accuracy"]))
