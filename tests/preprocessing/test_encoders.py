"""StreamOneHotEncoder and StreamOrdinalEncoder: codes as categories come, names, errors."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

from skstream.kernels import Task, make_transform_kernel
from skstream.preprocessing import StreamOneHotEncoder, StreamOrdinalEncoder

ENCODERS = [StreamOneHotEncoder(4, sparse_output=False), StreamOrdinalEncoder(4)]


@pytest.fixture(params=ENCODERS, ids=repr)
def encoder(request: Any) -> Any:
    """Return a fresh encoder of either kind."""
    return clone(request.param)


def column(*values: Any) -> np.ndarray:
    rows = np.empty((len(values), 1), dtype=object)
    rows[:, 0] = values
    return rows


def code_of(encoder: StreamOneHotEncoder, value: Any) -> int | None:
    """Position of the 1 of a value; None if it is unknown."""
    places = np.flatnonzero(encoder.transform(column(value)).toarray())
    return int(places[0]) if len(places) else None


def test_categories_take_the_columns_as_they_come() -> None:
    encoder = StreamOneHotEncoder(3)
    seen = []
    for value in ("red", "blue", "green", "red"):
        before = code_of(encoder, value) if hasattr(encoder, "codes_") else None
        encoder.partial_fit(column(value))
        seen.append((before, code_of(encoder, value)))
    # green is not known when it comes, but no column is free for it either.
    assert seen == [(None, 0), (None, 1), (2, 2), (0, 0)]
    assert encoder.categories_[0].tolist() == ["red", "blue"]


def test_all_rows_at_once_are_those_of_scikit_learn_in_another_order() -> None:
    X = np.random.default_rng(0).choice(["a", "b", "c", "d"], (50, 2)).astype(object)
    ours = StreamOneHotEncoder(5).fit(X)
    theirs = OneHotEncoder(categories=[list(values) for values in ours.categories_]).fit(X)
    found = ours.transform(X).toarray().reshape(50, 2, 5)
    assert not found[:, :, 4].any()
    np.testing.assert_array_equal(found[:, :, :4].reshape(50, 8), theirs.transform(X).toarray())


def test_missing_values_are_one_category(pd: Any) -> None:
    rows = column("a", None, np.nan, float("nan"), pd.NA, pd.NaT, "b")
    codes = StreamOrdinalEncoder().fit_transform(rows)[:, 0]
    assert codes.tolist() == [0, 1, 1, 1, 1, 1, 2]
    apart = StreamOrdinalEncoder(encoded_missing_value=-3).fit_transform(rows)[:, 0]
    assert apart.tolist() == [0, -3, -3, -3, -3, -3, 1]


def test_codes_of_unknown_categories() -> None:
    encoder = StreamOrdinalEncoder(3, unknown_value=np.nan).fit(column("a"))
    np.testing.assert_array_equal(encoder.transform(column("a", "b"))[:, 0], [0, np.nan])
    encoder.partial_fit(column("b"))  # the last code is for all others
    np.testing.assert_array_equal(encoder.transform(column("a", "b", "c"))[:, 0], [0, 1, 2])
    assert encoder.partial_fit(column("c")).categories_[0].tolist() == ["a", "b"]


def test_declared_categories_of_a_frame_are_not_learnt_before_they_come(pd: Any) -> None:
    colours = pd.Categorical(["red", None], categories=["blue", "red"])
    encoder = StreamOrdinalEncoder().fit(pd.DataFrame({"colour": colours}))
    assert encoder.categories_[0].tolist() == ["red", None]


def test_numbers_are_the_same_category_in_any_type() -> None:
    encoder = StreamOrdinalEncoder().fit(column(1, 2.0, True))
    assert encoder.categories_[0].tolist() == [1, 2.0]
    assert encoder.transform(np.array([[1.0], [2.0]]))[:, 0].tolist() == [0, 1]


def test_names_do_not_change_as_categories_come(pd: Any) -> None:
    frame = pd.DataFrame({"colour": ["red", "blue"]})
    encoder = StreamOneHotEncoder(3, sparse_output=False).set_output(transform="pandas")
    names = list(encoder.fit(frame.iloc[:1]).transform(frame))
    assert names == ["colour_0", "colour_1", "colour_infrequent"]
    assert list(encoder.partial_fit(frame).transform(frame)) == names
    assert list(StreamOrdinalEncoder().fit(frame).get_feature_names_out()) == ["colour"]


def test_a_column_that_changes_its_type_is_named(encoder: Any, pd: Any) -> None:
    encoder.fit(pd.DataFrame({"size": [1.0], "city": ["Bonn"]}))
    changed = pd.DataFrame({"size": [1.0], "city": [53111]})
    sentence = "Column 'city' holds 53111, a number, but earlier rows had 'Bonn', a text."
    for method in (encoder.transform, encoder.partial_fit):
        with pytest.raises(ValueError, match=sentence):
            method(changed)
    assert encoder.categories_[1].tolist() == ["Bonn"]
    with pytest.raises(ValueError, match=r"Column 0 holds .*Use one type throughout"):
        encoder.fit(column("a", 1))


def test_a_list_is_no_category(encoder: Any) -> None:
    with pytest.raises(TypeError, match=r"Column 0 holds \[1\] in row 1 .* list cannot be a cat"):
        encoder.fit(column("a", [1]))


def test_memory_is_bounded_by_the_number_of_columns() -> None:
    encoder = StreamOneHotEncoder(5)
    for start in range(0, 100, 10):
        encoder.partial_fit(np.arange(start, start + 10).reshape(-1, 1))
    assert [len(known) for known in encoder.codes_] == [4]


def test_fewer_columns_than_categories_learnt_are_refused(encoder: Any) -> None:
    fitted = encoder.fit(column("a", "b", "c")).set_params(max_categories=3)
    assert make_transform_kernel(fitted, Task(np.arange(2))) is None
    for method in (fitted.transform, fitted.partial_fit):
        with pytest.raises(
            ValueError, match="max_categories=3 is less than the number of categories"
        ):
            method(column("a"))
    fitted.fit(column("a", "b")).set_params(max_categories=4).partial_fit(column("c"))
    assert fitted.categories_[0].tolist() == ["a", "b", "c"]
