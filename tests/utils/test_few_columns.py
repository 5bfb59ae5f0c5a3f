import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skstream.utils._rows import best_columns, row_sums
from tests._examples import examples

numbers = st.floats() | st.sampled_from([0.0, -0.0, 1.0, np.nan, np.inf])


@examples(60)
@given(arrays(float, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=numbers))
def test_two_columns_are_reduced_as_numpy_reduces_any(X):
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(row_sums(X), X.sum(axis=1, keepdims=True))
    best = best_columns(X)
    np.testing.assert_array_equal(best, X.argmax(axis=1))
    assert best.dtype == np.int64
