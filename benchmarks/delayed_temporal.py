"""What delay does to temporal classifiers and to the persistent baseline, on Electricity.

Models have its five inputs, without date and prices: the label is read off the row's own price.
Accuracy of the first answers, and kappa_temporal against two baselines: the label that came
before the row's own ("newest"), and the newest label known when the row arrived
("known_at_arrival"), which is all that a real predictor can repeat.

    python -m benchmarks.delayed_temporal
"""

import argparse
import warnings

import numpy as np
import sklearn
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstream
from benchmarks._delayed_streams import numbers, read_columns
from skstream import (
    DelayedEvaluator,
    Persistent,
    Polling,
    TemporalCorrection,
    TemporallyAugmented,
    make_stream_pipeline,
)
from skstream.naive_bayes import IncrementalGaussianNB

FIVE = ["day", "period", "nswdemand", "vicdemand", "transfer"]


def models() -> dict:
    """Plain, corrected and augmented learners, and the persistent baseline."""
    return {
        "Persistent": Persistent(),
        "NB": IncrementalGaussianNB(),
        "TemporalCorrection(NB)": TemporalCorrection(IncrementalGaussianNB()),
        "SGD, scaled": make_stream_pipeline(StandardScaler(), SGDClassifier()),
        "TemporallyAugmented(SGD, scaled)": TemporallyAugmented(
            make_stream_pipeline(StandardScaler(), SGDClassifier())
        ),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=None, help="first rows only")
    parser.add_argument("--delays", type=int, nargs="+", default=[0, 1, 2, 48])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = read_columns("electricity")
    X, y = numbers(table, FIVE), np.asarray(table.column("class").cast("string").to_pylist())
    X, y = X[: options.rows], y[: options.rows]
    print(f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, {len(y):,} rows")
    print(f"{'delay':>5} {'model':33}{'accuracy':>9}{'newest':>10}{'known_at_arrival':>18}")
    for delay in options.delays:
        evaluator = DelayedEvaluator(
            ["accuracy", "kappa_temporal"],
            delay=delay,
            random_state=0,
            polling=Polling(n_bins=1, poll_every=None, previous_label="newest"),
        )
        newest = evaluator.evaluate(models(), X, y)
        known = evaluator.set_params(polling__previous_label="known_at_arrival").evaluate(
            models(), X, y
        )
        for name in newest.model_names:
            accuracy = newest.by_bin(name, "accuracy")[0]
            kappas = [result.by_bin(name, "kappa_temporal")[0] for result in (newest, known)]
            print(f"{delay:5} {name:33}{accuracy:9.4f}{kappas[0]:10.4f}{kappas[1]:18.4f}")


if __name__ == "__main__":
    main()
