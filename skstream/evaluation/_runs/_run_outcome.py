"""Outcomes that workers return: plain data, combined by the parent process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skstream.drift import Detections
from skstream.evaluation._runs._cost import Cost
from skstream.metrics._checkpoints import Curves
from skstream.streams import Drift
from skstream.utils._npy import StoredArray
from skstream.utils._saved import NOT_SAVED

#: What a pass read, in words; checksums by these names are equal if two passes read the same.
Checksums = Mapping[str, tuple[int, ...]]
#: Name of a model, and number of a fold.
Place = tuple[str, int]


@dataclass(frozen=True, kw_only=True)
class LaneOutcome:
    """What one model did in one fold.

    If the model failed, `failure` is the reason and `n_valid` the number of rows of its curves and
    answers before the failure. If it was ended before the run was, `ended` says where and why (an
    `EndedModel`). `scores` are those beside the answers on the tape, given by `method`, where
    measures need them. `detections` says what each monitor found.
    """

    name: str
    fold: int
    curves: Curves
    answers: np.ndarray | StoredArray | None
    cost: Cost
    path: str
    estimator: Any = field(default=None, metadata=NOT_SAVED)
    failure: str | None = None
    n_valid: int | None = None
    n_unanswered: int = 0
    ended: Any = None
    detections: Mapping[str, Detections] = field(default_factory=dict)
    scores: np.ndarray | StoredArray | None = None
    method: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What one run's lanes did, and the labels they shared (None without a tape).

    `labels` holds what a tape says of the rows: labels, weights, answers of baselines. `waits` is
    only used under delayed labels: the counts of waiting rows. `drifts` says where the truth
    changes, in the rows of the curves. `labels_read` is a fingerprint of all labels.
    `columns` holds the names of the columns of the features, and their types.
    `n_unlabelled` counts rows that came without a label, and `unlabelled_held_out` those of
    held-out rows, and all of these.
    `read` holds checksums that show whether two workers read the same; `error` is the exception
    that ended the run in a worker, and `cause` its traceback; `interrupted` says whether Ctrl-C
    ended it. `run` is the run itself, where it shall go on after the workers. `identity` says which
    group of which run folder it is of; see `Manifest.identity`.
    """

    lanes: list[LaneOutcome]
    labels: dict[str, Any] | None
    waits: Any = None
    drifts: tuple[Drift, ...] = ()
    labels_read: str = ""
    columns: dict[str, Any] = field(default_factory=dict)
    n_rows: int = 0
    n_unlabelled: int = 0
    unlabelled_held_out: tuple[int, int] | None = None
    read: Checksums = field(default_factory=dict)
    error: Exception | SystemExit | None = None
    cause: BaseException | None = None
    interrupted: bool = False
    run: Any = None
    identity: str = ""

    @property
    def rows_read(self) -> tuple[Any, ...]:
        """What is equal for outcomes that read the same rows."""
        return self.n_rows, tuple(sorted(self.read.items()))
