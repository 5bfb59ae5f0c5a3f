"""Does the test of kappa against chance keep its level, whatever the shares of the classes?"""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from skstream.core.forgetting import as_forgetting
from skstream.core.measures.registry import resolve_metrics
from skstream.core.measures.running import RunningMeasures
from skstream.metrics import kappa_test
from tests._examples import newest_alone

N_STREAMS, N_ROWS = 800, 400


def rejected(shares, variance="fleiss", weights=None, seed=0) -> float:
    """Share of chance answers that are called better than chance, at a nominal 5 %."""
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(N_STREAMS):
        y, p = rng.choice(len(shares), (2, N_ROWS), p=shares)
        weight = None if weights is None else weights(rng)
        count += kappa_test(y, p, sample_weight=weight, variance=variance).pvalue < 0.05
    return count / N_STREAMS


@newest_alone
@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.8, 0.15, 0.05]], ids=str)
def test_the_level_is_kept(shares):
    assert rejected(shares) == pytest.approx(0.055, abs=0.02)


@newest_alone
def test_the_older_variance_is_not_calibrated():
    assert rejected([0.9, 0.1], "cohen") < 0.01


@newest_alone
def test_the_level_is_kept_under_weights():
    def pareto(rng):
        return rng.pareto(3.0, N_ROWS) + 0.1

    assert rejected([0.8, 0.2], weights=pareto) == pytest.approx(0.055, abs=0.02)


@newest_alone
@pytest.mark.parametrize("forgetting", ["fading:0.99", "window:200"])
def test_the_level_is_kept_under_forgetting(forgetting, rng):
    z = []
    for _ in range(6):
        measures = RunningMeasures(
            resolve_metrics(["kappa_z"], classes=[0, 1]),
            as_forgetting(forgetting),
            classes=[0, 1],
            record_every=500,
        )
        measures.update(*rng.choice(2, (2, 100_000), p=[0.8, 0.2]))
        z.extend(measures.curves().values[forgetting]["kappa_z"].tolist())
    assert np.mean(np.array(z) > 1.645) == pytest.approx(0.055, abs=0.025)
    assert np.std(z) == pytest.approx(1.0, abs=0.1)


def test_the_statistic_by_its_formula():
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 4, 300), rng.choice(4, 300, p=[0.7, 0.1, 0.1, 0.1])
    weight = rng.random(300) + 0.1
    r, c = (np.bincount(a, weight) / weight.sum() for a in (y, p))
    chance = (r * c).sum()
    n = weight.sum() ** 2 / (weight**2).sum()
    null_error = np.sqrt((chance + chance**2 - (r * c * (r + c)).sum()) / n) / (1 - chance)
    result = kappa_test(y, p, sample_weight=weight)
    kappa = cohen_kappa_score(y, p, sample_weight=weight)
    assert result.kappa == pytest.approx(kappa)
    assert result.statistic == pytest.approx(kappa / null_error)
    accuracy = weight[y == p].sum() / weight.sum()
    expected = np.sqrt(accuracy * (1 - accuracy) / n) / (1 - chance)
    assert result.standard_error == pytest.approx(expected)


def test_rare_classes_cost_no_digits():
    """With two labels and three answers in ten million, of which all others weigh as one row."""
    n = 10_000_000
    y, p, weight = [1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [1.0, 1.0, 1.0, 1.0, n - 4.0]
    spread = 4 * (2 / n) * (1 - 2 / n) * (3 / n) * (1 - 3 / n)
    gain = 2 * (1 / n - (2 / n) * (3 / n))
    effective = n**2 / np.square(weight).sum()
    result = kappa_test(y, p, sample_weight=weight)
    assert result.statistic == pytest.approx(gain * np.sqrt(effective / spread), rel=1e-8)


def test_answers_of_one_class_alone_are_no_evidence():
    result = kappa_test([0, 1, 1, 0, 2], [1, 1, 1, 1, 1])
    assert (result.kappa, result.statistic, result.pvalue) == (0.0, 0.0, 0.5)
