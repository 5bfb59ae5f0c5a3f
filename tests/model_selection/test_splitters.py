"""Laws of all splitters, found by introspection, and what each refuses."""

import pickle
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_validate,
    learning_curve,
    validation_curve,
)

import skstream
import skstream.model_selection as module
from skstream.model_selection import ExpandingWindowSplit, PrequentialSplit, SlidingWindowSplit
from skstream.model_selection._splitters import Splitter
from tests._examples import examples

SPLITTERS = [
    value
    for value in (getattr(module, name) for name in module.__all__)
    if isinstance(value, type) and issubclass(value, Splitter)
]


@st.composite
def prequential(draw):
    parts = {
        "n_warmup": draw(st.integers(1, 10)),
        "n_splits": draw(st.integers(1, 4)),
        "test_size": draw(st.none() | st.integers(1, 5)),
        "gap": draw(st.integers(0, 3)),
    }
    tested = parts["n_splits"] * (parts["test_size"] or 1)
    n_rows = parts["n_warmup"] + parts["gap"] + tested + draw(st.integers(0, 30))
    return PrequentialSplit(**parts), n_rows


@st.composite
def windows(draw, make):
    """A splitter that fits, with or without uneven times, and with or without label times."""
    n_rows = draw(st.integers(12, 40))
    times = None
    if draw(st.booleans()):
        spacing = draw(st.lists(st.sampled_from([0, 1, 1, 2, 5]), min_size=12, max_size=12))
        times = np.cumsum(np.resize(spacing, n_rows)) + draw(st.integers(-5, 5))
    arrival = np.arange(n_rows) if times is None else times
    label_times = None
    if draw(st.booleans()):
        delays = draw(st.lists(st.sampled_from([0, 0, 1, 4, np.inf]), min_size=7, max_size=7))
        label_times = arrival + np.resize([0, *delays], n_rows)
    sizes = {
        "train_size": draw(st.integers(1, 6)),
        "test_size": draw(st.none() | st.integers(1, 6)),
        "step": draw(st.none() | st.integers(1, 6)),
        "gap": draw(st.integers(0, 3)),
        "n_splits": draw(st.none() | st.integers(1, 3)),
        "keep_incomplete": draw(st.booleans()),
    }
    if sizes["test_size"] is None:
        sizes |= {"step": None, "n_splits": sizes["n_splits"] or 2}
    splitter = make(**sizes, times=times, label_times=label_times)
    try:
        list(splitter.split(np.zeros((n_rows, 1))))
    except ValueError as error:
        assume("fit into a stream" not in str(error))
        assume("with rows fits" not in str(error))
        assume("has no row to train on" not in str(error))
        raise
    return splitter, n_rows


# A splitter with any parameters, and a number of rows that it takes.
SETTINGS = {
    PrequentialSplit: prequential(),
    ExpandingWindowSplit: windows(ExpandingWindowSplit),
    SlidingWindowSplit: windows(SlidingWindowSplit),
}
DEFAULT = {
    PrequentialSplit: PrequentialSplit(20, n_splits=3, test_size=10, gap=2),
    ExpandingWindowSplit: ExpandingWindowSplit(20, test_size=10, gap=2),
    SlidingWindowSplit: SlidingWindowSplit(20, n_splits=4),
}
WINDOWS = [ExpandingWindowSplit, SlidingWindowSplit]

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = (X[:, 0] > 0).astype(int)

every_splitter = pytest.mark.parametrize(
    "splitter", DEFAULT.values(), ids=lambda s: type(s).__name__
)


def test_every_splitter_is_tested():
    assert {*SETTINGS} == {*DEFAULT} == {*SPLITTERS}
    assert {s.__name__ for s in SPLITTERS} <= {*skstream.__all__}


def as_lists(params):
    """Parameters that can be compared and written: their arrays as lists."""
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in params.items()}


def check_laws(splits, n_rows):
    """No row twice in a part, none trained on at or after a row tested on, in order."""
    begins = []
    for train, test in splits:
        for part in (train, test):
            assert part.dtype.kind == "i"
            assert len(part)
            assert 0 <= part[0]
            assert part[-1] < n_rows
            assert (np.diff(part) > 0).all()
        assert train[-1] < test[0]
        begins.append(test[0])
    assert begins == sorted(begins)


@pytest.mark.parametrize(
    "splits",
    [
        [([0, 1, 1], [2])],
        [([0, 1], [3, 2])],
        [([0, 2], [1, 3])],
        [([0, 1], [1, 2])],
        [([], [1])],
        [([0], [4, 5])],
        [([0, 1], [2]), ([0], [1])],
    ],
    ids=["twice", "unordered", "future", "both", "empty", "beyond", "backwards"],
)
def test_broken_splits_are_caught(splits):
    with pytest.raises(AssertionError):
        check_laws([(np.array(a, int), np.array(b, int)) for a, b in splits], n_rows=5)


@pytest.mark.parametrize("make", SPLITTERS)
@examples(30)
@given(data=st.data())
def test_laws(make, data):
    splitter, n_rows = data.draw(SETTINGS[make])
    splits = list(splitter.split(np.zeros((n_rows, 1)), np.zeros(n_rows)))
    check_laws(splits, n_rows)
    assert splits
    assert len(splits) == splitter.get_n_splits(np.zeros((n_rows, 1)))
    copies = [clone(splitter), pickle.loads(pickle.dumps(splitter))]
    if not any(isinstance(value, np.ndarray) for value in splitter.get_params().values()):
        copies.append(eval(repr(splitter)))  # long arrays are cut short in it
    for again in copies:
        assert as_lists(again.get_params()) == as_lists(splitter.get_params())
        for (train, test), (other_train, other_test) in zip(
            splits, again.split(np.zeros((n_rows, 1))), strict=True
        ):
            assert np.array_equal(train, other_train)
            assert np.array_equal(test, other_test)


@examples(30)
@given(case=prequential())
def test_prequential_blocks(case):
    splitter, n_rows = case
    splits = list(splitter.split(np.zeros((n_rows, 1))))
    tested = np.concatenate([test for _, test in splits])
    first = splitter.n_warmup + splitter.gap
    assert np.array_equal(tested, np.arange(first, first + len(tested)))
    assert all(np.array_equal(train, np.arange(test[0] - splitter.gap)) for train, test in splits)
    assert len(splits[0][0]) == splitter.n_warmup
    sizes = {len(test) for _, test in splits}
    if splitter.test_size is None:
        assert tested[-1] == n_rows - 1
        assert max(sizes) - min(sizes) <= 1
    else:
        assert sizes == {splitter.test_size}


def test_one_row_too_few_is_refused():
    splitter = PrequentialSplit(10, n_splits=2, test_size=5, gap=1)
    assert len(list(splitter.split(X[:21]))) == 2
    with pytest.raises(ValueError, match=r"needs at least 21 rows, but X has 20.* leave 9 rows"):
        splitter.split(X[:20])
    with pytest.raises(ValueError, match=r"PrequentialSplit\(n_warmup=100\) needs at least 101"):
        PrequentialSplit(100).split(X)
    with pytest.raises(ValueError, match=r"needs at least 14 rows, but X has 13"):
        PrequentialSplit(10, n_splits=4).split(X[:13])


@every_splitter
def test_search_and_cross_validation(splitter):
    model, grid = SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2]}
    n_splits = splitter.get_n_splits(X)
    by_hand = [
        SGDClassifier(random_state=0).fit(X[train], y[train]).score(X[test], y[test])
        for train, test in splitter.split(X)
    ]
    search = GridSearchCV(model, grid, cv=splitter).fit(X, y)
    assert search.n_splits_ == n_splits
    found = [search.cv_results_[f"split{i}_test_score"][0] for i in range(n_splits)]
    assert found == by_hand == cross_validate(model, X, y, cv=splitter)["test_score"].tolist()
    RandomizedSearchCV(model, grid, n_iter=1, cv=splitter, random_state=0).fit(X, y)
    validation_curve(model, X, y, param_name="alpha", param_range=[1e-3], cv=splitter)
    _sizes, _, scores = learning_curve(model, X, y, cv=splitter, train_sizes=[1.0])
    assert scores.shape == (1, n_splits)
    assert clone(search).cv.get_params() == splitter.get_params()


@every_splitter
def test_groups_are_not_used(splitter):
    with pytest.warns(UserWarning, match="does not use groups"):
        splitter.split(X, y, groups=y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        splitter.split(X, y[:-1])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_warmup": 0}, "'n_warmup' parameter of PrequentialSplit must be an integer >= 1"),
        ({"n_warmup": 2.5}, "Got 2.5 instead"),
        ({"n_warmup": 5, "gap": -1}, r"'gap' parameter .* >= 0. Got -1 instead"),
        ({"n_warmup": 5, "n_splits": 0}, "'n_splits' parameter"),
        ({"n_warmup": 5, "test_size": 0}, "'test_size' parameter"),
        ({"n_warmup": 5, "test_size": True}, "Got True instead"),
    ],
)
def test_parameters_of_the_prequential_split_are_checked(params, message):
    with pytest.raises(ValueError, match=message):
        PrequentialSplit(**params).split(X)


def splits_by_hand(splitter, n_rows):
    """Row by row, what the documentation says of splitters with integer sizes."""
    times = range(n_rows) if splitter.times is None else splitter.times
    t = [Fraction(int(time)) for time in times]
    known = t if splitter.label_times is None else splitter.label_times
    steps = [b - a for a, b in pairwise(t) if b > a]
    usual = Fraction(float(np.median([float(s) for s in steps]))) if steps else Fraction(0)
    end = t[-1] + usual
    first = t[0] + splitter.train_size + splitter.gap
    if splitter.test_size is None:
        size = (end - first) / splitter.n_splits
        begins = [first + size * i for i in range(splitter.n_splits)]
        whole = True
    else:
        size, step = splitter.test_size, splitter.step or splitter.test_size
        begins = [first + step * i for i in range(300)]
        whole = splitter.keep_incomplete
    found = []
    for begin in begins:
        test = [i for i in range(n_rows) if begin <= t[i] < begin + size]
        if not test or (begin + size > end + usual / 100 and not whole):
            continue
        train_end = begin - splitter.gap
        window = [
            i
            for i in range(n_rows)
            if t[i] < train_end and known[i] <= t[test[0]]
            if isinstance(splitter, ExpandingWindowSplit) or t[i] >= train_end - splitter.train_size
        ]
        found.append((window, test))
    return found[-(splitter.n_splits or 0) :]


@pytest.mark.parametrize("make", WINDOWS)
@examples(50)
@given(data=st.data())
def test_windows_hold_the_rows_that_the_documentation_says(make, data):
    splitter, n_rows = data.draw(windows(make))
    splits = list(splitter.split(np.zeros((n_rows, 1))))
    assert [(train.tolist(), test.tolist()) for train, test in splits] == splits_by_hand(
        splitter, n_rows
    )
    t = np.arange(n_rows) if splitter.times is None else splitter.times
    for train, test in splits:
        assert t[test[0]] - t[train[-1]] > splitter.gap
        if splitter.label_times is not None:
            assert (splitter.label_times[train] <= t[test[0]]).all()


DAYS = np.arange("2024-01-01", "2024-02-10", dtype="datetime64[D]")
ROWS = np.zeros((len(DAYS), 1))


def as_text(splits):
    return [(train.tolist(), test.tolist()) for train, test in splits]


@pytest.mark.parametrize("make", WINDOWS)
def test_durations_may_be_written_in_many_ways(make):
    """Datetimes split as the row numbers of daily rows do; so do numbers, with a rounded step."""
    expected = as_text(make(14, test_size=7, step=3, gap=1).split(ROWS))
    week = timedelta(days=7)
    for train_size, test_size, step, gap in [
        ("14D", week, "72h", "1D"),
        ("2W", np.timedelta64(7, "D"), timedelta(days=3), np.timedelta64(24, "h")),
        (2 * week, "6D 24h", np.timedelta64(72 * 60, "m"), "1440min"),
    ]:
        splitter = make(train_size, test_size=test_size, step=step, gap=gap, times=DAYS)
        assert as_text(splitter.split(ROWS)) == expected
        assert as_text(splitter.set_params(times=DAYS.tolist()).split(ROWS)) == expected
    tenths = make(1.4, test_size=0.7, step=0.3, gap=0.1, times=1e3 + np.arange(40) * 0.1)
    assert as_text(tenths.split(ROWS)) == expected


def test_times_from_frames(pd):
    expected = as_text(ExpandingWindowSplit("14D", test_size="7D", times=DAYS).split(ROWS))
    frame = pd.DataFrame({"x": 0.0, "when": DAYS, "known": DAYS + np.timedelta64(1, "h")})
    aware = pd.DatetimeIndex(DAYS).tz_localize("Europe/Lisbon")
    for times in ("when", frame["when"], pd.DatetimeIndex(DAYS), aware):
        splitter = ExpandingWindowSplit(pd.Timedelta("14D"), test_size="7D", times=times)
        assert as_text(splitter.split(frame)) == expected
        assert splitter.get_n_splits(frame) == len(expected) == 3
        assert "times=" in repr(splitter)
        assert repr(clone(splitter)) == repr(splitter)
    purged = ExpandingWindowSplit("14D", test_size="7D", times="when", label_times="known")
    assert as_text(purged.split(frame)) == expected
    # A part of the rows brings its own column.
    assert as_text(purged.split(frame[:30])) == expected[:2]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_times_from_columns_of_other_libraries(library):
    module = pytest.importorskip(library, reason="its frames")
    columns = {"x": np.zeros(40), "when": DAYS.astype("datetime64[us]")}
    frame = (module.DataFrame if library == "polars" else module.table)(columns)
    expected = as_text(SlidingWindowSplit("14D", test_size="7D", times=DAYS).split(ROWS))
    splitter = SlidingWindowSplit("14D", test_size="7D", times="when")
    assert as_text(splitter.split(frame)) == expected
    with pytest.raises(ValueError, match=r"names a column of X, but X has \['x', 'when'\]"):
        splitter.set_params(times="then").split(frame)


def test_arguments_of_split_come_before_parameters():
    splitter = SlidingWindowSplit("14D", test_size="7D", times=DAYS)
    later = splitter.split(ROWS[:30], times=DAYS[:30])
    assert as_text(later) == as_text(splitter.split(ROWS))[:2]
    assert splitter.get_n_splits(times=DAYS[:30]) == 2
    assert splitter.get_n_splits() == 3
    assert SlidingWindowSplit(5, n_splits=4).get_n_splits() == 4
    late = np.full(40, np.datetime64("NaT"))
    with pytest.raises(ValueError, match="no label of rows 0 to 13 is known by then"):
        list(splitter.split(ROWS, label_times=late))


def test_metadata_reach_the_splitter_without_a_request():
    splitter = ExpandingWindowSplit(20.0, test_size=10.0)
    label_times = np.arange(60.0) + 3
    expected = [
        len(train) for train, _ in splitter.split(X, times=range(60), label_times=label_times)
    ]
    assert expected == [18, 28, 38, 48]
    with config_context(enable_metadata_routing=True):
        params = {"times": np.arange(60.0), "label_times": label_times}
        scores = cross_validate(
            SGDClassifier(random_state=0), X, y, cv=splitter, params=params, return_indices=True
        )
        assert [len(train) for train in scores["indices"]["train"]] == expected
        search = GridSearchCV(SGDClassifier(random_state=0), {"alpha": [1e-3]}, cv=splitter)
        search.fit(X, y, **params)
        assert search.n_splits_ == 4
        search.set_params(cv=PrequentialSplit(20)).fit(X, y)


@pytest.mark.parametrize("make", WINDOWS)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"train_size": 0}, "train_size must be more than 0, and finite. Got 0 instead"),
        ({"train_size": 2.0}, "train_size must be a whole number of rows.* Got 2.0 instead"),
        ({"train_size": "7D"}, r"Got '7D' instead \(durations need times\)"),
        ({"gap": -1}, "gap must be at least 0.* Got -1"),
        ({"test_size": -2}, "test_size must be more than 0"),
        ({"step": 0}, "step must be more than 0"),
        ({"test_size": None}, "needs test_size, or else n_splits"),
        ({"n_splits": 0}, "'n_splits' parameter"),
        ({"keep_incomplete": 1}, "keep_incomplete must be a bool"),
        ({"train_size": 60}, "no test part with rows fits into a stream of 40 rows"),
        (
            {"n_splits": 9},
            r"only 6 test parts fit into a stream of 40 rows, not 9\. .* fewer splits",
        ),
        ({"times": DAYS[:-1], "train_size": "1D"}, "times has 39 values, but X has 40 rows"),
        ({"times": DAYS[::-1]}, "times go back at row 1: 2024-02-08 comes after 2024-02-09. Sort"),
        ({"times": DAYS}, "train_size must be a duration.* datetimes without.* Got 5 instead"),
        ({"times": DAYS, "train_size": "soon"}, "Got 'soon' instead"),
        ({"times": DAYS, "train_size": np.timedelta64(1, "M")}, "months have no fixed length"),
        (
            {"times": DAYS, "train_size": "1D", "gap": 0, "test_size": "-1D"},
            "test_size must be a duration",
        ),
        ({"times": range(40), "train_size": "1D"}, "train_size must be a number, like the times"),
        ({"times": range(40), "train_size": np.nan}, "train_size must be more than 0, and finite"),
        ({"times": [*range(39), None]}, r"times\[39\] is nan: every row needs a time"),
        ({"times": "when"}, "times='when' names a column, but X has no column names"),
        ({"times": ["2024-01-01"] * 40}, "Convert texts first"),
        ({"label_times": DAYS}, "label_times holds datetimes .* without times they are counted"),
        ({"label_times": np.zeros(40)}, r"label_times\[1\] is 0, before row 1 itself"),
        ({"label_times": np.full(40, np.inf)}, "Split 0, whose test part begins with row 6 at 6,"),
        (
            {"train_size": "1D", "test_size": "60D", "times": DAYS, "gap": 0},
            "2024-01-01 to 2024-02-09",
        ),
    ],
)
def test_parameters_of_windows_are_checked(make, params, message):
    splitter = make(**{"train_size": 5, "test_size": 5, "gap": 1, **params})
    with pytest.raises(ValueError, match=message):
        list(splitter.split(ROWS))


@pytest.mark.parametrize("make", WINDOWS)
def test_other_mistakes_with_windows(make):
    with pytest.raises(ValueError, match=r"depends on the rows\. Pass X, or set n_splits"):
        make(5, test_size=5).get_n_splits()
    with pytest.raises(ValueError, match="got no rows"):
        make(5, test_size=5).split(ROWS[:0])
    with pytest.raises(ValueError, match="X is not given"):
        make(5, test_size=5, times="when").get_n_splits()
    hole = np.r_[np.arange(10), np.arange(100, 110)]
    assert len(list(ExpandingWindowSplit(5, test_size=5, times=hole).split(hole))) == 3
    with pytest.raises(ValueError, match=r"Split 1, .* at 100, .* its training window is empty"):
        list(SlidingWindowSplit(5, test_size=5, times=hole).split(hole))


@pytest.mark.parametrize("rate", [10, 3, 100])
@pytest.mark.parametrize("start", [0.0, 1.7e9])
def test_rounded_times_are_split_as_rows(rate, start):
    for n_rows in (20, 21, 50, 101, 333):
        rows, times = np.zeros((n_rows, 1)), start + np.arange(n_rows) / rate
        for size in (1, 3):
            for options in ({}, {"n_splits": 3}):
                in_time = ExpandingWindowSplit(
                    2 / rate, test_size=size / rate, times=times, **options
                )
                in_rows = ExpandingWindowSplit(2, test_size=size, **options)
                assert as_text(in_time.split(rows)) == as_text(in_rows.split(rows))


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_times_that_were_cut_end_where_the_rows_do(unit):
    second = np.timedelta64(1, "s")
    for n_rows in (9, 20, 21, 50, 333):
        rows, thirds = np.zeros((n_rows, 1)), np.arange(n_rows) * second.astype(f"m8[{unit}]") // 3
        in_time = ExpandingWindowSplit(second, test_size=second, times=DAYS[0] + thirds)
        assert in_time.get_n_splits(rows) == ExpandingWindowSplit(3, test_size=3).get_n_splits(rows)


@pytest.mark.parametrize("make", WINDOWS)
@pytest.mark.parametrize("origin", [1_767_225_600_000_000, -(2**53), 2**53 - 60_000])
@pytest.mark.parametrize("scale", [1, 3_000])
@pytest.mark.parametrize("as_given", [np.int64, np.float64, list])
def test_whole_numbers_are_split_alike_wherever_they_begin(make, origin, scale, as_given):
    if as_given is np.float64:
        origin //= 4  # floats have halves there
    times = scale * np.array([0, 3, 9, 10, 12, 14, 15, 19])
    times[1:] -= scale > 1  # far apart, and some one unit before an edge
    late = times + np.array([2 * scale, 0, 1, 0, 3, 0, 0, 0])
    rows = np.zeros((8, 1))
    for options in ({"train_size": 10}, {"train_size": 7.1, "step": 0.7}, {"train_size": 9}):
        sizes = {name: size * scale for name, size in {"test_size": 5, **options}.items()}
        splitter = make(**sizes, times=times, label_times=late)
        moved = {"times": as_given(times + origin), "label_times": as_given(late + origin)}
        assert as_text(splitter.split(rows, **moved)) == as_text(splitter.split(rows))
    by_hand = splits_by_hand(splitter, 8)
    assert as_text(splitter.split(rows)) == by_hand


@pytest.mark.parametrize("make", WINDOWS)
def test_a_stray_early_time_does_not_make_billions_of_parts(make):
    """Between 1970 and 2024 lie 1.7e11 steps of 10 ms; two of them have rows."""
    times = np.r_[np.datetime64("1970-01-01", "ms"), DAYS[:2].astype("datetime64[ms]")]
    splitter = ExpandingWindowSplit("1D", test_size="10ms", times=times)
    assert as_text(splitter.split(ROWS[:3])) == [([0], [1]), ([0, 1], [2])]
    assert splitter.get_n_splits() == 2
    # Where parts overlap, they may all have rows.
    overlapping = make("1D", test_size="20000D", step="10ms", times=times, keep_incomplete=True)
    with pytest.raises(ValueError, match=r"step=.10ms., .*WindowSplit would make millions"):
        overlapping.split(ROWS[:3])


NANOSECONDS = np.datetime64("2024-01-01", "ns") + 300 * np.arange(10).astype("timedelta64[ns]")


def test_nanoseconds_are_kept():
    times, late = NANOSECONDS, NANOSECONDS + np.timedelta64(500, "ns")
    rows, size = np.zeros((10, 1)), np.timedelta64(300, "ns")
    for same in (times, list(times)):
        splitter = ExpandingWindowSplit(3 * size, test_size=size, times=same)
        assert as_text(splitter.split(rows)) == [([*range(i)], [i]) for i in range(3, 10)]
        splits = splitter.split(rows, label_times=late)
        assert as_text(splits) == [([*range(i - 1)], [i]) for i in range(3, 10)]
    with pytest.raises(ValueError, match=r"times go back at row 1: .*\.000002400 comes after"):
        list(ExpandingWindowSplit("1us", test_size="1us", times=times[::-1]).split(rows))


def test_nanoseconds_of_pandas_are_kept(pd):
    times, rows, size = pd.Series(NANOSECONDS), np.zeros((10, 1)), pd.Timedelta(300, "ns")
    expected = [([*range(i)], [i]) for i in range(3, 10)]
    for same in (times, list(times), times.dt.tz_localize("UTC")):
        splitter = ExpandingWindowSplit(3 * size, test_size=size, times=same)
        assert as_text(splitter.split(rows)) == expected
    aware = list(times.dt.tz_localize("Europe/Lisbon"))
    assert as_text(splitter.split(rows, times=aware)) == expected
