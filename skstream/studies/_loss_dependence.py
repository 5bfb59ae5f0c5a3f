"""How much a model's losses depend on one another, and what a drift detector makes of it."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.base import clone

from skstream.core.detector import check_detector, refuse_where
from skstream.core.result.select import bin_meant
from skstream.core.run.tape import lanes_of, rows_of, tape_of, width_of
from skstream.drift import ADWIN, DriftDetector
from skstream.drift._detect import bounded_losses, scored_rows
from skstream.evaluation import EvaluationResult
from skstream.utils._choices import check_count, is_real
from skstream.utils._optional import optional_import
from skstream.utils._seeds import drawn_seed, seed_estimator, uniform
from skstream.utils._tables import aligned

#: Normal quantile of the range in which the autocorrelation of independent losses stays.
_QUANTILE = 1.96


@dataclass(frozen=True, kw_only=True, repr=False)
class ModelLossDependence:
    """The losses of one model in one fold.

    Attributes
    ----------
    model : str
        Name of the model.
    fold : int
        The fold.
    n_rows : int
        Number of losses: rows that were scored.
    mean_loss : float
        Their mean.
    autocorrelation : float
        Correlation of each loss with the one before; NaN where all losses are equal.
    alarms : int
        Alarms of the detector on the losses in their order.
    permuted_alarms : tuple of int
        Alarms on the same losses in random orders.
    """

    model: str
    fold: int
    n_rows: int
    mean_loss: float
    autocorrelation: float
    alarms: int
    permuted_alarms: tuple[int, ...]

    @property
    def bound(self) -> float:
        """Size that the autocorrelation of as many independent losses exceeds in 5 % of cases."""
        return _QUANTILE / float(np.sqrt(self.n_rows)) if self.n_rows else float("nan")

    @property
    def mean_permuted(self) -> float:
        """Mean number of alarms in random order."""
        return float(np.mean(self.permuted_alarms))

    @property
    def pvalue(self) -> float:
        """Share of the orders, the true one among them, with at least as many alarms."""
        more = sum(n >= self.alarms for n in self.permuted_alarms)
        return (1 + more) / (1 + len(self.permuted_alarms))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.model}: autocorrelation {self.autocorrelation:.3f}; "
            f"{self.alarms:,} alarms, {self.mean_permuted:.4g} in random order)"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class LossDependence:
    """How much the losses of models depend on one another; `print` shows a table.

    Attributes
    ----------
    detector : DriftDetector
        The detector that read the losses.
    models : tuple of ModelLossDependence
        One for each model and fold.
    losses : str
        What the losses are, in words.

    See Also
    --------
    EvaluationResult.loss_dependence : Makes it.
    """

    detector: DriftDetector
    models: tuple[ModelLossDependence, ...]
    losses: str = "0 or 1"

    def to_frame(self) -> Any:
        """Return one row for each model and fold.

        Returns
        -------
        frame : pandas.DataFrame
            Columns model, fold, n_rows, mean_loss, autocorrelation, bound, alarms, mean_permuted
            and pvalue.
        """
        pandas = optional_import("pandas", "to_frame()")
        own = [one.name for one in fields(ModelLossDependence) if one.name != "permuted_alarms"]
        names = [*own[:5], "bound", "alarms", "mean_permuted", "pvalue"]
        return pandas.DataFrame(
            [{name: getattr(one, name) for name in names} for one in self.models]
        )

    def __repr__(self) -> str:
        found = ", ".join(f"{one.model}: {one.autocorrelation:.3f}" for one in self.models)
        return f"LossDependence(autocorrelation of {found}; print() it, see to_frame())"

    def __str__(self) -> str:
        several = len({one.fold for one in self.models}) > 1
        header = ["model", *(["fold"] if several else []), "losses", "mean loss"]
        header += ["autocorrelation", "if independent", "alarms", "in random order"]
        lines = [
            [
                one.model,
                *([str(one.fold)] if several else []),
                f"{one.n_rows:,}",
                f"{one.mean_loss:.4f}",
                f"{one.autocorrelation:.3f}",
                f"within ±{one.bound:.3f}",
                f"{one.alarms:,}",
                f"{one.mean_permuted:,.1f} (p = {one.pvalue:.2f})",
            ]
            for one in self.models
        ]
        return "\n".join(
            [
                f"Losses ({self.losses}) in their order, read by {self.detector!r}",
                *aligned(header, lines),
                _CAVEAT,
            ]
        )


_CAVEAT = (
    "In random order losses are independent and do not drift: these alarms are false. The others\n"
    "come from drift or from dependence, and a detector cannot tell one from the other."
)


def loss_dependence(
    result: EvaluationResult,
    detector: DriftDetector | None = None,
    *,
    bin: int | None = None,
    n_permutations: int = 20,
    random_state: Any = 0,
    loss_bound: float | None = None,
) -> LossDependence:
    """Say how much each model's losses depend on one another, and what a detector makes of it.

    Drift detectors take losses for independent. Where labels come in runs, a model's errors do,
    too, and a detector raises alarms without any change (Žliobaitė et al., 2015). Therefore the
    alarms on the losses are beside those on the same losses in random order.

    Parameters
    ----------
    result : EvaluationResult
        With its tape.
    detector : DriftDetector, default=None
        The detector; it is cloned. None: ``ADWIN()``.
    bin : int, default=None
        Bin under delayed labels; None: the last.
    n_permutations : int, default=20
        Number of random orders, at least 1.
    random_state : int, RandomState instance or None, default=0
        Seed of the orders.
    loss_bound : float, default=None
        For regressors, as of `DriftMonitor`: absolute errors are divided by it, and are at most
        1. None: they are read as they are.

    Returns
    -------
    dependence : LossDependence
        For each model and fold the autocorrelation of its losses (0 or 1; of regressors the
        absolute errors) at lag 1, and both numbers of alarms.

    Raises
    ------
    TypeError
        If `detector` is no detector.
    ValueError
        If no tape was kept, rows were scored in sets, there is no such bin, or the detector
        does not take the losses.

    References
    ----------
    Žliobaitė, I., Bifet, A., Read, J., Pfahringer, B., & Holmes, G. (2015). Evaluation methods
    and decision theory for classification of streaming data with temporal dependence. Machine
    Learning, 98, 455-482. Proposition 8.

    Examples
    --------
    >>> from skstream import MajorityClass, PrequentialEvaluator
    >>> from skstream.streams import make_demo_stream
    >>> from skstream.studies import loss_dependence
    >>> result = PrequentialEvaluator("accuracy").evaluate(MajorityClass(), make_demo_stream())
    >>> loss_dependence(result)
    LossDependence(autocorrelation of MajorityClass: 0.714; print() it, see to_frame())
    """
    detector = ADWIN() if detector is None else detector
    check_detector(detector)
    check_count(n_permutations, "n_permutations", 1)
    _check_bound(result, loss_bound)
    seed = drawn_seed(random_state)
    found = []
    for model, fold, losses in _series(result, bin, loss_bound):
        _check_takes(detector, losses, model, fold, result.classes is None)
        new = seed_estimator(clone(detector), seed, "detector", model, fold)
        permuted = [
            clone(new).update_many(losses[_order(seed, k, len(losses))])
            for k in range(n_permutations)
        ]
        found.append(
            ModelLossDependence(
                model=model,
                fold=fold,
                n_rows=len(losses),
                mean_loss=float(losses.mean()) if len(losses) else float("nan"),
                autocorrelation=_autocorrelation(losses),
                alarms=len(clone(new).update_many(losses)),
                permuted_alarms=tuple(map(len, permuted)),
            )
        )
    words = "0 or 1"
    if result.classes is None:
        bounded = "" if loss_bound is None else f" / {loss_bound:g}, at most 1"
        words = f"absolute errors{bounded}"
    named = bin_meant(result, bin)
    if named is not None:
        words += f", of bin {named}"
    return LossDependence(detector=clone(detector), models=tuple(found), losses=words)


def _check_bound(result: EvaluationResult, bound: Any) -> None:
    if bound is None:
        return
    if not (is_real(bound) and 0.0 < bound < np.inf):
        raise ValueError(f"loss_bound must be a positive number, or None. Got {bound!r} instead.")
    if result.classes is not None:
        raise ValueError(
            f"loss_bound={bound!r} bounds the absolute errors of regressors, and the losses of "
            "classifiers are 0 or 1. Leave it out."
        )


def _check_takes(
    detector: DriftDetector, losses: np.ndarray, model: str, fold: int, of_regressor: bool
) -> None:
    """Say whose losses a detector refuses, and what helps."""
    seed_estimator(clone(detector), 0).update_many([])  # its own parameters
    try:
        refuse_where(np.asarray(detector._wrong(losses)), losses, detector._wanted, "losses")
    except ValueError as error:
        advice = ""
        if of_regressor and np.any(detector._wrong(np.array([0.5]))):
            advice = " They are errors of a regressor: take another detector, such as ADWIN()."
        elif of_regressor:
            advice = (
                " They are absolute errors: pass loss_bound=, the error from which on larger ones "
                "count alike, which makes them losses from 0 to 1."
            )
        raise ValueError(
            f"{type(detector).__name__} does not take the losses of model '{model}' (fold {fold}): "
            f"{error}{advice}"
        ) from error


def _series(
    result: EvaluationResult, bin: int | None, bound: float | None
) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yield model, fold and losses of each lane, in the order of the rows that were scored."""
    if result.details.scored_sets:
        raise ValueError(
            "Losses depend on those before them where rows are asked one after another, and "
            f"{result.details.scored_sets} are asked in sets. Evaluate with PrequentialEvaluator."
        )
    tape = tape_of(result)
    line = bin_meant(result, bin) or 0  # the tape holds the answers of all bins
    lanes = lanes_of(tape)
    width = width_of(next(iter(lanes.values())))
    parts: list[list[np.ndarray]] = [[] for _ in lanes]
    for rows in rows_of(tape, lanes):
        some = rows.models(slice(line, None, width))
        for part, answers, mask in zip(parts, some.answers, scored_rows(some), strict=True):
            y, own = some.y[mask], answers[mask]
            if tape.classes is not None:
                part.append(y != own)
            else:
                part.append(np.abs(y - own) if bound is None else bounded_losses(y, own, bound))
    for (model, place), part in zip(lanes, parts, strict=True):
        yield model, result.folds[place], np.concatenate(part or [np.empty(0)]).astype(np.float64)


def _order(seed: int, k: int, n: int) -> np.ndarray:
    """The `k`-th random order of `n` rows; the same for all models with as many."""
    return np.argsort(uniform(seed, f"order {k}", 0, n), kind="stable")


def _autocorrelation(losses: np.ndarray) -> float:
    if len(losses) < 2:
        return float("nan")
    centred = losses - losses.mean()
    squares = float(centred @ centred)
    return float(centred[1:] @ centred[:-1]) / squares if squares else float("nan")
