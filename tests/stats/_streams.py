"""Streams of losses, and ways to cut them into blocks."""

import itertools
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)


def random_losses(seed: int, n_rows: int, *, real: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Two correlated series of losses whose level changes in the middle."""
    rng = np.random.default_rng(seed)
    level = np.where(np.arange(n_rows) < n_rows // 2, 0.2, 0.5)
    shared = rng.random(n_rows)
    a = np.where(rng.random(n_rows) < 0.7, shared, rng.random(n_rows))
    b = np.where(rng.random(n_rows) < 0.7, shared, rng.random(n_rows))
    return (a, b * level) if real else ((a < level).astype(float), (b < level).astype(float))


def random_blocks(seed: int, n_rows: int) -> Iterator[slice]:
    """Cut the rows at random places; some blocks are empty, some have one row."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, n_rows + 1, rng.integers(0, 12)))
    edges = [0, *cuts.tolist(), n_rows]
    for start, end in itertools.pairwise(edges):
        yield slice(start, end)
