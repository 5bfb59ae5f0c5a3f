"""What the transformers that learn along the stream have in common."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from skstream.base import check_rows, forget
from skstream.utils._rows import is_frame
from skstream.utils._sklearn import n_rows_of


class StreamTransformer(TransformerMixin, BaseEstimator):
    """A transformer with ``partial_fit`` whose ``fit`` forgets everything first."""

    #: Parameters without which what was learnt has another meaning.
    _learnt_with: ClassVar[tuple[str, ...]] = ()

    def fit(self, X: Any, y: Any = None) -> Any:
        """Forget everything, then learn the rows in one ``partial_fit``.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,), default=None
            Their labels or targets.

        Returns
        -------
        self : object
            The transformer itself.
        """
        forget(self)
        return self.partial_fit(X, y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name in self._takes():
            setattr(tags.input_tags, name, True)
        return tags

    def _takes(self) -> tuple[str, ...]:
        """What the rows may hold beside numbers, as scikit-learn's tags call it."""
        return "allow_nan", "string", "categorical"


def note_parameters(transformer: StreamTransformer) -> None:
    """Note the parameters with which a transformer has learnt its rows."""
    noted = {name: deepcopy(getattr(transformer, name)) for name in transformer._learnt_with}
    transformer.learnt_with_ = noted


def changed_parameter(transformer: StreamTransformer) -> str:
    """Say which parameter is another one than when rows were learnt; empty if none is."""
    for name, before in getattr(transformer, "learnt_with_", {}).items():
        now = getattr(transformer, name)
        if repr(_plain(before)) != repr(_plain(now)):
            return f"{name}={now!r} was set after training with {name}={before!r}"
    return ""


def check_parameters_unchanged(transformer: StreamTransformer) -> None:
    """Raise an error if a parameter was set with which what was learnt has another meaning."""
    changed = changed_parameter(transformer)
    if changed:
        raise ValueError(
            f"{type(transformer).__name__}: {changed}. Call fit, which starts again with it."
        )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple | np.ndarray) else value


def checked_values(transformer: Any, X: Any, *, reset: bool) -> Any:
    """Rows of any values as an array or a data frame; the number and names of columns checked.

    Lists keep their values: NumPy would make texts of numbers that are mixed with texts.
    """
    if sparse.issparse(X):
        raise TypeError(
            f"{type(transformer).__name__} accepts no sparse rows. Pass X.toarray(), or give it "
            "only the dense columns, with a ColumnTransformer."
        )
    if isinstance(X, list | tuple):
        values = np.array(X, dtype=object)
        texts = any(isinstance(value, str | bytes) for value in values.flat)
        X = values if texts else X
    return check_rows(transformer, X, reset=reset)


def holds(X: Any, place: int, value: Any, row: int) -> str:
    """Say which value a column of rows holds, and in which row of a call.

    Nothing is said of a single row, which the caller knows: an evaluator, which calls row by row,
    names the row of the stream.
    """
    name = X.columns[place] if is_frame(X) else place
    where = f" in row {row} of these rows" if n_rows_of(X) > 1 else ""
    return f"Column {name!r} holds {value!r}{where}"


def chosen_names(given: str | Sequence[str], what: str, known: Iterable[str]) -> list[str]:
    """Return one name or several of those known, each once, or raise an error."""
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in known:
            raise ValueError(f"{what}s are among {', '.join(map(repr, known))}. Got {name!r}.")
    if not names or len(set(names)) < len(names):
        wrong = f"no {what}" if not names else f"a {what} twice"
        raise ValueError(f"{what}s={given!r} has {wrong}.")
    return names
