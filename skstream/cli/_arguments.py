"""The options of the command line, and what its help says."""

import argparse
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from skstream.cli._generators import COMPOSITIONS, FETCHED, GENERATORS
from skstream.cli._models import MODELS
from skstream.cli._protocols import DETECTORS, EVERY
from skstream.core.measures.registry import MEANINGS, OF_CLASS, OF_CLASSES, REGRESSION
from skstream.streams._csv import MARKS_OF_TEXTS
from skstream.utils._version import __version__

Command = Callable[[argparse.Namespace], int]

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
  skstream evaluate loans.csv --target paid --time asked --label-time known --model nb --bins 10
  skstream evaluate power.csv --target class --model nb --model sgd --folds 10 --compare nb sgd
  skstream evaluate power.csv --target class --model nb --monitor adwin --plot power.png
  skstream evaluate elecNormNew.arff --target class --model nb
  skstream evaluate rcv1.svm.gz --model sgd
  skstream evaluate month/ --target click --model sgd --checkpoint run --n-jobs -1
  skstream evaluate --generator "SEA(n_rows=50000, noise=0.2)" --model nb
  skstream verify results --data power.csv
  skstream report results --out report.html

models:
{models}
  Parameters stand in parentheses: "sgd(alpha=0.001)". A quoted model is wrapped:
  "augmented('nb', n_lags=2)", "pipeline('scaler', 'sgd')"; "prepared('sgd')" suits files
  with categories and gaps. Any other estimator with
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
  Real streams are fetched once: {fetched}.

measures of labels (default: accuracy and four kappas):
{classification}
measures of one label, which is named after a colon (f1:UP is the f1 of UP), such as auc, too:
{of_class}
measures of numbers (default: mae, rmse, r2):
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

BENCH_DESCRIPTION = """\
Evaluate the models of a suite on all its streams with all its seeds. It ends with a table,
average ranks with their critical difference, and a leaderboard that certifies which models
are not the best over these streams. What has finished is kept: the same command goes on."""
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

  Models and generators are written as for evaluate; each seed gives a generator other
  rows. Other keys: certify (measure of the leaderboard, or false), references (models
  that are shown and do not compete), alpha, and a table [protocol] of options of
  evaluate, such as warmup. skstream verify DIR runs it all again and says what differs."""


_TIMES = """\
--time-format FORMAT...  how the columns of times are written, where that is not 2020-01-31 13:30: a
  format of strptime, as %%d/%%m/%%Y or "%%m/%%d/%%Y %%I:%%M %%p", or what numbers since 1970 (UTC)
  count: s, ms, us or ns; COL=FORMAT is about one column; repeatable
--sort-by COL  column of times or numbers by which the rows are sorted, in memory; no: they are in
  the right order, whatever a column of times says
"""
#: Options, each with what is given ("..." repeatedly, "+" and "*" several at once, "?" if wanted,
#: "!" always; "A B" are two), its default, and its help.
_FILES = """\
FILE*  Parquet, CSV, ARFF or SVMlight file (.parquet, .csv, .arff, .svm), or a folder of them, or
  several files in the order in which they are to be read; paths or URIs, as s3://bucket/folder.
  Row order is time order
--generator STREAM  make the rows instead of reading them, see below
--target COL  column of the labels or targets; a name that is not there is answered with all names.
  Not for SVMlight files, whose lines begin with the label
--exclude COL...  column to leave out; repeatable
--column COL...  column to use, no others; repeatable
--text COL  column of texts, the only feature, for models that begin with a vectorizer, as
  pipeline('sklearn.feature_extraction.text:HashingVectorizer', 'sgd')
--time COL  column of the times at which rows came, in whose order they stand, and which is no
  feature; --forgetting may then count time (window:7D), and labels come late with --label-time or
  --delay
--label-time COL  column of the times at which labels became known, of the kind of --time, or row
  numbers without it; empty: never. Every row is asked when it comes, again while it waits, and
  when its label comes
--delay DELAY  in place of --label-time: rows until a label comes, or where --time is given, a time
  (1D) or a number as the times are; or the column that holds it, which is no feature
--delay-unit TIME  what 1 is in a column of delays, where --time holds dates: 1h, 1D
--missing RULE  what becomes of a missing feature: a number to put there (0, say; a category has the
  code -1 then), error, or nan (default: the model decides)
--missing-labels {error,skip} [error]  what becomes of a row without a label: an error (default), or
  it is left out of learning and scores
--n-rows N  evaluate the first N rows only
--max-categories N  refuse categories of more different values (default: 1000 texts)
"""
#: How the columns of files are read, of logs, too.
_READING = """\
--nominal COL...  column of categories; repeatable
--numeric COL...  column of numbers; repeatable
--delimiter C  CSV: character between values (default: ',' or a tab in .tsv; 'tab' is the tab)
--decimal C  CSV: character before the decimals (default: '.')
--no-header  CSV: the first line is data; the columns are called f0, f1, ...
--null-value TEXT...  CSV: text that stands for a missing value beside nothing and ?, in place of
  NA, N/A, NaN and null, which do so in columns of numbers alone; repeatable
--encoding NAME  CSV, ARFF: encoding (default: utf-8)
"""
_FILES += _TIMES
_PROTOCOL = f"""\
--model MODEL...  model to evaluate, see below, after a name of its own if wanted: NAME=MODEL;
  repeatable. The baselines are always there
--metric NAME...  measure, see below; repeatable
--forgetting NAME...  what a measure remembers: cumulative (all rows, default), window:1000 (the
  last 1,000), fading:0.999 (older rows count less) or adwin; repeatable
--warmup N [1]  rows learnt first, unasked (default: 1; 0: all are asked: of models that state a
  first answer, such as the baselines)
--batch-size N [1]  predict N rows, then learn them at once (default: 1, row by row)
--holdout ROWS  ask about rows that are never learnt, whole sets of them, instead of about every row
  before it is learnt: a file, or a number of rows, the last ones of the stream. 'next': the next
  --every rows, which are learnt afterwards
--every N  rows learnt between two checkpoints of --holdout (default: {EVERY})
--bins N  with --label-time or --delay: parts into which the time from arrival to label is divided
  (default: 50); the tables show the answers at arrival and just before the label, the picture
  those of all bins
--folds N  have N copies of each model, which learn different rows, and test over them whether
  models differ
--strategy {{bootstrap,cross,split}}  which folds learn a row: each with a Poisson(1) weight
  (bootstrap, default), all but one (cross), or one (split)
--monitor DETECTOR...  drift detector that watches the errors of each model: {", ".join(DETECTORS)}.
  Parameters and a name as of models: "slow=adwin(delta=1e-5)"; repeatable
--loss-bound NUMBER  with --monitor, of targets that are numbers: the error from which on larger
  ones count alike
--unanswered {{error,wrong,first}} [error]  what becomes of a row to which a model gives no answer:
  an error (default), or it counts as a wrong answer, or as the first class (as in CapyMOA)
--error-score RULE [nan]  what becomes of a model that fails: nan (default) or another number in
  place of its scores, while the others go on; or raise, and the whole evaluation ends
--keep-tape {{auto,yes,no}} [auto]  whether labels and predictions are kept, with which a saved
  result can be scored again and compared: auto (default; up to a gigabyte of them), yes or no
--random-state SEED [0]  seed (default: 0)
--n-jobs N  models evaluated at once; -1: one per core
--progress  show a progress bar (needs tqdm)
--checkpoint FOLDER  folder from which the same command resumes where it was stopped; checkpoints
  are written there every ten minutes
"""
_COMPARISON = """\
--compare A B  test whether these two models differ; choose them before you see scores
--compare-with-best MEASURE?  find the best model, by the first measure if none is named, and those
  that are not told apart from it; the level is that of all pairs of models. Where labels come
  late, both comparisons are of the answers at arrival
"""
_PICTURE = """\
--plot FILE  picture of a measure over the stream: .png, .svg, .pdf
--plot-metric NAME  measure to plot (default: the first one)
--report FILE  page for people who will not run anything (.html): the answer first, then tables,
  pictures, tests
"""
_SAVE = """\
--save DIR  folder for the result (result.npz, which skstream.load reads), its scores (scores.csv;
  of every bin, where labels come late) and those at all checkpoints (curve.csv)
"""
_DEMO = """\
--data FILE  the Electricity stream, or another file whose labels are in the column 'class'
  (default: a generated stream)
--out DIR [skstream-demo]  folder for the picture and the result (default: skstream-demo)
"""
_SCORE = """\
FILE+  Parquet or CSV file, or several in time order
--target COL!  column of the labels; missing: not known
--predictions NAME=COL...  column of the predictions of a model; repeatable
--probabilities NAME=COL...  column of the probabilities of a model: of two classes, those of the
  second; NAME=CLASS:COL says of which class they are, and NAME=COL,COL,COL are those of all classes
  in their order; repeatable. Without --predictions, the most probable class is the prediction
--classes LABEL+  all labels that can occur, as no,yes or no yes, in the order of the columns of
  --probabilities (default: labels, predictions and names in --probabilities, sorted)
--tolerance NUMBER [0.01]  how far probabilities may be outside [0, 1], or their sum from 1, because
  they are rounded (default: 0.01)
--time COL  column of the times at which rows came and were predicted
--label-time COL  column of the times at which labels became known
--weight COL  column of scoring weights
--view {hindsight,as_known} [hindsight]  hindsight (default): rows are scored in the order in which
  they came; as_known: in that of their labels, as the scores could be known then
--metric NAME...  measure; repeatable
--forgetting NAME...  what a measure remembers: cumulative (default), window:1000 or fading:0.999
  (rows), window:7D or half-life:30D (time), or adwin; repeatable
--every TIME  distance of the checkpoints: a time, such as 1D, or a number of rows (default: about
  1,000 checkpoints)
--slices COL...  column of groups, each of which is scored: its values, or quarters of its numbers;
  repeatable: groups are then combinations
--estimate  estimate accuracy, log loss and Brier score of the rows that have no labels yet, and say
  how right such estimates have been; needs --probabilities, --time and --label-time
--max-wait TIME  with --estimate: time, such as 30D, after which a row without a label no longer
  counts as waiting (default: none)
--unanswered {error,skip,wrong} [error]  what becomes of a row without a prediction: an error
  (default), or it is not scored for that model, or it counts as a wrong answer
"""
_SCORE += _TIMES
_VERIFY = """\
RESULT  result.npz, or the folder that was given as --save, or the folder of bench, whose results
  are all checked
--data FILE+  files of the stream (default: those that the result was made of)
--model MODEL...  model to check, as of evaluate; repeatable (default: those of the command that
  made the result)
--target COL  column of the labels (default: that of the command)
"""
_REPORT = """\
RESULT  result.npz, or the folder that was given as --save or --checkpoint
--out FILE  page to write, also in the place of an earlier one (default: report.html, which is not
  replaced)
--title TEXT  heading of the page (default: the protocol)
"""
_BENCH = """\
SUITE?  TOML file: models, streams, seeds, see below (default: the suite that ships)
--out DIR [skstream-bench]  folder for the results, the table and the pictures; the same command
  goes on from there (default: skstream-bench)
--n-jobs N  runs at once, each one stream with one seed and all models; -1: one per core
--list  print the suite and end
"""


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


#: What each command does, in short and in full, and its options in groups.
_COMMANDS = {
    "demo": (
        "compare models on a stream; ends with a table and a picture",
        "Compare naive Bayes and linear models with the baselines, row by row.",
        {"": _DEMO},
    ),
    "evaluate": (
        "evaluate models on a file or a generated stream",
        DESCRIPTION,
        {
            **{"the stream": _FILES + _READING, "the evaluation": _PROTOCOL},
            **{"comparisons": _COMPARISON, "the output": _PICTURE + _SAVE},
        },
    ),
    "score": (
        "score predictions that are in a file beside the labels; no model is run",
        SCORE_DESCRIPTION,
        {"": _SCORE, "the file": _READING, "the output": _PICTURE + _SAVE},
    ),
    "verify": (
        "run the evaluation of a saved result again, and say what differs",
        "Run the evaluation of a saved result again, and say 'identical', or the first row or "
        "checkpoint, model and measure that differ, and why. The exit status is 0, 1 where "
        "something differs, 2 after an error.",
        {"": _VERIFY},
    ),
    "report": (
        "write a saved result as one page for people who will not run anything",
        "Write a saved result as one HTML page, which needs no other file: the answer first, then "
        "tables, pictures, tests in sentences, alarms, costs, settings. Pictures need matplotlib.",
        {"": _REPORT},
    ),
    "bench": (
        "run models over streams and seeds; ends with ranks and a certified leaderboard",
        BENCH_DESCRIPTION,
        {"": _BENCH},
    ),
    "versions": (
        "print the versions of Python, of this package and of those that it uses",
        "Print what to put into a report of a fault: the versions of Python, of the system, of "
        "skstream and of the packages that it uses, and how it computes.",
        {},
    ),
}
#: What reads the values that are no plain texts.
_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(
        ("FOLDER", "RESULT", "SUITE", "--checkpoint", "--out", "--plot", "--report", "--save"), Path
    ),
    **dict.fromkeys(("--batch-size", "--max-categories", "--n-rows", "--every N"), _positive),
    **{"--bins": _positive, "--folds": partial(_count, least=2)},
    **dict.fromkeys(("--loss-bound", "--tolerance"), _number_or()),
    "--every TIME": _time_or_rows,
    **dict.fromkeys(("--n-jobs", "--random-state"), _whole),
    "--warmup": _count,
    "--missing": _number_or("error", "nan"),
    "--error-score": _number_or("raise"),
}
_OPTION = re.compile(
    r"(--[\w-]+|[A-Z]+)(?: ([A-Z=]+(?: [A-Z]+)*|\{.*\}))?(\.\.\.|\+|\*|\?|!)?(?: \[(.*)\])?"
)


def _names_of(table: str) -> tuple[str, ...]:
    """Names of the options of a table, without dashes."""
    lines = [_OPTION.fullmatch(line.split("  ", 1)[0]) for line in _lines_of(table)]
    return tuple(one[1].removeprefix("--").lower() for one in lines if one is not None)


def _lines_of(table: str) -> list[str]:
    """Lines of a table, each with one option."""
    return re.sub(r"\n +", " ", table).splitlines()


#: Options of `evaluate` that say what a stream is.
OPTIONS_OF_STREAMS = _names_of(_FILES + _READING)
#: Options of all commands.
ALL_OPTIONS = {n for *_, g in _COMMANDS.values() for one in g.values() for n in _names_of(one)}


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """How the columns of files are to be read, in the words of the streams; what was said alone."""
    said = {
        "nominal": options.nominal or None,
        "numeric": options.numeric or None,
        "delimiter": {"tab": "\t", "\\t": "\t"}.get(options.delimiter, options.delimiter),
        "decimal": options.decimal,
        "header": False if options.no_header else None,
        "encoding": options.encoding,
        "null_values": [*MARKS_OF_TEXTS, *options.null_value] if options.null_value else None,
        **_reading_times(options),
    }
    return {name: value for name, value in said.items() if value is not None}


def _reading_times(options: argparse.Namespace) -> dict[str, Any]:
    """How times are read and rows sorted, in the words of the streams."""
    columns = [options.time, options.label_time, options.sort_by]
    formats: dict[str, str] = {}
    for text in options.time_format:
        column, equals, written = text.partition("=")
        named = equals and "%" not in column
        formats |= {column: written} if named else dict.fromkeys(filter(None, columns), text)
    sort_by = False if options.sort_by == "no" else options.sort_by
    return {"sort_by": sort_by, "time_format": formats or (options.time_format or [None])[0]}


def make_parser(**run: Command) -> argparse.ArgumentParser:
    """Return the parser, which leads to the functions that run the commands, by their names."""
    parser = argparse.ArgumentParser(
        prog="skstream", description="Evaluate models that learn from data streams."
    )
    parser.add_argument("--version", action="version", version=f"skstream {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    for name, (words, description, tables) in _COMMANDS.items():
        epilogs = {"evaluate": _epilog(), "score": SCORE_EPILOG, "bench": BENCH_EPILOG}
        epilog = epilogs.get(name)
        form = argparse.RawDescriptionHelpFormatter if epilog else argparse.HelpFormatter
        command = commands.add_parser(
            name, help=words, description=description, epilog=epilog, formatter_class=form
        )
        command.set_defaults(run=run[name])
        for title, table in tables.items():
            _add_options(command.add_argument_group(title) if title else command, table)
    return parser


def _add_options(group: Any, table: str) -> None:
    """Add the options of a table, in which each begins a line."""
    for line in _lines_of(table):
        option, words = line.split("  ", 1)
        found = _OPTION.fullmatch(option)
        assert found is not None, option
        name, values, many, default = found.groups()
        if values is None and name.startswith("--"):
            group.add_argument(name, action="store_true", help=words)
            continue
        read = _TYPES.get(f"{name} {values}", _TYPES.get(name, str))
        about: dict[str, Any] = {"help": words, "type": read, "default": default}
        if values is not None and values.startswith("{"):
            about["choices"] = values[1:-1].split(",")
        else:
            about["metavar"] = values or name
        if values is not None and " " in values:
            about |= {"metavar": tuple(values.split()), "nargs": len(values.split())}
        if many == "...":
            about |= {"action": "append", "default": []}
        elif many == "!":
            about["required"] = True
        elif many:
            about |= {"nargs": many} | ({"const": ""} if many == "?" else {})
        group.add_argument(name if name.startswith("--") else name.lower(), **about)


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
