"""No row that a model has learnt or been asked changes unnoticed between a stop and the next call.

One value after the other is changed, at every row.
"""

import os
import shutil
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse

import skstream as sk
from skstream.evaluation import RunFolder, _evaluator
from skstream.evaluation._folder import _fingerprint
from skstream.evaluation._folder._group import Keeper
from skstream.evaluation._folder._run_folder import existing
from skstream.evaluation._parallel._groups import Groups
from skstream.evaluation._runs import _pace
from skstream.evaluation._runs._checkpoint import load_run
from skstream.streams import as_stream
from tests.evaluation.test_checkpoints import assert_same_result

N, STOP = 12, 8
PIECE = 4
RNG = np.random.default_rng(0)
ROWS = {
    "X": RNG.normal(size=(N, 2)),
    "y": np.arange(N) % 3 % 2,
    "sample_weight": np.arange(N) % 2 + 1.0,
    "id": np.arange(N),
}
TIMES = {"arrival": np.arange(N) * 1.0, "label_time": np.arange(N) + 3.5}
NAMES = {
    "X": "features",
    "y": "labels",
    "sample_weight": "weights",
    "arrival": "arrivals",
    "label_time": "label times",
}
HELD_OUT = {
    "X": RNG.normal(size=(N, 2)),
    "y": np.arange(N) % 2,
    "sample_weight": np.arange(N) % 3 + 1.0,
}
#: Held-out rows of a set; there is one after every piece.
SIZE = 2


class Source:
    """Chunks of rows, and of all meta data that there are."""

    def __init__(self, columns, size=N, as_X=np.asarray):
        self.columns, self.size, self.as_X = columns, size, as_X

    def __call__(self):
        for first in range(0, N, self.size):
            part = {k: values[first : first + self.size] for k, values in self.columns.items()}
            yield self.as_X(part.pop("X")), part.pop("y"), part


class Held:
    """Held-out rows of a generator whose seed and chunks are not part of it."""

    columns, size = HELD_OUT, 5

    def __call__(self):
        return Source(self.columns, self.size)()


EVALUATORS = {
    "prequential": partial(sk.PrequentialEvaluator, n_warmup=3),
    "batches": partial(sk.PrequentialEvaluator, batch_size=3),
    "folds": partial(sk.KFoldEvaluator, n_folds=2),
    "next": partial(sk.HoldoutEvaluator, holdout="next", every=3),
    "fresh": partial(sk.HoldoutEvaluator, every=PIECE, holdout_size=SIZE),
    "delayed": partial(sk.DelayedEvaluator, n_bins=2),
}


def columns_of(name):
    return ROWS | TIMES if name == "delayed" else ROWS


def evaluate(name, folder, columns=None, held_out=HELD_OUT, size=N):
    own = {"holdout": Source(held_out, size)} if name == "fresh" else {}
    evaluator = EVALUATORS[name]("accuracy", random_state=0, checkpoint=folder, **own)
    source = Source(columns_of(name) if columns is None else columns, size)
    return evaluator.evaluate(sk.MajorityClass(), source, classes=[0, 1])


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    monkeypatch.setattr(_fingerprint, "HEAD", 1)
    monkeypatch.setattr(_pace, "FIRST_SIZE", PIECE)
    monkeypatch.setattr(_pace, "GROWTH", 1)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no power is lost here


@contextmanager
def stopping(monkeypatch, rows=lambda run: STOP):
    """Stop runs at a row, after a checkpoint."""
    advance = Keeper.advance

    def stop(keeper, n_rows):
        advance(keeper, n_rows)
        if keeper.run.n_rows >= rows(keeper.run):
            raise OSError("the power is gone")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="the power is gone"):
        patch.setattr(Keeper, "advance", stop)
        yield


@pytest.fixture(params=EVALUATORS)
def stopped(request, tmp_path, monkeypatch):
    """An evaluator, and its folder, in the middle of its only chunk."""
    with stopping(monkeypatch):
        evaluate(request.param, RunFolder(tmp_path / "run", every=1))
    assert load_run(tmp_path / "run" / "group-0" / "run.checkpoint").n_rows == STOP
    return request.param, tmp_path / "run"


def changes(columns, n_rows):
    """Columns with one other value, and where it is."""
    for name, values in columns.items():
        for place in np.ndindex(values[:n_rows].shape):
            other = values.copy()
            other[place] = 1 - other[place] if name == "y" else other[place] + 0.25
            yield name, place, {**columns, name: other}


def goes_on(folder, *call, **options):
    """Make the call again, in a copy of the folder."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    try:
        return evaluate(call[0], copy, *call[1:], **options)
    finally:
        shutil.rmtree(copy)


def pass_over(folder, *source):
    """Do the part of a call in which rows are compared, from the second row on."""
    group = existing(folder).group(0)
    next(group.keeper(load_run(group.checkpoint)).chunks(as_stream(Source(*source))))


def test_unchanged_rows_go_on_in_any_chunks(stopped):
    name, folder = stopped
    undisturbed = evaluate(name, None)
    for size in (1, 5, N):
        assert_same_result(goes_on(folder, name, size=size), undisturbed)


def test_no_row_of_the_stream_changes_unnoticed(stopped):
    name, folder = stopped
    for number, (column, place, columns) in enumerate(changes(columns_of(name), STOP + 1)):
        size = [N, 5, 1][number % 3]
        if column == "id" or place[0] == STOP:  # not seen by any model, or not yet
            pass_over(folder, columns, size)
            continue
        with pytest.raises(ValueError, match=f"its first {STOP} rows have other {NAMES[column]}"):
            pass_over(folder, columns, size)
        if place[0] == STOP - 1:
            with pytest.raises(ValueError, match=f"its first {STOP} rows have other") as caught:
                goes_on(folder, name, columns, size=size)
            assert caught.value.result is not None


def as_frame(X):
    pd = pytest.importorskip("pandas")
    words = pd.Series(np.round(X[:, 1], 2).astype(str), dtype="category")
    missing = pd.Series(np.round(9 * X[:, 0]), dtype="Int64").mask(X[:, 0] > 1)
    return pd.DataFrame({"x": X[:, 0], "missing": missing, "words": words})


def as_polars(X):
    pl = pytest.importorskip("polars")
    missing = [None if x > 1 else round(9 * x) for x in X[:, 0]]
    return pl.DataFrame({"x": X[:, 0], "missing": missing, "words": X[:, 1].astype(str)})


@pytest.mark.parametrize("as_X", [sparse.csr_matrix, as_frame, as_polars])
def test_no_row_in_any_container_changes_unnoticed(as_X, tmp_path, monkeypatch):
    labels = np.where(np.arange(N) % 4 == 2, None, ROWS["y"])  # a label comes, or goes away
    columns = {"X": ROWS["X"], "y": labels}
    evaluator = sk.PrequentialEvaluator("accuracy", missing_labels="skip")
    with stopping(monkeypatch):
        evaluator.set_params(checkpoint=RunFolder(tmp_path, every=1))
        evaluator.evaluate(sk.MajorityClass(), Source(columns, N, as_X), classes=[0, 1])
    for size in (1, 5, N):
        pass_over(tmp_path, columns, size, as_X)
    changed = [*changes({"X": ROWS["X"]}, STOP + 1)]
    changed += [("y", (k,), {"y": np.where(np.arange(N) == k, None, labels)}) for k in (1, 3)]
    changed += [("y", (k,), {"y": np.where(np.arange(N) == k, 1, labels)}) for k in (2, 6)]
    for column, place, other in changed:
        pass_on = partial(pass_over, tmp_path, {**columns, **other}, [N, 5][place[0] % 2], as_X)
        if place[0] == STOP:
            pass_on()
            continue
        with pytest.raises(ValueError, match=f"its first {STOP} rows have other {NAMES[column]}"):
            pass_on()


class Delays:
    """Delays whose source is not part of the function."""

    values = np.arange(N) % 3 + 0.5
    rng = None

    def __call__(self, X, arrival):
        return self.values[arrival.astype(int)] + (self.rng.random(len(X)) if self.rng else 0)


def evaluate_delayed(delay, size=N, **params):
    evaluator = sk.DelayedEvaluator("accuracy", n_bins=2, delay=delay, random_state=0, **params)
    return evaluator.evaluate(sk.MajorityClass(), Source(ROWS, size), classes=[0, 1])


@pytest.mark.parametrize("is_random", [False, True])
def test_no_delay_of_a_function_changes_unnoticed(is_random, tmp_path, monkeypatch):
    def seeded():
        monkeypatch.setattr(Delays, "rng", np.random.default_rng(5) if is_random else None)

    seeded()
    undisturbed = evaluate_delayed(Delays())
    seeded()
    with stopping(monkeypatch):
        evaluate_delayed(Delays(), checkpoint=RunFolder(tmp_path / "run", every=1))
    for _, (row,), columns in changes({"delays": Delays.values}, STOP + 1):
        shutil.copytree(tmp_path / "run", tmp_path / f"run-{row}")
        call = partial(evaluate_delayed, Delays(), checkpoint=tmp_path / f"run-{row}")
        with monkeypatch.context() as patch:
            seeded()
            patch.setattr(Delays, "values", columns["delays"])
            if row == STOP:
                call()
                continue
            with pytest.raises(ValueError, match=rf"delay\(X, arrival\) gives the first {STOP} r"):
                call()
    seeded()
    assert_same_result(evaluate_delayed(Delays(), 5, checkpoint=tmp_path / "run"), undisturbed)


def test_no_delay_in_an_array_changes_unnoticed(tmp_path, monkeypatch):
    with stopping(monkeypatch):
        evaluate_delayed(Delays.values, checkpoint=RunFolder(tmp_path, every=1))
    for _, _, columns in changes({"delays": Delays.values}, N):
        with pytest.raises(ValueError, match="the parameter delay is"):
            evaluate_delayed(columns["delays"], checkpoint=tmp_path)


@pytest.mark.parametrize("stopped", ["fresh"], indirect=True)
def test_no_held_out_row_changes_unnoticed(stopped):
    name, folder = stopped
    n_asked = STOP // PIECE * SIZE
    for number, (column, place, columns) in enumerate(changes(HELD_OUT, n_asked + 1)):
        call = partial(goes_on, folder, name, held_out=columns, size=[N, 3, 1][number % 3])
        if place[0] == n_asked:
            assert_same_result(call(), evaluate(name, None, held_out=columns))
            continue
        if not place[0]:
            message = f"checksum of the first {NAMES[column]} of the holdout"
        else:
            message = (
                f"holdout sets has changed: its first {n_asked} rows have other {NAMES[column]}"
            )
        with pytest.raises(ValueError, match=message):
            call()
    short = {key: values[: n_asked - 1] for key, values in HELD_OUT.items()}
    with pytest.raises(ValueError, match=f"has {n_asked - 1} rows, and the run had asked about"):
        goes_on(folder, name, held_out=short)


@pytest.mark.parametrize("is_finished", [False, True])
def test_groups_that_stopped_at_different_rows_ask_the_same(is_finished, tmp_path, monkeypatch):
    def run(held_out):
        holdout = Source(held_out, 5)
        evaluator = sk.HoldoutEvaluator("accuracy", holdout=holdout, every=PIECE, n_jobs=2)
        evaluator.set_params(holdout_size=SIZE, engine="loop")
        evaluator.set_params(checkpoint=RunFolder(tmp_path, every=1))
        models = {"a": sk.MajorityClass(), "b": sk.MajorityClass()}
        with parallel_config(backend="sequential"):
            return evaluator.evaluate(models, Source(ROWS), classes=[0, 1])

    monkeypatch.setattr(_evaluator, "grouped", lambda *_: Groups([[("a", 0)], [("b", 0)]]))
    later = 2 * N if is_finished else STOP
    with stopping(monkeypatch, lambda run: later if run._places == [("a", 0)] else PIECE):
        run(HELD_OUT)
    if not is_finished:
        with stopping(monkeypatch, lambda run: PIECE):
            run(HELD_OUT)
    changed = {**HELD_OUT, "y": np.where(np.arange(N) == SIZE, 1 - HELD_OUT["y"], HELD_OUT["y"])}
    message = "holdout is not the same at every pass" if is_finished else "sets has changed: its fi"
    with pytest.raises(ValueError, match=message):
        run(changed)
