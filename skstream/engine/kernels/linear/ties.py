"""Decision values at which the order of a sum decides the answer, summed as scikit-learn does.

The loops add the products of a row and the weights feature by feature, as ``partial_fit`` does.
``predict`` has BLAS add them, in another order. Both sums are right to a few units in the last
place; but where classes tie, as they do for zeros and ones and a constant rate, these units alone
decide. So a row whose margin may be only rounding is noted with the weights at that time, and
scikit-learn's own product of the two is taken. Sparse rows do not need this: scikit-learn, too,
adds their products in the order in which they are stored.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from skstream.engine.kernels.linear.loops import Floats, Ties
from skstream.utils._rows import own_rows, take_rows

# Numbers that may be noted before the rows noted are settled.
_ROOM = 1 << 16
_EPS = float(np.finfo(np.float64).eps)


def room_for_ties(n_vectors: int, n_features: int) -> Ties:
    """Room to note at least 8 rows."""
    room = int(np.clip(_ROOM // (n_vectors * n_features), 8, 512))
    at_W, at_b = np.empty((room, n_vectors, n_features)), np.empty((room, n_vectors))
    # By what share of the sizes of its products two sums may differ, with a margin.
    return Ties(2.0 * (n_features + 2) * _EPS, np.empty(room, dtype=np.int64), at_W, at_b)


def no_room(n_vectors: int, n_features: int) -> Ties:
    """No room: nothing is noted, because nothing is found to tie."""
    return _some(room_for_ties(n_vectors, n_features), slice(0))._replace(unit=-np.inf)


class Decisions(NamedTuple):
    """Rows of a part of a block as the loop would show them to the model, and their values.

    Attributes
    ----------
    learn_X, ask_X : {ndarray, dataframe}
        Storage of the rows.
    learn_index, ask_index : ndarray of shape (n_learns,) and (n_asks,)
        Positions of the rows in it.
    margins, answers : ndarray of shape (n_learns, n_vectors) and (n_asks, n_vectors)
        Decision values of the rows learnt, and of those asked; changed by `settle`.
    """

    learn_X: Any
    learn_index: NDArray[np.intp]
    ask_X: Any
    ask_index: NDArray[np.intp]
    margins: Floats
    answers: Floats

    def settle(self, ties: Ties) -> None:
        """Replace the decision values of the noted rows by scikit-learn's own."""
        is_learnt = ties.number >= 0
        learnt = ties if is_learnt.all() else _some(ties, is_learnt)
        at = learnt.number
        self.margins[at] = decisions(self.learn_X, self.learn_index[at], learnt.W, learnt.b)
        if learnt is not ties:
            asked = _some(ties, ~is_learnt)
            at = -1 - asked.number
            self.answers[at] = decisions(self.ask_X, self.ask_index[at], asked.W, asked.b)


def _some(ties: Ties, which: Any) -> Ties:
    return Ties(ties.unit, ties.number[which], ties.W[which], ties.b[which])


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
        values: NDArray[Any] = np.matmul(rows[:, np.newaxis], W.transpose(0, 2, 1))[:, 0] + b
        return values
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
