"""Streams whose labels are changed, come late, or are no longer balanced."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import NEVER, Drift, Stream
from skstream.streams._composition._base import (
    ChangedRows,
    ComposedStream,
    Reader,
    block_of,
    taken,
)
from skstream.streams._values import column_at, missing_among
from skstream.utils._choices import check_count, check_share, is_real
from skstream.utils._labels import LabelSpace, as_labels, find_classes
from skstream.utils._rows import is_frame
from skstream.utils._seeds import uniform
from skstream.utils._times import duration_column


def with_label_noise(
    stream: Any, share: float, *, classes: Any = None, random_state: int = 0
) -> Stream:
    """Replace some labels by wrong ones.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    share : float
        Probability, from 0 to 1, that a label is replaced by another class; each of the others is
        equally likely.
    classes : array-like of shape (n_classes,), default=None
        All labels that may come; None: those that the stream says.
    random_state : int, default=0
        Seed. Which labels are replaced is addressed by the row.

    Returns
    -------
    stream : Stream
        The same rows; missing labels stay missing.

    Raises
    ------
    ValueError
        If the classes are not known, or there is only one; if `share` is not from 0 to 1.

    See Also
    --------
    skstream.noise.LabelNoise : Makes answers of a model wrong, not labels of a stream.

    Examples
    --------
    >>> from skstream.streams import make_demo_stream, with_label_noise
    >>> stream = make_demo_stream(1000)
    >>> noisy = with_label_noise(stream, 0.1)
    >>> sum(int((y != true).sum()) for y, true in zip(noisy.labels(), stream.labels()))
    103
    """
    return NoisyLabels(stream, check_share(share, "share"), classes, random_state)


class NoisyLabels(ChangedRows):
    """Another stream with wrong labels; see `with_label_noise`.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    share : float
        Probability that a label is wrong.
    classes : array-like or None
        All labels that may come.
    random_state : int
        Seed.
    """

    _own_options = ("share", "random_state")

    def __init__(self, stream: Any, share: float, classes: Any, random_state: int) -> None:
        super().__init__(stream)
        known = self.parts[0].classes if classes is None else find_classes(classes, "classes")
        if known is None:
            raise ValueError(
                "Which labels may be wrong ones is not known: the stream does not say its classes. "
                "Pass classes=[...]. Targets of regression have none."
            )
        if len(known) < 2:
            raise ValueError(f"A wrong label needs two classes. Got {known.tolist()}.")
        self._space = LabelSpace(known)
        self._classes = known
        self.share = share
        self.random_state = check_count(random_state, "random_state", 0)

    @property
    def classes(self) -> NDArray[Any]:
        """Sorted class labels."""
        return self._classes

    def _changed(self, chunk: Chunk, start: int) -> Chunk:
        codes = self._space.encode(chunk.y, start)
        name = f"label noise {self.depth}"
        numbers = uniform(self.random_state, name, start, start + len(chunk.y))
        wrong = np.flatnonzero((numbers < self.share) & (codes >= 0))
        n_others = len(self._classes) - 1
        # Of the labels that are replaced, the same number says by which.
        step = np.minimum((numbers[wrong] / (self.share or 1) * n_others).astype(int), n_others - 1)
        noisy = chunk.y.astype(
            np.result_type(chunk.y, self._classes)
        )  # a copy, in which every class fits
        noisy[wrong] = self._classes[(codes[wrong] + 1 + step) % (n_others + 1)]
        return chunk._replace(y=noisy)


#: Rows whose kept ones are counted together.
BLOCK = 1 << 12


def with_imbalance(
    stream: Any,
    shares: Mapping[Any, float],
    *,
    current: Mapping[Any, float] | None = None,
    random_state: int = 0,
) -> Stream:
    """Leave out rows so that the classes have given shares.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream, of which all rows are kept whose class is the rarest in relation to what is
        asked for; those of the others are kept with a probability.
    shares : dict of label to float
        Share of every class, from 0 to 1, all together 1. Classes of share 0 do not come.
    current : dict of label to float, default=None
        Shares of the classes in the stream. None: they are counted, in a pass of its own.
    random_state : int, default=0
        Seed. Which rows are kept is addressed by the row and the class.

    Returns
    -------
    stream : Stream
        Fewer rows: about ``n_rows * min(current[c] / shares[c])``, the minimum over the classes of
        shares above 0. How many it is exactly, and where drifts are among them, is counted in a
        pass of its own; `n_rows` is None for endless streams and those that can be iterated once.
        Rows without a label stay.

    Raises
    ------
    ValueError
        If the shares do not name all classes or are not 1 together, a class does not come, or the
        stream can be iterated only once and `current` is not given.

    Examples
    --------
    >>> from skstream.streams import SEA, label_profile, with_imbalance
    >>> stream = with_imbalance(SEA(10_000, thresholds=[8]), {0: 0.95, 1: 0.05})
    >>> stream.n_rows
    3766
    >>> label_profile(stream).priors.round(2)
    array([0.95, 0.05])
    """
    return Thinned(stream, shares, current, random_state)


class Thinned(ComposedStream):
    """Another stream without some of its rows; see `with_imbalance`.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    shares : dict of label to float
        Share of every class.
    current : dict of label to float, or None
        Shares of the classes in the stream.
    random_state : int
        Seed.
    """

    _own_options = ("shares", "current", "random_state")

    def __init__(
        self,
        stream: Any,
        shares: Mapping[Any, float],
        current: Mapping[Any, float] | None,
        random_state: int,
    ) -> None:
        super().__init__(stream)
        self.shares = _checked(shares, "shares")
        self.current = None if current is None else _checked(current, "current")
        self.random_state = check_count(random_state, "random_state", 0)
        (part,) = self.parts
        self._space = LabelSpace(np.sort(as_labels(list(self.shares))))
        known = part.classes
        for given, what in ((known, "the stream has"), (self.current, "current names")):
            if given is not None and set(given) != set(self.shares):
                raise ValueError(
                    f"shares must name every class. They name {list(self.shares)}, and {what} "
                    f"{[getattr(one, 'item', lambda one=one: one)() for one in given]}."
                )
        if self.current is None and (not part.reiterable or part.endless):
            why = "never ends" if part.reiterable else "can be iterated only once"
            raise ValueError(
                f"The shares of the classes cannot be counted: the stream {why}. Pass them, "
                f"current=. {_AGAIN if not part.reiterable else ''}".rstrip()
            )

    @cached_property
    def _probabilities(self) -> NDArray[np.float64]:
        """How likely a row of each class is kept; of no class, surely."""
        labels = self._space.classes
        assert labels is not None
        wanted = np.array([self.shares[label] for label in labels.tolist()])
        if self.current is None:
            counts, start = np.zeros(len(labels) + 1), 0
            for y in self.parts[0].labels():
                counts += np.bincount(self._space.encode(y, start) + 1, minlength=len(counts))
                start += len(y)
            found = counts[1:] / max(1.0, counts[1:].sum())
        else:
            found = np.array([self.current[label] for label in labels.tolist()])
        missing = (found == 0) & (wanted > 0)
        if missing.any():
            label = labels[missing][0]
            raise ValueError(
                f"Class {label} does not come in the stream, so that it cannot have the share "
                f"{wanted[missing][0]:g}."
            )
        ratio = np.divide(wanted, found, out=np.zeros(len(found)), where=found > 0)
        return np.append(ratio / ratio.max(), 1.0)

    def _kept(self, y: NDArray[Any], start: int) -> NDArray[np.bool_]:
        """Return which rows are kept."""
        codes = self._space.encode(y, start)
        numbers = uniform(self.random_state, f"imbalance {self.depth}", start, start + len(y))
        kept: NDArray[np.bool_] = numbers < self._probabilities[codes]
        return kept

    def _all_kept(self) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Yield the first row of each chunk, and which of its rows are kept."""
        start = 0
        for y in self.parts[0].labels():
            yield start, self._kept(y, start)
            start += len(y)

    @cached_property
    def _n_kept(self) -> NDArray[np.int64]:
        """Count the rows kept before each block of the stream, and at its end."""
        counts: list[int] = [0]
        for start, kept in self._all_kept():
            for row in range(start - start % BLOCK, start + len(kept), BLOCK):
                if row >= start:
                    counts.append(counts[-1])
                counts[-1] += int(np.count_nonzero(kept[max(0, row - start) : row - start + BLOCK]))
        return np.array(counts)

    @cached_property
    def n_rows(self) -> int | None:
        """Number of rows that are kept; None if they cannot be counted."""
        (part,) = self.parts
        if not part.reiterable or part.endless:
            return None
        return int(self._n_kept[-1])

    @property
    def knows_drifts(self) -> bool:
        """Whether those of the stream are known, and can be counted among the rows kept."""
        (part,) = self.parts
        return super().knows_drifts and (part.reiterable or not part.drifts)

    @cached_property
    def _found_drifts(self) -> tuple[Drift, ...]:
        """Return the drifts of the stream, in the rows that are kept."""
        given = self.parts[0].drifts
        before = dict.fromkeys((row for drift in given for row in drift if row < NEVER), 0)
        for start, kept in self._all_kept() if before else ():
            counts = np.append(0, np.cumsum(kept))
            for row in before:
                before[row] += int(counts[min(max(0, row - start), len(kept))])
            if start + len(kept) >= max(before):
                break
        found = [Drift(*(before.get(row, row) for row in drift)) for drift in given]
        return tuple(drift for drift in found if drift.end > 0)

    @property
    def rows(self) -> Any:
        """Function that gives the rows from one number up to another, of a stream that ends."""
        if self.parts[0].endless:
            raise AttributeError("How many rows come before others is not known without an end.")
        return super().rows

    def _made(self, readers: list[Reader]) -> Iterator[Chunk]:
        start = 0
        for chunk in readers[0].until(inf):
            yield taken(chunk, np.flatnonzero(self._kept(chunk.y, start)))
            start += len(chunk.y)

    def _runs(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        return iter(())  # which rows of the stream these are is not known

    def _block(self, start: int, stop: int) -> Chunk:
        (part,) = self.parts
        if start == stop:
            return block_of(part, 0, 0)
        first = int(np.searchsorted(self._n_kept, start, side="right")) - 1
        last = int(np.searchsorted(self._n_kept, stop))
        begin, end = first * BLOCK, min(last * BLOCK, part.n_rows or 0)
        chunk = block_of(part, begin, end)
        kept = np.flatnonzero(self._kept(chunk.y, begin))
        n_before = int(self._n_kept[first])
        return taken(chunk, kept[start - n_before : stop - n_before])


_AGAIN = "Or pass the generator function itself instead of its result."


def _checked(shares: Any, name: str) -> dict[Any, float]:
    """Return shares by label, which are 1 together."""
    if not isinstance(shares, Mapping) or not all(map(is_real, shares.values())):
        raise ValueError(f"{name} must map labels to shares from 0 to 1. Got {shares!r} instead.")
    total = sum(shares.values())
    if not all(share >= 0 for share in shares.values()) or abs(total - 1) > 1e-6:
        raise ValueError(
            f"{name} must be shares from 0 to 1, all together 1. Got {dict(shares)}, together "
            f"{total:g}."
        )
    return {
        getattr(label, "item", lambda label=label: label)(): float(one)
        for label, one in shares.items()
    }


#: Delays are drawn for whole blocks, since the functions of a distribution may give a value other
#: last bits in another place of an array.
_ROWS_DRAWN = 1 << 10


def with_delay(
    stream: Any, delay: Any, *, unit: timedelta | None = None, random_state: int = 0
) -> Stream:
    """Let the label of every row come after a delay.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream. Its rows arrive when their "arrival" says, or else at their row numbers.
    delay : number, timedelta, str, or frozen distribution of scipy.stats
        Time from arrival to label: the same for all rows; the name of a feature that holds it; or a
        distribution (anything with a method ``ppf``), of which each row has its own value.
        Infinite, or missing in a row: the label never comes. Timedeltas where arrivals are
        datetimes, else numbers.
    unit : timedelta, default=None
        What a delay of 1 is, where delays are numbers and arrivals are datetimes.
    random_state : int, default=0
        Seed of the values of a distribution, which are addressed by the row.

    Returns
    -------
    stream : Stream
        The same rows, with "arrival" and "label_time" in their meta data, as `DelayedEvaluator`
        reads them. The label of a row without one never comes. A feature that holds the delays
        stays a feature.

    Raises
    ------
    ValueError
        If a delay is negative or of another kind than the arrivals, the one of all rows is missing,
        or its feature is not there; if the stream says already when its labels come.

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
                    f"delay must be a number or a timedelta. Got {delay!r} instead, with which no "
                    f"label would ever come; if that is meant, pass float('inf')."
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
                "The stream says already when its labels come, label_time. Leave with_delay out."
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
        first = start // _ROWS_DRAWN * BLOCK
        values = []
        for begin in range(first, stop, _ROWS_DRAWN):
            numbers = uniform(self.random_state, f"delay {self.depth}", begin, begin + _ROWS_DRAWN)
            # Not 0, at which distributions of whole numbers are one less than their least.
            values.append(np.asarray(self.delay.ppf(numbers + 2.0**-54), dtype=np.float64))
        return np.concatenate([np.empty(0), *values])[start - first : stop - first]

    def _column(self, X: Any) -> Any:
        names = list(X.columns) if is_frame(X) else self.feature_names
        if names is None or self.delay not in names:
            raise ValueError(
                f"delay={self.delay!r} names a feature, but the rows have "
                f"{'no names of features' if names is None else names}."
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
            "The delay is a timedelta, but the rows arrive at numbers. Give a number, or arrivals "
            "as datetimes."
        )
    if delays.dtype.kind == "m":
        return arrival + delays
    if not dated:
        numbers = np.asarray(delays, dtype=np.float64)
        return arrival + np.where(np.isnan(numbers), np.inf, numbers)
    if unit is None:
        raise ValueError(
            "The delay is a number, but the rows arrive at datetimes. Give a timedelta, or say "
            "what a delay of 1 is: unit=timedelta(hours=1)."
        )
    never = ~np.isfinite(np.asarray(delays, dtype=np.float64))
    durations = np.round(np.where(never, 0.0, delays) * unit.astype(np.float64))
    times = arrival + durations.astype("timedelta64[us]")
    times[never] = "NaT"
    return times
