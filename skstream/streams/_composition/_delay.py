"""Streams whose labels come late."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import Stream
from skstream.streams._composition._base import ChangedRows
from skstream.streams._values import column_at, missing_among
from skstream.utils._choices import check_count
from skstream.utils._rows import is_frame
from skstream.utils._seeds import uniform
from skstream.utils._times import duration_column, parse_duration

#: Delays are drawn for whole blocks, since the functions of a distribution may give a value other
#: last bits in another place of an array.
BLOCK = 1 << 10


def with_delay(
    stream: Any, delay: Any, *, unit: timedelta | None = None, random_state: int = 0
) -> Stream:
    """Add label delays to a stream.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream. Its rows arrive at their "arrival" times, or else at their row numbers.
    delay : number, timedelta, str, or frozen distribution of scipy.stats
        Time from arrival to label: the same for all rows, also a text such as "3D"; the name of a
        feature that holds it; or a distribution (anything with a method ``ppf``), from which each
        row's delay is drawn. Infinite, or missing in a row: the label never comes. Timedeltas if
        arrivals are datetimes, else numbers.
    unit : timedelta, default=None
        Unit of the delays, if they are numbers and arrivals are datetimes.
    random_state : int, default=0
        Seed of the draws from a distribution, which depend only on the seed and the row number.

    Returns
    -------
    stream : Stream
        The same rows, with "arrival" and "label_time" in their meta data, as `DelayedEvaluator`
        expects them. Missing labels never come. If the delays are a feature, it remains a feature.

    Raises
    ------
    ValueError
        If a delay is negative or does not match the kind of the arrivals, a single delay for all
        rows is missing, or its feature does not exist; if the stream already has label times.

    See Also
    --------
    skstream.DelayedEvaluator : Evaluates models on such a stream.

    Examples
    --------
    >>> from scipy.stats import expon
    >>> from skstream.streams import SEA, with_delay
    >>> stream = with_delay(SEA(1000), expon(scale=50))
    >>> X, y, meta = stream.rows(10, 12)
    >>> meta["arrival"]
    array([10., 11.])
    >>> bool((meta["label_time"] > meta["arrival"]).all())
    True
    """
    return LateLabels(stream, delay, unit, random_state)


class LateLabels(ChangedRows):
    """Another stream whose labels come late; see `with_delay`.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    delay : number, timedelta, str or distribution
        Time from arrival to label.
    unit : timedelta or None
        What a delay of 1 is.
    random_state : int
        Seed.
    """

    _own_options = ("delay", "unit", "random_state")

    def __init__(self, stream: Any, delay: Any, unit: timedelta | None, random_state: int) -> None:
        super().__init__(stream)
        self._is_drawn = hasattr(delay, "ppf")
        if not self._is_drawn and not isinstance(delay, str):
            if np.ndim(delay) or callable(delay):
                raise ValueError(
                    f"delay must be a number, a timedelta, the name of a feature, or a "
                    f"distribution of scipy.stats. Got {delay!r} instead."
                )
            duration = duration_column(delay, "delay")
            if np.isnat(duration) if duration.dtype.kind == "m" else np.isnan(duration):
                raise ValueError(
                    f"delay must be a number or a timedelta. Got {delay!r} instead, so no label "
                    "would ever come; if you mean that, pass float('inf')."
                )
            check_delays(duration, 0)
        self.delay = delay
        self.unit = None if unit is None else np.timedelta64(unit, "us")
        self.random_state = check_count(random_state, "random_state", 0)

    def labels(self) -> Iterator[NDArray[Any]]:
        """Labels alone, chunk by chunk."""
        yield from self.parts[0].labels()

    def _changed(self, chunk: Chunk, start: int) -> Chunk:
        if "label_time" in chunk.meta:
            raise ValueError(
                "The stream already has label times (label_time). Leave out with_delay."
            )
        return late(chunk, self._delays(chunk.X, start, len(chunk.y)), start, self.unit)

    def _delays(self, X: Any, start: int, n: int) -> NDArray[Any]:
        if self._is_drawn:
            delays = self._drawn(start, start + n)
        elif isinstance(self.delay, str):
            delays = duration_column(self._column(X), "delay")
        else:
            return duration_column(self.delay, "delay")
        check_delays(delays, start)
        return delays

    def _drawn(self, start: int, stop: int) -> NDArray[np.float64]:
        first = start // BLOCK * BLOCK
        values = []
        for begin in range(first, stop, BLOCK):
            numbers = uniform(self.random_state, f"delay {self.depth}", begin, begin + BLOCK)
            # Not 0, at which distributions of whole numbers are one less than their least.
            values.append(np.asarray(self.delay.ppf(numbers + 2.0**-54), dtype=np.float64))
        return np.concatenate([np.empty(0), *values])[start - first : stop - first]

    def _column(self, X: Any) -> Any:
        names = list(X.columns) if is_frame(X) else self.feature_names
        if names is None or self.delay not in names:
            length = parse_duration(self.delay)
            if length is not None:
                return length
            raise ValueError(
                f"delay={self.delay!r} is neither a duration, such as '3D', nor a feature of the "
                f"rows, which have {'no names of features' if names is None else names}."
            )
        place = names.index(self.delay)
        return X[:, [place]].toarray()[:, 0] if sparse.issparse(X) else column_at(X, place)


def late(chunk: Chunk, delays: NDArray[Any], start: int, unit: np.timedelta64 | None) -> Chunk:
    """Return the rows of a chunk, which begins at row `start`, with labels that come late."""
    arrival = chunk.meta.get("arrival")
    if arrival is None:
        arrival = np.arange(start, start + len(chunk.y), dtype=np.float64)
    label_time = _later(arrival, np.broadcast_to(delays, len(chunk.y)), unit)
    missing = missing_among(chunk.y.tolist())
    if missing.any():
        label_time[missing] = "NaT" if label_time.dtype.kind == "M" else np.inf
    return chunk._replace(meta={**chunk.meta, "arrival": arrival, "label_time": label_time})


def check_delays(delays: NDArray[Any], start: int) -> None:
    """Raise an error where a label would come before its row; the first one is row `start`."""
    values = np.atleast_1d(delays)
    negative = values < (np.timedelta64(0) if values.dtype.kind == "m" else 0)
    if negative.any():
        at = int(negative.argmax())
        where = f" of row {start + at}" if len(values) > 1 else ""
        raise ValueError(
            f"The delay{where} is {values[at]}: a label cannot come before its row. Give a delay "
            f"of at least 0."
        )


def _later(arrival: NDArray[Any], delays: NDArray[Any], unit: np.timedelta64 | None) -> Any:
    """Return times so much later; missing or infinite delays end never."""
    dated = arrival.dtype.kind == "M"
    if delays.dtype.kind == "m" and not dated:
        raise ValueError(
            "The delay is a timedelta, but arrivals are numbers. Pass a number, or arrivals as "
            "datetimes."
        )
    if delays.dtype.kind == "m":
        return arrival + delays
    if not dated:
        numbers = np.asarray(delays, dtype=np.float64)
        return arrival + np.where(np.isnan(numbers), np.inf, numbers)
    if unit is None:
        raise ValueError(
            "The delay is a number, but arrivals are datetimes. Pass a timedelta, or the unit of "
            "delays: unit=timedelta(hours=1)."
        )
    never = ~np.isfinite(np.asarray(delays, dtype=np.float64))
    durations = np.round(np.where(never, 0.0, delays) * unit.astype(np.float64))
    times = arrival + durations.astype("timedelta64[us]")
    times[never] = "NaT"
    return times
