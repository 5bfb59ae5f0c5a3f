"""No row that a model has learnt or been asked changes unnoticed between a stop and the next call.

One value after the other is changed, at every row.
"""

import os
import shutil
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import skstream as sk
from skstream.core.run import run as _pace
from skstream.core.run.checkpoint import load_about, load_run
from skstream.core.run.input import PassChecksums
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
    """Chunks of rows, and of all meta data that there are; may break off at a row."""

    def __init__(self, columns, size=N, as_X=np.asarray, stop=None):
        self.columns, self.size, self.as_X, self.stop = columns, size, as_X, stop

    def __call__(self):
        for first in range(0, N, self.size):
            if self.stop is not None and first >= self.stop:
                raise OSError("the power is gone")
            part = {k: values[first : first + self.size] for k, values in self.columns.items()}
            yield self.as_X(part.pop("X")), part.pop("y"), part


EVALUATORS = {
    "prequential": partial(sk.PrequentialEvaluator, n_warmup=3),
    "batches": partial(sk.PrequentialEvaluator, batch_size=3),
    "folds": partial(sk.KFoldEvaluator, n_folds=2),
    "next": partial(sk.HoldoutEvaluator, holdout="next", every=3),
    "fresh": partial(sk.HoldoutEvaluator, every=PIECE, holdout_size=SIZE),
    "delayed": partial(sk.DelayedEvaluator, polling=sk.Polling(n_bins=2)),
}


def columns_of(name):
    return ROWS | TIMES if name == "delayed" else ROWS


def evaluate(name, folder, columns=None, held_out=HELD_OUT, size=N, stop=None):
    own = {"holdout": Source(held_out, size)} if name == "fresh" else {}
    evaluator = EVALUATORS[name]("accuracy", random_state=0, run=folder, **own)
    source = Source(columns_of(name) if columns is None else columns, size, stop=stop)
    return evaluator.evaluate(sk.MajorityClass(), source, classes=[0, 1])


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    monkeypatch.setattr(sk.RunOptions, "seconds", 0.0)
    monkeypatch.setattr(_pace, "FIRST_SIZE", PIECE)
    monkeypatch.setattr(_pace, "GROWTH", 1)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no power is lost here


@pytest.fixture(params=EVALUATORS)
def stopped(request, tmp_path):
    """An evaluator, and its folder, in the middle of the stream."""
    with pytest.raises(ValueError, match="the power is gone"):
        evaluate(request.param, tmp_path / "run", size=PIECE, stop=STOP)
    return request.param, tmp_path / "run"


def changes(columns, n_rows):
    """Columns with one other value, and where it is."""
    for name, values in columns.items():
        for place in np.ndindex(values[:n_rows].shape):
            other = values.copy()
            other[place] = 1 - other[place] if name == "y" else other[place] + 0.25
            yield name, place, {**columns, name: other}


def resume(folder, *call, **options):
    """Make the call again, in a copy of the folder."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    try:
        return evaluate(call[0], copy, *call[1:], **options)
    finally:
        shutil.rmtree(copy)


def pass_over(folder, *source):
    """Do the part of a call in which rows are compared."""
    (path,) = folder.glob("1-of-1.checkpoint")
    run, about = load_run(path), load_about(path)
    assert run.n_rows == STOP
    taken = {name: tuple(sums) for name, sums in about["read"].items()}
    run._is_closed = True  # no more rows are taken
    try:
        run.follow(as_stream(Source(*source)), [], PassChecksums(), taken)
    except ValueError as error:
        if f"has {N} rows, but the run had read {STOP}" not in str(error):
            raise


def test_unchanged_rows_resume_in_any_chunks(stopped):
    name, folder = stopped
    undisturbed = evaluate(name, None)
    for size in (1, 5, N):
        assert_same_result(resume(folder, name, size=size), undisturbed)


def test_no_row_of_the_stream_changes_unnoticed(stopped):
    name, folder = stopped
    for number, (column, place, columns) in enumerate(changes(columns_of(name), STOP + 1)):
        size = [N, 5, 1][number % 3]
        if column == "id" or place[0] == STOP:  # not seen by any model, or not yet
            pass_over(folder, columns, size)
            continue
        message = f"its first {STOP} rows have other {NAMES[column]}"
        with pytest.raises(ValueError, match=message):
            if place[0] == STOP - 1:
                resume(folder, name, columns, size=size)
            else:
                pass_over(folder, columns, size)


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
def test_no_row_in_any_container_changes_unnoticed(as_X, tmp_path):
    labels = np.where(np.arange(N) % 4 == 2, None, ROWS["y"])  # a label comes, or goes away
    columns = {"X": ROWS["X"], "y": labels}
    evaluator = sk.PrequentialEvaluator("accuracy", missing_labels="skip", run=tmp_path)
    with pytest.raises(ValueError, match="the power is gone"):
        source = Source(columns, PIECE, as_X, STOP)
        evaluator.evaluate(sk.MajorityClass(), source, classes=[0, 1])
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


@pytest.mark.parametrize("stopped", ["fresh"], indirect=True)
def test_no_held_out_row_changes_unnoticed(stopped):
    name, folder = stopped
    n_asked = STOP // PIECE * SIZE
    for number, (column, place, columns) in enumerate(changes(HELD_OUT, n_asked + 1)):
        call = partial(resume, folder, name, held_out=columns, size=[N, 3, 1][number % 3])
        if place[0] == n_asked:
            assert_same_result(call(), evaluate(name, None, held_out=columns))
            continue
        message = f"holdout has changed: its first {n_asked} rows have other {NAMES[column]}"
        with pytest.raises(ValueError, match=message):
            call()
    short = {key: values[: n_asked - 1] for key, values in HELD_OUT.items()}
    with pytest.raises(ValueError, match=f"has {n_asked - 1} rows, but the run had predicted"):
        resume(folder, name, held_out=short)
