"""Random numbers addressed by place. The golden values pin them across versions and platforms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import Pipeline

from skstream.utils._seeds import derive_seed, poisson_weights, seed_estimator, uniform
from tests._examples import examples

seeds = st.integers(0, 2**64)
rows = st.integers(0, 300)


def test_golden_seeds():
    assert derive_seed(0) == 4022363050
    assert derive_seed(0, "fold", 1) == 264508482
    assert derive_seed(42, "model", "sgd", 3) == 610021167


def test_golden_uniform_numbers():
    np.testing.assert_array_equal(
        uniform(0, "x", 0, 3), [0.5345055760500224, 0.4339318288480609, 0.8355712505898621]
    )
    assert uniform(0, "x", 10**12, 10**12 + 1)[0] == 0.13343603123059555


def test_golden_poisson_weights():
    expected = [1, 0, 0, 2, 0, 2, 2, 1, 0, 0, 1, 0, 0, 6, 0, 2, 3, 1, 0, 3]
    assert poisson_weights(0, 0, 0, 20).tolist() == expected
    assert poisson_weights(0, 1, 45_302, 45_312).tolist() == [0, 1, 1, 1, 1, 1, 1, 1, 0, 0]


def test_different_places_have_different_seeds():
    places = [(), (1,), ("1",), (1, 1), (11,), ("a", "b"), ("b", "a"), ("ab",), ("a;str:1:b",)]
    assert len({derive_seed(0, *place) for place in places}) == len(places)
    assert len({derive_seed(seed) for seed in range(1000)}) == 1000


@pytest.mark.parametrize("part", [None, 1.0, ("a",)])
def test_other_addresses_are_refused(part):
    with pytest.raises(TypeError, match="integers and strings"):
        derive_seed(0, part)


@examples(50)
@given(seeds, st.integers(0, 20), rows, rows, rows)
def test_any_range_gives_the_same_numbers(seed, fold, a, b, c):
    first, cut, last = sorted([a, b, c])
    for numbers in (poisson_weights, uniform):
        whole = numbers(seed, fold, 0, last)
        assert len(whole) == last
        pieces = [numbers(seed, fold, first, cut), numbers(seed, fold, cut, last)]
        np.testing.assert_array_equal(np.concatenate(pieces), whole[first:])


def test_poisson_weights_have_their_distribution():
    n = 400_000
    weights = poisson_weights(1, 2, 0, n)
    assert weights.dtype == np.int64
    for k in range(5):
        p = math.exp(-1) / math.factorial(k)
        assert abs(np.mean(weights == k) - p) < 4 * math.sqrt(p * (1 - p) / n)


def test_folds_and_streams_are_unrelated():
    n = 100_000
    numbers = np.stack([uniform(0, 0, 0, n), uniform(0, 1, 0, n), uniform(1, 0, 0, n)])
    weights = np.stack([poisson_weights(0, fold, 0, n) for fold in (0, 1)])
    correlation = np.corrcoef(np.vstack([numbers, weights]))
    assert np.abs(correlation - np.eye(5)).max() < 4.5 / math.sqrt(n)
    assert numbers.min() >= 0
    assert numbers.max() < 1


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (4, 3)])
def test_wrong_ranges_are_refused(start, stop):
    with pytest.raises(ValueError, match="0 <= start <= stop"):
        uniform(0, 0, start, stop)


def model(**given_seeds) -> Pipeline:
    steps = [("rbf", RBFSampler()), ("bag", BaggingClassifier(SGDClassifier()))]
    return Pipeline(steps).set_params(**given_seeds)


def random_states(estimator) -> dict:
    params = estimator.get_params()
    return {path: value for path, value in params.items() if path.endswith("random_state")}


def test_every_random_state_is_set_nested_ones_too():
    seeded = model()
    assert seed_estimator(seeded, 0, "sgd", 1) is seeded
    states = random_states(seeded)
    assert states == {path: derive_seed(0, "sgd", 1, path) for path in states}
    assert set(states) == {"rbf__random_state", "bag__random_state", "bag__estimator__random_state"}
    assert random_states(clone(seeded)) == states


@pytest.mark.parametrize("mean", [0.3, 6.0, 60.0, 75.0, 100.0])
def test_poisson_weights_of_any_mean(mean: float) -> None:
    """Powers of the mean overflow from 75 on."""
    n = 50_000
    weights = poisson_weights(0, 0, 0, n, mean)
    distances = np.abs([weights.mean() - mean, weights.var() - mean])
    assert (distances < 5 * np.sqrt([mean / n, (mean + 2 * mean**2) / n])).all()
