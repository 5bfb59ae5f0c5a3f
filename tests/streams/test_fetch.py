"""Fetchers of real streams, without a network: responses of the form that the hosts give."""

import gzip
import io
import json
from dataclasses import replace
from hashlib import md5, sha256
from urllib.error import URLError
from urllib.parse import urlparse

import joblib
import numpy as np
import pytest

from skstream.streams import (
    _fetch,
    fetch_airlines,
    fetch_covertype,
    fetch_electricity,
    fetch_kddcup99,
    fetch_poker,
)
from tests._data import data_path

# The first rows of the Electricity stream, as openml.org gives them.
ELECTRICITY = """@relation electricity

@attribute date real
@attribute day {1,2,3,4,5,6,7}
@attribute period real
@attribute nswprice real
@attribute nswdemand real
@attribute vicprice real
@attribute vicdemand real
@attribute transfer real
@attribute class {UP,DOWN}

@data
0,2,0,0.056443,0.439155,0.003467,0.422915,0.414912,UP
0,2,0.021277,0.051699,0.415055,0.003467,0.422915,0.414912,UP
0,2,0.042553,0.051489,0.385004,0.003467,0.422915,0.414912,UP
0,2,0.06383,0.045485,0.314639,0.003467,0.422915,0.414912,UP
0,2,0.085106,0.042482,0.251116,0.003467,0.422915,0.414912,DOWN
0,3,0.106383,0.041161,0.207528,0.003467,0.422915,0.414912,DOWN
"""
HASH = sha256(b"UP\nUP\nUP\nUP\nDOWN\nDOWN").hexdigest()


class Host:
    """Answers the requests of scikit-learn's fetcher as openml.org does, from one ARFF text."""

    def __init__(self, number, arff):
        self.arff = arff.encode()
        self.requests = []
        lines = arff.splitlines()
        attributes = [line.split(None, 2)[1:] for line in lines if line.startswith("@attribute")]
        features = [
            {
                "index": str(place),
                "name": name,
                "data_type": "nominal" if kind.startswith("{") else "numeric",
                "is_target": str(name == attributes[-1][0]).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for place, (name, kind) in enumerate(attributes)
        ]
        description = {
            "id": str(number),
            "name": "recorded",
            "version": "1",
            "description": "a recorded response",
            "format": "ARFF",
            "status": "active",
            "url": f"https://api.openml.org/data/v1/download/{number}/recorded.arff",
            "md5_checksum": md5(self.arff).hexdigest(),
        }
        n_rows = len(lines) - lines.index("@data") - 1
        qualities = [{"name": "NumberOfInstances", "value": f"{n_rows}.0"}]
        api = "/api/v1/json/data"
        self.answers = {
            f"{api}/{number}": {"data_set_description": description},
            f"{api}/features/{number}": {"data_features": {"feature": features}},
            f"{api}/qualities/{number}": {"data_qualities": {"quality": qualities}},
        }

    def __call__(self, request, *_, **__):
        path = urlparse(request.full_url).path
        self.requests.append(path)
        body = self.arff
        if path in self.answers:
            body = json.dumps(self.answers[path]).encode()
        response = io.BytesIO(gzip.compress(body))
        response.info = lambda: {"Content-Encoding": "gzip"}
        return response


def no_network(*_, **__):
    raise URLError("Name or service not known")


@pytest.fixture
def electricity(monkeypatch):
    host = Host(151, ELECTRICITY)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", host)
    known = replace(_fetch.ELECTRICITY, n_rows=6, labels=HASH)
    monkeypatch.setattr(_fetch, "ELECTRICITY", known)
    return host


def test_rows_come_in_their_order_and_are_downloaded_once(electricity, tmp_path, monkeypatch, pd):
    stream = fetch_electricity(data_home=tmp_path, chunk_size=4)
    assert [len(y) for _, y, _ in stream] == [4, 2]
    assert stream.y.tolist() == ["UP"] * 4 + ["DOWN"] * 2
    assert stream.feature_names[:3] == ["date", "day", "period"]
    # Codes are places among the declared values.
    np.testing.assert_array_equal(stream.X[:, 1], [1, 1, 1, 1, 1, 2])
    np.testing.assert_array_equal(stream.X[:2, 3], [0.056443, 0.051699])
    assert len(electricity.requests) == 4
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", no_network)
    frame = fetch_electricity(data_home=tmp_path, as_frame=True).X
    assert frame["day"].cat.categories.tolist() == list("1234567")
    assert frame["day"].tolist() == list("222223")
    assert frame["nswprice"].iloc[1] == 0.051699


@pytest.mark.filterwarnings("error")
def test_without_a_network_the_message_says_what_to_do(electricity, tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", no_network)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(OSError, match=r"'electricity' is not in the folder .*cannot be"):
        fetch_electricity(data_home=tmp_path)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"n_rows": 7}, "it has 6 rows instead of 7"),
        ({"labels": "0" * 64}, "its labels, or their order, differ"),
        ({"labels": None, "counts": {"UP": 3}}, r"its labels differ: \{'UP': 4, 'DOWN': 2\}"),
        ({"labels": None, "beginning": "11"}, "its rows are in a different order"),
    ],
)
def test_other_rows_are_refused(electricity, tmp_path, monkeypatch, other, message):
    monkeypatch.setattr(_fetch, "ELECTRICITY", replace(_fetch.ELECTRICITY, **other))
    with pytest.raises(ValueError, match=message):
        fetch_electricity(data_home=tmp_path)


@pytest.mark.parametrize(
    ("name", "fetch", "number"), [("POKER", fetch_poker, 155), ("AIRLINES", fetch_airlines, 1169)]
)
def test_other_sets_of_openml(tmp_path, monkeypatch, name, fetch, number):
    known = getattr(_fetch, name)
    text = "@relation r\n@attribute s {b,a,c}\n@attribute x real\n@attribute y {0,1}\n\n@data\n"
    rows = [("c", 1.5, 1), ("a", 2.0, 1), ("b", 0.5, 1), ("a", 1.0, 1), ("c", 3.0, 0)]
    lines = "".join(f"{s},{x},{y}\n" for s, x, y in rows)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", Host(number, text + lines))
    with pytest.raises(ValueError, match=f"it has 5 rows instead of {known.n_rows:,}"):
        fetch(data_home=tmp_path)
    counts = {"1": 4, "0": 1} if known.counts else {}
    changed = replace(known, n_rows=5, labels=None, counts=counts)
    monkeypatch.setattr(_fetch, name, changed)
    stream = fetch(data_home=tmp_path)
    assert stream.X.tolist() == [[2, 1.5], [1, 2], [0, 0.5], [1, 1], [2, 3]]
    assert stream.classes.tolist() == ["0", "1"]


def write_cache(folder, X, y):
    folder.mkdir(parents=True)
    joblib.dump(X, folder / "samples", compress=1)
    joblib.dump(y, folder / "targets", compress=1)


def test_covertype_from_scikit_learns_cache(tmp_path, monkeypatch):
    X, y = np.arange(108.0).reshape(2, 54), np.array([5, 2], dtype=np.int32)
    write_cache(tmp_path / "covertype", X, y)
    for name in ("samples", "targets"):
        (tmp_path / "covertype" / name).rename(tmp_path / "covertype" / f"{name}_py3")
    with pytest.raises(ValueError, match="it has 2 rows instead of 581,012"):
        fetch_covertype(data_home=tmp_path)
    known = replace(_fetch.COVERTYPE, n_rows=2, labels=sha256(b"5\n2").hexdigest())
    monkeypatch.setattr(_fetch, "COVERTYPE", known)
    stream = fetch_covertype(data_home=tmp_path)
    np.testing.assert_array_equal(stream.X, X)
    assert stream.y.tolist() == [5, 2]
    assert stream.feature_names[0] == "Elevation"


def test_kddcup99_from_scikit_learns_cache(tmp_path, monkeypatch, pd):
    X = np.array([[k, *[0] * 40] for k in range(3)], dtype=object)
    X[:, 1:4] = [[b"udp", b"http", b"SF"], [b"tcp", b"smtp", b"SF"], [b"icmp", b"http", b"S0"]]
    y = np.array([b"normal.", b"smurf.", b"normal."], dtype=object)
    write_cache(tmp_path / "kddcup99_10-py3", X, y)
    known = replace(_fetch.KDDCUP99, n_rows=3, labels=None)
    monkeypatch.setattr(_fetch, "KDDCUP99", known)
    stream = fetch_kddcup99(data_home=tmp_path)
    assert stream.X[:, :4].tolist() == [[0, 2, 0, 1], [1, 1, 1, 1], [2, 0, 0, 0]]
    assert stream.y.tolist() == ["normal.", "smurf.", "normal."]
    assert stream.feature_names[1] == "protocol_type"
    frame = fetch_kddcup99(data_home=tmp_path, as_frame=True).X
    assert frame["protocol_type"].tolist() == ["udp", "tcp", "icmp"]


@pytest.mark.parametrize("fetch", [fetch_covertype, fetch_kddcup99])
@pytest.mark.filterwarnings("error")
def test_archives_that_cannot_be_downloaded(tmp_path, monkeypatch, fetch):
    monkeypatch.setattr("sklearn.datasets._base.urlretrieve", no_network)
    monkeypatch.setattr("time.sleep", lambda _: None)
    name = fetch.__name__.removeprefix("fetch_")
    with pytest.raises(OSError, match=rf"'{name}' is not in the folder .* call {fetch.__name__}\("):
        fetch(data_home=tmp_path)


@pytest.mark.parametrize(
    ("known", "file"),
    [
        (_fetch.ELECTRICITY, "electricity"),
        (_fetch.POKER, "poker_lsn"),
        (_fetch.KDDCUP99, "kdd99_10pct"),
        (_fetch.COVERTYPE, "covertype_labels"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_the_hashes_are_those_of_the_streams(known, file):
    parquet = pytest.importorskip("pyarrow.parquet")
    labels = parquet.read_table(data_path(file), columns=["class"])["class"].to_numpy()
    known.check(labels, None)
    labels = labels.copy()
    labels[[0, -1]] = labels[[-1, 0]] if labels[0] != labels[-1] else ["a", "b"]
    with pytest.raises(ValueError, match="its labels, or their order, differ"):
        known.check(labels, None)
