"""The elementary series, from whose running means measures are computed: one table of records."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skstream.core.measures.columns import Column, OfColumn
from skstream.core.measures.proper import BrierLoss, LogLoss
from skstream.core.measures.rankings import Ranking
from skstream.core.measures.rows import Array, Floats, ScoredRows
from skstream.utils._label_space import NO_LABEL, is_given

#: A kind of series: its name, what is summed of a column of its own, or what is ranked.
KindOf: TypeAlias = str | OfColumn | Ranking


class Series(NamedTuple):
    """An elementary series: its kind and, for kinds of several series, the class or other code."""

    kind: KindOf
    code: int = NO_LABEL


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of elementary series.

    Attributes
    ----------
    values : callable, or None
        ``values(rows, code)``: its values in the rows of one model, before weighting. None: no
        sum of values; the mechanisms of forgetting carry it in another form.
    of_labels : bool
        Whether it depends on labels, weights and baselines alone, not on the answers.
    by_class : bool
        Whether there is one series for each class.
    baseline : {"previous", "majority", "inclusive"} or None
        The baseline that it needs: a column of the rows that depends on the labels before each
        row, also across the border of two parts of a stream.
    """

    values: Callable[[ScoredRows, int], Array] | None
    of_labels: bool = False
    by_class: bool = False
    baseline: Literal["previous", "majority", "inclusive"] | None = None

    def codes(self, n_classes: int) -> Sequence[int]:
        """Return the codes of its series."""
        return range(n_classes) if self.by_class else (NO_LABEL,)


def values_of(rows: ScoredRows, series: Series) -> Array:
    """Weighted values of a series: bool where all weights are 1 and it is 0/1."""
    kind = series.kind
    function = (KINDS[kind] if isinstance(kind, str) else kind).values  # called for single rows
    assert function is not None, "this kind has no values to sum"
    values = function(rows, series.code)
    return values if rows.weight is None else rows.weight * values


def _known(baseline: Array | None) -> tuple[Array, NDArray[np.bool_] | None]:
    """Answers of a baseline, and a mask of the rows that have one; None: all rows."""
    assert baseline is not None, "the caller sets the baselines that its series need"
    known = is_given(baseline)
    return baseline, None if known.all() else known


def _baseline_wrong(rows: ScoredRows, baseline: Array | None) -> Array:
    answers, known = _known(baseline)
    wrong: Array = rows.y != answers
    return wrong if known is None else wrong & known


def _wrong_beside(rows: ScoredRows, baseline: Array | None) -> Array:
    _, known = _known(baseline)
    # The same object if all is known: its sums are then computed only once.
    return rows.wrong if known is None else rows.wrong & known


def _hit(rows: ScoredRows, code: int) -> Array:
    hit: Array = (rows.y == code) & ~rows.wrong
    return hit


def _relative_error(rows: ScoredRows, _: int) -> Array:
    # A target of 0 counts as the smallest number, as in scikit-learn.
    size = np.maximum(np.abs(rows.y), np.finfo(np.float64).eps)
    error: Array = np.abs(rows.y - rows.p) / size
    return error


def _squared_error(rows: ScoredRows, _: int) -> Array:
    error: Array = rows.y - rows.p
    return error * error


def _persistent_error(rows: ScoredRows, _: int) -> Array:
    forecasts, known = _known(rows.previous)
    error = rows.y - forecasts
    return error * error if known is None else np.where(known, error * error, 0.0)


def _error_beside_persistent(rows: ScoredRows, code: int) -> Array:
    _, known = _known(rows.previous)
    error = _squared_error(rows, code)
    return error if known is None else np.where(known, error, 0.0)


def _ones(rows: ScoredRows, _: int) -> NDArray[np.bool_]:
    return np.ones(len(rows), dtype=bool)


def _own_weight(rows: ScoredRows, code: int) -> Array | Floats:
    # Times its weight, as every value: the square. Forgetting squares its own weights, too.
    return _ones(rows, code) if rows.weight is None else rows.weight


#: All kinds by name. A row without a baseline's answer is left out of the errors of that baseline,
#: and of those of the model beside it.
KINDS: dict[str, Kind | OfColumn | Ranking] = {
    "rows": Kind(values=_ones, of_labels=True),
    "squared_weights": Kind(values=_own_weight, of_labels=True),
    "wrong": Kind(values=lambda rows, _: rows.wrong),
    "label": Kind(values=lambda rows, code: rows.y == code, of_labels=True, by_class=True),
    "answer": Kind(values=lambda rows, code: rows.p == code, by_class=True),
    "hit": Kind(values=_hit, by_class=True),
    "persistent_wrong": Kind(
        values=lambda rows, _: _baseline_wrong(rows, rows.previous),
        of_labels=True,
        baseline="previous",
    ),
    "wrong_beside_persistent": Kind(
        values=lambda rows, _: _wrong_beside(rows, rows.previous), baseline="previous"
    ),
    "majority_wrong": Kind(
        values=lambda rows, _: _baseline_wrong(rows, rows.majority),
        of_labels=True,
        baseline="majority",
    ),
    "wrong_beside_majority": Kind(
        values=lambda rows, _: _wrong_beside(rows, rows.majority), baseline="majority"
    ),
    "inclusive_wrong": Kind(
        values=lambda rows, _: _baseline_wrong(rows, rows.inclusive),
        of_labels=True,
        baseline="inclusive",
    ),
    "absolute_error": Kind(values=lambda rows, _: np.abs(rows.y - rows.p)),
    "relative_error": Kind(values=_relative_error),
    "error_above": Kind(values=lambda rows, _: np.maximum(rows.y - rows.p, 0.0)),
    "error_below": Kind(values=lambda rows, _: np.maximum(rows.p - rows.y, 0.0)),
    "target_at_most": Kind(values=lambda rows, _: rows.y <= rows.p),
    "squared_error": Kind(values=_squared_error),
    "target_spread": Kind(values=None, of_labels=True),
    "persistent_error": Kind(values=_persistent_error, of_labels=True, baseline="previous"),
    "error_beside_persistent": Kind(values=_error_beside_persistent, baseline="previous"),
    "auc": Ranking("auc"),
    "auc_of_pairs": Ranking("auc", pairs=True),
    "auc_bound": Ranking("auc_bound"),
    "average_precision": Ranking("average_precision"),
    "average_precision_of_first": Ranking("average_precision", first=True),
    "average_precision_bound": Ranking("average_precision_bound"),
    "log_loss": OfColumn(LogLoss()),
    "brier": OfColumn(BrierLoss()),
}


def kind_of(kind: KindOf) -> Kind | OfColumn | Ranking:
    """Return what is known of a kind of series."""
    return KINDS[kind] if isinstance(kind, str) else kind


def baselines_of(kinds: Iterable[KindOf]) -> set[str]:
    """Baselines that some kinds of series need."""
    return {baseline for kind in kinds if (baseline := kind_of(kind).baseline) is not None}


def columns_of_kinds(kinds: Iterable[KindOf]) -> list[Column]:
    """Columns of scores that some kinds of series are sums of, each once."""
    columns = [one.column for one in map(kind_of, kinds) if isinstance(one, OfColumn)]
    return list(dict.fromkeys(columns))


def expand(kinds: Iterable[KindOf], n_classes: int) -> list[Series]:
    """All series of the given kinds."""
    return [
        Series(kind, code)
        for kind in sorted(kinds, key=str)
        for code in kind_of(kind).codes(n_classes)
    ]
