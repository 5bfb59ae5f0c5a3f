"""A search in a folder: stopped anywhere, the same call goes on to the undisturbed end."""

import copy
import functools
import json
import multiprocessing
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier

from skstream import EvaluationInterrupted, PrequentialEvaluator, load, run_status
from skstream.evaluation import RunFolder
from skstream.evaluation._folder import _fingerprint, _run_folder
from skstream.evaluation._folder._reports import Report
from skstream.evaluation._parallel import _groups, _workers
from skstream.model_selection import PrequentialSearch
from tests._examples import newest_alone, scaled
from tests.evaluation._disk_states import copied_states
from tests.evaluation._models import KilledWorker
from tests.model_selection._searches import search_of

pytestmark = newest_alone  # what is killed or run twice does not depend on other packages


N, TUNING = 900, 500
GRID = {"alpha": [1e-4, 1e-2, 1.0, 100.0], "penalty": ["l2", "l1"]}
SEARCHES: dict[str, dict[str, Any]] = {
    "tuning": {"tuning": TUNING},
    "all rows": {"metric": "accuracy"},
    "batches": {"tuning": TUNING, "batch_size": 40, "metric": "kappa"},
}


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    return X, np.where(X[:, 0] + rng.normal(size=N) > 0, "UP", "DOWN")


X, y = rows()


class Source:
    """Chunks of the rows; breaks off, or Ctrl-C is pressed, before the chunk after some rows."""

    n_rows: int | None = None

    def __init__(self, stop: int | None = None, error: type[BaseException] = OSError) -> None:
        self.stop, self.error = stop, error

    def __call__(self) -> Iterator[Any]:
        for first in range(0, N, 50):
            if self.stop is not None and first >= self.stop:
                raise self.error("the line is dead")
            yield X[first : first + 50], y[first : first + 50]


def search(
    name: str, folder: Path | None = None, every: int = 30, **parameters: Any
) -> PrequentialSearch:
    kept = {} if folder is None else {"checkpoint": RunFolder(folder, every)}
    return search_of(SGDClassifier(), GRID, **{**kept, **SEARCHES[name], **parameters})


def fit(one: PrequentialSearch, source: Any = None) -> PrequentialSearch:
    with parallel_config(backend="threading"):
        return one.fit(Source() if source is None else source, classes=["DOWN", "UP"])


@functools.cache
def _undisturbed(name: str) -> PrequentialSearch:
    return fit(search(name))


def undisturbed(name: str) -> PrequentialSearch:
    """A search without a folder, of its own to whoever asks."""
    return copy.deepcopy(_undisturbed(name))


def assert_same(one: PrequentialSearch, other: PrequentialSearch) -> None:
    """All but how long it took."""
    assert one.best_params_ == other.best_params_
    first, second = one.cv_results_, other.cv_results_
    assert first.keys() == second.keys()
    for name in first.keys() - {"seconds", "params"}:
        assert_array_equal(first[name], second[name])
    results = [(one.result_, other.result_)]
    if one.run_.rules.tuning is not None:
        assert one.honest_score_ == other.honest_score_
        assert one.honest_interval_ == other.honest_interval_
        results.append((one.honest_result_, other.honest_result_))
    for ours, theirs in results:
        assert_same_result(ours, theirs)
    assert_array_equal(one.best_estimator_.coef_, other.best_estimator_.coef_)
    if one.evaluator.batch_size == 1 and not (one.evaluator.n_jobs and one.tuning is None):
        more = [
            s.set_params(evaluator__checkpoint=None).partial_fit(X[:60], y[:60])
            for s in (one, other)
        ]
        assert_array_equal(more[0].best_estimator_.coef_, more[1].best_estimator_.coef_)


def assert_same_result(ours: Any, theirs: Any) -> None:
    assert_array_equal(ours.checkpoints, theirs.checkpoints)
    assert ours.model_names == theirs.model_names
    assert ours.ended == theirs.ended
    for name in ours.model_names:
        for metric in ours.metric_names:
            assert_array_equal(ours.curve(name, metric), theirs.curve(name, metric))
        assert_array_equal(
            ours.predictions(name, every_row=True), theirs.predictions(name, every_row=True)
        )


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads get groups although all models have kernels."""
    monkeypatch.setattr(_groups, "_all_have_kernels", lambda *_: False)


@pytest.fixture(autouse=True)
def no_power_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(_fingerprint, "HEAD", 40)


def assert_goes_on(name: str, folder: Path, n_jobs: int | None) -> None:
    for stop, error in ((50, OSError), (450, KeyboardInterrupt), (500, OSError), (700, OSError)):
        expected = EvaluationInterrupted if error is KeyboardInterrupt else ValueError
        with pytest.raises(expected):
            fit(search(name, folder, n_jobs=n_jobs), Source(stop, error))
    one = fit(search(name, folder, n_jobs=n_jobs))
    whole = undisturbed(name)
    assert_same_result(load(folder), whole.result_)
    seen = run_status(folder)
    assert seen.state == "finished"
    if one.tuning is None:
        assert {group.n_rows for group in seen.groups} == {N}
    else:
        n_tuning = one.run_.rules.tuning
        assert seen.n_rows == seen.n_rows_total == 8 * n_tuning + N - n_tuning
    assert_same(one, whole)
    # A finished folder is read, and not computed again.
    again = fit(search(name, folder, n_jobs=2 if n_jobs is None else None))
    assert_same(again.set_params(evaluator__n_jobs=n_jobs), undisturbed(name))


@pytest.mark.parametrize("name", SEARCHES)
def test_it_goes_on_in_one_process(name: str, tmp_path: Path) -> None:
    assert_goes_on(name, tmp_path, None)


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("name", SEARCHES)
def test_it_goes_on_with_workers(name: str, tmp_path: Path) -> None:
    assert_goes_on(name, tmp_path, 2)
    assert len(list(tmp_path.glob("group-*"))) == 2


@newest_alone
@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize(("name", "n_jobs"), [("tuning", None), ("tuning", 2)])
def test_killed_at_any_change_of_its_folder_it_goes_on(
    name: str, n_jobs: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    if n_jobs is not None:  # groups of two workers, which one then runs, one after the other
        with pytest.raises(ValueError, match="the line is dead"):
            fit(search(name, run, n_jobs=n_jobs), Source(50))
    with copied_states(run, tmp_path / "states", monkeypatch) as states:
        fit(search(name, run, every=200))
    assert len(states) > 8
    few = np.random.default_rng(0).permutation(len(states) - 1)[: scaled(5)]
    for number in [*few, len(states) - 1, len(states) - 2]:
        one = fit(search(name, states[number], n_jobs=n_jobs))
        assert_same_result(load(states[number]), one.result_)
        assert_same(one, undisturbed(name))


@newest_alone
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the killed process is a fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_killed_process_goes_on_with_processes(tmp_path: Path) -> None:
    begun = multiprocessing.get_context("fork").Process(target=begin_and_die, args=(tmp_path,))
    begun.start()
    begun.join()
    assert begun.exitcode == 9
    assert "group-1" in os.listdir(tmp_path)
    assert run_status(tmp_path).state == "stale"
    one = slow(tmp_path, n_jobs=2).fit(X[:300], y[:300])
    whole = slow(None).fit(X[:300], y[:300])
    assert_same_result(one.result_, whole.result_)
    assert one.honest_score_ == whole.honest_score_
    assert [group.state for group in run_status(tmp_path).groups] == ["finished"] * 3


class Rule(ClassifierMixin, BaseEstimator):
    """A fixed rule, executed call by call; ends its process at a row."""

    def __init__(self, k: int = 0) -> None:
        self.k = k

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "Rule":
        self.classes_ = np.array(["DOWN", "UP"])
        self.n_ = getattr(self, "n_", 0) + len(y)
        if self.n_ == 120 and os.environ.get("ENDS"):
            os._exit(9)
        return self

    def predict(self, X: Any) -> Any:
        return np.where(X[:, self.k] > 0, "UP", "DOWN")


def slow(folder: Path | None, **parameters: Any) -> PrequentialSearch:
    """Two candidates that are executed call by call."""
    kept = {} if folder is None else {"checkpoint": RunFolder(folder, every=40)}
    grid = {"k": [0, 1]}
    return search_of(Rule(), grid, tuning=200, **kept, **parameters)


def begin_and_die(folder: Path) -> None:
    """Search with groups for two workers, in this process, which ends at a row."""
    os.environ["ENDS"] = "yes"
    _groups.STARTS_THAT_PAY = -1.0
    with parallel_config(backend="threading"):
        slow(folder, n_jobs=2).fit(X[:300], y[:300])


@pytest.mark.usefixtures("divided")
def test_candidates_that_went_on_alone_keep_their_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = _workers.Workers._run

    def run(workers: Any, jobs: Any) -> None:
        if any(len(job.places) > 1 for job in jobs):
            raise KilledWorker
        original(workers, jobs)

    monkeypatch.setattr(_workers.Workers, "_run", run)
    with pytest.raises(ValueError, match="the line is dead"):
        fit(search("tuning", tmp_path, n_jobs=2), Source(700))
    assert list(tmp_path.glob("group-*/alone-*"))
    one = fit(search("tuning", tmp_path, n_jobs=2))
    assert_same(one, undisturbed("tuning"))
    shutil.rmtree(tmp_path / "chosen")
    assert_same(fit(search("tuning", tmp_path)), undisturbed("tuning"))


@pytest.mark.usefixtures("divided")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_workers_that_die_are_tried_again_as_often_as_the_evaluator_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(workers: Any, jobs: Any) -> None:
        raise KilledWorker

    monkeypatch.setattr(_workers.Workers, "_run", run)
    for retries, times in ((0, "once"), (1, "2 times")):
        with pytest.raises(ValueError, match=f"its worker died {times}, alone"):
            fit(search("tuning", n_jobs=2, retries=retries))


def test_a_search_that_does_not_fit_the_folder_is_refused_in_words(tmp_path: Path) -> None:
    one = fit(search("tuning", tmp_path))
    before = vars(one).copy()
    others: list[tuple[dict[str, Any], str]] = [
        ({"tuning": 600}, "the parameter tuning is 600 and was 500"),
        ({"param_grid": {"alpha": [1.0]}}, "model 'alpha=0.0001, penalty=l2'"),
        ({"metric": "error"}, "the parameter metric is error and was kappa_plus"),
        ({"estimator": SGDClassifier(eta0=3.0)}, "the parameter eta0 of model"),
        ({"evaluator__n_warmup": 3}, "the parameter n_warmup is 3 and was 1"),
        ({"evaluator__random_state": 1}, "the parameter random_state is 1 and was 0"),
    ]
    for parameters, message in others:
        good = {name: one.get_params()[name] for name in parameters}
        with pytest.raises(ValueError, match=re.escape(message)):
            fit(one.set_params(**parameters))
        one.set_params(**good)
    assert vars(one) == before
    (tmp_path / "group-0" / "run.checkpoint").unlink()
    with pytest.raises(ValueError, match=r"run\.checkpoint is missing"):
        fit(search("tuning", tmp_path))
    evaluator = PrequentialEvaluator(checkpoint=tmp_path)
    with pytest.raises(ValueError, match="the evaluator is PrequentialEvaluator and was Preq"):
        evaluator.evaluate(SGDClassifier(), X, y)


def test_what_cannot_go_on_is_refused_in_words(tmp_path: Path) -> None:
    drawn = search("tuning", tmp_path, n_iter=2, random_state=None)
    drawn.set_params(param_grid={"alpha": loguniform(1e-4, 1.0)})
    with pytest.raises(ValueError, match="n_iter=2 draws others each time"):
        fit(drawn)
    with pytest.raises(ValueError, match="a stream that can be read again"):
        search("tuning", tmp_path).fit(iter([(X, y)]), classes=["DOWN", "UP"])
    with pytest.raises(ValueError, match="checkpoint= of the evaluator is for fit"):
        search("tuning", tmp_path).partial_fit(X, y, classes=["DOWN", "UP"])


def test_a_seed_that_was_drawn_stays(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the line is dead"):
        fit(search("tuning", tmp_path, random_state=None), Source(700))
    (tmp_path / "group-0" / "run.checkpoint").unlink()  # as if it had not begun
    one = fit(search("tuning", tmp_path, random_state=None))
    seed = load(tmp_path).parameters["seed"]
    assert one.run_.settings.parameters["seed"] == seed
    assert_same(one, fit(search("tuning", random_state=seed)))


def test_a_finished_search_of_other_versions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit(search("tuning", tmp_path))
    other = {**_run_folder.versions(), "scikit-learn": "0.1"}
    monkeypatch.setattr(_run_folder, "versions", lambda: other)
    with pytest.raises(ValueError, match=r"here is scikit-learn 0\.1 instead of"):
        fit(search("tuning", tmp_path))
    assert load(tmp_path).n_rows == TUNING


@pytest.mark.usefixtures("divided")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_ctrl_c_says_how_it_goes_on(n_jobs: int | None, tmp_path: Path) -> None:
    one = search("tuning", tmp_path, n_jobs=n_jobs)
    says = f"The same call of fit goes on from the checkpoints in {re.escape(str(tmp_path))}"
    with pytest.raises(EvaluationInterrupted, match=says):
        fit(one, Source(300, KeyboardInterrupt))
    assert run_status(tmp_path).state == "stopped"
    with pytest.raises(ValueError, match="No model has finished yet"):
        load(tmp_path)
    if n_jobs is None:  # it can also go on without the folder
        one.set_params(evaluator__checkpoint=None).partial_fit(X[300:], y[300:])
        assert_same(one, undisturbed("tuning"))
    else:
        with pytest.raises(NotFittedError):
            _ = one.best_params_
    with pytest.raises(EvaluationInterrupted, match=says if n_jobs else "checkpoint"):
        fit(search("tuning", tmp_path, n_jobs=n_jobs), Source(700, KeyboardInterrupt))
    seen = run_status(tmp_path)
    assert seen.state == "stopped"
    assert seen.n_rows < (seen.n_rows_total or 10**9)
    if n_jobs is not None:
        assert [group.state for group in seen.groups] == ["finished", "finished", "stopped"]
        assert 0 < seen.groups[-1].n_rows <= 200
        assert "the chosen one" in str(seen)


@pytest.mark.parametrize(("stop", "done"), [(300, 8 * 300), (700, 8 * TUNING + 200)])
@pytest.mark.parametrize("name", ["tuning", "halving"])
def test_rows_after_the_choice_are_those_of_one_candidate(
    name: str, stop: int, done: int, tmp_path: Path
) -> None:
    source = Source(stop, KeyboardInterrupt)
    source.n_rows = N
    with pytest.raises(EvaluationInterrupted):
        fit(search(name, tmp_path), source)
    seen = run_status(tmp_path)
    total = 8 * TUNING + N - TUNING
    assert (seen.n_rows, seen.n_rows_total) == (done, total)
    words = "of at most" if name == "halving" else "of"
    assert f"{done:,} {words} {total:,} rows" in str(seen)
    assert [group.state for group in seen.groups] == [
        *(["stopped", "waiting"] if stop < TUNING else ["finished", "stopped"])
    ]
    # As if it ran: what is left follows from the rows of all candidates per second.
    now = {"host": "node1", "pid": 4711, "token": "t"}
    (tmp_path / "lock").write_text(json.dumps(now))
    file = tmp_path / "group-0" / "status.json"
    report = Report.load(file)
    assert report is not None
    replace(report, state="running", token="t", first_row=0, seconds=2.0, time=time()).save(file)
    seen = run_status(tmp_path)
    assert seen.seconds_left == pytest.approx((total - done) / (done / 2.0))


def test_a_bar_shows_the_rows_of_all_candidates(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    source = Source()
    source.n_rows = N
    fit(search("tuning", progress=True), source)
    assert "4.40k/4.40k" in capsys.readouterr().err
