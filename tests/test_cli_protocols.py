"""Late labels, folds, monitors and comparisons on the command line are those of Python."""

import csv
import html
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skstream as sk
from skstream import drift as detectors
from skstream.cli import main
from skstream.cli._from_text import model_of
from skstream.cli._protocols import DETECTORS
from skstream.drift import DDM, PageHinkley
from skstream.drift._detect import each
from skstream.reports._answer import answer
from skstream.streams import CSVStream, make_demo_stream
from tests._programs import done, refused

pytest.importorskip("pyarrow", reason="CSV files are read by pyarrow")

N_ROWS = 400
START = datetime(2024, 1, 1)
NAMES = ("persistent", "majority", "nb")
#: Columns that are no features, whatever else is said of them.
TIMES = ("came", "known", "wait", "row_known")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def csv_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hourly rows whose labels come 1 to 11 hours later, or never."""
    made = make_demo_stream(N_ROWS)
    path = tmp_path_factory.mktemp("streams") / "late.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x0", "x1", "x2", "x3", *TIMES, "label", "number"])
        for i, (row, label) in enumerate(zip(made.X.tolist(), made.y.tolist(), strict=True)):
            wait, came = i * 7 % 11 + 1, START + timedelta(hours=i)
            known = "" if i % 50 == 3 else (came + timedelta(hours=wait)).isoformat(sep=" ")
            times = [came.isoformat(sep=" "), known, wait, i + wait]
            writer.writerow([*map(repr, row), *times, label, row[0] + i % 7 + 0.5])
    return path


@pytest.fixture
def run(run: Run, csv_file: Path) -> Run:
    """Evaluate naive Bayes beside the baselines; gives status, output, errors."""

    def evaluate(*arguments: Any, target: str = "label", model: str = "nb") -> tuple[int, str, str]:
        words = ["evaluate", str(csv_file), "--target", target, "--model", model]
        other = "number" if target == "label" else "label"
        words += ["--exclude", other, "--metric", "accuracy" if target == "label" else "mae"]
        used = {*map(str, arguments)}
        for name in TIMES:  # what a role has is no feature anyway
            words += [] if name in used else ["--exclude", name]
        return run(*words, *arguments)

    return evaluate


def verified(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["verify", "out/result.npz"]) == 0
    return capsys.readouterr().out


def stream_of(path: Path, target: str = "label", **roles: str) -> CSVStream:
    columns = ["x0", "x1", "x2", "x3"]
    return CSVStream(path, target=target, columns=columns, roles=roles or None)


def models() -> dict[str, Any]:
    return {name: model_of(name) for name in NAMES}


def check_same(found: sk.EvaluationResult, expected: sk.EvaluationResult) -> None:
    assert found.model_names == expected.model_names
    np.testing.assert_array_equal(found.checkpoints, expected.checkpoints)
    for model, by_forgetting in expected.values.items():
        for forgetting, curves in by_forgetting.items():
            for metric, curve in curves.items():
                np.testing.assert_array_equal(found.values[model][forgetting][metric], curve)
    assert found.scores == expected.scores
    assert f"{expected.scores['nb'][expected.metric_names[0]]:.4f}" in str(found)


def numbers(path: Path, column: str) -> np.ndarray:
    with path.open(newline="") as file:
        return np.array([float(row[column]) for row in csv.DictReader(file)])


@pytest.mark.parametrize("dated", [True, False])
def test_label_times_of_columns(dated, run, csv_file, capsys):
    roles = {"arrival": "came", "label_time": "known"} if dated else {"label_time": "row_known"}
    options = (
        ["--time", "came", "--label-time", "known"] if dated else ["--label-time", "row_known"]
    )
    output = done(run(*options, "--bins", "4", "--save", "out"))
    assert "Features: numbers x0, x1, x2, x3\n" in output
    expected = sk.DelayedEvaluator(
        "accuracy", random_state=0, polling=sk.Polling(n_bins=4)
    ).evaluate(models(), stream_of(csv_file, **roles))
    found = sk.load("out/result.npz")
    check_same(found, expected)
    np.testing.assert_array_equal(found.by_bin("nb"), expected.by_bin("nb"))
    assert found.waits.n_never == (8 if dated else 0)
    assert verified(capsys).startswith("identical: ")


@pytest.mark.parametrize(
    ("options", "delay", "arrival"),
    [
        (["--delay", "30"], 30, None),
        (["--delay", "5h", "--time", "came"], timedelta(hours=5), "came"),
        (["--delay", "wait"], "wait", None),
        (["--delay", "wait", "--time", "came", "--delay-unit", "30min"], "wait", "came"),
    ],
)
def test_delays_are_those_of_the_evaluator(options, delay, arrival, run, csv_file, capsys):
    output = done(run(*options, "--save", "out"))
    assert "Features: numbers x0, x1, x2, x3\n" in output
    if delay == "wait":
        hours = numbers(csv_file, "wait")
        delay = hours if arrival is None else (hours * 30).astype("timedelta64[m]")
    stream = stream_of(csv_file, **({} if arrival is None else {"arrival": arrival}))
    expected = sk.DelayedEvaluator("accuracy", delay=delay, random_state=0).evaluate(
        models(), stream
    )
    check_same(sk.load("out/result.npz"), expected)
    assert verified(capsys).startswith("identical: ")


def test_a_generator_that_says_when_labels_come_is_evaluated_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    late = "with_delay('SEA(n_rows=300)', delay=20)"
    command = ["evaluate", "--generator", late, "--model", "nb"]
    assert main([*command, "--bins", "3", "--save", "out"]) == 0
    output = capsys.readouterr().out
    assert "delayed evaluation after 300 rows; n_bins=3" in output
    assert "bayes-optimal" not in output  # it takes the rows learnt as the time
    assert verified(capsys).startswith("identical: ")
    for options in (["--folds", "2"], ["--holdout", "next"]):
        assert main([*command, *options]) == 2
        assert f"which {options[0]} ignores" in capsys.readouterr().err
    assert main([*command, "--delay", "2"]) == 2
    assert "already has label times, but --delay sets them too" in capsys.readouterr().err
    assert main(["evaluate", "--generator", "SEA(n_rows=300)", "--delay", "20", "--save", "o"]) == 0
    assert sk.load("o/result.npz").protocol == "delayed"


def test_times_of_rows_let_forgetting_count_time(run: Run, csv_file: Path) -> None:
    done(run("--time", "came", "--forgetting", "window:2D", "--save", "out"))
    expected = sk.PrequentialEvaluator("accuracy", forgetting="window:2D", random_state=0).evaluate(
        models(), stream_of(csv_file, arrival="came")
    )
    found = sk.load("out/result.npz")
    check_same(found, expected)
    np.testing.assert_array_equal(found.times, expected.times)


def test_held_out_rows_may_have_times(run: Run, csv_file: Path) -> None:
    done(run("--time", "came", "--holdout", "100", "--every", "50", "--save", "out"))
    X, y, _ = next(iter(stream_of(csv_file)))
    evaluator = sk.HoldoutEvaluator(
        "accuracy", holdout=(X[300:], y[300:]), every=50, random_state=0
    )
    check_same(sk.load("out/result.npz"), evaluator.evaluate(models(), X[:300], y[:300]))


@pytest.mark.parametrize("strategy", [None, "cross", "split"])
def test_folds_with_deviations_and_ranks(strategy, run, csv_file, capsys):
    options = [] if strategy is None else ["--set", f"strategy={strategy}"]
    output = done(run(
        "--folds", "6", *options, "--forgetting", "cumulative", "--forgetting", "window:50",
        "--save", "out",
    ))  # fmt: skip
    expected = sk.KFoldEvaluator(
        "accuracy",
        n_folds=6,
        strategy=strategy or "bootstrap",
        forgetting=["cumulative", "window:50"],
        random_state=0,
    ).evaluate(models(), stream_of(csv_file))
    check_same(sk.load("out/result.npz"), expected)
    for forgetting in expected.forgetting_names:
        spread = expected.curve("nb", forgetting=forgetting)[-1].std(ddof=1)
        table = output.partition(f"standard deviations over 6 folds ({forgetting}):\n")[2]
        rows = dict(line.split() for line in table.splitlines()[2:5])
        assert rows["nb"] == f"{spread:.4f}"
    assert str(expected.rank()) in output
    assert verified(capsys).startswith("identical: ")


@pytest.mark.parametrize(
    ("options", "evaluator"),
    [
        ([], sk.PrequentialEvaluator("accuracy", random_state=0)),
        (["--folds", "5"], sk.KFoldEvaluator("accuracy", n_folds=5, random_state=0)),
        (["--delay", "9"], sk.DelayedEvaluator("accuracy", delay=9, random_state=0)),
    ],
)
def test_two_models_are_compared(options, evaluator, run, csv_file):
    named = ("--model", "mine=augmented(nb)", "--compare", "augmented('nb')", "majority")
    assert "mine" in done(run(*options, *named)).rpartition("\n\n")[2]
    more = ("--compare", "persistent", "nb", "--report", "page.html")
    output = done(run(*options, "--compare", "nb", "majority", *more))
    expected = evaluator.evaluate(models(), stream_of(csv_file))
    bin = None if expected.bins is None else 0  # the predictions at arrival
    page = " ".join(re.sub("<.*?>", " ", Path("page.html").read_text()).split())
    for pair in (("nb", "majority"), ("persistent", "nb")):
        words = str(expected.compare(*pair, bin=bin))
        assert words in output
        assert " ".join(words.split()) in html.unescape(page)


def test_errors_of_numbers_are_compared_as_rows_become_many(run: Run, csv_file: Path) -> None:
    options = ("--compare", "mean", "lin", "--compare-with-best")
    model = "lin=pipeline('scaler', 'sgd-regressor')"
    output = done(run(*options, target="number", model=model))
    names = {"persistent-regressor", "mean"}
    made = {name: model_of(name) for name in sorted(names, reverse=True)}
    made["lin"] = model_of("pipeline('scaler', 'sgd-regressor')")
    expected = sk.PrequentialEvaluator("mae", random_state=0).evaluate(
        made, stream_of(csv_file, "number")
    )
    assert str(expected.compare("mean", "lin")) in output
    assert_answered(output, expected, "mae")


def assert_answered(output: str, result: sk.EvaluationResult, metric: str) -> None:
    """The sentences are those of the pages that `EvaluationResult.report` writes."""
    found = answer(result.select(metrics=[metric]))
    for sentence in (found.headline, *found.details):
        assert " ".join(sentence.split()) in " ".join(output.split())


@pytest.mark.parametrize(
    ("options", "evaluator"),
    [
        ([], sk.PrequentialEvaluator(["accuracy", "kappa"], random_state=0)),
        (["--folds", "8"], sk.KFoldEvaluator(["accuracy", "kappa"], n_folds=8, random_state=0)),
    ],
)
def test_the_best_model_is_that_of_the_answer(options, evaluator, run, csv_file):
    output = done(run(*options, "--metric", "kappa", "--compare-with-best", "kappa"))
    assert_answered(output, evaluator.evaluate(models(), stream_of(csv_file)), "kappa")


@pytest.mark.parametrize("options", [["--folds", "2"], ["--delay", "9"]])
def test_the_best_possible_answers_are_those_of_one_pass(options, capsys):
    command = ["evaluate", "--generator", "NSGT", "--n-rows", "200"]
    assert main(command) == 0
    assert "bayes-optimal" in capsys.readouterr().out
    assert main([*command, *options]) == 0
    assert "bayes-optimal" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "evaluator"),
    [
        ([], sk.PrequentialEvaluator),
        (["--folds", "3"], lambda *a, **k: sk.KFoldEvaluator(*a, n_folds=3, **k)),
        (["--delay", "9"], lambda *a, **k: sk.DelayedEvaluator(*a, delay=9, **k)),
    ],
)
def test_monitors_find_what_those_of_python_find(options, evaluator, run, csv_file, capsys):
    output = done(
        run(
            *options,
            "--monitor",
            "ddm",
            "--monitor",
            "ph=page-hinkley(threshold=8)",
            "--save",
            "out",
        )
    )
    monitors = {"ddm": sk.DriftMonitor(DDM()), "ph": sk.DriftMonitor(PageHinkley(threshold=8))}
    expected = evaluator("accuracy", random_state=0).evaluate(models(), stream_of(csv_file))
    found = sk.detect(expected, monitors)
    assert_same_alarms(sk.detect(sk.load("out/result.npz"), monitors), found)
    n_alarms = 0
    for wanted in each(found):
        n_alarms += len(wanted.alarms)
        if "--folds" not in options and wanted.model in ("persistent", "majority"):
            assert f"{wanted.monitor} of {wanted.model}: alarm" not in output
        elif "--folds" not in options and len(wanted.alarms):
            rows = ", ".join(map(str, wanted.alarms[:10]))
            unit = "labelled row" if "--delay" in options else "row"
            alarms = "alarm" if len(wanted.alarms) == 1 else "alarms"
            assert f"{wanted.monitor} of {wanted.model}: {alarms} at {unit} {rows}" in output
    assert n_alarms
    if "--folds" in options:
        n = sum(len(one.alarms) for one in found["ddm"]["nb"])
        assert re.search(rf"alarms of ddm, mean per fold: .*nb {n / 3:.1f}\n", output)
    else:
        assert "alarms of ddm: persistent " in output
    assert verified(capsys).startswith("identical: ")


def assert_same_alarms(found: Any, expected: Any) -> None:
    for one, other in zip(each(found), each(expected), strict=True):
        assert (one.monitor, one.model) == (other.monitor, other.model)
        np.testing.assert_array_equal(one.alarms, other.alarms)


@pytest.mark.parametrize("options", [[], ["--folds", "2"], ["--delay", "9"]])
def test_alarms_are_in_the_picture(options, run, monkeypatch, matplotlib):
    drawn = []

    def keep(display: Any, picture: Path) -> None:
        drawn.append(display)

    monkeypatch.setattr("skstream.cli._output.draw", keep)
    assert run(*options, "--monitor", "ddm", "--plot", "p.png")[0] == 0
    (display,) = drawn
    figure = display.figure_
    assert any(ax.get_label() == "detections" for ax in display.ax_.child_axes)
    pytest.importorskip("matplotlib.pyplot").close(figure)


def test_every_detector_has_a_name() -> None:
    of_module = {name for name in detectors.__all__ if hasattr(getattr(detectors, name), "update")}
    assert {kind.__name__ for kind in DETECTORS.values()} == of_module - {"DriftDetector"}
    assert {"adwin", "ddm", "page-hinkley"} <= DETECTORS.keys()


def test_runs_go_on_from_their_folder(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for number, options in enumerate((["--folds", "2"], ["--delay", "9"], ["--monitor", "ddm"])):
        command = (*options, "--checkpoint", f"run{number}", "--save", f"out{number}")
        first, second = run(*command), run(*command)
        assert first[0] == second[0] == 0
        assert first[1].splitlines()[-1] == second[1].splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--folds", "3", "--holdout", "10"], "--holdout predicts held-out rows, and "),
        (["--folds", "3", "--delay", "5"], "and --delay delays labels: leave one of"),
        (["--delay", "5", "--holdout", "9"], "and --delay delays labels: leave one of"),
        (["--folds", "3", "--label-time", "known"], "and --label-time delays labels"),
        (
            ["--delay", "5", "--label-time", "known"],
            "delays labels, and so does --label-time: leave",
        ),
        (["--delay", "5", "--set", "batch_size=2"], "DelayedEvaluator has no such parameter"),
        (["--holdout", "9", "--monitor", "ddm"], "--monitor cannot be combined with --holdout"),
        (["--bins", "3"], "give label times with --label-time COL or --delay DELAY"),
        (["--set", "strategy=cross"], "PrequentialEvaluator has no such parameter"),
        (["--monitor", "adwin", "--set", "keep_tape=False"], "PrequentialEvaluator has no such"),
        (["--delay-unit", "1h"], "--delay-unit sets the unit of delays: add --delay"),
        (["--delay", "5", "--delay-unit", "1h"], "--delay-unit is for a column of numbers"),
        (["--delay", "wait", "--delay-unit", "x"], "--delay-unit x is not a duration, such as 1h"),
        (["--delay", "wait", "--delay-unit", "1h"], "is for a --time column with dates"),
        (["--delay=-5"], "--delay -5 is not at least 0"),
        (["--delay", "nan"], "--delay nan is not at least 0"),
        (
            ["--delay", "wait", "--time", "came"],
            "the unit of delays: --delay-unit 1h",
        ),
        (["--delay", "5", "--time", "came"], "Pass a duration such as 7D"),
        (["--delay", "came"], "The column of --delay has times, not delays"),
        (["--delay", "label"], "so it names the column 'label', which holds categories"),
        (
            ["--delay", "wiat"],
            "nor a duration, such as 7D; so it names the column 'wiat', which is not in",
        ),
        (["--time", "cam"], "--time names the column 'cam', which is not in"),
        (["--label-time", "knwn"], "'came', 'known', 'wait', 'row_known', 'label', 'number'."),
        (["--monitor", "dmd"], "The detector 'dmd' is not known."),
        (["--monitor", "ddm(x=3)"], "DDM takes warning_level"),
        (["--monitor", "ddm", "--monitor", "ddm"], "--monitor ddm was given twice"),
        (["--monitor", "a=ddm", "--monitor", "a=adwin"], "gives two monitors the name 'a'"),
        (["--compare", "nb", "sgd"], "--compare names the model 'sgd', which is not evaluated"),
        (["--compare", "nb", "nb"], "--compare names the model 'nb' twice"),
        (["--model", "p=prepared(nb)", "--compare", "p", "prepared('nb')"], "model 'p' twice"),
        (["--model", "prepared('sgd')", "--compare", "nb", "sgd"], "first: prepared('sgd'), "),
        (["--model", "a=sgd", "--model", "b=sgd", "--compare", "nb", "sgd"], "not evaluated"),
        (["--model", "prepared-sgd"], "Did you mean \"prepared('sgd')\"?"),
        (["--compare-with-best", "mcc"], "--compare-with-best mcc is not among the measures"),
        (
            ["--compare-with-best", "kappa_se", "--metric", "kappa_se"],
            "It is not known whether a h",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], words: str, run: Run) -> None:
    errors = refused(run(*arguments))
    assert words in errors


def test_files_and_generators_without_columns_of_times(tmp_path, capsys):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2\n0 1:3\n" * 10)
    assert main(["evaluate", str(path), "--time", "t"]) == 2
    assert "--time or --label-time is not known for files such as" in capsys.readouterr().err
    command = ["evaluate", "--generator", "SEA(n_rows=200)"]
    assert main([*command, "--time", "t"]) == 2
    assert "--time is for files, but --generator makes the rows" in capsys.readouterr().err
    assert main([*command, "--delay", "t"]) == 2
    assert "a generated stream has no column of delays" in capsys.readouterr().err


def test_a_comparison_that_fails_costs_no_result(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise ValueError("nothing to compare")

    monkeypatch.setattr(sk.EvaluationResult, "compare", fails)
    status, output, errors = run("--compare", "nb", "majority", "--save", "out")
    assert (status, errors) == (2, "skstream: --compare nb majority: nothing to compare\n")
    assert "prequential evaluation" in output
    assert sk.load("out/result.npz").protocol == "prequential"
    # Ranks were not asked for by name.
    monkeypatch.setattr(sk.EvaluationResult, "rank", fails)
    status, output, errors = run("--folds", "2")
    assert (status, errors) == (0, "skstream: ranks over folds: nothing to compare\n")
