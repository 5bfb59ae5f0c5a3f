"""Every estimator of the package keeps scikit-learn's contract, and that of streams."""

import importlib
import inspect
from importlib.util import find_spec
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from skstream import PrequentialEvaluator, prequential_predict
from skstream.adaptive import DriftReset
from skstream.base import learner
from skstream.baselines import MajorityWindow, RandomClass
from skstream.calibration import PrequentialCalibrator
from skstream.compat import CapyMOAClassifier
from skstream.compat._capymoa import CapyMOARegressor
from skstream.compat._river import RiverClassifier, RiverRegressor
from skstream.conformal import OnlineConformalRegressor
from skstream.drift import ADWIN, DDM, PageHinkley, RandomAlarm
from skstream.ensemble import DynamicWeightedMajority, OnlineBagging
from skstream.model_selection import PrequentialSearch
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.noise import LabelNoise
from skstream.optimal import BayesOptimal
from skstream.pipeline import StreamPipeline, make_stream_pipeline
from skstream.preprocessing import (
    DatetimeFeatures,
    LagFeatures,
    RollingFeatures,
    StreamImputer,
    StreamOneHotEncoder,
    StreamOrdinalEncoder,
    TargetEncoder,
)
from skstream.refit import PeriodicRefit
from skstream.temporal import TemporalCorrection, TemporallyAugmented
from skstream.testing import check_stream_estimator
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier
from skstream.utils._validation import is_fitted, tags_of
from tests._examples import SCALE, newest_alone
from tests._public import public_objects

# Estimators that cannot be made without parameters, or that are worth checking with others.
EXAMPLES: dict[type, list[Any]] = {
    DriftReset: [
        DriftReset(IncrementalGaussianNB(), warm_up=5),
        DriftReset(
            SGDClassifier(random_state=0),
            detector=RandomAlarm(0.3, warm_up=0, random_state=0),
            warm_up=0,
        ),
    ],
    DynamicWeightedMajority: [
        DynamicWeightedMajority(IncrementalGaussianNB(), period=7, max_estimators=3, random_state=0)
    ],
    OnlineBagging: [
        OnlineBagging(SGDClassifier(), 2, detector=ADWIN(direction="up", clock=4), random_state=0)
    ],
    OnlineConformalRegressor: [
        OnlineConformalRegressor(SGDRegressor(random_state=0), step_size=0.1, window_size=50)
    ],
    PeriodicRefit: [
        PeriodicRefit(DecisionTreeClassifier(max_depth=2, random_state=0), every=25, window=100),
        PeriodicRefit(
            make_pipeline(StandardScaler(), LogisticRegression()),
            every=None,
            window=100,
            min_rows=15,
            detector=RandomAlarm(0.01, warm_up=0, random_state=0),
            before=GaussianNB(),
            weight_decay=0.99,
        ),
        PeriodicRefit(Ridge(), every=10, window=100, weight_decay=0.9),
    ],
    PrequentialCalibrator: [
        PrequentialCalibrator(IncrementalGaussianNB(), forgetting="window:200", every=7),
        PrequentialCalibrator(
            SGDClassifier(random_state=0), method="temperature", forgetting="fading:0.9", every=10
        ),
    ],
    LabelNoise: [
        LabelNoise(GaussianNB(), random_state=0),
        LabelNoise(MultinomialNB(), random_state=0),
        LabelNoise(SGDClassifier(random_state=0), random_state=0),
    ],
    MajorityWindow: [MajorityWindow(), MajorityWindow(window_size=3)],
    PrequentialSearch: [
        PrequentialSearch(SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2]}, tuning=5),
        PrequentialSearch(
            make_stream_pipeline(StandardScaler(), SGDRegressor(random_state=0)),
            {"sgdregressor__alpha": [1e-4, 1e-2]},
            evaluator=PrequentialEvaluator(forgetting="fading:0.99", random_state=0),
            metric="mae",
        ),
    ],
    RandomClass: [RandomClass(random_state=0)],
    StreamImputer: [
        StreamImputer(add_indicator=True),
        StreamImputer("most_frequent"),
        StreamImputer("last"),
        StreamImputer("constant", fill_value=-1.0),
    ],
    StreamOneHotEncoder: [StreamOneHotEncoder(4), StreamOneHotEncoder(sparse_output=False)],
    StreamOrdinalEncoder: [
        StreamOrdinalEncoder(),
        StreamOrdinalEncoder(3, encoded_missing_value=np.nan),
    ],
    DatetimeFeatures: [DatetimeFeatures(), DatetimeFeatures(["year", "day"], cyclic=False)],
    LagFeatures: [LagFeatures(), LagFeatures(-1, [1, 3], max_keys=4)],
    RollingFeatures: [RollingFeatures(windows=[2, 4], functions=["count", "std", "max"])],
    TargetEncoder: [TargetEncoder(), TargetEncoder(0.0, target_type="continuous")],
    StreamPipeline: [
        make_stream_pipeline(StandardScaler(), GaussianNB()),
        make_stream_pipeline(StandardScaler(), SGDRegressor(random_state=0)),
        make_stream_pipeline(MinMaxScaler(), StandardScaler()),
        make_stream_pipeline(MinMaxScaler(), TemporalCorrection(MultinomialNB())),
    ],
    TemporalCorrection: [
        TemporalCorrection(GaussianNB(), fading_factor=0.9),
        TemporalCorrection(GaussianNB(), previous_label="predicted"),
    ],
    TemporallyAugmented: [
        TemporallyAugmented(SGDClassifier(random_state=0)),
        TemporallyAugmented(MultinomialNB(), n_lags=2, encoding="ordinal"),
        TemporallyAugmented(
            make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
            previous_label="predicted",
        ),
    ],
    WindowedKNeighborsClassifier: [
        WindowedKNeighborsClassifier(),
        WindowedKNeighborsClassifier(3, 50),
    ],
    AdaptiveRandomForestClassifier: [
        AdaptiveRandomForestClassifier(
            2, grace_period=1e6, warning_detector=None, drift_detector=DDM(), random_state=0
        ),
        AdaptiveRandomForestClassifier(
            3,
            grace_period=20,
            max_features=None,
            warning_detector=None,
            drift_detector=PageHinkley(5.0),
            max_bytes=100_000,
            random_state=0,
        ),
    ],
    HoeffdingTreeClassifier: [
        HoeffdingTreeClassifier(),
        HoeffdingTreeClassifier(grace_period=20, leaf_prediction="nb", max_bytes=200_000),
    ],
}

# Wrappers of River's models, where River is installed.
if find_spec("river") is not None:
    river_tree = importlib.import_module("river.tree")
    river_bayes = importlib.import_module("river.naive_bayes")
    river_linear = importlib.import_module("river.linear_model")
    scaler = importlib.import_module("river.preprocessing").StandardScaler()
    EXAMPLES[RiverClassifier] = [
        RiverClassifier(river_tree.HoeffdingTreeClassifier(grace_period=20)),
        RiverClassifier(river_bayes.GaussianNB()),
    ]
    EXAMPLES[RiverRegressor] = [RiverRegressor(scaler | river_linear.LinearRegression())]

# What partial_fit of some rows, then of others, does is partial_fit of all of them.
CUTS_CHANGE_NOTHING = {
    *("Persistent", "MajorityClass", "MajorityWindow", "PersistentRegressor", "MeanRegressor"),
    *("RandomClass", "WindowedKNeighborsClassifier", "HoeffdingTreeClassifier"),
    "AdaptiveRandomForestClassifier",
}

# The only checks that may fail, and why (see the design).
WEIGHT_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "The check shuffles the rows, and their order is what these estimators learn from."
    ),
    "check_sample_weight_equivalence_on_sparse_data": (
        "The check shuffles the rows, and their order is what these estimators learn from."
    ),
}
HEAVY_NEIGHBOUR_CHECKS = dict.fromkeys(
    WEIGHT_CHECKS, "A row of weight 2 has two votes and is one neighbour; two rows are two."
)
SHOWN_BEFORE = (
    "fit_transform shows each row by what was known before it, so that no row is part of its own "
    "features; transform shows all by what is known now."
)
SHOWN_BEFORE_CHECKS = dict.fromkeys(
    ("check_transformer_general", "check_transformer_data_not_an_array"), SHOWN_BEFORE
)
OWN_ANSWER_CHECKS = {
    "check_methods_sample_order_invariance": (
        "With previous_label='predicted', a row's answer depends on the row before it."
    ),
    "check_methods_subset_invariance": (
        "With previous_label='predicted', a row's answer depends on the row before it."
    ),
}


def public_estimators() -> list[type]:
    """Exported classes with a ``fit``: whoever adds one, adds it to these checks."""
    return [
        value
        for value in public_objects().values()
        if inspect.isclass(value) and issubclass(value, BaseEstimator) and hasattr(value, "fit")
    ]


def needs_parameters(estimator: type) -> bool:
    parameters = inspect.signature(estimator).parameters.values()
    return any(parameter.default is inspect.Parameter.empty for parameter in parameters)


def instances() -> list[Any]:
    made = []
    for estimator in public_estimators():
        if estimator in EXAMPLES:
            made += EXAMPLES[estimator]
        elif not needs_parameters(estimator):
            made.append(estimator())
    return made


def expected_failures(estimator: Any) -> dict[str, str]:
    failures: dict[str, str] = {}
    if getattr(estimator, "previous_label", None) == "predicted":
        failures |= OWN_ANSWER_CHECKS
    if hasattr(estimator, "partial_fit_transform") and not isinstance(estimator, StreamPipeline):
        failures |= SHOWN_BEFORE_CHECKS
    if getattr(estimator, "n_neighbors", 1) > 1:
        failures |= HEAVY_NEIGHBOUR_CHECKS
    if _order_matters(estimator):
        failures |= WEIGHT_CHECKS
        if not _takes_sparse(estimator):
            del failures["check_sample_weight_equivalence_on_sparse_data"]
    return failures


def _order_matters(estimator: Any) -> bool:
    if isinstance(estimator, MajorityWindow):
        return estimator.window_size < 60  # else the window holds all rows of the check
    if getattr(estimator, "weight_decay", None) is not None:
        return True
    if getattr(estimator, "leaf_prediction", None) == "nba":
        return True
    parts = [estimator, *estimator.get_params(deep=True).values()]
    return any(
        isinstance(
            part,
            TemporalCorrection
            | TemporallyAugmented
            | SGDClassifier
            | SGDRegressor
            | RiverRegressor
            | DynamicWeightedMajority
            | OnlineBagging
            | PrequentialCalibrator,
        )
        for part in parts
    )


def _takes_sparse(estimator: Any) -> bool:
    return bool(estimator.__sklearn_tags__().input_tags.sparse)


def first_of_their_kind(estimators: list[Any]) -> list[Any]:
    """Of every class a classifier, a regressor and a transformer, those that there are."""
    found: dict[Any, Any] = {}
    for one in estimators:
        found.setdefault((type(one), is_classifier(one), hasattr(one, "transform")), one)
    return list(found.values())


INSTANCES = instances()
MODELS = [model for model in INSTANCES if hasattr(model, "predict")]
every_instance = pytest.mark.parametrize("estimator", INSTANCES, ids=lambda e: repr(e)[:70])
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda e: repr(e)[:70])


@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
@pytest.mark.parametrize(
    "estimator",
    INSTANCES if SCALE >= 1 else first_of_their_kind(INSTANCES),
    ids=lambda e: repr(e)[:70],
)
def test_scikit_learn_checks(estimator: Any) -> None:
    # Joined: there are two thousand of them, and most take less time than a test of its own.
    results = check_estimator(
        estimator, expected_failed_checks=expected_failures(estimator), on_skip=None, on_fail=None
    )
    assert len(results) > 30
    for result in results:
        name, status = result["check_name"], result["status"]
        if status == "failed":
            raise AssertionError(f"{name} failed: {result['exception']}") from result["exception"]
        assert status != "passed" or not result["expected_to_fail"], f"{name} passes: expect it"


# An inner naive Bayes model takes the logarithm of the share of a class that is still to come.
@newest_alone
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")
# Of five tuning rows a search may score none.
@pytest.mark.filterwarnings("ignore:.* is undefined for every candidate")
@every_model
def test_stream_checks(model: Any) -> None:
    check_stream_estimator(
        model,
        batch_split=type(model).__name__ in CUTS_CHANGE_NOTHING,
        # Half of them fill a window, or let a tree grow to its size.
        n_learns=max(
            2000 if isinstance(model, RiverClassifier) else 600,
            2 * getattr(model, "window_size", 0),
        ),
    )


@every_instance
def test_learning_leaves_the_parameters_alone(estimator: Any) -> None:
    model = clone(estimator)
    before = joblib.hash(model.get_params())
    learner(model)(*_rows(model), None, [0, 1] if is_classifier(model) else None)
    assert joblib.hash(model.get_params()) == before


def _rows(model: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(1).random((12, 2)), np.arange(12) % 2


@pytest.mark.filterwarnings("ignore")  # forty rows leave much undefined
@every_model
def test_predict_equals_evaluate(model: Any, rng: np.random.Generator) -> None:
    X = rng.random((40, 3))
    y = rng.choice(["a", "b", "c"], 40) if is_classifier(model) else rng.random(40)
    seeds = [name for name in model.get_params() if name.endswith("random_state")]
    model = clone(model).set_params(**dict.fromkeys(seeds))  # so that they are the call's
    options: dict[str, Any] = {"random_state": 3, "batch_size": 7}
    evaluator = PrequentialEvaluator("accuracy" if is_classifier(model) else "mae", **options)
    expected = evaluator.evaluate({"m": model}, X, y).predictions("m", every_row=True)
    answers = prequential_predict({"m": model}, X, y, **options)
    np.testing.assert_array_equal(answers, expected[1:] if len(expected) == 40 else expected)


@every_model
def test_rows_of_weight_zero_leave_no_trace(model: Any, rng: np.random.Generator) -> None:
    X = rng.random((60, 3))
    y = rng.choice(["a", "b", "c"], 60) if is_classifier(model) else rng.random(60)
    weight = (rng.random(60) < 0.7).astype(float)
    classes = ["a", "b", "c"] if is_classifier(model) else None
    known = {} if classes is None else {"classes": classes}
    weighted, without = clone(model), clone(model)
    for begin in range(0, 60, 12):
        piece = slice(begin, begin + 12)
        kept = weight[piece] > 0
        weighted.partial_fit(X[piece], y[piece], sample_weight=weight[piece], **known)
        without.partial_fit(X[piece][kept], y[piece][kept], **known)
        weighted.partial_fit(X[:3], y[:3], sample_weight=np.zeros(3))
        known = {}
    np.testing.assert_array_equal(weighted.predict(X), without.predict(X))


# Models that say themselves whether they have learnt something; others follow scikit-learn.
# Of five tuning rows a search may score none.
@pytest.mark.filterwarnings("ignore:.* is undefined for every candidate")
@pytest.mark.parametrize(
    "model",
    [model for model in MODELS if hasattr(model, "__sklearn_is_fitted__")],
    ids=lambda e: repr(e)[:70],
)
def test_nothing_learnt_from_weights_of_zero_is_no_answer(model: Any) -> None:
    model = clone(model)
    X, y = _rows(model)
    classes = {"classes": [0, 1]} if is_classifier(model) else {}
    model.partial_fit(X, y, sample_weight=np.zeros(12), **classes)
    with pytest.raises(NotFittedError):
        model.predict(X)


# `is_fitted` does not look up their tags.
@pytest.mark.parametrize(
    "estimator", [StreamPipeline([("p", StandardScaler())]), *INSTANCES], ids=repr
)
def test_our_estimators_are_fitted_when_scikit_learn_says_so(estimator: Any) -> None:
    assert tags_of(estimator).requires_fit
    assert not is_fitted(clone(estimator))


def test_a_new_estimator_cannot_be_forgotten() -> None:
    elsewhere = {CapyMOAClassifier, CapyMOARegressor}  # need Java: tests/compat
    elsewhere |= {BayesOptimal}  # takes the rows of its own stream alone: tests/test_optimal.py
    if find_spec("river") is None:
        elsewhere |= {RiverClassifier, RiverRegressor}
    missing = set(public_estimators()) - {type(instance) for instance in INSTANCES} - elsewhere
    assert not missing, "add instances of these to EXAMPLES"
    assert set(EXAMPLES) <= set(public_estimators()), "an example of a class that is not exported"


@pytest.mark.parametrize(
    "model",
    [
        DriftReset(MultinomialNB()),
        PrequentialCalibrator(MultinomialNB()),
        OnlineBagging(MultinomialNB(), 2, random_state=0),
    ],
    ids=repr,
)
def test_a_failing_first_call_leaves_nothing(model: Any) -> None:
    with pytest.raises(ValueError, match="Negative"):
        model.partial_fit([[-1.0]], [0], classes=[0, 1])
    assert not hasattr(model, "estimator_") and not hasattr(model, "estimators_")
    model.partial_fit([[1.0]], [1], classes=[1, 2])
    assert model.classes_.tolist() == [1, 2]
