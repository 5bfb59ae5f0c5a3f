"""Means, extremes and so on of the last values of the same key as features."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from skstream.preprocessing._base import chosen_names
from skstream.preprocessing._history import Floats, Past
from skstream.preprocessing._keyed import BILLION, N_OF_TIME, KeyedTransformer
from skstream.preprocessing._lags import numbers_of_rows
from skstream.utils._sklearn import Interval

_FUNCTIONS = ("count", "sum", "mean", "std", "min", "max")


class RollingFeatures(KeyedTransformer):
    """Statistics of the last values of the same key (customer, sensor, shop).

    Only rows that have been learnt are known, and a row never sees itself: in a `StreamPipeline` a
    row that is learnt is shown by the rows of its key learnt before it, just as it was when it was
    asked.

    Parameters
    ----------
    columns : str, int or list of them, default=None
        Columns of numbers: names of a data frame, or positions. None: all but the key.
    windows : int or list of int, default=10
        Of how many rows of the key, the last ones that have been learnt.
    functions : str or list of str, default=("count", "mean")
        "count", "sum", "mean", "std" (of the population, divided by the count), "min", "max". All
        are of the values that are there; "count" says how many that are.
    key : str or int, default=None
        Column that says to whom a row belongs: texts, numbers, dates. A missing key (None, NaN) is
        a key like any other. None: all rows belong together.
    time : str or int, default=None
        Column of times, of which another feature is made: how long ago the last row of the key was,
        in seconds, or in units of their own where times are numbers. It is the time of the row
        asked about minus that of the row learnt last.
    max_keys : int, default=None
        Keys remembered at most: a new one beyond it takes the place of the key whose last row was
        learnt longest ago. None: all, so that memory grows with the number of different keys.
    fill_value : float, default=0.0
        What stands where a window holds no value. NaN, for models that take it or an imputer that
        follows.

    Attributes
    ----------
    history_ : object
        The last rows of every key. ``history_.keys()`` lists the keys.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came in a data frame with string names.

    See Also
    --------
    LagFeatures : The last values themselves.

    Notes
    -----
    As in pandas, ``frame.groupby(key)[column].rolling(10, min_periods=1, closed="left")``, but for
    "std", which is that with ``ddof=0``.

    Values of a window are added one by one, the newest first, and the window is summed anew for
    every row: nothing is subtracted, so no rounding error stays behind from values that have left.

    Memory is one number for each key, column and row of the longest window.

    Where labels are late, rows are learnt late: an evaluator learns a row when its label comes.
    What is known then are the rows *learnt*, not all that have arrived, although their features
    were known on arrival. That is less than could be known, and never more.

    Only the new features come out. To have the columns themselves beside them, put it into a
    `ColumnTransformer` with another part for them.

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
        "columns": "no_validation",
        "windows": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "functions": [str, "array-like"],
        "key": "no_validation",
        "time": "no_validation",
        "max_keys": [Interval(Integral, 1, None, closed="left"), None],
        "fill_value": [Real],
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

    def _recipe(self) -> "_Statistics":
        functions = chosen_names(self.functions, "function", _FUNCTIONS)
        windows = numbers_of_rows("windows", self.windows)
        return _Statistics(windows, functions, self.fill_value, self.time is not None)


@dataclass(frozen=True)
class _Statistics:
    """By column, then by window, then by function; behind them, how long ago the last row was."""

    windows: list[int]
    functions: list[str]
    fill_value: float
    has_time: bool

    @property
    def depth(self) -> int:
        return max(self.windows)

    def features(self, past: Past) -> Floats:
        of_columns = past._replace(rows=past.rows[:-N_OF_TIME]) if self.has_time else past
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite values
            of_window = _statistics(of_columns, self.windows, set(self.functions), self.fill_value)
        stacked = np.stack(
            [of_window[window][function] for window in self.windows for function in self.functions],
            axis=1,
        )
        features = np.ascontiguousarray(stacked.reshape(-1, len(past.at)).T)
        if not self.has_time:
            return features
        return np.column_stack([features, past.back(1)[-N_OF_TIME:-1].T])

    def completed(self, features: Floats, values: Floats) -> Floats:
        if not self.has_time:
            return features
        billions, rest = (values[:, -N_OF_TIME:-1] - features[:, 1 - N_OF_TIME :]).T
        elapsed = (BILLION * billions + rest) / values[:, -1]
        elapsed[np.isnan(elapsed)] = self.fill_value
        return np.column_stack([features[:, : 1 - N_OF_TIME], elapsed])

    def names(self, columns: list[str]) -> list[str]:
        *columns, time = columns if self.has_time else [*columns, ""]
        names = [
            f"{name}_{function}_{window}"
            for name in columns
            for window in self.windows
            for function in self.functions
        ]
        return [*names, f"{time}_since"] if self.has_time else names


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
    spread: Floats = np.sqrt(squares / count)
    return spread
