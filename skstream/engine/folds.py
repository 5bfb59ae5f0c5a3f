"""Timelines of k-fold distributed validation: k copies of a model along one stream."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from skstream.engine.timeline import (
    Arrivals,
    End,
    Operations,
    PrequentialState,
    no_rows,
    operate_rows,
)
from skstream.utils._seeds import poisson_weights, uniform

Strategy = Literal["bootstrap", "cross", "split"]
TestOn = Literal["held_out", "trained", "all"]


@dataclass(frozen=True, slots=True)
class FoldTimeline:
    """Timeline of one fold: what it learns and is asked (Bifet et al. 2015, Section 3).

    Every random number depends only on seed, fold and row, so that neither chunking nor the worker
    changes it.

    Parameters
    ----------
    fold : int
        This fold.
    n_folds : int
        Number of folds.
    strategy : {"bootstrap", "cross", "split"}
        Learn each row with a Poisson(1) weight; in all folds but the chosen one; in the
        chosen one only.
    test_on : {"held_out", "trained", "all"}
        Ask about the rows the fold does not learn, about those it learns, or about all.
    seed : int
        Seed of weights and of the fold that is chosen for a row.
    n_warmup : int
        Rows learnt first, unasked, by every fold with weight 1.
    """

    fold: int
    n_folds: int
    strategy: Strategy
    test_on: TestOn
    seed: int
    n_warmup: int

    def initial(self) -> PrequentialState:
        """Return the state before the first row."""
        return PrequentialState()

    def step(
        self, state: PrequentialState, event: Arrivals | End
    ) -> tuple[PrequentialState, Operations]:
        """Return the state after an event, and the operations; none at the end of the stream."""
        if isinstance(event, End):
            return state, Operations(no_rows(), None, no_rows(), no_rows(), settled=state.next_row)
        weight = self._learning_weight(event.first_row, event.first_row + event.n_rows)
        tested = {"held_out": weight == 0, "trained": weight > 0, "all": None}[self.test_on]
        n_learnt, operations = operate_rows(state.n_learnt, self.n_warmup, event, weight, tested)
        return PrequentialState(n_learnt, next_row=operations.settled), operations

    def _learning_weight(self, start: int, stop: int) -> np.ndarray:
        if self.strategy == "bootstrap":
            return poisson_weights(self.seed, self.fold, start, stop).astype(np.float64)
        drawn = np.asarray(uniform(self.seed, "assignment", start, stop) * self.n_folds)
        is_chosen: np.ndarray = drawn.astype(np.int64) == self.fold
        return is_chosen if self.strategy == "split" else ~is_chosen
