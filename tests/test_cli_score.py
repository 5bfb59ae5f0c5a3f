"""``skstream score``."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skstream import load, score_predictions
from skstream.cli import main
from tests._programs import done, refused

Run = Callable[..., tuple[int, str, str]]
LOG = {
    "fraud": ["no", "yes", "no", "yes", "no", "yes"],
    "gbm": ["no", "yes", "no", "no", "no", "yes"],
    "p": [0.1, 0.8, 0.3, 0.4, 0.2, 0.9],
    "not p": [0.9, 0.2, 0.7, 0.6, 0.8, 0.1],
    "time": [f"2025-01-0{day}T12:00" for day in (1, 1, 2, 4, 4, 4)],
    "known": [f"2025-01-0{day}T13:00" for day in (9, 1, 2, 5, 4, 4)],
}


@pytest.fixture
def log(tmp_path: Path, pa: Any, pd: Any) -> Path:
    path = tmp_path / "log.csv"
    rows = zip(*LOG.values(), strict=True)
    path.write_text("\n".join([",".join(LOG), *(",".join(map(str, row)) for row in rows)]))
    return path


@pytest.fixture
def score(run: Run, log: Path) -> Run:
    return partial(run, "score", log, "--target", "fraud")


def test_scores_are_those_of_the_columns(score: Run, tmp_path: Path, matplotlib: Any) -> None:
    out = done(
        score(
            *("--predictions", "boosting=gbm", "--probabilities", "boosting=p"),
            *("--metric", "auc", "--metric", "kappa", "--plot", tmp_path / "plot.png"),
            *("--save", tmp_path / "saved"),
        )
    )
    expected = score_predictions(
        LOG["fraud"],
        {"boosting": LOG["gbm"]},
        probabilities={"boosting": LOG["p"]},
        metrics=["auc", "kappa"],
    )
    assert str(expected) in out
    assert load(tmp_path / "saved" / "result.npz").scores == expected.scores
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_probabilities_are_named_by_class_or_in_order(score: Run) -> None:
    tables = [
        score("--probabilities", f"m={columns}", "--metric", "log_loss")[1]
        for columns in ("p", "not p,p", "yes:p", "no:not p", "no:not p,yes:p")
    ]
    order = "Probabilities are read in this order of the classes: no, yes."
    assert [order in table for table in tables] == [True, True, False, False, False]
    assert len({table.replace(f"{order}\n", "") for table in tables}) == 1 and "m " in tables[0]


@pytest.mark.filterwarnings("always:The probabilities of 'm' are read in")
@pytest.mark.parametrize("labels", [("no", "yes"), ("0", "1"), ("legit", "fraud")])
def test_a_young_log_without_a_fraud_is_scored(labels, tmp_path, capsys, pa):
    first, second = labels
    rows = [f"{first},{first if k else second},{0.9 - k / 50},{0.1 + k / 50}" for k in range(9)]
    path = tmp_path / "young.csv"
    path.write_text("\n".join(["y,said,first,second", *rows, f",{first},0.5,0.5"]))
    loss = -np.log(0.9 - np.arange(9) / 50).mean()

    def run(*arguments: str) -> tuple[int, str, str]:
        given = ["score", str(path), "--target", "y", *arguments, "--metric", "log_loss"]
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        return main([*given, "--save", str(tmp_path / "out")]), *capsys.readouterr()

    in_order = ["--predictions", "m=said", "--probabilities", "m=first,second"]
    for arguments in (
        ["--probabilities", f"m={first}:first,{second}:second"],
        ["--probabilities", f"m={second}:second"],
        ["--predictions", "m=said", "--probabilities", f"m={second}:second"],
        ["--set", f"classes={[first, second]}", "--probabilities", "m=first,second"],
        ["--set", f"classes={[second, first]}", "--probabilities", "m=second,first"],
        ["--set", f"classes={[first, second]}", "--probabilities", "m=second"],
        [*in_order, "--set", f"classes={[first, second]}"],
    ):
        done(run(*arguments))
        result = load(tmp_path / "out" / "result.npz")
        assert result.scores["m"]["log_loss"] == pytest.approx(loss), arguments
        assert list(map(str, result.classes)) == sorted(labels)
    status, _, errors = run("--probabilities", "m=second")
    assert status == 2 and 'or all labels that can occur as --set "classes=..."' in errors
    if sorted(labels) != list(labels):  # predictions know the order of the columns
        status, out, errors = run(*in_order)
        assert status == 0
        assert "in the order ['fraud', 'legit']" in errors
        assert "in this order of the classes: fraud, legit." in out


def test_days_and_views(score: Run, tmp_path: Path) -> None:
    clock = ("--time", "time", "--label-time", "known", "--every", "1D", "--save", tmp_path)
    options = ("--predictions", "gbm", "--metric", "accuracy", "--forgetting", "window:1D", *clock)
    assert score(*options)[0] == 0
    days = load(tmp_path / "result.npz")
    assert np.asarray(days.times).astype("M8[D]").astype(str).tolist() == [
        f"2025-01-0{day}" for day in (1, 2, 3, 4)
    ]
    np.testing.assert_allclose(days.curve("gbm")[:, 0], [1.0, 1.0, np.nan, 2 / 3])
    header, *rows = (tmp_path / "curve.csv").read_text().splitlines()
    assert header == "model,forgetting,fold,row,time,metric,value"
    assert [float(row.split(",")[-1]) for row in rows] == pytest.approx(
        [1.0, 1.0, np.nan, 2 / 3], nan_ok=True
    )
    assert score(*options, "--set", "view=as_known")[0] == 0
    known = load(tmp_path / "result.npz")
    assert known.checkpoints.tolist() == [1, 2, 2, 4, 5, 5, 5, 5, 6]


def test_rows_without_labels_are_estimated(score: Run, log: Path) -> None:
    log.write_text(log.read_text() + "\n,no,0.1,0.9,2025-01-05T12:00,")
    options = ("--probabilities", "m=p", "--time", "time", "--label-time", "known", "--estimate")
    out = done(score(*options))
    assert "m: 1 of 7 rows wait for their labels." in out
    assert "m: it is not known yet which estimate is closest to the truth." in out


def test_groups_are_scored(score: Run) -> None:
    out = done(score("--predictions", "gbm", "--metric", "accuracy", "--slices", "gbm"))
    expected = score_predictions(LOG["fraud"], {"gbm": LOG["gbm"]}, metrics="accuracy")
    assert str(expected) in out
    assert "2 groups of 6 rows: scores of all rows" in out
    assert "The table has no naive baselines, since no model is run." in out
    assert (
        "A naive guess scores 0 in kappa, kappa_m, kappa_temporal"
        in score("--predictions", "gbm")[1]
    )


def test_one_command_scores_groups_and_what_waits(tmp_path, capsys, matplotlib, pd, pa, rng):
    n = 1_000
    y, share = rng.integers(0, 2, n), rng.random(n)
    time = pd.Timestamp("2025-01-01") + pd.to_timedelta(np.arange(n), unit="h")
    known = time + pd.Timedelta("3D")
    frame = pd.DataFrame({"y": y, "p": share, "time": time, "known": known, "g": y})
    frame.loc[frame["known"] > time[-1], "y"] = None
    frame.to_parquet(tmp_path / "log.parquet")
    options = "--target y --probabilities m=p --time time --label-time known --metric accuracy"
    options += " --every 1D --forgetting window:7D --slices g --estimate --plot"
    files = str(tmp_path / "log.parquet"), str(tmp_path / "plot.png")
    assert main(["score", files[0], *options.split(), files[1]]) == 0
    out = capsys.readouterr().out
    assert "scores of the last 7D" in out
    assert "2 groups of 1,000 rows: scores of all rows; to_frame() has those" in out
    assert "rows wait for their labels" in out
    for name in ("plot", "plot-slices", "plot-estimates"):
        assert (tmp_path / f"{name}.png").stat().st_size > 1_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "There is nothing to score"),
        (("--predictions", "xgb"), "--predictions or --probabilities name the column 'xgb'"),
        (("--predictions", "m=gbm", "--predictions", "m=gbm"), "names the model 'm' twice"),
        (("--predictions", "p"), "'p' contains the number 0.1, which is not a class label"),
        (("--probabilities", "p", "--metric", "average_precision"), "'average_precision:yes'"),
        (("--predictions", "gbm", "--metric", "auc"), "Measure 'auc' needs probabilities"),
        (
            ("--predictions", "gbm", "--set", "view=as_known"),
            "view=as_known orders rows by their labels",
        ),
        (
            ("--predictions", "gbm", "--set", "classes=['no', 'maybe']"),
            'can occur as --set "classes=..."',
        ),
        (("--predictions", "gbm", "--forgetting", "window:1D"), "pass --time COL"),
        (("--predictions", "gbm", "--label-time", "known"), "--label-time COL needs --time COL"),
        (("--probabilities", "m=time", "--metric", "accuracy"), "not in [0, 1]"),
        (("--predictions", "gbm", "--estimate"), "There are no probabilities"),
        (("--probabilities", "p", "--estimate"), "The rows waiting for labels are known only"),
        (("--predictions", "gbm", "--forgetting", "window:1M"), "or a duration in"),
    ],
)
def test_mistakes_are_said(score: Run, arguments: tuple[str, ...], message: str) -> None:
    errors = refused(score(*arguments))
    assert message in errors
    assert len(errors.splitlines()) == 1


def test_the_page_has_the_slices(score: Run, tmp_path: Path, matplotlib: Any) -> None:
    page = tmp_path / "page.html"
    out = done(
        score(
            *("--predictions", "gbm", "--metric", "accuracy", "--slices", "gbm", "--report", page)
        )
    )
    assert f"Report: {page}" in out
    text = page.read_text("utf-8")
    assert "<h2>Slice scores</h2>" in text
    assert text.count("<svg") == 2


def test_the_target_names_groups_and_is_no_prediction(score: Run) -> None:
    given = ("--predictions", "gbm", "--metric", "accuracy")
    out = done(score(*given, "--slices", "fraud"))
    assert ["yes", "3", "0.6667"] in [line.split() for line in out.splitlines()]
    errors = refused(score("--predictions", "m=fraud"))
    assert "name the column 'fraud', which is the target: the labels themselves" in errors
    errors = refused(score(*given, "--slices", "fruad"))
    assert "asked for is the column 'fruad', which is not in" in errors


def test_texts_that_stand_for_missing_numbers_are_labels_and_groups(tmp_path, capsys, pa):
    columns = {
        "y": ["EU", "NA", "EU", "NA"] * 5,
        "said": ["EU", "NA", "NA", "EU"] * 5,
        "g": ["NA", "null", "EU", "NA"] * 5,
    }
    pytest.importorskip("pyarrow.csv").write_csv(
        pa.table(columns),
        path := tmp_path / "log.csv",
        pytest.importorskip("pyarrow.csv").WriteOptions(quoting_style="none"),
    )
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path.with_suffix(".pq"))
    words = []
    for file in (path, path.with_suffix(".pq")):
        given = ["--target", "y", "--predictions", "said", "--metric", "accuracy", "--slices", "g"]
        assert main(["score", str(file), *given]) == 0
        words.append(capsys.readouterr().out)
    assert words[0] == words[1]
    assert "without a label" not in words[0]
    given += ["--read", "null_values=['NA']", "--set", "unanswered=skip"]
    assert main(["score", str(path), *given]) == 0
    assert "10 rows without a label" in capsys.readouterr().out
