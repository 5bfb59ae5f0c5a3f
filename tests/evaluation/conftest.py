"""Threads stand for workers in these tests."""

import pytest

from skstream.evaluation._parallel import _groups


@pytest.fixture(autouse=True)
def threads_as_workers(monkeypatch):
    """Use threads as if they were processes, also where all models have kernels."""
    monkeypatch.setattr(_groups, "_all_have_kernels", lambda *_: False)
