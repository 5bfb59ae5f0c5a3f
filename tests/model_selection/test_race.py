"""Races over losses: what they drop is what a literal reading of their promise drops."""

import itertools
import math
import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.model_selection._race import (
    ROWS_AT_ONCE,
    AnytimeRace,
    HalvingRace,
    squared_differences,
)
from skstream.stats._boundaries import MixtureBoundary
from tests._examples import examples

Made = Callable[[int], Any]


def losses_of(seed: int, n_candidates: int, n_rows: int, *, real: bool = False) -> np.ndarray:
    """Losses of candidates that differ by much or hardly, and depend on each other."""
    rng = np.random.default_rng(seed)
    rates = rng.choice([0.02, 0.1, 0.11, 0.13, 0.3, 0.6], n_candidates)
    shared = rng.random(n_rows)
    u = np.where(rng.random((n_candidates, n_rows)) < 0.5, shared, rng.random(n_rows))
    losses = (u < rates[:, None]).astype(float)
    return losses * rng.random((n_candidates, n_rows)) if real else losses


def raced(race: Any, losses: np.ndarray, cuts: Sequence[int] = (), at: int = 0) -> list[Any]:
    """Rows, numbers of those dropped there and by whom, from row `at` on, run as by a search."""
    found, n_rows = [], losses.shape[1]
    while (stop := race.next_look(at)) is not None and stop <= n_rows:
        edges = [at, *(cut for cut in sorted(set(cuts)) if at < cut < stop), stop]
        for begin, end in itertools.pairwise(edges):
            race.read(losses[race.left, begin:end])
        before, at = race.left, stop
        dropped = race.look(-losses[race.left, :stop].mean(axis=1))
        positions = [one.position for one in dropped]
        assert positions == sorted(positions)
        assert race.left.tolist() == np.delete(before, positions).tolist()
        by = [None if one.by is None else before[one.by] for one in dropped]
        found += zip([stop] * len(by), before[positions], by, strict=True)
    return found


def literally(losses: np.ndarray, indifference: float = 0.0, alpha: float = 0.05) -> list[Any]:
    """The same from the confidence sequence of each ordered pair, formed row by row."""
    k, n_rows = losses.shape
    boundary, pair_alpha = MixtureBoundary(tuning=10.0, scale=1.0), alpha / (k * (k - 1))
    looks = [n for e in range(7, 20) for j in (2, 3) if (n := j * 2**e) <= n_rows]
    at = np.array(looks, dtype=int)
    totals = losses.cumsum(axis=1)
    lower = {}
    for c, m in itertools.permutations(range(k), 2):
        differences = losses[c] - losses[m]
        sums, variance = differences.cumsum()[at - 1], (differences**2).cumsum()[at - 1]
        lower[c, m] = (sums - boundary.radius(variance, 2 * pair_alpha)) / at
    left, regret, found = list(range(k)), [0.0] * k, []
    for number, row in enumerate(looks):
        ranks = {c: (totals[c, row - 1], c) for c in left}
        for c in sorted(left, key=ranks.__getitem__, reverse=True):  # the worst, the later first
            ahead = [m for m in left if ranks[m] < ranks[c]]
            by = max(ahead, key=lambda m: lower[c, m][number], default=None)
            if by is not None and lower[c, by][number] > regret[c] - indifference:
                left.remove(c)
                found.append((row, c, by))
                regret[by] = max(regret[by], regret[c] - lower[c, by][number])
    return found


@examples(40)
@given(
    seed=st.integers(0, 10**6),
    n_candidates=st.integers(2, 9),
    indifference=st.sampled_from([0.0, 0.05, 0.1]),
    alpha=st.sampled_from([0.05, 0.5]),
    real=st.booleans(),
    twins=st.booleans(),
)
def test_dropped_as_the_confidence_sequences_of_all_pairs_say(
    seed: int, n_candidates: int, indifference: float, alpha: float, real: bool, twins: bool
) -> None:
    losses = losses_of(seed, n_candidates, 4_000, real=real)
    if twins:  # they are indifferent early, and carry much regret then
        losses = losses[np.random.default_rng(seed).integers(0, n_candidates, n_candidates)]
    race = AnytimeRace(n_candidates, indifference=indifference, alpha=alpha)
    assert sorted(raced(race, losses)) == sorted(literally(losses, indifference, alpha))


@examples(12)
@given(
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(1, 9_999), max_size=20),
    real=st.booleans(),
)
def test_the_division_into_calls_changes_nothing(seed: int, cuts: list[int], real: bool) -> None:
    losses = losses_of(seed, 6, 10_000, real=real)
    whole, cut = (AnytimeRace(6, indifference=0.01) for _ in range(2))
    assert raced(cut, losses, cuts) == raced(whole, losses)
    for name in ("left", "_totals", "_variances", "_regrets"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name))


@examples(25)
@given(seed=st.integers(0, 10**6), real=st.booleans(), data=st.data())
def test_the_order_of_candidates_changes_nothing(
    seed: int, real: bool, data: st.DataObject
) -> None:
    losses = losses_of(seed, 6, 3_000, real=real)
    order = np.array(data.draw(st.permutations(range(6))))
    found = [(row, order[c]) for row, c, _ in raced(AnytimeRace(6), losses[order])]
    assert sorted(found) == sorted((row, c) for row, c, _ in raced(AnytimeRace(6), losses))


@examples(25)
@given(seed=st.integers(0, 10**6), indifference=st.sampled_from([0.0, 0.05, 0.99]))
def test_the_leader_is_never_dropped(seed: int, indifference: float) -> None:
    losses = losses_of(seed, 5, 1_000)
    race, at = AnytimeRace(5, indifference=indifference), 0
    while (stop := race.next_look(at)) is not None and stop <= 1_000:
        race.read(losses[race.left, at:stop])
        leader = race.left[losses[race.left, :stop].mean(axis=1).argmin()]
        race.look()
        assert leader in race.left
        at = stop


@pytest.mark.parametrize("make", [AnytimeRace, lambda k: HalvingRace(k, 2_000)])
def test_a_pickled_race_goes_on(make: Made) -> None:
    losses = losses_of(3, 8, 2_000)
    first = make(8)
    found = raced(first, losses[:, :300])  # the last look is that at row 256, or 250
    first.read(losses[first.left, 256:270])
    second = pickle.loads(pickle.dumps(first))
    rest = [raced(race, losses, at=270) for race in (first, second)]
    assert rest[0] == rest[1]
    assert found + rest[1] == raced(make(8), losses)


def test_of_identical_candidates_indifference_keeps_the_first() -> None:
    losses = np.tile(losses_of(0, 1, 5_000), (40, 1))
    race = AnytimeRace(40, indifference=0.01)
    assert [(c, by) for _, c, by in raced(race, losses)] == [(c, 0) for c in range(1, 40)]


def test_indifferences_do_not_add_up() -> None:
    losses = np.random.default_rng(7).random((2, 10_000)) < [[0.3], [0.28]]
    alone = raced(AnytimeRace(2, indifference=0.05), losses)
    assert [(c, by) for _, c, by in alone] == [(0, 1)]
    assert alone[0][0] <= 1024
    # Its twin is dropped early, when it could be better by almost the indifference.
    race = AnytimeRace(3, indifference=0.05)
    with_twin = raced(race, losses[[0, 0, 1]])
    assert [(c, by) for _, c, by in with_twin] == [(1, 0), (0, 2)]
    assert with_twin[1][0] > 5_000
    assert 0.04 < race._regrets[0] < 0.05


def test_indifference_drops_near_ones() -> None:
    losses = np.random.default_rng(0).random((3, 5_000)) < [[0.2], [0.22], [0.6]]
    assert [c for _, c, _ in raced(AnytimeRace(3), losses)] == [2]
    assert [c for _, c, _ in raced(AnytimeRace(3, indifference=0.1), losses)] == [2, 1]


def test_who_drops_whom() -> None:
    losses = np.array([np.tile([0, 1], 50), np.zeros(100), np.ones(100)])
    race = AnytimeRace(3)
    race.read(losses[:, :64])
    assert [(one.position, one.by) for one in race.look()] == [(0, 1), (2, 1)]


def test_a_candidate_that_failed_leaves() -> None:
    losses = losses_of(2, 6, 3_000)
    race = AnytimeRace(6)
    race.read(losses[:, :50])
    race.leave([1, 4])
    assert race.left.tolist() == [0, 2, 3, 5]
    race.read(losses[race.left, 50:64])
    race.look()
    assert race.n_rows == 64
    race.leave([])


@pytest.mark.parametrize("bounds", [(0.0, 10.0), (-3.0, 2.0)])
def test_losses_are_taken_as_parts_of_their_range(bounds: tuple[float, float]) -> None:
    low, high = bounds
    losses = losses_of(7, 5, 4_000)[[0, 1, 2, 2, 3, 4]]
    race = AnytimeRace(6, bounds=bounds, indifference=0.08 * (high - low))
    plain = AnytimeRace(6, indifference=0.08)
    assert raced(race, low + (high - low) * losses) == raced(plain, losses)
    assert plain._regrets.any()
    np.testing.assert_allclose(race._regrets, (high - low) * plain._regrets)


def test_blocks_longer_than_the_buffer() -> None:
    losses = losses_of(11, 3, 3 * ROWS_AT_ONCE)
    race = AnytimeRace(3)
    race.read(losses)
    race.look()
    np.testing.assert_array_equal(race._totals, losses[race.left].sum(axis=1))


@examples(10)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 500))
def test_squared_differences(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(37)
    for rows in (rng.random((37, n)), rng.integers(0, 2, (37, n)).astype(float)):
        found = squared_differences(rows)
        plain = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(found, plain, rtol=1e-12)
        np.testing.assert_array_equal(squared_differences(rows[order]), found[order][:, order])


@pytest.mark.parametrize("factor", [1.4, 2.3, 2.8, 3.0, 4.1, 4.6])
def test_halving_keeps_a_part_of_the_decimal_factor(factor: float) -> None:
    for n in range(2, 300):
        race = HalvingRace(n, 800, factor=factor)
        race.look(np.arange(n, dtype=np.float64))
        assert len(race.left) == math.ceil(Fraction(n) / Fraction(str(factor)))


def test_halving_keeps_the_best_part() -> None:
    race = HalvingRace(10, 800)
    assert race.looks == (100, 200, 400)
    scores = np.array([0.5, np.nan, 0.9, 0.9, 0.1, 0.2, 0.9, 0.9, 0.3, 0.0])
    dropped = race.look(scores)
    assert race.left.tolist() == [2, 3, 6, 7]  # a third, rounded up
    assert [(one.position, one.by) for one in dropped] == [(p, None) for p in (0, 1, 4, 5, 8, 9)]
    race.look(np.array([[0.9, 0.9, 0.9, 0.9], [1, 3, 2, 3]]))  # ties: the second line, the earlier
    assert race.left.tolist() == [3, 7]
    assert race.next_look(200) == 400
    race.look(np.array([np.nan, np.nan]))
    assert race.left.tolist() == [3]
    assert race.next_look(200) is None
