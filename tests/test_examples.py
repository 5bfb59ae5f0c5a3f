"""The examples and the README's Python run as they stand, without a warning."""

import ast
import json
import re
from pathlib import Path

import pytest

from tests._data import data_path
from tests._programs import PROJECT, Run

EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))
# Fewer rows than the examples read by themselves.
OPTIONS = {
    "temporal_dependence": ["--rows", "1000"],
    "search_fading_factors": ["--rows", "1100"],
    "online_or_retrained": ["--rows", "160", "--jobs", "1"],
    "how_often_to_refit": ["--rows", "600"],
    "estimates_before_labels": ["--rows", "1200"],
}
GALLERY = sorted((PROJECT / "examples" / "gallery").glob("*/plot_*.py"))
# Less than readers see, where an example would take long: its text, and what runs.
SHORTER = {
    "online_or_retrained": {
        "min_rows=1_000": "min_rows=100",
        "min_rows=5_000": "min_rows=110",
        "48, 336, 48, 336": "8, 32, 48, 60",
        "24, 168, 24, 168": "8, 32, 24, 60",
        "30, 365": "30, 60",
        "max_iter=30": "max_iter=2",
    },
    "how_often_to_refit": {"max_iter=30": "max_iter=2"},
    "plot_any_model": {"RandomRBF(10_000": "RandomRBF(1_500"},
    "plot_online_or_retrained": {"max_iter=20": "max_iter=2"},
    "plot_live_run": {"6_000": "4_000"},
}
NOTEBOOKS = sorted((PROJECT / "examples" / "notebooks").glob("*.ipynb"))
README_BLOCKS = re.findall(
    r"^```python\n(.*?)^```$", (PROJECT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)


def shorter(example: Path, folder: Path) -> Path:
    """A copy of an example that takes less time."""
    text = example.read_text("utf-8")
    for long, short in SHORTER.get(example.stem, {}).items():
        assert long in text
        text = text.replace(long, short)
    program = folder / example.name
    program.write_text(text, "utf-8")
    return program


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path, run_program, matplotlib, pa):
    run_program(shorter(example, tmp_path), tmp_path, OPTIONS.get(example.stem, []))


@pytest.mark.parametrize("example", GALLERY, ids=lambda path: path.stem)
def test_example_of_the_gallery_runs(example: Path, tmp_path: Path, run_program: Run) -> None:
    for extra in ("matplotlib", "pandas", "pyarrow"):
        pytest.importorskip(extra, reason="examples of the gallery show every extra")
    run_program(shorter(example, tmp_path), tmp_path)


@pytest.mark.parametrize("example", GALLERY, ids=lambda path: path.stem)
def test_example_of_the_gallery_ends_with_its_finding(example: Path) -> None:
    """In words that readers see; what checks its figures is not shown."""
    *parts, last = example.read_text("utf-8").split("# %%\n")
    assert last.startswith("# **Finding.** ")
    assert all(line.startswith("#") for line in last.splitlines())
    shown = re.sub(r"_start_ignore\n.*?_end_ignore\n", "", "".join(parts), flags=re.DOTALL)
    assert "assert " not in shown


def program_of(notebook: Path) -> str:
    """Code cells one after another; what a cell ends with is shown, as a notebook shows it."""
    lines = ["def show(what):", "    return getattr(what, '_repr_html_', what.__repr__)()", ""]
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]  # they would become stale
            code = ast.parse("".join(cell["source"]))
            if isinstance(code.body[-1], ast.Expr):
                code.body[-1].value = ast.Call(ast.Name("show"), [code.body[-1].value], [])
            lines.append(ast.unparse(code))
    return "\n".join(lines)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook, tmp_path, run_program, matplotlib, pd):
    text = program_of(notebook)
    if '"hour.csv"' in text.replace("'", '"'):
        hours = pd.read_parquet(data_path("bike_sharing_hour"))[:2_000]
        hours.drop(columns="class").to_csv(tmp_path / "hour.csv", index=False)
    program = tmp_path / "notebook.py"
    program.write_text(text, "utf-8")
    run_program(program, tmp_path)


def test_readme_code_runs_in_its_order(tmp_path: Path, run_program: Run) -> None:
    assert README_BLOCKS
    program = tmp_path / "readme.py"
    program.write_text("\n".join(README_BLOCKS), "utf-8")
    run_program(program, tmp_path)
