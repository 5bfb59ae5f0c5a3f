"""Monitors of regressors, under delay, of failing models, saved; and what they refuse."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import MultinomialNB

import skstream as sk
from skstream import DriftMonitor, PrequentialEvaluator
from skstream.drift import ADWIN, DDM, DriftDetector, ErrorRatio, PageHinkley, RandomAlarm
from skstream.drift._base import DetectorState
from skstream.evaluation import _evaluator
from skstream.evaluation._runs import _watch
from skstream.metrics import Measure
from skstream.plotting._drift import series_of
from skstream.streams import as_stream
from tests.evaluation import test_monitors as laws
from tests.evaluation._models import numbered_rows
from tests.evaluation.test_checkpoints import assert_equal_data

BAYES = {"nb": MultinomialNB()}
QUICK = DDM(min_values=5, warning_level=0.5, drift_level=1.0)
SENSITIVE = PageHinkley(0.5, delta=0.0, direction="both")
X, y = numbered_rows(200), np.array(["a", "b"])[(np.arange(200) * 7919 % 200 > 120).astype(int)]


def bayes(monitors, **options):
    options = {"random_state": 0, **options}
    X, y, _ = laws.stream()
    return PrequentialEvaluator("accuracy", monitors=monitors, **options).evaluate(
        laws.MODELS, X, y
    )


# --- results -------------------------------------------------------------------------------


def test_detections_are_saved_narrowed_and_kept_by_rescore(tmp_path):
    X, y, _ = laws.stream()
    monitors = {"ddm": DriftMonitor(QUICK), "ph": DriftMonitor(SENSITIVE, on="window:9")}
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0, monitors=monitors)
    result = evaluator.evaluate(laws.MODELS, X, y)
    loaded = sk.load(result.save(tmp_path / "result.npz"))
    assert_equal_data(loaded.detections, result.detections)
    assert loaded.parameters["monitors"] == repr(monitors)
    assert_equal_data(result.rescore("kappa").detections, result.detections)
    some = result.select(models="last", folds=[2, 0])
    assert [d.fold for d in some.detections["ph"]["last"]] == [2, 0]
    one = result.select(folds=1)
    assert one.detections["ddm"]["bayes"] is result.detections["ddm"]["bayes"][1]
    for narrow in (some, one):  # random numbers are those of the folds, not of their positions
        monitor = DriftMonitor(RandomAlarm(0.2))
        again, whole = narrow.detect(monitor), result.detect(monitor)
        assert laws.flat({"": again}).items() <= laws.flat({"": whole}).items()
    n_alarms = sum(len(one.alarms) for one in result.detections["ddm"]["last"]) / 3
    assert f"last {n_alarms:.1f}\nalarms of ph, mean per fold: bayes" in str(result)
    assert "<p>alarms of ddm, mean per fold: bayes" in result._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        one.detections["ddm"]["bayes"].alarms[:] = 0


def test_rows_are_those_of_the_stream_and_unscored_ones_are_not_read():
    """A detector that counts: an alarm at every second value that it reads."""
    labels = np.where(np.arange(20) % 3 == 0, None, "a")
    evaluator = PrequentialEvaluator(
        "accuracy",
        n_warmup=4,
        missing_labels="skip",
        monitors={"all": DriftMonitor(RandomAlarm(1.0, warm_up=0))},
    )
    weight = np.where(np.arange(20) == 10, 0.0, 3.0)
    stream = as_stream(numbered_rows(20), labels, sample_weight=weight)
    result = evaluator.evaluate(sk.MajorityClass(), stream, classes=["a", "b"])
    found = result.detections["all"]["MajorityClass"].alarms.tolist()
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
    result = bayes({"ddm": monitor, "random": DriftMonitor(RandomAlarm())})
    assert (np.random.get_state()[1] == state).all()
    assert detector._state is None
    detector.update_many([0, 1, 0, 1, 1, 1])
    with pytest.warns(UserWarning, match="The DDM of a DriftMonitor has read values"):
        used = DriftMonitor(detector)
    laws.check_detect(replace(result, detections={"ddm": result.detections["ddm"]}), {"ddm": used})


def test_a_monitor_finds_what_river_finds_in_a_loop():
    river = pytest.importorskip("river.drift", reason="River is not installed")
    rng = np.random.default_rng(0)
    y = np.where(rng.random(4000) < np.repeat([0.1, 0.5, 0.2, 0.7], 1000), "b", "a")
    ours = ADWIN(delta=0.01, min_window=5, after_alarm="restart")
    evaluator = PrequentialEvaluator("accuracy", monitors={"adwin": DriftMonitor(ours)})
    result = evaluator.evaluate(sk.Persistent(), np.zeros((4000, 1)), y)
    theirs, alarms = river.ADWIN(delta=0.01), []
    for row in range(1, 4000):
        theirs.update(int(y[row] != y[row - 1]))
        if theirs.drift_detected:
            alarms.append(row)
    assert result.detections["adwin"]["Persistent"].alarms.tolist() == alarms
    assert len(alarms) > 1


def test_monitors_go_through_a_study_over_seeds(tmp_path):
    evaluator = PrequentialEvaluator("accuracy", monitors={"ddm": DriftMonitor(QUICK)})
    study = sk.evaluate_over_seeds(
        lambda seed: laws.stream(60, seed=seed)[:2], laws.MODELS, [3, 4], evaluator=evaluator
    )
    for seed, result in zip(study.seeds, study.results, strict=True):
        X, y, _ = laws.stream(60, seed=seed)
        alone = evaluator.set_params(random_state=seed).evaluate(laws.MODELS, X, y)
        assert_equal_data(result.detections, alone.detections)
    loaded = sk.load(study.save(tmp_path / "study.npz"))
    assert_equal_data(loaded.results[1].detections, study.results[1].detections)


def test_the_candidates_of_a_search_are_watched_on_its_tape():
    X, y, _ = laws.stream()
    search = sk.PrequentialSearch(sk.MajorityWindow(), {"window_size": [1, 3, 9]}, tuning=60)
    found = search.fit(X, y).result_.detect(DriftMonitor(RandomAlarm(1.0, warm_up=0)))
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
    evaluator = PrequentialEvaluator("mae", monitors=monitors, random_state=0)
    weight = np.tile([1.0, 2.0, 0.0], 40)
    result = evaluator.evaluate(SGDRegressor(), X, y, sample_weight=weight)
    laws.check_detect(result, monitors)
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
        found = result.detections[name]["SGDRegressor"].alarms
        assert found.tolist() == scored[known][alarms].tolist(), name
        assert len(found)
        rows, read, _ = series_of(result, monitors[name], "SGDRegressor", 0)
        assert rows.tolist() == scored[known].tolist()
        np.testing.assert_allclose(read, np.asarray(values)[known], rtol=1e-12)


# --- probabilities -------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["log_loss", "auc"])
def test_measures_of_probabilities_are_watched_while_a_run_goes_on(measure):
    """Also where no measure of the evaluator needs probabilities."""
    X, y, _ = laws.stream()
    y = np.where(y == "c", "b", y)
    given = {"forgetting": "window:20", "random_state": 0}
    curve = PrequentialEvaluator(measure, record_every=1, **given).evaluate(BAYES, X, y).curve("nb")
    monitor = DriftMonitor(SENSITIVE, on=(measure, "window:20"))
    result = PrequentialEvaluator("accuracy", monitors={"p": monitor}, **given).evaluate(
        BAYES, X, y
    )
    values = 1.0 - curve[:, 0] if measure == "auc" else curve[:, 0]
    known = np.flatnonzero(np.isfinite(values))
    alarms = clone(SENSITIVE).update_many(values[known])
    assert result.detections["p"]["nb"].alarms.tolist() == known[alarms].tolist()
    assert len(alarms)
    laws.check_detect(result, {"p": monitor})
    plain = PrequentialEvaluator("accuracy").evaluate(BAYES, X, y)
    with pytest.raises(ValueError, match=f"'{measure}' needs .*, and the tape has none"):
        plain.detect(monitor)


# --- delayed labels ------------------------------------------------------------------------


def test_live_labels_are_watched_in_their_order_and_in_the_bin_named():
    monitors = {
        "first": DriftMonitor(QUICK, bin=0),
        "between": DriftMonitor(SENSITIVE, on=sk.SlidingWindow(9), bin=2),
        "last": DriftMonitor(QUICK),
    }
    evaluator = sk.DelayedEvaluator("accuracy", n_bins=3, monitors=monitors, keep_tape=True)
    run = evaluator.start(sk.MajorityWindow(3), classes=["a", "b", "c"])
    X, y, _ = laws.stream()
    order = np.random.default_rng(0).permutation(len(y))
    for begin in range(0, len(y), 10):
        some = range(begin, begin + 10)
        run.ask(X[some.start : some.stop], ids=list(some), t=begin)
        run.label([k for k in order if k in some], y[[k for k in order if k in some]], t=begin + 9)
    found = run.detections
    result = run.result()
    assert_equal_data(found, result.detections)
    laws.check_detect(result, monitors)
    laws.check_loops(result, monitors, "MajorityWindow")
    assert any(len(found[name]["MajorityWindow"].alarms) for name in monitors)
    first, last = result.select(bins=0), result.select(bins=[0, 4])
    plain = DriftMonitor(QUICK)  # of no bin: that of the scores
    for narrow, name in ((first, "first"), (last, "last")):
        again, expected = narrow.detect(plain)["MajorityWindow"], found[name]["MajorityWindow"]
        assert again.alarms.tolist() == expected.alarms.tolist()
    assert first.detect(plain)["MajorityWindow"].alarms.tolist() != expected.alarms.tolist()
    assert {m: of["MajorityWindow"].bin for m, of in found.items()} == {
        name: 4 if one.bin is None else one.bin for name, one in monitors.items()
    }
    of_bins = {one.bin for by_model in last.detections.values() for one in by_model.values()}
    assert of_bins == {0, 4}
    assert list(first.detections) == [name for name, one in monitors.items() if one.bin == 0]
    assert result.select(bins=3).detections == {}


# --- failures ------------------------------------------------------------------------------


class Fails(DetectorState):
    """Fails at the twentieth value, until it is mended."""

    alarm = mended = False
    n = 0

    def feed_one(self, value):
        if self.n == 19 and not Fails.mended:
            raise RuntimeError("out of ink")
        self.n += 1
        self.n_alarms += 1
        self.alarm = True


class Failing(DriftDetector):
    def _start(self):
        return Fails()


def test_a_detector_that_fails_is_named_and_a_live_run_goes_on(monkeypatch):
    X, y, _ = laws.stream()
    monitors = {"sound": DriftMonitor(RandomAlarm(1.0, warm_up=0)), "ink": DriftMonitor(Failing())}
    evaluator = PrequentialEvaluator("accuracy", monitors=monitors, keep_tape=False)
    with pytest.raises(RuntimeError, match="out of ink") as caught:
        evaluator.evaluate(laws.MODELS, X, y)
    assert "Failing of monitor 'ink', which watches model 'bayes' (fold 0)," in "".join(
        caught.value.__notes__
    )
    run = evaluator.start(laws.MODELS, classes=laws.CLASSES)
    run.update(X[:20], y[:20])
    with pytest.raises(RuntimeError, match="out of ink"):
        run.update(X[20:21], y[20:21])
    monkeypatch.setattr(Fails, "mended", True)
    found = run.update(X[21:], y[21:]).detections
    for by_model in found.values():
        assert [one.alarms.tolist() for one in by_model.values()] == [list(range(1, 130))] * 2


def test_a_function_of_the_user_that_fails_takes_no_row_from_the_monitors(monkeypatch):
    fails = [True]
    monkeypatch.setattr(_evaluator, "warn_of_calls", lambda *_: None)

    def moody(y_true, y_pred):
        if fails[0] and len(y_true) > 20:
            raise RuntimeError("bad day")
        return 0.0

    X, y, _ = laws.stream()
    monitors = {"all": DriftMonitor(RandomAlarm(1.0, warm_up=0))}
    run = PrequentialEvaluator(
        ["accuracy", moody], monitors=monitors, forgetting="window:50"
    ).start(laws.MODELS, classes=laws.CLASSES)
    run.update(X[:20], y[:20])
    run.update(X[20:], y[20:])
    with pytest.raises(Exception, match="bad day"):
        run.close()
    assert run.detections["all"]["last"].alarms.tolist() == list(range(1, 130))
    fails[0] = False
    assert_equal_data(run.result().detections, run.detections)


def test_a_formula_that_fails_in_a_monitor_is_told_with_its_rows(monkeypatch):
    def formula(sums):
        if (sums["wrong"] > 15).any():
            raise RuntimeError("bad day")
        return sums["wrong"]

    monkeypatch.setattr(_watch, "_BLOCK", 20)
    moody = Measure(name="moody", formula=formula, series={"wrong"}, higher_is_better=False)
    monitors = {"own": DriftMonitor(SENSITIVE, on=(moody, "cumulative"))}
    X, y, _ = laws.stream()
    with pytest.raises(RuntimeError, match=r"after 21 to 40 rows of the stream.*bad day"):
        PrequentialEvaluator(monitors=monitors).evaluate(laws.MODELS, X, y)


# --- memory --------------------------------------------------------------------------------


def test_an_endless_run_keeps_no_rows():
    monitors = {
        "ddm": DriftMonitor(DDM()),
        "ph": DriftMonitor(PageHinkley(), on=sk.FadingFactor(0.997)),
        "kappa": DriftMonitor(ADWIN(), on=("kappa", "window:100")),
    }
    evaluator = PrequentialEvaluator("accuracy", monitors=monitors, record_every=10**6)
    run = evaluator.start(sk.Persistent(), classes=["a", "b"])
    X, labels = (
        np.zeros((5000, 1)),
        np.array(["a", "b"])[np.random.default_rng(0).integers(0, 2, 5000)],
    )
    sizes = []
    for _ in range(4):
        run.update(X, labels)
        sizes.append(len(pickle.dumps(run)))
    assert sizes[-1] < 1.1 * sizes[1]


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


CLASSIFIER = (sk.Persistent(), X, y)
REGRESSOR = (SGDRegressor(), X, np.arange(200.0))


@pytest.mark.parametrize(
    ("monitors", "given", "message"),
    [
        (DriftMonitor(DDM()), CLASSIFIER, "monitors must be a dict of DriftMonitor by name"),
        ([DriftMonitor(DDM())], CLASSIFIER, "monitors must be a dict of DriftMonitor by name"),
        (
            {"d": DDM()},
            CLASSIFIER,
            r"Monitor 'd' must be a DriftMonitor. .*; pass DriftMonitor\(DDM",
        ),
        ({"d": DDM}, CLASSIFIER, "Monitor 'd' must be a DriftMonitor. Got"),
        ({1: DriftMonitor(DDM()), "1": DriftMonitor(DDM())}, CLASSIFIER, "names of the monitors"),
        (
            {"d": DriftMonitor(DDM(), bin=0)},
            CLASSIFIER,
            "'d' has bin=0, and only results under del",
        ),
        (
            {"d": DriftMonitor(DDM(), on="fading:0.9")},
            CLASSIFIER,
            r"'d' reads numbers between 0 and 1, and its DDM refuses 0.5: .*DDM reads 0/1 losses",
        ),
        (
            {"d": DriftMonitor(DDM(), loss_bound=1.0)},
            REGRESSOR,
            "'d' reads numbers between 0 and 1, and its DDM refuses 0.5",
        ),
        ({"d": DriftMonitor(ADWIN(delta=2.0))}, CLASSIFIER, "'delta' parameter of ADWIN"),
        (
            {"d": DriftMonitor(PageHinkley(-1.0))},
            CLASSIFIER,
            "'threshold' parameter of PageHinkley",
        ),
        (
            {"d": DriftMonitor(ADWIN(), on=("pinball:0.5", "window:9"))},
            CLASSIFIER,
            "Monitor 'd': Unknown measure 'pinball:0.5'",
        ),
        (
            {"d": DriftMonitor(ADWIN(), on=("rmse", "window:9"))},
            CLASSIFIER,
            "Monitor 'd': .*'rmse'.* measure of regression",
        ),
        (
            {"d": DriftMonitor(ADWIN(), on=(surprise, "window:9"))},
            CLASSIFIER,
            "'d' reads a measure after every row, and 'surprise' is a function without a running",
        ),
        (
            {"d": DriftMonitor(ADWIN(), on=("kappa_se", "window:9"))},
            CLASSIFIER,
            "not known which direction of 'kappa_se' is the better one",
        ),
        (
            {"d": DriftMonitor(ADWIN(), loss_bound=2.0)},
            CLASSIFIER,
            "'d' has loss_bound=2.0, .*a cl",
        ),
        (
            {"d": DriftMonitor(ADWIN(), on=("mae", "cumulative"), loss_bound=2.0)},
            REGRESSOR,
            "'d' has loss_bound=2.0, .* loss of 'mae' is its own",
        ),
        (
            {"d": DriftMonitor(ADWIN())},
            REGRESSOR,
            "'d' watches the errors of regressors: pass loss",
        ),
        (
            {"d": DriftMonitor(ADWIN(), on=("mae", "adwin"))},
            REGRESSOR,
            "'d' is on AdaptiveWindow.* not defined for regression",
        ),
        (
            {"d": DriftMonitor(ErrorRatio(), on=("kappa", "window:9"))},
            REGRESSOR,
            "Monitor 'd': Unknown measure 'kappa'",
        ),
    ],
)
def test_bad_monitors_are_refused_before_a_row_is_read(monitors, given, message):
    model, X, y = given
    with pytest.raises((TypeError, ValueError), match=message):
        PrequentialEvaluator(monitors=monitors).start(
            model, classes=None if y.dtype == float else ["a", "b"]
        )
    monitor = [*monitors.values()][-1] if isinstance(monitors, dict) else monitors
    if not (isinstance(monitors, dict) and len(monitors) > 1) and isinstance(monitors, dict):
        result = PrequentialEvaluator().evaluate(model, X[:20], y[:20])
        with pytest.raises((TypeError, ValueError), match=message.replace("'d'", "'[A-Za-z]+'")):
            result.detect(monitor)


def test_bins_that_are_not_there_are_refused():
    evaluator = sk.DelayedEvaluator(n_bins=3, monitors={"d": DriftMonitor(DDM(), bin=5)})
    with pytest.raises(ValueError, match="bin of monitor 'd' must be from 0 to 4"):
        evaluator.start(sk.Persistent(), classes=["a", "b"])


def test_sets_of_held_out_rows_are_not_watched():
    with pytest.raises(TypeError, match="monitors"):
        sk.HoldoutEvaluator(holdout="next", monitors={})
    result = sk.HoldoutEvaluator("accuracy", holdout="next", every=20).evaluate(*CLASSIFIER)
    with pytest.raises(ValueError, match="holdout rows are asked in sets"):
        result.detect(DriftMonitor(DDM()))


def test_a_result_without_tape_says_how_to_keep_one():
    result = bayes(None, keep_tape=False)
    assert result.detections == {}
    with pytest.raises(ValueError, match="keep_tape=True"):
        result.detect(DriftMonitor(DDM()))


def test_a_folder_refuses_other_monitors_and_names_them(tmp_path):
    bayes({"ddm": DriftMonitor(QUICK, on="loss")}, checkpoint=tmp_path)
    other = {"ddm": DriftMonitor(clone(QUICK).set_params(min_values=6))}
    with pytest.raises(ValueError, match="the parameter monitors is another one"):
        bayes(other, checkpoint=tmp_path)
    assert bayes({"ddm": DriftMonitor(clone(QUICK))}, checkpoint=tmp_path).detections


# --- broken twins --------------------------------------------------------------------------


def counts_scored_rows(monkeypatch):
    """Rows are numbered as they are scored."""
    read = _watch._Lane.read

    def wrong(lane, values, rows):
        lane.n = getattr(lane, "n", 0) + len(rows)
        read(lane, values, np.arange(lane.n - len(rows), lane.n))

    monkeypatch.setattr(_watch._Lane, "read", wrong)


def forgets_between_blocks(monkeypatch):
    """The sums begin anew with every block."""
    monkeypatch.setattr(_watch.Scores, "copy", lambda self: Scores_of(self))


def Scores_of(scores):
    from functools import partial

    from skstream.metrics._scores import make_sums

    mechanisms = {"": partial(make_sums, sk.FadingFactor(0.9))}
    return _watch.Scores(scores.metrics, mechanisms, scores.classes, np.ones(scores.n_models, bool))


def hears_unscored_rows(monkeypatch):
    """The warm-up counts as errors."""
    monkeypatch.setattr(_watch, "scored_rows", lambda rows: np.ones(rows.answers.shape, dtype=bool))


@pytest.mark.parametrize(
    "broken", [counts_scored_rows, forgets_between_blocks, hears_unscored_rows]
)
def test_a_broken_watch_is_noticed(broken, monkeypatch):
    monkeypatch.setattr(_watch, "block_length", lambda *_: laws.BLOCK)
    monitors = {name: laws.MONITORS[name] for name in ("loss-DDM-1", "error-FadingFactor")}
    laws.check_loops(bayes(monitors), monitors)
    broken(monkeypatch)
    result = bayes(monitors)
    laws.check_detect(result, monitors)  # the same mistake twice
    with pytest.raises((AssertionError, ValueError)):
        laws.check_loops(result, monitors)
