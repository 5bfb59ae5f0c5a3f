"""ADWIN equals its literal algorithm, however its input is cut into calls."""

import copy
import pickle
from contextlib import contextmanager
from functools import partial

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.core import adwin as _adwin
from skstream.drift import ADWIN
from tests._examples import examples
from tests.drift._checks import check_against_literal, check_cuts
from tests.drift._streams import pieces, series


@contextmanager
def loops(compiled):
    """Let loops run compiled from the first check on, where numba is there; or never."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_adwin, "_COMPILED_AFTER", 0)
        if not compiled:
            patch.setattr(_adwin, "numba_enabled", lambda: False)
        yield


@st.composite
def parameters(draw):
    return {
        "delta": draw(st.sampled_from([0.002, 0.05, 0.3, 0.9])),
        "clock": draw(st.sampled_from([32, 1, 5, 50])),
        "min_window": draw(st.sampled_from([7, 5, 6, 20])),
        "bound": draw(st.sampled_from(["moa", "theorem"])),
        "direction": draw(st.sampled_from(["both", "up", "down"])),
        "after_alarm": draw(st.sampled_from(["shrink", "restart"])),
    }


def readable(values, bound):
    """Values that ADWIN takes: the theorem is about values in [0, 1]."""
    return np.clip(values, 0.0, 1.0) if bound == "theorem" else values


def many_drifts(n_segments=30, length=500, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.random(length) < p for p in rng.random(n_segments)]) * 1.0


@examples(50)
@given(st.data(), parameters(), st.booleans())
def test_equals_the_literal_algorithm(data, params, compiled):
    values = data.draw(series(max_segment=250 if params["clock"] < 32 else 600))
    values = readable(values, params["bound"])
    with loops(compiled):
        check_against_literal(ADWIN(**params), pieces(data.draw, values))


@pytest.mark.parametrize("bound", ["moa", "theorem"])
@pytest.mark.parametrize("direction", ["both", "up", "down"])
def test_equals_the_literal_algorithm_on_many_drifts(bound, direction):
    literal = check_against_literal(ADWIN(bound=bound, direction=direction), [many_drifts()])
    assert len(literal.alarms) > 5
    assert (len(literal.shrinks) > len(literal.alarms)) == (direction != "both")


@examples(20)
@given(st.data(), parameters(), st.booleans())
def test_cutting_into_calls_changes_nothing(data, params, compiled):
    values = data.draw(series(max_segment=2000))
    with loops(compiled):
        check_cuts(ADWIN(**params), pieces(data.draw, readable(values, params["bound"])))


def test_advance_agrees_with_update_many():
    values = many_drifts()
    told, counted = ADWIN(), ADWIN()
    positions, starts = told.advance(values)
    assert np.array_equal(positions, counted.update_many(values))
    assert positions.dtype == starts.dtype == np.int64
    assert len(values) - starts[-1] == told.width
    assert told.boundaries()[0] == starts[-1]
    assert (np.diff(starts) > 0).all()
    assert joblib.hash(told) == joblib.hash(counted)


# --- the checks above catch what is wrong ----------------------------------------------------


class ChecksWiderWindows(_adwin._Window):
    """Takes the logarithm of the bound at another width than the window has."""

    def _logarithms(self, widths):
        return super()._logarithms([5 * width for width in widths])


class DropsEverything(_adwin._Window):
    """Keeps only the newest bucket after an alarm, much as River does."""

    def _shrink(self):
        self.start += int(_adwin._sizes(self.lengths)[:-1].sum())
        self._load([1], self.buckets[:, -1:])
        return True


class ForgetsPending(_adwin._Window):
    """Counts the clock from the beginning of every call."""

    def advance(self, values):
        self.pending = []
        return super().advance(values)


class SumsBlockwise(_adwin._Window):
    """Lets the size of a call decide how its sums are rounded."""

    def _read(self, values):
        self.centre += np.mean(values) * 1e-9
        return super()._read(values)


@pytest.mark.parametrize(
    ("twin", "check"),
    [
        (ChecksWiderWindows, check_against_literal),
        (DropsEverything, check_against_literal),
        (ForgetsPending, check_cuts),
        (SumsBlockwise, check_cuts),
    ],
)
def test_the_checks_catch_broken_twins(monkeypatch, twin, check):
    parts = np.split(many_drifts(5, 3000) * 0.5, [10, 700, 777, 5000, 5001])
    check(ADWIN(), parts)
    monkeypatch.setattr(_adwin, "_Window", twin)
    with pytest.raises(AssertionError):
        check(ADWIN(), parts)


@pytest.mark.parametrize("bad", [-1e-9, 1.0000001, 37.0, -1e9])
def test_the_theorem_takes_values_between_0_and_1_alone(bad):
    detector = ADWIN(bound="theorem").update(0.5)
    before = joblib.hash(detector)
    for read in (detector.update_many, detector.advance):
        with pytest.raises(ValueError, match=r"values\[2\] is .*bound=.theorem.* \[0, 1\]"):
            read([0.0, 1.0, bad])
    with pytest.raises(ValueError, match=r"reads values in \[0, 1\].*bound=.moa"):
        detector.update(bad)
    assert joblib.hash(detector) == before
    assert ADWIN().update_many([0.0, 1.0, bad]).size == 0
    # What was said at the first value holds until the reset.
    with pytest.raises(ValueError, match="theorem"):
        detector.set_params(bound="moa").update(bad)
    assert detector.reset().update(bad).width == 1


def test_the_theorem_raises_no_alarm_on_stationary_values(rng):
    assert ADWIN(bound="theorem").update_many(rng.random(20_000)).size == 0


@pytest.mark.parametrize("clock", [1, 7, 32])
@pytest.mark.parametrize("bound", ["moa", "theorem"])
def test_compiled_or_not_one_by_one_or_at_once_the_bits_are_the_same(clock, bound, rng):
    values = np.concatenate([rng.beta(a, 2.0, 700) for a in (1.0, 6.0, 1.0, 0.2, 3.0)])
    if bound == "moa":
        values = 1e3 * values - 5e5
    make = partial(ADWIN, bound=bound, clock=clock, direction="up")
    many, single, mixed = make(), make(), make()
    for number, part in enumerate(np.split(values, range(500, len(values), 500))):
        with loops(compiled=True):
            alarms = many.update_many(part).tolist()
        with loops(compiled=False):
            found = [i for i, x in enumerate(part.tolist()) if single.update(x).drift_detected]
        assert found == alarms
        mixed = pickle.loads(pickle.dumps(mixed))  # a copy begins uncompiled
        with loops(compiled=number % 2):
            for some in np.split(part, len(part)) if number % 3 else [part]:
                mixed.update_many(some)
        copies = [pickle.loads(pickle.dumps(one)) for one in (many, single, mixed)]
        assert len(set(map(joblib.hash, copies))) == 1
        assert (single.mean, single.variance) == (many.mean, many.variance)
        assert np.array_equal(single.boundaries(), many.boundaries())
    assert many.n_detections > 0
    assert many.n_detections < len(make().advance(values)[0])  # some went down


def test_looking_at_the_window_changes_nothing():
    values = many_drifts(4)
    looked, plain = ADWIN(), ADWIN()
    for x in values.tolist():
        looked.update(x)
        assert 0 <= looked.mean <= 1
        plain.update(x)
    assert looked.n_detections == plain.n_detections > 0
    assert joblib.hash(looked) == joblib.hash(plain)
    assert joblib.hash(copy.deepcopy(plain).update(1.0)) == joblib.hash(looked.update(1.0))
