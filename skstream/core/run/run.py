"""A run: models evaluated together while rows arrive."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from skstream.core.engine.failures import ModelError
from skstream.core.engine.run import Answered
from skstream.core.evaluators.settings import Settings
from skstream.core.measures.resolve import resolve_metrics
from skstream.core.measures.rows import ScoredRows
from skstream.core.result.assemble import assemble
from skstream.core.result.result import EvaluationResult
from skstream.core.rows.chunk import Chunk, last_time, table_times
from skstream.core.run.checkpoint import save_checkpoint
from skstream.core.run.cost import CostMeter
from skstream.core.run.input import EncodedRows
from skstream.core.run.run_outcome import (
    LaneOutcome,
    Place,
    RunOutcome,
    not_returned,
)
from skstream.core.run.scoring import AskedOnce, RunScores
from skstream.core.run.steps import Steps
from skstream.core.timelines.delayed_blocks import Features
from skstream.core.timelines.timeline import no_rows
from skstream.utils._concurrency import deferred_interrupt, exclusive

#: Rows after which the size of the models is measured first, and then whenever they have doubled.
_FIRST_MEASURED = 1024


class EvaluationRun(Steps):
    """Run of models along a stream: pass rows, and get the result at any time.

    Made by the ``start`` method of an evaluator.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    features : callable, default=None
        ``features(rows, times)`` where features change while a row waits for its label.
    scoring : AskedOnce or another strategy, default=None
        What turns answers into scored rows; None: every row is asked once.
    width : int, default=1
        Lines of answers that are scored per model and fold.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator
    >>> run = PrequentialEvaluator("accuracy").start(SGDClassifier(), classes=["a", "b"])
    >>> run = run.update([[0.0], [1.0]], ["a", "b"]).update([[0.5]], ["b"])
    >>> run.result().checkpoints
    array([1, 2, 3])
    """

    def __init__(
        self,
        settings: Settings,
        models: Mapping[Place, Any],
        features: Features | None = None,
        scoring: Any = None,
        width: int = 1,
    ) -> None:
        super().__init__(settings, models, features)
        self._meters = [CostMeter(model) for model in models.values()]
        self._measured_at = _FIRST_MEASURED
        self._scores = RunScores(settings, self._places, width)
        self._scoring = scoring or AskedOnce(settings.classes, settings.n_scores)
        self._n_unlabelled = 0
        self._unlabelled = no_rows()  # those without a label that a failure may still leave out

    @exclusive
    def update(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        arrival: Any = None,
    ) -> Self:
        """Process rows with their labels: each is predicted, then learnt.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets; None or NaN where missing, if the evaluator allows it.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring. From the first call with weights on, models learn all
            rows with weights, 1 where a call has none.
        arrival : array-like of shape (n_rows,), default=None
            When the rows came, as datetimes that never go back; needed where the forgetting or
            `record_every` counts time.

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
            If a model fails; names the model and the row. The run ends there:
            `result` has what came before, and the last `save` goes on.
        KeyboardInterrupt
            On Ctrl-C. The run is as usable as before: `n_rows` says how many rows were taken.
        """
        self._require_open()
        meta = {"sample_weight": sample_weight, "arrival": arrival}
        given = {name: one for name, one in meta.items() if one is not None}
        chunk = Chunk.of(X, y, given, first_row=self._n_arrived)
        self._check_columns(chunk.X)
        last = self._last_in_table
        if arrival is None:
            last = last_time(table_times(chunk.X, y), self._n_arrived, last)
        self._take(self._rows_of(chunk))
        self._last_in_table = last
        return self

    def _note_arrived(self, piece: EncodedRows, answered: list[Answered]) -> None:
        labelled = self._note_rows(piece)
        if len(self._unlabelled) or not labelled.all():
            unlabelled = self._n_arrived - piece.n_rows + np.flatnonzero(~labelled)
            self._n_unlabelled += len(unlabelled)
            open_ones = self._unlabelled[self._unlabelled >= self._n_finished]
            self._unlabelled = np.concatenate([open_ones, unlabelled])
        self._scoring.arrive(piece)
        self._note(answered)

    def _note(self, answered: list[Answered]) -> None:
        """Note the rows that are finished in every lane, up to a failure that ends the run."""
        rows = self._scoring.settle(answered)
        if self._ends_by_failure:
            rows = self._until_failure(rows)
            self._n_unlabelled -= int(np.count_nonzero(self._unlabelled >= self._n_arrived))
        self._keep(rows)

    @property
    def _n_finished(self) -> int:
        """Rows that no failure leaves out any more."""
        return self._scores.n_rows

    def _keep(self, rows: ScoredRows) -> None:
        """Keep rows that are finished in every lane, for the scores."""
        self._scores.keep(rows)

    def _until_failure(self, rows: ScoredRows) -> ScoredRows:
        """Leave out the rows after a failure: how many of them are in a step depends on time."""
        self._n_arrived = max(0, min(one.begin for one in self._engine.failures.values()))
        return rows[: max(0, self._n_arrived - self._scores.n_rows)]

    def _n_valid(self, lane: int) -> int:
        """Return the rows of the curves of a lane that came before its failure."""
        return max(0, self._engine.failures[lane].begin)

    # -- scores

    def _score_step(self) -> None:
        if self._n_arrived >= self._measured_at:
            for lane, meter in zip(self._engine.lanes, self._meters, strict=True):
                if not lane.model.is_measured_late:
                    meter.measure(lane.model)
            while self._measured_at <= self._n_arrived:
                self._measured_at *= 2
        self._score(all_of_it=self._is_closed)
        if self._is_closed:
            self._scores.finish()

    def _score(self, *, all_of_it: bool = True) -> None:
        """Score what was noted. If a function of the user fails, this can be repeated."""
        self._scores.measure()

    @exclusive
    def result(self) -> EvaluationResult:
        """Return the result so far; the run can continue afterwards.

        Returns
        -------
        result : EvaluationResult
            Scores of all rows that every model has done; an incomplete batch is left out.
        """
        with deferred_interrupt():
            self._score()
        return assemble(self._settings.header, self.outcome())

    def leave_out_functions(self) -> Settings | None:
        """Score by measures that cannot fail, after a function of the user has failed.

        Returns
        -------
        settings : Settings or None
            The settings with these measures; None without a tape.
        """
        settings = self._settings
        named = {name: one for name, one in settings.metrics.items() if one.function is None}
        settings = replace(
            settings, metrics=named or resolve_metrics(None, classes=settings.classes)
        )
        scores = self._scores.measured_by(settings)
        if scores is None:
            return None
        self._settings, self._scores = settings, scores
        return settings

    @exclusive
    def outcome(self) -> RunOutcome:
        """Return the outcome of every lane, from which results are made."""
        tape = self._scores.tape
        labels = None if tape is None else tape.labels()
        columns, schema = {}, self._schema
        if schema is not None:
            names = None if schema.names is None else list(map(str, schema.names))  # of arrays
            columns = {"width": schema.width, "names": names, "types": schema.types}
        return RunOutcome(
            lanes=self._outcomes(),
            labels=labels,
            n_rows=self._n_arrived,
            n_unlabelled=self._n_unlabelled,
            drifts=self._settings.drifts,
            labels_read=f"{self._n_arrived} rows {self._label_sum:08x}" if self._has_labels else "",
            columns=columns,
        )

    def _outcomes(self) -> list[LaneOutcome]:
        failures, settings = self._shown_failures(), self._settings
        tape = self._scores.tape
        outcomes = []
        for k, of_lane in enumerate(self._scores.curves()):
            (name, fold), meter = self._places[k], self._meters[k]
            model = self._engine.lanes[k].model
            cost, lost = meter.cost(model), [meter.failure] * bool(meter.failure)
            estimator = self._returned(name, model, lost) if settings.return_models else None
            outcomes.append(
                LaneOutcome(
                    name=name,
                    fold=fold,
                    curves=of_lane,
                    answers=None if tape is None else tape.answers(k),
                    scores=None if tape is None else tape.scores(k),
                    method=settings.score_methods.get(name),
                    cost=cost,
                    path=model.by_kernel.path(),
                    estimator=estimator,
                    lost=tuple(lost),
                    failure=str(failures[k]) if k in failures else None,
                    n_valid=self._n_valid(k) if k in failures else None,
                    n_unanswered=model.n_unanswered,
                )
            )
        return outcomes

    def _returned(self, name: str, model: Any, lost: list[str]) -> Any:
        """Return the fitted model; None where that cannot be done, and why is in `lost`."""
        estimator = None
        try:
            estimator = model.estimator()
            # A copy: the run continues, and the user may change the returned model.
            return deepcopy(estimator)
        except Exception as error:  # copying may raise any error, as of a tree that has grown deep
            if self._is_closed and estimator is not None:
                return estimator  # nothing changes it any more
            lost.append(not_returned(name, error))

    def _shown_failures(self) -> dict[int, ModelError]:
        """Why lanes have stopped: without what came after the failure that ends the evaluation."""
        failures = self._engine.failures
        if not self._ends_by_failure:
            return failures
        ends = {k: self._n_valid(k) for k in failures}
        end = min(ends.values())
        return {k: failure for k, failure in failures.items() if ends[k] == end}

    # -- what is known of the models while they are evaluated

    @property
    def failure_of(self) -> dict[Place, str]:
        """Why models have failed."""
        return {self._places[k]: str(one) for k, one in self._shown_failures().items()}

    def _keep_lanes(self, numbers: Sequence[int]) -> None:
        """Go on with some lanes alone."""
        self._engine.keep(numbers)
        self._places = [self._places[k] for k in numbers]
        self._meters = [self._meters[k] for k in numbers]

    # -- checkpoints

    def go_on_as(self, new: Self) -> None:
        """Go on, after loading, where a new run of the same call has passed over the same rows.

        Parameters
        ----------
        new : EvaluationRun
            The new run, which is not needed afterwards.

        Raises
        ------
        ValueError
            If what is read beside the stream is not what this run has read.
        """
        # What becomes of a failure may be another in this call.
        self._settings = replace(
            self._settings,
            error_score=new._settings.error_score,
            parameters=new._settings.parameters,
        )

    @exclusive
    def save(self, path: str | Path) -> Path:
        """Save a checkpoint from which `load_run` continues with an identical result.

        The checkpoint holds the models and is written by joblib: load it only if you trust its
        author. The file is written completely or not at all: if the process is killed while saving,
        the previous checkpoint remains.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        path : Path
            The file written.

        Raises
        ------
        TypeError
            If a model or a function of yours cannot be pickled. The file is as it was.
        """
        self._require_open()
        path = Path(path)
        save_checkpoint(self, path)
        return path

    def __repr__(self) -> str:
        names = list(dict.fromkeys(name for name, _ in self._places))
        return (
            f"{type(self).__name__}({self._state}: {', '.join(names)} after "
            f"{self._n_arrived:,} rows; see result(), save(path), close())"
        )
