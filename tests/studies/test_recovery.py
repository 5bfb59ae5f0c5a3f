"""Recovery after drifts: worked by hand, in both directions, from folds, seeds and bins."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import skstream as sk
from skstream.plotting._measure import known_measure
from skstream.streams import SEA, Drift

ROWS = np.arange(100, 1001, 100)
#: The truth changes at row 300, and from row 700 on.
CURVE = np.array([0.7, 0.8, 0.8, 0.6, 0.5, 0.7, 0.79, 0.9, 0.6, 0.6])
DRIFTS = (Drift(300, 300), Drift(700, 900))


def made(*curves: Any, metric: str = "accuracy", drifts: Any = DRIFTS) -> sk.EvaluationResult:
    return sk.EvaluationResult(
        protocol="prequential",
        checkpoints=ROWS,
        values={"m": {"recent": {metric: np.column_stack(curves)}}},
        measures={metric: known_measure(metric)},
        drifts=drifts,
    )


def entries(found: Any) -> list[list[Any]]:
    names = ("drift", "before", "worst", "largest_fall", "row_of_worst", "rows_to_recover")
    return np.column_stack([getattr(found, name) for name in names]).tolist()


def test_by_hand() -> None:
    found = sk.recovery_after_drift(made(CURVE))
    expected = [
        [300, 0.8, 0.5, 0.3, 200, 400],  # 0.79 is the first value above .95 * .8 after the fall
        [700, 0.79, 0.6, 0.19, 200, np.nan],
    ]
    np.testing.assert_allclose(entries(found), expected)
    assert [line.split()[-2] for line in str(found).splitlines()[3:]] == ["400", "never"]
    slow = sk.recovery_after_drift(made(CURVE), share=0.99)
    assert np.isnan(slow.rows_to_recover).all()
    fast = sk.recovery_after_drift(made(CURVE), share=0.6)  # it never falls below .48
    assert fast.rows_to_recover.tolist() == [0, 0]


def test_lower_may_be_better() -> None:
    found = sk.recovery_after_drift(made(1 - CURVE, metric="error"), share=0.94)  # 0.212 is enough
    np.testing.assert_allclose(
        entries(found), [[300, 0.2, 0.5, 0.3, 200, 400], [700, 0.21, 0.4, 0.19, 200, np.nan]]
    )
    slow = sk.recovery_after_drift(made(1 - CURVE, metric="error"), share=0.96)
    assert np.isnan(slow.rows_to_recover).all()


def test_rows_before_and_after_are_needed() -> None:
    at_once = sk.recovery_after_drift(made(CURVE), drifts=[50, 950])
    np.testing.assert_array_equal(at_once.before, [np.nan, 0.6])
    np.testing.assert_array_equal(at_once.largest_fall, [np.nan, 0.0])
    gone = CURVE.copy()
    gone[3:] = np.nan  # the model failed, or was ended
    np.testing.assert_array_equal(sk.recovery_after_drift(made(gone)).worst, [np.nan, np.nan])
    for drifts in ([], [1000], [0]):
        with pytest.raises(ValueError, match="drift"):
            sk.recovery_after_drift(made(CURVE), drifts=drifts)
    with pytest.raises(ValueError, match="does not state them"):
        sk.recovery_after_drift(made(CURVE, drifts=()))
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\]"):
        sk.recovery_after_drift(made(CURVE), share=0.0)
    with pytest.raises(KeyError, match="no measure 'kappa'"):
        sk.recovery_after_drift(made(CURVE), "kappa")


def test_references_take_the_place_of_the_level_before() -> None:
    # The new truth is harder: 0.7 at most, which is reached at row 600.
    old, new = np.full(10, 0.8), np.array([0.5, 0.6, *[0.7] * 8])
    references = made(old), made(new)
    found = sk.recovery_after_drift(made(CURVE), drifts=[300], references=references)
    np.testing.assert_allclose(entries(found), [[300, 0.8, 0.5, 0.2, 200, 300]])
    swapped = sk.recovery_after_drift(
        made(1 - CURVE, metric="error"),
        drifts=[300],
        references=(made(1 - old, metric="error"), made(1 - new, metric="error")),
    )
    np.testing.assert_allclose(entries(swapped), [[300, 0.2, 0.5, 0.2, 200, 300]])
    with pytest.raises(ValueError, match="there are 2 drifts"):
        sk.recovery_after_drift(made(CURVE), references=references)
    with pytest.raises(ValueError, match="new truth has other models or folds"):
        sk.recovery_after_drift(made(CURVE), drifts=[300], references=(made(old), made(new, new)))
    short = replace(made(old), checkpoints=ROWS + 1)
    with pytest.raises(ValueError, match="old truth has other checkpoints"):
        sk.recovery_after_drift(made(CURVE), drifts=[300], references=(short, made(new)))


def test_folds_bins_and_seeds() -> None:
    def make(seed: int) -> SEA:
        return SEA(400, thresholds=(8, 9), random_state=seed)

    models = {"last": sk.Persistent(), "majority": sk.MajorityClass()}
    options: dict[str, Any] = {"forgetting": "window:50", "record_every": 50}
    folds = sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0, **options)
    found = sk.recovery_after_drift(folds.evaluate(models, make(0)))
    assert found.repetition.tolist() == [0, 1, 2] * 2
    assert set(found.drift.tolist()) == {200}
    delayed = sk.DelayedEvaluator(
        "accuracy", delay=5, random_state=0, polling=sk.Polling(n_bins=2), **options
    )
    result = delayed.evaluate(models, make(0))
    last_bin = result.curve("last")[:, 0, -1]
    at = int(np.flatnonzero(result.checkpoints <= result.drifts[0].start)[-1])
    assert sk.recovery_after_drift(result).before[0] == last_bin[at]
    study = sk.evaluate_over_seeds(
        make, models, [4, 2], evaluator=sk.PrequentialEvaluator("accuracy", **options)
    )
    joined = study.recovery_after_drift()
    assert joined.repetition.tolist() == [4, 2, 4, 2] or joined.repetition.tolist() == [4, 4, 2, 2]
    alone = sk.recovery_after_drift(study.results[1])
    of_seed = joined.repetition == 2
    np.testing.assert_array_equal(joined.largest_fall[of_seed], alone.largest_fall)
    assert len(study.recovery_after_drift(drifts=[100, 300]).drift) == 8


def test_the_frame_has_every_column(pd: Any) -> None:
    frame = sk.recovery_after_drift(made(CURVE, CURVE + 0.05)).to_frame()
    assert len(frame) == 4
    assert set(frame["repetition"]) == {0, 1}
    assert {"model", "drift", "largest_fall", "rows_to_recover"} <= set(frame.columns)
