"""Evaluations in a folder: stopped anywhere, they go on, and the result is the undisturbed one."""

import errno
import json
import os
import pickle
import shutil
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

import skstream as sk
from skstream.evaluation import RunFolder
from skstream.evaluation._folder import _fingerprint, _group, _lock, _run_folder
from skstream.evaluation._parallel import _groups, _workers
from skstream.evaluation._runs._checkpoint import load_run
from skstream.metrics import Measure
from skstream.streams import as_stream
from tests.evaluation._models import Diary, KilledWorker
from tests.evaluation.test_folder_outcomes import assert_equal_data

N = 120
X = np.random.default_rng(0).normal(size=(N, 3))
X[:, 0] = np.arange(N)
y = np.where(X[:, 1] + np.arange(N) % 7 / 10 > 0.3, "b", "a")
MODELS = {"sgd": SGDClassifier(), "nb": BernoulliNB(), "last": sk.Persistent()}

EVALUATORS = {
    "prequential": sk.PrequentialEvaluator(forgetting={"all": "cumulative", "w": "window:9"}),
    "adwin": sk.PrequentialEvaluator("accuracy", forgetting="adwin"),
    "batches": sk.PrequentialEvaluator("kappa", batch_size=7),
    "folds": sk.KFoldEvaluator("accuracy", n_folds=2, random_state=1),
    "holdout": sk.HoldoutEvaluator("accuracy", holdout=(X[:7], y[:7]), every=10),
    "next": sk.HoldoutEvaluator("accuracy", holdout="next", every=10),
    "delayed": sk.DelayedEvaluator("accuracy", delay=15, n_bins=3),
}


class Source:
    """Chunks of the rows; breaks off before the chunk that starts at a row."""

    def __init__(self, stop=None, size=20):
        self.stop, self.size = stop, size

    def __call__(self):
        for first in range(0, N, self.size):
            if self.stop is not None and first >= self.stop:
                raise OSError("the line is dead")
            yield X[first : first + self.size], y[first : first + self.size]


def evaluator_in(name, folder, every=10, **params):
    kept = None if folder is None else RunFolder(folder, every)
    params = {"random_state": 1, "checkpoint": kept, **params}
    params.setdefault("keep_tape", True)
    return type(EVALUATORS[name])(**{**own_params(name), **params})


def own_params(name):
    return {k: v for k, v in EVALUATORS[name].get_params(deep=False).items() if k != "_begun"}


def assert_same_result(one, other):
    """All but how long it took, and where the checkpoints were."""
    for field in vars(one):
        if field not in ("costs", "parameters"):
            assert_equal_data(getattr(one, field), getattr(other, field))


@pytest.fixture(autouse=True)
def short_head(monkeypatch):
    """Streams of few rows have a short head, so that they can change after it."""
    monkeypatch.setattr(_fingerprint, "HEAD", 10)


def evaluate(evaluator, source, models=MODELS):
    return evaluator.evaluate(models, source, classes=["a", "b"])


@pytest.fixture(scope="module")
def undisturbed():
    """Results of evaluations without a folder."""
    results = {}
    for name in EVALUATORS:
        params = {"random_state": 1, "checkpoint": None}
        results[name] = evaluator_in(name, None, **params).evaluate(
            MODELS, Source(), classes=["a", "b"]
        )
    return results


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", EVALUATORS)
def test_it_goes_on_where_it_stopped(name, undisturbed, tmp_path):
    for stop in (20, 60, 100):
        with pytest.raises(ValueError, match="the line is dead"):
            evaluate(evaluator_in(name, tmp_path), Source(stop))
    assert load_run(tmp_path / "group-0" / "run.checkpoint").n_rows >= 80
    result = evaluate(evaluator_in(name, tmp_path), Source(size=35))
    assert_same_result(result, undisturbed[name])
    assert sorted(os.listdir(tmp_path)) == ["group-0", "manifest.json"]
    assert sorted(os.listdir(tmp_path / "group-0")) == ["outcome.npz", "status.json"]
    assert_same_result(sk.load(tmp_path), result)


def test_a_finished_folder_gives_its_result_at_once(tmp_path):
    evaluator = evaluator_in("prequential", tmp_path, random_state=None)
    first = evaluator.evaluate({"diary": Diary()}, X, y)
    outcome = tmp_path / "group-0" / "outcome.npz"
    before = outcome.stat()
    again = evaluator.evaluate({"diary": Diary()}, X, y)
    assert (outcome.stat().st_mtime_ns, outcome.stat().st_ino) == (
        before.st_mtime_ns,
        before.st_ino,
    )
    assert_same_result(again, first)
    assert again.costs == first.costs
    assert again.parameters["seed"] == first.parameters["seed"]


class Death(BaseException):
    """A worker ends."""


class Deadly:
    """Rows of a stream, until the worker dies at one."""

    def __init__(self, stream, row):
        self.stream, self.row = stream, row

    def __iter__(self):
        first = 0
        for chunk in self.stream:
            if first >= self.row:
                raise Death
            yield chunk
            first += len(chunk.y)


@pytest.mark.parametrize("n_deaths", [1, 2, 3, 4])
def test_a_group_whose_worker_dies_goes_on_from_its_checkpoint(n_deaths, tmp_path, monkeypatch):
    started, run_job = [], _workers.run_job

    def mortal(job, stream):
        if ("dies", 0) not in job.places:
            return run_job(job, stream)
        checkpoint = job.folder.checkpoint
        started.append((len(job.places), load_run(checkpoint).n_rows if checkpoint.exists() else 0))
        try:
            return run_job(job, Deadly(stream, 20 * len(started)) if dies() else stream)
        except Death:
            raise KilledWorker from None

    def dies():
        return len(started) <= n_deaths

    monkeypatch.setattr(_workers, "run_job", mortal)
    monkeypatch.setattr(
        _groups, "seconds_per_row", lambda *_: {("dies", 0): 1, ("a", 0): 3, ("b", 0): 1}
    )
    models = {"dies": SGDClassifier(), "a": BernoulliNB(), "b": sk.Persistent()}
    evaluator = evaluator_in("prequential", tmp_path, n_jobs=2, retries=2, every=1)
    with parallel_config(backend="threading"):
        result = evaluate(evaluator, Source(), models)
    alone = evaluate(evaluator_in("prequential", None), Source(), models)
    assert_same_result(result, alone)
    assert started == [(2, 0), (2, 20), (2, 40), (1, 0), (1, 80)][: n_deaths + 1]
    assert sorted(os.listdir(tmp_path)) == ["group-0", "group-1", "manifest.json"]
    assert_same_result(sk.load(tmp_path), alone)


def half(y_true, y_pred):
    return 0.5


def changed(**params):
    return lambda evaluator: evaluator.set_params(**params)


@pytest.mark.parametrize(
    ("change", "models", "rows", "message"),
    [
        (changed(n_warmup=3), MODELS, (X, y), r"the parameter n_warmup is 3 and was 1\."),
        (changed(random_state=9), MODELS, (X, y), "the parameter random_state is 9 and was 1"),
        (
            changed(metrics="kappa"),
            MODELS,
            (X, y),
            "the parameter metrics is kappa and was accuracy",
        ),
        (
            changed(),
            {**MODELS, "sgd": SGDClassifier(alpha=0.1)},
            (X, y),
            "the parameter alpha of model 'sgd' is 0.1 and was 0.0001",
        ),
        (
            changed(),
            {**MODELS, "sgd": BernoulliNB()},
            (X, y),
            r"the class of model 'sgd' is sklearn\S+BernoulliNB and was \S+SGDClassifier\. Make",
        ),
        (
            changed(),
            {"sgd": SGDClassifier(), "last": MODELS["last"]},
            (X, y),
            r"run: model 'nb' is missing from this call\. Make",
        ),
        (
            changed(),
            {**MODELS, "new": sk.Persistent(), "most": sk.MajorityClass()},
            (X, y),
            r"run: model 'new' is in this call and not in the run; model 'most' is in .* run\.",
        ),
        (changed(), MODELS, (X[1:], y[1:]), "the number of rows of the stream is 119 and was 120"),
        (changed(), MODELS, (X + 1, y), "checksum of the features"),
        (changed(), MODELS, (X, y[::-1]), "checksum of the labels"),
        (
            changed(metrics={"accuracy": Measure(half, higher_is_better=False)}),
            MODELS,
            (X, y),
            "the higher_is_better of the measure accuracy is False and was True",
        ),
        (
            changed(),
            MODELS,
            (X[:, :2], y),
            "the kind of rows of the stream is dense array of 2 columns",
        ),
    ],
)
def test_another_run_is_refused_by_what_differs(change, models, rows, message, tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=1, checkpoint=tmp_path)
    evaluator.evaluate(MODELS, X, y)
    before = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(ValueError, match=f"holds another (?=run: ).*{message}"):
        change(evaluator).evaluate(models, *rows)
    assert (tmp_path / "manifest.json").read_bytes() == before


def test_what_differs_of_long_texts_is_shown(tmp_path):
    evaluator = evaluator_in("holdout", tmp_path, holdout=(X[:7].copy(), y[:7].copy()))
    evaluator.evaluate(MODELS, X, y)
    with pytest.raises(ValueError, match=r"run: the parameter holdout\[0\] is array of shape"):
        evaluator.set_params(holdout=(X[:7] + 1, y[:7])).evaluate(MODELS, X, y)
    found = _fingerprint.differences(*({"": {"it": "a" * 500 + end}} for end in ("new", "old")))
    assert found == [f"it is ...{'a' * 40}new and was ...{'a' * 40}old"]
    names = {_fingerprint.as_text(one) for one in (lambda v: v.sum(), lambda v: v.min())}
    assert len(names) == 2


def changed_late(values):
    return np.where(np.arange(N) == 115, values[values != values[115]][0], values)


@pytest.mark.parametrize("what", ["features", "labels", "weights", "label times"])
@pytest.mark.parametrize("as_list", [False, True])
def test_rows_in_memory_are_compared_to_the_last(what, as_list, tmp_path):
    rows = {"X": X, "y": y, "sample_weight": np.arange(N) + 1.0, "label_time": np.arange(N) + 15.0}
    rows["arrival"] = np.arange(N)
    name = {"labels": "y", "weights": "sample_weight", "label times": "label_time"}.get(what)
    late = {**rows, name: changed_late(rows[name])} if name else {**rows, "X": X.copy()}
    late["X"][115, 1] += 1 if name is None else 0
    evaluator = sk.DelayedEvaluator("accuracy", random_state=1, checkpoint=tmp_path)

    def stream(values, size):
        made = as_stream(**values, chunk_size=size)
        return list(made) if as_list else made

    first = evaluator.evaluate(MODELS, stream(rows, 50), classes=["a", "b"])
    again = evaluator.evaluate(MODELS, stream(rows, 70), classes=["a", "b"])
    assert_same_result(again, first)
    with pytest.raises(ValueError, match=f"run: the checksum of the {what} of the stream is"):
        evaluator.evaluate(MODELS, stream(late, 50), classes=["a", "b"])


def test_what_changes_no_score_may_change(tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=1, checkpoint=tmp_path)
    first = evaluator.evaluate(MODELS, X, y)
    evaluator.set_params(checkpoint=RunFolder(str(tmp_path), "3s"), n_jobs=1)
    assert evaluator.evaluate(MODELS, X, y).scores == first.scores


def stop_at(folder, row=60, **params):
    """Begin an evaluation that breaks off at a row, and return its evaluator."""
    evaluator = evaluator_in("prequential", folder, **params)
    with pytest.raises(ValueError, match="the line is dead"):
        evaluate(evaluator, Source(row))
    return evaluator


def test_a_stream_that_is_shorter_now_is_noticed(tmp_path, monkeypatch):
    evaluator = stop_at(tmp_path)
    with pytest.raises(ValueError, match=r"The stream has 20 rows, and the run in .* had read 60"):
        evaluate(evaluator, lambda: iter([(X[:20], y[:20])]))


@pytest.mark.parametrize("package", ["skstream", "scikit-learn", "numpy"])
def test_checkpoints_of_other_versions_are_refused(package, tmp_path):
    evaluator = stop_at(tmp_path)
    manifest = tmp_path / "manifest.json"
    plain = json.loads(manifest.read_text())
    plain["versions"][package] = "0.0.1"
    with pytest.raises(ValueError, match=r"manifest\.json is damaged.*begin in another folder"):
        manifest.write_text(json.dumps(plain))
        evaluate(evaluator, Source())
    own = {name: plain[name] for name in plain if name not in ("kind", "format", "checksum")}
    manifest.write_text(json.dumps({**plain, "checksum": _run_folder.checksum(own)}))
    with pytest.raises(ValueError, match=rf"here is {package} \S+ instead of 0\.0\.1"):
        evaluate(evaluator, Source())


def test_a_foreign_folder_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match=r"is not empty and holds no run: it has 'thesis\.tex'"):
        evaluator_in("prequential", tmp_path).evaluate(MODELS, X, y)
    assert os.listdir(tmp_path) == ["thesis.tex"]
    with pytest.raises(ValueError, match="holds no run: it has no manifest"):
        sk.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        sk.load(tmp_path / "no")


@pytest.mark.parametrize("text", ["{}", "[1]", "nonsense", '{"kind": "skstream run folder"'])
def test_a_broken_manifest_is_named(text, tmp_path):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match=r"manifest\.json is not the manifest of a run folder"):
        evaluator_in("prequential", tmp_path).evaluate(MODELS, X, y)


def test_a_foreign_checkpoint_is_not_unpickled(tmp_path):
    evaluator = stop_at(tmp_path)
    checkpoint = tmp_path / "group-0" / "run.checkpoint"
    whole = checkpoint.read_bytes()
    for content in (b"\x80\x04N.", whole[:-5], whole.replace(b"sgd", b"abc", 1)):
        checkpoint.write_bytes(content)
        with pytest.raises(
            ValueError, match=r"run\.checkpoint is (damaged|not a check).*remove \S+group-0 and"
        ):
            evaluate(evaluator, Source())
    run = evaluator_in("prequential", None).start(MODELS, classes=["a", "b"])
    run.save(checkpoint)
    evaluator.set_params(checkpoint=tmp_path)
    with pytest.raises(ValueError, match="is not the checkpoint of a run folder"):
        evaluate(evaluator, Source())


def test_a_full_disk_keeps_the_checkpoint_before_it(undisturbed, tmp_path, monkeypatch):
    evaluator = evaluator_in("prequential", tmp_path)
    save, n_calls = _group.save_checkpoint, []

    def full(kept, path):
        n_calls.append(kept.run.n_rows)
        if len(n_calls) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        save(kept, path)

    with (
        monkeypatch.context() as patch,
        pytest.raises(OSError, match=r"run\.checkpoint could not be written \(No space") as caught,
    ):
        patch.setattr(_group, "save_checkpoint", full)
        evaluate(evaluator, Source())
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.result.n_rows == n_calls[-1]
    assert load_run(tmp_path / "group-0" / "run.checkpoint").n_rows == n_calls[-2]
    with monkeypatch.context() as patch:
        patch.setattr(_group, "save_npz", _no_space)
        with pytest.raises(OSError, match=r"outcome\.npz could not be written"):
            evaluate(evaluator, Source())
    assert_same_result(evaluate(evaluator, Source()), undisturbed["prequential"])


def _no_space(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for call in (
        lambda file: evaluator_in("prequential", file).evaluate(MODELS, X, y),
        sk.run_status,
    ):
        with pytest.raises(NotADirectoryError, match="file is a file, not a folder"):
            call(tmp_path / "file")
        with pytest.raises(ValueError, match="name of the run folder is empty"):
            call("")
    with pytest.raises(ValueError, match="name of the run folder is empty"):
        sk.load("")
    if os.geteuid():
        tmp_path.chmod(0o500)
        with pytest.raises(PermissionError, match="checkpoint=, cannot be written"):
            evaluator_in("prequential", tmp_path / "new").evaluate(MODELS, X, y)
        tmp_path.chmod(0o700)


def test_a_finished_folder_that_is_read_only_has_its_result(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    evaluator = evaluator_in("prequential", tmp_path)
    done = evaluator.evaluate(MODELS, X, y)
    monkeypatch.setattr(_lock.Lock, "_take", refuse)
    with pytest.raises(OSError, match=r"Read-only .*skstream.load\(folder\) gives its result"):
        evaluator.evaluate(MODELS, X, y)
    assert sk.load(tmp_path).scores == done.scores
    with pytest.raises(OSError, match=r"Read-only .* or give another one"):
        evaluator_in("prequential", tmp_path / "new").evaluate(MODELS, X, y)


def test_two_runs_at_once_are_refused(tmp_path):
    with (
        _lock.Lock(tmp_path / "lock"),
        pytest.raises(RuntimeError, match=r"is in use: process \d+"),
    ):
        evaluator_in("prequential", tmp_path).evaluate(MODELS, X, y)
    assert not (tmp_path / "lock").exists()


def lock_of(path, **other):
    own = {"host": "node", "system": _lock.system(), "pid": os.getpid(), "token": "x"}
    path.write_text(json.dumps({**own, "started": None, **other}))


@pytest.mark.parametrize("dead", ["pid", "started", "own", "silent", "broken"])
def test_the_lock_of_a_dead_run_is_taken_over(dead, tmp_path):
    lock = tmp_path / "lock"
    if dead == "pid":
        lock_of(lock, pid=2**22 + 1)
    elif dead == "started":
        lock_of(lock, pid=1, started="-1")
    elif dead == "own":
        lock_of(lock)
    else:
        lock_of(lock, system="other") if dead == "silent" else lock.write_text("")
        os.utime(lock, (0, 0))
    evaluator_in("prequential", tmp_path).evaluate(MODELS, X, y)
    assert not lock.exists()


def test_a_lock_of_another_machine_holds(tmp_path):
    """Also of a container whose host name is the same: its processes cannot be looked for here."""
    lock_of(tmp_path / "lock", system="other", pid=2**22 + 1)
    with pytest.raises(RuntimeError, match=r"is in use: process 4194305 on node"):
        evaluator_in("prequential", tmp_path).evaluate(MODELS, X, y)


@pytest.mark.parametrize("text", ["", "[]", "{}", "mine"])
def test_a_file_that_is_no_lock_is_named(text, tmp_path):
    (tmp_path / "lock").write_text(text)
    with pytest.raises(RuntimeError, match=r"lock does not say which process.*Remove this file"):
        evaluator_in("prequential", tmp_path).evaluate(MODELS, X, y)


def test_a_folder_that_goes_away_in_the_middle_is_named(tmp_path):
    def source():
        yield X[:40], y[:40]
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        yield X[40:], y[40:]

    small = evaluator_in("prequential", tmp_path / "run")
    with pytest.raises(RuntimeError, match=r"run is gone: .* The run ends at row \d+"):
        evaluate(small, source)


def test_a_run_whose_folder_was_taken_over_writes_nothing_more(tmp_path, monkeypatch):
    save = _group.save_checkpoint

    def save_and_lose(kept, path):
        save(kept, path)
        lock_of(tmp_path / "lock")

    monkeypatch.setattr(_group, "save_checkpoint", save_and_lose)
    with pytest.raises(RuntimeError, match="Another run has taken over"):
        evaluate(evaluator_in("prequential", tmp_path), Source())
    assert load_run(tmp_path / "group-0" / "run.checkpoint").n_rows == 0
    assert (tmp_path / "lock").exists()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"every": "soon"}, "every of a RunFolder must be a text such as"),
        ({"every": 0}, "every of a RunFolder must be"),
        ({"every": "10m"}, r"units of time are .*D or d \(days\), h, min, s.*Got '10m'"),
        ({"every": timedelta(0)}, "every of a RunFolder must be"),
        ({"every": None}, "every of a RunFolder must be .*Got None"),
        ({"return_models": True}, "return_models=True does not go with checkpoint="),
        ({"checkpoint": 3}, "The 'checkpoint' parameter"),
        ({"checkpoint": RunFolder("")}, "The name of the run folder is empty"),
    ],
)
def test_mistaken_parameters(params, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        evaluator_in("prequential", tmp_path / "new", **params).evaluate(MODELS, X, y)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("path", [3, None, b"run", RunFolder("run")])
def test_the_path_of_a_run_folder_is_a_path(path):
    message = r"path of a RunFolder must be a text or a path\. Got .* instead"
    with pytest.raises(TypeError, match=message):
        sk.PrequentialEvaluator(checkpoint=RunFolder(path)).evaluate(MODELS, X, y)


def test_a_run_folder_is_a_value(tmp_path):
    given = RunFolder(tmp_path, every=timedelta(hours=2))
    evaluator = clone(sk.PrequentialEvaluator("accuracy", random_state=1, checkpoint=given))
    assert evaluator.checkpoint == given != RunFolder(tmp_path)
    assert pickle.loads(pickle.dumps(given)) == given
    assert hash(given) == hash(RunFolder(tmp_path, every=timedelta(hours=2)))
    with pytest.raises(AttributeError):
        given.every = 3
    result = evaluator.evaluate(MODELS, X, y)
    short = evaluator.set_params(checkpoint=tmp_path).evaluate(MODELS, X, y)  # the same run
    assert short.scores == result.scores == sk.load(given).scores
    assert sk.run_status(given).state == "finished"


def test_a_run_folder_is_printed_as_it_was_given():
    assert repr(RunFolder("run")) == "RunFolder('run')"
    assert repr(RunFolder(Path("run"), every=500)) == "RunFolder('run', every=500)"
    text = repr(sk.PrequentialEvaluator(checkpoint=RunFolder("run", "2h")))
    assert text == "PrequentialEvaluator(checkpoint=RunFolder('run', every='2h'))"


def test_what_cannot_go_on_is_refused_before_the_first_row(tmp_path):
    evaluator = evaluator_in("prequential", tmp_path)
    with pytest.raises(ValueError, match="needs a stream that can be read again"):
        evaluate(evaluator, Source()())
    with pytest.raises(ValueError, match=r"checkpoint= is for evaluate"):
        evaluator.start(MODELS, classes=["a", "b"])
    with pytest.raises(TypeError, match="must be importable by their names"):
        evaluator.set_params(metrics=lambda t, p: 0.0).evaluate(MODELS, X, y)
    assert os.listdir(tmp_path) == []  # the call can be mended
    with parallel_config(backend="threading"), pytest.raises(TypeError, match="importable by"):
        evaluator.set_params(n_jobs=2).evaluate(MODELS, X, y)
    assert os.listdir(tmp_path) == []
    evaluator.set_params(metrics="accuracy", n_jobs=1).evaluate(MODELS, X, y)


class OfScript(Diary):
    """A model that is defined in the script that was started."""


def test_models_of_the_script_are_refused_before_workers_start(tmp_path, monkeypatch):
    monkeypatch.setattr(OfScript, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "OfScript", OfScript, raising=False)
    monkeypatch.setattr(_groups, "STARTS_THAT_PAY", 0.0)
    evaluator = evaluator_in("prequential", tmp_path, n_jobs=2)
    models = {"own": OfScript(), "last": sk.Persistent()}
    with pytest.raises(TypeError, match=r"OfScript is defined in the script .* Move it into a mod"):
        evaluator.evaluate(models, X, y)
    assert os.listdir(tmp_path) == []
    with parallel_config(backend="threading"):
        evaluator.evaluate(models, X, y)
