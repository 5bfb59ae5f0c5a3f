"""A run under delayed labels: rows come from a stream, or are asked and labelled live."""

from functools import partial
from typing import Any, Self

import numpy as np

from skstream.engine.answers import no_answers
from skstream.engine.delayed import Dated, DatedArrivals, Labels, TimePassed
from skstream.engine.failures import ModelError
from skstream.engine.run import Answered, Step
from skstream.evaluation._runs._input import EncodedRows, encoded_labels
from skstream.evaluation._runs._stream_run import check_on_error
from skstream.evaluation.delayed._clock import Clock
from skstream.evaluation.delayed._dated_run import DatedRun
from skstream.evaluation.delayed._live_input import (
    KnownIds,
    as_ids,
    asked_rows,
    label_weights,
    read_batch,
)
from skstream.utils._choices import check_choice
from skstream.utils._exclusive import exclusive


class DelayedRun(DatedRun):
    """Run of models along a stream with delayed labels.

    Made by ``DelayedEvaluator.start``.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    delay : DelaySettings
        Bins and delays.

    Examples
    --------
    >>> from skstream import DelayedEvaluator, Persistent
    >>> run = DelayedEvaluator("accuracy", n_bins=2).start(Persistent(), classes=["a", "b"])
    >>> run.ask([[0.1], [0.2]], ["first", "second"], t=0)["Persistent"]
    array([None, None], dtype=object)
    >>> run.label(["second"], ["b"], t=3).n_pending
    1
    >>> run.ask([[0.3]], ["third"], t=4)["Persistent"]
    array(['b'], dtype='<U1')
    """

    @property
    def n_refused(self) -> int:
        """Number of rows that a model could not answer when they were asked, and were skipped."""
        return self._n_refused

    @exclusive
    def ask(
        self, X: Any, ids: Any = None, t: Any = None, *, on_error: str = "raise"
    ) -> dict[str, np.ndarray]:
        """Ask about rows that arrive now, and keep them until their labels come.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features. They are copied: the same array may be filled again. No rows at all, as in an
            empty frame of a queue, are no event: time does not pass.
        ids : array-like of shape (n_rows,)
            What to call the rows when their labels come; hashable, each waiting only once.
        t : number, datetime, or array-like of shape (n_rows,), default=None
            Time of arrival of all rows, or of each; None: the number of the row.
        on_error : {"raise", "skip"}, default="raise"
            What to do with rows that a model cannot answer (NaN, say). "raise": the whole call is
            an error. "skip": only these rows are left out, for all models; they do not wait,
            `n_refused` counts them, and their labels are ignored.

        Returns
        -------
        answers : dict of str to ndarray of shape (n_rows,)
            Predictions by model; None or NaN while it has not learnt enough to answer, and for
            rows that were refused. A fitted model given with ``warm_start=True`` answers from
            the first call on; what it answers before `n_warmup` labels were learnt is not
            scored, as in `evaluate`; with ``n_warmup=0`` all of it is.

        Raises
        ------
        ValueError
            If an id waits already or is missing, or time goes back. The run is then unchanged.
        ModelError
            If a model cannot answer a row; names both. No row of the call waits then, and the run
            is unchanged.

        Notes
        -----
        Calls are taken in the order in which they come, and the labels of one call in the order of
        their rows. `evaluate` orders events of equal time by row, each label before the arrival of
        later rows; in this order, the results are equal.
        """
        self._require_open()
        check_on_error(on_error)
        ids = as_ids(ids)
        with self._first_rows():
            chunk = asked_rows(X, ids, self._space, self._n_arrived)
            self._check_schema(chunk.X)
            if not ids:  # as an empty frame of a queue
                none = no_answers(self._settings.task)
                return {name: self._as_labels(none, np.arange(0), 0) for name, _ in self._places}
            self._ids.check_new(ids)
            clock, arrival = self._clock.event(t, self._n_arrived, len(ids))
            times = np.broadcast_to(arrival.values, len(ids))
            state = self._timeline_state
            if state.n_dated:  # rows of a stream: labels come by themselves
                if state.n_due(times[-1]) > state.n_due(times[0]):
                    raise ValueError(
                        "Labels of earlier rows, whose time is known, come between the times of "
                        "these rows. Ask in one call about the rows between two labels."
                    )
                due = TimePassed(float(times[0]))
                self._take_event(self._note, due)
            at, step, codes = self._ask(
                chunk, ids, times, skip=on_error == "skip", numbered=t is None
            )
        if len(at) < len(ids):
            refused = np.delete(np.arange(len(ids)), at)
            self._ids.refuse([ids[place] for place in refused])
            self._n_refused += len(refused)
        if step is not None:
            newest = len(at) - 1 if t is None else int(at[-1])
            shown = arrival.shown(min(newest, len(arrival.given) - 1))
            clock = clock.at(float(step.event.arrival[-1]), shown)
            its_ids = [ids[place] for place in at]
            note = partial(self._note_asked, step.event, chunk.y[at], clock, its_ids)
            self._commit(step, note)
        return {
            name: self._as_labels(some, at, len(ids))
            for (name, _), some in zip(self._places, codes, strict=True)
        }

    def _ask(
        self, chunk: EncodedRows, ids: list[Any], times: np.ndarray, *, skip: bool, numbered: bool
    ) -> tuple[np.ndarray, Step | None, list[np.ndarray]]:
        """Ask about all rows, or those that can be answered; an error changes nothing.

        `numbered` says that the times are the numbers of the rows, which follow each other.
        Returns which rows, the step, and the answers of all models.
        """
        at = np.arange(len(ids))
        while len(at):
            try:
                some = chunk.take(at)
                its_times = times[: len(at)] if numbered else times[at]
                return at, *self._ask_on_trial(some, its_times, skip=skip)
            except ModelError as error:
                row = at[error.row - self._n_arrived]
                if not skip:
                    error.add_note(
                        f"The row has the id {ids[row]!r}. No row of the call waits; pass "
                        "on_error='skip' to leave out the rows that a model cannot answer."
                    )
                    raise
                at = at[at != row]
        return at, None, [no_answers(self._settings.task) for _ in self._places]

    def _ask_on_trial(
        self, chunk: EncodedRows, times: np.ndarray, *, skip: bool
    ) -> tuple[Step, list[np.ndarray]]:
        n, engine = chunk.n_rows, self._engine
        arrivals = self._arrivals(chunk, times, np.full(n, np.inf), live=True)
        failed = set(engine.failures)
        try:
            with self._breakable():
                step = engine.execute(arrivals, chunk.X, chunk.y)
                asked = [one.answers for one in step.lanes if len(one.answers)]
                codes = asked or self._early_answers(arrivals)
                new = [error for k, error in engine.failures.items() if k not in failed]
                if new and (skip or self._settings.error_score == "raise"):
                    raise min(new, key=lambda error: error.row)
            if self._interrupt is not None and self._interrupt.received:
                raise KeyboardInterrupt
        except BaseException:
            engine.abandon()
            raise
        return step, codes

    def _early_answers(self, arrivals: DatedArrivals) -> list[np.ndarray]:
        """Answers in the warm-up: those of models that were fitted before the run, else none."""
        if self._settings.parameters["warm_start"]:
            return self._engine.preview(arrivals)
        return [no_answers(self._settings.task, arrivals.n_rows) for _ in self._places]

    def _as_labels(self, codes: np.ndarray, at: np.ndarray, n: int) -> np.ndarray:
        """Answers to the rows at some of `n` positions as labels or values; none to the others."""
        answers = no_answers(self._settings.task, n)
        answers[at] = codes
        return self._space.decode(answers)

    @exclusive
    def label(
        self,
        ids: Any,
        y: Any,
        t: Any = None,
        *,
        sample_weight: Any = None,
        on_unknown: str = "error",
        on_error: str = "raise",
    ) -> Self:
        """Let labels of waiting rows come: ask, score, then learn.

        Parameters
        ----------
        ids : array-like of shape (n_rows,)
            Which rows.
        y : array-like of shape (n_rows,)
            Their labels or targets.
        t : number or datetime, default=None
            Time of all labels; None: the time of the last event. Labels of several times go to
            `update`.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of learning and scoring, as in `evaluate`; 0: neither learnt nor scored. From
            the first call with weights on, models learn all rows with weights, 1 where there is
            none.
        on_unknown : {"error", "ignore"}, default="error"
            What to do with ids of rows that do not wait, such as dropped rows, and rows that have
            their label already: raise an error, or leave them out. A second label is never learnt.
        on_error : {"raise", "skip"}, default="raise"
            What to do where a model cannot learn a row. "raise": stop, and wait for a call of
            `go_on` with your decision. "skip": this model does not learn this row; `n_skipped`
            counts it.

        Returns
        -------
        self : DelayedRun
            The run.

        Raises
        ------
        KeyError
            If no row of an id waits: it was never asked, was dropped, or has its label. No label
            of the call has been taken then.
        ValueError
            If a label is unknown, an id comes twice or is missing, or time goes back. No label of
            the call has been taken then.
        ModelError
            If a model fails; names the model and the row. See `go_on`.
        """
        self._require_open()
        check_on_error(on_error)
        _check_on_unknown(on_unknown)
        ids = as_ids(ids)
        codes = encoded_labels(y, self._space)
        if len(ids) != len(codes):
            raise ValueError(f"There are {len(ids)} ids and {len(codes)} labels.")
        weight = label_weights(sample_weight, len(ids))
        clock = self._clock
        if t is not None:
            if np.ndim(t):
                raise ValueError(
                    f"t holds {len(t):,} times. Pass one time for all labels of the call, or "
                    "labels of several times as a frame: update(None, labels)."
                )
            clock, now = clock.event(t, self._n_arrived, len(ids))
            clock = clock.at(float(now.values[0]), now.shown(0))
        known = self._ids.rows_of(ids, on_unknown)
        rows, kept = known.rows, known.places
        if not len(rows):
            self._n_relabelled += known.n_again
            return self
        codes, weight = codes[kept], weight[kept]
        labels = Labels(rows, clock.now, None if sample_weight is None else weight)
        note = partial(self._note_came, known, codes, labels, clock)
        self._take_event(note, labels, None, codes, skip=on_error == "skip")
        return self

    @exclusive
    def update(
        self,
        rows: Any = None,
        labels: Any = None,
        *,
        id: str = "id",
        time: str = "time",
        label: str = "label",
        sample_weight: str | None = None,
        on_unknown: str = "error",
        on_error: str = "raise",
    ) -> Self:
        """Let rows arrive and labels come, in the order of their times.

        The rows and labels of a period, in two frames: all events are taken in the order in which
        `evaluate` takes them. So `evaluate` can be continued: pass the past in the first call, and
        go on with `ask` and `label`, or with further frames.

        Parameters
        ----------
        rows : dataframe of shape (n_rows, n_features + 2), default=None
            Rows that arrive, in any order: features, ids and times of arrival. None: no rows.
        labels : dataframe of shape (n_labels, 3), default=None
            Labels that become known, in any order: ids (of rows of this call, or that wait), times
            and labels. Other columns are ignored. None: no labels.
        id, time, label : str, default="id", "time", "label"
            Names of the columns.
        sample_weight : str, default=None
            Column of `labels` that holds weights of learning and scoring, as in `label`.
        on_unknown : {"error", "ignore"}, default="error"
            As in `label`.
        on_error : {"raise", "skip"}, default="raise"
            As in `label`. A row that a model cannot answer stops the run, which waits for
            `go_on`.

        Returns
        -------
        self : DelayedRun
            The run. Rows whose label has not come wait for it (`n_pending`).

        Raises
        ------
        KeyError
            If no row of an id waits. Nothing of the call has been taken then.
        ValueError
            If something is wrong with the ids, times, rows or labels, as in `ask` and `label`, if
            a label comes before its row, or `rows` holds the column of labels or weights, too.
            Nothing of the call has been taken then.
        ModelError
            If a model fails; names the model and the row. See `go_on`.

        Examples
        --------
        >>> from skstream import DelayedEvaluator, Persistent
        >>> run = DelayedEvaluator("accuracy", n_bins=2).start(Persistent(), classes=["a", "b"])
        >>> rows = {"id": [1, 2, 3], "time": [0, 4, 6], "x": [0.5, 0.1, 0.9]}
        >>> labels = {"id": [2, 1], "time": [9, 5], "label": ["b", "a"]}
        >>> run.update(rows, labels).n_pending
        1
        """
        self._require_open()
        check_on_error(on_error)
        _check_on_unknown(on_unknown)
        if rows is None and labels is None:
            return self
        with self._first_rows():
            batch = read_batch(
                rows,
                labels,
                {"id": id, "time": time, "label": label, "sample_weight": sample_weight},
                self._ids,
                on_unknown,
                self._clock,
                self._space,
                self._n_arrived,
                skip=on_error == "skip",
            )
            if batch.n_rows:
                self._check_schema(batch.rows.X)
        known, self._clock = batch.known, batch.clock
        self._n_relabelled += known.n_again
        take = partial(self._take, batch.rows, batch.arrival, batch.label_time, batch=batch)
        if len(known.rows):
            dated = Dated(known.rows, batch.known_times, batch.known_weight)
            note = partial(self._note_labels, known, batch.known_y, dated)
            with self._before_rest(take):
                self._take_event(note, dated, None, batch.known_y)
        take()
        return self

    def _note_asked(self, *arrived: Any) -> None:
        self._note_arrived(*arrived)
        self._drop_oldest()

    def _note_labels(
        self, known: KnownIds, y: np.ndarray, event: Labels | Dated, answered: list[Answered]
    ) -> None:
        """Note the labels of waiting rows: that they came, or when they will."""
        self._scoring.label(known.rows, y, weighted=event.weight is not None)
        self._ids.labelled(known.ids)
        self._note(answered)

    def _note_came(
        self, known: KnownIds, y: np.ndarray, event: Labels, clock: Clock, answered: list[Answered]
    ) -> None:
        """Note labels that came in a call of their own."""
        self._n_relabelled += known.n_again
        self._clock = clock
        self._note_labels(known, y, event, answered)

    def _can_skip(self, failed: list[int]) -> bool:
        return all(self._engine.lanes[k].model.stopped_learning for k in failed)

    def _check_skip(self, failed: list[int]) -> None:
        for k in failed:
            if not self._engine.lanes[k].model.stopped_learning:
                failure = self._engine.failures[k]
                raise ValueError(
                    f"Model '{failure.model}' failed to answer row {failure.row}, which waits for "
                    "its label: only a row that is learnt can be skipped. Decide 'retry' or "
                    "'leave_out'."
                )


def _check_on_unknown(on_unknown: str) -> None:
    check_choice(on_unknown, "on_unknown", ("error", "ignore"))
