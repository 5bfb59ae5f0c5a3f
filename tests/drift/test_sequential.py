"""Page-Hinkley, DDM and the error ratio against their formulas."""

import math
from fractions import Fraction

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from skstream.drift import ADWIN, DDM, ErrorRatio, PageHinkley
from tests._examples import examples
from tests.drift._streams import losses

# --- Page-Hinkley ----------------------------------------------------------------------------


def literal_page_hinkley(values, threshold, delta, direction="up", reset_after_alarm=True):
    """Page-Hinkley by its formulas, in exact fractions."""
    signs = {"up": [1], "down": [-1], "both": [1, -1]}[direction]
    threshold, delta = Fraction(threshold), Fraction(delta)
    alarms, begin = [], 0
    for t in range(1, len(values) + 1):
        seen = [Fraction(x) for x in values[begin:t]]
        for sign in signs:
            m, least, total = Fraction(0), None, Fraction(0)
            for i, x in enumerate(seen, 1):
                total += x
                m += sign * (x - total / i) - delta
                least = m if least is None else min(least, m)
            if m - least >= threshold:
                alarms.append(t - 1)
                if reset_after_alarm:
                    begin = t
                break
    return alarms


@examples(25)
@given(
    st.lists(st.sampled_from([0, 1, 0.5, 3]), max_size=60),
    st.sampled_from(["up", "down", "both"]),
    st.booleans(),
)
def test_page_hinkley_equals_its_formulas(values, direction, reset_after_alarm):
    params = {
        "threshold": 2.001,
        "delta": 0.125,
        "direction": direction,
        "reset_after_alarm": reset_after_alarm,
    }
    expected = literal_page_hinkley(values, **params)
    assert PageHinkley(**params).update_many(values).tolist() == expected


def test_page_hinkley_by_hand():
    # Means 0, 0, 1/3, 1/2; m = -0.1, -0.2, 0.3667, 0.7667, least -0.2: climbs 0.5667, 0.9667.
    values = [0, 0, 1, 1]
    assert PageHinkley(0.566).update_many(values).tolist() == [2]
    assert PageHinkley(0.567).update_many(values).tolist() == [3]
    assert PageHinkley(0.967).update_many(values).tolist() == []
    # Exactly at the threshold: -0.25, then 0.
    assert PageHinkley(0.25, delta=0.25).update_many([0, 1]).tolist() == [1]
    assert PageHinkley(0.25, delta=0.25).update(0).update(1).drift_detected


def test_page_hinkley_reports_one_drift_once():  # fault 24
    rng = np.random.default_rng(0)
    values = np.concatenate((rng.random(5000) < 0.2, rng.random(5000) < 0.7))
    alarms = PageHinkley(threshold=30).update_many(values)
    assert len(alarms) == 1
    assert 5000 < alarms[0] < 5200
    assert PageHinkley(threshold=30).update_many(values[::-1]).size == 0


@pytest.mark.parametrize("detector", [PageHinkley(20.0, direction="both"), ADWIN()])
def test_two_sided_detectors_report_falls(detector):  # fault 25
    rng = np.random.default_rng(0)
    values = np.concatenate((rng.random(3000) < 0.7, rng.random(3000) < 0.2))
    assert any(3000 < alarm < 3300 for alarm in clone(detector).update_many(values))
    assert any(3000 < alarm < 3300 for alarm in clone(detector).update_many(1 - values))


def test_page_hinkley_does_not_mind_an_offset():
    values = np.round(np.random.default_rng(0).normal(size=4000) * 1024) / 1024
    values[2000:] += 1
    expected = PageHinkley(50.0).update_many(values)
    assert len(expected) == 1
    assert np.array_equal(PageHinkley(50.0).update_many(values + 2.0**30), expected)


# --- DDM -------------------------------------------------------------------------------------


def literal_ddm(values, warning_level=2.0, drift_level=3.0, min_values=30):
    """DDM by its formulas; positions of alarms and of values in the warning zone."""
    alarms, warnings = [], []
    n = errors = 0
    p_min = s_min = math.inf
    for i, x in enumerate(values):
        n, errors = n + 1, errors + x
        p = errors / n
        s = math.sqrt(p * (1 - p) / n)
        if n < min_values:
            continue
        if p + s < p_min + s_min:
            p_min, s_min = p, s
        if p + s > p_min + drift_level * s_min:
            alarms.append(i)
            n = errors = 0
            p_min = s_min = math.inf
        elif p + s > p_min + warning_level * s_min:
            warnings.append(i)
    return alarms, warnings


@examples(25)
@given(losses(), st.sampled_from([1, 5, 30]))
def test_ddm_equals_its_formulas(values, min_values):
    alarms, warnings = literal_ddm(values.tolist(), min_values=min_values)
    assert DDM(min_values=min_values).update_many(values).tolist() == alarms
    detector, warned = DDM(min_values=min_values), []
    for i, x in enumerate(values.tolist()):
        if detector.update(x).warning_detected:
            warned.append(i)
            assert not detector.drift_detected
    assert warned == warnings


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_ddm_is_silent_on_constant_losses(value):  # fault 25
    detector = DDM()
    assert detector.update_many(np.full(10_000, value)).size == 0
    assert not detector.warning_detected


def test_ddm_reads_losses_of_0_and_1():
    detector = DDM().update(0)
    before = joblib.hash(detector)
    with pytest.raises(ValueError, match=r"values\[1\] is 0\.5\. DDM reads 0/1 losses"):
        detector.update_many([0, 0.5])
    assert joblib.hash(detector) == before


# --- the ratio of two means ------------------------------------------------------------------


def literal_ratio(values, short, long):
    """Ratios of two forgetful means by their definitions."""
    ratios = []
    for t in range(1, len(values) + 1):
        means = []
        for memory in (short, long):
            if isinstance(memory, int):
                means.append(sum(values[max(t - memory, 0) : t]) / min(memory, t))
            else:
                weights = [memory**age for age in range(t - 1, -1, -1)]
                means.append(np.dot(weights, values[:t]) / sum(weights))
        ratios.append(means[0] / means[1] if means[1] > 0 else 1.0)
    return ratios


@examples(25)
@given(losses(max_segment=60), st.sampled_from([(0.7, 0.95), (4, 25), (1, 2)]))
def test_ratio_is_that_of_the_definitions(values, memories):
    short, long = memories
    ratios = literal_ratio(values.tolist(), short, long)
    params = {"threshold": 3.7, "delta": 0.11, "reset_after_alarm": False}
    expected = PageHinkley(**params).update_many(ratios).tolist()
    assert ErrorRatio(short=short, long=long, **params).update_many(values).tolist() == expected


def test_ratio_is_faster_than_the_mean(rng):
    values = np.concatenate((rng.random(20_000) < 0.1, rng.random(5000) < 0.5))
    fading = literal_fading_mean(values, 0.9994)
    slow = PageHinkley().update_many(fading)
    fast = ErrorRatio().update_many(values)
    assert 20_000 < fast[0] < slow[0]


def literal_fading_mean(values, factor):
    sums = weight = 0.0
    means = []
    for x in values:
        sums, weight = x + factor * sums, 1 + factor * weight
        means.append(sums / weight)
    return means


def test_ratio_needs_losses_of_at_least_0():
    with pytest.raises(ValueError, match=r"values\[0\] is -1\. ErrorRatio reads losses"):
        ErrorRatio().update(-1)
