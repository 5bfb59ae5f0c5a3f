"""States that never change: a base class, and large arrays that keep their earlier versions."""

import itertools
from typing import Any

from numpy.typing import NDArray


class Value:
    """Base class of objects that never change: a step makes a new one, and no copies are needed."""

    __slots__ = ()


class VersionedArray(Value):
    """A version of an array; a change makes another version, and does not copy the whole array.

    Only one version holds the array itself, usually the newest. Each other version holds the
    entries in which it differs from the next one. When an older version is read, its entries are
    exchanged with those in the array, which it then holds (Baker, 1991, "Shallow binding makes
    functional arrays fast"). So a step copies only the entries that it changes, and their copies
    are freed with the version before.

    Parameters
    ----------
    array : ndarray
        Belongs to the version from now on.
    """

    __slots__ = ("_array", "_change", "_next")

    def __init__(self, array: NDArray[Any]):
        self._array: NDArray[Any] | None = array
        self._next: VersionedArray | None = None
        self._change: tuple[Any, NDArray[Any]] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return VersionedArray, (self.read().copy(order="K"),)

    def read(self) -> NDArray[Any]:
        """Return the array: to be read until another version is read, and never to be changed."""
        if self._array is not None:
            return self._array
        way = [self]
        while way[-1]._next is not None:
            way.append(way[-1]._next)
        for older, newer in itertools.pairwise(reversed(way)):
            newer._take_over(older)
        assert self._array is not None
        return self._array

    def changed(self, at: Any) -> tuple["VersionedArray", NDArray[Any]]:
        """Return a new version, and its array, for the caller to change.

        Parameters
        ----------
        at : index
            Where it will change, as an array of integers or a slice, or a tuple of such.
        """
        array = self.read()
        version = VersionedArray(array)
        self._array, self._next, self._change = None, version, (at, array[at].copy())
        return version, array

    def _take_over(self, holder: "VersionedArray") -> None:
        """Take the array from the next version, which holds it, and give it the entries."""
        array = holder._array
        assert array is not None and self._change is not None
        at, entries = self._change
        holder._array, holder._next, holder._change = None, self, (at, array[at].copy())
        array[at] = entries
        self._array, self._next, self._change = array, None, None
