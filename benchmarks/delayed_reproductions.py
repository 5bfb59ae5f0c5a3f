"""Performance by bin beside the tables of Grzenda, Gomes & Bifet (2020).

Prints Lambda(T, b) at b = 0, 45 and B + 1 (accuracy in percent; mean absolute error for bike
sharing) with B = 50 and K = 10. Differences: Naive Bayes here is IncrementalGaussianNB, whose
variances have a floor; SGD stands in for learners that are not in scikit-learn. Baselines answer
from the first row on, as in the paper; rows that others are asked before the first label are
unscored.

    python -m benchmarks.delayed_reproductions
    python -m benchmarks.delayed_reproductions --streams electricity --bins 100
"""

import argparse
import warnings
from time import perf_counter

import numpy as np
import sklearn
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.preprocessing import StandardScaler

import skstream
from benchmarks._delayed_streams import STREAMS, DelayedStream
from skstream import (
    DelayedEvaluator,
    MajorityClass,
    MeanRegressor,
    Persistent,
    PersistentRegressor,
    make_stream_pipeline,
)
from skstream.evaluation import DelayedResult
from skstream.naive_bayes import IncrementalGaussianNB


def baselines(*, regression: bool) -> dict:
    """Models that can answer before the first label."""
    if regression:
        return {"mean": MeanRegressor(), "persistent": PersistentRegressor()}
    return {"NC": Persistent(), "MC": MajorityClass()}


def learners(*, regression: bool) -> dict:
    """Learners of Table 1 that can be had, and SGD."""
    if regression:
        return {"SGD, scaled": make_stream_pipeline(StandardScaler(), SGDRegressor())}
    return {
        "NB": IncrementalGaussianNB(),
        "SGD, scaled": make_stream_pipeline(StandardScaler(), SGDClassifier()),
        "SGD, raw": SGDClassifier(),
    }


def print_rows(name: str, stream: DelayedStream, n_bins: int, poll_every: int) -> None:
    """Evaluate on one stream and print its part of the table."""
    regression = stream.y.dtype.kind == "f"
    print(f"\n{name}: {len(stream.y):,} rows x {stream.X.shape[1]} features; {stream.difference}")
    for n_warmup, models in ((1, learners), (0, baselines)):
        if n_warmup and not stream.X.shape[1]:
            continue
        evaluator = DelayedEvaluator(
            "mae" if regression else "accuracy",
            n_bins=n_bins,
            poll_every=poll_every,
            n_warmup=n_warmup,
            random_state=0,
            keep_tape=False,
        )
        started = perf_counter()
        result = evaluator.evaluate(
            models(regression=regression),
            stream.X if n_warmup else np.zeros((len(stream.y), 1)),
            stream.y,
            arrival=stream.arrival,
            label_time=stream.label_time,
        )
        print_result(result, stream, perf_counter() - started)
    if "best of the paper" in stream.paper:
        print_row("best of the paper", None, stream.paper["best of the paper"])


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


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", nargs="+", choices=list(STREAMS), default=list(STREAMS))
    parser.add_argument("--bins", type=int, default=50)
    parser.add_argument("--poll-every", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}")
    for name in options.streams:
        print_rows(name, STREAMS[name](), options.bins, options.poll_every)


if __name__ == "__main__":
    main()
