"""Random series with drifts, and random ways to cut them into calls."""

import numpy as np
from hypothesis import strategies as st

from tests.drift._literal import UNIT

KINDS = ("bernoulli", "gauss", "cauchy", "lognormal", "constant", "trend")


@st.composite
def series(draw, max_segment=600, max_segments=5, kinds=KINDS):
    """Draw a series of a few segments, each of another kind and level."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    segments = draw(
        st.lists(
            st.tuples(
                st.sampled_from(kinds),
                st.integers(1, max_segment),
                st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.9, 1.0, 3.0, 100.0, -20.0]),
            ),
            min_size=1,
            max_size=max_segments,
        )
    )
    values = np.concatenate([_segment(rng, *segment) for segment in segments])
    return np.round(values / UNIT) * UNIT


def _segment(rng, kind, n, level):
    if kind == "bernoulli":
        return (rng.random(n) < min(abs(level), 1.0)).astype(float)
    if kind == "gauss":
        return rng.normal(level, 1.0, n)
    if kind == "cauchy":
        return level + np.clip(rng.standard_cauchy(n), -1e4, 1e4)
    if kind == "lognormal":
        return rng.lognormal(0.0, 1.5, n)
    if kind == "constant":
        return np.full(n, level)
    return np.linspace(0.0, level, n) + rng.normal(0.0, 0.2, n)


@st.composite
def losses(draw, max_segment=500):
    """Draw 0/1 losses whose rate changes a few times."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    segments = draw(
        st.lists(
            st.tuples(st.integers(1, max_segment), st.sampled_from([0.0, 0.05, 0.3, 0.7, 1.0])),
            min_size=1,
            max_size=5,
        )
    )
    return np.concatenate([rng.random(n) < p for n, p in segments]).astype(float)


def pieces(draw, values):
    """Cut values at random places; some pieces are empty, some hold one value."""
    n = len(values)
    cuts = draw(st.lists(st.integers(0, n), max_size=12))
    cuts += [cut + 1 for cut in cuts[::3] if cut < n]
    return np.split(values, sorted(cuts))
