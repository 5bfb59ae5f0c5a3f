"""Checks of scikit-learn that need not be made again for every row of a block."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context

from skstream.engine.block import Block
from skstream.engine.kernels.registry import changed_methods
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_fitted

# Models of which nothing is checked for NaN and infinity but the rows, targets and weights given:
# in those of other models, numbers that were computed from them may be, too.
_MODELS = {
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "SGDClassifier",
    "SGDRegressor",
}


def checks_only_rows(estimator: Any) -> bool:
    """Whether an estimator is one of scikit-learn's own that checks what it is given, no more."""
    kind = type(estimator)
    is_known = kind.__name__ in _MODELS and kind.__module__.startswith("sklearn.")
    return is_known and changed_methods(estimator) is None


def checked_once(estimator: Any, block: Block) -> AbstractContextManager[Any]:
    """Context in which a model that `checks_only_rows` need not look for NaN row by row.

    Only where all rows of the block are known to be finite, so that no error is lost. A fitted
    model has had its parameters checked by its first call, and does not check them again.
    """
    if not is_fitted(estimator) or block.company is not None:
        return nullcontext()
    given = [take_rows(block.learn_X, block.learn_index), take_rows(block.ask_X, block.ask_index)]
    if not all(map(_is_finite, given)) or not np.isfinite(block.y).all():
        return nullcontext()
    context: AbstractContextManager[Any] = config_context(
        assume_finite=True, skip_parameter_validation=True
    )
    return context


def _is_finite(X: Any) -> bool:
    values = X.data if sparse.issparse(X) else X
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())
