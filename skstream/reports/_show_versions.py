"""Versions of all that takes part in an evaluation, for a report of a fault."""

from importlib import metadata

import sklearn

from skstream.utils._numba import DISABLING_VARIABLES, numba_enabled
from skstream.utils._optional import EXTRAS
from skstream.utils._version import __version__

_ABSENT = "not installed"


def show_versions() -> None:
    """Print the versions of Python, skstream and the packages that it uses.

    Include the text in bug reports. It lists the system, required and optional packages,
    multithreaded libraries (BLAS, OpenMP) with their numbers of threads, and whether numba compiles
    the loops.

    See Also
    --------
    EvaluationResult : Keeps the versions it was made with, in ``details.record``.

    Examples
    --------
    >>> import skstream
    >>> skstream.show_versions()  # doctest: +ELLIPSIS
    <BLANKLINE>
    System:
    ...
    skstream: ...
    """
    sklearn.show_versions()
    print(f"\nskstream: {__version__}")
    for name in EXTRAS:
        print(f"{name:>13}: {_version(name)}")
    loops = "enabled: loops are compiled"
    if not numba_enabled():
        loops = f"disabled by an environment variable ({' or '.join(DISABLING_VARIABLES)})"
        if _version("numba") == _ABSENT:
            loops = "not installed: loops run as Python"
    print(f"loops: {loops}")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return _ABSENT
