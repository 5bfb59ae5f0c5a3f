"""A process that is killed at any moment: the same call resumes, and gives the same result."""

import multiprocessing
import os
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count

import numpy as np
import pytest
from joblib import parallel_config

import skstream as sk
from skstream.core.run.checkpoint import load_about
from tests._examples import newest_alone, scaled
from tests.evaluation._models import Diary
from tests.evaluation.test_checkpoints import assert_same_result

pytestmark = [
    newest_alone,  # what is killed or run twice does not depend on other packages
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed"),
]

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


def evaluate(folder, n_jobs, backend="threading"):
    sk.RunOptions.seconds = 0.0
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0, n_jobs=n_jobs)
    with parallel_config(backend=backend):
        return evaluator.set_params(run__checkpoint=folder).evaluate(MODELS, X, y)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_killed_at_any_moment_it_resumes_to_the_same_result(n_jobs, tmp_path):
    started = time.perf_counter()
    undisturbed = evaluate(None, 1)
    whole = time.perf_counter() - started
    rng = np.random.default_rng(n_jobs)
    fork = multiprocessing.get_context("fork")
    n_killed = 0
    for moment in rng.uniform(0.0, 0.35 * whole, size=N_MOMENTS):
        process = fork.Process(target=evaluate, args=(tmp_path, n_jobs))
        process.start()
        process.join(moment)
        process.kill()
        process.join()
        n_killed += process.exitcode == -9
        for path in tmp_path.glob("[0-9]*.checkpoint"):
            assert load_about(path)["seed"] == 0  # whole: its checksum is right
    assert n_killed > 1
    assert_same_result(evaluate(tmp_path, n_jobs), undisturbed)
    assert_same_result(evaluate(tmp_path, n_jobs), undisturbed)


SCRIPT = """
from pathlib import Path
from tests.evaluation.test_kills import evaluate
if __name__ == "__main__":
    evaluate(Path({folder!r}), 2, "loky")
"""


def test_workers_end_with_the_process_that_was_killed(tmp_path):
    """Else they would work on for nobody, beside those of the next call."""
    folder = tmp_path / "run"
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(folder)))
    name = f"{time.time_ns()}"
    process = subprocess.Popen(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": os.getcwd(), "SKSTREAM_TEST_OF_KILLS": name},
    )
    for _ in count():  # until a worker has read rows
        found = list(folder.glob("[0-9]*.checkpoint"))
        if process.poll() is not None or any(load_about(path)["read"] for path in found):
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert process.returncode == -9
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and _processes_with(name):
        time.sleep(0.05)
    assert not _processes_with(name)
    assert_same_result(evaluate(folder, 2), evaluate(None, 1))


def _processes_with(name):
    """Processes with a variable of the environment, which workers inherit."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if f"SKSTREAM_TEST_OF_KILLS={name}".encode() in file.read():
                found.append(pid)
    return found
