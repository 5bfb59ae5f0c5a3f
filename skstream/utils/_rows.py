"""Containers of rows: arrays, CSR matrices, pandas and polars frames."""

import reprlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.utils._masked import is_missing, unmasked
from skstream.utils._optional import optional_import
from skstream.utils._times import LARGEST_EXACT
from skstream.utils._warnings import warn

DENSE = "dense array"
TEXTS = "one-dimensional array of texts"


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas or polars frame."""
    if type(X).__module__.partition(".")[0] == "polars":
        return type(X).__name__ in ("DataFrame", "LazyFrame")
    return hasattr(X, "iloc") and hasattr(X, "columns")


def as_rows(X: Any, *, first_row: int = 0) -> Any:
    """Features as something whose rows can be sliced: frame, CSR matrix or array.

    Frames, arrays, memory maps and CSR matrices are returned as they are, but for 64-bit
    indices, which many models of scikit-learn refuse: they get 32 bits. Masked arrays become
    plain ones with NaN where they are masked. Arrow tables and record batches become frames. A
    list, series or array of texts is one of single texts, without columns; `first_row` is the
    number of the first one in messages.
    """
    if type(X) is np.ndarray and X.ndim == 2:
        return X
    if type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "to_pandas"):
        X = _frame_of_arrow(X)
    if is_frame(X):
        if not hasattr(X, "shape"):
            raise TypeError(f"X is a polars {type(X).__name__}. Pass X.collect() instead.")
        if not getattr(X.columns, "is_unique", True):  # pandas knows it; in polars they are
            check_no_name_twice(list(X.columns), "X")
        check_names_of_one_type(X)
        return X
    if sparse.issparse(X):
        X = _with_short_indices(X if X.format == "csr" else X.tocsr())
    else:
        X = unmasked(X, numbers=True)
        if not isinstance(X, np.ndarray):
            X = array_of_rows(X)
    if X.ndim == 2:
        return X
    texts = _as_texts(X, first_row)
    if texts is not None:
        return texts
    hint = " Put a single text into a list." if X.dtype.kind in "US" else ""
    if X.ndim == 1:
        n = len(X)
        if n == 0:
            raise ValueError(f"X has no rows: its shape is {X.shape}.")
        if isinstance(X[0], Mapping):
            raise ValueError(
                f"X contains dicts (row {first_row} is {reprlib.repr(X[0])}), but rows must be "
                "numbers, rows of a frame or single texts. Pass pandas.DataFrame(X), or convert X "
                "with sklearn.feature_extraction.DictVectorizer."
            )
        hint = (
            f" Pass X.reshape(1, -1) if these are the features of one row ({n} features), or "
            f"X.reshape(-1, 1) if they are the rows of one feature ({n} rows). Only texts can be "
            "rows without columns."
        )
    raise ValueError(f"X must have the shape (n_rows, n_features). Got shape {X.shape}.{hint}")


def _with_short_indices(X: Any) -> Any:
    """CSR rows with indices of 32 bits, if these are enough."""
    most = np.iinfo(np.int32).max
    if X.indices.dtype == np.int32 or X.nnz > most or X.shape[1] > most:
        return X
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)(parts, shape=X.shape)


def _frame_of_arrow(X: Any) -> Any:
    """Return a table or a record batch of Arrow as a frame of pandas, or else of polars."""
    if not hasattr(X, "column_names") and not hasattr(X, "schema"):  # one column
        return X
    purpose = f"X is a {type(X).__name__} of Arrow, which"
    try:
        optional_import("pandas", purpose)
    except ImportError:
        return optional_import("polars", purpose).from_arrow(X)
    frame = X.to_pandas()
    for name, column in zip(X.schema.names, X.columns, strict=True):
        # pandas turns integers with nulls into floats, which do not hold them all.
        whole = column.null_count and str(column.type).strip("u").startswith("int")
        if whole and name in frame and frame[name].abs().max() >= LARGEST_EXACT:
            frame[name] = column.to_pandas(integer_object_nulls=True)
    return frame


def check_same_order(given: Mapping[str, Any], where: str = "") -> None:
    """Raise an error if pandas objects of the same rows have the same index in different orders.

    Rows are matched by position. Indexes of other values may do so, such as that of a column which
    was made anew. A feature that is the label itself causes a warning.
    """
    X: Any = given.get("X")
    label = getattr(given.get("y"), "name", None)
    if label is not None and label in getattr(X, "columns", ()) and X[label].equals(given["y"]):
        warn(
            f"Column {label!r} of X{where} is y itself, so that a model has only to repeat it. "
            f"Leave it out: X.drop(columns={label!r})."
        )
    indexes = [(name, one.index) for name, one in given.items() if hasattr(one, "iloc")]
    for name, index in indexes[1:]:
        first, expected = indexes[0]
        if index.equals(expected) or index.nlevels != expected.nlevels:
            continue
        if index.isin(expected).all() and Counter(index) == Counter(expected):
            at = int((index != expected).argmax())
            loc = f"{name}.loc[{first}.index]" if expected.is_unique else "both sorted in one way"
            raise ValueError(
                f"{name}{where} has the index of {first} in another order (position {at}: "
                f"{index[at]}, and {expected[at]} in {first}), but rows are matched by position. "
                f"Pass {loc}; or, if the positions match, {name}.to_numpy()."
            )


def check_no_name_twice(names: list[Any], where: str) -> None:
    """Raise an error if two columns have the same name."""
    numbers: dict[Any, int] = {}
    for number, name in enumerate(names):
        if name in numbers:
            raise ValueError(
                f"Columns {numbers[name]} and {number} of {where} have the same name, {name!r} "
                "(the first column is column 0). Rename one of them."
            )
        numbers[name] = number


def check_names_of_one_type(X: Any) -> None:
    """Raise an error if some columns of a data frame have texts for names, and others not."""
    if not getattr(X.columns, "inferred_type", "").startswith("mixed"):  # kept by pandas
        return
    names = list(X.columns)
    is_text = [isinstance(name, str) for name in names]
    if any(is_text) and not all(is_text):
        other = is_text.index(not is_text[0])
        raise TypeError(
            f"Column {other} of X has the name {names[other]!r} ({type(names[other]).__name__}), "
            f"and column 0 {names[0]!r} ({type(names[0]).__name__}). scikit-learn accepts no names "
            "of two types: convert them with X.columns = X.columns.astype(str)."
        )


def array_of_rows(X: Any) -> NDArray[Any]:
    """Rows as an array; in lists of numbers and texts, numbers stay numbers."""
    if isinstance(X, (list, tuple)) and any(isinstance(value, (str, bytes)) for value in X):
        # Without a type, NaN among texts would become a text, and each take the longest's room.
        return np.array(X, dtype=object)
    try:
        rows = np.asarray(X)
        if rows.dtype.kind not in "US" or not isinstance(X, (list, tuple)):
            return rows
        # NumPy turns numbers and gaps among texts into texts: keep them, as scikit-learn does.
        objects = np.array(X, dtype=object)
        are_texts = all(isinstance(value, (str, bytes)) for value in objects.ravel().tolist())
        return rows if are_texts else objects
    except ValueError as error:
        widths = [np.size(row) for row in X]
        other = next((i for i, width in enumerate(widths) if width != widths[0]), None)
        if other is None:
            raise
        raise ValueError(
            f"Row {other} of X has {widths[other]} features, but row 0 has {widths[0]}."
        ) from error


def single_texts(X: Any) -> NDArray[Any] | None:
    """Single texts, one per row and without columns, as an array; None for rows of other kinds."""
    if getattr(X, "ndim", 1) != 1 or sparse.issparse(X) or is_frame(X):
        return None
    if isinstance(X, (list, tuple)) and not (X and isinstance(X[0], (str, bytes))):
        return None
    return _as_texts(array_of_rows(X), 0)


def _as_texts(X: NDArray[Any], first_row: int) -> NDArray[Any] | None:
    """Array of one dimension that holds texts; an error if it holds other values, too."""
    if X.ndim != 1 or X.dtype.kind not in "USOT":
        return None
    if X.dtype.kind in "US":
        return X
    X = X.astype(object, copy=False)
    values = X.tolist()
    if all(issubclass(kind, (str, bytes)) for kind in set(map(type, values))):
        return X
    are_texts = [isinstance(value, (str, bytes)) for value in values]
    if not any(are_texts):
        return None
    at = are_texts.index(False)
    other = values[at]
    what = "is missing" if is_missing(other) else f"is of type {type(other).__name__}"
    raise ValueError(
        f"X holds texts, but that of row {first_row + at} {what} ({reprlib.repr(other)}). Leave "
        "such rows out, or use an empty text: X = ['' if text is missing else text ...]."
    )


def has_texts(X: Any) -> bool:
    """Whether rows are single texts, without columns."""
    return isinstance(X, np.ndarray) and X.ndim == 1


def take_rows(X: Any, rows: slice | NDArray[np.intp]) -> Any:
    """Rows of `X` in a slice or at an index: a view where they are consecutive, else a copy."""
    if not isinstance(rows, slice):
        n = len(rows)
        start = rows.item(0) if n else 0
        if n == 1 or (n and rows.item(-1) - start == n - 1 and bool((np.diff(rows) == 1).all())):
            if start == 0 and n == X.shape[0]:
                return X
            rows = slice(start, start + n)
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def copy_rows(X: Any, index: NDArray[np.intp]) -> Any:
    """Rows of `X` at an index, to be kept: the user may write into `X`, and `X` may be freed."""
    # pandas returns consecutive rows as a view of the memory of all.
    return X.iloc[index].copy() if hasattr(X, "iloc") else X[index]


def stack_rows(parts: list[Any]) -> Any:
    """Rows of several containers of one kind, stacked."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    if hasattr(first, "iloc"):
        return optional_import("pandas", "Stacking data frames").concat(parts)
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    return optional_import("polars", "Stacking data frames").concat(parts)


def joined_weights(*parts: tuple[NDArray[Any] | None, int]) -> NDArray[Any] | None:
    """Weights of parts of some rows each, one after the other; None where no part has any."""
    if all(weight is None for weight, _ in parts):
        return None
    return np.concatenate([np.ones(n) if weight is None else weight for weight, n in parts])


def own_rows(rows: Any) -> Any:
    """Copy of rows, so that writing into them changes nothing else.

    The memory layout is kept: NumPy's arithmetic on columns that are not contiguous, or in reverse
    order, may round the last digit differently.
    """
    if not isinstance(rows, np.ndarray):
        if hasattr(rows, "iloc"):
            return _own_frame(rows)
        return rows.copy() if sparse.issparse(rows) else rows
    if rows.flags.c_contiguous:
        return rows.copy()
    forwards = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in rows.strides)
    ordered = rows[forwards]
    side_by_side = [
        n > 1 and s == rows.itemsize for n, s in zip(ordered.shape, ordered.strides, strict=True)
    ]
    if any(side_by_side):
        copied = ordered.copy(order="K")
    else:
        copied = np.empty((*ordered.shape, 2), dtype=ordered.dtype)[..., 0]
        copied[...] = ordered
    return copied[forwards]


def _own_frame(rows: Any) -> Any:
    # pandas makes a new array from columns of several types, in which no stride is negative.
    if not getattr(getattr(rows, "_mgr", None), "is_single_block", True):
        return rows.copy()
    values = rows.to_numpy()
    if all(stride >= 0 for stride in values.strides):
        return rows.copy()
    # `df[list("edcba")]` may be a view with a negative stride; a plain copy has a positive one.
    return type(rows)(own_rows(values), index=rows.index, columns=rows.columns, copy=False)


def not_finite(rows: Any) -> NDArray[np.bool_]:
    """Mask of the rows with NaN or infinity; of no row where that cannot be found."""
    if has_texts(rows):
        return np.zeros(len(rows), dtype=bool)
    values = getattr(rows, "toarray", lambda: rows)()
    try:
        finite = np.isfinite(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        finite = np.ones((rows.shape[0], 1), dtype=bool)
    return np.any(~finite, axis=1)


@dataclass(frozen=True, slots=True)
class Schema:
    """What all rows of a stream share.

    Attributes
    ----------
    kind : str
        Kind of container, in words.
    width : int or None
        Number of columns; None for texts without columns.
    names : list or None
        Names of the columns of a frame.
    types : list of str
        Type of the values in each column of a frame, or in all of an array; not compared.
    """

    kind: str
    width: int | None
    names: list[Any] | None
    types: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def of(cls, X: Any, *, with_types: bool = False) -> "Schema":
        """Return the schema of some rows, with the types of their values where that is asked."""
        kind, names, types = DENSE, None, [X.dtype] if with_types and not is_frame(X) else []
        if is_frame(X):
            kind, names = f"{type(X).__module__.partition('.')[0]} frame", list(X.columns)
            types = list(X.dtypes) if with_types else []
        elif sparse.issparse(X):
            kind = "sparse matrix"
        elif X.ndim == 1:
            return cls(TEXTS, None, None, list(map(str, types)))
        return cls(kind, X.shape[1], names, list(map(str, types)))

    def check(self, X: Any, first_row: int) -> None:
        """Raise an error if rows, of which the first has a number, differ from those before."""
        if type(X) is np.ndarray and self.kind == DENSE and X.shape[1:] == (self.width,):
            return
        found = Schema.of(X)
        if found.kind != self.kind:
            raise ValueError(
                f"X is a {found.kind} in the chunk that starts at row {first_row}, but a "
                f"{self.kind} in the chunks before it. Use one kind throughout."
            )
        if found.width != self.width:
            raise ValueError(
                f"Row {first_row} has {found.width} features, but the rows before it have "
                f"{self.width}. Every row of a stream must have the same features."
            )
        for number, (now, before) in enumerate(
            zip(found.names or (), self.names or (), strict=True)
        ):
            if now != before:
                raise ValueError(
                    f"The columns change at row {first_row}: column {number} is {now!r}, but it "
                    f"was {before!r} in the rows before it. Use the same columns in the same order"
                    f"{_how_ordered(found.names, self.names)}."
                )


def _how_ordered(found: list[Any] | None, names: list[Any] | None) -> str:
    """Say how columns get another order, if that is all that differs."""
    if found is None or names is None or set(found) != set(names):
        return ""
    return f", as X[{reprlib.repr(names)}] has them"


# -- reductions along rows of few columns, which NumPy takes one row at a time


def row_sums(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """``X.sum(axis=1, keepdims=True)``, to the last bit."""
    if X.shape[1] != 2:  # of more, the order of the sum is NumPy's own
        return X.sum(axis=1, keepdims=True)
    return X[:, :1] + X[:, 1:]


def best_columns(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """``X.argmax(axis=1)``: of equal numbers the first, and NaN before any number."""
    if X.shape[1] != 2:
        return X.argmax(axis=1).astype(np.int64, copy=False)
    first, second = X[:, 0], X[:, 1]
    return (~(second <= first) & (first == first)).astype(np.int64)
