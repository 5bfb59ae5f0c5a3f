"""What displays say in words: measures, forgetting mechanisms, names of models."""

import re
import textwrap
from collections.abc import Sequence

import numpy as np

from skstream.reports._report import with_own
from skstream.stats._report import forgetting_words

#: How parts of names are written in text; any other part is written as it is.
ABBREVIATIONS = {"auc": "AUC", "f1": "F1", "mae": "MAE", "mse": "MSE", "r2": "R²", "rmse": "RMSE"}
LONGEST_LINE = 30  # characters of a name before it is broken


def measure_words(name: str) -> str:
    """Write the name of a measure as the beginning of a title.

    Parameters
    ----------
    name : str
        Name of a measure, such as "kappa_temporal".

    Returns
    -------
    str
        E.g. "Kappa temporal". A name with spaces or capital letters is left as it is.
    """
    if name != name.lower() or re.search(r"\s", name):
        return name
    parts = [ABBREVIATIONS.get(part, part) for part in name.split("_") if part]
    words = " ".join(part.upper() if len(part) == 1 else part for part in parts)
    return words[:1].upper() + words[1:]


def axis_words(metric: str) -> str:
    """Name a measure beside its axis, a long name in several lines."""
    return textwrap.fill(measure_words(metric), LONGEST_LINE)


def title_words(
    metric: str, forgetting: str, *, measure: str = "", mechanism: str | None = None
) -> str:
    """Name measure and forgetting: "Accuracy, last 1,000 rows".

    A name that the user gave to a measure is followed by the measure's own: "Hits (error), all
    rows so far".
    """
    named = with_own(measure_words(metric), "" if measure == metric else measure)
    return f"{named}, {forgetting_words(mechanism or forgetting)}"


def wrap_name(name: str) -> list[str]:
    """Break a long name into lines, after a space or one of ``( , _ -`` where there is one."""
    lines = [""]
    for part in re.findall(r"[^\s(,_-]*[\s(,_-]*", name):
        pieces = [part[i : i + LONGEST_LINE] for i in range(0, len(part), LONGEST_LINE)]
        for piece in pieces:
            if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > LONGEST_LINE:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def last_values(curves: Sequence[tuple[str, np.ndarray]]) -> str:
    """List the last value of every curve, for a repr."""
    return ", ".join(
        f"{name}: {values[-1]:.4f}" if len(values) else f"{name}: no value"
        for name, values in curves
    )
