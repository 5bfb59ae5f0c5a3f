"""Time of a long evaluation on workers that fail, by simulation, and how often to checkpoint.

Lanes (a model in a fold) are divided into groups, one task each, that read the whole stream. A
worker fails after an exponential time; its group goes on from its last checkpoint as soon as a
worker is free. The expected time by workers and mean time between failures of one worker, and the
checkpoint interval that minimises it, are printed beside what formulas say of one group on one
worker: Young (1974), Daly (2006) and the exact expectation.

    python -m benchmarks.simulate_cluster                 # 10^10 rows x 10 folds x 20 models
    python -m benchmarks.simulate_cluster --looped 4      # four of the models run call by call
    python -m benchmarks.simulate_cluster --rows 1e8 --workers 1 2 4 --mtbf-days 0.05 1

"no failure" is the longest group's work; "best" the mean time at the best interval, of which the
workers lost the share "lost" (checkpoints, work done again, starts); then the mean time at the
interval `--every`, and the exact expectation of the longest group alone, at the best interval,
without rows to pass over. "as good": the intervals tried that cost at most 1 % more.

The defaults are figures of `bench_scale.py`; give those of your machine (seconds per row etc.).

References
----------
J. W. Young (1974). A first order approximation to the optimum checkpoint interval.
Communications of the ACM 17(9), 530-531.
J. T. Daly (2006). A higher order estimate of the optimum checkpoint interval for restart dumps.
Future Generation Computer Systems 22(3), 303-312.
"""

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush, heapreplace

import numpy as np

HOUR, DAY = 3600.0, 86400.0
#: Intervals that are tried, as multiples of Daly's.
FACTORS = tuple(2.0**power for power in (-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3))
#: Intervals this much slower than the best are called as good.
AS_GOOD = 0.01
_END, _FAILURE, _REPLACED = range(3)


@dataclass(frozen=True, kw_only=True)
class Group:
    """What one task computes: seconds of work without any failure or checkpoint.

    `skip` is how long it takes to pass over the whole stream without using it, as a group does,
    up to its checkpoint, when it starts again.
    """

    work: float
    skip: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """Seconds of work between checkpoints, to write one, and to start again from one."""

    interval: float = math.inf
    cost: float = 0.0
    load: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Workers, the mean seconds between failures of one, and until a failed one is replaced."""

    workers: int
    mtbf: float = math.inf
    downtime: float = 0.0


@dataclass(kw_only=True)
class Spent:
    """How long an evaluation took, and what the workers' seconds were spent on."""

    seconds: float = 0.0
    work: float = 0.0
    again: float = 0.0  # work, and parts of checkpoints, that a failure destroyed
    checkpoints: float = 0.0
    starting: float = 0.0  # loading checkpoints and passing over rows
    failures: int = 0  # of workers that had work


@dataclass
class _Worker:
    gaps: np.random.Generator
    mtbf: float
    fails: float = math.inf
    group: int | None = None
    since: float = 0.0  # when it took its group

    def begin(self, now: float) -> None:
        """Draw when it will fail."""
        if self.mtbf < math.inf:
            self.fails = now + self.mtbf * self.gaps.standard_exponential()


@dataclass
class _Task:
    group: Group
    checkpoints: Checkpoints
    saved: float = 0.0
    begun: bool = False
    starting: float = 0.0

    def start(self) -> float:
        """Begin on a worker; returns the seconds to the end if nothing fails."""
        share = self.saved / self.group.work if self.group.work else 0.0
        self.starting = self.checkpoints.load + share * self.group.skip if self.begun else 0.0
        self.begun = True
        left = self.group.work - self.saved
        return self.starting + left + self._n_checkpoints() * self.checkpoints.cost

    def _n_checkpoints(self) -> int:
        """Checkpoints from here to the end, at which there is none."""
        left = self.group.work - self.saved
        return max(0, math.ceil(left / self.checkpoints.interval) - 1)

    def finish(self, spent: Spent) -> None:
        spent.starting += self.starting
        spent.work += self.group.work - self.saved
        spent.checkpoints += self._n_checkpoints() * self.checkpoints.cost

    def fail(self, seconds: float, spent: Spent) -> None:
        """Lose what came after the last checkpoint, `seconds` after the start."""
        interval, cost = self.checkpoints.interval, self.checkpoints.cost
        spent.failures += 1
        spent.starting += min(seconds, self.starting)
        seconds = max(0.0, seconds - self.starting)
        whole = min(int(seconds // (interval + cost)), self._n_checkpoints())
        if whole:  # not inf * 0
            self.saved += whole * interval
            spent.work += whole * interval
            spent.checkpoints += whole * cost
            seconds -= whole * (interval + cost)
        spent.again += seconds


def simulate(
    groups: Sequence[Group],
    cluster: Cluster,
    checkpoints: Checkpoints,
    *,
    seed: int = 0,
    give_up: float = math.inf,
) -> Spent:
    """Simulate one evaluation event by event.

    The failures of a worker depend on the seed and its number alone, so that two settings are
    compared under the same failures. After `give_up` seconds the evaluation counts as endless.
    """
    workers = [
        _Worker(np.random.default_rng([seed, number]), cluster.mtbf)
        for number in range(cluster.workers)
    ]
    for worker in workers:
        worker.begin(0.0)
    tasks = [_Task(group, checkpoints) for group in groups]
    waiting = list(range(len(groups)))  # a heap: the groups that are named first, first
    idle = list(range(len(workers)))  # a heap
    # A heap of (time, kind, worker): at one time, ends come before failures.
    events = [(worker.fails, _FAILURE, k) for k, worker in enumerate(workers)]
    heapify(events)
    spent, now, n_left = Spent(), 0.0, len(groups)
    while n_left:
        while idle and waiting:
            k, group = heappop(idle), heappop(waiting)
            workers[k].group, workers[k].since = group, now
            end = now + tasks[group].start()
            if end <= workers[k].fails:
                heappush(events, (end, _END, k))
        now, kind, k = heappop(events)
        if now > give_up:
            return replace(spent, seconds=math.inf)
        worker = workers[k]
        held, worker.group = worker.group, None
        if kind == _END:
            assert held is not None
            tasks[held].finish(spent)
            n_left -= 1
            heappush(idle, k)
        elif kind == _FAILURE:
            if held is None:
                idle.remove(k)
                heapify(idle)
            else:
                tasks[held].fail(now - worker.since, spent)
                heappush(waiting, held)
            heappush(events, (now + cluster.downtime, _REPLACED, k))
        else:
            worker.begin(now)
            heappush(events, (worker.fails, _FAILURE, k))
            heappush(idle, k)
    return replace(spent, seconds=now)


def young(cost: float, mtbf: float) -> float:
    """Interval of Young (1974): seconds of work between checkpoints."""
    return math.sqrt(2 * cost * mtbf)


def daly(cost: float, mtbf: float) -> float:
    """Interval of Daly (2006, equation 37): Young's with terms of higher order."""
    if cost >= 2 * mtbf:
        return mtbf
    ratio = cost / (2 * mtbf)
    return young(cost, mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - cost


def expected_seconds(
    work: float, checkpoints: Checkpoints, mtbf: float, downtime: float = 0.0
) -> float:
    """Exact expectation of one group on one worker, without rows to pass over.

    A piece of w seconds with its checkpoint is repeated until no failure comes in it, which takes
    exp(load / mtbf) (mtbf + downtime) (exp(w / mtbf) - 1) seconds on average (Daly 2006, with the
    time until the worker is replaced); the last piece has no checkpoint.
    """
    interval, cost = checkpoints.interval, checkpoints.cost
    n_whole = max(0, math.ceil(work / interval) - 1)
    last = work - (n_whole * interval if n_whole else 0.0)
    if mtbf == math.inf:
        return work + n_whole * cost
    tries = n_whole * math.expm1((interval + cost) / mtbf) if n_whole else 0.0
    tries += math.expm1(last / mtbf)
    return math.exp(checkpoints.load / mtbf) * (mtbf + downtime) * tries


def divided(lanes: Iterable[float], n_groups: int) -> list[list[float]]:
    """Divide seconds per row of lanes into groups that take about as long, the longest first."""
    loads = [(0.0, k) for k in range(n_groups)]
    groups: list[list[float]] = [[] for _ in range(n_groups)]
    for seconds in sorted(lanes, reverse=True):
        load, k = loads[0]
        groups[k].append(seconds)
        heapreplace(loads, (load + seconds, k))
    return sorted((group for group in groups if group), key=sum, reverse=True)


def groups_of(
    lanes: Sequence[float], workers: int, *, rows: float, row: float, skip: float
) -> list[Group]:
    """Groups of lanes, as many as workers at most; each reads the stream once.

    `row` is what a row costs a group, whatever its lanes, and `skip` what it costs to pass over it.
    """
    made = divided(lanes, min(workers, len(lanes)))
    return [Group(work=rows * (row + sum(group)), skip=rows * skip) for group in made]


@dataclass(frozen=True, kw_only=True)
class Best:
    """The best of the intervals tried, and those as good."""

    interval: float
    shortest: float
    longest: float
    seconds: float


def best_interval(
    groups: Sequence[Group],
    cluster: Cluster,
    checkpoints: Checkpoints,
    *,
    seeds: Sequence[int] = range(5),
    factors: Sequence[float] = FACTORS,
) -> Best:
    """Simulate with intervals around Daly's, under the same failures, and compare mean times."""
    middle = daly(checkpoints.cost, cluster.mtbf)
    least = sum(group.work for group in groups) / cluster.workers
    give_up = 1000 * (least + max(group.work for group in groups))
    times = {}
    for factor in factors:
        tried = Checkpoints(interval=factor * middle, cost=checkpoints.cost, load=checkpoints.load)
        runs = [simulate(groups, cluster, tried, seed=seed, give_up=give_up) for seed in seeds]
        times[tried.interval] = float(np.mean([run.seconds for run in runs]))
    best = min(times, key=lambda interval: times[interval])
    good = [each for each, seconds in times.items() if seconds <= (1 + AS_GOOD) * times[best]]
    return Best(interval=best, shortest=min(good), longest=max(good), seconds=times[best])


def in_words(seconds: float) -> str:
    """Seconds in the largest unit that leaves at least 1."""
    if seconds == math.inf:
        return "never"
    for name, unit in (("y", 365.25 * DAY), ("d", DAY), ("h", HOUR), ("min", 60.0)):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"


def print_table(options: argparse.Namespace) -> None:
    kernel = options.models - options.looped
    lanes = [options.loop_lane] * options.looped * options.folds
    lanes += [options.lane] * kernel * options.folds
    print(
        f"{options.rows:.3g} rows x {options.folds} folds x {options.models} models, "
        f"{options.looped} of them call by call: {len(lanes)} lanes"
    )
    print(
        f"seconds per row: {options.row:.2g} and {options.lane:.2g} per lane, "
        f"{options.loop_lane:.2g} call by call; to pass over {options.skip:.2g}\n"
        f"seconds: checkpoint {options.save:.2g} and {options.save_lane:.2g} per lane, start from "
        f"one {options.load:.2g}, new worker {options.downtime:.3g}\n"
    )
    heads = ("workers", "MTBF", "no failure", "best", in_words(options.every), "one group")
    found = ("lost", "interval", f"as good within {AS_GOOD:.0%}", "Young", "Daly")
    print(("{:>8}{:>8}" + "{:>11}" * 4 + "{:>8}{:>10}{:>22}{:>10}{:>10}").format(*heads, *found))
    seeds = range(options.seed, options.seed + options.repeat)
    for workers in options.workers:
        groups = groups_of(lanes, workers, rows=options.rows, row=options.row, skip=options.skip)
        longest = max(group.work for group in groups)
        given = Checkpoints(
            interval=options.every,
            cost=options.save + options.save_lane * math.ceil(len(lanes) / len(groups)),
            load=options.load,
        )
        for days in options.mtbf_days:
            cluster = Cluster(workers=workers, mtbf=days * DAY, downtime=options.downtime)
            best = best_interval(groups, cluster, given, seeds=seeds)
            chosen = replace(given, interval=best.interval)
            runs = [simulate(groups, cluster, chosen, seed=seed) for seed in seeds]
            busy = sum(r.work + r.again + r.checkpoints + r.starting for r in runs)
            usual = np.mean([simulate(groups, cluster, given, seed=s).seconds for s in seeds])
            times = (
                longest,
                best.seconds,
                float(usual),
                expected_seconds(longest, chosen, cluster.mtbf, cluster.downtime),
            )
            print(
                f"{workers:>8,}{in_words(cluster.mtbf):>8}"
                + "".join(f"{in_words(seconds):>11}" for seconds in times)
                + f"{1 - sum(r.work for r in runs) / busy:>8.2%}{in_words(best.interval):>10}"
                f"{in_words(best.shortest) + ' to ' + in_words(best.longest):>22}"
                f"{in_words(young(given.cost, cluster.mtbf)):>10}"
                f"{in_words(daly(given.cost, cluster.mtbf)):>10}",
                flush=True,
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=1e10)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--looped", type=int, default=0, help="models that run call by call")
    parser.add_argument("--row", type=float, default=9e-7, help="seconds per row of a group")
    parser.add_argument("--skip", type=float, default=3.4e-7, help="seconds to pass over a row")
    parser.add_argument("--lane", type=float, default=1.1e-7, help="seconds per row and lane")
    parser.add_argument("--loop-lane", type=float, default=4.0e-4, help="the same, call by call")
    parser.add_argument("--save", type=float, default=0.01, help="seconds of any checkpoint")
    parser.add_argument("--save-lane", type=float, default=0.0006, help="the same, per lane")
    parser.add_argument("--every", type=float, default=600.0, help="another interval, in seconds")
    parser.add_argument("--load", type=float, default=5.0, help="seconds to start from one")
    parser.add_argument("--downtime", type=float, default=120.0, help="until a new worker is there")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 10, 50, 200])
    parser.add_argument("--mtbf-days", type=float, nargs="+", default=[0.25, 1, 30])
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    print_table(parser.parse_args())


if __name__ == "__main__":
    main()
