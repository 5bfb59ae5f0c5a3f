"""Kernels of estimators that wrap another one: noise, calibration, resets, temporal corrections."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.adaptive import new_detector, read_until_alarm, rows_untested
from skstream.calibration import (
    Calibration,
    Memory,
    calibrated,
    fitted,
    no_memory,
    remembered,
    response_of,
    scores_of,
)
from skstream.core.engine.answers import Task, answers_to, best_or_all
from skstream.core.engine.block import Block, cuts, key_of, part_of
from skstream.core.engine.kernel import Declined
from skstream.drift import DriftDetector
from skstream.kernels.inner import (
    InnerKernel,
    Member,
    OneModelKernel,
    all_bitwise,
    with_tests,
)
from skstream.kernels.input import joined_rows, refused_seed, refused_task, separate_rows, value_of
from skstream.kernels.looped import LoopedModel
from skstream.kernels.memory import SeededKernel, State, showing
from skstream.noise import exchanged, weights_so_far, with_noise
from skstream.temporal import (
    corrected,
    corrections,
    count_labels,
    extended_by_labels,
    warn_if_labels_are_dropped,
)
from skstream.utils._labels import LabelSpace, lags_after
from skstream.utils._rows import take_rows
from skstream.utils._seeds import row_hashes
from skstream.utils._validation import is_fitted, unfitted_copy


class LabelNoiseKernel(SeededKernel, InnerKernel):
    """Replaces answers of the inner kernel, by the rows and by the weight learnt, the memory."""

    _attributes = ("weight_learnt_",)

    @classmethod
    def _inner_task(cls, task: Task) -> Task:
        # Probabilities are exchanged between the labels before and after noise: both are wanted.
        scores = "predict_proba" if _wants_shares(task) else None
        return replace(task, method="predict", scores=scores)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse decision values, and a seed that would be drawn again."""
        methods = ["predict", "predict_proba"]
        return refused_task(estimator, task, methods) or refused_seed(estimator)

    def _no_memory(self) -> float:
        return 0.0

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        columns = self._columns_after(state, block)
        weights = weights_so_far(state.memory, block.weight, block.n_learns)
        hashes = np.empty(0, np.uint64)
        if block.n_asks:
            hashes = row_hashes(take_rows(block.ask_X, block.ask_index))

        def remember(done: Block) -> float:
            return float(weights[done.n_learns])

        def answer(came: NDArray[Any]) -> NDArray[Any]:
            return self._with_noise(came, hashes, weights[block.stamp])

        return self._step_inside(state, columns, block, block, remember, answer)

    def _with_noise(
        self, answers: NDArray[Any], hashes: NDArray[np.uint64], weights: NDArray[np.float64]
    ) -> NDArray[Any]:
        n, n_classes = len(answers), self._n_classes
        codes = answers[:, 0].astype(np.int64) if _wants_shares(self.task) else answers
        noisy = codes
        if n:
            noisy = with_noise(
                codes, hashes[:n], weights[:n], n_classes, self.estimator.noise, self._seed
            )
        if not _wants_shares(self.task):
            return noisy
        shares = answers[:, 1:]
        if n_classes == 1:
            shares = 1.0 - shares
        elif n_classes == 2:
            shares = np.column_stack([1.0 - shares, shares])
        mixed = exchanged(shares, codes, noisy)
        return answers_to(self.task, lambda task: noisy if task.method == "predict" else mixed)


def _wants_shares(task: Task) -> bool:
    return task.method == "predict_proba" or task.scores is not None


class _Learnt(NamedTuple):
    """Number of rows learnt, the answers to the last of them, and the maps in use."""

    n_rows: int
    answers: Memory
    calibration: Calibration | None


class PrequentialCalibratorKernel(OneModelKernel):
    """The model is asked about each row right before it learns it; then the maps are fitted."""

    # What the maps are fitted to are scores, which kernels may round otherwise in the last digits.
    bitwise = False

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        model = estimator.estimator_ if self._is_fitted else unfitted_copy(estimator.estimator)
        self._response = response_of(model) or ""
        self._first_inner = (Member.of(model, task.asking(self._response)),)

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse batches, models without scores, and what the estimator itself refuses."""
        methods = ["predict", "predict_proba"]
        refused = refused_task(estimator, task, methods, one_by_one=True)
        if refused is not None:
            return refused
        try:
            remembered(estimator)
        except ValueError:
            return "parameters that it refuses"
        model = estimator.estimator_ if is_fitted(estimator) else estimator.estimator
        return None if response_of(model) else "a model without scores"

    def _no_memory(self) -> _Learnt:
        return _Learnt(0, no_memory(self._n_classes), None)

    def _read(self) -> _Learnt:
        one = self.estimator
        return _Learnt(one.n_rows_learnt_, Memory(*one.memory_), one.calibration_)

    def _own_bytes(self, n_members: int) -> int:
        return 64 * self._n_classes

    def _step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        known: _Learnt = state.memory
        # There is nothing yet to be asked about the first row.
        tests = np.arange(0 if known.n_rows else 1, block.n_learns)
        tested = with_tests(block, tests)
        inner, came = state.inner[0].step(tested.block)
        scores = scores_of(came[tested.tests], self._response, self._n_classes)
        answers = known.answers.after(Memory(scores, block.y[tests], block.weights[tests]))
        calibrations = self._fitted_along(known, answers, block.n_learns)
        values = came[tested.asked]
        shares = np.empty((block.n_asks, self._n_classes))
        ends = [n_learns for n_learns, _ in calibrations[1:]]
        bounds = np.searchsorted(block.stamp, ends).tolist()
        for (_, one), begin, end in zip(
            calibrations, [0, *bounds], [*bounds, block.n_asks], strict=True
        ):
            if end > begin:
                shares[begin:end] = calibrated(
                    one, values[begin:end], self._response, self._n_classes
                )
        kept = answers.last(remembered(self.estimator)[0])
        learnt = _Learnt(known.n_rows + block.n_learns, kept, calibrations[-1][1])
        after = state.after(block, state.columns, learnt, (inner,))
        return after, answers_to(self.task, lambda task: best_or_all(shares, task))

    def _fitted_along(
        self, known: _Learnt, answers: Memory, n_learns: int
    ) -> list[tuple[int, Calibration | None]]:
        """Maps along a block, each with the number of its learns from which on it is used."""
        every, n_rows = self.estimator.every, remembered(self.estimator)[0]
        found: list[tuple[int, Calibration | None]] = [(0, known.calibration)]
        for n in range(every - known.n_rows % every, n_learns + 1, every):
            end = len(answers.codes) - (n_learns - n)
            kept = answers.part(slice(0, max(end, 0))).last(n_rows)
            found.append((n, fitted(self.estimator, kept, self._response)))
        return found

    def _write(self, memory: _Learnt) -> None:
        self.estimator.memory_ = memory.answers.copy()
        self.estimator.calibration_ = memory.calibration
        self.estimator.n_rows_learnt_ = memory.n_rows


# Rows that a model learns before it is found out whether it is replaced among them: at most, and
# first after it was replaced, when the next alarm may be near.
_AT_MOST = 8192
_AT_FIRST = 256

# A model with its state; of another task than labels also one that is asked for labels.
_Models = tuple[Member, ...]


class _Watch(NamedTuple):
    """The model that may replace the other, and what the detector has read."""

    background: _Models | None
    detector: DriftDetector
    n_since: int
    n_resets: int


class DriftResetKernel(OneModelKernel):
    """The model is executed ahead, and asked about each row right before it learns it.

    Then the detector reads its losses. What the model has done after an alarm is not used: a fresh
    one goes on from there.
    """

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        # The labels are wanted for the detector.
        self._tasks = [task] if task.method == "predict" else [task, task.asking("predict")]
        fresh = self._fresh()  # also finds out whether there can be one
        self._first_inner = self._members(estimator.estimator_) if self._is_fitted else fresh
        background = estimator.background_estimator_ if self._is_fitted else None
        self._background = None if background is None else self._members(background)
        self.bitwise = all_bitwise((*fresh, *self._first_inner, *(self._background or ())))

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse batches, and a seed of the detector that would be drawn again."""
        methods = ["predict", "predict_proba", "decision_function"]
        refused = refused_task(estimator, task, methods, one_by_one=True)
        detector = getattr(estimator, "detector_", estimator.detector)
        if refused is None and not isinstance(getattr(detector, "random_state", 0), Integral):
            return f"a detector with {value_of(detector, 'random_state')}"
        return refused

    def _members(self, model: Any) -> _Models:
        return tuple(Member.of(model, task) for task in self._tasks)

    def _fresh(self) -> _Models:
        return self._members(unfitted_copy(self.estimator.estimator))

    def _no_memory(self) -> _Watch:
        return _Watch(None, new_detector(self.estimator), 0, 0)

    def _read(self) -> _Watch:
        one = self.estimator
        detector = deepcopy(one.detector_)
        return _Watch(self._background, detector, one.n_rows_since_reset_, one.n_resets_)

    def _step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        answers, size = [], _AT_MOST
        while True:
            part = part_of(block, *next(cuts(block, size)))
            n_resets = state.memory.n_resets
            state, of_part, n_learnt = self._until_alarm(state, part)
            answers.append(of_part)
            n_asked = len(of_part)
            if n_learnt == block.n_learns and n_asked == block.n_asks:
                break
            size = _AT_FIRST if state.memory.n_resets > n_resets else min(2 * size, _AT_MOST)
            block = part_of(block, slice(n_learnt, block.n_learns), slice(n_asked, block.n_asks))
        return state, answers[0] if len(answers) == 1 else np.concatenate(answers)

    def _until_alarm(self, state: State, block: Block) -> tuple[State, NDArray[Any], int]:
        """Execute a block up to the row of an alarm.

        Returns the state after it, the answers to the asks before it, and the number of learns.
        """
        watch: _Watch = state.memory
        n_untested = rows_untested(self.estimator, watch.n_since)
        if not (state.has_learnt or self._is_fitted):
            # There is nothing yet to be asked about the first row.
            n_untested = max(n_untested, 1)
        tests = np.arange(n_untested, block.n_learns)
        models, answers, labels = _run(state.inner, block, tests)
        wrong = labels != block.y[tests] if len(tests) else np.empty(0, dtype=bool)
        found = read_until_alarm(deepcopy(watch.detector), wrong, block.n_learns)
        detector, alarm, end, n_in_zone = found
        background = self._background_after(watch.background, block, end, n_in_zone)
        if alarm:
            assert background is not None
            answers = answers[: np.searchsorted(block.stamp, end)]
            models, background = background, None
        n_since = 0 if alarm else watch.n_since + end
        after = _Watch(background, detector, n_since, watch.n_resets + alarm)
        return state.after(block, state.columns, after, models), answers, end

    def _background_after(
        self, background: _Models | None, block: Block, end: int, n_in_zone: int
    ) -> _Models | None:
        """Return the model that has learnt the rows of the warning that stands after a learn."""
        if not end:
            return background
        if not n_in_zone:
            return None
        if n_in_zone < end or background is None:
            background = self._fresh()
        rows = part_of(block, slice(end - n_in_zone, end), slice(0, 0))
        return tuple(member.step(rows)[0] for member in background)

    def _write(self, memory: _Watch) -> None:
        background = None if memory.background is None else memory.background[0].exported()
        self.estimator.background_estimator_ = background
        self.estimator.detector_ = deepcopy(memory.detector)
        self.estimator.n_resets_ = memory.n_resets
        self.estimator.n_rows_since_reset_ = memory.n_since


def _run(
    models: _Models, block: Block, tests: NDArray[np.intp]
) -> tuple[_Models, NDArray[Any], NDArray[Any]]:
    """Execute a block on a model, and ask it about some learns right before each.

    Returns the model after the block, its answers to the asks, and the labels at the tests.
    """
    if len(models) == 1:
        tested = with_tests(block, tests)
        model, came = models[0].step(tested.block)
        labels = came[tested.tests]
        return (model,), came[tested.asked], labels if labels.ndim == 1 else labels[:, 0]
    model, answers = models[0].step(block)
    tested = with_tests(part_of(block, slice(0, block.n_learns), slice(0, 0)), tests)
    other, came = models[1].step(tested.block)
    return (model, other), answers, came[tested.tests]


Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class _TemporalKernel(InnerKernel):
    """What the two have in common: the memory is labels, and there may be other answers."""

    #: Answers that it knows, as far as the inner model has them.
    _methods: tuple[str, ...] = ("predict", "predict_proba", "decision_function")

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse answers that depend on one another.

        Where every label is known before the next row is asked, none are in the place of labels.
        """
        refused = refused_task(estimator, task, cls._methods)
        if refused is not None:
            return refused
        late = task.late_labels or task.batch_size > 1
        if estimator.previous_label == "predicted" and late:
            return f"{value_of(estimator, 'previous_label')} and late labels"
        return None


class TemporallyAugmentedKernel(_TemporalKernel):
    """Shows the inner kernel each row with the labels learnt just before."""

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._key = key_of(type(self), estimator.n_lags, estimator.encoding, self._classes)

    def _no_memory(self) -> Codes:
        return np.empty(0, np.int64)

    def _read(self) -> Codes:
        codes: Codes = LabelSpace(self._classes).encode(self.estimator.previous_labels_)
        return codes

    @property
    def _own_bytes(self) -> int:
        per_lag = len(self._classes) if self.estimator.encoding == "onehot" else 1
        return 64 * int(self.estimator.n_lags) * per_lag

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if not block.n_learns and not block.n_asks:
            return state, self._inner.step(state.inner, block)[1]
        if isinstance(self._inner, LoopedModel) and not isinstance(block.learn_X, np.ndarray):
            raise Declined(self._inner.reason)  # in frames, columns are appended row by row
        columns = self._columns_after(state, block)
        extend = partial(self._with_lags, block, state.memory)
        memory, extended = block.once(self._key, state.memory, extend)
        if state.columns.number is None and block.n_learns:
            n_appended = extended.learn_X.shape[1] - block.learn_X.shape[1]
            warn_if_labels_are_dropped(self._model, extended.learn_X, n_appended)

        def remember(done: Block) -> Codes:
            return memory if done is block else self._with_lags(done, state.memory)[0]

        return self._step_inside(state, columns, block, extended, remember, np.asarray)

    def _with_lags(self, block: Block, memory: Codes) -> tuple[Codes, Block]:
        """Labels remembered after a block, and the block whose rows have those before them."""
        lags = lags_after(memory, block.y, self.estimator.n_lags)
        learnt, others, is_other = separate_rows(block)
        learnt = self._extended(learnt, lags[:-1])
        others = self._extended(others, lags[block.stamp[is_other]])
        rows, ask_index = joined_rows(learnt, others, is_other, block.stamp)
        return lags[-1][lags[-1] >= 0], showing(block, rows, rows, ask_index)

    def _extended(self, X: Any, lags: Codes) -> Any:
        return extended_by_labels(X, lags, self._classes, self.estimator)

    def _write(self, memory: Codes) -> None:
        self.estimator.previous_labels_ = self._classes[memory]


@dataclass(frozen=True, slots=True)
class _Counts:
    """Faded counts of classes and transitions, and the code learnt last (-1: none)."""

    classes: Floats
    transitions: Floats
    last: int


class TemporalCorrectionKernel(_TemporalKernel):
    """Corrects the inner kernel's probabilities by the counts at the time of each ask."""

    _methods = ("predict", "predict_proba")

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._key = key_of(type(self), estimator.fading_factor, estimator.smoothing, self._classes)

    @classmethod
    def _inner_task(cls, task: Task) -> Task:
        return task.asking("predict_proba")

    def _no_memory(self) -> _Counts:
        n = len(self._classes)
        return _Counts(np.zeros(n), np.zeros((n, n)), -1)

    def _read(self) -> _Counts:
        model = self.estimator
        last = int(LabelSpace(self._classes).encode(model.previous_labels_)[0])
        return _Counts(model.class_counts_.copy(), model.transition_counts_.copy(), last)

    def step(self, state: State, block: Block) -> tuple[State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        columns = self._columns_after(state, block)
        # They depend on labels, whichever model is corrected.
        count = partial(self._corrections, block, state.memory)
        labels = block.y, block.stamp, block.weight
        factors, counts = block.once(self._key, state.memory, count, labels)

        def remember(done: Block) -> _Counts:
            return counts if done is block else self._corrections(done, state.memory)[1]

        def answer(posterior: Floats) -> NDArray[Any]:
            shares = corrected(posterior, factors[: len(posterior)])
            return answers_to(self.task, partial(best_or_all, shares))

        return self._step_inside(state, columns, block, block, remember, answer)

    def _corrections(self, block: Block, counts: _Counts) -> tuple[Floats, _Counts]:
        """Factors of probabilities by the counts at their time, and the counts after the block."""
        classes, transitions = counts.classes.copy(), counts.transitions.copy()
        given, prior = np.empty((2, block.n_asks, len(classes)))
        codes = block.y.astype(np.int64, copy=False)
        learns, fading = (codes, block.weights, block.stamp), float(self.estimator.fading_factor)
        last = count_labels(*learns, fading, classes, transitions, counts.last, given, prior)
        factors = corrections(given, prior, self.estimator.smoothing)
        return factors, _Counts(classes, transitions, int(last))

    def _write(self, memory: _Counts) -> None:
        self.estimator.class_counts_ = memory.classes.copy()
        self.estimator.transition_counts_ = memory.transitions.copy()
        self.estimator.previous_labels_ = self._classes[[memory.last]]
