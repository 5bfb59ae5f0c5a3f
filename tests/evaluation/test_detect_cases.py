"""Detectors on the tapes of regressors, logs, searches and late labels; and what they refuse."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import MultinomialNB

import skstream as sk
from skstream import DriftMonitor, Polling, PrequentialEvaluator, RunOptions, detect
from skstream.core.detector import DetectorState
from skstream.drift import ADWIN, DDM, DriftDetector, ErrorRatio, PageHinkley, RandomAlarm, _detect
from skstream.metrics import Measure
from skstream.streams import as_stream
from tests.evaluation import test_detect as laws
from tests.evaluation._models import numbered_rows

BAYES = {"nb": MultinomialNB()}
QUICK = DDM(min_values=5, warning_level=0.5, drift_level=1.0)
SENSITIVE = PageHinkley(0.5, delta=0.0, direction="both")
X, y = numbered_rows(200), np.array(["a", "b"])[(np.arange(200) * 7919 % 200 > 120).astype(int)]


def bayes(**options):
    X, y, _ = laws.stream()
    return PrequentialEvaluator("accuracy", random_state=0, **options).evaluate(laws.MODELS, X, y)


def test_folds_and_models_left_out_change_nothing():
    X, y, _ = laws.stream()
    result = sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0).evaluate(laws.MODELS, X, y)
    # Random numbers are those of the folds, not of their positions.
    monitors = {"ddm": QUICK, "random": DriftMonitor(RandomAlarm(0.2))}
    whole = detect(result, monitors)
    some, one = result.select(models="last", folds=[2, 0]), result.select(folds=1)
    assert [d.fold for d in detect(some, monitors)["random"]["last"]] == [2, 0]
    for narrow in (some, one):
        assert laws.flat(detect(narrow, monitors)).items() <= laws.flat(whole).items()
    assert detect(one, monitors)["ddm"]["bayes"].fold == 1
    with pytest.raises(ValueError, match="read-only"):
        whole["ddm"]["bayes"][0].alarms[:] = 0


# --- results -------------------------------------------------------------------------------


def test_a_result_without_rows_has_no_alarms():
    run = PrequentialEvaluator("accuracy", run=RunOptions(keep_tape=True)).start(
        sk.Persistent(), classes=["a"]
    )
    found = detect(run.result(), {"ddm": DDM()})["ddm"]["Persistent"]
    assert len(found.alarms) == len(found.warnings) == 0


def test_rows_are_those_of_the_stream_and_unscored_ones_are_not_read():
    """A detector that counts: an alarm at every second value that it reads."""
    labels = np.where(np.arange(20) % 3 == 0, None, "a")
    evaluator = PrequentialEvaluator("accuracy", n_warmup=4, missing_labels="skip")
    weight = np.where(np.arange(20) == 10, 0.0, 3.0)
    stream = as_stream(numbered_rows(20), labels, sample_weight=weight)
    result = evaluator.evaluate(sk.MajorityClass(), stream, classes=["a", "b"])
    every = detect(result, {"all": RandomAlarm(1.0, warm_up=0)})
    found = every["all"]["MajorityClass"].alarms.tolist()
    tape = result.tape
    scored = (tape.y >= 0) & (tape.answers["MajorityClass"][0] >= 0) & (tape.weight > 0)
    assert found == np.flatnonzero(scored).tolist()
    assert 10 not in found
    assert min(found) >= 4
    assert max(found) == 19


def test_the_detector_of_a_monitor_is_not_touched_and_one_that_has_read_values_is_told():
    detector = DDM(min_values=5)
    monitor = DriftMonitor(detector)
    state = np.random.get_state()[1].copy()
    result = bayes()
    found = detect(result, {"ddm": monitor, "random": DriftMonitor(RandomAlarm())})
    assert (np.random.get_state()[1] == state).all()
    assert detector._state is None
    detector.update_many([0, 1, 0, 1, 1, 1])
    with pytest.warns(UserWarning, match="The DDM of a DriftMonitor has read values"):
        used = DriftMonitor(detector)
    again = detect(result, {"ddm": used})
    assert laws.flat(again) == laws.flat({"ddm": found["ddm"]})


def test_the_candidates_of_a_search_are_watched_on_its_tape():
    X, y, _ = laws.stream()
    search = sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [1, 3, 9]}, tuning=60)
    every = {"all": RandomAlarm(1.0, warm_up=0)}
    found = detect(search.fit(X, y).result_, every)["all"]
    assert [one.alarms.tolist() for one in found.values()] == [list(range(1, 60))] * 3


# --- regressors ----------------------------------------------------------------------------


def numbers(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] * np.where(np.arange(n) < n // 2, 1.0, -3.0) + rng.normal(size=n) / 9


def test_bounded_errors_of_regressors():
    X, y = numbers()
    monitors = {
        "bounded": DriftMonitor(PageHinkley(2.0, delta=0.01), loss_bound=1.5),
        "fading": DriftMonitor(SENSITIVE, on="fading:0.9", loss_bound=1.5),
        "rmse": DriftMonitor(SENSITIVE, on=("rmse", "window:20")),
        "r2": DriftMonitor(SENSITIVE, on=("r2", "cumulative")),
    }
    evaluator = PrequentialEvaluator("mae", random_state=0)
    weight = np.tile([1.0, 2.0, 0.0], 40)
    result = evaluator.evaluate(SGDRegressor(), X, y, sample_weight=weight)
    all_found = detect(result, monitors)
    answers = result.tape.answers["SGDRegressor"][0]
    scored = np.flatnonzero((weight > 0) & ~np.isnan(answers))
    losses = np.minimum(np.abs(y - answers)[scored] / 1.5, 1.0)
    w = weight[scored]
    total = of_all = 0.0
    faded = []
    for loss, one in zip(losses, w, strict=True):
        total, of_all = 0.9 * total + one * loss, 0.9 * of_all + one
        faded.append(total / of_all)

    def curve(metric, forgetting):
        again = result.rescore(metric, forgetting=forgetting, record_every=1)
        return again.curve("SGDRegressor")[scored, 0]

    expected = {
        "bounded": (PageHinkley(2.0, delta=0.01), losses),
        "fading": (SENSITIVE, faded),
        "rmse": (SENSITIVE, curve("rmse", "window:20")),
        "r2": (SENSITIVE, 1.0 - curve("r2", "cumulative")),
    }
    for name, (detector, values) in expected.items():
        known = np.isfinite(values)
        alarms = clone(detector).update_many(np.asarray(values)[known])
        found = all_found[name]["SGDRegressor"].alarms
        assert found.tolist() == scored[known][alarms].tolist(), name
        assert len(found)


# --- probabilities -------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["log_loss", "auc"])
def test_measures_of_probabilities_are_watched_where_the_tape_has_them(measure):
    X, y, _ = laws.stream()
    y = np.where(y == "c", "b", y)
    given = {"forgetting": "window:20", "random_state": 0}
    curve = PrequentialEvaluator(measure, record_every=1, **given).evaluate(BAYES, X, y).curve("nb")
    monitor = DriftMonitor(SENSITIVE, on=(measure, "window:20"))
    result = PrequentialEvaluator(["accuracy", measure], **given).evaluate(BAYES, X, y)
    values = 1.0 - curve[:, 0] if measure == "auc" else curve[:, 0]
    known = np.flatnonzero(np.isfinite(values))
    alarms = clone(SENSITIVE).update_many(values[known])
    assert detect(result, {"p": monitor})["p"]["nb"].alarms.tolist() == known[alarms].tolist()
    assert len(alarms)
    plain = PrequentialEvaluator("accuracy").evaluate(BAYES, X, y)
    with pytest.raises(ValueError, match=f"'{measure}' needs .*, but the tape has none"):
        detect(plain, {"p": monitor})


# --- delayed labels ------------------------------------------------------------------------


def test_live_labels_are_watched_in_their_order_and_in_the_bin_named():
    monitors = {
        "first": DriftMonitor(QUICK, bin=0),
        "between": DriftMonitor(SENSITIVE, on=sk.SlidingWindow(9), bin=2),
        "last": DriftMonitor(QUICK),
    }
    evaluator = sk.DelayedEvaluator(
        "accuracy", run=RunOptions(keep_tape=True), polling=Polling(n_bins=3)
    )
    run = evaluator.start(sk.MajorityWindow(3), classes=["a", "b", "c"])
    X, y, _ = laws.stream()
    order = np.random.default_rng(0).permutation(len(y))
    for begin in range(0, len(y), 10):
        some = range(begin, begin + 10)
        run.ask(X[some.start : some.stop], ids=list(some), t=begin)
        run.label([k for k in order if k in some], y[[k for k in order if k in some]], t=begin + 9)
    result = run.result()
    found = detect(result, monitors)
    laws.check_loops(result, monitors, found, "MajorityWindow")
    assert any(len(found[name]["MajorityWindow"].alarms) for name in monitors)
    first, last = result.select(bins=0), result.select(bins=[0, 4])

    def watched_by(monitor, narrow):
        return detect(narrow, {"m": monitor})["m"]["MajorityWindow"]

    plain = DriftMonitor(QUICK)  # of no bin: that of the scores
    for narrow, name in ((first, "first"), (last, "last")):
        again, expected = watched_by(plain, narrow), found[name]["MajorityWindow"]
        assert again.alarms.tolist() == expected.alarms.tolist()
    assert watched_by(plain, first).alarms.tolist() != expected.alarms.tolist()
    assert {m: of["MajorityWindow"].bin for m, of in found.items()} == {
        name: 4 if one.bin is None else one.bin for name, one in monitors.items()
    }


# --- failures ------------------------------------------------------------------------------


class Fails(DetectorState):
    """Fails at the twentieth value."""

    alarm = False
    n = 0

    def feed_one(self, value):
        if self.n == 19:
            raise RuntimeError("out of ink")
        self.n += 1


class Failing(DriftDetector):
    def _start(self):
        return Fails()


def test_a_detector_that_fails_is_named():
    with pytest.raises(RuntimeError, match="out of ink") as caught:
        detect(bayes(), {"ink": Failing()})
    assert "Failing of monitor 'ink', which watches model 'bayes' (fold 0)," in "".join(
        caught.value.__notes__
    )


def test_a_formula_that_fails_in_a_monitor_is_told_with_its_rows(monkeypatch):
    def formula(sums):
        if (sums["wrong"] > 15).any():
            raise RuntimeError("bad day")
        return sums["wrong"]

    monkeypatch.setattr(_detect, "_BLOCK", 20)
    moody = Measure(name="moody", formula=formula, series={"wrong"}, higher_is_better=False)
    monitors = {"own": DriftMonitor(SENSITIVE, on=(moody, "cumulative"))}
    with pytest.raises(RuntimeError, match=r"after 21 to 40 rows of the stream.*bad day"):
        detect(bayes(), monitors)


# --- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"detector": DDM}, r"detector is the class DDM, not an instance; pass DDM\(\)"),
        ({"detector": "ddm"}, r"detector must be a drift detector .* Got 'ddm' of type str"),
        ({"on": 0.99}, r"'on' parameter of DriftMonitor must be .* Got 0.99 of type float"),
        ({"on": "kappa"}, r"on='kappa' is a measure, .* pass on=\('kappa', \"window:1000\"\)"),
        ({"on": "log_loss"}, r"on='log_loss' is a measure, .* pass on=\('log_loss', "),
        ({"on": "fadin:0.9"}, r"Unknown forgetting 'fadin:0.9'"),
        ({"on": ("bogus", "window:9")}, r"^Unknown measure 'bogus'.* Known are accuracy, .*mae"),
        ({"on": ("kapa", "adwin")}, r"^Unknown measure 'kapa'. Did you mean 'kappa'"),
        ({"on": ("kappa", "window:9", 1)}, r"'on' parameter of DriftMonitor must be"),
        ({"bin": -1}, r"'bin' parameter of DriftMonitor must be an int of at least 0"),
        ({"bin": True}, r"'bin' parameter .* Got True"),
        ({"loss_bound": 0.0}, r"'loss_bound' parameter .* positive number, or None. Got 0.0"),
    ],
)
def test_a_bad_monitor_is_refused_where_it_is_made(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        DriftMonitor(**{"detector": DDM(), **parameters})


def surprise(y_true, y_pred):
    return 0.0


MANY = "monitors must be a dict of DriftMonitor by name"


@pytest.mark.parametrize(
    ("monitors", "message"),
    [
        (DriftMonitor(DDM()), MANY),
        ([DriftMonitor(DDM())], MANY),
        ({"d": DDM}, "Monitor 'd' must be a DriftMonitor. Got"),
        ({1: DriftMonitor(DDM()), "1": DriftMonitor(DDM())}, "names of the monitors"),
    ],
)
def test_what_is_no_dict_of_monitors_is_refused(monitors, message):
    with pytest.raises((TypeError, ValueError), match=message):
        detect(bayes(), monitors)


LOSS = "'d' has loss_bound=2.0, "


@pytest.mark.parametrize(
    ("detector", "options", "message"),
    [
        (DDM(), {"bin": 0}, "'d' has bin=0, but only results with del"),
        (ADWIN(delta=2.0), {}, "'delta' parameter of ADWIN"),
        (PageHinkley(-1.0), {}, "'threshold' parameter of PageHinkley"),
        (ADWIN(), {"on": ("pinball:0.5", "window:9")}, "'d': Unknown measure 'pinball:0.5'"),
        (ADWIN(), {"on": ("rmse", "window:9")}, "'d': Measure 'rmse' is one of regression"),
        (
            ADWIN(),
            {"on": (surprise, "window:9")},
            "'surprise' is a function that cannot be updated row by row",
        ),
        (ADWIN(), {"on": ("kappa_se", "window:9")}, "which direction of 'kappa_se' is the better"),
        (ADWIN(), {"loss_bound": 2.0}, f"{LOSS}.*a cl"),
    ],
)
def test_bad_monitors_of_classifiers_are_refused_before_a_row_is_read(
    detector, options, message, monkeypatch
):
    refused(sk.Persistent(), y, DriftMonitor(detector, **options), message, monkeypatch)


@pytest.mark.parametrize(
    ("detector", "options", "message"),
    [
        (ADWIN(), {"on": ("mae", "cumulative"), "loss_bound": 2.0}, f"{LOSS}.* of 'mae' is its"),
        (ADWIN(), {}, "'d' watches the errors of regressors: pass loss"),
        (ADWIN(), {"on": ("mae", "adwin")}, "'d' is on AdaptiveWindow.* not defined for regr"),
        (
            ErrorRatio(),
            {"on": ("kappa", "window:9")},
            "Monitor 'd': Measure 'kappa' is one of classification",
        ),
    ],
)
def test_bad_monitors_of_regressors_are_refused_before_a_row_is_read(
    detector, options, message, monkeypatch
):
    targets = np.arange(200.0)
    refused(SGDRegressor(), targets, DriftMonitor(detector, **options), message, monkeypatch)


def refused(model, targets, monitor, message, monkeypatch):
    result = PrequentialEvaluator().evaluate(model, X[:20], targets[:20])
    monkeypatch.setattr(_detect, "rows_of", None)
    with pytest.raises((TypeError, ValueError), match=message):
        detect(result, {"d": monitor})


def test_bins_that_are_not_there_are_refused():
    result = sk.DelayedEvaluator("accuracy", delay=2, polling=Polling(n_bins=3)).evaluate(
        sk.Persistent(), X, y
    )
    with pytest.raises(ValueError, match="bin of monitor 'd' must be from 0 to 4"):
        detect(result, {"d": DriftMonitor(DDM(), bin=5)})


def test_a_mechanism_that_counts_time_needs_times():
    monitor = {"d": DriftMonitor(PageHinkley(), on="window:7D")}
    with pytest.raises(ValueError, match=r"'d' is on .*7D.*, which counts time, but"):
        detect(bayes(), monitor)
    times = np.datetime64("2025-01-01", "us") + np.arange(200) * np.timedelta64(6, "h")
    evaluator = PrequentialEvaluator("accuracy", forgetting="window:7D", record_every=1)
    result = evaluator.evaluate(sk.Persistent(), X, y, arrival=times)
    sensitive = DriftMonitor(SENSITIVE, on="window:7D")
    found = detect(result, {"d": sensitive})["d"]["Persistent"].alarms
    expected = clone(SENSITIVE).update_many(1.0 - result.curve("Persistent")[1:, 0])
    assert found.tolist() == (expected + 1).tolist() and len(found)


def test_sets_of_held_out_rows_are_not_watched():
    result = sk.HoldoutEvaluator("accuracy", holdout="next", every=20).evaluate(
        sk.Persistent(), X, y
    )
    with pytest.raises(ValueError, match="holdout rows are predicted in sets"):
        detect(result, {"ddm": DDM()})


def test_a_result_without_tape_says_how_to_keep_one():
    result = bayes(run=sk.RunOptions(keep_tape=False))
    with pytest.raises(ValueError, match="keep_tape=True"):
        detect(result, {"ddm": DDM()})
