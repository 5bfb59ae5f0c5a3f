"""Candidates of a search: what a grid or distributions describe, checked and named."""

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from skstream.utils._choices import told_apart, written
from skstream.utils._validation import unfitted_copy
from skstream.utils._warnings import warn

#: Longest text of a value in the name of a candidate.
_LONGEST = 40
#: Where an object is in memory, which another process writes otherwise.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Candidates:
    """The models of a search, in their order.

    Attributes
    ----------
    params : list of dict
        Parameters of each, as they are set.
    names : list of str
        Name of each.
    """

    params: list[dict[str, Any]]
    names: list[str]

    def __len__(self) -> int:
        return len(self.params)

    def models(self, estimator: Any) -> dict[str, Any]:
        """Return new unfitted models by name: copies of an estimator with the parameters."""
        models = [_model_with(estimator, some) for some in self.params]
        return dict(zip(self.names, models, strict=True))


def candidates_of(param_grid: Any, n_iter: int | None, random_state: Any) -> Candidates:
    """Return the candidates of a grid, or as many as are to be sampled from distributions.

    Parameters
    ----------
    param_grid : dict or list of dict
        Values by parameter; distributions too, with `n_iter`.
    n_iter : int or None
        Number of candidates that are sampled; None: all of the grid.
    random_state : int or None
        Seed of the sampling.

    Returns
    -------
    candidates : Candidates
        All different.

    Raises
    ------
    ValueError
        If there is no candidate, or two candidates of a grid are the same.
    """
    _check_grid(param_grid, n_iter)
    if n_iter is None:
        params = _different(list(ParameterGrid(param_grid)))
    else:
        params = _sampled(ParameterSampler(param_grid, n_iter, random_state=random_state))
    return Candidates(params, _names(params))


def _check_grid(param_grid: Any, n_iter: int | None) -> None:
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    is_list = isinstance(grids, Sequence) and not isinstance(grids, str | bytes)
    if not is_list or not all(isinstance(grid, Mapping) for grid in grids):
        raise TypeError(
            f"param_grid must be a dict of lists of values, or a list of such dicts. Got "
            f"{param_grid!r} of type {type(param_grid).__name__} instead."
        )
    for name in (name for grid in grids for name in grid):
        if not isinstance(name, str):
            raise TypeError(
                f"param_grid names parameters by texts. Got {name!r} of type "
                f"{type(name).__name__} instead."
            )
    if not any(grids):
        raise ValueError(
            f"param_grid={param_grid!r} is empty: name parameters and their values. A model alone "
            "is evaluated by PrequentialEvaluator."
        )
    drawn = [name for grid in grids for name, values in grid.items() if hasattr(values, "rvs")]
    if drawn and n_iter is None:
        raise ValueError(
            f"param_grid[{drawn[0]!r}] is a distribution: pass n_iter=, the number of candidates "
            "to sample, or a list of values."
        )


def _model_with(estimator: Any, params: Mapping[str, Any]) -> Any:
    model = unfitted_copy(estimator)
    _refuse_classes(model, params)
    if params:
        model.set_params(**clone(dict(params), safe=False))
    return model


def _refuse_classes(model: Any, params: Mapping[str, Any]) -> None:
    """Refuse a class where the model holds an object, such as a step of a pipeline."""
    classes = [
        name
        for name, value in params.items()
        if isinstance(value, type) and hasattr(value, "get_params")
    ]
    own = model.get_params() if classes else {}
    for name in classes:
        if name in own and not isinstance(own[name], type):
            given = params[name].__name__
            raise TypeError(
                f"param_grid[{name!r}] holds the class {given}, and a model needs an instance: "
                f"pass {given}()."
            )


def _keys(params: Sequence[Mapping[str, Any]]) -> list[str]:
    """Texts that are equal where candidates have equal parameters."""
    return [" ".join(f"{name}={_key(one[name])}" for name in sorted(one)) for one in params]


def _key(value: Any) -> str:
    try:
        return str(joblib.hash(_plain(value)))
    except Exception:  # what cannot be pickled, such as a lambda, equals itself alone
        return str(id(value))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _different(params: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first: dict[str, int] = {}
    for number, key in enumerate(_keys(params)):
        if first.setdefault(key, number) != number:
            raise ValueError(
                f"Candidates {first[key]} and {number} of param_grid are the same, "
                f"{params[number]}: give every value once."
            )
    return params


def _sampled(sampler: ParameterSampler) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        # Its advice is another class; here, n_iter=None.
        warnings.filterwarnings("ignore", message="The total space of parameters")
        params = list(sampler)
    different = list(dict(zip(_keys(params), params, strict=True)).values())
    if len(different) < sampler.n_iter:
        warn(
            f"n_iter={sampler.n_iter} gave {len(different)} different candidates of param_grid; "
            "each is evaluated once. Use n_iter=None for all of a grid."
        )
    return different


def _names(params: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name candidates by the parameters in which they differ, each by another name.

    Paths are left out where the ends are enough, and digits of floats where six are enough.
    """
    paths = list(dict.fromkeys(name for one in params for name in one))
    ends = [path.rpartition("__")[2] for path in paths]
    shown = {p: end if ends.count(end) == 1 else p for p, end in zip(paths, ends, strict=True)}
    told = [path for path in paths if _differs(params, path)]

    def named(one: Mapping[str, Any], *, exact: bool) -> str:
        some = [path for path in one if path in told] or list(one)
        return ", ".join(f"{shown[path]}={_text(one[path], exact)}" for path in some)

    texts = [named(one, exact=False) for one in params]
    times = Counter(texts)
    texts = [
        named(one, exact=True) if times[text] > 1 else text
        for one, text in zip(params, texts, strict=True)
    ]
    return told_apart(texts)


def _differs(params: Sequence[Mapping[str, Any]], path: str) -> bool:
    """Whether a parameter is not the same in all candidates."""
    given = [one for one in params if path in one]
    return len(given) < len(params) or len(set(_keys([{path: one[path]} for one in given]))) > 1


def _text(value: Any, exact: bool) -> str:
    value = _plain(value)
    if isinstance(value, float):
        return written(value) if exact else f"{value:.6g}"
    if isinstance(value, str):
        text = value
    elif isinstance(value, type | FunctionType):
        text = value.__qualname__
    elif isinstance(value, set | frozenset):  # their order is another one in each process
        text = f"{{{', '.join(sorted(map(repr, value)))}}}"
    else:
        text = _ADDRESS.sub("", " ".join(repr(value).split()))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
