"""Instances for MOA's learners, made of many rows at once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.utils._optional import optional_import

_PURPOSE = "A learner of CapyMOA"
# Methods of CapyMOA's wrappers that ask nothing else of an instance.
_METHODS = {
    "MOAClassifier": ("train", "predict", "predict_proba"),
    "MOARegressor": ("train", "predict"),
}


class Prepared:
    """What CapyMOA's wrappers of MOA's learners ask of an instance."""

    __slots__ = ("java_instance",)

    def __init__(self, java_instance: Any):
        self.java_instance = java_instance


class MOAInstances:
    """Maker of the Java objects that CapyMOA makes of the same rows, with fewer calls of Java."""

    def __init__(self, schema: Any):
        self._header = schema.get_moa_header()
        self._dense = optional_import("com.yahoo.labs.samoa.instances", _PURPOSE).DenseInstance
        self._example = optional_import("moa.core", _PURPOSE).InstanceExample
        self._arrays = optional_import("jpype", _PURPOSE).JArray

    def rows(self, numbers: NDArray[np.float64]) -> Iterator[Any]:
        """Yield rows as Java arrays; the last value is the target, which is missing."""
        complete = np.full((len(numbers), numbers.shape[1] + 1), np.nan)
        complete[:, :-1] = numbers
        yield from self._arrays.of(complete)

    def unlabelled(self, row: Any) -> Prepared:
        """Return an instance without its target."""
        instance = self._dense(1.0, row)
        instance.setDataset(self._header)
        return Prepared(self._example(instance))

    def labelled(self, row: Any, target: float) -> Prepared:
        """Return an instance with its target."""
        row[-1] = target
        return self.unlabelled(row)


def takes_prepared(learner: Any) -> bool:
    """Whether a learner is MOA's, and called by nothing but CapyMOA's wrapper of these."""
    base, kind = optional_import("capymoa.base", _PURPOSE), type(learner)
    for name, methods in _METHODS.items():
        wrapper = getattr(base, name, None)
        if wrapper is not None and issubclass(kind, wrapper):
            return all(getattr(kind, method) is getattr(wrapper, method) for method in methods)
    return False
