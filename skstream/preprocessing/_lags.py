"""The last values of the same key as features."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from skstream.preprocessing._history import Floats, Past
from skstream.preprocessing._keyed import KeyedTransformer
from skstream.utils._sklearn import Interval


class LagFeatures(KeyedTransformer):
    """The values that the same key (customer, sensor, shop) had in its last rows.

    Only rows that have been learnt are known, and a row never sees itself: in a `StreamPipeline` a
    row that is learnt is shown by the rows of its key learnt before it, just as it was when it was
    asked.

    Parameters
    ----------
    columns : str, int or list of them, default=None
        Columns whose values are wanted: names of a data frame, or positions. None: all but the key.
        They hold numbers.
    lags : int or list of int, default=1
        How many rows of the key back; 1 is its last row.
    key : str or int, default=None
        Column that says to whom a row belongs: texts, numbers, dates. A missing key (None, NaN) is
        a key like any other. None: all rows belong together.
    max_keys : int, default=None
        Keys remembered at most: a new one beyond it takes the place of the key whose last row was
        learnt longest ago. None: all, so that memory grows with the number of different keys.
    fill_value : float, default=0.0
        What stands where nothing is known: the key has not had so many rows, or the value was
        missing. NaN, for models that take it or an imputer that follows.

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
    RollingFeatures : Means, extremes and so on of the last values.
    skstream.temporal.TemporallyAugmented : The last labels as features.

    Notes
    -----
    Memory is one number for each key, column and row back to the longest lag.

    Where labels are late, rows are learnt late: an evaluator learns a row when its label comes.
    What is known then are the rows *learnt*, not all that have arrived, although their features
    were known on arrival. That is less than could be known, and never more.

    Only the new features come out. To have the columns themselves beside them, put it into a
    `ColumnTransformer` with another part for them.

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
        "columns": "no_validation",
        "lags": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "key": "no_validation",
        "max_keys": [Interval(Integral, 1, None, closed="left"), None],
        "fill_value": [Real],
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

    def _recipe(self) -> "_Lags":
        return _Lags(numbers_of_rows("lags", self.lags), self.fill_value)


@dataclass(frozen=True)
class _Lags:
    """The lags of the first column, of the second, and so on."""

    lags: list[int]
    fill_value: float

    @property
    def depth(self) -> int:
        return max(self.lags)

    def features(self, past: Past) -> Floats:
        columns = [past.back(lag) for lag in self.lags]
        return filled_in(np.stack(columns, axis=1).reshape(-1, len(past.at)).T, self.fill_value)

    def names(self, columns: list[str]) -> list[str]:
        return [f"{name}_lag_{lag}" for name in columns for lag in self.lags]

    def completed(self, features: Floats, values: Floats) -> Floats:
        return features


def numbers_of_rows(parameter: str, given: Any) -> list[int]:
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


def filled_in(features: Floats, fill_value: float) -> Floats:
    """Features with `fill_value` in the place of NaN, row by row in memory."""
    features = np.ascontiguousarray(features)
    if not np.isnan(fill_value):
        features[np.isnan(features)] = fill_value
    return features
