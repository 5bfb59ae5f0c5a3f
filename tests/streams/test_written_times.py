"""Times in files: their formats, rows sorted by them, and rows in another order."""

import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream import MajorityClass, Persistent, PredictionLog, PrequentialEvaluator
from skstream.streams import ARFFStream, CSVStream, ParquetStream, StreamError, take_rows
from tests._examples import examples

pa = pytest.importorskip("pyarrow", reason="files are read by pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

FIRST = datetime(2024, 1, 31, 11, 30, tzinfo=UTC)
FORMATS = {
    "%d/%m/%Y %H:%M:%S": "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p": "%m/%d/%Y %I:%M:%S %p",
    "%d.%m.%y %H-%M-%S": "%d.%m.%y %H-%M-%S",
    "%Y-%m-%dT%H:%M:%S.%f%z": "%Y-%m-%dT%H:%M:%S.%f%z",
    **dict.fromkeys(("s", "ms", "us", "ns"), ""),
}
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
Table = dict[str, list[Any]]


def written(times: list[datetime], how: str, *, as_text: bool) -> list[Any]:
    if how in PER_SECOND:
        numbers = [int(one.timestamp()) * PER_SECOND[how] for one in times]
        return [str(one) for one in numbers] if as_text else numbers
    return [one.strftime(how) for one in times]


def file_of(folder: Path, table: Table, kind: Any) -> Path:
    path = folder / ("rows.csv" if kind is CSVStream else "rows.parquet")
    if kind is CSVStream:
        lines = [list(table), *zip(*table.values(), strict=True)]
        path.write_text(
            "\n".join(",".join("" if v is None else str(v) for v in one) for one in lines)
        )
    else:
        parquet.write_table(pa.table(table), path)
    return path


def table_of(times: list[Any]) -> Table:
    n = len(times)
    return {"when": times, "x": [*range(n)], "class": [("a", "b")[i // 5 % 2] for i in range(n)]}


KINDS = pytest.mark.parametrize("kind", [CSVStream, ParquetStream])


@KINDS
@pytest.mark.parametrize("how", FORMATS)
@examples(5)
@given(steps=st.lists(st.integers(0, 10**6), min_size=1, max_size=8), as_text=st.booleans())
def test_every_format_gives_the_times(kind, how, steps, as_text, tmp_path_factory) -> None:
    times = [FIRST + timedelta(seconds=one) for one in np.cumsum(steps).tolist()]
    gap = [*written(times, how, as_text=as_text), None]
    path = file_of(tmp_path_factory.mktemp("rows"), table_of(gap), kind)
    stream = kind(path, "class", roles={"label_time": "when"}, options={"time_format": how})
    ((X, _, meta),) = stream
    found = np.asarray(meta["label_time"])
    expected = np.array([*(one.replace(tzinfo=None) for one in times), None], "datetime64[us]")
    np.testing.assert_array_equal(found, expected)
    assert (type(meta["label_time"]).__name__ == "UtcTimes") == (how in PER_SECOND or "%z" in how)
    stream = kind(path, "class", options={"time_format": {"when": how}})
    assert stream.kinds == {"when": "time", "x": "number"}
    ((X, *_),) = stream
    np.testing.assert_array_equal(X[:-1, 0], [one.timestamp() for one in times])


@KINDS
@pytest.mark.parametrize(
    ("value", "options", "error", "words"),
    [
        ("31/02/2024", {"time_format": "%d/%m/%Y"}, StreamError, "Row 0 has '31/02/2024' in col"),
        (
            "13/13/2024",
            {"time_format": "%d/%m/%Y"},
            StreamError,
            "not match time_format='%d/%m/%Y'",
        ),
        ("soon", {"time_format": "s"}, StreamError, "Row 0 has 'soon' in column 'when'"),
        ("31/01/2024", {}, TypeError, "holds categories. If these are times, .*time_format.*'ms'"),
        ("31/01/2024", {"time_format": "dd/mm/yyyy"}, ValueError, "time_format= must be a format"),
        ("1/1/24 3 PM", {"time_format": "%d/%m/%y %H %p"}, ValueError, "has %p, which needs %I"),
        ("31/01/24 03", {"time_format": "%d/%m/%y %I"}, ValueError, "has %I, which needs %p"),
        ("31/01/2024", {"time_format": 3}, ValueError, "format of strptime.* Got 3 instead"),
        ("31/01/2024", {"time_format": {"then": "s"}}, ValueError, "time_format names the column"),
        ("31/01/2024", {"sort_by": "when"}, TypeError, "sort_by names the column 'when', which"),
        ("31/01/2024", {"sort_by": "then"}, ValueError, "sort_by names the column 'then', which"),
        ("31/01/2024", {"sort_by": 3}, TypeError, "sort_by must be the name of a column, or False"),
    ],
)
def test_what_is_wrong_is_named(kind, value, options, error, words, tmp_path) -> None:
    path = file_of(tmp_path, table_of([value] * 3), kind)
    roles = {} if "sort_by" in options else {"arrival": "when"}
    with pytest.raises(error, match=words):
        list(kind(path, "class", roles=roles, options=options))


@KINDS
def test_day_and_month_are_never_guessed(kind, tmp_path) -> None:
    path = file_of(tmp_path, table_of(["03/04/2024", "13/04/2024"]), kind)
    days = kind(path, "class", roles={"arrival": "when"}, options={"time_format": "%d/%m/%Y"})
    ((*_, meta),) = days
    assert meta["arrival"].astype("M8[D]").astype(str).tolist() == ["2024-04-03", "2024-04-13"]
    with pytest.raises(StreamError, match="Row 1 has '13/04/2024'"):
        list(kind(path, "class", roles={"arrival": "when"}, options={"time_format": "%m/%d/%Y"}))


def test_a_format_for_times_that_are_known_is_refused(tmp_path) -> None:
    path = file_of(tmp_path, table_of([FIRST] * 3), ParquetStream)
    for options, words in (
        ({"time_format": "s"}, "which does not match time_format=.s."),
        ({"time_format": {"when": "%d"}}, "which does not match time_format=.%d."),
    ):
        with pytest.raises(StreamError, match=words):
            list(ParquetStream(path, "class", roles={"arrival": "when"}, options=options))
    with pytest.raises(ValueError, match="Name the column of these times: time_format="):
        ParquetStream(path, "class", options={"time_format": "s"})


def newest_first(folder: Path, kind: Any, n: int = 200) -> tuple[Path, Path]:
    """The same rows twice: in the in order of times, and the newest first."""
    table = table_of([f"{FIRST + timedelta(hours=i):%Y-%m-%d %H:%M:%S}" for i in range(n)])
    shuffled = np.random.default_rng(0).permutation(n)
    paths = []
    for name, rows in (("sorted", np.arange(n)), ("not", shuffled)):
        (folder / name).mkdir(exist_ok=True)
        some = {key: [values[i] for i in rows] for key, values in table.items()}
        if kind is not CSVStream:
            some["when"] = [datetime.fromisoformat(one) for one in some["when"]]
        paths.append(file_of(folder / name, some, kind))
    return paths[0], paths[1]


@KINDS
@pytest.mark.parametrize("size", [7, 1000])
def test_rows_are_sorted_where_that_is_asked(kind, size, tmp_path) -> None:
    in_order, other = newest_first(tmp_path, kind)
    sort_by = {"chunk_size": size, "options": {"sort_by": "when"}}
    scores = [
        PrequentialEvaluator("accuracy").evaluate(Persistent(), stream).scores
        for stream in (kind(in_order, "class"), kind(other, "class", **sort_by))
    ]
    assert scores[0] == scores[1]
    for roles in ({}, {"arrival": "when"}):
        stream = kind(other, "class", roles=roles, **sort_by)
        X = np.concatenate([X[:, -1] for X, *_ in stream])
        assert X.tolist() == [*range(200)] and stream.n_rows == 200
        y = np.concatenate([y for _, y, _ in stream])
        np.testing.assert_array_equal(y, np.concatenate(list(stream.labels())))
        assert y.tolist() == [("a", "b")[int(x) // 5 % 2] for x in X]


def test_rows_of_equal_times_stay_in_the_order_of_the_file(tmp_path) -> None:
    path = file_of(tmp_path, table_of([2, 1, 2, 1, 2, 1]), CSVStream)
    ((X, *_),) = CSVStream(path, "class", options={"sort_by": "when"})
    assert X[:, 1].tolist() == [1, 3, 5, 0, 2, 4]


def test_the_place_of_a_sorted_row_is_that_in_the_file(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("when,class\n2024-01-03,a\n2024-01-01,\n2024-01-02,b\n")
    stream = CSVStream(path, "class", options={"sort_by": "when"})
    assert list(stream) and stream.place_of(0).startswith("row 1 of")
    path = tmp_path / "rows.arff"
    path.write_text(
        "@attribute when date yyyy-MM-dd\n@attribute class {a,b}\n@data\n"
        "2024-01-03,a\n2024-01-01,?\n2024-01-02,b\n"
    )
    arff = ARFFStream(path, "class", options={"sort_by": "when"})
    ((_, y, _),) = arff
    assert arff.place_of(0).startswith("row 1 of")
    assert y.tolist() == [None, "b", "a"]


@KINDS
def test_rows_without_a_time_come_last(kind, tmp_path) -> None:
    path = file_of(tmp_path, table_of([3.0, None, 1.0]), kind)
    ((X, *_),) = kind(path, "class", options={"sort_by": "when"})
    assert X[:, 1].tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("kind", "as_text"), [(CSVStream, False), (ParquetStream, False), (ParquetStream, True)]
)
def test_files_in_another_order_than_their_dates_are_named(kind, as_text, tmp_path) -> None:
    in_order, other = newest_first(tmp_path, kind)
    words = r"times in column 'when' go back at row 1, from .*sort_by': 'when'}.*sort_by': False}"
    if as_text:
        for path in (in_order, other):
            table = parquet.read_table(path)
            texts = [f"{one:%Y-%m-%dT%H:%M:%S%z}" for one in table["when"].to_pylist()]
            parquet.write_table(table.set_column(0, "when", pa.array(texts)), path)
    for options in ({}, {"exclude": ["when"]}, {"columns": ["x"]}, {"as_frame": True}):
        stream = kind(other, "class", **options)
        with pytest.warns(UserWarning, match=words):
            PrequentialEvaluator("accuracy").evaluate(MajorityClass(), take_rows(stream, 50))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(stream)  # it is said once
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(kind(in_order, "class"))
        list(kind(other, "class", options={"sort_by": False}))
    with pytest.warns(UserWarning, match="go back at row 200, from"):  # at the seam of two files
        again = in_order.with_stem("again")
        again.write_bytes(in_order.read_bytes())
        list(kind([in_order, again], "class"))
    options = {"time_format": "%Y-%m-%dT%H:%M:%S"} if as_text else {}
    with pytest.raises(ValueError, match="arrival goes back at row 1, from"):
        list(kind(other, "class", roles={"arrival": "when"}, options=options))


def test_texts_that_are_not_all_dates_say_no_order(tmp_path) -> None:
    days = ["2024-01-02", "2024-01-01", None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for more in ({"when": ["soon", *days[1:]]}, {"when": [*days[:2], "no"]}, {"born": days}):
            path = file_of(tmp_path, table_of(days) | more, ParquetStream)
            list(ParquetStream(path, "class", chunk_size=2))
        list(ParquetStream(file_of(tmp_path, table_of([None] * 3), ParquetStream), "class"))
        path = file_of(tmp_path, table_of(["09:00", "10:30", "11:00"]), CSVStream)
        ((*_, meta),) = CSVStream(path, "class", roles={"arrival": "when"})
    assert meta["arrival"].tolist() == [32400, 37800, 39600]  # seconds of the day
    path = file_of(tmp_path, table_of(days), ParquetStream)
    with pytest.warns(UserWarning, match="go back at row 1, from"):
        list(ParquetStream(path, "class", chunk_size=1))


def test_times_of_day_and_several_columns_of_dates_say_no_order(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path.write_text("at,class\n10:30:00,a\n09:00:00,b\n")
        list(CSVStream(path, "class"))
        path.write_text("at,known,class\n2024-01-02,2024-01-03,a\n2024-01-01,2024-01-02,b\n")
        list(CSVStream(path, "class"))
        list(CSVStream(path, "class", roles={"label_time": "known"}))


def test_logs_say_how_times_are_written(tmp_path) -> None:
    times = written([FIRST + timedelta(hours=i) for i in range(30)], "%d/%m/%Y %H:%M", as_text=True)
    table = table_of(times) | {"said": ["a"] * 30}
    path = file_of(tmp_path, table, CSVStream)
    given = {"target": "class", "predictions": "said", "arrival": "when"}
    log = PredictionLog(path, time_format="%d/%m/%Y %H:%M", **given)
    assert log.score("accuracy", forgetting="window:5h", record_every="1D").scores["said"]
    with pytest.raises(TypeError, match="If these are times, give their format"):
        PredictionLog(path, **given).score("accuracy")
    with pytest.raises(ValueError, match=r"time_format= is for files.*pandas.to_datetime"):
        PredictionLog(table, time_format="%d/%m/%Y %H:%M", **given).score("accuracy")


def test_numbers_that_are_missing_are_missing_times(tmp_path) -> None:
    path = file_of(tmp_path, table_of([1.7e9, float("nan"), None]), ParquetStream)
    roles = {"label_time": "when"}
    ((*_, meta),) = ParquetStream(path, "class", roles=roles, options={"time_format": "s"})
    assert np.isnat(meta["label_time"]).tolist() == [False, True, True]
    path = file_of(tmp_path, table_of([1.5, float("inf")]), ParquetStream)
    with pytest.raises(StreamError, match="Row 1 has 'inf' in column 'when'"):
        list(ParquetStream(path, "class", roles=roles, options={"time_format": "s"}))


@KINDS
@pytest.mark.parametrize(("unit", "number"), [("ms", 1.7e9), ("s", 2.8e7), ("us", 1.7e12)])
def test_a_unit_that_makes_times_in_1970_of_all_numbers_is_named(kind, unit, number, tmp_path):
    path = file_of(tmp_path, table_of([int(number) + i for i in range(9)]), kind)
    stream = kind(path, "class", roles={"arrival": "when"}, options={"time_format": unit})
    words = f"All numbers in column 'when' are times in 1970 as time_format='{unit}' reads"
    with pytest.warns(UserWarning, match=words) as warned:
        list(stream)
        list(stream.labels())
        list(stream)
    assert len(warned) == 1
