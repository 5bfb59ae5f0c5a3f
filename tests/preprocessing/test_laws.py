"""Every transformer that learns along the stream: its kernel, its pieces, its past."""

import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstream.preprocessing
from skstream import DelayedEvaluator, KFoldEvaluator, PrequentialEvaluator, RunOptions
from skstream.base import accepts_classes, supports_sample_weight
from skstream.kernels import registered_kernels
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import (
    DatetimeFeatures,
    LagFeatures,
    RollingFeatures,
    StreamImputer,
    StreamOneHotEncoder,
    StreamOrdinalEncoder,
    TargetEncoder,
)
from skstream.streams import as_stream
from skstream.utils._rows import stack_rows, take_rows
from tests._examples import examples, newest_alone
from tests.kernels import _reference as ref
from tests.kernels.test_transformers import TASK, assert_equals_loop
from tests.preprocessing._rows import DATES, KINDS, NUMERIC, rows_of

# Kinds of rows whose first column holds texts, and the others numbers.
MIXED = ("frame", "categories", "polars")
STATISTICS = ["count", "sum", "mean", "std", "min", "max"]

# Transformers, and the kinds of rows that they take.
CASES: list[tuple[Any, tuple[str, ...]]] = [
    (StreamImputer(), NUMERIC),
    (StreamImputer(add_indicator=True, fill_value=-1), NUMERIC),
    (StreamImputer("most_frequent", add_indicator=True), KINDS),
    (StreamImputer("last"), KINDS),
    (StreamImputer("constant", fill_value=0), KINDS),
    (StreamOneHotEncoder(), KINDS),
    (StreamOneHotEncoder(max_categories=4, sparse_output=False), KINDS),
    (StreamOrdinalEncoder(), KINDS),
    (StreamOrdinalEncoder(3, unknown_value=7, encoded_missing_value=-5), KINDS),
    (LagFeatures(), NUMERIC),
    (LagFeatures(1, [3, 1], key=0), MIXED),
    (LagFeatures([2, 1], key=0, max_keys=2), NUMERIC),
    (RollingFeatures(windows=3), NUMERIC),
    (RollingFeatures(1, windows=[4, 2], functions=STATISTICS, key=0), MIXED),
    (RollingFeatures(2, functions="max", key=0, max_keys=2), ("objects", *MIXED)),
    (RollingFeatures(1, windows=2, key=0, time=2, fill_value=-1.0), MIXED),
    (DatetimeFeatures(), NUMERIC),
    (DatetimeFeatures(["hour", "year"], cyclic=False, fill_value=-1.0), DATES),
    (TargetEncoder(), KINDS),
    (TargetEncoder(0.0, target_type="classes"), KINDS),
]
PAIRS = [(transformer, kind) for transformer, kinds in CASES for kind in kinds]
every_pair = pytest.mark.parametrize(("transformer", "kind"), PAIRS, ids=repr)


def labels(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(0, 2, n)


def taught(transformer: Any, X: Any, rows: Any = None, **known: Any) -> Any:
    """A transformer that has learnt some rows in one call: all, if none are given."""
    n = X.shape[0]
    rows = np.arange(n) if rows is None else rows
    if accepts_classes(transformer):
        known["classes"] = TASK.classes
    return transformer.partial_fit(take_rows(X, rows), TASK.classes[labels(n)[rows]], **known)


def dense(X: Any) -> np.ndarray:
    values: np.ndarray = X.toarray() if hasattr(X, "toarray") else X
    return values


def test_no_transformer_is_forgotten() -> None:
    exported = {getattr(skstream.preprocessing, name) for name in skstream.preprocessing.__all__}
    learning = {one for one in exported if isinstance(one, type) and issubclass(one, BaseEstimator)}
    assert learning == {type(transformer) for transformer, _ in CASES}
    assert learning <= set(registered_kernels())


@examples(30)
@given(
    pair=st.sampled_from(PAIRS),
    timeline=st.sampled_from(ref.TIMELINES),
    n=st.integers(1, 25),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_kernel_is_the_loop(pair, timeline, n, weighted, seed):
    transformer, kind = pair
    rng = np.random.default_rng(seed)
    X = rows_of(kind, n, rng)
    weight = rng.choice([0.3, 1.0, 2.0], n) if weighted else None
    assert_equals_loop(transformer, ref.make_block(X, labels(n), timeline, rng, weight), rng)


@every_pair
def test_a_fitted_transformer_goes_on_by_kernel(transformer: Any, kind: str) -> None:
    rng = np.random.default_rng(1)
    X = rows_of(kind, 10, rng)
    fitted = taught(clone(transformer), X, np.arange(5))
    before = joblib.hash(fitted)
    assert_equals_loop(fitted, ref.make_block(X, labels(10), "polls", rng), rng)
    assert joblib.hash(fitted) == before


@every_pair
def test_pieces_and_pickles_change_nothing(transformer: Any, kind: str) -> None:
    X = rows_of(kind, 30, np.random.default_rng(2))
    once, again = taught(clone(transformer), X), clone(transformer)
    for rows in np.split(np.arange(30), [1, 2, 11, 25]):
        again = taught(pickle.loads(pickle.dumps(again)), X, rows)
    ref.assert_same_state(again, once)
    np.testing.assert_array_equal(dense(again.transform(X)), dense(once.transform(X)))


@every_pair
def test_rows_are_transformed_one_by_one_as_together(transformer: Any, kind: str) -> None:
    """And asking changes nothing, to any depth."""
    X = rows_of(kind, 20, np.random.default_rng(3))
    fitted = taught(clone(transformer), X, np.arange(6))
    before = joblib.hash(fitted)
    together = fitted.transform(X)
    assert joblib.hash(fitted) == before
    alone = [fitted.transform(take_rows(X, np.array([row]))) for row in range(20)]
    ref.assert_same_rows(together, np.arange(20), alone)
    assert together.shape[1] == len(fitted.get_feature_names_out())


@every_pair
def test_rows_learnt_in_one_call_are_shown_as_one_by_one(transformer: Any, kind: str) -> None:
    """By what was known before them, where that is promised."""
    if not hasattr(transformer, "partial_fit_transform"):
        return
    X, y = rows_of(kind, 20, np.random.default_rng(10)), TASK.classes[labels(20)]
    together, alone = clone(transformer), clone(transformer)
    shown = together.fit_transform(X, y)
    known = {"classes": TASK.classes} if accepts_classes(transformer) else {}
    for rows in np.split(np.arange(20), np.arange(1, 20)):
        row = alone.partial_fit_transform(take_rows(X, rows), y[rows], **known)
        np.testing.assert_array_equal(dense(row), dense(shown)[rows])
    ref.assert_same_state(alone, together)
    np.testing.assert_array_equal(dense(together.fit(X, y).transform(X)), dense(alone.transform(X)))


@every_pair
def test_a_later_row_changes_nothing_before_it(transformer: Any, kind: str) -> None:
    n, cut = 30, 17
    one, other = (rows_of(kind, n, np.random.default_rng(seed)) for seed in (4, 5))
    changed = take_rows(one, np.arange(cut))
    X = stack_rows([changed, take_rows(other, np.arange(cut, n))])
    shown = []
    for rows in (one, X):
        block = ref.make_block(rows, labels(n), "prequential", np.random.default_rng(0))
        out = ref.running_transformer(clone(transformer), TASK).run(block)
        learnt, asked = dense(out.learn_X)[out.learn_index], dense(out.ask_X)[out.ask_index]
        shown.append((learnt[:cut], asked[: cut - 1]))
    for before, after in zip(*shown, strict=True):
        np.testing.assert_array_equal(before, after)


EVALUATORS = [
    PrequentialEvaluator(n_warmup=3),
    DelayedEvaluator(delay=5),
    KFoldEvaluator(n_folds=2, random_state=0),
]
PARTS = ColumnTransformer(
    [
        ("rolling", RollingFeatures(1, functions=["mean", "std"], key=0), [0, 1]),
        ("lags", LagFeatures([0], [2], key=1, max_keys=3), [2, 0]),
        ("risk", TargetEncoder(), [1]),
    ]
)


# Each transformer with one kind of rows and one protocol, all in turn: above they are tried with
# every kind. No model takes texts: these come out of an imputer as they are.
@newest_alone
@pytest.mark.parametrize(
    ("transformer", "kind", "evaluator"),
    [
        (one, kinds[i % len(kinds)], EVALUATORS[i // 2 % 3])
        for i, (one, taken) in enumerate([*CASES, *[(PARTS, NUMERIC)] * 3])
        for kinds in (NUMERIC if isinstance(one, StreamImputer) else taken,)
    ],
    ids=repr,
)
def test_evaluators_give_the_same_by_kernel_and_by_loop(transformer, kind, evaluator):
    stream = as_stream(rows_of(kind, 24, np.random.default_rng(6)), labels(24), chunk_size=9)
    model = make_stream_pipeline(transformer, SGDClassifier(random_state=0))
    by_kernel, by_loop = ref.both_ways(evaluator, model, stream)
    assert by_kernel.paths["m"].startswith("kernel") and by_loop.paths["m"].startswith("loop")
    np.testing.assert_array_equal(by_kernel.tape.answers["m"], by_loop.tape.answers["m"])


@newest_alone
@pytest.mark.parametrize(
    ("transformer", "kind"),
    [(one, kinds[0]) for one, kinds in CASES if hasattr(one, "partial_fit_transform")],
    ids=repr,
)
def test_rows_that_a_later_step_declines_are_learnt_once(transformer: Any, kind: str) -> None:
    """The scaler leaves fractional weights to the loop; the kernel goes on after them."""
    X, weight = rows_of(kind, 24, np.random.default_rng(11)), np.ones(24)
    weight[[5, 12, 13]] = 0.5
    model = make_stream_pipeline(transformer, StandardScaler(), SGDClassifier(random_state=0))
    answers = []
    for engine, chunk_size in (("loop", 24), ("auto", 24), ("auto", 7)):
        stream = as_stream(X, labels(24), sample_weight=weight, chunk_size=chunk_size)
        evaluator = PrequentialEvaluator(run=RunOptions(kernels=engine == "auto"))
        result = evaluator.evaluate({"m": model}, stream, return_models=True)
        answers.append(
            [*result.predictions("m", every_row=True), *result.models["m"][-1].coef_.ravel()]
        )
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(
    "transformer", [one for one, _ in CASES if supports_sample_weight(one)], ids=repr
)
def test_a_row_of_weight_zero_is_not_learnt(transformer: Any) -> None:
    X = rows_of("numbers", 30, np.random.default_rng(7))
    weight = np.random.default_rng(8).integers(0, 3, 30).astype(float)
    weighted = taught(clone(transformer), X, sample_weight=weight)
    again = taught(clone(transformer), X, np.repeat(np.arange(30), weight.astype(int)))
    np.testing.assert_allclose(weighted.transform(X), again.transform(X))
    before = ref.twin(weighted)
    taught(weighted, X[:3], sample_weight=np.zeros(3))
    ref.assert_same_state(weighted, before)


def test_a_kernel_that_looks_ahead_is_caught() -> None:
    rng = np.random.default_rng(9)
    block = ref.make_block(rows_of("numbers", 30, rng), labels(30), "prequential", rng)
    _, asked = ref.transform_literally(StreamImputer(), block)
    ahead = ref.running_transformer(StreamImputer().fit(block.ask_X), TASK).run(block)
    with pytest.raises(AssertionError):
        ref.assert_same_rows(ahead.ask_X, ahead.ask_index, asked)
