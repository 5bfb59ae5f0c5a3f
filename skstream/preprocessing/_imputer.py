"""Missing values filled with what the stream has shown so far.

A strategy learns an array of values of shape (n_rows, n_columns) and the mask of those that are
missing. It returns what it remembers afterwards, and a function that tells what a column was filled
with after any number of these rows. The memory that comes in is never changed.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from skstream.base import check_some_weight, check_weight, forget, of_positive_weight
from skstream.preprocessing._base import (
    StreamTransformer,
    check_parameters_unchanged,
    checked_values,
    holds,
    note_parameters,
)
from skstream.preprocessing._categories import kind_of
from skstream.streams._values import (
    REPLACE_INFINITE,
    column_lists,
    first_of_no_number,
    holds_numbers,
    holds_times,
    is_infinite,
    missing_among,
    object_array,
)
from skstream.utils._running_sums import running_sums
from skstream.utils._sklearn import StrOptions, feature_names_in, n_rows_of

#: ``fills(after, columns)``: what columns are filled with, each after a number of the rows.
Fills = Callable[[NDArray[np.integer[Any]], NDArray[np.integer[Any]]], NDArray[Any]]
Mask = NDArray[np.bool_]
Weight = NDArray[np.float64] | None


class Memory(NamedTuple):
    """What has been learnt: what fills each column now, and what that is computed from.

    `of_values` holds sums and weights for the mean, weights by value for the most frequent one.
    """

    statistics: NDArray[Any]
    of_values: Any = None


class StreamImputer(StreamTransformer):
    """Fill missing values from the column's earlier values.

    Missing values are NaN, None, NaT and pandas' NA. They are filled only from earlier training
    rows. A column without any value so far is filled with `fill_value`.

    Parameters
    ----------
    strategy : {"mean", "most_frequent", "last", "constant"}, default="mean"
        How a column is filled: with the mean of its values, the most frequent one (ties: the
        smallest), the last one, or `fill_value`. All but the mean accept texts and categories, too.
    fill_value : object, default=None
        Fills columns without any value so far, and every column if `strategy` is "constant". None:
        0 in rows of numbers, and "missing" in others.
    add_indicator : bool, default=False
        Whether to append an indicator for every column: 1 where it was filled, else 0.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_features,)
        Current fill value of each column.
    sums_, weights_ : ndarray of shape (n_features,)
        With "mean": the weighted sum of the values of each column, and the sum of the weights.
    weights_by_value_ : list of dict
        With "most_frequent": for each column the weight of every value.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    StreamOneHotEncoder : Needs no imputer: a missing value is a category.
    sklearn.impute.SimpleImputer : Fits all rows at once.

    Notes
    -----
    Rows of numbers become float64. If a column of the first rows contains anything else, the rows
    become an array of objects, which encoders accept.

    Memory does not grow with the stream, except with "most_frequent": one number for each distinct
    value of a column.

    Missing values do not change the state: in a `StreamPipeline`, a training row never fills its
    own gaps.

    `fit_transform` uses all rows before it fills the first one, and so does a pipeline trained on
    several rows in one call: a gap may be filled from a later row. If that would look ahead, pass
    the rows one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.preprocessing import StreamImputer
    >>> imputer = StreamImputer().partial_fit([[1.0, np.nan], [3.0, np.nan]])
    >>> imputer.transform([[np.nan, np.nan]])
    array([[2., 0.]])
    >>> imputer.partial_fit([[np.nan, 5.0]]).statistics_
    array([2., 5.])
    """

    _learnt_with = ("strategy", "fill_value")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "strategy": [StrOptions({"mean", "most_frequent", "last", "constant"})],
        "fill_value": "no_validation",
        "add_indicator": ["boolean"],
    }

    def __init__(
        self, strategy: str = "mean", *, fill_value: Any = None, add_indicator: bool = False
    ):
        self.strategy = strategy
        self.fill_value = fill_value
        self.add_indicator = add_indicator

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "StreamImputer":
        """Forget everything, then learn the rows in one ``partial_fit``.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights, for the mean and the most frequent value. Rows of weight 0 are
            skipped.

        Returns
        -------
        self : object
            The transformer itself.
        """
        forget(self)
        check_some_weight(check_weight(sample_weight, n_rows_of(X)))
        return self.partial_fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "StreamImputer":
        """Train on rows.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights, for the mean and the most frequent value. Rows of weight 0 are
            skipped.

        Returns
        -------
        self : object
            The transformer itself.
        """
        self._validate_params()
        check_parameters_unchanged(self)
        weight = check_weight(sample_weight, n_rows_of(X))
        values, missing = self._values(X, reset=not hasattr(self, "statistics_"))
        values, missing, weight = of_positive_weight(weight, values, missing)
        if not len(values):
            return self
        before = memory_of(self, values.dtype, values.shape[1])
        self._check_types(X, before, values, missing)
        remember(self, learn(self.strategy, before, values, missing, weight)[0])
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Fill missing values with the current fill values.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_features) or (n_rows, 2 * n_features)
            The filled rows, followed by the indicators, if requested.
        """
        check_is_fitted(self)
        check_parameters_unchanged(self)
        values, missing = self._values(X, reset=False)
        self._check_types(X, memory_of(self, values.dtype, len(self.statistics_)), values, missing)
        return filled(values, missing, self.statistics_[np.nonzero(missing)[1]], self.add_indicator)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features,), default=None
            Names of the input columns, if they have none of their own.

        Returns
        -------
        ndarray of shape (n_features_out,), dtype object
            The same names; for indicators, ``missingindicator_`` and the name of the column.
        """
        check_is_fitted(self)
        names = feature_names_in(self, input_features)
        if not self.add_indicator:
            return names
        indicators = np.array([f"missingindicator_{name}" for name in names], dtype=object)
        return np.concatenate([names, indicators])

    def _check_types(self, X: Any, memory: Memory, values: NDArray[Any], missing: Mask) -> None:
        """Raise an error at a value of another type than those that fill gaps of its column."""
        found = first_of_other_type(self, memory, values, missing)
        if found is not None:
            place, row, value, before = found
            raise ValueError(
                f"{holds(X, place, value, row)}, {kind_of(value)}, but earlier rows had "
                f"{before!r}, {kind_of(before)}. Use one type throughout, such as astype(str)."
            )

    def _values(self, X: Any, *, reset: bool) -> tuple[NDArray[Any], Mask]:
        """Values of rows, float64 or objects, and which are missing."""
        if self.strategy != "mean" and (reset or self.statistics_.dtype == object):
            X = checked_values(self, X, reset=reset)
            if not (reset and holds_numbers(X)):
                return objects(X)
        try:
            if holds_times(X):
                checked_values(self, X, reset=reset)  # the names are needed to speak of them
                raise TypeError(
                    "These rows hold dates or durations, all missing, where numbers belong."
                )
            X = _without_na(X)
            X = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
        except (TypeError, ValueError) as error:
            raise self._not_numbers(X, error) from error
        return X, np.isnan(X)

    def _not_numbers(self, X: Any, error: Exception) -> Exception:
        """Return an error that names the cell without a number, or else scikit-learn's."""
        try:
            found = first_of_no_number(checked_values(self, X, reset=False))
        except (TypeError, ValueError):  # it is about the rows as a whole
            found = None
        if found is None:
            return self._infinite(X, error)
        place, row, value = found
        # A subclass of either may take other arguments, and some tell of NumPy's inner types.
        kind = TypeError if isinstance(error, TypeError) else ValueError
        said = f" ({error})" if type(error) is TypeError else ""
        why = "numbers only in the rows before them. Use one type throughout"
        if self.strategy == "mean":
            others = "strategy='most_frequent', 'last' or 'constant'"
            why = f"the mean needs numbers. Use {others} for such columns"
        cell = holds(X, place, value, row)
        return kind(f"{cell}, and {why}, or leave it out with a ColumnTransformer.{said}")

    def _infinite(self, X: Any, error: Exception) -> Exception:
        """Return an error that names an infinite value, if that is what one is about."""
        if "infinity" not in str(error):
            return error
        for place, column in enumerate(column_lists(checked_values(self, X, reset=False))):
            for row, value in enumerate(column):
                if is_infinite(value):
                    return ValueError(f"{holds(X, place, value, row)}. {REPLACE_INFINITE}")
        return error

    def _takes(self) -> tuple[str, ...]:
        return ("allow_nan",) if self.strategy == "mean" else super()._takes()


def _without_na(X: Any) -> Any:
    """Columns of objects with NaN in place of pandas' NA, which is not a number."""
    if not hasattr(X, "iloc") or all(dtype.kind != "O" for dtype in X.dtypes):
        return X
    values = X.to_numpy(dtype=object, copy=True)
    values[X.isna().to_numpy()] = np.nan
    return type(X)(values, index=X.index, columns=X.columns)


def memory_of(imputer: StreamImputer, dtype: Any, n_columns: int) -> Memory:
    """Return what an imputer has learnt, or what it knows before its first rows, of a dtype."""
    if hasattr(imputer, "statistics_"):
        of_values = getattr(imputer, "weights_by_value_", None)
        if imputer.strategy == "mean":
            of_values = imputer.sums_, imputer.weights_
        return Memory(imputer.statistics_, of_values)
    statistics = np.empty(n_columns, dtype=dtype)
    statistics[:] = [_start_value(imputer.fill_value, dtype)] * n_columns
    by_strategy: dict[str, Any] = {
        "mean": tuple(np.zeros((2, n_columns))),
        "most_frequent": [{} for _ in range(n_columns)],
    }
    return Memory(statistics, by_strategy.get(imputer.strategy))


def first_of_other_type(
    imputer: StreamImputer, memory: Memory, values: NDArray[Any], missing: Mask
) -> tuple[int, int, Any, Any] | None:
    """Find the first value that is of another type than those of its column before it.

    Returns
    -------
    place, row, value, before : int, int, object, object
        Its column, its row, itself, and one of the values before; or None.
    """
    if values.dtype != object or imputer.strategy not in ("most_frequent", "last"):
        return None
    for place, column in enumerate(values.T):
        before = _known_value(imputer, memory, place)
        present = column[~missing[:, place]].tolist()
        kinds = {type(value) for value in present if value is not None}
        if before is not None:
            kinds.add(type(before))
        if len(kinds) < 2:
            continue
        for row in np.flatnonzero(~missing[:, place]).tolist():
            value = column[row]
            before = value if before is None else before
            if kind_of(value) != kind_of(before):
                return place, row, value, before
    return None


def _known_value(imputer: StreamImputer, memory: Memory, place: int) -> Any:
    """Return a value that a column has had; None if that is not known."""
    if memory.of_values is not None:
        return next(iter(memory.of_values[place]), None)
    value = memory.statistics[place]
    return None if value == _start_value(imputer.fill_value, memory.statistics.dtype) else value


def remember(imputer: StreamImputer, memory: Memory) -> None:
    """Make the memory the fitted attributes of an imputer."""
    note_parameters(imputer)
    imputer.statistics_ = memory.statistics
    if imputer.strategy == "mean":
        imputer.sums_, imputer.weights_ = memory.of_values
    elif memory.of_values is not None:
        imputer.weights_by_value_ = memory.of_values


def _start_value(fill_value: Any, dtype: Any) -> Any:
    """Return what fills a column in which nothing has been learnt."""
    if fill_value is None:
        return "missing" if dtype.kind == "O" else 0.0
    if dtype.kind == "O":
        return fill_value
    try:
        return float(fill_value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"fill_value={fill_value!r} cannot fill rows of numbers. Use a number, or give text "
            "columns their own StreamImputer, with a ColumnTransformer."
        ) from error


def objects(X: Any) -> tuple[NDArray[Any], Mask]:
    """Values of an array or a data frame as objects, and which are missing."""
    columns = column_lists(X)
    missing = np.column_stack([missing_among(column) for column in columns])
    return object_array(columns, X.shape[0]), missing


def filled(
    values: NDArray[Any], missing: Mask, fills: NDArray[Any], add_indicator: bool
) -> NDArray[Any]:
    """Rows whose gaps, in the order of the rows, hold `fills`; the indicators behind them."""
    n_rows, n_columns = values.shape
    out = np.empty((n_rows, n_columns * (1 + add_indicator)), dtype=values.dtype)
    out[:, :n_columns] = values
    out[:, :n_columns][missing] = fills
    if add_indicator:
        out[:, n_columns:] = missing
    return out


def learn(
    strategy: str, memory: Memory, values: NDArray[Any], missing: Mask, weight: Weight
) -> tuple[Memory, Fills]:
    """Learn rows; return the memory after them, and the fills at each moment."""
    return _STRATEGIES[strategy](memory, values, missing, weight)


def _means(memory: Memory, values: Any, missing: Mask, weight: Weight) -> tuple[Memory, Fills]:
    known = np.where(missing, 0.0, values)
    counts = (~missing).astype(np.float64)
    if weight is not None:
        known *= weight[:, np.newaxis]
        counts *= weight[:, np.newaxis]
    sums, counts = (
        running_sums(before, steps)
        for before, steps in zip(memory.of_values, (known, counts), strict=True)
    )
    start_of = memory.statistics

    def fills(after: Any, columns: Any) -> NDArray[Any]:
        n = counts[after, columns]
        out: NDArray[Any] = start_of[columns]
        np.divide(sums[after, columns], n, out=out, where=n > 0.0)
        return out

    n_rows, every = np.full(values.shape[1], len(values)), np.arange(values.shape[1])
    return Memory(fills(n_rows, every), (sums[-1].copy(), counts[-1].copy())), fills


def _modes(memory: Memory, values: Any, missing: Mask, weight: Weight) -> tuple[Memory, Fills]:
    weights_of = [dict(known) for known in memory.of_values]
    statistics = memory.statistics.copy()
    changes: list[tuple[NDArray[np.int64], NDArray[Any]]] = []
    for place, known in enumerate(weights_of):
        rows = np.flatnonzero(~missing[:, place])
        moments, modes = [0], [statistics[place]]
        top, mode = known.get(modes[0], 0.0), modes[0]
        added = [1.0] * len(rows) if weight is None else weight[rows].tolist()
        for row, value, w in zip(rows.tolist(), values[rows, place].tolist(), added, strict=True):
            total = known[value] = known.get(value, 0.0) + w
            if total < top:
                continue
            if value != mode and (total > top or _is_smaller(value, mode)):
                mode = value
                moments.append(row + 1)
                modes.append(mode)
            if value == mode:
                top = total
        statistics[place] = mode
        history = np.empty(len(modes), dtype=statistics.dtype)
        history[:] = modes
        changes.append((np.array(moments), history))

    def fills(after: Any, columns: Any) -> NDArray[Any]:
        out = np.empty(len(columns), dtype=statistics.dtype)
        for place, (moments, modes) in enumerate(changes):
            of_column = columns == place
            out[of_column] = modes[np.searchsorted(moments, after[of_column], side="right") - 1]
        return out

    return Memory(statistics, weights_of), fills


def _is_smaller(value: Any, other: Any) -> bool:
    """Whether a value comes before another one; values of two types have no order."""
    try:
        return bool(value < other)
    except TypeError:
        return False


def _last(memory: Memory, values: Any, missing: Mask, weight: Weight) -> tuple[Memory, Fills]:
    n_rows, n_columns = values.shape
    newest = np.zeros((n_rows + 1, n_columns), dtype=np.intp)  # 0: none of these rows
    newest[1:] = np.where(missing, 0, np.arange(1, n_rows + 1)[:, np.newaxis])
    np.maximum.accumulate(newest, axis=0, out=newest)
    start_of = memory.statistics

    def fills(after: Any, columns: Any) -> NDArray[Any]:
        row = newest[after, columns]
        out: NDArray[Any] = start_of[columns]
        seen = row > 0
        out[seen] = values[row[seen] - 1, columns[seen]]
        return out

    return Memory(fills(np.full(n_columns, n_rows), np.arange(n_columns))), fills


def _constants(memory: Memory, values: Any, missing: Mask, weight: Weight) -> tuple[Memory, Fills]:
    def fills(after: Any, columns: Any) -> NDArray[Any]:
        return memory.statistics[columns]

    return memory, fills


_STRATEGIES = {"mean": _means, "most_frequent": _modes, "last": _last, "constant": _constants}
