import csv
import gzip
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skstream import RunOptions, __version__, load
from skstream.cli import _commands as cli
from skstream.cli import _protocols
from skstream.cli._from_text import MODELS, make_model, model_of
from skstream.cli._output import one_line_warnings
from skstream.core.measures.registry import MEANINGS, OF_CLASS
from skstream.evaluation import (
    EvaluationInterrupted,
    EvaluationResult,
    HoldoutEvaluator,
    PrequentialEvaluator,
)
from skstream.streams import CSVStream, StreamError, make_demo_stream
from tests._examples import newest_alone
from tests._programs import PROJECT, done, refused

N_ROWS = 600
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def stream() -> tuple[np.ndarray, np.ndarray]:
    made = make_demo_stream(N_ROWS)
    return made.X, made.y


@pytest.fixture(scope="module")
def csv_file(stream: tuple[np.ndarray, np.ndarray], tmp_path_factory: Any, pa: Any) -> Path:
    path = tmp_path_factory.mktemp("streams") / "stream.csv"
    X, y = stream
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{j}" for j in range(X.shape[1])), "label"])
        writer.writerows([*map(repr, row), label] for row, label in zip(X.tolist(), y, strict=True))
    return path


@pytest.fixture(scope="module")
def parquet_file(csv_file: Path) -> Path:
    path = csv_file.with_suffix(".parquet")
    table = pytest.importorskip("pyarrow.csv").read_csv(csv_file)
    pytest.importorskip("pyarrow.parquet").write_table(table, path)
    return path


def table_of(output: str) -> dict[str, list[str]]:
    """Lines of the printed table by their first word."""
    return {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.split()}


def saved_scores(folder: Path) -> dict[tuple[str, str, str], float]:
    with (folder / "scores.csv").open(newline="") as file:
        return {
            (row["forgetting"], row["model"], row["metric"]): float(row["value"])
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize("kind", ["csv_file", "parquet_file"])
def test_evaluate_is_the_evaluator_on_the_file(kind, run, stream, request, tmp_path):
    path = request.getfixturevalue(kind)
    folder = tmp_path / "new" / "folder"
    output = done(run(
        "evaluate", path, "--target", "label", "--model", "sgd(alpha=0.01)", "--save", folder,
        "--forgetting", "cumulative", "--forgetting", "window:100",
        "--metric", "accuracy", "--metric", "kappa_temporal",
    ))  # fmt: skip
    models = {name: model_of(name) for name in ("persistent", "majority", "sgd(alpha=0.01)")}
    expected = PrequentialEvaluator(
        ["accuracy", "kappa_temporal"], forgetting=["cumulative", "window:100"], random_state=0
    ).evaluate(models, *stream)
    scores = saved_scores(folder)
    for forgetting in expected.forgetting_names:
        for model, values in expected.select(forgetting=forgetting).scores.items():
            for metric, value in values.items():
                assert scores.pop((forgetting, model, metric)) == value
    assert not scores
    assert load(folder / "result.npz").scores == expected.scores
    table = table_of(output)
    assert {"persistent", "majority", "sgd(alpha=0.01)"} <= table.keys()
    assert str(folder / "result.npz") in output


def test_options_reach_the_evaluator(run, csv_file, monkeypatch):
    seen: dict[str, Any] = {}

    class Evaluator(PrequentialEvaluator):
        def evaluate(self, *arguments: Any, **keywords: Any) -> Any:
            seen.update(self.get_params(deep=False))
            raise ValueError("seen enough")

    monkeypatch.setitem(_protocols._EVALUATORS, "prequential", Evaluator)
    status, _, errors = run(
        "evaluate", csv_file, "--target", "label", "--set", "batch_size=7", "--set", "n_warmup=5",
        "--n-jobs", "2", "--set", "random_state=3", "--progress", "--forgetting", "adwin",
        "--set", "unanswered=wrong", "--set", "missing_labels=skip",
        "--metric", "kappa", "--checkpoint", "run",
    )  # fmt: skip
    assert (status, errors) == (2, "skstream: error: seen enough\n")
    wanted = {
        "batch_size": 7, "n_warmup": 5, "n_jobs": 2, "random_state": 3, "progress": True,
        "forgetting": ["adwin"], "metrics": ["kappa"], "unanswered": "wrong",
        "missing_labels": "skip", "run": RunOptions(Path("run")),
    }  # fmt: skip
    assert {name: seen[name] for name in wanted} == wanted


def test_the_same_command_goes_on_from_its_folder(run: Run, csv_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = ("evaluate", csv_file, "--target", "label", "--model", "sgd", "--n-rows", 200)
    first = run(*command, "--checkpoint", folder)
    written = (folder / "1-of-1.checkpoint").stat().st_mtime_ns
    again = run(*command, "--checkpoint", folder)
    assert first == again
    assert (folder / "1-of-1.checkpoint").stat().st_mtime_ns == written
    error = refused(run(*command, "--checkpoint", folder, "--set", "n_warmup=7"))
    assert "belongs to another evaluation: the parameter n_warmup is 7 and was 1" in error
    error = refused(run(*command, "--checkpoint", csv_file))
    assert "is a file: pass a folder" in error


def test_the_picture_shows_one_measure_and_is_closed(run, csv_file, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = pyplot.get_fignums()
    drawn = []
    plot = EvaluationResult.plot
    monkeypatch.setattr(
        EvaluationResult, "plot", lambda *args, **kw: drawn.append(plot(*args, **kw)) or drawn[-1]
    )
    command = ["evaluate", csv_file, "--target", "label", "--plot", "p.png"]
    command += ["--metric", "kappa", "--metric", "accuracy"]
    output = done(run(*command))
    assert "Picture: p.png" in output
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    assert [one.metric for one in drawn] == ["kappa"]
    assert pyplot.get_fignums() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.csv", "--target", "label"], "There is no file or folder"),
        (["s3://id:secret@bucket/no.csv", "--target", "label"], "A URI contains a password"),
        (["", "--target", "label"], "path of a file or folder is empty"),
        ([__file__, "--target", "label"], "neither a Parquet file nor a CSV file nor an"),
        (["{csv}", "--target", "lable"], "lable"),
        (["{csv}", "--target", "label", "--model", "sdg"], "Did you mean 'sgd'"),
        (["{csv}", "--target", "label", "--forgetting", "windw:9"], "Did you mean 'window:9'"),
        (["{csv}", "--target", "label", "--metric", "acuracy"], "accuracy"),
        (
            ["{csv}", "--target", "label", "--model", "sklearn.svm:SVC(C=2)"],
            "cannot learn from a stream: it has no partial_fit. Write refit(",
        ),
        (
            ["{csv}", "--target", "label", "--model", "augmented('sgd(alpha=-1)')"],
            "'alpha' parameter of SGDClassifier",
        ),
        (
            ["{csv}", "--target", "label", "--model", "sgd", "--model", "sgd-regressor"],
            "regressors",
        ),
    ],
)
def test_errors_are_one_line_without_a_traceback(arguments, message, run, csv_file):
    errors = refused(run("evaluate", *(a.format(csv=csv_file) for a in arguments)))
    assert errors.startswith("skstream: error: ")
    assert message in errors
    assert "Traceback" not in errors


def test_traceback_on_request(run: Run) -> None:
    with pytest.raises(FileNotFoundError):
        run("--traceback", "evaluate", "no.csv", "--target", "label")


@pytest.mark.parametrize(
    "arguments",
    [[], ["evaluate", "a.csv", "--target", "y", "--set", "n_warmup"], ["score", "log.csv"]],
)
def test_wrong_usage_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert "usage: skstream" in capsys.readouterr().err


def test_interruption_before_the_first_row_is_one_sentence(run, csv_file, monkeypatch):
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "open_stream", interrupted)
    status, output, errors = run("evaluate", csv_file, "--target", "label")
    assert (status, output) == (130, "")
    assert errors.startswith("skstream: interrupted")
    assert errors.count("\n") == 1


@pytest.mark.filterwarnings("default:Undefined")
def test_warnings_are_one_line(run: Run, tmp_path: Path, pa: Any) -> None:
    path = tmp_path / "constant.csv"
    path.write_text("x,label\n" + "0,b\n1,a\n2,a\n3,a\n4,a\n")
    options = ["--metric", "kappa_temporal", "--forgetting", "window:2"]
    status, _, errors = run("evaluate", path, "--target", "label", *options)
    assert status == 0
    assert errors.startswith("skstream: warning: Undefined")
    assert ".py" not in errors


def test_a_repeated_warning_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    with one_line_warnings():
        warnings.simplefilter("always")
        for text in ("again", "again", "other", "again"):
            warnings.warn(text, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "skstream: warning: again\nskstream: warning: other\n"


def test_every_short_name_makes_an_estimator() -> None:
    whole = {
        "pipeline": "pipeline('sgd')",
        "prepared": "prepared('sgd')",
        "fixed": "fixed('hgb', rows=10)",
        "refit": "refit('rf', every=10)",
    }
    to_refit = {name for name in MODELS if name.startswith(("hgb", "rf", "lgbm"))}
    for name in set(MODELS) - to_refit:
        assert hasattr(make_model(whole.get(name, name), MODELS), "partial_fit"), name
    for name in to_refit - {"lgbm", "lgbm-regressor"}:
        assert not hasattr(make_model(name, MODELS), "partial_fit"), name
        with pytest.raises(ValueError, match=rf"Write refit\('{name}', every=1000\) for one that"):
            model_of(name)
    fixed, refit = model_of("fixed('hgb', rows=10)"), model_of("refit('rf', every=10, window=50)")
    assert (fixed.every, fixed.min_rows, refit.every, refit.window) == (None, 10, 10, 50)
    with pytest.raises(TypeError, match="StandardScaler has no predict"):
        model_of("refit('scaler', every=10)")


def test_demo_without_a_file_is_generated_and_says_so(run, monkeypatch, matplotlib):
    monkeypatch.setenv("COLUMNS", "80")
    output = done(run("demo", "--out", "out"))
    assert output.startswith("Stream: generated, 20,000 rows with temporal dependence and a drift")
    assert {"persistent", "majority", "nb", "sgd", "scaled-sgd", "tree"} <= table_of(output).keys()
    assert "The labels depend on their past" in output
    shown = re.search(r"^model  .*?^```", (PROJECT / "README.md").read_text("utf-8"), re.M | re.S)
    assert shown is not None and shown[0].removesuffix("```") in output
    assert max(map(len, output.splitlines())) <= 80
    assert output.rstrip().splitlines()[-1].startswith("Picture: ")
    assert Path("out", "demo.png").read_bytes().startswith(b"\x89PNG")


def test_help_answers_what_a_newcomer_asks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        cli.main(["evaluate", "--help"])
    output = capsys.readouterr().out
    assert output.startswith("usage: skstream evaluate")
    for name in (*MODELS, "kappa_temporal", "persistent_skill", "window:1000", "examples:"):
        assert name in output
    words_of_help = " ".join(output.split())
    for name, words in MEANINGS.items():
        assert f" {name} {words} " in words_of_help or name in OF_CLASS


def test_versions(run: Run) -> None:
    output = done(run("versions"))
    assert f"skstream: {__version__}" in output


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"skstream {__version__}\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.fixture
def here(tmp_path: Path, pa: Any) -> Path:
    return tmp_path


ROWS = "x,day,class\n" + "".join(f"{i % 7},{'ab'[i % 2]},{'ud'[i % 3 > 0]}\n" for i in range(40))


def test_several_files_are_read_in_order_and_the_order_is_said(run: Run, here: Path) -> None:
    for number in (10, 2, 1):
        write(here / f"part.{number}.csv", ROWS)
    order = "Stream: 3 files in this order: part.1.csv, part.2.csv, part.10.csv"
    assert order in run("evaluate", ".", "--target", "class")[1]
    given = run("evaluate", "part.2.csv", "part.1.csv", "--target", "class")[1]
    assert "Stream: 2 files in this order: part.2.csv, part.1.csv" in given
    assert "80 rows" in given


def test_files_may_be_uris(run: Run, here: Path) -> None:
    (here / "a folder").mkdir()
    write(here / "a folder" / "day 1.tsv", "x\tlabel\n1\tup\n2\tdown\n3\tup\n")
    held_out = write(here / "held out.tsv", "x\tlabel\n1\tup\n2\tdown\n3\tup\n")
    folder, target = (here / "a folder").as_uri(), ("--target", "label")
    out = done(run("evaluate", folder, *target))
    assert "Stream: day%201.tsv" in out
    out = done(run("evaluate", folder, *target, "--holdout", held_out.as_uri()))
    assert f"Holdout: {held_out.as_uri()}" in out
    err = refused(run("evaluate", f"{here.as_uri()}/day#1.tsv", *target))
    assert "Write %23, or" in err


def test_how_to_read_a_csv_file_can_be_said(run: Run, here: Path) -> None:
    text = "".join(f"{i % 7},5;{i % 3};-;{i % 2}\n" for i in range(40))
    write(here / "rows.txt", text)
    output = done(run(
        "evaluate", "rows.txt", "--target", "f3", "--read", "header=False",
        "--read", "delimiter=;", "--read", "decimal=,", "--read", "nominal=['f1']",
        "--read", "null_values=['-']", "--exclude", "f2", "--model", "scaled-sgd",
        "--metric", "accuracy",
    ))  # fmt: skip
    assert "Features: numbers f0; categories f1" in output
    write(here / "rows.tsv", ROWS.replace(",", "\t"))
    assert run("evaluate", "rows.tsv", "--target", "class", "--read", "columns=['x']")[0] == 0


MANY = "x,class\n" + "".join(f"{i},{i * 7}\n" for i in range(1001))


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            ROWS.replace(",", ";"),
            [],
            "'x;day;class'. Describe the format with, for example, --read",
        ),
        ("class\na\nb\n", [], "has no column besides the target 'class'"),
        ("x,class\n1,a\n2,a\n", [], "has only one label, 'a'"),
        (MANY, [], "has 1,001 different values, each of which would be a label"),
        (ROWS, ["--read", "delimitr=;"], "--read delimitr is not known for files"),
        (
            ROWS,
            ["--set", "n_warmpu=5"],
            "has no such parameter, or the command has its own option for it.",
        ),
        (ROWS, ["--set", "forgetting=adwin"], "Valid are: batch_size, "),
    ],
)
def test_what_a_file_or_an_option_has_wrong_is_said(text, arguments, message, run, here):
    write(here / "rows.csv", text)
    errors = refused(
        run("evaluate", "rows.csv", "--target", "class", "--model", "scaled-sgd", *arguments)
    )
    (line,) = errors.splitlines()
    assert message in line


def test_what_the_errors_recommend_works(run: Run, here: Path) -> None:
    write(here / "rows.csv", ROWS.replace("4,a,d", ",a,", 1).replace("5,b", ",b"))
    done(run(
        "evaluate", "rows.csv", "--target", "class", "--model", "scaled-sgd",
        "--read", "missing=0", "--set", "missing_labels=skip",
    ))  # fmt: skip


def test_pictures_are_checked_before_the_run(run, csv_file, tmp_path, monkeypatch, matplotlib):
    monkeypatch.setattr(cli, "_evaluated", lambda *_: pytest.fail("it began to evaluate"))
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "folder.png").mkdir()
    for arguments, message in [
        (["--plot", "picture"], "--plot picture must be a file with one of the endings"),
        (["--plot", "picture.xyz"], ".png, "),
        (["--plot", tmp_path / "folder.png"], "is a folder; name a file in it"),
        (["--plot", tmp_path / "taken" / "p.png"], "--plot needs the folder"),
        (["--save", tmp_path / "taken"], "--save needs the folder"),
    ]:
        errors = refused(run("evaluate", csv_file, "--target", "label", *arguments))
        assert message in errors


def test_a_read_only_folder_is_found_before_the_run(run, csv_file, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(cli, "_evaluated", lambda *_: pytest.fail("it began to evaluate"))
    monkeypatch.setattr("skstream.cli._output.os.access", lambda path, mode: path != tmp_path)
    for option, name in [("--plot", "p.png"), ("--report", "r.html"), ("--save", "saved")]:
        command = ("evaluate", csv_file, "--target", "label", option, tmp_path / name)
        errors = refused(run(*command))
        assert "is read-only" in errors


OUTPUTS = ["--save", "saved", "--plot", "p.png", "--report", "r.html"]


@pytest.mark.filterwarnings("default:Undefined")
@pytest.mark.parametrize("failing", ["save", "plot", "report", "rank"])
def test_what_fails_after_the_run_costs_nothing_else(failing, run, csv_file, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")

    def ends(*_: Any, **__: Any) -> Any:
        raise RecursionError("too deep") if failing == "rank" else OSError("the disk is full")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(EvaluationResult, failing, ends)
    command = ["evaluate", csv_file, "--target", "label", "--folds", "2", *OUTPUTS]
    status, output, errors = run(*command)
    assert status == 2
    assert table_of(output)
    assert f"skstream: error: {'too deep' if failing == 'rank' else 'the disk is full'}" in errors
    for what, words in (("save", "Result: "), ("plot", "Picture: "), ("report", "Report: ")):
        pictures = failing == "plot" and what == "report"  # a page has the same pictures
        assert (words in output) == (what != failing and not pictures)


def test_an_error_at_the_end_of_a_run_leaves_the_table(run, csv_file, monkeypatch):
    from skstream.core.evaluators.evaluator import StreamEvaluator

    def ends(self: Any, *given: Any) -> Any:
        error = OSError("No space left on device")
        error.result = evaluate(self, *given)  # type: ignore[attr-defined]
        raise error

    evaluate = StreamEvaluator.evaluate
    monkeypatch.setattr(StreamEvaluator, "evaluate", ends)
    status, output, errors = run("evaluate", csv_file, "--target", "label")
    assert status == 2
    assert table_of(output)
    assert "this is the result so far" in errors and "No space left on device" in errors


def test_a_target_of_fractions_is_regression(run: Run, csv_file: Path) -> None:
    output = done(run("evaluate", csv_file, "--target", "x0", "--exclude", "label"))
    assert {"persistent-regressor", "mean"} <= table_of(output).keys()
    assert "Target: x0 (numbers)" in output
    errors = refused(run("evaluate", csv_file, "--target", "x0", "--model", "sgd"))
    assert "numbers with fractions, which need a regressor, but sgd is a classifier" in errors


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--n-rows", "many", "'many' is not a whole number of at least 1"),
        ("--n-rows", "-5", "'-5' is not a whole number of at least 1"),
        ("--set", "5=n_warmup", "'5=n_warmup' is not NAME=VALUE, such as n_warmup=100"),
    ],
)
def test_bad_numbers_are_refused_in_words(option, value, message, capsys):
    with pytest.raises(SystemExit):
        cli.main(["evaluate", "a.csv", "--target", "y", f"{option}={value}"])
    errors = capsys.readouterr().err
    assert f"argument {option}: {message}" in errors


@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (EvaluationInterrupted(None), 130, ["interrupted; this is the result so far"]),
        (
            StreamError("rows.csv cannot be read on; see exclude=.", 50, "rows.csv"),
            2,
            [
                "stopped by an error; this is the result so far",
                "error: rows.csv cannot be read on; see --exclude COL.",
            ],
        ),
    ],
    ids=["Ctrl-C", "a failure"],
)
def test_the_result_so_far(error, expected, words, run, csv_file, stream, monkeypatch, tmp_path):
    X, y = stream

    class Evaluator(PrequentialEvaluator):
        def evaluate(self, models: Any, *_: Any, **__: Any) -> Any:
            error.result = super().evaluate(models, X[:50], y[:50])
            raise error

    monkeypatch.setitem(_protocols._EVALUATORS, "prequential", Evaluator)
    status, output, errors = run("evaluate", csv_file, "--target", "label", "--save", tmp_path)
    assert status == expected
    assert errors.splitlines() == [f"skstream: {line}" for line in words]
    assert "50 rows" in output
    assert ("cumulative", "persistent", "accuracy") in saved_scores(tmp_path)


@newest_alone
def test_the_module_is_the_program_and_a_reader_may_stop_reading(
    csv_file: Path,
) -> None:
    command = [sys.executable, "-m", "skstream", "evaluate", str(csv_file), "--target", "label"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None and program.stderr is not None
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 2


@pytest.mark.parametrize("way", ["rows", "file", "next"])
def test_held_out_rows_are_asked_at_checkpoints(way, run, csv_file, here):
    lines = csv_file.read_text().splitlines()
    lines = [f"kind,{lines[0]}", *(f"{'ab'[k % 2]},{line}" for k, line in enumerate(lines[1:]))]
    lines[1:300] = [line.replace("b,", "c,", 1) for line in lines[1:300]]
    whole = write(here / "whole.csv", "\n".join(lines))
    train = write(here / "train.csv", "\n".join(lines[:501]))
    write(here / "held.csv", "\n".join([lines[0], *lines[501:]]))
    stream = CSVStream(whole, "label")
    X, y, _ = next(iter(stream))
    files, holdout, given = {
        "rows": (whole, "100", (X[500:], y[500:])),
        "file": (train, "held.csv", (X[500:], y[500:])),
        "next": (train, "next", "next"),
    }[way]
    output = done(run(
        "evaluate", files, "--target", "label", "--model", "sgd", "--metric", "kappa",
        "--holdout", holdout, "--every", "200", "--save", here,
    ))  # fmt: skip
    found = load(here / "result.npz")
    models = {name: model_of(name) for name in ("persistent", "majority", "sgd")}
    evaluator = HoldoutEvaluator("kappa", holdout=given, every=200, random_state=0)
    expected = evaluator.evaluate(models, X[:500], y[:500])
    np.testing.assert_array_equal(found.checkpoints, expected.checkpoints)
    np.testing.assert_array_equal(found.curve("sgd"), expected.curve("sgd"))
    assert f"Stream: {files.name}\nHoldout: " in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--every", "5"], "add --holdout"),
        (["--holdout", "none.csv"], "--holdout none.csv: there is no such file"),
        (["--holdout", "empty.csv"], "--holdout empty.csv has no rows"),
        (["--holdout", "600"], "--holdout 600 leaves none of the 600 rows for training"),
        (["--holdout", "50", "--n-rows", "50"], "leaves none of the 50 rows for training"),
        (["--holdout", "{file}"], "is a file of the stream itself"),
        (["--holdout", "next", "--forgetting", "adwin"], "--forgetting cannot be combined with"),
        (["--holdout", "next", "--set", "n_folds=2"], "HoldoutEvaluator has no such parameter"),
    ],
)
def test_wrong_options_of_holdout_are_named(arguments, words, run, csv_file, here):
    write(here / "empty.csv", csv_file.read_text().splitlines()[0] + "\n")
    given = [argument.format(file=csv_file) for argument in arguments]
    errors = refused(run("evaluate", csv_file, "--target", "label", *given))
    assert words in errors


def test_without_a_warmup_the_baselines_are_asked(run: Run, csv_file: Path) -> None:
    given = ("evaluate", csv_file, "--target", "label", "--set", "n_warmup=0")
    status, output, _ = run(*given)
    assert status == 0 and f"after {N_ROWS} rows; n_warmup=0" in output
    status, _, errors = run(*given, "--model", "sgd")
    assert status == 2 and "n_warmup=0 needs a prediction for the first row" in errors


def test_a_replaced_result_is_said(run: Run, csv_file: Path, tmp_path: Path) -> None:
    given = ("evaluate", csv_file, "--target", "label", "--n-rows", 50, "--save", tmp_path)
    _, first, errors = run(*given)
    assert "replaced" not in errors
    _, second, errors = run(*given)
    assert errors == (
        f"skstream: replaced an earlier result in {tmp_path}: result.npz, scores.csv, curve.csv\n"
    )
    assert second.count("\n") == first.count("\n")


def test_a_saved_result_is_written_as_a_page(run: Run, csv_file: Path, matplotlib: Any) -> None:
    command = ["evaluate", csv_file, "--target", "label", "--metric", "accuracy"]
    out = done(run(*command, "--save", "out", "--report", "at_once.html"))
    assert out.endswith("Report: at_once.html\n")
    pages = {"at once": Path("at_once.html").read_text("utf-8")}
    assert "No model has a" in pages["at once"] or "only naive baselines" in pages["at once"]
    for given in ("out/result.npz", "out"):
        assert run("report", given) == (0, "Report: report.html\n", "")
        pages[given] = Path("report.html").read_text("utf-8")
        status, _, error = run("report", given)  # a page that was not named is not replaced
        assert (status, error.count("report.html already exists")) == (2, 1)
        assert run("report", given, "--out", "report.html")[0] == 0
        Path("report.html").unlink()
        assert pages[given] == pages["at once"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "nothing.npz"], "nothing.npz"),
        (["report", "nothing.npz", "--out", "no/page.html"], "needs the folder no"),
        (["report", "nothing.npz", "--out", "."], "is a folder; name a file in it"),
        (["demo", "--report", "x.html"], "unrecognized arguments"),
    ],
)
def test_what_cannot_be_written_as_a_page_is_said(run, arguments, words, capsys):
    try:
        status, _, error = run(*arguments)
    except SystemExit as ended:
        status, error = ended.code, capsys.readouterr().err
    assert status == 2
    assert words in error


ARFF = "@attribute x real\n@attribute d {a,b}\n@attribute label {u,v}\n@data\n"


def test_arff_and_svmlight_files_give_what_csv_files_give(run: Run, pa: Any) -> None:
    rows = [(k % 7 / 4, "ab"[k % 2], "uv"[k * k % 5 > 1]) for k in range(60)]
    lines = "".join(f"{x},{d},{y}\n" for x, d, y in rows)
    Path("rows.csv").write_text("x,d,label\n" + lines)
    Path("rows.arff").write_text(ARFF + lines)
    coded = [f"{int(y == 'v')} 1:{x} 2:{int(d == 'b')}\n" for x, d, y in rows]
    Path("rows.svm.gz").write_bytes(gzip.compress("".join(coded).encode()))
    options = ("--model", "sgd", "--metric", "accuracy", "--holdout", "10", "--every", "20")
    tables = []
    for file in ("rows.csv", "rows.arff"):
        output = done(run("evaluate", file, "--target", "label", *options))
        tables.append([line.split()[:2] for line in output.partition("\n\n")[2].splitlines()])
    output = done(run("evaluate", "rows.svm.gz", *options))
    assert "Features: 2 numbers (sparse)\nTarget: first on each line (labels 0.0, 1.0)" in output
    tables.append([line.split()[:2] for line in output.partition("\n\n")[2].splitlines()])
    assert tables[0] == tables[1] == tables[2]


def test_a_saved_result_is_verified_by_its_own_command(run: Run, csv_file: Path) -> None:
    options = ["--target", "label", "--model", "sgd", "--model", "slow=sgd(alpha=0.1)"]
    assert run("evaluate", csv_file, *options, "--save", "out")[0] == 0
    out = done(run("verify", "out/result.npz"))
    assert out.startswith(
        f"identical: {4 * (N_ROWS - 1):,} predictions and the curves of 4 models."
    )
    changed = Path("changed.csv")
    header, *lines = csv_file.read_text().splitlines()
    lines[10], lines[11] = lines[11], lines[10]
    changed.write_text("\n".join([header, *lines]))
    status, out, _ = run("verify", "out/result.npz", "--data", changed)
    assert status == 1
    assert out.startswith("different: ")
    assert "other data: features is " in out
    status, out, _ = run("verify", "out/result.npz", "--model", "slow=sgd(alpha=0.2)")
    assert status == 1
    assert "another model 'slow': alpha is 0.2 and was 0.1" in out


def test_a_result_of_python_is_verified_with_its_models(run: Run, csv_file: Path) -> None:
    models = {"sgd": model_of("sgd")}
    result = PrequentialEvaluator("accuracy").evaluate(models, CSVStream(csv_file, target="label"))
    path = result.save("result.npz")
    err = refused(run("verify", path))
    assert "add --data FILE, --target COL, and --model NAME=MODEL" in err
    out = done(run("verify", path, "--data", csv_file, "--target", "label", "--model", "sgd"))
    assert out.startswith(f"identical: {N_ROWS - 1} predictions and the curves of 1 model.")


def test_models_of_modules_are_not_run_because_a_file_names_them(run: Run, csv_file: Path) -> None:
    model = "sklearn.linear_model:Perceptron()"
    made = run("evaluate", csv_file, "--target", "label", "--model", model, "--save", "out")
    assert made[0] == 0
    err = refused(run("verify", "out/result.npz"))
    assert f"--model '{model}'" in err
    assert run("verify", "out/result.npz", "--model", model)[0] == 0


@pytest.mark.parametrize("row", [0, 50])
def test_a_model_that_cannot_read_gaps_is_told_how(row, run, csv_file, here):
    lines = csv_file.read_text().splitlines()
    lines[row + 1] = "," + lines[row + 1].partition(",")[2]
    write(here / "gaps.csv", "\n".join(lines) + "\n")
    given = ("evaluate", "gaps.csv", "--target", "label")
    for model, wrapped, *folds in (("nb", "nb", "--folds", "2"), ("mine=nb", "sgd")):
        status, _, errors = run(*given, "--model", model, *folds)
        assert status == 2
        assert "ranks" not in errors  # of folds in which a model failed there are none
        assert errors.endswith(
            f"NaN. To fill gaps first, wrap the model: --model \"prepared('{wrapped}')\".\n"
        )
    assert done(run(*given, "--model", "prepared('sgd')"))
