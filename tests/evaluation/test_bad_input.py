"""Rows that no model can compute with: one sentence each, and nothing lost."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.preprocessing import StreamImputer, StreamOneHotEncoder

pandas = pytest.importorskip("pandas")

rng = np.random.default_rng(0)
LABELS = rng.integers(0, 2, 20)
NUMBERS = pandas.DataFrame({"x": rng.normal(size=20), "z": rng.normal(size=20)})
FRAME = NUMBERS.assign(c=rng.choice(list("abc"), 20))
SGD = SGDClassifier(random_state=0)
PARTS = [("n", StandardScaler(), ["x", "z"]), ("c", StreamOneHotEncoder(max_categories=5), ["c"])]
MIXED = sk.make_stream_pipeline(ColumnTransformer(PARTS), SGD)


def with_cell(frame, row, name, value):
    changed = frame.astype(object)
    changed.loc[row, name] = value
    return changed


CONTAINERS = {
    "frame": lambda X: X,
    "polars": lambda X: pytest.importorskip("polars").DataFrame(
        {name: X[name].tolist() for name in X}, strict=False
    ),
    "array": lambda X: X.to_numpy(),
    "list": lambda X: X.to_numpy().tolist(),
}


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("container", ["frame", "array", "list"])
@pytest.mark.parametrize("value", ["bad", "", "'", np.str_("1,5")])
def test_a_text_among_numbers_is_named(container, value, engine):
    X = CONTAINERS[container](with_cell(NUMBERS, 13, "z", value))
    with pytest.raises(
        sk.ModelError, match=r"predicting row 13: ValueError: .*could not conv"
    ) as error:
        sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(kernels=engine == "auto")).evaluate(
            SGD, X, LABELS
        )
    assert error.value.row == 13
    assert error.value.result.checkpoints[-1] == 13  # nothing is lost


@pytest.mark.parametrize("evaluator", [sk.PrequentialEvaluator, sk.DelayedEvaluator])
def test_a_text_among_numbers_of_mixed_columns_is_named(evaluator):
    delay = {"delay": 2} if evaluator is sk.DelayedEvaluator else {}
    with pytest.raises(sk.ModelError, match=r"row 13: .*'bad'"):
        evaluator("accuracy", **delay).evaluate(MIXED, with_cell(FRAME, 13, "z", "bad"), LABELS)


def test_the_row_of_a_batch_is_named():
    X = with_cell(NUMBERS, 13, "z", "bad")
    with pytest.raises(sk.ModelError, match=r"rows 11 to 15: .*'bad'"):
        sk.PrequentialEvaluator("accuracy", batch_size=5).evaluate(SGD, X, LABELS)


@pytest.mark.parametrize("value", [np.nan, None, np.inf, -np.inf])
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_row_of_a_number_that_is_not_finite_is_named(container, value):
    X = CONTAINERS[container](with_cell(NUMBERS, 13, "z", value).astype(float))
    kind = "infinity" if np.isinf(value or 0.0) else "NaN"
    with pytest.raises(sk.ModelError, match=f"row 13: ValueError: Input X contains {kind}"):
        sk.PrequentialEvaluator("accuracy").evaluate(SGD, X, LABELS)


def test_the_row_of_dates_is_named():
    X = NUMBERS.assign(z=pandas.date_range("2020", periods=20))
    with pytest.raises(sk.ModelError, match="training on row 0: "):
        sk.PrequentialEvaluator("accuracy").evaluate(SGD, X, LABELS)


def test_an_all_missing_column():
    gaps = NUMBERS.assign(z=np.nan)
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    with pytest.raises(sk.ModelError, match=r"training on row 0: .*NaN"):
        evaluator.evaluate(SGD, gaps, LABELS)
    evaluator.evaluate(sk.make_stream_pipeline(StreamImputer(), SGD), gaps, LABELS)
    evaluator.evaluate(MIXED, FRAME.assign(c=None), LABELS)


def test_columns_in_another_order():
    message = r"column 0 is 'z', but it was 'x'.*same order, as X\[\['x', 'z'\]\] has them"
    parts = [(NUMBERS[:10], LABELS[:10]), (NUMBERS[10:][["z", "x"]], LABELS[10:])]
    with pytest.raises(ValueError, match=message) as error:
        sk.PrequentialEvaluator("accuracy").evaluate(SGD, parts, classes=[0, 1])
    assert error.value.result.checkpoints[-1] == 10
    run = sk.PrequentialEvaluator("accuracy").start(SGD, classes=[0, 1])
    run.update(*parts[0])
    with pytest.raises(ValueError, match=message):
        run.update(*parts[1])
    run.update(NUMBERS[10:], LABELS[10:])
    assert run.n_rows == 20
    with pytest.raises(ValueError, match=r"in the same order\.$"):
        run.update(NUMBERS.set_axis(["x", "w"], axis=1), LABELS)


def test_two_columns_of_one_name():
    message = "Columns 0 and 1 of X have the same name, 'x'"
    with pytest.raises(ValueError, match=message):
        sk.as_stream(FRAME.set_axis(["x", "x", "c"], axis=1), LABELS)
    run = sk.PrequentialEvaluator("accuracy").start(SGD, classes=[0, 1])
    with pytest.raises(ValueError, match=message):
        run.update(NUMBERS.set_axis(["x", "x"], axis=1), LABELS)


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_a_category_that_turns_number(engine):
    evaluator = sk.PrequentialEvaluator(
        "accuracy", random_state=0, run=sk.RunOptions(kernels=engine == "auto")
    )
    later = FRAME[10:].assign(c=np.arange(10))
    with pytest.raises(
        sk.ModelError, match=r"row 10: .*Column 'c' holds 0, a number, but earlier rows had"
    ):
        evaluator.evaluate(MIXED, [(FRAME[:10], LABELS[:10]), (later, LABELS[10:])], classes=[0, 1])
    whole = [(FRAME[:10].astype({"c": "category"}), LABELS[:10]), (FRAME[10:], LABELS[10:])]
    expected = evaluator.evaluate(MIXED, FRAME, LABELS).scores
    assert evaluator.evaluate(MIXED, whole, classes=[0, 1]).scores == expected


# -- chunks of no row, rows without their second dimension, and texts where lists belong


X, y = rng.normal(size=(20, 3)), np.array(["down", "up"] * 10)


def live(evaluator=sk.PrequentialEvaluator, model=None, classes=("down", "up")):
    model = SGDClassifier(random_state=0) if model is None else model
    return evaluator("accuracy" if classes else "mae").start(model, classes=classes)


def test_a_row_without_its_second_dimension_gets_advice_for_both_meanings():
    message = r"reshape\(1, -1\) if these are .* one row \(3 features\).*reshape\(-1, 1\)"
    with pytest.raises(ValueError, match=message):
        live().update(X[0], y[:1])
    with pytest.raises(ValueError, match=message):
        sk.as_stream(X[0], y[:3])


def test_a_text_is_never_read_letter_by_letter():
    with pytest.raises(TypeError, match=r"y is the text 'up'.*pass \['up'\]"):
        live().update(X[:1], "up")
    with pytest.raises(TypeError, match="y is the text 'ab'"):
        live(classes=["a", "b"]).update(X[:2], "ab")
    with pytest.raises(TypeError, match="y is the text b'ab'"):
        sk.as_stream(X[:2], b"ab")
    with pytest.raises(TypeError, match="id is the text 'ab'"):
        sk.as_stream(X[:2], y[:2], id="ab")
    with pytest.raises(TypeError, match="classes is the text 'ab'"):
        live(classes="ab")


def test_a_text_is_no_list_of_ids_or_labels_in_delayed_runs():
    run = live(sk.DelayedEvaluator, classes=["a", "b"])
    with pytest.raises(ValueError, match="ids is 'pq', which is one id"):
        run.ask(X[:2], "pq")
    run.ask(X[:2], ["p", "q"])
    with pytest.raises(ValueError, match="ids is 'pq', which is one id"):
        run.label("pq", ["a", "b"])
    with pytest.raises(TypeError, match="y is the text 'ab'"):
        run.label(["p", "q"], "ab")
    with pytest.raises(ValueError, match=r"sample_weight\[1\] is 'heavy', which is not a number"):
        run.label(["p", "q"], ["a", "b"], sample_weight=[1, "heavy"])
    assert run.label(["p", "q"], ["a", "b"]).n_rows == 2


@pytest.mark.parametrize("wrong", [None, 5])
def test_one_value_is_no_list_of_labels(wrong):
    with pytest.raises(TypeError, match=f"y is {wrong}.*one value per row"):
        live().update(X[:1], wrong)
    run = live(sk.DelayedEvaluator, SGDRegressor(), classes=None)
    run.ask(X[:1], ["p"])
    with pytest.raises(TypeError, match=f"y is {wrong}.*one value per row"):
        run.label(["p"], wrong)


# -- messages for arguments that are not what was meant: models, workers, classes


rows = rng.normal(size=(60, 3))
halves, thirds = np.arange(60) % 2, np.arange(60) % 3


@pytest.mark.parametrize("models", ["sgd", ["sgd"], {"sgd": "sgd"}])
def test_a_text_in_place_of_a_model_is_named(models):
    with pytest.raises(TypeError, match=r"is the text 'sgd', but a model is an estimator.*command"):
        sk.PrequentialEvaluator().evaluate(models, rows, halves)


def test_classes_of_mixed_types_are_not_blamed_on_y():
    mixed = ["up", 1, "down"]
    with pytest.raises(TypeError, match="The labels in classes cannot be sorted"):
        sk.PrequentialEvaluator().evaluate(SGDClassifier(), rows, halves, classes=mixed)
    with pytest.raises(TypeError, match="The labels in classes cannot be sorted"):
        sk.PrequentialEvaluator().start(SGDClassifier(), classes=mixed)
    with pytest.raises(TypeError, match="The labels in classes cannot be sorted"):
        sk.prequential_predict(SGDClassifier(), rows, halves, classes=mixed)
    with pytest.raises(ValueError, match="classes has no labels"):
        sk.PrequentialEvaluator().evaluate(SGDClassifier(), rows, halves, classes=[])
    with pytest.raises(ValueError, match=r"y contains the number 0\.5"):
        sk.PrequentialEvaluator().evaluate(SGDClassifier(), rows, halves + 0.5)


@pytest.mark.filterwarnings("ignore:Model 'm' trains GaussianNB")
@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(random_state=0).fit(rows, thirds),
        GaussianNB().fit(rows, thirds),
        sk.make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(rows, thirds),
        FrozenEstimator(GaussianNB().fit(rows, thirds)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fitted_model_of_more_classes_is_refused_before_the_first_row(model):
    evaluator = sk.PrequentialEvaluator("accuracy")
    message = r"with the classes \[0, 1, 2\], and may predict \[2\].*Pass classes=\[0, 1, 2\]"
    with pytest.raises(ValueError, match=message):
        evaluator.evaluate({"m": model}, rows, halves, warm_start=True)
    with pytest.raises(ValueError, match=message):
        evaluator.start({"m": model}, classes=[0, 1], warm_start=True)
    result = evaluator.evaluate({"m": model}, rows, halves, classes=[0, 1, 2], warm_start=True)
    assert len(result.predictions("m", every_row=True)) == 60


def test_fitted_models_of_the_same_or_no_classes_start_warm():
    evaluator = sk.PrequentialEvaluator()
    evaluator.evaluate(
        SGDClassifier(random_state=0).fit(rows, halves), rows, halves, warm_start=True
    )
    evaluator.evaluate(
        SGDRegressor(random_state=0).fit(rows, halves), rows, halves, warm_start=True
    )


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("scaled", [False, True])
def test_probabilities_that_a_loss_does_not_have_name_the_loss(engine, scaled):
    model = SGDClassifier(random_state=0)
    if scaled:
        model = sk.make_stream_pipeline(StandardScaler(), model)
    with pytest.raises(sk.ModelError, match=r"row 1: .*not available for loss='hinge'"):
        sk.prequential_predict(
            model, rows, halves, method="predict_proba", kernels=engine == "auto"
        )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_gaussian_nb_without_an_answer_is_named_with_its_row(engine, scaled):
    model = sk.make_stream_pipeline(StandardScaler(), GaussianNB()) if scaled else GaussianNB()
    with pytest.raises(sk.ModelError, match=r"row 1: its prediction was missing"):
        sk.prequential_predict(
            model, np.round(rows), halves, method="predict_proba", kernels=engine == "auto"
        )


@pytest.mark.parametrize("model", [SGDClassifier(), SGDRegressor()])
def test_predictions_of_no_row_warn(model):
    with pytest.warns(UserWarning, match=r"No row was predicted.*first 100 rows.*but only 60 came"):
        assert len(sk.prequential_predict(model, rows, halves, n_warmup=100)) == 0
    with pytest.warns(UserWarning, match=r"No row was predicted.*all 60 weights are 0"):
        assert len(sk.prequential_predict(model, rows, halves, sample_weight=np.zeros(60))) == 0
    with pytest.warns(UserWarning, match=r"No row was predicted.*but only 1 came"):
        unlabelled = np.array([1.0] + [np.nan] * 59)
        options = {"missing_labels": "skip", "n_warmup": 2, "classes": [0, 1]}
        sk.prequential_predict(model, rows, unlabelled, **options)


@pytest.mark.parametrize(
    "evaluator", [sk.PrequentialEvaluator("accuracy"), sk.DelayedEvaluator("accuracy", delay=1)]
)
def test_weights_that_are_all_zero_are_the_reason_given(evaluator):
    with pytest.warns(UserWarning, match=r"No row was scored.*all 60 weights are 0"):
        evaluator.evaluate(SGDClassifier(), rows, halves, sample_weight=np.zeros(60))


def test_options_that_a_test_does_not_have():
    result = sk.PrequentialEvaluator("accuracy").evaluate(
        {"a": sk.Persistent(), "b": sk.MajorityClass()}, np.zeros((50, 1)), np.arange(50) % 3
    )
    with pytest.raises(TypeError, match=r"'anytime' has no option 'alfa'. Did you mean 'alpha'\?"):
        result.compare("a", "b", alfa=0.1)
    with pytest.raises(TypeError, match=r"rank\(\) has no option 'zero'.* Options: alpha, higher"):
        result.rank(result, zero=1)
    with pytest.raises(TypeError, match="one by one"):
        result.rank([result])


def test_bounds_that_do_not_hold_name_the_model_and_the_row():
    halves = np.zeros(60)
    halves[50] = 30.0
    weight = np.ones(60)
    weight[:20] = 0
    result = sk.PrequentialEvaluator("mae").evaluate(
        {"p": sk.PersistentRegressor(), "m": sk.MeanRegressor()},
        np.zeros((60, 1)),
        halves,
        sample_weight=weight,
    )
    with pytest.raises(ValueError, match=r"absolute error of 'p' in row 51 is 30, outside bounds"):
        result.compare("p", "m", bounds=(0, 20))


def test_arrays_of_arrow_are_labels(pa):
    halves = ["b", "a", "a"] * 10
    evaluator = sk.PrequentialEvaluator("accuracy")
    rows = np.zeros((30, 1))
    scores = evaluator.evaluate(sk.Persistent(), rows, pa.array(halves)).scores
    assert scores == evaluator.evaluate(sk.Persistent(), rows, halves).scores


@pytest.mark.parametrize(
    "kind", [sk.PrequentialEvaluator, sk.KFoldEvaluator, sk.HoldoutEvaluator, sk.DelayedEvaluator]
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
    if kind is sk.HoldoutEvaluator and "forgetting" in words:
        words = ""  # each set of held-out rows is scored on its own
    with pytest.raises(TypeError, match=f"{kind.__name__} has no parameter .*{words}"):
        kind(**given)
    with pytest.raises(ValueError, match=f"{kind.__name__} has no parameter .*{words}"):
        kind(**{"holdout": "next"} if kind is sk.HoldoutEvaluator else {}).set_params(**given)


@pytest.mark.parametrize(
    ("kind", "given", "owner"),
    [
        (sk.PrequentialEvaluator, {"n_folds": 3}, "KFoldEvaluator"),
        (sk.KFoldEvaluator, {"delay": 3}, "DelayedEvaluator"),
        (sk.DelayedEvaluator, {"holdout": "next"}, "HoldoutEvaluator"),
        (sk.HoldoutEvaluator, {"n_folds": 3}, "KFoldEvaluator"),
    ],
)
def test_a_parameter_of_another_evaluator_names_it(kind, given, owner):
    with pytest.raises(TypeError, match=rf"has no parameter .*\. {owner} has it\.$"):
        kind(**given)


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"label_time": [1, 2]}, r"Pass it to evaluate of a DelayedEvaluator\."),
        ({"delay": "3D"}, r"Pass it to the evaluator, as in DelayedEvaluator\(delay=\.\.\.\)"),
        ({"target": "y"}, r"Pass streams\.as_stream\(frame, target='y'\) as the stream"),
        ({"sampleweight": [1, 2]}, r"Did you mean 'sample_weight'\?"),
        ({"forgetting": "adwin"}, r"Pass it to the evaluator, as in PrequentialEvaluator\(forge"),
    ],
)
def test_an_argument_of_another_call_names_it(given, advice):
    (name,) = given
    for kind in (sk.KFoldEvaluator, sk.PrequentialEvaluator):
        with pytest.raises(TypeError, match=f"^evaluate has no parameter '{name}'. {advice}"):
            kind("accuracy").evaluate(sk.MajorityClass(), [[0.0], [1.0]], [0, 1], **given)


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        ([("nb", GaussianNB())], r"Pass models with names as a dict: {'name': model"),
        (GridSearchCV(GaussianNB(), {}), r"use skstream\.PrequentialSearch"),
        (RandomForestClassifier(), r"Use a model with partial_fit, or else\n- to refit it"),
    ],
)
def test_what_is_no_model_of_a_stream_names_the_way(model, advice):
    with pytest.raises(TypeError, match=advice):
        sk.PrequentialEvaluator().evaluate(model, [[0.0], [1.0]], [0, 1])


def test_many_whole_numbers_as_labels_are_named():
    evaluator, amounts = sk.PrequentialEvaluator("accuracy"), np.arange(1200) % 101
    X = np.zeros((1200, 1))
    with pytest.warns(UserWarning, match="labels are 101 different whole numbers.* regressors"):
        evaluator.evaluate(sk.MajorityClass(), X, amounts)
    evaluator.evaluate(sk.MajorityClass(), X, amounts, classes=np.arange(101))
    for few in (amounts % 100, amounts.astype(str)):
        evaluator.evaluate(sk.MajorityClass(), X, few)
    evaluator.evaluate(sk.MajorityClass(), X[:50], amounts[:50])
