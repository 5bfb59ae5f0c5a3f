"""What a study of detectors found: their alarms on many series, and the scores of these."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.drift._score import (
    LEVEL,
    DetectionResult,
    DetectionScores,
    Zones,
    at_random,
    counted,
    score_detections,
    share_of_rearrangements,
    zones_of,
)
from skstream.streams._drifts import Drift, as_drifts
from skstream.utils._choices import check_count, did_you_mean
from skstream.utils._displays import display
from skstream.utils._loaded import COUNTS, check_array, check_types
from skstream.utils._npz import npz_path, write_npz
from skstream.utils._optional import optional_import
from skstream.utils._tables import aligned

FORMAT, KIND = 1, "DetectorStudy"
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
        return self.name if self.parameter is None else f"{self.name}, {self._setting}"

    @property
    def _setting(self) -> str:
        value = f"{self.value:.6g}" if isinstance(self.value, float) else str(self.value)
        return f"{self.parameter}={value}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DetectorStudy:
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

    def at_tolerance(self, tolerance: int) -> "DetectorStudy":
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

    def expected_at_random(self, n_alarms: int) -> dict[str, float]:
        """Return the scores of alarms at random, as their mean over the seeds.

        Parameters
        ----------
        n_alarms : int
            Number of alarms on each series, at least 0.

        Returns
        -------
        scores : dict of str to float
            Their expected values, by name.
        """
        n = check_count(n_alarms, "n_alarms", 0)
        found = _columns([at_random(zones, min(n, zones.n_rows)) for zones in self._zones])
        return {name: mean_of(values) for name, values in found.items()}

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

    def plot(self, **options: Any) -> Any:
        """Plot how soon drifts are found, and how many, against the number of false alarms.

        Parameters
        ----------
        **options
            Passed to ``OperatingCharacteristicDisplay.from_result``, such as ``detectors``, ``ax``
            or properties of the lines.

        Returns
        -------
        display : OperatingCharacteristicDisplay
            With attributes ``ax_``, ``figure_``, ``lines_`` and ``legend_``.
        """
        return display("OperatingCharacteristicDisplay").from_result(self, **options)

    def save(self, path: str | Path) -> Path:
        """Save as data: one NPZ file without pickles, to be read by `skstream.load`.

        Parameters
        ----------
        path : str or Path
            File to write; ``.npz`` is appended where it has no suffix.

        Returns
        -------
        path : Path
            The file written.
        """
        path = npz_path(path)
        header = {
            "format": FORMAT,
            "kind": KIND,
            "load_with": "skstream.load",
            "seeds": self.seeds,
            "drifts": self.drifts,
            "n_rows": self.n_rows,
            "tolerance": self.tolerance,
            "detectors": [(one.name, one.parameter, one.value) for one in self.detectors],
        }
        arrays = {}
        for i, one in enumerate(self.detectors):
            arrays[f"{i}/counts"] = np.array([len(rows) for rows in one.alarms])
            arrays[f"{i}/alarms"] = np.concatenate(one.alarms)
        write_npz(path, header, arrays, compress=True)
        return path

    def __repr__(self) -> str:
        found = ", ".join(f"{label}: F1 {own['f1']:.4g}" for label, own in self.scores.items())
        return (
            f"DetectorStudy({self.n_seeds:,} seeds; {found}; see table(), to_frame(), plot(), "
            "at_tolerance(), save())"
        )

    def __str__(self) -> str:
        return self.table()

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
        return "\n".join([self._heading(), *aligned(header, rows), *self._remarks()])

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
            "Who raises more detects sooner. Take detectors from calibrate(), or vary a parameter "
            "of each and plot().",
        ]


#: Columns of the table: scores, what stands above them, and decimals.
_COLUMNS = {
    "recall": ("drifts found", 3),
    "mean_delay": ("delay", 1),
    "false_alarm_rate": ("false per 100,000", 2),
    "precision": ("precision", 3),
    "f1": ("F1", 3),
}


def detector_study_of(
    _: Path, arrays: dict[str, np.ndarray], header: dict[str, Any]
) -> DetectorStudy:
    """Make a study from the header and the arrays that hold it."""
    seeds = tuple(header["seeds"])
    detectors = []
    for i, (name, parameter, value) in enumerate(header["detectors"]):
        counts, rows = arrays[f"{i}/counts"], arrays[f"{i}/alarms"]
        check_array(counts, "counts", COUNTS, (len(seeds),))
        check_array(rows, "alarms", COUNTS, (int(counts.sum()),))
        alarms = tuple(np.split(rows, np.cumsum(counts)[:-1]))
        detectors.append(
            StudiedDetector(name=name, parameter=parameter, value=value, alarms=alarms)
        )
    study = DetectorStudy(
        seeds=seeds,
        detectors=tuple(detectors),
        drifts=tuple(as_drifts(one) for one in header["drifts"]),
        n_rows=tuple(header["n_rows"]),
        tolerance=header["tolerance"],
    )
    check_types(study)
    if not study.detectors:
        raise ValueError("it has no detectors")
    return study


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
