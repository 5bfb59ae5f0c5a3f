"""Kernels of float32 rows: the precision of scikit-learn, step by step."""

import copy
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import skstream as sk
from skstream.kernels import Declined, Task, make_kernel
from skstream.kernels.linear import kernel as _linear
from skstream.kernels.naive_bayes import gaussian as gaussian_module
from skstream.naive_bayes import IncrementalGaussianNB
from tests.kernels import _reference as ref
from tests.kernels._linear_reference import TRIED, path
from tests.kernels.test_layouts import TRANSFORMERS
from tests.kernels.test_support_table import KERNEL

SCALERS: list[Any] = [
    *(StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False)),
    *(MinMaxScaler(), MinMaxScaler((-0.1, 0.7), clip=True), MaxAbsScaler()),
    MaxAbsScaler(clip=True),
]


def numbers(n_rows: int = 150, n_columns: int = 5, seed: int = 0) -> np.ndarray:
    """Columns of several sizes, among them a constant one and one of very small numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-3, 4, n_columns) + 0.3
    X[:, 1] = 0.1
    X[:, 2] *= 1e-20
    return X.astype(np.float32)


def frame(X: np.ndarray) -> Any:
    return pytest.importorskip("pandas").DataFrame(X, columns=list("abcde"))


def frame_of_several_types(X: np.ndarray) -> Any:
    return frame(X).assign(b=X[:, 1] > 0, c=np.arange(len(X), dtype=np.int8))


LAYOUTS: dict[str, Any] = {
    "C": lambda X: X,
    "Fortran": np.asfortranarray,
    "backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "the other byte order": lambda X: X.astype(">f4"),
    "frame": frame,
    "frame of several types": frame_of_several_types,
}


@pytest.mark.parametrize(
    ("layout", "timeline"), [*zip(LAYOUTS, ["prequential", "polls"] * 3, strict=True)]
)
@pytest.mark.parametrize("scaler", SCALERS, ids=repr)
def test_scalers(scaler: Any, layout: str, timeline: str) -> None:
    rng, task = np.random.default_rng(1), Task(np.arange(2))
    X = LAYOUTS[layout](numbers(24))
    block = ref.make_block(X, rng.integers(0, 2, 24), timeline, rng)
    for run in TRIED:
        with path(run):
            divisions = [ref.random_cuts(block, rng)]
            literal = ref.assert_transformer_equals_loop(scaler, block, task, divisions)
            ref.running_transformer(literal, task).run(block)  # its state is taken up


@pytest.mark.parametrize("run", TRIED)
@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 0.5], [3.0, 2.0**23]])
def test_weights_of_a_standard_scaler(weights: list[float], run: str) -> None:
    rng = np.random.default_rng(2)
    X = numbers(40)
    block = ref.make_block(X, rng.integers(0, 2, 40), "delayed", rng, rng.choice(weights, 40))
    for scaler in SCALERS[:3]:
        literal = copy.deepcopy(scaler)
        learnt, asked = ref.transform_literally(literal, block)
        with path(run):
            kernel = ref.running_transformer(copy.deepcopy(scaler), Task(np.arange(2)))
            try:
                out = kernel.run(block)
            except Declined as declined:
                assert weights != [1.0] and "weights" in declined.reason
                continue
        ref.assert_same_rows(out.learn_X, out.learn_index, learnt)
        ref.assert_same_rows(out.ask_X, out.ask_index, asked)
        kernel.export()
        ref.assert_same_state(kernel.estimator, literal)


@pytest.mark.parametrize("scaler", SCALERS[3:], ids=repr)
def test_two_precisions_in_one_stream(scaler: Any) -> None:
    """Range scalers go on in float64 from the first row of it: for the loop."""
    kernel = ref.running_transformer(scaler, Task(np.arange(2)))
    y, rng = np.zeros(30, np.int64), np.random.default_rng(0)
    kernel.run(ref.make_block(numbers(30), y, "polls", rng))
    with pytest.raises(Declined, match="float32 and float64"):
        kernel.run(ref.make_block(numbers(30).astype(float), y, "polls", rng))
    with pytest.raises(Declined, match="sparse"):
        kernel.run(ref.make_block(sparse.csr_array(numbers(30)), y, "polls", rng))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: repr(t)[:40])
def test_transformers(transformer: Any, layout: str) -> None:
    """Those that are not scalers, too."""
    X = LAYOUTS[layout]((np.abs(numbers(24)) + 0.01).astype(np.float32))
    if hasattr(X, "iloc") and isinstance(transformer, FrozenEstimator | ColumnTransformer):
        return
    block = ref.make_block(X, np.zeros(24, np.int64), "prequential", np.random.default_rng(0))
    may_decline = not isinstance(transformer, StandardScaler | MinMaxScaler | MaxAbsScaler)
    ref.assert_transformer_equals_loop(
        transformer, block, Task(np.arange(2)), may_decline=may_decline, state=False
    )


@pytest.mark.parametrize("run", TRIED)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_naive_bayes_that_computes_with_float64(layout: str, run: str) -> None:
    rng = np.random.default_rng(3)
    X = LAYOUTS[layout](numbers(80))
    block = ref.make_block(X, rng.integers(0, 3, 80), "polls", rng)
    literal, task = IncrementalGaussianNB(), Task(np.arange(3), "predict_proba")
    expected = ref.run_literally(literal, block, task)
    with path(run):
        kernel = ref.running(IncrementalGaussianNB(), task)
        np.testing.assert_allclose(kernel.run(block), expected, rtol=1e-6, atol=1e-9)
    kernel.export()
    ref.assert_same_state(kernel.estimator, literal, rtol=1e-9)


SGD = SGDClassifier(loss="log_loss", random_state=0)
LINEAR: list[Any] = [
    model
    for model in KERNEL
    if isinstance(model, SGDClassifier | SGDRegressor | Perceptron)
    or type(model).__name__.startswith("PassiveAggressive")
] + [
    SGDClassifier(loss="modified_huber", penalty="l1", random_state=0),
    SGDClassifier(alpha=10.0, learning_rate="constant", eta0=0.2, fit_intercept=False),
]


def best_method(model: Any) -> str:
    """Of the answers that a model gives, those that show most of its numbers."""
    methods = ("predict_proba", "decision_function", "predict")
    return next(method for method in methods if hasattr(model, method))


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("place", range(len(LINEAR)), ids=lambda i: type(LINEAR[i]).__name__)
def test_linear_models(place: int, n_classes: int) -> None:
    """Answers of every kind, and attributes, to the last bit."""
    model, rng = LINEAR[place], np.random.default_rng(place)
    X = rng.normal(size=(24, 5)).astype(np.float32)
    y = rng.integers(0, n_classes, 24)
    weight = None if "Passive" in repr(model) else rng.choice([1.0, 2.0, 0.3], 24)
    classes = np.arange(n_classes)
    if is_regressor(model):
        y, classes = y + rng.normal(size=24), None
    for timeline, layout, method, weights in (
        ("prequential", "C", "predict", None),
        ("polls", "Fortran", best_method(model), None),
        ("delayed", "C", best_method(model), weight),
        ("prequential", "CSR", best_method(model), None),
        ("polls", "CSR", "predict", weight),
    ):
        rows = sparse.csr_matrix(X * (X > 0.5)) if layout == "CSR" else LAYOUTS[layout](X)
        block = ref.make_block(rows, y, timeline, rng, weights)
        assert_exact(model, block, Task(classes, method), ref.random_cuts(block, rng))


def assert_exact(model: Any, block: Any, task: Task, cuts: list[int], rtol: float = 0.0) -> None:
    """On every path the answers and attributes of a model itself; its state is taken up."""
    literal = copy.deepcopy(model)
    expected = ref.run_literally(literal, block, task)
    for run in TRIED:
        with path(run):
            kernel = ref.running(copy.deepcopy(model), task)
            np.testing.assert_array_equal(ref.run_kernel(kernel, ref.cut(block, cuts)), expected)
            kernel.export()
            ref.assert_same_state(kernel.estimator, literal, rtol=rtol)
            assert make_kernel(literal, task) is not None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_layouts_in_a_linear_model(n_classes: int, layout: str) -> None:
    # Other byte orders become float64, of which numbers agree within rounding.
    method = "predict" if "byte" in layout else "decision_function"
    rng, task = np.random.default_rng(5), Task(np.arange(n_classes), method)
    X = rng.normal(size=(40, 5)).astype(np.float32)
    block = ref.make_block(LAYOUTS[layout](X), rng.integers(0, n_classes, 40), "polls", rng)
    assert_exact(SGDClassifier(random_state=0), block, task, [20])


@pytest.mark.filterwarnings("ignore:Model .* trains GaussianNB", "ignore::RuntimeWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        sk.TemporalCorrection(SGD),
        sk.TemporalCorrection(SGD, previous_label="predicted", fading_factor=0.9),
        sk.TemporalCorrection(GaussianNB()),
        sk.TemporallyAugmented(SGD),
        sk.LabelNoise(SGD, noise=0.1, random_state=0),
        sk.make_stream_pipeline(StandardScaler(), SGD),
        sk.make_stream_pipeline(StandardScaler(), GaussianNB()),
        sk.make_stream_pipeline(MinMaxScaler(), sk.TemporalCorrection(SGD)),
    ],
    ids=lambda model: "".join(filter(str.isalpha, repr(model)))[:50],
)
def test_models_around_others(model: Any, n_classes: int) -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 5)).astype(np.float32)
    y = (X[:, :n_classes] + rng.normal(size=(60, n_classes))).argmax(axis=1)
    rows = X if n_classes == 2 else np.asfortranarray(X)
    results = ref.both_ways(sk.PrequentialEvaluator("accuracy", n_warmup=30), model, rows, y)
    assert results[0].paths["m"] == "kernel"
    np.testing.assert_array_equal(*(result.predictions("m", every_row=True) for result in results))
    ref.assert_same_state(*(result.models["m"] for result in results))
    answers = [
        sk.prequential_predict(
            model, rows, y, method=best_method(model), n_warmup=30, kernels=engine == "auto"
        )
        for engine in ("auto", "loop")
    ]
    # Beside labels, which are integers, rows become float64.
    rtol = 1e-9 if isinstance(model, sk.TemporallyAugmented) else 0.0
    np.testing.assert_allclose(*answers, rtol=rtol, atol=0.0)


@pytest.mark.parametrize("n_classes", [2, 9])
@pytest.mark.parametrize("n_columns", [1, 5, 40])
def test_gaussian_naive_bayes(n_columns: int, n_classes: int, monkeypatch: Any) -> None:
    """Sums over rows of any width, to the last bit; a constant column makes scores NaN."""
    monkeypatch.setattr(gaussian_module, "UNCOMPILED_MEANS", np.inf)
    rng, classes = np.random.default_rng(8), np.arange(n_classes)
    X, y = numbers(40, n_columns + 3)[:, 3:], rng.integers(0, n_classes, 40)
    X[:, 0] += y == 0
    weight = rng.choice([1.0, 2.0, 0.3], 40)
    for timeline, layout, priors, weights in (
        ("polls", "Fortran", None, None),
        ("delayed", "C", None, weight),
        ("prequential", "C", np.full(n_classes, 1 / n_classes), None),
    ):
        block = ref.make_block(LAYOUTS[layout](X), y, timeline, rng, weights)
        for method in ("predict", "predict_proba"):
            task = Task(classes, method)
            assert_exact(GaussianNB(priors=priors), block, task, ref.random_cuts(block, rng))
    block = ref.make_block(numbers(40), y, "prequential", rng)
    assert_exact(GaussianNB(), block, Task(classes, "predict_proba"), [])


def test_frames_in_gaussian_naive_bayes() -> None:
    y, rng = np.arange(40) % 3, np.random.default_rng(9)
    for layout in (frame, frame_of_several_types):
        block = ref.make_block(layout(numbers(40) + y[:, np.newaxis]), y, "polls", rng)
        assert_exact(GaussianNB(), block, Task(np.arange(3), "predict_proba"), [20])


@pytest.mark.parametrize("model", [SGDClassifier(random_state=0), GaussianNB()], ids=repr)
def test_warm_starts(model: Any) -> None:
    """A state of either precision goes on in its own; scikit-learn's errors are for the loop."""
    rng, task = np.random.default_rng(10), Task(np.arange(2))
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    for first in (np.float32, np.float64):
        fitted = copy.deepcopy(model).partial_fit(X[:9].astype(first), y[:9], classes=[0, 1])
        for then in (np.float32, np.float64):
            block = ref.make_block(X.astype(then), y, "prequential", rng)
            if first == then:
                # Of float64 the attributes of GaussianNB agree within rounding.
                rtol = 1e-9 if then == np.float64 and isinstance(model, GaussianNB) else 0.0
                assert_exact(fitted, block, task, [30], rtol)
            else:
                with pytest.raises(Declined, match="float32 and float64"):
                    ref.running(copy.deepcopy(fitted), task).run(block)


def test_dense_rows_then_sparse_ones() -> None:
    """They share the weights, in scikit-learn as here."""
    rng, task = np.random.default_rng(12), Task(np.arange(3), "decision_function")
    X, y = rng.normal(size=(30, 4)).astype(np.float32), rng.integers(0, 3, 30)
    literal = SGDClassifier(random_state=0)
    kernel = ref.running(copy.deepcopy(literal), task)
    for rows in (X, sparse.csr_matrix(X * (X > 0)), X):
        block = ref.make_block(rows, y, "prequential", rng)
        np.testing.assert_array_equal(kernel.run(block), ref.run_literally(literal, block, task))
    kernel.export()
    ref.assert_same_state(kernel.estimator, literal)


def test_many_sparse_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights outside of a stretch of rows shrink in float32, too."""
    monkeypatch.setattr(_linear, "UNCOMPILED_FEATURES", np.inf)
    rng, task = np.random.default_rng(13), Task(np.arange(2), "predict_proba")
    X = sparse.random(150, 5000, 0.004, "csr", np.float32, random_state=0)
    block = ref.make_block(X, rng.integers(0, 2, 150), "prequential", rng)
    assert_exact(SGDClassifier(loss="log_loss", alpha=0.01), block, task, [100])


def test_precisions_of_one_stream_and_a_taken_up_state() -> None:
    rng, task = np.random.default_rng(7), Task(np.arange(2))
    X, y = rng.normal(size=(30, 3)).astype(np.float32), rng.integers(0, 2, 30)
    for model in (SGDClassifier(), GaussianNB()):
        kernel = ref.running(model, task)
        kernel.run(ref.make_block(X, y, "polls", rng))
        others = [X.astype(float), X.astype(np.int64), sparse.csr_array(X.astype(float))]
        for other in others:
            with pytest.raises(Declined):
                kernel.run(ref.make_block(other, y, "polls", rng))
    fitted = SGDClassifier(random_state=0).partial_fit(X, y, classes=[0, 1])
    fitted.intercept_ = fitted.intercept_.astype(np.float32)
    assert make_kernel(fitted, task) is None
    with pytest.raises(Declined, match="weights"):
        ref.running(SGDClassifier(), task).run(
            ref.make_block(X, y, "polls", rng, np.full(30, 1e-60))
        )
    X[3, 1] = np.nan
    with pytest.raises(Declined, match="not finite"):
        ref.running(SGDClassifier(), task).run(ref.make_block(X, y, "delayed", rng))
