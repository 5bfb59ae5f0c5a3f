"""Losses of probabilities row by row: the logarithmic and the Brier score, as in scikit-learn."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.metrics._columns import Column
from skstream.metrics._rows import Array, Floats, ScoredRows

# As scikit-learn clips probabilities of this type, so that one row never costs infinity.
_EPS = float(np.finfo(np.float64).eps)
#: Largest logarithmic loss of a row.
HIGHEST_LOG_LOSS = float(-np.log(_EPS))


@dataclass(frozen=True)
class LogLoss(Column):
    """Minus the logarithm of the probability of the label."""

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the loss of every row."""
        return (log_losses(rows.y, rows.s),), None


@dataclass(frozen=True)
class BrierLoss(Column):
    """Squared distance of the probabilities from 1 for the label and 0 for the others."""

    def read(self, rows: ScoredRows, state: Any) -> tuple[tuple[Floats], Any]:
        """Return the loss of every row."""
        return (brier_losses(rows.y, rows.s),), None


def label_probabilities(y: Array, scores: Floats) -> Floats:
    """Probability of each row's label."""
    if scores.shape[1] == 1:
        second = scores[:, 0]
        return np.where(y == 1, second, 1.0 - second)
    probabilities: Floats = scores[np.arange(len(y)), y]
    return probabilities


def log_losses(y: Array, scores: Floats) -> Floats:
    """Logarithmic loss of each row, of probabilities clipped to [eps, 1 - eps]."""
    probabilities = label_probabilities(y, scores)
    np.clip(probabilities, _EPS, 1.0 - _EPS, out=probabilities)
    np.log(probabilities, out=probabilities)
    return np.negative(probabilities, out=probabilities)


def brier_losses(y: Array, scores: Floats) -> Floats:
    """Brier score of each row: of two classes for the second alone, else summed over classes."""
    if scores.shape[1] == 1:
        error = scores[:, 0] - y
        return np.multiply(error, error, out=error)
    errors = scores.copy()
    errors[np.arange(len(y)), y] -= 1.0
    losses: Floats = np.einsum("ij,ij->i", errors, errors)
    return losses
