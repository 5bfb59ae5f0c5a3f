from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score, get_scorer

from skstream import MeanRegressor, PrequentialEvaluator
from skstream.core.measures.registry import (
    CLASSIFICATION,
    MAJORITIES,
    MEANINGS,
    OF_CLASS,
    OF_CLASSES,
    REGRESSION,
    resolve_metrics,
)
from skstream.metrics import (
    Measure,
    harmonic_accuracy_score,
    kappa_m_score,
    kappa_score,
    kappa_temporal_score,
)
from skstream.utils._sklearn import scorer_names
from tests.metrics._streams import running

CLASSES = np.array(["DOWN", "UP"])


def test_defaults():
    standard = ["accuracy", "kappa", "kappa_m", "kappa_temporal", "kappa_plus"]
    assert list(resolve_metrics(None, classes=CLASSES)) == standard
    assert list(resolve_metrics(None, classes=None)) == ["mae", "rmse", "r2"]


@pytest.mark.parametrize("name", [*CLASSIFICATION, "f1:UP", "precision:DOWN", "recall:UP"])
def test_names_of_classification(name):
    (measure,) = resolve_metrics(name, classes=CLASSES).values()
    assert measure.name == name
    assert measure.formula is not None


@pytest.mark.parametrize("name", REGRESSION)
def test_names_of_regression(name):
    assert resolve_metrics([name], classes=None) == {name: REGRESSION[name]}


def test_everything_that_names_a_measure():
    def share(y_true, y_pred):
        return float(np.mean(y_pred == "UP"))

    resolved = resolve_metrics(
        {
            "a": "kappa",
            "b": kappa_score,
            "c": partial(kappa_m_score, majority="hindsight"),
            "d": partial(kappa_temporal_score),
            "e": share,
            "f": partial(f1_score, pos_label="UP"),
            "g": "f1:UP",
        },
        classes=CLASSES,
    )
    assert list(resolved) == list("abcdefg")
    assert resolved["a"] == resolved["b"] == CLASSIFICATION["kappa"]
    assert resolved["c"] == MAJORITIES["hindsight"] != CLASSIFICATION["kappa_m"]
    assert resolved["d"] == CLASSIFICATION["kappa_temporal"]
    assert resolved["e"].function is share
    assert resolved["f"].formula is None and resolved["f"].higher_is_better
    assert resolve_metrics(resolved, classes=CLASSES) == resolved
    listed = resolve_metrics([share, harmonic_accuracy_score, "kappa"], classes=CLASSES)
    assert list(listed) == ["share", "harmonic_accuracy", "kappa"]
    assert all(isinstance(measure, Measure) for measure in listed.values())


def test_labels_that_are_numbers_or_truth_values():
    assert "f1:-1" in resolve_metrics("f1:-1", classes=[-1, 1])
    assert "f1:True" in resolve_metrics("f1:True", classes=np.array([False, True]))


@pytest.mark.parametrize(
    ("metrics", "classes", "message"),
    [
        ("kappa_per", CLASSES, r"Did you mean 'kappa_temporal'\?"),
        ("kappa_combined", CLASSES, r"Did you mean 'kappa_plus'\?"),
        ("MicroF1", CLASSES, "Did you mean scikit-learn's scorer 'f1_micro'"),
        ("CohenKappa", CLASSES, r"Did you mean 'kappa'\?"),
        ("kapa", CLASSES, r"Unknown measure 'kapa'\. Did you mean 'kappa'\? Known are accuracy,"),
        ("kappa_temporl", CLASSES, "Did you mean 'kappa_temporal'"),
        ("zzz", CLASSES, r"Unknown measure 'zzz'\. Known .* for every class f1:UP, precision:UP"),
        ("f1:LEFT", CLASSES, r"'f1:LEFT' does not name a class\. The classes are 'DOWN', 'UP'"),
        (
            "r2",
            CLASSES,
            r"'r2' is one of regression, but the models are classifiers\. Suitable are a",
        ),
        ("kappa", None, "'kappa' is one of classification, but the models are regressors"),
        ("f1:UP", None, "Unknown measure"),
        ("balanced_accuracy", None, "'arithmetic_accuracy' is a measure of classification"),
        ("f1", CLASSES, r"Did you mean 'f1_macro'\? Or name the class: 'f1:DOWN' or 'f1:UP'\."),
        ("Accuracy", CLASSES, "Did you mean 'accuracy'"),
        ("log_loss:3", CLASSES, r"'log_loss' takes nothing after a colon, but got '3'\."),
        ("cost", CLASSES, r"pass skstream.metrics.cost\(matrix\)"),
        ("gmean:x", CLASSES, "after the colon of 'gmean' comes a number, not 'x'"),
        ("top_k_accuracy:2.5", CLASSES, "comes a whole number, not '2.5'"),
        ("pinball:x", None, "after the colon of 'pinball' comes a number, not 'x'"),
        ("hinge", CLASSES, "not just predicted labels"),
        ("median_absolute_error", None, "scorer 'neg_median_absolute_error'"),
        ("cmd", [0, 1, 2], "'cmd' is defined for at most 2 classes; here are 3"),
        (Measure(kappa_score, max_classes=2), [0, 1, 2], "at most 2 classes; here are 3"),
        (Measure(name="mine", higher_is_better=True), CLASSES, "'mine' has neither a function"),
        (["kappa", kappa_score], CLASSES, "given twice"),
        ([], CLASSES, "No measure was given"),
        ({}, CLASSES, "No measure was given"),
        ({1: "error", "1": "kappa"}, CLASSES, "names of the measures must differ as text"),
        (partial(kappa_m_score, past=["UP"]), CLASSES, r"may set only 'majority'"),
        (partial(kappa_score, majority="hindsight"), CLASSES, "may set only 'majority'"),
        (partial(kappa_temporal_score, previous_label="UP"), CLASSES, "previous_label"),
        (partial(kappa_m_score, majority="mine"), CLASSES, "Got 'mine' instead"),
    ],
)
def test_what_is_no_measure(metrics, classes, message):
    with pytest.raises(ValueError, match=message):
        resolve_metrics(metrics, classes=classes)


@pytest.mark.parametrize("metrics", [5, [5], {"a": None}, [["kappa"]]])
def test_what_can_be_no_measure(metrics):
    with pytest.raises(TypeError, match="instead"):
        resolve_metrics(metrics, classes=CLASSES)


def test_only_the_series_that_a_measure_needs_are_carried():
    measures = running("accuracy", "cumulative", np.arange(30))
    assert len(measures._scores.groups[0].sums[0].series) == 2
    measures = running(["kappa", "kappa_temporal"], "cumulative", np.arange(30))
    assert len(measures._scores.groups[0].sums[0].series) == 64


def test_a_parameter_that_is_the_default_stays_in_the_name():
    names = ["top_k_accuracy", "top_k_accuracy:2", "top_k_accuracy:3"]
    assert list(resolve_metrics(names, classes=["a", "b", "c"])) == names
    assert list(resolve_metrics("pinball:0.5", classes=None)) == ["pinball:0.5"]


@pytest.mark.parametrize(("regression", "least"), [(False, 24), (True, 10)])
def test_names_of_scikit_learn_scorers_are_measures(regression, least, rng):
    """With their sign. Refused, by name, are those of clusters, and of scores not asked for."""
    X = rng.normal(size=(80, 3))
    y = np.exp(X[:, 0]) + 1.0 if regression else (X[:, 0] > 0).astype(int)
    model = MeanRegressor() if regression else SGDClassifier(loss="log_loss", random_state=0)
    n_known = 0
    for name in scorer_names(regression=regression):
        try:
            resolve_metrics(name, classes=None if regression else [0, 1])
        except ValueError as error:
            assert name in str(error)
            continue
        n_known += 1
        scorer = get_scorer(name)
        if scorer._response_method != "predict":
            continue
        result = PrequentialEvaluator(name, record_every=80).evaluate({"m": model}, X, y)
        answers = result.predictions("m", every_row=True)[1:].astype(y.dtype)
        wanted = scorer._sign * scorer._score_func(y[1:], answers, **scorer._kwargs)
        assert result.scores["m"][name] == pytest.approx(wanted, rel=1e-9), name
    assert n_known >= least


def test_every_named_measure_is_explained_in_a_few_words() -> None:
    assert MEANINGS.keys() == {*OF_CLASSES, *REGRESSION, *OF_CLASS}
    for name, words in MEANINGS.items():
        assert 1 <= len(words.split()) <= 16 and len(words) <= 80, name
        assert words[0].islower() or words.startswith("Matthews"), name
        assert not words.endswith("."), name
