"""The simulation of workers, failures and checkpoints, against formulas and a plain twin."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.simulate_cluster import (
    Checkpoints,
    Cluster,
    Group,
    best_interval,
    daly,
    divided,
    expected_seconds,
    groups_of,
    simulate,
    young,
)
from tests._examples import examples

MINUTE, HOUR = 60.0, 3600.0


def one_group_plainly(group: Group, cluster: Cluster, checkpoints: Checkpoints, seed: int) -> float:
    """One group on one worker, piece by piece."""
    gaps = np.random.default_rng([seed, 0])
    now = saved = 0.0
    left = cluster.mtbf * gaps.standard_exponential()  # until the next failure

    def failed(seconds: float) -> bool:
        nonlocal now, left
        if seconds <= left:
            now, left = now + seconds, left - seconds
            return False
        now += left + cluster.downtime
        left = cluster.mtbf * gaps.standard_exponential()
        return True

    begun = False
    while True:
        starting = checkpoints.load + group.skip * saved / group.work if begun else 0.0
        begun = True
        if failed(starting):
            continue
        while group.work - saved > checkpoints.interval:
            if failed(checkpoints.interval + checkpoints.cost):
                break
            saved += checkpoints.interval
        else:
            if not failed(group.work - saved):
                return now


@examples(30)
@given(
    seed=st.integers(0, 1000),
    skip=st.sampled_from([0.0, 20.0]),
    interval=st.sampled_from([7.0, 31.0, math.inf]),
    downtime=st.sampled_from([0.0, 3.0]),
)
def test_one_group_as_piece_by_piece(
    seed: int, skip: float, interval: float, downtime: float
) -> None:
    group = Group(work=200, skip=skip)
    cluster = Cluster(workers=1, mtbf=80, downtime=downtime)
    checkpoints = Checkpoints(interval=interval, cost=0.5, load=2)
    spent = simulate([group], cluster, checkpoints, seed=seed)
    plainly = one_group_plainly(group, cluster, checkpoints, seed)
    assert spent.seconds == pytest.approx(plainly, rel=1e-12)


@pytest.mark.parametrize("workers", [1, 3, 12, 40])
def test_without_failures_the_time_is_work_over_workers(workers: int) -> None:
    groups = [Group(work=60.0)] * 12
    spent = simulate(groups, Cluster(workers=workers), Checkpoints(interval=7))
    assert spent.seconds == 12 * 60 / min(workers, 12)
    assert (spent.work, spent.again, spent.failures) == (720, 0, 0)


def test_checkpoints_cost_what_they_cost() -> None:
    spent = simulate([Group(work=100)], Cluster(workers=1), Checkpoints(interval=10, cost=2))
    assert spent.seconds == 100 + 9 * 2  # there is none at the end
    assert spent.checkpoints == 18


@pytest.mark.parametrize(
    ("cost", "load", "downtime"), [(1, 0, 0), (20, 300, 0), (20, 30, 500), (0.1, 5, 120)]
)
def test_mean_time_agrees_with_the_exact_expectation(
    cost: float, load: float, downtime: float
) -> None:
    mtbf = HOUR
    checkpoints = Checkpoints(interval=10 * MINUTE, cost=cost, load=load)
    cluster = Cluster(workers=1, mtbf=mtbf, downtime=downtime)
    groups = [Group(work=24.05 * HOUR)]
    runs = [simulate(groups, cluster, checkpoints, seed=seed).seconds for seed in range(200)]
    expected = expected_seconds(groups[0].work, checkpoints, mtbf, downtime)
    assert abs(np.mean(runs) - expected) < 4 * np.std(runs) / math.sqrt(len(runs))


@pytest.mark.parametrize(("mtbf", "minutes"), [(24 * 60, 117), (6 * 60, 57), (15, 9.1)])
def test_daly_as_published(mtbf: float, minutes: float) -> None:
    """Captions of figures 3 to 5: a dump takes five minutes."""
    assert daly(5, mtbf) == pytest.approx(minutes, abs=0.5 if minutes > 10 else 0.05)


@pytest.mark.parametrize("cost", [0.01, 1, 30, 300])
def test_daly_minimises_the_expectation_and_young_nearly(cost: float) -> None:
    mtbf, work = 6 * HOUR, 2000 * HOUR

    def seconds(interval: float) -> float:
        return expected_seconds(work, Checkpoints(interval=interval, cost=cost), mtbf)

    tried = daly(cost, mtbf) * np.linspace(0.5, 2, 301)
    least = min(map(seconds, tried.tolist()))
    assert seconds(daly(cost, mtbf)) <= least * (1 + 1e-4)
    assert seconds(young(cost, mtbf)) <= least * (1 + 2e-3)


def test_best_simulated_interval_is_that_of_young_and_daly() -> None:
    groups = [Group(work=30 * 24 * HOUR)] * 4
    cluster = Cluster(workers=4, mtbf=2 * HOUR)
    checkpoints = Checkpoints(cost=30, load=10)
    best = best_interval(groups, cluster, checkpoints, seeds=range(3))
    assert 0.7 <= best.interval / daly(30, cluster.mtbf) <= 1.5
    assert best.shortest <= young(30, cluster.mtbf) <= best.longest
    chosen = replace(checkpoints, interval=best.interval)
    expected = expected_seconds(groups[0].work, chosen, cluster.mtbf)
    assert best.seconds == pytest.approx(expected, rel=0.02)


GROUPS = [Group(work=1000.0, skip=50.0)] * 7
CLUSTER = Cluster(workers=3, mtbf=400, downtime=8)
CHECKPOINTS = Checkpoints(interval=64, cost=1, load=4)


@examples(20)
@given(seed=st.integers(0, 10_000))
def test_every_second_of_the_workers_is_accounted_for(seed: int) -> None:
    spent = simulate(GROUPS, replace(CLUSTER, workers=1), CHECKPOINTS, seed=seed)
    parts = spent.work + spent.again + spent.checkpoints + spent.starting
    assert spent.work == pytest.approx(7000, rel=1e-12)
    assert spent.seconds == pytest.approx(parts + 8 * spent.failures, rel=1e-12)


@examples(20)
@given(seed=st.integers(0, 10_000), workers=st.integers(1, 12))
def test_the_same_in_another_unit_of_time_and_again(seed: int, workers: int) -> None:
    cluster = replace(CLUSTER, workers=workers)
    spent = simulate(GROUPS, cluster, CHECKPOINTS, seed=seed)
    assert simulate(GROUPS, cluster, CHECKPOINTS, seed=seed) == spent
    scaled = simulate(
        [Group(work=4 * group.work, skip=4 * group.skip) for group in GROUPS],
        Cluster(workers=workers, mtbf=4 * cluster.mtbf, downtime=4 * cluster.downtime),
        Checkpoints(interval=4 * 64, cost=4, load=4 * 4),
        seed=seed,
    )
    assert scaled.seconds == 4 * spent.seconds  # a power of two: not even rounding differs
    assert scaled.failures == spent.failures


@examples(20)
@given(seed=st.integers(0, 10_000), workers=st.integers(1, 6))
def test_failures_never_help(seed: int, workers: int) -> None:
    sturdy = simulate(GROUPS, Cluster(workers=workers), CHECKPOINTS)
    spent = simulate(GROUPS, replace(CLUSTER, workers=workers), CHECKPOINTS, seed=seed)
    assert spent.seconds >= sturdy.seconds


def test_spare_workers_take_over_at_once() -> None:
    downtime = 1e6
    alone = simulate(GROUPS[:1], replace(CLUSTER, workers=1, downtime=downtime), CHECKPOINTS)
    spare = simulate(GROUPS[:1], replace(CLUSTER, workers=400, downtime=downtime), CHECKPOINTS)
    assert alone.failures > 0 and alone.seconds > downtime > spare.seconds


def test_what_never_ends_is_given_up() -> None:
    cluster = Cluster(workers=1, mtbf=10)
    assert simulate(GROUPS, cluster, Checkpoints(), give_up=1e5).seconds == math.inf


@examples(20)
@given(lanes=st.lists(st.floats(1e-7, 1e-4), min_size=1, max_size=40), n_groups=st.integers(1, 12))
def test_lanes_are_divided_evenly_and_none_is_lost(lanes: list[float], n_groups: int) -> None:
    groups = divided(lanes, n_groups)
    assert sorted(lane for group in groups for lane in group) == sorted(lanes)
    assert len(groups) == min(n_groups, len(lanes))
    # Graham (1966): the last lane went to the group with the least work.
    assert sum(groups[0]) <= (sum(lanes) / n_groups + max(lanes)) * (1 + 1e-12)
    assert all(sum(group) <= sum(groups[0]) for group in groups)


def test_every_group_reads_the_stream_once() -> None:
    groups = groups_of([1e-6] * 200, workers=20, rows=1e6, row=1e-5, skip=2e-6)
    assert [group.work for group in groups] == pytest.approx([10 + 10] * 20)
    assert {group.skip for group in groups} == {2}
