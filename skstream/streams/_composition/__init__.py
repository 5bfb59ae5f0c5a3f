"""Composition: streams in, stream out; public as names of `skstream.streams`."""

from skstream.streams._composition._base import knows_drifts, origin_of, sources_of
from skstream.streams._composition._concat import concat
from skstream.streams._composition._cut import FirstRows, first, skip
from skstream.streams._composition._delay import with_delay
from skstream.streams._composition._imbalance import with_imbalance
from skstream.streams._composition._join import join
from skstream.streams._composition._label_noise import with_label_noise
from skstream.streams._composition._recurring import recurring

__all__ = [
    "FirstRows",
    "concat",
    "first",
    "join",
    "knows_drifts",
    "origin_of",
    "recurring",
    "skip",
    "sources_of",
    "with_delay",
    "with_imbalance",
    "with_label_noise",
]
