"""Tables as text."""


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
