"""Timelines against literal per-row oracles, for any cutting of the stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.core.timelines.timeline import (
    Arrivals,
    FoldTimeline,
    PrequentialState,
    PrequentialTimeline,
)
from skstream.utils._seeds import poisson_weights
from tests._examples import examples
from tests.engine import _literal


@st.composite
def rows(draw, max_rows=40):
    n = draw(st.integers(1, max_rows))
    labelled = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    weight = draw(
        st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n)
    )
    cuts = draw(st.lists(st.integers(0, n), max_size=6))
    return labelled, weight, cuts


@given(rows(), st.integers(1, 6), st.integers(1, 7), st.booleans())
def test_prequential_is_the_literal_loop(stream, n_warmup, batch_size, close):
    labelled, weight, cuts = stream
    timeline = PrequentialTimeline(n_warmup=n_warmup, batch_size=batch_size)
    w = [1.0] * len(labelled) if weight is None else weight
    expected = _literal.prequential(labelled, w, n_warmup, batch_size, close)
    assert _literal.recorded(timeline, labelled, weight, cuts, close) == expected


@pytest.mark.parametrize("strategy", ["bootstrap", "cross", "split"])
@pytest.mark.parametrize("test_on", ["held_out", "trained", "all"])
@given(stream=rows(), n_warmup=st.integers(1, 4), n_folds=st.integers(1, 5))
@examples(30)
def test_folds_are_the_literal_loop(strategy, test_on, stream, n_warmup, n_folds):
    labelled, weight, cuts = stream
    n = len(labelled)
    w = [1.0] * n if weight is None else weight
    chosen = _chosen_folds(n, n_folds)
    for fold in range(n_folds):
        timeline = FoldTimeline(fold, n_folds, strategy, test_on, 7, n_warmup)
        fold_weight = {
            "bootstrap": poisson_weights(7, fold, 0, n),
            "cross": [int(c != fold) for c in chosen],
            "split": [int(c == fold) for c in chosen],
        }[strategy]
        asks, learns = _literal.folds(labelled, w, fold_weight, test_on, n_warmup)
        assert _literal.recorded(timeline, labelled, weight, cuts) == (asks, learns, n)


def _chosen_folds(n_rows, n_folds):
    # Every row is trained by exactly one split fold: ask each one.
    owners = np.full(n_rows, -1)
    for fold in range(n_folds):
        timeline = FoldTimeline(fold, n_folds, "split", "trained", 7, 1)
        arrivals = Arrivals(0, np.ones(n_rows, dtype=bool))
        _, operations = timeline.step(PrequentialState(n_learnt=1), arrivals)
        assert (owners[operations.learn_rows] == -1).all()
        owners[operations.learn_rows] = fold
    assert (owners >= 0).all()
    return owners.tolist()


def test_no_row_is_learnt_before_it_is_asked():
    # A twin of the timeline that learns first: the comparison above must see it.
    class LearnsFirst(PrequentialTimeline):
        def step(self, state, arrivals):
            from dataclasses import replace

            state, operations = super().step(state, arrivals)
            return state, replace(operations, stamp=operations.stamp + 1)

    labelled = [True] * 5
    expected = _literal.prequential(labelled, [1.0] * 5, 1, 1, True)
    assert _literal.recorded(PrequentialTimeline(), labelled, None, []) == expected
    assert _literal.recorded(LearnsFirst(), labelled, None, []) != expected
