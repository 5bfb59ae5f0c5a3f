"""Summary of the delays of labels."""

import numpy as np

#: Delays are counted in steps of this share of their size: whole numbers up to it exactly.
STEPS = 1 << 10


class DelayCounts:
    """Mean, median and longest of the delays so far, in constant memory."""

    def __init__(self) -> None:
        self._n = 0
        self._total = 0.0
        self._longest = 0.0
        self._value = np.empty(0)
        self._count = np.empty(0, dtype=np.int64)

    def add(self, delays: np.ndarray) -> None:
        """Add the delays of rows whose label came."""
        if not len(delays):
            return
        self._n += len(delays)
        self._total += float(delays.sum())
        self._longest = max(self._longest, float(delays.max()))
        mantissa, exponent = np.frexp(delays)
        rounded = np.ldexp(np.round(mantissa * STEPS), exponent) / STEPS
        self._value, inverse = np.unique(
            np.concatenate([self._value, rounded]), return_inverse=True
        )
        counts = np.concatenate([self._count, np.ones(len(rounded), dtype=np.int64)])
        self._count = np.bincount(inverse, weights=counts).astype(np.int64)

    def summary(self) -> dict[str, float]:
        """Return mean, median (the lower one; to a thousandth of its size) and maximum."""
        if not self._n:
            return dict.fromkeys(("mean", "median", "max"), float("nan"))
        middle = np.searchsorted(np.cumsum(self._count), (self._n + 1) // 2)
        return {
            "mean": self._total / self._n,
            "median": min(float(self._value[middle]), self._longest),
            "max": self._longest,
        }
