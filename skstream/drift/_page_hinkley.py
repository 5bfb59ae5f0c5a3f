"""The Page-Hinkley test."""

import math
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skstream.core.detector import DRIFT, NORMAL, DriftDetector
from skstream.drift._sequential import SequentialState, SequentialTest
from skstream.utils._running_sums import running_sums
from skstream.utils._sklearn import Interval, StrOptions

SIGNS = {"up": (1.0,), "down": (-1.0,), "both": (1.0, -1.0)}


class PageHinkleyTest(SequentialTest):
    """Page's cumulative sum against the running mean, in one or both directions."""

    def __init__(self, threshold: float, delta: float, signs: tuple[float, ...]) -> None:
        self.threshold = threshold
        self.delta = delta
        self.signs = signs
        self.n = 0
        self.origin = 0.0  # the first value; sums are taken about it
        self.total = 0.0
        self.drift = [0.0] * len(signs)  # m_t for each direction
        self.least = [math.inf] * len(signs)  # M_t for each direction

    def scan(self, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Follow the sums through values."""
        if self.n == 0:
            self.origin = float(values[0])
        centred = values - self.origin
        n = np.arange(self.n + 1, self.n + len(values) + 1)
        total = running_sums(self.total, centred)[1:]
        steps = np.outer(self.signs, centred - total / n) - self.delta
        drift = np.array([running_sums(d, s)[1:] for d, s in zip(self.drift, steps, strict=True)])
        least = np.minimum(np.minimum.accumulate(drift, axis=1), np.array(self.least)[:, None])
        alarms = (drift - least >= self.threshold).any(axis=0)
        self.n += len(values)
        self.total = float(total[-1])
        self.drift, self.least = drift[:, -1].tolist(), least[:, -1].tolist()
        return np.asarray(alarms * DRIFT, dtype=np.int8)

    def step(self, value: float) -> int:
        """Follow the sums through one value."""
        if self.n == 0:
            self.origin = value
        self.n = n = self.n + 1
        centred = value - self.origin
        self.total = total = self.total + centred
        deviation = centred - total / n
        level = NORMAL
        for place, sign in enumerate(self.signs):
            self.drift[place] = drift = self.drift[place] + (sign * deviation - self.delta)
            if drift < self.least[place]:
                self.least[place] = drift
            elif drift - self.least[place] >= self.threshold:
                level = DRIFT
        return level

    def evidence(self) -> tuple[float, float]:
        """Height of the sum above its least value, in the direction where it is highest."""
        if self.n == 0:
            return math.nan, math.nan
        heights = (drift - least for drift, least in zip(self.drift, self.least, strict=True))
        return max(heights), self.threshold


class PageHinkley(DriftDetector):
    """Detect a lasting change of a mean with the Page-Hinkley test.

    The test adds up how far each value lies above the mean of the values so far, less an
    allowance; an alarm is raised when that sum has climbed by `threshold` above its minimum.

    Parameters
    ----------
    threshold : float, default=100.0
        How far the sum must climb (lambda), positive. Greater values give fewer false alarms
        and later detections.
    delta : float, default=0.1
        Allowance per value: smaller changes of the mean should not be detected. At least 0.
    direction : {"up", "down", "both"}, default="up"
        Which changes of the mean to detect. A rise of a loss means deterioration.
    reset_after_alarm : bool, default=True
        Whether the test restarts from scratch after an alarm. If False, as in the experiments of
        [1]_, every value for which the condition holds raises an alarm.

    See Also
    --------
    ADWIN : Keeps a window, and needs no allowance to be chosen.
    ErrorRatio : This test, on the ratio of two forgetting means.

    Notes
    -----
    With mean_t the mean of x_1, ..., x_t: m_t = m_{t-1} + x_t - mean_t - delta,
    M_t = min(M_{t-1}, m_t), and an alarm where m_t - M_t >= threshold. (In the running text of
    [1]_ the final mean is written in place of mean_t, which would make m_T equal to
    -T delta whatever the values; the pseudo-code is right.)

    The defaults are those of [1]_, where the test reads a forgetting mean of the losses, not the
    losses themselves.

    References
    ----------
    .. [1] Gama, J., Sebastião, R. & Rodrigues, P. P. (2013). On evaluating stream learning
       algorithms. Machine Learning 90, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift import PageHinkley
    >>> rng = np.random.default_rng(0)
    >>> losses = np.r_[rng.random(2000) < 0.2, rng.random(2000) < 0.6]
    >>> PageHinkley(threshold=20, delta=0.05).update_many(losses)
    array([2041])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, None, closed="left")],
        "direction": [StrOptions(set(SIGNS))],
        "reset_after_alarm": ["boolean"],
    }

    def __init__(
        self,
        threshold: float = 100.0,
        *,
        delta: float = 0.1,
        direction: str = "up",
        reset_after_alarm: bool = True,
    ) -> None:
        self.threshold = threshold
        self.delta = delta
        self.direction = direction
        self.reset_after_alarm = reset_after_alarm

    def _start(self) -> SequentialState:
        new_test = partial(
            PageHinkleyTest, float(self.threshold), float(self.delta), SIGNS[self.direction]
        )
        return SequentialState(new_test, bool(self.reset_after_alarm))
