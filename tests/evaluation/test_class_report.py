"""How good a model is on each class."""

from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import skstream as sk

rng = np.random.default_rng(0)
Y = np.array(["a", "b", "c"])[rng.integers(0, 3, 400)]
SAID = np.where(rng.random(400) < 0.6, Y, "b").astype(object)
SAID[[5, 77]] = None
WEIGHT = rng.random(400)


def scored(**options: Any) -> sk.EvaluationResult:
    return sk.score_predictions(Y, {"m": SAID, "b": np.full(400, "b")}, **options)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("rows", [None, (0, 100), (-50, None), (30, 31)])
def test_matrix_and_scores_are_those_of_scikit_learn(weight: Any, rows: Any) -> None:
    report = sk.class_report(scored(sample_weight=weight, unanswered="wrong"), "m", rows=rows)
    part = slice(*(rows or (None,)))
    y, p = Y[part], np.where(SAID[part] == None, "none", SAID[part])  # noqa: E711
    w = None if weight is None else weight[part]
    twin = metrics.confusion_matrix(
        y, p.astype(str), labels=["a", "b", "c", "none"], sample_weight=w
    )
    np.testing.assert_allclose(report.matrix, twin[:3])
    expected = metrics.precision_recall_fscore_support(
        y, p.astype(str), labels=["a", "b", "c"], sample_weight=w, zero_division=np.nan
    )
    for measure, values in zip(["precision", "recall", "f1"], expected[:3], strict=True):
        np.testing.assert_allclose(report.scores[measure], values)
    for found, label in zip(report.scores["specificity"], ["a", "b", "c"], strict=True):
        others = metrics.recall_score(y != label, p != label, sample_weight=w, zero_division=np.nan)
        np.testing.assert_allclose(found, others)
    present = [label for label in ["a", "b", "c"] if label in y or label in p]
    twin = metrics.classification_report(
        y, p.astype(str), labels=present, sample_weight=w, output_dict=True, zero_division=0
    )
    for name, averages in report.averages.items():
        for measure, column in [
            ("precision", "precision"),
            ("recall", "recall"),
            ("f1", "f1-score"),
        ]:
            np.testing.assert_allclose(averages[measure], twin[name][column])


def test_parts_add_up_and_curves_end_at_the_scores() -> None:
    result = scored(unanswered="wrong")
    whole = sk.class_report(result, forgetting="cumulative", record_every=50)
    parts = [sk.class_report(result, rows=(k, k + 100)).matrix for k in range(0, 400, 100)]
    np.testing.assert_array_equal(sum(parts), whole.matrix)
    for measure, values in whole.curves.items():
        assert values.shape == (3, 8)
        np.testing.assert_allclose(values[:, -1], whole.scores[measure])


def test_rows_left_out_are_in_no_cell() -> None:
    with pytest.warns(UserWarning, match="different rows"):
        result = scored(unanswered="skip")
    report = sk.class_report(result)
    assert report.matrix.sum() == 398 and not report.matrix[:, -1].any()
    assert "without a prediction" not in str(report)
    assert "2 of the rows without a prediction: counted as errors" in str(
        sk.class_report(scored(unanswered="wrong"))
    )


EVALUATORS = {
    "prequential": sk.PrequentialEvaluator("accuracy"),
    "folds": sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0),
    "delayed": sk.DelayedEvaluator("accuracy", delay=20, polling=sk.Polling(n_bins=2)),
    "holdout": sk.HoldoutEvaluator("accuracy", holdout="next", every=50),
}


@pytest.mark.parametrize("protocol", EVALUATORS)
def test_every_protocol(protocol: str) -> None:
    models = {"p": sk.Persistent(), "m": sk.MajorityClass()}
    result = EVALUATORS[protocol].evaluate(models, np.zeros((400, 1)), Y)
    if protocol == "holdout":
        report = sk.class_report(result, "m")
        assert report.matrix.sum() == report.rows[1]
        return
    for fold in [0, 2] if protocol == "folds" else [0]:
        for bin in [0, 3] if protocol == "delayed" else [None]:
            report = sk.class_report(result, "m", fold=fold, bin=bin)
            assert (f"fold {fold} of 3" in str(report)) == (protocol == "folds")
            share = np.diag(report.matrix).sum() / report.matrix.sum()
            narrow = result.select(models="m", folds=fold, bins=bin)
            assert share == pytest.approx(narrow.scores["m"]["accuracy"])


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(KeyError, match="x"):
        sk.class_report(scored(unanswered="wrong"), "x")
    with pytest.raises(ValueError, match="selects none of the 400 rows"):
        sk.class_report(scored(unanswered="wrong"), rows=(50, 50))
    for rows in ((0, 90, 3), (7,), 100):
        with pytest.raises(ValueError, match="rows must be two numbers"):
            sk.class_report(scored(unanswered="wrong"), rows=rows)
    with pytest.raises(ValueError, match="one mechanism"):
        sk.class_report(scored(unanswered="wrong"), forgetting=["cumulative", "window:5"])
    numbers = sk.PrequentialEvaluator().evaluate(
        sk.PersistentRegressor(), np.zeros((9, 1)), np.arange(9.0)
    )
    with pytest.raises(ValueError, match="regressors"):
        sk.class_report(numbers)
    untaped = sk.PrequentialEvaluator(run=sk.RunOptions(keep_tape=False)).evaluate(
        sk.Persistent(), np.zeros((400, 1)), Y
    )
    with pytest.raises(ValueError, match="keep_tape=True"):
        sk.class_report(untaped)
    with pytest.raises(TypeError, match="result of an evaluation"):
        sk.class_report(Y)  # type: ignore[arg-type]


def test_frames_and_pictures(matplotlib: Any, pd: Any) -> None:
    report = sk.class_report(scored(unanswered="wrong"), forgetting="window:50")
    frame = report.to_frame()
    assert frame.loc["b", "rows"] == (Y == "b").sum()
    assert frame["answers"].sum() == 398
    assert list(report.plot("recall").lines_) == ["a", "b", "c"]
    assert report.plot_matrix().text_.shape == (3, 3)
