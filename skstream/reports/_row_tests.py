"""Tests of two models over rows: which loss of a row is compared, on which rows, and the tests."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skstream.core.measures.formulas import MeanOf
from skstream.core.measures.rows import ScoredRows
from skstream.core.measures.series import (
    HIGHEST_LOG_LOSS,
    BrierLoss,
    Column,
    LogLoss,
    OfColumn,
    read_scores,
)
from skstream.core.result.result import EvaluationResult
from skstream.core.run.tape import Tape, scores_of_bin
from skstream.forgetting import Forgetting
from skstream.metrics import Measure
from skstream.stats._anytime import RunningAnytimeComparison
from skstream.stats._mcnemar import McNemarCounts, RunningMcNemar
from skstream.stats._q_statistic import RunningQStatistic
from skstream.utils._labels import is_given

#: Rows of a tape that are read at once.
ROWS_AT_ONCE = 1 << 17
BOUNDS_NEEDED = (
    "needs bounds=(lowest, highest), the smallest and the largest possible error. Only you can "
    "know them: bounds taken from the errors of these rows would invalidate the test"
)


# -- losses


@dataclass(frozen=True)
class RowLoss:
    """Loss of a row by which models are compared.

    Attributes
    ----------
    kind : str
        As `Measure.row_loss`, or "cost".
    measure : str
        Name of the measure that is its mean.
    words, noun : str
        What it is, and what one of them is called.
    bounds : tuple of two float, or None
        Smallest and largest loss that can occur; None for errors of regressors.
    column : Column or None
        What makes the losses; None: they are those of answers alone.
    """

    kind: str
    measure: str
    words: str
    noun: str
    bounds: tuple[float, float] | None = None
    column: Column | None = None


_BRIER, _LOG = BrierLoss(), LogLoss()
_LOG_BOUNDS = (0.0, HIGHEST_LOG_LOSS)
_LOSSES = {
    one.kind: one
    for one in (
        RowLoss("zero_one", "accuracy", "the 0/1 loss of each row", "loss", (0.0, 1.0)),
        RowLoss("absolute", "mae", "the absolute error of each row", "absolute error"),
        RowLoss("squared", "mse", "the squared error of each row", "squared error"),
        RowLoss("log", "log_loss", "the log loss of each row", "log loss", _LOG_BOUNDS, _LOG),
        RowLoss("brier", "brier", "the Brier score of each row", "Brier score", (0.0, 1.0), _BRIER),
    )
}


def row_loss(result: EvaluationResult, test: str, metric: str | Measure | None) -> RowLoss:
    """Loss of a row that a test compares: that of the measure, if its mean decides it."""
    if isinstance(metric, Measure):
        return _own_loss(result, test, metric)
    n_classes = 0 if result.classes is None else len(result.classes)
    kinds: tuple[str, ...] = ("absolute", "squared")
    if n_classes:
        kinds = ("zero_one",) if test == "mcnemar" else ("zero_one", "log", "brier")
    elif test == "mcnemar":
        raise ValueError("McNemar's test compares classifiers; use 'anytime' or 'q'.")
    first = result.metric_names[0] if metric is None else metric
    result.curve(result.model_names[0], first)  # names the measures where it is unknown
    facts = result.measures.get(first, Measure(name=first))
    kind = facts.row_loss
    if kind not in kinds:
        if metric is not None:
            known = [name for name, one in result.measures.items() if one.row_loss in kinds]
            instead = f", or pass one that is: {known}" if known else ""
            over_folds = "; or compare it over folds ('wilcoxon', 'sign')"
            if facts.needs == "scores" and "brier" in kinds:  # a ranking of probabilities
                over_folds += ", or probabilities: result.rescore(['brier']).compare(...)"
            raise ValueError(
                f"The test {test!r} compares {_LOSSES[kinds[0]].words}, and measure {metric!r} is "
                f"not the mean of such losses. Leave out metric={instead}"
                f"{'' if facts.higher_is_better is None else over_folds}."
            )
        kind = kinds[0]
    found = _LOSSES[str(kind)]
    return replace(found, bounds=(0.0, 2.0)) if kind == "brier" and n_classes > 2 else found


def _own_loss(result: EvaluationResult, test: str, measure: Measure) -> RowLoss:
    """Loss of a row of a measure that was given itself, such as ``cost(matrix)``."""
    formula = measure.formula
    series = formula.series if isinstance(formula, MeanOf) else None
    column = series.column if isinstance(series, OfColumn) else None
    is_mean = column is not None and not (column.follows or column.of_labels)
    if not is_mean or measure.higher_is_better is not False:
        raise ValueError(
            f"Measure {measure.name!r} is not the mean of a loss per row. Pass the name of a "
            'measure of the result, or cost(matrix), with a threshold other than "best", from '
            "skstream.metrics."
        )
    if test == "mcnemar":
        raise ValueError("McNemar's test compares 0/1 losses; use 'anytime' or 'q'.")
    n_classes = 0 if result.classes is None else len(result.classes)
    if measure.n_classes not in (None, n_classes):
        raise ValueError(
            f"Measure {measure.name!r} is for {measure.n_classes} classes, and the result has "
            f"{n_classes}."
        )
    if not np.isfinite(measure.bounds).all():
        raise ValueError(
            f"Measure {measure.name!r} has no bounds, or is the same for all predictions."
        )
    return RowLoss("cost", measure.name, "the loss of each row", "cost", measure.bounds, column)


def loss_in_words(result: EvaluationResult, loss: RowLoss, bounds: Any) -> str:
    """Name a loss by the measure that is its mean, unless the user calls another measure so.

    `bounds` are those that were passed for log losses, which are clipped to them.
    """
    facts = result.measures.get(loss.measure)
    is_other = loss.kind != "cost" and facts is not None and facts.row_loss != loss.kind
    own = f"not by your measure {loss.measure!r}" if is_other else loss.measure
    words = f"{loss.words} ({own})"
    if loss.kind != "log" or bounds is None:
        return words
    how = "clipped at" if bounds[1] < HIGHEST_LOG_LOSS else "at most"
    return f"{words}, {how} {bounds[1]:.4g},"


# -- rows


class Losses(NamedTuple):
    """Losses of two models in some rows on which both were scored.

    Attributes
    ----------
    a, b : ndarray of shape (n,)
        The losses.
    weight : ndarray of shape (n,), or None
        Scoring weights; None where all are 1.
    number : ndarray of shape (n,)
        Which rows they are, from 1 on.
    """

    a: np.ndarray
    b: np.ndarray
    weight: np.ndarray | None
    number: np.ndarray


@dataclass(frozen=True, kw_only=True)
class ComparedRows:
    """Rows of a tape, which may lie on disk, on which models are compared.

    Attributes
    ----------
    tape : Tape
        Labels and answers.
    names : tuple of str
        The models, two of them in `pieces`.
    fold : int
        Position of the fold on the tape.
    bin : int or None
        Bin of the answers.
    loss : RowLoss
        What is compared.
    start, stop : int
        The first row, and the row after the last.
    unit : str
        What the rows are: rows, or labelled rows.
    place : str
        Rows, fold and bin in words.
    """

    tape: Tape
    names: tuple[str, ...]
    fold: int
    bin: int | None
    loss: RowLoss
    start: int
    stop: int
    unit: str
    place: str = ""

    def scored(self) -> Iterator[np.ndarray]:
        """Yield positions of rows on which all were scored, some at a time, in their order."""
        for start in range(self.start, self.stop, ROWS_AT_ONCE):
            rows = slice(start, min(self.stop, start + ROWS_AT_ONCE))
            scored = is_given(np.asarray(self.tape.y[rows]))
            for name in self.names:
                scored &= is_given(self._answers(name, rows))
            if self.tape.weight is not None:
                scored &= np.asarray(self.tape.weight[rows]) > 0
            if scored.any():
                yield start + np.flatnonzero(scored)

    def pieces(self, bounds: tuple[float, float] | None = None) -> Iterator[Losses]:
        """Yield the losses of these rows; log losses above the upper bound are clipped to it."""
        highest = np.inf if bounds is None or self.loss.kind != "log" else bounds[1]
        for (a, b), places in self.tables():
            weight = self.tape.weight
            a, b = np.minimum(a, highest), np.minimum(b, highest)
            yield Losses(a, b, None if weight is None else weight[places], places + 1)

    def tables(self) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
        """Yield the losses of each model in some of these rows, and the positions of the rows."""
        for places in self.scored():
            rows = slice(places[0], places[-1] + 1)
            some = places - places[0]
            yield [self._of_model(name, rows, some) for name in self.names], places

    @property
    def largest_weight(self) -> float:
        """The largest scoring weight of the rows."""
        weight = self.tape.weight
        return 1.0 if weight is None else max(float(weight[some].max()) for some in self.scored())

    def _answers(self, name: str, rows: slice) -> np.ndarray:
        answers = self.tape.answers[name][self.fold][rows]
        return np.asarray(answers if self.bin is None else answers[:, self.bin])

    def _of_model(self, name: str, rows: slice, some: np.ndarray) -> np.ndarray:
        tape, column = self.tape, self.loss.column
        y, answers = np.asarray(tape.y[rows])[some], self._answers(name, rows)[some]
        if column is None:
            if self.loss.kind == "zero_one":
                return np.asarray(answers != y, dtype=np.float64)
            errors: np.ndarray = np.abs(answers - y)
            return errors * errors if self.loss.kind == "squared" else errors
        scores = None
        if column.of_scores:
            of_bin = scores_of_bin(
                tape.scores[name][self.fold], tape.answers[name][self.fold], self.bin
            )
            scores = np.asarray(of_bin[rows])[some].astype(np.float64, copy=False)[np.newaxis]
        scored = ScoredRows(y, answers[np.newaxis], scores=scores)
        n_classes = 0 if tape.classes is None else len(tape.classes)
        (losses,), _ = read_scores(column, scored, None, n_classes)
        return losses


# -- tests


def test_of_rows(
    rows: ComparedRows,
    test: str,
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
    running: Any
    if test == "mcnemar":
        running = _running_mcnemar(rows, mechanism, over_time, options)
    elif test == "q":
        running = RunningQStatistic(mechanism, names=rows.names, **options)
    else:
        _choose_bounds(rows.loss, options)
        if options.get("largest_weight") is None:
            options["largest_weight"] = rows.largest_weight
        running = RunningAnytimeComparison(names=rows.names, **options)
    bounds = options.get("bounds")
    for piece in rows.pieces(bounds):
        if test == "anytime" and bounds is not None:
            _check_bounds(rows, piece, bounds)
        running.update(piece.a, piece.b, sample_weight=piece.weight)
    return running.result()


def _choose_bounds(loss: RowLoss, options: dict[str, Any]) -> None:
    """Take the bounds of the loss where the user gave none, or else the asymptotic boundary."""
    if loss.kind == "zero_one" or options.get("boundary") == "asymptotic":
        return
    if loss.bounds is not None and options.get("bounds") is None:
        options["bounds"] = loss.bounds
    if "bounds" not in options and options.setdefault("boundary", "asymptotic") != "asymptotic":
        raise ValueError(
            f"The boundary {options['boundary']!r} of the {loss.kind} errors of regressors "
            f"{BOUNDS_NEEDED}. Without boundary= it is 'asymptotic', which needs no bounds and is "
            "valid for many rows if no rare errors dominate the mean."
        )


def _check_bounds(rows: ComparedRows, piece: Losses, bounds: tuple[float, float]) -> None:
    """Name the model and the row of a loss outside the bounds that the user gave."""
    low, high = bounds
    for name, values in zip(rows.names, (piece.a, piece.b), strict=True):
        outside = (values < low) | (values > high)
        if outside.any():
            first = int(outside.argmax())
            raise ValueError(
                f"The {rows.loss.noun} of '{name}' in {rows.unit} {piece.number[first]:,} is "
                f"{values[first]:g}, outside bounds=({low:g}, {high:g}). Give bounds that hold for "
                "every possible loss."
            )


def _running_mcnemar(
    rows: ComparedRows, mechanism: Forgetting, over_time: bool, options: dict[str, Any]
) -> Any:
    has_forgotten = mechanism.forgets
    if not (has_forgotten or over_time):
        if "record_every" in options:
            raise ValueError(
                "McNemar's test of all rows has one value, but record_every= is for its curve: "
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
            "McNemar's exact test is for one look at the end, but over_time=True looks at many "
            "rows. Leave out one of them."
        )
    return RunningMcNemar(mechanism, names=rows.names, **options)
