"""Streams on file systems of pyarrow and fsspec: local ones here, the same code as for stores."""

import gzip
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skstream import Persistent, PrequentialEvaluator
from skstream.streams import CSVStream, ParquetStream, StreamError
from tests.streams._tables import rows_of, write_parquet

pa = pytest.importorskip("pyarrow", reason="reads through file systems of pyarrow")
fs = pytest.importorskip("pyarrow.fs", reason="reads through file systems of pyarrow")

NUMBERS = [2, 10, 1]


def fill(folder: Path, suffix: str) -> Path:
    """Write files that are out of order by their letters, and others that are not of the stream."""
    folder.mkdir(exist_ok=True)
    for number in NUMBERS:
        text = f"x,day,class\n{number},d{number},up\n{number + 0.5},d0,down\n"
        if suffix == "csv":
            (folder / f"part {number}.csv").write_text(text)
        elif suffix == "csv.gz":
            (folder / f"part {number}.csv.gz").write_bytes(gzip.compress(text.encode()))
        else:
            columns = {"x": [number, number + 0.5], "day": [f"d{number}", "d0"]}
            write_parquet(folder / f"part {number}.parquet", columns | {"class": ["up", "down"]})
    for name in (f".part 3.{suffix}", f"_part 4.{suffix}", "notes.md"):
        (folder / name).write_text("no rows")
    (folder / f"folder.{suffix}").mkdir()
    return folder


def kind_of(suffix: str) -> Any:
    return ParquetStream if suffix == "parquet" else CSVStream


def places(folder: Path) -> dict[str, tuple[Any, Any]]:
    """The same folder, said in several ways: path and file system."""
    local = fs.LocalFileSystem()
    found = {
        "local": (folder, local),
        "subtree": (folder.name, fs.SubTreeFileSystem(str(folder.parent), local)),
        "uri": (folder.as_uri(), None),
    }
    try:
        import fsspec
    except ImportError:
        return found
    return found | {"fsspec": (str(folder), fsspec.filesystem("file"))}


@pytest.mark.parametrize("suffix", ["parquet", "csv", "csv.gz"])
@pytest.mark.parametrize("place", ["local", "subtree", "uri", "fsspec"])
def test_a_folder_is_the_same_on_every_file_system(tmp_path, suffix, place):
    stream = kind_of(suffix)
    plain = stream(fill(tmp_path / "a folder", suffix), "class")
    assert rows_of(plain)[0][:, 0].tolist() == [1, 1.5, 2, 2.5, 10, 10.5]
    if place not in places(tmp_path / "a folder"):
        pytest.skip("fsspec is not installed")
    path, filesystem = places(tmp_path / "a folder")[place]
    there = stream(path, "class", options={"filesystem": filesystem})
    assert [os.path.basename(file).replace("%20", " ") for file in there.files] == [
        f"part {number}.{suffix}" for number in sorted(NUMBERS)
    ]
    for again in (there, pickle.loads(pickle.dumps(there))):
        for one, other in zip(rows_of(plain), rows_of(again), strict=True):
            np.testing.assert_array_equal(one, other)
        assert again.n_rows == plain.n_rows == 6
        assert again.categories == plain.categories
        assert again.classes.tolist() == ["down", "up"]
        sizes = [size for size, _ in again.contents()]
        assert sizes == [os.path.getsize(file) for file in plain.files]
        assert None not in [sample for _, sample in plain.contents()]
    # The names that it shows name its files again.
    chosen = stream([there.files[2], there.files[0]], "class", options={"filesystem": filesystem})
    assert rows_of(chosen)[0][:, 0].tolist() == [10, 10.5, 1, 1.5]
    assert (
        stream(there.files[1], "class", options={"filesystem": filesystem}).path == there.files[1]
    )
    assert len(pickle.dumps(there)) < 3000


def test_files_in_memory_of_fsspec():
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/days#2/b.csv", b"x,class\n2,a\n")
    memory.pipe("/days#2/a 1.csv", b"x,class\n1,b\n")
    try:
        there = CSVStream("memory://days%232", "class")
        assert there.files == ["memory://days%232/a%201.csv", "memory://days%232/b.csv"]
        assert CSVStream(there.files, "class").n_rows == 2
        given = CSVStream("/days#2", "class", options={"filesystem": memory})
        assert given.files == ["/days#2/a 1.csv", "/days#2/b.csv"]
        assert rows_of(there)[0].tolist() == rows_of(given)[0].tolist() == [[1], [2]]
    finally:
        memory.rm("/days#2", recursive=True)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_in_the_memory_of_another_process_are_explained(tmp_path, kind):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec")
    folder, stream = fill(tmp_path / "days", kind), CSVStream if kind == "csv" else ParquetStream
    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/days", recursive=True)
    streams = [
        stream("memory://days", "class"),
        stream("/days", "class", options={"filesystem": memory}),
        stream(folder, "class"),
    ]
    memory.rm("/days", recursive=True)  # as in a worker process
    for file in folder.glob(f"part*.{kind}"):
        file.unlink()
    for there in streams:
        with pytest.raises((FileNotFoundError, StreamError)) as caught:
            rows_of(there)
        assert f"There is no file '{there.files[0]}' in process " in str(caught.value)
        assert "files in memory belong to one process: put them" in str(caught.value)


def test_a_run_that_resumes_sees_that_a_file_behind_a_uri_has_grown(tmp_path):
    uri = fill(tmp_path / "days", "csv").as_uri()
    evaluator = PrequentialEvaluator("accuracy", run=tmp_path / "run")
    first = evaluator.evaluate(Persistent(), CSVStream(uri, "class"))
    assert evaluator.evaluate(Persistent(), CSVStream(uri, "class")).scores == first.scores
    with (tmp_path / "days/part 10.csv").open("a") as file:
        file.write("3,d1,up\n")
    with pytest.raises(ValueError, match=r"it has 7 rows, but the run had read 6"):
        evaluator.evaluate(Persistent(), CSVStream(uri, "class"))


def test_messages_name_the_uri(tmp_path):
    folder = fill(tmp_path / "days", "csv")
    uri = folder.as_uri()
    stream = CSVStream(uri, "class")
    (folder / "part 10.csv").write_text("x,day,class\n1,d1,up\n2,d1\n")
    with pytest.raises(StreamError) as broken:
        rows_of(stream)
    assert broken.value.file == f"{uri}/part%2010.csv"
    assert f"{uri}/part%2010.csv cannot be read" in str(broken.value)
    (folder / "part 10.csv").write_text("x;class\n1;up\n")
    with pytest.raises(ValueError, match="Column 'x;class' is in"):
        CSVStream(uri, "class")
    (folder / "part 10.csv").unlink()
    with pytest.raises(ValueError, match=f"which is not in {uri}/part%201.csv"):
        CSVStream(uri, "label")
    (folder / "bad.parquet").write_text("no rows")
    with pytest.raises(ValueError, match=f"{uri}/bad.parquet cannot be read as a Parquet file"):
        ParquetStream(f"{uri}/bad.parquet", "class")


def test_an_absent_place_is_named(tmp_path):
    uri = tmp_path.as_uri()
    with pytest.raises(FileNotFoundError, match=f"no file or folder '{uri}/nothing'"):
        CSVStream(f"{uri}/nothing", "class")
    with pytest.raises(FileNotFoundError, match=f"folder '{uri}' contains no file"):
        CSVStream(uri, "class")
    with pytest.raises(FileNotFoundError, match="A list must name files; pass a folder on its own"):
        CSVStream([uri], "class")
    with pytest.raises(FileNotFoundError, match="no file or folder 'nothing'"):
        CSVStream(
            "nothing",
            "class",
            options={"filesystem": fs.SubTreeFileSystem(tmp_path.as_posix(), fs.LocalFileSystem())},
        )


def test_other_file_systems_are_refused(tmp_path):
    fill(tmp_path / "days", "csv")
    uri = (tmp_path / "days").as_uri()
    with pytest.raises(TypeError, match="filesystem must be a file system of pyarrow"):
        CSVStream(tmp_path / "days", "class", options={"filesystem": "s3"})
    with pytest.raises(ValueError, match="Leave out the option filesystem"):
        CSVStream(uri, "class", options={"filesystem": fs.LocalFileSystem()})
    with pytest.raises(ValueError, match="not the URI of a file or folder"):
        CSVStream("file:///a b", "class")
    with pytest.raises(ValueError, match="are on different file systems"):
        CSVStream([f"{uri}/part%201.csv", "s3://bucket/part 1.csv"], "class")
    for mixed in (["part 1.csv", f"{uri}/part%201.csv"], [f"{uri}/part%201.csv", "part 1.csv"]):
        with pytest.raises(ValueError, match=r"'part 1.csv' is a path, but .* is a URI"):
            CSVStream(mixed, "class")
    with pytest.raises(ValueError, match=r"names .* twice"):
        CSVStream([f"{uri}/part%201.csv"] * 2, "class")
    with pytest.raises(ValueError, match="list of files is empty"):
        CSVStream([], "class", options={"filesystem": fs.LocalFileSystem()})


@pytest.mark.parametrize(("sign", "code"), [("#", "%23"), ("?", "%3F")])
def test_signs_that_end_the_path_of_a_uri_are_refused(tmp_path, sign, code):
    fill(tmp_path / "run", "csv")
    fill(tmp_path / f"run{sign}2", "parquet")
    uri = (tmp_path / "run").as_uri()
    with pytest.raises(ValueError, match=rf"holds '\{sign}'.* Write {code}, or pass .*filesystem"):
        ParquetStream(f"{uri}{sign}2", "class")
    assert ParquetStream(f"{uri}{code}2", "class").n_rows == 6
    with pytest.raises(ValueError, match=f"Write {code}"):
        CSVStream(f"memory://run{sign}2", "class")


@pytest.mark.parametrize("name", ["a folder", "bücher"])
def test_a_uri_that_is_not_encoded_says_how_it_is(tmp_path, name):
    folder = fill(tmp_path / name, "csv")
    with pytest.raises(ValueError, match=r"percent-encoded.*urllib\.parse\.quote.*filesystem"):
        CSVStream(f"file://{folder}", "class")
    assert CSVStream(folder.as_uri(), "class").n_rows == 6


def test_uris_with_one_slash_and_empty_paths_are_refused(tmp_path, monkeypatch):
    for path in ("file:/data/nothing", "s3:/bucket/days"):
        with pytest.raises(FileNotFoundError, match="There is no file or folder"):
            ParquetStream(path, "class")
    monkeypatch.chdir(fill(tmp_path / "days", "csv"))
    for path in ("", [""]):
        with pytest.raises(ValueError, match="path of a file or folder is empty"):
            CSVStream(path, "class")
        with pytest.raises(ValueError, match="path of a file or folder is empty"):
            CSVStream(path, "class", options={"filesystem": fs.LocalFileSystem()})
    assert CSVStream(".", "class").n_rows == 6
    subtree = fs.SubTreeFileSystem(str(tmp_path / "days"), fs.LocalFileSystem())
    assert CSVStream("", "class", options={"filesystem": subtree}).n_rows == 6


def test_an_unknown_scheme_without_fsspec_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(ImportError, match=r"unknown to pyarrow, and needs fsspec.*skstream\[dask"):
        CSVStream("nowhere://bucket/days", "class")


def test_passwords_in_uris_are_not_shown():
    pytest.importorskip("fsspec", reason="needs fsspec")
    with pytest.raises(ValueError, match="no file system for 'nowhere://") as refused:
        CSVStream("nowhere://user:secret@bucket/days", "class")
    assert "nowhere://user:***@bucket/days" in str(refused.value)
    assert "secret" not in str(refused.value)
