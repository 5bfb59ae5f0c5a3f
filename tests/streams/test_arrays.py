"""Streams of data in memory and of other sources of chunks."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from skstream import PrequentialEvaluator, RunOptions, make_stream_pipeline
from skstream.core.rows.arrays import ArrayStream
from skstream.streams import Stream, as_stream

X = np.arange(20.0).reshape(10, 2)
Y = np.array([0, 1] * 5)


def generate():
    yield X[:4], Y[:4]
    yield X[4:], Y[4:]


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_rows_become_csr(kind):
    stream = as_stream(kind(X), Y, chunk_size=3)
    chunks = [X for X, _, _ in stream]
    assert {chunk.format for chunk in chunks} == {"csr"}
    np.testing.assert_array_equal(sparse.vstack(chunks).toarray(), X)
    csr = sparse.csr_matrix(X)
    assert as_stream(csr, Y).X is csr


def test_pandas_frames_are_sliced_and_keep_names_and_types(pd):
    frame = pd.DataFrame(
        {"b": np.arange(4, dtype=np.int8), "a": pd.Categorical(["x", "y", "x", "x"])},
        index=[9, 8, 7, 6],
    )
    y = pd.Series(["u", None, "v", "u"], index=[9, 8, 7, 6])
    stream = as_stream(frame, y, chunk_size=3)
    assert stream.feature_names == ["b", "a"]
    assert stream.classes.tolist() == ["u", "v"]
    chunks = list(stream)
    pd.testing.assert_frame_equal(pd.concat([X for X, _, _ in chunks]), frame)
    assert chunks[1][1].tolist() == ["u"]
    assert np.shares_memory(chunks[0][0]["b"].to_numpy(), frame["b"].to_numpy())


def test_names_that_are_no_strings_are_no_names(pd):
    assert as_stream(pd.DataFrame(X), Y).feature_names is None


def test_polars_frames_are_sliced(pl):
    frame = pl.DataFrame({"b": [1, 2, 3], "a": ["x", None, "y"]})
    stream = as_stream(frame, pl.Series([1, None, 0]), chunk_size=2)
    chunks = list(stream)
    assert pl.concat([X for X, _, _ in chunks]).equals(frame)
    assert stream.feature_names == ["b", "a"]
    assert stream.classes.tolist() == [0, 1]
    with pytest.raises(TypeError, match=r"LazyFrame. Pass X\.collect\(\)"):
        as_stream(frame.lazy(), [0, 1, 0])


def test_memory_maps_are_never_copied(tmp_path):
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=(10, 2))
    mapped[:] = X
    for chunk, _, _ in as_stream(mapped, Y, chunk_size=4):
        assert isinstance(chunk, np.memmap)
        assert np.shares_memory(chunk, mapped)


def test_a_column_of_texts_is_hashed_as_the_texts_alone(pd):
    texts, y = ["up we go", "down", "up", "down again"] * 3, [1, 0, 1, 0] * 3
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    hashed = evaluator.evaluate(
        {"m": MultinomialNB()}, HashingVectorizer(alternate_sign=False).transform(texts), y
    )
    words = [("words", HashingVectorizer(alternate_sign=False), "text")]
    model = make_stream_pipeline(ColumnTransformer(words), MultinomialNB())
    column = evaluator.evaluate({"m": model}, pd.DataFrame({"text": texts}), y)
    assert hashed.scores == column.scores


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("column", [None, ["text"]])
def test_names_of_columns_are_not_hashed_in_the_place_of_texts(engine, column, pd):
    frame = pd.DataFrame({"text": ["up we go", "down", "up", "down again"]})
    step = HashingVectorizer(alternate_sign=False)
    if column is not None:  # a list of columns selects a frame
        step = ColumnTransformer([("words", step, column)])
    model = make_stream_pipeline(step, MultinomialNB())
    evaluator = PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto"))
    with pytest.raises(ValueError, match=r"only its column names.*'text'\)\]"):
        evaluator.evaluate(model, frame, [1, 0, 1, 0])
    with pytest.raises(TypeError, match=r"HashingVectorizer takes texts or dicts"):
        model.partial_fit(frame[:1], [1], classes=[0, 1])


def test_numbers_without_columns_are_no_texts():
    for numbers in (np.zeros(2), np.array([None, 1.5], dtype=object)):
        with pytest.raises(ValueError, match=r"Got shape \(2,\)\. Pass X\.reshape"):
            as_stream(numbers, [0, 1])


def test_meta_data_follow_their_rows():
    times = np.arange(10).astype("datetime64[h]")
    stream = as_stream(X, Y, arrival=times, label_time=times + 5, chunk_size=4)
    _, _, meta = list(stream)[1]
    np.testing.assert_array_equal(meta["arrival"], times[4:8])
    np.testing.assert_array_equal(meta["label_time"], times[4:8] + 5)


def test_fractional_targets_have_no_classes():
    assert as_stream(X, X[:, 0] / 3).classes is None
    assert as_stream(X, [None] * 10).classes is None


@pytest.mark.parametrize(
    "source",
    [generate, [(X[:4], Y[:4]), (X[4:], Y[4:])], ((X[:4], Y[:4], None), [X[4:], Y[4:], {}])],
)
def test_sources_that_start_again(source):
    stream = as_stream(source)
    assert stream.reiterable
    for _ in range(2):
        assert [len(y) for _, y, _ in stream] == [4, 6]
    assert (stream.n_rows, stream.classes, stream.feature_names) == (None, None, None)
    assert repr(stream) == "ChunkStream(unknown number of rows)"


@pytest.mark.parametrize("make", [generate, lambda: iter(list(generate()))])
def test_a_one_shot_iterator_says_so_at_the_second_pass(make):
    stream = as_stream(make())
    assert not stream.reiterable
    next(iter(stream))
    with pytest.raises(RuntimeError, match=r"one-shot iterator.*already consumed.*Pass the gen"):
        iter(stream)
    assert "one pass only" in repr(stream)


def test_a_function_that_returns_one_iterator_again_is_caught():
    only = generate()
    stream = as_stream(lambda: only)
    list(stream)
    with pytest.raises(ValueError, match=r"is empty.*new iterator at each call"):
        list(stream)


def test_empty_chunks_are_passed_over():
    stream = as_stream([(X[:0], Y[:0]), (X[:3], Y[:3]), (X[3:3], Y[3:3])])
    assert [len(y) for _, y, _ in stream] == [3]


def test_a_subclass_is_checked_too():
    class Short(Stream):
        def chunks(self):
            yield X[:3], Y[:2]

    with pytest.raises(ValueError, match="X in the chunk that starts at row 0 has 3 rows"):
        list(Short())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((X, Y[:7]), ValueError, "X has 10 rows, but y has 7 labels"),
        ((X[:7], Y), ValueError, "X has 7 rows, but y has 10 labels"),
        ((X[:0], Y[:0]), ValueError, r"empty: X has shape \(0, 2\)"),
        ((X, None), ValueError, "y is missing: X is a ndarray"),
        ((X[:, 0], Y), ValueError, r"Got shape \(10,\)\. Pass X\.reshape\(1, -1\)"),
        ((X[None], Y), ValueError, r"Got shape \(1, 10, 2\)"),
        ((X, Y.reshape(-1, 1)), ValueError, r"y must be one-dimensional.*Pass y\.ravel"),
        (([[1, 2], [3, 4], [5]], [0, 1, 0]), ValueError, "Row 2 of X has 1 features, but row 0"),
        (("rows.parquet",), TypeError, "ParquetStream"),
        ((3,), TypeError, "Got int instead"),
        ((generate, Y), ValueError, "y is given together with a source of chunks"),
    ],
)
def test_bad_data_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        as_stream(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [1, 2]}, r"sample_weight has shape \(2,\), but X has 10 rows"),
        ({"id": [1] * 11}, r"id has shape \(11,\)"),
        ({"chunk_size": 0}, "chunk_size must be an integer >= 1. Got 0"),
        ({"chunk_size": 2.5}, "Got 2.5"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        as_stream(X, Y, **options)


def chunks_with(second):
    return [(X[:4], Y[:4], {"arrival": range(4)}), second]


@pytest.mark.parametrize(
    ("chunk", "error", "message"),
    [
        ((X[4:, :1], Y[4:]), ValueError, "Row 4 has 1 features, but the rows before it have 2"),
        ((X[4:], Y[3:]), ValueError, "starts at row 4 has 6 rows, but y has 7 labels"),
        ((X[4:], Y[4:]), ValueError, "The keys of meta change at row 4: .* instead of .'arrival'"),
        ((X[4:], None), ValueError, "Chunk 1 of the stream has y=None"),
        ((sparse.csr_array(X[4:]), Y[4:]), ValueError, "X is a sparse matrix .*row 4, but a dense"),
        ((X[4:], Y[4:], {"arrivals": Y[4:]}), ValueError, "Unknown key 'arrivals' .*Known: sam"),
        ((X[4:], Y[4:], {"arrival": Y}), ValueError, r"arrival in .* has shape \(10,\), but X has"),
        ((X[4:], Y[4:], Y[4:]), TypeError, "must be a dict of arrays. Got ndarray"),
        (X[4:], TypeError, r"Chunk 1 of the stream is a ndarray of shape \(6, 2\)"),
        ((X[4:], Y[4:], {}, 1), TypeError, "Chunk 1 of the stream is a tuple"),
    ],
)
def test_a_bad_chunk_is_named(chunk, error, message):
    with pytest.raises(error, match=message):
        list(as_stream(chunks_with(chunk)))


def test_columns_that_change_are_named(pd):
    frame = pd.DataFrame(X, columns=["a", "b"])
    good = as_stream([(frame[:4], Y[:4]), (frame[4:], Y[4:])])
    assert len(list(good)) == 2
    swapped = as_stream([(frame[:4], Y[:4]), (frame[["b", "a"]][4:], Y[4:])])
    with pytest.raises(ValueError, match="change at row 4: column 0 is 'b', but it was 'a'"):
        list(swapped)
    mixed = as_stream([(frame[:4], Y[:4]), (X[4:], Y[4:])])
    with pytest.raises(ValueError, match=r"X is a dense array .*row 4, but a pandas frame"):
        list(mixed)


def test_arrow_tables_keep_the_names_of_their_columns(pa, pd):
    columns = {"a": [1.0, 2.0], "b": [None, "x"]}
    for made in (pa.table(columns), pa.RecordBatch.from_pydict(columns)):
        stream = ArrayStream(made, [0, 1])
        assert stream.feature_names == ["a", "b"]
        assert stream.X["a"].tolist() == [1.0, 2.0]
    assert ArrayStream(pa.array(["a text", "another"]), [0, 1]).X.tolist() == ["a text", "another"]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], r"X has no rows"),
        ([{"a": 1.0}, {"a": 2.0}], r"X contains dicts \(row 0 is .*Pass pandas.DataFrame\(X\)"),
        (["a", 3.5], r"that of row 1 is of type float \(3.5\)"),
        (["a", float("nan")], r"that of row 1 is missing \(nan\)"),
    ],
)
def test_rows_of_no_known_kind_are_named(X, message) -> None:
    with pytest.raises(ValueError, match=message):
        ArrayStream(X, [0] * len(X))


def test_texts_in_a_column_of_an_array_are_named() -> None:
    texts = np.array([["a b"], ["c"]], dtype=object)
    with pytest.raises(TypeError, match=r"HashingVectorizer takes single texts.*X.ravel\(\)"):
        make_stream_pipeline(HashingVectorizer(), SGDClassifier()).fit(texts, [0, 1])
    own = HashingVectorizer(analyzer=lambda row: row[0].split())
    make_stream_pipeline(own, SGDClassifier()).fit(texts, [0, 1])


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_with_long_indices_reach_models(kind):
    X = kind(np.random.default_rng(0).normal(size=(50, 4)))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    y = np.tile([0, 1], 25)
    for engine in ("auto", "loop"):
        evaluator = PrequentialEvaluator(
            "accuracy", random_state=0, run=RunOptions(kernels=engine == "auto")
        )
        found = evaluator.evaluate(SGDClassifier(), X, y)
        assert found.scores == evaluator.evaluate(SGDClassifier(), kind(X.toarray()), y).scores
    assert X.indices.dtype == np.int64  # the user's own matrix is as it was
