"""Models that are ended before the run they are in: the others do not notice, and results tell."""

from pathlib import Path
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
    load_run,
)

ENDS = (70, 700)
N_ROWS = 1500


def stream(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 3))
    return X, (X[:, 0] + rng.normal(size=N_ROWS) > 0).astype(int)


def models() -> dict[str, Any]:
    sgd = {f"sgd{k}": SGDClassifier(alpha=10.0**-k, random_state=k) for k in range(1, 4)}
    return {**sgd, "majority": MajorityClass()}


def ended_run(evaluator: PrequentialEvaluator, *, save: Path | None = None) -> Any:
    """End sgd2 after 70 rows, and sgd1 after 700."""
    X, y = stream()
    run = evaluator.start(models(), classes=[0, 1])
    first, second = ENDS
    run.update(X[:first], y[:first])
    run._end_lanes({1: "it was the second"})
    if save is not None:
        run = load_run(run.save(save))
    run.update(X[first:second], y[first:second])
    run._end_lanes({0: "it was the first"})
    return run.update(X[second:], y[second:]).close()


def ended(**parameters: Any) -> EvaluationResult:
    result: EvaluationResult = ended_run(
        PrequentialEvaluator(keep_tape=True, random_state=0, **parameters)
    ).result()
    return result


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
def test_the_others_go_on_bit_for_bit(parameters: dict[str, Any]) -> None:
    X, y = stream()
    evaluator = PrequentialEvaluator(keep_tape=True, random_state=0, **parameters)
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
    for name in ("sgd3", "majority"):
        np.testing.assert_array_equal(
            result.predictions(name, every_row=True), whole.predictions(name, every_row=True)
        )


def test_a_model_that_ended_costs_nothing_any_more() -> None:
    X, y = stream()
    run = PrequentialEvaluator().start(models(), classes=[0, 1]).update(X[:50], y[:50])
    run._end_lanes({0: "slow"})
    assert [name for name, _ in run._places] == ["sgd2", "sgd3", "majority"]
    before = run.result().costs["sgd1"]
    assert run.update(X[50:], y[50:]).result().costs["sgd1"] == before


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
    X, y = stream()
    run = KFoldEvaluator("accuracy", n_folds=3, random_state=0).start(models(), classes=[0, 1])
    run.update(X[:99], y[:99])._end_lanes({0: "enough", 1: "enough", 2: "enough"})
    result = run.update(X[99:200], y[99:200]).result()
    assert list(result.ended) == ["sgd1"]
    assert len(result.ended["sgd1"].scores["cumulative"]["accuracy"]) == 3
    assert f"{np.mean(result.ended['sgd1'].scores['cumulative']['accuracy']):.4f}" in str(result)
    assert len(result.select(folds=[0, 2]).ended["sgd1"].scores["cumulative"]["accuracy"]) == 2
    with pytest.raises(ValueError, match=r"'sgd1' ended after 99 rows \(enough\) and has no acc"):
        result.compare("sgd1", "sgd3", test="sign")
    assert "rows" in str(result.compare("sgd1", "sgd3", test="sign", at=99))
