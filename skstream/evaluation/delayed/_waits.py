"""Counts of rows by what happened to their labels, and costs of polling."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

import numpy as np

from skstream.evaluation.delayed._clock import shown_duration

MICROSECOND = timedelta(microseconds=1)
_ALWAYS_SHOWN = ("n_labelled", "n_pending")


@dataclass(frozen=True, kw_only=True, repr=False)
class Waits:
    """Counts and costs of an evaluation under delayed labels.

    Attributes
    ----------
    n_bins : int
        Bins between arrival and label.
    n_labelled : int
        Rows whose label came.
    n_pending : int
        Rows that still wait; neither learnt nor scored.
    n_never : int
        Rows known to get no label: asked once, neither learnt nor scored.
    n_unanswered : int
        Labelled rows that were asked before the models had learnt enough; unscored.
    n_dropped : int
        Rows of a live run dropped because too many waited.
    n_relabelled : int
        Labels of live rows that had one, where they are counted.
    n_refused : int
        Rows of a live run that a model could not answer, and that were skipped.
    n_polls : int
        Periodic answers given, by every model.
    poll_costs : dict of str to ndarray of shape (n_points,)
        ``n_labels`` (labels so far) and, at these points, ``NC`` (periodic answers within the
        last 100 events), ``NB`` (periodic answers in memory) and ``NR`` (periodic answers per
        labelled row).
    delays : dict of str to (float or datetime.timedelta)
        ``mean``, ``median`` (to a thousandth of its size) and ``max`` of the time from arrival
        to label of the labelled rows: numbers, or timedeltas where the times are datetimes; NaN
        where no label came.
    """

    n_bins: int
    n_labelled: int
    n_pending: int
    n_never: int
    n_unanswered: int
    n_dropped: int
    n_relabelled: int
    n_refused: int
    n_polls: int
    poll_costs: dict[str, np.ndarray]
    delays: dict[str, float | timedelta]

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{name}={count:,}"
            for name, count in vars(self).items()
            if name.startswith("n_") and name != "n_bins" and (count or name in _ALWAYS_SHOWN)
        )
        return f"Waits({counts}, delay: {self.delays_as_text()}; see delays, poll_costs)"

    def delays_as_text(self) -> str:
        """Mean, median and longest delay, in words."""
        return ", ".join(f"{name} {shown_duration(one)}" for name, one in self.delays.items())

    def plain(self) -> dict[str, Any]:
        """Everything but `poll_costs` as plain data, for files."""
        plain = {name: value for name, value in vars(self).items() if name != "poll_costs"}
        plain["delays"] = {
            name: {"microseconds": one // MICROSECOND} if isinstance(one, timedelta) else one
            for name, one in self.delays.items()
        }
        return plain

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any], poll_costs: dict[str, np.ndarray]) -> Self:
        """Make the counts from the data that `plain` returned."""
        delays = {
            name: timedelta(**one) if isinstance(one, dict) else one
            for name, one in plain["delays"].items()
        }
        # Files of earlier versions do not count refused rows: there were none.
        return cls(**{"n_refused": 0, **plain, "delays": delays}, poll_costs=poll_costs)
