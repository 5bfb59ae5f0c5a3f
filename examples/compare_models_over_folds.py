"""Which of four models is best on the electricity market, and how sure is that?

Ten copies of every model run side by side, each with its own bootstrap weights. Wilcoxon's test
and the test of Friedman and Nemenyi compare the folds; the anytime comparison compares the rows of
one fold. Three plots are saved.

    python examples/compare_models_over_folds.py pictures
    python examples/compare_models_over_folds.py pictures --electricity data/electricity.parquet

The real stream is read from --electricity, or from the folder that the environment variable
SKSTREAM_DATA names; if it is not found, a demo stream of the same kind is used.
"""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # pictures go to files; none is shown

from sklearn.linear_model import SGDClassifier

from skstream import KFoldEvaluator, ParquetStream, Persistent, TemporallyAugmented
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.plotting import ComparisonDisplay, CriticalDifferenceDisplay, FoldDisplay
from skstream.streams import make_demo_stream

MODELS = {
    "SGD": SGDClassifier(loss="log_loss"),
    "naive Bayes": IncrementalGaussianNB(),
    "augmented SGD": TemporallyAugmented(SGDClassifier(loss="log_loss")),
    "persistent": Persistent(),
}


# No date, no prices: the label is derived from the row's own price (docs/temporal_dependence.md).
COLUMNS = ["day", "period", "nswdemand", "vicdemand", "transfer"]


def electricity(path: Path | None) -> Any:
    """The real stream if its file exists, otherwise the demo stream."""
    if path is None and "SKSTREAM_DATA" in os.environ:
        path = Path(os.environ["SKSTREAM_DATA"]) / "electricity.parquet"
    if path is not None and path.exists():
        return ParquetStream(path, target="class", columns=COLUMNS)
    return make_demo_stream(10_000)


def main() -> None:
    """Evaluate, test, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="for the pictures; default: temporary")
    parser.add_argument("--electricity", type=Path, help="Parquet file of the real stream")
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="folds-"))
    folder.mkdir(parents=True, exist_ok=True)

    evaluator = KFoldEvaluator(
        ["accuracy", "kappa_temporal"],
        strategy="bootstrap",
        n_folds=10,
        forgetting={"all": "cumulative", "last 1000": "window:1000"},
        random_state=0,
        n_jobs=options.n_jobs,
    )
    stream = electricity(options.electricity)
    result = evaluator.evaluate(MODELS, stream, classes=["DOWN", "UP"])
    print(result, end="\n\n")

    print(result.compare("augmented SGD", "SGD", metric="kappa_temporal"), end="\n\n")
    ranked = result.rank(metric="kappa_temporal")
    print(ranked, end="\n\n")
    print(result.compare("augmented SGD", "persistent", test="anytime", fold=0), end="\n\n")

    displays = {
        "folds": FoldDisplay.from_result(result, "kappa_temporal", forgetting="last 1000"),
        "ranks": CriticalDifferenceDisplay.from_result(ranked),
        "anytime": ComparisonDisplay.from_evaluation(
            result, "augmented SGD", "persistent", fold=0, forgetting="fading:0.999"
        ),
    }
    for name, display in displays.items():
        path = folder / f"{name}.png"
        display.figure_.savefig(path, dpi=120, bbox_inches="tight")
        print(path)


if __name__ == "__main__":
    main()
