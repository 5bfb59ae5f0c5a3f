"""What transformers by the last rows of a key have in common."""

from abc import abstractmethod
from copy import deepcopy
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream.base import forget
from skstream.preprocessing._base import (
    StreamTransformer,
    check_parameters_unchanged,
    checked_values,
    in_row,
    note_parameters,
)
from skstream.preprocessing._datetimes import moments_of
from skstream.preprocessing._history import Floats, History, Past
from skstream.preprocessing._keys import keys_of
from skstream.utils._rows import is_frame
from skstream.utils._sklearn import columns_of, feature_names_in, wrapped_output
from skstream.utils._values import column_at, column_lists, holds_numbers, is_missing, polars_list

#: Columns in which a time is kept, and what one of the first is worth in those of the second.
N_OF_TIME = 3
BILLION = 10**9

_NONE: NDArray[np.intp] = np.empty(0, dtype=np.intp)


class Places(NamedTuple):
    """Positions of the columns that a transformer reads; None: there is no such column."""

    columns: list[int]
    key: int | None
    time: int | None = None


class Recipe(Protocol):
    """What is made of the last rows of a key; from the parameters of a transformer."""

    @property
    def depth(self) -> int:
        """Rows of each key that are needed."""
        ...

    def features(self, past: Past) -> Floats:
        """Return the features at every moment of a past, of shape (n_moments, n_features_out)."""
        ...

    def names(self, columns: list[str]) -> list[str]:
        """Return the names of the features of columns with these names."""
        ...

    def completed(self, features: Floats, values: Floats) -> Floats:
        """Return features of rows that see them, with what they take from the rows' own values."""
        ...


class KeyedTransformer(StreamTransformer):
    """Transforms a row by the last rows of its key that have been learnt."""

    _learnt_with: ClassVar[tuple[str, ...]] = ("columns", "key", "max_keys")

    columns: Any
    key: Any
    max_keys: int | None
    fill_value: float
    history_: History
    n_features_in_: int

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Learn rows.

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
        recipe = recipe_of(self)
        return recipe.completed(recipe.features(past)[past.asked], values)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns that come out.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features,), default=None
            Names of the columns that go in, where they have none of their own.

        Returns
        -------
        ndarray of shape (n_features_out,), dtype object
            The names.
        """
        check_is_fitted(self)
        names = feature_names_in(self, input_features)
        own = getattr(self, "feature_names_in_", None)
        places = places_of(self, self.n_features_in_, own)
        read = [*places.columns, *([] if places.time is None else [places.time])]
        chosen = [names[place] for place in read]
        return np.array(recipe_of(self).names(chosen), dtype=object)

    def __copy__(self) -> Any:
        """Return a copy that learns on its own: versions of a history are for one thread."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        if hasattr(self, "history_"):
            copied.history_ = deepcopy(self.history_)
        return copied

    @abstractmethod
    def _recipe(self) -> Recipe:
        """Return what is made of the last rows, or raise an error about the parameters."""

    def _learn(self, X: Any) -> Floats:
        self._validate_params()
        recipe = recipe_of(self)
        first = not hasattr(self, "history_")
        check_parameters_unchanged(self)
        keys, values = self._read(X, reset=first)
        rows, nobody = np.arange(len(keys)), np.empty(0, np.intp)
        before = new_history(self, values.shape[1]) if first else self._known()
        history, past = before.learn(keys, values, rows, nobody, nobody)
        remember(self, history)
        return recipe.completed(recipe.features(past)[past.learnt], values)

    def _known(self) -> History:
        if self.history_.depth != (depth := recipe_of(self).depth):
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def remember(transformer: KeyedTransformer, history: History) -> None:
    """Make a history the fitted attribute of a transformer."""
    transformer.history_ = history
    note_parameters(transformer)


def recipe_of(transformer: KeyedTransformer) -> Recipe:
    """Return what a transformer makes of the last rows of a key."""
    return transformer._recipe()


def new_history(transformer: KeyedTransformer, n_columns: int) -> History:
    """Return an empty history of so many columns."""
    return History(n_columns, recipe_of(transformer).depth, transformer.max_keys)


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
                f"The rows have {number} feature(s), and none is left to be transformed by this "
                f"{type(transformer).__name__} beside key={transformer.key!r} and "
                f"time={given_time!r}."
            )
        return Places(chosen, key, time)
    several = [given] if isinstance(given, str | int | np.integer) else list(given)
    if not several:
        raise ValueError("columns is empty. Name one at least, or pass None for all.")
    return Places([_place("columns", one, number, names) for one in several], key, time)


_JOIN_NAMES = (
    " Where names have several levels, give positions, or make one text of each name: X.columns = "
    "['_'.join(map(str, name)) for name in X.columns]."
)


def _place(parameter: str, column: Any, number: int, names: Any) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{parameter} has the name {column!r}, but the rows came without names of columns. "
                "Pass a data frame, or give the position of the column, an integer."
            )
        found = [place for place, name in enumerate(names) if name == column]
        if not found:
            known = ", ".join(map(repr, names[:10]))
            raise ValueError(f"{parameter} has {column!r}, but the columns are {known}.")
        return found[0]
    if isinstance(column, bool) or not isinstance(column, int | np.integer):
        raise TypeError(
            f"{parameter} takes names or positions of columns. Got {column!r} of type "
            f"{type(column).__name__}.{_JOIN_NAMES if isinstance(column, tuple) else ''}"
        )
    if not -number <= column < number:
        raise ValueError(
            f"{parameter} has the position {column}, but the rows have {number} columns."
        )
    return int(column) % number


def _check_numbers_are_places(transformer: KeyedTransformer, X: Any) -> None:
    """Raise an error where a position of a column is the name of another one."""
    if not is_frame(X) or getattr(X.columns, "inferred_type", "") != "integer":
        return
    names = list(X.columns)
    for parameter in ("columns", "key", "time"):
        given: Any = getattr(transformer, parameter, None)
        several: Any = given if isinstance(given, list | tuple | np.ndarray) else [given]
        for one in several:
            if one in names and names.index(one) != one:
                raise ValueError(
                    f"{parameter} has the position {one}, but the column there has the name "
                    f"{names[one] if one < len(names) else None}, and another one the name {one}. "
                    "Make texts of the names, by X.columns = X.columns.astype(str), and pass these."
                )


def read_rows(
    transformer: KeyedTransformer, X: Any, places: Places
) -> tuple[list[Any], NDArray[np.float64]]:
    """Keys of rows, and the values of the columns, of shape (n_rows, n_columns).

    The time stands behind all others, as the three columns of `_times`.
    """
    _check_numbers_are_places(transformer, X)
    n_rows = X.shape[0]
    keys = [None] * n_rows
    if places.key is not None:
        keys = keys_of(_column_list(X, places.key))
        try:
            set(keys)
        except TypeError:
            bad = next(key for key in keys if type(key).__hash__ is None)
            raise TypeError(
                f"A key of {type(transformer).__name__} is {bad!r} of type {type(bad).__name__}. "
                "Keys are numbers, texts, dates or tuples of them."
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


def _column_list(X: Any, place: int) -> list[Any]:
    column = column_at(X, place)
    if isinstance(column, np.ndarray):
        return column_lists(column[:, np.newaxis])[0]
    return column.tolist() if hasattr(column, "tolist") else polars_list(column)


def _numbers(transformer: KeyedTransformer, X: Any, place: int) -> Floats:
    """One column as numbers, NaN where they are missing."""
    column = column_at(X, place)
    if holds_numbers(column.to_frame() if is_frame(X) else column):
        if hasattr(X, "iloc") and not isinstance(column.dtype, np.dtype):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy() if is_frame(X) else column, dtype=np.float64)
    numbers = np.full(X.shape[0], np.nan)
    for row, value in enumerate(_column_list(X, place)):
        try:
            if not is_missing(value):
                numbers[row] = value
        except (TypeError, ValueError):
            name = X.columns[place] if is_frame(X) else place
            raise ValueError(
                f"{type(transformer).__name__} computes with numbers, but column {name!r} holds "
                f"{value!r}{in_row(row, len(numbers))}. Leave the column out of columns, or "
                "turn it into numbers first."
            ) from None
    return numbers
