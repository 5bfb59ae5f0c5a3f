"""The command line: ``skstream demo`` and ``skstream evaluate``."""

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sklearn.base import is_regressor

from skstream import __version__
from skstream.base import check_can_learn
from skstream.evaluation import EvaluationInterrupted, PrequentialEvaluator
from skstream.pipeline import make_stream_pipeline
from skstream.streams import CSVStream, ParquetStream, Stream, label_profile, make_demo_stream
from skstream.utils._files import atomic_write
from skstream.utils._model_strings import make_model
from skstream.utils._optional import optional_import

__all__ = ["main"]

#: Short names of models; the parameters a user gives come on top of these.
MODELS: dict[str, str | Callable[..., Any]] = {
    "augmented": "skstream.temporal:TemporallyAugmented('sgd')",
    "corrected": "skstream.temporal:TemporalCorrection('nb')",
    "majority": "skstream.baselines:MajorityClass",
    "majority-window": "skstream.baselines:MajorityWindow",
    "mean": "skstream.baselines:MeanRegressor",
    "nb": "skstream.naive_bayes:IncrementalGaussianNB",
    "perceptron": "sklearn.linear_model:Perceptron",
    "persistent": "skstream.baselines:Persistent",
    "persistent-regressor": "skstream.baselines:PersistentRegressor",
    "pipeline": make_stream_pipeline,
    "scaled-sgd": "pipeline('scaler', 'sgd')",
    "scaler": "sklearn.preprocessing:StandardScaler",
    "sgd": "sklearn.linear_model:SGDClassifier(loss='log_loss')",
    "sgd-regressor": "sklearn.linear_model:SGDRegressor",
}
CLASSIFIER_BASELINES = ("persistent", "majority")
REGRESSOR_BASELINES = ("persistent-regressor", "mean")

DEMO_MODELS = ("nb", "corrected('nb')", "augmented('nb')", "sgd", "scaled-sgd")
DEMO_FORGETTING = ("cumulative", "window:1000")
DEMO_FILE = Path("..", "shared", "data", "electricity.parquet")
DEMO_ROWS = 20_000

FAILED = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Words after the name of the program; None: those the process was started with.

    Returns
    -------
    status : int
        0, or 2 after an error, or 130 after Ctrl-C.

    Examples
    --------
    >>> from skstream.cli import main
    >>> main(["evaluate", "stream.txt", "--target", "class"])
    2
    """
    options = _parser().parse_args(arguments)
    with _one_line_warnings():
        try:
            return int(options.run(options))
        except (ValueError, TypeError, OSError, ImportError) as error:
            if options.traceback:
                raise
            _say(f"error: {error}")
            return FAILED


def evaluate(options: argparse.Namespace) -> int:
    """Evaluate the models on a file, and write what was asked for."""
    models = _with_baselines({text: _model(text) for text in options.model})
    _check_outputs(options.plot, options.save)
    stream = _open_stream(
        options.file, options.target, exclude=options.exclude, missing=options.missing
    )
    if options.n_rows is not None:
        stream = FirstRows(stream, options.n_rows)
    evaluator = PrequentialEvaluator(
        options.metric,
        forgetting=options.forgetting or "cumulative",
        batch_size=options.batch_size,
        n_warmup=options.warmup,
        n_jobs=options.n_jobs,
        random_state=options.random_state,
        progress=options.progress,
    )
    result, status = _evaluated(evaluator, models, stream)
    if result is not None:
        print(result)
        _write(result, options.plot, options.save, metric=options.plot_metric)
    return status


def demo(options: argparse.Namespace) -> int:
    """Compare some models with the baselines; end with a table and a picture."""
    picture = options.out / "demo.png"
    _check_outputs(picture, options.out)
    stream, description = _demo_stream(options.data)
    print(f"Stream: {description}")
    print(f"Labels: {label_profile(stream).advice}\n")
    evaluator = PrequentialEvaluator(
        forgetting=DEMO_FORGETTING,
        random_state=0,
        progress=sys.stderr.isatty() and find_spec("tqdm") is not None,
    )
    models = _with_baselines({name: _model(name) for name in DEMO_MODELS})
    result, status = _evaluated(evaluator, models, stream)
    if result is not None:
        print(result)
        _write(result, picture, options.out, metric="accuracy", forgetting=DEMO_FORGETTING[-1])
    return status


class FirstRows(Stream):
    """The first rows of another stream.

    Parameters
    ----------
    stream : Stream
        The stream.
    n_rows : int
        Number of rows, at least 1; a shorter stream is taken whole.
    """

    def __init__(self, stream: Stream, n_rows: int):
        self._stream = stream
        self._limit = n_rows

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None if that of the stream is unknown."""
        known = self._stream.n_rows
        return None if known is None else min(known, self._limit)

    @property
    def classes(self) -> Any:
        """Sorted class labels of the whole stream."""
        return self._stream.classes

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features."""
        return self._stream.feature_names

    def chunks(self) -> Iterator[Any]:
        """Chunks of the stream, the last one cut."""
        left = self._limit
        for X, y, meta in self._stream:
            n = min(left, len(y))
            yield X[:n], y[:n], {key: values[:n] for key, values in meta.items()}
            left -= n
            if not left:
                return


def _evaluated(
    evaluator: PrequentialEvaluator, models: dict[str, Any], stream: Stream
) -> tuple[Any, int]:
    """Return the result, or after Ctrl-C the result so far, and the exit status."""
    try:
        return evaluator.evaluate(models, stream), 0
    except EvaluationInterrupted as interrupt:
        _say("interrupted; this is the result so far")
        return interrupt.result, INTERRUPTED


def _model(text: str) -> Any:
    model = make_model(text, MODELS)
    check_can_learn(model)
    return model


def _with_baselines(models: dict[str, Any]) -> dict[str, Any]:
    """Models behind the baselines of their kind, which every table shows."""
    regression = bool(models) and all(is_regressor(model) for model in models.values())
    names = REGRESSOR_BASELINES if regression else CLASSIFIER_BASELINES
    return {name: _model(name) for name in names} | models


def _open_stream(path: Path, target: str, **options: Any) -> Stream:
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    suffixes = set(path.suffixes)
    if path.is_dir() or suffixes & {".parquet", ".pq"}:
        return ParquetStream(path, target=target, **options)
    if ".csv" in suffixes:
        return CSVStream(path, target=target, **options)
    raise ValueError(f"{path} is neither a Parquet nor a CSV file (.parquet, .pq, .csv, .csv.gz).")


def _demo_stream(path: Path | None) -> tuple[Stream, str]:
    """Return the file given or at hand, else the generated stream; and say which it is."""
    if path is None and DEMO_FILE.is_file() and find_spec("pyarrow") is not None:
        path = DEMO_FILE
    if path is not None:
        return _open_stream(path, "class"), str(path)
    return make_demo_stream(DEMO_ROWS), (
        f"generated, {DEMO_ROWS:,} rows with temporal dependence and a drift "
        f"({DEMO_FILE} is not there; name another file with --data)"
    )


def _check_outputs(picture: Path | None, folder: Path | None) -> None:
    """Fail before the evaluation rather than after it."""
    if picture is not None:
        optional_import("matplotlib", "A picture")
        picture.parent.mkdir(parents=True, exist_ok=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)


def _write(
    result: Any,
    picture: Path | None,
    folder: Path | None,
    metric: str | None = None,
    forgetting: str | None = None,
) -> None:
    if folder is not None:
        print(f"Result: {result.save(folder / 'result.npz')}")
        print(f"Scores: {_save_scores(result, folder / 'scores.csv')}")
    if picture is not None:
        display = result.plot(metric, forgetting=forgetting)
        with atomic_write(picture) as temporary:
            display.figure_.savefig(temporary, dpi=150, bbox_inches="tight")
        print(f"Picture: {picture}")


def _save_scores(result: Any, path: Path) -> Path:
    with (
        atomic_write(path) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(["forgetting", "model", "metric", "value"])
        for forgetting in result.forgetting_names:
            for model, scores in result.final_scores(forgetting).items():
                for metric, value in scores.items():
                    writer.writerow([forgetting, model, metric, repr(value)])
    return path


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Show warnings as the program's own words, each text once and without a source line."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = str(message)
        if text not in shown:
            shown.add(text)
            _say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _say(message: str) -> None:
    print(f"skstream: {message}", file=sys.stderr)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return value


def _missing(text: str) -> str | float:
    if text in ("error", "nan"):
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not 'error', 'nan' or a number") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skstream", description="Evaluate models that learn from data streams."
    )
    parser.add_argument("--version", action="version", version=f"skstream {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_demo(commands)
    _add_evaluate(commands)
    return parser


def _add_demo(commands: Any) -> None:
    command = commands.add_parser(
        "demo",
        help="compare models on a stream; ends with a table and a picture",
        description="Compare naive Bayes and linear models with the baselines, row by row.",
    )
    command.set_defaults(run=demo)
    command.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="the Electricity stream, or another file whose labels are in the column 'class' "
        f"(default: {DEMO_FILE} if it is there, else a generated stream)",
    )
    command.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("skstream-demo"),
        help="folder for the picture and the result (default: %(default)s)",
    )


def _add_evaluate(commands: Any) -> None:
    command = commands.add_parser(
        "evaluate",
        help="evaluate models on a file",
        description="Evaluate models on a file, each row predicted before it is learnt. The "
        "baselines are always in the table.",
        epilog="Short names of models: " + ", ".join(sorted(MODELS)) + ".",
    )
    command.set_defaults(run=evaluate)
    add = command.add_argument
    add("file", type=Path, metavar="FILE", help="Parquet or CSV file, its rows in time order")
    add("--target", required=True, metavar="COL", help="column of the labels or targets")
    add("--exclude", action="append", metavar="COL", help="column to leave out; repeatable")
    add(
        "--missing",
        type=_missing,
        default="nan",
        metavar="RULE",
        help="missing features: error, nan (the model decides), or a number to put there",
    )
    add("--n-rows", type=_positive, metavar="N", help="evaluate the first N rows only")
    add(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help='short name or module:Class, with literal parameters: sgd, "sgd(alpha=0.001)", '
        "\"sklearn.linear_model:Perceptron(penalty='l2')\"; quoted models can be wrapped: "
        "\"augmented('nb', n_lags=2)\"; repeatable",
    )
    add("--metric", action="append", metavar="NAME", help="measure; repeatable")
    add(
        "--forgetting",
        action="append",
        metavar="NAME",
        help="cumulative (default), window:1000, fading:0.999 or adwin; repeatable",
    )
    add("--warmup", type=_positive, default=1, metavar="N", help="rows learnt first, unasked")
    add(
        "--batch-size",
        type=_positive,
        default=1,
        metavar="N",
        help="predict N rows, then learn them at once (default: 1, row by row)",
    )
    add("--random-state", type=int, default=0, metavar="SEED", help="seed (default: 0)")
    add("--n-jobs", type=int, metavar="N", help="models evaluated at once; -1: one per core")
    add("--progress", action="store_true", help="show a progress bar (needs tqdm)")
    add("--plot", type=Path, metavar="FILE", help="picture of a measure over the stream")
    add("--plot-metric", metavar="NAME", help="measure to plot (default: the first one)")
    add("--save", type=Path, metavar="DIR", help="folder for the result and its scores")
