"""How good is a model on rows that have no label yet? Three estimates, and how far off they were.

Models are trained on a stream with late labels; their predictions at arrival form a log. At 200
moments the scores of the waiting rows are estimated from the newest labels, from the model's
confidence, and from its confidence after calibration; each is compared with the score once the
labels have arrived.

    python examples/estimates_before_labels.py pictures --data data

The streams (electricity.parquet, weather_noaa.parquet, sea_60k.parquet) are read from --data, or
from the folder that the environment variable SKSTREAM_DATA names; if none is found, a demo stream
is used.
"""

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")  # pictures go to files; none is shown

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import (
    DelayedEvaluator,
    ParquetStream,
    Polling,
    PrequentialCalibrator,
    estimate_unlabelled,
    make_stream_pipeline,
)
from skstream.logs._estimates import LabelEstimates
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import make_demo_stream, take_rows


class Setting(NamedTuple):
    """A stream: columns that are not features, and by how many rows its labels are late."""

    excluded: tuple[str, ...]
    delay: int


SETTINGS = {
    # The label is derived from nswprice, and vicprice is close to it. A week of half-hours.
    "electricity": Setting(("date", "nswprice", "vicprice"), 336),
    "weather_noaa": Setting((), 30),  # days
    "sea_60k": Setting((), 1_000),
    "demo": Setting((), 336),
}
METRICS = ["accuracy", "log_loss", "brier"]


def estimated(name: str, path: Path, n_rows: int | None, calibrate: str) -> LabelEstimates:
    """Estimate the scores of three models, from the log of their predictions at arrival."""
    setting = SETTINGS[name]
    stream: Any = make_demo_stream(20_000)
    if name != "demo":
        stream = ParquetStream(path, target="class", exclude=setting.excluded)
    stream = stream if n_rows is None else take_rows(stream, n_rows)
    bayes = IncrementalGaussianNB()
    models = {
        "linear": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
        "Bayes": bayes,
        "Bayes, calibrated": PrequentialCalibrator(bayes),
    }
    evaluator = DelayedEvaluator(
        METRICS, delay=setting.delay, random_state=0, polling=Polling(n_bins=1, poll_every=None)
    )
    tape = evaluator.evaluate(models, stream).tape
    # Rows are on the tape in the order of their labels, here that of their arrival.
    predicted = tape.row >= setting.delay  # earlier, no model was trained
    arrival = tape.row[predicted]
    return estimate_unlabelled(
        tape.classes[tape.y[predicted]],
        {model: tape.probabilities(model, bin=0)[predicted] for model in models},
        arrival=arrival,
        label_time=arrival + setting.delay,
        metrics=METRICS,
        classes=tape.classes,
        calibrate=calibrate,
        unanswered="skip",
    )


def table(found: dict[str, LabelEstimates], metric: str) -> str:
    """Mean absolute errors of the estimates; the smallest in each line is marked."""
    lines = []
    for name, estimates in found.items():
        frame = estimates.summary()
        for model, part in frame[frame["metric"] == metric].groupby("model", sort=False):
            mae = dict(zip(part["method"], part["mae"], strict=True))
            best = estimates.best[str(model)][metric]
            marked = [f"{mae[k]:.3f}{'*' if k == best else ' '}" for k in mae]
            apart = f"{int(part['n_apart'].iloc[0]):,}"
            lines.append([name, str(model), *marked, apart])
    header = ["stream", "model", "newest labels", "confidence", "calibrated", "apart"]
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k < 2 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [header, ["-" * width for width in widths], *lines]
    )


def drifting() -> LabelEstimates:
    """Labels that are flipped from the middle on, while features and predictions do not change."""
    rng = np.random.default_rng(0)
    predicted = rng.uniform(0.5, 1.0, 20_000)
    right = np.where(np.arange(20_000) < 12_000, predicted, 1.0 - predicted)
    y_true = (rng.random(20_000) < right).astype(int)
    arrival = np.datetime64("2026-01-01") + np.arange(20_000) * np.timedelta64(15, "m")
    label_time = arrival + np.timedelta64(10, "D")
    came = label_time <= arrival[-1]
    return estimate_unlabelled(
        np.where(came, y_true, None),
        {"model": predicted},
        arrival=arrival,
        label_time=label_time,
        metrics="accuracy",
        every="1D",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), help="for the plots")
    parser.add_argument("--data", type=Path, help="folder of the streams")
    parser.add_argument("--rows", type=int, help="maximum rows per stream")
    parser.add_argument("--calibrate", default="isotonic", help="calibration of the third estimate")
    options = parser.parse_args()
    folder = options.data or Path(os.environ.get("SKSTREAM_DATA", "."))
    streams = {name: folder / f"{name}.parquet" for name in SETTINGS if name != "demo"}
    streams = {name: path for name, path in streams.items() if path.exists()}
    if not streams:
        print(f"No stream in {folder.resolve()}: a demo stream is used.\n")
        streams = {"demo": folder}
    found = {
        name: estimated(name, path, options.rows, options.calibrate)
        for name, path in streams.items()
    }
    for metric in METRICS:
        print(f"Mean absolute error of the estimated {metric}\n{table(found, metric)}\n")
    for name, estimates in found.items():
        print(name, *(line for line in str(estimates).splitlines() if "closest" in line), sep="\n")
    drift = drifting()
    print(f"\n{drift}")
    options.folder.mkdir(parents=True, exist_ok=True)
    first = next(iter(found))
    for name, estimates in {first: found[first], "drift": drift}.items():
        file = options.folder / f"estimates_{name}.png"
        estimates.plot("accuracy").figure_.savefig(file, dpi=120)
        plt.close("all")
        print(f"wrote {file}")


if __name__ == "__main__":
    main()
