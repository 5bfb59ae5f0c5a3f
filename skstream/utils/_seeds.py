"""Random numbers that depend on (seed, purpose, row), never on the order of calls.

Every number depends only on its address, so that the chunks of a stream, the number of workers and
the order in which they run change nothing. The generators are fixed here (SHA-256 for the keys,
Philox for the numbers) because their output is guaranteed across versions and platforms; the
methods of ``numpy.random.Generator`` give no such guarantee.
"""

import functools
import hashlib
import math
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

# One step of Philox's counter gives four numbers.
_PER_COUNTER = 4


def _digest(seed: int, place: tuple[int | str, ...]) -> bytes:
    hasher = hashlib.sha256()
    for part in (seed, *place):
        if isinstance(part, Integral):
            text = f"int:{int(part)};"
        elif isinstance(part, str):
            # The length keeps ("a", "b") and ("a;str:1:b",) apart.
            text = f"str:{len(part)}:{part};"
        else:
            raise TypeError(
                f"A place must be given by integers and strings. Got {part!r} of type "
                f"{type(part).__name__} instead."
            )
        hasher.update(text.encode())
    return hasher.digest()


def derive_seed(seed: int, *place: int | str) -> int:
    """Seed of a place: the same on every platform, unrelated for different places.

    Parameters
    ----------
    seed : int
        The user's seed.
    *place : int or str
        Address, e.g. ``("model", "sgd", "fold", 3)``. ``3`` and ``"3"`` are different places.

    Returns
    -------
    int
        In ``[0, 2**32)``, as scikit-learn's `random_state` accepts.

    Examples
    --------
    >>> from skstream.utils._seeds import derive_seed
    >>> derive_seed(0, "fold", 1)
    264508482
    """
    return int.from_bytes(_digest(seed, place)[:4], "little")


def seed_estimator(estimator: Any, seed: int, *place: int | str) -> Any:
    """Set every `random_state` that is None, nested ones too; integers the user gave stay.

    Each one is addressed by its parameter path (``"sgd__random_state"``), so that the order of the
    parameters, or one more step in a pipeline, changes no other seed.

    Parameters
    ----------
    estimator : estimator
        Changed in place: pass a clone. One without ``get_params`` shows no parameters to set.
    seed : int
        The user's seed.
    *place : int or str
        Address of the estimator, e.g. its name and its fold.

    Returns
    -------
    estimator
        The same object.
    """
    if not hasattr(estimator, "get_params"):
        return estimator
    unset = {}
    for path, value in estimator.get_params(deep=True).items():
        if value is None and (path == "random_state" or path.endswith("__random_state")):
            unset[path] = derive_seed(seed, *place, path)
    return estimator.set_params(**unset) if unset else estimator


def drawn_seed(random_state: Any) -> int:
    """Seed for the draws of an estimator; the same for the same integer.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        As the estimator was given it; an instance is advanced.

    Returns
    -------
    int
        In ``[0, 2**32)``.
    """
    return int(check_random_state(random_state).randint(2**32, dtype=np.uint32))


def uniform(seed: int, stream_id: int | str, start: int, stop: int) -> NDArray[np.float64]:
    """Uniform numbers in [0, 1) for the rows `start` to `stop` of one stream of numbers.

    Parameters
    ----------
    seed : int
        The user's seed.
    stream_id : int or str
        What the numbers are for; different ids give unrelated numbers.
    start, stop : int
        Row numbers, ``0 <= start <= stop``.

    Returns
    -------
    ndarray of shape (stop - start,), dtype float64
        Number `i` depends on `seed`, `stream_id` and the row ``start + i`` alone.

    Examples
    --------
    >>> from skstream.utils._seeds import uniform
    >>> whole = uniform(7, "assignment", 0, 10)
    >>> bool((uniform(7, "assignment", 4, 9) == whole[4:9]).all())
    True
    """
    return _uniform(seed, ("uniform", stream_id), start, stop)


@functools.cache
def _poisson_cdf(mean: float) -> NDArray[np.float64]:
    """Distribution function, P(weight <= k) for k = 0, 1, ..., until it is 1 to the last bit."""
    n = math.ceil(mean + 12 * math.sqrt(mean) + 7)  # of mean 1: 20
    log = math.log(mean)
    shares = [
        math.exp(-mean) * mean**k / math.factorial(k)
        if k * log < 700
        else math.exp(k * log - mean - math.lgamma(k + 1))
        for k in range(n)
    ]
    return np.cumsum(shares)


def poisson_weights(
    seed: int, fold: int, start: int, stop: int, mean: float = 1.0
) -> NDArray[np.int64]:
    """Poisson weights of the rows `start` to `stop` in one fold.

    The distribution function is inverted on one uniform number per row
    (``Generator.poisson`` uses a varying number of them, so it cannot be addressed by row).

    Parameters
    ----------
    seed : int
        The user's seed.
    fold : int
        Number of the fold.
    start, stop : int
        Row numbers, ``0 <= start <= stop``.
    mean : float, default=1.0
        Mean of the weights, up to 100.

    Returns
    -------
    ndarray of shape (stop - start,), dtype int64
        Weights; with mean 1, 36.8 % of them are 0.
    """
    numbers = _uniform(seed, ("poisson", fold), start, stop)
    return np.searchsorted(_poisson_cdf(mean), numbers, side="right").astype(np.int64, copy=False)


def _uniform(seed: int, place: tuple[int | str, ...], start: int, stop: int) -> NDArray[np.float64]:
    if not 0 <= start <= stop:
        raise ValueError(f"Rows must satisfy 0 <= start <= stop. Got start={start}, stop={stop}.")
    key = np.frombuffer(_digest(seed, place)[:16], dtype="<u8").astype(np.uint64)
    bits = np.random.Philox(key=key)
    bits.advance(start // _PER_COUNTER)
    skipped = start % _PER_COUNTER
    raw = bits.random_raw(skipped + stop - start)[skipped:]
    # The upper 53 bits fill the mantissa of a double.
    return (raw >> np.uint64(11)) * np.float64(2.0**-53)


# -- hashes of rows: they depend on what a row holds, not on its position or on other rows. The
# arithmetic is fixed (SplitMix64 on the bits of float64 numbers): answers depend on every bit.

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
    return numbers ^ (numbers >> np.uint64(31))


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
    return _scattered(bits, columns_of_bits).sum(axis=1, dtype=np.uint64)


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
    return sums[X.indptr[1:]] - sums[X.indptr[:-1]]  # wraps around, and back


def _scattered(bits: Hashes, columns: Hashes) -> Hashes:
    """Contribution of every value to its row: by value and column, 0 for a value of 0."""
    return np.where(bits == 0, bits, mixed(bits ^ mixed((columns + np.uint64(1)) * _STEP)))


def _bits(values: NDArray[Any]) -> Hashes:
    """64 bits per value; equal numbers have equal bits, and 0 has none."""
    if values.dtype.kind in "fiub":
        numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
        return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
    flat = [_bits_of_one(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=np.uint64).reshape(values.shape)


def _bits_of_one(value: Any) -> int:
    if isinstance(value, Real):
        return int(_bits(np.array([float(value)]))[0])
    return int.from_bytes(blake2b(str(value).encode(), digest_size=8).digest(), "little")
