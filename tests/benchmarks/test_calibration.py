"""What is read off the answers of all folds is what an evaluation of that protocol finds."""

import argparse
import runpy

import pytest

from benchmarks import calibration
from skstream import KFoldEvaluator


@pytest.mark.parametrize("strategy", calibration.STRATEGIES)
@pytest.mark.parametrize("test_on", ["trained", "held_out"])
def test_a_protocol_is_part_of_the_answers_of_all_folds(strategy, test_on):
    options = argparse.Namespace(rows=120, n_folds=6, learner="sgd")
    (found,) = calibration.repetition("SEA", strategy, 1, [test_on], options)
    X, y = calibration.STREAMS["SEA"](120, 1)
    models = calibration.competitors("sgd", 1, X.shape[1])
    evaluator = KFoldEvaluator(
        "accuracy", n_folds=6, random_state=1, strategy=f"{strategy}:{test_on}"
    )
    result = evaluator.evaluate(models, X, y)
    for case, pair in calibration.CASES.items():
        for test in ("sign", "wilcoxon"):
            wanted = result.compare(*pair, test=test).pvalue
            assert found["p"][case][test] == pytest.approx(wanted, rel=1e-12)


def test_a_share_has_an_interval_around_it() -> None:
    assert str(calibration.Share(2, 20)) == "0.10 (0.03 to 0.30)"


def test_other_processes_can_import_what_they_run(monkeypatch) -> None:
    """With --n-jobs: run as a script, no part of it is in a module that they do not have."""
    modules = []
    monkeypatch.setattr(
        calibration, "main", lambda: modules.append(calibration.repetition.__module__)
    )
    runpy.run_path(calibration.__file__, run_name="__main__")
    assert modules == ["benchmarks.calibration"]
