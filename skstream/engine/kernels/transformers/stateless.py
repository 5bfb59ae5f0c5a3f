"""Kernel for transformers that learn nothing from a row: a block's rows are transformed once."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from skstream.engine.block import Block
from skstream.engine.kernels.base import Declined, Task, TransformKernel, value_of
from skstream.engine.kernels.compose import used_rows
from skstream.engine.kernels.schema import refused_output
from skstream.engine.kernels.transformers.row_by_row import transformed
from skstream.engine.loop import changed_methods
from skstream.utils._rows import take_rows
from skstream.utils._validation import is_fitted


def _learnt_categories(encoder: Any) -> str | None:
    """Refuse an encoder that takes something from the rows, as `StreamPipeline` does."""
    if isinstance(encoder.categories, str):
        return value_of(encoder, "categories")
    for name in ("min_frequency", "max_categories"):
        if getattr(encoder, name) is not None:
            return value_of(encoder, name)
    return None


def _other_function(transformer: Any) -> str | None:
    """Refuse a function that is no ufunc of one argument: it may look at other rows.

    One that takes a column as texts one by one, for a vectorizer, is ``np.ravel``.
    """
    function = transformer.func
    is_ufunc = isinstance(function, np.ufunc) and function.nin == function.nout == 1
    if function is not None and function is not np.ravel and not is_ufunc:
        return "a function other than a ufunc of NumPy"
    for name in ("kw_args", "inverse_func"):
        if getattr(transformer, name):
            return name
    return None


def _not_copied(transformer: Any) -> str | None:
    return None if transformer.copy is True else value_of(transformer, "copy")


def _learnt_values(imputer: Any) -> str | None:
    """Refuse an imputer that takes something from the rows, as `StreamPipeline` does."""
    if imputer.strategy != "constant":
        return value_of(imputer, "strategy")
    for name, fixed in (("keep_empty_features", True), ("add_indicator", False)):
        if getattr(imputer, name) is not fixed:
            return value_of(imputer, name)
    return _not_copied(imputer)


def _nothing(transformer: Any) -> None:
    return None


_Refusal = Callable[[Any], str | None]

# Transformers whose answer to a row depends on that row alone, to the last bit (nothing goes
# through a matrix product), and what is refused of them.
_STATELESS: dict[str, _Refusal] = {
    "Binarizer": _not_copied,
    "DatetimeFeatures": _nothing,
    "FeatureHasher": _nothing,
    "FunctionTransformer": _other_function,
    "HashingVectorizer": _nothing,
    "Normalizer": _not_copied,
    "OneHotEncoder": _learnt_categories,
    "OrdinalEncoder": _learnt_categories,
    "PolynomialFeatures": _nothing,
    "SimpleImputer": _learnt_values,
}
# The same once they are fitted.
_COPYING = ["MaxAbsScaler", "MinMaxScaler", "RobustScaler", "SimpleImputer", "StandardScaler"]
_OTHERS = ["CountVectorizer", "KBinsDiscretizer", "OneHotEncoder", "OrdinalEncoder"]
_FITTED: dict[str, _Refusal] = {
    **_STATELESS,
    **dict.fromkeys(_COPYING, _not_copied),
    **dict.fromkeys((*_OTHERS, "TfidfTransformer", "TfidfVectorizer"), _nothing),
}


class StatelessKernel(TransformKernel):
    """Transformers without state, determined by their parameters, or frozen.

    They are fitted on the first row learnt, from which they take the number and names of the
    columns at most. The fitted transformer is the state; it does not change any more.
    """

    shareable = True

    @classmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Refuse what may look at other rows than the one that it transforms."""
        refused = refused_output(transformer)
        if refused is not None or not isinstance(transformer, FrozenEstimator):
            return refused or _STATELESS[type(transformer).__name__](transformer)
        inner = transformer.estimator
        name = type(inner).__name__
        if name not in _FITTED or not type(inner).__module__.startswith(("sklearn.", "skstream.")):
            return f"{name} inside"
        if not is_fitted(inner):
            return f"an unfitted {name} inside"
        refused = changed_methods(inner) or refused_output(inner) or _FITTED[name](inner)
        return None if refused is None else f"a {name} inside with {refused}"

    def initial_state(self) -> Any:
        """Return the fitted transformer; None before the first row."""
        return self.estimator if _is_settled(self.estimator) else None

    def step(self, state: Any, block: Block) -> tuple[Any, Block]:
        """Transform every row of the block once."""
        if not block.n_learns and not block.n_asks:
            return state, block
        fitted = state
        try:
            if fitted is None:
                fitted = _fit(self.estimator, take_rows(block.learn_X, block.learn_index[:1]))
            if block.ask_X is block.learn_X:
                ((X, rows),), learn_index, ask_index = used_rows(block)
                learn = ask = transformed(fitted, X, rows)
            else:
                learn = transformed(fitted, block.learn_X, block.learn_index)
                ask = transformed(fitted, block.ask_X, block.ask_index)
                learn_index, ask_index = np.arange(block.n_learns), np.arange(block.n_asks)
        except Declined:
            raise
        except Exception as error:  # whatever it is, the loop meets it at its row
            name = type(self.estimator).__name__
            raise Declined(f"rows at which {name} fails have no kernel") from error
        shown = replace(
            block, learn_X=learn, learn_index=learn_index, ask_X=ask, ask_index=ask_index
        )
        return fitted if block.n_learns else state, shown

    def export(self, state: Any) -> None:
        """Write the fitted attributes."""
        if state is not None and not _is_settled(self.estimator):
            vars(self.estimator).update(vars(copy.deepcopy(state)))


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
