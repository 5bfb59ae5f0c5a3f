"""What has no kernel: what is not exact, methods replaced; and making one touches nothing else."""

import copy
import threading
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.base import asks_row_by_row
from skstream.kernels import Declined, Kernel, Task, find_kernel, make_kernel
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier

CLASSES = np.array([0, 1])
TASK = Task(CLASSES)
X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.random.default_rng(1).integers(0, 2, 60)


def fitted(model: Any, **changes: Any) -> Any:
    model.partial_fit(X, Y, classes=CLASSES)
    vars(model).update(changes)
    return model


def always_one(rows: Any) -> np.ndarray:
    return np.ones(len(rows), dtype=int)


LABELS, LATE = Task(np.array(["a", "b", "c"])), Task(CLASSES, late_labels=True)
VALUES, TARGETS = replace(TASK, method="decision_function"), Task(None)
SHARES = replace(TASK, method="predict_proba")
GAUSSIAN = GaussianNB, IncrementalGaussianNB
LOG = SGDClassifier(loss="log_loss", random_state=0)
AVERAGED = SGDClassifier(average=True)
FOREST = AdaptiveRandomForestClassifier(random_state=0)
NOT_EXACT = [
    (sk.Persistent(), VALUES),
    (sk.Persistent(), TARGETS),
    (sk.Persistent(0), TASK),
    (sk.PersistentRegressor(0), Task(None)),
    (sk.MajorityWindow(0), TASK),
    (sk.Persistent().fit([[0]], ["z"]), LABELS),
    (sk.MeanRegressor(), TASK),
    (sk.RandomClass(), TASK),
    (WindowedKNeighborsClassifier(), VALUES),
    (WindowedKNeighborsClassifier(), TARGETS),
    (WindowedKNeighborsClassifier(0), TASK),
    (WindowedKNeighborsClassifier().fit([[0.0]], ["z"]), LABELS),
    (WindowedKNeighborsClassifier().fit(sparse.csr_array((2, 2)), CLASSES), TASK),
    (HoeffdingTreeClassifier(), VALUES),
    (HoeffdingTreeClassifier(), TARGETS),
    (HoeffdingTreeClassifier(delta=2), TASK),
    (HoeffdingTreeClassifier().fit([[0.0]], ["z"]), LABELS),
    (FOREST, VALUES),
    (FOREST, TARGETS),
    (AdaptiveRandomForestClassifier(mean_weight=101, random_state=0), TASK),
    (AdaptiveRandomForestClassifier(random_state=np.random.RandomState(0)), TASK),
    (sk.TemporallyAugmented(LOG, previous_label="predicted"), LATE),
    (sk.TemporalCorrection(LOG, previous_label="predicted"), LATE),
    (sk.TemporalCorrection(LOG), VALUES),
    (sk.TemporalCorrection(SGDClassifier()), TASK),
    (sk.TemporalCorrection(LOG, smoothing=0), TASK),
    (sk.TemporallyAugmented(LOG, n_lags=-1), TASK),
    (sk.TemporallyAugmented(AVERAGED), TASK),
    (sk.TemporallyAugmented(LOG).fit([[0], [1]], ["x", "y"]), TASK),
    (sk.make_stream_pipeline(StandardScaler(), AVERAGED), TASK),
    (sk.make_stream_pipeline(StandardScaler(), LOG), replace(TASK, batch_size=10)),
    (sk.make_stream_pipeline(StandardScaler(), StandardScaler()), TASK),
    (sk.StreamPipeline([]), TASK),
    # Linear models: what averages, draws, prints or is wrong, and what was fitted otherwise.
    (SGDRegressor(average=10), TARGETS),
    (SGDRegressor(power_t=-0.5), TARGETS),
    (SGDRegressor(power_t=50.0), TARGETS),
    (SGDRegressor(loss="hinge"), TARGETS),
    (SGDRegressor(eta0=0.0), TARGETS),
    (SGDRegressor(eta0=np.inf), TARGETS),
    (SGDRegressor(), replace(TARGETS, method="decision_function")),
    (SGDRegressor(), TASK),
    (SGDClassifier(), replace(TASK, batch_size=2)),
    (SGDClassifier(), Task(np.array([0]))),
    (SGDClassifier(), TARGETS),
    (SGDClassifier(), SHARES),
    (Perceptron(), SHARES),
    (Perceptron().set_params(verbose=2), TASK),
    *(
        (SGDClassifier(**parameters), TASK)
        for parameters in (
            {"average": True},
            {"early_stopping": True},
            {"verbose": 1},
            {"random_state": np.random.RandomState(0)},
            {"alpha": 0.0},  # by which "optimal" steps divide
            {"alpha": 1e-200},
            {"alpha": "small"},
            {"class_weight": "balanced"},
            {"class_weight": {5: 1.0}},
            {"loss": "log"},
            {"penalty": "l3"},
            {"penalty": "elasticnet", "l1_ratio": None},
            {"learning_rate": "fast"},
            {"loss": "log_loss", "learning_rate": "pa1"},
        )
    ),
    *(
        (fitted(SGDClassifier(), **attributes), TASK)
        for attributes in (
            {"classes_": np.array([0, 2])},
            {"coef_": np.zeros((1, 3), dtype=np.float16)},
            {"coef_": np.array([[0.0, np.inf, 0.0]])},
            {"coef_": sparse.csr_array((1, 3))},
            {"coef_": np.zeros((1, 4))},
            {"intercept_": np.zeros(1, dtype=np.float32)},
            {"intercept_": np.zeros(2)},
            {"t_": 1.5},
        )
    ),
    (SGDClassifier().partial_fit(X, Y, classes=[0, 1, 2]), TASK),
    # Naive Bayes on counts, and on numbers.
    (BernoulliNB(alpha=[1.0, 1.0]), TASK),
    (BernoulliNB(alpha=1e-8), TASK),
    (BernoulliNB(binarize=-0.5), TASK),
    (BernoulliNB(binarize="mean"), TASK),
    (ComplementNB(norm=1), TASK),
    (CategoricalNB(), TASK),
    (CategoricalNB(min_categories=0), TASK),
    (CategoricalNB(min_categories=[2.5]), TASK),
    (CategoricalNB(min_categories=3, alpha=[1.0]), TASK),
    (CategoricalNB(min_categories=2).fit([[4], [0]], [0, 1]), TASK),
    (MultinomialNB().fit([[1], [2]], [0, 2]), TASK),
    (MultinomialNB(alpha=1e-11, force_alpha=False), TASK),
    (MultinomialNB(force_alpha=1), TASK),
    (MultinomialNB(fit_prior="yes"), TASK),
    *((MultinomialNB(alpha=value), TASK) for value in (0, -1.0, np.inf, "1", [1.0, 0.0], [[1.0]])),
    *(
        (MultinomialNB(class_prior=prior), TASK)
        for prior in ([0.5, 0.2, 0.3], [0.0, 1.0], "uniform")
    ),
    *(
        (kind(), Task(classes))
        for kind in (MultinomialNB, BernoulliNB)
        for classes in (None, np.array([0.5, 1.5]), np.array([0, "a"], dtype=object))
    ),
    *((kind(), VALUES) for kind in (MultinomialNB, BernoulliNB, *GAUSSIAN)),
    *((kind(), TARGETS) for kind in GAUSSIAN),
    *((kind(), replace(TASK, batch_size=2)) for kind in GAUSSIAN),
    *((kind().fit([[0.0], [1.0]], [0, 2]), TASK) for kind in GAUSSIAN),
    *((kind(var_smoothing=value), TASK) for kind in GAUSSIAN for value in (-1.0, np.inf, "1e-9")),
    *(
        (kind(priors=priors), TASK)
        for kind in GAUSSIAN
        for priors in ([0.5, 0.4], [0.2, 0.3, 0.5], [0.0, 1.0], "uniform")
    ),
    (fitted(GaussianNB(), theta_=np.zeros((2, 3), dtype=np.float32)), TASK),
]


@pytest.mark.parametrize(("model", "task"), NOT_EXACT)
def test_what_is_not_exact_is_refused(model: Any, task: Task) -> None:
    assert make_kernel(model, task) is None


def test_what_is_fitted_as_usual_is_not_refused() -> None:
    assert make_kernel(fitted(SGDClassifier()), TASK) is not None
    assert make_kernel(fitted(GaussianNB()), TASK) is not None


def test_methods_of_an_instance_go_through_the_loop() -> None:
    model = fitted(SGDClassifier(random_state=0))
    assert make_kernel(model, TASK) is not None
    model.predict = always_one
    with pytest.raises(Declined, match="SGDClassifier with a predict of its own has no kernel"):
        find_kernel(model, TASK)
    evaluator = sk.PrequentialEvaluator()
    result = evaluator.evaluate({"m": model}, X, Y, warm_start=True)
    assert (result.predictions("m", every_row=True)[1:] == 1).all()
    assert result.paths["m"].partition(":")[0] == "loop"


@pytest.mark.parametrize("name", ["partial_fit", "predict", "predict_proba"])
def test_methods_of_an_inner_instance(name: str) -> None:
    for wrapper in (
        sk.TemporalCorrection(SGDClassifier(loss="log_loss", random_state=0)),
        sk.TemporallyAugmented(GaussianNB()),
        sk.LabelNoise(GaussianNB(), noise=0.1, random_state=0),
        sk.TemporalCorrection(sk.TemporallyAugmented(GaussianNB())),
    ):
        model = fitted(wrapper)
        assert make_kernel(model, TASK) is not None
        inner = model.estimator_
        inner = getattr(inner, "estimator_", inner)
        setattr(inner, name, getattr(inner, name))
        kernel = find_kernel(model, TASK)
        (part,) = kernel.looped(kernel.initial_state())  # the inner model alone
        assert f"a {name} of its own" in part.reason


def test_methods_of_a_member() -> None:
    """Of an ensemble: a member may be executed twice over the same rows, so none is looped."""
    for ensemble in (
        sk.OnlineBagging(GaussianNB(), 2, random_state=0),
        sk.DynamicWeightedMajority(GaussianNB(), random_state=0),
    ):
        model = fitted(ensemble)
        assert make_kernel(model, TASK) is not None
        member = model.estimators_[-1]
        member.predict = member.predict
        with pytest.raises(Declined, match="a predict of its own"):
            find_kernel(model, TASK)


def test_methods_of_a_step() -> None:
    for place in (0, 1):
        model = fitted(sk.make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0)))
        assert make_kernel(model, TASK) is not None
        step = model.pipeline_.steps[place][1]
        step.partial_fit = step.partial_fit
        kernel = find_kernel(model, TASK)
        (part,) = kernel.looped(kernel.initial_state())  # this step alone
        assert part.name == type(step).__name__ and "a partial_fit of its own" in part.reason
    frozen = FrozenEstimator(StandardScaler().fit(X))
    frozen.estimator.transform = lambda rows: rows
    assert make_kernel(sk.make_stream_pipeline(frozen, SGDClassifier()), TASK) is None
    columns = make_column_transformer((FrozenEstimator(frozen.estimator), [0, 1]))
    columns.fit(X)
    assert (
        make_kernel(sk.make_stream_pipeline(FrozenEstimator(columns), SGDClassifier()), TASK)
        is None
    )


def test_parameters_called_like_nothing_else_are_no_methods() -> None:
    model = SGDClassifier()
    model.note = lambda: None  # type: ignore[attr-defined]
    assert make_kernel(model, TASK) is not None


class Counted:
    """Counts how often kernels of a type are made."""

    def __init__(self, monkeypatch: Any, kind: type[Kernel]):
        self.number = 0
        make = kind.__init__

        def counted(kernel: Any, estimator: Any, task: Task) -> None:
            self.number += 1
            make(kernel, estimator, task)

        monkeypatch.setattr(kind, "__init__", counted)


def test_the_kernel_of_nested_wrappers_is_made_once(monkeypatch: Any) -> None:
    """Once at every depth; 2^12 times it took seconds."""
    inner = find_kernel(MultinomialNB(), TASK)
    counted = Counted(monkeypatch, type(inner))
    model: Any = MultinomialNB()
    for depth in range(12):
        kinds = (sk.TemporalCorrection, sk.make_stream_pipeline, sk.TemporallyAugmented)
        model = kinds[depth % 3](model)
    assert make_kernel(model, TASK) is not None
    assert counted.number == 1
    calls = []
    monkeypatch.setattr(
        MultinomialNB,
        "get_params",
        lambda self, deep=True: calls.append(1) or {"alpha": 1.0},
        raising=False,
    )
    assert not asks_row_by_row(model)
    assert len(calls) < 100


def test_filters_of_warnings_are_left_alone() -> None:
    """They belong to the process: what is set in one thread, all others meet."""
    models = [
        SGDClassifier(),
        SGDRegressor(),
        Perceptron(),
        sk.TemporallyAugmented(SGDClassifier()),
    ]
    stop = threading.Event()
    failures: list[Exception] = []
    seen = 0

    def warn_harmlessly() -> None:
        nonlocal seen
        while not stop.is_set():
            try:
                warnings.warn("harmless", UserWarning, stacklevel=1)
                seen += 1
            except UserWarning as failure:
                failures.append(failure)

    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        filters, before = warnings.filters, list(warnings.filters)
        threads = [threading.Thread(target=warn_harmlessly) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            for model in models:
                make_kernel(copy.copy(model), Task(None if model is models[1] else CLASSES))
        stop.set()
        for thread in threads:
            thread.join()
        assert warnings.filters is filters and list(warnings.filters) == before
    assert seen and not failures


class Warns(GaussianNB):
    """A model of the user's, with a harmless warning at every row."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        warnings.warn("harmless", UserWarning, stacklevel=1)
        return super().partial_fit(X, y, classes, sample_weight)


def test_threads_with_warnings_and_kernels() -> None:
    errors: list[BaseException] = []
    results = []

    def evaluate(models: dict[str, Any]) -> None:
        try:
            results.append(sk.PrequentialEvaluator(random_state=0).evaluate(models, X[:30], Y[:30]))
        except BaseException as error:
            errors.append(error)

    kinds = [{"warns": Warns()}, {"sgd": SGDClassifier()}, {"perceptron": Perceptron()}] * 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        before = list(warnings.filters)
        threads = [threading.Thread(target=evaluate, args=(models,)) for models in kinds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert list(warnings.filters) == before
    assert not errors and len(results) == len(kinds)
    assert sum("harmless" in str(warning.message) for warning in caught) == 3 * 30
