"""Labels and scores at once: those of two runs that ask for one of them each."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, is_regressor

from skstream.core.engine.answers import BadAnswer, no_answers, with_scores
from skstream.core.engine.block import Block
from skstream.core.engine.loop import Loop, LoopFailed
from skstream.core.engine.run import ModelRun
from skstream.kernels import Declined, Kernel, Task, kernel_of, registry
from skstream.kernels.linear import kernel as _linear
from tests.kernels._reference import cut, make_block, running
from tests.kernels.test_states import CASES
from tests.kernels.test_support_table import classes_for, name_of

METHODS = ("predict_proba", "decision_function")


def has_kernel(model: Any, task: Task) -> bool:
    try:
        registry.find_kernel(copy.deepcopy(model), task)
    except Declined:
        return False
    return True


def all_tasks() -> list[tuple[int, Task]]:
    """Every type of classifier with a kernel, with each kind of score that it has."""
    found, seen = [], set()
    for place, (model, X) in enumerate(CASES):
        if not hasattr(model, "predict") or is_regressor(model):
            continue
        if not isinstance(X, np.ndarray | sparse.sparray | sparse.spmatrix) or X.ndim == 1:
            continue
        if (kind := (type(model), sparse.issparse(X))) in seen:
            continue
        seen.add(kind)
        two = classes_for(model)
        methods = [method for method in METHODS if hasattr(model, method)]
        for classes in [two] if two[0] else [two, np.arange(3)]:
            found += [(place, Task(classes, scores=method)) for method in methods]
    return found


TASKS = all_tasks()


def name_of_task(case: tuple[int, Task]) -> str:
    place, task = case
    assert task.classes is not None
    return f"{place}-{name_of(CASES[place][0])}-{task.scores}-{len(task.classes)}"


def block_for(place: int, task: Task) -> Block:
    rng = np.random.default_rng(place)
    assert task.classes is not None
    return make_block(CASES[place][1][:40], rng.integers(0, len(task.classes), 20), "polls", rng)


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", TASKS, ids=map(name_of_task, TASKS))
def test_a_kernel_gives_both_as_it_gives_each(case, monkeypatch):
    monkeypatch.setattr(_linear, "UNCOMPILED_FEATURES", np.inf)
    place, task = case
    model, block = CASES[place][0], block_for(*case)
    if not all(has_kernel(model, alone) for alone in task.alone()):
        assert not has_kernel(model, task)
        return
    both = running(copy.deepcopy(model), task)
    parts = cut(block, [7, 20])
    answers = np.concatenate([both.run(part) for part in parts])
    one, other = (running(copy.deepcopy(model), alone) for alone in task.alone())
    codes, values = one.run(block), other.run(block)
    assert answers.dtype == np.float64 and answers.shape == (block.n_asks, 1 + task.n_scores)
    np.testing.assert_array_equal(answers[:, 0], codes)
    expected = with_scores(codes, values, task)
    if both.bitwise:
        np.testing.assert_array_equal(answers, expected)
    else:
        np.testing.assert_allclose(answers, expected, rtol=1e-9, atol=1e-12)
    if task.n_scores == 1 and task.scores == "predict_proba":
        np.testing.assert_array_equal(expected[:, 1], values[:, 1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", TASKS[:20:3], ids=map(name_of_task, TASKS[:20:3]))
def test_the_loop_gives_both_as_it_gives_each(case: tuple[int, Task]) -> None:
    place, task = case
    model, block = CASES[place][0], block_for(*case)
    answers = Loop(copy.deepcopy(model), task).run(block)
    one, other = (Loop(copy.deepcopy(model), alone).run(block) for alone in task.alone())
    np.testing.assert_array_equal(answers, with_scores(one, other, task))


class Counting(ClassifierMixin, BaseEstimator):
    """Says class 0 always, with the share of class 1 among the rows learnt."""

    def __init__(self, shares: Any = None):
        self.shares = shares

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Counting":
        if classes is not None:
            self.classes_, self.n_, self.n_of_last_ = np.asarray(classes), 0, 0
        self.n_ += len(y)
        self.n_of_last_ += int((y == self.classes_[-1]).sum())
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X: Any) -> Any:
        if self.shares is not None and self.n_ == 5:
            return np.array([self.shares] * len(X))
        share = self.n_of_last_ / self.n_
        return np.array([[1 - share, share]] * len(X))


class CountingKernel(Kernel):
    """Knows one kind of answer at a time."""

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        assert task.scores is None
        return None

    def initial_state(self) -> Any:
        return 0

    def step(self, state: Any, block: Block) -> Any:
        return state, np.zeros(block.n_asks, np.int64)

    def export(self, state: Any) -> None:
        pass


def test_a_kernel_that_knows_one_kind_leaves_both_to_the_loop(monkeypatch: Any) -> None:
    monkeypatch.setattr(registry, "_MODELS", dict(registry._MODELS))
    kernel_of(Counting)(CountingKernel)
    task = Task(np.array(["a", "b"]), scores="predict_proba")
    assert registry.find_kernel(Counting(), task.asking("predict"))
    with pytest.raises(Declined, match="the kernel of Counting gives no predict_proba beside lab"):
        registry.find_kernel(Counting(), task)


def run_model(shares: Any, unanswered: Any = "error") -> tuple[ModelRun, np.ndarray]:
    model = ModelRun(
        "m", 0, Counting(shares), Task(np.arange(2), scores="predict_proba"), unanswered=unanswered
    )
    rows = np.arange(10)
    block = make_block(np.zeros((10, 1)), rows % 2, "prequential", np.random.default_rng(0))
    return model, model.run(replace(block, learn_rows=rows, ask_rows=rows[1:]))


@pytest.mark.parametrize("shares", [[-0.5, 1.5], [0.5, 0.6], [0.1, 0.2, 0.7]])
@pytest.mark.parametrize("unanswered", ["error", "wrong"])
def test_what_are_no_probabilities_is_an_error_with_its_row(shares: Any, unanswered: Any) -> None:
    model, answers = run_model(shares, unanswered)
    assert "row 5" in str(model.failure) and "predict_proba" in str(model.failure)
    if len(shares) == 2:
        assert str(shares) in str(model.failure)
    assert (answers[:4, 0] == 0).all() and np.isfinite(answers[:4, 1]).all()
    np.testing.assert_array_equal(answers[4:], no_answers(model.task, 5))


def test_no_probabilities_beside_a_label_are_no_answer() -> None:
    model, answers = run_model([np.nan, np.nan])
    assert "row 5" in str(model.failure) and "gave NaN" in str(model.failure)
    model, answers = run_model([np.nan, np.nan], "wrong")
    assert model.failure is None and model.n_unanswered == 1
    np.testing.assert_array_equal(answers[4], [-2, np.nan])
    assert (answers[5:, 0] == 0).all()


def test_rounding_of_lower_precision_is_no_error() -> None:
    task = Task(np.arange(3), scores="predict_proba")
    third = np.full((2, 3), np.float32(0.33333))
    np.testing.assert_array_equal(with_scores(np.zeros(2), third, task)[:, 1:], third)
    with pytest.raises(BadAnswer, match="sum to one"):
        with_scores(np.zeros(2), third * 0.9, task)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounded_probabilities_are_made_to_sum_to_one(dtype: type) -> None:
    task = Task(np.arange(3), scores="predict_proba")
    exact = np.random.default_rng(0).dirichlet(np.ones(3), 50).astype(dtype)
    rounded = np.floor(exact * 1000) / 1000
    above = exact.copy()
    above[7] = [1.0000001, -0.0005, 0.0]
    above[8] = np.nan
    for table in (rounded, above):
        with pytest.warns(UserWarning, match="they are normalised"):
            answers = with_scores(np.zeros(50), table, task)[:, 1:]
        given = ~np.isnan(table).any(axis=1)
        assert np.isnan(answers[~given]).all()
        np.testing.assert_allclose(answers[given].sum(axis=1), 1.0, atol=4e-4)
        np.testing.assert_allclose(answers[given], table[given], atol=0.01)
        assert answers[given].min() >= 0.0 and answers[given].max() <= 1.0
    np.testing.assert_array_equal(answers[:7], above[:7])  # those that are right stay as they are


def test_decision_values_in_two_columns_are_one() -> None:
    task = Task(np.arange(2), scores="decision_function")
    answers = with_scores(np.array([0, 1]), np.array([[3.0, 1.0], [0.0, 2.0]]), task)
    np.testing.assert_array_equal(answers, [[0, -2], [1, 2]])


def test_an_unknown_label_beside_scores_is_an_error_at_its_row() -> None:
    class Wrong(Counting):
        def predict(self, X: Any) -> Any:
            return np.full(len(X), 7 if self.n_ == 5 else 0)

    block = make_block(
        np.zeros((10, 1)), np.arange(10) % 2, "prequential", np.random.default_rng(0)
    )
    with pytest.raises(LoopFailed) as caught:
        Loop(Wrong(), Task(np.arange(2), scores="predict_proba")).run(block)
    assert caught.value.index == 4 and "7" in str(caught.value.__cause__)
