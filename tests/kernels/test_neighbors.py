"""The kernel of nearest neighbours answers and remembers what the loop does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import skstream.kernels.neighbors as kernels
from skstream import PrequentialEvaluator
from skstream.kernels import Declined, Task
from skstream.neighbors import WindowedKNeighborsClassifier
from tests._examples import examples
from tests.kernels import _reference as ref

LABELS = np.array(["a", "b", "c"])


@given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(ref.TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    k=st.sampled_from([1, 2, 5]),
    size=st.sampled_from([1, 3, 8, 50]),
    is_weighted=st.booleans(),
    has_learnt=st.booleans(),
    dtype=st.sampled_from([np.float64, np.float32, np.int64]),
)
@examples(30)
def test_kernel_is_the_loop_bit_for_bit(
    seed, timeline, method, k, size, is_weighted, has_learnt, dtype
):
    rng = np.random.default_rng(seed)
    n, n_features = int(rng.integers(2, 30)), int(rng.integers(1, 4))
    task = Task(LABELS, method)
    X = (rng.integers(0, rng.choice([3, 1000]), (n, n_features)) / 3).astype(dtype)
    weight = rng.random(n) + 0.1 if is_weighted else None
    block = ref.make_block(X, rng.integers(0, 3, n), timeline, rng, weight)
    model = WindowedKNeighborsClassifier(k, size)
    if has_learnt:
        model.partial_fit(rng.random((5, n_features)), list("abbca"), classes=LABELS)
    kernel, _ = ref.assert_equals_loop(model, block, task, ref.random_cuts(block, rng))
    ref.assert_untouched(ref.running(kernel.estimator, task), kernel.state)


def test_sparse_rows_and_huge_numbers_are_left_to_the_loop(rng: np.random.Generator) -> None:
    X, y = rng.random((9, 2)), rng.integers(0, 3, 9)
    kernel = ref.running(WindowedKNeighborsClassifier(), Task(LABELS))
    kernel.run(ref.make_block(X, y, "prequential", rng))
    before = kernel.state
    for rows, reason in (
        (sparse.csr_array(X), "sparse rows have no kernel"),
        (X * 1e151, r"numbers beyond 1e\+150"),
    ):
        with pytest.raises(Declined, match=reason):
            kernel.run(ref.make_block(rows, y, "prequential", rng))
        ref.assert_untouched(kernel, before)
    for huge in (1e200, -1e200):
        X[4, 1] = huge
        evaluator = PrequentialEvaluator("accuracy")
        result, by_loop = ref.both_ways(evaluator, kernel.estimator, X, LABELS[y])
        assert result.paths["m"].startswith("loop: rows with numbers beyond")
        assert (
            result.predictions("m", every_row=True).tolist()
            == by_loop.predictions("m", every_row=True).tolist()
        )


def test_a_broken_kernel_is_caught(monkeypatch, rng: np.random.Generator) -> None:
    """Of equal distances the oldest row gives other answers than the loop."""
    X, y = rng.integers(0, 2, (40, 1)).astype(float), rng.integers(0, 3, 40)
    block = ref.make_block(X, y, "prequential", rng)
    model = WindowedKNeighborsClassifier(window_size=7)
    expected = ref.run_literally(ref.twin(model), block, Task(LABELS))
    np.testing.assert_array_equal(ref.running(model, Task(LABELS)).run(block), expected)

    def oldest(rows, asked, first, size, n_neighbors):
        distances = np.abs(rows[0][first[:, None] + np.arange(size)] - asked[0][:, None])
        return first[:, None] + size - 1 - distances[:, ::-1].argmin(axis=1)[:, None]

    monkeypatch.setattr(kernels, "nearest_in_windows", oldest)
    assert (ref.running(model, Task(LABELS)).run(block) != expected).any()
