"""Answers by bin against exact rational arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.core.evaluators.delayed.bins import Shown, answers_by_bin
from tests.evaluation._delayed_oracle import by_bin


def literal(since, answers, delay, n_bins, reduce):
    return by_bin(list(zip(since, answers, strict=True)), 0, delay, n_bins, reduce)


@st.composite
def waits(draw):
    delay = draw(st.integers(0, 20))
    n = draw(st.integers(1, 6))
    since = sorted(draw(st.lists(st.integers(0, delay), min_size=n - 1, max_size=n - 1)))
    answers = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return [0, *since], answers, delay


@pytest.mark.parametrize("reduce", ["dominant", "mean"])
@given(st.lists(waits(), min_size=1, max_size=6), st.integers(1, 9))
def test_bins_are_exact(reduce, rows, n_bins):
    shown = Shown(
        row=np.concatenate([np.full(len(s), k) for k, (s, _, _) in enumerate(rows)]),
        since=np.concatenate([np.asarray(s, dtype=float) for s, _, _ in rows]),
        answer=np.concatenate([np.asarray(a) for _, a, _ in rows]).astype(
            np.int64 if reduce == "dominant" else float
        ),
        delay=np.array([d for _, _, d in rows], dtype=float),
    )
    found = answers_by_bin(shown, n_bins, reduce, 3 if reduce == "dominant" else None)
    expected = [literal(*row, n_bins, reduce) for row in rows]
    if reduce == "dominant":
        assert found.tolist() == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_function_reduces_every_bin_of_every_row():
    """Rows with one answer, with one repeated, with several, and whose label came at once."""
    row = np.array([0, 1, 1, 2, 2, 3, 3, 4])
    shown = Shown(
        row=row,
        since=np.array([0.0, 0.0, 3.0, 0.0, 3.0, 0.0, 0.0, 0.0]),
        answer=np.array([5.0, 6.0, 6.0, 7.0, 8.0, 1.0, 9.0, 4.0]),
        delay=np.array([4.0, 4.0, 4.0, 0.0, 2.0]),
    )
    calls = []

    def reduce(answers, durations):
        calls.append((answers.tolist(), durations.tolist()))
        return -float(len(calls))

    found = answers_by_bin(shown, 2, reduce, None, np.array([True, True, True, True, False]))
    assert calls == [
        ([9.0], [0.0]),
        *[([5.0], [2.0])] * 2,
        *[([6.0], [2.0])] * 2,
        ([7.0], [2.0]),
        ([7.0, 8.0], [1.0, 1.0]),
    ]
    assert found[:4].tolist() == [[-2, -3], [-4, -5], [-6, -7], [-1, -1]]


def test_a_function_reduces_what_a_loop_by_hand_reduces():
    random = np.random.default_rng(0)
    delay = random.integers(0, 9, size=60).astype(float)
    waits = [
        np.append(0.0, np.sort(random.integers(0, d + 1, size=random.integers(4)))) for d in delay
    ]
    answers = [random.integers(0, 2, size=len(since)).astype(float) for since in waits]
    shown = Shown(
        np.repeat(np.arange(60), [len(since) for since in waits]),
        np.concatenate(waits),
        np.concatenate(answers),
        delay,
    )

    def share_of_ones(answers, durations):
        return 1 + np.average(answers, weights=durations if durations.any() else None)

    found = answers_by_bin(shown, 3, share_of_ones, None)
    expected = [
        [1 + mean for mean in literal(since.tolist(), values.tolist(), int(d), 3, "mean")]
        for since, values, d in zip(waits, answers, delay, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
