"""Undo what transformers have learnt, if a later step of a pipeline fails."""

from collections import deque
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from skstream.pipeline._transformers import learns
from skstream.utils._sklearn import is_column_transformer
from skstream.utils._versions import Value

# Values of these types are never changed in place.
_CONSTANTS = (type(None), bool, int, float, complex, str, bytes, np.generic, type, Value)
# Names of columns are set once, and slow to copy.
_NAMES = ("feature_names_in_",)


class Rollback:
    """Copy of the state of some objects, made before they learn.

    The copy takes some microseconds and the memory of the fitted arrays, far less than the
    ``partial_fit`` that follows. `restore` writes the old content back into every object, array,
    list and dict, so that the layout of arrays and shared objects stay as they were. Other values
    are replaced by copies. Values that cannot be copied, such as open files, and what an object
    stores outside its attributes (in compiled code) are not restored.
    """

    def __init__(self) -> None:
        self._contents: list[tuple[Any, Any]] = []
        self._saved: dict[int, Any] = {}

    def keep(self, learner: Any) -> None:
        """Copy the state of an object."""
        if hasattr(learner, "__dict__"):
            self._keep_attributes(learner)

    def restore(self) -> None:
        """Restore the state of all objects."""
        for owner, content in self._contents:
            if isinstance(owner, np.ndarray):
                owner[...] = content
            elif isinstance(owner, list | deque):
                owner.clear()
                owner.extend(content)
            else:
                attributes = owner if isinstance(owner, dict) else vars(owner)
                attributes.clear()
                attributes.update(content)

    def _keep_attributes(self, owner: Any) -> None:
        is_columns = is_column_transformer(owner)
        parts = "transformers_" if is_columns else "steps" if isinstance(owner, Pipeline) else None
        content = {}
        for name, value in vars(owner).items():
            if name == parts:
                for _, part, *_ in value:
                    self._keep_part(part)
                content[name] = value
            elif is_columns or name in _NAMES:
                content[name] = value  # set with the first rows
            else:
                content[name] = self._keep(value)
        self._contents.append((owner, content))

    def _keep_part(self, part: Any) -> None:
        """Copy the state of a part that learns; the others never change."""
        if learns(part) or is_column_transformer(part):
            self.keep(part)

    def _keep(self, value: Any) -> Any:
        """Copy the content of a value; return the value to restore."""
        if isinstance(value, _CONSTANTS):
            return value
        if id(value) in self._saved:
            return self._saved[id(value)]
        self._saved[id(value)] = value
        if type(value) is np.ndarray and not value.dtype.hasobject:
            if value.flags.writeable:
                self._contents.append((value, value.copy(order="K")))
        elif type(value) in (list, deque):
            self._contents.append((value, [self._keep(element) for element in value]))
        elif type(value) is dict:
            kept = {key: self._keep(element) for key, element in value.items()}
            self._contents.append((value, kept))
        elif isinstance(value, BaseEstimator):
            self._keep_attributes(value)
        else:
            self._saved[id(value)] = _copied(value)
        return self._saved[id(value)]


def _copied(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:  # a lock, an open file: it stays, as the docstring of `Rollback` says
        return value
