"""Which loss of a row a test compares, and its name in words."""

from typing import TYPE_CHECKING

import numpy as np

from skstream.evaluation._results._compared_rows import ColumnLoss, Loss, bounds_of
from skstream.metrics import Measure
from skstream.metrics._columns import OfColumn
from skstream.metrics._formulas import MeanOf

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult

#: Losses of a row in words, as a measure may name them.
_LOSSES = {
    "zero_one": ("the 0/1 loss of each row", "accuracy"),
    "absolute": ("the absolute error of each row", "mae"),
    "squared": ("the squared error of each row", "mse"),
    "log": ("the log loss of each row", "log_loss"),
    "brier": ("the Brier score of each row", "brier"),
}


def measure_of(loss: Loss) -> str:
    """Name of the measure that is the mean of a loss."""
    return loss.name if isinstance(loss, ColumnLoss) else _LOSSES[loss][1]


def _column_loss(result: "EvaluationResult", test: str, measure: Measure) -> ColumnLoss:
    """Loss of a row of a measure that was given itself, if it is the mean of one."""
    formula = measure.formula
    series = formula.series if isinstance(formula, MeanOf) else None
    column = series.column if isinstance(series, OfColumn) else None
    if (
        column is None
        or column.follows
        or column.of_labels
        or measure.higher_is_better is not False
    ):
        raise ValueError(
            f"Measure {measure.name!r} is not the mean of a loss that each row has by itself. Pass "
            "the name of a measure of the result, or cost(matrix), with a threshold that is no "
            '"best", from skstream.metrics.'
        )
    if test == "mcnemar":
        raise ValueError("McNemar's test compares 0/1 losses; use 'anytime' or 'q'.")
    n_classes = 0 if result.classes is None else len(result.classes)
    if measure.n_classes not in (None, n_classes):
        raise ValueError(
            f"Measure {measure.name!r} is for {measure.n_classes} classes, and the result has "
            f"{n_classes}."
        )
    low, high = measure.bounds
    if not np.isfinite([low, high]).all():
        raise ValueError(f"Measure {measure.name!r} has no bounds, or is the same for all answers.")
    return ColumnLoss(measure.name, column, (low, high))


def row_loss(result: "EvaluationResult", test: str, metric: str | Measure | None) -> Loss:
    """Loss of a row that a test compares: that of the measure, if its mean decides it."""
    if isinstance(metric, Measure):
        return _column_loss(result, test, metric)
    losses: tuple[str, ...] = ("absolute", "squared")
    if result.classes is not None:
        losses = ("zero_one",) if test == "mcnemar" else ("zero_one", "log", "brier")
    if test == "mcnemar" and result.classes is None:
        raise ValueError("McNemar's test compares classifiers; use 'anytime' or 'q'.")
    first = result.metric_names[0] if metric is None else metric
    result.curve(result.model_names[0], first)  # names the measures where it is unknown
    loss = result.measures.get(first, Measure(name=first)).row_loss
    if loss in losses:
        return str(loss)
    if metric is not None:
        known = [name for name, facts in result.measures.items() if facts.row_loss in losses]
        instead = f", or pass one that is: {known}" if known else ""
        facts = result.measures.get(first, Measure(name=first))
        over_folds = "; or compare it over folds ('wilcoxon', 'sign')"
        over_folds = "" if facts.higher_is_better is None else over_folds
        raise ValueError(
            f"The test {test!r} compares {_LOSSES[losses[0]][0]}, and measure {metric!r} is not "
            f"the mean of such losses{_why_no_mean(facts)}. Leave out metric={instead}{over_folds}."
        )
    return losses[0]


def _why_no_mean(measure: Measure) -> str:
    """Say why some measures have no loss of a row, where that is easily said."""
    name = measure.name
    if name.startswith("cost"):
        return ": pass metric=cost(matrix) itself, as results do not keep the matrix"
    if name.startswith(("auc", "average_precision", "gini")):
        return ": it compares rows with each other, and a row alone has no such value"
    return ""


def loss_in_words(result: "EvaluationResult", loss: Loss) -> str:
    """Name a loss by the measure that is its mean, unless the user calls another measure so."""
    if isinstance(loss, ColumnLoss):
        return f"the loss of each row ({loss.name})"
    words, measure = _LOSSES[loss]
    facts = result.measures.get(measure)
    if facts is not None and facts.row_loss != loss:
        return f"{words} (not by your measure {measure!r})"
    return f"{words} ({measure})"


def clipped(highest: float, n_classes: int) -> str:
    """Say how large log losses can be: those of the tape, or clipped."""
    (_, largest) = bounds_of("log", n_classes) or (0.0, highest)
    return f"{'clipped at' if highest < largest else 'at most'} {highest:.4g}"
