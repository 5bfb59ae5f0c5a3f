"""Answers of scikit-learn's linear classifiers from decision values."""

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.special import expit

from skstream.engine.kernels.linear.records import Floats

# Since 1.9 classes that are all impossible (margins below -745) are equally probable; before
# that their probabilities are NaN.
NORMALISES_IMPOSSIBLE = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


def codes(raw: Floats) -> NDArray[np.int64]:
    """Codes of the best classes; of classes that tie the lowest.

    Parameters
    ----------
    raw : ndarray of shape (n_asks, n_vectors)
        Decision values; one column for two classes.
    """
    if raw.shape[1] == 1:
        return (raw[:, 0] > 0).astype(np.int64)
    best: NDArray[np.int64] = raw.argmax(axis=1).astype(np.int64, copy=False)
    return best


def probabilities(raw: Floats, loss: str) -> Floats:
    """Probabilities of all classes from decision values, for the two losses that have them."""
    probability: Floats
    if loss == "log_loss":
        probability = expit(raw)
    else:
        probability = (np.clip(raw, -1, 1) + 1.0) / 2.0
    if raw.shape[1] == 1:
        return np.hstack([1 - probability, probability])
    total = probability.sum(axis=1, keepdims=True)
    if loss != "log_loss" or NORMALISES_IMPOSSIBLE:
        impossible = total[:, 0] == 0
        probability[impossible] = 1.0
        total[impossible] = probability.shape[1]
    with np.errstate(invalid="ignore"):
        probability /= total
    return probability
