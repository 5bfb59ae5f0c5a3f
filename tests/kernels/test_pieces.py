"""Running sums: to the last bit those of adding one row after the other."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skstream.utils._running_sums import running_sums

NUMBERS = st.one_of(
    st.floats(-1e3, 1e3), st.sampled_from([0.0, -0.0, 1e-300, 1e300, np.inf, -np.inf, np.nan])
)


def row_after_row(start: np.ndarray, steps: np.ndarray) -> np.ndarray:
    sums = [start]
    for step in steps:
        sums.append(sums[-1] + step)
    return np.array(sums)


@given(st.data(), st.integers(1, 7), st.integers(0, 20))
def test_running_sums_add_row_after_row(data: Any, n_columns: int, n_rows: int) -> None:
    table = data.draw(arrays(np.float64, (n_rows + 1, n_columns), elements=NUMBERS))
    before = table.copy()
    with np.errstate(invalid="ignore", over="ignore"):
        sums = running_sums(table[0], table[1:])
        expected = row_after_row(table[0], table[1:])
    np.testing.assert_array_equal(sums, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(sums[known]), np.signbit(expected[known]))
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 10, 54])
def test_long_running_sums_add_row_after_row(n_columns: int) -> None:
    table = np.random.default_rng(0).normal(size=(5000, n_columns))
    expected = row_after_row(table[0], table[1:])
    np.testing.assert_array_equal(running_sums(table[0], table[1:]), expected)
    strided = np.asfortranarray(table)[::2]
    expected = row_after_row(strided[0], strided[1:])
    np.testing.assert_array_equal(running_sums(strided[0], strided[1:]), expected)
