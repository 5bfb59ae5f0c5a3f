"""Base class of Parquet and CSV streams: roles of columns, and reading of chunks."""

import re
from abc import abstractmethod
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.chunk import META_KEYS, Chunk, StreamError, warn_of_order
from skstream.streams._columns import (
    BOOLEAN,
    INTEGER,
    NOMINAL,
    NUMBER,
    TEXT,
    TIME,
    as_matrix,
    check_roles,
    codes,
    is_date,
    is_text,
    iso_times,
    moments,
    numbers,
    plain,
    refuse_gap,
    role_of,
    role_of_text,
    texts_of,
    time_formats,
    values_of,
    warn_of_unit,
    written_times,
)
from skstream.streams._file_stream import FileStream, broken_file
from skstream.streams._file_system import Paths
from skstream.streams._table_parameters import (
    check_missing,
    check_named_once,
    check_text,
    checked_keys,
    chosen_columns,
    files_in_words,
    kinds_in_words,
    names_given,
    names_options,
    not_there,
)
from skstream.utils._choices import check_count
from skstream.utils._labels import distinct_labels, find_classes, joined_classes
from skstream.utils._optional import optional_import
from skstream.utils._times import LARGEST_EXACT, where_back
from skstream.utils._warnings import warn

_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
#: A number with a comma, before its decimals or between thousands.
_WITH_COMMA = re.compile(r"\s*[-+]?[\d.]*(,\d+)+(\.\d+)?\s*")

# Common marks of a missing number that `null_values` does not include by default.
_MISSING_MARK = re.compile(
    r"\W*|#?n[./]?[ad]\.?|#n/?a!?|none|nil|missing|unknown|undefined|not available|#div/0!|#value!",
    re.IGNORECASE,
)
# Few texts among so many numbers are probably not categories.
_MANY_NUMBERS = 10
_FEW_TEXTS = 0.1


def are_numbers(values: Collection[Any]) -> bool:
    """Whether all values of a column are texts of numbers, and there are some."""
    return bool(values) and all(isinstance(one, str) and _NUMBER.fullmatch(one) for one in values)


def in_order(values: Iterable[Any]) -> list[Any]:
    """Sort categories: by value where all are numbers, or texts of numbers; else as texts."""
    distinct = list(values)
    if are_numbers(distinct):
        return sorted(distinct, key=lambda text: (float(text), text))
    return sorted(distinct)


# A target with more values than this is text or an identifier, not a class label.
_MAX_CLASSES = 1 << 16
#: The same for features, unless the user says how many categories they may have.
_MOST_CATEGORIES = 1000

Index = dict[str, dict[Any, int]]


class TableStream(FileStream):
    """Stream of files of tables, read piece by piece at every pass.

    A subclass says which columns there are, how rows are read and what the files declare. Only
    paths, names and categories are kept, so that a pickle is small and a worker opens the files.
    """

    default_options: ClassVar[dict[str, Any]] = {
        **FileStream.default_options,
        **{"missing": "nan", "sort_by": None, "time_format": None},
    }
    sort_by: Any
    time_format: Any
    #: Advice on marks of missing values among numbers.
    _about_marks: ClassVar[str]
    #: Features that are neither numbers nor codes, but what the file holds.
    _kept: frozenset[str] = frozenset()
    #: Whether the files may hold dates as texts.
    _has_texts_of_dates = False
    #: What to do about numbers that texts write with a comma.
    _about_commas: str

    @names_options
    def __init__(
        self,
        path: Paths,
        target: str,
        *,
        nominal: Sequence[str] | None = None,
        numeric: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        text: str | Sequence[str] | None = None,
        max_categories: int | None = None,
        as_frame: bool = False,
        chunk_size: int = 65536,
        roles: dict[str, str] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        meta = checked_keys(roles, "roles", META_KEYS)
        for key, name in {"target": target, **meta}.items():
            if not isinstance(name, str) and (key == "target" or name is not None):
                raise TypeError(f"{key} must be the name of a column. Got {name!r} instead.")
        super().__init__(path, options)
        self.target = target
        self.chunk_size = check_count(chunk_size, "chunk_size", 1)
        self.max_categories = (
            None if max_categories is None else check_count(max_categories, "max_categories", 1)
        )
        self.as_frame = as_frame
        self.nominal = names_given(nominal, "nominal") or []
        self.numeric = names_given(numeric, "numeric") or []
        self.text = names_given(text, "text") or []
        wanted = names_given(columns, "columns")
        check_named_once(self.nominal, self.numeric, self.text)
        check_text(self.text, wanted, [target, *meta.values()], as_frame=as_frame)
        self._meta = {key: meta[key] for key in META_KEYS if meta.get(key) is not None}
        times = [self._meta.get("arrival"), self._meta.get("label_time"), self.sort_by]
        self.time_format = time_formats(self.time_format, dict.fromkeys(filter(None, times)))
        types = self._types()
        self._all_columns = columns is None
        self._features = self._choose_features(list(types), wanted, names_given(exclude, "exclude"))
        order = {"sort_by": self.sort_by} if self.sort_by else {}
        used = [*self._features, target, *self._meta.values(), *order.values()]
        self._roles = {name: self._role(name, types[name]) for name in used}
        check_roles(self._roles, {"target": target, **self._meta, **order})
        dates = [one for one in types if one in self.time_format or is_date(types[one])]
        says_order = self.sort_by is None and "arrival" not in self._meta
        says_order = says_order and len(dates) < 2 and not {*times} & {*dates}
        #: The only column of dates, whose order is still to be compared with that of the rows.
        self._date = dates if says_order else []
        #: Columns of texts, one of which may be that of the dates.
        self._may_be_dates = [
            name
            for name in types
            if says_order and self._has_texts_of_dates and is_text(types[name])
            if name not in {*dates, *self._own, *self.text}
        ]
        self._check_files(types)
        self._n_rows: int | None = None
        self._categories: dict[str, list[Any]] = {}
        self._shortened: set[str] = set()  # columns whose loss of digits was said
        self._units_seen: set[str] = set()  # columns of numbers whose first times were looked at
        self._warn_of_index()

    def _take_options(self, options: dict[str, Any]) -> None:
        self.missing = check_missing(options["missing"])
        self.sort_by, self.time_format = options["sort_by"], options["time_format"]
        if not isinstance(self.sort_by, str | bool | None):
            raise TypeError(
                f"sort_by must be the name of a column, or False. Got {self.sort_by!r} instead."
            )

    def keep_values(self, names: Iterable[str]) -> None:
        """Let features of frames have their own values, as the target and identifiers do.

        Parameters
        ----------
        names : iterable of str
            Their columns, which hold answers, say, or name groups.
        """
        self._kept = frozenset(names)

    @property
    def _own(self) -> set[str]:
        """Columns that are read with their own values."""
        return {self.target, *self._meta.values(), *self._kept}

    def _warn_of_index(self) -> None:
        """Warn if a feature is the index of a pandas frame that was written to the file."""

    def _types(self) -> dict[str, Any]:
        """Arrow type of every column, in the order of the first file."""
        return self._types_in(self.files[0])

    @abstractmethod
    def _types_in(self, file: str) -> dict[str, Any]:
        """Arrow type of every column of one file."""

    @abstractmethod
    def _batches_of(self, file: str, columns: list[str]) -> Iterator[Any]:
        """Record batches of one file, of at most `chunk_size` rows, that have these columns."""

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        """Record batches of all files, in the order of the rows."""
        read = self._in_files(columns)
        if not self.sort_by:
            yield from read
        elif batches := list(read):
            table = optional_import("pyarrow", "sort_by").Table.from_batches(batches)
            table = table.unify_dictionaries().take(self._order)
            yield from table.combine_chunks().to_batches(self.chunk_size)

    def _times(self, name: str) -> NDArray[Any]:
        parts = [moments(batch.column(0)) for batch in self._in_files([name])]
        return np.concatenate(parts or [np.empty(0)])

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Numbers of the rows in the files, in the order of `sort_by`, which is stable."""
        return self._times(self.sort_by).argsort(kind="stable")

    def _row_in_files(self, row: int) -> int:
        return int(self._order[row]) if self.sort_by else row

    def _say_order(self) -> None:
        """Warn once if the only column of dates goes back."""
        dates, self._date, texts = self._date, [], self._may_be_dates
        self._may_be_dates = []
        first = next(self._in_files(texts), None) if texts else None
        texts = [one for one in texts if first and first[one].null_count < len(first)]
        texts = [one for one in texts if first and iso_times(first[one]) is not None]
        for name in [*dates, *texts] if len(dates) + len(texts) == 1 else []:
            parts = [iso_times(one.column(0)) for one in self._in_files(texts)] if texts else []
            known = [one for one in parts if one is not None]
            if len(known) < len(parts):
                return
            back = where_back(np.concatenate(known) if texts else self._times(name), 0, None)
            sorting = f"let the stream sort them, in memory, with options={{'sort_by': {name!r}}}"
            sorting += " and the 'time_format' of its texts" if texts else ""
            warn_of_order(f"column {name!r}", back, sorting, "pass options={'sort_by': False}")

    def _in_files(self, columns: list[str]) -> Iterator[Any]:
        """Record batches of all files; an error says at which file and row it came."""
        row = 0
        for file in self.files:
            first = row
            try:
                for batch in self._batches_of(file, columns):
                    for name in self.time_format.keys() & batch.schema.names:
                        times = written_times(batch[name], self.time_format[name], name, row)
                        if "%" not in self.time_format[name] and name not in self._units_seen:
                            self._units_seen.add(name)
                            warn_of_unit(times, self.time_format[name], name)
                        place = batch.schema.get_field_index(name)
                        batch = batch.set_column(place, name, times)
                    yield batch
                    row += batch.num_rows
            except (ImportError, MemoryError, StreamError):
                raise
            except Exception as error:
                raise self._broken(file, first, row, columns, error) from error
        self._n_rows = row

    def _broken(
        self, file: str, first: int, row: int, columns: list[str], error: Exception
    ) -> StreamError:
        """Say that a file, whose rows are those from `first` on, cannot be read beyond `row`."""
        return broken_file(file, first, row, error)

    def _declared(self, columns: list[str]) -> dict[str, list[Any]]:
        """Categories of the nominal columns whose files declare them."""
        return {}

    def _declared_nominal(self) -> set[str]:
        """Columns that the files themselves declare as categories."""
        return set()

    def _may_be_whole(self, name: str, kind: Any, largest: float) -> bool:
        """Whether a column of numbers may hold whole ones, as far as its file says it."""
        return role_of(name, kind) == INTEGER

    def _not_features(self) -> set[str]:
        """Columns that the files themselves exclude from the features."""
        return set()

    def row_options(self) -> dict[str, Any]:
        """Return how the files are read, where that decides which rows come.

        Returns
        -------
        options : dict of str to object
            Values by name.
        """
        target = {"target": self.target, "target_kind": self._roles[self.target]}
        features = {"columns": self._features, "kinds": self.kinds, "as_frame": self.as_frame}
        names = self.default_options.keys() - {"filesystem"}
        reading = {name: getattr(self, name) for name in sorted(names)}
        reading = {name: one for name, one in reading.items() if one not in (None, {})}
        return {**target, **features, **self._meta, **reading}

    @property
    def n_rows(self) -> int:
        """Number of rows, counted in the first pass of any kind."""
        if self._n_rows is None:
            deque(self._batches([self.target]), maxlen=0)
        return cast(int, self._n_rows)

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of every feature: "number", "category", "boolean", "time" or "text"."""
        shown = {NOMINAL: "category", TIME: "time", BOOLEAN: "boolean", TEXT: "text"}
        return {name: shown.get(self._roles[name], "number") for name in self._features}

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

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}; features: {self.features_in_words()})"

    def features_in_words(self) -> str:
        """Say what the features are read as: "numbers load; categories day"."""
        return kinds_in_words(self.kinds)

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk; only the target column is read."""
        index = self._index([self.target])
        first_row = 0
        for batch in self._batches([self.target]):
            yield self._labels(batch.column(self.target), index, first_row)
            first_row += batch.num_rows

    def chunks(self) -> Iterator[Chunk]:
        """Chunks of the rows, read when they are asked for."""
        self._say_order()
        columns = list(self._roles)
        index = self._index([*self._features, self.target])
        first_row = 0
        for batch in self._batches(columns):
            try:
                chunk = self._chunk(batch, index, first_row)
            except ValueError as error:  # which names the row
                raise StreamError(str(error), first_row) from error
            yield chunk
            first_row += batch.num_rows

    def _chunk(self, batch: Any, index: Index, first_row: int) -> Chunk:
        return Chunk(
            self._rows(batch, index, first_row),
            self._labels(batch.column(self.target), index, first_row),
            {key: _META[key](batch.column(name)) for key, name in self._meta.items()},
        )

    def _rows(self, batch: Any, index: Index, first_row: int) -> Any:
        """Features of the rows of a record batch: a matrix, texts or a frame."""
        X = {
            name: self._feature(name, batch.column(name), index, first_row)
            for name in self._features
        }
        n = batch.num_rows
        if self.as_frame:
            return self._frame(X, index, first_row, n)
        return X[self.text[0]] if self.text else as_matrix(X, n)

    def _feature(self, name: str, column: Any, index: Index, first_row: int) -> NDArray[Any]:
        """Numbers of a feature, or codes of a nominal one, missing values treated."""
        if name in self._kept:
            return plain(column)
        if self._roles[name] == TEXT:
            return texts_of(column, name, first_row, self.missing)
        nominal = name in index
        values: NDArray[Any]
        if nominal:
            values = codes(column, index[name], name, first_row)
        else:
            values = numbers(column, name, first_row)
            self._warn_of_lost_digits(name, column.type, values)
        # The least value is NaN where any is, and -1 is the code of a missing category.
        least = values.min(initial=0)
        if not (least < 0 if nominal else np.isnan(least)):
            return values
        absent = values < 0 if nominal else np.isnan(values)
        refuse_gap(self.missing, name, absent, first_row)
        if nominal and (self.as_frame or self.missing != "nan"):
            return values  # code -1, which a frame shows as missing
        return np.where(absent, float(self.missing), values)

    def _warn_of_lost_digits(self, name: str, kind: Any, values: NDArray[Any]) -> None:
        """Warn once of whole numbers that differ in the file, and may be equal as floats."""
        if name in self._shortened or name in self.numeric:
            return
        if max(-values.min(initial=0), values.max(initial=0)) < LARGEST_EXACT:
            return
        finite = values[np.isfinite(values)]
        sizes = np.abs(finite[np.abs(finite) < 2.0**64])
        largest = float(sizes.max(initial=0.0))
        if largest < LARGEST_EXACT or not self._may_be_whole(name, kind, largest):
            return
        if (finite == np.floor(finite)).all():
            self._shortened.add(name)
            warn(
                f"Column {name!r} holds whole numbers beyond 2**53, which lose their last digits "
                f"as floats, so that different numbers may become equal. Leave out an identifier "
                f"with exclude=, and name categories in nominal=. If they are quantities, name the "
                f"column in numeric=, and there is no warning."
            )

    def _frame(self, X: dict[str, NDArray[Any]], index: Index, first_row: int, n: int) -> Any:
        pd = optional_import("pandas", f"{type(self).__name__}(as_frame=True)")
        for name in X.keys() & index.keys():
            X[name] = pd.Categorical.from_codes(X[name], categories=list(index[name]))
        return pd.DataFrame(X, index=pd.RangeIndex(first_row, first_row + n))

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
            declared = self._declared([name for name in unknown if name not in self.nominal])
            found = declared | self._scan_categories([n for n in unknown if n not in declared])
            for name in unknown:
                self._check_categories(name, found[name])
            self._categories |= found
        return {name: self._categories[name] for name in columns}

    def _scan_categories(self, columns: list[str]) -> dict[str, list[Any]]:
        """Find the values of undeclared nominal columns in one pass over these alone."""
        if not columns:
            return {}
        distinct: dict[str, set[Any]] = {name: set() for name in columns}
        for batch in self._batches(columns):
            for name, values in distinct.items():
                values.update(values_of(batch.column(name)))
                self._check_number(name, values)
        for name, values in distinct.items():
            if name == self.target and not values:
                raise ValueError(f"The target column {name!r} holds no label at all.")
        return {name: in_order(values) for name, values in distinct.items()}

    def _check_number(self, name: str, values: Collection[Any]) -> None:
        """Raise an error if values are too many to be categories."""
        most = self.max_categories or _MOST_CATEGORIES
        chosen = name in self.nominal
        if name == self.target or (chosen and self.max_categories is None):
            if len(values) > _MAX_CLASSES:
                raise ValueError(
                    f"Column {name!r} has more than {_MAX_CLASSES:,} different values, so it holds "
                    f"texts or identifiers and no categories."
                )
        elif len(values) > most and (chosen or name not in self._declared_nominal()):
            if not chosen:
                self._refuse_numbers(name, values)
            raise ValueError(
                f"Column {name!r} holds texts of more than {most:,} different "
                f"values, so it looks like free text, an identifier, or dates that are not "
                f"written 2020-01-31; a code for each would mean nothing to a model. Leave it "
                f"out with exclude=, or raise max_categories=. Text for a HashingVectorizer is "
                f"read with text={name!r}."
            )

    def _check_categories(self, name: str, values: Collection[Any]) -> None:
        """Raise an error for numbers read as categories; warn where a CSV file would give numbers.

        Columns that the user or the file declares nominal are not checked.
        """
        if name in self.nominal or name in self._declared_nominal():
            return
        self._check_number(name, values)
        self._refuse_numbers(name, values)
        if name != self.target and are_numbers(values):
            example = next((text for text in values if "." in text), next(iter(values)))
            self._say_of_plain_numbers(name, len(values), example)

    def _refuse_numbers(self, name: str, values: Collection[Any]) -> None:
        """Raise an error where texts write numbers with a comma, or stand among numbers."""
        texts = sorted(value for value in values if isinstance(value, str))
        odd = [text for text in texts if not _NUMBER.fullmatch(text)]
        if odd and all(map(_WITH_COMMA.fullmatch, odd)):
            raise ValueError(
                f"Column {name!r} holds numbers written with a comma ({odd[0]!r}), which would be "
                f"read as categories. {self._about_commas} If they are categories, name the column "
                f"in nominal=."
            )
        n_numbers = len(texts) - len(odd)
        if not odd or not n_numbers or name == self.target:
            return
        marks = all(_MISSING_MARK.fullmatch(text.strip()) for text in odd)
        if marks or (n_numbers >= _MANY_NUMBERS and len(odd) <= _FEW_TEXTS * len(texts)):
            raise ValueError(
                f"Column {name!r} holds numbers, but also the text {odd[0]!r}, so the whole column "
                f"would be read as categories. {self._about_marks} If they are categories, "
                f"name the column in nominal=."
            )

    def _say_of_plain_numbers(self, name: str, n_values: int, example: str) -> None:
        """Warn of texts that are all numbers: another kind of file would give other features."""
        warn(
            f"Column {name!r} holds texts that are all numbers ({example!r}): it is read as "
            f"{n_values:,} categories, whose codes begin at 0. From a CSV file the same rows would "
            f"be read as numbers. Name it in nominal= to keep the categories (a CSVStream takes "
            f"nominal= too), or in numeric= to read the numbers."
        )

    def _scan_classes(self) -> NDArray[Any] | None:
        found = None
        n_rows = 0
        for batch in self._batches([self.target]):
            n_rows += batch.num_rows
            try:
                classes = distinct_labels(plain(batch.column(self.target).drop_null()))
            except ValueError:  # fractional targets
                return None
            if len(classes):
                found = classes if found is None else joined_classes([found, classes])
        if n_rows == 0:
            raise ValueError(f"The stream is empty: {files_in_words(self.files)} has no row.")
        if found is None:
            raise ValueError(f"The target column {self.target!r} holds no label at all.")
        return found

    def _index(self, columns: list[str]) -> Index:
        """Codes of the categories of those columns that are nominal."""
        nominal = [name for name in columns if self._is_nominal(name)]
        return {
            name: {value: code for code, value in enumerate(values)}
            for name, values in self._categories_of(nominal).items()
        }

    def _is_nominal(self, name: str) -> bool:
        return self._roles.get(name) == NOMINAL and name not in self._kept

    def _choose_features(
        self, names: list[str], columns: list[str] | None, exclude: list[str] | None
    ) -> list[str]:
        for parameter, wanted in {
            "target": [self.target],
            "nominal": self.nominal,
            "numeric": self.numeric,
            "text": self.text,
            "columns": columns or [],
            "exclude": exclude or [],
            "time_format": list(self.time_format),
            "sort_by": [self.sort_by] if self.sort_by else [],
            **{key: [name] for key, name in self._meta.items()},
        }.items():
            for name in wanted:
                if name not in names:
                    raise ValueError(self._not_there(parameter, name, names))
        reserved = {self.target, *self._meta.values()}
        if self.target in (exclude or []):
            raise ValueError(
                f"exclude= names the column {self.target!r}, which is the target, and so never a "
                "feature. Take it out of exclude=, or name another column as the target."
            )
        if self.text and not self.as_frame:
            return self.text
        dropped = self._not_features() if exclude is None else set(exclude)
        return chosen_columns(names, columns, reserved, dropped if columns is None else exclude)

    def _not_there(self, parameter: str, name: str, names: list[str]) -> str:
        return not_there(parameter, name, names, self.files[0])

    def _role(self, name: str, kind: Any) -> str:
        """Return the kind of a column; the user's choice comes before its type."""
        if name in self.time_format:
            return TIME
        if name in self.nominal:
            return NOMINAL
        if name in self.text:
            return role_of_text(name, kind)
        return NUMBER if name in self.numeric else role_of(name, kind)

    def _check_files(self, first: dict[str, Any]) -> None:
        """Raise an error if files have other columns, before any row is read."""
        for file in self.files[1:]:
            types = self._types_in(file)
            more = [name for name in types if name not in first] if self._all_columns else []
            if more:
                raise ValueError(
                    f"Column {more[0]!r} is in {file}, but absent in {self.files[0]}. Every file "
                    f"of a stream needs the same columns; columns= says which ones to read."
                )
            self._check_same_columns(types, file)

    def _check_same_columns(self, types: dict[str, Any], file: str) -> None:
        for name, expected in self._roles.items():
            role = self._role(name, types[name]) if name in types else "absent"
            if role != expected and not (
                {role, expected} == {INTEGER, NUMBER} and name in self._features
            ):
                raise ValueError(
                    f"Column {name!r} is {role} in {file}, but {expected} in {self.files[0]}. "
                    f"Every file of a stream needs the same columns."
                )


_META = {"sample_weight": numbers, "arrival": moments, "label_time": moments, "id": plain}
