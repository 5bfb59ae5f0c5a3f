"""The ratio of a short-term to a long-term loss, watched by the Page-Hinkley test."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skstream.drift._base import DriftDetector
from skstream.drift._checks import refuse_where
from skstream.drift._page_hinkley import SIGNS, PageHinkleyTest
from skstream.drift._sequential import SequentialMonitor, SequentialTest
from skstream.utils._sklearn import Interval


class _Mean(ABC):
    """A forgetful mean; like a test, it never alters its state."""

    @abstractmethod
    def initial(self) -> Any:
        """Return the state before the first value."""

    @abstractmethod
    def scan(
        self, state: Any, values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], Callable[[int], Any]]:
        """Return the mean after each value, and the state after a position."""


@dataclass(frozen=True)
class _FadingMean(_Mean):
    factor: float

    def initial(self) -> tuple[float, float]:
        return 0.0, 0.0

    def scan(
        self, state: tuple[float, float], values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], Callable[[int], tuple[float, float]]]:
        # Row 0: S_t = x_t + factor S_{t-1}; row 1: the same of ones, N_t.
        steps = np.stack((values, np.ones(len(values))))
        carried = self.factor * np.array(state)[:, None]
        from scipy.signal import lfilter  # slow to import, and needed here alone

        sums, _ = lfilter([1.0], [1.0, -self.factor], steps, zi=carried)
        return sums[0] / sums[1], lambda i: (float(sums[0, i]), float(sums[1, i]))


@dataclass(frozen=True)
class _WindowMean(_Mean):
    """Mean of the last `size` values.

    The values are put in blocks of `size`, counted from the first. A window is the end of one
    block and the beginning of the next, so that its sum is that of two running sums: nothing
    is ever subtracted, and no error builds up. The state holds the values from the beginning
    of the previous block on.
    """

    size: int

    def initial(self) -> NDArray[np.float64]:
        return np.empty(0)

    def scan(
        self, state: NDArray[np.float64], values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], Callable[[int], NDArray[np.float64]]]:
        data = np.concatenate((state, values))
        size = self.size
        blocks = np.append(data, np.zeros(-len(data) % size)).reshape(-1, size)
        sums = np.cumsum(blocks, axis=1)
        tails = np.cumsum(blocks[:-1, ::-1], axis=1)[:, ::-1]
        sums[1:, :-1] += tails[:, 1:]
        index = np.arange(len(state), len(data))
        means = sums.ravel()[index] / np.minimum(index + 1, size)

        def state_after(i: int) -> NDArray[np.float64]:
            end = len(state) + i + 1
            return data[max(end // size - 1, 0) * size : end].copy()

        return means, state_after


@dataclass(frozen=True)
class RatioTest(SequentialTest):
    """The Page-Hinkley test of the ratio of two means."""

    short: _Mean
    long: _Mean
    page_hinkley: PageHinkleyTest

    def initial(self) -> tuple[Any, Any, Any]:
        """Return the state before the first value."""
        return self.short.initial(), self.long.initial(), self.page_hinkley.initial()

    def scan(
        self, state: tuple[Any, Any, Any], values: NDArray[np.float64]
    ) -> tuple[NDArray[np.int8], Callable[[int], tuple[Any, Any, Any]]]:
        """Follow both means and the test through values."""
        short, short_after = self.short.scan(state[0], values)
        long, long_after = self.long.scan(state[1], values)
        ratio = np.ones(len(values))
        np.divide(short, long, out=ratio, where=long > 0)
        levels, test_after = self.page_hinkley.scan(state[2], ratio)
        return levels, lambda i: (short_after(i), long_after(i), test_after(i))


class ErrorRatio(DriftDetector):
    """Detect a rising loss by the ratio of a short-term to a long-term mean.

    After a change a mean that forgets fast rises before one that forgets slowly. The
    Page-Hinkley test watches their ratio, which is 1 while the long-term mean is 0.

    Parameters
    ----------
    short : float or int, default=0.997
        How the short-term mean forgets: a float in (0, 1] is a fading factor, the weight of
        the past at every step; an int is the size of a sliding window.
    long : float or int, default=0.9994
        How the long-term mean forgets: of the same kind as `short`, and greater.
    threshold : float, default=100.0
        Threshold of the Page-Hinkley test, positive.
    delta : float, default=0.1
        Allowance of the Page-Hinkley test, at least 0.
    reset_after_alarm : bool, default=True
        Whether means and test start afresh after an alarm.

    See Also
    --------
    PageHinkley : The same test, applied to the values themselves.

    Notes
    -----
    Far faster than the Page-Hinkley test of one forgetful mean, and less safe: some false
    alarms are to be expected [1]_. The defaults are those of [1]_; its windows have 1000 and
    5000 values.

    References
    ----------
    .. [1] Gama, J., Sebastião, R. & Rodrigues, P. P. (2013). On evaluating stream learning
       algorithms. Machine Learning 90, section 5.3 and algorithm 4.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift import ErrorRatio
    >>> rng = np.random.default_rng(0)
    >>> losses = np.r_[rng.random(10_000) < 0.2, rng.random(2000) < 0.6]
    >>> ErrorRatio().update_many(losses)
    array([10296])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "short": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
        ],
        "long": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
        ],
        "threshold": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, None, closed="left")],
        "reset_after_alarm": ["boolean"],
    }

    def __init__(
        self,
        *,
        short: float = 0.997,
        long: float = 0.9994,
        threshold: float = 100.0,
        delta: float = 0.1,
        reset_after_alarm: bool = True,
    ) -> None:
        self.short = short
        self.long = long
        self.threshold = threshold
        self.delta = delta
        self.reset_after_alarm = reset_after_alarm

    def _check(self, values: NDArray[np.float64]) -> None:
        refuse_where(values < 0, values, "ErrorRatio reads losses of at least 0.")

    def _start(self) -> SequentialMonitor:
        windows = isinstance(self.short, Integral)
        if windows != isinstance(self.long, Integral) or self.short >= self.long:
            raise ValueError(
                f"Got short={self.short!r} and long={self.long!r}; they must be two fading factors"
                " (floats) or two window sizes (ints), the short-term one smaller."
            )
        short, long = (
            _WindowMean(int(memory)) if windows else _FadingMean(float(memory))
            for memory in (self.short, self.long)
        )
        page_hinkley = PageHinkleyTest(float(self.threshold), float(self.delta), SIGNS["up"])
        test = RatioTest(short, long, page_hinkley)
        return SequentialMonitor(test, bool(self.reset_after_alarm))
