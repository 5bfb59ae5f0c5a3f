"""Public docstrings are complete numpydoc, and show an example."""

import dataclasses
import importlib.util
import inspect
import re
import tomllib
from pathlib import Path

import pytest

from tests._public import public_methods, public_modules, public_objects

validate = pytest.importorskip("numpydoc.validate", reason="needs numpydoc").validate

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
IGNORED = set(
    tomllib.loads(PYPROJECT.read_text("utf-8"))["tool"]["numpydoc_validation"]["checks"]
) - {"all"}
OBJECTS = public_objects()
# Sections that a one-line method may do without: its summary says what it gives.
OPTIONAL_IN_METHODS = {"RT01", "YD01"}


def faults(path: str, allowed: set[str]) -> list[str]:
    """What numpydoc finds, beyond what the project's configuration ignores."""
    ignored = IGNORED | allowed
    return [f"{code}: {text}" for code, text in validate(path)["errors"] if code not in ignored]


def is_received(value: object) -> bool:
    """Whether users get such an object rather than make it; then it describes its attributes."""
    if not inspect.isclass(value):
        return False
    if getattr(value, "_is_protocol", False):  # typing.is_protocol is not in Python 3.11
        return True
    describes = "\nAttributes\n" in (inspect.getdoc(value) or "")
    return issubclass(value, BaseException) or (dataclasses.is_dataclass(value) and describes)


@pytest.mark.parametrize("path", OBJECTS)
def test_docstring_is_complete(path: str) -> None:
    assert not faults(path, {"PR01"} if is_received(OBJECTS[path]) else set())


@pytest.mark.parametrize("path", public_methods())
def test_method_docstring_is_complete(path: str) -> None:
    assert not faults(path, OPTIONAL_IN_METHODS)


@pytest.mark.parametrize(
    "path", [p for p, v in OBJECTS.items() if not (is_received(v) or inspect.isabstract(v))]
)
def test_docstring_has_an_example(path: str) -> None:
    assert ">>>" in (inspect.getdoc(OBJECTS[path]) or ""), "no example that runs"


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_module_says_what_it_holds(module: object) -> None:
    assert (inspect.getdoc(module) or "").rstrip().endswith((".", "!", "?"))


def test_the_reference_lists_every_public_name(tmp_path: Path) -> None:
    docs = PYPROJECT.parent / "docs" / "_reference.py"
    spec = importlib.util.spec_from_file_location("_reference", docs)
    assert spec is not None and spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    reference.write_reference(tmp_path)
    pages = {path.stem: path.read_text("utf-8") for path in tmp_path.glob("skstream.*.rst")}
    # The command line has its own help, and the top level only repeats names.
    modules = [m for m in public_modules() if m.__name__ not in ("skstream", "skstream.cli")]
    assert set(pages) == {module.__name__ for module in modules}
    index = (tmp_path / "index.rst").read_text("utf-8")
    for module in modules:
        assert f"   {module.__name__}\n" in index
        for name in module.__all__:
            shown = rf"(^   {name}$|^``{name}`` = )"
            assert re.search(shown, pages[module.__name__], re.MULTILINE), (module, name)
