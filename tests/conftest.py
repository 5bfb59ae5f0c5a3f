"""Settings of the whole test suite."""

import gc
import inspect
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from skstream.core.evaluators import execution as _execution
from tests._arrays import find_frames_at_once
from tests._data import ENVIRONMENT_VARIABLE
from tests._examples import scaled
from tests._programs import Run, interpreter

# Streams of tests are short: workers do not pay, and are used nonetheless.
_execution.ROWS_WORTH_WORKERS = 0

# They would not be worth compiling either; kernels are tried as users of long streams have them.
os.environ.setdefault("SKSTREAM_ALWAYS_COMPILE", "1")

find_frames_at_once()

# Pictures are drawn to files, with or without a display.
os.environ.setdefault("MPLBACKEND", "Agg")

# Tables are as wide as they are; workers of pytest-xdist are told of 80 characters.
os.environ.pop("COLUMNS", None)

# A shell lets what it starts in the background ignore Ctrl-C; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Time limits per example fail on a busy machine and say nothing about the code.
settings.register_profile(
    "default",
    max_examples=scaled(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
# CI tries the same examples on every run: a failure there is the change's, not chance's.
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave out of the search for garbage what stays: half a million objects of all modules."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let what reads real streams be tried as on a machine that has none of them."""
    parser.addoption(
        "--without-data",
        action="store_true",
        help="run only tests that read real streams where there are any, without the streams",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Set the variable before tests, and the programs that they start, read it."""
    if config.getoption("--without-data"):
        os.environ[ENVIRONMENT_VARIABLE] = os.devnull


def reads_real_streams(item: pytest.Function) -> bool:
    """Whether a test, or the page or example that it runs, names a real stream."""
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    texts = [path.read_text("utf-8") for path in values if isinstance(path, Path)]
    if texts:
        return any('.parquet"' in text or ENVIRONMENT_VARIABLE in text for text in texts)
    source = inspect.getsource(item.function)
    return any(name in source for name in ("data_path(", "data_folder(", "load_stream("))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Function]) -> None:
    """With `--without-data`, keep the tests whose outcome could depend on the streams."""
    if config.getoption("--without-data"):
        items[:] = filter(reads_real_streams, items)


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close what a test has drawn: a warning of many open figures is an error here."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and pyplot.get_fignums():
        pyplot.close("all")


@pytest.fixture(scope="session")
def run_program() -> Iterator[Run]:
    """Run a file as users do, in a folder."""
    with interpreter() as run:
        yield run


def optional(name: str, module: str) -> Any:
    """Return a fixture of an optional package: what asks for it skips where it is absent."""

    @pytest.fixture(scope="session", name=name)
    def imported() -> ModuleType:
        return pytest.importorskip(module)

    return imported


pd, pl, pa = optional("pd", "pandas"), optional("pl", "polars"), optional("pa", "pyarrow")
matplotlib, numba = optional("matplotlib", "matplotlib"), optional("numba", "numba")


@pytest.fixture
def rng() -> np.random.Generator:
    """Return random numbers, in each test the same."""
    return np.random.default_rng(0)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in an empty folder; gives the status, the output and the errors."""
    from skstream.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: Any) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return run
