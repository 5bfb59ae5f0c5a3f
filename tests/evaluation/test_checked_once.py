"""Every row is checked once on its way from the user into a run, wherever it comes from."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from skstream import DelayedEvaluator, PrequentialEvaluator, prequential_predict
from skstream.baselines import MajorityClass
from skstream.streams import ParquetStream, as_stream
from skstream.streams import _chunk as chunk_module
from skstream.streams._arrays import ArrayStream
from skstream.utils import _label_space as label_module

rng = np.random.default_rng(0)
X = rng.random((60, 3))
Y = rng.integers(0, 2, 60)
EVALUATOR = PrequentialEvaluator("accuracy")


@pytest.fixture
def looks(monkeypatch):
    """Count the rows and labels that are looked at."""
    counts = {"rows": 0, "labels": 0}
    as_rows, encode = chunk_module.as_rows, label_module.LabelSpace.encode

    def counted_rows(rows, **options):
        found = as_rows(rows, **options)
        counts["rows"] += found.shape[0]
        return found

    def counted_labels(space, y, first_row=0):
        counts["labels"] += len(y)
        return encode(space, y, first_row)

    monkeypatch.setattr(chunk_module, "as_rows", counted_rows)
    monkeypatch.setattr(label_module.LabelSpace, "encode", counted_labels)
    return counts


def chunks():
    return [(X[i : i + 20], Y[i : i + 20]) for i in range(0, 60, 20)]


@pytest.mark.parametrize(
    "source",
    [
        lambda: ArrayStream(X, Y, chunk_size=7),
        lambda: as_stream(chunks()),
        lambda: as_stream(as_stream(as_stream(chunks()))),
    ],
    ids=["arrays", "chunks", "streams of streams"],
)
def test_rows_of_a_stream_are_checked_once(source, looks):
    models = {"sgd": SGDClassifier(random_state=0), "majority": MajorityClass()}
    EVALUATOR.evaluate(models, source(), classes=[0, 1])
    assert looks == {"rows": 60, "labels": 60}


def test_rows_read_from_a_file_are_checked_where_they_are_converted(looks, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"x": X[:, 0], "weight": X[:, 1], "class": Y})
    pq.write_table(table, tmp_path / "rows.parquet")
    stream = ParquetStream(tmp_path / "rows.parquet", target="class", sample_weight="weight")
    EVALUATOR.evaluate(MajorityClass(), stream)
    assert looks == {"rows": 0, "labels": 60}


def test_rows_of_updates_are_checked_once(looks):
    run = EVALUATOR.start(MajorityClass(), classes=[0, 1])
    for row in range(60):
        run.update(X[row : row + 1], Y[row : row + 1])
    run.result()
    assert looks == {"rows": 60, "labels": 60}


def test_rows_of_other_protocols_are_checked_once(looks):
    DelayedEvaluator("accuracy", n_bins=2, delay=3).evaluate(MajorityClass(), X, Y)
    assert looks == {"rows": 60, "labels": 60}
    prequential_predict(MajorityClass(), X, Y)
    assert looks == {"rows": 120, "labels": 120}


def test_a_run_takes_one_kind_of_container_as_a_stream_does():
    message = "X is a sparse matrix in the chunk that starts at row 20, and a dense array in the"
    with pytest.raises(ValueError, match=message):
        EVALUATOR.start(MajorityClass(), classes=[0, 1]).update(X[:20], Y[:20]).update(
            sparse.csr_matrix(X[20:]), Y[20:]
        )
    with pytest.raises(ValueError, match=message):
        parts = iter([(X[:20], Y[:20]), (sparse.csr_matrix(X[20:]), Y[20:])])
        EVALUATOR.evaluate(MajorityClass(), parts, classes=[0, 1])


def test_rows_after_those_of_a_stream_must_fit_them():
    run = EVALUATOR.start(MajorityClass(), classes=[0, 1])
    for chunk in as_stream(chunks()):
        run.feed(chunk)
    with pytest.raises(ValueError, match="Row 60 has 2 features, but the rows before it have 3"):
        run.update(X[:1, :2], Y[:1])
    assert run.update(X[:1], Y[:1]).n_rows == 61
