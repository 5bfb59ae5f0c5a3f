"""Naive Bayes on counts: the statistics are sums, so prefix sums give the answers of a block."""

import copy
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import unique_labels

from skstream.engine.block import Block
from skstream.engine.kernels.base import DENSE_AND_SPARSE, Declined, Kernel, Task, value_of
from skstream.engine.kernels.cuts import (
    Events,
    Floats,
    Integers,
    Piece,
    distinct,
    merge_events,
    pieces,
    rows_per_piece,
)
from skstream.engine.kernels.input import EXACT_OR_SINGLE, read_block
from skstream.engine.kernels.naive_bayes import scores as scoring
from skstream.engine.kernels.naive_bayes.sparse import class_states
from skstream.engine.kernels.schema import OTHER_CLASSES, Columns
from skstream.utils._running_sums import running_sums
from skstream.utils._validation import is_fitted
from skstream.utils._versions import VersionedArray

# With more classes than these, rows are learnt one by one: each changes one class only.
_MANY_CLASSES = 128
# Counts of all classes, once for each of some rows, that are held at once.
_NUMBERS_AT_ONCE = 1 << 17


class State(NamedTuple):
    """What has been learnt.

    Attributes
    ----------
    columns : Columns
        Number and names of the features.
    class_count : ndarray of shape (n_classes,)
        Weights of the classes.
    counts : VersionedArray or None
        Counts of shape (n_classes, n_counts), or as `DiscreteKernel._laid_out` has them.
    sums : object
        What sparse rows need beside the counts; None before the first of them.
    """

    columns: Columns
    class_count: Floats
    counts: VersionedArray | None = None
    sums: Any = None


class DiscreteKernel(Kernel):
    """What the naive Bayes models on counts have in common.

    The state is what scikit-learn keeps: the weight of each class, and a count per class and
    feature. Counts are added in the order of the rows, as ``partial_fit`` adds them.
    """

    bitwise = False
    shareable = True
    gives_scores = True

    # Subclasses and instances may say otherwise.
    _dtypes: tuple[type, ...] = EXACT_OR_SINGLE
    _has_prior: bool = True
    # Sparse rows of fewer columns are made dense.
    _min_sparse_columns: int = 0
    # Stored values per piece of sparse rows: its working arrays stay in the caches.
    _values_per_piece: int = 1 << 17

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        assert task.classes is not None
        self._n_classes = len(task.classes)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse parameters to which ``partial_fit`` objects, or of which it warns."""
        refused = scoring.refused_answers(task)
        if refused is not None:
            return refused
        assert task.classes is not None
        prior = estimator.class_prior
        if not scoring.is_proper_alpha(estimator.alpha, estimator.force_alpha):
            return value_of(estimator, "alpha")
        if not isinstance(estimator.fit_prior, bool | np.bool_):
            return value_of(estimator, "fit_prior")
        if prior is not None and not scoring.is_proper_prior(prior, len(task.classes)):
            return value_of(estimator, "class_prior")
        known = not is_fitted(estimator) or np.array_equal(estimator.classes_, task.classes)
        return None if known else OTHER_CLASSES

    def initial_state(self) -> State:
        """Return what the estimator has learnt."""
        model = self.estimator
        if not is_fitted(model):
            return State(Columns.of(model), np.zeros(self._n_classes))
        counts = VersionedArray(self._known_counts())
        return State(Columns.of(model), np.array(model.class_count_), counts)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, scoring.answers(np.empty((0, self._n_classes)), self.task)
        learn, ask, columns = read_block(
            block, state.columns, accept_sparse=True, dtypes=self._dtypes
        )
        shared = ask is learn
        learn = self._prepare(learn)
        ask = learn if shared else self._prepare(ask)
        is_sparse = sparse.issparse(learn) or sparse.issparse(ask)
        if is_sparse and any(len(X) for X in (learn, ask) if not sparse.issparse(X)):
            raise Declined(DENSE_AND_SPARSE)
        assert columns.number is not None
        self._check(block, learn, is_sparse, columns.number)
        if state.counts is None:
            nothing = np.zeros((self._n_classes, self._n_counts(columns.number)))
            state = state._replace(counts=VersionedArray(nothing))
        assert state.counts is not None
        weights = self._class_weights(state.class_count, block)
        if is_sparse and columns.number >= self._min_sparse_columns:
            counts, sums, scores = self._sparse_scores(block, learn, ask, state)
            if self._has_prior:
                scores += self._log_prior(weights[block.stamp])
        else:
            table = np.array(self._counts_in(state.counts.read()), order="C")
            scores = self._dense_scores(block, learn, ask, weights, table)
            counts, sums = VersionedArray(table), None
        return State(columns, weights[-1].copy(), counts, sums), scoring.answers(scores, self.task)

    def _known_counts(self) -> Floats:
        """Counts of a fitted model."""
        return np.array(self.estimator.feature_count_)

    def _n_counts(self, n_columns: int) -> int:
        """Number of counts per class."""
        return n_columns

    def _prepare(self, X: Any) -> Any:
        """Rows as the model's formulas see them."""
        return X

    def _check(self, block: Block, learn: Any, is_sparse: bool, n_columns: int) -> None:
        """Decline what ``partial_fit`` would refuse."""
        alpha = self.estimator.alpha
        if np.ndim(alpha) and len(alpha) != n_columns:
            raise Declined("an alpha of another length than the rows has no kernel")
        values = learn.data if sparse.issparse(learn) else learn
        if values.size and values.min() < 0:
            raise Declined("negative counts have no kernel")

    def _log_prior(self, class_count: Floats) -> Floats:
        return scoring.log_prior(class_count, self.estimator.fit_prior, self.estimator.class_prior)

    def _class_weights(self, start: Floats, block: Block) -> Floats:
        """Weights per class before each learn, and after the last."""
        steps = np.zeros((block.n_learns, self._n_classes))
        steps[np.arange(block.n_learns), block.y] = 1.0 if block.weight is None else block.weight
        return running_sums(start, steps)

    def _dense_scores(
        self, block: Block, learn: Any, ask: Any, weights: Floats, counts: Floats
    ) -> Floats:
        """Joint log likelihoods of shape (n_asks, n_classes), learning the block.

        `weights` is as of `_class_weights`; `counts` is brought forward.
        """
        raise Declined("dense rows have no kernel")

    def _sparse_scores(
        self, block: Block, learn: Any, ask: Any, state: State
    ) -> tuple[VersionedArray, Any, Floats]:
        """Counts and sums after the block, and log likelihoods of shape (n_asks, n_classes).

        The work is proportional to the stored values of the rows: other counts are not copied.
        """
        assert state.counts is not None
        events, event_of_ask = merge_events(block, learn, ask)
        weights = class_states(state.class_count, events, events.weight)
        sums = copy.copy(state.sums)
        if sums is None:
            sums = self._sums_of(self._counts_in(state.counts.read()))
        counts = self._laid_out(state.counts)
        at: Any = events.at
        if block.n_learns < events.number:
            at = at[np.repeat(events.learnt, np.diff(events.bounds))]
        if len(at) >= learn.shape[1]:
            at = slice(None)  # all at once take less memory
        counts, array = counts.changed(self._columns_at(at))
        scores = np.empty((events.number, self._n_classes))
        for rows, piece in events.pieces(self._values_per_piece):
            part = weights[rows.start : rows.stop + 1]
            scores[rows] = self._event_scores(piece, part, array, sums)
        return counts, sums, scores[event_of_ask]

    def _columns_at(self, at: Any) -> Any:
        """Index of some columns in counts as of `_laid_out`."""
        return slice(None), at

    def _counts_in(self, array: Floats) -> Floats:
        """Counts of shape (n_classes, n_counts), of an array that may be as of `_laid_out`."""
        return array

    def _laid_out(self, counts: VersionedArray) -> VersionedArray:
        """Counts as `_event_scores` wants them."""
        return counts

    def _sums_of(self, counts: Floats) -> Any:
        """What `_event_scores` wants beside the counts; it may be changed in a shallow copy."""
        return None

    @abstractmethod
    def _event_scores(self, events: Events, weights: Floats, counts: Floats, sums: Any) -> Floats:
        """Log likelihoods of shape (n_events, n_classes), learning the events.

        Parameters
        ----------
        events : Events
        weights : ndarray of shape (n_events + 1, n_classes)
            Weights of the classes before each event, and after the last.
        counts : ndarray
            As of `_laid_out`; brought forward.
        sums : object
            As of `_sums_of`; brought forward.
        """

    def export(self, state: State) -> None:
        """Write the fitted attributes of scikit-learn."""
        if state.counts is None:
            return
        model = self.estimator
        state.columns.export(model)
        model.classes_ = unique_labels(self.task.classes)
        model.class_count_ = state.class_count.copy()
        model.class_log_prior_ = np.array(self._log_prior(state.class_count))
        self._export_counts(np.array(self._counts_in(state.counts.read()), order="C"))

    @abstractmethod
    def _export_counts(self, counts: Floats) -> None:
        """Write the counts, and what the model makes of them."""


class FeatureCountsKernel(DiscreteKernel):
    """Models of one count per class and feature, linear in the features.

    Where the best classes of a row differ by rounding alone, the order of the sum decides the
    answer: such rows get scikit-learn's own product of the row and the factors.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._alpha_sums: dict[int, float] = {}

    def _smoothing(self, n_columns: int) -> tuple[Floats, float]:
        """Smoothing of the columns (one for all, or one each), and its sum over them."""
        alpha = np.array(self.estimator.alpha, dtype=np.float64, ndmin=1)
        if n_columns not in self._alpha_sums:
            self._alpha_sums[n_columns] = float(np.broadcast_to(alpha, n_columns).sum())
        return alpha, self._alpha_sums[n_columns]

    def _dense_scores(
        self, block: Block, learn: Any, ask: Any, weights: Floats, counts: Floats
    ) -> Floats:
        scores = np.empty((block.n_asks, self._n_classes))
        for piece in pieces(block, rows_per_piece(max(counts.shape))):
            known = weights[piece.learns.start : piece.learns.stop + 1]
            learnt, asked = _dense(learn[piece.learns]), _dense(ask[piece.asks])
            in_order = sparse.issparse(ask)
            prior = self._log_prior(known[piece.stamp]) if self._has_prior else None
            into = scores[piece.asks]
            if self._n_classes > _MANY_CLASSES:
                factors_at_asks = self._factors_at_asks(piece, learnt, known, counts)
                for i, (factors, constants) in enumerate(factors_at_asks):
                    row = slice(i, i + 1)
                    into[row] = _products(asked[row], factors[np.newaxis], in_order)
                    _add_constants(into[row], None if prior is None else prior[row], constants)
                continue
            states = self._count_states(piece, learnt, counts)
            into[:] = self._piece_scores(piece, asked, states, known)
            if prior is not None:
                into += prior
            rows_at_once = max(1, _NUMBERS_AT_ONCE // counts.size)
            rows_tied = scoring.tied(into, self.task)
            for begin in range(0, len(rows_tied), rows_at_once):
                rows = rows_tied[begin : begin + rows_at_once]
                stamp = piece.stamp[rows]
                then = np.stack([count[at[stamp]] for count, at in states], axis=1)
                factors, constants = self._factors_of(then, known[stamp])
                again = _products(asked[rows], factors, in_order)
                _add_constants(again, None if prior is None else prior[rows], constants)
                into[rows] = again
        return scores

    @abstractmethod
    def _factors_of(self, counts: Floats, weights: Floats) -> tuple[Floats, Floats | None]:
        """Factors and constant terms of all classes, rounded as scikit-learn rounds them.

        Parameters
        ----------
        counts : ndarray of shape (n_states, n_classes, n_features)
            May be overwritten.
        weights : ndarray of shape (n_states, n_classes)
            Weights of the classes.

        Returns
        -------
        factors : ndarray of shape (n_states, n_classes, n_features)
        constants : ndarray of shape (n_states, n_classes), or None
            For none.
        """

    def _count_states(
        self, piece: Piece, x: Floats, counts: Floats
    ) -> list[tuple[Floats, Integers]]:
        """Counts of each class over time, and which of them hold after 0, 1, ... learns."""
        if piece.weight is not None:
            x = x * piece.weight[:, None]
        states = []
        for k, count in enumerate(counts):
            mine = piece.y == k
            over_time = running_sums(count, x[mine])
            count[:] = over_time[-1]
            states.append((over_time, np.concatenate([[0], np.cumsum(mine)])))
        return states

    @abstractmethod
    def _factors_at_asks(
        self, piece: Piece, x: Floats, weights: Floats, counts: Floats
    ) -> Iterator[tuple[Floats, Floats | None]]:
        """Factors and constant terms of all classes at each ask, learning the piece.

        Parameters
        ----------
        piece : Piece
        x : ndarray of shape (n_learns, n_features)
        weights : ndarray of shape (n_learns + 1, n_classes)
            Weights of the classes after 0, 1, ... learns.
        counts : ndarray of shape (n_classes, n_features)
            Brought forward.

        Yields
        ------
        factors : ndarray of shape (n_classes, n_features)
            Overwritten after the next.
        constants : ndarray of shape (n_classes,), or None
            For none.
        """

    @abstractmethod
    def _piece_scores(
        self, piece: Piece, ask: Floats, states: list[tuple[Floats, Integers]], weights: Floats
    ) -> Floats:
        """Log likelihoods of a piece's asks.

        Parameters
        ----------
        piece : Piece
        ask : ndarray of shape (n_asks, n_features)
        states : list of (counts, position)
            As of `_count_states`, for each class.
        weights : ndarray of shape (n_learns + 1, n_classes)
            Weights of the classes after 0, 1, ... learns.
        """


class OwnCountsKernel(FeatureCountsKernel):
    """Models whose score for a class depends only on the counts of that class."""

    def _piece_scores(
        self, piece: Piece, ask: Floats, states: list[tuple[Floats, Integers]], weights: Floats
    ) -> Floats:
        scores = np.empty((len(ask), self._n_classes))
        for k, (counts, position) in enumerate(states):
            state = position[piece.stamp]
            first, which = distinct(state)
            known = weights[piece.stamp[first], k]
            factors, constants = self._linear(counts[state[first]], known)
            # einsum sums each row alone: unlike a matrix product, the same for any blocks.
            scores[:, k] = np.einsum("ij,ij->i", ask, np.take(factors, which, axis=0))
            if constants is not None:
                scores[:, k] += constants[which]
        return scores

    def _factors_of(self, counts: Floats, weights: Floats) -> tuple[Floats, Floats | None]:
        n_states, n_classes, n_features = counts.shape
        factors, constants = self._linear(counts.reshape(-1, n_features), weights.ravel())
        shape = n_states, n_classes
        return factors.reshape(counts.shape), None if constants is None else constants.reshape(
            shape
        )

    def _factors_at_asks(
        self, piece: Piece, x: Floats, weights: Floats, counts: Floats
    ) -> Iterator[tuple[Floats, Floats | None]]:
        factors, constants = self._linear(counts.copy(), weights[0])
        after = np.array(list(learn_one_by_one(piece, x, counts))).reshape(x.shape)
        learnt = weights[np.arange(1, len(x) + 1), piece.y]
        new_factors, new_constants = self._linear(after, learnt)
        done = 0
        for stamp in piece.stamp.tolist():
            for t in range(done, stamp):
                factors[piece.y[t]] = new_factors[t]
                if constants is not None and new_constants is not None:
                    constants[piece.y[t]] = new_constants[t]
            done = stamp
            yield factors, constants

    @abstractmethod
    def _linear(self, counts: Floats, weights: Floats) -> tuple[Floats, Floats | None]:
        """Factors and constant terms of the log likelihood, linear in the features.

        Parameters
        ----------
        counts : ndarray of shape (n_states, n_features)
            Counts of a class; may be overwritten.
        weights : ndarray of shape (n_states,)
            Weight of the class.
        """


def learn_one_by_one(piece: Piece, x: Floats, counts: Floats) -> Iterator[Floats]:
    """Add a piece's rows to the counts of their classes.

    Parameters
    ----------
    piece : Piece
    x : ndarray of shape (n_learns, n_features)
    counts : ndarray of shape (n_classes, n_features)
        Brought forward.

    Yields
    ------
    ndarray of shape (n_features,)
        A copy of the counts of a row's class after the row.
    """
    if piece.weight is not None:
        x = x * piece.weight[:, None]
    for row, code in zip(x, piece.y.tolist(), strict=True):
        counts[code] += row
        yield counts[code].copy()


def _products(rows: Floats, factors: Floats, in_order: bool) -> Floats:
    """Product of each row and its factors, as scikit-learn forms that of a single row.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
    factors : ndarray of shape (n_rows, n_classes, n_features)
    in_order : bool
        Whether the products are added one after the other, as for sparse rows, or by BLAS.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
    """
    products: Floats
    if in_order:
        products = np.cumsum(rows[:, np.newaxis] * factors, axis=2)[:, :, -1]
    else:
        products = np.matmul(rows[:, np.newaxis], factors.transpose(0, 2, 1))[:, 0]
    return products


def _add_constants(scores: Floats, prior: Floats | None, constants: Floats | None) -> None:
    """Add the part of the score that does not depend on the row, in scikit-learn's order."""
    if prior is not None:
        scores += prior if constants is None else prior + constants


def _dense(X: Any) -> Floats:
    rows: Floats = X.toarray() if sparse.issparse(X) else X
    return rows
