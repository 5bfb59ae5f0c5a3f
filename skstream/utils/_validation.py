"""Checks of models and input that several packages share."""

import inspect
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags, get_tags
from sklearn.utils.validation import check_is_fitted

from skstream.utils._content import content

#: What makes a model with ``partial_fit`` of one without, by the class of the latter.
_LEARNERS: dict[type, Callable[[Any], Any]] = {}


def offer_learner(kind: type, learner_of: Callable[[Any], Any]) -> None:
    """Let models of a class, without ``partial_fit``, learn along a stream as `learner_of` says."""
    _LEARNERS[kind] = learner_of


def as_learner(model: Any) -> Any:
    """Return a model as it learns along a stream: a `Pipeline` as a `StreamPipeline`."""
    learner_of = _LEARNERS.get(type(model))
    return model if learner_of is None else learner_of(model)


def tags_of(model: Any) -> Tags:
    """Tags of a model; for one without scikit-learn's base class, what it appears to be.

    Such a model is a regressor if it derives from `RegressorMixin` or says
    ``_estimator_type = "regressor"``. Otherwise it is a classifier if it has ``predict``.
    """
    try:
        return get_tags(model)
    except AttributeError:
        tags = Tags(estimator_type=None, target_tags=TargetTags(required=True))
        if _declares_regression(model):
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        elif hasattr(model, "predict"):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags


def reads_frame_as_names(transformer: Any, X: Any) -> bool:
    """Whether a transformer of documents would take a data frame for a list of its column names.

    `HashingVectorizer` and similar transformers iterate over their input, and iterating over a data
    frame gives its column names. In a call with one row and one column the counts agree, so no
    error is raised.
    """
    return hasattr(X, "columns") and not tags_of(transformer).input_tags.two_d_array


def _declares_regression(model: Any) -> bool:
    return (
        isinstance(model, RegressorMixin) or getattr(model, "_estimator_type", None) == "regressor"
    )


def is_classifier(model: Any) -> bool:
    """Whether a model is a classifier, with or without scikit-learn's base class."""
    return bool(tags_of(model).estimator_type == "classifier")


def is_regressor(model: Any) -> bool:
    """Whether a model is a regressor, with or without scikit-learn's base class."""
    return bool(tags_of(model).estimator_type == "regressor")


def is_outlier_detector(model: Any) -> bool:
    """Whether a model answers 1 for inliers and -1 for outliers."""
    return bool(tags_of(model).estimator_type == "outlier_detector")


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has learnt something, in scikit-learn's sense."""
    own = type(estimator).__module__.partition(".")[0] == __name__.partition(".")[0]
    # Our own estimators all require fitting, so scikit-learn need not look up the nested tags.
    if hasattr(estimator, "fit") and not (own and hasattr(estimator, "__sklearn_is_fitted__")):
        try:
            check_is_fitted(estimator)
        except NotFittedError:
            return False
        except AttributeError:  # no tags: it does not derive from scikit-learn's base class
            return _shows_fitted_attributes(estimator)
        return True
    return _shows_fitted_attributes(estimator)  # it learns by partial_fit alone


def _shows_fitted_attributes(estimator: Any) -> bool:
    if hasattr(estimator, "__sklearn_is_fitted__"):
        return bool(estimator.__sklearn_is_fitted__())
    attributes = getattr(estimator, "__dict__", {})
    return any(name.endswith("_") and not name.startswith("_") for name in attributes)


def unfitted_copy(model: Any, *, learns: bool = True) -> Any:
    """Copy a model without what it has learnt.

    A model without ``get_params`` cannot be constructed again from its parameters. It is copied by
    `copy.deepcopy`, with whatever it has learnt.

    Parameters
    ----------
    model : estimator
        What to copy. A frozen estimator stays as it is.
    learns : bool, default=True
        Whether the copy is to learn along a stream (see `as_learner`), not by ``fit``.

    Raises
    ------
    TypeError
        If a model without ``get_params`` cannot be copied.
    """
    try:
        return clone(as_learner(model) if learns else model, safe=False)
    except Exception as error:
        _raise_if_not_copied(model, error)
        raise


def fitted_copy(model: Any) -> Any:
    """Copy a model with what it has learnt; the TypeError names what cannot be copied."""
    try:
        return deepcopy(model)
    except Exception as error:
        _raise_if_not_copied(model, error)
        raise


def _raise_if_not_copied(model: Any, error: Exception) -> None:
    """Raise the error that names what in a model cannot be copied."""
    found = _not_copied(model)
    if found is not None:
        part, place, cause = found
        raise TypeError(
            f"{type(part).__name__} cannot be copied{place}: {type(cause).__name__}: {cause}. "
            "Models without get_params are copied by copy.deepcopy: make that possible, for "
            "example with a __getstate__ that leaves it out, or derive it from "
            "sklearn.base.BaseEstimator, which has get_params."
        ) from error


def _not_copied(model: Any) -> tuple[Any, str, Exception] | None:
    """Return the object inside a model that `deepcopy` does not copy, what of it, and the error."""
    if hasattr(model, "get_params") and not isinstance(model, type):
        inside = model.get_params(deep=False).values()
    elif isinstance(model, list | tuple):
        inside = model
    else:
        cause = _error_of_copying(model)
        if cause is None:
            return None
        for name, value in getattr(model, "__dict__", {}).items():
            if _error_of_copying(value) is not None:
                kind = f"{type(value).__module__}.{type(value).__qualname__}"
                return model, f", because of its attribute {name!r} ({kind})", cause
        return model, "", cause
    return next(filter(None, map(_not_copied, inside)), None)


def _error_of_copying(value: Any) -> Exception | None:
    try:
        deepcopy(value)
    except Exception as error:
        return error
    return None


def is_plain(model: Any) -> bool:
    """Whether a model has no ``get_params``, so that a copy keeps what it has learnt."""
    return not hasattr(model, "get_params")


def plain_parts(model: Any) -> Iterator[Any]:
    """Yield the model if it is a plain object, or those with ``partial_fit`` in its parameters.

    To any depth, but for what frozen estimators hold: they keep it.
    """
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop(0)
        if id(part) in seen or isinstance(part, type | FrozenEstimator):
            continue
        seen.add(id(part))
        if isinstance(part, list | tuple):
            waiting += part
        elif hasattr(part, "get_params"):
            with suppress(Exception):  # of any class that users write: its copy will say it
                waiting += part.get_params(deep=False).values()
        elif part is model or hasattr(part, "partial_fit"):
            yield part


def differs_from_new(model: Any) -> bool:
    """Whether the state of a plain object is known to differ from that of a new one.

    A new one is made from the attributes that are named as the parameters of its class. Where there
    are none, or two new ones differ, nothing is known.
    """
    drawn = random.getstate(), np.random.get_state()  # which the class may use
    try:
        parameters = inspect.signature(type(model)).parameters.values()
        if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
            return False
        given = [getattr(model, one.name) for one in parameters if one.kind is not one.KEYWORD_ONLY]
        named = {
            one.name: getattr(model, one.name) for one in parameters if one.kind is one.KEYWORD_ONLY
        }
        first, second = (_state(type(model)(*given, **named)) for _ in range(2))
        return first == second and _state(model) != first
    except Exception:  # of any class that users write
        return False
    finally:
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])


def _state(model: Any) -> str:
    return content(model, with_random=False)
