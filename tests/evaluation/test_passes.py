"""What two passes through a stream read is compared value by value."""

from collections import namedtuple
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from skstream.core.run.read_checksums import PassChecksums


class Own:
    def __init__(self, value):
        self.value = value


class Unpicklable(Own):
    def __reduce__(self):
        raise TypeError("no")


Pair = namedtuple("Pair", "a b")


def objects(values):
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


def sums(*chunks):
    found = PassChecksums()
    for X in chunks:
        found.add(X, np.zeros(len(X)), {})
    return found.sums()


VALUES = [
    *(1, 2, "1", "2", b"1", "", None, np.nan, np.datetime64("NaT"), "None", "nan"),
    *(Decimal("1"), Decimal("1.0"), Fraction(1, 3), 1 / 3, 2**53 + 1, 2**53, 10**400, 1j),
    *(date(2020, 1, 1), date(2020, 1, 2), datetime(2020, 1, 1), timedelta(1), timedelta(2)),
    *((1,), (2,), ("1",), (1, 2), ((1,), 2), (1, (2,)), Pair(1, 2), [1], [2], {"a": 1}, {"a": 2}),
    *(Own(1), Own(2), frozenset([1]), frozenset([2]), "\ud800", np.float64(0.1), np.str_("0.1")),
]


def test_every_value_is_told_apart():
    found = [sums(objects([value, "x"]))["features"] for value in VALUES]
    for (one, a), (other, b) in combinations(zip(VALUES, found, strict=True), 2):
        assert a != b, (one, other)
    assert found == [sums(objects([value]), objects(["x"]))["features"] for value in VALUES]


def test_equal_numbers_of_any_type_and_chunks_are_the_same():
    column = [1, 2.0, True, np.int64(3), np.float32(0.5), np.nan, "a", None, 2**53 + 2, 2**53 + 1]
    whole = sums(objects(column))
    for k in range(1, len(column)):
        assert sums(objects(column[:k]), objects(column[k:])) == whole
    for dtype in (np.int8, np.float32, np.uint64, bool, object):
        assert sums(np.array([[1], [0]], dtype)) == sums(np.array([[1.0], [0.0]]))
    large = 2**53 + np.arange(4)[:, np.newaxis]
    assert sums(large) == sums(large[:1], large[1:]) == sums(large.astype(object))
    assert sums(large) != sums(large // 2 * 2)


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "polars"])
def test_large_numbers_among_missing_ones_are_the_same_in_any_chunks(dtype):
    large = [2**53 + 1, None, 3, 2**53 + 3]
    if dtype == "polars":
        pl = pytest.importorskip("polars")
        frame, other = (pl.DataFrame({"a": values}) for values in (large, [2**53, *large[1:]]))
        cut = frame.__getitem__
    else:
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        frame, other = (
            pd.DataFrame({"a": pd.array(values, dtype=dtype)})
            for values in (large, [2**53, *large[1:]])
        )
        cut = frame.iloc.__getitem__
    assert sums(frame) != sums(other)
    for k in range(1, 4):
        assert sums(cut(slice(k)), cut(slice(k, None))) == sums(frame)


def test_values_that_cannot_be_compared_are_known_by_their_class():
    assert sums(objects([Unpicklable(1)])) == sums(objects([Unpicklable(2)]))
    assert sums(objects([Unpicklable(1)])) != sums(objects([Lock]))


Lock = type("Lock", (), {})
