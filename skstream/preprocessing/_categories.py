"""Categories numbered in the order in which the stream shows them."""

from collections.abc import Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream.preprocessing._base import StreamTransformer, checked_values, in_row
from skstream.utils._values import Factorized, column_lists, factorized_columns

Integers = NDArray[np.integer[Any]]
#: Code of a category that is not known yet, and of a missing value that is no category.
UNKNOWN = -1
MISSING = -2


class Numbering(NamedTuple):
    """How categories get their codes.

    Attributes
    ----------
    limit : int or None
        Number of codes. The last one is for every category that finds no other left; None: there is
        a code for each category.
    counts_missing : bool
        Whether a missing value is a category like any other.
    """

    limit: int | None
    counts_missing: bool = True


class Encoded(NamedTuple):
    """Codes of rows learnt and of rows asked, and the categories known afterwards."""

    known: dict[Any, int]
    learnt: NDArray[np.int64]
    asked: NDArray[np.int64]


class MixedTypes(ValueError):
    """A column holds values of two types; `column` is its position, where that is known."""

    column: int | None = None


def encode(
    known: dict[Any, int],
    column: Factorized,
    learnt: Integers,
    asked: Integers,
    stamp: Integers,
    numbering: Numbering,
) -> Encoded:
    """Learn the categories of a column, and encode them as they are known at each moment.

    Parameters
    ----------
    known : dict
        Codes of the categories learnt before; not changed.
    column : Factorized
        Values of the column.
    learnt : ndarray of shape (n_learns,)
        Rows to learn, in their order. Each is encoded when it has been learnt.
    asked : ndarray of shape (n_asks,)
        Rows to encode.
    stamp : ndarray of shape (n_asks,)
        Number of rows learnt before each.
    numbering : Numbering
        How categories get their codes.

    Returns
    -------
    Encoded
        `known` is the same dict if nothing was added.
    """
    values, n_values = column.values, len(column.values)
    learnt, asked = column.positions[learnt], column.positions[asked]
    _check_types(known, column, learnt, asked)
    never = len(learnt) + 1
    first = np.full(n_values, never)
    first[learnt[::-1]] = np.arange(len(learnt), 0, -1)  # of several, the earliest stays
    code_of = np.fromiter((known.get(value, UNKNOWN) for value in values), np.int64, n_values)
    known_from = np.where(code_of >= 0, 0, never)
    new = np.flatnonzero((code_of < 0) & (first < never))
    new = new[np.argsort(first[new])]
    if not numbering.counts_missing:
        new = np.array([place for place in new if values[place] is not None], dtype=np.intp)
    full_from = never
    if numbering.limit is not None:
        n_free = numbering.limit - 1 - len(known)
        new = new[:n_free]
        if n_free == 0:
            full_from = 0
        elif n_free == len(new):
            full_from = int(first[new[-1]])
    code_of[new] = np.arange(len(known), len(known) + len(new))
    known_from[new] = first[new]
    after = (
        {**known, **{values[place]: int(code_of[place]) for place in new}} if len(new) else known
    )
    rest = UNKNOWN if numbering.limit is None else numbering.limit - 1

    def codes(places: Integers, moments: Integers) -> NDArray[np.int64]:
        other = np.where(moments >= full_from, rest, UNKNOWN)
        found: NDArray[np.int64] = np.where(known_from[places] <= moments, code_of[places], other)
        if not numbering.counts_missing and None in values:
            found[places == values.index(None)] = MISSING
        return found

    return Encoded(after, codes(learnt, np.arange(1, len(learnt) + 1)), codes(asked, stamp))


def _check_types(
    known: dict[Any, int], column: Factorized, learnt: Integers, asked: Integers
) -> None:
    """Raise an error if a column holds values of two types: 3 and "3" would be two categories."""
    used = np.zeros(len(column.values), dtype=bool)
    used[learnt] = used[asked] = True
    before = next((value for value in known if value is not None), None)
    for place in np.flatnonzero(used).tolist():
        value = column.values[place]
        if value is None:
            continue
        if before is None:
            before = value
        elif type(value) is not type(before) and kind_of(value) != kind_of(before):
            raise MixedTypes(
                f"holds {value!r}, {kind_of(value)}, and in the rows before {before!r}, "
                f"{kind_of(before)}"
            )


def kind_of(value: Any) -> str:
    """Type of a value in words: numbers of all types are of one kind."""
    if isinstance(value, str):
        return "a text"
    return "a number" if isinstance(value, Number) else f"of type {type(value).__name__}"


class CategoryEncoder(StreamTransformer):
    """What encoders of categories have in common: what they learn."""

    codes_: list[dict[Any, int]]

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Learn the categories of rows.

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
        self._validate_params()
        first = not hasattr(self, "codes_")
        X = checked_values(self, X, reset=first)
        known = [{} for _ in range(X.shape[1])] if first else self.codes_
        nothing = np.zeros(0, dtype=np.intp)
        encoded = self._encoded(X, known, np.arange(X.shape[0]), nothing)
        self.codes_ = [of_column.known for of_column in encoded]
        return self

    def _codes(self, X: Any) -> NDArray[np.int64]:
        """Codes of rows, as the categories are known now."""
        check_is_fitted(self)
        X = checked_values(self, X, reset=False)
        nothing = np.zeros(0, dtype=np.intp)
        encoded = self._encoded(X, self.codes_, nothing, np.arange(X.shape[0]))
        return np.column_stack([of_column.asked for of_column in encoded])

    @property
    def _has_room(self) -> bool:
        """Whether all categories learnt so far have codes; `max_categories` may be another now."""
        limit = self._numbering.limit
        most = max(map(len, getattr(self, "codes_", [])), default=0)
        return limit is None or most < limit

    def _encoded(
        self, X: Any, known: Sequence[dict[Any, int]], learnt: Integers, asked: Integers
    ) -> list[Encoded]:
        if not self._has_room:
            raise ValueError(
                f"max_categories={self._numbering.limit} was set after more categories had been "
                "learnt. Call fit, which starts again with it."
            )
        stamp = np.zeros(len(asked), dtype=np.intp)
        encoded = []
        for place, (column, of_column) in enumerate(zip(self._columns(X), known, strict=True)):
            try:
                encoded.append(encode(of_column, column, learnt, asked, stamp, self._numbering))
            except MixedTypes as error:
                raise ValueError(
                    f"Column {self._name(place)} {error}. Use one type throughout: "
                    f"astype(str) makes texts of all."
                ) from None
        return encoded

    def _columns(self, X: Any) -> list[Factorized]:
        try:
            return factorized_columns(X)
        except TypeError as error:
            for place, column in enumerate(column_lists(X)):
                for row, value in enumerate(column):
                    if getattr(value, "__hash__", None) is None:
                        raise TypeError(
                            f"Column {self._name(place)} holds {value!r}{in_row(row, len(column))},"
                            f" and a {type(value).__name__} cannot be a category. Use texts or "
                            "numbers."
                        ) from error
            raise

    def _name(self, place: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return str(place) if names is None else repr(names[place])

    @property
    def _numbering(self) -> Numbering:
        """How categories get their codes."""
        raise NotImplementedError

    @property
    def categories_(self) -> list[NDArray[Any]]:
        """Categories of each column so far, in the order of their codes."""
        made = []
        for known in self.codes_:
            categories = np.empty(len(known), dtype=object)
            categories[:] = list(known)
            made.append(categories)
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
