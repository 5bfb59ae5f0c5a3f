"""The command line on a file of one's own: times, categories and numbers with gaps, late labels."""

import csv
import re
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from skstream import MajorityClass, PrequentialEvaluator, load, make_stream_pipeline
from skstream.cli._from_text import model_of
from skstream.evaluation import DelayedEvaluator
from skstream.preprocessing import make_stream_preprocessor
from skstream.reports._answer import answer
from skstream.streams import CSVStream, make_demo_stream, take_rows
from tests._programs import done, refused

pytest.importorskip("pyarrow", reason="CSV files are read by pyarrow")

N_ROWS = 1200
HEADER = ("ordered", "depot", "vehicle", "km", "kg", "outcome", "outcome_known")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def parcels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parcels: late ones are known within two days, and that others came in time after these."""
    path = tmp_path_factory.mktemp("own") / "parcels.csv"
    rng, time = np.random.default_rng(0), datetime(2025, 1, 1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for _ in range(N_ROWS):
            time += timedelta(seconds=int(rng.integers(60, 3600)))
            vehicle, km = str(rng.choice(["van", "bike", "truck"])), rng.gamma(2, 10)
            late = rng.random() < (0.75 if vehicle == "bike" or km > 25 else 0.25)
            hours = int(rng.integers(1, 48) if late else rng.integers(49, 90))
            writer.writerow(
                (
                    *(time, rng.choice(["north", "south"])),
                    "" if rng.random() < 0.05 else vehicle,
                    "" if rng.random() < 0.05 else f"{km:.1f}",
                    *(f"{rng.gamma(2, 3):.1f}", "late" if late else "ok"),
                    time + timedelta(hours=hours),
                )
            )
    return path


LATE = ("--target", "outcome", "--time", "ordered", "--label-time", "outcome_known", "--bins", 3)


def test_answers_at_arrival_come_before_those_at_the_label(run: Run, parcels: Path) -> None:
    output = done(run(
        "evaluate", parcels, *LATE, "--read", "missing=0", "--model", "nb", "--metric", "accuracy",
        "--compare-with-best", "--save", "saved", "--report", "page.html",
    ))  # fmt: skip
    result = load("saved/result.npz")
    scores = [result.select(bins=bin).scores["nb"]["accuracy"] for bin in (0, 4)]
    assert scores[0] != scores[1]
    blocks = re.findall(r"predictions (.*?):\nmodel.*?\nnb +([\d.]+)", output, re.DOTALL)
    assert blocks == [
        ("at arrival (bin 0)", f"{scores[0]:.4f}"),
        ("just before the label (bin 4)", f"{scores[1]:.4f}"),
    ]
    best = answer(result.select(bins=0))
    below = " ".join(output.split())
    assert best.headline in below
    assert "these are scores in bin 0 (at arrival)" in below
    page = " ".join(re.sub("<.*?>", " ", Path("page.html").read_text()).split())
    assert "feature types category, category, number, number " in page
    assert best.headline in page
    assert page.index("predictions at arrival") < page.index("predictions just before the label")
    with Path("saved/scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    saved = {(row["bin"], row["model"]): float(row["value"]) for row in rows}
    with Path("saved/curve.csv").open(newline="") as file:
        curve = [row for row in csv.DictReader(file) if (row["model"], row["bin"]) == ("nb", "4")]
    assert [int(row["row"]) for row in curve] == result.checkpoints.tolist()
    assert float(curve[-1]["value"]) == scores[1]
    assert len(rows) == 5 * 3
    assert [saved["0", "nb"], saved["4", "nb"]] == scores


def test_one_bin_has_one_table() -> None:
    stream = make_demo_stream(200)
    result = DelayedEvaluator("accuracy", delay=9).evaluate({"m": MajorityClass()}, stream)
    assert str(result.select(bins=3)).count("accuracy") == 1
    assert str(result).count("accuracy") == result._repr_html_().count("accuracy") == 2


def test_ranks_and_tests_of_pairs_are_set_beside_each_other(run: Run, parcels: Path) -> None:
    _, output, _ = run(
        "evaluate", parcels, "--target", "outcome", "--exclude", "ordered", "--exclude",
        "outcome_known", "--read", "missing=0", "--model", "nb", "--folds", 10,
        "--compare-with-best",
    )  # fmt: skip
    words = " ".join(output.split())
    assert "10 folds, bootstrap: each copy is trained on about 63 % of the rows" in words
    assert words.endswith("quote the one that you planned.")


def test_prepared_models_fill_scale_and_encode_the_columns_of_a_file(run, parcels, pd):
    models = [
        "prepared('sgd')",
        "prepared('nb', max_categories=5)",
        "corrected(\"prepared('sgd')\")",
    ]
    done(run(
        "evaluate", parcels, "--target", "outcome", "--time", "ordered", "--exclude",
        "outcome_known", "--metric", "accuracy", "--save", "saved",
        *(word for model in models for word in ("--model", model)),
    ))  # fmt: skip
    result = load("saved/result.npz")
    assert all(result.paths[name] == "kernel" for name in models)
    frame = pd.read_csv(parcels)
    y = frame.pop("outcome")
    X = frame[["depot", "vehicle", "km", "kg"]]
    preprocessor = make_stream_preprocessor(X, sparse_output=False, verbose=False)
    by_hand = make_stream_pipeline(preprocessor, SGDClassifier(loss="log_loss"))
    expected = PrequentialEvaluator("accuracy", random_state=0).evaluate({"sgd": by_hand}, X, y)
    # The order of the columns differs: categories by their code, or as they come.
    accuracy = expected.scores["sgd"]["accuracy"]
    assert result.scores[models[0]]["accuracy"] == pytest.approx(accuracy, abs=0.02)
    status, out = run("verify", "saved")[:2]
    assert status == 0
    assert out.startswith("identical: 5,995 predictions and the curves of 5 models.")


def test_prepared_models_follow_the_kinds_of_the_columns(parcels: Path, pd: Any) -> None:
    stream = CSVStream(parcels, target="outcome", exclude=["outcome_known"])
    assert stream.feature_names == ["ordered", "depot", "vehicle", "km", "kg"]
    preprocessor = model_of("prepared('sgd', max_categories=7)", take_rows(stream, 9))[0]
    (_, _, numbers), (_, encoder, categories) = preprocessor.transformers
    assert (numbers, categories, encoder.max_categories) == ([0, 3, 4], [1, 2], 7)


def test_prepared_models_of_a_generator_and_of_texts(run: Run) -> None:
    done(run("evaluate", "--generator", "SEA(n_rows=300)", "--model", "prepared('nb')"))
    Path("texts.csv").write_text("text,y\n" + "some words,a\nother words,b\n" * 20)
    options = ("--target", "y", "--read", "text=text", "--model", "prepared('sgd')")
    errors = refused(run("evaluate", "texts.csv", *options))
    assert "the rows of this stream are sparse or texts: list the steps yourself" in errors


def test_models_inside_models_need_no_quotes(run: Run, parcels: Path) -> None:
    models = ["corrected(pipeline('scaler', 'sgd'))", "corrected(nb)", "augmented(sgd(alpha=0.1))"]
    output = done(run(
        "evaluate", parcels, "--target", "outcome", "--read", "columns=['kg']",
        "--metric", "accuracy",
        *(word for model in models for word in ("--model", model)),
    ))  # fmt: skip
    assert all(f"\n{model}  " in output for model in models)


def test_a_command_that_fails_leaves_no_folder(run: Run, parcels: Path) -> None:
    for wrong in (["--model", "nosuch"], ["--time", "nosuch"], ["--metric", "nosuch"]):
        assert run("evaluate", parcels, "--target", "outcome", "--save", "a/b", *wrong)[0] == 2
        assert not Path("a").exists()
    Path("file").write_text("")
    errors = refused(run("evaluate", parcels, "--target", "outcome", "--save", "file/folder"))
    assert "--save needs the folder file/folder, but that, or a part of it, is a file." in errors
    errors = run("evaluate", "file", "--target", "y", "--save", "result.npz")[2]
    assert "--save takes a folder, in which it writes result.npz: --save result" in errors


def test_times_that_are_missing_or_go_back_are_refused(run: Run, parcels: Path) -> None:
    header, *lines = parcels.read_text().splitlines()
    command = ("evaluate", "other.csv", "--target", "outcome", "--time", "ordered")
    gap = [*lines[:5], "," + lines[5].partition(",")[2], *lines[6:]]
    back = [*lines[:700], lines[900], *lines[700:]]
    for rows, words in (
        (gap, "--time is missing at row 5: every row needs an arrival time"),
        (back, "--time goes back at row 701, from 2025-"),
    ):
        Path("other.csv").write_text("\n".join([header, *rows]))
        status, _, errors = run(*command)  # the result so far is printed
        assert status == 2 and words in errors
    assert run(*command, "--n-rows", 700)[0] == 0
    assert run(*command, "--holdout", 600)[0] == 0  # held-out rows need no order
    Path("other.csv").write_text("\n".join([header, *lines]))
    assert run(*command, "--folds", 2, "--forgetting", "window:7D")[0] == 0


def test_rows_in_another_order_than_their_times_are_named(run: Run, parcels: Path) -> None:
    header, *lines = parcels.read_text().splitlines()
    Path("other.csv").write_text(
        "\n".join(",".join(one.split(",")[:-1]) for one in [header, *lines[::-1]])
    )
    command = ("evaluate", "other.csv", "--target", "outcome")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        status, other, words = run(*command, "--folds", 2)
    assert status == 0 and words.count("\n") == 1
    assert "warning: The times in column 'ordered' go back at row 1, from 2025-" in words
    assert "sort_by" in words
    status, out, errors = run(*command, "--read", "sort_by=False", "--folds", 2)
    assert (status, out.replace(" ", "")[:40], errors) == (0, other.replace(" ", "")[:40], "")
    assert run(*command, "--read", "sort_by=ordered", "--save", "a")[0] == 0
    assert run(*command, "--read", "sort_by=ordered", "--time", "ordered", "--save", "b")[0] == 0
    Path("sorted.csv").write_text(
        "\n".join(",".join(one.split(",")[:-1]) for one in [header, *lines])
    )
    assert run("evaluate", "sorted.csv", "--target", "outcome", "--save", "c")[0] == 0
    scores = [load(f"{one}/result.npz").scores["persistent"] for one in "abc"]
    assert scores[0] == scores[1] == scores[2]
    assert (
        "sort_by would mix" in run(*command, "--read", "sort_by=ordered", "--holdout", parcels)[2]
    )


def test_times_are_read_as_they_are_written(run: Run, parcels: Path) -> None:
    header, *lines = (line.split(",", 1) for line in parcels.read_text().splitlines())
    command = ("evaluate", "other.csv", "--target", "outcome", "--exclude", "outcome_known")
    command = (*command, "--time", "ordered", "--forgetting", "window:2D")
    times = [datetime.fromisoformat(time) for time, _ in lines]
    for write, how in (
        (lambda one: one.strftime("%d/%m/%Y %H:%M:%S"), "%d/%m/%Y %H:%M:%S"),
        (lambda one: one.strftime("%m/%d/%Y %I:%M:%S %p"), "%m/%d/%Y %I:%M:%S %p"),
        (lambda one: int(one.timestamp()), "s"),
    ):
        rows = [f"{write(time)},{rest}" for time, (_, rest) in zip(times, lines, strict=True)]
        Path("other.csv").write_text("\n".join([",".join(header), *rows]))
        status, _, errors = run(*command)
        assert status == 2 and ("give their format" in errors or "time_format=" in errors)
        assert run(*command, "--read", f"time_format={how}", "--save", "a")[0] == 0
        assert run(*command, "--read", f"time_format={{'ordered': {how!r}}}", "--save", "b")[0] == 0
    kept = load("a/result.npz").scores, load("b/result.npz").scores
    assert kept[0] == kept[1]
    status, _, errors = run(*command, "--read", "time_format=dd/mm/yyyy")
    assert status == 2 and "--read time_format must be" in errors


def test_trees_are_told_which_columns_are_categories(run, tmp_path, rng):
    """They come as codes, whose order means nothing."""
    kinds = rng.choice([*"abcdefgh"], 1500)
    with (tmp_path / "kinds.csv").open("w", newline="") as file:
        rows = zip(kinds, rng.normal(size=1500).round(3), np.isin(kinds, [*"aceg"]), strict=True)
        csv.writer(file).writerows([("kind", "x", "class"), *rows])
    models = [
        "tree",
        "augmented('tree')",
        "skstream.ensemble:OnlineBagging('tree', n_estimators=3)",
    ]
    asked = [part for model in models for part in ("--model", model)]
    output = done(run("evaluate", "kinds.csv", "--target", "class", *asked, "--metric", "accuracy"))
    accuracies = re.findall(r"tree.*? (0\.\d+) ", output)
    assert len(accuracies) == 3 and min(map(float, accuracies)) > 0.95

    stream = CSVStream(tmp_path / "kinds.csv", target="class")
    tree = model_of("tree")
    with pytest.warns(UserWarning, match=r"columns 'kind'.*nominal_features=\[0\]"):
        PrequentialEvaluator("accuracy").evaluate({"t": tree}, stream)
    for silent in (tree.set_params(nominal_features=[0]), SGDClassifier()):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            PrequentialEvaluator("accuracy").evaluate({"t": silent}, stream)


@pytest.mark.parametrize(("n_places", "expected"), [(5, 20), (40, 41), (300, 100)])
def test_prepared_models_know_the_categories_of_the_file(
    n_places, expected, tmp_path: Path
) -> None:
    lines = [f"p{k % n_places},{k % 2}" for k in range(600)]
    (tmp_path / "places.csv").write_text("\n".join(["place,label", *lines]))
    stream = CSVStream(tmp_path / "places.csv", target="label")
    encoder = model_of("prepared('sgd')", stream)[0].transformers[0][1]
    assert encoder.max_categories == expected
