"""The named measures: a formula each, and the elementary series it needs."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from numbers import Real
from typing import Any, Self

from skstream.metrics import _formulas as formulas
from skstream.metrics._columns import OfColumn
from skstream.metrics._formulas import Formula
from skstream.metrics._series import KINDS, KindOf, baselines_of, columns_of
from skstream.utils._choices import is_integer
from skstream.utils._sklearn import scorer_parts

#: Loss of a single row, by the series whose mean is the measure.
_ROW_LOSSES = {"wrong": "zero_one", "absolute_error": "absolute", "squared_error": "squared"}
#: What a measure may need, by the task whose evaluations have it.
TASKS = {
    "labels": "classification",
    "probabilities": "classification",
    "scores": "classification",
    "targets": "regression",
}
#: Of these, what a model tells beside its answers: probabilities, or any ranking.
OF_SCORES = ("probabilities", "scores")
_ANY = (-math.inf, math.inf)
_SHARE = (0.0, 1.0)


@dataclass(frozen=True)
class Measure:
    """A measure of answers: how it is computed, and what it says about its values.

    Make one from your own function to tell results whether a higher value is better. In a result
    measures have neither function nor formula: plain data, saved with it.

    Parameters
    ----------
    function : callable, default=None
        ``function(y_true, y_pred)``, with a parameter ``sample_weight`` if it is to be used with
        weights or fading factors.
    name : str, default=""
        Name of the measure in tables; empty: that of the function or formula. A result may call
        it by another.
    higher_is_better : bool, default=None
        False for a loss or a cost. None: not known, or it does not say how good a model is; then
        `compare` and `rank` refuse the measure.
    baseline_is_zero : bool, default=False
        Whether 0 is the value of a naive guess (chance, the majority class, the label before);
        plots then mark the area below it.
    bounds : tuple of two float, default=(-inf, inf)
        Smallest and largest value that can occur; results warn of a value beyond them.
    row_loss : {"zero_one", "absolute", "squared"}, default=None
        Loss of a single row whose mean decides the measure, if there is one; the tests over rows
        then take this loss.
    formula : callable, default=None
        Instead of a function, a formula over sums of elementary series: of an object with
        ``sums["wrong"]``, an array of shape (n_checkpoints,), and ``sums.table("hit")`` of shape
        (n_classes, n_checkpoints), to an array of shape (n_checkpoints,).
    series : set of str
        Kinds of elementary series in the formula.
    needs : {"labels", "probabilities", "scores", "targets"}, default=None
        What it is defined for: labels of classes, their probabilities, any scores that rank rows
        (probabilities or decision values), or numbers. None: labels and numbers.
    max_classes : int, default=None
        Most classes for which it is defined; None: any number.

    Raises
    ------
    TypeError
        If the function cannot be called, or a name is no text.
    ValueError
        If another parameter is not valid.

    See Also
    --------
    resolve_metrics : What an evaluator makes of its parameter `metrics`.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream import Persistent, PrequentialEvaluator
    >>> from skstream.metrics import Measure
    >>> from skstream.streams import make_demo_stream
    >>> def cost(y_true, y_pred):
    ...     return 5.0 * np.mean((y_true == "UP") & (y_pred != y_true))
    >>> evaluator = PrequentialEvaluator([Measure(cost, higher_is_better=False)])
    >>> result = evaluator.evaluate(Persistent(), make_demo_stream(200))
    >>> result.measures["cost"].higher_is_better
    False
    """

    function: Callable[..., Any] | None = None
    _: KW_ONLY
    name: str = ""
    higher_is_better: bool | None = None
    baseline_is_zero: bool = False
    bounds: tuple[float, float] = _ANY
    row_loss: str | None = None
    formula: Formula | None = None
    series: frozenset[KindOf] = frozenset({"rows"})
    needs: str | None = None
    max_classes: int | None = None

    def __post_init__(self) -> None:
        """Check the parameters; without a name, use that of the function."""
        if not isinstance(self.name, str):
            raise TypeError(
                "The 'name' parameter of Measure must be a str. "
                f"Got {self.name!r} of type {type(self.name).__name__} instead."
            )
        if self.function is not None and self.formula is not None:
            raise ValueError(
                "A Measure is computed by a function f(y_true, y_pred) or by a formula over sums "
                "of series: pass one of the two."
            )
        named_alone = self.function is None and bool(self.name)
        if self.formula is None and not callable(self.function) and not named_alone:
            raise TypeError(
                "A Measure is made of a function f(y_true, y_pred). "
                f"Got {self.function!r} of type {type(self.function).__name__} instead; a name "
                "such as 'kappa' is already a measure."
            )
        if self.higher_is_better not in (True, False, None):
            raise ValueError(
                "The 'higher_is_better' parameter of Measure must be True (the larger the "
                f"better), False (a loss) or None (not known). Got {self.higher_is_better!r} "
                "instead."
            )
        if self.row_loss not in (None, *_ROW_LOSSES.values()):
            raise ValueError(
                "The 'row_loss' parameter of Measure must be a str among "
                f"{set(_ROW_LOSSES.values())} or None. Got {self.row_loss!r} instead."
            )
        if self.higher_is_better is not None:  # plain, so that it can be saved
            object.__setattr__(self, "higher_is_better", bool(self.higher_is_better))
        object.__setattr__(self, "bounds", _checked_bounds(self.bounds))
        object.__setattr__(self, "series", _checked_series(self.series))
        if self.formula is None and self.series != {"rows"}:
            raise ValueError(
                "The 'series' parameter of Measure names the series of a formula, and there is "
                "none: leave it out, or pass formula=."
            )
        if self.needs not in (None, *TASKS):
            raise ValueError(
                f"The 'needs' parameter of Measure must be a str among {set(TASKS)} or None. "
                f"Got {self.needs!r} instead."
            )
        if self.max_classes is not None:
            if not is_integer(self.max_classes) or self.max_classes < 1:
                raise ValueError(
                    "The 'max_classes' parameter of Measure must be a positive int or None. "
                    f"Got {self.max_classes!r} instead."
                )
            object.__setattr__(self, "max_classes", int(self.max_classes))
        if not self.name:
            object.__setattr__(self, "name", self._own_name())

    @classmethod
    def of_name(cls, name: str) -> Self:
        """Return what is known of a measure by its name alone."""
        kind, colon, _ = name.partition(":")
        if colon and kind in OF_CLASS:
            return cls(**class_measure(kind, "", 0).facts)
        measure = {**CLASSIFICATION, **REGRESSION}.get(name)
        return cls(name=name) if measure is None else cls(**measure.facts)

    def _own_name(self) -> str:
        """Name of the function or formula."""
        if self.formula is None:
            assert self.function is not None
            return name_of(self.function)
        if not callable(self.formula):
            raise TypeError(
                "The 'formula' parameter of Measure must be a function of sums. "
                f"Got {self.formula!r} of type {type(self.formula).__name__} instead."
            )
        name = name_of(self.formula)
        if name == "<lambda>":
            raise ValueError("The formula of a Measure is a lambda, which has no name: pass name=.")
        return name

    @property
    def mergeable(self) -> bool:
        """Whether no series needs the rows before across the border of two parts of a stream."""
        follows = any(column.follows for column in columns_of(self.series))
        return not follows and not baselines_of(self.series)

    @property
    def facts(self) -> dict[str, Any]:
        """What it says of its values: all parameters but those that say how to compute them."""
        names = {field.name for field in fields(self)} - {"function", "formula", "series"}
        return {name: getattr(self, name) for name in sorted(names)}


def _checked_series(series: Any) -> frozenset[KindOf]:
    if isinstance(series, str) or not isinstance(series, Iterable):
        wanted = {series} if isinstance(series, str) and series in KINDS else {"wrong", "label"}
        raise TypeError(
            f"The 'series' parameter of Measure must be a set of str, such as {sorted(wanted)}. "
            f"Got {series!r} of type {type(series).__name__} instead."
        )
    names = frozenset({"rows", *series})
    unknown = {name for name in names if not isinstance(name, OfColumn)} - KINDS.keys()
    if unknown:
        raise ValueError(
            f"The 'series' parameter of Measure names {sorted(unknown, key=str)}. "
            f"The kinds of series are {sorted(KINDS)}."
        )
    return names


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    try:
        low, high = bounds
    except (TypeError, ValueError):
        low = high = None
    if not (isinstance(low, Real) and isinstance(high, Real) and low < high):
        raise ValueError(
            "The 'bounds' parameter of Measure must be two numbers (lowest, highest). "
            f"Got {bounds!r} instead."
        )
    return float(low), float(high)


def name_of(function: Callable[..., Any]) -> str:
    """Name of a function, also within a partial or scorer, or of the class of an object."""
    if isinstance(function, partial):
        return name_of(function.func)
    parts = scorer_parts(function)
    if parts is not None:
        return f"{'neg_' if parts[1] < 0 else ''}{name_of(parts[0])}"
    return str(getattr(function, "__name__", type(function).__name__))


def _measure(
    name: str,
    formula: Formula,
    *series: str,
    needs: str = "labels",
    higher_is_better: bool | None = True,
    baseline_is_zero: bool = False,
    bounds: tuple[float, float] = _ANY,
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
        row_loss=_ROW_LOSSES.get(series[0]) if len(series) == 1 else None,
    )


_share = partial(_measure, bounds=_SHARE)
_skill = partial(_measure, baseline_is_zero=True, bounds=(-math.inf, 1.0))
_proper = partial(_measure, needs="probabilities", higher_is_better=False)
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

#: Measures of one class, named e.g. "f1:UP".
OF_CLASS = {
    "f1": formulas.class_f1,
    "precision": formulas.class_precision,
    "recall": formulas.class_recall,
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
}

#: Measures of probabilities, which evaluators cannot compute yet.
PROBABILITIES = {
    measure.name: measure
    for measure in (
        _proper("log_loss", formulas.log_loss, "log_loss", bounds=(0.0, math.inf)),
        _proper("brier", formulas.brier, "brier", bounds=(0.0, 2.0)),
    )
}

DEFAULT_CLASSIFICATION = ("accuracy", "kappa", "kappa_m", "kappa_temporal", "kappa_plus")
DEFAULT_REGRESSION = ("mae", "rmse", "r2")


def needs_probabilities(what: str) -> str:
    """Say that an evaluation has no probabilities, and what to measure instead."""
    return (
        f"{what} needs probabilities or decision values, and labels alone cannot give it: an "
        "evaluation asks models for labels. Use a measure of labels, such as 'kappa', "
        "'arithmetic_accuracy' or 'f1_macro'."
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
    return measure


def class_measure(kind: str, label: Any, code: int) -> Measure:
    """Measure of one class, e.g. the F1 of "UP"."""
    formula = partial(formulas.of_class, formula=OF_CLASS[kind], code=code)
    return _share(f"{kind}:{label}", formula, *_CLASSES)
