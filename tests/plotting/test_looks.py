"""Pictures can be read: nothing overlaps, and colours and dashes mean one thing."""

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.drift import RandomAlarm
from skstream.plotting import ReliabilityDisplay, TestbedDisplay
from skstream.plotting._axes import model_styles, wrap_name
from skstream.streams import load_testbed, make_demo_stream
from tests.plotting.test_measure_displays import display

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")

NAIVE = {"last": sk.Persistent(), "major": sk.MajorityClass()}
RANDOM = {"random": sk.DriftMonitor(RandomAlarm(0.05, warm_up=0, random_state=0))}


def evaluated(n_models: int, naive: Any = NAIVE, n_rows: int = 400) -> Any:
    models = {
        f"sgd_{k}": SGDClassifier(loss="log_loss", alpha=10.0**-k, random_state=0)
        for k in range(n_models)
    }
    evaluator = sk.PrequentialEvaluator(["accuracy", "brier"])
    return evaluator.evaluate({**models, **naive}, make_demo_stream(n_rows, random_state=0))


def found(n_models: int) -> Any:
    return sk.detect(evaluated(n_models), RANDOM)


def boxes(texts: Any) -> list[Any]:
    # Without the leaders of annotations.
    return [matplotlib.text.Text.get_window_extent(one) for one in texts if one.get_visible()]


def overlap(artists: Any) -> bool:
    shrunk = [box.padded(-1) for box in boxes(artists)]
    return any(a.overlaps(b) for a, b in itertools.combinations(shrunk, 2))


@pytest.mark.parametrize("n_models", [2, 6])
@pytest.mark.parametrize("marked", [False, True])
def test_in_small_axes_of_the_user_nothing_covers_lines_or_labels(n_models, marked) -> None:
    result = evaluated(n_models)
    figure, ax = pyplot.subplots(figsize=(4, 3.5))
    drawn = result.plot(ax=ax, **({"detections": sk.detect(result, RANDOM)} if marked else {}))
    figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    for line in drawn.lines_.values():
        points = line.get_transform().transform(line.get_xydata())
        shown = points[points[:, 1] <= line.get_clip_box().y1]
        assert len(shown) > 390
        assert not legend.count_contains(shown)
    labels = [text for text in ax.texts if text.get_text()]
    assert not overlap(labels)
    lanes = [one.get_window_extent() for one in ax.child_axes]
    assert not any(box.overlaps(legend) for box in [*boxes(labels), *lanes])
    assert max(ax.get_yticks()) <= 1.0  # no accuracy is beside the legend


def test_a_baseline_has_the_same_dashes_in_every_picture_and_order() -> None:
    def dashes(drawn: Any) -> dict[str, str]:
        return {name: drawn.lines_[name].get_linestyle() for name in NAIVE}

    result = evaluated(1)
    reversed_ = evaluated(1, dict(reversed(NAIVE.items())))
    late = sk.DelayedEvaluator("accuracy", delay=9).evaluate(NAIVE, make_demo_stream(80))
    expected = {"last": "--", "major": ":"}
    for drawn in (result.plot(), reversed_.plot(), ReliabilityDisplay.from_result(result)):
        assert dashes(drawn) == expected
        assert drawn.lines_["sgd_0"].get_linestyle() == "-"
    assert dashes(late.plot()) == expected
    assert result.plot(models=["major"]).lines_["major"].get_linestyle() == ":"
    kinds = {"a": "MajorityWindow", "b": "MajorityWindow", "c": "own", "last": "Persistent"}
    styles = {name: style["linestyle"] for name, style in model_styles([*kinds], kinds).items()}
    assert styles["last"] == "--"
    assert len({*styles.values()}) == 4


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_texts_are_dark_on_light_and_light_on_dark(style: str) -> None:
    def lightness(color: Any) -> float:
        rgb = np.array(matplotlib.colors.to_rgb(color))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05

    with pyplot.style.context(style):
        result = evaluated(8)
        groups = sk.score_slices(result, ["day", "night"] * 200)
        testbed = TestbedDisplay.from_stream(load_testbed("NSCX", n_rows=80))
        for drawn in (result.plot(), groups.plot(kind="bars"), testbed):
            ground = lightness(drawn.figure_.get_facecolor())
            for text in drawn.figure_.findobj(matplotlib.text.Text):
                pair = sorted([ground, lightness(text.get_color())])
                assert not text.get_text() or pair[1] / pair[0] >= 4.5, text


def test_the_size_is_that_of_the_settings_and_ticks_fit_after_a_change() -> None:
    result = evaluated(1)
    with pyplot.rc_context({"figure.figsize": (5.0, 3.0)}):
        drawn = result.plot()
        assert drawn.figure_.get_size_inches().tolist() == [5.0, 3.0]
        three = sk.plotting.ComparisonDisplay.from_evaluation(result, "last", "major")
        assert three.figure_.get_size_inches()[0] == 5.0
    assert result.plot().figure_.get_size_inches().tolist() == [8.0, 4.5]
    drawn = display({"a": np.full((9, 1), 0.5)}, checkpoints=np.linspace(0, 3e6, 9)).plot()
    drawn.figure_.set_size_inches(4.0, 3.0)
    drawn.figure_.canvas.draw()
    assert not overlap(drawn.ax_.get_xticklabels())
    sizes = [(4.5, 3.0), (6.0, 3.2), (8.0, 4.5)]
    result, alarms = evaluated(5), found(5)
    for first, size in [*itertools.product(sizes, [*sizes, (3.0, 3.0), (7.0, 6.0)])][::2]:
        with pyplot.rc_context({"figure.figsize": first}):
            named = result.plot(legend="ends", drifts=[100], detections=alarms)
        named.figure_.set_size_inches(size)
        named.figure_.canvas.draw()
        below = named.legend_.get_texts()
        assert not overlap(named.ax_.texts)
        assert not overlap([named.ax_.xaxis.label, *below])
        parts = boxes([*named.ax_.texts, *below])
        assert all(0 <= box.x0 and box.x1 <= named.figure_.bbox.x1 for box in parts)


def test_marks_of_many_models_share_a_lane_and_others_have_room() -> None:
    few, many = evaluated(2), evaluated(6)
    drawn = [one.plot(detections=sk.detect(one, RANDOM)) for one in (few, many)]
    for one in drawn:
        one.figure_.canvas.draw()
        parts = boxes([one.ax_.yaxis.label, one.ax_._left_title, *one.legend_.get_texts()])
        page = one.figure_.bbox
        assert all(page.contains(*box.min) and page.contains(*box.max) for box in parts)
    lanes = [one.ax_.child_axes[0] for one in drawn]
    assert lanes[0].get_window_extent().height / drawn[0].figure_.dpi > 4 * 0.08
    rails = {line.get_linestyle() for line in lanes[0].lines}
    assert rails == {"-", "--", ":"}  # told apart without colours
    (marks,) = lanes[1].collections
    n_alarms = sum(len(one.alarms) for one in sk.detect(many, RANDOM)["random"].values())
    assert len(marks.get_segments()) == n_alarms
    assert [text.get_text() for text in drawn[1].legend_.get_texts()][-1] == "alarm of any model"


def test_no_line_passes_bins_with_few_rows(rng: np.random.Generator) -> None:
    p = np.concatenate([rng.uniform(0, 0.3, 500), [0.55], rng.uniform(0.6, 1, 500)])
    y = (rng.random(len(p)) < p).astype(int)
    drawn = ReliabilityDisplay.from_predictions(y, p)
    x, joined = drawn.lines_["model"].get_data()
    few = np.flatnonzero(np.isnan(joined))
    assert x[few] == pytest.approx([0.55])
    assert any(line.get_xdata().tolist() == [0.55] for line in drawn.ax_.lines)
    assert "fewer than 30 rows" in [text.get_text() for text in drawn.legend_.get_texts()]


def test_of_many_models_the_reliability_of_the_best_is_shown() -> None:
    result = evaluated(12)
    drawn = ReliabilityDisplay.from_result(result)
    assert list(drawn.lines_) == list(result.plot("accuracy").lines_)
    assert drawn.legend_.get_title().get_text() == "best 7 of 12 models"
    assert len(ReliabilityDisplay.from_result(result, models=[*result.model_names]).lines_) == 14
    errors = {f"sgd_{k}": SGDClassifier(alpha=10.0**-k, random_state=0) for k in range(12)}
    stream = load_testbed("NSCX", n_rows=80)
    result = sk.PrequentialEvaluator("error").evaluate(errors, stream)
    drawn = TestbedDisplay.from_result(result, stream=stream)
    assert drawn.ax_.get_title(loc="left") == "Error, all rows so far, best 7 of 12 models"


def test_names_are_not_broken_within_brackets() -> None:
    assert wrap_name("a rather long name of a group (1,333 rows)") == [
        "a rather long name of a group",
        "(1,333 rows)",
    ]
    assert wrap_name("Model(alpha=0.0001)") == ["Model(alpha=0.0001)"]
    long = f"Model({'x' * 70}, b)"
    assert "".join(wrap_name(long)).replace(" ", "") == long.replace(" ", "")


@pytest.mark.parametrize("mechanism", ["cumulative", "window:100", "window:30D"])
def test_few_first_rows_do_not_set_the_limits_and_a_late_spike_does(mechanism: str) -> None:
    rows = np.r_[1, 100 * np.arange(1, 20)]
    times = np.datetime64("2026-01-01", "us") + rows * np.timedelta64(7, "h")
    for place, is_seen in ((0, False), (1, True), (19, True)):
        curve = np.full((20, 1), 0.3)
        curve[place] = 0.9
        about = {"checkpoints": rows, "times": times, "forgetting": mechanism}
        drawn = display({"a": curve}, "error", **about).plot()
        assert (drawn.ax_.get_ylim()[1] > 0.9) == is_seen
        assert drawn.lines_["a"].get_ydata()[place] == 0.9


def test_few_first_rows_of_groups_do_not_set_the_limits() -> None:
    rows = np.arange(0.0, 101.0)
    curves = {name: np.where(rows < 7, 0.9, 0.3) for name in ("a", "b", "c", "d", "all rows")}
    about: dict[str, Any] = {"metric": "error", "forgetting": "cumulative", "model": "m"}
    about |= {"intervals": {}, "n_rows": {}, "baselines": ("all rows",)}
    groups = sk.plotting.SliceDisplay(checkpoints=rows, times=rows * 50, curves=curves, **about)
    assert groups.plot().ax_.get_ylim()[1] < 0.9
    groups.figure_.canvas.draw()
    assert "4,000" in [label.get_text() for label in groups.ax_.get_xticklabels()]


def test_no_number_stands_beside_no_value() -> None:
    nothing = display({"a": np.full((3, 1), np.nan)}, "mae", checkpoints=np.arange(1, 4))
    assert not len(nothing.plot().ax_.get_yticks())
