"""Pictures of predictions that were made elsewhere."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, mean_absolute_error, median_absolute_error

from skstream import Persistent, PrequentialEvaluator
from skstream.metrics import Measure
from skstream.plotting import ComparisonDisplay, PrequentialDisplay
from skstream.stats import mcnemar
from skstream.streams import make_demo_stream

pyplot = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
TRUTH = RNG.choice(["a", "b"], 200)
GOOD = np.where(RNG.random(200) < 0.1, "a", TRUTH)
BAD = np.where(RNG.random(200) < 0.5, "a", TRUTH)


def last(display: Any, name: str) -> float:
    return float(display.lines_[name].get_ydata()[-1])


def test_predictions_are_scored_as_those_of_an_evaluation() -> None:
    stream = make_demo_stream(200)
    result = PrequentialEvaluator("kappa").evaluate({"last": Persistent()}, stream)
    y_pred = result.predictions("last", every_row=True)
    shown = PrequentialDisplay.from_predictions(stream.y[1:], {"last": y_pred[1:]}, "accuracy")
    again = result.rescore("accuracy").plot()
    assert last(shown, "last") == last(again, "last")


def test_several_models_by_name_or_one_without() -> None:
    display = PrequentialDisplay.from_predictions(TRUTH, {"good": GOOD, "bad": BAD})
    assert last(display, "good") == pytest.approx(accuracy_score(TRUTH, GOOD))
    assert last(display, "bad") == pytest.approx(accuracy_score(TRUTH, BAD))
    weight = RNG.random(200)
    alone = PrequentialDisplay.from_predictions(
        TRUTH, GOOD, "error", sample_weight=weight, drifts=[50]
    )
    expected = 1 - accuracy_score(TRUTH, GOOD, sample_weight=weight)
    assert last(alone, "model") == pytest.approx(expected)
    recent = PrequentialDisplay.from_predictions(TRUTH, GOOD, forgetting="window:20")
    assert last(recent, "model") == pytest.approx(accuracy_score(TRUTH[-20:], GOOD[-20:]))


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (np.array([0.0, 0.7, 0.4]), r"y_pred contains probabilities \(0.7 in row 1\), .* >= 0.5"),
        ({"a": np.array([0.2, 0.7, 0.4])}, r"y_pred a contains probabilities"),
        (np.array([[0.2, 0.8]] * 3), r"probabilities \(2 in a row\).* classes\[p.argmax"),
    ],
)
@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_probabilities_are_refused_as_such(answers: Any, words: str, metric: str) -> None:
    with pytest.raises(ValueError, match=words):
        PrequentialDisplay.from_predictions([0, 1, 1], answers, metric)


def test_targets_have_the_measures_of_regressors() -> None:
    y = RNG.normal(size=100)
    display = PrequentialDisplay.from_predictions(y, y + 0.5)
    assert last(display, "model") == pytest.approx(mean_absolute_error(y, y + 0.5))


def deviation(y_true: Any, y_pred: Any) -> float:
    return mean_absolute_error(y_true, y_pred)


@pytest.mark.parametrize(
    "metric",
    [
        "mae",
        mean_absolute_error,
        "neg_mean_absolute_error",
        median_absolute_error,
        Measure(deviation, needs="targets"),
    ],
)
def test_a_measure_of_regression_makes_whole_numbers_targets(metric: Any) -> None:
    display = PrequentialDisplay.from_predictions([3, 5, 9], {"a": [4, 6, 10]}, metric)
    assert abs(last(display, "a")) == 1.0


@pytest.mark.parametrize("metric", [None, "mae", deviation])
def test_floats_are_targets_where_the_measure_does_not_say_otherwise(metric: Any) -> None:
    display = PrequentialDisplay.from_predictions([3, 5, 9], {"a": [3.5, 5, 8]}, metric)
    assert last(display, "a") == 0.5
    whole = PrequentialDisplay.from_predictions([3.0, 5.0], [4.0, 6.0], metric)
    assert last(whole, "model") == 1.0


def test_a_measure_of_classification_makes_floats_labels() -> None:
    display = PrequentialDisplay.from_predictions([1.0, 2.0], [1.0, 1.0], "accuracy")
    assert last(display, "model") == 0.5
    with pytest.raises(ValueError, match=r"3\.5, which is not a class label"):
        PrequentialDisplay.from_predictions([3, 5], [3.5, 5], "accuracy")


def test_targets_must_be_numbers() -> None:
    with pytest.raises(ValueError, match="y_pred holds nan in row 1: a number is missing"):
        PrequentialDisplay.from_predictions([1.5, 2.0], [1.0, np.nan])
    with pytest.raises(ValueError, match="y_true must contain numbers"):
        PrequentialDisplay.from_predictions(["a", "b"], ["a", "b"], "mae")


def test_what_does_not_fit_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"equal length\. Got shapes .*'y_pred'"):
        PrequentialDisplay.from_predictions(TRUTH, GOOD[:-1])
    with pytest.raises(ValueError, match="a label is missing"):
        PrequentialDisplay.from_predictions(["a", "b"], ["a", None])
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\)"):
        PrequentialDisplay.from_predictions(TRUTH, GOOD, sample_weight=[1, 1, 1])
    with pytest.raises(ValueError, match=r"sample_weight of row 1 is -1\.0"):
        PrequentialDisplay.from_predictions([0, 1], [0, 1], sample_weight=[1, -1])


def test_two_models_are_compared_by_their_predictions() -> None:
    display = ComparisonDisplay.from_predictions(TRUTH, BAD, GOOD, forgetting="cumulative")
    assert last(display, "mcnemar") == mcnemar(TRUTH, BAD, GOOD).statistic


@pytest.mark.parametrize(
    ("metrics", "title"),
    [
        ({"hits": accuracy_score}, "Hits (accuracy_score), all rows so far"),
        ({"accuracy": "error"}, "Accuracy (error), all rows so far"),
        ("accuracy", "Accuracy, all rows so far"),
    ],
)
def test_titles_name_the_measure_behind_the_name(metrics: Any, title: str) -> None:
    result = PrequentialEvaluator(metrics).evaluate(Persistent(), make_demo_stream(50))
    assert result.plot().ax_.get_title(loc="left") == title
