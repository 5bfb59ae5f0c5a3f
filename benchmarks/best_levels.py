"""How often `compare_with_best` finds differences between equal models, in many simulated tables.

    python -m benchmarks.best_levels --tables 1000

The best model is chosen by the scores that are then tested. The share of tables in which at least
one model that equals the truly best is called different should be at most alpha with Holm's
correction for all pairs. For comparison: the shares with a correction for the tests against the
best alone, and with none.
"""

import argparse
from collections.abc import Callable

import numpy as np

from skstream.stats import compare_with_best, wilcoxon
from skstream.stats._best import holm

ALPHA = 0.05
Tables = Callable[[np.random.Generator, int, int], np.ndarray]
# Scores of equal models: (rng, n_blocks, n_models).
KINDS: dict[str, Tables] = {
    "independent": lambda rng, n, k: rng.normal(size=(n, k)),
    "blocks in common": lambda rng, n, k: rng.normal(size=(n, k)) + 3 * rng.normal(size=(n, 1)),
    "one model noisier": lambda rng, n, k: rng.normal(size=(n, k)) * np.append(4.0, np.ones(k - 1)),
    "rounded, with ties": lambda rng, n, k: rng.normal(size=(n, k)).round(),
    "half far worse": lambda rng, n, k: (
        rng.normal(size=(n, k)) - 5.0 * (np.arange(k) >= (k + 1) // 2)
    ),
}


def shares(make: Tables, n_blocks: int, n_models: int, n_tables: int) -> list[float]:
    """Share of tables with a false finding: all pairs, against the best alone, not corrected."""
    rng = np.random.default_rng(0)
    wrong = np.zeros((n_tables, 3), dtype=bool)
    for t in range(n_tables):
        table = make(rng, n_blocks, n_models)
        equal = n_models if make is not KINDS["half far worse"] else (n_models + 1) // 2
        best = int(table.mean(axis=0).argmax())
        pairs = compare_with_best(table).pvalues < ALPHA
        others = np.flatnonzero(np.arange(n_models) != best)
        alone = np.array([wilcoxon(table[:, best], table[:, j]).pvalue for j in others])
        for column, told in enumerate((pairs[others], holm(alone) < ALPHA, alone < ALPHA)):
            wrong[t, column] = best < equal and told[others < equal].any()
    return wrong.mean(axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=200)
    options = parser.parse_args()
    print("| scores | models | blocks | all pairs | against the best alone | not corrected |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, make in KINDS.items():
        for n_models, n_blocks in ((2, 10), (5, 15), (10, 20)):
            found = " | ".join(
                f"{share:.3f}" for share in shares(make, n_blocks, n_models, options.tables)
            )
            print(f"| {name} | {n_models} | {n_blocks} | {found} |", flush=True)


if __name__ == "__main__":
    main()
