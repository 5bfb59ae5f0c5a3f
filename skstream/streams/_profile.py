"""Profile of a stream's labels: how well past labels predict the next one."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import Stream, refuse_endless
from skstream.streams._columns import words_of_dates
from skstream.utils._choices import check_count
from skstream.utils._labels import LabelSpace, as_labels, distinct_labels
from skstream.utils._rows import is_frame
from skstream.utils._tables import filled
from skstream.utils._times import is_of_dates, time_column
from skstream.utils._warnings import warn

_BLOCK = 65536
# From this share of one label on, the others are rare.
MOST_OF_ONE_LABEL = 0.9
# Rows that are looked at, and the fewest for which anything is said.
MOST_ROWS, FEWEST_ROWS = 10_000, 200
# Rows before a row whose mean is subtracted from a column; 0: the column as it is.
WINDOWS = (0, 1, 7, 12, 24, 48, 96, 144, 168, 288, 336)
# Wider streams are looked at without windows.
_MOST_COLUMNS = 100
# Columns of times that are subtracted from each other.
_MOST_TIMES = 8
# Share of the rows whose times are before those of a column that follows them; the fewest rows that
# are counted.
_MOST_LATER, _FEWEST_COUNTED = 0.99, 20
# A column is the label if its rule errs in no more rows than this, and than this share of the
# errors of the better one of the majority and the previous label.
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
    minus : str or None
        Another column of times that is subtracted; None: none.
    """

    name: str
    window: int
    accuracy: float
    minus: str | None = None

    def __str__(self) -> str:
        less = f", minus its mean over the {self.window} rows before," if self.window > 1 else ""
        less = f", less {self.minus!r}," if self.minus is not None else less
        less = ", minus its value in the previous row," if self.window == 1 else less
        return f"{self.name!r}{less} gives the label in {100 * self.accuracy:.1f} % of the rows"


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
        P(T), the share of labels that equal the previous label; NaN for fewer than two labels.
    succession : float
        P(S), the share of labels that are the most frequent successor of the previous label, each
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
        """What the profile means for baselines and models, in one to three sentences."""
        if len(self.classes) == 1:
            return f"All {self.n_rows:,} labels are {self.classes[0]!s}: there is nothing to learn."
        return f"{self._of_succession()}{self._of_rare_labels()}"

    def _of_rare_labels(self) -> str:
        """Say which measures tell more than the accuracy, where nearly all labels are the same."""
        if self.majority_prior < MOST_OF_ONE_LABEL or len(self.classes) < 2:
            return ""
        *_, rare, usual = self.classes[self.priors.argsort(kind="stable")]
        return (
            f" {100 * self.majority_prior:.1f} % of the labels are {usual}, so a high accuracy "
            f"says little: add measures of the label {rare}: "
            f"metrics=['average_precision:{rare}', 'recall:{rare}']."
        )

    def _of_succession(self) -> str:
        """Say what the order of the labels means for baselines and models."""
        figures = f"P(T) = {self.persistence:.3f}, P(M) = {self.majority_prior:.3f}"
        if self._follows(max(self.majority_prior, self.persistence)):
            # Labels that alternate or form a cycle, whether or not they also repeat.
            return (
                "The labels depend on their past by more than repetition: the most frequent "
                f"successor of the previous label is right in P(S) = {self.succession:.3f} of the "
                f"rows ({figures}). Wrap models in TemporallyAugmented or TemporalCorrection, and "
                "compare them with P(S): the majority and Persistent (kappa_m, kappa_temporal) "
                "are too easy to beat."
            )
        if self.temporal_dependence:
            text = (
                f"The labels depend on their past ({figures}): compare models with Persistent "
                "(kappa_temporal, kappa_plus), and consider wrapping them in TemporalCorrection "
                "or TemporallyAugmented."
            )
        else:
            text = (
                f"Predicting the previous label does not beat the majority class ({figures}): "
                "compare models with the majority (kappa_m, kappa_plus)."
            )
        if abs(self.persistence - self.majority_prior) < 1 / np.sqrt(self.n_rows):
            text += f" The difference is within the sampling error of {self.n_rows:,} labels."
        return text

    def __repr__(self) -> str:
        return "\n".join(
            [
                f"LabelProfile({self.n_rows:,} labels, {len(self.classes)} classes, "
                f"{self.n_missing:,} missing)",
                f"  P(M) majority     {self.majority_prior:.4f}",
                f"  P(T) persistence  {self.persistence:.4f}",
                f"  P(S) succession   {self.succession:.4f}",
                filled(f"  {self.advice}", indent="  "),
                "  Delta(l) per class in .delta, class shares in .priors, .successors",
            ]
        )


def label_profile(y: Any, *, max_lag: int = 10) -> LabelProfile:
    """Profile the labels of a stream: majority, persistence, and memory beyond the last label.

    A simple test, before running any model, of whether temporal dependence matters: it does if P(T)
    exceeds P(M), for which a few hundred labels are enough, or if the labels follow a pattern other
    than repetition, so that P(S) exceeds both.

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
        its difference to its mean over some rows before, or to another column if both are times, is
        nearly always right. The rule is fitted on 5,000 rows and tested on the next 5,000.

    Notes
    -----
    P(M) is the prior of the majority class and P(T) the probability that two consecutive labels
    are equal, i.e. the accuracies of the two baselines [1]_ (sections 4.2 and 7). P(S) comes from
    the matrix of transitions between consecutive labels: it is the accuracy of guessing the most
    frequent successor of the previous label. A cycle of k labels has P(M) = 1/k, P(T) = 0 and
    P(S) = 1; independent labels have P(S) = P(M). If two successors are exactly as frequent, the
    one being judged is behind once its own row is left out, so neither counts as right: averaged
    over streams this compensates for successors that lead by chance, but labels in a fixed order in
    which one class has two successors (a, b, a, c, and so on) have a P(S) that is too low. For
    class i, Delta(l) = P(y_t = i | y_{t-1} = ... = y_{t-l} = i) − P(y_t = i | y_{t-1} = ... =
    y_{t-l-1} = i) is near 0 if a label further back adds nothing, and negative if it makes one more
    label of the class likelier (section 6.8). Memory does not grow with the number of rows.

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
    max_lag = check_count(max_lag, "max_lag", 1)
    runs = _Runs()
    for labels in _blocks(y):
        runs.update(labels)
    found = label_columns(y) if isinstance(y, Stream) else ()
    if found:
        warn(words_of(found))
    return replace(runs.profile(max_lag), label_columns=found)


def words_of(found: tuple[LabelColumn, ...]) -> str:
    """Say which columns give the label, and what to do."""
    which = "; ".join(map(str, found[:5])) + (f"; and {len(found) - 5} more" * (len(found) > 5))
    return (
        f"A column reveals the label: {which}. A model that sees it only copies the label, and its "
        "score is not that of a forecast. Leave the column out (exclude=) unless it is known "
        "before the label."
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
        while block := list(islice(labels, _BLOCK)):
            yield as_labels(block)


class _Runs:
    """Runs of equal labels: how many there are of each label and length, and what followed."""

    def __init__(self) -> None:
        self.n_missing = 0
        self._counts: Counter[tuple[Any, int]] = Counter()  # of a label and a length
        self._followers: Counter[tuple[Any, Any]] = Counter()  # of a label, and the one after it
        self._last: tuple[Any, int] | None = None  # the run that may continue

    def update(self, labels: NDArray[Any]) -> None:
        """Count the runs in the next labels."""
        classes = distinct_labels(labels)
        codes = LabelSpace(classes).encode(labels)
        codes = codes[codes >= 0]
        self.n_missing += len(labels) - len(codes)
        if len(codes) == 0:
            return
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        names, lengths = classes[codes[starts]].tolist(), np.diff(starts, append=len(codes))
        if self._last is not None:
            label, length = self._last
            if label == names[0]:
                lengths[0] += length
            else:
                names, lengths = [label, *names], np.append(length, lengths)
        runs = list(zip(names, lengths.tolist(), strict=True))
        self._last = runs.pop()
        self._counts.update(runs)
        self._followers.update(pairwise(names))

    def profile(self, max_lag: int) -> LabelProfile:
        """Return what the runs say."""
        if self._last is None:
            raise ValueError("There is no label to profile: every row is without one.")
        counts = self._counts + Counter([self._last])
        classes = distinct_labels(as_labels(list({label: None for label, _ in counts})))
        names = classes.tolist()
        place = {label: k for k, label in enumerate(names)}
        # places[k, l - 1]: rows at which the newest l labels were class k.
        places = np.zeros((len(classes), max_lag + 2), dtype=np.int64)
        for (label, length), count in counts.items():
            places[place[label]] += count * np.maximum(length - np.arange(max_lag + 2), 0)
        # The last row of the stream has no next label.
        followed = places.copy()
        followed[place[self._last[0]], : self._last[1]] -= 1
        with np.errstate(divide="ignore", invalid="ignore"):
            goes_on = places[:, 1:] / followed[:, :-1]
        n_rows = int(places[:, 0].sum())
        priors = places[:, 0] / n_rows
        following: list[list[tuple[int, int]]] = [
            [(-again, k)] if again else [] for k, again in enumerate(places[:, 1].tolist())
        ]
        for (before, after), count in self._followers.items():
            following[place[before]].append((-count, place[after]))
        right, successors = 0.0, np.full(len(classes), None, dtype=object)
        for k, after_it in enumerate(following):
            if after_it:
                successors[k] = names[min(after_it)[1]]
                right += _right(sorted(count for count, _ in after_it))
        return LabelProfile(
            n_rows=n_rows,
            n_missing=self.n_missing,
            classes=classes,
            priors=priors,
            majority_prior=float(priors.max()),
            persistence=float(places[:, 1].sum() / (n_rows - 1)) if n_rows > 1 else np.nan,
            succession=right / (n_rows - 1) if n_rows > 1 else np.nan,
            successors=successors,
            delta=goes_on[:, :-1] - goes_on[:, 1:],
        )


def _right(counts: list[int]) -> float:
    """Rows in which the most frequent successor of a label is right, by counts below 0, sorted.

    The judged row is left out of the counts: a successor that leads by one count is then tied, and
    one that was tied is then behind.
    """
    top = counts[0]
    rivals = [count for count in counts[1:] if count <= top + 1]
    if top in rivals or top == -1:
        return 0.0
    return -top / (1 + len(rivals))


def label_columns(stream: Stream, chunks: Iterable[Chunk] | None = None) -> tuple[LabelColumn, ...]:
    """Find columns from which the label can be read, in the first rows of a stream.

    Nearly always right are rules with one threshold on a column, or on its difference to its mean
    over some rows before, or on that of two columns of times; and with one label for each value.
    They are learnt from the first half of the rows, and judged by the second half, beside the
    majority and the previous label. Nothing is found in a stream of one pass: its rows are left for
    the pass that needs them, nor where the naive guesses hardly err. `chunks` are those of the
    stream, if a pass has begun.
    """
    if not stream.reiterable:
        return ()
    parts, labels, n_rows = [], [], 0
    times = set(time_features(stream))
    for X, y, _ in stream if chunks is None else chunks:
        kept = min(len(y), MOST_ROWS - n_rows)
        times |= set(map(str, date_columns(X)))
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
    most = min(MOST_ERRORS, SHARE_OF_NAIVE_ERRORS * (1.0 - naive))
    found, columns = [], {}
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
        if 1.0 - best.accuracy <= most:
            found.append(best)
        if name in times and column.dtype.kind == "f":
            columns[name] = column
    for minus, name in combinations(list(columns)[:_MOST_TIMES], 2):
        with np.errstate(invalid="ignore"):  # an endless time less another
            difference = _less_mean(columns[name] - columns[minus], 0)
        accuracy = _by_threshold(difference, codes, half)
        if 1.0 - accuracy <= most:  # one of the two alone was a worse way to say it
            found = [one for one in found if one.name != name or one.accuracy >= accuracy]
            found.append(LabelColumn(name, 0, accuracy, minus))
    return tuple(found)


def time_features(stream: Stream) -> list[str]:
    """Return the features that the files of a stream hold as times."""
    kinds: dict[str, str] = getattr(stream.source_streams()[0], "kinds", {})
    return [name for name, kind in kinds.items() if kind == "time"]


def doubtful_features(stream: Stream, chunk: Chunk) -> Iterator[str]:
    """Say of features in the first chunk of files that they count rows, or come after these.

    Times come after their rows, as those of labels do, if nearly all are later than the arrivals;
    without these than the first feature of times that does not go back. Nothing is said of frames.
    """
    X, _, meta = chunk
    kinds: dict[str, str] = getattr(stream.source_streams()[0], "kinds", {})
    if not isinstance(X, np.ndarray) or X.ndim != 2 or len(X) < _FEWEST_COUNTED:
        return
    columns = dict(zip(kinds, X.T, strict=True))
    for name in columns:
        if kinds[name] == "number" and (np.diff(columns[name]) == 1).all():
            yield f"{name!r} counts the rows. Leave it out with exclude={[name]}."
    for name, texts in getattr(stream.source_streams()[0], "categories", {}).items():
        if texts and (words := words_of_dates(name, texts)):
            yield words
    times = {name: columns[name] for name in columns if kinds[name] == "time"}
    arrival, of_rows = meta.get("arrival"), "the arrival of their row"
    if arrival is not None:
        times_of_rows = _seconds(arrival) if arrival.dtype.kind == "M" else np.full(len(X), np.inf)
    else:
        of_rows = next((name for name in times if (np.diff(times[name]) >= 0).all()), "")
        times_of_rows = times.pop(of_rows, np.full(len(X), np.inf))
    for name in times:
        is_later = (times[name] > times_of_rows)[np.isfinite(times[name])]
        if len(is_later) and is_later.mean() >= _MOST_LATER:
            first = "" if arrival is not None else f"arrival={of_rows!r} and "
            yield (
                f"Nearly all times in {name!r} are later than {of_rows}, so they are not known "
                f"when a row is predicted. If they say when the label became known, pass {first}"
                f"label_time={name!r}. Else leave it out with exclude={[name]}."
            )


def _columns(X: Any, n_rows: int, names: Any) -> dict[str, NDArray[Any]]:
    """Dense columns of the first rows by name: numbers as float64, all else as objects."""
    if is_frame(X):
        dates = date_columns(X)
        named = {
            str(name): (_seconds(X[name]) if name in dates else np.asarray(X[name]))
            for name in X.columns
        }
        named = {name: column[:n_rows] for name, column in named.items()}
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        if names is None or len(names) != X.shape[1]:
            names = [f"column {j}" for j in range(X.shape[1])]
        named = {str(name): X[:n_rows, j] for j, name in enumerate(names)}
    else:
        return {}  # of sparse rows, none is looked at
    return {name: _values(column) for name, column in named.items()}


def _seconds(times: Any) -> NDArray[np.float64]:
    """Datetimes as seconds since 1970, NaN where missing."""
    whole = np.asarray(time_column(times, "X")).astype("datetime64[ms]")
    return np.where(np.isnat(whole), np.nan, whole.astype(np.int64) / 1e3)


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


def date_columns(X: Any) -> list[Any]:
    """Return the columns of a frame that hold dates or datetimes; none of other rows."""
    if not is_frame(X):
        return []
    return [name for name, kind in zip(X.columns, X.dtypes, strict=True) if is_of_dates(kind)]
