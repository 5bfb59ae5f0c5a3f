"""Tables 1 and 5 and Figures 2 to 4 of Bifet et al. (2015).

``tables``: the sign test and Wilcoxon's of the folds of Table 1, and the measures of the confusion
in Table 5. ``electricity``: measures of a Hoeffding tree and of the majority class of a window
(Figure 2), and accuracy over windows beside ADWIN's (Figure 3). ``million``: prequential accuracy
along a million rows of SEA whose concept changes three times, beside a set held out (Figure 4).

    python -m benchmarks.bifet_figures
    python -m benchmarks.bifet_figures --part electricity
    python -m benchmarks.bifet_figures --part million --pictures docs/images

Where this differs from the paper: it prints curves; it does not name the stream of Figure 4. What
is held out follows the concept: 5,000 fresh rows of the one in force. Electricity is read from the
folder that SKSTREAM_DATA names, with its eight inputs (as MOA's file has).
"""

import argparse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.metrics import matthews_corrcoef

from benchmarks._delayed_streams import electricity_rows
from benchmarks._fidelity import Row, add_json_option, record
from benchmarks._kernel_speed import versions
from skstream import (
    HoldoutEvaluator,
    MajorityWindow,
    PrequentialEvaluator,
    RunOptions,
    metrics,
    stats,
)
from skstream.plotting import PrequentialDisplay
from skstream.streams import SEA
from skstream.tree import HoeffdingTreeClassifier

#: Table 1: percent right of two classifiers in ten folds.
A = (77.98, 72.26, 76.95, 77.94, 72.23, 76.90, 77.93, 72.37, 76.93, 77.97)
B = (77.91, 72.27, 76.97, 76.57, 71.63, 75.48, 75.75, 71.33, 74.54, 77.94)
#: Table 5: rows are the truth.
CONFUSION = ((40, 30), (5, 25))
#: What the text prints of Table 5, in per cent.
OF_TABLE_5 = {
    "accuracy": 65.0,
    "kappa": 32.69,
    "MCC": 37.28,
    "accuracy of Class+": 57.14,
    "accuracy of Class-": 83.33,
    "arithmetic mean": 70.24,
    "geometric mean": 69.01,
    "harmonic mean": 67.80,
    "kappa_m": -16.67,
}
WINDOWS = (100, 1000, 10_000)
CONCEPTS = (8.0, 9.0, 7.0, 9.5)


def shape(item: str, line: str, claim: str, ours: str) -> Row:
    """A curve of the paper beside what came out."""
    return Row("bifet", item, line, "", claim, ours, "a curve")


def tables() -> list[Row]:
    """Tests of the folds of Table 1, and measures of Table 5."""
    sign, wilcoxon = stats.sign_test(A, B), stats.wilcoxon(A, B)
    differences = np.array(A) - np.array(B)
    ranks = np.abs(differences).round(6).argsort().argsort() + 1
    plus, minus = (int(ranks[side].sum()) for side in (differences > 0, differences < 0))
    print(f"Table 1: {int((differences > 0).sum())} wins; sums of ranks {plus} and {minus}")
    print(f"  sign test p = {sign.pvalue:.4f}, Wilcoxon p = {wilcoxon.pvalue:.4f}")
    found = [
        Row("bifet", "Table 1", "folds won", "", 8.0, float((differences > 0).sum())),
        Row("bifet", "Table 1", "sum of the ranks below 0", "", 3.0, float(minus)),
        Row("bifet", "Table 1", "sum of the ranks above 0", "", 53.0, float(plus)),
        Row("bifet", "Table 1", "Wilcoxon at 5 %", "", "rejected", decided(wilcoxon.pvalue)),
        Row("bifet", "Table 1", "sign test at 5 %", "", "rejected", decided(sign.pvalue)),
    ]
    table = np.array(CONFUSION)
    truth = np.repeat([1, 0], table.sum(axis=1))
    answers = np.concatenate([np.repeat([1, 0], counts) for counts in table])
    right = answers == truth
    values = {
        "accuracy": right.mean(),
        "kappa": metrics.kappa_score(truth, answers),
        "MCC": matthews_corrcoef(truth, answers),
        "accuracy of Class+": right[truth == 1].mean(),
        "accuracy of Class-": right[truth == 0].mean(),
        "arithmetic mean": metrics.arithmetic_accuracy_score(truth, answers),
        "geometric mean": metrics.geometric_accuracy_score(truth, answers),
        "harmonic mean": metrics.harmonic_accuracy_score(truth, answers),
        "kappa_m": metrics.kappa_m_score(truth, answers, majority="hindsight"),
    }
    print("Table 5: " + ", ".join(f"{name} {100 * value:.2f}" for name, value in values.items()))
    for name, value in values.items():
        place = "Table 5", f"{name}, per cent", ""
        found.append(Row("bifet", *place, OF_TABLE_5[name], 100 * float(value)))
    return found


def decided(pvalue: float) -> str:
    """Whether a test rejects at 5 per cent."""
    return "rejected" if pvalue < 0.05 else f"not rejected (p = {pvalue:.3f})"


def electricity() -> list[Row]:
    """Figures 2 and 3: four measures, and the windows of one."""
    X, y = electricity_rows()
    forgetting = {f"{size:,}": f"window:{size}" for size in WINDOWS} | {"ADWIN": "adwin"}
    measures = ["accuracy", "kappa", "harmonic_accuracy", "kappa_m"]
    evaluator = PrequentialEvaluator(measures, forgetting=forgetting, record_every=100)
    models = {"tree": HoeffdingTreeClassifier(), "majority": MajorityWindow(1000)}
    result = evaluator.evaluate(models, X, y)
    late = result.checkpoints >= 1000
    found = []
    for model, claim in (
        ("tree", "kappa_m about kappa or lower; for a period below 0"),
        ("majority", "kappa_m 0 throughout; kappa and H above 0 at times"),
    ):
        curves = {m: result.curve(model, m, forgetting="1,000")[late, 0] for m in measures}
        parts = [f"{m} {np.nanmin(c):.3f} … {np.nanmax(c):.3f}" for m, c in curves.items()]
        below = 100 * np.nanmean(curves["kappa_m"] < 0)
        parts += [f"kappa_m below 0 at {below:.1f} % of checkpoints"]
        parts += [f"below kappa at {100 * np.nanmean(curves['kappa_m'] < curves['kappa']):.0f} %"]
        said = "; ".join(parts)
        print(f"Figure 2, {model}: {said}")
        found.append(shape("Figure 2", f"{model}, windows of 1,000", claim, said))
    curve = {
        name: result.curve("tree", "accuracy", forgetting=name)[late, 0] for name in forgetting
    }
    gaps = {name: float(np.abs(curve[name] - curve["ADWIN"]).mean()) for name in list(curve)[:-1]}
    steps = {name: float(np.abs(np.diff(values)).mean()) for name, values in curve.items()}
    said = ", ".join(f"{gap:.3f} ({name})" for name, gap in gaps.items())
    print(f"Figure 3: mean distance to ADWIN's accuracy {said}")
    claim = "the window of 1,000 is most similar to ADWIN"
    found.append(shape("Figure 3", "mean distance to ADWIN by window", claim, said))
    said = ", ".join(f"{step:.4f} ({name})" for name, step in steps.items())
    print(f"  mean step between checkpoints {said}")
    claim = "100 fluctuates, 10,000 is smooth"
    return [*found, shape("Figure 3", "mean step in 100 rows by window", claim, said)]


def million(n_rows: int, folder: Path | None) -> list[Row]:
    """Figure 4: distance of prequential estimates to the error on fresh rows of the concept."""
    changes = tuple(n_rows * k // 4 for k in (1, 2, 3))
    every, n_fresh = n_rows // 200, 5000
    forgetting = {f"{size:,}": f"window:{size}" for size in WINDOWS} | {"ADWIN": "adwin"}
    stream = SEA(n_rows, thresholds=CONCEPTS, change_rows=changes, random_state=0)
    evaluator = PrequentialEvaluator("accuracy", forgetting=forgetting, record_every=every)
    result = evaluator.evaluate({"tree": HoeffdingTreeClassifier()}, stream)
    X, y = stream.rows(0, n_rows)
    # A set for each concept; where a concept is not in force, its holdout is not looked at.
    held, bounds = np.empty(0), (0, *changes, n_rows)
    asked_at = np.empty(0)
    for number, (start, stop) in enumerate(pairwise(bounds)):
        fresh = SEA(n_fresh, thresholds=(CONCEPTS[number],), random_state=100 + number)
        holdout = HoldoutEvaluator(
            "accuracy", holdout=fresh.rows(0, n_fresh), every=every, run=RunOptions(keep_tape=False)
        )
        one = holdout.evaluate({"tree": HoeffdingTreeClassifier()}, X[:stop], y[:stop])
        inside = one.checkpoints > start
        held = np.append(held, one.curve("tree")[inside, 0])
        asked_at = np.append(asked_at, one.checkpoints[inside])
    common, here, there = np.intersect1d(result.checkpoints, asked_at, return_indices=True)
    late = common >= WINDOWS[-1]
    curves = {name: result.curve("tree", forgetting=name)[here, 0] for name in forgetting}
    gaps = {name: float(np.abs(c - held[there])[late].mean()) for name, c in curves.items()}
    if folder is not None:
        draw_million({"holdout": held[there]} | curves, common, changes, folder)
    said = ", ".join(f"{gap:.4f} ({name})" for name, gap in gaps.items())
    print(f"Figure 4: mean distance to the accuracy on fresh rows {said}")
    claim = "ADWIN is very similar to holdout; 100 fluctuates, 10,000 may lag"
    line = f"SEA, {n_rows:,} rows, mean distance to holdout"
    return [shape("Figure 4", line, claim, said)]


def draw_million(
    curves: dict[str, np.ndarray], rows: np.ndarray, changes: tuple[int, ...], folder: Path
) -> None:
    """Figure 4: each estimate above that of the holdout."""
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(2, 2, figsize=(11, 6.4), sharex=True, sharey=True)
    for axes, name in zip(grid.flat, list(curves)[1:], strict=True):
        title = name if name == "ADWIN" else f"window of {name}"
        PrequentialDisplay(
            curves={n: curves[k][:, None] for n, k in ((title, name), ("holdout", "holdout"))},
            metric="accuracy",
            forgetting=title,
            checkpoints=rows,
            drifts=changes,
        ).plot(ax=axes)
    figure.tight_layout()
    figure.savefig(folder / "bifet_holdout.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = ("tables", "electricity", "million")
    parser.add_argument("--part", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--rows", type=int, default=1_000_000, help="of Figure 4")
    parser.add_argument("--pictures", type=Path, help="folder for Figure 4 (needs matplotlib)")
    add_json_option(parser)
    options = parser.parse_args()
    started = perf_counter()
    print(versions("scikit-learn", "numpy", "scipy", "numba"))
    run: dict[str, Callable[[], list[Row]]] = {
        "tables": tables,
        "electricity": electricity,
        "million": lambda: million(options.rows, options.pictures),
    }
    for part in options.part:
        record(run[part](), options.json)
    print(f"\n{perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
