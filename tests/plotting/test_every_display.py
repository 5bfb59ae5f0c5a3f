"""What all displays share: found in ``__all__``, drawn, kept, listed as a frame, and printed."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import skstream as sk
import skstream.plotting
from skstream.plotting import (
    BinnedPerformanceDisplay,
    CriticalDifferenceDisplay,
    PrequentialDisplay,
)
from skstream.stats import anytime_comparison, friedman_nemenyi
from skstream.streams import load_testbed, make_demo_stream

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")

SHORT_TESTBED = load_testbed("NSGT-5D", n_rows=80)
MODELS = {"sgd": SGDClassifier(loss="log_loss", random_state=0), "last": sk.Persistent()}


def evaluated(evaluator: Any) -> Any:
    return evaluator.evaluate(MODELS, make_demo_stream(80))


def comparison() -> Any:
    rng = np.random.default_rng(0)
    return anytime_comparison(rng.random(80), rng.random(80))


#: What each display draws; a display that is not here fails the tests.
RESULTS: dict[str, Callable[[], Any]] = {
    "PrequentialDisplay": lambda: evaluated(sk.PrequentialEvaluator("accuracy")),
    "FoldDisplay": lambda: evaluated(sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0)),
    "BinnedPerformanceDisplay": lambda: evaluated(
        sk.DelayedEvaluator("accuracy", delay=9, polling=sk.Polling(n_bins=3))
    ),
    "ComparisonDisplay": comparison,
    "CriticalDifferenceDisplay": lambda: evaluated(
        sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0)
    ).rank(),
    "EstimateDisplay": lambda: sk.estimate_unlabelled(
        [0, 1] * 20, [0.7] * 40, arrival=range(40), label_time=range(9, 49)
    ),
    "ReliabilityDisplay": lambda: evaluated(sk.PrequentialEvaluator("brier")),
    "SliceDisplay": lambda: sk.score_slices(
        evaluated(sk.PrequentialEvaluator("accuracy")), ["day", "night"] * 40
    ),
    "TestbedDisplay": lambda: sk.PrequentialEvaluator("error").evaluate(MODELS, SHORT_TESTBED),
}
#: What displays need beside the result.
NEEDED: dict[str, dict[str, Any]] = {"TestbedDisplay": {"stream": SHORT_TESTBED}}
#: What displays are made with.
PARTS = {"BaseDisplay", "Canvas", "Layout"}
DISPLAYS = sorted(set(RESULTS) & set(skstream.plotting.__all__))


def check_display(kind: type[Any], result: Any, **needed: Any) -> None:
    """Raise if a display breaks a promise that all displays make."""
    display = kind.from_result(result, **needed)
    assert all(callable(getattr(display, one, None)) for one in ("from_result", "plot", "to_frame"))
    assert isinstance(display, kind)
    display.figure_.canvas.draw()
    assert display.ax_.figure is display.figure_
    assert display.lines_
    for name, line in display.lines_.items():
        assert isinstance(name, str)
        assert isinstance(line, matplotlib.lines.Line2D)
        assert line in line.axes.lines
    assert repr(display).startswith(f"{kind.__name__}(")
    assert repr(display).endswith("see plot(), to_frame())")
    first, before = next(iter(display.lines_)), display.figure_
    assert display.plot(linewidth=3, styles={first: {"color": "red"}}) is display
    assert display.figure_ is not before
    assert {line.get_linewidth() for line in display.lines_.values()} == {3}
    assert display.lines_[first].get_color() == "red"
    with pytest.raises(KeyError, match="styles names 'nothing'"):
        display.plot(styles={"nothing": {}})


def test_every_exported_display_is_covered() -> None:
    missing = sorted(set(skstream.plotting.__all__) - PARTS - set(RESULTS))
    where = "RESULTS in tests/plotting/test_every_display.py"
    assert not missing, f"add what {missing} draw to {where}"
    assert sorted(RESULTS) == DISPLAYS


@pytest.mark.parametrize("name", DISPLAYS)
def test_every_display_is_drawn_from_its_result(name: str) -> None:
    check_display(getattr(skstream.plotting, name), RESULTS[name](), **NEEDED.get(name, {}))


@pytest.mark.parametrize("name", DISPLAYS)
def test_every_display_has_its_data_as_a_frame(name: str, pd: Any) -> None:
    kind = getattr(skstream.plotting, name)
    frame = kind.from_result(RESULTS[name](), **NEEDED.get(name, {})).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)
    for column in frame.columns:
        assert column in inspect.getdoc(kind), f"the docstring does not name {column!r}"


def test_the_frame_of_bins_holds_what_is_drawn(pd: Any) -> None:
    display = BinnedPerformanceDisplay.from_result(RESULTS["BinnedPerformanceDisplay"]())
    for kind, by in (("time", ["model", "bin"]), ("costs", ["cost"])):
        drawn = replace(display, kind=kind).plot()
        parts = [part for _, part in drawn.to_frame().groupby(by, sort=False)]
        assert len(parts) == len(drawn.lines_)
        for part, line in zip(parts, drawn.lines_.values(), strict=True):
            np.testing.assert_array_equal(part[["row", "value"]], line.get_xydata())


@pytest.mark.parametrize("name", DISPLAYS)
def test_what_comes_after_model_and_measure_is_named(name: str) -> None:
    kind = getattr(skstream.plotting, name)
    assert all(p.kind is p.KEYWORD_ONLY for p in inspect.signature(kind).parameters.values())
    plain = {"result", "results", "metric"}
    for parameter in inspect.signature(kind.from_result).parameters.values():
        named = parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD)
        assert named or parameter.name in plain


def test_a_display_of_a_user_needs_no_base_class() -> None:
    @dataclass(repr=False)
    class LastScores:
        scores: dict[str, float]

        @classmethod
        def from_result(cls, result: Any, **options: Any) -> Any:
            return cls({name: values["accuracy"] for name, values in result.scores.items()}).plot(
                **options
            )

        def plot(self, ax: Any = None, *, styles: Any = None, **line_options: Any) -> Any:
            unknown = set(styles or {}) - set(self.scores)
            if unknown:
                raise KeyError(f"styles names '{unknown.pop()}'")
            self.ax_ = pyplot.subplots()[1] if ax is None else ax
            self.figure_ = self.ax_.figure
            self.lines_ = {}
            for name, score in self.scores.items():
                style = line_options | (styles or {}).get(name, {})
                (self.lines_[name],) = self.ax_.plot([0, 1], [score, score], **style)
            return self

        def to_frame(self) -> Any:
            return self.scores

        def __repr__(self) -> str:
            return "LastScores(see plot(), to_frame())"

    check_display(LastScores, evaluated(sk.PrequentialEvaluator("accuracy")))


def test_what_lacks_a_method_is_no_display() -> None:
    class NoFrame:
        def plot(self, ax: Any = None) -> None: ...

        @classmethod
        def from_result(cls, result: Any) -> Any:
            return cls()

    with pytest.raises(AssertionError):
        check_display(NoFrame, None)


def test_what_is_drawn_of_bins_can_be_chosen_afterwards() -> None:
    display = BinnedPerformanceDisplay.from_result(RESULTS["BinnedPerformanceDisplay"]())
    costs = replace(display, kind="costs").plot()
    assert list(costs.lines_) == ["NC", "NB", "NR"]
    assert len(costs.axes_) == 3
    assert replace(display, kind="shares").plot().lines_.keys() == MODELS.keys()
    with pytest.raises(ValueError, match=r"kind must be 'bins', 'time'"):
        replace(display, kind="pie")
    for kind, needed in (("time", "over_time"), ("costs", "poll_costs")):
        with pytest.raises(ValueError, match=f"nothing to plot: kind='{kind}' needs {needed}"):
            replace(display, kind=kind, **{needed: None})


def test_a_diagram_of_ranks_has_no_legend() -> None:
    with pytest.raises(TypeError, match="'legend' is neither an option of this display"):
        CriticalDifferenceDisplay.from_result(
            friedman_nemenyi([[1, 2], [2, 1], [3, 2]]), legend=True
        )


def test_a_notebook_shows_the_picture_and_no_line_above_it(capsys: Any, monkeypatch: Any) -> None:
    display = PrequentialDisplay(
        checkpoints=np.arange(1, 4),
        curves={"a": np.ones((3, 1))},
        metric="accuracy",
        forgetting="cumulative",
    )
    display._ipython_display_()
    assert capsys.readouterr().out == f"{display!r}\n"
    shown: list[Any] = []
    notebook = SimpleNamespace(display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=notebook))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    display.plot()._ipython_display_()
    assert (shown, capsys.readouterr().out) == ([], "")  # the notebook draws open figures itself
    pyplot.close("all")
    display._ipython_display_()
    assert shown == [display.figure_]
    display.plot(ax=matplotlib.figure.Figure().subplots())._ipython_display_()
    assert shown[1:] == [display.figure_]


@pytest.mark.parametrize("size", [(2.4, 2.4), (3.0, 2.0)])
@pytest.mark.parametrize("name", DISPLAYS)
def test_no_text_is_cut_in_small_axes(name: str, size: tuple[float, float]) -> None:
    display = getattr(skstream.plotting, name).from_result(RESULTS[name](), **NEEDED.get(name, {}))
    n, (width, height) = len(display.axes_), size
    figure, axes = pyplot.subplots(n, figsize=(width, n * height), layout="constrained")
    display.plot(ax=axes)
    figure.canvas.draw()
    page = figure.bbox.padded(1.0)
    for ax in np.ravel(axes):
        texts = [ax.xaxis.label, ax.yaxis.label, ax._left_title, *ax.texts]
        if (legend := ax.get_legend()) is not None:
            texts += legend.get_texts()
        for box in [text.get_window_extent() for text in texts if text.get_text().strip()]:
            assert page.contains(*box.min) and page.contains(*box.max)
        if legend is not None and name != "ComparisonDisplay":
            box = legend.get_window_extent()
            for line in display.lines_.values():
                points = line.get_transform().transform(line.get_xydata())
                top = min(box.y1, line.get_clip_box().y1)
                assert not box.count_contains(points[points[:, 1] <= top])
