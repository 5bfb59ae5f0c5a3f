"""Alarms at random, the control of every detector."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skstream.core.detector import DRIFT, NORMAL, DetectorState, DriftDetector, Levels
from skstream.utils._seeds import drawn_seed, uniform
from skstream.utils._sklearn import Interval

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
    """Raise alarms at random, whatever the values: a control for every detector.

    A detector that does not beat this one at the same number of alarms detects nothing: its
    apparent gain comes from forgetting now and then.

    Parameters
    ----------
    probability : float, default=0.001
        Probability of an alarm at a value, in (0, 1].
    warm_up : int, default=30
        Number of initial values that raise no alarm, at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed. Only the seed and the number of a value decide whether it raises an alarm, so the
        division into calls has no effect. If None, an evaluator sets it from its own seed when the
        detector is part of a model or a `DriftMonitor`.

    See Also
    --------
    DDM : Watches an error rate, with a warning zone.

    Notes
    -----
    After :meth:`reset` the numbers of values start again, and with an integer `random_state` so do
    the alarms.

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
