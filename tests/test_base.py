"""What the engine asks of estimators: how they learn, and how they are asked."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import IncrementalPCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstream.base import asks_row_by_row, learner, supports_sample_weight
from skstream.baselines import Persistent
from skstream.pipeline import make_stream_pipeline
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from tests._calls import n_calls

X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
Y = np.array([0, 1, 1])


class Notes(BaseEstimator):
    """Writes down what it is given; takes no weights."""

    def partial_fit(self, X, y, classes=None):
        rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
        self.seen_ = [*getattr(self, "seen_", []), (rows.tolist(), list(y), classes)]


@pytest.mark.parametrize("kind", ["array", "csr", "list", "pandas", "polars"])
def test_rows_are_repeated_where_weights_are_not_taken(kind) -> None:
    rows = {"array": X, "csr": sparse.csr_array(X), "list": X.tolist()}.get(kind)
    if rows is None:
        rows = pytest.importorskip(kind).DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = Notes()
    learner(model)(rows, Y, np.array([2.0, 1.0, 3.0]), [0, 1])
    again = [0, 0, 1, 2, 2, 2]
    assert model.seen_ == [(X[again].tolist(), Y[again].tolist(), [0, 1])]


def test_repetition_needs_whole_numbers() -> None:
    with pytest.raises(ValueError, match=r"Notes\.partial_fit has no sample_weight.*weight\[2\]"):
        learner(Notes())(X, Y, np.array([1.0, 2.0, 0.25]), None)


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(), make_pipeline(StandardScaler(), SGDClassifier())]
)
def test_models_that_cannot_learn_are_refused_with_a_way_out(model) -> None:
    said = f"{type(model).__name__} cannot learn .*Use a model with partial_fit"
    with pytest.raises(TypeError, match=said):
        learner(model)


def test_who_takes_weights() -> None:
    assert supports_sample_weight(SGDClassifier())
    assert supports_sample_weight(Persistent())
    assert supports_sample_weight(TemporallyAugmented(Notes()))
    assert supports_sample_weight(make_stream_pipeline(Notes()))
    assert not supports_sample_weight(Notes())
    assert not supports_sample_weight(IncrementalPCA())
    assert not supports_sample_weight(LogisticRegression())


PREDICTED = TemporallyAugmented(MultinomialNB(), previous_label="predicted")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (PREDICTED, True),
        (TemporalCorrection(MultinomialNB(), previous_label="predicted"), True),
        (TemporalCorrection(MultinomialNB()), False),
        (TemporalCorrection(PREDICTED), True),
        (make_stream_pipeline(StandardScaler(), PREDICTED), True),
        (make_stream_pipeline(StandardScaler(), make_stream_pipeline(PREDICTED)), True),
        (make_pipeline(StandardScaler(), PREDICTED), True),
        (OneVsRestClassifier(PREDICTED), True),
        (FrozenEstimator(PREDICTED), True),
        (FrozenEstimator(make_pipeline(PREDICTED)), True),
        (SGDClassifier(), False),
        ("no estimator", False),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_who_must_be_asked_row_by_row(model, expected) -> None:
    assert asks_row_by_row(model) is expected


def test_a_learner_costs_little_per_row() -> None:
    """It must not look at signatures at every row, which takes a hundred calls and more."""

    class Nothing(BaseEstimator):
        def partial_fit(self, X, y):
            pass

    learn, row, label, weight = learner(Nothing()), X[:1], Y[:1], np.ones(1)
    learn(row, label, weight, None)
    assert n_calls(lambda: learn(row, label, weight, None)) < 30
