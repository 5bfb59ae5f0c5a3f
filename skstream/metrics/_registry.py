"""The named measures: a formula each, and the elementary series it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from skstream.metrics import _formulas as formulas
from skstream.metrics._columns import CROSSING
from skstream.metrics._formulas import Formula


@dataclass(frozen=True)
class Measure:
    """A measure as `RunningMeasures` takes it; made by `resolve_metrics`.

    Attributes
    ----------
    name : str
        Canonical name.
    needs : frozenset of str
        Kinds of elementary series in the formula.
    formula : callable or None
        Maps sums of the series to values; None for a user's function.
    function : callable or None
        The user's function of labels and answers.
    """

    name: str
    needs: frozenset[str]
    formula: Formula | None = None
    function: Callable[..., Any] | None = None

    @property
    def mergeable(self) -> bool:
        """Whether no series looks across the seam between two parts of a stream."""
        return self.needs.isdisjoint(CROSSING)


def _measure(name: str, formula: Formula, *needs: str) -> Measure:
    return Measure(name, frozenset({"rows", *needs}), formula)


_MARGINS = ("wrong", "label", "answer")
_PERSISTENT = ("persistent_wrong", "wrong_beside_persistent")
_CLASSES = ("label", "answer", "hit")

#: Ways to choose the majority that kappa_m compares with.
MAJORITIES = {
    "past": _measure("kappa_m", formulas.kappa_m, "majority_wrong", "wrong_beside_majority"),
    "hindsight": _measure("kappa_m", formulas.kappa_m_hindsight, "wrong", "label"),
    "inclusive": _measure("kappa_m", formulas.kappa_m_inclusive, "wrong", "inclusive_wrong"),
}

CLASSIFICATION = {
    measure.name: measure
    for measure in (
        _measure("accuracy", formulas.accuracy, "wrong"),
        _measure("error", formulas.error, "wrong"),
        _measure("kappa", formulas.kappa, *_MARGINS),
        _measure("kappa_se", formulas.kappa_se, *_MARGINS),
        _measure("kappa_z", formulas.kappa_z, *_MARGINS),
        MAJORITIES["past"],
        _measure("kappa_temporal", formulas.kappa_temporal, *_PERSISTENT),
        _measure("kappa_plus", formulas.kappa_plus, *_MARGINS, *_PERSISTENT),
        _measure("arithmetic_accuracy", formulas.arithmetic_accuracy, "label", "hit"),
        _measure("geometric_accuracy", formulas.geometric_accuracy, "label", "hit"),
        _measure("harmonic_accuracy", formulas.harmonic_accuracy, "label", "hit"),
        _measure("f1_macro", partial(formulas.macro, formula=formulas.class_f1), *_CLASSES),
        _measure(
            "precision_macro",
            partial(formulas.macro, formula=formulas.class_precision),
            *_CLASSES,
        ),
        _measure("recall_macro", partial(formulas.macro, formula=formulas.class_recall), *_CLASSES),
        _measure("mcc", formulas.mcc, *_MARGINS),
        _measure("cmd", formulas.cmd, "label", "hit"),
    )
}

#: Measures of one class, named e.g. "f1:UP".
OF_CLASS = {
    "f1": formulas.class_f1,
    "precision": formulas.class_precision,
    "recall": formulas.class_recall,
}

REGRESSION = {
    measure.name: measure
    for measure in (
        _measure("mae", formulas.mae, "absolute_error"),
        _measure("mse", formulas.mse, "squared_error"),
        _measure("rmse", formulas.rmse, "squared_error"),
        _measure("r2", formulas.r2, "squared_error", "target", "target_squared"),
        _measure(
            "persistent_skill",
            formulas.persistent_skill,
            "persistent_error",
            "error_beside_persistent",
        ),
    )
}

DEFAULT_CLASSIFICATION = ("accuracy", "kappa", "kappa_m", "kappa_temporal", "kappa_plus")
DEFAULT_REGRESSION = ("mae", "rmse", "r2")


def check_classes(measure: Measure, n_classes: int) -> Measure:
    """Return the measure if it is defined for so many classes."""
    if measure is CLASSIFICATION["cmd"] and n_classes > 2:
        raise ValueError(
            "cmd is the determinant of the confusion matrix of two classes; here are "
            f"{n_classes}. Use mcc, which has the same numerator and any number of classes."
        )
    return measure


def class_measure(kind: str, label: Any, code: int) -> Measure:
    """Measure of one class, e.g. the F1 of "UP"."""
    formula = partial(formulas.of_class, formula=OF_CLASS[kind], code=code)
    return _measure(f"{kind}:{label}", formula, *_CLASSES)
