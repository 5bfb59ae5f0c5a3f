"""Q statistic."""

import numpy as np
import pytest

from skstream.forgetting import Cumulative, FadingFactor, SlidingWindow
from skstream.stats import q_statistic
from tests.stats._streams import random_losses

MECHANISMS = [Cumulative(), SlidingWindow(25), FadingFactor(0.9)]


def test_hand_worked() -> None:
    result = q_statistic([0, 2, 1, 0], [0, 0, 1, 2])
    expected = [0.0, np.inf, np.log(3), 0.0]
    np.testing.assert_allclose(result.values, expected)
    assert q_statistic([0, 0], [0, 1]).values.tolist() == [0, -np.inf]
    faded = q_statistic([1, 0, 1], [0, 1, 0], forgetting=FadingFactor(0.5))
    np.testing.assert_allclose(faded.values, [np.inf, np.log(0.5), np.log(1.25 / 0.5)])
    window = q_statistic([1, 0, 1, 0, 0], [0, 1, 1, 0, 0], forgetting=SlidingWindow(2))
    np.testing.assert_allclose(window.values, [np.inf, 0, -np.log(2), 0, 0], atol=1e-15)


def test_ratios_beyond_the_range_of_floats() -> None:
    assert q_statistic([1e200], [1e-200]).value == pytest.approx(400 * np.log(10))


@pytest.mark.parametrize("forgetting", MECHANISMS, ids=lambda f: f.name)
def test_swapping_the_models_changes_the_sign(forgetting) -> None:
    loss_a, loss_b = random_losses(4, 300, real=True)
    there = q_statistic(loss_a, loss_b, forgetting=forgetting)
    back = q_statistic(loss_b, loss_a, forgetting=forgetting)
    np.testing.assert_array_equal(there.values, -back.values)
    assert {there.ahead, back.ahead} == {"A", "B"}
    assert q_statistic(loss_a, loss_a, forgetting=forgetting, names=("m", "m")).ahead is None


def test_equal_losses_are_said_to_be_equal_and_not_to_have_a_sign():
    assert "Q is 0 at 100% of the 4 checkpoints" in " ".join(
        str(q_statistic([0, 1, 1, 0], [0, 1, 1, 0])).split()
    )
    assert "Q has this sign at 25% of the 4 checkpoints" in " ".join(
        str(q_statistic([0, 1, 1, 1], [0, 1, 1, 0])).split()
    )
