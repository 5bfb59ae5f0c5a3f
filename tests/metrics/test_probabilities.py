"""Measures of probabilities: the values of scikit-learn on what every mechanism remembers."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from skstream.forgetting import as_forgetting
from skstream.metrics._registry import PROBABILITIES
from skstream.metrics._running import RunningMeasures
from tests.metrics._reference import Reference
from tests.metrics._streams import MECHANISMS, assert_same_curves, make_stream

SIZES = [(2, False), (2, True), (5, True)]


def probabilities(stream, seed=0):
    """Probabilities that are right more often than not; NaN where a row was not asked."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(stream.n_classes), len(stream))
    right = rng.random(len(stream)) < 0.5
    scores[right] = 0.5 * scores[right] + 0.5 * np.eye(stream.n_classes)[stream.y[right]]
    scores[rng.random(len(stream)) < 0.05] = np.eye(stream.n_classes)[0]
    scores[stream.p < 0] = np.nan
    return scores


def scored(stream, scores, metrics, forgetting, cuts=(), record_every=1, **options):
    measures = RunningMeasures(
        metrics,
        as_forgetting(forgetting),
        classes=stream.classes,
        record_every=record_every,
        **options,
    )
    bounds = [0, *cuts, len(stream)]
    for start, stop in pairwise(bounds):
        part = stream.part(start, stop)
        measures.update(part.y, part.p, part.weight, scores=scores[..., start:stop, :])
    return measures


def of_scikit_learn(metric, y, scores, weight, k):
    codes = np.arange(k)
    if metric == "log_loss":
        return log_loss(y, scores, sample_weight=weight, labels=codes)
    if k == 2:
        return brier_score_loss(y, scores[:, 1], sample_weight=weight, pos_label=1)
    return brier_score_loss(y, scores, sample_weight=weight, labels=codes)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(("n_classes", "weighted"), SIZES)
@pytest.mark.parametrize("record_every", [1, 29])
def test_every_checkpoint_has_the_value_of_scikit_learn(name, n_classes, weighted, record_every):
    stream = make_stream(5, 120, n_classes, weighted=weighted, gaps=True)
    scores = probabilities(stream)
    metrics = {m: PROBABILITIES[m] for m in ("log_loss", "brier")}
    forgetting = MECHANISMS[name]
    curves = scored(stream, scores, metrics, forgetting, record_every=record_every).curves()
    reference = Reference(stream.y, stream.p, stream.weight, forgetting=forgetting, n_classes=9)
    of_labelled = scores[reference.labelled]
    (values,) = curves.values.values()
    for place, n_rows in enumerate(curves.checkpoints[:: 13 if record_every == 1 else 1]):
        place *= 13 if record_every == 1 else 1
        rows, kept = reference.at(n_rows)
        rows, kept = rows[kept > 1e-16], kept[kept > 1e-16]
        for metric in metrics:
            expected = np.nan
            if len(rows):
                y = reference.y[rows]
                expected = of_scikit_learn(metric, y, of_labelled[rows], kept, n_classes)
            np.testing.assert_allclose(values[metric][place], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MECHANISMS)
def test_pieces_and_several_models_change_nothing(name):
    stream = make_stream(3, 90, 3, weighted=True, gaps=True)
    tables = np.stack([probabilities(stream, seed) for seed in range(3)])
    tables[2] = np.nan  # a model without probabilities
    metrics, mechanism = dict(PROBABILITIES), MECHANISMS[name]
    whole = [scored(stream, table, metrics, mechanism).curves() for table in tables]
    running = RunningMeasures(
        metrics, as_forgetting(mechanism), classes=stream.classes, record_every=1, n_models=3
    )
    for start, stop in [(0, 1), (1, 40), (40, 90)]:
        part = stream.part(start, stop)
        answers = np.tile(part.p, (3, 1))
        running.update(part.y, answers, part.weight, scores=tables[:, start:stop])
        running.curves()
    curves = running.curves()
    for number, alone in enumerate(whole):
        assert_same_curves(curves.of_models(number), alone)
    for by_metric in whole[2].values.values():
        assert all(np.isnan(values).all() for values in by_metric.values())
    twin = running.of_models([1])
    assert_same_curves(twin.curves().of_models(0), whole[1])


def test_of_two_classes_the_second_column_is_enough():
    stream = make_stream(8, 60, 2)
    scores = probabilities(stream)
    both = scored(stream, scores, PROBABILITIES, "cumulative").final()
    second = scored(stream, scores[:, 1:], PROBABILITIES, "cumulative").final()
    assert both == second
    alone = make_stream(8, 60, 1)
    final = scored(alone, np.ones((60, 1)), PROBABILITIES, "cumulative").final()["cumulative"]
    assert final == {"log_loss": pytest.approx(0.0, abs=1e-15), "brier": 0.0}


@pytest.mark.parametrize("n_classes", [2, 4])
def test_an_unanswered_row_counts_as_all_probability_on_the_wrong_classes(n_classes):
    wrong = np.full(n_classes, 1.0 / (n_classes - 1))
    wrong[1] = 0.0
    measures = []
    for p, scores in [(-2, np.full(n_classes, np.nan)), (0, wrong)]:
        one = RunningMeasures(
            PROBABILITIES, as_forgetting("cumulative"), classes=np.arange(n_classes)
        )
        one.update([1], [p], scores=scores[np.newaxis])
        measures.append(one.final())
    assert measures[0] == measures[1]


def test_rows_without_scores_are_refused():
    measures = RunningMeasures(
        PROBABILITIES, as_forgetting("cumulative"), classes=np.arange(2), n_models=1
    )
    with pytest.raises(ValueError, match=r"'log_loss', 'brier'.* need probabilities.*pass scores="):
        measures.update([0, 1], [[0, 1]])
    with pytest.raises(ValueError, match=r"scores must have the shape \(1, 2, 2\) or \(1, 2\)"):
        measures.update([0, 1], [[0, 1]], scores=[[[0.5], [0.5], [0.5]]])
