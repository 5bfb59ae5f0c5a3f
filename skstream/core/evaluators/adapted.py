"""Models of other libraries where a model is expected; `skstream.compat` adapts them."""

from collections.abc import Callable
from typing import Any

#: What makes an estimator of a model, by the function that knows models of its library.
_ADAPTERS: dict[Callable[[Any], bool], Callable[[Any], Any]] = {}


def offer_adapter(is_known: Callable[[Any], bool], adapt: Callable[[Any], Any]) -> None:
    """Let models of another library be evaluated: those that `is_known` knows, by `adapt`.

    The estimators that `adapt` makes may have the methods `going_on(classes)`, an estimator that
    goes on from what the model inside has learnt, `is_new_around_learnt()`, whether the estimator
    has learnt nothing and the model inside has, and `inner_name()`, the name of that model.
    """
    _ADAPTERS[is_known] = adapt


def is_foreign(model: Any) -> bool:
    """Whether an object is a model of a library whose models are adapted."""
    return not hasattr(model, "partial_fit") and any(is_known(model) for is_known in _ADAPTERS)


def adapted(model: Any) -> Any:
    """Return a model of another library as an estimator; anything else as it is."""
    if not is_foreign(model):
        return model
    return next(adapt for is_known, adapt in _ADAPTERS.items() if is_known(model))(model)


def name_of(model: Any) -> str:
    """Name of a model after its type, or that of the model inside where it is adapted."""
    if isinstance(model, type):
        return model.__name__
    return str(model.inner_name()) if hasattr(model, "inner_name") else type(model).__name__
