"""Faults of other tools that must not happen here, by their numbers in the project's list.

Of those not here, test_baselines.py catches a first label that is a free hit and a majority that
knows its own row (1, 2), test_running.py and its reference what counts as a row, an answer or a
class (3, 5, 6, 9) and sums that drift (8), and test_batch.py the means over classes (7).
"""

import numpy as np
import pytest

from tests.metrics._streams import MECHANISMS, assert_same_curves, make_stream, running, score

NAMES = ["accuracy", "kappa", "kappa_m", "kappa_temporal", "kappa_plus", "f1_macro", "mcc"]
NAMES += ["precision_macro", "recall_macro", "geometric_accuracy", "harmonic_accuracy"]


@pytest.mark.parametrize("weight", [1.0, 0.1, 7.3])
def test_10_a_weighted_row_that_leaves_takes_its_weight_with_it(weight, rng):
    measures = running(NAMES, "window:5", np.arange(2))
    measures.update(rng.integers(0, 2, 40), rng.integers(0, 2, 40), rng.random(40) * weight)
    fresh = running(NAMES, "window:5", np.arange(2))
    y, p = [0, 1, 1, 0, 1, 1], [-1, 1, 0, 0, 1, 1]
    for each in (measures, fresh):
        each.update(y, p, [1.0] * 6)
    after, alone = measures.final()["window:5"], fresh.final()["window:5"]
    for metric in set(NAMES) - {"kappa_m"}:  # its majority knew the earlier labels
        assert after[metric] == alone[metric], metric


@pytest.mark.parametrize("record_every", [200, 1000, 2500, 5000])
def test_12_the_last_rows_are_a_checkpoint(record_every):
    stream = make_stream(0, 2500, 2)
    curves = score(stream, NAMES, "window:200", record_every).curves()
    assert curves.checkpoints.tolist() == [*range(record_every, 2500, record_every), 2500]
    final = score(stream, NAMES, "window:200", 1).curves().values["window:200"]
    for metric, values in curves.values["window:200"].items():
        assert values[-1] == final[metric][-1]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("answers", ["right", "wrong"])
def test_one_class_alone_is_nan_and_never_infinite(mechanism, answers):
    measures = running(NAMES, {"it": MECHANISMS[mechanism]}, np.arange(3))
    y = np.ones(300, dtype=int)
    measures.update(y, y if answers == "right" else y + 1)
    values = measures.curves().values["it"]
    for metric in NAMES:
        assert not np.isinf(values[metric]).any()
    for metric in ("kappa_m", "kappa_temporal", "kappa_plus"):
        assert np.isnan(values[metric]).all()


@pytest.mark.parametrize("alpha", [0.5, 0.9])
def test_a_baseline_whose_errors_have_faded_is_never_infinite(alpha):
    y = np.r_[0, 1, 0, 1, np.zeros(20_000, dtype=int)]
    measures = running(NAMES, f"fading:{alpha}", np.arange(2))
    measures.update(y, np.ones_like(y))
    values = measures.curves().values[f"fading:{alpha}"]
    for metric in NAMES:
        assert not np.isinf(values[metric]).any()
    assert np.isnan(values["kappa_m"][-1]) and np.isnan(values["kappa_temporal"][-1])


def test_classes_that_never_arrive_do_not_matter():
    stream = make_stream(0, 200, 3, gaps=True)
    few = score(stream, NAMES, MECHANISMS).curves()
    measures = running(NAMES, MECHANISMS, np.arange(9))
    measures.update(stream.y, stream.p)
    many = measures.curves()
    assert_same_curves(few, many, 1e-12)
