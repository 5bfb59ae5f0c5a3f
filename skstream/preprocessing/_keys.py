"""Places of keys (customers, sensors, categories), given in the order in which they come.

An index of keys is a value: what is added makes another one, and an older one knows as little as
before. So whoever learnt rows in vain goes on with the index that came before them.
"""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.utils._values import is_missing
from skstream.utils._versions import Value

Places = NDArray[np.intp]


class Found(NamedTuple):
    """Lives of the keys of some rows; a key that was forgotten and comes back lives again.

    Attributes
    ----------
    learnt : ndarray of shape (n_learnt,)
        Life of the key of every row learnt.
    asked : ndarray of shape (n_asked,)
        Life of the key of every row asked, at that moment; -1: unknown.
    n_before : int
        A life below this number had begun before, and its rows are at that place.
    place_after : callable
        ``place_after(lives)``: where the rows of lives are from now on; -1: nowhere.
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
        return after, Found(places[learnt], places[asked], self._size, lambda lives: lives)


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
        lives = _Lives(self._place_of, self._most)
        learnt_lives, found, at = [], [], 0
        questions = [keys[row] for row in asked.tolist()]
        moments = [*stamp.tolist(), len(learnt)]
        for number, row in enumerate(learnt.tolist()):
            while moments[at] <= number:
                found.append(lives.find(questions[at]))
                at += 1
            learnt_lives.append(lives.learn(keys[row]))
        found += map(lives.find, questions[at:])
        after = RecentKeys(self._most, lives.places_after()) if len(learnt) else self
        of_learnt = np.array(learnt_lives, dtype=np.intp)
        of_asked = np.array(found, dtype=np.intp)
        return after, Found(of_learnt, of_asked, len(self), lives.place_after)


class _Lives:
    """Lives of keys while rows are learnt. Those that began before are called by their places.

    All but `places_after`, which copies them once, takes as long with few keys as with many.
    """

    def __init__(self, before: dict[Any, int], most: int):
        self._before, self._most = before, most
        self._oldest = iter(before)
        self._gone: set[Any] = set()  # keys of before that are forgotten
        self._newest: OrderedDict[Any, int] = OrderedDict()  # lives of the keys learnt here
        self._new_places: list[int] = []  # of the lives that begin here
        self._ended: set[int] = set()
        self._n_keys = len(before)

    def find(self, key: Any) -> int:
        """Life of a key now; -1: unknown."""
        life = self._newest.get(key)
        if life is not None:
            return life
        return -1 if key in self._gone else self._before.get(key, -1)

    def learn(self, key: Any) -> int:
        """Life of a key that is learnt."""
        life = self.find(key)
        if life < 0:
            life = len(self._before) + len(self._new_places)
            if self._n_keys < self._most:
                self._new_places.append(self._n_keys)
                self._n_keys += 1
            else:
                self._new_places.append(self._place(self._forget_oldest()))
        self._newest[key] = life
        self._newest.move_to_end(key)
        return life

    def _forget_oldest(self) -> int:
        for key in self._oldest:
            if key not in self._newest and key not in self._gone:
                self._gone.add(key)
                life = self._before[key]
                break
        else:
            key, life = self._newest.popitem(last=False)
            if key in self._before:
                self._gone.add(key)
        self._ended.add(life)
        return life

    def _place(self, life: int) -> int:
        n_before = len(self._before)
        return life if life < n_before else self._new_places[life - n_before]

    def place_after(self, lives: Places) -> Places:
        """Places of lives from now on; -1 of those that have ended."""
        places = [-1 if life in self._ended else self._place(life) for life in lives.tolist()]
        return np.array(places, dtype=np.intp)

    def places_after(self) -> dict[Any, int]:
        """Places of the keys, the one learnt last at the end."""
        places = self._before.copy()
        for key in self._gone:
            del places[key]
        for key, life in self._newest.items():
            places.pop(key, None)
            places[key] = self._place(life)
        return places


def keys_of(column: list[Any]) -> list[Any]:
    """Values of a column as keys: all missing ones (None, NaN, NaT, NA) are the key None."""
    try:
        if all(map(operator.eq, column, column)):
            return column
    except TypeError:  # NA has no truth value
        pass
    return [None if is_missing(value) else value for value in column]
