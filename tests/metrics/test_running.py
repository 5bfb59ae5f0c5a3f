import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.core.forgetting import as_forgetting
from skstream.core.measures import running as running_module
from skstream.core.measures.registry import CLASSIFICATION, MAJORITIES, resolve_metrics
from skstream.core.measures.running import RunningMeasures
from skstream.core.measures.scores import Scores
from skstream.core.measures.series import baselines_of
from skstream.forgetting import Forgetting, SlidingWindow
from skstream.metrics import kappa_m_score
from tests._examples import examples, newest_alone
from tests.metrics._reference import Reference
from tests.metrics._streams import (
    MECHANISMS,
    Stream,
    assert_same_curves,
    make_stream,
    running,
    score,
    streams,
)

EVERYTHING = {
    **{name: name for name in CLASSIFICATION if name != "cmd"},
    "kappa_m_hindsight": partial(kappa_m_score, majority="hindsight"),
    "kappa_m_inclusive": partial(kappa_m_score, majority="inclusive"),
}
# Square roots of differences: half the digits are lost where the difference is near 0.
ROOTS = {"kappa_plus", "mcc"}


def check_against_reference(stream, mechanisms, measured, n_rows):
    """Law L6: every running number is the plain computation on the same rows."""
    for name, forgetting in mechanisms.items():
        reference = Reference(
            stream.y, stream.p, stream.weight, forgetting=forgetting, n_classes=stream.n_classes
        )
        for metric in measured.values[name]:
            expected = [reference.value(metric, n) for n in n_rows]
            found = measured.values[name][metric][np.searchsorted(measured.checkpoints, n_rows)]
            np.testing.assert_allclose(
                found,
                expected,
                rtol=1e-9,
                atol=1e-7 if metric in ROOTS else 1e-10,
                err_msg=f"{metric} under {forgetting}",
            )


@examples(30)
@given(streams(), st.data())
def test_running_is_the_definition(stream, data):
    measures = {**EVERYTHING, **({"cmd": "cmd"} if stream.n_classes == 2 else {})}
    n_rows = data.draw(st.sets(st.integers(1, len(stream)), min_size=1, max_size=6))
    curves = score(stream, measures, MECHANISMS).curves()
    check_against_reference(stream, MECHANISMS, curves, sorted(n_rows))


@newest_alone
@pytest.mark.parametrize("n_classes", [2, 7, 25])
def test_running_is_the_definition_over_many_blocks(n_classes, monkeypatch):
    monkeypatch.setattr(running_module, "_BUFFER_SIZE", 16)
    for weighted, n_warmup in ((False, 0), (True, 1)):
        stream = make_stream(
            n_classes, 400, n_classes, weighted=weighted, gaps=weighted, n_warmup=n_warmup
        )
        stream.p[[70, 71, 90, 300]] = -1  # now and then a row is not asked
        curves = score(stream, EVERYTHING, MECHANISMS).curves()
        check_against_reference(
            stream, MECHANISMS, curves, [1, 15, 16, 17, 33, 75, 77, 96, 100, 310, 400]
        )


def test_the_reference_catches_a_window_one_row_too_long():
    stream = make_stream(0, 120)
    longer = {"window": SlidingWindow(18)}  # the paper's [i - w, i]
    curves = score(stream, ["accuracy"], longer).curves()
    with pytest.raises(AssertionError, match="accuracy under SlidingWindow"):
        check_against_reference(stream, {"window": SlidingWindow(17)}, curves, [60, 120])


@examples(30)
@given(streams(), st.sampled_from([1, 7, None]), st.data())
def test_cutting_the_stream_changes_nothing(stream, record_every, data):
    """Law L2, to the last bit."""
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=6))
    whole = score(stream, EVERYTHING, MECHANISMS, record_every)
    pieces = score(stream, EVERYTHING, MECHANISMS, record_every, cuts)
    assert_same_curves(whole.curves(), pieces.curves())


@pytest.mark.parametrize("block", [1, 16, 100])
def test_the_length_of_blocks_changes_nothing(block, monkeypatch):
    """Exact for 0/1 series; what is behind sums of reals must be the same rows."""
    stream = make_stream(3, 320, 4, gaps=True)
    whole = score(stream, EVERYTHING, MECHANISMS).curves()
    monkeypatch.setattr(running_module, "_BUFFER_SIZE", block)
    blocks = score(stream, EVERYTHING, MECHANISMS, cuts=[5, 300]).curves()
    exact = {name for name in MECHANISMS if name != "faded"}
    for name in MECHANISMS:
        for metric in EVERYTHING:
            np.testing.assert_allclose(
                blocks.values[name][metric],
                whole.values[name][metric],
                rtol=0 if name in exact else 1e-11,
                atol=0 if name in exact else 1e-12,
            )


def test_a_seam_that_forgets_the_label_before_it_is_caught():
    stream = make_stream(1, 120)
    whole = score(stream, ["kappa_temporal"], "cumulative")
    broken = running(["kappa_temporal"], "cumulative", stream.classes)
    for start in range(0, 120, 40):
        part = stream.part(start, start + 40)
        previous = np.concatenate(([-1], part.y[:-1]))
        broken.update(part.y, part.p, previous=previous)
    with pytest.raises(AssertionError):
        assert_same_curves(whole.curves(), broken.curves())


@examples(25)
@given(streams(), st.data())
def test_stopping_saving_and_going_on_changes_nothing(stream, data):
    """Law L7: also while rows wait, and after looking."""
    stop = data.draw(st.integers(0, len(stream)))
    whole = score(stream, EVERYTHING, MECHANISMS, None)
    first = score(stream.part(0, stop), EVERYTHING, MECHANISMS, None)
    before = pickle.dumps(first)
    first.curves()
    first.final()
    assert pickle.dumps(first) == before  # looking changes nothing
    second = pickle.loads(before)
    rest = stream.part(stop, None)
    second.update(rest.y, rest.p, rest.weight)
    assert_same_curves(whole.curves(), second.curves())


@examples(25)
@given(streams())
def test_weights_of_one_are_no_weights(stream):
    plain = Stream(stream.y, stream.p, None, stream.n_classes)
    ones = Stream(stream.y, stream.p, np.ones(len(stream)), stream.n_classes)
    assert_same_curves(
        score(plain, EVERYTHING, MECHANISMS).curves(),
        score(ones, EVERYTHING, MECHANISMS).curves(),
        1e-13,
    )


ELEMENTARY = [
    name
    for name, measure in CLASSIFICATION.items()
    if not baselines_of(measure.series) and name != "cmd"
]


@examples(25)
@given(st.integers(0, 1000))
def test_weight_two_is_the_row_twice(seed):
    stream = make_stream(seed, 60, gaps=True)
    twice = Stream(np.repeat(stream.y, 2), np.repeat(stream.p, 2), None, stream.n_classes)
    weighted = Stream(stream.y, stream.p, np.full(60, 2.0), stream.n_classes)
    expected = score(twice, ELEMENTARY, "cumulative").curves().values["cumulative"]
    found = score(weighted, ELEMENTARY, "cumulative").curves().values["cumulative"]
    for name in ELEMENTARY:
        # Such a row adds to the sums as two rows do, and tells as much as one.
        surer = {"kappa_se": np.sqrt(2), "kappa_z": np.sqrt(0.5)}.get(name, 1.0)
        np.testing.assert_allclose(found[name], surer * expected[name][1::2], rtol=1e-13)


@pytest.mark.parametrize(
    ("forgetting", "metric"),
    [
        ("window:10", "accuracy"),  # a window holds ten rows, whatever they weigh
        ("fading:0.9", "accuracy"),  # which fade once a row
        ("cumulative", "kappa_temporal"),  # the second of two equal rows repeats a label
        ("cumulative", "kappa_plus"),
        ("cumulative", "kappa_m"),
    ],
)
def test_weight_two_is_one_row_where_rows_count_or_precede(forgetting, metric):
    stream = make_stream(0, 60)
    twice = Stream(np.repeat(stream.y, 2), np.repeat(stream.p, 2), None, stream.n_classes)
    weighted = Stream(stream.y, stream.p, np.full(60, 2.0), stream.n_classes)
    plain, weighted, twice = (
        score(one, metric, forgetting).curves().values[forgetting][metric]
        for one in (stream, weighted, twice)
    )
    np.testing.assert_allclose(weighted, plain, rtol=1e-13)
    assert np.nanmax(np.abs(weighted - twice[1::2])) > 1e-3


def test_weights_may_come_with_some_rows_alone():
    stream = make_stream(0, 100, weighted=True)
    weight = stream.weight.copy()
    weight[:30] = weight[60:] = 1.0
    given_with_all = Stream(stream.y, stream.p, weight, stream.n_classes)
    measures = running(EVERYTHING, MECHANISMS, stream.classes)
    for start, stop in ((0, 30), (30, 60), (60, 100)):
        part = stream.part(start, stop)
        measures.update(part.y, part.p, part.weight if start == 30 else None)
    assert_same_curves(score(given_with_all, EVERYTHING, MECHANISMS).curves(), measures.curves())


@examples(25)
@given(st.integers(0, 1000), st.data())
def test_rows_of_weight_zero_are_absent(seed, data):
    stream = make_stream(seed, 80, weighted=True)
    present = stream.weight > 0
    rest = Stream(stream.y[present], stream.p[present], stream.weight[present], stream.n_classes)
    with_zeros = score(stream, EVERYTHING, MECHANISMS).final()
    assert_same_values(with_zeros, score(rest, EVERYTHING, MECHANISMS).final())


def assert_same_values(first, second, rtol=1e-12):
    for forgetting, by_metric in first.items():
        for metric, value in by_metric.items():
            np.testing.assert_allclose(
                second[forgetting][metric], value, rtol=rtol, atol=1e-12, err_msg=metric
            )


@newest_alone
def test_a_window_is_formed_afresh_after_ten_million_rows():
    """PEER_FAULTS 8: incremental sums drift."""
    rng = np.random.default_rng(0)
    measures = running(["accuracy", "kappa"], "window:1000", np.arange(2), None)
    regression = running(["mse", "mae", "r2"], "window:1000", None, None)
    n = 1 << 20
    for block in range(10):
        y = rng.integers(0, 2, n, dtype=np.int8)
        p = np.where(rng.random(n) < 0.8, y, 1 - y)
        measures.update(y, p, rng.random(n))
        if block % 5 == 0:
            target = rng.normal(1e6, 1.0, n)
            regression.update(target, target + rng.normal(0.0, 1e8 if block == 0 else 0.1, n))
    last = running(["accuracy", "kappa"], "cumulative", np.arange(2))
    rng = np.random.default_rng(0)
    final = measures.final()["window:1000"]
    weight = np.random.default_rng(1).random(1000)
    y_last, p_last = y[-1000:], p[-1000:]
    measures.update(y_last, p_last, weight)
    last.update(y_last, p_last, weight)
    assert measures.n_rows > 10_000_000
    assert 0.7 < final["accuracy"] < 0.9
    for name, value in last.final()["cumulative"].items():
        assert measures.final()["window:1000"][name] == pytest.approx(value, rel=1e-13)
    fresh = running(["mse", "mae", "r2"], "cumulative", None)
    target = rng.normal(1e6, 1.0, 1000)
    for each in (regression, fresh):
        each.update(target, target + 0.25)
    for name, value in fresh.final()["cumulative"].items():
        assert regression.final()["window:1000"][name] == pytest.approx(value, rel=1e-9)


def test_memory_does_not_grow_with_the_stream(rng):
    """Law L5."""
    mechanisms = {**MECHANISMS, "faded": "fading:0.9999"}
    measures = running(EVERYTHING, mechanisms, np.arange(2), None)
    sizes = []
    for _ in range(16):
        y = rng.integers(0, 2, 16_384)
        measures.update(y, np.where(rng.random(len(y)) < 0.8, y, 1 - y))
        sizes.append(len(pickle.dumps(measures)))
    # The curves vary between 512 and 1,024 points; ADWIN has a few buckets more.
    assert sizes[-1] < 1.1 * max(sizes[:8])


@examples(25)
@given(st.integers(0, 3000), st.integers(1, 600), st.data())
def test_checkpoints_depend_on_the_number_of_rows_alone(n, step, data):
    y = np.zeros(n, dtype=int)
    measures = running("accuracy", "cumulative", np.arange(2), None)
    for start in range(0, n, step):
        measures.update(y[start : start + step], y[start : start + step])
    check_checkpoints(measures.curves().checkpoints, n)


def check_checkpoints(found, n):
    interval = 1
    while n // interval > 1023:
        interval *= 2
    expected = np.union1d(np.arange(interval, n + 1, interval), [n] if n else [])
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.int64
    assert len(found) <= 1024


@pytest.mark.parametrize("n", [1023, 1024, 1025, 2047, 2048, 2049, 100_000, 1 << 20])
def test_at_most_1024_checkpoints(n):
    measures = running("accuracy", "cumulative", np.arange(2), None)
    measures.update(np.zeros(n, dtype=int), np.zeros(n, dtype=int))
    check_checkpoints(measures.curves().checkpoints, n)


def test_before_anything_is_scored():
    of_class = {f"{kind}:1": f"{kind}:1" for kind in ("f1", "jaccard", "predicted_share")}
    measures = running({**EVERYTHING, **of_class}, MECHANISMS, np.arange(2))
    assert len(measures.curves().checkpoints) == 0
    measures.update([0, 1, -1], [-1, -1, 0])
    curves = measures.curves()
    np.testing.assert_array_equal(curves.checkpoints, [1, 2, 3])
    for by_metric in curves.values.values():
        for values in by_metric.values():
            assert np.isnan(values).all()
    assert all(np.isnan(v) for by in measures.final().values() for v in by.values())


def test_the_previous_label_may_be_given():
    """Under delay the persistent baseline repeats the newest label known when a row is asked."""
    measures = running("kappa_temporal", "cumulative", np.arange(3))
    y, p, previous = [0, 1, 2, 2, 1], [0, 1, 1, 1, 0], [-1, 0, 0, 2, 2]
    measures.update(y[:2], p[:2], previous=previous[:2])
    measures.update(y[2:], p[2:], previous=previous[2:])
    # The first row is left out. Baseline: wrong at rows 2, 3 and 5; model: at 3, 4 and 5.
    assert measures.final()["cumulative"]["kappa_temporal"] == 0.0
    measures.update([1], [1])  # not given: the label before, which was right
    measures.update([0], [0], previous=[1])
    assert measures.final()["cumulative"]["kappa_temporal"] == 1 - 3 / 4
    late = running("kappa_temporal", "cumulative", np.arange(3))
    late.update([0, 1], [0, 1])  # not given to the first rows: the baseline is wrong once
    late.update([1], [0], previous=[1])
    assert late.final()["cumulative"]["kappa_temporal"] == 0.0


@pytest.mark.parametrize("record_every", [0, -1, 2.5, True, "10"])
def test_record_every_is_checked(record_every):
    with pytest.raises(ValueError, match="'record_every' parameter of RunningMeasures"):
        running("accuracy", "cumulative", np.arange(2), record_every)


def test_classes_are_checked():
    with pytest.raises(ValueError, match="classes is empty"):
        running("accuracy", "cumulative", np.empty(0))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64])
def test_codes_of_any_type(dtype):
    stream = make_stream(4, n_warmup=0)
    typed = Stream(stream.y.astype(dtype), stream.p.astype(dtype), None, stream.n_classes)
    assert_same_curves(
        score(stream, EVERYTHING, MECHANISMS).curves(),
        score(typed, EVERYTHING, MECHANISMS).curves(),
    )


def test_a_window_longer_than_any_stream():
    stream = make_stream(2, 300, weighted=True)
    longest = score(stream, EVERYTHING, f"window:{10**15}").curves()
    everything = score(stream, EVERYTHING, "cumulative").curves()
    for metric, values in longest.values[f"window:{10**15}"].items():
        np.testing.assert_allclose(values, everything.values["cumulative"][metric], rtol=1e-12)


def test_every_mechanism_is_tested():
    tested = {type(forgetting) for forgetting in MECHANISMS.values()}
    assert tested == set(Forgetting.__subclasses__())


def test_every_measure_is_tested():
    assert {"cmd", *EVERYTHING} >= set(CLASSIFICATION)
    assert len(EVERYTHING) == len(CLASSIFICATION) - 1 + len(MAJORITIES) - 1


def test_curves_stay_as_they_were_read():
    stream = make_stream(5, 300)
    measures = running(["kappa"], "window:50", stream.classes, expected_rows=10)
    first = stream.part(0, 120)
    measures.update(first.y, first.p)
    early = measures.curves()
    before = early.values["window:50"]["kappa"].copy()
    rest = stream.part(120, None)
    measures.update(rest.y, rest.p)
    measures.finish()
    late = measures.curves()
    np.testing.assert_array_equal(early.values["window:50"]["kappa"], before)
    with pytest.raises(ValueError, match="read-only"):
        late.values["window:50"]["kappa"][0] = 0.0


def test_finishing_changes_no_value():
    stream = make_stream(6, 300, weighted=True, gaps=True)
    for record_every in (1, 7, None):
        open_, finished = (
            score(stream, list(CLASSIFICATION)[:8], MECHANISMS, record_every) for _ in range(2)
        )
        finished.finish()
        assert_same_curves(open_.curves(), finished.curves())
        assert_same_values(open_.final(), finished.final())


def test_room_for_more_checkpoints_is_not_pickled():
    measures = running(["accuracy"], "cumulative", [0, 1], expected_rows=1_000_000)
    for _ in range(5):
        measures.update(np.zeros(40_000, dtype=int), np.zeros(40_000, dtype=int))
    assert len(pickle.dumps(measures)) < 200_000 * 2 * 8 * 1.1
    twin = pickle.loads(pickle.dumps(measures))
    twin.update([0], [1])
    measures.update([0], [1])
    assert_same_curves(twin.curves(), measures.curves())


@pytest.mark.parametrize("forgetting", ["cumulative", "window:700", "fading:0.999", "adwin"])
@pytest.mark.parametrize("record_every", [None, 300])
def test_values_wanted_again_and_again_are_read_once_and_are_the_same(
    forgetting, record_every, monkeypatch
):
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, (2, 9000))
    weight = rng.integers(0, 3, 9000).astype(float)
    metrics = resolve_metrics(["accuracy", "kappa_m", "kappa_temporal"], classes=[0, 1])

    def new():
        return RunningMeasures(
            metrics, as_forgetting(forgetting), classes=[0, 1], record_every=record_every
        )

    asked = new()
    sizes = []
    advance = Scores.advance

    def counted(self, rows, *where):
        sizes.append(len(rows))
        return advance(self, rows, *where)

    for n in (10, 3000, 3001, 5000, 8999, 9000):
        rows = slice(asked.n_rows, n)
        asked.update(y[rows], p[rows], weight[rows])
        with monkeypatch.context() as patch:
            patch.setattr(Scores, "advance", counted)
            found, final = asked.curves(), asked.final()
        fresh = new()
        fresh.update(y[:n], p[:n], weight[:n])
        expected = fresh.curves()
        assert_same_curves(found, expected, 1e-12)
        assert_same_values(final, fresh.final())
    assert max(sizes[4:]) <= 1024
    # Every waiting row was read ahead once, and fewer than a step at every call.
    assert sum(sizes) <= 9000 + len(sizes) * 1024
