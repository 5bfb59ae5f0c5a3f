"""Streams whose classes have other shares."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import NEVER, Drift, Stream
from skstream.streams._composition._base import (
    ComposedStream,
    Reader,
    block_of,
    taken,
)
from skstream.utils._choices import check_count, is_real
from skstream.utils._labels import LabelSpace, as_labels
from skstream.utils._seeds import uniform

#: Rows whose kept ones are counted together.
BLOCK = 1 << 12


def with_imbalance(
    stream: Any,
    shares: Mapping[Any, float],
    *,
    current: Mapping[Any, float] | None = None,
    random_state: int = 0,
) -> Stream:
    """Leave out rows so that classes have given shares.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream. All rows of the class that is rarest relative to its wanted share are kept; rows
        of other classes are kept at random.
    shares : dict of label to float
        Share of every class, from 0 to 1; they must sum to 1. Classes of share 0 are left out.
    current : dict of label to float, default=None
        Shares of the classes in the stream. None: counted in a separate pass.
    random_state : int, default=0
        Seed. Whether a row is kept depends only on the seed, its number and its class.

    Returns
    -------
    stream : Stream
        Fewer rows: about ``n_rows * min(current[c] / shares[c])``, the minimum over the classes of
        shares above 0. The exact number, and the rows of drifts, are counted in a separate pass;
        `n_rows` is None for endless streams and those that can be iterated only once. Rows without
        a label are kept.

    Raises
    ------
    ValueError
        If the shares do not name all classes or do not sum to 1, a class does not occur, or the
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
                f"Class {label} does not occur in the stream, so it cannot have the share "
                f"{wanted[missing][0]:g}."
            )
        ratio = np.divide(wanted, found, out=np.zeros(len(found)), where=found > 0)
        return np.append(ratio / ratio.max(), 1.0)

    def _kept(self, y: NDArray[Any], start: int) -> NDArray[np.bool_]:
        """Return which rows are kept."""
        codes = self._space.encode(y, start)
        numbers = uniform(self.random_state, f"imbalance {self.depth}", start, start + len(y))
        return numbers < self._probabilities[codes]

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
            f"{name} must be shares from 0 to 1 that sum to 1. Got {dict(shares)}, together "
            f"{total:g}."
        )
    return {
        getattr(label, "item", lambda label=label: label)(): float(one)
        for label, one in shares.items()
    }
