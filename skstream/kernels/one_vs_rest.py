"""Kernel of one-against-the-rest classification, by way of a kernel for every class."""

from copy import deepcopy
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.preprocessing import LabelBinarizer

from skstream.core.engine.answers import Task, answers_to
from skstream.core.engine.block import Block, part_of
from skstream.core.engine.kernel import Declined, Kernel
from skstream.kernels.inner import Member, all_bitwise, most_row_bytes
from skstream.kernels.input import class_labels, refused_task
from skstream.utils._rows import own_rows, take_rows
from skstream.utils._validation import is_fitted

Floats = NDArray[np.float64]

# Scores of two classes that are as close as this are asked of scikit-learn itself: kernels may sum
# them in another order.
_NEAR = 1e-9
_SCORES = ("decision_function", "predict_proba")


class _State(NamedTuple):
    """Which classes have been learnt, and the inner kernels, for each method that is asked.

    `seen` is None where models of classes without a row may differ: they were fitted before.
    """

    has_learnt: bool
    seen: tuple[bool, ...] | None
    inner: tuple[tuple[Member, ...], ...]


class OneVsRestKernel(Kernel):
    """One inner kernel per class learns its own class against all; of two classes the second."""

    gives_scores = True

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        self._classes = class_labels(task)
        self._own_classes = [1] if len(self._classes) == 2 else list(range(len(self._classes)))
        if is_fitted(estimator):
            self._models = list(estimator.estimators_)
        else:
            try:
                self._models = [clone(estimator.estimator) for _ in self._own_classes]
            except TypeError as error:  # for the loop to explain
                raise Declined("a model that cannot be cloned has no kernel") from error
        self._method = task.method if task.method != "predict" else _score_of(self._models[0])
        methods = dict.fromkeys([self._method, task.scores or self._method])
        inner = replace(task, classes=np.array((0, 1)))
        self._inner = tuple(
            tuple(Member.of(model, inner.asking(method)) for model in self._models)
            for method in methods
        )
        self.bitwise = all_bitwise(chain.from_iterable(self._inner))

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse a single class, and regressors inside."""
        methods = ["predict", *(name for name in _SCORES if hasattr(estimator, name))]
        refused = refused_task(estimator, task, methods)
        if refused is not None:
            return refused
        if task.classes is None or len(task.classes) < 2:
            return "a single class"
        if is_regressor(estimator.estimator):
            return "a regressor"
        if _binarizer(task) is None:
            return "labels that it refuses"
        known = not is_fitted(estimator) or _can_be_taken_up(estimator, task)
        return None if known else "a fitted state of another kind than partial_fit leaves"

    def initial_state(self) -> _State:
        """Return what the models of all classes have learnt."""
        fitted = is_fitted(self.estimator)
        seen = None if fitted or len(self._classes) == 2 else (False,) * len(self._classes)
        return _State(fitted, seen, self._inner)

    def row_bytes(self, state: _State) -> int | None:
        """That of one model after the other, and of the scores of all."""
        most = most_row_bytes(list(chain.from_iterable(state.inner)))
        return None if most is None else most + 64 * len(self._models) * len(state.inner)

    def step(self, state: _State, block: Block) -> tuple[_State, NDArray[Any]]:
        """Execute a block; return the state after it, and the answers to its asks in order."""
        if block.weight is not None:
            raise Declined("weights have no kernel in OneVsRestClassifier")
        inner, scores = [], []
        for members in state.inner:
            pairs = zip(self._own_classes, members, strict=True)
            ran = [member.step(_against_the_rest(block, k)) for k, member in pairs]
            inner.append(tuple(member for member, _ in ran))
            columns = [one if one.ndim == 1 else one[:, 1] for _, one in ran]
            scores.append(np.ascontiguousarray(np.array(columns).T))
        compared = scores[0]
        if self.task.method == "predict" and self.bitwise:
            compared = compared.copy()
            self._settle(compared, state, block)
        seen = state.seen
        if seen is not None:
            present = np.isin(np.arange(len(seen)), block.y)
            seen = tuple(bool(one) for one in present | np.array(seen))
        learnt = _State(state.has_learnt or block.n_learns > 0, seen, tuple(inner))

        def answer(task: Task) -> NDArray[Any]:
            return self._answers(compared if task.method == self.task.method else scores[-1], task)

        return learnt, answers_to(self.task, answer)

    def export(self, state: _State) -> None:
        """Write the fitted attributes into the estimator."""
        if not state.has_learnt:
            return
        estimator = self.estimator
        estimator.estimators_ = [member.exported() for member in state.inner[0]]
        if not hasattr(estimator, "label_binarizer_"):
            estimator.classes_ = self._classes.copy()
            estimator.label_binarizer_ = _binarizer(self.task)
        if hasattr(self._models[0], "n_features_in_"):
            estimator.n_features_in_ = self._models[0].n_features_in_

    def _answers(self, scores: Floats, task: Task) -> NDArray[Any]:
        """Answers by the scores of all classes, as scikit-learn makes them of single rows."""
        scores = scores.astype(np.float64, copy=False)
        if task.method == "decision_function":
            return scores[:, 0] if scores.shape[1] == 1 else scores
        if task.method == "predict_proba":
            if scores.shape[1] == 1:
                scores = np.concatenate((1 - scores, scores), axis=1)
            total = np.sum(scores, axis=1)[:, np.newaxis]
            return np.divide(scores, total, out=scores, where=total != 0)
        if scores.shape[1] == 1:
            return (scores[:, 0] > self._threshold).astype(np.int64)
        best = np.full(len(scores), -np.inf)
        codes = np.zeros(len(scores), dtype=np.int64)
        for k in reversed(range(scores.shape[1])):  # NaN, too, is taken as scikit-learn takes it
            np.maximum(best, scores[:, k], out=best)
            codes[best == scores[:, k]] = k
        return codes

    @property
    def _threshold(self) -> float:
        """Score above which a row is of the second of two classes."""
        return 0.0 if self._method == "decision_function" else 0.5

    def _settle(self, scores: Floats, state: _State, block: Block) -> None:
        """Replace scores that nearly tie by those of the models themselves, as they were then."""
        if scores.shape[1] == 1:
            scored = np.hstack([np.full_like(scores, self._threshold), scores])
            near = np.flatnonzero(_is_near(scored))
        else:
            first_learns = _first_learns(state.seen, block)
            near = np.flatnonzero(_is_near(_of_different_models(scores, first_learns, block.stamp)))
        if not len(near):
            return
        members, done = deepcopy(list(state.inner[0])), 0
        for ask in near.tolist():
            until = int(block.stamp[ask])
            row = own_rows(take_rows(block.ask_X, block.ask_index[ask : ask + 1]))
            learnt = part_of(block, slice(done, until), slice(ask, ask))
            for place, k in enumerate(self._own_classes):
                if until > done:
                    members[place], _ = members[place].step(_against_the_rest(learnt, k))
                values = np.asarray(getattr(members[place].exported(), self._method)(row))
                scores[ask, place] = values[0, 1] if values.ndim == 2 else values[0]
            done = until


def _score_of(model: Any) -> str:
    """Name of the method whose values scikit-learn compares."""
    return next((name for name in _SCORES if hasattr(model, name)), _SCORES[1])


def _against_the_rest(block: Block, k: int) -> Block:
    """Block whose labels are 1 where they are class `k`, and 0 elsewhere."""
    return replace(block, y=(block.y == k).astype(np.int64), shared=None)


def _first_learns(seen: tuple[bool, ...] | None, block: Block) -> NDArray[np.int64] | None:
    """How many rows of a block are learnt until each class has been seen; None: not known."""
    if seen is None:
        return None
    first = np.where(seen, 0, block.n_learns + 1)
    classes, at = np.unique(block.y, return_index=True)
    first[classes] = np.minimum(first[classes], at + 1)
    return first


def _of_different_models(
    scores: Floats, first_learns: NDArray[np.int64] | None, stamp: NDArray[np.int64]
) -> Floats:
    """Scores with -inf for models that are the same as another: of classes not learnt so far."""
    if first_learns is None:
        return scores
    unseen = first_learns > stamp[:, np.newaxis]
    place = np.arange(len(scores)), unseen.argmax(axis=1)
    repeated = unseen & (scores == scores[place][:, np.newaxis])
    repeated[place] = False
    return np.where(repeated, -np.inf, scores)


def _is_near(scores: Floats) -> NDArray[np.bool_]:
    """Which rows have two best scores that other sums might put in another order."""
    best = np.partition(scores, -2, axis=1)[:, -2:].astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = best[:, 1] - best[:, 0]
        return apart <= _NEAR * np.maximum(1.0, np.abs(best[:, 1]))


def _binarizer(task: Task) -> LabelBinarizer | None:
    """What scikit-learn turns labels into columns with; None where it refuses them."""
    try:
        classes = class_labels(task)
        binarizer = LabelBinarizer(sparse_output=True).fit(classes)
        codes = [[0], [1]] if len(classes) == 2 else np.eye(len(classes))
        is_known = np.array_equal(binarizer.transform(classes).toarray(), codes)
    except (TypeError, ValueError):
        return None
    return binarizer if is_known and binarizer.y_type_ == _kind_of_labels(task) else None


def _kind_of_labels(task: Task) -> str:
    return "binary" if len(class_labels(task)) == 2 else "multiclass"


def _can_be_taken_up(estimator: Any, task: Task) -> bool:
    """Whether a fitted state has one model of two classes for each class."""
    binarizer = getattr(estimator, "label_binarizer_", None)
    models = getattr(estimator, "estimators_", None)
    classes = class_labels(task)
    n_models = len(classes) if len(classes) > 2 else 1
    return (
        getattr(binarizer, "y_type_", None) == _kind_of_labels(task)
        and np.array_equal(getattr(binarizer, "classes_", ()), classes)
        and isinstance(models, list)
        and len(models) == n_models
        and len({id(model) for model in models}) == len(models)
        and {type(model) for model in models} == {type(estimator.estimator)}
    )
