"""Batch functions: the running measures computed on complete arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_consistent_length, column_or_1d

from skstream.forgetting import Cumulative
from skstream.metrics._measure import Measure
from skstream.metrics._registry import check_suits
from skstream.metrics._rows import NOTHING, Array, Floats
from skstream.metrics._running import RunningMeasures
from skstream.utils._label_space import encode_together
from skstream.utils._masked import refuse_masked
from skstream.utils._warnings import warn


def classification_values(
    measures: Sequence[Measure],
    y_true: ArrayLike,
    y_pred: ArrayLike,
    sample_weight: ArrayLike | None,
    past: ArrayLike | None = None,
) -> list[float]:
    """Values of measures on labels and answers, after some labels of the past."""
    earlier = np.empty(0, dtype=np.int64) if past is None else past
    codes, classes = encode_together({"y_true": y_true, "y_pred": y_pred, "past": earlier})
    check_consistent_length(codes["y_true"], codes["y_pred"], sample_weight)
    for measure in measures:
        check_suits(measure, classes)
    n_past = len(codes["past"])
    y = np.concatenate((codes["past"], codes["y_true"]))
    p = np.concatenate((np.full(n_past, NOTHING), codes["y_pred"]))
    return _values(measures, y, p, _weights(sample_weight, n_past), classes)


def regression_values(
    measures: Sequence[Measure],
    y_true: ArrayLike,
    y_pred: ArrayLike,
    sample_weight: ArrayLike | None,
    past: float | None = None,
) -> list[float]:
    """Values of measures on targets and answers, after a target of the past."""
    check_consistent_length(y_true, y_pred, sample_weight)
    earlier = [] if past is None else [past]
    y = np.concatenate((earlier, _targets("y_true", y_true)))
    p = np.concatenate((np.full(len(earlier), np.nan), _targets("y_pred", y_pred)))
    return _values(measures, y, p, _weights(sample_weight, len(earlier)), None)


def _values(
    measures: Sequence[Measure],
    y: Array,
    p: Array,
    weight: Floats | None,
    classes: Array | None,
) -> list[float]:
    running = RunningMeasures(
        {measure.name: measure for measure in measures},
        {"all": Cumulative()},
        classes=classes,
        record_every=len(y) + 1,
    )
    running.update(y, p, weight)
    values = running.final()["all"]
    undefined = [name for name, value in values.items() if np.isnan(value)]
    if undefined:
        warn(
            f"{', '.join(undefined)}: undefined on these rows, and so NaN. A kappa is undefined "
            "where its baseline makes no error; every measure is where no row counts.",
            UndefinedMetricWarning,
        )
    return list(values.values())


def _targets(name: str, targets: ArrayLike) -> Floats:
    refuse_masked(targets, name)
    values: Floats = column_or_1d(targets).astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.isfinite(values).argmin())
        raise ValueError(f"{name}[{row}] is {values[row]}. Drop the row or clip the number.")
    return values


def _weights(sample_weight: ArrayLike | None, n_past: int) -> Floats | None:
    if sample_weight is None:
        return None
    refuse_masked(sample_weight, "sample_weight")
    weights = column_or_1d(sample_weight, dtype=np.float64)
    valid = (weights >= 0.0) & (weights < np.inf)
    if not valid.all():
        row = int(valid.argmin())
        raise ValueError(
            f"sample_weight[{row}] is {weights[row]}. Weights must be finite and not negative; 0 "
            "leaves a row out."
        )
    return np.concatenate((np.ones(n_past), weights))
