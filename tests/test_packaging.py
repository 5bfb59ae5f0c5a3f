"""The installed package: one version, type information, and a light import."""

import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import pytest

import skstream
from skstream.utils._optional import EXTRAS

PROJECT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))


def test_version_has_one_source() -> None:
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "skstream/utils/_version.py"


def test_installed_version_is_the_package_version() -> None:
    try:
        installed = metadata.version("skstream")
    except metadata.PackageNotFoundError:
        pytest.skip("skstream runs from its source folder here, without being installed")
    assert installed == skstream.__version__


def test_citation_names_no_other_version() -> None:
    citation = (PROJECT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {skstream.__version__}\n" in citation


def test_type_information_is_shipped() -> None:
    assert resources.files("skstream").joinpath("py.typed").is_file()


def test_every_optional_package_is_in_the_extra_that_errors_name() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(line.startswith(package) for line in extras[extra]), (package, extra)


def _run(code: str) -> str:
    """Output of a fresh interpreter in which every warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_no_slow_modules_and_no_optional_packages() -> None:
    # Each takes as long as all of skstream; whoever uses their classes has imported them.
    slow = ["sklearn.compose", "sklearn.linear_model", "sklearn.naive_bayes", "scipy.signal"]
    # scikit-learn itself imports pandas where it is installed.
    code = f"""
import sys, sklearn.base
theirs = {{*sys.modules}}
import skstream
print(*sorted({{*sys.modules}} & {{*{slow!r}}}))
import skstream.evaluation, skstream.cli
print(*sorted(({{*sys.modules}} - theirs) & {{*{[*EXTRAS]!r}}}))
"""
    assert _run(code).split() == []


def test_star_import_finds_every_name() -> None:
    names: dict[str, object] = {}
    exec("from skstream import *", names)
    assert {*skstream.__all__} <= {*names}
