"""Measures of several models that share what hangs on the labels alone."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstream.metrics import SharedSums, update_together
from skstream.metrics import _running as running_module
from skstream.metrics import _together as together_module
from skstream.metrics._columns import _VALUES, CLASSWISE, LABEL_ONLY, Columns, Series
from skstream.metrics._registry import CLASSIFICATION, REGRESSION
from skstream.metrics._sums import RunningSums
from tests.metrics._streams import MECHANISMS, assert_same_curves, make_stream, running

NAMES = [name for name in CLASSIFICATION if name != "cmd"]


def read(measures, stream, answers, cuts):
    """Let all measures read a stream in lockstep, each with its own answers."""
    for start, stop in pairwise([0, *sorted(cuts), len(stream)]):
        part = stream.part(start, stop)
        for one, p in zip(measures, answers, strict=True):
            one.update(part.y, p[start:stop], part.weight)


def several_answers(stream, rng, n_models):
    """Answers of models that differ in what they say and, some, in what they were asked."""
    answers = []
    for _ in range(n_models):
        p = np.where(rng.random(len(stream)) < 0.7, stream.p, rng.permutation(stream.p))
        if rng.random() < 0.5:
            p = np.where(rng.random(len(stream)) < 0.05, -1, p)
        answers.append(p)
    return answers


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 150),
    n_classes=st.integers(1, 4),
    weighted=st.booleans(),
    gaps=st.booleans(),
    record_every=st.sampled_from([1, 7, None]),
    block=st.sampled_from([1, 16, 64]),
    data=st.data(),
)
def test_sharing_changes_no_bit(seed, n, n_classes, weighted, gaps, record_every, block, data):
    stream = make_stream(seed, n, n_classes, weighted=weighted, gaps=gaps)
    answers = several_answers(stream, np.random.default_rng(seed), n_models=3)
    cuts = data.draw(st.sets(st.integers(0, n), max_size=4))
    shared = SharedSums()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running_module, "_BLOCK", block)
        together, apart = (
            [running(NAMES, MECHANISMS, stream.classes, record_every, shared=s) for _ in answers]
            for s in (shared, None)
        )
    read(together, stream, answers, cuts)
    read(apart, stream, answers, cuts)
    for one, alone in zip(together, apart, strict=True):
        assert_same_curves(one.curves(), alone.curves())
        np.testing.assert_equal(one.final(), alone.final())


@pytest.mark.parametrize("gaps", [False, True])
def test_sharing_of_regressors(gaps):
    rng = np.random.default_rng(3)
    y = np.cumsum(rng.normal(size=300)) + 1e3
    answers = [y + rng.normal(size=300) for _ in range(3)]
    for p in answers[gaps:]:
        p[rng.random(300) < 0.1] = np.nan
    mechanisms = {name: f for name, f in MECHANISMS.items() if name != "adaptive"}
    shared = SharedSums()
    together = [running(list(REGRESSION), mechanisms, None, shared=shared) for _ in answers]
    alone = [running(list(REGRESSION), mechanisms, None) for _ in answers]
    for start in range(0, 300, 70):
        for one, other, p in zip(together, alone, answers, strict=True):
            one.update(y[start : start + 70], p[start : start + 70])
            other.update(y[start : start + 70], p[start : start + 70])
    for one, other in zip(together, alone, strict=True):
        assert_same_curves(one.curves(), other.curves())


def test_what_is_shared_is_formed_once(monkeypatch):
    formed = []
    original = Columns.series

    def counted(columns, series):
        formed.append(series)
        return original(columns, series)

    monkeypatch.setattr(Columns, "series", counted)
    stream = make_stream(0, 100, 3)
    shared = SharedSums()
    measures = [running(NAMES, "window:20", stream.classes, shared=shared) for _ in range(2)]
    counts = []
    for one in measures:
        formed.clear()
        one.update(stream.y, stream.p)
        one.finish()
        counts.append(set(formed))
    assert {s for s in counts[0] if s.kind in LABEL_ONLY - {"rows"}}
    assert not {s for s in counts[1] if s.kind in LABEL_ONLY}
    assert Series("wrong") in counts[1]


def test_shared_series_do_not_look_at_the_answers():
    rng = np.random.default_rng(0)
    y, previous, majority = rng.integers(0, 2, (3, 50))
    first, second = (
        Columns(y, rng.integers(0, 2, 50), None, previous, majority, majority) for _ in range(2)
    )
    for kind in _VALUES:
        codes = [0, 1] if kind in CLASSWISE else [-1]
        same = all(
            np.array_equal(first.series(Series(kind, code)), second.series(Series(kind, code)))
            for code in codes
        )
        if kind in LABEL_ONLY:
            assert same, kind
        else:
            assert not same, f"{kind} could be shared"


def test_merged_measures_share_no_longer():
    shared = SharedSums()
    names = ["accuracy", "kappa"]
    first, second, third = (running(names, "cumulative", [0, 1], shared=shared) for _ in range(3))
    y, p = np.array([0, 1, 1, 0, 1, 1]), np.array([0, 1, 0, 0, 1, 0])
    first.update(y[:3], p[:3])
    second.update(y[3:], p[3:])
    first.merge(second)
    third.update(y, p)
    assert first.final() == third.final()
    assert all(sums.shared is None for sums in first._scores.sums.values())
    assert all(isinstance(sums, RunningSums) for sums in third._scores.sums.values())


def test_a_checkpoint_does_not_hold_the_shared_sums():
    shared = SharedSums()
    stream = make_stream(0, 2000, 2)
    measures = running(["kappa_m"], "cumulative", stream.classes, 100, shared=shared)
    measures.update(stream.y, stream.p)
    measures.finish()
    assert shared._newest
    assert not pickle.loads(pickle.dumps(shared))._newest
    twin = copy.deepcopy(measures)
    assert_same_curves(twin.curves(), measures.curves())


@pytest.mark.parametrize("with_past", [False, True])
def test_reading_together_is_reading_one_by_one(monkeypatch, with_past):
    monkeypatch.setattr(together_module, "_PIECE", 37)
    stream = make_stream(1, 200, 3, weighted=True, gaps=True)
    rng = np.random.default_rng(1)
    answers = several_answers(stream, rng, 3)
    past = [rng.integers(-1, 3, 200), None, None] if with_past else None
    shared = [SharedSums(), SharedSums()]
    together = [running(NAMES, MECHANISMS, stream.classes, shared=shared[k > 0]) for k in range(3)]
    update_together(together, stream.y, answers, stream.weight, past)
    for k, one in enumerate(together):
        alone = running(NAMES, MECHANISMS, stream.classes)
        alone.update(stream.y, answers[k], stream.weight, past and past[k])
        assert_same_curves(one.curves(), alone.curves())
