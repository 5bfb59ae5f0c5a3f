"""Tests of two models over the rows of a stream, some rows at a time."""

from typing import Any

import numpy as np

from skstream.evaluation._results._compared_rows import ColumnLoss, ComparedAnswers, Loss, bounds_of
from skstream.forgetting import Cumulative, FadingFactor, Forgetting
from skstream.stats._anytime import RunningAnytimeComparison
from skstream.stats._mcnemar import McNemarCounts, RunningMcNemar
from skstream.stats._q_statistic import RunningQStatistic

BOUNDS_NEEDED = (
    "needs bounds=(lowest, highest), the smallest and the largest error that can occur at all. "
    "Only you can know them: taken from the errors of these rows they would void the test"
)

#: What losses are called that are no errors.
_NOUNS = {"log": "log loss", "brier": "Brier score"}


def test_of_rows(
    rows: ComparedAnswers,
    test: str,
    loss: Loss,
    mechanism: Forgetting,
    over_time: bool,
    options: dict[str, Any],
) -> Any:
    """Run a test of the losses of two models, row by row, and return its result."""
    if "sample_weight" in options:
        raise ValueError(
            "The rows are compared with the scoring weights of the evaluation; leave out "
            "sample_weight=, or give it to evaluate()."
        )
    is_asymptotic = options.get("boundary") == "asymptotic"
    if test == "anytime" and loss != "zero_one" and not is_asymptotic:
        bounds = bounds_of(loss, rows.n_classes)
        if bounds is not None and options.get("bounds") is None:
            options["bounds"] = bounds
    running = _running_test(rows, test, loss, mechanism, over_time, options)
    for piece in rows.pieces():
        losses = piece.losses(loss, options.get("bounds"))
        if test == "anytime":
            _check_bounds(rows, piece.number, losses, loss, options.get("bounds"))
        running.update(*losses, sample_weight=piece.weight)
    return running.result()


def _running_test(
    rows: ComparedAnswers,
    test: str,
    loss: Loss,
    mechanism: Forgetting,
    over_time: bool,
    options: dict[str, Any],
) -> Any:
    """Return what takes the losses piece by piece."""
    if test == "mcnemar":
        return _running_mcnemar(rows, mechanism, over_time, options)
    if test == "q":
        return RunningQStatistic(mechanism, names=rows.names, **options)
    without = ("bounds" not in options) and options.get("boundary") != "asymptotic"
    if loss != "zero_one" and without:
        raise ValueError(
            f"The anytime comparison of regressors by the {loss} error {BOUNDS_NEEDED}. Without "
            "such bounds pass boundary='asymptotic', which holds as rows become many if no rare "
            "error decides the mean; or use 'q', which describes and does not test, or compare "
            "folds."
        )
    if options.get("largest_weight") is None:
        options["largest_weight"] = rows.largest_weight
    return RunningAnytimeComparison(names=rows.names, **options)


def _check_bounds(
    rows: ComparedAnswers,
    numbers: np.ndarray,
    losses: tuple[np.ndarray, np.ndarray],
    loss: Loss,
    bounds: Any,
) -> None:
    """Name the model and the row of a loss outside the bounds that the user gave."""
    if bounds is None:
        return  # those of 0/1 losses
    low, high = bounds
    for name, values in zip(rows.names, losses, strict=True):
        outside = (values < low) | (values > high)
        if outside.any():
            first = int(outside.argmax())
            noun = "cost" if isinstance(loss, ColumnLoss) else _NOUNS.get(loss, f"{loss} error")
            raise ValueError(
                f"The {noun} of '{name}' in {rows.unit} {numbers[first]:,} is "
                f"{values[first]:g}, outside bounds=({low:g}, {high:g}). Give bounds that hold for "
                "every possible loss."
            )


def _running_mcnemar(
    rows: ComparedAnswers, mechanism: Forgetting, over_time: bool, options: dict[str, Any]
) -> Any:
    has_forgotten = forgets(mechanism)
    if not (has_forgotten or over_time):
        if "record_every" in options:
            raise ValueError(
                "McNemar's test of all rows has one value, and record_every= is for its curve: "
                "pass over_time=True with it."
            )
        return McNemarCounts(names=rows.names, **options)
    if options.pop("method", "chi2") != "chi2":
        if has_forgotten:
            raise ValueError(
                f"McNemar's exact test counts all rows alike, and {mechanism.name} does not. Leave "
                'out method=, or pass forgetting="cumulative".'
            )
        raise ValueError(
            "McNemar's exact test is for one look at the end, and over_time=True looks at many "
            "rows. Leave out one of them."
        )
    return RunningMcNemar(mechanism, names=rows.names, **options)


def forgets(mechanism: Forgetting) -> bool:
    """Whether a mechanism counts some rows less than others."""
    if isinstance(mechanism, FadingFactor):
        return mechanism.counts_time or mechanism.factor < 1.0
    return not isinstance(mechanism, Cumulative)
