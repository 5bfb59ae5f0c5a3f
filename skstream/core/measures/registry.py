"""The table of all measures that have a name, and measures by the parameter `metrics`.

To add a measure, add a record to the table, with its formula.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import partial
from inspect import signature
from typing import Any

from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer

from skstream.core.measures import formulas
from skstream.core.measures.formulas import Formula, Sums
from skstream.core.measures.measure import TASKS, Measure, name_of, named
from skstream.core.measures.rows import Array, Floats
from skstream.utils._choices import check_choice, did_you_mean, names_as_text
from skstream.utils._labels import as_labels
from skstream.utils._sklearn import (
    function_task,
    metric_function,
    scorer_names,
    scorer_parts,
    takes_probabilities,
)
from skstream.utils._tables import shown

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
    "accuracy": "share of correct predictions",
    "error": "share of wrong predictions",
    "kappa": "accuracy above that of random predictions with the same class shares",
    "chance_accuracy": "accuracy of random predictions with the model's class shares",
    "kappa_se": "standard error of kappa",
    "kappa_z": "kappa in standard errors, under random predictions",
    "kappa_m": "accuracy above that of the majority class",
    "kappa_temporal": "accuracy above that of repeating the previous label",
    "kappa_plus": "geometric mean of kappa and kappa_temporal (0 unless both are above 0)",
    "arithmetic_accuracy": "mean of the recalls of all classes: balanced accuracy",
    "geometric_accuracy": "geometric mean of the recalls of all classes",
    "harmonic_accuracy": "harmonic mean of the recalls of all classes",
    "f1_macro": "mean of f1 over the classes",
    "precision_macro": "mean of precision over the classes",
    "recall_macro": "mean of recall over the classes",
    "mcc": "Matthews' correlation of predictions and labels",
    "cmd": "determinant of the confusion matrix of two classes",
    "log_loss": "mean of minus the logarithm of the true label's probability",
    "brier": "mean squared error of the probabilities",
    "auc": "area under the ROC curve, mean over each class against the rest",
    "auc_weighted": "auc, weighted by class shares",
    "auc_ovo": "auc, mean over pairs of classes",
    "average_precision": "average precision; for two text labels, name one after a colon",
    "f1": "harmonic mean of precision and recall",
    "precision": "share of a class among the rows predicted as it",
    "recall": "share of the rows of a class predicted as it",
    "f2": "f1 in which recall counts twice as much as precision",
    "f0.5": "f1 in which precision counts twice as much as recall",
    "jaccard": "share of correct predictions among the rows of a class or predicted as it",
    "specificity": "share of the other classes' rows not predicted as it",
    "predicted_share": "share of rows predicted as a class",
    "mae": "mean absolute error",
    "mse": "mean squared error",
    "rmse": "root of the mean squared error",
    "mape": "mean absolute error relative to the target",
    "r2": "share of the target's variance that is explained",
    "persistent_skill": "squared error below that of repeating the previous target",
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
        f"{what} needs probabilities or decision values, not just predicted labels. Use a measure "
        f"that has a name, such as {', '.join(map(repr, PROBABILITIES))} or 'kappa'."
    )


def check_suits(measure: Measure, classes: Any) -> Measure:
    """Return the measure if it is defined for these classes, or without classes for numbers."""
    has = "targets" if classes is None else "labels"
    if measure.needs is not None and TASKS[measure.needs] != TASKS[has]:
        raise ValueError(
            f"Measure {measure.name!r} needs {measure.needs}: it is one of "
            f"{TASKS[measure.needs or has]}, but this is {TASKS[has]}."
        )
    most = measure.max_classes
    if classes is not None and most is not None and len(classes) > most:
        raise ValueError(
            f"Measure {measure.name!r} is defined for at most {most} classes; here are "
            f"{len(classes)}. Use a measure for any number of classes, such as 'mcc'."
        )
    only = measure.n_classes
    if classes is not None and only is not None and len(classes) != only:
        raise ValueError(
            f"Measure {measure.name!r} is defined for exactly {only} classes; here are "
            f"{len(classes)}."
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
            f"There is no measure {name!r}: after the colon of {kind!r} comes {wanted}, not "
            f"{value!r}."
        ) from None
    try:
        return make(parameter)
    except ValueError as error:
        raise ValueError(f"There is no measure {name!r}. {error}") from error


#: Names of measures in other libraries, where they end in _score without that.
_OTHER_NAMES = {
    **dict.fromkeys(("acc", "exact_match", "hamming", "percent_correct"), "accuracy"),
    **{"kappa_combined": "kappa_plus", "kappa_per": "kappa_temporal", "micro_f1": "f1_micro"},
    "balanced_accuracy": "arithmetic_accuracy",
    "brier_score_loss": "brier",
    "cohen_kappa": "kappa",
    "cross_entropy": "log_loss",
    "error_rate": "error",
    "f1": "f1_macro",
    "g_mean": "gmean",
    "geometric_mean": "gmean",
    "p_ran": "chance_accuracy",
    "hamming_loss": "error",
    **dict.fromkeys(("kappa_p", "kappa_t"), "kappa_temporal"),
    "logloss": "log_loss",
    "macro_f1": "f1_macro",
    "matthews_corrcoef": "mcc",
    "mean_absolute_error": "mae",
    "mean_absolute_percentage_error": "mape",
    "mean_pinball_loss": "pinball",
    "mean_square_error": "mse",
    "mean_squared_error": "mse",
    "misclassification": "error",
    "pr_auc": "average_precision",
    "precision": "precision_macro",
    "recall": "recall_macro",
    "roc_auc": "auc",
    "roc_auc_ovo": "auc_ovo",
    "roc_auc_ovr": "auc",
    "roc_auc_ovr_weighted": "auc_weighted",
    "root_mean_squared_error": "rmse",
    "zero_one_loss": "error",
}
#: Two classes, sorted, of which the second is the positive one by its name.
_ONE_IS_POSITIVE = (["0", "1"], ["-1", "1"], ["False", "True"])
_OF_PROBABILITIES = (
    *("auc", "average_precision", "brier", "cross_entropy", "d2_brier", "d2_log_loss", "hinge"),
    *("log_loss", "logloss", "pr_auc", "roc_auc", "top_k"),
)


def resolve_metrics(metrics: Any, *, classes: ArrayLike | None) -> dict[str, Measure]:
    """Return measures by name, from any form of the parameter `metrics`.

    Parameters
    ----------
    metrics : None, str, callable, Measure, list or dict
        A name such as ``"kappa"`` or, for one class, ``"f1:UP"``, or of one of scikit-learn's
        scorers, with its sign, such as ``"neg_log_loss"``; a function ``f(y_true, y_pred)``
        in the style of scikit-learn; a ``functools.partial`` of one; a `Measure`; a list of these,
        or a dict that gives them names. Functions of `skstream.metrics` and partials of them run
        as fast as the names; all others are called at every checkpoint. None: accuracy, kappa,
        kappa_m, kappa_temporal and kappa_plus; in regression mae, rmse and r2.
    classes : array-like of shape (n_classes,), or None
        Sorted labels; None for regression.

    Returns
    -------
    dict of str to Measure
        In the given order.

    Raises
    ------
    ValueError
        If a name is unknown (the known are listed) or given twice, if cmd is wanted of more
        than two classes, if a partial sets what the evaluation determines itself, or if a function
        of scikit-learn takes probabilities.
    TypeError
        If something else was given, such as a scorer, which takes a model.

    Examples
    --------
    >>> from functools import partial
    >>> from skstream.metrics import kappa_m_score
    >>> from skstream.core.measures.registry import resolve_metrics
    >>> list(resolve_metrics(None, classes=["DOWN", "UP"]))
    ['accuracy', 'kappa', 'kappa_m', 'kappa_temporal', 'kappa_plus']
    >>> finished_table = partial(kappa_m_score, majority="hindsight")
    >>> list(resolve_metrics({"table": finished_table, "up": "f1:UP"}, classes=["DOWN", "UP"]))
    ['table', 'up']
    """
    labels = None if classes is None else as_labels(classes)
    if metrics is None:
        metrics = list(DEFAULT_REGRESSION if labels is None else DEFAULT_CLASSIFICATION)
    if isinstance(metrics, Mapping):
        given: list[tuple[Any, Any]] = list(names_as_text(metrics, "measures").items())
    elif isinstance(metrics, str | Measure) or callable(metrics):
        given = [(None, metrics)]
    elif isinstance(metrics, Iterable):
        given = [(None, item) for item in metrics]
    else:
        raise TypeError(
            "metrics must be None, a name, a function, or a list or dict of them. "
            f"Got {metrics!r} of type {type(metrics).__name__} instead."
        )
    if not given:
        raise ValueError("No measure was given; pass None for the standard ones.")
    named: dict[str, Measure] = {}
    for name, item in given:
        measure = _resolve(item, labels)
        name = measure.name if name is None else name
        if name in named:
            raise ValueError(
                f"A measure was given twice: {name!r}. Use a dict to give them different names."
            )
        named[name] = measure
    return named


def task_of(metrics: Any) -> str | None:
    """Return "labels" or "targets", if some form of the parameter `metrics` says which it needs."""
    if isinstance(metrics, str):
        return _task_of_name(metrics)
    if isinstance(metrics, Measure):
        return metrics.needs or task_of(metrics.function)
    if isinstance(metrics, partial):
        return task_of(metrics.func)
    if callable(metrics):
        return (
            _task_of_name(metrics.running_measure) if _is_ours(metrics) else function_task(metrics)
        )
    if isinstance(metrics, Mapping):
        metrics = metrics.values()
    if isinstance(metrics, list | tuple | type({}.values())):
        return next((task for task in map(task_of, metrics) if task is not None), None)
    return None


def _task_of_name(name: str) -> str | None:
    meant = _meant(_plain_name(name))
    if meant in REGRESSION or name in scorer_names(regression=True):
        return "targets"
    of_class = meant.partition(":")[0] in (*OF_CLASS, *OF_CLASSES)
    return "labels" if meant in OF_CLASSES or of_class else None


def _plain_name(name: str) -> str:
    words = re.sub("(?<=[a-z])(?=[A-Z])", "_", name)  # of a name such as MacroF1
    return words.lower().replace("-", "_").replace(" ", "_").removeprefix("neg_")


def _meant(plain: str) -> str:
    """Our name of a measure that may have another elsewhere."""
    name = plain.removesuffix("_score")
    return _OTHER_NAMES.get(name, name)


def _resolve(item: Any, classes: Array | None) -> Measure:
    if isinstance(item, Measure):
        check_suits(item, classes)
        if item.formula is not None:
            return item
        if item.function is None:
            raise ValueError(
                f"Measure {item.name!r} has neither a function nor a formula to compute it, like "
                "the measures of a result. Pass function=, or its name if it has a known one."
            )
        return _with_facts(item, classes)
    if isinstance(item, str):
        return _by_name(item, classes)
    if isinstance(item, partial) and _is_ours(item.func):
        return _partial_of_ours(item, classes)
    if not callable(item):
        raise TypeError(
            "A measure must be a name or a function f(y_true, y_pred). "
            f"Got {item!r} of type {type(item).__name__} instead."
        )
    if _is_ours(item):
        return _by_name(item.running_measure, classes)
    return _of_function(item)


def _of_function(item: Any) -> Measure:
    """Make a measure of a function, which is called at checkpoints."""
    name = name_of(item)
    if scorer_parts(item) is not None:
        raise TypeError(
            f"{item!r} is a scorer, which takes a model and rows, but a measure takes labels and "
            'predictions. Pass the name of the scorer, such as "neg_mean_absolute_error", or its '
            "function: Measure(function, higher_is_better=...)."
        )
    function = item.func if isinstance(item, partial) else item
    if not metric_function(function):
        return Measure(item)
    if takes_probabilities(function):
        raise ValueError(needs_probabilities(name))
    ends = {True: ("_score", "corrcoef"), False: ("_error", "_loss", "_deviance")}
    better = next((better for better, some in ends.items() if name.endswith(some)), None)
    return Measure(item, higher_is_better=better)


class Negative:
    """A function with the opposite sign, as in scorers of losses."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__signature__ = signature(function)

    def __call__(self, *labels: Any, **options: Any) -> Any:
        """Return minus the value of the function."""
        return -self.function(*labels, **options)


def _negative(sums: Sums, formula: Any) -> Floats:
    """Minus the value of a formula."""
    return -sums.value(formula)


def _is_ours(item: Any) -> bool:
    return isinstance(getattr(item, "running_measure", None), str)


def _with_facts(measure: Measure, classes: Array | None) -> Measure:
    """Return the running form of a user's measure, if any; the user's properties are kept."""
    known = _resolve(measure.function, classes)
    said, found = measure.higher_is_better, known.higher_is_better
    if said is not None and found is not None and said != found:
        raise ValueError(
            f"Measure {measure.name!r} was given higher_is_better={said}, and a "
            f"{'higher' if found else 'lower'} value of it is better. Leave it out."
        )
    given = {
        field.name: measure.facts[field.name]
        for field in fields(measure)
        if field.name in measure.facts and measure.facts[field.name] != field.default
    }
    return replace(known, **given)


def check_known_name(name: str) -> None:
    """Say which measures there are, where one is known of no task."""
    kind, colon, _ = name.partition(":")
    known = OF_CLASSES | REGRESSION
    scorers = [*scorer_names(regression=False), *scorer_names(regression=True)]
    if not (measure_of_name(name, known) or (colon and kind in OF_CLASS) or name in scorers):
        raise ValueError(_unknown(name, list(known), None))


def _by_name(name: str, classes: Array | None) -> Measure:
    known = REGRESSION if classes is None else OF_CLASSES
    measure = measure_of_name(name, known)
    labels = [] if classes is None else list(map(str, classes.tolist()))
    if name == "average_precision" and len(labels) == 2 and labels not in _ONE_IS_POSITIVE:
        ways = " or ".join(f"'{name}:{label}'" for label in labels)
        raise ValueError(
            f"Measure {name!r} is about one of the two classes, and neither is called 1: name it, "
            f"{ways}."
        )
    if measure is not None:  # "top_k_accuracy:2" is the measure "top_k_accuracy"
        return check_suits(measure if name in known else replace(measure, name=name), classes)
    kind, colon, label = name.partition(":")
    if classes is not None and colon and kind in OF_CLASS:
        return _by_label(name, kind, label, classes)
    if name not in scorer_names(regression=classes is None):
        raise ValueError(_unknown(name, list(known), classes))
    return _of_scorer(name, known, classes)


def _of_scorer(name: str, known: Mapping[str, Measure], classes: Array | None) -> Measure:
    """Make a measure of the name of one of scikit-learn's scorers, with its sign."""
    parts = scorer_parts(get_scorer(name))
    assert parts is not None
    function, sign, options, response = parts
    plain = _plain_name(name)
    # These names mean scores of one class, 1, in scikit-learn.
    measure = None if plain in ("f1", "precision", "recall") else known.get(_meant(plain))
    if measure is not None:
        check_suits(measure, classes)
        if sign < 0:
            formula = partial(_negative, formula=measure.formula)
            bounds = -measure.bounds[1], 0.0 - measure.bounds[0]
            measure = replace(measure, formula=formula, bounds=bounds)
    elif options.get("average") == "binary" and not (
        classes is not None and len(classes) == 2 and 1 in classes
    ):
        raise ValueError(_unknown(name, list(known), classes))
    elif response == "predict":
        function = partial(function, **options) if options else function
        measure = Measure(function if sign > 0 else Negative(function))
    else:
        raise ValueError(needs_probabilities(f"scikit-learn's scorer {name!r}"))
    return replace(measure, name=name, higher_is_better=True)


def _by_label(name: str, kind: str, label: str, classes: Array) -> Measure:
    labels = list(map(str, classes.tolist()))
    if label not in labels:
        shown = ", ".join(repr(known) for known in labels[:20])
        more = f", ... ({len(labels)} classes)" if len(labels) > 20 else ""
        raise ValueError(f"Measure {name!r} does not name a class. The classes are {shown}{more}.")
    return check_suits(OF_CLASS[kind](name, labels.index(label), len(classes)), classes)


def _unknown(name: str, known: list[str], classes: Array | None) -> str:
    per_class = [] if classes is None else [f"{kind}:{classes[-1]}" for kind in OF_CLASS]
    other = OF_CLASSES if classes is None else REGRESSION
    hint = _hint(name, known, list(other), per_class)
    if name in other:
        task, held = (
            ("classification", "regressors") if classes is None else ("regression", "classifiers")
        )
        return (
            f"Measure {name!r} is one of {task}, but the models are {held}. Suitable are "
            f"{shown(known)}."
        )
    if classes is not None and name in OF_CLASS:
        named = " or ".join(f"'{name}:{label}'" for label in classes[:3].tolist())
        hint += f" Or name the class: {named}."
    of_class = f", and for every class {', '.join(per_class)}" if per_class else ""
    return f"Unknown measure {name!r}.{hint} Known are {', '.join(known)}{of_class}."


def _hint(name: str, known: list[str], other: list[str], per_class: list[str]) -> str:
    """Suggestion of a similar name."""
    plain = _plain_name(name)
    meant = plain if plain in (*known, *other) else _meant(plain)
    if meant in known:
        return f" Did you mean {meant!r}?"
    if meant in other:
        return f" {meant!r} is a measure of {'regression' if per_class else 'classification'}."
    kind, colon, parameter = name.partition(":")
    if colon and kind in (*known, *other):
        return f" {kind!r} takes nothing after a colon, but got {parameter!r}."
    if plain == "cost" and per_class:
        return " It needs a matrix of costs: pass skstream.metrics.cost(matrix), in Python."
    if plain.startswith(_OF_PROBABILITIES):
        return (
            " It needs probabilities or decision values, not just predicted labels. Measures of "
            f"these are {', '.join(PROBABILITIES)}."
        )
    for word in ("adwin", "window", "fading"):
        rest = plain.replace(word, "").strip("_")
        if word in plain and rest in known:
            return f" Pass {rest!r}, and forgetting='{word}{'' if word == 'adwin' else ':...'}'."
    scorers = scorer_names(regression=not per_class)
    scorer = next((name for name in (plain, meant, f"neg_{plain}") if name in scorers), None)
    if scorer is not None:
        return f" Did you mean scikit-learn's scorer {scorer!r}?"
    return did_you_mean(plain, known + per_class)


def _partial_of_ours(item: partial[Any], classes: Array | None) -> Measure:
    name: str = item.func.running_measure  # type: ignore[attr-defined]  # as `_is_ours` has seen
    options = dict(item.keywords)
    choice = options.pop("majority", "past") if name == "kappa_m" else "past"
    if item.args or options:
        raise ValueError(
            f"A partial of {item.func.__name__} as a measure may set only 'majority', if the "
            f"function has it. Got {item.args or ''}{options or ''}. Weights and what precedes the "
            "first row are known to the evaluation; pass a plain function to set them."
        )
    check_choice(choice, "The 'majority' parameter of kappa_m_score", tuple(MAJORITIES))
    measure = _by_name(name, classes)
    return MAJORITIES[choice] if name == "kappa_m" else measure
