"""What several kernels say where they decline; the contract of kernels is in `engine.kernel`."""

from typing import Any

from skstream.core.engine.kernel import Declined
from skstream.utils._numba import numba_enabled


def decline_uncompiled(n: int, what: str, most: int) -> None:
    """Decline where loops would run uncompiled over more than `most` numbers at every row.

    There the estimator's own loop, whose inner loops are compiled, is no slower.
    """
    if n > most and not numba_enabled():
        raise Declined(f'{n} {what} have a kernel only with numba (pip install "skstream[fast]")')


#: Reasons that several kernels give.
OTHER_COLUMNS = "rows with other columns than those learnt first have no kernel"
OTHER_PRECISION = "float32 and float64 rows together have no kernel"
DENSE_AND_SPARSE = "dense and sparse rows together have no kernel"


def value_of(estimator: Any, name: str) -> str:
    """Name and value of a parameter that a kernel refuses."""
    value = repr(getattr(estimator, name))
    return f"{name}={value}" if len(value) <= 40 else f"this {name}"
