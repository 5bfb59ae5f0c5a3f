"""Anytime comparison: formulas, blocks, messages. The simulations have their own file."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import zeta

from skstream.stats import anytime_comparison
from skstream.stats._anytime import (
    BOUNDARIES,
    ROWS_AT_ONCE,
    MixtureBoundary,
    RunningAnytimeComparison,
    StitchedBoundary,
)
from tests._examples import examples
from tests.stats._streams import random_losses, seeds

BOTH = pytest.mark.parametrize("boundary", ["mixture", "stitched"])


def literal_stitched(
    loss_a: np.ndarray, loss_b: np.ndarray, alpha: float
) -> tuple[list[float], list[float], list[float]]:
    """The formulas for 0/1 losses, one row at a time."""
    c, m, eta, s = 2.0, 25.0, 2.0, 1.4
    k1 = (eta**0.25 + eta**-0.25) / math.sqrt(2)
    k2 = (math.sqrt(eta) + 1) / 2
    seen: list[float] = []
    variance, p = 0.0, 1.0
    means, half_widths, pvalues = [], [], []
    for d in loss_a - loss_b:
        gamma = math.fsum(seen) / len(seen) if seen else 0.0
        variance += (d - gamma) ** 2
        seen.append(d)
        t, x = len(seen), abs(math.fsum(seen))
        v = max(m, variance)
        log_h = s * math.log(math.log(v / m, eta) + 1) + math.log(zeta(s))
        level = log_h + math.log(2 / alpha)
        means.append(math.fsum(seen) / t)
        half_widths.append(
            (math.sqrt(k1**2 * v * level + (k2 * c * level) ** 2) + k2 * c * level) / t
        )
        p = min(p, 2 * math.exp(log_h - x * x / (k1**2 * v + 2 * k2 * c * x)))
        pvalues.append(p)
    return means, half_widths, pvalues


@examples(25)
@given(seeds, st.integers(1, 400), st.sampled_from([0.01, 0.05, 0.3]), st.booleans())
def test_stitched_boundary_by_its_formulas(seed, n_rows, alpha, real):
    loss_a, loss_b = random_losses(seed, n_rows, real=real)
    result = anytime_comparison(loss_a, loss_b, alpha=alpha, boundary="stitched", record_every=1)
    means, half_widths, pvalues = literal_stitched(loss_a, loss_b, alpha)
    np.testing.assert_allclose(result.differences, means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.half_widths, half_widths, rtol=1e-9)
    np.testing.assert_allclose(result.pvalues, pvalues, rtol=1e-9)


@BOTH
@examples(40)
@given(variance=st.floats(0, 1e7), alpha=st.floats(1e-4, 0.5))
def test_the_p_value_is_the_inverse_of_the_interval(boundary, variance, alpha):
    shape = BOUNDARIES[boundary]
    radius = shape.radius(np.array([variance]), alpha)
    assert np.exp(shape.log_pvalue(radius, np.array([variance]))) == pytest.approx(alpha, rel=1e-5)
    inside, outside = radius * (1 - 1e-6), radius * (1 + 1e-6)
    assert shape.log_pvalue(inside, np.array([variance])) > math.log(alpha)
    assert shape.log_pvalue(outside, np.array([variance])) < math.log(alpha)


@BOTH
@pytest.mark.parametrize("seed", range(6))
def test_certain_if_and_only_if_the_interval_excludes_zero(boundary: str, seed: int) -> None:
    loss_a, loss_b = random_losses(seed, 3000)
    shift = (0.0, 0.01, 0.2, 0.3, 0.4, 0.5)[seed]
    loss_a = np.maximum(loss_a, np.random.default_rng(seed).random(3000) < shift)
    result = anytime_comparison(loss_a, loss_b, boundary=boundary, record_every=1)
    excluded = np.abs(result.differences) > result.half_widths
    np.testing.assert_array_equal(result.pvalues < 0.05, np.maximum.accumulate(excluded))
    assert np.all(np.diff(result.pvalues) <= 0)
    if excluded.any():
        first = int(np.argmax(excluded))
        assert result.first_certain_row == first + 1
        assert result.first_certain_difference == pytest.approx(result.differences[first])
    else:
        assert result.first_certain_row is None
    assert excluded.any() == (seed >= 2)  # both cases occur
    assert (result.better is not None) == bool(excluded[-1])


def test_the_mixture_is_the_integral_it_stands_for() -> None:
    # exp(l S - psi(l) V), psi(l) = (-log(1 - c l) - c l) / c**2, mixed over u = 1 - c l.
    c, rho = 2.0, 50.0
    r = rho / c**2
    boundary = MixtureBoundary(rho)
    weight = integrate.quad(lambda u: u ** (r - 1) * np.exp(-r * u), 0, 1)[0]
    for total, variance in [(0.0, 0.0), (0.0, 3.0), (5.0, 10.0), (-4.0, 30.0), (60.0, 400.0)]:

        def mixed(u: float, total: float = total, variance: float = variance) -> float:
            slope = (1 - u) / c
            psi = (-np.log(u) - (1 - u)) / c**2
            return u ** (r - 1) * np.exp(-r * u + slope * total - psi * variance) / weight

        expected = integrate.quad(mixed, 0, 1, limit=200)[0]
        got = boundary.log_mixture(np.array([total]), np.array([variance]))
        assert got == pytest.approx(np.log(expected), abs=1e-8)
    assert boundary.log_mixture(np.zeros(1), np.zeros(1)) == pytest.approx(0, abs=1e-12)


def test_each_increment_is_an_exponential_supermartingale() -> None:
    # The inequality behind both boundaries: for d in [-1, 1] with mean mu, predicted by g,
    # E exp(l (d - mu) - psi(l) (d - g)**2) <= 1. Two-point laws are the extreme ones.
    c = 2.0
    slope = np.linspace(0, 1 / c, 50, endpoint=False)
    psi = (-np.log1p(-c * slope) - c * slope) / c**2
    for low, high in [(-1.0, 1.0), (-1.0, 0.0), (-0.2, 1.0), (0.3, 0.9)]:
        for share in np.linspace(0, 1, 21):
            mean = (1 - share) * low + share * high
            for guess in np.linspace(-1, 1, 11):
                expectation = sum(
                    p * np.exp(slope * (d - mean) - psi * (d - guess) ** 2)
                    for p, d in ((1 - share, low), (share, high))
                )
                assert np.all(expectation <= 1 + 1e-12)


def test_stitching_spends_no_more_than_alpha() -> None:
    # Epoch k, variance in [25 * 2**k, 25 * 2**(k + 1)), gets alpha / (2 h(k)) for each sign.
    h = [np.exp(StitchedBoundary()._log_h(np.array([25.0 * 2**k])))[0] for k in range(60)]
    tail = integrate.quad(lambda k: (k + 1) ** -1.4 / zeta(1.4), 60, np.inf)[0]
    assert sum(1 / value for value in h) + tail == pytest.approx(1, abs=2e-3)


def test_more_rows_than_are_worked_on_at_once() -> None:
    loss_a, loss_b = random_losses(0, 2 * ROWS_AT_ONCE + 100)
    whole = anytime_comparison(loss_a, loss_b)
    running = RunningAnytimeComparison()
    for start in range(0, len(loss_a), 1000):
        running.update(loss_a[start : start + 1000], loss_b[start : start + 1000])
    np.testing.assert_array_equal(running.result().differences, whole.differences)
    assert running.n_rows == whole.n_rows == 2 * ROWS_AT_ONCE + 100
    assert running.pvalue == pytest.approx(whole.pvalue, rel=1e-12)


def test_state_does_not_grow() -> None:
    running = RunningAnytimeComparison()
    sizes = []
    for _ in range(40):
        running.update(*random_losses(0, 10_000))
        sizes.append(len(pickle.dumps(running)))
    assert max(sizes) < 1.2 * 1024 * 5 * 8 + 2000


@BOTH
def test_the_unit_of_the_losses_does_not_matter(boundary: str) -> None:
    loss_a, loss_b = random_losses(5, 2000, real=True)
    one = anytime_comparison(loss_a, loss_b, boundary=boundary)
    scaled = anytime_comparison(
        80 * loss_a - 30, 80 * loss_b - 30, bounds=(-30, 50), boundary=boundary
    )
    np.testing.assert_allclose(scaled.pvalues, one.pvalues, rtol=1e-9)
    np.testing.assert_allclose(scaled.lower, 80 * one.lower, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaled.upper, 80 * one.upper, rtol=1e-9, atol=1e-9)
    assert scaled.first_certain_row == one.first_certain_row


@BOTH
def test_a_model_never_differs_from_itself(boundary: str) -> None:
    loss, _ = random_losses(0, 5000)
    result = anytime_comparison(loss, loss, boundary=boundary, names=("m", "m"), alpha=0.99)
    assert np.all(result.pvalues == 1)
    assert result.first_certain_row is None
    assert result.better is None


@BOTH
def test_swapping_the_models_mirrors_the_interval(boundary: str) -> None:
    loss_a, loss_b = random_losses(3, 4000, real=True)
    there = anytime_comparison(loss_a, loss_b, boundary=boundary)
    back = anytime_comparison(loss_b, loss_a, boundary=boundary)
    np.testing.assert_array_equal(there.lower, -back.upper)
    np.testing.assert_array_equal(there.pvalues, back.pvalues)
    assert {there.better, back.better} == {"A", "B"}


def test_the_interval_stays_within_the_possible_differences() -> None:
    result = anytime_comparison([0, 3], [3, 0], bounds=(0, 3))
    assert (result.lower[0], result.upper[0]) == (-3, 3)
    assert result.half_widths[0] > 6


def test_the_mixture_is_narrower_where_it_is_said_to_be() -> None:
    variance = np.geomspace(1, 1e5, 200)
    ratio = BOUNDARIES["mixture"].radius(variance, 0.05) / BOUNDARIES["stitched"].radius(
        variance, 0.05
    )
    assert 0.65 < ratio.min() < 0.75
    assert ratio.max() < 0.9


def test_certainty_can_be_lost_and_the_statement_says_so() -> None:
    wrong, right = np.ones(300), np.zeros(300)
    result = anytime_comparison(
        np.r_[right, wrong], np.r_[wrong, right], names=("early", "late"), record_every=100
    )
    assert result.significant
    assert result.better is None
    statement = str(result).replace("\n", " ")
    assert "No difference shown between early and late after 600 rows" in statement
    assert "with early ahead; over all rows it is no longer certain" in statement
    assert result.significant and " p " not in statement + repr(result)  # that of an earlier row
    changed = anytime_comparison(np.r_[right, wrong, wrong], np.r_[wrong, right, right])
    assert "with A ahead; the lead has changed since." in str(changed).replace("\n", " ")


def test_the_asymptotic_boundary_needs_no_bounds_and_inverts_its_pvalue() -> None:
    losses = np.random.default_rng(3).lognormal(0.0, 0.5, (2, 4000)) * [[100.0], [105.0]]
    result = anytime_comparison(*losses, boundary="asymptotic", record_every=500)
    t, d = np.arange(1.0, 4001), losses[0] - losses[1]
    before = np.concatenate([[0.0], np.cumsum(d)[:-1]]) / np.maximum(t - 1, 1)
    s = np.sqrt(np.cumsum((d - before) ** 2) / t)
    half = s * np.sqrt(2 * (t * 0.008 + 1) / (t**2 * 0.008) * np.log(np.sqrt(t * 0.008 + 1) / 0.05))
    assert np.isinf(result.half_widths[0])  # row 500
    np.testing.assert_allclose(result.half_widths[1:], half[999::500], rtol=1e-9)
    assert result.bounds == (-np.inf, np.inf)
    level = result.pvalue
    again = anytime_comparison(*losses, boundary="asymptotic", alpha=level, record_every=1)
    touched = np.abs(again.differences) / again.half_widths
    assert touched.max() == pytest.approx(1, abs=1e-6)
    assert anytime_comparison(*losses[:, :999], boundary="asymptotic").pvalue == 1
    assert anytime_comparison(losses[0], losses[0], boundary="asymptotic").pvalue == 1
    with pytest.raises(ValueError, match="is for losses without bounds"):
        anytime_comparison(*losses, boundary="asymptotic", bounds=(0, 5))


def test_the_asymptotic_boundary_keeps_its_level_where_means_are_nearly_normal(rng):
    streams = rng.exponential(size=(150, 2, 3000)) ** 1.5
    found = [anytime_comparison(*pair, boundary="asymptotic").significant for pair in streams]
    assert np.mean(found) <= 0.08
