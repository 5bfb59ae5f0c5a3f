"""Laws of every stream kind that the package exports, found by introspection."""

import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skstream.streams
from skstream.core.rows.arrays import ArrayStream, ChunkStream
from skstream.streams import (
    ARFFStream,
    CSVStream,
    GeneratedStream,
    ParquetStream,
    Stream,
    SVMLightStream,
    make_demo_stream,
)
from skstream.utils._labels import find_classes
from tests._examples import examples
from tests.streams._tables import write_parquet

N_ROWS = 23
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(N_ROWS, 3))
Y = np.array(["a", "b", "c"], dtype=object)[_RNG.integers(0, 3, N_ROWS)]
WEIGHT = _RNG.random(N_ROWS)
CODES = np.unique(Y, return_inverse=True)[1].astype(float)
#: The rows as CSV and ARFF files have them.
LINES = [
    f"{a!r},{b!r},{c!r},{y},{w!r}"
    for (a, b, c), y, w in zip(X.tolist(), Y, WEIGHT.tolist(), strict=True)
]


class Source:
    """A source of chunks that can be gone through again and that pickles."""

    def __init__(self, chunk_size: int) -> None:
        self.chunk_size = chunk_size
        self.n_rows = N_ROWS
        self.classes = ["c", "a", "b"]
        self.feature_names = ["x0", "x1", "x2"]

    def __iter__(self):
        for start in range(0, N_ROWS, self.chunk_size):
            rows = slice(start, start + self.chunk_size)
            yield X[rows], Y[rows], {"sample_weight": WEIGHT[rows]}


class CutByChunk(Source):
    """Broken: what a row looks like depends on where the stream is cut."""

    def __iter__(self):
        for rows, y, meta in super().__iter__():
            yield rows - rows.mean(axis=0), y, meta


class OnceOnly(Source):
    """Broken: goes on where the last pass ended, and says that it can start again."""

    def __init__(self, chunk_size: int) -> None:
        super().__init__(chunk_size)
        self.rest = super().__iter__()

    def __iter__(self):
        yield from self.rest


def array_stream(folder, chunk_size):
    return ArrayStream(
        X, Y, sample_weight=WEIGHT, chunk_size=chunk_size, feature_names=["x0", "x1", "x2"]
    )


def chunk_stream(folder, chunk_size):
    return ChunkStream(Source(chunk_size))


def parquet_stream(folder, chunk_size):
    path = folder / "rows.parquet"
    if not path.exists():
        columns = {f"x{j}": X[:, j] for j in range(3)}
        write_parquet(path, {**columns, "class": Y.tolist(), "w": WEIGHT}, rows=5)
    return ParquetStream(path, "class", roles={"sample_weight": "w"}, chunk_size=chunk_size)


def csv_stream(folder, chunk_size):
    pytest.importorskip("pyarrow")
    path = folder / "rows.csv"
    if not path.exists():
        path.write_text("\n".join(["x0,x1,x2,class,w", *LINES]) + "\n")
    return CSVStream(path, "class", roles={"sample_weight": "w"}, chunk_size=chunk_size)


def arff_stream(folder, chunk_size):
    pytest.importorskip("pyarrow")
    path = folder / "rows.arff"
    if not path.exists():
        lines = [f"@attribute x{j} real" for j in range(3)]
        lines += ["@attribute class {c,a,b}", "@attribute w numeric", "@data", *LINES]
        path.write_text("\n".join(lines))
    return ARFFStream(path, "class", roles={"sample_weight": "w"}, chunk_size=chunk_size)


def svmlight_stream(folder, chunk_size):
    path = folder / "rows.svm"
    if not path.exists():
        lines = [
            f"{y} 1:{a!r} 2:{b!r} 3:{c!r}" for (a, b, c), y in zip(X.tolist(), CODES, strict=True)
        ]
        path.write_text("\n".join(lines))
    return SVMLightStream(path, chunk_size=chunk_size)


MAKERS = {
    ArrayStream: array_stream,
    ChunkStream: chunk_stream,
    ParquetStream: parquet_stream,
    CSVStream: csv_stream,
    ARFFStream: arff_stream,
    SVMLightStream: svmlight_stream,
}
#: Features, labels and meta data where they are not X, Y and WEIGHT; names of the features.
OTHERS = {SVMLightStream: ((X, CODES, []), None)}
every_kind = pytest.mark.parametrize("make", MAKERS.values(), ids=lambda make: make.__name__)


def joined(stream) -> tuple:
    chunks = list(stream)
    return (
        np.concatenate([getattr(X, "toarray", lambda X=X: X)() for X, _, _ in chunks]),
        np.concatenate([y for _, y, _ in chunks]),
        np.concatenate([[], *(one for _, _, meta in chunks for one in meta.values())]),
    )


def expected(stream) -> tuple:
    return OTHERS.get(type(stream), ((X, Y, WEIGHT), ["x0", "x1", "x2"]))


def same_rows(stream) -> bool:
    return all(map(np.array_equal, joined(stream), expected(stream)[0]))


def test_every_exported_stream_kind_is_here():
    exported = [getattr(skstream.streams, name) for name in skstream.streams.__all__]
    kinds = {kind for kind in exported if inspect.isclass(kind) and issubclass(kind, Stream)}
    kinds -= {kind for kind in kinds if issubclass(kind, GeneratedStream)}  # see test_generated.py
    assert kinds - {Stream} | {ArrayStream, ChunkStream} == MAKERS.keys()


@every_kind
@examples(25)
@given(chunk_size=st.integers(1, N_ROWS + 2))
def test_cutting_changes_no_row(make, tmp_path_factory, chunk_size):
    folder = tmp_path_factory.getbasetemp()
    stream = make(folder, chunk_size)
    assert same_rows(stream)
    assert max(len(y) for _, y, _ in stream) <= chunk_size


@every_kind
def test_a_stream_can_be_gone_through_again_and_pickled(make, tmp_path):
    stream = make(tmp_path, 7)
    assert stream.reiterable
    copies = [stream, stream, pickle.loads(pickle.dumps(stream))]
    assert all(same_rows(copy) for copy in copies)


@every_kind
def test_a_pass_may_stop_early(make, tmp_path):
    stream = make(tmp_path, 7)
    first, second = iter(stream), iter(stream)
    next(first)
    assert len(next(second)[1]) == len(next(iter(stream))[1])
    first.close()
    assert same_rows(stream)


@every_kind
def test_attributes_describe_the_rows(make, tmp_path):
    stream = make(tmp_path, 7)
    (_, y, _), names = expected(stream)
    assert stream.classes.tolist() == find_classes(y).tolist()
    assert len(stream.classes) == 3
    assert stream.feature_names == names
    assert stream.n_rows == N_ROWS
    assert repr(stream).startswith(f"{type(stream).__name__}(23 rows")
    np.testing.assert_array_equal(np.concatenate(list(stream.labels())), y)


def test_the_laws_catch_broken_streams():
    assert same_rows(ChunkStream(Source(5)))
    assert not same_rows(ChunkStream(CutByChunk(5)))
    broken = ChunkStream(OnceOnly(5))
    assert same_rows(broken)
    with pytest.raises(ValueError, match="return a new iterator at each call"):
        list(broken)


def test_every_exported_generator_is_the_same_however_it_is_cut():
    generators = [name for name in skstream.streams.__all__ if name.startswith("make_")]
    # The frame of payments spreads over 90 days, however many there are.
    assert generators == ["make_demo_stream", "make_transactions"]
    whole = make_demo_stream(500)
    for n_rows in (1, 2, 499):
        part = make_demo_stream(n_rows)
        assert part.X.shape == (n_rows, 4)
        np.testing.assert_array_equal(part.y, whole.y[:n_rows])
        np.testing.assert_array_equal(part.X[: n_rows // 2], whole.X[: min(n_rows, 500) // 2])
