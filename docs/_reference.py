"""The pages of the reference, written from what the package exports."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import skstream

#: Not for users, or described under another name.
INTERNAL = (
    *("skstream.utils", "skstream.core", "skstream.kernels", "skstream.cli"),
    *("skstream.logs", "skstream.reports"),
)
#: Headings of the reference, and the modules below them; what is in none of them comes last.
SUBJECTS = {
    "Evaluation": ("evaluation", "forgetting", "metrics", "stats", "plotting"),
    "Models": (
        *("baselines", "temporal", "adaptive", "refit", "calibration", "conformal", "noise"),
        *("tree", "ensemble", "naive_bayes", "neighbors", "optimal", "pipeline", "preprocessing"),
        "compat",
    ),
    "Streams and drift": ("streams", "drift"),
    "Choosing and studying": ("model_selection", "studies"),
    "For developers of estimators": ("testing",),
}
#: What most users begin with: links at the top of the reference.
MOST_USED = (
    *("evaluation.PrequentialEvaluator", "evaluation.EvaluationResult"),
    *("evaluation.DelayedEvaluator", "evaluation.KFoldEvaluator", "baselines.Persistent"),
    *("temporal.TemporalCorrection", "pipeline.make_stream_pipeline", "streams.as_stream"),
    *("streams.CSVStream", "streams.ParquetStream", "evaluation.PredictionLog"),
)


def public_modules() -> dict[str, ModuleType]:
    """Return the modules that users import from, by their names without ``skstream.``."""
    names = [one.name for one in pkgutil.walk_packages(skstream.__path__, "skstream.")]
    return {
        name.removeprefix("skstream."): importlib.import_module(name)
        for name in sorted(names)
        if "._" not in name and not name.startswith(INTERNAL)
        if getattr(importlib.import_module(name), "__all__", ())
    }


def write_reference(folder: Path) -> None:
    """Write one page per module, and the page that lists them; only where they differ."""
    modules = public_modules()
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in modules.items():
        _write(folder / f"skstream.{name}.rst", _page(name, module))
    for page in folder.glob("skstream.*.rst"):
        if page.stem.removeprefix("skstream.") not in modules:
            page.unlink()
    _write(folder / "index.rst", _index(modules))


def _page(name: str, module: ModuleType) -> str:
    full = f"skstream.{name}"
    kinds = {"Classes": inspect.isclass, "Functions": inspect.isroutine}
    parts = [full, "=" * len(full), "", f".. automodule:: {full}", "", f".. currentmodule:: {full}"]
    for kind, belongs in kinds.items():
        members = [one for one in module.__all__ if belongs(getattr(module, one))]
        if members:
            parts += ["", f".. rubric:: {kind}", "", ".. autosummary::", "   :toctree: generated"]
            parts += ["   :nosignatures:", "", *(f"   {one}" for one in members)]
    rest = [m for m in module.__all__ if not any(f(getattr(module, m)) for f in kinds.values())]
    if rest:
        parts += ["", ".. rubric:: Constants", ""]
        parts += [f"``{one}`` = ``{getattr(module, one)!r}``\n" for one in rest]
    return "\n".join([*parts, ""])


def _index(modules: dict[str, ModuleType]) -> str:
    listed = {name for names in SUBJECTS.values() for name in names}
    subjects = {**SUBJECTS, "More": tuple(name for name in modules if name not in listed)}
    parts = ["Reference", "=========", "", "Every public name, by the module that exports it.", ""]
    parts += [f"Most used: {', '.join(f':obj:`~skstream.{name}`' for name in MOST_USED)}."]
    for subject, names in subjects.items():
        if names:
            parts += ["", subject, "-" * len(subject), ""]
            for name in names:
                summary = (inspect.getdoc(modules[name]) or "").partition("\n\n")[0]
                parts.append(f"- :doc:`skstream.{name}`: {' '.join(summary.split())}")
            parts += ["", ".. toctree::", "   :hidden:", ""]
            parts += [f"   skstream.{name}" for name in names]
    return "\n".join([*parts, ""])


def _write(path: Path, text: str) -> None:
    """Write a page; one that is the same stays, so that Sphinx need not read it again."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def write_benchmarks(page: Path, scripts: Path) -> None:
    """Write the page that lists the scripts of a folder, with the pages that show their figures."""
    pages = {one.stem: one.read_text("utf-8") for one in sorted(page.parent.glob("*.md"))}
    groups: dict[str, list[str]] = {"Speed": [], "Exactness, levels and reproductions": []}
    for script in sorted(scripts.glob("*.py")):
        if script.stem.startswith("_"):
            continue
        docstring = ast.get_docstring(ast.parse(script.read_text("utf-8"))) or ""
        summary = " ".join(docstring.partition("\n\n")[0].split()).replace("|", "\\|")
        command = f"python -m benchmarks.{script.stem}"
        shown = [
            f"[{_title(text)}]({name}.md)"
            for name, text in pages.items()
            if name != page.stem and re.search(rf"{re.escape(command)}\b", " ".join(text.split()))
        ]
        kind = (
            "Speed" if script.stem.startswith("bench_") else "Exactness, levels and reproductions"
        )
        groups[kind].append(f"| `{command}` | {summary} | {', '.join(shown)} |")
    parts = [
        "# Benchmarks",
        "",
        "Every figure of these pages comes from one of these scripts, run in a clone of the",
        "repository. Speeds are measured beside the other library in the same run, with versions;",
        "a busy machine changes seconds more than ratios. Real streams are read from the folder",
        "that the environment variable `SKSTREAM_DATA` names.",
    ]
    for name, rows in groups.items():
        parts += ["", f"## {name}", "", "| command | what | figures on |", "|---|---|---|", *rows]
    _write(page, "\n".join([*parts, ""]))


def _title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1] if found else ""
