"""Measures of regressors that predict a quantile of the target."""

import math
from dataclasses import dataclass

from skstream.core.measures.formulas import MeanOf, Sums, ratio
from skstream.core.measures.measure import Measure, named
from skstream.core.measures.registry import REGRESSION, offer_measure
from skstream.core.measures.rows import Floats
from skstream.utils._choices import check_share, written


@dataclass(frozen=True)
class _Pinball:
    """Formula of the mean pinball loss."""

    quantile: float

    def __call__(self, sums: Sums) -> Floats:
        above, below = sums["error_above"], sums["error_below"]
        return ratio(self.quantile * above + (1.0 - self.quantile) * below, sums["rows"])


def pinball(quantile: float = 0.5) -> Measure:
    """Mean pinball loss, minimised by predicting this quantile of each row's target.

    A target above the prediction costs `quantile` times the difference, one below it ``1 -
    quantile`` times.

    Parameters
    ----------
    quantile : float, default=0.5
        In [0, 1]. With 0.5 the loss is half the mean absolute error.

    Returns
    -------
    Measure
        Called ``"pinball"``, or with another quantile, for example, ``"pinball:0.9"``. Evaluators
        accept both names.

    Raises
    ------
    ValueError
        If `quantile` is not in [0, 1].

    Notes
    -----
    The value is that of `sklearn.metrics.mean_pinball_loss`. The share of targets that are at most
    the prediction, which should be near `quantile`, is the measure ``"quantile_coverage"``: that of
    an upper model minus that of a lower one is the coverage of the interval between them.

    References
    ----------
    R. Koenker and G. Bassett. Regression quantiles. Econometrica 46, 1978.

    Examples
    --------
    >>> from skstream.metrics import pinball
    >>> pinball(0.9).name
    'pinball:0.9'
    """
    check_share(quantile, "The 'quantile' parameter of pinball")
    return named(
        "pinball" if quantile == 0.5 else f"pinball:{written(float(quantile))}",
        _Pinball(float(quantile)),
        "error_above",
        "error_below",
        needs="targets",
        higher_is_better=False,
        bounds=(0.0, math.inf),
    )


offer_measure(
    pinball(),
    "pinball loss of a quantile (0.5, or the number after a colon)",
    pinball,
    float,
    among=REGRESSION,
)
offer_measure(
    named(
        "quantile_coverage",
        MeanOf("target_at_most"),
        "target_at_most",
        needs="targets",
        higher_is_better=None,
        bounds=(0.0, 1.0),
    ),
    "share of targets not above the prediction",
    among=REGRESSION,
)
