"""Holdout evaluation: models learn along the stream, and are asked about whole sets of rows."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import field, replace
from functools import partial
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

from joblib import effective_n_jobs

from skstream.core.evaluators.evaluator import COMMON_CONSTRAINTS, StreamEvaluator, evaluator
from skstream.core.evaluators.settings import COUNT, Settings
from skstream.core.measures.rows import ScoredRows, Sets
from skstream.core.rows.stream import Stream
from skstream.core.run.holdout_sets import (
    READ_AGAIN,
    HeldOutRows,
    as_held_out,
    is_one_shot,
)
from skstream.core.run.input import EncodedRows
from skstream.core.run.run import EvaluationRun
from skstream.core.run.run_outcome import Place, RunOutcome
from skstream.core.run.scoring import AskedAtCheckpoints
from skstream.core.timelines.timeline import HoldoutTimeline, NextRowsTimeline, Timeline
from skstream.utils._rows import Schema

# Questions that are asked in one step.
_ASKS_PER_STEP = 1 << 16
# Iterators from which runs of any evaluator have taken held-out rows, by id while they exist.
_BEGUN: WeakValueDictionary[int, Any] = WeakValueDictionary()


@evaluator
class HoldoutEvaluator(StreamEvaluator):
    """Evaluate models on held-out rows: train on the stream, and predict a whole set at intervals.

    After every `every` rows, training pauses and the models predict a whole set of rows. Each set
    is scored on its own: the curves show how good the model was at each checkpoint, not a mean over
    the past, so there is no parameter `forgetting`. Results call the mechanism "cumulative": all
    rows of a set count equally.

    Parameters
    ----------
    holdout : tuple (X, y), stream, or "next"
        The rows to predict. ``(X, y)``: one set for all checkpoints. A stream, such as an iterable
        of chunks: at every checkpoint the next `holdout_size` of its rows, which are never used for
        training. "next": the next `every` rows of the training stream, all predicted before the
        first of them is used for training (interleaved chunks); with ``every=1`` the predictions
        are those of prequential evaluation. If fewer than `every` rows remain at the end, they are
        used only for training.
    every : int, default=1000
        Rows of the stream between two checkpoints. The end of the stream is one too, except with
        "next". Curves hold at most 1,024 checkpoints: every second one, then every fourth, and so
        on, and the last.
    holdout_size : int, default=None
        Rows of each set, if `holdout` is a stream; None: as many as `every`.
    batch_size : int, default=1
        Training rows in one ``partial_fit``; `every` must be a multiple of it, so that no batch is
        incomplete at a checkpoint. More than 1 is a different protocol from row by row. With "next"
        the warm-up is a batch of its own.

    See Also
    --------
    PrequentialEvaluator : Every row is predicted, then used for training; needs no separate rows.

    Notes
    -----
    The baselines are also frozen while a set is predicted: the persistent one repeats the last
    label of the stream, the majority one predicts the most frequent label so far. So `Persistent`
    has a kappa_temporal of exactly 0 here, too.

    A holdout estimate is unbiased for the concept of its rows. If the stream drifts, a fixed set
    becomes outdated; fresh sets, or `PrequentialEvaluator` with a sliding window, follow the
    stream.

    References
    ----------
    Gama, J., Sebastião, R., & Rodrigues, P. P. (2013). On evaluating stream learning
    algorithms. Machine Learning, 90, 317-346. Section 2.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import HoldoutEvaluator
    >>> from skstream.streams import make_demo_stream
    >>> stream = make_demo_stream(3000)
    >>> held_out = stream.X[2000:], stream.y[2000:]
    >>> evaluator = HoldoutEvaluator("accuracy", holdout=held_out, every=500, random_state=0)
    >>> result = evaluator.evaluate(SGDClassifier(), stream.X[:2000], stream.y[:2000])
    >>> result.checkpoints
    array([ 500, 1000, 1500, 2000])
    """

    protocol = "holdout"
    late_labels = True
    scored_sets = "holdout rows"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "every": [COUNT],
        "holdout_size": [COUNT, None],
        "batch_size": [COUNT],
    }
    # Each set is scored on its own, at every checkpoint.
    forgetting: Any = field(init=False, default="cumulative")
    record_every: int | None = field(init=False, default=None)
    # The iterator from which a run of this evaluator has taken held-out rows.
    _begun: Any = field(init=False, default=None)
    holdout: Any
    every: int = 1000
    holdout_size: int | None = None
    batch_size: int = 1

    def _n_answers(self, n_rows: int) -> int:
        if isinstance(self.holdout, str):
            return n_rows
        size = len(self.holdout[1]) if isinstance(self.holdout, tuple) else self._size
        return n_rows // self.every * size

    def _validate(self, **called: Any) -> None:
        super()._validate(**called)
        holdout = self.holdout
        if isinstance(holdout, str) and holdout != "next":
            raise ValueError(
                f"The 'holdout' parameter must be (X, y), a stream, or \"next\" (the rows that "
                f"come next). Got {holdout!r} instead."
            )
        if isinstance(holdout, tuple) and len(holdout) != 2:
            raise ValueError(
                f"holdout is a tuple of {len(holdout)}; pass a tuple of two, (X, y), for one set, "
                "or a stream, such as a list of chunks, for fresh sets."
            )
        if self.every % self.batch_size:
            whole = self.every + self.batch_size - self.every % self.batch_size
            raise ValueError(
                f"every={self.every} is not a multiple of batch_size={self.batch_size}: a batch "
                f"would be incomplete at a checkpoint. Pass every={whole}, or another batch_size."
            )
        if self.holdout_size is not None and isinstance(holdout, str | tuple):
            raise ValueError(
                "holdout_size is the size of sets drawn from a stream, but here the holdout is "
                f"{_in_words(holdout)}. Leave it out."
            )

    @property
    def _size(self) -> int:
        return self.every if self.holdout_size is None else self.holdout_size

    def _timelines(self, seed: int) -> list[Timeline]:
        if isinstance(self.holdout, str):
            return [NextRowsTimeline(self.every, self.n_warmup, self.batch_size)]
        # The size of a fixed set is known once its rows have been read.
        fresh = not isinstance(self.holdout, tuple)
        return [HoldoutTimeline(self.every, self._size, fresh, self.n_warmup, self.batch_size)]

    def _plain_parameters(self) -> dict[str, Any]:
        described = copy(self).set_params(holdout=_in_words(self.holdout))
        return super(HoldoutEvaluator, described)._plain_parameters()

    def _new_run(self, settings: Settings, stream: Stream | None) -> Callable[..., Any]:
        if is_one_shot(self.holdout):
            self._begin_iterator(
                has_workers=stream is not None and effective_n_jobs(self.n_jobs) > 1
            )
        held_out = as_held_out(self.holdout, self._size, settings.classes, settings.missing_labels)
        if held_out is not None and not held_out.is_fresh:
            timeline: Any = settings.timelines[0]
            settings.timelines[:] = [replace(timeline, size=held_out.size)]
        if stream is not None and held_out is not None:
            held_out.warn_of_overlap(stream)
        return partial(HoldoutRun, settings, held_out)

    def _check_can_resume(self, stream: Stream) -> None:
        super()._check_can_resume(stream)
        if is_one_shot(self.holdout):
            raise ValueError(
                "checkpoint= needs held-out rows that can be read again, but holdout is a "
                f"one-shot iterator. {READ_AGAIN}"
            )

    def _begin_iterator(self, *, has_workers: bool) -> None:
        """Raise an error if held-out rows that can be read once are needed again."""
        if has_workers:
            raise ValueError(
                "holdout is a one-shot iterator, but each worker needs all of its rows: pass "
                f"n_jobs=1. {READ_AGAIN}"
            )
        if self._begun is self.holdout or _BEGUN.get(id(self.holdout)) is self.holdout:
            raise ValueError(
                f"holdout is a one-shot iterator ({type(self.holdout).__name__}), and an earlier "
                f"evaluation has already read from it. {READ_AGAIN}"
            )
        self._begun = self.holdout
        with suppress(TypeError):  # few iterators take no weak reference
            _BEGUN[id(self.holdout)] = self.holdout


class HoldoutRun(EvaluationRun):
    """Run of models that learn every row, and are asked about sets of rows at checkpoints.

    Made by ``HoldoutEvaluator.start``; the rows are passed to ``update``.

    Parameters
    ----------
    settings : Settings
        The evaluator's settings, resolved.
    held_out : HeldOutRows or None
        The rows asked about; None: the next rows of the stream.
    models : dict of (str, int) to estimator
        One prepared model per name and fold, in the order of the result.
    """

    _scoring: AskedAtCheckpoints

    def __init__(
        self,
        settings: Settings,
        held_out: HeldOutRows | None,
        models: Mapping[Place, Any],
    ):
        self._held_out = None if held_out is None else held_out.copy()
        scoring = AskedAtCheckpoints(
            settings.classes, settings.n_scores, len(models), self._held_out
        )
        super().__init__(settings, models, scoring=scoring)
        self._engine.held_out = self._held_out
        (timeline,) = settings.timelines
        if isinstance(timeline, HoldoutTimeline):
            n_sets = max(1, _ASKS_PER_STEP // timeline.size)
            self._pace.max_size = min(self._rows_per_step, timeline.every * n_sets)

    def __getstate__(self) -> dict[str, Any]:
        if self._held_out is not None:
            self._held_out.check_can_be_saved()
        return super().__getstate__()

    def _take_step(self, rows: EncodedRows) -> None:
        if self._held_out is not None and not self.n_rows:
            self._held_out.check_columns(Schema.of(rows.X))
        super()._take_step(rows)

    def go_on_as(self, new: Self) -> None:
        """Go on with the held-out rows of a new run, which must be those asked about so far.

        Parameters
        ----------
        new : HoldoutRun
            The new run, which is not needed afterwards.

        Raises
        ------
        ValueError
            If they are others.
        """
        super().go_on_as(new)
        if self._held_out is not None:
            assert new._held_out is not None
            self._held_out.go_on_as(new._held_out)

    def outcome(self) -> RunOutcome:
        """Return the outcome of every lane, and what was read of held-out rows."""
        outcome = super().outcome()
        held_out = self._held_out
        if held_out is None:
            return outcome
        return replace(
            outcome,
            unlabelled_held_out=(held_out.n_unlabelled, held_out.n_asked),
            # How many were asked about after a failure depends on time.
            read={} if self._ends_by_failure else held_out.asked(),
        )

    @property
    def _n_finished(self) -> int:
        return max(self._scoring.n_valid)

    def _until_failure(self, rows: ScoredRows) -> ScoredRows:
        self.n_rows = min(map(self._n_valid, self._engine.failures))
        assert rows.sets is not None
        n_sets = int((rows.sets.checkpoints <= self.n_rows).sum())
        ends, checkpoints = rows.sets.ends[:n_sets], rows.sets.checkpoints[:n_sets]
        kept = rows[: ends[-1] if n_sets else 0]
        kept.sets = Sets(ends, checkpoints)
        return kept

    def _n_valid(self, lane: int) -> int:
        return self._scoring.n_valid[lane]


def _in_words(holdout: Any) -> str:
    if isinstance(holdout, str):
        return holdout
    if isinstance(holdout, tuple):
        return f"one set of {len(holdout[1]):,} rows"
    return "fresh sets"
