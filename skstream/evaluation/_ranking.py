"""Ranks of several models over folds, or over streams."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skstream import stats
from skstream.engine.tape import Tape
from skstream.evaluation._compare import Scores, check_at, check_options, higher_is_better
from skstream.evaluation._protocol_words import OF_A_STREAM, differences, parameters_in_words

if TYPE_CHECKING:
    from skstream.evaluation._result import EvaluationResult


def rank(
    results: Sequence["EvaluationResult"],
    *,
    metric: str | None,
    forgetting: str | None,
    at: int | None,
    bin: int | None,
    options: dict[str, Any],
) -> Any:
    """Rank the models over folds, or over several streams; see `EvaluationResult.rank`."""
    check_at(at)
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
        raise ValueError(f"Ranking needs at least two models; this result holds {names}.")
    scores = [Scores(one, metric, forgetting, at, bin) for one in results]
    _check_streams(results)
    _check_protocols(results)
    for one, other in zip(results[1:], scores[1:], strict=True):
        if set(one.model_names) != set(names):
            raise ValueError(
                f"All results must hold the same models. Got {names} and {one.model_names}."
            )
        if (other.facts, other.spelling) != (scores[0].facts, scores[0].spelling):
            raise ValueError(
                "All results must be ranked by the same measure under the same forgetting. Got "
                f"results {scores[0].subject} and {other.subject}; pass metric= and "
                "forgetting=, or score them alike with rescore()."
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
        table = np.array([[one.of_folds(name).mean() for name in names] for one in scores])
        folds = sorted({one.n_folds for one in results})
        of_folds = "" if folds == [1] else f", means over {' or '.join(map(str, folds))} folds each"
        blocks, extent = "streams", f"over {len(results)} streams{of_folds}{_differing(results)}"
    places = list(dict.fromkeys(one.place for one in scores))
    shown = places[0] if len(places) == 1 else f"{places[0]}, ..., {places[-1]}"
    return replace(
        stats.friedman_nemenyi(table, names, **options),
        subject=f"{scores[0].subject} {shown}, {extent}",
        blocks=blocks,
    )


def _check_streams(results: Sequence["EvaluationResult"]) -> None:
    """Refuse to count one stream several times, as if it were several."""
    for j, other in enumerate(results):
        for i, one in enumerate(results[:j]):
            if one is other:
                what = "are the same result"
            elif _same_labels(one.tape, other.tape):
                what = "are of the same stream: their labels are identical"
            else:
                continue
            raise ValueError(
                f"Results {i + 1} and {j + 1} of those to rank {what}. A stream counted twice "
                "looks like more evidence than there is. Pass one result of every stream; of a "
                "single stream, rank the folds of a KFoldEvaluator."
            )


def _same_labels(one: Tape | None, other: Tape | None) -> bool:
    if one is None or other is None or len(one.y) != len(other.y) or not len(one.y):
        return False
    if one.classes is None or other.classes is None:
        return one.classes is other.classes and np.array_equal(one.y, other.y, equal_nan=True)
    return np.array_equal(one.classes, other.classes) and np.array_equal(one.y, other.y)


def _check_protocols(results: Sequence["EvaluationResult"]) -> None:
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


def _differing(results: Sequence["EvaluationResult"]) -> str:
    """Say what was set in another way for some of the streams."""
    names = differences(results)
    return f" (not the same {' and '.join(names)} in all)" if names else ""
