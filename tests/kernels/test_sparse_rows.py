"""Kernels take sparse rows in the order in which they are stored, as the loop does."""

import copy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from skstream import make_stream_pipeline
from skstream.kernels import Declined, Task
from tests.kernels._linear_reference import TRIED, path
from tests.kernels._reference import assert_same_state, make_block, run_literally, running
from tests.kernels.test_support_table import KERNEL

N_ROWS, N_COLUMNS = 40, 8
_RNG = np.random.default_rng(0)
DENSE = _RNG.random((N_ROWS, N_COLUMNS)) * 7.0 * (_RNG.random((N_ROWS, N_COLUMNS)) < 0.7)
Y = _RNG.integers(0, 3, N_ROWS)
#: Models that read sparse rows; behind a scaler, the order of the values goes on mattering.
LINEAR = (SGDClassifier, SGDRegressor, Perceptron)
MODELS: list[Any] = [
    model
    for model in KERNEL
    if isinstance(model, (*LINEAR, BernoulliNB, ComplementNB))
    or type(model).__name__.startswith("PassiveAggressive")
] + [
    SGDClassifier(loss="log_loss", penalty="l1", random_state=0),
    MultinomialNB(),
    make_stream_pipeline(StandardScaler(with_mean=False), SGDClassifier(random_state=0)),
    make_stream_pipeline(MaxAbsScaler(), SGDClassifier(random_state=0)),
]


def unsorted(kind: Any = sparse.csr_array) -> Any:
    rows = kind(DENSE)
    order = np.concatenate(
        [rows.indptr[i] + _RNG.permutation(n) for i, n in enumerate(np.diff(rows.indptr))]
    )
    return kind((rows.data[order], rows.indices[order], rows.indptr), shape=DENSE.shape)


def with_wide_indices(rows: Any) -> Any:
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


def twice() -> Any:
    rows = unsorted()
    rows.indices[1] = rows.indices[0]
    return type(rows)((rows.data, rows.indices, rows.indptr), shape=DENSE.shape)


ROWS: dict[str, Any] = {
    "unsorted array": unsorted,
    "unsorted matrix": lambda: unsorted(sparse.csr_matrix),
    "matrix with 64-bit indices": lambda: with_wide_indices(unsorted(sparse.csr_matrix)),
    "array with 64-bit indices": lambda: with_wide_indices(unsorted()),
    "a feature twice": twice,
}


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("place", range(len(MODELS)), ids=lambda i: type(MODELS[i]).__name__)
def test_order_of_storage(place: int, name: str) -> None:
    model, X = MODELS[place], ROWS[name]()
    task = Task(None if is_regressor(model) else np.arange(3))
    block = make_block(X, Y.astype(float) if is_regressor(model) else Y, "polls", _RNG)
    literal, refused = copy.deepcopy(model), False
    try:
        expected = run_literally(literal, block, task)
    except ValueError as error:
        assert "32-bit" in str(error)
        refused = True
    for run in TRIED:
        with path(run):
            kernel = running(copy.deepcopy(model), task)
            if refused:
                with pytest.raises(Declined, match="64-bit"):
                    kernel.run(block)
                continue
            try:
                answers = kernel.run(block)
            except Declined as declined:
                assert name == "a feature twice" and "a feature twice" in declined.reason
                continue
        np.testing.assert_array_equal(answers, expected)
        kernel.export()
        rtol = 0.0 if kernel.bitwise else 1e-9
        assert_same_state(kernel.estimator, literal, rtol=rtol, atol=1e-9)
