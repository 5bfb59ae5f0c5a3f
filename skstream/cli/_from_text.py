"""Models, streams and detectors from texts such as ``sgd(alpha=0.001)``; no text is run as code."""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from skstream import drift, streams
from skstream._meta import check_can_be_fitted
from skstream.base import check_can_learn
from skstream.core.detector import as_detector
from skstream.core.evaluators.settings import adapted, coded_columns, unset_nominal
from skstream.optimal import BayesOptimal
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import StreamImputer, make_stream_preprocessor
from skstream.refit import PeriodicRefit
from skstream.streams import (
    GaussianMixtureStream,
    GeneratedStream,
    Stream,
    as_stream,
    load_testbed,
)
from skstream.streams._composition._runs import FirstRows
from skstream.streams._generators._testbed import TESTBED
from skstream.utils._choices import did_you_mean
from skstream.utils._optional import optional_import

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
        Makes an estimator or a stream of an object of another library, and returns others as they
        are.
    methods : tuple of str
        Classes that are named as ``module:Class`` have one of these.
    """

    noun: str
    example: str
    expected: str
    by_module: str
    adapted: Callable[[Any], Any] | None = None
    methods: tuple[str, ...] = _LEARNS


MODEL = Kind(
    "model",
    "sgd",
    "Expected a short name or module:Class, with any parameters in parentheses: sgd, "
    "sgd(alpha=0.001), sklearn.linear_model:Perceptron(penalty='l2').",
    "any other estimator is named by its module: sklearn.linear_model:Perceptron",
)
GENERATOR = Kind(
    "generator",
    "SEA",
    "Expected a name, with any parameters in parentheses: NSGT, SEA(n_rows=50000, noise=0.2).",
    "a data set of River is named by its module: river.datasets:Phishing",
    as_stream,
    ("take", "chunks"),
)
DETECTOR = Kind(
    "detector",
    "adwin",
    "Expected a name, with any parameters in parentheses: adwin, page-hinkley(threshold=50).",
    "a detector of River is named by its module: river.drift:KSWIN",
    as_detector,
    ("update", "update_many"),
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
        Meaning of the short names, which need no quotes as arguments.

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
    >>> from skstream.cli._from_text import parse_model_string
    >>> parse_model_string("sgd(alpha=0.001)")
    ModelString(target='sgd', models=(), parameters={'alpha': 0.001})
    """
    match = _SYNTAX.fullmatch(text)
    if match is None:
        raise ModelStringError(f"The {kind.noun} {_quoted(text)} cannot be read. {kind.expected}")
    call = _parsed_call(match["call"] or "()", text, kind)
    models = []
    for argument in call.args:
        is_name = isinstance(argument, ast.Name) and argument.id in (known or {})
        if is_name or (isinstance(argument, ast.Call) and isinstance(argument.func, ast.Name)):
            models.append(ast.unparse(argument))
            continue
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            shown = ast.unparse(argument)
            raise ModelStringError(
                f"The {kind.noun} {_quoted(text)} has the positional argument {shown}. Only a "
                f"quoted {kind.noun} needs no name ('{kind.example}'). Name the parameter: "
                f"name={shown}."
            )
        models.append(argument.value)
    parameters = {}
    for word in call.keywords:
        try:
            parameters[str(word.arg)] = ast.literal_eval(word.value)
        except (ValueError, TypeError, MemoryError, RecursionError) as error:
            raise ModelStringError(
                f"The parameter {word.arg} of the {kind.noun} {_quoted(text)} is not a literal. "
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
    >>> from skstream.cli._from_text import make_model
    >>> known = {"sgd": "sklearn.linear_model:SGDClassifier(loss='log_loss')"}
    >>> make_model("sgd(alpha=0.001)", known)
    SGDClassifier(alpha=0.001, loss='log_loss')
    """
    parts = parse_model_string(text, kind, known)
    if _PIPELINE.fullmatch(parts.target):
        parts = replace(parts, target="pipeline")
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
    if isinstance(detector := parts.parameters.get("detector"), str):
        parts.parameters["detector"] = make_model(detector, DETECTORS, DETECTOR)
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
    wrapper, _, model = target.partition("-")
    if wrapper in known and model in known:
        hint = f" Did you mean \"{wrapper}('{model}')\"?"
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
            "be installed, or its folder must be in PYTHONPATH."
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
    if not (inspect.isclass(found) and any(hasattr(found, m) for m in kind.methods)):
        what = "an estimator" if kind.methods is _LEARNS else f"a {kind.noun}"
        raise ModelStringError(
            f"{target} of the {kind.noun} {_quoted(text)} is not {what} class: it has neither "
            f"{kind.methods[0]} nor {kind.methods[1]}."
        )
    return found


def _quoted(text: str) -> str:
    """Return a text in quotes, or its beginning where it is long."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}..."


# -- models


def fitted_once(estimator: Any, rows: int) -> PeriodicRefit:
    """Model that is fitted on the first rows that are known, and never again."""
    return PeriodicRefit(estimator, every=None, min_rows=rows)


def prepared_for(stream: Stream | None) -> Callable[..., Any]:
    """Return the function that puts the preprocessing of a stream's columns before a model.

    None: the stream is not known yet, and the model is made to be checked.
    """

    def prepared(estimator: Any, max_categories: int | None = None) -> Any:
        """Put before a model: gaps filled, numbers scaled, categories one-hot."""
        if stream is None:
            return make_stream_pipeline(StreamImputer(), StandardScaler(), estimator)
        return make_stream_pipeline(_preprocessor_of(stream, max_categories), estimator)

    return prepared


def _preprocessor_of(stream: Stream, max_categories: int | None) -> Any:
    """Return the preprocessor that suits the kinds of the columns of a stream of arrays.

    Times are numbers in such streams, and so they are here. None: 20 categories of a column, or as
    many as a column of the file has, up to 100; others are pooled.
    """
    X = next(iter(stream)).X
    if not (isinstance(X, np.ndarray) and X.dtype.kind == "f"):
        raise ValueError(
            "prepared(...) fills and scales columns of numbers, categories and times, but the "
            "rows of this stream are sparse or texts: list the steps yourself, "
            "\"pipeline('sklearn.preprocessing:MaxAbsScaler', 'sgd')\"."
        )
    pandas = optional_import("pandas", "prepared(...)")
    source = stream.source_streams()[0]
    known: dict[str, str] = getattr(source, "kinds", {})
    if max_categories is None:
        most = max(map(len, getattr(source, "categories", {}).values()), default=0)
        max_categories = min(max(20, most + 1), 100)
    kinds: dict[Any, str] = dict(enumerate(known.values() or ["number"] * X.shape[1]))
    return make_stream_preprocessor(
        pandas.DataFrame(X[:_FIRST_ROWS]),  # its columns have numbers for names
        kinds={place: "number" if kind == "time" else kind for place, kind in kinds.items()},
        max_categories=max_categories,
        sparse_output=False,  # as models of all kinds take it
        verbose=False,
    )


#: Rows that the preprocessor of `prepared` sees before the stream begins.
_FIRST_ROWS = 100
#: Short names of models; the parameters a user gives come on top of these.
MODELS: dict[str, str | Callable[..., Any]] = {
    "augmented": "skstream.temporal:TemporallyAugmented('sgd')",
    "corrected": "skstream.temporal:TemporalCorrection('nb')",
    "fixed": fitted_once,
    "forest": "skstream.tree:AdaptiveRandomForestClassifier",
    "hgb": "sklearn.ensemble:HistGradientBoostingClassifier",
    "hgb-regressor": "sklearn.ensemble:HistGradientBoostingRegressor",
    "knn": "skstream.neighbors:WindowedKNeighborsClassifier",
    "lgbm": "lightgbm:LGBMClassifier(verbose=-1)",
    "lgbm-regressor": "lightgbm:LGBMRegressor(verbose=-1)",
    "majority": "skstream.baselines:MajorityClass",
    "majority-window": "skstream.baselines:MajorityWindow",
    "mean": "skstream.baselines:MeanRegressor",
    "nb": "skstream.naive_bayes:IncrementalGaussianNB",
    "perceptron": "sklearn.linear_model:Perceptron",
    "persistent": "skstream.baselines:Persistent",
    "persistent-regressor": "skstream.baselines:PersistentRegressor",
    "pipeline": make_stream_pipeline,
    "prepared": prepared_for(None),
    "random": "skstream.baselines:RandomClass",
    "refit": "skstream.refit:PeriodicRefit",
    "rf": "sklearn.ensemble:RandomForestClassifier",
    "rf-regressor": "sklearn.ensemble:RandomForestRegressor",
    "scaled-sgd": "pipeline('scaler', 'sgd')",
    "scaler": "sklearn.preprocessing:StandardScaler",
    "sgd": "sklearn.linear_model:SGDClassifier(loss='log_loss')",
    "sgd-regressor": "sklearn.linear_model:SGDRegressor",
    "tree": "skstream.tree:HoeffdingTreeClassifier",
}
CLASSIFIER_BASELINES = ("persistent", "majority")
REGRESSOR_BASELINES = ("persistent-regressor", "mean")
#: Names that every table may have beside those of the models given.
_TAKEN = (*CLASSIFIER_BASELINES, *REGRESSOR_BASELINES, "bayes-optimal")
#: Models named by their module may be those of libraries that evaluators adapt.
_ANY_LIBRARY = replace(MODEL, adapted=adapted)
_PIPELINE = re.compile(r"(sklearn\.pipeline:)?(make_pipeline|Pipeline)")
_NAMED = re.compile(r"\s*(?P<name>[^=()'\"]+?)\s*=\s*(?P<meaning>.+)", re.DOTALL)


def model_of(text: str, stream: Stream | None = None) -> Any:
    """Return the model that a text describes, which must be able to learn from a stream.

    `stream` is the one that it is to learn from, where that is known. A tree of this package is
    told which columns are categories, since they come as codes.
    """
    model = make_model(text, MODELS | {"prepared": prepared_for(stream)}, _ANY_LIBRARY)
    if isinstance(model, BaseEstimator) and not hasattr(model, "partial_fit"):
        raise ValueError(
            f"The model {text!r} cannot learn from a stream: it has no partial_fit. Write "
            f"refit({text!r}, every=1000) for one that is refitted every 1,000 rows, or "
            f"fixed({text!r}, rows=1000) for one that is fitted once."
        )
    check_can_learn(model)
    if isinstance(model, PeriodicRefit):
        check_can_be_fitted(model.estimator)
    parts = [model, *model.get_params().values()] if hasattr(model, "get_params") else []
    for part in parts:
        # Else it would say so at its first row, and the table at the end. Estimators of other
        # libraries have the method from their base class, but seldom what it checks by.
        if hasattr(part, "_parameter_constraints"):
            part._validate_params()
    coded = {} if stream is None else coded_columns(stream)
    parameter = unset_nominal(model) if coded else None
    if parameter is not None and parameter.endswith("nominal_features"):
        model.set_params(**{parameter: list(coded)})
    return model


def models_given(texts: Sequence[str], stream: Stream | None = None) -> dict[str, Any]:
    """Return the models of ``--model``, by the names that are given before a ``=``, or the texts.

    `stream` is the one that they are to learn from, where that is known.

    Raises
    ------
    ValueError
        If two have the same name, or one has the name of a baseline, which is another model.
    """
    named = by_name("--model", texts)
    for name, model in named.items():
        if name != model and name in _TAKEN:
            raise ValueError(
                f"--model '{name}={model}' has the name {name!r}, which is that of a model that is "
                "always in the table. Give it another name."
            )
    return {name: model_of(model, stream) for name, model in named.items()}


def by_name(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the texts of an option by the names before a ``=``, or by themselves.

    Raises
    ------
    ValueError
        If two have the same name.
    """
    found: dict[str, str] = {}
    for text in texts:
        named = _NAMED.fullmatch(text)
        name, meaning = (text, text) if named is None else (named["name"], named["meaning"])
        if name in found:
            raise ValueError(
                f"{option} gives two {option[2:]}s the name {name!r}. Give each its own name: "
                f"{option} a={meaning} {option} b={meaning}."
            )
        found[name] = meaning
    return found


# -- generators and detectors

#: Functions that make a stream of others, which stand in quotes.
COMPOSITIONS: dict[str, str | Callable[..., Any]] = {
    name: getattr(streams, name)
    for name in (
        *("concat", "take_rows", "join_streams", "recurring", "drop_rows"),
        *("with_delay", "with_imbalance", "with_label_noise"),
    )
}
#: Functions that fetch a real stream; each takes `data_home`.
FETCHED: dict[str, str | Callable[..., Any]] = {
    name: getattr(streams, name) for name in streams.__all__ if name.startswith("fetch_")
}


def _of_testbed(name: str) -> Callable[..., Stream]:
    make: Any = partial(load_testbed, name)
    make.__name__ = name
    return make


#: Generators by their names, but for that of mixtures, whose components no text describes.
GENERATORS: dict[str, str | Callable[..., Any]] = {
    **{name: _of_testbed(name) for name in TESTBED},
    **{
        name: kind
        for name in streams.__all__
        if inspect.isclass(kind := getattr(streams, name))
        and issubclass(kind, GeneratedStream)
        and kind not in (GeneratedStream, GaussianMixtureStream)
    },
}
#: All streams that a text can describe.
KNOWN_STREAMS = GENERATORS | COMPOSITIONS | FETCHED

#: Detectors by their names.
DETECTORS: dict[str, Any] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower(): kind
    for name in drift.__all__
    if inspect.isclass(kind := getattr(drift, name))
    and issubclass(kind, drift.DriftDetector)
    and kind is not drift.DriftDetector
}


def make_stream(text: str) -> Stream:
    """Return the stream that a text describes, such as ``SEA(n_rows=50000, noise=0.2)``."""
    return make_model(text, KNOWN_STREAMS, GENERATOR)


def best_possible(stream: Stream) -> dict[str, Any]:
    """Return the model that no other can beat, by its name, where the truth is known."""
    source = stream.parts[0] if isinstance(stream, FirstRows) else stream
    return {"bayes-optimal": BayesOptimal(source)} if hasattr(source, "posterior") else {}
