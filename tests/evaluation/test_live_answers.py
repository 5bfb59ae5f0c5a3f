"""Live calls return what the models have answered: the answers that are on the tape."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier, SGDRegressor

from skstream import (
    DelayedEvaluator,
    HoldoutEvaluator,
    KFoldEvaluator,
    MajorityClass,
    Persistent,
    PersistentRegressor,
    Polling,
    PrequentialEvaluator,
    RunOptions,
    load_run,
)
from tests._examples import examples
from tests.evaluation._late_rows import stream_rows
from tests.evaluation.test_laws import every_evaluator, made

CLASSES = ["down", "up"]
METRICS = ["accuracy", "log_loss"]
MODELS = {"sgd": SGDClassifier(loss="log_loss"), "majority": MajorityClass()}


def joined(calls, model, axis):
    return np.concatenate([call[model] for call in calls], axis=axis)


@every_evaluator
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@given(st.lists(st.integers(0, 9), max_size=8))
@examples(4)
def test_the_answers_of_all_calls_are_the_tape(name, options, method, sizes):
    X = np.abs(np.random.default_rng(3).normal(size=(40, 3)))
    y = np.array(["a", "b", "c"])[np.random.default_rng(4).integers(0, 3, 40)]
    evaluator = made(name, random_state=0, run=RunOptions(keep_tape=True), **options)
    evaluator.set_params(metrics=METRICS)
    run = evaluator.start(MODELS, classes=["a", "b", "c"])
    cuts = [0, *np.minimum(np.cumsum([1, *sizes]), 40), 40]
    calls = []
    for begin, end in pairwise(cuts):
        run = pickle.loads(pickle.dumps(run))
        if name == "DelayedEvaluator":
            part = slice(begin, end)
            ids, times = np.arange(40)[part][::-1], np.arange(40.0)[part][::-1]
            rows = {"id": ids, "time": times, **dict(zip("pqr", X[part][::-1].T, strict=True))}
            due = np.arange(40)[slice(*np.maximum(np.array([begin, end]) - 5, 0))]
            labels = {"id": due, "time": due + 5.0, "label": y[due]}
            its = run.update(rows, labels, method=method)
            calls.append({model: answers[::-1] for model, answers in its.items()})
        else:
            calls.append(run.update(X[begin:end], y[begin:end], method=method))
    tape = run.result().tape
    n_folds = len(tape.answers["sgd"])
    for model in MODELS:
        whole = joined(calls, model, int(n_folds > 1))
        for fold in range(n_folds):
            read = tape.predictions if method == "predict" else tape.probabilities
            if name == "DelayedEvaluator":
                bins = {"bin": 0} if method != "predict" else {}
                kept = read(model, fold, **bins)
                kept = kept[:, 0] if method == "predict" else kept
                scored = tape.answers[model][0][:, 0] >= 0
                np.testing.assert_array_equal(whole[tape.row[scored]], kept[scored])
            else:
                its = whole[fold] if n_folds > 1 else whole
                np.testing.assert_array_equal(its, read(model, fold))


@pytest.mark.parametrize("labels", [[7, 3], ["up", "down"], [True, False], [2.0, 1.0]])
def test_labels_are_of_the_users_type(labels):
    y = np.resize(labels, 9)
    run = PrequentialEvaluator("accuracy").start(Persistent(), classes=labels)
    run.update(np.zeros((1, 1)), y[:1])
    found = run.update(np.zeros((1, 1)), y[1:2])["Persistent"]
    assert found.dtype == y.dtype and found.tolist() == y[:1].tolist()
    assert run.update(np.zeros((7, 1)), y[2:])["Persistent"].tolist() == y[1:8].tolist()


def test_numbers_are_returned_by_regressors():
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    models = {"sgd": SGDRegressor(), "last": PersistentRegressor()}
    run = PrequentialEvaluator("mae").start(models)
    found = joined([run.update(X[k : k + 1], y[k : k + 1]) for k in range(6)], "last", 0)
    np.testing.assert_array_equal(found, [np.nan, *y[:5]])
    assert run.update(X, y)["sgd"].dtype == np.float64


def test_answers_are_the_users_own():
    """Writing into them changes neither scores nor the tape."""
    X, y = np.arange(12.0)[:, None], np.arange(12.0) % 3
    for model, metric, method in (
        (PersistentRegressor(), "mae", "predict"),
        (MajorityClass(), "log_loss", "predict_proba"),
    ):
        classes = None if method == "predict" else [0.0, 1.0, 2.0]
        evaluator = PrequentialEvaluator(metric, run=RunOptions(keep_tape=True))
        runs = [evaluator.start({"m": model}, classes=classes) for _ in range(2)]
        for run in runs:
            for k in range(0, 12, 4):
                answers = run.update(X[k : k + 4], y[k : k + 4], method=method)["m"]
                answers[:] = 7.0 if run is runs[0] else answers
        first, second = (run.result() for run in runs)
        assert first.scores == second.scores
        np.testing.assert_array_equal(first.tape.answers["m"], second.tape.answers["m"])
        if method == "predict_proba":
            np.testing.assert_array_equal(first.tape.scores["m"], second.tape.scores["m"])


def test_a_late_row_is_answered_when_it_is_asked():
    rows, y = stream_rows(30)
    evaluator = DelayedEvaluator(METRICS, n_warmup=2, polling=Polling(n_bins=1))
    one, other = (evaluator.start(MODELS, classes=CLASSES) for _ in range(2))
    for k in range(30):
        asked = one.ask(rows[k : k + 1], [k], float(k), method="predict_proba")
        frame = {"id": [k], "time": [float(k)], **{f"x{j}": rows[k, [j]] for j in range(3)}}
        updated = other.update(frame, method="predict_proba")
        for model in MODELS:
            np.testing.assert_array_equal(asked[model], updated[model])
            assert asked[model].shape == (1, 2) and np.isnan(asked[model]).all() == (k < 2)
        for run in (one, other):
            run.label([k], y[k : k + 1], float(k))


@pytest.mark.parametrize(
    ("evaluator", "model", "method", "message"),
    [
        (PrequentialEvaluator("accuracy"), Persistent(), "predict_proba", "such as 'log_loss'"),
        (KFoldEvaluator(METRICS), Persistent(), "proba", "method must be"),
        (
            HoldoutEvaluator("auc", holdout="next", every=2),
            {"p": Persistent(), "svm": SGDClassifier()},
            "predict_proba",
            "no probabilities for model 'svm'",
        ),
    ],
)
def test_what_is_not_there_is_refused_before_anything_is_learnt(evaluator, model, method, message):
    run = evaluator.start(model, classes=CLASSES)
    with pytest.raises(ValueError, match=message):
        run.update([[0.0]], ["up"], method=method)
    assert run.n_rows == 0


def test_rows_without_a_label_are_answered_too():
    run = PrequentialEvaluator("accuracy", missing_labels="skip").start(
        Persistent(), classes=CLASSES
    )
    run.update([[0.0]], ["up"])
    assert run.update([[0.0], [1.0]], [None, "down"])["Persistent"].tolist() == ["up", "up"]


class FailsLate(Persistent):
    """Fails at the row of value 9."""

    def predict(self, X):
        if X[0, 0] == 9:
            raise RuntimeError("nine")
        return super().predict(X)


@pytest.mark.parametrize("events", [[], ["result"], ["save"], ["three"], ["gap"], ["weight"]])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("fails", [False, True])
def test_single_rows_are_noted_late_and_as_if_at_once(events, fails, tmp_path):
    X, y = np.zeros((300, 1)), np.random.default_rng(5).choice(CLASSES, 300).astype(object)
    weight = np.ones(300)
    X[200 if fails else 0] = 9
    if "gap" in events:
        y[250] = None
    if "weight" in events:
        weight[240:] = 2.0
    options = {"error_score": np.nan, "missing_labels": "skip", "random_state": 0}
    evaluator = PrequentialEvaluator("accuracy", run=RunOptions(keep_tape=True), **options)
    models = {"late": FailsLate(), "sgd": SGDClassifier(), "last": Persistent()}
    run, answers, at = evaluator.start(models, classes=CLASSES), [], 0
    whole = evaluator.start(models, classes=CLASSES)
    whole.update(X[:240], y[:240])
    while at < 300:
        n = 3 if at == 150 and "three" in events else 1
        some, given = slice(at, at + n), {}
        if weight[at] != 1.0:
            given["sample_weight"] = weight[some]
        answers.append(run.update(X[some], y[some], **given))
        at += n
        if at == 145 and "result" in events:
            assert run.result().checkpoints[-1] == 145
        if at == 145 and "save" in events:
            run.save(tmp_path / "run")
            run = load_run(tmp_path / "run")
        assert run.n_rows == at
    last = {} if (weight == 1.0).all() else {"sample_weight": weight[240:]}
    whole.update(X[240:], y[240:], **last)
    found, expected = run.close().result(), whole.close().result()
    np.testing.assert_equal(found.values, expected.values)
    assert found.tape.answers.keys() == expected.tape.answers.keys()
    for model in models:
        np.testing.assert_array_equal(found.tape.answers[model], expected.tape.answers[model])
        told = np.concatenate([one[model] for one in answers])
        np.testing.assert_array_equal(told, found.tape.predictions(model, 0))


@pytest.mark.parametrize("n_warmup", [0, 1, 3])
@pytest.mark.parametrize("score", ["accuracy", "log_loss"])
def test_single_rows_from_the_first_one_on(n_warmup, score):
    X, y = np.random.default_rng(7).normal(size=(30, 2)), np.resize([*CLASSES, "up"], 30)
    options = {"n_warmup": n_warmup, "random_state": 0, "run": RunOptions(keep_tape=True)}
    evaluator = PrequentialEvaluator([score], **options)
    models = {"majority": MajorityClass(), "last": Persistent()}
    models = {"majority": MajorityClass()} if score == "log_loss" else models
    run, whole = evaluator.start(models, classes=CLASSES), evaluator.start(models, classes=CLASSES)
    whole.update(X, y)
    told = [run.update(X[t : t + 1], y[t : t + 1]) for t in range(30)]
    for name in models:
        kept = whole.result().tape.predictions(name, 0)
        np.testing.assert_array_equal(joined(told, name, 0), kept)
    np.testing.assert_equal(run.result().values, whole.result().values)


def test_a_target_in_an_array_that_is_filled_again_is_kept():
    targets, given = np.random.default_rng(8).normal(size=300), np.empty(1)
    run = PrequentialEvaluator("mae", random_state=0).start(PersistentRegressor())
    for target in targets:
        given[0] = target
        answer = run.update(np.zeros((1, 1)), given)["PersistentRegressor"]
        answer[:] = 9.0  # of the user
    expected = np.abs(np.diff(targets)).mean()
    assert run.result().scores["PersistentRegressor"]["mae"] == pytest.approx(expected)


@pytest.mark.parametrize("n", [7, 8])
def test_the_answers_of_the_last_batch_are_told_when_the_run_is_closed(n, tmp_path):
    X, y = np.random.default_rng(6).normal(size=(n, 2)), np.resize(CLASSES, n)
    kept = {"run": RunOptions(keep_tape=True), "random_state": 0}
    run = PrequentialEvaluator(METRICS, batch_size=3, **kept).start(MODELS, classes=CLASSES)
    told = [run.update(X, y)]
    assert run.last_answers()["sgd"].tolist() == told[0]["sgd"].tolist()
    run.save(tmp_path / "run")
    assert run.last_answers()["sgd"].tolist() == told[0]["sgd"].tolist()
    told.append(run.close().last_answers())
    for refused in (lambda: run.update(X, y), lambda: run.save(tmp_path / "run")):
        with pytest.raises(RuntimeError, match="closed"):
            refused()
    assert len(run.last_answers()["sgd"]) == len(told[1]["sgd"])
    assert len(told[1]["sgd"]) == (n - 1) % 3
    np.testing.assert_array_equal(joined(told, "sgd", 0), run.result().tape.predictions("sgd", 0))
    assert run.last_answers("predict_proba")["sgd"].shape == (len(told[1]["sgd"]), 2)
    late = DelayedEvaluator("accuracy").start(Persistent(), classes=CLASSES)
    assert not hasattr(late, "last_answers")
