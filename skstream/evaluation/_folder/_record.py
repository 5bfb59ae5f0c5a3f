"""What a result notes of how it was made, so that it can be checked: plain data."""

import platform
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import scipy
from threadpoolctl import threadpool_info

from skstream.engine.timeline import Timeline
from skstream.evaluation._folder._fingerprint import as_text, listed_in, parameters_of, versions
from skstream.utils._content import NotComparable, name_of

#: Longest text of a timeline, which may hold the delay of every row.
_LONGEST = 1000


def record(models: Mapping[str, Any], timelines: Sequence[Timeline]) -> dict[str, Any]:
    """Return the versions, the machine, the models and the timelines of an evaluation."""
    return {
        "versions": {**versions(), "scipy": scipy.__version__},
        "platform": dict(_machine()),
        "models": described(models),
        "timelines": [_short(repr(one)) for one in timelines],
    }


def described(models: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the class and the parameters of every model, as texts."""
    found = {}
    for name, model in models.items():
        parameters = parameters_of(model)
        listed = listed_in(parameters)
        texts = {one: _text(value, listed) for one, value in parameters.items()}
        found[name] = {"class": name_of(type(model)), **texts}
    return found


def _text(value: Any, listed: set[int]) -> str:
    try:
        return as_text(value, listed)
    except NotComparable:
        return f"{name_of(type(value))}, which cannot be compared"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


@lru_cache(maxsize=1)
def _machine() -> tuple[tuple[str, str], ...]:
    """What the arithmetic of floating-point numbers depends on, beside the versions."""
    blas = [one for one in threadpool_info() if one["user_api"] == "blas"]
    words = {
        " ".join(str(one[key]) for key in ("internal_api", "version", "architecture") if key in one)
        for one in blas
    }
    return (
        ("system", platform.system()),
        ("machine", platform.machine()),
        ("blas", ", ".join(sorted(words))),
    )
