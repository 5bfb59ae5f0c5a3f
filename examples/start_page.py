"""Draw the picture of the documentation's start page, and print its table.

    python examples/start_page.py [PICTURE]

`electricity.parquet` is read from this folder, or from the one that the environment variable
SKSTREAM_DATA names; if it is not found, a demo stream is used. Each row is predicted before it is
used for training, from the five inputs that the literature uses. The lines are accuracies over the
last 2,000 rows. The picture is designed to be read on a phone.
"""

import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import (
    ParquetStream,
    Persistent,
    PrequentialEvaluator,
    TemporallyAugmented,
    make_stream_pipeline,
)
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import make_demo_stream

inputs = ["day", "period", "nswdemand", "vicdemand", "transfer"]
path = Path(os.environ.get("SKSTREAM_DATA", "."), "electricity.parquet")
there = path.is_file()
stream = ParquetStream(path, target="class", columns=inputs) if there else make_demo_stream()
bayes = IncrementalGaussianNB()
models = {
    "previous label": Persistent(),
    "naive Bayes": bayes,
    "naive Bayes + label": TemporallyAugmented(bayes),
    "linear": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
}
evaluator = PrequentialEvaluator(
    ["accuracy", "kappa_temporal"],
    forgetting={"all": "cumulative", "recent": "window:2000"},
    random_state=0,
)
result = evaluator.evaluate(models, stream)
print(result)
with pyplot.rc_context({"font.size": 15, "axes.titlesize": 15}):
    figure, axes = pyplot.subplots(figsize=(6.6, 4.2))
    figure.subplots_adjust(left=0.1, right=0.635, bottom=0.1, top=0.92)
    display = result.plot("accuracy", forgetting="recent", ax=axes, legend=False, linewidth=2)
    n_rows = display.lines_["linear"].get_xdata()[-1]
    axes.set(
        xlim=(0, n_rows), ylim=(0.4, 0.95), xticks=range(0, n_rows, 20_000), xlabel="", ylabel=""
    )
    axes.set_title("Accuracy over the last 2,000 rows", loc="left")
    for name, height in dict(zip(models, (0.865, 0.6, 0.915, 0.805), strict=True)).items():
        line = display.lines_[name]
        end = (n_rows, line.get_ydata()[-1])
        axes.plot(*end, "o", color=line.get_color(), clip_on=False, zorder=4)
        axes.annotate(name, end, (1.03 * n_rows, height), va="center", annotation_clip=False)
    axes.text(0.48 * n_rows, 0.425, "grey: what a naive guess reaches", ha="center", fontsize=13)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "start.png", dpi=160)
