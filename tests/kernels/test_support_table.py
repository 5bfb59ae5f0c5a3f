"""The table "What is supported" of docs/kernels_in_detail.md, entry by entry."""

import copy
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    SGDOneClassSVM,
    SGDRegressor,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import skstream as sk
from skstream.compat import from_river
from skstream.core.engine.run import ModelRun
from skstream.drift import DDM, RandomAlarm
from skstream.kernels import Task, registered_kernels
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.optimal import BayesOptimal
from skstream.preprocessing import (
    DatetimeFeatures,
    LagFeatures,
    RollingFeatures,
    StreamImputer,
    StreamOneHotEncoder,
    StreamOrdinalEncoder,
    TargetEncoder,
)
from skstream.streams import GaussianMixtureStream
from skstream.streams._generators._components import Component
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier
from skstream.utils._numba import numba_enabled
from tests.kernels._reference import assert_equals_loop, make_block

PAGE = Path(__file__).resolve().parents[2] / "docs" / "kernels_in_detail.md"
X = np.random.default_rng(0).integers(0, 3, size=(40, 3)).astype(float)
Y = np.random.default_rng(1).integers(0, 2, size=40)
CATEGORIES = [[0.0, 1.0, 2.0]] * 3
SGD = SGDClassifier(loss="log_loss", random_state=0)


def aggressive(name: str, **parameters: Any) -> list[Any]:
    """A passive-aggressive estimator; nothing where scikit-learn has none any more."""
    estimator_type = getattr(linear_model, name, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return [] if estimator_type is None else [estimator_type(**parameters)]


def frozen(transformer: Any, rows: Any = X) -> FrozenEstimator:
    return FrozenEstimator(transformer.fit(rows))


TEXTS = ["a word", "another word"]
TWO_CLASSES = GaussianMixtureStream(
    [Component(label, 1, (label, 1, 2), (1, 2, 1)) for label in (0, 1)]
)
DRAWS = np.random.RandomState(0)


def river_models() -> list[Any]:
    """Trees and forests of River, where their files are known."""
    try:
        from river import forest, tree

        from skstream.compat._river_forest import _FILES, KNOWN_FILES
        from skstream.compat._river_tree import digest_of_files
    except ImportError:
        return []
    if not numba_enabled() or digest_of_files(_FILES) not in KNOWN_FILES:
        return []
    return [from_river(tree.HoeffdingTreeClassifier()), from_river(forest.ARFClassifier(2, seed=0))]


# Models, and transformers (which are tried ahead of naive Bayes), that have kernels. Those of River
# have laws of their own: they read other rows.
KERNEL: list[Any] = [
    SGD,
    SGDClassifier(power_t=50.0),
    SGDClassifier(class_weight={0: 2.0}, penalty="elasticnet", learning_rate="adaptive", eta0=0.1),
    SGDRegressor(),
    SGDRegressor(power_t=10.0),
    SGDOneClassSVM(),
    Perceptron(),
    *aggressive("PassiveAggressiveClassifier"),
    *aggressive("PassiveAggressiveRegressor"),
    GaussianNB(),
    IncrementalGaussianNB(),
    MultinomialNB(),
    BernoulliNB(alpha=1e-6),
    ComplementNB(norm=True),
    MultinomialNB(alpha=np.ones(3)),
    CategoricalNB(min_categories=3),
    MLPClassifier(5, random_state=0),
    MLPRegressor(hidden_layer_sizes=5, solver="sgd", random_state=0),
    StandardScaler(),
    MinMaxScaler(clip=True),
    MaxAbsScaler(),
    Normalizer(),
    Binarizer(),
    PolynomialFeatures(),
    HashingVectorizer(),
    FeatureHasher(),
    OneHotEncoder(categories=CATEGORIES),
    OrdinalEncoder(categories=CATEGORIES),
    FunctionTransformer(),
    FunctionTransformer(np.log1p),
    SimpleImputer(strategy="constant", keep_empty_features=True),
    frozen(StandardScaler()),
    frozen(MinMaxScaler()),
    frozen(MaxAbsScaler()),
    frozen(OneHotEncoder()),
    frozen(SimpleImputer()),
    frozen(KBinsDiscretizer(2, strategy="uniform")),
    frozen(RobustScaler()),
    frozen(CountVectorizer(), TEXTS),
    frozen(TfidfTransformer()),
    frozen(TfidfVectorizer(), TEXTS),
    make_column_transformer((StandardScaler(), [0]), (OneHotEncoder(categories=[range(3)]), [1])),
    StreamImputer(),
    StreamImputer("most_frequent", add_indicator=True),
    StreamImputer("last"),
    StreamOneHotEncoder(4),
    StreamOneHotEncoder(2, sparse_output=False),
    StreamOrdinalEncoder(3, unknown_value=3),
    LagFeatures(lags=[1, 3]),
    RollingFeatures(functions=["mean", "max"], key=0),
    DatetimeFeatures(),
    *(TargetEncoder(), TargetEncoder(0.0, target_type="continuous")),
    sk.Persistent(),
    sk.MajorityClass(),
    sk.MajorityWindow(),
    sk.RandomClass(random_state=0),
    WindowedKNeighborsClassifier(3),
    HoeffdingTreeClassifier(),
    AdaptiveRandomForestClassifier(random_state=0),
    sk.PersistentRegressor(),
    sk.MeanRegressor(),
    BayesOptimal(TWO_CLASSES),
    sk.TemporallyAugmented(SGD),
    sk.TemporalCorrection(SGD),
    sk.LabelNoise(SGD, noise=0.1, random_state=0),
    sk.DriftReset(SGD),
    sk.PrequentialCalibrator(SGD),
    sk.DriftReset(SGD, detector=RandomAlarm(random_state=0)),
    sk.PeriodicRefit(DecisionTreeClassifier(random_state=0), every=5),
    sk.OnlineBagging(SGD, 2, random_state=0),
    sk.DynamicWeightedMajority(SGD, random_state=0),
    sk.make_stream_pipeline(StandardScaler(), SGD),
    OneVsRestClassifier(SGD),
]
TRIED = [*KERNEL, *river_models()]
# The same with what the table sends through the loop.
LOOP: dict[str, list[Any]] = {
    "average": [SGDClassifier(average=True), SGDClassifier(average=10), SGDRegressor(average=True)],
    "early_stopping": [
        *(SGDClassifier(early_stopping=True), SGDRegressor(early_stopping=True)),
        Perceptron(early_stopping=True),
    ],
    "verbose": [SGDClassifier(verbose=1), SGDRegressor(verbose=1), Perceptron(verbose=1)],
    "a RandomState object": [
        *(SGDClassifier(random_state=DRAWS), SGDRegressor(random_state=DRAWS)),
        Perceptron(random_state=DRAWS),
    ],
    "power_t outside 0 to 10 with invscaling": [
        SGDRegressor(power_t=-0.1),
        SGDRegressor(power_t=10.1),
        SGDClassifier(learning_rate="invscaling", eta0=1.0, power_t=10.1),
    ],
    "passive-aggressive": [
        *aggressive("PassiveAggressiveClassifier", average=True),
        *aggressive("PassiveAggressiveRegressor", verbose=1),
    ],
    "a prior of 0": [
        *(GaussianNB(priors=[0.0, 1.0]), IncrementalGaussianNB(priors=[0.0, 1.0])),
        *(kind(class_prior=[0.0, 1.0]) for kind in (MultinomialNB, BernoulliNB, ComplementNB)),
    ],
    "alpha below 1e-10": [kind(alpha=1e-11) for kind in (MultinomialNB, BernoulliNB, ComplementNB)]
    + [CategoricalNB(alpha=0.0, min_categories=3)],
    "alpha of BernoulliNB": [BernoulliNB(alpha=9e-7), BernoulliNB(alpha=np.ones(3))],
    "a negative binarize": [BernoulliNB(binarize=-1.0)],
    "CategoricalNB": [CategoricalNB(), CategoricalNB(alpha=np.ones(3), min_categories=3)],
    "copy=False": [
        *(kind(copy=False) for kind in (StandardScaler, MinMaxScaler, MaxAbsScaler)),
        *(Normalizer(copy=False), Binarizer(copy=False)),
        *(frozen(StandardScaler(copy=False)), frozen(SimpleImputer(copy=False))),
    ],
    "set_output": [
        kind.set_output(transform="pandas")
        for kind in (
            *(StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer(), Binarizer()),
            *(PolynomialFeatures(), FunctionTransformer(np.log1p)),
            OneHotEncoder(categories=CATEGORIES, sparse_output=False),
            OrdinalEncoder(categories=CATEGORIES),
            *(StreamImputer(), StreamOneHotEncoder(sparse_output=False), StreamOrdinalEncoder()),
            *(LagFeatures(), RollingFeatures(), TargetEncoder(), DatetimeFeatures()),
            make_column_transformer((StandardScaler(), [0])),
        )
    ]
    + [frozen(StandardScaler().set_output(transform="pandas"))],
    "without given categories": [OneHotEncoder(), OrdinalEncoder()],
    "other settings of SimpleImputer": [
        *(SimpleImputer(), SimpleImputer(strategy="constant")),
        SimpleImputer(strategy="constant", keep_empty_features=True, add_indicator=True),
    ],
    "any other function": [
        FunctionTransformer(lambda rows: rows - rows.mean()),
        FunctionTransformer(np.log1p, inverse_func=np.expm1),
    ],
    "other frozen transformers": [frozen(PCA())],
    "ColumnTransformer": [
        make_column_transformer((StandardScaler(), [0])).set_params(
            transformer_weights={"standardscaler": 2.0}
        )
    ],
    "a part without a kernel": [
        sk.TemporallyAugmented(DecisionTreeClassifier()),
        sk.TemporalCorrection(DecisionTreeClassifier()),
        sk.LabelNoise(DecisionTreeClassifier(), noise=0.1, random_state=0),
        sk.make_stream_pipeline(StandardScaler(), DecisionTreeClassifier()),
        sk.make_stream_pipeline(PCA(), SGD),
        sk.OnlineBagging(DecisionTreeClassifier(), random_state=0),
        sk.DriftReset(DecisionTreeClassifier()),
        sk.PrequentialCalibrator(DecisionTreeClassifier()),
    ],
    "without an integer seed": [
        *(sk.RandomClass(), sk.RandomClass(random_state=DRAWS)),
        sk.LabelNoise(SGD, noise=0.1),
        sk.DriftReset(SGD, detector=RandomAlarm()),
        sk.PeriodicRefit(DecisionTreeClassifier(), every=5, detector=RandomAlarm()),
        sk.LabelNoise(SGD, noise=0.1, random_state=DRAWS),
        sk.OnlineBagging(SGD),
        sk.DynamicWeightedMajority(SGD, random_state=DRAWS),
    ],
    "around other models": [
        sk.PeriodicRefit(LogisticRegression(), every=9, detector=DDM()),
        sk.PeriodicRefit(make_pipeline(FunctionTransformer(np.abs), LogisticRegression()), every=9),
    ],
    "with a part that is looped": [
        sk.OnlineBagging(
            sk.make_stream_pipeline(StandardScaler(), DecisionTreeClassifier()), 2, random_state=0
        ),
        sk.DynamicWeightedMajority(sk.TemporalCorrection(DecisionTreeClassifier()), random_state=0),
    ],
}
CASES = [
    pytest.param(model, id=f"{entry}-{type(model).__name__}-{i}")
    for entry, models in LOOP.items()
    for i, model in enumerate(models)
]
# Of these a batch is one step; of the others every row of a batch counts for itself.
ONE_STEP = {
    *("SGDClassifier", "SGDRegressor", "SGDOneClassSVM", "Perceptron"),
    *("PassiveAggressiveClassifier", "PassiveAggressiveRegressor"),
    *("GaussianNB", "IncrementalGaussianNB", "MLPClassifier", "MLPRegressor"),
    *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "ColumnTransformer", "StreamImputer"),
    *("StreamOneHotEncoder", "StreamOrdinalEncoder"),
}


def classes_for(model: Any) -> Any:
    """Two labels that a model answers; None for a regressor."""
    if is_regressor(model):
        return None
    return np.array([-1, 1]) if is_outlier_detector(model) else np.arange(2)


def path_of(model: Any, batch_size: int = 1) -> str:
    """How evaluation runs a model, or naive Bayes behind a transformer."""
    if not hasattr(model, "predict"):
        model = sk.make_stream_pipeline(model, MultinomialNB())
    task = Task(classes_for(model), batch_size=batch_size)
    path = ModelRun("model", 0, model, task).by_kernel.path()
    kind, _, reason = path.partition(": ")
    ends = " has no kernel", "row by row (adapted by from_river)"
    assert (kind == "loop") == reason.endswith(ends), path
    return kind


def learns_a_batch_in_one_step(model: Any) -> bool:
    if isinstance(model, FrozenEstimator):
        return False
    parts = [step for _, step in getattr(model, "steps", [])]
    parts += [model.estimator] if hasattr(model, "estimator") else []
    return type(model).__name__ in ONE_STEP or any(map(learns_a_batch_in_one_step, parts))


def name_of(model: Any) -> str:
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    return f"{'frozen ' if inner is not model else ''}{type(inner).__name__}"


@pytest.mark.parametrize("place", range(len(TRIED)), ids=lambda i: f"{i}-{name_of(TRIED[i])}")
def test_has_a_kernel(place: int) -> None:
    model = TRIED[place]
    assert path_of(model) == "kernel"
    expected = "loop" if learns_a_batch_in_one_step(model) else "kernel"
    assert path_of(model, batch_size=2) == expected


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
@pytest.mark.parametrize(
    "model", [m for m in KERNEL if hasattr(m, "predict")], ids=lambda model: name_of(model)
)
def test_a_kernel_is_the_loop(model: Any, rng: np.random.Generator) -> None:
    """Other tests say more of each; this one is about any kernel that is in the list above."""
    task, n = Task(classes_for(model)), 80
    X = rng.integers(0, 3, size=(n, 3)).astype(float)
    y = rng.normal(size=n) if task.classes is None else rng.integers(0, 2, n)
    assert_equals_loop(
        model, make_block(X, y, "prequential", rng), task, [9, 40], rtol=1e-9, state_rtol=None
    )


@pytest.mark.parametrize("model", CASES)
def test_goes_through_the_loop(model: Any) -> None:
    assert path_of(model) == "loop"


@pytest.mark.parametrize("meta", [sk.TemporallyAugmented, sk.TemporalCorrection])
def test_answers_in_the_place_of_late_labels_go_through_the_loop(meta: type) -> None:
    model = meta(MultinomialNB(), previous_label="predicted")
    assert path_of(model) == "kernel"
    assert path_of(model, batch_size=2) == "loop"
    assert path_of(meta(MultinomialNB()), batch_size=2) == "kernel"


@pytest.mark.parametrize("kind", registered_kernels(), ids=lambda kind: kind.__name__)
def test_subclasses_go_through_the_loop(kind: type) -> None:
    """They may override anything; so may those of transformers."""
    for model in KERNEL:
        if type(model) is kind:
            assert path_of(subclassed(model)) == "loop"


def subclassed(model: Any) -> Any:
    """The same in a subclass that overrides nothing."""
    kind = type(model)
    mine = type("Mine", (kind,), {"__init__": kind.__init__})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        copied = copy.copy(model)
    copied.__class__ = mine
    return copied


def test_a_part_without_a_kernel_shows_when_the_first_rows_come() -> None:
    """Which columns go where, a ColumnTransformer does not know before."""
    columns = make_column_transformer((frozen(PCA(1), X[:, 1:]), [1, 2]), (StandardScaler(), [0]))
    models = {"kernel": SGD, "columns": sk.make_stream_pipeline(columns, SGD)}
    result = sk.PrequentialEvaluator(random_state=0).evaluate(models, X, Y)
    reason = "FrozenEstimator with PCA inside has no kernel"
    path = "kernel; FrozenEstimator by loop"
    assert result.paths == {"kernel": "kernel", "columns": f"{path}: {reason}"}
    assert f"columns ({path}): {reason}" in str(result)


def rows_of_the_table() -> list[list[str]]:
    section = PAGE.read_text(encoding="utf-8").partition("## What is supported")[2]
    lines = section.partition("\n## ")[0].splitlines()
    rows = [line.strip("| ").split("|") for line in lines if line.startswith("| ")]
    return rows[1:]


@pytest.mark.parametrize("kind", registered_kernels(), ids=lambda kind: kind.__name__)
def test_the_table_names_every_kernel(kind: type) -> None:
    names = re.findall(r"\w+\*?", " ".join(row[0] for row in rows_of_the_table()))
    assert any(re.fullmatch(name.replace("*", ".*"), kind.__name__) for name in names)
    # scikit-learn may have no passive-aggressive models any more, and River is another library.
    may_be_missing = kind.__name__.startswith(("PassiveAgg", "River"))
    assert kind in {type(model) for model in KERNEL} or may_be_missing


def test_the_table_names_every_parameter_that_was_tried() -> None:
    table = " ".join(cell for row in rows_of_the_table() for cell in row)
    for models in LOOP.values():
        assert models or not hasattr(linear_model, "PassiveAggressiveClassifier")
    for word in (
        *("average", "early_stopping", "verbose", "RandomState", "power_t", "batch_size > 1"),
        *("a prior of 0", "1e-10", "1e-6", "binarize", "min_categories", "copy=False"),
        *("set_output", "transformer_weights", "previous_label", "integer seed"),
        *("RandomClass without", "beyond 1e150"),
    ):
        assert word in table, word
