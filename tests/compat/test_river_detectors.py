"""River's detectors wherever a detector is taken: their own loop, alarm by alarm."""

import inspect
import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB

import skstream
from skstream import (
    DriftMonitor,
    DriftReset,
    OnlineBagging,
    PeriodicRefit,
    PrequentialEvaluator,
    RunOptions,
    detect,
    load_run,
)
from skstream.__main__ import main
from skstream.core.detector import DRIFT, WARNING
from skstream.drift import ADWIN
from skstream.studies import calibrate, detector_study
from skstream.tree import AdaptiveRandomForestClassifier

drift = pytest.importorskip("river.drift")
from skstream.compat import from_river  # noqa: E402

KINDS = {
    name: kind
    for module in (drift, drift.binary)
    for name in module.__all__
    if inspect.isclass(kind := getattr(module, name, None)) and hasattr(kind, "update")
}
GIVEN = {"KSWIN": {"seed": 1}, "DummyDriftDetector": {"seed": 1}}
RNG = np.random.default_rng(0)
LOSSES = (RNG.random(1500) < np.repeat([0.1, 0.4, 0.05], 500)).astype(float)
X = RNG.normal(size=(450, 2))
Y = (X[:, 0] > 0) ^ (np.arange(450) > 200)  # what was right is wrong from the middle on


def new(name):
    return KINDS[name](**GIVEN.get(name, {}))


def levels_by_hand(peer, values):
    levels = []
    for value in values.tolist():
        peer.update(bool(value) if "binary" in type(peer).__module__ else value)
        warned = getattr(peer, "warning_detected", False)
        levels.append(DRIFT if peer.drift_detected else WARNING if warned else 0)
    return np.array(levels)


def test_all_are_tried():
    assert len(KINDS) >= 9
    assert {"EDDM", "HDDMA", "HDDMW", "KSWIN", "ADWIN"} <= set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_it_says_what_river_says(name):
    given = new(name)
    ours, expected = from_river(given), levels_by_hand(new(name), LOSSES)
    levels = ours.update_levels(LOSSES[:700])
    ours = pickle.loads(pickle.dumps(ours))  # goes on where it was
    levels = np.concatenate([levels, ours.update_levels(LOSSES[700:])])
    np.testing.assert_array_equal(levels, expected)
    assert ours.n_detections == (expected == DRIFT).sum()
    assert ours.warning_detected == (expected[-1] == WARNING)
    # A clone has read nothing, and what was given never does.
    for one in (clone(ours), ours.reset(), from_river(given)):
        assert not one.drift_detected
        np.testing.assert_array_equal(one.update_levels(LOSSES), expected)


@pytest.mark.parametrize("name", KINDS)
def test_monitors_and_studies(name):
    result = PrequentialEvaluator("accuracy", random_state=0).evaluate({"a": BernoulliNB()}, X, Y)
    losses = (result.tape.answers["a"].ravel() != Y).astype(float)[1:]
    monitors = {"alone": new(name), "monitor": DriftMonitor(new(name), on="loss")}
    found = detect(result, monitors)
    expected = 1 + np.flatnonzero(levels_by_hand(new(name), losses) == DRIFT)
    for one in found.values():
        np.testing.assert_array_equal(one["a"].alarms, expected)
    losses = {seed: LOSSES[:: 1 - 2 * seed].copy() for seed in range(2)}
    study = detector_study(
        lambda seed: (losses[seed], [500, 1000]), {"d": new(name)}, range(2), tolerance=100
    )
    assert study is not None


@pytest.mark.parametrize(
    ("name", "kernels"),
    [("EDDM", False), *((name, True) for name in ("EDDM", "HDDMA", "KSWIN", "ADWIN"))],
)
def test_resets(name, kernels, tmp_path):
    evaluator = PrequentialEvaluator(
        "accuracy", random_state=0, run=RunOptions(kernels=kernels, keep_tape=True)
    )
    run = evaluator.start(
        {"reset": DriftReset(BernoulliNB(), detector=new(name))}, classes=[False, True]
    )
    run.update(X[:210], Y[:210])
    run.save(tmp_path / "run")
    run = load_run(tmp_path / "run")
    run.update(X[210:], Y[210:])
    result = run.result()
    np.testing.assert_array_equal(result.tape.answers["reset"].ravel()[1:], resets_by_hand(name))
    assert result.n_rows == len(Y)


@cache
def resets_by_hand(name):
    """Answers of a model that gives way to one that learns since the warning, at an alarm."""
    peer, own, other, since, answers = new(name), BernoulliNB(), None, 0, []
    for row in range(len(Y)):
        one, label = X[row : row + 1], Y[row : row + 1]
        level = 0
        if row:
            answers.append(own.predict(one)[0])
            if since >= 30:
                (level,) = levels_by_hand(peer, (answers[-1:] != label).astype(float))
        other = (other or BernoulliNB()) if level else None
        if other is not None:
            other.partial_fit(one, label, classes=[False, True])
        if level == DRIFT:
            own, other, since = other, None, 0
        else:
            own.partial_fit(one, label, classes=[False, True])
            since += 1
    return answers


def test_adwin_of_river_is_ours_with_its_settings():
    ours = ADWIN(min_window=5, after_alarm="restart")
    bags, refits = (
        (
            {
                "bag": OnlineBagging(BernoulliNB(), 3, detector=one),
                "forest": AdaptiveRandomForestClassifier(
                    2, warning_detector=None, drift_detector=one
                ),
            }
            for one in (drift.ADWIN(), ours)
        ),
        [
            PeriodicRefit(BernoulliNB(), every=None, min_rows=50, detector=one)
            for one in (drift.ADWIN(), ours)
        ],
    )
    results = [
        PrequentialEvaluator("accuracy", random_state=0).evaluate(models | {"refit": refit}, X, Y)
        for models, refit in zip(bags, refits, strict=True)
    ]
    for name in results[0].model_names:
        np.testing.assert_array_equal(*(one.tape.answers[name] for one in results))


def test_settings_can_be_searched_and_calibrated():
    model = DriftReset(BernoulliNB(), detector=from_river(drift.PageHinkley()))
    model.set_params(detector__model__threshold=7)
    assert model.detector.model.threshold == 7
    assert "model__threshold" in model.detector.get_params()
    found = calibrate(drift.PageHinkley(), "model__threshold", 500, bounds=(1, 50), error_rate=0.2)
    assert found.detector.model.threshold == found.value
    # Without a seed of its own it takes that of its place.
    seeds = {from_river(drift.KSWIN(), random_state=seed)._started().peer.seed for seed in (1, 2)}
    assert len(seeds) == 2


def test_bad_input(capsys):
    assert "\n" not in repr(DriftMonitor(drift.ADWIN()))
    read = drift.ADWIN()
    for value in LOSSES:
        read.update(value)
    with pytest.warns(UserWarning, match="has read values"):
        DriftMonitor(read)
    for wrong, message in {
        drift.ADWIN: "is the class ADWIN, not an instance; pass ADWIN",
        object(): "or of River.*has no update method",
    }.items():
        with pytest.raises(TypeError, match=message):
            DriftMonitor(wrong)
    for wrong in (drift.ADWIN, {}, object()):
        with pytest.raises(
            (TypeError, ValueError), match=r"'update'|not an instance|must be a dri"
        ):
            DriftReset(BernoulliNB(), detector=wrong).partial_fit(
                X[:60], Y[:60], classes=[False, True]
            )
    with pytest.raises(ValueError, match=r"River's EDDM reads 0 .right. or 1"):
        from_river(drift.binary.EDDM()).update_many([0.0, 0.5])
    command = ["evaluate", "--generator", "SEA", "--n-rows", "500", "--monitor"]
    assert main([*command, "river.drift:KSWIN(seed=1)"]) == 0
    assert main([*command, "river.tree:HoeffdingTreeClassifier"]) == 2
    assert "is not a detector class" in capsys.readouterr().err
    assert skstream.drift.DriftDetector in type(from_river(drift.NoDrift())).__mro__
