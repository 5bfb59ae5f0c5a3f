"""A measure: how it is computed, and what it says about its values."""

import math
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any

from skstream.core.measures.formulas import Formula
from skstream.core.measures.series import KINDS, KindOf, OfColumn, baselines_of, columns_of_kinds
from skstream.utils._choices import check_choice, check_count

#: Loss of a single row, by the series whose mean is the measure.
ROW_LOSSES = {
    "wrong": "zero_one",
    "absolute_error": "absolute",
    "squared_error": "squared",
    "log_loss": "log",
    "brier": "brier",
}
#: What a measure may need, by the task whose evaluations have it.
TASKS = {
    "labels": "classification",
    "probabilities": "classification",
    "scores": "classification",
    "targets": "regression",
}
#: Of these, what a model tells beside its answers: probabilities, or any ranking.
OF_SCORES = ("probabilities", "scores")
#: Bounds of a measure that may have any value.
ANY = (-math.inf, math.inf)


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
    row_loss : {"zero_one", "absolute", "squared", "log", "brier"}, default=None
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
        (probabilities or decision values), or numbers. None: labels and numbers, or probabilities
        where a series is made of them.
    max_classes : int, default=None
        Most classes for which it is defined; None: any number.
    n_classes : int, default=None
        The only number of classes for which it is defined; None: any number.

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
    bounds: tuple[float, float] = ANY
    row_loss: str | None = None
    formula: Formula | None = None
    series: frozenset[KindOf] = frozenset({"rows"})
    needs: str | None = None
    max_classes: int | None = None
    n_classes: int | None = None

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
        losses = (*ROW_LOSSES.values(), None)
        check_choice(self.row_loss, "The 'row_loss' parameter of Measure", losses)
        if self.higher_is_better is not None:  # plain, so that it can be saved
            object.__setattr__(self, "higher_is_better", bool(self.higher_is_better))
        object.__setattr__(self, "bounds", _checked_bounds(self.bounds))
        object.__setattr__(self, "series", _checked_series(self.series))
        if self.formula is None and self.series != {"rows"}:
            raise ValueError(
                "The 'series' parameter of Measure names the series of a formula, and there is "
                "none: leave it out, or pass formula=."
            )
        check_choice(self.needs, "The 'needs' parameter of Measure", (*TASKS, None))
        reads_scores = any(
            column.of_scores and not column.of_labels for column in columns_of_kinds(self.series)
        )
        if reads_scores and self.needs not in OF_SCORES:
            if self.needs is not None:
                raise ValueError(
                    f"Measure {self.name!r} is computed from series of probabilities and says that "
                    f'it needs {self.needs}: pass needs="probabilities", or leave it out.'
                )
            object.__setattr__(self, "needs", "probabilities")
        for parameter in ("max_classes", "n_classes"):
            number = getattr(self, parameter)
            if number is not None:
                number = check_count(number, f"The {parameter!r} parameter of Measure", 1)
                object.__setattr__(self, parameter, number)
        if not self.name:
            object.__setattr__(self, "name", self._own_name())

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
        follows = any(column.follows for column in columns_of_kinds(self.series))
        return not follows and not baselines_of(self.series)

    @property
    def facts(self) -> dict[str, Any]:
        """What it says of its values: all parameters but those that say how to compute them."""
        names = sorted({*self.__dataclass_fields__} - {"function", "formula", "series"})
        return {name: getattr(self, name) for name in names}


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
    """Name of a function, also within a partial, or of the class of an object."""
    if isinstance(function, partial):
        return name_of(function.func)
    return str(getattr(function, "__name__", type(function).__name__))


def named(
    name: str,
    formula: Formula,
    *series: KindOf,
    needs: str = "labels",
    higher_is_better: bool | None = True,
    **facts: Any,
) -> Measure:
    """Make a measure of this package: a formula over series, and what it says of its values."""
    return Measure(
        name=name,
        formula=formula,
        series=frozenset(series),
        needs=needs,
        higher_is_better=higher_is_better,
        row_loss=ROW_LOSSES.get(str(series[0])) if len(series) == 1 else None,
        **facts,
    )
