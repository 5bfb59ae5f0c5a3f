"""A detector: the Page-Hinkley test of the ratio of a short-term to a long-term loss."""

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skstream.core.detector import DriftDetector
from skstream.drift._page_hinkley import SIGNS, PageHinkleyTest
from skstream.drift._sequential import SequentialState, SequentialTest
from skstream.utils._running_sums import FadedSum, Floats, WindowSum
from skstream.utils._sklearn import Interval

_MEMORIES = [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right")]


class _FadingMean:
    """Mean after each value, older ones fading."""

    def __init__(self, factor: float) -> None:
        self.sum = FadedSum(factor)
        self.weight = FadedSum(factor)

    def update(self, values: Floats) -> Floats:
        return self.sum.update(values) / self.weight.update(np.ones(len(values)))

    def update_one(self, value: float) -> float:
        return self.sum.update_one(value) / self.weight.update_one(1.0)


class _WindowMean:
    """Mean of the newest values."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.n_values = 0  # at most `size`
        self.sum = WindowSum(size)

    def update(self, values: Floats) -> Floats:
        n = np.minimum(np.arange(self.n_values + 1, self.n_values + len(values) + 1), self.size)
        self.n_values = int(n[-1])
        return self.sum.update(values) / n

    def update_one(self, value: float) -> float:
        if self.n_values < self.size:
            self.n_values += 1
        return self.sum.update_one(value) / self.n_values


class RatioTest(SequentialTest):
    """The Page-Hinkley test of the ratio of two means."""

    def __init__(self, short: float, long: float, threshold: float, delta: float) -> None:
        self.short, self.long = (
            _WindowMean(int(memory)) if isinstance(memory, Integral) else _FadingMean(float(memory))
            for memory in (short, long)
        )
        self.page_hinkley = PageHinkleyTest(threshold, delta, SIGNS["up"])

    def scan(self, values: Floats) -> NDArray[np.int8]:
        """Follow both means and the test through values."""
        short, long = self.short.update(values), self.long.update(values)
        ratio = np.ones(len(values))
        np.divide(short, long, out=ratio, where=long > 0)
        return self.page_hinkley.scan(ratio)

    def step(self, value: float) -> int:
        """Follow both means and the test through one value."""
        short, long = self.short.update_one(value), self.long.update_one(value)
        return self.page_hinkley.step(short / long if long > 0 else 1.0)

    def evidence(self) -> tuple[float, float]:
        """That of the Page-Hinkley test of the ratio."""
        return self.page_hinkley.evidence()


class ErrorRatio(DriftDetector):
    """Detect a rising loss by the ratio of a short-term to a long-term mean.

    After a change, a mean that forgets fast rises before one that forgets slowly. The Page-Hinkley
    test watches their ratio, which counts as 1 while the long-term mean is 0.

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
        Whether means and test restart from scratch after an alarm.

    See Also
    --------
    PageHinkley : The same test, on the values themselves.

    Notes
    -----
    Detects changes far sooner than the Page-Hinkley test on one forgetting mean, with more false
    alarms [1]_. The defaults are those of [1]_; its windows have 1000 and 5000 values.

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
        "short": _MEMORIES,
        "long": _MEMORIES,
        "threshold": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, None, closed="left")],
        "reset_after_alarm": ["boolean"],
    }

    _wanted = "ErrorRatio reads losses of at least 0."

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

    def _wrong(self, values: Any) -> Any:
        return values < 0

    def _start(self) -> SequentialState:
        windows = isinstance(self.short, Integral)
        if windows != isinstance(self.long, Integral) or self.short >= self.long:
            raise ValueError(
                f"Got short={self.short!r} and long={self.long!r}; they must be two fading factors"
                " (floats) or two window sizes (ints), the short-term one smaller."
            )
        levels = float(self.threshold), float(self.delta)
        new_test = partial(RatioTest, self.short, self.long, *levels)
        return SequentialState(new_test, bool(self.reset_after_alarm))
