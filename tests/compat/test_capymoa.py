"""CapyMOA's learners, by its interface in plain Python, and where it is installed the real ones."""

import pickle
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.compat import CapyMOAClassifier, from_capymoa
from skstream.compat._capymoa import CapyMOARegressor
from tests.compat import _fake_capymoa as fake

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 3)).round(1)
X[RNG.random(X.shape) < 0.05] = np.nan
Y = RNG.choice(["down", "same", "up"], N)
CLASSES = np.unique(Y)
CODES = np.searchsorted(CLASSES, Y)


@pytest.fixture(autouse=True)
def capymoa(monkeypatch):
    for name, module in fake.modules().items():
        monkeypatch.setitem(sys.modules, name, module)


def bare_loop(learner, vectors, targets, make=fake.LabeledInstance, weights=None):
    answers = []
    for number, (x, y) in enumerate(zip(vectors, targets, strict=True)):
        if number:
            answers.append(learner.predict(fake.Instance.from_array(learner.schema, x)))
        instance = make.from_array(learner.schema, x, y)
        if weights is not None:
            instance.java_instance.setWeight(weights[number])
        learner.train(instance)
    return answers


def schema_of(n, categories=None, classes=CLASSES):
    return fake.Schema.from_custom([*map(str, range(n)), "t"], "t", {"t": list(classes)})


def test_answers_are_those_of_a_bare_loop() -> None:
    expected = CLASSES[bare_loop(fake.NearestClassifier(schema_of(3)), X, CODES)]
    for engine in ("auto", "loop"):
        for learner in (
            fake.NearestClassifier,
            fake.NearestClassifier(schema_of(9)),
            from_capymoa(fake.NearestClassifier),
        ):
            result = sk.PrequentialEvaluator(
                "accuracy", run=sk.RunOptions(kernels=engine == "auto")
            ).evaluate(learner, X, Y)
            np.testing.assert_array_equal(
                result.predictions("NearestClassifier", every_row=True)[1:].astype(str), expected
            )
    paths = sk.PrequentialEvaluator("accuracy").evaluate(fake.NearestClassifier, X, Y).paths
    assert "adapted by from_capymoa" in paths["NearestClassifier"]
    rows = sparse.csr_array(np.nan_to_num(X))
    np.testing.assert_array_equal(
        sk.prequential_predict(fake.NearestClassifier, rows, Y),
        sk.prequential_predict(fake.NearestClassifier, rows.toarray(), Y),
    )


def test_regressors() -> None:
    target = np.nan_to_num(X[:, 0])
    learner = fake.NearestRegressor(fake.Schema(["0", "1", "2", "t"], "t", {}))
    expected = bare_loop(learner, X, target, fake.RegressionInstance)
    model = from_capymoa(fake.NearestRegressor)
    assert isinstance(model, CapyMOARegressor)
    assert sk.prequential_predict(model, X, target).tolist() == expected


def test_every_evaluator_calls_it_as_the_loop_does() -> None:
    for make in (
        lambda engine: sk.KFoldEvaluator(
            "accuracy", n_folds=2, random_state=0, run=sk.RunOptions(kernels=engine == "auto")
        ),
        lambda engine: sk.DelayedEvaluator(
            "accuracy", delay=5, run=sk.RunOptions(kernels=engine == "auto")
        ),
        lambda engine: sk.PrequentialEvaluator(
            "accuracy", batch_size=7, run=sk.RunOptions(kernels=engine == "auto")
        ),
    ):
        direct, loop = (
            make(engine).evaluate({"m": fake.NearestClassifier}, X, Y)
            for engine in ("auto", "loop")
        )
        np.testing.assert_array_equal(direct.curve("m"), loop.curve("m"))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_and_categories_make_the_schema(library) -> None:
    frames = pytest.importorskip(library)
    colours = ["red", "blue", "green"]
    data = {"size": [1.5, 2.5] * 6, "colour": [*colours, None] * 3, "target": [0, 1, 2] * 4}
    frame = frames.DataFrame(data)
    y = ["a", "b"] * 6
    with pytest.raises(ValueError, match=r"Column 'colour' holds texts.*categories="):
        from_capymoa(fake.NearestClassifier).fit(frame, y)
    with pytest.raises(ValueError, match="categories names 'color', but the columns are"):
        from_capymoa(fake.NearestClassifier, categories={"color": colours}).fit(frame, y)
    model = from_capymoa(fake.NearestClassifier, categories={"colour": colours[:2]}).fit(frame, y)
    schema = model.model_.schema
    assert schema.features == ["size", "colour", "target ", "target"]
    assert schema.categories == {"colour": ["red", "blue"], "target": ["a", "b"]}
    vectors = np.array([x for x, _, _ in model.model_.rows])
    np.testing.assert_array_equal(vectors[:4, 1], [0, 1, np.nan, np.nan])
    if library == "pandas":
        frame["colour"] = frames.Categorical(frame["colour"], categories=colours)
    else:
        frame = frame.with_columns(frames.col("colour").cast(frames.Enum(colours)))
    model = from_capymoa(fake.NearestClassifier).fit(frame, y)
    assert model.model_.schema.categories["colour"] == colours
    again = sk.prequential_predict(from_capymoa(fake.NearestClassifier), frame, y)
    assert set(again.tolist()) <= {"a", "b"}


def test_copies_seeds_and_parameters() -> None:
    used = fake.NearestClassifier(schema_of(3), random_seed=5, grace=2)
    used.train(fake.LabeledInstance.from_array(used.schema, X[0], 0))
    model = from_capymoa(used)
    assert model.learner is fake.NearestClassifier and model.params == {"grace": 2}
    fitted = clone(model).fit(X, Y).model_
    assert fitted.random_seed == 5 and fitted.grace == 2 and len(fitted.rows) == N
    assert len(used.rows) == 1
    with pytest.raises(sk.ModelError, match="prediction was missing"):
        sk.PrequentialEvaluator("accuracy").evaluate(model, X, Y)
    seeds = set()
    for seed in (1, 1, 2):
        result = sk.PrequentialEvaluator("accuracy", random_state=seed).evaluate(
            {"m": fake.NearestClassifier}, X, Y, return_models=True
        )
        seeds.add(result.models["m"].model_.random_seed)
    assert len(seeds) == 2 and max(seeds) < 2**31


def test_weights() -> None:
    weights = RNG.integers(1, 4, N) / 2
    expected = bare_loop(fake.NearestClassifier(schema_of(3)), X, CODES, weights=weights)
    result = sk.PrequentialEvaluator("accuracy").evaluate(
        {"m": fake.NearestClassifier}, X, Y, sample_weight=weights
    )
    assert result.predictions("m", every_row=True)[1:].tolist() == CLASSES[expected].tolist()
    assert len(from_capymoa(fake.PlainClassifier).fit(X, Y, np.full(N, 2)).model_.rows) == 2 * N
    with pytest.raises(ValueError, match=r"PlainClassifier takes no weights.*a weight is 0\.5"):
        from_capymoa(fake.PlainClassifier).fit(X, Y, np.full(N, 0.5))


def test_probabilities_and_meta_classifiers() -> None:
    model = from_capymoa(fake.NearestClassifier).fit(X, Y)
    assert model.predict_proba(X).shape == (N, 3)
    silent = CapyMOAClassifier(fake.NearestClassifier, params={"grace": 99}).fit(X, Y)
    assert np.isnan(silent.predict_proba(X)).all() and set(silent.predict(X)) == {None}
    corrected = sk.TemporalCorrection(from_capymoa(fake.NearestClassifier))
    auto, loop = (
        sk.prequential_predict(corrected, X, Y, kernels=e == "auto") for e in ("auto", "loop")
    )
    np.testing.assert_array_equal(auto, loop)
    with pytest.raises(TypeError, match=r"NearestClassifier.*from_capymoa"):
        sk.TemporalCorrection(fake.NearestClassifier(schema_of(3))).fit(X, Y)


def test_a_run_is_pickled_and_goes_on(tmp_path) -> None:
    model = from_capymoa(fake.NearestClassifier)
    whole = sk.prequential_predict(model, X, Y)
    run = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True)).start(
        model, classes=CLASSES
    )
    run.update(X[:25], Y[:25])
    run.save(tmp_path / "run")
    run = sk.load_run(tmp_path / "run")
    run.update(X[25:], Y[25:])
    assert (
        run.result().predictions("NearestClassifier", every_row=True)[1:].tolist() == whole.tolist()
    )
    fitted = pickle.loads(pickle.dumps(model.fit(X, Y)))
    assert fitted.predict(X).tolist() == model.predict(X).tolist()


def test_what_is_not_taken() -> None:
    with pytest.raises(ValueError, match="X contains raw texts"):
        from_capymoa(fake.NearestClassifier).fit(["up and up", "down"], ["a", "b"])
    for other in (SGDClassifier, SGDClassifier(), 3):
        with pytest.raises(TypeError, match=r"a CapyMOA classifier or regressor\. Got"):
            from_capymoa(other)


@pytest.mark.skipif(find_spec("capymoa") is None, reason="CapyMOA is not installed")
def test_the_real_ones(monkeypatch) -> None:
    """MOA's trees, forest and naive Bayes answer as in CapyMOA's own loop."""
    for name in fake.CONTENTS:
        monkeypatch.delitem(sys.modules, name)
    classifier = pytest.importorskip("capymoa.classifier", reason="it needs Java")
    streams, regressor = (
        pytest.importorskip("capymoa.stream"),
        pytest.importorskip("capymoa.regressor"),
    )
    data = RNG.normal(size=(400, 3))
    codes = np.digitize(data[:, 0], [-0.5, 0.5])
    for kind, params in (
        (classifier.HoeffdingTree, {"grace_period": 50}),
        (classifier.NaiveBayes, {}),
        (classifier.AdaptiveRandomForestClassifier, {"ensemble_size": 3}),
    ):
        stream = streams.NumpyStream(data, codes)
        learner, expected = kind(stream.get_schema(), random_seed=1, **params), []
        for instance in stream:
            expected.append(learner.predict(instance))
            learner.train(instance)
        model = CapyMOAClassifier(kind, params=params, random_state=1)
        result = sk.PrequentialEvaluator("accuracy", unanswered="wrong").evaluate(
            {"m": model}, data, codes
        )
        assert result.predictions("m", every_row=True)[1:].tolist() == expected[1:]
        fitted = model.fit(data, codes)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(data), fitted.predict(data))
    sk.prequential_predict(regressor.FIMTDD, data, data[:, 1])


@pytest.mark.parametrize("kind", [CapyMOAClassifier, CapyMOARegressor])
@pytest.mark.parametrize("name", ["random_seed", "schema"])
def test_what_the_adapter_passes_on_itself_is_no_parameter(kind, name) -> None:
    learner = {CapyMOAClassifier: fake.NearestClassifier, CapyMOARegressor: fake.NearestRegressor}
    model = kind(learner[kind], params={name: 1})
    with pytest.raises(ValueError, match=f"params holds '{name}'.*random_state=.*Leave it out"):
        model.fit(X, CODES.astype(float) if kind is CapyMOARegressor else Y)
    with pytest.raises(ValueError, match=f"params holds '{name}'"):
        sk.PrequentialEvaluator().evaluate(model, X, CODES / 2 if kind is CapyMOARegressor else Y)
