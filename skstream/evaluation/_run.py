"""A run: models evaluated together while rows arrive."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np

from skstream.engine.run import Answered
from skstream.engine.tape import Recorder, has_answer
from skstream.engine.timeline import Arrivals
from skstream.evaluation._input import Chunk
from skstream.evaluation._progress import Advance, ignored
from skstream.evaluation._settings import Settings
from skstream.evaluation._stream_run import StreamRun, check_on_error
from skstream.metrics import SharedSums, update_together
from skstream.utils._exclusive import exclusive


class EvaluationRun(StreamRun):
    """Run of models along a stream: pass rows, and get the result at any time.

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
        self._n_scored = 0
        self._unscored: list[tuple[np.ndarray, list[np.ndarray], np.ndarray | None]] = []
        dtype = np.float64 if settings.classes is None else np.int64
        self._unsettled = (np.empty(0, dtype=dtype), np.empty(0))
        self._y = Recorder(settings.classes)
        self._weights: list[np.ndarray] | None = None

    @exclusive
    def update(self, X: Any, y: Any, *, sample_weight: Any = None, on_error: str = "raise") -> Self:
        """Process rows with their labels: each is predicted, then learnt.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets; None or NaN where missing, if the evaluator allows it.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring.
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
            chunk = self._encoded(X, y, sample_weight, self._settings.missing_labels)
        self._take(chunk, on_error == "skip")
        return self

    def _take(self, chunk: Chunk, skip: bool, advance: Advance = ignored) -> None:
        begin = 0
        while begin < chunk.n_rows:
            piece = chunk.piece(begin, begin + self._pace.size)
            begin += piece.n_rows
            rest = chunk.piece(begin, chunk.n_rows)
            with self._before_rest(partial(self._take, rest, skip)):
                self._advance(piece, skip)
            advance(piece.n_rows)

    @exclusive
    def feed(self, X: Any, y: Any, meta: Mapping[str, Any], advance: Advance = ignored) -> Self:
        """Process a chunk of a stream.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets.
        meta : mapping of str to array-like of shape (n_rows,)
            May hold "sample_weight".
        advance : callable, default=None
            Called with a number of rows whenever so many more are done.

        Returns
        -------
        self : EvaluationRun
            The run.
        """
        self._require_open()
        with self._first_rows():
            weight = meta.get("sample_weight")
            chunk = self._encoded(X, y, weight, self._settings.missing_labels)
        self._take(chunk, False, advance)
        return self

    def _advance(self, piece: Chunk, skip: bool) -> None:
        arrivals = Arrivals(self._n_arrived, piece.labelled, piece.weight)
        self._step(
            partial(self._engine.arrive, piece.X, piece.y, arrivals),
            partial(self._note_arrived, piece.y, piece.weight),
            skip=skip,
        )

    def _note_arrived(
        self, y: np.ndarray, given_weight: np.ndarray | None, answered: list[Answered]
    ) -> None:
        self._n_arrived += len(y)
        self._n_unlabelled += int(np.count_nonzero(~has_answer(y)))
        weight = np.ones(len(y)) if given_weight is None else given_weight
        y_before, weight_before = self._unsettled
        self._unsettled = (
            np.concatenate([y_before, y]),
            np.concatenate([weight_before, weight]),
        )
        if given_weight is not None and self._weights is None:
            self._weights = [np.ones(self._n_settled)]
        self._note(answered)

    def _note(self, answered: list[Answered]) -> None:
        """Note the rows that are finished in every lane."""
        settled = min(one.operations.settled for one in answered)
        y, weight = self._unsettled
        n = settled - self._n_settled
        y_now, weight_now = y[:n].astype(self._y.dtype), weight[:n]
        self._unsettled = (y[n:], weight[n:])
        self._note_labels(y_now)
        scoring_weight = None if self._weights is None else weight_now
        in_order = {
            id(one.operations): _in_order(one.operations.ask_rows, self._n_settled, n)
            for one in answered
        }
        answers = [self._on_tape(one, in_order[id(one.operations)], n) for one in answered]
        self._unscored.append((y_now, answers, scoring_weight))
        for lane, meter in zip(self._engine.lanes, self._meters, strict=True):
            meter.follow(settled, lane.model)
        if self._settings.keep_tape:
            for recorder, p in zip(self._answers, answers, strict=True):
                recorder.append(p)
            self._y.append(y_now)
            if self._weights is not None:
                self._weights.append(weight_now)
        self._n_settled = settled

    def _score(self) -> None:
        while self._unscored:
            y, answers, weight = self._unscored[0]
            update_together(self._measures, y, answers, weight, first=self._n_scored)
            self._n_scored += len(y)
            del self._unscored[0]

    def _on_tape(self, one: Answered, in_order: bool, n: int) -> np.ndarray:
        """Answers to the newly settled rows, for the tape."""
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
