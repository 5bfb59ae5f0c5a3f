"""Models that do not derive from scikit-learn's base class."""

import threading
import warnings
from unittest.mock import MagicMock

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.base import learner
from skstream.testing import check_stream_estimator
from skstream.utils._validation import is_classifier, is_fitted, is_regressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = RNG.choice(["down", "up"], 40)


class Counter:
    """Classifier with ``partial_fit`` and ``predict``, and nothing else."""

    def __init__(self, start=0):
        self.counts = {}
        self.start = start

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.counts = dict.fromkeys(classes, self.start)
        for label in y:
            self.counts[label] += 1
        return self

    def predict(self, X):
        best = max(sorted(self.counts), key=self.counts.get)
        return np.array([best] * len(X))

    def predict_proba(self, X):
        shares = np.array([self.counts[label] for label in sorted(self.counts)], float) + 1
        return np.tile(shares / shares.sum(), (len(X), 1))


class Mean(RegressorMixin):
    """Regressor by its mixin alone."""

    total = n = 0.0

    def partial_fit(self, X, y):
        self.total, self.n = self.total + np.sum(y), self.n + len(y)

    def predict(self, X):
        return np.full(len(X), self.total / self.n)


class OldRegressor(Mean):
    __slots__ = ()
    _estimator_type = "regressor"


class Centre:
    """Transformer without a base class."""

    def __init__(self):
        self.sum, self.n = 0.0, 0

    def partial_fit(self, X, y=None):
        self.sum, self.n = self.sum + X.sum(axis=0), self.n + len(X)
        return self

    def transform(self, X):
        return X - self.sum / self.n


class OnlyMixin(ClassifierMixin, Counter):
    """scikit-learn's tags fail here: its mixin stands before no base class."""


def majority_by_hand(classes=("down", "up")):
    model, answers = Counter().partial_fit(X[:1], Y[:1], classes=list(classes)), []
    for row in range(1, 40):
        answers.append(model.predict(X[[row]])[0])
        model.partial_fit(X[[row]], Y[[row]])
    return np.array(answers)


@pytest.mark.parametrize("model", [Counter(), OnlyMixin()])
def test_evaluators_take_them(model) -> None:
    expected = majority_by_hand()
    np.testing.assert_array_equal(sk.prequential_predict(model, X, Y), expected)
    for evaluator in (
        sk.PrequentialEvaluator("accuracy"),
        sk.DelayedEvaluator("accuracy", delay=0),
    ):
        scores = evaluator.evaluate({"m": model}, X, Y).scores
        assert scores["m"]["accuracy"] == np.mean(expected == Y[1:])
    sk.KFoldEvaluator("accuracy", n_folds=2).evaluate(model, X, Y)
    assert model.counts == {}  # a copy has learnt


def test_wrappers_and_pipelines_take_them() -> None:
    expected = majority_by_hand()
    for model in (
        sk.make_stream_pipeline(StandardScaler(), Counter()),
        sk.make_stream_pipeline(Centre(), Counter()),
        sk.TemporallyAugmented(Counter()),
        sk.DriftReset(Counter()),
        sk.LabelNoise(Counter(), noise=0.0),
        sk.LabelNoise(sk.make_stream_pipeline(Centre(), Counter()), noise=0.0),
    ):
        np.testing.assert_array_equal(sk.prequential_predict(model, X, Y), expected)
        assert is_classifier(model)
        clone(model).fit(X, Y).predict(X)
        sk.KFoldEvaluator("accuracy", n_folds=2).evaluate(model, X, Y)
    corrected = sk.TemporalCorrection(Counter()).fit(X, Y)
    assert corrected.predict_proba(X[:1]).shape == (1, 2)
    fitted = sk.make_stream_pipeline(Centre(), StandardScaler()).fit(X)
    np.testing.assert_allclose(fitted[0].transform(X).mean(axis=0), 0.0, atol=1e-12)


class WithoutClasses:
    """It learns labels as they come, answers with a list, and takes any keyword."""

    __slots__ = ("counts",)

    def __init__(self):
        self.counts = {}

    def partial_fit(self, X, y, /, **keywords):
        assert not keywords
        for label in y:
            self.counts[label] = self.counts.get(label, 0) + 1

    def predict(self, X):
        return [max(sorted(self.counts), key=self.counts.get)] * len(X)


def test_without_classes_they_go_on_after_a_checkpoint(tmp_path) -> None:
    expected = sk.prequential_predict(WithoutClasses(), X, Y).tolist()
    models = {"alone": WithoutClasses(), "in a pipeline": sk.make_stream_pipeline(WithoutClasses())}
    models["augmented"] = sk.TemporallyAugmented(WithoutClasses())
    evaluator = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True))
    run = evaluator.start(models, classes=["down", "up"])
    run.update(X[:20], Y[:20])
    run.save(tmp_path / "run")
    run = sk.load_run(tmp_path / "run")
    run.update(X[20:], Y[20:])
    folder = sk.PrequentialEvaluator(
        "accuracy", run=sk.RunOptions(checkpoint=tmp_path / "folder", keep_tape=True)
    )
    for result in (run.result(), folder.evaluate(models, X, Y)):
        for name in models:
            assert result.predictions(name, every_row=True)[1:].tolist() == expected


def test_what_they_are() -> None:
    assert is_classifier(Counter()) and is_classifier(OnlyMixin())
    assert is_regressor(Mean()) and is_regressor(OldRegressor())
    assert not is_classifier(Centre()) and not is_regressor(Centre())
    assert not is_fitted(Counter()) and not is_fitted(OnlyMixin())
    result = sk.PrequentialEvaluator("mae").evaluate(Mean(), X, X[:, 0])
    assert result.scores["Mean"]["mae"] > 0
    frozen = FrozenEstimator(Counter().partial_fit(X, Y, classes=["down", "up"]))
    assert is_classifier(frozen)
    learner(frozen)(X, Y, None, None)


class WithoutPredict:
    def partial_fit(self, X, y):
        pass


class WithoutPartialFit:
    def predict(self, X):
        return X


class OnlyProba(Counter):
    predict = property()


class OnlyDecision(OnlyProba):
    predict_proba = property()

    def decision_function(self, X):
        return np.zeros(len(X))


class NotCopied(Counter):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (WithoutPredict(), "WithoutPredict has no predict"),
        (WithoutPartialFit(), "WithoutPartialFit cannot learn .* no partial_fit"),
        (
            NotCopied(),
            r"NotCopied cannot be copied, because of its attribute 'lock' \(_thread.lock\).*"
            "deepcopy: make that possible",
        ),
        (OnlyProba(), r"OnlyProba.* has predict_proba but no predict.*argmax\(axis=1\)"),
        (OnlyDecision(), r"OnlyDecision.* has decision_function but no predict.*> 0"),
    ],
)
def test_what_they_lack_is_named(model, message) -> None:
    with pytest.raises((TypeError, sk.ModelError), match=f"Model 'm'.*{message}"):
        sk.PrequentialEvaluator("accuracy").evaluate({"m": model}, X, Y)
    for meta in (sk.TemporalCorrection, sk.TemporallyAugmented, sk.LabelNoise, sk.DriftReset):
        with pytest.raises(TypeError, match=type(model).__name__):
            meta(model).partial_fit(X, Y, classes=["down", "up"])
    pipeline = sk.make_stream_pipeline(Centre(), model)
    if isinstance(model, WithoutPartialFit | NotCopied):
        with pytest.raises(TypeError, match=message):
            pipeline.partial_fit(X, Y, classes=["down", "up"])
    for warm_start in (False, True):
        with pytest.raises((TypeError, sk.ModelError), match=f"Model 'm'.*{type(model).__name__}"):
            sk.PrequentialEvaluator("accuracy").evaluate(
                {"m": pipeline}, X, Y, warm_start=warm_start
            )
    with pytest.raises(TypeError, match=r"'m': WithoutPredict .* no method transform"):
        sk.StreamPipeline([("m", WithoutPredict()), ("n", Counter())]).fit(X, Y)
    with pytest.raises(TypeError, match=r"gives none.*Use a model with predict_proba"):
        sk.TemporalCorrection(sk.make_stream_pipeline(WithoutProba())).fit(X, Y)


class WithoutProba(Counter):
    predict_proba = property()


def test_stream_checks_name_what_is_missing() -> None:
    with pytest.raises(TypeError, match=r"Counter has no fit, get_params[.].*BaseEstimator"):
        check_stream_estimator(Counter())
    with pytest.raises(TypeError, match=r"Pass an instance, SGDClassifier\(\)"):
        check_stream_estimator(SGDClassifier)
    with pytest.raises(TypeError, match=r"StandardScaler is neither a classifier nor a regressor"):
        check_stream_estimator(StandardScaler())


class Knows(WithoutClasses):
    __slots__ = ()


class Drawn(Counter):
    """Two of them are never alike."""

    def __init__(self):
        super().__init__()
        self.own = np.random.default_rng().random()


class Hides(Counter):
    """What it was made with cannot be read from it."""

    def __init__(self, first=0):
        super().__init__(first)


def test_what_they_have_learnt_before_is_warned_of() -> None:
    evaluator = sk.PrequentialEvaluator("accuracy")
    learnt = Knows()
    learnt.partial_fit(X, Y)
    other = Counter(start=2)
    other.counts = {"down": 1, "up": 3}
    for model in (learnt, other):
        with pytest.warns(UserWarning, match=r"Model 'm' has no get_params.*warm_start=True"):
            evaluator.evaluate({"m": model}, X, Y)
    with pytest.warns(UserWarning, match=r"Model 'Knows' has no get_params"):
        sk.prequential_predict(learnt, X, Y)
    before = np.random.get_state()[2]
    hides = Hides(3)
    hides.counts = {"up": 1, "down": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (Knows(), Counter(start=2), Drawn(), hides, Mean()):
            measure = "mae" if isinstance(model, Mean) else "accuracy"
            sk.PrequentialEvaluator(measure).evaluate(model, X, X[:, 0] if measure == "mae" else Y)
        warm = sk.PrequentialEvaluator("accuracy", n_warmup=0, run=sk.RunOptions(keep_tape=True))
        result = warm.evaluate({"m": learnt}, X, Y, warm_start=True)
    assert np.random.get_state()[2] == before
    assert result.predictions("m", every_row=True)[0] == learnt.predict(X[:1])[0]


def test_what_parts_have_learnt_before_is_warned_of() -> None:
    """They are copied with what is around them, and keep it there, too."""
    learnt = Knows()
    learnt.partial_fit(X, Y)
    frozen = sk.make_stream_pipeline(FrozenEstimator(StandardScaler().fit(X)), Knows())
    for model in (
        sk.make_stream_pipeline(StandardScaler(), learnt),
        sk.TemporallyAugmented(learnt),
        sk.TemporallyAugmented(sk.make_stream_pipeline(StandardScaler(), learnt)),
    ):
        with pytest.warns(UserWarning, match=r"Knows inside model 'm' has no get_params"):
            sk.PrequentialEvaluator("accuracy").evaluate({"m": model}, X, Y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sk.PrequentialEvaluator("accuracy").evaluate({"m": model}, X, Y, warm_start=True)
            sk.PrequentialEvaluator("accuracy").evaluate({"m": frozen}, X, Y)


def test_what_parts_have_learnt_is_left_out_with_a_warning() -> None:
    """What is around them makes clones, which know nothing; unless it has learnt itself."""
    learnt = SGDClassifier(random_state=0).partial_fit(X, Y, classes=np.unique(Y))
    scaled = sk.make_stream_pipeline(StandardScaler(), learnt)
    warm = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True))
    for model in (scaled, sk.TemporallyAugmented(learnt)):
        with pytest.warns(UserWarning, match="SGDClassifier inside model 'm' is fitted, but the"):
            result = warm.evaluate({"m": model}, X, Y, warm_start=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            new = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True)).evaluate(
                {"m": model}, X, Y
            )
            warm.evaluate(
                {"m": clone(model).partial_fit(X, Y, classes=np.unique(Y))}, X, Y, warm_start=True
            )
            warm.evaluate({"m": learnt}, X, Y, warm_start=True)
        assert list(result.predictions("m", every_row=True)) == list(
            new.predictions("m", every_row=True)
        )


class Raises(Counter):
    def get_params(self, deep=True):
        raise RuntimeError("no file")


class Everything:
    """A proxy: whatever is asked for is a function."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Raises(), "RuntimeError: no file"),
        (Everything(), "get_params of Everything must return a dict, and returned 1 of type int"),
        (MagicMock(), "get_params of MagicMock must return a dict"),
    ],
)
def test_parameters_that_cannot_be_listed(model, message) -> None:
    with pytest.raises(sk.ModelError, match=f"Model 'm' failed while being copied: .*{message}"):
        sk.PrequentialEvaluator("accuracy").evaluate({"m": model}, X, Y)
