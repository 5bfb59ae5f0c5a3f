"""Scoring weights in the tests that compare row by row."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from sklearn.base import BaseEstimator, ClassifierMixin

from skstream import KFoldEvaluator, PrequentialEvaluator, RunOptions
from skstream.stats import anytime_comparison, mcnemar, mcnemar_curve, q_statistic
from skstream.stats._anytime import RunningAnytimeComparison
from skstream.stats._mcnemar import RunningMcNemar
from skstream.stats._q_statistic import RunningQStatistic
from tests._examples import examples, newest_alone
from tests.stats._streams import random_losses, seeds
from tests.stats.test_mcnemar import MECHANISMS, literal_curve


def weighted_losses(seed: int, n_rows: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Losses and weights, a fifth of them 0."""
    rng = np.random.default_rng(seed)
    weight = rng.gamma(2.0, size=n_rows) * (rng.random(n_rows) > 0.2)
    return *random_losses(seed, n_rows), weight


def labels_of(loss_a: np.ndarray, loss_b: np.ndarray) -> tuple[np.ndarray, ...]:
    return np.zeros(len(loss_a), dtype=int), loss_a.astype(int), loss_b.astype(int)


def results(loss_a, loss_b, weight, forgetting="cumulative"):
    """What the three comparisons and the final test say."""
    return (
        q_statistic(loss_a, loss_b, sample_weight=weight, forgetting=forgetting),
        mcnemar_curve(*labels_of(loss_a, loss_b), sample_weight=weight, forgetting=forgetting),
        anytime_comparison(loss_a, loss_b, sample_weight=weight),
        mcnemar(*labels_of(loss_a, loss_b), sample_weight=weight),
    )


class Stubborn(ClassifierMixin, BaseEstimator):
    """Is right on the rows that its column of X marks."""

    def __init__(self, column=0):
        self.column = column

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column].astype(int)


def test_comparisons_of_weighted_rows_agree_with_the_table(rng: np.random.Generator) -> None:
    """A is right on the few rows that weigh 100, B on the many that weigh 1."""
    n = 3000
    y = rng.integers(0, 2, n)
    heavy = rng.random(n) < 0.25
    X = np.column_stack((np.where(heavy, y, 1 - y), np.where(heavy, 1 - y, y)))
    weight = np.where(heavy, 100.0, 1.0)
    result = PrequentialEvaluator("accuracy", run=RunOptions(kernels=False)).evaluate(
        {"A": Stubborn(0), "B": Stubborn(1)}, X, y, sample_weight=weight
    )
    a, b = (result.scores[name]["accuracy"] for name in "AB")
    assert a > 0.95 > 0.05 > b
    assert result.compare("A", "B", test="q").ahead == "A"
    for test in ("mcnemar", "anytime"):
        compared = result.compare("A", "B", test=test)
        assert compared.better == "A", str(compared)
        assert "The rows are weighted" in str(compared).replace("\n", " ")
    anytime = result.compare("A", "B", test="anytime")
    assert anytime.difference == pytest.approx(b - a)
    # Without weights all say the contrary.
    plain = PrequentialEvaluator("accuracy", run=RunOptions(kernels=False)).evaluate(
        {"A": Stubborn(0), "B": Stubborn(1)}, X, y
    )
    assert plain.compare("A", "B", test="mcnemar").better == "B"
    assert "weight" not in str(plain.compare("A", "B", test="mcnemar"))


def test_rows_of_one_fold_are_weighted_too() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    heavy = rng.random(400) < 0.3
    X = np.column_stack((np.where(heavy, y, 1 - y), np.where(heavy, 1 - y, y)))
    result = KFoldEvaluator(
        "accuracy", n_folds=2, random_state=0, run=RunOptions(kernels=False)
    ).evaluate({"A": Stubborn(0), "B": Stubborn(1)}, X, y, sample_weight=np.where(heavy, 50.0, 1.0))
    assert result.compare("A", "B", test="mcnemar", fold=1).better == "A"
    assert result.compare("A", "B", test="q", fold=1).ahead == "A"


@examples(20)
@given(seed=seeds)
def test_rows_of_weight_zero_are_left_out(seed: int) -> None:
    loss_a, loss_b, weight = weighted_losses(seed, 60)
    kept = weight > 0
    for forgetting in ("cumulative", "window:7", "fading:0.95"):
        given_all = results(loss_a, loss_b, weight, forgetting)
        given_kept = results(loss_a[kept], loss_b[kept], weight[kept], forgetting)
        assert pickle.dumps(given_all) == pickle.dumps(given_kept)


@examples(20)
@given(seed=seeds, scale=st.sampled_from([1e-60, 0.25, 3.0, 1e60]))
def test_the_unit_of_the_weights_does_not_matter(seed: int, scale: float) -> None:
    loss_a, loss_b, weight = weighted_losses(seed)
    for forgetting in ("cumulative", "window:50", "fading:0.95", "fading:0.5"):
        one = results(loss_a, loss_b, weight, forgetting)
        other = results(loss_a, loss_b, weight * scale, forgetting)
        np.testing.assert_allclose(one[0].values, other[0].values, atol=1e-9)
        np.testing.assert_allclose(one[1].statistics, other[1].statistics, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one[1].pvalues, other[1].pvalues, atol=1e-9)
        np.testing.assert_allclose(one[2].pvalues, other[2].pvalues, rtol=1e-6)
        np.testing.assert_allclose(one[2].lower, other[2].lower, rtol=1e-9)
        assert one[3].statistic == pytest.approx(other[3].statistic)
        assert one[3].pvalue == pytest.approx(other[3].pvalue)
        assert one[3].pvalue == scipy_stats.chi2.sf(abs(one[3].statistic), 1)


def test_equal_weights_change_no_bit() -> None:
    loss_a, loss_b = random_losses(4, 500)
    for forgetting in ("cumulative", "window:50", "fading:0.95"):
        plain = results(loss_a, loss_b, None, forgetting)
        ones = results(loss_a, loss_b, np.ones(500), forgetting)
        for one, other in zip(plain[:3], ones[:3], strict=True):
            for name, values in vars(one).items():
                if isinstance(values, np.ndarray):
                    np.testing.assert_array_equal(values, getattr(other, name), err_msg=name)
        assert plain[3].pvalue == ones[3].pvalue
        assert all(one.weights is None for one in plain)
        assert all(one.weights.effective_rows == 500 for one in ones)


@pytest.mark.parametrize("forgetting", MECHANISMS, ids=lambda f: f.name)
def test_weighted_mcnemar_equals_its_definition(forgetting) -> None:
    loss_a, loss_b, weight = weighted_losses(1, 200)
    weight += 0.01
    curve = (
        RunningMcNemar(forgetting, record_every=1)
        .update(loss_a, loss_b, sample_weight=weight)
        .result()
    )
    statistics = literal_curve(loss_a, loss_b, forgetting, weight)
    np.testing.assert_allclose(curve.statistics, statistics, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(curve.pvalues, scipy_stats.chi2.sf(np.abs(curve.statistics), 1))
    if forgetting.name == "cumulative":
        final = mcnemar(*labels_of(loss_a, loss_b), sample_weight=weight)
        assert final.pvalue == pytest.approx(curve.pvalue)
        assert final.statistic == pytest.approx(curve.statistic)
        assert final.only_a_wrong == pytest.approx(weight[loss_a > loss_b].sum())


@newest_alone
def test_the_weighted_level_is_kept(rng: np.random.Generator) -> None:
    """Fair coins of very unequal weight: a row of weight 9 is not nine rows."""
    n_streams, n_rows = 400, 300
    rejected = naive = anytime = 0
    for _ in range(n_streams):
        weight = rng.pareto(2.5, n_rows) + 0.1
        coins = rng.random(n_rows) < 0.5
        loss_a, loss_b = coins.astype(float), 1.0 - coins
        result = mcnemar(*labels_of(loss_a, loss_b), sample_weight=weight)
        rejected += result.significant
        a, b = result.only_a_wrong, result.only_b_wrong
        naive += scipy_stats.chi2.sf((a - b) ** 2 / (a + b), 1) < 0.05
        anytime += anytime_comparison(loss_a, loss_b, sample_weight=weight).significant
    assert 0.02 < rejected / n_streams < 0.08
    assert naive / n_streams > 0.15
    assert anytime / n_streams < 0.05


def test_the_exact_method_counts_rows() -> None:
    loss_a, loss_b = random_losses(2, 50)
    plain = mcnemar(*labels_of(loss_a, loss_b), method="exact")
    twice = mcnemar(*labels_of(loss_a, loss_b), method="exact", sample_weight=np.full(50, 2.0))
    assert plain.pvalue == twice.pvalue
    with pytest.raises(ValueError, match=r"exact method counts rows.*from 1 to 3"):
        mcnemar([0, 1], [1, 1], [0, 0], method="exact", sample_weight=[1, 3])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1], r"sample_weight\[1\] is -1"),
        ([np.nan, 1], r"sample_weight\[0\] is nan"),
        ([1, np.inf], r"sample_weight\[1\] is inf"),
        ([1], r"shape \(2,\). Got shape \(1,\)"),
        ([[1, 1]], r"Got shape \(1, 2\)"),
        (1.0, r"Got shape \(1,\)"),
    ],
)
def test_weights_that_are_none(weight, message: str) -> None:
    for call in (
        lambda: q_statistic([0, 1], [1, 0], sample_weight=weight),
        lambda: mcnemar([0, 1], [1, 0], [0, 0], sample_weight=weight),
        lambda: mcnemar_curve([0, 1], [1, 0], [0, 0], sample_weight=weight),
        lambda: anytime_comparison([0, 1], [1, 0], sample_weight=weight),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_weight_above_the_promised_largest_is_refused() -> None:
    running = RunningAnytimeComparison(largest_weight=2.0).update([1.0], [0.0], sample_weight=[2.0])
    with pytest.raises(ValueError, match="weight 3, but largest_weight is 2"):
        running.update([1.0], [0.0], sample_weight=[3.0])
    with pytest.raises(ValueError, match=r"weight 1, but largest_weight is 0\.5"):
        RunningAnytimeComparison(largest_weight=0.5).update([1.0], [0.0])
    assert running.n_rows == 1


def test_rows_without_weights_before_weighted_ones_weigh_one() -> None:
    running = RunningQStatistic().update([1.0], [0.0]).update([1.0], [0.0], sample_weight=[0.5])
    weights = running.result().weights
    assert (weights.n_rows, weights.total, weights.largest) == (2, 1.5, 1.0)


def test_an_anytime_difference_is_the_weighted_mean() -> None:
    loss_a, loss_b, weight = weighted_losses(6)
    result = anytime_comparison(3 * loss_a, 3 * loss_b, sample_weight=weight, bounds=(0, 3))
    expected = 3 * np.average(loss_a - loss_b, weights=weight)
    assert result.difference == pytest.approx(expected)
    assert result.n_rows == np.count_nonzero(weight)


def test_weights_of_a_comparison_are_those_of_the_evaluation(rng: np.random.Generator) -> None:
    y = rng.integers(0, 2, 60)
    X = np.column_stack((y, rng.integers(0, 2, 60)))
    models = {"A": Stubborn(0), "B": Stubborn(1)}
    result = PrequentialEvaluator("accuracy", run=RunOptions(kernels=False)).evaluate(models, X, y)
    for test in ("q", "mcnemar", "anytime"):
        with pytest.raises(ValueError, match="with the scoring weights of the evaluation"):
            result.compare("A", "B", test=test, sample_weight=np.ones(59))
    faded = result.compare("A", "B", test="mcnemar", forgetting="fading:0.8")
    assert faded.better is None
    assert "There is no p-value" in str(faded).replace("\n", " ")
