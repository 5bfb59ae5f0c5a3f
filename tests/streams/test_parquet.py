"""Parquet files as streams: types, categories, missing values, folders, memory."""

import datetime as dt
import pickle

import numpy as np
import pytest

from skstream.streams import ParquetStream
from tests.streams._tables import dictionary, rows_of, write_parquet

pa = pytest.importorskip("pyarrow")


def stream_of(folder, table, *, about=None, rows=10**6, target="class", **options):
    path = write_parquet(folder / "rows.parquet", table, about=about, rows=rows)
    return ParquetStream(path, target, **options)


def test_types_become_numbers(tmp_path):
    day = dt.date(1970, 1, 11)
    moment = dt.datetime(1970, 1, 1, 0, 0, 2, 500_000)
    utc = dt.timezone(dt.timedelta(hours=1))
    columns = {
        "small": pa.array([-3, None], pa.int8()),
        "bool": pa.array([True, None]),
        "half": pa.array([0.5, None], pa.float32()),
        "decimal": pa.array([1.25, None]).cast(pa.decimal128(5, 2)),
        "date": pa.array([day, None], pa.date32()),
        "date_ms": pa.array([day, None], pa.date64()),
        "moment": pa.array([moment, None], pa.timestamp("ms")),
        "zoned": pa.array([moment.replace(tzinfo=utc), None], pa.timestamp("us", tz="UTC")),
        "clock": pa.array([dt.time(1, 0, 1), None], pa.time32("s")),
        "clock_us": pa.array([dt.time(0, 0, 1, 500_000), None], pa.time64("us")),
        "span": pa.array([dt.timedelta(seconds=3), None], pa.duration("ns")),
        "nothing": pa.nulls(2),
        "class": pa.array([1, 0], pa.int8()),
    }
    stream = stream_of(tmp_path, columns)
    X, y = rows_of(stream)
    expected = [-3, 1, 0.5, 1.25, 10, 10, 2.5, 2.5 - 3600, 3601, 1.5, 3, np.nan]
    np.testing.assert_array_equal(X[0], expected)
    assert np.isnan(X[1]).all()
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert stream.feature_names == list(columns)[:-1]
    assert (y.tolist(), y.dtype) == ([1, 0], np.int64)


@pytest.mark.parametrize(
    ("labels", "kept", "classes"),
    [
        (pa.array([3, 1, None], pa.int8()), [3, 1, None], [1, 3]),
        (pa.array([2**64 - 1, 1, 1], pa.uint64()), [2**64 - 1, 1, 1], [1, 2**64 - 1]),
        (pa.array([True, False, None]), [True, False, None], [False, True]),
        (pa.array(["b", None, "a"]), ["b", None, "a"], ["a", "b"]),
        (pa.array(["b", "b", "a"], pa.large_string()), ["b", "b", "a"], ["a", "b"]),
        (dictionary(["b", "never", "a"], [0, None, 2]), ["b", None, "a"], ["a", "b", "never"]),
        (pa.array([2.0, 1.0, 1.0]), [2.0, 1.0, 1.0], [1.0, 2.0]),
        (pa.array([2.5, 1.0, 1.0]), [2.5, 1.0, 1.0], None),
        (pa.array([7, 5, 5]).dictionary_encode(), [7, 5, 5], [5, 7]),
    ],
)
def test_labels_keep_their_values(tmp_path, labels, kept, classes):
    stream = stream_of(tmp_path, {"x": [1, 2, 3], "class": labels}, rows=2)
    _, y = rows_of(stream)
    assert y.tolist() == kept
    assert [type(label) for label in y.tolist()] == [type(label) for label in kept]
    assert (stream.classes if classes is None else stream.classes.tolist()) == classes


def test_a_missing_numeric_target_is_nan(tmp_path):
    stream = stream_of(tmp_path, {"x": [1, 2], "class": pa.array([0.5, None])})
    np.testing.assert_array_equal(rows_of(stream)[1], [0.5, np.nan])


def test_declared_dictionary_categories_keep_their_order(tmp_path):
    colours = dictionary(["red", "never", "blue"], [2, None, 0, 2])
    stream = stream_of(tmp_path, {"colour": colours, "class": [0, 1, 0, 1]}, rows=3)
    assert stream.categories == {"colour": ["red", "never", "blue"]}
    np.testing.assert_array_equal(rows_of(stream)[0], [[2], [np.nan], [0], [2]])


def test_metadata_declare_categories_beyond_the_dictionary(tmp_path):
    about = {
        "nominal": {"colour": ["green", "blue", "red"], "gone": ["a"]},
        "target": "class",
        "classes": ["UP", "SIDE", "DOWN"],
        "exclude_from_features": ["leak"],
    }
    columns = {
        "colour": dictionary(["red", "blue"], [0, 1, 0]),
        "leak": [1, 2, 3],
        "class": dictionary(["UP", "DOWN"], [0, 1, 0]),
    }
    stream = stream_of(tmp_path, columns, about=about, chunk_size=2)
    assert stream.feature_names == ["colour"]
    assert stream.categories == {"colour": ["green", "blue", "red"]}
    assert stream.classes.tolist() == ["DOWN", "SIDE", "UP"]
    X, y = rows_of(stream)
    np.testing.assert_array_equal(X, [[2], [1], [2]])
    assert y.tolist() == ["UP", "DOWN", "UP"]


def test_the_file_s_own_target_is_no_feature_of_another_target(tmp_path):
    columns = {"x": [1, 2], "count": [0.5, 1.5], "class": ["low", "high"]}
    about = {"target": "class", "exclude_from_features": ["count"]}
    stream = stream_of(tmp_path, columns, about=about, target="count")
    assert stream.feature_names == ["x"]
    assert stream.classes is None
    all_of_them = ParquetStream(stream.path, "count", exclude=[])
    assert all_of_them.feature_names == ["x", "class"]


@pytest.mark.parametrize("about", ["not json", "[1, 2]"])
def test_foreign_metadata_are_ignored(tmp_path, about):
    stream = stream_of(tmp_path, {"x": [1], "class": [0]}, about=about)
    assert stream.feature_names == ["x"]


def test_row_groups_with_other_dictionaries_share_one_code(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    groups = [dictionary(["b", "a"], [0, 1]), dictionary(["c", "b"], [1, 0, None])]
    tables = [pa.table({"s": g, "class": [0] * len(g)}) for g in groups]
    with parquet.ParquetWriter(tmp_path / "rows.parquet", tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)
    for chunk_size in (1, 2, 100):
        stream = ParquetStream(tmp_path / "rows.parquet", "class", chunk_size=chunk_size)
        assert stream.categories == {"s": ["b", "a", "c"]}
        np.testing.assert_array_equal(rows_of(stream)[0], [[0], [1], [0], [2], [np.nan]])


def test_an_undeclared_category_is_named(tmp_path):
    about = {"nominal": {"s": ["a", "b"]}}
    stream = stream_of(tmp_path, {"s": ["a", "b", "z"], "class": [0, 1, 0]}, about=about, rows=2)
    with pytest.raises(ValueError, match=r"Row 2 has the value 'z' in column 's', .*'a', 'b'"):
        list(stream)


@pytest.mark.parametrize("kind", [list, lambda texts: dictionary(list(texts), range(4))])
def test_a_column_of_free_text_or_identifiers_is_refused(tmp_path, kind):
    columns = {"s": kind("abcd"), "class": [0, 1, 0, 1]}
    stream = stream_of(tmp_path, columns, rows=2, max_categories=3)
    with pytest.raises(ValueError, match=r"'s' has more than 3 different texts, .* exclude=.*, or"):
        list(stream)
    assert stream_of(tmp_path, columns, max_categories=4).categories == {"s": list("abcd")}
    with pytest.raises(
        ValueError, match=r"'s' has more than 3 different texts.*raise max_categories="
    ):
        list(stream_of(tmp_path, columns, max_categories=3, nominal=["s"]))
    named = stream_of(tmp_path, columns, nominal=["s"])
    assert named.categories == {"s": list("abcd")}
    declared = stream_of(
        tmp_path, columns, max_categories=3, about={"nominal": {"s": list("dcba")}}
    )
    assert declared.categories == {"s": list("dcba")}
    assert rows_of(ParquetStream(stream.path, "class", exclude=["s"]))[0].shape == (4, 0)


GAPS = {
    "x": pa.array([1.0, None, float("nan")]),
    "s": dictionary(["a", "b"], [1, 0, None]),
    "class": [0, 1, 0],
}


def test_missing_values_become_what_is_asked(tmp_path):
    X, _ = rows_of(stream_of(tmp_path, GAPS))
    np.testing.assert_array_equal(X, [[1, 1], [np.nan, 0], [np.nan, np.nan]])
    X, _ = rows_of(stream_of(tmp_path, GAPS, options={"missing": -7.0}))
    np.testing.assert_array_equal(X, [[1, 1], [-7, 0], [-7, -1]])


def test_missing_values_are_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match="Row 1 has no value in column 'x'"):
        list(stream_of(tmp_path, GAPS, options={"missing": "error"}, chunk_size=1))
    with pytest.raises(ValueError, match="Row 2 has no value in column 's'"):
        list(stream_of(tmp_path, GAPS, options={"missing": "error"}, columns=["s"]))


def test_frames_have_all_declared_categories(tmp_path, pd):
    stream = stream_of(tmp_path, GAPS, as_frame=True, chunk_size=2, options={"missing": 0})
    first, last = (X for X, _, _ in stream)
    assert first["s"].cat.categories.tolist() == ["a", "b"]
    assert first.dtypes.equals(last.dtypes)
    assert last.index.tolist() == [2]
    expected = pd.DataFrame({"x": [1.0, 0, 0], "s": pd.Categorical(["b", "a", None])})
    pd.testing.assert_frame_equal(pd.concat([first, last]), expected)


def test_meta_columns(tmp_path):
    moment = dt.datetime(2020, 1, 1, 12)
    columns = {
        "x": [1.0, 2.0],
        "w": pa.array([1, 2], pa.int8()),
        "t": pa.array([moment, moment], pa.timestamp("ms", tz="Europe/Vilnius")),
        "known": pa.array([dt.date(2020, 1, 2), None]),
        "name": ["r0", "r1"],
        "class": [0, 1],
    }
    stream = stream_of(
        tmp_path,
        columns,
        roles={"sample_weight": "w", "arrival": "t", "label_time": "known", "id": "name"},
    )
    assert stream.feature_names == ["x"]
    ((_, _, meta),) = stream
    assert meta["sample_weight"].tolist() == [1.0, 2.0]
    assert meta["sample_weight"].dtype == np.float64
    assert meta["arrival"][0] == np.datetime64("2020-01-01T12:00")
    assert meta["label_time"][0] == np.datetime64("2020-01-02")
    assert np.isnat(meta["label_time"][1])
    assert meta["id"].tolist() == ["r0", "r1"]


def test_chosen_columns_come_in_their_order(tmp_path):
    columns = {"a": [1, 2], "b": [3, 4], "c": [5, 6], "class": [0, 1]}
    stream = stream_of(tmp_path, columns, columns=["c", "a"])
    np.testing.assert_array_equal(rows_of(stream)[0], [[5, 1], [6, 2]])
    assert ParquetStream(stream.path, "class", exclude=["b"]).feature_names == ["a", "c"]


def test_a_folder_is_one_stream_in_the_order_of_names(tmp_path):
    for name, value, label in [("b", 300, "up"), ("a", 1, "down"), ("c", None, "side")]:
        kind = pa.int8() if name == "a" else pa.int16()
        columns = {"x": pa.array([value], kind), "s": dictionary([label], [0]), "class": [label]}
        write_parquet(tmp_path / f"{name}.parquet", columns)
    (tmp_path / "notes.txt").write_text("not a file of the stream")
    stream = ParquetStream(tmp_path, "class")
    X, y = rows_of(stream)
    np.testing.assert_array_equal(X, [[1, 0], [300, 1], [np.nan, 2]])
    assert y.tolist() == ["down", "up", "side"]
    assert stream.n_rows == 3
    assert stream.categories == {"s": ["down", "up", "side"]}


def test_only_the_target_is_read_for_its_classes(tmp_path, monkeypatch):
    stream = stream_of(tmp_path, {"s": ["a", "b"], "x": [1, 2], "class": [5, 3]})
    read, batches = [], ParquetStream._batches
    monkeypatch.setattr(
        ParquetStream, "_batches", lambda self, names: read.append(names) or batches(self, names)
    )
    assert stream.classes.tolist() == [3, 5]
    assert [y.tolist() for y in stream.labels()] == [[5, 3]]
    assert read == [["class"], ["class"]]


def test_nothing_is_read_for_declared_classes(tmp_path, monkeypatch):
    labels = dictionary(["b", "a"], [0, 1, 0, 1])
    stream = stream_of(tmp_path, {"x": [1, 2, 3, 4], "class": labels}, rows=2)
    monkeypatch.setattr(ParquetStream, "_batches", None)
    assert stream.classes.tolist() == ["a", "b"]


def test_a_worker_gets_the_path_and_no_data(tmp_path, rng):
    columns = {"x": rng.random(10_000), "class": rng.integers(0, 2, 10_000).astype(str)}
    stream = stream_of(tmp_path, columns)
    X, _ = rows_of(stream)
    pickled = pickle.dumps(stream)
    assert len(pickled) < 2000
    twin = pickle.loads(pickled)
    np.testing.assert_array_equal(rows_of(twin)[0], X)
    assert twin.classes.tolist() == stream.classes.tolist()


def peak_bytes(chunks) -> int:
    """Most bytes that Arrow and the arrays of one chunk held at once, above the start."""
    start = pa.total_allocated_bytes()
    return max(pa.total_allocated_bytes() - start + X.nbytes for X, _, _ in chunks)


def test_memory_does_not_grow_with_the_file(tmp_path, rng):
    peaks = {}
    for n_groups in (2, 40):
        n_rows = 1000 * n_groups
        columns = {f"x{j}": rng.random(n_rows) for j in range(4)}
        path = tmp_path / f"{n_groups}.parquet"
        write_parquet(path, {**columns, "class": rng.integers(0, 2, n_rows)}, rows=1000)
        peaks[n_groups] = peak_bytes(ParquetStream(path, "class", chunk_size=500))
    assert peaks[40] <= 1.5 * peaks[2]

    def whole():
        rows = pytest.importorskip("pyarrow.parquet").read_table(path)
        yield np.empty(0), rows, None

    assert peak_bytes(whole()) > 5 * peaks[2], "the measure does not see Arrow's memory"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "clas"}, ValueError, "target names the column 'clas', which is not in .*'x',"),
        ({"columns": ["z"]}, ValueError, "columns names the column 'z'"),
        ({"exclude": ["z"]}, ValueError, "exclude names the column 'z'"),
        ({"roles": {"id": "z"}}, ValueError, "id names the column 'z'"),
        ({"columns": ["class"]}, ValueError, "columns names the column 'class', which is the"),
        ({"target": "d"}, TypeError, "target names the column 'd', which holds times"),
        ({"roles": {"sample_weight": "s"}}, TypeError, "sample_weight names .* holds categories"),
        ({"roles": {"arrival": "s"}}, TypeError, "arrival names .* holds categories"),
        ({"options": {"missing": "drop"}}, ValueError, "missing must be 'nan', 'error' or a"),
        ({"options": {"missing": float("inf")}}, ValueError, "Got inf"),
        ({"options": {"missing": True}}, ValueError, "Got True"),
        ({"chunk_size": -1}, ValueError, "chunk_size must be an integer >= 1"),
    ],
)
def test_bad_parameters_are_refused(tmp_path, options, error, message):
    columns = {"x": [1], "d": [dt.date(2020, 1, 1)], "s": ["a"], "class": [0]}
    path = write_parquet(tmp_path / "rows.parquet", columns)
    with pytest.raises(error, match=message):
        ParquetStream(path, **{"target": "class", **options})


def test_columns_of_other_types_are_refused_unless_left_out(tmp_path):
    columns = {"x": [1], "list": [[1, 2]], "class": [0]}
    with pytest.raises(TypeError, match=r"Column 'list' has the type list.*Name it in exclude="):
        stream_of(tmp_path, columns)
    assert stream_of(tmp_path, columns, exclude=["list"]).feature_names == ["x"]


def test_files_that_are_not_there_or_not_parquet(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        ParquetStream(tmp_path / "gone.parquet", "class")
    with pytest.raises(FileNotFoundError, match=r"contains no file \*\.parquet or \*\.pq\. Sub"):
        ParquetStream(tmp_path, "class")
    (tmp_path / "hive" / "month=1").mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match=r"Subfolders are not read: pass a list of"):
        ParquetStream(tmp_path / "hive", "class")
    (tmp_path / "bad.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"bad\.parquet cannot be read as a Parquet file"):
        ParquetStream(tmp_path, "class")


def test_an_empty_file_is_an_empty_stream(tmp_path):
    stream = stream_of(tmp_path, {"x": pa.array([], pa.int8()), "class": pa.array([], pa.int8())})
    with pytest.raises(ValueError, match="The stream is empty"):
        list(stream)


def test_long_chunks_hold_every_row(tmp_path):
    """Rows are put side by side some thousands at a time."""
    numbers = np.arange(20_000.0)
    texts = np.array(["a", "b", "c"])[np.arange(20_000) % 3]
    columns = {"x": numbers, "z": -numbers, "s": texts.tolist(), "class": [0, 1] * 10_000}
    X, y = rows_of(ParquetStream(write_parquet(tmp_path / "rows.parquet", columns), "class"))
    np.testing.assert_array_equal(X, np.column_stack([numbers, -numbers, np.arange(20_000) % 3]))
    assert y.tolist() == columns["class"]
