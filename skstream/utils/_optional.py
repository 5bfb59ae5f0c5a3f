"""What is imported late: optional packages, and the wings that draw and describe results."""

import importlib
from types import ModuleType
from typing import Any

EXTRAS = {
    **dict.fromkeys(("pandas", "polars", "pyarrow"), "frames"),
    **dict.fromkeys(("dask", "distributed", "fsspec"), "dask"),
    **{"matplotlib": "plot", "tqdm": "progress", "numba": "fast"},
    **{"river": "river", "capymoa": "capymoa"},
}


def optional_import(name: str, purpose: str) -> ModuleType:
    """Import an optional package, or say which extra installs it.

    Parameters
    ----------
    name : str
        Module to import, e.g. ``"pyarrow.parquet"``.
    purpose : str
        What needs it; begins the error message, e.g. ``"ParquetStream"``.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ImportError
        If the package is absent. The message names the extra to install.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        extra = EXTRAS[package]
        raise ImportError(
            f"{purpose} needs {package}, which is not installed. "
            f'Install it with: pip install "skstream[{extra}]"'
        ) from error


def display(name: str) -> Any:
    """Return a display class by its name in `skstream.plotting`."""
    return getattr(importlib.import_module("skstream.plotting"), name)


def report(module: str, name: str) -> Any:
    """Return a function of `skstream.reports`, for the method of a result."""
    return getattr(importlib.import_module(f"skstream.reports._{module}"), name)
