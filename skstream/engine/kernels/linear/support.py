"""Which linear estimators the kernels execute exactly; in doubt, none."""

import functools
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.linear_model import SGDClassifier

from skstream.engine.kernels.base import Task
from skstream.engine.kernels.linear.blocks import learn_dense, learn_single, raw_answers
from skstream.engine.kernels.linear.loops import Learns
from skstream.engine.kernels.linear.settings import is_one_class, read_settings, refused_parameter
from skstream.engine.sharing import key_of
from skstream.utils._numba import numba_enabled
from skstream.utils._validation import is_fitted

_ACCEPTED: dict[bytes, bool] = {}
_MOST_REMEMBERED = 4096


def refused(estimator: Any, task: Task) -> str | None:
    """Which parameter or state, or this machine's arithmetic, has no kernel; None: none."""
    if task.batch_size > 1:
        return f"batch_size={task.batch_size}"
    # What warns is refused by its parameter, before anything is tried.
    try:
        parameter = refused_parameter(estimator)
    except (TypeError, ValueError):
        return "parameters that it refuses"
    if parameter is not None:
        return parameter
    if not _is_accepted_by_sklearn(estimator, task):
        return "parameters that it refuses"
    if is_fitted(estimator) and not _can_be_taken_up(estimator, task):
        return "a fitted state of another kind than partial_fit leaves for these classes"
    return (
        None if agrees_with_sklearn(np.float64, numba_enabled()) else "this processor's arithmetic"
    )


def _is_accepted_by_sklearn(estimator: Any, task: Task) -> bool:
    """Whether a copy learns one row without an error; errors are left to the loop.

    Warnings are not looked for, because their filters belong to the whole process: other
    threads would be affected. Of the parameters that are not refused before, none warns.
    """
    unfitted = {name: value for name, value in vars(estimator).items() if name[-1] != "_"}
    # Candidates of a search, and folds, have the same parameters over and over.
    key = key_of(type(estimator), unfitted, task.classes, get_config())
    if key is None or (accepted := _ACCEPTED.get(key)) is None:
        accepted = _learns_a_row(estimator, unfitted, task)
        if key is not None:
            if len(_ACCEPTED) >= _MOST_REMEMBERED:
                _ACCEPTED.clear()
            _ACCEPTED[key] = accepted
    return accepted


def _learns_a_row(estimator: Any, unfitted: dict[str, Any], task: Task) -> bool:
    copy = object.__new__(type(estimator))  # the constructor of a deprecated class warns
    vars(copy).update(unfitted, verbose=0, random_state=0)
    try:
        if task.classes is None or is_one_class(estimator):
            copy.partial_fit(np.zeros((1, 1)), [0.0])
        else:
            copy.partial_fit(np.zeros((1, 1)), task.classes[:1], classes=task.classes)
    except Exception:
        return False
    return True


def _can_be_taken_up(estimator: Any, task: Task) -> bool:
    """Whether a fitted state is complete, of this task, and of a precision that learning leaves."""
    fitted, alone = vars(estimator), task.classes is None or is_one_class(estimator)
    intercept = "offset_" if is_one_class(estimator) else "intercept_"
    if not {"coef_", intercept, "t_", "n_iter_", "n_features_in_"} <= fitted.keys():
        return False
    d = fitted["n_features_in_"]
    if alone:
        shapes: list[tuple[int, ...]] = [(d,), (1,)]
    elif task.classes is None or not np.array_equal(fitted.get("classes_", ()), task.classes):
        return False
    else:
        n_vectors = 1 if len(task.classes) == 2 else len(task.classes)
        shapes = [(n_vectors, d), (n_vectors,)]
    arrays = [fitted["coef_"], fitted[intercept]]
    precision = np.float32 if getattr(arrays[0], "dtype", None) == np.float32 else np.float64
    precisions = [precision, np.float64 if shapes[1] == (1,) else precision]
    return (
        all(
            isinstance(array, np.ndarray)
            and array.dtype == dtype
            and array.shape == shape
            and np.isfinite(array).all()
            for array, dtype, shape in zip(arrays, precisions, shapes, strict=True)
        )
        and float(fitted["t_"]).is_integer()
    )


@functools.cache
def agrees_with_sklearn(dtype: type[np.floating[Any]], compiled: bool) -> bool:
    """Whether the arithmetic of this machine and this scikit-learn is ours, to the last bit.

    Compilers may fuse a product and a sum into one rounding (usual on ARM), and another version
    may compute otherwise; after 40 rows of the default schedule both make a difference. Decision
    values in float32 are compared, too.
    """
    n, d = 40, 5
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)).astype(dtype), rng.integers(0, 2, size=n)
    model = SGDClassifier(loss="log_loss", random_state=0)
    asked = []
    for i in range(n):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        asked.append(model.decision_function(X[i : i + 1]))
    settings = read_settings(model)
    ones, none = np.ones(n), np.zeros(n + 2, dtype=np.int64)
    learns = Learns(none[:n], y.astype(np.float64), ones, ones, *settings.schedule(1.0, n))
    W, b = np.zeros((1, d), dtype), np.zeros(1)
    if model.coef_.dtype != W.dtype or model.intercept_.dtype != b.dtype:
        return False
    if dtype is np.float32:
        past = learn_single(X, learns, settings.rule, W, b)
        if not np.array_equal(raw_answers(X, np.arange(n), np.arange(1, n + 1), *past), asked):
            return False
    else:
        margins, answers = np.empty((n, 1)), np.empty((0, 1))
        learn_dense(X, learns, settings.rule, W, b, X[:0], none, margins, answers)
    return np.array_equal(W, model.coef_) and np.array_equal(b, model.intercept_)
