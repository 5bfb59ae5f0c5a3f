"""Profile of the labels: P(M), P(T), Delta(l) and what they advise."""

import copy
import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstream.streams import as_stream, label_profile

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


@settings(max_examples=60)
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


NUMBERS = ("n_rows", "n_missing", "priors", "majority_prior", "persistence", "delta")


@settings(max_examples=40)
@given(sequences, st.integers(1, 10))
def test_cutting_changes_nothing(sequence, chunk_size):
    whole = label_profile(sequence)
    stream = as_stream(np.zeros((len(sequence), 1)), sequence, chunk_size=chunk_size)
    assert same(label_profile(stream), whole)
    assert label_profile(stream).classes.tolist() == whole.classes.tolist()
    assert same(label_profile(iter(sequence)), whole)


def test_the_law_of_cutting_catches_a_profile_of_chunks():
    labels = ["a", "b"] * 4
    halves = [label_profile(labels[:3]), label_profile(labels[3:])]
    assert not same(halves[0], label_profile(labels))


def test_names_of_labels_do_not_matter():
    labels = [0, 0, 1, 1, 1, 0, 2, 2, 0, 0]
    names = np.array(["x", "y", "z"])[labels]
    assert same(label_profile(labels), label_profile(names))
    assert same(label_profile(labels), label_profile(np.array(labels, dtype=float)))


def test_advice_with_temporal_dependence():
    profile = label_profile(["up"] * 50 + ["down"] * 50)
    assert profile.temporal_dependence
    assert "depend on their past (P(T) = 0.990, P(M) = 0.500)" in profile.advice
    assert "TemporalCorrection" in profile.advice
    assert "sampling error" not in profile.advice


def test_advice_without_temporal_dependence():
    profile = label_profile(["up", "up", "down"] * 50)
    assert not profile.temporal_dependence
    assert "does not beat the majority class" in profile.advice


def test_advice_within_the_sampling_error():
    assert "within the sampling error of 4 labels" in label_profile([0, 0, 1, 1]).advice


def test_one_class():
    assert label_profile([1, 1, 1]).advice == "All 3 labels are 1: nothing can be learnt."
    assert math.isnan(label_profile([1]).persistence)


def test_a_profile_can_be_pickled_and_copied():
    profile = label_profile([0, 1, 1])
    for twin in (pickle.loads(pickle.dumps(profile)), copy.deepcopy(profile)):
        assert same(twin, profile)
        assert repr(twin) == repr(profile)


def test_representations():
    profile = label_profile(["<b>", None, "<b>", "a"])
    text = repr(profile)
    assert text.startswith("LabelProfile(3 labels, 2 classes, 1 missing)")
    assert "P(T) persistence 0.5000" in text
    assert profile.advice in text
    assert "<th>P(M) majority</th><td>0.6667</td>" in profile._repr_html_()
    assert "<b>" not in label_profile(["<b>", "<b>"])._repr_html_()


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([None, float("nan")], {}, "There is no label to profile"),
        ([], {}, "There is no label to profile"),
        ([0, 1], {"max_lag": 0}, "max_lag must be an integer >= 1. Got 0"),
        ([0.5, 1.0], {}, "no class label"),
    ],
)
def test_bad_input_is_refused(labels, options, message):
    with pytest.raises(ValueError, match=message):
        label_profile(labels, **options)
