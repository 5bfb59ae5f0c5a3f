"""Parts of models that are looped where the others have kernels, over all kernels of a run."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from skstream.engine.kernels import Kernel
from skstream.engine.kernels.base import Looped


class LoopedParts:
    """Adds up the time of looped parts, as a kernel may be made several times in a run."""

    def __init__(self) -> None:
        self._before: list[Looped] = []

    def keep(self, kernel: Kernel, state: Any) -> None:
        """Take the time of a kernel that ends."""
        self._before = self.now(kernel, state)

    def now(self, kernel: Kernel | None, state: Any) -> list[Looped]:
        """Parts that have been looped so far, each once."""
        newest = [] if kernel is None else kernel.looped(state)
        return _summed([*self._before, *newest]) if newest else self._before


def _summed(parts: Iterable[Looped]) -> list[Looped]:
    sums: dict[tuple[str, str], Looped] = {}
    for part in parts:
        key = part.name, part.reason
        if key in sums:
            part = replace(
                part,
                seconds_asking=part.seconds_asking + sums[key].seconds_asking,
                seconds_learning=part.seconds_learning + sums[key].seconds_learning,
            )
        sums[key] = part
    return list(sums.values())
