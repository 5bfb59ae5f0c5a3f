"""Faults seen in other tools' protocols: none of them may happen here."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.streams import make_demo_stream
from tests.evaluation._models import Diary, numbered_rows

STREAM = make_demo_stream(250)
LABELS = np.tile(["a", "b", "b", "a", "b"], 12)


@pytest.mark.parametrize("first_label", ["a", "z"])
def test_the_first_label_is_no_free_hit(first_label):
    """A previous label that is assumed (class 0, say) favours streams that begin with it."""
    y = np.array([first_label, "m", "m", first_label, "m"])
    result = sk.PrequentialEvaluator(["kappa_temporal", "accuracy"]).evaluate(
        sk.Persistent(), numbered_rows(5), y
    )
    assert result.scores["Persistent"]["kappa_temporal"] == 0.0
    assert result.scores["Persistent"]["accuracy"] == 1 / 4


def test_the_majority_baseline_does_not_look_ahead():
    """A baseline that counts the label first makes the majority class worse than itself."""
    result = sk.PrequentialEvaluator(["kappa_m"]).evaluate(
        sk.MajorityClass(), numbered_rows(60), LABELS
    )
    assert result.scores["MajorityClass"]["kappa_m"] == 0.0


def test_an_abstention_is_no_class():
    """No answer is not class 0, and so not right where the label is class 0."""

    class Abstains(Diary):
        def predict(self, X):
            return np.array([None] * len(X), dtype=object)

    result = sk.PrequentialEvaluator("accuracy", unanswered="wrong").evaluate(
        Abstains(), numbered_rows(6), ["a"] * 3 + ["b"] * 3
    )
    assert result.scores["Abstains"]["accuracy"] == 0.0
    assert result.n_unanswered == {"Abstains": 5}


def test_the_fast_path_does_not_bypass_the_predict_of_a_wrapper():
    class Contrary(SGDClassifier):
        def predict(self, X):
            answers = super().predict(X)
            return np.where(answers == "UP", "DOWN", "UP")

    result = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(
        {"plain": SGDClassifier(), "contrary": Contrary()}, STREAM
    )
    assert result.paths == {"plain": "kernel", "contrary": "loop: Contrary has no kernel"}
    plain, contrary = (
        result.predictions(name, every_row=True)[1:] for name in ("plain", "contrary")
    )
    assert (plain != contrary).all()


def test_a_late_label_blocks_no_earlier_one():
    """Labels out of order reach their own rows: they are matched by row, not by position."""
    X, y = numbered_rows(4), np.array(["a", "b", "a", "b"])
    evaluator = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=1, poll_every=None))
    result = evaluator.evaluate(
        Diary(), X, y, arrival=[0, 1, 2, 3], label_time=[90.0, 2.0, 50.0, 4.0], return_models=True
    )
    learnt = [
        (rows[0], labels[0])
        for what, rows, labels, _ in result.models["Diary"].calls_
        if what == "learn"
    ]
    assert learnt == [(1, "b"), (3, "b"), (2, "a"), (0, "a")]


def test_a_row_without_a_label_is_asked_once():
    y = np.array(["a", None, "b", "a"], dtype=object)
    evaluator = sk.DelayedEvaluator(
        "accuracy", missing_labels="skip", polling=sk.Polling(n_bins=1, poll_every=1)
    )
    result = evaluator.evaluate(
        Diary(),
        numbered_rows(4),
        y,
        label_time=[0.0, np.inf, 3.0, 5.0],
        classes=["a", "b"],
        return_models=True,
    )
    asked = [
        row for what, rows, *_ in result.models["Diary"].calls_ if what == "ask" for row in rows
    ]
    assert asked.count(1) == 1
    assert result.waits.n_never == 1


def test_rows_pending_at_the_end_are_neither_learnt_nor_scored_and_reported():
    run = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=1)).start(
        Diary(), classes=["a", "b"], return_models=True
    )
    for k in range(6):
        run.ask(numbered_rows(6)[k : k + 1], [k])
    run.label([0], ["a"]).label([1], ["b"])
    with pytest.warns(Warning, match="No row was scored"):
        result = run.close().result()
    learnt = [rows for what, rows, *_ in result.models["Diary"].calls_ if what == "learn"]
    assert learnt == [[0], [1]]
    assert (result.waits.n_pending, result.waits.n_labelled) == (4, 2)
