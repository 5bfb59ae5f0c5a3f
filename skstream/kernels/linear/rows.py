"""Learning and asking a block of rows, dense or sparse.

At every row scikit-learn shrinks all weights, also the 2^18 weights of hashed text, of which the
row uses fifty. One product per weight and row is necessary, because rounding makes the order of
the products part of the result; but not every product has to read and write memory. So sparse rows
are executed in stretches. The weights that a stretch reads or changes are gathered into a small
array, and learn there row by row. All others are then shrunk as often as there were rows, tile by
tile. Weights that are zero and stay zero are left out.

The loops add the products of a row and the weights feature by feature, as ``partial_fit`` does.
``predict`` has BLAS add the products of a dense row, in another order. Both sums are right to a few
units in the last place; but where classes tie, as they do for zeros and ones and a constant rate,
these units alone decide. So a row whose margin may be only rounding is noted with the weights at
that time, and scikit-learn's own product of the two is taken. Sparse rows do not need this:
scikit-learn, too, adds their products in the order in which they are stored. In float32, where
``partial_fit`` adds in float64 and ``predict`` does not, every row is noted.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from skstream.core.engine.kernel import Declined
from skstream.kernels.linear import loops
from skstream.kernels.linear.loops import (
    FACTORS_PER_PASS,
    Floats,
    Integers,
    Learns,
    Rule,
    SparseRows,
    Ties,
)
from skstream.pipeline._values_by_version import VersionedArray
from skstream.utils._rows import own_rows, take_rows

# A stretch has at most so many rows, and (but for its first row) stored values.
STRETCH_ROWS = 64
STRETCH_VALUES = 4096
# Positions of fewer values than one in so many columns are searched, not looked up in a table.
_FEW = 16
# Weights that may be noted before the rows noted are settled.
_ROOM = 1 << 19
_EPS = float(np.finfo(np.float64).eps)


class Shown(NamedTuple):
    """Rows of a part of a block as the loop would show them to the model.

    Attributes
    ----------
    learn_X, ask_X : {ndarray, dataframe}
        Storage of the rows.
    learn_index, ask_index : ndarray of shape (n_learns,) and (n_asks,)
        Positions of the rows in it.
    """

    learn_X: Any
    learn_index: NDArray[np.intp]
    ask_X: Any
    ask_index: NDArray[np.intp]


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
    X: NDArray[Any],
    learns: Learns,
    rule: Rule,
    W: NDArray[Any],
    b: NDArray[Any],
    Q: NDArray[Any],
    asks: Integers,
    margins: Floats,
    answers: NDArray[Any],
    shown: Shown | None = None,
) -> None:
    """Learn the rows of `X`, answering between them.

    Parameters
    ----------
    X : ndarray of shape (n_learns, n_features)
        Rows to learn, C order, float64 or float32.
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
    shown : Shown, default=None
        The same rows. None: the order of sums does not matter.
    """
    n_rows = 0 if shown is None else len(X) + len(Q)
    room = min(max(_ROOM // W.size, 8), 4096, n_rows)
    # By what share of the sizes of its products two sums may differ, with a margin.
    unit = np.inf if W.dtype == np.float32 else 2.0 * (W.shape[1] + 2) * _EPS
    ties = Ties(
        -np.inf if shown is None else unit,
        np.empty(room, np.int64),
        np.empty((room, *W.shape), W.dtype),
        np.empty((room, *b.shape), b.dtype),
    )
    several = True if len(b) > 1 else None
    X, Q = X[:], Q[:]
    X.flags.writeable = Q.flags.writeable = False  # numba compiles for each of the two once more
    learnt = asked = 0
    while True:
        n_learnt, n_asked, n = loops.learn_rows(
            X[learnt:],
            Learns._make(values[learnt:] for values in learns),
            rule,
            W,
            b,
            Q[asked:],
            np.maximum(asks[learnt:] - asked, 0),
            margins[learnt:],
            answers[asked:],
            ties,
            several,
        )
        if shown is not None and n:
            number = ties.number[:n]
            number += np.where(number >= 0, learnt, -asked)
            for X_of, index, values, noted, at in (
                (shown.learn_X, shown.learn_index, margins, number >= 0, number),
                (shown.ask_X, shown.ask_index, answers, number < 0, -1 - number),
            ):
                some: Any = slice(None) if noted.all() else noted  # a slice copies nothing
                W_of, b_of, at = ties.W[:n][some], ties.b[:n][some], at[some]
                values[at] = decisions(X_of, index[at], W_of, b_of)
        learnt, asked = learnt + n_learnt, asked + n_asked
        if learnt > len(X):
            return


def learn_sparse(
    X: SparseRows,
    learns: Learns,
    rule: Rule,
    known: VersionedArray,
    b: NDArray[Any],
    Q: SparseRows,
    asks: Integers,
    margins: Floats,
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
            loops.shrink(active.reshape(-1), _padded(part.shrink.astype(W.dtype)))
        active[here] = weights
    check_bounded(margins, answers, active, b)
    if not len(margins):
        return known
    after, W = known.changed((slice(None), columns))
    W[:, columns] = active.T
    return after


def decisions(X: Any, index: NDArray[np.intp], W: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """What ``decision_function`` computes, on each row that it would see.

    Parameters
    ----------
    X : {ndarray, dataframe}
        Storage of the rows.
    index : ndarray of shape (n_rows,)
        Their positions in it.
    W : ndarray of shape (n_rows, n_vectors, n_features)
        Weights that each row sees.
    b : ndarray of shape (n_rows, n_vectors)
        Intercepts.
    """
    rows = _laid_out_alike(X, index, W.dtype) if len(index) else None
    if rows is not None:
        # A product of matrices for each row: the very calls of BLAS that single rows make.
        return np.matmul(rows[:, np.newaxis], W.transpose(0, 2, 1))[:, 0] + b
    values = np.empty(b.shape, b.dtype)
    for i in range(len(index)):
        row = _checked(own_rows(take_rows(X, index[i : i + 1])))
        values[i] = (row @ W[i].T + b[i])[0]
    return values


def _laid_out_alike(X: Any, index: NDArray[np.intp], dtype: Any) -> NDArray[Any] | None:
    """Rows whose numbers are side by side, or apart, as in single rows; None: cannot be had.

    BLAS adds in another order where numbers are not side by side, however far apart they are.
    """
    single = _checked(own_rows(take_rows(X, index[:1])))  # as the loop shows it
    stride = single.strides[1]
    if single.dtype != dtype or not single.flags.aligned or stride <= 0 or stride % single.itemsize:
        return None
    if isinstance(X, np.ndarray):
        rows: NDArray[Any] = np.asarray(X).take(index, axis=0)
    else:
        rows = np.ascontiguousarray(_checked(take_rows(X, index)))
    if stride == single.itemsize:
        return rows
    apart: NDArray[Any] = np.empty((*rows.shape, 2), dtype)[..., 0]
    apart[...] = rows
    return apart


def _checked(rows: Any) -> NDArray[Any]:
    """Rows as scikit-learn sees them after its validation."""
    if not isinstance(rows, np.ndarray):
        rows = check_array(rows, ensure_all_finite=False)
    return np.asarray(rows)


def check_bounded(margins: Floats, answers: Floats, W: Floats, b: Floats) -> None:
    """Decline numbers of rows, or weights, that are not finite."""
    # A number that is not finite makes the decision values of its row so: there are fewer of
    # them to look at. Where they overflow, BLAS may come to another answer.
    n_finite = np.count_nonzero(np.isfinite(margins)) + np.count_nonzero(np.isfinite(answers))
    if n_finite < margins.size + answers.size:
        raise Declined("rows or decision values that are not finite have no kernel")
    # Weights that stop being finite never are again; scikit-learn raises an error then.
    if np.count_nonzero(np.isfinite(W)) + np.count_nonzero(np.isfinite(b)) < W.size + b.size:
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
    """Factors and ones, a multiple of `loops.FACTORS_PER_PASS`."""
    padded = np.ones(-(-len(factors) // FACTORS_PER_PASS) * FACTORS_PER_PASS, factors.dtype)
    padded[: len(factors)] = factors
    return padded
