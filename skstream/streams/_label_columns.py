"""Columns from which the label can be read: a column that is the label is no feature."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._stream import Stream
from skstream.utils._label_space import LabelSpace
from skstream.utils._labels import as_labels, distinct_labels
from skstream.utils._rows import is_frame

# Rows that are looked at, and the fewest for which anything is said.
MOST_ROWS, FEWEST_ROWS = 10_000, 200
# Rows before a row whose mean is subtracted from a column; 0: the column as it is.
WINDOWS = (0, 1, 7, 12, 24, 48, 96, 144, 168, 288, 336)
# Wider streams are looked at without windows.
_MOST_COLUMNS = 100
# A column is the label if its rule errs in no more rows than this, and than this share of the
# errors of the better one of the majority and the label before.
MOST_ERRORS, SHARE_OF_NAIVE_ERRORS = 0.01, 0.1
# Where these err in fewer rows, a column of noise may look as good by chance.
FEWEST_NAIVE_ERRORS = 20


@dataclass(frozen=True)
class LabelColumn:
    """A column from which the label can be read.

    Attributes
    ----------
    name : str
        Its name, or "column 3" where columns have none.
    window : int
        Rows before a row whose mean is subtracted; 0: the column as it is.
    accuracy : float
        Share of the second half of the rows in which a rule with one threshold, or one label for
        each value, learnt from the first half, gives the label.
    """

    name: str
    window: int
    accuracy: float

    def __str__(self) -> str:
        less = f", less its mean over the {self.window} rows before," if self.window > 1 else ""
        less = ", less its value in the row before," if self.window == 1 else less
        return f"{self.name!r}{less} gives the label in {100 * self.accuracy:.1f} % of the rows"


def label_columns(stream: Stream) -> tuple[LabelColumn, ...]:
    """Find columns from which the label can be read, in the first rows of a stream.

    Nearly always right are rules with one threshold on a column, or on its difference to its mean
    over some rows before; and with one label for each value. They are learnt from the first half of
    the rows, and judged by the second half, beside the majority and the label before. Nothing is
    found in a stream of one pass, whose rows are left for the pass that needs them, nor where the
    naive guesses hardly err.
    """
    if not stream.reiterable:
        return ()
    parts, labels, n_rows = [], [], 0
    for X, y, _ in stream:
        kept = min(len(y), MOST_ROWS - n_rows)
        parts.append(_columns(X, kept, getattr(stream, "feature_names", None)))
        labels.append(np.asarray(y[:kept], dtype=object))
        n_rows += kept
        if n_rows >= MOST_ROWS:
            break
    if not parts:
        return ()
    known = LabelSpace(distinct_labels(as_labels(np.concatenate(labels))))
    codes = known.encode(as_labels(np.concatenate(labels)))
    rows = np.flatnonzero(codes >= 0)
    codes = codes[rows]
    if len(rows) < FEWEST_ROWS or codes.max() == 0:
        return ()
    half = len(codes) // 2
    later = codes[half:]
    majority, persistence = later == np.bincount(codes).argmax(), later[1:] == later[:-1]
    naive = max(majority.mean(), persistence.mean())
    if round((1.0 - naive) * (len(codes) - half)) < FEWEST_NAIVE_ERRORS:
        return ()
    found = []
    for name in parts[0]:
        if not all(name in part for part in parts):
            continue
        column: NDArray[Any] = np.concatenate([part[name] for part in parts])[rows]
        best = LabelColumn(name, 0, _by_value(column, codes, half))
        if column.dtype.kind == "f":
            for window in WINDOWS if len(parts[0]) <= _MOST_COLUMNS else (0,):
                accuracy = _by_threshold(_less_mean(column, window), codes, half)
                if accuracy > best.accuracy:
                    best = LabelColumn(name, window, accuracy)
        if 1.0 - best.accuracy <= min(MOST_ERRORS, SHARE_OF_NAIVE_ERRORS * (1.0 - naive)):
            found.append(best)
    return tuple(found)


def _columns(X: Any, n_rows: int, names: Any) -> dict[str, NDArray[Any]]:
    """Dense columns of the first rows by name: numbers as float64, all else as objects."""
    if is_frame(X):
        named = {str(name): np.asarray(X[name])[:n_rows] for name in X.columns}
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        if names is None or len(names) != X.shape[1]:
            names = [f"column {j}" for j in range(X.shape[1])]
        named = {str(name): X[:n_rows, j] for j, name in enumerate(names)}
    else:
        return {}  # of sparse rows, none is looked at
    return {name: _values(column) for name, column in named.items()}


def _values(column: NDArray[Any]) -> NDArray[Any]:
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        return column.astype(object)


def _less_mean(column: NDArray[Any], window: int) -> NDArray[Any]:
    """The column less its mean over some rows before; the first rows, which have fewer, as 0."""
    finite = np.isfinite(column)
    if window == 0 or not finite.any():
        # Missing values are below all others: where one is missing may give the label.
        return np.where(np.isnan(column), -np.inf, column)
    with np.errstate(over="ignore", invalid="ignore"):
        column = np.where(finite, column, column[finite].mean())
        sums = np.concatenate([[0.0], np.cumsum(column)])
        means = (sums[window:-1] - sums[: -window - 1]) / window
        return np.concatenate([np.zeros(min(window, len(column))), column[window:] - means])


def _by_threshold(column: NDArray[Any], codes: NDArray[np.int64], half: int) -> float:
    """Share of the second half that one threshold, learnt from the first half, answers right."""
    # The answers are two labels: the two most frequent ones are enough to tell a good rule.
    top = np.bincount(codes[:half]).argsort(kind="stable")[-2:]
    order = column[:half].argsort(kind="stable")
    values, is_class = column[order], codes[order][:, None] == top
    below = np.cumsum(is_class, axis=0)
    above = below[-1] - below
    ends = np.append(values[1:] != values[:-1], True)  # a threshold lies between two values
    at = int(np.where(ends, below.max(axis=1) + above.max(axis=1), -1).argmax())
    low, high = top[below[at].argmax()], top[above[at].argmax()]
    return float((np.where(column[half:] <= values[at], low, high) == codes[half:]).mean())


def _by_value(column: NDArray[Any], codes: NDArray[np.int64], half: int) -> float:
    """Share of the second half that one label for each value answers right."""
    if column.dtype.kind != "f":
        column = np.array([str(value) for value in column.tolist()], dtype=object)
    values, places = np.unique(column, return_inverse=True)
    n_classes = int(codes.max()) + 1
    pairs, counts = np.unique(places[:half] * n_classes + codes[:half], return_counts=True)
    pairs = pairs[counts.argsort(kind="stable")]
    answers = np.full(len(values), -1)
    answers[pairs // n_classes] = pairs % n_classes  # of several, the last and most frequent stays
    return float((answers[places[half:]] == codes[half:]).mean())
