"""The options of the command line, and what its help says."""

import argparse
import math
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skstream.cli._generators import COMPOSITIONS, GENERATORS
from skstream.cli._models import MODELS
from skstream.metrics._registry import OF_CLASSES, REGRESSION
from skstream.utils._version import __version__

Command = Callable[[argparse.Namespace], int]

#: Rows between two checkpoints at which held-out rows are asked.
EVERY = 1000

DESCRIPTION = """\
Evaluate models on a file or a generated stream: each row is predicted before it is
learnt, in their order. The table shows the models beside naive baselines, which a
useful model beats. Without --model it shows the baselines alone: a first look at a
stream."""
EPILOG = """\
examples:
  skstream evaluate power.csv --target class --model sgd --model scaled-sgd
  skstream evaluate power.csv --target class --model "augmented('nb', n_lags=2)" \\
      --forgetting window:1000 --metric accuracy --plot power.png
  skstream evaluate day.*.csv --target load --model "pipeline('scaler', 'sgd-regressor')"
  skstream evaluate power.csv --target class --model sgd --holdout 5000 --every 500
  skstream evaluate elecNormNew.arff --target class --model nb
  skstream evaluate rcv1.svm.gz --model sgd
  skstream evaluate month/ --target click --model sgd --checkpoint run --n-jobs -1
  skstream evaluate --generator "SEA(n_rows=50000, noise=0.2)" --model nb
  skstream verify results/result.npz --data power.csv
  skstream status run

models:
{models}
  Parameters stand in parentheses: "sgd(alpha=0.001)". A quoted model is wrapped:
  "augmented('nb', n_lags=2)", "pipeline('scaler', 'sgd')". Any other estimator with
  partial_fit, or model of River, goes by its module:
  "sklearn.linear_model:Perceptron(penalty='l2')", river.tree:HoeffdingTreeClassifier.
  Naming a module imports it, which runs its code. A name before = stands in the table:
  "slow=sgd(alpha=0.001)".
  Use quotes, since the shell reads parentheses itself.

generators (those of the testbed, NSGT and so on, come with the best possible answers):
{generators}
  Parameters as of models: "SEA(n_rows=50000, noise=0.2)". Streams in quotes are
  composed: "join_streams('SEA', 'SEA(random_state=1)', position=5000, width=500)", and by
  {compositions}.

measures of labels (default: accuracy and four kappas; f1:UP is the f1 of label UP):
{classification}
measures of numbers:
{regression}

A target of numbers with fractions is regression; every other target holds labels.
Texts become categories, and categories ordinal codes; --nominal and --numeric
decide otherwise. The exit status is 0, 2 after an error, 130 after Ctrl-C."""


SCORE_DESCRIPTION = """\
Score predictions that stand in a file beside the labels, row by row, as an evaluation
scores its models: under any measure and forgetting, per day, and as labels became known."""
SCORE_EPILOG = """\
examples:
  skstream score log.parquet --target fraud --predictions gbm=pred_gbm
  skstream score log.parquet --target fraud --probabilities gbm=p_gbm --time time \\
      --label-time label_time --metric auc --forgetting window:7D --every 1D --plot auc.png"""


def _count(text: str, least: int = 0) -> int:
    try:
        value = int(text.replace(",", ""))
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {least}")
    return value


def _positive(text: str) -> int:
    return _count(text, least=1)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def _time_or_rows(text: str) -> str | int:
    return _positive(text) if text.replace(",", "").isdigit() else text


def _number_or(*texts: str) -> Callable[[str], str | float]:
    """Return the reader of a number, in whose place there may be some texts; NaN is a number."""

    def read(text: str) -> str | float:
        if text in texts:
            return text
        try:
            return float(text)
        except ValueError:
            others = ", ".join(map(repr, dict.fromkeys((*texts, "nan"))))
            raise argparse.ArgumentTypeError(f"{text!r} is not {others} or a number") from None

    return read


def make_parser(
    demo: Command,
    evaluate: Command,
    score: Command,
    verify: Command,
    status: Command,
    collect: Command,
) -> argparse.ArgumentParser:
    """Return the parser, which leads to the functions that run the commands."""
    parser = argparse.ArgumentParser(
        prog="skstream", description="Evaluate models that learn from data streams."
    )
    parser.add_argument("--version", action="version", version=f"skstream {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_demo(commands, demo)
    _add_evaluate(commands, evaluate)
    _add_score(commands, score)
    _add_verify(commands, verify)
    _add_status(commands, status)
    _add_collect(commands, collect)
    return parser


def _add_demo(commands: Any, run: Command) -> None:
    command = commands.add_parser(
        "demo",
        help="compare models on a stream; ends with a table and a picture",
        description="Compare naive Bayes and linear models with the baselines, row by row.",
    )
    command.set_defaults(run=run)
    command.add_argument(
        "--data",
        metavar="FILE",
        help="the Electricity stream, or another file whose labels are in the column 'class' "
        "(default: a generated stream)",
    )
    command.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("skstream-demo"),
        help="folder for the picture and the result (default: %(default)s)",
    )


def _add_score(commands: Any, run: Command) -> None:
    command = commands.add_parser(
        "score",
        help="score predictions that are in a file beside the labels; no model is run",
        description=SCORE_DESCRIPTION,
        epilog=SCORE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    add = command.add_argument
    add("file", nargs="+", metavar="FILE", help="Parquet or CSV file, or several in time order")
    add("--target", required=True, metavar="COL", help="column of the labels; missing: not known")
    add(
        "--predictions",
        action="append",
        default=[],
        metavar="NAME=COL",
        help="column of the predictions of a model; repeatable",
    )
    add(
        "--probabilities",
        action="append",
        default=[],
        metavar="NAME=COL",
        help="column of the probabilities of a model: of two classes, those of the second; "
        "NAME=CLASS:COL says of which class they are, and NAME=COL,COL,COL are those of all "
        "classes in their order; repeatable. Without --predictions, the most probable class is "
        "the prediction",
    )
    add("--time", metavar="COL", help="column of the times at which rows came and were predicted")
    add("--label-time", metavar="COL", help="column of the times at which labels became known")
    add("--weight", metavar="COL", help="column of scoring weights")
    add(
        "--view",
        choices=("hindsight", "as_known"),
        default="hindsight",
        help="hindsight (default): rows are scored in the order in which they came; as_known: in "
        "that of their labels, as the scores could be known then",
    )
    add("--metric", action="append", metavar="NAME", help="measure; repeatable")
    add(
        "--forgetting",
        action="append",
        metavar="NAME",
        help="what a measure remembers: cumulative (default), window:1000 or fading:0.999 (rows), "
        "window:7D or half-life:30D (time), or adwin; repeatable",
    )
    add(
        "--every",
        type=_time_or_rows,
        metavar="TIME",
        help="distance of the checkpoints: a time, such as 1D, or a number of rows (default: about "
        "1,000 checkpoints)",
    )
    add(
        "--slices",
        action="append",
        metavar="COL",
        help="column of groups, each of which is scored: its values, or quarters of its numbers; "
        "repeatable: groups are then combinations",
    )
    add(
        "--estimate",
        action="store_true",
        help="estimate accuracy, log loss and Brier score of the rows that have no labels yet, and "
        "say how right such estimates have been; needs --probabilities, --time and --label-time",
    )
    add(
        "--max-wait",
        metavar="TIME",
        help="with --estimate: time, such as 30D, after which a row without a label no longer "
        "counts as waiting (default: none)",
    )
    add(
        "--unanswered",
        choices=("error", "skip", "wrong"),
        default="error",
        help="what becomes of a row without a prediction: an error (default), or it is not scored "
        "for that model, or it counts as a wrong answer",
    )
    _add_output(command.add_argument_group("the output"))


def _add_verify(commands: Any, run: Command) -> None:
    command = commands.add_parser(
        "verify",
        help="run the evaluation of a saved result again, and say what differs",
        description="Run the evaluation of a saved result again, and say 'identical', or the first "
        "row or checkpoint, model and measure that differ, and why. The exit status is 0, 1 where "
        "something differs, 2 after an error.",
    )
    command.set_defaults(run=run)
    add = command.add_argument
    add("result", type=Path, metavar="RESULT", help="result.npz, as --save has written it")
    add(
        "--data",
        nargs="+",
        metavar="FILE",
        help="files of the stream (default: those that the result was made of)",
    )
    add(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help="model to check, as of evaluate; repeatable (default: those of the command that made "
        "the result)",
    )
    add("--target", metavar="COL", help="column of the labels (default: that of the command)")


def _add_status(commands: Any, run: Command) -> None:
    command = commands.add_parser(
        "status",
        help="say how far an evaluation with --checkpoint is",
        description="Say how far the evaluation in a folder is: rows done, rows per second, time "
        "left, and the slowest model. It may run in another process or on another machine.",
    )
    command.set_defaults(run=run)
    _add_folder(command)


def _add_collect(commands: Any, run: Command) -> None:
    command = commands.add_parser(
        "collect",
        help="show the models that have finished in an evaluation with --checkpoint",
        description="Show the scores of the models that have finished in the folder of an "
        "evaluation, and name the others. It may still run.",
    )
    command.set_defaults(run=run)
    _add_folder(command)
    _add_save(command)


def _add_folder(command: Any) -> None:
    command.add_argument(
        "folder", type=Path, metavar="FOLDER", help="folder that was given as --checkpoint"
    )


def _add_evaluate(commands: Any, run: Command) -> None:
    command = commands.add_parser(
        "evaluate",
        help="evaluate models on a file or a generated stream",
        description=DESCRIPTION,
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    _add_files(command.add_argument_group("the stream"))
    _add_protocol(command.add_argument_group("the evaluation"))
    _add_output(command.add_argument_group("the output"))


def _add_files(group: Any) -> None:
    add = group.add_argument
    add(
        "file",
        nargs="*",
        metavar="FILE",
        help="Parquet, CSV, ARFF or SVMlight file (.parquet, .csv, .arff, .svm), or a folder of "
        "them, or several files in the order in which they are to be read; paths or URIs, as "
        "s3://bucket/folder. Row order is time order",
    )
    add(
        "--generator",
        metavar="STREAM",
        help="make the rows instead of reading them, see below",
    )
    add(
        "--target",
        metavar="COL",
        help="column of the labels or targets; a name that is not there is answered with all "
        "names. Not for SVMlight files, whose lines begin with the label",
    )
    add("--exclude", action="append", metavar="COL", help="column to leave out; repeatable")
    add("--column", action="append", metavar="COL", help="column to use, no others; repeatable")
    add("--nominal", action="append", metavar="COL", help="column of categories; repeatable")
    add("--numeric", action="append", metavar="COL", help="column of numbers; repeatable")
    add(
        "--text",
        metavar="COL",
        help="column of texts, the only feature, for models that begin with a vectorizer, as "
        "pipeline('sklearn.feature_extraction.text:HashingVectorizer', 'sgd')",
    )
    add(
        "--missing",
        type=_number_or("error", "nan"),
        metavar="RULE",
        help="what becomes of a missing feature: a number to put there (0, say), error, or nan "
        "(default: the model decides)",
    )
    add(
        "--missing-labels",
        choices=("error", "skip"),
        default="error",
        help="what becomes of a row without a label: an error (default), or it is left out of "
        "learning and scores",
    )
    add("--n-rows", type=_positive, metavar="N", help="evaluate the first N rows only")
    add(
        "--max-categories",
        type=_positive,
        metavar="N",
        help="refuse categories of more different values (default: 1000 texts)",
    )
    add(
        "--delimiter",
        metavar="C",
        help="CSV: character between values (default: ',' or a tab in .tsv; 'tab' is the tab)",
    )
    add("--decimal", metavar="C", help="CSV: character before the decimals (default: '.')")
    add(
        "--no-header",
        action="store_true",
        help="CSV: the first line is data; the columns are called f0, f1, ...",
    )
    add(
        "--null-value",
        action="append",
        metavar="TEXT",
        help="CSV: text that stands for a missing "
        "value, beside the usual ones (nothing, ?, NA, NaN, null); repeatable",
    )
    add(
        "--not-null",
        action="append",
        metavar="TEXT",
        help="CSV: text that is a value of its own, though it usually stands for a missing one "
        "(NA, null); repeatable",
    )
    add(
        "--on-bad-line",
        choices=("error", "skip"),
        help="CSV: what becomes of a line with more or fewer values than there are columns: an "
        "error (default), or it is left out and counted",
    )
    add("--encoding", metavar="NAME", help="CSV, ARFF: encoding (default: utf-8)")


def _add_protocol(group: Any) -> None:
    add = group.add_argument
    add(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help="model to evaluate, see below, after a name of its own if wanted: NAME=MODEL; "
        "repeatable. The baselines are always there",
    )
    add("--metric", action="append", metavar="NAME", help="measure, see below; repeatable")
    add(
        "--forgetting",
        action="append",
        metavar="NAME",
        help="what a measure remembers: cumulative (all rows, default), window:1000 (the last "
        "1,000), fading:0.999 (older rows count less) or adwin; repeatable",
    )
    add(
        "--warmup",
        type=_count,
        default=1,
        metavar="N",
        help="rows learnt first, unasked (default: 1; 0: all are asked: of models that state "
        "a first answer, such as the baselines)",
    )
    add(
        "--batch-size",
        type=_positive,
        default=1,
        metavar="N",
        help="predict N rows, then learn them at once (default: 1, row by row)",
    )
    add(
        "--holdout",
        metavar="ROWS",
        help="ask about rows that are never learnt, whole sets of them, instead of about every row "
        "before it is learnt: a file, or a number of rows, the last ones of the stream. 'next': "
        "the next --every rows, which are learnt afterwards",
    )
    add(
        "--every",
        type=_positive,
        metavar="N",
        help=f"rows learnt between two checkpoints of --holdout (default: {EVERY})",
    )
    add(
        "--unanswered",
        choices=("error", "wrong"),
        default="error",
        help="what becomes of a row to which a model gives no answer: an error (default), or it "
        "counts as a wrong answer",
    )
    add(
        "--error-score",
        type=_number_or("raise"),
        default=math.nan,
        metavar="RULE",
        help="what becomes of a model that fails: nan (default) or another number in place of its "
        "scores, while the others go on; or raise, and the whole evaluation ends",
    )
    add(
        "--keep-tape",
        choices=("auto", "yes", "disk", "no"),
        default="auto",
        help="where labels and predictions are kept, with which a saved result can be scored "
        "again and compared: auto (default; in memory up to a gigabyte, beyond it in files of "
        "--checkpoint, or not at all), yes (in memory), disk (in files of --checkpoint) or no",
    )
    add("--random-state", type=_whole, default=0, metavar="SEED", help="seed (default: 0)")
    add("--n-jobs", type=_whole, metavar="N", help="models evaluated at once; -1: one per core")
    add("--progress", action="store_true", help="show a progress bar (needs tqdm)")
    add(
        "--checkpoint",
        type=Path,
        metavar="FOLDER",
        help="go on from this folder when the same command was stopped; checkpoints are written "
        "there",
    )
    add(
        "--checkpoint-every",
        type=_time_or_rows,
        metavar="TIME",
        help="distance of the checkpoints: a time, such as 30s, 10min or 2h, or a number of rows "
        "(default: 10min)",
    )


def _add_output(group: Any) -> None:
    add = group.add_argument
    add(
        "--plot",
        type=Path,
        metavar="FILE",
        help="picture of a measure over the stream: .png, .svg, .pdf",
    )
    add("--plot-metric", metavar="NAME", help="measure to plot (default: the first one)")
    _add_save(group)


def _add_save(group: Any) -> None:
    group.add_argument(
        "--save",
        type=Path,
        metavar="DIR",
        help="folder for the result (result.npz, which "
        "skstream.load reads) and its scores (scores.csv)",
    )


def _epilog() -> str:
    models = "\n".join(f"  {name:<22}{_meaning(MODELS[name])}" for name in sorted(MODELS))
    others = [name for name in COMPOSITIONS if name != "join_streams"]
    return EPILOG.format(
        models=models,
        generators=textwrap.fill(
            ", ".join(GENERATORS), 76, initial_indent="  ", subsequent_indent="  "
        ),
        compositions=", ".join(others),
        classification=textwrap.fill(", ".join(OF_CLASSES), 76),
        regression=textwrap.fill(", ".join(REGRESSION), 76),
    )


def _meaning(model: str | Callable[..., Any]) -> str:
    return model if isinstance(model, str) else "steps that learn one after the other"
