"""How models recover after the truth of a stream has changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skstream.core.result.result import EvaluationResult
from skstream.core.result.select import named
from skstream.core.rows.stream import as_drifts
from skstream.reports._compare import higher_is_better
from skstream.stats._report import forgetting_words
from skstream.streams import Drift
from skstream.utils._choices import is_real
from skstream.utils._optional import optional_import
from skstream.utils._tables import aligned

#: Columns of a `RecoveryResult`, one entry for each model, drift, and fold or seed.
_COLUMNS = (
    *("model", "drift", "repetition", "before", "worst", "largest_fall"),
    *("row_of_worst", "rows_to_recover"),
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RecoveryResult:
    """Result of `recovery`: an entry for each model, drift, and fold or seed.

    Attributes
    ----------
    metric, forgetting : str
        Measure and mechanism of the curves.
    share : float
        Share of the level before at which a model has recovered.
    level : str
        What this is a share of, in words.
    model : ndarray of shape (n_entries,), dtype object
        Names of the models.
    drift : ndarray of shape (n_entries,), dtype int64
        First row of the change.
    repetition : ndarray of shape (n_entries,), dtype int64
        Number of the fold, or the seed.
    before : ndarray of shape (n_entries,)
        Value at the last checkpoint before the change; NaN: there is none.
    worst : ndarray of shape (n_entries,)
        Worst value after it, and before the next change.
    largest_fall : ndarray of shape (n_entries,)
        By how much `worst` is worse than `before`; 0 if it is not.
    row_of_worst : ndarray of shape (n_entries,)
        Rows from the change to the checkpoint of `worst`.
    rows_to_recover : ndarray of shape (n_entries,)
        Rows from the change to the checkpoint at which the model had recovered; 0 if it never fell
        so far; NaN if it had not before the next change.
    """

    metric: str
    forgetting: str
    share: float
    level: str
    model: np.ndarray
    drift: np.ndarray
    repetition: np.ndarray
    before: np.ndarray
    worst: np.ndarray
    largest_fall: np.ndarray
    row_of_worst: np.ndarray
    rows_to_recover: np.ndarray

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name in _COLUMNS:
            getattr(self, name).flags.writeable = False

    @classmethod
    def joined(cls, results: Sequence[Self], repetitions: Sequence[int]) -> Self:
        """Join the results of several seeds; the folds of each become their mean.

        Parameters
        ----------
        results : sequence of RecoveryResult
            One for each seed.
        repetitions : sequence of int
            The seeds.

        Returns
        -------
        RecoveryResult
            With one entry for each model, drift and seed.
        """
        rows: list[tuple[Any, ...]] = []
        for one, seed in zip(results, repetitions, strict=True):
            for name, drift, of_these in one._groups():
                means = [getattr(one, column)[of_these].mean() for column in _COLUMNS[3:]]
                rows.append((name, drift, seed, *means))
        first = results[0]
        return cls(
            metric=first.metric,
            forgetting=first.forgetting,
            share=first.share,
            level=first.level,
            **_columns(rows),
        )

    def _groups(self) -> Iterator[tuple[str, int, np.ndarray]]:
        """Yield each model and drift, and where their entries are."""
        for name, drift in dict.fromkeys(zip(self.model, self.drift.tolist(), strict=True)):
            yield name, drift, (self.model == name) & (self.drift == drift)

    def to_frame(self) -> Any:
        """Return the entries as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per model, drift, and fold or seed (column ``repetition``).
        """
        pandas = optional_import("pandas", "RecoveryResult.to_frame")
        return pandas.DataFrame({name: getattr(self, name) for name in _COLUMNS})

    def __repr__(self) -> str:
        n_drifts, n_models = len(set(self.drift.tolist())), len(set(self.model))
        return (
            f"RecoveryResult({self.metric}, {self.forgetting}; {n_models} models, {n_drifts} "
            "drifts; print() it for the table, see to_frame())"
        )

    def __str__(self) -> str:
        title = (
            f"Recovery of {self.metric} ({forgetting_words(self.forgetting)}) after each drift, to "
            f"{self.share:.0%} of {self.level}"
        )
        header = ["drift", "before", "worst", "largest fall", "recovered after rows", "model"]
        rows = []
        for name, drift, of_these in self._groups():
            values = [getattr(self, c)[of_these].mean() for c in ("before", "worst")]
            fall = self.largest_fall[of_these].mean()
            needed = self.rows_to_recover[of_these]
            done = needed[~np.isnan(needed)]
            words = f"{done.mean():,.0f}" if len(done) else "never"
            if 0 < len(done) < len(needed):
                words += f" ({len(done)} of {len(needed)})"
            rows.append(
                [f"{drift:,}", *(f"{one:z.4f}" for one in values), f"{fall:z.4f}", words, name]
            )
        return "\n".join([title, *aligned(header, rows)])


def recovery_after_drift(
    result: EvaluationResult,
    metric: str | None = None,
    *,
    forgetting: str | None = None,
    drifts: Any = None,
    share: float = 0.95,
    references: tuple[EvaluationResult, EvaluationResult] | None = None,
) -> RecoveryResult:
    """Measure how far models fall after each drift, and how many rows they need to recover.

    Parameters
    ----------
    result : EvaluationResult
        Result of an evaluation; of a study over seeds call ``study.recovery_after_drift()``.
    metric, forgetting : str, default=None
        Measure and mechanism; None: the first. Choose a forgetting of recent rows, such as
        ``"window:500"``: a mean over all rows hides the effect.
    drifts : sequence of (int or pair of int), default=None
        Rows of the drifts, or pairs ``(start, end)``; None: those of the stream, ``result.drifts``.
    share : float, default=0.95
        A model has recovered when its value is at least this share of its level before the change;
        for measures where lower is better, when it exceeds this level by as little.
    references : tuple of two EvaluationResult, default=None
        Results of the same models on two further streams of the same length: one with the old
        concept only, one with the new concept only. Their curves replace the level before the
        drift; there must be a single drift. None: the level before the drift in `result`.

    Returns
    -------
    RecoveryResult
        Largest fall and number of rows to recover, for each model, drift and fold.

    Raises
    ------
    KeyError
        If there is no such measure or mechanism.
    ValueError
        If no drift is known or within the rows, `share` is not in (0, 1], it is unknown whether a
        higher value of the measure is better, or `references` do not fit: there are several drifts,
        other models or other checkpoints.

    Notes
    -----
    After a change that begins at row s, and up to the next change, let v be the value at the last
    checkpoint not after s. The largest fall is the difference of v and the worst value. The model
    has recovered at the first checkpoint, after one at which it was worse than the level
    ``v - (1 - share) |v|`` (plus, where lower is better), at which it is no longer worse.

    If the new concept is harder, a model can be as good as possible and still count as not
    recovered. With `references` for the old and the new concept (Shaker and Hüllermeier), the fall
    is from the worse of their curves at the same checkpoint, and the model has recovered when,
    after it was worse than `share` of the first, it is as good as `share` of the second.

    References
    ----------
    A. Shaker and E. Hüllermeier (2015). Recovery analysis for adaptive learning from
    non-stationary data streams: Experimental design and case study. Neurocomputing 150.

    Examples
    --------
    >>> from skstream import PrequentialEvaluator, recovery_after_drift
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = PrequentialEvaluator("accuracy", forgetting="window:200", record_every=100)
    >>> result = evaluator.evaluate(IncrementalGaussianNB(), make_demo_stream(4000))
    >>> print(recovery_after_drift(result, drifts=[2000]))
    Recovery of accuracy (last 200 rows) after each drift, to 95% of its level before
    drift  before   worst  largest fall  recovered after rows  model
    -----  ------  ------  ------------  --------------------  ---------------------
    2,000  0.7150  0.6250        0.0900                   600  IncrementalGaussianNB
    """
    if not (is_real(share) and 0 < share <= 1):
        raise ValueError(f"share must be in (0, 1]. Got {share!r} instead.")
    metric, forgetting = named(result, metric, forgetting)
    sign = 1.0 if higher_is_better(metric, result.measures[metric]) else -1.0
    rows: list[tuple[Any, ...]] = []
    phases = _phases(result, drifts)
    if references is not None:
        _check_references(result, references, len(phases))
    for name in result.model_names:
        curves = [
            sign * _last_bin(one.curve(name, metric, forgetting=forgetting))
            for one in (result, *(references or ()))
        ]
        for start, end in phases:
            for fold, values in zip(result.folds, np.stack(curves).T, strict=True):
                found = _recovery_of(
                    result.checkpoints, *values.T, start=start, end=end, share=share
                )
                before, worst, fall, row, needed = found
                rows.append((name, start, fold, sign * before, sign * worst, fall, row, needed))
    return RecoveryResult(
        metric=metric,
        forgetting=forgetting,
        share=float(share),
        level="its level before" if references is None else "its level on the new truth alone",
        **_columns(rows),
    )


def _phases(result: EvaluationResult, drifts: Any) -> list[tuple[int, int]]:
    """First row of each change, and last row before the next one."""
    given = result.drifts if drifts is None else as_drifts(drifts)
    if not given:
        raise ValueError(
            "The drifts are not known: the stream does not state them. Pass drifts=[rows]."
        )
    n_rows = result.n_rows
    inside: list[Drift] = [one for one in given if 0 < one.start < n_rows]
    if not inside:
        raise ValueError(
            f"No drift begins within the {n_rows:,} rows evaluated. Got {list(map(tuple, given))}."
        )
    starts = list(dict.fromkeys(one.start for one in inside))
    return list(zip(starts, [*starts[1:], n_rows], strict=True))


def _check_references(
    result: EvaluationResult, references: Sequence[EvaluationResult], n_drifts: int
) -> None:
    if n_drifts > 1:
        raise ValueError(
            f"references have one old and one new concept, but there are {n_drifts} drifts: choose "
            "one, drifts=[row]."
        )
    for kind, one in zip(("old", "new"), references, strict=True):
        if (one.model_names, one.folds) != (result.model_names, result.folds):
            raise ValueError(
                f"The reference of the {kind} truth has other models or folds: {one.model_names}, "
                f"{len(one.folds)} folds. Evaluate the same models in the same way."
            )
        if not np.array_equal(one.checkpoints, result.checkpoints):
            raise ValueError(
                f"The reference of the {kind} truth has other checkpoints: {one.n_rows:,} rows, "
                f"and the result {result.n_rows:,}. Use a stream with as many rows."
            )


def _last_bin(curve: np.ndarray) -> np.ndarray:
    return curve if curve.ndim == 2 else curve[:, :, -1]


def _recovery_of(
    checkpoints: np.ndarray,
    values: np.ndarray,
    old: np.ndarray | None = None,
    new: np.ndarray | None = None,
    *,
    start: int,
    end: int,
    share: float,
) -> tuple[float, float, float, float, float]:
    """Level before, worst value, fall, its row, and rows to recover; higher values are better.

    `old` and `new` are the curves of references; None: both are the level before.
    """
    known = np.flatnonzero((checkpoints <= start) & ~np.isnan(values))
    after = np.flatnonzero((checkpoints > start) & (checkpoints <= end) & ~np.isnan(values))
    if not len(known) or not len(after):
        return (np.nan,) * 5
    before, later = float(values[known[-1]]), values[after]
    level = np.full(len(after), before)
    of_old, of_new = (level if one is None else one[after] for one in (old, new))
    falls = np.minimum(of_old, of_new) - later
    at = int(falls.argmax())
    below = np.flatnonzero(later < of_old - (1 - share) * np.abs(of_old))
    needed = 0.0
    if len(below):
        enough = later >= of_new - (1 - share) * np.abs(of_new)
        back = below[0] + np.flatnonzero(enough[below[0] :])
        needed = float(checkpoints[after[back[0]]] - start) if len(back) else np.nan
    row = float(checkpoints[after[at]] - start)
    return before, float(later[at]), max(0.0, float(falls[at])), row, needed


def _columns(rows: Sequence[tuple[Any, ...]]) -> dict[str, np.ndarray]:
    """Columns of a result from its rows."""
    kinds = [object, np.int64, np.int64, *[np.float64] * 5]
    return {
        name: np.array([row[i] for row in rows], dtype=kind)
        for i, (name, kind) in enumerate(zip(_COLUMNS, kinds, strict=True))
    }
