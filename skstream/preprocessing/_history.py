"""The last rows of every key, and what each row of a block finds there.

Keys (customers, sensors, categories) have places in the order in which they come. An index of keys
and a history never change: what is added makes new ones. So where rows were learnt in vain, the
history before them is still there.
"""

import operator
from collections.abc import Iterable, Sequence
from copy import deepcopy
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.pipeline._values_by_version import Value, VersionedArray
from skstream.streams._values import is_missing

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Found(NamedTuple):
    """Stays of the keys of some rows, each from when a key is learnt until it is forgotten.

    A key that was forgotten and comes back has another stay.

    Attributes
    ----------
    learnt : ndarray of shape (n_learnt,)
        Stay of the key of every row learnt.
    asked : ndarray of shape (n_asked,)
        Stay of the key of every row asked, at that moment; -1: unknown.
    n_before : int
        A stay below this number had begun before, and its rows are at that place.
    place_after : callable
        ``place_after(stays)``: where the rows of stays are from now on; -1: nowhere.
    """

    learnt: Places
    asked: Places
    n_before: int
    place_after: Any


class KeyIndex(Value):
    """Every key that has come, each at a place of its own.

    Versions share one dict as long as only the newest one grows.
    """

    def __init__(self, keys: Iterable[Any] = ()):
        self._place_of = {key: place for place, key in enumerate(keys)}
        self._size = len(self._place_of)

    def __len__(self) -> int:
        return self._size

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyIndex, (self.keys(),)

    def keys(self) -> list[Any]:
        """Return the keys in the order of their places."""
        return list(islice(self._place_of, self._size))

    def find(self, keys: Sequence[Any]) -> Places:
        """Return the places of some keys; -1: unknown."""
        places = np.fromiter(map(self._place_of.get, keys, repeat(-1)), np.intp, len(keys))
        if len(self._place_of) > self._size:  # another version has grown
            places[places >= self._size] = -1
        return places

    def learn(
        self, keys: Sequence[Any], learnt: Places, asked: Places, stamp: NDArray[Any]
    ) -> tuple["KeyIndex", Found]:
        """Learn the keys of some rows; `stamp` has how many are learnt before each row asked."""
        places = self.find(keys)
        unknown = learnt[places[learnt] < 0].tolist()
        after = self
        if unknown:
            after = KeyIndex.__new__(KeyIndex)
            after._place_of = self._place_of
            if len(self._place_of) > self._size:
                after._place_of = dict(islice(self._place_of.items(), self._size))
            for row in unknown:
                places[row] = after._place_of.setdefault(keys[row], len(after._place_of))
            after._size = len(after._place_of)
            others = np.flatnonzero(places < 0)
            places[others] = after.find([keys[row] for row in others.tolist()])
        return after, Found(places[learnt], places[asked], self._size, lambda stays: stays)


class RecentKeys(Value):
    """The keys learnt last, at most `most` of them: a new one takes the place of the oldest."""

    def __init__(self, most: int, place_of: dict[Any, int] | None = None):
        self._most = most
        self._place_of = {} if place_of is None else place_of  # the key learnt last stands last

    def __len__(self) -> int:
        return len(self._place_of)

    def __reduce__(self) -> tuple[Any, ...]:
        return RecentKeys, (self._most, self._place_of)

    def keys(self) -> list[Any]:
        """Return the keys in the order of their places."""
        return sorted(self._place_of, key=self._place_of.__getitem__)

    def learn(
        self, keys: Sequence[Any], learnt: Places, asked: Places, stamp: NDArray[Any]
    ) -> tuple["RecentKeys", Found]:
        """Learn the keys of some rows; `stamp` has how many are learnt before each row asked."""
        n_before, place_of = len(self), dict(self._place_of)
        stay_at: dict[int, int] = {}  # of places that have got another key
        new_places: list[int] = []  # of the stays that begin here
        ended: set[int] = set()
        stays, found, at = [], [], 0

        def stay_of(key: Any) -> int:
            place: int = place_of.get(key, -1)
            return stay_at.get(place, place)

        questions = [keys[row] for row in asked.tolist()]
        moments = [*stamp.tolist(), len(learnt)]
        for number, row in enumerate(learnt.tolist()):
            while moments[at] <= number:
                found.append(stay_of(questions[at]))
                at += 1
            key = keys[row]
            place: int = place_of.pop(key, -1)
            if place < 0:
                place = len(place_of)
                if place == self._most:
                    place = place_of.pop(next(iter(place_of)))
                    ended.add(stay_at.get(place, place))
                stay_at[place] = n_before + len(new_places)
                new_places.append(place)
            place_of[key] = place
            stays.append(stay_of(key))
        found += map(stay_of, questions[at:])

        def place_after(stays: Places) -> Places:
            places = [
                -1 if stay in ended else stay if stay < n_before else new_places[stay - n_before]
                for stay in stays.tolist()
            ]
            return np.array(places, dtype=np.intp)

        after = RecentKeys(self._most, place_of) if len(learnt) else self
        of_learnt, of_asked = (np.array(one, dtype=np.intp) for one in (stays, found))
        return after, Found(of_learnt, of_asked, n_before, place_after)


def keys_of(column: list[Any]) -> list[Any]:
    """Values of a column as keys: all missing ones (None, NaN, NaT, NA) are the key None."""
    try:
        if all(map(operator.eq, column, column)):
            return column
    except TypeError:  # NA has no truth value
        pass
    return [None if is_missing(value) else value for value in column]


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
        return self.rows.take(self.at - n, axis=1)


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
        return self._keys.keys()

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
        # Learns and asks in their order, then sorted by stay.
        learns = np.arange(n) + np.searchsorted(stamp, np.arange(n), side="right")
        asks = np.arange(n_asked) + stamp
        stay_of = np.empty(n + n_asked, dtype=np.int64)
        stay_of[learns], stay_of[asks] = found.learnt, found.asked
        stay, event = sorted_stably(stay_of)
        is_learn = np.zeros(len(stay), dtype=np.intp)
        is_learn[learns] = 1
        n_learns = is_learn[event].cumsum()
        is_first = np.diff(stay, prepend=-2) != 0
        stays = stay[is_first]
        # In each stay, earlier rows come first, then those of the block.
        place = n_learns - is_learn[event] + is_first.cumsum() * depth
        rows = np.empty((values.shape[1], n + len(stays) * depth))
        first = place[is_first]
        earlier = np.full((len(stays), len(rows), depth), np.nan)
        is_known = (stays >= 0) & (stays < found.n_before)
        earlier[is_known] = known[stays[is_known]]
        back = np.arange(-depth, 0)
        rows[:, first[:, np.newaxis] + back] = earlier.transpose(1, 0, 2)
        place_of = np.empty_like(place)
        place_of[event] = place
        rows[:, place_of[learns]] = values.T
        is_moment = np.diff(place, prepend=-1) != 0
        place_of[event] = is_moment.cumsum() - 1
        past = Past(rows, place[is_moment], place_of[learns], place_of[asks])
        end = np.append(first[1:] - depth, n + len(stays) * depth)[: len(stays)]
        learnt = np.flatnonzero(end > first)
        places = found.place_after(stays[learnt])
        learnt, places = learnt[places >= 0], places[places >= 0]
        last = rows[:, end[learnt, np.newaxis] + back]
        return past, last.transpose(1, 0, 2), places


def _capacity(n_keys: int) -> int:
    """Keys for which there is room: a power of two."""
    return 1 << (n_keys - 1).bit_length() if n_keys else 0


def _no_rows(n_columns: int, depth: int, n_keys: int) -> Floats:
    return np.full((n_keys, n_columns, depth), np.nan)


def sorted_stably(keys: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], ...]:
    """Return integers sorted, and the position that each had; equal ones stay in their order.

    Keys and positions packed into one number are sorted faster than by a stable argsort.
    """
    bits = max(len(keys).bit_length(), 1)
    packed = (keys.astype(np.int64) << bits) | np.arange(len(keys))
    packed.sort()
    return packed >> bits, packed & ((1 << bits) - 1)
