"""The table of waiting rows, against a plain dict."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skstream.engine.waiting import MIN_STORED, Waiting, WaitingTable


def newcomers(first_row, n, born, dated):
    rows = np.arange(first_row, first_row + n)
    times = np.where(np.arange(n) % 2 == 0, rows + 0.5, np.inf) if dated else np.full(n, np.inf)
    return Waiting(
        rows, rows.astype(float), times, np.full(n, born), rows % 3 > 0, np.ones(n) * 0.5
    )


@given(st.data(), st.integers(1, 4))
def test_rows_come_and_go(data, every):
    table, model = WaitingTable(), {}
    next_row = born = 0
    for _ in range(data.draw(st.integers(1, 15))):
        n = data.draw(st.sampled_from([0, 1, 3, 70]))
        added = newcomers(next_row, n, born, data.draw(st.booleans()))
        table.add(added)
        model |= {int(row): (born, float(t)) for row, t in zip(added.row, added.label_time)}  # noqa: B905
        next_row += n
        born += data.draw(st.integers(0, 3))
        if data.draw(st.booleans()):
            positions = table.positions_polled(born, every)
            polled = [row for row, (b, _) in model.items() if (born - b) % every == 0]
            assert table.rows_at(positions).tolist() == polled
            assert table.born_at(positions).tolist() == [model[row][0] for row in polled]
        if model:
            gone = sorted(data.draw(st.sets(st.sampled_from(sorted(model)))))
            if len(gone) > 3:
                gone = gone[: data.draw(st.integers(0, len(gone)))]
            table.remove(table.positions(np.array(gone, dtype=np.int64)))
            for row in gone:
                del model[row]
        if data.draw(st.integers(0, 4)) == 0:
            everything = table.all_rows()
            assert everything.row.tolist() == list(model)
            table.replace(everything.take(np.ones(len(model), dtype=bool)))
        assert table.rows().tolist() == list(model)
        assert len(table) == len(model)
        assert table.n_dated == sum(np.isfinite(t) for _, t in model.values())
        few = data.draw(st.integers(0, 5))
        assert table.oldest(few).tolist() == list(model)[:few]
        assert table._n <= max(MIN_STORED, 2 * len(model))
        if model:
            some = np.array(sorted(model))[:: max(1, len(model) // 3)]
            at = table.at(table.positions(some))
            assert at.row.tolist() == some.tolist()
            assert at.born.tolist() == [model[int(row)][0] for row in some]
            assert (at.learnable == (some % 3 > 0)).all()


def test_labels_date_rows_once():
    table = WaitingTable()
    table.add(newcomers(0, 4, 0, dated=False))
    at = table.positions(np.array([1, 3]))
    table.label(at, 7.0, np.array([True, False]), np.array([2.0, 0.0]))
    assert table.n_dated == 2
    labelled = table.at(at)
    assert labelled.label_time.tolist() == [7.0, 7.0]
    assert labelled.learnable.tolist() == [True, False]
    assert labelled.weight.tolist() == [2.0, 0.0]
    table.remove(at)
    assert table.n_dated == 0
    assert table.rows().tolist() == [0, 2]


def test_looking_for_the_oldest_row_does_not_look_at_all_of_them():
    n = 100_000
    table = WaitingTable()
    table.add(newcomers(0, n, 0, dated=False))
    for row in range(300):
        assert table.oldest(1).tolist() == [row]
        assert table._begin == row
        table.remove(table.positions(np.array([row])))
