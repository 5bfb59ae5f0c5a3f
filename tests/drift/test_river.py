"""How our detectors differ from River's: every row of the table in docs/which_detector.md."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from skstream.core.detector import DRIFT, WARNING
from skstream.drift import ADWIN, DDM, PageHinkley, RandomAlarm
from tests.drift.test_adwin import many_drifts

drift = pytest.importorskip("river.drift")

PAGE = Path(__file__).parents[2] / "docs" / "which_detector.md"
SEEDS = range(3)


def alarms_of(peer, values):
    found = []
    for i, x in enumerate(np.asarray(values, dtype=float).tolist()):
        peer.update(x)
        if peer.drift_detected:
            found.append(i)
    return found


def default_of(kind, name):
    return inspect.signature(kind).parameters[name].default


def test_adwin_least_side_and_what_follows_an_alarm(rng):
    for seed in SEEDS:
        values = many_drifts(40, length=300, seed=seed)
        peer = drift.ADWIN()
        expected = alarms_of(peer, values)
        assert len(expected) > 5
        ours = ADWIN(min_window=5, after_alarm="restart")
        assert ours.update_many(values).tolist() == expected
        assert ours.width == peer.width
        assert ADWIN(min_window=5).update_many(values).tolist() != expected
        assert ADWIN(after_alarm="restart").update_many(values).tolist() == expected
    # The least side matters where delta is large.
    values = np.repeat(rng.uniform(0, 30, 15), 20) + rng.normal(0, 0.05, 300)
    params = {"clock": 1, "delta": 0.9}
    expected = alarms_of(drift.ADWIN(**params), values)
    params["after_alarm"] = "restart"
    assert ADWIN(min_window=5, **params).update_many(values).tolist() == expected
    assert ADWIN(**params).update_many(values).tolist() != expected
    assert default_of(drift.ADWIN, "min_window_length") == 5
    assert default_of(ADWIN, "min_window") == 7


def test_adwin_restarts_at_the_value_after_the_alarm():
    values = np.repeat([0.0, 1.0], 320)
    peer, ours = drift.ADWIN(), ADWIN(min_window=5, after_alarm="restart")
    alarm = ours.update_many(values)[0]
    assert alarms_of(peer, values[: alarm + 1]) == [alarm]
    assert peer.width > 1
    peer.update(1.0)
    assert peer.width == 1


def test_adwin_variance():
    values = np.random.default_rng(0).random(100)
    peer, ours = drift.ADWIN(), ADWIN()
    alarms_of(peer, values)
    ours.update_many(values)
    assert ours.variance == pytest.approx(values.var())
    assert peer.variance == pytest.approx(100 * values.var())


def test_adwin_number_of_detections():
    values = np.repeat([0.0, 1.0, 0.0, 1.0], 320)
    peer, ours = drift.ADWIN(), ADWIN(min_window=5, after_alarm="restart")
    assert len(alarms_of(peer, values)) == ours.update_many(values).size == 3
    assert (peer.n_detections, ours.n_detections) == (0, 3)


def test_adwin_parameters():
    peers = set(inspect.signature(drift.ADWIN).parameters)
    assert {"max_buckets", "grace_period"} <= peers
    assert not {"bound", "direction"} & peers
    assert default_of(drift.ADWIN, "max_buckets") == 5
    assert default_of(drift.ADWIN, "grace_period") == 10


@pytest.mark.parametrize("kind", ["ADWIN", "PageHinkley"])
def test_not_a_number(kind):
    ours, peer = {"ADWIN": ADWIN, "PageHinkley": PageHinkley}[kind](), getattr(drift, kind)()
    with pytest.raises(ValueError, match="Got nan"):
        ours.update(np.nan)
    values = np.repeat([0.0, 9.0], 320)
    assert ours.update_many(values).size
    peer.update(np.nan)
    assert alarms_of(peer, values) == []


@pytest.mark.parametrize("direction", ["up", "down", "both"])
def test_page_hinkley_fading(direction):
    params = {"threshold": 20.003, "delta": 0.05}
    for seed in SEEDS:
        values = many_drifts(12, seed=seed)
        ours = PageHinkley(**params, direction=direction).update_many(values).tolist()
        peer = drift.PageHinkley(**params, mode=direction, min_instances=1, alpha=1.0)
        assert alarms_of(peer, values) == ours != []
    less_than_delta = np.repeat([0.0, 0.004], 20_000)  # the sum rises because it forgets
    params = {"threshold": 10.0, "delta": 0.005}
    assert PageHinkley(**params).update_many(less_than_delta).size == 0
    assert alarms_of(drift.PageHinkley(**params, mode="up"), less_than_delta)
    assert default_of(drift.PageHinkley, "alpha") == 0.9999


def test_page_hinkley_at_its_threshold():
    peer = drift.PageHinkley(threshold=0.5, delta=0.0, min_instances=1, alpha=1.0)
    assert PageHinkley(0.5, delta=0.0).update_many([0.0, 1.0]).tolist() == [1]
    assert alarms_of(peer, [0.0, 1.0]) == []


def test_page_hinkley_first_values():
    values = np.repeat([0.0, 100.0], [5, 50])
    peer = drift.PageHinkley(threshold=50.1, alpha=1.0, mode="up", delta=0.1)
    assert alarms_of(peer, values)[0] == 29
    assert PageHinkley(50.1).update_many(values)[0] == 5
    assert PageHinkley(1.0).update_many([0.0, 9.0]).tolist() == [1]


def test_page_hinkley_defaults():
    names = {"threshold": "threshold", "delta": "delta", "mode": "direction"}
    defaults = {
        name: (default_of(drift.PageHinkley, name), default_of(PageHinkley, ours))
        for name, ours in names.items()
    }
    expected = {"threshold": (50.0, 100.0), "delta": (0.005, 0.1), "mode": ("both", "up")}
    assert defaults == expected


def test_ddm_first_values():
    values = np.repeat([0.0, 1.0], [30, 60])
    assert DDM().update_many(values)[0] == 30
    later = np.repeat([0.0, 1.0], [31, 60])
    assert alarms_of(drift.binary.DDM(), values)[0] > 30
    assert alarms_of(drift.binary.DDM(), later)[0] == 31
    assert alarms_of(drift.binary.DDM(warm_start=29), values)[0] == 30


def test_ddm_levels():
    for seed in SEEDS:
        values = many_drifts(12, seed=seed)
        peer, levels = drift.binary.DDM(warm_start=29), []
        for x in values.tolist():
            peer.update(x)
            levels.append(DRIFT if peer.drift_detected else WARNING * peer.warning_detected)
        assert DDM().update_levels(values).tolist() == levels
        assert {WARNING, DRIFT} <= set(levels)


def test_ddm_comparison_is_strict():
    for value in (0.0, 1.0):
        assert alarms_of(drift.binary.DDM(), np.full(100, value)) == []
        assert DDM().update_many(np.full(100, value)).size == 0


def test_ddm_other_values():
    with pytest.raises(ValueError, match="DDM reads 0/1 losses"):
        DDM().update(0.5)
    peer = drift.binary.DDM()
    peer.update(0.5)
    with pytest.raises(ValueError, match="math domain error"):
        peer.update(9.0)


def test_random_alarm_distances():
    peer = drift.DummyDriftDetector(trigger_method="random", t_0=100, w=50, seed=0)
    theirs = np.diff(alarms_of(peer, np.zeros(20_000)))
    ours = np.diff(RandomAlarm(0.01, random_state=0).update_many(np.zeros(20_000)))
    assert theirs.max() <= 125
    assert theirs.std() < 0.3 * theirs.mean()
    assert 0.8 < ours.std() / ours.mean() < 1.2


TESTED = {
    "ADWIN: smallest part on either side of a cut": test_adwin_least_side_and_what_follows_an_alarm,
    "ADWIN: after an alarm": test_adwin_restarts_at_the_value_after_the_alarm,
    "ADWIN: `variance`": test_adwin_variance,
    "ADWIN: `n_detections`": test_adwin_number_of_detections,
    "ADWIN: options": test_adwin_parameters,
    "all: NaN values": test_not_a_number,
    "PageHinkley: older deviations": test_page_hinkley_fading,
    "PageHinkley: alarm when the rise": test_page_hinkley_at_its_threshold,
    "PageHinkley: no alarm before": test_page_hinkley_first_values,
    "PageHinkley: defaults": test_page_hinkley_defaults,
    "DDM: first minimum rate at value": test_ddm_first_values,
    "DDM: first alarm at value": test_ddm_first_values,
    "DDM: warning and alarm": test_ddm_levels,
    "DDM: exactly at a level": test_ddm_comparison_is_strict,
    "DDM: values other than 0 and 1": test_ddm_other_values,
    "RandomAlarm: gaps between alarms": test_random_alarm_distances,
}


def test_every_row_of_the_table_is_tested():
    section = PAGE.read_text(encoding="utf-8").partition("## Compared with other libraries")[2]
    section = section.partition("\n## ")[0]
    rows = re.findall(r"^\| (?![\s|-])(.+?) \|", section, flags=re.MULTILINE)
    assert sorted(rows) == sorted(TESTED)
