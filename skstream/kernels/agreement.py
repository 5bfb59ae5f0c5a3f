"""Kernels beside a scikit-learn that they were not written for: used where a check finds no fault.

A newer scikit-learn may compute other answers than those which the kernels repeat. There a kernel
has to agree with the estimator itself on a few made-up rows before it is used.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block, part_of
from skstream.core.engine.kernel import Declined, TransformKernel
from skstream.core.engine.loop import Loop
from skstream.kernels.looped import LoopedTransformer
from skstream.pipeline._transformers import learn_and_transform, prepared
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_outlier_detector

_N_ROWS = 48
_ENDS = ((1, 0), (2, 2), (19, 18), (20, 20), (_N_ROWS, _N_ROWS - 1))  # learns and asks of chunks
_TOLERANCE = 1e-9
_Named = list[tuple[str, Any]]
_found: dict[Any, str] = {}  # why a kernel is not used, or nothing


def check_agreement(kernel: Any, estimator: Any, task: Task) -> None:
    """Raise `Declined` unless a kernel agrees with its estimator.

    The check runs once per process for every class, and for its settings that are no numbers:
    they decide what is computed.
    """
    kind = type(estimator)
    settings = estimator.get_params(deep=False) if kind not in _EXAMPLES else {}
    n_classes = 0 if task.classes is None else min(len(task.classes), 3)
    which = [f"{n}={value!r}" for n, value in settings.items() if not _is_number(value)]
    for one in task.alone():
        key = (kernel, kind, one.method, n_classes, *which)
        if key not in _found:
            _found[key] = _checked(kernel, estimator, one)
        if _found[key]:
            raise Declined(_found[key])


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _checked(kernel: Any, estimator: Any, task: Task) -> str:
    """Compare a kernel with its estimator on the first rows that both can take; "" if equal."""
    name = f"{type(estimator).__name__} of scikit-learn {sklearn.__version__}"
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        config_context(transform_output="default"),
    ):
        warnings.simplefilter("ignore")
        for example in _examples(estimator):
            its_task = _task_for(example, task)
            if kernel.refusal(example, its_task) is not None:
                continue
            for rows in _rows():
                try:
                    wanted = _by_loop(clone(example), _block(rows, its_task), its_task, kernel)
                except Exception:  # whatever it is: the estimator does not take such rows
                    continue
                try:
                    came = _by_kernel(kernel, clone(example), _block(rows, its_task), its_task)
                except Declined:
                    continue
                except Exception:  # whatever it is: a kernel that fails does not agree
                    came = None
                if came is not None and _same(came, wanted):
                    return ""
                return f"the kernel of {name}, newer than skstream, does not agree with it"
    return f"the kernel of {name}, newer than skstream, could not be compared with it"


def _examples(estimator: Any) -> Iterator[Any]:
    """Yield an estimator to check: with its own settings, or with others if these fit no rows."""
    kind = type(estimator)
    for one in [_EXAMPLES[kind]] if kind in _EXAMPLES else [clone(estimator), kind()]:
        if kind not in _EXAMPLES and "random_state" in one.get_params(deep=False):
            one.set_params(random_state=0)
        yield one


def _rows() -> Iterator[Any]:
    """Yield numbers of both signs, counts, texts and dictionaries, one row each."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (_N_ROWS, 4)).astype(float)
    counts[0] = 2.0  # a categorical model takes no value above those of its first row
    yield rng.normal(size=(_N_ROWS, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -1.0]
    yield counts
    yield np.array([f"a{i % 7} b{i % 5}" for i in range(_N_ROWS)], dtype=object)
    yield np.array([{"a": i % 7, "b": 1.0} for i in range(_N_ROWS)], dtype=object)


# Whose settings belong to the user's rows, or are parts which are checked on their own.
_EXAMPLES: dict[type, Any] = {
    ColumnTransformer: ColumnTransformer(
        [("scaled", StandardScaler(), [2, 0])], remainder="passthrough"
    ),
    FeatureHasher: FeatureHasher(16),
    FrozenEstimator: FrozenEstimator(StandardScaler().fit(next(_rows()))),
    FunctionTransformer: FunctionTransformer(),
    HashingVectorizer: HashingVectorizer(n_features=16),
    OneHotEncoder: OneHotEncoder(categories=[[0.0, 1.0, 2.0]] * 4),
    OneVsRestClassifier: OneVsRestClassifier(Perceptron(random_state=0)),
    OrdinalEncoder: OrdinalEncoder(categories=[[0.0, 1.0, 2.0]] * 4),
    SimpleImputer: SimpleImputer(strategy="constant", keep_empty_features=True),
}


def _task_for(example: Any, task: Task) -> Task:
    if task.classes is None:
        classes = None
    elif is_outlier_detector(example):
        classes = np.array([-1, 1])
    else:
        classes = np.arange(min(max(len(task.classes), 2), 3))
    return Task(classes, task.method)


def _block(rows: Any, task: Task) -> Block:
    """Every row asked, then learnt, but for the first, which is learnt alone."""
    order = np.arange(_N_ROWS)
    if task.classes is None:
        y = np.sin(order * 1.7) + order / _N_ROWS
    else:
        y = (order * 5 // 3) % len(task.classes)
    return Block(rows, order, y, None, rows, order[1:], order[1:].astype(np.int64))


def _by_loop(estimator: Any, block: Block, task: Task, kernel: type) -> _Named:
    """Answers of an estimator called row by row, or the rows that it makes; then what it learnt."""
    if not issubclass(kernel, TransformKernel):
        return [("", Loop(estimator, task).run(block)), *_learnt(estimator)]
    row, label, classes = take_rows(block.learn_X, np.arange(1)), block.y[:1], task.classes
    estimator = prepared("checked", estimator, row)
    label = label if classes is None else classes[label]
    first = learn_and_transform(estimator, row, label, None, classes, first=True)
    loop = LoopedTransformer(estimator, task, "")
    rest = part_of(block, slice(1, block.n_learns), slice(0, block.n_asks))
    _, made = loop.step(loop.initial_state(), rest)
    rows = [_dense(first), _dense(made.learn_X), _dense(made.ask_X)]
    return [("", np.concatenate(rows)), *_learnt(estimator)]


def _by_kernel(kernel: Any, estimator: Any, block: Block, task: Task) -> _Named:
    """Return the same by a kernel, in several chunks."""
    if issubclass(kernel, TransformKernel):
        estimator = prepared("checked", estimator, take_rows(block.learn_X, np.arange(1)))
    machine = kernel(estimator, task)
    state, came, begin = machine.initial_state(), [], (0, 0)
    for end in _ENDS:
        part = part_of(block, slice(begin[0], end[0]), slice(begin[1], end[1]))
        state, made = machine.step(state, part)
        came.append(made)
        begin = end
    machine.export(state)
    if issubclass(kernel, TransformKernel):
        learnt = [_dense(take_rows(made.learn_X, made.learn_index)) for made in came]
        asked = [_dense(take_rows(made.ask_X, made.ask_index)) for made in came if made.n_asks]
        came = learnt + asked
    return [("", np.concatenate(came)), *_learnt(machine.estimator)]


def _dense(rows: Any) -> Any:
    return rows.toarray() if sparse.issparse(rows) else rows


def _learnt(estimator: Any) -> _Named:
    """Public fitted attributes; numbers of those that hold any."""
    public = {n: v for n, v in vars(estimator).items() if n.endswith("_") and n[0] != "_"}
    return [
        (name, array)
        for name, value in sorted(public.items())
        for array in _numbers(value) or [np.empty(0)]
    ]


def _numbers(value: Any) -> list[np.ndarray]:
    if isinstance(value, list | tuple):
        return [array for one in value for array in _numbers(one)]
    array = np.asarray(value)
    return [array] if array.dtype.kind in "biuf" else []


def _same(came: _Named, wanted: _Named) -> bool:
    """Whether answers and attributes agree, but for the rounding of numbers."""
    return [name for name, _ in came] == [name for name, _ in wanted] and all(
        one.shape == other.shape
        and np.allclose(one, other, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
        for (_, one), (_, other) in zip(came, wanted, strict=True)
    )
