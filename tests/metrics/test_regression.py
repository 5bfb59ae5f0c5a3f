import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from skstream.core.measures import running as running_module
from skstream.core.measures.registry import REGRESSION
from skstream.metrics import pinball
from tests._examples import examples
from tests.metrics._reference import memory
from tests.metrics._streams import MECHANISMS, assert_same_curves, running

MECHANISMS = {name: f for name, f in MECHANISMS.items() if name != "adaptive"}
TWINS = {
    "mae": sk.mean_absolute_error,
    "mape": sk.mean_absolute_percentage_error,
    "mse": sk.mean_squared_error,
    "rmse": sk.root_mean_squared_error,
    "r2": sk.r2_score,
    "pinball": sk.mean_pinball_loss,
    "quantile_coverage": lambda y, p, sample_weight: np.average(y <= p, weights=sample_weight),
    "persistent_skill": None,
}


def test_every_measure_is_checked():
    assert set(TWINS) == set(REGRESSION)


def make_targets(seed, n, level, *, weighted):
    rng = np.random.default_rng(seed)
    y = level + np.cumsum(rng.normal(size=n))
    p = y + rng.normal(size=n)
    p[0] = np.nan
    if weighted:
        p[rng.random(n) < 0.1] = np.nan
        y[rng.random(n) < 0.1] = np.nan
    return y, p, rng.choice([0.0, 0.3, 1.0, 2.7], n) if weighted else None


def expected_value(name, y, p, weight, mechanism, n):
    labelled = np.flatnonzero(~np.isnan(y[:n]) & (weight[:n] > 0))
    previous = np.full(n, np.nan)
    previous[labelled[1:]] = y[labelled[:-1]]
    scored = labelled[~np.isnan(p[labelled])]
    w = memory(MECHANISMS[mechanism], len(scored), 0) * weight[scored]
    rows, w = scored[w > 0], w[w > 0]
    if not len(rows):
        return np.nan
    if name == "persistent_skill":
        past = ~np.isnan(previous[rows])
        base = (w * past * (y[rows] - np.where(past, previous[rows], 0)) ** 2).sum()
        return 1 - (w * past * (y[rows] - p[rows]) ** 2).sum() / base if base > 0 else np.nan
    if name == "r2" and len(rows) == 1:
        return np.nan
    return TWINS[name](y[rows], p[rows], sample_weight=w)


@pytest.mark.parametrize("block", [16, 16_384])
@examples(15)
@given(
    st.integers(0, 10**6),
    st.integers(1, 200),
    st.sampled_from([0.0, 1e6, -1e9]),
    st.booleans(),
    st.sampled_from([1, None, 50]),
)
def test_twins_in_scikit_learn(block, seed, n, level, weighted, record_every):
    y, p, weight = make_targets(seed, n, level, weighted=weighted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running_module, "_BUFFER_SIZE", block)
        measures = running(list(TWINS), MECHANISMS, None, record_every)
    measures.update(y[: n // 3], p[: n // 3], None if weight is None else weight[: n // 3])
    measures.update(y[n // 3 :], p[n // 3 :], None if weight is None else weight[n // 3 :])
    curves = measures.curves()
    w = np.ones(n) if weight is None else weight
    rng = np.random.default_rng(seed)
    for at in rng.integers(0, len(curves.checkpoints), 4):
        for mechanism in MECHANISMS:
            for name in TWINS:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    expected = expected_value(name, y, p, w, mechanism, curves.checkpoints[at])
                found = curves.values[mechanism][name][at]
                np.testing.assert_allclose(
                    found, expected, rtol=1e-9, atol=1e-12, err_msg=f"{name} {mechanism}"
                )


def test_r2_survives_a_level_far_away(rng):
    """A sum of squares from a fixed origin would have no digits left."""
    noise = rng.normal(size=40_000)
    y = 1e8 + noise
    y[0] = -9999.0  # a first reading that stands for nothing
    p = y + 0.5 * rng.normal(size=40_000)
    for forgetting, rows in (("window:500", slice(-500, None)), ("fading:0.99", None)):
        measures = running("r2", forgetting, None)
        measures.update(y, p)
        found = measures.final()[forgetting]["r2"]
        weight = 0.99 ** np.arange(39_999, -1, -1.0) if rows is None else None
        rows = slice(None) if rows is None else rows
        assert found == pytest.approx(sk.r2_score(y[rows], p[rows], sample_weight=weight), rel=1e-6)


@pytest.mark.parametrize("record_every", [1, 37, 5000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [1e6, -1e9])
def test_r2_survives_changes_of_level(shift, weighted, record_every):
    """Windows on either side of a change have a spread of 1, beside a mean that moved by 1e6."""
    rng = np.random.default_rng(1)
    n = 12_000
    y = rng.normal(size=n)
    y[4000:] += shift
    y[9000:] -= shift / 3
    p = y + 0.5 * rng.normal(size=n)
    weight = rng.choice([0.3, 1.0, 2.7], n) if weighted else None
    names = ["cumulative", "window:500", "window:7", "fading:0.99", "fading:0.9"]
    cut = running("r2", names, None, record_every)
    for rows in (slice(0, 3000), slice(3000, 3001), slice(3001, None)):
        cut.update(y[rows], p[rows], None if weight is None else weight[rows])
    curves = cut.curves()
    whole = running("r2", names, None, record_every)
    whole.update(y, p, weight)
    uncut = whole.curves()
    places = np.unique(np.searchsorted(curves.checkpoints, [3, 4001, 4010, 6000, 9500, 12_000]))
    assert_same_curves(curves, uncut, 1e-12)
    for name in names:
        values = curves.values[name]["r2"]
        for place in places:
            at = curves.checkpoints[place]
            rows = np.arange(at)[-int(name[7:]) :] if name[0] == "w" else np.arange(at)
            w = np.ones(len(rows)) if weight is None else weight[rows]
            if name[0] == "f":
                w = w * float(name[7:]) ** np.arange(at - 1, -1, -1.0)
            expected = sk.r2_score(y[rows], p[rows], sample_weight=w)
            assert values[place] == pytest.approx(expected, rel=1e-12, abs=1e-12), (name, at)


def test_targets_that_became_constant_have_no_r2():
    y = np.r_[0.0, np.full(5000, 3.3)]
    for name in ("window:100", "fading:0.9"):
        measures = running("r2", name, None)
        measures.update(y, y + 1.0)
        assert np.isnan(measures.final()[name]["r2"])


def test_an_exploding_beginning_is_forgotten_without_a_trace():
    y = np.arange(3000) % 7.0
    p = y + 0.5
    p[:100] = 1e150
    measures = running(["mse", "mae"], "window:200", None)
    measures.update(y, p)
    assert measures.final()["window:200"] == {"mse": 0.25, "mae": 0.5}


def test_undefined_is_nan_never_infinite():
    measures = running(list(TWINS), MECHANISMS, None)
    measures.update(np.full(50, 3.3), np.full(50, 2.0))
    for name, by_metric in measures.curves().values.items():
        assert np.isnan(by_metric["r2"]).all(), name
        assert np.isnan(by_metric["persistent_skill"]).all(), name
    # One old change, faded to nothing beside errors that are not.
    measures = running("persistent_skill", "fading:0.5", None)
    measures.update(np.r_[1.0, 2.0, np.full(5000, 2.0)], np.full(5002, 1e10))
    assert not np.isinf(measures.curves().values["fading:0.5"]["persistent_skill"]).any()


def test_persistent_answers_have_no_skill():
    y = np.random.default_rng(0).normal(size=50)
    measures = running("persistent_skill", "cumulative", None)
    measures.update(y, np.r_[0.0, y[:-1]])
    assert measures.final()["cumulative"]["persistent_skill"] == 0.0


def test_adwin_is_for_classifiers():
    with pytest.raises(ValueError, match=r"'adwin' is AdaptiveWindow.*not defined for regression"):
        running("mae", "adwin", None)


def test_the_pinball_loss_is_least_at_the_quantile():
    y = np.random.default_rng(0).exponential(size=5000)
    answers = np.quantile(y, [0.8, 0.9, 0.97])
    losses = []
    for answer in answers:
        measures = running(["pinball:0.9", "quantile_coverage"], "cumulative", None)
        measures.update(y, np.full(len(y), answer))
        values = measures.final()["cumulative"]
        losses.append(values["pinball:0.9"])
        assert values["quantile_coverage"] == np.mean(y <= answer)
    assert np.argmin(losses) == 1
    with pytest.raises(ValueError, match=r"no measure 'pinball:7'. The 'quantile' parameter"):
        running("pinball:7", "cumulative", None)


def test_quantiles_that_agree_in_six_digits_have_names_of_their_own():
    names = [pinball(one).name for one in (0.1234567, 0.1234568, 1 / 3, 0.9)]
    assert names == ["pinball:0.1234567", "pinball:0.1234568", f"pinball:{1 / 3}", "pinball:0.9"]
