"""Errors of the command line about files say what stands there, and what to do."""

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skstream
from skstream import load
from skstream.cli import main
from skstream.cli._arguments import make_parser
from skstream.cli._commands import _COMMANDS
from skstream.cli._output import _PHRASES, _python_advice, in_options, one_line_warnings
from skstream.utils._saved import FORMAT

pytest.importorskip("pyarrow", reason="CSV files are read by pyarrow")

_ROLES = " ".join(_PHRASES.values())
ROWS = [(x / 10, -x / 7, "up" if x % 3 else "down") for x in range(-30, 30)]


def written(folder: Path, labels: Any = None, names: str = "a,b,class", comma: bool = False) -> str:
    rows = [(a, b, label if labels is None else labels(i)) for i, (a, b, label) in enumerate(ROWS)]
    lines = [f"{a:.3f},{b:.3f},{label}" for a, b, label in rows]
    if comma:
        lines = [line.replace(",", ";").replace(".", ",") for line in lines]
    path = folder / "rows.csv"
    path.write_text("\n".join([names, *lines]) + "\n")
    return str(path)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 2
    output = capsys.readouterr()
    assert "evaluation after" not in output.out
    return output.err


@pytest.mark.parametrize("more", [[], ["--model", "sgd", "--n-jobs", "2"], ["--n-rows", "20"]])
@pytest.mark.parametrize("text", ["null", "NA"])
def test_a_label_that_reads_as_missing_is_shown_with_its_row(
    text: str, more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, lambda i: text if i == 3 else i % 2)
    words = refused(capsys, "evaluate", file, "--target", "class", *more)
    assert f"It is row 3 of {file}: its label is empty, or a mark of a gap, which --nomin" in words
    assert main(["evaluate", file, "--target", "class", "--nominal", "class"]) == 0
    labels = ", ".join(sorted(("0", "1", text)))
    assert f"(labels {labels})" in capsys.readouterr().out


def test_an_empty_label_is_shown_with_its_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, lambda i: "" if i == 7 else ("up", "down")[i % 2])
    words = refused(capsys, "evaluate", file, "--target", "class")
    assert f"It is row 7 of {file}: its label is empty" in words
    assert main(["evaluate", file, "--target", "class", "--missing-labels", "skip"]) == 0
    assert "1 row without a label: neither learnt nor scored" in capsys.readouterr().out


def test_the_delimiter_is_advised_where_a_column_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, names="a;b;class", comma=True)
    words = refused(capsys, "evaluate", file, "--target", "class")
    assert "'a;b;class'. How the file is written is said by --delimiter ';'" in words
    options = ["--delimiter", ";", "--decimal", ","]
    assert main(["evaluate", file, "--target", "class", *options]) == 0


def test_a_target_of_one_label_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, lambda i: "up")
    for more in ([], ["--model", "sgd"]):
        words = refused(capsys, "evaluate", file, "--target", "class", *more)
        assert "The target column 'class' holds one label only, 'up'" in words


def test_the_demo_refuses_a_target_of_fractions_as_evaluate_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, lambda i: i / 8)
    words = refused(capsys, "demo", "--data", file, "--out", str(tmp_path / "out"))
    assert "holds numbers with fractions, which a regressor predicts" in words
    assert "--model sgd-regressor" in words


@pytest.mark.parametrize("option", [["--model", "sgd"], ["--forgetting", "window:9"]])
def test_what_is_given_twice_is_refused(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = refused(capsys, "evaluate", written(tmp_path), "--target", "class", *option, *option)
    assert f"{option[0]} {option[1]} was given twice" in words


def test_the_target_cannot_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = refused(
        capsys, "evaluate", written(tmp_path), "--target", "class", "--exclude", "class"
    )
    assert "--exclude names the column 'class', which is the target" in words


def test_whole_numbers_that_no_float_holds_are_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = 2**53 + 1
    file = written(tmp_path, lambda i: first + 2 * (i % 2))
    assert main(["evaluate", file, "--target", "class"]) == 0
    assert f"(labels {first}, {first + 2})" in capsys.readouterr().out


def test_control_characters_of_names_are_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, names="a\x1b[31mred\x9b,b,class")
    assert main(["evaluate", file, "--target", "class"]) == 0
    assert r"numbers a\x1b[31mred\x9b, b" in capsys.readouterr().out


def test_models_have_names_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["evaluate", written(tmp_path), "--target", "class", "--save", str(tmp_path / "out")]
    assert main([*command, "--model", "slow = sgd(alpha=1)", "--model", "sgd"]) == 0
    scores = load(tmp_path / "out" / "result.npz").scores
    assert list(scores) == ["persistent", "majority", "slow", "sgd"]
    capsys.readouterr()
    words = refused(capsys, *command, "--model", "a=sgd", "--model", "a=nb")
    assert "gives two models the name 'a'" in words
    assert "a model that is always in the table" in refused(capsys, *command, "--model", "mean=nb")


def test_models_of_river_go_by_their_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("river")
    command = ["evaluate", written(tmp_path), "--target", "class"]
    tree = "river.tree:HoeffdingTreeClassifier"
    assert (
        main([*command, "--model", f"{tree}(grace_period=9)", "--model", f"t=pipeline('{tree}')"])
        == 0
    )
    assert "evaluation after 60 rows" in capsys.readouterr().out
    bayes = ["--model", "river.naive_bayes:GaussianNB"]
    assert main([*command, *bayes]) == 0
    assert "called row by row (adapted by from_river)" in capsys.readouterr().out
    words = refused(capsys, *command, "--model", "river.preprocessing:StandardScaler")
    assert "River's StandardScaler is neither a classifier nor a regressor" in words


@pytest.mark.parametrize(
    "arrays",
    [
        {"x": np.arange(3)},
        {"header": np.array("{}")},
        {"header": np.array(f'{{"format": {FORMAT}}}')},
    ],
)
def test_a_foreign_file_of_arrays_is_refused_in_words(arrays: Any, tmp_path: Path) -> None:
    path = tmp_path / "foreign.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="is not a result or a study saved by skstream") as caught:
        load(path)
    assert "KeyError" not in str(caught.value)
    assert ": 'header'" not in str(caught.value)


@pytest.mark.filterwarnings("always:Model .* learns with GaussianNB")
def test_a_model_that_fails_ends_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bayes = "sklearn.naive_bayes:GaussianNB"
    command = ["evaluate", written(tmp_path), "--target", "class", "--metric", "log_loss"]
    command += ["--model", bayes, "--model", "sgd", "--checkpoint", str(tmp_path / "run")]
    assert main([*command, "--error-score", "raise"]) == 2
    assert "row 1" in capsys.readouterr().err
    assert main(command) == 2  # the same folder, where the others go on
    output = capsys.readouterr()
    table = {line.split()[0]: line.split()[1] for line in output.out.splitlines()[::-1] if line}
    assert table[bayes] == "nan" and float(table["sgd"]) > 0
    assert f"{bayes} failed: the error below says why" in output.out
    assert f"error: Model '{bayes}' failed while answering row 1" in output.err
    assert main([*command[:-2], "--warmup", "30"]) == 0


@pytest.mark.parametrize("base", ["", "(sklearn.base.ClassifierMixin, sklearn.base.BaseEstimator)"])
def test_models_without_declared_parameters_are_taken(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"own_model_{bool(base)}"
    (tmp_path / f"{module}.py").write_text(
        f"import sklearn.base\nclass Own{base}:\n"
        "    def partial_fit(self, X, y, classes=None):\n"
        "        self.classes_ = self.classes_ if classes is None else classes\n"
        "        return self\n"
        "    def predict(self, X):\n"
        "        return [self.classes_[0]] * len(X)\n"
        "class Broken(Own):\n"
        "    def __init__(self):\n"
        "        self.missing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    command = ["evaluate", written(tmp_path), "--target", "class", "--metric", "accuracy"]
    assert main([*command, "--model", f"own={module}:Own"]) == 0
    assert "own " in _out(capsys)
    words = refused(capsys, *command, "--model", f"{module}:Broken")
    assert f"The model '{module}:Broken' cannot be made: AttributeError: " in words


def test_a_pipe_is_refused_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    words = refused(capsys, "evaluate", "/dev/null", "--target", "class")
    assert "'/dev/null' is no file but a pipe or a device, which can be read only once" in words


def _out(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def messages() -> list[str]:
    """All texts in the source of the package that name something followed by "="."""
    found = []
    for path in sorted(Path(skstream.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [one.value if isinstance(one, ast.Constant) else "x" for one in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return [text for text in found if re.search(r"[a-z]=", text) and "\n" not in text]


@pytest.mark.parametrize("command", ["evaluate", "score", "verify"])
def test_no_message_advises_what_is_no_option_of_the_command(command: str) -> None:
    made = {"verify": ["result.npz"], "score": ["log.csv", "--target", "y"], "evaluate": ["a.csv"]}
    parser = make_parser(**dict.fromkeys(_COMMANDS, print))
    options = vars(parser.parse_args([command, *made[command]]))
    known = {f"--{name.replace('_', '-')}" for name in options}
    texts = messages()
    assert len(texts) > 300 and any("classes=[...]" in text for text in texts)
    parameter, _ = _python_advice()
    with one_line_warnings(options):
        for text in texts:
            # Options that the source itself writes are of the command that says so.
            said = in_options(f"It is so. {text}")
            named = set(re.findall(r"(?<!\w)--[a-z][\w-]+", said))
            assert named - set(re.findall(r"--[a-z][\w-]+", text + _ROLES)) <= known, said
            for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", re.sub(r"\(.*\)", "", said))[1:]:
                assert not parameter.search(sentence), said
    assert in_options("pass classes=['a', 'b'].") == "pass --classes 'a' 'b'."  # of any command
