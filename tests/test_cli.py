import csv
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skstream import __version__, cli
from skstream.evaluation import EvaluationInterrupted, PrequentialEvaluator, load_result
from skstream.streams import as_stream, make_demo_stream
from tests._data import data_path

N_ROWS = 600
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in an empty folder; gives the status, the output and the errors."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*arguments: Any) -> tuple[int, str, str]:
        status = cli.main([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def stream() -> tuple[np.ndarray, np.ndarray]:
    made = make_demo_stream(N_ROWS)
    return made.X, made.y


@pytest.fixture(scope="module")
def csv_file(stream: tuple[np.ndarray, np.ndarray], tmp_path_factory: Any) -> Path:
    pytest.importorskip("pyarrow", reason="CSV files are read by pyarrow")
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
def test_evaluate_is_the_evaluator_on_the_file(
    kind: str, run: Run, stream: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = request.getfixturevalue(kind)
    folder = tmp_path / "new" / "folder"
    status, output, errors = run(
        "evaluate", path, "--target", "label", "--model", "sgd(alpha=0.01)", "--save", folder,
        "--forgetting", "cumulative", "--forgetting", "window:100",
        "--metric", "accuracy", "--metric", "kappa_temporal",
    )  # fmt: skip
    assert (status, errors) == (0, "")
    models = {name: cli._model(name) for name in ("persistent", "majority", "sgd(alpha=0.01)")}
    expected = PrequentialEvaluator(
        ["accuracy", "kappa_temporal"], forgetting=["cumulative", "window:100"], random_state=0
    ).evaluate(models, *stream)
    scores = saved_scores(folder)
    for forgetting in expected.forgetting_names:
        for model, values in expected.final_scores(forgetting).items():
            for metric, value in values.items():
                assert scores.pop((forgetting, model, metric)) == value
    assert not scores
    assert load_result(folder / "result.npz").scores == expected.scores
    table = table_of(output)
    assert {"persistent", "majority", "sgd(alpha=0.01)"} <= table.keys()
    assert str(folder / "result.npz") in output


def test_baselines_are_always_in_the_table(run: Run, csv_file: Path) -> None:
    status, output, _ = run("evaluate", csv_file, "--target", "label", "--metric", "accuracy")
    assert status == 0
    assert {"persistent", "majority"} <= table_of(output).keys()


def test_regression_has_its_own_baselines(run: Run, csv_file: Path) -> None:
    status, output, _ = run(
        "evaluate", csv_file, "--target", "x0", "--exclude", "label",
        "--model", "sgd-regressor(eta0=0.001)",
    )  # fmt: skip
    assert status == 0
    assert {"persistent-regressor", "mean", "sgd-regressor(eta0=0.001)"} <= table_of(output).keys()


def test_n_rows_takes_the_first_rows(run: Run, csv_file: Path, stream: Any, tmp_path: Path) -> None:
    status, output, _ = run(
        "evaluate", csv_file, "--target", "label", "--n-rows", "150", "--metric", "accuracy",
        "--save", tmp_path,
    )  # fmt: skip
    _, y = stream
    assert status == 0
    assert "150 rows" in output
    expected = np.mean(y[1:150] == y[:149])
    assert saved_scores(tmp_path)["cumulative", "persistent", "accuracy"] == pytest.approx(expected)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 128, N_ROWS, N_ROWS + 1])
def test_first_rows_of_a_stream(n_rows: int, stream: Any) -> None:
    X, y = stream
    weight = np.arange(1.0, N_ROWS + 1)
    whole = as_stream(X, y, sample_weight=weight, chunk_size=64)
    first = cli.FirstRows(whole, n_rows)
    for _ in range(2):  # it can be gone through again
        chunks = list(first)
        np.testing.assert_array_equal(np.concatenate([chunk[0] for chunk in chunks]), X[:n_rows])
        np.testing.assert_array_equal(np.concatenate([chunk[1] for chunk in chunks]), y[:n_rows])
        weights = np.concatenate([chunk[2]["sample_weight"] for chunk in chunks])
        np.testing.assert_array_equal(weights, weight[:n_rows])
    assert first.n_rows == min(n_rows, N_ROWS)
    np.testing.assert_array_equal(first.classes, whole.classes)


def test_options_reach_the_evaluator(
    run: Run, csv_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}

    class Evaluator(PrequentialEvaluator):
        def evaluate(self, *arguments: Any, **keywords: Any) -> Any:
            seen.update(self.get_params(deep=False))
            raise ValueError("seen enough")

    monkeypatch.setattr(cli, "PrequentialEvaluator", Evaluator)
    status, _, errors = run(
        "evaluate", csv_file, "--target", "label", "--batch-size", "7", "--warmup", "5",
        "--n-jobs", "2", "--random-state", "3", "--progress", "--forgetting", "adwin",
        "--metric", "kappa",
    )  # fmt: skip
    assert (status, errors) == (2, "skstream: error: seen enough\n")
    wanted = {
        "batch_size": 7, "n_warmup": 5, "n_jobs": 2, "random_state": 3, "progress": True,
        "forgetting": ["adwin"], "metrics": ["kappa"],
    }  # fmt: skip
    assert {name: seen[name] for name in wanted} == wanted


def test_picture(run: Run, csv_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "pictures" / "curves.png"
    status, output, _ = run(
        "evaluate", csv_file, "--target", "label", "--plot", picture, "--plot-metric", "accuracy"
    )
    assert status == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"Picture: {picture}" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.csv", "--target", "label"], "There is no file no.csv"),
        ([__file__, "--target", "label"], "neither a Parquet nor a CSV file"),
        (["{csv}", "--target", "lable"], "lable"),
        (["{csv}", "--target", "label", "--model", "sdg"], "Did you mean 'sgd'"),
        (["{csv}", "--target", "label", "--forgetting", "windw:9"], "Did you mean 'window'"),
        (["{csv}", "--target", "label", "--metric", "acuracy"], "accuracy"),
        (
            ["{csv}", "--target", "label", "--model", "sklearn.svm:SVC(C=2)"],
            "SVC cannot learn from a stream: it has no partial_fit",
        ),
        (["{csv}", "--target", "label", "--model", "sgd(alpha=-1)"], "alpha"),
        (
            ["{csv}", "--target", "label", "--model", "sgd", "--model", "sgd-regressor"],
            "regressors",
        ),
    ],
)
def test_errors_are_one_line_without_a_traceback(
    arguments: list[str], message: str, run: Run, csv_file: Path
) -> None:
    status, output, errors = run("evaluate", *(a.format(csv=csv_file) for a in arguments))
    assert (status, output) == (2, "")
    assert errors.startswith("skstream: error: ")
    assert message in errors
    assert "Traceback" not in errors


def test_traceback_on_request(run: Run) -> None:
    with pytest.raises(FileNotFoundError):
        run("--traceback", "evaluate", "no.csv", "--target", "label")


def test_outputs_that_cannot_be_written_fail_first(
    run: Run, csv_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")
    monkeypatch.setattr(cli, "_open_stream", lambda *_, **__: pytest.fail("it began to read"))
    status, _, errors = run("evaluate", csv_file, "--target", "y", "--save", tmp_path / "taken")
    assert status == 2
    assert "taken" in errors


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["evaluate"],
        ["evaluate", "a.csv"],
        ["evaluate", "a.csv", "--target", "y", "--n-rows", "0"],
        ["evaluate", "a.csv", "--target", "y", "--batch-size", "many"],
        ["evaluate", "a.csv", "--target", "y", "--missing", "drop"],
    ],
)
def test_wrong_usage_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert "usage: skstream" in capsys.readouterr().err


def test_interruption_gives_the_result_so_far(
    run: Run, csv_file: Path, stream: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y = stream

    class Evaluator(PrequentialEvaluator):
        def evaluate(self, models: Any, *_: Any, **__: Any) -> Any:
            raise EvaluationInterrupted(super().evaluate(models, X[:50], y[:50]))

    monkeypatch.setattr(cli, "PrequentialEvaluator", Evaluator)
    status, output, errors = run("evaluate", csv_file, "--target", "label", "--save", tmp_path)
    assert status == 130
    assert "result so far" in errors
    assert "50 rows" in output
    assert ("cumulative", "persistent", "accuracy") in saved_scores(tmp_path)


@pytest.mark.filterwarnings("default:Undefined")
def test_warnings_are_one_line(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "constant.csv"
    path.write_text("x,label\n" + "1,a\n2,a\n3,a\n4,a\n")
    status, _, errors = run("evaluate", path, "--target", "label", "--metric", "kappa_temporal")
    assert status == 0
    assert errors.startswith("skstream: warning: Undefined")
    assert ".py" not in errors


def test_a_repeated_warning_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    with cli._one_line_warnings():
        warnings.simplefilter("always")
        for text in ("again", "again", "other", "again"):
            warnings.warn(text, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "skstream: warning: again\nskstream: warning: other\n"


def test_every_short_name_makes_an_estimator() -> None:
    for name in cli.MODELS:
        model = cli.make_model("pipeline('sgd')" if name == "pipeline" else name, cli.MODELS)
        assert hasattr(model, "partial_fit"), name


def test_demo_without_a_file_is_generated_and_says_so(run: Run) -> None:
    pytest.importorskip("matplotlib")
    status, output, errors = run("demo", "--out", "out")
    assert (status, errors) == (0, "")
    assert output.startswith("Stream: generated, 20,000 rows with temporal dependence and a drift")
    assert {"persistent", "majority", "nb", "sgd", "scaled-sgd"} <= table_of(output).keys()
    assert "The labels depend on their past" in output
    assert output.rstrip().splitlines()[-1].startswith("Picture: ")
    assert Path("out", "demo.png").read_bytes().startswith(b"\x89PNG")


def test_demo_finds_the_file_beside_the_folder(run: Run, parquet_file: Path) -> None:
    pytest.importorskip("matplotlib")
    found = Path("..", "shared", "data", "electricity.parquet")
    found.parent.mkdir(parents=True)
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(parquet_file)
    names = ["class" if name == "label" else name for name in table.column_names]
    parquet.write_table(table.rename_columns(names), found)
    status, output, _ = run("demo")
    assert status == 0
    assert output.startswith(f"Stream: {found}")
    assert f"{N_ROWS} rows" in output
    assert Path("skstream-demo", "demo.png").is_file()


def test_demo_on_electricity(run: Run) -> None:
    pytest.importorskip("matplotlib")
    path = data_path("electricity")
    pytest.importorskip("pyarrow")
    status, _, errors = run("demo", "--data", path, "--out", "out")
    assert (status, errors) == (0, "")
    scores = saved_scores(Path("out"))
    accuracy = {m: v for (f, m, k), v in scores.items() if (f, k) == ("cumulative", "accuracy")}
    assert accuracy["persistent"] == 38_664 / 45_311
    assert scores["cumulative", "persistent", "kappa_temporal"] == 0.0
    assert max(accuracy["nb"], accuracy["sgd"]) < accuracy["persistent"] < accuracy["scaled-sgd"]


def test_the_program_starts() -> None:
    def output(*arguments: str) -> str:
        code = "import sys; from skstream.cli import main; sys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout

    assert output("--version") == f"skstream {__version__}\n"
    assert "scaled-sgd" in output("evaluate", "--help")


def test_the_module_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skstream", "--version"], capture_output=True, text=True, check=True
    )
    assert __version__ in done.stdout
