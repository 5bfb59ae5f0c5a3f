"""Warnings that point to the line of the user's code that led to them."""

import sys
import warnings

# Packages whose frames are between the user's line and the warning.
_BETWEEN = frozenset({__name__.partition(".")[0], "sklearn", "joblib"})


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, with the newest line outside this package and scikit-learn as the place.

    Parameters
    ----------
    message : str
        What is wrong, and what to do.
    category : type, default=UserWarning
        Class of the warning.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
