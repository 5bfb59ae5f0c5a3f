"""make_stream_preprocessor: which kind each column is, and that what it makes runs by kernel."""

import re
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream import PrequentialEvaluator, RunOptions, make_stream_pipeline, prequential_predict
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.preprocessing import make_stream_preprocessor
from skstream.streams import as_stream
from tests.kernels._reference import both_ways

pandas = pytest.importorskip("pandas")


def everyday(n: int) -> Any:
    """A frame with a column of every kind; a category and gaps show up late."""
    rng = np.random.default_rng(0)
    late = np.arange(n) > n // 2
    words = np.array(["stream", "drift", "label", "window", "row", "fading", "new"])
    frame = pandas.DataFrame(
        {
            "amount": np.where(late & (rng.random(n) < 0.3), np.nan, rng.normal(size=n)),
            "count": pandas.array(rng.integers(0, 9, n), dtype="Int64"),
            "member": rng.random(n) < 0.5,
            "colour": rng.choice(["red", "blue"], n).astype(object),
            "size": pandas.Categorical(rng.choice(["S", "M", "L"], n)),
            "customer": [f"c{number}" for number in rng.integers(0, 10 * n, n)],
            "note": [" ".join(rng.choice(words, 5)) for _ in range(n)],
            "when": pandas.date_range("2024-01-01", periods=n, freq="h"),
            "day": [f"2024-0{1 + month}-1{month}" for month in rng.integers(0, 9, n)],
            "waited": pandas.to_timedelta(np.arange(n), unit="h"),
        }
    )
    frame.loc[late & (rng.random(n) < 0.2), "colour"] = "green"
    frame.loc[late & (rng.random(n) < 0.2), ["colour", "note", "customer", "day"]] = None
    frame.loc[late & (rng.random(n) < 0.2), "when"] = pandas.NaT
    return frame


FRAME = everyday(120)
LABELS = np.random.default_rng(1).integers(0, 2, 120)
KINDS = {
    "numbers": ["amount", "count"],
    "booleans": ["member"],
    "categories": ["colour", "size"],
    "datetimes": ["when", "day"],
    "hashed_customer": ["customer"],
    "text_note": ["note"],
}


def columns_by_part(preprocessor: Any) -> dict[str, list[str]]:
    return {name: columns for name, _, columns in preprocessor.transformers}


@pytest.mark.parametrize("n", [40, 120])
def test_kinds_of_the_columns_of_a_frame(n: int, capsys: Any) -> None:
    assert columns_by_part(make_stream_preprocessor(FRAME[:n])) == KINDS
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "number: 'amount', 'count' -> StreamImputer, StandardScaler"
    assert lines[2] == "category: 'colour', 'size' -> StreamOneHotEncoder(max_categories=20)"
    assert lines[5] == "text: 'note' -> StreamImputer, HashingVectorizer(n_features=65536)"
    assert lines[6] == "left out: 'waited'"
    make_stream_preprocessor(FRAME, verbose=False)
    assert not capsys.readouterr().out


def test_a_polars_frame_has_the_same_kinds(pl: Any) -> None:
    frame = pl.DataFrame(
        {
            **{name: FRAME[name].tolist() for name in ("amount", "member", "customer", "note")},
            "count": FRAME["count"].to_numpy(dtype=int),
            "colour": [value if isinstance(value, str) else None for value in FRAME["colour"]],
            "size": pl.Series(FRAME["size"].astype(str).tolist(), dtype=pl.Categorical),
            "when": pl.Series(FRAME["when"].to_numpy()),
            "day": [value if isinstance(value, str) else None for value in FRAME["day"]],
            "waited": pl.Series(FRAME["waited"].to_numpy()),
        },
        strict=False,
    )
    found = columns_by_part(make_stream_preprocessor(frame, verbose=False))
    assert {name: set(columns) for name, columns in found.items()} == {
        name: set(columns) for name, columns in KINDS.items()
    }


@pytest.mark.parametrize("sparse_output", [True, False])
def test_what_it_makes_runs_by_kernel_as_by_the_loop(sparse_output: bool) -> None:
    preprocessor = make_stream_preprocessor(
        FRAME[:20],
        sparse_output=sparse_output,
        max_categories=4,
        n_text_features=32,
        kinds={"customer": "many categories"},
        verbose=False,
    )
    model = SGDClassifier(random_state=0) if sparse_output else IncrementalGaussianNB()
    pipeline = make_stream_pipeline(preprocessor, model)
    answers = []
    for engine, chunk_size in (("loop", 26), ("auto", 26), ("auto", 7)):
        stream = as_stream(FRAME[50:76], LABELS[50:76], chunk_size=chunk_size)
        result = PrequentialEvaluator(run=RunOptions(kernels=engine == "auto")).evaluate(
            {"m": pipeline}, stream
        )
        assert result.paths["m"].startswith("loop" if engine == "loop" else "kernel")
        answers.append(result.predictions("m", every_row=True))
    np.testing.assert_array_equal(answers[1], answers[0])
    np.testing.assert_array_equal(answers[2], answers[0])


def test_kinds_can_be_chosen() -> None:
    kinds = {"count": "category", "colour": "text"}
    kinds |= dict.fromkeys(["note", "customer", "day"], "drop")
    chosen = columns_by_part(make_stream_preprocessor(FRAME, kinds=kinds, verbose=False))
    assert chosen == {
        "numbers": ["amount"],
        "booleans": ["member"],
        "categories": ["count", "size"],
        "datetimes": ["when"],
        "text_colour": ["colour"],
    }


TWICE = pandas.DataFrame([[1, 2.0]], columns=["a", "a"])
NO_KINDS = [
    (np.zeros((2, 2)), {}, "X is a ndarray, but the kinds of columns are chosen"),
    (FRAME[:0], {}, r"X has no rows.* Pass the first rows of the stream"),
    (FRAME[["waited"]], {}, "No column is left"),
    (FRAME, {"zip": "category"}, r"kinds names \['zip'\], which X does not have"),
    (FRAME, {"note": "word"}, r"kinds has .*'word'.* A kind is one of 'number'"),
    (TWICE, {}, "Columns 0 and 1 of X have the same name, 'a'"),
    *(
        (pandas.DataFrame({"n": [value] * 3}), {"n": "text"}, r"'n' holds .*, which is .* astype")
        for value in (1.5, True, date(2026, 3, 1))
    ),
]


@pytest.mark.parametrize(("X", "kinds", "message"), NO_KINDS)
def test_what_has_no_kinds(X: Any, kinds: dict[str, str], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make_stream_preprocessor(X, kinds=kinds, verbose=False)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["x"] * 30, "categories"),
        ([None] * 30, "categories"),
        ([f"v{i}" for i in range(30)], "hashed_a"),
        ([f"v{i}" for i in range(10)], "categories"),
        (["a red one", "a blue one"] * 15, "categories"),
        ([f"number {i} of many" for i in range(10)], "text_a"),
        ([(i,) for i in range(30)], "categories"),
        (["2024-02-29 13:30", None, date(2024, 2, 29)], "datetimes"),
    ],
    ids=["one", "gaps", "many", "few", "long but few", "texts", "others", "dates"],
)
def test_texts_and_categories(values: list[Any], kind: str) -> None:
    frame = pandas.DataFrame({"a": pandas.Series(values, dtype=object)})
    assert [*columns_by_part(make_stream_preprocessor(frame, verbose=False))] == [kind]


@pytest.mark.parametrize("kind", ["many categories", "text"])
@pytest.mark.parametrize("dtype", ["int64", "Int64", "float64", "category", "object"])
def test_integers_are_hashed_as_their_texts(kind: str, dtype: str) -> None:
    numbers = pandas.Series([123, 456, 123, 789] * 5, name="zip")
    texts = numbers.astype(str).to_frame()
    frame = numbers.astype(dtype).to_frame()
    expected, given = (
        make_stream_preprocessor(X, kinds={"zip": kind}, verbose=False) for X in (texts, frame)
    )
    hashed = expected.fit_transform(texts).toarray()
    np.testing.assert_array_equal(given.fit_transform(frame).toarray(), hashed)
    if dtype == "int64":
        return
    frame.loc[1, "zip"], hashed[1] = None, 0.0  # a gap changes no other row
    np.testing.assert_array_equal(given.transform(frame).toarray(), hashed)
    if (dtype, kind) != ("float64", "text"):  # one case is enough
        return
    model = make_stream_pipeline(given, SGDClassifier(random_state=0))
    by_kernel, by_loop = both_ways(PrequentialEvaluator(), model, frame, LABELS[:20])
    assert by_kernel.paths["m"].startswith("kernel")
    np.testing.assert_array_equal(
        by_kernel.predictions("m", every_row=True), by_loop.predictions("m", every_row=True)
    )


def test_names_of_parts_can_be_told_apart() -> None:
    texts = [f"number {i} of many" for i in range(10)]
    frame = pandas.DataFrame({"a__b": texts, "a_b": texts})
    parts = columns_by_part(make_stream_preprocessor(frame, verbose=False))
    assert [*parts] == ["text_0", "text_1"]


def test_columns_whose_names_are_numbers_are_prepared_as_themselves(rng):
    """As after header=None and pop: then names are not places."""
    frame = pandas.DataFrame(
        {
            0: rng.choice(["a", "b"], 60),
            1: rng.normal(size=60),
            2: rng.integers(0, 2, 60),
            3: rng.choice(["x", "y"], 60),
            4: rng.normal(size=60),
        }
    )
    frame.pop(2)
    named = frame.set_axis([f"column {name}" for name in frame.columns], axis=1)
    by_number, by_text = (
        make_stream_preprocessor(one, verbose=False, sparse_output=False).fit(one).transform(one)
        for one in (frame, named)
    )
    np.testing.assert_array_equal(by_number, by_text)


def test_objects_of_true_and_none_can_be_booleans() -> None:
    frame = pandas.DataFrame({"b": pandas.Series([None, True, None, False], dtype=object)})
    made = make_stream_preprocessor(frame, kinds={"b": "boolean"}, verbose=False)
    assert made.fit_transform(frame).ravel().tolist() == [0.0, 1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="Column 'b' holds 'yes', which is neither"):
        made.fit(pandas.DataFrame({"b": ["yes"]}))


@pytest.mark.parametrize("library", ["objects", "pyarrow", "polars"])
def test_decimals_are_numbers(library: str) -> None:
    amounts = [Decimal("1.5"), None, Decimal(4)]
    if library == "polars":
        frame: Any = pytest.importorskip("polars").DataFrame({"a": amounts})
    else:
        dtype: Any = object
        if library == "pyarrow":
            dtype = pandas.ArrowDtype(pytest.importorskip("pyarrow").decimal128(10, 2))
        frame = pandas.DataFrame({"a": pandas.Series(amounts, dtype=dtype)})
    made = make_stream_preprocessor(frame, verbose=False)
    assert made.transformers[0][0] == "numbers"
    assert made.fit_transform(frame)[1].item() == 0.0  # the mean, scaled


def test_booleans_that_come_as_objects_with_a_gap_first_are_prepared_alike(rng):
    given = pandas.array(rng.choice([True, False], 45), dtype="boolean")
    given[[0, 7, 30]] = pandas.NA
    frame = pandas.DataFrame({"b": given, "x": rng.normal(size=45)})
    y = (frame.x + frame.b.fillna(False).astype(float) > 0.5).to_numpy()
    model = make_stream_pipeline(make_stream_preprocessor(frame), SGDClassifier(random_state=0))
    answers = [
        prequential_predict(model, rows, y, random_state=0, n_warmup=n_warmup)
        for rows in (frame, frame.astype({"b": object}))
        for n_warmup in (1, 5)
    ]
    assert list(answers[0][5:]) == list(answers[2][5:])
    assert list(answers[1][5:]) == list(answers[3][5:])


@pytest.mark.parametrize("text", ["03/01/2022 00:00", "3.1.2022", "03-01-22", "2022/01/03T10:00"])
def test_dates_in_another_form_are_named(text: str) -> None:
    for values in ([text] * 4, [text, None], [text, text.replace("3", "4")]):
        rows = pandas.DataFrame({"when": values, "x": 1.0})
        words = rf"^X\['when'\] looks like dates, such as '{re.escape(text)}', .*dayfirst=True"
        with pytest.warns(UserWarning, match=words):
            make_stream_preprocessor(rows)
        make_stream_preprocessor(rows, kinds={"when": "many categories"})
        for other in ("1.2.3", "10.0.0.1", "12-34", "02-12345678"):
            make_stream_preprocessor(rows.assign(when=[other, *values[1:]]))
