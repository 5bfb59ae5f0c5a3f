"""Detectors on series of losses that differ by their seeds alone."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import delayed

from skstream.drift._base import DriftDetector, as_values, check_detector, check_parameter
from skstream.drift._score import checked_drifts
from skstream.streams._drifts import Drift
from skstream.studies._detector_result import DetectorStudy, StudiedDetector
from skstream.utils._choices import check_count, names_as_text
from skstream.utils._seeds import checked_seeds, seed_estimator
from skstream.utils._sklearn import QuietParallel
from skstream.utils._warnings import warn


@dataclass(frozen=True)
class _Candidate:
    """A detector with one value of its parameter."""

    name: str
    detector: DriftDetector
    parameter: str | None = None
    value: Any = None

    def alarms(self, losses: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
        """Rows of the alarms of a new detector; one for all values takes the same chances."""
        new = clone(self.detector)
        if self.parameter is not None:
            new.set_params(**{self.parameter: self.value})
        seed_estimator(new, seed, "detector", self.name)
        rows: NDArray[np.int64] = new.update_many(losses)
        return rows


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
        ``make_losses(seed)`` returns the losses of a series, or a tuple ``(losses, drifts)`` where
        each seed has its own drifts: the same for the same seed, and other losses for another.
        Losses of a model are ``prequential_predict(model, X, y) != y[1:]``: its first row is learnt
        unasked, so that drifts are a row earlier in them.
    detectors : dict of str to DriftDetector or tuple
        Detectors by name; they are cloned, and do not change. A tuple ``(detector, parameter,
        values)`` varies one parameter: the study then has a curve of delays against false alarms.
        A `random_state` that is None is set from the seed; the alarms of a `RandomAlarm` with a
        number are the same with all seeds.
    seeds : iterable of int
        Seeds, at least one and each once.
    tolerance : int
        Rows after the end of a drift in which an alarm still detects it, at least 0.
    drifts : int, Drift, or sequence of (int, Drift or pair of int), default=None
        Where the truth changes, the same for all seeds; (): nowhere, so that all alarms are false.
        None: `make_losses` tells it.
    n_jobs : int, default=None
        Number of workers, as joblib takes it; they share out the seeds. The study is the same for
        any number.

    Returns
    -------
    study : DetectorStudy
        The alarms, and mean and spread of their scores over the seeds.

    Raises
    ------
    TypeError
        If something is no detector, or `make_losses` no function.
    ValueError
        If there is no detector or seed, a detector has no such parameter, losses are no numbers
        that a detector takes, or drifts do not lie within the rows. A note says with which seed and
        detector.

    See Also
    --------
    score_detections : The scores, for one series.
    calibrate : Finds the value of a parameter at a wanted distance of false alarms.

    Notes
    -----
    Let drifts be at other rows for each seed. Where all seeds have theirs at the same rows,
    p-values say no more than those of one seed do (`DetectorStudy.pvalues`).

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
            StudiedDetector(
                name=one.name,
                parameter=one.parameter,
                value=one.value,
                alarms=tuple(of_seed.alarms[i] for of_seed in found),
            )
            for i, one in enumerate(candidates)
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
    candidates = []
    for name, given in names_as_text(detectors, "detectors").items():
        detector, *varied = given if isinstance(given, tuple | list) else (given,)
        check_detector(detector, f"detectors[{name!r}]")
        if not varied:
            candidates.append(_Candidate(name, detector))
            continue
        parameter, values = varied if len(varied) == 2 else (None, ())
        listed = list(values) if np.iterable(values) else []
        if not listed:
            raise ValueError(
                f"detectors[{name!r}] must be a detector, or a tuple (detector, parameter, "
                f"values) with at least one value. Got {given!r} instead."
            )
        check_parameter(detector, parameter)
        plain = [one.item() if isinstance(one, np.generic) else one for one in listed]
        twice = [one for place, one in enumerate(plain) if one in plain[:place]]
        if twice:
            raise ValueError(
                f"detectors[{name!r}] has the same value of {parameter} twice: {twice[0]!r}. Give "
                "each value once."
            )
        candidates += [_Candidate(name, detector, parameter, value) for value in plain]
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
                "Drifts are given once: make_losses returns (losses, drifts), or drifts= says "
                "them for all seeds, drifts=() where there are none. Got "
                f"{'neither' if own is None else 'both'}."
            )
        losses = as_values(made)
        if not len(losses):
            raise ValueError("make_losses returned no losses.")
        own = checked_drifts(drifts if own is None else own, len(losses))
        alarms = []
        for one in candidates:
            what = f"the detector {one.name!r}"
            alarms.append(one.alarms(losses, seed))
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
                "one series taken twice tells no more than once. Let it use its seed."
            )
            return
