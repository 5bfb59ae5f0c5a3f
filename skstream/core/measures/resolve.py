"""Conversion of the parameter `metrics` to measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from functools import partial
from inspect import signature
from typing import Any

from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer

from skstream.core.measures.formulas import Sums
from skstream.core.measures.measure import Measure, name_of
from skstream.core.measures.registry import (
    DEFAULT_CLASSIFICATION,
    DEFAULT_REGRESSION,
    MAJORITIES,
    OF_CLASS,
    OF_CLASSES,
    PROBABILITIES,
    REGRESSION,
    check_suits,
    measure_of_name,
    needs_probabilities,
)
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
    >>> from skstream.core.measures.resolve import resolve_metrics
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
                f"A measure was given twice: {name!r}. Give them names of their own: a dict."
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
                f"Measure {item.name!r} says neither by a function nor by a formula how to compute "
                "it, as those of a result. Pass function=, or its name, where it has a known one."
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
            f"{item!r} is a scorer, which takes a model and rows, and a measure takes labels and "
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
            f"{'higher' if found else 'lower'} value of it is the better one. Leave it out."
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
            f"Measure {name!r} of two classes is that of one of them, and neither is called 1: "
            f"name it, {ways}."
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
        raise ValueError(f"Measure {name!r} names no class. The classes are {shown}{more}.")
    return check_suits(OF_CLASS[kind](name, labels.index(label), len(classes)), classes)


def _unknown(name: str, known: list[str], classes: Array | None) -> str:
    per_class = [] if classes is None else [f"{kind}:{classes[-1]}" for kind in OF_CLASS]
    other = OF_CLASSES if classes is None else REGRESSION
    hint = _hint(name, known, list(other), per_class)
    of_class = f", and for every class {', '.join(per_class)}" if per_class else ""
    return f"Unknown measure {name!r}.{hint} Known are {', '.join(known)}{of_class}."


def _hint(name: str, known: list[str], other: list[str], per_class: list[str]) -> str:
    """Suggestion of a similar name."""
    plain = _plain_name(name)
    meant = plain if plain in (*known, *other) else _meant(plain)
    if meant in known:
        return f" Did you mean {meant!r}?"
    if meant in other:
        own = "It" if meant == name else repr(meant)
        return f" {own} is a measure of {'regression' if per_class else 'classification'}."
    kind, colon, parameter = name.partition(":")
    if colon and kind in (*known, *other):
        return f" {kind!r} takes nothing after a colon, and here is {parameter!r}."
    if plain == "cost" and per_class:
        return " It needs a matrix of costs: pass skstream.metrics.cost(matrix), in Python."
    if plain.startswith(_OF_PROBABILITIES):
        return (
            " It needs probabilities or decision values, and labels alone cannot give it. Measures "
            f"of these are {', '.join(PROBABILITIES)}."
        )
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
            f"A partial of {item.func.__name__} as a measure may set 'majority' alone, where the "
            f"function has it. Got {item.args or ''}{options or ''}. Weights and what precedes "
            "the first row are known to the evaluation; pass a plain function to set them."
        )
    check_choice(choice, "The 'majority' parameter of kappa_m_score", tuple(MAJORITIES))
    measure = _by_name(name, classes)
    return MAJORITIES[choice] if name == "kappa_m" else measure
