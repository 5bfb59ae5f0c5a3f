"""Narrower results: everything that works on a result works on them."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import accuracy_score

import skstream as sk
from skstream.core.result.select import tidy_columns
from skstream.plotting import BinnedPerformanceDisplay
from skstream.streams import make_demo_stream
from tests.evaluation._models import FailsLater

FORGETTING = {"all": "cumulative", "recent": "window:50"}
METRICS = ["accuracy", "kappa", "error"]


def models():
    return {"sgd": SGDClassifier(), "last": sk.Persistent(), "majority": sk.MajorityClass()}


@pytest.fixture(scope="module")
def plain():
    evaluator = sk.PrequentialEvaluator(METRICS, forgetting=FORGETTING, random_state=0)
    return evaluator.evaluate(models(), make_demo_stream(300), return_models=True)


@pytest.fixture(scope="module")
def folds():
    evaluator = sk.KFoldEvaluator(METRICS, n_folds=5, forgetting=FORGETTING, random_state=0)
    return evaluator.evaluate(models(), make_demo_stream(300), return_models=True)


@pytest.fixture(scope="module")
def delayed():
    evaluator = sk.DelayedEvaluator(
        METRICS,
        delay=20,
        forgetting=FORGETTING,
        random_state=0,
        run=sk.RunOptions(keep_tape=True),
        polling=sk.Polling(n_bins=3),
    )
    return evaluator.evaluate(models(), make_demo_stream(300))


def lines(result):
    """Rows of the tidy frame, as texts: NaN equals NaN."""
    columns = tidy_columns(result).values()
    return [" ".join(map(str, row)) for row in zip(*columns, strict=True)]


def same(one, other):
    assert lines(one) == lines(other)
    assert (one.folds, one.bins) == (other.folds, other.bins)
    assert one.scores == other.scores


def test_the_first_names_are_the_defaults(plain):
    part = plain.select(models=["last", "sgd"], metrics="error", forgetting="recent")
    assert part.scores == {
        name: {"error": plain.curve(name, "error", forgetting="recent")[-1, 0]}
        for name in ("last", "sgd")
    }
    assert (part.model_names, part.metric_names) == (["last", "sgd"], ["error"])
    assert part.forgetting_names == list(part.details.mechanisms) == ["recent"]
    assert list(part.measures) == ["error"]
    assert list(part.models) == list(part.costs) == list(part.paths) == ["last", "sgd"]
    assert part.details.baselines == ("last",)
    np.testing.assert_array_equal(
        part.curve("last"), plain.curve("last", "error", forgetting="recent")
    )
    assert plain.select(metrics=["kappa", "accuracy"]).metric_names == ["kappa", "accuracy"]


def test_a_mechanism_stands_for_its_name(plain):
    same(plain.select(forgetting=sk.SlidingWindow(50)), plain.select(forgetting="recent"))
    both = plain.select(forgetting=[sk.SlidingWindow(50), "all"])
    assert both.forgetting_names == ["recent", "all"]
    unnamed = plain.rescore("error", forgetting="window:20")
    same(unnamed.select(forgetting=sk.SlidingWindow(20)), unnamed)


def test_folds_keep_their_numbers(folds, tmp_path):
    part = folds.select(models=["sgd", "last"], folds=[3, 1])
    assert part.folds == (3, 1)
    wanted = [
        line
        for line in lines(folds)
        if line.split()[2] in ("1", "3") and not line.startswith("majority")
    ]
    assert sorted(lines(part)) == sorted(wanted)
    assert "mean of the folds 3, 1" in str(part)
    np.testing.assert_array_equal(
        part.predictions("sgd", fold=1, every_row=True),
        folds.predictions("sgd", fold=1, every_row=True),
    )
    np.testing.assert_array_equal(
        part.predictions("sgd", every_row=True), folds.predictions("sgd", fold=3, every_row=True)
    )
    assert part.models["sgd"] == [folds.models["sgd"][k] for k in (3, 1)]
    same(sk.load(part.save(tmp_path / "part")), part)
    same(part.rescore("kappa"), folds.rescore("kappa").select(models=["sgd", "last"], folds=[3, 1]))
    assert part.compare("sgd", "last", test="sign").subject.endswith("over 2 folds")
    with pytest.raises(ValueError, match=r"fold must be one of 3, 1, as an int\. Got 2"):
        part.compare("sgd", "last", test="q", fold=2)


def test_a_single_fold_is_compared_row_by_row(folds):
    part = folds.select(folds=2)
    compared = part.compare("sgd", "last")
    assert str(compared) == str(folds.compare("sgd", "last", fold=2))
    assert "fold 2" in compared.subject
    assert "fold 2" in str(part).splitlines()[0]
    assert part.models["sgd"] is folds.models["sgd"][2]


def test_a_single_model_is_not_ranked(folds, plain):
    for result in (folds, plain):
        with pytest.raises(ValueError, match=r"needs at least two models; .* \['sgd'\]"):
            result.select(models="sgd").rank()


def test_bins_keep_their_numbers(delayed, tmp_path):
    part = delayed.select(bins=[0, 2])
    assert part.bins == (0, 2)
    assert part.n_bins == 3
    for name in delayed.model_names:
        values = delayed.by_bin(name)
        np.testing.assert_array_equal(part.by_bin(name), values[[0, 2]])
        assert part.scores[name]["accuracy"] == values[2]
    assert "bin 2" in str(part).splitlines()[0]
    assert sorted(set(tidy_columns(part)["bin"].tolist())) == [0, 2]
    assert part.summary(weights="first")["sgd"] == delayed.by_bin("sgd")[0]
    with pytest.raises(ValueError, match="have weight 0 under 'last'"):
        part.summary(weights="last")
    same(sk.load(part.save(tmp_path / "part")), part)
    same(part.rescore("kappa"), delayed.rescore("kappa").select(bins=[0, 2]))
    assert str(part.compare("sgd", "last")) == str(delayed.compare("sgd", "last", bin=2))
    with pytest.raises(ValueError, match=r"bin must be one of 0, 2, as an int\. Got 1"):
        part.compare("sgd", "last", bin=1)


def test_selected_bins_are_plotted(delayed, matplotlib):
    display = delayed.select(bins=[2, 0]).plot()
    line = display.lines_["sgd"]
    values = delayed.by_bin("sgd")
    assert line.get_xdata().tolist() == [0, 2]
    np.testing.assert_array_equal(line.get_ydata(), values[[0, 2]])
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["arrival", "2"]
    assert f"at arrival and in bin 2 of 3 after 300 rows; sgd: {values[0]:.4f} to" in repr(display)
    display = delayed.select(bins=0, models="sgd").plot()
    assert isinstance(display, BinnedPerformanceDisplay)
    (line,) = display.lines_.values()
    np.testing.assert_array_equal(line.get_ydata(), delayed.curve("sgd")[:, 0, 0])
    assert f"accuracy at arrival after 300 rows; sgd: {values[0]:.4f}" in repr(display)
    assert "nan" not in repr(display)


@pytest.mark.parametrize("kind", ["bins", "time", "shares"])
def test_bins_left_out_are_not_listed(delayed, kind, matplotlib, pd):
    frame = delayed.select(bins=[1, 2]).plot(kind=kind).to_frame()
    assert sorted(set(frame.bin)) == [1, 2]
    assert not frame.value.isna().all()
    alone = delayed.select(bins=0).plot(kind="bins").to_frame()
    assert set(alone.bin) == {0}
    assert alone.value.tolist() == [delayed.by_bin(name)[0] for name in delayed.model_names]


def test_failures_follow_the_folds(folds):
    failing = sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0, error_score=np.nan)

    with pytest.warns(Warning):
        result = failing.evaluate(
            {"fails": FailsLater(187), "last": sk.Persistent()}, make_demo_stream(300)
        )
    for fold in result.folds:
        part = result.select(folds=fold)
        ended = "fails" in result.failures and result.failed_at["fails"][fold] is not None
        assert ("fails" in part.failures) == ended
        assert part.failed_at == ({"fails": [result.failed_at["fails"][fold]]} if ended else {})


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"models": "no"}, KeyError, "There is no model 'no' in this result; it has"),
        ({"metrics": ["kappa", "mcc"]}, KeyError, "There is no measure 'mcc'"),
        ({"forgetting": "old"}, KeyError, "There is no forgetting 'old'"),
        ({"models": []}, ValueError, "Name at least one model of"),
        ({"folds": 5}, ValueError, "folds must be from 0 to 4, as an int. Got 5"),
        ({"folds": []}, ValueError, "folds must name at least one fold: from 0 to 4"),
        ({"folds": True}, ValueError, "as an int. Got True"),
        ({"folds": [0.0]}, ValueError, "as an int. Got 0.0"),
        ({"bins": 0}, ValueError, "bins= is for results with delayed labels"),
        ({"models": 3}, TypeError, r"models must be a name, .* among \['sgd', 'last',.* Got 3 of"),
        ({"models": ["sgd", 3]}, TypeError, "Got 3 of type int instead"),
        ({"metrics": accuracy_score}, TypeError, r"metrics must .* among \['accuracy', 'kappa'"),
        ({"forgetting": 1}, TypeError, r"forgetting must .* among \['all', 'recent'\]"),
        ({"forgetting": sk.SlidingWindow(9)}, KeyError, "There is no forgetting 'window:9'"),
    ],
)
def test_what_is_not_there_is_named(folds, options, kind, words):
    with pytest.raises(kind, match=words):
        folds.select(**options)


def test_bins_left_out_are_in_no_display_of_numbers_of_bins(delayed, matplotlib, pd):
    other = sk.DelayedEvaluator(
        METRICS, delay=20, forgetting=FORGETTING, polling=sk.Polling(n_bins=5)
    ).evaluate(models(), make_demo_stream(300))
    display = BinnedPerformanceDisplay.from_bin_counts([delayed.select(bins=[1, 3]), other], "sgd")
    frame = display.to_frame()
    assert frame["value"].notna().all()
    shown = {name: part["bin"].tolist() for name, part in frame.groupby("model")}
    assert shown == {"sgd, 3 bins": [1, 3], "sgd, 5 bins": list(range(7))}
    assert "nan" not in repr(display)
