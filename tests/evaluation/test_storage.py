"""Checkpoints and results as files: whole or not at all, and damage is found."""

import errno
import os
import signal
import subprocess
import sys
import time
import zipfile
import zlib

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream import (
    DelayedEvaluator,
    Persistent,
    Polling,
    PrequentialEvaluator,
    RunOptions,
    _load,
    load,
    load_run,
)
from skstream._load import load as load_anything
from skstream._load import load_result
from skstream.core.run import checkpoint as _checkpoint
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import make_demo_stream
from tests._crafted import crafted
from tests._examples import newest_alone

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
# Copies of one process: importing takes longer than all else.
SAVES_ON_AND_ON = """
import os
import sys
import time
import numpy as np
from skstream import Persistent, PrequentialEvaluator

X, y = np.arange(300.0).reshape(-1, 1), np.arange(300) % 2
run = PrequentialEvaluator("accuracy").start(Persistent(), classes=[0, 1])
run.update(X, y)
result = run.result()
names = sys.argv[1:]
while len(names) > 1 and not os.fork():
    del names[0]
run.save(f"{names[0]}.joblib")
sys.stdout.write(f"{os.getpid()} {names[0]}\\n")  # at once, between those of the others
sys.stdout.flush()
end = time.monotonic() + 100  # if nobody kills it
while time.monotonic() < end:
    run.save(f"{names[0]}.joblib")
    result.save(f"{names[0]}.npz")
"""


@pytest.fixture
def run():
    stream = make_demo_stream(200, random_state=0)
    evaluator = PrequentialEvaluator("accuracy", random_state=0, run=RunOptions(keep_tape=True))
    models = {"sgd": SGDClassifier(), "last": Persistent()}
    run = evaluator.start(models, classes=["DOWN", "UP"])
    run.update(stream.X, stream.y)
    return run


@pytest.fixture
def delayed_result():
    stream = make_demo_stream(60, random_state=0)
    return DelayedEvaluator("accuracy", delay=3, polling=Polling(n_bins=2)).evaluate(
        Persistent(), stream
    )


@newest_alone
def test_a_process_killed_while_saving_leaves_a_whole_file(tmp_path):
    names = [str(tmp_path / f"{k}") for k in range(3 if hasattr(os, "fork") else 1)]
    command = [sys.executable, "-c", SAVES_ON_AND_ON, *names]
    saving = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            for _ in names:
                number, name = process.stdout.readline().split()
                saving[name] = int(number)
            for name in names[::-1]:
                os.kill(saving.pop(name), KILL)
                time.sleep(0.02)
        finally:
            for number in saving.values():
                os.kill(number, KILL)
    paths = [(tmp_path / f"{k}.joblib", tmp_path / f"{k}.npz") for k in range(len(names))]
    for checkpoint, result in paths:
        loaded = load_run(checkpoint)
        assert loaded.n_rows == 300
        loaded.update([[0.0]], [0])
        assert loaded.result().n_rows == 301
        if result.exists():
            assert load_result(result).n_rows == 300


def test_a_save_that_fails_midway_leaves_the_checkpoint_before(tmp_path, run, monkeypatch):
    path = run.save(tmp_path / "run.joblib")
    before = path.read_bytes()
    run.update(np.zeros((1, 4)), ["UP"])

    def fails(value, file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_checkpoint.joblib, "dump", fails)
    with pytest.raises(OSError, match=r"No space left on device.*run\.joblib"):
        run.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.joblib"]


def test_every_damaged_checkpoint_is_refused_before_it_is_unpickled(tmp_path, run, monkeypatch):
    good = run.save(tmp_path / "run.joblib").read_bytes()
    path = tmp_path / "damaged.joblib"
    monkeypatch.setattr(_checkpoint.joblib, "load", lambda file: pytest.fail("was unpickled"))
    rng = np.random.default_rng(0)
    for at in [0, 19, 20, 21, 40, 86, *rng.integers(len(good), size=60).tolist()]:
        damaged = bytearray(good)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"damaged\.joblib"):
            load_run(path)
    for length in [0, 1, 20, 86, 87, len(good) // 2, len(good) - 1]:
        path.write_bytes(good[:length])
        with pytest.raises(ValueError, match=r"damaged\.joblib"):
            load_run(path)


def test_no_damaged_result_loads_as_another_one(tmp_path, run, delayed_result, rng):
    path = tmp_path / "damaged.npz"
    for result in (run.result(), delayed_result):
        good = result.save(tmp_path / "result.npz").read_bytes()
        for at in rng.integers(len(good), size=60).tolist():
            damaged = bytearray(good)
            damaged[at] ^= 1 << int(rng.integers(8))
            path.write_bytes(damaged)
            try:
                loaded = load_result(path)
            except ValueError as error:
                assert "damaged.npz" in str(error)
            else:  # a date in the archive, say
                assert str(loaded) == str(result)
                assert loaded.tape.y.tolist() == result.tape.y.tolist()
        for length in [0, 1, 30, len(good) // 2, len(good) - 1]:
            path.write_bytes(good[:length])
            with pytest.raises(ValueError, match=r"damaged\.npz"):
                load_result(path)


@pytest.mark.parametrize("load", [load_result, load_anything])
def test_the_folder_of_the_command_line_is_taken(tmp_path, run, load):
    (tmp_path / "saved").mkdir()
    saved = run.result().save(tmp_path / "saved" / "result.npz")
    assert load(saved.parent).scores == load(str(saved)).scores == run.result().scores
    with pytest.raises(ValueError, match="is a folder without result"):
        load(tmp_path)


@pytest.mark.parametrize("load", [load_run, load_result])
def test_what_is_no_file_of_ours_is_said_with_its_path(tmp_path, run, load):
    own = run.result().save(tmp_path / "r.npz") if load is load_run else run.save(tmp_path / "r")
    foreign = {
        "empty": b"",
        "text": b"Row,Label\n1,2\n",
        "pickle": zlib.compress(b"x") + b"\x80",
        "other": own.read_bytes(),
    }
    for name, content in foreign.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=name):
            load(tmp_path / name)
    np.savez(tmp_path / "foreign.npz", header=np.array('{"format": 2}'), checkpoints=np.arange(3))
    with pytest.raises(ValueError, match=r"foreign\.npz"):
        load(tmp_path / "foreign.npz")
    np.savez(tmp_path / "pickled.npz", header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match=r"pickled\.npz"):
        load(tmp_path / "pickled.npz")
    with pytest.raises(ValueError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing")


def test_a_checkpoint_of_another_format_says_so(tmp_path, run):
    path = tmp_path / "old.joblib"
    for content, words in ((b"", "it is empty"), (b"\x80\x04", "it does not start like one")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"old\.joblib is not a checkpoint .* {words}"):
            load_run(path)
    good = run.save(tmp_path / "new.joblib").read_bytes()
    path.write_bytes(
        good.replace(f"checkpoint {_checkpoint.CHECKPOINT_FORMAT}".encode(), b"checkpoint 8", 1)
    )
    with pytest.raises(ValueError, match=r"old\.joblib has checkpoint format 8"):
        load_run(path)


@pytest.mark.filterwarnings("ignore:Measures .* cannot be updated row by row")
def test_a_run_that_cannot_be_saved_says_why_and_leaves_the_file(tmp_path, run):
    path = run.save(tmp_path / "run.joblib")
    before = path.read_bytes()
    evaluator = PrequentialEvaluator({"hits": lambda y, p: 1.0}, run=RunOptions(keep_tape=True))
    other = evaluator.start(Persistent(), classes=[0, 1])
    other.update([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match=r"cannot be saved to .*run\.joblib.*lambda"):
        other.save(path)
    assert path.read_bytes() == before
    assert other.n_rows == 2


class Gone(Persistent):
    """A model whose class the loading process does not have."""


def test_a_model_that_cannot_be_made_here_is_said(tmp_path, monkeypatch):
    run = PrequentialEvaluator("accuracy").start(Gone(), classes=[0, 1])
    run.update([[0.0]], [1])
    path = run.save(tmp_path / "run.joblib")
    monkeypatch.delattr(sys.modules[__name__], "Gone")
    with pytest.raises(ValueError, match=r"run\.joblib is an intact checkpoint.*Gone"):
        load_run(path)


@pytest.mark.parametrize("load", [load_result, load_run])
def test_a_name_without_its_ending_is_said(tmp_path, load):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.$"):
        load(tmp_path / "none")
    (tmp_path / "none.npz").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match=r"no file .*none, but there is .*none\.npz\."):
        load(tmp_path / "none")


def test_small_files_do_not_fill_the_memory_unasked(tmp_path, run, monkeypatch):
    path = run.result().save(tmp_path / "result.npz")
    monkeypatch.setattr(_load, "USUAL_BYTES", 1000)
    monkeypatch.setattr(_load, "USUAL_RATIO", 0)
    with pytest.raises(ValueError, match=r"result\.npz takes .* bytes of memory, .*max_bytes=\d+"):
        load_result(path)
    assert load_result(path, max_bytes=1 << 20).n_rows == run.n_rows


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("costs__sgd__seconds_asking", "x"),
        ("drifts", "x"),
        ("drifts", {"$tuple": [{"$class": "Drift", "start": "x", "end": 3}]}),
        ("tape__methods", 3),
        ("tape__answers", {}),
        ("details__scored_sets", 3),
        ("n_unlabelled", 1.5),
        ("failed_at", {"sgd": [None, 3]}),
        ("details__selected_folds", {"$tuple": [0, 1]}),
        ("parameters", {"n_warmup": None}),
        ("measures", {}),
        ("measures__accuracy__bounds", 3),
        ("measures__accuracy__$class", "Path"),
        ("values__sgd__cumulative", {}),
        ("$class", "Tape"),
        ("unknown", 3),
    ],
)
def test_a_header_of_wrong_types_is_one_error_on_loading(part, value, tmp_path, run):
    path = run.result().save(tmp_path / "result.npz")
    crafted(path, **{part: value})
    with pytest.raises(ValueError, match=r"result\.npz is not a result saved by skstream"):
        load_result(path)


@pytest.mark.parametrize(
    ("part", "array"),
    [
        ("checkpoints", np.zeros(2)),
        ("values/0/0/0", np.zeros((2, 2))),
        ("tape/answers/0", np.array(["a", "b"])),
        ("tape/answers/0", np.full((1, 200), 2, np.int8)),
        ("tape/y", np.zeros(3, np.int8)),
        ("classes", np.zeros(2, complex)),
    ],
)
def test_arrays_that_do_not_fit_are_one_error_on_loading(part, array, tmp_path, run):
    path = run.result().save(tmp_path / "result.npz")
    crafted(path, {part: array})
    with pytest.raises(ValueError, match=r"result\.npz is not a result saved by skstream"):
        load_result(path)


def test_an_array_that_declares_more_than_there_is_takes_no_memory(tmp_path, run):
    path = run.result().save(tmp_path / "result.npz")
    with np.load(path) as file, zipfile.ZipFile(tmp_path / "large.npz", "w") as large:
        for name in file.files:
            with large.open(f"{name}.npy", "w") as part:
                np.lib.format.write_array(part, file[name])
        with large.open("large.npy", "w") as part:
            facts = {"descr": "<f8", "fortran_order": False, "shape": (1 << 50,)}
            np.lib.format.write_array_header_1_0(part, facts)
    with pytest.raises(ValueError, match=r"large\.npz .* does not have the size that it declares"):
        load_result(tmp_path / "large.npz")


@pytest.mark.parametrize(
    ("part", "axis", "words"),
    [
        ("classes", 0, "the classes of its tape are not those of the result"),
        ("tape/classes", 0, "the classes of its tape are not those of the result"),
        ("tape/scores/0", 2, r"scores has shape \(1, 90, 14\) instead of \(1, 90, 15\)"),
        ("tape/answers/0", 2, r"answers has shape \(1, 90, 4\) instead of \(1, 90, 5\)"),
    ],
)
def test_a_file_with_fewer_classes_or_bins_than_its_arrays_hold_is_refused(
    part, axis, words, tmp_path
):
    X = np.random.default_rng(0).normal(size=(90, 2))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 1)]
    evaluator = DelayedEvaluator(
        ["accuracy", "log_loss"], delay=5, run=RunOptions(keep_tape=True), polling=Polling(n_bins=3)
    )
    result = evaluator.evaluate({"nb": IncrementalGaussianNB()}, X, y)
    path = result.save(tmp_path / "result.npz")
    assert load(path).tape.classes.tolist() == ["a", "b", "c"]
    assert load(result.select(bins=0).save(path)).bins == (0,)
    with np.load(result.save(path)) as file:
        arrays = {name: file[name] for name in file.files}
    arrays[part] = np.take(arrays[part], range(arrays[part].shape[axis] - 1), axis=axis)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=rf"result\.npz is not a result .*{words}"):
        load(path)
