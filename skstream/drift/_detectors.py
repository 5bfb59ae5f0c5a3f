"""Drift detectors beside ADWIN: DDM, error ratios, Page-Hinkley, and alarms by chance."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skstream.core.detector import DRIFT, NORMAL, WARNING, DetectorState, DriftDetector, Levels
from skstream.utils._running_sums import FadedSum, Floats, WindowSum, running_sums
from skstream.utils._seeds import drawn_seed, uniform
from skstream.utils._sklearn import Interval, StrOptions

# Values scanned together: as many as came between the last two alarms, at least the fewest, and
# twice as many with every scan that finds none.
_FEWEST, _MOST = 64, 65_536


class SequentialTest(ABC):
    """A test and its state, which depends only on the values, not on the calls."""

    @abstractmethod
    def scan(self, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Read values, as if there were no alarm among them.

        Returns
        -------
        ndarray of shape (n_values,), dtype int8
            NORMAL, WARNING or DRIFT after each value.
        """

    @abstractmethod
    def step(self, value: float) -> int:
        """Read one value: the level and the state, bit for bit, of a scan of it, but faster."""

    def evidence(self) -> tuple[float, float]:
        """Statistic of the test and its critical value, after the value read last; NaN: none."""
        return math.nan, math.nan


class SequentialState(DetectorState):
    """The state of a detector that follows one test."""

    level = NORMAL

    def __init__(self, new_test: Callable[[], SequentialTest], reset_after_alarm: bool) -> None:
        self.new_test = new_test
        self.test = new_test()
        self.reset_after_alarm = reset_after_alarm
        self.n_alarms = 0

    @property
    def alarm(self) -> bool:
        """Whether the value read last raised an alarm."""
        return self.level == DRIFT

    def evidence(self) -> tuple[float, float]:
        """Statistic of the test and its critical value."""
        return self.test.evidence()

    def feed_one(self, value: float) -> None:
        """Read one checked value."""
        self.level = level = self.test.step(value)
        if level == DRIFT:
            self.n_alarms += 1
            if self.reset_after_alarm:
                self.test = self.new_test()

    def feed_levels(self, values: NDArray[np.float64]) -> Levels:
        """Read checked values in order and return the level after each."""
        whole = np.empty(len(values), dtype=np.int8)
        begin, size, n_quiet = 0, _FEWEST, 0
        while begin < len(values):
            block = values[begin : begin + size]
            levels = self.test.scan(block)
            found = np.flatnonzero(levels == DRIFT)
            last = len(block) - 1
            if self.reset_after_alarm and len(found):
                # What was computed after the first alarm is discarded: use small blocks again.
                last = int(found[0])
                size = min(max(n_quiet + last + 1, _FEWEST), _MOST)
                n_quiet = 0
                self.test = self.new_test()
            else:
                n_quiet += len(block)
                size = min(2 * size, _MOST)
            self.level = int(levels[last])
            whole[begin : begin + last + 1] = levels[: last + 1]
            begin += last + 1
        self.n_alarms += int(np.count_nonzero(whole == DRIFT))
        return whole


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
    deviation s = sqrt(p (1 - p) / n), and remembers both where p + s was least. An alarm is raised
    where p + s exceeds p_min + 3 s_min; between 2 and 3 is the warning zone. After an alarm the
    method starts again from nothing.

    Parameters
    ----------
    warning_level : float, default=2.0
        Standard deviations above the minimum where the warning zone begins, positive.
    drift_level : float, default=3.0
        Standard deviations above the minimum where an alarm is raised, at least
        `warning_level`.
    min_values : int, default=30
        Number of values, at least 1, before which no minimum is stored and no alarm raised.

    See Also
    --------
    ADWIN : Finds falls too, and slow changes on long streams.

    Notes
    -----
    The values are losses, 1 for an error and 0 for a correct answer. Both comparisons are
    strict: otherwise a stream without errors, or of errors alone, would raise an alarm at
    p + s = p_min. A first error after more than `min_values` correct answers does raise one,
    since then p_min = s_min = 0.

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

    _wanted = "DDM reads 0/1 losses: 1 for an error, 0 for none."

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
        Whether means and test start again from nothing after an alarm.

    See Also
    --------
    PageHinkley : The same test, applied to the values themselves.

    Notes
    -----
    Detects a change far sooner than the Page-Hinkley test of one forgetting mean, with more false
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
    allowance; an alarm is raised where that sum has climbed by `threshold` above its least
    value.

    Parameters
    ----------
    threshold : float, default=100.0
        How far the sum must climb (lambda), positive. Greater values give fewer false alarms
        and later detections.
    delta : float, default=0.1
        Allowance per value: changes of the mean by less than this are not to be detected. At
        least 0.
    direction : {"up", "down", "both"}, default="up"
        Which changes of the mean to detect. A rise of a loss is a deterioration.
    reset_after_alarm : bool, default=True
        Whether the test starts again from nothing after an alarm. If False, as in the experiments
        of [1]_, every value for which the condition holds raises an alarm.

    See Also
    --------
    ADWIN : Keeps a window, and needs no allowance chosen beforehand.
    ErrorRatio : This test, applied to the ratio of two forgetting means.

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


# Numbers drawn at once for values that come one by one.
_AHEAD = 1024


class _Alarms(DetectorState):
    """The number of values read; which of them raise an alarm is decided by their numbers."""

    level = NORMAL

    def __init__(self, seed: int, probability: float, warm_up: int) -> None:
        self.seed = seed
        self.probability = probability
        self.warm_up = warm_up
        self.n = 0
        self.n_alarms = 0
        self._ahead: tuple[int, list[bool]] = (0, [])  # a first number, and what is decided

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_ahead"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._ahead = (0, [])

    @property
    def alarm(self) -> bool:
        """Whether the value read last raised an alarm."""
        return self.level == DRIFT

    def _decided(self, start: int, stop: int) -> NDArray[np.bool_]:
        raised = uniform(self.seed, "RandomAlarm", start, stop) < self.probability
        raised[: max(self.warm_up - start, 0)] = False
        return raised

    def feed_one(self, value: float) -> None:
        """Read one checked value."""
        first, ahead = self._ahead
        if not first <= self.n < first + len(ahead):
            first, ahead = self.n, self._decided(self.n, self.n + _AHEAD).tolist()
            self._ahead = first, ahead
        raised = ahead[self.n - first]
        self.n += 1
        self.level = DRIFT if raised else NORMAL
        self.n_alarms += raised

    def feed_levels(self, values: NDArray[np.float64]) -> Levels:
        """Read checked values in order and return the level after each."""
        raised = self._decided(self.n, self.n + len(values))
        if len(values):
            self.n += len(values)
            self.level = DRIFT if raised[-1] else NORMAL
            self.n_alarms += int(np.count_nonzero(raised))
        return np.where(raised, DRIFT, NORMAL).astype(np.int8)


class RandomAlarm(DriftDetector):
    """Raise alarms at random, whatever the values are: the control of every detector.

    A detector that does not beat this one at the same number of alarms detects nothing: what it
    seems to gain comes from forgetting now and then.

    Parameters
    ----------
    probability : float, default=0.001
        Probability of an alarm at a value, in (0, 1].
    warm_up : int, default=30
        Number of first values that raise none, at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed. Whether a value raises an alarm is decided by the seed and the number of the value
        alone, so that the division into calls changes nothing. An evaluator sets None from its own
        seed, where the detector is within a model or a `DriftMonitor`.

    See Also
    --------
    DDM : Watches an error rate, with a warning zone.

    Notes
    -----
    After :meth:`reset` the numbers begin again, and with an integer `random_state` so do the
    alarms.

    References
    ----------
    .. [1] Žliobaitė, I., Bifet, A., Read, J., Pfahringer, B. & Holmes, G. (2015). Evaluation
       methods and decision theory for classification of streaming data with temporal dependence.
       Machine Learning 98, section 6.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift import RandomAlarm
    >>> RandomAlarm(0.01, random_state=0).update_many(np.zeros(300))
    array([ 76,  89, 162, 291])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "probability": [Interval(Real, 0, 1, closed="right")],
        "warm_up": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, probability: float = 0.001, *, warm_up: int = 30, random_state: Any = None
    ) -> None:
        self.probability = probability
        self.warm_up = warm_up
        self.random_state = random_state

    def _start(self) -> _Alarms:
        seed = drawn_seed(self.random_state)
        return _Alarms(seed, float(self.probability), int(self.warm_up))
