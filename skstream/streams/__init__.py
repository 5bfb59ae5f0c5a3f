"""Streams: rows in time order, in chunks, from memory, from files or from generators."""

from skstream.core.rows.arrays import as_stream
from skstream.core.rows.chunk import StreamError
from skstream.core.rows.stream import Drift, Stream
from skstream.streams._arff import ARFFStream
from skstream.streams._composition._delay import with_delay
from skstream.streams._composition._imbalance import with_imbalance
from skstream.streams._composition._join import join_streams
from skstream.streams._composition._label_noise import with_label_noise
from skstream.streams._composition._runs import concat, drop_rows, recurring, take_rows
from skstream.streams._csv import CSVStream
from skstream.streams._demo import make_demo_stream
from skstream.streams._fetch import (
    fetch_airlines,
    fetch_covertype,
    fetch_electricity,
    fetch_kddcup99,
    fetch_poker,
)
from skstream.streams._generators._agrawal import Agrawal
from skstream.streams._generators._base import GeneratedStream
from skstream.streams._generators._components import Component, Phase
from skstream.streams._generators._hyperplane import RotatingHyperplane
from skstream.streams._generators._led import LED
from skstream.streams._generators._markov import MarkovLabels
from skstream.streams._generators._mixture import GaussianMixtureStream
from skstream.streams._generators._rbf import RandomRBF
from skstream.streams._generators._rules import SEA, STAGGER, Sine
from skstream.streams._generators._testbed import load_testbed
from skstream.streams._generators._tree import RandomTree
from skstream.streams._generators._waveform import Waveform
from skstream.streams._parquet import ParquetStream
from skstream.streams._permute import shuffle_rows, shuffle_within_class
from skstream.streams._profile import label_profile
from skstream.streams._svmlight import SVMLightStream
from skstream.streams._transactions import make_transactions

__all__ = [
    "LED",
    "SEA",
    "STAGGER",
    "ARFFStream",
    "Agrawal",
    "CSVStream",
    "Component",
    "Drift",
    "GaussianMixtureStream",
    "GeneratedStream",
    "MarkovLabels",
    "ParquetStream",
    "Phase",
    "RandomRBF",
    "RandomTree",
    "RotatingHyperplane",
    "SVMLightStream",
    "Sine",
    "Stream",
    "StreamError",
    "Waveform",
    "as_stream",
    "concat",
    "drop_rows",
    "fetch_airlines",
    "fetch_covertype",
    "fetch_electricity",
    "fetch_kddcup99",
    "fetch_poker",
    "join_streams",
    "label_profile",
    "load_testbed",
    "make_demo_stream",
    "make_transactions",
    "recurring",
    "shuffle_rows",
    "shuffle_within_class",
    "take_rows",
    "with_delay",
    "with_imbalance",
    "with_label_noise",
]
