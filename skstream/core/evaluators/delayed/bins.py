"""The answer in each bin of the time between arrival and label (Grzenda et al. 2020)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Largest number of cells of the table of durations per row, bin and class.
CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Shown:
    """Answers in force between the arrival of rows and their labels.

    Attributes
    ----------
    row : ndarray of shape (n,), dtype int64
        Position of the row, non-decreasing; every row has at least its first answer.
    since : ndarray of shape (n,)
        Time since the row's arrival at which the answer was given; non-decreasing in a row.
    answer : ndarray of shape (n,)
        Code, or value.
    delay : ndarray of shape (n_rows,)
        Time from arrival to label, per row.
    """

    row: np.ndarray
    since: np.ndarray
    answer: np.ndarray
    delay: np.ndarray

    @property
    def newest(self) -> np.ndarray:
        """Per row, the answer in force when the label came."""
        last = np.append(np.flatnonzero(np.diff(self.row)), len(self.row) - 1)
        newest: np.ndarray = self.answer[last]
        return newest

    def among(self, wanted: np.ndarray) -> "Shown":
        """Leave the answers to some of the rows, given as a mask."""
        keep = wanted[self.row]
        return Shown(self.row[keep], self.since[keep], self.answer[keep], self.delay)


def answers_by_bin(
    shown: Shown,
    n_bins: int,
    reduce: str | Callable[..., Any],
    n_classes: int | None,
    scored: np.ndarray | None = None,
    numbers: np.ndarray | None = None,
) -> np.ndarray:
    """Reduce the answers in force to one per row and bin.

    The time between arrival and label is divided into `n_bins` equal parts. An answer counts in a
    bin for the time it was in force there, also if it was given in an earlier bin. If the label
    came at once, every bin takes the newest answer; a callable is then called once for all bins,
    with the newest answer and the duration 0.

    Parameters
    ----------
    shown : Shown
        Answers in force.
    n_bins : int
        Number of bins.
    reduce : {"dominant", "mean"} or callable
        The answer shown longest (ties: the lowest class), the mean weighted by time, or
        ``f(answers, durations)`` of the answers of one bin, called for every bin of every row
        that is scored.
    n_classes : int or None
        Number of classes; None for regression.
    scored : ndarray of shape (n_rows,), dtype bool, default=None
        Rows for which a callable is called; None: all.
    numbers : ndarray of shape (n_rows,), dtype int64, default=None
        Numbers of the rows, for messages; None: their positions.

    Returns
    -------
    answers : ndarray of shape (n_rows, n_bins)
        Codes, or values.
    """
    n_rows = len(shown.delay)
    if n_rows == 0:
        return np.empty((0, n_bins), dtype=shown.answer.dtype)
    answers = np.repeat(shown.newest[:, None], n_bins, axis=1)
    if not isinstance(reduce, str):
        every = np.ones(n_rows, dtype=bool) if scored is None else scored
        numbers = np.arange(n_rows) if numbers is None else numbers
        _reduce_all(shown, np.flatnonzero(every), n_bins, reduce, answers, numbers)
        return answers
    if reduce == "mean":
        return means_by_bin(shown, shown.answer[:, np.newaxis], n_bins)[:, :, 0]
    changed = _changes_of_mind(shown)
    rows = np.unique(changed.row)
    step = max(1, CELLS_AT_ONCE // (n_bins * ((n_classes or 0) + 2)))
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        part = _pieces(_of_rows(changed, some), n_bins)
        answers[some] = _dominant(part, len(some), n_bins, n_classes or 0)
    return answers


def means_by_bin(shown: Shown, scores: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the mean of the scores in force in each bin, weighted by time.

    Parameters
    ----------
    shown : Shown
        Answers in force.
    scores : ndarray of shape (n, n_columns)
        Their scores.
    n_bins : int
        Number of bins.

    Returns
    -------
    scores : ndarray of shape (n_rows, n_bins, n_columns)
        Where the label came at once, those given last.
    """
    n_rows = len(shown.delay)
    if not n_rows:
        return np.empty((0, n_bins, scores.shape[1]))
    # Each change of the scores has a number, which stands for the answer.
    changes = np.ones(len(scores), dtype=bool)
    changes[1:] = (scores[1:] != scores[:-1]).any(axis=1)
    numbered = Shown(shown.row, shown.since, np.cumsum(changes) - 1, shown.delay)
    values = scores[changes]
    means = np.repeat(values[numbered.newest][:, np.newaxis], n_bins, axis=1)
    changed = _changes_of_mind(numbered)
    if not len(changed.row):
        return means
    rows = np.unique(changed.row)
    part = _pieces(_of_rows(changed, rows), n_bins)
    cell, n_cells = part.row * n_bins + part.bin, len(rows) * n_bins
    for k, column in enumerate(values.T):
        total = np.bincount(cell, column[part.answer] * part.duration, n_cells)
        means[rows, :, k] = total.reshape(len(rows), n_bins) / shown.delay[rows, None]
    return means


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The time of each answer in a bin, with the position of its row among the selected ones.

    Durations are in units in which every bin is as long as the row's whole delay.
    """

    row: np.ndarray
    bin: np.ndarray
    answer: np.ndarray
    duration: np.ndarray


def _changes(shown: Shown) -> Shown:
    """Select, of rows whose label did not come at once, the first answers and the changes."""
    new = np.concatenate(
        [[True], (np.diff(shown.row) > 0) | (shown.answer[1:] != shown.answer[:-1])]
    )
    keep = new & (shown.delay > 0)[shown.row]
    return Shown(shown.row[keep], shown.since[keep], shown.answer[keep], shown.delay)


def _changes_of_mind(shown: Shown) -> Shown:
    """Select the first answers and the changes of the rows whose answer has changed."""
    changed = _changes(shown)
    return changed.among(np.bincount(changed.row, minlength=len(shown.delay)) > 1)


def _of_rows(shown: Shown, rows: np.ndarray) -> Shown:
    """Some rows, numbered from 0."""
    begin, end = np.searchsorted(shown.row, [rows[0], rows[-1] + 1])
    part = slice(begin, end)
    row = np.searchsorted(rows, shown.row[part])
    return Shown(row, shown.since[part], shown.answer[part], shown.delay[rows])


def _pieces(shown: Shown, n_bins: int) -> _Pieces:
    """Divide the time of every answer at the bounds of the bins.

    Times are scaled by the number of bins, so that bounds are multiples of the delay: whole
    numbers stay whole, and nothing is rounded.
    """
    width = shown.delay[shown.row]
    begin = shown.since * n_bins
    end = np.append(begin[1:], 0.0)
    last = np.append(np.diff(shown.row) > 0, True)
    end[last] = width[last] * n_bins
    first_bin = (begin // width).astype(np.int64)
    n_spanned = np.maximum(0, -(-end // width).astype(np.int64) - first_bin)
    which = np.repeat(np.arange(len(begin)), n_spanned)
    bins = (
        first_bin[which]
        + np.arange(len(which))
        - np.repeat(np.cumsum(n_spanned) - n_spanned, n_spanned)
    )
    bound = width[which] * bins
    duration = np.minimum(end[which], bound + width[which]) - np.maximum(begin[which], bound)
    kept = (bins < n_bins) & (duration > 0)
    return _Pieces(shown.row[which[kept]], bins[kept], shown.answer[which[kept]], duration[kept])


def _dominant(part: _Pieces, n_rows: int, n_bins: int, n_classes: int) -> np.ndarray:
    # The first columns are for missing answers, codes -2 and -1.
    width = n_classes + 2
    cell = (part.row * n_bins + part.bin) * width + part.answer.astype(np.int64) + 2
    shown_for = np.bincount(cell, weights=part.duration, minlength=n_rows * n_bins * width)
    longest: np.ndarray = shown_for.reshape(n_rows, n_bins, width).argmax(axis=2) - 2
    return longest


def _reduce_all(
    shown: Shown,
    rows: np.ndarray,
    n_bins: int,
    reduce: Any,
    answers: np.ndarray,
    numbers: np.ndarray,
) -> None:
    """Call a function for every bin of some rows, ascending; once where there was no wait."""
    at_once = shown.delay[rows] == 0
    for row in rows[at_once]:
        with _noted(f"all bins of row {numbers[row]}, whose label came at once"):
            answers[row] = reduce(answers[row, :1], np.zeros(1))
    rows = rows[~at_once]
    if not len(rows):
        return
    wanted = np.zeros(len(shown.delay), dtype=bool)
    wanted[rows] = True
    part = _pieces(_of_rows(_changes(shown).among(wanted), rows), n_bins)
    cell = part.row * n_bins + part.bin
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    bounds = np.append(starts, len(order))
    for k, one in enumerate(cells):
        members = order[bounds[k] : bounds[k + 1]]
        row, in_bin = divmod(int(one), n_bins)
        with _noted(f"bin {in_bin + 1} of row {numbers[rows[row]]}"):
            shown_for = part.duration[members] / n_bins
            answers[rows[row], in_bin] = reduce(part.answer[members], shown_for)


@contextmanager
def _noted(where: str) -> Iterator[None]:
    """Add to an error of the user's function for which row and bin it was called."""
    try:
        yield
    except Exception as error:
        error.add_note(f"Raised by reduce(answers, durations) for {where}.")
        raise
