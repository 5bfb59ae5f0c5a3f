"""What is given to a search as rows: checked, as a stream."""

from typing import Any

import numpy as np
from joblib import effective_n_jobs

from skstream.base import check_labels, check_rows, check_some_weight, check_targets, check_weight
from skstream.streams import Stream, as_stream
from skstream.streams._arrays import begins_again, refuse_chunks
from skstream.streams._stream import refuse_endless
from skstream.utils._validation import is_regressor


def stream_of(search: Any, X: Any, y: Any, sample_weight: Any) -> Stream:
    """Return what `fit` is given as a stream."""
    if y is not None and isinstance(X, Stream):
        raise ValueError(
            f"X is a {type(X).__name__}, which brings its own labels, and y was given too. "
            "Leave y out."
        )
    if y is not None or hasattr(X, "shape"):
        refuse_chunks(X, "y")
        X, y = checked_rows(search, X, y, reset=True)
        weight = check_weight(sample_weight, len(y))
        check_some_weight(weight)
        return as_stream(X, y, sample_weight=weight)
    stream = as_stream(X, sample_weight=sample_weight)
    refuse_endless(stream)
    in_workers = search.race is None and effective_n_jobs(search.n_jobs) > 1
    if in_workers and not begins_again(stream):
        raise ValueError(
            f"n_jobs={search.n_jobs} needs a stream that can be read again, by every worker, and "
            "this one is a one-shot iterator. Pass the generator function itself instead of "
            "its result, a list of chunks, or files; or n_jobs=None."
        )
    return stream


def checked_rows(search: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    """Check rows as scikit-learn's estimators do; values may be missing."""
    X = check_rows(search, X, reset=reset, texts=True)
    if y is not None and (search.missing_labels == "skip" or _has_none(y)):
        return X, y  # the run names the row, where that is an error
    return X, (check_targets if is_regressor(search.estimator) else check_labels)(search, y)


def _has_none(y: Any) -> bool:
    """Whether a label is missing, which would be compared with texts in vain."""
    values = np.asarray(y)
    return values.dtype == object and any(one is None for one in values.ravel().tolist())
