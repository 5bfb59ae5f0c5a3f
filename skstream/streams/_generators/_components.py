"""Components of a mixture of Gaussians: what a user declares, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from skstream.streams._generators._base import check_numbers, floats_of
from skstream.utils._choices import check_count, check_number

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Phase:
    """Rows over which a component changes linearly.

    Until row `start` the component is unchanged; from row `end` on it is fully changed; a row in
    between has the share ``(row - start) / (end - start)`` of the change. If both are the same row,
    the component changes at once, at this row.

    Parameters
    ----------
    start, end : int
        Last row before the change, and the first row after it.
    move : sequence of float, default=None
        Vector added to the center, one number per feature; None: nothing.
    rotate : float, default=0.0
        Degrees by which the covariance turns, counter-clockwise; the center is unchanged.
    scale : float, default=1.0
        Factor of the covariance: of variances, not of standard deviations.
    weight : float, default=None
        Weight at the end; None: unchanged.
    orbit : float, default=0.0
        Degrees by which the center turns around the origin, counter-clockwise; the covariance is
        unchanged. A move is added to the turned center.
    plane : tuple of two int, default=(0, 1)
        Features in whose plane `rotate` and `orbit` turn, from the first to the second. With two
        features there is only one plane.

    See Also
    --------
    Component : Changes in phases.

    Examples
    --------
    >>> from skstream.streams import Phase
    >>> Phase(0, 9999, move=(10, 10)).move
    (10.0, 10.0)
    """

    start: int
    end: int
    _: KW_ONLY
    move: Sequence[float] | None = None
    rotate: float = 0.0
    scale: float = 1.0
    weight: float | None = None
    orbit: float = 0.0
    plane: tuple[int, int] = (0, 1)

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            _set(self, name, check_count(getattr(self, name), f"{name} of a phase", 0))
        if self.end < self.start:
            raise ValueError(
                f"A phase must not end before it starts. Got start={self.start}, end={self.end}."
            )
        if self.move is not None:
            _set(self, "move", check_numbers(self.move, "move of a phase"))
        for name in ("rotate", "orbit"):
            _set(
                self,
                name,
                check_number(getattr(self, name), f"{name} of a phase, in degrees,", least=-np.inf),
            )
        _set(self, "scale", check_number(self.scale, "scale of a phase", above=0))
        if self.weight is not None:
            _set(self, "weight", check_number(self.weight, "weight of a phase"))
        _set(self, "plane", _plane(self.plane))

    @property
    def turns(self) -> bool:
        """Whether the center or the covariance turns."""
        return bool(self.rotate or self.orbit)


@dataclass(frozen=True)
class Component:
    """One Gaussian of a mixture, and how it changes along the stream.

    Parameters
    ----------
    label : label
        Class of its rows: a text or an integer. Several components may share a class.
    weight : float
        Weight at the beginning. The prior of a component is its weight times that of its class,
        divided by the sum of these over all components that exist.
    center : sequence of float
        Mean at the beginning, one number per feature.
    variances : sequence of float
        Variances along the axes of the Gaussian (not standard deviations), one per feature.
    rotation : float or array-like of shape (n_features, n_features), default=0.0
        How the axes lie: degrees counter-clockwise in the plane of the first two features, or, in
        any dimension, an orthogonal matrix whose columns are the directions of the axes.
    start : int, default=0
        First row at which the component exists.
    phases : sequence of Phase, default=()
        Changes, in order. Each starts from the state after the previous one; row numbers are those
        of the stream, whatever `start` is.

    See Also
    --------
    GaussianMixtureStream : Stream of such components.

    Examples
    --------
    >>> from skstream.streams import Component, Phase
    >>> component = Component("A", 1, (0, 0), (2.5, 1), 45, phases=[Phase(0, 9999, move=(10, 10))])
    >>> component.variances
    (2.5, 1.0)
    """

    label: Any
    weight: float
    center: Sequence[float]
    variances: Sequence[float]
    rotation: float | Rows = 0.0
    _: KW_ONLY
    start: int = 0
    phases: Sequence[Phase] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.label, str | Integral | np.bool_):
            raise ValueError(
                f"label of a component must be a text, an integer or a boolean. Got {self.label!r} "
                f"instead."
            )
        of_it = f"of component {self.label!r}"
        _set(self, "weight", check_number(self.weight, f"weight {of_it}"))
        _set(self, "center", check_numbers(self.center, f"center {of_it}"))
        _set(self, "variances", check_numbers(self.variances, f"variances {of_it}"))
        n_features = len(self.center)
        if len(self.variances) != n_features or min(self.variances) <= 0:
            raise ValueError(
                f"The covariance {of_it} must be positive definite: variances must be {n_features} "
                f"numbers > 0, one per feature of its center. Got {self.variances}."
            )
        _set(self, "rotation", _rotation(self.rotation, n_features, of_it))
        _set(self, "start", check_count(self.start, f"start {of_it}", 0))
        _set(self, "phases", _phases(self.phases, n_features, of_it))
        if not (self.weight or any(phase.weight for phase in self.phases)):
            raise ValueError(
                f"Component {self.label!r} at {self.center} has weight 0 at every row: give it a "
                "weight, directly or in a phase, or leave it out."
            )


def _set(one: Any, name: str, value: Any) -> None:
    object.__setattr__(one, name, value)


def _plane(value: Any) -> tuple[int, int]:
    try:
        first, second = (check_count(axis, "plane", 0) for axis in value)
    except (TypeError, ValueError):
        first = second = 0
    if first == second:
        raise ValueError(
            f"plane of a phase must be two different numbers of features, such as (0, 1). Got "
            f"{value!r} instead."
        )
    return first, second


def _rotation(value: Any, n_features: int, of_it: str) -> float | Rows:
    if isinstance(value, Real):
        degrees = check_number(value, f"rotation {of_it}, in degrees,", least=-np.inf)
        if degrees and n_features < 2:
            raise ValueError(
                f"rotation {of_it} must be 0: a single feature has no direction. Got {value!r}."
            )
        return degrees
    matrix = floats_of(value)
    fits = matrix.shape == (n_features, n_features)
    if not fits or not np.allclose(matrix @ matrix.T, np.eye(n_features)):
        raise ValueError(
            f"rotation {of_it} must be a number of degrees, or an orthogonal matrix of shape "
            f"{(n_features, n_features)}. Got {value!r} instead."
        )
    return tuple(map(tuple, matrix.tolist()))


def _phases(value: Any, n_features: int, of_it: str) -> tuple[Phase, ...]:
    phases = tuple(value) if hasattr(value, "__iter__") else (value,)
    last = 0
    for phase in phases:
        if not isinstance(phase, Phase):
            raise TypeError(f"phases {of_it} must be a sequence of Phase. Got {phase!r} in it.")
        rows = f"the phase from row {phase.start} to {phase.end}"
        if phase.start < last:
            raise ValueError(
                f"Phases {of_it} must follow each other: {rows} starts before the previous one "
                f"ends, at row {last}."
            )
        last = phase.end
        if phase.move is not None and len(phase.move) != n_features:
            raise ValueError(
                f"move of a phase must have as many numbers as the center: {rows} {of_it} has "
                f"{len(phase.move)}, the center {n_features}."
            )
        if phase.turns and max(phase.plane) >= n_features:
            raise ValueError(
                f"A phase turns in the plane of two features: {rows} {of_it} turns in that of "
                f"{phase.plane}, but there are {n_features}, numbered from 0."
            )
    return phases
