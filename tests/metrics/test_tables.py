"""Measures of a table of models: the same as of each alone, with one pass over the labels."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.core.measures import running as running_module
from skstream.core.measures import sums as sums_module
from skstream.core.measures.registry import CLASSIFICATION, REGRESSION
from skstream.core.measures.rows import ScoredRows
from skstream.core.measures.series import KINDS, ColumnStates, Series, columns_of_kinds, values_of
from tests._examples import examples, newest_alone
from tests.metrics._streams import MECHANISMS, Stream, assert_same_curves, make_stream, running

NAMES = [name for name in CLASSIFICATION if name != "cmd"]
COUNTING = {"all": MECHANISMS["all"], "window": MECHANISMS["window"]}


def share_right(y_true, y_pred, sample_weight=None):
    return np.average(y_true == y_pred, weights=sample_weight)


def several_answers(stream, rng, n_models):
    """Answers of models that differ in what they say and, some, in what they were asked."""
    answers = []
    gaps = np.where(rng.random(len(stream)) < 0.05, -1, 0)
    for _ in range(n_models):
        p = np.where(rng.random(len(stream)) < 0.7, stream.p, rng.permutation(stream.p))
        kind = rng.integers(3)
        if kind:
            own = np.where(rng.random(len(stream)) < 0.05, -1, 0)
            p = np.where((gaps if kind == 1 else own) < 0, -1, p)
        answers.append(p)
    return np.array(answers)


def read(measures, stream, answers, cuts, previous=None):
    """Let measures read a stream in pieces."""
    for start, stop in pairwise([0, *sorted(cuts), len(stream)]):
        part = stream.part(start, stop)
        past = None if previous is None else previous[start:stop]
        measures.update(part.y, answers[..., start:stop], part.weight, past)


def assert_each_is_as_alone(table, alone):
    """Curves and final values of a table are those of its models, bit for bit."""
    curves, final = table.curves(), table.final()
    for k, one in enumerate(alone):
        assert_same_curves(curves.of_models(k), one.curves())
        for forgetting, values in one.final().items():
            of_model = {name: float(array[k]) for name, array in final[forgetting].items()}
            np.testing.assert_equal(of_model, values)


@newest_alone
@examples(8)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 80),
    n_classes=st.integers(1, 4),
    weighted=st.booleans(),
    gaps=st.booleans(),
    record_every=st.sampled_from([1, 7, None]),
    block=st.sampled_from([1, 16, 64]),
    with_past=st.booleans(),
    data=st.data(),
)
def test_a_table_changes_no_bit(
    seed, n, n_classes, weighted, gaps, record_every, block, with_past, data
):
    stream = make_stream(seed, n, n_classes, weighted=weighted, gaps=gaps)
    rng = np.random.default_rng(seed)
    answers = several_answers(stream, rng, n_models=3)
    past = rng.integers(-1, n_classes, n) if with_past else None
    told = [True, False, True]
    cuts = data.draw(st.sets(st.integers(0, n), max_size=4))
    names = [*NAMES, share_right]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running_module, "_BUFFER_SIZE", block)
        table = running(
            names, MECHANISMS, stream.classes, record_every, n_models=3, uses_previous=told
        )
        alone = [running(names, MECHANISMS, stream.classes, record_every) for _ in answers]
    read(table, stream, answers, cuts, past)
    for one, p, is_told in zip(alone, answers, told, strict=True):
        read(one, stream, p, cuts, past if is_told else None)
    assert_each_is_as_alone(table, alone)
    twin = pickle.loads(pickle.dumps(table))
    assert_each_is_as_alone(twin, alone)


def regressors(gaps):
    rng = np.random.default_rng(3)
    y = np.cumsum(rng.normal(size=300)) + 1e3
    answers = y + rng.normal(size=(3, 300))
    if gaps:
        answers[1:, rng.random(300) < 0.1] = np.nan
    return list(REGRESSION), None, Stream(y, y, None, 0), answers


def of_many_classes():
    stream = make_stream(0, 150, 150, weighted=True, gaps=True)
    return NAMES, stream.classes, stream, several_answers(stream, np.random.default_rng(0), 3)


@pytest.mark.parametrize("case", [regressors(False), regressors(True), of_many_classes()])
def test_a_table_of_other_models(case):
    names, classes, stream, answers = case
    mechanisms = {n: f for n, f in MECHANISMS.items() if classes is not None or n != "adaptive"}
    table = running(names, mechanisms, classes, n_models=3)
    alone = [running(names, mechanisms, classes) for _ in answers]
    for measures, said in zip([table, *alone], [answers, *answers], strict=True):
        read(measures, stream, said, [70, 100])
    assert_each_is_as_alone(table, alone)


def test_what_depends_on_labels_alone_is_formed_once(monkeypatch):
    formed = []

    def counted(rows, series):
        formed.append(series)
        return values_of(rows, series)

    monkeypatch.setattr(sums_module, "values_of", counted)
    stream = make_stream(0, 100, 3)
    counts = []
    for n_models in (1, 4):
        formed.clear()
        table = running(NAMES, COUNTING, stream.classes, n_models=n_models)
        table.update(stream.y, np.tile(stream.p, (n_models, 1)))
        table.finish()
        counts.append([s for s in formed if KINDS[s.kind].of_labels])
        assert formed.count(Series("wrong")) >= n_models
    assert counts[0]
    assert counts[0] == counts[1]


def test_series_of_labels_do_not_look_at_the_answers(rng):
    y, previous, majority = rng.integers(0, 2, (3, 50))
    first, second = (
        ScoredRows(
            y,
            rng.integers(0, 2, (1, 50)),
            None,
            previous,
            majority,
            majority,
            scores=rng.random((1, 50, 1)),
        )
        for _ in range(2)
    )
    for rows in (first, second):
        rows.derived = ColumnStates(columns_of_kinds(KINDS), 2, 1).read(rows, None)
    for name, kind in KINDS.items():
        if kind.values is None:
            continue
        series = [Series(name, code) for code in ([0, 1] if kind.by_class else [-1])]
        same = all(np.array_equal(values_of(first, s), values_of(second, s)) for s in series)
        assert same == kind.of_labels, f"{name} says that it depends on labels: {kind.of_labels}"
