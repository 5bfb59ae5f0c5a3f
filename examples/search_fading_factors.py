"""Search the parameters of a corrected model on a stream: with scikit-learn, and in one pass.

First, scikit-learn's default scoring is compared with a scorer by name. The model's own score
reveals the label of every row before the next row is predicted; `scoring="accuracy"` predicts whole
folds at once.

Then the parameters are searched: fading factor and smoothing of `TemporalCorrection`,
regularisation and learning rate of the linear model inside. GridSearchCV fits each candidate on a
warm-up and scores it test-then-train on the tuning rows. PrequentialSearch runs all candidates side
by side along the same rows, and scores its choice on later rows, which were not used for selection.

    python examples/search_fading_factors.py
    python examples/search_fading_factors.py --data data --rows 45312

Electricity is read from --data, or from the folder that the environment variable SKSTREAM_DATA
names; if it is not found, a demo stream is used.
"""

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import StandardScaler

from skstream import (
    ParquetStream,
    Persistent,
    PrequentialEvaluator,
    PrequentialSearch,
    PrequentialSplit,
    StaleLabelWarning,
    TemporalCorrection,
    make_stream_pipeline,
    prequential_scorer,
)
from skstream.streams import make_demo_stream

N_WARMUP = 500
SGD = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1, random_state=0)
MODEL = make_stream_pipeline(StandardScaler(), TemporalCorrection(SGD))
CORRECTION = "temporalcorrection__"
SMALL = {
    f"{CORRECTION}fading_factor": [0.9, 0.99, 0.999, 1.0],
    f"{CORRECTION}smoothing": [0.1, 1.0, 10.0, 100.0],
}
LARGE = {
    f"{CORRECTION}fading_factor": [0.9, 0.99, 0.999, 1.0],
    f"{CORRECTION}estimator__alpha": [1e-6, 1e-5, 1e-4, 1e-3],
    f"{CORRECTION}estimator__eta0": [0.01, 0.03, 0.1, 0.3],
}


# No date, no prices: the label is derived from the row's own price (docs/temporal_dependence.md).
COLUMNS = ["day", "period", "nswdemand", "vicdemand", "transfer"]


def load_stream(folder: Path | None, n_rows: int) -> tuple[str, np.ndarray, np.ndarray]:
    """First rows of Electricity, or of a demo stream if there is no file."""
    if folder is None and "SKSTREAM_DATA" in os.environ:
        folder = Path(os.environ["SKSTREAM_DATA"])
    path = None if folder is None else folder / "electricity.parquet"
    if path is None or not path.is_file():
        X, y, _ = next(iter(make_demo_stream(min(n_rows, 6000))))
        return "demo stream", X, y
    chunks = list(ParquetStream(path, target="class", columns=COLUMNS))
    X, y = (np.concatenate([chunk[k] for chunk in chunks])[:n_rows] for k in (0, 1))
    return "Electricity", X, y


def score_in_order(X: np.ndarray, y: np.ndarray) -> None:
    """Print the scores of fading factors by default, by name, and test-then-train."""
    X = X - X.min(axis=0)  # this naive Bayes rejects negative numbers
    model, factors = TemporalCorrection(MultinomialNB()), [0.9, 0.99, 0.999, 1.0]
    for scoring in (None, "accuracy"):
        search = GridSearchCV(model, {"fading_factor": factors}, scoring=scoring, refit=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StaleLabelWarning)  # to show what "accuracy" gives
            scores = search.fit(X, y).cv_results_["mean_test_score"]
        print(f"  scoring={scoring!r}, default folds:", *(f"{score:.3f}" for score in scores))
    models = {str(f): TemporalCorrection(MultinomialNB(), fading_factor=f) for f in factors}
    found = PrequentialEvaluator("accuracy", random_state=0).evaluate(models, X, y).scores
    print("  test-then-train:", *(f"{found[name]['accuracy']:.3f}" for name in models))


def with_scikit_learn(X: np.ndarray, y: np.ndarray) -> Any:
    """Search the two parameters of the correction with GridSearchCV, on the tuning rows."""
    search = GridSearchCV(
        MODEL,
        SMALL,
        scoring=prequential_scorer("kappa_temporal"),
        cv=PrequentialSplit(N_WARMUP),
        refit=False,
        error_score="raise",
    )
    return search.fit(X, y)


def in_one_pass(X: np.ndarray, y: np.ndarray, n_tuning: int) -> Any:
    """Run the larger grid along the tuning rows; score the choice on all rows after them."""
    search = PrequentialSearch(
        MODEL,
        LARGE,
        evaluator=PrequentialEvaluator(n_warmup=N_WARMUP, random_state=0),
        metric="kappa_temporal",
        tuning=n_tuning,
    )
    return search.fit(X, y)


def score_later(params: dict[str, Any], X: np.ndarray, y: np.ndarray, begin: int) -> float:
    """Score a choice on the rows after the tuning rows, on which it was trained, too."""
    model = make_stream_pipeline(StandardScaler(), TemporalCorrection(SGD)).set_params(**params)
    evaluator = PrequentialEvaluator("kappa_temporal", n_warmup=begin, random_state=0)
    scores = evaluator.evaluate({"model": model, "persistent": Persistent()}, X, y).scores
    return scores["model"]["kappa_temporal"]


def main() -> None:
    """Search both ways, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the real stream")
    parser.add_argument("--rows", type=int, default=50_000, help="maximum rows of the stream")
    options = parser.parse_args()
    name, X, y = load_stream(options.data, options.rows)
    n_tuning = len(y) // 2
    print(f"{name}: {len(y):,} rows, of which the first {n_tuning:,} are for tuning")

    n_rows = min(n_tuning, 8_000)
    print(f"\nAccuracy of fading factors .9, .99, .999, 1 on the first {n_rows:,} rows")
    score_in_order(X[:n_rows], y[:n_rows])

    started = time.perf_counter()
    grid = with_scikit_learn(X[:n_tuning], y[:n_tuning])
    seconds = time.perf_counter() - started
    params = grid.best_params_
    print(f"\nGridSearchCV, {len(grid.cv_results_['params'])} candidates, {seconds:.1f} s")
    print(f"  chosen: {params}")
    print(f"  kappa_temporal on the tuning rows, used for selection: {grid.best_score_:.4f}")
    print(f"  on the later rows: {score_later(params, X, y, n_tuning):.4f}")

    started = time.perf_counter()
    one_pass = in_one_pass(X, y, n_tuning)
    seconds = time.perf_counter() - started
    print(f"\nPrequentialSearch, {one_pass.n_candidates_} candidates, {seconds:.1f} s")
    print(one_pass)

    scores = pd.DataFrame(grid.cv_results_).pivot(
        index=f"param_{CORRECTION}fading_factor",
        columns=f"param_{CORRECTION}smoothing",
        values="mean_test_score",
    )
    print(f"\nkappa_temporal of GridSearchCV on the tuning rows\n{scores.round(4)}")


if __name__ == "__main__":
    main()
