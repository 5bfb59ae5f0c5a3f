"""What running comparisons of two models share: losses, forgetting, and curves at checkpoints."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.core.forgetting import as_forgetting
from skstream.core.measures.checkpoints import CheckpointRecorder
from skstream.forgetting import Forgetting
from skstream.stats._checks import FloatArray, as_pair, check_names
from skstream.stats._weights import LARGEST_WEIGHT, WeightTally, as_weights, drop_unweighted
from skstream.utils._choices import check_count


class RunningPair(ABC):
    """Comparison of two models, row by row, while the stream is running.

    Parameters
    ----------
    n_columns : int
        Number of curves recorded.
    record_every : int or None
        Keep every row whose number is a multiple of this, and the last one. None keeps at most
        1,024 rows: the interval doubles whenever they would become more.
    names : sequence of two str
        Names of the models.
    """

    #: What is wrong with a loss that cannot be taken, in the words of an error.
    _wanted: ClassVar[str] = ""
    largest_weight: float = LARGEST_WEIGHT

    def __init__(self, n_columns: int, record_every: int | None, names: Sequence[str]) -> None:
        if record_every is not None:
            check_count(record_every, "record_every", 1)
        self.names = check_names(names, 2)
        self._recorder = CheckpointRecorder(n_columns, record_every)
        self._tally = WeightTally()

    @property
    def n_rows(self) -> int:
        """Number of rows compared so far."""
        return self._recorder.n_followed

    def update(
        self, loss_a: ArrayLike, loss_b: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Take the losses of the next rows.

        Parameters
        ----------
        loss_a, loss_b : array-like of shape (n_rows,), or a single number
            Losses of the two models.
        sample_weight : array-like of shape (n_rows,), default=None
            Scoring weights, at least 0. Rows of weight 0 are left out; None: each counts once.

        Returns
        -------
        RunningPair
            Itself.

        Raises
        ------
        ValueError
            If lengths differ, a loss cannot be taken, or a weight is negative or too large.
        """
        a, b = as_pair(loss_a, loss_b, "loss_a", "loss_b")
        for name, losses in (("loss_a", a), ("loss_b", b)):
            bad = np.flatnonzero(self._wrong(losses))
            if bad.size:
                raise ValueError(f"{name}[{bad[0]}] is {losses[bad[0]]:g}{self._wanted}")
        weight = as_weights(sample_weight, len(a))
        largest = 1.0 if weight is None else float(weight.max(initial=0.0))
        if largest > self.largest_weight:
            raise ValueError(
                f"A row has the weight {largest:g}, and largest_weight is "
                f"{self.largest_weight:g}. Give the largest weight that a row can have."
            )
        weight, a, b = drop_unweighted(weight, a, b)
        self._tally.update(weight, len(a))
        self._read(a, b, weight)
        return self

    @abstractmethod
    def _wrong(self, losses: FloatArray) -> NDArray[np.bool_]:
        """Tell of each loss whether it cannot be taken."""

    @abstractmethod
    def _read(self, a: FloatArray, b: FloatArray, weight: FloatArray | None) -> None:
        """Read checked losses, and their positive weights; None where each row counts once."""

    def _curves(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the rows kept, counted from 1, and their values, of shape (n_columns, n_rows)."""
        if not self.n_rows:
            raise ValueError("No rows were compared yet; call update with their losses first.")
        rows, values = self._recorder.followed()
        return rows.copy(), values.copy()


def one_forgetting(forgetting: Forgetting | str, purpose: str) -> Forgetting:
    """Return the one mechanism named, or raise if sums are not defined for it."""
    mechanisms = list(as_forgetting(forgetting).values())
    if len(mechanisms) != 1:
        raise ValueError(
            f"{purpose} takes one forgetting mechanism at a time. Got {len(mechanisms)}: "
            f"{mechanisms}."
        )
    if mechanisms[0].follows_loss:
        raise ValueError(
            f"{purpose} is not defined under {type(mechanisms[0]).__name__}, whose window follows "
            "the 0/1 loss of one model, and here there are two. Use Cumulative, SlidingWindow or "
            "FadingFactor."
        )
    if mechanisms[0].counts_time:
        raise ValueError(
            f"{purpose} counts rows, and {mechanisms[0]} counts time. Give rows, "
            'as in forgetting="window:1000".'
        )
    return mechanisms[0]
