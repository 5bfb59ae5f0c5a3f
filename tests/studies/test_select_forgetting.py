import numpy as np
import pytest

from skstream import PrequentialEvaluator
from skstream.forgetting import Cumulative, FadingFactor, SlidingWindow, equivalent_window
from skstream.studies import select_forgetting
from skstream.studies._select_forgetting import _FACTORS, _SIZES

rng = np.random.default_rng(0)
N = 4000
ZEROS = np.zeros(N, dtype=int)
STEPS = np.where(np.arange(N) // 1000 % 2, 0.5, 0.1)
WRONG = (rng.random(N) < STEPS).astype(int)


def test_estimates_and_deviations_are_plain_means():
    mechanisms = {"all": "cumulative", "w": "window:50", "f": "fading:0.9"}
    selection = select_forgetting(ZEROS, WRONG, STEPS, forgetting=mechanisms)
    total = np.cumsum(np.r_[0, WRONG])
    rows = np.arange(1, N + 1)
    first = np.maximum(rows - 50, 0)
    faded = [np.average(WRONG[:t], weights=0.9 ** np.arange(t)[::-1]) for t in (1, 2, 700)]
    expected = {"all": total[rows] / rows, "w": (total[rows] - total[first]) / (rows - first)}
    for name, estimate in expected.items():
        assert selection.estimates[name] == pytest.approx(estimate)
        off = estimate - STEPS
        assert selection.rmse[name] == pytest.approx(np.sqrt(np.mean(off**2)))
        assert selection.bias[name] == pytest.approx(np.mean(off))
    assert selection.estimates["f"][[0, 1, 699]] == pytest.approx(faded)
    assert selection.best == min(selection.rmse, key=selection.rmse.get) == "w"
    assert selection.n_compared == N


def test_what_does_not_change_is_best_remembered_whole():
    wrong = (np.random.default_rng(0).random((10, N)) < 0.3).astype(int)
    selection = select_forgetting(np.zeros_like(wrong), wrong, 0.3)
    assert selection.best_forgetting == Cumulative()
    assert len(selection.forgetting) == 15
    assert select_forgetting(ZEROS, WRONG, STEPS).best_forgetting in (
        SlidingWindow(100),
        SlidingWindow(200),
        FadingFactor(0.98),
        FadingFactor(0.99),
    )


def test_candidates_are_pairs_of_equal_noise():
    pairs = [equivalent_window(factor) for factor in _FACTORS]
    assert pairs == [size - 1 for size in _SIZES]


def test_true_values_may_be_a_function_or_known_at_some_rows():
    every = select_forgetting(ZEROS, WRONG, STEPS, forgetting="adwin")
    called = select_forgetting(ZEROS, WRONG, lambda rows: STEPS[rows], forgetting="adwin")
    assert called.rmse == every.rmse
    some = np.where(np.arange(N) % 100 == 99, STEPS, np.nan)
    selection = select_forgetting(ZEROS, WRONG, some, forgetting="adwin")
    assert selection.n_compared == 40
    off = every.estimates["adwin"][99::100] - STEPS[99::100]
    assert selection.rmse["adwin"] == pytest.approx(np.sqrt(np.mean(off**2)))


def test_other_measures():
    target, predicted = rng.normal(size=(2, N))
    selection = select_forgetting(target, predicted, 2 / np.sqrt(np.pi), metric="mae")
    assert selection.rmse["cumulative"] < selection.rmse["window:100"] < 0.2
    # Kappa needs more than one row, and both labels.
    y = rng.integers(0, 2, N)
    kappa = select_forgetting(y, np.where(WRONG, 1 - y, y), 1 - 2 * STEPS, metric="kappa")
    assert N - 10 < kappa.n_compared < N


def test_the_answer_is_for_people_and_evaluators():
    selection = select_forgetting(ZEROS, WRONG, STEPS)
    text = repr(selection)
    assert text.startswith(f"{selection.best} follows the true error best, of 15 mechanisms over")
    assert f"cumulative     {selection.rmse['cumulative']:.4f}" in text
    PrequentialEvaluator(forgetting=selection.best_forgetting)


def test_frame_has_the_best_first(pd):
    selection = select_forgetting(ZEROS, WRONG, STEPS)
    frame = selection.to_frame()
    assert frame["forgetting"][0] == selection.best
    assert frame["rmse"].is_monotonic_increasing


@pytest.mark.parametrize(
    ("true_error", "options", "message"),
    [
        (STEPS[1:], {}, r"true_error has shape \(3999,\), .* predictions of shape \(4000,\)"),
        (np.inf, {}, r"true_error is infinite at row 0\. It must be a finite number"),
        (np.nan, {}, "no row at which .* true_error is known at 0 of 4000 rows"),
        (0.3, {"metric": ["error", "mae"]}, "metric must be the name of one measure"),
        (0.3, {"metric": "eror"}, "Unknown"),
        (0.3, {"forgetting": "windw:5"}, "Did you mean"),
    ],
)
def test_mistakes(true_error, options, message):
    with pytest.raises(ValueError, match=message):
        select_forgetting(ZEROS, WRONG, true_error, **options)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"must have the same shape. Got \(3999,\) and \(4000,\)"):
        select_forgetting(ZEROS[1:], WRONG, 0.3)
    with pytest.raises(ValueError, match=r"the same shape. Got \(2, 5\) and \(3, 5\)"):
        select_forgetting(np.zeros((2, 5)), np.zeros((3, 5)), 0.3)
    with pytest.raises(ValueError, match=r"y_true must have shape .* Got \(1, 2, 3\)"):
        select_forgetting(np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), 0.3)
    with pytest.raises(ValueError, match="y_pred holds streams of different lengths"):
        select_forgetting([[0, 1], [1, 0]], [[0, 1], [1]], 0.3)


def test_columns_are_no_streams_of_one_row():
    column, answers = ZEROS[:, None], WRONG[:, None]
    message = r"y_true is a column: its shape \(4000, 1\) means 4,000 .* Pass .* np.ravel\(y_true\)"
    for true in (STEPS[:, None], STEPS, 0.3):
        with pytest.raises(ValueError, match=message):
            select_forgetting(column, answers, true)
    with pytest.raises(ValueError, match="y_pred is a column"):
        select_forgetting(ZEROS, answers, STEPS)
    one = select_forgetting([[0.0]], [[0.5]], 0.5, metric="mae", forgetting="cumulative")
    assert one.n_compared == 1


def test_a_frame_of_one_column_is_no_streams_of_one_row(pd):
    frame = pd.DataFrame({"y": ZEROS})
    with pytest.raises(ValueError, match="y_true is a column"):
        select_forgetting(frame, pd.DataFrame({"y": WRONG}), 0.3)


def test_streams_in_columns_are_noticed():
    zeros = np.zeros((9, 2))
    for true in (np.full(9, 0.3), np.full((2, 9), 0.3)):
        with pytest.raises(ValueError, match="have one stream per row"):
            select_forgetting(zeros, zeros, true)


@pytest.mark.parametrize(("metric", "word"), [("error", "a label"), ("mae", "a number")])
def test_missing_answers_are_named_by_row_and_stream(metric, word):
    zeros = np.zeros((2, 5))
    answers = zeros.copy()
    answers[1, 3] = np.nan
    with pytest.raises(ValueError, match=rf"^Stream 1: y_pred( holds nan in row 3|.3.).*{word}"):
        select_forgetting(zeros, answers, 0.3, metric=metric)
    with pytest.raises(ValueError, match=rf"^y_pred( holds nan in row 3|.3.).*{word}"):
        select_forgetting(zeros[1], answers[1], 0.3, metric=metric)


def test_true_values_must_be_possible():
    with pytest.raises(ValueError, match="20 at row 0, but error lies between 0 and 1"):
        select_forgetting(ZEROS, WRONG, 20)
    true = np.full((2, 5), 0.5)
    true[1, 4] = -0.1
    with pytest.raises(ValueError, match=r"-0\.1 at row 4 of stream 1"):
        select_forgetting(np.zeros((2, 5)), np.zeros((2, 5)), true)
    with pytest.raises(ValueError, match=r"-2 at row 0, but mae lies between 0 and inf\.$"):
        select_forgetting(ZEROS, WRONG, -2, metric="mae")


def test_one_of_each_is_no_plural():
    one = select_forgetting([0.0], [0.5], 0.5, metric="mae", forgetting="cumulative")
    assert "best, of 1 mechanism over 1 row." in repr(one)
    with pytest.raises(ValueError, match="y_true and y_pred must have the same shape"):
        select_forgetting([ZEROS], WRONG, 0.3)


def test_deviations_of_several_streams_are_averaged():
    wrong = (rng.random((3, 500)) < STEPS[:500]).astype(int)
    zeros, true = np.zeros_like(wrong), np.stack([STEPS[:500]] * 3)
    mechanisms = ["window:30", "adwin"]
    together = select_forgetting(zeros, wrong, true, forgetting=mechanisms)
    alone = [
        select_forgetting(zeros[i], wrong[i], true[i], forgetting=mechanisms) for i in range(3)
    ]
    assert together.n_compared == 1500
    for name in mechanisms:
        squares = np.mean([one.rmse[name] ** 2 for one in alone])
        assert together.rmse[name] == pytest.approx(np.sqrt(squares))
        assert np.array_equal(together.estimates[name][1], alone[1].estimates[name])
    assert select_forgetting(zeros, wrong, STEPS[:500], forgetting=mechanisms).rmse == together.rmse
