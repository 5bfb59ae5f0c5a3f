"""scikit-learn's functions and scorers as measures: their direction, and their running forms."""

import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skstream.metrics import _formulas as formulas
from skstream.metrics._decisions import top_k_accuracy
from skstream.metrics._formulas import Formula, Sums
from skstream.metrics._measure import OF_SCORES, Measure, name_of
from skstream.metrics._quantiles import pinball
from skstream.metrics._registry import (
    CLASSIFICATION,
    PROBABILITIES,
    REGRESSION,
    _ranking_of_class,
    needs_probabilities,
)
from skstream.metrics._rows import Array, Floats
from skstream.utils._sklearn import metric_function, scorer_parts

Options = Mapping[str, Any]
#: Makes the running form, or None where the options have none.
Builder = Callable[[Options, Array], Measure | None]
#: Makes a measure of what the user gave.
Resolver = Callable[[Any, Array | None], Measure]

#: scikit-learn says what the direction is of functions with these endings.
_HIGHER, _LOWER = ("_score", "matthews_corrcoef"), ("_error", "_loss", "_deviance")
#: Functions that are no measure of labels: what they take instead.
_OF_PROBABILITIES = frozenset(
    {
        "average_precision_score",
        "brier_score_loss",
        "d2_brier_score",
        "d2_log_loss_score",
        "dcg_score",
        "hinge_loss",
        "label_ranking_average_precision_score",
        "label_ranking_loss",
        "log_loss",
        "ndcg_score",
        "roc_auc_score",
        "top_k_accuracy_score",
    }
)


def of_scikit_learn(item: Any, classes: Array | None, resolve: Resolver) -> Measure | None:
    """Make a measure of a function of `sklearn.metrics`, a partial of one, or a scorer.

    Parameters
    ----------
    item : callable
        Whatever the user gave.
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; None for regression.
    resolve : callable
        Makes the measure of the function that a scorer holds.

    Returns
    -------
    Measure or None
        In its running form where that gives exactly the same values; None for anything else than
        scikit-learn's.

    Raises
    ------
    ValueError
        If it needs probabilities, gives no single number, its options do not go with the
        classes, or the sign of a scorer contradicts the known direction of its function.
    TypeError
        If the function has no such option.
    """
    parts = scorer_parts(item)
    if parts is not None:
        return _of_scorer(*parts, classes, resolve)
    function, options = item, {}
    if isinstance(item, partial):
        if item.args:
            return None
        function, options = item.func, item.keywords
    if not metric_function(function):
        return None
    return _of_function(function, options, classes)


def _of_scorer(
    function: Callable[..., Any],
    sign: int,
    options: dict[str, Any],
    response: Any,
    classes: Array | None,
    resolve: Resolver,
) -> Measure:
    name = name_of(function)
    item = partial(function, **options) if options else function
    if response != "predict" and name not in _OF_PROBABILITIES:
        raise ValueError(needs_probabilities(f"The scorer of {name}"))
    measure = resolve(item, classes)
    if response == "predict" and measure.needs in OF_SCORES:
        raise ValueError(
            f"The scorer of {name} gives it labels, and it takes probabilities: make it with "
            'make_scorer(..., response_method="predict_proba"), or pass the function itself.'
        )
    _check_sign(name, sign, measure.higher_is_better)
    if sign < 0:
        low, high = measure.bounds
        measure = replace(measure, bounds=(0.0 - high, 0.0 - low), name=f"neg_{name}")
        if measure.formula is not None:
            formula = partial(_scaled, formula=measure.formula, factor=-1.0)
            measure = replace(measure, formula=formula)
        else:
            measure = replace(measure, function=Negative(item))
    return replace(measure, higher_is_better=True)


def _check_sign(name: str, sign: int, higher_is_better: bool | None) -> None:
    """Raise an error for a scorer whose sign would make the worse model the better one."""
    if higher_is_better is None or higher_is_better == (sign > 0):
        return
    made = f"make_scorer({name}{'' if sign > 0 else ', greater_is_better=False'})"
    right = f"make_scorer({name}{', greater_is_better=False' if sign > 0 else ''})"
    better = "higher" if higher_is_better else "lower"
    raise ValueError(
        f"The scorer {made} calls a {'higher' if sign > 0 else 'lower'} value of {name} the "
        f"better one, and a {better} value of it is better. Make it with {right}, or pass {name} "
        "itself, whose direction is known."
    )


class Negative:
    """A function with the opposite sign, as in scorers of losses."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = f"neg_{name_of(function)}"
        with suppress(TypeError, ValueError):  # some builtins have none
            self.__signature__ = inspect.signature(function)

    def __call__(self, *labels: Any, **options: Any) -> Any:
        """Return minus the value of the function."""
        return -self.function(*labels, **options)


def _of_function(
    function: Callable[..., Any], options: dict[str, Any], classes: Array | None
) -> Measure:
    name = function.__name__
    try:
        bound = inspect.signature(function).bind_partial(None, None, **options)
    except TypeError as error:
        raise TypeError(f"The measure {name} cannot be called so: {error}.") from error
    bound.apply_defaults()
    given = dict(list(bound.arguments.items())[2:])
    running_form = (_REGRESSION if classes is None else _CLASSIFICATION).get(name)
    measure = None
    if running_form is not None:
        understood, build = running_form
        defaults = inspect.signature(function).parameters
        others = given.keys() - set(understood)
        if all(_same(given[other], defaults[other].default) for other in others):
            measure = build(given, classes if classes is not None else np.empty(0))
    if measure is None and name in _OF_PROBABILITIES:
        raise ValueError(needs_probabilities(f"{name}{' with these options' * bool(options)}"))
    if measure is None:
        facts = _FACTS.get(name)
        measure = Measure(
            partial(function, **options) if options else function,
            higher_is_better=_direction(name),
            bounds=(-math.inf, math.inf) if facts is None else facts.bounds,
            baseline_is_zero=facts is not None and facts.baseline_is_zero,
        )
    return replace(measure, name=name)


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, float) and isinstance(default, float) and math.isnan(default):
        return math.isnan(value)
    return value is default or (isinstance(value, str | bool) and value == default)


def _direction(name: str) -> bool | None:
    """Direction that the last word of a name says, by scikit-learn's convention."""
    if name.endswith(_HIGHER):
        return True
    return False if name.endswith(_LOWER) else None


# --- running forms -------------------------------------------------------------------------


def _plain(measure: Measure) -> Builder:
    return lambda options, classes: measure


def _r2(options: Options, classes: Array) -> Measure | None:
    # Without force_finite scikit-learn distinguishes -inf from NaN, and we do not.
    if not options["force_finite"]:
        return None
    return replace(REGRESSION["r2"], formula=_finite_r2)


def _log_loss(options: Options, classes: Array) -> Measure | None:
    if not options["normalize"] or not _are_all(options["labels"], classes):
        return None
    return PROBABILITIES["log_loss"]


def _brier(options: Options, classes: Array) -> Measure | None:
    measure, half = PROBABILITIES["brier"], options["scale_by_half"]
    if not _are_all(options["labels"], classes):
        return None
    if half == "auto" or half == (len(classes) <= 2):
        return measure
    formula = partial(_scaled, formula=formulas.brier, factor=0.5 if half else 2.0)
    return replace(measure, formula=formula, row_loss=None)


def _top_k(options: Options, classes: Array) -> Measure | None:
    if not options["normalize"] or not _are_all(options["labels"], classes):
        return None
    return top_k_accuracy(options["k"])


def _pinball(options: Options, _: Array) -> Measure | None:
    return pinball(options["alpha"])


def _area(options: Options, classes: Array) -> Measure | None:
    if options["max_fpr"] is not None or not _are_all(options["labels"], classes):
        return None
    if len(classes) > 2 and options["multi_class"] not in ("ovr", "ovo"):
        raise ValueError(
            f'roc_auc_score of {len(classes)} classes takes multi_class="ovr" (each against the '
            'rest) or "ovo" (each against each other one): pass functools.partial(roc_auc_score, '
            'multi_class="ovr"), or "auc" or "auc_ovo" by name.'
        )
    way = options["multi_class"] if len(classes) > 2 else "ovr"
    names = {
        ("ovr", "macro"): "auc",
        ("ovr", "weighted"): "auc_weighted",
        ("ovo", "macro"): "auc_ovo",
    }
    return PROBABILITIES.get(names.get((way, options["average"]), ""))


def _average_precision(options: Options, classes: Array) -> Measure | None:
    if options["average"] != "macro":
        return None
    name = "average_precision_score"
    if len(classes) == 2 and _positive(name, options["pos_label"], classes) == 0:
        return _ranking_of_class("average_precision", name, 0, 2)
    return PROBABILITIES["average_precision"]


def _are_all(labels: Any, classes: Array) -> bool:
    """Whether labels that a function is told are the classes of the evaluation, or not told."""
    return labels is None or np.array_equal(np.unique(np.asarray(labels)), classes)


def _set_score(name: str, options: Options, classes: Array) -> Measure | None:
    how, undefined = options["average"], _undefined(options["zero_division"])
    if how is None:
        raise ValueError(
            f"{name} with average=None gives a value for every class, and a measure is one "
            'number. Pass average="macro", or the classes one by one as in "f1:UP".'
        )
    of_class = _of_class(name, options)
    if undefined is None or of_class is None or how not in ("binary", "micro", "macro", "weighted"):
        return None
    macro = CLASSIFICATION["f1_macro"]
    if how == "binary":
        code = _positive(name, options["pos_label"], classes)
        if code is None:
            return None
        one = partial(_of_one_class, of_class=of_class, code=code, undefined=undefined)
        return replace(macro, formula=one)
    if how == "micro":
        # Taken together, every wrong row is a false positive of one class and a false negative
        # of another: precision, recall and F are all the accuracy.
        accuracy = CLASSIFICATION["accuracy"]
        return replace(accuracy, formula=_micro_jaccard) if name == "jaccard_score" else accuracy
    return replace(
        macro, formula=partial(_average, of_class=of_class, how=how, undefined=undefined)
    )


def _undefined(zero_division: Any) -> float | None:
    """The value that scikit-learn gives to 0/0; None where the option is an error there."""
    if isinstance(zero_division, str):
        return 0.0 if zero_division == "warn" else None
    if isinstance(zero_division, int | float) and (
        zero_division in (0, 1) or math.isnan(zero_division)
    ):
        return float(zero_division)
    return None


def _of_class(name: str, options: Options) -> Formula | None:
    if name == "fbeta_score":
        beta = options["beta"]
        if not isinstance(beta, int | float) or not 0.0 <= beta < math.inf:
            return None
        if beta == 0.0:
            return formulas.class_precision
        return formulas.class_f1 if beta == 1.0 else partial(formulas.class_fbeta, beta=beta)
    return {
        "f1_score": formulas.class_f1,
        "precision_score": formulas.class_precision,
        "recall_score": formulas.class_recall,
        "jaccard_score": formulas.class_jaccard,
    }[name]


def _positive(name: str, label: Any, classes: Array) -> int | None:
    """Code of the class that counts as positive; None where scikit-learn has to decide."""
    if len(classes) > 2:
        raise ValueError(
            f'{name} has average="binary" unless another is given, and there are '
            f'{len(classes)} classes. Pass functools.partial({name}, average="macro") (or '
            '"weighted", "micro").'
        )
    known = classes.tolist()
    if label in known:
        return int(known.index(label))
    if len(known) == 2:
        raise ValueError(
            f"{name} has pos_label={label!r}, and the classes are {known}. Pass "
            f"functools.partial({name}, pos_label={known[1]!r}), or another average."
        )
    return None


_SET_OPTIONS = ("average", "pos_label", "zero_division", "beta")
_SET_SCORES = ("f1_score", "fbeta_score", "precision_score", "recall_score", "jaccard_score")
#: By name: the options that are understood, and what makes the running form of them.
_CLASSIFICATION: dict[str, tuple[tuple[str, ...], Builder]] = {
    "accuracy_score": ((), _plain(CLASSIFICATION["accuracy"])),
    "zero_one_loss": ((), _plain(CLASSIFICATION["error"])),
    "hamming_loss": ((), _plain(CLASSIFICATION["error"])),
    "balanced_accuracy_score": ((), _plain(CLASSIFICATION["arithmetic_accuracy"])),
    "cohen_kappa_score": ((), _plain(CLASSIFICATION["kappa"])),
    "matthews_corrcoef": ((), _plain(CLASSIFICATION["mcc"])),
    "log_loss": (("normalize", "labels"), _log_loss),
    # Of two classes the score is the same whichever is called the positive one.
    "brier_score_loss": (("scale_by_half", "labels", "pos_label"), _brier),
    "roc_auc_score": (("average", "max_fpr", "multi_class", "labels"), _area),
    "average_precision_score": (("average", "pos_label"), _average_precision),
    "top_k_accuracy_score": (("k", "normalize", "labels"), _top_k),
    **{name: (_SET_OPTIONS, partial(_set_score, name)) for name in _SET_SCORES},
}
_REGRESSION: dict[str, tuple[tuple[str, ...], Builder]] = {
    "mean_absolute_error": ((), _plain(REGRESSION["mae"])),
    "mean_absolute_percentage_error": ((), _plain(REGRESSION["mape"])),
    "mean_squared_error": ((), _plain(REGRESSION["mse"])),
    "root_mean_squared_error": ((), _plain(REGRESSION["rmse"])),
    "mean_pinball_loss": (("alpha",), _pinball),
    "r2_score": (("force_finite",), _r2),
}
#: Measures whose facts hold for a function whatever its options are.
_FACTS: dict[str, Measure] = {
    "cohen_kappa_score": CLASSIFICATION["kappa"],
    "r2_score": REGRESSION["r2"],
    "explained_variance_score": REGRESSION["r2"],
    "d2_absolute_error_score": REGRESSION["r2"],
    "d2_pinball_score": REGRESSION["r2"],
    "d2_tweedie_score": REGRESSION["r2"],
    "max_error": REGRESSION["mae"],
    "mean_absolute_error": REGRESSION["mae"],
    "mean_squared_error": REGRESSION["mse"],
    "mean_absolute_percentage_error": REGRESSION["mape"],
    "mean_pinball_loss": REGRESSION["pinball"],
    "median_absolute_error": REGRESSION["mae"],
    **dict.fromkeys(_SET_SCORES, CLASSIFICATION["f1_macro"]),
}


# --- formulas, as scikit-learn defines them ------------------------------------------------------


def _average(sums: Sums, of_class: Formula, how: str, undefined: float) -> Floats:
    """Average over the classes among the labels or the answers.

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

    Returns
    -------
    ndarray of shape (n_checkpoints,)
        NaN where nothing was scored.
    """
    values, label = sums.value(of_class), sums.table("label")
    seen = ~np.isnan(sums.value(formulas.class_f1))
    values = np.where(seen & np.isnan(values), undefined, values)
    plain = formulas.mean_over_seen(values)
    if how == "macro":
        return plain
    weights = np.where(np.isnan(values), 0.0, label)
    total = weights.sum(axis=0)
    weighted = formulas.ratio(np.where(weights > 0.0, weights * values, 0.0).sum(axis=0), total)
    return np.where(total > 0.0, weighted, plain)


def _of_one_class(sums: Sums, of_class: Formula, code: int, undefined: float) -> Floats:
    """Value of one class, with `undefined` for 0/0; NaN where nothing was scored."""
    values: Floats = sums.value(of_class)[code]
    return np.where(np.isnan(values) & (sums["rows"] > 0.0), undefined, values)


def _micro_jaccard(sums: Sums) -> Floats:
    """Jaccard of all classes taken together: every wrong row counts for two of them."""
    rows, wrong = sums["rows"], sums["wrong"]
    return formulas.ratio(rows - wrong, rows + wrong)


def _finite_r2(sums: Sums) -> Floats:
    """R2 where it is defined; of equal targets 1 if all are met, else 0."""
    values = sums.value(formulas.r2)
    met = np.where(sums["squared_error"] == 0.0, 1.0, 0.0)
    # One row is too few for scikit-learn. Its weight is 1 unless the user gave weights.
    return np.where(np.isnan(values) & (sums["rows"] > 1.0), met, values)


def _scaled(sums: Sums, formula: Formula, factor: float) -> Floats:
    """Multiple of the value of a formula."""
    return factor * sums.value(formula)
