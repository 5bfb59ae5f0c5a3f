"""Every estimator of scikit-learn with ``partial_fit``: how it is executed, and how fast.

A model is evaluated row by row as it is, a transformer ahead of SGD in a stream pipeline. The table
is that of ``docs/estimators.md``; a test compares how each is executed.

    python -m benchmarks.bench_estimators                        # the table
    python -m benchmarks.bench_estimators MLPClassifier Birch    # some of them

"by loop" is what scikit-learn's own calls reach, one row at a time, of the same model. Run from the
top of the repository.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.utils import all_estimators

import skstream
from skstream import PrequentialEvaluator, RunOptions, make_stream_pipeline
from skstream.core.engine.answers import ModelError

N_FEATURES, N_CLASSES, N_WARMUP = 10, 3, 20
#: What makes sense of small streams: parameters that fewer rows allow.
PARAMETERS: dict[str, dict[str, Any]] = {
    "BernoulliRBM": {"n_components": 5},
    "CategoricalNB": {"min_categories": 3},
    "IncrementalPCA": {"n_components": 3},
    "LatentDirichletAllocation": {"n_components": 3},
    "MiniBatchDictionaryLearning": {"n_components": 3},
    "MiniBatchKMeans": {"n_clusters": 3, "n_init": 1},
    "MiniBatchNMF": {"n_components": 3},
    "HashingVectorizer": {"n_features": 64},
    "MLPClassifier": {"hidden_layer_sizes": 50},
    "MLPRegressor": {"hidden_layer_sizes": 50},
}
#: They predict groups of rows; in a pipeline they transform.
_CLUSTERERS = ("Birch", "MiniBatchKMeans")


@dataclass(frozen=True)
class Case:
    """An estimator, made into a model for a stream."""

    name: str
    model: Any
    X: Any
    y: Any

    def evaluate(self, n_rows: int, engine: str) -> Any:
        """Evaluate the model on the first rows."""
        evaluator = PrequentialEvaluator(
            n_warmup=N_WARMUP, random_state=0, run=RunOptions(kernels=engine == "auto")
        )
        return evaluator.evaluate({"model": self.model}, self.X[:n_rows], self.y[:n_rows])


def cases(n_rows: int) -> Iterator[Case]:
    """All estimators with ``partial_fit``, each with rows that it takes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(n_rows, N_FEATURES)).astype(float)
    labels = np.digitize(X[:, 0] + rng.normal(size=n_rows), [0.5, 1.5])
    targets = X @ rng.normal(size=N_FEATURES) + 1.0
    for name, kind in all_estimators():
        if not hasattr(kind, "partial_fit"):
            continue
        if name == "SGDOneClassSVM":
            yield Case(name, kind(), X, np.where(labels == 0, -1, 1))
            continue
        is_regressor = name.endswith("Regressor")
        inner = (SGDRegressor if is_regressor else SGDClassifier)(random_state=0)
        estimator = _made(kind, PARAMETERS.get(name, {}), inner)
        rows: Any = X
        if isinstance(estimator, HashingVectorizer):
            rows = [f"word{int(a)} word{int(b)}" for a, b in X[:, :2]]
        if name in _CLUSTERERS or not hasattr(kind, "predict"):
            estimator = make_stream_pipeline(estimator, SGDClassifier(random_state=0))
        yield Case(name, estimator, rows, targets if is_regressor else labels)


def _made(kind: type, parameters: dict[str, Any], inner: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return kind(**parameters)
        except TypeError:  # a meta-estimator
            return kind(inner)


def how(case: Case, n_rows: int, engine: str = "auto") -> tuple[str, float]:
    """How a case is executed, and rows per second; "refused" with the reason if it is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        try:
            result = case.evaluate(n_rows, engine)
        except (ModelError, TypeError, ValueError) as error:
            return f"refused: {error}", 0.0
    path, _, _ = result.paths["model"].partition(": ")
    seconds = time.process_time() - begin
    kinds = {"kernel": "kernel", "loop": "loop"}
    return kinds.get(path, "part by loop"), n_rows / seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="some of the estimators")
    parser.add_argument("--rows", type=int, default=20_000, help="for kernels; a loop takes 500")
    options = parser.parse_args()
    print(
        f"skstream {skstream.__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, load {os.getloadavg()[0]:.1f}; {N_FEATURES} features"
    )
    print("| estimator | executed by | rows/s | by loop | ratio |\n|---|---|---|---|---|")
    for case in cases(options.rows):
        if options.names and case.name not in options.names:
            continue
        kind, _ = how(case, 200)
        if kind.startswith("refused"):
            print(f"| {case.name} | refused | - | - | - |", flush=True)
            continue
        _, rate = how(case, options.rows if kind == "kernel" else 500)
        _, of_loop = how(case, 500, "loop")
        print(
            f"| {case.name} | {kind} | {rate:,.0f} | {of_loop:,.0f} | {rate / of_loop:,.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
