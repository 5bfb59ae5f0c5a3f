"""Errors of the command line about files say what stands there, and what to do."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skstream import PrequentialEvaluator, load
from skstream.cli import main
from skstream.cli._output import in_options
from skstream.utils._saved import FORMAT

pytest.importorskip("pyarrow", reason="CSV files are read by pyarrow")

ROWS = [(x / 10, -x / 7, "up" if x % 3 else "down") for x in range(-30, 30)]


def written(folder: Path, names: str = "a,b,class") -> str:
    path = folder / "rows.csv"
    rows = [f"{a:.3f},{b:.3f},{label}" for a, b, label in ROWS]
    path.write_text("\n".join([names, *rows]) + "\n")
    return str(path)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 2
    output = capsys.readouterr()
    assert "evaluation after" not in output.out
    return output.err


@pytest.mark.parametrize("option", [["--model", "sgd"], ["--forgetting", "window:9"]])
def test_what_is_given_twice_is_refused(option, tmp_path, capsys):
    words = refused(capsys, "evaluate", written(tmp_path), "--target", "class", *option, *option)
    assert f"{option[0]} {option[1]} was given twice" in words


def test_control_characters_of_names_are_escaped(tmp_path, capsys):
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


def test_models_of_river_go_by_their_module(tmp_path, capsys):
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


@pytest.mark.filterwarnings("always:Model .* trains GaussianNB")
def test_a_model_that_fails_ends_no_other(tmp_path, capsys):
    bayes = "sklearn.naive_bayes:GaussianNB"
    command = ["evaluate", written(tmp_path), "--target", "class", "--metric", "log_loss"]
    command += ["--model", bayes, "--model", "sgd", "--checkpoint", str(tmp_path / "run")]
    assert main([*command, "--set", "error_score=raise"]) == 2
    assert "row 1" in capsys.readouterr().err
    assert main(command) == 2  # the same folder, where the others go on
    output = capsys.readouterr()
    table = {line.split()[0]: line.split()[1] for line in output.out.splitlines()[::-1] if line}
    assert table[bayes] == "nan" and float(table["sgd"]) > 0
    assert f"{bayes} failed: the error below says why" in output.out
    assert f"error: Model '{bayes}' failed while predicting row 1" in output.err
    assert main([*command[:-2], "--set", "n_warmup=30"]) == 0


@pytest.mark.parametrize("base", ["", "(sklearn.base.ClassifierMixin, sklearn.base.BaseEstimator)"])
def test_models_without_declared_parameters_are_taken(base, tmp_path, capsys, monkeypatch):
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
    assert "'/dev/null' is not a file but a pipe or a device, which can be read only once" in words


def _out(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


DATES = "came,known,note,x,class\n" + "".join(
    f"{day:02}/05/2024,2024-06-{day:02},some words {day},{day if day - 5 else ''},{'ab'[day % 2]}\n"
    for day in range(1, 29)
)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--label-time", "known"], "since --time was not given: add --time COL"),
        (["--time", "came"], "which holds categories. If these are times, give their format, "
         '--read "time_format=...": a format of strptime'),
        (["--time", "cmae"], "--time names the column 'cmae', which is not in"),
        (["--time", "known", "--delay", "7days"], "7days is neither a number nor a duration"),
        (["--time", "known", "--delay", "7"], "Pass a duration such as 7D as the delay"),
        (["--target", "clas"], "--target names the column 'clas', which is not in"),
        (["--target", "clas"], "Did you mean 'class'? Columns: 'came', 'known', 'note', 'x', 'cl"),
        (["--target", "dose"], "--read \"delimiter=';'\", or, without a header line, --read h"),
        (["--read", "text=note", "--model", "sgd"], "HashingVectorizer', 'sgd')\"."),
        (["--read", "max_categories=9"], "'came' has dates as texts. Read them with --read "
         "\"time_format={'came': '%d/%m/%Y'}\". If rows arrived then, add --time came. Or leave"),
        (["--read", "max_categories=9", "--read", "time_format={'came': '%d/%m/%Y'}"],
         "Leave it out with --exclude note, or raise --read \"max_categories=...\". Text"),
        (["--time", "came", "--read", "time_format=%m/%d/%Y"], "csv cannot be read: Row 12 has"),
        (["--forgetting", "window:7D"], "pass --time COL"),
        (["--target", "x", "--read", "nominal=x"], 'Pass --set missing_labels=skip to predict it'),
        (["--exclude", "note,x"], "Repeat --exclude for each column. Columns: 'came', 'known',"),
        (["--metric", "rmse"], "'rmse' is one of regression, but the models are classifiers"),
        (["--set", "n_warmup=-1"], "error: --set n_warmup must be an int"),
        (["--n-jobs", "0"], "error: --n-jobs must be an int"),
        (["--label-time", "x", "--time", "known", "--delay-unit", "1h"], "add --delay"),
    ],
)  # fmt: skip
def test_errors_speak_of_options(options, expected, tmp_path, capsys):
    (tmp_path / "dates.csv").write_text(DATES)
    assert main(["evaluate", str(tmp_path / "dates.csv"), "--target", "class", *options]) == 2
    words = capsys.readouterr().err
    assert expected in words
    assert not re.search(
        r"options=|arrival=|arrival [inwg]|label_time|make_stream|timedelta", words
    )


@pytest.mark.parametrize(
    "text",
    [
        "sgd(target='a', missing='nan')",
        "the column 'arrival'",
        "--set classes=['a']",
        "a retarget=",
    ],
)
def test_other_words_are_left_as_they_are(text):
    assert in_options(text) == text


@pytest.mark.parametrize("command", ["evaluate", "score"])
def test_rare_labels_are_said_once_with_the_options_to_add(command, tmp_path, capsys):
    labels = ["fraud" if row % 25 == 7 else "no" for row in range(100)]
    rows = [f"{row % 9},{label},{label}" for row, label in enumerate(labels)]
    (tmp_path / "rare.csv").write_text("\n".join(["x,class,said", *rows]) + "\n")
    words = [command, str(tmp_path / "rare.csv"), "--target", "class"]
    words += ["--exclude", "said"] if command == "evaluate" else ["--predictions", "said"]
    added = "--metric average_precision:fraud --metric recall:fraud"
    assert main(words) == 0
    assert (
        _out(capsys).count(
            f"so a high accuracy says little: add measures of the label fraud: {added}."
        )
        == 1
    )
    assert main([*words, "--metric", "recall:fraud"]) == 0
    assert "says little" not in _out(capsys)


@pytest.mark.parametrize("given", [[], ["--progress"], ["--no-progress"]])
def test_a_terminal_shows_that_the_command_is_at_work(given, tmp_path, capsys, monkeypatch):
    pytest.importorskip("tqdm")
    seen = []

    def evaluate(self, *_):
        seen.append((self.progress, capsys.readouterr().out))
        raise RuntimeError

    monkeypatch.setattr(PrequentialEvaluator, "evaluate", evaluate)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["evaluate", written(tmp_path), "--target", "class", *given]) == 2
    ((progress, output),) = seen
    assert progress == (given != ["--no-progress"])
    assert "Target: class (labels down, up)" in output


SOLD = "number,sold,paid,due,count,price\n" + "".join(
    f"{row + 100},2024-03-01T{row // 2:02}:00,2024-03-01T{row // 2 + 2:02}:00,"
    f"2024-02-{1 + row % 20:02},{row},{row % 9}\n"
    for row in range(40)
)


@pytest.mark.parametrize(
    ("options", "doubtful", "advice"),
    [
        ([], {"number", "paid"}, "pass --time sold and --label-time paid. Else leave it out with"),
        (["--time", "sold"], {"number", "paid"}, "pass --label-time paid. Else leave it out with"),
        (["--time", "sold", "--label-time", "paid"], {"number"}, "out with --exclude number."),
        (["--exclude", "number", "--exclude", "paid"], set(), "use regressors: --model sgd-reg"),
        (["--model", "sgd-regressor"], {"number", "paid"}, "--exclude paid."),
    ],
)
def test_columns_that_count_rows_or_follow_them_are_named(
    options, doubtful, advice, tmp_path, capsys
):
    (tmp_path / "sold.csv").write_text(SOLD)
    assert main(["evaluate", str(tmp_path / "sold.csv"), "--target", "count", *options]) == 0
    output = _out(capsys)
    assert (
        set(re.findall("Careful. (?:Nearly all times in )?'(.*?)' (?:counts|are)", output))
        == doubtful
    )
    assert advice in output
    assert ("40 whole numbers as labels" in output) == ("sgd-regressor" not in options)


def test_dates_as_texts_and_tabs_are_named(tmp_path, capsys):
    (tmp_path / "dates.csv").write_text(DATES)
    words = ["evaluate", str(tmp_path / "dates.csv"), "--target", "class"]
    assert main(words) == 0
    assert "Careful. Column 'came' has dates as texts. Read them with --read \"time" in _out(capsys)
    assert main([*words, "--read", "time_format={'came': '%d/%m/%Y'}", "--time", "came"]) == 0
    assert "dates as texts" not in _out(capsys)
    (tmp_path / "dates.csv").write_text(DATES.replace(",", "\t"))
    assert "with, for example, --read \"delimiter='\\t'\", or" in refused(capsys, *words)
    for written in (r"delimiter=\t", r"delimiter='\t'"):
        assert main([*words, "--read", written]) == 0


def test_an_error_among_the_first_rows_leaves_the_result_so_far(tmp_path, capsys):
    rows = [f"{row if row != 250 else 3},{row % 7},{'ab'[row % 2]}" for row in range(300)]
    (tmp_path / "back.csv").write_text("\n".join(["t,x,class", *rows]))
    words = ["evaluate", str(tmp_path / "back.csv"), "--target", "class", "--time", "t"]
    assert main([*words, "--read", "chunk_size=100"]) == 2
    output = capsys.readouterr()
    assert "evaluation after 250 rows" in output.out
    assert "error: --time goes back at row 250, from 249 to 3." in output.err


@pytest.mark.parametrize("option", ["--missing-labels", "--strategy"])
def test_parameters_without_an_option_lead_to_set(option, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["evaluate", written(tmp_path), "--target", "class", option, "skip"])
    name = option.strip("-").replace("-", "_")
    assert f"go with --set: --set {name}=VALUE" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["evaluate", written(tmp_path), "--target", "class", "--taget", "skip"])
    assert "--set" not in capsys.readouterr().err.partition("error:")[2]
