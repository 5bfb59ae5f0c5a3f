"""Which models are better: tests of two over folds and rows, ranks of several."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from skstream import stats
from skstream.core.forgetting import as_forgetting, parse_forgetting
from skstream.core.result.result import EvaluationResult
from skstream.core.result.select import (
    bin_meant,
    bins_of,
    check_at,
    checkpoint,
    named,
    number,
    unit_of,
)
from skstream.core.run.tape import tape_of
from skstream.forgetting import Cumulative, Forgetting
from skstream.metrics import Measure
from skstream.reports._report import (
    OF_A_STREAM,
    differences,
    of_bin,
    of_each_stream,
    parameters_in_words,
    with_own,
)
from skstream.reports._row_tests import (
    ComparedRows,
    RowLoss,
    loss_in_words,
    row_loss,
    test_of_rows,
)
from skstream.stats._report import over_rows
from skstream.utils._choices import check_choice, check_count, did_you_mean
from skstream.utils._warnings import warn

FOLD_TESTS: dict[str, Any] = {
    "wilcoxon": stats.wilcoxon,
    "sign": stats.sign_test,
    "friedman": stats.friedman_nemenyi,
}
#: Tests over rows, by the functions whose options they take.
_ROW_FUNCTIONS: dict[str, tuple[Callable[..., Any], ...]] = {
    "anytime": (stats.anytime_comparison,),
    "mcnemar": (stats.mcnemar, stats.mcnemar_curve),
    "q": (stats.q_statistic,),
}
ROW_TESTS = tuple(_ROW_FUNCTIONS)
#: Names of tests that are guessed.
_OTHER_NAMES = {"friedman_nemenyi": "friedman", "sign_test": "sign", "q_statistic": "q"}
#: Parameters of these functions that follow from the result.
_FROM_RESULT = frozenset({"names", "forgetting", "sample_weight"})


def compare(
    result: EvaluationResult,
    a: Any,
    b: Any,
    test: str,
    metric: str | Measure | None,
    forgetting: str | Forgetting | None,
    at: int | None,
    since: int | None,
    fold: int | None,
    bin: int | None,
    over_time: bool,
    options: dict[str, Any],
) -> Any:
    """Compare models of a result; see `EvaluationResult.compare`."""
    test = _OTHER_NAMES.get(test.replace("-", "_"), test) if isinstance(test, str) else test
    if (a is None or b is None) and (test != "friedman" or a is not b):
        raise TypeError(
            "Name the two models to compare, compare('a', 'b'). To compare all models, use "
            f"compare(test='friedman'). The models are {result.model_names}."
        )
    if test == "auto":
        test = "wilcoxon" if result.n_folds > 1 and fold is None else "anytime"
    tests = ["auto", *FOLD_TESTS, *ROW_TESTS]
    if test in result.metric_names and test not in tests:
        raise TypeError(f"{test!r} is a measure, not a test: pass metric={test!r}.")
    check_choice(test, "test", tests)
    check_at(at)
    check_options(f"The test {test!r}", _ROW_FUNCTIONS.get(test) or (FOLD_TESTS[test],), options)
    _check_since(result, test, since, at)
    if test in ROW_TESTS:
        loss = row_loss(result, test, metric)
        mechanism = row_mechanism(result, test, forgetting)
        rows = compared_rows(result, a, b, loss, at=at, since=since, fold=fold, bin=bin)
        tested = test_of_rows(rows, test, mechanism, over_time, options)
        words = loss_in_words(result, loss, options.get("bounds"))
        first = result.metric_names[0]
        facts = result.measures.get(first)
        if metric is None and facts is not None and facts.row_loss is None:
            words += f", since {first} gives no loss of each row,"
        return replace(tested, subject=f"by {words} {over_rows(mechanism.name)}, {rows.place}")
    if over_time:
        raise ValueError(
            f"The test {test!r} compares the values of all folds at one row, but over_time=True is "
            f"for the tests over rows ({', '.join(map(repr, ROW_TESTS))}), with fold= if there are "
            "several folds. Pass test=, or compare at= several rows."
        )
    _check_several_folds(result, test, fold=fold, bin=None if test == "friedman" else bin)
    if isinstance(metric, Measure):
        raise TypeError("The tests over folds compare a measure of the result: pass its name.")
    if test == "friedman":
        some = result if a is None else result.select(models=[a, b])
        return rank([some], metric, forgetting, at, bin, options)
    scores = ScoresAtCheckpoint(result, metric, forgetting, at)
    options["higher_is_better"] = higher_is_better(scores.metric, scores.facts, options)
    values = [scores.of_folds(name) for name in (a, b)]
    return replace(
        FOLD_TESTS[test](*values, names=(a, b), **options),
        subject=f"{scores.subject} {scores.place}, over {result.n_folds} folds",
    )


def _check_since(result: EvaluationResult, test: str, since: int | None, at: int | None) -> None:
    """Refuse a first row where rows are not compared one by one, or that is none."""
    if since is None:
        return
    check_count(since, "since", 1)
    if test not in ROW_TESTS:
        raise ValueError(
            f"The test {test!r} compares values over folds, which are about all rows, but since= "
            f"is for the tests over rows ({', '.join(map(repr, ROW_TESTS))}), with fold=."
        )
    if result.details.scored_sets:
        raise ValueError(
            "since= is for rows that are scored one by one, but here they are "
            f"{result.details.scored_sets}. Choose a set with at=."
        )
    if at is not None and at < since:
        raise ValueError(f"There is no row from since={since} to at={at}.")


def check_options(
    subject: str, functions: Sequence[Callable[..., Any]], options: dict[str, Any]
) -> None:
    """Refuse options that none of some functions has.

    Parameters
    ----------
    subject : str
        What has these options, at the beginning of the message.
    functions : sequence of callable
        Their keyword-only parameters are the options.
    options : dict of str to object
        What the user gave.

    Raises
    ------
    TypeError
        If there is no such option.
    """
    known = sorted(
        {
            name
            for function in functions
            for name, parameter in signature(function).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name not in _FROM_RESULT
        }
    )
    for name in options:
        if name not in known and name != "sample_weight":
            raise TypeError(
                f"{subject} has no option {name!r}.{did_you_mean(name, known)} "
                f"Options: {', '.join(known)}."
            )


class ScoresAtCheckpoint:
    """Values of one measure, at one checkpoint, of the models of a result."""

    def __init__(
        self,
        result: EvaluationResult,
        metric: str | None,
        forgetting: Any,
        at: int | None,
        bin: int | None = None,
    ) -> None:
        self.result = result
        self.metric, self.forgetting = named(result, metric, forgetting)
        self.facts = result.measures.get(self.metric, Measure(name=self.metric))
        self.position = checkpoint(result, at)
        self.row = int(result.checkpoints[self.position])
        self.bin = bin_meant(result, bin)
        asked = f" (the checkpoint before row {at:,})" if at not in (None, self.row) else ""
        self.place = f"at {unit_of(result)} {self.row:,}{asked}{of_bin(result, self.bin)}"

    @property
    def spelling(self) -> str:
        """What the forgetting is, whatever it is called."""
        return self.result.details.mechanisms.get(self.forgetting, self.forgetting)

    @property
    def subject(self) -> str:
        """Measure and forgetting, by the user's names and by their own where these are others."""
        measure = with_own(self.metric, self.facts.name)
        own = "" if self.forgetting == self.spelling else self.forgetting
        return f"by {measure} {with_own(over_rows(self.spelling), own)}"

    def of_folds(self, model: str) -> np.ndarray:
        """Values of a model in every fold."""
        result = self.result
        ends = [_end_of(result, model, place) for place in range(result.n_folds)]
        if min(ends) < self.row:
            folds = [fold for fold, end in zip(result.folds, ends, strict=True) if end < self.row]
            earlier = f", or compare at={int(min(ends))} or earlier" if min(ends) else ""
            raise ValueError(
                f"'{model}' failed in the folds {folds}: "
                f"from there on its {self.metric} is error_score={result._error_score:g} and says "
                f"nothing about it. Leave it out{earlier}. "
                f"{result.failures.get(model, '')}"
            )
        curve = result.curve(model, self.metric, forgetting=self.forgetting)[self.position]
        values: np.ndarray = (
            curve if self.bin is None else curve[:, bins_of(result).index(self.bin)]
        )
        if np.isnan(values).any():
            folds = [result.folds[place] for place in np.flatnonzero(np.isnan(values))]
            raise ValueError(
                f"{self.metric} of '{model}' is undefined (NaN) in the folds {folds}; compare "
                "another measure, or at a later row."
            )
        return values


def compared_rows(
    result: EvaluationResult,
    a: str,
    b: str,
    loss: RowLoss,
    *,
    at: int | None = None,
    since: int | None = None,
    fold: int | None = None,
    bin: int | None = None,
) -> ComparedRows:
    """Return the rows on which two models may both be scored; an error if there are none."""
    tape, unit = tape_of(result), unit_of(result)
    for name in (a, b):
        result.curve(name)  # names the models where one is unknown
    place = _place_of_one_fold(result, fold)
    bin = bin_meant(result, bin)
    for name in (a, b):
        of_scores = loss.column is not None and loss.column.of_scores
        if of_scores and tape.methods.get(name) != "predict_proba":
            raise ValueError(
                f"The tape has no probabilities of '{name}', which {loss.measure!r} needs. "
                "Evaluate it with a measure of probabilities, or compare by another measure, such "
                "as metric='accuracy'."
            )
    ends = {name: _end_of(result, name, place) for name in (a, b)}
    if tape.sets is None:
        last = tape.n_rows if at is None else min(at, tape.n_rows)
        failed = [name for name in (a, b) if ends[name] < last]
        stop = last = int(min(last, *ends.values()))
        start = 0 if since is None else min(since - 1, last)
        looked_at = f"{unit} 1" if last == 1 else f"the first {last:,} {unit}s"
        if since is not None:
            looked_at = f"{unit}s {since:,} to {last:,}"
    else:  # one set, as others may consist of the same rows
        last = int(result.checkpoints[checkpoint(result, at)])
        position = int(np.searchsorted(tape.sets[1], last))
        failed = [name for name in (a, b) if ends[name] < last]
        start, stop = (int([0, *tape.sets[0]][position + k]) for k in (0, 1))
        looked_at = f"the {stop - start:,} {result.details.scored_sets} at row {last:,}"
    rows = ComparedRows(
        tape=tape,
        names=(a, b),
        fold=place,
        bin=bin,
        loss=loss,
        start=start,
        stop=start if failed and tape.sets is not None else stop,
        unit=unit,
    )
    first = next(rows.scored(), None)
    if first is None:
        raise ValueError(
            f"'{a}' and '{b}' were both scored on none of {looked_at}: there is nothing to compare."
        )
    if tape.sets is None:
        looked_at = f"{unit}s {first[0] + 1:,} to {last:,}"
    else:
        n_scored = sum(map(len, rows.scored()))
        looked_at = looked_at if n_scored == stop - start else f"{n_scored:,} of {looked_at}"
    alone = result.details.selected_folds is None and result.n_folds == 1
    of_fold = "" if alone else f", fold {result.folds[place]}"
    then = f" (then {' and '.join(map(repr, failed))} failed)" if failed else ""
    return replace(rows, place=f"{looked_at}{then}{of_fold}{of_bin(result, bin)}")


def row_mechanism(
    result: EvaluationResult, test: str, forgetting: str | Forgetting | None
) -> Forgetting:
    """What the sums of a test over rows remember."""
    if forgetting is None and test == "anytime":
        return Cumulative()
    if forgetting is None:
        forgetting = result.forgetting_names[0]
    if isinstance(forgetting, str) and forgetting in result.details.mechanisms:
        mechanism = parse_forgetting(result.details.mechanisms[forgetting])
    else:
        try:
            (mechanism,) = as_forgetting(forgetting).values()
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"There is no forgetting {forgetting!r} in this result; there are "
                f"{result.forgetting_names}. For tests over rows it may also be a mechanism such "
                f'as SlidingWindow(1000) or "window:1000". {error}'
            ) from error
    if test == "anytime" and mechanism.forgets:
        raise ValueError(
            "The anytime comparison is about all rows so far, and cannot forget as "
            f"{mechanism.name} does. Leave out forgetting=, or use test='q' or test='mcnemar'."
        )
    return mechanism


def higher_is_better(metric: str, facts: Measure, options: dict[str, Any] | None = None) -> bool:
    """Direction of a measure; an error where it is not known.

    `options` are what the user can pass, None: nothing; they may say the direction.
    """
    known = facts.higher_is_better
    said: bool | None = (options or {}).get("higher_is_better")
    if known is None and said is None:
        here = ", or here: higher_is_better=True, or False for a loss"
        raise ValueError(
            f"It is not known whether a higher value of measure {metric!r} is better, so no model "
            "can be called better by it. Declare it in the evaluation, metrics=Measure(function, "
            f"higher_is_better=...) with skstream.metrics.Measure{'' if options is None else here}."
        )
    if known is not None and said is not None and bool(said) != known:
        raise ValueError(
            f"A {'higher' if known else 'lower'} value of measure {metric!r} is better. Got "
            f"higher_is_better={said!r}; leave it out."
        )
    return bool(said) if known is None else known


def _end_of(result: EvaluationResult, model: str, place: int) -> float:
    """Rows before a model failed in a fold; infinite where it went on."""
    rows = result.failed_at.get(model)
    n_valid = None if rows is None else rows[place]
    return np.inf if n_valid is None else n_valid


def _place_of_one_fold(result: EvaluationResult, fold: int | None) -> int:
    """Place in the result of a fold, or of the only one."""
    if fold is not None:
        return result.folds.index(number(fold, result.folds, "fold"))
    if result.n_folds > 1:
        raise ValueError(
            f"Losses row by row are those of one fold, but there are {result.n_folds}: pass fold=, "
            'or a test over folds ("wilcoxon", "sign").'
        )
    return 0


def _check_several_folds(
    result: EvaluationResult, test: str, *, fold: int | None, bin: int | None
) -> None:
    for name, value in (("fold", fold), ("bin", bin)):
        if value is not None:
            raise ValueError(
                f"The test {test!r} compares all folds, but {name}={value!r} is for the tests over "
                f"rows ({', '.join(map(repr, ROW_TESTS))})."
            )
    if result.n_folds < 2:
        raise ValueError(
            f"The test {test!r} needs several folds; this result has one. Evaluate with "
            f"KFoldEvaluator, or use a test over rows ({', '.join(map(repr, ROW_TESTS))})."
        )


def rank(
    results: Sequence[EvaluationResult],
    metric: str | None,
    forgetting: Any,
    at: int | None,
    bin: int | None,
    options: dict[str, Any],
    known: Sequence[int] | None = None,
) -> Any:
    """Rank the models over folds, or over several streams; see `EvaluationResult.rank`.

    `known` are numbers of the streams of the results, where they are known.
    """
    check_options("rank()", (stats.friedman_nemenyi,), options)
    for one in results[1:]:
        if not hasattr(one, "metric_names"):
            raise TypeError(
                "Pass the results of other streams one by one: rank(second, third). "
                f"Got {type(one).__name__} instead."
            )
    first = results[0]
    names = first.model_names
    if len(names) < 2:
        raise ValueError(f"Ranking needs at least two models; this result has {names}.")
    scores = [ScoresAtCheckpoint(one, metric, forgetting, at, bin) for one in results]
    streams = _streams(results, known)
    _check_protocols(results)
    for one, other in zip(results[1:], scores[1:], strict=True):
        if set(one.model_names) != set(names):
            raise ValueError(
                f"All results must have the same models. Got {names} and {one.model_names}."
            )
        if (other.facts, other.spelling) != (scores[0].facts, scores[0].spelling):
            raise ValueError(
                "All results must be ranked by the same measure with the same forgetting. Got "
                f"results {scores[0].subject} and {other.subject}; pass metric= and forgetting=, "
                "or rescore() them in the same way."
            )
    options["higher_is_better"] = higher_is_better(scores[0].metric, scores[0].facts, options)
    if len(results) == 1:
        if first.n_folds < 2:
            raise ValueError(
                "Ranking needs several folds or several streams; this result has one fold. "
                "Evaluate with KFoldEvaluator, or pass the results of other streams: "
                "result.rank(other, ...)."
            )
        table = np.stack([scores[0].of_folds(name) for name in names], axis=1)
        blocks, extent = "folds", f"over {first.n_folds} folds"
    else:
        each = np.array([[one.of_folds(name).mean() for name in names] for one in scores])
        table = np.array([each[group].mean(axis=0) for group in streams])
        means = _means([len(group) for group in streams], "results")
        means += _means([one.n_folds for one in results], "folds")
        blocks, extent = "streams", f"over {len(streams)} streams{means}{_differing(results)}"
    places = list(dict.fromkeys(one.place for one in scores))
    shown = places[0] if len(places) == 1 else f"{places[0]}, ..., {places[-1]}"
    return replace(
        stats.friedman_nemenyi(table, names, **options),
        subject=f"{scores[0].subject} {shown}, {extent}",
        blocks=blocks,
    )


def _streams(results: Sequence[EvaluationResult], known: Sequence[int] | None) -> list[list[int]]:
    """Divide the results by their streams: one taken twice is no more evidence than once."""
    for j, other in enumerate(results):
        for i, one in enumerate(results[:j]):
            if one is other:
                raise ValueError(
                    f"Results {i + 1} and {j + 1} of those to rank are the same result. Pass each "
                    "once; of a single stream, rank the folds of a KFoldEvaluator."
                )
    groups = of_each_stream(results, known)
    if len(groups) == 1 and len(results) > 1:
        raise ValueError(
            "All results to rank are of the same stream: their labels are identical, or they come "
            "from the same generator with other seeds. Results of one stream are averaged, so one "
            "is left and there is nothing to rank over. Add other streams; to rank over the seeds "
            "of one generator, use evaluate_over_seeds(...).rank(); of a single stream, rank the "
            "folds of a KFoldEvaluator."
        )
    unknown = [k + 1 for k, one in enumerate(results) if not (one.details.labels_read or one.tape)]
    if known is None and len(results) > 1 and unknown:
        warn(
            f"Result {unknown[0]} of those to rank does not identify its stream: it has no "
            "fingerprint of the labels, and no tape. If another result is of the same stream, "
            "that stream counts twice."
        )
    return groups


def _check_protocols(results: Sequence[EvaluationResult]) -> None:
    """Refuse streams on which the models were evaluated in different ways."""
    first = results[0]
    for j, other in enumerate(results[1:], start=2):
        if first.protocol != other.protocol:
            raise ValueError(
                f"All results must be of the same protocol. Result 1 is {first.protocol}, and "
                f"result {j} is {other.protocol}. Evaluate all streams with the same evaluator."
            )
        unlike = [name for name in differences([first, other]) if name not in OF_A_STREAM]
        if unlike:
            raise ValueError(
                f"All results must be of the same protocol. Result 1 has "
                f"{parameters_in_words(first, unlike)}, and result {j} has "
                f"{parameters_in_words(other, unlike)}. Evaluate all streams with the same "
                "evaluator."
            )


def _means(numbers: Sequence[int], of: str) -> str:
    """Say over how many values means were taken, where they were."""
    found = sorted(set(numbers))
    if found == [1]:
        return ""
    each = "of the same stream, which count once" if of == "results" else "each"
    return f", means over {' or '.join(map(str, found))} {of} {each}"


def _differing(results: Sequence[EvaluationResult]) -> str:
    """Say what was set in another way for some of the streams."""
    names = differences(results)
    return f" (with different {' and '.join(names)})" if names else ""
