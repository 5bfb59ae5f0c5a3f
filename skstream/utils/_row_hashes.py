"""Hashes of rows: they depend on a row's content, not on its position or on other rows.

The arithmetic is fixed here (SplitMix64's mixing function on the bits of float64 numbers), because
the answers of `skstream.noise.LabelNoise` and `skstream.baselines.RandomClass` depend on every bit
of it.
"""

from hashlib import blake2b
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]

# The odd number next to 2^64 over the golden ratio: gives neighbouring columns very different
# numbers.
_STEP = np.uint64(0x9E3779B97F4A7C15)


def mixed(numbers: Hashes) -> Hashes:
    """Scatter numbers over all 64 bits, one to one (the finaliser of SplitMix64).

    References
    ----------
    Steele, G. L., Lea, D., & Flood, C. H. (2014). Fast splittable pseudorandom number
    generators. OOPSLA. Figure 5, "mix variant 13".
    """
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashes: Hashes = numbers ^ (numbers >> np.uint64(31))
    return hashes


def row_hashes(X: Any) -> Hashes:
    """Hash of every row.

    Equal rows have equal hashes: dense or sparse, of any number type, with any other rows.
    Values that are no numbers count by their text.

    Parameters
    ----------
    X : {ndarray, sparse matrix, dataframe} of shape (n_rows, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n_rows,), dtype uint64
        Hashes; 0 for a row of zeros.
    """
    if sparse.issparse(X):
        return _sparse_hashes(X.tocsr())
    if hasattr(X, "columns"):
        columns = [np.asarray(X[name]) for name in X.columns]
        hashes = np.zeros(len(X), np.uint64)
        for number, column in enumerate(columns):
            hashes += _scattered(_bits(column), np.array([number], np.uint64))
        return hashes
    bits = _bits(X if X.ndim == 2 else X[:, np.newaxis])
    columns_of_bits = np.arange(bits.shape[1], dtype=np.uint64)
    total: Hashes = _scattered(bits, columns_of_bits).sum(axis=1, dtype=np.uint64)
    return total


def uniform_draws(hashes: Hashes, weight_learnt: Floats, seed: int) -> Floats:
    """Uniform numbers in [0, 1), by the rows asked and by what was learnt before they were.

    Parameters
    ----------
    hashes : ndarray of shape (n_asks,), dtype uint64
        Hashes of the rows asked.
    weight_learnt : ndarray of shape (n_asks,) or (1,), dtype float64
        Weight learnt before each ask: it gives equal rows other numbers.
    seed : int
        Seed.

    Returns
    -------
    ndarray of shape (n_asks,), dtype float64
        The numbers.
    """
    place = mixed(weight_learnt.view(np.uint64) + mixed(np.array([seed], np.uint64)))
    # The upper 53 bits fill the mantissa of a double.
    return (mixed(hashes + place) >> np.uint64(11)) * np.float64(2.0**-53)


def _sparse_hashes(X: Any) -> Hashes:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    parts = _scattered(_bits(X.data), X.indices.astype(np.uint64))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(parts, dtype=np.uint64)])
    rows: Hashes = sums[X.indptr[1:]] - sums[X.indptr[:-1]]  # wraps around, and back
    return rows


def _scattered(bits: Hashes, columns: Hashes) -> Hashes:
    """Contribution of every value to its row: by value and column, 0 for a value of 0."""
    parts: Hashes = np.where(bits == 0, bits, mixed(bits ^ mixed((columns + np.uint64(1)) * _STEP)))
    return parts


def _bits(values: NDArray[Any]) -> Hashes:
    """64 bits per value; equal numbers have equal bits, and 0 has none."""
    if values.dtype.kind in "fiub":
        numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
        bits: Hashes = np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
        return bits
    flat = [_bits_of_one(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=np.uint64).reshape(values.shape)


def _bits_of_one(value: Any) -> int:
    if isinstance(value, Real):
        return int(_bits(np.array([float(value)]))[0])
    return int.from_bytes(blake2b(str(value).encode(), digest_size=8).digest(), "little")
