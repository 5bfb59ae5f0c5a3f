"""Which model is better: tests over folds, over rows, and over streams."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skstream import stats

if TYPE_CHECKING:
    from skstream.evaluation._result import EvaluationResult

FOLD_TESTS: dict[str, Any] = {"wilcoxon": stats.wilcoxon, "sign": stats.sign_test}
ROW_TESTS = ("anytime", "mcnemar", "q")


def compare(
    result: "EvaluationResult",
    a: str,
    b: str,
    *,
    test: str,
    metric: str | None,
    forgetting: str | None,
    at: int | None,
    fold: int | None,
    bin: int | None,
    options: dict[str, Any],
) -> Any:
    """Compare two models of a result; see `EvaluationResult.compare`."""
    if test == "auto":
        test = "wilcoxon" if result.n_folds > 1 else "anytime"
    if test in FOLD_TESTS:
        metric = _metric(result, metric)
        options["higher_is_better"] = higher_is_better(result, metric, options)
        values = [fold_values(result, name, metric, forgetting, at) for name in (a, b)]
        return FOLD_TESTS[test](*values, names=(a, b), **options)
    if test not in ROW_TESTS:
        known = ["auto", *FOLD_TESTS, *ROW_TESTS]
        raise ValueError(f"The test must be one of {known}. Got {test!r} instead.")
    fold = _one_fold(result, f"test {test!r}", fold)
    if test == "mcnemar" and result.classes is not None:
        y, answers_a, answers_b = _answers(result, a, b, at, fold, bin)
        return stats.mcnemar(y, answers_a, answers_b, names=(a, b), **options)
    losses = row_losses(result, a, b, at=at, fold=fold, bin=bin)
    if result.classes is None:
        _check_regression(test, losses, options)
    function = stats.anytime_comparison if test == "anytime" else stats.q_statistic
    return function(*losses, names=(a, b), **options)


def row_losses(
    result: "EvaluationResult",
    a: str,
    b: str,
    *,
    at: int | None = None,
    fold: int | None = None,
    bin: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Losses of two models over the rows on which both were scored: 0/1, or absolute errors."""
    y, *answers = _answers(result, a, b, at, _one_fold(result, "comparison row by row", fold), bin)
    if result.classes is None:
        first, second = (np.abs(values - y) for values in answers)
    else:
        first, second = ((values != y).astype(np.float64) for values in answers)
    return first, second


def rank(
    results: Sequence["EvaluationResult"],
    *,
    metric: str | None,
    forgetting: str | None,
    at: int | None,
    options: dict[str, Any],
) -> Any:
    """Rank the models over folds, or over several streams; see `EvaluationResult.rank`."""
    first = results[0]
    metric = _metric(first, metric)
    names = first.model_names
    options["higher_is_better"] = higher_is_better(first, metric, options)
    if len(results) == 1:
        if first.n_folds < 2:
            raise ValueError(
                "Ranking needs several folds or several streams; this result has one fold. "
                "Evaluate with KFoldEvaluator, or pass the results of other streams: "
                "result.rank(other, ...)."
            )
        columns = [fold_values(first, name, metric, forgetting, at) for name in names]
        return stats.friedman_nemenyi(np.stack(columns, axis=1), names, **options)
    for other in results[1:]:
        if set(other.model_names) != set(names):
            raise ValueError(
                f"All results must hold the same models. Got {names} and {other.model_names}."
            )
    table = [
        [np.mean(fold_values(one, name, metric, forgetting, at)) for name in names]
        for one in results
    ]
    return stats.friedman_nemenyi(np.array(table), names, **options)


def fold_values(
    result: "EvaluationResult", model: str, metric: str, forgetting: str | None, at: int | None
) -> np.ndarray:
    """Values of a measure in every fold, at the last checkpoint or that of row `at`."""
    curve = result.curve(model, metric, forgetting)
    values: np.ndarray = curve[_checkpoint(result, at)]
    if np.isnan(values).any():
        folds = np.flatnonzero(np.isnan(values)).tolist()
        raise ValueError(
            f"{metric} of '{model}' is undefined (NaN) in the folds {folds}; compare another "
            "measure, or at a later row."
        )
    return values


def _checkpoint(result: "EvaluationResult", at: int | None) -> int:
    if at is None:
        return -1
    positions = np.flatnonzero(result.n_rows <= at)
    if not len(positions):
        raise ValueError(f"There is no checkpoint at or before row {at}.")
    return int(positions[-1])


def _metric(result: "EvaluationResult", metric: str | None) -> str:
    return result.metric_names[0] if metric is None else metric


def higher_is_better(result: "EvaluationResult", metric: str, options: dict[str, Any]) -> bool:
    """Direction of a measure; an error where it is not known."""
    facts = result.measures.get(metric)
    known = None if facts is None else facts.higher_is_better
    said: bool | None = options.get("higher_is_better")
    if known is None and said is None:
        raise ValueError(
            f"It is not known whether a higher value of measure {metric!r} is the better one, so "
            "no model can be called better by it. Say it in the evaluation, "
            "metrics=Measure(function, higher_is_better=...) with skstream.metrics.Measure, or "
            "here: higher_is_better=True, or False for a loss."
        )
    if known is not None and said is not None and bool(said) != known:
        raise ValueError(
            f"A {'higher' if known else 'lower'} value of measure {metric!r} is the better one. "
            f"Got higher_is_better={said!r}; leave it out."
        )
    return bool(said) if known is None else known


def _one_fold(result: "EvaluationResult", what: str, fold: int | None) -> int:
    if fold is None and result.n_folds > 1:
        raise ValueError(
            f"The {what} is over the rows of one fold, and there are {result.n_folds}: "
            'pass fold=, or a test over folds ("wilcoxon", "sign").'
        )
    return fold or 0


def _answers(
    result: "EvaluationResult", a: str, b: str, at: int | None, fold: int, bin: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels and both models' answers, over the rows on which both were scored."""
    tape = result.require_tape()
    for name in (a, b):
        result.curve(name, result.metric_names[0])  # names the models where one is unknown
    y, answers_a, answers_b = tape.y, tape.answers[a][fold], tape.answers[b][fold]
    if answers_a.ndim == 2:
        column = answers_a.shape[1] - 1 if bin is None else bin
        if not 0 <= column < answers_a.shape[1]:
            raise ValueError(f"bin must be from 0 to {answers_a.shape[1] - 1}. Got {bin} instead.")
        answers_a, answers_b = answers_a[:, column], answers_b[:, column]
    elif bin is not None:
        raise ValueError("bin= is for results under delayed labels; this one has no bins.")
    scored = _present(y) & _present(answers_a) & _present(answers_b)
    if tape.weight is not None:
        scored &= tape.weight > 0
    if at is not None:
        scored[at:] = False
    return y[scored], answers_a[scored], answers_b[scored]


def _present(values: np.ndarray) -> np.ndarray:
    return ~np.isnan(values) if values.dtype.kind == "f" else values >= 0


def _check_regression(
    test: str, losses: tuple[np.ndarray, np.ndarray], options: dict[str, Any]
) -> None:
    if test == "mcnemar":
        raise ValueError("McNemar's test compares classifiers; use 'anytime' or 'q'.")
    if test == "anytime" and "bounds" not in options:
        raise ValueError(
            "The anytime comparison of regressors needs bounds=(lowest, highest) of the absolute "
            f"error; the largest seen here is {max(loss.max() for loss in losses):g}."
        )
