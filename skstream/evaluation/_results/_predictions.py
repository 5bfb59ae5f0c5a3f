"""Predictions made elsewhere, scored as those of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstream.engine.tape import Tape
from skstream.evaluation._results._result import EvaluationResult
from skstream.metrics._resolve import task_of
from skstream.utils._label_space import encode_together
from skstream.utils._labels import as_labels
from skstream.utils._masked import unmasked


def result_of_predictions(
    y_true: ArrayLike,
    y_pred: ArrayLike | Mapping[str, ArrayLike],
    metrics: Any,
    *,
    forgetting: Any,
    sample_weight: ArrayLike | None,
) -> EvaluationResult:
    """Score the predictions of one model, or of several by name, row by row."""
    # A single model has no name that its user knows.
    named = y_pred if isinstance(y_pred, Mapping) else {"model": y_pred}
    columns_of = {name: f"y_pred {name}" if named is y_pred else "y_pred" for name in named}
    columns = {"y_true": y_true} | {columns_of[name]: given for name, given in named.items()}
    for column in columns_of.values():
        if np.ndim(columns[column]) == 2 or not are_targets(columns, metrics):
            _refuse_probabilities(columns[column], column)
    shapes = {column: np.shape(given) for column, given in columns.items()}
    if len(set(shapes.values())) > 1 or len(shapes["y_true"]) != 1:
        raise ValueError(f"y_true and y_pred must be columns of equal length. Got shapes {shapes}.")
    values: Mapping[str, np.ndarray]
    classes: np.ndarray | None = None
    if are_targets(columns, metrics):
        values = {name: _targets(name, column) for name, column in columns.items()}
    else:
        values, classes = encode_together(columns)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight is not None and weight.shape != shapes["y_true"]:
        raise ValueError(f"sample_weight has shape {weight.shape}, y_true {shapes['y_true']}.")
    tape = Tape(
        classes=classes,
        y=values["y_true"],
        weight=weight,
        answers={name: values[column][np.newaxis] for name, column in columns_of.items()},
    )
    unscored = EvaluationResult(
        protocol="given predictions",
        checkpoints=np.empty(0, dtype=np.int64),
        values={name: {} for name in named},
        classes=classes,
        tape=tape,
    )
    return unscored.rescore(metrics, forgetting=forgetting)


def _refuse_probabilities(given: Any, column: str) -> None:
    """Say what to do with probabilities, where labels are wanted."""
    values = np.asarray(given)
    if values.dtype.kind != "f" or not values.size or not ((values >= 0) & (values <= 1)).all():
        return
    if values.ndim == 1:
        fractions = np.flatnonzero(values % 1)
        if not len(fractions):
            return  # 0.0 and 1.0 are labels
        found, labels = f"{values[fractions[0]]} in row {fractions[0]}", "(p >= 0.5).astype(int)"
    elif values.ndim == 2 and np.allclose(values.sum(axis=1), 1.0, atol=1e-6):
        found, labels = f"{values.shape[1]} in a row", "classes[p.argmax(axis=1)]"
    else:
        return
    raise ValueError(
        f"{column} holds probabilities ({found}), and labels are wanted, such as {labels}. "
        "Probabilities are shown by ReliabilityDisplay.from_predictions, ThresholdDisplay and "
        "OperatingCharacteristicDisplay; a measure of them along the stream needs an evaluation."
    )


def are_targets(columns: Mapping[str, Any], metrics: Any) -> bool:
    """Whether these are numbers to predict: the measure says so, or some are stored as floats."""
    task = task_of(metrics)
    if task is not None:
        return task == "targets"
    kinds = {as_labels(column, name).dtype.kind for name, column in columns.items()}
    return "f" in kinds and kinds <= set("iuf")


def _targets(name: str, column: Any) -> np.ndarray:
    try:
        values = np.asarray(unmasked(column, numbers=True), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers, for regression: {error}") from error
    bad = np.flatnonzero(~np.isfinite(values) if name == "y_true" else np.isnan(values))
    if len(bad):
        raise ValueError(
            f"{name} holds {values[bad[0]]} in row {bad[0]}: a number is missing or not finite."
        )
    return values
