"""The one way from results to what draws and describes them: wings, imported when they are used."""

from importlib import import_module
from typing import Any


def display(name: str) -> Any:
    """Return a display class by its name in `skstream.plotting`."""
    return getattr(import_module("skstream.plotting"), name)


def report(module: str, name: str) -> Any:
    """Return a function of `skstream.reports`, for the method of a result."""
    return getattr(import_module(f"skstream.reports._{module}"), name)
