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
    DatetimeFeatures,
    LagFeatures,
    RollingFeatures,
    StreamImputer,
    StreamOneHotEncoder,
    StreamOrdinalEncoder,
    make_stream_preprocessor,
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
        PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto")).evaluate(
            model, rows, [0, 1] * 10
        )
    assert not re.findall("in row|these rows", str(told.value))


def odd_frames() -> list[tuple[str, list[Any], type, str]]:
    """Names of columns, values of the second one, and what is said of it."""
    several = "A value is one number, text or date"
    return [
        ("ab", [[1, 2]] * 60, TypeError, rf"Column 'b' holds \[1, 2\] in row 0.*{several}"),
        ("ab", [{"x": 1}] * 60, TypeError, rf"Column 'b' holds \{{'x': 1\}} in row 0.*{several}"),
        ("ab", [1.0 + 2j] * 60, TypeError, rf"Column 'b' holds \(1\+2j\) in row 0.*{several}"),
        ("a3", [1.0] * 60, TypeError, r"Column 1 of X has the name 3 \(int\), and column 0 'a'"),
        ("ab", ["t"] * 40 + [3] * 20, ValueError, "Column 'b' holds 't', a text, and 3, a number"),
    ]


@pytest.mark.parametrize(("names", "values", "kind", "message"), odd_frames())
def test_odd_columns_are_named_when_they_are_first_seen(
    names: str, values: list[Any], kind: type[Exception], message: str
) -> None:
    pandas = pytest.importorskip("pandas")
    y = np.arange(60) % 2
    X = pandas.DataFrame({"a": np.arange(60.0), "b": values})
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


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_a_position_that_is_the_name_of_another_column(engine: str) -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.arange(12.0).reshape(4, 3), columns=[2, 0, 1])
    message = "columns has the position 0, but the column there has the name 2, and another one"
    model = make_stream_pipeline(LagFeatures([0]), SGDClassifier())
    with pytest.raises((ValueError, ModelError), match=message):
        PrequentialEvaluator(run=RunOptions(kernels=engine == "auto")).evaluate(
            model, X, [0, 1, 0, 1]
        )
    assert LagFeatures([0]).fit_transform(X[[0, 1, 2]]).shape == (4, 1)
    assert RollingFeatures(key=0).fit_transform(X.set_axis([5, 6, 7], axis=1)).shape == (4, 4)


def test_names_of_several_levels() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({("a", "b"): [1.0, 2.0], ("a", "c"): [3.0, 4.0]})
    with pytest.raises(TypeError, match=r"Got \('a', 'b'\) of type tuple. Where names have sever"):
        LagFeatures([("a", "b")], lags=1).partial_fit(X)
    assert LagFeatures([0], lags=1).partial_fit_transform(X).tolist() == [[0.0], [1.0]]
