"""Settings of a delayed run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skstream.engine.changing_features import Features
from skstream.evaluation.delayed._clock import LabelTimes


@dataclass(frozen=True, kw_only=True)
class DelaySettings:
    """Settings of a delayed run, in addition to the common settings.

    Attributes
    ----------
    n_bins : int
        Bins between arrival and label.
    reduce : str or callable
        How the answers of a bin are reduced to one.
    label_times : LabelTimes or None
        How label times follow from the arrivals, if the stream does not give them.
    previous_label : {"newest", "known_at_arrival"}
        Which label the persistent baseline repeats.
    features : callable or None
        ``features(rows, times)`` where features change while a row waits.
    max_pending : int or None
        Most rows that may wait in a live run.
    """

    n_bins: int
    reduce: str | Callable[..., Any]
    label_times: LabelTimes | None
    previous_label: str
    features: Features | None = None
    max_pending: int | None = None
