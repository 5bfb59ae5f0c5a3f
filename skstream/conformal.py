"""Prediction intervals of a regressor, whose coverage is kept along the stream."""

from bisect import bisect_left, insort
from collections import deque
from math import ceil, inf
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstream._meta import MetaEstimator, OrderedScore
from skstream.base import check_rows, check_targets, check_weight, learner
from skstream.utils._rows import own_rows
from skstream.utils._sklearn import Interval, rows_of
from skstream.utils._validation import unfitted_copy

__all__ = ["OnlineConformalRegressor"]

Floats = NDArray[np.float64]
#: A level may be that much off by rounding: ``25 * (1 - 0.44)`` is 14, and as floats a little more.
_ROUNDING = 1e-10


class OnlineConformalRegressor(OrderedScore, RegressorMixin, MetaEstimator):
    """Regressor with prediction intervals that cover a given share of the targets.

    Right before the inner model is trained on a row, it predicts that row. The width of the
    interval around the prediction is a quantile of the earlier absolute errors; the level of that
    quantile is adjusted after every row, up if the interval missed the target and down if it did
    not. In the long run, the share of targets inside is therefore close to `coverage` on any
    stream, even one that drifts.

    Parameters
    ----------
    estimator : regressor
        Model with ``partial_fit``.
    coverage : float, default=0.9
        Wanted share of targets inside their intervals, in (0, 1).
    step_size : float, default=0.01
        How far the level moves after a row: gamma of Gibbs and Candès. 0: the level is constant,
        and the intervals are those of plain conformal prediction with a window.
    window_size : int, default=1000
        Number of rows whose errors are kept.

    Attributes
    ----------
    estimator_ : regressor
        The fitted model inside.
    alpha_ : float
        Level of the next interval: the share of targets that it may miss. At 0 or below the
        interval is infinite; at 1 or above it contains the prediction alone.
    errors_ : ndarray of shape (n_kept,)
        Absolute errors of the predictions for the latest training rows, oldest first.
    intervals_ : ndarray of shape (n_rows, 2)
        Lower and upper ends of the intervals of the rows of the last call of ``partial_fit`` or
        ``fit``, each from before training on its row; infinite if no errors were known.
    n_rows_learnt_ : int
        Number of training rows; rows of weight 0 do not count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    See Also
    --------
    skstream.evaluation.interval_scores : Coverage, width and score of intervals along a stream.
    skstream.calibration.PrequentialCalibrator : Probabilities calibrated along the stream.

    Notes
    -----
    With n errors kept and the level a, the half-width is the k-th smallest error, k being
    ``ceil((n + 1) * (1 - a))``, and infinite if k is more than n. After a row the level is
    ``a + step_size * (1 - coverage - missed)``. An interval at a level of 1 or above counts as
    missed, whatever the target. Over T rows the share missed differs from ``1 - coverage`` by at
    most ``(max(coverage, 1 - coverage) + step_size) / (step_size * T)``, for any targets (Gibbs
    and Candès 2021, proposition 4.1). This bound holds for the whole stream: within a shorter
    period, or for one kind of rows, intervals may miss more.

    The rows of a call are predicted and used for training one by one, so that nothing depends on
    the division into calls. Rows of weight 0 are skipped and change nothing; other weights are
    passed to the model, and the error counts once. If labels are delayed, the error is that of the
    prediction right before training, when later rows are known; for intervals at the arrival, use
    `predict_interval`.

    References
    ----------
    I. Gibbs and E. Candès. Adaptive conformal inference under distribution shift. NeurIPS 2021,
    section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDRegressor
    >>> from skstream.conformal import OnlineConformalRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> noise = np.where(np.arange(2000) < 1000, 1.0, 3.0)  # the targets become noisier
    >>> y = X @ [1.0, 2.0] + noise * rng.normal(size=2000)
    >>> model = OnlineConformalRegressor(SGDRegressor(), coverage=0.9, step_size=0.05).fit(X, y)
    >>> lower, upper = model.intervals_.T
    >>> inside = (lower <= y) & (y <= upper)
    >>> print(round(inside[:1000].mean(), 1), round(inside[1000:].mean(), 1))
    0.9 0.9
    >>> model.predict_interval(X[:2]).shape
    (2, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "coverage": [Interval(Real, 0, 1, closed="neither")],
        "step_size": [Interval(Real, 0, None, closed="left")],
        "window_size": [Interval(Integral, 1, None, closed="left")],
    }
    _asks_row_by_row = False

    _kind = "regressor"

    alpha_: float
    errors_: Floats
    intervals_: Floats
    n_rows_learnt_: int

    def __init__(
        self,
        estimator: Any,
        *,
        coverage: float = 0.9,
        step_size: float = 0.01,
        window_size: int = 1000,
    ):
        self.estimator = estimator
        self.coverage = coverage
        self.step_size = step_size
        self.window_size = window_size

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "OnlineConformalRegressor":
        """Train on rows in their order.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : array-like of shape (n_rows,)
            Their targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. Rows of weight 0 are skipped.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        TypeError
            If the inner model is not a regressor with ``partial_fit`` and ``predict``.
        ValueError
            If a target is not finite, or the rows have a different number of columns than before.
        """
        self._validate_params()
        first = not self.__sklearn_is_fitted__()
        if first:
            self._check_estimator()
        X = check_rows(self, X, reset=first)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        y = check_targets(self, y)
        check_consistent_length(X, y)
        weight = check_weight(sample_weight, len(y))
        model = unfitted_copy(self.estimator) if first else self.estimator_
        learn, kept = learner(model), _Errors([] if first else self.errors_, self.window_size)
        alpha = 1.0 - self.coverage if first else self.alpha_
        intervals = np.tile([-inf, inf], (len(y), 1))
        n_learnt = 0 if first else self.n_rows_learnt_
        for place, target in enumerate(y.tolist()):
            row, at = np.array([place]), slice(place, place + 1)
            answer = None
            if n_learnt:
                answer = float(model.predict(own_rows(rows_of(X, row)))[0])
                width = kept.quantile(alpha)
                intervals[place] = answer - width, answer + width
            if weight is not None and not weight[place]:
                continue
            learn(
                own_rows(rows_of(X, row)),
                y[at].copy(),
                None if weight is None else weight[at],
                None,
            )
            if answer is not None:
                error = abs(target - answer)
                if kept:  # before the first error there is no interval
                    missed = alpha >= 1.0 - _ROUNDING or error > width
                    alpha += self.step_size * (1.0 - self.coverage - missed)
                kept.add(error)
            n_learnt += 1
        if n_learnt:
            self.estimator_, self.alpha_, self.errors_ = model, float(alpha), kept.array()
            self.n_rows_learnt_ = n_learnt
        self.intervals_ = intervals
        return self

    def predict(self, X: Any) -> Floats:
        """Predict targets, as the inner model does.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Targets.
        """
        check_is_fitted(self)
        return self.estimator_.predict(check_rows(self, X, reset=False))

    def predict_interval(self, X: Any) -> Floats:
        """Predict an interval for every row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Lower and upper ends.
        """
        answers = np.asarray(self.predict(X), dtype=np.float64)
        width = _Errors(self.errors_, self.window_size).quantile(self.alpha_)
        return np.column_stack([answers - width, answers + width])

    def __sklearn_tags__(self) -> Any:
        return self._tags_as_inside(super().__sklearn_tags__())


class _Errors:
    """The newest errors, in their order and sorted."""

    def __init__(self, errors: Any, window_size: int) -> None:
        self._newest = deque(np.asarray(errors, dtype=np.float64).tolist()[-window_size:])
        self._sorted = sorted(self._newest)
        self._window_size = window_size

    def __len__(self) -> int:
        return len(self._newest)

    def add(self, error: float) -> None:
        """Add the newest error."""
        if len(self._newest) == self._window_size:
            oldest = self._newest.popleft()
            del self._sorted[bisect_left(self._sorted, oldest)]
        self._newest.append(error)
        insort(self._sorted, error)

    def quantile(self, alpha: float) -> float:
        """Return the half-width of an interval at a level."""
        n = len(self._sorted)
        rank = ceil((n + 1) * (1.0 - alpha - _ROUNDING))
        if rank <= 0:
            return 0.0
        return self._sorted[rank - 1] if rank <= n else inf

    def array(self) -> Floats:
        """Return the errors, the oldest first."""
        return np.array(self._newest, dtype=np.float64)
