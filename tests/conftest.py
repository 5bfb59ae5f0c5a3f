"""Settings of the whole test suite."""

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from skstream.evaluation import _execution
from tests._examples import scaled
from tests._programs import Run, interpreter

# Streams of tests are short: workers do not pay, and are used nonetheless.
_execution.ROWS_WORTH_WORKERS = 0

# Pictures are drawn to files, with or without a display.
os.environ.setdefault("MPLBACKEND", "Agg")

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
