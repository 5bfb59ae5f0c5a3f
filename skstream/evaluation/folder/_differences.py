"""What differs between two fingerprints, in words."""

from collections.abc import Mapping

from skstream.evaluation.folder._as_text import OF_CONTENT

#: Parts of the names of what is compared, from which follows what need not be said.
OF_MEASURE, CLASS = " of the measure ", "the class of "
FILES, PARAMETER, CHECKSUM = "the files", "the parameter ", "the checksum of "
#: Ends of the names of what is compared of a stream.
STREAMS = " of the stream", " of the holdout"
#: Longest text of a value in an error.
_SHOWN = 80
#: Most differences that an error names.
_MOST = 5


def differences(now: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """Say what differs between two fingerprints."""
    differing = [
        what
        for what in {**before, **now}
        # Another measure has other fields: its name says enough.
        if now.get(what) != before.get(what)
        and (OF_MEASURE not in what or (what in now and what in before))
    ]
    # Another model has other parameters: its class says enough.
    others = [what.removeprefix(CLASS) for what in differing if what.startswith(CLASS)]
    parts = tuple(f" of {model}" for model in others)
    causes = {
        end: min((_rank(what) for what in differing if what.endswith(end)), default=0)
        for end in STREAMS
    }
    said = [
        _said(what, now.get(what), before.get(what))
        for what in differing
        if (what.startswith(CLASS) or not what.endswith(parts))
        and all(_rank(what) == rank for end, rank in causes.items() if what.endswith(end))
    ]
    more = len(said) - _MOST
    return [*said[:_MOST], f"and {more} more differences"] if more > 0 else said


def _rank(what: str) -> int:
    """Return a smaller number for what explains the rest: other files have other rows."""
    for rank, begin in {0: FILES, 1: PARAMETER, 3: CHECKSUM}.items():
        if what.startswith(begin):
            return rank
    return 2  # sizes, numbers and kinds


def _said(what: str, now: str | None, before: str | None) -> str:
    if what.startswith(CLASS):
        model = what.removeprefix(CLASS)
        if now is None:
            return f"{model} is missing from this call"
        if before is None:
            return f"{model} is in this call and not in the run"
    one, _, _ = (now or "").rpartition(OF_CONTENT)
    other, _, _ = (before or "").rpartition(OF_CONTENT)
    if one and one == other:
        return f"{what} is {_shown(one, 0)}, of other content"
    begin = _begin_of_difference(now or "", before or "")
    are, were = ("are", "were") if what.startswith(FILES) else ("is", "was")
    return f"{what} {are} {_shown(now, begin)} and {were} {_shown(before, begin)}"


def _begin_of_difference(one: str, other: str) -> int:
    """Return from where on long texts are shown, so that what differs can be seen."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))
    return max(0, same - _SHOWN // 2) if max(len(one), len(other)) > _SHOWN else 0


def _shown(text: str | None, begin: int) -> str:
    if text is None:
        return "not there"
    start, end = "..." if begin else "", "..." if len(text) > begin + _SHOWN else ""
    return f"{start}{text[begin : begin + _SHOWN]}{end}"
