"""What estimators that leave the features to others, or to nobody, know of their input."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import validate_data

from skstream.engine.block import Block
from skstream.engine.kernels._base import Declined, Task
from skstream.utils._validation import is_fitted


@dataclass(frozen=True, slots=True)
class Outside:
    """Number and names of the columns, where the rows have any."""

    n_features: int | None
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, estimator: Any) -> "Outside":
        """Read what an estimator knows from its fitted attributes."""
        names = getattr(estimator, "feature_names_in_", None)
        n_features = getattr(estimator, "n_features_in_", None)
        return cls(n_features, None if names is None else tuple(names))

    @classmethod
    def of_rows(cls, X: Any) -> "Outside":
        """Read what an estimator would learn from rows, as scikit-learn sees them."""
        reader = BaseEstimator()
        try:
            validate_data(reader, X, skip_check_array=True)
        except TypeError as error:  # names of mixed types: for the loop to explain
            raise Declined from error
        return cls.of(reader)

    def write(self, estimator: Any) -> None:
        """Set the fitted attributes."""
        if self.n_features is not None:
            estimator.n_features_in_ = self.n_features
        if self.names is not None:
            estimator.feature_names_in_ = np.asarray(self.names, dtype=object)


def outside_after(known: Outside | None, block: Block) -> Outside | None:
    """What is known after a block; `Declined` if its rows do not look like those before."""
    if block.n_learns:
        seen = Outside.of_rows(block.learn_X)
        if known is not None and seen != known:
            raise Declined
        known = seen
    if block.n_asks and block.ask_X is not block.learn_X and Outside.of_rows(block.ask_X) != known:
        raise Declined
    return known


def knows_classes(estimator: Any, task: Task) -> bool:
    """Whether an estimator is unfitted, or fitted with the classes of the task."""
    if not is_fitted(estimator):
        return True
    return task.classes is not None and np.array_equal(estimator.classes_, class_labels(task))


def class_labels(task: Task) -> Any:
    """Class labels as an estimator keeps them."""
    return unique_labels(task.classes)


def has_valid_parameters(estimator: Any) -> bool:
    """Whether ``fit`` would accept the parameters; if not, the loop shows its error."""
    try:
        estimator._validate_params()
    except (TypeError, ValueError):
        return False
    return True
