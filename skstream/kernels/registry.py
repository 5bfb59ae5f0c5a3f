"""Which estimator has which kernel: one table of names, so that only what is used is imported."""

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from skstream.core.engine.answers import Task
from skstream.core.engine.kernel import (
    Declined,
    Kernel,
    NotFittedYet,
    TransformKernel,
    offer_kernels,
)
from skstream.core.engine.loop import changed_methods
from skstream.kernels.looped import LoopedModel, LoopedTransformer
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
    "skstream.compat.RiverClassifier": "skstream.compat._river_tree.RiverKernel",
    "skstream.ensemble.DynamicWeightedMajority": "ensemble.DynamicWeightedMajorityKernel",
    "skstream.ensemble.OnlineBagging": "ensemble.OnlineBaggingKernel",
    "skstream.naive_bayes.IncrementalGaussianNB": "naive_bayes.gaussian.IncrementalGaussianKernel",
    "skstream.neighbors.WindowedKNeighborsClassifier": "neighbors.WindowedNeighborsKernel",
    "skstream.noise.LabelNoise": "noise.LabelNoiseKernel",
    "skstream.optimal.BayesOptimal": "baselines.BayesOptimalKernel",
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
            known = table.get(key, kernel)
            if _place(known) != _place(kernel):
                raise ValueError(
                    f"{_public_name(estimator)} has a kernel, {_place(known).rpartition('.')[2]}; "
                    f"an estimator cannot have {kernel.__name__} beside it."
                )
        table.update(dict.fromkeys(estimators, kernel))
        return kernel

    return register


def _place(kernel: type | str) -> str:
    """Where a kernel is defined; the same if it is defined anew, as by a notebook's cell."""
    return kernel if isinstance(kernel, str) else f"{kernel.__module__}.{kernel.__qualname__}"


def _public_name(kind: type | str) -> str:
    """Name under which a type is imported: without the private modules that define it."""
    if isinstance(kind, str):
        return kind
    return f"{kind.__module__.partition('._')[0]}.{kind.__qualname__}"


def find_kernel(estimator: Any, task: Task) -> Kernel:
    """Kernel for an estimator; `Declined` says why only the loop is exact."""
    return _made(_MODELS, estimator, task)


def find_member(estimator: Any, task: Task) -> Kernel:
    """Kernel for an estimator inside another one."""
    kernel = find_kernel(estimator, task)
    if not kernel.exact_inside:
        raise Declined(f"{type(estimator).__name__} inside another model has no kernel")
    return kernel


def find_transform_kernel(transformer: Any, task: Task) -> TransformKernel:
    """Kernel for a transformer; `Declined` says why only the loop is exact."""
    return _made(_TRANSFORMERS, transformer, task)


def find_part(estimator: Any, task: Task) -> Kernel:
    """Kernel for the model inside another estimator, or the loop of this model alone."""
    try:
        return find_member(estimator, task)
    except NotFittedYet:
        raise
    except Declined as declined:
        if not all(hasattr(estimator, one.method) for one in task.alone()):
            raise
        try:
            return LoopedModel(estimator, task, declined.reason)
        except TypeError:  # it cannot learn: the loop of the whole says so
            raise declined from None


def find_transform_part(transformer: Any, task: Task) -> TransformKernel:
    """Kernel for a transformer inside another estimator, or the loop of this one alone."""
    try:
        return find_transform_kernel(transformer, task)
    except NotFittedYet:
        raise
    except Declined as declined:
        return LoopedTransformer(transformer, task, declined.reason)


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
    is_newer = is_newer_than_known(kind)
    try:
        kernel = _loaded(table, key)
        if task.scores is not None and not getattr(kernel, "gives_scores", True):
            raise Declined(f"the kernel of {kind.__name__} gives no {task.scores} beside labels")
        refused = changed_methods(estimator)
        for answer in task.alone():
            refused = kernel.refusal(estimator, answer) if refused is None else refused
        if refused is not None and not (isinstance(refused, str) and refused):
            raise TypeError(
                f"{kernel.__name__}.refusal returned {refused!r}; it returns None, or what cannot "
                'be executed exactly, such as "average=True"'
            )
        if refused is not None:
            raise Declined(f"{kind.__name__} with {refused} has no kernel")
        made = kernel(estimator, task)
        if is_newer:
            # Imported late: it imports estimators that the evaluation may not need.
            from skstream.kernels.agreement import check_agreement

            check_agreement(kernel, estimator, task)
    except Declined:
        raise
    except Exception as error:
        if not is_newer:
            raise
        # Such as a parameter that is no more: the loop needs no kernel.
        raise Declined(f"the kernel of {kind.__name__} fails with this scikit-learn") from error
    return made


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
            module = f"skstream.kernels.{module}"
        kernel = getattr(importlib.import_module(module), attribute)
        table[key] = kernel
    return kernel


offer_kernels(find_kernel)
