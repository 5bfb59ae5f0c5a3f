"""What is unusual about an evaluation, in words: its forgetting, and parameters of its protocol."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skstream.forgetting import Cumulative, parse_forgetting
from skstream.stats._report import plural

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult

#: Parameters of the evaluators that decide what the numbers mean, with their defaults.
DEFAULTS: dict[str, Any] = {
    "batch_size": 1,
    "n_warmup": 1,
    "strategy": "bootstrap",
    "test_on": "all",
    "holdout": None,  # always said: it decides what a score is about
    "every": None,
    "holdout_size": None,
    "delay": None,
    "n_bins": 50,
    "poll_every": 10,
    "reduce": "auto",
    "previous_label": "newest",
    "features": None,
    "max_pending": None,
    "missing_labels": "error",
    "unanswered": "error",
    "warm_start": False,
}
#: Those that follow from what a stream is like, and may differ from stream to stream.
OF_A_STREAM = frozenset({"delay", "features", "max_pending", "missing_labels"})
#: Objects without a text of their own show where they are in memory.
_ADDRESS = re.compile(r"<(?:function |bound method )?(?P<name>\S+).* at 0x[0-9a-f]+>+")


def unusual_parameters(result: "EvaluationResult") -> dict[str, Any]:
    """Return the parameters of the protocol that have not their default.

    Parameters
    ----------
    result : EvaluationResult
        A result.

    Returns
    -------
    parameters : dict of str to object
        Values by name.
    """
    given = result.parameters
    return {
        name: given[name]
        for name, default in DEFAULTS.items()
        if name in given and given[name] != default
    }


def differences(results: Sequence["EvaluationResult"]) -> list[str]:
    """Return the parameters of the protocol that have not the same value in all results."""
    unusual = [unusual_parameters(one) for one in results]
    return [
        name
        for name, default in DEFAULTS.items()
        if any(one.get(name, default) != unusual[0].get(name, default) for one in unusual[1:])
    ]


def parameters_in_words(result: "EvaluationResult", names: Sequence[str]) -> str:
    """Write some parameters of the protocol with the values that they have."""
    return in_words({name: result.parameters.get(name, DEFAULTS[name]) for name in names})


def in_words(parameters: dict[str, Any]) -> str:
    """Write parameters as one would pass them: "batch_size=50, n_warmup=10"."""
    return ", ".join(f"{name}={_written(value)}" for name, value in parameters.items())


def _written(value: Any) -> str:
    if not isinstance(value, str):
        return repr(value)
    # What is no plain value was noted by its repr.
    found = _ADDRESS.fullmatch(value)
    if found is not None:
        return found["name"].rpartition(".")[2] or found["name"]
    return value if "(" in value else repr(value)


def with_own(name: str, own: str) -> str:
    """Write the name that the user gave to something, and its own where that is another."""
    return name if own in ("", name) else f"{name} ({own})"


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
        mechanism = parse_forgetting(name)
    except ValueError:
        return name
    kind, _, size = mechanism.name.partition(":")
    if kind == "window":
        return f"last {size}" if mechanism.counts_time else f"last {plural(int(size), 'row')}"
    if kind == "fading":
        return f"fading factor {float(size):g}"
    words = {
        "cumulative": "all rows so far",
        "half-life": f"half-life {size}{'' if mechanism.counts_time else ' rows'}",
        "adwin": "adaptive window",
    }
    return words.get(kind, name)


def scored_with(result: "EvaluationResult", forgetting: str) -> str:
    """Say what scores remember, if it is not all rows: "scores of the last 500 rows".

    Parameters
    ----------
    result : EvaluationResult
        A result.
    forgetting : str
        Name of one of its mechanisms.

    Returns
    -------
    str
        Empty where scores are about all rows so far.
    """
    spelling = result.details.mechanisms.get(forgetting, forgetting)
    if spelling == Cumulative().name:
        return ""
    words = forgetting_words(spelling)
    if words == spelling:  # an unknown one
        return f"scores under {forgetting}"
    article = {"l": "of the ", "a": "with an "}.get(words[0], "with ")
    return f"scores {article}{words}"


def of_folds(result: "EvaluationResult") -> str:
    """Say which folds scores are the means of: ", mean of 10 folds"; empty for a single one."""
    selected = result.details.selected_folds
    if selected is None:
        return f", mean of {result.n_folds} folds" if result.n_folds > 1 else ""
    if len(selected) == 1:
        return f", fold {selected[0]}"
    return f", mean of the folds {', '.join(map(str, selected))}"


def of_bin(result: "EvaluationResult", bin: int | None) -> str:
    """Name a bin of a result under delayed labels: ", bin 0 (at arrival)"; None: none."""
    if bin is None or result.n_bins is None:
        return ""
    ends = {0: " (at arrival)", result.n_bins + 1: " (at the label)"}
    return f", bin {bin}{ends.get(bin, '')}"
