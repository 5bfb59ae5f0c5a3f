"""Studies over several streams and seeds: tables, ranks, means of curves, files."""

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning

import skstream as sk
from skstream.core.result.select import mean_of_curves
from skstream.stats import compare_with_best, friedman_nemenyi
from skstream.streams import SEA, STAGGER, Sine, as_stream
from skstream.studies._over_seeds import StreamStudy
from tests.evaluation._models import FailsLater

MODELS = {"majority": sk.MajorityClass(), "persistent": sk.Persistent(), "random": sk.RandomClass()}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 2))
Y = np.where(np.arange(240) // 20 % 2, "a", "b")
EVALUATOR = sk.PrequentialEvaluator(
    ["accuracy", "kappa_temporal"], forgetting="window:40", record_every=20
)


def sea(seed):
    return SEA(240, random_state=seed)


def sine(seed):
    return Sine(240, random_state=seed)


def stagger(seed):
    return STAGGER(240, random_state=seed)


STREAMS = {"SEA": sea, "Sine": sine, "STAGGER": stagger, "file": (X, Y)}


@pytest.fixture(scope="module")
def study():
    return sk.evaluate_over_streams(STREAMS, MODELS, range(3), evaluator=EVALUATOR)


def test_every_stream_is_the_study_over_its_seeds(study):
    for name in ("SEA", "Sine", "STAGGER"):
        alone = sk.evaluate_over_seeds(STREAMS[name], MODELS, range(3), evaluator=EVALUATOR)
        assert study.studies[name].scores == alone.scores
    one = study.studies["file"]  # the rows of all seeds, and the answers of two models, are equal
    assert len(set(one.curve("persistent")[-1])) == 1 < len(set(one.curve("random")[-1]))


@pytest.mark.parametrize("value", ["last", "mean"])
def test_ranks_are_of_one_block_per_stream(study, value):
    table = np.array(
        [
            [
                np.mean(
                    [
                        one.curve(m, "accuracy")[-1, 0]
                        if value == "last"
                        else one.curve(m, "accuracy")[:, 0].mean()
                        for one in of_stream.results
                    ]
                )
                for m in MODELS
            ]
            for of_stream in study.studies.values()
        ]
    )
    expected = friedman_nemenyi(table, list(MODELS))
    ranked = study.rank("accuracy", value=value)
    assert (ranked.n_blocks, ranked.blocks) == (4, "streams")
    np.testing.assert_array_equal(ranked.average_ranks, expected.average_ranks)
    assert ranked.pvalue == expected.pvalue
    assert "over 4 streams" in str(ranked)
    lines = study.table("accuracy", value=value).splitlines()
    averages = next(line for line in lines if line.startswith("average rank"))
    assert [float(cell.strip("()")) for cell in averages.split()[2:]] == pytest.approx(
        expected.average_ranks, abs=0.006
    )
    of_sea = next(line for line in lines if line.startswith("SEA"))
    assert f"{table[0, 0]:.4f} ± " in of_sea and of_sea.endswith("3 seeds")


@pytest.mark.parametrize("metric", ["accuracy", "error"])
def test_the_best_is_told_apart_over_the_streams(metric):
    evaluator = sk.PrequentialEvaluator(metric)
    found = sk.evaluate_over_streams(STREAMS, MODELS, [1, 2], evaluator=evaluator)
    table = [
        [np.mean([one.scores[name][metric] for one in its.results]) for name in MODELS]
        for its in found.studies.values()
    ]
    options = {"higher_is_better": metric == "accuracy", "correction": "none"}
    expected = compare_with_best(table, list(MODELS), **options)
    best = found.compare(correction="none")
    assert (best.best, best.not_told_apart, best.blocks) == (
        expected.best,
        expected.not_told_apart,
        "streams",
    )
    np.testing.assert_array_equal(best.pvalues, expected.pvalues)
    np.testing.assert_array_equal(best.means, expected.means)
    assert found.compare(models=["random", "majority"]).names == ("random", "majority")
    with pytest.raises(ValueError, match="At least two models"):
        found.compare(models="random")
    with pytest.raises(TypeError, match="least"):
        found.compare(least=1)


def test_the_table_is_one_of_latex(study):
    latex = study.to_latex("accuracy", references="random", label="tab:streams").splitlines()
    assert r"\label{tab:streams}" in latex and r"\begin{tabular}{lrrrr}" in latex
    cells = [line.split() for line in study.table("accuracy", references="random").splitlines()]
    for line, row in zip(latex[latex.index(r"\midrule") + 1 :], cells[3:8], strict=False):
        plain = line.removesuffix(r" \\").replace(r"$\pm$", "±").replace(r"\textbf{", "")
        assert plain.replace("}", "").replace("&", " ").split() == row
        ranks = [float(one.strip("()")) for one in row if one.startswith("(")]
        assert line.count(r"\textbf") == ranks.count(min(ranks))
        bold = line.partition(r"\textbf{")[2].partition("}")[0]
        assert bold.endswith(f"({min(ranks):.2f})" if "average" in line else f"({min(ranks):g})")
    caption = next(line for line in latex if line.startswith(r"\caption"))
    assert "Friedman" in caption and "Iman-Davenport" in caption and "not ranked: random" in caption
    with pytest.raises(ValueError, match="label may have only letters"):
        study.to_latex(label="a}b")


def test_losses_are_ranked_from_below_and_references_are_only_shown(study):
    found = sk.evaluate_over_streams(
        STREAMS, MODELS, [1], evaluator=sk.PrequentialEvaluator("error")
    )
    assert list(found.rank().names) == list(MODELS)
    best = np.argmin(
        [np.mean([s.scores[m]["error"] for s in found.studies.values()]) for m in MODELS]
    )
    assert found.rank().average_ranks.argmin() == best
    lines = study.table(references="random").splitlines()
    assert lines[-1] == "not ranked: random"
    assert lines[3].count("(") == 2
    assert "Not ranked by a test: Name at least one" in study.table(references=list(MODELS))


def test_a_mean_of_a_curve_is_not_that_of_its_last_window(study):
    one = study.studies["file"]
    curve = one.curve("persistent", "accuracy")
    column = one.table(value="mean")
    assert f"{curve[np.isfinite(curve).all(axis=1)].mean():.4f}" in column
    assert "means of the curves" in column
    with pytest.raises(KeyError, match="no value 'median'"):
        one.table(value="median")


def test_a_result_has_the_means_of_its_curves(study):
    one = study.studies["SEA"].results[0]
    curves = np.stack([one.curve(name, "kappa_temporal")[:, 0] for name in MODELS])
    both = np.isfinite(curves).all(axis=0)
    expected = dict(zip(MODELS, curves[:, both].mean(axis=1), strict=True))
    found = {name: means["kappa_temporal"] for name, means in one.mean_scores.items()}
    assert found == pytest.approx(expected, rel=1e-12)
    assert found != {name: last["kappa_temporal"] for name, last in one.scores.items()}


def test_a_saved_study_is_the_same(study, tmp_path, pd):
    loaded = sk.load(study.save(tmp_path / "study"))
    assert isinstance(loaded, StreamStudy)
    assert str(loaded) == str(study)
    assert repr(loaded) == repr(study)
    pd.testing.assert_frame_equal(loaded.to_frame(), study.to_frame())
    assert list(study.to_frame().columns[:2]) == ["stream", "model"]


def test_its_picture_is_that_of_the_ranks(study, matplotlib):
    drawn = study.plot("accuracy", value="mean").result
    ranks = dict(zip(drawn.names, drawn.average_ranks, strict=True))
    ranked = study.rank("accuracy", value="mean")
    assert ranks == dict(zip(ranked.names, ranked.average_ranks, strict=True))


@pytest.mark.parametrize(
    ("streams", "seeds", "words"),
    [
        ({}, [0], "Got an empty dict"),
        ([sea], [0], "must be a dict .* Got list"),
        ({"one": sea}, [], "at least one"),
        ({"once": as_stream(iter([(X, Y)]))}, [0, 1], "one-shot iterator"),
    ],
)
def test_bad_input(streams, seeds, words):
    with pytest.raises((ValueError, RuntimeError), match=words):
        sk.evaluate_over_streams(streams, MODELS, seeds, evaluator=EVALUATOR, classes=["a", "b"])


def test_streams_that_are_one_are_not_ranked_over():
    found = sk.evaluate_over_streams({"a": sea, "b": sea}, MODELS, [0, 1], evaluator=EVALUATOR)
    with pytest.raises(ValueError, match="at least two different streams"):
        found.rank()
    assert "Not ranked by a test: Tests over streams need at least two" in str(found)


def test_a_failure_names_its_stream_and_keeps_those_before():
    def fail(seed):
        raise OSError("the disk is away")

    with pytest.raises(OSError, match="away") as caught:
        sk.evaluate_over_streams({"SEA": sea, "gone": fail}, MODELS, evaluator=EVALUATOR)
    assert caught.value.result.stream_names == ["SEA"]
    assert any("stream 'gone'" in note for note in caught.value.__notes__)


def test_a_model_that_failed_has_no_mean_and_is_named():
    evaluator = sk.PrequentialEvaluator(
        "accuracy", forgetting="window:40", record_every=20, error_score=np.nan
    )
    models = {
        "majority": sk.MajorityClass(),
        "fails": FailsLater(100),
        "persistent": sk.Persistent(),
    }
    with pytest.warns(FitFailedWarning, match="failed while training on row 100"):
        found = sk.evaluate_over_streams(STREAMS, models, [1, 2], evaluator=evaluator)
    for value in ("last", "mean"):
        with pytest.raises(ValueError, match="The accuracy of fails with seed 1 of SEA is nan"):
            found.rank(value=value)
        assert found.rank(value=value, models=["majority", "persistent"]).n_blocks == 4
        lines = found.table(value=value).splitlines()
        assert "The accuracy of fails with seed 1 of SEA is nan" in found.table(value=value)
        assert lines[-1].startswith("SEA: fails failed, seed ") or "file: fails failed" in lines[-1]
    assert "nan" in found.studies["SEA"].table(value="mean")


def test_means_of_curves_are_of_the_rows_that_all_models_have():
    curves = np.array([[np.nan, 0.5, 1.0, np.nan], [0.2, 0.4, 0.6, 0.8], [np.nan] * 4])
    ended = np.array([False, False, False])
    np.testing.assert_array_equal(mean_of_curves(curves, ended), [0.75, 0.5, np.nan])
    np.testing.assert_array_equal(
        mean_of_curves(curves, ~ended & [True, False, False])[1:], [0.5, np.nan]
    )


def test_no_ranks_without_a_direction():
    evaluator = sk.PrequentialEvaluator("brier_uncertainty")
    found = sk.evaluate_over_streams(
        STREAMS, {"a": sk.RandomClass(), "b": sk.MajorityClass()}, [1], evaluator=evaluator
    )
    with pytest.raises(ValueError, match="not known whether a higher value"):
        found.rank()
    assert "(1)" not in str(found) and "Not ranked by a test: It is not known" in str(found)
    assert found.rank(higher_is_better=False).n_blocks == 4


def test_a_stream_given_twice_counts_once_in_all_of_the_table():
    found = sk.evaluate_over_streams({**STREAMS, "again": sea}, MODELS, [0, 1], evaluator=EVALUATOR)
    ranked = found.rank()
    text = str(found)
    averages = next(line for line in text.splitlines() if line.startswith("average rank"))
    shown = [float(cell.strip("()")) for cell in averages.split()[2:]]
    assert shown == pytest.approx(ranked.average_ranks, abs=0.006)
    assert ranked.n_blocks == 4
    assert "over 4 streams (of 5 given, identical ones count once)" in " ".join(text.split())
