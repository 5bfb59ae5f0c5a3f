"""Rows on which two models are compared, read from a tape some at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from skstream.utils._label_space import is_given

#: Rows of a tape that are read at once.
ROWS_AT_ONCE = 1 << 17


@dataclass(frozen=True, kw_only=True)
class ComparedRows:
    """Labels and the answers of two models, over some rows on which both were scored.

    Attributes
    ----------
    y, a, b : ndarray of shape (n,)
        Codes, or targets.
    weight : ndarray of shape (n,), or None
        Scoring weights; None where all are 1.
    number : ndarray of shape (n,)
        Which rows they are, from 1 on.
    """

    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    weight: np.ndarray | None
    number: np.ndarray

    def losses(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Losses of both models: "zero_one", "absolute" or "squared"."""
        if kind == "zero_one":
            return (self.a != self.y).astype(np.float64), (self.b != self.y).astype(np.float64)
        first, second = np.abs(self.a - self.y), np.abs(self.b - self.y)
        return (first * first, second * second) if kind == "squared" else (first, second)


@dataclass(frozen=True, kw_only=True)
class ComparedAnswers:
    """The columns of a tape that two models are compared by; they may lie on disk.

    Attributes
    ----------
    y, a, b : ndarray of shape (n,)
        Codes, or targets, of all rows.
    weight : ndarray of shape (n,), or None
        Scoring weights; None where all are 1.
    start, stop : int
        The rows that are compared.
    bin : int or None
        Bin of the answers.
    unit : str
        What the rows are: rows, or labelled rows.
    names : tuple of two str
        The models.
    place : str
        Rows, fold and bin in words.
    is_set : bool
        Whether the rows are a set that was asked at one point of the stream.
    """

    y: np.ndarray
    a: np.ndarray
    b: np.ndarray
    weight: np.ndarray | None
    start: int
    stop: int
    bin: int | None
    unit: str
    names: tuple[str, str]
    place: str = ""
    is_set: bool = False

    def pieces(self) -> Iterator[ComparedRows]:
        """Rows on which both were scored, some at a time, in their order."""
        for start in range(self.start, self.stop, ROWS_AT_ONCE):
            rows = slice(start, min(self.stop, start + ROWS_AT_ONCE))
            y, (a, b) = np.asarray(self.y[rows]), map(self._of_bin, (self.a[rows], self.b[rows]))
            scored = is_given(y) & is_given(a) & is_given(b)
            weight = None if self.weight is None else np.asarray(self.weight[rows])
            if weight is not None:
                scored &= weight > 0
            if scored.any():
                yield ComparedRows(
                    y=y[scored],
                    a=a[scored],
                    b=b[scored],
                    weight=None if weight is None else weight[scored],
                    number=start + np.flatnonzero(scored) + 1,
                )

    def _of_bin(self, answers: np.ndarray) -> np.ndarray:
        return np.asarray(answers if self.bin is None else answers[:, self.bin])

    @property
    def largest_weight(self) -> float:
        """The largest scoring weight of the rows."""
        if self.weight is None:
            return 1.0
        return max(float(piece.weight.max()) for piece in self.pieces() if piece.weight is not None)
