"""What became of the rows that waited for their labels."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
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
    n_polls : int
        Periodic answers given, by every model.
    poll_costs : dict of str to ndarray of shape (n_points,)
        ``n_labels`` (labels so far) and, at these points, ``NC`` (periodic answers within the
        last 100 events), ``NB`` (periodic answers in memory) and ``NR`` (periodic answers per
        labelled row).
    delays : dict of str to float
        ``mean``, ``median`` (to a thousandth of its size) and ``max`` of the time from arrival
        to label of the labelled rows; in microseconds where the times are datetimes.
    """

    n_bins: int
    n_labelled: int
    n_pending: int
    n_never: int
    n_unanswered: int
    n_dropped: int
    n_relabelled: int
    n_polls: int
    poll_costs: dict[str, np.ndarray]
    delays: dict[str, float]
