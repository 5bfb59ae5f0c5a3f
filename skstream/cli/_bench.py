"""The command ``skstream bench``: models × streams × seeds of a suite, and what comes of them.

A run of the suite is one stream with one seed and all models: the evaluation that the words of an
`evaluate` command say. Each is saved as soon as it has finished, with its words, by which it is
known when the suite goes on, and by which `skstream verify` makes it again.
"""

import argparse
import inspect
import json
import math
import os
import re
import signal
import sys
import threading
import time
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.utils.parallel import delayed

from skstream._load import load_result
from skstream.cli._arguments import OPTIONS_OF_STREAMS
from skstream.cli._from_text import GENERATOR, KNOWN_STREAMS, parse_model_string
from skstream.cli._output import draw, make_folder, one_line_warnings, say, show, with_command
from skstream.core.measures.registry import resolve_metrics
from skstream.evaluation import EvaluationResult
from skstream.stats._report import plural
from skstream.studies._leaderboard import Leaderboard
from skstream.studies._over_seeds import StreamStudy
from skstream.studies._seed_study import SeedStudy, with_models_of
from skstream.utils._choices import did_you_mean
from skstream.utils._saved import atomic_write, no_such_file
from skstream.utils._sklearn import QuietParallel

SHIPPED = Path(__file__).with_name("suite.toml")
#: Suites that are beside it, which are named without a path.
SHIPPED_NAMES = ("field", "field-short")
SUITE, RESULTS, TABLE, SUMMARY = "suite.toml", "results", "table.md", "summary.json"
RANKS_PICTURE = "critical_difference.png"
KEYS = (
    *("alpha", "bin", "certify", "chance", "metric", "missing", "models", "protocol"),
    *("references", "seeds", "streams"),
)
#: A model that is shown where the truth is known, and never competes.
OPTIMAL = "bayes-optimal"
DIFFERENT, FAILED, INTERRUPTED = 1, 2, 130
_STREAM_NAME = re.compile(r"[\w+-][\w.+-]*")

#: Options of streams that go with files alone.
OF_FILES = ("target", "exclude", "read", "time", "label-time", "delay-unit")

#: Reads the words of a command, and returns what they plan.
Plan = Callable[[Sequence[str]], Any]


@dataclass(frozen=True)
class Run:
    """One stream with one seed, and all models.

    Attributes
    ----------
    stream : str
        Name of the stream.
    seed : int
        The seed.
    words : tuple of str
        The command that evaluates it.
    path : Path
        Where the result is saved.
    """

    stream: str
    seed: int
    words: tuple[str, ...]
    path: Path


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What a file says about a benchmark.

    Attributes
    ----------
    text : str
        The file.
    models : dict of str to str
        Model strings by name.
    every_model : dict of str to str
        These and those of single streams.
    streams : dict of str to (str or dict)
        Texts that describe generators, or options of the command line about files; with models,
        measures and seeds of their own.
    seeds : tuple of int
        The seeds.
    metrics : tuple of str
        Measures; the first is ranked.
    certify : str or None
        Measure of the leaderboard; None: there is none.
    references : tuple of str
        Models that are shown and do not compete.
    alpha : float
        Level of the tests and of the leaderboard.
    protocol : dict of str to object
        Parameters of the evaluator.
    chance : tuple of str
        Models whose answers depend on the seed: on rows that do not, later seeds are theirs alone.
        Empty: all models may.
    bin : int or None
        Bin whose answers count where labels are late; None: the last one.
    skips_missing : bool
        Whether streams that cannot be opened are left out.
    """

    text: str
    models: dict[str, str]
    every_model: dict[str, str]
    streams: dict[str, str | dict[str, Any]]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    certify: str | None
    references: tuple[str, ...]
    alpha: float
    protocol: dict[str, Any]
    chance: tuple[str, ...]
    bin: int | None
    skips_missing: bool

    def runs(self, folder: Path) -> list[Run]:
        """Return all runs, seed by seed: each stream has a result as soon as can be."""
        return [
            Run(name, seed, self._words(name, seed), folder / RESULTS / f"{name}-{seed}.npz")
            for place, seed in enumerate(self.seeds)
            for name, given in self.streams.items()
            if isinstance(given, str) or place < given.get("seeds", math.inf)
        ]

    def _words(self, name: str, seed: int) -> tuple[str, ...]:
        given = self.streams[name]
        own: dict[str, Any] = {"generator": given} if isinstance(given, str) else dict(given)
        files = own.pop("file", [])
        files = [files] if isinstance(files, str) else files
        models, further = self.models | own.pop("models", {}), own.pop("metric", [])
        own.pop("seeds", None)
        if files and "generator" in own:
            # The generator fetches what the files hold, where they are not there.
            if all(os.path.exists(os.path.expandvars(one)) for one in files):
                del own["generator"]
            else:
                files = []
                own = {key: one for key, one in own.items() if key not in OF_FILES}
        text = str(own.get("generator", ""))
        if "generator" in own:
            own["generator"] = seeded(text, seed_of(name, seed))
        if self.chance and seed != self.seeds[0] and own.get("generator", "") == text:
            models = {name: model for name, model in models.items() if name in self.chance}
        words = ["evaluate", *files]
        for key, value in (own | {"set": self.protocol | own.get("set", {})}).items():
            words += _option(key, value)
        words += _option("metric", list(self.metrics)) + _option("metric", further)
        words += _option("model", [f"{name}={model}" for name, model in models.items()])
        return (*words, "--set", "keep_tape=True", "--set", f"random_state={seed}")


def _option(key: str, value: Any) -> list[str]:
    if isinstance(value, dict):  # of parameters
        value = [f"{name}={one!r}" for name, one in value.items()]
    values = value if isinstance(value, list) else [value]
    return [word for one in values for word in (f"--{key}", str(one))]


def seed_of(stream: str, seed: int) -> int:
    """Return the seed of a generator: another one for each stream, so that none share numbers."""
    return zlib.crc32(f"{stream} {seed}".encode())


def seeded(text: str, seed: int) -> str:
    """Put a seed into the text of a generator.

    Parameters
    ----------
    text : str
        A generator. ``{seed}`` in it is replaced; else, the generator gets it as its
        `random_state`, if it has one and the text does not give it.
    seed : int
        The seed.

    Returns
    -------
    text : str
        With the seed, where it has a place.

    Examples
    --------
    >>> from skstream.cli._bench import seeded
    >>> seeded("SEA(noise=0.2)", 7), seeded("take_rows('SEA(random_state={seed})', n=9)", 7)
    ('SEA(noise=0.2, random_state=7)', "take_rows('SEA(random_state=7)', n=9)")
    """
    if "{seed}" in text:
        return text.replace("{seed}", str(seed))
    parts = parse_model_string(text, GENERATOR, KNOWN_STREAMS)
    make = KNOWN_STREAMS.get(parts.target)
    if parts.models or "random_state" in parts.parameters or not callable(make):
        return text
    if "random_state" not in inspect.signature(make).parameters:
        return text
    before = f"{text.strip().removesuffix(')')}, " if parts.parameters else f"{parts.target}("
    return f"{before}random_state={seed})"


# -- reading a suite


def read_suite(path: Path | None) -> Suite:
    """Read a suite; None: the one that ships.

    Parameters
    ----------
    path : Path or None
        A TOML file, or the name of one that ships.

    Returns
    -------
    suite : Suite
        What it says, checked as far as nothing is opened.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no TOML, or has an unknown key or a value of a wrong kind.
    """
    if path is None or (str(path) in SHIPPED_NAMES and not path.is_file()):
        path = SHIPPED if path is None else SHIPPED.with_name(f"{path}.toml")
    if not path.exists():
        raise no_such_file(path)
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}.") from error
    _check_keys(data, KEYS, f"{path}", "key")
    models, streams = (_table(data, name, path) for name in ("models", "streams"))
    protocol = data.get("protocol", {})
    if not isinstance(protocol, dict):
        raise ValueError(f"{path}: [protocol] must be a table of parameters. Got {protocol!r}.")
    _check_models(models, f"{path}: [models]")
    every = dict(models)
    for name, stream in streams.items():
        _check_stream(name, stream, every, path)
        alike = [one for one in streams if one.casefold() == name.casefold()]
        if len(alike) > 1:
            raise ValueError(
                f"{path}: the names of streams become those of files, and {' and '.join(alike)} "
                "differ only in capitalisation, which some systems ignore."
            )
    metrics = _list(data.get("metric", "accuracy"), str, "metric", path)
    certify = data.get("certify", metrics[0])
    if not (isinstance(certify, str) or certify is False):
        raise ValueError(f"{path}: certify must be a measure, or false. Got {certify!r}.")
    seeds = data.get("seeds", 1)
    if isinstance(seeds, int) and not isinstance(seeds, bool):
        seeds = list(range(seeds))
    chance = tuple(_list(data.get("chance", []), str, "chance", path, least=0))
    _check_keys(dict.fromkeys(chance), list(every), f"chance of {path}", "model")
    bin, missing = data.get("bin"), data.get("missing", "error")
    if not (bin is None or (type(bin) is int and bin >= 0)):
        raise ValueError(f"{path}: bin must be the number of a bin, such as 0. Got {bin!r}.")
    if missing not in ("error", "skip"):
        raise ValueError(f'{path}: missing must be "error" or "skip". Got {missing!r}.')
    alpha = data.get("alpha", 0.05)
    if not (isinstance(alpha, float) and 0 < alpha < 1):
        raise ValueError(f"{path}: alpha must be a number between 0 and 1. Got {alpha!r}.")
    return Suite(
        text=text,
        models=models,
        every_model=every,
        streams=streams,
        seeds=tuple(_list(seeds, int, "seeds", path)),
        metrics=tuple(dict.fromkeys([*metrics, *([certify] if certify else [])])),
        certify=certify or None,
        references=tuple(_list(data.get("references", []), str, "references", path, least=0)),
        alpha=alpha,
        protocol=protocol,
        chance=chance,
        bin=bin,
        skips_missing=missing == "skip",
    )


def _check_keys(given: Mapping[str, Any], known: Sequence[str], where: str, what: str) -> None:
    for key in given:
        if key not in known:
            raise ValueError(
                f"{where} has the unknown {what} {key!r}.{did_you_mean(key, known)} Valid are: "
                f"{', '.join(known)}."
            )


def _table(data: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    table = data.get(name)
    if not isinstance(table, dict) or not table:
        raise ValueError(f"{path} needs a table [{name}] with at least one entry. Got {table!r}.")
    return table


def _list(given: Any, kind: type, key: str, path: Path, least: int = 1) -> list[Any]:
    values = given if isinstance(given, list) else [given]
    is_good = len(values) >= least and len(set(map(str, values))) == len(values)
    if not (is_good and all(type(one) is kind for one in values)):
        words = "a number above 0, or a list of different whole numbers"
        if kind is str:
            words = "a text, or a list of different texts"
        raise ValueError(f"{path}: {key} must be {words}. Got {given!r}.")
    if kind is int and min(values) < 0:
        raise ValueError(f"{path}: {key} must not be negative. Got {given!r}.")
    return values


def _check_models(models: Any, where: str) -> None:
    if not isinstance(models, dict):
        raise ValueError(f"{where} must be a table of names and texts. Got {models!r}.")
    for name, text in models.items():
        if not isinstance(text, str) or re.search(r"[=()'\"]", name):
            raise ValueError(
                f"{where} must map names to texts, with names without = ( ) and quotes, as in "
                f'slow = "sgd(alpha=0.001)". Got {name!r} = {text!r}.'
            )


def _check_stream(name: str, given: Any, models: dict[str, str], path: Path) -> None:
    """Refuse what no stream can be; its own models are added to those given."""
    if not _STREAM_NAME.fullmatch(name):
        raise ValueError(
            f"{path}: the name of a stream becomes that of a file, and may contain only letters, "
            f"digits and . + - _. Got {name!r}."
        )
    if isinstance(given, dict):
        known = (*OPTIONS_OF_STREAMS, "models", "seeds")
        _check_keys(given, known, f"The stream {name} of {path}", "option")
        _check_models(given.get("models", {}), f"{path}: models of the stream {name}")
        for one, text in given.get("models", {}).items():
            if models.setdefault(one, text) != text:
                raise ValueError(
                    f"{path}: the model {one!r} of the stream {name} is {text!r}, and elsewhere "
                    f"{models[one]!r}. Give one of them another name."
                )
        if not (type(n := given.get("seeds", 1)) is int and n > 0):
            raise ValueError(
                f"{path}: seeds of a stream must be a number above 0, of the first seeds of the "
                f"suite that it has. Got {n!r} of {name}."
            )
    elif not isinstance(given, str):
        raise ValueError(
            f"{path}: a stream must be the text of a generator, or a table such as "
            f'{{file = "power.csv", target = "class"}}. Got {name} = {given!r}.'
        )


def _check_certify(measure: str, classes: Any, models: Mapping[str, Any]) -> None:
    (found,) = resolve_metrics([measure], classes=classes).values()
    without = [name for name, model in models.items() if not hasattr(model, "predict_proba")]
    if found.row_loss in ("brier", "log") and without:
        raise ValueError(
            f"No leaderboard can be certified by {measure!r} of models without probabilities "
            f'({", ".join(without)}). Use another measure, such as certify = "accuracy", or list '
            "these models as references."
        )
    if found.row_loss not in ("zero_one", "brier", "log"):
        raise ValueError(
            f"No leaderboard can be certified by {measure!r}: it is not the mean of a bounded loss "
            'per row. Use one that is, such as certify = "accuracy", or leave the leaderboard '
            "out: certify = false."
        )


# -- the command


def bench(options: argparse.Namespace, planned: Plan) -> int:
    """Do what is left of a suite, and write what comes of it."""
    suite = read_suite(options.suite)
    if options.list:
        show(suite.text)
        return 0
    folder: Path = options.out
    make_folder(folder, "--out")
    runs = suite.runs(folder)
    found = finished(runs, folder)
    left = [run for run in runs if run.path not in found]
    first = [run for run in left if run.seed == suite.seeds[0]] or left[:1]
    missing = _check_plans(first, suite, planned)
    runs, left = ([run for run in some if run.stream not in missing] for some in (runs, left))
    make_folder(folder / RESULTS, "--out")
    _write(folder / SUITE, suite.text)
    if found:
        say(f"{len(found)} of {plural(len(runs), 'run')} were finished before")
    try:
        with terminated_as_interrupted():
            for run, seconds in _do_all(left, options.n_jobs, planned):
                found[run.path] = load_result(run.path)
                say(f"{len(found)} of {len(runs)}: {run.stream}, seed {run.seed}, {seconds:.1f} s")
    except KeyboardInterrupt:
        say(
            f"interrupted; {len(found)} of {plural(len(runs), 'run')} are finished, and the same "
            "command resumes"
        )
        return INTERRUPTED
    outcome = Outcome.of(suite, runs, found)
    references, alpha = outcome.not_ranked, suite.alpha
    show(outcome.study.table(suite.metrics[0], references=references, alpha=alpha))
    if outcome.board is not None:
        show(f"\n{outcome.board}")
    for name, text in outcome.files().items():
        _write(folder / name, text)
        print(f"Written: {folder / name}")
    outcome.draw(folder)
    if outcome.failed:
        sys.stdout.flush()
        say(f"error: models that failed are not ranked: {', '.join(outcome.failed)}")
        return FAILED
    return 0


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def finished(runs: Sequence[Run], folder: Path) -> dict[Path, EvaluationResult]:
    """Return results that are there already; an error where they are not those of the suite."""
    # What a killed process was writing is hidden.
    files = sorted((folder / RESULTS).glob("*.npz"))
    there = [path for path in files if not path.name.startswith(".")]
    known = {run.path: run for run in runs}
    found = {}
    for path in there:
        if path not in known:
            raise ValueError(
                f"{path} belongs to no stream and seed of this suite. Use another folder with "
                "--out, or move the file away."
            )
        result = load_result(path)
        then = list(map(str, result.details.record.get("command", ())))
        if then != list(known[path].words):
            raise ValueError(
                f"{path} was made by other settings than those of this suite: "
                f"{difference(then, known[path].words)}. Streams and seeds can be added to a "
                "folder; for other models, measures or options name another folder with --out."
            )
        found[path] = result
    return found


def difference(then: Sequence[str], now: Sequence[str]) -> str:
    """Say which options differ between two commands."""

    def options(words: Sequence[str]) -> list[str]:
        return re.sub(r" (?=--)", "\n", " ".join(words[1:])).splitlines()

    old, new = options(then), options(now)
    gone, come = [one for one in old if one not in new], [one for one in new if one not in old]
    if not (gone or come):
        return "its options are in another order"
    return "; ".join(
        f"{words} {', '.join(some)}"
        for words, some in (("it has", gone), ("the suite has", come))
        if some
    )


def _check_plans(runs: Sequence[Run], suite: Suite, planned: Plan) -> list[str]:
    """Open every stream and make all models before the first row is read.

    Returns the streams that are left out since they are not there.
    """
    missing = []
    for run in runs:
        try:
            plan = planned(run.words)
        except SystemExit:
            raise ValueError(
                f"The stream {run.stream} of the suite gives an option an invalid value (see "
                "above)."
            ) from None
        except (ValueError, TypeError, OSError, ImportError) as error:
            if suite.skips_missing and isinstance(error, OSError):
                say(f"left out: {run.stream}, which is not here: {error}")
                missing.append(run.stream)
                continue
            raise ValueError(f"The stream {run.stream} of the suite: {error}") from error
        if unknown := [name for name in suite.references if name not in plan.models]:
            raise ValueError(
                f"references names {unknown[0]!r}, but there are {', '.join(plan.models)}."
            )
        if suite.certify is not None:
            models = {n: one for n, one in plan.models.items() if n not in suite.references}
            _check_certify(suite.certify, plan.classes, models)
    if runs and len(missing) == len(suite.streams):
        raise ValueError("No stream of the suite is here: there is nothing to run.")
    return missing


def _do_all(runs: Sequence[Run], n_jobs: int | None, planned: Plan) -> Iterator[tuple[Run, float]]:
    """Do runs, here or in workers; yield each when it has been saved."""
    if not runs:
        return
    parallel = QuietParallel(n_jobs=n_jobs, return_as="generator_unordered")
    with closing(parallel(delayed(_do)(run, planned) for run in runs)) as done:
        yield from done


def _do(run: Run, planned: Plan) -> tuple[Run, float]:
    """Do one run, and save its result; runs in a worker."""
    start = time.perf_counter()
    with one_line_warnings():
        try:
            plan = planned(run.words)
            result = plan.evaluator.evaluate(plan.models, plan.opened.stream)
        except Exception as error:
            error.add_note(f"This happened with the stream {run.stream}, seed {run.seed}.")
            raise
        with_command(result, run.words).save(run.path)
    return run, time.perf_counter() - start


# -- what comes of it


@dataclass(frozen=True)
class Outcome:
    """The study of all runs, and what is written of it.

    Attributes
    ----------
    suite : Suite
        The suite.
    study : StreamStudy
        Its results.
    not_ranked : list of str
        References, and models that failed.
    failed : list of str
        Models that failed on some stream.
    board : Leaderboard or None
        The leaderboard.
    """

    suite: Suite
    study: StreamStudy
    not_ranked: list[str]
    failed: list[str]
    board: Leaderboard | None

    @classmethod
    def of(
        cls, suite: Suite, runs: Sequence[Run], found: Mapping[Path, EvaluationResult]
    ) -> "Outcome":
        """Join the results of all runs."""
        firsts = {run.stream: found[run.path] for run in reversed(runs)}
        results = [with_models_of(firsts[run.stream], found[run.path]) for run in runs]
        names = [
            name
            for name in results[0].model_names
            if all(name in one.model_names for one in results)
        ]
        studies = {
            stream: SeedStudy(
                seeds=tuple(run.seed for run in runs if run.stream == stream),
                results=tuple(
                    one.select(
                        models=names,
                        metrics=list(suite.metrics),
                        bins=None if getattr(one, "bins", None) is None else suite.bin,
                    )
                    for run, one in zip(runs, results, strict=True)
                    if run.stream == stream
                ),
            )
            for stream in dict.fromkeys(run.stream for run in runs)
        }
        study = StreamStudy(studies)
        failed = [name for name in names if any(name in one.failures for one in results)]
        left = [n for n in names if n in (*suite.references, OPTIMAL) or n in failed]
        ranked = [name for name in names if name not in left]
        competing = [n for n in names if n not in (*suite.references, OPTIMAL)]
        board = None
        if suite.certify is not None and len(ranked) > 1:
            board = study.leaderboard(suite.certify, models=competing, alpha=suite.alpha)
        return cls(suite, study, left, failed, board)

    @property
    def _versions(self) -> list[str]:
        """Versions with which the results were made; several if they were made at several times."""
        found = [
            ", ".join(f"{name} {one}" for name, one in result.details.record["versions"].items())
            for study in self.study.studies.values()
            for result in study.results
        ]
        return list(dict.fromkeys(found))

    def files(self) -> dict[str, str]:
        """Return the texts to write, by the names of their files."""
        # Numbers that are not finite are null in JSON.
        summary = json.loads(json.dumps(self._summary()), parse_constant=lambda _: None)
        return {TABLE: self._markdown(), SUMMARY: f"{json.dumps(summary, indent=1)}\n"}

    def _markdown(self) -> str:
        metric = self.suite.metrics[0]
        title, header, rows, notes = self.study._parts_of_table(
            metric, references=self.not_ranked, alpha=self.suite.alpha
        )
        parts = ["# Benchmark", f"{title}.", _markdown_table(header, rows), *notes]
        if self._ranks() is not None:
            parts.append(f"![Average ranks and the critical difference]({RANKS_PICTURE})")
        if self.board is not None:
            board = _markdown_table(*self.board._columns())
            parts += ["# Certified leaderboard", f"By {self.board.loss}.", board]
            parts += self.board._sentences()
        parts.append(f"Made with {'; and with '.join(self._versions)}.")
        parts.append("Check: `skstream verify FOLDER` runs every evaluation again.")
        return "\n\n".join(parts) + "\n"

    def _ranks(self) -> Any:
        """Return the ranks of the models that compete; None where they cannot be ranked."""
        ranked = [name for name in self.study.model_names if name not in self.not_ranked]
        try:
            return self.study.rank(self.suite.metrics[0], models=ranked, alpha=self.suite.alpha)
        except ValueError:  # the table says why
            return None

    def _summary(self) -> dict[str, Any]:
        ranks, board = self._ranks(), self.board
        return {
            "seeds": list(self.suite.seeds),
            "metrics": list(self.suite.metrics),
            "versions": self._versions,
            "scores": {name: one.scores for name, one in self.study.studies.items()},
            "ranks": ranks
            and {
                "average_ranks": dict(zip(ranks.names, ranks.average_ranks.tolist(), strict=True)),
                "pvalue": ranks.pvalue,
                "critical_difference": ranks.critical_difference,
            },
            "leaderboard": board
            and {
                "loss": board.loss,
                "alpha": board.alpha,
                "possible": list(board.possible),
                "ruled_out_since": {k: v for k, v in board.since.items() if v is not None},
                "mean_losses": dict(zip(board.names, board.mean_losses.tolist(), strict=True)),
            },
        }

    def draw(self, folder: Path) -> None:
        """Write the picture of the ranks, where matplotlib is there."""
        try:
            if (ranks := self._ranks()) is not None:
                draw(ranks.plot(), folder / RANKS_PICTURE)
        except ImportError as error:
            say(f"no plot was drawn: {error}")


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    return "\n".join(f"| {' | '.join(c.replace('|', '&#124;') for c in one)} |" for one in lines)


# -- checking


def is_bench(folder: Path) -> bool:
    """Whether a folder is one that `bench` has written."""
    return (folder / SUITE).is_file() and (folder / RESULTS).is_dir()


def verify_bench(folder: Path, verify_one: Callable[[Path], int]) -> int:
    """Verify all results of a folder, and that its table and summary are those of the results.

    Parameters
    ----------
    folder : Path
        What was given as ``--out``.
    verify_one : callable
        Verifies the result in a file, says what it finds, and returns the exit status.

    Returns
    -------
    status : int
        0, or 1 where something differs or is missing.
    """
    suite = read_suite(folder / SUITE)
    runs = suite.runs(folder)
    found = finished(runs, folder)
    if suite.skips_missing:
        there = {run.stream for run in runs if run.path in found}
        runs = [run for run in runs if run.stream in there]
    status = 0
    for run in runs:
        if run.path in found:
            print(f"{run.stream}, seed {run.seed}: ", end="")
            status = max(status, verify_one(run.path))
        else:
            show(f"{run.stream}, seed {run.seed}: missing, {run.path} is not there")
            status = DIFFERENT
    if len(found) < len(runs):
        return status
    for name, text in Outcome.of(suite, runs, found).files().items():
        path = folder / name
        is_same = path.is_file() and path.read_text(encoding="utf-8") == text
        show(f"{name}: {'identical' if is_same else 'different from what these results give'}")
        status = status if is_same else DIFFERENT
    return status


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM raise `KeyboardInterrupt` in the block, so that workers are ended, too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
