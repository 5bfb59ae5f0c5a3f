"""How results print: sentences that can be quoted, the answer first."""

import html
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from skstream.core.forgetting import parse_forgetting
from skstream.utils._optional import optional_import
from skstream.utils._tables import filled


@runtime_checkable
class Comparison(Protocol):
    """Interface of every comparison of models; ``isinstance`` checks for all of it.

    ``str`` gives the statement to quote, with its limitations, and ``repr`` only the conclusion.

    Examples
    --------
    >>> from skstream.stats import Comparison, sign_test
    >>> result = sign_test([0.9, 0.8, 0.9, 0.9, 0.7, 0.9], [0.7, 0.7, 0.8, 0.6, 0.6, 0.5])
    >>> isinstance(result, Comparison), result.better, result.pvalue
    (True, 'A', 0.03125)
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The models, in the order given."""
        ...

    @property
    def subject(self) -> str:
        """What was compared, in words; empty if arrays were given."""
        ...

    @property
    def pvalue(self) -> float | None:
        """P-value, at the last row of a stream; None if there is none."""
        ...

    @property
    def significant(self) -> bool:
        """Whether a difference was shown; False without a p-value."""
        ...

    @property
    def better(self) -> str | None:
        """Name of the model shown to be better than the other or all others, or None."""
        ...


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

    #: What the better model is or does, in comparison with the other.
    _relation: ClassVar[str] = "is better than"

    names: tuple[str, ...]
    subject: str = ""

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def better(self) -> str | None:
        """Name of the model shown to be better, or None."""
        raise NotImplementedError

    def _answer(self) -> str:
        if self.better is None:
            return f"No difference shown between {self.names[0]} and {self.names[1]}"
        worse = self.names[1] if self.better == self.names[0] else self.names[0]
        return f"{self.better} {self._relation} {worse}"

    def _verdict(self) -> str:
        raise NotImplementedError

    def _sentences(self) -> list[str]:
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the statement to quote, with what it does not show."""
        answer, *rest = self._sentences()
        subject = [f"Compared {self.subject}."] if self.subject else []
        return "\n".join(filled(sentence, 88) for sentence in [answer, *subject, *rest])

    def _repr_html_(self) -> str:
        """Return the statement for a notebook: the answer in bold, then what it does not show."""
        answer, *rest = map(html.escape, self._sentences())
        subject = [f"Compared {html.escape(self.subject)}."] if self.subject else []
        return f"<p><b>{answer}</b></p>\n<p>{' '.join([*subject, *rest])}</p>"

    def __repr__(self) -> str:
        """Return the answer, and where to find the rest."""
        answer = "; ".join(part for part in (self._verdict(), self.subject) if part)
        return f"{type(self).__name__}({answer}; print() it for the full statement)"


@dataclass(frozen=True, kw_only=True, repr=False)
class SignificanceTest(Report):
    """The report of a test with one p-value."""

    pvalue: float
    alpha: float

    @property
    def significant(self) -> bool:
        """Whether the p-value is below alpha."""
        return self.pvalue < self.alpha


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CurveReport(Report):
    """The report of a comparison of two models along the stream."""

    checkpoints: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        """Number of rows compared."""
        return int(self.checkpoints[-1])

    def to_frame(self) -> Any:
        """Return the curve as a pandas data frame, one row per checkpoint."""
        pandas = optional_import("pandas", f"{type(self).__name__}.to_frame")
        return pandas.DataFrame({"row": self.checkpoints, **self._columns()})

    def _columns(self) -> dict[str, NDArray[np.float64]]:
        raise NotImplementedError

    def _after(self) -> str:
        return f"after {plural(self.n_rows, 'row')}"


def format_p(pvalue: float) -> str:
    """Write a p-value as ``p = 0.0098``, or ``p < 0.0001`` for anything smaller."""
    if pvalue < 1e-4:
        return "p < 0.0001"
    return f"p = {pvalue:.2g}" if pvalue < 0.0995 else f"p = {pvalue:.3f}"


def against_alpha(pvalue: float, alpha: float) -> str:
    """Write the p-value beside the level it is compared with."""
    relation = "below" if pvalue < alpha else "not below"
    return f"{format_p(pvalue)}, {relation} alpha = {alpha:.3g}"


def number(value: float) -> str:
    """Write a statistic with up to four significant digits; whole numbers as they are."""
    if np.isfinite(value) and value == round(value):
        return f"{value + 0.0:,.0f}"  # a zero has no sign
    return f"{value:,.4g}"


def forgetting_words(name: str) -> str:
    """Say which rows a forgetting mechanism remembers.

    Parameters
    ----------
    name : str
        Name of a mechanism, such as "window:1000", or the name that the user gave to one.

    Returns
    -------
    str
        E.g. "last 1,000 rows"; the user's own name is left as it is.
    """
    try:
        return parse_forgetting(name).words
    except ValueError:
        return name


def over_rows(name: str, preposition: str = "over") -> str:
    """Say over which rows values are, or how they forget, behind a noun.

    Parameters
    ----------
    name : str
        Name of a mechanism, such as "window:1000".
    preposition : str, default="over"
        What is said before rows that are counted.

    Returns
    -------
    str
        E.g. "over all rows", "over the last 1,000 rows", "with fading factor 0.99".
    """
    words = forgetting_words(name)
    if words == name:  # an unknown one
        return f"under {name}"
    before = {"all": preposition, "last": f"{preposition} the", "adaptive": "with an"}
    return f"{before.get(words.split()[0], 'with')} {words.removesuffix(' so far')}"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: ``1 row``, ``45,312 rows``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
