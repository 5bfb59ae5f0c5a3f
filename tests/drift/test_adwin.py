"""ADWIN equals its literal algorithm, however its input is cut into calls."""

import copy
import pickle
import subprocess
import sys
import textwrap
from functools import partial

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from skstream.drift import ADWIN, _adwin, _cut, _one_check, _small_windows
from tests._examples import examples
from tests.drift._checks import check_against_literal, check_cuts
from tests.drift._streams import pieces, series


@pytest.fixture(autouse=True, scope="module")
def checks_by_numpy():
    """Test what runs without numba, whatever the process has compiled already."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_one_check.SingleChecks, "compiles_many", lambda self: False)
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
@given(st.data(), parameters())
def test_equals_the_literal_algorithm(data, params):
    values = data.draw(series(max_segment=250 if params["clock"] < 32 else 600))
    values = readable(values, params["bound"])
    check_against_literal(ADWIN(**params), pieces(data.draw, values))


@pytest.mark.parametrize("bound", ["moa", "theorem"])
@pytest.mark.parametrize("direction", ["both", "up", "down"])
def test_equals_the_literal_algorithm_on_many_drifts(bound, direction):
    literal = check_against_literal(ADWIN(bound=bound, direction=direction), [many_drifts()])
    assert len(literal.alarms) > 5
    assert (len(literal.shrinks) > len(literal.alarms)) == (direction != "both")


@examples(20)
@given(st.data(), parameters())
def test_cutting_into_calls_changes_nothing(data, params):
    values = data.draw(series(max_segment=2000))
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


@pytest.mark.parametrize("bound", ["moa", "theorem"])
def test_pruning_changes_nothing(monkeypatch, bound):
    rng = np.random.default_rng(0)
    if bound == "moa":
        parts = [rng.normal(mean, 1.0, 20_000) for mean in (0, 0.1, 1e6, 1e6 + 1)]
    else:
        parts = [rng.beta(a, 2.0, 20_000) for a in (1.0, 1.2, 2.0, 4.0)]
    values = np.concatenate(parts)
    pruned, whole = ADWIN(bound=bound), ADWIN(bound=bound)
    alarms = pruned.update_many(values)
    assert len(alarms) > 3
    monkeypatch.setattr(_adwin, "_FEW", len(values))
    monkeypatch.setattr(_cut.CutRule, "suspects", None)
    assert np.array_equal(whole.update_many(values), alarms)
    assert joblib.hash(whole) == joblib.hash(pruned)


@given(data=st.data(), params=parameters())
@examples(40)
def test_compiled_checks_leave_the_bits_of_numpy(data, params):
    pytest.importorskip("numba")
    values = readable(data.draw(series(max_segment=2000)), params["bound"])
    parts = list(pieces(data.draw, values))
    by_numpy, compiled = ADWIN(**params), ADWIN(**params)
    for part in parts:
        expected = by_numpy.advance(part)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_one_check.SingleChecks, "compiles_many", lambda self: True)
            told = compiled.advance(part)
        assert [one.tolist() for one in told] == [one.tolist() for one in expected]
        hashes = [joblib.hash(pickle.loads(pickle.dumps(one))) for one in (by_numpy, compiled)]
        assert hashes[0] == hashes[1]


def test_numba_is_not_imported_for_checks_at_once():
    """Loading it takes longer than they do."""
    code = """
        import sys
        import numpy as np
        from skstream.drift import ADWIN, _one_check
        _one_check._MANY_COMPILED_AFTER = 0
        ADWIN().update_many(np.tile([0.0, 1.0], 4000))
        assert "numba" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


# --- small windows by running sums -----------------------------------------------------------

FOLLOWED = {
    "0/1": many_drifts(12),
    "0/1, far from the centre": np.repeat([0.0, 1.0] * 4, 500),
    "normal": many_drifts(12) * 2 + np.random.default_rng(1).normal(1e6, 0.3, 6000),
    "heavy tails": np.random.default_rng(2).standard_cauchy(6000).clip(-1e4, 1e4),
}


def follow_at_once(monkeypatch):
    """Let running sums follow the window from its first shrink on; return what they found."""
    found = []

    def follow(*arguments):
        found.append(_small_windows.follow(*arguments))
        return found[-1]

    monkeypatch.setattr(_adwin, "_OFTEN", 1)
    monkeypatch.setattr(_adwin, "_ENOUGH", 1)
    monkeypatch.setattr(_adwin, "_ENOUGH_COMPILED", 1)
    monkeypatch.setattr(_adwin, "follow", follow)
    return found


def check_followed(monkeypatch, detector, values):
    """Running sums lead to the shrinks and the bits of the buckets."""
    parts = np.split(values, [700, 713, 2500])
    by_buckets, by_sums = clone(detector), clone(detector)
    expected = [by_buckets.advance(part) for part in parts]
    with monkeypatch.context() as patch:
        found = follow_at_once(patch)
        for part, (positions, starts) in zip(parts, expected, strict=True):
            told = by_sums.advance(part)
            assert told[0].tolist() == positions.tolist()
            assert told[1].tolist() == starts.tolist()
    hashes = [joblib.hash(pickle.loads(pickle.dumps(one))) for one in (by_buckets, by_sums)]
    assert hashes[0] == hashes[1]
    assert by_buckets.n_detections == by_sums.n_detections
    return found


@pytest.mark.parametrize("kind", FOLLOWED)
@pytest.mark.parametrize("clock", [7, 32])
@pytest.mark.parametrize("after_alarm", ["shrink", "restart"])
@pytest.mark.parametrize("direction", ["both", "up"])
def test_running_sums_leave_the_bits_of_buckets(monkeypatch, kind, clock, after_alarm, direction):
    detector = ADWIN(clock=clock, after_alarm=after_alarm, direction=direction, min_window=5)
    found = check_followed(monkeypatch, detector, FOLLOWED[kind])
    shrinks = sum(len(one.shrinks) for one in found)
    assert shrinks > 5 or kind in ("heavy tails", "0/1, far from the centre")


def test_running_sums_leave_the_bits_of_buckets_by_the_theorem(monkeypatch):
    detector = ADWIN(bound="theorem", delta=0.3)
    assert any(one.shrinks for one in check_followed(monkeypatch, detector, many_drifts()))


def test_running_sums_equal_the_literal_algorithm(monkeypatch):
    found = follow_at_once(monkeypatch)
    check_against_literal(ADWIN(), np.split(many_drifts(20), [4, 2000, 2017]))
    assert sum(len(one.shrinks) for one in found) > 10


def test_buckets_decide_where_rounding_might(monkeypatch):
    values = many_drifts(40)
    unsure = []
    for epsilon in (_small_windows._EPSILON, 1e-9):
        monkeypatch.setattr(_small_windows, "_EPSILON", epsilon)
        found = check_followed(monkeypatch, ADWIN(), values)
        unsure.append(sum(not one.sure for one in found))
    assert unsure[0] < 5 < unsure[1]


def test_wide_windows_are_left_to_the_buckets(monkeypatch):
    values = np.concatenate((many_drifts(12), np.tile([0.0, 1.0], 3000), many_drifts(12)))
    found = check_followed(monkeypatch, ADWIN(), values)
    assert max(one.end - one.start for one in found) <= _small_windows.WIDEST
    assert sum(len(one.shrinks) for one in found) > 5


def scaled(thresholds):
    return thresholds._replace(slopes=1.1 * thresholds.slopes)


def other_bounds(thresholds):
    return thresholds._replace(places=thresholds.places & ~31)


@pytest.mark.parametrize("wrong", [scaled, other_bounds])
def test_wrong_thresholds_are_caught(monkeypatch, wrong):
    right = _small_windows._thresholds
    monkeypatch.setattr(_small_windows, "_thresholds", lambda rule: wrong(right(rule)))
    with pytest.raises(AssertionError):
        check_followed(monkeypatch, ADWIN(), many_drifts())


# --- the checks above catch what is wrong ----------------------------------------------------


class SkipsNewestBuckets(_cut.CutRule):
    """Leaves out the boundary after the newest bucket of every row (fault 23)."""

    def cuts(self, table):
        sizes = table.sizes.copy()
        newest = np.diff(sizes, axis=1, append=0) != 0
        merged = [np.zeros_like(part) for part in table]
        for line in range(len(sizes)):
            keep = ~newest[line]
            keep[-1] = True
            columns = np.searchsorted(np.flatnonzero(keep), np.arange(sizes.shape[1]))
            for source, target in zip(table, merged, strict=True):
                np.add.at(target[line], np.flatnonzero(keep)[columns], source[line])
        return super().cuts(_adwin.Table(*merged))


class PrunesTooMuch(_cut.CutRule):
    """Lets windows pass that should be tested."""

    def suspects(self, moments, squares):
        return super().suspects(moments, 4 * squares)


class DropsEverything(_adwin._Window):
    """Keeps only the newest bucket after an alarm, much as River does."""

    def _shrink(self, *, is_held):
        self.start += int(_adwin.sizes_of(self.lengths)[:-1].sum())
        self.buckets = self.buckets[:, -1:].copy()
        self.lengths = [1]
        return True


class ForgetsPending(_adwin._Window):
    """Counts the clock from the beginning of every call."""

    def advance(self, values):
        self.pending = []
        return super().advance(values)


class SumsBlockwise(_adwin._Window):
    """Lets the size of a call decide how its sums are rounded."""

    def _read(self, values):
        self.centre += values.mean() * 1e-9
        return super()._read(values)


@pytest.mark.parametrize(
    ("name", "twin", "check"),
    [
        ("CutRule", SkipsNewestBuckets, check_against_literal),
        ("CutRule", PrunesTooMuch, check_against_literal),
        ("_Window", DropsEverything, check_against_literal),
        ("_Window", ForgetsPending, check_cuts),
        ("_Window", SumsBlockwise, check_cuts),
    ],
)
def test_the_checks_catch_broken_twins(monkeypatch, name, twin, check):
    parts = np.split(many_drifts(5, 3000) * 0.5, [10, 700, 777, 5000, 5001])
    check(ADWIN(), parts)
    monkeypatch.setattr(_adwin, name, twin)
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


def test_the_theorem_raises_no_alarm_on_stationary_values():
    rng = np.random.default_rng(0)
    assert ADWIN(bound="theorem").update_many(rng.random(20_000)).size == 0


@pytest.mark.parametrize("compiled_after", [2, 1_000_000])
@pytest.mark.parametrize("clock", [1, 7, 32])
@pytest.mark.parametrize("bound", ["moa", "theorem"])
def test_single_checks_leave_the_bits_of_many(monkeypatch, compiled_after, clock, bound):
    """Compiled where numba is there, as plain loops, and with both kinds of calls in turns."""
    monkeypatch.setattr(_one_check, "_COMPILED_AFTER", compiled_after)
    if compiled_after > 2:
        monkeypatch.setattr(_one_check, "numba_enabled", lambda: False)
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.beta(a, 2.0, 700) for a in (1.0, 6.0, 1.0, 0.2, 3.0)])
    if bound == "moa":
        values = 1e3 * values - 5e5
    make = partial(ADWIN, bound=bound, clock=clock, direction="up")
    many, single, mixed = make(), make(), make()
    for begin in range(0, len(values), 500):
        part = values[begin : begin + 500]
        alarms = many.update_many(part).tolist()
        assert [i for i, x in enumerate(part.tolist()) if single.update(x).drift_detected] == alarms
        if begin % 1000:
            mixed.update_many(part)
        else:
            for x in part:
                mixed.update(x)
        hashes = {joblib.hash(pickle.loads(pickle.dumps(one))) for one in (many, single, mixed)}
        assert len(hashes) == 1
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
