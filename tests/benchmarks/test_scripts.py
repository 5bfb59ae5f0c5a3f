"""Every script of benchmarks starts as `python -m benchmarks.name` in the repository."""

import ast
from pathlib import Path

import pytest

from tests._programs import Run

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
# In a process of its own: one of them registers a kernel.
IMPORTS = """
import sys
from importlib import import_module
for name in sys.argv[1:]:
    try:
        import_module("benchmarks." + name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("", "benchmarks", "skstream"):
            raise
"""


@pytest.mark.parametrize("name", NAMES)
def test_it_imports_its_neighbours_as_a_module_does(name: str) -> None:
    tree = ast.parse((ROOT / "benchmarks" / f"{name}.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.module not in NAMES, f"{name}: from benchmarks.{node.module} import ..."
        if isinstance(node, ast.Import):
            assert not {one.name for one in node.names} & set(NAMES)


def test_all_are_imported(tmp_path: Path, run_program: Run) -> None:
    """But for what is not installed."""
    program = tmp_path / "imports.py"
    program.write_text(IMPORTS, "utf-8")
    run_program(program, tmp_path, NAMES)
