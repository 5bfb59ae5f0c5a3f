"""Skill of probabilities beside class frequencies: so far, and after the previous label."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from skstream.core.measures.formulas import Sums, ratio
from skstream.core.measures.measure import named
from skstream.core.measures.registry import offer_measure
from skstream.core.measures.rows import Array, Floats, ScoredRows
from skstream.core.measures.series import Column, KindOf, OfColumn, brier_losses, log_losses
from skstream.utils._labels import NO_LABEL
from skstream.utils._running_sums import running_sums

#: Rows of each class that both baselines have seen before the first one.
SMOOTHING = 1.0
# Numbers in a table of rows and classes.
_TABLE_NUMBERS = 1 << 18


@dataclass(frozen=True)
class Skill:
    """One minus the mean loss of a model over that of a baseline.

    Attributes
    ----------
    loss, baseline : str or OfColumn
        Series of the losses.
    """

    loss: KindOf
    baseline: KindOf

    def __call__(self, sums: Sums) -> Floats:
        """Return the skill at every checkpoint."""
        return 1.0 - ratio(sums[self.loss], sums[self.baseline], sums["rows"])


@dataclass(frozen=True)
class PriorLosses(Column):
    """Losses of the class frequencies among the labels before: P(i) = (N_i + s) / (N + k s)."""

    of_labels: ClassVar[bool] = True
    follows: ClassVar[bool] = True

    def start(self, n_classes: int) -> Floats:
        """Return the weight of every class."""
        return np.zeros(n_classes)

    def read(self, rows: ScoredRows, state: Floats) -> tuple[tuple[Floats, Floats], Floats]:
        """Return log losses and Brier scores."""
        losses = _Losses(len(rows))
        for some in _pieces(len(rows), len(state)):
            sums = running_sums(state, _of_class(rows[some], len(state)))
            state = sums[-1].copy()
            losses.set(some, rows.y[some], _frequencies(sums[:-1]))
        return losses.both, state


class _Transitions(NamedTuple):
    """What is known of the labels: weights of classes, and of classes after each class."""

    counts: Floats
    after: Floats
    last: int


@dataclass(frozen=True)
class TransitionLosses(Column):
    """Losses of the frequencies after the previous label: P(i | j) = (N_ji + s) / (N_j + k s).

    A transition is one between rows that are labelled one after the other. While no label is
    known, the class frequencies.
    """

    of_labels: ClassVar[bool] = True
    follows: ClassVar[bool] = True
    baseline: ClassVar[Literal["previous"] | None] = "previous"

    def start(self, n_classes: int) -> _Transitions:
        """Return no transitions."""
        return _Transitions(np.zeros(n_classes), np.zeros((n_classes, n_classes)), NO_LABEL)

    def read(
        self, rows: ScoredRows, state: _Transitions
    ) -> tuple[tuple[Floats, Floats], _Transitions]:
        """Return log losses and Brier scores."""
        losses = _Losses(len(rows))
        for some in _pieces(len(rows), len(state.counts)):
            sums, state = self._sums(rows[some], state)
            losses.set(some, rows.y[some], _frequencies(sums))
        return losses.both, state

    def _sums(self, rows: ScoredRows, state: _Transitions) -> tuple[Floats, _Transitions]:
        """Return what was known before each row of the class that it follows."""
        counts, after, last = state
        assert rows.previous is not None, "the caller sets the baselines that its series need"
        asked, learnt = rows.previous, np.concatenate(([last], rows.y[:-1]))
        steps = _of_class(rows, len(counts))
        known, after = np.empty(steps.shape), after.copy()
        for code in np.union1d(asked, learnt).tolist():
            asks = np.flatnonzero(asked == code)
            if code == NO_LABEL:
                known[asks] = running_sums(counts, steps)[asks]
                continue
            learns = np.flatnonzero(learnt == code)
            sums = running_sums(after[code], steps[learns])
            known[asks] = sums[np.searchsorted(learns, asks)]
            after[code] = sums[-1]
        counts = running_sums(counts, steps)[-1].copy()
        return known, _Transitions(counts, after, int(rows.y[-1]))


class _Losses:
    """Log losses and Brier scores of rows, a piece after the other."""

    def __init__(self, n_rows: int) -> None:
        self.both = np.empty(n_rows), np.empty(n_rows)

    def set(self, rows: slice, y: Array, frequencies: Floats) -> None:
        """Set the losses of some rows."""
        self.both[0][rows] = log_losses(y, frequencies)
        self.both[1][rows] = brier_losses(y, frequencies)


def _pieces(n_rows: int, n_classes: int) -> Iterator[slice]:
    size = max(1, _TABLE_NUMBERS // n_classes)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _of_class(rows: ScoredRows, n_classes: int) -> Floats:
    """Weight of each row in the column of its class."""
    table = np.zeros((len(rows), n_classes))
    table[np.arange(len(rows)), rows.y] = 1.0 if rows.weight is None else rows.weight
    return table


def _frequencies(sums: Floats) -> Floats:
    """Smoothed frequencies in the form of scores: of two classes those of the second alone."""
    n_classes = sums.shape[1]
    if n_classes == 1:
        return np.zeros((len(sums), 1))
    total = sums.sum(axis=1, keepdims=True) + n_classes * SMOOTHING
    frequencies: Floats = (sums + SMOOTHING) / total
    return frequencies[:, 1:] if n_classes == 2 else frequencies


for _name, _beside, _baseline in (
    ("skill", "the shares of the classes so far", PriorLosses()),
    ("skill_temporal", "the shares of what followed the previous label so far", TransitionLosses()),
):
    for _output, (_short, _loss) in enumerate((("log", "log_loss"), ("brier", "brier"))):
        _series = _loss, OfColumn(_baseline, output=_output)
        offer_measure(
            named(
                f"{_short}_{_name}",
                Skill(*_series),
                *_series,
                needs="probabilities",
                baseline_is_zero=True,
                bounds=(-inf, 1.0),
            ),
            f"{_loss} below that of {_beside}",
        )
