"""What every drift detector promises."""

import inspect
import math
import pickle

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import skstream.drift
from skstream.core.detector import DRIFT, NORMAL, WARNING, DetectorState
from skstream.drift import (
    ADWIN,
    DDM,
    DriftDetector,
    ErrorRatio,
    PageHinkley,
    RandomAlarm,
    _page_hinkley,
)
from tests._examples import examples
from tests.drift._checks import check_cuts
from tests.drift._streams import losses, pieces

# Every exported detector, with settings under which it raises alarms on short series.
SETTINGS = {
    "ADWIN": [{}, {"clock": 3, "delta": 0.3}, {"clock": 4, "after_alarm": "restart"}],
    "DDM": [{}, {"min_values": 5}],
    "ErrorRatio": [
        {"short": 0.8, "long": 0.99, "threshold": 5.0},
        {"short": 7, "long": 50, "threshold": 5.0},
        {"short": 7, "long": 50, "threshold": 5.0, "reset_after_alarm": False},
    ],
    "PageHinkley": [
        {"threshold": 5.0},
        {"threshold": 5.0, "direction": "both", "delta": 0.0},
        {"threshold": 5.0, "direction": "down", "reset_after_alarm": False},
    ],
    "RandomAlarm": [{"random_state": 0}, {"probability": 0.2, "warm_up": 0, "random_state": 1}],
}
EXPORTED = {name: getattr(skstream.drift, name) for name in skstream.drift.__all__}
KINDS = {
    name: kind
    for name, kind in EXPORTED.items()
    if isinstance(kind, type) and issubclass(kind, DriftDetector) and kind is not DriftDetector
}
CASES = [
    pytest.param(kind(**params), id=f"{name}-{i}")
    for name, kind in KINDS.items()
    for i, params in enumerate(SETTINGS.get(name, []))
]
every_detector = pytest.mark.parametrize("detector", CASES)


def test_every_exported_detector_is_covered():
    missing = sorted(KINDS.keys() - SETTINGS.keys())
    assert not missing, f"add settings of {missing} to SETTINGS in tests/drift/test_detectors.py"
    assert KINDS.keys() == SETTINGS.keys()


@every_detector
@examples(15)
@given(st.data())
def test_cutting_into_calls_changes_nothing(detector, data):
    check_cuts(detector, pieces(data.draw, data.draw(losses())))


@every_detector
@examples(10)
@given(st.data())
def test_levels_are_those_of_single_values(detector, data):
    parts = pieces(data.draw, data.draw(losses()))
    one, many, alarms = clone(detector), clone(detector), clone(detector)
    for part in parts:
        levels = many.update_levels(part)
        assert levels.dtype == np.int8
        assert levels.tolist() == [level_after(one, x) for x in part.tolist()]
        assert np.flatnonzero(levels == DRIFT).tolist() == alarms.update_many(part).tolist()
    assert len({joblib.hash(pickle.loads(pickle.dumps(d))) for d in (one, many, alarms)}) == 1


def level_after(detector, value):
    detector.update(value)
    assert not (detector.drift_detected and detector.warning_detected)
    return DRIFT if detector.drift_detected else WARNING if detector.warning_detected else NORMAL


def test_ddm_warns_before_its_alarm():
    values = np.r_[np.tile([0.0] * 9 + [1.0], 30), np.tile([0.0, 0.0, 1.0], 60)]
    levels = DDM().update_levels(values).tolist()
    assert levels.index(WARNING) < levels.index(DRIFT)
    assert np.count_nonzero(np.array(levels) == DRIFT) >= 1


def test_random_alarms_come_at_their_rate_after_the_warm_up():
    alarms = RandomAlarm(0.01, warm_up=200, random_state=3).update_many(np.zeros(100_000))
    assert alarms.min() >= 200
    assert abs(len(alarms) - 998) < 4 * math.sqrt(998)
    assert np.array_equal(
        RandomAlarm(1.0, warm_up=2, random_state=0).update_many(np.ones(5)), [2, 3, 4]
    )
    with pytest.raises(ValueError, match="'probability' parameter of RandomAlarm"):
        RandomAlarm(0.0).update(1.0)


def test_a_state_without_a_fast_way_gives_levels_too():
    class Steep(DetectorState):
        """Warns at values above 1, alarms above 2."""

        level = NORMAL
        alarm = False

        def feed_one(self, value):
            self.level = DRIFT if value > 2 else WARNING if value > 1 else NORMAL
            self.alarm = self.level == DRIFT
            self.n_alarms += self.alarm

    class SteepDetector(DriftDetector):
        def _start(self):
            return Steep()

    levels = SteepDetector().update_levels([0, 1.5, 3, 1])
    assert levels.tolist() == [NORMAL, WARNING, DRIFT, NORMAL]


def test_cutting_catches_sums_that_depend_on_the_call(monkeypatch):
    parts = np.split(np.random.default_rng(0).random(3000), [10, 700, 777, 2000, 2001])
    check_cuts(PageHinkley(), parts)
    start_last = lambda start, steps: start + np.cumsum(np.append(0.0, steps))  # noqa: E731
    monkeypatch.setattr(_page_hinkley, "running_sums", start_last)
    with pytest.raises(AssertionError):
        check_cuts(PageHinkley(), parts)


@every_detector
def test_scikit_learn_conventions(detector):
    params = inspect.signature(type(detector)).parameters
    assert detector.get_params().keys() == params.keys()
    fresh = clone(detector)
    used = clone(detector)
    assert not used.drift_detected
    assert used.n_detections == 0
    used.update_many(np.repeat([0.0, 1.0], 1000))
    assert used.n_detections > 0 or getattr(used, "direction", "") == "down"
    assert joblib.hash(clone(used)) == joblib.hash(fresh)
    assert used.reset() is used
    assert joblib.hash(used) == joblib.hash(fresh)
    assert used.update(1.0) is used


@every_detector
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (math.nan, r"values\[2\] is nan\. .* drop or impute"),
        (-math.inf, r"values\[2\] is -inf"),
        (1e200, r"values\[2\] is 1e\+200\. .* at most 1e\+100"),
        (None, r"values\[2\] is None of type NoneType, not a number"),
        ("1.0", r"not a number"),
        (1j, r"not a number"),
        (10**400, r"values\[2\] is inf"),
        ([1.0, 2.0], r"not a number"),
        (np.timedelta64(3, "s"), r"not a number"),
    ],
)
def test_bad_values_change_nothing(detector, bad, message):
    detector = clone(detector).update(1.0)
    before = joblib.hash(detector)
    with pytest.raises(ValueError, match=message):
        detector.update_many([0.0, True, bad, 1.0])
    with pytest.raises(ValueError, match="number"):
        detector.update(bad)
    assert joblib.hash(detector) == before


@every_detector
@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_values_have_one_dimension(detector, shape):
    with pytest.raises(ValueError, match=r"one-dimensional sequence of numbers, got .* shape"):
        clone(detector).update_many(np.zeros(shape))


@every_detector
@pytest.mark.parametrize("kind", [bool, np.int8, np.uint64, np.float32, object, list, tuple])
def test_kinds_of_numbers(detector, kind):
    values = np.repeat([0, 1, 0, 1], 150)
    expected = clone(detector).update_many(values).tolist()
    given_ = kind(values.tolist()) if kind in (list, tuple) else values.astype(kind)
    one, many = clone(detector), clone(detector)
    assert many.update_many(given_).tolist() == expected
    assert [i for i, x in enumerate(given_) if one.update(x).drift_detected] == expected


def test_data_frame_columns(pd):
    values = np.repeat([0.0, 1.0], 300)
    expected = ADWIN().update_many(values).tolist()
    assert ADWIN().update_many(pd.Series(values, index=values)).tolist() == expected
    with pytest.raises(ValueError, match=r"values\[1\] is nan"):
        ADWIN().update_many(pd.Series([1, None], dtype="Int64"))


@pytest.mark.parametrize(
    ("detector", "message"),
    [
        (ADWIN(delta=0), "'delta' parameter of ADWIN must be a float"),
        (ADWIN(delta=1.5), "'delta' parameter of ADWIN"),
        (ADWIN(clock=0), "'clock' parameter of ADWIN must be an int"),
        (ADWIN(clock=2.0), "'clock' parameter of ADWIN"),
        (ADWIN(min_window=4), "'min_window' parameter of ADWIN"),
        (ADWIN(bound="river"), "'bound' parameter of ADWIN must be a str among"),
        (ADWIN(direction="rise"), "'direction' parameter of ADWIN"),
        (PageHinkley(0), "'threshold' parameter of PageHinkley"),
        (PageHinkley(delta=-1), "'delta' parameter of PageHinkley"),
        (PageHinkley(direction=1), "'direction' parameter of PageHinkley"),
        (DDM(min_values=0), "'min_values' parameter of DDM"),
        (DDM(warning_level=4.0), "drift_level=3.0 is below warning_level=4.0"),
        (ErrorRatio(short=0.0), "'short' parameter of ErrorRatio"),
        (ErrorRatio(short=0.9995), "the short-term one smaller"),
        (ErrorRatio(short=100), "two fading factors .* or two window sizes"),
    ],
)
def test_parameters_are_checked_at_first_use(detector, message):
    for use in (detector.update, detector.update_many):
        with pytest.raises(ValueError, match=message):
            use([1.0] if use == detector.update_many else 1.0)
    assert clone(detector).get_params() == detector.get_params()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_one_value_at_a_time_keeps_every_bit_of_real_numbers(scale, rng):
    values = np.abs(rng.normal(3.0, 1.0, 4000)) * scale
    values[2000:] *= 3
    for detector in (
        PageHinkley(50.0 * scale, delta=0.1 * scale, direction="both"),
        ErrorRatio(threshold=20.0),
        ErrorRatio(short=30, long=211, threshold=20.0),
        ADWIN(),
    ):
        one, many = clone(detector), clone(detector)
        alarms = [i for i, x in enumerate(values.tolist()) if one.update(x).drift_detected]
        assert many.update_many(values).tolist() == alarms
        assert alarms or (isinstance(detector, ADWIN) and scale < 1)  # its bound has a unit
        assert joblib.hash(pickle.loads(pickle.dumps(one))) == joblib.hash(
            pickle.loads(pickle.dumps(many))
        )


def test_a_window_forgets_a_huge_loss_exactly():
    values = np.concatenate((np.full(50, 1.0), [1e16], np.full(400, 1.0)))
    with_it = ErrorRatio(short=10, long=100, reset_after_alarm=False)
    short = with_it._start().test.short
    means = [short.update_one(x) for x in values.tolist()]
    assert means[-1] == 1.0
    np.testing.assert_array_equal(means, with_it._start().test.short.update(values))
