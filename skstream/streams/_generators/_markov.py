"""Labels that follow one another by a transition matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from skstream.streams._generators._base import GeneratedStream, floats_of, normal_rows, parameter
from skstream.utils._choices import check_count, check_number
from skstream.utils._seeds import uniform

# Rows whose numbers are drawn at once on the way to a row.
_PIECE = 65536


@dataclass(kw_only=True, eq=False, repr=False)
class MarkovLabels(GeneratedStream):
    """Labels with a chosen temporal dependence: a Markov chain.

    Each label depends on the previous one by a transition matrix. Features depend only on the
    label: they are normal with unit variance and mean 0, except feature number c of a row of class
    c. So the previous label carries information that the features do not.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    transitions : array-like of shape (n_classes, n_classes), default=((0.9, 0.1), (0.1, 0.9))
        Probability of class j after class i, in row i and column j. Rows sum to 1.
    separation : float, default=2.0
        Distance of the means of any two classes.
    n_features : int, default=10
        Number of features, at least the number of classes.

    Attributes
    ----------
    priors : ndarray of shape (n_classes,)
        Share of each class, from the first row on.

    See Also
    --------
    label_profile : Measures the temporal dependence of labels.
    skstream.TemporalCorrection : Uses the previous label to correct a model.

    Notes
    -----
    The first label is drawn from `priors`, the stationary distribution, so all rows have the same
    distribution. The best predictions use the previous label; from the features alone the error is
    larger. Generating rows far from the latest ones requires the labels of some rows before them:
    as many as the chain remembers (all, if their order is fixed).

    Examples
    --------
    >>> from skstream.streams import MarkovLabels, label_profile
    >>> stream = MarkovLabels(20_000, transitions=[[0.9, 0.1], [0.3, 0.7]])
    >>> stream.priors
    array([0.75, 0.25])
    >>> round(label_profile(stream).persistence, 2)
    0.85
    >>> round(stream.bayes_error(), 3), round(stream.bayes_error(previous_label=False), 3)
    (0.087, 0.127)
    """

    transitions: ArrayLike = ((0.9, 0.1), (0.1, 0.9))
    separation: float = parameter(2.0, check_number)
    n_features: int = 10

    def _prepare(self) -> None:
        matrix = _checked_transitions(self.transitions)
        self.transitions = tuple(tuple(row) for row in matrix.tolist())
        self._n_classes = len(matrix)
        self.n_features = check_count(self.n_features, "n_features", self._n_classes)
        self._n_features = self.n_features
        self.priors = _stationary(matrix)
        never = np.flatnonzero(self.priors < 1e-12)
        if len(never):
            raise ValueError(
                f"transitions never reach class {never[0]}, or not forever: no class leads back to "
                "it. Leave the class out."
            )
        self._edges, self._next = _chances(matrix)
        # A row and its label, from which others are found.
        self._known = (0, self._first_label())

    def bayes_error(self, *, previous_label: bool = True) -> float:
        """Return the error of the best possible predictions.

        Parameters
        ----------
        previous_label : bool, default=True
            Whether the predictions know the previous label, as in prequential evaluation.

        Returns
        -------
        error : float
            By integration, with an error below 1e-9.
        """
        if not previous_label:
            return _error(self.priors, self.separation)
        errors = [_error(row, self.separation) for row in np.array(self.transitions)]
        return float(self.priors @ errors)

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, n_features)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        y = self._labels(start, stop)
        X = normal_rows(self.random_state, "Markov features", start, stop, self.n_features)
        X[np.arange(len(y)), y] += self.separation / np.sqrt(2)
        return X, y

    def _first_label(self) -> int:
        number = uniform(self.random_state, "Markov labels", 0, 1)
        label = np.searchsorted(np.cumsum(self.priors), number, side="right")[0]
        return min(int(label), len(self.priors) - 1)

    def _chances_of(self, start: int, stop: int) -> Iterator[list[int]]:
        """Yield for each row the label after each label."""
        table = self._next
        for begin in range(start, stop, _PIECE):
            end = min(begin + _PIECE, stop)
            numbers = uniform(self.random_state, "Markov labels", begin, end)
            for part in np.searchsorted(self._edges, numbers, side="right").tolist():
                yield table[part]

    def _labels(self, start: int, stop: int) -> NDArray[np.int64]:
        if start == stop:
            return np.empty(0, dtype=np.int64)
        if start == 0:
            label = self._first_label()
            labels = [label]
        else:
            label = self._label(start - 1)
            labels = []
        chances = self._chances_of(start + len(labels), stop)
        labels += [label := after[label] for after in chances]
        self._known = (stop - 1, labels[-1])
        return np.array(labels, dtype=np.int64)

    def _label(self, row: int) -> int:
        """Label of a row, from the nearest row at which it is known."""
        length = 64
        while True:
            first = max(row - length, 0)
            known, label = self._known
            if first == 0 and known > row:
                known, label = 0, self._first_label()
            if first <= known <= row:
                for after in self._chances_of(known + 1, row + 1):
                    label = after[label]
                return label
            # All labels that row `first` may have: they soon lead to the same one.
            labels = set(range(len(self.priors)))
            for after in self._chances_of(first + 1, row + 1):
                labels = {after[label] for label in labels}
            if len(labels) == 1:
                return labels.pop()
            length *= 8


def _checked_transitions(transitions: ArrayLike) -> NDArray[np.float64]:
    """Return a transition matrix, or raise an error."""
    matrix = floats_of(transitions)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(
            f"transitions must be a square matrix of at least 2 classes. Got {transitions!r} "
            f"instead."
        )
    if not np.all((0 <= matrix) & (matrix <= 1)):
        raise ValueError(
            f"transitions must be probabilities from 0 to 1. Got {transitions!r} instead."
        )
    sums = matrix.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > 1e-9)
    if len(wrong):
        raise ValueError(
            f"Each row of transitions must sum to 1. Row {wrong[0]}, the classes after class "
            f"{wrong[0]}, sums to {sums[wrong[0]]:g}."
        )
    matrix /= sums[:, np.newaxis]
    return matrix


def _stationary(transitions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the classes in the long run, from equal shares on."""
    # A chain that may also stay has the same shares, and does not go round in circles.
    power = (transitions + np.eye(len(transitions))) / 2
    for _ in range(64):
        power = power @ power
        power /= power.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = power.mean(axis=0).round(12)
    shares /= shares.sum()
    return shares


def _chances(transitions: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[list[int]]]:
    """Edges that divide [0, 1), and for each part the label after each label."""
    sums = np.cumsum(transitions, axis=1)[:, :-1]
    edges = np.unique(sums)
    parts = np.append(0.0, edges)
    columns = [np.searchsorted(row, parts, side="right") for row in sums]
    # A rest of rounding after the last class that can come must not lead to one that cannot.
    last = [int(np.flatnonzero(row)[-1]) for row in transitions]
    return edges, np.minimum(np.stack(columns, axis=1), last).tolist()


def _error(priors: NDArray[np.float64], separation: float) -> float:
    """Error of the best answers among classes of given shares.

    A row of class c has mean a in feature c and 0 in the others; the class with the largest
    ``log(prior) + a x`` is the best answer. The features are independent, so that the probability
    that class c has the largest is an integral over its own feature.
    """
    mean = separation / np.sqrt(2)
    priors = priors[priors > 0]
    if separation == 0:
        return float(1 - priors.max())
    step = 1 / 256
    normal = np.arange(-10, 10 + step / 2, step)
    density = np.exp(-(normal**2) / 2) / np.sqrt(2 * np.pi)
    right = 0.0
    for number, prior in enumerate(priors):
        others = np.delete(priors, number)
        below = ndtr(np.log(prior / others)[:, np.newaxis] / mean + mean + normal)
        right += prior * float((density * below.prod(axis=0)).sum()) * step
    return float(1 - right)
