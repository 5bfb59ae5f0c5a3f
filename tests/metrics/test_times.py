"""Forgetting that counts time: the literal filter, and the rows where time is even."""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream.core.forgetting import as_forgetting
from skstream.core.measures.registry import OF_CLASSES, REGRESSION, resolve_metrics
from skstream.core.measures.rows import ScoredRows
from skstream.core.measures.running import RunningMeasures
from skstream.forgetting import FadingFactor, SlidingWindow
from tests.metrics._streams import assert_same_curves

MINUTE = np.timedelta64(1, "m")
START = np.datetime64("2024-03-30T23:00", "us")
#: The sums of many classes are formed in another way.
FEW, MANY = 3, 200


def measures(metrics: Any, classes: Any, forgetting: Any, **options: Any) -> RunningMeasures:
    return RunningMeasures(
        resolve_metrics(metrics, classes=classes),
        as_forgetting(forgetting),
        classes=classes,
        n_models=1,
        timed=True,
        **options,
    )


def labels(n: int, n_classes: int, seed: int = 0) -> ScoredRows:
    rng = np.random.default_rng(seed)
    dtype = np.int8 if n_classes == FEW else np.int16
    y = np.minimum(rng.geometric(min(0.5, 4 / n_classes), n) - 1, n_classes - 1).astype(dtype)
    p = np.where(rng.random(n) < 0.6, y, rng.integers(0, n_classes, n)).astype(dtype)
    y[rng.random(n) < 0.1] = -1
    p[rng.random(n) < 0.1] = -1
    shares = rng.dirichlet(np.ones(n_classes), n)
    times = START + np.arange(n) * MINUTE
    return ScoredRows(y, p[np.newaxis], scores=shares[np.newaxis], time=times)


def known(names: Any, classes: Any) -> list[str]:
    """Names of the measures that there are for so many classes."""
    found = []
    for name in names:
        with suppress(ValueError):
            resolve_metrics(name, classes=classes)
            found.append(name)
    return found


def numbers(n: int) -> ScoredRows:
    rng = np.random.default_rng(0)
    y = rng.normal(size=n) + np.repeat([0.0, 1e6], n // 2)
    y[rng.random(n) < 0.1] = np.nan
    return ScoredRows(y, (y + rng.normal(size=n))[np.newaxis], time=START + np.arange(n) * MINUTE)


def curves_of(rows: ScoredRows, metrics: Any, classes: Any, forgetting: Any, **options: Any) -> Any:
    running = measures(metrics, classes, forgetting, **options)
    running.read(rows)
    running.finish()
    return running.curves()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [FEW, MANY, None])
def test_even_times_are_rows(n_classes: int | None, weighted: bool) -> None:
    classes = None if n_classes is None else np.arange(n_classes)
    rows = numbers(400) if n_classes is None else labels(400, n_classes)
    metrics = known(REGRESSION if n_classes is None else OF_CLASSES, classes)
    assert len(metrics) > 5
    if weighted:
        rows.weight = np.random.default_rng(1).random(400)
        if n_classes == MANY:
            metrics = [one for one in metrics if one not in ("kappa_m", "kappa_plus")]
    if rows.y.dtype.kind == "f":
        keep = ~np.isnan(rows.y)
    else:  # windows of rows count scored rows
        keep = (rows.y >= 0) & (rows.answers[0] >= 0)
    rows = rows[np.flatnonzero(keep)]
    rows.time = START + np.arange(len(rows)) * MINUTE
    forgetting = {
        "rows": "window:60",
        "time": "window:1h",
        "fading": "half-life:60",
        "timed": "half-life:1h",
    }
    values = curves_of(rows, metrics, classes, forgetting, record_every=7).values
    for name in metrics:
        for counting, clock in (("rows", "time"), ("fading", "timed")):
            np.testing.assert_allclose(
                values[clock][name], values[counting][name], rtol=1e-9, atol=1e-9, err_msg=name
            )


gaps = st.lists(st.sampled_from([0, 0, 1, 1, 1, 5, 60, 10_000]), min_size=1, max_size=40)


@given(gaps, st.integers(1, 90), st.integers(0, 3), st.booleans())
def test_windows_are_the_literal_filter(minutes, width, seed, weighted):
    rows = labels(len(minutes), FEW, seed)
    rows.time = START + np.cumsum(minutes) * MINUTE
    if weighted:
        rows.weight = np.random.default_rng(seed).random(len(rows))
    metrics, classes = ["accuracy", "kappa", "f1_macro", "log_loss", "auc"], np.arange(FEW)
    window = {"": SlidingWindow(width * MINUTE)}
    found = curves_of(rows, metrics, classes, window, record_every=1)
    np.testing.assert_array_equal(found.times, rows.time)
    for place in range(len(rows)):
        inside = (rows.time > rows.time[place] - width * MINUTE) & (np.arange(len(rows)) <= place)
        literal = curves_of(rows[np.flatnonzero(inside)], metrics, classes, "cumulative")
        for metric in metrics:
            np.testing.assert_allclose(
                found.values[""][metric][place],
                literal.values["cumulative"][metric][-1],
                atol=1e-12,
            )


@given(gaps, st.integers(1, 90), st.integers(0, 3))
def test_half_life_weighs_by_age(minutes: list[int], half_life: int, seed: int) -> None:
    rows = labels(len(minutes), FEW, seed)
    rows.time = START + np.cumsum(minutes) * MINUTE
    metrics, classes = ["accuracy", "kappa", "log_loss", "auc"], np.arange(FEW)
    fading = {"": FadingFactor(half_life=half_life * MINUTE)}
    found = curves_of(rows, metrics, classes, fading, record_every=1)
    for place in range(len(rows)):
        past = rows[: place + 1]
        past.weight = 0.5 ** ((rows.time[place] - past.time) / (half_life * MINUTE))
        if past.weight.min() < 1e-14:
            continue  # too old to count, but a kappa of nothing else is one of these
        literal = curves_of(past, metrics, classes, "cumulative")
        for metric in metrics:
            np.testing.assert_allclose(
                found.values[""][metric][place],
                literal.values["cumulative"][metric][-1],
                atol=1e-9,
                err_msg=metric,
            )


@pytest.mark.parametrize("n_classes", [FEW, MANY, None])
@pytest.mark.parametrize("every", [5, "1h", None])
def test_no_value_depends_on_chunks(monkeypatch, n_classes, every):
    monkeypatch.setattr("skstream.core.measures.running._BUFFER_SIZE", 64)
    monkeypatch.setattr("skstream.core.measures.running._TIMED_BUFFER", 64)
    classes = None if n_classes is None else np.arange(n_classes)
    rows = numbers(500) if n_classes is None else labels(500, n_classes)
    rows.time = START + np.sort(np.random.default_rng(2).integers(0, 9_000, 500)) * MINUTE
    metrics = known(["rmse", "r2"] if n_classes is None else ["kappa_plus", "auc"], classes)
    forgetting = {"window": "window:4h", "half-life": "half-life:4h"}
    whole = curves_of(rows, metrics, classes, forgetting, record_every=every)
    running = measures(metrics, classes, forgetting, record_every=every)
    for start in range(0, 500, 37):
        running.read(rows[start : start + 37])
        running.curves()  # reads the waiting rows on a copy
    parts = running.curves()
    np.testing.assert_array_equal(parts.times, whole.times)
    assert_same_curves(parts, whole, 1e-12)
    final = running.final()
    for name in forgetting:
        np.testing.assert_allclose(final[name][metrics[0]], whole.values[name][metrics[0]][-1])


def test_days_without_rows_are_shown() -> None:
    hours = np.array([1, 2, 30, 31, 32, 120, 121])
    rows = labels(len(hours), FEW)
    rows.y[:] = rows.answers[:] = 1
    rows.answers[0, [1, 4]] = 0
    rows.time = np.datetime64("2024-03-30", "us") + hours * np.timedelta64(1, "h")
    found = curves_of(rows, "accuracy", np.arange(FEW), "window:1D", record_every="1D")
    assert found.checkpoints.tolist() == [2, 5, 5, 5, 5, 7]
    days = found.times.astype("M8[D]").astype(str).tolist()
    assert days == ["2024-03-30", *(f"2024-0{d}" for d in ("3-31", "4-01", "4-02", "4-03", "4-04"))]
    values = found.values["window:1D"]["accuracy"][:, 0]
    np.testing.assert_allclose(values, [0.5, 2 / 3, np.nan, np.nan, np.nan, 1.0])


def test_a_row_at_midnight_belongs_to_its_day() -> None:
    rows = labels(3, FEW)
    rows.y[:] = 1
    rows.answers[0] = [1, 0, 0]
    rows.time = np.array(["2024-01-01", "2024-01-02", "2024-01-02T12"], dtype="M8[us]")
    found = curves_of(rows, "accuracy", np.arange(FEW), "window:1D", record_every="1D")
    assert found.values["window:1D"]["accuracy"][:, 0].tolist() == [1.0, 0.0]


def test_a_weight_of_a_year_ago_is_not_lost_to_rounding() -> None:
    rows = labels(4, FEW)
    rows.y[:] = rows.answers[:] = 1
    rows.answers[0, 0] = 0
    rows.time = np.array(["2020-01-01", "2024-01-01", "2024-01-01", "2028-01-01"], dtype="M8[us]")
    for every, expected in ((1, [0.0, 1.0, 1.0, 1.0]), (9, [1.0])):
        found = curves_of(rows, "accuracy", np.arange(FEW), "half-life:1min", record_every=every)
        assert found.values["half-life:1min"]["accuracy"][:, 0].tolist() == expected


def test_functions_of_the_user_are_given_the_rows_of_a_window() -> None:
    rows = labels(200, FEW)
    seen = []

    def count(y_true: Any, y_pred: Any) -> float:
        seen.append(len(y_true))
        return float(len(y_true))

    found = curves_of(rows, {"n": count}, np.arange(FEW), "window:30min", record_every=10)
    scored = (rows.y >= 0) & (rows.answers[0] >= 0)
    literal = [scored[max(0, n - 30) : n].sum() for n in range(10, 201, 10)]
    assert found.values["window:30min"]["n"][:, 0].tolist() == literal
    with pytest.raises(ValueError, match="cannot weigh"):
        curves_of(rows, {"n": count}, np.arange(FEW), "half-life:1h")


def test_bad_times_are_said() -> None:
    rows, classes = labels(10, FEW), np.arange(FEW)
    rows.time = None
    with pytest.raises(ValueError, match="have no arrival times: pass arrival="):
        curves_of(rows, "accuracy", classes, "window:1D")
    rows.time = np.arange(10.0)
    with pytest.raises(ValueError, match="times of arrival= are numbers: pass datetimes"):
        curves_of(rows, "accuracy", classes, "cumulative", record_every="1D")
    rows.time = np.array(["0001-01-01", *["9999-01-01"] * 9], dtype="M8[us]")
    with pytest.raises(ValueError, match="choose a longer period"):
        curves_of(rows, "accuracy", classes, "cumulative", record_every="1ms")
    rows = labels(10, MANY)
    rows.weight = np.ones(10)
    with pytest.raises(ValueError, match="many classes in a window of time"):
        curves_of(rows, "kappa_m", np.arange(MANY), "window:1D")
