"""Stream pipelines against their steps called by hand."""

import itertools
import pickle
import threading
import warnings
from collections import deque
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.utils import get_tags

from skstream import KFoldEvaluator, ModelError, PrequentialEvaluator, RunOptions
from skstream.adaptive import DriftReset
from skstream.baselines import MajorityClass
from skstream.ensemble import DynamicWeightedMajority, OnlineBagging
from skstream.noise import LabelNoise
from skstream.pipeline import StreamPipeline, make_stream_pipeline
from skstream.pipeline._transformers import _FITTED_BY_PARAMETERS, _is_fitted_at_once
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from tests._examples import examples

LOGISTIC = SGDClassifier(loss="log_loss", random_state=0)


def by_hand(steps: list[Any], X: Any, y: Any, bounds: list[int], weight: Any = None) -> list[Any]:
    """Steps taught one after the other, piece by piece: the definition."""
    steps = [clone(step) for step in steps]
    for begin, end in itertools.pairwise(bounds):
        rows, w = X[begin:end], {}
        if weight is not None:
            w = {"sample_weight": weight[begin:end]}
        for step in steps[:-1]:
            if hasattr(step, "partial_fit"):
                step.partial_fit(rows, **(w if isinstance(step, StandardScaler) else {}))
            rows = step.transform(rows)
        steps[-1].partial_fit(rows, y[begin:end], classes=[0, 1, 2], **w)
    return steps


def transformed(steps: list[Any], X: Any) -> Any:
    for step in steps:
        X = step.transform(X)
    return X


@given(
    seed=st.integers(0, 1000),
    cuts=st.lists(st.integers(1, 29), max_size=4),
    weighted=st.booleans(),
    transformers=st.lists(
        st.sampled_from([StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer()]),
        max_size=3,
    ),
)
@examples(30)
def test_pipeline_is_its_steps(seed, cuts, weighted, transformers) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.random((30, 3)) + 0.1, rng.integers(0, 3, 30)
    weight = rng.integers(1, 3, 30).astype(float) if weighted else None
    bounds = [0, *sorted(set(cuts)), 30]
    expected = by_hand([*transformers, LOGISTIC], X, y, bounds, weight)
    model = make_stream_pipeline(*transformers, LOGISTIC)
    for begin, end in itertools.pairwise(bounds):
        w = None if weight is None else weight[begin:end]
        model.partial_fit(X[begin:end], y[begin:end], classes=[0, 1, 2], sample_weight=w)
    Xt = transformed(expected[:-1], X)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_array_equal(
            getattr(model, method)(X), getattr(expected[-1], method)(Xt), err_msg=method
        )
    np.testing.assert_array_equal(model[-1].coef_, expected[-1].coef_)
    assert model.score(X, y) == expected[-1].score(Xt, y)
    if transformers:
        np.testing.assert_array_equal(model[:-1].transform(X), Xt)


# Transformers whose first rows decide nothing, with rows that would show if they did.
AT_ONCE = [
    (Normalizer(), "numbers"),
    (FunctionTransformer(np.exp), "numbers"),
    (PolynomialFeatures(2), "numbers"),
    (SimpleImputer(strategy="constant", fill_value=7.0, keep_empty_features=True), "numbers"),
    (GaussianRandomProjection(2, random_state=0), "numbers"),
    (SparseRandomProjection(2, random_state=0), "numbers"),
    (RBFSampler(gamma=1.0, random_state=0), "numbers"),
    (OneHotEncoder(categories=[["x", "y", "z"]] * 2), "words"),
    (OrdinalEncoder(categories=[["x", "y", "z"]] * 2), "words"),
    (HashingVectorizer(n_features=8), "texts"),
    (CountVectorizer(vocabulary=["up", "down"]), "texts"),
]
ROWS = {
    "numbers": np.array([[np.nan, 0.0, -5.0], [1.0, 2.0, 30.0], [4.0, 0.0, 1.0]]),
    "words": np.array([["x", "x"], ["y", "z"], ["z", "z"]]),
    "texts": np.array(["up", "down up", "sideways"]),
}


@pytest.mark.parametrize(("transformer", "kind"), AT_ONCE, ids=lambda v: type(v).__name__)
def test_what_is_fitted_at_once_does_not_depend_on_the_rows(transformer, kind) -> None:
    rows = ROWS[kind]
    if kind == "numbers" and not isinstance(transformer, SimpleImputer):
        rows = np.nan_to_num(rows)
    assert _is_fitted_at_once(transformer)
    results = []
    for row in range(len(rows)):
        model = make_stream_pipeline(transformer).partial_fit(rows[[row]])
        model.partial_fit(rows[[0]])
        out = model.transform(rows)
        results.append(out.toarray() if sparse.issparse(out) else out)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_every_kind_fitted_by_its_parameters_is_tried() -> None:
    assert set(_FITTED_BY_PARAMETERS) <= {type(transformer).__name__ for transformer, _ in AT_ONCE}


@pytest.mark.parametrize(
    "transformer",
    [
        *(PCA(), OneHotEncoder(), OneHotEncoder(categories=[["x"]], min_frequency=2)),
        *(OrdinalEncoder(), SimpleImputer(), SimpleImputer(strategy="constant")),
        *(GaussianRandomProjection(), RBFSampler(gamma="scale"), CountVectorizer()),
        *(make_pipeline(StandardScaler(), PCA()), make_column_transformer((PCA(), [0]))),
        make_column_transformer((StandardScaler(), [0]), remainder=PCA()),
        make_stream_pipeline(StandardScaler(), PCA()),
    ],
    ids=lambda transformer: repr(transformer)[:50],
)
def test_what_cannot_learn_is_refused_by_name(transformer) -> None:
    model = StreamPipeline([("first", transformer), ("sgd", LOGISTIC)])
    advised = r"StandardScaler.*Polynomial|preprocessing\.Stream(Imputer|OneHotE|OrdinalE)"
    with pytest.raises(TypeError, match=rf"cannot be trained row by row.*({advised})") as e:
        model.partial_fit(np.ones((2, 2)), [0, 1], classes=[0, 1])
    assert "Step 'first" in str(e.value) or "Step 'pca'" in str(e.value)
    assert not hasattr(model, "pipeline_")


def test_fitted_and_frozen_transformers_pass(rng: np.random.Generator) -> None:
    X, y = rng.random((20, 3)), np.arange(20) % 2
    pca = PCA(2).fit(X)
    expected = clone(LOGISTIC)
    expected.partial_fit(pca.transform(X), y, classes=[0, 1])
    for step in (pca, FrozenEstimator(pca)):
        model = make_stream_pipeline(step, LOGISTIC).partial_fit(X, y, classes=[0, 1])
        np.testing.assert_array_equal(model[-1].coef_, expected.coef_)
    frozen = make_stream_pipeline(FrozenEstimator(pca), LOGISTIC)
    np.testing.assert_array_equal(clone(frozen).fit(X, y)[-1].coef_, expected.coef_)
    # A frozen scaler shows its partial_fit, and must not be taught by it.
    scaler = StandardScaler().fit(X)
    model = make_stream_pipeline(FrozenEstimator(scaler), LOGISTIC).fit(X + 1, y)
    np.testing.assert_array_equal(scaler.mean_, X.mean(axis=0))
    assert model[0].estimator is scaler


class TestColumns:
    """scikit-learn's ColumnTransformer as a step."""

    @staticmethod
    def frame(n: int = 30) -> Any:
        pd = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        days = rng.choice(["tu", "mo", "we"], n)
        return pd.DataFrame(
            {
                "price": rng.normal(10.0, 3.0, n),
                "day": pd.Categorical(days, categories=["tu", "mo", "we", "th"]),
                "load": rng.random(n),
            }
        )

    @pytest.mark.parametrize("bounds", [[0, 30], [0, 1, 2, 3, 30], list(range(31))])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_parts_are_taught_their_columns(self, bounds, weighted, rng):
        X, y = rng.random((30, 4)), rng.integers(0, 2, 30)
        weight = rng.integers(1, 3, 30).astype(float) if weighted else None
        columns = make_column_transformer(
            (StandardScaler(), [2, 0]), ("drop", [3]), (Normalizer(), []), remainder=MinMaxScaler()
        )
        model = make_stream_pipeline(columns, LOGISTIC)
        for begin, end in itertools.pairwise(bounds):
            w = None if weight is None else weight[begin:end]
            model.partial_fit(X[begin:end], y[begin:end], classes=[0, 1], sample_weight=w)
        scaler, minmax = StandardScaler(), MinMaxScaler()
        for begin, end in itertools.pairwise(bounds):
            w = None if weight is None else weight[begin:end]
            scaler.partial_fit(X[begin:end][:, [2, 0]], sample_weight=w)
            minmax.partial_fit(X[begin:end][:, [1]])
        expected = np.hstack([scaler.transform(X[:, [2, 0]]), minmax.transform(X[:, [1]])])
        np.testing.assert_array_equal(model[0].transform(X), expected)

    def test_mixed_frames_work_out_of_the_box(self) -> None:
        X, y = self.frame(), np.arange(30) % 2
        columns = make_column_transformer(
            (OneHotEncoder(), make_column_selector(dtype_include="category")),
            (StandardScaler(), make_column_selector(dtype_include="number")),
        )
        model = make_stream_pipeline(columns, LOGISTIC)
        for row in range(30):
            model.partial_fit(X.iloc[[row]], y[[row]], classes=[0, 1])
        names = model[:-1].get_feature_names_out().tolist()
        days = [f"onehotencoder__day_{day}" for day in ("tu", "mo", "we", "th")]
        assert names == [*days, "standardscaler__price", "standardscaler__load"]
        out = model[:-1].transform(X)
        out = out.toarray() if sparse.issparse(out) else out
        np.testing.assert_allclose(out[:, 4:].mean(axis=0), 0.0, atol=1e-9)
        assert model.feature_names_in_.tolist() == ["price", "day", "load"]
        assert model.n_features_in_ == 3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert model.predict(X).shape == (30,)

    def test_polars(self, pl: Any) -> None:
        X = pl.DataFrame({"price": [1.0, 2.0, 4.0], "day": ["mo", "tu", "mo"]}).with_columns(
            pl.col("day").cast(pl.Enum(["mo", "tu", "we"]))
        )
        columns = make_column_transformer((OneHotEncoder(), ["day"]), (StandardScaler(), ["price"]))
        model = make_stream_pipeline(columns, LOGISTIC)
        model.partial_fit(X[:1], [0], classes=[0, 1]).partial_fit(X[1:], [1, 0])
        assert model[:-1].transform(X).shape == (3, 4)

    def test_columns_may_not_change_places_while_learning(self) -> None:
        class Careless(StandardScaler):
            """A part that does not look at names."""

            def partial_fit(self, X, y=None, sample_weight=None):
                return super().partial_fit(np.asarray(X), y, sample_weight)

        X = self.frame()[["price", "load"]]
        columns = make_column_transformer((Careless(), [0]))
        model = make_stream_pipeline(columns, LOGISTIC)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(X, np.arange(30) % 2)
        with pytest.raises(ValueError, match="feature names should match"):
            model.partial_fit(X[["load", "price"]], np.arange(30) % 2)


class TestWeights:
    X = np.array([[0.0], [1.0], [5.0]])
    y = (0, 1, 1)

    def test_routing(self) -> None:
        weight = np.array([1.0, 2.0, 3.0])
        with sklearn.config_context(enable_metadata_routing=True):
            unset = make_stream_pipeline(StandardScaler(), LOGISTIC)
            with pytest.raises(UnsetMetadataPassedError):
                unset.partial_fit(self.X, self.y, classes=[0, 1], sample_weight=weight)
            for asked in (True, False):
                model = make_stream_pipeline(
                    StandardScaler().set_partial_fit_request(sample_weight=asked),
                    clone(LOGISTIC).set_partial_fit_request(sample_weight=not asked),
                )
                model.fit(self.X, self.y, sample_weight=weight)
                assert model[0].n_samples_seen_ == (6.0 if asked else 3)
            inner = clone(LOGISTIC).set_partial_fit_request(sample_weight=True)
            scaler = StandardScaler().set_partial_fit_request(sample_weight=True)
            columns = make_column_transformer((scaler, [0]))
            nested = make_stream_pipeline(
                columns, make_stream_pipeline(MinMaxScaler(), TemporalCorrection(inner))
            )
            nested.fit(self.X, self.y, sample_weight=weight)
            assert nested[0].transformers_[0][1].n_samples_seen_ == 6.0
            silent = make_stream_pipeline(make_column_transformer((StandardScaler(), [0])), inner)
            silent.fit(self.X, self.y, sample_weight=weight)
            assert silent[0].transformers_[0][1].n_samples_seen_ == 3
            frozen = FrozenEstimator(StandardScaler().fit(self.X))
            make_stream_pipeline(frozen, inner).fit(self.X, self.y, sample_weight=weight)
            assert frozen.estimator.n_samples_seen_ == 3
            assert nested[1][1].class_counts_.sum() == 6.0
            search = GridSearchCV(
                make_stream_pipeline(scaler, inner.set_score_request(sample_weight=True)),
                {"sgdclassifier__alpha": [1e-4, 1e-3]},
                cv=2,
            )
            X, y = np.random.default_rng(0).random((20, 1)), np.arange(20) % 2
            search.fit(X, y, sample_weight=np.full(20, 2.0))
            assert search.best_estimator_[0].n_samples_seen_ == 40.0


class TestAsAPipeline:
    X = np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 1.0]])
    y = ("a", "b", "a")

    def fitted(self) -> StreamPipeline:
        return make_stream_pipeline(StandardScaler(), MinMaxScaler(), LOGISTIC).fit(self.X, self.y)

    def test_indexing(self) -> None:
        model = self.fitted()
        assert model[0] is model["standardscaler"] is model.named_steps.standardscaler
        part = model[:-1]
        assert isinstance(part, StreamPipeline) and part[0] is model[0]
        np.testing.assert_array_equal(
            part.transform(self.X), model[1].transform(model[0].transform(self.X))
        )
        part.partial_fit(self.X)
        assert model[0].n_samples_seen_ == 6
        with pytest.raises(ValueError, match="step of 1"):
            model[::2]
        unfitted = clone(model)
        assert not hasattr(unfitted[:2], "pipeline_")
        assert unfitted[-1] is unfitted.steps[-1][1]

    @pytest.mark.parametrize("container", ["pandas", "polars"])
    def test_set_output(self, container) -> None:
        frames = pytest.importorskip(container)
        X = frames.DataFrame({"x": [0.0, 1.0], "z": [1.0, 5.0]})
        model = make_stream_pipeline(StandardScaler(), MinMaxScaler()).set_output(
            transform=container
        )
        assert model.partial_fit(X).transform(X).columns.__len__() == 2
        assert isinstance(model.transform(X), frames.DataFrame)
        assert model.get_feature_names_out().tolist() == ["x", "z"]
        model.set_output(transform="default")
        assert isinstance(model[0].transform(X), np.ndarray)
        assert isinstance(model.fit(X).transform(X), np.ndarray)

    def test_diagram(self) -> None:
        for model in (clone(self.fitted()), self.fitted()):
            html = model._repr_html_()
            assert "StandardScaler" in html and "SGDClassifier" in html

    def test_transformers_only(self) -> None:
        model = make_stream_pipeline(MinMaxScaler(), StandardScaler())
        assert not hasattr(model, "predict")
        out = model.fit_transform(self.X)
        np.testing.assert_allclose(model.inverse_transform(out), self.X, atol=1e-12)
        kept = make_stream_pipeline(MinMaxScaler(), "passthrough").fit(self.X)
        np.testing.assert_array_equal(kept.transform(self.X).max(axis=0), [1.0, 1.0])
        assert not hasattr(make_stream_pipeline(Normalizer(), LOGISTIC), "inverse_transform")
        assert not hasattr(make_stream_pipeline(Normalizer(), LOGISTIC), "transform")

    def test_other_last_steps(self) -> None:
        X = np.random.default_rng(0).random((20, 2))
        clusters = make_stream_pipeline(
            StandardScaler(), MiniBatchKMeans(n_clusters=2, n_init=1, random_state=0)
        )
        assert set(clusters.fit_predict(X)) == {0, 1}
        assert clusters.transform(X).shape == (20, 2)
        reduced = make_stream_pipeline(StandardScaler(), IncrementalPCA(1), SGDRegressor())
        reduced.partial_fit(X, X[:, 0]).partial_fit(X, X[:, 0])
        assert reduced.predict(X).shape == (20,)
        assert not hasattr(reduced, "classes_")


class TestBadInput:
    def test_unfitted(self) -> None:
        with pytest.raises(NotFittedError):
            make_stream_pipeline(StandardScaler(), LOGISTIC).predict([[0.0]])
        with pytest.raises(AttributeError):
            _ = make_stream_pipeline(StandardScaler(), LOGISTIC).n_features_in_

    @pytest.mark.parametrize("steps", [[], [("a", LOGISTIC), ("a", LOGISTIC)], "abc", None])
    def test_steps(self, steps) -> None:
        with pytest.raises((ValueError, TypeError)):
            StreamPipeline(steps).fit([[0.0], [1.0]], [0, 1])

    def test_widths(self) -> None:
        model = make_stream_pipeline(StandardScaler(), LOGISTIC).fit([[0.0], [1.0]], [0, 1])
        with pytest.raises(ValueError, match="X has 2 features, but StandardScaler is expecting 1"):
            model.partial_fit([[0.0, 1.0]], [0])
        with pytest.raises(ValueError, match="X has 2 features, but StandardScaler is expecting 1"):
            model.predict([[0.0, 1.0]])


# -- what stream pipelines promise: names, failures, tags, parameters set after rows were learnt


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0, "up", "down")
SGD = SGDClassifier(loss="log_loss", random_state=0)


class Fragile(TransformerMixin, BaseEstimator):
    """A transformer that remembers in every kind of attribute, and fails at will."""

    def __init__(self, fails_in=None):
        self.fails_in = fails_in

    def partial_fit(self, X, y):
        if not hasattr(self, "sums_"):
            self.sums_, self.seen_, self.by_name_ = np.zeros(X.shape[1]), [], {"n": 0}
            self.newest_, self.kinds_, self.draws_ = (
                deque(maxlen=7),
                set(),
                np.random.RandomState(0),
            )
            self.same_ = self.sums_[1:]
            self.inner_ = StandardScaler()
        self.sums_ += X.sum(axis=0)  # in place
        self.seen_.append(len(X))
        self.newest_.extend(X)
        self.kinds_.add(len(X))
        self.draws_.random_sample()
        self.by_name_["n"] += len(X)
        self.inner_.partial_fit(X)
        if self.fails_in == "partial_fit" and "boom" in y:
            raise ArithmeticError("boom")
        return self

    def transform(self, X):
        if self.fails_in == "transform" and (X > 100).any():
            raise ArithmeticError("too large")
        return X


class NoFit(ClassifierMixin, BaseEstimator):
    """A model that learns by ``partial_fit`` alone."""

    def partial_fit(self, X, y, classes=None):
        if "boom" in y:
            raise ArithmeticError("boom")
        if classes is not None:
            self.classes_ = np.asarray(classes)
        self.last_ = y[-1]
        return self

    def predict(self, X):
        return np.full(len(X), self.last_)


BAD_NAMES = {
    "repeated": ([("a", StandardScaler()), ("a", SGD)], "not unique.*Give another name"),
    "double underscore": ([("a__b", StandardScaler()), ("c", SGD)], "'a__b' holds '__'"),
    "reserved": ([("steps", StandardScaler()), ("c", SGD)], "'steps' is a parameter of the pipe"),
    "nested": (
        [("a", StreamPipeline([("b", StandardScaler()), ("b", MinMaxScaler())])), ("c", SGD)],
        "not unique",
    ),
}


@pytest.mark.parametrize("case", BAD_NAMES)
@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_names_that_cannot_tell_steps_apart_are_refused_on_every_path(case, engine) -> None:
    steps, message = BAD_NAMES[case]
    model = StreamPipeline(steps)
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        clone(model).partial_fit(X, Y, classes=["down", "up"])
    with pytest.raises(ModelError, match=message):
        PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto")).evaluate(
            model, X, Y
        )


@pytest.mark.parametrize("steps", [[("a", StandardScaler), ("b", SGD)], [("a", SGDClassifier)]])
def test_classes_are_no_steps(steps) -> None:
    with pytest.raises(TypeError, match=r"Step 'a' is the class .*, not an instance; pass S"):
        StreamPipeline(steps).fit(X, Y)


def assert_same(one, other) -> None:
    """Compare to any depth, layouts of arrays included, but not which parts share objects."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype and one.strides == other.strides
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, list | tuple | deque):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, dict | BaseEstimator):
        one, other = (v if isinstance(v, dict) else vars(v) for v in (one, other))
        assert list(one) == list(other)
        for name, value in one.items():
            assert_same(value, other[name])
    else:
        assert joblib.hash(one) == joblib.hash(other)


CLASSES = ["boom", "down", "up"]
FAILING = {
    "last": [Fragile(), StandardScaler(), IncrementalPCA(2), MinMaxScaler(), NoFit()],
    "middle": [StandardScaler(), Fragile(), Fragile("partial_fit"), SGD],
    "transform": [Fragile("transform"), StandardScaler(), NoFit()],
    "columns": [make_column_transformer((StandardScaler(), [0]), (Fragile(), [1, 2])), NoFit()],
    "nested": [make_stream_pipeline(Fragile(), StandardScaler()), NoFit()],
    "selection": [
        SelectFromModel(SGD, threshold=-np.inf),
        MiniBatchKMeans(2, random_state=0),
        NoFit(),
    ],
}


@pytest.mark.parametrize("case", FAILING)
def test_a_failed_lesson_leaves_the_steps_before_it_as_they_were(case) -> None:
    model, twin = make_stream_pipeline(*FAILING[case]), make_stream_pipeline(*FAILING[case])
    for pipeline in (model, twin):
        pipeline.partial_fit(X[:20], Y[:20], classes=CLASSES)
    first = model[0]
    with pytest.raises(ArithmeticError):
        model.partial_fit(X[20:30] + 200.0, ["boom"] * 10)
    for number, (one, other) in enumerate(zip(model.pipeline_, twin.pipeline_, strict=True)):
        # The failing step answers for itself.
        if (case, number) != ("middle", 2):
            assert_same(one, other)
    assert model[0] is first
    if case == "last":
        assert np.shares_memory(model[0].same_, model[0].sums_)
    if case != "middle":
        for pipeline in (model, twin):
            pipeline.partial_fit(X[30:], Y[30:])
        np.testing.assert_array_equal(model.predict(X), twin.predict(X))


def test_what_cannot_be_copied_does_not_stop_a_pipeline() -> None:
    step = Fragile()
    model = make_stream_pipeline(step, NoFit()).partial_fit(X, Y, classes=CLASSES)
    model[0].lock_ = threading.Lock()
    with pytest.raises(ArithmeticError):
        model.partial_fit(X, ["boom"] * 60)
    assert model[0].seen_ == [60]
    assert model[0].lock_.acquire(blocking=False)


@pytest.mark.parametrize("last", [SGD, SGDRegressor(), MiniBatchKMeans(), GaussianNB(), NoFit()])
def test_tags_follow_the_last_step(last) -> None:
    ours, its = get_tags(make_stream_pipeline(StandardScaler(), last)), get_tags(last)
    for name in ("estimator_type", "target_tags", "classifier_tags", "regressor_tags"):
        assert getattr(ours, name) == getattr(its, name), name
    assert ours.transformer_tags == its.transformer_tags
    assert get_tags(make_stream_pipeline(SGDRegressor())).target_tags.required
    tags = get_tags(make_stream_pipeline(last, "passthrough"))
    assert tags.estimator_type is None


def test_select_from_model_gets_the_classes() -> None:
    steps = [SelectFromModel(SGD, threshold=-np.inf, max_features=2), SGD]
    selector, sgd = clone(steps[0]), clone(SGD)
    expected = []
    for row in range(60):
        if row:
            expected.append(sgd.predict(selector.transform(X[[row]]))[0])
        known = {} if row else {"classes": ["down", "up"]}
        selector.partial_fit(X[[row]], Y[[row]], **known)
        sgd.partial_fit(selector.transform(X[[row]]), Y[[row]], classes=["down", "up"])
    for model in (
        make_stream_pipeline(*steps),
        make_stream_pipeline(make_column_transformer((steps[0], [0, 1, 2])), SGD),
        make_stream_pipeline(make_column_transformer(("drop", []), remainder=steps[0]), SGD),
        make_stream_pipeline(make_stream_pipeline(steps[0]), SGD),
    ):
        result = PrequentialEvaluator("accuracy", random_state=0).evaluate(model, X, Y)
        assert result.scores["StreamPipeline"]["accuracy"] == np.mean(expected == Y[1:])
    model = make_stream_pipeline(SelectFromModel(SGDRegressor(random_state=0)), SGDRegressor())
    model.partial_fit(X, X[:, 0])  # no classes for regressors


class TestSetParams:
    """Parameters set once rows have been learnt."""

    def test_they_reach_fitted_steps(self) -> None:
        columns = make_column_transformer((StandardScaler(), [0]), remainder=MinMaxScaler())
        model = make_stream_pipeline(columns, TemporalCorrection(clone(SGD))).fit(X, Y)
        model.set_params(
            temporalcorrection__estimator__alpha=0.5,
            temporalcorrection__smoothing=3.0,
            columntransformer__standardscaler__with_mean=False,
            columntransformer__remainder__clip=True,
        )
        assert model[1].estimator_.alpha == model.steps[1][1].estimator.alpha == 0.5
        assert model[1].smoothing == 3.0
        parts = model[0].named_transformers_
        assert not parts["standardscaler"].with_mean and parts["remainder"].clip
        assert model.get_params()["temporalcorrection__estimator__alpha"] == 0.5

    @pytest.mark.parametrize("name", ["standardscaler", "steps"])
    def test_replaced_steps_wait_for_fit(self, name) -> None:
        model = make_stream_pipeline(StandardScaler(), clone(SGD)).fit(X, Y)
        new = MinMaxScaler() if name != "steps" else [("min", MinMaxScaler()), ("sgd", SGD)]
        model.set_params(**{name: new})
        with pytest.raises(ValueError, match=f"'{name}' was set after training.* Call fit, "):
            model.partial_fit(X, Y)
        for engine in ("auto", "loop"):
            evaluator = PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto"))
            with pytest.raises(ModelError, match="was set after training"):
                evaluator.evaluate(model, X, Y, warm_start=True)
        assert isinstance(model.fit(X, Y)[0], MinMaxScaler)
        model.partial_fit(X, Y)

    def test_unknown_names_change_nothing(self) -> None:
        model = make_stream_pipeline(StandardScaler(), clone(SGD)).fit(X, Y)
        before = joblib.hash(model)
        with pytest.raises(ValueError, match="Invalid parameter"):
            model.set_params(sgdclassifier__alhpa=1.0)
        assert joblib.hash(model) == before


META = {
    "pipeline": make_stream_pipeline(StandardScaler(), SGD),
    "correction": TemporalCorrection(SGD),
    "augmented": TemporallyAugmented(SGD),
    "noise": LabelNoise(SGD, random_state=0),
    "reset": DriftReset(SGD),
    "bag": OnlineBagging(SGD, 2, random_state=0),
    "majority": DynamicWeightedMajority(SGD, period=5, random_state=0),
    "without weights": make_stream_pipeline(StandardScaler(), NoFit()),
}


@pytest.mark.parametrize(
    ("name", "engine"),
    [*((name, "auto") for name in META), ("pipeline", "loop"), ("without weights", "loop")],
)
def test_folds_need_no_requests_when_metadata_is_routed(name, engine) -> None:
    evaluator = KFoldEvaluator(
        "accuracy", n_folds=2, random_state=0, run=RunOptions(kernels=engine == "auto")
    )
    plain = evaluator.evaluate(META[name], X, Y)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = evaluator.evaluate(META[name], X, Y)
        with pytest.raises(ModelError, match="not explicitly set as requested"):
            evaluator.evaluate(META["correction"], X, Y, sample_weight=np.full(60, 2.0))
    assert routed.scores == plain.scores


def test_errors_of_routing_name_the_pipeline_of_the_user() -> None:
    pipeline = make_stream_pipeline(StandardScaler(), SGD).fit(X, Y)
    with sklearn.config_context(enable_metadata_routing=True):
        for call in (
            lambda: pipeline.predict(X, foo=1),
            lambda: pipeline.score(X, Y, sample_weight=np.ones(len(Y))),
        ):
            with pytest.raises((TypeError, ValueError)) as caught:
                call()
            assert "FittedPipeline" not in str(caught.value)
    assert "FittedPipeline" not in repr(pipeline.pipeline_)
    assert pickle.loads(pickle.dumps(pipeline)).predict(X).tolist() == pipeline.predict(X).tolist()


@pytest.mark.filterwarnings("ignore:With joblib's backend 'multiprocessing':UserWarning")
@pytest.mark.parametrize("backend", ["multiprocessing", "threading"])
def test_backends_of_joblib_work(backend) -> None:
    models = {"sgd": SGD, "majority": MajorityClass()}
    alone = PrequentialEvaluator("accuracy").evaluate(models, X, Y).scores
    with joblib.parallel_config(backend, n_jobs=2):
        evaluator = PrequentialEvaluator("accuracy", n_jobs=2)
        assert evaluator.evaluate(models, X, Y).scores == alone
