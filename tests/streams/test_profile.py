"""Profile of the labels: P(M), P(T), Delta(l) and what they advise."""

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.streams import CSVStream, ParquetStream, as_stream, label_profile, take_rows
from tests._data import data_path
from tests._examples import examples

MAX_LAG = 4
sequences = st.lists(st.sampled_from(["a", "b", "c", None]), max_size=40).filter(any)


def goes_on(labels: list, label, lag: int) -> float:
    """P(y_t = label | the last `lag` labels were all label), counted literally."""
    after = [
        labels[t] == label
        for t in range(lag, len(labels))
        if all(past == label for past in labels[t - lag : t])
    ]
    return sum(after) / len(after) if after else math.nan


@examples(60)
@given(sequences)
def test_profile_is_the_literal_count(sequence):
    profile = label_profile(sequence, max_lag=MAX_LAG)
    labels = [label for label in sequence if label is not None]
    counts = Counter(labels)
    assert profile.n_rows == len(labels)
    assert profile.n_missing == len(sequence) - len(labels)
    assert profile.classes.tolist() == sorted(counts)
    assert profile.majority_prior == max(counts.values()) / len(labels)
    np.testing.assert_allclose(profile.priors, [counts[c] / len(labels) for c in sorted(counts)])
    equal = [a == b for a, b in zip(labels[1:], labels, strict=False)]
    np.testing.assert_equal(profile.persistence, np.mean(equal) if equal else np.nan)
    delta = [
        [goes_on(labels, c, lag) - goes_on(labels, c, lag + 1) for lag in range(1, MAX_LAG + 1)]
        for c in sorted(counts)
    ]
    np.testing.assert_allclose(profile.delta, delta)


def same(one, other) -> bool:
    return all(np.array_equal(getattr(one, f), getattr(other, f), equal_nan=True) for f in NUMBERS)


NUMBERS = ("n_rows", "n_missing", "priors", "majority_prior", "persistence", "succession", "delta")


@examples(40)
@given(sequences, st.integers(1, 10))
def test_cutting_changes_nothing(sequence, chunk_size):
    whole = label_profile(sequence)
    stream = as_stream(np.zeros((len(sequence), 1)), sequence, chunk_size=chunk_size)
    assert same(label_profile(stream), whole)
    assert label_profile(stream).classes.tolist() == whole.classes.tolist()
    assert same(label_profile(iter(sequence)), whole)


def test_names_of_labels_do_not_matter():
    labels = [0, 0, 1, 1, 1, 0, 2, 2, 0, 0]
    names = np.array(["x", "y", "z"])[labels]
    assert same(label_profile(labels), label_profile(names))
    assert same(label_profile(labels), label_profile(np.array(labels, dtype=float)))


@pytest.mark.parametrize(
    ("labels", "depends", "words"),
    [
        (["up"] * 50 + ["down"] * 50, True, "depend on their past (P(T) = 0.990, P(M) = 0.500)"),
        (["up", "up", "down"] * 50, False, "does not beat the majority class"),
        ([0, 0, 1, 1], True, "within the sampling error of 4 labels"),
        ([1, 1, 1], False, "All 3 labels are 1: there is nothing to learn."),
    ],
)
def test_advice(labels, depends, words):
    profile = label_profile(labels)
    assert profile.temporal_dependence == depends
    assert words in profile.advice
    assert ("sampling error" in profile.advice) == ("sampling error" in words)
    assert ("TemporalCorrection" in profile.advice) == depends
    assert repr(pickle.loads(pickle.dumps(profile))) == repr(profile)


def test_representations():
    profile = label_profile(["<b>", None, "<b>", "a"])
    text = repr(profile)
    assert text.startswith("LabelProfile(3 labels, 2 classes, 1 missing)")
    assert "P(T) persistence  0.5000" in text
    assert profile.advice in text


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([None, float("nan")], {}, "There is no label to profile"),
        ([], {}, "There is no label to profile"),
        ([0, 1], {"max_lag": 0}, "max_lag must be an integer >= 1. Got 0"),
        ([0.5, 1.0], {}, "not a class label"),
    ],
)
def test_bad_input_is_refused(labels, options, message):
    with pytest.raises(ValueError, match=message):
        label_profile(labels, **options)


@examples(40)
@given(sequences)
def test_succession_is_the_literal_count(sequence):
    """Every label guessed from all other places of the stream; equal counts share the guess."""
    profile = label_profile(sequence)
    labels = [label for label in sequence if label is not None]
    pairs = list(itertools.pairwise(labels))
    right = 0.0
    for place, (before, after) in enumerate(pairs):
        others = Counter(b for i, (a, b) in enumerate(pairs) if a == before and i != place)
        best = max(others.values(), default=0)
        if best and others[after] == best:
            right += 1 / [*others.values()].count(best)
    expected = right / len(pairs) if pairs else math.nan
    np.testing.assert_allclose(profile.succession, expected)
    for label, successor in zip(profile.classes, profile.successors, strict=True):
        after = Counter(b for a, b in pairs if a == label)
        assert successor == min(after, key=lambda c: (-after[c], c), default=None)


def test_a_cycle_depends_on_the_past():
    profile = label_profile([*range(24)] * 40)
    assert profile.temporal_dependence
    assert (profile.persistence, profile.succession) == (0.0, 1.0)
    assert profile.successors.tolist() == [*range(1, 24), 0]
    assert "Wrap models in TemporallyAugmented" in profile.advice
    assert "compare them with P(S)" in profile.advice
    assert "with the majority (" not in profile.advice
    assert "P(S) succession   1.0000" in repr(profile)


@pytest.mark.parametrize("n_classes", [2, 3, 24, 200])
@pytest.mark.parametrize("n_rows", [100, 1000, 5000])
def test_independent_labels_do_not_follow_each_other(n_classes, n_rows):
    rng = np.random.default_rng(n_rows)
    shares = rng.dirichlet(np.ones(n_classes))
    for p in (None, shares):
        for _ in range(20):
            profile = label_profile(rng.choice(n_classes, n_rows, p=p))
            assert "by more than repetition" not in profile.advice
            if profile.temporal_dependence:  # by the paper's rule, and then it is said
                assert "within the sampling error" in profile.advice


def test_many_classes_need_no_table_of_all_pairs():
    profile = label_profile(np.arange(60_000))
    assert profile.succession == 0.0
    assert not profile.temporal_dependence


def prices(rng, n=6000):
    """A price with a level that changes, whose label is whether it is above its mean of a day."""
    price = np.cumsum(rng.normal(size=n)) * 0.1 + rng.normal(size=n)
    mean = np.convolve(price, np.ones(48) / 48, mode="valid")[:-1]
    label = np.where(np.append(np.zeros(48, dtype=bool), price[48:] > mean), "UP", "DOWN")
    return price, label


def test_a_column_that_is_the_label_is_named(rng, pd):
    price, label = prices(rng)
    noise, category = rng.normal(size=6000), np.where(label == "UP", "x", "y")
    X = np.column_stack([noise, price])
    with pytest.warns(UserWarning, match="'column 1', minus its mean over the 48 rows before,"):
        profile = label_profile(as_stream(X, label))
    assert [(one.name, one.window) for one in profile.label_columns] == [("column 1", 48)]
    assert profile.label_columns[0].accuracy > 0.99
    frame = pd.DataFrame({"noise": noise, "kind": category, "flag": label == "UP"})
    with pytest.warns(UserWarning, match="'kind' gives the label in 100.0 %.*'flag' gives"):
        label_profile(as_stream(frame, label))


@pytest.mark.parametrize(
    "make",
    [
        lambda rng, y: rng.normal(size=(len(y), 150)),  # many columns, none of which knows it
        lambda rng, y: np.column_stack([y + 0.3 * rng.normal(size=len(y)), np.zeros(len(y))]),
        lambda rng, y: np.append(y[:1], y[:-1])[:, None],  # the label before, which is known
    ],
    ids=["many", "good", "before"],
)
def test_honest_columns_are_not_called_the_label(make):
    rng = np.random.default_rng(1)
    for share in (0.5, 0.02):
        y = (rng.random(4000) < share).astype(int)
        assert label_profile(as_stream(make(rng, y).astype(float), y)).label_columns == ()
    y = np.repeat(rng.integers(0, 2, 40), 100)  # persistent labels
    assert label_profile(as_stream(make(rng, y).astype(float), y)).label_columns == ()


def rare_at_first(rng):
    """Rare labels, none of which comes in the second half, and columns of noise."""
    y = np.zeros(4000, dtype=int)
    y[rng.choice(1900, 20, replace=False)] = 1
    return rng.normal(size=(4000, 5)), y


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: (np.arange(100.0)[:, None] % 2, np.tile([0, 1], 50)),  # few rows
        rare_at_first,
        lambda rng: (np.arange(4000.0)[:, None], (np.arange(4000) >= 1200).astype(int)),
        lambda rng: (rng.normal(size=(1000, 600)), (rng.random(1000) < 0.003).astype(int)),
    ],
    ids=["few rows", "rare at first", "one change", "three rare labels"],
)
def test_where_the_naive_guesses_hardly_err_nothing_is_said(make):
    assert label_profile(as_stream(*make(np.random.default_rng(0)))).label_columns == ()


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_a_label_among_numbers_is_named_whatever_its_classes(n_classes):
    y = np.random.default_rng(0).integers(0, n_classes, 4000)
    X = np.column_stack([y, np.where(y == 0, np.nan, 0.0) if n_classes == 2 else y * 1.0])
    X[7, 0] = np.nan  # a gap hides nothing
    with pytest.warns(UserWarning, match="'column 0' gives the label.*'column 1' gives"):
        label_profile(as_stream(X, y))


def test_the_labels_of_a_stream_of_one_pass_are_profiled_alone():
    y = np.tile([0, 1, 1], 1000)
    profile = label_profile(as_stream(iter([(y[:, None].astype(float), y)])))
    assert profile.n_rows == 3000
    assert profile.label_columns == ()


def test_the_label_of_electricity_is_read_off_a_price(pa):
    path = data_path("electricity")
    with pytest.warns(UserWarning, match="'nswprice', minus its mean over the 48 rows before"):
        profile = label_profile(ParquetStream(path, target="class"))
    assert [one.name for one in profile.label_columns] == ["nswprice"]
    five = ["day", "period", "nswdemand", "vicdemand", "transfer"]
    stream = ParquetStream(path, target="class", columns=five)
    assert label_profile(stream).label_columns == ()


def deliveries(n=4000):
    """Orders, labels ("late" or "ok") and when these were known: late ones before the others."""
    rng = np.random.default_rng(0)
    ordered = np.datetime64("2025-01-01", "us") + 1_000_000 * np.cumsum(rng.integers(60, 2000, n))
    label = np.where(rng.random(n) < 0.4, "late", "ok")
    hours = np.where(label == "late", rng.integers(1, 48, n), rng.integers(49, 90, n))
    return ordered, label, ordered + hours * np.timedelta64(3600, "s")


@pytest.mark.parametrize("kind", ["pandas", "with a zone", "polars", "csv"])
def test_the_time_at_which_the_label_was_known_less_that_of_the_row_is_the_label(kind, tmp_path):
    pandas = pytest.importorskip("pandas")
    ordered, label, known = deliveries()
    frame = pandas.DataFrame({"ordered": ordered, "km": np.arange(4000.0), "known": known})
    frame.loc[9, "ordered"] = pandas.NaT
    if kind == "with a zone":
        frame = frame.assign(known=frame["known"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    if kind == "polars":
        frame = pytest.importorskip("polars").DataFrame(
            {k: frame[k].to_numpy().astype("M8[us]" if k != "km" else float) for k in frame}
        )
    stream = as_stream(frame, label)
    if kind == "csv":
        pytest.importorskip("pyarrow")
        frame.assign(label=label).to_csv(tmp_path / "orders.csv", index=False)
        stream = take_rows(CSVStream(tmp_path / "orders.csv", target="label"), 3000)
    with pytest.warns(UserWarning, match="'known', less 'ordered', gives the label in 100.0 %"):
        profile = label_profile(stream)
    assert [(one.name, one.minus) for one in profile.label_columns] == [("known", "ordered")]


def test_times_that_say_nothing_of_the_label_are_not_called_it(pd):
    ordered, label, known = deliveries()
    other = np.roll(label, 1)
    frame = pd.DataFrame({"ordered": ordered, "known": known, "far": known.max()})
    assert label_profile(as_stream(frame, other)).label_columns == ()


@pytest.mark.parametrize(("n_rare", "is_said"), [(10, True), (11, False)])
def test_rare_labels_are_said_with_measures_of_them(n_rare, is_said):
    advice = label_profile(["yes"] * n_rare + ["no"] * (100 - n_rare)).advice
    words = (
        "90.0 % of the labels are no, so a high accuracy says little: add measures of the label yes"
    )
    assert (words in advice) == is_said
    assert ("metrics=['average_precision:yes', 'recall:yes']." in advice) == is_said
