"""What show_versions prints is what is installed."""

import sys
from importlib import metadata

import numpy as np
import pytest

import skstream
from skstream.utils._numba import numba_enabled
from skstream.utils._optional import EXTRAS


def test_versions_of_all_that_takes_part(capsys: pytest.CaptureFixture[str]) -> None:
    words = said(capsys)
    assert f"skstream: {skstream.__version__}\n" in words
    assert sys.version.split()[0] in words and f"numpy: {np.__version__}" in words
    assert all(f"{name}: " in words for name in EXTRAS)


def test_whether_loops_are_compiled(capsys, monkeypatch):
    if numba_enabled():
        assert "loops: enabled: loops are compiled" in said(capsys)
        monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", "1")
        assert "disabled by an environment variable (SKSTREAM_DISABLE_NUMBA" in said(capsys)
    monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", "1")
    monkeypatch.setattr(metadata, "version", absent)
    assert "loops: not installed: loops run as Python" in said(capsys)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    skstream.show_versions()
    return capsys.readouterr().out


def absent(package: str) -> str:
    raise metadata.PackageNotFoundError(package)
