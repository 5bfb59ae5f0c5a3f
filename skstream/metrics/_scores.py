"""Values of measures from rows of the stream: selects scored rows and previous labels."""

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skstream.forgetting import AdaptiveWindow, FadingFactor, Forgetting, SlidingWindow
from skstream.metrics._adaptive_sums import AdaptiveSums
from skstream.metrics._checkpoints import Values
from skstream.metrics._columns import NEEDS_PREVIOUS, NOTHING, Array
from skstream.metrics._cumulative_sums import CumulativeSums, FadingSums
from skstream.metrics._formulas import Sums
from skstream.metrics._registry import Measure
from skstream.metrics._rows import NOT_GIVEN, NOT_GIVEN_TARGET, Rows
from skstream.metrics._sliding_sums import SlidingSums
from skstream.metrics._sums import Integers, Labelled, RunningSums, SharedSums, SumsByKind
from skstream.metrics._user import ScoredTape, call_at_checkpoints


class Scores:
    """The running state of the measures of one model.

    Parameters
    ----------
    metrics : mapping of str to Measure
        What is measured.
    forgetting : mapping of str to Forgetting
        Over what.
    classes : ndarray of shape (n_classes,), or None
        Labels of the codes; None for regression.
    shared : SharedSums, default=None
        Sums that other models' measures over the same rows have formed already.
    """

    def __init__(
        self,
        metrics: Mapping[str, Measure],
        forgetting: Mapping[str, Forgetting],
        classes: Array | None,
        shared: SharedSums | None = None,
    ) -> None:
        self.metrics = metrics
        self.classes = classes
        kinds = frozenset().union(*(measure.needs for measure in metrics.values()))
        n_classes = 0 if classes is None else len(classes)
        self.sums = {name: make_sums(f, kinds, n_classes) for name, f in forgetting.items()}
        for name, sums in self.sums.items():
            if shared is not None:
                sums.share(shared, name)
        self.needs_previous = not kinds.isdisjoint(NEEDS_PREVIOUS)
        self.last_label: float = np.nan if classes is None else NOTHING
        self.n_scored = 0
        keeps_rows = any(measure.function for measure in metrics.values())
        self.tape = ScoredTape() if keeps_rows else None

    def advance(self, rows: Rows, places: Integers, n_rows: NDArray[np.int64]) -> Values:
        """Read rows and return the measures after the first ``places[i]`` of them.

        `n_rows` says how many rows of the stream that makes, for errors.
        """
        labelled, ends = self._labelled(rows, places)
        sums = {name: s.advance(labelled, ends) for name, s in self.sums.items()}
        if self.tape is not None:
            scored = labelled.columns(None, None)
            self.tape.append(scored.y, scored.p, scored.weight)
        values = {name: self._values(name, s, ends, n_rows) for name, s in sums.items()}
        self.n_scored += labelled.n_scored
        if self.tape is not None:
            now = np.array([self.n_scored])
            self.tape.forget(min(int(s.oldest(now)[-1]) for s in self.sums.values()))
        return values

    def _labelled(self, rows: Rows, places: Integers) -> tuple[Labelled, Integers]:
        """Rows with a label and a positive weight, and the scored rows before each place."""
        known = has_value(rows.y)
        if rows.weight is not None:
            known &= rows.weight > 0.0
        answered = has_value(rows.p)
        everything = bool(known.all())
        if not everything:
            rows = rows[np.flatnonzero(known)]
        previous = self._previous(rows) if self.needs_previous else None
        scored, ends = None, places
        if not (everything and answered.all()):
            counts = np.concatenate(([0], np.cumsum(known & answered)))
            ends = counts[places]
            if counts[-1] < len(rows):
                scored = np.flatnonzero(answered[known])
        return Labelled(rows.y, rows.p, rows.weight, previous, scored), ends

    def _previous(self, rows: Rows) -> Array:
        previous = np.empty_like(rows.y)
        if len(previous):
            previous[0] = self.last_label
            previous[1:] = rows.y[:-1]
            self.last_label = rows.y[-1].item()
        if rows.previous is not None:
            not_given = NOT_GIVEN_TARGET if self.classes is None else NOT_GIVEN
            return np.where(rows.previous == not_given, previous, rows.previous)
        return previous

    def _values(
        self, name: str, sums: Iterable[SumsByKind], ends: Integers, n_rows: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        if not len(ends):
            return {metric: np.empty(0) for metric in self.metrics}
        # Of many classes, the sums are those at some ends after the other.
        formulas = [m.formula for m in self.metrics.values() if m.formula is not None]
        parts = [[some.value(formula) for formula in formulas] for some in map(Sums, sums)]
        of_formula = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        by_formula = dict(zip(formulas, of_formula, strict=True))
        values = {}
        for metric, measure in self.metrics.items():
            if measure.formula is not None:
                values[metric] = by_formula[measure.formula]
            elif measure.function is not None and self.tape is not None:
                values[metric] = call_at_checkpoints(
                    metric,
                    measure.function,
                    self.tape,
                    self.sums[name],
                    self.classes,
                    ends + self.n_scored,
                    n_rows.tolist(),
                )
        return values

    def merge(self, later: Self) -> None:
        """Append the state of the rows that followed."""
        for name, sums in self.sums.items():
            sums.merge(later.sums[name])
        if has_value(np.asarray([later.last_label])).all():
            self.last_label = later.last_label
        self.n_scored += later.n_scored
        if self.tape is not None and later.tape is not None:
            self.tape.merge(later.tape)

    def copy(self) -> Self:
        """Return a copy that can be advanced independently."""
        twin = copy(self)
        twin.sums = {name: sums.copy() for name, sums in self.sums.items()}
        twin.tape = None if self.tape is None else self.tape.copy()
        return twin


def has_value(column: Array) -> NDArray[np.bool_]:
    """Where there is a code, or a target."""
    return ~np.isnan(column) if column.dtype.kind == "f" else column != NOTHING


def make_sums(forgetting: Forgetting, kinds: frozenset[str], n_classes: int) -> RunningSums:
    """Running sums of elementary series under a mechanism."""
    if isinstance(forgetting, SlidingWindow):
        return SlidingSums(kinds, n_classes, int(forgetting.window_size))
    if isinstance(forgetting, FadingFactor) and forgetting.fading_factor < 1.0:
        return FadingSums(kinds, n_classes, float(forgetting.fading_factor))
    if isinstance(forgetting, AdaptiveWindow):
        return AdaptiveSums(kinds, n_classes, forgetting.make_detector())
    return CumulativeSums(kinds, n_classes)
