"""The options of the command line, and what its help says."""

import argparse
import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from skstream.cli._from_text import COMPOSITIONS, DETECTORS, FETCHED, GENERATORS, MODELS
from skstream.core.measures.registry import MEANINGS, OF_CLASS, OF_CLASSES, REGRESSION
from skstream.evaluation import HoldoutEvaluator, KFoldEvaluator, PrequentialEvaluator
from skstream.utils._version import __version__

Command = Callable[[argparse.Namespace], int]

#: Rows between two checkpoints at which held-out rows are asked.
EVERY = 1000
#: Options of `evaluate` that a stream of a suite may have: what it is, and how it is evaluated.
OPTIONS_OF_STREAMS = (
    *("file", "generator", "target", "exclude", "time", "label-time", "delay", "delay-unit"),
    *("n-rows", "read", "bins", "metric", "set"),
)

DESCRIPTION = """\
Evaluate models on a file or a generated stream: each row is predicted before it is \
used for training, in order. The table shows the models beside naive baselines, which a \
useful model beats. Without --model it shows the baselines alone: a first look at a \
stream."""
EPILOG = """\
examples:
  skstream evaluate power.csv --target class --model sgd --model scaled-sgd
  skstream evaluate power.csv --target class --forgetting window:1000 \\
      --model "augmented('nb', n_lags=2)" --metric accuracy --plot power.png
  skstream evaluate day.*.csv --target load \\
      --model "pipeline('scaler', 'sgd-regressor')"
  skstream evaluate power.csv --target class --model sgd --holdout 5000 \\
      --every 500
  skstream evaluate loans.csv --target paid --time asked --label-time known \\
      --model nb --bins 10
  skstream evaluate power.csv --target class --model nb --model sgd \\
      --folds 10 --compare nb sgd
  skstream evaluate power.csv --target class --model nb --monitor adwin \\
      --plot power.png
  skstream evaluate elecNormNew.arff --target class --model nb
  skstream evaluate rcv1.svm.gz --model sgd
  skstream evaluate month/ --target click --model sgd --checkpoint run \\
      --n-jobs -1
  skstream evaluate --generator "SEA(n_rows=50000, noise=0.2)" --model nb
  skstream verify results --data power.csv
  skstream report results --out report.html

models:
{models}
  Parameters go in parentheses: "sgd(alpha=0.001)". A quoted model is wrapped: \
"augmented('nb', n_lags=2)", "pipeline('scaler', 'sgd')"; "prepared('sgd')" suits files \
with categories (max_categories of a column; by default all, up to 99) and gaps. Any \
other estimator with partial_fit, or model of River, is named by its module: \
"sklearn.linear_model:Perceptron(penalty='l2')", river.tree:HoeffdingTreeClassifier. \
Naming a module imports it, which runs its code. \
A name before = is shown in the table: "slow=sgd(alpha=0.001)". Use quotes, because the \
shell reads parentheses itself.

generators (those of the testbed, NSGT and so on, come with the best possible predictions):
{generators}
  Parameters as for models: "SEA(n_rows=50000, noise=0.2)". Streams in quotes are \
composed: "join_streams('SEA', 'SEA(random_state=1)', position=5000, width=500)", and by \
{compositions}.
  Real streams are fetched once: {fetched}.
  Data sets of River go by their module: river.datasets:Phishing.

measures of labels (default: accuracy and four kappas):
{classification}
measures of one label, which is named after a colon (f1:UP is the f1 of UP), such as auc, too:
{of_class}
measures of numbers (default: mae, rmse, r2):
{regression}

A target of numbers with fractions is regression; every other target holds labels. \
Texts become categories, and categories ordinal codes; --read "nominal=['COL']" and \
--read "numeric=['COL']" decide otherwise. --set and --read take values as Python writes \
them, or texts. The exit status is 0, 2 after an error, 130 after Ctrl-C."""

SCORE_DESCRIPTION = """\
Score predictions that a file holds beside the labels, row by row, as an evaluation \
scores its models: under any measure and forgetting, per day, and as labels became known."""
SCORE_EPILOG = """\
examples:
  skstream score log.parquet --target fraud --predictions gbm=pred_gbm
  skstream score log.parquet --target fraud --probabilities gbm=p_gbm \\
      --time time --label-time label_time --metric auc --forgetting window:7D \\
      --every 1D --plot auc.png"""

BENCH_DESCRIPTION = """\
Evaluate the models of a suite on all its streams with all its seeds. It ends with a table, \
average ranks with their critical difference, and a leaderboard that certifies which models \
are not the best over these streams. Finished runs are kept: the same command resumes."""
BENCH_EPILOG = """\
a suite:
  metric = "accuracy"
  seeds = 3

  [models]
  nb = "nb"
  slow = "sgd(alpha=0.001)"

  [streams]
  SEA = "SEA(noise=0.2)"
  power = {file = "power.csv", target = "class"}

  Models and generators are written as for evaluate; each seed gives a generator other \
rows. Other keys: certify (measure of the leaderboard, or false), references (models \
that are shown and do not compete), chance (models whose predictions depend on the seed), \
bin (whose predictions count if labels are late), missing (error, or skip streams that are \
not here), alpha, and a table [protocol] of parameters of the evaluator, such as \
n_warmup. skstream verify DIR runs it all again and says \
what differs."""

VERIFY_DESCRIPTION = """\
Run the evaluation of a saved result again: it says 'identical', or the first row or
checkpoint, model and measure that differ, and why. The exit status is 0, 1 where something
differs, 2 after an error."""
REPORT_DESCRIPTION = """\
Write a saved result as one self-contained HTML page: the conclusion first, then tables, plots,
tests in sentences, alarms, costs, settings. Plots need matplotlib."""


def _count(text: str) -> int:
    value = int(text.replace(",", "")) if text.replace(",", "").isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def _time_or_rows(text: str) -> str | int:
    return _count(text) if text.replace(",", "").isdigit() else text


def _parameter(text: str) -> tuple[str, Any]:
    """Return the name and the value of NAME=VALUE; what is no literal of Python is a text."""
    name, equals, value = text.partition("=")
    if not (equals and name.isidentifier()):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as n_warmup=100")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, "\t" if value == r"\t" else value


#: Options by what their values are: (option, name of the value in the help, help).
Options = Sequence[tuple[str, str, str]]
_PATH: dict[str, Any] = {"type": Path}
_NUMBER: dict[str, Any] = {"type": _count}
_REPEATED: dict[str, Any] = {"action": "append", "default": []}
_PARAMETERS: dict[str, Any] = {"type": _parameter, **_REPEATED}
_FLAG: dict[str, Any] = {"action": "store_true"}

_TIMES = (
    ("--time", "COL", "column of the arrival times of rows, in order"),
    ("--label-time", "COL", "column of the arrival times of labels; empty: never"),
)
_READ = (
    "--read",
    "NAME=VALUE",
    "how to read files: a parameter of CSVStream (ParquetStream, ARFFStream) or one of its "
    "options: delimiter=';', header=False, time_format=%%d/%%m/%%Y, sort_by=COL; repeatable",
)
_MEASURES = (
    ("--metric", "NAME", "measure, of those that skstream evaluate --help lists; repeatable"),
    (
        "--forgetting",
        "NAME",
        "which rows count in a measure: cumulative (default), window:1000, fading:0.999 (older "
        "rows count less), adwin; with --time also window:7D or half-life:30D; repeatable",
    ),
)
_OUTPUT = (
    ("--plot", "FILE", "plot of the first measure (of late labels: by bin): .png, .svg, .pdf"),
    ("--report", "FILE", "HTML page with the result, for readers without Python"),
    ("--save", "DIR", "folder for result.npz (skstream.load reads it), scores.csv and curve.csv"),
)
_JOBS = ("--n-jobs", "N", "models, or runs of a suite, at once; -1: one per core")


def _add(group: Any, options: Options, **more: Any) -> None:
    for option, metavar, words in options:
        group.add_argument(option, metavar=metavar, help=words, **more)


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the stream")
    words = (
        "Parquet, CSV, ARFF or SVMlight files in their order, or a folder of them; paths or URIs"
    )
    _add(group, [("file", "FILE", words)], nargs="*")
    texts = (
        ("--generator", "STREAM", "generate the rows instead of reading them, see below"),
        ("--target", "COL", "column of the labels or targets; not for SVMlight files"),
        *_TIMES,
        (
            "--delay",
            "DELAY",
            "instead of --label-time: rows until a label comes, or with --time a duration (1D) "
            "or a number in the unit of the times; or the column with the delays",
        ),
        ("--delay-unit", "TIME", "unit of a column of delays, if --time has dates: 1h"),
    )
    _add(group, texts)
    _add(group, [("--exclude", "COL", "column to leave out; repeatable")], **_REPEATED)
    _add(group, [("--n-rows", "N", "evaluate only the first N rows")], **_NUMBER)
    _add(group, [_READ], **_PARAMETERS)

    group = parser.add_argument_group("the evaluation")
    words = "model to evaluate, see below, or NAME=MODEL; repeatable. Baselines are always included"
    monitor = f"detector that watches the errors of each model: {', '.join(DETECTORS)}; repeatable"
    repeated = (("--model", "MODEL", words), *_MEASURES, ("--monitor", "DETECTOR", monitor))
    _add(group, repeated, **_REPEATED)
    words = (
        "predict held-out rows: those of a file, or the last N rows of the stream; 'next': the "
        "next --every rows, used for training afterwards"
    )
    _add(group, [("--holdout", "ROWS", words)])
    numbers = (
        ("--every", "N", f"training rows between two checkpoints of --holdout (default: {EVERY})"),
        ("--bins", "N", "bins between arrival and label (default: 50)"),
        ("--folds", "N", "train N copies of each model on different rows, and test differences"),
    )
    _add(group, numbers, **_NUMBER)
    words = (
        "any other parameter of the evaluator, such as n_warmup=100, batch_size=10, "
        "missing_labels=skip, strategy=cross, random_state=1; repeatable"
    )
    _add(group, [("--set", "NAME=VALUE", words)], **_PARAMETERS)
    _add(group, [_JOBS], type=int)
    words = "show a progress bar, which needs tqdm (default: on a terminal)"
    group.add_argument("--progress", help=words, action=argparse.BooleanOptionalAction)
    words = "folder from which the same command resumes where it stopped"
    _add(group, [("--checkpoint", "FOLDER", words)], **_PATH)

    group = parser.add_argument_group("comparisons; with delayed labels, of predictions at arrival")
    words = "test whether two models differ; choose them before you see scores; repeatable"
    group.add_argument("--compare", nargs=2, metavar=("A", "B"), help=words, **_REPEATED)
    words = "find the best model, by default by the first measure, and those not worse"
    _add(group, [("--compare-with-best", "MEASURE", words)], nargs="?", const="")
    _add(parser.add_argument_group("the output"), _OUTPUT, **_PATH)


def _add_score(parser: argparse.ArgumentParser) -> None:
    _add(parser, [("file", "FILE", "Parquet or CSV files in time order")], nargs="+")
    _add(
        parser, [("--target", "COL", "column of the labels; missing: not known yet")], required=True
    )
    repeated = (
        ("--predictions", "NAME=COL", "column of the predictions of a model; repeatable"),
        (
            "--probabilities",
            "NAME=COL",
            "column of the probabilities of a model: for two classes, those of the second; "
            "NAME=CLASS:COL names the class, NAME=COL,COL,COL has all classes; repeatable",
        ),
        *_MEASURES,
        ("--slices", "COL", "column of groups to score separately; repeatable"),
    )
    _add(parser, repeated, **_REPEATED)
    _add(parser, _TIMES)
    words = "distance between checkpoints: a duration, such as 1D, or a number of rows"
    _add(parser, [("--every", "TIME", words)], type=_time_or_rows)
    words = "estimate scores of unlabelled rows; needs --probabilities and both times"
    parser.add_argument("--estimate", help=words, **_FLAG)
    words = (
        "any other parameter of PredictionLog or its method score, such as tolerance=0.05, "
        "\"classes=['no', 'yes']\", sample_weight=COL, view=as_known, unanswered=skip; repeatable"
    )
    _add(parser, [_READ, ("--set", "NAME=VALUE", words)], **_PARAMETERS)
    _add(parser.add_argument_group("the output"), _OUTPUT, **_PATH)


def _add_demo(parser: argparse.ArgumentParser) -> None:
    words = "folder for the plot and the result (default: skstream-demo)"
    _add(parser, [("--out", "DIR", words)], default="skstream-demo", **_PATH)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    words = "result.npz, the folder of --save, or that of bench, to check all its results"
    _add(parser, [("result", "RESULT", words)], **_PATH)
    words = "files of the stream (default: those of the result)"
    _add(parser, [("--data", "FILE", words)], nargs="+")
    words = "model to check (default: those of the original command); repeatable"
    _add(parser, [("--model", "MODEL", words)], **_REPEATED)
    _add(
        parser,
        [("--target", "COL", "column of the labels (default: that of the original command)")],
    )


def _add_report(parser: argparse.ArgumentParser) -> None:
    words = "page to write, replaced if it exists (default: report.html, never replaced)"
    given = (("result", "RESULT", "result.npz, or the folder of --save"), ("--out", "FILE", words))
    _add(parser, given, **_PATH)


def _add_bench(parser: argparse.ArgumentParser) -> None:
    words = "TOML file, see below, or a suite that ships: field, field-short (default: a third one)"
    _add(parser, [("suite", "SUITE", words)], nargs="?", **_PATH)
    words = "folder for the results, the table and the plots (default: skstream-bench)"
    _add(parser, [("--out", "DIR", words)], default="skstream-bench", **_PATH)
    _add(parser, [_JOBS], type=int)
    parser.add_argument(
        "--list", help="print the suite, or the streams of --against, and exit", **_FLAG
    )
    group = parser.add_argument_group("compare your own models with recorded ones; writes nothing")
    words = "recorded scores, such as docs/field.json, to compare --model with"
    _add(group, [("--against", "FILE", words)], **_PATH)
    of_record = (
        ("--model", "MODEL", "model to show, as for evaluate, or NAME=MODEL; repeatable"),
        ("--stream", "NAME", "stream of the record (default: all); repeatable"),
    )
    _add(group, of_record, **_REPEATED)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help whose lines are kept, but for those wider than the terminal."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = []
        for line in text.splitlines():
            # A name and words in two columns go on below the words.
            found = re.match(r" *\S+ {2,}| *", line)
            hanging = " " * (found.end() if found and found.end() < width // 2 else 4)
            lines += textwrap.wrap(
                line, width, subsequent_indent=hanging, break_on_hyphens=False
            ) or [""]
        return "\n".join(lines)


class _Parser(argparse.ArgumentParser):
    """Parser that says where parameters of Python are given."""

    def error(self, message: str) -> NoReturn:
        """End with a message; see `argparse.ArgumentParser.error`."""
        name = message.partition("unrecognized arguments: --")[2].split(" ")[0].replace("-", "_")
        for evaluator in (PrequentialEvaluator, KFoldEvaluator, HoldoutEvaluator):
            if name in inspect.signature(evaluator).parameters:
                message += f". Parameters without an option go with --set: --set {name}=VALUE"
                break
        super().error(message)


def make_parser(**run: Command) -> argparse.ArgumentParser:
    """Return the parser, which leads to the functions that run the commands, by their names."""
    parser = _Parser(prog="skstream", description="Evaluate models on data streams.")
    parser.add_argument("--version", action="version", version=f"skstream {__version__}")
    parser.add_argument("--traceback", help="show the traceback of errors", **_FLAG)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, add, description, epilog in (
        ("demo", _add_demo, "Compare naive Bayes and linear models with baselines.", None),
        ("evaluate", _add_evaluate, DESCRIPTION, _epilog()),
        ("score", _add_score, SCORE_DESCRIPTION, SCORE_EPILOG),
        ("verify", _add_verify, VERIFY_DESCRIPTION, None),
        ("report", _add_report, REPORT_DESCRIPTION, None),
        ("bench", _add_bench, BENCH_DESCRIPTION, BENCH_EPILOG),
        ("versions", None, "Print the versions of Python, skstream and what it uses.", None),
    ):
        form = _Help if epilog else argparse.HelpFormatter
        command = commands.add_parser(
            name,
            help=" ".join(description.partition(":")[0].partition(". ")[0].split()),
            description=description,
            epilog=epilog,
            formatter_class=form,
        )
        command.set_defaults(run=run[name])
        if add is not None:
            add(command)
    return parser


def _epilog() -> str:
    models = "\n".join(f"  {name:<22}{_meaning(MODELS[name])}" for name in sorted(MODELS))
    others = [name for name in COMPOSITIONS if name != "join_streams"]
    return EPILOG.format(
        models=models,
        generators=textwrap.fill(
            ", ".join(GENERATORS), 76, initial_indent="  ", subsequent_indent="  "
        ),
        compositions=", ".join(others),
        fetched=", ".join(FETCHED),
        classification=_measures(OF_CLASSES),
        of_class=_measures(name for name in OF_CLASS if name not in OF_CLASSES),
        regression=_measures(REGRESSION),
    )


def _measures(names: Iterable[str]) -> str:
    return "\n".join(f"  {name:<32}{MEANINGS[name]}" for name in names)


def _meaning(model: str | Callable[..., Any]) -> str:
    return model if isinstance(model, str) else (inspect.getdoc(model) or "").partition("\n")[0]
