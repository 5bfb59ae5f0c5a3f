"""When does refitting stop paying? Accuracy and seconds of boosting by the rows between refits.

    python examples/how_often_to_refit.py pictures --data data

The stream is electricity.parquet in --data, or in the folder that the environment variable
SKSTREAM_DATA names; if it is not found, a demo stream is used.
"""

import argparse
import os
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # pictures go to files; none is shown

import matplotlib.pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from skstream import EvaluationResult, ParquetStream, PeriodicRefit, PrequentialEvaluator
from skstream.streams import make_demo_stream, take_rows

EVERY = [48 * 2**k for k in range(8)]  # half-hours: from a day to 128 days
WINDOWS = (1_000, 5_000, None)


def name_of(every: int, window: int | None) -> str:
    return f"every {every:,}, last {window or 'all'}"


def evaluated(stream: Any) -> EvaluationResult:
    """Evaluate a model for every schedule and window, all on the same rows."""
    boosting = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, early_stopping=False)
    models = {
        name_of(every, window): PeriodicRefit(boosting, every=every, window=window, min_rows=500)
        for window in WINDOWS
        for every in EVERY
    }
    return PrequentialEvaluator("accuracy", random_state=0, n_jobs=-1).evaluate(models, stream)


def draw(result: EvaluationResult, folder: Path) -> Path:
    """Plot accuracy and the seconds spent in refits against the rows between two refits."""
    figure, (scores, seconds) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for window in WINDOWS:
        names = [name_of(every, window) for every in EVERY]
        label = "all rows" if window is None else f"last {window:,} rows"
        accuracies = [result.scores[name]["accuracy"] for name in names]
        scores.plot(EVERY, accuracies, marker="o", label=label)
        costs = [result.costs[name].seconds_refitting for name in names]
        seconds.plot(EVERY, costs, marker="o", label=label)
    for ax, title in ((scores, "accuracy"), (seconds, "seconds in refits")):
        ax.set(xscale="log", xlabel="rows between refits (every)", title=title)
        ax.set_xticks(EVERY, [f"{every:,}" for every in EVERY], rotation=45)
        ax.minorticks_off()
    seconds.set_yscale("log")
    scores.legend(title="fitted on")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "how_often_to_refit.png"
    figure.savefig(path, dpi=110)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pictures", type=Path, nargs="?", default=Path("pictures"))
    parser.add_argument("--data", type=Path, help="folder of electricity.parquet")
    parser.add_argument("--rows", type=int, default=45_312, help="maximum number of rows")
    options = parser.parse_args()
    folder = options.data or Path(os.environ.get("SKSTREAM_DATA", "."))
    stream: Any = make_demo_stream(options.rows)
    if (folder / "electricity.parquet").exists():
        # The label is derived from nswprice, and vicprice is close to it: neither is a feature.
        excluded = ["date", "nswprice", "vicprice"]
        stream = ParquetStream(folder / "electricity.parquet", target="class", exclude=excluded)
    result = evaluated(take_rows(stream, options.rows))
    print(result)
    print(draw(result, options.pictures))


if __name__ == "__main__":
    main()
