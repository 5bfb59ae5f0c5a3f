"""Detectors on the tape: what a literal loop over rows finds, with every evaluator and detector."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB

import skstream
import skstream.drift
from skstream import AdaptiveWindow, DriftMonitor, Persistent, SlidingWindow, TumblingWindow, detect
from skstream.core.detector import DetectorState
from skstream.core.rows.chunk import Chunk
from skstream.drift import ADWIN, DDM, DriftDetector, PageHinkley, RandomAlarm, _detect
from skstream.utils._seeds import derive_seed
from tests.drift.test_detectors import CASES as DETECTORS
from tests.evaluation.test_laws import EVALUATORS, FORGETTING

MODELS = {"bayes": MultinomialNB(), "last": Persistent()}
CLASSES = ["a", "b", "c"]
SENSITIVE = PageHinkley(0.5, delta=0.0, direction="both")
MONITORS = {
    **{f"loss-{one.id}": DriftMonitor(one.values[0]) for one in DETECTORS},
    **{f"error-{name}": DriftMonitor(SENSITIVE, on=one) for name, one in FORGETTING.items()},
    **{
        f"kappa-{name}": DriftMonitor(SENSITIVE, on=("kappa_temporal", one))
        for name, one in FORGETTING.items()
    },
    "random": DriftMonitor(RandomAlarm(0.2, warm_up=0)),
}
#: A detector is told values, and not by whom: one evaluator is enough for most of them.
DETECTORS_OF_LOSSES = {f"loss-{one.id}" for one in DETECTORS} - {"loss-ADWIN-1", "loss-DDM-1"}
CASES = [
    (name, options)
    for name, all_options in EVALUATORS.items()
    for options in all_options
    if name != "HoldoutEvaluator"  # whose rows are asked in sets
]
BLOCK = 32


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of few rows, so that streams of few rows have several."""
    monkeypatch.setattr(_detect, "buffer_size", lambda *_: BLOCK)


every_evaluator = pytest.mark.parametrize(
    ("name", "options"), CASES, ids=[f"{n}-{k}" for k, (n, _) in enumerate(CASES)]
)


def stream(n=130, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.abs(rng.normal(size=(n, 3))).round(1) + np.eye(3)[y] * 2
    X[n // 2 :] = X[n // 2 :, ::-1]
    weight = rng.choice([0.0, 1.0, 2.0], n) if weighted else None
    return X, np.array(CLASSES)[y], weight


def monitors_of(name, monitors=MONITORS):
    """The monitors tried with an evaluator: all detectors with one, and every series with all.

    With delayed labels some also watch the first bin.
    """
    if name == "PrequentialEvaluator":
        return monitors
    few = {n: m for n, m in monitors.items() if n not in DETECTORS_OF_LOSSES}
    if name == "KFoldEvaluator":
        return few
    first = {f"{n}-0": DriftMonitor(m.detector, m.on, bin=0) for n, m in [*few.items()][::3]}
    return {**few, **first}


def made(name, options):
    kept = skstream.RunOptions(keep_tape=True)
    return getattr(skstream, name)("accuracy", random_state=0, run=kept, **options)


def flat(found):
    """Alarms and warnings by monitor, model and fold."""
    listed = [
        one
        for by_model in found.values()
        for of_model in by_model.values()
        for one in (of_model if isinstance(of_model, list) else [of_model])
    ]
    return {(d.monitor, d.model, d.fold): (d.alarms.tolist(), d.warnings.tolist()) for d in listed}


def literal(result, monitor, model, fold, curve=None):
    """Alarms and warnings of a loop over rows, which reads the tape; `curve` is that of `on`."""
    tape = result.tape
    answers = np.asarray(tape.answers[model])[fold]
    if answers.ndim == 2:
        answers = answers[:, -1 if monitor.bin is None else monitor.bin]
    weight = np.ones(len(tape.y)) if tape.weight is None else tape.weight
    detector = clone(monitor.detector)
    if isinstance(detector, RandomAlarm) and detector.random_state is None:
        place = ("monitor", model, fold, "random_state")
        detector.set_params(random_state=derive_seed(result.parameters["seed"], *place))
    alarms, warned, was_warned = [], [], False
    mean = LiteralMean(monitor.on)
    rows = zip(tape.y.tolist(), answers.tolist(), weight.tolist(), strict=True)
    for row, (y, answer, w) in enumerate(rows):
        if answer == -1 or y == -1 or w == 0:
            continue
        value = mean.after(float(answer != y), w) if curve is None else 1.0 - curve[row]
        if not np.isfinite(value):
            continue
        detector.update(value)
        if detector.drift_detected:
            alarms.append(row)
        if detector.warning_detected and not was_warned:
            warned.append(row)
        was_warned = detector.warning_detected
    return alarms, warned


class LiteralMean:
    """The mean of losses under a forgetting mechanism; for "loss", the loss itself."""

    def __init__(self, on):
        self.on, self.past, self.total, self.weight = on, [], 0.0, 0.0
        self.adwin = ADWIN(on.delta) if isinstance(on, AdaptiveWindow) else None

    def after(self, loss, weight):
        if self.on == "loss":
            return loss
        self.past.append((weight, weight * loss))
        if isinstance(self.on, TumblingWindow):
            size, n = self.on.window_size, len(self.past)
            whole = self.past if n < size else self.past[n - n % size - size : n - n % size]
            weights, totals = zip(*whole, strict=True)
            return sum(totals) / sum(weights)
        if isinstance(self.on, SlidingWindow) or self.adwin is not None:
            size = self.on.window_size if self.adwin is None else self.adwin.update(loss).width
            weights, totals = zip(*self.past[-size:], strict=True)
            return sum(totals) / sum(weights)
        alpha = getattr(self.on, "fading_factor", 1.0)
        self.total = alpha * self.total + weight * loss
        self.weight = alpha * self.weight + weight
        return self.total / self.weight


def check_loops(result, monitors, found, of="bayes"):
    """What each monitor found is what a literal loop finds."""
    for monitor, spec in monitors.items():
        curves = None
        if isinstance(spec.on, tuple):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                measure, forgetting = spec.on
                curves = result.rescore([measure], forgetting=forgetting, record_every=1)
        for (_, model, fold), rows in flat({monitor: found[monitor]}).items():
            if model != of or 0 < fold < result.n_folds - 1:
                continue
            curve = None if curves is None else curves.curve(model)[:, fold]
            if curve is not None and curve.ndim == 2:  # by bin
                curve = curve[:, -1 if spec.bin is None else spec.bin]
            assert rows == literal(result, spec, model, fold, curve), (monitor, model, fold)


@every_evaluator
def test_it_finds_what_a_loop_over_rows_finds(name, options):
    X, y, weight = stream(weighted=bool(options))
    result = made(name, options).evaluate(MODELS, X, y, sample_weight=weight)
    monitors = monitors_of(name)
    found = detect(result, monitors)
    check_loops(result, monitors, found)
    loud = {monitor for (monitor, _, _), (alarms, _) in flat(found).items() if alarms}
    assert len(loud) > len(monitors) / 2


class LastDigits(DetectorState):
    """Raises an alarm by the last bits of a value: any difference in rounding shows."""

    alarm = False

    def feed_one(self, value):
        self.alarm = bool(np.float64(value).view(np.int64) & 1)
        self.n_alarms += self.alarm


class ByLastDigits(DriftDetector):
    def _start(self):
        return LastDigits()


TO_THE_LAST_BIT = {
    **{
        f"{measure}-{name}": DriftMonitor(ByLastDigits(), on=(measure, one))
        for name, one in FORGETTING.items()
        for measure in ("error", "kappa_temporal")
    },
    "loss": DriftMonitor(DDM(min_values=5)),
    "random": DriftMonitor(RandomAlarm(0.2, warm_up=0)),
}


def check_prefixes(so_far, whole):
    """What was found so far stays as it is."""
    assert so_far.keys() == whole.keys()
    for place, found in so_far.items():
        for rows, later in zip(found, whole[place], strict=True):
            assert rows == later[: len(rows)], place


@every_evaluator
def test_chunks_resumed_runs_and_workers_change_nothing(name, options):
    """To the last bit of every value, and whenever one has asked what was found so far."""
    X, y, weight = stream(weighted=True)
    weight = weight / 7  # sums of such numbers depend on their order
    monitors = monitors_of(name, TO_THE_LAST_BIT)
    evaluator = made(name, options)
    result = evaluator.evaluate(MODELS, X, y, sample_weight=weight)
    whole = flat(detect(result, monitors))
    some = flat(detect(result.select(models="last"), monitors))
    assert some == {place: rows for place, rows in whole.items() if place[1] == "last"}

    def chunks():
        for begin, end in pairwise([0, 1, 40, 41, 97, 130]):
            yield X[begin:end], y[begin:end], {"sample_weight": weight[begin:end]}

    with parallel_config(backend="threading"):
        cut = evaluator.set_params(n_jobs=2).evaluate(MODELS, chunks, classes=CLASSES)
    assert flat(detect(cut, monitors)) == whole
    run = made(name, options).start(MODELS, classes=CLASSES)
    for begin, end in pairwise([0, 1, 2, 60, 61, 70, 130]):
        part = slice(begin, end)
        run.feed(Chunk.of(X[part], y[part], {"sample_weight": weight[part]}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few rows leave measures undefined
            check_prefixes(flat(detect(run.result(), monitors)), whole)
    assert flat(detect(run.close().result(), monitors)) == whole
