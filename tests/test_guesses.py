"""Names that users guess, or know from other libraries, work or lead to ours."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import skstream
from skstream import (
    KFoldEvaluator,
    MajorityClass,
    Persistent,
    PrequentialEvaluator,
    PrequentialSearch,
)

RESULT = PrequentialEvaluator(["accuracy", "kappa_temporal"]).evaluate(
    {"last": Persistent(), "majority": MajorityClass()}, np.zeros((60, 1)), np.arange(60) % 2
)


@pytest.mark.parametrize(
    ("name", "leads_to"),
    [
        ("KFoldBootstrapEvaluator", "KFoldEvaluator"),
        ("PrequentialGridSearch", "PrequentialSearch"),
        ("EvaluatePrequential", "PrequentialEvaluator"),
        ("KFoldDistributedBootstrap", "KFoldEvaluator"),
        ("PersistentClassifier", "Persistent"),
        ("HoeffdingTree", "skstream.tree.HoeffdingTreeClassifier"),
        ("ADWIN", "from skstream.drift import ADWIN"),
        ("make_demo_stream", "from skstream.streams import make_demo_stream"),
    ],
)
def test_an_import_leads_to_where_a_name_is(name: str, leads_to: str) -> None:
    with pytest.raises(ImportError, match=leads_to):
        exec(f"from skstream import {name}")


def test_parts_are_imported_when_asked_for() -> None:
    assert skstream.tree.HoeffdingTreeClassifier
    assert not hasattr(skstream, "__wrapped__") and not hasattr(skstream, "surely_not_here")


@pytest.mark.parametrize(
    ("kind", "given", "leads_to"),
    [
        (PrequentialEvaluator, {"fading_factor": 0.99}, "forgetting='fading:0.99'"),
        (PrequentialEvaluator, {"window_size": 100}, "forgetting='window:100'"),
        (PrequentialEvaluator, {"scoring": "accuracy"}, "metrics='accuracy'"),
        (KFoldEvaluator, {"n_splits": 5}, "n_folds=5"),
        (KFoldEvaluator, {"engine": "loop"}, r"run=RunOptions\(kernels=False\)"),
        (KFoldEvaluator, {"method": "cross"}, "strategy='cross'"),
    ],
)
def test_a_parameter_leads_to_ours(kind: Any, given: dict[str, Any], leads_to: str) -> None:
    with pytest.raises(TypeError, match=leads_to):
        kind("accuracy", **given)


@pytest.mark.parametrize(
    ("given", "leads_to"),
    [
        ({"scoring": "accuracy"}, "metric='accuracy'"),
        ({"metrics": "mae"}, "metric='mae'"),
        ({"n_jobs": 2}, r"evaluator=PrequentialEvaluator\(n_jobs=2\)"),
        ({"cv": 5}, r"evaluator=PrequentialEvaluator\(\)"),
        ({"param_distributions": {}}, "param_grid={}"),
        ({"tunning": 9}, "tuning"),
    ],
)
def test_a_parameter_of_other_searches_leads_to_ours(given: dict[str, Any], leads_to: str) -> None:
    with pytest.raises(TypeError, match=f"PrequentialSearch has no parameter .*{leads_to}"):
        PrequentialSearch(Persistent(), **given)


@pytest.mark.parametrize(
    ("metric", "leads_to"),
    [
        ("adwin_accuracy", "Pass 'accuracy', and forgetting='adwin'"),
        ("window_kappa", "Pass 'kappa', and forgetting='window:...'"),
        ("g_mean", "'gmean'"),
    ],
)
def test_a_measure_leads_to_ours(metric: str, leads_to: str) -> None:
    with pytest.raises(ValueError, match=leads_to):
        PrequentialEvaluator(metric).evaluate(Persistent(), np.zeros((9, 1)), np.arange(9) % 2)


@pytest.mark.parametrize(
    ("name", "leads_to"),
    [
        ("wilcoxon", 'test="wilcoxon"'),
        ("sign_test", 'test="sign"'),
        ("mcnemar", 'test="mcnemar"'),
        ("q_statistic", 'test="q"'),
        ("friedman_nemenyi", 'test="friedman"'),
        ("to_dataframe", "to_frame"),
        ("kappa_temporal", "scores"),
        ("modelnames", "model_names"),
    ],
)
def test_an_attribute_of_a_result_leads_to_ours(name: str, leads_to: str) -> None:
    with pytest.raises(AttributeError, match=leads_to):
        getattr(RESULT, name)


def test_a_measure_is_an_attribute_of_scores() -> None:
    for scores in (RESULT.scores, RESULT.mean_scores):
        assert scores["last"].kappa_temporal == scores["last"]["kappa_temporal"]
    assert RESULT.scores["last"] == {"accuracy": 0.0, "kappa_temporal": 0.0}
    for again in (copy.deepcopy(RESULT), pickle.loads(pickle.dumps(RESULT))):
        assert again.scores == RESULT.scores


def test_names_of_tests_that_are_guessed_are_taken() -> None:
    folds = KFoldEvaluator("accuracy", n_folds=3, random_state=0).evaluate(
        {"last": Persistent(), "majority": MajorityClass()},
        np.zeros((60, 1)),
        np.arange(60) // 7 % 2,
    )
    for guessed, test in (("friedman-nemenyi", "friedman"), ("friedman_nemenyi", "friedman")):
        assert str(folds.compare(test=guessed)) == str(folds.compare(test=test))
    guessed = folds.compare("last", "majority", test="sign_test")
    assert str(guessed) == str(folds.compare("last", "majority", test="sign"))
