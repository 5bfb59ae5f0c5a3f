"""Models executed together share work in which they are alike: each gives what it gives alone."""

import itertools
import pickle
from collections import Counter
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    StandardScaler,
)

import skstream.core.engine.block as sharing
from skstream import KFoldEvaluator, PrequentialEvaluator
from skstream.core.engine.answers import ModelError
from skstream.core.engine.run import Engine, ModelRun
from skstream.core.timelines.timeline import Arrivals, PrequentialTimeline
from skstream.kernels import Task, registered_kernels
from skstream.kernels.linear.kernel import LinearClassifierKernel
from skstream.kernels.transformers.scalers import StandardScalerKernel
from skstream.pipeline import make_stream_pipeline
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from tests._examples import examples
from tests.kernels._reference import assert_same_state

N = 40


class Fails(ClassifierMixin, BaseEstimator):
    """Has no kernel, and fails when it has learnt so many rows."""

    def __init__(self, at=20, on="learning"):
        self.at = at
        self.on = on

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.array([0, 1])
        self.n_learnt_ = getattr(self, "n_learnt_", 0) + 1
        if self.on == "learning" and self.n_learnt_ > self.at:
            raise RuntimeError("out of paper")
        self.sum_ = getattr(self, "sum_", 0.0) + X.sum()
        return self

    def predict(self, X):
        if self.on == "asking" and self.n_learnt_ == self.at:
            raise RuntimeError("out of ink")
        return np.full(len(X), int(self.sum_ > X.sum()))


def sgd(alpha=1e-3, **parameters):
    return SGDClassifier("log_loss", alpha=alpha, random_state=0, **parameters)


PREPROCESSING = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    MinMaxScaler(clip=True),
    MaxAbsScaler(),
    FunctionTransformer(np.abs),
    PolynomialFeatures(2),
    ColumnTransformer([("scaled", StandardScaler(), [0]), ("as is", "passthrough", [1])]),
    make_stream_pipeline(StandardScaler(), FunctionTransformer(np.abs)),
]
MODELS = [
    sgd(),
    sgd(1e-2, learning_rate="invscaling", eta0=0.1),
    GaussianNB(),
    TemporalCorrection(sgd(), fading_factor=0.9),
    TemporalCorrection(sgd(1e-2), fading_factor=0.9, smoothing=0.5),
    TemporalCorrection(make_stream_pipeline(StandardScaler(), sgd())),
    TemporallyAugmented(make_stream_pipeline(StandardScaler(), sgd()), n_lags=2),
    Fails(20),
    Fails(21, on="asking"),
]


def rows(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, 2)).round(1), rng.integers(0, 2, size=N)


def engine_of(models, timelines):
    task = Task(np.array([0, 1]))
    return Engine([ModelRun("model", 0, clone(model), task) for model in models], timelines)


def run(engine, cuts, weight, saved_at=()):
    """Answers, failures, paths and estimators of every lane."""
    X, y = rows()
    answers: list[list[Any]] = [[] for _ in engine.models]
    for first, last in itertools.pairwise([0, *cuts, N]):
        if first in saved_at:
            engine = pickle.loads(pickle.dumps(engine))
        its = None if weight is None else weight[first:last]
        arrivals = Arrivals(first, np.ones(last - first, dtype=bool), its)
        step = engine.execute(arrivals, X[first:last], y[first:last])
        engine.commit(step)
        for mine, one in zip(answers, step.answered, strict=True):
            mine.append(one.answers)
    return [
        (
            np.concatenate(mine),
            str(model.failure),
            model.by_kernel.path(),
            deepcopy(model.estimator()),
        )
        for mine, model in zip(answers, engine.models, strict=True)
    ]


def assert_as_alone(models, warm_up, cuts, weight, saved_at):
    timelines = [PrequentialTimeline(n) for n in (1, 3)]
    its = [timelines[n] for n in warm_up]
    together = run(engine_of(models, its), cuts, weight, saved_at)
    for model, timeline, found in zip(models, its, together, strict=True):
        (expected,) = run(engine_of([model], [timeline]), cuts, weight)
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1:3] == expected[1:3]
        assert_same_state(found[3], expected[3])


@st.composite
def candidates(draw):
    n = draw(st.integers(2, 6))
    steps = [draw(st.lists(st.sampled_from(PREPROCESSING), max_size=2)) for _ in range(2)]
    pipelines = []
    for _ in range(n):
        own = [*draw(st.sampled_from(steps)), draw(st.sampled_from(MODELS))]
        pipelines.append(make_stream_pipeline(*map(clone, own)))
    return pipelines, draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))


weights = st.sampled_from([None, "whole", "fractional"])


def weight_of(kind):
    """Learning weights; of fractional ones some kernels decline every block, or one of them."""
    if kind is None:
        return None
    weight = np.random.default_rng(1).integers(1, 4, size=N).astype(float)
    if kind == "fractional":
        weight[25] = 0.5
    return weight


@examples(20)
@given(candidates(), st.sets(st.integers(1, N - 1), max_size=4), weights, st.data())
def test_models_together_are_models_alone(candidates, cuts, kind, data):
    cuts = sorted(cuts)
    saved_at = data.draw(st.sets(st.sampled_from(cuts), max_size=2)) if cuts else ()
    assert_as_alone(*candidates, cuts, weight_of(kind), saved_at)


ALIKE = [make_stream_pipeline(StandardScaler(), sgd(alpha)) for alpha in (1e-4, 1e-3, 1e-2)]
UNLIKE = [
    make_stream_pipeline(StandardScaler(), sgd()),
    make_stream_pipeline(StandardScaler(with_mean=False), sgd()),
    make_stream_pipeline(make_stream_pipeline(MaxAbsScaler(), StandardScaler()), sgd()),
]


def test_the_law_notices_what_is_shared_wrongly(monkeypatch):
    monkeypatch.setattr("skstream.core.engine.kernel.key_of", lambda *parts: b"")
    with pytest.raises((AssertionError, ModelError)):
        assert_as_alone(UNLIKE, [0] * 3, [20], None, ())


def test_what_is_made_hangs_on_key_objects_and_state():
    work, block, other = sharing.SharedWork(), object(), object()
    calls = [("a", block, 0), ("b", block, 0), ("a", other, 0), ("a", block, 1)]
    made = [work.once(key, (of,), state, object) for key, of, state in calls]
    again = [work.once(key, (of,), np.int64(state), object) for key, of, state in calls]
    assert len(set(made)) == 4 and not set(made) & set(again)  # an int is no int64
    assert [work.once(key, (of,), state, object) for key, of, state in calls] == made


@pytest.fixture
def n_blocks(monkeypatch):
    """Blocks that were executed, by kernel."""
    counts: Counter[type] = Counter()

    def count(kernel, step):
        def counting(self, state, block):
            counts[kernel] += 1
            return step(self, state, block)

        monkeypatch.setattr(kernel, "step", counting)

    for kernel in (StandardScalerKernel, LinearClassifierKernel):
        count(kernel, kernel.step)
    return counts


@pytest.mark.parametrize(
    ("kind", "saved_at", "expected"), [(None, (), 4), (None, (10, 30), 4), ("fractional", (), 6)]
)
def test_a_shared_step_is_executed_once_per_block(n_blocks, kind, saved_at, expected):
    # A block that is declined is looked at by every model; after it the sum of weights is no whole
    # number, and the kernel is not tried again.
    models = [*ALIKE, TemporalCorrection(ALIKE[0])]
    run(engine_of(models, [PrequentialTimeline()] * 4), [5, 10, 30], weight_of(kind), saved_at)
    assert n_blocks[StandardScalerKernel] == expected


def test_an_inner_model_is_executed_once_for_all_that_correct_its_answers(n_blocks):
    inner = [sgd().set_params(random_state=seed) for seed in (1, 2)]
    models = [TemporalCorrection(one, fading_factor=f) for one in inner for f in (0.9, 0.99, 1.0)]
    inner = [make_stream_pipeline(StandardScaler(), one) for one in inner]
    models += [TemporallyAugmented(one, n_lags=n) for one in inner for n in (1, 2)]
    run(engine_of(models, [PrequentialTimeline()] * 10), [5, 10, 30], None)
    assert n_blocks == {LinearClassifierKernel: 3 * 4, StandardScalerKernel: 2 * 4}


def parts_of(value):
    """Arrays and estimators in an estimator, to any depth."""
    if isinstance(value, BaseEstimator):
        yield value
        value = vars(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from parts_of(one)
    elif isinstance(value, np.ndarray):
        yield value


@pytest.mark.parametrize("step", PREPROCESSING, ids=repr)
def test_every_model_has_its_own_fitted_steps(step):
    models = [make_stream_pipeline(step, sgd(alpha)) for alpha in (1e-4, 1e-3)]
    engine = engine_of(models, [PrequentialTimeline()] * 2)
    run(engine, [10], None)
    parts = [list(parts_of(model.estimator())) for model in engine.models]
    one, other = ({id(part) for part in its} for its in parts)
    assert len(one) > 3 and not one & other


def test_folds_and_weights_and_routing():
    X, y = (values[:12] for values in rows())
    models = dict(zip("ab", ALIKE, strict=False))
    weight = weight_of("whole")[:12]
    for evaluator in (
        KFoldEvaluator("accuracy", n_folds=3, random_state=0),
        PrequentialEvaluator("accuracy", random_state=0),
    ):
        for routing in (False, True):
            with config_context(enable_metadata_routing=routing):
                if routing:
                    for model in ALIKE:
                        for step in model[:]:
                            step.set_partial_fit_request(sample_weight=True)
                together = evaluator.evaluate(
                    models, X, y, sample_weight=weight, return_models=True
                )
                for name, model in models.items():
                    alone = evaluator.evaluate(
                        {name: model}, X, y, sample_weight=weight, return_models=True
                    )
                    assert together.scores[name] == alone.scores[name]
                    assert_same_state(together.models[name], alone.models[name])


def test_little_is_kept_of_what_one_model_wants_and_nothing_after_an_event(monkeypatch):
    models = [make_stream_pipeline(MinMaxScaler((0, k)), GaussianNB()) for k in (1, 2, 3)]
    kept = []
    clear = sharing.SharedWork.clear

    def noting(self):
        kept.append(self._n_bytes)
        clear(self)
        assert not self._kept

    monkeypatch.setattr(sharing.SharedWork, "clear", noting)
    run(engine_of(models, [PrequentialTimeline()] * 3), [10, 30], None)
    assert kept[0] > 0 and not any(kept[1:])
    kept.clear()
    monkeypatch.setattr(sharing, "_MOST_BYTES", 100)
    run(engine_of(ALIKE, [PrequentialTimeline()] * 3), [10, 30], None)
    assert max(kept) <= 100


class Unpicklable(TransformerMixin, BaseEstimator):
    def __reduce__(self):
        raise TypeError("not to be pickled")


def test_what_cannot_be_compared_is_not_shared():
    assert sharing.key_of(Unpicklable()) is None
    assert not sharing._are_alike(Unpicklable(), Unpicklable())


def test_kernels_say_whether_their_states_can_be_shared():
    # Parts of pipelines and wrappers are shared one by one; the baselines cost next to nothing.
    # Benchmarks register kernels of their own, too.
    ours = [one for one in registered_kernels().values() if one.__module__.startswith("skstream.")]
    alone = {kernel.__name__ for kernel in ours if not kernel.shareable}
    assert alone == {
        "PerceptronClassifierKernel",  # its states refer to an estimator
        *("BayesOptimalKernel", "DriftResetKernel", "DynamicWeightedMajorityKernel"),
        *("LabelNoiseKernel", "MajorityClassKernel", "MajorityWindowKernel"),
        *("MeanRegressorKernel", "OneVsRestKernel", "OnlineBaggingKernel"),
        *("PerceptronRegressorKernel", "PeriodicRefitKernel", "PersistentKernel"),
        *("PersistentRegressorKernel", "PrequentialCalibratorKernel", "RandomClassKernel"),
        *("RiverKernel", "TemporalCorrectionKernel", "TemporallyAugmentedKernel"),
        "TransformerPipelineKernel",
    }
