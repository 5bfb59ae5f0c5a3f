"""Detectors on series of losses that differ by their seeds alone, and at equal caution."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.parallel import delayed

from skstream.core.detector import DriftDetector, as_detector, as_values, refuse_where
from skstream.drift._score import (
    LEVEL,
    DetectionResult,
    DetectionScores,
    Zones,
    at_random,
    checked_drifts,
    counted,
    score_detections,
    share_of_rearrangements,
    zones_of,
)
from skstream.streams import Drift
from skstream.studies._seed_study import SavedStudy, checked_seeds
from skstream.utils._choices import (
    check_count,
    check_share,
    did_you_mean,
    is_integer,
    is_real,
    names_as_text,
    written,
)
from skstream.utils._optional import optional_import
from skstream.utils._seeds import drawn_seed, seed_estimator, uniform
from skstream.utils._sklearn import QuietParallel
from skstream.utils._tables import aligned, filled
from skstream.utils._warnings import warn

SCORES = tuple(one.name for one in fields(DetectionScores))
#: Numbers of false alarms that differ by a larger factor are not equal caution.
_EQUAL_CAUTION = 1.25

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class StudiedDetector:
    """Alarms of one detector, with one value of its parameter, on the series of all seeds.

    Attributes
    ----------
    name : str
        Name of the detector.
    parameter : str or None
        Name of the parameter that was varied; None: none was.
    value : int, float, str or None
        Its value.
    alarms : tuple of ndarray of shape (n_alarms,), dtype int64
        Rows of the alarms on the series of each seed.

    See Also
    --------
    DetectorStudy : Holds them.
    """

    name: str
    parameter: str | None = None
    value: Any = None
    alarms: tuple[NDArray[np.int64], ...] = ()

    @property
    def label(self) -> str:
        """Its name, and the value of its parameter where one was varied."""
        setting = f", {self.parameter}={written(self.value)}"
        return self.name if self.parameter is None else f"{self.name}{setting}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DetectorStudy(SavedStudy):
    """Alarms of detectors on series that differ by their seeds alone, and their scores.

    ``print`` shows a table of means and standard deviations over the seeds. A value that does not
    exist for a seed, such as the delay where nothing was detected, is left out of them.

    Attributes
    ----------
    seeds : tuple of int
        The seeds.
    detectors : tuple of StudiedDetector
        The detectors, and their alarms: where a parameter was varied, one for each value.
    drifts : tuple of tuple of Drift
        The drifts of each seed.
    n_rows : tuple of int
        Rows of each seed.
    tolerance : int
        Rows after the end of a drift in which an alarm belongs to it.

    See Also
    --------
    detector_study : Makes it.
    score_detections : What the scores are.
    """

    seeds: tuple[int, ...]
    detectors: tuple[StudiedDetector, ...]
    drifts: tuple[tuple[Drift, ...], ...]
    n_rows: tuple[int, ...]
    tolerance: int

    @property
    def n_seeds(self) -> int:
        """Number of seeds."""
        return len(self.seeds)

    @property
    def names(self) -> list[str]:
        """Names of the detectors, each once."""
        return list(dict.fromkeys(one.name for one in self.detectors))

    @property
    def labels(self) -> list[str]:
        """Names of the detectors with the values of their parameters."""
        return [one.label for one in self.detectors]

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """Means of the scores over the seeds, by label and score."""
        return self._over_seeds(mean_of)

    @property
    def deviations(self) -> dict[str, dict[str, float]]:
        """Standard deviations of the scores over the seeds (with ``n_seeds - 1``), alike."""
        return self._over_seeds(_deviation)

    @property
    def random(self) -> dict[str, dict[str, float]]:
        """Means of the scores of as many alarms at random."""
        return self._over_seeds(mean_of, 1)

    @cached_property
    def pvalues(self) -> dict[str, float]:
        """Share of all rearrangements of the alarms with a mean F1 at least as large, by label.

        A rearrangement moves the alarms of a detector to other seeds (to those `k` seeds on, up to
        20 such `k`), and along their streams by as many rows on each, their ends joined to their
        starts; nothing moved is one of them. Alarms that know nothing are as good anywhere, at
        regular distances, too, and also where all seeds have their drifts at the same rows.
        """
        return {
            one.label: share_of_rearrangements(self._zones, one.alarms) for one in self.detectors
        }

    @property
    def above_chance(self) -> dict[str, bool]:
        """Whether each detector finds drifts better than alarms that know nothing, by label.

        True if its mean F1 is larger than that of alarms at random, and its p-value below .05. Each
        is tested alone: of twenty that know nothing, or twenty values of a parameter, one is above
        chance. Judge the one that you choose by other seeds.
        """
        own, other, pvalues = self.scores, self.random, self.pvalues
        return {
            label: pvalues[label] < LEVEL and own[label]["f1"] > other[label]["f1"]
            for label in self.labels
        }

    def results(self, label: str) -> tuple[DetectionResult, ...]:
        """Return the result of one detector on each seed.

        Parameters
        ----------
        label : str
            Its name, with the value of its parameter where one was varied: one of `labels`.

        Returns
        -------
        results : tuple of DetectionResult
            As `score_detections` gives them, in the order of the seeds.

        Raises
        ------
        KeyError
            If there is no such detector.
        """
        _check_name(label, self.labels, "detector")
        return tuple(
            score_detections(alarms, drifts, tolerance=self.tolerance, n_rows=n_rows)
            for alarms, drifts, n_rows in zip(
                self.detectors[self.labels.index(label)].alarms,
                self.drifts,
                self.n_rows,
                strict=True,
            )
        )

    def values(self, name: str) -> tuple[Any, ...]:
        """Return the values of the parameter of one detector.

        Parameters
        ----------
        name : str
            Name of the detector.

        Returns
        -------
        values : tuple
            In the order given; ``(None,)`` where none was varied.

        Raises
        ------
        KeyError
            If there is no such detector.
        """
        return tuple(one.value for one in self._of(name))

    def curve(self, name: str, score: str, *, at_random: bool = False) -> Floats:
        """Return a score of one detector along its parameter, for each seed.

        Parameters
        ----------
        name : str
            Name of the detector.
        score : str
            Name of a score, such as ``"mean_delay"``: an attribute of `DetectionScores`.
        at_random : bool, default=False
            Whether to return the score of as many alarms at random instead.

        Returns
        -------
        scores : ndarray of shape (n_values, n_seeds)
            One line for each of the ``values(name)``; NaN where there is none.

        Raises
        ------
        KeyError
            If there is no such detector or score.
        """
        _check_name(score, SCORES, "score")
        return np.array([self._scores[one.label][int(at_random)][score] for one in self._of(name)])

    def at_tolerance(self, tolerance: int) -> DetectorStudy:
        """Return the same alarms, scored with another tolerance.

        Parameters
        ----------
        tolerance : int
            Rows after the end of a drift in which an alarm belongs to it, at least 0.

        Returns
        -------
        study : DetectorStudy
            A new study; no detector reads anything again.
        """
        return replace(self, tolerance=check_count(tolerance, "tolerance", 0))

    @cached_property
    def _zones(self) -> list[Zones]:
        return [
            zones_of(drifts, self.tolerance, n)
            for drifts, n in zip(self.drifts, self.n_rows, strict=True)
        ]

    @cached_property
    def _scores(self) -> dict[str, tuple[dict[str, Floats], dict[str, Floats]]]:
        """Scores by label, of the alarms and of as many at random; an array over seeds each."""
        found = {}
        for one in self.detectors:
            pairs = list(zip(self._zones, one.alarms, strict=True))
            own = [counted(zones, alarms)[0] for zones, alarms in pairs]
            other = [at_random(zones, len(alarms)) for zones, alarms in pairs]
            found[one.label] = _columns(own), _columns(other)
        return found

    def _over_seeds(
        self, summary: Callable[[Floats], float], which: int = 0
    ) -> dict[str, dict[str, float]]:
        return {
            label: {name: summary(values) for name, values in pair[which].items()}
            for label, pair in self._scores.items()
        }

    def _of(self, name: str) -> list[StudiedDetector]:
        _check_name(name, self.names, "detector")
        return [one for one in self.detectors if one.name == name]

    def to_frame(self) -> Any:
        """Return all scores as a tidy data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns detector, parameter, parameter_value, seed, score, value and at_random (the
            value of as many alarms at random): a row each.
        """
        pandas = optional_import("pandas", "to_frame()")
        parts = [
            pandas.DataFrame(
                {
                    "detector": one.name,
                    "parameter": one.parameter,
                    "parameter_value": one.value,
                    "seed": self.seeds,
                    "score": score,
                    "value": self._scores[one.label][0][score],
                    "at_random": self._scores[one.label][1][score],
                }
            )
            for one in self.detectors
            for score in SCORES
        ]
        return pandas.DataFrame(
            {name: np.concatenate([part[name] for part in parts]) for name in parts[0].columns}
        )

    def __repr__(self) -> str:
        found = ", ".join(f"{label}: F1 {own['f1']:.4g}" for label, own in self.scores.items())
        return (
            f"DetectorStudy({self.n_seeds:,} seeds; {found}; see table(), to_frame(), "
            "at_tolerance(), save())"
        )

    def table(self) -> str:
        """Return means and standard deviations over the seeds as text.

        Returns
        -------
        table : str
            A line for each detector, and what to mind; ``print(study)`` prints it.
        """
        titles = (title for title, _ in _COLUMNS.values())
        header = ["detector", *titles, "F1 at random", "above chance"]
        means, deviations, random = self.scores, self.deviations, self.random
        rows = [
            [
                label,
                *(
                    _both(means[label][name], deviations[label][name], decimals)
                    for name, (_, decimals) in _COLUMNS.items()
                ),
                _both(random[label]["f1"], np.nan, 3),
                self._chance(label),
            ]
            for label in self.labels
        ]
        return "\n".join([self._heading(), *aligned(header, rows), *map(filled, self._remarks())])

    def _heading(self) -> str:
        rows, drifts = set(self.n_rows), {len(drifts) for drifts in self.drifts}
        return (
            f"{self.n_seeds:,} seeds of {_between(rows)} rows and {_between(drifts)} drifts, "
            f"tolerance {self.tolerance:,}: mean ± standard deviation"
        )

    def _chance(self, label: str) -> str:
        if not any(self.drifts):
            return "no drift"
        pvalue = self.pvalues[label]
        said = "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.3f}"
        return f"{'yes' if self.above_chance[label] else 'no'}, {said}"

    def _remarks(self) -> list[str]:
        rates = {
            label: own["false_alarm_rate"]
            for label, own in self.scores.items()
            if np.isfinite(own["false_alarm_rate"])
        }
        if len(self.names) < 2 or len(rates) < 2 or not any(self.drifts):
            return []
        least, most = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
        if rates[most] <= _EQUAL_CAUTION * rates[least]:
            return []
        return [
            f"Not at equal caution: '{least}' raises {rates[least]:,.2f} false alarms per 100,000 "
            f"rows, '{most}' {rates[most]:,.2f}.",
            "More alarms mean earlier detections. Use detectors from calibrate(), or vary a "
            "parameter of each and plot().",
        ]


#: Columns of the table: scores, what stands above them, and decimals.
_COLUMNS = {
    "recall": ("drifts found", 3),
    "mean_delay": ("delay", 1),
    "false_alarm_rate": ("false per 100,000", 2),
    "precision": ("precision", 3),
    "f1": ("F1", 3),
}


def mean_of(values: Floats) -> float:
    """Mean of the values that exist; NaN where none does."""
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def _deviation(values: Floats) -> float:
    values = values[~np.isnan(values)]
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _columns(scores: Sequence[DetectionScores]) -> dict[str, Floats]:
    each = [asdict(one) for one in scores]
    return {name: np.array([one[name] for one in each], dtype=np.float64) for name in SCORES}


def _check_name(name: str, known: Sequence[str], what: str) -> None:
    if name not in known:
        raise KeyError(f"There is no {what} {name!r}.{did_you_mean(name, known)} Known: {known}.")


def _both(mean: float, deviation: float, decimals: int) -> str:
    if np.isnan(mean):
        return "-"
    spread = "" if np.isnan(deviation) else f" ± {deviation:,.{decimals}f}"
    return f"{mean:,.{decimals}f}{spread}"


def _between(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


#: A detector, and how it is studied; it has raised no alarms yet.
_Candidate = tuple[DriftDetector, StudiedDetector]


class _Seed(NamedTuple):
    """What a worker found with one seed."""

    digest: bytes
    n_rows: int
    drifts: tuple[Drift, ...]
    alarms: list[NDArray[np.int64]]


def detector_study(
    make_losses: Callable[[int], Any],
    detectors: Mapping[str, Any],
    seeds: Iterable[int],
    *,
    tolerance: int,
    drifts: Any = None,
    n_jobs: int | None = None,
) -> DetectorStudy:
    """Score detectors on many series of losses with known drifts.

    Parameters
    ----------
    make_losses : callable
        ``make_losses(seed)`` returns the losses of a series, or a tuple ``(losses, drifts)`` if
        each seed has its own drifts: always the same for the same seed, different for other seeds.
        Losses of a model are ``prequential_predict(model, X, y) != y[1:]``: its first row only
        trains it, so drifts are one row earlier in them.
    detectors : dict of str to DriftDetector or tuple
        Detectors by name; they are cloned. A tuple ``(detector, parameter, values)`` varies one
        parameter: the study then has a curve of delays against false alarms. A `random_state` that
        is None is set from the seed; the alarms of a `RandomAlarm` with a number are the same with
        all seeds.
    seeds : iterable of int
        Seeds, at least one, without duplicates.
    tolerance : int
        Rows after the end of a drift in which an alarm still detects it, at least 0.
    drifts : int, Drift, or sequence of (int, Drift or pair of int), default=None
        True drifts, the same for all seeds; (): none, so all alarms are false. None: `make_losses`
        returns them.
    n_jobs : int, default=None
        Number of workers, as for joblib; the seeds are distributed over them. The study does not
        depend on it.

    Returns
    -------
    study : DetectorStudy
        The alarms, and mean and spread of their scores over the seeds.

    Raises
    ------
    TypeError
        If something is not a detector, or `make_losses` is not a function.
    ValueError
        If there is no detector or seed, a detector has no such parameter, losses are not numbers
        that a detector accepts, or drifts do not lie within the rows. A note names the seed and the
        detector.

    See Also
    --------
    score_detections : Computes the scores for one series.
    calibrate : Finds the value of a parameter for a wanted distance between false alarms.

    Notes
    -----
    Put drifts at different rows for each seed. If all seeds have them at the same rows, the
    p-values carry no more information than those of one seed (`DetectorStudy.pvalues`).

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.drift import PageHinkley, RandomAlarm
    >>> from skstream.studies import detector_study
    >>> def make_losses(seed):
    ...     rates = np.repeat([0.1, 0.5, 0.1, 0.5], 1000)
    ...     return np.random.default_rng(seed).random(4000) < rates
    >>> detectors = {
    ...     "ph": (PageHinkley(), "threshold", [20.0, 40.0]),
    ...     "random": RandomAlarm(0.01),
    ... }
    >>> study = detector_study(make_losses, detectors, range(4), tolerance=200, drifts=[1000, 3000])
    >>> study.curve("ph", "mean_delay").mean(axis=1).round(1).tolist()
    [87.9, 147.0]
    >>> [label for label, above in study.above_chance.items() if above]
    ['ph, threshold=20']
    """
    if not callable(make_losses):
        raise TypeError(
            "make_losses must be a function of a seed that returns losses. Got "
            f"{type(make_losses).__name__} instead."
        )
    candidates = _candidates(detectors)
    checked = checked_seeds(seeds)
    tolerance = check_count(tolerance, "tolerance", 0)
    calls = (delayed(_one_seed)(make_losses, candidates, seed, drifts) for seed in checked)
    found: list[_Seed] = list(QuietParallel(n_jobs=n_jobs)(calls))
    _warn_of_same(checked, found)
    return DetectorStudy(
        seeds=tuple(checked),
        detectors=tuple(
            replace(one, alarms=tuple(of_seed.alarms[i] for of_seed in found))
            for i, (_, one) in enumerate(candidates)
        ),
        drifts=tuple(one.drifts for one in found),
        n_rows=tuple(one.n_rows for one in found),
        tolerance=tolerance,
    )


def _candidates(detectors: Any) -> list[_Candidate]:
    """Return each detector with each value of its parameter."""
    if not isinstance(detectors, Mapping) or not detectors:
        raise TypeError(
            "detectors must be a dict of detectors by name, such as {'ddm': DDM()}, with at least "
            f"one. Got {detectors!r} instead."
        )
    candidates: list[_Candidate] = []
    for name, given in names_as_text(detectors, "detectors").items():
        detector, *varied = given if isinstance(given, tuple | list) else (given,)
        detector = as_detector(detector, f"detectors[{name!r}]")
        if not varied:
            candidates.append((detector, StudiedDetector(name=name)))
            continue
        parameter, values = varied if len(varied) == 2 else (None, ())
        listed = list(values) if np.iterable(values) else []
        if not listed:
            raise ValueError(
                f"detectors[{name!r}] must be a detector, or a tuple (detector, parameter, "
                f"values) with at least one value. Got {given!r} instead."
            )
        _check_parameter(detector, parameter)
        plain = [one.item() if isinstance(one, np.generic) else one for one in listed]
        twice = [one for place, one in enumerate(plain) if one in plain[:place]]
        if twice:
            raise ValueError(
                f"detectors[{name!r}] has the same value of {parameter} twice: {twice[0]!r}. "
                "Remove duplicates."
            )
        for value in plain:
            with_value = clone(detector).set_params(**{str(parameter): value})
            one = StudiedDetector(name=name, parameter=parameter, value=value)
            candidates.append((with_value, one))
    return candidates


def _one_seed(
    make_losses: Callable[[int], Any], candidates: list[_Candidate], seed: int, drifts: Any
) -> _Seed:
    """Let all detectors read the losses of one seed; runs in a worker."""
    what = "make_losses"
    try:
        made = make_losses(seed)
        if isinstance(made, tuple) and len(made) > 2 and np.ndim(made[0]) == 1:
            raise ValueError(
                "make_losses must return losses, or a tuple (losses, drifts). Got a tuple of "
                f"{len(made)}, whose first is an array."
            )
        if isinstance(made, tuple) and len(made) == 2 and np.ndim(made[0]) == 1:
            made, own = made
        else:
            own = None
        if (own is None) == (drifts is None):
            raise ValueError(
                "Give drifts in exactly one way: make_losses returns (losses, drifts), or drifts= "
                "has them for all seeds, drifts=() if there are none. Got "
                f"{'neither' if own is None else 'both'}."
            )
        losses = as_values(made)
        if not len(losses):
            raise ValueError("make_losses returned no losses.")
        own = checked_drifts(drifts if own is None else own, len(losses))
        alarms = []
        for detector, one in candidates:
            what = f"the detector {one.name!r}"
            # One seed for all values of a parameter: they take the same chances.
            new = seed_estimator(clone(detector), seed, "detector", one.name)
            alarms.append(new.update_many(losses))
    except Exception as error:
        error.add_note(f"This happened with seed {seed} of the study, in {what}.")
        raise
    digest = hashlib.blake2b(losses.tobytes(), digest_size=16).digest()
    return _Seed(digest, len(losses), own, alarms)


def _warn_of_same(seeds: list[int], found: list[_Seed]) -> None:
    """Warn, once, where two seeds gave the same losses."""
    first: dict[bytes, int] = {}
    for seed, one in zip(seeds, found, strict=True):
        if first.setdefault(one.digest, seed) != seed:
            warn(
                f"make_losses gave the same losses for the seeds {first[one.digest]} and {seed}: "
                "using one series twice adds no information. Make it use its seed."
            )
            return


# False alarms that are expected where a number of values is not given.
_ALARMS = 20
_STEPS = 40


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The value of a parameter at which a detector is as cautious as asked.

    Attributes
    ----------
    detector : DriftDetector
        The detector with this value, which has read nothing.
    parameter : str
        Name of the parameter.
    value : int or float
        Its value.
    run_length : float
        Mean distance of the false alarms at this value, in values of the series that was tried. The
        value was chosen by it: on another series it is as far off as `n_alarms` says.
    n_alarms : int
        Number of these alarms. The fewer they are, the less certain the distance is: its relative
        standard deviation is about ``1 / sqrt(n_alarms)``.

    See Also
    --------
    calibrate : Makes it.
    """

    detector: DriftDetector
    parameter: str
    value: float
    run_length: float
    n_alarms: int


def calibrate(
    detector: DriftDetector,
    parameter: str,
    run_length: float = 100_000,
    *,
    bounds: tuple[float, float],
    error_rate: float = 0.1,
    losses: ArrayLike | None = None,
    n_values: int | None = None,
    random_state: Any = 0,
) -> Calibration:
    """Find the parameter value for which false alarms are `run_length` values apart on average.

    Detectors should be compared at equal caution: one that raises more alarms detects sooner,
    without being better.

    Parameters
    ----------
    detector : DriftDetector
        The detector; it is cloned.
    parameter : str
        Name of a parameter, such as ``"threshold"``.
    run_length : float, default=100_000
        Wanted mean distance of alarms on losses without a drift, at least 1.
    bounds : tuple of (low, high)
        Range of values to search: between two positive numbers by geometric bisection, otherwise by
        bisection. For an integer parameter only integers are tried; give integer bounds.
    error_rate : float, default=0.1
        Share of errors in the test series, in [0, 1]: independent 0/1 losses.
    losses : array-like of shape (n_values,), default=None
        Another test series without a drift, such as losses of the model in question; at least
        `run_length` values.
    n_values : int, default=None
        Length of the series, if no losses are given, at least `run_length`; None: twenty times
        `run_length`.
    random_state : int, RandomState instance or None, default=0
        Seed of the series. All values of the parameter are tried on the same one.

    Returns
    -------
    Calibration
        The value, a detector with it, and the measured distance.

    Raises
    ------
    TypeError
        If `detector` is not an instance of a drift detector.
    ValueError
        If the detector has no such parameter, the series is shorter than the wanted distance, or
        the wanted distance is not between those at the two bounds.

    Warns
    -----
    UserWarning
        If the distance at the best value differs from the wanted one by more than chance (a
        relative standard deviation of ``1 / sqrt(n_alarms)``): the number of alarms jumps there.

    See Also
    --------
    score_detections : Scores alarms if drifts are known.

    Examples
    --------
    >>> from skstream.drift import PageHinkley
    >>> from skstream.studies import calibrate
    >>> found = calibrate(PageHinkley(), "threshold", 2000, bounds=(1.0, 500.0))
    >>> 1900 < found.run_length < 2100
    True
    """
    detector = as_detector(detector)
    _check(detector, parameter, run_length, bounds)
    if losses is None:
        check_share(error_rate, "error_rate")
        wanted = _ALARMS * int(run_length) if n_values is None else n_values
        n = check_count(wanted, "n_values", 1)
        seed = drawn_seed(random_state)
        series = (uniform(seed, "calibrate", 0, n) < error_rate).astype(np.float64)
    else:
        series = as_values(losses, "losses")
        if not len(series):
            raise ValueError("losses must not be empty.")
        refuse_where(np.asarray(detector._wrong(series)), series, detector._wanted, "losses")

    n = len(series)
    target = n / run_length
    if target < 1:
        given = "losses" if losses is not None else "n_values"
        raise ValueError(
            f"The series is too short: alarms are to be {run_length:g} values apart, and {given}= "
            f"gives {n:,} values, which hold no two such alarms ({target:.2g} are expected). At "
            f"least {math.ceil(run_length):,} values are needed, and {_ALARMS} times as many to "
            "know the distance to about a fifth."
        )

    def alarms_at(value: float) -> int:
        return len(clone(detector).set_params(**{parameter: value}).update_many(series))

    whole = _takes_integers(detector, parameter)
    low, high = bounds if whole else map(float, bounds)
    n_low, n_high = alarms_at(low), alarms_at(high)
    if not min(n_low, n_high) <= target <= max(n_low, n_high):
        raise ValueError(
            f"No {parameter} in bounds={bounds!r} gives a distance of {run_length:g} between "
            f"alarms: {n} values raised {n_low} at {low!r} and {n_high} at {high!r}, and "
            f"{target:g} are wanted. Widen the bounds."
        )
    rises = n_high > n_low
    tried = {low: n_low, high: n_high}
    for _ in range(_STEPS):
        middle = _middle(low, high, whole)
        if middle in tried:
            break
        tried[middle] = alarms_at(middle)
        if tried[middle] == round(target):
            break
        if (tried[middle] > target) == rises:
            high = middle
        else:
            low = middle

    def miss(value: float) -> float:
        return abs(math.log(tried[value] / target)) if tried[value] else math.inf

    value = min(tried, key=miss)
    found = Calibration(
        detector=clone(detector).set_params(**{parameter: value}),
        parameter=parameter,
        value=value,
        run_length=n / tried[value],
        n_alarms=tried[value],
    )
    if miss(value) > 1 / math.sqrt(found.n_alarms):
        warn(
            f"The alarms of {found.detector!r} are {found.run_length:.4g} values apart "
            f"({found.n_alarms} in {n:,} values), and {run_length:g} were wanted: no {parameter} "
            "that was tried comes closer, as the number of alarms jumps there. Compare at this "
            "distance, or use another parameter."
        )
    return found


def _check_parameter(detector: DriftDetector, parameter: Any) -> None:
    """Say which parameters a detector has, where it has no such one."""
    names = sorted(detector.get_params())
    if parameter not in names:
        raise ValueError(
            f"{type(detector).__name__} has no parameter {parameter!r}. It has {names}."
        )


def _check(detector: DriftDetector, parameter: str, run_length: Any, bounds: Any) -> None:
    _check_parameter(detector, parameter)
    if not is_real(run_length) or not 1 <= run_length < np.inf:
        raise ValueError(f"run_length must be a number of at least 1. Got {run_length!r} instead.")
    pair = tuple(bounds) if np.iterable(bounds) else ()
    if len(pair) != 2 or not all(map(is_real, pair)) or not pair[0] < pair[1]:
        raise ValueError(f"bounds must be two numbers (low, high), low < high. Got {bounds!r}.")


def _takes_integers(detector: DriftDetector, parameter: str) -> bool:
    """Whether a parameter is a whole number: by what is declared of it, else by its value."""
    kinds = {
        getattr(one, "type", None) for one in detector._parameter_constraints.get(parameter, [])
    }
    numbers = kinds & {Integral, Real}
    return numbers == {Integral} if numbers else is_integer(detector.get_params()[parameter])


def _middle(low: float, high: float, whole: bool) -> float:
    middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
    return round(middle) if whole else middle
