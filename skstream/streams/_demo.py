"""The demo stream: small, with temporal dependence and one drift."""

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.arrays import ArrayStream
from skstream.streams._generators._base import normal_rows
from skstream.utils._choices import check_count
from skstream.utils._seeds import uniform

_LEAVE_DOWN, _LEAVE_UP = 0.12, 0.16
_PERIOD = 48
_MEMORY = 0.95
_SIGNAL = 0.5
_NOISE = 0.35


def make_demo_stream(n_rows: int = 20_000, *, random_state: int = 0) -> ArrayStream:
    """Make a small stream with temporal dependence and one abrupt drift.

    It shows what can mislead an evaluation: most labels repeat the previous one, so naive Bayes
    looks useful although it is worse than predicting the previous label, and the relation between
    features and label changes half-way, so a model must adapt.

    Parameters
    ----------
    n_rows : int, default=20_000
        Number of rows.
    random_state : int, default=0
        Seed. The same seed gives the same rows on every platform.

    Returns
    -------
    ArrayStream
        Labels "DOWN" and "UP"; features "demand", "price", "price_change" and "noise".

    Notes
    -----
    The labels are a Markov chain that leaves "DOWN" with probability .12 and "UP" with .16: "DOWN"
    has the prior 4/7, and 86 % of the labels equal their predecessor. The demand is a daily wave of
    48 rows plus first-order autoregressive noise. The price is the demand, plus .5 for "UP" or
    minus .5 for "DOWN", plus noise; from row ``n_rows // 2`` on it is *minus* the demand, plus the
    same. So the label shows when the demand is subtracted (added, after the drift): a linear model
    can learn this, naive Bayes cannot. The price change shows the moments at which the label
    changes; the last feature contains no information.

    Examples
    --------
    >>> from skstream.streams import label_profile, make_demo_stream
    >>> stream = make_demo_stream(1000)
    >>> stream.feature_names
    ['demand', 'price', 'price_change', 'noise']
    >>> label_profile(stream).temporal_dependence
    True
    """
    n = check_count(n_rows, "n_rows", 1)
    from scipy.signal import lfilter  # slow to import, and needed only here

    def normal(name: str) -> NDArray[np.float64]:
        return normal_rows(random_state, f"demo {name}", 0, n, 1)[:, 0]

    is_up = _sticky_labels(n, random_state)
    rows = np.arange(n)
    innovation = np.sqrt(1 - _MEMORY**2)
    demand = 0.8 * np.sin(2 * np.pi * rows / _PERIOD)
    demand += 0.5 * lfilter([innovation], [1, -_MEMORY], normal("demand"))
    price = np.where(rows < n // 2, demand, -demand)
    price += np.where(is_up, _SIGNAL, -_SIGNAL) + _NOISE * normal("price")
    change = np.diff(price, prepend=price[0])
    return ArrayStream(
        np.column_stack([demand, price, change, normal("noise")]),
        np.where(is_up, "UP", "DOWN"),
        feature_names=["demand", "price", "price_change", "noise"],
    )


def _sticky_labels(n_rows: int, seed: int) -> NDArray[np.bool_]:
    """Runs of geometric length, alternately down and up; True where up."""
    run_is_up = np.arange(n_rows) % 2 == 1
    stay = np.where(run_is_up, 1 - _LEAVE_UP, 1 - _LEAVE_DOWN)
    survival = 1 - uniform(seed, "demo labels", 0, n_rows)
    lengths = 1 + np.floor(np.log(survival) / np.log(stay)).astype(np.int64)
    last = int(np.searchsorted(np.cumsum(lengths), n_rows)) + 1
    return np.repeat(run_is_up[:last], lengths[:last])[:n_rows]
