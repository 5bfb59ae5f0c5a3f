"""Groups of models and folds: as many as workers at most, and none where none pays."""

import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from joblib import parallel_config
from numpy.exceptions import ComplexWarning, VisibleDeprecationWarning
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.core.evaluators import execution as _execution
from skstream.core.evaluators.execution import divided
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import make_demo_stream
from skstream.tree import AdaptiveRandomForestClassifier
from tests.evaluation._models import Diary, numbered_rows
from tests.evaluation.conftest import why_one_process

X, y = numbered_rows(200), np.tile(["a", "b", "b", "a"], 50)


def why(models, n_rows, *, folds=1, backend="loky"):
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=folds)
    stream = make_demo_stream(20)
    settings, prepared = evaluator._prepare(models, ["DOWN", "UP"], stream)
    stream.n_rows  # noqa: B018
    with pytest.MonkeyPatch.context() as patch, parallel_config(backend=backend):
        patch.setattr(_execution, "ROWS_WORTH_WORKERS", 10_000_000)
        patch.setattr(type(stream), "n_rows", property(lambda _: n_rows))
        return why_one_process(2, evaluator._new_run(settings, stream), prepared, stream)


def test_a_plain_rule_says_where_workers_pay():
    kernels = {"sgd": SGDClassifier(), "last": sk.Persistent(), "most": sk.MajorityClass()}
    assert why(kernels, 60_000, folds=10) == "so few rows do not pay for workers"
    assert not why(kernels, 400_000, folds=10)
    assert why({"diary": Diary(), "other": Diary()}, 5_000)
    assert not why({"diary": Diary(), "other": Diary()}, 20_000)
    forest = {"forest": AdaptiveRandomForestClassifier(), "last": sk.Persistent()}
    assert why(forest, 20_000)
    assert not why(forest, 250_000)
    assert not why(kernels, None)  # nobody knows


def test_threads_are_not_used_for_kernels_alone():
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    said = "threads would only take turns, as all models have kernels"
    assert why(models, 10**9, backend="threading") == said
    assert not why({**models, "diary": Diary()}, 10, backend="threading")


def test_where_workers_do_not_pay_the_result_says_so(monkeypatch):
    monkeypatch.setattr(_execution, "why_one_process", why_one_process)
    monkeypatch.setattr(_execution, "ROWS_WORTH_WORKERS", 10_000_000)
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    stream = make_demo_stream(300)
    result = sk.PrequentialEvaluator("accuracy", n_jobs=2, random_state=0).evaluate(models, stream)
    said = "All in one process: so few rows do not pay for workers"
    assert said in str(result)
    assert said in str(result.select(models="sgd"))
    alone = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(models, stream)
    assert "one process" not in str(alone)
    assert alone.scores == result.scores


@pytest.mark.parametrize(("n_folds", "n_groups"), [(1, 2), (4, 2), (3, 2), (2, 5), (6, 3)])
def test_groups_are_even_and_whole_folds_stay_together(n_folds, n_groups):
    places = [(name, fold) for name in "abc" for fold in range(n_folds)]
    groups = divided(places, n_groups)
    assert sorted(place for group in groups for place in group) == places
    sizes = [len(group) for group in groups]
    assert max(sizes) - min(sizes) <= 1
    if n_folds % n_groups == 0:
        assert all(len({place for place in group}) == 3 * n_folds // n_groups for group in groups)
        assert all({name for name, _ in group} == set("abc") for group in groups)


@pytest.mark.parametrize(
    ("name", "evaluator"),
    [
        ("prequential", sk.PrequentialEvaluator(random_state=0)),
        ("folds", sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0)),
        ("holdout", sk.HoldoutEvaluator("accuracy", holdout="next", every=20, random_state=0)),
        (
            "delayed",
            sk.DelayedEvaluator("accuracy", delay=9, random_state=0, polling=sk.Polling(n_bins=3)),
        ),
    ],
)
def test_results_are_the_same_in_any_groups(name, evaluator, monkeypatch, rng):
    models = {"sgd": SGDClassifier(), "diary": Diary(), "last": sk.Persistent()}
    alone = evaluator.evaluate(models, X, y)
    evaluator.set_params(n_jobs=3)
    for _ in range(3):

        def shuffled(places, n_groups):
            order = rng.permutation(len(places))
            return [[places[k] for k in order[n::n_groups]] for n in range(n_groups)]

        monkeypatch.setattr(_execution, "divided", shuffled)
        with parallel_config(backend="threading"):
            apart = evaluator.evaluate(models, X, y)
        assert apart.scores == alone.scores
        for model, answers in alone.tape.answers.items():
            np.testing.assert_array_equal(apart.tape.answers[model], answers)


def test_a_stream_that_can_be_read_once_says_so():
    chunks = iter([(X, y)])
    with parallel_config(backend="threading"):
        result = sk.PrequentialEvaluator("accuracy", n_jobs=2).evaluate(
            {"a": Diary(), "b": Diary()}, chunks, classes=["a", "b"]
        )
    assert "All in one process: the stream can be read only once" in str(result)


# -- several evaluations at once, in threads: the results of one after the other, and nothing left


N = 60
CLASSES = ["DOWN", "UP"]
METRICS = ["accuracy", "kappa_temporal"]
FORGETTING = {"all": "cumulative", "window": "window:20"}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")


class Warns(ClassifierMixin, BaseEstimator):
    """Repeats the label learnt last, and warns, also by NumPy."""

    def partial_fit(self, X, y, classes=None):
        self.newest_ = y[-1]
        return self

    def predict(self, X):
        with np.errstate(divide="warn"):
            np.log(np.zeros(1))
        warnings.warn("again", stacklevel=2)
        return np.repeat(self.newest_, len(X))


def models():
    return {
        "sgd": SGDClassifier(),
        "bayes": IncrementalGaussianNB(),
        "augmented": sk.TemporallyAugmented(SGDClassifier()),
        "last": sk.Persistent(),
        "warns": Warns(),
    }


def prequential(stream, seed, **options):
    evaluator = sk.PrequentialEvaluator(
        METRICS, forgetting=FORGETTING, random_state=seed, **options
    )
    return evaluator.evaluate(models(), stream)


def folds(stream, seed, **options):
    evaluator = sk.KFoldEvaluator(METRICS, n_folds=2, random_state=seed, **options)
    return evaluator.evaluate(models(), stream)


def delayed(stream, seed, **options):
    evaluator = sk.DelayedEvaluator(
        METRICS, delay=5, random_state=seed, polling=sk.Polling(n_bins=2), **options
    )
    return evaluator.evaluate(models(), stream)


def live(stream, seed):
    run = sk.PrequentialEvaluator(METRICS, forgetting=FORGETTING, random_state=seed).start(
        models(), classes=CLASSES
    )
    for i in range(0, N, 20):
        run.update(stream.X[i : i + 20], stream.y[i : i + 20])
    return run.result()


def live_delayed(stream, seed):
    run = sk.DelayedEvaluator(
        METRICS, random_state=seed, polling=sk.Polling(n_bins=2, poll_every=3)
    ).start(models(), classes=CLASSES)
    for i in range(N // 2):
        run.ask(stream.X[[i]], [i], t=i)
        if i >= 3:
            run.label([i - 3], stream.y[[i - 3]], t=i)
    return run.result()


PROTOCOLS = [prequential, folds, delayed, live, live_delayed]


def evaluated(number):
    protocol, seed = PROTOCOLS[number % len(PROTOCOLS)], number % 2
    result = protocol(make_demo_stream(N, random_state=seed), seed)
    return as_bytes(result), np.geterr()


def as_bytes(result):
    return {
        (model, forgetting, metric): result.curve(model, metric, forgetting=forgetting).tobytes()
        for model in result.model_names
        for forgetting in result.forgetting_names
        for metric in result.metric_names
    }


def surroundings():
    return np.geterr(), os.getcwd(), dict(os.environ), warnings.showwarning


#: Filters that scikit-learn's `check_array` and `type_of_target` set for a moment. Python restores
#: the filters of the whole process, so those of two threads may be left.
OF_SCIKIT_LEARN = {("error", kind) for kind in (ComplexWarning, VisibleDeprecationWarning)}


@pytest.fixture
def quick_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_threads_give_the_serial_results_and_leave_nothing(quick_switches):
    numbers = range(2 * len(PROTOCOLS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        serial = [evaluated(number) for number in numbers]
        before, filters = surroundings(), list(warnings.filters)
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(evaluated, numbers))
        assert surroundings() == before
        left = [one for one in warnings.filters if one not in filters]
        assert {(one[0], one[2]) for one in left} <= OF_SCIKIT_LEARN
    assert together == serial


@pytest.mark.parametrize("backend", ["threading", "dask"])
def test_workers_of_four_threads_give_the_serial_results(backend, quick_switches):
    numbers = range(3)  # of the evaluators that take n_jobs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        serial = [evaluated(number)[0] for number in numbers]
        before = surroundings()
        with workers(backend):
            for number, expected in zip(numbers, serial, strict=True):
                stream = make_demo_stream(N, random_state=number % 2)
                result = PROTOCOLS[number](stream, number % 2, n_jobs=4)
                assert as_bytes(result) == expected
        assert surroundings() == before


@contextmanager
def workers(backend):
    """Let evaluators use one worker of four threads."""
    if backend == "threading":
        with parallel_config(backend="threading"):
            yield
        return
    pytest.importorskip("dask", reason="needs dask")
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    one = {"n_workers": 1, "threads_per_worker": 4, "processes": False, "protocol": "tcp"}
    with (
        distributed.LocalCluster(
            **one, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        yield
