"""How often does a certified leaderboard rule out a model while it is the best?

Simulated losses of many models on several streams of different lengths, with known expected losses
given everything before each row. A leaderboard is wrong if, at any of its looks, it rules out a
model whose mean expected loss so far is the smallest (or equal to it). The columns:

    wrong      leaderboards that were wrong at any look, with alpha = 5 %, and the 95 % interval of
               that rate (Wilson). At most 5 % are promised.
    normal     the same with normal intervals for one look, and Bonferroni's correction for all
               ordered pairs: what a leaderboard is not to be.
    power      models that are not the best at the end and are ruled out then, in % of these models.
    at         share of the streams after which half of these were ruled out, in %.

    python -m benchmarks.verify_leaderboard
    python -m benchmarks.verify_leaderboard --models 2 --boards 2000
    python -m benchmarks.verify_leaderboard --scenario equal --boards 100

Run from the top of the repository. 300 leaderboards of 100 models take some 10 minutes on one core.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

import skstream
from skstream.stats._pairs import wilson
from skstream.studies._leaderboard import N_LOOKS, _squared_differences, looks

#: Rows of the streams, each of which weighs the same.
LENGTHS = (3000, 2000, 1000)
ALPHA = 0.05
#: By how much the best is better than the others, where one is.
GAP = 0.1
# 0/1 losses of each model, and what was to be expected of each given everything before its row.
Drawn = tuple[np.ndarray, np.ndarray]
Draw = Callable[[np.random.Generator, int, int], Drawn]


def _drawn(rng: np.random.Generator, rates: np.ndarray, shared: float = 0.7) -> Drawn:
    """0/1 losses at known rates; most rows are as hard for one model as for all."""
    k, n = rates.shape
    u = np.where(rng.random((k, n)) < shared, rng.random(n), rng.random((k, n)))
    return (u < rates).astype(float), rates


def _dependent(
    rng: np.random.Generator, first: np.ndarray, rest: np.ndarray, n: int, shared: float = 0.7
) -> Drawn:
    """0/1 losses of rate `first` after a right answer, and `first + rest` after a wrong one."""
    k = len(first)
    u = np.where(rng.random((n, k)) < shared, rng.random((n, 1)), rng.random((n, k)))
    losses, expected = np.empty((n, k)), np.empty((n, k))
    last = np.zeros(k)
    for row in range(n):
        expected[row] = first + rest * last
        last = losses[row] = u[row] < expected[row]
    return losses.T, expected.T


def equal(rng: np.random.Generator, k: int, n: int) -> Drawn:
    """All are equal, with noise in common: whoever is ruled out is so wrongly."""
    return _drawn(rng, np.full((k, n), 0.2))


def bursts(rng: np.random.Generator, k: int, n: int) -> Drawn:
    """A wrong answer is often followed by the next; all are alike."""
    return _dependent(rng, np.full(k, 0.06), np.full(k, 0.6), n)


def one_best(rng: np.random.Generator, k: int, n: int) -> Drawn:
    """The first is better than all others, which are equal; noise in common."""
    rates = np.full((k, n), 0.2 + GAP)
    rates[0] = 0.2
    return _drawn(rng, rates)


def one_best_in_bursts(rng: np.random.Generator, k: int, n: int) -> Drawn:
    """The first has shorter bursts of wrong answers than all others."""
    rest = np.full(k, 0.6)
    rest[0] = 0.3
    return _dependent(rng, np.full(k, 0.06), rest, n)


def one_drift(rng: np.random.Generator, k: int, n: int) -> Drawn:
    """The first is the worst for a quarter of the rows, and the best from then on."""
    rates = np.full((k, n), 0.25)
    rates[0] = np.where(np.arange(n) < n // 4, 0.35, 0.15)
    return _drawn(rng, rates)


def changing_places(rng: np.random.Generator, k: int, n: int) -> Drawn:
    """Each is the best for a while, in turn."""
    turns = np.arange(n) / n * 2 * np.pi * 3
    phases = np.arange(k) / k * 2 * np.pi
    return _drawn(rng, 0.25 + 0.1 * np.sin(turns + phases[:, None]))


SCENARIOS: dict[str, Draw] = {
    "equal": equal,
    "bursts": bursts,
    "one best": one_best,
    "one best in bursts": one_best_in_bursts,
    "one drift": one_drift,
    "changing places": changing_places,
}


@dataclass(frozen=True)
class Outcome:
    """What one leaderboard did.

    Attributes
    ----------
    wrong, normal : bool
        Whether it, and one of normal intervals, ever ruled out a model that was the best then.
    out : ndarray of shape (n_looks,)
        Share, of the models that are not the best at the end, that were ruled out at each look; NaN
        where all are the best.
    """

    wrong: bool
    normal: bool
    out: np.ndarray


def board(draw: Draw, seed: int, n_models: int, lengths: tuple[int, ...] = LENGTHS) -> Outcome:
    """One leaderboard of simulated losses, compared with the truth."""
    rng = np.random.default_rng(seed)
    drawn = [draw(rng, n_models, n) for n in lengths]
    part = 1 / len(drawn)
    logs, _ = looks(iter([(losses, part) for losses, _ in drawn]), n_models)
    out = logs >= np.log(n_models / ALPHA)
    truth = sum(_at_looks(expected) for _, expected in drawn)
    best = truth <= truth.min(axis=1, keepdims=True) + 1e-9
    worse = ~best[-1]
    return Outcome(
        wrong=bool((out & best).any()),
        normal=bool((_normal(drawn, n_models) & best).any()),
        out=out[:, worse].mean(axis=1) if worse.any() else np.full(N_LOOKS, np.nan),
    )


def _at_looks(rows: np.ndarray) -> np.ndarray:
    """Sums of rows of shape (n_models, n) up to each look, over n; of shape (n_looks, n_models)."""
    n = rows.shape[1]
    stops = np.arange(1, N_LOOKS + 1) * n // N_LOOKS
    return np.asarray(rows.cumsum(axis=1)[:, stops - 1].T / n)


def _normal(drawn: list[Drawn], k: int) -> np.ndarray:
    """Who is ruled out at each look by a normal interval for one look, corrected for all pairs."""
    quantile = -ndtri(ALPHA / max(k * (k - 1), 1))
    squares, out = np.zeros((k, k)), np.zeros((N_LOOKS, k), dtype=bool)
    totals = sum(_at_looks(losses) for losses, _ in drawn)
    for look in range(N_LOOKS):
        for losses, _ in drawn:
            n = losses.shape[1]
            some = losses[:, look * n // N_LOOKS : (look + 1) * n // N_LOOKS]
            squares += _squared_differences(some) / n**2
        sums = totals[look][:, None] - totals[look][None, :]
        out[look] = (sums > quantile * np.sqrt(squares)).any(axis=1)
    return out


def outcomes(scenario: str, n_boards: int, n_models: int, seed: int = 0) -> Iterator[Outcome]:
    """Leaderboards of a scenario, each with its own seed."""
    for number in range(n_boards):
        yield board(SCENARIOS[scenario], seed + number, n_models)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--boards", type=int, default=300)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenario", choices=list(SCENARIOS), default=None)
    arguments = parser.parse_args()
    print(
        f"skstream {skstream.__version__}: {arguments.boards} leaderboards of {arguments.models} "
        f"models on streams of {', '.join(map(str, LENGTHS))} rows, in %"
    )
    print(f"{'':22}{'wrong':>7}{'95 % interval':>16}{'normal':>9}{'power':>8}{'at':>6}")
    for scenario in SCENARIOS if arguments.scenario is None else [arguments.scenario]:
        found = list(outcomes(scenario, arguments.boards, arguments.models, arguments.seed))
        n_wrong = sum(one.wrong for one in found)
        low, high = wilson(np.array(n_wrong / len(found)), np.array(len(found)), 0.95)
        power, at = "", ""
        out = np.mean([one.out for one in found], axis=0)
        if not np.isnan(out).any():
            half = np.flatnonzero(out >= 0.5)
            power = f"{100 * out[-1]:.1f}"
            at = f"{100 * (half[0] + 1) / N_LOOKS:.0f}" if len(half) else "never"
        normal = 100 * np.mean([one.normal for one in found])
        interval = f"{100 * low:.1f} to {100 * high:.1f}"
        print(
            f"{scenario:22}{100 * n_wrong / len(found):7.1f}{interval:>16}{normal:9.1f}"
            f"{power:>8}{at:>6}"
        )


if __name__ == "__main__":
    main()
