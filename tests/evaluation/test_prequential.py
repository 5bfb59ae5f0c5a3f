"""The prequential evaluator: what models see, and what users get."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.metrics import accuracy_score, mean_absolute_error
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import as_stream, make_demo_stream
from tests.evaluation._models import Breaks, Diary, Unweighted, numbered_rows

LABELS = np.array(["a", "b", "a", "a", "b", "b", "a", "b"])


def demo_rows(n_rows, random_state=0):
    stream = make_demo_stream(n_rows, random_state=random_state)
    return stream.X, stream.y


def calls_of(model, X, y, evaluator=None, **options):
    evaluator = evaluator or sk.PrequentialEvaluator("accuracy")
    result = evaluator.evaluate(model, X, y, return_models=True, **options)
    return result.models[type(model).__name__].calls_


def test_every_row_is_asked_then_learnt_one_at_a_time():
    calls = calls_of(Diary(), numbered_rows(4), LABELS[:4])
    assert [(what, rows) for what, rows, *_ in calls] == [
        ("learn", [0]),
        ("ask", [1]),
        ("learn", [1]),
        ("ask", [2]),
        ("learn", [2]),
        ("ask", [3]),
        ("learn", [3]),
    ]
    assert [labels for what, _, labels, _ in calls if what == "learn"] == [
        ["a"],
        ["b"],
        ["a"],
        ["a"],
    ]


def test_a_batch_is_asked_then_learnt_as_a_whole_and_close_flushes_the_rest():
    evaluator = sk.PrequentialEvaluator("accuracy", batch_size=3, n_warmup=2)
    calls = calls_of(Diary(), numbered_rows(7), LABELS[:7], evaluator)
    assert [(what, rows) for what, rows, *_ in calls] == [
        ("learn", [0, 1]),
        ("ask", [2, 3, 4]),
        ("learn", [2, 3, 4]),
        ("ask", [5, 6]),
        ("learn", [5, 6]),
    ]


def test_result_leaves_an_incomplete_batch_out():
    run = sk.PrequentialEvaluator("accuracy", batch_size=3, n_warmup=1).start(
        Diary(), classes=["a", "b"]
    )
    run.update(numbered_rows(6), LABELS[:6])
    assert run.result().n_rows == 4
    assert run.close().result().n_rows == 6
    with pytest.raises(RuntimeError, match="closed"):
        run.update(numbered_rows(1), LABELS[:1])


def test_weight_zero_is_asked_but_neither_learnt_nor_scored():
    weight = np.array([1.0, 1.0, 0.0, 2.0])
    evaluator = sk.PrequentialEvaluator("accuracy")
    result = evaluator.evaluate(
        Diary(), numbered_rows(4), LABELS[:4], sample_weight=weight, return_models=True
    )
    calls = result.models["Diary"].calls_
    assert [rows for what, rows, *_ in calls if what == "ask"] == [[1], [2], [3]]
    assert [(rows, w) for what, rows, _, w in calls if what == "learn"] == [
        ([0], [1.0]),
        ([1], [1.0]),
        ([3], [2.0]),
    ]
    # Row 1: answer a, truth b. Row 3 (weight 2): answer b, truth a.
    assert result.scores["Diary"]["accuracy"] == 0.0


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("chunk_size", [7, 60])
def test_weights_are_passed_in_every_call_or_in_none(engine, chunk_size, rng):
    X, weight = np.abs(rng.normal(size=(60, 3))), rng.choice([1.0, 0.5], 60)
    y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0.6).astype(int)
    model = sk.make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    literal, answers = clone(model), []
    for i in range(60):
        if i:
            answers.append(literal.predict(X[i : i + 1])[0])
        row = X[i : i + 1], y[i : i + 1], [0, 1] if i == 0 else None
        literal.partial_fit(*row, sample_weight=weight[i : i + 1])
    options = {"run": sk.RunOptions(kernels=engine == "auto", keep_tape=True)}
    stream = as_stream(X, y, sample_weight=weight, chunk_size=chunk_size)
    for evaluator in (sk.PrequentialEvaluator(**options), sk.DelayedEvaluator(delay=0, **options)):
        result = evaluator.evaluate({"m": model}, stream, return_models=True)
        assert result.predictions("m", every_row=True).reshape(60, -1)[1:, -1].tolist() == answers
        scaler = result.models["m"].pipeline_[0]
        assert scaler.n_samples_seen_ == literal.pipeline_[0].n_samples_seen_ == weight.sum()


def test_models_without_sample_weight_get_the_row_repeated():
    weight = np.array([1.0, 3.0, 1.0])
    calls = calls_of(Unweighted(), numbered_rows(3), LABELS[:3], sample_weight=weight)
    assert [rows for what, rows, *_ in calls if what == "learn"] == [[0], [1, 1, 1], [2]]
    with pytest.raises(sk.ModelError, match=r"row 1.*whole numbers"):
        calls_of(Unweighted(), numbered_rows(2), LABELS[:2], sample_weight=[1.0, 1.5])


def test_rows_without_a_label_are_an_error_or_only_asked():
    y = np.array(["a", None, "b", "a"], dtype=object)
    X = numbered_rows(4)
    with pytest.raises(ValueError, match=r"Row 1 has no label.*missing_labels"):
        sk.PrequentialEvaluator("accuracy").evaluate(Diary(), X, y)
    evaluator = sk.PrequentialEvaluator("accuracy", missing_labels="skip")
    result = evaluator.evaluate(Diary(), X, y, return_models=True)
    calls = result.models["Diary"].calls_
    assert [rows for what, rows, *_ in calls if what == "ask"] == [[1], [2], [3]]
    assert [rows for what, rows, *_ in calls if what == "learn"] == [[0], [2], [3]]
    assert result.predictions("Diary", every_row=True).tolist() == [None, "a", "a", "b"]


def test_a_warm_start_goes_on_from_a_copy():
    X, y = demo_rows(400, random_state=0)
    model = SGDClassifier(random_state=0).fit(X[:200], y[:200])
    before = model.coef_.copy()
    warm = sk.PrequentialEvaluator("accuracy", n_warmup=1)
    result = warm.evaluate({"warm": model}, X[200:], y[200:], warm_start=True)
    cold = sk.PrequentialEvaluator("accuracy").evaluate({"warm": model}, X[200:], y[200:])
    assert (model.coef_ == before).all()
    assert (
        result.predictions("warm", every_row=True) != cold.predictions("warm", every_row=True)
    ).any()


def test_regressors_get_the_measures_of_regression(rng):
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200)
    models = {"sgd": SGDRegressor(), "mean": sk.MeanRegressor(), "last": sk.PersistentRegressor()}
    result = sk.PrequentialEvaluator().evaluate(models, X, y)
    assert list(result.scores["sgd"]) == ["mae", "rmse", "r2"]
    expected = mean_absolute_error(y[1:], y[:-1])
    assert result.scores["last"]["mae"] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(result.predictions("last", every_row=True)[0])
    with pytest.raises(ValueError, match="regressors and the others are not"):
        sk.PrequentialEvaluator().evaluate({"a": SGDRegressor(), "b": sk.Persistent()}, X, y)


@pytest.mark.parametrize("labels", [["x", "y"], [3, 7], [0.0, 1.0], [False, True]])
def test_results_survive_being_saved(tmp_path, labels):
    X, y = demo_rows(300, random_state=0)
    y = np.array(labels)[(y == "UP").astype(int)]
    result = sk.PrequentialEvaluator(random_state=3).evaluate(
        {"sgd": SGDClassifier(), "last": sk.Persistent()}, X, y
    )
    path = result.save(tmp_path / "result")
    loaded = sk.load(path)
    assert path.suffix == ".npz"
    assert loaded.scores == result.scores
    assert (
        loaded.predictions("sgd", every_row=True).tolist()
        == result.predictions("sgd", every_row=True).tolist()
    )
    assert loaded.rescore("accuracy").scores == result.rescore("accuracy").scores
    assert loaded.parameters == result.parameters
    assert loaded.costs == result.costs
    assert loaded.details.baselines == ("last",)
    assert str(loaded) == str(result)


def test_a_failing_model_is_named_with_its_row():
    X, y = numbered_rows(8), LABELS
    models = {"fine": Diary(), "broken": Breaks(at=5)}
    with pytest.raises(
        sk.ModelError, match=r"'broken' failed while training on row 5.*out of paper"
    ) as e:
        sk.PrequentialEvaluator("accuracy").evaluate(models, X, y)
    assert (e.value.model, e.value.fold, e.value.row) == ("broken", 0, 5)


def test_bad_streams_are_named():
    evaluator = sk.PrequentialEvaluator("accuracy")
    X = numbered_rows(4)
    with pytest.raises(ValueError, match=r"Row 2 has the label 'c'.*'a', 'b'"):
        evaluator.evaluate(Diary(), X, ["a", "b", "c", "a"], classes=["a", "b"])
    with pytest.raises(ValueError, match=r"5.*4|4.*5"):
        evaluator.evaluate(Diary(), X, ["a"] * 5)
    with pytest.raises(ValueError, match="sample_weight of row 1 is -1"):
        evaluator.evaluate(Diary(), X, LABELS[:4], sample_weight=[1, -1, 1, 1])
    with pytest.raises(TypeError, match=r"(?s)'LogisticRegression'.*no partial_fit.*PeriodicRefit"):
        evaluator.evaluate(LogisticRegression(), X, LABELS[:4])
    with pytest.raises(TypeError, match="is the class"):
        evaluator.evaluate(SGDClassifier, X, LABELS[:4])
    with pytest.raises(ValueError, match="classes"):
        evaluator.evaluate(Diary(), iter([(X, LABELS[:4])]))
    run = evaluator.start(Diary(), classes=["a", "b"])
    run.update(X, LABELS[:4])
    with pytest.raises(ValueError, match=r"Row 4 .*3 features.*2"):
        run.update(np.zeros((1, 3)), ["a"])
    run.update(X, LABELS[:4])
    assert run.n_rows == 8  # nothing was lost


OF_KINDS = {
    "int": [3, 5, 3, 3],
    "text": ["no", "yes", "no", "no"],
    "object": np.array(["no", "yes", "no", "no"], dtype=object),
    "bool": [True, False, True, True],
    "float": [1.0, 0.0, 1.0, 1.0],
}


@pytest.mark.parametrize("kind", OF_KINDS)
@pytest.mark.parametrize("missing", [False, True])
def test_predictions_are_taken_by_scikit_learn(kind, missing):
    y = np.resize(np.asarray(OF_KINDS[kind]), 60)
    given = [None if missing and row % 7 == 3 else one for row, one in enumerate(y.tolist())]
    X, skip = np.arange(60.0)[:, np.newaxis], {"missing_labels": "skip"} if missing else {}
    for evaluator in (
        sk.PrequentialEvaluator("accuracy", **skip),
        sk.KFoldEvaluator("accuracy", n_folds=3, strategy="cross:held_out", **skip),
    ):
        result = evaluator.evaluate(
            {"nb": IncrementalGaussianNB(), "last": sk.Persistent()}, X, y if not missing else given
        )
        for name in result.model_names:
            for fold in result.folds:
                rows, answers = result.predictions(name, fold=fold)
                assert np.issubdtype(rows.dtype, np.integer) and (np.diff(rows) > 0).all()
                assert 0 < len(rows) < 60
                if not missing:  # among which None is, labels are objects themselves
                    assert answers.dtype.kind == y.dtype.kind
                labelled = np.array([given[row] is not None for row in rows])
                share = accuracy_score(y[rows][labelled], answers[labelled])
                place = result.folds.index(fold)
                assert share == pytest.approx(result.curve(name, "accuracy")[-1, place])
                whole = result.predictions(name, fold=fold, every_row=True)
                tape = result.tape.row
                whole_rows = np.arange(len(whole)) if tape is None else np.asarray(tape)
                answered = [one is not None for one in whole]
                assert whole_rows[answered].tolist() == rows.tolist()
                assert whole[answered].tolist() == answers.tolist()


def test_rows_that_got_no_answer_are_left_out_of_predictions():
    y = ["a", "b", "a", "b"]
    made = {"m": ["a", None, "b", "b"]}
    result = sk.score_predictions(y, made, metrics="accuracy", unanswered="wrong")
    rows, answers = result.predictions("m")
    assert (rows.tolist(), answers.tolist()) == ([0, 2, 3], ["a", "b", "b"])
    assert answers.dtype.kind == "U" and result.scores["m"]["accuracy"] == 0.5
    numbers = sk.score_predictions([1.5, 2.0, 3.0], {"m": [1.0, np.nan, 3.0]}, unanswered="skip")
    rows, answers = numbers.predictions("m")
    assert (rows.tolist(), answers.tolist()) == ([0, 2], [1.0, 3.0])
