"""Containers of rows: arrays, CSR matrices, pandas and polars frames."""

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.utils._masked import unmasked
from skstream.utils._optional import optional_import

# Values looked at to see whether an array without columns holds texts.
_LOOKED_AT = 1000
DENSE = "dense array"


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas or polars frame."""
    if type(X).__module__.partition(".")[0] == "polars":
        return type(X).__name__ in ("DataFrame", "LazyFrame")
    return hasattr(X, "iloc") and hasattr(X, "columns")


def as_rows(X: Any, *, texts: bool = False) -> Any:
    """Features as something whose rows can be sliced: frame, CSR matrix or array.

    Frames, arrays, memory maps and CSR matrices are returned as they are. Masked arrays become
    plain ones with NaN where they are masked. One-dimensional arrays of texts are an error, unless
    `texts` is true.
    """
    if type(X) is np.ndarray and X.ndim == 2:
        return X
    if is_frame(X):
        if not hasattr(X, "shape"):
            raise TypeError(f"X is a polars {type(X).__name__}. Pass X.collect() instead.")
        return X
    if sparse.issparse(X):
        X = X if X.format == "csr" else X.tocsr()
    else:
        X = unmasked(X, numbers=True)
        if not isinstance(X, np.ndarray):
            X = _array_of_rows(X)
    text = _first_text(X) if X.ndim == 1 else None
    if X.ndim == 2 or (texts and text is not None):
        return X
    if text is not None:
        raise ValueError(
            f"X holds {len(X):,} raw texts (one is {reprlib.repr(text)}), but rows need columns. "
            f"Either turn the texts into numbers first, X = HashingVectorizer().transform(texts), "
            f"or put them into a data frame with one column and let the model be "
            f"make_stream_pipeline(ColumnTransformer([('words', HashingVectorizer(), 'text')]), "
            f"...), where 'text' is the name of that column."
        )
    hint = ""
    if X.ndim == 1:
        n = len(X)
        hint = (
            f" Pass X.reshape(1, -1) if these are the features of one row ({n} features), or "
            f"X.reshape(-1, 1) if they are the rows of one feature ({n} rows)."
        )
    raise ValueError(f"X must have the shape (n_rows, n_features). Got shape {X.shape}.{hint}")


def _array_of_rows(X: Any) -> NDArray[Any]:
    try:
        return np.asarray(X)
    except ValueError as error:
        widths = [np.size(row) for row in X]
        other = next((i for i, width in enumerate(widths) if width != widths[0]), None)
        if other is None:
            raise
        raise ValueError(
            f"Row {other} of X has {widths[other]} features, but row 0 has {widths[0]}."
        ) from error


def _first_text(X: NDArray[Any]) -> str | bytes | None:
    """First text in an array of one dimension; None if there is none among its first values."""
    if X.dtype.kind not in "USOT":
        return None
    first = (value for value in X[:_LOOKED_AT].tolist() if isinstance(value, (str, bytes)))
    return next(first, None)


def take_rows(X: Any, rows: slice | NDArray[np.intp]) -> Any:
    """Rows of `X` in a slice or at an index: a view where they are consecutive, else a copy."""
    if not isinstance(rows, slice):
        n = len(rows)
        if n and rows[-1] - rows[0] == n - 1 and (n < 3 or bool((np.diff(rows) == 1).all())):
            start = int(rows[0])
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
    values = rows.to_numpy()
    if all(stride >= 0 for stride in values.strides):
        return rows.copy()
    # `df[list("edcba")]` may be a view with a negative stride; a plain copy has a positive one.
    return type(rows)(own_rows(values), index=rows.index, columns=rows.columns, copy=False)


def not_finite(rows: Any) -> NDArray[np.bool_]:
    """Mask of the rows with NaN or infinity; of no row where that cannot be found."""
    values = getattr(rows, "toarray", lambda: rows)()
    try:
        finite = np.isfinite(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        finite = np.ones((rows.shape[0], 1), dtype=bool)
    bad: NDArray[np.bool_] = np.any(~finite, axis=1)
    return bad


def kind_of(X: Any) -> str:
    """Kind of container of rows, in words."""
    if is_frame(X):
        return f"{type(X).__module__.partition('.')[0]} frame"
    return "sparse matrix" if sparse.issparse(X) else DENSE


@dataclass(frozen=True, slots=True)
class Schema:
    """What all rows of a stream share.

    Attributes
    ----------
    kind : str
        Kind of container, in words.
    width : int
        Number of columns.
    names : list or None
        Names of the columns of a frame.
    """

    kind: str
    width: int
    names: list[Any] | None

    @classmethod
    def of(cls, X: Any) -> "Schema":
        """Return the schema of some rows."""
        return cls(kind_of(X), X.shape[1], list(X.columns) if is_frame(X) else None)

    def check(self, X: Any, first_row: int) -> None:
        """Raise an error if rows, of which the first has a number, differ from those before."""
        if type(X) is np.ndarray and self.kind == DENSE and X.shape[1] == self.width:
            return
        found = Schema.of(X)
        if found.kind != self.kind:
            raise ValueError(
                f"X is a {found.kind} in the chunk that starts at row {first_row}, and a "
                f"{self.kind} in the chunks before it. Use one kind throughout."
            )
        if found.width != self.width:
            raise ValueError(
                f"Row {first_row} has {found.width} features, but the rows before it have "
                f"{self.width}. Every row of a stream must have the same features."
            )
        for place, (now, before) in enumerate(
            zip(found.names or (), self.names or (), strict=True)
        ):
            if now != before:
                raise ValueError(
                    f"The columns change at row {first_row}: column {place} is {now!r}, but it "
                    f"was {before!r} in the rows before it. Use the same columns in the same order."
                )
