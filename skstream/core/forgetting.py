"""Forgetting mechanisms: how much past values count in a running mean.

A mechanism is a frozen specification that makes its own running sums, so that any measure can be
computed under any of them. A new one is a subclass of `Forgetting`: whatever else needs to know
something of a mechanism asks it.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from difflib import get_close_matches
from functools import partial
from typing import Any, ClassVar, NoReturn, Self, cast

import numpy as np

from skstream.core.adwin import ADWIN
from skstream.utils._choices import is_integer, is_real, names_as_text
from skstream.utils._running_sums import BlockSum, FadedSum, RunningSum, WindowSum
from skstream.utils._times import UNITS, parse_duration
from skstream.utils._warnings import warn

__all__ = [
    "AdaptiveWindow",
    "Cumulative",
    "FadingFactor",
    "Forgetting",
    "SlidingWindow",
    "Spelling",
    "TumblingWindow",
    "equivalent_window",
    "hoeffding_sample_size",
    "window_half_width",
]


@dataclass(frozen=True)
class Spelling:
    """How a mechanism is written: a word, and after a colon its parameter.

    Attributes
    ----------
    parameter : str
        Name of the parameter; empty: it has none.
    read : callable or None
        What reads the parameter from a text.
    wanted : str
        What such a text is.
    examples : tuple of str
        Complete spellings, for messages.
    alone : bool
        Whether the word suffices.
    """

    parameter: str = ""
    read: Callable[[str], Any] | None = None
    wanted: str = ""
    examples: tuple[str, ...] = ()
    alone: bool = False


#: Mechanisms and their spellings, by the word before the colon.
_KNOWN: dict[str, tuple[type["Forgetting"], Spelling]] = {}
#: What they are called elsewhere.
_OTHER_WORDS = {"sliding": "window", "sliding-window": "window", "fading-factor": "fading"}


def _examples() -> str:
    """List spellings of all mechanisms."""
    *all_but_last, last = [
        f'"{example}"' for _, spelling in _KNOWN.values() for example in spelling.examples
    ]
    return f"{', '.join(all_but_last)} and {last}"


def _refuse(owner: Any, parameter: str, requirement: str, value: Any) -> NoReturn:
    owner = owner if isinstance(owner, str) else type(owner).__name__
    raise ValueError(
        f"The {parameter!r} parameter of {owner} must be {requirement}. Got {value!r} instead."
    )


def duration_of(owner: Any, parameter: str, value: Any) -> np.timedelta64 | None:
    """Duration in microseconds, of a text or an object; None for a number, which counts rows."""
    if isinstance(value, str) and not value.strip().replace(".", "", 1).isdigit():
        found = parse_duration(value)
        if found is None:
            wanted = f"a number of rows, or a duration in {UNITS}; not months or years"
            _refuse(owner, parameter, wanted, value)
        value = found
    if not isinstance(value, timedelta | np.timedelta64):
        return None
    if isinstance(value, np.timedelta64) and np.datetime_data(value)[0] in ("M", "Y", "generic"):
        _refuse(owner, parameter, f"a duration of a fixed length, in {UNITS}", value)
    width = np.timedelta64(value, "us")
    if not width > np.timedelta64(0, "us"):
        _refuse(owner, parameter, "positive", str(value))
    return width


def _spelled(value: Any) -> str:
    """Write a duration as `parse_duration` reads it."""
    if isinstance(value, str):
        return value.strip()
    return f"{np.timedelta64(value, 'us').astype(int)}us"


def _plain(value: Any) -> Any:
    """Return a number of Python, whose text has all its digits: that of a float32 has seven."""
    return value if is_integer(value) else float(value)


def _number_or_duration(text: str, number: Callable[[str], Any] = float) -> Any:
    """Read a number of rows; a duration stays a text."""
    if parse_duration(text) is not None:
        return text.strip()
    return int(text) if text.strip().isdigit() else number(text)


class Forgetting(ABC):
    """Base class of the forgetting mechanisms, which are immutable.

    The mechanisms are `Cumulative`, `SlidingWindow`, `TumblingWindow`, `FadingFactor` and
    `AdaptiveWindow`. A subclass that defines `spellings` can be given by name in every
    ``forgetting=``.
    """

    # How it is written, by the word before the colon.
    spellings: ClassVar[dict[str, Spelling]] = {}
    # Whether it holds the newest rows alone, with equal weight.
    is_window: ClassVar[bool] = False
    # Whether all rows are forgotten at once, so that the number of those that count changes.
    begins_again: ClassVar[bool] = False
    # Whether its rows depend on the 0/1 loss of one classifier.
    follows_loss: ClassVar[bool] = False
    # Whether some rows count less than others.
    forgets: ClassVar[bool] = True
    # What it counts time by; None: it counts rows.
    duration: ClassVar[np.timedelta64 | None] = None
    # Whether it counts time: the stream must then say when its rows came.
    counts_time: ClassVar[bool] = False
    # Weight of the row before; 1 where rows do not fade with every later one.
    factor: ClassVar[float] = 1.0
    # What to warn of where its parameters may mean something else; empty: nothing.
    caution: ClassVar[str] = ""

    def _note(self, **facts: Any) -> None:
        """Note what follows from the parameters, in place of what holds for all mechanisms."""
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for word, spelling in vars(cls).get("spellings", {}).items():
            _KNOWN[word] = cls, spelling

    @property
    @abstractmethod
    def name(self) -> str:
        """The spelling that `parse_forgetting` reads, e.g. ``"window:1000"``."""

    @property
    @abstractmethod
    def words(self) -> str:
        """Which rows count, e.g. "last 1,000 rows"."""

    @abstractmethod
    def sums(self, kinds: Any, n_classes: int, n_models: int) -> Any:
        """Return running sums of elementary series, from which measures are computed.

        Parameters
        ----------
        kinds : frozenset of KindOf
            The series to sum.
        n_classes : int
            Number of classes.
        n_models : int
            Number of models.

        Returns
        -------
        RunningSums
            Empty sums.
        """

    @abstractmethod
    def sum_of_values(self, power: int = 1) -> RunningSum:
        """Return a running sum for one series of values.

        Parameters
        ----------
        power : int, default=1
            2: weights are squared, as needed for the variance of a sum.

        Returns
        -------
        RunningSum
            An empty sum.
        """

    @abstractmethod
    def memory(self, least_weight: float) -> int | None:
        """Return how many of the newest rows have at least a given weight.

        Parameters
        ----------
        least_weight : float
            Weight in (0, 1); the newest row weighs 1.

        Returns
        -------
        int or None
            None: all rows do, or the number is not known.
        """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Has no effect: no parameter has parameters of its own.

        Returns
        -------
        dict of str to object
            Values by name.
        """
        return {f.name: getattr(self, f.name) for f in fields(cast(Any, self))}

    def set_params(self, **params: Any) -> Self:
        """Return a mechanism with other parameters; this one is unchanged.

        Evaluators replace the old mechanism with it:
        ``evaluator.set_params(forgetting__fading_factor=0.99)`` does not affect another evaluator
        that uses the same mechanism.

        Parameters
        ----------
        **params
            New values by name.

        Returns
        -------
        Forgetting
            Of the same class.

        Raises
        ------
        ValueError
            If there is no such parameter, or its value is out of range.
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for {self!r}. Valid parameters are: {list(known)}."
                )
        return type(self)(**{**known, **params})


@dataclass(frozen=True)
class Cumulative(Forgetting):
    """Remember everything: the mean of all values so far.

    Examples
    --------
    >>> from skstream.forgetting import Cumulative
    >>> Cumulative().name
    'cumulative'
    """

    spellings: ClassVar = {"cumulative": Spelling(examples=("cumulative",), alone=True)}
    forgets = False
    name = "cumulative"
    words = "all rows so far"

    def sums(self, kinds: Any, n_classes: int, n_models: int) -> Any:
        """Return running sums of elementary series.

        Parameters
        ----------
        kinds : frozenset of KindOf
            The series to sum.
        n_classes : int
            Number of classes.
        n_models : int
            Number of models.

        Returns
        -------
        RunningSums
            Empty sums.
        """
        from skstream.core.measures.sums import CumulativeSums  # imports this file

        return CumulativeSums(kinds, n_classes, n_models)

    def sum_of_values(self, power: int = 1) -> RunningSum:
        """Return a running sum for one series of values.

        Parameters
        ----------
        power : int, default=1
            2: weights are squared, as needed for the variance of a sum.

        Returns
        -------
        RunningSum
            An empty sum.
        """
        return FadedSum()

    def memory(self, least_weight: float) -> int | None:
        """Return None: all rows have the same weight.

        Parameters
        ----------
        least_weight : float
            Weight in (0, 1); the newest row weighs 1.

        Returns
        -------
        int or None
            Number of the newest rows with at least this weight.
        """
        return None


@dataclass(frozen=True)
class SlidingWindow(Forgetting):
    """Remember only the last rows: the mean of the last `window_size` values, equally weighted.

    Parameters
    ----------
    window_size : int, str or timedelta
        Number of rows in the mean, at least 1; or a duration, such as ``"7D"`` or ``"1D 12h"``, for
        streams with arrival times (``arrival``, as datetimes).

    Raises
    ------
    ValueError
        If `window_size` is neither a positive integer nor a duration. A month is not a duration:
        months have no fixed length.

    Notes
    -----
    The window holds exactly `window_size` rows, whatever their weights; before that many have
    arrived, all rows. (Gama, Sebastião and Rodrigues, 2013, sum over [i - w, i], which is one row
    more.)

    At a checkpoint of time t, a window of time holds the rows whose time is later than t minus the
    duration: it may be empty, and scores are then NaN. The majority baseline predicts, for each
    row, the majority in the window of the row before.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues. On evaluating stream learning algorithms. Machine
    Learning 90, 2013, section 3.2.1.

    Examples
    --------
    >>> from skstream.forgetting import SlidingWindow
    >>> SlidingWindow(1000).name, SlidingWindow("7D").name
    ('window:1000', 'window:7D')
    """

    window_size: Any

    spellings: ClassVar = {
        "window": Spelling(
            "window_size",
            partial(_number_or_duration, number=int),
            f"a whole number of rows, or a duration in {UNITS},",
            ("window:1000", "window:7D"),
        )
    }
    is_window = True

    def __post_init__(self) -> None:
        size, duration = self.window_size, duration_of(self, "window_size", self.window_size)
        if duration is None and (not is_integer(size) or size < 1):
            _refuse(self, "window_size", "an int in the range [1, inf)", size)
        self._note(duration=duration, counts_time=duration is not None)

    @property
    def name(self) -> str:
        """The spelling that `parse_forgetting` reads."""
        return f"window:{_spelled(self.window_size) if self.counts_time else self.window_size}"

    @property
    def words(self) -> str:
        """Which rows count."""
        if self.counts_time:
            return f"last {_spelled(self.window_size)}"
        return f"last {self.window_size:,} row{'' if self.window_size == 1 else 's'}"

    def sums(self, kinds: Any, n_classes: int, n_models: int) -> Any:
        """Return running sums of elementary series.

        Parameters
        ----------
        kinds : frozenset of KindOf
            The series to sum.
        n_classes : int
            Number of classes.
        n_models : int
            Number of models.

        Returns
        -------
        RunningSums
            Empty sums.
        """
        from skstream.core.measures.range_sums import (  # import this file
            SlidingSums,
            WindowOfTimeSums,
        )

        if self.duration is not None:
            return WindowOfTimeSums(kinds, n_classes, n_models, self.duration)
        return SlidingSums(kinds, n_classes, n_models, int(self.window_size))

    def sum_of_values(self, power: int = 1) -> RunningSum:
        """Return a running sum for one series of values.

        Parameters
        ----------
        power : int, default=1
            2: weights are squared, as needed for the variance of a sum.

        Returns
        -------
        RunningSum
            An empty sum.
        """
        return WindowSum(int(self.window_size))

    def memory(self, least_weight: float) -> int | None:
        """Return the number of rows; None for a window of time, which can hold any number.

        Parameters
        ----------
        least_weight : float
            Weight in (0, 1); the newest row weighs 1.

        Returns
        -------
        int or None
            Number of the newest rows with at least this weight.
        """
        return None if self.counts_time else int(self.window_size)


@dataclass(frozen=True)
class TumblingWindow(Forgetting):
    """Start again after every `window_size` rows: the mean of the last complete block of rows.

    With checkpoints at the ends of the blocks (``record_every`` of the same size, and ``n_warmup``
    a multiple of it) each value is that of one block alone, as if a model were scored batch by
    batch.

    Parameters
    ----------
    window_size : int
        Rows of a block, at least 1.

    Raises
    ------
    ValueError
        If `window_size` is not a positive integer.

    Notes
    -----
    Blocks count the scored rows, as windows do: the first begins after the warm-up, and rows
    without a label are left out. A value is that of the last complete block; until there is one,
    that of the rows so far. Rows after the last complete block do not count. The majority baseline
    predicts, for each row, the majority of the last complete block before it.

    Examples
    --------
    >>> from skstream.forgetting import TumblingWindow
    >>> TumblingWindow(500).name
    'tumbling:500'
    """

    window_size: int

    spellings: ClassVar = {
        "tumbling": Spelling("window_size", int, "a whole number of rows", ("tumbling:500",))
    }
    is_window = True
    begins_again = True

    def __post_init__(self) -> None:
        if not is_integer(self.window_size) or self.window_size < 1:
            _refuse(self, "window_size", "an int in the range [1, inf)", self.window_size)

    @property
    def name(self) -> str:
        """The spelling that `parse_forgetting` reads."""
        return f"tumbling:{self.window_size}"

    @property
    def words(self) -> str:
        """Which rows count."""
        return f"last whole block of {self.window_size:,} row{'' if self.window_size == 1 else 's'}"

    def sums(self, kinds: Any, n_classes: int, n_models: int) -> Any:
        """Return running sums of elementary series.

        Parameters
        ----------
        kinds : frozenset of KindOf
            The series to sum.
        n_classes : int
            Number of classes.
        n_models : int
            Number of models.

        Returns
        -------
        RunningSums
            Empty sums.
        """
        from skstream.core.measures.range_sums import BlockSums  # imports this file

        return BlockSums(kinds, n_classes, n_models, int(self.window_size))

    def sum_of_values(self, power: int = 1) -> RunningSum:
        """Return a running sum for one series of values.

        Parameters
        ----------
        power : int, default=1
            2: weights are squared, as needed for the variance of a sum.

        Returns
        -------
        RunningSum
            An empty sum.
        """
        return BlockSum(int(self.window_size))

    def memory(self, least_weight: float) -> int | None:
        """Return the number of rows of a whole block.

        Parameters
        ----------
        least_weight : float
            Weight in (0, 1); the newest row weighs 1.

        Returns
        -------
        int or None
            Largest number of the newest rows that weigh at least so much.
        """
        return int(self.window_size)


@dataclass(frozen=True, repr=False)
class FadingFactor(Forgetting):
    """Forget gradually: a value that is k rows old weighs ``fading_factor ** k``.

    Parameters
    ----------
    fading_factor : float, default=None
        Weight of the past, in (0, 1]; close to 1 in use, and 1 forgets nothing. The weights sum
        to ``1 / (1 - fading_factor)`` rows, and their mean is about as noisy as that of a window
        of twice so many (`equivalent_window`). Žliobaitė's decay is one minus this.
    half_life : float, str or timedelta, default=None
        In its place, the age at which a value weighs one half: a number of rows, or a duration,
        such as ``"30D"``, for streams with arrival times (``arrival``, as datetimes). A value of
        age a weighs ``2 ** (-a / half_life)``.

    Raises
    ------
    ValueError
        If `fading_factor` is not a number in (0, 1], `half_life` is neither a positive number nor a
        duration, or unless exactly one of them is given.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues. On evaluating stream learning algorithms. Machine
    Learning 90, 2013, section 3.2.1.

    Examples
    --------
    >>> from skstream.forgetting import FadingFactor
    >>> FadingFactor(0.999).name
    'fading:0.999'
    >>> FadingFactor(half_life="30D")
    FadingFactor(half_life='30D')
    """

    fading_factor: float | None = None
    half_life: Any = None

    spellings: ClassVar = {
        "fading": Spelling("fading_factor", float, "a number", ("fading:0.999",)),
        "half-life": Spelling(
            "half_life",
            _number_or_duration,
            f"a number of rows, or a duration in {UNITS},",
            ("half-life:30D",),
        ),
    }

    def __post_init__(self) -> None:
        factor: Any = self.fading_factor
        half_life: Any = self.half_life
        if (factor is None) == (half_life is None):
            raise ValueError(
                "FadingFactor takes one of fading_factor and half_life. Got fading_factor="
                f"{factor!r} and half_life={half_life!r}."
            )
        duration, caution = duration_of(self, "half_life", half_life), ""
        if half_life is None:
            if not is_real(factor) or not 0.0 < (factor := float(factor)) <= 1.0:
                _refuse(self, "fading_factor", "a float in the range (0.0, 1.0]", factor)
            if factor < 0.5:  # perhaps it is meant as a decay
                caution = (
                    f"{self.name!r}: a fading factor is the weight of the past, so here almost "
                    "only the newest row counts. Zliobaite's decay is one minus this factor: "
                    f"write a decay of {factor:g} as 'fading:{1.0 - factor:.12g}'."
                )
        elif duration is not None:
            factor = 1.0
        elif not (is_real(half_life) and 0.0 < half_life < math.inf):
            _refuse(self, "half_life", "a number of rows above 0", half_life)
        else:
            factor = float(0.5 ** (1.0 / half_life))
        counts_time = duration is not None
        forgets = counts_time or factor < 1.0
        self._note(duration=duration, counts_time=counts_time, forgets=forgets)
        self._note(factor=factor, caution=caution)

    @property
    def name(self) -> str:
        """The spelling that `parse_forgetting` reads."""
        if self.fading_factor is not None:
            return f"fading:{_plain(self.fading_factor)}"
        return (
            f"half-life:{_spelled(self.half_life) if self.counts_time else _plain(self.half_life)}"
        )

    @property
    def words(self) -> str:
        """Which rows count."""
        if self.fading_factor is not None:
            return f"fading factor {self.fading_factor:g}"
        return f"half-life {self.name.partition(':')[2]}{'' if self.counts_time else ' rows'}"

    def sums(self, kinds: Any, n_classes: int, n_models: int) -> Any:
        """Return running sums of elementary series.

        Parameters
        ----------
        kinds : frozenset of KindOf
            The series to sum.
        n_classes : int
            Number of classes.
        n_models : int
            Number of models.

        Returns
        -------
        RunningSums
            Empty sums.
        """
        from skstream.core.measures.sums import CumulativeSums, FadingOfTimeSums

        if self.duration is not None:
            return FadingOfTimeSums(kinds, n_classes, n_models, self.duration)
        return CumulativeSums(kinds, n_classes, n_models, self.factor)

    def sum_of_values(self, power: int = 1) -> RunningSum:
        """Return a running sum for one series of values.

        Parameters
        ----------
        power : int, default=1
            2: weights are squared, as needed for the variance of a sum.

        Returns
        -------
        RunningSum
            An empty sum.
        """
        return FadedSum(self.factor**power)

    def memory(self, least_weight: float) -> int | None:
        """Return the number of rows with at least this weight; None: all rows.

        Parameters
        ----------
        least_weight : float
            Weight in (0, 1); the newest row weighs 1.

        Returns
        -------
        int or None
            The smallest k with ``factor ** k < least_weight``.

        Notes
        -----
        On a long stream all rows of at least that age together have the same share ``factor ** k``
        of the sum of the weights, ``1 / (1 - factor)``: all but a share of less than `least_weight`
        of the mean comes from these rows. The fading factors that Gama et al. (2013) set beside
        windows of 1,000 to 5,000 rows (Table 2) remember that many rows at a weight of 0.05.
        """
        factor = self.factor
        if factor == 1.0:
            return None
        horizon = math.floor(math.log(least_weight) / math.log(factor)) + 1
        # The quotient may be a rounding below or above a whole number.
        if factor ** (horizon - 1) < least_weight:
            return horizon - 1
        return horizon if factor**horizon < least_weight else horizon + 1

    def __repr__(self) -> str:
        given = [f"{k}={v!r}" for k, v in self.get_params().items() if v is not None]
        return f"{type(self).__name__}({', '.join(given)})"


@dataclass(frozen=True)
class AdaptiveWindow(Forgetting):
    """Remember the rows since the last change: the window that ADWIN keeps on the 0/1 loss.

    All means of a model are taken over this one window. Not for regression, whose losses are
    unbounded.

    Parameters
    ----------
    delta : float, default=0.002
        Confidence parameter of `skstream.drift.ADWIN`, in (0, 1); smaller values mean that the
        window shrinks less often.

    Raises
    ------
    ValueError
        If `delta` is not a number in (0, 1).

    References
    ----------
    A. Bifet, G. de Francisci Morales, J. Read, G. Holmes and B. Pfahringer. Efficient online
    evaluation of big data stream classifiers. KDD 2015, section 6.1.

    Examples
    --------
    >>> from skstream.forgetting import AdaptiveWindow
    >>> AdaptiveWindow().name
    'adwin'
    """

    delta: float = 0.002

    spellings: ClassVar = {
        "adwin": Spelling("delta", float, "a number", ("adwin", "adwin:0.01"), alone=True)
    }
    follows_loss = True
    words = "adaptive window"

    def __post_init__(self) -> None:
        if not is_real(self.delta) or not 0.0 < self.delta < 1.0:
            _refuse(self, "delta", "a float in the range (0.0, 1.0)", self.delta)

    @property
    def name(self) -> str:
        """The spelling that `parse_forgetting` reads."""
        return "adwin" if self.delta == AdaptiveWindow.delta else f"adwin:{_plain(self.delta)}"

    def sums(self, kinds: Any, n_classes: int, n_models: int) -> Any:
        """Return running sums of elementary series.

        Parameters
        ----------
        kinds : frozenset of KindOf
            The series to sum.
        n_classes : int
            Number of classes.
        n_models : int
            Number of models.

        Returns
        -------
        RunningSums
            Empty sums.
        """
        from skstream.core.measures.adaptive_sums import AdaptiveSums  # imports this file

        return AdaptiveSums(kinds, n_classes, n_models, partial(ADWIN, delta=self.delta))

    def sum_of_values(self, power: int = 1) -> RunningSum:
        """Raise an error: the window follows the loss of one model, not arbitrary values.

        Parameters
        ----------
        power : int, default=1
            Has no effect.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError("AdaptiveWindow follows the 0/1 loss of one model, not other values.")

    def memory(self, least_weight: float) -> int | None:
        """Return None: it depends on the losses.

        Parameters
        ----------
        least_weight : float
            Weight in (0, 1); the newest row weighs 1.

        Returns
        -------
        int or None
            Number of the newest rows with at least this weight.
        """
        return None


def parse_forgetting(text: str) -> Forgetting:
    """Read the name of a forgetting mechanism.

    Parameters
    ----------
    text : str
        ``"cumulative"``, ``"window:1000"``, ``"window:7D"``, ``"fading:0.999"``,
        ``"tumbling:500"``, ``"half-life:500"``, ``"half-life:30D"``, ``"adwin"`` or
        ``"adwin:0.01"``.

    Returns
    -------
    Forgetting
        The mechanism.

    Raises
    ------
    ValueError
        If the name is unknown (the known ones are listed), or its number is missing, not a number,
        or out of range.

    Examples
    --------
    >>> from skstream.core.forgetting import parse_forgetting
    >>> parse_forgetting("window:1000")
    SlidingWindow(window_size=1000)
    """
    kind, colon, number = text.strip().partition(":")
    kind = kind.strip()
    if kind not in _KNOWN:
        raise ValueError(f"Unknown forgetting {text!r}.{_meant(text)} Known are {_examples()}.")
    mechanism, spelling = _KNOWN[kind]
    if not colon and spelling.alone:
        return mechanism()
    if spelling.read is None:
        raise ValueError(f"Forgetting {text!r}: {kind!r} takes no number.")
    try:
        value = spelling.read(number)
    except ValueError:
        raise ValueError(
            f"Forgetting {text!r} needs {spelling.wanted} after {kind!r} and a colon. Got "
            f"{number!r} instead. Known are {_examples()}."
        ) from None
    return mechanism(**{spelling.parameter: value})


def _meant(text: str) -> str:
    """Question that names a whole spelling near a text; empty if none is."""
    word, number = re.split(r"[\s:=_-]*(?=\d|[:=]|$)", text.strip(), maxsplit=1)
    word = re.sub(r"[\s_]", "-", word.casefold())
    (near,) = get_close_matches(_OTHER_WORDS.get(word, word), _KNOWN, n=1) or ("",)
    if not near:
        return ""
    found = f"{near}:{number.lstrip(':= ')}"
    try:
        parse_forgetting(found)
    except ValueError:
        found = _KNOWN[near][1].examples[0]
    return f" Did you mean {found!r}?"


def as_forgetting(spec: Any) -> dict[str, Forgetting]:
    """Return forgetting mechanisms by name, from any form of the parameter.

    Parameters
    ----------
    spec : Forgetting, str, list or dict
        One mechanism, or the name of one as `parse_forgetting` reads it, or several: a list, or
        a dict that gives them names.

    Returns
    -------
    dict of str to Forgetting
        In the given order. A mechanism that was given no name is called by its own.

    Raises
    ------
    ValueError
        If a name is unknown or given twice, or there is none.
    TypeError
        If something else was given.

    Warns
    -----
    UserWarning
        If a fading factor is below 0.5, as a decay is, which is one minus it.

    Examples
    --------
    >>> from skstream.core.forgetting import as_forgetting
    >>> as_forgetting("fading:0.999")
    {'fading:0.999': FadingFactor(fading_factor=0.999)}
    >>> as_forgetting({"all": "cumulative", "recent": "window:500"})
    {'all': Cumulative(), 'recent': SlidingWindow(window_size=500)}
    """
    if isinstance(spec, Mapping):
        given: list[tuple[Any, Any]] = list(names_as_text(spec, "forgetting mechanisms").items())
    elif isinstance(spec, Iterable) and not isinstance(spec, str):
        given = [(None, item) for item in spec]
    else:
        given = [(None, spec)]
    if not given:
        raise ValueError(f"No forgetting mechanism was given. Known are {_examples()}.")
    named: dict[str, Forgetting] = {}
    for name, item in given:
        mechanism = parse_forgetting(item) if isinstance(item, str) else item
        if not isinstance(mechanism, Forgetting):
            raise TypeError(
                "A forgetting mechanism must be a Forgetting such as SlidingWindow(1000), or one "
                f"of the names {_examples()}. Got {item!r} of type {type(item).__name__} instead."
            )
        name = mechanism.name if name is None else name
        if name in named:
            raise ValueError(f"A forgetting mechanism was given twice: {name!r}.")
        named[name] = mechanism
        if mechanism.caution:
            warn(mechanism.caution)
    return named


def hoeffding_sample_size(epsilon: float, delta: float) -> int:
    """Number of rows for the mean of a 0/1 loss to be within `epsilon` of its expectation.

    Parameters
    ----------
    epsilon : float
        Largest tolerated deviation, greater than 0.
    delta : float
        Probability of a larger one, in (0, 1).

    Returns
    -------
    int
        The smallest integer not below ``ln(2 / delta) / (2 * epsilon ** 2)``.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    Notes
    -----
    For 0.01 and 0.05 the paper prints 18444; the bound is 18444.397, hence 18445.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues. On evaluating stream learning algorithms. Machine
    Learning 90, 2013, appendix A.

    Examples
    --------
    >>> from skstream.forgetting import hoeffding_sample_size
    >>> hoeffding_sample_size(0.01, 0.05)
    18445
    """
    if not is_real(epsilon) or not 1e-150 <= epsilon < math.inf:  # its square is no float below
        _refuse("hoeffding_sample_size", "epsilon", "a float in the range [1e-150, inf)", epsilon)
    if not is_real(delta) or not 0.0 < delta < 1.0:
        _refuse("hoeffding_sample_size", "delta", "a float in the range (0.0, 1.0)", delta)
    return math.ceil(math.log(2.0 / delta) / (2.0 * epsilon**2))


def window_half_width(n: int) -> float:
    """Half-width of the 95 % interval of a mean of `n` 0/1 losses, in the worst case.

    Parameters
    ----------
    n : int
        Rows in the mean, at least 1.

    Returns
    -------
    float
        ``2 * sqrt(0.25 / n)``: two standard errors where the error rate is one half.

    Raises
    ------
    ValueError
        If `n` is not a positive integer.

    Notes
    -----
    The paper prints a factor of 4 and calls the half-width the width; its percentages agree with
    this formula.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues. On evaluating stream learning algorithms. Machine
    Learning 90, 2013, section 3.4.

    Examples
    --------
    >>> from skstream.forgetting import window_half_width
    >>> round(window_half_width(1000), 4), window_half_width(10_000)
    (0.0316, 0.01)
    """
    if not is_integer(n) or n < 1:
        _refuse("window_half_width", "n", "an int in the range [1, inf)", n)
    return 2.0 * math.sqrt(0.25 / n)


def equivalent_window(fading_factor: float, *, match: str = "variance") -> int:
    """Size of the sliding window equivalent to a fading factor.

    Parameters
    ----------
    fading_factor : float
        Weight of the past, in (0, 1).
    match : {"variance", "weight"}, default="variance"
        The property that both share. "variance": the mean has the same variance and the rows the
        same mean age, ``(1 + fading_factor) / (1 - fading_factor)`` rows. "weight": the weights
        have the same sum, ``1 / (1 - fading_factor)`` rows, about half as many.

    Returns
    -------
    int
        Rows, rounded, at least 1.

    Raises
    ------
    ValueError
        If a parameter is out of its range; a factor of 1 forgets nothing.

    Notes
    -----
    Weights ``a ** k`` (k = 0, 1, ...) sum to ``1 / (1 - a)``, and their squares to ``1 / (1 - a **
    2)``. If losses are independent and of one variance, the variance of their weighted mean is
    that of a plain mean of ``(sum of weights) ** 2 / (sum of squared weights) = (1 + a) / (1 - a)``
    rows (Kish's effective sample size). The mean age of a row is ``a / (1 - a)`` under the
    weights, and ``(w - 1) / 2`` in a window of w rows: equal for the same w. So the two are equally
    noisy if nothing changes, and have the same lag behind an error that rises or falls steadily.
    Gama et al. (2013) give the sum of the weights as the limit of the denominator; a window of that
    size is nearly twice as noisy as the fading factor.

    References
    ----------
    L. Kish. Survey Sampling. Wiley, 1965, section 11.7.

    J. Gama, R. Sebastião and P. P. Rodrigues. On evaluating stream learning algorithms. Machine
    Learning 90, 2013, section 3.2.1.

    Examples
    --------
    >>> from skstream.forgetting import equivalent_window
    >>> equivalent_window(0.999), equivalent_window(0.999, match="weight")
    (1999, 1000)
    """
    if not is_real(fading_factor) or not 0.0 < fading_factor < 1.0:
        requirement = "a float in the range (0.0, 1.0); 1 forgets nothing"
        _refuse("equivalent_window", "fading_factor", requirement, fading_factor)
    if match not in ("variance", "weight"):
        _refuse("equivalent_window", "match", 'a name, "variance" or "weight"', match)
    weight = 1.0 / (1.0 - fading_factor)
    return max(1, round((1.0 + fading_factor) * weight if match == "variance" else weight))
