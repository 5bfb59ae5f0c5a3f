"""A run: models evaluated in lockstep while the stream goes by."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from skstream.engine.evolving import Features
from skstream.engine.run import Answered, Engine
from skstream.engine.tape import Recorder
from skstream.engine.timeline import Arrivals
from skstream.evaluation._checkpoint import save_checkpoint
from skstream.evaluation._cost import CostMeter
from skstream.evaluation._input import Chunk, RowShape, encoded
from skstream.evaluation._outcome import LaneOutcome, RunOutcome
from skstream.evaluation._result import EvaluationResult, assemble
from skstream.evaluation._settings import Settings
from skstream.metrics import RunningMeasures, SharedSums, update_together
from skstream.utils._interrupt import deferred_interrupt

#: Rows between two points at which a run can be interrupted: a second or two of a loop.
ROWS_PER_PIECE = 1024


class StreamRun:
    """What all runs share: models in lockstep, a state, checkpoints, and results so far.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold.
    places : list of (str, int)
        Names and folds, in the order of the result.
    features : callable, default=None
        ``features(rows, times)`` where features change while a row waits for its label.
    """

    def __init__(
        self,
        settings: Settings,
        models: Mapping[tuple[str, int], Any],
        places: list[tuple[str, int]],
        features: Features | None = None,
    ):
        self._settings = settings
        self._places = places
        self._engine = Engine(
            settings.lanes(models, places),
            features=features,
        )
        self._meters = [CostMeter() for _ in places]
        self._shape = RowShape()
        self._n_arrived = 0
        self._state = "open"

    @property
    def n_rows(self) -> int:
        """Number of rows that have arrived."""
        return self._n_arrived

    @abstractmethod
    def feed(self, X: Any, y: Any, meta: Mapping[str, Any]) -> Any:
        """Take in a chunk of a stream."""

    @abstractmethod
    def _score(self, answered: list[Answered]) -> None:
        """Score what the lanes answered."""

    @abstractmethod
    def _curves(self, lane: int) -> Any:
        """Return the curves of one lane."""

    @abstractmethod
    def _n_valid(self, lane: int) -> int:
        """Return the rows of the curves of a lane that came before its failure."""

    @abstractmethod
    def _recorded(self, lane: int) -> np.ndarray | None:
        """Return the recorded answers of one lane; None without a tape."""

    @abstractmethod
    def _truth(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the recorded labels and scoring weights; None without a tape."""

    def close(self) -> Self:
        """End the stream: do what was still waiting. Nothing can follow.

        Returns
        -------
        self : StreamRun
            The run.
        """
        if self._state == "closed":
            return self
        self._require_open()
        self._state = "broken"
        answered = self._engine.close()
        with deferred_interrupt():
            self._score(answered)
            self._finish_scores()
            self._raise_failure()
            self._state = "closed"
        return self

    def _raise_failure(self) -> None:
        """Raise the error of a model that failed, unless the others are to go on."""
        if self._settings.error_score == "raise":
            self._engine.raise_failure()

    def _finish_scores(self) -> None:
        """Score what the measures have put off, at the end of the stream."""

    def result(self) -> EvaluationResult:
        """Return the result so far; the run can go on afterwards.

        Returns
        -------
        result : EvaluationResult
            Scores of all rows that every model has done; an incomplete batch is left out.
        """
        return assemble(self._settings, [self.outcome()])

    def outcome(self) -> RunOutcome:
        """Return what this run's lanes did, for putting results together."""
        failures = self._engine.failures
        lanes = [
            LaneOutcome(
                name=name,
                fold=fold,
                curves=self._curves(k),
                answers=self._recorded(k),
                cost=self._meters[k].cost(lane.model),
                path=lane.model.path,
                estimator=lane.model.estimator() if self._settings.return_models else None,
                failure=str(failures[k]) if k in failures else None,
                n_valid=self._n_valid(k) if k in failures else None,
                n_unanswered=lane.model.n_unanswered,
            )
            for k, ((name, fold), lane) in enumerate(
                zip(self._places, self._engine.lanes, strict=True)
            )
        ]
        y, weight = self._truth()
        return RunOutcome(lanes=lanes, y=y, weight=weight)

    def save(self, path: str | Path) -> Path:
        """Save a checkpoint from which `load_run` goes on with an identical result.

        The checkpoint holds the models and is written by joblib: load it only if you trust
        whoever wrote it. The file is there whole or not at all: a process killed while saving
        leaves the checkpoint that was there before.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        path : Path
            The file written.
        """
        self._require_open()
        path = Path(path)
        save_checkpoint(self, path)
        return path

    def _encoded(self, X: Any, y: Any, sample_weight: Any, missing_labels: str) -> Chunk:
        return encoded(
            X,
            y,
            sample_weight,
            self._settings.classes,
            missing_labels,
            self._shape,
            first_row=self._n_arrived,
        )

    def _new_measures(self, shared: SharedSums | None = None) -> RunningMeasures:
        settings = self._settings
        return RunningMeasures(
            settings.metrics,
            settings.forgetting,
            classes=settings.classes,
            record_every=settings.record_every,
            bounded=settings.keep_tape,
            shared=shared,
            expected_rows=settings.expected_rows,
        )

    def _require_open(self) -> None:
        if self._state == "closed":
            raise RuntimeError("The run is closed: the stream has ended. Start another.")
        if self._state == "broken":
            raise RuntimeError(
                "The run was stopped in the middle of a row by an error or an interrupt: result() "
                "gives what came before, but it cannot go on. Go on from a saved checkpoint "
                "(load_run) or start another."
            )

    def __repr__(self) -> str:
        names = list(dict.fromkeys(name for name, _ in self._places))
        return (
            f"{type(self).__name__}({self._state}: {', '.join(names)} after "
            f"{self._n_arrived:,} rows; see result(), save(path), close())"
        )


class EvaluationRun(StreamRun):
    """Models on their way along a stream: feed rows, look at the result at any time.

    Made by the ``start`` method of an evaluator.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold.
    places : list of (str, int)
        Names and folds, in the order of the result.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator
    >>> run = PrequentialEvaluator("accuracy").start(SGDClassifier(), classes=["a", "b"])
    >>> run = run.update([[0.0], [1.0]], ["a", "b"]).update([[0.5]], ["b"])
    >>> run.result().n_rows
    array([1, 2, 3])
    """

    def __init__(
        self,
        settings: Settings,
        models: Mapping[tuple[str, int], Any],
        places: list[tuple[str, int]],
    ):
        super().__init__(settings, models, places)
        shared = SharedSums()
        self._measures = [self._new_measures(shared) for _ in places]
        self._answers = [Recorder(settings.classes) for _ in places]
        self._n_settled = 0
        dtype = np.float64 if settings.classes is None else np.int64
        self._unsettled = (np.empty(0, dtype=dtype), np.empty(0))
        self._y = Recorder(settings.classes)
        self._weights: list[np.ndarray] | None = None

    def update(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Let rows arrive with their labels: each is asked, then learnt.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets; None or NaN where missing, if the evaluator allows it.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring.

        Returns
        -------
        self : EvaluationRun
            The run.

        Raises
        ------
        ValueError
            If the rows do not fit the earlier ones, or a label is unknown or missing. Nothing
            has been learnt then.
        ModelError
            If a model fails; names the model and the row.
        """
        self._require_open()
        chunk = self._encoded(X, y, sample_weight, self._settings.missing_labels)
        step = ROWS_PER_PIECE if self._engine.loops else max(1, chunk.n_rows)
        for begin in range(0, chunk.n_rows, step):
            self._advance(chunk.piece(begin, begin + step))
        return self

    def feed(self, X: Any, y: Any, meta: Mapping[str, Any]) -> Self:
        """Take in a chunk of a stream.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets.
        meta : mapping of str to array-like of shape (n_rows,)
            May hold "sample_weight".

        Returns
        -------
        self : EvaluationRun
            The run.
        """
        return self.update(X, y, sample_weight=meta.get("sample_weight"))

    def _advance(self, piece: Chunk) -> None:
        self._state = "broken"  # until all models have done the piece
        arrivals = Arrivals(self._n_arrived, piece.labelled, piece.weight)
        answered = self._engine.arrive(piece.X, piece.y, arrivals)
        with deferred_interrupt():
            self._n_arrived += piece.n_rows
            weight = np.ones(piece.n_rows) if piece.weight is None else piece.weight
            y_before, weight_before = self._unsettled
            self._unsettled = (
                np.concatenate([y_before, piece.y]),
                np.concatenate([weight_before, weight]),
            )
            if piece.weight is not None and self._weights is None:
                self._weights = [np.ones(self._n_settled)]
            self._score(answered)
            self._raise_failure()
            self._state = "open"

    def _score(self, answered: list[Answered]) -> None:
        """Score the rows that have had their part in every lane."""
        settled = min(one.operations.settled for one in answered)
        y, weight = self._unsettled
        n = settled - self._n_settled
        y_now, weight_now = y[:n].astype(self._y.dtype), weight[:n]
        self._unsettled = (y[n:], weight[n:])
        scoring_weight = None if self._weights is None else weight_now
        in_order = {
            id(one.operations): _in_order(one.operations.ask_rows, self._n_settled, n)
            for one in answered
        }
        answers = [self._on_tape(one, in_order[id(one.operations)], n) for one in answered]
        update_together(self._measures, y_now, answers, scoring_weight)
        for lane, meter in zip(self._engine.lanes, self._meters, strict=True):
            meter.follow(settled, lane.model)
        if self._settings.keep_tape:
            for recorder, p in zip(self._answers, answers, strict=True):
                recorder.append(p)
            self._y.append(y_now)
            if self._weights is not None:
                self._weights.append(weight_now)
        self._n_settled = settled

    def _on_tape(self, one: Answered, in_order: bool, n: int) -> np.ndarray:
        """Answers to the newly settled rows, as they go onto the tape."""
        if in_order:
            return one.answers.astype(self._y.dtype)
        answers = np.full(n, np.nan if self._settings.classes is None else -1, self._y.dtype)
        answers[one.operations.ask_rows - self._n_settled] = one.answers
        return answers

    def _finish_scores(self) -> None:
        for measures in self._measures:
            measures.finish()

    def _curves(self, lane: int) -> Any:
        return self._measures[lane].curves()

    def _n_valid(self, lane: int) -> int:
        return max(0, self._engine.failures[lane].row)

    def _recorded(self, lane: int) -> np.ndarray | None:
        return self._answers[lane].array() if self._settings.keep_tape else None

    def _truth(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        if not self._settings.keep_tape:
            return None, None
        weights = self._weights
        return self._y.array(), None if weights is None else np.concatenate(weights)


def _in_order(rows: np.ndarray, first: int, n: int) -> bool:
    """Whether these are `n` rows from the first on, each once."""
    return len(rows) == n and np.array_equal(rows, np.arange(first, first + n))
