"""Results in words, tables and pages, and their comparison: what methods of results return."""

from skstream.evaluation._results._compare import compare, rank
from skstream.evaluation._results._page import write_page
from skstream.evaluation._results._paper_tables import to_latex, to_markdown
from skstream.evaluation._results._report import html, one_line, table

__all__ = [
    "compare",
    "html",
    "one_line",
    "rank",
    "table",
    "to_latex",
    "to_markdown",
    "write_page",
]
