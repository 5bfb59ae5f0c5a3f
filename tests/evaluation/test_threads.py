"""Several evaluations at once, in threads: the results of one after the other, and nothing left."""

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

from skstream import (
    DelayedEvaluator,
    KFoldEvaluator,
    Persistent,
    Polling,
    PrequentialEvaluator,
    TemporallyAugmented,
)
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import make_demo_stream

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
        "augmented": TemporallyAugmented(SGDClassifier()),
        "last": Persistent(),
        "warns": Warns(),
    }


def prequential(stream, seed, **options):
    evaluator = PrequentialEvaluator(METRICS, forgetting=FORGETTING, random_state=seed, **options)
    return evaluator.evaluate(models(), stream)


def folds(stream, seed, **options):
    evaluator = KFoldEvaluator(METRICS, n_folds=2, random_state=seed, **options)
    return evaluator.evaluate(models(), stream)


def delayed(stream, seed, **options):
    evaluator = DelayedEvaluator(
        METRICS, delay=5, random_state=seed, polling=Polling(n_bins=2), **options
    )
    return evaluator.evaluate(models(), stream)


def live(stream, seed):
    run = PrequentialEvaluator(METRICS, forgetting=FORGETTING, random_state=seed).start(
        models(), classes=CLASSES
    )
    for i in range(0, N, 20):
        run.update(stream.X[i : i + 20], stream.y[i : i + 20])
    return run.result()


def live_delayed(stream, seed):
    run = DelayedEvaluator(
        METRICS, random_state=seed, polling=Polling(n_bins=2, poll_every=3)
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
