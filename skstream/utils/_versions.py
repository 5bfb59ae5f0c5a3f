"""Values: what is never changed, and a large array that is one though changed in place."""

import itertools
from typing import Any

from numpy.typing import NDArray


class Value:
    """What is never changed: a step makes another one. Whoever keeps it needs no copy of it."""

    __slots__ = ()


class VersionedArray(Value):
    """An array of which earlier versions stay what they were, without copies of the whole.

    Only one version holds the array, as a rule the newest. The others hold the entries in which
    they differ from their neighbour on the way to it, and exchange them for those in the array when
    they are read (Baker, 1991, "Shallow binding makes functional arrays fast"). So a step copies no
    more than the entries that it changes, and dropping the version before drops these, too.

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
