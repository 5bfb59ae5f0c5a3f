"""Scores of single classes and their averages, as scikit-learn defines them."""

import numpy as np

from skstream.metrics import _formulas as formulas
from skstream.metrics._formulas import Formula, Sums
from skstream.metrics._rows import Floats


def class_fbeta(sums: Sums, beta: float) -> Floats:
    """F-beta of every class; NaN for a class that is neither among the labels nor the answers."""
    weight = beta**2
    hit, label, answer = (sums.table(kind) for kind in ("hit", "label", "answer"))
    return formulas.ratio((1.0 + weight) * hit, weight * label + answer, sums["rows"])


def class_jaccard(sums: Sums) -> Floats:
    """Rows of a class that were answered right among those labelled or answered so."""
    hit, label, answer = (sums.table(kind) for kind in ("hit", "label", "answer"))
    return formulas.ratio(hit, label + answer - hit, sums["rows"])


def class_specificity(sums: Sums) -> Floats:
    """Rows of other classes that were not answered as this one; NaN without such rows."""
    hit, label, answer = (sums.table(kind) for kind in ("hit", "label", "answer"))
    others = sums["rows"] - label
    return formulas.ratio(others - (answer - hit), others, sums["rows"])


def class_share_of_answers(sums: Sums) -> Floats:
    """Share of the answers that are of each class."""
    return formulas.ratio(sums.table("answer"), sums["rows"])


def average(
    sums: Sums,
    of_class: Formula,
    how: str,
    undefined: float,
    codes: tuple[int, ...] | None = None,
) -> Floats:
    """Average over the classes among the labels or the answers, or over given ones.

    Parameters
    ----------
    sums : Sums
        Sums of labels, answers and hits.
    of_class : callable
        Formula of a value for every class.
    how : {"macro", "weighted"}
        Whether classes count equally, or by their number of labelled rows.
    undefined : float
        Value in place of 0/0; NaN leaves the class out.
    codes : tuple of int, default=None
        The classes, whether there are rows of them or not; None: those seen.

    Returns
    -------
    ndarray of shape (n_checkpoints,)
        NaN where nothing was scored.
    """
    values, label = sums.value(of_class), sums.table("label")
    if codes is None:
        seen = ~np.isnan(sums.value(formulas.class_f1))
    else:
        values, label = values[list(codes)], label[list(codes)]
        seen = np.broadcast_to(sums["rows"] > 0.0, values.shape)
    values = np.where(seen & np.isnan(values), undefined, values)
    plain = formulas.mean_over_seen(values)
    if how == "macro":
        return plain
    weights = np.where(np.isnan(values), 0.0, label)
    total = weights.sum(axis=0)
    weighted = formulas.ratio(np.where(weights > 0.0, weights * values, 0.0).sum(axis=0), total)
    return np.where(total > 0.0, weighted, plain)


def of_one_class(sums: Sums, of_class: Formula, code: int, undefined: float) -> Floats:
    """Value of one class, with `undefined` for 0/0; NaN where nothing was scored."""
    values: Floats = sums.value(of_class)[code]
    return np.where(np.isnan(values) & (sums["rows"] > 0.0), undefined, values)


def micro_of(
    sums: Sums, name: str, beta: float, codes: tuple[int, ...], undefined: float
) -> Floats:
    """Score of some classes taken together; `undefined` for 0/0, NaN where nothing was scored."""
    hit, label, answer = (
        sums.table(kind)[list(codes)].sum(axis=0) for kind in ("hit", "label", "answer")
    )
    weight = beta**2
    part, whole = {
        "precision_score": (hit, answer),
        "recall_score": (hit, label),
        "jaccard_score": (hit, label + answer - hit),
    }.get(name, ((1.0 + weight) * hit, weight * label + answer))
    values = formulas.ratio(part, whole, sums["rows"])
    return np.where(np.isnan(values) & (sums["rows"] > 0.0), undefined, values)


def micro_jaccard(sums: Sums) -> Floats:
    """Jaccard of all classes taken together: every wrong row counts for two of them."""
    rows, wrong = sums["rows"], sums["wrong"]
    return formulas.ratio(rows - wrong, rows + wrong)


def weight_right(sums: Sums) -> Floats:
    """Weight of the rows that were answered right."""
    return _where_scored(sums, sums["rows"] - sums["wrong"])


def weight_wrong(sums: Sums) -> Floats:
    """Weight of the rows that were answered wrong."""
    return _where_scored(sums, sums["wrong"])


def adjusted_balanced_accuracy(sums: Sums) -> Floats:
    """Mean accuracy on the classes, rescaled so that chance is 0; NaN with one class."""
    chance = formulas.ratio(
        np.ones_like(sums["rows"]), (~np.isnan(sums.value(formulas.class_recall))).sum(axis=0)
    )
    return formulas.ratio(sums.value(formulas.arithmetic_accuracy) - chance, 1.0 - chance)


def finite_r2(sums: Sums) -> Floats:
    """R2 where it is defined; of equal targets 1 if all are met, else 0."""
    values = sums.value(formulas.r2)
    met = np.where(sums["squared_error"] == 0.0, 1.0, 0.0)
    # One row is too few for scikit-learn. Its weight is 1 unless the user gave weights.
    return np.where(np.isnan(values) & (sums["rows"] > 1.0), met, values)


def scaled(sums: Sums, formula: Formula, factor: float) -> Floats:
    """Multiple of the value of a formula."""
    return factor * sums.value(formula)


def negative(sums: Sums, formula: Formula) -> Floats:
    """Minus the value of a formula."""
    return scaled(sums, formula, -1.0)


def _where_scored(sums: Sums, values: Floats) -> Floats:
    return np.where(sums["rows"] > 0.0, values, np.nan)
