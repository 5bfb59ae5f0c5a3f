"""Frames of 20 mixed columns, prepared along the stream: numbers with gaps, categories, a text.

Run from the top of the repository:

    python -m benchmarks.bench_preprocessing
    python -m benchmarks.bench_preprocessing --rows 50000 --clock cpu

The columns are 14 of numbers (5 % missing), five of categories (5 % missing, some appear half-way)
and one of texts of eight words out of 5,000. `make_stream_preprocessor` prepares them for an
`SGDClassifier`; all 20 also as arrays, with 256 columns for the text, for an `MLPClassifier` of 50
hidden units, on a tenth of the rows. "evaluation" is `PrequentialEvaluator` on the whole frame;
"loop" calls ``predict`` and ``partial_fit`` of the same pipeline row by row, as a user would, on
the first rows only, and is taken to go on like that. All figures are rows per second of wall time;
with ``--clock cpu``, of the process's own time. The first rows, whose answers are compared, must be
the same in both.
"""

import argparse
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from benchmarks._kernel_speed import CLOCKS, Timing, shown, versions
from skstream import PrequentialEvaluator, make_stream_pipeline
from skstream.preprocessing import make_stream_preprocessor

SGD, MLP = SGDClassifier(random_state=0), MLPClassifier((50,), random_state=0)
CASES = {
    "14 of numbers": ((14, 0, 0), SGD),
    "5 of categories": ((0, 5, 0), SGD),
    "1 of texts": ((0, 0, 1), SGD),
    "all 20": ((14, 5, 1), SGD),
    "all 20, MLP": ((14, 5, 1), MLP),
}


def frame(n: int, n_numbers: int, n_categories: int, n_texts: int) -> tuple[Any, np.ndarray]:
    """Rows, and labels that depend on every kind of column."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    score = rng.normal(size=n)
    late = np.arange(n) > n // 2
    for place in range(n_numbers):
        values = rng.normal(size=n)
        score += values / 4
        columns[f"number_{place}"] = np.where(rng.random(n) < 0.05, np.nan, values)
    for place in range(n_categories):
        codes = rng.integers(0, 6, n) + 3 * (late & (rng.random(n) < 0.2))
        score += (codes % 3 - 1) / 2
        names = np.array([f"category {code}" for code in range(9)], dtype=object)[codes]
        names[rng.random(n) < 0.05] = None
        columns[f"category_{place}"] = names
    words = np.array([f"word{number}" for number in range(5000)])
    for place in range(n_texts):
        drawn = np.minimum(rng.zipf(1.3, (n, 8)) - 1, 4999)
        score += (drawn[:, 0] < 2).astype(float)
        columns[f"text_{place}"] = [" ".join(row) for row in words[drawn]]
    return pd.DataFrame(columns), (score > np.median(score)).astype(int)


def loop(pipeline: Any, X: Any, y: np.ndarray) -> list[Any]:
    """Ask and learn row by row."""
    model, answers = clone(pipeline), []
    model.partial_fit(X[:1], y[:1], classes=[0, 1])
    for row in range(1, len(y)):
        answers.append(model.predict(X[row : row + 1])[0])
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    return answers


def speeds(
    columns: tuple[int, int, int], learner: Any, n: int, n_loop: int, timing: Timing
) -> list[str]:
    is_dense = learner is MLP
    n = n // 10 if is_dense else n
    X, y = frame(n, *columns)
    preprocessor = make_stream_preprocessor(X[:1000], sparse_output=not is_dense, verbose=False)
    pipeline = make_stream_pipeline(preprocessor, learner)
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    result = evaluator.evaluate({"model": pipeline}, X, y)
    assert result.paths == {"model": "kernel"}, result.paths
    assert loop(pipeline, X[:n_loop], y[:n_loop]) == [
        *result.predictions("model", every_row=True)[1:n_loop]
    ]
    fast = n / timing.seconds(lambda: evaluator.evaluate({"model": pipeline}, X, y))
    slow = n_loop / timing.seconds(lambda: loop(pipeline, X[:n_loop], y[:n_loop]))
    return [shown(slow), shown(fast), shown(fast / slow)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--loop-rows", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3, help="of which the median is shown")
    parser.add_argument("--best", action="store_true", help="show the fastest instead")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    arguments = parser.parse_args()
    timing = Timing(arguments.repeats, arguments.clock, arguments.best)
    print(versions("scikit-learn", "numpy", "pandas", "numba"))
    print(f"{timing}; {arguments.rows:,} rows\n")
    print(f"{'columns':20}" + "".join(f"{head:>12}" for head in ("loop", "evaluation", "/ loop")))
    for name, (columns, learner) in CASES.items():
        cells = speeds(columns, learner, arguments.rows, arguments.loop_rows, timing)
        print(f"{name:20}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
