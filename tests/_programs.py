"""Programs of users: files that an interpreter runs which has loaded the package alone."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

PROJECT = Path(__file__).resolve().parents[1]

# What a program imports takes longer than most programs. So one interpreter imports it once, and
# runs every program in a copy of itself.
COPIES = """
import gc, importlib, json, os, runpy, sys, traceback
import sklearn.linear_model, skstream.streams
for name in (
    "sklearn.naive_bayes", "scipy.signal", "matplotlib.pyplot", "pandas", "pyarrow", "numba",
):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
# Nor does every copy load the compiled loops and the fonts of its own.
demo = skstream.streams.make_demo_stream(100)
result = skstream.PrequentialEvaluator().evaluate(sklearn.linear_model.SGDClassifier(), demo)
if "matplotlib.pyplot" in sys.modules:
    with open(os.devnull, "wb") as nothing:
        result.plot().figure_.savefig(nothing)
    sys.modules["matplotlib.pyplot"].close("all")
gc.freeze()  # a copy that ends does not look through all that was imported
for line in sys.stdin:
    folder, output, *sys.argv = json.loads(line)
    copy = os.fork()
    if copy:
        print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), flush=True)
        continue
    os.chdir(folder)
    with open(output, "wb", 0) as file, open(os.devnull) as nothing:
        for standard, opened in enumerate((nothing, file, file)):
            os.dup2(opened.fileno(), standard)
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except Exception:
        traceback.print_exc()
        sys.exit(1)
    sys.exit()
"""


class Run(Protocol):
    """Run a file in a folder; fail if it does."""

    def __call__(self, program: Path, folder: Path, arguments: Sequence[str] = ()) -> None: ...


def done(ran: tuple[int, str, str]) -> str:
    """Output of a command that did what was asked, without a word about errors."""
    status, output, errors = ran
    assert (status, errors) == (0, "")
    return output


def refused(ran: tuple[int, str, str]) -> str:
    """Errors of a command that was refused before it printed a table."""
    status, output, errors = ran
    assert (status, "evaluation after" in output) == (2, False)
    return errors


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT), "MPLBACKEND": "Agg"}


@contextmanager
def interpreter() -> Iterator[Run]:
    """What runs programs with the package of this source tree; every warning is an error."""
    if not hasattr(os, "fork"):
        yield _run_alone
        return
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", COPIES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(),
        text=True,
    ) as copies:
        assert copies.stdin is not None and copies.stdout is not None
        questions, codes = copies.stdin, copies.stdout

        def run(program: Path, folder: Path, arguments: Sequence[str] = ()) -> None:
            output = folder / "output.txt"
            call = [str(folder), str(output), str(program), *arguments]
            print(json.dumps(call), file=questions, flush=True)
            _judge(int(codes.readline()), output.read_text("utf-8", "replace"))

        yield run


def _run_alone(program: Path, folder: Path, arguments: Sequence[str] = ()) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program), *arguments],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    _judge(done.returncode, f"{done.stdout}\n{done.stderr}")


def _judge(code: int, output: str) -> None:
    if code:
        pytest.fail(f"exit code {code}\n{output}")
