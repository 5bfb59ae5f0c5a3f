"""Threads stand for workers in these tests."""

import pytest

from skstream.core.evaluators import execution as _execution
from skstream.core.rows.arrays import begins_again

why_one_process = _execution.why_one_process


@pytest.fixture(autouse=True)
def threads_as_workers(monkeypatch):
    """Use threads as if they were processes, also where all models have kernels."""

    def why(n_jobs, new_run, models, stream, times=1):
        return "" if begins_again(stream) else why_one_process(n_jobs, new_run, models, stream)

    monkeypatch.setattr(_execution, "why_one_process", why)
