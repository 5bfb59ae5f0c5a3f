"""Loops compiled by numba where it is installed and wanted, plain Python otherwise."""

import functools
import os
from collections.abc import Callable
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from skstream.utils._optional import optional_import

# Both must be unset or "0" for numba to be used.
DISABLING_VARIABLES = ("SKSTREAM_DISABLE_NUMBA", "NUMBA_DISABLE_JIT")


@functools.cache
def _is_installed() -> bool:
    return find_spec("numba") is not None


def numba_enabled() -> bool:
    """Whether loops run compiled: a matter of configuration, never of the data.

    True if numba is installed and neither environment variable ``SKSTREAM_DISABLE_NUMBA`` nor
    ``NUMBA_DISABLE_JIT`` is set to anything but 0. Does not import numba.
    """
    if any(os.environ.get(name, "") not in ("", "0") for name in DISABLING_VARIABLES):
        return False
    return _is_installed()


class Jitted:
    """A function with two lives; made by `jit`.

    Calling it runs the compiled function if `numba_enabled`, else the plain one.

    Attributes
    ----------
    plain : callable
        The function as written.
    """

    def __init__(self, function: FunctionType):
        self.plain = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Run the function on positional arguments."""
        return self.compiled(*args) if numba_enabled() else self.plain(*args)

    @functools.cached_property
    def compiled(self) -> Callable[..., Any]:
        """The function compiled by numba, which is imported now at the latest."""
        numba = optional_import("numba", "A compiled loop")
        # Without fastmath LLVM neither reorders sums nor fuses a product with a sum, so that
        # every operation rounds as it does in Python. error_model: 1 / 0 is inf, as in C.
        options: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy"}
        function = _calling_compiled_helpers(self.plain)
        try:
            return numba.njit(cache=True, **options)(function)  # type: ignore[no-any-return]
        except RuntimeError:  # no directory in which the machine code could be kept
            return numba.njit(**options)(function)  # type: ignore[no-any-return]


def jit(function: Callable[..., Any]) -> Jitted:
    """Compile a function at its first call if numba is enabled; a decorator.

    The function may call others decorated the same way. It takes positional arguments only.

    Parameters
    ----------
    function : callable
        Written in the subset of Python that numba knows.

    Returns
    -------
    Jitted
        Behaves like the function.

    Examples
    --------
    >>> from skstream.utils._numba import jit
    >>> @jit
    ... def double(x):
    ...     return x + x
    >>> double.plain(2.0)
    4.0
    """
    assert isinstance(function, FunctionType)
    return Jitted(function)


def _calling_compiled_helpers(function: FunctionType) -> FunctionType:
    """Copy of a function whose calls of jitted functions go to their compiled life."""
    names = function.__globals__
    helpers = {
        name: names[name].compiled
        for name in function.__code__.co_names
        if isinstance(names.get(name), Jitted)
    }
    if not helpers:
        return function
    copy = FunctionType(function.__code__, {**names, **helpers}, function.__name__)
    return functools.update_wrapper(copy, function)
