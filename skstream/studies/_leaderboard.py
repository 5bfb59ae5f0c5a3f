"""Which models are certainly not the best over several streams, at any moment that it is looked at.

The evidence against a model is a mean of supermartingales, one for every other model, of the
differences of their losses, row by row. See the notes of `StreamStudy.leaderboard`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logsumexp

from skstream.core.result.result import EvaluationResult
from skstream.core.result.select import chosen, named
from skstream.reports._compare import compared_rows
from skstream.reports._report import of_each_stream
from skstream.reports._row_tests import RowLoss, row_loss
from skstream.stats._anytime import MixtureBoundary
from skstream.stats._checks import FloatArray, check_alpha
from skstream.stats._ranks import rank_rows
from skstream.stats._report import plural
from skstream.studies._seed_study import SavedStudy, SeedStudy, last_answers
from skstream.utils._optional import optional_import
from skstream.utils._tables import aligned, filled

# Losses are scaled to [0, 1], so that the difference d of two of them lies in [-1, 1]. With 0 as
# the prediction of each, V is the sum of d**2, and no d lies farther below its prediction than
# 1. That is all that Theorem 4 of Howard et al. (2021) needs for this sign of the sum: for d >= -1
# and l in [0, 1), exp(l d - psi(l) d**2) <= 1 + l d with psi(l) = -log(1 - l) - l (Fan et al.
# 2015), and the mean of the right-hand side, given the past, is at most exp(l E[d]).
_BOUNDARY = MixtureBoundary(tuning=10.0, scale=1.0)
#: Looks, at equal shares of the streams. They cost time, and no certainty.
N_LOOKS = 100
#: Above this an e-value is printed as its power of ten.
_LARGE = 1e6
#: Streams share rows if so many of their labels are equal, and by so many standard deviations more
#: than independent labels would be.
_ALIKE, _DEVIATIONS = 0.9, 6.0


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Leaderboard(SavedStudy):
    """Which models are certainly not the best over several streams; ``print`` shows the table.

    Attributes
    ----------
    names : tuple of str
        The models, in the order given.
    streams : tuple of str
        The streams. Each weighs the same, however many rows and seeds it has.
    metric : str
        The measure; its loss is what is averaged.
    loss : str
        The loss of a row, in words.
    n_rows : int
        Rows read, of all streams and seeds; those that several seeds had in common count once.
    losses : ndarray of shape (n_streams, n_models)
        Mean loss on each stream, over all its rows and seeds.
    shares : ndarray of shape (n_looks,)
        Shares of the streams that had been read at each look; the last is 1.
    log_evidence : ndarray of shape (n_looks, n_models)
        Natural logarithm of the evidence (e-value) that a model is not the best; -inf: none.
    rivals : ndarray of shape (n_looks, n_models)
        The model, by its place in `names`, that gives most of this evidence; -1: none does. That
        this very model is the better one is not certified.
    alpha : float
        Largest probability that any model is ever ruled out while it is the best.
    left_out : dict of str to str
        Models that are not in the leaderboard, and why.

    See Also
    --------
    StreamStudy.leaderboard : Makes it, and says what it promises.
    """

    names: tuple[str, ...]
    streams: tuple[str, ...]
    metric: str
    loss: str
    n_rows: int
    losses: FloatArray
    shares: FloatArray
    log_evidence: FloatArray
    rivals: np.ndarray
    alpha: float = 0.05
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def log_threshold(self) -> float:
        """Logarithm of the evidence from which on a model is ruled out."""
        return math.log(len(self.names) / self.alpha)

    @property
    def mean_losses(self) -> FloatArray:
        """Mean loss of each model over the streams, of shape (n_models,)."""
        return np.asarray(self.losses.mean(axis=0))

    @property
    def average_ranks(self) -> FloatArray:
        """Average rank of each model over the streams, by its loss; 1 is the best."""
        return np.asarray(rank_rows(self.losses).mean(axis=0))

    @property
    def ruled_out(self) -> np.ndarray:
        """Whether each model was certainly not the best, by look; shape (n_looks, n_models)."""
        return np.asarray(self.log_evidence >= self.log_threshold)

    @property
    def possible(self) -> tuple[str, ...]:
        """Models that may be the best of all rows, in the order of their mean losses."""
        return tuple(self.names[k] for k in self._order if not self.ruled_out[-1, k])

    @property
    def since(self) -> dict[str, float | None]:
        """Share of the streams from which on a model was ruled out, up to the end; None: it is not.

        A model that had been ruled out before, and came back, counts from the last time on.
        """
        found: dict[str, float | None] = {}
        for name, out in zip(self.names, self.ruled_out.T, strict=True):
            first = len(out) - int(np.argmin(out[::-1])) if not out.all() else 0
            found[name] = float(self.shares[first]) if out[-1] else None
        return found

    @property
    def _order(self) -> np.ndarray:
        return np.argsort(self.mean_losses, kind="stable")

    def _columns(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of the table, the smallest mean loss first."""
        header = ["model", "mean loss", "average rank", "e-value", "ruled out since", "against"]
        means, ranks, since = self.mean_losses, self.average_ranks, self.since
        rows = []
        for k in self._order:
            share = since[self.names[k]]
            rows.append(
                [
                    self.names[k],
                    f"{means[k]:z.4f}",
                    f"{ranks[k]:.2f}",
                    _e_value(float(self.log_evidence[-1, k])),
                    "possible" if share is None else f"{100 * share:g} %",
                    "" if share is None else self.names[self.rivals[-1, k]],
                ]
            )
        return header, rows

    def _sentences(self) -> list[str]:
        """Return what the table certifies, and what it does not."""
        left = len(self.possible)
        return [
            f"{left} of {plural(len(self.names), 'model')} may still be the best: "
            f"{', '.join(self.possible)}.",
            f"With probability of at least {100 * (1 - self.alpha):g} %, at no moment was a model "
            "ruled out that was the best then: the one whose expected loss, averaged over the rows "
            "read so far, each stream weighing the same, was smallest. A model is ruled out from "
            f"an e-value of {len(self.names) / self.alpha:,.4g} on.",
            "This is about these streams so far. It says nothing about other streams, future "
            "rows, or which of the others is better than a model ruled out.",
            *(f"{name} is left out: {why}" for name, why in self.left_out.items()),
        ]

    def table(self) -> str:
        """Return the leaderboard as text: the smallest mean loss first.

        Returns
        -------
        table : str
            Mean loss and average rank over the streams, the evidence that a model is not the best,
            the share of the streams since which it is ruled out, and the model that gives most of
            this evidence; and what that certifies.
        """
        words = [filled(one, 88) for one in self._sentences()]
        return "\n".join([f"{self._title()}:", *aligned(*self._columns()), *words])

    def _title(self) -> str:
        over = f"{plural(len(self.streams), 'stream')}, {plural(self.n_rows, 'row')}"
        return f"Certified leaderboard by {self.loss}, over {over}"

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            One row per model, in the order given: ``mean_loss``, ``average_rank``,
            ``log_evidence``, ``ruled_out``, ``since`` and ``rival``.
        """
        pandas = optional_import("pandas", "to_frame()")
        out = self.ruled_out[-1]
        columns = {
            "mean_loss": self.mean_losses,
            "average_rank": self.average_ranks,
            "log_evidence": self.log_evidence[-1],
            "ruled_out": out,
            "since": np.array([math.nan if s is None else s for s in self.since.values()]),
            "rival": [
                self.names[j] if one else "" for j, one in zip(self.rivals[-1], out, strict=True)
            ],
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.names, name="model"))

    def __repr__(self) -> str:
        return (
            f"Leaderboard({len(self.possible)} of {plural(len(self.names), 'model')} may be the "
            f"best by {self.metric}: {', '.join(self.possible)}; print() it, see "
            "to_frame(), save())"
        )


def _e_value(log_evidence: float) -> str:
    if log_evidence < math.log(0.01):
        return "< 0.01"
    if log_evidence > math.log(_LARGE):
        return "> 1e6"
    return f"{math.exp(log_evidence):,.3g}"


# -- evidence


def log_evidence(totals: FloatArray, variances: FloatArray) -> tuple[FloatArray, np.ndarray]:
    """Return the logarithm of the evidence that each model is not the best, and its main rival.

    Parameters
    ----------
    totals : ndarray of shape (n_models,)
        Sums of losses; each row adds at most 1.
    variances : ndarray of shape (n_models, n_models)
        Sums of the squared differences of the losses of two models.

    Returns
    -------
    logs : ndarray of shape (n_models,)
        Logarithm of the mean, over the other models, of the mixture of supermartingales; a model
        that is not ahead adds nothing.
    rivals : ndarray of shape (n_models,)
        The other model that adds most; -1: none adds anything.
    """
    sums = totals[:, None] - totals[None, :]
    ahead = sums > 0
    pairs = np.full(sums.shape, -np.inf)
    pairs[ahead] = _BOUNDARY.log_mixture(sums[ahead], variances[ahead])
    with np.errstate(divide="ignore"):
        logs = logsumexp(pairs, axis=1) - math.log(len(totals) - 1)
    rivals = np.where(ahead.any(axis=1), pairs.argmax(axis=1), -1)
    return np.asarray(logs), rivals


@dataclass(frozen=True)
class _Block:
    """Rows of runs that have the same labels, in their order: the weighted mean of their losses.

    Of streams of which one is the beginning of the other, the rows that both have.

    Attributes
    ----------
    runs : tuple of (EvaluationResult, float)
        The results, and the part of each in the mean over all streams.
    """

    runs: tuple[tuple[EvaluationResult, float], ...]

    @property
    def part(self) -> float:
        """Part of the block in the mean over all streams."""
        return sum(part for _, part in self.runs)

    def losses(self, names: Sequence[str], loss: RowLoss) -> FloatArray:
        """Return the losses, of shape (n_models, n_rows), in [0, 1]."""
        mean, rows = None, np.empty(0, dtype=np.intp)
        for result, part in self.runs:
            found, places = losses_of(result, names, loss)
            if len(self.runs) == 1:
                return found
            if mean is None:
                mean, rows = found * (part / self.part), places
                continue
            _, old, new = np.intersect1d(rows, places, assume_unique=True, return_indices=True)
            mean, rows = mean[:, old] + found[:, new] * (part / self.part), rows[old]
        assert mean is not None, "a block has a run"
        return np.minimum(mean, 1.0)


def losses_of(
    result: EvaluationResult, names: Sequence[str], loss: RowLoss
) -> tuple[FloatArray, np.ndarray]:
    """Return the losses of models, scaled to [0, 1], in the rows on which all were scored."""
    for name in names[1:]:
        rows = compared_rows(result, names[0], name, loss)
    if rows.tape.sets is not None or rows.tape.weight is not None:
        what = (
            "scoring weights"
            if rows.tape.sets is None
            else "held-out rows, predicted again and again"
        )
        raise ValueError(
            "A leaderboard is certified for rows that are predicted once, each with weight 1. Got "
            f"a result of {what}; evaluate with PrequentialEvaluator, without sample_weight."
        )
    low, high = loss.bounds or (0.0, 1.0)
    tables, places = [], []
    for table, some in replace(rows, names=tuple(names)).tables():
        tables.append((np.array(table) - low) / (high - low))
        places.append(some)
    if not tables:
        raise ValueError("The models were all scored on no row: there is nothing to certify.")
    return np.concatenate(tables, axis=1), np.concatenate(places)


def looks(
    blocks: Iterator[tuple[FloatArray, float]], n_models: int
) -> tuple[FloatArray, np.ndarray]:
    """Return the evidence at equal shares of blocks of rows that are read at the same pace.

    Parameters
    ----------
    blocks : iterator of (ndarray of shape (n_models, n_rows), float)
        Losses in [0, 1], and the part of each block in the mean.
    n_models : int
        Number of models.

    Returns
    -------
    logs, rivals : ndarray of shape (n_looks, n_models)
        As of `log_evidence`, at each look.
    """
    totals, weights = [], []
    squares = np.zeros((N_LOOKS, n_models, n_models))
    # All weights are divided by the largest, which is known only at the end.
    for losses, part in blocks:
        n_rows = losses.shape[1]
        stops = np.arange(N_LOOKS + 1) * n_rows // N_LOOKS
        sums = np.zeros((N_LOOKS, n_models))
        weight = part / n_rows
        for look, (start, stop) in enumerate(pairwise(stops.tolist())):
            if stop > start:
                some = losses[:, start:stop]
                sums[look] = some.sum(axis=1)
                squares[look] += weight**2 * _squared_differences(some)
        totals.append(sums * weight)
        weights.append(weight)
    largest = max(weights)
    total = np.cumsum(np.sum(totals, axis=0), axis=0) / largest
    np.cumsum(squares, axis=0, out=squares)
    squares /= largest**2
    found = [log_evidence(*one) for one in zip(total, squares, strict=True)]
    return np.array([logs for logs, _ in found]), np.array([rivals for _, rivals in found])


def _squared_differences(rows: FloatArray) -> FloatArray:
    """Sum ``(rows[i] - rows[j])**2`` over the columns, for all pairs of lines.

    The sum of a pair does not depend on the other lines, nor on the order of the lines.
    """
    if np.array_equal(rows, rows.astype(bool)):  # 0/1 losses: whole numbers, exact in any order
        products = rows @ rows.T
        squares = np.diagonal(products)
        return np.asarray(squares[:, None] + squares[None, :] - 2 * products)
    sums = np.empty((len(rows), len(rows)))
    for line, losses in enumerate(rows):
        difference = rows[line:] - losses
        np.multiply(difference, difference, out=difference)
        sums[line, line:] = sums[line:, line] = difference.sum(axis=1)
    return sums


# -- of a study


def leaderboard(
    studies: Mapping[str, SeedStudy],
    metric: str | None,
    models: str | Sequence[str] | None,
    alpha: float,
) -> Leaderboard:
    """Return the leaderboard of studies of the same models, by stream; see `StreamStudy`."""
    alpha = check_alpha(alpha)
    first = next(iter(studies.values())).results[0]
    loss = _loss_of(first, metric)
    names = chosen(models, first.model_names, "model")
    left_out = _failures(studies, names)
    names = [name for name in names if name not in left_out]
    if len(names) < 2:
        raise ValueError(f"A leaderboard needs at least two models. Got {names}.")
    of_streams = _checked_bounds(studies, metric, loss)
    streams = list(studies)  # one that has two names counts once
    together = of_each_stream([study.results[0] for study in studies.values()])
    groups = [[streams[k] for k in group] for group in together]
    runs = [
        (result, 1 / (len(groups) * len(group) * studies[name].n_seeds))
        for group in groups
        for name in group
        for result in studies[name].results
    ]
    n_rows, of_block = 0, [_Block(tuple(some)) for some in _of_the_same_rows(runs)]

    def read() -> Iterator[tuple[FloatArray, float]]:
        nonlocal n_rows
        for block in of_block:
            losses = block.losses(names, of_streams)
            n_rows += losses.shape[1]
            yield losses, block.part

    logs, rivals = looks(read(), len(names))
    means = [
        np.mean(
            [
                np.mean(
                    [losses_of(one, names, of_streams)[0].mean(axis=1) for one in study.results],
                    axis=0,
                )
                for study in map(studies.__getitem__, group)
            ],
            axis=0,
        )
        for group in groups
    ]
    low, high = of_streams.bounds or (0.0, 1.0)
    return Leaderboard(
        names=tuple(names),
        streams=tuple(" = ".join(group) for group in groups),
        metric=first.metric_names[0] if metric is None else metric,
        loss=f"{loss.words} ({loss.measure}){_late(studies)}",
        n_rows=n_rows,
        losses=low + (high - low) * np.array(means),
        shares=np.arange(1, N_LOOKS + 1) / N_LOOKS,
        log_evidence=logs,
        rivals=rivals,
        alpha=alpha,
        left_out=left_out,
    )


def _late(studies: Mapping[str, SeedStudy]) -> str:
    """Say which answers count where labels are delayed."""
    results = [one for study in studies.values() for one in study.results]
    words = list(dict.fromkeys(filter(None, map(last_answers, results))))
    return f", where labels are late of the {' and of '.join(words)}" if words else ""


def _of_the_same_rows(
    runs: Sequence[tuple[EvaluationResult, float]],
) -> list[list[tuple[EvaluationResult, float]]]:
    """Put runs together that share rows."""
    blocks: list[list[tuple[EvaluationResult, float]]] = []
    for run in runs:
        same = [one for one in blocks if any(_share_rows(run[0], other) for other, _ in one)]
        together = [other for one in same for other in one]
        blocks = [one for one in blocks if one not in same] + [[*together, run]]
    return blocks


def _share_rows(one: EvaluationResult, other: EvaluationResult) -> bool:
    """Whether labels are the same as far as both go, or nearly so and not by chance.

    A generator of one seed has nearly the same rows with another length, or other drifts.
    """
    if one.tape is None or other.tape is None:
        return False  # what has no tape is refused
    n_rows = min(len(one.tape.y), len(other.tape.y))
    first, second = one.tape.y[:n_rows], other.tape.y[:n_rows]
    alike = float(np.mean(first == second))
    if alike == 1.0 or not alike >= _ALIKE:
        return alike == 1.0
    by_chance = sum(np.mean(first == k) * np.mean(second == k) for k in np.unique(first))
    deviation = math.sqrt(by_chance * (1 - by_chance) / n_rows)
    return bool(alike - by_chance > _DEVIATIONS * deviation)


def _loss_of(result: EvaluationResult, metric: str | None) -> RowLoss:
    metric, _ = named(result, metric, None)
    if result.measures[metric].row_loss is None:
        known = [name for name, one in result.measures.items() if one.row_loss is not None]
        raise ValueError(
            f"No leaderboard can be certified by {metric!r}: it is not the mean of a loss per row. "
            "Pass one that is, such as 'accuracy' or "
            f"'brier'{f'; in these results: {known}' if known else ', to the evaluation'}."
        )
    loss = row_loss(result, "anytime", metric)
    if loss.bounds is None:
        raise ValueError(
            f"No leaderboard can be certified by {metric!r}: errors of regressors have no bounds. "
            "Rank the models over the streams instead."
        )
    return loss


def _checked_bounds(studies: Mapping[str, SeedStudy], metric: str | None, loss: RowLoss) -> RowLoss:
    """Return the loss with bounds that hold for all streams: those of Brier depend on classes."""
    bounds = [_loss_of(one, metric).bounds for study in studies.values() for one in study.results]
    low = min(one[0] for one in bounds if one)
    high = max(one[1] for one in bounds if one)
    return replace(loss, bounds=(low, high))


def _failures(studies: Mapping[str, SeedStudy], names: Sequence[str]) -> dict[str, str]:
    """Say of each model that failed where that was first."""
    found: dict[str, str] = {}
    for stream, study in studies.items():
        for seed, result in zip(study.seeds, study.results, strict=True):
            for name in names:
                if name in result.failures:
                    words = f"it failed on {stream} (seed {seed}): {result.failures[name]}"
                    found.setdefault(name, words)
    return found
