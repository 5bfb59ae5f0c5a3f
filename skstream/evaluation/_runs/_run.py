"""A run: models evaluated together while rows arrive."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np

from skstream.engine.run import Answered
from skstream.engine.timeline import Arrivals, no_rows
from skstream.evaluation._runs._ended_models import ended_lane
from skstream.evaluation._runs._input import EncodedRows
from skstream.evaluation._runs._run_outcome import Place
from skstream.evaluation._runs._scoring import AskedOnce, ScoringOfArrivals
from skstream.evaluation._runs._stream_run import Advance, StreamRun, check_on_error, ignored
from skstream.evaluation._settings import Settings
from skstream.metrics._rows import ScoredRows
from skstream.streams._chunk import Chunk
from skstream.utils._exclusive import exclusive
from skstream.utils._times import check_arrivals, clock


class EvaluationRun(StreamRun):
    """Run of models along a stream: pass rows, and get the result at any time.

    Made by the ``start`` method of an evaluator.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.

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
    ):
        super().__init__(settings, models)
        self._is_weighted = False  # whether a row so far had a weight
        self._scoring: ScoringOfArrivals = AskedOnce(settings.classes, settings.n_scores)
        self._unlabelled = no_rows()  # those without a label that a failure may still leave out
        self._last_time: np.ndarray | None = None  # of the newest row, where something counts time

    @exclusive
    def update(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        arrival: Any = None,
        on_error: str = "raise",
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
        on_error : {"raise", "skip"}, default="raise"
            What to do where a model fails. "raise": stop, and wait for a call of `go_on` with your
            decision. "skip": a row that a model cannot answer is scored for no model, and a model
            does not learn a row that it cannot learn; `n_skipped` counts both.

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
            If a model fails; names the model and the row. See `go_on`.
        KeyboardInterrupt
            On Ctrl-C. The run is as usable as before: `n_rows` says how many rows were taken.
        """
        self._require_open()
        check_on_error(on_error)
        with self._first_rows():
            chunk = self._checked(X, y, sample_weight, arrival)
            rows = self._encoded(chunk, self._settings.missing_labels)
        if rows.weight is None and self._is_weighted:
            rows = replace(rows, weight=np.ones(rows.n_rows))
        self._take(rows, on_error == "skip")
        return self

    def _take(
        self, chunk: EncodedRows, skip: bool, advance: Advance = ignored, begin: int = 0
    ) -> None:
        n_rows = chunk.n_rows
        while begin < n_rows:
            piece = chunk.take(slice(begin, begin + self._rows_at_once()))
            begin += piece.n_rows
            with self._before_rest(partial(self._take, chunk, skip, begin=begin)):
                self._advance(piece, skip)
            advance(piece.n_rows)

    def _rows_at_once(self) -> int:
        """Return how many rows the next step takes at most."""
        return self._pace.size

    @exclusive
    def feed(self, chunk: Chunk, advance: Advance = ignored) -> Self:
        """Process a chunk of a stream.

        Parameters
        ----------
        chunk : Chunk
            Rows that a stream has checked; they are not checked again.
        advance : callable, default=None
            Called with a number of rows whenever so many more are done.

        Returns
        -------
        self : EvaluationRun
            The run.
        """
        self._require_open()
        with self._first_rows():
            rows = self._encoded(chunk, self._settings.missing_labels)
        self._take(rows, False, advance)
        return self

    def _encoded(self, chunk: Chunk, missing_labels: str) -> EncodedRows:
        rows = super()._encoded(chunk, missing_labels)
        if not self._settings.counts_time or not rows.n_rows:
            return rows
        if "arrival" not in chunk.meta:
            raise ValueError(
                "The forgetting or record_every counts time, and the rows do not say when they "
                "came: pass arrival=."
            )
        check_arrivals(chunk.meta["arrival"], self._n_arrived, self._last_time)
        return replace(rows, time=clock(chunk.meta["arrival"]))

    def _advance(self, piece: EncodedRows, skip: bool) -> None:
        arrivals = Arrivals(self._n_arrived, piece.labelled, piece.weight)
        note = partial(self._note_arrived, piece)
        self._take_event(note, arrivals, piece.X, piece.y, skip=skip)

    def _note_arrived(self, piece: EncodedRows, answered: list[Answered]) -> None:
        unlabelled = self._n_arrived + np.flatnonzero(~piece.labelled)
        if len(unlabelled) or len(self._unlabelled):
            self._n_unlabelled += len(unlabelled)
            open_ones = self._unlabelled[self._unlabelled >= self._n_finished]
            self._unlabelled = np.concatenate([open_ones, unlabelled])
        self._is_weighted |= piece.weight is not None
        self._n_arrived += piece.n_rows
        self._labels_read = self._labels_read.after(piece.y, piece.labelled)
        self._scoring.arrive(piece.y, piece.weight, piece.time)
        self._last_time = None if piece.time is None else piece.time[-1:]
        self._note(answered)

    @property
    def _n_finished(self) -> int:
        """Rows that no failure leaves out any more."""
        return self._scores.n_rows

    def _note(self, answered: list[Answered]) -> None:
        """Note the rows that are finished in every lane, up to a failure that ends the run."""
        rows = self._scoring.settle(answered)
        if self._ends_by_failure:
            rows = self._until_failure(rows)
            self._n_unlabelled -= int(np.count_nonzero(self._unlabelled >= self._n_arrived))
        self._keep(rows)

    def _keep(self, rows: ScoredRows) -> None:
        """Keep rows that are finished in every lane, for the scores."""
        self._scores.keep(rows)

    def _until_failure(self, rows: ScoredRows) -> ScoredRows:
        """Leave out the rows after a failure: how many of them are in a step depends on time."""
        self._n_arrived = max(0, min(one.begin for one in self._engine.failures.values()))
        return rows[: max(0, self._n_arrived - self._scores.n_rows)]

    def _n_valid(self, lane: int) -> int:
        return max(0, self._engine.failures[lane].begin)

    def _end_lanes(self, reasons: Mapping[int, str]) -> None:
        """End some lanes between two steps: they cost nothing from now on, and stay in the result.

        The others go on as if there had been no others.

        Parameters
        ----------
        reasons : dict of int to str
            By number of the lane, why it ends.
        """
        self._score()
        numbers = sorted(reasons)
        for k, lane in zip(
            numbers, self._outcomes(self._scores.curves_of(numbers), numbers), strict=True
        ):
            self._ended[self._places[k]] = ended_lane(lane, reasons[k])
        self._keep_lanes([k for k in range(len(self._places)) if k not in reasons])

    def _keep_lanes(self, numbers: Sequence[int]) -> None:
        """Go on with some lanes alone."""
        self._engine.keep(numbers)
        self._scores.keep_lanes(numbers)
        self._places = [self._places[k] for k in numbers]
        self._meters = [self._meters[k] for k in numbers]
        self._left_out = {place for place, k in enumerate(numbers) if k in self._left_out}
        self._skipped = {
            place: self._skipped[k] for place, k in enumerate(numbers) if k in self._skipped
        }
