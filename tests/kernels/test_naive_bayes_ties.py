"""Where classes tie exactly, naive Bayes kernels answer as ``predict`` does for that row."""

import copy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB

from skstream.kernels import Declined, Task
from tests.kernels import _reference as ref

N_ROWS = 20
MODELS = [
    *(ComplementNB(), ComplementNB(norm=True), BernoulliNB()),
    *(BernoulliNB(alpha=0.3, class_prior=[0.25, 0.25, 0.25, 0.25]), MultinomialNB()),
    *(MultinomialNB(fit_prior=False), CategoricalNB(min_categories=2)),
]


def constant_rows(n_columns: int) -> Any:
    return lambda rng: (np.ones((N_ROWS, n_columns)), rng.integers(0, 4, N_ROWS))


def mirrored_rows(rng: np.random.Generator) -> Any:
    """Each row, and then the same columns in the other order as an example of another class."""
    X, y = rng.integers(0, 2, (N_ROWS // 2, 10)), rng.integers(0, 4, N_ROWS // 2)
    return (
        np.stack([X, X[:, ::-1]], axis=1).reshape(N_ROWS, 10).astype(float),
        np.stack([y, 3 - y], axis=1).ravel(),
    )


def few_rows(rng: np.random.Generator) -> Any:
    return rng.integers(0, 2, (N_ROWS, 3)).astype(float), rng.integers(0, 4, N_ROWS)


def unseen_classes(rng: np.random.Generator) -> Any:
    return rng.integers(0, 2, (N_ROWS, 7)).astype(float), rng.integers(2, 4, N_ROWS)


STREAMS = {
    "60 constant columns": constant_rows(60),
    "100 constant columns": constant_rows(100),
    "300 constant columns": constant_rows(300),
    "mirrored rows": mirrored_rows,
    "few rows": few_rows,
    "unseen classes": unseen_classes,
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("place", range(len(MODELS)), ids=lambda i: str(MODELS[i]))
def test_tied_classes(place: int, stream: str, container: Any, rng: np.random.Generator) -> None:
    X, y = STREAMS[stream](rng)
    task = Task(np.arange(4))
    block = ref.make_block(container(X), y, "polls", rng)
    kernel = ref.running(copy.deepcopy(MODELS[place]), task)
    try:
        answers = ref.run_kernel(kernel, ref.cut(block, ref.random_cuts(block, rng)))
    except Declined:
        assert container is sparse.csr_array
        pytest.skip("no kernel for such sparse rows")
    expected = ref.run_literally(copy.deepcopy(MODELS[place]), block, task)
    np.testing.assert_array_equal(answers, expected)


def test_many_tied_classes(rng: np.random.Generator) -> None:
    X, y, task = np.ones((N_ROWS, 9)), rng.integers(0, 200, N_ROWS), Task(np.arange(200))
    for model in (ComplementNB(), BernoulliNB(), MultinomialNB(fit_prior=False)):
        block = ref.make_block(X, y, "prequential", rng)
        kernel = ref.running(copy.deepcopy(model), task)
        np.testing.assert_array_equal(kernel.run(block), ref.run_literally(model, block, task))
