"""How good prediction intervals are along a stream."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.core.result.select import pick
from skstream.logs._log import score_predictions
from skstream.logs._log_rows import as_floats
from skstream.stats._report import forgetting_words
from skstream.utils._choices import is_real
from skstream.utils._optional import display, optional_import

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class IntervalScores:
    """Scores of prediction intervals; made by `interval_scores`.

    Attributes
    ----------
    target_coverage : float
        Share of the targets that the intervals were to hold.
    checkpoints : ndarray of shape (n_checkpoints,), dtype int64
        Rows that had come at every checkpoint.
    times : ndarray of shape (n_checkpoints,), or None
        Their times, where given.
    curves : dict of str to ndarray of shape (n_checkpoints,)
        "coverage": share of the targets in their intervals, ends included. "mean_width": mean
        width. "interval_score": the width, plus ``2 / (1 - target_coverage)`` times the distance
        of a target outside: the lower, the better, and lowest where the ends are the quantiles.
    n_infinite, n_unlabelled : int
        Rows with an infinite interval, which hold the target but are in no width and no score; and
        rows without a target.
    forgetting : str
        Which rows count in the means.
    """

    target_coverage: float
    checkpoints: NDArray[np.int64]
    times: NDArray[Any] | None
    curves: dict[str, Floats]
    n_infinite: int
    n_unlabelled: int
    forgetting: str

    @property
    def scores(self) -> dict[str, float]:
        """Last values."""
        return {name: float(curve[-1]) for name, curve in self.curves.items()}

    def to_frame(self) -> Any:
        """Return the curves as a data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns row, time (where there are times), coverage, mean_width, interval_score.
        """
        pandas = optional_import("pandas", "to_frame()")
        time = {} if self.times is None else {"time": self.times}
        return pandas.DataFrame({"row": self.checkpoints, **time, **self.curves})

    def plot(self, metric: str = "coverage", **options: Any) -> Any:
        """Plot a score along the stream.

        Parameters
        ----------
        metric : {"coverage", "mean_width", "interval_score"}, default="coverage"
            The score; beside the coverage stands the one that was wanted.
        **options
            Options of the display's ``plot``, such as ``ax``.

        Returns
        -------
        display : PrequentialDisplay
            The display, drawn.
        """
        curves = {"intervals": pick(self.curves, metric, "measure")[:, np.newaxis]}
        if metric == "coverage":
            curves["wanted"] = np.full_like(curves["intervals"], self.target_coverage)
        shown = display("PrequentialDisplay")(
            curves=curves,
            metric=metric.replace("_", " "),
            forgetting=self.forgetting,
            checkpoints=self.checkpoints,
            times=self.times,
        )
        return shown.plot(**options)

    def __str__(self) -> str:
        values = ", ".join(f"{k.replace('_', ' ')} {v:.4g}" for k, v in self.scores.items())
        infinite = f"; {self.n_infinite:,} infinite" if self.n_infinite else ""
        return (
            f"intervals for {self.target_coverage:g} of the targets, "
            f"{forgetting_words(self.forgetting)}: "
            f"{values} after {int(self.checkpoints[-1]):,} rows{infinite}"
        )


def interval_scores(
    y_true: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    coverage: float = 0.9,
    forgetting: Any = "cumulative",
    arrival: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    record_every: Any = None,
) -> IntervalScores:
    """Score prediction intervals, from a conformal regressor, two quantile models, or a log.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Targets in stream order; NaN for those that have not come yet.
    lower, upper : array-like of shape (n_rows,)
        Ends of the intervals, each given before its target was known; infinite ends are allowed.
    coverage : float, default=0.9
        Intended share of targets inside their intervals, in (0, 1).
    forgetting : str or Forgetting, default="cumulative"
        Which rows count in the means.
    arrival : array-like of shape (n_rows,), default=None
        Arrival times of the rows, if something counts time.
    sample_weight : array-like of shape (n_rows,), default=None
        Scoring weights.
    record_every : int, str or timedelta, default=None
        Distance of the checkpoints, as for the evaluators.

    Returns
    -------
    scores : IntervalScores
        Coverage, mean width and interval score along the stream.

    Raises
    ------
    ValueError
        If lengths differ, an end is missing, or a lower end is above the upper one; the message
        names the row.

    References
    ----------
    R. L. Winkler. A decision-theoretic approach to interval estimation. Journal of the American
    Statistical Association 67, 1972.

    T. Gneiting and A. E. Raftery. Strictly proper scoring rules, prediction, and estimation.
    Journal of the American Statistical Association 102, 2007, section 6.2.

    Examples
    --------
    >>> from skstream import interval_scores
    >>> scores = interval_scores([1.0, 2.0, 5.0], [0.0, 1.0, 2.0], [2.0, 3.0, 4.0], coverage=0.8)
    >>> scores.scores
    {'coverage': 0.66..., 'mean_width': 2.0, 'interval_score': 5.33...}
    """
    if not is_real(coverage) or not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage must be a number in (0, 1). Got {coverage!r} instead.")
    n = len(np.asarray(y_true))
    y = as_floats("y_true", y_true, n)
    ends = {"lower": as_floats("lower", lower, n), "upper": as_floats("upper", upper, n)}
    low, high = ends.values()
    for name, end in ends.items():
        if np.isnan(end).any():
            raise ValueError(f"{name}[{int(np.isnan(end).argmax())}] is missing (NaN).")
    if (low > high).any():
        at = int((low > high).argmax())
        raise ValueError(f"Row {at} has the interval from {low[at]:g} to {high[at]:g}.")
    width = high - low
    outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    finite = np.isfinite(width)
    rows = {
        "coverage": np.where(np.isnan(y), np.nan, (outside == 0.0).astype(np.float64)),
        "mean_width": np.where(finite, width, np.nan),
        "interval_score": np.where(finite, width + 2.0 / (1.0 - coverage) * outside, np.nan),
    }
    if not (finite & ~np.isnan(y)).any():
        raise ValueError("No row has a target and an interval with finite ends: nothing to score.")
    curves = {}
    for name, values in rows.items():
        # A mean of values that are not negative is a mean absolute error.
        scored = score_predictions(
            np.where(np.isnan(y), np.nan, values),
            {name: np.zeros(n)},
            metrics="mae",
            forgetting=forgetting,
            arrival=arrival,
            sample_weight=sample_weight,
            record_every=record_every,
        )
        curves[name] = scored.curve(name)[:, 0]
    return IntervalScores(
        target_coverage=float(coverage),
        checkpoints=scored.checkpoints,
        times=scored.times,
        curves=curves,
        n_infinite=int(np.count_nonzero(~finite)),
        n_unlabelled=int(np.count_nonzero(np.isnan(y))),
        forgetting=scored.forgetting_names[0],
    )
