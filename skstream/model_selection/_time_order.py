"""Guards of the order of time in scikit-learn's model selection."""

import numbers
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from skstream.utils._sklearn import n_rows_of
from skstream.utils._warnings import warn

__all__ = ["FutureLeakWarning", "check_time_order"]


class FutureLeakWarning(UserWarning):
    """A model is tested on rows that come before rows it was trained on, or out of order.

    See Also
    --------
    PrequentialSplit : Trains on the first rows and tests on those that follow.

    Examples
    --------
    >>> import warnings
    >>> from skstream.model_selection import FutureLeakWarning
    >>> warnings.simplefilter("error", FutureLeakWarning)  # for the tests of a project
    """


def check_time_order(cv: Any, X: Any, y: Any = None, groups: Any = None, **params: Any) -> Any:
    """Warn if a splitter trains on rows that it tests or that come after them, or shuffles rows.

    Scikit-learn's searches show a scorer and an estimator neither the splitter nor the other part
    of the rows. Ask here, where the splitter and all rows are known:
    ``GridSearchCV(..., cv=check_time_order(cv, X, y))``.

    Parameters
    ----------
    cv : splitter, or iterable of (train, test)
        What ``cv=`` gets. Numbers of folds are refused.
    X : array-like of shape (n_rows, n_features)
        The rows, oldest first.
    y : array-like of shape (n_rows,), default=None
        Labels, for splitters that look at them.
    groups : array-like of shape (n_rows,), default=None
        Groups, for splitters that look at them.
    **params
        What else ``cv.split`` takes: ``times=times`` for a window splitter that gets them by
        metadata routing.

    Returns
    -------
    cv : splitter or list of (train, test)
        What was given; an iterable as a list.

    Raises
    ------
    ValueError
        If `cv` is None or a number: scikit-learn makes folds of it, and all but the last are
        trained on the future. If it is no splitter, or yields no positions of rows; or if there
        are `params` and no splitter.
    TypeError
        If the splitter does not take the `params`.

    Warns
    -----
    FutureLeakWarning
        Names the first split that trains on the future or on a row that it tests, whose rows are
        not in order, or that tests a row twice; or the row where the index of a data frame (row
        numbers or times; of several levels the first that holds times) goes back or has no time.

    Notes
    -----
    Only positions are looked at. Whether labels are known in time (`gap` and `label_times` of the
    splitters) is a matter of the training part there, and of `DelayedEvaluator` along test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from skstream.model_selection import check_time_order
    >>> check_time_order(TimeSeriesSplit(3), np.zeros((20, 1))).get_n_splits()
    3
    """
    check_consistent_length(X, y)
    if cv is None or isinstance(cv, numbers.Integral):
        raise ValueError(
            f"cv={cv!r} makes folds, and all but the last are trained on rows that come after "
            f"their test rows. Use PrequentialSplit(n_warmup={max(1, n_rows_of(X) // 10)}) with "
            "prequential_scorer, or a walk-forward splitter: ExpandingWindowSplit, "
            "SlidingWindowSplit, or scikit-learn's TimeSeriesSplit."
        )
    is_splitter = hasattr(cv, "split") and not isinstance(cv, type | str)
    name = type(cv).__name__ if is_splitter else "cv"
    splits = cv if is_splitter else _given_splits(cv, params)
    for number, split in enumerate(cv.split(X, y, groups, **params) if is_splitter else splits):
        train, test = _parts_of(split, n_rows_of(X), f"Split {number} of {name}")
        problem = _problem(train, test)
        if problem:
            warn(
                f"Split {number} of {name} {problem} Use PrequentialSplit(n_warmup=...) with "
                "prequential_scorer, or a walk-forward splitter such as ExpandingWindowSplit.",
                FutureLeakWarning,
            )
            break
    else:
        index = _index_of(X)
        back, unknown = ("", "") if index is None else _order_of(index)
        if back:
            warn(
                f"The rows of X {back}. Splitters take rows as they stand, oldest first. Sort X "
                f"and y by time; if the index is no time, drop it: {_DROP}.",
                FutureLeakWarning,
            )
        elif unknown:
            _warn_of_unknown_order("the rows of X", unknown)
    return splits


def _given_splits(cv: Any, params: dict[str, Any]) -> list[Any]:
    """Return splits that were given themselves."""
    if isinstance(cv, type):
        raise ValueError(
            f"cv is the class {cv.__name__}. Pass one of its splitters: {cv.__name__}(...)."
        )
    if isinstance(cv, str | Mapping) or not isinstance(cv, Iterable):
        raise ValueError(
            "cv must be a splitter, such as PrequentialSplit(n_warmup=...), or an iterable of "
            f"(train, test) positions. Got {cv!r} of type {type(cv).__name__} instead."
        )
    if params:
        raise ValueError(
            f"{', '.join(params)} would go to cv.split, but cv holds its splits already."
        )
    return list(cv)


def _parts_of(split: Any, n_rows: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the rows to train on and to test on."""
    with suppress(TypeError, ValueError):
        train, test = (_positions(rows, n_rows) for rows in split)
        return train, test
    shown = repr(split)
    raise ValueError(
        f"{name} must be a pair (train, test) of positions of rows, from 0 to {n_rows - 1:,}, or "
        f"of masks of {n_rows:,} values. Got {shown if len(shown) < 200 else shown[:200] + '...'}"
    )


def _positions(rows: Any, n_rows: int) -> np.ndarray:
    rows = np.asarray(rows)
    if rows.shape == (0,):  # a list without rows would be one of floats
        return np.zeros(0, dtype=np.intp)
    if rows.dtype == bool and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if (
        rows.dtype.kind not in "iu"
        or rows.ndim != 1
        or rows.min() < -n_rows
        or rows.max() >= n_rows
    ):
        raise ValueError
    from_the_end: np.ndarray = np.where(rows < 0, rows + n_rows, rows)  # as NumPy takes them
    return from_the_end


def _problem(train: np.ndarray, test: np.ndarray) -> str:
    """Say what is wrong with a split; empty if it keeps the order of time."""
    if not len(train) or not len(test):
        return ""
    both = np.intersect1d(train, test)
    if len(both):
        more = f" and {len(both) - 1:,} more" if len(both) > 1 else ""
        return f"trains on row {both[0]:,}{more} and tests it too: the model knows the label."
    late = int(np.count_nonzero(train > test.min()))
    if late:
        return (
            f"tests row {test.min():,} and trains on {late:,} "
            f"{'row that comes' if late == 1 else 'rows that come'} after it (up to row "
            f"{train.max():,}): the model has seen the future of that row."
        )
    repeated = np.flatnonzero(np.diff(np.sort(test)) == 0)
    if len(repeated):
        row = np.sort(test)[repeated[0]]
        return f"tests row {row:,} more than once: it counts more than others, and is learnt again."
    for part, rows in (("training", train), ("test", test)):
        if len(rows) > 1 and (np.diff(rows) < 0).any():
            return f"has its {part} rows in shuffled order: they are not learnt as they came."
    return ""


_DROP = "X.reset_index(drop=True)"

# What indexes of row numbers, and of times, say that they hold. Texts name rows.
_NUMBERS = frozenset({"integer", "floating", "mixed-integer-float"})
_TIMES = frozenset({"datetime64", "datetime", "date", "period", "timedelta64", "timedelta"})


def _index_of(X: Any) -> Any:
    """Return the index of a data frame if it may be one of times or row numbers, else None.

    Of several levels, the first that holds times; numbers there are those of customers, say.
    """
    index: Any = getattr(X, "index", None)
    if not hasattr(index, "is_monotonic_increasing"):
        return None
    levels = [index.get_level_values(i) for i in range(index.nlevels)]
    kinds = _TIMES if len(levels) > 1 else _TIMES | _NUMBERS
    return next((level for level in levels if _kind_of(level) in kinds), None)


def _kind_of(index: Any) -> str:
    # Missing times among objects would be a mixture.
    return str((index.dropna() if index.dtype == object else index).inferred_type)


def _order_of(index: Any) -> tuple[str, str]:
    """Say where an index goes back, or else why its order is not known; empty if it is in order."""
    if index.is_monotonic_increasing:
        return "", ""
    try:
        ranks = index.factorize(sort=True)[0]  # -1: missing
    except TypeError as error:
        return "", f"times in the index cannot be compared ({error})"
    rows = np.flatnonzero(ranks >= 0)
    back = np.flatnonzero(np.diff(ranks[rows]) < 0)
    if len(back):
        before, row = rows[back[0] : back[0] + 2]
        return f"go back in time: row {row} has the index {index[row]}, after {index[before]}", ""
    row = int(np.argmax(ranks < 0))
    return "", f"row {row} has the index {index[row]}, which is no place in time"


def _warn_of_unknown_order(rows: str, why: str) -> None:
    warn(
        f"Of {rows}, {why}: whether they are in the order of time is not known. Give every row a "
        f"time of one kind; if the index is no time, drop it: {_DROP}.",
        FutureLeakWarning,
    )


def warn_of_index(X: Any) -> None:
    """Warn if the index of a data frame shows that its rows are no part of a stream that follows.

    Positions are not known to a scorer; an index of times or row numbers is, where there is one.
    """
    index = _index_of(X)
    if index is None:
        return
    what, unknown = _order_of(index)
    values = np.asarray(index)
    if unknown:
        _warn_of_unknown_order("the test rows", unknown)
        return
    if what:
        pass
    elif values.dtype.kind == "i" and len(values) and values[0] == 0 and values[-1] >= len(values):
        # Folds of a frame with row numbers: one of them has the very first row, but not the next.
        gap = int(np.flatnonzero(values != np.arange(len(values)))[0])
        what = f"begin with row 0 of their frame, and leave out others (row {gap})"
    else:
        return
    warn(
        f"The test rows {what}. If a splitter has chosen them so (cv=5, KFold or any that "
        "shuffles), the model was trained on rows that come after these. Use "
        "PrequentialSplit(n_warmup=...) on rows in the order of time; if the index is no time, "
        f"drop it: {_DROP}.",
        FutureLeakWarning,
    )
