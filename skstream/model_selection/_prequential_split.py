"""A warm-up to fit, and the rows after it for test-then-train."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from skstream.model_selection._splitter import Indices, Positions, Splitter, count_of
from skstream.utils._sklearn import n_rows_of

__all__ = ["PrequentialSplit"]


class PrequentialSplit(Splitter):
    """Train on the first rows, and test on the rows that follow, in the order of time.

    For ``cv=`` of scikit-learn's model selection, together with a scorer that goes on test-then-
    train from the fitted model: the model is fitted on the warm-up, and a copy of it predicts
    every test row before it learns that row. Rows are taken as they stand, oldest first.

    Parameters
    ----------
    n_warmup : int
        Rows of the first training part, at least 1. Take enough of them that every class is
        there.
    n_splits : int, default=1
        Number of test blocks. With one, all rows after the warm-up are tested by one model, as
        an evaluator would do. With several, the blocks follow each other and each has a model
        of its own, fitted on all rows before the block (less the gap); the score of a candidate
        is the mean over the blocks, and its standard deviation says how much the score changes
        along the stream.
    test_size : int, default=None
        Rows of each test block. None: all rows after the warm-up, divided into blocks whose sizes
        differ by one row at most. With a number, the rows after the last block are not used.
    gap : int, default=0
        Rows between the training part and the test block that are in neither. The warm-up keeps
        its `n_warmup` rows: the first test row is number ``n_warmup + gap``. It protects the
        training part only: `prequential_scorer` learns the label of every test row before it asks
        about the next one. Use `DelayedEvaluator` for labels that come late.

    See Also
    --------
    prequential_scorer : The scorer for it.
    skstream.DelayedEvaluator : Labels that come late, along the whole stream.
    sklearn.model_selection.TimeSeriesSplit : Test parts counted from the end of the rows.

    Notes
    -----
    A test block that begins at row ``b`` has the training part ``0, ..., b - gap - 1``. Training
    parts grow, and test blocks never overlap.

    Rows cannot be drawn from the arrays of positions, nor put into another order (slices and masks
    are free): `HalvingGridSearchCV` and `HalvingRandomSearchCV` would test rows drawn at random
    with ``resource="n_samples"``, their default, and get an error.

    Where ``fit`` is one ``partial_fit`` in the order of the rows (the meta-estimators and stream
    pipelines of this package) and there is no gap, the model at the start of each block is the one
    that would have come along the stream, so that several blocks score one and the same pass,
    period by period. Where ``fit`` goes over the rows several times (`SGDClassifier`), each block
    begins with a model that had several epochs.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.model_selection import PrequentialSplit
    >>> X = np.zeros((10, 1))
    >>> for train, test in PrequentialSplit(4).split(X):
    ...     print(train, test)
    [0 1 2 3] [4 5 6 7 8 9]
    >>> for train, test in PrequentialSplit(4, n_splits=2, gap=1).split(X):
    ...     print(train, test)
    [0 1 2 3] [5 6 7]
    [0 1 2 3 4 5 6] [8 9]
    """

    def __init__(
        self, n_warmup: int, *, n_splits: int = 1, test_size: int | None = None, gap: int = 0
    ) -> None:
        self.n_warmup = n_warmup
        self.n_splits = n_splits
        self.test_size = test_size
        self.gap = gap

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the positions of the rows to train on and to test on.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows of a stream, oldest first.
        y : array-like of shape (n_rows,), default=None
            Labels; only their number is looked at.
        groups : object, default=None
            Not used; for compatibility with scikit-learn.

        Returns
        -------
        iterator of (train, test)
            Two increasing arrays of row positions for each split.

        Raises
        ------
        ValueError
            If a parameter is out of its range, or there are too few rows for all splits.
        """
        self._check_rows(X, y, groups)
        edges = self._edges(n_rows_of(X))
        return (
            (Positions.of(np.arange(begin - self.gap)), Positions.of(np.arange(begin, end)))
            for begin, end in itertools.pairwise(edges)
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X : object, default=None
            Not used; for compatibility with scikit-learn.
        y : object, default=None
            Not used; for compatibility with scikit-learn.
        groups : object, default=None
            Not used; for compatibility with scikit-learn.

        Returns
        -------
        int
            The parameter `n_splits`.
        """
        return count_of(self, "n_splits", 1)

    def _edges(self, n_rows: int) -> list[int]:
        """Return the first row of every test block, and the row after the last block."""
        first = count_of(self, "n_warmup", 1) + count_of(self, "gap", 0)
        n_splits = count_of(self, "n_splits", 1)
        if self.test_size is not None:
            size = count_of(self, "test_size", 1)
            edges = [first + size * i for i in range(n_splits + 1)]
        else:
            size, longer = divmod(n_rows - first, n_splits)
            edges = [first + size * i + min(i, longer) for i in range(n_splits + 1)]
        if edges[-1] > n_rows or size < 1:
            needed = edges[-1] if self.test_size is not None else first + n_splits
            left = max(n_rows - first, 0)
            raise ValueError(
                f"{self!r} needs at least {needed:,} rows, but X has {n_rows:,}: n_warmup and gap "
                f"leave {left:,} {'row' if left == 1 else 'rows'} to test. Give a shorter warm-up, "
                "or fewer or smaller test blocks."
            )
        return edges
