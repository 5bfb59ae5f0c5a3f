"""ARFF files as streams."""

import gzip
import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import arff

from skstream import Persistent, PrequentialEvaluator
from skstream.streams import ARFFStream, CSVStream, StreamError
from skstream.streams._arff_format import date_form
from tests._examples import examples
from tests.streams._tables import rows_of

pytest.importorskip("pyarrow")

N_ROWS = 17
HEADER = """% Rows of a power grid
@RELATION 'power grid'

@attribute load REAL
@attribute 'the day' {Mon, Tue, 'Wed, or later'}
@Attribute when date "dd.MM.yyyy HH:mm"
@attribute n integer
@attribute\tclass\t{up,down,
   none}
@DATA
"""
TEXT = (
    HEADER
    + """1.5,Mon,01.02.2020 10:30,3,up
% a comment, with commas

 2.5 , Tue , 2.2.2020 1:05 , ? ,down
?,'Wed, or later',?,-1,?
"""
)


def write(folder, text, name="rows.arff"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_kind_of_attribute(tmp_path):
    stream = ARFFStream(write(tmp_path, TEXT), "class", roles={"label_time": "when"})
    ((X, y, meta),) = stream
    nan = np.nan
    np.testing.assert_array_equal(X, [[1.5, 0, 3], [2.5, 1, nan], [nan, 2, -1]])
    assert y.tolist() == ["up", "down", None]
    assert stream.classes.tolist() == ["down", "none", "up"]
    assert stream.categories == {"the day": ["Mon", "Tue", "Wed, or later"]}
    assert stream.kinds == {"load": "number", "the day": "category", "n": "number"}
    when = np.array(["2020-02-01T10:30", "2020-02-02T01:05", "NaT"], "M8[s]")
    np.testing.assert_array_equal(meta["label_time"], when)
    X, _ = rows_of(ARFFStream(stream.path, "class", columns=["when"]))
    np.testing.assert_array_equal(X[:2, 0], when[:2].astype(np.int64))
    assert stream.n_rows == 3


def test_frames(tmp_path):
    pd = pytest.importorskip("pandas")
    frame, y = rows_of(ARFFStream(write(tmp_path, TEXT), "n", as_frame=True, chunk_size=2))
    assert frame["the day"].cat.categories.tolist() == ["Mon", "Tue", "Wed, or later"]
    assert frame["class"].tolist()[:2] == ["up", "down"]
    assert pd.isna(frame["class"].iloc[2])
    assert y.tolist() == [3, None, -1]


@st.composite
def tables(draw):
    """An ARFF text of numbers and nominal values, some of them quoted, and its rows."""
    words = st.text("ab 'é,%?\"\\", min_size=1, max_size=4).map(str.strip).filter(bool)
    days = draw(st.lists(words, min_size=1, max_size=4, unique=True))
    rows = draw(
        st.lists(
            st.tuples(
                st.none() | st.floats(allow_nan=False, width=32),
                st.none() | st.sampled_from(days),
                st.sampled_from(["up", "down"]),
            ),
            min_size=1,
            max_size=12,
        )
    )
    quote = draw(st.sampled_from("'\""))
    space = draw(st.sampled_from(["", "", " "]))

    def word(text):
        if text.isalpha() and draw(st.booleans()):
            return text
        inner = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
        return f"{quote}{inner}{quote}"

    before_set = draw(st.sampled_from([" ", "\n", "\n \t"]))
    last = draw(st.sampled_from(["", "", ",", " , "]))  # MOA writes a comma behind a row
    text = "@relation r\n@attribute x\treal\n"
    text += f"@attribute d{before_set}{{{','.join(map(word, days))}{last}}}\n"
    text += f"@attribute class{before_set}{{up,down}}\n@data"
    lines = text.split("\n")
    for x, day, label in rows:
        values = ["?" if x is None else repr(x), "?" if day is None else word(day), label]
        lines.append(f"{space},{space}".join(values) + last)
        if draw(st.integers(0, 9)) == 0:
            lines.append("")
    comments = st.sampled_from(["", "", "", "% words, and ' quotes", " %{5}", "\t% up"])
    end = draw(st.sampled_from(["", "\n", "\n\n"]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return (newline.join(line + draw(comments) for line in lines) + end), days, rows


@examples(30)
@given(table=tables(), chunk_size=st.integers(1, 14))
def test_the_rows_that_were_written(tmp_path_factory, table, chunk_size):
    text, days, rows = table
    path = tmp_path_factory.getbasetemp() / "written.arff"
    path.write_bytes(text.encode())
    X, y = rows_of(ARFFStream(path, "class", chunk_size=chunk_size))
    expected = [
        [np.nan if x is None else x, np.nan if day is None else days.index(day)]
        for x, day, _ in rows
    ]
    np.testing.assert_array_equal(X, expected)
    assert y.tolist() == [label for _, _, label in rows]


@pytest.mark.parametrize("chunk_size", [1, 5, 100])
def test_the_rows_of_scipy(tmp_path, chunk_size):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_ROWS, 2))
    days = np.array(["Mon", "Tue"])[rng.integers(0, 2, N_ROWS)]
    text = "@relation r\n@attribute a numeric\n@attribute d {Tue,Mon}\n"
    text += "@attribute t date 'yyyy-MM-dd'\n@attribute b real\n@data\n"
    for (a, b), day, k in zip(numbers.tolist(), days, range(N_ROWS), strict=True):
        text += f"{a!r},'{day}',2020-01-{k + 1:02},{b!r}\n"
    data, meta = arff.loadarff(io.StringIO(text))
    X, y = rows_of(ARFFStream(write(tmp_path, text), "b", chunk_size=chunk_size))
    values = meta["d"][1]
    np.testing.assert_array_equal(X[:, 0], data["a"])
    np.testing.assert_array_equal(X[:, 1], [values.index(day.decode()) for day in data["d"]])
    np.testing.assert_array_equal(X[:, 2], data["t"].astype("M8[D]").astype(float))
    np.testing.assert_array_equal(y, data["b"])


@pytest.mark.parametrize(
    ("pattern", "text", "moment"),
    [
        ("yyyy-MM-dd", "2020-02-29", "2020-02-29"),
        ("yyyy-MM-dd'T'HH:mm:ss", "2020-02-29T23:59:01", "2020-02-29T23:59:01"),
        ("d/M/yyyy", "5/1/2020", "2020-01-05"),
        ("yyyyMMddHHmmss", "20200105102030", "2020-01-05T10:20:30"),
        ("yyyy-MM-dd HH:mm:ss.SSS", "2020-01-05 10:20:30.007", "2020-01-05T10:20:30.007"),
        ("yyyy", "2020", "2020-01-01"),
    ],
)
def test_dates(tmp_path, pattern, text, moment):
    header = f'@attribute t date "{pattern}"\n@attribute class {{a,b}}\n@data\n'
    ((_, _, meta),) = ARFFStream(
        write(tmp_path, f"{header}\"{text}\",a\n'{text}',b\n{text},b\n"),
        "class",
        roles={"arrival": "t"},
    )
    assert (
        meta["arrival"].tolist() == [np.datetime64(moment, "us").astype(object)] * 3
        or (meta["arrival"] == np.datetime64(moment)).all()
    )
    for bad in ("2020-02-30", "yesterday", f"{text}0x"):
        path = write(tmp_path, f"{header}'{text}',a\n'{bad}',b\n")
        with pytest.raises(StreamError, match=rf"line 5: '{bad}' in column 't' is not a date wri"):
            list(ARFFStream(path, "class", roles={"arrival": "t"}))


@pytest.mark.parametrize("pattern", ["dd.MM.yy", "EEE yyyy", "HH:mm", "d MMM yyyy", "yyyy z"])
def test_patterns_that_cannot_be_read(pattern):
    with pytest.raises(ValueError, match="the date pattern"):
        date_form(pattern)


SPARSE = """@relation r
@attribute a numeric
@attribute b {x, y, 'z z'}
@attribute c numeric
@attribute class {no, yes}
@data
"""


@pytest.mark.parametrize("chunk_size", [1, 2, 100])
def test_sparse_rows(tmp_path, chunk_size):
    nan = np.nan
    lines = ["{0 1.5, 1 'y', 3 yes}", "{}", "% {0 7}", '{2 ?,3 "yes"}', "", "{1 ?}"]
    lines[0] += " % up, {5}"
    lines.append("{ 1 y , 2 -3 , } ")
    path = write(tmp_path, SPARSE + "\n".join(lines) + "\n")
    stream = ARFFStream(path, "class", chunk_size=chunk_size)
    chunks = list(stream)
    assert all(sparse.issparse(X) and X.format == "csr" for X, _, _ in chunks)
    X = sparse.vstack([X for X, _, _ in chunks])
    expected = [[1.5, 1, 0], [0, 0, 0], [0, 0, nan], [0, nan, 0], [0, 1, -3]]
    np.testing.assert_array_equal(X.toarray(), expected)
    assert X.nnz == 6
    y = np.concatenate([y for _, y, _ in chunks])
    assert y.tolist() == ["yes", "no", "yes", "no", "no"]
    assert np.concatenate(list(stream.labels())).tolist() == y.tolist()
    filled = sparse.vstack(
        [X for X, _, _ in ARFFStream(path, "class", options={"missing": 7})]
    ).toarray()
    assert (filled[2, 2], filled[3, 1]) == (7, -1)
    with pytest.raises(StreamError, match="Row 2 has no value in column 'c'"):
        list(ARFFStream(path, "class", options={"missing": "error"}))
    X = sparse.vstack([X for X, _, _ in ARFFStream(path, "class", columns=["c", "a"])])
    np.testing.assert_array_equal(X.toarray(), np.array(expected)[:, [2, 0]])
    pytest.importorskip("pandas")
    frame, _ = rows_of(ARFFStream(path, "class", as_frame=True, chunk_size=chunk_size))
    assert frame["b"].tolist()[:3] == ["y", "x", "x"]
    np.testing.assert_array_equal(frame["c"], np.array(expected)[:, 2])


def test_meta_data_of_sparse_rows(tmp_path):
    path = write(tmp_path, SPARSE + "{0 2,3 yes}\n{2 1}\n")
    ((X, _, meta),) = ARFFStream(path, "class", roles={"sample_weight": "a"})
    np.testing.assert_array_equal(meta["sample_weight"], [2, 0])
    np.testing.assert_array_equal(X.toarray(), [[0, 0], [0, 1]])
    path = write(tmp_path, SPARSE + "{0 2, 2 3}\n")
    ((X, _, _),) = ARFFStream(path, "class", columns=["c", "a"])
    assert (X.indices.tolist(), X.data.tolist()) == ([0, 1], [3, 2])
    with pytest.raises(ValueError, match=r"'a' is named in nominal= .* pass as_frame=True"):
        ARFFStream(path, "class", nominal=["a"])
    path = write(tmp_path, SPARSE.replace("a numeric", "a string") + "{0 'u v'}\n")
    with pytest.raises(ValueError, match=r"'a' holds texts, .* pass as_frame=True"):
        ARFFStream(path, "class")
    assert rows_of(ARFFStream(path, "class", text="a"))[0].tolist() == ["u v"]


@pytest.mark.parametrize(
    ("header", "line", "message"),
    [
        (HEADER, "1,Mon,?,1", r"line 12: 4 values, but 5 attributes are declared: '1,Mon,\?,1'"),
        (HEADER, "1,Mon,?,1,up,2", r"line 12: 6 values, but 5 attributes"),
        (HEADER, "1,Mon,?,1,up,{5}", r"line 12: the weight \{5\} behind the row"),
        (HEADER, "1,Mon,?,1,up, { 5.5 } % twice", r"line 12: the weight \{ 5\.5 \} behind the row"),
        (SPARSE, "{1 x, 3 yes}, {5}", r"line 8: the weight \{5\} behind the row .*sample_weight"),
        (SPARSE, "{},{1e-2}", r"line 8: the weight \{1e-2\} behind the row"),
        (HEADER, "1,Sun,?,1,up", r"line 12: 'Sun' in column 'the day' is not one of its 3 decl"),
        (HEADER, "1,Mon,?,1,UP", r"line 12: 'UP' in column 'class' is not one of its 3 declared"),
        (HEADER, "high,Mon,?,1,up", r"line 12: 'high' in column 'load' is not a number"),
        (HEADER, "1,Mon,soon,1,up", r"'soon' in column 'when' is not a date written dd\.MM"),
        (HEADER, "1,'Mon,?,1,up", r"line 12: the quote before .* is not closed"),
        (HEADER, "1,'Mon'x,?,1,up", r"line 12: the quote before .* followed by more than a comma"),
        (HEADER, "{0 1}", r"line 12: '\{0 1\}' is a sparse row among rows of all values"),
        (SPARSE, "{4 1}", r"line 8: the index 4 is out of range: 4 attributes are declared"),
        (SPARSE, "{0 1, 0 2}", r"line 8: the index 0 comes after 0, and indices must increase"),
        (SPARSE, "{2 1, 1 y}", r"line 8: the index 1 comes after 2"),
        (SPARSE, "{0 high}", r"line 8: 'high' in column 'a' is not a number"),
        (SPARSE, "{1 w}", r"line 8: 'w' in column 'b' is not one of its 3 declared values: 'x',"),
        (SPARSE, "{3 'maybe'}", r"line 8: 'maybe' in column 'class' is not one of its 2"),
        (SPARSE, "1,x,2,no", r"line 8: '1,x,2,no' is no sparse row"),
        (SPARSE, "{0 1", r"line 8: '\{0 1' is no sparse row"),
        (SPARSE, "{-1 1}", r"line 8: the index -1 is out of range"),
        (SPARSE, "{0}", r"line 8: '0' does not begin with an index and a value"),
    ],
)
def test_rows_that_do_not_fit_are_named(tmp_path, header, line, message):
    good = "{}" if header is SPARSE else "1,Mon,01.02.2020 10:30,3,up"
    path = write(tmp_path, f"{header}{good}\n{line}\n{good}\n")
    with pytest.raises(StreamError, match=message) as raised:
        list(ARFFStream(path, "class"))
    assert raised.value.file == str(path)
    assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("x,y\n1,2\n", r"line 1: 'x,y' is neither @relation"),
        ("@attribute x real\n", "it has no line @data"),
        ("@relation r\n@data\n1\n", "declares no @attribute"),
        ("@relation r\nnonsense\n@data\n", r"line 2: 'nonsense' is neither @relation"),
        ("@attribute x\n@data\n", r"line 1: 'x' has the type ''; known are numeric"),
        ("@attribute x float\n@data\n", r"line 1: 'x' has the type 'float'; known are"),
        ("@attribute x {a,b\n@attribute y real\n@data\n", r"line 1: the brace .* not closed"),
        ("@attribute x {a,,b}\n@data\n", r"line 1: the values of 'x' hold an empty one"),
        ("@attribute x {a,b,a}\n@data\n", r"line 1: the values of 'x' hold 'a' twice"),
        ("@attribute 'x real\n@data\n", r"line 1: .* does not begin with a name"),
        ("@attribute x relational\n@data\n", r"line 1: 'x' is relational"),
        ("@attribute x date 'MM'\n@data\n", r"line 1: the date pattern 'MM' has no year"),
        ("@attribute x real\n@attribute x real\n@data\n", "Columns 0 and 1 of .* same name, 'x'"),
    ],
)
def test_headers_that_cannot_be_read(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        ARFFStream(write(tmp_path, text), "class")


def test_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="target names the column 'y', which is not in"):
        ARFFStream(write(tmp_path, TEXT), "y")
    with pytest.raises(ValueError, match="The stream is empty"):
        list(ARFFStream(write(tmp_path, HEADER), "class"))
    path = write(tmp_path, TEXT.replace("Tue", "März"))
    path.write_bytes(path.read_text("utf-8").encode("latin-1"))
    with pytest.raises(ValueError, match=r"not encoded as utf-8: byte 0xe4.*'encoding': 'latin-1'"):
        ARFFStream(path, "class")
    assert (
        ARFFStream(path, "class", options={"encoding": "latin-1"}).categories["the day"][1]
        == "März"
    )
    path.write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(ValueError, match=r"compressed; its name has to end in \.arff\.gz"):
        ARFFStream(path, "class")
    with pytest.raises(ValueError, match="cannot be read as an ARFF file"):
        ARFFStream(write(tmp_path, TEXT, "rows.arff.gz"), "class")


def test_weights_of_attributes_are_left_out(tmp_path):
    text = "@attribute x real {2.0}\n@attribute d {a,b} {0.5}\n@attribute class {1}\n@data\n1,b,1\n"
    stream = ARFFStream(write(tmp_path, text), "class")
    assert stream.categories == {"d": ["a", "b"]}
    assert rows_of(stream)[0].tolist() == [[1, 1]]


def test_compressed_files_folders_and_pickles(tmp_path):
    write(tmp_path, TEXT, "10.arff")
    (tmp_path / "9.arff.gz").write_bytes(gzip.compress(TEXT.replace("Mon", "Fri").encode()))
    stream = ARFFStream(tmp_path, "class")
    assert stream.categories["the day"] == ["Fri", "Tue", "Wed, or later", "Mon"]
    with pytest.warns(UserWarning, match="times in column 'when' go back at row 3"):
        X, _ = rows_of(pickle.loads(pickle.dumps(stream)))
    assert X[:, 1].tolist() == [0, 1, 2, 3, 1, 2]


def test_tabs_and_marks_of_byte_order(tmp_path):
    text = "\ufeff@attribute x real\n@attribute d {a,b c}\n@attribute class {u,v}\n@data\n"
    path = write(tmp_path, text + "1\t a \tu\n\tb c\tv\n?\t'b c'\tv\n")
    X, y = rows_of(ARFFStream(path, "class"))
    np.testing.assert_array_equal(X, [[1, 0], [np.nan, 1], [np.nan, 1]])
    assert y.tolist() == ["u", "v", "v"]


def test_the_rows_of_the_same_csv_file(tmp_path):
    lines = "1,a,u\n2.5,?,v\n?,b,u\n"
    header = "@attribute x real\n@attribute d {a,b}\n@attribute class {u,v}\n@data\n"
    csv = tmp_path / "rows.csv"
    csv.write_text("x,d,class\n" + lines)
    path = write(tmp_path, header + lines)
    for options in ({}, {"options": {"missing": 0}}, {"columns": ["d"]}, {"exclude": ["x"]}):
        X, y = rows_of(ARFFStream(path, "class", **options))
        expected_X, expected_y = rows_of(CSVStream(csv, "class", **options))
        np.testing.assert_array_equal(X, expected_X)
        assert y.tolist() == expected_y.tolist()
    numbers = write(tmp_path, "@attribute d {10,9}\n@attribute class {u}\n@data\n9,u\n", "n.arff")
    assert rows_of(ARFFStream(numbers, "class", numeric=["d"]))[0].tolist() == [[9]]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("'a b'", "a b"),
        ("'a b' ", "a b"),
        (" 'a, b'", "a, b"),
        ("' a '", " a "),
        (" a b ", "a b"),
        ("'it''s'", "it's"),
        (r"'it\'s'", "it's"),
        ("it's", "it's"),
        ("'\"'", '"'),
        ("'?'", "?"),
        (" ? ", ""),
        ("''", ""),
        (r"'a\nb'", "a\nb"),
        ("'100%'", "100%"),
    ],
)
def test_texts_are_read_as_they_are_written(tmp_path, written, text):
    header = "@attribute s string\n@attribute class {u,v}\n@data\n"
    path = write(tmp_path, f"{header}{written},u\n'w x',v\n")
    X, y = rows_of(ARFFStream(path, "class", text="s"))
    assert X.tolist() == [text, "w x"]
    assert y.tolist() == ["u", "v"]
    path = write(tmp_path, f"{header}u,u\n'a'b,u\n'c',v\n")
    with pytest.raises(StreamError, match=r"line 5: the quote before .* more than a comma"):
        list(ARFFStream(path, "class", text="s"))


def test_the_line_of_a_missing_label(tmp_path):
    stream = ARFFStream(write(tmp_path, TEXT), "class")
    assert "Row 2 is line 15 of" in stream.about_missing_label(2)
    assert stream.about_missing_label(3) == ""
    with pytest.raises(ValueError, match=r"Row 2 is line 15 of .*rows\.arff, where column 'class'"):
        PrequentialEvaluator("accuracy").evaluate(Persistent(), stream)
