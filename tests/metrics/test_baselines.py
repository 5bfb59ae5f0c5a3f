"""Laws of the baselines: nothing of the future, no names, and a model like them gets 0."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.metrics import kappa_temporal_score
from tests._examples import examples
from tests.metrics._streams import MECHANISMS, Stream, make_stream, running, score, streams

KAPPAS = ["kappa", "kappa_m", "kappa_temporal", "kappa_plus"]


@examples(30)
@given(streams(), st.data())
def test_later_rows_change_nothing_before_them(stream, data):
    """Law L4."""
    t = data.draw(st.integers(0, len(stream)))
    rng = np.random.default_rng(0)
    y, p = stream.y.copy(), stream.p.copy()
    y[t:] = rng.integers(-1, stream.n_classes, len(y) - t)
    p[t:] = rng.integers(-1, stream.n_classes, len(y) - t)
    other = Stream(y, p, stream.weight, stream.n_classes)
    first = score(stream, KAPPAS, MECHANISMS).curves()
    second = score(other, KAPPAS, MECHANISMS).curves()
    for name in MECHANISMS:
        for metric in KAPPAS:
            np.testing.assert_array_equal(
                first.values[name][metric][:t], second.values[name][metric][:t]
            )


def answers_of_majority(y, window=None, alpha=1.0, *, own_row=False):
    """The most frequent of the labels before each row, ties to the lowest; -1 for none."""
    answers = []
    for t in range(len(y)):
        before = y[: t + own_row][-window if window else None :]
        counts = np.bincount(before, alpha ** np.arange(len(before) - 1, -1, -1.0), minlength=9)
        answers.append(int(counts.argmax()) if len(before) else -1)
    return np.array(answers)


MAJORITIES = {
    "cumulative": {},
    "window:17": {"window": 17},
    "window:1": {"window": 1},
    "fading:0.5": {"alpha": 0.5},
    "fading:0.97": {"alpha": 0.97},
}


def check_majority_gets_zero(seed, n_classes, forgetting, **options):
    """A model that answers like the baseline has a kappa_m of exactly 0, at every row."""
    y = make_stream(seed, 120, n_classes).y
    measures = running("kappa_m", forgetting, np.arange(n_classes))
    measures.update(y, answers_of_majority(y, **options))
    values = measures.curves().values[forgetting]["kappa_m"]
    assert set(values[~np.isnan(values)]) <= {0.0}


@pytest.mark.parametrize("forgetting", MAJORITIES)
@examples(15)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 6))
def test_majority_like_answers_get_exactly_zero(forgetting, seed, n_classes):
    check_majority_gets_zero(seed, n_classes, forgetting, **MAJORITIES[forgetting])


@pytest.mark.parametrize("forgetting", MAJORITIES)
def test_a_baseline_that_sees_its_own_row_is_caught(forgetting):
    """The broken twin of no leakage."""
    with pytest.raises(AssertionError):
        for seed in range(20):
            check_majority_gets_zero(seed, 3, forgetting, **MAJORITIES[forgetting], own_row=True)


@examples(25)
@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from(list(MECHANISMS)))
def test_persistent_answers_get_exactly_zero(seed, n_classes, mechanism):
    stream = make_stream(seed, 150, n_classes)
    p = np.concatenate(([-1], stream.y[:-1]))
    measures = running("kappa_temporal", {"it": MECHANISMS[mechanism]}, stream.classes)
    measures.update(stream.y, p)
    values = measures.curves().values["it"]["kappa_temporal"]
    assert set(values[~np.isnan(values)]) <= {0.0}
    assert kappa_temporal_score(np.r_[0, 1, stream.y], np.r_[1, 0, 1, stream.y[:-1]]) == 0.0


def check_names_do_not_matter(temporal, seed):
    stream = make_stream(seed, 60, 4, n_warmup=0)
    y, p = np.append(stream.y, [0, 1]), np.append(stream.p, [0, 0])  # never without a change
    assert temporal(y, p) == temporal(3 - y, 3 - p)


@examples(30)
@given(st.integers(0, 10**6))
def test_kappa_temporal_does_not_know_names(seed):
    check_names_do_not_matter(kappa_temporal_score, seed)


def test_a_first_previous_label_of_zero_is_caught():
    """PEER_FAULTS 1, as a broken twin."""

    def moa(y, p):
        previous = np.concatenate(([0], y[:-1]))
        return 1 - (y != p).sum() / (y != previous).sum()

    with pytest.raises(AssertionError):
        for seed in range(20):
            check_names_do_not_matter(moa, seed)


def test_rows_not_asked_are_the_past_of_the_baselines():
    measures = running(["kappa_temporal", "kappa_m"], "cumulative", np.arange(3))
    measures.update([2, 2, 1], [-1, -1, -1])
    measures.update([1, 2, 0], [1, 1, 0])
    # The model misses once. Persistence answers 1, 1, 2; the majority 2, 1 (2:2), 2 (3:2).
    final = measures.final()["cumulative"]
    assert final["kappa_temporal"] == 1 - 1 / 2
    assert final["kappa_m"] == 1 - 1 / 3


def test_warm_up_counts_in_the_window_of_the_majority():
    # The last 3 labels before the row asked are 1, 1, 0; a window of asked rows would be empty.
    measures = running("kappa_m", "window:3", np.arange(2))
    measures.update([0, 0, 1, 1, 0, 0], [-1, -1, -1, -1, -1, 1])
    assert measures.final()["window:3"]["kappa_m"] == 0.0


def test_rows_without_label_or_weight_are_no_past():
    measures = running(["kappa_temporal", "kappa_m"], "cumulative", np.arange(2))
    measures.update([0, -1, 1, 0, 1], [-1, 1, 1, 0, 1], [1, 1, 0, 1, 1])
    # Of the rows that count, 0 and 0 and 1, two were asked; before both stood a 0.
    assert measures.final()["cumulative"] == {"kappa_temporal": 1.0, "kappa_m": 1.0}
    assert measures.n_rows == 5


def test_the_adaptive_majority_forgets_with_the_model(rng):
    """After a cut the baseline counts the labels of the model's window alone."""
    y = np.concatenate((np.zeros(2000, int), np.ones(2000, int)))
    p = np.where(rng.random(4000) < np.repeat([0.95, 0.3], 2000), y, 1 - y)
    measures = running("kappa_m", ["adwin", "cumulative"], np.arange(2))
    measures.update(y, p)
    final = measures.final()
    # Counting everything it is wrong at all of the last 2,000 rows, in the window at few.
    assert final["cumulative"]["kappa_m"] > 0
    assert final["adwin"]["kappa_m"] < -5
