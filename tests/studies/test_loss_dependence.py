"""Dependence of losses, and the alarms that it raises."""

import numpy as np
import pytest

from skstream import (
    DelayedEvaluator,
    DriftMonitor,
    HoldoutEvaluator,
    KFoldEvaluator,
    MajorityClass,
    Persistent,
    Polling,
    PrequentialEvaluator,
    RunOptions,
    detect,
)
from skstream.baselines import PersistentRegressor
from skstream.drift import ADWIN, DDM, RandomAlarm
from skstream.studies import loss_dependence

N = 6000


def labels_in_runs(stay, n=N, seed=0):
    """Labels 0 and 1, equally frequent all along, each the one before with a probability."""
    changes = np.random.default_rng(seed).random(n) >= stay
    return np.cumsum(changes) % 2


def evaluated(y, evaluator=None, models=None, **options):
    evaluator = PrequentialEvaluator("accuracy", **options) if evaluator is None else evaluator
    models = {"always 0": MajorityClass()} if models is None else models
    return evaluator.evaluate(models, np.zeros((len(y), 1)), y)


def test_losses_that_come_in_runs_raise_alarms_and_in_random_order_none():
    # At first 0 alone: it stays in the majority, so that every 1 is an error.
    for stay, dependent in ((0.5, False), (0.97, True)):
        y = np.concatenate([np.zeros(N), labels_in_runs(stay)])
        result = evaluated(y)
        (found,) = loss_dependence(result, n_permutations=20).models
        losses = result.tape.answers["always 0"][0, 1:] != result.tape.y[1:]
        assert found.n_rows == len(losses) == 2 * N - 1
        assert found.mean_loss == losses.mean()
        expected = np.corrcoef(losses[1:], losses[:-1])[0, 1]
        assert found.autocorrelation == pytest.approx(expected, abs=1e-3)
        assert found.alarms == len(ADWIN().update_many(losses))
        assert len(found.permuted_alarms) == 20
        half = loss_dependence(evaluated(labels_in_runs(stay)), DDM()).models[0]
        assert half.bound == 1.96 / np.sqrt(N - 1)
        assert (half.autocorrelation > 10 * half.bound) is dependent
        if dependent:
            assert half.alarms > 3 * max(1, half.mean_permuted)
            assert half.pvalue == 1 / 21
        else:
            assert half.alarms <= 3 + 3 * half.mean_permuted


def test_alarms_in_random_order_are_those_of_the_permuted_losses():
    result = evaluated(labels_in_runs(0.9, 400))
    detector = RandomAlarm(0.02, random_state=3)  # its alarms do not hang on the values
    (found,) = loss_dependence(result, detector).models
    assert (
        set(found.permuted_alarms) == {found.alarms} == {len(detector.update_many(np.zeros(399)))}
    )
    again = loss_dependence(result, DDM(), random_state=0).models
    assert again == loss_dependence(result, DDM(), random_state=0).models
    constant = loss_dependence(evaluated(np.zeros(50, dtype=int))).models[0]
    assert np.isnan(constant.autocorrelation)


def test_every_lane_reads_what_a_monitor_reads():
    y = labels_in_runs(0.95, 900)
    models = {"a": MajorityClass(), "b": Persistent()}
    folds = evaluated(y, KFoldEvaluator("accuracy", n_folds=2, random_state=0), models)
    late = evaluated(y, DelayedEvaluator("accuracy", delay=5, polling=Polling(n_bins=2)), models)
    detector = ADWIN(delta=0.5)
    for result, bins in ((folds, (None,)), (late, (None, 0))):
        for bin in bins:
            found = loss_dependence(result, detector, bin=bin, n_permutations=1).models
            detected = detect(result, {"m": DriftMonitor(detector, bin=bin)})["m"]
            for one in found:
                listed = detected[one.model]
                listed = listed if isinstance(listed, list) else [listed]
                assert one.alarms == len(listed[result.folds.index(one.fold)].alarms)
    for bin in late.bins:  # the bins of a part of the result have the same numbers
        selected = loss_dependence(late.select(bins=bin), detector, n_permutations=1)
        assert selected.models == loss_dependence(late, detector, bin=bin, n_permutations=1).models
        assert f"of bin {bin}" in str(selected)
    assert [(one.model, one.fold) for one in loss_dependence(folds).models] == [
        ("a", 0),
        ("a", 1),
        ("b", 0),
        ("b", 1),
    ]
    assert "fold" in str(loss_dependence(folds)).splitlines()[1]


def test_regressors_lose_their_absolute_error():
    y = np.cumsum(np.random.default_rng(0).normal(size=300))
    result = evaluated(y, PrequentialEvaluator("mae"), {"last": PersistentRegressor()})
    (found,) = loss_dependence(result).models
    assert found.mean_loss == pytest.approx(np.abs(np.diff(y)).mean())
    bounded = loss_dependence(result, ADWIN(bound="theorem"), loss_bound=2.0)
    expected = np.minimum(np.abs(np.diff(y)) / 2, 1)
    assert bounded.models[0].mean_loss == pytest.approx(expected.mean())
    assert str(bounded).startswith("Losses (absolute errors / 2, at most 1) in their order")
    with pytest.raises(ValueError, match=r"the losses of model 'last' .*errors: pass loss_bound="):
        loss_dependence(result, ADWIN(bound="theorem"))
    with pytest.raises(ValueError, match=r"DDM does not take .* another detector, such as ADWIN"):
        loss_dependence(result, DDM(), loss_bound=1.0)
    with pytest.raises(ValueError, match=r"loss_bound must be a positive number, or None. Got 0"):
        loss_dependence(result, loss_bound=0)


def test_the_table_and_the_frame_hold_both_numbers_of_alarms():
    pytest.importorskip("pandas")
    found = loss_dependence(evaluated(labels_in_runs(0.9, 500)), DDM())
    frame = found.to_frame()
    assert list(frame.columns) == [
        "model",
        "fold",
        "n_rows",
        "mean_loss",
        "autocorrelation",
        "bound",
        "alarms",
        "mean_permuted",
        "pvalue",
    ]
    assert len(frame) == 1
    assert frame.alarms[0] == found.models[0].alarms
    assert str(found).startswith("Losses (0 or 1) in their order, read by DDM()")
    assert "in random order" in str(found)
    assert "autocorrelation of always 0" in repr(found)
    assert "always 0" in repr(found.models[0])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"detector": DDM}, TypeError, "detector is the class DDM"),
        ({"n_permutations": 0}, ValueError, "n_permutations must be an integer.*Got 0"),
        ({"loss_bound": 1.0}, ValueError, "losses of classifiers are 0 or 1. Leave it out"),
        ({"bin": 1}, ValueError, "bin= is for results under delayed labels"),
    ],
)
def test_bad_input_is_named(options, error, message):
    result = evaluated(labels_in_runs(0.9, 50))
    with pytest.raises(error, match=message):
        loss_dependence(result, **options)


def test_results_without_a_series_of_losses_are_refused():
    y = labels_in_runs(0.9, 400)
    with pytest.raises(ValueError, match="keep_tape=True"):
        loss_dependence(evaluated(y, run=RunOptions(keep_tape=False)))
    held = HoldoutEvaluator("accuracy", holdout="next", every=100, random_state=0)
    with pytest.raises(ValueError, match="asked in sets"):
        loss_dependence(evaluated(y, held))
