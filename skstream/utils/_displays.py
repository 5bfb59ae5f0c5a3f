"""The one way from results to the classes that draw them."""

from importlib import import_module
from typing import Any


def display(name: str) -> Any:
    """Return a display class by its name in `skstream.plotting`.

    Displays draw results, and import them; a result knows the name of its display alone, and
    plotting is imported when something is drawn.
    """
    return getattr(import_module("skstream.plotting"), name)
