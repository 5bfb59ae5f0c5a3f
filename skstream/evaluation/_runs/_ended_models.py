"""Models that end before the run they are in: what they did up to then stays in its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skstream.evaluation._runs._run_outcome import LaneOutcome
from skstream.evaluation._runs._tape_writer import opened
from skstream.metrics._checkpoints import Curves
from skstream.utils._label_space import NO_LABEL

#: Values by forgetting mechanism and measure, one for each fold.
FinalScores = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, kw_only=True)
class EndedModel:
    """How a model ended that was not evaluated up to the last row.

    Attributes
    ----------
    n_rows : int
        Rows of the curves that came before its end.
    reason : str
        Why it ended, in words.
    scores : dict
        Its last values, ``scores[forgetting][metric]``, a list with one for each fold.
    """

    n_rows: int
    reason: str
    scores: FinalScores

    @classmethod
    def of_lanes(cls, lanes: Sequence[LaneOutcome]) -> Self | None:
        """Join what the folds of a model say of its end; None if it did not end early."""
        ends = [lane.ended for lane in lanes if lane.ended is not None]
        return replace(ends[0], scores=joined_scores([e.scores for e in ends])) if ends else None


def joined_scores(folds: Sequence[FinalScores]) -> FinalScores:
    """Join the last values of several folds."""
    return {
        forgetting: {
            metric: [value for one in folds for value in one[forgetting][metric]]
            for metric in by_metric
        }
        for forgetting, by_metric in folds[0].items()
    }


def last_values(values: Mapping[str, Mapping[str, np.ndarray]]) -> FinalScores:
    """Return the last values of curves, one for each fold."""
    return {
        forgetting: {
            metric: np.atleast_1d(curve[-1]).tolist() if len(curve) else []
            for metric, curve in by_metric.items()
        }
        for forgetting, by_metric in values.items()
    }


def ended_lane(lane: LaneOutcome, reason: str) -> LaneOutcome:
    """Return the outcome of a lane that ends now; of one that failed, that is its end."""
    if lane.failure is not None:
        return lane
    curves: Curves = lane.curves
    n_rows = int(curves.checkpoints[-1]) if len(curves.checkpoints) else 0
    end = EndedModel(n_rows=n_rows, reason=reason, scores=last_values(curves.values))
    return replace(lane, ended=end)


def continued(lane: LaneOutcome, checkpoints: np.ndarray, labels: Any) -> LaneOutcome:
    """Return the outcome of an ended lane as long as those of the others: nothing follows in it.

    `labels` is what the tape holds of the rows; None without a tape.
    """
    curves: Curves = lane.curves
    # A curve may have lost checkpoints since, when their distance doubled, and gained none.
    kept = np.isin(curves.checkpoints, checkpoints)
    places = np.searchsorted(checkpoints, curves.checkpoints[kept])

    def longer(curve: np.ndarray) -> np.ndarray:
        whole = np.full((len(checkpoints), *curve.shape[1:]), np.nan)
        whole[places] = curve[kept]
        return whole

    values = {
        forgetting: {metric: longer(curve) for metric, curve in by_metric.items()}
        for forgetting, by_metric in curves.values.items()
    }
    answers, scores = (
        None if column is None or labels is None else _up_to(len(opened(labels["y"])), column)
        for column in (lane.answers, lane.scores)
    )
    return replace(
        lane,
        curves=replace(curves, checkpoints=checkpoints, values=values),
        answers=answers,
        scores=scores,
    )


def _up_to(n_rows: int, column: Any) -> np.ndarray:
    """Return answers, or scores, of so many rows: nothing follows those that there are."""
    given = opened(column)
    nothing = np.nan if given.dtype.kind == "f" else NO_LABEL
    whole = np.full((n_rows, *given.shape[1:]), nothing, given.dtype)
    whole[: len(given)] = given
    return whole
