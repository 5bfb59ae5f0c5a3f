"""CSV files as streams."""

import numpy as np
import pytest

from skstream.streams import CSVStream, StreamError
from tests.streams._tables import rows_of

pytest.importorskip("pyarrow")

TEXT = """id,load,day,when,open,class
r1,1,Mon,2020-01-01,true,up
r2,2.5,?,2020-01-02,false,down
r3,,Tue,2020-01-03,true,
"""


def csv(folder, text=TEXT, name="rows.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_types_are_found_in_the_file(tmp_path):
    stream = CSVStream(csv(tmp_path), "class", roles={"id": "id", "arrival": "when"})
    ((X, y, meta),) = stream
    np.testing.assert_array_equal(X, [[1, 0, 1], [2.5, np.nan, 0], [np.nan, 1, 1]])
    assert stream.feature_names == ["load", "day", "open"]
    assert stream.categories == {"day": ["Mon", "Tue"]}
    assert y.tolist() == ["up", "down", None]
    assert stream.classes.tolist() == ["down", "up"]
    assert meta["id"].tolist() == ["r1", "r2", "r3"]
    assert meta["arrival"][2] == np.datetime64("2020-01-03")
    np.testing.assert_array_equal(CSVStream(stream.path, "class", columns=["when"]).n_rows, 3)


def test_rows_are_counted_in_the_first_pass(tmp_path, monkeypatch):
    stream = CSVStream(csv(tmp_path), "class")
    list(stream)
    monkeypatch.setattr(CSVStream, "_batches", None)
    assert stream.n_rows == 3


def test_columns_can_be_named_nominal(tmp_path):
    path = csv(tmp_path, "code;class\n10;1\n9;0\nA;1\n")
    stream = CSVStream(path, "class", nominal=["code", "class"], options={"delimiter": ";"})
    X, y = rows_of(stream)
    assert stream.categories == {"code": ["10", "9", "A"]}
    np.testing.assert_array_equal(X, [[0], [1], [2]])
    assert y.tolist() == ["1", "0", "1"]
    with pytest.raises(ValueError, match="nominal names the column 'z'"):
        CSVStream(path, "class", nominal=["z"], options={"delimiter": ";"})


def test_fractions_may_come_late(tmp_path):
    rows = "".join(f"{i},{i % 2}\n" for i in range(300_000))
    stream = CSVStream(csv(tmp_path, "x,class\n" + rows + "0.5,1\n"), "class", chunk_size=10_000)
    X, y = rows_of(stream)
    assert X[-1, 0] == 0.5
    assert len(y) == 300_001
    assert stream.classes.tolist() == [0, 1]
    late_text = csv(tmp_path, "x,class\n" + rows + "high,1\n", "late.csv")
    with pytest.raises(StreamError, match=r"late\.csv .* Row 300000 has the text 'high'") as raised:
        list(CSVStream(late_text, "class"))
    assert raised.value.file == str(late_text)
    assert 0 < raised.value.row < 300_000
    assert len(CSVStream(late_text, "class", exclude=["x"]).classes) == 2


def test_a_file_without_names_is_recognised(tmp_path):
    path = csv(tmp_path, "8.5,6,up\n7.5,2,down\n")
    with pytest.raises(ValueError, match=r"'class', which is not in .*'8\.5', '6', 'up'.*header.:"):
        CSVStream(path, "class")
    stream = CSVStream(path, "f2", options={"header": False})
    X, y = rows_of(stream)
    assert X.tolist() == [[8.5, 6], [7.5, 2]]
    assert (y.tolist(), stream.feature_names) == (["up", "down"], ["f0", "f1"])
    # Names that are numbers, as pandas gives them, are names.
    named = CSVStream(csv(tmp_path, "0,1,class\n8.5,6,up\n"), "class")
    assert named.feature_names == ["0", "1"]


@pytest.mark.parametrize(
    ("wrong", "near"), [("Class", "class"), ("clas", "class"), ("target", None), (" load", "load")]
)
def test_near_names_are_suggested(tmp_path, wrong, near):
    with pytest.raises(ValueError, match=f"target names the column '{wrong}'") as raised:
        CSVStream(csv(tmp_path), wrong)
    assert (f"Did you mean '{near}'?" in str(raised.value)) == (near is not None)


@pytest.mark.parametrize("texts", ["8,5;9;-0,25", "1.234,5;2,0", "1,234;12,345,678"])
def test_numbers_written_in_another_way_are_no_categories(tmp_path, texts):
    values = texts.split(";")
    lines = [f'"{value}",{i % 2}' for i, value in enumerate(values)]
    path = csv(tmp_path, "\n".join(["x,class", *lines]) + "\n")
    with pytest.raises(
        ValueError, match=r"Column 'x' contains numbers, but also the text .*decimal"
    ):
        list(CSVStream(path, "class"))
    # Whoever says so gets categories.
    assert len(CSVStream(path, "class", nominal=["x"]).categories["x"]) == len(values)


@pytest.mark.parametrize("texts", ["a,b", "1,5;a", "10:30;late", "1.2.3.4;1.2.3.5", "01/02;02/02"])
def test_texts_that_are_no_numbers_stay_categories(tmp_path, texts):
    values = texts.split(";")
    lines = [f'"{value}",{i % 2}' for i, value in enumerate(values)]
    path = csv(tmp_path, "\n".join(["x,class", *lines]) + "\n")
    assert CSVStream(path, "class").categories["x"] == sorted(values)


def test_decimal_commas_can_be_read(tmp_path):
    path = csv(tmp_path, "x;y\n8,5;1,25\n;2\n")
    X, y = rows_of(CSVStream(path, "y", options={"delimiter": ";", "decimal": ","}))
    np.testing.assert_array_equal(X, [[8.5], [np.nan]])
    assert y.tolist() == [1.25, 2]
    with pytest.raises(
        ValueError, match=r"'y' contains numbers, but also the text '1,25'.*decimal"
    ):
        CSVStream(path, "y", options={"delimiter": ";"}).classes  # noqa: B018
    late = csv(tmp_path, "x;y\n" + "8,5;1\n" * 400_000 + "1.234;1\n", "late.csv")
    with pytest.raises(StreamError, match=r"'1\.234' in column 'x'"):
        list(CSVStream(late, "y", options={"delimiter": ";", "decimal": ","}))
    with pytest.raises(ValueError, match="decimal must be one character"):
        CSVStream(path, "y", options={"decimal": "comma"})


def test_free_text_is_refused(tmp_path):
    rows = "".join(f"message number {i},{i % 2}\n" for i in range(1001))
    path = csv(tmp_path, "text,class\n" + rows)
    with pytest.raises(
        ValueError, match=r"'text' has more than 1,000 different texts.*HashingVector"
    ):
        list(CSVStream(path, "class"))
    assert len(CSVStream(path, "class", max_categories=1001).categories["text"]) == 1001
    with pytest.raises(ValueError, match="max_categories must be an integer >= 1"):
        CSVStream(path, "class", max_categories=0)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks(tmp_path, end, mark):
    path = tmp_path / "rows.csv"
    path.write_bytes((mark + TEXT.replace("\n", end)).encode())
    X, y = rows_of(CSVStream(path, "class", exclude=["id", "when"]))
    np.testing.assert_array_equal(X, [[1, 0, 1], [2.5, np.nan, 0], [np.nan, 1, 1]])
    assert y.tolist() == ["up", "down", None]


def test_quoted_line_ends_at_the_seam_of_two_blocks(tmp_path):
    value = "first line\nsecond, line"
    text = "s,n,class\n" + "".join(f'"{value}",{i},{i % 2}\n' for i in range(60_000))
    X, y = rows_of(CSVStream(csv(tmp_path, text), "class"))
    np.testing.assert_array_equal(X[:, 1], np.arange(60_000))
    assert not X[:, 0].any()
    assert y.tolist() == [0, 1] * 30_000


def test_a_target_without_labels_or_rows(tmp_path):
    with pytest.raises(ValueError, match="'class' has no labels"):
        CSVStream(csv(tmp_path, "x,class\n1,\n2,?\n"), "class").classes  # noqa: B018
    with pytest.raises(ValueError, match=r"The stream is empty: .*rows\.csv has no row"):
        CSVStream(csv(tmp_path, "x,class\n"), "class").classes  # noqa: B018
    stream = CSVStream(csv(tmp_path, "x,class\n1,a\n2,?\n3,b\n"), "class")
    assert rows_of(stream)[1].tolist() == ["a", None, "b"]


@pytest.mark.parametrize("text", ["NA", "N/A", "NaN", "nan", "null", "NULL"])
def test_marks_of_missing_numbers_are_texts_among_texts(tmp_path, text):
    path = csv(tmp_path, f"x,s,class\n{text},{text},a\n2,u,{text}\n3,,b\n")
    stream = CSVStream(path, "class")
    X, y = rows_of(stream)
    np.testing.assert_array_equal(np.isnan(X), [[True, False], [False, False], [False, True]])
    assert y.tolist() == ["a", text, "b"]
    assert stream.categories == {"s": sorted([text, "u"])}
    X, y = rows_of(CSVStream(path, "class", options={"null_values": ["", text]}))
    assert np.isnan(X[0, 1])
    assert y.tolist() == ["a", None, "b"]


def test_a_column_that_begins_empty_is_said_to(tmp_path):
    path = csv(tmp_path, "s,class\n" + ",1\n" * 400_000 + "high,0\n")
    with pytest.raises(
        StreamError, match=r"Row 400000 has .*'high' in column 's', .* not a number"
    ):
        list(CSVStream(path, "class"))


def test_a_file_of_labels_alone(tmp_path):
    stream = CSVStream(csv(tmp_path, "class\nup\ndown\n"), "class")
    X, y = rows_of(stream)
    assert X.shape == (2, 0)
    assert y.tolist() == ["up", "down"]


def test_a_stream_says_what_its_columns_are_read_as(tmp_path):
    stream = CSVStream(csv(tmp_path), "class")
    assert stream.kinds == {
        "id": "category",
        "load": "number",
        "day": "category",
        "when": "time",
        "open": "boolean",
    }
    assert repr(stream) == (
        "CSVStream(3 rows; features: categories id, day; numbers load; times when; booleans open)"
    )
    wide = ",".join(f"x{j}" for j in range(20)) + ",class\n" + "1," * 20 + "a\n"
    stream = CSVStream(csv(tmp_path, wide), "class")
    assert stream.features_in_words().endswith("x10, x11, ... (20 in all)")


def test_few_texts_among_many_numbers_are_recognised(tmp_path):
    for n_rows in (2000, 20):
        rows = "".join(f"{i}.5,a\n" for i in range(n_rows))
        path = csv(tmp_path, "x,class\n" + rows + "broken,b\n")
        with pytest.raises(ValueError, match="'x' contains numbers, but also the text 'broken'"):
            list(CSVStream(path, "class"))
    codes = "".join(f"{code},a\n" for code in ("1", "2", "3", "other"))
    stream = CSVStream(csv(tmp_path, "x,class\n" + codes), "class")
    assert stream.categories == {"x": ["1", "2", "3", "other"]}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ["load", "load"]}, ValueError, "columns names the column 'load' twice"),
        ({"options": {"decimals": ","}}, ValueError, "no key 'decimals'. Did you mean 'decimal'?"),
        ({"options": {"header": 0}}, TypeError, "header must be True if .* Got 0 instead"),
        ({"options": {"encoding": None}}, TypeError, "encoding must be a name.* Got None"),
        ({"options": {"null_values": [1]}}, TypeError, r"must be a list of texts. Got \[1\]"),
        ({"options": ";"}, TypeError, "options must be a dict with any of .*delimiter.*Got ';'"),
        ({"roles": {"arrivals": "when"}}, ValueError, "roles has .*mean 'arrival'.* Known: sample"),
        ({"target": None}, TypeError, "target must be the name of a column. Got None"),
        ({"roles": {"arrival": 3}}, TypeError, "arrival must be the name of a column. Got 3"),
        ({"path": None}, TypeError, "path must be a file, a folder or a list of files. Got None"),
        ({"numeric": ["id"]}, ValueError, "Row 0 has the text 'r1' in column 'id', .*numeric="),
    ],
)
def test_wrong_parameters_are_refused_in_words(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        list(CSVStream(**({"path": csv(tmp_path), "target": "class"} | options)))


def late(tmp_path, texts, n=9000):
    """File whose first 64 KB hold the labels 1 and 2, and whose last rows hold these."""
    lines = ["x,y", *(f"0.12345,{1 + i % 2}" for i in range(n)), *(f"1,{text}" for text in texts)]
    return csv(tmp_path, "\n".join(lines) + "\n")


@pytest.mark.parametrize("n", [9000, 200_000])  # seen, or not, when types are found
def test_labels_beyond_64_bits_are_refused_wherever_they_stand(tmp_path, n):
    path = late(tmp_path, ["18446744073709551617", "18446744073709551618"], n)
    with pytest.raises(ValueError, match="1844674407370955161"):
        CSVStream(path, "y").classes  # noqa: B018
    assert len(CSVStream(path, "y", nominal=["y"]).classes) == 4
    assert len(CSVStream(path, "y", numeric=["y"]).classes) == 3


def test_targets_of_fractions_may_be_long(tmp_path):
    assert CSVStream(late(tmp_path, ["18446744073709551617", "0.5"]), "y").classes is None


def test_spaces_after_the_delimiter_are_part_of_names(tmp_path):
    path = tmp_path / "spaces.csv"
    path.write_text("a, class\n1, up\n2, down\n")
    with pytest.raises(ValueError, match="Did you mean ' class'"):
        CSVStream(path, target="class")
    with pytest.raises(ValueError, match="columns names the column ' class', which is the target"):
        CSVStream(path, target=" class", columns=[" class"])


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            b"x;class\n1;a\n",
            {},
            r"'class', which is not in .* 'x;class'. Describe .*'delimiter': ';'",
        ),
        (
            b'x,class\n1,a\n2,"b\n3,a\n',
            {},
            "contains 1 whole rows: the quote before 'b' is not clos",
        ),
        (b'x,class\n1,"a\nb"\n\n1,a,c\n', {}, "row 1 has 3 values, but there are 2 columns: '1,a"),
        (b"x;class\n1,5;a\n", {}, r"row 0 is '1,5;a'. Pass options={'delimiter': ';'} if ';'"),
        (b"x;class\n1;a;b\n", {"delimiter": ";"}, "row 0 has 3 values, but there are 2 columns"),
        (b"", {}, "cannot be read as a CSV file: Empty"),
        ("größe,class\n1,süß\n".encode("latin-1"), {}, "not encoded as utf-8.*'latin-1'"),
        (b"x,class\n", {"encoding": "klingon"}, "no encoding of the name 'klingon'"),
        (b"x,class\n1.5,a\n2.5,b\n", {"decimal": ","}, "'x' contains numbers, .* text '1.5'"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, content, options, message):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        list(CSVStream(path, "class", options=options))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    path.write_bytes("größe,class\n1,süß\n".encode(encoding))
    stream = CSVStream(path, "class", options={"encoding": encoding})
    assert (stream.feature_names, stream.classes.tolist()) == (["größe"], ["süß"])
