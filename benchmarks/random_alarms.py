"""Accuracy against the probability of random alarms, as in Figure 7 of Zliobaite et al. (2015).

A model that is replaced at random times, which know nothing of the stream, on three versions of
Electricity and of the first 20,000 rows of Covertype: as they are; features shuffled within each
class, so that labels keep their order and nothing else changes; rows fully shuffled.

    python -m benchmarks.random_alarms
    python -m benchmarks.random_alarms --seeds 3 --picture docs/images/random_alarms.png
    python -m benchmarks.random_alarms --versions within --warm-up 1

Where this differs from the paper: naive Bayes is IncrementalGaussianNB, whose variances have a
floor, and which is not lost after a few rows; nominal features are codes; Covertype is its first
20,000 rows. The paper prints no figures, only curves. The majority class is there because the
paper's Proposition 9 is about it. ``--warm-up``: rows learnt after a replacement before the next
alarm; 30 in the paper. Streams are read from the folder that SKSTREAM_DATA names.
"""

import argparse
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks._delayed_streams import feature_names, numbers, read_columns
from benchmarks._fidelity import Row, add_json_option, record
from benchmarks._kernel_speed import versions
from skstream import DriftReset, MajorityClass, Persistent, PrequentialEvaluator, RunOptions
from skstream.drift import RandomAlarm
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import shuffle_rows, shuffle_within_class

STREAMS = {
    "Electricity": "electricity",
    "Electricity, five inputs": "electricity",
    "Covertype": "covertype_head20k",
}
# Inputs of the paper: date and prices are left out, of which one gives the label.
FIVE = ["day", "period", "nswdemand", "vicdemand", "transfer"]
PROBABILITIES = (0.0001, 0.001, 0.01, 0.1, 1.0)
VERSIONS = {"original": None, "within": shuffle_within_class, "shuffled": shuffle_rows}
TITLES = {"original": "as it is", "within": "within classes", "shuffled": "fully shuffled"}
NAIVE_BAYES, MAJORITY = "naive Bayes", "majority class"
ALONE = {NAIVE_BAYES: IncrementalGaussianNB(), MAJORITY: MajorityClass()}


def version_of(stream: str, version: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of one version of a stream."""
    table = read_columns(STREAMS[stream])
    X = numbers(table, FIVE if stream.endswith("five inputs") else feature_names(table))
    y = np.asarray(table.column("class").cast("string").to_pylist())
    shuffle = VERSIONS[version]
    return (X, y) if shuffle is None else shuffle(X, y, random_state=seed)


def learners(warm_up: int) -> dict[str, Any]:
    """Models without alarms, with DDM, and with random ones; and the persistent one."""
    models: dict[str, Any] = {"persistent": Persistent()}
    for name, model in ALONE.items():
        models[name] = model
        models[f"{name}, DDM"] = DriftReset(model)
        for probability in PROBABILITIES:
            alarm = RandomAlarm(probability, warm_up=warm_up)
            models[f"{name}, {probability:g}"] = DriftReset(model, detector=alarm, warm_up=warm_up)
    return models


def accuracies(stream: str, version: str, n_seeds: int, warm_up: int) -> dict[str, float]:
    """Accuracy of each model, the mean over the seeds."""
    scores = []
    for seed in range(n_seeds):
        evaluator = PrequentialEvaluator(
            "accuracy", random_state=seed, run=RunOptions(keep_tape=False)
        )
        result = evaluator.evaluate(learners(warm_up), *version_of(stream, version, seed))
        scores.append([one["accuracy"] for one in result.scores.values()])
    means = np.mean(scores, axis=0).tolist()
    return dict(zip(result.model_names, means, strict=True))


#: What the paper says of each version (section 6.9).
CLAIMS = {
    "original": "accuracy rises with the probability of alarms",
    "within": "accuracy rises with the probability of alarms",
    "shuffled": "alarms cost accuracy",
}


def compared(found: dict[tuple[str, str], dict[str, float]]) -> list[Row]:
    """The curves of naive Bayes beside what the paper says of them."""
    rows = []
    for (stream, version), accuracy in found.items():
        curve = [f"{accuracy[f'{NAIVE_BAYES}, {p:g}']:.3f}" for p in PROBABILITIES]
        said = f"{accuracy[NAIVE_BAYES]:.3f} without, {', '.join(curve)} (p = .0001 … 1)"
        place = "Figure 7", f"{stream}, {TITLES[version]}", ""
        rows.append(Row("zliobaite", *place, CLAIMS[version], said, "a curve"))
    return rows


def draw(found: dict[tuple[str, str], dict[str, float]], path: Path) -> None:
    """Draw the curves: a column for each version, a line of panels for each stream."""
    from matplotlib import pyplot

    streams, shown = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    size = 3.6 * len(shown), 2.9 * len(streams)
    figure, grid = pyplot.subplots(
        len(streams), len(shown), figsize=size, sharex=True, sharey="row", squeeze=False
    )
    for (stream, version), accuracy in found.items():
        axes = grid[streams.index(stream)][shown.index(version)]
        for name, color in ((NAIVE_BAYES, "tab:blue"), (MAJORITY, "tab:orange")):
            curve = [accuracy[f"{name}, {probability:g}"] for probability in PROBABILITIES]
            axes.plot(PROBABILITIES, curve, marker="o", color=color, label=f"{name}, random")
        axes.axhline(accuracy[NAIVE_BAYES], color="tab:blue", linestyle="--", label=NAIVE_BAYES)
        axes.axhline(
            accuracy[f"{NAIVE_BAYES}, DDM"], color="tab:blue", linestyle=":", label="with DDM"
        )
        axes.axhline(accuracy["persistent"], color="black", linewidth=0.9, label="persistent")
        axes.set_title(f"{stream}, {TITLES[version]}", fontsize=10)
        axes.set_xscale("log")
    for axes in grid[:, 0]:
        axes.set_ylabel("accuracy")
    for axes in grid[-1]:
        axes.set_xlabel("probability of an alarm")
    lines, names = grid[0][0].get_legend_handles_labels()
    figure.legend(lines, names, loc="lower center", ncols=len(names), fontsize=8)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--versions", nargs="+", choices=VERSIONS, default=list(VERSIONS))
    parser.add_argument("--seeds", type=int, default=1, help="of shuffles and alarms")
    parser.add_argument("--warm-up", type=int, default=30)
    add_json_option(parser)
    parser.add_argument("--picture", type=Path, help="file for the curves (needs matplotlib)")
    options = parser.parse_args()
    started = perf_counter()
    print(versions("scikit-learn", "numpy"))
    columns = [f"{probability:g}" for probability in PROBABILITIES]
    print("\n| stream | version | persistent | model | alone | DDM |", " | ".join(columns), "|")
    print("|---|---|---:|---|---:|---:|" + "---:|" * len(columns))
    found = {}
    for stream in options.streams:
        for version in options.versions:
            accuracy = accuracies(stream, version, options.seeds, options.warm_up)
            found[stream, version] = accuracy
            for name in ALONE:
                ends = ["", ", DDM", *(f", {column}" for column in columns)]
                cells = " | ".join(f"{accuracy[name + end]:.3f}" for end in ends)
                persistent = f"{accuracy['persistent']:.3f}"
                print(f"| {stream} | {version} | {persistent} | {name} | {cells} |", flush=True)
    record(compared(found), options.json)
    print(f"\n{options.seeds} seeds, {perf_counter() - started:.0f} s")
    if options.picture is not None:
        draw(found, options.picture)


if __name__ == "__main__":
    main()
