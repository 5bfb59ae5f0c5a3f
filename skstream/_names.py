"""Where names are that users look for in the package itself."""

import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from skstream.utils._choices import did_you_mean

#: Parts that hold nothing for users.
_INNER = {"cli", "core", "kernels", "utils"}


def __getattr__(name: str) -> Any:
    """Import a part of the package when it is asked for; say where other names are.

    Raises
    ------
    ImportError
        If a part has the name, or a similar one is here: an AttributeError would lose its message
        in ``from skstream import ...``.
    AttributeError
        Else.
    """
    package: Any = sys.modules["skstream"]
    parts = {part.name for part in iter_modules(package.__path__) if part.name[0] != "_"} - _INNER
    if name in parts:
        return import_module(f"skstream.{name}")
    if not name.startswith("_"):
        for part in sorted(parts):
            if name in getattr(import_module(f"skstream.{part}"), "__all__", ()):
                raise ImportError(
                    f"{name} is in skstream.{part}: from skstream.{part} import {name}."
                )
        hint = did_you_mean(name, package.__all__)
        if hint and name[0].isupper():
            raise ImportError(f"There is no skstream.{name}.{hint}")
    raise AttributeError(f"module 'skstream' has no attribute {name!r}")
