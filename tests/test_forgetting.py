import dataclasses
import pickle
from datetime import timedelta
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.core.forgetting import _KNOWN, Spelling, as_forgetting, parse_forgetting
from skstream.forgetting import (
    AdaptiveWindow,
    Cumulative,
    FadingFactor,
    Forgetting,
    SlidingWindow,
    equivalent_window,
    hoeffding_sample_size,
    window_half_width,
)
from skstream.stats import mcnemar_curve
from skstream.streams import make_demo_stream

SPELLED = {
    "cumulative": Cumulative(),
    "window:1000": SlidingWindow(1000),
    "fading:0.999": FadingFactor(0.999),
    "window:7D": SlidingWindow("7D"),
    "window:1D 12h": SlidingWindow("1D 12h"),
    "half-life:500": FadingFactor(half_life=500),
    "half-life:0.5": FadingFactor(half_life=0.5),
    "half-life:30min": FadingFactor(half_life="30min"),
    "adwin": AdaptiveWindow(),
    "adwin:0.01": AdaptiveWindow(0.01),
}


@pytest.mark.parametrize("text", SPELLED)
def test_names_are_read_and_given_back(text):
    assert parse_forgetting(text) == SPELLED[text]
    assert SPELLED[text].name == text
    assert parse_forgetting(f" {text} ") == SPELLED[text]


@pytest.mark.parametrize("spec", SPELLED.values(), ids=str)
def test_specifications_are_values(spec):
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert len({spec, type(spec)(**dataclasses.asdict(spec))}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        spec.anything = 1


@pytest.mark.parametrize("size", [0, -3, 1.5, True, "7", None, np.nan])
def test_window_size_is_checked(size):
    with pytest.raises(
        ValueError,
        match=r"The 'window_size' parameter of SlidingWindow must be an int in the range "
        r"\[1, inf\)\. Got .* instead\.",
    ):
        SlidingWindow(size)


@pytest.mark.parametrize(
    "duration", ["7D", "168h", timedelta(days=7), np.timedelta64(7, "D"), np.timedelta64(1, "W")]
)
def test_durations_are_read(duration):
    for mechanism in (SlidingWindow(duration), FadingFactor(half_life=duration)):
        assert mechanism.counts_time
        assert mechanism.duration == np.timedelta64(7, "D")
        assert parse_forgetting(mechanism.name).duration == mechanism.duration
    assert FadingFactor(half_life=10).factor ** 10 == pytest.approx(0.5)
    assert not FadingFactor(half_life=10).counts_time


@pytest.mark.parametrize(
    ("duration", "message"),
    [
        ("1M", "a number of rows, or a duration in W"),
        ("a week", "a number of rows, or a duration in W"),
        (np.timedelta64(1, "M"), "a fixed length"),
        (np.timedelta64(1), "a fixed length"),
        ("0s", "must be positive"),
        (timedelta(days=-1), "must be positive"),
    ],
)
def test_durations_are_checked(duration, message):
    with pytest.raises(ValueError, match=message):
        SlidingWindow(duration)
    with pytest.raises(ValueError, match=message):
        FadingFactor(half_life=duration)


@pytest.mark.parametrize("half_life", [0, -1, np.inf, np.nan, "500", True])
def test_half_life_is_checked(half_life):
    with pytest.raises(ValueError, match=r"'half_life' parameter .* a number of rows above 0"):
        FadingFactor(half_life=half_life)


def test_one_of_factor_and_half_life_is_given():
    for given in ({}, {"fading_factor": 0.9, "half_life": 5}):
        with pytest.raises(ValueError, match="one of fading_factor and half_life"):
            FadingFactor(**given)


@pytest.mark.parametrize("alpha", [0.0, -0.1, 1.0001, np.nan, "0.9", True])
def test_fading_factor_is_checked(alpha):
    with pytest.raises(
        ValueError, match=r"'fading_factor' parameter of FadingFactor .*\(0.0, 1.0\]"
    ):
        FadingFactor(alpha)


@pytest.mark.parametrize("factor", [0.001, 0.01, 0.1, 0.499])
def test_a_factor_that_may_be_a_decay_is_said_once(factor: float) -> None:
    y = np.array([0, 1] * 20)
    evaluator = sk.PrequentialEvaluator("accuracy", forgetting=["cumulative", f"fading:{factor}"])
    for call in (
        lambda: evaluator.evaluate({"m": sk.MajorityClass()}, y[:, np.newaxis], y),
        lambda: sk.score_predictions(y, y, forgetting={"f": FadingFactor(factor)}),
    ):
        with pytest.warns(UserWarning, match="is the weight of the past") as caught:
            call()
        assert len(caught) == 1
        assert f"write a decay of {factor} as 'fading:{1 - factor:g}'" in str(caught[0].message)
    sk.score_predictions(y, y, forgetting=["fading:0.5", "fading:0.999", "half-life:0.1"])


@pytest.mark.parametrize("delta", [0.0, 1.0, -1, np.nan, None])
def test_delta_is_checked(delta):
    with pytest.raises(ValueError, match=r"'delta' parameter of AdaptiveWindow .*\(0.0, 1.0\)"):
        AdaptiveWindow(delta)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("windw:5", r"Unknown forgetting 'windw:5'. Did you mean 'window:5'\? Known are"),
        *(
            (text, f"Did you mean '{meant}'")
            for text, meant in (
                ("window_1000", "window:1000"),
                ("Window:100", "window:100"),
                ("window 7D", "window:7D"),
                ("window=20", "window:20"),
                ("window1000", "window:1000"),
                ("sliding:100", "window:100"),
                ("sliding_window:1D 12h", "window:1D 12h"),
                ("SlidingWindow", "window:1000"),
                ("WINDOW", "window:1000"),
                ("windows:many", "window:1000"),
                ("fading_0.99", "fading:0.99"),
                ("fading_factor:0.9", "fading:0.9"),
                ("half_life:30D", "half-life:30D"),
                ("ADWIN", "adwin"),
                ("Adwin=0.01", "adwin:0.01"),
                ("Cumulative", "cumulative"),
            )
        ),
        ("ddm", r"Unknown forgetting 'ddm'\. Known are \"cumulative\", \"window:1000\""),
        ("", "Unknown forgetting ''"),
        ("window", "needs a whole number of rows, or a duration in .* after 'window' and a colon"),
        ("window:", "needs a whole number"),
        ("window:1e3", "needs a whole number .* Got '1e3' instead"),
        ("window:1M", "Got '1M' instead"),
        ("half-life:0", "above 0"),
        ("fading:x", "needs a number after 'fading'"),
        ("cumulative:3", "takes no number"),
        ("adwin:", "needs a number"),
        ("window:0", r"\[1, inf\)"),
        ("fading:2", r"\(0.0, 1.0\]"),
    ],
)
def test_unreadable_names(text, message):
    with pytest.raises(ValueError, match=message):
        parse_forgetting(text)


def test_names_of_numpy_numbers_have_all_digits():
    for one in (
        FadingFactor(np.float32(0.999)),
        FadingFactor(half_life=np.float32(10.1)),
        AdaptiveWindow(np.float32(0.01)),
    ):
        again = parse_forgetting(one.name)
        assert [float(v) for v in again.get_params().values() if v is not None] == [
            float(v) for v in one.get_params().values() if v is not None
        ]


def test_several_mechanisms():
    assert as_forgetting(SlidingWindow(5)) == {"window:5": SlidingWindow(5)}
    assert as_forgetting("adwin") == {"adwin": AdaptiveWindow()}
    several = as_forgetting(["cumulative", FadingFactor(0.9)])
    assert list(several) == ["cumulative", "fading:0.9"]
    assert as_forgetting(several) == several
    named = as_forgetting({"recent": "window:5", "all": Cumulative()})
    assert named == {"recent": SlidingWindow(5), "all": Cumulative()}


def test_what_is_no_mechanism():
    with pytest.raises(TypeError, match=r"Got 5 of type int instead"):
        as_forgetting(5)
    with pytest.raises(TypeError, match="Got None of type NoneType"):
        as_forgetting({"a": None})
    with pytest.raises(ValueError, match="No forgetting mechanism was given"):
        as_forgetting({})
    with pytest.raises(ValueError, match="given twice"):
        as_forgetting(["window:5", SlidingWindow(5)])


def test_figures_of_the_paper():
    # The paper prints 18444 for a bound of 18444.397.
    assert hoeffding_sample_size(0.01, 0.05) == 18445
    assert window_half_width(1000) == pytest.approx(0.0316, abs=5e-5)
    assert window_half_width(10_000) == 0.01


@pytest.mark.parametrize("factor", [0.3, 0.5, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("weight", [0.25, 0.125, 0.05, 0.9, 1e-9])
def test_horizon_ends_where_weights_are_small(factor, weight):
    horizon = FadingFactor(factor).memory(weight)
    assert factor**horizon < weight <= factor ** (horizon - 1)
    old_and_new = factor ** np.arange(horizon + round(40 / (1 - factor)))
    share = old_and_new[horizon:].sum() / old_and_new.sum()
    assert share == pytest.approx(factor**horizon, rel=1e-6)


def test_horizons_at_the_ends_of_the_range():
    assert FadingFactor(1e-17).memory(0.5) == FadingFactor(5e-324).memory(0.5) == 1
    assert FadingFactor(0.5).memory(5e-324) == 1075
    assert FadingFactor(1 - 2**-53).memory(0.5) == pytest.approx(2**53 * np.log(2))


def test_horizons_of_the_paper():
    # Windows and fading factors of Gama et al. (2013), Table 2, which prints four digits.
    factors = [0.9970, 0.9985, 0.9990, 0.9993, 0.9994]
    for size, factor in zip(range(1000, 6000, 1000), factors, strict=True):
        assert FadingFactor(factor).memory(0.05) == pytest.approx(size, rel=0.07)
    assert FadingFactor(0.995).memory(2.9e-7) == 3004  # section 3.4: 3,000 rows


@pytest.mark.parametrize("size", [2, 5, 50])
def test_an_equivalent_window_is_as_noisy_and_as_old(size):
    factor, ages = (size - 1) / (size + 1), np.arange(60 * size)
    shares = factor**ages / (factor**ages).sum()
    assert equivalent_window(factor) == size
    assert (shares**2).sum() == pytest.approx(1 / size)  # variance of the mean of unit variances
    assert (shares * ages).sum() == pytest.approx((size - 1) / 2)
    assert ((1 - 1 / size) ** ages).sum() == pytest.approx(size)
    assert equivalent_window(1 - 1 / size, match="weight") == size


@pytest.mark.parametrize(
    "call",
    [
        lambda: equivalent_window(1.0),
        lambda: equivalent_window(0.9, match="age"),
        lambda: hoeffding_sample_size(0, 0.05),
        lambda: hoeffding_sample_size(1e-200, 0.05),
        lambda: hoeffding_sample_size(0.01, 1),
        lambda: hoeffding_sample_size("a", 0.05),
        lambda: window_half_width(0),
        lambda: window_half_width(2.5),
    ],
)
def test_helpers_check_their_parameters(call):
    with pytest.raises(ValueError, match="must be a"):
        call()


def test_detector_has_the_delta():
    sums = AdaptiveWindow(0.05).sums(frozenset({"wrong"}), 2, 1)
    assert sums.windows[0].detector.get_params()["delta"] == 0.05


@pytest.mark.parametrize("spec", SPELLED.values(), ids=str)
def test_parameters_are_those_of_scikit_learn(spec):
    assert type(spec)(**spec.get_params()) == spec == clone(spec)
    assert hash(clone(spec)) == hash(spec)
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        spec.set_params(width=3)


@pytest.mark.parametrize("make", [sk.PrequentialEvaluator, sk.KFoldEvaluator, sk.DelayedEvaluator])
def test_forgetting_of_an_evaluator_is_set_like_any_nested_parameter(make):
    shared = FadingFactor(0.9)
    first, second = make(forgetting=shared), make(forgetting=shared)
    assert first.get_params()["forgetting__fading_factor"] == 0.9
    assert first.set_params(forgetting__fading_factor=0.99) is first
    assert first.forgetting == FadingFactor(0.99)
    assert second.forgetting is shared
    assert shared == FadingFactor(0.9)
    assert clone(first).forgetting == FadingFactor(0.99)
    first.set_params(forgetting=SlidingWindow(5), forgetting__window_size=7, record_every=3)
    assert (first.forgetting, first.record_every) == (SlidingWindow(7), 3)
    assert make(forgetting="adwin").set_params(forgetting__delta=0.1).forgetting.delta == 0.1


@pytest.mark.parametrize(
    ("forgetting", "params", "message"),
    [
        (FadingFactor(0.9), {"forgetting__window_size": 3}, "Invalid parameter 'window_size'"),
        (FadingFactor(0.9), {"forgetting__fading_factor": 2}, "'fading_factor' parameter of"),
        ({"a": "cumulative"}, {"forgetting__window_size": 3}, "Set all of it: forgetting="),
        (FadingFactor(0.9), {"memory": 3}, "has no parameter 'memory'"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_changes(forgetting, params, message):
    evaluator = sk.PrequentialEvaluator(forgetting=forgetting)
    with pytest.raises(ValueError, match=message):
        evaluator.set_params(**params)
    assert evaluator.forgetting is forgetting


def test_names_that_are_the_same_as_text_are_refused():
    with pytest.raises(ValueError, match=r"must differ as text, and .1, '1'. do not"):
        as_forgetting({1: "cumulative", "1": "window:3", "2": "adwin"})


def test_a_mechanism_that_does_not_say_what_it_remembers_cannot_be_made():
    """Nothing takes it for a cumulative or a fading one."""

    class EveryOther(Forgetting):
        name = "every other"

    with pytest.raises(TypeError, match=r"abstract .*memory.*sum_of_values.*sums.*words"):
        EveryOther()


@pytest.fixture
def last_rows():
    """A mechanism as anyone can add one, in one class: known by its name while the test runs."""

    class LastRows(Forgetting):
        spellings: ClassVar = {"last": Spelling("n", int, "a number", ("last:9",))}
        is_window = True
        words = "a few rows"

        def __init__(self, n):
            self.n = n

        @property
        def name(self):
            return f"last:{self.n}"

        def sums(self, *shape):
            return SlidingWindow(self.n).sums(*shape)

        def sum_of_values(self, power=1):
            return SlidingWindow(self.n).sum_of_values(power)

        def memory(self, least_weight):
            return self.n

    yield LastRows
    del _KNOWN["last"]


def test_one_class_is_a_mechanism_of_every_evaluator_and_test(last_rows):
    stream, models = make_demo_stream(n_rows=400), {"a": sk.Persistent(), "b": sk.MajorityClass()}
    both = {"own": "last:60", "ours": "window:60"}
    metrics = ["accuracy", "kappa_m", "kappa_temporal"]
    for evaluator in (sk.PrequentialEvaluator, sk.KFoldEvaluator):
        result = evaluator(metrics, forgetting=both, random_state=0).evaluate(models, stream)
        for metric in metrics:
            own, ours = (result.curve("b", metric, forgetting=name) for name in both)
            np.testing.assert_array_equal(own, ours)
    labels = np.random.default_rng(0).integers(0, 2, (3, 300))
    own, ours = (mcnemar_curve(*labels, forgetting=name) for name in both.values())
    np.testing.assert_array_equal(own.statistic, ours.statistic)
    assert "a few rows" in str(
        sk.PrequentialEvaluator(forgetting="last:60").evaluate(models, stream)
    )
    with pytest.raises(ValueError, match=r'"adwin:0\.01" and "last:9"'):
        parse_forgetting("latest:9")


def test_a_calibrator_remembers_what_a_mechanism_does_and_no_more(last_rows, rng):
    """The rows of another mechanism were taken for cumulative ones."""
    X = rng.normal(size=(300, 2))
    y = np.where(np.arange(300) < 200, X[:, 0] > 0, X[:, 0] < 0).astype(int)
    first, second = (
        sk.PrequentialCalibrator(SGDClassifier(loss="log_loss", random_state=0), forgetting=one)
        for one in ("last:50", "window:50")
    )
    for k in range(0, 300, 20):
        rows = slice(k, k + 20)
        first.partial_fit(X[rows], y[rows], [0, 1])
        second.partial_fit(X[rows], y[rows], [0, 1])
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_a_result_under_a_mechanism_without_a_spelling_is_printed(last_rows):
    """Its words are looked for by its name, which nothing reads back."""

    class Unspelled(last_rows):
        spellings: ClassVar = {}
        name = "mine"

    arrival = np.datetime64("2026-01-01") + np.arange(60).astype("timedelta64[h]")
    X, y = np.zeros((60, 1)), np.arange(60) % 3 // 2
    evaluator = sk.PrequentialEvaluator(
        "accuracy", forgetting=[Unspelled(20), "window:1D"], record_every="1D"
    )
    printed = str(evaluator.evaluate(sk.Persistent(), X, y, arrival=arrival))
    assert "mine" in printed and "last 1D" in printed
