"""Rows as CapyMOA takes them: a schema, and a vector of numbers for each row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.base import about_texts
from skstream.utils._labels import is_missing
from skstream.utils._rows import is_frame, take_rows

_ROWS_AT_ONCE = 1000
_TARGET = "target"


@dataclass(frozen=True)
class Columns:
    """Names of the columns, and of those with categories the places of their values.

    Attributes
    ----------
    names : list of str
        As they stand in the schema.
    places : dict of int to dict
        Numbers of the columns with categories, and the place of each category.
    """

    names: list[str]
    places: dict[int, dict[Any, int]]

    @classmethod
    def of(cls, X: Any, categories: Mapping[Any, Any] | None) -> "Columns":
        """Return what is known from the first rows and from what the user says."""
        if len(X.shape) == 1:
            raise ValueError(f"X holds raw texts. {about_texts('CapyMOA')}")
        own = list(X.columns) if is_frame(X) else list(range(X.shape[1]))
        given = dict(categories or {})
        unknown = [name for name in given if name not in own]
        if unknown:
            raise ValueError(f"categories names {unknown[0]!r}, but the columns are {own}.")
        places = {}
        for number, name in enumerate(own):
            values = given[name] if name in given else _declared(X, number)
            if values is not None:
                places[number] = {value: place for place, value in enumerate(values)}
            elif _has_texts(X, number):
                raise ValueError(
                    f"Column {name!r} holds texts, and CapyMOA must know all categories of a "
                    f"column before the first row. Pass categories={{{name!r}: [...]}}."
                )
        names = [str(name) for name in own]
        return cls([f"{name} " if name == _TARGET else name for name in names], places)

    def schema(self, schemas: Any, classes: NDArray[Any] | None) -> Any:
        """Return a schema, made by CapyMOA's own class."""
        categories = {
            self.names[number]: [str(value) for value in places]
            for number, places in self.places.items()
        }
        if classes is not None:
            categories[_TARGET] = [str(label) for label in classes.tolist()]
        return schemas.from_custom(
            features=[*self.names, _TARGET], target=_TARGET, categories=categories, name="stream"
        )

    def numbers(self, X: Any, index: NDArray[np.intp]) -> Iterator[NDArray[np.float64]]:
        """Yield rows at an index as arrays of many; NaN: missing, or no known category."""
        for begin in range(0, len(index), _ROWS_AT_ONCE):
            yield self._numbers(take_rows(X, index[begin : begin + _ROWS_AT_ONCE]))

    def _numbers(self, rows: Any) -> NDArray[np.float64]:
        if sparse.issparse(rows):
            rows = rows.toarray()
        if not self.places and not is_frame(rows):
            return np.array(rows, dtype=np.float64)
        numbers = np.empty(rows.shape)
        for number in range(rows.shape[1]):
            values = _column(rows, number)
            places = self.places.get(number)
            if places is None:
                numbers[:, number] = [np.nan if is_missing(v) else float(v) for v in values]
            else:
                numbers[:, number] = [places.get(value, np.nan) for value in values]
        return numbers


def _column(X: Any, number: int) -> list[Any]:
    if not is_frame(X):
        column = X[:, number]
    else:
        column = X.iloc[:, number] if hasattr(X, "iloc") else X[:, number]
    values: list[Any] = column.to_list() if hasattr(column, "to_list") else column.tolist()
    return values


def _declared(X: Any, number: int) -> list[Any] | None:
    """Categories that the type of a column lists; None if it is of another type."""
    if not is_frame(X):
        return None
    if not hasattr(X, "iloc"):
        known = getattr(X.dtypes[number], "categories", None)
        return None if known is None else list(known)
    values = getattr(X.dtypes.iloc[number], "categories", None)
    return None if values is None else values.tolist()


def _has_texts(X: Any, number: int) -> bool:
    if sparse.issparse(X) or (not is_frame(X) and X.dtype.kind not in "OUS"):
        return False
    return any(isinstance(value, str | bytes) for value in _column(X, number))
