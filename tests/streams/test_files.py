"""Which files make a stream, in which order, and what is said where one is not like the others."""

import gzip
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.streams import CSVStream, ParquetStream, StreamError, as_stream
from skstream.streams._files import natural_order
from tests.streams._tables import dictionary, rows_of, write_parquet

pa = pytest.importorskip("pyarrow")


def csv_folder(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


@pytest.mark.parametrize("stream", [CSVStream, ParquetStream])
def test_a_folder_is_read_in_natural_order(tmp_path, stream):
    for number in (10, 2, 1, 11):
        if stream is CSVStream:
            (tmp_path / f"part.{number}.csv").write_text(f"x,class\n{number},a\n")
        else:
            write_parquet(tmp_path / f"part.{number}.parquet", {"x": [number], "class": ["a"]})
    read = stream(tmp_path, "class")
    assert rows_of(read)[0].ravel().tolist() == [1, 2, 10, 11]
    assert [file.rpartition(".")[0][-2:].strip(".") for file in read.files] == [
        "1",
        "2",
        "10",
        "11",
    ]
    assert read.path == read.files
    given = stream([read.files[2], read.files[0]], "class")
    assert rows_of(given)[0].ravel().tolist() == [10, 1]


@given(st.lists(st.integers(0, 10**6), min_size=1, unique=True))
def test_numbers_in_names_are_in_the_order_of_their_value(numbers):
    names = [f"day-{n}.csv" for n in numbers]
    assert sorted(names, key=natural_order) == [f"day-{n}.csv" for n in sorted(numbers)]


def test_hidden_and_temporary_files_are_left_out(tmp_path):
    csv_folder(tmp_path, rows="x,class\n1,a\n")
    for name in (".rows.csv", "_temporary.csv", "~rows.csv", "rows.csv.tmp", "rows.csv~"):
        (tmp_path / name).write_text("x,class\n2,b\n")
    assert rows_of(CSVStream(tmp_path, "class"))[0].tolist() == [[1]]


def test_lists_of_files_are_checked(tmp_path):
    file = csv_folder(tmp_path, a="x,class\n1,a\n") / "a.csv"
    with pytest.raises(ValueError, match="list of files is empty"):
        CSVStream([], "class")
    with pytest.raises(ValueError, match=r"a\.csv'\] twice"):
        CSVStream([file, file], "class")
    with pytest.raises(FileNotFoundError, match=r"There is no file .*gone\.csv"):
        CSVStream([file, tmp_path / "gone.csv"], "class")
    with pytest.raises(FileNotFoundError, match="pass a folder on its own"):
        CSVStream([tmp_path], "class")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("x,k,class\n1,2,a\n", r"Column 'k' is in .*2\.csv, but absent in .*1\.csv"),
        ("y,class\n1,a\n", r"Column 'y' is in .*2\.csv, but absent"),
        ("class\na\n", r"Column 'x' is absent in .*2\.csv, but number in .*1\.csv"),
        (
            "x,class\nhigh,a\n",
            r"'x' is nominal in .*2\.csv, but number .* mixed values in nominal=",
        ),
        ("x,class\n2020-01-01,a\n", r"'x' is time in .*2\.csv, but number"),
        ("x,x,class\n1,2,a\n", r"Columns 0 and 1 of .*2\.csv have the same name, 'x'"),
        ("", r"2\.csv cannot be read as a CSV file: Empty"),
        ("x;class\n1;a\n", r"Column 'x;class' is in .*2\.csv, but absent"),
    ],
)
def test_all_files_are_looked_at_before_the_start(tmp_path, second, message):
    csv_folder(tmp_path, **{"1": "x,class\n1,a\n", "2": second})
    with pytest.raises(ValueError, match=message):
        CSVStream(tmp_path, "class")


def test_files_may_differ_where_it_does_not_matter(tmp_path):
    csv_folder(
        tmp_path,
        **{"1": "x,s,z,class\n1,b,,u\n", "2": "class,s,z,x\nv,1,2.5,0.5\n", "3": "x,s,z,class\n"},
    )
    X, y = rows_of(CSVStream(tmp_path, "class"))
    np.testing.assert_array_equal(X, [[1, 1, np.nan], [0.5, 0, 2.5]])
    assert y.tolist() == ["u", "v"]


def test_parquet_files_are_looked_at_before_the_start(tmp_path):
    write_parquet(tmp_path / "1.parquet", {"x": [1], "class": ["a"]})
    write_parquet(tmp_path / "2.parquet", {"x": [0.5], "class": ["a"]})
    assert rows_of(ParquetStream(tmp_path, "class"))[0].tolist() == [[1], [0.5]]
    write_parquet(tmp_path / "3.parquet", {"x": [1], "late": [1], "class": ["a"]})
    with pytest.raises(ValueError, match=r"Column 'late' is in .*3\.parquet, but absent"):
        ParquetStream(tmp_path, "class")
    assert len(list(ParquetStream(tmp_path, "class", columns=["x"]))) == 3
    write_parquet(tmp_path / "4.parquet", {"x": ["text"], "class": ["a"]})
    with pytest.raises(ValueError, match=r"Column 'x' is nominal in .*4\.parquet, but integer"):
        ParquetStream(tmp_path, "class", columns=["x"])


def test_a_parquet_file_with_two_columns_of_one_name(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2]), pa.array(["a"])], names=["x", "x", "class"])
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"Columns 0 and 1 of .* have the same name, 'x'"):
        ParquetStream(tmp_path, "class")


def test_a_file_that_breaks_off_is_named_with_its_row(tmp_path):
    rows = np.random.default_rng(0).random(200_000)
    text = "x,class\n" + "".join(f"{x},{int(x > 0.5)}\n" for x in rows)
    csv_folder(tmp_path, **{"1": "x,class\n1,0\n2,1\n"})
    (tmp_path / "2.csv.gz").write_bytes(gzip.compress(text.encode(), 1)[:-1000])
    seen = 0
    with pytest.raises(StreamError) as raised:
        for _, y, _ in CSVStream(tmp_path, "class"):
            seen += len(y)
    error = raised.value
    assert error.file == str(tmp_path / "2.csv.gz")
    assert str(error).startswith(f"{error.file} cannot be read after its first")


def test_a_parquet_file_that_is_replaced_meanwhile(tmp_path):
    for name in ("1", "2"):
        write_parquet(tmp_path / f"{name}.parquet", {"x": [1], "class": [0]})
    stream = iter(ParquetStream(tmp_path, "class"))
    next(stream)
    (tmp_path / "2.parquet").write_text("gone")
    with pytest.raises(StreamError, match=r"2\.parquet cannot be read"):
        next(stream)


def test_a_source_that_fails_midway_says_after_which_row():
    def source():
        yield np.zeros((3, 1)), [0, 1, 0]
        raise OSError("the disk is gone")

    with pytest.raises(StreamError, match="failed after row 2: OSError: the disk is") as raised:
        list(as_stream(source))
    assert isinstance(raised.value.__cause__, OSError)
    assert raised.value.row == 3
    twin = pickle.loads(pickle.dumps(raised.value))
    assert (str(twin), twin.row, twin.file) == (str(raised.value), 3, None)


def test_a_source_that_never_begins_keeps_its_own_error():
    def source():
        raise KeyError("password")
        yield

    with pytest.raises(KeyError, match="password"):
        list(as_stream(source))


@pytest.mark.filterwarnings("error")
def test_the_same_rows_from_both_kinds_of_file(tmp_path):
    days = ["10", "9", "1", "10"]
    columns = {"day": dictionary(["1", "9", "10"], [2, 1, 0, 2]), "x": [1, 2, 3, 4]}
    path = write_parquet(tmp_path / "rows.parquet", columns | {"class": list("abab")})
    text = "day,x,class\n" + "".join(f"{d},{i + 1},{'ab'[i % 2]}\n" for i, d in enumerate(days))
    csv = csv_folder(tmp_path, rows=text) / "rows.csv"
    for options in ({"nominal": ["day"]}, {"numeric": ["day"]}, {"nominal": "day"}):
        from_parquet = ParquetStream(path, "class", **options)
        from_csv = CSVStream(csv, "class", **options)
        np.testing.assert_array_equal(rows_of(from_parquet)[0], rows_of(from_csv)[0])
        assert from_parquet.kinds == from_csv.kinds
        assert from_parquet.categories == from_csv.categories
    assert CSVStream(csv, "class").kinds == {"day": "number", "x": "number"}


def test_texts_named_numeric_must_be_numbers(tmp_path):
    path = write_parquet(tmp_path / "rows.parquet", {"x": ["1", None, "2,5"], "class": [0, 1, 0]})
    with pytest.raises(StreamError, match=r"Row 2 has the text '2,5' in column 'x'"):
        list(ParquetStream(path, "class", numeric=["x"]))
    with pytest.raises(ValueError, match="named in nominal= and in numeric="):
        ParquetStream(path, "class", numeric=["x"], nominal=["x"])


def test_numbers_named_nominal_are_categories(tmp_path):
    columns = {"x": pa.array([2.5, None, float("nan"), 0.5]), "class": [0, 1, 0, 1]}
    stream = ParquetStream(write_parquet(tmp_path / "r.parquet", columns), "class", nominal=["x"])
    assert stream.categories == {"x": [0.5, 2.5]}
    np.testing.assert_array_equal(rows_of(stream)[0], [[1], [np.nan], [np.nan], [0]])
