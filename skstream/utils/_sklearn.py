"""The only module that uses private scikit-learn names and handles its versions."""

import inspect
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import sklearn

# Rows and columns of whatever holds them: arrays, lists, sparse matrices, data frames.
from sklearn.utils import _safe_indexing
from sklearn.utils import _safe_indexing as rows_of

# Rows of probabilities are normalised by it in the models of naive Bayes.
from sklearn.utils._array_api import _logsumexp

# Positions of the columns of a ColumnTransformer, whichever way the user names them.
from sklearn.utils._indexing import _get_column_indices

# What lets a scorer ask for weights, as those of scikit-learn do.
from sklearn.utils._metadata_requests import _MetadataRequester as MetadataRequester

# Constraints declared beside a class give one error sentence everywhere.
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    StrOptions,
    validate_parameter_constraints,
)

# The container that a transformer was asked to answer with, by `set_output` or globally.
# And what puts an answer into it.
from sklearn.utils._set_output import _get_output_config, _wrap_method_output
from sklearn.utils.parallel import Parallel

# Names of columns that go in, as every transformer checks and makes them up; and the number of rows
# of these containers, and of whatever can be converted to an array.
from sklearn.utils.validation import _check_feature_names_in as feature_names_in
from sklearn.utils.validation import _num_samples as n_rows_of

_Method = TypeVar("_Method", bound=Callable[..., Any])

#: Imported here for others.
__all__ = ["HasMethods", "Interval", "MetadataRequester", "StrOptions", "feature_names_in"]
__all__ += ["n_rows_of", "rows_of", "validate_parameter_constraints"]

#: Attributes of fitted text vectorizers that hold the address of an object.
ADDRESSES = ("_stop_words_id",)

#: The newest minor version of scikit-learn against which all kernels were tested.
NEWEST_KNOWN = (1, 9)


def is_newer_than_known(kind: type) -> bool:
    """Whether a type is of a scikit-learn that is newer than what the kernels repeat."""
    version = tuple(map(int, sklearn.__version__.split(".")[:2]))
    return version > NEWEST_KNOWN and kind.__module__.startswith("sklearn.")


def log_sum_exp(scores: Any) -> Any:
    """Logarithm of the sum of the exponentials of each row."""
    return _logsumexp(scores, axis=1)


def perceptron_functions() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Activations of multi-layer perceptrons, their derivatives, and losses, by their names."""
    # Imported late: few need it.
    from sklearn.neural_network._base import ACTIVATIONS, DERIVATIVES, LOSS_FUNCTIONS

    return ACTIVATIONS, DERIVATIVES, LOSS_FUNCTIONS


def columns_of(X: Any, columns: Any) -> Any:
    """Columns of an array, sparse matrix or data frame by position, name, slice or mask."""
    return _safe_indexing(X, columns, axis=1)


def column_positions(X: Any, columns: Any) -> list[int]:
    """Positions of columns of an array, sparse matrix or data frame, however they are named."""
    return list(_get_column_indices(X, columns))


def is_column_transformer(step: Any) -> bool:
    """Whether a step is a ColumnTransformer, without the long import where there is none."""
    compose = sys.modules.get("sklearn.compose")
    return compose is not None and isinstance(step, compose.ColumnTransformer)


def set_parts(column_transformer: Any, parts: list[tuple[str, Any, Any]], remainder: Any) -> None:
    """Set the transformers given to a ColumnTransformer, whether it is fitted or not."""
    column_transformer.set_params(transformers=parts, remainder=remainder)
    if hasattr(column_transformer, "_remainder"):
        name, _, columns = column_transformer._remainder
        column_transformer._remainder = (name, remainder, columns)


def is_plain_gaussian_nb(model: Any) -> bool:
    """Whether a model is scikit-learn's GaussianNB itself, without importing it for others."""
    naive_bayes = sys.modules.get("sklearn.naive_bayes")
    return naive_bayes is not None and type(model) is naive_bayes.GaussianNB


def output_container(transformer: Any) -> str:
    """Container of a transformer's answers: "default", "pandas" or "polars"."""
    return str(_get_output_config("transform", transformer)["dense"])


def wrapped_output(method: _Method) -> _Method:
    """Let a method answer in the container that ``transform`` was asked for; a decorator."""
    return _wrap_method_output(method, "transform")


def metric_function(function: Any) -> bool:
    """Whether this is one of the functions of `sklearn.metrics`, known by identity."""
    if not str(getattr(function, "__module__", "")).startswith("sklearn.metrics"):
        return False
    from sklearn import metrics  # A slow import: used only if the user has imported it already.

    name = getattr(function, "__name__", "")
    return name != "" and getattr(metrics, name, None) is function


#: Names of parameters of `sklearn.metrics` for probabilities or decision values.
_SCORES = ("y_score", "y_proba", "y_prob", "pred_decision")


def takes_probabilities(function: Any) -> bool:
    """Whether a function of `sklearn.metrics` takes probabilities or decision values, not labels.

    Their second parameter has a name of its own, but in those of log losses.
    """
    second = list(inspect.signature(function).parameters)[1]
    return second in _SCORES or "log_loss" in function.__name__


def function_task(function: Any) -> str | None:
    """Return "labels" or "targets", by where scikit-learn defines a function; None for others."""
    endings = {"_regression": "targets", "_classification": "labels"}
    package, _, module = str(getattr(function, "__module__", "")).rpartition(".")
    return endings.get(module) if package == "sklearn.metrics" else None


def scorer_names(*, regression: bool) -> list[str]:
    """Names that `get_scorer` knows, of regression or of anything else but several labels a row."""
    from sklearn.metrics import get_scorer, get_scorer_names

    return [
        name
        for name in get_scorer_names()
        if get_scorer(name)._score_func.__module__.endswith("._regression") == regression
        and not name.endswith("_samples")
    ]


def scorer_parts(scorer: Any) -> tuple[Any, int, dict[str, Any], Any] | None:
    """Function, sign, options and response method of a scorer; None for anything else."""
    if not type(scorer).__module__.startswith("sklearn.metrics"):
        return None
    from sklearn.metrics._scorer import _BaseScorer

    if not isinstance(scorer, _BaseScorer):
        return None
    return scorer._score_func, scorer._sign, dict(scorer._kwargs), scorer._response_method


#: Functions that fit a model and score it; the fit's parameters and the split have these names.
_FIT_AND_SCORE = {
    ("sklearn.model_selection._validation", name)
    for name in ("_fit_and_score", "_incremental_fit_estimator", "_permutation_test_score")
}
#: Methods that score by one call of a method that predicts.
_SCORE_AT_ONCE = {("sklearn.metrics._scorer", "_score"), ("sklearn.base", "score")}
_seen_scoring: WeakValueDictionary[int, Any] = WeakValueDictionary()  # not all have a hash


def variables_of_fit_and_score() -> dict[str, Any]:
    """Variables of the function that calls a scorer: the split is in `train` and `test`.

    Empty outside of model selection.
    """
    return _variables_of(_FIT_AND_SCORE)


def first_scored_at_once() -> Any:
    """Model whose rows scikit-learn predicts to score them, the first time by this scorer."""
    variables = _variables_of(_SCORE_AT_ONCE)
    scorer = variables.get("self")
    if scorer is None or id(scorer) in _seen_scoring:
        return None
    _seen_scoring[id(scorer)] = scorer
    return variables.get("estimator", scorer)


def _variables_of(functions: set[tuple[str, str]]) -> dict[str, Any]:
    """Variables of the newest call of some functions, by module and name, that still runs."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) in functions:
            return frame.f_locals
        frame = frame.f_back
    return {}


_QUOTED_OR_SPARSE = re.compile(r"""['"{}\s]""")


def arff_values(text: str) -> Any:
    """Values in a line of an ARFF file; of a sparse row, by position; None if one is missing.

    Examples
    --------
    >>> from skstream.utils._sklearn import arff_values
    >>> arff_values("1.5, ?, 'a, b', '?'"), arff_values("{1 0.5}")
    (['1.5', None, 'a, b', '?'], {1: '0.5'})
    """
    if not _QUOTED_OR_SPARSE.search(text):
        return [None if value in ("", "?") else value for value in text.split(",")]
    from sklearn.externals import _arff

    try:
        return _arff._parse_values(text)
    except (_arff.BadLayout, ValueError):
        raise ValueError(
            f"{text[:60]!r} cannot be split into values: a quote is not closed or is followed by "
            "more than a comma, a text with spaces needs quotes, or there is a weight {...} behind "
            "the row: make that a column, and name it in roles={'sample_weight': ...}."
        ) from None


class QuietParallel(Parallel):
    """joblib's Parallel that does not warn of tasks cancelled where the work was broken off."""

    def _warn_exit_early(self) -> None:
        """Do not warn: an error of this package reports it."""
