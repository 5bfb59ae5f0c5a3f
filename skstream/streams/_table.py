"""What Parquet and CSV streams share: which column is what, and how rows become chunks."""

import math
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skstream.streams._arrays import check_chunk_size
from skstream.streams._columns import (
    NOMINAL,
    NUMBER,
    TIME,
    codes,
    moments,
    numbers,
    plain,
    role_of,
    values_of,
)
from skstream.streams._stream import Chunk, Stream
from skstream.utils._labels import distinct_labels, find_classes
from skstream.utils._optional import optional_import

# A column with more values than this is text or an identifier, not a nominal feature.
_MAX_CATEGORIES = 1 << 16

Index = dict[str, dict[Any, int]]


class TableStream(Stream):
    """Stream of one file or of a folder of files, read piece by piece at every pass.

    A subclass says which columns there are, how rows are read and what the files declare. Only
    paths, names and categories are kept, so that a pickle is small and a worker opens the files.
    """

    suffixes: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: str,
        *,
        columns: Sequence[str] | None,
        exclude: Sequence[str] | None,
        chunk_size: int,
        missing: str | float,
        as_frame: bool,
        meta: dict[str, str | None],
    ) -> None:
        self.path = os.path.abspath(path)
        self.target = target
        self.chunk_size = check_chunk_size(chunk_size)
        self.missing = _check_missing(missing)
        self.as_frame = as_frame
        self._files = _find_files(Path(self.path), self.suffixes)
        self._meta = {key: name for key, name in meta.items() if name is not None}
        types = self._types()
        self._features = self._choose_features(list(types), columns, exclude)
        used = [*self._features, target, *self._meta.values()]
        self._roles = {name: role_of(name, types[name]) for name in used}
        self._check_roles()
        self._categories: dict[str, list[Any]] = {}

    @abstractmethod
    def _types(self) -> dict[str, Any]:
        """Arrow type of every column, in the order of the file."""

    @abstractmethod
    def _batches(self, columns: list[str]) -> Iterator[Any]:
        """Record batches of at most `chunk_size` rows that have these columns."""

    def _declared(self, columns: list[str]) -> dict[str, list[Any]]:
        """Categories of those nominal columns for which the files declare them."""
        return {}

    def _not_features(self) -> set[str]:
        """Columns of which the files themselves say that they are no features."""
        return set()

    @property
    def feature_names(self) -> list[str]:
        """Names of the feature columns."""
        return list(self._features)

    @property
    def categories(self) -> dict[str, list[Any]]:
        """Categories of every nominal feature; a value's code is its position here."""
        return self._categories_of([name for name in self._features if self._is_nominal(name)])

    @cached_property
    def classes(self) -> NDArray[Any] | None:
        """Sorted class labels; None for fractional targets.

        Taken from the declared categories of the target, else from a pass over its column alone.
        """
        if self._is_nominal(self.target):
            return find_classes(self._label_values())
        return self._scan_classes()

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk; only the target column is read."""
        index = self._index([self.target])
        first_row = 0
        for batch in self._batches([self.target]):
            yield self._labels(batch.column(self.target), index, first_row)
            first_row += batch.num_rows

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the rows, read when they are asked for."""
        columns = list(self._roles)
        index = self._index([*self._features, self.target])
        first_row = 0
        for batch in self._batches(columns):
            table = {name: batch.column(name) for name in columns}
            X = {
                name: self._feature(name, table[name], index, first_row) for name in self._features
            }
            n = batch.num_rows
            yield (
                self._frame(X, index, first_row, n) if self.as_frame else _matrix(X, n),
                self._labels(table[self.target], index, first_row),
                {key: _META[key](table[name]) for key, name in self._meta.items()},
            )
            first_row += n

    def _feature(self, name: str, column: Any, index: Index, first_row: int) -> NDArray[Any]:
        """Numbers of a feature, or codes of a nominal one, missing values treated."""
        nominal = name in index
        values: NDArray[Any]
        values = codes(column, index[name], name, first_row) if nominal else numbers(column)
        absent = values < 0 if nominal else np.isnan(values)
        if not absent.any():
            return values
        if self.missing == "error":
            row = first_row + int(np.flatnonzero(absent)[0])
            raise ValueError(
                f"Row {row} has no value in column {name!r}, and missing='error' refuses that. "
                f"Use missing='nan', or a number that fills the gaps."
            )
        if nominal and (self.as_frame or self.missing != "nan"):
            return values  # code -1, which a frame shows as missing
        return np.where(absent, float(self.missing), values)

    def _frame(self, X: dict[str, NDArray[Any]], index: Index, first_row: int, n: int) -> Any:
        pd = optional_import("pandas", f"{type(self).__name__}(as_frame=True)")
        data = {
            name: pd.Categorical.from_codes(values, categories=list(index[name]))
            if name in index
            else values
            for name, values in X.items()
        }
        return pd.DataFrame(data, index=pd.RangeIndex(first_row, first_row + n))

    def _labels(self, column: Any, index: Index, first_row: int) -> NDArray[Any]:
        if self.target not in index:
            return plain(column)
        found = codes(column, index[self.target], self.target, first_row)
        values = self._label_values()
        if found.min(initial=0) < 0:
            # Code -1 takes the last entry.
            values = np.append(values.astype(object), [None])
        return values.take(found)

    def _label_values(self) -> NDArray[Any]:
        values = self._categories_of([self.target])[self.target]
        return np.array(values, dtype=object if isinstance(values[0], str) else None)

    def _categories_of(self, columns: list[str]) -> dict[str, list[Any]]:
        unknown = [name for name in columns if name not in self._categories]
        if unknown:
            self._categories |= self._declared(unknown)
            self._scan_categories([name for name in unknown if name not in self._categories])
        return {name: self._categories[name] for name in columns}

    def _scan_categories(self, columns: list[str]) -> None:
        """Find the values of undeclared nominal columns in one pass over these alone."""
        if not columns:
            return
        distinct: dict[str, set[Any]] = {name: set() for name in columns}
        for batch in self._batches(columns):
            for name, values in distinct.items():
                values.update(values_of(batch.column(name)))
                if len(values) > _MAX_CATEGORIES:
                    raise ValueError(
                        f"Column {name!r} has more than {_MAX_CATEGORIES:,} different values, so "
                        f"it is text or an identifier and no category. Name it in exclude=."
                    )
        for name, values in distinct.items():
            if name == self.target and not values:
                raise ValueError(f"The target column {name!r} holds no label at all.")
            self._categories[name] = sorted(values)

    def _scan_classes(self) -> NDArray[Any] | None:
        found = None
        for batch in self._batches([self.target]):
            labels = plain(batch.column(self.target).drop_null())
            if self._roles[self.target] == NUMBER:
                labels = labels[~np.isnan(labels)]
                if not (np.isfinite(labels) & (np.floor(labels) == labels)).all():
                    return None
            classes = distinct_labels(labels)
            if len(classes):
                found = classes if found is None else np.union1d(found, classes)
        return found

    def _index(self, columns: list[str]) -> Index:
        """Codes of the categories of those columns that are nominal."""
        nominal = [name for name in columns if self._is_nominal(name)]
        return {
            name: {value: code for code, value in enumerate(values)}
            for name, values in self._categories_of(nominal).items()
        }

    def _is_nominal(self, name: str) -> bool:
        return self._roles[name] == NOMINAL

    def _choose_features(
        self, names: list[str], columns: Sequence[str] | None, exclude: Sequence[str] | None
    ) -> list[str]:
        for parameter, wanted in {
            "target": [self.target],
            "columns": columns or [],
            "exclude": exclude or [],
            **{key: [name] for key, name in self._meta.items()},
        }.items():
            for name in wanted:
                if name not in names:
                    raise ValueError(
                        f"{parameter} names the column {name!r}, which is not in {self.path}. "
                        f"Columns: {', '.join(names)}."
                    )
        reserved = {self.target, *self._meta.values()}
        if columns is None:
            dropped = self._not_features() if exclude is None else set(exclude)
            return [name for name in names if name not in reserved | dropped]
        for name in columns:
            if name in reserved:
                raise ValueError(
                    f"columns names {name!r}, which is the target or meta data, and no feature."
                )
        return [name for name in columns if name not in (exclude or ())]

    def _check_roles(self) -> None:
        refused = {"target": {TIME}, "sample_weight": {TIME, NOMINAL}}
        refused |= {"arrival": {NOMINAL}, "label_time": {NOMINAL}}
        for key, name in {"target": self.target, **self._meta}.items():
            if self._roles[name] in refused.get(key, ()):
                raise TypeError(
                    f"{key} names the column {name!r}, which holds {_PLURAL[self._roles[name]]}."
                )


_PLURAL = {TIME: "times", NOMINAL: "categories"}
_META = {"sample_weight": numbers, "arrival": moments, "label_time": moments, "id": plain}


def _matrix(X: dict[str, NDArray[Any]], n_rows: int) -> NDArray[np.float64]:
    matrix = np.empty((n_rows, len(X)))
    for j, values in enumerate(X.values()):
        matrix[:, j] = values
    return matrix


def _check_missing(missing: Any) -> str | float:
    if missing in ("nan", "error"):
        return str(missing)
    if isinstance(missing, Real) and not isinstance(missing, bool):
        fill = float(missing)
        if math.isfinite(fill):
            return fill
    raise ValueError(f"missing must be 'nan', 'error' or a finite number. Got {missing!r} instead.")


def _find_files(path: Path, suffixes: Iterable[str]) -> list[str]:
    if path.is_file():
        return [str(path)]
    if not path.is_dir():
        raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
    wanted = tuple(suffixes)
    files = sorted(p for p in path.iterdir() if p.name.endswith(wanted) and p.is_file())
    if not files:
        raise FileNotFoundError(f"The folder {str(path)!r} holds no file *{' or *'.join(wanted)}.")
    return [str(p) for p in files]
