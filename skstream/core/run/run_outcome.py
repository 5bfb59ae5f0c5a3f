"""What a run did, as data: outcomes of its models, and what a result says beside them."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from joblib.externals.loky.backend.reduction import dumps

from skstream.core.engine.failures import in_short
from skstream.core.measures.checkpoints import Curves
from skstream.core.measures.measure import Measure
from skstream.core.rows.drifts import Drift
from skstream.core.run.cost import Cost
from skstream.utils._label_space import NO_LABEL
from skstream.utils._saved import NOT_SAVED

#: What a pass read, in words; checksums by these names are equal if two passes read the same.
Checksums = Mapping[str, tuple[int, ...]]
#: Name of a model, and number of a fold.
Place = tuple[str, int]
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
    def of_lanes(cls, lanes: Sequence["LaneOutcome"]) -> "EndedModel | None":
        """Join what the folds of a model say of its end; None if it did not end early."""
        ends = [lane.ended for lane in lanes if lane.ended is not None]
        if not ends:
            return None
        joined = {
            forgetting: {
                metric: [value for one in ends for value in one.scores[forgetting][metric]]
                for metric in by_metric
            }
            for forgetting, by_metric in ends[0].scores.items()
        }
        return replace(ends[0], scores=joined)


@dataclass(frozen=True, kw_only=True)
class LaneOutcome:
    """What one model did in one fold.

    If the model failed, `failure` is the reason and `n_valid` the number of rows of its curves and
    answers before the failure. If it was ended before the run was, `ended` says where and why.
    `scores` are those beside the answers on the tape, given by `method`, where
    measures need them. `lost` says, in sentences, what could not be done with the model at the end;
    scores do not need it.
    """

    name: str
    fold: int
    curves: Curves
    answers: np.ndarray | None
    cost: Cost
    path: str
    estimator: Any = field(default=None, metadata=NOT_SAVED)
    failure: str | None = None
    n_valid: int | None = None
    n_unanswered: int = 0
    ended: EndedModel | None = None
    scores: np.ndarray | None = None
    method: str | None = None
    lost: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        try:
            pickle.loads(dumps(self.estimator))
        except Exception as error:  # pickling may raise any error: a worker sends the scores alone
            lost = (*self.lost, not_returned(self.name, error))
            return {**vars(self), "estimator": None, "lost": lost}
        return vars(self)


def not_returned(name: str, error: Exception) -> str:
    """Say why a model is not in the result."""
    return (
        f"Model '{name}' cannot be returned ({in_short(error)}): None is in its place in "
        "result.models. Its scores are complete."
    )


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What one run's lanes did, and the labels they shared (None without a tape).

    `labels` holds what a tape says of the rows: labels, weights, answers of baselines. `waits` is
    only used under delayed labels: the counts of waiting rows. `drifts` says where the truth
    changes, in the rows of the curves. `labels_read` is a fingerprint of all labels.
    `columns` holds the names of the columns of the features, and their types.
    `n_unlabelled` counts rows of the stream without a label; `unlabelled_held_out` are two numbers:
    held-out rows without a label, and all that were asked.
    `read` holds checksums that show whether two workers read the same. `run` is the run
    itself, where it shall go on after the workers.
    """

    lanes: list[LaneOutcome]
    labels: dict[str, Any] | None
    waits: Any = None
    drifts: tuple[Drift, ...] = ()
    labels_read: str = ""
    columns: dict[str, Any] = field(default_factory=dict)
    n_rows: int = 0
    n_unlabelled: int = 0
    unlabelled_held_out: tuple[int, int] | None = None
    read: Checksums = field(default_factory=dict)
    run: Any = None

    @property
    def rows_read(self) -> tuple[Any, ...]:
        """What is equal for outcomes that read the same rows."""
        return self.n_rows, tuple(sorted(self.read.items()))


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
    rows = lane.curves.checkpoints
    n_rows = int(rows[-1]) if len(rows) else 0
    end = EndedModel(n_rows=n_rows, reason=reason, scores=last_values(lane.curves.values))
    return replace(lane, ended=end)


def continued(lane: LaneOutcome, checkpoints: np.ndarray, labels: Any) -> LaneOutcome:
    """Return the outcome of an ended lane as long as those of the others: nothing follows in it.

    `labels` is what the tape holds of the rows; None without a tape.
    """
    curves = lane.curves
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
        None if column is None or labels is None else _up_to(len(labels["y"]), column)
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
    given = np.asarray(column)
    nothing = np.nan if given.dtype.kind == "f" else NO_LABEL
    whole = np.full((n_rows, *given.shape[1:]), nothing, given.dtype)
    whole[: len(given)] = given
    return whole


@dataclass(frozen=True, kw_only=True)
class ResultHeader:
    """Facts of an evaluation that do not depend on its rows.

    Attributes
    ----------
    protocol, scored_sets : str
        As in `EvaluationResult`.
    measures : dict of str to Measure
        What the measures say of their values, without their functions and formulas.
    mechanisms : dict of str to str
        Specification of each forgetting mechanism.
    classes : ndarray or None
        Sorted labels; None for regression.
    baselines : tuple of str
        Names of the models that are naive baselines.
    parameters : dict
        The evaluator's parameters, and the seed that was used.
    survives : bool
        Whether the others go on where a model fails.
    generator : str
        Which generator made the stream; empty if none did.
    record : dict
        Versions, platform, models and timelines: see `ResultDetails`.
    """

    protocol: str
    scored_sets: str
    measures: dict[str, Measure]
    mechanisms: dict[str, str]
    classes: np.ndarray | None
    baselines: tuple[str, ...]
    parameters: dict[str, Any]
    survives: bool
    generator: str = ""
    record: dict[str, Any] = field(default_factory=dict)

    def record_of(self, n_rows: int, columns: dict[str, Any], read: Checksums) -> dict[str, Any]:
        """Return the record of a result, with the checksums of the rows.

        It has none where the rows were not all read, or not by the evaluator.
        """
        if not self.record:
            return {}
        known = self.record.get("names")  # files may have them, and give arrays
        names = list(map(str, known)) if known else columns.get("names")
        own = {name: one for name, one in self.record.items() if name != "names"}
        checksums = {name: [f"{one:08x}" for one in sums] for name, sums in read.items()}
        stream = {"rows": n_rows, **columns, "names": names, "checksums": checksums}
        return own | {"stream": stream}
