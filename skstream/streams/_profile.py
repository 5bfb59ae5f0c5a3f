"""Profile of a stream's labels: how much of the future the past labels tell."""

import html
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._stream import Stream
from skstream.utils._labels import as_labels, distinct_labels, encode_labels

_BLOCK = 65536


@dataclass(frozen=True, eq=False)
class LabelProfile:
    """Majority, persistence and memory of a sequence of labels, as made by `label_profile`.

    Attributes
    ----------
    n_rows : int
        Number of labels; rows without a label are left out.
    n_missing : int
        Number of rows without a label.
    classes : ndarray of shape (n_classes,)
        Sorted classes that occur.
    priors : ndarray of shape (n_classes,)
        Share of each class.
    majority_prior : float
        P(M), the share of the most frequent class.
    persistence : float
        P(T), the share of labels that equal the label before; NaN for fewer than two labels.
    delta : ndarray of shape (n_classes, max_lag)
        Delta(l) for l = 1, ..., `max_lag`: the probability that a class goes on after l labels of
        that class in a row, minus the same after l + 1. NaN where no such row occurs.

    See Also
    --------
    label_profile : Make the profile of labels or of a stream.
    """

    n_rows: int
    n_missing: int
    classes: NDArray[Any]
    priors: NDArray[np.float64]
    majority_prior: float
    persistence: float
    delta: NDArray[np.float64]

    @property
    def temporal_dependence(self) -> bool:
        """Whether P(T) exceeds P(M)."""
        return self.persistence > self.majority_prior

    @property
    def advice(self) -> str:
        """What the profile says about baselines and models, in a sentence or two."""
        if len(self.classes) == 1:
            return f"All {self.n_rows:,} labels are {self.classes[0]!s}: nothing can be learnt."
        figures = f"P(T) = {self.persistence:.3f}, P(M) = {self.majority_prior:.3f}"
        if self.temporal_dependence:
            text = (
                f"The labels depend on their past ({figures}): judge models against Persistent "
                f"(kappa_temporal, kappa_plus), and consider wrapping them in TemporalCorrection "
                f"or TemporallyAugmented."
            )
        else:
            text = (
                f"Predicting the previous label does not beat the majority class ({figures}): "
                f"judge models against the majority (kappa_m, kappa_plus)."
            )
        if abs(self.persistence - self.majority_prior) < 1 / np.sqrt(self.n_rows):
            text += f" The difference is within the sampling error of {self.n_rows:,} labels."
        return text

    def __repr__(self) -> str:
        return "\n".join(
            [
                f"LabelProfile({self.n_rows:,} labels, {len(self.classes)} classes, "
                f"{self.n_missing:,} missing)",
                f"  P(M) majority    {self.majority_prior:.4f}",
                f"  P(T) persistence {self.persistence:.4f}",
                f"  {self.advice}",
                "  Delta(l) per class in .delta, class shares in .priors",
            ]
        )

    def _repr_html_(self) -> str:
        rows = {
            "labels": f"{self.n_rows:,}",
            "classes": f"{len(self.classes)}",
            "missing": f"{self.n_missing:,}",
            "P(M) majority": f"{self.majority_prior:.4f}",
            "P(T) persistence": f"{self.persistence:.4f}",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows.items())
        return f"<table>{cells}</table><p>{html.escape(self.advice)}</p>"


def label_profile(y: Any, *, max_lag: int = 10) -> LabelProfile:
    """Profile the labels of a stream: majority, persistence, and memory beyond the last label.

    An easy test, before any model is run, of whether temporal dependence is worth considering: it
    is if P(T) exceeds P(M), for which a sample of some hundred labels is enough.

    Parameters
    ----------
    y : array-like of shape (n_rows,), iterable of labels, or Stream
        Labels in time order. Missing ones (None, NaN, ``pandas.NA``) are left out, as though the
        rows beside them were neighbours. A source of chunks goes through `as_stream` first.
    max_lag : int, default=10
        Largest lag l of Delta(l); at least 1.

    Returns
    -------
    LabelProfile
        The figures, and what they advise.

    Raises
    ------
    ValueError
        If there is no label, or `max_lag` is below 1.

    Notes
    -----
    P(M) is the prior of the majority class and P(T) the probability that two consecutive labels
    are equal, i.e. the accuracies of the two baselines [1]_ (sections 4.2 and 7). For class i,
    Delta(l) = P(y_t = i | y_{t-1} = ... = y_{t-l} = i) − P(y_t = i | y_{t-1} = ... = y_{t-l-1} = i)
    is near 0 where a label further back adds nothing, and negative where it makes one more label of
    the class likelier (section 6.8). Memory does not grow with the number of rows.

    References
    ----------
    .. [1] Žliobaitė, I., Bifet, A., Read, J., Pfahringer, B. and Holmes, G. (2015). "Evaluation
       methods and decision theory for classification of streaming data with temporal dependence".
       Machine Learning 98(3), 455-482.

    Examples
    --------
    >>> from skstream.streams import label_profile
    >>> profile = label_profile(["up", "up", "up", "down", "down", "down", "up", "up"])
    >>> profile.majority_prior, round(profile.persistence, 3)
    (0.625, 0.714)
    >>> profile.temporal_dependence
    True
    """
    if not isinstance(max_lag, Integral) or max_lag < 1:
        raise ValueError(f"max_lag must be an integer >= 1. Got {max_lag!r} instead.")
    counter = _RunCounter(int(max_lag) + 2)
    for labels in _blocks(y):
        counter.update(labels)
    return counter.profile()


def _blocks(y: Any) -> Iterator[NDArray[Any]]:
    if isinstance(y, Stream):
        yield from y.labels()
    elif hasattr(y, "__len__") or hasattr(y, "__array__"):
        yield as_labels(y)
    else:
        yield from _blocks_of(iter(y))


def _blocks_of(labels: Iterable[Any]) -> Iterator[NDArray[Any]]:
    while block := list(islice(labels, _BLOCK)):
        yield as_labels(block)


class _RunCounter:
    """Counts, for every class, the places at which it stood l times in a row."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.position: dict[Any, int] = {}
        # places[i, l - 1]: rows at which the newest l labels were class i.
        self.places = np.zeros((0, longest), dtype=np.int64)
        self.n_missing = 0
        self.run_class = -1
        self.run_length = 0

    def update(self, labels: NDArray[Any]) -> None:
        codes = self._codes(labels)
        self.n_missing += len(labels) - len(codes)
        if len(codes) == 0:
            return
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        classes = codes[starts]
        lengths = np.diff(starts, append=len(codes))
        # A run that continues the last block's counts only its new places.
        before = np.zeros(len(lengths), dtype=np.int64)
        if classes[0] == self.run_class:
            before[0] = self.run_length
        for length in range(1, self.longest + 1):
            new = np.maximum(before + lengths - length + 1, 0) - np.maximum(before - length + 1, 0)
            np.add.at(self.places[:, length - 1], classes, new)
        self.run_class = int(classes[-1])
        self.run_length = int(before[-1] + lengths[-1])

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Codes in the order in which classes appeared; missing labels left out."""
        classes = distinct_labels(labels)
        for label in classes.tolist():
            self.position.setdefault(label, len(self.position))
        grown = len(self.position) - len(self.places)
        self.places = np.pad(self.places, ((0, grown), (0, 0)))
        place = np.array([self.position[label] for label in classes.tolist()], dtype=np.int64)
        codes = encode_labels(labels, classes)
        return place[codes[codes >= 0]]

    def profile(self) -> LabelProfile:
        if not self.position:
            raise ValueError("There is no label to profile: every row is without one.")
        classes = distinct_labels(as_labels(list(self.position)))
        order = [self.position[label] for label in classes.tolist()]
        # Of the places, the one at the end of the stream has no next label.
        followed = self.places.copy()
        followed[self.run_class, : self.run_length] -= 1
        with np.errstate(divide="ignore", invalid="ignore"):
            goes_on = self.places[:, 1:] / followed[:, :-1]
        counts = self.places[order, 0]
        n_rows = int(counts.sum())
        priors = counts / n_rows
        return LabelProfile(
            n_rows=n_rows,
            n_missing=self.n_missing,
            classes=classes,
            priors=priors,
            majority_prior=float(priors.max()),
            persistence=float(self.places[:, 1].sum() / (n_rows - 1)) if n_rows > 1 else np.nan,
            delta=(goes_on[:, :-1] - goes_on[:, 1:])[order],
        )
