"""Models that stopped before the others, as where Ctrl-C ends workers: results tell where."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score

from skstream import (
    EvaluationResult,
    FadingFactor,
    KFoldEvaluator,
    MajorityClass,
    PrequentialEvaluator,
    RunOptions,
)
from skstream.core.result.assemble import assemble
from skstream.core.run.run_outcome import continued, ended_lane

N_ROWS = 1500


def stream(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 3))
    return X, (X[:, 0] + rng.normal(size=N_ROWS) > 0).astype(int)


def models() -> dict[str, Any]:
    sgd = {f"sgd{k}": SGDClassifier(alpha=10.0**-k, random_state=k) for k in range(1, 4)}
    return {**sgd, "majority": MajorityClass()}


def ended_where(run: Any, X: Any, y: Any, ends: dict[str, tuple[int, str]]) -> EvaluationResult:
    """Return the result of a new run, some models of which stopped after some rows."""
    stopped: dict[Any, Any] = {}
    done = 0
    for name, (row, why) in sorted(ends.items(), key=lambda item: item[1]):
        lanes = run.update(X[done:row], y[done:row]).outcome().lanes
        stopped |= {(one.name, one.fold): ended_lane(one, why) for one in lanes if one.name == name}
        done = row
    outcome = run.update(X[done:], y[done:]).close().outcome()
    checkpoints = outcome.lanes[0].curves.checkpoints
    lanes = [
        continued(stopped[one.name, one.fold], checkpoints, outcome.labels)
        if one.name in ends
        else one
        for one in outcome.lanes
    ]
    return assemble(run._settings.header, replace(outcome, lanes=lanes))


def ended(**parameters: Any) -> EvaluationResult:
    """End sgd2 after 70 rows, and sgd1 after 700."""
    evaluator = PrequentialEvaluator(random_state=0, run=RunOptions(keep_tape=True), **parameters)
    ends = {"sgd2": (70, "it was the second"), "sgd1": (700, "it was the first")}
    return ended_where(evaluator.start(models(), classes=[0, 1]), *stream(), ends)


def mean_of_last(y_true: Any, y_pred: Any) -> float:
    return float(np.mean(y_true == y_pred))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"forgetting": {"all": "cumulative", "window": "window:100"}},
        {"forgetting": FadingFactor(0.99)},
        {"forgetting": "adwin"},
        {"batch_size": 7},
        {"record_every": 50},
        {"metrics": ["accuracy", mean_of_last], "record_every": 100},
    ],
    ids=lambda one: str(one).split(" at 0x")[0],
)
@pytest.mark.filterwarnings("ignore:Measures .* have no running form:UserWarning")
def test_their_curves_are_those_of_a_whole_run_up_to_there(parameters: dict[str, Any]) -> None:
    X, y = stream()
    evaluator = PrequentialEvaluator(random_state=0, run=RunOptions(keep_tape=True), **parameters)
    whole = evaluator.evaluate(models(), X, y)
    result = ended(**parameters)
    np.testing.assert_array_equal(result.checkpoints, whole.checkpoints)
    for name in whole.model_names:
        # An incomplete batch is not scored, and not counted, at an end.
        end = result.ended[name].n_rows if name in result.ended else N_ROWS
        before = whole.checkpoints <= end
        for forgetting in whole.forgetting_names:
            for metric in whole.metric_names:
                curve = result.curve(name, metric, forgetting=forgetting)
                expected = whole.curve(name, metric, forgetting=forgetting)
                np.testing.assert_array_equal(curve[before], expected[before])
                assert np.isnan(curve[~before]).all()


def test_a_result_tells_where_models_ended() -> None:
    result = ended()
    assert {name: one.n_rows for name, one in result.ended.items()} == {"sgd1": 700, "sgd2": 70}
    (last,) = result.ended["sgd1"].scores["cumulative"]["accuracy"]
    tape = result.tape
    assert last == accuracy_score(tape.y[1:700], tape.answers["sgd1"][0, 1:700])
    assert (tape.answers["sgd1"][0, 700:] == -1).all()
    assert np.isnan(result.scores["sgd1"]["accuracy"])
    printed = str(result)
    assert f"{last:.4f}" in printed
    assert "ended after" in printed
    cells = [line.split() for line in printed.splitlines()[3:7]]
    after = {line[0]: line[1 + len(result.metric_names) : -2] for line in cells}
    assert after == {"sgd1": ["700"], "sgd2": ["70"], "sgd3": [], "majority": []}
    assert "sgd1 ended early: it was the first" in printed
    assert f"sgd1: accuracy {last:.4f} after 700 rows" in repr(result)
    assert "it was the first" in result._repr_html_()


def test_select_and_rescore_keep_the_ends() -> None:
    result = ended()
    narrow = result.select(models=["sgd2", "majority"], metrics="kappa")
    kappa = result.ended["sgd2"].scores["cumulative"]["kappa"]
    assert narrow.ended["sgd2"].scores == {"cumulative": {"kappa": kappa}}
    assert list(narrow.ended) == ["sgd2"]
    again = result.rescore()
    assert again.ended == result.ended
    for name in result.model_names:
        for metric in result.metric_names:
            np.testing.assert_array_equal(again.curve(name, metric), result.curve(name, metric))


def test_folds_end_together() -> None:
    evaluator = KFoldEvaluator("accuracy", n_folds=3, random_state=0)
    run = evaluator.start(models(), classes=[0, 1])
    result = ended_where(run, *stream(), {"sgd1": (99, "enough")})
    assert list(result.ended) == ["sgd1"]
    assert len(result.ended["sgd1"].scores["cumulative"]["accuracy"]) == 3
    assert f"{np.mean(result.ended['sgd1'].scores['cumulative']['accuracy']):.4f}" in str(result)
    assert len(result.select(folds=[0, 2]).ended["sgd1"].scores["cumulative"]["accuracy"]) == 2
    with pytest.raises(ValueError, match=r"'sgd1' ended after 99 rows \(enough\) and has no acc"):
        result.compare("sgd1", "sgd3", test="sign")
    assert "rows" in str(result.compare("sgd1", "sgd3", test="sign", at=99))
