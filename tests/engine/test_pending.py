"""The table of pending rows, against a plain dict."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skstream.core.timelines.delayed import MIN_STORED, PendingRows, PendingTable
from tests._examples import examples


def newcomers(first_row, n, n_labels=0):
    rows = np.arange(first_row, first_row + n)
    times = np.where(np.arange(n) % 2 == 0, rows + 0.5, np.inf)
    return PendingRows(
        rows, rows.astype(float), times, np.full(n, n_labels), rows % 3 > 0, np.ones(n) * 0.5
    )


def empty_table():
    return PendingTable.of(PendingRows.empty())


def content(table):
    rows = table.rows()
    return {name: getattr(rows, name).tolist() for name in rows.__match_args__}


@examples(50)
@given(st.data())
def test_rows_come_and_go(data):
    table, model = empty_table(), {}
    next_row = n_labels = 0
    for _ in range(data.draw(st.integers(1, 15))):
        n = data.draw(st.sampled_from([0, 1, 3, 70]))
        if data.draw(st.booleans()):  # rows that are taken back
            before = content(table)
            table.append(newcomers(next_row, data.draw(st.sampled_from([1, 2, 80])), n_labels + 1))
            assert content(table) == before
        table = table.append(newcomers(next_row, n, n_labels))
        model |= dict.fromkeys(range(next_row, next_row + n), n_labels)
        next_row += n
        n_labels += data.draw(st.integers(0, 3))
        if model:
            gone = sorted(data.draw(st.sets(st.sampled_from(sorted(model)))))
            if len(gone) > 3:
                gone = gone[: data.draw(st.integers(0, len(gone)))]
            before, old = content(table), table
            table = table.drop(table.look_up(np.array(gone, dtype=np.int64)))
            assert content(old) == before
            for row in gone:
                del model[row]
        if data.draw(st.integers(0, 4)) == 0:
            table = PendingTable.of(table.rows().take(np.ones(len(model), dtype=bool)))
        assert table.numbers().tolist() == list(model)
        assert table.rows().row.tolist() == list(model)
        assert len(table) == len(model)
        few = data.draw(st.integers(0, 5))
        assert table.take(table.oldest(few)).row.tolist() == list(model)[:few]
        assert table.n <= max(MIN_STORED, 2 * len(model))
        if model:
            some = np.array(sorted(model))[:: max(1, len(model) // 3)]
            at = table.take(table.look_up(some))
            assert at.row.tolist() == some.tolist()
            assert at.phase.tolist() == [model[int(row)] for row in some]
            assert (at.learnable == (some % 3 > 0)).all()


def test_rows_are_not_copied_at_every_change():
    table = empty_table().append(newcomers(0, 1000))
    for row in range(1000, 1500):
        stored = table.stored
        table = table.append(newcomers(row, 1)).drop(np.array([row - 500]))
        assert table.stored is stored
