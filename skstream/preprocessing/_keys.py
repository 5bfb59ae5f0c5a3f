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

    def __init__(self, most: int, keys: Iterable[tuple[Any, int]] = ()):
        self._most = most
        self._place_of = OrderedDict(keys)  # the key learnt last stands last

    def __len__(self) -> int:
        return len(self._place_of)

    def __reduce__(self) -> tuple[Any, ...]:
        return RecentKeys, (self._most, list(self._place_of.items()))

    def keys(self) -> list[Any]:
        """Return the keys in the order of their places."""
        return sorted(self._place_of, key=self._place_of.__getitem__)

    def learn(
        self, keys: Sequence[Any], learnt: Places, asked: Places, stamp: NDArray[Any]
    ) -> tuple["RecentKeys", Found]:
        """Learn the keys of some rows; `stamp` has how many are learnt before each row asked."""
        n_before = len(self._place_of)
        places = list(self._place_of.values())
        life_of = OrderedDict(zip(self._place_of, places, strict=True))
        place_of_life = list(range(n_before))
        learnt_lives, found, at = [], [], 0
        questions = [keys[row] for row in asked.tolist()]
        moments = [*stamp.tolist(), len(learnt)]
        for number, row in enumerate(learnt.tolist()):
            while moments[at] <= number:
                found.append(life_of.get(questions[at], -1))
                at += 1
            key = keys[row]
            life = life_of.get(key)
            if life is not None:
                life_of.move_to_end(key)
            else:
                life = life_of[key] = len(place_of_life)
                if len(life_of) > self._most:
                    place_of_life.append(place_of_life[life_of.popitem(last=False)[1]])
                else:
                    place_of_life.append(len(life_of) - 1)
            learnt_lives.append(life)
        found += [life_of.get(key, -1) for key in questions[at:]]
        after = RecentKeys(self._most, ((k, place_of_life[life]) for k, life in life_of.items()))
        places_after = np.full(len(place_of_life), -1, dtype=np.intp)
        living = list(life_of.values())
        places_after[living] = [place_of_life[life] for life in living]
        lives = np.array(learnt_lives, dtype=np.intp)
        questioned = np.array(found, dtype=np.intp)
        return after, Found(lives, questioned, n_before, places_after.__getitem__)


def keys_of(column: list[Any]) -> list[Any]:
    """Values of a column as keys: all missing ones (None, NaN, NaT, NA) are the key None."""
    try:
        if all(map(operator.eq, column, column)):
            return column
    except TypeError:  # NA has no truth value
        pass
    return [None if is_missing(value) else value for value in column]
