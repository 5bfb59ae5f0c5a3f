"""The sentence about what took most of the time, where it was executed call by call."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from skstream.core.run.run_outcome import Cost

#: Seconds that a part must have taken, and its share of all, to be worth a sentence.
LEAST_SECONDS = 5.0
LEAST_SHARE = 0.5

#: Name of the part of a model that is its refits.
_REFITS = "refits"


class _Part(NamedTuple):
    """A model or a part of one that was executed call by call: its time, and why."""

    model: str
    name: str
    seconds: float
    reason: str


def slow_part(
    costs: Mapping[str, Cost], paths: Mapping[str, str], batch_size: int = 1
) -> list[str]:
    """Return a sentence about the slowest part, if it was looped, and took most of the time."""
    total = sum(cost.seconds for cost in costs.values())
    looped = [
        part for model, cost in costs.items() for part in _looped(model, cost, paths.get(model, ""))
    ]
    slowest = max(looped, key=lambda part: part.seconds, default=None)
    if slowest is None or slowest.seconds < max(LEAST_SECONDS, LEAST_SHARE * total):
        return []
    share = 100 * slowest.seconds / total
    if slowest.name == _REFITS:
        what = f"Refits of {slowest.model} took {share:.0f} % of the time"
        return [f"{what}: fewer (every=) of fewer rows (window=) would be faster"]
    what = f"{slowest.name} in {slowest.model}" if slowest.name else slowest.model
    advice = faster(slowest.reason)
    often = _how_often(batch_size)
    return [f"{what}, called {often}, took {share:.0f} % of the time{advice and f': {advice}'}"]


def _how_often(batch_size: int) -> str:
    return "row by row" if batch_size == 1 else f"once for every batch of {batch_size:,} rows"


def _looped(model: str, cost: Cost, path: str) -> list[_Part]:
    parts = [
        _Part(model, name, seconds, _reason_of(name, path))
        for name, seconds in cost.seconds_of_parts.items()
    ]
    alone = cost.seconds_asking + cost.seconds_learning - sum(part.seconds for part in parts)
    if not cost.seconds_in_kernel:  # refits are among the learning
        alone -= cost.seconds_refitting
    kind, _, reason = path.partition(": ")
    return [
        *parts,
        _Part(model, "", alone, "" if "by loop" in kind else reason),
        _Part(model, _REFITS, cost.seconds_refitting, ""),
    ]


def _reason_of(part: str, path: str) -> str:
    """Why a part has no kernel, by the path of its model."""
    return path.partition(f"{part} by loop: ")[2].partition("; ")[0]


def faster(reason: str) -> str:
    """Say what would be faster than something that has no kernel for a reason."""
    setting = re.match(r"(\w+) with (.+) has no kernel$", reason)
    if "other than a ufunc" in reason:
        return "one that calls a function of NumPy such as np.log1p, or none, would be fast"
    if "asked in one call" in reason:
        return "trees and ensembles of trees, which answer each row alone, would be fast"
    if setting and " inside" not in reason:
        return f"{setting[1]} without {setting[2]} would be fast"
    if "NaN" in reason:
        return "rows without missing values, such as a StreamImputer makes them, would be fast"
    if re.match(r"(\w+) has no kernel$", reason):
        return "a step or model that has a kernel would be fast (skstream.kernels)"
    return ""
