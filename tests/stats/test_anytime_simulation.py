"""Does the anytime comparison keep its promise? Simulated streams whose truth is known.

`benchmarks/bench_anytime.py` repeats this with more and longer streams.
"""

from collections.abc import Callable

import numpy as np
import pytest

from skstream.stats import anytime_comparison
from tests._examples import newest_alone
from tests.stats._simulate import FAIR, UNFAIR, draw_losses

pytestmark = newest_alone

N_STREAMS, N_ROWS, ALPHA = 80, 2000, 0.1

Interval = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def anytime(boundary: str) -> Interval:
    def interval(loss_a: np.ndarray, loss_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        result = anytime_comparison(loss_a, loss_b, alpha=ALPHA, boundary=boundary, record_every=1)
        return result.lower, result.upper

    return interval


def for_one_look(loss_a: np.ndarray, loss_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The textbook interval of the mean of paired differences, after at least 30 rows."""
    difference, t = loss_a - loss_b, np.arange(1, len(loss_a) + 1)
    mean = np.cumsum(difference) / t
    variance = np.cumsum(difference**2) / t - mean**2
    half_width = np.where(t < 30, 1.0, 1.645 * np.sqrt(variance / t))
    return mean - half_width, mean + half_width


def share_of_misses(interval: Interval, scenario: str) -> float:
    """Share of streams on which the interval misses the truth at any row."""
    misses = 0
    for seed in range(N_STREAMS):
        loss_a, loss_b, expected = draw_losses(scenario, seed, N_ROWS)
        lower, upper = interval(loss_a, loss_b)
        truth = np.cumsum(expected) / np.arange(1, N_ROWS + 1)
        misses += bool(np.any((truth < lower - 1e-12) | (truth > upper + 1e-12)))
    return misses / N_STREAMS


@pytest.mark.parametrize("boundary", ["mixture", "stitched"])
@pytest.mark.parametrize("scenario", [*FAIR, *UNFAIR])
def test_the_interval_holds_at_all_rows_at_once(boundary: str, scenario: str) -> None:
    assert share_of_misses(anytime(boundary), scenario) <= ALPHA


@pytest.mark.parametrize("scenario", [*FAIR, *UNFAIR])
def test_the_check_catches_an_interval_for_one_look(scenario: str) -> None:
    assert share_of_misses(for_one_look, scenario) > 2 * ALPHA


# A simulation of the stitched boundary apart from this library gave 1,100 rows.
@pytest.mark.parametrize(("boundary", "rows"), [("stitched", 1100), ("mixture", 600)])
def test_real_differences_are_found(boundary: str, rows: int, rng: np.random.Generator) -> None:
    first = []
    for _ in range(40):
        difference = rng.choice([-1, 0, 1], 5000, p=[0.025, 0.9, 0.075])
        result = anytime_comparison(difference > 0, difference < 0, boundary=boundary)
        assert result.better == "B"
        first.append(result.first_certain_row)
    assert np.median(first) == pytest.approx(rows, rel=0.2)
