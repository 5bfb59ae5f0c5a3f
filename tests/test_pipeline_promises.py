"""What stream pipelines promise: names, failures, tags, parameters set after rows were learnt."""

import pickle
import threading
from collections import deque

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.compose import make_column_transformer
from sklearn.decomposition import IncrementalPCA
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import get_tags

from skstream import KFoldEvaluator, ModelError, PrequentialEvaluator, RunOptions
from skstream.adaptive import DriftReset
from skstream.baselines import MajorityClass
from skstream.ensemble import DynamicWeightedMajority, OnlineBagging
from skstream.noise import LabelNoise
from skstream.pipeline import StreamPipeline, make_stream_pipeline
from skstream.temporal import TemporalCorrection, TemporallyAugmented

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

    def test_what_is_learnt_afterwards_follows_them(self) -> None:
        model = make_stream_pipeline(StandardScaler(), clone(SGD)).fit(X[:30], Y[:30])
        sgd = clone(SGD).partial_fit(StandardScaler().fit_transform(X[:30]), Y[:30], ["down", "up"])
        np.testing.assert_array_equal(model[1].coef_, sgd.coef_)
        model.set_params(sgdclassifier__alpha=10.0).partial_fit(X[30:], Y[30:])
        sgd.set_params(alpha=10.0).partial_fit(model[0].transform(X[30:]), Y[30:])
        np.testing.assert_array_equal(model[1].coef_, sgd.coef_)

    @pytest.mark.parametrize("name", ["standardscaler", "steps"])
    def test_replaced_steps_wait_for_fit(self, name) -> None:
        model = make_stream_pipeline(StandardScaler(), clone(SGD)).fit(X, Y)
        new = MinMaxScaler() if name != "steps" else [("min", MinMaxScaler()), ("sgd", SGD)]
        model.set_params(**{name: new})
        with pytest.raises(ValueError, match=f"'{name}' was set after rows .* Call fit, "):
            model.partial_fit(X, Y)
        for engine in ("auto", "loop"):
            evaluator = PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto"))
            with pytest.raises(ModelError, match="was set after rows"):
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


@pytest.mark.parametrize("name", META)
@pytest.mark.parametrize("engine", ["auto", "loop"])
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
