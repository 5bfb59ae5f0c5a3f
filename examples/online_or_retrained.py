"""Is a model trained on every row better than boosting refitted every day or week?

Three real streams, with labels at once, a day late, and a week late. Each row is predicted when it
arrives, and this prediction is scored.

    python examples/online_or_retrained.py --data data

The streams (electricity.parquet, bike_sharing_hour.parquet, weather_noaa.parquet) are read from
--data, or from the folder that the environment variable SKSTREAM_DATA names; if none is found, a
demo stream is used. The nine evaluations run in parallel, in --jobs processes.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, cpu_count, delayed
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import (
    DelayedEvaluator,
    EvaluationResult,
    ParquetStream,
    PeriodicRefit,
    Persistent,
    Polling,
    PrequentialEvaluator,
    TemporallyAugmented,
    make_stream_pipeline,
)
from skstream.drift import ADWIN
from skstream.preprocessing import StreamOneHotEncoder
from skstream.streams import make_demo_stream, take_rows
from skstream.tree import HoeffdingTreeClassifier


class Setting(NamedTuple):
    """A stream: columns that are not features; a day, a week and two schedules in rows."""

    excluded: tuple[str, ...]
    day: int
    week: int
    often: int
    seldom: int


SETTINGS = {
    # The label is derived from nswprice, and vicprice is close to it.
    "electricity": Setting(("date", "nswprice", "vicprice"), 48, 336, 48, 336),
    # The label is whether cnt, the sum of two others, is above a threshold.
    "bike_sharing_hour": Setting(
        ("instant", "dteday", "casual", "registered", "cnt"), 24, 168, 24, 168
    ),
    # A row is a day: the schedules are a month and a year instead of a day and a week.
    "weather_noaa": Setting((), 1, 7, 30, 365),
    "demo": Setting((), 48, 336, 48, 336),
}
METRICS = ["accuracy", "log_loss"]


def models_for(setting: Setting, categories: list[int]) -> dict[str, Any]:
    """Return models trained row by row, and boosting on four schedules."""
    boosting = HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=8, early_stopping=False, categorical_features=categories
    )
    columns = ColumnTransformer(
        [("categories", StreamOneHotEncoder(sparse_output=False), categories)],
        remainder=StandardScaler(),
    )
    seldom = PeriodicRefit(boosting, every=setting.seldom, window=5_000)
    sgd = SGDClassifier(loss="log_loss")
    # The default step size is large: 10 at first, then falling. These are small and constant.
    small, smaller = (
        clone(sgd).set_params(learning_rate="constant", eta0=eta0) for eta0 in (0.1, 0.01)
    )
    return {
        "persistent": Persistent(),
        "linear, row by row": make_stream_pipeline(columns, sgd),
        "linear, steps of 0.1": make_stream_pipeline(columns, small),
        "linear, steps of 0.01": make_stream_pipeline(columns, smaller),
        "Hoeffding tree": HoeffdingTreeClassifier(nominal_features=categories),
        "boosting, often": PeriodicRefit(boosting, every=setting.often, window=2_000),
        "boosting, seldom": seldom,
        # Models trained row by row have seen the last label; here boosting gets it, too.
        "the same, with the last label": TemporallyAugmented(seldom),
        "boosting, on alarms": PeriodicRefit(
            boosting, every=None, window=5_000, min_rows=1_000, detector=ADWIN()
        ),
        "boosting, once": PeriodicRefit(boosting, every=None, min_rows=5_000),
    }


def evaluated(name: str, path: Path, delay: int, n_rows: int | None) -> EvaluationResult:
    """Evaluate all models on one stream, with labels that come `delay` rows late."""
    setting = SETTINGS[name]
    stream: Any = make_demo_stream(20_000)
    if name != "demo":
        stream = ParquetStream(path, target="class", exclude=setting.excluded)
    categories = getattr(stream, "categories", {})
    places = [stream.feature_names.index(column) for column in categories]
    stream = stream if n_rows is None else take_rows(stream, n_rows)
    models = models_for(setting, places)
    if not delay:
        return PrequentialEvaluator(METRICS, random_state=0).evaluate(models, stream)
    evaluator = DelayedEvaluator(
        METRICS, delay=delay, random_state=0, polling=Polling(n_bins=1, poll_every=None)
    )
    return evaluator.evaluate(models, stream).select(bins=0)  # the predictions at arrival


def table(results: dict[str, EvaluationResult], metric: str) -> str:
    """A measure at arrival for each delay, a line per model; refits, and seconds in total."""
    lines = [["model", *results, "refits", "seconds"]]
    for model in next(iter(results.values())).scores:
        costs = [result.costs[model] for result in results.values()]
        n_refits = sum(map(len, costs[0].refit_rows))
        scores = [f"{result.scores[model][metric]:.4f}" for result in results.values()]
        seconds = f"{sum(cost.seconds for cost in costs):.1f}"
        lines.append([model, *scores, f"{n_refits:,}" if n_refits else "", seconds])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        line[0].ljust(widths[0])
        + "".join(f"  {cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    )


def all_results(
    streams: dict[str, Path], n_rows: int | None, n_jobs: int
) -> Iterator[tuple[str, dict[str, EvaluationResult]]]:
    """Yield the results of each stream, by delay."""
    tasks = [
        (name, words, delay)
        for name in streams
        for words, delay in (
            ("at once", 0),
            ("a day late", SETTINGS[name].day),
            ("a week late", SETTINGS[name].week),
        )
    ]
    run = Parallel(n_jobs=n_jobs, return_as="generator")
    results = run(delayed(evaluated)(name, streams[name], late, n_rows) for name, _, late in tasks)
    found: dict[str, EvaluationResult] = {}
    for (name, words, _), result in zip(tasks, results, strict=True):
        found[words] = result
        if len(found) == 3:
            yield name, found
            found = {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of the streams")
    parser.add_argument("--rows", type=int, help="maximum rows per stream")
    parser.add_argument("--jobs", type=int, default=cpu_count(), help="processes")
    options = parser.parse_args()
    folder = options.data or Path(os.environ.get("SKSTREAM_DATA", "."))
    streams = {name: folder / f"{name}.parquet" for name in SETTINGS if name != "demo"}
    streams = {name: path for name, path in streams.items() if path.exists()}
    if not streams:
        print(f"No stream in {folder.resolve()}: a demo stream is used.\n")
        streams = {"demo": folder}
    for name, results in all_results(streams, options.rows, options.jobs):
        print(f"{name}, {next(iter(results.values())).n_rows:,} rows")
        for metric in METRICS:
            print(f"\n{metric}\n{table(results, metric)}", flush=True)
        print("\naccuracy of boosting refitted often, minus that of the linear model")
        for words, result in results.items():
            found = result.compare("boosting, often", "linear, row by row")
            low, high = found.interval
            print(f"{words:<12}{-found.difference:+.4f} in [{-high:+.4f}, {-low:+.4f}]")
        print(flush=True)


if __name__ == "__main__":
    main()
