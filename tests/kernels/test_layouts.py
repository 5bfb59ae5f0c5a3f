"""Kernels give the bits of the loop however rows lie in memory."""

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from skstream import PrequentialEvaluator, make_stream_pipeline
from skstream.kernels import Kernel, Task, TransformKernel, registered_kernels
from skstream.kernels.transformers import stateless
from skstream.pipeline import StreamPipeline
from tests.kernels import _reference as ref
from tests.kernels.test_support_table import KERNEL, classes_for

N_ROWS, N_COLUMNS = 24, 5
NUMBERS = np.abs(np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))) + 0.01
GRID = np.random.default_rng(1).integers(0, 3, size=(N_ROWS, N_COLUMNS)).astype(float)
LABELS = np.random.default_rng(2).integers(0, 2, N_ROWS)
TASK = Task(np.arange(2))
LEVELS = [[0.0, 1.0, 2.0]] * N_COLUMNS
FUNCTIONS = (np.exp, np.log, np.log1p, np.expm1, np.cbrt, np.arctan, np.sin, np.sqrt, np.square)
TRANSFORMERS: list[Any] = [
    StandardScaler(),
    MinMaxScaler(),
    MaxAbsScaler(),
    Normalizer(),
    Normalizer("l1"),
    Binarizer(threshold=0.5),
    PolynomialFeatures(2),
    SimpleImputer(strategy="constant", fill_value=0.5, keep_empty_features=True),
    *map(FunctionTransformer, (None, *FUNCTIONS)),
    OneHotEncoder(categories=LEVELS, handle_unknown="ignore"),
    OrdinalEncoder(categories=LEVELS, handle_unknown="use_encoded_value", unknown_value=-1),
    FrozenEstimator(RobustScaler().fit(NUMBERS)),
    FrozenEstimator(StandardScaler().fit(NUMBERS)),
    FrozenEstimator(KBinsDiscretizer(3, strategy="uniform").fit(NUMBERS)),
    FrozenEstimator(FunctionTransformer(np.exp)),
    make_column_transformer(
        (FunctionTransformer(np.exp), [3, 0]),
        (FunctionTransformer(np.log), slice(1, 3)),
        (FunctionTransformer(np.cbrt), [False, True, False, False, True]),
    ),
    make_stream_pipeline(FunctionTransformer(np.sqrt), FunctionTransformer(np.log1p)),
]
# They take no rows of numbers: no layout changes what they see.
OF_OTHER_ROWS = {HashingVectorizer, FeatureHasher}


def in_c_order(X: np.ndarray) -> np.ndarray:
    return X.copy()


def in_fortran_order(X: np.ndarray) -> np.ndarray:
    return np.asfortranarray(X)


def of_negative_columns(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(X[:, ::-1])[:, ::-1]


def of_negative_rows(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(X[::-1])[::-1]


def of_every_other_column(X: np.ndarray) -> np.ndarray:
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    return wide[:, ::2]


def not_aligned(X: np.ndarray) -> np.ndarray:
    shifted = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    shifted[...] = X
    return shifted


def read_only(X: np.ndarray) -> np.ndarray:
    copied = X.copy()
    copied.flags.writeable = False
    return copied


def of_the_other_byte_order(X: np.ndarray) -> np.ndarray:
    return X.astype(X.dtype.newbyteorder())


ARRAYS = (
    *(in_c_order, in_fortran_order, of_negative_columns, of_negative_rows),
    *(of_every_other_column, not_aligned, read_only, of_the_other_byte_order),
)


def frame_of_one_array(X: np.ndarray) -> Any:
    return pytest.importorskip("pandas").DataFrame(X, columns=list("abcde"))


def frame_of_negative_columns(X: np.ndarray) -> Any:
    reversed_columns = pytest.importorskip("pandas").DataFrame(
        X[:, ::-1].copy(), columns=list("edcba")
    )
    return reversed_columns[list("abcde")]


def frame_of_columns(X: np.ndarray) -> Any:
    columns = {name: X[:, j].copy() for j, name in enumerate("abcde")}
    return pytest.importorskip("pandas").DataFrame(columns)


def frame_of_several_types(X: np.ndarray) -> Any:
    return frame_of_columns(X).astype({"b": "float32", "d": "int64"})


FRAMES = (
    *(frame_of_one_array, frame_of_negative_columns, frame_of_columns, frame_of_several_types),
)


def rows_for(transformer: Any) -> np.ndarray:
    kinds = (OneHotEncoder, OrdinalEncoder)
    return GRID if isinstance(transformer, kinds) else NUMBERS


def check_transformer(transformer: Any, X: Any) -> None:
    """The rows and the attributes of a kernel, or what it declined, are those of the loop."""
    block = ref.make_block(X, LABELS, "prequential", np.random.default_rng(0))
    state = not isinstance(transformer, StreamPipeline | ColumnTransformer | FrozenEstimator)
    ref.assert_transformer_equals_loop(transformer, block, TASK, may_decline=True, state=state)


@pytest.mark.parametrize("layout", ARRAYS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: repr(t)[:40])
def test_transformers_of_arrays(transformer: Any, layout: Any) -> None:
    check_transformer(transformer, layout(rows_for(transformer)))


@pytest.mark.parametrize("layout", FRAMES, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: repr(t)[:40])
def test_transformers_of_frames(transformer: Any, layout: Any) -> None:
    if isinstance(transformer, FrozenEstimator):
        pytest.skip("was fitted without names")
    check_transformer(transformer, layout(rows_for(transformer)))


def test_a_memory_map(tmp_path: Any) -> None:
    for name, X in (("c", NUMBERS), ("f", np.asfortranarray(NUMBERS))):
        np.save(tmp_path / f"{name}.npy", X)
        mapped = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
        for transformer in TRANSFORMERS:
            if rows_for(transformer) is NUMBERS:
                check_transformer(transformer, mapped)


def test_the_fault_shows_where_rows_are_made_contiguous(monkeypatch: Any) -> None:
    """On machines whose vector loops round otherwise; where none does, nothing is tested."""
    X = of_negative_columns(NUMBERS)
    together = {f: f(np.ascontiguousarray(X)) for f in FUNCTIONS}
    alone = {f: np.vstack([f(X[i : i + 1]) for i in range(N_ROWS)]) for f in FUNCTIONS}
    if all(np.array_equal(together[f], alone[f]) for f in FUNCTIONS):
        pytest.skip("this machine rounds alike in every layout")
    monkeypatch.setattr(stateless, "_function_of_rows", lambda f, X, at: f(X[at].copy()))
    with pytest.raises(AssertionError):
        for function in FUNCTIONS:
            check_transformer(FunctionTransformer(function), X)


def test_every_kernel_is_tried() -> None:
    kinds = {type(transformer) for transformer in TRANSFORMERS}
    kinds |= {kind for kind, kernel in registered_kernels().items() if issubclass(kernel, Kernel)}
    kinds |= OF_OTHER_ROWS
    tried = {type(model) for model in KERNEL} | kinds
    of_transformers = {
        kind
        for kind, kernel in registered_kernels().items()
        if issubclass(kernel, TransformKernel) and kind.__module__.startswith("sklearn.")
    }
    assert of_transformers <= kinds
    assert {kind for kind in registered_kernels() if "tests" not in kind.__module__} <= tried | {
        kind for kind in registered_kernels() if kind.__name__.startswith("PassiveAgg")
    }


MODELS = [model for model in KERNEL if hasattr(model, "predict")]


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.parametrize("place", range(len(MODELS)), ids=lambda i: type(MODELS[i]).__name__)
def test_models(place: int) -> None:
    model = MODELS[place]
    regression = is_regressor(model)
    y = LABELS.astype(float) if regression else LABELS
    expected: Any = None
    for layout in (of_negative_columns, in_fortran_order, not_aligned, read_only):
        X = layout(GRID[:, :3])
        task = Task(classes_for(model))
        block = ref.make_block(X, y, "prequential", np.random.default_rng(0))
        kernel = ref.running(copy.deepcopy(model), task)
        answers = kernel.run(block)
        if expected is None or layout is of_negative_columns:
            expected = ref.run_literally(copy.deepcopy(model), block, task)
        if regression:
            np.testing.assert_allclose(answers, expected, rtol=1e-9)
        else:
            np.testing.assert_array_equal(answers, expected)


def test_a_pipeline_on_reversed_columns_of_a_frame() -> None:
    """The last bit of one value once made another model of the default SGD."""
    frame = frame_of_one_array(np.random.default_rng(3).normal(size=(400, 5)))[list("edcba")]
    model = make_stream_pipeline(FunctionTransformer(np.exp), clone(KERNEL[0]))
    y = np.random.default_rng(4).integers(0, 2, 400)
    evaluator = PrequentialEvaluator(random_state=0)
    auto, loop = ref.both_ways(evaluator, model, frame, y)
    np.testing.assert_array_equal(
        auto.predictions("m", every_row=True), loop.predictions("m", every_row=True)
    )
    steps = [result.models["m"].pipeline_.steps[-1][1] for result in (auto, loop)]
    np.testing.assert_array_equal(*(step.coef_ for step in steps))
    assert auto.paths["m"] == "kernel"
