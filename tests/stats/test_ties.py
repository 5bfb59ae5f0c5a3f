"""What counts as a tie: a matter of each pair, whatever the other folds hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from skstream.stats import friedman_nemenyi, sign_test, wilcoxon
from skstream.stats._ranks import average_ranks, paired_differences, rounding_of, tie_sizes
from tests._examples import examples

# Values of any size, some of them within rounding of each other, or just beyond it.
near = st.builds(
    lambda base, step: base * (1 + step * 1e-12),
    st.sampled_from([0.0, 0.1, -0.1, 0.7, 1e14, -1e14, 1e-14, 250.0]),
    st.sampled_from([0, 0, 0.3, -0.3, 0.6, 1.4, 5, 1e6]),
)
values = st.lists(near, min_size=1, max_size=12).map(np.array)


def pairwise_ranks(numbers: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """The definition, pair by pair."""
    ranks = []
    for value, own in zip(numbers, rounding, strict=True):
        below = sum(v + r < value - own for v, r in zip(numbers, rounding, strict=True))
        above = sum(v - r > value + own for v, r in zip(numbers, rounding, strict=True))
        tied = len(numbers) - below - above
        ranks.append(0.5 + below + tied / 2)
    return np.array(ranks)


@examples(200)
@given(numbers=values, seed=st.integers(0, 100))
def test_ranks_are_those_of_the_pairs(numbers: np.ndarray, seed: int) -> None:
    rounding = rounding_of(numbers)
    ranks = average_ranks(numbers, rounding)
    np.testing.assert_array_equal(ranks, pairwise_ranks(numbers, rounding))
    assert ranks.sum() == len(numbers) * (len(numbers) + 1) / 2
    assert np.all(np.diff(ranks[np.argsort(numbers)]) >= 0)  # never against the values
    order = np.random.default_rng(seed).permutation(len(numbers))
    np.testing.assert_array_equal(average_ranks(numbers[order], rounding[order]), ranks[order])


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7]), min_size=1, max_size=20))
def test_ranks_are_the_usual_ones_where_ties_are_exact(numbers: list[float]) -> None:
    ranks = average_ranks(np.array(numbers), rounding_of(np.array(numbers)))
    np.testing.assert_array_equal(ranks, scipy_stats.rankdata(numbers))
    assert tie_sizes(ranks) == tuple(n for n in np.unique(numbers, return_counts=True)[1] if n > 1)


@examples(100)
@given(numbers=values, other=st.sampled_from([1e14, 1e200, -1e14, 1e-200]))
def test_another_value_ties_none_of_the_others(numbers: np.ndarray, other: float) -> None:
    before = average_ranks(numbers, rounding_of(numbers))
    longer = np.append(numbers, other)
    after = average_ranks(longer, rounding_of(longer))[:-1]
    apart = np.subtract.outer(before, before)
    # It may show which of two tied values is the larger one, where it is within rounding of one.
    assert np.all((np.sign(np.subtract.outer(after, after)) == np.sign(apart))[apart != 0])


def test_near_ties_that_are_not_transitive_keep_their_order() -> None:
    chain = 1 + np.array([0, 0.8, 1.6]) * 1e-12
    np.testing.assert_array_equal(average_ranks(chain, rounding_of(chain)), [1.5, 2.0, 2.5])


def test_a_diverged_fold_ties_no_others(rng: np.random.Generator) -> None:
    a, b = rng.random(12), rng.random(12)
    diverged_a, diverged_b = np.append(a, 1e14), np.append(b, 0.5)
    signs, more = sign_test(a, b), sign_test(diverged_a, diverged_b)
    assert (more.wins_a, more.wins_b, more.ties) == (signs.wins_a + 1, signs.wins_b, 0)
    ranks, more_ranks = wilcoxon(a, b), wilcoxon(diverged_a, diverged_b)
    assert more_ranks.n_zeros == 0
    assert more_ranks.tie_sizes == ()
    # The largest difference has the highest rank, and the others keep theirs.
    assert more_ranks.w_plus == ranks.w_plus + 13
    assert more_ranks.w_minus == ranks.w_minus


def test_a_diverged_model_ties_no_others_of_its_fold() -> None:
    rng = np.random.default_rng(1)
    table = rng.random((8, 3))
    wide = np.column_stack((table, np.full(8, 0.0)))
    wide[3, 3] = -1e14
    result = friedman_nemenyi(wide)
    assert result.n_tied_blocks == 0
    np.testing.assert_array_equal(result.average_ranks[:3], friedman_nemenyi(table).average_ranks)


def test_two_huge_values_leave_the_small_differences_apart() -> None:
    """A difference of which nothing is known shares ranks with those that it might equal."""
    a = np.array([1e14 + 200, 150.0, 101.0, 0.2, 0.1])
    b = np.array([1e14, 0.0, 0.0, 0.0, 0.0])
    differences, rounding = paired_differences(a, b)
    assert differences.tolist() == [200, 150, 101, 0.2, 0.1]
    assert average_ranks(differences, rounding).tolist() == [4.0, 4.5, 3.5, 2.0, 1.0]
    assert sign_test(a, b).ties == 0
    assert sign_test([1e14 + 50.0], [1e14]).ties == 1


@pytest.mark.parametrize("n", [20, 80])  # exact, and by SciPy's approximation
@pytest.mark.parametrize("zero_method", ["wilcox", "pratt"])
def test_rounding_changes_no_p_value(n: int, zero_method: str) -> None:
    rng = np.random.default_rng(2)
    steps = rng.integers(-3, 5, n)
    exact = wilcoxon(steps, np.zeros(n), zero_method=zero_method)
    base = rng.integers(1, 9, n) / 10
    rounded = wilcoxon(base + steps / 10, base, zero_method=zero_method)
    assert len(set((base + steps / 10) - base)) > 8
    assert rounded.pvalue == exact.pvalue
    assert (rounded.w_plus, rounded.n_zeros) == (exact.w_plus, exact.n_zeros)
    assert rounded.tie_sizes == exact.tie_sizes
