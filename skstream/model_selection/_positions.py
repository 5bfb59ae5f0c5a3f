"""Row positions that cannot be put into another order than that of time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
