"""Models of other libraries where a model is expected."""

from typing import Any

from skstream.compat._capymoa import CapyMOAClassifier, CapyMOARegressor, from_capymoa, is_capymoa
from skstream.compat._river import (
    RiverClassifier,
    RiverRegressor,
    from_river,
    is_new,
    is_river,
    model_name,
)


def is_foreign(model: Any) -> bool:
    """Whether an object is a model of a library whose models are adapted."""
    return not hasattr(model, "partial_fit") and (is_river(model) or is_capymoa(model))


def adapted(model: Any) -> Any:
    """Return a model of another library as an estimator; anything else as it is."""
    if not is_foreign(model):
        return model
    return from_river(model) if is_river(model) else from_capymoa(model)


def going_on(model: Any, classes: Any) -> Any:
    """Return an adapted model that goes on from what the one inside has learnt; others as is."""
    return model.going_on(classes) if isinstance(model, RiverClassifier | RiverRegressor) else model


def is_new_around_learnt(model: Any) -> bool:
    """Whether an adapted model has learnt nothing, and the one inside has."""
    if not isinstance(model, RiverClassifier | RiverRegressor) or hasattr(model, "model_"):
        return False
    return not is_new(model.model)


def name_of(model: Any) -> str:
    """Name of a model after its type, or that of the model inside where it is adapted."""
    if isinstance(model, RiverClassifier | RiverRegressor):
        model = model.model
    elif isinstance(model, CapyMOAClassifier | CapyMOARegressor):
        model = model.learner
    if isinstance(model, type):
        return model.__name__
    return model_name(model) if is_river(model) else type(model).__name__
