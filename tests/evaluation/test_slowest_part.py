"""The sentence that names the slowest part, its share of the time, and what would be faster."""

import pytest

from skstream.core.run.run_outcome import Cost
from skstream.reports._slowest_part import faster, slow_part

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
        "would be fast (skstream.kernels)"
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
