"""Which estimator has which kernel: one table of names, so that only what is used is imported."""

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from skstream.engine.kernels.base import Declined, Kernel, Task, TransformKernel
from skstream.engine.kernels.scored import ScoredKernel
from skstream.utils._sklearn import is_newer_than_known

_K = TypeVar("_K", bound=type)
_Table = dict[type | str, Any]

# Kernels by estimator: a class, or where it is imported from; of kernels of our own, too, the place
# (below this package) until they are wanted.
_MODELS: _Table = {
    "sklearn.frozen.FrozenEstimator": "refit.FrozenKernel",
    "sklearn.linear_model.PassiveAggressiveClassifier": "linear.kernel.LinearClassifierKernel",
    "sklearn.linear_model.PassiveAggressiveRegressor": "linear.kernel.LinearRegressorKernel",
    "sklearn.linear_model.Perceptron": "linear.kernel.LinearClassifierKernel",
    "sklearn.linear_model.SGDClassifier": "linear.kernel.LinearClassifierKernel",
    "sklearn.linear_model.SGDOneClassSVM": "linear.kernel.OneClassKernel",
    "sklearn.linear_model.SGDRegressor": "linear.kernel.LinearRegressorKernel",
    "sklearn.multiclass.OneVsRestClassifier": "one_vs_rest.OneVsRestKernel",
    "sklearn.naive_bayes.BernoulliNB": "naive_bayes.discrete.BernoulliKernel",
    "sklearn.naive_bayes.CategoricalNB": "naive_bayes.discrete.CategoricalKernel",
    "sklearn.naive_bayes.ComplementNB": "naive_bayes.discrete.ComplementKernel",
    "sklearn.naive_bayes.GaussianNB": "naive_bayes.gaussian.GaussianKernel",
    "sklearn.naive_bayes.MultinomialNB": "naive_bayes.discrete.MultinomialKernel",
    "sklearn.neural_network.MLPClassifier": "neural_network.PerceptronClassifierKernel",
    "sklearn.neural_network.MLPRegressor": "neural_network.PerceptronRegressorKernel",
    "skstream.adaptive.DriftReset": "adaptive.DriftResetKernel",
    "skstream.baselines.MajorityClass": "baselines.MajorityClassKernel",
    "skstream.baselines.MajorityWindow": "baselines.MajorityWindowKernel",
    "skstream.baselines.MeanRegressor": "baselines.MeanRegressorKernel",
    "skstream.baselines.Persistent": "baselines.PersistentKernel",
    "skstream.baselines.PersistentRegressor": "baselines.PersistentRegressorKernel",
    "skstream.baselines.RandomClass": "baselines.RandomClassKernel",
    "skstream.calibration.PrequentialCalibrator": "calibration.PrequentialCalibratorKernel",
    "skstream.compat.RiverClassifier": "skstream.compat._river_tree.RiverTreeKernel",
    "skstream.ensemble.DynamicWeightedMajority": "ensemble.DynamicWeightedMajorityKernel",
    "skstream.ensemble.OnlineBagging": "ensemble.OnlineBaggingKernel",
    "skstream.naive_bayes.IncrementalGaussianNB": "naive_bayes.gaussian.IncrementalGaussianKernel",
    "skstream.neighbors.WindowedKNeighborsClassifier": "neighbors.WindowedNeighborsKernel",
    "skstream.noise.LabelNoise": "noise.LabelNoiseKernel",
    "skstream.optimal.BayesOptimal": "optimal.BayesOptimalKernel",
    "skstream.pipeline.StreamPipeline": "pipeline.StreamPipelineKernel",
    "skstream.refit.PeriodicRefit": "refit.PeriodicRefitKernel",
    "skstream.tree.HoeffdingTreeClassifier": "tree.TreeKernel",
    "skstream.tree.AdaptiveRandomForestClassifier": "tree.TreeKernel",
    "skstream.temporal.TemporalCorrection": "temporal.TemporalCorrectionKernel",
    "skstream.temporal.TemporallyAugmented": "temporal.TemporallyAugmentedKernel",
}
_TRANSFORMERS: _Table = {
    "sklearn.compose.ColumnTransformer": "transformers.column_transformer.ColumnTransformerKernel",
    "sklearn.feature_extraction.FeatureHasher": "transformers.stateless.StatelessKernel",
    "sklearn.feature_extraction.text.HashingVectorizer": "transformers.stateless.StatelessKernel",
    "sklearn.frozen.FrozenEstimator": "transformers.stateless.StatelessKernel",
    "sklearn.impute.SimpleImputer": "transformers.stateless.StatelessKernel",
    "sklearn.preprocessing.Binarizer": "transformers.stateless.StatelessKernel",
    "sklearn.preprocessing.FunctionTransformer": "transformers.stateless.StatelessKernel",
    "sklearn.preprocessing.MaxAbsScaler": "transformers.scalers.MaxAbsScalerKernel",
    "sklearn.preprocessing.MinMaxScaler": "transformers.scalers.MinMaxScalerKernel",
    "sklearn.preprocessing.Normalizer": "transformers.stateless.StatelessKernel",
    "sklearn.preprocessing.OneHotEncoder": "transformers.stateless.StatelessKernel",
    "sklearn.preprocessing.OrdinalEncoder": "transformers.stateless.StatelessKernel",
    "sklearn.preprocessing.PolynomialFeatures": "transformers.stateless.StatelessKernel",
    "sklearn.preprocessing.StandardScaler": "transformers.scalers.StandardScalerKernel",
    "skstream.pipeline.StreamPipeline": "pipeline.TransformerPipelineKernel",
    "skstream.preprocessing.DatetimeFeatures": "transformers.stateless.StatelessKernel",
    "skstream.preprocessing.LagFeatures": "transformers.preprocessing.HistoryKernel",
    "skstream.preprocessing.RollingFeatures": "transformers.preprocessing.HistoryKernel",
    "skstream.preprocessing.TargetEncoder": "transformers.preprocessing.TargetEncoderKernel",
    "skstream.preprocessing.StreamImputer": "transformers.preprocessing.StreamImputerKernel",
    "skstream.preprocessing.StreamOneHotEncoder": "transformers.preprocessing.CategoryKernel",
    "skstream.preprocessing.StreamOrdinalEncoder": "transformers.preprocessing.CategoryKernel",
}
_METHOD_NAMES = (
    *("fit", "partial_fit", "transform", "fit_transform", "partial_fit_transform"),
    *("predict", "predict_proba", "predict_log_proba", "decision_function"),
)


def kernel_of(*estimators: type | str) -> Callable[[_K], _K]:
    """Class decorator: register a kernel for exactly these estimators, never their subclasses.

    Parameters
    ----------
    *estimators : type or str
        Classes, or the names under which they are imported, such as
        ``"sklearn.linear_model.SGDClassifier"``.

    Raises
    ------
    TypeError
        If one of them is neither, or what is decorated is no kernel.
    ValueError
        If one of them has another kernel.
    """
    for estimator in estimators or (None,):
        if not isinstance(estimator, type | str):
            raise TypeError(
                "kernel_of takes classes of estimators, or the names under which they are "
                f"imported. Got {estimator!r} of type {type(estimator).__name__} instead."
            )

    def register(kernel: _K) -> _K:
        if not isinstance(kernel, type) or not issubclass(kernel, Kernel | TransformKernel):
            raise TypeError(
                f"A kernel is a subclass of Kernel or TransformKernel. Got {kernel!r} instead."
            )
        table: _Table = _TRANSFORMERS if issubclass(kernel, TransformKernel) else _MODELS
        for estimator in estimators:
            key = estimator if estimator in table else _public_name(estimator)
            if key in table and not _is_same(table[key], kernel):
                raise ValueError(
                    f"{_public_name(estimator)} has a kernel, {_called(table[key])}; an estimator "
                    f"cannot have {kernel.__name__} beside it."
                )
        table.update(dict.fromkeys(estimators, kernel))
        return kernel

    return register


def _is_same(kernel: type | str, later: type) -> bool:
    """Whether a kernel is only defined anew, as by a cell of a notebook that is run again."""
    return not isinstance(kernel, str) and (kernel.__module__, kernel.__qualname__) == (
        later.__module__,
        later.__qualname__,
    )


def _called(kernel: type | str) -> str:
    return kernel.rpartition(".")[2] if isinstance(kernel, str) else kernel.__name__


def _public_name(kind: type | str) -> str:
    """Name under which a type is imported: it has no private modules, in which it may live."""
    if isinstance(kind, str):
        return kind
    return f"{kind.__module__.partition('._')[0]}.{kind.__qualname__}"


def find_kernel(estimator: Any, task: Task) -> Kernel:
    """Kernel for an estimator; `Declined` says why only the loop is exact."""
    kernel: Kernel = _made(_MODELS, estimator, task)
    return kernel


def find_transform_kernel(transformer: Any, task: Task) -> TransformKernel:
    """Kernel for a transformer; `Declined` says why only the loop is exact."""
    kernel: TransformKernel = _made(_TRANSFORMERS, transformer, task)
    return kernel


def make_kernel(estimator: Any, task: Task) -> Kernel | None:
    """Kernel for an estimator, or None where only the loop is exact."""
    try:
        return find_kernel(estimator, task)
    except Declined:
        return None


def make_transform_kernel(transformer: Any, task: Task) -> TransformKernel | None:
    """Kernel for a transformer, or None where only the loop is exact."""
    try:
        return find_transform_kernel(transformer, task)
    except Declined:
        return None


def registered_kernels() -> dict[type, type]:
    """All registered kernels by estimator type (models and transformers)."""
    found = {}
    for table in (_MODELS, _TRANSFORMERS):
        for key in table:
            kind = _type_called(key) if isinstance(key, str) else key
            if kind is not None:  # scikit-learn drops the passive-aggressive models
                found[kind] = _loaded(table, key)
    return found


def _made(table: _Table, estimator: Any, task: Task) -> Any:
    kind = type(estimator)
    name = _public_name(kind)
    key = kind if kind in table else name
    if key not in table or (key is name and _type_called(name) is not kind):
        raise Declined(getattr(estimator, "why_looped", None) or f"{kind.__name__} has no kernel")
    if not is_newer_than_known(kind):
        return _made_by(table, key, estimator, task)
    # Imported late: it imports estimators that the evaluation may not need.
    from skstream.engine.kernels.agreement import check_agreement

    try:
        made = _made_by(table, key, estimator, task)
        check_agreement(_loaded(table, key), estimator, task)
    except Declined:
        raise
    except Exception as error:  # such as a parameter that is no more: the loop needs no kernel
        raise Declined(f"the kernel of {kind.__name__} fails with this scikit-learn") from error
    return made


def _made_by(table: _Table, key: type | str, estimator: Any, task: Task) -> Any:
    """Kernel of a table for an estimator, whatever the version of scikit-learn."""
    kind, kernel = type(estimator), _loaded(table, key)
    if task.scores is not None and issubclass(kernel, Kernel) and not kernel.gives_scores:
        labels, scores = (_made(table, estimator, one) for one in task.alone())
        return ScoredKernel(labels, scores, task)
    refusals = (kernel.refusal(estimator, one) for one in task.alone())
    refused = changed_methods(estimator) or next((one for one in refusals if one is not None), None)
    if refused is not None and not (isinstance(refused, str) and refused):
        raise TypeError(
            f"{kernel.__name__}.refusal returned {refused!r}; it returns None, or what cannot be "
            'executed exactly, such as "average=True"'
        )
    if refused is not None:
        raise Declined(f"{kind.__name__} with {refused} has no kernel")
    return kernel(estimator, task)


def _type_called(name: str) -> type | None:
    """Type of a public name; None where there is none any more."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute, None)


def _loaded(table: _Table, key: type | str) -> Any:
    """Kernel of a table, imported when it is wanted first."""
    kernel = table[key]
    if isinstance(kernel, str):
        module, _, attribute = kernel.rpartition(".")
        if not module.startswith("skstream."):
            module = f"skstream.engine.kernels.{module}"
        kernel = getattr(importlib.import_module(module), attribute)
        table[key] = kernel
    return kernel


def changed_methods(estimator: Any) -> str | None:
    """Name what was put in the place of a method of an estimator, for `Kernel.refusal`.

    A method may be replaced on one instance, or on its class. Either way the loop calls what the
    kernel knows nothing of.
    """
    kind = type(estimator)
    for name in getattr(estimator, "__dict__", ()):
        own = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
        if callable(own) or hasattr(own, "__get__"):
            return f"a {name} of its own"
    for name in _METHOD_NAMES:
        home = next((base for base in kind.__mro__ if name in vars(base)), None)
        if home is not None and not _is_of(home, name):
            return f"a changed {name}"
    return None


def _is_of(home: type, name: str) -> bool:
    """Whether a method was written with its class: what is put there later tells where it is from.

    Decorators of scikit-learn wrap what they decorate.
    """
    packages = {"sklearn", home.__module__.partition(".")[0]}
    method = vars(home)[name]
    while True:
        place = getattr(method, "__globals__", {}).get("__name__", "sklearn")
        if place.partition(".")[0] not in packages:
            return False
        if not hasattr(method, "__wrapped__"):
            break
        method = method.__wrapped__
    return getattr(method, "__qualname__", None) == f"{home.__qualname__}.{name}"
