"""Everything users can name: what the public modules export, and the methods of those classes."""

import importlib
import inspect
import pkgutil
from types import ModuleType

import skstream

# For contributors rather than users, or documented under another name (rooms of evaluation under
# evaluation): their docstrings need no full numpydoc sections.
INTERNAL = (
    "skstream.utils",
    "skstream.core",
    "skstream.kernels",
    "skstream.logs",
    "skstream.reports",
)


def public_modules() -> list[ModuleType]:
    """Modules without an underscore in their path, the internal rooms left out."""
    names = ["skstream", *(m.name for m in pkgutil.walk_packages(skstream.__path__, "skstream."))]
    return [
        importlib.import_module(name)
        for name in sorted(names)
        if "._" not in name and name != "skstream.base" and not name.startswith(INTERNAL)
    ]


def public_objects() -> dict[str, object]:
    """Exported classes and functions by the dotted name that users import."""
    found: dict[int, tuple[str, object]] = {}
    for module in public_modules():
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                # The deepest name is the one the documentation uses; an alias says nothing new.
                found[id(value)] = (f"{module.__name__}.{name}", value)
    return dict(sorted(found.values()))


def public_methods() -> dict[str, object]:
    """Methods and properties that the exported classes define themselves."""
    return {
        f"{path}.{name}": member
        for path, value in public_objects().items()
        if inspect.isclass(value)
        for name, member in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }
