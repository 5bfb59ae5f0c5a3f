"""A process that is killed at any moment: the same call goes on, and nothing is done twice."""

import multiprocessing
import os
import time

import numpy as np
import pytest
from joblib import parallel_config

import skstream as sk
from tests.evaluation._models import Diary
from tests.evaluation.test_checkpoints import assert_same_result

N_MOMENTS = 10
N = 240
X = np.random.default_rng(0).normal(size=(N, 2))
y = np.where(X[:, 0] + np.arange(N) % 5 / 5 > 0.4, "b", "a")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the killed process is a fork")


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


def evaluate(folder, n_jobs):
    evaluator = sk.KFoldEvaluator(
        "accuracy", n_folds=2, random_state=0, n_jobs=n_jobs, checkpoint=folder, checkpoint_every=8
    )
    with parallel_config(backend="threading"):
        return evaluator.evaluate(MODELS, X, y)


def finished(folder):
    """Files of the groups that are finished, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("group-*/outcome.npz")}


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
    assert_same_result(sk.collect_result(tmp_path), undisturbed)
