"""Sign test and Wilcoxon's signed-rank test."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from skstream.stats import sign_test, wilcoxon
from skstream.stats._report import number
from tests._examples import examples
from tests.stats._table1 import CLASS_A, CLASS_B

fold_pairs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 6), min_size=n, max_size=n),
        st.lists(st.integers(0, 6), min_size=n, max_size=n),
    )
)


def test_table_1_sign_test() -> None:
    result = sign_test(CLASS_A, CLASS_B)
    assert (result.wins_a, result.wins_b, result.ties) == (8, 2, 0)
    assert result.pvalue == pytest.approx(0.109375)
    assert result.critical_value == 9
    assert result.better is None


def test_table_1_wilcoxon() -> None:
    result = wilcoxon(CLASS_A, CLASS_B)
    assert (result.w_plus, result.w_minus) == (52, 3)
    assert result.pvalue == pytest.approx(0.0098, abs=5e-5)
    assert result.critical_value == 8
    assert result.method == "exact"
    assert result.better == "A"


@pytest.mark.parametrize(("n", "critical"), [(5, None), (6, 6), (8, 8), (10, 9), (20, 15)])
def test_critical_values_of_the_sign_test(n: int, critical: int | None) -> None:
    # Demsar (2006), Table 3, two-sided 5 %.
    assert sign_test(np.ones(n), np.zeros(n)).critical_value == critical


@pytest.mark.parametrize(
    ("n", "critical"), [(5, None), (6, 0), (8, 3), (10, 8), (15, 25), (20, 52)]
)
def test_critical_values_of_wilcoxon(n: int, critical: int | None) -> None:
    # The usual table of the signed-rank test, two-sided 5 %.
    assert wilcoxon(np.arange(1.0, n + 1), np.zeros(n)).critical_value == critical


@examples(60)
@given(fold_pairs)
def test_sign_test_is_the_binomial_test(pair: tuple[list[int], list[int]]) -> None:
    a, b = map(np.array, pair)
    result = sign_test(a, b)
    wins, losses = int(np.sum(a > b)), int(np.sum(a < b))
    expected = scipy_stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert result.pvalue == pytest.approx(expected, rel=1e-12)
    reached = result.critical_value is not None and max(wins, losses) >= result.critical_value
    assert result.significant == reached


@pytest.mark.parametrize("n", [3, 10, 25, 50])
def test_wilcoxon_without_ties_is_scipys_exact_test(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.4, 1, n), rng.normal(0, 1, n)
    expected = scipy_stats.wilcoxon(a, b, method="exact")
    result = wilcoxon(a, b)
    assert result.statistic == expected.statistic
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert result.method == "exact"


@examples(40)
@given(fold_pairs, st.sampled_from(["wilcox", "pratt"]))
def test_wilcoxon_with_ties_counts_all_signs(pair, zero_method):
    a, b = map(np.array, pair)
    difference = a - b
    kept = difference if zero_method == "pratt" else difference[difference != 0]
    ranks = scipy_stats.rankdata(np.abs(kept))[kept != 0]
    w_plus = np.array(list(itertools.product([0, 1], repeat=len(ranks)))) @ ranks
    observed = ranks @ (kept[kept != 0] > 0)
    tail = min(np.mean(w_plus <= observed), np.mean(w_plus >= observed))
    result = wilcoxon(a, b, zero_method=zero_method)
    assert result.w_plus == observed
    assert result.pvalue == pytest.approx(min(1.0, 2 * tail), rel=1e-12)
    reached = result.critical_value is not None and result.statistic <= result.critical_value
    assert result.significant == reached


def test_wilcoxon_of_many_folds_is_scipys_normal_approximation() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(0.2, 1, 80)
    result = wilcoxon(a, np.zeros(80))
    assert result.method == "normal approximation"
    assert result.critical_value is None
    assert result.pvalue == pytest.approx(scipy_stats.wilcoxon(a).pvalue)


def test_zero_handling_changes_the_p_value_and_is_named() -> None:
    # Two p-values for one comparison: the statement says which one it is.
    a = np.array([1, 2, 0, 4, 5, 6, 7, 8, 8, 8])
    b = np.array([0, 0, 3, 0, 0, 0, 0, 8, 8, 8])
    wilcox, pratt = (wilcoxon(a, b, zero_method=m) for m in ("wilcox", "pratt"))
    assert (wilcox.w_plus, wilcox.w_minus) == (25, 3)
    assert (pratt.w_plus, pratt.w_minus) == (43, 6)
    assert wilcox.pvalue == 2 * 5 / 2**7  # sums up to 3: {}, {1}, {2}, {3}, {1, 2}
    assert pratt.pvalue == 2 * 4 / 2**7  # sums up to 6: {}, {4}, {5}, {6}
    assert '"wilcox"' in str(wilcox)
    assert '"pratt"' in str(pratt)
    assert wilcox.n_zeros == pratt.n_zeros == 3


def test_ties_hidden_by_rounding_are_ties() -> None:
    a = np.array([0.3, 0.2, 0.7, 0.1 + 0.2])
    b = np.array([0.2, 0.1, 0.6, 0.3])
    assert len(set(a - b)) > 2
    result = wilcoxon(a, b)
    assert result.tie_sizes == (3,)
    assert result.n_zeros == 1
    assert sign_test(a, b).ties == 1


@examples(40)
@given(fold_pairs, st.randoms(use_true_random=False))
def test_order_of_folds_does_not_matter(pair: tuple[list[int], list[int]], random) -> None:
    a, b = map(np.array, pair)
    order = list(range(len(a)))
    random.shuffle(order)
    for test in (sign_test, wilcoxon):
        assert test(a[order], b[order]) == test(a, b)


@examples(40)
@given(fold_pairs)
def test_swapping_the_models_swaps_the_answer(pair: tuple[list[int], list[int]]) -> None:
    a, b = pair
    there, back = wilcoxon(a, b), wilcoxon(b, a)
    assert (there.w_plus, there.w_minus, there.pvalue) == (back.w_minus, back.w_plus, back.pvalue)
    for test in (sign_test, wilcoxon):
        losses = test(a, b, higher_is_better=False)
        swapped = {None: None, "A": "B", "B": "A"}
        assert losses.better == test(b, a).better == swapped[test(a, b).better]


@pytest.mark.parametrize("test", [sign_test, wilcoxon])
def test_losses_are_better_when_smaller(test) -> None:
    low, high = np.arange(12.0), np.arange(12.0) + 1.5
    assert test(low, high).better == "B"
    assert test(low, high, higher_is_better=False).better == "A"
    assert sign_test(low, high, higher_is_better=False).wins_a == 12


@pytest.mark.parametrize("test", [sign_test, wilcoxon])
@pytest.mark.parametrize("n", [1, 4, 10, 60])
def test_a_model_never_differs_from_itself(test, n: int) -> None:
    a = np.random.default_rng(0).random(n)
    result = test(a, a, names=("sgd", "sgd"))
    assert result.pvalue == 1
    assert not result.significant
    assert result.better is None


def test_a_sum_of_no_ranks_is_printed_without_a_sign():
    assert (number(-0.0), number(0.0), number(-2.0)) == ("0", "0", "-2")
    better = np.arange(6.0)
    for a, b in ((better + 1, better), (better, better + 1), (better, better), (-better, -better)):
        for zero_method in ("wilcox", "pratt"):
            result = wilcoxon(a, b, zero_method=zero_method)
            assert "-0" not in f"{result!r} {result}".replace("-0.", ""), result


@pytest.mark.parametrize("n_folds", [2, 5, 6, 9])
def test_folds_that_are_too_few_for_any_outcome_are_said(n_folds):
    found = str(wilcoxon(np.full(n_folds, 0.9), np.linspace(0.1, 0.8, n_folds)))
    assert ("too few to reach alpha" in " ".join(found.split())) == (n_folds < 6)
    assert found.startswith("No difference") == (n_folds < 6)
