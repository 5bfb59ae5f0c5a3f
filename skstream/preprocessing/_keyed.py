"""The last values of the same key as features: the values themselves, and statistics of them."""

from abc import abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream.base import forget
from skstream.preprocessing._base import (
    StreamTransformer,
    check_parameters_unchanged,
    checked_values,
    chosen_names,
    holds,
    note_parameters,
)
from skstream.preprocessing._datetimes import moments_of
from skstream.preprocessing._history import Floats, History, Past, keys_of
from skstream.streams._values import column_at, column_lists, holds_numbers, is_missing
from skstream.utils._rows import is_frame
from skstream.utils._sklearn import Interval, columns_of, feature_names_in, wrapped_output

#: Columns in which a time is kept, and what one of the first is worth in those of the second.
N_OF_TIME = 3
BILLION = 10**9

_FUNCTIONS = ("count", "sum", "mean", "std", "min", "max")
_NONE: NDArray[np.intp] = np.empty(0, dtype=np.intp)


class Places(NamedTuple):
    """Positions of the columns that a transformer reads; None: there is no such column."""

    columns: list[int]
    key: int | None
    time: int | None = None


class KeyedTransformer(StreamTransformer):
    """Transforms a row by the last rows of its key that have been learnt."""

    _learnt_with: ClassVar[tuple[str, ...]] = ("columns", "key", "max_keys")
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "columns": "no_validation",
        "key": "no_validation",
        "max_keys": [Interval(Integral, 1, None, closed="left"), None],
        "fill_value": [Real],
    }

    columns: Any
    key: Any
    max_keys: int | None
    fill_value: float
    history_: History
    n_features_in_: int

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Train on rows.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The transformer itself.
        """
        self._learn(X)
        return self

    @wrapped_output
    def partial_fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Learn rows, and transform each with what was known before it.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_rows, n_features_out)
            Row i is what `transform` would have returned for it after the rows before it.
        """
        return self._learn(X)

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Forget everything, learn the rows, and transform each with what was known before it.

        So it is not ``fit(X).transform(X)``, by which every row would see the rows after it.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_rows, n_features_out)
            The rows transformed.
        """
        forget(self)
        return self._learn(X)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Transform rows with what is known now.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows; none of them is part of what another one sees.

        Returns
        -------
        ndarray of shape (n_rows, n_features_out)
            The rows transformed.
        """
        check_is_fitted(self)
        check_parameters_unchanged(self)
        keys, values = self._read(X, reset=False)
        rows = np.arange(len(keys))
        past = self._known().learn(keys, values, _NONE, rows, np.zeros(len(keys), np.intp))[1]
        return self._completed(self._features(past)[past.asked], values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features,), default=None
            Names of the input columns, if they have none of their own.

        Returns
        -------
        ndarray of shape (n_features_out,), dtype object
            The names.
        """
        check_is_fitted(self)
        names = feature_names_in(self, input_features)
        own = getattr(self, "feature_names_in_", None)
        columns, _, time = places_of(self, self.n_features_in_, own)
        chosen = [names[place] for place in columns]
        made = self._names(chosen, None if time is None else names[time])
        return np.array(made, dtype=object)

    def __copy__(self) -> Any:
        """Return a copy that learns on its own: versions of a history are for one thread."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        if hasattr(self, "history_"):
            copied.history_ = deepcopy(self.history_)
        return copied

    @abstractmethod
    def _depth(self) -> int:
        """Rows of each key that are needed; an error about the parameters."""

    @abstractmethod
    def _features(self, past: Past) -> Floats:
        """Features at every moment of a past, of shape (n_moments, n_features_out)."""

    @abstractmethod
    def _names(self, columns: list[str], time: str | None) -> list[str]:
        """Names of the features of columns with these names."""

    def _completed(self, features: Floats, values: Floats) -> Floats:
        """Features of rows that see them, with what they take from the rows' own values."""
        return features

    def _learn(self, X: Any) -> Floats:
        self._validate_params()
        self._depth()
        first = not hasattr(self, "history_")
        check_parameters_unchanged(self)
        keys, values = self._read(X, reset=first)
        before = new_history(self, values.shape[1]) if first else self._known()
        history, past = before.learn(keys, values, np.arange(len(keys)), _NONE, _NONE)
        remember(self, history)
        return self._completed(self._features(past)[past.learnt], values)

    def _known(self) -> History:
        if self.history_.depth != (depth := self._depth()):
            raise ValueError(
                f"The parameters of this {type(self).__name__} need the last {depth} rows of "
                f"each key, but it was fitted to keep {self.history_.depth}. Call fit, which "
                "starts again with the new parameters."
            )
        return self.history_

    def _read(self, X: Any, *, reset: bool) -> tuple[list[Any], Floats]:
        X = checked_values(self, X, reset=reset)
        names = getattr(self, "feature_names_in_", None)
        return read_rows(self, X, places_of(self, self.n_features_in_, names))


class LagFeatures(KeyedTransformer):
    """Values from the last rows of the same key (customer, sensor, shop).

    Only training rows are known, and a row never sees itself: in a `StreamPipeline`, the features
    of a training row come from earlier rows of its key, just as they did when it was predicted.

    Parameters
    ----------
    columns : str, int or list of them, default=None
        Numeric columns to use: names of a data frame, or positions. None: all but the key.
    lags : int or list of int, default=1
        How many rows of the key to look back; 1 is its last row.
    key : str or int, default=None
        Column that identifies the customer, sensor, ... of a row: texts, numbers or dates. A
        missing key (None, NaN) is a key like any other. None: all rows belong together.
    max_keys : int, default=None
        Largest number of keys to remember: a new one beyond it replaces the key whose last row is
        the oldest. None: all, so memory grows with the number of different keys.
    fill_value : float, default=0.0
        Value if nothing is known: the key has not had that many rows, or the value was missing. NaN
        suits models that accept it, or a subsequent imputer.

    Attributes
    ----------
    history_ : object
        The last rows of every key. ``history_.keys()`` lists the keys.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    RollingFeatures : Means, extremes and so on of the last values.
    skstream.temporal.TemporallyAugmented : Previous labels as features.

    Notes
    -----
    Memory is one number for each key, column and row back to the longest lag.

    With delayed labels, an evaluator trains on a row when its label comes. Known rows are then the
    *training* rows, not all that have arrived, although their features were known on arrival. That
    is less than could be known, never more.

    Only the new features are returned. To keep the columns themselves, use a `ColumnTransformer`
    with another part for them.

    Examples
    --------
    >>> from skstream.preprocessing import LagFeatures
    >>> rows = [["ann", 5.0], ["bob", 7.0], ["ann", 6.0]]
    >>> lags = LagFeatures(1, [1, 2], key=0)
    >>> lags.fit_transform(rows)  # every row by those before it
    array([[0., 0.],
           [0., 0.],
           [5., 0.]])
    >>> lags.transform([["ann", 9.0]])
    array([[6., 5.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KeyedTransformer._parameter_constraints,
        "lags": [Interval(Integral, 1, None, closed="left"), "array-like"],
    }

    def __init__(
        self,
        columns: Any = None,
        lags: int | Sequence[int] = 1,
        *,
        key: str | int | None = None,
        max_keys: int | None = None,
        fill_value: float = 0.0,
    ):
        self.columns = columns
        self.lags = lags
        self.key = key
        self.max_keys = max_keys
        self.fill_value = fill_value

    def _depth(self) -> int:
        return max(_numbers_of_rows("lags", self.lags))

    def _features(self, past: Past) -> Floats:
        columns = [past.back(lag) for lag in _numbers_of_rows("lags", self.lags)]
        stacked = np.stack(columns, axis=1).reshape(-1, len(past.at))
        features = np.ascontiguousarray(stacked.T)
        if not np.isnan(self.fill_value):
            features[np.isnan(features)] = self.fill_value
        return features

    def _names(self, columns: list[str], time: str | None) -> list[str]:
        lags = _numbers_of_rows("lags", self.lags)
        return [f"{name}_lag_{lag}" for name in columns for lag in lags]


class RollingFeatures(KeyedTransformer):
    """Statistics of the last values of the same key (customer, sensor, shop).

    Only training rows are known, and a row never sees itself: in a `StreamPipeline`, the features
    of a training row come from earlier rows of its key, just as they did when it was predicted.

    Parameters
    ----------
    columns : str, int or list of them, default=None
        Columns of numbers: names of a data frame, or positions. None: all but the key.
    windows : int or list of int, default=10
        Number of the latest training rows of the key.
    functions : str or list of str, default=("count", "mean")
        "count", "sum", "mean", "std" (of the population, divided by the count), "min", "max". All
        ignore missing values; "count" is the number of the others.
    key : str or int, default=None
        Column that identifies the customer, sensor, ... of a row: texts, numbers or dates. A
        missing key (None, NaN) is a key like any other. None: all rows belong together.
    time : str or int, default=None
        Column of times, for another feature: the time since the last row of the key, in seconds, or
        in their own unit if times are numbers. It is the time of the row minus that of the key's
        latest training row.
    max_keys : int, default=None
        Largest number of keys to remember: a new one beyond it replaces the key whose last row is
        the oldest. None: all, so memory grows with the number of different keys.
    fill_value : float, default=0.0
        Value for a window without values. NaN suits models that accept it, or a subsequent imputer.

    Attributes
    ----------
    history_ : object
        The last rows of every key. ``history_.keys()`` lists the keys.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    LagFeatures : The last values themselves.

    Notes
    -----
    As in pandas, ``frame.groupby(key)[column].rolling(10, min_periods=1, closed="left")``, with
    ``ddof=0`` for "std".

    The values of a window are summed again for every row, newest first: nothing is subtracted, so
    no rounding errors remain from values that have left.

    Memory is one number for each key, column and row of the longest window.

    With delayed labels, an evaluator trains on a row when its label comes. Known rows are then the
    *training* rows, not all that have arrived, although their features were known on arrival. That
    is less than could be known, never more.

    Only the new features are returned. To keep the columns themselves, use a `ColumnTransformer`
    with another part for them.

    Examples
    --------
    >>> from skstream.preprocessing import RollingFeatures
    >>> rows = [["ann", 5.0], ["bob", 7.0], ["ann", 6.0]]
    >>> rolling = RollingFeatures(1, windows=2, functions=["count", "mean"], key=0)
    >>> rolling.fit_transform(rows)  # every row by those before it
    array([[0., 0.],
           [0., 0.],
           [1., 5.]])
    >>> rolling.transform([["ann", 9.0]])
    array([[2. , 5.5]])
    """

    _learnt_with = ("columns", "key", "time", "max_keys")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KeyedTransformer._parameter_constraints,
        "windows": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "functions": [str, "array-like"],
        "time": "no_validation",
    }

    def __init__(
        self,
        columns: Any = None,
        *,
        windows: int | Sequence[int] = 10,
        functions: str | Sequence[str] = ("count", "mean"),
        key: str | int | None = None,
        time: str | int | None = None,
        max_keys: int | None = None,
        fill_value: float = 0.0,
    ):
        self.columns = columns
        self.windows = windows
        self.functions = functions
        self.key = key
        self.time = time
        self.max_keys = max_keys
        self.fill_value = fill_value

    def _depth(self) -> int:
        return max(self._windows_and_functions()[0])

    def _windows_and_functions(self) -> tuple[list[int], list[str]]:
        windows = _numbers_of_rows("windows", self.windows)
        return windows, chosen_names(self.functions, "function", _FUNCTIONS)

    def _features(self, past: Past) -> Floats:
        windows, functions = self._windows_and_functions()
        of_columns = past if self.time is None else past._replace(rows=past.rows[:-N_OF_TIME])
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite values
            of_window = _statistics(of_columns, windows, set(functions), self.fill_value)
        stacked = np.stack([of_window[n][name] for n in windows for name in functions], axis=1)
        features = np.ascontiguousarray(stacked.reshape(-1, len(past.at)).T)
        if self.time is None:
            return features
        return np.column_stack([features, past.back(1)[-N_OF_TIME:-1].T])

    def _completed(self, features: Floats, values: Floats) -> Floats:
        if self.time is None:
            return features
        billions, rest = (values[:, -N_OF_TIME:-1] - features[:, 1 - N_OF_TIME :]).T
        elapsed = (BILLION * billions + rest) / values[:, -1]
        elapsed[np.isnan(elapsed)] = self.fill_value
        return np.column_stack([features[:, : 1 - N_OF_TIME], elapsed])

    def _names(self, columns: list[str], time: str | None) -> list[str]:
        windows, functions = self._windows_and_functions()
        names = [f"{c}_{name}_{n}" for c in columns for n in windows for name in functions]
        return [*names, *([] if time is None else [f"{time}_since"])]


def _numbers_of_rows(parameter: str, given: Any) -> list[int]:
    """One or several numbers of rows as a list of different integers from 1 on."""
    several = [given] if isinstance(given, Integral) else list(given)
    for one in several:
        if isinstance(one, bool) or not isinstance(one, Integral) or one < 1:
            raise ValueError(
                f"{parameter} are numbers of rows, 1 or more. Got {one!r} in {given!r}."
            )
    numbers = [int(one) for one in several]
    if not numbers or len(set(numbers)) < len(numbers):
        wrong = "no number" if not numbers else "a number twice"
        raise ValueError(f"{parameter}={given!r} has {wrong}.")
    return numbers


def _statistics(
    past: Past, windows: list[int], wanted: set[str], fill_value: float
) -> dict[int, dict[str, Floats]]:
    """Statistics of each window at every moment, each of shape (n_columns, n_moments).

    `fill_value` is that of a window without values; one with infinite values may have NaN.
    They grow from the newest row of the longest window to its oldest: one value after the other,
    so that they do not depend on the other moments.
    """
    shape = len(past.rows), len(past.at)
    count, total = np.zeros(shape), np.zeros(shape)
    lowest, highest = np.full((2, *shape), np.nan)
    found: dict[int, dict[str, Floats]] = {}
    is_known = np.empty(shape, dtype=bool)
    for n_back in range(1, max(windows) + 1):
        values = past.back(n_back)
        np.equal(values, values, out=is_known)
        count += is_known
        if wanted & {"sum", "mean", "std"}:
            np.add(total, values, out=total, where=is_known)
        if "min" in wanted:
            np.fmin(lowest, values, out=lowest)
        if "max" in wanted:
            np.fmax(highest, values, out=highest)
        if n_back in windows:
            none = count == 0
            mean = np.divide(total, count)
            of_values = {"sum": total, "mean": mean, "min": lowest, "max": highest}
            if "std" in wanted:
                of_values["std"] = _spread(past, n_back, mean, count)
            found[n_back] = {
                "count": count.copy(),
                **{name: np.where(none, fill_value, one) for name, one in of_values.items()},
            }
    return found


def _spread(past: Past, window: int, mean: Floats, count: Floats) -> Floats:
    """Standard deviation of the values of a window about their mean."""
    squares = np.zeros_like(mean)
    for n_back in range(1, window + 1):
        values = past.back(n_back)
        is_known = values == values
        values -= mean
        values *= values
        np.add(squares, values, out=squares, where=is_known)
    return np.sqrt(squares / count)


def remember(transformer: KeyedTransformer, history: History) -> None:
    """Make a history the fitted attribute of a transformer."""
    transformer.history_ = history
    note_parameters(transformer)


def new_history(transformer: KeyedTransformer, n_columns: int) -> History:
    """Return an empty history of so many columns."""
    return History(n_columns, transformer._depth(), transformer.max_keys)


def places_of(transformer: KeyedTransformer, number: int, names: Any) -> Places:
    """Positions of the columns and of the key in rows of so many columns, perhaps with names."""
    key = None if transformer.key is None else _place("key", transformer.key, number, names)
    given_time = getattr(transformer, "time", None)
    time = None if given_time is None else _place("time", given_time, number, names)
    given = transformer.columns
    if given is None:
        chosen = [place for place in range(number) if place not in (key, time)]
        if not chosen:
            raise ValueError(
                f"The rows have {number} feature(s), but none is left to transform for this "
                f"{type(transformer).__name__} besides key={transformer.key!r} and "
                f"time={given_time!r}."
            )
        return Places(chosen, key, time)
    several = [given] if isinstance(given, str | int | np.integer) else list(given)
    if not several:
        raise ValueError("columns is empty. Name at least one, or pass None for all.")
    return Places([_place("columns", one, number, names) for one in several], key, time)


def _place(parameter: str, column: Any, number: int, names: Any) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{parameter} has the name {column!r}, but the rows have no column names. Pass a "
                "data frame, or give the position of the column, an integer."
            )
        found = [place for place, name in enumerate(names) if name == column]
        if not found:
            known = ", ".join(map(repr, names[:10]))
            raise ValueError(f"{parameter} has {column!r}, but the columns are {known}.")
        return found[0]
    if isinstance(column, bool) or not isinstance(column, int | np.integer):
        raise TypeError(
            f"{parameter} takes names or positions of columns. Got {column!r} of type "
            f"{type(column).__name__}."
        )
    if not -number <= column < number:
        raise ValueError(
            f"{parameter} has the position {column}, but the rows have {number} columns."
        )
    return int(column) % number


def read_rows(
    transformer: KeyedTransformer, X: Any, places: Places
) -> tuple[list[Any], NDArray[np.float64]]:
    """Keys of rows, and the values of the columns, of shape (n_rows, n_columns).

    The time stands behind all others, as the three columns of `_times`.
    """
    n_rows = X.shape[0]
    keys = [None] * n_rows
    if places.key is not None:
        keys = keys_of(column_lists(columns_of(X, [places.key]))[0])
        try:
            set(keys)
        except TypeError:
            bad = next(key for key in keys if type(key).__hash__ is None)
            raise TypeError(
                f"A key of {type(transformer).__name__} is {bad!r} of type {type(bad).__name__}. "
                "Keys must be numbers, texts, dates or tuples of them."
            ) from None
    values = np.empty((n_rows, len(places.columns) + N_OF_TIME * (places.time is not None)))
    for into, place in enumerate(places.columns):
        values[:, into] = _numbers(transformer, X, place)
    if places.time is not None:
        values[:, -N_OF_TIME:] = _times(transformer, X, places.time)
    return keys, values


def _times(transformer: KeyedTransformer, X: Any, place: int) -> Floats:
    """A column of times as billions, the rest, and how many units are one of the feature's.

    So that differences of whole numbers beyond 2**53 are exact: datetimes are nanoseconds, and
    what is made of them are seconds; numbers have units of their own.
    """
    if not holds_numbers(columns_of(X, [place])):
        parts = moments_of(type(transformer).__name__, X, place)
        return np.column_stack([*parts, np.full(X.shape[0], float(BILLION))])
    whole = _whole_numbers(column_at(X, place))
    if whole is None:
        numbers = _numbers(transformer, X, place)
        return np.column_stack([np.zeros_like(numbers), numbers, np.ones_like(numbers)])
    return np.column_stack([*np.divmod(whole, BILLION), np.ones(len(whole))])


def _whole_numbers(column: Any) -> NDArray[np.integer[Any]] | None:
    """A column of whole numbers, none of which is missing; else None."""
    if hasattr(column, "isna"):
        column = None if column.isna().any() else column.to_numpy()
    elif hasattr(column, "is_null"):
        column = None if column.is_null().any() else column.to_numpy()
    return column if column is not None and column.dtype.kind in "iu" else None


def _numbers(transformer: KeyedTransformer, X: Any, place: int) -> Floats:
    """One column as numbers, NaN where they are missing."""
    column = column_at(X, place)
    alone = columns_of(X, [place])
    if holds_numbers(alone):
        if hasattr(X, "iloc") and not isinstance(column.dtype, np.dtype):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy() if is_frame(X) else column, dtype=np.float64)
    numbers = np.full(X.shape[0], np.nan)
    for row, value in enumerate(column_lists(alone)[0]):
        try:
            if not is_missing(value):
                numbers[row] = value
        except (TypeError, ValueError):
            raise ValueError(
                f"{holds(X, place, value, row)}, but {type(transformer).__name__} computes with "
                "numbers. Leave the column out of columns, or turn it into numbers first."
            ) from None
    return numbers
