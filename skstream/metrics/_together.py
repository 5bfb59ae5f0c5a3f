"""Measures of several models that read the same rows."""

from collections.abc import Sequence

from skstream.metrics._columns import Array, Floats
from skstream.metrics._running import RunningMeasures

# Rows of all models read together, few enough for the processor's cache.
_PIECE = 32_768


def update_together(
    measures: Sequence[RunningMeasures],
    y: Array,
    answers: Sequence[Array],
    weight: Floats | None = None,
    previous: Sequence[Array | None] | None = None,
    first: int | None = None,
) -> None:
    """Let the measures of several models read the same rows, a piece at a time.

    The same as an update of each, and faster where they share sums (see `SharedSums`): what the
    first has computed for a piece is then reused by the others.

    Parameters
    ----------
    measures : sequence of RunningMeasures
        One per model.
    y : ndarray of shape (n,)
        Labels, as in `RunningMeasures.update`.
    answers : sequence of ndarray of shape (n,)
        One per model.
    weight : ndarray of shape (n,), default=None
        Scoring weights.
    previous : sequence of (ndarray of shape (n,) or None), default=None
        What the persistent baseline answers, per model; None: the label before, for all.
    first : int, default=None
        Number of the first of these rows. Measures that have read some of them already, because
        a function of the user failed in others, read only what is left. None: all read all.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.forgetting import as_forgetting
    >>> from skstream.metrics import RunningMeasures, resolve_metrics, update_together
    >>> metrics = resolve_metrics("accuracy", classes=[0, 1])
    >>> first, second = (
    ...     RunningMeasures(metrics, as_forgetting("cumulative"), classes=[0, 1]) for _ in range(2)
    ... )
    >>> y = np.array([0, 1, 1, 0])
    >>> update_together([first, second], y, [y, 1 - y])
    >>> first.final(), second.final()
    ({'cumulative': {'accuracy': 1.0}}, {'cumulative': {'accuracy': 0.0}})
    """
    pasts = [None] * len(measures) if previous is None else previous
    for begin in range(0, len(y), _PIECE):
        part = slice(begin, begin + _PIECE)
        weights = None if weight is None else weight[part]
        for one, p, past in zip(measures, answers, pasts, strict=True):
            done = 0 if first is None else one.n_rows - first - begin
            if done <= 0:
                one.update(y[part], p[part], weights, None if past is None else past[part])
            elif begin + done < min(len(y), part.stop):
                left = slice(begin + done, part.stop)
                more = None if weight is None else weight[left]
                one.update(y[left], p[left], more, None if past is None else past[left])
