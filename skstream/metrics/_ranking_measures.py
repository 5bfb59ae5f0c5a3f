"""Measures of rankings that have a name: any scores serve, probabilities or decision values."""

from functools import partial

import numpy as np

from skstream.metrics._formulas import Formula, Sums, ratio
from skstream.metrics._measure import Measure
from skstream.metrics._rows import Floats

# Every class is ranked on its own, and against every other one: their number is limited.
_MOST_CLASSES, _MOST_CLASSES_IN_PAIRS = 128, 32


def mean_of_classes(sums: Sums, kind: str) -> Floats:
    """Mean of a measure over the classes; NaN where one of them, or all others, have no row."""
    mean: Floats = sums.table(kind).mean(axis=0)
    return mean


def auc_weighted(sums: Sums) -> Floats:
    """Mean over the classes that have rows, by the weight of these rows."""
    areas, label = sums.table("auc"), sums.table("label")
    if len(areas) == 1:
        return mean_of_classes(sums, "auc")
    return ratio(np.where(label > 0.0, label * areas, 0.0).sum(axis=0), sums["rows"])


def auc_ovo(sums: Sums) -> Floats:
    """Mean over all pairs of classes that have rows (Hand and Till, 2001)."""
    areas = sums.table("auc_of_pairs")
    known = ~np.isnan(areas)
    return ratio(np.where(known, areas, 0.0).sum(axis=0), known.sum(axis=0, dtype=np.float64))


def of_one_class(sums: Sums, kind: str, place: int) -> Floats:
    """Value of one class, against the rest."""
    value: Floats = sums.table(kind)[place].copy()
    return value


def ranking_of_class(kind: str, name: str, code: int, n_classes: int) -> Measure:
    """Measure of a ranking of one class, such as the AUC of "UP" against the rest."""
    series, place = kind, code
    if n_classes <= 2:
        place = 0
        if kind == "average_precision" and code == 0:  # the areas of both classes are equal
            series = "average_precision_of_first"
    return _ranking(name, series, formula=partial(of_one_class, kind=series, place=place))


def _ranking(
    name: str,
    *series: str,
    formula: Formula | None = None,
    higher_is_better: bool | None = True,
    max_classes: int = _MOST_CLASSES,
) -> Measure:
    return Measure(
        name=name,
        formula=formula or partial(mean_of_classes, kind=series[0]),
        series=frozenset(series),
        needs="scores",
        higher_is_better=higher_is_better,
        bounds=(0.0, 1.0),
        max_classes=max_classes,
    )


#: Of more than two classes `auc`, `auc_weighted` and `average_precision` rank each against the
#: rest, `auc_ovo` against each other one. A bound is how far a value may be from the truth, where
#: the rows are too many to be remembered one by one; it does not show how good the model is.
RANKINGS = {
    measure.name: measure
    for measure in (
        _ranking("auc", "auc"),
        _ranking("auc_weighted", "auc", "label", formula=auc_weighted),
        _ranking("auc_ovo", "auc_of_pairs", formula=auc_ovo, max_classes=_MOST_CLASSES_IN_PAIRS),
        _ranking("average_precision", "average_precision"),
        _ranking("auc_bound", "auc_bound", higher_is_better=None),
        _ranking("average_precision_bound", "average_precision_bound", higher_is_better=None),
    )
}
