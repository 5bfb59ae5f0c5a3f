"""Learning and asking a block of rows, dense or sparse.

At every row scikit-learn shrinks all weights, also the 2^18 weights of hashed text, of which the
row uses fifty. One product per weight and row is necessary, because rounding makes the order of
the products part of the result; but not every product has to read and write memory. So sparse rows
are executed in stretches. The weights that a stretch reads or changes are gathered into a small
array, and learn there row by row. All others are then shrunk as often as there were rows, tile by
tile. Weights that are zero and stay zero are left out.

Of float32 rows scikit-learn keeps float32 weights. ``partial_fit`` multiplies in float32, adds in
float64 and rounds the sum; ``predict`` has BLAS do everything in float32. The two differ in the
seventh digit, which is too much for an answer. So the weights before every dense row are kept for a
while, and scikit-learn's own product is taken of those that a row asked about sees.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.engine.kernels.base import Declined
from skstream.engine.kernels.linear import loops
from skstream.engine.kernels.linear.loops import (
    Floats,
    Integers,
    Learns,
    Rule,
    Singles,
    SparseRows,
    Ties,
)
from skstream.engine.kernels.linear.ties import decisions, no_room
from skstream.utils._numba import jit
from skstream.utils._versions import VersionedArray

# A stretch has at most so many rows, and (but for its first row) stored values.
STRETCH_ROWS = 64
STRETCH_VALUES = 4096
# Positions of fewer values than one in so many columns are searched, not looked up in a table.
_FEW = 16


def sparse_rows(X: Any) -> SparseRows:
    """Rows of a CSR matrix, or none of a dense array."""
    csr = sparse.csr_array(X)
    return SparseRows(csr.data, csr.indices, csr.indptr.astype(np.int64))


def part_of(rows: SparseRows, begin: int, end: int) -> SparseRows:
    """Rows `begin` to `end`."""
    first, last = rows.bounds[begin], rows.bounds[end]
    bounds = rows.bounds[begin : end + 1] - first
    return SparseRows(rows.values[first:last], rows.at[first:last], bounds)


def asks_between(asks: Integers, begin: int, end: int) -> Integers:
    """Bounds of the asks from `begin` on and before `end` learns, as `learn_dense` takes them.

    The asks after all learns belong to the last ones.
    """
    bounds = asks[begin : end + 2].copy()
    if end + 2 < len(asks):
        bounds[-1] = bounds[-2]
    return bounds


def learn_dense(
    X: Floats,
    learns: Learns,
    rule: Rule,
    W: Floats,
    b: Floats,
    Q: Floats,
    asks: Integers,
    margins: Floats,
    answers: Floats,
    settle: Callable[[Ties], None] | None = None,
    room: Ties | None = None,
) -> None:
    """Learn the rows of `X`, answering between them.

    Parameters
    ----------
    X : ndarray of shape (n_learns, n_features)
        Rows to learn, C order.
    learns : Learns
        Their targets, weights and rates.
    rule : Rule
        Loss and kind of step.
    W : ndarray of shape (n_vectors, n_features)
        Weights: one vector, or one per class. Changed in place.
    b : ndarray of shape (n_vectors,)
        Intercepts. Changed in place.
    Q : ndarray of shape (n_asks, n_features)
        Rows to ask, C order.
    asks : ndarray of shape (n_learns + 2,)
        Rows ``asks[i]`` to ``asks[i + 1]`` of `Q` are asked after ``i`` learns.
    margins : ndarray of shape (n_learns, n_vectors)
        Filled with the decision values of every row just before it is learnt.
    answers : ndarray of shape (n_asks, n_vectors)
        Filled with the decision values of the rows asked.
    settle : callable, default=None
        Called with `Ties` whenever some have been noted; may change `margins` and `answers`.
    room : Ties, default=None
        Where they are noted; its contents are overwritten.
    """
    if room is None or settle is None:
        room = no_room(*W.shape)
    several = True if len(b) > 1 else None
    learnt = asked = 0
    while True:
        rows = X, learns, rule, W, b, Q, asks, margins, answers
        n_learnt, n_asked, n = loops.learn_rows(*rows, room, several)
        if n and settle is not None:
            number = room.number[:n]
            number += np.where(number >= 0, learnt, -asked)
            settle(Ties(room.unit, number, room.W[:n], room.b[:n]))
        if n_learnt > len(X):
            return
        learnt, asked = learnt + n_learnt, asked + n_asked
        X, Q = X[n_learnt:], Q[n_asked:]
        learns = Learns._make(values[n_learnt:] for values in learns)
        asks = np.maximum(asks[n_learnt:] - n_asked, 0)
        margins, answers = margins[n_learnt:], answers[n_asked:]


def learn_sparse(
    X: SparseRows,
    learns: Learns,
    rule: Rule,
    known: VersionedArray,
    b: NDArray[Any],
    Q: SparseRows,
    asks: Integers,
    margins: NDArray[Any],
    answers: NDArray[Any],
) -> VersionedArray:
    """Learn sparse rows, answering between them; as `learn_dense`, which see.

    Returns the weights after them: a version of those `known`. Of float32 rows, weights are
    float32; margins then are those of learning, not of ``predict``.
    """
    shrinks = bool((learns.shrink != 1.0).any())
    W = known.read()
    columns, X, Q = _renumber(X, Q, W, shrinks)
    active = np.ascontiguousarray(W[:, columns].T)
    slots = np.empty(len(columns), dtype=np.int64)
    for begin, end in _stretches(X, Q, asks):
        bounds = asks_between(asks, begin, end)
        first, last = bounds[0], bounds[-1]
        here, rows, asked = _gather(part_of(X, begin, end), part_of(Q, first, last), slots)
        weights = active[here]
        part = Learns._make(values[begin:end] for values in learns)
        loops.learn_stretch(
            rows,
            part,
            rule,
            weights,
            b,
            asked,
            bounds - first,
            margins[begin:end],
            answers[first:last],
        )
        if shrinks:
            shrink(active.reshape(-1), _padded(part.shrink.astype(W.dtype)))
        active[here] = weights
    check_bounded(margins, answers, active, b)
    if not len(margins):
        return known
    after, W = known.changed((slice(None), columns))
    W[:, columns] = active.T
    return after


# So many weights of float32 rows are kept at a time (rows times vectors times features).
_KEPT_NUMBERS = 1 << 19
_MOST_ROWS = 4096


def rows_at_once(W: Singles) -> int:
    """Rows whose weights may be kept together."""
    return int(np.clip(_KEPT_NUMBERS // W.size, 1, _MOST_ROWS))


def rounded(numbers: Floats) -> Floats:
    """Weights and targets as scikit-learn reads them beside float32 rows."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def learn_single(
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
    loops.learn_single(X, learns, rule, W, b, past_W, past_b)
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


def check_bounded(margins: Floats, answers: Floats, W: Floats, b: Floats) -> None:
    """Decline numbers of rows, or weights, that are not finite."""
    # A number that is not finite makes the decision values of its row so: there are fewer of
    # them to look at. Where they overflow, BLAS may come to another answer.
    if not (np.isfinite(margins).all() and np.isfinite(answers).all()):
        raise Declined("rows or decision values that are not finite have no kernel")
    # Weights that stop being finite never are again; scikit-learn raises an error then.
    if not (np.isfinite(W).all() and np.isfinite(b).all()):
        raise Declined("weights that grow beyond all bounds have no kernel")


def _renumber(
    X: SparseRows, Q: SparseRows, W: NDArray[Any], shrinks: bool
) -> tuple[Integers, SparseRows, SparseRows]:
    """Columns in use (read, learnt, or shrinking), and the rows with positions among them."""
    n_features = W.shape[1]
    in_use = np.not_equal(W[0], 0.0) if shrinks else np.zeros(n_features, dtype=bool)
    for w in W[1:] if shrinks else ():
        in_use |= w != 0.0
    in_use[X.at] = True
    in_use[Q.at] = True
    columns = np.flatnonzero(in_use)
    if _FEW * (len(X.at) + len(Q.at)) < n_features:
        X_at, Q_at = np.searchsorted(columns, X.at), np.searchsorted(columns, Q.at)
    else:
        position = np.empty(n_features, dtype=np.int64)
        position[columns] = np.arange(len(columns))
        X_at, Q_at = position[X.at], position[Q.at]
    return columns, X._replace(at=X_at), Q._replace(at=Q_at)


def _stretches(X: SparseRows, Q: SparseRows, asks: Integers) -> list[tuple[int, int]]:
    """Bounds of the stretches; at least one, for asks alone."""
    n = len(X.bounds) - 1
    stored = X.bounds + Q.bounds[asks[: n + 1]]
    bounds = [0]
    while bounds[-1] < n:
        begin = bounds[-1]
        fitting = int(np.searchsorted(stored, stored[begin] + STRETCH_VALUES, side="right")) - 1
        bounds.append(min(max(begin + 1, fitting), begin + STRETCH_ROWS, n))
    return list(itertools.pairwise(bounds)) or [(0, 0)]


def _gather(
    rows: SparseRows, asked: SparseRows, slots: Integers
) -> tuple[Integers, SparseRows, SparseRows]:
    """Positions that a stretch uses, and its rows with places among them.

    `slots` is scratch space; it need not be cleared, because only new values in it are read.
    """
    used = np.concatenate([rows.at, asked.at])
    order = np.arange(len(used))
    slots[used] = order
    here = used[slots[used] == order]
    slots[here] = order[: len(here)]
    return here, rows._replace(at=slots[rows.at]), asked._replace(at=slots[asked.at])


def _padded(factors: NDArray[Any]) -> NDArray[Any]:
    """Factors and ones, a multiple of `FACTORS_PER_PASS`."""
    padded = np.ones(-(-len(factors) // FACTORS_PER_PASS) * FACTORS_PER_PASS, factors.dtype)
    padded[: len(factors)] = factors
    return padded


# Weights that are multiplied by all factors before the next weights, and factors at a time.
TILE = 2048
FACTORS_PER_PASS = 8


@jit
def shrink(weights: NDArray[Any], factors: NDArray[Any]) -> None:
    """Multiply all weights by one factor after the other."""
    for begin in range(0, len(weights), TILE):
        tile = weights[begin : begin + TILE]
        for i in range(0, len(factors), FACTORS_PER_PASS):
            f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
            f4, f5, f6, f7 = factors[i + 4], factors[i + 5], factors[i + 6], factors[i + 7]
            for j in range(len(tile)):
                tile[j] = tile[j] * f0 * f1 * f2 * f3 * f4 * f5 * f6 * f7
