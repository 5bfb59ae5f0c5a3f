"""What a reproduction found beside what the paper says, in a form that machines read.

Scripts gather `Row` objects and hand them to `record` with their ``--json``;
`benchmarks.fidelity` runs the scripts and makes docs/fidelity.md of the rows.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One figure of a paper, and ours.

    Attributes
    ----------
    paper, item : str
        Which one: "gama", "Table 2".
    line, column : str
        The place in the item; rows without a column are shown one below the other.
    theirs, ours : float or str
        What is compared; text where a curve is described, or the figure is a word ("miss").
    why : str
        What is not the paper's here: another learner, another stream, no figure in print. Such
        a row shows the shape, and is not counted as reproduced.
    note : str
        What is worse in ours than the figure says, such as seeds in which nothing was found; then
        it is not reproduced. For a share of repetitions of another setting: its interval.
    """

    paper: str
    item: str
    line: str
    column: str
    theirs: float | str
    ours: float | str
    why: str = ""
    note: str = ""

    @property
    def kind(self) -> str:
        """Whether the row is of the paper's own setting, or shows the shape."""
        return "shape" if self.why else "figure"

    @property
    def difference(self) -> float | None:
        """Ours less theirs; None where one of them is text."""
        if isinstance(self.theirs, str) or isinstance(self.ours, str):
            return None
        return self.ours - self.theirs

    def is_within(self, tolerance: float, *, relative: bool = False) -> bool:
        """Whether ours differs by no more than `tolerance`, or by that share of theirs."""
        if self.note:
            return False
        if self.difference is None:
            return self.theirs == self.ours
        scale = abs(float(self.theirs)) if relative else 1.0
        return abs(self.difference) <= tolerance * scale + 1e-9


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--json``."""
    parser.add_argument("--json", type=Path, help="file to which figures beside the paper's go")


def record(rows: Iterable[Row], path: Path | None) -> None:
    """Append rows to a file as JSON lines; without a file, do nothing."""
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
