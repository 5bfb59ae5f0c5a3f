"""Models times folds on a Dask cluster of separate processes, the stream on shared storage."""

import os
import pickle
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV

import skstream as sk
from skstream.streams import make_demo_stream

pytest.importorskip("dask", reason="needs dask")
distributed = pytest.importorskip("distributed", reason="needs distributed")
parquet = pytest.importorskip("pyarrow.parquet", reason="writes Parquet files")
pyarrow = pytest.importorskip("pyarrow")

N_ROWS = 1500


class WhoAmI(ClassifierMixin, BaseEstimator):
    """Answers with nothing of interest, and remembers the process that it learnt in."""

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = np.unique(classes)
            time.sleep(0.2)  # long enough that one worker cannot take every place
        self.process_ = os.getpid()
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class Fails(WhoAmI):
    """Breaks when it has learnt something."""

    def predict(self, X):
        raise RuntimeError("no answer today")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes of one thread, on loopback and free ports."""
    with pytest.MonkeyPatch.context() as patch:
        # Two fresh processes would compile for longer than they evaluate.
        patch.setenv("SKSTREAM_DISABLE_NUMBA", "1")
        with (
            distributed.LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> sk.ParquetStream:
    """A folder of three files, named by a URI."""
    folder: Path = tmp_path_factory.mktemp("stream")
    demo = make_demo_stream(N_ROWS)
    for number, rows in enumerate(np.array_split(np.arange(N_ROWS), 3)):
        columns = {f"x{j}": demo.X[rows, j] for j in range(demo.X.shape[1])}
        table = pyarrow.table({**columns, "label": demo.y[rows]})
        parquet.write_table(table, folder / f"part-{number}.parquet")
    return sk.ParquetStream(folder.as_uri(), target="label")


def evaluator(**options: Any) -> sk.KFoldEvaluator:
    return sk.KFoldEvaluator(n_folds=3, random_state=0, **options)


def test_a_cluster_gives_the_same_result(cluster, stream):
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    classes = ["DOWN", "UP"]
    alone = evaluator().evaluate(models, stream, classes=classes)
    with parallel_config(backend="dask"):
        there = evaluator(n_jobs=-1).evaluate(models, stream, classes=classes)
    for name in models:
        np.testing.assert_array_equal(alone.tape.answers[name], there.tape.answers[name])
        for metric in alone.metric_names:
            np.testing.assert_array_equal(alone.curve(name, metric), there.curve(name, metric))
    assert alone.checkpoints.tolist() == there.checkpoints.tolist()


def test_models_and_folds_fan_out_over_the_workers(cluster, stream):
    models = {"one": WhoAmI(), "two": WhoAmI()}
    there = evaluator(n_jobs=-1)
    with parallel_config(backend="dask"):
        result = there.evaluate(models, stream, classes=["DOWN", "UP"], return_models=True)
    processes = {model.process_ for name in models for model in result.models[name]}
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_the_data_stay_where_they_are(stream):
    assert len(pickle.dumps(stream)) < 2000


def test_a_failure_on_a_worker_is_named(cluster, stream):
    models = {"good": SGDClassifier(), "bad": Fails()}
    with (
        parallel_config(backend="dask"),
        pytest.raises(sk.ModelError, match=r"'bad'.*no answer today"),
    ):
        evaluator(n_jobs=-1).evaluate(models, stream, classes=["DOWN", "UP"])


class Holds(WhoAmI):
    """Has a thing of its own that no other process can have."""

    def __init__(self):
        self.thing = Lock()


def test_what_cannot_be_sent_is_named(cluster, stream):
    """Dask does not tell joblib, which would wait for ever."""
    models = {"good": sk.Persistent(), "holds": Holds()}
    with parallel_config(backend="dask"), pytest.raises(TypeError, match="'holds' cannot be sent"):
        evaluator(n_jobs=2).evaluate(models, stream, classes=["DOWN", "UP"])


class Counted:
    """Rows in memory that count how often they are pickled in this process."""

    n_pickled = 0

    def __init__(self, X, y):
        self.X, self.y = X, y

    def __iter__(self):
        yield self.X, self.y

    def __getstate__(self):
        Counted.n_pickled += 1
        return vars(self)


def test_rows_in_memory_are_sent_once(cluster):
    demo = make_demo_stream(50)
    models = {name: WhoAmI() for name in "abcd"}
    with parallel_config(backend="dask"):
        sk.PrequentialEvaluator("accuracy", n_jobs=-1).evaluate(
            models, Counted(demo.X, demo.y), classes=["DOWN", "UP"]
        )
    assert Counted.n_pickled == 1


def test_a_worker_may_die_while_rows_are_sent_to_it(cluster, monkeypatch):
    def die(client: Any, *data: Any, **options: Any) -> Any:
        raise OSError("Stream is closed")  # a CommClosedError

    models = {"last": sk.Persistent(), "sgd": SGDClassifier()}
    demo = make_demo_stream(50)
    alone = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(models, demo)
    monkeypatch.setattr(distributed.Client, "scatter", die)
    with parallel_config(backend="dask"):
        there = sk.PrequentialEvaluator("accuracy", random_state=0, n_jobs=2).evaluate(models, demo)
    assert there.scores == alone.scores


def test_a_grid_search_with_our_scorer_runs_on_the_workers(cluster):
    demo = make_demo_stream(200)
    search = GridSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-2]},
        scoring={name: sk.prequential_scorer(name) for name in ("accuracy", "kappa_temporal")},
        cv=sk.PrequentialSplit(60, n_splits=2),
        refit="accuracy",
        error_score="raise",
    )
    alone = clone(search).fit(demo.X, demo.y).cv_results_
    with parallel_config(backend="dask"):
        there = search.set_params(n_jobs=-1).fit(demo.X, demo.y).cv_results_
    for name in ("accuracy", "kappa_temporal"):
        for split in range(2):
            column = f"split{split}_test_{name}"
            np.testing.assert_array_equal(alone[column], there[column])


class KillsItsWorker(WhoAmI):
    """Ends every process that it is asked in, but its home."""

    def __init__(self, home=None):
        self.home = home

    def predict(self, X):
        if os.getpid() != self.home:
            os._exit(1)
        return super().predict(X)


def test_what_kills_its_worker_is_an_error_that_names_the_models(cluster):
    """joblib's Dask backend does not tell of calls that Dask gives up, and would wait for ever."""
    cluster.run_on_scheduler(allow_no_failures)
    for nanny in cluster.cluster.workers.values():
        nanny.auto_restart = False  # nothing else asks for another worker
    models = {"good": WhoAmI(), "kills": KillsItsWorker(os.getpid())}
    evaluator = sk.PrequentialEvaluator("accuracy", n_jobs=2, error_score=np.nan)
    with (
        parallel_config(backend="dask"),
        warnings.catch_warnings(),
        pytest.raises(distributed.KilledWorker) as caught,
    ):
        warnings.simplefilter("ignore")
        evaluator.evaluate(models, make_demo_stream(50))
    assert any("had not finished: " in one and "'kills'" in one for one in caught.value.__notes__)


def allow_no_failures(dask_scheduler: Any) -> None:
    """Give a call up when its first worker has died: every other takes seconds to start."""
    dask_scheduler.allowed_failures = 0
