"""Measures of sets of rows, each scored on its own: those of a holdout evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from skstream.metrics._checkpoints import Curves, Values, columns_of
from skstream.metrics._measure import Measure
from skstream.metrics._range_sums import SetSums
from skstream.metrics._rows import ScoredRows
from skstream.metrics._scores import Scores
from skstream.metrics._series import columns_of_kinds
from skstream.utils._checkpoints import CheckpointRecorder


class SetMeasures:
    """Any measures of several models, on one set of rows after the other.

    At most 1,024 sets are kept: all, then every second, every fourth, and so on, and the last.

    Parameters
    ----------
    metrics : dict of str to Measure
        From `resolve_metrics`.
    names : sequence of str
        What results call the mechanism of forgetting, which does not apply here.
    classes : ndarray of shape (n_classes,), or None
        Sorted labels; None for regression.
    n_models : int
        Number of models.
    methods : sequence of str or None, default=None
        As those of `RunningMeasures`.
    """

    def __init__(
        self,
        metrics: Mapping[str, Measure],
        names: Sequence[str],
        *,
        classes: ArrayLike | None,
        n_models: int,
        methods: Sequence[str | None] | None = None,
    ) -> None:
        for name, measure in metrics.items():
            if any(one.follows and not one.of_labels for one in columns_of_kinds(measure.series)):
                raise ValueError(
                    f"Measure {name!r} is learnt from the rows before each row, and a holdout "
                    "evaluation scores every set of rows on its own. Use a fixed threshold=, or "
                    "a PrequentialEvaluator."
                )
        labels = None if classes is None else np.asarray(classes)
        told = np.ones(n_models, dtype=bool)
        self._scores = Scores(metrics, dict.fromkeys(names, SetSums), labels, told, methods)
        self._like: Values = {n: {m: [np.empty(0)] * n_models for m in metrics} for n in names}
        # The rows of the stream at each set are a column, as sets are thinned by their numbers.
        self._recorder = CheckpointRecorder(1 + len(names) * len(metrics) * n_models)
        self.n_rows = 0

    def read(self, rows: ScoredRows) -> None:
        """Read whole sets. If a function of the user fails, nothing has been read."""
        assert rows.sets is not None
        self._scores.check(rows)
        ends, checkpoints = rows.sets
        scores = self._scores.copy()
        values = scores.advance(rows, ends, checkpoints)
        self._scores = scores
        self._recorder.follow(checkpoints.astype(np.float64), *columns_of(values))
        self.n_rows += len(rows)

    def finish(self) -> None:
        """Do nothing: every set has been read at once."""

    def curves(self) -> Curves:
        """Measures of the sets that are kept, with a last axis of models."""
        _, columns = self._recorder.followed()
        return Curves.of(columns[0].astype(np.int64), columns[1:].copy(), like=self._like)
