"""Work that several models do alike over the same rows, and that is done once.

Models on one timeline are shown one and the same block, and what kernels do is a function of
values: of parameters, a state and rows. Where two of them agree in all three, the second one takes
what the first one made. Nothing has to be known about the models beforehand, and a model that
fails, is executed by the loop for a while or comes from a checkpoint only finds less to take.
"""

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from scipy import sparse

Made = TypeVar("Made")

# Memory of what is kept for other models; what goes beyond it, each of them makes by itself.
_MOST_BYTES = 1 << 26


class _Kept(NamedTuple):
    """What was made from some objects, which are kept as long, and a state."""

    of: tuple[Any, ...]
    state: Any
    made: Any


class SharedWork:
    """What models have made of the rows of an event, each thing once.

    Belongs to an engine; blocks refer to it (`Block.shared`).
    """

    def __init__(self) -> None:
        self._shown: dict[int, Any] = {}  # blocks that several models may be shown
        self._kept: dict[tuple[Any, ...], list[_Kept]] = {}
        self._n_times: dict[tuple[Any, ...], int] = {}
        self._wanted_once: set[Any] = set()
        self._n_bytes = 0

    def show(self, block: Any) -> Any:
        """Return the block of an event for all models that are shown it."""
        block = replace(block, shared=self)
        self._shown[id(block)] = block
        return block

    def once(self, key: Any, of: tuple[Any, ...], state: Any, make: Callable[[], Made]) -> Made:
        """Return what `make` returns, or returned before.

        Parameters
        ----------
        key : hashable
            What is made, with all parameters.
        of : tuple
            Objects that it is made from; the same ones, not equal ones.
        state : object
            What was learnt before: the same object, or one with the same pickle.
        make : callable
            ``make()`` makes it; a function of `key`, `of` and `state`.
        """
        if any(_is_block(one) and id(one) not in self._shown for one in of):
            return make()  # no other lane has the block
        place = (key, *map(id, of))
        self._n_times[place] = self._n_times.get(place, 0) + 1
        kept = self._kept.get(place, [])
        for one in kept:
            if one.state is state or _are_alike(one.state, state):
                made: Made = one.made
                return made
        made = make()
        if key not in self._wanted_once:
            n_bytes = _bytes_of(made, of)
            if self._n_bytes + n_bytes <= _MOST_BYTES:
                self._n_bytes += n_bytes
                self._kept.setdefault(place, []).append(_Kept(of, state, made))
                results = made if isinstance(made, tuple) else (made,)
                self._shown.update((id(one), one) for one in results if _is_block(one))
        return made

    def clear(self) -> None:
        """Forget everything after an event; what one model alone wanted is not kept in the next."""
        several = {place[0] for place, n in self._n_times.items() if n > 1}
        self._wanted_once = {place[0] for place in self._n_times} - several
        self._shown, self._kept, self._n_times, self._n_bytes = {}, {}, {}, 0


def _are_alike(one: Any, other: Any) -> bool:
    try:
        return pickle.dumps(one) == pickle.dumps(other)
    except Exception:  # pickling may raise any error: they are not known to be alike
        return False


def _is_block(one: Any) -> bool:
    return hasattr(one, "learn_X")


def key_of(*parts: Any) -> bytes | None:
    """Key that equals another one only if all parts are alike; None if that cannot be told."""
    try:
        return hashlib.sha256(pickle.dumps(parts)).digest()  # a vocabulary may be large
    except Exception:  # as above
        return None


def _bytes_of(made: Any, of: tuple[Any, ...]) -> int:
    """Memory of rows and arrays that were made, without what they were made from."""
    if isinstance(made, tuple):
        return sum(_bytes_of(part, of) for part in made)
    if not _is_block(made):
        return bytes_of_rows(made)
    known = {id(X) for block in of if _is_block(block) for X in (block.learn_X, block.ask_X)}
    rows = {id(X): X for X in (made.learn_X, made.ask_X) if id(X) not in known}
    return sum(map(bytes_of_rows, rows.values()))


def bytes_of_rows(X: Any) -> int:
    """Memory of the numbers of an array, a sparse matrix or a data frame; 0 of anything else."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes)
    if hasattr(X, "iloc"):
        return int(X.memory_usage(index=False).sum())
    return int(getattr(X, "nbytes", 0))
