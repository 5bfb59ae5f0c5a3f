"""Generated streams on the command line."""

import re
from pathlib import Path

import numpy as np
import pytest

from skstream import HoldoutEvaluator, Persistent, PrequentialEvaluator, load
from skstream.cli import main
from skstream.cli._from_text import COMPOSITIONS, GENERATORS, make_stream
from skstream.optimal import BayesOptimal
from skstream.streams import SEA, join_streams, load_testbed, take_rows


def evaluated(folder: Path, *arguments: str):
    assert main(["evaluate", *arguments, "--metric", "accuracy", "--save", str(folder)]) == 0
    return load(folder / "result.npz")


def scores(stream) -> float:
    return PrequentialEvaluator("accuracy").evaluate(Persistent(), stream).scores["Persistent"]


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("NSGT", load_testbed("NSGT")),
        ("NSGT(n_rows=400, speed=2.0)", load_testbed("NSGT", n_rows=400, speed=2.0)),
        ("SEA(n_rows=500, noise=.2)", SEA(500, noise=0.2)),
        (
            "join_streams('SEA(n_rows=500)', 'SEA(n_rows=300, random_state=1)', "
            "position=200, width=10)",
            join_streams(SEA(500), SEA(300, random_state=1), 200, 10),
        ),
    ],
)
def test_a_generator_is_that_of_the_library(text, stream, tmp_path, capsys):
    result = evaluated(tmp_path, "--generator", text)
    assert result.scores["persistent"] == scores(stream)
    assert result.drifts == stream.drifts
    output = capsys.readouterr().out
    assert f"Stream: {text}\n" in output
    assert "Drifts: row" in output
    assert f"after {stream.n_rows:,} rows" in output


@pytest.mark.filterwarnings("default")
def test_measures_of_probabilities_from_the_shell(tmp_path, capsys):
    arguments = ["evaluate", "--generator", "SEA(n_rows=300)", "--model", "sgd(loss='hinge')"]
    for name in ("log_loss", "auc", "brier_skill"):
        arguments += ["--metric", name]
    assert main([*arguments, "--set", "error_score=raise"]) == 2
    error = capsys.readouterr().err
    assert "has no predict_proba, which log_loss and brier_skill need" in error
    assert "scored by auc." in error
    assert main([*arguments, "--save", str(tmp_path)]) == 0
    assert "brier_skill need. It can be scored by auc. These scores" in capsys.readouterr().err
    result = load(tmp_path / "result.npz").scores
    assert result["majority"]["auc"] == pytest.approx(0.5, abs=0.1)
    assert np.isfinite([*result["persistent"].values()]).all()
    svm = result["sgd(loss='hinge')"]
    assert np.isnan(svm["log_loss"]) and svm["auc"] > 0.6


def test_rows_and_holdout_of_a_generator(tmp_path, capsys):
    text = "SEA(n_rows=None, thresholds=[8])"
    stream = take_rows(SEA(None, thresholds=[8]), 300)
    assert evaluated(tmp_path, "--generator", text, "--n-rows", "300").scores == {
        "persistent": scores(stream),
        "majority": evaluated(tmp_path, "--generator", text, "--n-rows", "300").scores["majority"],
    }
    assert "Drifts: none known" in capsys.readouterr().out
    arguments = ("--generator", text, "--n-rows", "300", "--every", "50")
    held = SEA(None, thresholds=[8]).rows(260, 300)
    for given, holdout in (("40", held), ("next", "next")):
        result = evaluated(tmp_path, *arguments, "--holdout", given)
        learnt = take_rows(stream, 260) if given == "40" else stream
        evaluator = HoldoutEvaluator("accuracy", holdout=holdout, every=50)
        expected = evaluator.evaluate(Persistent(), learnt).curve("Persistent")
        np.testing.assert_array_equal(result.curve("persistent"), expected)


def test_the_best_possible_answers_stand_beside_models_where_they_are_known(tmp_path):
    arguments = ("--generator", "NSGT", "--n-rows", "500")
    best = evaluated(tmp_path, *arguments).scores["bayes-optimal"]["accuracy"]
    stream = load_testbed("NSGT")
    evaluator = PrequentialEvaluator("accuracy")
    expected = evaluator.evaluate({"best": BayesOptimal(stream)}, take_rows(stream, 500)).scores
    assert best == expected["best"]["accuracy"] > 0.9
    for others in (("--set", "batch_size=2"), ("--holdout", "next", "--every", "50")):
        assert "bayes-optimal" not in evaluated(tmp_path, *arguments, *others).scores
    skipped = evaluated(tmp_path, "--generator", "drop_rows('NSGT', n=9000)").scores
    assert list(skipped) == ["persistent", "majority"]


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_has_a_name(name):
    text = f"{name}(n_rows=20)" if make_stream(name).n_rows is not None else name
    assert len(next(iter(make_stream(text)))[1]) == 20


def test_every_composition_has_a_name():
    needs = {
        "take_rows": "n=5",
        "drop_rows": "n=5",
        "join_streams": "position=5",
        "recurring": "length=5",
    }
    needs |= {"with_delay": "delay=5", "with_label_noise": "share=.1"}
    needs |= {"with_imbalance": "shares={0: .5, 1: .5}"}
    for name in COMPOSITIONS:
        two = (
            "'SEA', 'SEA(random_state=1)'"
            if name in ("concat", "join_streams", "recurring")
            else "'SEA'"
        )
        assert next(iter(make_stream(f"{name}({two}, {needs.get(name, '')})")))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Pass a FILE to read, or a stream to generate: --generator NSGT"),
        (["rows.csv", "--generator", "NSGT"], "FILE is for files, but --generator makes"),
        (["--generator", "NSGT", "--target", "y"], "--target is for files"),
        (["--generator", "NSGT", "--read", "header=False"], "--read is for files"),
        (["--generator", "NSGX"], "generator 'NSGX' is not known. Did you mean 'NS"),
        (["--generator", "os:remove(path='x')"], "os:remove .* is not a generator class"),
        (["--generator", "SEA(n_row=5)"], "wrong parameters: .* SEA takes n_rows, .*thresholds"),
        (["--generator", "NSGT(name='NSGR')"], "wrong parameters: .* NSGT takes random_state"),
        (["--generator", "SEA(noise=open('x'))"], "not a literal.* nothing is evaluated as code"),
        (["--generator", "SEA(500)"], r"quoted generator needs no name .*'SEA'\).*name=500"),
        (["--generator", "take_rows('SEA', 20)"], "argument 20.*name=20"),
        (["--generator", "concat('SEA', 20)"], "argument 20.*name=20"),
        (["--generator", "SEA(noise=7)"], "noise must be a number from 0 to 1"),
        (["--generator", "SEA("], r"cannot be read.* SEA\(n_rows=50000, noise=0.2\)"),
        (["--generator", "SEA(n_rows=None, thresholds=[8])"], "never ends. .* --n-rows N"),
        (["--generator", "SEA", "--holdout", "10000"], "leaves none of the 10,000 rows"),
        (["--generator", "SEA", "--holdout", "no.csv"], "--holdout no.csv: there is no such"),
    ],
)
def test_bad_input(arguments, words, capsys):
    assert main(["evaluate", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""

    assert re.search(f"(?s){words}", output.err), output.err
