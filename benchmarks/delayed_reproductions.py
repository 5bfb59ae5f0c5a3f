"""Performance by bin beside the tables of Grzenda, Gomes & Bifet (2020).

Prints Lambda(T, b) at b = 0, 45 and B + 1 (accuracy in percent; mean absolute error for bike
sharing) with B = 50 and K = 10, and what its figures show. Differences: naive Bayes is
IncrementalGaussianNB, whose variances have a floor; neighbours, tree and forest are skstream's; the
adaptive tree (HAT), and the tree, forest and rules for numbers, are River's, row by row; ORTO is
not here. SGD is added. Baselines answer from the first row on, as in the paper; rows that others
are asked before the first label are unscored.

    python -m benchmarks.delayed_reproductions
    python -m benchmarks.delayed_reproductions --streams electricity --bins 100
    python -m benchmarks.delayed_reproductions --without kNN HAT     (minutes less)
    python -m benchmarks.delayed_reproductions --streams agrawal_500     (beside agrawal)
    python -m benchmarks.delayed_reproductions --polls --pictures docs/images
"""

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import sklearn
from river import forest, rules, tree
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.preprocessing import StandardScaler

import skstream
from benchmarks._delayed_streams import STREAMS, DelayedStream
from benchmarks._fidelity import Row, add_json_option, record
from skstream import (
    DelayedEvaluator,
    MajorityClass,
    MeanRegressor,
    Persistent,
    PersistentRegressor,
    Polling,
    RunOptions,
    make_stream_pipeline,
)
from skstream.compat import from_river
from skstream.core.evaluators.delayed import DelayedResult
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.plotting import BinnedPerformanceDisplay
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier

#: Why figures of a stream stand beside the paper's, and are not its own.
CHOSEN = "parameters of the generator that the paper does not give are our choice"
RIVERS = "River's learner, not MOA's"
WHY = {
    "covertype": "the features at hand end at row 20,000",
    "hyperplane": CHOSEN,
    "led": CHOSEN,
    "agrawal": CHOSEN,
    "agrawal_500": CHOSEN,
}
#: Learners that are River's.
BY_RIVER = {
    "HAT": tree.HoeffdingAdaptiveTreeClassifier(seed=0),
    "FIMTDD": tree.HoeffdingTreeRegressor(),
    "ARFReg": forest.ARFRegressor(seed=0),
    "AMRules": rules.AMRules(),
}
TITLES = {
    "electricity": "Electricity",
    "covertype": "Covertype",
    "covertype_labels": "Covertype",
    "bike_sharing": "Bike sharing",
    "hyperplane": "Hyperplane",
    "led": "LED",
    "agrawal": "Agrawal",
    "agrawal_500": "Agrawal, labels after 500 rows",
}


def baselines(*, regression: bool) -> dict:
    """Models that can answer before the first label."""
    if regression:
        return {"mean": MeanRegressor(), "persistent": PersistentRegressor()}
    return {"NC": Persistent(), "MC": MajorityClass()}


def learners(*, regression: bool) -> dict:
    """Learners of Tables 1 and 2 that are here, and SGD."""
    if regression:
        rivers = {name: from_river(BY_RIVER[name]) for name in ("FIMTDD", "ARFReg", "AMRules")}
        return {**rivers, "SGD, scaled": make_stream_pipeline(StandardScaler(), SGDRegressor())}
    return {
        "NB": IncrementalGaussianNB(),
        "kNN": WindowedKNeighborsClassifier(10, window_size=1000),
        "HT": HoeffdingTreeClassifier(),
        "HAT": from_river(BY_RIVER["HAT"]),
        "ARF": AdaptiveRandomForestClassifier(random_state=0),
        "SGD, scaled": make_stream_pipeline(StandardScaler(), SGDClassifier()),
        "SGD, raw": SGDClassifier(),
    }


Scores = dict[str, np.ndarray]


@dataclass(frozen=True)
class Found:
    """What came out on one stream: by model, the scores of all bins, and their course."""

    by_bin: Scores
    courses: Scores


def print_rows(name: str, stream: DelayedStream, options: argparse.Namespace) -> Found:
    """Evaluate on one stream and print its part of the table."""
    regression = stream.y.dtype.kind == "f"
    print(f"\n{name}: {len(stream.y):,} rows x {stream.X.shape[1]} features; {stream.difference}")
    found = Found({}, {})
    for n_warmup, make in ((1, learners), (0, baselines)):
        if n_warmup and not stream.X.shape[1]:
            continue
        models = make(regression=regression)
        for left_out in options.without:
            models.pop(left_out, None)
        evaluator = DelayedEvaluator(
            "mae" if regression else "accuracy",
            n_warmup=n_warmup,
            random_state=0,
            run=RunOptions(keep_tape=False),
            polling=Polling(n_bins=options.bins, poll_every=options.poll_every),
        )
        started = perf_counter()
        result = evaluator.evaluate(
            models,
            stream.X if n_warmup else np.zeros((len(stream.y), 1)),
            stream.y,
            arrival=stream.arrival,
            label_time=stream.label_time,
        )
        print_result(result, stream, perf_counter() - started)
        scale = 1 if regression else 100
        at = min(stream.n_rows_of_paper, result.waits.n_labelled)
        for model in result.model_names:
            found.by_bin[model] = scale * result.by_bin(model, at=at)
            found.courses[model] = scale * result.curve(model)[:, 0]
    for model in stream.paper:
        if model not in found.by_bin:
            print_row(model, None, stream.paper[model])
    return found


def print_result(result: DelayedResult, stream: DelayedStream, seconds: float) -> None:
    """Print the lines of some models."""
    waits = result.waits
    at = min(stream.n_rows_of_paper, waits.n_labelled)
    seen = int(result.checkpoints[np.searchsorted(result.checkpoints, at, side="right") - 1])
    print(
        f"  {seen:,} of {waits.n_labelled:,} labels, {waits.n_unanswered:,} of unscored rows; "
        f"delay {waits.delays['mean']:.1f} on average, {waits.delays['max']:g} at most; "
        f"{waits.n_polls:,} polls, {waits.n_polls / waits.n_labelled:.1f} per label; "
        f"{seconds:.1f} s"
    )
    metric = result.metric_names[0]
    columns, scale = [0, round(0.9 * waits.n_bins), waits.n_bins + 1], 1 if metric == "mae" else 100
    print(f"  {'':18}" + "".join(f"  b={b:<6}" for b in columns) + "   paper: b=0    b=45   b=B+1")
    for model in result.model_names:
        print_row(model, scale * result.by_bin(model, at=at)[columns], stream.paper.get(model))


def print_row(name: str, values: np.ndarray | None, given: tuple[float, ...] | None) -> None:
    """Print one line of the table."""
    ours = " " * 30 if values is None else "".join(f"{value:10.2f}" for value in values)
    theirs = "" if given is None else "".join(f"{value:8.2f}" for value in given)
    print(f"  {name:18}{ours}       {theirs}".rstrip())


def compared(name: str, stream: DelayedStream, found: Found) -> list[Row]:
    """Figures beside those of Tables 1 and 2."""
    item = "Table 2" if name == "bike_sharing" else "Table 1"
    rows = []
    for model, theirs in stream.paper.items():
        if model not in found.by_bin or (name == "covertype" and model in ("NC", "MC")):
            continue
        ours = found.by_bin[model]
        for k, (b, given) in enumerate(zip((0, 45, 51), theirs, strict=True)):
            shown = f"{TITLES[name]}, b = {('0', '45', 'B + 1')[k]}"
            place = item, shown, model
            why = RIVERS if model in BY_RIVER else WHY.get(name, "")
            rows.append(Row("grzenda", *place, given, float(ours[b]), why))
    return rows


#: Figures by bin: what the paper says of them, of which learners.
BY_BIN = {
    "hyperplane": ("Figure 3", "learners gain from bin to bin, NC and MC do not"),
    "electricity": ("Figure 5", "first kNN is best, at the end NC"),
    "covertype": ("Figure 7", "first NB is best, at the end ARF"),
    "led": ("Figure 8", "learners gain from bin to bin, NC and MC do not"),
    "agrawal": ("Figure 9", "HT at b = 45 is above all first predictions"),
    "agrawal_500": ("Figure 9", "HT at b = 45 is above all first predictions"),
    "bike_sharing": ("Figure 14", "errors of the mean hardly vary with the bin"),
}
#: Figures over time, of kNN.
OVER_TIME = {
    "electricity": ("Figure 6", "the last prediction is the best", 51),
    "agrawal": ("Figure 10", "late predictions become better than first ones", 45),
    "agrawal_500": ("Figure 10", "late predictions become better than first ones", 45),
}
#: Learners of ours and River's whose gain tells the two delays of Agrawal apart; the paper's forest
#: is far below all of them, ours above.
GAINING = ("NB", "kNN", "HT", "HAT")


def shapes(name: str, found: Found) -> list[Row]:
    """What the paper says of its figures beside what is found."""
    rows = []
    if name in BY_BIN:
        item, claim = BY_BIN[name]
        curves = {m: c for m, c in found.by_bin.items() if not m.startswith(("SGD", "persist"))}
        said = "; ".join(f"{m} {c[0]:.1f} → {c[45]:.1f} → {c[51]:.1f}" for m, c in curves.items())
        said += " (b = 0, 45, B + 1)"
        rows.append(Row("grzenda", item, TITLES[name], "", claim, said, "a curve"))
    if name in OVER_TIME and "kNN" in found.courses:
        item, claim, b = OVER_TIME[name]
        course = found.courses["kNN"]
        share = 100 * np.mean(
            course[:, b] > course[:, [c for c in (0, 25, 45, 51) if c < b]].max(1)
        )
        bins = ", ".join(str(c) for c in (0, 25, 45, 51) if c < b)
        said = f"kNN: b = {b} above b = {bins} at {share:.0f} % of the checkpoints"
        rows.append(Row("grzenda", item, TITLES[name], "", claim, said, "a curve"))
    return rows


def delays_of_agrawal(options: argparse.Namespace, found: Found) -> list[Row]:
    """Which of the two delays that the paper names fits its Table 1."""
    stream = STREAMS["agrawal"]()
    gains = {1000: print_rows("agrawal", stream, options).by_bin, 500: found.by_bin}
    of = {delay: [s[m][51] - s[m][0] for m in GAINING] for delay, s in gains.items()}
    of_paper = float(np.mean([stream.paper[m][2] - stream.paper[m][0] for m in GAINING]))
    said = ", ".join(f"{np.mean(gain):.1f} with {delay:,} rows" for delay, gain in of.items())
    said += f", {of_paper:.1f} in Table 1"
    print(f"gain from the first to the last prediction, mean of {', '.join(GAINING)}: {said}")
    line = f"Agrawal, gain from b = 0 to B + 1, mean of {', '.join(GAINING)}"
    claim = "labels after 500 rows (section 5.1: after 1,000)"
    return [Row("grzenda", "Figure 9", line, "", claim, said, "a curve")]


def no_change(n_bins: int, poll_every: int) -> DelayedResult:
    """No-change on Electricity."""
    stream = STREAMS["electricity"]()
    evaluator = DelayedEvaluator(
        "accuracy",
        n_warmup=0,
        run=RunOptions(keep_tape=False),
        polling=Polling(n_bins=n_bins, poll_every=poll_every),
    )
    times = {"arrival": stream.arrival, "label_time": stream.label_time}
    return evaluator.evaluate({"NC": Persistent()}, np.zeros((len(stream.y), 1)), stream.y, **times)


def hyperparameters() -> list[Row]:
    """Figures 12 and 13: what K costs, and what B changes, for no-change on Electricity."""
    print("\nelectricity, NC: periodic answers by K, and the effect of B")
    costs = {k: no_change(50, k).waits for k in (1, 10, 50)}
    each = {k: waits.n_polls / waits.n_labelled for k, waits in costs.items()}
    said = ", ".join(f"{polls:.1f} (K = {k})" for k, polls in each.items())
    print(f"  periodic answers for each label: {said}")
    claim = "about 10 with K = 10, and stable"
    rows = [Row("grzenda", "Figure 12", "periodic answers by label", "", claim, said, "a stand-in")]
    gaps = {b: gap.max() for b, gap in distances(smooth_curves()).items()}
    said = f"largest distance to B = 100: B = 10 {gaps[10]:.1f}, B = 50 {gaps[50]:.1f} points"
    print(f"  {said}")
    claim = "below 20 bins coarse; 50 and 100 hardly differ"
    return [*rows, Row("grzenda", "Figure 13", "NC by bin", "", claim, said, "a curve")]


#: Shares of the waiting time at which Figure 13 is compared.
SHARES = np.linspace(0.02, 1, 50)


def smooth_curves() -> dict[int, np.ndarray]:
    """Accuracy of no-change along the waiting time, per cent, by the number of bins."""
    curves = {b: 100 * no_change(b, 10).by_bin("NC")[1:-1] for b in (10, 50, 100)}
    return {b: np.interp(SHARES, np.arange(1, b + 1) / b, curve) for b, curve in curves.items()}


def distances(smooth: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Distances to the curve of 100 bins."""
    return {b: np.abs(smooth[b] - smooth[100]) for b in (10, 50)}


def polls(folder: Path | None) -> list[Row]:
    """Figure 12 along the stream; pictures of it and of Figure 13."""
    results = {k: no_change(50, k) for k in (1, 5, 10, 20, 50)}
    costs = {k: result.waits.poll_costs for k, result in results.items()}
    late = {k: cost["NR"][len(cost["NR"]) // 10 :] for k, cost in costs.items()}
    said = ", ".join(f"{nr.min():.2f} to {nr.max():.2f} (K = {k})" for k, nr in late.items())
    print(f"periodic answers by label, along the stream after its first tenth: {said}")
    if folder is not None:
        draw_polls(costs, folder)
    place = "Figure 12", "periodic answers by label, along the stream after its first tenth", ""
    return [Row("grzenda", *place, "all plots are stable", said, "a stand-in")]


def draw_polls(costs: dict[int, dict[str, np.ndarray]], folder: Path) -> None:
    """Figures 12 and 13."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2))
    for k, cost in costs.items():
        left.plot(cost["n_labels"], cost["NR"], label=f"K = {k}")
    left.set_yscale("log")
    left.set_yticks([1, 2, 5, 10, 20, 50, 100], labels=["1", "2", "5", "10", "20", "50", "100"])
    left.minorticks_off()
    left.set_xlabel("labels")
    left.set_title("periodic answers for each label", fontsize=10)
    left.legend(fontsize=8, loc="center right")
    results = [no_change(b, 10) for b in (10, 20, 50, 100)]
    BinnedPerformanceDisplay.from_bin_counts(results, "NC", ax=right)
    figure.tight_layout()
    figure.savefig(folder / "grzenda_polls.png", dpi=110)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = [name for name in STREAMS if name != "agrawal_500"]
    parser.add_argument("--streams", nargs="+", choices=list(STREAMS), default=usual)
    parser.add_argument("--bins", type=int, default=50)
    parser.add_argument("--poll-every", type=int, default=10)
    parser.add_argument("--without", nargs="+", default=[], help="learners left out")
    parser.add_argument("--polls", action="store_true", help="Figures 12 and 13 along the stream")
    parser.add_argument("--pictures", type=Path, help="folder for their picture, with --polls")
    add_json_option(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}")
    if options.polls:
        record(polls(options.pictures), options.json)
        return
    for name in options.streams:
        stream = STREAMS[name]()
        found = print_rows(name, stream, options)
        if options.bins == 50 and options.poll_every == 10:
            record([*compared(name, stream, found), *shapes(name, found)], options.json)
        if name == "agrawal_500":
            record(delays_of_agrawal(options, found), options.json)
    if "electricity" in options.streams:
        record(hyperparameters(), options.json)


if __name__ == "__main__":
    main()
