"""Displays of measures: what is drawn, named, shaded and in view."""

import itertools
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import zero_one_loss

import skstream as sk
from skstream.metrics import Measure
from skstream.plotting import BinnedPerformanceDisplay, FoldDisplay, PrequentialDisplay
from skstream.plotting._axes import COLORS, measure_words, spread_apart
from skstream.reports._report import forgetting_words
from skstream.streams import as_stream, make_demo_stream
from tests.evaluation._models import FailsLater

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")

N_ROWS = np.arange(1, 101) * 10


def curve(level: float, n_folds: int = 1) -> np.ndarray:
    noise = 0.01 * np.random.default_rng(int(1000 * level)).normal(size=(len(N_ROWS), n_folds))
    return np.clip(level + noise, 0, 1)


def display(curves: dict[str, np.ndarray], metric: str = "accuracy", **options: Any):
    kind = FoldDisplay if "spread" in options else PrequentialDisplay
    options = {"checkpoints": N_ROWS, "forgetting": "window:1000"} | options
    return kind(curves=curves, metric=metric, **options)


def models(n: int, **options: Any) -> dict[str, np.ndarray]:
    return {f"model {i}": curve(0.5 + 0.02 * i, **options) for i in range(n)}


def entries(legend: Any) -> list[str]:
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def guess_area(ax: Any) -> tuple[float, float] | None:
    """Lowest and highest value of the grey area."""
    areas = [one for one in ax.collections if one.get_zorder() == 0]
    if not areas:
        return None
    (path,) = areas[0].get_paths()
    return float(path.vertices[:, 1].min()), float(path.vertices[:, 1].max())


def edge_of_guess(ax: Any, far: float) -> dict[float, float]:
    """Values of the best guess by row: the edge of the grey area that is not at `far`."""
    (path,) = next(one for one in ax.collections if one.get_zorder() == 0).get_paths()
    return {float(x): float(y) for x, y in path.vertices if y != far}


@pytest.fixture(scope="module")
def result() -> sk.EvaluationResult:
    evaluator = sk.PrequentialEvaluator(
        {
            "err": "error",
            "accuracy": "accuracy",
            "kappa": "kappa",
            "loss": Measure(zero_one_loss, higher_is_better=False),
        },
        forgetting={"recent": "window:50", "all": "cumulative"},
        record_every=10,
        random_state=0,
    )
    known = {"sgd": SGDClassifier(), "last": sk.Persistent(), "majority": sk.MajorityClass()}
    return evaluator.evaluate(known, make_demo_stream(300))


@pytest.fixture(scope="module")
def delayed() -> Any:
    evaluator = sk.DelayedEvaluator(
        ["accuracy", "error"], delay=20, polling=sk.Polling(n_bins=4, poll_every=5)
    )
    known = {"sgd": SGDClassifier(random_state=0), "last": sk.Persistent()}
    return evaluator.evaluate(known, make_demo_stream(300))


# --- the naive guess ------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["err", "loss"])
def test_the_grey_area_of_a_loss_lies_above_the_best_baseline(result, metric):
    drawn = result.plot(metric)
    best = np.fmin(result.curve("last", metric), result.curve("majority", metric))
    low, high = guess_area(drawn.ax_)
    assert low == best.min()
    known = dict(zip(result.checkpoints, best[:, 0], strict=True))
    assert edge_of_guess(drawn.ax_, high) == {row: v for row, v in known.items() if not np.isnan(v)}
    assert high >= drawn.ax_.get_ylim()[1]
    accuracy = result.plot("accuracy")
    low, high = guess_area(accuracy.ax_)
    assert low <= accuracy.ax_.get_ylim()[0]
    assert high == 1 - result.curve("last", "err").min() or high == pytest.approx(1 - best.min())


def test_a_near_perfect_regressor_is_not_in_the_grey_area() -> None:
    X = np.random.default_rng(0).normal(size=(1000, 3))
    known = {"sgd": SGDRegressor(), "mean": sk.MeanRegressor(), "last": sk.PersistentRegressor()}
    evaluator = sk.PrequentialEvaluator(
        ["mae", "rmse", "r2"], forgetting="window:200", random_state=0
    )
    result = evaluator.evaluate(known, X, X @ [3.0, 1.0, 2.0])
    for metric in result.metric_names:
        low, high = guess_area(result.plot(metric).ax_)
        assert not low <= result.scores["sgd"][metric] <= high, metric


@pytest.mark.parametrize("baselines", [[], ["model 0"]])
def test_no_grey_area_where_the_direction_is_not_known(baselines: list[str]) -> None:
    facts = Measure(name="cost", baseline_is_zero=True)
    drawn = display(models(2), "cost", measure=facts, baselines=baselines).plot()
    assert guess_area(drawn.ax_) is None
    assert "naive guess" not in entries(drawn.legend_)


def test_a_user_function_takes_part_as_soon_as_it_says_its_direction() -> None:
    def cost(y_true: Any, y_pred: Any) -> float:
        return 5.0 * float(np.mean(y_true != y_pred))

    known = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    for direction in (None, False):
        evaluator = sk.PrequentialEvaluator([Measure(cost, higher_is_better=direction)])
        drawn = evaluator.evaluate(known, make_demo_stream(60)).plot()
        assert (guess_area(drawn.ax_) is None) == (direction is None)


def test_a_measure_of_zero_guess_is_shaded_up_to_zero_without_baselines() -> None:
    low_kappas = {name: values - 0.5 for name, values in models(3).items()}
    assert guess_area(display(low_kappas, "kappa").plot().ax_)[1] == 0
    assert guess_area(display(low_kappas, "accuracy").plot().ax_) is None
    far_above = display(models(3), "kappa").plot()
    assert "naive guess" not in entries(far_above.legend_)


# --- which measure, in words ----------------------------------------------------------------------


def test_the_first_measure_and_forgetting_are_the_default(result, delayed):
    drawn = result.plot()
    assert drawn.metric == "err"
    assert drawn.forgetting == "recent"
    assert drawn.ax_.get_title("left") == "Err (error), last 50 rows"
    assert delayed.plot().metric == "accuracy"
    assert delayed.plot("error").metric == "error"
    by_count = BinnedPerformanceDisplay.from_bin_counts([delayed], "sgd")
    assert by_count.metric == "accuracy"


MEASURES = {"accuracy": "Accuracy", "kappa_temporal": "Kappa temporal", "kappa_m": "Kappa M"}
MEASURES |= {"r2": "R²", "rmse": "RMSE", "My Cost": "My Cost", "": ""}
FORGETTING = {"cumulative": "all rows so far", "window:1000": "last 1,000 rows"}
FORGETTING |= {"window:1": "last 1 row", "fading:0.999": "fading factor 0.999"}
FORGETTING |= {"adwin": "adaptive window", "my own": "my own"}


def test_measures_and_forgetting_in_words() -> None:
    assert {name: measure_words(name) for name in MEASURES} == MEASURES
    assert {name: forgetting_words(name) for name in FORGETTING} == FORGETTING


def test_titles_name_measure_rows_and_folds() -> None:
    assert display(models(1)).plot().ax_.get_title("left") == "Accuracy, last 1,000 rows"
    folds = display(models(1, n_folds=4), spread="range", forgetting="cumulative").plot()
    assert folds.ax_.get_title("left") == "Accuracy, all rows so far, mean of 4 folds"
    assert folds.ax_.get_ylabel() == "Accuracy"
    assert folds.ax_.get_xlabel() == "rows"


def test_the_users_title_stays() -> None:
    _, ax = pyplot.subplots()
    ax.set_title("mine")
    display(models(1)).plot(ax)
    assert (ax.get_title(), ax.get_title("left")) == ("mine", "")


# --- lines, legends and labels --------------------------------------------------------------------


def looks(lines: dict[str, Any]) -> list[tuple[str, str]]:
    return [(str(line.get_color()), str(line._dash_pattern)) for line in lines.values()]


@pytest.mark.parametrize("n", [1, 3, 7, 9, 15, 30])
def test_no_two_models_look_alike(n: int) -> None:
    drawn = display(models(n) | {"last": curve(0.4)}, baselines=["last"]).plot()
    assert len(set(looks(drawn.lines_))) == n + 1
    assert list(drawn.lines_) == [*models(n), "last"]


@pytest.mark.parametrize("n", [9, 15, 30])
@pytest.mark.parametrize("place", ["own", "users"])
def test_many_lines_are_named_at_their_ends_without_overlaps(n: int, place: str) -> None:
    ax = None if place == "own" else pyplot.subplots(2, 2, figsize=(9, 7))[1][0, 0]
    drawn = display(models(n)).plot(ax)
    figure = drawn.figure_
    figure.canvas.draw()
    texts = drawn.ax_.texts
    assert [text.get_text() for text in texts] == list(models(n))
    # Without the leaders from the lines, which an annotation counts among its extent.
    boxes = [matplotlib.text.Text.get_window_extent(text) for text in texts]
    if n < 30 or place == "own":
        for one, other in itertools.combinations(boxes, 2):
            assert not one.padded(-1.5).overlaps(other.padded(-1.5))
    edge = figure.bbox.x1 if place == "own" else drawn.ax_.get_window_extent().x1 + 2
    for text, box, line in zip(texts, boxes, drawn.lines_.values(), strict=True):
        assert text.get_color() == "black"
        assert text.arrow_patch.get_edgecolor() == matplotlib.colors.to_rgba(line.get_color())
        assert text.xy == (line.get_xdata()[-1], line.get_ydata()[-1])
        assert box.x1 <= edge
    assert drawn.legend_ is None


def test_labels_move_apart_as_little_as_needed() -> None:
    heights = np.full(4, 0.1)
    np.testing.assert_allclose(
        spread_apart(np.array([0.9, 0.1, 0.5, 0.3]), heights), [0.9, 0.1, 0.5, 0.3]
    )
    np.testing.assert_allclose(
        spread_apart(np.array([1.0, 1.0, 0.5, 0.5]), heights), [0.85, 0.95, 0.45, 0.55]
    )
    crowded = spread_apart(np.zeros(20), np.full(20, 0.1))
    np.testing.assert_allclose(np.diff(crowded), 0.1)


def test_the_legend_stands_beside_a_new_figure_and_inside_the_users_axes() -> None:
    own = display(models(3)).plot()
    own.figure_.canvas.draw()
    assert own.legend_.get_window_extent().x0 >= own.ax_.get_window_extent().x1 - 1
    _, axes = pyplot.subplots(1, 2)
    given = display(models(3)).plot(axes[0])
    given.figure_.canvas.draw()
    inner, outer = given.legend_.get_window_extent(), axes[0].get_window_extent()
    assert outer.x0 <= inner.x0
    assert inner.x1 <= outer.x1
    assert not inner.overlaps(axes[1].get_window_extent())


def test_the_users_style_is_followed() -> None:
    with pyplot.style.context("dark_background"):
        drawn = display(models(7) | {"last": curve(0.4)}, baselines=["last"]).plot()
    assert drawn.lines_["model 6"].get_color() == "white"
    (area,) = (one for one in drawn.ax_.collections if one.get_zorder() == 0)
    assert area.get_facecolor()[0].tolist() == [1, 1, 1, pytest.approx(0.08)]
    assert display(models(7)).plot().lines_["model 6"].get_color() == "black"


def test_the_legend_can_be_chosen() -> None:
    assert display(models(2)).plot(legend=False).legend_ is None
    assert display(models(2)).plot(legend=None).legend_ is None
    assert entries(display(models(9)).plot(legend="outside").legend_) == list(models(9))
    assert [text.get_text() for text in display(models(2)).plot(legend="ends").ax_.texts] == list(
        models(2)
    )
    placed = display(models(2)).plot(legend={"loc": "lower left", "title": "models"}).legend_
    assert placed.get_title().get_text() == "models"
    assert placed._loc == 3
    with pytest.raises(ValueError, match="legend must be one of"):
        display(models(2)).plot(legend="left")


def test_names_are_written_as_they_are() -> None:
    names = ["_private", "cost $ per $unit", "a_very_" * 8 + "long_name", "^{"]
    for legend in ("outside", "ends"):
        drawn = display({name: curve(0.5 + 0.01 * i) for i, name in enumerate(names)}).plot(
            legend=legend
        )
        drawn.figure_.canvas.draw()
        texts = drawn.ax_.texts if legend == "ends" else drawn.legend_.get_texts()
        assert ["".join(text.get_text().split("\n")) for text in texts] == names
        assert not any(text.get_parse_math() for text in texts)


def test_style_keywords_reach_the_lines() -> None:
    drawn = display(models(2)).plot(lw=3, alpha=0.5, styles={"model 1": {"c": "red", "ls": ":"}})
    first, second = drawn.lines_.values()
    assert (first.get_linewidth(), first.get_alpha(), first.get_linestyle()) == (3, 0.5, "-")
    assert (second.get_linewidth(), second.get_color(), second.get_linestyle()) == (3, "red", ":")
    with pytest.raises(TypeError, match=r"'linewdith' is neither .* Did you mean 'linewidth'"):
        display(models(2)).plot(linewdith=3)
    with pytest.raises(KeyError, match="styles names 'sdg'"):
        display(models(2)).plot(styles={"sdg": {"color": "red"}})


def test_folds_are_explained_and_in_view() -> None:
    words = {
        "range": "lowest to highest fold",
        "std": "± 1 standard deviation (folds)",
        "lines": "single folds",
    }
    curves = models(2, n_folds=5)
    curves["model 0"][50:60, 2] = 0.1
    for spread, shown in words.items():
        drawn = display(curves, spread=spread).plot()
        assert entries(drawn.legend_) == [*curves, shown]
        if spread == "range":
            assert drawn.ax_.get_ylim()[0] <= 0.1
    plain = display(curves).plot()
    assert entries(plain.legend_) == [*curves, "lowest to highest fold"]
    assert entries(display(models(2)).plot().legend_) == list(models(2))


def test_drifts_are_in_the_legend_once_and_only_where_they_are_seen() -> None:
    drawn = display(models(1), drifts=[200, 500]).plot()
    assert entries(drawn.legend_) == ["model 0", "known drift"]
    marks = [line.get_xdata()[0] for line in drawn.ax_.lines if line.get_ydata()[-1] == 1]
    assert marks == [200, 500]
    assert entries(display(models(1), drifts=[10**6]).plot().legend_) == ["model 0"]
    assert entries(display(models(1), drifts=500).plot().legend_)[-1] == "known drift"
    for wrong in (["soon"], [np.nan], [None]):
        with pytest.raises(ValueError, match="drifts must be numbers of rows"):
            display(models(1), drifts=wrong).plot()


@pytest.mark.parametrize("given", [["2026-01-02"], "2026-01-02", [np.datetime64("2026-01-02")]])
def test_drifts_are_dates_where_the_result_has_times(given: Any) -> None:
    arrival = np.datetime64("2026-01-01") + np.arange(240) * np.timedelta64(1, "h")
    rows = as_stream(np.zeros((240, 1)), np.arange(240) % 2, arrival=arrival)
    evaluator = sk.PrequentialEvaluator("accuracy", record_every="1D")
    result = evaluator.evaluate({"last": sk.Persistent()}, rows)
    drawn = result.plot(drifts=given)
    assert drawn.drifts in ([24], 24)
    (mark,) = [line for line in drawn.ax_.lines if line.get_ydata()[-1] == 1]
    assert mark.get_xdata()[0] == pytest.approx(matplotlib.dates.date2num(arrival[24]), abs=0.01)
    assert "known drift" not in entries(result.plot(drifts=["2027-01-01"]).legend_)
    with pytest.raises(ValueError, match="drifts must be numbers of rows"):
        result.plot(drifts=["soon"])


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["error", "mae", "mse", "rmse"])
def test_axes_of_losses_never_go_below_zero(metric: str) -> None:
    for curves in ({"good": curve(0.01)}, {"perfect": 0 * curve(0.5)}, models(3)):
        low, high = display(curves, metric).plot().ax_.get_ylim()
        assert low >= 0
        assert high > max(values.max() for values in curves.values()) or high > 0.5


def test_a_line_along_the_edge_is_drawn_in_full_width() -> None:
    drawn = display({"perfect": 0 * curve(0.5), "other": curve(0.5)}, "error").plot()
    line = drawn.lines_["perfect"]
    assert line.get_clip_box().y0 < drawn.ax_.get_window_extent().y0 - 1


def exploded(level: float, where: slice, value: float = -1e9) -> np.ndarray:
    values = curve(level)
    values[where] = value
    return values


def test_an_r2_that_explodes_leaves_the_others_readable() -> None:
    curves = {
        "ridge": curve(0.8),
        "sgd": exploded(0.7, slice(40, 60)),
        "gone": exploded(0.5, slice(None), -1e14),
        "mean": 0 * curve(0.5),
    }
    drawn = display(curves, "r2", baselines=["mean"]).plot()
    low, high = drawn.ax_.get_ylim()
    assert -0.5 < low < 0
    assert 0.8 < high < 1.1
    assert "gone (below the axis)" in entries(drawn.legend_)
    assert "sgd" in entries(drawn.legend_)
    alone = display({name: curves[name] for name in ("ridge", "sgd")}, "r2").plot()
    assert 0.5 < alone.ax_.get_ylim()[0] < 0.7


def test_a_few_outliers_do_not_set_the_scale() -> None:
    curves = {"ridge": curve(0.8), "sgd": exploded(0.7, slice(50, 53), -5.0)}
    assert display(curves, "r2").plot().ax_.get_ylim()[0] > 0.5
    curves["sgd"][40:60] = -5.0  # no longer a few
    assert display(curves, "r2").plot().ax_.get_ylim()[0] < -5


def test_a_diverged_mae_leaves_the_others_readable() -> None:
    curves = {"a": curve(0.2), "b": curve(0.9), "gone": curve(0.5) * 1e12, "last": curve(0.4)}
    drawn = display(curves, "mae", baselines=["last"]).plot()
    assert 0.9 < drawn.ax_.get_ylim()[1] < 1.2
    assert "gone (above the axis)" in entries(drawn.legend_)
    assert display({"a": 1e-3 * curve(0.2), "b": curve(0.9)}, "mae").plot().ax_.get_ylim()[1] > 0.9


def test_a_measure_of_no_known_bounds_is_cut_where_it_explodes() -> None:
    drawn = display({"a": exploded(0.6, slice(50, 52), 1e8), "b": curve(0.3)}, "profit").plot()
    low, high = drawn.ax_.get_ylim()
    assert low < 0.3
    assert 0.6 < high < 2


def test_within_the_bounds_of_a_measure_nothing_leaves_the_picture() -> None:
    curves = {"sgd": curve(0.2), "last": curve(0.1), "majority": curve(0.9)}
    for n_folds in (1, 3):
        if n_folds > 1:
            curves = {name: np.tile(values, (1, n_folds)) for name, values in curves.items()}
        for metric in ("error", "accuracy", "kappa"):
            drawn = display(curves, metric, baselines=["last", "majority"]).plot()
            low, high = drawn.ax_.get_ylim()
            for values in curves.values():
                assert low <= values[2:].min() and values[2:].max() <= high
            assert set(curves) <= set(entries(drawn.legend_))


def test_a_line_that_ends_outside_the_axes_is_named_in_the_legend() -> None:
    curves = {
        "last": curve(0.4),
        "a": curve(0.3),
        "leaves": exploded(0.3, slice(97, None), 1e9),
        "was out": exploded(0.3, slice(50, 55), 1e9),
    }
    drawn = display(curves, "mae", baselines=["last"]).plot()
    assert entries(drawn.legend_)[:4] == ["last", "a", "leaves (partly above the axis)", "was out"]
    curves["leaves"][97:] = -1e9
    drawn = display(curves, "r2").plot()
    assert "leaves (partly below the axis)" in entries(drawn.legend_)


def test_a_score_given_to_a_failed_model_does_not_set_the_scale() -> None:
    drawn = display({"ok": curve(0.8), "failed": np.full((100, 1), -1.0)}).plot()
    assert drawn.ax_.get_ylim()[0] > 0.7
    assert "failed (below the axis)" in entries(drawn.legend_)


def test_curves_without_values_are_named_as_such() -> None:
    drawn = display({"ok": curve(0.8), "none": np.full((100, 1), np.nan)}).plot()
    assert "none (no value)" in entries(drawn.legend_)
    alone = display({"none": np.full((100, 1), np.nan)}).plot(legend="ends")
    alone.figure_.canvas.draw()
    assert [text.get_text() for text in alone.ax_.texts] == ["none (no value)"]


def test_models_that_failed_are_named_as_such() -> None:
    drawn = display({"ok": curve(0.8), "sgd": curve(0.8)}, failed=["sgd"]).plot()
    assert entries(drawn.legend_) == ["ok", "sgd (failed)"]

    evaluator = sk.PrequentialEvaluator("accuracy", error_score=np.nan)
    with pytest.warns(FitFailedWarning):
        known = {"sgd": FailsLater(0), "last": sk.Persistent()}
        result = evaluator.evaluate(known, make_demo_stream(20))
    assert entries(result.plot().legend_)[0] == "sgd (failed)"


def test_a_baseline_without_values_shades_nothing() -> None:
    nowhere = np.full((100, 1), np.nan)
    for curves in ({"a": curve(0.5), "last": nowhere}, {"last": nowhere}):
        drawn = display(curves, baselines=["last"]).plot()
        assert guess_area(drawn.ax_) is None


def test_the_users_scale_and_direction_of_the_axis_stay() -> None:
    _, ax = pyplot.subplots()
    ax.set_yscale("log")
    display({f"m{i}": curve(0.5) * 10.0**i for i in range(9)}, "mae").plot(ax)
    ax.figure.canvas.draw()
    assert ax.get_yscale() == "log"
    assert ax.get_ylim()[0] > 0
    heights = [text.get_position()[1] for text in ax.texts]
    assert np.ptp(np.diff(heights)) < 0.05  # evenly spaced, as the powers of ten are
    _, ax = pyplot.subplots()
    ax.invert_yaxis()
    drawn = display({"m": curve(0.5)}, "mae").plot(ax)
    assert ax.yaxis_inverted()
    assert entries(drawn.legend_) == ["m"]


def test_figures_can_be_pickled(result: sk.EvaluationResult, delayed: Any) -> None:
    shares = BinnedPerformanceDisplay.from_bin_counts([delayed], "sgd")
    for drawn in (result.plot(drifts=[50]), delayed.plot(), delayed.plot(kind="costs"), shares):
        pickle.loads(pickle.dumps(drawn.figure_)).canvas.draw()


def test_points_without_neighbours_are_marked() -> None:
    values = curve(0.7)
    values[[20, 22]] = np.nan
    line = display({"a": values}).plot().lines_["a"]
    assert line.get_markevery() == [21]
    one = display({"a": curve(0.7)[:1]}, checkpoints=N_ROWS[:1]).plot()
    assert one.lines_["a"].get_marker() == "o"
    assert one.ax_.get_xlim() == (0, 10)


def test_shared_axes_keep_what_they_show() -> None:
    _, axes = pyplot.subplots(1, 2, sharey=True)
    display({"high": curve(0.9)}).plot(axes[0])
    display({"low": curve(0.2)}).plot(axes[1])
    low, high = axes[0].get_ylim()
    assert low < 0.2
    assert high > 0.9


# --- bins -----------------------------------------------------------------------------------------


def test_bins_are_steps_between_two_dots(delayed: Any) -> None:
    drawn = delayed.plot()
    for name, line in drawn.lines_.items():
        assert line.get_drawstyle() == "steps-mid"
        assert line.get_markevery() == [0, 5]
        assert line.get_ydata().tolist() == delayed.by_bin(name, "accuracy").tolist()
    assert [text.get_text() for text in drawn.ax_.get_xticklabels()][:: len("12345")] == [
        "arrival",
        "label",
    ]
    n = delayed.n_rows
    assert drawn.ax_.get_title("left") == f"Accuracy, all rows so far, after {n:,} labelled rows"


@pytest.mark.parametrize("kind", ["bins", "time", "shares"])
def test_what_a_naive_guess_reaches_is_grey_under_delay(delayed: Any, kind: str) -> None:
    (area,) = delayed.plot(kind=kind).ax_.collections
    reached = area.get_paths()[0].vertices
    best = delayed.by_bin("last", "accuracy")[1:-1]
    assert {*best} <= {*reached[:, 1]} or kind == "time"
    assert not delayed.plot(kind=kind, models="sgd").ax_.collections


def test_two_bins_over_time_by_default(delayed: Any) -> None:
    drawn = delayed.plot(kind="time")
    assert list(drawn.lines_) == [
        f"{name}, {when}" for name in ("sgd", "last") for when in ("at arrival", "at the label")
    ]
    assert entries(drawn.legend_) == ["sgd", "last", "naive guess at the label"]
    assert drawn.ax_.get_title("left").endswith(
        "; from thin to thick lines: at arrival, at the label"
    )
    assert delayed.plot(kind="time", bins=0).ax_.get_title("left").endswith("; at arrival")
    of_one_width = delayed.plot(kind="time", linewidth=1)
    assert of_one_width.ax_.get_title("left").endswith("; at arrival, at the label")
    early, late = (drawn.lines_[f"sgd, {when}"] for when in ("at arrival", "at the label"))
    assert early.get_color() == late.get_color()
    assert early.get_linewidth() < late.get_linewidth()
    np.testing.assert_array_equal(early.get_ydata(), delayed.curve("sgd", "accuracy")[:, 0, 0])
    np.testing.assert_array_equal(late.get_ydata(), delayed.curve("sgd", "accuracy")[:, 0, -1])
    three = delayed.plot(kind="time", bins=[0, 2, 5], models="sgd")
    assert list(three.lines_)[1] == "sgd, in bin 2 of 4"
    early = delayed.plot(kind="time", at=100)
    assert all(line.get_xdata()[-1] == 100 for line in early.lines_.values())


@pytest.mark.parametrize("bins", [[9], [-1], [1.5], ["first"], [], [True]])
def test_bins_that_are_not_there_are_refused(delayed: Any, bins: Any) -> None:
    with pytest.raises(ValueError, match="from 0"):
        delayed.plot(kind="time", bins=bins)


def test_costs_are_plain_axes_in_plain_words(delayed: Any) -> None:
    drawn = delayed.plot(kind="costs")
    assert [ax.get_title("left") for ax in drawn.axes_] == [
        "Predictions while waiting, in the last 100 events",
        "Predictions while waiting, kept in memory",
        "Predictions while waiting, per labelled row",
    ]
    for ax in drawn.axes_:
        assert ax.get_yscale() == "linear"
        assert ax.get_ylim()[0] == 0
        assert ax.get_ylabel() == "predictions"
    _, ax = pyplot.subplots()
    together = delayed.plot(kind="costs", ax=ax)
    assert len(ax.lines) == 3
    assert ax.get_ylim()[1] >= max(line.get_ydata().max() for line in ax.lines)
    assert len(entries(together.legend_)) == 3


def test_the_row_shown_is_that_of_the_checkpoint(delayed: Any) -> None:
    row = int(delayed.checkpoints[5])
    drawn = BinnedPerformanceDisplay.from_result(delayed, at=row)
    assert drawn.n_rows == row
    with pytest.raises(ValueError, match="no checkpoint"):
        BinnedPerformanceDisplay.from_result(delayed, at=0)


def test_different_numbers_of_bins_are_needed(delayed: Any) -> None:
    with pytest.raises(ValueError, match=r"different numbers of bins. Got \[4, 4\]"):
        BinnedPerformanceDisplay.from_bin_counts([delayed, delayed], "sgd")
    with pytest.raises(ValueError, match="different numbers of bins"):
        BinnedPerformanceDisplay.from_bin_counts([], "sgd")


# --- bad input, and no traces ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "acuracy"}, KeyError, "There is no measure 'acuracy'"),
        ({"forgetting": "weekly"}, KeyError, "There is no forgetting 'weekly'"),
        ({"models": ["sdg"]}, KeyError, "There is no model 'sdg'"),
        ({"models": []}, ValueError, "at least one model"),
        ({"ax": "here"}, TypeError, "ax must be a matplotlib Axes. Got str"),
        ({"ax": 3}, TypeError, "ax must be a matplotlib Axes. Got int"),
        ({"legend": 7}, ValueError, "legend must be one of"),
        ({"metrc": "accuracy"}, TypeError, "Did you mean 'metric'"),
        ({"linestyle": "wavy"}, ValueError, "wavy"),
        ({"color": "no colour"}, ValueError, "no colour"),
        ({"drifts": "soon"}, ValueError, "drifts must be"),
        ({"styles": {"sgd": "red"}}, TypeError, "styles must map names to dicts"),
        ({"at": 5}, TypeError, "'at' is neither an option"),
    ],
)
def test_bad_input_is_named_and_leaves_no_figure(result, options, error, message):
    with pytest.raises(error, match=message):
        result.plot(**options)
    assert pyplot.get_fignums() == []


def test_axes_of_another_kind_are_refused(result: sk.EvaluationResult) -> None:
    figure, axes = pyplot.subplots(2, 2)
    with pytest.raises(ValueError, match=r"ax must be one matplotlib Axes\. Got 4 instead"):
        result.plot(ax=axes)
    with pytest.raises(TypeError, match="Got Figure"):
        result.plot(ax=figure)
    with pytest.raises(TypeError, match="projection 'polar'"):
        result.plot(ax=pyplot.figure().add_subplot(projection="polar"))
    assert not any(ax.has_data() for ax in axes.ravel())


def test_results_with_and_without_bins_are_not_confused(result, delayed):
    with pytest.raises(TypeError, match="has bins between arrival and label"):
        PrequentialDisplay.from_result(delayed)
    with pytest.raises(TypeError, match=r"Expected the result of an evaluation\. Got dict"):
        PrequentialDisplay.from_result({})
    with pytest.raises(TypeError, match="shows results of a DelayedEvaluator"):
        BinnedPerformanceDisplay.from_result(result)
    with pytest.raises(ValueError, match="spread must be"):
        FoldDisplay.from_result(result, spread="wide")
    with pytest.raises(ValueError, match="kind must be "):
        delayed.plot(kind="pie")


def test_one_name_is_one_model(result: sk.EvaluationResult) -> None:
    assert list(result.plot(models="sgd").lines_) == ["sgd"]


def test_a_result_without_rows_draws_and_prints() -> None:
    empty = display({"a": curve(0.5)[:0]}, checkpoints=N_ROWS[:0])
    empty.plot().figure_.canvas.draw()
    assert "a: no value" in repr(empty)


def test_global_settings_stay_and_the_users_figure_is_used(result, delayed):
    folds = sk.KFoldEvaluator("accuracy", n_folds=2, random_state=0).evaluate(
        {"sgd": SGDClassifier()}, make_demo_stream(60)
    )
    settings = dict(matplotlib.rcParams)
    figure, axes = pyplot.subplots(2, 2)
    for ax, one in zip(axes.ravel(), (result, delayed, folds), strict=False):
        drawn = one.plot(ax=ax)
        assert drawn.figure_ is figure
        assert drawn.ax_ is ax
    assert pyplot.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == settings
    before = pyplot.gcf(), pyplot.gca()
    display(models(2)).plot(axes[1, 1])
    assert (pyplot.gcf(), pyplot.gca()) == before


def test_a_result_saved_before_measures_were_kept_can_be_drawn(result: sk.EvaluationResult) -> None:
    old = replace(result, measures={}, details=replace(result.details, mechanisms={}))
    drawn = old.plot("accuracy", forgetting="all")
    assert guess_area(drawn.ax_) is not None
    assert drawn.ax_.get_title("left") == "Accuracy, all"
    assert guess_area(old.plot("loss").ax_) is None


# --- many models ----------------------------------------------------------------------------------


def test_of_many_models_the_best_are_shown() -> None:
    y = np.arange(60) % 2
    answers = {f"m{k}": np.where(np.arange(60) < k, 1 - y, y) for k in range(12)}
    for metric in ("accuracy", "error"):
        drawn = PrequentialDisplay.from_predictions(y, answers, metric)
        assert list(drawn.lines_) == [f"m{k}" for k in range(len(COLORS))]
        assert drawn.ax_.get_title("left").endswith("all rows so far, best 7 of 12 models")
        colors = [line.get_color() for line in drawn.lines_.values()]
        assert len({*colors}) == len(colors)
    everything = PrequentialDisplay.from_predictions(y, answers, models=list(answers))
    assert list(everything.lines_) == list(answers)
    ten = dict(list(answers.items())[:10])
    assert "best" not in PrequentialDisplay.from_predictions(y, ten).ax_.get_title("left")
