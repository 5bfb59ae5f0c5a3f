"""Delays of drift detection beside Tables 2 and 3 of Gama, Sebastiao & Rodrigues (2013).

Four streams change abruptly once. The Page-Hinkley test (delta 0.1, lambda 100) reads a running
error of a model (Table 2), or the ratio of two (Table 3). Printed are rows from the change to the
first alarm: mean and standard deviation over the seeds; in round brackets, where there are any, the
seeds that missed the change and those with an alarm before it; in square brackets the paper's.

    python -m benchmarks.gama_drift
    python -m benchmarks.gama_drift --trees
    python -m benchmarks.gama_drift --streams Waveform --seeds 3
    python -m benchmarks.gama_drift --streams LED --trees --led-columns 24
    python -m benchmarks.gama_drift --stationary
    python -m benchmarks.gama_drift --pictures docs/images

Where this differs from the paper: its learner is VFDT, with naive Bayes ("NBa") or the majority
class ("MC") in the leaves. Here it is naive Bayes alone, beside the paper's NBa; and naive Bayes
that DDM replaces, for which the paper has no column. With ``--trees`` it is our Hoeffding tree.
The paper does not say how long its streams go on after the change: here 64,000 rows. Its second RBF
stream has the same centres (seed 10) in all runs, ours new ones for each seed. Nominal features of
the random tree are indicators for naive Bayes. LED has the seven columns of the paper's section
3.2; after the change they hold columns that do not matter. With ``--led-columns 24`` those that
do not matter are there throughout, and the segments are among them after the change.

``--stationary``: alarms per 100,000 losses that are wrong with one probability throughout.
"""

import argparse
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import OneHotEncoder

from benchmarks._fidelity import Row, add_json_option, record
from benchmarks._kernel_speed import versions
from skstream import (
    DriftMonitor,
    DriftReset,
    MajorityClass,
    PrequentialEvaluator,
    RunOptions,
    detect,
)
from skstream.drift import ErrorRatio, PageHinkley, score_detections
from skstream.drift._score import DetectionResult
from skstream.forgetting import equivalent_window
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.plotting import PrequentialDisplay
from skstream.streams import LED, RandomRBF, RandomTree, Stream, Waveform, join_streams
from skstream.tree import HoeffdingTreeClassifier

FACTORS = (0.997, 0.9985, 0.999, 0.9993, 0.9994)
WINDOWS = (1000, 2000, 3000, 4000, 5000)
LONG_FACTORS, LONG_WINDOWS = FACTORS[2:], WINDOWS[2:]
#: Columns of LED in the paper (section 3.2): the segments of the display.
SEGMENTS = 7

FADING = {f"fading {factor:.4f}": f"fading:{factor}" for factor in FACTORS}
WINDOWED = {f"window {size}": f"window:{size}" for size in WINDOWS}
#: Not in the paper: windows whose means are as noisy as those of the fading factors.
AS_NOISY = {f"window {size}": f"window:{size}" for size in map(equivalent_window, FACTORS)}
ESTIMATES = {"all rows": "cumulative", **FADING, **WINDOWED, **AS_NOISY}
RATIOS = {
    **{f"fading {long:.4f}": ErrorRatio(short=FACTORS[0], long=long) for long in LONG_FACTORS},
    **{f"window {long}": ErrorRatio(short=WINDOWS[0], long=long) for long in LONG_WINDOWS},
}

#: Rates of errors without a change.
ERRORS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)

#: The paper's delays, in the order of ESTIMATES and RATIOS. How many seeds of RBF with MC missed
#: the change in Table 2 is lost.
MISS = "miss"
PAPER_2 = {
    ("LED", "MC"): f"{MISS}|2155 ± 370|3391 ± 797|4279 ± 947|5433 ± 1130|6103 ± 1331"
    "|2542 ± 512|3484 ± 619|4454 ± 619|5436 ± 804|6419 ± 860",
    ("LED", "NBa"): f"{MISS}|486 ± 10|693 ± 15|872 ± 19|1076 ± 24|1183 ± 26"
    "|725 ± 14|1146 ± 30|1503 ± 36|1836 ± 49|2162 ± 55",
    ("RBF", "MC"): f"{MISS}|3632 ± 4413|4288 ± 4413|6474 ± 4995|9241 ± 7769|9818 ± 7587"
    "|3765 ± 4444|4631 ± 4430|7085 ± 5205|8315 ± 5320|9198 ± 5683",
    ("RBF", "NBa"): f"{MISS}|1416 ± 342|1992 ± 430|2454 ± 486|3023 ± 571|3369 ± 644"
    "|1617 ± 321|2397 ± 338|3151 ± 344|3987 ± 384|4899 ± 466",
    ("random tree", "MC"): f"{MISS}|911 ± 132|1317 ± 177|1676 ± 212|2122 ± 255|2365 ± 279"
    "|1157 ± 120|1866 ± 156|2549 ± 206|3209 ± 249|3859 ± 295",
    ("random tree", "NBa"): f"{MISS}|800 ± 84|1163 ± 121|1481 ± 153|1861 ± 190|2068 ± 208"
    "|1054 ± 79|1718 ± 121|2331 ± 164|2925 ± 203|3507 ± 237",
    ("Waveform", "MC"): f"{MISS}|1456 ± 326|2072 ± 437|2678 ± 541|3452 ± 656|3874 ± 718"
    "|1637 ± 290|2491 ± 353|3366 ± 400|4246 ± 433|5152 ± 463",
    ("Waveform", "NBa"): "19698 ± 3935|836 ± 490|1129 ± 565|1420 ± 740|1766 ± 952|1931 ± 1002"
    "|1069 ± 444|1622 ± 523|2158 ± 713|2654 ± 824|3133 ± 918",
}
PAPER_3 = {
    ("LED", "MC"): f"{MISS}|969 ± 255 (4; 0)|856 ± 186 (3; 0)"
    "|1254 ± 355 (1; 0)|1089 ± 261|1005 ± 216",
    ("LED", "NBa"): "349 ± 11|281 ± 8|264 ± 7|473 ± 27|423 ± 26|397 ± 25",
    ("RBF", "MC"): "787 ± 190|563 ± 100|522 ± 92|779 ± 94|710 ± 100 (0; 1)|679 ± 98 (0; 2)",
    ("RBF", "NBa"): "384 ± 38|309 ± 29|291 ± 28|489 ± 48|465 ± 41 (0; 1)|440 ± 45 (0; 2)",
    ("random tree", "MC"): "325 ± 39|261 ± 33|244 ± 32"
    "|429 ± 93 (0; 1)|397 ± 79 (0; 2)|384 ± 67 (0; 3)",
    ("random tree", "NBa"): "262 ± 27|211 ± 25|198 ± 24"
    "|350 ± 51 (0; 1)|312 ± 52 (0; 1)|299 ± 37 (0; 3)",
    ("Waveform", "MC"): "780 ± 171|541 ± 65|496 ± 57 (2; 0)|762 ± 62|673 ± 57|662 ± 60 (0; 5)",
    ("Waveform", "NBa"): "457 ± 161|348 ± 89|324 ± 77 (1; 0)|551 ± 102|501 ± 102|468 ± 93",
}


@dataclass(frozen=True)
class Setting:
    """A stream of the paper: how it is made for a seed, where it changes, its naive Bayes."""

    make: Callable[[int, int, int], Stream]
    change: int
    naive_bayes: Any


def led(change: int, n_rows: int, seed: int) -> Stream:
    return LED(n_rows, n_drifting=(0, 7), change_rows=(change,), random_state=seed)


def rbf(change: int, n_rows: int, seed: int) -> Stream:
    after = RandomRBF(n_rows - change, speed=0.01, random_state=1000 + seed)
    return join_streams(RandomRBF(change, random_state=seed), after, change)


def random_tree(change: int, n_rows: int, seed: int) -> Stream:
    return RandomTree(n_rows, trees=(0, 1), change_rows=(change,), random_state=seed)


def waveform(change: int, n_rows: int, seed: int) -> Stream:
    return Waveform(n_rows, n_drifting=(0, 21), change_rows=(change,), random_state=seed)


SETTINGS = {
    "LED": Setting(led, 128_000, BernoulliNB()),
    "RBF": Setting(rbf, 32_000, IncrementalGaussianNB()),
    "random tree": Setting(random_tree, 32_000, IncrementalGaussianNB()),
    "Waveform": Setting(waveform, 32_000, IncrementalGaussianNB()),
}


def rows_of(
    name: str, stream: Stream, led_columns: int, *, as_indicators: bool
) -> tuple[np.ndarray, np.ndarray]:
    """All rows; where codes of nominal values mean nothing to naive Bayes, as indicators."""
    assert stream.n_rows is not None
    X, y = stream.rows(0, stream.n_rows)
    if name == "LED":
        X = X[:, :led_columns]
    if name == "random tree" and as_indicators:
        nominal = stream.nominal_features
        indicators = OneHotEncoder(sparse_output=False).fit_transform(X[:, nominal])
        X = np.hstack([np.delete(X, nominal, axis=1), indicators])
    return X, y


def learners(name: str, nominal: list[int], *, trees: bool) -> dict[str, Any]:
    """The models, by the name of their column in the printed tables."""
    if not trees:
        model = SETTINGS[name].naive_bayes
        return {"naive Bayes": model, "naive Bayes with DDM": DriftReset(model)}
    return {
        leaf: HoeffdingTreeClassifier(leaf_prediction=leaf.lower(), nominal_features=nominal)
        for leaf in ("MC", "NBa")
    }


#: By table and estimate; a ratio is formed by its detector, from the losses.
MONITORS = {
    **{
        f"2 {key}": DriftMonitor(PageHinkley(), on=forgetting)
        for key, forgetting in ESTIMATES.items()
    },
    **{f"3 {key}": DriftMonitor(detector) for key, detector in RATIOS.items()},
}
TABLES = {"2": ESTIMATES, "3": RATIOS}


@dataclass(frozen=True)
class Watched:
    """One model on one stream: scores of the alarms by table and estimate, how the error went.

    And the rows of alarms before the change.
    """

    scores: dict[str, dict[str, DetectionResult]]
    errors: tuple[float, ...]
    early: tuple[int, ...]


def watched(
    name: str, seed: int, n_after: int, led_columns: int, *, trees: bool
) -> dict[str, Watched]:
    """Evaluate the models on one stream, and score the alarms."""
    change = SETTINGS[name].change
    stream = SETTINGS[name].make(change, change + n_after, seed)
    X, y = rows_of(name, stream, led_columns, as_indicators=not trees)
    nominal = [c for c in getattr(stream, "nominal_features", ()) if c < X.shape[1]]
    models = learners(name, nominal, trees=trees)
    result = PrequentialEvaluator("error", run=RunOptions(keep_tape=True)).evaluate(models, X, y)
    detections = detect(result, MONITORS)
    spans = ((change - 5000, change), (change, change + 1000), (change + 9000, change + 10_000))
    found = {}
    for model in models:
        scores = {
            table: {
                key: score_detections(
                    detections[f"{table} {key}"][model].alarms,
                    [change],
                    tolerance=n_after,
                    n_rows=len(y),
                )
                for key in keys
            }
            for table, keys in TABLES.items()
        }
        wrong = result.predictions(model, every_row=True) != y
        errors = tuple(float(wrong[a:b].mean()) for a, b in spans)
        alarms = {int(row) for one in detections.values() for row in one[model].alarms}
        found[model] = Watched(scores, errors, tuple(row for row in alarms if row < change))
    return found


def cell(results: list[DetectionResult]) -> str:
    """Mean and deviation of the delays, seeds that missed, seeds with a false alarm."""
    delays = [delay for result in results for delay in result.delays]
    n_missed = len(results) - len(delays)
    n_false = sum(result.scores.false > 0 for result in results)
    text = f"{np.mean(delays):.0f}" if delays else MISS
    if len(delays) > 1:
        text += f" ± {np.std(delays, ddof=1):.0f}"
    partly = delays and n_missed
    return f"{text} ({n_missed}; {n_false})" if partly or n_false else text


def print_table(
    title: str, column: str, names: list[str], cells: dict[str, list[str]], paper: Any
) -> None:
    """Print a table of Markdown: lines are estimates, columns streams."""
    print(f"\n{title}\n")
    print("| estimate | " + " | ".join(names) + " |")
    print("|---|" + "---:|" * len(names))
    for number, (estimate, ours) in enumerate(cells.items()):
        shown = []
        for name, text in zip(names, ours, strict=True):
            theirs = paper.get((name, column), "").split("|")
            known = theirs[0] and number < len(theirs)
            shown.append(f"{text} [{theirs[number]}]" if known else text)
        print(f"| {estimate} | " + " | ".join(shown) + " |")


def print_tables(names: list[str], runs: dict[str, list[dict[str, Watched]]]) -> None:
    """Print the errors of each model around the change, and both tables."""
    for model in runs[names[0]][0]:
        of_model = {name: [run[model] for run in runs[name]] for name in names}
        column = "NBa" if model == "naive Bayes" else model
        print(f"\n{model}: errors in the 5,000 rows before the change, in the 1,000 after it,")
        print("and in those from 9,000 after it on:", end=" ")
        means = {name: np.mean([one.errors for one in of_model[name]], axis=0) for name in names}
        print("; ".join(f"{name} {a:.3f}, {b:.3f}, {c:.3f}" for name, (a, b, c) in means.items()))
        for name in names:
            early = [row for one in of_model[name] for row in one.early]
            if early:
                print(f"alarms before the change, {name}: rows {min(early):,} to {max(early):,}")
        for table, paper in (("2", PAPER_2), ("3", PAPER_3)):
            cells = {
                key: [cell([one.scores[table][key] for one in of_model[name]]) for name in names]
                for key in of_model[names[0]][0].scores[table]
            }
            print_table(f"Table {table}, {model}", column, names, cells, paper)
        print_findings([one.scores for name in names for one in of_model[name]])


def delay_in(scores: dict[str, DetectionResult], estimate: str) -> float:
    """Rows from the change to the alarm; infinite where it was missed."""
    return float(min(scores[estimate].delays, default=np.inf))


def sooner(runs: list[dict[str, DetectionResult]], pairs: Iterable[tuple[str, str]]) -> str:
    """How often the first of two estimates raised an alarm before the second, in the same run."""
    delays = [(delay_in(run, a), delay_in(run, b)) for a, b in pairs for run in runs]
    told_apart = [(a, b) for a, b in delays if a != b]
    return f"{sum(a < b for a, b in told_apart)} of {len(told_apart)}"


def print_findings(runs: list[dict[str, dict[str, DetectionResult]]]) -> None:
    """Print what the paper found, counted run by run, so that each run is compared with itself.

    A change that was missed counts as found last. Pairs of equal delay, or both missed, are not
    counted.
    """
    table_2, table_3 = [run["2"] for run in runs], [run["3"] for run in runs]
    fading, windows, as_noisy = list(FADING), list(WINDOWED), list(AS_NOISY)
    joined = [{**run["2"], "ratio": run["3"][f"fading {FACTORS[-1]:.4f}"]} for run in runs]
    n_missed = sum(np.isinf(delay_in(run, "all rows")) for run in table_2)
    print(f"\n- all rows: missed in {n_missed} of {len(runs)} runs")
    print(f"- the smaller of two neighbouring factors first in {sooner(table_2, pairwise(fading))}")
    print(f"- the shorter of two windows first in {sooner(table_2, pairwise(windows))}")
    pairs = list(zip(fading, windows, strict=True))
    print(f"- the factor before the window of its line in {sooner(table_2, pairs)}")
    pairs = list(zip(fading, as_noisy, strict=True))
    print(f"- the factor before the window as noisy in {sooner(table_2, pairs)}")
    print(
        f"- the ratio (0.9970 to 0.9994) before 0.9970 in {sooner(joined, [('ratio', fading[0])])}"
    )
    quotients = [delay_in(run, "ratio") / delay_in(run, fading[0]) for run in joined]
    known = [one for one in quotients if 0 < one < np.inf]
    print(f"- where both found the change, it took {np.median(known):.2f} of its delay, the median")
    pairs = list(zip(list(RATIOS)[:3], list(RATIOS)[3:], strict=True))
    print(f"- the ratio of factors before that of windows in {sooner(table_3, pairs)}")


def row_of(item: str, key: str, column: str, paper: str, scores: list[DetectionResult]) -> Row:
    """The mean delay beside the paper's; more misses or early alarms than there are a note."""
    delays = [delay for one in scores for delay in one.delays]
    n_missed, n_early = len(scores) - len(delays), sum(one.scores.false > 0 for one in scores)
    printed = re.search(r"\((\d+); (\d+)\)", paper)
    of_paper = (int(printed[1]), int(printed[2])) if printed else (0, 0)
    note = [f"{n_missed} missed"] if n_missed > of_paper[0] and delays else []
    note += [f"{n_early} early"] if n_early > of_paper[1] else []
    theirs = MISS if paper == MISS else float(paper.split()[0])
    ours = float(np.mean(delays)) if delays else MISS
    why = "" if column.endswith(("MC", "NBa")) else "naive Bayes alone, beside the paper's NBa"
    return Row("gama", item, key, column, theirs, ours, why, ", ".join(note))


def compared(runs: dict[str, list[dict[str, Watched]]], *, trees: bool) -> list[Row]:
    """The figures beside the paper's, and what its Figures 9 and 10 say."""
    found = []
    for number, paper in (("2", PAPER_2), ("3", PAPER_3)):
        for name, of_stream in runs.items():
            for model in of_stream[0] if trees else ["naive Bayes"]:
                theirs = paper[name, model if trees else "NBa"].split("|")
                for key, text in zip(list(TABLES[number]), theirs, strict=False):
                    scores = [run[model].scores[number][key] for run in of_stream]
                    place = f"Table {number}", key, f"{name}, {model}"
                    found.append(row_of(*place, text, scores))
    if trees:
        found += traces(
            {name: [run["NBa"].scores for run in of_stream] for name, of_stream in runs.items()}
        )
    return found


def traces(by_stream: dict[str, list[dict[str, dict[str, DetectionResult]]]]) -> list[Row]:
    """Which estimate was first, in the runs of Figures 9 and 10."""
    runs = [run for of_stream in by_stream.values() for run in of_stream]
    fading, window = next(iter(FADING)), next(iter(WINDOWED))
    table_2, table_3 = [run["2"] for run in runs], [run["3"] for run in runs]
    ratios = list(RATIOS)[len(LONG_FACTORS) - 1], list(RATIOS)[-1]
    first = "is the fastest", "a curve"
    said = f"{sooner(table_2, [(fading, window)])} runs first"
    ratio = f"{sooner(table_3, [ratios])} runs first"
    counts = {
        name: sum(np.isinf(delay_in(run["2"], "all rows")) for run in of_stream)
        for name, of_stream in by_stream.items()
    }
    missed = "missed on " + ", ".join(f"{name} in {n}" for name, n in counts.items())
    missed += f" of {len(next(iter(by_stream.values())))} runs"
    return [
        Row("gama", "Figure 9", f"{fading} before {window}", "", first[0], said, first[1]),
        Row("gama", "Figure 9", "all rows", "", "misses, but on Waveform", missed, first[1]),
        Row(
            "gama",
            "Figure 10",
            f"ratio, {ratios[0]} before {ratios[1]}",
            "",
            *("somewhat faster", ratio, first[1]),
        ),
    ]


def draw(folder: Path, led_columns: int) -> None:
    """Figures 9 and 10: errors and their ratios around the change, with the alarms, of one seed."""
    from matplotlib import pyplot

    shown = {"all rows": "cumulative", "window 1000": "window:1000", "fading .9970": "fading:0.997"}
    longer = {"window 5000": "window:5000", "fading .9994": "fading:0.9994"}
    detectors = {
        "windows 1000, 5000": (DriftMonitor(RATIOS["window 5000"]), "window 1000", "window 5000"),
        "factors .9970, .9994": (
            DriftMonitor(RATIOS["fading 0.9994"]),
            "fading .9970",
            "fading .9994",
        ),
    }
    monitors = {name: DriftMonitor(PageHinkley(), on=on) for name, on in shown.items()}
    monitors |= {name: monitor for name, (monitor, *_) in detectors.items()}
    figures = [pyplot.subplots(2, 2, figsize=(11, 6.4)) for _ in range(2)]
    for place, (name, setting) in enumerate(SETTINGS.items()):
        change = setting.change
        stream = setting.make(change, change + 20_000, 0)
        X, y = rows_of(name, stream, led_columns, as_indicators=False)
        nominal = [c for c in getattr(stream, "nominal_features", ()) if c < X.shape[1]]
        model = {"NBa": learners(name, nominal, trees=True)["NBa"]}
        evaluator = PrequentialEvaluator(
            "error", forgetting=shown | longer, record_every=50, run=RunOptions(keep_tape=True)
        )
        result = evaluator.evaluate(model, X, y)
        near = (result.checkpoints > change - 5000) & (result.checkpoints <= change + 10_000)
        curves = {one: result.curve("NBa", forgetting=one)[near] for one in shown | longer}
        ratios = {one: curves[a] / curves[b] for one, (_, a, b) in detectors.items()}
        found = detect(result, monitors)
        for (_, grid), drawn, metric in zip(
            figures, ({one: curves[one] for one in shown}, ratios), ("error", "ratio"), strict=True
        ):
            rows = result.checkpoints[near]
            first = {}
            for one in drawn:
                alarms = [int(row) for row in found[one]["NBa"].alarms]
                first[one] = [row for row in alarms if change <= row <= rows[-1]][:1]
            axes = grid.flat[place]
            PrequentialDisplay(
                curves=drawn, metric=metric, forgetting=name, checkpoints=rows, drifts=[change]
            ).plot(ax=axes)
            for line, alarms in zip(axes.lines, first.values(), strict=False):
                for row in alarms:
                    axes.axvline(row, color=line.get_color(), linewidth=0.9, linestyle=":")
            axes.set_xlim(rows[0], rows[-1])
    for (figure, _), file in zip(figures, ("gama_traces.png", "gama_ratios.png"), strict=True):
        figure.tight_layout()
        figure.savefig(folder / file, dpi=110)


def print_stationary(n_losses: int) -> None:
    """Print alarms per 100,000 losses that are wrong with the same probability throughout."""
    rng = np.random.default_rng(0)
    rates = {}
    for error in ERRORS:
        # A model that always answers 0 is wrong where the label is 1.
        y = (rng.random(n_losses) < error).astype(np.int64)
        y[0] = 0
        evaluator = PrequentialEvaluator("error", run=RunOptions(keep_tape=True))
        result = evaluator.evaluate({"zero": MajorityClass()}, np.zeros((n_losses, 1)), y)
        assert np.isclose(result.scores["zero"]["error"] * (n_losses - 1), y.sum())
        detections = detect(result, MONITORS)
        rates[error] = {
            f"{label} {key}": 1e5 * len(detections[f"{table} {key}"]["zero"].alarms) / n_losses
            for table, label in (("2", "error,"), ("3", "ratio,"))
            for key in TABLES[table]
        }
    print(f"\nAlarms per 100,000 losses, of {n_losses:,}\n")
    print("| estimate | " + " | ".join(f"{error:g}" for error in ERRORS) + " |")
    print("|---|" + "---:|" * len(ERRORS))
    for key in rates[ERRORS[0]]:
        print(f"| {key} | " + " | ".join(f"{rates[error][key]:.1f}" for error in ERRORS) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows-after", type=int, default=64_000)
    parser.add_argument("--trees", action="store_true", help="Hoeffding trees")
    parser.add_argument("--stationary", action="store_true", help="false alarms, without a change")
    parser.add_argument("--losses", type=int, default=1_000_000, help="of each rate of errors")
    parser.add_argument("--led-columns", type=int, default=SEGMENTS, help="24: as MOA's default")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--pictures", type=Path, help="draw Figures 9 and 10 of one seed alone")
    add_json_option(parser)
    options = parser.parse_args()
    print(versions("scikit-learn", "numpy", "river"))
    started = perf_counter()
    if options.pictures is not None:
        draw(options.pictures, options.led_columns)
        return
    if options.stationary:
        print_stationary(options.losses)
        print(f"\n{perf_counter() - started:.0f} s")
        return
    places = [(name, seed) for name in options.streams for seed in range(options.seeds)]
    done = Parallel(n_jobs=options.n_jobs)(
        delayed(watched)(name, seed, options.rows_after, options.led_columns, trees=options.trees)
        for name, seed in places
    )
    runs: dict[str, list[dict[str, Watched]]] = {name: [] for name in options.streams}
    for (name, _), found in zip(places, done, strict=True):
        runs[name].append(found)
    print_tables(options.streams, runs)
    record(compared(runs, trees=options.trees), options.json)
    print(f"\n{options.seeds} seeds, {perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
