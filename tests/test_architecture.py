"""The shape of the package, checked on its source: who may import whom, and what stays where."""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import skstream
from benchmarks._size import code_lines
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
    {"core"},
    {"_meta", "_kept_rows"},
    {"forgetting", "metrics", "drift", "streams", "stats", "estimators"},
    {"evaluation", "compat", "kernels", "reports", "logs"},
    {"model_selection", "testing"},
    {"studies"},
    {"_load", "_names"},
    {"plotting", "cli"},
    {"__main__"},
)
ESTIMATORS = {
    *("baselines", "temporal", "adaptive", "calibration", "ensemble", "neighbors", "naive_bayes"),
    *("noise", "optimal", "pipeline", "preprocessing", "conformal", "refit", "tree"),
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


def early_optional_imports(source: str, module: str) -> list[Import]:
    """Optional packages imported as soon as the file is."""
    return [
        i
        for i in imports_of(source)
        if i.module.partition(".")[0] in OPTIONAL_PACKAGES and not (i.late or i.typing_only)
    ]


def relative_imports(source: str, module: str) -> list[Import]:
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


# Text by the name of the module. All files are one test: it names every file that breaks a rule.
SOURCES = {module_name(path): path.read_text("utf-8") for path in FILES}


def by_module(
    check: Callable[[str, str], list[Any]], sources: dict[str, str] = SOURCES
) -> dict[str, list[Any]]:
    """What a check finds in the sources, by the module where it finds something."""
    found = {module: check(source, module) for module, source in sources.items()}
    return {module: faults for module, faults in found.items() if faults}


@pytest.mark.parametrize(
    "rule", [upward_imports, private_sklearn_imports, early_optional_imports, relative_imports]
)
def test_no_file_breaks_a_rule_of_imports(rule: Callable[[str, str], list[Any]]) -> None:
    assert "skstream.utils._optional" in SOURCES
    assert by_module(rule) == {}


def test_files_can_be_read_in_one_sitting() -> None:
    # Compiled code is stored on disk, and made anew when its own file changes, not when others do:
    # so the functions that a compiled function calls are in its file.
    compiled_whole = {"skstream.tree._core"}
    too_long = [module_name(path) for path in FILES if code_lines(path) > MAX_LINES]
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
        public = getattr(module, "__all__", [])
        assert all(hasattr(module, one) for one in public), name
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


# The checks themselves, on sources that break each rule or keep it.

BROKEN: list[tuple[Callable[[str, str], list[Any]], str, list[str]]] = [
    (upward_imports, "skstream.utils._seeds", ["from skstream.metrics import kappa_score"]),
    (
        upward_imports,
        "skstream.metrics._kappa",
        [
            "import skstream.kernels.tree",
            "from skstream import kernels",
            "from skstream import kappa_score",
            "import skstream",
            "def f():\n    from skstream.evaluation import x",
        ],
    ),
    (upward_imports, "skstream.core.adwin", ["from skstream.forgetting import Cumulative"]),
    (upward_imports, "skstream.stats._q", ["from skstream.temporal import TemporalCorrection"]),
    (upward_imports, "skstream.base", ["from skstream.core.engine.block import Block"]),
    (
        upward_imports,
        "skstream.core.result.result",
        [
            "from skstream.evaluation import PrequentialEvaluator",
            "def plot():\n    from skstream.plotting import x",
            "def f():\n    from skstream.cli import main",
        ],
    ),
    (upward_imports, "skstream.evaluation._file", ["from skstream import __version__"]),
    (upward_imports, "skstream.plotting._fold", ["from skstream.cli import main"]),
    (
        private_sklearn_imports,
        "skstream.base",
        [
            "from sklearn.utils._param_validation import Interval",
            "from sklearn.utils.validation import _check_sample_weight",
            "import sklearn.linear_model._base",
            "def f():\n    from sklearn.naive_bayes import _BaseNB",
            "import_module('sklearn.utils._tags')",
        ],
    ),
    (
        early_optional_imports,
        "skstream.base",
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
    ),
    (
        relative_imports,
        "skstream.base",
        ["from . import base", "def f():\n    from .base import tags"],
    ),
    (
        definitions_in_init,
        "skstream.metrics",
        [
            *("def f():\n    pass", "class A:\n    pass", "x = 1", "import os\n'a second string'"),
            *("if True:\n    import os", "__all__ = other = []"),
        ],
    ),
]
KEPT = [
    (upward_imports, "skstream", "from skstream.evaluation import PrequentialEvaluator"),
    (upward_imports, "skstream.metrics._kappa", "from skstream.forgetting import Cumulative"),
    (upward_imports, "skstream.drift", "from skstream.core.adwin import ADWIN"),
    (upward_imports, "skstream.adaptive", "from skstream.drift import DDM"),
    (upward_imports, "skstream.temporal", "from skstream.base import tags"),
    (upward_imports, "skstream.core.engine.run", "import skstream.utils._sklearn"),
    (upward_imports, "skstream.cli", "from skstream.evaluation import PrequentialEvaluator"),
    (upward_imports, "skstream.utils._seeds", "import numpy\nfrom sklearn.base import clone"),
    (private_sklearn_imports, SKLEARN_PRIVATE_HOME, "import sklearn.linear_model._base"),
    (private_sklearn_imports, "skstream.base", "from sklearn import __version__"),
    (early_optional_imports, "skstream.base", "def f():\n    import numba"),
    (early_optional_imports, "skstream.base", "if typing.TYPE_CHECKING:\n    import pandas"),
    (early_optional_imports, "skstream.base", "def f():\n    return optional_import('polars', '')"),
    (relative_imports, "skstream.base", "from skstream.base import tags"),
    (definitions_in_init, "skstream.metrics", "'''Measures.'''\nimport os\n__all__ = ['a']"),
]


def test_a_broken_rule_is_caught_and_a_kept_one_is_not() -> None:
    for rule, module, sources in BROKEN:
        for source in sources:
            assert [*by_module(rule, {module: source, "skstream": ""})] == [module], source
    for rule, module, source in KEPT:
        assert not by_module(rule, {module: source}), source
    with pytest.raises(AssertionError, match=r"skstream\.newroom has no layer"):
        upward_imports("from skstream.utils import x", "skstream.newroom._file")


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
