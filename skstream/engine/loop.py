"""The generic path: the model's own ``predict`` and ``partial_fit``, call by call."""

from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from skstream.base import asks_row_by_row, learner
from skstream.engine.block import Block, take_rows
from skstream.engine.kernels import Task
from skstream.utils._labels import encode_labels
from skstream.utils._validation import is_fitted


class LoopFailed(Exception):
    """A model raised an error; says at which ask or learn of the block."""

    def __init__(self, action: str, index: int):
        super().__init__(action, index)
        self.action = action
        self.index = index


class Loop:
    """Executes blocks on any estimator, exactly as a careful user would by hand."""

    def __init__(self, estimator: Any, task: Task):
        self.estimator = estimator
        self.task = task
        self.seconds_asking = 0.0
        self.seconds_learning = 0.0
        self._learn = learner(estimator)
        self._one_row_per_call = asks_row_by_row(estimator)
        self._classes = None if is_fitted(estimator) else task.classes

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_learn"]  # a bound callable: made anew
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._learn = learner(self.estimator)

    def run(self, block: Block) -> np.ndarray:
        """Execute the block and return the answers to its asks, in their order."""
        asks = self._ask_bounds(block)
        stamps = block.stamp[asks[:-1]].tolist() if block.n_asks else []
        bounds = asks.tolist()
        learns = range(block.n_learns + 1) if block.batches is None else block.batches.tolist()
        labels = self._labels(block)
        answers: list[np.ndarray] = []
        done = 0
        for begin, end in pairwise(learns):
            while done < len(stamps) and stamps[done] <= begin:
                answers.append(self._ask(block, bounds[done], bounds[done + 1]))
                done += 1
            self._learn_rows(block, labels, begin, end)
        while done < len(stamps):
            answers.append(self._ask(block, bounds[done], bounds[done + 1]))
            done += 1
        return self._codes(answers)

    def _ask_bounds(self, block: Block) -> np.ndarray:
        if block.groups is None or self._one_row_per_call:
            return np.arange(block.n_asks + 1)
        return block.groups

    def _labels(self, block: Block) -> np.ndarray:
        return block.y if self.task.classes is None else self.task.classes[block.y]

    def _ask(self, block: Block, begin: int, end: int) -> np.ndarray:
        rows = _slice_rows(block.ask_X, block.ask_index, begin, end)
        started = perf_counter()
        try:
            answer = getattr(self.estimator, self.task.method)(rows)
        except Exception as error:
            raise LoopFailed("answering", begin) from error
        self.seconds_asking += perf_counter() - started
        return np.asarray(answer)

    def _learn_rows(self, block: Block, labels: np.ndarray, begin: int, end: int) -> None:
        rows = _slice_rows(block.learn_X, block.learn_index, begin, end)
        weight = None if block.weight is None else block.weight[begin:end]
        started = perf_counter()
        try:
            self._learn(rows, labels[begin:end], weight, self._classes)
        except Exception as error:
            raise LoopFailed("learning", begin) from error
        self.seconds_learning += perf_counter() - started
        self._classes = None

    def _codes(self, answers: list[np.ndarray]) -> np.ndarray:
        task = self.task
        if not answers:
            return no_answers(task)
        joined = np.concatenate(answers)
        if task.method != "predict":
            return joined.astype(np.float64, copy=False)
        if task.classes is None:
            return joined.astype(np.float64, copy=False).reshape(len(joined))
        return encode_labels(joined, task.classes)


def no_answers(task: Task, n: int = 0) -> np.ndarray:
    """`n` answers of a model that has learnt nothing: code -1, or NaN."""
    if task.method == "predict" and task.classes is not None:
        return np.full(n, -1, dtype=np.int64)
    if task.method == "predict_proba" and task.classes is not None:
        return np.full((n, len(task.classes)), np.nan)
    if task.method == "decision_function" and task.classes is not None and len(task.classes) > 2:
        return np.full((n, len(task.classes)), np.nan)
    return np.full(n, np.nan)


def _slice_rows(X: Any, index: np.ndarray, begin: int, end: int) -> Any:
    if end - begin == 1:
        row = int(index[begin])
        return X.iloc[row : row + 1] if hasattr(X, "iloc") else X[row : row + 1]
    return take_rows(X, index[begin:end])
