"""SVMlight files as streams."""

import bz2
import gzip
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.naive_bayes import MultinomialNB

from skstream import PrequentialEvaluator
from skstream.streams import StreamError, SVMLightStream
from tests._examples import examples

N_ROWS = 23
_RNG = np.random.default_rng(0)
X = sparse.random(N_ROWS, 6, density=0.4, format="csr", random_state=1)
Y = _RNG.integers(0, 3, N_ROWS).astype(float)


def svm(folder, text, name="rows.svm"):
    path = folder / name
    path.write_text(text)
    return path


def rows_of(stream):
    chunks = list(stream)
    return (
        sparse.vstack([X for X, _, _ in chunks]).toarray(),
        np.concatenate([y for _, y, _ in chunks]),
    )


@pytest.fixture(scope="module", params=[True, False], ids=["zero-based", "one-based"])
def written(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("svm") / "rows.svm"
    dump_svmlight_file(X, Y, str(path), zero_based=request.param, comment="made of numbers")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(["\n", *lines[:9], "# a line of words\n", *lines[9:]]))
    return path


@examples(8)
@given(chunk_size=st.integers(1, N_ROWS + 8))
def test_the_rows_of_scikit_learns_reader_however_they_are_cut(written, chunk_size):
    expected_X, expected_y = load_svmlight_file(written)
    stream = SVMLightStream(written, chunk_size=chunk_size)
    found_X, found_y = rows_of(stream)
    np.testing.assert_array_equal(found_X, expected_X.toarray())
    np.testing.assert_array_equal(found_y, expected_y)
    assert max(len(y) for y in stream.labels()) <= chunk_size
    assert (stream.n_rows, stream.n_features) == expected_X.shape
    assert stream.classes.tolist() == [0, 1, 2]


@pytest.mark.parametrize("packing", [gzip, bz2])
def test_compressed_files(tmp_path, packing):
    ending = {gzip: "gz", bz2: "bz2"}[packing]
    (tmp_path / f"2.svm.{ending}").write_bytes(packing.compress(b"1 1:2\n"))
    svm(tmp_path, "0 3:1\n", "1.libsvm")
    stream = SVMLightStream(tmp_path)
    assert rows_of(stream)[0].tolist() == [[0, 0, 1], [2, 0, 0]]
    assert rows_of(pickle.loads(pickle.dumps(stream)))[1].tolist() == [0, 1]


def test_what_is_given_is_not_looked_for(tmp_path, monkeypatch):
    stream = SVMLightStream(svm(tmp_path, "1 2:3\n"), n_features=4, zero_based=True)
    monkeypatch.delattr(SVMLightStream, "_found")
    assert rows_of(stream)[0].tolist() == [[0, 0, 3, 0]]
    assert stream.row_options() == {"n_features": 4, "zero_based": True}


def test_queries_are_passed_over(tmp_path):
    path = svm(tmp_path, "1 qid:7 1:1\n# words\n0 qid:7 2:1\n1 qid:8\n")
    assert rows_of(SVMLightStream(path))[0].tolist() == [[1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("1 a:2", {}, r"line 4: '1 a:2' is not of the form 'label index:value"),
        ("1 3:2 1:5", {}, "line 4: '1 3:2 1:5' .*increase .*sorted and unique"),
        ("1 0:2", {"zero_based": False}, r"line 4: .*Invalid index 0"),
        ("1,2 1:2", {}, r"line 4: '1,2 1:2' .*could not convert"),
        ("1 9:2", {"n_features": 3}, r"line 4: '1 9:2' .* up to n_features=3 \("),
        ("1 3:2", {"n_features": 3, "zero_based": True}, r"line 4: '1 3:2' .* n_features=3 \("),
        ("1 2147483648:2", {}, r"line 4: '1 2147483648:2' .* \(value too large"),
    ],
)
@pytest.mark.parametrize("chunk_size", [1, 2, 100])
def test_a_line_of_another_form_is_named(tmp_path, line, options, message, chunk_size):
    path = svm(tmp_path, f"1 1:1\n# words\n0 2:1\n{line}\n1 1:1\n")
    with pytest.raises(StreamError, match=message) as raised:
        list(SVMLightStream(path, chunk_size=chunk_size, **options))
    assert raised.value.file == str(path)
    assert raised.value.row == {1: 2, 2: 1, 100: 0}[chunk_size]


def test_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="The stream is empty"):
        list(SVMLightStream(svm(tmp_path, "# only words\n")))
    packed = gzip.compress(b"1 1:1\n" * 100_000)
    path = tmp_path / "rows.svm.gz"
    path.write_bytes(packed[:-100])
    with pytest.raises(StreamError, match="cannot be read after its first"):
        list(SVMLightStream(path))
    for options in ({"n_features": 0}, {"zero_based": "yes"}, {"chunk_size": 0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            SVMLightStream(svm(tmp_path, "1 1:1\n"), **options)


def test_targets_and_gaps(tmp_path):
    assert SVMLightStream(svm(tmp_path, "0.5 1:1\n1 1:1\n")).classes is None
    stream = SVMLightStream(svm(tmp_path, "nan 1:1\n1 1:nan\n"))
    assert stream.classes.tolist() == [1]
    found_X, y = rows_of(stream)
    assert np.isnan(y[0])
    assert np.isnan(found_X[1, 0])
    with pytest.raises(ValueError, match="has no labels"):
        _ = SVMLightStream(svm(tmp_path, "nan 1:1\n")).classes


def test_models_are_evaluated_on_it(tmp_path):
    path = svm(tmp_path, "1 1:2\n0 2:1\n1 1:1\n0 2:2\n1 1:3\n")
    model = MultinomialNB()
    evaluator = PrequentialEvaluator("accuracy")
    from_file = evaluator.evaluate(model, SVMLightStream(path, chunk_size=2))
    from_memory = evaluator.evaluate(model, *load_svmlight_file(path))
    assert from_file.scores == from_memory.scores
