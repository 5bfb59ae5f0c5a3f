"""The installed package: one version, type information, and a light import."""

import os
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


# In a fresh interpreter. scikit-learn itself imports pandas where it is installed.
FIRST_STEPS = """
import sys, numpy as np, sklearn.base
theirs = {*sys.modules}
import skstream
print("slow:", *{*sys.modules} & {*sys.argv[2].split()})
from skstream.kernels import Task, make_kernel
assert make_kernel(skstream.MajorityClass(), Task(np.arange(2)))
kernels = [name for name in sys.modules if name.startswith("skstream.kernels.")]
print("kernels:", *(n for n in kernels if "linear" in n or "naive" in n or "transformers" in n))
import skstream.evaluation, skstream.cli
from skstream.plotting import ComparisonDisplay, CriticalDifferenceDisplay
from skstream.stats import friedman_nemenyi
print("optional:", *({*sys.modules} - theirs) & {*sys.argv[1].split()})
ranks = friedman_nemenyi([[1, 2], [2, 1]])
try:
    import matplotlib
except ImportError:
    sys.exit()
ComparisonDisplay.from_losses([0, 1], [1, 1]).figure_.canvas.draw()
CriticalDifferenceDisplay.from_result(ranks).figure_.canvas.draw()
"""


def test_imports_load_little_and_displays_work_without_a_screen() -> None:
    # Each takes as long as all of skstream; whoever uses their classes has imported them.
    slow = "sklearn.compose sklearn.linear_model sklearn.naive_bayes scipy.signal"
    screens = {"DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FIRST_STEPS, " ".join(EXTRAS), slow],
        cwd=PROJECT,
        env={key: value for key, value in os.environ.items() if key not in screens},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["slow:", "kernels:", "optional:"]


def test_star_import_finds_every_name() -> None:
    names: dict[str, object] = {}
    exec("from skstream import *", names)
    assert {*skstream.__all__} <= {*names}
