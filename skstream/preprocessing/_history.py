"""The last rows of every key, and what each row of a block finds there."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.preprocessing._keys import Found, KeyIndex, Places, RecentKeys
from skstream.utils._versions import Value, VersionedArray

Floats = NDArray[np.float64]


class Past(NamedTuple):
    """The rows of all keys that a block deals with, key by key, oldest first.

    Attributes
    ----------
    rows : ndarray of shape (n_columns, n_stored)
        Values. Before the rows of each key stand as many as are remembered, NaN where there are
        none.
    at : ndarray of shape (n_moments,)
        Different moments in this past, each as the place of the row that comes next: the last row
        that is known stands before it.
    learnt, asked : ndarray of shape (n_learnt,), (n_asked,)
        Which moment a row that is learnt sees, and one that is asked.
    """

    rows: Floats
    at: Places
    learnt: Places
    asked: Places

    def back(self, n: int) -> Floats:
        """Return the n-th last row at every moment, as (n_columns, n_moments)."""
        found: Floats = self.rows.take(self.at - n, axis=1)
        return found


class History(Value):
    """The last rows of every key. It is a value: `learn` returns another one.

    Parameters
    ----------
    n_columns : int
        Values of a row.
    depth : int
        Rows remembered of each key.
    most : int or None
        Keys remembered at most; None: all.
    """

    def __init__(self, n_columns: int, depth: int, most: int | None):
        self._keys: Any = KeyIndex() if most is None else RecentKeys(most)
        self._depth = depth
        self._rows = VersionedArray(_no_rows(n_columns, depth, 0))

    @classmethod
    def _of(cls, keys: Any, depth: int, rows: VersionedArray) -> "History":
        history = cls.__new__(cls)
        history._keys, history._depth, history._rows = keys, depth, rows
        return history

    @property
    def depth(self) -> int:
        """Rows remembered of each key."""
        return self._depth

    def keys(self) -> list[Any]:
        """Return the keys that are remembered."""
        keys: list[Any] = self._keys.keys()
        return keys

    def copy(self) -> "History":
        """Return a history of its own memory, for another thread."""
        return deepcopy(self)

    def learn(
        self,
        keys: Sequence[Any],
        values: Floats,
        learnt: Places,
        asked: Places,
        stamp: NDArray[np.integer[Any]],
    ) -> tuple["History", Past]:
        """Learn some rows one after the other; tell what each of them, and each row asked, sees.

        Parameters
        ----------
        keys : sequence of length n_rows
            Keys of all rows.
        values : ndarray of shape (n_rows, n_columns)
            Their values.
        learnt, asked : ndarray of shape (n_learnt,), (n_asked,)
            Which rows are learnt, in this order, and which are asked.
        stamp : ndarray of shape (n_asked,)
            How many rows are learnt before each ask; it does not decrease.

        Returns
        -------
        after : History
            What is remembered after all rows.
        past : Past
            A row that is learnt sees the rows of its key before it, never itself.
        """
        after, found = self._keys.learn(keys, learnt, asked, stamp)
        rows = self._rows
        if len(learnt) and _capacity(len(after)) > len(rows.read()):
            known = rows.read()
            more = _no_rows(values.shape[1], self._depth, _capacity(len(after)) - len(known))
            rows = VersionedArray(np.concatenate([known, more]))
        past, last, places = self._past(rows.read(), values[learnt], found, stamp)
        if len(places):
            rows, array = rows.changed(places)
            array[places] = last
        return History._of(after, self._depth, rows), past

    def _past(
        self, known: Floats, values: Floats, found: Found, stamp: NDArray[Any]
    ) -> tuple[Past, Floats, Places]:
        """Return what the rows see, the last rows of every key learnt, and where they belong."""
        depth, n, n_asked = self._depth, len(values), len(stamp)
        # Learns and asks in their order, then sorted by life. Life and number packed into one
        # number are sorted faster than by a stable argsort.
        learns = np.arange(n) + np.searchsorted(stamp, np.arange(n), side="right")
        asks = np.arange(n_asked) + stamp
        bits = max((n + n_asked).bit_length(), 1)
        packed = np.empty(n + n_asked, dtype=np.int64)
        packed[learns], packed[asks] = found.learnt, found.asked
        packed <<= bits
        packed |= np.arange(len(packed))
        packed.sort()
        life, event = packed >> bits, packed & ((1 << bits) - 1)
        is_learn = np.zeros(len(packed), dtype=np.intp)
        is_learn[learns] = 1
        n_learns = is_learn[event].cumsum()
        is_first = np.diff(life, prepend=-2) != 0
        lives = life[is_first]
        # Of each life the rows before come first, then those of the block.
        place = n_learns - is_learn[event] + is_first.cumsum() * depth
        rows = np.empty((values.shape[1], n + len(lives) * depth))
        first = place[is_first]
        earlier = np.full((len(lives), len(rows), depth), np.nan)
        is_known = (lives >= 0) & (lives < found.n_before)
        earlier[is_known] = known[lives[is_known]]
        back = np.arange(-depth, 0)
        rows[:, first[:, np.newaxis] + back] = earlier.transpose(1, 0, 2)
        place_of = np.empty_like(place)
        place_of[event] = place
        rows[:, place_of[learns]] = values.T
        is_moment = np.diff(place, prepend=-1) != 0
        place_of[event] = is_moment.cumsum() - 1
        past = Past(rows, place[is_moment], place_of[learns], place_of[asks])
        end = np.append(first[1:] - depth, n + len(lives) * depth)[: len(lives)]
        learnt = np.flatnonzero(end > first)
        places = found.place_after(lives[learnt])
        learnt, places = learnt[places >= 0], places[places >= 0]
        last = rows[:, end[learnt, np.newaxis] + back]
        return past, last.transpose(1, 0, 2), places


def _capacity(n_keys: int) -> int:
    """Keys for which there is room: a power of two."""
    return 1 << (n_keys - 1).bit_length() if n_keys else 0


def _no_rows(n_columns: int, depth: int, n_keys: int) -> Floats:
    return np.full((n_keys, n_columns, depth), np.nan)
