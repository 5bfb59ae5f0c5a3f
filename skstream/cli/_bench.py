"""The command ``skstream bench``: models × streams × seeds of a suite, and what comes of them.

Each run of the suite is saved as soon as it has finished, with its words, by which it is known when
the suite is continued, and by which `skstream verify` makes it again.
"""

import argparse
import json
import math
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.utils.parallel import delayed

from skstream._load import load_result
from skstream.cli._output import draw, make_folder, one_line_warnings, say, show, with_command
from skstream.cli._suite import OPTIMAL, RESULTS, Run, Suite, read_suite
from skstream.core.measures.registry import resolve_metrics
from skstream.evaluation import EvaluationResult
from skstream.stats._report import plural
from skstream.studies._leaderboard import Leaderboard
from skstream.studies._over_seeds import StreamStudy
from skstream.studies._seed_study import SeedStudy, with_models_of
from skstream.utils._saved import atomic_write
from skstream.utils._sklearn import QuietParallel

SUITE, TABLE, SUMMARY = "suite.toml", "table.md", "summary.json"
RANKS_PICTURE = "critical_difference.png"
DIFFERENT, FAILED, INTERRUPTED = 1, 2, 130

#: Reads the words of a command, and returns what they plan.
Plan = Callable[[Sequence[str]], Any]


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
        summary = json.dumps(_without_nan(self._summary()), indent=1, allow_nan=False)
        return {TABLE: self._markdown(), SUMMARY: f"{summary}\n"}

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


def _without_nan(value: Any) -> Any:
    """Replace numbers that are not finite by None, which is null in JSON."""
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
