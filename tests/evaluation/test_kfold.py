"""k-fold distributed validation: folds, workers, comparisons."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import KFoldEvaluator, Persistent, PrequentialEvaluator, make_stream_pipeline
from skstream.streams import make_demo_stream
from skstream.utils._seeds import poisson_weights
from tests.evaluation._models import Diary, FailsLater, numbered_rows

STREAM = make_demo_stream(400)
MODELS = {"sgd": SGDClassifier(), "last": Persistent()}


def test_folds_learn_and_are_asked_what_the_weights_say():
    X, y = numbered_rows(40), np.tile(["a", "b"], 20)
    evaluator = KFoldEvaluator("accuracy", n_folds=3, random_state=5, strategy="bootstrap:held_out")
    result = evaluator.evaluate(Diary(), X, y, return_models=True)
    for fold, model in enumerate(result.models["Diary"]):
        weights = poisson_weights(5, fold, 0, 40)
        learnt = [rows[0] for what, rows, *_ in model.calls_ if what == "learn"]
        asked = [rows[0] for what, rows, *_ in model.calls_ if what == "ask"]
        assert learnt == [0, *(np.flatnonzero(weights[1:]) + 1).tolist()]
        assert asked == (np.flatnonzero(weights[1:] == 0) + 1).tolist()
        given = [w[0] for what, *_, w in model.calls_ if what == "learn"]
        assert given == [1, *(w for w in weights[1:].tolist() if w)]


def test_one_split_fold_tested_on_what_it_trains_is_prequential():
    fold = KFoldEvaluator(n_folds=1, strategy="split:trained")
    assert (
        fold.evaluate(MODELS, STREAM).scores
        == PrequentialEvaluator().evaluate(MODELS, STREAM).scores
    )


def test_random_states_differ_by_fold_and_repeat_by_seed():
    evaluator = KFoldEvaluator("accuracy", n_folds=2, random_state=0)
    models = {
        "free": make_stream_pipeline(StandardScaler(), SGDClassifier()),
        "fixed": SGDClassifier(random_state=2),
    }
    first, again = (evaluator.evaluate(models, STREAM, return_models=True) for _ in range(2))
    seeds = [model[-1].random_state for model in first.models["free"]]
    assert len(set(seeds)) == 2
    assert [model[-1].random_state for model in again.models["free"]] == seeds
    assert [model.random_state for model in first.models["fixed"]] == [2, 2]
    assert models["free"][-1].random_state is None


def test_comparing_and_ranking():
    result = KFoldEvaluator("accuracy", n_folds=6, random_state=0).evaluate(MODELS, STREAM)
    for options in (
        {},
        {"test": "sign"},
        *({"test": t, "fold": 0} for t in ("anytime", "mcnemar")),
    ):
        assert not result.compare("sgd", "sgd", **options).significant
    assert set(result.rank().ranking) == set(MODELS)
    one = PrequentialEvaluator("accuracy").evaluate(MODELS, STREAM)
    with pytest.raises(ValueError, match="several folds or several streams"):
        one.rank()
    with pytest.raises(ValueError, match="pass fold="):
        result.compare("sgd", "last", test="mcnemar")
    with pytest.raises(ValueError, match="test must be "):
        result.compare("sgd", "last", test="t")
    with pytest.raises(KeyError, match="no model 'knn'"):
        result.compare("sgd", "knn")


def test_a_mean_over_folds_is_over_all_folds(matplotlib: Any, pd: Any) -> None:
    """A model that failed in one fold is not judged by the others."""
    X, y, _ = next(iter(make_demo_stream(300)))
    models = {"fails": FailsLater(197), "persistent": Persistent()}
    evaluator = KFoldEvaluator("accuracy", n_folds=6, random_state=0, error_score=np.nan)
    with pytest.warns(FitFailedWarning):
        result = evaluator.evaluate(models, X, y)
    last = result.curve("fails", "accuracy")[-1]
    assert 0 < np.isnan(last).sum() < 6
    assert np.isnan(result.scores["fails"]["accuracy"])
    assert result.scores["persistent"]["accuracy"] > 0.8
    assert np.isnan(result.plot().to_frame().query("model == 'fails'")["value"]).any()
