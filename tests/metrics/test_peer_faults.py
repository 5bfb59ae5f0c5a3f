"""Faults of other tools that must not happen here, by their numbers in the project's list."""

import numpy as np
import pytest

from skstream.core.measures.resolve import resolve_metrics
from skstream.metrics import geometric_accuracy_score, kappa_m_score, kappa_temporal_score
from tests.metrics._streams import MECHANISMS, make_stream, running, score

NAMES = ["accuracy", "kappa", "kappa_m", "kappa_temporal", "kappa_plus", "f1_macro", "mcc"]
NAMES += ["precision_macro", "recall_macro", "geometric_accuracy", "harmonic_accuracy"]


@pytest.mark.parametrize("labels", [(0, 1), (1, 0), (False, True), ("b", "a"), (7, -7)])
def test_1_the_first_label_is_no_free_hit(labels):
    first, second = labels
    y, p = [first, first, second, second], [second, first, first, second]
    assert kappa_temporal_score(y, p) == 0.0  # one change, one miss beside it


def test_2_the_majority_does_not_know_the_row_it_is_asked():
    # Classes in turn, 1 first: a majority that counts its own row is right 102 times of 103,
    # thanks to the ties, and one that does not is wrong at every row.
    y = np.array([1, 0] * 50 + [1, 1, 0])
    constant = np.zeros(103, dtype=int)
    assert kappa_m_score(y, constant, majority="inclusive") == 1 - 52 / 1
    assert kappa_m_score(y, constant) == pytest.approx(1 - 51 / 101)


def test_3_the_majority_is_a_class_and_not_its_number_of_arrival():
    y, p = np.array([2, 2, 1, 0, 2, 2]), np.array([0, 2, 2, 2, 2, 1])
    # Strictly before rows 2 to 6 the majority is class 2.
    for names in (np.array([0, 1, 2]), np.array(["a", "b", "c"]), np.array([10, 20, 30])):
        assert kappa_m_score(names[y], names[p]) == 1 - 3 / 2
    rising = np.array(["z", "y", "x"])  # the classes in the other order
    assert kappa_m_score(rising[y], rising[p]) == 1 - 3 / 2


def test_4_always_wrong_on_a_constant_stream_is_undefined():
    measures = running("kappa_m", MECHANISMS, np.arange(2))
    measures.update(np.zeros(50, dtype=int), np.ones(50, dtype=int))
    for name, by_metric in measures.curves().values.items():
        assert np.isnan(by_metric["kappa_m"]).all(), name


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_5_weights_weigh_and_do_not_count(mechanism):
    forgetting = {"it": MECHANISMS[mechanism]}
    stream = make_stream(0, 200, weighted=True, gaps=True)
    values = score(stream, NAMES, forgetting).curves().values["it"]
    for metric in ("accuracy", "kappa", "f1_macro"):
        assert np.nanmax(values[metric]) <= 1.0
    heavy = running(NAMES, forgetting, np.arange(2))
    heavy.update([0, 1, 0, 1], [0, 1, 0, 0], [1e3, 1e3, 1e3, 1e3])
    assert heavy.final()["it"]["accuracy"] <= 0.75
    # A row of weight 0 is no past of a baseline, and leaves no window.
    silent = running(NAMES, forgetting, np.arange(2))
    silent.update([0, 1, 1, 0, 1], [0, 0, 0, 0, 0], [1, 0, 0, 1, 1])
    spoken = running(NAMES, forgetting, np.arange(2))
    spoken.update([0, 0, 1], [0, 0, 0])
    np.testing.assert_equal(silent.final(), spoken.final())


def test_6_no_answer_is_no_answer():
    measures = running(["accuracy", "kappa"], "cumulative", np.arange(2))
    measures.update([0, 0, 1, 0], [-1, -1, 1, 1])
    assert measures.final()["cumulative"]["accuracy"] == 0.5
    with pytest.raises(ValueError, match="Unknown measure 'acuracy'"):
        resolve_metrics("acuracy", classes=[0, 1])


def test_7_f1_is_the_mean_of_the_f1_of_the_classes():
    y = np.array([0, 0, 0, 0, 1, 2])
    p = np.array([0, 0, 1, 2, 1, 0])
    measures = running(["f1_macro", "precision_macro", "recall_macro"], "cumulative", np.arange(3))
    measures.update(y, p)
    final = measures.final()["cumulative"]
    assert final["f1_macro"] == pytest.approx((4 / 7 + 2 / 3 + 0) / 3)
    precision, recall = final["precision_macro"], final["recall_macro"]
    assert final["f1_macro"] != pytest.approx(2 * precision * recall / (precision + recall))
    # Windows are of rows, not of answers of one class.
    measures = running("precision:0", "window:2", np.arange(3))
    measures.update([0, 1, 1], [0, 1, 1])
    assert np.isnan(measures.final()["window:2"]["precision:0"])
    # Three classes, a third root.
    y, p = [0, 0, 1, 1, 2, 2], [0, 1, 1, 0, 2, 0]
    assert geometric_accuracy_score(y, p) == pytest.approx(0.5)
    measures = running("gmean", {"all": "cumulative", "last": "window:2"}, np.arange(3))
    measures.update(y, p)
    # Classes that did not come are left out, where others take their recall as 0.
    assert [one["gmean"] for one in measures.final().values()] == pytest.approx([0.5, 0.5])


# 8, window sums that drift: test_running.py, test_a_window_is_formed_afresh_...


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_9_the_beginning_and_the_order_of_arrival(mechanism):
    forgetting = {"it": MECHANISMS[mechanism]}
    measures = running(NAMES, forgetting, np.arange(3))
    measures.update([1], [1])
    assert measures.final()["it"]["accuracy"] == 1.0  # from the first scored row on
    assert measures.final()["it"]["precision_macro"] == 1.0
    y, p = np.array([2, 1, 2, 0, 1, 2]), np.array([2, 2, 1, 0, 1, 0])
    first = score_of(y, p, forgetting)
    renamed = np.array([1, 2, 0])  # the classes arrive in another order
    second = score_of(renamed[y], renamed[p], forgetting)
    for metric in ("precision_macro", "recall_macro", "f1_macro", "mcc", "kappa"):
        np.testing.assert_allclose(first[metric], second[metric], rtol=1e-12, err_msg=metric)


def score_of(y, p, forgetting):
    measures = running(NAMES, forgetting, np.arange(3))
    measures.update(y, p)
    return measures.curves().values["it"]


@pytest.mark.parametrize("weight", [1.0, 0.1, 7.3])
def test_10_a_weighted_row_that_leaves_takes_its_weight_with_it(weight):
    rng = np.random.default_rng(0)
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
    expected = [*range(record_every, 2500, record_every), 2500]
    assert curves.checkpoints.tolist() == expected
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
    p = np.ones_like(y)
    measures = running(NAMES, f"fading:{alpha}", np.arange(2))
    measures.update(y, p)
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
    for mechanism in MECHANISMS:
        for metric in NAMES:
            np.testing.assert_allclose(
                many.values[mechanism][metric],
                few.values[mechanism][metric],
                rtol=1e-12,
                atol=1e-12,
            )
