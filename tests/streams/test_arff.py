"""ARFF files as streams."""

import gzip
import pickle
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstream import Persistent, PrequentialEvaluator
from skstream.streams import ARFFStream, StreamError
from tests._examples import examples
from tests.streams._tables import rows_of

pytest.importorskip("pyarrow")

N_ROWS = 17
HEADER = """% Rows of a power grid
@RELATION 'power grid'

@attribute load REAL
@attribute 'the day' {Mon, Tue, 'Wed, or later'}
@Attribute when date "yyyy-MM-dd HH:mm"
@attribute n integer
@attribute\tclass\t{up,down,
   none}
@DATA
"""
TEXT = (
    HEADER
    + """1.5,Mon,"2020-02-01 10:30",3,up
% a comment, with commas

 2.5 , Tue , '2020-02-02 01:05' , ? ,down
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


def test_frames(tmp_path, pd):
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

    last = draw(st.sampled_from(["", "", ",", " , "]))  # MOA writes a comma behind a row
    text = "@relation r\n@attribute x\treal\n"
    text += f"@attribute d {{{','.join(map(word, days))}}}\n"
    text += "@attribute class {up,down}\n@data"
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


@pytest.mark.parametrize(
    ("pattern", "text", "written"),
    [
        ("yyyy-MM-dd", "2020-02-29", None),
        ("", "2020-02-29T23:59:01", None),
        ("yyyy-MM-dd HH:mm:ss.SSS", "2020-02-29 10:20:30.007", None),
        ("d/M/yyyy", "5/1/2020", "%d/%m/%Y"),
        ("dd.MM.yy HH:mm", "05.01.20 10:20", "%d.%m.%y %H:%M"),
    ],
)
def test_dates(tmp_path, pattern, text, written):
    quoted = f'"{pattern}"' if pattern else ""
    header = f"@attribute t date {quoted}\n@attribute class {{a,b}}\n@data\n"
    path = write(tmp_path, f"{header}\"{text}\",a\n'{text}',b\n")
    given = {"roles": {"arrival": "t"}, "options": {"time_format": written}}
    ((_, _, meta),) = ARFFStream(path, "class", **given)
    read = datetime.strptime(text, written) if written else datetime.fromisoformat(text)
    assert (meta["arrival"] == np.datetime64(read)).all()
    for bad in ("2020-02-30", "yesterday"):
        path = write(tmp_path, f"{header}'{text}',a\n'{bad}',b\n")
        with pytest.raises(StreamError, match=rf"Row 1 has .*'{bad}' in column 't', .*time_format"):
            list(ARFFStream(path, "class", **given))
    if written:
        with pytest.raises(StreamError, match=r"Row 0 has .* in column 't', .*time_format"):
            list(ARFFStream(path, "class", roles={"arrival": "t"}))


SPARSE = """@relation r
@attribute a numeric
@attribute b {x, y, 'z z'}
@attribute c numeric
@attribute class {no, yes}
@data
"""


@pytest.mark.parametrize("chunk_size", [1, 2, 100])
def test_sparse_rows(tmp_path, chunk_size, pd):
    nan = np.nan
    lines = ["{0 1.5, 1 'y', 3 yes}", "{}", "% {0 7}", '{2 ?,3 "yes"}', "", "{1 ?}"]
    lines[0] += " % up, {5}"
    lines.append("{ 1 y , 2 -3 } ")
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
    with pytest.raises(ValueError, match=r"'a' is named in nominal=.* pass as_frame=True"):
        list(ARFFStream(path, "class", nominal=["a"]))
    path = write(tmp_path, SPARSE.replace("a numeric", "a string") + "{0 'u v'}\n")
    with pytest.raises(ValueError, match=r"'a' is .* or contains texts .* pass as_frame=True"):
        list(ARFFStream(path, "class"))
    assert rows_of(ARFFStream(path, "class", text="a"))[0].tolist() == ["u v"]


@pytest.mark.parametrize(
    ("header", "line", "message"),
    [
        (HEADER, "1,Mon,?,1", r"line 12: 4 values, but 5 attributes are declared: '1,Mon,\?,1'"),
        (HEADER, "1,Mon,?,1,up,2", r"line 12: 6 values, but 5 attributes"),
        (HEADER, "1,Mon,?,1,up, { 5.5 } % twice", r"line 12: .* a weight \{...\} .*sample_weight"),
        (SPARSE, "{1 x, 3 yes}, {5}", r"line 8: .* a weight \{...\} behind the row.*sample_weight"),
        (HEADER, "1,Sun,?,1,up", r"Row 1 has the value 'Sun' in column 'the day', .* its 3 decl"),
        (HEADER, "1,Mon,?,1,UP", r"Row 1 has the value 'UP' in column 'class', .* its 3 declared"),
        (HEADER, "high,Mon,?,1,up", r"Row 1 has the text 'high' in column 'load', .*not a number"),
        (HEADER, "1,'Mon,?,1,up", r"line 12: .* a quote is not closed"),
        (HEADER, "1,'Mon'x,?,1,up", r"line 12: .* is followed by more than a comma"),
        (HEADER, "{0 1}", r"line 12: sparse rows .* are mixed"),
        (SPARSE, "{4 1}", r"line 8: the index 4 is out of range: 4 attributes are declared"),
        (SPARSE, "{0 high}", r"Row 1 has the text 'high' in column 'a'"),
        (SPARSE, "{1 w}", r"Row 1 has the text 'w' in column 'b', .*one of its declared values"),
        (SPARSE, "{3 'maybe'}", r"Row 1 has the value 'maybe' in column 'class', .* its 2"),
        (SPARSE, "1,x,2,no", r"line 8: sparse rows .* are mixed"),
        (SPARSE, "{0 1", r"line 8: '\{0 1' cannot be split"),
        (SPARSE, "{-1 1}", r"line 8: .* cannot be split"),
        (SPARSE, "{0}", r"line 8: '\{0\}' cannot be split"),
    ],
)
def test_rows_that_do_not_fit_are_named(tmp_path, header, line, message):
    good = "{}" if header is SPARSE else "1,Mon,'2020-02-01 10:30',3,up"
    path = write(tmp_path, f"{header}{good}\n{line}\n{good}\n")
    with pytest.raises(StreamError, match=message) as raised:
        list(ARFFStream(path, "class"))
    assert raised.value.file == (None if "has the value" in message else str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "declares no @attribute"),
        ("x,y\n1,2\n", r"line 1: 'x,y' is neither @relation"),
        ("@relation r\n@data\n1\n", "declares no @attribute"),
        ("@attribute x\n@data\n", r"line 1: '@attribute x' does not declare a name and a type"),
        ("@attribute x float\n@data\n", r"line 1: 'x' has the type 'float'; known are"),
        ("@attribute x {a,,b}\n@data\n", r"line 1: the values of 'x' contain an empty one"),
        ("@attribute x {a,b,a}\n@data\n", r"line 1: the values of 'x' contain .* duplicate"),
        ("@attribute 'x real\n@data\n", r"line 1: .* does not declare a name"),
        ("@attribute x relational\n@data\n", r"line 1: 'x' has the type 'relational'"),
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
    text = "\ufeff@attribute x real\n@attribute d {a,'b c'}\n@attribute class {u,v}\n@data\n"
    path = write(tmp_path, text + "1\t a \tu\n\t'b c'\tv\n?\t'b c'\tv\n")
    X, y = rows_of(ARFFStream(path, "class"))
    np.testing.assert_array_equal(X, [[1, 0], [np.nan, 1], [np.nan, 1]])
    assert y.tolist() == ["u", "v", "v"]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("'a b'", "a b"),
        ("'a b' ", "a b"),
        (" 'a, b'", "a, b"),
        ("' a '", " a "),
        (r"'it\'s'", "it's"),
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
    with pytest.raises(StreamError, match=r"line 5: .* more than a comma"):
        list(ARFFStream(path, "class", text="s"))


def test_the_row_of_a_missing_label(tmp_path):
    stream = ARFFStream(write(tmp_path, TEXT), "class")
    with pytest.raises(ValueError, match=r"It is row 2 of .*rows\.arff\. If its label is the mark"):
        PrequentialEvaluator("accuracy").evaluate(Persistent(), stream)
