"""What the splitters share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import UNUSED

from skstream.utils._choices import is_integer
from skstream.utils._warnings import warn

Indices = NDArray[np.intp]


class Splitter(BaseEstimator, ABC):
    """Base of the splitters: a scikit-learn splitter that can be cloned, compared and searched.

    `sklearn.model_selection.BaseCrossValidator` has no ``get_params``, and importing it takes as
    long as importing this package; scikit-learn asks a splitter for its methods alone.
    """

    # There are no groups in a stream: nothing asks for them to be routed.
    __metadata_request__split: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    @abstractmethod
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the positions of the rows to train on and to test on."""

    @abstractmethod
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""

    def _check_rows(self, X: Any, y: Any, groups: Any) -> None:
        check_consistent_length(X, y)
        if groups is not None:
            warn(f"{type(self).__name__} does not use groups; leave them out.")


def check_count(owner: Any, name: str, least: int) -> int:
    """Return a parameter of a splitter that counts something, or raise an error."""
    value = getattr(owner, name)
    if not is_integer(value) or value < least:
        raise ValueError(
            f"The {name!r} parameter of {type(owner).__name__} must be an int in the range "
            f"[{least}, inf). Got {value!r} instead."
        )
    return int(value)
