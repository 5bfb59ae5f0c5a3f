"""The only home of private scikit-learn names; version gaps are bridged here."""

from typing import Any

# Rows and columns of whatever holds them: arrays, lists, sparse matrices, data frames.
from sklearn.utils import _safe_indexing

# Constraints declared beside a class give one error sentence everywhere.
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    StrOptions,
    validate_parameter_constraints,
)

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "columns_of",
    "rows_of",
    "validate_parameter_constraints",
]


def rows_of(X: Any, index: Any) -> Any:
    """Rows of an array, list, sparse matrix or data frame at integer positions."""
    return _safe_indexing(X, index, axis=0)


def columns_of(X: Any, columns: Any) -> Any:
    """Columns of an array, sparse matrix or data frame by position, name, slice or mask."""
    return _safe_indexing(X, columns, axis=1)
