"""k-fold distributed validation: folds, workers, comparisons."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import (
    KFoldEvaluator,
    ModelError,
    Persistent,
    PrequentialEvaluator,
    make_stream_pipeline,
)
from skstream.streams import make_demo_stream
from skstream.utils._seeds import poisson_weights
from tests.evaluation._models import Breaks, Diary, numbered_rows

STREAM = make_demo_stream(400)
MODELS = {"sgd": SGDClassifier(), "last": Persistent()}


def test_folds_learn_and_are_asked_what_the_weights_say():
    X, y = numbered_rows(40), np.tile(["a", "b"], 20)
    evaluator = KFoldEvaluator(
        "accuracy", n_folds=3, test_on="held_out", random_state=5, return_models=True
    )
    result = evaluator.evaluate(Diary(), X, y)
    for fold, model in enumerate(result.models["Diary"]):
        weights = poisson_weights(5, fold, 0, 40)
        learnt = [rows[0] for what, rows, *_ in model.calls_ if what == "learn"]
        asked = [rows[0] for what, rows, *_ in model.calls_ if what == "ask"]
        assert learnt == [0, *(np.flatnonzero(weights[1:]) + 1).tolist()]
        assert asked == (np.flatnonzero(weights[1:] == 0) + 1).tolist()
        given = [w[0] for what, *_, w in model.calls_ if what == "learn"]
        assert given == [1, *(w for w in weights[1:].tolist() if w)]


def test_scores_are_one_curve_per_fold():
    result = KFoldEvaluator(n_folds=4, random_state=0, record_every=100).evaluate(MODELS, STREAM)
    curve = result.curve("sgd", "accuracy")
    assert curve.shape == (4, 4)
    assert result.checkpoints.tolist() == [100, 200, 300, 400]
    assert len(set(curve[-1])) > 1
    assert result.scores["sgd"]["accuracy"] == pytest.approx(curve[-1].mean(), rel=1e-12)
    for fold in range(4):
        hits = (result.tape.answers["sgd"][fold] == result.tape.y)[1:]
        assert curve[-1, fold] == pytest.approx(hits.mean(), rel=1e-12)


def test_one_split_fold_tested_on_what_it_trains_is_prequential():
    fold = KFoldEvaluator(n_folds=1, strategy="split", test_on="trained")
    assert (
        fold.evaluate(MODELS, STREAM).scores
        == PrequentialEvaluator().evaluate(MODELS, STREAM).scores
    )


def test_workers_and_backends_give_the_same_result():
    from joblib import parallel_config

    models = {"sgd": SGDClassifier(), "last": Persistent()}
    alone = KFoldEvaluator(n_folds=3, random_state=0).evaluate(models, STREAM)
    apart = KFoldEvaluator(n_folds=3, random_state=0, n_jobs=2)
    others = [apart.evaluate(models, STREAM)]
    with parallel_config(backend="threading"):
        others.append(apart.evaluate(models, STREAM))
    for other in others:
        for name in models:
            np.testing.assert_array_equal(
                alone.curve(name, "kappa_m"), other.curve(name, "kappa_m")
            )
            assert alone.tape.answers[name].tolist() == other.tape.answers[name].tolist()


def test_random_states_differ_by_fold_and_repeat_by_seed():
    evaluator = KFoldEvaluator("accuracy", n_folds=2, random_state=0, return_models=True)
    models = {
        "free": make_stream_pipeline(StandardScaler(), SGDClassifier()),
        "fixed": SGDClassifier(random_state=2),
    }
    first, again = (evaluator.evaluate(models, STREAM) for _ in range(2))
    seeds = [model[-1].random_state for model in first.models["free"]]
    assert len(set(seeds)) == 2
    assert [model[-1].random_state for model in again.models["free"]] == seeds
    assert [model.random_state for model in first.models["fixed"]] == [2, 2]
    assert models["free"][-1].random_state is None


def test_online_comparison_while_the_stream_runs():
    run = KFoldEvaluator("accuracy", n_folds=5, random_state=0).start(
        MODELS, classes=["DOWN", "UP"]
    )
    pvalues = []
    for k in range(0, 400, 200):
        run.update(STREAM.X[k : k + 200], STREAM.y[k : k + 200])
        pvalues.append(run.result().compare("sgd", "last").pvalue)
    assert all(0 <= p <= 1 for p in pvalues)


def test_comparing_and_ranking():
    models = {**MODELS, "slow": SGDClassifier(alpha=10.0)}
    result = KFoldEvaluator("accuracy", n_folds=6, random_state=0).evaluate(models, STREAM)
    assert result.compare("sgd", "last").pvalue < 0.1
    assert not result.compare("sgd", "sgd").significant
    assert not result.compare("sgd", "sgd", test="sign").significant
    assert not result.compare("sgd", "sgd", test="anytime", fold=0).significant
    assert not result.compare("sgd", "sgd", test="mcnemar", fold=0).significant
    ranked = result.rank()
    assert set(ranked.ranking) == set(models)
    streams = [
        PrequentialEvaluator("accuracy").evaluate(models, make_demo_stream(300, random_state=k))
        for k in range(4)
    ]
    assert set(streams[0].rank(*streams[1:]).ranking) == set(models)
    with pytest.raises(ValueError, match="several folds or several streams"):
        streams[0].rank()
    with pytest.raises(ValueError, match="pass fold="):
        result.compare("sgd", "last", test="mcnemar")
    with pytest.raises(ValueError, match="The test must be one of"):
        result.compare("sgd", "last", test="t")
    with pytest.raises(KeyError, match="no model 'knn'"):
        result.compare("sgd", "knn")


def test_a_failing_fold_is_named():
    X, y = numbered_rows(30), np.tile(["a", "b"], 15)
    with pytest.raises(ModelError, match=r"'Breaks'.*failed while learning row 20"):
        KFoldEvaluator("accuracy", n_folds=3, random_state=0).evaluate(Breaks(at=20), X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "jackknife"}, "strategy"),
        ({"test_on": "some"}, "test_on"),
        ({"n_folds": 0}, "n_folds"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        KFoldEvaluator(**options).evaluate(MODELS, STREAM)


class FailsLate(Persistent):
    """Fails in the folds in which it learns more rows than in the others."""

    n = 0

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        self.n += 1
        if self.n >= 198:
            raise RuntimeError("enough")
        return super().partial_fit(X, y, classes)


def test_a_mean_over_folds_is_over_all_folds() -> None:
    """A model that failed in one fold is not judged by the others."""
    X, y, _ = next(iter(make_demo_stream(300)))
    models = {"fails": FailsLate(), "persistent": Persistent()}
    evaluator = KFoldEvaluator("accuracy", n_folds=6, random_state=0, error_score=np.nan)
    with pytest.warns(FitFailedWarning):
        result = evaluator.evaluate(models, X, y)
    last = result.curve("fails", "accuracy")[-1]
    assert 0 < np.isnan(last).sum() < 6
    assert np.isnan(result.scores["fails"]["accuracy"])
    assert result.scores["persistent"]["accuracy"] > 0.8
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    assert np.isnan(result.plot().to_frame().query("model == 'fails'")["value"]).any()


def test_folds_without_a_value_are_said() -> None:
    y = np.array(["a"] * 300)
    y[[5, 6, 290]] = "b"
    evaluator = KFoldEvaluator(
        "kappa",
        n_folds=8,
        strategy="split",
        test_on="trained",
        forgetting="window:20",
        random_state=0,
    )
    with pytest.warns(UndefinedMetricWarning, match=r"\(window:20, in \d of 8 folds\)"):
        result = evaluator.evaluate({"persistent": Persistent()}, np.zeros((300, 1)), y)
    assert np.isnan(result.scores["persistent"]["kappa"])
