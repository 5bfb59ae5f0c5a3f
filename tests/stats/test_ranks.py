"""Friedman, Iman-Davenport, Nemenyi and the groups of a critical-difference diagram."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as scipy_stats

from skstream.stats import friedman_nemenyi
from skstream.stats._ranks import friedman_statistic, maximal_groups
from tests._examples import examples

tables = st.tuples(st.integers(2, 8), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 5))
)


@pytest.mark.parametrize(
    ("k", "quantile"), [(2, 1.960), (3, 2.344), (4, 2.569), (5, 2.728), (6, 2.850)]
)
def test_critical_differences(k: int, quantile: float) -> None:
    # Without the division by sqrt(2) they would be 41 % too long.
    n = 7
    result = friedman_nemenyi(np.random.default_rng(k).random((n, k)))
    q = result.critical_difference / np.sqrt(k * (k + 1) / (6 * n))
    assert q == pytest.approx(quantile, abs=6e-4)


def test_demsars_worked_example() -> None:
    # Demsar (2006), section 3.2.2: average ranks of C4.5 with four settings over 14 data sets.
    auc = np.array(
        [
            [0.763, 0.768, 0.771, 0.798],
            [0.599, 0.591, 0.590, 0.569],
            [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657],
            [0.882, 0.888, 0.886, 0.898],
            [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685],
            [0.583, 0.583, 0.563, 0.625],
            [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000],
            [0.940, 0.962, 0.965, 0.962],
            [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.9751, 0.975],
            [0.957, 0.978, 0.946, 0.970],
        ]
    )
    result = friedman_nemenyi(auc, ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"])
    np.testing.assert_allclose(result.average_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    # His 9.28 and 3.69 are not corrected for ties.
    uncorrected = 12 * 14 / 20 * np.sum((result.average_ranks - 2.5) ** 2)
    assert uncorrected == pytest.approx(9.28, abs=0.01)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=0.01)
    assert result.chi2 >= uncorrected
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)
    # The largest difference, 1.18, stays below it, although the Friedman test rejects.
    assert result.significant
    assert result.different_pairs == ()
    assert len(result.groups) == 1
    assert result.n_tied_blocks == 4


@examples(50)
@given(tables)
def test_friedman_against_scipy(table: np.ndarray) -> None:
    result = friedman_nemenyi(table)
    if (table == table[:, :1]).all():
        assert (result.chi2, result.pvalue) == (0, 1)
    elif table.shape[1] >= 3:
        expected = scipy_stats.friedmanchisquare(*table.T)
        assert result.chi2 == pytest.approx(expected.statistic, abs=1e-9)
        assert result.chi2_pvalue == pytest.approx(expected.pvalue, abs=1e-9)
    ranks = np.array([scipy_stats.rankdata(-row) for row in table])
    np.testing.assert_allclose(result.average_ranks, ranks.mean(axis=0))


@examples(50)
@given(tables)
def test_iman_davenport_is_the_analysis_of_variance_of_the_ranks(table: np.ndarray) -> None:
    n, k = table.shape
    ranks = np.array([scipy_stats.rankdata(-row) for row in table])
    between = n * np.sum((ranks.mean(axis=0) - (k + 1) / 2) ** 2)
    residual = np.sum((ranks - ranks.mean(axis=0)) ** 2)
    result = friedman_nemenyi(table)
    if residual < 1e-9:
        assert result.f_statistic == (np.inf if between else 0)
        assert between or result.pvalue == 1
    else:
        expected = between / (k - 1) / (residual / ((k - 1) * (n - 1)))
        assert result.f_statistic == pytest.approx(expected, rel=1e-9, abs=1e-12)


@examples(30)
@given(tables, st.randoms(use_true_random=False))
def test_order_of_folds_and_models_does_not_matter(table: np.ndarray, random) -> None:
    names = [f"m{j}" for j in range(table.shape[1])]
    rows, columns = list(range(table.shape[0])), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    one = friedman_nemenyi(table, names)
    two = friedman_nemenyi(table[rows][:, columns], [names[j] for j in columns])
    assert two.chi2 == pytest.approx(one.chi2)
    np.testing.assert_allclose(two.average_ranks, one.average_ranks[columns])
    assert {frozenset(g) for g in two.groups} == {frozenset(g) for g in one.groups}


def groups_by_definition(ranks: np.ndarray, critical_difference: float) -> set[frozenset[int]]:
    """Every set of models without a pair that differs, that no such larger set contains."""
    alike = [
        frozenset(members)
        for size in range(2, len(ranks) + 1)
        for members in itertools.combinations(range(len(ranks)), size)
        if np.ptp(ranks[list(members)]) < critical_difference
    ]
    return {group for group in alike if not any(group < other for other in alike)}


@examples(60)
@given(st.lists(st.integers(2, 16), min_size=2, max_size=7), st.integers(1, 12))
def test_groups_by_definition(half_ranks: list[int], half_difference: int) -> None:
    ranks, critical_difference = np.array(half_ranks) / 2, half_difference / 2
    found = maximal_groups(ranks, critical_difference)
    assert {frozenset(group) for group in found} == groups_by_definition(ranks, critical_difference)
    assert len(found) == len(set(map(frozenset, found)))


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([1, 2, 3, 4], []),  # all differ: no bar at all, and none of one model
        ([1, 1.5, 1.2, 1.7], [(0, 2, 1, 3)]),  # none differ: one bar
        ([1, 1.6, 2.2, 2.8], [(0, 1), (1, 2), (2, 3)]),  # a chain of overlapping pairs
        ([1, 1.4, 1.8, 3, 3.1], [(0, 1, 2), (3, 4)]),  # two separate bars
        ([1, 1.1, 1.2, 2.05], [(0, 1, 2), (1, 2, 3)]),  # no bar inside another
        ([2, 1], []),  # exactly the critical difference apart is apart
        ([3.0, 2.1, 1.2], [(2, 1), (1, 0)]),  # best first, whatever the order given
    ],
)
def test_constructed_rank_patterns(ranks: list[float], expected: list[tuple[int, ...]]) -> None:
    assert maximal_groups(np.array(ranks, dtype=float), 1.0) == expected


@pytest.mark.parametrize("k", [2, 3, 7, 12])
def test_pairwise_p_values_agree_with_the_critical_difference(k: int) -> None:
    rng = np.random.default_rng(k)
    result = friedman_nemenyi(rng.random((9, k)) + np.linspace(0, 1.5, k), alpha=0.1)
    apart = np.abs(result.rank_differences) >= result.critical_difference
    np.testing.assert_array_equal(result.pairwise_pvalues < 0.1, apart)
    np.testing.assert_array_equal(result.pairwise_pvalues, result.pairwise_pvalues.T)
    assert len(result.different_pairs) == apart.sum() / 2
    assert np.all(np.diag(result.pairwise_pvalues) == 1)


def test_identical_rankings_everywhere() -> None:
    result = friedman_nemenyi(np.tile([3.0, 2.0, 1.0], (5, 1)))
    assert result.f_statistic == np.inf
    assert result.pvalue == 6.0**-4  # four blocks happen to agree with the first
    assert result.chi2 == pytest.approx(10)


def share_as_extreme(table: np.ndarray) -> float:
    """Part of all ways to permute the scores in every block that have as large a chi-squared."""
    statistics = [
        friedman_statistic(np.array([scipy_stats.rankdata(row) for row in rows]))
        for rows in itertools.product(*(list(itertools.permutations(row)) for row in table))
    ]
    return float(np.mean(np.array(statistics) > statistics[0] - 1e-9))


@pytest.mark.parametrize(
    "table",
    [
        [[0.9, 0.5], [0.8, 0.4]],  # two streams show nothing, whatever F says
        [[0.9, 0.5]] * 6,
        [[0.9, 0.5, 0.3]] * 3,
        [[0.9, 0.5, 0.5]] * 4,
        [[0.5, 0.5, 0.5]] * 3,
    ],
    ids=str,
)
def test_where_all_blocks_agree_the_p_value_is_exact(table: list[list[float]]) -> None:
    result = friedman_nemenyi(table)
    assert result.pvalue == pytest.approx(share_as_extreme(np.array(table)))


def test_equal_models_are_never_told_apart() -> None:
    score = np.random.default_rng(0).random((10, 1))
    result = friedman_nemenyi(np.tile(score, (1, 4)))
    assert result.pvalue == 1
    assert result.different_pairs == ()
    assert result.n_tied_blocks == 10


def test_rounding_does_not_break_ties() -> None:
    exact = friedman_nemenyi([[0.3, 0.3, 0.2], [0.3, 0.1, 0.2]])
    rounded = friedman_nemenyi([[0.1 + 0.2, 0.3, 0.2], [0.3, 0.1, 0.2]])
    np.testing.assert_array_equal(rounded.average_ranks, exact.average_ranks)


def test_losses_rank_the_other_way() -> None:
    scores = np.random.default_rng(0).random((6, 3))
    one, two = friedman_nemenyi(scores), friedman_nemenyi(-scores, higher_is_better=False)
    np.testing.assert_array_equal(one.average_ranks, two.average_ranks)


def test_names_come_from_a_data_frame(pd):
    frame = pd.DataFrame({"sgd": [0.9, 0.8, 0.7], "bayes": [0.5, 0.6, 0.5]})
    result = friedman_nemenyi(frame)
    assert result.names == ("sgd", "bayes")
    table = result.to_frame()
    assert list(table.index) == ["sgd", "bayes"]
    assert table.loc["sgd", "average_rank"] == 1
    assert table.loc["sgd", "pvalue_vs_bayes"] == pytest.approx(result.pairwise_pvalues[0, 1])


def test_statement_warns_of_pairs_that_friedman_does_not_support() -> None:
    for seed in range(200):
        scores = np.random.default_rng(seed).normal(size=(6, 9)) + np.linspace(0, 0.7, 9)
        result = friedman_nemenyi(scores)
        if result.different_pairs and not result.significant:
            break
    else:
        pytest.fail("no such table found")
    assert "do not rely on single pairs" in str(result).replace("\n", " ")


def test_scores_by_name() -> None:
    by_name = {"sgd": [0.9, 0.8, 0.7, 0.6], "bayes": [0.8, 0.7, 0.6, 0.7]}
    found = friedman_nemenyi(by_name)
    same = friedman_nemenyi(np.column_stack(list(by_name.values())), ["sgd", "bayes"])
    assert repr(found) == repr(same)
    assert friedman_nemenyi(by_name, ["a", "b"]).names == ("a", "b")
    with pytest.raises(ValueError, match=r"each fold or stream. Got \{'a': 2, 'b': 3\} scores"):
        friedman_nemenyi({"a": [0.1, 0.2], "b": [0.1, 0.2, 0.3]})
    with pytest.raises(ValueError, match=r"scores must have shape .* Got shape \(0, 0\)"):
        friedman_nemenyi({})


def test_a_ranking_draws_itself(matplotlib):
    display = friedman_nemenyi({"sgd": [0.9, 0.8, 0.7], "bayes": [0.8, 0.7, 0.6]}).plot()
    assert type(display).__name__ == "CriticalDifferenceDisplay"


def test_an_infinite_statistic_is_explained() -> None:
    text = " ".join(str(friedman_nemenyi(np.tile([3.0, 2.0, 1.0], (5, 1)))).split())
    assert (
        "F(2, 8) is infinite, as all 5 folds or streams rank the models in the same order (p = "
        in text
    )
