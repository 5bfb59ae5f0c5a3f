"""What the models of the command line are called."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from skstream.base import check_can_learn
from skstream.cli._model_strings import MODEL, make_model
from skstream.compat._adapted import adapted
from skstream.pipeline import make_stream_pipeline
from skstream.refit import PeriodicRefit, check_can_be_fitted


def fitted_once(estimator: Any, rows: int) -> PeriodicRefit:
    """Model that is fitted on the first rows that are known, and never again."""
    return PeriodicRefit(estimator, every=None, min_rows=rows)


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


def model_of(text: str) -> Any:
    """Return the model that a text describes, which must be able to learn from a stream."""
    model = make_model(text, MODELS, _ANY_LIBRARY)
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
    return model


def models_given(texts: Sequence[str]) -> dict[str, Any]:
    """Return the models of ``--model``, by the names that are given before a ``=``, or the texts.

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
    return {name: model_of(model) for name, model in named.items()}


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
