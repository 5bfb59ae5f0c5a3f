"""A process that is killed at any moment: the same call goes on, and nothing is done twice."""

import multiprocessing
import os
import time

import numpy as np
import pytest
from joblib import parallel_config

import skstream as sk
from skstream.evaluation import RunFolder
from skstream.evaluation._folder import Reporter, _group, _lock
from skstream.evaluation._folder._lock import only_writer
from skstream.evaluation._parallel import _workers
from skstream.evaluation._parallel._stopping import StopFile
from skstream.evaluation._runs._run_outcome import RunOutcome
from skstream.utils._files import this_process
from tests._examples import newest_alone, scaled
from tests.evaluation import test_checkpoints
from tests.evaluation._disk_states import copied_states
from tests.evaluation._models import Diary, KilledWorker
from tests.evaluation.test_checkpoints import EVALUATORS, Source, assert_same_result, evaluator_in
from tests.evaluation.test_tape_on_disk import in_memory

pytestmark = newest_alone  # what is killed or run twice does not depend on other packages


N_MOMENTS = scaled(20)
N = 240
X = np.random.default_rng(0).normal(size=(N, 2))
y = np.where(X[:, 0] + np.arange(N) % 5 / 5 > 0.4, "b", "a")


class Slow(Diary):
    """Takes a millisecond to learn a row; the state is what it has learnt."""

    def __init__(self, seconds=0.001):
        self.seconds = seconds

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        time.sleep(self.seconds)
        self.classes_ = np.unique(classes) if classes is not None else self.classes_
        self.sum_ = getattr(self, "sum_", 0.0) + float(np.sum(X))
        return self

    def predict(self, X):
        return self.classes_[[int(self.sum_ > x[0]) for x in X]]


MODELS = {"slow": Slow(), "slower": Slow(0.002), "sums": Slow(0.0)}
QUICK = {"one": Slow(0.0), "two": Slow(0.0), "three": Slow(0.0)}


def evaluate(folder, n_jobs, models=MODELS):
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0, n_jobs=n_jobs)
    if folder is not None:
        evaluator.set_params(checkpoint=RunFolder(folder, every=8))
    with parallel_config(backend="threading"):
        return evaluator.evaluate(models, X, y)


def finished(folder):
    """Files of the groups that are finished, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("group-*/outcome.npz")}


@newest_alone
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the killed process is a fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_killed_at_any_moment_it_goes_on_to_the_same_result(n_jobs, tmp_path):
    started = time.perf_counter()
    undisturbed = evaluate(None, 1)
    whole = time.perf_counter() - started
    rng = np.random.default_rng(n_jobs)
    fork = multiprocessing.get_context("fork")
    was_finished, n_killed = {}, 0
    for moment in rng.uniform(0.0, 0.35 * whole, size=N_MOMENTS):
        process = fork.Process(target=evaluate, args=(tmp_path, n_jobs))
        process.start()
        process.join(moment)
        process.kill()
        process.join()
        n_killed += process.exitcode == -9
        now_finished = finished(tmp_path)
        assert was_finished.items() <= now_finished.items()
        was_finished = now_finished
    assert n_killed > 1
    result = evaluate(tmp_path, n_jobs)
    assert was_finished.items() <= finished(tmp_path).items()
    assert_same_result(result, undisturbed)
    assert_same_result(sk.load(tmp_path), undisturbed)


def protocol_in(name, folder, keep_tape):
    evaluator = evaluator_in(name, folder, every=50, keep_tape=keep_tape)
    return test_checkpoints.evaluate(evaluator, Source())


def assert_nothing_is_left_over(folder):
    """Neither of a lock, nor of a checkpoint, nor of a file that was not written to its end."""
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    assert not [name for name in names if name.startswith(".")]
    assert names.isdisjoint({"lock", "run.checkpoint"})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("name", "keep_tape"), [*((name, "disk") for name in EVALUATORS), ("folds", True)]
)
def test_killed_at_any_change_of_its_folder_it_goes_on(name, keep_tape, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no power is lost here
    undisturbed = protocol_in(name, None, True)
    run = tmp_path / "run"
    with copied_states(run, tmp_path / "states", monkeypatch) as states:
        protocol_in(name, run, keep_tape)
    assert len(states) > 15
    few = np.random.default_rng(len(name)).permutation(len(states))[: scaled(3)]
    for number in few:
        state = states[number]
        was_finished = finished(state)
        with copied_states(state, tmp_path / f"again-{number}", monkeypatch) as twice:
            result = protocol_in(name, state, keep_tape)
        assert was_finished.items() <= finished(state).items()
        assert_same_result(in_memory(result), undisturbed)
        assert_nothing_is_left_over(state)
        killed_again = twice[number % len(twice)]
        assert_same_result(in_memory(protocol_in(name, killed_again, keep_tape)), undisturbed)
        assert_same_result(in_memory(sk.load(killed_again)), undisturbed)
        assert_nothing_is_left_over(killed_again)


class Killed(BaseException):
    """The process is killed: nothing catches it."""


def test_a_model_that_finished_alone_is_not_computed_again(tmp_path, monkeypatch):
    computed, died = [], []

    def run(workers, jobs):
        for job in jobs:
            if len(job.places) > 1:
                died.append(job.places)
                raise KilledWorker
            if computed:
                raise Killed
            computed.append(job.places[0])
            original_run(workers, [job])

    def keeper(group, run):
        computed.extend(run._places)
        return original_keeper(group, run)

    original_run, original_keeper = _workers.Workers._run, _workers.GroupFolder.keeper
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(_workers.Workers, "_run", run)
        evaluate(tmp_path, 2, QUICK)
    assert died
    [first] = computed
    assert len(list(tmp_path.glob("group-*/alone-*/outcome.npz"))) == 1
    monkeypatch.setattr(_workers.GroupFolder, "keeper", keeper)
    result = evaluate(tmp_path, 2, QUICK)
    assert sorted(computed) == sorted((name, fold) for name in QUICK for fold in range(2))
    assert computed.count(first) == 1
    assert_same_result(result, evaluate(None, 1, QUICK))
    assert_same_result(sk.load(tmp_path), result)
    assert_nothing_is_left_over(tmp_path)
    assert not list(tmp_path.glob("group-*/alone-*"))


def hold(group, held):
    with only_writer(group):
        held.send(this_process())
        time.sleep(60.0)


@newest_alone
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the killed process is a fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_one_process_writes_into_a_group_and_none_for_a_parent_that_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(_lock, "SECONDS_FOR_WORKER", 0.1)
    fork, (received, held) = multiprocessing.get_context("fork"), multiprocessing.Pipe()
    process = fork.Process(target=hold, args=(tmp_path, held))
    process.start()
    holder = received.recv()
    assert holder["pid"] == process.pid
    refusal = f"Process {process.pid} on .* still writes into"
    with pytest.raises(RuntimeError, match=refusal), only_writer(tmp_path):
        pass
    children = StopFile(parent=holder)
    children.check()
    process.kill()
    with pytest.raises(KeyboardInterrupt):  # also before anything has taken note of its end
        while True:
            children.check()
            time.sleep(0.01)
    with only_writer(tmp_path):
        process.join()
    assert not list(tmp_path.iterdir())


def test_a_finished_group_is_not_done_again_by_a_process_that_has_waited(tmp_path, monkeypatch):
    result = evaluate(tmp_path, 1, QUICK)
    was_finished = finished(tmp_path)
    looks = iter([False])  # the first look, before the other process has finished the group
    is_finished = _group.GroupFolder.is_finished.fget
    monkeypatch.setattr(
        _group.GroupFolder, "is_finished", property(lambda one: next(looks, is_finished(one)))
    )
    assert_same_result(evaluate(tmp_path, 1, QUICK), result)
    assert finished(tmp_path) == was_finished


def test_a_worker_returns_nothing_large_to_a_parent_that_is_gone(monkeypatch):
    outcome = RunOutcome(lanes=[], labels=np.zeros(1 << 20))
    monkeypatch.setattr(_workers, "_run_to_end", lambda *_: outcome)
    gone = {**this_process(), "started": "long ago"}
    for parent, expected in ((this_process(), outcome.labels), (gone, None)):
        job = _workers.Job(None, {}, None, 0, Reporter(), stop=StopFile(parent=parent))
        assert _workers.run_job(job, None).labels is expected
