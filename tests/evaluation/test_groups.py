"""Groups of models and folds: as many as workers at most, and none where none pays."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.core.evaluators import execution as _execution
from skstream.core.evaluators.execution import divided
from skstream.streams import make_demo_stream
from skstream.tree import AdaptiveRandomForestClassifier
from tests.evaluation._models import Diary, numbered_rows
from tests.evaluation.conftest import why_one_process

X, y = numbered_rows(200), np.tile(["a", "b", "b", "a"], 50)


def why(models, n_rows, *, folds=1, backend="loky"):
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=folds)
    stream = make_demo_stream(20)
    settings, prepared = evaluator._prepare(models, ["DOWN", "UP"], stream)
    stream.n_rows  # noqa: B018
    with pytest.MonkeyPatch.context() as patch, parallel_config(backend=backend):
        patch.setattr(_execution, "ROWS_WORTH_WORKERS", 10_000_000)
        patch.setattr(type(stream), "n_rows", property(lambda _: n_rows))
        return why_one_process(2, evaluator._new_run(settings, stream), prepared, stream)


def test_a_plain_rule_says_where_workers_pay():
    kernels = {"sgd": SGDClassifier(), "last": sk.Persistent(), "most": sk.MajorityClass()}
    assert why(kernels, 60_000, folds=10) == "for so few rows, workers take longer to start"
    assert not why(kernels, 400_000, folds=10)
    assert why({"diary": Diary(), "other": Diary()}, 5_000)
    assert not why({"diary": Diary(), "other": Diary()}, 20_000)
    forest = {"forest": AdaptiveRandomForestClassifier(), "last": sk.Persistent()}
    assert why(forest, 20_000)
    assert not why(forest, 250_000)
    assert not why(kernels, None)  # nobody knows


def test_threads_are_not_used_for_kernels_alone():
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    said = "threads take turns where all models have kernels"
    assert why(models, 10**9, backend="threading") == said
    assert not why({**models, "diary": Diary()}, 10, backend="threading")


def test_where_workers_do_not_pay_the_result_says_so(monkeypatch):
    monkeypatch.setattr(_execution, "why_one_process", why_one_process)
    monkeypatch.setattr(_execution, "ROWS_WORTH_WORKERS", 10_000_000)
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    stream = make_demo_stream(300)
    result = sk.PrequentialEvaluator("accuracy", n_jobs=2, random_state=0).evaluate(models, stream)
    said = "All in one process: for so few rows, workers take longer to start"
    assert said in str(result)
    assert said in str(result.select(models="sgd"))
    alone = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(models, stream)
    assert "one process" not in str(alone)
    assert alone.scores == result.scores


@pytest.mark.parametrize(("n_folds", "n_groups"), [(1, 2), (4, 2), (3, 2), (2, 5), (6, 3)])
def test_groups_are_even_and_whole_folds_stay_together(n_folds, n_groups):
    places = [(name, fold) for name in "abc" for fold in range(n_folds)]
    groups = divided(places, n_groups)
    assert sorted(place for group in groups for place in group) == places
    sizes = [len(group) for group in groups]
    assert max(sizes) - min(sizes) <= 1
    if n_folds % n_groups == 0:
        assert all(len({place for place in group}) == 3 * n_folds // n_groups for group in groups)
        assert all({name for name, _ in group} == set("abc") for group in groups)


@pytest.mark.parametrize(
    ("name", "evaluator"),
    [
        ("prequential", sk.PrequentialEvaluator(random_state=0)),
        ("folds", sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0)),
        ("holdout", sk.HoldoutEvaluator("accuracy", holdout="next", every=20, random_state=0)),
        (
            "delayed",
            sk.DelayedEvaluator("accuracy", delay=9, random_state=0, polling=sk.Polling(n_bins=3)),
        ),
    ],
)
def test_results_are_the_same_in_any_groups(name, evaluator, monkeypatch):
    models = {"sgd": SGDClassifier(), "diary": Diary(), "last": sk.Persistent()}
    alone = evaluator.evaluate(models, X, y)
    rng = np.random.default_rng(0)
    evaluator.set_params(n_jobs=3)
    for _ in range(3):

        def shuffled(places, n_groups):
            order = rng.permutation(len(places))
            return [[places[k] for k in order[n::n_groups]] for n in range(n_groups)]

        monkeypatch.setattr(_execution, "divided", shuffled)
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
