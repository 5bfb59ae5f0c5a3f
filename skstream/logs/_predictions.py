"""Predictions made elsewhere, scored as those of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstream.core.measures.registry import task_of
from skstream.core.result.result import EvaluationResult
from skstream.logs._log import chunk_of, scored
from skstream.utils._labels import as_labels, encode_together
from skstream.utils._masked import unmasked


def result_of_predictions(
    y_true: ArrayLike,
    y_pred: ArrayLike | Mapping[str, ArrayLike],
    metrics: Any,
    *,
    forgetting: Any,
    sample_weight: ArrayLike | None = None,
    record_every: int | None = None,
) -> EvaluationResult:
    """Score labels, of which none may be missing; floats are targets, if the measure allows it."""
    # A single model has no name that its user knows.
    named = y_pred if isinstance(y_pred, Mapping) else {"model": y_pred}
    given = {f"y_pred {name}" if named is y_pred else "y_pred": one for name, one in named.items()}
    columns = {"y_true": y_true} | given
    for name, column in given.items():
        if np.ndim(column) == 2 or not are_targets(columns, metrics):
            _refuse_probabilities(column, name)
    shapes = {name: np.shape(column) for name, column in columns.items()}
    if len(set(shapes.values())) > 1 or len(shapes["y_true"]) != 1:
        raise ValueError(f"y_true and y_pred must be columns of equal length. Got shapes {shapes}.")
    classes: np.ndarray | None = None
    if are_targets(columns, metrics):
        for name, column in columns.items():
            _check_targets(name, column)
    else:
        _, classes = encode_together(columns)
    chunk = chunk_of(y_true, named, None, {"sample_weight": sample_weight})
    return scored([chunk], classes, metrics, forgetting, record_every, len(chunk.y))


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
        f"{column} contains probabilities ({found}), but labels are needed, such as {labels}. For "
        "probabilities use ReliabilityDisplay.from_predictions or score_predictions."
    )


def are_targets(columns: Mapping[str, Any], metrics: Any) -> bool:
    """Whether these are numbers to predict: the measure says so, or some are stored as floats."""
    task = task_of(metrics)
    if task is not None:
        return task == "targets"
    kinds = {as_labels(column, name).dtype.kind for name, column in columns.items()}
    return "f" in kinds and kinds <= set("iuf")


def _check_targets(name: str, column: Any) -> None:
    try:
        values = np.asarray(unmasked(column, numbers=True), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must contain numbers, for regression: {error}") from error
    bad = np.flatnonzero(~np.isfinite(values) if name == "y_true" else np.isnan(values))
    if len(bad):
        raise ValueError(
            f"{name} holds {values[bad[0]]} in row {bad[0]}: a number is missing or not finite."
        )
