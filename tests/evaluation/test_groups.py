"""Groups of models and folds: balanced, as many as workers at most, and none where none pays."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.evaluation._parallel import _groups
from skstream.evaluation._parallel._groups import _all_have_kernels as all_have_kernels
from skstream.evaluation._parallel._groups import grouped
from skstream.evaluation._parallel._workers import Workers
from skstream.streams import make_demo_stream
from tests.evaluation._models import Diary, numbered_rows

X, y = numbered_rows(200), np.tile(["a", "b", "b", "a"], 50)


def groups_of(models, n_jobs, stream=None, evaluator=None):
    evaluator = evaluator or sk.PrequentialEvaluator("accuracy")
    stream = sk.as_stream(X, y) if stream is None else stream
    settings, prepared = evaluator._prepare(models, ["a", "b"], stream)
    with parallel_config(backend="threading"):
        return grouped(n_jobs, evaluator._new_run(settings, stream), prepared, stream)


def test_where_workers_do_not_pay_the_result_says_so(monkeypatch):
    def none(*_):
        raise AssertionError("no worker is needed")

    monkeypatch.setattr(_groups, "SECONDS_OF_START", 1.5)
    monkeypatch.setattr(Workers, "run", none)
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    stream = make_demo_stream(300)
    result = sk.PrequentialEvaluator("accuracy", n_jobs=2, random_state=0).evaluate(models, stream)
    said = "All in one process: about 0.0 s of work, while workers take 1.5 s to start"
    assert said in str(result)
    assert said in str(result.select(models="sgd"))
    alone = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(models, stream)
    assert "one process" not in str(alone)
    assert alone.scores == result.scores


def test_threads_are_not_used_for_kernels_alone(monkeypatch):
    monkeypatch.setattr(_groups, "_all_have_kernels", all_have_kernels)
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    stream = make_demo_stream(100)
    evaluator = sk.PrequentialEvaluator("accuracy", n_jobs=2, random_state=0)
    with parallel_config(backend="threading"):
        result = evaluator.evaluate(models, stream)
    assert "All in one process: threads take turns where all models have kernels" in str(result)
    assert len(groups_of({**models, "diary": Diary()}, 2).places) == 2


@pytest.mark.parametrize(
    ("name", "evaluator"),
    [
        ("prequential", sk.PrequentialEvaluator(random_state=0)),
        ("folds", sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0)),
        ("holdout", sk.HoldoutEvaluator("accuracy", holdout="next", every=20, random_state=0)),
        ("delayed", sk.DelayedEvaluator("accuracy", delay=9, n_bins=3, random_state=0)),
    ],
)
def test_results_are_the_same_in_any_groups(name, evaluator, monkeypatch):
    models = {"sgd": SGDClassifier(), "diary": Diary(), "last": sk.Persistent()}
    alone = evaluator.evaluate(models, X, y)
    rng = np.random.default_rng(0)
    evaluator.set_params(n_jobs=3)
    for _ in range(3):
        monkeypatch.setattr(
            _groups, "seconds_per_row", lambda run, models, _: {k: rng.random() for k in models}
        )
        with parallel_config(backend="threading"):
            apart = evaluator.evaluate(models, X, y)
        assert apart.scores == alone.scores
        for model, answers in alone.tape.answers.items():
            np.testing.assert_array_equal(apart.tape.answers[model], answers)


def test_a_stream_that_can_be_read_once_says_so():
    chunks = iter([(X, y)])
    with parallel_config(backend="threading"):
        result = sk.PrequentialEvaluator("accuracy", n_jobs=2).evaluate(
            {"a": Diary(), "b": Diary()}, chunks, classes=["a", "b"]
        )
    assert "All in one process: the stream can be read only once" in str(result)
