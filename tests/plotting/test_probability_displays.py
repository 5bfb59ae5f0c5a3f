"""Displays of probabilities: what is drawn is what scikit-learn and plain sums give."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

import skstream as sk
from skstream.plotting import ReliabilityDisplay
from skstream.stats._pairs import wilson
from skstream.streams import SEA, make_demo_stream
from tests.evaluation._models import FailsLater

pyplot = pytest.importorskip("matplotlib.pyplot")

N = 401  # 400 are scored, so that no edge of a bin of equal mass is a value
STREAM = make_demo_stream(N)
SGD = SGDClassifier(loss="log_loss", alpha=0.01, random_state=0)


@pytest.fixture(scope="module")
def result():
    metrics = ["brier", "calibration_error"]
    return sk.PrequentialEvaluator(metrics).evaluate(
        {"sgd": SGD, "major": sk.MajorityClass()}, STREAM
    )


@pytest.fixture(scope="module")
def truth(result):
    """Whether the second class came, and its probability, in the rows that were scored."""
    tape = result.tape
    return tape.y[1:] == 1, tape.probabilities("sgd")[1:, 1]


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(0)
    X = rng.random((300, 6)) < 0.5
    y = np.array(["a", "b", "c"])[X[:, 0] + (rng.random(300) < 0.4).astype(int)]
    return sk.PrequentialEvaluator("log_loss").evaluate({"nb": BernoulliNB()}, X, y)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_points_are_those_of_scikit_learn(result, truth, strategy) -> None:
    display = ReliabilityDisplay.from_result(result, models="sgd", strategy=strategy)
    observed, predicted = calibration_curve(*truth, n_bins=10, strategy=strategy)
    np.testing.assert_allclose(display.lines_["sgd"].get_xdata(), predicted, rtol=1e-12)
    (one,) = display.curves["sgd"]
    joined = np.where(one.is_sparse, np.nan, observed)
    np.testing.assert_allclose(display.lines_["sgd"].get_ydata(), joined, rtol=1e-12)
    assert one.n_rows.sum() == N - 1
    assert one.share.sum() == pytest.approx(1.0)
    for k, n in enumerate(one.n_rows.tolist()):
        interval = binomtest(round(observed[k] * n), n).proportion_ci(0.95, method="wilson")
        assert (one.low[k], one.high[k]) == pytest.approx(tuple(interval))


def test_the_distance_from_the_diagonal_is_the_calibration_error(result) -> None:
    (one,) = ReliabilityDisplay.from_result(result, models="sgd").curves["sgd"]
    error = np.sum(one.share * np.abs(one.predicted - one.observed))
    assert error == pytest.approx(result.scores["sgd"]["calibration_error"], rel=1e-12)


def test_stretches_are_those_rows_alone(result, truth) -> None:
    display = ReliabilityDisplay.from_result(result, models="sgd", rows=(100, 300), n_panels=2)
    assert display.stretches == [(100, 200), (200, 300)]
    came, p = (column[199:299] for column in truth)  # row 0 was not scored
    alone = ReliabilityDisplay.from_predictions(came, p)
    line, other = display.lines_["sgd, rows 201 to 300"], alone.lines_["model"]
    np.testing.assert_array_equal(line.get_xydata(), other.get_xydata())
    assert len(display.axes_) == 2


def test_weights_count() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    weight = rng.integers(0, 4, 200)
    weighted = ReliabilityDisplay.from_predictions(y, p, sample_weight=weight)
    repeated = ReliabilityDisplay.from_predictions(np.repeat(y, weight), np.repeat(p, weight))
    for name, line in weighted.lines_.items():
        np.testing.assert_allclose(
            line.get_xydata(), repeated.lines_[name].get_xydata(), rtol=1e-12
        )
    # Rows of unequal weight tell less.
    wide, narrow = (d.curves["model"][0] for d in (weighted, repeated))
    assert (wide.high - wide.low > narrow.high - narrow.low).all()


def test_the_interval_holds_the_true_share_as_often_as_it_says() -> None:
    shares = np.random.default_rng(2).binomial(40, 0.3, 4000) / 40
    low, high = wilson(shares, np.full(4000, 40.0), 0.9)
    assert 0.88 < np.mean((low <= 0.3) & (high >= 0.3)) < 0.95


def test_of_several_classes_the_largest_probability_or_one_class(three_classes) -> None:
    tape = three_classes.tape
    p = tape.probabilities("nb")
    asked = ~np.isnan(p).any(axis=1)
    p, y = p[asked], tape.y[asked]

    def check(display, observed, predicted) -> None:
        (one,) = display.curves["nb"]
        np.testing.assert_allclose(np.c_[one.predicted, one.observed], np.c_[predicted, observed])
        points = display.lines_["nb"].get_xydata()
        np.testing.assert_array_equal(points[~one.is_sparse, 1], one.observed[~one.is_sparse])

    top = ReliabilityDisplay.from_result(three_classes, n_bins=7)
    check(top, *calibration_curve(p.argmax(axis=1) == y, p.max(axis=1), n_bins=7))
    assert top.ax_.get_xlabel() == "largest probability"
    of_b = ReliabilityDisplay.from_result(three_classes, label="b", n_bins=7)
    check(of_b, *calibration_curve(y == 1, p[:, 1], n_bins=7))


def test_columns_are_in_the_order_of_the_classes_given(rng: np.random.Generator) -> None:
    p = rng.random(200)
    y = np.where(rng.random(200) < p, "fraud", "legit")
    sorted_, given = np.c_[p, 1.0 - p], np.c_[1.0 - p, p]
    order = ["legit", "fraud"]
    expected = ReliabilityDisplay.from_predictions(y, sorted_, label="fraud").curves["model"]
    for scores in (given, p):
        found = ReliabilityDisplay.from_predictions(y, scores, classes=order).curves["model"]
        assert str(found) == str(expected)


def test_probabilities_that_are_rounded_up_are_cut_off_with_a_warning() -> None:
    p = np.array([0.2, 1.0000001, -1e-9, 0.7])
    with pytest.warns(UserWarning, match=r"row 1 are .* off by at most 0.01 are normalised"):
        found = ReliabilityDisplay.from_predictions([0, 1, 0, 1], p)
    expected = ReliabilityDisplay.from_predictions([0, 1, 0, 1], np.clip(p, 0.0, 1.0))
    assert str(found.curves) == str(expected.curves)


def test_decision_values_are_no_probabilities() -> None:
    models = {"hinge": SGDClassifier(random_state=0), "major": sk.MajorityClass()}
    result = sk.PrequentialEvaluator("auc").evaluate(models, STREAM)
    with pytest.raises(ValueError, match=r"no probabilities of \['hinge'\]"):
        ReliabilityDisplay.from_result(result, models=["hinge", "major"])
    assert list(ReliabilityDisplay.from_result(result).curves) == ["major"]


def test_folds_are_shown_one_at_a_time() -> None:
    result = sk.KFoldEvaluator("brier", n_folds=2, random_state=0).evaluate(SGD, SEA(200))
    first, second = (ReliabilityDisplay.from_result(result, fold=k) for k in (0, 1))
    name = next(iter(first.curves))
    assert not np.array_equal(first.curves[name][0].predicted, second.curves[name][0].predicted)


def test_what_cannot_be_shown_is_said(result) -> None:
    labels = sk.PrequentialEvaluator("accuracy").evaluate(SGD, STREAM)
    with pytest.raises(ValueError, match=r"no probabilities\. They are kept"):
        ReliabilityDisplay.from_result(labels)
    with pytest.raises(ValueError, match=r"rows must be two row numbers .* Got \(300, 100\)"):
        ReliabilityDisplay.from_result(result, rows=(300, 100))
    with pytest.raises(ValueError, match="n_panels must be an int from 1"):
        ReliabilityDisplay.from_result(result, n_panels=0)
    with pytest.raises(ValueError, match="label='LEFT' is not among the classes"):
        ReliabilityDisplay.from_result(result, label="LEFT")
    with pytest.raises(
        ValueError, match=r"of 'model' in row 1 are \[-0.5, 1.5\], not in \[0, 1\] with the sum 1"
    ):
        ReliabilityDisplay.from_predictions([0, 1], [0.5, 1.5])
    gap = [0, 1, 0], [0.5, np.nan, 0.5]
    with pytest.raises(ValueError, match=r"Row 1 has no prediction .* unanswered='skip'"):
        ReliabilityDisplay.from_predictions(*gap)
    shown = ReliabilityDisplay.from_predictions(*gap, unanswered="skip")
    assert shown.curves["model"][0].n_rows.tolist() == [2]
    with pytest.raises(ValueError, match=r"has shape \(2, 3\); for 2 rows and 2 classes"):
        ReliabilityDisplay.from_predictions([0, 1], np.full((2, 3), 1 / 3))


def test_of_delayed_labels_the_bin_selected_is_shown() -> None:
    evaluator = sk.DelayedEvaluator(
        ["brier", "calibration_error"], delay=60, polling=sk.Polling(n_bins=1)
    )
    result = evaluator.evaluate({"sgd": SGD}, STREAM)
    for bin in result.bins:
        part = result.select(bins=bin)
        wanted = part.scores["sgd"]["calibration_error"]
        for shown in (part, result):
            named = {} if shown is part else {"bin": bin}
            (one,) = ReliabilityDisplay.from_result(shown, **named).curves["sgd"]
            error = np.sum(one.share * np.abs(one.predicted - one.observed))
            assert error == pytest.approx(wanted, rel=1e-12)
    assert ReliabilityDisplay.from_result(result).event == "UP (bin 2)"
    folds = sk.KFoldEvaluator("brier", n_folds=3, random_state=0).evaluate({"sgd": SGD}, STREAM)
    of_two = ReliabilityDisplay.from_result(folds, fold=2).curves["sgd"][0]
    alone = ReliabilityDisplay.from_result(folds.select(folds=2)).curves["sgd"][0]
    np.testing.assert_array_equal(alone.observed, of_two.observed)


def test_of_a_holdout_evaluation_the_last_set_is_shown() -> None:
    X, y = STREAM.X, np.asarray(STREAM.y)
    evaluator = sk.HoldoutEvaluator("brier", holdout=(X[300:], y[300:]), every=100)
    result = evaluator.evaluate({"sgd": SGD}, X[:300], y[:300])
    shown = ReliabilityDisplay.from_result(result)
    assert shown.event == "UP (last set)"
    assert shown.stretches == [(202, 303)]


def test_models_that_failed_are_left_out_or_marked() -> None:
    evaluator = sk.PrequentialEvaluator("brier", error_score=np.nan)
    with pytest.warns(FitFailedWarning, match="no more"):
        result = evaluator.evaluate({"sgd": SGD, "late": FailsLater()}, STREAM)
    with pytest.warns(UserWarning, match="Not drawn: 'late', which failed"):
        assert list(ReliabilityDisplay.from_result(result).curves) == ["sgd"]
    marked = ReliabilityDisplay.from_result(result, models=["sgd", "late"])
    assert list(marked.curves) == ["sgd", "late (failed)"]
