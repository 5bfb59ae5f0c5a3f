"""Tapes in files: the same results as from memory, whatever happened while they were written."""

import errno
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tracemalloc
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

import skstream as sk
from skstream.engine.tape import StoredAnswers, Tape
from skstream.evaluation import RunFolder, _tape_rows
from skstream.evaluation._folder import _fingerprint
from skstream.evaluation._folder._group import load_outcome
from skstream.evaluation._parallel._joined_outcomes import joined
from skstream.evaluation._results import _row_tests
from skstream.evaluation._runs import _tape_writer
from skstream.evaluation._runs._tape_writer import KeptTape
from skstream.metrics._rows import ScoredRows
from skstream.utils import _npy
from tests._examples import newest_alone
from tests.evaluation._models import Breaks, numbered_rows
from tests.evaluation.test_checkpoints import assert_same_result
from tests.evaluation.test_folder_outcomes import assert_equal_data

N = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
y = np.where(X[:, 1] + np.arange(N) % 7 / 10 > 0.3, "b", "a").astype(object)
MODELS = {"sgd": SGDClassifier(), "nb": BernoulliNB()}
WEIGHT = np.where(np.arange(N) < 50, 1.0, np.arange(N) % 4)
UNLABELLED = np.where(np.arange(N) % 11 == 5, None, y)

EVALUATORS = {
    "prequential": sk.PrequentialEvaluator(forgetting={"all": "cumulative", "w": "window:9"}),
    "folds": sk.KFoldEvaluator("accuracy", n_folds=2),
    "holdout": sk.HoldoutEvaluator("accuracy", holdout=(X[:7].copy(), y[:7]), every=10),
    "next": sk.HoldoutEvaluator("accuracy", holdout="next", every=10),
    "delayed": sk.DelayedEvaluator("accuracy", delay=15, n_bins=3),
}
KINDS = {"plain": {}, "weighted": {"weights": True}, "unlabelled": {"skip": True}}


class Source:
    """Chunks of the rows; breaks off where it is told."""

    def __init__(self, stop=None, size=17, weights=False, skip=False):
        self.stop, self.size, self.weights, self.skip = stop, size, weights, skip

    def __call__(self):
        labels = UNLABELLED if self.skip else y
        for first in range(0, N, self.size):
            if self.stop is not None and first >= self.stop:
                raise OSError("the line is dead")
            rows = slice(first, first + self.size)
            yield X[rows], labels[rows], {"sample_weight": WEIGHT[rows]} if self.weights else {}


def evaluate(name, folder=None, models=MODELS, source=None, **params):
    params = {"random_state": 1, **params}
    if folder is not None:
        params = {"keep_tape": "disk", "checkpoint": RunFolder(folder, every=10), **params}
    source = Source() if source is None else source
    if source.skip:
        params["missing_labels"] = "skip"
    own = {k: v for k, v in EVALUATORS[name].get_params(deep=False).items() if k != "_begun"}
    evaluator = type(EVALUATORS[name])(**{**own, "keep_tape": True, **params})
    return evaluator.evaluate(models, source, classes=["a", "b"])


def in_memory(result):
    """The same result with all of its tape in memory."""
    columns = {
        name: getattr(result.tape, name) for name in ("y", "weight", "row", *_tape_rows.BASELINES)
    }
    columns = {k: None if v is None else np.array(v) for k, v in columns.items()}
    answers = {name: np.asarray(one) for name, one in result.tape.answers.items()}
    return replace(result, tape=replace(result.tape, answers=answers, **columns))


@pytest.fixture(autouse=True)
def little_at_a_time(monkeypatch):
    """Little is written and read at a time, so that few rows are many blocks."""
    monkeypatch.setattr(_fingerprint, "HEAD", 10)
    monkeypatch.setattr(_tape_writer, "_WAITING", 50)
    monkeypatch.setattr(_tape_writer, "_ONES", 7)
    monkeypatch.setattr(_tape_rows, "LEAST_ROWS", 13)
    monkeypatch.setattr(_tape_rows, "LARGEST_PIECE", 13)
    monkeypatch.setattr(_row_tests, "ROWS_AT_ONCE", 13)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EVALUATORS)
def test_results_are_those_of_memory_also_after_breaks(name, kind, tmp_path):
    stops = np.sort(np.random.default_rng(len(name)).integers(18, N, 2))
    for stop in stops:
        with pytest.raises(ValueError, match="the line is dead") as caught:
            evaluate(name, tmp_path, source=Source(stop, **KINDS[kind]))
        so_far = caught.value.result
        for path in (tmp_path / "group-0" / "tape").iterdir():  # as a torn write leaves them
            with path.open("ab") as file:
                file.write(b"\x07" * 5)
    kept = evaluate(name, source=Source(**KINDS[kind]))
    result = evaluate(name, tmp_path, source=Source(size=31, **KINDS[kind]))
    assert_same_result(in_memory(result), kept)
    assert not (tmp_path / "group-0" / "run.checkpoint").exists()
    again = sk.load(tmp_path)
    assert isinstance(again.tape.answers["sgd"], StoredAnswers)
    assert_same_result(in_memory(again), kept)
    assert_same_result(in_memory(result.rescore()), kept.rescore())
    if so_far is not None and so_far.tape.n_rows:  # its rows are still there
        n_rows = so_far.tape.n_rows
        np.testing.assert_array_equal(
            so_far.tape.answers["nb"][0], kept.tape.answers["nb"][0][:n_rows]
        )
    result.save(tmp_path / "saved.npz")
    assert_same_result(sk.load(tmp_path / "saved.npz"), kept)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("name", ["prequential", "holdout", "delayed"])
def test_rows_are_compared_as_in_memory(name, weights, tmp_path):
    source = Source(weights=weights)
    kept, result = evaluate(name, source=source), evaluate(name, tmp_path, source=source)
    options = {"bin": 1} if name == "delayed" else {}
    kinds = ["cumulative", "window:20", "fading:0.9"]
    for test, forgetting in [("anytime", None), *product(["mcnemar", "q"], kinds)]:
        one, other = (
            of.compare("sgd", "nb", test=test, forgetting=forgetting, **options)
            for of in (kept, result)
        )
        assert repr(one) == repr(other)
        assert_equal_data(one, other)


def test_a_window_of_a_result_reads_its_own_folds(tmp_path):
    kept, result = evaluate("folds"), evaluate("folds", tmp_path)
    for folds in (1, [1, 0]):
        one, other = kept.select(models="nb", folds=folds), result.select(models="nb", folds=folds)
        assert isinstance(other.tape.answers["nb"], StoredAnswers)
        assert_same_result(in_memory(other), one)
        assert_same_result(in_memory(other.rescore("kappa")), one.rescore("kappa"))
    np.testing.assert_array_equal(
        result.predictions("nb", fold=1, every_row=True),
        kept.predictions("nb", fold=1, every_row=True),
    )
    assert repr(result.tape.answers["nb"]) == f"StoredAnswers(shape=(2, {N}), dtype=int8)"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_model_that_fails(tmp_path):
    evaluator = sk.PrequentialEvaluator(random_state=0, error_score=0.0)
    given = {"breaks": Breaks(at=33), **MODELS}, numbered_rows(60), y[:60]
    kept = evaluator.evaluate(*given)
    result = evaluator.set_params(keep_tape="disk", checkpoint=tmp_path).evaluate(*given)
    assert result.failures
    assert_same_result(in_memory(result), kept)


@pytest.mark.parametrize("stop", [0, 40, 60, 90])
def test_weights_that_begin_late(stop, tmp_path):
    classes = np.array(["a", "b"])
    codes = RNG.integers(0, 2, (3, N)).astype(np.int8)
    pieces = [
        ScoredRows(codes[0, rows], codes[1:, rows], WEIGHT[rows] if rows.start >= 50 else None)
        for rows in (slice(first, first + 10) for first in range(0, N, 10))
    ]
    kept = KeptTape(classes, 2, 1, on_disk=False)
    stored = KeptTape(classes, 2, 1, on_disk=True)
    stored.keep_in(tmp_path)
    for number, piece in enumerate(pieces):
        if number == stop // 10:
            saved = pickle.dumps(stored)
        kept.keep(piece)
        stored.keep(piece)
        stored.write(all_of_it=number % 2 == 0)
    stored = pickle.loads(saved)
    stored.keep_in(tmp_path)
    for piece in pieces[stop // 10 :]:
        stored.keep(piece)
    stored.write(all_of_it=True)
    opened = {k: None if v is None else v.open() for k, v in stored.labels().items()}
    assert {k: v.tolist() for k, v in opened.items()} == {
        k: v.tolist() for k, v in kept.labels().items()
    }
    np.testing.assert_array_equal(opened["weight"], WEIGHT)
    np.testing.assert_array_equal(stored.answers(1).open(), kept.answers(1))


def test_groups_of_workers_keep_their_own_files(tmp_path):
    with parallel_config(backend="threading"):
        result = evaluate("folds", tmp_path, n_jobs=2, engine="loop")
    files = tmp_path.glob("group-*/tape/answers-*.npy")  # how many of each depends on the time
    assert {path.parts[-3] for path in files} == {"group-0", "group-1"}
    assert_same_result(in_memory(result), evaluate("folds", engine="loop"))


def test_a_moved_folder_is_read_where_it_lies_now(tmp_path):
    result = evaluate("prequential", tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    with pytest.raises(
        FileNotFoundError, match=r"or make the result again .* skstream.load.folder"
    ):
        result.predictions("nb", every_row=True)
    moved = sk.load(tmp_path / "b")
    assert_same_result(in_memory(moved), evaluate("prequential"))


def test_a_tape_that_lost_rows_is_named_before_the_run_goes_on(tmp_path):
    with pytest.raises(ValueError, match="the line is dead"):
        evaluate("prequential", tmp_path, source=Source(60))
    path = tmp_path / "group-0" / "tape" / "answers-1.npy"
    os.truncate(path, 130)
    with pytest.raises(ValueError, match=r"answers-1\.npy does not fit its checkpoint"):
        evaluate("prequential", tmp_path)


def damage(path):
    content = bytearray(path.read_bytes())
    content[140] ^= 8
    path.write_bytes(content)
    os.utime(path, (0, 0))  # a clock may be too coarse to show the change


ANEW = r"remove group-0 in .*run and make the same call again to compute it anew\."


@pytest.mark.parametrize("name", ["prequential", "delayed"])
def test_damaged_answers_are_named_and_not_used(name, tmp_path):
    kept, result = evaluate(name), evaluate(name, tmp_path / "run")
    damage(tmp_path / "run" / "group-0" / "tape" / "answers-0.npy")
    with pytest.warns(match=r"scores .* are whole, but .*answers-0\.npy is damaged.*" + ANEW):
        collected = sk.load(tmp_path / "run")
    assert collected.scores == kept.scores
    np.testing.assert_array_equal(
        collected.predictions("nb", every_row=True), kept.predictions("nb", every_row=True)
    )
    for use in (
        result.rescore,
        lambda: result.predictions("sgd", every_row=True),
        lambda: result.compare("sgd", "nb", test="q"),
        lambda: result.save(tmp_path / "saved.npz"),
        collected.rescore,
    ):
        with pytest.raises(ValueError, match=r"answers-0\.npy is damaged: the checksum.*" + ANEW):
            use()
    assert not (tmp_path / "saved.npz").exists()
    shutil.rmtree(tmp_path / "run" / "group-0")
    assert_same_result(in_memory(evaluate(name, tmp_path / "run")), kept)


@pytest.mark.parametrize("how", ["removed", "damaged"])
@pytest.mark.parametrize("name", EVALUATORS)
def test_scores_do_not_need_the_tape(name, how, tmp_path):
    kept = evaluate(name, tmp_path / "run")
    tape = tmp_path / "run" / "group-0" / "tape"
    if how == "removed":
        shutil.rmtree(tape)
    else:
        damage(tape / "y.npy")
    why = {"removed": "holds .* not there any more", "damaged": "is damaged: the checksum"}[how]
    assert sk.run_status(tmp_path / "run").state == "finished"
    for call in (partial(evaluate, name), sk.load):
        warns = (
            nullcontext() if how == "removed" else pytest.warns(match="scores .* are whole, but")
        )
        with warns:
            again = call(tmp_path / "run")
        assert again.tape is None
        assert_equal_data(again.values, kept.values)
        assert str(again) == str(kept)
        loaded = sk.load(again.save(tmp_path / "saved.npz"))
        assert_equal_data(loaded.values, kept.values)
        for use in (
            again.rescore,
            lambda one=again: one.predictions("sgd", every_row=True),
            lambda one=again: one.select(models=["sgd", "nb"]).compare("sgd", "nb", test="q"),
        ):
            with pytest.raises(ValueError, match=rf"y\.npy {why}.*" + ANEW):
                use()


@pytest.mark.parametrize("how", [os.unlink, lambda path: path.write_bytes(b"no array")])
def test_a_model_that_died_has_no_answers_beside_a_tape_that_cannot_be_read(how, tmp_path):
    evaluate("prequential", tmp_path)
    outcome = load_outcome(tmp_path / "group-0" / "outcome.npz")
    how(tmp_path / "group-0" / "tape" / "answers-0.npy")
    dead = {("dead", 0): sk.ModelError("it died", "dead", 0)}
    lane = joined([outcome], dead, [("sgd", 0), ("dead", 0)]).lanes[1]
    assert (lane.failure, lane.answers) == ("it died", None)


def test_a_full_disk_names_the_file_and_the_run_goes_on_later(tmp_path, monkeypatch):
    def full(array, folder, *, sync=False):
        if array.n_rows > 60:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / array.name))
        write(array, folder, sync=sync)

    write = _npy.GrowingArray.write
    with (
        monkeypatch.context() as patch,
        pytest.raises(OSError, match=r"tape/y\.npy could not be written \(No space") as caught,
    ):
        patch.setattr(_npy.GrowingArray, "write", full)
        evaluate("prequential", tmp_path)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.result.n_rows > 60
    assert caught.value.result.tape is None
    result = evaluate("prequential", tmp_path)
    assert_same_result(in_memory(result), evaluate("prequential"))


KILLED = """
import os, signal, sys
from tests.evaluation import test_tape_on_disk as this
class Dies(this.Source):
    def __call__(self):
        for n, chunk in enumerate(super().__call__()):
            if n == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
            yield chunk
this._fingerprint.HEAD = this._tape_writer._WAITING = 10
this.evaluate("prequential", sys.argv[1], source=Dies())
"""


@newest_alone
@pytest.mark.skipif("sys.platform == 'win32'")
def test_a_killed_process_leaves_a_right_tape(tmp_path):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), "5"], timeout=100)
    assert ended.returncode == -signal.SIGKILL
    answers = np.load(tmp_path / "group-0" / "tape" / "answers-0.npy", mmap_mode="r")
    kept = evaluate("prequential")
    np.testing.assert_array_equal(answers, kept.tape.answers["sgd"][0][: len(answers)])
    assert len(answers)
    assert_same_result(in_memory(evaluate("prequential", tmp_path)), kept)


def test_a_folder_is_needed():
    evaluator = sk.PrequentialEvaluator(keep_tape="disk")
    with pytest.raises(ValueError, match="checkpoint=FOLDER"):
        evaluator.evaluate(MODELS, X, y)
    with pytest.raises(ValueError, match="checkpoint=FOLDER"):
        evaluator.start(MODELS, classes=["a", "b"])


@pytest.mark.parametrize("name", EVALUATORS)
def test_auto_keeps_no_large_tape_in_memory(name, monkeypatch, tmp_path):
    kept = evaluate(name)
    n_bytes = sum(np.asarray(one).nbytes for one in kept.tape.answers.values())
    evaluator = clone(EVALUATORS[name]).set_params(keep_tape="auto", random_state=1)
    monkeypatch.setattr(_tape_writer, "BYTES_OF_LARGE_TAPE", 2 * n_bytes)
    assert evaluator.evaluate(MODELS, X, y).tape is not None
    monkeypatch.setattr(_tape_writer, "BYTES_OF_LARGE_TAPE", n_bytes)
    with pytest.warns(UserWarning, match=r"GB, and are not kept.*checkpoint=FOLDER.*keep_tape=Tr"):
        assert evaluator.evaluate(MODELS, X, y).tape is None
    with pytest.warns(UserWarning, match="GB: they are kept in files of the run folder"):
        on_disk = evaluator.set_params(checkpoint=tmp_path).evaluate(MODELS, X, y)
    assert list(tmp_path.glob("group-0/tape/y.npy"))
    assert on_disk.scores == kept.scores


def test_comparing_and_rescoring_do_not_load_the_tape(tmp_path, monkeypatch):
    monkeypatch.undo()
    n = 3_000_000
    answers = {}
    for name in ("a", "b"):
        values = RNG.integers(0, 2, n, dtype=np.int8)
        array = _npy.GrowingArray(f"{name}.npy", values.dtype)
        array.reopen(tmp_path)
        array.append(values)
        array.write(tmp_path)
        answers[name] = StoredAnswers([array.stored(tmp_path)])
    tape = Tape(classes=np.array(["a", "b"]), y=answers["a"][0], weight=None, answers=answers)
    result = replace(evaluate("prequential"), tape=tape)
    result = replace(result, values={name: result.values["nb"] for name in answers})
    tracemalloc.start()
    result.rescore("accuracy")
    for test in ("anytime", "mcnemar", "q"):
        result.compare("a", "b", test=test)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n  # less than one column of floats


def test_times_are_kept_on_disk_too(tmp_path):
    times = np.datetime64("2025-01-01", "us") + np.arange(60) * np.timedelta64(1, "h")
    y = np.arange(60) % 3 % 2
    options = {"metrics": "accuracy", "record_every": "1D"}
    in_files = sk.PrequentialEvaluator(**options, keep_tape="disk", checkpoint=tmp_path / "run")
    results = [
        one.evaluate(sk.Persistent(), np.zeros((60, 1)), y, arrival=times)
        for one in (in_files, sk.PrequentialEvaluator(**options))
    ]
    again = [one.rescore("accuracy", forgetting="window:6h") for one in results]
    np.testing.assert_array_equal(*[one.curve("Persistent") for one in again])
    np.testing.assert_array_equal(*[one.times for one in again])
    loaded = sk.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.times, results[0].times)
    np.testing.assert_array_equal(loaded.tape.time, times)
