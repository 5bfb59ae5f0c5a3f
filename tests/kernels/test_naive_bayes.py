"""Kernels of naive Bayes on counts against the loop."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB

from skstream.core.engine.block import Block
from skstream.kernels import Declined, Task
from skstream.kernels.naive_bayes import counts as counts_module
from tests._examples import examples
from tests.kernels import _reference as ref

MODELS = [
    *(MultinomialNB(), MultinomialNB(alpha=0.01, fit_prior=False)),
    *(MultinomialNB(alpha=1e-10, force_alpha=False), BernoulliNB()),
    *(BernoulliNB(alpha=0.3, binarize=1.0, fit_prior=False), ComplementNB()),
    ComplementNB(alpha=0.1, norm=True),
]
CLASSES = [
    *(np.array([3, 7]), np.array([0, 1, 2]), np.array(["a", "b", "c", "d"])),
    *(np.array(["yes", "no"], dtype=object)[::-1], np.arange(25), np.array([False, True])),
    np.array(["only"]),
]


def counts(rng: np.random.Generator, n: int, n_features: int, whole: bool = True) -> np.ndarray:
    X = rng.integers(0, 4, (n, n_features)) * (rng.random((n, n_features)) < 0.4)
    return X * 1.0 if whole else X * rng.random((n, n_features))


def labels(rng: np.random.Generator, n: int, n_classes: int) -> np.ndarray:
    """Codes; the last class comes late, or never."""
    y = rng.integers(0, n_classes, n)
    return np.where(np.arange(n) < n // 2, np.minimum(y, max(n_classes - 2, 0)), y)


@examples(30)
@given(
    model=st.sampled_from(MODELS),
    classes=st.sampled_from(CLASSES),
    timeline=st.sampled_from(ref.TIMELINES),
    method=st.sampled_from(["predict", "predict_proba"]),
    storage=st.sampled_from(["dense", "csr", "csr_matrix", "fortran", "integers"]),
    weight=st.sampled_from(["none", "whole", "any"]),
    whole=st.booleans(),
    n=st.integers(3, 60),
    n_features=st.integers(2, 30),
    seed=st.integers(0, 2**32 - 1),
)
def test_equals_the_loop(
    model, classes, timeline, method, storage, weight, whole, n, n_features, seed
):
    rng = np.random.default_rng(seed)
    X = ref.as_storage(counts(rng, n, n_features, whole), storage)
    y = labels(rng, n, len(classes))
    block = ref.make_block(X, y, timeline, rng, ref.random_weights(rng, n, weight))
    ref.assert_bayes_equals_loop(model, block, Task(classes, method), rng)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("timeline", ref.TIMELINES)
def test_many_classes_equal_the_loop(model: Any, timeline: str) -> None:
    """Of many classes rows are gone through one by one."""
    rng = np.random.default_rng(len(timeline))
    for weight, method in (("none", "predict"), ("any", "predict_proba")):
        block = ref.make_block(
            counts(rng, 30, 12, whole=weight == "none"),
            labels(rng, 30, 150),
            timeline,
            rng,
            ref.random_weights(rng, 30, weight),
        )
        ref.assert_bayes_equals_loop(model, block, Task(np.arange(150), method), rng)


def test_a_broken_twin_of_many_classes_is_caught(monkeypatch, rng):
    block = ref.make_block(counts(rng, 60, 12), labels(rng, 60, 150), ref.TIMELINES[0], rng, None)
    kernel = counts_module.FeatureCountsKernel
    right = kernel._scores_one_by_one
    monkeypatch.setattr(
        kernel, "_scores_one_by_one", lambda self, part, x, *rest: right(self, part, 2 * x, *rest)
    )
    with pytest.raises(AssertionError):
        ref.assert_bayes_equals_loop(MultinomialNB(), block, Task(np.arange(150)), rng)


@examples(10)
@given(
    model=st.sampled_from(
        [MultinomialNB(), MultinomialNB(alpha=0.1), BernoulliNB(), ComplementNB()]
    ),
    timeline=st.sampled_from(ref.TIMELINES),
    weight=st.sampled_from(["none", "whole"]),
    method=st.sampled_from(["predict", "predict_proba"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_wide_sparse_rows(model: Any, timeline: str, weight: str, method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = counts(rng, 50, 700) * (rng.random((50, 700)) < 0.05)
    # Features in most rows, as in every language.
    X[:, ::233] = rng.integers(0, 3, X[:, ::233].shape)
    block = ref.make_block(
        ref.as_storage(X, "csr"),
        labels(rng, 50, 3),
        timeline,
        rng,
        ref.random_weights(rng, 50, weight),
    )
    ref.assert_bayes_equals_loop(model, block, Task(np.arange(3), method), rng)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_many_parts(model, storage, monkeypatch, rng):
    monkeypatch.setattr(counts_module, "rows_per_part", lambda n_columns: 7)
    X = counts(rng, 60, 8, whole=False)
    block = ref.make_block(ref.as_storage(X, storage), labels(rng, 60, 3), "polls", rng)
    kernel, _ = ref.assert_bayes_equals_loop(model, block, Task(np.arange(3), "predict_proba"), rng)
    kernel.kernel._values_per_part = 40  # type: ignore[attr-defined]
    again = ref.running(ref.twin(model), kernel.kernel.task)
    again.kernel._values_per_part = 40  # type: ignore[attr-defined]
    whole = ref.running(ref.twin(model), kernel.kernel.task)
    np.testing.assert_array_equal(again.run(block), whole.run(block))


@examples(12)
@given(
    model=st.sampled_from(
        [
            CategoricalNB(min_categories=4),
            CategoricalNB(min_categories=[4, 6, 5], alpha=0.2, fit_prior=False),
            CategoricalNB(min_categories=4, class_prior=[0.2, 0.3, 0.5]),
        ]
    ),
    timeline=st.sampled_from(ref.TIMELINES),
    weight=st.sampled_from(["none", "whole", "any"]),
    method=st.sampled_from(["predict", "predict_proba"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_categories(model: Any, timeline: str, weight: str, method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (40, 3)) * 1.0
    block = ref.make_block(
        X, labels(rng, 40, 3), timeline, rng, ref.random_weights(rng, 40, weight)
    )
    ref.assert_bayes_equals_loop(model, block, Task(np.arange(3), method), rng)


@pytest.mark.parametrize(
    "model",
    [
        MultinomialNB(alpha=[0.5, 1.0, 2.0]),
        MultinomialNB(class_prior=[0.2, 0.8]),
        ComplementNB(alpha=np.array([0.5, 1.0, 2.0])),
        BernoulliNB(class_prior=np.array([0.2, 0.8]), binarize=None),
    ],
    ids=repr,
)
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_arrays_as_parameters(model: Any, storage: str) -> None:
    rng = np.random.default_rng(1)
    X = ref.as_storage((counts(rng, 60, 3) > 0) * 1.0, storage)
    block = ref.make_block(X, labels(rng, 60, 2), "delayed", rng)
    ref.assert_bayes_equals_loop(model, block, Task(np.arange(2), "predict_proba"), rng)


@pytest.mark.parametrize("model", [MultinomialNB(), BernoulliNB(), ComplementNB()], ids=repr)
def test_batches_add_up(model: Any) -> None:
    rng = np.random.default_rng(3)
    X, y = counts(rng, 64, 4), rng.integers(0, 2, 64)
    bounds = np.arange(0, 65, 8)
    rows = np.arange(64)
    block = Block(X, rows, y, None, X, rows[8:], rows[8:] // 8 * 8, batches=bounds)
    kernel = ref.running(clone(model), Task(np.arange(2), batch_size=8))
    answers = kernel.run(block)
    loop = clone(model)
    expected = []
    for batch in range(8):
        batch_rows = slice(8 * batch, 8 * batch + 8)
        if batch:
            expected.append(loop.predict(X[batch_rows]))
        loop.partial_fit(X[batch_rows], y[batch_rows], classes=[0, 1])
    np.testing.assert_array_equal(answers, np.concatenate(expected))
    kernel.export()
    ref.assert_same_state(kernel.estimator, loop, rtol=1e-9)


def test_a_feature_stored_twice_in_a_row_counts_as_its_sum() -> None:
    rng = np.random.default_rng(5)
    X = ref.as_storage(counts(rng, 40, 6), "csr")
    twice = X.copy()
    twice.indices = np.concatenate([X.indices, X.indices]).reshape(2, -1).T.ravel()
    twice.data = np.concatenate([X.data, X.data]).reshape(2, -1).T.ravel() / 2
    twice.indptr = 2 * X.indptr
    y = labels(rng, 40, 2)
    for model in (MultinomialNB(), ComplementNB()):
        block = ref.make_block(twice, y, "prequential", rng)
        ref.assert_bayes_equals_loop(model, block, Task(np.arange(2)), rng)
    with pytest.raises(Declined):
        ref.running(BernoulliNB(), Task(np.arange(2))).run(block)


def test_single_precision_is_exact() -> None:
    rng = np.random.default_rng(6)
    X = counts(rng, 50, 6, whole=False).astype(np.float32)
    for storage in ("dense", "csr"):
        block = ref.make_block(ref.as_storage(X, storage), labels(rng, 50, 2), "polls", rng)
        ref.assert_bayes_equals_loop(MultinomialNB(), block, Task(np.arange(2)), rng)


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (MultinomialNB(alpha=[1.0, 2.0]), np.ones((4, 3))),
        (BernoulliNB(binarize=None), np.full((4, 3), 0.5)),
        (CategoricalNB(min_categories=3), np.full((4, 3), 3.0)),
        (CategoricalNB(min_categories=3), np.full((4, 3), 0.5)),
        (CategoricalNB(min_categories=[3, 3]), np.ones((4, 3))),
        (ComplementNB(norm=True), ref.as_storage(np.ones((4, 600)), "csr")),
        (ComplementNB(norm=True), ref.as_storage(np.ones((4, 1)), "csr")),
        (CategoricalNB(min_categories=3), ref.as_storage(np.ones((4, 3)), "csr")),
    ],
    ids=repr,
)
def test_declines_rows_that_the_model_refuses_or_rounds_otherwise(model: Any, X: Any) -> None:
    kernel = ref.running(model, Task(np.arange(2)))
    with pytest.raises(Declined):
        kernel.run(ref.make_block(X, np.arange(4) % 2, "prequential", np.random.default_rng(0)))


def test_declines_fractional_weights_of_wide_sparse_rows() -> None:
    rng = np.random.default_rng(9)
    X = ref.as_storage(counts(rng, 20, 600), "csr")
    block = ref.make_block(X, labels(rng, 20, 2), "prequential", rng, np.full(20, 0.5))
    with pytest.raises(Declined):
        ref.running(BernoulliNB(), Task(np.arange(2))).run(block)


def test_a_broken_twin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that has already learnt the row it is asked about does not pass."""
    rng = np.random.default_rng(10)
    right = counts_module.FeatureCountsKernel._count_states

    def one_ahead(*arguments: Any) -> Any:
        states = right(*arguments)
        return [(c, np.append(position[1:], position[-1])) for c, position in states]

    block = ref.make_block(counts(rng, 60, 4), labels(rng, 60, 2), "prequential", rng)
    ref.assert_bayes_equals_loop(MultinomialNB(), block, Task(np.arange(2)), rng)
    monkeypatch.setattr(counts_module.FeatureCountsKernel, "_count_states", one_ahead)
    with pytest.raises(AssertionError):
        ref.assert_bayes_equals_loop(
            MultinomialNB(), block, Task(np.arange(2), "predict_proba"), rng
        )


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_both_lives_agree(storage: str, monkeypatch: pytest.MonkeyPatch, numba: Any) -> None:
    rng = np.random.default_rng(11)
    X = ref.as_storage(counts(rng, 300, 20), storage)
    block = ref.make_block(X, labels(rng, 300, 4), "polls", rng)
    for model in MODELS:
        found = []
        for disabled in ("0", "1"):
            monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", disabled)
            kernel = ref.running(clone(model), Task(np.arange(4), "predict_proba"))
            found.append(kernel.run(block))
        np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)
