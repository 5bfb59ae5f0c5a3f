"""Confidence interval of a share."""

import numpy as np
from scipy.special import ndtri


def wilson(share: np.ndarray, n: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Confidence interval of a share of `n` independent rows (Wilson 1927).

    With weights `n` is the number of rows of equal weight that would tell as much (Kish 1965).
    """
    z2 = ndtri(0.5 + level / 2) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)
