"""The two permutations for experiments on temporal dependence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstream.streams import label_profile, make_demo_stream, shuffle_rows, shuffle_within_class
from tests._examples import examples

labels = st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=30).filter(any)


def numbered(y) -> np.ndarray:
    return np.arange(len(y)).reshape(-1, 1)


@pytest.mark.parametrize("shuffle", [shuffle_rows, shuffle_within_class])
def test_raw_texts_can_be_shuffled_before_they_are_hashed(shuffle):
    texts, y = shuffle(["b1", "a1", "a2", "b2"], ["b", "a", "a", "b"], random_state=0)
    assert [text[0] for text in texts] == y.tolist()
    assert sorted(texts) == ["a1", "a2", "b1", "b2"]


@examples(40)
@given(labels, st.integers(0, 100))
def test_rows_stay_together_when_shuffled(y, seed):
    X, shuffled = shuffle_rows(numbered(y), y, random_state=seed)
    assert sorted(X.ravel()) == list(range(len(y)))
    assert [y[i] for i in X.ravel()] == shuffled.tolist()


@examples(40)
@given(labels, st.integers(0, 100))
def test_labels_stay_in_order_when_shuffled_within_class(y, seed):
    X, kept = shuffle_within_class(numbered(y), y, random_state=seed)
    assert kept.tolist() == y
    assert sorted(X.ravel()) == list(range(len(y)))
    assert [y[i] for i in X.ravel()] == y


@pytest.mark.parametrize("shuffle", [shuffle_rows, shuffle_within_class])
def test_seeds(shuffle):
    stream = make_demo_stream(200)
    first, again, other = (shuffle(stream.X, stream.y, random_state=seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, stream.X)


def test_what_remains_of_temporal_dependence():
    stream = make_demo_stream(5000)
    assert not label_profile(
        shuffle_rows(stream.X, stream.y, random_state=0)[1]
    ).temporal_dependence
    assert label_profile(
        shuffle_within_class(stream.X, stream.y, random_state=0)[1]
    ).temporal_dependence


@pytest.mark.parametrize("shuffle", [shuffle_rows, shuffle_within_class])
def test_sparse_rows(shuffle):
    X = sparse.csr_array(np.eye(6))
    y = [0, 1, 0, 1, 0, 1]
    np.testing.assert_array_equal(
        shuffle(X, y, random_state=0)[0].toarray(), shuffle(np.eye(6), y, random_state=0)[0]
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("shuffle", [shuffle_rows, shuffle_within_class])
def test_frames(shuffle, library):
    frames = pytest.importorskip(library)
    X = frames.DataFrame({"x": np.arange(6), "s": list("uvwxyz")})
    y = [0, 1, 0, 1, 0, 1]
    shuffled, _ = shuffle(X, y, random_state=0)
    assert type(shuffled) is type(X)
    assert list(shuffled.columns) == ["x", "s"]
    expected = shuffle(np.arange(6).reshape(-1, 1), y, random_state=0)[0].ravel()
    np.testing.assert_array_equal(shuffled["x"].to_numpy(), expected)


@pytest.mark.parametrize("shuffle", [shuffle_rows, shuffle_within_class])
def test_lengths_must_agree(shuffle):
    with pytest.raises(ValueError, match="X has 3 rows, but y has 2 labels"):
        shuffle(np.zeros((3, 1)), [0, 1])
