"""Every recipe of the page about sources runs, on stand-ins of the libraries that are not here."""

import csv
import json
import re
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from skstream.core.rows.arrays import ArrayStream
from skstream.streams import _fetch

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sources.md"
BLOCK = re.compile(r"^```py(?:thon)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
Record = namedtuple("Record", ["timestamp", "value"])


class IterableDataset:
    """The interface of a streamed data set: rows one by one, or dicts of columns."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def __iter__(self):
        yield from self.rows

    def iter(self, batch_size: int):
        for start in range(0, len(self.rows), batch_size):
            part = self.rows[start : start + batch_size]
            yield {name: [row[name] for row in part] for name in part[0]}


def load_dataset(path: str, *, data_files: str, split: str, streaming: bool) -> IterableDataset:
    assert (path, split, streaming) == ("csv", "train", True)
    return IterableDataset(rows_in(data_files))


def rows_in(path: str) -> list[dict[str, Any]]:
    with open(path, newline="") as file:
        return [
            {name: text if name == "class" else float(text) for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


class KafkaConsumer:
    """The interface of a consumer: messages of two partitions, a poll at a time."""

    def __init__(self, *topics: str, bootstrap_servers: str, value_deserializer, **_: str) -> None:
        assert topics == ("measured",)
        self.records = [
            Record(moment, value_deserializer(json.dumps(row)))
            for moment, row in enumerate(rows_in("rows.csv"))
        ]

    def poll(self, timeout_ms: int, max_records: int) -> dict[str, list[Record]]:
        now, self.records = self.records[:max_records], self.records[max_records:]
        return {f"measured-{k}": now[k::2] for k in (1, 0)} if now else {}


def test_every_recipe_runs(tmp_path, monkeypatch, capsys):
    for name in ("pandas", "pyarrow"):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    for name, value in {"datasets": load_dataset, "kafka": KafkaConsumer}.items():
        module = ModuleType(name)
        setattr(module, value.__name__, value)
        monkeypatch.setitem(__import__("sys").modules, name, module)
    fetched = ArrayStream(np.zeros((9, 1)), ["UP", "DOWN", "UP"] * 3)
    monkeypatch.setattr(_fetch, "_from_openml", lambda *_: fetched)
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    assert len(blocks) == 8
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)  # the page itself
    printed = re.findall(r"IncrementalGaussianNB +([\d.]+)", capsys.readouterr().out)
    expected = names["expected"]["IncrementalGaussianNB"]["accuracy"]
    assert len(printed) == 3
    # The rows of the data set and of the queue are those of the table.
    assert printed[0] == printed[1] == f"{expected:.{len(printed[0]) - 2}f}"
