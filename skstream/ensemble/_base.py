"""What the ensembles have in common: members, their seeds, and the rows they share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream._meta import MetaClassifier, check_divisible_rows
from skstream.utils._rows import best_columns
from skstream.utils._seeds import drawn_seed, seed_estimator
from skstream.utils._validation import unfitted_copy

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class Ensemble(MetaClassifier):
    """A classifier that asks and teaches several copies of another one, its members."""

    # Answers to the rows of one call do not depend on each other.
    _asks_row_by_row = False

    random_state: Any
    estimators_: list[Any]
    n_rows_learnt_: int
    seed_: int

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_divisible_rows(self, X, reset=reset)

    def _fitted_models(self) -> list[Any]:
        return self.estimators_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "Ensemble":
        """Learn rows in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required at the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is not learnt and changes nothing.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        TypeError
            If the model inside is no classifier with the methods needed.
        ValueError
            If `classes` is missing at the first call, a label is not among them, or the rows
            have another width than before.
        """
        super().partial_fit(X, y, classes, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels; of classes that are equally probable the first.
        """
        best = best_columns(self.predict_proba(X))  # raises NotFittedError first
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        return self._probabilities(self._check_rows(X, reset=False))

    def _probabilities(self, X: Any) -> Floats:
        """Return class probabilities of checked rows."""
        raise NotImplementedError


def start_seed(ensemble: Any) -> int:
    """Seed that an ensemble uses: the one in use, or a new one."""
    return int(ensemble.seed_) if hasattr(ensemble, "seed_") else drawn_seed(ensemble.random_state)


def fresh_member(ensemble: Any, seed: int, *place: int) -> Any:
    """Unfitted copy of the model of an ensemble, with the seeds of its place.

    All its seeds are replaced, also those that the user gave: members must not be alike.
    """
    model = unfitted_copy(ensemble.estimator)
    if hasattr(model, "get_params"):
        paths = model.get_params(deep=True)
        own = [p for p in paths if p == "random_state" or p.endswith("__random_state")]
        model.set_params(**dict.fromkeys(own))
    return seed_estimator(model, seed, "member", *place)
