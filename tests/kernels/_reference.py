"""Kernels against the plain loop: blocks of every kind, a literal executor, comparisons."""

import copy
import itertools
import pickle
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from skstream.base import accepts_classes, supports_sample_weight
from skstream.core.engine.block import Block
from skstream.kernels import (
    Declined,
    Kernel,
    Task,
    TransformKernel,
    make_kernel,
    make_transform_kernel,
)
from skstream.refit import Progress, last_rows
from skstream.utils._rows import is_frame, own_rows, take_rows

TIMELINES = ("prequential", "delayed", "polls", "holdout", "bootstrap")


def make_block(
    X: Any, y: np.ndarray, timeline: str, rng: np.random.Generator, weight: np.ndarray | None = None
) -> Block:
    """Learns and asks about stored rows; nothing is asked before something has been learnt.

    Parameters
    ----------
    X, y : rows and their codes or targets
    timeline : one of `TIMELINES`
        "prequential": each row asked, then learnt. "delayed": learnt later, out of order.
        "polls": delayed, and asked again and again. "holdout": a tenth of the rows asked
        now and then, the others learnt. "bootstrap": only some rows are learnt.
    rng : numpy.random.Generator
    weight : ndarray of shape (n_rows,), default=None
    """
    n = len(y)
    rows = np.arange(n)
    asked = [(t, 0, t) for t in rows[1:]]
    learnt = [(t, 1, t) for t in rows]
    if timeline in ("delayed", "polls"):
        label_time = rows + rng.integers(0, max(n // 4, 2), n)
        label_time[0] = 0
        learnt = [(label_time[t], 1, t) for t in rows if rng.random() < 0.9 or t == 0]
    if timeline == "polls":
        asked += [(t, 0, rng.integers(0, t)) for t in rows[1:] for _ in range(rng.integers(0, 4))]
    if timeline == "holdout":
        held_out = rows[: max(n // 10, 1)]
        learnt = [(t, 1, t) for t in rows[len(held_out) :]]
        asked = [(t, 2, h) for t in rows[len(held_out) :: max(n // 5, 1)] for h in held_out]
    if timeline == "bootstrap":
        learnt = [(t, 1, t) for t in rows if rng.random() < 0.6 or t == 0]
    events = sorted(asked + learnt, key=lambda event: event[:2])
    is_learn = np.array([event[1] == 1 for event in events], dtype=bool)
    row = np.array([event[2] for event in events], dtype=np.intp)
    learn_index = row[is_learn]
    stamp = np.cumsum(is_learn)[~is_learn]
    return Block(
        learn_X=X,
        learn_index=learn_index,
        y=y[learn_index],
        weight=None if weight is None else weight[learn_index],
        ask_X=X,
        ask_index=row[~is_learn],
        stamp=stamp.astype(np.int64),
    )


def prequential_block(X: Any, codes: np.ndarray) -> Block:
    """Rows that are each asked, but for the first, and then learnt."""
    index = np.arange(len(codes))
    return Block(X, index, codes, None, X, index[1:], index[1:])


def cut(block: Block, positions: Sequence[int], *, own_storage: bool = False) -> list[Block]:
    """Cut a block into consecutive ones at positions in the order of its learns and asks.

    With `own_storage`, every part has storage of its own, one for learns and one for asks.
    """
    learn_order = np.arange(block.n_learns) + np.searchsorted(
        block.stamp, np.arange(block.n_learns), side="right"
    )
    ask_order = block.stamp + np.arange(block.n_asks)
    parts = []
    bounds = [0, *sorted(positions), block.n_learns + block.n_asks]
    for begin, end in itertools.pairwise(bounds):
        first, last = np.searchsorted(learn_order, [begin, end])
        ask, stop = np.searchsorted(ask_order, [begin, end])
        part = replace(
            block,
            learn_index=block.learn_index[first:last],
            y=block.y[first:last],
            weight=None if block.weight is None else block.weight[first:last],
            ask_index=block.ask_index[ask:stop],
            stamp=block.stamp[ask:stop] - first,
        )
        if own_storage:
            part = replace(
                part,
                learn_X=take_rows(part.learn_X, part.learn_index),
                learn_index=np.arange(last - first),
                ask_X=take_rows(part.ask_X, part.ask_index),
                ask_index=np.arange(stop - ask),
            )
        parts.append(part)
    return parts


def run_literally(estimator: Any, block: Block, task: Task, also: str | None = None) -> Any:
    """Answers of the estimator itself, asked and taught one row at a time.

    With `also`, the values of that method at every ask too (the scores behind the answers).
    """
    answers: list[Any] = []
    others: list[Any] = []
    told = hasattr(estimator, "classes_") or not accepts_classes(estimator)
    classes = None if told else task.classes
    weighted, learnt = supports_sample_weight(estimator), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for ask in range(block.n_asks + 1):
            until = block.n_learns if ask == block.n_asks else block.stamp[ask]
            while learnt < until:
                rows = _one_row(block.learn_X, block.learn_index[learnt])
                y = block.y[learnt : learnt + 1]
                known: dict[str, Any] = {} if classes is None else {"classes": classes}
                if block.weight is not None and weighted:
                    known["sample_weight"] = block.weight[learnt : learnt + 1]
                elif block.weight is not None:  # the row, repeated
                    times = np.zeros(int(block.weight[learnt]), dtype=int)
                    rows, y = rows[times], y[times]
                estimator.partial_fit(rows, y if task.classes is None else task.classes[y], **known)
                classes = None
                learnt += 1
            if ask < block.n_asks:
                rows = _one_row(block.ask_X, block.ask_index[ask])
                answers.append(getattr(estimator, task.method)(rows)[0])
                if also is not None:
                    others.append(getattr(estimator, also)(rows)[0])
    answer = np.array(answers)
    if task.method == "predict" and task.classes is not None:
        known = np.array([one is not None for one in answers], dtype=bool)
        codes = np.full(len(answers), -1)
        codes[known] = np.searchsorted(task.classes, answer[known].astype(task.classes.dtype))
        answer = codes
    return answer if also is None else (answer, np.array(others))


def _one_row(X: Any, row: int) -> Any:
    """A row as the loop shows it."""
    return own_rows(X.iloc[row : row + 1] if hasattr(X, "iloc") else X[row : row + 1])


class Running:
    """A kernel, and the state that whoever runs it keeps."""

    def __init__(self, kernel: Kernel | TransformKernel):
        self.kernel = kernel
        self.state = kernel.initial_state()

    @property
    def estimator(self) -> Any:
        """The estimator that the kernel executes."""
        return self.kernel.estimator

    @property
    def bitwise(self) -> bool:
        """Whether the kernel of a model agrees to the last bit."""
        return self.kernel.bitwise

    def run(self, block: Block) -> Any:
        """Answers to a block, or the block that comes out of a transformer; go on from there."""
        self.state, answers = self.kernel.step(self.state, block)
        return answers

    def export(self) -> None:
        """Write the fitted attributes."""
        self.kernel.export(self.state)


def running(estimator: Any, task: Task) -> Running:
    """Kernel of a model that has one."""
    kernel = make_kernel(estimator, task)
    assert kernel is not None
    return Running(kernel)


def running_transformer(transformer: Any, task: Task) -> Running:
    """Kernel of a transformer that has one."""
    kernel = make_transform_kernel(transformer, task)
    assert kernel is not None
    return Running(kernel)


def run_kernel(kernel: Running, blocks: Sequence[Block]) -> np.ndarray:
    """Answers of a kernel to consecutive blocks."""
    return np.concatenate([kernel.run(block) for block in blocks])


def random_cuts(block: Block, rng: np.random.Generator) -> list[int]:
    """Positions for `cut`: none, a few, or all of them."""
    n = block.n_learns + block.n_asks
    number = rng.choice([0, 1, 3, 10, n - 1])
    return sorted(rng.integers(0, n, number).tolist()) if number < n - 1 else list(range(1, n))


def assert_same_labels(answers: np.ndarray, expected: np.ndarray, scores: np.ndarray) -> None:
    """Equal codes, unless the two best scores agree within 1e-9."""
    different = np.flatnonzero(answers != expected)
    for i in different:
        best = np.sort(scores[i])[-2:]
        assert best[1] - best[0] <= 1e-9 * max(1.0, abs(best[1])), (
            f"ask {i}: {answers[i]} instead of {expected[i]}, scores {scores[i]}"
        )


def assert_same_probabilities(
    answers: np.ndarray, expected: np.ndarray, scores: np.ndarray
) -> None:
    """Probabilities as close as scores (their logarithms) that agree within 1e-9."""
    size = np.abs(np.where(np.isfinite(scores), scores, 0.0)).max(axis=1, initial=1.0)
    np.testing.assert_array_equal(np.isnan(answers), np.isnan(expected))
    difference = np.nan_to_num(np.abs(answers - expected))
    assert (difference <= 1e-9 * size[:, None]).all()


def assert_same_state(
    actual: Any, expected: Any, *, rtol: float = 0.0, atol: float | None = None
) -> None:
    """Same attributes of the same types; numbers equal, or within the tolerances."""
    if isinstance(expected, list):
        for one, other in zip(actual, expected, strict=True):
            assert_same_state(one, other, rtol=rtol, atol=atol)
        return
    found, wanted = vars(actual), vars(expected)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        _assert_same(found[name], value, name, rtol, rtol if atol is None else atol)


def _assert_same(actual: Any, expected: Any, name: str, rtol: float, atol: float) -> None:
    assert type(actual) is type(expected), f"{name} is a {type(actual)}, not {type(expected)}"
    if isinstance(expected, Progress):  # calls of other sizes leave other parts
        actual, expected = (
            one._replace(window=last_rows(one.window, None) if one.window else None, seconds=0.0)
            for one in (actual, expected)
        )
        actual, expected = tuple(actual), tuple(expected)
    if is_frame(expected):
        assert actual.equals(expected), name
    elif sparse.issparse(expected):
        assert (actual != expected).nnz == 0, name
    elif isinstance(expected, list | tuple):
        for one, other in zip(actual, expected, strict=True):
            _assert_same(one, other, name, rtol, atol)
    elif isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype and actual.shape == expected.shape, name
        if expected.dtype.kind == "O":  # perhaps of arrays
            _assert_same(actual.tolist(), expected.tolist(), name, rtol, atol)
        elif expected.dtype.kind != "f" or not rtol:
            np.testing.assert_array_equal(actual, expected, err_msg=name)
        else:
            np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol, err_msg=name)
    elif hasattr(expected, "get_params"):
        assert_same_state(actual, expected, rtol=rtol, atol=atol)
    elif isinstance(expected, float | np.floating):
        assert np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True), name
    elif type(expected).__eq__ is object.__eq__:  # such as scikit-learn's compiled losses
        assert pickle.dumps(actual) == pickle.dumps(expected), name
    else:
        assert actual == expected, name


def assert_equals_loop(
    model: Any,
    block: Block,
    task: Task,
    cuts: Sequence[int] = (),
    *,
    scores: str | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
    state_rtol: float | None = 0.0,
) -> tuple[Running, Any]:
    """The kernel, with the block cut at `cuts`, has the answers and attributes of the loop.

    Parameters
    ----------
    scores : str, default=None
        Method whose values decide: where the best two tie, labels may differ.
    rtol, atol, state_rtol : tolerances of answers that are no labels, and of attributes
        With a `state_rtol` of None, attributes may differ where the kernel is not bitwise.

    Returns
    -------
    kernel, literal : the kernel that ran, and the model that was looped
    """
    literal, kernel = twin(model), running(twin(model), task)
    expected = run_literally(literal, block, task, scores)
    answers = run_kernel(kernel, cut(block, cuts))
    kernel.export()
    is_label = task.method == "predict" and task.classes is not None
    if scores is not None and is_label:
        assert_same_labels(answers, *expected)
    else:
        expected = expected if scores is None else expected[0]
        assert answers.shape == expected.shape
        tolerances = (0.0, 0.0) if is_label else (rtol, atol)
        np.testing.assert_allclose(answers, expected, *tolerances)
    if state_rtol is None:
        state_rtol = 0.0 if kernel.bitwise else 1e-9
    assert_same_state(kernel.estimator, literal, rtol=state_rtol)
    return kernel, literal


def assert_bayes_equals_loop(
    model: Any, block: Block, task: Task, rng: np.random.Generator
) -> tuple[Running, Any]:
    """The same for naive Bayes: probabilities as close as their logarithms, and random cuts."""
    literal, kernel = twin(model), running(twin(model), task)
    expected, scores = run_literally(literal, block, task, "predict_joint_log_proba")
    answers = kernel.run(block)
    if task.method == "predict":
        assert_same_labels(answers, expected, scores)
    elif block.n_asks:
        assert_same_probabilities(answers, expected, scores)
    kernel.export()
    assert_same_state(kernel.estimator, literal, rtol=1e-9, atol=1e-300)
    pieces = running(twin(model), task)
    parts = cut(block, random_cuts(block, rng), own_storage=rng.random() < 0.5)
    np.testing.assert_array_equal(run_kernel(pieces, parts), answers)
    pieces.export()
    assert_same_state(pieces.estimator, kernel.estimator)
    return kernel, literal


def random_weights(rng: np.random.Generator, n: int, kind: str) -> np.ndarray | None:
    """Weights of the "whole" numbers, of "any" size, or "none"."""
    if kind == "none":
        return None
    return rng.integers(1, 5, n) * 1.0 if kind == "whole" else rng.random(n) * 3 + 0.01


def assert_untouched(kernel: Running, before: Any) -> None:
    """The state is bit for bit an earlier one."""
    _assert_identical(kernel.state, before)


def _assert_identical(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, tuple | list):
        names = getattr(one, "_fields", range(len(one)))
        for name, a, b in zip(names, one, other, strict=True):
            if name != "has_learnt":  # what this kernel has done
                _assert_identical(a, b)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            _assert_identical(one[name], other[name])
    elif hasattr(one, "__dict__"):
        _assert_identical(vars(one), vars(other))
    elif hasattr(type(one), "__slots__"):
        for name in type(one).__slots__:
            _assert_identical(getattr(one, name), getattr(other, name))
    else:
        assert one == other


def both_ways(evaluator: Any, models: Any, *data: Any, **options: Any) -> list[Any]:
    """Results of a model, "m", or of several, with kernels where there are any, and by the loop."""
    models = models if isinstance(models, dict) else {"m": models}
    options = {"return_models": True, **options}
    return [
        clone(evaluator)
        .set_params(run__kernels=engine == "auto")
        .evaluate(models, *data, **options)
        for engine in ("auto", "loop")
    ]


def as_storage(X: np.ndarray, kind: str) -> Any:
    """The same numbers in another container."""
    if kind == "csr":
        return sparse.csr_array(X)
    if kind == "csr_matrix":
        return sparse.csr_matrix(X)
    if kind == "fortran":
        return np.asfortranarray(X)
    if kind == "integers":
        return X.astype(np.int64)
    return X


def twin(estimator: Any) -> Any:
    """An estimator in the same state, parameters and all."""
    return copy.deepcopy(estimator)


def transform_literally(
    transformer: Any, block: Block, task: Task | None = None
) -> tuple[list[Any], list[Any]]:
    """Rows as a stream pipeline shows them to its next step: those learnt, those asked."""
    learnt: list[Any] = []
    asked: list[Any] = []
    classes = None if task is None else task.classes
    labels = block.y if classes is None else classes[block.y]
    weighted = block.weight is not None and supports_sample_weight(transformer)
    # A frozen one shows the methods of the one inside.
    learns = hasattr(transformer, "partial_fit") and not isinstance(transformer, FrozenEstimator)
    shows = learns and hasattr(transformer, "partial_fit_transform")
    for ask in range(block.n_asks + 1):
        until = block.n_learns if ask == block.n_asks else block.stamp[ask]
        while len(learnt) < until:
            i = len(learnt)
            row = _one_row(block.learn_X, block.learn_index[i])
            y, known = labels[i : i + 1], {}
            if weighted:
                known["sample_weight"] = block.weight[i : i + 1]
            if i == 0 and accepts_classes(transformer):
                known["classes"] = classes
            if shows:
                learnt.append(transformer.partial_fit_transform(row, y, **known))
            else:
                if learns:
                    transformer.partial_fit(row, y, **known)
                elif i == 0:
                    transformer.fit(row, None)
                learnt.append(transformer.transform(row))
        if ask < block.n_asks:
            asked.append(transformer.transform(_one_row(block.ask_X, block.ask_index[ask])))
    return learnt, asked


def assert_transformer_equals_loop(
    transformer: Any,
    block: Block,
    task: Task,
    divisions: Sequence[Sequence[int]] = ((),),
    *,
    own_storage: bool = False,
    may_decline: bool = False,
    state: bool = True,
) -> Any:
    """The kernel, with the block cut at each of the divisions, has the rows of the loop.

    Its attributes too, with `state`. With `may_decline` it may leave the rows to the loop, and
    must where the loop raises an error. Returns the transformer that was looped.
    """
    literal = twin(transformer)
    with np.errstate(all="ignore"):
        try:
            learnt, asked = transform_literally(literal, block, task)
        except (TypeError, ValueError):  # such as log1p of objects: for the loop to say
            assert may_decline
            with pytest.raises((Declined, TypeError, ValueError)):
                running_transformer(twin(transformer), task).run(block)
            return literal
        for cuts in divisions:
            kernel = running_transformer(twin(transformer), task)
            n_learnt = n_asked = 0
            for part in cut(block, cuts, own_storage=own_storage):
                try:
                    out = kernel.run(part)
                except Declined:
                    assert may_decline
                    return literal
                assert out.y is part.y and out.stamp is part.stamp and out.weight is part.weight
                learns = slice(n_learnt, n_learnt + part.n_learns)
                asks = slice(n_asked, n_asked + part.n_asks)
                assert_same_rows(out.learn_X, out.learn_index, learnt[learns])
                assert_same_rows(out.ask_X, out.ask_index, asked[asks])
                n_learnt, n_asked = learns.stop, asks.stop
            kernel.export()
            if state:
                assert_same_state(kernel.estimator, literal)
    return literal


def assert_same_rows(X: Any, index: np.ndarray, expected: Sequence[Any]) -> None:
    """Rows at `index` are the expected ones, bit for bit and of the same kind."""
    assert len(index) == len(expected)
    for row, wanted in zip(index, expected, strict=True):
        found = _one_row(X, row)
        assert type(found) is type(wanted)
        if sparse.issparse(wanted):
            assert found.shape == wanted.shape and found.dtype == wanted.dtype
            found, wanted = found.toarray(), wanted.toarray()
        found, wanted = np.asarray(found), np.asarray(wanted)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
