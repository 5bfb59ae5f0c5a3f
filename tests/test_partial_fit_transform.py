"""Transformers that show a learnt row by what was known before it, as steps of pipelines."""

import copy
import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDRegressor
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skstream import PrequentialEvaluator
from skstream.pipeline import StreamPipeline, make_stream_pipeline
from tests.kernels._reference import both_ways

ROWS = np.arange(12.0).reshape(6, 2) ** 2
TARGETS = np.array([3.0, -1.0, 4.0, 1.0, 5.0, 9.0])


class MeanTarget(TransformerMixin, BaseEstimator):
    """One column: the weighted mean of the targets of the rows before."""

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MeanTarget":
        self.partial_fit_transform(X, y, sample_weight)
        return self

    def fit(self, X: Any, y: Any) -> "MeanTarget":
        raise AssertionError("a stream pipeline calls partial_fit")

    def partial_fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if not hasattr(self, "sums_"):
            self.sums_, self.n_features_in_ = np.zeros(2), X.shape[1]
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        shown = []
        for target, w in zip(y, weight, strict=True):
            shown.append(self._mean())
            self.sums_ += [w * target, w]
        return self._answer(X, shown)

    def transform(self, X: Any) -> Any:
        return self._answer(X, [self._mean()] * len(X))

    def _mean(self) -> float:
        return float(self.sums_[0] / self.sums_[1]) if self.sums_[1] else 0.0

    def _answer(self, X: Any, means: list[float]) -> Any:
        out = np.array(means).reshape(-1, 1)
        if getattr(self, "container", None) == "pandas":
            return pytest.importorskip("pandas").DataFrame(out, index=X.index, columns=["mean"])
        return out

    def set_output(self, *, transform: Any = None) -> "MeanTarget":
        self.container = transform
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return np.array(["mean"], dtype=object)


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps every row that it learns; fails at a target of 9."""

    def partial_fit(self, X: Any, y: Any) -> "Recorder":
        if 9.0 in y:
            raise ValueError("nine")
        rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        self.rows_ = np.vstack([self.rows_, rows]) if hasattr(self, "rows_") else rows
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]


def means_before(n: int, weight: Any = None) -> np.ndarray:
    weight = np.ones(n) if weight is None else weight[:n]
    sums = np.cumsum(np.append(0.0, weight * TARGETS[:n]))
    counts = np.cumsum(np.append(0.0, weight))
    return np.divide(sums[:-1], counts[:-1], out=np.zeros(n), where=counts[:-1] > 0)


STEPS = {
    "alone": MeanTarget(),
    "part": ColumnTransformer([("mean", MeanTarget(), [0]), ("same", "passthrough", [1])]),
    "remainder": ColumnTransformer([("same", "drop", [1])], remainder=MeanTarget()),
    "nested": StreamPipeline([("inner", MeanTarget())]),
    "followed": make_stream_pipeline(MeanTarget(), "passthrough"),
    "part of a part": ColumnTransformer(
        [("deep", ColumnTransformer([("mean", MeanTarget(), [0])]), [1, 0])]
    ),
    "nested in a part": ColumnTransformer([("deep", make_stream_pipeline(MeanTarget()), [1])]),
    "part in a nested one": make_stream_pipeline(ColumnTransformer([("m", MeanTarget(), [0])])),
}
every_step = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS.keys())


@every_step
@pytest.mark.parametrize("bounds", [[0, 1, 2, 3, 4, 5], [0, 3, 5], [0, 5]])
def test_a_learnt_row_is_shown_by_what_was_known_before_it(step: Any, bounds: list[int]) -> None:
    pipeline = StreamPipeline([("step", step), ("model", Recorder())])
    for begin, end in itertools.pairwise(bounds):
        pipeline.partial_fit(ROWS[begin:end], TARGETS[begin:end])
    learnt = pipeline[-1].rows_[:, 0]
    np.testing.assert_array_equal(learnt, means_before(5))
    # An asked row: by what is known now.
    assert pipeline.predict(ROWS[5:])[0] == TARGETS[:5].mean()


@every_step
def test_weights_and_first_rows_reach_it(step: Any) -> None:
    weight = np.array([1.0, 2.0, 0.0, 3.0, 1.0])
    model = StandardScaler()  # takes weights
    pipeline = StreamPipeline([("step", step), ("scaler", model)])
    pipeline.partial_fit(ROWS[:2], TARGETS[:2], sample_weight=weight[:2])
    pipeline.partial_fit(ROWS[2:5], TARGETS[2:5], sample_weight=weight[2:])
    kept = weight > 0
    wanted = np.average(means_before(5, weight)[kept], weights=weight[kept])
    assert pipeline[-1].mean_[0] == pytest.approx(wanted, rel=1e-14)


@every_step
def test_a_failing_step_after_it_leaves_nothing(step: Any) -> None:
    pipeline = StreamPipeline([("step", step), ("model", Recorder())])
    pipeline.partial_fit(ROWS[:3], TARGETS[:3])
    before = pipeline.predict(ROWS[3:4])
    with pytest.raises(ValueError, match="nine"):
        pipeline.partial_fit(ROWS[4:6], TARGETS[4:6])
    np.testing.assert_array_equal(pipeline.predict(ROWS[3:4]), before)
    pipeline.partial_fit(ROWS[3:5], TARGETS[3:5])
    np.testing.assert_array_equal(pipeline[-1].rows_[:, 0], means_before(5))


@every_step
def test_fit_transform_shows_rows_as_they_are_learnt(step: Any) -> None:
    pipeline = StreamPipeline([("step", step)])
    pipeline.partial_fit(ROWS, -TARGETS)  # forgotten
    np.testing.assert_array_equal(pipeline.fit_transform(ROWS, TARGETS)[:, 0], means_before(6))
    one_by_one = StreamPipeline([("step", step)])
    shown = [one_by_one.partial_fit_transform(ROWS[i : i + 1], TARGETS[[i]]) for i in range(6)]
    np.testing.assert_array_equal(np.vstack(shown)[:, 0], means_before(6))


def test_of_other_steps_it_shows_what_is_known_after_the_rows() -> None:
    whole, again = make_stream_pipeline(StandardScaler()), make_stream_pipeline(StandardScaler())
    for rows in (ROWS[:2], ROWS[2:]):
        shown = whole.partial_fit_transform(rows)
        np.testing.assert_array_equal(shown, again.partial_fit(rows).transform(rows))
    np.testing.assert_array_equal(whole.fit_transform(ROWS), again.fit(ROWS).transform(ROWS))
    assert not hasattr(StreamPipeline([("model", Recorder())]), "partial_fit_transform")


def test_other_parts_of_a_column_transformer_learn_first() -> None:
    parts = [("mean", MeanTarget(), [0]), ("scale", StandardScaler(), [1])]
    pipeline = make_stream_pipeline(ColumnTransformer(parts), Recorder())
    scaler = StandardScaler()
    wanted = []
    for i in range(5):
        row = ROWS[i : i + 1]
        pipeline.partial_fit(row, TARGETS[[i]])
        wanted.append(scaler.partial_fit(row[:, 1:]).transform(row[:, 1:])[0, 0])
    np.testing.assert_array_equal(pipeline[-1].rows_, np.column_stack([means_before(5), wanted]))


def test_sparse_and_pandas_output_are_those_of_the_column_transformer(pd: Any) -> None:
    encoder = OneHotEncoder(categories=[np.unique(ROWS[:, 1])])
    parts = [("mean", MeanTarget(), [0]), ("kinds", encoder, [1])]
    columns = ColumnTransformer(parts, sparse_threshold=1.0)
    sparse_rows = make_stream_pipeline(columns, Recorder())
    frame = pd.DataFrame(ROWS, columns=["a", "b"], index=np.arange(6) + 100)
    named = ColumnTransformer([("mean", MeanTarget(), ["a"]), ("scale", StandardScaler(), ["b"])])
    frames = make_stream_pipeline(named).set_output(transform="pandas")
    for i in range(5):
        sparse_rows.partial_fit(ROWS[i : i + 1], TARGETS[[i]])
        shown = frames.partial_fit_transform(frame[i : i + 1], TARGETS[[i]])
        assert [*shown.columns] == ["mean__mean", "scale__b"] and [*shown.index] == [100 + i]
        assert shown.iloc[0, 0] == means_before(5)[i]
    np.testing.assert_array_equal(sparse_rows[-1].rows_[:, 0], means_before(5))
    assert sparse_rows[-1].rows_.shape == (5, 7)


@every_step
def test_an_evaluator_that_loops_over_it_alone_gives_the_same(step, rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = make_stream_pipeline(step, SGDRegressor(random_state=0))
    results = both_ways(PrequentialEvaluator("mae", n_warmup=3), model, X, y)
    answers = [one.predictions("m", every_row=True) for one in results]
    np.testing.assert_allclose(*answers, rtol=1e-12)
    assert "MeanTarget" in results[0].paths["m"]


def test_a_frozen_one_learns_nothing() -> None:
    fitted = MeanTarget().partial_fit(ROWS[:2], TARGETS[:2])
    pipeline = make_stream_pipeline(FrozenEstimator(copy.deepcopy(fitted)), Recorder())
    pipeline.partial_fit(ROWS[2:5], TARGETS[2:5])
    np.testing.assert_array_equal(pipeline[-1].rows_[:, 0], np.full(3, TARGETS[:2].mean()))


def test_a_row_that_is_not_learnt_is_not_shown() -> None:
    pipeline = make_stream_pipeline(MeanTarget())
    with pytest.raises(ValueError, match="sample_weight is 0 at row 1"):
        pipeline.partial_fit_transform(ROWS[:2], TARGETS[:2], sample_weight=[1, 0])
