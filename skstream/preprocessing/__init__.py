"""Transformers that learn along the stream."""

from skstream.preprocessing._categories import StreamOneHotEncoder, StreamOrdinalEncoder
from skstream.preprocessing._datetimes import DatetimeFeatures
from skstream.preprocessing._imputer import StreamImputer
from skstream.preprocessing._keyed import LagFeatures, RollingFeatures
from skstream.preprocessing._preprocessor import make_stream_preprocessor
from skstream.preprocessing._target_encoder import TargetEncoder

__all__ = [
    "DatetimeFeatures",
    "LagFeatures",
    "RollingFeatures",
    "StreamImputer",
    "StreamOneHotEncoder",
    "StreamOrdinalEncoder",
    "TargetEncoder",
    "make_stream_preprocessor",
]
