"""The display of a stream whose truth is known."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from skstream import Persistent, PrequentialEvaluator, evaluate_over_seeds
from skstream.optimal import BayesOptimal
from skstream.plotting import TestbedDisplay
from skstream.streams import GaussianMixtureStream, load_testbed, make_demo_stream
from skstream.streams._generators._components import Component, Phase

pytest.importorskip("matplotlib")
ellipse = pytest.importorskip("matplotlib.patches").Ellipse

STREAM = load_testbed("NSCX")


def short_stream(name, seed):
    return load_testbed(name, n_rows=60, random_state=seed)


def ellipses(ax):
    """Ellipses of two standard deviations, their areas only."""
    found = [patch for patch in ax.patches if isinstance(patch, ellipse) and patch.get_fill()]
    return found[1::2]


def test_a_picture_has_an_ellipse_for_each_component_and_row():
    display = TestbedDisplay.from_stream(STREAM, n_times=5, n_rows=50)
    drawn = ellipses(display.ax_)
    # The second component stays where it is; the third has no prior at row 0.
    assert len(drawn) == 5 + 1 + 4
    moments = STREAM.moments(0)
    first = drawn[0]
    np.testing.assert_allclose(first.get_center(), moments.centers[0])
    np.testing.assert_allclose([first.width, first.height], 4 * np.sqrt([2.5, 1]))
    assert first.angle % 180 == pytest.approx(30)
    paths = display.lines_
    assert list(paths) == ["A1", "A2", "B"]
    assert paths["A1"].get_xydata()[-1].tolist() == pytest.approx([10, 10])
    assert len(display.ax_.collections[0].get_offsets()) < 50
    assert [text.get_text() for text in display.legend_.get_texts()] == ["class A", "class B"]


def test_the_higher_the_prior_the_darker():
    display = TestbedDisplay.from_stream(load_testbed("NSPC-A"), kind="filmstrip", n_times=2)
    first, last = (
        [(patch.get_center()[0], patch.get_alpha()) for patch in ellipses(ax)]
        for ax in display.axes_
    )
    assert [place for place, _ in first] == [2, 0]
    assert [place for place, _ in last] == [-2, 0]
    quarter = TestbedDisplay.from_stream(load_testbed("NSPC"), kind="filmstrip", n_times=3)
    pale, dark = (patch.get_alpha() for patch in ellipses(quarter.axes_[0])[:2])
    assert pale < dark


def test_a_film_shows_the_rows_of_its_time():
    display = TestbedDisplay.from_stream(STREAM, kind="filmstrip", n_times=3, n_rows=90)
    assert [ax.get_title(loc="left") for ax in display.axes_] == [
        "row 0",
        "row 5,000",
        "row 10,000",
    ]
    rows = display.mixture.rows
    assert (np.abs(rows - np.repeat([0, 5000, 10_000], len(rows) // 3)) <= 60).all()
    X, _ = STREAM.rows(int(rows[40]), int(rows[40]) + 1)
    np.testing.assert_array_equal(display.mixture.points[40], X[0])
    as_picture = replace(display, kind="picture").plot()
    assert len(as_picture.axes_) == 1


def test_errors_beside_the_bayes_error():
    apart = [Phase(1000, 1000, move=(2,))]
    parts = [Component("A", 1, (0,), (1,)), Component("B", 1, (2,), (1,), phases=apart)]
    stream = GaussianMixtureStream(parts, n_rows=2000)
    before, after = stream.bayes_error_estimate(t=[0, 1000]).error
    evaluator = PrequentialEvaluator(
        "error", forgetting=["window:400", "adwin", "cumulative"], record_every=100
    )
    result = evaluator.evaluate({"last": Persistent(), "best": BayesOptimal(stream)}, stream)
    display = TestbedDisplay.from_result(result, stream=stream)
    assert list(display.lines_) == ["last", "best", "Bayes error"]
    # Averaged as the errors are: a quarter of the window has changed at row 1,100.
    line = dict(display.lines_["Bayes error"].get_xydata().tolist())
    assert line[1000] == pytest.approx(before)
    assert line[1100] == pytest.approx(0.75 * before + 0.25 * after)
    assert line[1400] == pytest.approx(after)
    single = TestbedDisplay.from_result(result, stream=stream, forgetting="adwin")
    assert single.bayes_error[[9, 10]].tolist() == pytest.approx([before, after])
    every = TestbedDisplay.from_result(result, stream=stream, forgetting="cumulative")
    assert every.bayes_error[-1] == pytest.approx(stream.bayes_error())
    with pytest.raises(ValueError, match="kind='picture' needs mixture, which from_stream gives"):
        replace(display, kind="picture")


def test_a_study_shows_the_mean_of_its_seeds():
    study = evaluate_over_seeds(
        partial(short_stream, "NSGT-5D"),
        Persistent(),
        range(2),
        evaluator=PrequentialEvaluator("error"),
    )
    display = TestbedDisplay.from_result(study, stream=load_testbed("NSGT-5D"))
    drawn = display.lines_["Persistent"].get_ydata()
    assert drawn[-1] == pytest.approx(study.scores["Persistent"]["error"])


def test_other_dimensions_and_endless_streams():
    parts = [Component("A", 1, (0, 1, 2), (1, 2, 3), phases=[Phase(0, 50, move=(0, 5, 5))])]
    endless = GaussianMixtureStream(parts, n_rows=None)
    display = TestbedDisplay.from_stream(endless, features=(2, 1), n_times=2, n_rows=0)
    assert display.mixture.times.tolist() == [0, 50]
    assert display.mixture.centers[1, 0].tolist() == [7, 6]
    assert display.ax_.get_xlabel() == "x3"
    with pytest.raises(ValueError, match="features must be two different numbers"):
        TestbedDisplay.from_stream(endless, features=(0, 3))


def test_bad_input():
    with pytest.raises(TypeError, match="Expected a GaussianMixtureStream"):
        TestbedDisplay.from_stream(make_demo_stream(10))
    with pytest.raises(ValueError, match="kind must be "):
        TestbedDisplay.from_stream(STREAM, kind="film", n_rows=10)
    result = PrequentialEvaluator("accuracy").evaluate(
        Persistent(), load_testbed("NSGT", n_rows=50)
    )
    with pytest.raises(ValueError, match="evaluate with the measure 'error'"):
        TestbedDisplay.from_result(result, stream=STREAM, metric="accuracy")


def test_a_result_of_another_stream_is_refused():
    result = PrequentialEvaluator("error").evaluate(Persistent(), load_testbed("NSGT", n_rows=50))
    with pytest.raises(ValueError, match="The result has 50 rows, and the stream only 49: it is"):
        TestbedDisplay.from_result(result, stream=load_testbed("NSGT", n_rows=49))
    other = GaussianMixtureStream([Component(label, 1, (0,), (1,)) for label in "AC"])
    with pytest.raises(ValueError, match=r"classes \['A', 'B'\], and the stream \['A', 'C'"):
        TestbedDisplay.from_result(result, stream=other)
