"""Measures with a parameter, which is part of their names."""

from typing import Any

from skstream.core.measures.formulas import Formula, MeanOf
from skstream.core.measures.measure import Measure, named
from skstream.core.measures.series import KindOf, OfColumn


def parametrised(
    name: str,
    formula: Formula,
    series: tuple[KindOf, ...],
    parameter: Any,
    default: Any,
    *,
    higher_is_better: bool | None = False,
    needs: str = "probabilities",
    **facts: Any,
) -> Measure:
    """Measure of one parameter, which is part of its name where it is not the default."""
    called = name if parameter == default else f"{name}:{parameter}"
    return named(called, formula, *series, needs=needs, higher_is_better=higher_is_better, **facts)


def mean_of(name: str, series: OfColumn, parameter: Any, default: Any, **facts: Any) -> Measure:
    """Measure that is the mean of a column."""
    return parametrised(name, MeanOf(series), (series,), parameter, default, **facts)
