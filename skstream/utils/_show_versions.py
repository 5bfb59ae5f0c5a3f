"""Versions of all that takes part in an evaluation, for a report of a fault."""

import os
import platform
import sys
from importlib import metadata

from threadpoolctl import threadpool_info

from skstream.utils._numba import DISABLING_VARIABLES, numba_enabled
from skstream.utils._optional import EXTRAS
from skstream.utils._version import __version__

_REQUIRED = ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")
_ABSENT = "not installed"


def show_versions() -> None:
    """Print the versions of Python, of skstream and of the packages that it uses.

    Put the text into a report of a fault. It has the system, the required and the optional
    packages, the libraries that compute in threads (BLAS, OpenMP) with their numbers of threads,
    and whether loops are compiled by numba.

    See Also
    --------
    EvaluationResult : Keeps the versions that it was made with, in ``details.record``.

    Examples
    --------
    >>> import skstream
    >>> skstream.show_versions()  # doctest: +ELLIPSIS
    system
      python           ...
    <BLANKLINE>
    required
      skstream         ...
    """
    sections = {
        "system": {
            "python": sys.version.replace("\n", " "),
            "executable": sys.executable,
            "platform": platform.platform(),
            "processors": str(os.cpu_count()),
        },
        "required": {"skstream": __version__} | {name: _version(name) for name in _REQUIRED},
        "optional": {name: _version(name) for name in EXTRAS},
        "threads": _threads(),
        "loops": {"numba": _loops()},
    }
    parts = [
        "\n".join([title, *(f"  {name:<16} {value}" for name, value in section.items())])
        for title, section in sections.items()
    ]
    print("\n\n".join(parts))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return _ABSENT


def _threads() -> dict[str, str]:
    """Libraries that were loaded and compute in threads; packages bring some several times."""
    found: dict[str, list[str]] = {}
    for one in threadpool_info():
        about = [str(one[key]) for key in ("version", "architecture") if one.get(key)]
        said = ", ".join([*about, f"threads: {one['num_threads']}"])
        found.setdefault(one["internal_api"], []).append(said)
    return {name: "; ".join(several) for name, several in found.items()}


def _loops() -> str:
    """Say whether loops are compiled."""
    if numba_enabled():
        return "enabled: loops are compiled"
    if _version("numba") == _ABSENT:
        return "not installed: loops run as Python"
    return f"disabled by an environment variable ({' or '.join(DISABLING_VARIABLES)})"
