"""What differs between two fingerprints, in words."""

from collections.abc import Iterator, Mapping

from skstream.evaluation._folder._as_text import OF_CONTENT

#: Parts of the names of what is compared, from which follows what need not be said.
OF_MEASURE, OF_MODEL, CLASS = " of the measure ", " of model '", "the class of "
FILES, PARAMETER, CHECKSUM = "the files", "the parameter ", "the checksum of "
TYPES = "the types of the columns"
#: What is said of in the plural.
_PLURAL = (FILES, TYPES, "the columns", "the classes")
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
    explained = set(_explained(differing, now, before))
    said = [
        _said(what, now.get(what), before.get(what))
        for what in differing
        if what not in explained
        and (what.startswith(CLASS) or not what.endswith(parts))
        and all(_rank(what) == rank for end, rank in causes.items() if what.endswith(end))
    ]
    more = len(said) - _MOST
    return [*said[:_MOST], f"and {more} more differences"] if more > 0 else said


def _explained(
    differing: list[str], now: Mapping[str, str], before: Mapping[str, str]
) -> Iterator[str]:
    """Find parameters of models that differ since another one does.

    The parameters of a step follow from its class, and the list of steps from the steps in it.
    """
    of_models = [what for what in differing if what.startswith(PARAMETER) and OF_MODEL in what]
    for what in of_models:
        name, _, model = what.removeprefix(PARAMETER).partition(OF_MODEL)
        ends = [k for k in range(len(name)) if name.startswith("__", k)]
        if any(f"{PARAMETER}{name[:k]}{OF_MODEL}{model}" in of_models for k in ends):
            yield what
            continue
        one, other = now.get(what, ""), before.get(what, "")
        if not one.startswith("["):
            continue
        beside = f"{PARAMETER}{name.rpartition('__')[0]}"
        for step in of_models:
            of_same = step.startswith(beside) and step.endswith(OF_MODEL + model)
            if of_same and step != what and step in now and step in before:
                one = one.replace(now[step], before[step])
        if one == other:
            yield what


def _rank(what: str) -> int:
    """Return a smaller number for what explains the rest: other files have other rows."""
    for rank, begin in {0: FILES, 1: PARAMETER, 3: TYPES, 4: CHECKSUM}.items():
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
    if what.startswith(f"{CHECKSUM}the ") and (now is None or before is None):
        # Weights, arrivals or label times, of all rows or of the first.
        given = what.removeprefix(f"{CHECKSUM}the ").removeprefix("first ")
        if now is None:
            return f"no {given} are given, and there were some"
        return f"{given} are given, and there were none"
    one, _, _ = (now or "").rpartition(OF_CONTENT)
    other, _, _ = (before or "").rpartition(OF_CONTENT)
    if one and one == other:
        return f"{what} is {_shown(one, 0)}, of other content"
    begin = _begin_of_difference(now or "", before or "")
    are, were = ("are", "were") if what.startswith(_PLURAL) else ("is", "was")
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
