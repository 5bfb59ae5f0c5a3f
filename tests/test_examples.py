"""The examples and the README's Python run as they stand, without a warning."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))
# Fewer rows than the examples read by themselves.
OPTIONS = {
    "temporal_dependence": ["--rows", "5000"],
    "laptop_to_cluster": ["--rows", "200"],
    "search_fading_factors": ["--rows", "3000"],
}
README_BLOCKS = re.findall(
    r"^```python\n(.*?)^```$", (PROJECT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)


def run(arguments: list[str], folder: Path) -> None:
    """Run Python in `folder`, with the package of this source tree."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="examples draw pictures")
    pytest.importorskip("pyarrow", reason="examples read Parquet files")
    if "cluster" in example.stem:
        pytest.importorskip("distributed", reason="the example starts a Dask cluster")
    run([str(example), *OPTIONS.get(example.stem, [])], tmp_path)


def test_readme_code_runs_in_its_order(tmp_path: Path) -> None:
    assert README_BLOCKS
    run(["-c", "\n".join(README_BLOCKS)], tmp_path)
