"""Models without ``get_params``, which cannot be made again from their parameters."""

import inspect
import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from skstream.utils._content import content


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
        elif not is_plain(part):
            waiting += _parameters(part)
        elif part is model or hasattr(part, "partial_fit"):
            yield part


def _parameters(model: Any) -> list[Any]:
    """Values of its parameters; none where it cannot tell, which its copy will say."""
    try:
        found = model.get_params(deep=False)
    except Exception:  # of any class that users write
        return []
    return list(found.values()) if isinstance(found, Mapping) else []


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
