"""What show_versions prints is what is installed."""

import platform
from importlib import metadata

import numpy as np
import pytest

import skstream
from skstream.utils._numba import numba_enabled
from skstream.utils._optional import EXTRAS


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    skstream.show_versions()
    lines = capsys.readouterr().out.splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line.startswith("  ")]
    assert len({name for name, _ in pairs if name != "numba"}) == len(pairs) - 2
    return dict(pairs)


def test_versions_of_all_that_takes_part(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys)
    assert found["skstream"] == skstream.__version__
    assert found["python"].startswith(platform.python_version())
    assert found["platform"] == platform.platform()
    assert found["numpy"] == np.__version__
    for name in ("scipy", "scikit-learn", "joblib", "threadpoolctl"):
        assert found[name] == metadata.version(name)
    assert found.keys() >= EXTRAS.keys()
    assert any("threads: " in words for words in found.values())


def test_whether_loops_are_compiled(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if numba_enabled():
        assert "numba            enabled: loops are compiled" in said(capsys)
        monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", "1")
        assert "disabled by an environment variable (SKSTREAM_DISABLE_NUMBA" in said(capsys)
    monkeypatch.setenv("SKSTREAM_DISABLE_NUMBA", "1")
    monkeypatch.setattr(metadata, "version", absent)
    assert "numba            not installed: loops run as Python" in said(capsys)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    skstream.show_versions()
    return capsys.readouterr().out


def absent(package: str) -> str:
    raise metadata.PackageNotFoundError(package)
