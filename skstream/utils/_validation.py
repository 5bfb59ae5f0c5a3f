"""Checks of models and input that several packages share."""

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has learnt something, in scikit-learn's sense."""
    if not hasattr(estimator, "fit"):  # learns by partial_fit alone
        return any(name.endswith("_") and not name.startswith("_") for name in vars(estimator))
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True
