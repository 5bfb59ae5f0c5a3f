"""Every script of benchmarks starts as `python -m benchmarks.name` in the repository."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_its_imports_are_found(name: str) -> None:
    """Imports of the folder's own files are those that `-m` finds, and the script can be read."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.module not in NAMES, f"{name}: from benchmarks.{node.module} import ..."
        if isinstance(node, ast.Import):
            assert not {one.name for one in node.names} & set(NAMES)
    try:
        import_module(f"benchmarks.{name}")
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("benchmarks", "skstream"):
            raise
        pytest.skip(f"{error.name} is not installed")
