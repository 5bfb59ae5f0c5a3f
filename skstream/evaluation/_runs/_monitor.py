"""Monitors: which detector watches which series of a model's losses."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

import numpy as np
from sklearn.base import clone

from skstream.drift import DriftDetector
from skstream.drift._base import check_detector
from skstream.forgetting import Forgetting, as_forgetting
from skstream.metrics import Measure
from skstream.metrics._registry import CLASSIFICATION, OF_CLASSES, REGRESSION
from skstream.metrics._resolve import check_known_name, resolve_metrics
from skstream.utils._choices import check_place, is_integer, is_real, names_as_text
from skstream.utils._seeds import seed_estimator
from skstream.utils._warnings import warn

_LOSS = "loss"
_FORMS = (
    '"loss", a forgetting mechanism such as FadingFactor(0.997), or a measure with one, such as '
    '("kappa", "window:1000")'
)


@dataclass(frozen=True, repr=False, eq=False)
class DriftMonitor:
    """Say which drift detector watches a model while it is evaluated, and what it reads.

    What it reads is always a loss: where it rises, the model gets worse. Rows that are not scored
    (the warm-up, rows without a label, of weight 0, or that a fold was not asked about) are not
    read.

    Parameters
    ----------
    detector : DriftDetector
        The detector. Every model and fold gets a clone of it, which begins anew after an alarm by
        itself.
    on : "loss", Forgetting, str or tuple of (measure, Forgetting), default="loss"
        What the detector reads after every row. "loss": the loss of the row, 0 or 1. A forgetting
        mechanism, or its name as `parse_forgetting` reads it: the error rate under it, as Gama et
        al. (2013) do. A measure (as in the parameter `metrics` of an evaluator) and a forgetting
        mechanism: the value of the measure under it; where a higher value is better, its distance
        from the highest possible one, or, if there is none, minus the value. Rows at which it is
        undefined are not read.
    bin : int, default=None
        Under delayed labels: the bin whose answers are watched, from 0 (at arrival) to ``n_bins +
        1`` (when the label comes). None: the last.
    loss_bound : float, default=None
        For regressors, whose loss of a row is ``min(abs(y - answer) / loss_bound, 1)``: the error
        from which on larger ones count alike. It is needed unless `on` names a measure.

    Raises
    ------
    TypeError
        If `detector` is not a detector, or `on` nothing of the above.
    ValueError
        If another parameter is not valid.

    Warns
    -----
    UserWarning
        If the detector has read values: its clones have not.

    See Also
    --------
    EvaluationResult.detect : Detections from the tape, after the evaluation.

    Notes
    -----
    A detector without a `random_state` of its own gets one from the seed of the evaluation, the
    model and the fold. All monitors of a model read the same rows, whatever their weights are:
    weights count in the means of a forgetting mechanism, and a detector of losses reads every row
    alike.

    The values of a mean follow one another closely: detectors that take values for independent ones
    (`ADWIN`, `DDM`) raise many false alarms on them. Page-Hinkley's test is what Gama et al. use.

    Held-out rows are asked in sets at checkpoints, so that a `HoldoutEvaluator` has no monitors.

    References
    ----------
    Gama, J., Sebastião, R., & Rodrigues, P. P. (2013). On evaluating stream learning algorithms.
    Machine Learning, 90, 317-346. Section 5.

    Examples
    --------
    >>> from skstream import DriftMonitor, PrequentialEvaluator
    >>> from skstream.drift import DDM
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream.streams import SEA
    >>> evaluator = PrequentialEvaluator("accuracy", monitors={"ddm": DriftMonitor(DDM())})
    >>> result = evaluator.evaluate(IncrementalGaussianNB(), SEA(8000, random_state=0))
    >>> result.detections["ddm"]["IncrementalGaussianNB"].alarms
    array([4275, 7452, 7567, 7608, 7689])
    """

    detector: DriftDetector
    on: Any = _LOSS
    _: KW_ONLY
    bin: int | None = None
    loss_bound: float | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_detector(self.detector)
        _parts(self.on)
        if self.bin is not None and not (is_integer(self.bin) and self.bin >= 0):
            raise ValueError(
                "The 'bin' parameter of DriftMonitor must be an int of at least 0, or None. Got "
                f"{self.bin!r} instead."
            )
        bound = self.loss_bound
        if bound is not None and not (is_real(bound) and 0.0 < bound < np.inf):
            raise ValueError(
                "The 'loss_bound' parameter of DriftMonitor must be a positive number, or None. "
                f"Got {bound!r} instead."
            )
        if self.detector._state is not None:
            warn(
                f"The {type(self.detector).__name__} of a DriftMonitor has read values. Models are "
                "watched by clones of it, which have read nothing."
            )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether also those of the detector, as ``detector__delta``.

        Returns
        -------
        dict of str to object
            Values by name.
        """
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        if not deep:
            return own
        nested = self.detector.get_params()
        return own | {f"detector__{name}": value for name, value in nested.items()}

    def __repr__(self) -> str:
        others = [f"on={self.on!r}"] if self.on != _LOSS else []
        others += [
            f"{name}={value!r}"
            for name, value in (("bin", self.bin), ("loss_bound", self.loss_bound))
            if value is not None
        ]
        return f"{type(self).__name__}({', '.join([repr(self.detector), *others])})"


def _parts(on: Any) -> tuple[Any, Forgetting | None]:
    """Return the measure and the forgetting mechanism of a series; None for those not named."""
    if isinstance(on, str) and on == _LOSS:
        return None, None
    if isinstance(on, str) and on in {**OF_CLASSES, **REGRESSION}:
        raise ValueError(
            f"on={on!r} is a measure, and which rows it is taken over is not said: pass "
            f'on=({on!r}, "window:1000"), or another forgetting mechanism with it.'
        )
    measure, mechanism = on if isinstance(on, tuple) and len(on) == 2 else (None, on)
    if not isinstance(mechanism, str | Forgetting):
        raise TypeError(
            f"The 'on' parameter of DriftMonitor must be {_FORMS}. Got {on!r} of type "
            f"{type(on).__name__} instead."
        )
    if isinstance(measure, str):
        check_known_name(measure)
    (forgetting,) = as_forgetting(mechanism).values()
    return measure, forgetting


@dataclass(frozen=True, kw_only=True)
class Watched:
    """A monitor, resolved for the labels of an evaluation.

    Attributes
    ----------
    name : str
        Name of the monitor.
    detector : DriftDetector
        To be cloned.
    measure, forgetting : Measure and Forgetting, or None
        The series; None: the losses of single rows.
    bin : int
        Which of the lines of answers of a model is watched; 0 where it has one.
    loss_bound : float or None
        Largest absolute error, where the series is of bounded errors.
    """

    name: str
    detector: DriftDetector
    measure: Measure | None
    forgetting: Forgetting | None
    bin: int
    loss_bound: float | None

    def loss_of(self, values: np.ndarray) -> np.ndarray:
        """Return values of the measure as losses: the higher, the worse."""
        if self.measure is None or not self.measure.higher_is_better:
            return values
        highest = self.measure.bounds[1]
        return highest - values if np.isfinite(highest) else -values

    def detector_of(self, seed: int, model: str, fold: int) -> DriftDetector:
        """Return the detector of a model and fold; its random numbers depend on nothing else."""
        found: DriftDetector = seed_estimator(clone(self.detector), seed, "monitor", model, fold)
        return found


def watched(monitors: Any, classes: np.ndarray | None, n_bins: int | None) -> list[Watched]:
    """Resolve the parameter `monitors` of an evaluator, or say what is wrong with it.

    `n_bins` is the number of bins between arrival and label, None where there are none.
    """
    if monitors is None:
        return []
    if not isinstance(monitors, Mapping):
        wrapped = f"{{{type(monitors).__name__.lower()!r}: ...}}"
        raise TypeError(
            f"monitors must be a dict of DriftMonitor by name, such as {wrapped}. Got "
            f"{monitors!r} of type {type(monitors).__name__} instead."
        )
    return [
        resolved(name, monitor, classes, n_bins)
        for name, monitor in names_as_text(monitors, "monitors").items()
    ]


def resolved(
    name: str,
    monitor: Any,
    classes: np.ndarray | None,
    n_bins: int | None,
    default_bin: int | None = None,
) -> Watched:
    """Resolve one monitor; see `watched`.

    `default_bin` is the one that is watched if the monitor names none; None: the last.
    """
    if not isinstance(monitor, DriftMonitor):
        kind = type(monitor).__name__
        hint = f"; pass DriftMonitor({kind}(...))" if isinstance(monitor, DriftDetector) else ""
        raise TypeError(
            f"Monitor {name!r} must be a DriftMonitor. Got {monitor!r} of type {kind} "
            f"instead{hint}."
        )
    given, forgetting = _parts(monitor.on)
    if classes is None and isinstance(forgetting, Forgetting) and forgetting.follows_loss:
        raise ValueError(
            f"Monitor {name!r} is on {forgetting}, which follows the 0/1 loss of a classifier and "
            "is not defined for regression. Use SlidingWindow or FadingFactor."
        )
    bound = monitor.loss_bound
    if bound is not None and (classes is not None or given is not None):
        why = "a classifier is 0 or 1" if classes is not None else f"{given!r} is its own"
        raise ValueError(
            f"Monitor {name!r} has loss_bound={bound!r}, which bounds the absolute errors of "
            f"regressors, and the loss of {why}. Leave it out."
        )
    if bound is None and classes is None and given is None:
        raise ValueError(
            f"Monitor {name!r} watches the errors of regressors: pass loss_bound=, the error from "
            'which on larger ones count alike, or a measure, such as on=("mae", "window:1000").'
        )
    found = Watched(
        name=name,
        detector=monitor.detector,
        measure=_measure(name, given, forgetting, classes),
        forgetting=forgetting,
        bin=_line(name, monitor.bin, n_bins, default_bin),
        loss_bound=None if bound is None else float(bound),
    )
    _check_detector_takes(found, classes)
    return found


def _measure(
    name: str, given: Any, forgetting: Forgetting | None, classes: np.ndarray | None
) -> Measure | None:
    if forgetting is None:
        return None
    if given is None:
        return REGRESSION["mae"] if classes is None else CLASSIFICATION["error"]
    try:
        (measure,) = resolve_metrics([given], classes=classes).values()
    except (TypeError, ValueError) as error:
        raise ValueError(f"Monitor {name!r}: {error}") from error
    if measure.formula is None:
        raise ValueError(
            f"Monitor {name!r} reads a measure after every row, and {measure.name!r} is a function "
            "without a running form, which would be called for all its rows each time. Use a "
            "measure by name, or a Measure with a formula."
        )
    if measure.higher_is_better is None:
        raise ValueError(
            f"Monitor {name!r} watches whether a model gets worse, and it is not known which "
            f"direction of {measure.name!r} is the better one. Use another measure, or a Measure "
            "with higher_is_better=."
        )
    return measure


def _line(name: str, bin: int | None, n_bins: int | None, default_bin: int | None) -> int:
    if n_bins is None:
        if bin is not None:
            raise ValueError(
                f"Monitor {name!r} has bin={bin}, and only results under delayed labels have bins. "
                "Leave it out."
            )
        return 0
    last = n_bins + 1 if default_bin is None else default_bin
    return last if bin is None else check_place(f"bin of monitor {name!r}", bin, n_bins + 2)


def _check_detector_takes(one: Watched, classes: np.ndarray | None) -> None:
    """Raise an error if the detector refuses its own parameters, or values that will come."""
    kind = type(one.detector).__name__
    detector = seed_estimator(clone(one.detector), 0)
    detector.update_many([])
    if one.measure is None and classes is not None:
        values, words = [0.0, 1.0], "losses of 0 and 1"
    else:
        low, high = np.sort(one.loss_of(np.array(_bounds(one))))
        values, words = [0.5], "numbers between 0 and 1"
        if high > 1.0:
            values, words = [*values, 1.5], "numbers of at least 0"
        if low < 0.0:
            values, words = [*values, -0.5], "numbers, also negative ones"
    for value in values:
        try:
            clone(detector).update(value)
        except ValueError as error:
            raise ValueError(
                f"Monitor {one.name!r} reads {words}, and its {kind} refuses {value}: {error}"
            ) from error


def _bounds(one: Watched) -> tuple[float, float]:
    bounded = one.measure is None or one.loss_bound is not None
    return (0.0, 1.0) if bounded or one.measure is None else one.measure.bounds
