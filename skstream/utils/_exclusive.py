"""Methods that run one at a time per object, whichever threads call them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from threading import RLock
from typing import Any, TypeVar, cast


class Exclusive:
    """Base of objects with `exclusive` methods; the lock is not pickled."""

    def __init__(self) -> None:
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    def _guard(self) -> AbstractContextManager[Any]:
        """Return the context manager in which every `exclusive` method runs."""
        return nullcontext()


Method = TypeVar("Method", bound=Callable[..., Any])


def exclusive(method: Method) -> Method:
    """Let a method wait until no other thread is in one of the object's `exclusive` methods."""

    @wraps(method)
    def locked(self: Exclusive, *args: Any, **kwargs: Any) -> Any:
        with self._lock, self._guard():
            return method(self, *args, **kwargs)

    return cast(Method, locked)
