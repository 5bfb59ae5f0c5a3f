"""The shape of the package, checked on its source: who may import whom, and what stays where."""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import skstream
from skstream.utils._optional import EXTRAS
from tests._examples import newest_alone
from tests._imports import Import, imports_of

pytestmark = newest_alone  # the source is the same whatever is installed

PACKAGE = Path(skstream.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 500  # of code; a file of up to 400 is read in one sitting

# From the bottom up. A room imports from the layers below its own, and from itself. The core is in
# one layer; what it runs without is above it (tests/test_boundary.py blocks it).
LAYERS = (
    {"utils"},
    {"base"},
    {"_meta"},
    {"core"},
    {"forgetting", "metrics", "drift", "streams", "stats", "estimators"},
    {"evaluation", "compat", "kernels", "reports", "logs"},
    {"model_selection", "testing"},
    {"studies"},
    {"plotting", "cli"},
    {"_load"},
    {"__main__"},
)
ESTIMATORS = {
    "baselines",
    "temporal",
    "adaptive",
    "calibration",
    "ensemble",
    "neighbors",
    "naive_bayes",
    "noise",
    "optimal",
    "pipeline",
    "preprocessing",
    "conformal",
    "refit",
    "tree",
}
# Imports within a layer that the design names; and running statistics, as running measures do,
# take any forgetting mechanism.
WITHIN_LAYER = {
    ("metrics", "forgetting"),
    ("stats", "forgetting"),
    ("drift", "streams"),  # alarms are scored against the drifts of streams
    ("estimators", "drift"),
    ("estimators", "forgetting"),
    ("estimators", "streams"),  # the best possible answers are those for a stream
    ("compat", "kernels"),
    ("kernels", "compat"),
    ("logs", "reports"),
    *(("evaluation", wing) for wing in ("logs", "reports")),  # it exports, and defines nothing
}

# The one way from results to what draws them, by name and when something is drawn.
DISPLAYS_BY_NAME = "skstream.utils._optional"

SKLEARN_PRIVATE_HOME = "skstream.utils._sklearn"
OPTIONAL_PACKAGES = {*EXTRAS}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str | None:
    """First name below skstream (the estimators share one room); None for skstream itself."""
    parts = module.split(".")
    if len(parts) == 1:
        return None
    return "estimators" if parts[1] in ESTIMATORS else parts[1]


def layer_of(room: str) -> int:
    found = [number for number, rooms in enumerate(LAYERS) if room in rooms]
    assert found, f"skstream.{room} has no layer: place it in LAYERS, beside the design"
    return found[0]


def upward_imports(source: str, module: str) -> list[Import]:
    """Imports against the one direction. The top-level package may import everything."""
    room = room_of(module)
    if room is None:
        return []
    found = (i for i in imports_of(source) if not _is_downward(room, i))
    return [i for i in found if (module, i.module) != (DISPLAYS_BY_NAME, "skstream.plotting")]


def _is_downward(room: str, found: Import) -> bool:
    if found.module == "skstream":
        # The public names are for users.
        target = room_of(f"skstream.{found.name}")
        if found.name is None or not any(target in rooms for rooms in LAYERS):
            return False
    elif found.module.startswith("skstream."):
        target = room_of(found.module)
    else:
        return True
    return target == room or layer_of(target) < layer_of(room) or (room, target) in WITHIN_LAYER


def private_sklearn_imports(source: str, module: str) -> list[Import]:
    """Underscored scikit-learn names outside their one home."""
    if module == SKLEARN_PRIVATE_HOME:
        return []
    return [
        i
        for i in imports_of(source)
        if i.module.partition(".")[0] == "sklearn"
        and any(_is_private(part) for part in [*i.module.split("."), i.name or ""])
    ]


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def early_optional_imports(source: str) -> list[Import]:
    """Optional packages imported as soon as the file is."""
    return [
        i
        for i in imports_of(source)
        if i.module.partition(".")[0] in OPTIONAL_PACKAGES and not (i.late or i.typing_only)
    ]


def relative_imports(source: str) -> list[Import]:
    return [i for i in imports_of(source) if i.relative]


def definitions_in_init(source: str, module: str) -> list[str]:
    """Statements of an ``__init__`` that are no docstring, no import, and not ``__all__``."""
    names = {"__all__"}
    return [
        ast.unparse(statement)
        for position, statement in enumerate(ast.parse(source).body)
        if not (
            isinstance(statement, ast.Import | ast.ImportFrom)
            or (position == 0 and _is_docstring(statement))
            or (
                isinstance(statement, ast.Assign)
                and {ast.unparse(target) for target in statement.targets} <= names
            )
        )
    ]


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def missing_public_names(module: object) -> list[str]:
    return [name for name in getattr(module, "__all__", []) if not hasattr(module, name)]


def code_lines(source: str) -> int:
    """Lines that hold code: no docstrings, no comments, no blank lines."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if node.body and _is_docstring(node.body[0])
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    }
    return sum(
        number not in docstrings and not line.lstrip().startswith("#") and bool(line.strip())
        for number, line in enumerate(source.splitlines(), start=1)
    )


def is_too_long(source: str) -> bool:
    return code_lines(source) > MAX_LINES


# Text by the name of the module. All files are one test: it names every file that breaks a rule.
SOURCES = {module_name(path): path.read_text("utf-8") for path in FILES}


def by_module(
    check: Callable[[str, str], list[Any]], sources: dict[str, str] = SOURCES
) -> dict[str, list[Any]]:
    """What a check finds in the sources, by the module where it finds something."""
    found = {module: check(source, module) for module, source in sources.items()}
    return {module: faults for module, faults in found.items() if faults}


def test_imports_point_one_way() -> None:
    assert by_module(upward_imports) == {}


def test_private_sklearn_names_have_one_home() -> None:
    assert by_module(private_sklearn_imports) == {}


def test_optional_packages_are_imported_late() -> None:
    assert by_module(lambda source, _: early_optional_imports(source)) == {}


def test_imports_are_absolute() -> None:
    assert by_module(lambda source, _: relative_imports(source)) == {}


def test_files_can_be_read_in_one_sitting() -> None:
    # Compiled code is stored on disk, and made anew when its own file changes, not when others do:
    # so the functions that a compiled function calls are in its file.
    compiled_whole = {"skstream.tree._core"}
    too_long = [name for name, source in SOURCES.items() if is_too_long(source)]
    too_long = [name for name in too_long if name not in compiled_whole]
    assert not too_long, f"more than {MAX_LINES} lines of code: split them"


def test_warnings_are_raised_in_one_place() -> None:
    """Only `skstream.utils._warnings` knows which line is the user's."""
    raising = [module for module, source in SOURCES.items() if "warnings.warn(" in source]
    assert raising == ["skstream.utils._warnings"]


def test_package_init_exports_and_defines_nothing() -> None:
    inits = {module_name(p): p.read_text("utf-8") for p in FILES if p.name == "__init__.py"}
    assert by_module(definitions_in_init, inits) == {}


def test_every_public_name_exists() -> None:
    for name in SOURCES:
        module = importlib.import_module(name)
        assert not missing_public_names(module), name
        public = getattr(module, "__all__", [])
        assert len(set(public)) == len(public), f"a name stands twice in __all__ of {name}"


def test_every_public_module_has_an_explicit_all() -> None:
    public = [p for p in FILES if not any(_is_private(part) for part in p.with_suffix("").parts)]
    without = [
        module_name(p)
        for p in public
        if room_of(module_name(p))
        not in {"utils", "base", "core", "kernels", "logs", "reports", "cli"}
        and p.stem != "__main__"
        and "__all__" not in p.read_text("utf-8")
    ]
    assert not without


# The checks themselves, on sources that break each rule.


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("skstream.utils._seeds", "from skstream.metrics import kappa_score"),
        ("skstream.metrics._kappa", "import skstream.kernels.tree"),
        ("skstream.metrics._kappa", "from skstream import kernels"),
        ("skstream.metrics._kappa", "from skstream import kappa_score"),
        ("skstream.metrics._kappa", "import skstream"),
        ("skstream.metrics._kappa", "def f():\n    from skstream.evaluation import x"),
        ("skstream.core.adwin", "from skstream.forgetting import Cumulative"),
        ("skstream.stats._q", "from skstream.temporal import TemporalCorrection"),
        ("skstream.base", "from skstream.core.engine.block import Block"),
        ("skstream.core.engine.run", "from skstream.evaluation import PrequentialEvaluator"),
        (
            "skstream.core.result.result",
            "def plot():\n    from skstream.plotting import x",
        ),
        ("skstream.evaluation._file", "from skstream import __version__"),
        ("skstream.core.result.result", "def f():\n    from skstream.cli import main"),
        ("skstream.plotting._fold", "from skstream.cli import main"),
    ],
)
def test_an_upward_import_is_caught(module: str, source: str) -> None:
    assert upward_imports(source, module)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("skstream", "from skstream.evaluation import PrequentialEvaluator"),
        ("skstream.metrics._kappa", "from skstream.forgetting import Cumulative"),
        ("skstream.drift", "from skstream.core.adwin import ADWIN"),
        ("skstream.adaptive", "from skstream.drift import DDM"),
        ("skstream.temporal", "from skstream.base import tags"),
        ("skstream.core.engine.run", "import skstream.utils._sklearn"),
        ("skstream.cli", "from skstream.evaluation import PrequentialEvaluator"),
        ("skstream.utils._seeds", "import numpy\nfrom sklearn.base import clone"),
    ],
)
def test_a_downward_import_is_allowed(module: str, source: str) -> None:
    assert not upward_imports(source, module)


def test_a_package_without_a_layer_is_caught() -> None:
    with pytest.raises(AssertionError, match=r"skstream\.newroom has no layer"):
        upward_imports("from skstream.utils import x", "skstream.newroom._file")


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils._param_validation import Interval",
        "from sklearn.utils.validation import _check_sample_weight",
        "import sklearn.linear_model._base",
        "def f():\n    from sklearn.naive_bayes import _BaseNB",
        "import_module('sklearn.utils._tags')",
    ],
)
def test_a_private_sklearn_name_is_caught(source: str) -> None:
    assert private_sklearn_imports(source, "skstream.base")
    assert not private_sklearn_imports(source, SKLEARN_PRIVATE_HOME)
    assert not private_sklearn_imports("from sklearn import __version__", "skstream.base")


@pytest.mark.parametrize(
    "source",
    [
        "import numba",
        "from numba import njit",
        "import matplotlib.pyplot as plt",
        "try:\n    import pandas\nexcept ImportError:\n    pandas = None",
        "class A:\n    import polars",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import pyarrow",
        "numba = optional_import('numba', 'fast kernels')",
        "tqdm = importlib.import_module('tqdm.auto')",
    ],
)
def test_an_early_optional_import_is_caught(source: str) -> None:
    assert early_optional_imports(source)


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    import numba",
        "if TYPE_CHECKING:\n    import pandas",
        "if typing.TYPE_CHECKING:\n    import pandas",
        "def f():\n    return optional_import('pyarrow.parquet', 'ParquetStream')",
        "import numpy",
    ],
)
def test_a_late_optional_import_is_allowed(source: str) -> None:
    assert not early_optional_imports(source)


def test_a_relative_import_is_caught() -> None:
    assert relative_imports("from . import base")
    assert relative_imports("def f():\n    from .base import tags")
    assert not relative_imports("from skstream.base import tags")


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    pass",
        "class A:\n    pass",
        "x = 1",
        "import os\n'a second string'",
        "if True:\n    import os",
        "__all__ = other = []",
    ],
)
def test_a_definition_in_an_init_is_caught(source: str) -> None:
    assert definitions_in_init(source, "skstream.metrics")


def test_exports_in_an_init_are_allowed() -> None:
    source = "'''Measures.'''\nfrom skstream.metrics._kappa import kappa_score\n__all__ = ['a']"
    assert not definitions_in_init(source, "skstream.metrics")


def test_a_missing_public_name_is_caught() -> None:
    class Module:
        __all__ = ("here", "gone")
        here = 1

    assert missing_public_names(Module) == ["gone"]


def test_a_long_file_is_caught() -> None:
    assert is_too_long("x = 1\n" * (MAX_LINES + 1))
    assert not is_too_long("x = 1\n" * MAX_LINES)


def test_only_lines_of_code_count() -> None:
    explained = 'def f():\n    """Say what.\n\n    And why.\n    """\n    # because\n\n    g()\n'
    assert code_lines(explained) == 2


def test_the_package_is_found() -> None:
    assert "skstream.utils._optional" in SOURCES


def test_the_file_that_breaks_a_rule_is_named() -> None:
    sources = {"skstream.base": "import numba", "skstream.drift": "import numpy"}
    found = by_module(lambda source, _: early_optional_imports(source), sources)
    assert [*found] == ["skstream.base"]


def test_no_file_of_json_holds_nan() -> None:
    """NaN is no JSON: other programs refuse the file. Digests are read by nothing."""
    digests = {"checksum", "identity"}
    for file in FILES:
        for function in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef) or function.name in digests:
                continue
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func) in (
                    "json.dump",
                    "json.dumps",
                ):
                    options = {one.arg: ast.unparse(one.value) for one in call.keywords}
                    assert options.get("allow_nan") == "False", f"{file}: {ast.unparse(call)}"
