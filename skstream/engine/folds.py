"""Timelines of k-fold distributed validation: k copies of a model along one stream."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from skstream.engine.timeline import Arrivals, End, Operations, no_rows, operate_rows
from skstream.utils._seeds import poisson_weights, uniform

Strategy = Literal["bootstrap", "cross", "split"]
TestOn = Literal["held_out", "trained", "all"]


@dataclass(frozen=True, slots=True)
class FoldState:
    """Progress of a fold: rows of the warm-up learnt so far, and the row expected next."""

    n_learnt: int = 0
    next_row: int = 0


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

    def initial(self) -> FoldState:
        """Return the state before the first row."""
        return FoldState()

    def step(self, state: FoldState, event: Arrivals | End) -> tuple[FoldState, Operations]:
        """Return the state after an event, and the operations; none at the end of the stream."""
        if isinstance(event, End):
            return state, Operations(no_rows(), None, no_rows(), no_rows(), settled=state.next_row)
        weight = self._learning_weight(event.first_row, event.first_row + event.n_rows)
        tested = None
        if self.test_on == "held_out":
            tested = weight == 0
        elif self.test_on == "trained":
            tested = weight > 0
        n_learnt, operations = operate_rows(state.n_learnt, self.n_warmup, event, weight, tested)
        return FoldState(n_learnt, operations.settled), operations

    def _learning_weight(self, start: int, stop: int) -> np.ndarray:
        weight: np.ndarray
        if self.strategy == "bootstrap":
            weight = poisson_weights(self.seed, self.fold, start, stop).astype(np.float64)
        else:
            is_chosen = self._chosen_fold(start, stop) == self.fold
            weight = is_chosen if self.strategy == "split" else ~is_chosen
        return weight

    def _chosen_fold(self, start: int, stop: int) -> np.ndarray:
        drawn = uniform(self.seed, "assignment", start, stop)
        return np.asarray(drawn * self.n_folds).astype(np.int64)
