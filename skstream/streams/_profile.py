"""Profile of a stream's labels: how well past labels predict the next one."""

import html
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._label_columns import LabelColumn, label_columns
from skstream.streams._stream import Stream, refuse_endless
from skstream.utils._choices import check_count
from skstream.utils._label_space import LabelSpace
from skstream.utils._labels import as_labels, distinct_labels
from skstream.utils._warnings import warn

_BLOCK = 65536
_HALF = 31  # bits of a code in a pair of codes


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
    succession : float
        P(S), the share of labels that are the most frequent successor of the label before, each
        judged by the other rows of the stream (leave one out, so that the share is not too high by
        chance when there are many classes); NaN for fewer than two labels.
    successors : ndarray of shape (n_classes,)
        For every class the class that most often comes next, the lowest among equals; None where no
        label followed.
    delta : ndarray of shape (n_classes, max_lag)
        Delta(l) for l = 1, ..., `max_lag`: the probability that a class continues after l labels of
        that class in a row, minus the same after l + 1. NaN where no such row occurs.
    label_columns : tuple of LabelColumn
        Columns of the stream from which the label can be read (`name`, `window`, `accuracy`); none
        are looked for where labels alone are given.

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
    succession: float
    successors: NDArray[Any]
    delta: NDArray[np.float64]
    label_columns: tuple[LabelColumn, ...] = ()

    @property
    def temporal_dependence(self) -> bool:
        """Whether P(T) exceeds P(M), or P(S) exceeds P(M) by more than chance."""
        return self.persistence > self.majority_prior or self._follows(self.majority_prior)

    def _follows(self, other: float) -> bool:
        """Whether P(S) exceeds another share by more than two sampling errors."""
        return bool(self.succession > other + 2 / np.sqrt(self.n_rows))

    @property
    def advice(self) -> str:
        """What the profile means for baselines and models, in one or two sentences."""
        if len(self.classes) == 1:
            return f"All {self.n_rows:,} labels are {self.classes[0]!s}: nothing can be learnt."
        figures = f"P(T) = {self.persistence:.3f}, P(M) = {self.majority_prior:.3f}"
        if self._follows(max(self.majority_prior, self.persistence)):
            # Labels that alternate or form a cycle, whether or not they also repeat.
            return (
                f"The labels depend on their past by more than repetition: the most frequent "
                f"successor of the label before is right in P(S) = {self.succession:.3f} of the "
                f"rows ({figures}). Wrap models in TemporallyAugmented or TemporalCorrection, and "
                f"judge them against P(S): the majority and Persistent (kappa_m, kappa_temporal) "
                f"are too easy to beat."
            )
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
                f"  P(S) succession  {self.succession:.4f}",
                f"  {self.advice}",
                "  Delta(l) per class in .delta, class shares in .priors, .successors",
            ]
        )

    def _repr_html_(self) -> str:
        rows = {
            "labels": f"{self.n_rows:,}",
            "classes": f"{len(self.classes)}",
            "missing": f"{self.n_missing:,}",
            "P(M) majority": f"{self.majority_prior:.4f}",
            "P(T) persistence": f"{self.persistence:.4f}",
            "P(S) succession": f"{self.succession:.4f}",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows.items())
        return f"<table>{cells}</table><p>{html.escape(self.advice)}</p>"


def label_profile(y: Any, *, max_lag: int = 10) -> LabelProfile:
    """Profile the labels of a stream: majority, persistence, and memory beyond the last label.

    A simple test, before any model is run, of whether to consider temporal dependence: yes if P(T)
    exceeds P(M), for which a sample of some hundred labels is enough, or if the labels follow
    another pattern than repetition, so that P(S) exceeds both.

    Parameters
    ----------
    y : array-like of shape (n_rows,), iterable of labels, or Stream
        Labels in time order. Missing ones (None, NaN, ``pandas.NA``) are left out, as if the rows
        before and after them were adjacent. A source of chunks is converted by `as_stream` first.
    max_lag : int, default=10
        Largest lag l of Delta(l); at least 1.

    Returns
    -------
    LabelProfile
        The figures, and advice based on them.

    Raises
    ------
    ValueError
        If there is no label, or `max_lag` is below 1.

    Warns
    -----
    UserWarning
        If the label can be read from a column of a stream: a rule with one threshold on it, or on
        its difference to its mean over some rows before, is nearly always right. It is learnt from
        5,000 rows and judged by the 5,000 after them.

    Notes
    -----
    P(M) is the prior of the majority class and P(T) the probability that two consecutive labels
    are equal, i.e. the accuracies of the two baselines [1]_ (sections 4.2 and 7). P(S) comes from
    the matrix of transitions between consecutive labels: it is the accuracy of guessing the most
    frequent successor of the label before. A cycle of k labels has P(M) = 1/k, P(T) = 0 and
    P(S) = 1; independent labels have P(S) = P(M). Of two successors that are exactly as frequent,
    the one judged is behind once its own row is left out, so neither counts as right: averaged over
    streams this makes up for successors that lead by chance, but labels in a fixed order that gives
    one class two successors (a, b, a, c, and so on) have a P(S) that is too low. For class i,
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
    >>> hours = label_profile([*range(24)] * 10)
    >>> hours.persistence, hours.succession, hours.temporal_dependence
    (0.0, 1.0, True)
    """
    counter = _RunCounter(check_count(max_lag, "max_lag", 1) + 2)
    for labels in _blocks(y):
        counter.update(labels)
    found = label_columns(y) if isinstance(y, Stream) else ()
    if found:
        warn(words_of(found))
    return replace(counter.profile(), label_columns=found)


def words_of(found: tuple[LabelColumn, ...]) -> str:
    """Say which columns give the label, and what to do."""
    which = "; ".join(map(str, found[:5])) + (f"; and {len(found) - 5} more" * (len(found) > 5))
    return (
        f"A column that is the label: {which}. A model that sees it reads the label off, and its "
        "score is no forecast. Leave it out (exclude=) unless it is known before the label."
    )


def _blocks(y: Any) -> Iterator[NDArray[Any]]:
    if isinstance(y, Stream):
        refuse_endless(y)
        yield from y.labels()
    elif hasattr(y, "__len__") or hasattr(y, "__array__"):
        yield as_labels(y)
    else:
        try:
            labels = iter(y)
        except TypeError:
            raise TypeError(
                "y must be labels in their order (an array, a list, or an iterable) or a Stream. "
                f"Got {type(y).__name__} instead."
            ) from None
        yield from _blocks_of(labels)


def _blocks_of(labels: Iterable[Any]) -> Iterator[NDArray[Any]]:
    while block := list(islice(labels, _BLOCK)):
        yield as_labels(block)


class _RunCounter:
    """Counts, for every class, the rows at which it occurred l times in a row."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.position: dict[Any, int] = {}
        # places[i, l - 1]: rows at which the newest l labels were class i.
        self.places = np.zeros((0, longest), dtype=np.int64)
        self.n_missing = 0
        self.run_class = -1
        self.run_length = 0
        # How often one class followed another, of the pairs that occur.
        self.transitions: Counter[tuple[int, int]] = Counter()

    def update(self, labels: NDArray[Any]) -> None:
        codes = self._codes(labels)
        self.n_missing += len(labels) - len(codes)
        if len(codes) == 0:
            return
        self._count_transitions(codes)
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

    def _count_transitions(self, codes: NDArray[np.int64]) -> None:
        linked = codes if self.run_class < 0 else np.append(self.run_class, codes)
        pairs, counts = np.unique(linked[:-1] << _HALF | linked[1:], return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            self.transitions[pair >> _HALF, pair & ((1 << _HALF) - 1)] += count

    def _succession(self, order: list[int], classes: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        """Accuracy of the most frequent successor, and that of each class in the given order."""
        place = {position: rank for rank, position in enumerate(order)}
        following: dict[int, list[tuple[int, int]]] = {rank: [] for rank in range(len(order))}
        for (before, after), count in self.transitions.items():
            following[place[before]].append((-count, place[after]))
        successors = np.full(len(order), None, dtype=object)
        names = classes.tolist()
        right = 0.0
        for rank, counts in following.items():
            if counts:
                counts.sort()
                top, best = counts[0]
                successors[rank] = names[best]
                # The judged row is left out of the counts: a successor that leads by one count is
                # then tied, and a successor that was tied is then behind.
                rivals = [count for count, _ in counts[1:] if count <= top + 1]
                if top not in rivals:
                    right += -top / (1 + len(rivals)) if top < -1 else 0.0
        n_pairs = self.transitions.total()
        return (right / n_pairs if n_pairs else np.nan), successors

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Codes in the order in which classes appeared; missing labels left out."""
        classes = distinct_labels(labels)
        for label in classes.tolist():
            self.position.setdefault(label, len(self.position))
        grown = len(self.position) - len(self.places)
        self.places = np.pad(self.places, ((0, grown), (0, 0)))
        place = np.array([self.position[label] for label in classes.tolist()], dtype=np.int64)
        codes = LabelSpace(classes).encode(labels)
        found: NDArray[np.int64] = place[codes[codes >= 0]]
        return found

    def profile(self) -> LabelProfile:
        if not self.position:
            raise ValueError("There is no label to profile: every row is without one.")
        classes = distinct_labels(as_labels(list(self.position)))
        order = [self.position[label] for label in classes.tolist()]
        # The last row of the stream has no next label.
        followed = self.places.copy()
        followed[self.run_class, : self.run_length] -= 1
        with np.errstate(divide="ignore", invalid="ignore"):
            goes_on = self.places[:, 1:] / followed[:, :-1]
        counts = self.places[order, 0]
        n_rows = int(counts.sum())
        priors = counts / n_rows
        succession, successors = self._succession(order, classes)
        return LabelProfile(
            n_rows=n_rows,
            n_missing=self.n_missing,
            classes=classes,
            priors=priors,
            majority_prior=float(priors.max()),
            persistence=float(self.places[:, 1].sum() / (n_rows - 1)) if n_rows > 1 else np.nan,
            succession=succession,
            successors=successors,
            delta=(goes_on[:, :-1] - goes_on[:, 1:])[order],
        )
