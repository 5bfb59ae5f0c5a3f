"""SGD on float32 rows, of which scikit-learn keeps float32 weights.

``partial_fit`` multiplies in float32, adds in float64 and rounds the sum; ``predict`` has BLAS
do everything in float32. The two differ in the seventh digit, which is too much for an answer.
So the weights before every row are kept for a while, and scikit-learn's own product is taken of
those that a row asked about sees.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.engine.kernels.linear.loops import learn_single
from skstream.engine.kernels.linear.records import Floats, Learns, Rule, Singles
from skstream.engine.kernels.linear.ties import decisions

# So many weights are kept at a time (rows times vectors times features).
_KEPT_NUMBERS = 1 << 19
_MOST_ROWS = 4096


def rows_at_once(W: Singles) -> int:
    """Rows whose weights may be kept together."""
    return int(np.clip(_KEPT_NUMBERS // W.size, 1, _MOST_ROWS))


def rounded(numbers: Floats) -> Floats:
    """Weights and targets as scikit-learn reads them beside float32 rows."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def learn_rows(
    X: Singles, learns: Learns, rule: Rule, W: Singles, b: NDArray[Any]
) -> tuple[Singles, NDArray[Any]]:
    """Learn the rows of `X`; return weights and intercepts before each, and after the last.

    Parameters
    ----------
    X : ndarray of shape (n_learns, n_features), dtype float32
    learns : Learns
    rule : Rule
    W : ndarray of shape (n_vectors, n_features), dtype float32
        Changed in place.
    b : ndarray of shape (n_vectors,), dtype float32, or float64 if there is one vector
        Changed in place.

    Returns
    -------
    past_W : ndarray of shape (n_learns + 1, n_vectors, n_features)
    past_b : ndarray of shape (n_learns + 1, n_vectors)
    """
    past_W = np.empty((len(X) + 1, *W.shape), W.dtype)
    past_b = np.empty((len(X) + 1, *b.shape), b.dtype)
    learn_single(X, learns, rule, W, b, past_W, past_b)
    return past_W, past_b


def raw_answers(
    X: Any, index: NDArray[np.intp], state: NDArray[np.int64], W: Singles, b: NDArray[Any]
) -> NDArray[Any]:
    """Decision values of rows of `X`, each of which sees one of several states of the weights."""
    raw = np.empty((len(index), b.shape[1]), b.dtype)
    n = rows_at_once(W[0])
    for begin in range(0, len(index), n):
        part = slice(begin, begin + n)
        raw[part] = decisions(X, index[part], W[state[part]], b[state[part]])
    return raw
