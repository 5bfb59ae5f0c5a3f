"""Callbacks follow an evaluation, and change nothing."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.evaluation import CallbackError, CSVLog, RunFolder, _callbacks
from skstream.streams import make_demo_stream
from tests._programs import PROJECT


class Kept:
    """Keeps what it is told; cannot be pickled, as it never leaves this process."""

    def __init__(self):
        self.told, self.checkpoints = [], []

    def __reduce__(self):
        raise TypeError("callbacks are not sent anywhere")

    def on_start(self, about):
        self.told.append("start")
        self.about = about

    def on_checkpoint(self, checkpoint):
        self.checkpoints.append(checkpoint)

    def on_end(self, result, error):
        self.told.append("end")
        self.result, self.error = result, error


class Fails:
    """Raises an exception in one of its methods."""

    def __init__(self, method):
        self.method = method

    def _fail(self, method):
        if method == self.method:
            raise OSError("disk is full")

    def on_start(self, about):
        self._fail("on_start")

    def on_checkpoint(self, checkpoint):
        self._fail("on_checkpoint")

    def on_end(self, result, error):
        self._fail("on_end")


EVALUATORS = {
    "prequential": (sk.PrequentialEvaluator, {"record_every": 30}),
    "windows": (sk.PrequentialEvaluator, {"forgetting": "window:20", "batch_size": 3}),
    "k-fold": (sk.KFoldEvaluator, {"n_folds": 2, "record_every": 70}),
    "holdout": (sk.HoldoutEvaluator, {"holdout": "next", "every": 50}),
    "delayed": (sk.DelayedEvaluator, {"delay": 9, "n_bins": 3, "record_every": 40}),
}


def models():
    return {"sgd": SGDClassifier(random_state=0), "last": sk.Persistent()}


@pytest.fixture
def at_every_piece(monkeypatch):
    monkeypatch.setattr(_callbacks, "SECONDS_PER_LOOK", 0)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("protocol", EVALUATORS)
@pytest.mark.filterwarnings("ignore:batch_size")
def test_callbacks_see_the_checkpoints_of_the_result(protocol, n_jobs, at_every_piece):
    kind, parameters = EVALUATORS[protocol]
    chunks = [chunk.part(k, k + 50) for chunk in make_demo_stream(150) for k in range(0, 150, 50)]
    chunks = [(chunk.X, chunk.y) for chunk in chunks]
    call = models(), chunks, None
    common = {"n_jobs": n_jobs, "random_state": 0, "engine": "loop"}
    kept = Kept()
    labels = ["DOWN", "UP"]
    plain = kind("accuracy", **parameters, **common).evaluate(*call, classes=labels)
    result = kind("accuracy", **parameters, **common, callbacks=kept).evaluate(
        *call, classes=labels
    )
    assert kept.told == ["start", "end"]
    assert (kept.result, kept.error) == (result, None)
    assert kept.about["metrics"] == ["accuracy"]
    assert list(kept.about["models"]) == ["sgd", "last"]
    seen = {one.row: one for one in kept.checkpoints}
    assert list(seen) == sorted(seen)
    assert set(result.checkpoints.tolist()) <= set(seen)
    if "record_every" in parameters or n_jobs == 2:
        assert list(seen) == result.checkpoints.tolist()
    for model, by_forgetting in result.values.items():
        for forgetting, by_metric in by_forgetting.items():
            for metric, curve in by_metric.items():
                np.testing.assert_array_equal(curve, plain.values[model][forgetting][metric])
                for row, value in zip(result.checkpoints.tolist(), curve, strict=True):
                    np.testing.assert_array_equal(
                        seen[row].values[model][forgetting][metric], value
                    )
    assert kept.checkpoints[-1].scores == result.scores
    assert plain.parameters == result.parameters


def test_a_run_in_this_process_is_followed_while_it_goes_on(at_every_piece):
    class Stops(Kept):
        def on_checkpoint(self, checkpoint):
            super().on_checkpoint(checkpoint)
            raise KeyboardInterrupt

    kept = Stops()
    chunks = [(one.X, one.y) for one in (make_demo_stream(100, random_state=k) for k in range(4))]
    evaluator = sk.PrequentialEvaluator("accuracy", record_every=50, callbacks=[kept])
    with pytest.raises(sk.EvaluationInterrupted) as caught:
        evaluator.evaluate(models(), chunks, classes=["DOWN", "UP"])
    assert [one.row for one in kept.checkpoints] == [50]
    assert caught.value.result.n_rows < 400
    assert kept.told == ["start", "end"]
    assert kept.error is caught.value
    assert kept.result is caught.value.result


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("method", ["on_start", "on_checkpoint", "on_end"])
def test_an_exception_stops_the_run_by_name_and_keeps_the_result(method, n_jobs, at_every_piece):
    kept = Kept()
    evaluator = sk.PrequentialEvaluator(
        "accuracy", record_every=50, callbacks=[kept, Fails(method)], engine="loop", n_jobs=n_jobs
    )
    chunks = [(one.X, one.y) for one in (make_demo_stream(100, random_state=k) for k in range(4))]
    with pytest.raises(CallbackError, match=f"Fails has failed in {method}.*disk is full") as error:
        evaluator.evaluate(models(), chunks, classes=["DOWN", "UP"])
    assert isinstance(error.value.__cause__, OSError)
    assert kept.told == ["start", "end"]
    if method == "on_start":
        assert error.value.result is None
    else:
        assert 50 <= error.value.result.n_rows <= 400
    assert kept.error is (None if method == "on_end" else error.value)


def test_what_fails_in_on_end_after_another_error_is_a_note():
    evaluator = sk.PrequentialEvaluator("accuracy", callbacks=[Fails("on_end")])
    X = np.r_[np.zeros((20, 1)), [[np.nan]]]
    with pytest.raises(sk.ModelError) as error:
        evaluator.evaluate(SGDClassifier(), X, np.arange(21) % 2)
    assert any("Fails has failed in on_end" in note for note in error.value.__notes__)


def read(path):
    with Path(path).open(newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_csv_file_has_a_line_per_checkpoint(n_jobs, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("something else")
    evaluator = sk.PrequentialEvaluator(
        ["accuracy", "kappa"], record_every=40, callbacks=CSVLog(path), n_jobs=n_jobs, engine="loop"
    )
    result = evaluator.evaluate(models(), make_demo_stream(100))
    header, *lines = read(path)
    assert header == ["row", "sgd/accuracy", "sgd/kappa", "last/accuracy", "last/kappa"]
    assert [int(line[0]) for line in lines] == [40, 80, 100]
    for column, name in enumerate(header[1:], 1):
        curve = result.curve(*name.split("/"))[:, 0]
        assert [float(line[column]) for line in lines] == curve.tolist()


def test_times_are_in_the_file(tmp_path):
    stream = make_demo_stream(60)
    day = np.datetime64("2024-01-01", "us") + np.arange(60) * np.timedelta64(1, "h")
    sk.PrequentialEvaluator(
        "accuracy", record_every="1D", callbacks=CSVLog(tmp_path / "days.csv")
    ).evaluate(models(), stream.X, stream.y, arrival=day)
    header, first, *_ = read(tmp_path / "days.csv")
    assert header[:2] == ["row", "time"]
    assert first[:2] == ["24", "2024-01-01T23:59:59.999999"]


def test_a_run_that_goes_on_writes_all_lines(tmp_path, at_every_piece):
    chunks = [(one.X, one.y) for one in (make_demo_stream(100, random_state=k) for k in range(4))]

    def run(*callbacks):
        return sk.PrequentialEvaluator(
            "accuracy",
            record_every=50,
            checkpoint=RunFolder(tmp_path / "run", every=50),
            callbacks=list(callbacks),
        ).evaluate(models(), chunks, classes=["DOWN", "UP"])

    with pytest.raises(CallbackError):
        run(CSVLog(tmp_path / "one.csv"), Fails("on_checkpoint"))
    assert 1 < len(read(tmp_path / "one.csv")) < 9
    run(CSVLog(tmp_path / "two.csv"))
    assert [int(line[0]) for line in read(tmp_path / "two.csv")[1:]] == list(range(50, 401, 50))
    run(CSVLog(tmp_path / "three.csv"))  # a folder that is finished
    assert read(tmp_path / "three.csv") == read(tmp_path / "two.csv")


@pytest.mark.parametrize("wrong", [3, [CSVLog], ["scores.csv"]])
def test_what_is_no_callback_is_refused(wrong):
    with pytest.raises(TypeError, match="on_start, on_checkpoint, on_end"):
        sk.PrequentialEvaluator(callbacks=wrong).evaluate(models(), make_demo_stream(20))


def test_where_callbacks_cannot_follow_they_are_refused():
    evaluator = sk.PrequentialEvaluator(callbacks=Kept())
    with pytest.raises(ValueError, match="callbacks= are for evaluate"):
        evaluator.start(models(), classes=[0, 1])
    with pytest.raises(ValueError, match="callbacks="):
        sk.evaluate_over_seeds(
            lambda seed: make_demo_stream(20), models(), [1, 2], evaluator=evaluator
        )


def test_the_recipe_for_mlflow_logs_the_curves(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="the recipe of the guide is for MLflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file://{tmp_path}/mlruns")
    page = (PROJECT / "docs" / "long_runs.md").read_text("utf-8")
    names = {}
    exec(re.search(r"```py\n(.*?)```", page, re.DOTALL)[1], names)
    log = names["MLflowLog"]()
    evaluator = sk.PrequentialEvaluator("accuracy", record_every=30, callbacks=log)
    result = evaluator.evaluate(models(), make_demo_stream(90))
    client = mlflow.MlflowClient()
    (run,) = client.search_runs(["0"])
    assert run.info.status == "FINISHED"
    assert run.data.params["sgd.alpha"] == "0.0001"
    history = client.get_metric_history(run.info.run_id, "last.accuracy")
    assert {one.step: one.value for one in history} == dict(
        zip(result.checkpoints.tolist(), result.curve("last")[:, 0], strict=True)
    )
    with pytest.raises(sk.ModelError):
        evaluator.evaluate(SGDClassifier(), [[0.0], [np.nan]], [0, 1])
    assert {one.info.status for one in client.search_runs(["0"])} == {"FINISHED", "FAILED"}
