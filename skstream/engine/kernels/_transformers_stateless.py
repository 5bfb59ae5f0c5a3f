"""Kernel for transformers that learn nothing from a row: a block's rows are transformed once."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from skstream.engine.block import Block, take_rows
from skstream.engine.kernels._base import Declined, Task, TransformKernel, kernel_of
from skstream.utils._sklearn import output_container
from skstream.utils._validation import is_fitted


def _has_categories(encoder: Any) -> bool:
    """Whether an encoder takes nothing from the rows, as `StreamPipeline` wants it."""
    return (
        not isinstance(encoder.categories, str)
        and encoder.min_frequency is None
        and encoder.max_categories is None
    )


def _is_elementwise(transformer: Any) -> bool:
    """Whether a function is a ufunc of one argument: any other may look at other rows."""
    function = transformer.func
    known = function is None or (isinstance(function, np.ufunc) and function.nin == 1)
    return known and not transformer.kw_args and transformer.inverse_func is None


def _is_copied(transformer: Any) -> bool:
    return transformer.copy is True


# Transformers whose answer to a row hangs on that row alone, to the last bit (nothing goes
# through a matrix product), and under which parameters.
_STATELESS: dict[type, Callable[[Any], bool]] = {
    Binarizer: _is_copied,
    FeatureHasher: lambda hasher: True,
    FunctionTransformer: _is_elementwise,
    HashingVectorizer: lambda vectorizer: True,
    Normalizer: _is_copied,
    OneHotEncoder: _has_categories,
    OrdinalEncoder: _has_categories,
    PolynomialFeatures: lambda transformer: True,
}
# The same once they are fitted.
_FITTED: dict[type, Callable[[Any], bool]] = {
    **_STATELESS,
    CountVectorizer: lambda vectorizer: True,
    KBinsDiscretizer: lambda transformer: True,
    MaxAbsScaler: _is_copied,
    MinMaxScaler: _is_copied,
    OneHotEncoder: lambda encoder: True,
    OrdinalEncoder: lambda encoder: True,
    RobustScaler: _is_copied,
    SimpleImputer: _is_copied,
    StandardScaler: _is_copied,
    TfidfTransformer: lambda transformer: True,
    TfidfVectorizer: lambda vectorizer: True,
}


@kernel_of(FrozenEstimator, *_STATELESS)
class StatelessKernel(TransformKernel):
    """Transformers without state, determined by their parameters, or frozen.

    They are fitted on the first row learnt, from which they take the number and names of the
    columns at most.
    """

    def __init__(self, transformer: Any, task: Task):
        super().__init__(transformer, task)
        # Never changed once it is fitted, so that snapshots may share it.
        self._fitted: Any = transformer if _is_settled(transformer) else None

    @classmethod
    def supports(cls, transformer: Any, task: Task) -> bool:
        """Whether a row's answer hangs on that row alone."""
        if output_container(transformer) != "default":
            return False
        if not isinstance(transformer, FrozenEstimator):
            return _STATELESS[type(transformer)](transformer)
        inner = transformer.estimator
        known = _FITTED.get(type(inner))
        return (
            known is not None
            and known(inner)
            and is_fitted(inner)
            and output_container(inner) == "default"
        )

    def run(self, block: Block) -> Block:
        """Transform every row of the block once."""
        if not block.n_learns and not block.n_asks:
            return block
        fitted = self._fitted
        try:
            if fitted is None:
                fitted = _fit(self.transformer, take_rows(block.learn_X, block.learn_index[:1]))
            if block.ask_X is block.learn_X:
                used = np.union1d(block.learn_index, block.ask_index)
                learn = ask = _transform(fitted, block.learn_X, used)
                learn_index = np.searchsorted(used, block.learn_index)
                ask_index = np.searchsorted(used, block.ask_index)
            else:
                learn = _transform(fitted, block.learn_X, block.learn_index)
                ask = _transform(fitted, block.ask_X, block.ask_index)
                learn_index, ask_index = np.arange(block.n_learns), np.arange(block.n_asks)
        except Exception as error:  # whatever it is, the loop meets it at its row
            raise Declined from error
        if block.n_learns:
            self._fitted = fitted
        return replace(
            block, learn_X=learn, learn_index=learn_index, ask_X=ask, ask_index=ask_index
        )

    def snapshot(self) -> Any:
        """State: the fitted transformer, which does not change."""
        return self._fitted

    def restore(self, snapshot: Any) -> None:
        """Go back to a state."""
        self._fitted = snapshot

    def export(self) -> None:
        """Write the fitted attributes."""
        if self._fitted is not None and self._fitted is not self.transformer:
            vars(self.transformer).update(vars(self._fitted))


def _is_settled(transformer: Any) -> bool:
    """Whether a transformer needs no fitting any more."""
    return isinstance(transformer, FrozenEstimator) or any(
        name.endswith("_") and not name.startswith("_") for name in vars(transformer)
    )


def _fit(transformer: Any, first_row: Any) -> Any:
    """Copy of a transformer that has learnt its first row."""
    fitted = copy.deepcopy(transformer)
    learn = getattr(fitted, "partial_fit", fitted.fit)
    learn(first_row)
    return fitted


def _transform(fitted: Any, X: Any, index: NDArray[np.intp]) -> Any:
    if not len(index):
        return X
    rows = take_rows(X, index)
    if isinstance(rows, np.ndarray):
        # Sums along rows are rounded by the order in memory; a single row has but one.
        rows = np.ascontiguousarray(rows)
    elif isinstance(fitted, Normalizer) and not sparse.issparse(rows):
        raise Declined
    return fitted.transform(rows)
