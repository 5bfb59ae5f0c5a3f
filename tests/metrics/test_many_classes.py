"""Of many classes sums are formed in another way: the values are the same."""

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest

from skstream.core.measures import class_tables
from skstream.core.measures import running as running_module
from skstream.core.measures import sums as sums_module
from skstream.core.measures.registry import CLASSIFICATION
from skstream.metrics import kappa_m_score
from tests._examples import newest_alone
from tests.metrics._reference import Reference
from tests.metrics._streams import MECHANISMS, assert_same_curves, make_stream, running, score

MANY = 150
MEASURES = {
    **{name: name for name in CLASSIFICATION if name != "cmd"},
    "kappa_m_hindsight": partial(kappa_m_score, majority="hindsight"),
    "kappa_m_inclusive": partial(kappa_m_score, majority="inclusive"),
}
# Square roots of differences: half the digits are lost where the difference is near 0.
ROOTS = {"kappa_plus", "mcc"}


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(running_module, "_BUFFER_SIZE", 64)
    monkeypatch.setattr(class_tables, "_TABLE_NUMBERS", 7 * MANY)
    monkeypatch.setattr(class_tables, "_ROWS_AT_A_TIME", 10)


@newest_alone
@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes_are_the_definition(small_parts, weighted):
    """Law L6."""
    stream = make_stream(5, 200, MANY, weighted=weighted, gaps=weighted)
    curves = score(stream, MEASURES, MECHANISMS).curves()
    for name, forgetting in MECHANISMS.items():
        reference = Reference(
            stream.y, stream.p, stream.weight, forgetting=forgetting, n_classes=MANY
        )
        for n in (1, 65, 200):
            for metric in MEASURES:
                np.testing.assert_allclose(
                    curves.values[name][metric][n - 1],
                    reference.value(metric, n),
                    rtol=1e-9,
                    atol=1e-7 if metric in ROOTS else 1e-10,
                    err_msg=f"{metric} under {forgetting} after {n} rows",
                )


def both_ways(monkeypatch, stream, mechanisms, record_every):
    """Curves of the sums by class, and those of a running sum per class."""
    many = score(stream, MEASURES, mechanisms, record_every).curves()
    monkeypatch.setattr(sums_module, "MANY_CLASSES", 10**9)
    return many, score(stream, MEASURES, mechanisms, record_every).curves()


@pytest.mark.parametrize(
    ("seed", "record_every"), [(0, 50), (0, None), (1, 1), (1, None), (2, 1), (2, 50)]
)
def test_many_classes_are_measured_as_few_are(monkeypatch, small_parts, seed, record_every):
    stream = make_stream(seed, 250, MANY, weighted=seed == 1, gaps=seed > 0)
    many, few = both_ways(monkeypatch, stream, MECHANISMS, record_every)
    assert_same_curves(many, few, 1e-11)
    exact = {"accuracy", "error", "kappa_m", "kappa_m_inclusive", "kappa_temporal"}
    for name in MECHANISMS.keys() - {"faded"}:
        for metric in exact | {"arithmetic_accuracy"} if seed != 1 else exact:
            same = many.values[name][metric], few.values[name][metric]
            rtol = 1e-15 if metric == "arithmetic_accuracy" else 0
            np.testing.assert_allclose(*same, rtol=rtol, err_msg=f"{metric} under {name}")


@pytest.mark.parametrize("size", [1, 3, 40, 300])
def test_windows_of_weights_subtract_nothing(monkeypatch, small_parts, size):
    """A row of a huge weight leaves no rounding behind when it goes."""
    stream = make_stream(2, 250, MANY, weighted=True)
    stream.weight[::50] = 1e18
    many, few = both_ways(monkeypatch, stream, f"window:{size}", 1)
    assert_same_curves(many, few, 1e-12)


def test_a_window_that_keeps_a_row_too_long_is_caught(monkeypatch):
    stream = make_stream(2, 200, MANY)
    right = score(stream, ["kappa"], "window:30").curves()
    sums_in_window = class_tables.sums_in_window
    monkeypatch.setattr(
        "skstream.core.measures.range_sums.sums_in_window",
        lambda rows, n_old, ends, size, n: sums_in_window(rows, n_old, ends, size + 1, n),
    )
    with pytest.raises(AssertionError):
        assert_same_curves(right, score(stream, ["kappa"], "window:30").curves(), 1e-9)


@pytest.mark.parametrize("record_every", [1, None])
def test_cutting_a_stream_of_many_classes_changes_nothing(small_parts, record_every):
    """Law L2, to the last bit; law L7 on the way."""
    stream = make_stream(7, 250, MANY, weighted=True, gaps=True)
    whole = score(stream, MEASURES, MECHANISMS, record_every)
    pieces = running(MEASURES, MECHANISMS, stream.classes, record_every)
    for start in range(0, 250, 37):
        part = stream.part(start, start + 37)
        pieces.update(part.y, part.p, part.weight)
        before = pickle.dumps(pieces)
        pieces.final()
        assert pickle.dumps(pieces) == before
        pieces = pickle.loads(before)
    assert_same_curves(whole.curves(), pieces.curves())


@newest_alone
@pytest.mark.parametrize("forgetting", ["cumulative", "window:500", "fading:0.99", "adwin"])
@pytest.mark.parametrize("record_every", [1, None])
def test_memory_does_not_follow_rows_times_classes(forgetting, record_every, rng):
    n_classes = 2000
    y, p = rng.integers(0, n_classes, (2, 6000))
    measures = running(None, forgetting, np.arange(n_classes), record_every)
    tracemalloc.start()
    measures.update(y, p)
    measures.curves()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A number per row and class would be 96 MB, of labels and of answers.
    assert peak < 40e6
