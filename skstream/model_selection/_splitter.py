"""What the splitters share: a base class, and row positions that keep the order of time."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.metadata_routing import UNUSED

from skstream.utils._choices import check_count
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


def count_of(owner: Any, name: str, least: int) -> int:
    """Return a parameter of a splitter that counts something, or raise an error."""
    said = f"The {name!r} parameter of {type(owner).__name__}"
    return check_count(getattr(owner, name), said, least)


class Positions(np.ndarray[Any, np.dtype[np.intp]]):
    """Increasing row positions of a split, from which no rows can be drawn at random.

    A search by successive halving with ``resource="n_samples"`` draws rows from those that a
    splitter yields, in random order, and tells neither the splitter nor the scorer. It indexes
    the yielded arrays: that is where it shows. Slices and masks keep the order, and are free.
    """

    @classmethod
    def of(cls, rows: NDArray[np.intp]) -> "Positions":
        """Return a view of an array of positions."""
        return rows.view(cls)

    def __getitem__(self, key: Any) -> Any:
        """Return positions, or raise an error if they would be in another order."""
        first = key[0] if isinstance(key, tuple) and key else key
        if isinstance(first, np.ndarray | list):
            _check_order(np.asarray(first), len(self))
        return super().__getitem__(key)

    def take(self, indices: Any, *args: Any, **kwargs: Any) -> Any:
        """Return positions, or raise an error if they would be in another order."""
        _check_order(np.asarray(indices), len(self))
        return super().take(indices, *args, **kwargs)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return results of calculations as plain arrays: they are no positions."""
        return array[()] if return_scalar else np.asarray(array)


def _check_order(taken: np.ndarray, n_rows: int) -> None:
    """Refuse integers that pick some rows, or all in another order."""
    if taken.dtype.kind not in "iu" or taken.ndim != 1 or not len(taken):
        return
    if len(taken) != n_rows or (taken[1:] <= taken[:-1]).any():
        raise ValueError(
            "The rows of a split follow each other in the order of time. Here some were about to "
            "be drawn from them, or put into another order. HalvingGridSearchCV and "
            'HalvingRandomSearchCV do so with resource="n_samples", their default: they learn and '
            "test rows drawn at random. Name a parameter of the model as the resource, or use "
            "GridSearchCV or RandomizedSearchCV. (Code of your own: np.asarray(positions)[...].)"
        )
