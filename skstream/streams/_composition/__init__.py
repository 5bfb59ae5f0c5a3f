"""Composition: streams in, stream out; public as names of `skstream.streams`."""

from skstream.streams._composition._base import knows_drifts, origin_of, sources_of
from skstream.streams._composition._delay import with_delay
from skstream.streams._composition._imbalance import with_imbalance
from skstream.streams._composition._join import join_streams
from skstream.streams._composition._label_noise import with_label_noise
from skstream.streams._composition._runs import (
    FirstRows,
    concat,
    drop_rows,
    recurring,
    take_rows,
)

__all__ = [
    "FirstRows",
    "concat",
    "drop_rows",
    "join_streams",
    "knows_drifts",
    "origin_of",
    "recurring",
    "sources_of",
    "take_rows",
    "with_delay",
    "with_imbalance",
    "with_label_noise",
]
