"""Base class of Parquet, CSV and ARFF streams: roles of columns, and reading of chunks."""

import math
import re
from abc import abstractmethod
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from numbers import Real
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
    texts_of,
    time_formats,
    values_of,
    warn_of_unit,
    words_of_dates,
    written_times,
)
from skstream.streams._files import FileStream, Paths, checked_keys
from skstream.utils._choices import check_count, did_you_mean
from skstream.utils._labels import distinct_labels, find_classes, joined_classes
from skstream.utils._optional import optional_import
from skstream.utils._tables import shown
from skstream.utils._times import where_back

_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
#: A number with a comma, before its decimals or between thousands.
_WITH_COMMA = re.compile(r"\s*[-+]?[\d.]*(,\d+)+(\.\d+)?\s*")
# Few texts among so many numbers are probably not categories.
_MANY_NUMBERS, _FEW_TEXTS = 10, 0.1
# A target with more values than this is text or an identifier, not a class label; and the same for
# features, unless the user says how many categories they may have.
_MAX_CLASSES, _MOST_CATEGORIES = 1 << 16, 1000
_PLURAL = {"number": "numbers", "category": "categories", "boolean": "booleans"}
_PLURAL |= {"time": "times", "text": "texts"}
_META = {"sample_weight": numbers, "arrival": moments, "label_time": moments, "id": plain}

Index = dict[str, dict[Any, int]]


def in_order(values: Iterable[Any]) -> list[Any]:
    """Sort categories: by value where all are numbers, or texts of numbers; else as texts."""
    distinct = list(values)
    if all(isinstance(one, str) and _NUMBER.fullmatch(one) for one in distinct):
        return sorted(distinct, key=lambda text: (float(text), text))
    return sorted(distinct)


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
    #: Features that are neither numbers nor codes, but what the file holds.
    _kept: frozenset[str] = frozenset()
    #: Whether types are found by looking at the first rows, and not declared.
    _finds_types: ClassVar[bool] = False
    #: What to do about numbers that would be read as categories; about a column that is not there.
    _about_texts: ClassVar[str] = "Convert the column to numbers first, with gaps as nulls."
    _about_names: ClassVar[str] = ""

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
        self._meta = {key: meta[key] for key in META_KEYS if meta.get(key) is not None}
        times = [self._meta.get("arrival"), self._meta.get("label_time"), self.sort_by]
        self.time_format = time_formats(self.time_format, dict.fromkeys(filter(None, times)))
        self._arrow_types = types = self._types()
        self._all_columns = columns is None
        self._features = self._choose_features(
            list(types), names_given(columns, "columns"), names_given(exclude, "exclude")
        )
        order = {"sort_by": self.sort_by} if self.sort_by else {}
        used = [*self._features, target, *self._meta.values(), *order.values()]
        self._roles = {name: self._role(name, types[name]) for name in used}
        check_roles(self._roles, {"target": target, **self._meta, **order})
        for file in self.files[1:]:
            self._check_same_columns(self._types_in(file), file)
        #: Whether the only column of dates, if any, says nothing of the order of the rows any more.
        self._order_is_said = self.sort_by is not None or "arrival" in self._meta
        self._n_rows: int | None = None
        self._categories: dict[str, list[Any]] = {}
        self._units_seen: set[str] = set()  # columns of numbers whose first times were looked at

    def _take_options(self, options: dict[str, Any]) -> None:
        self.missing = _check_missing(options["missing"])
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

    def _types(self) -> dict[str, Any]:
        """Arrow type of every column, in the order of the first file."""
        return self._types_in(self.files[0])

    @abstractmethod
    def _types_in(self, file: str) -> dict[str, Any]:
        """Arrow type of every column of one file."""

    @abstractmethod
    def _batches_of(self, file: str, columns: list[str]) -> Iterator[Any]:
        """Record batches of one file, of at most `chunk_size` rows, that have these columns."""

    def _declared(self, columns: list[str]) -> dict[str, list[Any]]:
        """Categories of the nominal columns whose files declare them."""
        return {}

    def _declared_nominal(self) -> set[str]:
        """Columns that the files themselves declare as categories."""
        return set()

    def _not_features(self) -> set[str]:
        """Columns that the files themselves exclude from the features."""
        return set()

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        """Record batches of all files, in the order of the rows."""
        read = self._in_files(columns)
        if not self.sort_by:
            yield from read
        elif batches := list(read):
            table = optional_import("pyarrow", "sort_by").Table.from_batches(batches)
            table = table.unify_dictionaries().take(self._order)
            yield from table.combine_chunks().to_batches(self.chunk_size)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        """Numbers of the rows in the files, in the order of `sort_by`, which is stable."""
        times = [moments(batch.column(0)) for batch in self._in_files([self.sort_by])]
        return np.concatenate(times or [np.empty(0)]).argsort(kind="stable")

    def place_of(self, row: int) -> str:
        """Return which row of which file a row is; see `FileStream`."""
        return super().place_of(int(self._order[row]) if self.sort_by else row)

    def _say_order(self) -> None:
        """Warn once if the only column of dates goes back."""
        if self._order_is_said:
            return
        self._order_is_said, types = True, self._arrow_types
        dates = [name for name in types if name in self.time_format or is_date(types[name])]
        texts = [name for name in types if is_text(types[name]) and not self._finds_types]
        texts = [name for name in texts if name not in {*dates, *self._own, *self.text}]
        if first := next(self._in_files(texts), None) if texts else None:
            texts = [name for name in texts if first[name].null_count < len(first)]
            texts = [name for name in texts if iso_times(first[name]) is not None]
        if len(dates) + len(texts) != 1 or self._meta.get("label_time") in dates:
            return
        (name,), read = [*dates, *texts], iso_times if texts else moments
        parts = [read(batch.column(0)) for batch in self._in_files([name])]
        if parts and not any(part is None for part in parts):
            back = where_back(np.concatenate(cast(Any, parts)), 0, None)
            sorting = f"let the stream sort them, in memory, with options={{'sort_by': {name!r}}}"
            sorting += " and the 'time_format' of its texts" if texts else ""
            warn_of_order(f"column {name!r}", back, sorting, "pass options={'sort_by': False}")

    def _in_files(self, columns: list[str]) -> Iterator[Any]:
        """Record batches of all files; an error says at which file and row it came."""
        row = 0
        for file in self.files:
            self._first_rows[file] = row
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
                raise self._broken(file, row, error) from error
        self._n_rows = row

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
        columns: dict[str, list[str]] = {}
        for name, kind in self.kinds.items():
            columns.setdefault(_PLURAL[kind], []).append(name or "''")
        return "; ".join(f"{kind} {shown(names)}" for kind, names in columns.items()) or "none"

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
        # The least value is NaN where any is, and -1 is the code of a missing category.
        least = values.min(initial=0)
        if not (least < 0 if nominal else np.isnan(least)):
            return values
        absent = values < 0 if nominal else np.isnan(values)
        refuse_gap(self.missing, name, absent, first_row)
        if nominal and (self.as_frame or self.missing != "nan"):
            return values  # code -1, which a frame shows as missing
        return np.where(absent, float(self.missing), values)

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
                self._check_categories(name, found[name], complete=True)
            self._categories |= found
        return {name: self._categories[name] for name in columns}

    def _scan_categories(self, columns: list[str]) -> dict[str, list[Any]]:
        """Find the values of undeclared nominal columns in one pass over these alone."""
        distinct: dict[str, set[Any]] = {name: set() for name in columns}
        for batch in self._batches(columns) if columns else ():
            for name, values in distinct.items():
                values.update(values_of(batch.column(name)))
                self._check_categories(name, values, complete=False)
        if distinct.get(self.target) == set():
            raise ValueError(f"The target column {self.target!r} has no labels.")
        return {name: in_order(values) for name, values in distinct.items()}

    def _check_categories(self, name: str, values: Collection[Any], *, complete: bool) -> None:
        """Raise an error if values are too many to be categories, or are numbers."""
        chosen = name in self.nominal
        free = chosen or name in self._declared_nominal()
        most = self.max_categories or _MOST_CATEGORIES
        if name == self.target or (chosen and self.max_categories is None):
            if len(values) > _MAX_CLASSES:
                raise ValueError(
                    f"Column {name!r} has more than {_MAX_CLASSES:,} different values, so it "
                    "contains texts or identifiers, not categories."
                )
            most = _MAX_CLASSES
        too_many = len(values) > most and (chosen or not free)
        if not free and (complete or too_many):
            self._refuse_numbers(name, values)
        if too_many and (words := words_of_dates(name, values)):
            raise ValueError(words)
        if too_many:
            raise ValueError(
                f"Column {name!r} has more than {most:,} different texts, so it looks like free "
                "text, an identifier, or dates not written as 2020-01-31; codes for them would "
                f"mean nothing to a model. Leave it out with exclude=[{name!r}], or raise "
                f"max_categories=. Text for a HashingVectorizer is read with text={name!r}."
            )

    def _refuse_numbers(self, name: str, values: Collection[Any]) -> None:
        """Raise an error where texts write numbers in another way, or stand among numbers."""
        texts = sorted(value for value in values if isinstance(value, str))
        odd = [text for text in texts if not _NUMBER.fullmatch(text)]
        n_numbers = len(texts) - len(odd)
        few = n_numbers >= _MANY_NUMBERS and 0 < len(odd) <= _FEW_TEXTS * len(texts)
        commas = all(map(_WITH_COMMA.fullmatch, odd))
        # Where types are found, texts of numbers alone are those with another decimal sign.
        commas = commas if odd else bool(self._finds_types and texts)
        if commas or (few and name != self.target):
            raise ValueError(
                f"Column {name!r} contains numbers, but also the text {(odd or texts)[0]!r}, so "
                f"the whole column would be read as categories. {self._about_texts} If they are "
                "categories, list the column in nominal=."
            )

    def _scan_classes(self) -> NDArray[Any] | None:
        found = []
        for labels in self.labels():
            try:
                found.append(distinct_labels(labels))
            except ValueError:  # fractional targets
                return None
        if not found:
            raise ValueError(f"The stream is empty: {self._in_words()} has no row.")
        if not any(map(len, found)):
            raise ValueError(f"The target column {self.target!r} has no labels.")
        return joined_classes([labels for labels in found if len(labels)])

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
        """Check the names of columns that the user gave, and return those of the features."""
        one = {"target": self.target, **self._meta, **({"sort_by": self.sort_by or None})}
        given = {key: [name] for key, name in one.items() if name is not None}
        read = {"nominal": self.nominal, "numeric": self.numeric, "text": self.text}
        some = {"columns": columns or [], "exclude": exclude or []}
        for parameter, wanted in (
            given | read | some | {"time_format": list(self.time_format)}
        ).items():
            for name in wanted:
                if name not in names:
                    meant = did_you_mean(name, names) if len(names) > 1 else ""
                    sign = next((one for one in ";\t|" if one in names[0]), ";")
                    raise ValueError(
                        f"{parameter} names the column {name!r}, which is not in {self.files[0]}."
                        f"{meant} Columns: {shown(list(map(repr, names)))}."
                        f"{'' if meant else self._about_names.replace(repr(';'), repr(sign))}"
                    )
                ways = [f"{way}=" for way, listed in read.items() if name in listed]
                if len(ways) > 1:
                    raise ValueError(f"Column {name!r} is named in {' and in '.join(ways)}.")
        reserved = {self.target, *self._meta.values()}
        for parameter, wanted in {"columns": columns or [], "text": self.text}.items():
            for name in wanted:
                if name in reserved:
                    raise ValueError(
                        f"{parameter} names the column {name!r}, which is the target or meta data, "
                        "not a feature."
                    )
        if self.target in (exclude or []):
            raise ValueError(
                f"exclude= names the column {self.target!r}, which is the target, so it is never a "
                "feature. Remove it from exclude=, or choose another target."
            )
        if self.text and not self.as_frame:
            if len(self.text) > 1 or columns not in (None, self.text):
                raise ValueError(
                    f"text={self.text[0]!r} makes X the texts of that column alone, but there are "
                    f"more: {columns or self.text}. Pass as_frame=True to have texts next to other "
                    "features, in a data frame."
                )
            return self.text
        if columns is not None:
            return [name for name in columns if name not in (exclude or [])]
        dropped = self._not_features() if exclude is None else set(exclude)
        return [name for name in names if name not in reserved | dropped]

    def _role(self, name: str, kind: Any) -> str:
        """Return the kind of a column; the user's choice comes before its type."""
        if name in self.time_format:
            return TIME
        if name in self.nominal:
            return NOMINAL
        if name in self.numeric:
            return NUMBER
        role = role_of(name, kind)
        if name not in self.text:
            return role
        if role != NOMINAL and str(kind) != "null":
            raise TypeError(f"text names the column {name!r}, which contains {kind}, not texts.")
        return TEXT

    def _check_same_columns(self, types: dict[str, Any], file: str) -> None:
        """Raise an error if a file has other columns than the first, before any row is read."""
        more = [name for name in types if name not in self._arrow_types]
        if more and self._all_columns:
            raise ValueError(
                f"Column {more[0]!r} is in {file}, but absent in {self.files[0]}. All files of a "
                "stream must have the same columns; columns= selects the ones to read."
            )
        for name, expected in self._roles.items():
            role = self._role(name, types[name]) if name in types else "absent"
            if role != expected and not (
                {role, expected} == {INTEGER, NUMBER} and name in self._features
            ):
                raise ValueError(
                    f"Column {name!r} is {role} in {file}, but {expected} in {self.files[0]}. All "
                    "files of a stream must have the same columns. List columns of mixed values "
                    "in nominal=."
                )


def names_given(names: Any, parameter: str) -> Any:
    """Column names as a list, of one where a text is given; None stays None."""
    if names is None:
        return None
    found = [names] if isinstance(names, str) else list(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{parameter} must contain column names. Got {name!r} instead.")
        if found.count(name) > 1:
            raise ValueError(f"{parameter} names the column {name!r} twice.")
    return found


def check_encoding(encoding: Any) -> str:
    """Raise an error unless the value is the name of an encoding."""
    if not isinstance(encoding, str):
        raise TypeError(f"encoding must be a name, such as 'utf-8'. Got {encoding!r} instead.")
    try:
        "".encode(encoding)  # unlike a look-up, refuses codecs of no text
    except LookupError:
        raise ValueError(f"There is no encoding of the name {encoding!r}.") from None
    return encoding


def _check_missing(missing: Any) -> str | float:
    """Raise an error unless the value is a rule for missing values."""
    if missing in ("nan", "error"):
        return str(missing)
    if isinstance(missing, Real) and not isinstance(missing, bool) and math.isfinite(missing):
        return float(missing)
    raise ValueError(f"missing must be 'nan', 'error' or a finite number. Got {missing!r} instead.")
