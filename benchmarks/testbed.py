"""Table 3 of Cervantes et al.: prequential errors on their testbed, beside the paper's.

Nine streams, each with ten seeds; the error over all rows, in per cent, mean of the seeds. In
brackets the paper's. A star: the best of a row, and all that a Wilcoxon test of the seeds (5 per
cent) does not tell from it, without the best possible answers. The last line has the Bayes errors.

    python benchmarks/testbed.py
    python benchmarks/testbed.py --sets NSGT NSCX --seeds 3
    python benchmarks/testbed.py --trees

Where the columns differ from the paper's: it does not say the period of its dynamic weighted
majority. With 20 rows the errors come close to it; the 50 of Kolter and Maloof are shown too. Its
bagging is over Hoeffding trees: over naive Bayes here, over River's trees with ``--trees``. Its
nearest neighbours (MOA's) divide every feature by its range in the window, ours do not: what tells
the classes apart in NSGT-5D is the feature with the largest range. NB is IncrementalGaussianNB,
whose variances have a floor: the first rows of a class would give wild answers without.
"""

import argparse
from time import perf_counter

import numpy as np
from _kernel_speed import versions
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.linear_model import SGDClassifier

from skstream import PrequentialEvaluator
from skstream.compat import from_river
from skstream.drift import ADWIN
from skstream.ensemble import DynamicWeightedMajority, OnlineBagging
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.optimal import BayesOptimal
from skstream.streams import load_testbed

#: Table 3 of the paper. Its bagging is over Hoeffding trees.
PAPER = {
    "NSGT": (2.95, 25.27, 7.68, 4.21, 4.20, 4.83, 6.77, 10.97),
    "NSGT-F": (2.91, 41.73, 14.14, 6.90, 4.39, 4.77, 11.79, 12.04),
    "NSGR": (0.00, 49.61, 0.04, 0.90, 0.54, 0.02, 0.02, 36.95),
    "NSLC": (4.05, 6.44, 4.25, 4.91, 4.72, 6.19, 6.12, 7.77),
    "NSGT-I": (2.93, 25.05, 8.02, 5.85, 4.48, 4.80, 9.58, 10.28),
    "NSPC": (5.76, 5.94, 6.77, 6.24, 6.16, 9.00, 8.73, 8.90),
    "NSPC-A": (5.37, 6.09, 5.89, 6.09, 5.98, 8.45, 8.28, 8.82),
    "NSGT-5D": (5.74, 25.43, 9.35, 7.34, 7.63, 12.18, 11.16, 11.88),
    "NSCX": (4.18, 14.28, 12.94, 6.90, 6.08, 6.47, 8.62, 10.19),
}
OF_PAPER = ("Bayes", "NB", "SGD", "DWM 20", "bagging", "NN 100", "NN 1500", "NN 6000")
COLUMNS = (*OF_PAPER[:4], "DWM 50", *OF_PAPER[4:])


def learners(stream, seed: int) -> dict:
    """Models of the table, by column."""
    naive_bayes = IncrementalGaussianNB()
    return {
        "Bayes": BayesOptimal(stream),
        "NB": naive_bayes,
        "SGD": SGDClassifier(
            loss="hinge", learning_rate="constant", eta0=0.01, alpha=1e-4, random_state=seed
        ),
        "DWM 20": DynamicWeightedMajority(naive_bayes, period=20, random_state=seed),
        "DWM 50": DynamicWeightedMajority(naive_bayes, period=50, random_state=seed),
        "bagging": OnlineBagging(naive_bayes, detector=ADWIN(), random_state=seed),
        "NN 100": WindowedKNeighborsClassifier(1, 100),
        "NN 1500": WindowedKNeighborsClassifier(1, 1500),
        "NN 6000": WindowedKNeighborsClassifier(1, 6000),
    }


def trees(stream, seed: int) -> dict:
    """The paper's bagging, over Hoeffding trees: River's, one row at a time."""
    from river.tree import HoeffdingTreeClassifier

    tree = from_river(HoeffdingTreeClassifier())
    return {"bagging": OnlineBagging(tree, detector=ADWIN(), random_state=seed)}


def errors(name: str, seed: int, make_models) -> list[float]:
    """Errors of all models on one stream, in per cent."""
    stream = load_testbed(name, random_state=seed)
    result = PrequentialEvaluator("error").evaluate(make_models(stream, seed), stream)
    return [100 * scores["error"] for scores in result.scores.values()]


def are_best(table: np.ndarray) -> np.ndarray:
    """Which models are the best, or are not told from it; (n_seeds, n_models)."""
    best = table[:, table.mean(axis=0).argmin()]
    return np.array([np.all(one == best) or wilcoxon(one, best).pvalue > 0.05 for one in table.T])


def cell(ours: float, best: bool, of_paper: float | None) -> str:
    """An error, beside the paper's where it has one."""
    beside = "" if of_paper is None else f" ({of_paper:.2f})"
    return f"{ours:7.2f}{'*' if best else ' '}{beside:8}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(PAPER), choices=list(PAPER))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trees", action="store_true", help="bagging over Hoeffding trees alone")
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    make_models = trees if options.trees else learners
    columns = ("bagging",) if options.trees else COLUMNS
    started = perf_counter()
    runs = Parallel(n_jobs=options.n_jobs)(
        delayed(errors)(name, seed, make_models)
        for name in options.sets
        for seed in range(options.seeds)
    )
    tables = np.array(runs).reshape(len(options.sets), options.seeds, len(columns))
    print(versions("scikit-learn", "numpy", "scipy", "numba", "river"))
    print(f"{'':8}" + "".join(f"{column:>16}" for column in columns))
    for name, table in zip(options.sets, tables, strict=True):
        of_paper = dict(zip(OF_PAPER, PAPER[name], strict=True))
        is_best = np.zeros(len(columns), bool)
        if not options.trees:
            is_best[1:] = are_best(table[:, 1:])
        cells = zip(columns, table.mean(axis=0), is_best, strict=True)
        print(f"{name:8}" + "".join(cell(ours, best, of_paper.get(c)) for c, ours, best in cells))
    spread = tables.std(axis=1, ddof=1).mean(axis=0) / np.sqrt(options.seeds)
    print("standard error of the means, on average: ", end="")
    print(", ".join(f"{column} {s:.2f}" for column, s in zip(columns, spread, strict=True)))
    if not options.trees:
        print("Bayes error: ", end="")
        known = {name: load_testbed(name).bayes_error_estimate() for name in options.sets}
        print(", ".join(f"{n} {100 * e:.3f} +- {100 * s:.3f}" for n, (e, s) in known.items()))
    print(f"{options.seeds} seeds, {perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
