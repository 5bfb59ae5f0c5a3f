"""Estimates before the labels use no label before its time, and are scored when it comes."""

from typing import Any

import numpy as np
import pytest

from skstream import PredictionLog, estimate_unlabelled
from skstream.logs._estimates import LabelEstimates
from skstream.metrics import cost

NEWEST, CONFIDENCE, CALIBRATED = METHODS = ("newest labels", "confidence", "calibrated")


def log(n: int = 240, n_classes: int = 3, seed: int = 0, steps: int = 2) -> dict[str, Any]:
    """Late labels, equal times, weights, and labels that never come."""
    rng = np.random.default_rng(seed)
    shares = rng.random((n, n_classes)) + 0.1
    shares /= shares.sum(axis=1, keepdims=True)
    y = rng.integers(0, n_classes, n).astype(object)
    y[rng.random(n) < 0.02] = None
    arrival = np.sort(rng.integers(0, n // steps, n))
    return {
        "y_true": y,
        "probabilities": {"a": shares, "b": shares[::-1]},
        "arrival": arrival,
        "label_time": arrival + rng.integers(0, 25, n),
        "sample_weight": rng.integers(1, 4, n).astype(float),
        "classes": range(n_classes),
        "every": 7,
        "max_wait": 30,
    }


def assert_same(one: LabelEstimates, other: LabelEstimates, upto: int) -> None:
    """All estimates at moments up to a row are the same to the last bit."""
    assert [*one._all()]
    for (*names, values), (*_, others) in zip(one._all(), other._all(), strict=True):
        kept = one.rows <= upto
        np.testing.assert_array_equal(values[kept], others[other.rows <= upto], err_msg=str(names))


def test_a_small_log_by_hand() -> None:
    estimates = estimate_unlabelled(
        ["no", "yes", "yes", "no", None],
        [0.4, 0.9, 0.8, 0.7, 0.6],  # answers: no, yes, yes, yes, yes
        arrival=[0, 1, 2, 3, 4],
        label_time=[1, 4, 3, 9, 9],
        metrics=["accuracy", "brier", cost([[0, 1], [5, 0]])],
        every=1,
        calibrate=None,
    )
    assert estimates.n_waiting["model"].tolist() == [1, 1, 2, 2, 2]  # rows 0; 1; 1 2; 1 3; 3 4
    of = estimates.estimates["model"]
    means = [0.6, 0.9, 0.85, 0.8, 0.65]
    np.testing.assert_allclose(of["accuracy"][CONFIDENCE], means, rtol=1e-13)
    squares = [0.24, 0.09, (0.09 + 0.16) / 2, (0.09 + 0.21) / 2, (0.21 + 0.24) / 2]
    np.testing.assert_allclose(of["brier"][CONFIDENCE], squares, rtol=1e-13)
    np.testing.assert_allclose(of["cost"][CONFIDENCE], [2.0, 0.1, 0.15, 0.2, 0.35], rtol=1e-13)
    np.testing.assert_array_equal(of["accuracy"][NEWEST], [np.nan, 1, 1, 1, 1])
    np.testing.assert_allclose(of["brier"][NEWEST], [np.nan, 0.16, 0.16, 0.1, 0.025], rtol=1e-13)
    # More than 5 % of the rows of the last moment have no label yet.
    np.testing.assert_array_equal(estimates.truth["model"]["accuracy"], [1, 1, 1, 0.5, np.nan])
    np.testing.assert_allclose(estimates.truth["model"]["cost"], [0, 0, 0, 0.5, np.nan])
    assert estimates.apart["model"].tolist() == [1]  # row 1 waits at the others, too
    assert estimates.waiting_now == {"model": 1}
    now = estimates.now["model"]["accuracy"]
    assert now == {NEWEST: 0.0, CONFIDENCE: pytest.approx(0.6)}
    frame = pytest.importorskip("pandas") and estimates.summary()
    of_accuracy = frame[frame["metric"] == "accuracy"].set_index("method")
    assert of_accuracy["mae"].to_list() == pytest.approx([0.5 / 3, (0.1 + 0.15 + 0.3) / 3])
    assert of_accuracy["bias"].to_list() == pytest.approx([0.5 / 3, (-0.1 - 0.15 + 0.3) / 3])
    assert estimates.best["model"] == {"accuracy": NEWEST, "brier": CONFIDENCE, "cost": NEWEST}
    assert len(estimates.track_record) == 5 * 2 * 3


def test_sums_over_waiting_rows_are_those_of_the_literal_filter() -> None:
    given = log()
    estimates = estimate_unlabelled(**given, window=9, metrics=["error", "brier"])
    y = np.array([-1 if one is None else one for one in given["y_true"]])
    came, weight, shares = given["arrival"], given["sample_weight"], given["probabilities"]["b"]
    known = np.where(y < 0, np.inf, given["label_time"])
    numbers = np.arange(len(y))
    one_hot = y[:, np.newaxis] == np.arange(3)
    losses = {
        "error": (shares.argmax(axis=1) != y, 1 - shares.max(axis=1)),
        "brier": (((shares - one_hot) ** 2).sum(axis=1), 1 - (shares**2).sum(axis=1)),
    }
    assert len(estimates.rows) == len(y) // 7
    for k, row in enumerate(estimates.rows):
        is_known = (known < came[row]) | ((known == came[row]) & (numbers < row))
        waiting = (numbers <= row) & ~is_known & (came >= came[row] - 30)
        order = np.lexsort((numbers, known))
        newest = [i for i in order if is_known[i]][-9:]
        later = waiting & (y >= 0)
        assert estimates.n_waiting["b"][k] == waiting.sum()
        assert estimates.n_labelled["b"][k] == later.sum()
        for metric, (own, expected) in losses.items():
            of = estimates.estimates["b"][metric]
            confidence = np.average(expected[waiting], weights=weight[waiting])
            np.testing.assert_allclose(of[CONFIDENCE][k], confidence)
            mean = np.average(own[newest], weights=weight[newest]) if newest else np.nan
            np.testing.assert_allclose(of[NEWEST][k], mean)
            truth = estimates.truth["b"][metric][k]
            if np.isfinite(truth):
                np.testing.assert_allclose(truth, np.average(own[later], weights=weight[later]))
    assert np.isfinite(estimates.truth["b"]["error"]).sum() > 5


def test_a_row_of_weight_two_is_two_rows() -> None:
    given = log(n_classes=2)
    given["label_time"] += 1
    given["y_true"] = np.where(given["label_time"] > given["arrival"][-1], None, given["y_true"])
    given["probabilities"] = given["probabilities"]["a"]
    times = given.pop("sample_weight").astype(int)
    columns = ("y_true", "probabilities", "arrival", "label_time")
    repeated = {name: np.repeat(given[name], times, axis=0) for name in columns}
    one = estimate_unlabelled(**given, sample_weight=times).now["model"]
    other = estimate_unlabelled(**{**given, **repeated}).now["model"]
    for metric in one:
        for method in (CONFIDENCE, CALIBRATED):
            np.testing.assert_allclose(one[metric][method], other[metric][method])


@pytest.mark.parametrize("max_wait", [None, 12])
def test_an_estimate_of_the_past_is_that_of_a_log_that_ends_there(max_wait: Any) -> None:
    given = log(seed=1)
    given["max_wait"] = max_wait
    whole = estimate_unlabelled(**given)
    for k, row in [*enumerate(whole.rows)][3::10]:
        part = slice(row + 1)
        is_known = given["label_time"] < given["arrival"][row]
        is_known |= (given["label_time"] == given["arrival"][row]) & (np.arange(240) < row)
        cut = estimate_unlabelled(
            np.where(is_known, given["y_true"], None)[part],
            {name: one[part] for name, one in given["probabilities"].items()},
            arrival=given["arrival"][part],
            label_time=given["label_time"][part],
            sample_weight=given["sample_weight"][part],
            classes=given["classes"],
            max_wait=max_wait,
            every=500,
        )
        for model, metric, method, values in whole._all():
            assert cut.now[model][metric][method] == values[k]
            assert cut.waiting_now[model] == whole.n_waiting[model][k]


def concept(n: int, delay: int, right: Any, said: Any) -> LabelEstimates:
    """A model that says `said` of each answer, which is right with the probability `right`."""
    rng = np.random.default_rng(0)
    said, right = (np.broadcast_to(one, n) for one in (said, right))
    y = (rng.random(n) < right).astype(int)
    arrival = np.arange(n)
    return estimate_unlabelled(y, said, arrival=arrival, label_time=arrival + delay)


def errors(estimates: LabelEstimates, metric: str = "accuracy") -> dict[str, float]:
    return {one.method: one.mae for one in estimates._errors if one.metric == metric}


def test_a_calibrator_mends_confidence_and_not_drift() -> None:
    said = 0.6 + 0.39 * np.random.default_rng(1).random(4_000)
    overconfident = errors(concept(4_000, 200, 0.5 + (said - 0.5) / 2, said))
    assert overconfident[CONFIDENCE] > 0.1
    assert overconfident[CALIBRATED] < 0.06
    # Labels turn round, and the features do not change.
    turned = concept(4_000, 200, np.where(np.arange(4_000) < 2_000, said, 1 - said), said)
    found = errors(turned)
    assert found[CONFIDENCE] > found[CALIBRATED] > found[NEWEST] + 0.1
    assert turned.best["model"]["accuracy"] == NEWEST


def test_rows_whose_labels_never_come_can_be_left_out() -> None:
    n = 600
    y = np.arange(n) % 2
    given: dict[str, Any] = {"arrival": np.arange(n), "label_time": np.arange(n) + 10}
    y = np.where((np.arange(n) % 3 == 0) | (given["label_time"] >= n), None, y)
    plain = estimate_unlabelled(y, [0.8] * n, **given)
    assert plain.waiting_now == {"model": 200 + 7}
    assert plain.overdue == {"model": 197}
    assert "never get one (max_wait=" in str(plain)
    assert plain.best["model"]["accuracy"] is None
    found = estimate_unlabelled(y, [0.8] * n, **given, max_wait=15)
    assert found.waiting_now == {"model": 12}  # of the last 16 rows; 4 have their labels
    assert "not counted, having waited longer than max_wait: 195." in str(found)
    assert found.best["model"]["accuracy"] == NEWEST
    dates = np.datetime64("2026-01-01") + np.arange(n) * np.timedelta64(1, "D")
    given = {"arrival": dates, "label_time": dates + np.timedelta64(10, "D")}
    in_days = estimate_unlabelled(y, [0.8] * n, **given, max_wait="15D")
    assert_same(found, in_days, upto=n)
    assert in_days.times.dtype == np.dtype("M8[us]")
    by_week = estimate_unlabelled(y, [0.8] * n, **given, every="7D")
    assert np.unique(np.diff(by_week.rows)[:-1]).tolist() == [7]


@pytest.mark.parametrize("chunk_size", [17, 240])
def test_a_log_in_any_chunks_has_the_estimates_of_its_arrays(chunk_size: int, pd: Any) -> None:
    given = log()
    frame = pd.DataFrame(
        {name: given[name] for name in ("y_true", "arrival", "label_time", "sample_weight")}
    )
    columns = [f"p{k}" for k in range(3)]
    frame[columns] = given["probabilities"]["a"]
    estimates = PredictionLog(
        lambda: (frame[k : k + chunk_size] for k in range(0, 240, chunk_size)),
        target="y_true",
        probabilities={"a": columns},
        arrival="arrival",
        label_time="label_time",
        sample_weight="sample_weight",
    ).estimate(every=7, max_wait=30)
    expected = estimate_unlabelled(**{**given, "probabilities": {"a": given["probabilities"]["a"]}})
    assert_same(estimates, expected, upto=240)
    assert str(estimates) == str(expected)


def test_rows_without_probabilities_are_errors_or_left_out() -> None:
    given = log(n_classes=2)
    shares = given["probabilities"]["a"][:, 1].copy()
    shares[::5] = np.nan
    given |= {"probabilities": shares}
    with pytest.raises(ValueError, match="Row 0 has no prediction of 'model'"):
        estimate_unlabelled(**given)
    found = estimate_unlabelled(**given, unanswered="skip")
    kept = np.arange(240) % 5 > 0
    columns = ("y_true", "probabilities", "arrival", "label_time", "sample_weight")
    fewer = {name: np.asarray(given[name])[kept] for name in columns}
    other = estimate_unlabelled(**fewer, classes=given["classes"], max_wait=30)
    assert other.now == found.now


def test_what_waits_is_said() -> None:
    n = 40
    given: dict[str, Any] = {"arrival": range(n), "label_time": range(n), "calibrate": None}
    done = estimate_unlabelled([0, 1] * (n // 2), [0.7] * n, **given)
    assert "model: no row waits for its label" in str(done)
    assert np.isnan(done.now["model"]["accuracy"][CONFIDENCE])
    first = estimate_unlabelled([0, 1] + [None] * (n - 2), [0.7] * n, **given)
    waits = "model: 38 of 40 rows wait for their labels, longer than any label took: 37, which may"
    assert f"{waits} never get one (max_wait=" in str(first)
    assert repr(first).startswith("LabelEstimates(model: 38 rows wait for labels;")
    few = estimate_unlabelled([0, 1] * (n // 2), [0.7] * n, **given, every=41)
    assert "no estimate could be checked yet." in str(few)


def test_a_lead_that_may_be_luck_is_said() -> None:
    said = np.full(2_000, 0.7)
    right = np.random.default_rng(0).random(2_000) < said
    luck = estimates_of(right, said, 300)  # six moments share no rows
    assert "it is not known yet which estimate is closest to the truth." in str(luck)
    assert ", by little)." in str(estimates_of(right, said, 90))  # twenty-two moments
    assert "6 of them share no rows, too few to rely on." in str(luck)
    assert "newest labels (accuracy)." in str(estimates_of(~right, said, 30))
    assert "all of them share rows, too few to rely on." in str(estimates_of(right, said, 1_500))


def estimates_of(right: Any, said: Any, delay: int) -> LabelEstimates:
    given: dict[str, Any] = {"metrics": "accuracy", "calibrate": None}
    arrival = np.arange(len(said))
    return estimate_unlabelled(
        right.astype(int), said, arrival=arrival, label_time=arrival + delay, **given
    )


GIVEN: dict[str, Any] = {
    "y_true": [0, 1, 0, None],
    "probabilities": [0.2, 0.7, 0.4, 0.1],
    "arrival": [0, 1, 2, 3],
    "label_time": [1, 2, 3, 9],
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metrics": "mae"}, "for numeric targets. A regressor has no probabilities"),
        ({"metrics": "auc"}, "'auc' is not the mean of a value that each row has by itself"),
        ({"metrics": cost([[0, 1], [5, 0]], threshold="best")}, 'threshold other than "best"'),
        ({"probabilities": None}, "There are no probabilities: pass probabilities="),
        (
            {"predictions": {"a": [0] * 4, "b": [0] * 4}, "probabilities": {"a": [0.1] * 4}},
            r"no probabilities of \['b'\]",
        ),
        ({"y_true": [None] * 4}, "There is no label at all"),
        ({"y_true": [None] * 4, "classes": [0, 1]}, "no estimate can be checked"),
        ({"y_true": [0, 0, 0, None]}, r"only one class, \[0\]: pass all labels"),
        ({"arrival": [0, 2, 1, 3]}, "arrival goes back at row 2"),
        ({"label_time": [1, 0, 3, 9]}, "before the arrival of its row"),
        ({"arrival": None, "label_time": None}, "pass arrival="),
        ({"label_time": None}, "pass label_time="),
        ({"probabilities": [0.2, 0.7, 1.4, 0.1]}, r"row 2 are \[-0.4, 1.4\], not in \[0, 1\]"),
        ({"window": 0}, "window must be an integer >= 1"),
        ({"window": "7D"}, "window must be an integer >= 1"),
        ({"calibrate": "platt"}, "calibrate must be 'sigmoid'"),
        ({"every": 0}, r"every \(or a duration .* must be an integer >= 1"),
        ({"every": "1D"}, "is a duration, but the times are numbers"),
        ({"every": "1M"}, "a duration in W"),
        ({"max_wait": "3D"}, "The times are numbers: pass max_wait= such as 30"),
        ({"max_wait": 0}, "or a number above 0. Got 0"),
        ({"unanswered": "wrong"}, "unanswered must be 'error' or 'skip'"),
    ],
)
def test_bad_input_is_said(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_unlabelled(**{**GIVEN, **changed})


def test_too_many_moments_are_refused() -> None:
    n = 10_001
    given: dict[str, Any] = {"arrival": range(n), "label_time": range(n)}
    with pytest.raises(ValueError, match="every=1 makes 10,001 moments"):
        estimate_unlabelled(np.arange(n) % 2, np.full(n, 0.5), **given, every=1)


def test_a_log_without_probabilities_is_refused() -> None:
    frame = {"y": [0, 1, None], "said": [0, 1, 1], "came": [0, 1, 2], "known": [1, 2, 3]}
    log = PredictionLog(frame, target="y", predictions="said", arrival="came", label_time="known")
    with pytest.raises(ValueError, match="There are no probabilities"):
        log.estimate()
