"""The running sum of each forgetting mechanism."""

from skstream.forgetting import (
    AdaptiveWindow,
    FadingFactor,
    Forgetting,
    SlidingWindow,
    as_forgetting,
)
from skstream.utils._running_sums import FadedSum, RunningSum, WindowSum


def one_forgetting(forgetting: Forgetting | str, purpose: str) -> Forgetting:
    """Return the one mechanism named, or raise if sums are not defined for it."""
    mechanisms = list(as_forgetting(forgetting).values())
    if len(mechanisms) != 1:
        raise ValueError(
            f"{purpose} takes one forgetting mechanism at a time. Got {len(mechanisms)}: "
            f"{mechanisms}."
        )
    if isinstance(mechanisms[0], AdaptiveWindow):
        raise ValueError(
            f"{purpose} is not defined under AdaptiveWindow: ADWIN sets its window by the 0/1 "
            f"loss of one model, and here there are two. Use Cumulative, SlidingWindow or "
            f"FadingFactor."
        )
    if mechanisms[0].counts_time:
        raise ValueError(
            f"{purpose} counts rows, and {mechanisms[0]} counts time. Give rows, "
            'as in forgetting="window:1000".'
        )
    return mechanisms[0]


def make_running_sum(forgetting: Forgetting, power: int = 1) -> RunningSum:
    """Return the running sum that the mechanism describes, of values or of squared ones.

    The weights of squared values under forgetting are squared, too: where S is a running sum of
    weights with fair random signs, the sum of power 2 of the squared weights is the variance of S.
    """
    if isinstance(forgetting, SlidingWindow):
        return WindowSum(int(forgetting.window_size))
    if isinstance(forgetting, FadingFactor):
        return FadedSum(forgetting.factor**power)
    return FadedSum(1.0)
