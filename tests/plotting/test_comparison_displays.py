"""CriticalDifferenceDisplay and ComparisonDisplay, looked at by measuring what was drawn."""

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor

from skstream import KFoldEvaluator, MeanRegressor, Persistent, PrequentialEvaluator, RunOptions
from skstream.plotting import ComparisonDisplay, CriticalDifferenceDisplay
from skstream.plotting._critical_difference import BAR_COLOR
from skstream.stats import anytime_comparison, friedman_nemenyi, q_statistic, sign_test
from skstream.streams import make_demo_stream

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")

LONG_NAMES = [
    "TemporallyAugmented(SGDClassifier(loss='log_loss'))",
    "Persistent",
    "make_stream_pipeline(StandardScaler(), SGDClassifier())",
    "averyveryverylongnamewithoutanyplacewhereitcouldbebroken",
    "",
]


def table(n_models: int, n_blocks: int, spread: float) -> np.ndarray:
    rng = np.random.default_rng(n_models)
    return rng.normal(size=(n_blocks, n_models)) + np.linspace(0, spread, n_models)


def bars(ax) -> list[tuple[float, float, float]]:
    """Left end, right end and height of every bar."""
    lines = [
        line for line in ax.lines if line.get_color() == BAR_COLOR and line.get_marker() != "o"
    ]
    return [(*line.get_xdata(), float(line.get_ydata()[0])) for line in lines]


def boxes(figure, texts) -> list:
    figure.canvas.draw()
    return [text.get_window_extent() for text in texts if text.get_text().strip()]


def assert_readable(display: CriticalDifferenceDisplay) -> None:
    figure, ax = display.figure_, display.ax_
    inside = ax.get_window_extent().padded(1)
    drawn = boxes(figure, ax.texts)
    for box in drawn:
        assert inside.x0 <= box.x0, "cut off on the left"
        assert box.x1 <= inside.x1, "cut off on the right"
        assert inside.y0 <= box.y0, "cut off below"
        assert box.y1 <= inside.y1, "cut off above"
    for one, other in itertools.combinations(drawn, 2):
        assert not one.padded(-1).overlaps(other.padded(-1)), "labels overlap"


@pytest.mark.parametrize("n_models", [2, 3, 7, 12])
@pytest.mark.parametrize(("n_blocks", "spread"), [(3, 0.0), (12, 2.0), (300, 12.0)])
def test_every_bar_is_a_group_from_end_to_end(n_models: int, n_blocks: int, spread: float) -> None:
    result = friedman_nemenyi(table(n_models, n_blocks, spread))
    display = CriticalDifferenceDisplay.from_result(result)
    rank = dict(zip(result.names, result.average_ranks, strict=True))
    expected = [(min(map(rank.get, g)), max(map(rank.get, g))) for g in result.groups]
    drawn = bars(display.ax_)
    assert [bar[:2] for bar in drawn] == expected
    for one, other in itertools.combinations(drawn, 2):
        on_one_level = one[2] == other[2]
        assert not (on_one_level and one[0] <= other[1] and other[0] <= one[1])
    assert_readable(display)


def diagram(scores: Any, names: Any = None, **options: Any) -> CriticalDifferenceDisplay:
    return CriticalDifferenceDisplay.from_result(friedman_nemenyi(scores, names), **options)


def test_no_bar_when_all_differ_and_one_when_none_does() -> None:
    apart = diagram(np.tile([4.0, 3, 2, 1], (60, 1)))
    assert bars(apart.ax_) == []
    assert any("All pairs differ" in text.get_text() for text in apart.ax_.texts)
    same = diagram(np.ones((5, 4)))
    assert [bar[:2] for bar in bars(same.ax_)] == [(2.5, 2.5)]
    assert any("no difference shown" in text.get_text() for text in same.ax_.texts)


def test_the_ruler_is_as_long_as_the_critical_difference() -> None:
    result = friedman_nemenyi(table(3, 4, 0.0))  # longer than the axis of ranks
    ax = CriticalDifferenceDisplay.from_result(result).ax_
    lengths = [np.ptp(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2]
    assert any(length == pytest.approx(result.critical_difference) for length in lengths)
    assert ax.get_xlim()[1] > 1 + result.critical_difference


def test_long_names_are_broken_and_stay_inside() -> None:
    scores = table(5, 20, 2.0)
    display = diagram(scores, LONG_NAMES)
    assert_readable(display)
    shown = "".join(text.get_text() for text in display.ax_.texts).replace("\n", "")
    for name in LONG_NAMES:
        assert name.replace(" ", "") in shown.replace(" ", "")


@pytest.mark.parametrize("size", [(3, 2), (6, 3), (5, 7), (10, 8)])
def test_texts_shrink_to_the_axes_they_are_given(size: tuple[float, float]) -> None:
    _, ax = pyplot.subplots(figsize=size)
    names = [*LONG_NAMES[:3], "a", "b", "c", "d"]
    display = diagram(table(7, 20, 2.0), names, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert tuple(ax.figure.get_size_inches()) == size
    if size != (3, 2):  # too small for such names at any readable size
        assert_readable(display)
        first, last = ax.transData.transform([(1, 0), (7, 0)])[:, 0]
        assert last - first > 0.29 * ax.get_window_extent().width


def test_critical_difference_data_and_repr(pd: Any) -> None:
    result = friedman_nemenyi(table(4, 10, 2.0), ["a", "b", "c", "d"])
    display = CriticalDifferenceDisplay.from_result(result)
    assert "see plot(), to_frame()" in repr(display)
    assert f"CD {result.critical_difference:.3g}" in repr(display)
    frame = display.to_frame()
    assert list(frame["model"]) == list(result.ranking)
    assert list(frame["average_rank"]) == sorted(result.average_ranks)
    for name, groups in zip(frame["model"], frame["groups"], strict=True):
        assert [name in group for group in result.groups] == [
            number in groups for number in range(1, len(result.groups) + 1)
        ]


def losses(n_rows: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return (rng.random(n_rows) < 0.3).astype(float), (rng.random(n_rows) < 0.2).astype(float)


@pytest.mark.parametrize("forgetting", ["cumulative", "window:200", "fading:0.99"])
def test_comparison_draws_a_panel_per_statistic(forgetting: str) -> None:
    display = ComparisonDisplay.from_losses(
        *losses(), forgetting=forgetting, names=("sgd", "bayes")
    )
    labels = [ax.get_ylabel() for ax in display.axes_]
    assert labels == ["Q statistic", "signed McNemar", "mean loss difference"]
    assert display.ax_ is display.axes_[0]
    assert all(ax.figure is display.figure_ for ax in display.axes_)
    for ax in display.axes_:  # values above zero say that the second model loses less
        heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
        assert heights == {"bayes is better ↑": 0.98, "sgd is better ↓": 0.02}
    rows = {"cumulative": "all rows so far", "window:200": "last 200 rows"}
    shown = rows.get(forgetting, "fading factor 0.99")
    assert [ax.get_title("left") for ax in display.axes_] == [
        f"Q statistic, {shown}",
        f"Signed McNemar statistic, {shown}",
        "Mean loss difference, all rows so far",
    ]
    levels = {round(float(line.get_ydata()[-1]), 3) for line in display.axes_[1].lines[1:]}
    assert levels == {0, 3.841, 6.635, -3.841, -6.635}


def test_comparison_draws_no_threshold_where_there_is_none() -> None:
    display = ComparisonDisplay.from_losses(*losses(), forgetting="fading:0.8")
    assert len(display.axes_[1].lines) == 2  # the statistic and zero
    assert display.legends_[1] is None


def labels_of(loss_a: np.ndarray, loss_b: np.ndarray) -> tuple[np.ndarray, ...]:
    """True labels and answers that have these losses."""
    return np.zeros(len(loss_a), dtype=int), loss_a.astype(int), loss_b.astype(int)


def test_comparison_of_real_losses_has_no_mcnemar_panel(rng: np.random.Generator) -> None:
    display = ComparisonDisplay.from_losses(5 * rng.random(500), rng.random(500), bounds=(0, 5))
    assert len(display.axes_) == 2


def test_comparison_shows_the_whole_band_and_the_first_certain_row() -> None:
    result = anytime_comparison(*losses())
    display = ComparisonDisplay.from_result(result)
    ax = display.ax_
    low, high = ax.get_ylim()
    settled = slice(len(result.checkpoints) // 10, None)
    assert low < result.lower[settled].min()
    assert high > result.upper[settled].max()
    assert low < 0 < high
    # The first intervals span all that is possible; they do not set the scale.
    assert high - low < 1.5 * (result.upper[settled].max() - result.lower[settled].min())
    entries = dict(
        zip(
            (text.get_text().replace("\n", " ") for text in display.legends_[0].get_texts()),
            display.legends_[0].legend_handles,
            strict=True,
        )
    )
    marks = [line for line in ax.lines if list(line.get_ydata()) == [0, 1]]
    assert [mark.get_xdata()[0] for mark in marks] == [result.first_certain_row]
    assert list(entries) == [
        "mean so far",
        "95 %, at all rows at once",
        f"first certain: row {result.first_certain_row:,}",
    ]


def test_equal_models_give_flat_panels() -> None:
    loss, _ = losses(200)
    display = ComparisonDisplay.from_losses(loss, loss, names=("m", "m"))
    for ax in display.axes_:
        low, high = ax.get_ylim()
        assert low < 0 < high
    explained = [text.get_text() for text in display.legends_[2].get_texts()]
    assert not any("first certain" in text for text in explained)


def test_infinite_values_are_marked_at_the_edge() -> None:
    result = q_statistic([0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 1, 0], forgetting="window:2")
    assert np.isposinf(result.values).any()
    assert np.isneginf(result.values).any()
    ax = ComparisonDisplay.from_result(result).ax_
    marked = {line.get_marker(): list(line.get_xdata()) for line in ax.lines}
    assert marked["^"] == result.checkpoints[np.isposinf(result.values)].tolist()
    assert marked["v"] == result.checkpoints[np.isneginf(result.values)].tolist()


def test_large_statistics_leave_the_thresholds_apart() -> None:
    display = ComparisonDisplay.from_losses(np.ones(3000), np.zeros(3000), forgetting="cumulative")
    ax = display.axes_[1]
    heights = ax.transData.transform([(0, 0), (0, 3.841), (0, 6.635), (0, 3000)])[:, 1]
    assert np.all(np.diff(heights) > 0.04 * ax.get_window_extent().height)


def test_comparison_draws_on_given_axes() -> None:
    _, axes = pyplot.subplots(1, 3)
    display = ComparisonDisplay.from_losses(*losses(300), ax=axes)
    assert list(display.axes_) == list(axes)
    with pytest.raises(ValueError, match="ax must be 3 matplotlib Axes"):
        display.plot(ax=axes[0])


def test_comparison_refuses_what_does_not_belong_together() -> None:
    loss_a, loss_b = losses(50)
    q = q_statistic(loss_a, loss_b)
    with pytest.raises(ValueError, match="two results of the kind QStatisticResult"):
        ComparisonDisplay.from_result(q, q)
    with pytest.raises(ValueError, match="the same two models"):
        ComparisonDisplay.from_result(q, anytime_comparison(loss_a, loss_b, names=("x", "y")))
    with pytest.raises(TypeError, match="Got SignTestResult"):
        ComparisonDisplay.from_result(sign_test([1], [2]))
    with pytest.raises(ValueError, match="at least one result"):
        ComparisonDisplay.from_result()
    with pytest.raises(ValueError, match="nothing to plot"):
        ComparisonDisplay()


def test_comparison_data_and_repr(pd: Any) -> None:
    display = ComparisonDisplay.from_losses(*losses(500), names=("sgd", "bayes"))
    for part in ("sgd", "bayes", "Q ", "McNemar", "after 500 rows", "see plot(), to_frame()"):
        assert part in repr(display)
    frame = display.to_frame()
    assert list(frame.columns) == ["row", "statistic", "value", "lower", "upper"]
    assert set(frame["statistic"]) == {"q", "mcnemar", "anytime"}
    only = frame[frame["statistic"] == "anytime"]
    np.testing.assert_array_equal(only["lower"], display.anytime.lower)


MODELS = {"sgd": SGDClassifier(), "last": Persistent()}


@pytest.mark.parametrize("n_folds", [1, 3])
def test_comparison_from_an_evaluation_is_that_of_its_answers(n_folds: int) -> None:
    stream = make_demo_stream(400)
    result = KFoldEvaluator("accuracy", n_folds=n_folds, random_state=0).evaluate(MODELS, stream)
    fold = n_folds - 1
    display = ComparisonDisplay.from_evaluation(
        result, "sgd", "last", fold=fold if n_folds > 1 else None, forgetting="cumulative"
    )
    wrong_a, wrong_b = (
        (result.tape.answers[name][fold] != result.tape.y)[1:] for name in ("sgd", "last")
    )
    assert len(display.axes_) == 3
    assert display.names == ("sgd", "last")
    shown = "rows on which both were scored, of rows 2 to 400" + (", fold 2" if fold else "")
    assert display.axes_[-1].get_xlabel().replace("\n", " ") == shown
    assert display.anytime.differences[-1] == pytest.approx(wrong_a.mean() - wrong_b.mean())
    assert display.q.values[-1] == pytest.approx(np.log(wrong_a.sum() / wrong_b.sum()))
    final = result.compare("sgd", "last", test="mcnemar", fold=fold)
    assert display.mcnemar.statistics[-1] == pytest.approx(final.statistic)


def test_comparison_from_an_evaluation_asks_for_what_it_needs() -> None:
    stream = make_demo_stream(60)
    folds = KFoldEvaluator("accuracy", n_folds=2, random_state=0)
    with pytest.raises(ValueError, match="pass fold="):
        ComparisonDisplay.from_evaluation(folds.evaluate(MODELS, stream), "sgd", "last")
    bare = PrequentialEvaluator("accuracy", run=RunOptions(keep_tape=False)).evaluate(
        MODELS, stream
    )
    with pytest.raises(ValueError, match="keep_tape=True"):
        ComparisonDisplay.from_evaluation(bare, "sgd", "last")


def test_comparison_from_an_evaluation_forgets_as_the_evaluation_does() -> None:
    forgetting = {"recent": "window:50", "all": "cumulative"}
    evaluator = PrequentialEvaluator("accuracy", forgetting=forgetting, random_state=0)
    result = evaluator.evaluate(MODELS, make_demo_stream(200))
    for asked, used in ((None, "window:50"), ("all", "cumulative"), ("fading:0.9", "fading:0.9")):
        display = ComparisonDisplay.from_evaluation(result, "sgd", "last", forgetting=asked)
        assert display.q.forgetting.name == display.mcnemar.forgetting.name == used
    with pytest.raises(ValueError, match="There is no forgetting 'weekly' in this result"):
        ComparisonDisplay.from_evaluation(result, "sgd", "last", forgetting="weekly")
    with pytest.raises(TypeError, match="from_evaluation"):
        ComparisonDisplay.from_result(result)


def test_comparison_takes_the_loss_of_the_measure(rng: np.random.Generator) -> None:
    X = rng.random((80, 2))
    models = {"sgd": SGDRegressor(), "mean": MeanRegressor()}
    result = PrequentialEvaluator(["mae", "mse", "r2"], random_state=0).evaluate(
        models, X, X.sum(axis=1)
    )
    for metric in ("mae", "mse"):
        display = ComparisonDisplay.from_evaluation(
            result, "sgd", "mean", metric=metric, bounds=(0, 10)
        )
        errors = [result.scores[name][metric] for name in models]
        assert display.anytime.differences[-1] == pytest.approx(errors[0] - errors[1])
        assert len(display.axes_) == 2  # none for McNemar's statistic
        with pytest.raises(ValueError, match="needs bounds"):
            ComparisonDisplay.from_evaluation(result, "sgd", "mean", metric=metric)
    with pytest.raises(ValueError, match="measure 'r2' is not"):
        ComparisonDisplay.from_evaluation(result, "sgd", "mean", metric="r2", bounds=(0, 10))


def test_style_keywords_reach_curves_and_bars() -> None:
    display = ComparisonDisplay.from_losses(
        *losses(300), linewidth=3, styles={"q": {"color": "red"}}
    )
    assert list(display.lines_) == ["q", "mcnemar", "anytime"]
    assert all(line.get_linewidth() == 3 for line in display.lines_.values())
    assert display.lines_["q"].get_color() == "red"
    drawn = diagram(table(4, 3, 0.0), color="black", lw=6)
    assert {(line.get_color(), line.get_linewidth()) for line in drawn.lines_.values()} == {
        ("black", 6)
    }
    before = pyplot.get_fignums()
    for make in (
        lambda **k: ComparisonDisplay.from_losses(*losses(50), **k),
        lambda **k: diagram(table(4, 3, 0.0), **k),
    ):
        with pytest.raises(TypeError, match="Did you mean 'color'"):
            make(colour="red")
        with pytest.raises(TypeError, match="Got str"):
            make(ax="here")
    assert pyplot.get_fignums() == before


def test_legends_stay_inside_the_users_axes() -> None:
    _, axes = pyplot.subplots(2, 2, figsize=(9, 7))
    display = ComparisonDisplay.from_losses(*losses(300), ax=axes.ravel()[:3])
    display.figure_.canvas.draw()
    for ax, legend in zip(display.axes_, display.legends_, strict=True):
        if legend is not None:
            inner, outer = legend.get_window_extent(), ax.get_window_extent()
            assert outer.x0 <= inner.x0 < inner.x1 <= outer.x1
            assert not any(inner.overlaps(text.get_window_extent()) for text in ax.texts)
    assert sum(legend is not None for legend in display.legends_) >= 2


def test_many_ranks_are_numbered_only_where_there_is_room() -> None:
    display = diagram(table(20, 30, 6.0))
    ranks = [t for t in display.ax_.texts if t.get_text().isdigit() and t.get_visible()]
    assert 1 < len(ranks) < 20
    for one, other in itertools.pairwise(boxes(display.figure_, ranks)):
        assert not one.overlaps(other)


def test_the_diagram_says_what_was_ranked_and_writes_names_as_they_are() -> None:
    result = KFoldEvaluator("accuracy", n_folds=3, random_state=0).evaluate(
        {"$a_{": SGDClassifier(), "b": Persistent()}, make_demo_stream(80)
    )
    display = CriticalDifferenceDisplay.from_result(result.rank())
    assert_readable(display)
    texts = [text.get_text().replace("\n", " ") for text in display.ax_.texts]
    assert any("Ranked by accuracy over all rows at row 80, over 3 folds." in t for t in texts)
    assert any(t.startswith("$a_{  (") for t in texts)
    with pytest.raises(TypeError, match="rank"):
        CriticalDifferenceDisplay.from_result(result)
