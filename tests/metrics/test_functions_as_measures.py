"""scikit-learn's functions and scorers as measures: called at checkpoints, directions, refusals."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.metrics import get_scorer, make_scorer

from skstream.core.measures.registry import resolve_metrics
from skstream.metrics import Measure, kappa_temporal_score
from tests.metrics._streams import running


@pytest.mark.parametrize(
    ("item", "classes", "better"),
    [
        (sk.f1_score, [0, 1], True),
        (sk.zero_one_loss, [0, 1], False),
        (sk.mean_squared_error, None, False),
        (partial(sk.f1_score, labels=[0, 7], average="macro"), [0, 1], True),
        (partial(sk.recall_score, labels=[0], average="micro"), [0, 1], True),
        (partial(sk.accuracy_score, normalize=False), [0, 1], True),
        (partial(sk.zero_one_loss, normalize=False), [0, 1], False),
        (partial(sk.balanced_accuracy_score, adjusted=True), [0, 1], True),
        (partial(sk.cohen_kappa_score, weights="linear"), [0, 1], True),
        (sk.fowlkes_mallows_score, [0, 1], True),
        (sk.mean_absolute_error, [0, 1], False),  # of labels that are numbers
        (partial(sk.r2_score, force_finite=False), None, True),
        (sk.median_absolute_error, None, False),
        (sk.max_error, None, False),
        (sk.mean_poisson_deviance, None, False),
        (sk.explained_variance_score, None, True),
        (lambda y, p: 1.0, None, None),
    ],
    ids=lambda value: str(value)[:40].split(" at ")[0],
)
def test_functions_are_called_and_know_their_direction(item, classes, better):
    (measure,) = resolve_metrics([item], classes=classes).values()
    assert measure.formula is None
    assert measure.higher_is_better is better


def test_names_of_scorers_keep_sign_and_options():
    names = ["neg_max_error", "neg_mean_absolute_error"]
    called, negative = resolve_metrics(names, classes=None).values()
    assert called.formula is None and called.higher_is_better is True
    assert pickle.loads(pickle.dumps(called)).function([0.0], [2.0]) == -2.0
    assert (negative.bounds, negative.higher_is_better) == ((-np.inf, 0.0), True)
    with pytest.raises(ValueError, match="'n' has no sample_weight"):
        running({"n": called}, "fading:0.5", None)
    score = running({"n": pickle.loads(pickle.dumps(negative))}, "fading:0.5", None)
    score.update([0.0, 1.0], [2.0, 1.0])
    assert score.final()["fading:0.5"]["n"] == pytest.approx(-2 / 3)
    (called,) = resolve_metrics("neg_mean_squared_log_error", classes=None).values()
    score = running({"n": called}, "fading:0.5", None)  # weights of the fading are passed on
    score.update([0.0, 1.0], [np.e - 1, 1.0])
    assert score.final()["fading:0.5"]["n"] == pytest.approx(-1 / 3)


@pytest.mark.parametrize(
    "scorer", [get_scorer("accuracy"), make_scorer(sk.max_error, greater_is_better=False)]
)
def test_a_scorer_is_refused_because_it_takes_a_model(scorer):
    for item in (scorer, [scorer], {"mine": scorer}, Measure(scorer)):
        with pytest.raises(TypeError, match=r"is a scorer, which takes a model.*Pass the name"):
            resolve_metrics(item, classes=[0, 1])


@pytest.mark.parametrize(
    "item",
    [
        *(sk.hinge_loss, sk.log_loss, sk.roc_auc_score, sk.brier_score_loss),
        *(partial(sk.top_k_accuracy_score, k=1), Measure(sk.ndcg_score, higher_is_better=True)),
        "roc_auc_ovo_weighted",
    ],
    ids=lambda item: str(item)[:30].split(" at ")[0],
)
def test_what_needs_probabilities_is_refused_in_words(item):
    with pytest.raises(ValueError, match="not just predicted labels"):
        resolve_metrics(item, classes=[0, 1])


def test_a_partial_of_our_function_is_in_its_running_form():
    (measure,) = resolve_metrics(partial(kappa_temporal_score), classes=[0, 1]).values()
    (same,) = resolve_metrics("kappa_temporal", classes=[0, 1]).values()
    assert measure == same


def test_a_measure_of_a_function_keeps_what_the_user_says():
    loss = Measure(sk.zero_one_loss, name="mistakes", bounds=(0, 0.5))
    (measure,) = resolve_metrics(loss, classes=[0, 1]).values()
    assert (measure.name, measure.higher_is_better, measure.bounds) == ("mistakes", False, (0, 0.5))
    with pytest.raises(ValueError, match="'zero_one_loss' was given higher_is_better=True"):
        resolve_metrics(Measure(sk.zero_one_loss, higher_is_better=True), classes=[0, 1])


def test_a_namesake_is_not_scikit_learns():
    def f1_score(y_true, y_pred):
        return 0.0

    (measure,) = resolve_metrics(f1_score, classes=[0, 1]).values()
    assert measure.function is f1_score
    assert measure.higher_is_better is None


def test_callable_objects_that_cannot_be_hashed_are_measures():
    class Cost:
        __hash__ = None

        def __call__(self, y_true, y_pred):
            return 1.0

    assert list(resolve_metrics(Cost(), classes=[0, 1])) == ["Cost"]
