"""Kernels for GaussianNB and IncrementalGaussianNB."""

import copy
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import unique_labels

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task, value_of
from skstream.engine.kernels.cuts import Floats
from skstream.engine.kernels.in_place import InPlace
from skstream.engine.kernels.input import EXACT, EXACT_OR_SINGLE, Columns, read_block
from skstream.engine.kernels.naive_bayes.gaussian_states import LoopedGroups, SummedGroups
from skstream.engine.kernels.naive_bayes.scores import answers, is_proper_prior, refused_answers
from skstream.utils._numba import numba_enabled
from skstream.utils._running_sums import running_sums
from skstream.utils._validation import is_fitted

# Outside of these, squares over- or underflow, or scikit-learn takes a weight for 0.
_MIN_VALUE, _MAX_VALUE = 1e-100, 1e100
_MIN_WEIGHT, _MAX_WEIGHT = 1e-6, 1e6


class GaussianKernel(InPlace):
    """GaussianNB, taught row by row: then its floor is 0, and constant features give NaN.

    With numba, scikit-learn's recurrence for mean and variance, bit for bit; else prefix sums.
    """

    bitwise = False
    # It computes float32 rows in float32, where no two ways of adding agree.
    _dtypes: ClassVar[tuple[type, ...]] = EXACT

    def __init__(self, estimator: Any, task: Task):
        super().__init__(estimator, task)
        assert task.classes is not None
        self._n_classes = len(task.classes)
        self._columns = Columns.of(estimator)
        self._class_count = np.zeros(self._n_classes)
        self._priors: Floats | None = None
        if estimator.priors is not None:
            self._priors = np.array(estimator.priors, dtype=np.float64)
        self._groups: LoopedGroups | SummedGroups | None = None
        self._has_learnt = False
        if is_fitted(estimator):
            self._class_count = np.array(estimator.class_count_)
            self._groups = self._new_groups(*self._known_moments())

    @classmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Refuse parameters that ``partial_fit`` does not take, and a state not in float64."""
        refused = refused_answers(task)
        if refused is not None:
            return refused
        if task.batch_size > 1:
            return f"batch_size={task.batch_size}"
        assert task.classes is not None
        smoothing, priors = estimator.var_smoothing, estimator.priors
        if not isinstance(smoothing, Real) or not 0 <= float(smoothing) < np.inf:
            return value_of(estimator, "var_smoothing")
        if priors is not None and not (
            is_proper_prior(priors, len(task.classes)) and np.isclose(np.sum(priors), 1.0)
        ):
            return value_of(estimator, "priors")
        known = not hasattr(estimator, "classes_") or cls._takes_up(estimator, task.classes)
        return None if known else "a fitted state of another kind than partial_fit leaves here"

    @classmethod
    def _takes_up(cls, estimator: Any, classes: NDArray[Any]) -> bool:
        """Whether the state of a fitted estimator is of the usual kind."""
        same = np.array_equal(estimator.classes_, classes)
        return same and estimator.theta_.dtype == np.float64

    def run(self, block: Block) -> NDArray[Any]:
        """Execute the block."""
        if not block.n_learns and not block.n_asks:
            return answers(np.empty((0, self._n_classes)), self.task)
        if self._groups is None and block.n_asks and block.stamp[0] == 0:
            raise Declined("asking before anything is learnt has no kernel")
        learn, ask, columns = read_block(block, self._columns, dtypes=self._dtypes)
        if _is_extreme(learn):
            raise Declined("values beyond 1e100 or within 1e-100 of 0 have no kernel")
        if block.weight is not None and _is_extreme_weight(block.weight):
            raise Declined("weights above 1e6 or below 1e-6 have no kernel")
        assert columns.number is not None
        groups = self._groups
        if groups is None:
            groups = self._new_groups(*self._no_moments(columns.number))
        elif block.weight is not None:
            # Prefix sums of weighted rows may turn out to be inexact when some are learnt.
            groups = copy.deepcopy(groups)
        scores = groups.log_likelihoods(block, learn, ask, float(self.estimator.var_smoothing))
        steps = np.zeros((block.n_learns, self._n_classes))
        steps[np.arange(block.n_learns), block.y] = 1.0 if block.weight is None else block.weight
        weights = running_sums(self._class_count, steps)
        scores += self._log_priors(weights[block.stamp])
        self._groups, self._columns = groups, columns
        self._class_count = weights[-1].copy()
        self._has_learnt |= block.n_learns > 0
        return answers(scores, self.task)

    def _new_groups(
        self, weights: Floats, means: Floats, variances: Floats
    ) -> LoopedGroups | SummedGroups:
        kind = LoopedGroups if numba_enabled() else SummedGroups
        return kind(self._n_classes, weights, means, variances)

    def _known_moments(self) -> tuple[Floats, Floats, Floats]:
        """Weights, means and variances by group, of a fitted estimator."""
        model = self.estimator
        return model.class_count_, model.theta_, model.var_

    def _no_moments(self, n_features: int) -> tuple[Floats, Floats, Floats]:
        """Weights, means and variances by group where nothing has been learnt."""
        nothing = np.zeros((self._n_classes, n_features))
        return np.zeros(self._n_classes), nothing, nothing

    def _log_priors(self, weights: Floats) -> Floats:
        """Log probabilities of the classes, from their weights at each ask."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = self._priors
            if shares is None:
                shares = weights / weights.sum(axis=1, keepdims=True)
            priors: Floats = np.log(shares)
        return priors

    def snapshot(self) -> Any:
        """Copy of the state."""
        groups = copy.deepcopy(self._groups)
        return self._columns, self._class_count.copy(), groups, self._has_learnt

    def restore(self, snapshot: Any) -> None:
        """Go back to a copy of the state."""
        self._columns, class_count, groups, self._has_learnt = snapshot
        self._class_count, self._groups = class_count.copy(), copy.deepcopy(groups)

    def export_own(self) -> None:
        """Write the fitted attributes of scikit-learn."""
        if not self._has_learnt:
            return
        assert self._groups is not None
        model = self.estimator
        self._columns.export(model)
        model.classes_ = unique_labels(self.task.classes)
        model.class_count_ = self._class_count.copy()
        model.class_prior_ = (
            self._class_count / self._class_count.sum()
            if self._priors is None
            else self._priors.copy()
        )
        self._export_moments(self._groups)

    def _export_moments(self, groups: LoopedGroups | SummedGroups) -> None:
        model = self.estimator
        model.theta_, model.var_ = groups.means.copy(), groups.variances.copy()
        # The variance of the newest row, which is all that scikit-learn looks at.
        model.epsilon_ = model.var_smoothing * np.float64(0.0)


class IncrementalGaussianKernel(GaussianKernel):
    """IncrementalGaussianNB, taught row by row; the last group of rows is all of them."""

    _dtypes = EXACT_OR_SINGLE

    @classmethod
    def _takes_up(cls, estimator: Any, classes: NDArray[Any]) -> bool:
        return np.array_equal(estimator.classes_, classes)

    def _known_moments(self) -> tuple[Floats, Floats, Floats]:
        model = self.estimator
        return (
            np.append(model.class_count_, model.total_count_),
            np.vstack([model.theta_, model.total_mean_]),
            np.vstack([model.raw_var_, model.total_var_]),
        )

    def _no_moments(self, n_features: int) -> tuple[Floats, Floats, Floats]:
        nothing = np.zeros((self._n_classes + 1, n_features))
        return np.zeros(self._n_classes + 1), nothing, nothing

    def _log_priors(self, weights: Floats) -> Floats:
        # A class of which nothing has been learnt is never the answer.
        return np.where(weights > 0, super()._log_priors(weights), -np.inf)

    def _export_moments(self, groups: LoopedGroups | SummedGroups) -> None:
        model, means, variances = self.estimator, groups.means, groups.variances
        model.total_count_ = float(groups.weights[-1])
        model.theta_, model.total_mean_ = means[:-1].copy(), means[-1].copy()
        model.raw_var_, model.total_var_ = variances[:-1].copy(), variances[-1].copy()
        model.epsilon_ = model.var_smoothing * model.total_var_.max()
        model.var_ = model.raw_var_ + model.epsilon_


def _is_extreme(x: Floats) -> bool:
    sizes = np.abs(x)
    return bool((sizes > _MAX_VALUE).any() or ((sizes < _MIN_VALUE) & (x != 0)).any())


def _is_extreme_weight(weight: Floats) -> bool:
    return bool(((weight < _MIN_WEIGHT) | (weight > _MAX_WEIGHT)).any())
