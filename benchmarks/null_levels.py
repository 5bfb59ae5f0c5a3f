"""How often do the tests over rows find a difference, or skill, where there is none?

Every figure is the share of simulated streams without any difference on which a test at a nominal
5 % rejects. "former" columns are what earlier formulas would have done with the same streams.

    python -m benchmarks.null_levels
    python -m benchmarks.null_levels --streams 20000 --seed 1

Run from the top of the repository. 2,000 streams take a minute or two on one core.
"""

import argparse
from typing import Any

import numpy as np
from scipy.stats import chi2

import skstream
from skstream.metrics import kappa_test
from skstream.stats import anytime_comparison, mcnemar
from skstream.stats._mcnemar import RunningMcNemar
from tests.stats._simulate import FAIR, draw_losses

LEVEL = 0.05
QUANTILE = chi2.isf(LEVEL, 1)


def kappa(rng: np.random.Generator, n_streams: int) -> None:
    print("\nkappa_test, answers by chance, 1,000 rows")
    print(f"  {'shares':16} {'weights':10} {'fleiss':>8} {'cohen':>8}")
    cases: list[tuple[list[float], str]] = [([p, 1 - p], "none") for p in (0.5, 0.7, 0.9)]
    cases += [([0.8, 0.15, 0.05], "none"), ([0.7, 0.3], "Pareto")]
    for shares, kind in cases:
        rejected = np.zeros(2)
        for _ in range(n_streams):
            y, p = rng.choice(len(shares), (2, 1000), p=shares)
            weight = None if kind == "none" else rng.pareto(3.0, 1000) + 0.1
            for i, variance in enumerate(("fleiss", "cohen")):
                result = kappa_test(y, p, sample_weight=weight, variance=variance)
                rejected[i] += result.pvalue < LEVEL
        print(
            f"  {'/'.join(f'{p:.2g}' for p in shares):16} {kind:10} " + share(rejected, n_streams)
        )


def fading(rng: np.random.Generator, n_streams: int) -> None:
    print("\nMcNemar under fading factors: the p-value; (1 + alpha) m and m = (a - b)^2 / (a + b)")
    print(f"  {'alpha':>6} {'rows':>8} {'disagreement':14} {'p-value':>8} {'(1+a) m':>8} {'m':>8}")
    for alpha in (0.9, 0.95, 0.99, 0.997):
        span = round(1 / (1 - alpha))
        n_rows = 5 * span
        rates = {
            "steady": np.full(n_rows, 0.3),
            "burst": np.where(np.arange(n_rows) < 4.7 * span, 0.01, 0.5),
        }
        for kind, rate in rates.items():
            looks = [max(span // 5, 20), n_rows] if kind == "steady" else [n_rows]
            rejected = np.zeros((len(looks), 3))
            for _ in range(n_streams):
                u = rng.random(n_rows)
                losses = u < rate / 2, (u >= rate / 2) & (u < rate)
                running = RunningMcNemar(f"fading:{alpha}", record_every=1).update(*losses)
                curve, at = running.result(), np.array(looks) - 1
                a, b = curve.only_a_wrong[at], curve.only_b_wrong[at]
                size = (a - b) ** 2 / (a + b)
                rejected[:, 0] += curve.pvalues[at] < LEVEL
                rejected[:, 1] += (1 + alpha) * size > QUANTILE
                rejected[:, 2] += size > QUANTILE
            for look, row in zip(looks, rejected, strict=True):
                print(f"  {alpha:>6} {look:>8,} {kind:14} " + share(row, n_streams))


def weights(rng: np.random.Generator, n_streams: int) -> None:
    print("\nMcNemar with Pareto weights, 300 discordant rows: the p-value; weights as rows")
    rejected = np.zeros(2)
    for _ in range(n_streams):
        weight, coins = rng.pareto(2.5, 300) + 0.1, rng.integers(0, 2, 300)
        result = mcnemar(np.zeros(300, int), coins, 1 - coins, sample_weight=weight)
        a, b = result.only_a_wrong, result.only_b_wrong
        rejected += result.pvalue < LEVEL, (a - b) ** 2 / (a + b) > QUANTILE
    print(f"  {'':30} " + share(rejected, n_streams))


def anytime(rng: np.random.Generator, n_streams: int) -> None:
    print("\nAnytime comparison, looked at after each of 2,000 rows: mixture (default); stitched")
    seeds = rng.integers(2**31, size=n_streams)
    weight = np.random.default_rng(0).pareto(2.5, 2000) + 0.1
    for kind, options in (("", {}), (", Pareto weights", {"sample_weight": weight})):
        for scenario in FAIR:
            print(f"  {scenario + kind:30} " + sides(scenario, seeds, **options))


def sides(scenario: str, seeds: np.ndarray, **options: Any) -> str:
    rejected = np.zeros(2)
    for seed in seeds.tolist():
        losses = draw_losses(scenario, seed, 2000)[:2]
        for i, boundary in enumerate(("mixture", "stitched")):
            result = anytime_comparison(*losses, boundary=boundary, **options)
            rejected[i] += result.pvalue < LEVEL
    return share(rejected, len(seeds))


#: Differences without bounds whose mean is 0, of 20,000 rows.
UNBOUNDED = {
    "normal": lambda rng, n: rng.normal(size=n),
    "99 % of them 0": lambda rng, n: rng.choice([-1.0, 0.0, 1.0], p=[0.005, 0.99, 0.005], size=n),
    "log-normal losses": lambda rng, n: rng.lognormal(size=n) - rng.lognormal(size=n),
    "t with 3 degrees": lambda rng, n: rng.standard_t(3, n),
    "spread times 15": lambda rng, n: rng.normal(size=n) * np.linspace(0.2, 3.0, n),
    "2 of 1,000 rows decide": lambda rng, n: (
        np.where(rng.random(n) < 0.002, 36 * rng.random(n), 0.0) - 0.036
    ),
}


def asymptotic(rng: np.random.Generator, n_streams: int) -> None:
    print("\nAnytime comparison without bounds (asymptotic), looked at after each of 20,000 rows")
    for name, draw in UNBOUNDED.items():
        rejected = np.zeros(1)
        for _ in range(n_streams):
            result = anytime_comparison(draw(rng, 20_000), np.zeros(20_000), boundary="asymptotic")
            rejected += result.pvalue < LEVEL
        print(f"  {name:30} " + share(rejected, n_streams))


def bounds(rng: np.random.Generator, n_streams: int) -> None:
    print("\nAnytime comparison, equal means with a rare large loss: known bound; largest seen")
    rejected = np.zeros(2)
    for _ in range(n_streams):
        # Model A is always off by 1; B by .5, and by 5,000.5 in one row of 10,000.
        loss_b = np.where(rng.random(5000) < 1 / 10_000, 5000.5, 0.5)
        loss_a = np.ones(5000)
        for i, largest in enumerate((5000.5, max(loss_b.max(), 1.0))):
            result = anytime_comparison(loss_a, loss_b, bounds=(0, largest))
            rejected[i] += result.pvalue < LEVEL
    print(f"  {'':30} " + share(rejected, n_streams))


def share(rejected: np.ndarray, n_streams: int) -> str:
    return " ".join(f"{value:8.2%}" for value in rejected / n_streams)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"skstream {skstream.__version__}, {arguments.streams:,} streams per figure")
    for simulate in (kappa, fading, weights, anytime, asymptotic, bounds):
        simulate(np.random.default_rng(arguments.seed), arguments.streams)


if __name__ == "__main__":
    main()
