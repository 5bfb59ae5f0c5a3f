"""Refits by the calendar, against a loop over pandas periods written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import skstream as sk
from skstream.core.run.tape import tape_of
from tests._examples import examples
from tests._programs import PROJECT
from tests.kernels._reference import both_ways

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N = 130
X = RNG.normal(size=(N, 3)).round(2)
Y = np.where(X[:, 0] + np.where(np.arange(N) < 60, 1, -1) * X[:, 1] > 0, "up", "down")
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
CLASSES = ["down", "up"]
EVERY = {"MS": "M", "7D": "W", "12h": "12h", "W-WED": "W-WED", "M": "M", "YS": "Y"}


def came(seed, zone="UTC"):
    """Times with gaps and equal ones, across both changes of the clock."""
    steps = np.random.default_rng(seed).choice([0, 0, 1, 5, 30, 200, 1500], N)
    hours = pd.Timestamp("2024-01-30 21:00", tz="UTC") + pd.to_timedelta(np.cumsum(steps), "h")
    return hours.tz_convert(zone)


def literal(times, every, window, *, zone=None, delay="0h", min_rows=8, model=TREE):
    """Answers of each row, with the time and the rows of every refit."""
    zone = zone or "UTC"
    known, learnt_at, before, last = [], [], sk.MajorityClass(), None
    current, answers, refits = before, {}, []
    events = [(time, row, "ask") for row, time in enumerate(times)]
    events += [(time + pd.Timedelta(delay), row, "learn") for row, time in enumerate(times)]
    for time, row, what in sorted(events):
        wall = time.tz_convert(zone).tz_localize(None)
        start = wall.floor("12h") if every == "12h" else wall.to_period(EVERY[every]).start_time
        if last is not None and start > last and len(known) >= min_rows:
            begins = start.tz_localize(zone, nonexistent="shift_forward", ambiguous=True)
            rows = known[-window:] if isinstance(window, int) else list(known)
            if isinstance(window, str):
                since = begins - pd.Timedelta(window)
                rows = [r for r, at in zip(known, learnt_at, strict=True) if at >= since]
            if rows:
                current = clone(model).fit(X[rows], Y[rows])
                refits.append((len(known), begins.tz_convert("UTC").tz_localize(None), len(rows)))
        last = start if last is None else max(last, start)
        if what == "ask" and known:
            answers[row] = current.predict(X[[row]])[0]
        if what == "learn":
            known.append(row)
            learnt_at.append(time)
            before.partial_fit(X[[row]], Y[[row]], classes=CLASSES)
    return answers, refits


@pytest.mark.filterwarnings("ignore:model was never refitted")
@pytest.mark.filterwarnings("ignore:.*refits? of model failed")
@examples(30)
@given(
    seed=st.integers(0, 9),
    every=st.sampled_from(list(EVERY)),
    window=st.sampled_from([None, 30, "40D", "3D"]),
    zone=st.sampled_from([None, "America/New_York", "Asia/Kolkata"]),
    kernels=st.booleans(),
    delay=st.sampled_from(["0h", "40h"]),
    chunk=st.integers(1, N),
)
def test_it_is_the_loop_over_the_periods_of_pandas(
    seed, every, window, zone, kernels, delay, chunk
):
    times = came(seed)
    model = sk.PeriodicRefit(
        TREE, every=every, window=window, min_rows=8, time_zone=zone, keep_models=True
    )
    options = {"random_state": 0, "run": sk.RunOptions(kernels=kernels, keep_tape=True)}
    evaluator = sk.PrequentialEvaluator("accuracy", **options)
    if delay != "0h":
        late = np.timedelta64(40, "h")
        options["polling"] = sk.Polling(n_bins=1, poll_every=None)
        evaluator = sk.DelayedEvaluator("accuracy", delay=late, **options)
    stream = [
        (X[i : i + chunk], Y[i : i + chunk], {"arrival": times[i : i + chunk]})
        for i in range(0, N, chunk)
    ]
    result = evaluator.evaluate({"model": model}, stream, classes=CLASSES, return_models=True)
    answers, refits = literal(times, every, window, zone=zone, delay=delay)
    fitted = result.models["model"]
    sizes = [int(one.tree_.n_node_samples[0]) for one in fitted.refit_models_]
    moments = pd.to_datetime(fitted.refit_times_).tolist()
    assert list(zip(fitted.refit_rows_.tolist(), moments, sizes, strict=True)) == refits
    codes = np.asarray(tape_of(result).answers["model"][0]).reshape(N, -1)[:, 0]
    given = {int(row): CLASSES[code] for row, code in enumerate(codes) if code >= 0}
    assert given == answers
    assert result.paths["model"] == ("kernel" if kernels else "loop")


MONTHLY = sk.PeriodicRefit(TREE, every="MS", window="200D", min_rows=8, keep_models=True)
MODELS = {
    "monthly": MONTHLY,
    "rows": sk.PeriodicRefit(TREE, every=20, window="40D"),
    "linear": sk.PeriodicRefit(LogisticRegression(), every="QS", min_rows=20),
    "other": sk.PeriodicRefit(TREE, every=30),
}


@pytest.mark.parametrize(
    "evaluator",
    [
        sk.PrequentialEvaluator("accuracy", random_state=0),
        sk.PrequentialEvaluator("accuracy", batch_size=7, random_state=0),
        sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0),
        sk.HoldoutEvaluator("accuracy", holdout=(X[:20], Y[:20]), every=10, random_state=0),
        sk.HoldoutEvaluator("accuracy", holdout="next", every=10, random_state=0),
    ],
    ids=["rows", "batches", "folds", "held out", "next rows"],
)
def test_kernels_and_chunks_change_nothing(evaluator):
    y, results = Y.astype(object), []
    y[20:90:3] = None
    for kernels, size in [(True, N), (False, N), (True, 11)]:
        chunks = [slice(begin, begin + size) for begin in range(0, N, size)]
        stream = [(X[its], y[its], {"arrival": came(3)[its]}) for its in chunks]
        its = clone(evaluator).set_params(run__kernels=kernels, missing_labels="skip")
        results.append(its.evaluate(MODELS, stream, classes=CLASSES, return_models=True))
    for name in MODELS:
        first, *others = [one.models[name] for one in results]
        folds = isinstance(first, list)
        for one in others:
            for its, other in zip(*[x if folds else [x] for x in (first, one)], strict=True):
                assert its.refit_times_.tolist() == other.refit_times_.tolist()
                assert its.refit_rows_.tolist() == other.refit_rows_.tolist()
                assert its.n_refits_ >= 2
    assert results[0].scores == results[1].scores == results[2].scores


def test_a_batch_is_learnt_at_the_time_of_its_last_row():
    times = pd.date_range("2024-01-29", periods=6, tz="UTC")
    model = sk.PeriodicRefit(TREE, every="MS", min_rows=1)
    evaluator = sk.PrequentialEvaluator("accuracy", batch_size=2, n_warmup=2)
    for result in both_ways(evaluator, model, X[:6], Y[:6], arrival=times):
        (fitted,) = result.models.values()
        assert fitted.refit_rows_.tolist() == [2]  # the batch of January 31 and February 1
        assert fitted.refit_times_.tolist() == [pd.Timestamp("2024-02-01")]


def test_the_hour_that_comes_twice_has_its_own_periods():
    times = pd.date_range("2024-10-27 01:05", periods=12, freq="10min", tz="UTC")  # 2:05 again
    model = sk.PeriodicRefit(TREE, every="30min", min_rows=1, time_zone="Europe/Berlin")
    for row, time in enumerate(times):
        model.time_passes(time).partial_fit(X[[row]], Y[[row]], classes=CLASSES)
    assert model.refit_rows_.tolist() == [3, 6, 9]


def test_a_saved_run_goes_on(tmp_path):
    times = came(5)
    evaluator = sk.PrequentialEvaluator(["accuracy", "log_loss"], random_state=0)
    whole = evaluator.evaluate(MODELS, X, Y, arrival=times, return_models=True)
    run = evaluator.start(MODELS, classes=CLASSES, return_models=True)
    for begin in range(0, N, 13):
        rows = slice(begin, begin + 13)
        run = sk.load_run(run.save(tmp_path / "run"))
        run.update(X[rows], Y[rows], arrival=times[rows])
    result = run.close().result()
    assert result.scores == whole.scores
    for name, model in whole.models.items():
        assert result.models[name].refit_times_.tolist() == model.refit_times_.tolist()
    with pytest.raises(ValueError, match="every='MS' of PeriodicRefit counts time"):
        evaluator.start(MODELS, classes=CLASSES).update(X, Y)


def test_live_rows_and_late_labels_tell_the_time(tmp_path):
    times, late = came(5), pd.Timedelta("40h")
    options = {"random_state": 0, "polling": sk.Polling(n_bins=2)}
    whole = sk.DelayedEvaluator("accuracy", delay=late.to_timedelta64(), **options).evaluate(
        MONTHLY, X, Y, arrival=times, return_models=True
    )
    evaluator = sk.DelayedEvaluator("accuracy", **options)
    run = evaluator.start(MONTHLY, classes=CLASSES, return_models=True)
    events = [(t, r, 0) for r, t in enumerate(times)]
    for time, row, is_label in sorted(events + [(t + late, r, 1) for t, r, _ in events]):
        if is_label:
            run.label([row], [Y[row]], t=time)
        else:
            run.ask(X[[row]], [row], t=time)
        if row == N // 2:
            run = sk.load_run(run.save(tmp_path / "run"))
    result = run.close().result()
    (model,), (other,) = result.models.values(), whole.models.values()
    assert model.refit_times_.tolist() == other.refit_times_.tolist()
    assert result.scores == whole.scores
    linear = sk.PeriodicRefit(LogisticRegression(), every="MS", min_rows=8)
    run = evaluator.start(linear, classes=CLASSES)
    for row in range(60):
        run.ask(X[[row]], [row], t=times[row])
        run.label([row], [Y[row]])
    gap = np.where(np.arange(2)[:, None] == 1, np.nan, X[60:62])
    for rows in (gap, X[60:62]):  # what failed is asked again, at the same times
        if np.isnan(rows).any():
            with pytest.raises(Exception, match="NaN"):
                run.ask(rows, ["a", "b"], t=[times[60], times[60] + late])
        else:
            assert len(run.ask(rows, ["a", "b"], t=[times[60], times[60] + late])) == 1
    with pytest.raises(ValueError, match="the arrivals here are numbers"):
        evaluator.start(MONTHLY, classes=CLASSES).ask(X[:1], ["a"])


def test_by_hand_it_is_told_the_time():
    times = came(2)
    result = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(
        {"model": MONTHLY}, X, Y, arrival=times
    )
    model, answers = clone(MONTHLY), []
    for row, time in enumerate(times):
        model.time_passes(time)
        if row:
            answers.extend(model.predict(X[[row]]))
        model.partial_fit(X[[row]], Y[[row]], classes=CLASSES)
    assert answers == tape_of(result).predictions("model")[1:].tolist()
    assert model.refit_models_[-1] is model.estimator_
    assert not hasattr(MODELS["other"], "time_passes")
    with pytest.raises(AttributeError, match="keep_models=True"):
        _ = clone(MODELS["other"]).fit(X, Y).refit_models_
    with pytest.raises(ValueError, match="window='200D' counts time, but fit does not know"):
        clone(MONTHLY).fit(X, Y)
    with pytest.raises(ValueError, match=r"was trained on a row of .* time cannot go backwards"):
        model.time_passes(times[0])
    assert model.partial_fit(X[:3], Y[:3]).n_rows_learnt_ == N + 3  # as if nothing had been told
    weight, early = [1.0, 0.0, 1.0], times[-1] - pd.to_timedelta([300, 200, 100], "D")
    model.time_passes(times[-1], early).partial_fit(X[:3], Y[:3], sample_weight=weight)
    with pytest.raises(ValueError, match="got the times of 3 rows, but partial_fit got 2"):
        model.time_passes(times[-1], early).partial_fit(X[:2], Y[:2])
    fitted = sk.PeriodicRefit(TREE, every="MS", keep_models=True).fit(X, Y)
    assert np.isnat(fitted.refit_times_).tolist() == [True] and len(fitted.refit_models_) == 1
    fitted.time_passes(times[0]).partial_fit(X[:5], Y[:5]).time_passes(times[-1])
    assert fitted.refit_rows_.tolist() == [N, N + 5]


def test_the_walk_forward_example_of_the_page_is_a_loop_by_month():
    page = (PROJECT / "docs" / "online_or_retrained.md").read_text("utf-8")
    block = page.partition("## By the calendar")[2].partition("```python\n")[2].partition("```")[0]
    names = {"PeriodicRefit": sk.PeriodicRefit}
    exec(block, names)
    factors, returns, days = names["factors"], names["returns"], names["days"]
    for name, window in [("expanding", None), ("90 days", pd.Timedelta("90D"))]:
        fitted, errors, coefficients = names["result"].models[name], [], []
        mean = (returns.cumsum().shift() / np.arange(len(days)))[1:]
        for month in days.tz_localize(None).to_period("M").unique():
            start, is_in = month.start_time.tz_localize("UTC"), days.strftime("%Y-%m") == str(month)
            known = days < start if window is None else (days < start) & (days >= start - window)
            if (days < start).sum() < 100:
                errors.extend((mean - returns)[is_in & (days > days[0])])
                continue
            model = LinearRegression().fit(factors[known], returns[known])
            coefficients.append(model.coef_)
            errors.extend(model.predict(factors[is_in]) - returns[is_in])
        np.testing.assert_allclose([one.coef_ for one in fitted.refit_models_], coefficients)
        mae = names["result"].scores[name]["mae"]
        assert mae == pytest.approx(np.abs(errors).mean(), rel=1e-12)
    assert fitted.refit_models_[-1].coef_[0] < -0.8  # the window has followed the turn


@pytest.mark.parametrize("name", ["monthly", "rows"])
@pytest.mark.parametrize("kernels", [True, False])
def test_a_model_goes_on_with_later_rows_alone(name, kernels):
    times, evaluator = (
        came(3),
        sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(kernels=kernels)),
    )
    first, rest = slice(0, 60), slice(60, N)
    whole = evaluator.evaluate(MODELS[name], X, Y, arrival=times, return_models=True)
    model = evaluator.evaluate(
        {"one": MODELS[name]}, X[first], Y[first], arrival=times[first], return_models=True
    ).models["one"]
    again = {"warm_start": True, "return_models": True}
    result = evaluator.evaluate({"one": model}, X[rest], Y[rest], arrival=times[rest], **again)
    (expected,) = whole.models.values()
    assert result.models["one"].refit_times_.tolist() == expected.refit_times_.tolist()
    with pytest.raises(Exception, match=r"was trained on a row of .* time cannot go backwards"):
        evaluator.evaluate({"one": model}, X[first], Y[first], arrival=times[first], **again)


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("every", ["7D", 90])
def test_rows_of_a_batch_are_in_the_window_by_their_own_times(kernels, every):
    times = pd.date_range("2024-01-01", periods=N, freq="4h", tz="UTC")
    model = sk.PeriodicRefit(TREE, every=every, window="7D", min_rows=20, keep_models=True)
    for evaluator in (
        sk.PrequentialEvaluator("accuracy", batch_size=30, run=sk.RunOptions(kernels=kernels)),
        sk.HoldoutEvaluator(
            "accuracy", holdout="next", every=30, run=sk.RunOptions(kernels=kernels)
        ),
    ):
        result = evaluator.evaluate({"one": model}, X, Y, arrival=times, return_models=True)
        fitted, since = result.models["one"], np.timedelta64(7, "D")
        moments, came = fitted.refit_times_, times.tz_localize(None).to_numpy()
        for known, at, one in zip(fitted.refit_rows_, moments, fitted.refit_models_, strict=True):
            inside = came[:known] >= at - since if every == "7D" else came[:known] > at - since
            assert one.tree_.n_node_samples[0] == inside.sum()
        assert len(moments) >= (every == "7D") + 1


def test_a_timedelta_is_its_text():
    texts, objects = ({"every": "7D", "window": "400D"}, {})
    for name, text in texts.items():
        objects[name] = pd.Timedelta(text)
    found = [
        sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(keep_tape=True))
        .evaluate({"one": sk.PeriodicRefit(TREE, min_rows=8, **its)}, X, Y, arrival=came(4))
        .costs["one"]
        .refit_rows
        for its in (texts, objects)
    ]
    assert found[0] == found[1] and len(found[0][0]) > 5


def test_periods_are_searched():
    grid = {"every": ["MS", "7D", 20], "window": ["40D", None]}
    search = sk.PrequentialSearch(
        MONTHLY, grid, metric="accuracy", evaluator=sk.PrequentialEvaluator(random_state=0)
    )
    search.fit(sk.as_stream(X, Y, arrival=came(1)))
    assert set(search.best_params_) == set(grid)


@pytest.mark.parametrize(
    ("model", "arrival", "message"),
    [
        (
            MONTHLY,
            None,
            "every='MS' of PeriodicRefit counts time, but the rows have no arrival times",
        ),
        (MONTHLY, np.arange(N), "counts time, but the arrivals here are numbers"),
        (MODELS["rows"], None, "window='40D' of PeriodicRefit counts time"),
        (
            sk.PeriodicRefit(TREE, every="MS", time_zone="Europe/Berlin"),
            came(0).tz_localize(None),
            "time_zone='Europe/Berlin' is for arrivals with a time zone",
        ),
        (
            sk.PeriodicRefit(TREE, every="every three cats"),
            came(0),
            "is not a period that a clock can",
        ),
        (sk.TemporalCorrection(MONTHLY), came(0), r"PeriodicRefit inside model 'one' counts time"),
    ],
)
def test_what_no_clock_can_count_is_an_error_before_anything_runs(model, arrival, message):
    for evaluator in (
        sk.PrequentialEvaluator("accuracy"),
        sk.KFoldEvaluator("accuracy", n_folds=2),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            evaluator.evaluate({"one": model}, X, Y, arrival=arrival)
        assert getattr(caught.value, "result", None) is None
