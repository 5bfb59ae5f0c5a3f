"""Missing values: what they are, and masked arrays, where the number under a mask is none."""

from typing import Any

import numpy as np


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA compares as NA; an array has no truth value
        return type(value).__name__ == "NAType"


def unmasked(values: Any, *, numbers: bool = False) -> Any:
    """Return a plain array in which masked entries are missing; anything else as it is.

    ``np.asarray`` drops the mask and returns the number stored under it, so every function that
    takes arrays from the user calls this first.

    Parameters
    ----------
    values : object
        A masked array, a list with masked entries or of masked rows, or anything else.
    numbers : bool, default=False
        Whether integers and booleans among which some are masked become floats with NaN, as
        features, times and weights need. False: they become objects with None, as labels need.

    Returns
    -------
    ndarray, list or object
        Masked floats are NaN, masked dates and durations NaT, masked texts None. Data without a
        masked entry are returned themselves, not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.utils._masked import unmasked
    >>> labels = np.ma.array([3, 1, 2], mask=[False, True, False])
    >>> unmasked(labels).tolist(), unmasked(labels, numbers=True).tolist()
    ([3, None, 2], [3.0, nan, 2.0])
    """
    if isinstance(values, (list, tuple)):
        if not any(isinstance(value, np.ma.MaskedArray) for value in values):
            return values
        return [
            None if value is np.ma.masked else unmasked(value, numbers=numbers) for value in values
        ]
    if not isinstance(values, np.ma.MaskedArray):
        return values
    data, mask = values.data, np.ma.getmaskarray(values)
    if mask.dtype != bool or not mask.any():  # a mask by fields belongs to a table of records
        return data
    kind = data.dtype.kind
    if kind in "mM":
        return np.where(mask, np.array("NaT", dtype=data.dtype), data)
    if kind in "fc":
        return np.where(mask, data.dtype.type(np.nan), data)
    if numbers and kind in "biu":
        return np.where(mask, np.nan, data.astype(np.float64))
    objects = data.astype(object)
    objects[mask] = None
    return objects


def refuse_masked(values: Any, name: str) -> None:
    """Raise an error that names the first masked entry, if there is one."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        index = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        raise ValueError(
            f"{name}[{', '.join(map(str, index))}] is masked, so it has no value. Leave such rows "
            f"out, or fill the values first: {name}.filled(value)."
        )
