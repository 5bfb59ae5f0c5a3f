"""What a source file imports, read from its syntax tree without running it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Import:
    """One imported name: ``from module import name``, or ``import module`` (name None)."""

    module: str
    name: str | None
    line: int
    late: bool  # inside a function: executed when it is called
    typing_only: bool  # under ``if TYPE_CHECKING``: never executed
    relative: bool


@cache
def imports_of(source: str) -> tuple[Import, ...]:
    """All imports of a source text, in order, calls of the optional importers included."""
    return tuple(_walk(ast.parse(source), late=False, typing_only=False))


def _walk(node: ast.AST, late: bool, typing_only: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inside_function = late or isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.body:
                yield from _walk(ast.Module([statement], []), late, typing_only=True)
            for statement in child.orelse:
                yield from _walk(ast.Module([statement], []), late, typing_only)
            continue
        yield from _imports_in(child, late, typing_only)
        yield from _walk(child, inside_function, typing_only)


def _imports_in(node: ast.AST, late: bool, typing_only: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, None, node.lineno, late, typing_only, relative=False)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            module = node.module or ""
            yield Import(module, alias.name, node.lineno, late, typing_only, node.level > 0)
    elif isinstance(node, ast.Call) and node.args:
        called = ast.unparse(node.func).rpartition(".")[2]
        target = node.args[0]
        if (
            called in {"optional_import", "import_module", "__import__"}
            and isinstance(target, ast.Constant)
            and isinstance(target.value, str)
        ):
            yield Import(target.value, None, node.lineno, late, typing_only, relative=False)
