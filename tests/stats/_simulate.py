"""Streams of 0/1 losses of two models with known conditional expectations."""

from collections.abc import Callable

import numpy as np

# A scenario gives, from a generator and the number of rows, the probabilities that only the
# first and that only the second model errs, or draws the losses itself where they depend on
# the rows before.
Draw = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw_losses(scenario: str, seed: int, n_rows: int) -> Draw:
    """Losses of both models, and the expected difference given everything before each row."""
    return {**FAIR, **UNFAIR}[scenario](np.random.default_rng(seed), n_rows)


def _from_probabilities(rng: np.random.Generator, only_a: np.ndarray, only_b: np.ndarray) -> Draw:
    u = rng.random(len(only_a))
    a = u < only_a
    b = (u >= only_a) & (u < only_a + only_b)
    return a.astype(float), b.astype(float), only_a - only_b


def _sticky(rng: np.random.Generator, n_rows: int, stay: float) -> np.ndarray:
    """Markov chain on {-1, 1}; the state of a row is settled before the row."""
    changes = rng.random(n_rows) > stay
    return np.where(np.cumsum(changes) % 2, -1.0, 1.0) * rng.choice([-1.0, 1.0])


def _stationary(rng: np.random.Generator, n: int) -> Draw:
    return _from_probabilities(rng, np.full(n, 0.1), np.full(n, 0.1))


def _drifting_errors(rng: np.random.Generator, n: int) -> Draw:
    """Both models lose their grip together, twice; neither is ever better."""
    rate = np.where(np.arange(n) % (n // 2) < n // 4, 0.02, 0.4)
    return _from_probabilities(rng, rate, rate)


def _bursts(rng: np.random.Generator, n: int) -> Draw:
    """How often the models disagree depends on the rows before."""
    rate = np.where(_sticky(rng, n, 0.98) > 0, 0.01, 0.45)
    return _from_probabilities(rng, rate, rate)


def _constant_lead(rng: np.random.Generator, n: int) -> Draw:
    return _from_probabilities(rng, np.full(n, 0.15), np.full(n, 0.05))


def _changing_places(rng: np.random.Generator, n: int) -> Draw:
    lead = 0.2 * np.sin(np.arange(n) / n * 6 * np.pi)
    return _from_probabilities(rng, 0.25 + lead, 0.25 - lead)


def _regimes(rng: np.random.Generator, n: int) -> Draw:
    """The better model changes at random; losses of neighbouring rows are correlated."""
    lead = 0.3 * _sticky(rng, n, 0.95)
    return _from_probabilities(rng, 0.35 + lead, 0.35 - lead)


def _pushed_by_the_past(rng: np.random.Generator, n: int) -> Draw:
    """Whoever has been luckier so far is favoured on the next row."""
    u = rng.random(n)
    a, b, expected = np.zeros(n), np.zeros(n), np.zeros(n)
    luck = 0.0
    for i in range(n):
        expected[i] = 0.2 * np.sign(luck)
        only_a = 0.3 + expected[i] / 2
        a[i], b[i] = u[i] < only_a, only_a <= u[i] < 0.6
        luck += a[i] - b[i] - expected[i]
    return a, b, expected


FAIR: dict[str, Callable[[np.random.Generator, int], Draw]] = {
    "stationary": _stationary,
    "drifting errors": _drifting_errors,
    "bursts": _bursts,
}
UNFAIR: dict[str, Callable[[np.random.Generator, int], Draw]] = {
    "constant lead": _constant_lead,
    "changing places": _changing_places,
    "regimes": _regimes,
    "pushed by the past": _pushed_by_the_past,
}
