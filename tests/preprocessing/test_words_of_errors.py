"""Python's own errors about arguments name the transformer that was called."""

import re
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream import ModelError, PrequentialEvaluator
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import (
    DatetimeFeatures,
    LagFeatures,
    RollingFeatures,
    StreamImputer,
    StreamOneHotEncoder,
    StreamOrdinalEncoder,
)


@pytest.mark.parametrize(
    "kind",
    [DatetimeFeatures, LagFeatures, RollingFeatures, StreamOneHotEncoder, StreamOrdinalEncoder],
)
def test_arguments_that_it_does_not_take(kind: type) -> None:
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\.partial_fit\(\) got an unexpected"):
        kind().partial_fit([[1.0]], sample_weight=[1.0])  # type: ignore[attr-defined]


def test_of_a_subclass() -> None:
    class Mine(LagFeatures):
        pass

    with pytest.raises(TypeError, match=r"Mine\.partial_fit\(\)"):
        Mine().partial_fit([[1.0]], sample_weight=[1.0])
    assert Mine(lags=[1]).partial_fit([[1.0]]).transform([[2.0]]).tolist() == [[1.0]]


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize(
    ("transformer", "value"),
    [(StreamImputer(), "oops"), (LagFeatures(), "oops"), (StreamOneHotEncoder(), [1])],
    ids=str,
)
def test_the_row_of_the_stream_is_the_only_one(transformer: Any, value: Any, engine: Any) -> None:
    rows = np.arange(20.0).astype(object)[:, np.newaxis]
    rows[11, 0] = value
    model = make_stream_pipeline(transformer, SGDClassifier(random_state=0))
    with pytest.raises(ModelError, match=r"answering row 11: .*olumn 0 holds") as told:
        PrequentialEvaluator("accuracy", engine=engine).evaluate(model, rows, [0, 1] * 10)
    assert not re.findall("in row|these rows", str(told.value))
