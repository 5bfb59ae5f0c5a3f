"""Laws of every composition that the package exports, found by introspection."""

import inspect
import pickle
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import expon, norm, poisson
from sklearn.linear_model import SGDClassifier

import skstream as sk
import skstream.streams
from skstream.core.rows.arrays import ArrayStream, ChunkStream, begins_again
from skstream.streams import (
    SEA,
    STAGGER,
    ARFFStream,
    Drift,
    RotatingHyperplane,
    as_stream,
    concat,
    drop_rows,
    join_streams,
    label_profile,
    recurring,
    take_rows,
    with_delay,
    with_imbalance,
    with_label_noise,
)
from skstream.streams._composition import _imbalance, _join
from skstream.streams._composition._base import ComposedStream
from tests._examples import examples

N_ROWS = 60


def sea(seed: int, n_rows: int | None = N_ROWS, **options):
    """A generated stream with a drift in the middle."""
    thresholds = (8.0, 9.0)
    options = {"change_rows": [N_ROWS // 2], "random_state": seed, **options}
    return SEA(n_rows, thresholds=thresholds, **options)


def in_memory(seed: int, chunk_size: int = 7):
    """The same rows in memory, numbered, with weights and labels of texts."""
    X, y = sea(seed).rows(0, N_ROWS)
    number = 1000 * seed + np.arange(N_ROWS)
    return ArrayStream(X, np.array(["no", "yes"])[y], id=number, chunk_size=chunk_size)


#: What is made of two streams, by the name of the function.
MAKERS = {
    "concat": lambda a, b: concat(a, b),
    "take_rows": lambda a, b: take_rows(a, 37),
    "join_streams": lambda a, b: join_streams(a, b, 30, 6),
    "recurring": lambda a, b: recurring(a, b, length=[7, 11]),
    "drop_rows": lambda a, b: drop_rows(a, 23),
    "with_delay": lambda a, b: with_delay(a, expon(scale=9)),
    "with_imbalance": lambda a, b: with_imbalance(a, dict(zip(a.classes, (0.8, 0.2), strict=True))),
    "with_label_noise": lambda a, b: with_label_noise(a, 0.3),
}
every_composition = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def rows_of(stream) -> dict:
    """All rows of a stream, by column."""
    chunks = list(stream)
    columns = {"X": [c.X for c in chunks], "y": [c.y for c in chunks]}
    columns |= {key: [c.meta[key] for c in chunks] for key in chunks[0].meta}
    return {key: np.concatenate(values) for key, values in columns.items()}


def same(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(
        one[key].dtype == other[key].dtype and np.array_equal(one[key], other[key]) for key in one
    )


def part_of(rows: dict, start: int, stop: int) -> dict:
    return {key: values[start:stop] for key, values in rows.items()}


def block(stream, start: int, stop: int) -> dict:
    X, y, *meta = stream.rows(start, stop)
    return {"X": X, "y": y, **(meta[0] if meta else {})}


def test_every_exported_composition_is_here():
    exported = [getattr(skstream.streams, name) for name in skstream.streams.__all__]
    composing = {
        one.__name__
        for one in exported
        if inspect.isfunction(one) and one.__module__.startswith("skstream.streams._composition")
    }
    assert composing == MAKERS.keys()


class CutByChunk(ComposedStream):
    """Broken: what a row looks like depends on where the stream is cut."""

    n_rows = N_ROWS

    def _made(self, readers):
        for chunk in readers[0].until(N_ROWS):
            yield chunk._replace(X=chunk.X - chunk.X[0])


def cuts_change_nothing(make, size) -> bool:
    whole = rows_of(make(in_memory(1, N_ROWS), in_memory(2, N_ROWS)))
    return same(rows_of(make(in_memory(1, size), in_memory(2, size + 3))), whole)


@every_composition
@examples(8)
@given(size=st.integers(1, N_ROWS))
def test_cuts_change_no_row(make, size):
    assert cuts_change_nothing(make, size)


def test_a_composition_that_hangs_on_the_cut_is_caught():
    assert not cuts_change_nothing(lambda a, b: CutByChunk(a), 7)


@every_composition
@examples(10)
@given(rows=st.tuples(st.integers(0, 120), st.integers(0, 120)))
def test_any_block_is_that_part_of_a_pass(make, rows):
    stream = make(sea(1, chunk_size=17), sea(2, chunk_size=23))
    whole = rows_of(stream)
    start, stop = sorted(min(row, stream.n_rows) for row in rows)
    assert len(whole["y"]) == stream.n_rows
    assert same(block(stream, start, stop), part_of(whole, start, stop))
    with pytest.raises(ValueError, match=rf"0 <= start <= stop <= {stream.n_rows}\. Got start=0"):
        stream.rows(0, stream.n_rows + 1)


class PlaceInArray:
    """A distribution whose values hang on their place in the array, as last bits may."""

    def ppf(self, numbers):
        return numbers + np.arange(len(numbers))


def test_delays_are_drawn_alike_from_any_row_on():
    stream = with_delay(SEA(3000, random_state=1), expon(scale=5.0))
    whole = next(iter(stream)).meta["label_time"]
    for start in (0, 1023, 1024, 2500):
        np.testing.assert_array_equal(stream.rows(start, 3000)[2]["label_time"], whole[start:])


@pytest.mark.parametrize("size", [1, 8, 11])
@pytest.mark.parametrize(
    "make",
    [
        MAKERS["join_streams"],
        lambda a, b: join_streams(a, b, 60, 20),  # ends early, with the rows of the first
        MAKERS["with_imbalance"],
        lambda a, b: with_delay(a, PlaceInArray()),
    ],
)
def test_own_blocks_do_not_show(make, size, monkeypatch):
    stream = make(sea(1), sea(2))
    whole = rows_of(stream)
    if "label_time" not in whole:  # which is drawn in blocks
        for module in (_imbalance, _join):
            monkeypatch.setattr(module, "BLOCK", size)
    stream = make(sea(1, chunk_size=7), sea(2, chunk_size=9))
    assert same(rows_of(stream), whole)
    assert stream.n_rows == len(whole["y"])
    for start in range(0, stream.n_rows, 13):
        stop = min(start + 17, stream.n_rows)
        assert same(block(stream, start, stop), part_of(whole, start, stop))


@every_composition
def test_streams_that_give_no_blocks_make_one_that_gives_none(make):
    stream = make(in_memory(1), in_memory(2))
    assert not hasattr(stream, "rows")
    with pytest.raises(AttributeError, match="can only be read from start to end"):
        stream.rows(0, 1)


@every_composition
def test_passes_copies_and_workers_give_the_same_rows(make):
    stream = make(in_memory(1), in_memory(2))
    rows = rows_of(stream)
    assert stream.reiterable
    assert same(rows_of(stream), rows)
    assert same(rows_of(pickle.loads(pickle.dumps(stream))), rows)
    np.testing.assert_array_equal(np.concatenate(list(stream.labels())), rows["y"])
    assert stream.n_rows == len(rows["y"])
    assert stream.classes.tolist() == ["no", "yes"]


@every_composition
def test_no_row_is_lost_or_comes_twice(make):
    parts = {1: in_memory(1), 2: in_memory(2)}
    stream = make(*parts.values())
    rows = rows_of(stream)
    for seed, part in parts.items():
        mine = rows["id"] // 1000 == seed
        numbers = rows["id"][mine] % 1000
        np.testing.assert_array_equal(rows["X"][mine], part.X[numbers])
        if len(numbers) and make is not MAKERS["with_imbalance"]:
            assert numbers.tolist() == list(range(numbers[0], numbers[0] + len(numbers)))
        assert (np.diff(numbers) > 0).all()
        if make is not MAKERS["with_label_noise"]:
            np.testing.assert_array_equal(rows["y"][mine], part.y[numbers])


@every_composition
def test_drifts_are_rows_of_the_stream(make):
    stream = make(sea(1), sea(2))
    assert all(0 <= drift.start <= drift.end <= stream.n_rows for drift in stream.drifts)
    assert all(drift.end > 0 for drift in stream.drifts)
    assert list(stream.drifts) == sorted(set(stream.drifts))


@every_composition
def test_a_part_that_can_be_read_once_makes_a_stream_that_can(make):
    def once(seed):
        return ChunkStream(iter(list(in_memory(seed))))

    if make in (MAKERS["with_imbalance"], MAKERS["recurring"], MAKERS["with_label_noise"]):
        return  # which need to know more: see below
    stream = make(once(1), once(2))
    assert not stream.reiterable
    assert same(rows_of(stream), rows_of(make(in_memory(1), in_memory(2))))
    with pytest.raises(RuntimeError, match="one-shot"):
        list(stream)


def test_a_function_that_returns_one_and_the_same_iterator_is_noticed():
    rows = iter(list(in_memory(1)))
    assert begins_again(concat(in_memory(1), in_memory(2)))
    assert not begins_again(take_rows(lambda: rows, 9))


def test_a_source_of_chunks_says_its_drifts():
    class Source(list):
        drifts = (40, (50, 55))

    stream = concat(in_memory(1), Source(in_memory(2)))
    assert stream.drifts == (Drift(60, 60), Drift(100, 100), Drift(110, 115))


def test_a_composition_of_compositions():
    a, b, c = sea(1), sea(2), sea(3)
    stream = drop_rows(
        with_label_noise(concat(take_rows(a, 40), join_streams(b, c, 20, 4)), 0.2), 13
    )
    whole = rows_of(stream)
    assert same(block(stream, 5, 50), part_of(whole, 5, 50))
    assert stream.drifts[0] == Drift(17, 17)


# --- which rows come ------------------------------------------------------------------------------


def test_concat_and_its_drifts():
    one, other = sea(1), sea(2)
    stream = concat(one, other)
    np.testing.assert_array_equal(rows_of(stream)["X"][N_ROWS:], rows_of(other)["X"])
    assert stream.drifts == (Drift(30, 30), Drift(60, 60), Drift(90, 90))
    days = concat(take_rows(one, 20), drop_rows(one, 20), seams_are_drifts=False)
    assert same(rows_of(days), rows_of(one))
    assert days.drifts == one.drifts
    endless = concat(one, sea(2, None))
    assert endless.n_rows is None
    assert same(block(endless, 50, 90), block(concat(one, sea(2, 99)), 50, 90))
    unknown = concat(as_stream(lambda: iter(one)), other)
    assert (unknown.n_rows, unknown.drifts) == (None, ())


def test_drifts_are_complete_or_empty_and_known_after_a_pass():
    def unknown(seed):
        return as_stream(lambda: iter(in_memory(seed)))

    def nested():
        return concat(in_memory(1), concat(unknown(2), unknown(3)), unknown(4))

    complete = tuple(Drift(row, row) for row in (60, 120, 180))
    stream = nested()
    assert (
        stream.drifts
        == take_rows(stream, 200).drifts
        == join_streams(stream, in_memory(5), 90).drifts
        == ()
    )
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    assert evaluator.evaluate(sk.Persistent(), stream, classes=["no", "yes"]).drifts == complete
    assert stream.drifts == with_label_noise(stream, 0.1, classes=["no", "yes"]).drifts == complete
    assert concat(unknown(1), unknown(2), seams_are_drifts=False).drifts == ()
    with pytest.warns(UserWarning, match="result.drifts is empty"):
        late = sk.DelayedEvaluator("accuracy", delay=1, random_state=0).evaluate(
            sk.Persistent(), nested(), classes=["no", "yes"]
        )
    assert late.drifts == ()


def test_rows_that_are_left_out_are_not_made():
    later = take_rows(drop_rows(sea(1, None), 10**12), 5)
    np.testing.assert_array_equal(next(later.labels()), next(iter(later)).y)


def test_first_and_skip_cut_drifts():
    stream = concat(sea(1), sea(2))
    assert take_rows(stream, 61).drifts == (Drift(30, 30), Drift(60, 60))
    assert drop_rows(stream, 30).drifts == (Drift(30, 30), Drift(60, 60))
    gradual = join_streams(sea(1, None), sea(2, None), 100, 20)
    change = next(drift for drift in gradual.drifts if drift.start != drift.end)
    assert change == Drift(80, 120)
    assert Drift(80, 90) in take_rows(gradual, 90).drifts
    assert Drift(0, 30) in drop_rows(gradual, 90).drifts


def test_the_share_of_the_second_stream_is_the_sigmoid():
    position, width, n = 20_000, 4000, 40_000
    before, after = as_stream(np.zeros((n, 1)), [0] * n), as_stream(np.ones((n, 1)), [0] * n)
    came = rows_of(join_streams(before, after, position, width))["X"][:n, 0]
    rows = np.arange(n)
    share = 1 / (1 + np.exp(-4 * (rows - position) / width))
    for start in range(0, n, 1000):
        expected = share[start : start + 1000]
        found = came[start : start + 1000].sum()
        spread = np.sqrt((expected * (1 - expected)).sum())
        assert abs(found - expected.sum()) <= 4 * spread + 1
    assert not came[: position - 2 * width].any()
    assert came[position + 2 * width :].all()
    assert 0 < came[position - 2 * width : position - width].sum()
    other = rows_of(join_streams(before, after, position, width, random_state=1))["X"][:n, 0]
    assert (other != came).any()


def test_an_abrupt_join():
    one, other = sea(1), sea(2)
    stream = join_streams(one, other, 45)
    rows = rows_of(stream)
    assert same(part_of(rows, 0, 45), part_of(rows_of(one), 0, 45))
    assert same(part_of(rows, 45, 105), rows_of(other))
    assert stream.drifts == (Drift(30, 30), Drift(45, 45), Drift(75, 75))
    assert join_streams(one, other, 0).drifts == other.drifts


@pytest.mark.parametrize("n_known", [True, False])
def test_where_the_first_stream_ends_all_rows_come_from_the_second(n_known):
    one, other = in_memory(1), in_memory(2)
    given = one if n_known else as_stream(lambda: iter(one))
    stream = join_streams(given, other, 60, 20)
    rows = rows_of(stream)
    assert sorted(rows["id"].tolist()) == [*range(1000, 1060), *range(2000, 2060)]
    assert rows["id"].tolist() == rows_of(join_streams(one, other, 60, 20))["id"].tolist()
    if n_known:
        (drift,) = stream.drifts
        last = int(np.flatnonzero(rows["id"] < 2000)[-1])
        assert drift.start == 40
        assert last < drift.end <= 80


def test_drifts_of_joined_streams_are_where_their_rows_come():
    one, other = in_memory(1), in_memory(2)
    stream = join_streams(sea(1), sea(2), 32, 20)
    ids = rows_of(join_streams(one, other, 32, 20))["id"]
    places = {1: np.flatnonzero(ids == 1030), 2: np.flatnonzero(ids == 2030)}
    expected = {Drift(int(at[0]), int(at[0])) for at in places.values()}
    assert set(stream.drifts) == expected | {Drift(12, 52)}


def test_streams_by_turns():
    one, other = in_memory(1), in_memory(2)
    ids = rows_of(recurring(one, other, length=[25, 10]))["id"].tolist()
    assert ids == [
        *range(1000, 1025), *range(2000, 2010), *range(1025, 1050), *range(2010, 2020),
        *range(1050, 1060),
    ]  # fmt: skip
    stream = recurring(sea(1), sea(2), length=25, n_rows=90)
    assert [drift.start for drift in stream.drifts] == [25, 50, 55, 75, 80]
    assert stream.n_rows == len(rows_of(stream)["y"]) == 90
    endless = recurring(sea(1, None), sea(2, None), length=25, n_rows=1000)
    assert same(part_of(block(endless, 0, 90), 0, 90), rows_of(stream))
    with pytest.raises(ValueError, match=r"n_rows=999 is beyond the streams: .* at row 110"):
        recurring(one, other, length=25, n_rows=999)
    with pytest.raises(ValueError, match="pass n_rows="):
        recurring(sea(1, None), sea(2, None), length=5)
    short = recurring(as_stream(lambda: iter(one)), other, length=25, n_rows=130)
    with pytest.raises(ValueError, match="Stream 0 ended after 60 rows, and 75 of them"):
        list(short)


def test_labels_with_noise():
    y = np.repeat([0, 1, 2, -1], 5000).astype(object)
    y[y == -1] = None
    stream = as_stream(np.zeros((20_000, 1)), y)
    noisy = rows_of(with_label_noise(stream, 0.3))["y"]
    assert (noisy[15_000:] == None).all()  # noqa: E711
    for label in range(3):
        of_label = noisy[y == label].astype(int)
        counts = np.bincount(of_label, minlength=3) / 5000
        expected = np.full(3, 0.15)
        expected[label] = 0.7
        np.testing.assert_allclose(counts, expected, atol=4 * np.sqrt(0.21 / 5000))
    assert np.array_equal(rows_of(with_label_noise(stream, 0))["y"], y)
    twice = rows_of(with_label_noise(with_label_noise(sea(1, 10_000), 0.1), 0.1))["y"]
    assert np.mean(twice != rows_of(sea(1, 10_000))["y"]) == pytest.approx(0.18, abs=0.02)
    names = with_label_noise(as_stream(np.zeros((500, 1)), ["a"] * 500), 0.5, classes=["a", "long"])
    assert set(rows_of(names)["y"]) == {"a", "long"}


def test_classes_with_other_shares():
    stream = sea(1, 20_000)
    y = rows_of(stream)["y"]
    thin = with_imbalance(stream, {0: 0.9, 1: 0.1})
    found = rows_of(thin)["y"]
    assert np.mean(found == 1) == pytest.approx(0.1, abs=0.01)
    assert np.count_nonzero(found == 0) == np.count_nonzero(y == 0)  # all of the rarest
    current = {0: np.mean(y == 0), 1: np.mean(y == 1)}
    assert same(rows_of(with_imbalance(stream, {0: 0.9, 1: 0.1}, current=current)), rows_of(thin))
    kept = thin._kept(y, 0)
    assert thin.drifts == (Drift(*[int(kept[:30].sum())] * 2),)
    assert set(rows_of(with_imbalance(stream, {0: 0, 1: 1}))["y"]) == {1}
    endless = with_imbalance(sea(1, None), {0: 0.9, 1: 0.1}, current=current)
    assert endless.n_rows is None
    assert endless.drifts == thin.drifts
    assert not hasattr(endless, "rows")
    some = rows_of(take_rows(endless, 50))
    assert same(some, part_of(rows_of(thin), 0, 50))
    once = with_imbalance(ChunkStream(iter(list(stream))), {0: 0.9, 1: 0.1}, current=current)
    assert (once.n_rows, once.drifts) == (None, ())
    assert same(rows_of(once), rows_of(thin))


def times(stream) -> np.ndarray:
    rows = rows_of(stream)
    return rows["label_time"] - rows["arrival"]


def test_delays():
    stream = in_memory(1)
    assert (times(with_delay(stream, 5)) == 5).all()
    named = ArrayStream(np.arange(6.0).reshape(3, 2), [0, 1, None], feature_names=["a", "wait"])
    late = rows_of(with_delay(named, "wait"))
    assert late["label_time"].tolist() == [1, 4, np.inf]
    assert late["arrival"].tolist() == [0, 1, 2]
    drawn = with_delay(sea(1, 20_000), expon(scale=40))
    assert times(drawn).mean() == pytest.approx(40, rel=0.03)
    assert (times(with_delay(sea(1), poisson(0.1))) >= 0).all()
    assert np.isinf(times(with_delay(stream, np.inf))).all()
    # Times stay where rows are skipped or taken by turns.
    assert same(part_of(rows_of(drawn), 90, 99), part_of(rows_of(drop_rows(drawn, 90)), 0, 9))


def test_delays_of_rows_that_arrive_at_datetimes():
    arrival = np.datetime64("2024-01-01", "s") + np.arange(3) * np.timedelta64(1, "h")
    stream = ArrayStream(np.zeros((3, 1)), [0, None, 1], arrival=arrival)
    for delay, unit in ((timedelta(days=1), None), (24, timedelta(hours=1))):
        late = rows_of(with_delay(stream, delay, unit=unit))["label_time"]
        assert np.isnat(late[1])
        assert late[[0, 2]].tolist() == (arrival[[0, 2]] + np.timedelta64(1, "D")).tolist()
    assert np.isnat(rows_of(with_delay(stream, np.inf, unit=timedelta(1)))["label_time"]).all()
    with pytest.raises(ValueError, match="The delay is a number, but arrivals are datetimes"):
        list(with_delay(stream, 24))


def test_late_labels_reach_the_evaluator():
    stream = drop_rows(with_delay(sea(1, 400), expon(scale=9)), 20)
    rows = rows_of(stream)
    evaluator = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=3))
    result = evaluator.evaluate(sk.Persistent(), stream)
    given = {key: rows[key] for key in ("arrival", "label_time")}
    again = evaluator.evaluate(sk.Persistent(), rows["X"], rows["y"], **given)
    assert result.scores == again.scores
    assert len(result.drifts) == 1


def test_an_evaluation_of_a_composition_goes_on_from_a_folder(tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", run=tmp_path / "run")
    result = evaluator.evaluate(sk.Persistent(), concat(in_memory(1), in_memory(2)))
    assert result.drifts == (Drift(60, 60),)
    again = evaluator.evaluate(sk.Persistent(), concat(in_memory(1, 9), in_memory(2)))
    assert again.scores == result.scores
    with pytest.raises(ValueError, match="it has 90 rows, but the run had read 120"):
        evaluator.evaluate(sk.Persistent(), join_streams(in_memory(1), in_memory(2), 30))


def test_the_place_of_a_row_is_asked_of_its_source():
    class Told(ArrayStream):
        def place_of(self, row):
            return f"{self.X[row, 0]:g} {row}"

    one, other = (Told(np.full((60, 3), k), ["no"] * 60) for k in (1, 2))
    assert concat(one, other).place_of(63) == "2 3"
    assert drop_rows(one, 7).place_of(3) == "1 10"
    assert join_streams(one, other, 30).place_of(31) == "2 1"
    assert recurring(one, other, length=9).place_of(20) == "1 11"
    assert concat(one, other).place_of(120) == ""


def test_seeds_in_use_twice_are_said():
    for make in (MAKERS["concat"], MAKERS["join_streams"], MAKERS["recurring"]):
        with pytest.warns(UserWarning, match="Two of the SEA streams have random_state=1"):
            make(sea(1), sea(1))


# --- bad input ------------------------------------------------------------------------------------

WIDE = as_stream(np.zeros((N_ROWS, 5)), ["no", "yes"] * 30)
OTHERS = as_stream(np.zeros((N_ROWS, 3)), ["a", "b"] * 30)


@pytest.mark.parametrize("name", ["concat", "join_streams", "recurring"])
def test_streams_that_do_not_fit(name):
    with pytest.raises(ValueError, match="Streams 0 and 1 have 3 and 5 features"):
        MAKERS[name](in_memory(1), WIDE)
    with pytest.raises(ValueError, match=r"the classes \['no', 'yes'\] and \['a', 'b'\]"):
        MAKERS[name](in_memory(1), OTHERS)
    weighted = ArrayStream(in_memory(2).X, in_memory(2).y, sample_weight=np.ones(N_ROWS))
    with pytest.raises(ValueError, match=r"keys of meta change|have different meta data"):
        list(MAKERS[name](in_memory(1), weighted))


@pytest.mark.parametrize("name", ["concat", "join_streams", "recurring"])
def test_features_of_other_names_are_refused_at_any_depth(name):
    def named(names):
        return ArrayStream(in_memory(1).X, in_memory(1).y, feature_names=names)

    one, other, third = named(["x", "y", "z"]), named(["y", "x", "z"]), named(["x", "y", "u"])
    words = r"Streams 0 and 1 have the features \['x', 'y', 'z'\] and \['y', 'x', 'z'\], .*order"
    with pytest.raises(ValueError, match=words):
        MAKERS[name](one, other)
    with pytest.raises(ValueError, match=r"have the features .* of the same names"):
        MAKERS[name](concat(in_memory(1), one), take_rows(concat(one, third), 60))
    with pytest.raises(ValueError, match=r"\['size', 'colour', 'shape'\]"):
        MAKERS[name](sea(1), STAGGER(60))
    assert MAKERS[name](one, one).feature_names == ["x", "y", "z"]


def test_nominal_features_of_other_codes_are_refused(tmp_path, pa, pd):
    def declared(kind, **options):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.arff"
        label = "@attribute c {u,v}\n@data\n"
        path.write_text(f"@relation r\n@attribute f {kind}\n{label}1,u\n2,v\n")
        return ARFFStream(path, target="c", **options)

    one, more = declared("{1,2}"), declared("{1,2,3}")
    for name in ("concat", "join_streams", "recurring"):
        options = {"join_streams": {"position": 1}, "recurring": {"length": 1}}.get(name, {})
        make = getattr(skstream.streams, name)
        with pytest.raises(ValueError, match=r"positions in \['1', '2'\] in stream 0, and in"):
            make(one, concat(declared("{2,1}")), **options)
        with pytest.raises(ValueError, match="categories in stream 0 and numbers in stream 1"):
            make(one, declared("numeric"), **options)
    with pytest.raises(ValueError, match=r"\['1', '2', '3'\] in stream 1, and in \['1', '2', '4'"):
        concat(one, more, declared("{1,2,4}"))
    assert len(rows_of(concat(one, more))["y"]) == 4  # the same codes, as far as both have them
    concat(declared("{1,2}", as_frame=True), declared("{2,1}", as_frame=True))


@pytest.mark.parametrize(
    "make",
    [
        lambda g: join_streams(g, g, 5),
        lambda g: recurring(g, g, length=3, n_rows=12),
        lambda g: concat(take_rows(g, 6), drop_rows(g, 6)),
        lambda g: concat(in_memory(1), with_delay(concat(g), 1), take_rows(as_stream(g), 6)),
    ],
)
@pytest.mark.parametrize("as_one", [False, True])
def test_one_iterator_given_twice_is_refused_at_any_depth(make, as_one):
    rows = iter(list(in_memory(1)))
    with pytest.raises(ValueError, match="the same iterator is given twice"):
        make(as_stream(rows) if as_one else rows)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: concat(), "concat needs at least one stream"),
        (lambda: concat(sea(1, None), sea(2)), "Stream 0 never ends"),
        (lambda: take_rows(sea(1), 0), "n must be an integer >= 1. Got 0"),
        (lambda: drop_rows(sea(1), -1), "n must be an integer >= 0. Got -1"),
        (lambda: drop_rows(sea(1), 60), r"drop_rows\(n=60\) leaves no row: the stream has 60"),
        (lambda: list(drop_rows(as_stream(lambda: iter(sea(1))), 60)), "leaves no row: the stream"),
        (lambda: join_streams(sea(1), sea(2), 61), "position=61 is beyond the first stream, which"),
        (
            lambda: list(join_streams(as_stream(lambda: iter(sea(1))), sea(2), 61)),
            "position=61 is beyond the first stream, which has 60",
        ),
        (lambda: join_streams(sea(1), sea(2), 9, -1), "width must be an integer >= 0. Got -1"),
        (lambda: join_streams(sea(1), sea(2), "x"), "position must be an integer >= 0. Got 'x'"),
        (lambda: recurring(sea(1), length=5), "at least two streams. Got 1"),
        (lambda: recurring(sea(1), sea(2), length=[5]), "one for each of the 2 streams"),
        (lambda: recurring(sea(1), sea(2), length=0), "length must be an integer >= 1"),
        (lambda: with_delay(sea(1), -1), "The delay is -1: a label cannot come before its row"),
        (lambda: with_delay(sea(1), float("nan")), "Got nan instead, so no label would"),
        (lambda: with_delay(sea(1), None), "Got None instead, so no label would"),
        (lambda: with_delay(sea(1), np.timedelta64("NaT")), "Got .*NaT.*, so no label"),
        (lambda: with_delay(sea(1), [1, 2]), "delay must be a number, a timedelta, the name of"),
        (lambda: list(with_delay(sea(1), "x")), r"delay='x' is neither .* \['x1', 'x2', 'x3"),
        (lambda: list(with_delay(sea(1), norm())), r"The delay of row \d+ is -"),
        (lambda: list(with_delay(sea(1), timedelta(1))), "timedelta, but arrivals are num"),
        (lambda: list(with_delay(with_delay(sea(1), 1), 1)), "already has label times"),
        (lambda: with_label_noise(sea(1), 1.5), "share must be a number from 0 to 1"),
        (lambda: with_label_noise(sea(1), "0.1"), "share must be a number from 0 to 1. Got '0.1'"),
        (lambda: with_label_noise(as_stream([[0.0]], [0.5]), 0.1), r"Pass classes=\[...\]"),
        (lambda: with_label_noise(sea(1), 0.1, classes=[1]), "needs at least two classes"),
        (lambda: with_imbalance(sea(1), {0: 0.5, 1: 0.6}), "that sum to 1. Got .* together 1.1"),
        (lambda: with_imbalance(sea(1), {0: 1.0}), r"name \[0\], and the stream has \[0, 1\]"),
        (lambda: with_imbalance(sea(1), [0.5, 0.5]), "shares must map labels to shares"),
        (
            lambda: with_imbalance(ChunkStream(iter(list(sea(1)))), {0: 0.5, 1: 0.5}),
            "the stream can be iterated only once. Pass them, current=",
        ),
        (lambda: with_imbalance(sea(1, None), {0: 0.5, 1: 0.5}), "the stream never ends"),
        (
            lambda: with_imbalance(as_stream([[0.0]] * 2, [0, 0]), {0: 0.5, 1: 0.5}),
            r"name \[0, 1\], and the stream has \[0\]",
        ),
        (
            lambda: list(with_imbalance(lambda: iter([([[0.0]], [0])]), {0: 0.5, 1: 0.5})),
            "Class 1 does not occur in the stream",
        ),
    ],
)
def test_bad_input(make, words):
    with pytest.raises(ValueError, match=words):
        make()


# --- streams without an end -----------------------------------------------------------------------


class Source:
    """Chunks without an end, which say so."""

    endless = True

    def __iter__(self):
        return iter(sea(1, None))


ENDLESS = {
    "generator": lambda: sea(1, None),
    "chunks": lambda: as_stream(Source()),
    "concat": lambda: concat(sea(2), as_stream(Source())),
    "join_streams": lambda: join_streams(sea(2), sea(1, None), 30),
    "drop_rows": lambda: drop_rows(with_delay(sea(1, None), 1), 5),
    "imbalance": lambda: with_imbalance(sea(1, None), {0: 0.5, 1: 0.5}, current={0: 0.4, 1: 0.6}),
}


@pytest.mark.parametrize("make", ENDLESS.values(), ids=ENDLESS)
def test_a_stream_says_that_it_is_endless_and_its_first_rows_are_not(make):
    assert make().endless
    assert not take_rows(make(), 20).endless
    assert take_rows(make(), 20).n_rows == 20
    assert not recurring(make(), sea(3, None), length=5, n_rows=20).endless


def test_the_end_of_a_change_without_an_end_is_not_looked_for():
    turning = with_imbalance(RotatingHyperplane(None), {0: 0.5, 1: 0.5}, current={0: 0.4, 1: 0.6})
    ((start, end),) = turning.drifts
    assert start <= 1 < 10**12 < end


CALLS = {
    "prequential": lambda made: sk.PrequentialEvaluator("accuracy").evaluate(sk.Persistent(), made),
    "holdout": lambda made: sk.HoldoutEvaluator("accuracy", holdout="next").evaluate(
        sk.Persistent(), made
    ),
    "k-fold": lambda made: sk.KFoldEvaluator("accuracy").evaluate(sk.Persistent(), made),
    "delayed": lambda made: sk.DelayedEvaluator("accuracy").evaluate(
        sk.Persistent(), with_delay(made, 1)
    ),
    "seeds": lambda made: sk.evaluate_over_seeds(lambda seed: made, sk.Persistent(), [0, 1]),
    "predict": lambda made: sk.prequential_predict(sk.Persistent(), made),
    "search": lambda made: sk.PrequentialSearch(SGDClassifier(), {"alpha": [0.1, 1.0]}).fit(made),
    "profile": lambda made: label_profile(made),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_endless_stream_is_refused_before_its_first_row(call, monkeypatch):
    made = sea(1, None)
    monkeypatch.setattr(SEA, "block", lambda *rows: pytest.fail("a row was read"))
    with pytest.raises(ValueError, match=r"never ends, .* take_rows\(stream, n\)"):
        call(made)


def test_no_folder_is_left_of_an_endless_stream(tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", run=tmp_path / "run")
    with pytest.raises(ValueError, match="never ends"):
        evaluator.evaluate(sk.Persistent(), sea(1, None))
    assert not list(tmp_path.iterdir())
