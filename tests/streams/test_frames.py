"""Frames that hold their labels, from libraries that give them piece by piece."""

import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.streams import StreamError, as_stream
from tests._examples import examples

pd = pytest.importorskip("pandas")

N_ROWS = 19
_RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "load": _RNG.normal(size=N_ROWS).round(3),
        "class": _RNG.choice(["up", "down"], N_ROWS),
        "day": _RNG.choice(["Mon", "Tue"], N_ROWS),
        "w": _RNG.integers(1, 4, N_ROWS),
        "when": pd.date_range("2020-01-01", periods=N_ROWS, unit="s"),
    }
)
CSV = FRAME.to_csv(index=False)


class Pieces:
    """Frames of some rows each, which can be gone through again and again."""

    def __init__(self, kind, size):
        self.kind = kind
        self.size = size

    def __iter__(self):
        for start in range(0, N_ROWS, self.size):
            yield KINDS[self.kind](FRAME.iloc[start : start + self.size])


def polars_frame(frame):
    return pytest.importorskip("polars").DataFrame(frame.to_dict("list"))


def record_batch(frame):
    pa = pytest.importorskip("pyarrow")
    return pa.RecordBatch.from_pandas(frame, preserve_index=False)


def table(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


KINDS = {
    "pandas": lambda frame: frame,
    "polars": polars_frame,
    "batch": record_batch,
    "table": table,
    "dict": lambda frame: frame.to_dict("list"),
}
NAMES = {"target": "class", "sample_weight": "w", "arrival": "when"}


def same_rows(stream):
    chunks = list(stream)
    X = pd.concat([pd.DataFrame({name: X[name] for name in X.columns}) for X, _, _ in chunks])
    assert list(X.columns) == ["load", "day"]
    np.testing.assert_array_equal(X["load"], FRAME["load"])
    assert X["day"].tolist() == FRAME["day"].tolist()
    y = np.concatenate([y for _, y, _ in chunks])
    assert y.tolist() == FRAME["class"].tolist()
    for key, name in {"sample_weight": "w", "arrival": "when"}.items():
        values = np.concatenate([meta[key] for _, _, meta in chunks])
        np.testing.assert_array_equal(values, FRAME[name])
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_at_once(kind):
    stream = as_stream(KINDS[kind](FRAME), chunk_size=5, **NAMES)
    assert (stream.n_rows, stream.classes.tolist()) == (N_ROWS, ["down", "up"])
    assert stream.feature_names == ["load", "day"]
    assert same_rows(stream)


@pytest.mark.parametrize("kind", KINDS)
@examples(3)
@given(size=st.integers(1, N_ROWS + 2))
def test_every_kind_of_frame_in_pieces(kind, size):
    stream = as_stream(Pieces(kind, size), **NAMES)
    assert stream.reiterable
    assert same_rows(stream)
    assert same_rows(pickle.loads(pickle.dumps(stream)))
    assert stream.row_options() == NAMES


def test_pieces_of_pandas_readers():
    def read():
        return pd.read_csv(io.StringIO(CSV), chunksize=4, parse_dates=["when"])

    assert same_rows(as_stream(read, **NAMES))
    once = as_stream(read(), **NAMES)
    assert not once.reiterable
    assert same_rows(once)
    with pytest.raises(RuntimeError, match=r"one-shot iterator \(TextFileReader\)"):
        list(once)


def test_record_batch_readers(pa):
    batches = [record_batch(FRAME.iloc[k : k + 6]) for k in range(0, N_ROWS, 6)]
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    stream = as_stream(reader, **NAMES)
    assert not stream.reiterable
    assert same_rows(stream)


def test_names_that_are_not_there():
    with pytest.raises(ValueError, match=r"'Class', which is not in X\. Did you mean 'class'\?"):
        as_stream(FRAME, target="Class")
    pieces = [FRAME.iloc[:3], FRAME.iloc[3:].drop(columns="w")]
    with pytest.raises(StreamError, match="sample_weight names the column 'w', which is not in"):
        list(as_stream(pieces, target="class", sample_weight="w"))
    with pytest.raises(ValueError, match="X has no column besides class, so there are no features"):
        as_stream(FRAME[["class"]], target="class")


def test_other_things_than_frames():
    with pytest.raises(ValueError, match="y and target= are both given"):
        as_stream(FRAME, FRAME["class"], target="class")
    with pytest.raises(TypeError, match="sample_weight must be the name of a column if target="):
        as_stream(FRAME, target="class", sample_weight=FRAME["w"])
    with pytest.raises(TypeError, match=r"the frame that starts at row 0 is a tuple\. With target"):
        list(as_stream([(FRAME, FRAME["class"])], target="class"))
    rows = FRAME.to_dict("records")
    with pytest.raises(
        ValueError, match=r"value of 'load' is not a column: .*dataset\.iter\(batch"
    ):
        list(as_stream(rows, target="class"))
    with pytest.raises(ValueError, match=r"column holds them, pass as_stream\(X, target="):
        as_stream(FRAME)
    with pytest.raises(
        TypeError, match=r"frame\['class'\], and X without it; as_stream\(.*'class'"
    ):
        as_stream(FRAME, "class")
    with pytest.raises(TypeError, match="contain their labels, pass target= to as_stream"):
        list(as_stream([FRAME]))
    with pytest.raises(ValueError, match="The columns change at row 3"):
        list(as_stream([FRAME.iloc[:3], FRAME.iloc[3:, ::-1]], target="class"))
