"""Parameters of River's models, to any depth: listed, set, and seeds filled in."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from skstream.utils._content import NotComparable, content
from skstream.utils._seeds import derive_seed

Path = tuple[str, ...]


def parameters_of(model: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the parameters of a River model, and those of the models in them, by their path."""
    for name, value in _own_parameters(model).items():
        yield (*path, name), value
        if _has_parameters(value):
            yield from parameters_of(value, (*path, name))


def with_parameters(model: Any, values: Mapping[Path, Any]) -> Any:
    """Return a River model that has learnt nothing, with some parameters set."""
    return _remade(model, lambda path, value: values.get(path, value))


def seeded(model: Any, seed: int | None) -> Any:
    """Return a River model that has learnt nothing; seeds that are None are derived from `seed`.

    Each seed depends on its place in the model alone. Without `seed` they stay None.
    """

    def filled_in(path: Path, value: Any) -> Any:
        unset = seed is not None and path[-1] == "seed" and value is None
        return derive_seed(seed, "river", *path) if unset and seed is not None else value

    return _remade(model, filled_in)


def is_new(model: Any) -> bool:
    """Whether a River model is known to have learnt nothing: it is as its own clone.

    River does not say it. Where clones of one model differ, by random numbers that they draw when
    they are made, or cannot be compared, it is not known.
    """
    try:
        return content(model, with_random=False) == content(seeded(model, None), with_random=False)
    except NotComparable:
        return False


def models_in(model: Any) -> Iterator[Any]:
    """Yield a River model and everything of River's in its parameters, in lists of them too."""
    yield model
    for value in _own_parameters(model).values():
        parts = value if isinstance(value, list | tuple) else [value]
        for part in parts:
            if _has_parameters(part):
                yield from models_in(part)


def _has_parameters(value: Any) -> bool:
    return hasattr(value, "_get_params") and not isinstance(value, type)


def _parts_by_name(model: Any) -> dict[str, Any] | None:
    """Steps of a pipeline or parts of a union; None for any other model."""
    if not hasattr(model, "learn_one"):
        return None
    for attribute in ("steps", "transformers"):
        parts = getattr(model, attribute, None)
        if isinstance(parts, dict):
            return dict(parts)
    return None


def _own_parameters(model: Any) -> dict[str, Any]:
    parts = _parts_by_name(model)
    if parts is not None:
        return parts
    return {
        name: getattr(model, name, value)
        for name, value in model._get_params().items()
        if name != "_POSITIONAL_ARGS"
    }


def _remade(model: Any, change: Callable[[Path, Any], Any]) -> Any:
    # River's clones share what was given to their constructor by position.
    model = deepcopy(model)
    return model.clone(_new_parameters(model, change, ()))


def _new_parameters(model: Any, change: Callable[[Path, Any], Any], path: Path) -> dict[str, Any]:
    """Parameters that change, in the form that River's ``clone`` takes."""
    by_name = _parts_by_name(model) is not None
    made: dict[str, Any] = {}
    for name, value in _own_parameters(model).items():
        here = (*path, name)
        changed = change(here, value)
        if changed is not value:
            made[name] = changed
        elif _has_parameters(value):
            inner = _new_parameters(value, change, here)
            if inner:
                made[name] = inner if by_name else (type(value), inner)
        elif isinstance(value, list | tuple) and any(map(_has_parameters, value)):
            made[name] = type(value)(
                part.clone(_new_parameters(part, change, (*here, str(place))))
                if _has_parameters(part)
                else part
                for place, part in enumerate(value)
            )
    return made
