"""The sentence that names the slowest part, its share of the time, and what would be faster."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream import PrequentialEvaluator
from skstream.evaluation._parallel import _slowest_part
from skstream.evaluation._parallel._slowest_part import faster, slow_part
from skstream.evaluation._runs._cost import Cost

MIXED = "kernel; MLP by loop: MLP has no kernel; Imputer by loop: Imputer with a=1 has no kernel"


def test_the_slowest_looped_part_is_named() -> None:
    costs = {
        "mlp": Cost(
            seconds_asking=30.0,
            seconds_learning=62.0,
            seconds_in_kernel=4.0,
            seconds_of_parts={"MLP": 90.0, "Imputer": 2.0},
        ),
        "sgd": Cost(seconds_in_kernel=4.0),
    }
    (line,) = slow_part(costs, {"mlp": MIXED, "sgd": "kernel"})
    assert line == (
        "MLP in mlp, called row by row, took 90 % of the time: a step or model that has a kernel "
        "would be fast (skstream.engine.kernels)"
    )
    path = "loop: SGD with average=True has no kernel"
    (line,) = slow_part({"sgd": Cost(seconds_learning=9.0, seconds_asking=1.0)}, {"sgd": path})
    assert line.endswith("took 100 % of the time: SGD without average=True would be fast")
    (line,) = slow_part({"sgd": Cost(seconds_learning=10.0)}, {"sgd": path}, batch_size=1000)
    assert line.startswith("sgd, called once for every batch of 1,000 rows, took 100 % of the time")


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ('Scaler with set_output(transform="pandas") has no kernel', "Scaler without set_output(t"),
        ("F with a function other than a ufunc of NumPy has no kernel", "one that calls a"),
        ("rows with NaN or infinity have no kernel", "rows without missing"),
        ("", ""),
    ],
)
def test_advice(reason: str, advice: str) -> None:
    assert faster(reason).startswith(advice)


def test_what_will_be_slow_is_said_before_the_first_row(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.zeros((3000, 1)), np.arange(3000) % 2
    models = {"slow": SGDClassifier(average=True), "fast": SGDClassifier()}
    # Only the forecast is of interest: the evaluation ends with the warning.
    monkeypatch.setattr(_slowest_part, "SECONDS_WORTH_A_WARNING", 0.0)
    with pytest.raises(
        UserWarning,
        match=r"'slow' is called row by row, since SGDClassifier with "
        r"average=True has no kernel: 3,000 rows .* \(SGDClassifier without average",
    ):
        PrequentialEvaluator("accuracy").evaluate(models, X, y)
    monkeypatch.undo()
    seconds = {"a": (0.02, "reason")}
    with pytest.warns(UserWarning, match="30,000 rows will take about 20 min"):
        _slowest_part.warn_of_slow_models(seconds, 30_000, n_folds=2)
    with pytest.warns(UserWarning, match="'a' is called once for every batch of 50 rows"):
        _slowest_part.warn_of_slow_models(seconds, 30_000, 2, batch_size=50)
    _slowest_part.warn_of_slow_models(seconds, 1000, n_folds=2)  # 40 seconds are no news
