"""Tables and lists of names as text."""

from collections.abc import Sequence

#: Names in a message that lists them.
_MOST_SHOWN = 12


def aligned(header: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table; all columns but the first and the last are numbers."""
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    left = {0, len(header) - 1}

    def line(cells: list[str]) -> str:
        return "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()

    return [line(header), "  ".join("-" * width for width in widths), *map(line, rows)]


def listed(names: Sequence[str], most: int, of: str = "") -> str:
    """Write names one after another; of many the first, and how many more there are."""
    more = len(names) - most
    words = f" and {more} more{of and f' {of}'}" if more > 0 else ""
    return f"{', '.join(names[:most])}{words}"


def shown(names: list[str]) -> str:
    """Names for a message, the first ones where there are many."""
    more = f", ... ({len(names):,} in all)" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more
