"""Measures as formulas over sums of elementary series.

Every kappa is one minus a ratio of errors, so that the denominators of its two means cancel: a
model with exactly the baseline's errors gets exactly 0, and a nearly perfect baseline causes no
loss of digits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from skstream.core.measures.rows import Floats
from skstream.core.measures.series import KindOf
from skstream.core.measures.sums import SumsByKind

# A sum below this part of its scale counts as 0: one row of weight 1e-16 among rows of weight 1
# does not count as an error of a baseline.
NEGLIGIBLE = 1e-16
# The number of unanswered rows is computed as a difference; below this share it is rounding error.
_UNANSWERED_LOST = 1e-12


class Sums:
    """Sums of elementary series at some checkpoints; results that measures share are kept.

    Parameters
    ----------
    by_kind : dict of str to sequence of ndarray
        Shape (n_checkpoints,) each; one array, or one for each class, perhaps as one table.
    """

    def __init__(self, by_kind: SumsByKind) -> None:
        self._by_kind = by_kind
        self._values: dict[Callable[[Sums], Floats], Floats] = {}

    def __getitem__(self, kind: KindOf) -> Floats:
        """Sums of a kind with one series."""
        (sums,) = self._by_kind[kind]
        return sums

    def of_classes(self, kind: KindOf) -> Sequence[Floats] | Floats:
        """Sums of a kind with one series for each class."""
        return self._by_kind[kind]

    def table(self, kind: KindOf) -> Floats:
        """Return the sums of all classes, shape (n_classes, n_checkpoints)."""
        return np.asarray(self._by_kind[kind])

    def value(self, formula: "Formula") -> Floats:
        """Return the result of a formula, computed once. Do not write into it."""
        if formula not in self._values:
            self._values[formula] = formula(self)
        return self._values[formula]


Formula: TypeAlias = Callable[[Sums], Floats]


def ratio(
    numerator: Floats, denominator: Floats, rows: Floats | None = None, power: int = 1
) -> Floats:
    """Quotient; NaN where the denominator is negligible beside ``rows ** power``."""
    with np.errstate(all="ignore"):
        quotient: Floats = numerator / denominator
    highest = 0.0 if rows is None else float(rows.max()) ** power * NEGLIGIBLE
    if denominator.min() <= highest:
        scale = 0.0 if rows is None else rows**power * NEGLIGIBLE
        negligible = denominator <= scale  # of several classes, or of all rows
        quotient[np.broadcast_to(negligible, quotient.shape)] = np.nan
    return quotient


def _finite(values: Floats) -> Floats:
    """Replace what overflowed by NaN."""
    values[np.isinf(values)] = np.nan
    return values


@dataclass(frozen=True)
class MeanOf:
    """Mean of a series."""

    series: KindOf

    def __call__(self, sums: Sums) -> Floats:
        """Return the mean at every checkpoint."""
        return ratio(sums[self.series], sums["rows"])


error = MeanOf("wrong")
log_loss, brier = MeanOf("log_loss"), MeanOf("brier")
mae, mape, mse = MeanOf("absolute_error"), MeanOf("relative_error"), MeanOf("squared_error")


def accuracy(sums: Sums) -> Floats:
    rows = sums["rows"]
    return ratio(rows - sums["wrong"], rows)


def disagreement(first: Sequence[Floats] | Floats, second: Sequence[Floats] | Floats) -> Floats:
    """Sum of ``first[c] * second[d]`` over all c != d; no subtraction, so no lost digits."""
    if isinstance(first, np.ndarray):
        return (_others(first) * second).sum(axis=0)
    if len(first) == 2:
        total = first[0] * second[1]
        total += first[1] * second[0]
        return total
    total = np.zeros_like(first[0])
    for order in (range(len(first)), range(len(first) - 1, -1, -1)):
        passed = np.zeros_like(first[0])
        for code in order:
            total += second[code] * passed
            passed += first[code]
    return total


def chance_disagreement(sums: Sums) -> Floats:
    """One minus the accuracy of chance, times the square of the number of rows."""
    by_class = disagreement(sums.of_classes("label"), sums.of_classes("answer"))
    return by_class + sums["rows"] * sums.value(_unanswered)


def _unanswered(sums: Sums) -> Floats:
    """Rows that were asked and got no answer: no label agrees with that."""
    rows = sums["rows"]
    without = rows - sums.table("answer").sum(axis=0)
    return np.where(without > _UNANSWERED_LOST * rows, without, 0.0)


def _chance_agreement(sums: Sums) -> Floats:
    """Accuracy of chance, times the square of the number of rows."""
    return (sums.table("label") * sums.table("answer")).sum(axis=0)


def chance_accuracy(sums: Sums) -> Floats:
    """Accuracy to expect of random answers in the shares of the model's answers."""
    return ratio(sums.value(_chance_agreement), sums["rows"] ** 2)


def kappa(sums: Sums) -> Floats:
    rows = sums["rows"]
    return 1.0 - ratio(sums["wrong"] * rows, sums.value(chance_disagreement), rows, 2)


def kappa_se(sums: Sums) -> Floats:
    rows, wrong = sums["rows"], sums["wrong"]
    deviation = np.sqrt(ratio(np.maximum(rows - wrong, 0.0) * wrong, rows**3))
    deviation *= np.sqrt(_redundancy(sums))
    return deviation * ratio(rows * rows, sums.value(chance_disagreement), rows, 2)


def _redundancy(sums: Sums) -> Floats:
    """Sum of weights over the effective number of rows: 1 where all weigh 1 and none fade.

    The effective number is the squared sum of the weights over the sum of their squares.
    """
    return ratio(sums["squared_weights"], sums["rows"])


def kappa_z(sums: Sums) -> Floats:
    """Kappa over the null standard error of Fleiss, Cohen & Everitt."""
    rows = sums["rows"]
    with np.errstate(all="ignore"):
        label, answer = sums.table("label") / rows, sums.table("answer") / rows
        other_labels, other_answers = _others(label), _others(answer)
        doubt = sums.value(chance_disagreement) / rows**2
        # p + p**2 - sum of r c (r + c), with q = 1 - p and the shares of the other classes: no
        # two numbers near 1 are subtracted where one class has nearly all rows.
        variance = (label * answer * (other_labels + other_answers - doubt)).sum(axis=0)
        z = sums.value(kappa) * doubt * np.sqrt(rows / _redundancy(sums) / variance)
        # Where all labels or all answers are of one class kappa is 0, whatever the others are.
        alone = np.minimum(other_labels.min(axis=0), other_answers.min(axis=0)) <= NEGLIGIBLE
    return np.where(alone | (variance <= 0.0), 0.0 * sums.value(kappa), z)


def kappa_z_cohen(sums: Sums) -> Floats:
    """Kappa over the null standard error of Cohen, which is right for balanced shares."""
    rows = sums["rows"]
    odds = ratio(sums.value(chance_disagreement), sums.value(_chance_agreement), rows, 2)
    return sums.value(kappa) * np.sqrt(rows / _redundancy(sums) * odds)


def _others(shares: Floats) -> Floats:
    """Sum of the other classes' shares, added up rather than subtracted from 1."""
    below, above = np.zeros_like(shares), np.zeros_like(shares)
    below[1:] = np.cumsum(shares[:-1], axis=0)
    above[:-1] = np.cumsum(shares[:0:-1], axis=0)[::-1]
    return below + above


def kappa_m(sums: Sums) -> Floats:
    return 1.0 - ratio(sums["wrong_beside_majority"], sums["majority_wrong"], sums["rows"])


def kappa_m_inclusive(sums: Sums) -> Floats:
    return 1.0 - ratio(sums["wrong"], sums["inclusive_wrong"], sums["rows"])


def kappa_m_hindsight(sums: Sums) -> Floats:
    label = sums.table("label")
    # Added up rather than subtracted from the rows: exactly 0 where there is one class alone.
    majority = label.argmax(axis=0)
    others = np.where(np.arange(len(label))[:, None] == majority, 0.0, label).sum(axis=0)
    return 1.0 - ratio(sums["wrong"], others, sums["rows"])


def kappa_temporal(sums: Sums) -> Floats:
    return 1.0 - ratio(sums["wrong_beside_persistent"], sums["persistent_wrong"], sums["rows"])


def kappa_plus(sums: Sums) -> Floats:
    product = np.maximum(sums.value(kappa), 0.0)
    product *= np.maximum(sums.value(kappa_temporal), 0.0)
    return np.sqrt(product, out=product)


def _class_accuracies(sums: Sums) -> Floats:
    """Accuracy on every class; NaN for a class that is not among the labels."""
    return ratio(sums.table("hit"), sums.table("label"), sums["rows"])


def mean_over_seen(values: Floats) -> Floats:
    """Mean over the classes whose value is defined; NaN where there is none."""
    defined = ~np.isnan(values)
    return ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0, dtype=float))


def arithmetic_accuracy(sums: Sums) -> Floats:
    return mean_over_seen(sums.value(_class_accuracies))


def geometric_accuracy(sums: Sums) -> Floats:
    return geometric_mean(sums.value(_class_accuracies))


def geometric_mean(of_classes: Floats) -> Floats:
    """Geometric mean over the classes whose value is defined."""
    with np.errstate(divide="ignore"):
        logarithms = np.log(np.maximum(of_classes, 0.0))
    return np.exp(mean_over_seen(logarithms))


def harmonic_accuracy(sums: Sums) -> Floats:
    with np.errstate(divide="ignore"):
        return 1.0 / mean_over_seen(1.0 / np.maximum(sums.value(_class_accuracies), 0.0))


def class_f1(sums: Sums) -> Floats:
    """F1 of every class; NaN for a class that is neither among the labels nor the answers."""
    return ratio(2.0 * sums.table("hit"), sums.table("label") + sums.table("answer"), sums["rows"])


def class_precision(sums: Sums) -> Floats:
    """Precision of every class; NaN for a class that was never the answer."""
    return ratio(sums.table("hit"), sums.table("answer"), sums["rows"])


def class_recall(sums: Sums) -> Floats:
    """Recall of every class; NaN for a class that is not among the labels."""
    return sums.value(_class_accuracies)


def class_fbeta(sums: Sums, beta: float) -> Floats:
    """F-beta of every class; NaN for a class that is neither among the labels nor the answers."""
    weight = beta**2
    hit, label, answer = (sums.table(kind) for kind in ("hit", "label", "answer"))
    return ratio((1.0 + weight) * hit, weight * label + answer, sums["rows"])


def class_jaccard(sums: Sums) -> Floats:
    """Rows of a class that were answered right among those labelled or answered so."""
    hit, label, answer = (sums.table(kind) for kind in ("hit", "label", "answer"))
    return ratio(hit, label + answer - hit, sums["rows"])


def class_specificity(sums: Sums) -> Floats:
    """Rows of other classes that were not answered as this one; NaN without such rows."""
    hit, label, answer = (sums.table(kind) for kind in ("hit", "label", "answer"))
    others = sums["rows"] - label
    return ratio(others - (answer - hit), others, sums["rows"])


def class_share_of_answers(sums: Sums) -> Floats:
    """Share of the answers that are of each class."""
    return ratio(sums.table("answer"), sums["rows"])


def of_class(sums: Sums, formula: Formula, code: int) -> Floats:
    """One class's value of a measure that every class has."""
    return sums.value(formula)[code].copy()


def macro(sums: Sums, formula: Formula) -> Floats:
    """Mean over the classes among the labels or the answers, 0 where a class has no value."""
    seen = ~np.isnan(sums.value(class_f1))
    values = sums.value(formula)
    return mean_over_seen(np.where(seen & np.isnan(values), 0.0, values))


def mcc(sums: Sums) -> Floats:
    rows, wrong = sums["rows"], sums["wrong"]
    covariance = sums.value(chance_disagreement) - rows * wrong
    label, answer = sums.of_classes("label"), sums.of_classes("answer")
    without = sums.value(_unanswered)  # as if it were one more class of answers
    answered = disagreement(answer, answer) + 2.0 * (rows - without) * without
    spread = np.sqrt(disagreement(label, label)) * np.sqrt(answered)
    correlation = ratio(covariance, spread, rows, 2)
    correlation[np.isnan(correlation) & (rows > 0.0)] = 0.0
    return np.clip(correlation, -1.0, 1.0, out=correlation)


def cmd(sums: Sums) -> Floats:
    label, hit = sums.of_classes("label"), sums.of_classes("hit")
    if len(label) == 1:
        return np.where(sums["rows"] > 0.0, 0.0, np.nan)
    determinant: Floats = hit[0] * hit[1] - (label[0] - hit[0]) * (label[1] - hit[1])
    determinant[sums["rows"] == 0.0] = np.nan
    return determinant


def rmse(sums: Sums) -> Floats:
    return np.sqrt(sums.value(mse))


def r2(sums: Sums) -> Floats:
    return _finite(1.0 - ratio(sums["squared_error"], sums["target_spread"]))


def persistent_skill(sums: Sums) -> Floats:
    return _finite(1.0 - ratio(sums["error_beside_persistent"], sums["persistent_error"]))


def mean_of_classes(sums: Sums, kind: str) -> Floats:
    """Mean of a measure over the classes; NaN where one of them, or all others, have no row."""
    return sums.table(kind).mean(axis=0)


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
    return sums.table(kind)[place].copy()
