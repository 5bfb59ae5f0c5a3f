"""Measures of rankings: the values of scikit-learn on what every mechanism remembers."""

from functools import partial
from itertools import combinations, pairwise

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from skstream.core.forgetting import as_forgetting
from skstream.core.measures import ranked_windows as _ranked_windows
from skstream.core.measures import rankings as _rankings
from skstream.core.measures import running as _running
from skstream.core.measures.registry import PROBABILITIES, resolve_metrics
from skstream.core.measures.rows import ScoredRows, Sets
from skstream.core.measures.running import RunningMeasures, SetMeasures
from tests.metrics._reference import Reference
from tests.metrics._streams import MECHANISMS, assert_models_are_as_alone, make_stream

RANKINGS = {name: one for name, one in PROBABILITIES.items() if one.needs == "scores"}
LONGER = {**MECHANISMS, "window": as_forgetting("window:50")["window:50"]}


def make_scores(stream, seed=0, digits=2):
    """Scores with ties that tell something; NaN where a row was not asked."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(len(stream), stream.n_classes))
    scores[np.arange(len(stream)), stream.y] += 1.0
    scores = np.exp(scores)
    scores = np.round(scores / scores.sum(axis=1, keepdims=True), digits)
    scores[stream.p < 0] = np.nan
    return scores


def measured(stream, scores, forgetting, cuts=(), record_every=1, metrics=RANKINGS):
    running = RunningMeasures(
        metrics, as_forgetting(forgetting), classes=stream.classes, record_every=record_every
    )
    for start, stop in pairwise([0, *cuts, len(stream)]):
        part = stream.part(start, stop)
        running.update(part.y, part.p, part.weight, scores=scores[start:stop])
    return running


def of_two(function, positive, scores, weight):
    if not len(positive) or positive.all() or not positive.any():
        return np.nan
    return function(positive, scores, sample_weight=weight)


def of_scikit_learn(y, scores, weight, k):
    """By name, from the function of two classes alone."""
    if k == 2:
        auc, precision = (
            of_two(function, y == 1, scores[:, 1], weight)
            for function in (roc_auc_score, average_precision_score)
        )
        return {"auc": auc, "auc_weighted": auc, "auc_ovo": auc, "average_precision": precision}
    areas, precisions = (
        np.array([of_two(function, y == c, scores[:, c], weight) for c in range(k)])
        for function in (roc_auc_score, average_precision_score)
    )
    shares = np.bincount(y, weight, k) / weight.sum()
    pairs = []
    for a, b in combinations(np.unique(y), 2):
        both = (y == a) | (y == b)
        for positive in (a, b):
            of_pair = y[both] == positive, scores[both, positive], weight[both]
            pairs.append(of_two(roc_auc_score, *of_pair))
    return {
        "auc": areas.mean(),
        "auc_weighted": np.where(shares > 0, areas * shares, 0.0).sum(),
        "auc_ovo": np.mean(pairs) if pairs else np.nan,
        "average_precision": precisions.mean(),
    }


@pytest.mark.parametrize("name", LONGER)
@pytest.mark.parametrize(
    ("n_classes", "weighted", "record_every"), [(2, False, 1), (2, True, 3), (3, True, 1)]
)
def test_every_checkpoint_has_the_value_of_scikit_learn(
    monkeypatch, name, n_classes, weighted, record_every
):
    monkeypatch.setattr(_running, "_BUFFER_SIZE", 32)
    stream = make_stream(5, 140, n_classes, weighted=weighted, gaps=True)
    scores, forgetting = make_scores(stream), LONGER[name]
    curves = measured(stream, scores, forgetting, record_every=record_every).curves()
    reference = Reference(stream.y, stream.p, stream.weight, forgetting=forgetting, n_classes=9)
    of_labelled = scores[reference.labelled]
    (values,) = curves.values.values()
    for place in range(9, len(curves.checkpoints), 43):
        rows, kept = reference.at(curves.checkpoints[place])
        rows, kept = rows[kept > 0.0], kept[kept > 0.0]
        if not len(rows):
            continue
        expected = of_scikit_learn(reference.y[rows], of_labelled[rows], kept, n_classes)
        for metric, value in expected.items():
            np.testing.assert_allclose(
                values[metric][place], value, rtol=1e-10, atol=1e-13, err_msg=metric
            )


def test_of_many_classes_they_are_those_of_scikit_learn_itself():
    stream = make_stream(2, 200, 4)
    scores = make_scores(stream, digits=6)
    scores[1:] /= scores[1:].sum(axis=1, keepdims=True)
    final = measured(stream, scores, "cumulative").final()["cumulative"]
    y, rows = stream.y[1:], scores[1:]
    for metric, options in {
        "auc": {"multi_class": "ovr"},
        "auc_weighted": {"multi_class": "ovr", "average": "weighted"},
        "auc_ovo": {"multi_class": "ovo"},
    }.items():
        assert final[metric] == pytest.approx(roc_auc_score(y, rows, **options), rel=1e-12)
    assert final["average_precision"] == pytest.approx(average_precision_score(y, rows), rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_class_is_ranked_against_the_rest(n_classes):
    stream = make_stream(2, 150, n_classes, weighted=True)
    scores = make_scores(stream)
    names = [f"{kind}:{c}" for kind in ("auc", "average_precision") for c in range(n_classes)]
    metrics = resolve_metrics(names, classes=stream.classes)
    for forgetting in ("window:60", "fading:0.99"):
        final = measured(stream, scores, forgetting, metrics=metrics).final()[forgetting]
        weight = np.where(stream.p >= 0, stream.weight, 0.0)
        rows = np.flatnonzero(weight)[-60 if forgetting == "window:60" else 0 :]
        kept = weight[rows]
        if forgetting != "window:60":
            kept = kept * 0.99 ** np.arange(len(rows) - 1, -1, -1.0)
        for name, value in final.items():
            kind, _, code = name.partition(":")
            function = roc_auc_score if kind == "auc" else average_precision_score
            expected = of_two(function, stream.y[rows] == int(code), scores[rows, int(code)], kept)
            assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_bins", [None, 8])
@pytest.mark.parametrize("name", LONGER)
def test_pieces_and_several_models_change_nothing(monkeypatch, name, n_bins):
    monkeypatch.setattr(_running, "_BUFFER_SIZE", 32)
    if n_bins is not None:  # bins are joined at the same rows, wherever the pieces end
        monkeypatch.setattr(_rankings, "MOST_BINS", n_bins)
        monkeypatch.setattr(_rankings, "_TOGETHER", 16)
    stream = make_stream(3, 90, 3, weighted=True, gaps=True)
    tables = np.stack([make_scores(stream, seed) for seed in range(3)])
    tables[2] = np.nan  # a model without scores
    values = assert_models_are_as_alone(RANKINGS, LONGER[name], stream, tables, 4)
    assert all(np.isnan(of_metric).all() for of_metric in values.values())


def test_every_set_is_ranked_on_its_own():
    stream = make_stream(6, 90, 3, weighted=True)
    scores = make_scores(stream)
    sets = SetMeasures(RANKINGS, ["sets"], classes=stream.classes, n_models=1)
    ends = np.array([30, 70, 90])
    answers = stream.p[np.newaxis]
    rows = ScoredRows(stream.y, answers, stream.weight, scores=scores[np.newaxis])
    rows.sets = Sets(ends, ends.astype(np.int64))
    sets.read(rows)
    values = sets.curves().of_models(0).values["sets"]
    for place, (start, end) in enumerate(pairwise([0, *ends])):
        kept = np.arange(start, end)
        kept = kept[(stream.p[kept] >= 0) & (stream.weight[kept] > 0)]
        expected = of_scikit_learn(stream.y[kept], scores[kept], stream.weight[kept], 3)
        for metric, value in expected.items():
            assert values[metric][place] == pytest.approx(value, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_unanswered_row_is_ranked_worst(n_classes):
    stream = make_stream(4, 60, n_classes)
    scores = make_scores(stream)
    worst = scores.copy()
    stream.p[[7, 30, 31]] = -2
    scores[[7, 30, 31]] = np.nan
    worst[[7, 30, 31]] = 9.0
    worst[[7, 30, 31], stream.y[[7, 30, 31]]] = -9.0
    assert measured(stream, scores, "cumulative").final() == (
        measured(stream, worst, "cumulative").final()
    )


def test_a_model_without_scores_has_no_ranking_where_windows_are_cut(monkeypatch):
    monkeypatch.setattr(_running, "_BUFFER_SIZE", 256)
    stream = make_stream(0, 1500, 2)
    curves = measured(stream, np.full((1500, 2), np.nan), "adwin:0.9", record_every=100).curves()
    assert all(np.isnan(values).all() for values in curves.values["adwin:0.9"].values())


@pytest.mark.parametrize("forgetting", ["cumulative", "fading:0.997", "adwin"])
@pytest.mark.parametrize("ascending", [False, True])
def test_with_joined_bins_the_truth_is_near(monkeypatch, forgetting, ascending):
    monkeypatch.setattr(_rankings, "MOST_BINS", 64)
    monkeypatch.setattr(_rankings, "_TOGETHER", 128)
    monkeypatch.setattr(_running, "_BUFFER_SIZE", 256)
    stream = make_stream(11, 1200, 2, weighted=True)
    scores = make_scores(stream, digits=12)
    if ascending:
        scores[1:] = np.sort(scores[1:], axis=0)
    mechanism = as_forgetting(forgetting)[forgetting]
    reference = Reference(stream.y, stream.p, stream.weight, forgetting=mechanism, n_classes=2)
    of_labelled = scores[reference.labelled]
    curves = measured(stream, scores, forgetting, cuts=(300, 301, 900), record_every=100).curves()
    values = curves.values[forgetting]
    for place, n_rows in enumerate(curves.checkpoints):
        rows, kept = reference.at(n_rows)
        expected = of_scikit_learn(reference.y[rows], of_labelled[rows], kept, 2)
        for metric in ("auc", "average_precision"):
            assert values[metric][place] == pytest.approx(expected[metric], abs=0.01)


def test_a_row_within_a_bin_counts_one_half():
    joined = _rankings.Ranks(*np.array([[0.0, 2.0], [1.0, 2.0], [2.0, 4.0], [0.0, 0.0]]))
    one = np.ones(1)
    for score, pairs in ((-1.0, 6.0), (0.5, 5.0), (1.5, 4.0), (2.0, 2.0)):
        both = joined.then(_rankings.Ranks.of(score * one, 0.0 * one, one))
        assert both.pairs == pairs
    wide = _rankings.Ranks(*np.array([[-1.0], [3.0], [0.0], [1.0]]))
    both = joined.then(wide)
    assert (both.pairs, len(both.low)) == (3.0, 1)


@pytest.mark.parametrize("size", [1, 2, 16, 17, 40, 150])
@pytest.mark.parametrize("weights", ["none", "large"])
@pytest.mark.parametrize("ties", [False, True])
def test_pairs_in_windows_lose_no_digits(monkeypatch, size, weights, ties):
    rng = np.random.default_rng(size)
    scores = rng.normal(size=400)
    scores = np.round(scores, 1) if ties else scores
    weight = np.ones(400) if weights == "none" else 10.0 ** rng.uniform(-12, 12, 400)
    positive = weight * (rng.random(400) < 0.3)
    negative = weight - positive
    higher = np.sign(scores[:, None] - scores) / 2 + 0.5
    pairs = higher * np.outer(positive, negative)
    expected = [pairs[i : i + size, i : i + size].sum() for i in range(401 - size)]
    found = _ranked_windows.window_pairs(scores, positive, negative, size)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    if weights == "none":  # counted by the loop that is compiled where there are many rows
        monkeypatch.setattr(_ranked_windows, "_count", _ranked_windows._count.plain)
        counted = _ranked_windows._counted(scores, positive, negative, size)
        np.testing.assert_array_equal(counted, found)


@pytest.mark.parametrize("ties", [False, True])
def test_the_compiled_average_precision_is_the_same(monkeypatch, ties):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=200)
    scores = np.round(scores, 1) if ties else scores
    positive = rng.random(200) < 0.2
    weight = rng.choice([0.0, 0.5, 1.0], 200)
    rows = _rankings.Sided(scores, positive * weight, ~positive * weight)
    ends = np.arange(201)
    starts = np.maximum(ends - 40, 0)
    (expected,) = _rankings.in_ranges(rows, starts, ends, ["average_precision"]).values()
    monkeypatch.setattr(_ranked_windows, "_PRECISION_COMPILED_FROM", 1)
    monkeypatch.setattr(_ranked_windows, "numba_enabled", lambda: True)
    monkeypatch.setattr(_ranked_windows, "_precisions", _ranked_windows._precisions.plain)
    (found,) = _rankings.in_ranges(rows, starts, ends, ["average_precision"]).values()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("item", "name", "n_classes"),
    [
        ("roc_auc", "auc", 2),
        ("roc_auc_ovr", "auc", 3),
        ("roc_auc_ovr_weighted", "auc_weighted", 3),
        ("roc_auc_ovo", "auc_ovo", 3),
        ("average_precision", "average_precision", 2),
    ],
)
def test_scorers_of_scikit_learn_are_in_their_running_form(item, name, n_classes):
    (measure,) = resolve_metrics(item, classes=range(n_classes)).values()
    assert measure.formula == RANKINGS[name].formula
    assert measure.needs == "scores"


@pytest.mark.parametrize(
    ("item", "classes", "message"),
    [
        (roc_auc_score, [0, 1, 2], "roc_auc_score needs probabilities"),
        (partial(roc_auc_score, max_fpr=0.1), [0, 1], "roc_auc_score needs probabilities"),
        ("auc_ovo", range(40), "at most 32 classes"),
    ],
)
def test_what_is_not_measured_is_refused_in_words(item, classes, message):
    with pytest.raises(ValueError, match=message):
        resolve_metrics(item, classes=classes)
