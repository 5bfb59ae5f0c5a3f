"""Where names are that users look for in the package itself."""

import re
import sys
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

#: Parts that hold nothing for users.
_INNER = {"cli", "core", "kernels", "utils"}


def __getattr__(name: str) -> Any:
    """Import a part of the package when it is asked for; say where other names are.

    Raises
    ------
    ImportError
        If a part has the name, or a similar one: an AttributeError would lose its message in
        ``from skstream import ...``.
    AttributeError
        Else.
    """
    package: Any = sys.modules["skstream"]
    parts = {part.name for part in iter_modules(package.__path__) if part.name[0] != "_"} - _INNER
    if name in parts:
        return import_module(f"skstream.{name}")
    if not name.startswith("_"):
        homes = dict.fromkeys(package.__all__, "skstream")
        for part in sorted(parts):
            for public in getattr(import_module(f"skstream.{part}"), "__all__", ()):
                homes.setdefault(public, f"skstream.{part}")
        if name in homes:
            raise ImportError(f"{name} is in {homes[name]}: from {homes[name]} import {name}.")
        meant = _most_alike(name, list(homes)) if name[0].isupper() else []
        if meant:
            found = " or ".join(f"{homes[one]}.{one}" for one in meant)
            raise ImportError(f"There is no skstream.{name}. Did you mean {found}?")
    raise AttributeError(f"module 'skstream' has no attribute {name!r}")


def _most_alike(name: str, known: list[str]) -> list[str]:
    """Up to four names that have most words of another in common; or a near one, if none has."""
    shared = {one: len(_words(one) & _words(name)) for one in known if one[0].isupper()}
    most = max(shared.values())
    if not most:
        return get_close_matches(name, known, n=1)
    best = [one for one, n in shared.items() if n == most]
    return get_close_matches(name, best, n=4, cutoff=0.0)


def _words(name: str) -> set[str]:
    """Words of a name such as KFoldEvaluator, which many names share left out."""
    found = re.findall(r"KFold|[A-Z]+(?![a-z])|[A-Z][a-z]+", name)
    return {one.lower() for one in found} - {"evaluator", "classifier", "stream", "evaluate"}
