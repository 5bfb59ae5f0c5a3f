"""Where the truth of a stream changes: kept by evaluators, with the result, and drawn."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skstream import DelayedEvaluator, MajorityWindow, Persistent, Polling, PrequentialSearch
from skstream.core.evaluators.delayed.counts import LabelledDrifts
from skstream.core.rows.arrays import ArrayStream
from skstream.core.rows.drifts import as_drifts
from skstream.streams import SEA, Drift
from tests._examples import examples

DRIFTS = (Drift(100, 100), Drift(200, 250))
X, Y = SEA(300).rows(0, 300)


class Changing(ArrayStream):
    """Rows in memory whose truth is said to change."""

    drifts = DRIFTS


STREAM = Changing(X, Y)


def test_a_search_keeps_them():
    search = PrequentialSearch(MajorityWindow(), {"window_size": [5, 50]}, metric="accuracy")
    assert search.fit(STREAM).result_.drifts == DRIFTS


# --- in the order of labels -----------------------------------------------------------------------


def literal(drifts, rows):
    """First label of a row from the start on, and the end of the labels of rows before the end."""
    found = []
    for start, end in drifts:
        later = [k for k, row in enumerate(rows) if row >= start]
        earlier = [k + 1 for k, row in enumerate(rows) if row < end]
        if later and max(later[0], *earlier, 0) > 0:
            found.append(Drift(later[0], max(later[0], *earlier, 0)))
    return tuple(sorted(found))


@examples(40)
@given(
    rows=st.permutations(range(12)),
    n=st.integers(0, 12),
    cuts=st.lists(st.integers(0, 12), max_size=3),
    drifts=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=3),
)
def test_drifts_in_the_order_of_labels(rows, n, cuts, drifts):
    drifts = as_drifts([(start, start + width) for start, width in drifts])
    counted = LabelledDrifts(drifts)
    for piece in np.split(np.array(rows[:n], dtype=np.int64), sorted(min(c, n) for c in cuts)):
        counted.add(piece)
    assert counted.known() == literal(drifts, rows[:n])


def test_labels_that_overtake_each_other_make_an_abrupt_drift_gradual():
    delay = np.where(np.arange(300) < 90, 1, np.where(np.arange(300) < 100, 40, 5))
    delay = np.where(np.arange(300) == 299, np.inf, delay).astype(float)
    result = DelayedEvaluator("accuracy", delay=delay, polling=Polling(n_bins=2)).evaluate(
        Persistent(), STREAM
    )
    label_order = np.argsort(np.arange(300) + delay, kind="stable")[:299]
    assert result.drifts == literal(DRIFTS, label_order.tolist())
    assert result.drifts[0].start == 90
    assert result.drifts[0].end > 110


# --- what is given --------------------------------------------------------------------------------
