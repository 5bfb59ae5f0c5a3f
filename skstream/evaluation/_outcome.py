"""What workers bring back: plain data, put together by the parent."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.evaluation._cost import Cost


@dataclass(frozen=True, kw_only=True)
class LaneOutcome:
    """What one model did in one fold.

    Of a model that failed, `failure` says why, and `n_valid` how many rows of its curves and
    answers came before.
    """

    name: str
    fold: int
    curves: Any
    answers: np.ndarray | None
    cost: Cost
    path: str
    estimator: Any = None
    failure: str | None = None
    n_valid: int | None = None
    n_unanswered: int = 0


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What one run's lanes did, and the labels they shared (None without a tape).

    `previous` and `waits` are those of delayed labels: what the persistent baseline knew, and
    what became of the rows that waited. `n_unlabelled` counts rows that came without a label.
    `labels_hash` tells runs along other labels apart. `error`
    is what ended the run in a worker, and `cause` where it came from.
    """

    lanes: list[LaneOutcome]
    y: np.ndarray | None
    weight: np.ndarray | None
    previous: np.ndarray | None = None
    waits: Any = None
    n_rows: int = 0
    n_unlabelled: int = 0
    labels_hash: int = 0
    error: Exception | None = None
    cause: BaseException | None = None
