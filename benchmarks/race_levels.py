"""How often does a race drop the candidate that is in truth the best?

1,000 simulated races per scenario, with known expected losses given everything before each row. A
drop is wrong if, over the rows so far, the expected losses of the candidate dropped were smaller
than those of every other candidate left, by at least the indifference. The columns:

    anytime    races of AnytimeRace, alpha = 5 %, with a wrong drop. At most 5 % are promised.
    pairs      the same, where the one that dropped it was worse by at least the indifference: more
               than a wrong drop, and within the same 5 %.
    normal     the same looks and union bound, with normal intervals for one look.
    halving    races of HalvingRace, that promises nothing.
    later      races of AnytimeRace that dropped the candidate with the smallest expected losses
               over all rows, up to the last: after a drift it may be one that was worse before.
    work       rows that the candidates read in AnytimeRace, as a share of all.

    python -m benchmarks.race_levels
    python -m benchmarks.race_levels --races 200 --rows 5000

Run from the top of the repository. 1,000 races take some minutes on one core.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from skstream.model_selection._race import AnytimeRace, Dropped, HalvingRace

N_CANDIDATES = 6
INDIFFERENCE = 0.02
# Losses of each candidate, and what was to be expected of each given everything before its row.
Drawn = tuple[np.ndarray, np.ndarray]


def _drawn(rng: np.random.Generator, rates: np.ndarray, shared: float = 0.5) -> Drawn:
    """0/1 losses at known rates; a share of the rows is as hard for one candidate as for all."""
    k, n = rates.shape
    hard = rng.random(n)
    u = np.where(rng.random((k, n)) < shared, hard, rng.random((k, n)))
    return (u < rates).astype(float), rates


def equal(rng: np.random.Generator, n: int) -> Drawn:
    """All are equally good: whoever is dropped is dropped wrongly."""
    return _drawn(rng, np.full((N_CANDIDATES, n), 0.2))


def best_by_the_indifference(rng: np.random.Generator, n: int) -> Drawn:
    """The first is better than the others by just the indifference."""
    rates = np.full((N_CANDIDATES, n), 0.2)
    rates[0] -= INDIFFERENCE
    return _drawn(rng, rates)


def common_drift(rng: np.random.Generator, n: int) -> Drawn:
    """All lose their grip together, and the first is better by the indifference all the time."""
    rate = np.where(np.arange(n) % (n // 4) < n // 8, 0.05, 0.4)
    rates = np.tile(rate, (N_CANDIDATES, 1))
    rates[0] -= INDIFFERENCE
    return _drawn(rng, rates)


def changing_places(rng: np.random.Generator, n: int) -> Drawn:
    """Each is the best for a while, in turn."""
    turns = np.arange(n) / n * 2 * np.pi * 3
    phases = np.arange(N_CANDIDATES) / N_CANDIDATES * 2 * np.pi
    return _drawn(rng, 0.25 + 0.1 * np.sin(turns + phases[:, None]))


def one_drift(rng: np.random.Generator, n: int) -> Drawn:
    """The first is the worst for a quarter of the rows, and the best from then on."""
    rates = np.full((N_CANDIDATES, n), 0.2)
    rates[0] = np.where(np.arange(n) < n // 4, 0.3, 0.1)
    return _drawn(rng, rates)


def bursts(rng: np.random.Generator, n: int) -> Drawn:
    """A wrong answer is often followed by the next: each loss depends on the one before."""
    return _dependent(rng, n, lambda losses, _: 0.05 + 0.7 * losses)


def bold_when_behind(rng: np.random.Generator, n: int) -> Drawn:
    """All answers differ little, until candidates lie apart: then they are all but coins."""

    def rates(_: np.ndarray, totals: np.ndarray) -> np.ndarray:
        return np.full(N_CANDIDATES, 0.5 if np.ptp(totals) > 8 else 0.02)

    return _dependent(rng, n, rates)


def _dependent(
    rng: np.random.Generator, n: int, rates: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Drawn:
    """0/1 losses whose rates follow from the losses before and their totals."""
    u = rng.random((n, N_CANDIDATES))
    losses, expected = np.zeros((n, N_CANDIDATES)), np.empty((n, N_CANDIDATES))
    last, totals = losses[0], np.zeros(N_CANDIDATES)
    for row in range(n):
        expected[row] = rates(last, totals)
        last = losses[row] = u[row] < expected[row]
        totals += last
    return np.ascontiguousarray(losses.T), np.ascontiguousarray(expected.T)


def rare_large_losses(rng: np.random.Generator, n: int) -> Drawn:
    """Losses in [0, 1] that are small but for rare ones; the same mean for all."""
    shape = (N_CANDIDATES, n)
    rates = np.tile(np.array([[0.0], [0.001], [0.004], [0.01], [0.02], [0.04]]), (1, n))
    small = (0.05 - rates) / (1 - rates)
    losses = np.where(rng.random(shape) < rates, 1.0, 2 * small * rng.random(shape))
    return losses, np.full(shape, 0.05)


SCENARIOS: dict[str, tuple[Callable[[np.random.Generator, int], Drawn], float]] = {
    "equal": (equal, 0.0),
    "best by the indifference": (best_by_the_indifference, INDIFFERENCE),
    "common drift": (common_drift, INDIFFERENCE),
    "changing places": (changing_places, 0.0),
    "changing places, indifferent": (changing_places, INDIFFERENCE),
    "one drift": (one_drift, 0.0),
    "bursts": (bursts, 0.0),
    "bold when behind": (bold_when_behind, 0.0),
    "rare large losses": (rare_large_losses, 0.0),
}


class NormalRace(AnytimeRace):
    """The same race with the normal interval of one look: what it is not to be."""

    def _beaten_by(self, position: np.intp, ahead: np.ndarray) -> int | None:
        sums = self._totals[position] - self._totals[ahead]
        spread = np.sqrt(self._variances[position, ahead])
        lower = sums + ndtri(np.exp(-self._log_threshold)) * spread
        best = int(np.argmax(lower))
        return int(ahead[best]) if lower[best] > -self.indifference * self.n_rows else None


@dataclass
class Outcome:
    """What one race did.

    Attributes
    ----------
    wrong : bool
        Whether it dropped the candidate that was in truth the best so far.
    wrong_pair : bool
        Whether it dropped one by another that was in truth worse so far.
    later : bool
        Whether it dropped the candidate that was in truth the best at the end.
    work : float
        Rows read by the candidates, as a share of all.
    """

    wrong: bool = False
    wrong_pair: bool = False
    later: bool = False
    work: float = 0.0


def race_on(race: Any, losses: np.ndarray, expected: np.ndarray, indifference: float) -> Outcome:
    """Let candidates race, and compare what is dropped with the truth."""
    k, n = losses.shape
    sums = expected.cumsum(axis=1)
    outcome, read, at = Outcome(), 0, 0
    while (stop := race.next_look(at)) is not None and stop <= n:
        left = race.left
        race.read(losses[left, at:stop])
        read += len(left) * (stop - at)
        at = stop
        scores = None if race.reads_losses else -losses[left, :at].mean(axis=1)
        for one in race.look(scores):
            _judge(outcome, one, sums[left, at - 1] / at, indifference)
    outcome.work = (read + len(race.left) * (n - at)) / (k * n)
    outcome.later = int(sums[:, -1].argmin()) not in race.left
    return outcome


def _judge(outcome: Outcome, one: Dropped, means: np.ndarray, indifference: float) -> None:
    """Compare a drop with the expected mean losses so far of those that were left."""
    better_than = means[one.position] - means <= -indifference + 1e-12
    better_than[one.position] = True
    outcome.wrong |= bool(better_than.all())
    outcome.wrong_pair |= one.by is not None and bool(better_than[one.by])


def races(scenario: str, seed: int, n_rows: int) -> dict[str, Outcome]:
    """One race of each kind on the same losses."""
    draw, indifference = SCENARIOS[scenario]
    losses, expected = draw(np.random.default_rng(seed), n_rows)
    kinds: dict[str, Any] = {
        "anytime": AnytimeRace(N_CANDIDATES, indifference=indifference),
        "normal": NormalRace(N_CANDIDATES, indifference=indifference),
        "halving": HalvingRace(N_CANDIDATES, n_rows),
    }
    return {kind: race_on(race, losses, expected, indifference) for kind, race in kinds.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--races", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    columns = ("anytime", "pairs", "normal", "halving", "later", "work")
    print(f"{arguments.races} races of {N_CANDIDATES} candidates over {arguments.rows} rows, in %")
    print(f"{'':30}" + "".join(f"{column:>9}" for column in columns))
    for scenario in SCENARIOS:
        found = [
            races(scenario, arguments.seed + number, arguments.rows)
            for number in range(arguments.races)
        ]
        shares = (
            [one["anytime"].wrong for one in found],
            [one["anytime"].wrong_pair for one in found],
            [one["normal"].wrong for one in found],
            [one["halving"].wrong for one in found],
            [one["anytime"].later for one in found],
            [one["anytime"].work for one in found],
        )
        print(f"{scenario:30}" + "".join(f"{100 * np.mean(share):9.1f}" for share in shares))


if __name__ == "__main__":
    main()
