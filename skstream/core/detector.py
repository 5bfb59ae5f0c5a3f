"""Base classes of drift detectors and of their states, and the values that detectors read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone

from skstream.utils._masked import refuse_masked
from skstream.utils._sklearn import validate_parameter_constraints

NORMAL, WARNING, DRIFT = 0, 1, 2

Levels = NDArray[np.int8]

LARGEST = 1e100  # squares and sums of such values are still far from overflow
_WANTED = (
    f"A detector needs finite numbers, of magnitude at most {LARGEST:g}; drop or impute others."
)
_UNCHANGED = "No value of this call was used."


class DetectorState(Protocol):
    """What a drift detector has read so far; subclass it and define `feed_one`.

    Attributes
    ----------
    n_alarms : int
        Alarms so far.
    """

    n_alarms: int = 0

    @property
    def alarm(self) -> bool:
        """Whether the latest value raised an alarm."""
        ...

    @property
    def level(self) -> int:
        """`NORMAL`, `WARNING` or `DRIFT`; a state that has a warning zone says so here."""
        return DRIFT if self.alarm else NORMAL

    def feed_one(self, value: float) -> None:
        """Read one checked value: set `alarm`, and count it.

        Parameters
        ----------
        value : float
            A finite number that the detector takes.
        """
        ...

    def feed_levels(self, values: NDArray[np.float64]) -> Levels:
        """Read checked values in order; where this can be made faster, do so.

        Parameters
        ----------
        values : ndarray of shape (n_values,), dtype float64
            Finite numbers that the detector takes.

        Returns
        -------
        levels : ndarray of shape (n_values,), dtype int8
            The level after each value.
        """
        levels = np.empty(len(values), dtype=np.int8)
        for position, value in enumerate(values.tolist()):
            self.feed_one(value)
            levels[position] = self.level
        return levels


class DriftDetector(BaseEstimator, ABC):
    """Base of all drift detectors.

    A detector reads one number after another and raises an alarm when it detects a change of their
    distribution. Constructor parameters are read at the first value and used until :meth:`reset`;
    ``clone`` gives a fresh detector.

    Subclasses declare ``_parameter_constraints`` as scikit-learn does and define ``_start()``,
    which returns a new state. ``_wrong(values)`` says which finite numbers this detector rejects,
    and the sentence ``_wanted`` says which it accepts.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    # A class attribute: the constructor of a scikit-learn estimator only stores parameters.
    _state: Any = None
    _wanted: ClassVar[str] = ""

    @abstractmethod
    def _start(self) -> DetectorState:
        """Return the state of a detector that has read nothing."""

    def _wrong(self, values: Any) -> Any:
        """Tell for one value, or for each of an array, whether this detector cannot take it."""
        return False

    def update(self, x: float) -> Self:
        """Read one value.

        Parameters
        ----------
        x : float
            The next value of the series; a truth value counts as 0 or 1.

        Returns
        -------
        self
            The detector; see :attr:`drift_detected`.

        Raises
        ------
        ValueError
            If `x` is not a finite number, or not one that this detector accepts. The detector is
            then unchanged.
        """
        # Written for speed: this is called once per value.
        value = x if type(x) is float and -LARGEST <= x <= LARGEST else as_number(x)
        if self._wrong(value):
            refuse_where(np.array([True]), np.array([value]), self._wanted)
        (self._state or self._started()).feed_one(value)
        return self

    def update_many(self, values: ArrayLike) -> NDArray[np.int64]:
        """Read many values: like one :meth:`update` for each, but faster.

        Parameters
        ----------
        values : array-like of shape (n_values,)
            The next values of the series, in order.

        Returns
        -------
        ndarray of shape (n_alarms,), dtype int64
            Positions within `values`, counted from 0, that raised an alarm.

        Raises
        ------
        ValueError
            If a value is not a finite number, or not one that this detector accepts; the message
            gives its position. The detector is then unchanged.
        """
        return np.flatnonzero(self.update_levels(values) == DRIFT).astype(np.int64)

    def update_levels(self, values: ArrayLike) -> Levels:
        """Read many values, like :meth:`update_many`, and return the level after each.

        Parameters
        ----------
        values : array-like of shape (n_values,)
            The next values of the series, in order.

        Returns
        -------
        ndarray of shape (n_values,), dtype int8
            `NORMAL` (0), `WARNING` (1) or `DRIFT` (2) after each value. A detector without a
            warning zone never warns.

        Raises
        ------
        ValueError
            If a value is not a finite number, or not one that this detector accepts; the message
            gives its position. The detector is then unchanged.
        """
        checked = self._checked(values)
        return self._started().feed_levels(checked)

    def _checked(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return values that this detector can take, or say which one it cannot."""
        checked = as_values(values)
        refuse_where(np.asarray(self._wrong(checked)), checked, self._wanted)
        return checked

    def reset(self) -> Self:
        """Forget all values read.

        Returns
        -------
        self
            The detector.
        """
        self.__dict__.pop("_state", None)
        return self

    @property
    def has_read(self) -> bool:
        """Whether it has read any value since the start or the last :meth:`reset`."""
        return self._state is not None

    @property
    def drift_detected(self) -> bool:
        """Whether the latest value raised an alarm."""
        state = self._state
        return False if state is None else bool(state.alarm)

    @property
    def warning_detected(self) -> bool:
        """Whether the latest value is in the warning zone, below an alarm."""
        return self._state is not None and bool(self._state.level == WARNING)

    @property
    def n_detections(self) -> int:
        """Number of alarms since the start or the last :meth:`reset`."""
        return 0 if self._state is None else int(self._state.n_alarms)

    @property
    def statistic(self) -> float:
        """The statistic compared with `critical_value`, after the latest value.

        For `PageHinkley`, the height of its sum above the minimum; for `DDM`, the error rate plus
        its deviation. NaN if nothing was read since the last alarm, and for detectors without one.
        """
        return self._evidence()[0]

    @property
    def critical_value(self) -> float:
        """The value of `statistic` that raises an alarm; NaN as for `statistic`."""
        return self._evidence()[1]

    def _evidence(self) -> tuple[float, float]:
        evidence = getattr(self._state, "evidence", None)
        return (np.nan, np.nan) if evidence is None else evidence()

    def _started(self) -> Any:
        """Return the state, made from the parameters if this is the first use."""
        if self._state is None:
            validate_parameter_constraints(
                self._parameter_constraints,
                self.get_params(deep=False),
                caller_name=type(self).__name__,
            )
            state = self._start()
            if not hasattr(state, "feed_levels"):
                raise TypeError(
                    f"{type(self).__name__}._start must return a new DetectorState. "
                    f"Got {state!r} of type {type(state).__name__} instead."
                )
            self._state = state
        return self._state


def as_number(x: Any) -> float:
    """Return one usable number as a float, or say what came instead."""
    value = x if type(x) is float else _real(x)
    if value is None:
        raise ValueError(f"Expected a number, got {x!r} of type {type(x).__name__}.")
    if not -LARGEST <= value <= LARGEST:
        raise ValueError(f"Got {value}. {_WANTED}")
    return value


def as_values(values: Any, name: str = "values") -> NDArray[np.float64]:
    """Return a sequence of usable numbers as float64, or say which one is not."""
    refuse_masked(values, name)
    try:
        array = np.asarray(values)
    except ValueError:  # sequences of unequal length
        array = np.empty(len(values), dtype=object)
        array[:] = values
    if array.ndim != 1:
        raise ValueError(
            f"Expected a one-dimensional sequence of numbers, got an array of shape {array.shape}."
            " Use update(x) for one number, and turn an iterator into a list."
        )
    if array.dtype.kind not in "biuf":
        array = _from_objects(array, name)
    array = array.astype(np.float64, copy=False)
    refuse_where(~(np.abs(array) <= LARGEST), array, _WANTED, name)
    return array


def refuse_where(
    wrong: NDArray[np.bool_], values: NDArray[np.float64], wanted: str, name: str = "values"
) -> None:
    """Raise an error that names the first wrong value, if there is one."""
    if wrong.any():
        position = int(wrong.argmax())
        raise ValueError(f"{name}[{position}] is {values[position]:g}. {wanted} {_UNCHANGED}")


def _real(x: Any) -> float | None:
    """Return a real number or truth value as a float, anything else as None."""
    if not isinstance(x, (Real, np.bool_)):
        return None
    try:
        return float(x)
    except OverflowError:  # an int beyond all floats
        return math.inf
    except TypeError:  # a duration, which NumPy counts among the integers
        return None


def _from_objects(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    converted = np.empty(len(array))
    for position, item in enumerate(array):
        value = _real(item)
        if value is None:
            raise ValueError(
                f"{name}[{position}] is {item!r} of type {type(item).__name__}, not a number."
                f" {_UNCHANGED}"
            )
        converted[position] = value
    return converted


#: What makes a `DriftDetector` of one of another library, by the function that knows these.
_ADAPTERS: dict[Callable[[Any], bool], Callable[[Any], DriftDetector]] = {}


def offer_detectors(is_known: Callable[[Any], bool], adapt: Callable[[Any], DriftDetector]) -> None:
    """Let detectors of another library be taken: those that `is_known` knows, by `adapt`."""
    _ADAPTERS[is_known] = adapt


def is_detector(given: Any) -> bool:
    """Whether an object is a detector, of this or of another library."""
    return isinstance(given, DriftDetector) or any(is_known(given) for is_known in _ADAPTERS)


def as_detector(given: Any, name: str = "detector") -> DriftDetector:
    """Return a detector of another library as one of ours, and ours as it is; refuse others."""
    if isinstance(given, DriftDetector):
        return given
    for is_known, adapt in _ADAPTERS.items():
        if is_known(given):
            return adapt(given)
    if isinstance(given, type):
        raise TypeError(
            f"{name} is the class {given.__name__}, not an instance; pass {given.__name__}()."
        )
    raise TypeError(
        f"{name} must be a drift detector of skstream.drift, such as PageHinkley(), or of River, "
        f"such as river.drift.KSWIN(), or a subclass of DriftDetector of your own. Got {given!r} "
        f"of type {type(given).__name__} instead{'' if hasattr(given, 'update') else _NO_UPDATE}."
    )


_NO_UPDATE = ", which has no update method that reads a value"


def fresh_detector(given: Any) -> DriftDetector:
    """Return a detector with the parameters of the one given, which has read nothing."""
    return clone(as_detector(given))
