"""Estimators from text such as ``sgd(alpha=0.001)``, without evaluating any of it as code."""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skstream.utils._near import did_you_mean

#: What a short name stands for: another model string, or a function that makes the estimator.
Known = Mapping[str, "str | Callable[..., Any]"]

_SYNTAX = re.compile(
    r"\s*(?P<target>[A-Za-z_][\w\-.]*(?::[A-Za-z_]\w*)?)\s*(?P<call>\(.*\))?\s*", re.DOTALL
)
_EXPECTED = (
    "Expected a short name or module:Class, with parameters in parentheses where needed: "
    "sgd, sgd(alpha=0.001), sklearn.linear_model:Perceptron(penalty='l2')."
)


class ModelStringError(ValueError):
    """A model string that cannot be turned into an estimator; says why, and what would be."""


@dataclass(frozen=True, slots=True)
class ModelString:
    """A model string taken apart.

    Attributes
    ----------
    target : str
        A short name, or ``module:Class``.
    models : tuple of str
        Positional arguments: model strings of the estimators to wrap.
    parameters : dict of str to object
        Keyword arguments: Python literals.
    """

    target: str
    models: tuple[str, ...]
    parameters: dict[str, Any]


def parse_model_string(text: str) -> ModelString:
    """Take a model string apart.

    Parameters
    ----------
    text : str
        ``target`` or ``target(argument, ..., parameter=literal, ...)``. A positional argument is
        a quoted model string: ``augmented('sgd(alpha=0.001)', n_lags=2)``.

    Returns
    -------
    ModelString
        Its parts.

    Raises
    ------
    ModelStringError
        If the text has another form, or holds anything but literals.

    Examples
    --------
    >>> from skstream.utils._model_strings import parse_model_string
    >>> parse_model_string("sgd(alpha=0.001)")
    ModelString(target='sgd', models=(), parameters={'alpha': 0.001})
    """
    match = _SYNTAX.fullmatch(text)
    if match is None:
        raise ModelStringError(f"The model {text!r} cannot be read. {_EXPECTED}")
    call = _parsed_call(match["call"] or "()", text)
    return ModelString(
        target=match["target"],
        models=tuple(_wrapped_model(argument, text) for argument in call.args),
        parameters={str(word.arg): _literal(word, text) for word in call.keywords},
    )


def _parsed_call(arguments: str, text: str) -> ast.Call:
    try:
        call = ast.parse(f"target{arguments}", mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ModelStringError(
            f"The parameters of the model {text!r} cannot be read ({error}). {_EXPECTED}"
        ) from error
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise ModelStringError(f"The model {text!r} cannot be read. {_EXPECTED}")
    names = [word.arg for word in call.keywords]
    if None in names:
        raise ModelStringError(f"The model {text!r} unpacks (**) its parameters; name each one.")
    if len(set(names)) < len(names):
        raise ModelStringError(f"The model {text!r} gives a parameter twice.")
    return call


def _wrapped_model(argument: ast.expr, text: str) -> str:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    shown = ast.unparse(argument)
    raise ModelStringError(
        f"The model {text!r} has the positional argument {shown}. Only a quoted model can stand "
        f"without a name ('sgd'); parameters are given as name={shown}."
    )


def _literal(word: ast.keyword, text: str) -> Any:
    try:
        return ast.literal_eval(word.value)
    except (ValueError, TypeError, MemoryError, RecursionError) as error:
        raise ModelStringError(
            f"The parameter {word.arg} of the model {text!r} is {ast.unparse(word.value)}, which "
            "is no literal. Parameters may be numbers, strings, True, False, None, and lists, "
            "tuples and dicts of them; nothing is evaluated as code."
        ) from error


def make_model(text: str, known: Known) -> Any:
    """Estimator that a model string describes.

    Parameters
    ----------
    text : str
        Model string, see `parse_model_string`.
    known : mapping of str to str or callable
        Meaning of the short names. A name that stands for a model string takes its parameters
        as defaults.

    Returns
    -------
    estimator
        A new, unfitted estimator.

    Raises
    ------
    ModelStringError
        If the string is malformed, names nothing that can be found, or has wrong parameters.

    Examples
    --------
    >>> from skstream.utils._model_strings import make_model
    >>> known = {"sgd": "sklearn.linear_model:SGDClassifier(loss='log_loss')"}
    >>> make_model("sgd(alpha=0.001)", known)
    SGDClassifier(alpha=0.001, loss='log_loss')
    """
    parts = parse_model_string(text)
    meaning = known.get(parts.target)
    if isinstance(meaning, str):
        parts = _with_defaults(parts, parse_model_string(meaning))
        meaning = known.get(parts.target)
    if callable(meaning):
        make: Callable[..., Any] = meaning
    elif ":" in parts.target:
        make = _estimator_class(parts.target, text)
    else:
        raise ModelStringError(_unknown(parts.target, text, known))
    wrapped = [make_model(model, known) for model in parts.models]
    try:
        inspect.signature(make).bind(*wrapped, **parts.parameters)
    except TypeError as error:
        raise ModelStringError(
            f"The model {text!r} has wrong parameters: {error}. "
            f"{_name_of(make)} takes {_parameters_of(make)}."
        ) from error
    return make(*wrapped, **parts.parameters)


def _with_defaults(parts: ModelString, default: ModelString) -> ModelString:
    return ModelString(
        target=default.target,
        models=parts.models or default.models,
        parameters={**default.parameters, **parts.parameters},
    )


def _unknown(target: str, text: str, known: Known) -> str:
    module, _, name = target.rpartition(".")
    hint = f" Did you mean '{module}:{name}'?" if module else did_you_mean(target, known)
    return (
        f"The model {text!r} is not known.{hint} The short names are {', '.join(sorted(known))}; "
        "any other estimator is named by its module: sklearn.linear_model:Perceptron."
    )


def _estimator_class(target: str, text: str) -> type:
    module_name, _, class_name = target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ModelStringError(
            f"The module of the model {text!r} cannot be imported: {error}. It must be installed, "
            "or its folder named in PYTHONPATH."
        ) from error
    found = getattr(module, class_name, None)
    if found is None:
        names = [name for name, value in vars(module).items() if inspect.isclass(value)]
        raise ModelStringError(
            f"The module {module_name} has no {class_name}.{did_you_mean(class_name, names)}"
        )
    # Checked before it is called: a model string must not run any function it names.
    if not (inspect.isclass(found) and any(hasattr(found, m) for m in ("fit", "partial_fit"))):
        raise ModelStringError(
            f"{target} of the model {text!r} is not an estimator class: it has neither fit nor "
            "partial_fit."
        )
    return found


def _name_of(make: Callable[..., Any]) -> str:
    return getattr(make, "__name__", repr(make))


def _parameters_of(make: Callable[..., Any]) -> str:
    return ", ".join(str(p).partition("=")[0] for p in inspect.signature(make).parameters.values())
