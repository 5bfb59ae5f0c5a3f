"""A `Pipeline` of scikit-learn is taken as the stream pipeline of its steps, everywhere."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

import skstream as sk
from skstream._meta import MetaEstimator
from skstream.cli._from_text import model_of
from skstream.streams import make_demo_stream
from skstream.utils._content import content
from tests.evaluation.test_laws import evaluate, every_evaluator
from tests.test_models_without_base import Centre, Counter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
FEW = {"forgetting": "cumulative"}
y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 1)]


def wrappers(kind=MetaEstimator):
    for one in kind.__subclasses__():
        yield from wrappers(one)
        if "estimator" in one._get_param_names() and one is not sk.PeriodicRefit:
            yield one


WRAPPERS = sorted(set(wrappers()), key=str)


def classifiers(kind):
    """Models with pipelines in every place: alone, inside one another, inside wrappers."""

    def make(**steps):
        return kind(list(steps.items()))

    log, inner = SGDClassifier(loss="log_loss"), make(scale=StandardScaler(), unit=MinMaxScaler())
    columns = make_column_transformer((inner, [0, 2]))
    return {
        "alone": make(scale=StandardScaler(), model=SGDClassifier()),
        "stateless": make(a=make(unit=Normalizer()), b=make(off="passthrough", nb=BernoulliNB())),
        "nested": make(columns=columns, model=make(scale=StandardScaler(), model=log)),
        "plain": make(scale=Centre(), model=Counter()),
        "bagged": sk.OnlineBagging(make(scale=StandardScaler(), model=log), 2),
        "corrected": sk.TemporalCorrection(sk.DriftReset(make(scale=StandardScaler(), model=log))),
    }


def same(first, second):
    assert first.model_names == second.model_names
    assert first.paths == second.paths
    for name in first.model_names:
        np.testing.assert_array_equal(first.tape.answers[name], second.tape.answers[name])
        assert first.scores[name] == second.scores[name]


@every_evaluator
def test_in_every_evaluator(name, options):
    run = sk.RunOptions(kernels="batch_size" not in options)  # by the loop, where labels come late
    given, ours = (
        evaluate(name, options, X[:60], y[:60], models=classifiers(kind), run=run, **FEW)
        for kind in (Pipeline, sk.StreamPipeline)
    )
    same(given, ours)
    assert ": Pipeline, run as a StreamPipeline of its steps" in str(given)
    assert "Pipeline, taken" not in str(ours)


def test_every_wrapper_is_tried():
    assert {kind._kind for kind in WRAPPERS} == {"classifier", "regressor"}
    assert len(WRAPPERS) >= 8


@pytest.mark.parametrize("kind", WRAPPERS, ids=lambda kind: kind.__name__)
def test_wrappers_alone(kind):
    last = SGDClassifier(loss="log_loss", random_state=0)
    targets, classes = y, {"classes": np.unique(y)}
    if kind._kind == "regressor":
        last, targets, classes = SGDRegressor(random_state=0), X[:, 0], {}
    models = [
        kind(make(StandardScaler(), last)) for make in (make_pipeline, sk.make_stream_pipeline)
    ]
    for model in models:
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=0)
        model.partial_fit(X[:60], targets[:60], **classes)
    models[0] = pickle.loads(pickle.dumps(models[0]))
    for model in models:
        model.partial_fit(X[60:], targets[60:])
    np.testing.assert_array_equal(*(model.predict(X) for model in models))
    assert type(clone(models[0]).estimator) is Pipeline


def test_in_searches():
    grid = {"sgdclassifier__alpha": [1e-4, 1e-2], "standardscaler": ["passthrough", MinMaxScaler()]}
    evaluator = sk.PrequentialEvaluator(random_state=0)
    found = [
        sk.PrequentialSearch(
            make(StandardScaler(), SGDClassifier()), grid, tuning=60, evaluator=evaluator
        )
        for make in (make_pipeline, sk.make_stream_pipeline)
    ]
    for search in found:
        search.fit(X, y)
    first, second = (search.cv_results_ for search in found)
    np.testing.assert_array_equal(first["mean_test_score"], second["mean_test_score"])
    assert found[0].best_params_ == found[1].best_params_
    np.testing.assert_array_equal(*(search.predict(X) for search in found))


def test_in_searches_of_scikit_learn():
    scores = [
        GridSearchCV(
            make(MinMaxScaler(), BernoulliNB()),  # whose fit is one partial_fit
            {"bernoullinb__alpha": [0.1, 1.0], "bernoullinb__binarize": [0.3, 0.5]},
            scoring=sk.prequential_scorer("kappa"),
            cv=sk.PrequentialSplit(50, n_splits=3),
        )
        .fit(X, y)
        .cv_results_["mean_test_score"]
        for make in (make_pipeline, sk.make_stream_pipeline)
    ]
    np.testing.assert_array_equal(*scores)


def test_live_saved_and_in_predictions(tmp_path):
    stream, answers = make_demo_stream(200), []
    for make in (make_pipeline, sk.make_stream_pipeline):
        model = make(StandardScaler(), SGDClassifier())
        evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
        run = evaluator.start(model, classes=stream.classes)
        run.update(stream.X[:90], stream.y[:90])
        run.save(tmp_path / "run")
        run = sk.load_run(tmp_path / "run")
        run.update(stream.X[90:], stream.y[90:])
        made = sk.prequential_predict(clone(model).set_params(sgdclassifier__random_state=0), X, y)
        answers.append((run.result().scores, made.tolist()))
    assert answers[0] == answers[1]


def test_what_it_has_learnt_goes_on_with_a_warm_start():
    given = make_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(X[:50], y[:50])
    before = content(given)
    evaluator = sk.PrequentialEvaluator("accuracy", n_warmup=0, random_state=0)
    result = evaluator.evaluate(given, X[50:], y[50:], warm_start=True, return_models=True)
    assert content(given) == before
    scale, model = (step for _, step in pickle.loads(pickle.dumps(given)).steps)
    for row in range(50, len(y)):
        one, label = X[row : row + 1], y[row : row + 1]
        assert (
            model.predict(scale.transform(one))
            == result.tape.classes[result.tape.answers["StreamPipeline"].ravel()[row - 50]]
        )
        model.partial_fit(scale.partial_fit(one).transform(one), label)
    np.testing.assert_array_equal(result.models["StreamPipeline"][-1].coef_, model.coef_)


def test_a_refit_keeps_fitting_the_pipeline_as_a_whole():
    refit = sk.PeriodicRefit(make_pipeline(SimpleImputer(), LogisticRegression()), every=40)
    refit.partial_fit(X, y, classes=np.unique(y))
    assert type(refit.estimator_) is Pipeline
    before = sk.PeriodicRefit(LogisticRegression(), every=40, before=make_pipeline(SGDClassifier()))
    assert len(before.partial_fit(X[:9], y[:9], classes=np.unique(y)).predict(X)) == len(X)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([("fill", SimpleImputer()), ("sgd", SGDClassifier())], "Step 'fill': SimpleImputer"),
        ([("scale", StandardScaler()), ("log", LogisticRegression())], "Step 'log': LogisticReg"),
        (
            [("a", make_pipeline(SimpleImputer(), StandardScaler())), ("sgd", SGDClassifier())],
            "Step 'simpleimputer': SimpleImputer cannot be trained",
        ),
        ([("scale", StandardScaler())], "StandardScaler, the last step of this .*Pipeline, has no"),
        ([StandardScaler(), SGDClassifier()], "a pair of a name and an estimator"),
        ([], "The pipeline is empty"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda one: one, WRAPPERS[0]])
@pytest.mark.parametrize("fitted", [False, True])
def test_what_cannot_learn_is_refused_by_name(steps, message, wrap, fitted):
    pipeline = Pipeline(steps)
    if fitted and isinstance(next(iter(steps), None), tuple):
        pipeline.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
            sk.PrequentialEvaluator("accuracy").evaluate(wrap(pipeline), X, y)


@pytest.mark.parametrize(
    "text",
    [
        "make_pipeline(scaler, sgd)",
        "Pipeline('scaler', sgd)",
        "sklearn.pipeline:make_pipeline('scaler', 'sgd')",
    ],
)
def test_on_the_command_line(text):
    expected = sk.make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss"))
    assert repr(model_of(text)) == repr(expected)
    assert repr(model_of(f"corrected({text!r})").estimator) == repr(expected)
