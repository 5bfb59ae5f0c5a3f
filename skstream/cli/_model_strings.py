"""Estimators and streams from text such as ``sgd(alpha=0.001)``; nothing is evaluated as code."""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skstream.utils._choices import did_you_mean

#: Methods of which an estimator has one; the last is that of River.
_LEARNS = ("fit", "partial_fit", "learn_one")
#: Most characters of a text that an error repeats.
_SHOWN = 200

#: What a short name stands for: another model string, or a function that makes the estimator.
Known = Mapping[str, "str | Callable[..., Any]"]

_SYNTAX = re.compile(
    r"\s*(?P<target>[A-Za-z_][\w\-.]*(?::[A-Za-z_]\w*)?)\s*(?P<call>\(.*\))?\s*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What texts describe, in the words of errors.

    Attributes
    ----------
    noun : str
        What it is.
    example : str
        A short name.
    expected : str
        Sentence that says how it is written.
    by_module : str
        What else can be named, as ``module:Class``; empty: nothing.
    adapted : callable, default=None
        Makes an estimator of an object of another library, and returns others as they are.
    """

    noun: str
    example: str
    expected: str
    by_module: str
    adapted: Callable[[Any], Any] | None = None


MODEL = Kind(
    "model",
    "sgd",
    "Expected a short name or module:Class, with parameters in parentheses where needed: "
    "sgd, sgd(alpha=0.001), sklearn.linear_model:Perceptron(penalty='l2').",
    "any other estimator is named by its module: sklearn.linear_model:Perceptron",
)
GENERATOR = Kind(
    "generator",
    "SEA",
    "Expected a name, with parameters in parentheses where needed: NSGT, "
    "SEA(n_rows=50000, noise=0.2).",
    "",
)
DETECTOR = Kind(
    "detector",
    "adwin",
    "Expected a name, with parameters in parentheses where needed: adwin, "
    "page-hinkley(threshold=50).",
    "",
)


class ModelStringError(ValueError):
    """A text that cannot be turned into an estimator or a stream; says why, and what would be."""


@dataclass(frozen=True, slots=True)
class ModelString:
    """A model string taken apart.

    Attributes
    ----------
    target : str
        A short name, or ``module:Class``.
    models : tuple of str
        Positional arguments: texts of the estimators to wrap, or of the streams to compose.
    parameters : dict of str to object
        Keyword arguments: Python literals.
    """

    target: str
    models: tuple[str, ...]
    parameters: dict[str, Any]


def parse_model_string(text: str, kind: Kind = MODEL, known: Known | None = None) -> ModelString:
    """Take a model string apart.

    Parameters
    ----------
    text : str
        ``target`` or ``target(argument, ..., parameter=literal, ...)``. A positional argument is
        a model string, quoted where it names a module: ``augmented(sgd(alpha=0.001), n_lags=2)``.
    kind : Kind, default=MODEL
        What the text describes.
    known : mapping of str to str or callable, default=None
        Meaning of the short names, from which errors take the names of parameters.

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
    >>> from skstream.cli._model_strings import parse_model_string
    >>> parse_model_string("sgd(alpha=0.001)")
    ModelString(target='sgd', models=(), parameters={'alpha': 0.001})
    """
    match = _SYNTAX.fullmatch(text)
    if match is None:
        raise ModelStringError(f"The {kind.noun} {_quoted(text)} cannot be read. {kind.expected}")
    call = _parsed_call(match["call"] or "()", text, kind)
    models = []
    for place, argument in enumerate(call.args):
        is_name = isinstance(argument, ast.Name) and argument.id in (known or {})
        if is_name or (isinstance(argument, ast.Call) and isinstance(argument.func, ast.Name)):
            models.append(ast.unparse(argument))
            continue
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            shown = ast.unparse(argument)
            make = (known or {}).get(match["target"])
            takes = list(inspect.signature(make).parameters.values()) if callable(make) else []
            named = [one.name for one in takes if one.kind is one.POSITIONAL_OR_KEYWORD]
            name = named[place] if place < len(named) else "name"
            raise ModelStringError(
                f"The {kind.noun} {_quoted(text)} has the positional argument {shown}. Only a "
                f"quoted {kind.noun} can stand without a name ('{kind.example}'). Name the "
                f"parameter: '{kind.example}({name}={shown})'."
            )
        models.append(argument.value)
    parameters = {}
    for word in call.keywords:
        try:
            parameters[str(word.arg)] = ast.literal_eval(word.value)
        except (ValueError, TypeError, MemoryError, RecursionError) as error:
            raise ModelStringError(
                f"The parameter {word.arg} of the {kind.noun} {_quoted(text)} is no literal. "
                "Parameters may be numbers, strings, True, False, None, and lists, tuples and "
                "dicts of them; nothing is evaluated as code."
            ) from error
    return ModelString(match["target"], tuple(models), parameters)


def _parsed_call(arguments: str, text: str, kind: Kind) -> ast.Call:
    try:
        call = ast.parse(f"target{arguments}", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        why = str(error) or "they are nested too deeply"  # the parser's stack has an end
        raise ModelStringError(
            f"The parameters of the {kind.noun} {_quoted(text)} cannot be read ({why}). "
            f"{kind.expected}"
        ) from error
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise ModelStringError(f"The {kind.noun} {_quoted(text)} cannot be read. {kind.expected}")
    names = [word.arg for word in call.keywords]
    if None in names:
        raise ModelStringError(
            f"The {kind.noun} {_quoted(text)} unpacks (**) its parameters; name each one."
        )
    if len(set(names)) < len(names):
        raise ModelStringError(f"The {kind.noun} {_quoted(text)} gives a parameter twice.")
    return call


def make_model(text: str, known: Known, kind: Kind = MODEL) -> Any:
    """Estimator or stream that a text describes.

    Parameters
    ----------
    text : str
        Model string, see `parse_model_string`.
    known : mapping of str to str or callable
        Meaning of the short names. A name that stands for a model string takes its parameters
        as defaults.
    kind : Kind, default=MODEL
        What the text describes.

    Returns
    -------
    estimator or stream
        A new, unfitted estimator, or a stream.

    Raises
    ------
    ModelStringError
        If the string is malformed, names nothing that can be found, or has wrong parameters.

    Examples
    --------
    >>> from skstream.cli._model_strings import make_model
    >>> known = {"sgd": "sklearn.linear_model:SGDClassifier(loss='log_loss')"}
    >>> make_model("sgd(alpha=0.001)", known)
    SGDClassifier(alpha=0.001, loss='log_loss')
    """
    parts = parse_model_string(text, kind, known)
    meaning = known.get(parts.target)
    if isinstance(meaning, str):
        default = parse_model_string(meaning)
        parameters = {**default.parameters, **parts.parameters}
        parts = ModelString(default.target, parts.models or default.models, parameters)
        meaning = known.get(parts.target)
    if callable(meaning):
        make: Callable[..., Any] = meaning
    elif ":" in parts.target and kind.by_module:
        make = _estimator_class(parts.target, text, kind)
    else:
        raise ModelStringError(_unknown(parts.target, text, known, kind))
    wrapped = [make_model(model, known, kind) for model in parts.models]
    signature = inspect.signature(make)
    try:
        signature.bind(*wrapped, **parts.parameters)
    except TypeError as error:
        plain = (
            one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()
        )
        raise ModelStringError(
            f"The {kind.noun} {_quoted(text)} has wrong parameters: {error}. "
            f"{getattr(make, '__name__', repr(make))} takes "
            f"{', '.join(str(one).partition('=')[0] for one in plain)}."
        ) from error
    try:
        made = make(*wrapped, **parts.parameters)
    except (ValueError, TypeError, OSError, ImportError, RuntimeError):
        raise  # they say what to do
    except Exception as error:
        raise ModelStringError(
            f"The {kind.noun} {_quoted(text)} cannot be made: {type(error).__name__}: {error}."
        ) from error
    return made if kind.adapted is None else kind.adapted(made)


def _unknown(target: str, text: str, known: Known, kind: Kind) -> str:
    module, _, name = target.rpartition(".")
    is_path = module and kind.by_module
    hint = f" Did you mean '{module}:{name}'?" if is_path else did_you_mean(target, known)
    others = f"; {kind.by_module}" if kind.by_module else ""
    return (
        f"The {kind.noun} {_quoted(text)} is not known.{hint} The short names are "
        f"{', '.join(sorted(known))}{others}."
    )


def _estimator_class(target: str, text: str, kind: Kind) -> type:
    module_name, _, class_name = target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise ModelStringError(
            f"The module of the {kind.noun} {_quoted(text)} cannot be imported: {error}. It must "
            "be installed, or its folder named in PYTHONPATH."
        ) from error
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
        if isinstance(error, SystemExit):
            why = f"its code ended the program, with the exit status {error.code!r}"
        raise ModelStringError(
            f"The module {module_name} of the {kind.noun} {_quoted(text)} cannot be imported: "
            f"{why}. Naming a module imports it, which runs its code."
        ) from error
    found = getattr(module, class_name, None)
    if found is None:
        names = [name for name, value in vars(module).items() if inspect.isclass(value)]
        raise ModelStringError(
            f"The module {module_name} has no {class_name}.{did_you_mean(class_name, names)}"
        )
    # Checked before it is called: a model string must not run any function it names.
    if not (inspect.isclass(found) and any(hasattr(found, m) for m in _LEARNS)):
        raise ModelStringError(
            f"{target} of the {kind.noun} {_quoted(text)} is not an estimator class: it has "
            "neither fit nor partial_fit."
        )
    return found


def _quoted(text: str) -> str:
    """Return a text in quotes, or its beginning where it is long."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."
