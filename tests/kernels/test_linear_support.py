"""What the linear kernels refuse, one by one, and what they hand back untouched."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor

from skstream.core.engine.block import Block
from skstream.kernels import Declined, Task, make_kernel
from skstream.kernels.linear import kernel as _linear
from skstream.kernels.linear import settings as linear_settings
from skstream.kernels.linear.loops import step_of
from tests.kernels._linear_reference import TRIED, aggressive, path, run_row_by_row
from tests.kernels._reference import assert_same_state, running

BINARY = Task(np.array([0, 1]))
X = np.random.default_rng(0).normal(size=(20, 3))
Y = (X[:, 0] > 0).astype(np.int64)
NONE = np.empty(0, dtype=np.int64)


def learns(X: Any = X, y: np.ndarray = Y, weight: np.ndarray | None = None) -> Block:
    return Block(X, np.arange(len(y)), y, weight, X, NONE, NONE)


def asks(X: Any = X) -> Block:
    index = np.arange(X.shape[0])
    return Block(None, NONE, Y[:0], None, X, index, np.zeros(len(index), dtype=np.int64))


SUPPORTED: dict[str, Any] = {
    "no penalty": SGDClassifier(penalty=None, l1_ratio=None),
    "no alpha": SGDRegressor(alpha=0.0),
    "integers": SGDClassifier(alpha=1, eta0=1, random_state=3, n_jobs=2),
    "class weights": SGDClassifier(class_weight={1: 2.0}),
    "several parameters of fit": SGDClassifier(tol=None, shuffle=False, warm_start=True),
}


@pytest.mark.parametrize("name", SUPPORTED)
def test_supported(name: str) -> None:
    estimator = SUPPORTED[name]
    task = Task(None) if isinstance(estimator, SGDRegressor) else BINARY
    before = pickle.dumps(estimator)
    assert make_kernel(estimator, task) is not None
    assert pickle.dumps(estimator) == before


def test_supports_draws_no_random_numbers() -> None:
    state = np.random.get_state()[1].copy()
    running(SGDClassifier(), BINARY)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_half_fitted_estimators_are_not_taken_up() -> None:
    model = SGDClassifier()
    with pytest.raises(ValueError, match="greater than one"):
        model.partial_fit(X, Y * 0, classes=[0])
    assert make_kernel(model, BINARY) is None


def test_other_arithmetic_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_settings, "agrees_with_sklearn", lambda dtype, compiled: False)
    assert make_kernel(SGDClassifier(), BINARY) is None


def fused(a: float, b: float, c: float) -> float:
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def rounded(a: float, b: float, c: float) -> float:
    return a * b + c


@pytest.mark.parametrize(
    ("in_sums", "in_updates"), [(rounded, rounded), (fused, rounded), (rounded, fused)]
)
def test_fused_arithmetic_would_be_noticed(in_sums, in_updates, monkeypatch):
    def learn(rows: Any, learns: Any, rule: Any, W: Any, b: Any, *others: Any) -> None:
        w = W[0].tolist()
        for i, x in enumerate(rows.tolist()):
            margin = 0.0
            for j, value in enumerate(x):
                margin = in_sums(value, w[j], margin)
            update = step_of.plain(rule, learns.target[i], margin + b[0], learns.eta[i], 0.0)
            scale = learns.shrink[i]
            w = [in_updates(x[j], update / scale, w[j]) * scale for j in range(len(w))]
            b[0] += update
        W[0] = w

    monkeypatch.setattr(linear_settings, "learn_dense", learn)
    is_exact = in_sums is rounded and in_updates is rounded
    assert linear_settings.agrees_with_sklearn.__wrapped__(np.float64, False) == is_exact


def nan_in_row_5() -> np.ndarray:
    broken = X.copy()
    broken[5, 1] = np.nan
    return broken


def a_feature_twice() -> Any:
    data, columns = np.array([1.0, 2.0] * 20), np.array([2, 2] * 20, dtype=np.int32)
    return sparse.csr_array((data, columns, np.arange(0, 41, 2, dtype=np.int32)), shape=(20, 3))


def wide_indices() -> Any:
    rows = sparse.csr_array(X)
    rows.indices = rows.indices.astype(np.int64)
    rows.indptr = rows.indptr.astype(np.int64)
    return rows


DECLINED: dict[str, Callable[[], Any]] = {
    "NaN": nan_in_row_5,
    "infinity": lambda: X / np.array([1.0, 0.0, 1.0]),
    "NaN in CSR": lambda: sparse.csr_array(nan_in_row_5()),
    "float32 after float64": lambda: X.astype(np.float32),
    "complex": lambda: X.astype(complex),
    "objects": lambda: X.astype(object),
    "texts": lambda: X.astype(str),
    "other width": lambda: X[:, :2],
    "one dimension": lambda: X[:, 0],
    "no column": lambda: X[:, :0],
    "masked": lambda: np.ma.masked_array(X, X > 1),
    "CSC": lambda: sparse.csc_array(X),
    "float32 in CSR": lambda: sparse.csr_array(X.astype(np.float32)),
    "a feature twice": a_feature_twice,
    "64-bit indices": wide_indices,
}


@pytest.fixture(params=TRIED)
def kernel(request: pytest.FixtureRequest) -> Any:
    with path(request.param):
        kernel = running(SGDClassifier(), BINARY)
        kernel.run(learns())
        yield kernel


def assert_declined(kernel: Any, block: Block) -> None:
    state = kernel.state
    with np.errstate(all="ignore"), pytest.raises(Declined):
        kernel.run(block)
    assert kernel.state is state
    model = SGDClassifier()
    run_row_by_row(model, learns(), BINARY)
    np.testing.assert_array_equal(state.memory.W.read(), model.coef_)
    kernel.export()
    assert_same_state(kernel.estimator, model)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("name", DECLINED)
def test_declined_rows(name: str, kernel: Any) -> None:
    rows = DECLINED[name]()
    assert_declined(kernel, learns(rows))
    assert_declined(kernel, asks(rows))


@pytest.mark.parametrize("name", ["NaN", "CSC", "a feature twice", "64-bit indices"])
def test_declined_first_rows(name: str) -> None:
    kernel = running(SGDClassifier(), BINARY)
    with pytest.raises(Declined):
        kernel.run(learns(DECLINED[name]()))
    assert kernel.state.memory is None
    kernel.export()
    assert vars(kernel.estimator).keys() == vars(SGDClassifier()).keys()


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize("run", TRIED)
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "perceptron", "modified_huber"])
def test_rows_that_are_not_finite_are_declined_where_they_teach_nothing(loss, n_classes, kind, run):
    """A row far on the right side of the margin moves no weight, which would show it."""
    task = Task(np.arange(n_classes))
    y = np.digitize(X[:, 0], [0.0, 1.0][: n_classes - 1])
    convert = sparse.csr_array if kind == "csr" else np.asarray
    with path(run):
        kernel = running(SGDClassifier(loss=loss, penalty=None), task)
        kernel.run(learns(convert(X), y))
        state = kernel.state
        for code in range(n_classes):
            for value in (np.inf, -np.inf, np.nan):
                broken = X.copy()
                broken[-1, 0] = value
                last = np.append(y[:-1], code)
                for block in (learns(convert(broken), last), asks(convert(broken))):
                    with pytest.raises(Declined):
                        kernel.run(block)
                    assert kernel.state is state


def test_decision_values_that_overflow_are_declined() -> None:
    """scikit-learn answers all the same; which answer, BLAS decides."""
    rows = X * 1e250
    model, kernel = SGDClassifier(penalty=None), running(SGDClassifier(penalty=None), BINARY)
    run_row_by_row(model, learns(X * 1e100), BINARY)
    with np.errstate(all="ignore"):
        assert not np.isfinite(model.decision_function(rows)).all()
        model.predict(rows)
    kernel.run(learns(X * 1e100))
    state = kernel.state
    with np.errstate(all="ignore"), pytest.raises(Declined):
        kernel.run(asks(rows))
    assert kernel.state is state


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_declined_weights(weight: float, kernel: Any) -> None:
    weights = np.ones(20)
    weights[7] = weight
    assert_declined(kernel, learns(weight=weights))


def test_declined_batches(kernel: Any) -> None:
    assert_declined(kernel, replace(learns(), batches=np.array([0, 10, 20])))
    kernel.run(replace(learns(), batches=np.arange(21)))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_many_features_are_left_to_the_estimator_where_loops_are_not_compiled(convert):
    most = _linear.UNCOMPILED_FEATURES
    for run in TRIED:
        for n_features in (most, most + 1):
            with path(run):
                kernel = running(SGDClassifier(), BINARY)
                block = learns(convert(np.eye(20, n_features)))
                if run == "plain" and n_features > most:
                    with pytest.raises(Declined, match="kernel only with numba"):
                        kernel.run(block)
                else:
                    kernel.run(block)


def test_learning_dense_and_asking_sparse_rows_is_declined(kernel: Any) -> None:
    both = replace(learns(), ask_X=sparse.csr_array(X), ask_index=NONE + 1)
    kernel.run(both)  # nothing is asked
    one = np.array([1])
    state = kernel.state
    with pytest.raises(Declined):
        kernel.run(replace(both, ask_index=one, stamp=one))
    assert kernel.state is state


def test_rows_not_used_may_be_anything(kernel: Any) -> None:
    used = np.delete(np.arange(20), 5)
    kernel.run(Block(nan_in_row_5(), used, Y[used], None, nan_in_row_5(), used, used * 0 + 19))


def test_overflow_is_declined() -> None:
    model = SGDRegressor(learning_rate="constant", eta0=1e300, penalty=None)
    with pytest.raises(ValueError, match="overflow"):
        run_row_by_row(clone(model), learns(y=X[:, 1]), Task(None))
    kernel = running(model, Task(None))
    kernel.run(learns(X[:1], X[:1, 1]))
    state = kernel.state
    with pytest.raises(Declined):
        kernel.run(learns(y=X[:, 1]))
    assert kernel.state is state


@pytest.mark.parametrize("target", [np.nan, np.inf])
def test_targets_that_are_not_finite_are_declined(target: float) -> None:
    kernel = running(SGDRegressor(), Task(None))
    with pytest.raises(Declined):
        kernel.run(learns(y=np.where(Y == 1, target, 0.0)))


def test_asks_before_anything_was_learnt_are_declined() -> None:
    kernel = running(SGDClassifier(), BINARY)
    with pytest.raises(Declined):
        kernel.run(asks())
    block = replace(learns(), ask_index=np.array([3, 4]), stamp=np.array([0, 1]))
    with pytest.raises(Declined):
        kernel.run(block)
    assert kernel.state.memory is None
    assert len(kernel.run(replace(asks(), ask_index=NONE, stamp=NONE))) == 0


def test_fractional_repetition_is_declined() -> None:
    estimator = aggressive("PassiveAggressiveClassifier")
    if estimator is None:
        pytest.skip("scikit-learn has removed it")
    kernel = running(estimator, BINARY)
    for weight in (np.linspace(1.0, 2.0, 20), np.full(20, -1.0), np.full(20, np.nan)):
        with pytest.raises(Declined):
            kernel.run(learns(weight=weight))
    kernel.run(learns(weight=np.full(20, 2.0)))


def test_frames_with_other_columns_are_declined(pd: Any) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    kernel = running(SGDClassifier(), BINARY)
    kernel.run(learns(frame))
    for other in (X, frame[["b", "a", "c"]], frame.assign(c="text")):
        state = kernel.state
        with pytest.raises(Declined):
            kernel.run(learns(other))
        assert kernel.state is state
    nameless = running(SGDClassifier(), BINARY)
    nameless.run(learns())
    with pytest.raises(Declined):
        nameless.run(asks(frame))
    nameless.run(learns(pd.DataFrame(X)))


@pytest.mark.parametrize("penalty", ["l2", None])
def test_a_row_of_a_wide_stream_copies_no_weights(penalty, monkeypatch):
    monkeypatch.setattr(_linear, "UNCOMPILED_FEATURES", np.inf)
    wide = sparse.csr_matrix((X[:6].ravel(), np.arange(18) * 3000, np.arange(7) * 3), (6, 1 << 16))
    kernel = make_kernel(SGDClassifier(loss="log_loss", penalty=penalty), BINARY)
    assert kernel is not None
    state, _ = kernel.step(kernel.initial_state(), learns(wide, Y[:6]))
    held = state.memory.W.read()
    before = held.copy()
    after, _ = kernel.step(state, learns(wide[2], Y[2:3]))
    assert after.memory.W.read() is held
    assert not np.array_equal(held, before)
    asked, _ = kernel.step(after, asks(wide))
    assert asked is after
    np.testing.assert_array_equal(state.memory.W.read(), before)


@pytest.mark.parametrize("kind", [int, float, np.float64])
def test_the_number_of_a_warm_start_keeps_its_type(kind: Any) -> None:
    model = SGDClassifier().partial_fit(X[:5], Y[:5], classes=[0, 1])
    model.t_ = kind(model.t_)
    twin = copy.deepcopy(model)
    kernel = running(model, BINARY)
    kernel.run(learns())
    kernel.export()
    run_row_by_row(twin, learns(), BINARY)
    assert type(model.t_) is type(twin.t_)
    assert_same_state(model, twin)
