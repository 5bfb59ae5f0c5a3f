"""Which stream a result is of: what tells that two results are of the same one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skstream.core.run.tape import Tape

if TYPE_CHECKING:
    from skstream.core.result.result import EvaluationResult


def of_each_stream(
    results: Sequence["EvaluationResult"], known: Sequence[int] | None = None
) -> list[list[int]]:
    """Divide results by their streams: places of the results of each, in the order of the first.

    Parameters
    ----------
    results : sequence of EvaluationResult
        Results; two are of one stream if their labels are the same, or their generator is.
    known : sequence of int, default=None
        A number per result, equal for those that are known to be of one stream.

    Returns
    -------
    groups : list of list of int
        Places of the results of every stream.
    """
    groups: list[list[int]] = []
    for j, other in enumerate(results):
        same = [
            group
            for group in groups
            if any(
                (known is not None and known[i] == known[j]) or _is_same(results[i], other)
                for i in group
            )
        ]
        joined = [*sorted(i for group in same for i in group), j]
        groups = sorted([group for group in groups if group not in same] + [joined])
    return groups


def _is_same(one: "EvaluationResult", other: "EvaluationResult") -> bool:
    """Whether two results are of one stream, or of one generator with other seeds."""
    if one.details.generator and one.details.generator == other.details.generator:
        return True
    if one.classes is None or other.classes is None:
        if one.classes is not other.classes:
            return False
    elif not np.array_equal(one.classes, other.classes):
        return False
    if one.details.labels_read and other.details.labels_read:
        return one.details.labels_read == other.details.labels_read
    return _same_labels(one.tape, other.tape)


def _same_labels(one: Tape | None, other: Tape | None) -> bool:
    """Whether tapes have the same labels: of results of logs."""
    if one is None or other is None or not len(one.y):
        return False
    return np.array_equal(one.y, other.y, equal_nan=one.y.dtype.kind == "f")
