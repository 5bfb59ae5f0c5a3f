"""Encode categories by the mean of the target so far."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream.base import (
    check_classes,
    check_labels,
    check_some_weight,
    check_targets,
    check_weight,
    forget,
)
from skstream.preprocessing._base import checked_values
from skstream.preprocessing._categories import (
    EVERY_CATEGORY,
    UNKNOWN,
    CategoryEncoder,
    MixedTypes,
    encode_all,
)
from skstream.preprocessing._history import sorted_stably
from skstream.streams._values import Factorized, first_of_no_number
from skstream.utils._running_sums import Floats, Integers, running_sums
from skstream.utils._sklearn import (
    Interval,
    StrOptions,
    feature_names_in,
    n_rows_of,
    wrapped_output,
)

# Groups up to this many values are summed column by column over all groups at once.
_SHORT = 16


class Groups:
    """Stored values grouped by their column, in the order of time within each group.

    Running sums are taken group by group, each from a value of its own. To take them all at
    once, the groups lie in tables by size (a power of two): a row holds the start, the
    values, and zeros, which change no sum.

    Attributes
    ----------
    columns : ndarray of shape (n_groups,)
        The distinct columns.
    """

    def __init__(self, at: Integers):
        n = len(at)
        column, order = sorted_stably(at)
        first = np.flatnonzero(np.diff(column, prepend=-1))
        self.columns = column[first]
        size = np.diff(first, append=n)
        room = (2 ** np.ceil(np.log2(size))).astype(np.int64)
        by_room = np.argsort(room, kind="stable")
        start = np.empty(len(room), dtype=np.int64)
        ends = np.cumsum(room[by_room] + 1)
        start[by_room] = ends - room[by_room] - 1
        self._start, self._end = start, start + room
        self._length = int(ends[-1]) if n else 0
        self._before = np.empty(n, dtype=np.int64)
        self._before[order] = np.arange(n) + np.repeat(start - first, size)
        rooms, tables = np.unique(room[by_room], return_index=True)
        begin = ends[tables] - rooms - 1
        ends = np.append(begin, self._length)[1:]
        self._tables = list(zip(rooms.tolist(), begin, ends, strict=True))

    def running(self, starts: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Sum of each group before each of its values, and after all of them.

        Parameters
        ----------
        starts : ndarray of shape (n_groups,)
        values : ndarray of shape (n_values,)

        Returns
        -------
        before : ndarray of shape (n_values,)
        after : ndarray of shape (n_groups,)
        """
        sums = np.zeros(self._length)
        sums[self._start] = starts
        sums[self._before + 1] = values
        for room, begin, end in self._tables:
            table = sums[begin:end].reshape(-1, room + 1)
            if room <= _SHORT:
                for j in range(room):
                    table[:, j + 1] += table[:, j]
            else:
                table.cumsum(axis=1, out=table)
        return sums[self._before], sums[self._end]


class Memory(NamedTuple):
    """What has been learnt. Sums stand behind the sum of the weights: 1 + n_targets of them.

    Attributes
    ----------
    codes : list of dict
        For each column the places of its categories.
    sums : list of ndarray of shape (n_categories, 1 + n_targets)
        For each column the sums of each category.
    total : ndarray of shape (1 + n_targets,)
        Sums of all rows.
    """

    codes: list[dict[Any, int]]
    sums: list[Floats]
    total: Floats


class Seen(NamedTuple):
    """Sums that some rows find, each at its moment.

    Attributes
    ----------
    sums : ndarray of shape (n_rows, n_columns, 1 + n_targets)
        Of the category of each column.
    total : ndarray of shape (n_rows, 1 + n_targets)
        Of all rows before.
    """

    sums: Floats
    total: Floats


def nothing_learnt(n_columns: int, n_targets: int) -> Memory:
    """Memory before the first row."""
    return Memory(
        [{} for _ in range(n_columns)],
        [np.zeros((0, 1 + n_targets)) for _ in range(n_columns)],
        np.zeros(1 + n_targets),
    )


def learn(
    memory: Memory,
    columns: Sequence[Factorized],
    learnt: Integers,
    asked: Integers,
    stamp: Integers,
    steps: Floats,
) -> tuple[Memory, Seen, Seen]:
    """Learn rows one after the other; tell what each finds before it is learnt, or asked.

    Parameters
    ----------
    memory : Memory
        What has been learnt before; not changed.
    columns : sequence of Factorized
        Values of the rows.
    learnt, asked : ndarray of shape (n_learns,), (n_asks,)
        Which rows are learnt, and which are asked.
    stamp : ndarray of shape (n_asks,)
        Number of rows learnt before each ask; it does not decrease.
    steps : ndarray of shape (n_learns, 1 + n_targets)
        Weight of each row learnt, and its targets times the weight.

    Returns
    -------
    after : Memory
        What is known after all rows.
    of_learnt, of_asked : Seen
        What they find.
    """
    n_learns, n_sums = steps.shape
    learns = np.arange(n_learns) + np.searchsorted(stamp, np.arange(n_learns), side="right")
    asks = np.arange(len(stamp)) + stamp
    values = np.zeros((n_sums, n_learns + len(stamp)))  # an ask adds 0, which changes no sum
    values[:, learns] = steps.T
    found = np.empty((n_learns + len(stamp), len(columns), n_sums))
    sums = []
    every = encode_all(memory.codes, columns, learnt, asked, stamp, EVERY_CATEGORY)
    for place, (encoded, before) in enumerate(zip(every, memory.sums, strict=True)):
        table = np.zeros((1 + len(encoded.known), n_sums))  # the first row: unknown ones
        table[1 : 1 + len(before)] = before
        at = np.empty(len(found), dtype=np.int64)
        at[learns], at[asks] = encoded.learnt, encoded.asked
        groups = Groups(at - UNKNOWN)
        for number in range(n_sums):
            found[:, place, number], table[groups.columns, number] = groups.running(
                table[groups.columns, number], values[number]
            )
        sums.append(table[1:])
    totals = running_sums(memory.total, steps)
    after = Memory([encoded.known for encoded in every], sums, totals[-1].copy())
    return after, Seen(found[learns], totals[:-1]), Seen(found[asks], totals[stamp])


class TargetEncoder(CategoryEncoder):
    """Encode categories by the mean of the target so far.

    Every column becomes the mean of the target over earlier rows of the same category: for labels,
    the share of the second of two classes, or one column for each of several classes. The mean is
    shrunk towards that of all rows, the more so the fewer rows the category has. A row's own label
    never enters its own value, not even in training: otherwise a model would learn to read off the
    label (target leakage).

    Parameters
    ----------
    smooth : float, default=10.0
        Weight of the mean of all rows, in rows: for a category with this many rows, the value is
        half-way between its own mean and that of all. 0: its own mean only.
    target_type : {"auto", "continuous", "classes"}, default="auto"
        "continuous": the target is a number. "classes": it is a label. "auto": a label if the
        classes are known (a `StreamPipeline` and evaluators pass those of a classification task) or
        the target is not a number; else a number.

    Attributes
    ----------
    codes_ : list of dict
        For each column its categories, with the row of each in `sums_`. A missing value is None.
    categories_ : list of ndarray
        For each column its categories, in this order.
    sums_ : list of ndarray of shape (n_categories, 1 + n_targets)
        For each column and category: the weight of its rows, and the sums of their targets.
    total_ : ndarray of shape (1 + n_targets,)
        The same for all rows.
    classes_ : ndarray of shape (n_classes,)
        The labels, for a classification target.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    StreamOneHotEncoder : One column for each category, without the target.
    sklearn.preprocessing.TargetEncoder : Fits all rows at once.

    Notes
    -----
    The value of a category c is (S_c + smooth * m) / (n_c + smooth), with the sum S_c of the
    targets of its n_c rows so far and the mean m of all rows so far (Micci-Barreca, 2001, "A
    preprocessing scheme for high-cardinality categorical attributes in classification and
    prediction problems", with a fixed number of rows as the blending factor). An unknown category
    gets m. Before the first row, m is 0 for numbers, and for classes one divided by their number.

    Memory grows with the number of different categories: do not use it for numbers with many
    values.

    `fit_transform` and `partial_fit_transform` encode each row from the rows before it, and
    `transform` from all training rows. scikit-learn's encoder uses folds for the same purpose,
    which would look ahead on a stream.

    Examples
    --------
    >>> from skstream.preprocessing import TargetEncoder
    >>> encoder = TargetEncoder(smooth=1.0)
    >>> cities = [["Rome"], ["Oslo"], ["Rome"], ["Rome"]]
    >>> encoder.fit_transform(cities, [3.0, 1.0, 5.0, 4.0]).ravel().tolist()
    [0.0, 3.0, 2.5, 3.6666666666666665]
    >>> encoder.transform([["Rome"], ["Paris"]]).ravel().tolist()
    [3.8125, 3.25]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "smooth": [Interval(Real, 0, None, closed="left")],
        "target_type": [StrOptions({"auto", "continuous", "classes"})],
    }

    sums_: list[Floats]
    total_: Floats
    classes_: NDArray[Any]
    n_features_in_: int

    def __init__(self, smooth: float = 10.0, *, target_type: str = "auto"):
        self.smooth = smooth
        self.target_type = target_type

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "TargetEncoder":
        """Forget everything, then learn the rows in one ``partial_fit``.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets; required. The labels that occur here are the classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The transformer itself.
        """
        self._learn_anew(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Floats:
        """Forget everything, train on the rows, and transform each with the state before it.

        So it differs from ``fit(X, y).transform(X)``, in which every row would see its own label.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets; required. The labels that occur here are the classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        ndarray of shape (n_rows, n_features_out)
            The rows transformed.
        """
        return self._learn_anew(X, y, sample_weight)

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> "TargetEncoder":
        """Train on rows.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets; required.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call if the target is a label.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The transformer itself.
        """
        self._learn(X, y, classes, sample_weight)
        return self

    @wrapped_output
    def partial_fit_transform(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Floats:
        """Train on rows, and transform each with the state before it.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets; required.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call if the target is a label.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        ndarray of shape (n_rows, n_features_out)
            Row i is what `transform` would have returned after training on the rows before it.
        """
        return self._learn(X, y, classes, sample_weight)

    def transform(self, X: Any) -> Floats:
        """Transform rows with the current state.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_features_out)
            The means, column by column; with several classes, class by class within a column.
        """
        check_is_fitted(self)
        X = checked_values(self, X, reset=False)
        rows = np.arange(X.shape[0])
        steps = np.empty((0, len(self.total_)))
        return self._taught(memory_of(self), X, rows[:0], rows, np.zeros_like(rows), steps)[2]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features,), default=None
            Names of the input columns, if they have none of their own.

        Returns
        -------
        ndarray of shape (n_features_out,), dtype object
            The same names; with several classes, each with the names of the classes.
        """
        check_is_fitted(self)
        names = feature_names_in(self, input_features)
        if len(self.total_) == 2:
            return np.array([*names], dtype=object)
        return np.array([f"{name}_{label}" for name in names for label in self.classes_], object)

    def _learn_anew(self, X: Any, y: Any, sample_weight: Any) -> Floats:
        self._validate_params()
        forget(self)
        check_some_weight(check_weight(sample_weight, n_rows_of(X)))
        classes = None
        if self.target_type == "classes" or (
            self.target_type == "auto" and np.asarray(y).dtype.kind not in "biuf"
        ):
            classes = np.unique(check_labels(self, y))
        return self._learn(X, y, classes, sample_weight)

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Floats:
        self._validate_params()
        first = not hasattr(self, "total_")
        X = checked_values(self, X, reset=first)
        weight = check_weight(sample_weight, n_rows_of(X))
        if hasattr(self, "classes_") or (first and learns_classes(self, classes)):
            check_classes(self, classes)
        targets = self._targets(y)
        if len(targets) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, but y has {len(targets)}.")
        before = nothing_learnt(X.shape[1], targets.shape[1]) if first else memory_of(self)
        is_learnt = np.ones(X.shape[0], dtype=bool) if weight is None else weight > 0.0
        learnt, others = np.flatnonzero(is_learnt), np.flatnonzero(~is_learnt)
        steps = steps_of(targets[learnt], None if weight is None else weight[learnt])
        after, *rows = self._taught(
            before, X, learnt, others, is_learnt.cumsum()[~is_learnt], steps
        )
        remember(self, after)
        means = np.empty((X.shape[0], rows[0].shape[1]))
        means[learnt], means[others] = rows
        return means

    def _targets(self, y: Any) -> Floats:
        """Targets of shape (n_rows, n_targets): numbers, or which class a label is."""
        if not hasattr(self, "classes_"):
            try:
                return np.asarray(check_targets(self, y), dtype=np.float64)[:, np.newaxis]
            except (TypeError, ValueError) as error:
                raise self._no_number(y, error) from error
        labels = check_labels(self, y)
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        codes = [places.get(label, -1) for label in labels.tolist()]
        if -1 in codes:
            row = codes.index(-1)
            raise ValueError(
                f"The label {labels.tolist()[row]!r} of row {row} is not among the classes "
                f"{self.classes_.tolist()} given at the first call."
            )
        return of_classes(np.array(codes, dtype=np.intp), len(self.classes_))

    def _no_number(self, y: Any, error: Exception) -> Exception:
        """Return an error that names the label without a number, or else scikit-learn's."""
        labels = np.asarray(y, dtype=object)
        found = first_of_no_number(labels[:, np.newaxis]) if labels.ndim == 1 else None
        if found is None:
            return error
        if self.target_type == "continuous":
            advice = "target_type='continuous' takes numbers. Use 'auto' or 'classes' for labels."
        elif hasattr(self, "total_"):
            advice = "the targets before it were numbers. Call fit, or start again with classes=."
        else:
            advice = "pass classes=[...], all labels that can occur, at the first partial_fit."
        return ValueError(f"y holds the label {found[2]!r}: {advice}")

    def _taught(
        self, memory: Memory, X: Any, learnt: Any, asked: Any, stamp: Any, steps: Floats
    ) -> tuple[Memory, Floats, Floats]:
        """Memory after some rows are learnt, and the means that they and those asked find."""
        try:
            after, of_learnt, of_asked = learn(
                memory, self._columns(X), learnt, asked, stamp, steps
            )
        except MixedTypes as error:
            raise error.of_column(X) from None
        n_classes = len(self.classes_) if hasattr(self, "classes_") else 0
        shown, answers = (means_of(self, seen, n_classes) for seen in (of_learnt, of_asked))
        return after, shown, answers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def learns_classes(encoder: TargetEncoder, classes: Any) -> bool:
    """Whether the target is a label, given the classes that are told at the first call."""
    if encoder.target_type == "auto":
        return classes is not None
    return encoder.target_type == "classes"


def of_classes(codes: NDArray[np.integer[Any]], n_classes: int) -> Floats:
    """Whether a row is of the second of two classes; of each of several."""
    shown = [n_classes - 1] if n_classes <= 2 else range(n_classes)
    return (codes[:, np.newaxis] == np.array(shown)).astype(np.float64)


def steps_of(targets: Floats, weight: Floats | None) -> Floats:
    """What rows add to the sums: their weight, and their targets times it."""
    steps = np.column_stack([np.ones(len(targets)), targets])
    return steps if weight is None else steps * weight[:, np.newaxis]


def memory_of(encoder: TargetEncoder) -> Memory:
    """What an encoder has learnt."""
    return Memory(encoder.codes_, encoder.sums_, encoder.total_)


def remember(encoder: TargetEncoder, memory: Memory) -> None:
    """Write what has been learnt into an encoder."""
    encoder.codes_, encoder.sums_, encoder.total_ = memory


def means_of(encoder: TargetEncoder, seen: Seen, n_classes: int) -> Floats:
    """Smoothed means of what rows find, of shape (n_rows, n_columns * n_targets).

    `n_classes` is 0 where the target is a number.
    """
    weight, sums = seen.total[:, :1], seen.total[:, 1:]
    prior = np.full(sums.shape, 1.0 / n_classes if n_classes else 0.0)
    np.divide(sums, weight, out=prior, where=weight > 0.0)
    prior = prior[:, np.newaxis, :]
    weight = seen.sums[..., :1] + encoder.smooth
    means = np.repeat(prior, seen.sums.shape[1], axis=1)
    np.divide(seen.sums[..., 1:] + encoder.smooth * prior, weight, out=means, where=weight > 0.0)
    return means.reshape(len(means), means.shape[1] * means.shape[2])
