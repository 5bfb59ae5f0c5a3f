"""Ranks of several models over folds, or over streams."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skstream import stats
from skstream.evaluation._results._compare import Scores, check_at, check_options, higher_is_better
from skstream.evaluation._results._protocol_words import (
    OF_A_STREAM,
    differences,
    parameters_in_words,
)
from skstream.evaluation._results._which_stream import of_each_stream
from skstream.utils._warnings import warn

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult


def rank(
    results: Sequence["EvaluationResult"],
    metric: str | None,
    forgetting: str | None,
    at: int | None,
    bin: int | None,
    options: dict[str, Any],
    known: Sequence[int] | None = None,
) -> Any:
    """Rank the models over folds, or over several streams; see `EvaluationResult.rank`.

    `known` are numbers of the streams of the results, where they are known.
    """
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
    streams = _streams(results, known)
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


def _streams(results: Sequence["EvaluationResult"], known: Sequence[int] | None) -> list[list[int]]:
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
            "All results to rank are of the same stream: their labels are identical, or the same "
            "generator made them with other seeds. Results of one stream are averaged, so that one "
            "is left and there is nothing to rank over. Add other streams; to rank over the seeds "
            "of one generator, use evaluate_over_seeds(...).rank(); of a single stream, rank the "
            "folds of a KFoldEvaluator."
        )
    unknown = [k + 1 for k, one in enumerate(results) if not (one.details.labels_read or one.tape)]
    if known is None and len(results) > 1 and unknown:
        warn(
            f"Result {unknown[0]} of those to rank does not say of which stream it is: it has no "
            "fingerprint of the labels, and no tape. If it is of the same stream as another one, "
            "that stream counts twice."
        )
    return groups


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


def _means(numbers: Sequence[int], of: str) -> str:
    """Say over how many values means were taken, where they were."""
    found = sorted(set(numbers))
    if found == [1]:
        return ""
    each = "of the same stream, which count once" if of == "results" else "each"
    return f", means over {' or '.join(map(str, found))} {of} {each}"


def _differing(results: Sequence["EvaluationResult"]) -> str:
    """Say what was set in another way for some of the streams."""
    names = differences(results)
    return f" (not the same {' and '.join(names)} in all)" if names else ""
