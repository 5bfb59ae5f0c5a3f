"""Seconds and size along the stream, by a clock in which each call takes longer than the last."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import skstream as sk
from skstream.streams import make_demo_stream

pytest.importorskip("pandas")

STREAM = make_demo_stream(1_500, random_state=0)
LOOP = sk.RunOptions(kernels=False)
MODELS = {"majority": sk.MajorityClass(), "bayes": GaussianNB()}


@pytest.fixture(autouse=True)
def a_clock_that_ticks(monkeypatch):
    ticks = count()
    monkeypatch.setattr("skstream.core.engine.loop.perf_counter", lambda: float(next(ticks)) ** 2)


def seconds_of(n_calls):
    """Seconds of the first calls of an only model, each between two looks at the clock."""
    return 2.0 * n_calls**2 - n_calls


@pytest.mark.filterwarnings("ignore:Model 'bayes' trains GaussianNB")
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize(
    ("evaluator", "calls"),
    [
        (sk.PrequentialEvaluator("accuracy", record_every=100, run=LOOP), lambda row: 2 * row - 1),
        (
            sk.PrequentialEvaluator("accuracy", record_every=100, batch_size=10, run=LOOP),
            lambda row: 2 * np.ceil((row - 1) / 10) + 1,
        ),
        (sk.HoldoutEvaluator("accuracy", holdout="next", every=100, run=LOOP), None),
        (sk.DelayedEvaluator("accuracy", delay=5, record_every=100, run=LOOP), None),
        (sk.KFoldEvaluator("accuracy", n_folds=3, run=LOOP, random_state=0), None),
    ],
    ids=["rows", "batches", "next", "delayed", "folds"],
)
def test_seconds_are_those_of_the_calls_so_far(evaluator, calls, tmp_path):
    shorter = make_demo_stream(700, random_state=0)
    chosen = (MODELS, shorter) if calls is None else (sk.MajorityClass(), STREAM)
    result = evaluator.evaluate(*chosen)
    result.save(tmp_path / "r.npz")
    for one in (result, sk.load(tmp_path / "r.npz")):
        frame = one.costs_to_frame()
        assert list(frame) == ["model", "fold", "row", "seconds", "size"]
        for name, cost in one.costs.items():
            lasts = []
            for fold in one.folds:
                its = frame[(frame.model == name) & (frame.fold == fold)]
                assert its.row.tolist() == one.checkpoints.tolist()
                assert (np.diff(its.seconds) > 0).all()
                if calls is not None:
                    noted = cost.curves[0]
                    assert len(noted) >= 3
                    assert noted[:, 1].tolist() == seconds_of(calls(noted[:, 0])).tolist()
                    between = np.interp(its.row, [0, *noted[:, 0]], [0, *noted[:, 1]])
                    assert its.seconds.tolist() == between.tolist()
                lasts.append(its.iloc[-1])
            if one.protocol != "holdout":  # whose last checkpoint is before the end
                assert sum(last.seconds for last in lasts) == pytest.approx(cost.seconds)
                assert sum(last["size"] for last in lasts) == cost.size
    name = result.model_names[-1]
    narrow = result.select(models=name, folds=[result.folds[-1]])
    whole = result.costs_to_frame().query(f"model == '{name}' and fold == {result.folds[-1]}")
    assert narrow.costs_to_frame().equals(whole.reset_index(drop=True))


def test_a_run_that_goes_on_counts_on(tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", record_every=50, run=LOOP)
    model, X, y = sk.MajorityClass(), STREAM.X, STREAM.y
    run = evaluator.start(model, classes=np.unique(y))
    for begin in range(0, 1_500, 250):
        rows = slice(begin, begin + 250)
        run.update(X[rows], y[rows])
        run = sk.load_run(run.save(tmp_path / "run"))
    frame = run.result().costs_to_frame()
    (noted,) = run.result().costs["MajorityClass"].curves
    assert noted[:, 1].tolist() == seconds_of(2 * noted[:, 0] - 1).tolist()
    sizes = frame.set_index("row")["size"]
    assert np.isnan(sizes[1_000]) and sizes[1_250] > 100


def test_live_calls_of_one_row_do_not_fill_the_memory():
    run = sk.PrequentialEvaluator("accuracy", run=LOOP).start(sk.MajorityClass(), classes=[0, 1])
    for row in range(1_500):
        run.update([[0.0]], [row % 2])
    (curve,) = run.result().costs["MajorityClass"].curves
    assert 150 < len(curve) < 64 + 64 * np.log(1_500 / 64) + 2


@pytest.mark.parametrize("curves", [[np.zeros((2, 2))], [np.zeros((2, 3))] * 2])
def test_a_file_with_other_curves_of_costs_is_refused(curves, tmp_path):
    result = sk.PrequentialEvaluator("accuracy").evaluate(sk.MajorityClass(), STREAM)
    costs = {name: replace(cost, curves=curves) for name, cost in result.costs.items()}
    with pytest.raises(ValueError, match="costs"):
        sk.load(replace(result, costs=costs).save(tmp_path / "r.npz"))


def test_what_is_not_known_is_said():
    result = sk.PrequentialEvaluator("accuracy").evaluate(sk.MajorityClass(), STREAM)
    old = {name: replace(cost, curves=[]) for name, cost in result.costs.items()}
    assert old == result.costs
    with pytest.raises(ValueError, match="has no costs along the stream"):
        replace(result, costs=old).costs_to_frame()
