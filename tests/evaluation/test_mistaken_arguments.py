"""Messages for arguments that are not what was meant: models, workers, classes."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from skstream import (
    DelayedEvaluator,
    HoldoutEvaluator,
    KFoldEvaluator,
    MajorityClass,
    MeanRegressor,
    ModelError,
    Persistent,
    PersistentRegressor,
    PrequentialEvaluator,
    prequential_predict,
)
from skstream.pipeline import make_stream_pipeline

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y, thirds = np.arange(60) % 2, np.arange(60) % 3


@pytest.mark.parametrize("models", ["sgd", ["sgd"], {"sgd": "sgd"}])
def test_a_text_in_place_of_a_model_is_named(models):
    with pytest.raises(TypeError, match=r"is the text 'sgd', and a model is an estimator.*command"):
        PrequentialEvaluator().evaluate(models, X, y)


def test_classes_of_mixed_types_are_not_blamed_on_y():
    mixed = ["up", 1, "down"]
    with pytest.raises(TypeError, match="The labels in classes cannot be sorted"):
        PrequentialEvaluator().evaluate(SGDClassifier(), X, y, classes=mixed)
    with pytest.raises(TypeError, match="The labels in classes cannot be sorted"):
        PrequentialEvaluator().start(SGDClassifier(), classes=mixed)
    with pytest.raises(TypeError, match="The labels in classes cannot be sorted"):
        prequential_predict(SGDClassifier(), X, y, classes=mixed)
    with pytest.raises(ValueError, match="classes holds no label"):
        PrequentialEvaluator().evaluate(SGDClassifier(), X, y, classes=[])
    with pytest.raises(ValueError, match=r"y holds the number 0\.5"):
        PrequentialEvaluator().evaluate(SGDClassifier(), X, y + 0.5)


@pytest.mark.filterwarnings("ignore:Model 'm' learns with GaussianNB")
@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(random_state=0).fit(X, thirds),
        GaussianNB().fit(X, thirds),
        make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(X, thirds),
        FrozenEstimator(GaussianNB().fit(X, thirds)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fitted_model_of_more_classes_is_refused_before_the_first_row(model):
    evaluator = PrequentialEvaluator("accuracy")
    message = r"with the classes \[0, 1, 2\], and may answer \[2\].*Pass classes=\[0, 1, 2\]"
    with pytest.raises(ValueError, match=message):
        evaluator.evaluate({"m": model}, X, y, warm_start=True)
    with pytest.raises(ValueError, match=message):
        evaluator.start({"m": model}, classes=[0, 1], warm_start=True)
    result = evaluator.evaluate({"m": model}, X, y, classes=[0, 1, 2], warm_start=True)
    assert len(result.predictions("m", every_row=True)) == 60


def test_fitted_models_of_the_same_or_no_classes_start_warm():
    evaluator = PrequentialEvaluator()
    evaluator.evaluate(SGDClassifier(random_state=0).fit(X, y), X, y, warm_start=True)
    evaluator.evaluate(SGDRegressor(random_state=0).fit(X, y), X, y, warm_start=True)


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("scaled", [False, True])
def test_probabilities_that_a_loss_does_not_have_name_the_loss(engine, scaled):
    model = SGDClassifier(random_state=0)
    if scaled:
        model = make_stream_pipeline(StandardScaler(), model)
    with pytest.raises(ModelError, match=r"row 1: .*not available for loss='hinge'"):
        prequential_predict(model, X, y, method="predict_proba", kernels=engine == "auto")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_gaussian_nb_without_an_answer_is_named_with_its_row(engine, scaled):
    model = make_stream_pipeline(StandardScaler(), GaussianNB()) if scaled else GaussianNB()
    with pytest.raises(ModelError, match=r"row 1: it gave no answer"):
        prequential_predict(model, np.round(X), y, method="predict_proba", kernels=engine == "auto")


@pytest.mark.parametrize("model", [SGDClassifier(), SGDRegressor()])
def test_predictions_of_no_row_warn(model):
    with pytest.warns(UserWarning, match=r"No row was asked.*first 100 rows.*and 60 came"):
        assert len(prequential_predict(model, X, y, n_warmup=100)) == 0
    with pytest.warns(UserWarning, match=r"No row was asked.*all 60 weights are 0"):
        assert len(prequential_predict(model, X, y, sample_weight=np.zeros(60))) == 0
    with pytest.warns(UserWarning, match=r"No row was asked.*and 1 came"):
        unlabelled = np.array([1.0] + [np.nan] * 59)
        options = {"missing_labels": "skip", "n_warmup": 2, "classes": [0, 1]}
        prequential_predict(model, X, unlabelled, **options)


@pytest.mark.parametrize(
    "evaluator", [PrequentialEvaluator("accuracy"), DelayedEvaluator("accuracy", delay=1)]
)
def test_weights_that_are_all_zero_are_the_reason_given(evaluator):
    with pytest.warns(UserWarning, match=r"No row was scored.*all 60 weights are 0"):
        evaluator.evaluate(SGDClassifier(), X, y, sample_weight=np.zeros(60))


def test_options_that_a_test_does_not_have():
    result = PrequentialEvaluator("accuracy").evaluate(
        {"a": Persistent(), "b": MajorityClass()}, np.zeros((50, 1)), np.arange(50) % 3
    )
    with pytest.raises(TypeError, match=r"'anytime' has no option 'alfa'. Did you mean 'alpha'\?"):
        result.compare("a", "b", alfa=0.1)
    with pytest.raises(TypeError, match=r"rank\(\) has no option 'zero'.* Options: alpha, higher"):
        result.rank(result, zero=1)
    with pytest.raises(TypeError, match="one by one"):
        result.rank([result])


def test_bounds_that_do_not_hold_name_the_model_and_the_row():
    y = np.zeros(60)
    y[50] = 30.0
    weight = np.ones(60)
    weight[:20] = 0
    result = PrequentialEvaluator("mae").evaluate(
        {"p": PersistentRegressor(), "m": MeanRegressor()},
        np.zeros((60, 1)),
        y,
        sample_weight=weight,
    )
    with pytest.raises(ValueError, match=r"absolute error of 'p' in row 51 is 30, outside bounds"):
        result.compare("p", "m", bounds=(0, 20))


def test_arrays_of_arrow_are_labels():
    arrow = pytest.importorskip("pyarrow")
    y = ["b", "a", "a"] * 10
    evaluator = PrequentialEvaluator("accuracy")
    X = np.zeros((30, 1))
    scores = evaluator.evaluate(Persistent(), X, arrow.array(y)).scores
    assert scores == evaluator.evaluate(Persistent(), X, y).scores


@pytest.mark.parametrize(
    "kind", [PrequentialEvaluator, KFoldEvaluator, HoldoutEvaluator, DelayedEvaluator]
)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"window_size": 500}, r"Pass forgetting='window:500'\."),
        ({"fading_factor": 0.999}, r"Pass forgetting='fading:0\.999'\."),
        ({"scoring": "f1"}, r"Pass metrics='f1'\."),
        ({"pretrain_size": 200}, r"Pass n_warmup=200\."),
        ({"max_samples": 10}, r"Pass streams\.take_rows\(stream, 10\) as the stream"),
        ({"forgeting": "adwin"}, r"Did you mean 'forgetting'\?"),
        ({"nothing_like_it": 1}, r"'nothing_like_it'\.$"),
    ],
)
def test_parameters_of_other_libraries_lead_to_ours(kind, given, words):
    if kind is HoldoutEvaluator and "forgetting" in words:
        words = ""  # each set of held-out rows is scored on its own
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter .*{words}"):
        kind(**given)
    with pytest.raises(ValueError, match=f"{kind.__name__} has no parameter .*{words}"):
        kind(**{"holdout": "next"} if kind is HoldoutEvaluator else {}).set_params(**given)


@pytest.mark.parametrize(
    ("kind", "given", "owner"),
    [
        (PrequentialEvaluator, {"n_folds": 3}, "KFoldEvaluator"),
        (KFoldEvaluator, {"delay": 3}, "DelayedEvaluator"),
        (DelayedEvaluator, {"holdout": "next"}, "HoldoutEvaluator"),
        (HoldoutEvaluator, {"batch_size": 3}, "PrequentialEvaluator"),
    ],
)
def test_a_parameter_of_another_evaluator_names_it(kind, given, owner):
    with pytest.raises(TypeError, match=rf"has no parameter .*\. {owner} has it\.$"):
        kind(**given)
