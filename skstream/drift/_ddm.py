"""The drift detection method of Gama and others."""

import math
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skstream.core.detector import DRIFT, NORMAL, WARNING, DriftDetector
from skstream.drift._sequential import SequentialState, SequentialTest
from skstream.utils._sklearn import Interval


class DDMTest(SequentialTest):
    """An error rate compared with its lowest value."""

    def __init__(self, warning_level: float, drift_level: float, min_values: int) -> None:
        self.warning_level = warning_level
        self.drift_level = drift_level
        self.min_values = min_values
        self.n = 0
        self.n_errors = 0.0
        self.least = math.inf  # least p + s so far
        self.p_min = math.inf  # p and s there
        self.s_min = math.inf

    def scan(self, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Follow the error rate through values."""
        n = np.arange(self.n + 1, self.n + len(values) + 1)
        n_errors = self.n_errors + np.cumsum(values)  # whole numbers: exact in any order
        p = n_errors / n
        s = np.sqrt(p * (1 - p) / n)
        height = np.where(n >= self.min_values, p + s, math.inf)

        # Prepend the minimum before these values: best[i] is where p + s is least until i.
        p_all, s_all = np.append(self.p_min, p), np.append(self.s_min, s)
        least = np.minimum.accumulate(np.append(self.least, height))
        improved = np.flatnonzero(least[1:] < least[:-1]) + 1
        best = np.zeros(len(least), dtype=np.intp)
        best[improved] = improved
        best = np.maximum.accumulate(best)[1:]
        p_min, s_min = p_all[best], s_all[best]

        watched = n >= self.min_values
        levels = np.full(len(values), NORMAL, dtype=np.int8)
        levels[watched & (height > p_min + self.warning_level * s_min)] = WARNING
        levels[watched & (height > p_min + self.drift_level * s_min)] = DRIFT

        self.n += len(values)
        self.n_errors = float(n_errors[-1])
        self.least = float(least[-1])
        self.p_min, self.s_min = float(p_min[-1]), float(s_min[-1])
        return levels

    def step(self, value: float) -> int:
        """Follow the error rate through one value."""
        self.n = n = self.n + 1
        self.n_errors = n_errors = self.n_errors + value
        if n < self.min_values:
            return NORMAL
        p = n_errors / n
        s = math.sqrt(p * (1 - p) / n)
        height = p + s
        if height < self.least:
            self.least, self.p_min, self.s_min = height, p, s
        if height > self.p_min + self.drift_level * self.s_min:
            return DRIFT
        if height > self.p_min + self.warning_level * self.s_min:
            return WARNING
        return NORMAL

    def evidence(self) -> tuple[float, float]:
        """The error rate plus its deviation, and what this may not exceed."""
        if self.n < self.min_values:
            return math.nan, math.nan
        p = self.n_errors / self.n
        height = p + math.sqrt(p * (1 - p) / self.n)
        return height, self.p_min + self.drift_level * self.s_min


class DDM(DriftDetector):
    """Detect a rising error rate with the drift detection method.

    The method watches the error rate p of all values since the last alarm and its standard
    deviation s = sqrt(p (1 - p) / n), and remembers both from when p + s was smallest. An alarm is
    raised when p + s exceeds p_min + 3 s_min; the warning zone is between 2 and 3. After an alarm
    the method starts from scratch.

    Parameters
    ----------
    warning_level : float, default=2.0
        Standard deviations above the minimum at which the warning zone begins, positive.
    drift_level : float, default=3.0
        Standard deviations above the minimum at which an alarm is raised, at least `warning_level`.
    min_values : int, default=30
        Number of values, at least 1, needed before a minimum is stored or an alarm raised.

    See Also
    --------
    ADWIN : Also detects falls, and slow changes on long streams.

    Notes
    -----
    The values are losses, 1 for an error and 0 for a correct prediction. Both comparisons are
    strict: otherwise a stream with no errors, or nothing but errors, would raise an alarm at p + s
    = p_min. A first error after more than `min_values` correct predictions does raise one, since
    then p_min = s_min = 0.

    References
    ----------
    .. [1] Gama, J., Medas, P., Castillo, G. & Rodrigues, P. (2004). Learning with drift
       detection. Brazilian Symposium on Artificial Intelligence, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift import DDM
    >>> rng = np.random.default_rng(0)
    >>> losses = np.r_[rng.random(1000) < 0.2, rng.random(1000) < 0.6]
    >>> DDM().update_many(losses)
    array([1043])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "warning_level": [Interval(Real, 0, None, closed="neither")],
        "drift_level": [Interval(Real, 0, None, closed="neither")],
        "min_values": [Interval(Integral, 1, None, closed="left")],
    }

    _wanted = "DDM reads 0/1 losses: 1 for an error, else 0."

    def __init__(
        self, *, warning_level: float = 2.0, drift_level: float = 3.0, min_values: int = 30
    ) -> None:
        self.warning_level = warning_level
        self.drift_level = drift_level
        self.min_values = min_values

    def _wrong(self, values: Any) -> Any:
        return (values != 0) & (values != 1)

    def _start(self) -> SequentialState:
        if self.drift_level < self.warning_level:
            raise ValueError(
                f"drift_level={self.drift_level} is below warning_level={self.warning_level};"
                " an alarm must not come before its warning."
            )
        levels = float(self.warning_level), float(self.drift_level)
        new_test = partial(DDMTest, *levels, int(self.min_values))
        return SequentialState(new_test, reset_after_alarm=True)
