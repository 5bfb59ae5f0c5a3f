"""Kernels of the transformers against the transformers themselves: equal to the last bit."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from skstream.core.engine.block import Block
from skstream.kernels import Declined, Task, make_transform_kernel
from skstream.kernels.transformers import scalers, stateless
from skstream.utils._numba import jit
from tests._examples import examples
from tests.kernels import _reference as ref

TASK = Task(np.array(["no", "yes"]))

SCALERS = [
    *(StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False)),
    *(MinMaxScaler(), MinMaxScaler(feature_range=(-2, 0.5), clip=True), MaxAbsScaler()),
    MaxAbsScaler(clip=True),
]
OF_NUMBERS = [
    *SCALERS,
    Binarizer(threshold=0.25),
    Normalizer(),
    Normalizer("l1"),
    Normalizer("max"),
    FunctionTransformer(),
    FunctionTransformer(np.arctan),
    PolynomialFeatures(2),
    SimpleImputer(strategy="constant", keep_empty_features=True),
]
FOR_SPARSE = [
    *(StandardScaler(with_mean=False), MaxAbsScaler(), MaxAbsScaler(clip=True), Normalizer()),
    *(Normalizer("l1"), Binarizer()),
]


def kernel_for(transformer: Any) -> ref.Running:
    return ref.running_transformer(transformer, TASK)


def numbers(rng: np.random.Generator, n: int, n_features: int) -> np.ndarray:
    """Features of every kind: ordinary, constant, far from zero, on a grid, rarely not zero."""
    X = rng.normal(size=(n, n_features))
    for j in range(n_features):
        kind = rng.integers(0, 6)
        if kind == 1:
            X[:, j] = 0.1
        elif kind == 2:
            X[:, j] += 1e9
        elif kind == 3:
            X[:, j] = np.round(X[:, j]) + 0.1
        elif kind == 4:
            X[:, j] *= rng.random(n) < 0.2
        elif kind == 5:
            X[n // 2 :, j] *= 1e6
    return X


def block_of(
    X: Any, timeline: str, rng: np.random.Generator, weight: np.ndarray | None = None
) -> Block:
    y = rng.integers(0, 2, X.shape[0])
    return ref.make_block(X, y, timeline, rng, weight)


def assert_equals_loop(transformer: Any, block: Block, rng: np.random.Generator) -> None:
    """In one block or in many: same rows, same attributes, to the bit."""
    divisions, own = ((), ref.random_cuts(block, rng)), rng.random() < 0.5
    ref.assert_transformer_equals_loop(transformer, block, TASK, divisions, own_storage=own)


@examples(15)
@given(
    transformer=st.sampled_from(OF_NUMBERS),
    timeline=st.sampled_from(ref.TIMELINES),
    storage=st.sampled_from(["dense", "fortran", "integers"]),
    n=st.integers(1, 60),
    n_features=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
)
def test_dense_rows(transformer, timeline, storage, n, n_features, seed):
    rng = np.random.default_rng(seed)
    X = ref.as_storage(numbers(rng, n, n_features), storage)
    assert_equals_loop(transformer, block_of(X, timeline, rng), rng)


@examples(15)
@given(
    transformer=st.sampled_from(FOR_SPARSE),
    timeline=st.sampled_from(ref.TIMELINES),
    storage=st.sampled_from(["csr", "csr_matrix"]),
    n=st.integers(2, 60),
    n_features=st.integers(1, 300),
    seed=st.integers(0, 2**32 - 1),
)
def test_sparse_rows(transformer, timeline, storage, n, n_features, seed):
    rng = np.random.default_rng(seed)
    X = numbers(rng, n, n_features) * (rng.random((n, n_features)) < 0.3)
    assert_equals_loop(transformer, block_of(ref.as_storage(X, storage), timeline, rng), rng)


@examples(15)
@given(
    transformer=st.sampled_from(SCALERS),
    timeline=st.sampled_from(ref.TIMELINES),
    largest=st.sampled_from([3, 1000, 2**26]),
    seed=st.integers(0, 2**32 - 1),
)
def test_whole_weights(transformer: Any, timeline: str, largest: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, largest, 50).astype(float)
    X = numbers(rng, 50, 5)
    assert_equals_loop(transformer, block_of(X, timeline, rng, weight), rng)


@pytest.mark.parametrize("transformer", SCALERS, ids=repr)
def test_long_streams(transformer: Any, rng: np.random.Generator) -> None:
    X = numbers(rng, 300, 12)
    assert_equals_loop(transformer, block_of(X, "prequential", rng), rng)


def texts(n: int, rng: np.random.Generator) -> np.ndarray:
    words = np.array(["stream", "drift", "label", "window", "row", "fading"])
    documents = np.empty(n, dtype=object)
    documents[:] = [" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(n)]
    return documents


@pytest.mark.parametrize("timeline", ref.TIMELINES)
def test_texts_and_categories(timeline: str) -> None:
    rng = np.random.default_rng(2)
    documents = texts(25, rng)
    block = block_of(documents, timeline, rng)
    assert_equals_loop(HashingVectorizer(n_features=64), block, rng)
    assert_equals_loop(FrozenEstimator(TfidfVectorizer().fit(documents)), block, rng)
    counts = np.empty(25, dtype=object)
    counts[:] = [{word: 1 for word in document.split()} for document in documents]
    assert_equals_loop(FeatureHasher(16), block_of(counts, timeline, rng), rng)
    colours = rng.choice(["red", "green", "blue"], (25, 2)).astype(object)
    known = [["blue", "green", "red"]] * 2
    for encoder in (
        OneHotEncoder(categories=known),
        OneHotEncoder(categories=[["blue", "red"]] * 2, handle_unknown="ignore"),
        OrdinalEncoder(categories=known),
    ):
        assert_equals_loop(encoder, block_of(colours, timeline, rng), rng)


VECTORIZERS = [
    HashingVectorizer(n_features=64),
    HashingVectorizer(n_features=4, norm=None),
    HashingVectorizer(n_features=4, norm="l1", alternate_sign=False),
    HashingVectorizer(n_features=8, binary=True, lowercase=False, dtype=np.float32),
    HashingVectorizer(n_features=64, token_pattern=r"(\w)\w*"),
    HashingVectorizer(n_features=64, token_pattern=r"\w?"),
    HashingVectorizer(n_features=64, ngram_range=(1, 2)),
    HashingVectorizer(n_features=64, analyzer="char_wb", strip_accents="unicode"),
    HashingVectorizer(n_features=64, stop_words="english"),
    HashingVectorizer(n_features=64, tokenizer=str.split, token_pattern=None),
]


@examples(12)
@given(
    vectorizer=st.sampled_from(VECTORIZERS),
    words=st.lists(st.text(max_size=12), min_size=1, max_size=8),
    n_texts=st.sampled_from([3, 40]),
    seed=st.integers(0, 2**32 - 1),
)
def test_texts_of_any_words(vectorizer: Any, words: list[str], n_texts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    different = [" ".join(rng.choice(words, rng.integers(0, 6))) for _ in range(n_texts)]
    documents = np.array([*different, None], dtype=object)[rng.integers(0, n_texts, 20)]
    assert_equals_loop(vectorizer, block_of(documents, "polls", rng), rng)


def test_each_text_is_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = np.random.default_rng(2).choice(texts(9, np.random.default_rng(2)), 40)
    shown: list[Any] = []
    transform = HashingVectorizer.transform
    monkeypatch.setattr(
        HashingVectorizer, "transform", lambda self, X: shown.extend(X) or transform(self, X)
    )
    stateless.transformed(HashingVectorizer(), documents, np.arange(40))
    assert sorted(shown) == sorted(set(documents))


def test_texts_that_are_no_plain_strings() -> None:
    rng = np.random.default_rng(2)
    documents = texts(20, rng)
    documents[:3] = [b"bytes", "", np.str_("a")]
    assert_equals_loop(HashingVectorizer(n_features=64), block_of(documents, "polls", rng), rng)


def test_a_column_of_texts_is_taken_apart_as_texts() -> None:
    rng = np.random.default_rng(3)
    column = texts(20, rng)[:, np.newaxis]
    assert_equals_loop(FunctionTransformer(np.ravel), block_of(column, "polls", rng), rng)
    two = np.hstack([column, column])
    with pytest.raises(Declined, match="ravel of anything but one column"):
        kernel_for(FunctionTransformer(np.ravel)).run(block_of(two, "polls", rng))


def test_frozen_transformers() -> None:
    rng = np.random.default_rng(3)
    X = numbers(rng, 50, 4)
    for fitted in (RobustScaler().fit(X), StandardScaler().fit(X), MinMaxScaler().fit(X)):
        assert_equals_loop(FrozenEstimator(fitted), block_of(X, "polls", rng), rng)


def test_declines_weights_that_scikit_learn_would_cut_or_round() -> None:
    rng = np.random.default_rng(7)
    X = numbers(rng, 20, 2)
    for weight in (1.5, 2.0**27):
        with pytest.raises(Declined):
            kernel_for(StandardScaler()).run(block_of(X, "polls", rng, np.full(20, weight)))


@pytest.mark.parametrize(
    "transformer",
    [
        StandardScaler(copy=False),
        StandardScaler(with_mean="yes"),
        StandardScaler(with_mean=False, with_std=False),
        StandardScaler().fit([[1.0, 2.0], [1.0, np.nan]]),
        StandardScaler().partial_fit([[1.0]], sample_weight=[1.5]),
        StandardScaler().set_output(transform="pandas"),
        MinMaxScaler(copy=False),
        MinMaxScaler(feature_range=(1, 0)),
        MinMaxScaler(feature_range=[0, 1]),
        MinMaxScaler(feature_range=(0, math.inf)),
        MinMaxScaler(clip=1),
        MaxAbsScaler(copy=False),
        Normalizer(copy=False),
        Binarizer(copy=False),
        FunctionTransformer(lambda X: X - X.mean(axis=0)),
        FunctionTransformer(np.add),
        FunctionTransformer(np.log1p, inverse_func=np.expm1),
        FunctionTransformer(np.log1p, kw_args={"where": True}),
        OneHotEncoder(),
        OneHotEncoder(categories=[["a", "b"]], min_frequency=2),
        OrdinalEncoder(),
        FrozenEstimator(StandardScaler()),
        FrozenEstimator(FunctionTransformer(lambda X: X.cumsum(axis=0))),
    ],
    # not their repr, which holds addresses: workers must collect the same names
    ids=lambda transformer: type(transformer).__name__,
)
def test_refuses_what_it_cannot_do_exactly(transformer: Any) -> None:
    assert make_transform_kernel(transformer, TASK) is None


def test_refuses_subclasses_batches_and_other_output() -> None:
    class Shifted(StandardScaler):
        """Might do anything."""

    assert make_transform_kernel(Shifted(), TASK) is None
    for transformer in SCALERS:
        assert make_transform_kernel(transformer, Task(TASK.classes, batch_size=2)) is None
    with config_context(transform_output="pandas"):
        assert make_transform_kernel(Normalizer(), TASK) is None


def test_stateless_transformers_take_batches() -> None:
    ref.running_transformer(Normalizer(), Task(TASK.classes, batch_size=8))


def test_errors_of_a_stateless_transformer_are_left_to_the_loop() -> None:
    colours = np.array([["red"], ["blue"], ["green"]], dtype=object)
    kernel = kernel_for(OneHotEncoder(categories=[["blue", "red"]]))
    with pytest.raises(Declined):
        kernel.run(block_of(colours, "prequential", np.random.default_rng(8)))


def test_a_broken_twin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean one row late, or summed in another order, does not pass."""
    monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", "1")
    rng = np.random.default_rng(9)
    block = block_of(numbers(rng, 200, 4), "prequential", rng)
    right = scalers._learn_row.plain

    def one_late(x: Any, t: int, *state: Any) -> Any:
        return right(x, max(t - 1, 0), *state)

    def rounded_otherwise(x: Any, t: int, w: Any, n: Any, mean: Any, *others: Any) -> Any:
        after = right(x, t, w, n, mean, *others)
        mean[:] = np.nextafter(mean, np.inf)
        return after

    for broken in (one_late, rounded_otherwise):
        monkeypatch.setattr(scalers, "_learn_row", jit(broken))
        monkeypatch.setattr(scalers, "_run_rows", jit(scalers._run_rows.plain))
        with pytest.raises(AssertionError):
            assert_equals_loop(StandardScaler(), block, rng)


def test_both_lives_agree(monkeypatch: pytest.MonkeyPatch, numba: Any) -> None:
    rng = np.random.default_rng(10)
    block = block_of(numbers(rng, 300, 6), "polls", rng)
    for transformer in SCALERS:
        rows = []
        for disabled in ("0", "1"):
            monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", disabled)
            rows.append(kernel_for(clone(transformer)).run(block).ask_X)
        np.testing.assert_array_equal(*rows)
