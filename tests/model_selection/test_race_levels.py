"""Races on losses with known expectations: hardly ever is a drop wrong; a broken twin's often is.

The shares over 1,000 races of each scenario are what ``python -m benchmarks.race_levels`` prints.
"""

import numpy as np
import pytest

from benchmarks.race_levels import SCENARIOS, NormalRace, equal, race_on, races
from skstream.model_selection._race import AnytimeRace


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_drop_of_the_best(scenario: str) -> None:
    found = [races(scenario, seed, 2_000)["anytime"] for seed in range(3)]
    assert not any(one.wrong or one.wrong_pair for one in found)


def test_at_a_large_alpha_drops_of_equals_stay_below_it() -> None:
    wrong = {AnytimeRace: 0, NormalRace: 0}
    for seed in range(20):
        losses, expected = equal(np.random.default_rng(seed), 2_000)
        for kind in wrong:
            wrong[kind] += race_on(kind(len(losses), alpha=0.5), losses, expected, 0.0).wrong
    assert wrong[AnytimeRace] <= 10
    assert wrong[NormalRace] > 13
