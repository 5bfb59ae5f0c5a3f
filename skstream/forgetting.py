"""Forgetting mechanisms: how much past values count in a running mean."""

from skstream.core.forgetting import (
    AdaptiveWindow,
    Cumulative,
    FadingFactor,
    Forgetting,
    SlidingWindow,
    TumblingWindow,
    equivalent_window,
    hoeffding_sample_size,
    window_half_width,
)

__all__ = [
    "AdaptiveWindow",
    "Cumulative",
    "FadingFactor",
    "Forgetting",
    "SlidingWindow",
    "TumblingWindow",
    "equivalent_window",
    "hoeffding_sample_size",
    "window_half_width",
]
