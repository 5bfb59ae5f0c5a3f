"""What the models of the command line are called."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from skstream.base import check_can_learn
from skstream.cli._model_strings import MODEL, make_model
from skstream.core.evaluators.adapted import adapted
from skstream.core.evaluators.settings import coded_columns, unset_nominal
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import StreamImputer, make_stream_preprocessor
from skstream.refit import PeriodicRefit, check_can_be_fitted
from skstream.streams import Stream
from skstream.utils._optional import optional_import


def fitted_once(estimator: Any, rows: int) -> PeriodicRefit:
    """Model that is fitted on the first rows that are known, and never again."""
    return PeriodicRefit(estimator, every=None, min_rows=rows)


def prepared_for(stream: Stream | None) -> Callable[..., Any]:
    """Return the function that puts the preprocessing of a stream's columns before a model.

    None: the stream is not known yet, and the model is made to be checked.
    """

    def prepared(estimator: Any, max_categories: int = 20) -> Any:
        """Put before a model: gaps filled, numbers scaled, categories one-hot."""
        if stream is None:
            return make_stream_pipeline(StreamImputer(), StandardScaler(), estimator)
        return make_stream_pipeline(_preprocessor_of(stream, max_categories), estimator)

    return prepared


def _preprocessor_of(stream: Stream, max_categories: int) -> Any:
    """Return the preprocessor that suits the kinds of the columns of a stream of arrays.

    Times are numbers in such streams, and so they are here.
    """
    X = next(iter(stream)).X
    if not (isinstance(X, np.ndarray) and X.dtype.kind == "f"):
        raise ValueError(
            "prepared(...) fills and scales columns of numbers, categories and times, and the rows "
            "of this stream are sparse or texts: name the steps yourself, "
            "\"pipeline('sklearn.preprocessing:MaxAbsScaler', 'sgd')\"."
        )
    pandas = optional_import("pandas", "prepared(...)")
    known: dict[str, str] = getattr(stream.source_streams()[0], "kinds", {})
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
            f"refit({text!r}, every=1000) for one that is fitted again every 1,000 rows, or "
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
                f"{option} gives two {option[2:]}s the name {name!r}. Give each a name of its own: "
                f"{option} a={meaning} {option} b={meaning}."
            )
        found[name] = meaning
    return found
