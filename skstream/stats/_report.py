"""How results print: sentences that can be quoted, the answer first."""

import textwrap
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Report:
    """A result that prints as sentences.

    Subclasses give a `_verdict` (the answer in a few words, shown by ``repr``) and `_sentences`
    (the whole statement, the answer first, shown by ``print``).

    Attributes
    ----------
    subject : str
        What was compared, in words: measure, forgetting, rows and folds. Empty where that is
        not known, because arrays were given.
    """

    subject: str = ""

    def _verdict(self) -> str:
        raise NotImplementedError

    def _sentences(self) -> list[str]:
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the statement to quote, with what it does not show."""
        answer, *rest = self._sentences()
        subject = [f"Compared {self.subject}."] if self.subject else []
        return textwrap.fill(" ".join([answer, *subject, *rest]), width=88)

    def __repr__(self) -> str:
        """Return the answer, and where to find the rest."""
        answer = "; ".join(part for part in (self._verdict(), self.subject) if part)
        return f"{type(self).__name__}({answer}; print() it for the full statement)"


def format_p(pvalue: float) -> str:
    """Write a p-value as ``p = 0.0098``, or ``p < 0.0001`` for anything smaller."""
    if pvalue < 1e-4:
        return "p < 0.0001"
    return f"p = {pvalue:.2g}" if pvalue < 0.0995 else f"p = {pvalue:.3f}"


def against_alpha(pvalue: float, alpha: float) -> str:
    """Write the p-value beside the level it is compared with."""
    relation = "below" if pvalue < alpha else "not below"
    return f"{format_p(pvalue)}, {relation} alpha = {alpha:g}"


def number(value: float) -> str:
    """Write a statistic with up to four significant digits; whole numbers as they are."""
    if np.isfinite(value) and value == round(value):
        return f"{value + 0.0:,.0f}"  # a zero has no sign
    return f"{value:,.4g}"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: ``1 row``, ``45,312 rows``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
