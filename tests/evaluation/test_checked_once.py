"""Every row is checked once on its way from the user into a run, wherever it comes from."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream import PrequentialEvaluator
from skstream.baselines import MajorityClass
from skstream.core.rows import chunk as chunk_module
from skstream.core.rows.arrays import ArrayStream
from skstream.streams import as_stream
from skstream.utils import _labels as label_module

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
