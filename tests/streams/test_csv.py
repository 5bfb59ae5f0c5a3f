"""CSV files as streams."""

import gzip

import numpy as np
import pytest

from skstream.streams import CSVStream
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
    stream = CSVStream(csv(tmp_path), "class", id="id", arrival="when")
    ((X, y, meta),) = stream
    np.testing.assert_array_equal(X, [[1, 0, 1], [2.5, np.nan, 0], [np.nan, 1, 1]])
    assert stream.feature_names == ["load", "day", "open"]
    assert stream.categories == {"day": ["Mon", "Tue"]}
    assert y.tolist() == ["up", "down", None]
    assert stream.classes.tolist() == ["down", "up"]
    assert meta["id"].tolist() == ["r1", "r2", "r3"]
    assert meta["arrival"][2] == np.datetime64("2020-01-03")
    np.testing.assert_array_equal(CSVStream(stream.path, "class", columns=["when"]).n_rows, 3)


def test_dates_are_days(tmp_path):
    stream = CSVStream(csv(tmp_path), "class", columns=["when"])
    np.testing.assert_array_equal(np.diff(rows_of(stream)[0], axis=0), [[1], [1]])


def test_rows_are_counted_in_the_first_pass(tmp_path, monkeypatch):
    stream = CSVStream(csv(tmp_path), "class")
    list(stream)
    monkeypatch.delattr(CSVStream, "_batches")
    assert stream.n_rows == 3


def test_columns_can_be_named_nominal(tmp_path):
    path = csv(tmp_path, "code;class\n10;1\n9;0\nA;1\n")
    stream = CSVStream(path, "class", nominal=["code", "class"], delimiter=";")
    X, y = rows_of(stream)
    assert stream.categories == {"code": ["10", "9", "A"]}
    np.testing.assert_array_equal(X, [[0], [1], [2]])
    assert y.tolist() == ["1", "0", "1"]
    with pytest.raises(ValueError, match="nominal names the column 'z'"):
        CSVStream(path, "class", nominal=["z"], delimiter=";")


def test_fractions_may_come_late(tmp_path):
    rows = "".join(f"{i},{i % 2}\n" for i in range(300_000))
    stream = CSVStream(csv(tmp_path, "x,class\n" + rows + "0.5,1\n"), "class", chunk_size=10_000)
    X, y = rows_of(stream)
    assert X[-1, 0] == 0.5
    assert len(y) == 300_001
    assert stream.classes.tolist() == [0, 1]
    late_text = csv(tmp_path, "x,class\n" + rows + "high,1\n", "late.csv")
    with pytest.raises(ValueError, match=r"late\.csv does not fit .*high.* named in nominal="):
        list(CSVStream(late_text, "class"))
    assert len(CSVStream(late_text, "class", exclude=["x"]).classes) == 2


def test_null_values_can_be_chosen(tmp_path):
    path = csv(tmp_path, "country,class\nNA,1\n-,0\n")
    stream = CSVStream(path, "class", null_values=["-"])
    np.testing.assert_array_equal(rows_of(stream)[0], [[0], [np.nan]])


def test_compressed_files_and_folders(tmp_path):
    csv(tmp_path, "x,class\n2,b\n", "2.csv")
    (tmp_path / "1.csv.gz").write_bytes(gzip.compress(b"x,class\n1,a\n"))
    X, y = rows_of(CSVStream(tmp_path, "class"))
    assert X.ravel().tolist() == [1, 2]
    assert y.tolist() == ["a", "b"]


def test_other_columns_in_a_later_file(tmp_path):
    csv(tmp_path, "x,class\n2,b\n", "1.csv")
    csv(tmp_path, "z,class\n2,b\n", "2.csv")
    with pytest.raises(ValueError, match=r"2\.csv does not fit the columns"):
        list(CSVStream(tmp_path, "class"))


def test_a_row_of_another_width_is_refused(tmp_path):
    path = csv(tmp_path, "x,class\n1,a\n2,b,c\n")
    with pytest.raises(ValueError, match="Expected 2 columns, got 3"):
        list(CSVStream(path, "class"))


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be read as a CSV file: Empty CSV"):
        CSVStream(csv(tmp_path, ""), "class")
    with pytest.raises(ValueError, match="The stream is empty"):
        list(CSVStream(csv(tmp_path, "x,class\n"), "class"))


def test_the_same_rows_as_parquet(tmp_path):
    from skstream.streams import ParquetStream
    from tests.streams._tables import write_parquet

    columns = {"x": [1.5, None, 3.0], "s": ["b", "a", None], "class": ["u", "v", "u"]}
    parquet = write_parquet(tmp_path / "rows.parquet", columns)
    text = csv(tmp_path, "x,s,class\n1.5,b,u\n,a,v\n3.0,,u\n")
    for options in ({}, {"missing": 0}):
        X, y = rows_of(ParquetStream(parquet, "class", **options))
        X_csv, y_csv = rows_of(CSVStream(text, "class", **options))
        np.testing.assert_array_equal(X_csv, X)
        assert y_csv.tolist() == y.tolist()
