"""Prequential and holdout estimates of the error beside the Bayes error: Gama's Figures 2 and 3.

Gama, Sebastiao & Rodrigues (2013, section 3) run VFDT on stationary streams of Waveform, LED, RBF
and random trees, and average over ten seeds. Here the learner is naive Bayes: Gaussian; Bernoulli
on LED, where it is consistent, so that every estimate tends to the Bayes error. On the others it
tends to an error of its own. Nominal values of the random tree are indicators. With ``--trees`` the
learner is a Hoeffding tree, as in the paper.

Printed are the errors (percent) at some rows: by a large set of fresh rows of the same stream,
prequential over all history, over windows and with fading factors; and how far, at each row from
10,000 on, each estimate was from the fresh rows.

    python -m benchmarks.estimates_of_error
    python -m benchmarks.estimates_of_error --trees
    python -m benchmarks.estimates_of_error --rows 20000 --seeds 3 --picture figure3.png
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import OneHotEncoder

import skstream
from benchmarks._fidelity import Row, add_json_option, record
from skstream import HoldoutEvaluator, PrequentialEvaluator, RunOptions
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import LED, GeneratedStream, RandomRBF, RandomTree, Waveform
from skstream.tree import HoeffdingTreeClassifier

WINDOWS = (1000, 2000, 5000)
FACTORS = (0.997, 0.999, 0.9994)
EVERY = 250
LATE = 10_000
STREAMS: dict[str, tuple[Callable[..., GeneratedStream], Any]] = {
    "Waveform": (Waveform, IncrementalGaussianNB()),
    "LED": (lambda n, **seed: LED(n, n_irrelevant=0, **seed), BernoulliNB()),
    "RBF": (RandomRBF, IncrementalGaussianNB()),
    "random tree": (RandomTree, IncrementalGaussianNB()),
}
FORGETTING = {
    "prequential": "cumulative",
    **{f"window {size:,}": f"window:{size}" for size in WINDOWS},
    **{f"fading {factor}": f"fading:{factor}" for factor in FACTORS},
}
FRESH = "fresh rows"


def errors(
    name: str, n_rows: int, n_fresh: int, seed: int, *, trees: bool
) -> tuple[np.ndarray, dict[str, Any]]:
    """Rows, and the error by every estimate at these rows; the Bayes error."""
    make, model = STREAMS[name]
    stream = make(None, random_state=seed)
    X, y = stream.rows(0, n_rows + n_fresh)
    if trees:
        nominal = getattr(stream, "nominal_features", None)
        model = HoeffdingTreeClassifier(nominal_features=nominal)
    elif name == "random tree":
        # Naive Bayes knows shares of values, but a code has no mean that would say anything.
        nominal = stream.nominal_features
        indicators = OneHotEncoder(sparse_output=False).fit_transform(X[:, nominal])
        X = np.hstack([np.delete(X, nominal, axis=1), indicators])
    fresh = X[n_rows:], y[n_rows:]
    X, y = X[:n_rows], y[:n_rows]
    prequential = PrequentialEvaluator("error", forgetting=FORGETTING, record_every=EVERY)
    result = prequential.evaluate({"m": model}, X, y)
    held_out = HoldoutEvaluator(
        "error", holdout=fresh, every=EVERY, run=RunOptions(keep_tape=False)
    )
    asked = held_out.evaluate({"m": model}, X, y, classes=stream.classes)
    curves = {FRESH: 100 * asked.curve("m")[:, 0]}
    for estimate in FORGETTING:
        curves[estimate] = 100 * result.curve("m", forgetting=estimate)[:, 0]
    assert np.array_equal(result.checkpoints, asked.checkpoints)
    return result.checkpoints, {**curves, "Bayes": 100 * (stream.bayes_error() or 0)}


def print_stream(name: str, rows: np.ndarray, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Print the means over the seeds, and the distances; return the means."""
    means = {key: np.mean([run[key] for run in runs], axis=0) for key in runs[0]}
    shown = [row for row in (500, 1000, 2000, 5000, 10_000, 20_000, 50_000) if row <= rows[-1]]
    at = np.searchsorted(rows, shown)
    print(f"\n{name}: Bayes error {means['Bayes']:.2f}\n")
    print("| estimate | " + " | ".join(f"{row:,}" for row in shown) + " | distance, late |")
    print("|---|" + "---:|" * (len(shown) + 1))
    late = rows >= LATE
    for key in (FRESH, *FORGETTING):
        cells = " | ".join(f"{value:.2f}" for value in means[key][at])
        gaps = [np.abs(run[key] - run[FRESH])[late] for run in runs]
        distance = f"{np.mean(gaps):.2f}" if key != FRESH and late.any() else ""
        print(f"| {key} | {cells} | {distance} |")
    return means


#: The Bayes errors that the text of the paper prints.
BAYES = {"Waveform": 14.0, "LED": 26.0}


def compared(means: dict[str, dict[str, Any]], learner: str) -> list[Row]:
    """The Bayes errors beside the paper's, and what it says of the curves, at their ends."""
    found = []
    for name, curves in means.items():
        end = {key: float(curves[key][-1]) for key in (FRESH, *FORGETTING)}
        said = f"{end['prequential']:.2f} %, fresh rows {end[FRESH]:.2f} %"
        if name == "Waveform":
            place = "Figure 2", f"{learner}, prequential error at the end", ""
            found.append(Row("gama", *place, "above the error by holdout", said, "a curve"))
        if name in BAYES:
            place = "Figure 3", f"{name}, Bayes error", ""
            found.append(Row("gama", *place, BAYES[name], float(curves["Bayes"])))
    for name, curves in means.items():
        end = {key: float(curves[key][-1]) for key in (FRESH, *FORGETTING)}
        gaps = {key: abs(end[key] - end[FRESH]) for key in FORGETTING}
        shown = ", ".join(f"{gaps[key]:.2f}" for key in gaps if key != "prequential")
        ours = f"{shown} points; all history {gaps['prequential']:.2f}"
        place = "Figure 3", f"{name}, windows and factors, distance to fresh rows at the end", ""
        found.append(Row("gama", *place, "converge to holdout", ours, "a curve"))
    return found


def draw(path: Path, rows: np.ndarray, means: dict[str, dict[str, Any]]) -> None:
    """Save the curves, a column for each stream: windows above, fading factors below."""
    from matplotlib import pyplot

    kinds = {"sliding windows": "window", "fading factors": "fading"}
    figure, grid = pyplot.subplots(
        len(kinds),
        len(means),
        figsize=(4 * len(means), 3 * len(kinds)),
        sharex=True,
        sharey="col",
        squeeze=False,
    )
    for axes_of_kind, (title, kind) in zip(grid, kinds.items(), strict=True):
        for axes, (name, curves) in zip(axes_of_kind, means.items(), strict=True):
            for key, color in (("prequential", "tab:gray"), (FRESH, "black")):
                axes.plot(rows, curves[key], label=key, color=color, linewidth=1.5)
            chosen = [key for key in FORGETTING if key.startswith(kind)]
            for key, color in zip(chosen, ("tab:orange", "tab:green", "tab:blue"), strict=True):
                axes.plot(rows, curves[key], label=key, color=color, linewidth=0.9)
            bayes = curves["Bayes"]
            axes.axhline(bayes, label="Bayes error", color="tab:red", linestyle=":")
            axes.set_title(f"{name}, {title}\nBayes error {bayes:.1f} %", fontsize=10)
            low = min(curves[key].min() for key in (FRESH, *chosen))
            axes.set_ylim(low - 0.3, curves["prequential"].max() + 0.3)
            axes.set_xscale("log")
        axes_of_kind[0].set_ylabel("error in percent")
        axes_of_kind[-1].legend(fontsize=7)
    for axes in grid[-1]:
        axes.set_xlabel("rows")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--fresh", type=int, default=10_000, help="rows of the set held out")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--trees", action="store_true", help="a Hoeffding tree learns")
    add_json_option(parser)
    parser.add_argument("--picture", type=Path, help="file for the curves (needs matplotlib)")
    options = parser.parse_args()
    print(
        f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}; "
        f"{options.rows:,} rows, {options.fresh:,} fresh ones, means of {options.seeds} seeds"
    )
    started = perf_counter()
    means = {}
    for name in options.streams:
        size = options.rows, options.fresh
        runs = [errors(name, *size, seed, trees=options.trees) for seed in range(options.seeds)]
        rows = runs[0][0]
        means[name] = print_stream(name, rows, [curves for _, curves in runs])
    record(compared(means, "tree" if options.trees else "naive Bayes"), options.json)
    print(f"\n{perf_counter() - started:.0f} s")
    if options.picture is not None:
        draw(options.picture, rows, means)


if __name__ == "__main__":
    main()
