"""Groups of models and folds: balanced, as many as workers at most, and none where none pays."""

from time import sleep

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.evaluation._parallel import _groups
from skstream.evaluation._parallel._groups import _all_have_kernels as all_have_kernels
from skstream.evaluation._parallel._groups import balanced, grouped
from skstream.evaluation._parallel._workers import Workers
from skstream.streams import make_demo_stream
from tests.evaluation._models import Diary, Scripted, numbered_rows

X, y = numbered_rows(200), np.tile(["a", "b", "b", "a"], 50)


class Sleepy(Diary):
    """Takes its time to answer."""

    def __init__(self, seconds=0.001):
        self.seconds = seconds

    def predict(self, X):
        sleep(self.seconds)
        return super().predict(X)


def groups_of(models, n_jobs, stream=None, evaluator=None):
    evaluator = evaluator or sk.PrequentialEvaluator("accuracy")
    stream = sk.as_stream(X, y) if stream is None else stream
    settings, prepared = evaluator._prepare(models, ["a", "b"], stream)
    with parallel_config(backend="threading"):
        return grouped(n_jobs, evaluator._new_run(settings, stream), prepared, stream)


def test_the_longest_is_given_first_to_who_has_least():
    seconds = dict(zip([(k, 0) for k in "abcdef"], [3.0, 1.0, 2.0, 2.0, 3.0, 1.0], strict=True))
    groups = [[name for name, _ in group] for group in balanced(seconds, 2)]
    assert groups == [["a", "b", "c"], ["d", "e", "f"]]
    assert balanced({(k, 0): 0.0 for k in "abc"}, 2) == [[("a", 0), ("c", 0)], [("b", 0)]]
    assert balanced({("a", 0): 1.0}, 3) == [[("a", 0)]]


def test_folds_stay_whole_where_the_groups_are_as_even():
    def folds_of(groups):
        return [sorted({fold for _, fold in group}) for group in groups]

    seconds = {(name, fold): cost for name, cost in [("a", 1), ("b", 3)] for fold in range(4)}
    assert folds_of(balanced(seconds, 2)) == [[0, 2], [1, 3]]
    # Three workers: one would have two folds of four, eight seconds; lane by lane it is six.
    loads = [sum(seconds[place] for place in group) for group in balanced(seconds, 3)]
    assert max(loads) == 6


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
def test_there_are_as_many_groups_as_workers_at_most(n_jobs):
    models = {f"m{k}": Diary() if k % 2 else SGDClassifier() for k in range(5)}
    groups = groups_of(models, n_jobs).places
    assert len(groups) == min(n_jobs, 5)
    assert sorted(place for group in groups for place in group) == [(name, 0) for name in models]


def test_a_slow_model_has_a_worker_of_its_own():
    models = {"slow": Sleepy(0.01), "a": Diary(), "b": SGDClassifier(), "c": sk.Persistent()}
    groups = groups_of(models, 2).places
    assert groups == [[("slow", 0)], [("a", 0), ("b", 0), ("c", 0)]]


def test_folds_of_a_model_are_shared_out():
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=4)
    groups = groups_of({"slow": Sleepy(0.002)}, 2, evaluator=evaluator).places
    assert [len(group) for group in groups] == [2, 2]


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


@pytest.mark.parametrize("known", [True, False])
def test_much_work_or_a_stream_of_unknown_length_goes_to_workers(known, monkeypatch):
    monkeypatch.setattr(_groups, "_seconds_of_start", lambda _: 0.05)
    stream = sk.as_stream(X, y) if known else sk.as_stream(lambda: iter([(X, y)]))
    groups = groups_of({"a": Sleepy(), "b": Sleepy()}, 2, stream)
    assert len(groups.places) == 2
    assert not groups.why_one


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


def test_what_fails_when_it_is_tried_is_left_to_the_workers():
    models = {"bad": Scripted(learning={2: RuntimeError("out of paper")}), "good": Diary()}
    assert groups_of(models, 2).places == [[("bad", 0)], [("good", 0)]]
    with parallel_config(backend="threading"), pytest.raises(sk.ModelError, match=r"'bad'.*row 2"):
        sk.PrequentialEvaluator("accuracy", n_jobs=2).evaluate(models, X, y)


def test_models_that_cost_the_same_are_tried_once():
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0)
    models = {
        "weak": SGDClassifier(alpha=1e-5),
        "strong": SGDClassifier(alpha=1e-2),
        "other loss": SGDClassifier(loss="log_loss"),
        "plain": Diary(),
        "plain too": Diary(),
    }
    stream = sk.as_stream(X, y)
    settings, prepared = evaluator._prepare(models, ["a", "b"], stream)
    new_run = evaluator._new_run(settings, stream)
    runs = []

    def noted(models):
        runs.append(new_run(models))
        return runs[-1]

    seconds = _groups.seconds_per_row(noted, prepared, stream)
    assert list(seconds) == list(prepared)
    assert len({value for (name, _), value in seconds.items() if name in ("weak", "strong")}) == 1
    tried = [place for run in runs if run.n_rows for place in run.path_of]
    assert sorted(tried) == [(name, 0) for name in sorted(models) if name != "strong"]


def test_a_stream_that_can_be_read_once_says_so():
    chunks = iter([(X, y)])
    with parallel_config(backend="threading"):
        result = sk.PrequentialEvaluator("accuracy", n_jobs=2).evaluate(
            {"a": Diary(), "b": Diary()}, chunks, classes=["a", "b"]
        )
    assert "All in one process: the stream can be read only once" in str(result)
