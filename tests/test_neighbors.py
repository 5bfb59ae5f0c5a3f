"""Nearest neighbours in a window: the definition word by word, ties, weights, kinds of rows."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skstream.neighbors import WindowedKNeighborsClassifier, nearest_in_windows
from tests._examples import examples


def literal(
    X: np.ndarray, y: list[str], weight: np.ndarray, row: np.ndarray, k: int, size: int
) -> dict[str, float]:
    """Votes of the neighbours, found with Python's own sort and sums."""
    window = range(max(len(X) - size, 0), len(X))
    distance = {i: sum((a - b) ** 2 for a, b in zip(X[i], row, strict=True)) for i in window}
    nearest = sorted(window, key=lambda i: (distance[i], -i))[:k]
    votes: Counter[str] = Counter()
    for i in nearest:
        votes[y[i]] += weight[i]
    return votes


@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 6),
    size=st.integers(1, 12),
    n_values=st.sampled_from([2, 4, 1000]),
)
@examples(30)
def test_answers_are_those_of_the_definition(seed, k, size, n_values) -> None:
    rng = np.random.default_rng(seed)
    n, n_features = int(rng.integers(1, 30)), int(rng.integers(1, 4))
    X = rng.integers(0, n_values, (n + 5, n_features)) / 3  # few values: many equal distances
    y = rng.choice(list("cab"), n).tolist()
    weight = rng.integers(1, 4, n).astype(float)
    model = WindowedKNeighborsClassifier(k, size).fit(X[:n], y, weight)
    shares = model.predict_proba(X)
    for row, answer, share in zip(X, model.predict(X), shares, strict=True):
        votes = literal(X[:n], y, weight, row, k, size)
        assert answer == min(votes, key=lambda label: (-votes[label], label))
        expected = [votes[label] / sum(votes.values()) for label in model.classes_]
        np.testing.assert_allclose(share, expected, rtol=1e-12)
    assert len(model.window_rows_) == min(size, n)


def test_a_window_of_many_asks_is_cut_without_a_trace() -> None:
    rng = np.random.default_rng(1)
    rows, asked = rng.integers(0, 9, (2, 600)) / 7, rng.integers(0, 9, (2, 300)) / 7
    first = np.sort(rng.integers(0, 100, 300))[::-1]
    for k in (1, 4):
        together = nearest_in_windows(rows, asked, first, 500, k)
        alone = [nearest_in_windows(rows, asked[:, [i]], first[[i]], 500, k)[0] for i in range(300)]
        np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("first", [sparse.csr_array, np.asarray])
def test_sparse_rows_have_the_answers_of_dense_ones(first: Any) -> None:
    rng = np.random.default_rng(2)
    X = np.where(rng.random((60, 12)) < 0.3, rng.normal(size=(60, 12)), 0.0)
    y = rng.integers(0, 3, 60)
    dense = WindowedKNeighborsClassifier(3, 20)
    mixed = WindowedKNeighborsClassifier(3, 20)
    for begin in range(0, 60, 7):
        piece = slice(begin, begin + 7)
        kind = first if begin % 2 == 0 else sparse.csc_array
        dense.partial_fit(X[piece], y[piece], classes=[0, 1, 2])
        mixed.partial_fit(kind(X[piece]), y[piece], classes=[0, 1, 2])
    for kind in (np.asarray, sparse.csr_matrix, sparse.coo_array):
        np.testing.assert_array_equal(mixed.predict_proba(kind(X)), dense.predict_proba(X))
    assert sparse.issparse(mixed.window_rows_) == (first is sparse.csr_array)
    nothing = WindowedKNeighborsClassifier().fit(first(np.zeros((2, 4))), ["a", "b"])
    assert nothing.predict(sparse.csr_array((1, 4))) == ["b"]


def test_distances_beyond_all_numbers_are_all_the_same() -> None:
    X = [[1e200], [3e200], [-1e200]]
    model = WindowedKNeighborsClassifier().fit(X, ["a", "b", "c"])
    assert model.predict([[1e200], [2e200]]).tolist() == ["a", "c"]


def test_bad_input() -> None:
    with pytest.raises(NotFittedError):
        WindowedKNeighborsClassifier().predict([[0.0]])
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        WindowedKNeighborsClassifier().partial_fit([[0.0]], ["a"])
    with pytest.raises(ValueError, match="not among the classes"):
        WindowedKNeighborsClassifier().partial_fit([[0.0]], ["z"], classes=["a", "b"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        WindowedKNeighborsClassifier().fit([[0.0], [1.0]], ["a"])
    with pytest.raises(ValueError, match="contains NaN"):
        WindowedKNeighborsClassifier().fit([[np.nan]], ["a"])
    for name, value in (("n_neighbors", 0), ("window_size", 2.5)):
        with pytest.raises(ValueError, match=f"'{name}' parameter of Windowed"):
            WindowedKNeighborsClassifier(**{name: value}).fit([[0.0]], ["a"])
