"""Python's own errors about arguments name the transformer that was called."""

import re
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream import ModelError, PrequentialEvaluator, PrequentialSearch, RunOptions
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import (
    LagFeatures,
    RollingFeatures,
    StreamImputer,
    StreamOneHotEncoder,
    make_stream_preprocessor,
)


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
    with pytest.raises(ModelError, match=r"predicting row 11: .*olumn 0 holds") as told:
        PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto")).evaluate(
            model, rows, [0, 1] * 10
        )
    assert not re.findall("in row|these rows", str(told.value))


def odd_frames() -> list[tuple[str, list[Any], type, str]]:
    """Names of columns, values of the second one, and what is said of it."""
    several = "A value must be one number, text or date"
    return [
        ("ab", [[1, 2]] * 60, TypeError, rf"Column 'b' holds \[1, 2\] in row 0.*{several}"),
        ("ab", [{"x": 1}] * 60, TypeError, rf"Column 'b' holds \{{'x': 1\}} in row 0.*{several}"),
        ("ab", [1.0 + 2j] * 60, TypeError, rf"Column 'b' holds \(1\+2j\) in row 0.*{several}"),
        ("a3", [1.0] * 60, TypeError, r"Column 1 of X has the name 3 \(int\), and column 0 'a'"),
        ("ab", ["t"] * 40 + [3] * 20, ValueError, "Column 'b' holds 't', a text, and 3, a number"),
    ]


@pytest.mark.parametrize(("names", "values", "kind", "message"), odd_frames())
def test_odd_columns_are_named_when_they_are_first_seen(names, values, kind, message, pd):
    y = np.arange(60) % 2
    X = pd.DataFrame({"a": np.arange(60.0), "b": values})
    X.columns = [int(name) if name.isdigit() else name for name in names]
    calls: list[Any] = [lambda: make_stream_preprocessor(X, verbose=False)]
    if "3" in names:
        calls.append(lambda: PrequentialEvaluator().evaluate(SGDClassifier(), X, y))
        calls.append(lambda: PrequentialSearch(SGDClassifier(), {"alpha": [1, 2]}).fit(X, y))
        run = PrequentialEvaluator().start(SGDClassifier(), classes=[0, 1])
        calls.append(lambda: run.update(X, y))
        calls.append(lambda: LagFeatures("a").partial_fit(X))
        calls.append(lambda: RollingFeatures("a").partial_fit(X))
    for call in calls:
        with (
            warnings.catch_warnings(action="ignore"),
            pytest.raises((kind, ValueError, ModelError), match=re.compile(message, re.DOTALL)),
        ):
            call()


def test_names_of_several_levels(pd: Any) -> None:
    X = pd.DataFrame({("a", "b"): [1.0, 2.0], ("a", "c"): [3.0, 4.0]})
    with pytest.raises(TypeError, match=r"Got \('a', 'b'\) of type tuple"):
        LagFeatures([("a", "b")], lags=1).partial_fit(X)
    assert LagFeatures([0], lags=1).partial_fit_transform(X).tolist() == [[0.0], [1.0]]
