"""How large the library is, and how many functions one row meets on its way to a score.

Code lines hold code: no docstrings, comments or blank lines. The walk counts the functions, files
and calls inside skstream of one evaluation of a linear model on 1,000 rows; it is the second, so
that nothing is imported or compiled in it. Public names are the objects that public modules export.
"""

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier

import skstream
from skstream import DelayedEvaluator, HoldoutEvaluator, KFoldEvaluator, PrequentialEvaluator

PACKAGE = Path(skstream.__file__).parent
ROOT = PACKAGE.parent


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and, to any depth, the statements in it: not their expressions, which are most."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from statements(child)


def code_lines(path: Path) -> int:
    """Lines of a file that hold code."""
    source = path.read_text("utf-8")
    docstrings = {
        line
        for node in statements(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if node.body and isinstance(node.body[0], ast.Expr)
        if isinstance(node.body[0].value, ast.Constant)
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in docstrings
        for number, line in enumerate(source.splitlines(), start=1)
    )


def walk(run: Callable[[], Any]) -> tuple[int, int, int]:
    """Functions, files and calls inside the package while something runs."""
    functions: set[Any] = set()
    n_calls = 0

    def count(frame: Any, event: str, _: Any) -> None:
        nonlocal n_calls
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            functions.add(frame.f_code)
            n_calls += 1

    run()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len(functions), len({code.co_filename for code in functions}), n_calls


def walks() -> Iterator[tuple[str, tuple[int, int, int]]]:
    """The walk of each evaluator."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 5)), rng.integers(0, 2, 1000)
    held_out = rng.normal(size=(100, 5)), rng.integers(0, 2, 100)
    evaluators = {
        "prequential": PrequentialEvaluator("accuracy", random_state=0),
        "k-fold": KFoldEvaluator("accuracy", random_state=0),
        "holdout": HoldoutEvaluator("accuracy", holdout=held_out, random_state=0),
        "delayed": DelayedEvaluator("accuracy", delay=10, random_state=0),
    }
    for name, evaluator in evaluators.items():
        yield name, walk(lambda one=evaluator: one.evaluate(SGDClassifier(), X, y))


def modules() -> dict[str, Path]:
    """Files of the package by the names of their modules."""
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def imports(known: dict[str, Path]) -> dict[str, set[str]]:
    """Which modules of the package each one imports, also inside functions; not for types alone."""
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        tree = ast.parse(path.read_text("utf-8"))
        tree.body = [node for node in tree.body if not _is_for_types(node)]
        for node in statements(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found[name].add(inner if inner in known else node.module)
            elif isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names}
        found[name] &= known.keys() - {name}
    return found


def _is_for_types(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def public_names() -> set[int]:
    """Objects that some public module exports, each once."""
    found = set()
    for info in pkgutil.walk_packages([str(PACKAGE)], "skstream."):
        if any(part.startswith("_") for part in info.name.split(".")):
            continue
        if info.name.startswith(
            ("skstream.core", "skstream.kernels", "skstream.utils", "skstream.cli")
        ):
            continue
        module = importlib.import_module(info.name)
        found |= {id(getattr(module, name)) for name in getattr(module, "__all__", [])}
    return found | {id(getattr(skstream, name)) for name in skstream.__all__}


def n_parameters(kind: type) -> int:
    """Parameters of a constructor."""
    return len(inspect.signature(kind).parameters)
