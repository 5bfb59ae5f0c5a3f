"""Kernels of multi-layer perceptrons: answers and attributes of the loop, to the last bit."""

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neural_network import MLPClassifier, MLPRegressor

from skstream import PrequentialEvaluator
from skstream.kernels import Declined, Task, make_kernel
from skstream.kernels import neural_network as network
from skstream.utils._rows import own_rows
from tests._examples import examples
from tests.kernels import _reference as ref

pytestmark = pytest.mark.filterwarnings("ignore:Got `batch_size`")

N_ROWS = 30
SETTINGS: list[dict[str, Any]] = [
    {},
    {"activation": "tanh", "hidden_layer_sizes": (4, 3), "alpha": 0.1},
    {"activation": "logistic", "hidden_layer_sizes": [5], "epsilon": 1e-3, "beta_1": 0.5},
    {"activation": "identity", "hidden_layer_sizes": 3, "shuffle": False, "batch_size": 7},
    {"hidden_layer_sizes": (9, 8, 7), "alpha": 0.0, "beta_2": 0.9},
    {"solver": "sgd", "learning_rate_init": 0.1},
    {"solver": "sgd", "nesterovs_momentum": False, "momentum": 0.3},
    {"solver": "sgd", "learning_rate": "invscaling", "power_t": 0.3, "momentum": 0},
    {"solver": "sgd", "learning_rate": "adaptive", "tol": 0.5, "n_iter_no_change": 2},
    {"solver": "sgd", "learning_rate": "adaptive", "tol": 9.0, "n_iter_no_change": 1,
     "learning_rate_init": 1e-5},
]  # fmt: skip


def rows_and_labels(seed: int, n_classes: int, n: int = N_ROWS) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, rng.integers(0, n_classes, n)


def classifier(**settings: Any) -> MLPClassifier:
    return MLPClassifier(**{"hidden_layer_sizes": 6, "random_state": 3, **settings})


def regressor(**settings: Any) -> MLPRegressor:
    return MLPRegressor(**{"hidden_layer_sizes": 6, "random_state": 3, **settings})


@pytest.mark.parametrize("place", range(len(SETTINGS)))
@pytest.mark.parametrize("n_classes", [2, 4])
def test_classifier_equals_the_loop(place: int, n_classes: int) -> None:
    X, y = rows_and_labels(place, n_classes)
    rng = np.random.default_rng(place)
    for timeline, method, weight in (
        ("prequential", "predict", rng.uniform(0.2, 3.0, N_ROWS)),
        ("polls", "predict_proba", None),
    ):
        block = ref.make_block(X, y, timeline, rng, weight)
        task = Task(np.arange(n_classes), method)
        ref.assert_equals_loop(classifier(**SETTINGS[place]), block, task)


@pytest.mark.parametrize("place", range(len(SETTINGS)))
@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_regressor_equals_the_loop(place: int, loss: str) -> None:
    X, _ = rows_and_labels(place, 2)
    rng = np.random.default_rng(place)
    for timeline in ("prequential", "delayed"):
        block = ref.make_block(
            X, np.abs(X[:, 0]) + 0.1, timeline, rng, rng.uniform(0.2, 3.0, N_ROWS)
        )
        ref.assert_equals_loop(regressor(loss=loss, **SETTINGS[place]), block, Task(None))


@examples(8)
@given(
    seed=st.integers(0, 1000),
    place=st.integers(0, len(SETTINGS) - 1),
    timeline=st.sampled_from(ref.TIMELINES),
    storage=st.sampled_from(["array", "fortran", "integers"]),
)
def test_cuts_change_nothing(seed: int, place: int, timeline: str, storage: str) -> None:
    X, y = rows_and_labels(seed, 3)
    rng = np.random.default_rng(seed)
    block = ref.make_block(ref.as_storage(X * 3, storage), y, timeline, rng)
    positions = ref.random_cuts(block, rng)
    ref.assert_equals_loop(classifier(**SETTINGS[place]), block, Task(np.arange(3)), positions)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library: str, shuffle: bool) -> None:
    frames = pytest.importorskip(library)
    X, y = rows_and_labels(0, 3)
    columns = [f"x{k}" for k in range(4)]
    X = frames.DataFrame({name: X[:, k] for k, name in enumerate(columns)})
    model = classifier(shuffle=shuffle, hidden_layer_sizes=(20, 9))
    results = ref.both_ways(PrequentialEvaluator("accuracy", random_state=0), model, X, y)
    assert results[0].paths["m"] == "kernel"
    one, other = (result.models["m"] for result in results)
    ref.assert_same_state(one, other)


def test_rows_of_one_call_are_asked_together() -> None:
    X, y = rows_and_labels(2, 3, n=60)
    block = ref.make_block(X[:40], y[:40], "prequential", np.random.default_rng(0))
    learns = replace(block, ask_index=block.ask_index[:0], stamp=block.stamp[:0])
    task = Task(np.arange(3), "predict_proba")
    literal = classifier(hidden_layer_sizes=(50, 20))
    model = copy.deepcopy(literal)
    ref.run_literally(literal, learns, task)
    for ask_X in (X, np.asfortranarray(X)):
        together = replace(
            learns,
            ask_X=ask_X,
            ask_index=np.arange(40, 60),
            stamp=np.full(20, 40),
            groups=np.array([0, 1, 14, 20]),
        )
        answers = ref.running(copy.deepcopy(model), task).run(together)
        for begin, end in ((0, 1), (1, 14), (14, 20)):
            expected = literal.predict_proba(own_rows(ask_X[np.arange(40 + begin, 40 + end)]))
            np.testing.assert_array_equal(answers[begin:end], expected)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"solver": "lbfgs"}, "solver='lbfgs'"),
        ({"early_stopping": True}, "early_stopping=True"),
        ({"verbose": True}, "verbose=True"),
        ({"alpha": -1.0}, "parameters that it refuses"),
        ({"random_state": np.random.RandomState(0)}, "a random_state that draws on"),
    ],
)
def test_what_is_left_to_the_loop(settings: dict[str, Any], reason: str) -> None:
    model = classifier(**settings)
    assert make_kernel(model, Task(np.arange(2))) is None
    if not hasattr(model, "partial_fit"):
        return  # evaluators say so themselves
    y = np.arange(20) % 2
    X = y[:, np.newaxis] + 0.0
    result = PrequentialEvaluator("accuracy", error_score=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert reason in result.evaluate({"mlp": model}, X, y).paths["mlp"]


def test_one_class_float32_and_batches_are_left_to_the_loop() -> None:
    assert make_kernel(classifier(), Task(np.arange(1))) is None
    assert make_kernel(classifier(), Task(np.arange(2), batch_size=4)) is None
    X, y = rows_and_labels(0, 2)
    block = ref.make_block(X.astype(np.float32), y, "prequential", np.random.default_rng(0))
    with pytest.raises(Declined, match="float32"):
        ref.running(classifier(), Task(np.arange(2))).run(block)


def test_weights_that_grow_without_bound_are_an_error_of_the_model_at_its_row() -> None:
    X, y = rows_and_labels(0, 2, n=200)
    model = regressor(solver="sgd", learning_rate_init=50.0, activation="identity")
    evaluator = PrequentialEvaluator("mae", error_score=np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = ref.both_ways(evaluator, {"mlp": model}, X * 10, y + 0.5)
    one, other = (result.failures["mlp"] for result in results)
    assert one == other and "non-finite parameter weights" in one


def test_a_wrong_derivative_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = network.DERIVATIVES
    monkeypatch.setattr(network, "DERIVATIVES", {**known, "tanh": known["identity"]})
    X, y = rows_and_labels(0, 2)
    block = ref.make_block(X, y, "prequential", np.random.default_rng(0))
    with pytest.raises(AssertionError):
        ref.assert_equals_loop(classifier(activation="tanh"), block, Task(np.arange(2)))
