"""A measure: how it is computed, and what it says about its values."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from skstream.core.measures.checkpoints import MAX_CHECKPOINTS
from skstream.core.measures.formulas import Formula
from skstream.core.measures.rows import Array, Floats, Integers, ScoredRows
from skstream.core.measures.series import KINDS, KindOf, OfColumn, columns_of_kinds
from skstream.utils._labels import UNANSWERED
from skstream.utils._sklearn import Interval, StrOptions, validate_parameter_constraints
from skstream.utils._warnings import warn

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
#: What a model returns besides its predictions: probabilities, or any ranking.
OF_SCORES = ("probabilities", "scores")
#: Bounds of a measure that may have any value.
ANY = (-math.inf, math.inf)
#: With so few rows, or so few calls of a function, the time is short and there is no warning.
FEW_ROWS, FEW_CALLS = 10_000, 64


_COUNT = [Interval(Integral, 1, None, closed="left"), None]
_CONSTRAINTS = {
    "name": [str],
    "higher_is_better": ["boolean", None],
    "row_loss": [StrOptions({*ROW_LOSSES.values()}), None],
    "needs": [StrOptions({*TASKS}), None],
    "max_classes": _COUNT,
    "n_classes": _COUNT,
    "baseline_is_zero": "no_validation",
    "bounds": "no_validation",
}


@dataclass(frozen=True)
class Measure:
    """A measure of predictions: how it is computed, and properties of its values.

    Make one from your own function to declare whether higher values are better. In a result,
    measures have neither function nor formula: they are plain data, saved with the result.

    Parameters
    ----------
    function : callable, default=None
        ``function(y_true, y_pred)``, with a parameter ``sample_weight`` for use with weights or
        fading factors.
    name : str, default=""
        Name of the measure in tables; empty: that of the function or formula. A result may use a
        different name.
    higher_is_better : bool, default=None
        False for a loss or a cost. None: unknown, or not a matter of better or worse; `compare` and
        `rank` then refuse the measure.
    baseline_is_zero : bool, default=False
        Whether 0 is the value of a naive guess (chance, the majority class, the previous label);
        plots then mark the area below it.
    bounds : tuple of two float, default=(-inf, inf)
        Smallest and largest possible value; results warn of values beyond them.
    row_loss : {"zero_one", "absolute", "squared", "log", "brier"}, default=None
        Loss of a single row whose mean determines the measure, if there is one; tests over rows use
        it.
    formula : callable, default=None
        Instead of a function, a formula over sums of elementary series. It gets an object with
        ``sums["wrong"]``, an array of shape (n_checkpoints,), and ``sums.table("hit")`` of shape
        (n_classes, n_checkpoints), and returns an array of shape (n_checkpoints,).
    series : set of str
        Kinds of elementary series used in the formula.
    needs : {"labels", "probabilities", "scores", "targets"}, default=None
        Its input: class labels, their probabilities, any scores that rank rows (probabilities or
        decision values), or numeric targets. None: labels and numbers, or probabilities if a series
        is computed from them.
    max_classes : int, default=None
        Largest number of classes for which it is defined; None: any number.
    n_classes : int, default=None
        The only number of classes for which it is defined; None: any number.

    Raises
    ------
    TypeError
        If the function cannot be called, or a name is not a text.
    ValueError
        If another parameter is not valid.

    See Also
    --------
    resolve_metrics : Resolves the parameter `metrics` of evaluators.

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
        validate_parameter_constraints(_CONSTRAINTS, self.facts, caller_name="Measure")
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
        series, needs = _checked_series(self.series), self.needs
        if self.formula is None and series != {"rows"}:
            raise ValueError(
                "The 'series' parameter of Measure names the series of a formula, but there is "
                "none: leave it out, or pass formula=."
            )
        for column in columns_of_kinds(series):
            if column.of_scores and not column.of_labels and needs not in OF_SCORES:
                if needs is not None:
                    raise ValueError(
                        f"Measure {self.name!r} is computed from series of probabilities but says "
                        f'that it needs {needs}: pass needs="probabilities", or leave it out.'
                    )
                needs = "probabilities"
        better = self.higher_is_better  # plain, so that it can be saved
        object.__setattr__(self, "higher_is_better", None if better is None else bool(better))
        object.__setattr__(self, "bounds", _checked_bounds(self.bounds))
        object.__setattr__(self, "series", series)
        object.__setattr__(self, "needs", needs)
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
    def facts(self) -> dict[str, Any]:
        """Properties of its values: all parameters but those that define the computation."""
        facts = dict(sorted(vars(self).items()))
        for name in ("function", "formula", "series"):
            facts.pop(name)
        return facts


def _checked_series(series: Any) -> frozenset[KindOf]:
    if isinstance(series, str) or not isinstance(series, Iterable):
        wanted = {series} if isinstance(series, str) and series in KINDS else {"wrong", "label"}
        raise TypeError(
            f"The 'series' parameter of Measure must be a set of str, such as {sorted(wanted)}. "
            f"Got {series!r} of type {type(series).__name__} instead."
        )
    for kind in series:
        if not isinstance(kind, OfColumn) and kind not in KINDS:
            raise ValueError(
                f"The 'series' parameter of Measure names {kind!r}. The kinds of series are "
                f"{sorted(KINDS)}."
            )
    return frozenset({"rows", *series})


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


def warn_of_calls(metrics: Mapping[str, Measure], n_rows: int | None, record_every: Any) -> None:
    """Warn that measures without a running form are slow, on long streams.

    Parameters
    ----------
    metrics : mapping of str to Measure
        From `resolve_metrics`.
    n_rows : int or None
        Rows of the stream; None where that is not known.
    record_every : int, str, timedelta or None
        Distance of the checkpoints; None: at most 1,024 of them.
    """
    called = []
    for name, measure in metrics.items():
        if measure.function is not None:
            called.append(name)
    if not called or (n_rows is not None and n_rows <= FEW_ROWS):
        return
    n_calls = MAX_CHECKPOINTS if record_every is None else None
    if isinstance(record_every, int) and n_rows is not None:
        n_calls = n_rows // record_every
    if n_calls is not None and n_calls < FEW_CALLS:
        return
    at = "every checkpoint" if n_calls is None else f"some {n_calls:,} checkpoints"
    warn(
        f"Measures {called} cannot be updated row by row: they are called at {at}, each time on "
        "all rows that the forgetting remembers, for every model and fold. That is hundreds of "
        "times slower than a measure by name or a function of scikit-learn or skstream.metrics "
        "with the usual options. A larger record_every= means fewer calls."
    )


def takes_weights(function: Callable[..., Any]) -> bool:
    """Whether a measure has a parameter ``sample_weight``."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def check_take_weights(metrics: Mapping[str, Measure]) -> None:
    """Refuse functions without a parameter ``sample_weight``, for rows that have weights."""
    for name, measure in metrics.items():
        if measure.function is not None and not takes_weights(measure.function):
            raise takes_no_weights(name)


def takes_no_weights(name: str) -> ValueError:
    """Return the error to raise for a function without a parameter ``sample_weight``."""
    return ValueError(
        f"Measure {name!r} has no sample_weight parameter, which weighted rows and fading factors "
        "need. Add one to the function, or use a sliding window and no weights."
    )


def call_at_checkpoints(
    name: str,
    measure: Measure,
    tape: ScoredRows,
    alpha: float,
    classes: Array | None,
    bounds: Integers,
    n_rows: Sequence[int],
) -> Floats:
    """Values of a user's function on what the mechanism remembers at every checkpoint.

    Parameters
    ----------
    name : str
        Name of the measure, for errors.
    measure : Measure
        With a ``function(y_true, y_pred)``, perhaps with ``sample_weight``.
    tape : ScoredRows
        All rows of one model that are needed.
    alpha : float
        What remains of a row's weight with every later row.
    classes : ndarray or None
        Labels that the codes stand for.
    bounds : ndarray of shape (2, n_checkpoints)
        For each checkpoint the oldest row on the tape that counts, and the first that does not.
    n_rows : sequence of int
        Rows of the stream read at the checkpoints, for errors.

    Returns
    -------
    ndarray of shape (n_checkpoints,)
        NaN where nothing was scored.
    """
    function, values = measure.function, np.full(len(n_rows), np.nan)
    assert function is not None
    for position, (start, stop) in enumerate(bounds.T.tolist()):
        if stop <= start:
            continue
        rows = tape[start:stop]
        y, p, weight = rows.y, rows.p, rows.weight
        if alpha < 1.0:
            faded = alpha ** np.arange(len(rows) - 1, -1, -1.0)
            weight = faded if weight is None else faded * weight
        if weight is not None and not takes_weights(function):
            raise takes_no_weights(name)
        if classes is not None:
            y, p = classes[y], classes[p]
            if rows.p.min() == UNANSWERED:
                p = p.astype(object)
                p[rows.p == UNANSWERED] = None
        try:
            options = {} if weight is None else {"sample_weight": weight}
            values[position] = float(function(y, p, **options))
        except Exception as error:
            raise RuntimeError(
                f"Measure {name!r} failed after {n_rows[position]} rows of the stream, on the last "
                f"{len(rows)} scored rows: {type(error).__name__}: {error}"
            ) from error
    return values


def formula_failed(name: str, error: Exception, n_rows: Sequence[int]) -> Exception:
    """Return the error to raise for a formula that raised one; it names the measure."""
    if isinstance(error, KeyError) and error.args and error.args[0] in KINDS:
        return ValueError(
            f"The formula of measure {name!r} uses sums of {error.args[0]!r}, which are missing in "
            f"its 'series' parameter. Add it: Measure(..., series={{{error.args[0]!r}, ...}})."
        )
    kinds = ""
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        kinds = f". The kinds of series are {sorted(KINDS)}."
    at = f"{n_rows[0]}" if len(set(n_rows)) == 1 else f"{n_rows[0]} to {n_rows[-1]}"
    return RuntimeError(
        f"The formula of measure {name!r} failed at the checkpoints after {at} rows of the "
        f"stream: {type(error).__name__}: {error}{kinds}"
    )


def checked_values(name: str, values: Any, shape: tuple[int, ...]) -> Floats:
    """Return the values of a formula as an array; raise an error where it is of another shape."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None or array.shape != shape:
        got = "" if array is None else f" of shape {array.shape}"
        raise ValueError(
            f"The formula of measure {name!r} must return one number for every checkpoint, an "
            f"array of shape {shape}. Got {type(values).__name__}{got} instead."
        )
    return array
