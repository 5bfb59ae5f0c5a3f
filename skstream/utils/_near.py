"""Suggestions for misspelled names."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that names the nearest known name, to end an error; empty if none is near.

    Case and spaces at the ends do not count.

    Parameters
    ----------
    name : str
        What was given.
    known : iterable of str
        What there is.

    Returns
    -------
    str
        `` Did you mean '...'?`` with a space before it, or an empty string.

    Examples
    --------
    >>> from skstream.utils._near import did_you_mean
    >>> did_you_mean("Class ", ["day", "class"]), did_you_mean("y", ["day", "class"])
    (" Did you mean 'class'?", '')
    """
    folded: dict[str, str] = {}
    for one in known:
        folded.setdefault(one.strip().casefold(), one)
    near = get_close_matches(name.strip().casefold(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""
