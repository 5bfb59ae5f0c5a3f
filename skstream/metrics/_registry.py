"""The named measures: a formula each, and the elementary series it needs."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from skstream.metrics import _formulas as formulas
from skstream.metrics._formulas import Formula
from skstream.metrics._measure import ANY, OF_SCORES, ROW_LOSSES, TASKS, Measure
from skstream.metrics._probabilities import PROBABILITIES, probability_measure
from skstream.metrics._quantiles import QUANTILES, quantile_measure
from skstream.metrics._ranking_measures import ranking_of_class

_SHARE = (0.0, 1.0)


def _measure(
    name: str,
    formula: Formula,
    *series: str,
    needs: str = "labels",
    higher_is_better: bool | None = True,
    baseline_is_zero: bool = False,
    bounds: tuple[float, float] = ANY,
    max_classes: int | None = None,
) -> Measure:
    return Measure(
        name=name,
        formula=formula,
        series=frozenset(series),
        needs=needs,
        higher_is_better=higher_is_better,
        baseline_is_zero=baseline_is_zero,
        bounds=bounds,
        max_classes=max_classes,
        row_loss=ROW_LOSSES.get(series[0]) if len(series) == 1 else None,
    )


_share = partial(_measure, bounds=_SHARE)
_skill = partial(_measure, baseline_is_zero=True, bounds=(-math.inf, 1.0))
_loss = partial(_measure, needs="targets", higher_is_better=False, bounds=(0.0, math.inf))

_MARGINS = ("wrong", "label", "answer")
_PERSISTENT = ("persistent_wrong", "wrong_beside_persistent")
_CLASSES = ("label", "answer", "hit")

#: Ways to choose the majority that kappa_m compares with.
MAJORITIES = {
    "past": _skill("kappa_m", formulas.kappa_m, "majority_wrong", "wrong_beside_majority"),
    "hindsight": _skill("kappa_m", formulas.kappa_m_hindsight, "wrong", "label"),
    "inclusive": _skill("kappa_m", formulas.kappa_m_inclusive, "wrong", "inclusive_wrong"),
}

#: Ways to estimate the variance of kappa under the hypothesis of chance.
NULL_VARIANCES = {
    name: _measure("kappa_z", formula, *_MARGINS, "squared_weights", baseline_is_zero=True)
    for name, formula in (("fleiss", formulas.kappa_z), ("cohen", formulas.kappa_z_cohen))
}

CLASSIFICATION = {
    measure.name: measure
    for measure in (
        _share("accuracy", formulas.accuracy, "wrong"),
        _share("error", formulas.error, "wrong", higher_is_better=False),
        _skill("kappa", formulas.kappa, *_MARGINS, bounds=(-1.0, 1.0)),
        # The precision of kappa does not show how good the model is.
        _measure(
            "kappa_se",
            formulas.kappa_se,
            *_MARGINS,
            "squared_weights",
            higher_is_better=None,
            bounds=(0.0, math.inf),
        ),
        NULL_VARIANCES["fleiss"],
        MAJORITIES["past"],
        _skill("kappa_temporal", formulas.kappa_temporal, *_PERSISTENT),
        _skill("kappa_plus", formulas.kappa_plus, *_MARGINS, *_PERSISTENT, bounds=_SHARE),
        _share("arithmetic_accuracy", formulas.arithmetic_accuracy, "label", "hit"),
        _share("geometric_accuracy", formulas.geometric_accuracy, "label", "hit"),
        _share("harmonic_accuracy", formulas.harmonic_accuracy, "label", "hit"),
        _share("f1_macro", partial(formulas.macro, formula=formulas.class_f1), *_CLASSES),
        _share(
            "precision_macro",
            partial(formulas.macro, formula=formulas.class_precision),
            *_CLASSES,
        ),
        _share("recall_macro", partial(formulas.macro, formula=formulas.class_recall), *_CLASSES),
        _skill("mcc", formulas.mcc, *_MARGINS, bounds=(-1.0, 1.0)),
        _measure("cmd", formulas.cmd, "label", "hit", baseline_is_zero=True, max_classes=2),
    )
}


def _of_class(formula: Formula, name: str, code: int, n_classes: int) -> Measure:
    return _share(name, partial(formulas.of_class, formula=formula, code=code), *_CLASSES)


#: Measures of one class, named e.g. "f1:UP": made of the name, the code and the number of classes.
OF_CLASS: dict[str, Callable[[str, int, int], Measure]] = {
    "f1": partial(_of_class, formulas.class_f1),
    "precision": partial(_of_class, formulas.class_precision),
    "recall": partial(_of_class, formulas.class_recall),
    "auc": partial(ranking_of_class, "auc"),
    "average_precision": partial(ranking_of_class, "average_precision"),
}

REGRESSION = {
    measure.name: measure
    for measure in (
        _loss("mae", formulas.mae, "absolute_error"),
        _loss("mse", formulas.mse, "squared_error"),
        _loss("rmse", formulas.rmse, "squared_error"),
        _skill("r2", formulas.r2, "squared_error", "target_spread", needs="targets"),
        _skill(
            "persistent_skill",
            formulas.persistent_skill,
            "persistent_error",
            "error_beside_persistent",
            needs="targets",
        ),
    )
} | QUANTILES

#: All measures of classifiers that have names.
OF_CLASSES = {**CLASSIFICATION, **PROBABILITIES}

DEFAULT_CLASSIFICATION = ("accuracy", "kappa", "kappa_m", "kappa_temporal", "kappa_plus")
DEFAULT_REGRESSION = ("mae", "rmse", "r2")


def needs_probabilities(what: str) -> str:
    """Say that labels cannot give a value, and which measures of probabilities there are."""
    return (
        f"{what} needs probabilities or decision values, and labels alone cannot give it. Use a "
        f"measure that has a name, such as {', '.join(map(repr, PROBABILITIES))} or 'kappa'."
    )


def measures_of_scores(metrics: Mapping[str, Measure]) -> list[str]:
    """Names of the measures that need more than answers: probabilities, or any ranking."""
    return [name for name, measure in metrics.items() if measure.needs in OF_SCORES]


def check_suits(measure: Measure, classes: Any) -> Measure:
    """Return the measure if it is defined for these classes, or without classes for numbers."""
    has = "targets" if classes is None else "labels"
    if measure.needs is not None and TASKS[measure.needs] != TASKS[has]:
        raise ValueError(
            f"Measure {measure.name!r} needs {measure.needs}: it is one of "
            f"{TASKS[measure.needs or has]}, and this is {TASKS[has]}."
        )
    most = measure.max_classes
    if classes is not None and most is not None and len(classes) > most:
        raise ValueError(
            f"Measure {measure.name!r} is defined for at most {most} classes; here are "
            f"{len(classes)}. Use a measure of any number of classes, such as 'mcc'."
        )
    only = measure.n_classes
    if classes is not None and only is not None and len(classes) != only:
        raise ValueError(
            f"Measure {measure.name!r} is made for {only} classes; here are {len(classes)}."
        )
    return measure


def known_measure(name: str) -> Measure:
    """Return what is known of a measure by its name alone."""
    kind, colon, _ = name.partition(":")
    if colon and kind in OF_CLASS:
        return Measure(**OF_CLASS[kind](f"{kind}:", 0, 2).facts)
    measure = {**CLASSIFICATION, **REGRESSION}.get(name)
    measure = measure or probability_measure(name) or quantile_measure(name)
    return Measure(name=name) if measure is None else Measure(**measure.facts)
