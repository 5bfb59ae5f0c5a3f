"""Tables and lists of names as text, no wider than the terminal."""

import math
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

#: Names in a message that lists them.
_MOST_SHOWN = 12


def line_width() -> int | None:
    """Characters of a line: of COLUMNS, or of the terminal; None where output is no terminal's."""
    try:
        is_terminal = sys.stdout.isatty()
    except (AttributeError, ValueError):  # there is no stdout, or it is closed
        is_terminal = False
    known = is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    return shutil.get_terminal_size().columns if known else None


def filled(text: str, default: int | None = None, indent: str = "") -> str:
    """Wrap lines to the terminal, at most 100 characters; to `default` where there is none."""
    terminal = line_width()
    width = default or sys.maxsize if terminal is None else min(terminal, 100)
    wrap = textwrap.TextWrapper(
        max(width, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrap.fill(line) if len(line) > width else line for line in text.split("\n"))


def figure(value: float, digits: int = 4) -> str:
    """Write a score: a zero has no sign, and numbers of many figures an exponent."""
    if 1e7 <= abs(value) < math.inf:
        return f"{value:.3e}"
    return f"{value:z.{digits}f}"


def aligned(header: list[str], rows: list[list[str]], less_needed: Sequence[str] = ()) -> list[str]:
    """Lines of a table; all columns but the first and the last are numbers.

    Those that are `less_needed` are left out where the table would be wider than the terminal.
    """
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    left, kept = {0, len(header) - 1}, list(range(len(header)))
    if sum(widths) + 2 * len(widths) - 2 > (line_width() or sys.maxsize):
        n_needed = len(header) - len(less_needed)
        kept = [k for k in kept if k < n_needed or header[k] not in less_needed]

    def line(cells: list[str]) -> str:
        return "  ".join(
            cells[k].ljust(widths[k]) if k in left else cells[k].rjust(widths[k]) for k in kept
        ).rstrip()

    return [line(header), "  ".join("-" * widths[k] for k in kept), *map(line, rows)]


def listed(names: Sequence[str], most: int, of: str = "") -> str:
    """Write names one after another; of many the first, and how many more there are."""
    more = len(names) - most
    words = f" and {more} more{of and f' {of}'}" if more > 0 else ""
    return f"{', '.join(names[:most])}{words}"


def shown(names: list[str]) -> str:
    """Names for a message, the first ones where there are many."""
    more = f", ... ({len(names):,} in all)" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more
