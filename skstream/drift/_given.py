"""Detectors and names of their parameters, as users give them."""

from typing import Any

from skstream.drift._base import DriftDetector


def check_detector(detector: Any, name: str = "detector") -> None:
    """Refuse what is no detector, and the class of one."""
    if isinstance(detector, DriftDetector):
        return
    if isinstance(detector, type):
        raise TypeError(
            f"{name} is the class {detector.__name__}, not an instance; pass {detector.__name__}()."
        )
    raise TypeError(
        f"{name} must be a drift detector of skstream.drift, such as PageHinkley(), or a subclass "
        f"of DriftDetector of your own. Got {detector!r} of type {type(detector).__name__} instead."
    )


def check_parameter(detector: DriftDetector, parameter: Any) -> None:
    """Say which parameters a detector has, where it has no such one."""
    names = sorted(detector.get_params(deep=False))
    if parameter not in names:
        raise ValueError(
            f"{type(detector).__name__} has no parameter {parameter!r}. It has {names}."
        )
