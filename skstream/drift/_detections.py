"""What a monitor found: the rows of a stream at which a detector warned and raised alarms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Detections:
    """Rows at which the detector of a monitor warned and raised alarms, for one model.

    Rows are those of the result's checkpoints, counted from 0: rows of the stream, or under
    delayed labels the labelled rows in the order of their labels.

    Attributes
    ----------
    monitor, model : str
        Names of the monitor and of the model that it watched.
    fold : int
        The fold; 0 where there is one.
    bin : int or None
        Under delayed labels, the bin whose answers were watched; else None.
    n_folds : int
        Number of folds of the evaluation.
    alarms : ndarray of shape (n_alarms,), dtype int64
        The rows whose value raised an alarm, increasing.
    warnings : ndarray of shape (n_warnings,), dtype int64
        The first row of every warning zone, increasing; none where the detector never warns.

    See Also
    --------
    score_detections : How good alarms are, where the drifts are known.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift._detections import Detections
    >>> rows = np.array([120, 480])
    >>> Detections(monitor="ddm", model="sgd", alarms=rows, warnings=rows - 20)
    Detections(ddm of sgd: 2 alarms, at rows 120, 480; 2 warnings)
    """

    monitor: str
    model: str
    fold: int = 0
    bin: int | None = None
    n_folds: int = 1
    alarms: NDArray[np.int64]
    warnings: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Protect the rows against changes."""
        for rows in (self.alarms, self.warnings):
            rows.flags.writeable = False

    def __repr__(self) -> str:
        n = len(self.alarms)
        first = ", ".join(map(str, self.alarms[:3].tolist()))
        where = f", at {'row' if n == 1 else 'rows'} {first}{', ...' if n > 3 else ''}" if n else ""
        fold = f" in fold {self.fold}" if self.fold or self.n_folds > 1 else ""
        return (
            f"{type(self).__name__}({self.monitor} of {self.model}{fold}: {_counted(n, 'alarm')}"
            f"{where}; {_counted(len(self.warnings), 'warning')})"
        )


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
