"""Measures that users write: functions of labels and answers, called at the checkpoints."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from skstream.core.measures.measure import Measure
from skstream.core.measures.rows import Array, Floats, ScoredRows
from skstream.core.measures.series import KINDS
from skstream.utils._checkpoints import MAX_CHECKPOINTS
from skstream.utils._label_space import UNANSWERED
from skstream.utils._rows import joined_weights
from skstream.utils._warnings import warn

#: With so few rows, or so few calls, the time is short and there is no warning.
FEW_ROWS, FEW_CALLS = 10_000, 64


class ScoredTape:
    """The scored rows that some mechanism still needs, in the pieces in which they came."""

    def __init__(self) -> None:
        self.first = 0
        self.pieces: list[ScoredRows] = []

    @property
    def stop(self) -> int:
        """Number of the row that comes next."""
        return self.first + sum(map(len, self.pieces))

    def append(self, rows: ScoredRows) -> None:
        """Keep more rows."""
        self.pieces = [*self.pieces, ScoredRows(rows.y, rows.answers, rows.weight).copy()]

    def of_models(self, numbers: Sequence[int]) -> Self:
        """Return the rows with the answers of some of the models."""
        copied = copy(self)
        copied.pieces = [piece.models(list(numbers)) for piece in self.pieces]
        return copied

    def forget(self, oldest: int) -> None:
        """Drop the pieces that end before row `oldest`."""
        pieces = self.pieces
        while pieces and self.first + len(pieces[0]) <= oldest:
            self.first += len(pieces[0])
            pieces = pieces[1:]
        self.pieces = pieces

    def rows(self, start: int, stop: int) -> ScoredRows:
        """Rows from `start` to before `stop`."""
        pieces = []
        first = self.first
        for piece in self.pieces:
            pieces.append(piece[max(0, start - first) : max(0, stop - first)])
            first += len(piece)
        return ScoredRows(
            np.concatenate([piece.y for piece in pieces]),
            np.concatenate([piece.answers for piece in pieces], axis=1),
            joined_weights(*((piece.weight, len(piece)) for piece in pieces)),
        )

    def merge(self, later: Self) -> None:
        """Append the rows that followed."""
        if later.first:  # it holds enough rows, and appending would leave a gap
            self.first = self.stop + later.first
            self.pieces = []
        self.pieces = [*self.pieces, *later.pieces]

    def copy(self) -> Self:
        """Return a copy that can be changed independently."""
        return copy(self)


def warn_of_calls(metrics: Mapping[str, Measure], n_rows: int | None, record_every: Any) -> None:
    """Warn that measures without a running form are slow, on long streams.

    Parameters
    ----------
    metrics : mapping of str to Measure
        From `resolve_metrics`.
    n_rows : int or None
        Rows of the stream; None where that is not known.
    record_every : int, str, timedelta or None
        Distance of the checkpoints; None: at most 1,024 of them.
    """
    called = [name for name, measure in metrics.items() if measure.function is not None]
    if not called or (n_rows is not None and n_rows <= FEW_ROWS):
        return
    n_calls = MAX_CHECKPOINTS if record_every is None else None
    if isinstance(record_every, int) and n_rows is not None:
        n_calls = n_rows // record_every
    if n_calls is not None and n_calls < FEW_CALLS:
        return
    at = "every checkpoint" if n_calls is None else f"some {n_calls:,} checkpoints"
    warn(
        f"Measures {called} have no running form: they are called at {at}, each "
        "time on every row that the forgetting remembers, for every model and fold. That is "
        "hundreds of times slower than a measure by name or a function of scikit-learn or "
        "skstream.metrics with the usual options. Larger record_every= means fewer calls."
    )


def takes_weights(function: Callable[..., Any]) -> bool:
    """Whether a measure has a parameter ``sample_weight``."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def check_take_weights(metrics: Mapping[str, Measure]) -> None:
    """Refuse functions without a parameter ``sample_weight``, for rows that have weights."""
    for name, measure in metrics.items():
        if measure.function is not None and not takes_weights(measure.function):
            raise takes_no_weights(name)


def takes_no_weights(name: str) -> ValueError:
    """Return the error to raise for a function without a parameter ``sample_weight``."""
    return ValueError(
        f"Measure {name!r} has no sample_weight parameter, which rows with weights need, "
        "as does a fading factor. Give the function one, or use a sliding window and no "
        "weights."
    )


def call_at_checkpoints(
    name: str,
    function: Callable[..., Any],
    tape: ScoredTape,
    alpha: float,
    classes: Array | None,
    bounds: Sequence[tuple[int, int]],
    n_rows: Sequence[int],
) -> Floats:
    """Values of a user's function on what the mechanism remembers at every checkpoint.

    Parameters
    ----------
    name : str
        Name of the measure, for errors.
    function : callable
        ``function(y_true, y_pred)``, perhaps with ``sample_weight``.
    tape : ScoredTape
        All rows of one model that are needed.
    alpha : float
        What remains of a row's weight with every later row.
    classes : ndarray or None
        Labels that the codes stand for.
    bounds : sequence of (int, int)
        For each checkpoint the oldest row that counts and the number of rows scored, counted from
        the beginning of the stream.
    n_rows : sequence of int
        Rows of the stream read at the checkpoints, for errors.

    Returns
    -------
    ndarray of shape (n_checkpoints,)
        NaN where nothing was scored.
    """
    values = np.full(len(bounds), np.nan)
    for i, (start, stop) in enumerate(bounds):
        if stop > start:
            rows = tape.rows(start, stop)
            weight = rows.weight
            if alpha < 1.0:
                faded = alpha ** np.arange(len(rows) - 1, -1, -1.0)
                weight = faded if weight is None else faded * weight
            values[i] = _call(name, function, rows, weight, classes, n_rows[i])
    return values


def _answers(codes: Array, classes: Array) -> Array:
    """Codes as labels; an object array with None if some rows have no answer."""
    answers: Array = classes[codes]
    if len(codes) and codes.min() == UNANSWERED:
        answers = answers.astype(object)
        answers[codes == UNANSWERED] = None
    return answers


def _call(
    name: str,
    function: Callable[..., Any],
    rows: ScoredRows,
    weight: Floats | None,
    classes: Array | None,
    n_rows: int,
) -> float:
    y, p = (rows.y, rows.p) if classes is None else (classes[rows.y], _answers(rows.p, classes))
    if weight is not None and not takes_weights(function):
        raise takes_no_weights(name)
    try:
        value = function(y, p) if weight is None else function(y, p, sample_weight=weight)
        return float(value)
    except Exception as error:
        raise RuntimeError(
            f"Measure {name!r} failed after {n_rows} rows of the stream, on the last {len(rows)} "
            f"scored rows: {type(error).__name__}: {error}"
        ) from error


def formula_failed(name: str, error: Exception, n_rows: Sequence[int]) -> Exception:
    """Return the error to raise for a formula that raised one; it names the measure."""
    if isinstance(error, KeyError) and error.args and error.args[0] in KINDS:
        return ValueError(
            f"The formula of measure {name!r} takes sums of {error.args[0]!r}, which its 'series' "
            f"parameter does not name. Add it: Measure(..., series={{{error.args[0]!r}, ...}})."
        )
    kinds = ""
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        kinds = f". The kinds of series are {sorted(KINDS)}."
    at = f"{n_rows[0]}" if len(set(n_rows)) == 1 else f"{n_rows[0]} to {n_rows[-1]}"
    return RuntimeError(
        f"The formula of measure {name!r} failed at the checkpoints after {at} rows of the "
        f"stream: {type(error).__name__}: {error}{kinds}"
    )


def checked_values(name: str, values: Any, shape: tuple[int, ...]) -> Floats:
    """Return the values of a formula as an array; raise an error where it is of another shape."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None or array.shape != shape:
        got = "" if array is None else f" of shape {array.shape}"
        raise ValueError(
            f"The formula of measure {name!r} must return one number for every checkpoint, an "
            f"array of shape {shape}. Got {type(values).__name__}{got} instead."
        )
    return array
