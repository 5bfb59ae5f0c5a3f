"""The table of all measures that have a name: to add one, add a line here, with its formula."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from skstream.core.measures import formulas
from skstream.core.measures.formulas import Formula
from skstream.core.measures.measure import TASKS, Measure, named

# Every class is ranked on its own, and against every other one: their number is limited.
_MOST_CLASSES, _MOST_CLASSES_IN_PAIRS = 128, 32

_share = partial(named, bounds=(0.0, 1.0))
_skill = partial(named, baseline_is_zero=True, bounds=(-math.inf, 1.0))
_loss = partial(named, needs="targets", higher_is_better=False, bounds=(0.0, math.inf))
_forecast_skill = partial(_skill, needs="targets")
_ranking = partial(_share, needs="scores", max_classes=_MOST_CLASSES)


def _mean_ranking(series: str, **facts: Any) -> Measure:
    """Mean of a measure of rankings over the classes."""
    return _ranking(series, partial(formulas.mean_of_classes, kind=series), series, **facts)


def _table(*measures: Measure) -> dict[str, Measure]:
    return {measure.name: measure for measure in measures}


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
    name: named("kappa_z", formula, *_MARGINS, "squared_weights", baseline_is_zero=True)
    for name, formula in (("fleiss", formulas.kappa_z), ("cohen", formulas.kappa_z_cohen))
}

CLASSIFICATION = _table(
    _share("accuracy", formulas.accuracy, "wrong"),
    _share("error", formulas.error, "wrong", higher_is_better=False),
    _skill("kappa", formulas.kappa, *_MARGINS, bounds=(-1.0, 1.0)),
    _share("chance_accuracy", formulas.chance_accuracy, "label", "answer", higher_is_better=None),
    # The precision of kappa does not show how good the model is.
    named(
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
    _skill("kappa_plus", formulas.kappa_plus, *_MARGINS, *_PERSISTENT, bounds=(0.0, 1.0)),
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
    named("cmd", formulas.cmd, "label", "hit", baseline_is_zero=True, max_classes=2),
)

#: Measures of probabilities, and of rankings. Of more than two classes `auc`, `auc_weighted` and
#: `average_precision` rank each against the rest, `auc_ovo` against each other one. Of two classes
#: `average_precision` is that of the second.
PROBABILITIES = _table(
    _loss("log_loss", formulas.log_loss, "log_loss", needs="probabilities"),
    _loss("brier", formulas.brier, "brier", needs="probabilities", bounds=(0.0, 2.0)),
    _mean_ranking("auc"),
    _ranking("auc_weighted", formulas.auc_weighted, "auc", "label"),
    _ranking("auc_ovo", formulas.auc_ovo, "auc_of_pairs", max_classes=_MOST_CLASSES_IN_PAIRS),
    _mean_ranking("average_precision"),
)


def _of_class(formula: Formula, name: str, code: int, n_classes: int, **facts: Any) -> Measure:
    return _share(name, partial(formulas.of_class, formula=formula, code=code), *_CLASSES, **facts)


def _ranking_of_class(kind: str, name: str, code: int, n_classes: int) -> Measure:
    """Measure of a ranking of one class, such as the AUC of "UP" against the rest."""
    series, place = kind, code
    if n_classes <= 2:
        place = 0
        if kind == "average_precision" and code == 0:  # the areas of both classes are equal
            series = "average_precision_of_first"
    return _ranking(name, partial(formulas.of_one_class, kind=series, place=place), series)


#: Measures of one class, named e.g. "f1:UP": made of the name, the code and the number of classes.
OF_CLASS: dict[str, Callable[[str, int, int], Measure]] = {
    "f1": partial(_of_class, formulas.class_f1),
    "precision": partial(_of_class, formulas.class_precision),
    "recall": partial(_of_class, formulas.class_recall),
    "f2": partial(_of_class, partial(formulas.class_fbeta, beta=2.0)),
    "f0.5": partial(_of_class, partial(formulas.class_fbeta, beta=0.5)),
    "jaccard": partial(_of_class, formulas.class_jaccard),
    "specificity": partial(_of_class, formulas.class_specificity),
    # Whether more answers of a class are better depends on the use.
    "predicted_share": partial(_of_class, formulas.class_share_of_answers, higher_is_better=None),
    "auc": partial(_ranking_of_class, "auc"),
    "average_precision": partial(_ranking_of_class, "average_precision"),
}

REGRESSION = _table(
    _loss("mae", formulas.mae, "absolute_error"),
    _loss("mse", formulas.mse, "squared_error"),
    _loss("rmse", formulas.rmse, "squared_error"),
    _loss("mape", formulas.mape, "relative_error"),
    _forecast_skill("r2", formulas.r2, "squared_error", "target_spread"),
    _forecast_skill(
        "persistent_skill",
        formulas.persistent_skill,
        "persistent_error",
        "error_beside_persistent",
    ),
)

#: All measures of classifiers that have names.
OF_CLASSES = {**CLASSIFICATION, **PROBABILITIES}

#: What each named measure says, in a few words; those of one class are of the label after a colon.
MEANINGS = {
    "accuracy": "share of right answers",
    "error": "share of wrong answers",
    "kappa": "accuracy above that of random answers in the same shares",
    "chance_accuracy": "accuracy of random answers in the shares of the model's answers",
    "kappa_se": "standard error of kappa",
    "kappa_z": "kappa in standard errors, if answers were drawn at random",
    "kappa_m": "accuracy above that of the majority class",
    "kappa_temporal": "accuracy above that of repeating the label before",
    "kappa_plus": "geometric mean of kappa and kappa_temporal (0: one is not above 0)",
    "arithmetic_accuracy": "mean of the recalls of all classes: balanced accuracy",
    "geometric_accuracy": "geometric mean of the recalls of all classes",
    "harmonic_accuracy": "harmonic mean of the recalls of all classes",
    "f1_macro": "mean of f1 over the classes",
    "precision_macro": "mean of precision over the classes",
    "recall_macro": "mean of recall over the classes",
    "mcc": "Matthews' correlation of answers and labels",
    "cmd": "determinant of the table of labels and answers, of two classes",
    "log_loss": "mean of minus the logarithm of the label's probability",
    "brier": "mean squared error of the probabilities",
    "auc": "area under the ROC curve, mean over the classes against the rest",
    "auc_weighted": "auc, weighted by the shares of the classes",
    "auc_ovo": "auc, mean over the pairs of classes",
    "average_precision": "mean precision over the recalls; of two texts, name one after a colon",
    "f1": "harmonic mean of precision and recall",
    "precision": "share of rows of the label among those answered so",
    "recall": "share of rows of the label that are answered so",
    "f2": "f1 in which recall counts twice as much as precision",
    "f0.5": "f1 in which precision counts twice as much as recall",
    "jaccard": "share of right answers among the rows that are the label or answered so",
    "specificity": "share of the other rows that are answered otherwise",
    "predicted_share": "share of answers that are the label",
    "mae": "mean absolute error",
    "mse": "mean squared error",
    "rmse": "root of the mean squared error",
    "mape": "mean absolute error relative to the target",
    "r2": "share of the target's variance that is explained",
    "persistent_skill": "squared error below that of repeating the target before",
}

#: Measures whose parameter may follow their name after a colon: what makes one of them, and what
#: reads the parameter.
_WITH_PARAMETER: dict[str, tuple[Callable[[Any], Measure], Callable[[str], Any]]] = {}

DEFAULT_CLASSIFICATION = ("accuracy", "kappa", "kappa_m", "kappa_temporal", "kappa_plus")
DEFAULT_REGRESSION = ("mae", "rmse", "r2")


def offer_measure(
    measure: Measure,
    meaning: str,
    make: Callable[[Any], Measure] | None = None,
    read: Callable[[str], Any] = int,
    *,
    among: dict[str, Measure] = PROBABILITIES,
) -> None:
    """Give a measure a name that evaluators know.

    Parameters
    ----------
    measure : Measure
        The measure.
    meaning : str
        What it says, in a few words.
    make : callable, default=None
        Makes it of a parameter, which may follow its name after a colon.
    read : callable, default=int
        Reads the parameter from a text.
    among : dict, default=PROBABILITIES
        `CLASSIFICATION`, `PROBABILITIES` or `REGRESSION`.
    """
    among[measure.name] = measure
    if among is not REGRESSION:
        OF_CLASSES[measure.name] = measure
    MEANINGS[measure.name] = meaning
    if make is not None:
        _WITH_PARAMETER[measure.name] = make, read


def needs_probabilities(what: str) -> str:
    """Say that labels cannot give a value, and which measures of probabilities there are."""
    return (
        f"{what} needs probabilities or decision values, and labels alone cannot give it. Use a "
        f"measure that has a name, such as {', '.join(map(repr, PROBABILITIES))} or 'kappa'."
    )


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


def measure_of_name(name: str, table: Mapping[str, Measure]) -> Measure | None:
    """Return the measure of a name, perhaps with a parameter after a colon; None: there is none."""
    kind, colon, value = name.partition(":")
    if not colon or kind not in table or kind not in _WITH_PARAMETER:
        return table.get(name)
    make, number = _WITH_PARAMETER[kind]
    try:
        parameter = number(value)
    except ValueError:
        wanted = "a whole number" if number is int else "a number"
        raise ValueError(
            f"There is no measure {name!r}: after the colon of {kind!r} comes {wanted}, "
            f"and here is {value!r}."
        ) from None
    try:
        return make(parameter)
    except ValueError as error:
        raise ValueError(f"There is no measure {name!r}. {error}") from error


def known_measure(name: str) -> Measure:
    """Return what is known of a measure by its name alone."""
    kind, colon, _ = name.partition(":")
    if colon and kind in OF_CLASS:
        return Measure(**OF_CLASS[kind](f"{kind}:", 0, 2).facts)
    measure = measure_of_name(name, OF_CLASSES | REGRESSION)
    return Measure(name=name) if measure is None else Measure(**measure.facts)
