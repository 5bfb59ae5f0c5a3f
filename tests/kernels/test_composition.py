"""Kernels of meta-classifiers and stream pipelines, over the kernels of what they wrap."""

import itertools
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import IncrementalPCA
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted, validate_data

import skstream.kernels.temporal as temporal_kernels
from skstream.baselines import MajorityClass
from skstream.core.engine.block import Block
from skstream.kernels import (
    Declined,
    Kernel,
    Task,
    TransformKernel,
    kernel_of,
    registered_kernels,
    registry,
)
from skstream.noise import LabelNoise
from skstream.pipeline import make_stream_pipeline
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from skstream.utils._rows import take_rows
from tests._examples import examples
from tests.kernels import _reference as ref

CLASSES = np.array(["a", "b", "c", "d", "e", "f", "g"])


class Shift(TransformerMixin, BaseEstimator):
    """Adds up the rows learnt and subtracts the sum: a transformer whose every state shows."""

    def partial_fit(self, X, y=None, sample_weight=None):
        X = validate_data(self, X, reset=not hasattr(self, "sum_"))
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        start = getattr(self, "sum_", np.zeros(X.shape[1]))
        self.sum_ = np.add.accumulate(np.vstack([start, weight[:, np.newaxis] * X]))[-1]
        return self

    def fit(self, X, y=None, sample_weight=None):
        return self.partial_fit(X, y, sample_weight)

    def transform(self, X):
        check_is_fitted(self)
        return np.abs(validate_data(self, X, reset=False) - self.sum_ / 64)


class ShiftKernel(TransformKernel):
    """Kernel of `Shift`; declines a row whose first feature is negative."""

    @classmethod
    def refusal(cls, transformer, task):
        return None if task.batch_size == 1 else "a batch"

    def initial_state(self) -> Any:
        return getattr(self.estimator, "sum_", None)

    def step(self, state: Any, block: Block) -> tuple[Any, Block]:
        if not block.n_learns and not block.n_asks:
            return state, block
        learnt = take_rows(block.learn_X, block.learn_index)
        asked = take_rows(block.ask_X, block.ask_index)
        if (learnt[:, 0] < 0).any():
            raise Declined("negative values have no kernel")
        weight = np.ones(block.n_learns) if block.weight is None else block.weight
        start = np.zeros((1, learnt.shape[1])) if state is None else state[np.newaxis]
        sums = np.add.accumulate(np.vstack([start, weight[:, np.newaxis] * learnt]))
        shifted = replace(
            block,
            learn_X=np.abs(learnt - sums[1:] / 64),
            learn_index=np.arange(block.n_learns),
            ask_X=np.abs(asked - sums[block.stamp] / 64),
            ask_index=np.arange(block.n_asks),
        )
        return sums[-1] if block.n_learns else state, shifted

    def export(self, state: Any) -> None:
        if state is not None:
            self.estimator.sum_ = state.copy()
            self.estimator.n_features_in_ = len(state)


@pytest.fixture(scope="module", autouse=True)
def shift_kernel():
    kernel_of(Shift)(ShiftKernel)
    yield
    del registry._TRANSFORMERS[Shift]


SGD = SGDClassifier(loss="log_loss", random_state=0)
INNER = {"sgd": SGD, "multinomial": MultinomialNB(), "majority": MajorityClass()}
COMPOSED = {
    "augmented": lambda inner: TemporallyAugmented(inner, n_lags=2),
    "ordinal": lambda inner: TemporallyAugmented(inner, n_lags=3, encoding="ordinal"),
    "no lags": lambda inner: TemporallyAugmented(inner, n_lags=0),
    "corrected": lambda inner: TemporalCorrection(inner),
    "faded": lambda inner: TemporalCorrection(inner, fading_factor=0.7, smoothing=0.1),
    "pipeline": lambda inner: make_stream_pipeline(Shift(), inner),
    "two steps": lambda inner: make_stream_pipeline(Shift(), "passthrough", Shift(), inner),
    "augmented pipeline": lambda inner: TemporallyAugmented(make_stream_pipeline(Shift(), inner)),
    "pipeline of correction": lambda inner: make_stream_pipeline(
        Shift(), TemporalCorrection(inner, fading_factor=0.9)
    ),
    "correction of augmented": lambda inner: TemporalCorrection(TemporallyAugmented(inner)),
    "pipeline in a pipeline": lambda inner: make_stream_pipeline(
        Shift(), make_stream_pipeline(Shift(), TemporallyAugmented(inner))
    ),
}
# The same over real transformers.
COMPOSED |= {
    "scaled": lambda inner: make_stream_pipeline(StandardScaler(), inner),
    "augmented scaled": lambda inner: TemporallyAugmented(
        make_stream_pipeline(MinMaxScaler(), Normalizer(), StandardScaler(with_mean=False), inner)
    ),
    "transformers in a pipeline": lambda inner: make_stream_pipeline(
        make_stream_pipeline(Shift(), MinMaxScaler()), TemporalCorrection(inner)
    ),
    "columns": lambda inner: make_stream_pipeline(
        make_column_transformer(
            (StandardScaler(), [0]),
            ("drop", []),
            (make_stream_pipeline(Shift(), MinMaxScaler()), slice(0, 2)),
            ("passthrough", [-1]),
            remainder=MaxAbsScaler(),
        ),
        inner,
    ),
    "corrected columns": lambda inner: TemporalCorrection(
        make_stream_pipeline(
            make_column_transformer(
                (OneHotEncoder(categories=[range(9)] * 2, handle_unknown="ignore"), [2, 0]),
                (Normalizer(), [False, True, False]),
                sparse_threshold=1.0,
            ),
            inner,
        )
    ),
}
TAKES_SPARSE = {"augmented", "ordinal", "no lags", "corrected", "faded", "correction of augmented"}
CASES = [
    *((composed, "sgd") for composed in COMPOSED),
    *itertools.product(
        ["augmented", "faded", "pipeline of correction"], ["multinomial", "majority"]
    ),
]


@pytest.mark.parametrize(("composed", "inner"), CASES)
@given(
    seed=st.integers(0, 2**32 - 1),
    timeline=st.sampled_from(ref.TIMELINES),
    n_classes=st.integers(2, 7),
    method=st.sampled_from(["predict", "predict_proba"]),
    weighted=st.booleans(),
    has_learnt=st.booleans(),
    storage=st.sampled_from(["dense", "csr", "csr_matrix"]),
)
@examples(3)
def test_kernel_is_the_loop(
    composed, inner, seed, timeline, n_classes, method, weighted, has_learnt, storage
):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    model = COMPOSED[composed](clone(INNER[inner]))
    task = Task(CLASSES[:n_classes], method)
    X = rng.poisson(1.0, size=(n, 3)).astype(float)
    if composed in TAKES_SPARSE:
        X = ref.as_storage(X, storage)
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    block = ref.make_block(X, rng.integers(0, n_classes, n), timeline, rng, weight)
    if has_learnt:
        model.partial_fit(
            np.ones((3, 3)) if isinstance(X, np.ndarray) else sparse.csr_array(np.ones((3, 3))),
            task.classes[rng.integers(0, n_classes, 3)],
            classes=task.classes,
        )
    # decision values of linear models are added in another order than by BLAS
    ref.assert_equals_loop(
        model,
        block,
        task,
        ref.random_cuts(block, rng),
        scores="predict_proba",
        rtol=1e-9,
        atol=1e-12,
        state_rtol=None,
    )


@pytest.mark.parametrize(("composed", "inner"), CASES)
def test_the_cut_changes_no_bit(composed, inner) -> None:
    rng = np.random.default_rng(7)
    X = rng.poisson(1.0, size=(60, 3)).astype(float)
    block = ref.make_block(X, rng.integers(0, 3, 60), "polls", rng)
    task = Task(CLASSES[:3], "predict_proba")
    results = []
    for positions in ([], [1, 2, 3, 50], range(1, block.n_learns + block.n_asks)):
        model = COMPOSED[composed](clone(INNER[inner]))
        kernel = ref.running(model, task)
        answers = ref.run_kernel(kernel, ref.cut(block, positions))
        kernel.export()
        results.append((answers, model))
    for answers, model in results[1:]:
        np.testing.assert_array_equal(answers, results[0][0])
        ref.assert_same_state(model, results[0][1])


@pytest.mark.parametrize(
    "model",
    [
        make_stream_pipeline(Shift(), Shift(), SGD),
        TemporallyAugmented(make_stream_pipeline(Shift(), SGD)),
        make_stream_pipeline(Shift(), TemporalCorrection(SGD)),
        make_stream_pipeline(Shift(), make_stream_pipeline(Shift(), SGD)),
        make_stream_pipeline(make_stream_pipeline(MaxAbsScaler(), Shift()), Shift(), SGD),
        make_stream_pipeline(
            make_column_transformer((StandardScaler(), [1, 2]), (Shift(), [0])), SGD
        ),
    ],
    ids=lambda model: repr(model)[:60],
)
@pytest.mark.parametrize("place", ["first step", "last step"])
def test_a_declined_block_leaves_no_trace(model, place, monkeypatch) -> None:
    rng = np.random.default_rng(3)
    X = rng.poisson(1.0, size=(40, 3)).astype(float)
    good, bad = ref.cut(ref.make_block(X, rng.integers(0, 3, 40), "prequential", rng), [30])
    task = Task(CLASSES[:3])
    model = clone(model)
    kernel = ref.running(model, task)
    kernel.run(good)
    literal = ref.twin(model)
    ref.run_literally(literal, good, task)
    if place == "first step":
        X[bad.learn_index[5]] = -1000.0
    else:
        monkeypatch.setattr(registered_kernels()[SGDClassifier], "step", decline)
    with pytest.raises(Declined):
        kernel.run(bad)
    kernel.export()
    ref.assert_same_state(model, literal)


def decline(kernel: Kernel, state: Any, block: Block) -> Any:
    raise Declined("nothing has a kernel today")


def test_the_loop_goes_on_where_the_kernel_stopped(rng: np.random.Generator) -> None:
    X, y = rng.random((20, 3)), rng.integers(0, 3, 20)
    block = ref.make_block(X, y, "prequential", rng)
    first, second = ref.cut(block, [21])
    task = Task(CLASSES[:3])
    for make in COMPOSED.values():
        literal, model = make(clone(SGD)), make(clone(SGD))
        expected = ref.run_literally(literal, block, task)
        kernel = ref.running(model, task)
        begin = kernel.run(first)
        kernel.export()
        end = ref.run_literally(model, second, task)
        np.testing.assert_array_equal(np.concatenate([begin, end]), expected)
        ref.assert_same_state(model, literal)


@pytest.mark.parametrize("inner", ["majority", "multinomial"])
@pytest.mark.parametrize("composed", ["augmented", "ordinal", "faded", "correction of augmented"])
def test_batches_are_learnt_at_once(composed, inner, rng: np.random.Generator) -> None:
    X, y = rng.poisson(1.0, size=(40, 3)).astype(float), rng.integers(0, 3, 40)
    task = Task(CLASSES[:3], "predict_proba", batch_size=8)
    bounds = np.arange(0, 41, 8)
    rows = np.arange(40)
    block = Block(
        learn_X=X,
        learn_index=rows,
        y=y,
        weight=None,
        ask_X=X,
        ask_index=rows[8:],
        stamp=rows[8:] // 8 * 8,
        batches=bounds,
        groups=bounds[:-1],
    )
    literal, model = (COMPOSED[composed](clone(INNER[inner])) for _ in range(2))
    expected = []
    for begin, end in itertools.pairwise(bounds):
        if begin:
            expected.append(literal.predict_proba(X[begin:end]))
        literal.partial_fit(X[begin:end], task.classes[y[begin:end]], classes=task.classes)
    kernel = ref.running(model, task)
    if kernel is None:
        pytest.skip("the inner kernel knows no batches")
    np.testing.assert_allclose(kernel.run(block), np.concatenate(expected), rtol=1e-9)
    kernel.export()
    ref.assert_same_state(model, literal, rtol=1e-9)


@pytest.mark.parametrize("composed", COMPOSED)
def test_empty_blocks_do_no_harm(composed, rng: np.random.Generator) -> None:
    nothing = np.empty(0, np.intp)
    empty = Block(
        learn_X=None,
        learn_index=nothing,
        y=nothing,
        weight=None,
        ask_X=None,
        ask_index=nothing,
        stamp=nothing,
    )
    block = ref.make_block(rng.random((9, 3)), rng.integers(0, 2, 9), "prequential", rng)
    task = Task(CLASSES[:2])
    kernel, other = (ref.running(COMPOSED[composed](clone(SGD)), task) for _ in range(2))
    assert len(kernel.run(empty)) == 0
    kernel.export()
    assert not hasattr(kernel.estimator, "classes_")
    np.testing.assert_array_equal(kernel.run(block), other.run(block))
    assert len(kernel.run(empty)) == 0


@pytest.mark.parametrize("meta", [TemporalCorrection, partial(LabelNoise, random_state=0)])
def test_what_was_learnt_of_texts_is_exported(meta, rng: np.random.Generator) -> None:
    """Texts have no columns, by which it was told whether anything had been learnt."""
    texts = rng.choice(["a b", "c", "d e"], 20).astype(object)
    model = meta(make_stream_pipeline(HashingVectorizer(n_features=16), SGD))
    block = ref.make_block(texts, rng.integers(0, 2, 20), "polls", rng)
    ref.assert_equals_loop(model, block, Task(CLASSES[:2]))


def test_frames_keep_their_names_inside(pd: Any, rng: np.random.Generator) -> None:
    X = pd.DataFrame(rng.random((30, 2)), columns=["x", "y"])
    task = Task(np.array(["DOWN", "UP"]))
    for timeline in ref.TIMELINES:
        block = ref.make_block(X, rng.integers(0, 2, 30), timeline, rng)
        kernel, _ = ref.assert_equals_loop(TemporallyAugmented(clone(SGD)), block, task, [5])
    assert kernel.estimator.estimator_.feature_names_in_.tolist() == [
        "x",
        "y",
        "previous_label_1=DOWN",
        "previous_label_1=UP",
    ]


def test_frames_in_nested_wrappers(pd: Any, rng: np.random.Generator) -> None:
    rows = (rng.random((30, 2)) < 0.5).astype(float)
    task = Task(np.array(["DOWN", "UP"]))
    for timeline in ref.TIMELINES:
        of_array = ref.make_block(rows, rng.integers(0, 2, 30), timeline, rng)
        frame = pd.DataFrame(rows, columns=["x", "y"])
        of_frame = replace(of_array, learn_X=frame, ask_X=frame)
        model = TemporallyAugmented(TemporallyAugmented(BernoulliNB()))
        ref.assert_equals_loop(model, of_frame, task, [5], state_rtol=1e-9)
        answers = ref.run_kernel(ref.running(model, task), ref.cut(of_array, [5]))
        np.testing.assert_array_equal(answers, ref.run_literally(ref.twin(model), of_frame, task))


def test_mixed_frames_are_served_column_by_column(pd: Any, rng: np.random.Generator) -> None:
    X = pd.DataFrame(
        {
            "price": rng.normal(10, 3, 30),
            "day": pd.Categorical(rng.choice(["tu", "mo"], 30), categories=["we", "tu", "mo"]),
            "load": rng.integers(0, 9, 30),
        }
    )
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include="category")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    task = Task(np.array(["DOWN", "UP"]))
    for make in (
        lambda: make_stream_pipeline(columns, clone(SGD)),
        lambda: make_stream_pipeline(columns, TemporalCorrection(clone(SGD))),
    ):
        model, literal = make(), make()
        block = ref.make_block(X, rng.integers(0, 2, 30), "polls", rng)
        first, second = ref.cut(block, [40])
        expected = ref.run_literally(literal, block, task)
        begin = ref.running(model, task)
        answers = [begin.run(first)]
        begin.export()
        # The exported model is taken up by a new kernel.
        end = ref.running(model, task)
        answers.append(ref.run_kernel(end, ref.cut(second, [3, 7])))
        end.export()
        np.testing.assert_array_equal(np.concatenate(answers), expected)
        ref.assert_same_state(model, literal)


def test_a_part_without_a_kernel_declines_the_first_block(rng: np.random.Generator) -> None:
    block = ref.make_block(rng.random((9, 3)), rng.integers(0, 2, 9), "prequential", rng)
    columns = make_column_transformer((IncrementalPCA(1), [0]), remainder=StandardScaler())
    model = make_stream_pipeline(Shift(), columns, clone(SGD))
    kernel = ref.running(model, Task(CLASSES[:2]))
    with pytest.raises(Declined):
        kernel.run(block)
    kernel.export()
    assert not hasattr(model, "pipeline_")


def test_weights_under_metadata_routing_are_left_to_the_loop(rng: np.random.Generator) -> None:
    block = ref.make_block(rng.random((9, 2)), rng.integers(0, 2, 9), "prequential", rng)
    weighted = replace(block, weight=np.full(9, 2.0))
    with sklearn.config_context(enable_metadata_routing=True):
        for model in (TemporallyAugmented(SGD), make_stream_pipeline(Shift(), SGD)):
            kernel = ref.running(model, Task(CLASSES[:2]))
            kernel.run(block)
            with pytest.raises(Declined):
                kernel.run(weighted)


def test_a_model_that_peeks_is_caught(monkeypatch, rng: np.random.Generator) -> None:
    """A twin that shows a row its own label differs from the loop."""
    X, y = rng.random((50, 3)), rng.integers(0, 2, 50)
    block = ref.make_block(X, y, "prequential", rng)
    task = Task(CLASSES[:2])
    expected = ref.run_literally(TemporallyAugmented(clone(SGD)), block, task)
    honest = temporal_kernels.lags_after
    monkeypatch.setattr(
        temporal_kernels,
        "lags_after",
        lambda history, codes, n: np.roll(honest(history, codes, n), -1, axis=0),
    )
    broken = ref.running(TemporallyAugmented(clone(SGD)), task)
    assert (broken.run(block) != expected).any()


def test_a_column_transformer_within_another_learns_the_first_row_once(rng):
    inner = make_column_transformer((StandardScaler(), [1, 0]))
    columns = make_column_transformer((inner, [2, 1]), (MinMaxScaler(), [0]))
    block = ref.make_block(rng.normal(size=(9, 3)), rng.integers(0, 3, 9), "prequential", rng)
    ref.assert_equals_loop(make_stream_pipeline(columns, SGD), block, Task(CLASSES[:3]))
