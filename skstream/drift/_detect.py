"""Detectors on the losses of a result: what they watch, and what they found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from skstream.core.detector import DRIFT, NORMAL, WARNING, DriftDetector, as_detector, is_detector
from skstream.core.forgetting import Forgetting, as_forgetting
from skstream.core.measures.measure import Measure
from skstream.core.measures.registry import (
    CLASSIFICATION,
    OF_CLASSES,
    REGRESSION,
    check_known_name,
    resolve_metrics,
)
from skstream.core.measures.rows import ScoredRows
from skstream.core.measures.running import buffer_size
from skstream.core.measures.scores import Scores, make_sums
from skstream.core.result.result import EvaluationResult
from skstream.core.run.tape import (
    check_has_scores,
    lanes_of,
    rows_of,
    tape_of,
    width_of,
)
from skstream.utils._choices import check_position, is_integer, is_real, names_as_text
from skstream.utils._labels import is_given
from skstream.utils._seeds import seed_estimator
from skstream.utils._warnings import warn


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Detections:
    """Rows at which the detector of a monitor warned and raised alarms, for one model.

    Rows are those of the result's checkpoints, counted from 0: rows of the stream, or with delayed
    labels the labelled rows in the order of their labels.

    Attributes
    ----------
    monitor, model : str
        Names of the monitor and of the model that it watched.
    fold : int
        The fold; 0 where there is one.
    bin : int or None
        With delayed labels, the bin whose predictions were watched; else None.
    n_folds : int
        Number of folds of the evaluation.
    alarms : ndarray of shape (n_alarms,), dtype int64
        The rows whose value raised an alarm, increasing.
    warnings : ndarray of shape (n_warnings,), dtype int64
        The first row of every warning zone, increasing; none where the detector never warns.

    See Also
    --------
    score_detections : Scores alarms if the drifts are known.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift._detect import Detections
    >>> rows = np.array([120, 480])
    >>> Detections(monitor="ddm", model="sgd", alarms=rows, warnings=rows - 20)
    Detections(ddm of sgd: 2 alarms, at rows 120, 480; 2 warnings)
    """

    monitor: str
    model: str
    fold: int = 0
    bin: int | None = None
    n_folds: int = 1
    alarms: NDArray[np.int64]
    warnings: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Protect the rows against changes."""
        for rows in (self.alarms, self.warnings):
            rows.flags.writeable = False

    def __repr__(self) -> str:
        n = len(self.alarms)
        first = ", ".join(map(str, self.alarms[:3].tolist()))
        where = f", at {'row' if n == 1 else 'rows'} {first}{', ...' if n > 3 else ''}" if n else ""
        fold = f" in fold {self.fold}" if self.fold or self.n_folds > 1 else ""
        return (
            f"{type(self).__name__}({self.monitor} of {self.model}{fold}: {_counted(n, 'alarm')}"
            f"{where}; {_counted(len(self.warnings), 'warning')})"
        )


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


#: By model: what a monitor found, a list with one for each of several folds.
FoundByModel = dict[str, Detections | list[Detections]]
FoundByMonitor = dict[str, FoundByModel]

_LOSS = "loss"
_FORMS = (
    '"loss", a forgetting mechanism such as FadingFactor(0.997), or a measure with one, such as '
    '("kappa", "window:1000")'
)
#: Rows in a block, unless a window is long.
_BLOCK = 8192


@dataclass(frozen=True, repr=False, eq=False)
class DriftMonitor:
    """Defines which drift detector watches a model, and what it reads.

    It always reads a loss: a rise means that the model gets worse. Rows that are not scored (the
    warm-up, rows without a label or of weight 0, or rows that a fold did not predict) are not read.

    Parameters
    ----------
    detector : DriftDetector
        The detector. Every model and fold gets a clone of it, which restarts by itself after an
        alarm.
    on : "loss", Forgetting, str or tuple of (measure, Forgetting), default="loss"
        What the detector reads after every row. "loss": the loss of the row, 0 or 1. A forgetting
        mechanism, or its name, such as "fading:0.997": the error rate under it, as in Gama et al.
        (2013). A measure (as in the parameter `metrics` of an evaluator) and a forgetting
        mechanism: the value of the measure under it; if higher values are better, its distance from
        the highest possible value, or, if there is none, minus the value. Rows at which the measure
        is undefined are not read.
    bin : int, default=None
        With delayed labels: the bin whose predictions are watched, from 0 (at arrival) to ``n_bins
        + 1`` (when the label comes). None: the last.
    loss_bound : float, default=None
        For regressors, whose loss of a row is ``min(abs(y - prediction) / loss_bound, 1)``: errors
        above this bound count equally. Required unless `on` names a measure.

    Raises
    ------
    TypeError
        If `detector` is not a detector, or `on` is none of the above.
    ValueError
        If another parameter is not valid.

    Warns
    -----
    UserWarning
        If the detector has read values: its clones start fresh.

    See Also
    --------
    detect : Runs monitors on a result.

    Notes
    -----
    A detector without a `random_state` of its own gets one from the seed of the evaluation, the
    model and the fold. All monitors of a model read the same rows, whatever their weights: weights
    count in the means of a forgetting mechanism, but a detector of losses reads every row equally.

    Successive values of a mean are strongly dependent: detectors that assume independent values
    (`ADWIN`, `DDM`) raise many false alarms on them. Gama et al. use the Page-Hinkley test.

    References
    ----------
    Gama, J., Sebastião, R., & Rodrigues, P. P. (2013). On evaluating stream learning algorithms.
    Machine Learning, 90, 317-346. Section 5.

    Examples
    --------
    >>> from skstream import DriftMonitor
    >>> from skstream.drift import PageHinkley
    >>> DriftMonitor(PageHinkley(20), on="fading:0.997")
    DriftMonitor(PageHinkley(threshold=20), on='fading:0.997')
    """

    detector: DriftDetector
    on: Any = _LOSS
    _: KW_ONLY
    bin: int | None = None
    loss_bound: float | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "detector", as_detector(self.detector))  # it may be of River
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
        if self.detector.has_read:
            warn(
                f"The {type(self.detector).__name__} of a DriftMonitor has read values. Models are "
                "watched by fresh clones of it."
            )

    def __repr__(self) -> str:
        others = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)[1:]
            if getattr(self, one.name) not in (None, _LOSS)
        ]
        return f"{type(self).__name__}({', '.join([repr(self.detector), *others])})"


def detect(
    result: EvaluationResult, monitors: Mapping[str, DriftMonitor | DriftDetector]
) -> FoundByMonitor:
    """Run drift detectors on the losses of a result's models, row by row from its tape.

    Parameters
    ----------
    result : EvaluationResult
        The result of an evaluation, of a live run so far, or of a prediction log, with its tape.
    monitors : dict of str to DriftMonitor or DriftDetector
        Monitors by name; a plain detector reads the loss of every row.

    Returns
    -------
    detections : dict of str to dict of str to Detections
        ``detections[monitor][model]``: the rows at which the detector warned and raised alarms; a
        list of them for several folds. Displays and reports accept it as `detections`.

    Raises
    ------
    TypeError
        If `monitors` is not a dict of monitors, or `result` is not the result of an evaluation.
    ValueError
        If no tape was kept, if rows were scored in sets, or if a monitor does not suit the result.

    See Also
    --------
    DriftMonitor : Defines what a detector reads.
    skstream.drift.score_detections : Scores alarms if the drifts are known.

    Examples
    --------
    >>> from skstream import PrequentialEvaluator, detect
    >>> from skstream.drift import DDM
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream.streams import SEA
    >>> evaluator = PrequentialEvaluator("accuracy")
    >>> result = evaluator.evaluate({"bayes": IncrementalGaussianNB()}, SEA(8000, random_state=0))
    >>> detect(result, {"ddm": DDM()})["ddm"]["bayes"].alarms
    array([4275, 7452, 7567, 7608, 7689])
    """
    tape = tape_of(result)
    if result.details.scored_sets:
        raise ValueError(
            "A monitor watches the losses of rows predicted one after another, but "
            f"{result.details.scored_sets} are predicted in sets. Evaluate with "
            "PrequentialEvaluator."
        )
    last = None if result.bins is None else result.bins[-1]
    resolved = watched(monitors, result.classes, result.n_bins, last)
    for one in resolved:
        if one.measure is not None:
            check_has_scores({one.measure.name: one.measure}, tape)
        if one.forgetting is not None and one.forgetting.counts_time and tape.time is None:
            raise ValueError(
                f"Monitor {one.name!r} is on {one.forgetting}, which counts time, but the tape has "
                "no times: evaluate with a forgetting that counts time, too."
            )
    return {one.name: _found(one, result) for one in resolved}


def _parts(on: Any) -> tuple[Any, Forgetting | None]:
    """Return the measure and the forgetting mechanism of a series; None for those not named."""
    if isinstance(on, str) and on == _LOSS:
        return None, None
    if isinstance(on, str) and on in {**OF_CLASSES, **REGRESSION}:
        raise ValueError(
            f"on={on!r} is a measure, but it is not said which rows it averages: pass on=({on!r}, "
            '"window:1000"), or another forgetting mechanism with it.'
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
class _Watched:
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


def watched(
    monitors: Any,
    classes: np.ndarray | None,
    n_bins: int | None = None,
    last_bin: int | None = None,
) -> list[_Watched]:
    """Resolve monitors for the labels and bins of an evaluation, or say what is wrong with them."""
    if not isinstance(monitors, Mapping):
        wrapped = f"{{{type(monitors).__name__.lower()!r}: ...}}"
        raise TypeError(
            f"monitors must be a dict of DriftMonitor by name, such as {wrapped}. Got "
            f"{monitors!r} of type {type(monitors).__name__} instead."
        )
    return [
        _resolved(name, monitor, classes, n_bins, last_bin)
        for name, monitor in names_as_text(monitors, "monitors").items()
    ]


def _resolved(
    name: str,
    monitor: Any,
    classes: np.ndarray | None,
    n_bins: int | None,
    last_bin: int | None,
) -> _Watched:
    if is_detector(monitor):
        monitor = DriftMonitor(monitor)
    if not isinstance(monitor, DriftMonitor):
        raise TypeError(
            f"Monitor {name!r} must be a DriftMonitor. Got {monitor!r} of type "
            f"{type(monitor).__name__} instead."
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
            f"regressors, but the loss of {why}. Leave it out."
        )
    if bound is None and classes is None and given is None:
        raise ValueError(
            f"Monitor {name!r} watches the errors of regressors: pass loss_bound=, the bound above "
            'which errors count equally, or a measure, such as on=("mae", "window:1000").'
        )
    found = _Watched(
        name=name,
        detector=monitor.detector,
        measure=_measure(name, given, forgetting, classes),
        forgetting=forgetting,
        bin=_line(name, monitor.bin, n_bins, last_bin),
        loss_bound=None if bound is None else float(bound),
    )
    seed_estimator(clone(monitor.detector), 0).update_many([])  # checks its parameters
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
            "that cannot be updated row by row, and would be called on all its rows each time. "
            "Use a measure by name, or a Measure with a formula."
        )
    if measure.higher_is_better is None:
        raise ValueError(
            f"Monitor {name!r} watches whether a model gets worse, but it is not known which "
            f"direction of {measure.name!r} is the better one. Use another measure, or a Measure "
            "with higher_is_better=."
        )
    return measure


def _line(name: str, bin: int | None, n_bins: int | None, last_bin: int | None) -> int:
    """Return which line of answers is watched; of no bin, that of the scores."""
    if n_bins is None:
        if bin is not None:
            raise ValueError(
                f"Monitor {name!r} has bin={bin}, but only results with delayed labels have bins. "
                "Leave it out."
            )
        return 0
    if bin is None:
        return n_bins + 1 if last_bin is None else last_bin
    return check_position(f"bin of monitor {name!r}", bin, n_bins + 2)


def _found(one: _Watched, result: EvaluationResult) -> FoundByModel:
    """Return what a monitor finds in every model and fold."""
    assert result.tape is not None
    lanes = lanes_of(result.tape)
    width = width_of(next(iter(lanes.values())))
    seed = result.parameters.get("seed") or 0
    places = [(model, result.folds[position]) for model, position in lanes]
    # Its random numbers depend on the model and the fold alone.
    detectors = [seed_estimator(clone(one.detector), seed, "monitor", *place) for place in places]
    levels = [[(np.empty(0, np.int8), np.empty(0, np.int64))] for _ in places]
    for lane, values, rows in _series(one, result, width):
        try:
            levels[lane].append((detectors[lane].update_levels(values), rows))
        except Exception as error:
            model, fold = places[lane]
            error.add_note(
                f"{type(one.detector).__name__} of monitor {one.name!r}, which watches model "
                f"'{model}' (fold {fold}), failed between rows {rows[0]:,} and {rows[-1]:,}."
            )
            raise
    found: dict[str, list[Detections]] = {}
    for (model, fold), pairs in zip(places, levels, strict=True):
        level, rows = (np.concatenate(column) for column in zip(*pairs, strict=True))
        warned = level == WARNING
        began = warned & (np.concatenate(([NORMAL], level[:-1])) != WARNING)
        found.setdefault(model, []).append(
            Detections(
                monitor=one.name,
                model=model,
                fold=fold,
                bin=None if width == 1 else one.bin,
                alarms=rows[level == DRIFT],
                warnings=rows[began],
                n_folds=result.n_folds,
            )
        )
    return {model: folds[0] if len(folds) == 1 else folds for model, folds in found.items()}


def _series(
    one: _Watched, result: EvaluationResult, width: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield what a monitor reads: number of the lane, values, and numbers of the rows.

    A measure is read in blocks of rows that depend on their numbers alone, so that its sums, and
    with them the alarms, are the same to the last bit whichever models were selected.
    """
    tape = result.tape
    assert tape is not None
    lanes = lanes_of(tape)
    scores: Scores | None = None
    size = _BLOCK
    if one.measure is not None and one.forgetting is not None:
        # The persistent baseline of the last line knows later labels than that of the others.
        uses_previous = np.full(len(lanes), width == 1 or one.bin < width - 1)
        methods = [tape.methods.get(name) for name, _ in lanes] if tape.methods else None
        mechanisms = [partial(make_sums, one.forgetting)]
        scores = Scores({"": one.measure}, mechanisms, tape.classes, uses_previous, methods)
        size = buffer_size([one.forgetting], _BLOCK)
    first = 0
    for block in rows_of(tape, lanes, size):
        rows = block.models(slice(one.bin, None, width))
        if one.loss_bound is not None:
            rows = _bounded(rows, one.loss_bound)
        numbers, scored = np.arange(first, first + len(rows)), scored_rows(rows)
        if scores is None:
            values: Any = rows.answers if one.loss_bound is not None else rows.answers != rows.y
        else:
            ends = np.arange(1, len(rows) + 1)
            values = one.loss_of(np.array(scores.advance(rows, ends, first + ends)))
        for lane, (of_lane, mask) in enumerate(zip(np.asarray(values, float), scored, strict=True)):
            known = mask & np.isfinite(of_lane)
            yield lane, of_lane[known], numbers[known]
        first += len(rows)


def _bounded(rows: ScoredRows, bound: float) -> ScoredRows:
    """Return rows whose answers, and absolute errors, are the bounded losses."""
    targets = np.where(is_given(rows.y), 0.0, np.nan)
    return ScoredRows(targets, bounded_losses(rows.y, rows.answers, bound), rows.weight)


def scored_rows(rows: ScoredRows) -> np.ndarray:
    """Return for every lane which rows are scored: they have a label, an answer and a weight."""
    known = is_given(rows.y)
    if rows.weight is not None:
        known = known & (rows.weight > 0.0)
    return known & is_given(rows.answers)


def bounded_losses(y: np.ndarray, answers: np.ndarray, bound: float) -> np.ndarray:
    """Return absolute errors as losses from 0 to 1."""
    return np.minimum(np.abs(answers - y) / bound, 1.0)


def each(found: Mapping[str, FoundByModel]) -> Sequence[Detections]:
    """Return all detections in their order."""
    return [
        one
        for by_model in found.values()
        for of_model in by_model.values()
        for one in ([of_model] if isinstance(of_model, Detections) else of_model)
    ]
