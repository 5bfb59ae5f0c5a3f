"""Learning and asking sparse rows one by one, to the last bit, without touching every weight.

At every row scikit-learn shrinks all weights, also the 2^18 of hashed text of which the row
knows fifty. One product per weight and row cannot be saved, because rounding makes the order
of the products part of the result; but it need not go through memory. So the rows run in
stretches: the weights that a stretch reads or changes are gathered into a small array and
learn there row by row, as in `_linear_dense`; all others are then shrunk as often as there
were rows, tile by tile. Weights that are zero and stay zero take part in nothing.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.engine.kernels._linear_dense import (
    TINY_SCALE,
    Floats,
    Integers,
    Learns,
    asks_between,
    plain_step,
    plain_truncated,
)
from skstream.engine.kernels._linear_losses import Rule, step_of, truncated
from skstream.utils._numba import jit, numba_enabled


class SparseRows(NamedTuple):
    """Rows of a CSR matrix.

    Attributes
    ----------
    values : ndarray of shape (n_stored,), dtype float64
        Stored values, row after row.
    at : ndarray of shape (n_stored,), dtype int32 or int64
        Column of every value.
    bounds : ndarray of shape (n_rows + 1,), dtype int64
        Row ``i`` has the values ``bounds[i]`` to ``bounds[i + 1]``.
    """

    values: Floats
    at: NDArray[np.integer[Any]]
    bounds: Integers

    @classmethod
    def of(cls, X: Any) -> "SparseRows":
        """Rows of a CSR matrix, or none of a dense array."""
        csr = sparse.csr_array(X)
        return cls(csr.data, csr.indices, csr.indptr.astype(np.int64))

    def part(self, begin: int, end: int) -> "SparseRows":
        """Rows `begin` to `end`."""
        first, last = self.bounds[begin], self.bounds[end]
        bounds = self.bounds[begin : end + 1] - first
        return SparseRows(self.values[first:last], self.at[first:last], bounds)


# Intercepts learn this much slower from sparse rows (scikit-learn's SPARSE_INTERCEPT_DECAY).
INTERCEPT_DECAY = 0.01

# A stretch has at most so many rows, and (but for its first row) stored values.
STRETCH_ROWS = 64
STRETCH_VALUES = 4096

# So many weights are multiplied by all factors of a stretch before the next ones are; a call of
# NumPy costs as much as a thousand products, and wants larger tiles.
TILE = 2048
PLAIN_TILE = 16384
# Factors that compiled code multiplies in one pass over a tile.
FACTORS_PER_PASS = 8


def learn_sparse(
    X: SparseRows,
    learns: Learns,
    rule: Rule,
    W: Floats,
    b: Floats,
    Q: SparseRows,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> None:
    """Learn sparse rows, answering between them; as `learn_dense`, which see."""
    run_stretch, shrink = _stretch_plain, _shrink_plain
    if numba_enabled():
        run_stretch, shrink = _stretch_compiled.compiled, _shrink_compiled.compiled
    shrinks = bool((learns.shrink != 1.0).any())
    columns, X, Q = _renumber(X, Q, (W != 0.0).any(axis=0) if shrinks else None, W.shape[1])
    active = np.ascontiguousarray(W[:, columns].T)
    slots = np.empty(len(columns), dtype=np.int64)
    for begin, end in _stretches(X, Q, asks):
        bounds = asks_between(asks, begin, end)
        first, last = bounds[0], bounds[-1]
        here, rows, asked = _gather(X.part(begin, end), Q.part(first, last), slots)
        weights = active[here]
        part = learns.part(begin, end)
        run_stretch(
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
            shrink(active.reshape(-1), _padded(part.shrink))
        active[here] = weights
    W[:, columns] = active.T


def _renumber(
    X: SparseRows, Q: SparseRows, shrinking: NDArray[np.bool_] | None, n_features: int
) -> tuple[Integers, SparseRows, SparseRows]:
    """Columns in play (read, learnt, or shrinking), and the rows with positions among them."""
    in_play = np.zeros(n_features, dtype=bool) if shrinking is None else shrinking
    in_play[X.at] = True
    in_play[Q.at] = True
    columns = np.flatnonzero(in_play)
    position = np.empty(n_features, dtype=np.int64)
    position[columns] = np.arange(len(columns))
    return columns, X._replace(at=position[X.at]), Q._replace(at=position[Q.at])


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

    `slots` is scratch space; it need not be cleared, because only what was just written is read.
    """
    used = np.concatenate([rows.at, asked.at])
    order = np.arange(len(used))
    slots[used] = order
    here = used[slots[used] == order]
    slots[here] = order[: len(here)]
    return here, rows._replace(at=slots[rows.at]), asked._replace(at=slots[asked.at])


def _padded(factors: Floats) -> Floats:
    """Factors and ones, a multiple of `FACTORS_PER_PASS`."""
    padded = np.ones(-(-len(factors) // FACTORS_PER_PASS) * FACTORS_PER_PASS)
    padded[: len(factors)] = factors
    return padded


@jit
def _shrink_compiled(weights: Floats, factors: Floats) -> None:
    """Multiply all weights by one factor after the other."""
    for begin in range(0, len(weights), TILE):
        tile = weights[begin : begin + TILE]
        for i in range(0, len(factors), FACTORS_PER_PASS):
            f0, f1, f2, f3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
            f4, f5, f6, f7 = factors[i + 4], factors[i + 5], factors[i + 6], factors[i + 7]
            for j in range(len(tile)):
                tile[j] = tile[j] * f0 * f1 * f2 * f3 * f4 * f5 * f6 * f7


def _shrink_plain(weights: Floats, factors: Floats) -> None:
    scales = factors[factors != 1.0].tolist()
    for begin in range(0, len(weights), PLAIN_TILE):
        tile = weights[begin : begin + PLAIN_TILE]
        for scale in scales:
            np.multiply(tile, scale, tile)


@jit
def _stretch_compiled(
    X: SparseRows,
    learns: Learns,
    rule: Rule,
    weights: Floats,
    b: Floats,
    Q: SparseRows,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> None:
    n = len(margins)
    updates = np.empty(len(b))
    flat = weights.reshape(-1)
    for i in range(len(asks) - 1):
        for q in range(asks[i], asks[i + 1]):
            for k in range(len(b)):
                p = 0.0
                for e in range(Q.bounds[q], Q.bounds[q + 1]):
                    p += weights[Q.at[e], k] * Q.values[e]
                answers[q, k] = p + b[k]
        if i == n:
            break
        begin, end = X.bounds[i], X.bounds[i + 1]
        squared_norm = 0.0
        if rule.aggressive:
            for e in range(begin, end):
                squared_norm += X.values[e] * X.values[e]
        for k in range(len(b)):
            p = 0.0
            for e in range(begin, end):
                p += weights[X.at[e], k] * X.values[e]
            p += b[k]
            margins[i, k] = p
            if k == learns.code[i]:
                update = step_of(rule, learns.target[i], p, learns.eta[i], squared_norm)
                update *= learns.own_weight[i]
            else:
                update = step_of(rule, rule.low, p, learns.eta[i], squared_norm)
                update *= learns.other_weight[i]
            updates[k] = update
            if rule.fit_intercept:
                b[k] += update * INTERCEPT_DECAY
        scale = learns.shrink[i]
        if scale < TINY_SCALE:
            for j in range(len(flat)):
                flat[j] *= scale
            scale = 1.0
        cut = learns.cut[i]
        for e in range(begin, end):
            for k in range(len(b)):
                w = weights[X.at[e], k] + X.values[e] * (updates[k] / scale)
                if cut > 0.0:
                    w = truncated(w, cut, scale)
                weights[X.at[e], k] = w
        if scale != 1.0:
            for j in range(len(flat)):
                flat[j] *= scale


def _stretch_plain(
    X: SparseRows,
    learns: Learns,
    rule: Rule,
    weights: Floats,
    b: Floats,
    Q: SparseRows,
    asks: Integers,
    margins: Floats,
    answers: Floats,
) -> None:
    n = len(margins)
    intercepts = b.tolist()
    step_from = plain_step(rule)
    bounds = X.bounds.tolist()
    codes, targets = learns.code.tolist(), learns.target.tolist()
    own_weight, other_weight = learns.own_weight.tolist(), learns.other_weight.tolist()
    eta, shrink, cut = learns.eta.tolist(), learns.shrink.tolist(), learns.cut.tolist()
    asks = asks.tolist()
    with np.errstate(all="ignore"):
        for i in range(len(asks) - 1):
            for q in range(asks[i], asks[i + 1]):
                asked = slice(Q.bounds[q], Q.bounds[q + 1])
                products = weights[Q.at[asked]] * Q.values[asked, None]
                answers[q] = _sums(products) + intercepts
            if i == n:
                break
            row = slice(bounds[i], bounds[i + 1])
            at, x = X.at[row], X.values[row]
            old = weights[at]
            column = x[:, None]
            margin = _sums(old * column).tolist()
            scale = shrink[i]
            steps = []
            for k, intercept in enumerate(intercepts):
                p = margin[k] + intercept
                margin[k] = p
                if k == codes[i]:
                    update = step_from(targets[i], p, eta[i], x) * own_weight[i]
                else:
                    update = step_from(rule.low, p, eta[i], x) * other_weight[i]
                steps.append(update / (1.0 if scale < TINY_SCALE else scale))
                if rule.fit_intercept:
                    intercepts[k] = intercept + update * INTERCEPT_DECAY
            margins[i] = margin
            if scale < TINY_SCALE:
                weights *= scale
                old *= scale
                scale = 1.0
            old += column * steps
            weights[at] = plain_truncated(old, cut[i], scale) if cut[i] else old
            if scale != 1.0:
                weights *= scale
    b[:] = intercepts


def _sums(products: Floats) -> Floats:
    """Sums over the first axis, added in order also where there is one column."""
    if len(products) == 0:
        return np.zeros(products.shape[1])
    sums: Floats = np.add.accumulate(products, axis=0)[-1]
    return sums
