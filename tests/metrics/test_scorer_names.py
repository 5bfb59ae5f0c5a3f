"""Names of scikit-learn's scorers are measures, with their sign and their values."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import get_scorer, get_scorer_names

from skstream import score_predictions
from skstream.core.measures.registry import task_of

rng = np.random.default_rng(0)
Y = rng.integers(0, 2, 300)
SHARES = rng.random(300)
ANSWERS = (SHARES > 0.6).astype(int)
TARGETS = rng.random(300) + 0.1
FORECASTS = TARGETS + rng.random(300)
#: Scorers that say nothing about single rows of a stream with one label each.
NOT_MEASURES = {"d2_brier_score", "d2_log_loss_score", "roc_auc_ovo_weighted"}


@pytest.mark.parametrize("name", sorted(set(get_scorer_names()) - NOT_MEASURES))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_values_are_those_of_the_scorer(name: str) -> None:
    if name.endswith("_samples"):
        with pytest.raises(ValueError, match=name.partition("_")[0]):
            score_predictions(Y, ANSWERS, metrics=name)
        return
    scorer = get_scorer(name)
    y, answers = (TARGETS, FORECASTS) if task_of(name) == "targets" else (Y, ANSWERS)
    result = score_predictions(
        y,
        answers,
        probabilities=None if y is TARGETS else SHARES,
        metrics=name,
        forgetting=["cumulative", "window:90"],
        record_every=100,
    )
    measure = result.measures[name]
    p = SHARES if measure.needs in ("probabilities", "scores") else answers
    options = {"k": 2, "labels": [0, 1]} if name == "top_k_accuracy" else scorer._kwargs
    for forgetting, length in (("cumulative", 300), ("window:90", 90)):
        curve = result.curve("model", name, forgetting=forgetting)[:, 0]
        for value, n in zip(curve, result.checkpoints, strict=True):
            part = slice(max(0, n - length), n)
            expected = scorer._sign * scorer._score_func(y[part], p[part], **options)
            np.testing.assert_allclose(value, expected, rtol=1e-9, err_msg=f"{forgetting} {n}")
    assert measure.higher_is_better in (True, None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("specificity:1", metrics.recall_score(Y, ANSWERS, pos_label=0)),
        ("specificity:0", metrics.recall_score(Y, ANSWERS, pos_label=1)),
        ("jaccard:1", metrics.jaccard_score(Y, ANSWERS)),
        ("f2:1", metrics.fbeta_score(Y, ANSWERS, beta=2)),
        ("f0.5:0", metrics.fbeta_score(Y, ANSWERS, beta=0.5, pos_label=0)),
        ("predicted_share:1", ANSWERS.mean()),
    ],
)
def test_measures_of_one_class(name: str, expected: float) -> None:
    result = score_predictions(Y, ANSWERS, metrics=name)
    assert result.scores["model"][name] == pytest.approx(expected)
    better = result.measures[name].higher_is_better
    assert better is (None if name.startswith("predicted") else True)
