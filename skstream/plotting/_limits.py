"""Limits of the axis of values: they leave out outliers, and values that are not possible."""

from collections.abc import Sequence

import numpy as np

from skstream.metrics import Measure

MARGIN = 0.08
#: Share of the checkpoints whose values vary much, because of few rows, and do not set the scale.
UNSETTLED = 0.02
#: Share of a curve's values that make up its typical range.
TYPICAL = (5.0, 95.0)
#: A curve this many times further from the best possible value than the naive guess, or than the
#: best curve, is outside the limits: on its scale the other curves would look the same.
WORTH_SEEING, WORTH_SEEING_WITHOUT_GUESS = 10.0, 1e5
#: Extremes that are further away than this many typical ranges are outside the limits.
OUTLYING = 2.0


def settled(curve: np.ndarray, unsettled: float) -> np.ndarray:
    """Return the finite values without the first ones, which vary much because of few rows."""
    values = np.asarray(curve, dtype=np.float64)
    later = values[int(len(values) * unsettled) :].ravel()
    finite: np.ndarray = later[np.isfinite(later)]
    return finite


def value_limits(
    curves: Sequence[np.ndarray],
    facts: Measure,
    naive: np.ndarray | None = None,
    *,
    unsettled: float = UNSETTLED,
) -> tuple[float, float] | None:
    """Choose the limits of the axis of values.

    Parameters
    ----------
    curves : sequence of ndarray of shape (n_checkpoints,) or (n_checkpoints, n_folds)
        Values of the models; NaN and infinite ones do not count.
    facts : Measure
        The measure.
    naive : ndarray of shape (n_checkpoints,), default=None
        Values of the best naive guess, which are always within the limits.
    unsettled : float, default=0.02
        Share of the first values that do not set the scale.

    Returns
    -------
    limits : tuple of two float or None
        Lowest and highest value shown, not beyond the bounds of the measure; None if no curve
        has a value.
    """
    least, most = facts.bounds

    def possible(curve: np.ndarray) -> np.ndarray:
        # A score given to a failed model may lie outside the bounds.
        values = settled(curve, unsettled)
        inside: np.ndarray = values[(values >= least) & (values <= most)]
        return inside

    shown = [values for values in map(possible, curves) if len(values)]
    guess = np.empty(0) if naive is None else possible(naive)
    if not shown and not len(guess):
        return None
    if np.isfinite(facts.bounds).all():
        low, high = _range([*shown, guess] if len(guess) else shown)
    else:
        low, high = _range_worth_seeing(shown, guess, facts)
    margin = MARGIN * (high - low) or 0.05 * abs(high) or 0.05
    # Without a little room, the edge would cover half of a line along the upper bound.
    return max(low - margin, least), min(high + margin, most + 0.25 * margin)


def _range(values: Sequence[np.ndarray]) -> tuple[float, float]:
    return min(float(v.min()) for v in values), max(float(v.max()) for v in values)


def _range_worth_seeing(
    shown: Sequence[np.ndarray], guess: np.ndarray, facts: Measure
) -> tuple[float, float]:
    """Range of the values of an unbounded measure, without curves that diverge."""
    least, most = facts.bounds
    best = most if facts.higher_is_better else least
    if facts.higher_is_better is None or not np.isfinite(best):
        return _range_without_outliers([*shown, guess] if len(guess) else shown)
    # From here on values are distances from the best possible one: less is better.
    models = [np.abs(values - best) for values in shown]
    guesses = [np.abs(guess - best)] if len(guess) else []
    middle = [float(np.median(one)) for one in (*models, *guesses)]
    if guesses or facts.baseline_is_zero:
        naive = middle[-1] if guesses else abs(best)
        limit = WORTH_SEEING * max(min(middle), naive)
    else:
        limit = WORTH_SEEING_WITHOUT_GUESS * min(middle)
    limit = limit or np.inf
    seen = [one[one <= limit] for one in (*models, *guesses) if np.median(one) <= limit]
    nearest, furthest = _range(seen)
    typical = max(float(np.percentile(one, TYPICAL[1])) for one in seen)
    if furthest > OUTLYING * typical > 0:
        furthest = (1 + 2 * MARGIN) * typical
    if facts.higher_is_better:
        return best - furthest, best - nearest
    return best + nearest, best + furthest


def _range_without_outliers(values: Sequence[np.ndarray]) -> tuple[float, float]:
    """Range of all values; of the typical values where some are far outside."""
    low, high = _range(values)
    ends = np.array([np.percentile(one, TYPICAL) for one in values])
    inner_low, inner_high = float(ends[:, 0].min()), float(ends[:, 1].max())
    span = inner_high - inner_low
    if span > 0:
        low = low if inner_low - low <= OUTLYING * span else inner_low - span
        high = high if high - inner_high <= OUTLYING * span else inner_high + span
    return low, high
