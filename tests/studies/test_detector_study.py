"""Detectors on many series: the same study anywhere, and no credit for alarms that know nothing."""

import dataclasses

import numpy as np
import pytest
from joblib import parallel_config

from skstream import load
from skstream.drift import ADWIN, DDM, DriftDetector, PageHinkley, RandomAlarm, score_detections
from skstream.drift._score import share_of_rearrangements, share_of_shifts, zones_of
from skstream.streams import Drift
from skstream.studies import detector_study
from skstream.studies._detector_study import DetectorStudy, StudiedDetector
from tests._crafted import crafted

DRIFTS = (1000, (2500, 2600), 3600)


def make_losses(seed):
    rates = np.repeat([0.1, 0.5, 0.1, 0.6], [1000, 1550, 1050, 400])
    return np.random.default_rng(seed).random(4000) < rates


DETECTORS = {
    "ddm": DDM(),
    "ph": (PageHinkley(delta=0.05), "threshold", [10.0, 40.0]),
    "random": RandomAlarm(0.01),
}
STUDY = detector_study(make_losses, DETECTORS, [3, 0, 5], tolerance=200, drifts=DRIFTS)


def same(one, other):
    return (
        one.labels == other.labels
        and (one.seeds, one.drifts, one.n_rows) == (other.seeds, other.drifts, other.n_rows)
        and all(
            np.array_equal(a, b)
            for mine, theirs in zip(one.detectors, other.detectors, strict=True)
            for a, b in zip(mine.alarms, theirs.alarms, strict=True)
        )
    )


def test_every_seed_is_scored_as_if_it_were_alone():
    assert STUDY.labels == ["ddm", "ph, threshold=10", "ph, threshold=40", "random"]
    for label, detector in (("ddm", DDM()), ("ph, threshold=40", PageHinkley(delta=0.05))):
        detector = detector if label == "ddm" else detector.set_params(threshold=40.0)
        alone = [
            score_detections(
                detector.reset().update_many(make_losses(seed)), DRIFTS, tolerance=200, n_rows=4000
            )
            for seed in STUDY.seeds
        ]
        assert repr(alone) == repr(list(STUDY.results(label)))
        for name in ("f1", "recall", "false_alarm_rate"):
            own = [getattr(one.scores, name) for one in alone]
            assert STUDY.scores[label][name] == np.mean(own)
            assert STUDY.deviations[label][name] == np.std(own, ddof=1)
            expected = np.mean([getattr(one.random, name) for one in alone])
            assert STUDY.random[label][name] == expected
    assert STUDY.curve("ph", "true").shape == (2, 3)
    assert STUDY.values("ph") == (10.0, 40.0)
    assert STUDY.values("ddm") == (None,)
    np.testing.assert_array_equal(
        STUDY.curve("ph", "f1", at_random=True).mean(axis=1),
        [STUDY.random[label]["f1"] for label in STUDY.labels[1:3]],
    )


def test_scores_that_some_seeds_lack_are_means_of_the_others():
    delays = STUDY.curve("random", "mean_delay")[0]
    silent = StudiedDetector(name="silent", alarms=(np.array([1001]), *[np.empty(0, int)] * 2))
    study = dataclasses.replace(STUDY, detectors=(silent,))
    assert study.scores["silent"]["mean_delay"] == 1.0
    assert np.isnan(study.deviations["silent"]["mean_delay"])
    assert STUDY.scores["random"]["mean_delay"] == np.nanmean(delays)


def test_the_same_in_workers_saved_and_with_another_tolerance(tmp_path):
    with parallel_config(backend="threading"):  # processes take seconds to start
        parallel = detector_study(
            make_losses, DETECTORS, STUDY.seeds, tolerance=200, drifts=DRIFTS, n_jobs=2
        )
    assert same(parallel, STUDY)
    path = STUDY.save(tmp_path / "study")
    assert path.suffix == ".npz"
    loaded = load(path)
    assert same(loaded, STUDY)
    assert str(loaded) == str(STUDY)
    wide = detector_study(make_losses, DETECTORS, STUDY.seeds, tolerance=900, drifts=DRIFTS)
    assert str(loaded.at_tolerance(900)) == str(wide) != str(STUDY)


@pytest.mark.parametrize("part", ["n_rows", "drifts", "detectors", "seeds"])
def test_a_study_with_a_wrong_header_is_one_error_on_loading(part, tmp_path):
    path = STUDY.save(tmp_path / "study.npz")
    crafted(path, **{part: {"$tuple": ["x"]}})
    with pytest.raises(ValueError, match=r"study\.npz is not a result or a study saved by"):
        load(path)


def test_random_alarms_depend_on_the_seed_and_not_on_the_others():
    alarms = {one.label: one.alarms for one in STUDY.detectors}["random"]
    assert len({tuple(rows) for rows in alarms}) == 3
    alone = detector_study(
        make_losses, {"random": RandomAlarm(0.01)}, [5], tolerance=0, drifts=DRIFTS
    )
    np.testing.assert_array_equal(alone.detectors[0].alarms[0], alarms[2])
    fixed = detector_study(
        make_losses,
        {"random": (RandomAlarm(random_state=1), "probability", [0.01])},
        [0, 1],
        tolerance=0,
        drifts=DRIFTS,
    )
    np.testing.assert_array_equal(*fixed.detectors[0].alarms)


class EveryHundredRows(DriftDetector):
    """The detector that scores well where drifts are dense, and knows nothing."""

    def _start(self):
        raise NotImplementedError

    def update_many(self, values):
        return np.arange(99, len(values), 100)


@pytest.mark.parametrize("distance", [120, 300, 1000])
@pytest.mark.parametrize("tolerance", [10, 99])
@pytest.mark.parametrize("offset", [0, 1, 30])
def test_alarms_at_regular_distances_get_no_credit_over_many_seeds(distance, tolerance, offset):
    drifts = np.arange(distance + offset, 3000, distance)  # the same for all seeds
    study = detector_study(
        lambda seed: np.random.default_rng(seed).random(3000),
        {"regular": EveryHundredRows()},
        range(20),
        tolerance=tolerance,
        drifts=drifts,
    )
    assert not study.above_chance["regular"]
    pvalue = score_detections(
        np.arange(99, 3000, 100), drifts, tolerance=tolerance, n_rows=3000
    ).pvalue
    assert study.pvalues["regular"] == pytest.approx(pvalue)  # 20 seeds tell as much as one


def tried(drifts, alarms, n_rows, steps):
    """Mean F1 of every rearrangement, one by one."""
    return np.array(
        [
            [
                sum(
                    score_detections(
                        np.sort((rows + shift) % n),
                        drifts[(i + step) % len(drifts)],
                        tolerance=4,
                        n_rows=n,
                    ).scores.f1
                    for i, (rows, n) in enumerate(zip(alarms, n_rows, strict=True))
                )
                for shift in range(max(n_rows))
            ]
            for step in steps
        ]
    )


@pytest.mark.parametrize(
    ("n_rows", "same", "steps"),
    [
        ((30, 30, 30), False, (0, 1, 2)),
        ((40, 40, 17), False, (0,)),
        ((40, 40), True, (0,)),
        ((40,), False, (0,)),
        ((9,) * 7, False, (0, 2, 4)),
    ],
)
def test_share_of_rearrangements_is_that_of_every_one_tried(n_rows, same, steps, monkeypatch, rng):
    monkeypatch.setattr("skstream.drift._score._MOST_STEPS", 3)
    starts = [np.sort(rng.choice(n, 3, replace=False)).tolist() for n in n_rows]
    starts = [starts[0]] * len(n_rows) if same else starts
    alarms = [np.sort(rng.choice(n, 2, replace=False)) for n in n_rows]
    zones = [
        zones_of([Drift(row, row) for row in rows], 4, n)
        for rows, n in zip(starts, n_rows, strict=True)
    ]
    f1 = tried(starts, alarms, n_rows, steps)
    share = share_of_rearrangements(zones, alarms)
    assert share == pytest.approx(np.mean(f1 >= f1[0, 0] - 1e-9))
    if len(n_rows) == 1:
        assert share == pytest.approx(share_of_shifts(zones[0], alarms[0]))
    assert share_of_rearrangements(zones, [np.empty(0, dtype=int)] * len(n_rows)) == 1.0


def test_a_detector_that_finds_the_drift_of_every_seed_is_above_chance():
    changes = np.random.default_rng(0).integers(200, 800, 20).tolist()
    for drifts, expected in ((changes, True), ([500] * 20, False)):
        perfect = StudiedDetector(name="perfect", alarms=tuple(np.array([row]) for row in drifts))
        study = DetectorStudy(
            seeds=tuple(range(20)),
            detectors=(perfect,),
            drifts=tuple((Drift(row, row),) for row in drifts),
            n_rows=(1000,) * 20,
            tolerance=99,
        )
        assert study.scores["perfect"]["f1"] == 1.0
        assert study.above_chance["perfect"] is expected  # one series tells no more than a tenth


def test_the_table_says_who_is_above_chance_and_who_raises_more():
    text = str(STUDY)
    assert text.startswith("3 seeds of 4,000 rows and 3 drifts, tolerance 200: mean")
    assert "Not at equal caution: 'ph, threshold=40' raises" in text
    assert STUDY.above_chance["ddm"]
    assert not STUDY.above_chance["random"]
    assert repr(STUDY).startswith("DetectorStudy(3 seeds; ddm: F1 ")
    still = detector_study(make_losses, {"a": DDM(), "b": ADWIN()}, [0], tolerance=9, drifts=())
    assert "no drift" in str(still)
    assert "caution" not in str(still)
    assert still.scores["a"]["false_alarm_rate"] > 0


def test_scores_as_a_frame(pd):
    frame = STUDY.to_frame()
    columns = "detector parameter parameter_value seed score value at_random"
    assert list(frame.columns) == columns.split()
    part = frame[(frame.detector == "ph") & (frame.parameter_value == 40) & (frame.score == "f1")]
    assert part.seed.tolist() == [3, 0, 5]
    np.testing.assert_array_equal(part.value, STUDY.curve("ph", "f1")[1])
    assert len(frame) == 4 * 3 * 10


def test_seeds_that_give_the_same_losses_are_named():
    with pytest.warns(UserWarning, match="same losses for the seeds 4 and 2"):
        detector_study(
            lambda seed: make_losses(seed % 2),
            {"ddm": DDM()},
            [4, 1, 2],
            tolerance=9,
            drifts=DRIFTS,
        )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"make_losses": [0, 1]}, TypeError, "make_losses must be a function.*Got list"),
        ({"detectors": {"ddm": DDM}}, TypeError, r"detectors\['ddm'\] is the class DDM"),
        ({"detectors": DDM()}, TypeError, r"detectors must be a dict.*Got DDM\(\)"),
        ({"detectors": {"x": 3}}, TypeError, r"detectors\['x'\] must be a drift detector.*Got 3"),
        ({"detectors": {}}, TypeError, "at least one. Got {}"),
        ({"detectors": {"p": (PageHinkley(), "lambda", [1])}}, ValueError, "no parameter 'lambda'"),
        ({"detectors": {"p": (PageHinkley(), "delta")}}, ValueError, "must be a detector, or"),
        ({"detectors": {"p": (PageHinkley(), "delta", [])}}, ValueError, "at least one value"),
        ({"seeds": []}, ValueError, "at least one seed"),
        ({"tolerance": -1}, ValueError, "tolerance must be an integer >= 0. Got -1"),
        ({"drifts": None}, ValueError, r"returns \(losses, drifts\), or drifts=.*Got neither"),
        ({"make_losses": lambda s: (make_losses(s), 9)}, ValueError, "Got both"),
        ({"drifts": [5000]}, ValueError, "drifts must lie within the n_rows=4000"),
        ({"make_losses": lambda s: []}, ValueError, "returned no losses"),
        ({"make_losses": lambda s: ([0, 1], [1], 2)}, ValueError, "Got a tuple of 3"),
        (
            {"detectors": {"ddm": (DDM(), "drift_level", [3.0, 4.0, 3.0])}},
            ValueError,
            "same value of drift_level twice: 3.0",
        ),
        ({"make_losses": lambda s: [0.5]}, ValueError, "drifts must lie"),
        ({"make_losses": lambda s: [0.5], "drifts": ()}, ValueError, "DDM reads"),
    ],
)
def test_bad_input_is_named(change, error, message):
    values = {
        "make_losses": make_losses,
        "detectors": {"ddm": DDM()},
        "seeds": [7],
        "tolerance": 5,
        "drifts": DRIFTS,
        **change,
    }
    with pytest.raises(error, match=message):
        detector_study(**values)


def test_an_error_in_a_worker_names_seed_and_detector():
    def fractions(seed):
        return np.full(20, seed / 2)

    with pytest.raises(ValueError, match=r"values\[0\] is 0.5") as caught:
        detector_study(fractions, {"ddm": DDM()}, [0, 1], tolerance=1, drifts=())
    assert caught.value.__notes__ == [
        "This happened with seed 1 of the study, in the detector 'ddm'."
    ]


def test_unknown_names_and_other_files_are_named(tmp_path):
    with pytest.raises(KeyError, match=r"no detector 'dmm'.*Did you mean 'ddm'"):
        STUDY.results("dmm")
    with pytest.raises(KeyError, match="no score 'delay'"):
        STUDY.curve("ddm", "delay")
    with pytest.raises(KeyError, match="no detector 'ph, threshold=10'"):
        STUDY.curve("ph, threshold=10", "f1")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.npz")
    assert isinstance(STUDY, DetectorStudy)


def test_values_that_agree_in_six_digits_have_labels_of_their_own():
    values = (0.05, 0.0500000001, 1.0)
    labels = [StudiedDetector(name="ph", parameter="delta", value=one).label for one in values]
    assert labels == ["ph, delta=0.05", "ph, delta=0.0500000001", "ph, delta=1"]
