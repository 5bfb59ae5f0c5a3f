"""Which forgetting mechanism follows the true error of a model best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.core.forgetting import as_forgetting
from skstream.core.result.result import EvaluationResult
from skstream.forgetting import Forgetting
from skstream.logs._predictions import result_of_predictions
from skstream.stats._report import plural
from skstream.utils._optional import optional_import

# As noisy as windows of about 100, 200, 500, 1,000, 2,000, 5,000 and 10,000 rows, in turn.
_SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000)
_FACTORS = (0.98, 0.99, 0.996, 0.998, 0.999, 0.9996, 0.9998)
_ROUNDING = 1e-9
CANDIDATES = (
    "cumulative",
    *(f"window:{size}" for size in _SIZES),
    *(f"fading:{factor}" for factor in _FACTORS),
)


@dataclass(frozen=True)
class ForgettingSelection:
    """How closely estimates under several forgetting mechanisms follow the true error.

    Attributes
    ----------
    metric : str
        The measure that was estimated.
    forgetting : dict of str to Forgetting
        The candidates by name.
    rmse : dict of str to float
        Root of the mean squared difference of estimate and true value, over the compared rows.
    bias : dict of str to float
        Mean of estimate minus true value, over the same rows.
    estimates : dict of str to ndarray of shape (n_rows,) or (n_streams, n_rows)
        The estimate after every row.
    true_error : ndarray of the same shape
        The true value at every row; NaN if it is not known.
    n_compared : int
        Rows with a true value and estimates, of all streams.
    """

    metric: str
    forgetting: dict[str, Forgetting]
    rmse: dict[str, float]
    bias: dict[str, float]
    estimates: dict[str, NDArray[np.float64]]
    true_error: NDArray[np.float64]
    n_compared: int

    @property
    def best(self) -> str:
        """Name of the mechanism with the smallest `rmse`; ties go to the first."""
        return min(self.rmse, key=lambda name: self.rmse[name])

    @property
    def best_forgetting(self) -> Forgetting:
        """The mechanism with the smallest `rmse`, for ``forgetting=`` of an evaluator."""
        return self.forgetting[self.best]

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per mechanism, the best first.

        Returns
        -------
        pandas.DataFrame
            Columns ``forgetting``, ``rmse`` and ``bias``.
        """
        pandas = optional_import("pandas", "ForgettingSelection.to_frame")
        return pandas.DataFrame(
            [(name, self.rmse[name], self.bias[name]) for name in self._ranked()],
            columns=["forgetting", "rmse", "bias"],
        )

    def __repr__(self) -> str:
        """Show the best mechanism, and how far the others are off."""
        width = max(len(name) for name in self.rmse)
        lines = [
            f"  {name:{width}}  {self.rmse[name]:z.4f}  {self.bias[name]:+z.4f}"
            for name in self._ranked()
        ]
        return "\n".join(
            [
                f"{self.best} follows the true {self.metric} best, of "
                f"{plural(len(self.rmse), 'mechanism')} over {plural(self.n_compared, 'row')}.",
                f"  {'':{width}}  rmse    bias",
                *lines,
                "Next: .best_forgetting, .to_frame(), .estimates",
            ]
        )

    def _ranked(self) -> list[str]:
        return sorted(self.rmse, key=lambda name: self.rmse[name])


def select_forgetting(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    true_error: ArrayLike | float | Callable[[NDArray[np.intp]], ArrayLike],
    *,
    forgetting: Any = None,
    metric: str = "error",
) -> ForgettingSelection:
    """Compare how closely prequential estimates follow a known true error.

    On a generated stream, the true error of a model is known at every row, or can be measured on
    many fresh rows. The mechanism with the closest estimate there is a good choice for real streams
    that change as fast.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_streams, n_rows)
        Labels or targets in stream order; for several streams, such as one generated with several
        seeds, the deviations are averaged.
    y_pred : array-like of the same shape
        The model's predictions, each made before training on its row (`prequential_predict`).
    true_error : float, array-like or callable
        The probability that the prediction of each row is wrong (the expected value of `metric`
        over rows like it): one number, or one per row, of shape (n_rows,) or (n_streams, n_rows),
        or a function ``f(rows)`` that returns them for an array of row positions. NaN: not known at
        this row, which is not compared.
    forgetting : Forgetting, str, list or dict, default=None
        The candidates, in any form that evaluators take. None: all history; windows of 100 to
        10,000 rows; and the fading factors with the same noise as each window. Add "adwin" for 0/1
        losses.
    metric : str, default="error"
        The estimated measure; any one with a known true value, such as "mae".

    Returns
    -------
    ForgettingSelection
        The best mechanism, all deviations, and the estimates row by row.

    Raises
    ------
    ValueError
        If shapes differ or are those of a column, a true value is infinite or out of the range of
        `metric`, or there is no row to compare.

    See Also
    --------
    skstream.forgetting.equivalent_window : The window with the same noise as a fading factor.
    skstream.PrequentialEvaluator : Evaluates with the selected mechanism.

    Notes
    -----
    The estimate after a row (including it) is compared with the true value at that row. Noise in
    true values measured on other rows adds equally to all deviations. On one stream, the best of
    similar candidates is a matter of chance: use several streams.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues. On evaluating stream learning algorithms. Machine
    Learning 90, 2013, section 3.

    Examples
    --------
    The error of a model is 20 %, and after a change 40 %:

    >>> import numpy as np
    >>> from skstream.studies import select_forgetting
    >>> true_error = np.repeat([0.2, 0.4], 5000)
    >>> y_true = np.zeros(10_000, dtype=int)
    >>> y_pred = np.random.default_rng(0).random(10_000) < true_error
    >>> selection = select_forgetting(
    ...     y_true, y_pred.astype(int), true_error, forgetting=["cumulative", "window:500"]
    ... )
    >>> selection.best_forgetting
    SlidingWindow(window_size=500)
    """
    if not isinstance(metric, str):
        raise ValueError(f"metric must be the name of one measure. Got {metric!r} instead.")
    mechanisms = as_forgetting(CANDIDATES if forgetting is None else forgetting)
    shapes = {
        name: _shape(given, name) for name, given in {"y_true": y_true, "y_pred": y_pred}.items()
    }
    shape = shapes["y_true"]
    if shape != shapes["y_pred"]:
        raise ValueError(
            f"y_true and y_pred must have the same shape. Got {shape} and {shapes['y_pred']}."
        )
    true = _true_values(true_error, shape)
    if len(shape) == 2:
        results = [
            _rescored(y, p, metric, mechanisms, where=f"Stream {number}: ")
            for number, (y, p) in enumerate(
                zip(np.asarray(y_true), np.asarray(y_pred), strict=True)
            )
        ]
    else:
        results = [_rescored(y_true, y_pred, metric, mechanisms)]
    curves = {
        name: [result.values["model"][name][metric][:, 0] for result in results]
        for name in mechanisms
    }
    estimates = {name: np.array(columns).reshape(shape) for name, columns in curves.items()}
    _check_bounds(true, metric, results[0].measures[metric].bounds)
    compared = np.isfinite(true) & np.all([np.isfinite(e) for e in estimates.values()], axis=0)
    if not compared.any():
        raise ValueError(
            f"There is no row at which the true {metric} and all estimates are known: "
            f"true_error is known at {int(np.isfinite(true).sum())} of {true.size} rows. Give "
            "more rows or more true values."
        )
    off: Mapping[str, NDArray[np.float64]] = {
        name: estimate[compared] - true[compared] for name, estimate in estimates.items()
    }
    return ForgettingSelection(
        metric=metric,
        forgetting=mechanisms,
        rmse={name: float(np.sqrt(np.mean(d**2))) for name, d in off.items()},
        bias={name: float(np.mean(d)) for name, d in off.items()},
        estimates=estimates,
        true_error=true,
        n_compared=int(compared.sum()),
    )


def _shape(given: Any, name: str) -> tuple[int, ...]:
    """Return the shape of labels of one stream, or of several of one length."""
    try:
        shape: tuple[int, ...] = np.shape(given)
    except ValueError:
        raise ValueError(
            f"{name} holds streams of different lengths. Give an array of shape (n_rows,) or "
            "(n_streams, n_rows); call once for each stream if their lengths differ."
        ) from None
    if len(shape) not in (1, 2) or not shape[0]:
        raise ValueError(f"{name} must have shape (n_rows,) or (n_streams, n_rows). Got {shape}.")
    if len(shape) == 2 and shape[1] == 1 < shape[0]:
        raise ValueError(
            f"{name} is a column: its shape {shape} means {shape[0]:,} streams of one row each. "
            f"Pass one stream as np.ravel({name})."
        )
    return shape


def _rescored(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    metric: str,
    mechanisms: Mapping[str, Forgetting],
    *,
    where: str = "",
) -> EvaluationResult:
    """Score one stream after every row, as an evaluator does."""
    try:
        return result_of_predictions(
            y_true, y_pred, [metric], forgetting=mechanisms, record_every=1
        )
    except ValueError as error:
        # Only errors of labels belong to a stream; those of the measure do to all.
        if where and str(error).startswith("y_"):
            raise ValueError(f"{where}{error}") from error
        raise


def _check_bounds(true: NDArray[np.float64], metric: str, bounds: tuple[float, float]) -> None:
    """Refuse true values that the measure cannot have (a hair beyond them is rounding)."""
    low, high = bounds
    beyond = (true < low - _ROUNDING) | (true > high + _ROUNDING)
    if beyond.any():
        at = tuple(np.argwhere(beyond)[0].tolist())
        stream = f" of stream {at[0]}" if len(at) == 2 else ""
        raise ValueError(
            f"true_error is {true[at]:g} at row {at[-1]}{stream}, but {metric} lies between "
            f"{low:g} and {high:g}."
        )


def _true_values(given: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the true value at every row, NaN if it is not known."""
    if callable(given):
        given = given(np.arange(shape[-1]))
    true = np.array(given, dtype=np.float64)
    if true.ndim and true.shape not in (shape, shape[-1:]):
        raise ValueError(
            f"true_error has shape {true.shape}, but there are predictions of shape {shape}. Give "
            "one number, or one per row; arrays of several streams have one stream per row."
        )
    true = np.array(np.broadcast_to(true, shape))
    if np.isinf(true).any():
        row = int(np.argwhere(np.isinf(true))[0, -1])
        raise ValueError(
            f"true_error is infinite at row {row}. It must be a finite number, or NaN if it is not "
            "known."
        )
    return true
