"""Kernels read frames of numbers as scikit-learn reads them, row by row."""

import copy
import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from skstream import PrequentialEvaluator, RunOptions, make_stream_pipeline
from skstream.kernels import Declined, Task
from tests.kernels import _reference as ref
from tests.kernels.test_layouts import TRANSFORMERS
from tests.kernels.test_support_table import KERNEL, classes_for

N_ROWS = 12
_RNG = np.random.default_rng(0)
COLUMNS = {
    "a": _RNG.integers(0, 3, N_ROWS),
    "b": _RNG.integers(0, 5, N_ROWS) / 2.0,
    "c": _RNG.random(N_ROWS) < 0.4,
}
WHOLE = {name: np.floor(values).astype(int) for name, values in COLUMNS.items()}
Y = np.random.default_rng(1).integers(0, 2, N_ROWS)


def of_pandas(columns: dict[str, Any], types: dict[str, str]) -> Any:
    if any("pyarrow" in name for name in types.values()):
        pytest.importorskip("pyarrow")
    return pytest.importorskip("pandas").DataFrame(columns).astype(types)


def of_polars(columns: dict[str, Any], types: dict[str, str]) -> Any:
    polars = pytest.importorskip("polars")
    types = {name: getattr(polars, kind) for name, kind in types.items()}
    return polars.DataFrame({name: list(values) for name, values in columns.items()}).cast(types)


FRAMES: dict[str, Any] = {
    "nullable": (of_pandas, {"a": "Int64", "b": "Float64", "c": "boolean"}),
    "one nullable": (of_pandas, {"a": "UInt8"}),
    "nullable beside float32": (of_pandas, {"a": "Int8", "b": "Float32"}),
    "pyarrow": (of_pandas, {"a": "int64[pyarrow]", "b": "double[pyarrow]", "c": "bool[pyarrow]"}),
    "polars": (of_polars, {}),
    "polars, small integers": (of_polars, {"a": "Int8", "c": "UInt16"}),
}
MODELS = [model for model in KERNEL if hasattr(model, "predict")]
# The others were fitted with, or for, more columns.
OF_ANY_COLUMNS = [t for t in TRANSFORMERS if not isinstance(t, FrozenEstimator | ColumnTransformer)]
SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler)


def frame(name: str, columns: dict[str, Any] = COLUMNS) -> Any:
    make, types = FRAMES[name]
    return make(columns, types)


def cases(estimators: list[Any]) -> list[tuple[int, str]]:
    """Scalers with every frame, all else with two: frames are converted in one place."""
    return [
        (place, name)
        for place, estimator in enumerate(estimators)
        for k, name in enumerate(FRAMES)
        if isinstance(estimator, SCALERS) or k % 3 == place % 3
    ]


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.parametrize(("place", "name"), cases(MODELS))
def test_models(place: int, name: str) -> None:
    model = MODELS[place]
    task = Task(classes_for(model))
    y = Y.astype(float) if is_regressor(model) else Y
    X = frame(name, WHOLE if type(model).__name__ == "CategoricalNB" else COLUMNS)
    block = ref.make_block(X, y, "prequential", np.random.default_rng(0))
    rtol = 1e-9 if is_regressor(model) else 0.0
    ref.assert_equals_loop(model, block, task, rtol=rtol, state_rtol=None)


@pytest.mark.parametrize(("place", "name"), cases(OF_ANY_COLUMNS))
def test_transformers(place: int, name: str) -> None:
    transformer, X = OF_ANY_COLUMNS[place], frame(name, WHOLE)
    block = ref.make_block(X, Y, "prequential", np.random.default_rng(0))
    is_scaler = isinstance(transformer, SCALERS)
    ref.assert_transformer_equals_loop(
        transformer, block, Task(np.arange(2)), may_decline=not is_scaler, state=is_scaler
    )


MISSING: dict[str, Any] = {
    "nullable": FRAMES["nullable"],
    "pyarrow": FRAMES["pyarrow"],
    "polars": (of_polars, {"c": "Boolean"}),
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", MISSING)
def test_missing_values_are_left_to_the_loop(name: str, column: str) -> None:
    """The rows before them have a kernel; the error is that of the loop, at the same row."""
    columns = {key: list(values.tolist()) for key, values in COLUMNS.items()}
    columns[column][8] = None
    make, types = MISSING[name]
    if make is of_pandas:
        pandas = pytest.importorskip("pandas")
        columns = {
            key: pandas.array(values, dtype=dict(a="Int64", b="Float64", c="boolean")[key])
            for key, values in columns.items()
        }
    X = make(columns, types)
    model = SGDClassifier(random_state=0)
    messages = []
    for engine in ("auto", "loop"):
        with pytest.raises(ValueError, match="row 8") as caught:
            PrequentialEvaluator(random_state=0, run=RunOptions(kernels=engine == "auto")).evaluate(
                {"m": model}, X, Y
            )
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    kernel = ref.running(copy.deepcopy(model), Task(np.arange(2)))
    block = ref.make_block(X, Y, "prequential", np.random.default_rng(0))
    with pytest.raises(Declined):
        kernel.run(block)
    assert kernel.state.memory is None


def test_missing_values_in_a_scaler(pd: Any) -> None:
    """It passes over them; so do both engines alike."""
    values = pd.array([1, 2, None, 4] * 3, dtype="Int64")
    X = pd.DataFrame({"a": values, "b": COLUMNS["b"]})
    model = make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    for engine in ("auto", "loop"):
        with pytest.raises(ValueError, match=re.escape("row 2")):
            PrequentialEvaluator(random_state=0, run=RunOptions(kernels=engine == "auto")).evaluate(
                {"m": model}, X, Y
            )


@pytest.mark.parametrize("name", ["dates", "categories", "decimals", "texts"])
def test_other_columns_have_no_kernel(name: str, pl: Any, pd: Any) -> None:
    X = {
        "dates": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=N_ROWS)}),
        "categories": lambda: pd.DataFrame({"a": pd.Categorical(COLUMNS["c"])}),
        "decimals": lambda: pl.DataFrame({"a": list(range(N_ROWS))}).cast(pl.Decimal(10, 2)),
        "texts": lambda: pl.DataFrame({"a": ["1"] * N_ROWS}),
    }[name]()
    kernel = ref.running(SGDClassifier(), Task(np.arange(2)))
    with pytest.raises(Declined, match="columns have no kernel"):
        kernel.run(ref.make_block(X, Y, "prequential", np.random.default_rng(0)))
