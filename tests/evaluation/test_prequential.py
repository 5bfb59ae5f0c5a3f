"""The prequential evaluator: what models see, and what users get."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.metrics import accuracy_score, mean_absolute_error
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import StandardScaler

from skstream import (
    DelayedEvaluator,
    EvaluationInterrupted,
    MajorityClass,
    ModelError,
    Persistent,
    PrequentialEvaluator,
    load,
    load_run,
    make_stream_pipeline,
    prequential_predict,
)
from skstream.baselines import MeanRegressor, PersistentRegressor
from skstream.forgetting import FadingFactor, SlidingWindow
from skstream.streams import as_stream, make_demo_stream
from tests._data import load_stream
from tests.evaluation._models import Breaks, Diary, Unweighted, numbered_rows

LABELS = np.array(["a", "b", "a", "a", "b", "b", "a", "b"])


def demo_rows(n_rows, random_state=0):
    stream = make_demo_stream(n_rows, random_state=random_state)
    return stream.X, stream.y


def calls_of(model, X, y, evaluator=None, **options):
    evaluator = evaluator or PrequentialEvaluator("accuracy", return_models=True)
    return evaluator.evaluate(model, X, y, **options).models[type(model).__name__].calls_


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
    evaluator = PrequentialEvaluator("accuracy", batch_size=3, n_warmup=2, return_models=True)
    calls = calls_of(Diary(), numbered_rows(7), LABELS[:7], evaluator)
    assert [(what, rows) for what, rows, *_ in calls] == [
        ("learn", [0, 1]),
        ("ask", [2, 3, 4]),
        ("learn", [2, 3, 4]),
        ("ask", [5, 6]),
        ("learn", [5, 6]),
    ]


def test_result_leaves_an_incomplete_batch_out():
    run = PrequentialEvaluator("accuracy", batch_size=3, n_warmup=1).start(
        Diary(), classes=["a", "b"]
    )
    run.update(numbered_rows(6), LABELS[:6])
    assert run.result().n_rows == 4
    assert run.close().result().n_rows == 6
    with pytest.raises(RuntimeError, match="closed"):
        run.update(numbered_rows(1), LABELS[:1])


def test_weight_zero_is_asked_but_neither_learnt_nor_scored():
    weight = np.array([1.0, 1.0, 0.0, 2.0])
    evaluator = PrequentialEvaluator("accuracy", return_models=True)
    result = evaluator.evaluate(Diary(), numbered_rows(4), LABELS[:4], sample_weight=weight)
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
@pytest.mark.parametrize("chunk_size", [7, 120])
def test_weights_are_passed_in_every_call_or_in_none(engine, chunk_size):
    rng = np.random.default_rng(0)
    X, weight = np.abs(rng.normal(size=(120, 3))), rng.choice([1.0, 0.5], 120)
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0.6).astype(int)
    model = make_stream_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    literal, answers = clone(model), []
    for i in range(120):
        if i:
            answers.append(literal.predict(X[i : i + 1])[0])
        row = X[i : i + 1], y[i : i + 1], [0, 1] if i == 0 else None
        literal.partial_fit(*row, sample_weight=weight[i : i + 1])
    options = {"engine": engine, "return_models": True, "keep_tape": True}
    stream = as_stream(X, y, sample_weight=weight, chunk_size=chunk_size)
    for evaluator in (PrequentialEvaluator(**options), DelayedEvaluator(delay=0, **options)):
        result = evaluator.evaluate({"m": model}, stream)
        assert result.predictions("m").reshape(120, -1)[1:, -1].tolist() == answers
        scaler = result.models["m"].pipeline_[0]
        assert scaler.n_samples_seen_ == literal.pipeline_[0].n_samples_seen_ == weight.sum()


def test_a_live_run_passes_weights_from_the_first_call_with_weights_on():
    X, weight = numbered_rows(6), [None, None, [2.0], None, [1.0], None]
    run = PrequentialEvaluator("accuracy", return_models=True).start(Diary(), classes=["a", "b"])
    late = DelayedEvaluator("accuracy", return_models=True).start(Diary(), classes=["a", "b"])
    for i, w in enumerate(weight):
        run.update(X[[i]], LABELS[i : i + 1], sample_weight=w)
        late.ask(X[[i]], [i])
        late.label([i], LABELS[i : i + 1], sample_weight=w)
    for one in (run, late):
        calls = one.result().models["Diary"].calls_
        given = [w for what, *_, w in calls if what == "learn"]
        assert given == [None, None, [2.0], [1.0], [1.0], [1.0]]


def test_models_without_sample_weight_get_the_row_repeated():
    weight = np.array([1.0, 3.0, 1.0])
    calls = calls_of(Unweighted(), numbered_rows(3), LABELS[:3], sample_weight=weight)
    assert [rows for what, rows, *_ in calls if what == "learn"] == [[0], [1, 1, 1], [2]]
    with pytest.raises(ModelError, match=r"row 1.*whole numbers"):
        calls_of(Unweighted(), numbered_rows(2), LABELS[:2], sample_weight=[1.0, 1.5])


def test_rows_without_a_label_are_an_error_or_only_asked():
    y = np.array(["a", None, "b", "a"], dtype=object)
    X = numbered_rows(4)
    with pytest.raises(ValueError, match=r"Row 1 has no label.*missing_labels"):
        PrequentialEvaluator("accuracy").evaluate(Diary(), X, y)
    evaluator = PrequentialEvaluator("accuracy", missing_labels="skip", return_models=True)
    result = evaluator.evaluate(Diary(), X, y)
    calls = result.models["Diary"].calls_
    assert [rows for what, rows, *_ in calls if what == "ask"] == [[1], [2], [3]]
    assert [rows for what, rows, *_ in calls if what == "learn"] == [[0], [2], [3]]
    assert result.predictions("Diary").tolist() == [None, "a", "a", "b"]


def test_a_warm_start_goes_on_from_a_copy():
    X, y = demo_rows(400, random_state=0)
    model = SGDClassifier(random_state=0).fit(X[:200], y[:200])
    before = model.coef_.copy()
    warm = PrequentialEvaluator("accuracy", warm_start=True, n_warmup=1)
    result = warm.evaluate({"warm": model}, X[200:], y[200:])
    cold = PrequentialEvaluator("accuracy").evaluate({"warm": model}, X[200:], y[200:])
    assert (model.coef_ == before).all()
    assert (result.predictions("warm") != cold.predictions("warm")).any()


def test_regressors_get_the_measures_of_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=200)
    models = {"sgd": SGDRegressor(), "mean": MeanRegressor(), "last": PersistentRegressor()}
    result = PrequentialEvaluator().evaluate(models, X, y)
    assert list(result.scores["sgd"]) == ["mae", "rmse", "r2"]
    expected = mean_absolute_error(y[1:], y[:-1])
    assert result.scores["last"]["mae"] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(result.predictions("last")[0])
    with pytest.raises(ValueError, match="regressors and the others are not"):
        PrequentialEvaluator().evaluate({"a": SGDRegressor(), "b": Persistent()}, X, y)


def test_electricity_is_persistent():
    X, y = load_stream("electricity")
    evaluator = PrequentialEvaluator(["accuracy", "kappa_temporal"])
    result = evaluator.evaluate({"persistent": Persistent(), "majority": MajorityClass()}, X, y)
    right = int((result.predictions("persistent")[1:] == np.asarray(y)[1:]).sum())
    assert (right, len(y) - 1) == (38_664, 45_311)
    assert result.scores["persistent"]["accuracy"] == 38_664 / 45_311
    assert result.scores["persistent"]["kappa_temporal"] == 0.0
    assert (result.curve("persistent", "kappa_temporal")[2:] == 0.0).all()
    assert result.scores["majority"]["kappa_temporal"] < 0


def test_several_forgettings_and_checkpoints_at_once():
    X, y = demo_rows(2500, random_state=0)
    evaluator = PrequentialEvaluator(
        ["accuracy"],
        forgetting={"window": SlidingWindow(200), "fading": FadingFactor(0.99)},
        record_every=200,
    )
    result = evaluator.evaluate(Persistent(), X, y)
    # The last partial window is not lost.
    assert result.checkpoints.tolist() == [*range(200, 2401, 200), 2500]
    hits = result.predictions("Persistent")[2300:] == y[2300:]
    assert result.select(forgetting="window").scores["Persistent"]["accuracy"] == hits.mean()
    assert result.forgetting_names == ["window", "fading"]


def test_rescoring_the_tape_equals_scoring_at_first():
    X, y = demo_rows(700, random_state=0)
    both = {"a": SGDClassifier(), "b": Persistent()}
    direct = PrequentialEvaluator("kappa_m", forgetting=SlidingWindow(100), random_state=0)
    again = PrequentialEvaluator(random_state=0).evaluate(both, X, y)
    expected = direct.evaluate(both, X, y)
    rescored = again.rescore("kappa_m", forgetting=SlidingWindow(100))
    assert rescored.scores == expected.scores
    np.testing.assert_array_equal(rescored.curve("a", "kappa_m"), expected.curve("a", "kappa_m"))
    without = PrequentialEvaluator("accuracy", keep_tape=False).evaluate(both, X, y)
    with pytest.raises(ValueError, match="keep_tape=True"):
        without.rescore("kappa")


@pytest.mark.parametrize("labels", [["x", "y"], [3, 7], [0.0, 1.0], [False, True]])
def test_results_survive_being_saved(tmp_path, labels):
    X, y = demo_rows(300, random_state=0)
    y = np.array(labels)[(y == "UP").astype(int)]
    result = PrequentialEvaluator(random_state=3).evaluate(
        {"sgd": SGDClassifier(), "last": Persistent()}, X, y
    )
    path = result.save(tmp_path / "result")
    loaded = load(path)
    assert path.suffix == ".npz"
    assert loaded.scores == result.scores
    assert loaded.predictions("sgd").tolist() == result.predictions("sgd").tolist()
    assert loaded.rescore("accuracy").scores == result.rescore("accuracy").scores
    assert loaded.parameters == result.parameters
    assert loaded.costs == result.costs
    assert loaded.details.baselines == ("last",)
    assert str(loaded) == str(result)


def test_loading_refuses_what_is_no_result(tmp_path):
    (tmp_path / "other.npz").write_bytes(b"not a zip")
    with pytest.raises(ValueError, match="not a result"):
        load(tmp_path / "other.npz")
    np.savez(tmp_path / "pickled.npz", header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="not a result"):
        load(tmp_path / "pickled.npz")


def test_a_run_saved_anywhere_goes_on_alike(tmp_path):
    X, y = demo_rows(120, random_state=0)
    models = {"sgd": SGDClassifier(), "last": Persistent()}
    evaluator = PrequentialEvaluator(
        batch_size=1, forgetting=["cumulative", "adwin"][0], random_state=0, keep_tape=True
    )
    whole = evaluator.evaluate(models, X, y)
    for k in range(1, 120, 17):
        run = evaluator.start(models, classes=["DOWN", "UP"]).update(X[:k], y[:k])
        path = run.save(tmp_path / "run.joblib")
        run.update(X[k:], y[k:])  # what the first run does later does not reach the checkpoint
        loaded = load_run(path).update(X[k:], y[k:]).close().result()
        assert loaded.scores == whole.scores
        assert loaded.predictions("sgd").tolist() == whole.predictions("sgd").tolist()
    with pytest.raises(ValueError, match="load"):
        import joblib

        joblib.dump({}, tmp_path / "else.joblib")
        load_run(tmp_path / "else.joblib")


def test_ctrl_c_carries_the_result_so_far():
    X, y = demo_rows(3000, random_state=0)

    def chunks():
        yield X[:1500], y[:1500]
        raise KeyboardInterrupt

    with pytest.raises(EvaluationInterrupted) as interrupted:
        PrequentialEvaluator().evaluate(SGDClassifier(), chunks(), classes=["DOWN", "UP"])
    assert interrupted.value.result.n_rows == 1500


def test_ctrl_c_inside_a_model_keeps_the_models_together():
    class Interrupts(Diary):
        def predict(self, X):
            if X[0, 0] == 2000:
                raise KeyboardInterrupt
            return super().predict(X)

    X, y = numbered_rows(3000), np.tile(LABELS, 375)
    evaluator = PrequentialEvaluator("accuracy")
    with pytest.raises(EvaluationInterrupted) as interrupted:
        evaluator.evaluate({"fine": Diary(), "stops": Interrupts()}, X, y)
    result = interrupted.value.result
    n_rows = result.n_rows
    assert 0 < n_rows <= 2000  # rows are cut by time
    assert result.tape.answers["fine"].shape == result.tape.answers["stops"].shape == (1, n_rows)


def test_a_failing_model_is_named_with_its_row():
    X, y = numbered_rows(8), LABELS
    models = {"fine": Diary(), "broken": Breaks(at=5)}
    with pytest.raises(
        ModelError, match=r"'broken' failed while learning row 5.*out of paper"
    ) as e:
        PrequentialEvaluator("accuracy").evaluate(models, X, y)
    assert (e.value.model, e.value.fold, e.value.row) == ("broken", 0, 5)


def test_the_others_survive_a_failing_model():
    X, y = numbered_rows(8), LABELS
    models = {"fine": Diary(), "broken": Breaks(at=5)}
    with pytest.warns(Warning, match="'broken' failed while learning row 5"):
        result = PrequentialEvaluator("accuracy", error_score=np.nan).evaluate(models, X, y)
    alone = PrequentialEvaluator("accuracy").evaluate({"fine": Diary()}, X, y)
    assert result.scores["fine"] == alone.scores["fine"]
    assert np.isnan(result.scores["broken"]["accuracy"])
    assert "out of paper" in result.failures["broken"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "acuracy"}, "accuracy"),
        ({"forgetting": "sliding"}, "cumulative"),
        ({"batch_size": 0}, "batch_size"),
        ({"n_warmup": -1}, "n_warmup"),
        ({"missing_labels": "drop"}, "missing_labels"),
        ({"engine": "fast"}, "engine"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        PrequentialEvaluator(**options).evaluate(Diary(), numbered_rows(3), LABELS[:3])


def test_bad_streams_are_named():
    evaluator = PrequentialEvaluator("accuracy")
    X = numbered_rows(4)
    with pytest.raises(ValueError, match=r"Row 2 has the label 'c'.*'a', 'b'"):
        evaluator.evaluate(Diary(), X, ["a", "b", "c", "a"], classes=["a", "b"])
    with pytest.raises(ValueError, match=r"5.*4|4.*5"):
        evaluator.evaluate(Diary(), X, ["a"] * 5)
    with pytest.raises(ValueError, match="sample_weight of row 1 is -1"):
        evaluator.evaluate(Diary(), X, LABELS[:4], sample_weight=[1, -1, 1, 1])
    with pytest.raises(TypeError, match=r"'LogisticRegression'.*partial_fit.*SGDClassifier"):
        evaluator.evaluate(LogisticRegression(), X, LABELS[:4])
    with pytest.raises(TypeError, match="is the class"):
        evaluator.evaluate(SGDClassifier, X, LABELS[:4])
    with pytest.raises(ValueError, match="classes"):
        evaluator.evaluate(Diary(), iter([(X, LABELS[:4])]))
    run = evaluator.start(Diary(), classes=["a", "b"]).update(X, LABELS[:4])
    with pytest.raises(ValueError, match=r"Row 4 .*3 features.*2"):
        run.update(np.zeros((1, 3)), ["a"])
    assert run.update(X, LABELS[:4]).n_rows == 8  # nothing was lost


def test_one_class_only_is_undefined_not_infinite():
    with pytest.warns(UndefinedMetricWarning, match="kappa"):
        result = PrequentialEvaluator().evaluate(Persistent(), numbered_rows(5), ["a"] * 5)
    scores = result.scores["Persistent"]
    assert scores["accuracy"] == 1.0
    assert all(np.isnan(scores[name]) for name in ("kappa", "kappa_m", "kappa_temporal"))


def test_models_come_alone_in_a_list_or_in_a_dict():
    X, y = demo_rows(60, random_state=0)
    evaluator = PrequentialEvaluator("accuracy")
    listed = evaluator.evaluate([SGDClassifier(), SGDClassifier(alpha=1.0), Persistent()], X, y)
    assert listed.model_names == ["SGDClassifier-1", "SGDClassifier-2", "Persistent"]
    assert evaluator.evaluate(Persistent(), X, y).model_names == ["Persistent"]


def test_a_failure_in_a_worker_is_named():
    X, y = numbered_rows(8), LABELS
    models = {"fine": Diary(), "broken": Breaks(at=5)}
    with pytest.raises(ModelError, match="'broken' failed while learning row 5"):
        PrequentialEvaluator("accuracy", n_jobs=2).evaluate(models, X, y)


def test_predictions_along_the_stream():
    X, y = demo_rows(200, random_state=0)
    X = np.abs(np.asarray(X))
    y_pred, rows = prequential_predict(MultinomialNB(), X, y, return_rows=True)
    assert rows.tolist() == list(range(1, 200))
    result = PrequentialEvaluator("accuracy").evaluate(MultinomialNB(), X, y)
    assert accuracy_score(y[1:], y_pred) == pytest.approx(
        result.scores["MultinomialNB"]["accuracy"], rel=1e-12
    )
    proba = prequential_predict(MultinomialNB(), X, y, method="predict_proba")
    assert proba.shape == (199, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_a_one_shot_stream_is_read_once():
    X, y = demo_rows(100, random_state=0)
    chunks = ((X[k : k + 10], y[k : k + 10]) for k in range(0, 100, 10))
    evaluator = PrequentialEvaluator("accuracy", keep_tape=True, n_jobs=2)
    result = evaluator.evaluate(
        {"sgd": SGDClassifier(), "last": Persistent()}, chunks, classes=["DOWN", "UP"]
    )
    whole = PrequentialEvaluator("accuracy").evaluate(
        {"sgd": SGDClassifier(), "last": Persistent()}, as_stream(X, y, chunk_size=7)
    )
    assert result.scores == whole.scores


def test_progress_moves(capsys):
    pytest.importorskip("tqdm")
    X, y = demo_rows(100, random_state=0)
    PrequentialEvaluator("accuracy", progress=True).evaluate(Persistent(), X, y)
    assert "100" in capsys.readouterr().err


def test_results_print_and_export():
    X, y = demo_rows(300, random_state=0)
    evaluator = PrequentialEvaluator(forgetting={"all": "cumulative", "recent": "window:50"})
    result = evaluator.evaluate({"sgd": SGDClassifier(), "<last>": Persistent()}, X, y)
    assert "sgd: accuracy" in repr(result)
    assert "300 rows" in repr(result)
    assert "to_frame()" in repr(result)
    assert "recent (window:50):" in str(result)
    assert "&lt;last&gt;" in result._repr_html_()
    pytest.importorskip("pandas")
    frame = result.to_frame()
    assert list(frame.columns) == ["model", "forgetting", "fold", "row", "metric", "value"]
    last = frame[(frame.model == "sgd") & (frame.forgetting == "all") & (frame.row == 300)]
    assert dict(zip(last.metric, last.value, strict=True)) == result.scores["sgd"]
    with pytest.raises(KeyError, match="no model 'nb'"):
        result.curve("nb", "accuracy")


def test_costs_are_recorded():
    X, y = demo_rows(1500, random_state=0)
    cost = PrequentialEvaluator("accuracy", engine="loop").evaluate(Diary(), X, y).costs["Diary"]
    assert cost.seconds_asking > 0
    assert cost.seconds_learning > 0
    assert cost.size > 1500
    assert cost.ram_hours > 0
