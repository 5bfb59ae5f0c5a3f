"""Comparison of models: which is better, by which measure, and what the statement says."""

import numpy as np
import pytest

from skstream import KFoldEvaluator, MajorityClass, Persistent, PrequentialEvaluator, load_result
from skstream.metrics import Measure
from skstream.streams import make_demo_stream


def wrong_share(y_true, y_pred):
    return np.mean(y_true != y_pred)


def k_fold(metrics, n_rows=400, **options):
    """Persistent answers far more rows of the demo stream than the majority class."""
    evaluator = KFoldEvaluator(metrics, n_folds=10, random_state=0, **options)
    models = {"last": Persistent(), "majority": MajorityClass()}
    return evaluator.evaluate(models, make_demo_stream(n_rows, random_state=0))


@pytest.mark.parametrize(
    "metrics",
    [
        "error",
        {"quality": "error"},
        {"accuracy": "error"},
        Measure(wrong_share, higher_is_better=False),
        {"accuracy": Measure(wrong_share, higher_is_better=False)},
    ],
    ids=str,
)
def test_a_loss_names_the_right_winner_whatever_it_is_called(metrics):
    result = k_fold(metrics)
    assert result.compare("majority", "last").better == "last"
    assert result.compare("majority", "last", test="sign").better == "last"
    assert result.rank().ranking == ("last", "majority")


def test_measures_that_do_not_say_their_direction_are_refused_by_name():
    result = k_fold([wrong_share, "kappa_se"])
    for metric in ("wrong_share", "kappa_se"):
        with pytest.raises(ValueError, match=f"{metric}.*Measure.function, higher_is_better"):
            result.compare("last", "majority", metric=metric)
        with pytest.raises(ValueError, match=f"{metric}.*Measure.function, higher_is_better"):
            result.rank(metric=metric)
    assert result.compare("majority", "last", higher_is_better=False).better == "last"
    assert result.rank(higher_is_better=False).ranking[0] == "last"


def test_a_direction_that_contradicts_the_measure_is_refused():
    with pytest.raises(ValueError, match="A lower value of measure 'error' is the better one"):
        k_fold("error").compare("last", "majority", higher_is_better=True)


def test_the_first_measure_is_compared_by_default():
    result = k_fold(["accuracy", "error"])
    assert result.compare("last", "majority").median_difference > 0
    assert k_fold(None).compare("last", "majority").better == "last"


def test_results_keep_what_measures_say(tmp_path):
    loss = Measure(wrong_share, higher_is_better=False, bounds=(0, 1))
    evaluator = PrequentialEvaluator({"err": "error", "mine": loss, "k": "kappa", "f1:UP": "f1:UP"})
    result = evaluator.evaluate(Persistent(), make_demo_stream(100))
    loaded = load_result(result.save(tmp_path / "result.npz"))
    assert loaded.measures == result.measures
    assert loaded.mechanisms == result.mechanisms == {"cumulative": "cumulative"}
    err, mine, kappa, f1 = result.measures.values()
    assert (err.name, err.higher_is_better, err.bounds) == ("error", False, (0.0, 1.0))
    assert (mine.name, mine.higher_is_better, mine.bounds) == ("wrong_share", False, (0.0, 1.0))
    assert (kappa.higher_is_better, kappa.baseline_is_zero) == (True, True)
    assert (f1.name, f1.bounds) == ("f1:UP", (0.0, 1.0))
    rescored = loaded.rescore({"e": "error"}, {"recent": "window:50"})
    assert {name: facts.name for name, facts in rescored.measures.items()} == {"e": "error"}
    assert rescored.mechanisms == {"recent": "window:50"}


@pytest.mark.parametrize(
    "options, message",
    [
        ({"higher_is_better": "less"}, "'higher_is_better' parameter of Measure must be True"),
        ({"bounds": (1, 0)}, "'bounds' parameter of Measure must be two numbers"),
        ({"bounds": 1}, "'bounds' parameter of Measure must be two numbers"),
        ({"row_loss": "log"}, "'row_loss' parameter of Measure must be a str among"),
    ],
)
def test_measures_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Measure(wrong_share, **options)


def test_a_measure_is_made_of_a_function():
    with pytest.raises(TypeError, match="made of a function"):
        Measure("kappa", higher_is_better=True)
