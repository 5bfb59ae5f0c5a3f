"""Codes of labels: positions in the sorted classes, -1 where a label is missing."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.utils._labels import NO_LABEL, UNKNOWN, LabelSpace, as_labels, find_classes, is_given
from tests._examples import examples

INT64 = np.iinfo(np.int64)

label_kinds = st.one_of(
    st.lists(st.integers(-5, 5), min_size=1),
    st.lists(st.integers(INT64.min, INT64.max), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.text("abcé", max_size=3), min_size=1),
    st.lists(st.integers(-3, 3).map(float), min_size=1),
)


def encode(labels, classes, first_row=0):
    return LabelSpace(classes).encode(labels, first_row)


def in_every_form(labels: list) -> list:
    """The same labels as a list, a tuple, objects and NumPy's own type."""
    return [labels, tuple(labels), np.array(labels, dtype=object), np.array(labels)]


@examples(60)
@given(label_kinds)
def test_classes_and_codes_are_those_of_numpy(labels):
    expected, codes = np.unique(np.array(labels, dtype=object), return_inverse=True)
    for form in in_every_form(labels):
        classes = find_classes(form)
        assert classes.tolist() == expected.tolist()
        assert type(classes.tolist()[0]) is type(labels[0])
        found = encode(form, classes)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, codes)


@examples(60)
@given(label_kinds, st.data())
def test_missing_labels_have_code_minus_one(labels, data):
    gaps = data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels)))
    missing = data.draw(st.sampled_from([None, float("nan"), np.float64("nan")]))
    holed = [missing if gap else label for label, gap in zip(labels, gaps, strict=True)]
    if all(gaps):
        with pytest.raises(ValueError, match="y has no labels"):
            find_classes(holed)
        return
    kept = [label for label, gap in zip(labels, gaps, strict=True) if not gap]
    if missing is None or isinstance(labels[0], (str, float)):
        np.testing.assert_array_equal(find_classes(holed), np.unique(np.array(kept, dtype=object)))
        codes = encode(holed, find_classes(kept))
        np.testing.assert_array_equal(codes[np.array(gaps)], -1)
        np.testing.assert_array_equal(codes[~np.array(gaps)], encode(kept, find_classes(kept)))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_small_integer_types_do_not_overflow(dtype):
    info = np.iinfo(dtype)
    labels = np.array([info.max, info.min, info.max - 1, info.min], dtype=dtype)
    classes = find_classes(labels)
    assert classes.tolist() == [info.min, info.max - 1, info.max]
    assert encode(labels, classes).tolist() == [2, 0, 1, 0]
    assert encode(labels, classes.tolist()).tolist() == [2, 0, 1, 0]


def test_large_integers_are_not_confused_as_floats():
    classes = np.array([2**53, 2**53 + 1])
    assert encode(np.array([2**53 + 1], dtype=np.uint64), classes).tolist() == [1]
    with pytest.raises(ValueError, match="Row 0 has the label 9007199254740994"):
        encode(np.array([2**53 + 2], dtype=np.uint64), classes)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([1, 0], np.array([0.0, 1.0])),
        (np.array([1.0, 0.0]), [0, 1]),
        (np.array([True, False]), [0, 1]),
        (np.array(["b", "a"]), np.array(["a", "b"], dtype=object)),
        (np.array(["b", "a"], dtype=object), np.array(["a", "b"])),
    ],
)
def test_equal_labels_of_other_types_are_found(labels, classes):
    assert encode(labels, classes).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("labels", "classes", "shown"),
    [
        ([0, 1, 7], [0, 1], r"Row 102 has the label 7, .* classes: \[0, 1\]\. Pass every label"),
        (np.array([0.0, np.nan, 2.0]), [0, 1], r"Row 102 has the label 2\.0"),
        (["UP", None, "MAYBE"], ["DOWN", "UP"], r"Row 102 .* 'MAYBE', .*\['DOWN', 'UP'\]"),
        (np.array(["UP", "UP", "MAYBE"]), ["DOWN", "UP"], r"Row 102 has the label 'MAYBE'"),
        ([None, None, "1"], [0, 1], "Labels have the type str, classes int"),
        ([0, 0, 99], np.arange(40), r"19, \.\.\. \(40 classes\)\]"),
        ([5, 5, -5], np.array([5, 5 + 2**40]), "Row 102 has the label -5"),
    ],
)
def test_an_unseen_label_names_row_label_and_classes(labels, classes, shown):
    with pytest.raises(ValueError, match=shown):
        encode(labels, classes, first_row=100)


def test_mixed_types_are_refused_by_name():
    with pytest.raises(TypeError, match="their types are int, str"):
        find_classes([1, "a", None])


def test_fractional_targets_are_no_labels():
    with pytest.raises(ValueError, match=r"the number 0\.5, which is not a class label"):
        find_classes([1.0, 0.5])
    with pytest.raises(ValueError, match="inf"):
        find_classes([1.0, np.inf])


@pytest.mark.parametrize("y", [np.zeros((3, 2)), [[1, 2], [3, 4]], np.array(3)])
def test_labels_are_one_dimensional(y):
    with pytest.raises(ValueError, match="y must be one-dimensional"):
        as_labels(y)
    with pytest.raises(ValueError, match=r"Pass y\.ravel\(\)"):
        as_labels(np.zeros((3, 1)))


def test_things_that_are_no_labels_are_refused():
    with pytest.raises(TypeError, match="not a label"):
        encode([[1], [2, 3]], [0, 1])
    with pytest.raises(TypeError, match="dtype datetime64"):
        find_classes(np.array(["2020-01-01"], dtype="datetime64[D]"))


def test_pandas_series(pd):
    plain = pd.Series(["b", None, "a"], index=[7, 8, 9])
    assert find_classes(plain).tolist() == ["a", "b"]
    assert encode(plain, ["a", "b"]).tolist() == [1, -1, 0]
    nullable = pd.Series([3, pd.NA, 1], dtype="Int64")
    assert find_classes(nullable).tolist() == [1, 3]
    assert encode(nullable, [1, 3]).tolist() == [1, -1, 0]


def test_pandas_categories(pd):
    y = pd.Series(pd.Categorical(["b", None, "a"], categories=["b", "never", "a"]))
    assert encode(y, ["a", "b"]).tolist() == [1, -1, 0]
    assert find_classes(y).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="Row 0 has the label 'b'"):
        encode(y, ["a", "c"])


def test_polars_series(pl):
    assert encode(pl.Series(["b", None, "a"]), ["a", "b"]).tolist() == [1, -1, 0]
    integers = pl.Series([3, None, 1])
    assert find_classes(integers).dtype.kind == "i"
    assert encode(integers, [1, 3]).tolist() == [1, -1, 0]
    categories = pl.Series(["b", None, "a"], dtype=pl.Categorical)
    assert encode(categories, ["a", "b"]).tolist() == [1, -1, 0]


def test_integers_are_encoded_without_sorting_or_searching(monkeypatch):
    labels = np.random.default_rng(0).integers(0, 5, 100_000)
    classes = find_classes(labels)
    for slow in ("sort", "argsort", "unique", "searchsorted", "isin"):
        monkeypatch.setattr(np, slow, lambda *args, **kwargs: pytest.fail("slow for integers"))
    np.testing.assert_array_equal(encode(labels, classes), labels)


@pytest.mark.parametrize(
    ("n_classes", "dtype"),
    [(1, np.int8), (128, np.int8), (129, np.int16), (32_768, np.int16), (32_769, np.int32)],
)
def test_the_smallest_type_holds_all_codes_and_marks(n_classes, dtype):
    space = LabelSpace(np.arange(n_classes))
    assert space.dtype == dtype
    extremes = np.array([n_classes - 1, NO_LABEL, UNKNOWN])
    np.testing.assert_array_equal(extremes.astype(space.dtype), extremes)


@given(label_kinds, st.lists(st.booleans(), min_size=1))
def test_decoded_codes_are_the_labels(labels, gaps):
    space = LabelSpace(find_classes(labels))
    assert space.decode(space.encode(labels)).tolist() == labels
    holed = [None if gap else label for label, gap in zip(labels, gaps, strict=False)]
    assert space.decode(space.encode(np.array(holed, dtype=object))).tolist() == holed
    loaded = pickle.loads(pickle.dumps(space))
    np.testing.assert_array_equal(loaded.encode(labels), space.encode(labels))


def test_targets_are_their_own_codes():
    space = LabelSpace(None)
    codes = space.encode([1.5, None, 2], first_row=7)
    assert space.dtype == np.float64
    np.testing.assert_array_equal(codes, [1.5, np.nan, 2.0])
    np.testing.assert_array_equal(is_given(codes), [True, False, True])
    assert space.decode(codes) is codes
    with pytest.raises(ValueError, match="The target of row 8 is inf; it must be finite"):
        space.encode([0.0, np.inf], first_row=7)
    with pytest.raises(ValueError, match="The targets from row 7 on are not numbers"):
        space.encode(["a"], first_row=7)


@pytest.mark.parametrize(("short", "long"), [("a", "a\0"), (b"a", b"a\0")])
def test_labels_in_lists_keep_nul_at_their_end(short, long):
    assert as_labels([long, short]).tolist() == [long, short]
    classes = find_classes([long, short, long])
    assert classes.tolist() == [short, long]
    assert encode([long, short], classes).tolist() == [1, 0]
    assert encode(as_labels([short]), classes).tolist() == [0]
    with pytest.raises(ValueError, match="Row 0 has the label"):
        encode(np.array([short]), find_classes([long]))
    with pytest.raises(ValueError, match="Row 0 has the label"):
        encode([long], np.array([short]))
