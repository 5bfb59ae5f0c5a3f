"""Running sums, and which rows of a curve are kept."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.core.measures.checkpoints import MAX_CHECKPOINTS, CheckpointRecorder
from skstream.forgetting import SlidingWindow
from skstream.stats._anytime import RunningAnytimeComparison
from skstream.stats._mcnemar import RunningMcNemar
from skstream.stats._q_statistic import RunningQStatistic
from tests._examples import examples
from tests.stats._streams import random_blocks, random_losses, seeds


def test_a_window_of_zeros_sums_to_exactly_zero(rng: np.random.Generator) -> None:
    # Adding the newest value and subtracting the oldest leaves a rest, and log(rest / 0) is inf.
    values = np.concatenate([rng.random(100_000) * 1e6, np.zeros(50), rng.random(100)])
    sums = SlidingWindow(50).sum_of_values().update(values)
    assert sums[100_049] == 0.0
    assert sums[-1] == pytest.approx(np.sum(values[-50:]), rel=1e-14)
    subtracting = np.cumsum(values - np.concatenate([np.zeros(50), values[:-50]]))
    assert subtracting[100_049] != 0.0


RUNNING = {
    "q": lambda: RunningQStatistic("fading:0.9"),
    "q of a window": lambda: RunningQStatistic("window:25"),
    "mcnemar": RunningMcNemar,
    "mcnemar of a window": lambda: RunningMcNemar("window:30"),
    "mcnemar, fading": lambda: RunningMcNemar("fading:0.95"),
    "mixture": lambda: RunningAnytimeComparison(largest_weight=20.0),
    "stitched": lambda: RunningAnytimeComparison(boundary="stitched", largest_weight=20.0),
}


@pytest.mark.parametrize("name", RUNNING)
@examples(25)
@given(seed=seeds, n_rows=st.integers(1, 3000), weighted=st.booleans())
def test_blocks_and_saving_change_nothing(name: str, seed: int, n_rows: int, weighted) -> None:
    loss_a, loss_b = random_losses(seed, n_rows, real="mcnemar" not in name)
    weight = np.random.default_rng(seed).random(n_rows) + 0.1 if weighted else None
    expected = RUNNING[name]().update(loss_a, loss_b, sample_weight=weight).result()
    running = RUNNING[name]()
    for block in random_blocks(seed, n_rows):
        part = None if weight is None else weight[block]
        running.update(loss_a[block], loss_b[block], sample_weight=part)
        running = pickle.loads(pickle.dumps(running))
    result = vars(running.result())
    for what, value in vars(expected).items():
        if isinstance(value, np.ndarray):
            logarithms = what in ("pvalues", "half_widths")  # which NumPy forms several at once
            np.testing.assert_allclose(result[what], value, rtol=1e-12 if logarithms else 0)
        else:
            assert result[what] == value, what


def test_single_numbers_and_booleans_are_rows() -> None:
    running = RunningMcNemar()
    running.update(True, False).update(np.array([False]), np.array([True])).update(1, 0)
    assert running.result().only_a_wrong.tolist() == [1, 1, 2]


def recorded(n_rows: int, record_every: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    recorder = CheckpointRecorder(2, record_every)
    values = np.arange(1.0, n_rows + 1)
    for block in random_blocks(seed, n_rows):
        recorder.follow(values[block], -values[block])
    return recorder.followed()


@examples(40)
@given(seeds, st.integers(1, 9000), st.sampled_from([None, 1, 7, 200, 10**6]))
def test_checkpoints_are_multiples_and_the_last_row(seed, n_rows, record_every):
    rows, values = recorded(n_rows, record_every, seed)
    np.testing.assert_array_equal(values, [rows, -rows])
    assert rows[-1] == n_rows
    interval = record_every
    if record_every is None:
        assert len(rows) <= MAX_CHECKPOINTS
        interval = 1
        while n_rows // interval > MAX_CHECKPOINTS - 1:
            interval *= 2
    expected = sorted({*range(interval, n_rows + 1, interval), n_rows})
    np.testing.assert_array_equal(rows, expected)


def test_asking_for_the_curve_changes_nothing() -> None:
    running = RunningQStatistic(record_every=3)
    for t in range(1, 11):
        curve = running.update(1.0, 2.0).result()
        assert curve.checkpoints.tolist() == sorted({*range(3, t + 1, 3), t})
        np.testing.assert_array_equal(curve.loss_a, curve.checkpoints)
