"""The store of rows: right rows for any operations, in memory that follows the rows waiting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstream.core.engine import block as rows_module
from skstream.core.engine.block import MAX_SMALL_SEGMENTS, RowStore
from skstream.core.timelines.timeline import Operations
from tests._examples import examples

KINDS = ("dense", "text", "csr", "pandas", "polars")


def container(kind, values):
    """Two columns, told by the numbers of the rows."""
    table = np.stack([values, -values], axis=1).astype(np.float64)
    if kind == "dense":
        return table
    if kind == "text":
        return np.array([f"row {v}" for v in values])
    if kind == "csr":
        return sparse.csr_matrix(table)
    module = pytest.importorskip(kind)
    return module.DataFrame({"a": table[:, 0], "b": table[:, 1]})


def numbers_in(kind, X, index):
    """Row numbers of the stored rows at an index."""
    if kind == "text":
        return [int(text.split()[1]) for text in X[index]]
    if kind == "csr":
        return X.toarray()[index, 0].astype(int).tolist()
    values = X if kind == "dense" else X.to_numpy()
    assert (values[index, 0] == -values[index, 1]).all()
    return values[index, 0].astype(int).tolist()


def operations(learns, asks):
    return Operations(
        learn_rows=np.array(learns, dtype=np.int64),
        weight=None,
        ask_rows=np.array(asks, dtype=np.int64),
        stamp=np.zeros(len(asks), dtype=np.int64),
    )


def check_block(store, kind, held, labels, data):
    among = sorted(held)
    some = st.lists(st.sampled_from(among), max_size=8) if among else st.just([])
    learns, asks = data.draw(some), data.draw(some)
    block = store.block(operations(learns, asks))
    assert block.ask_X is block.learn_X
    assert block.y.tolist() == [labels[row] for row in learns]
    if learns:
        assert numbers_in(kind, block.learn_X, block.learn_index) == learns
    if asks:
        assert numbers_in(kind, block.ask_X, block.ask_index) == asks


def n_stored(store):
    return sum(len(segment.numbers) for segment in store._segments)


@pytest.mark.parametrize("kind", KINDS)
@examples(30)
@given(st.data())
def test_blocks_have_the_rows_asked_for(kind, data):
    store, held, labels, next_row = RowStore(), set(), {}, 0
    for _ in range(data.draw(st.integers(1, 12))):
        n = data.draw(st.sampled_from([0, 1, 1, 1, 2, 5, 40]))
        numbers = np.arange(next_row, next_row + n)
        if n:
            X, y = container(kind, numbers), numbers * 10
            store.add(next_row, X, y)
            labels |= dict(zip(numbers.tolist(), (numbers * 10).tolist(), strict=True))
            held |= set(numbers.tolist())
            next_row += n
        elif held:
            again = sorted(data.draw(st.sets(st.sampled_from(sorted(held)), max_size=5)))
            store.set_labels(np.array(again, dtype=np.int64), np.array(again, dtype=np.int64) + 1)
            labels |= {row: row + 1 for row in again}
        check_block(store, kind, held, labels, data)
        left = data.draw(st.sets(st.sampled_from(sorted(held)))) if held else set()
        gone = data.draw(st.permutations(sorted(held - left)))
        store.release(np.array(gone, dtype=np.int64))
        held = left
        if n:
            y[:] = -1  # the user may write to his arrays again
            if kind == "dense":
                X[:] = np.nan
        check_block(store, kind, held, labels, data)
        assert len(store) == len(held)
        assert n_stored(store) <= 2 * len(held)


def live_store(n_waiting, n_events, seed=0):
    """A row comes, another goes, and so on."""
    rng = np.random.default_rng(seed)
    store, waiting = RowStore(), list(range(n_waiting))
    for row in range(n_waiting):
        store.add(row, container("dense", np.array([row])), np.array([row]))
        store.release(np.empty(0, dtype=np.int64))
    for row in range(n_waiting, n_waiting + n_events):
        store.add(row, container("dense", np.array([row])), np.array([row]))
        store.release(np.empty(0, dtype=np.int64))
        which = int(rng.integers(n_waiting))
        block = store.block(operations([waiting[which]], []))
        assert numbers_in("dense", block.learn_X, block.learn_index) == [waiting[which]]
        assert len(block.learn_X) == 1
        store.release(np.array([waiting[which]]))
        waiting[which] = row
    return store


def test_the_rows_copied_per_event_hardly_grow_with_those_waiting(monkeypatch):
    copied = []
    of = rows_module._Segment.of.__func__

    def counting(cls, numbers, X, y):
        copied.append(len(numbers))
        return of(cls, numbers, X, y)

    monkeypatch.setattr(rows_module._Segment, "of", classmethod(counting))
    per_event = {}
    for n_waiting in (50, 2000):
        copied.clear()
        store = live_store(n_waiting, 2 * n_waiting)
        per_event[n_waiting] = sum(copied) / (3 * n_waiting)
        assert n_stored(store) <= 2 * n_waiting
        assert len(store._segments) <= MAX_SMALL_SEGMENTS + n_waiting.bit_length()
    assert per_event[2000] < per_event[50] + 12  # once more per doubling, give or take


def test_a_few_waiting_rows_do_not_hold_the_chunk():
    chunk = np.arange(200_000.0).reshape(-1, 2)
    store = RowStore()
    store.add(0, chunk, np.arange(100_000))
    left = [5, 6, 7]  # consecutive: a slice would be a view
    store.release(np.delete(np.arange(100_000), left))
    (segment,) = store._segments
    assert segment.X.base is None
    assert not np.shares_memory(segment.X, chunk)
    assert segment.X.nbytes + segment.y.nbytes + segment.numbers.nbytes < 200


def test_rows_that_need_no_others_are_shown_as_they_came():
    chunk = np.arange(20.0).reshape(-1, 2)
    store = RowStore()
    store.add(0, chunk, np.arange(10))
    assert store.block(operations([1], [0, 1])).learn_X is chunk
    store.release(np.arange(9))
    store.add(10, chunk, np.arange(10))
    assert store.block(operations([], [10, 11])).ask_X is chunk
