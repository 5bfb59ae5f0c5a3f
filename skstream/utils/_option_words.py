"""Errors of the library, with command-line options in place of parameters."""

import re

#: Parameters that errors name, and the command-line options for them.
OPTIONS = {
    "arrival": "--time",
    "batch_size": "--batch-size",
    "checkpoint": "--checkpoint",
    "checkpoint_every": "--checkpoint-every",
    "columns": "--column",
    "decimal": "--decimal",
    "delimiter": "--delimiter",
    "encoding": "--encoding",
    "error_score": "--error-score",
    "every": "--every",
    "exclude": "--exclude",
    "forgetting": "--forgetting",
    "holdout": "--holdout",
    "keep_tape": "--keep-tape",
    "max_categories": "--max-categories",
    "max_wait": "--max-wait",
    "label_time": "--label-time",
    "metrics": "--metric",
    "missing": "--missing",
    "missing_labels": "--missing-labels",
    "n_jobs": "--n-jobs",
    "n_warmup": "--warmup",
    "nominal": "--nominal",
    "null_values": "--null-value",
    "numeric": "--numeric",
    "predictions": "--predictions",
    "probabilities": "--probabilities",
    "random_state": "--random-state",
    "record_every": "--every",
    "target": "--target",
    "on_bad_lines": "--on-bad-line",
    "unanswered": "--unanswered",
    "view": "--view",
}
#: Values of keep_tape, which the command line calls by words.
_TAPE = {"True": "yes", "False": "no"}
_PARAMETER = re.compile(
    rf"(?<![\w.(\"'])(?P<name>{'|'.join(OPTIONS)})(?:=|(?= names the column ))"
    r"(?P<value>\[.*?\]|'[^']*'|\"[^\"]*\"|\w+)?"
)
#: How files are read, which the library takes as one parameter.
_READING = re.compile(r"options=\{('.*?)\}(?=\W|$)")
_KEY = re.compile(r"'(\w+)': ('.*?'|\[\.\.\.\]|[\w.]+)")
#: A model with its parameters, which are no options.
_MODEL = re.compile(r"((?:PeriodicRefit|refit|fixed)\([^()]*\))")
#: The library takes a list without a text; the command line takes the text.
_KEPT_TEXT = re.compile(r"null_values= without (?=')")


def in_options(message: str) -> str:
    """Let an error name options instead of parameters.

    Parameters
    ----------
    message : str
        Message of an error, in which parameters are followed by "=".

    Returns
    -------
    str
        The same, with the options of the command line.

    Examples
    --------
    >>> from skstream.utils._option_words import in_options
    >>> in_options("Leave it out with exclude=, or pass missing_labels='skip'.")
    "Leave it out with --exclude, or pass --missing-labels 'skip'."
    """
    message = message.replace(", or pass options={'filesystem': ...} and the plain path", "")
    message = _READING.sub(_as_parameters, message).replace("header=False", "--no-header")
    message = message.replace("the option header", "--no-header")
    message = _KEPT_TEXT.sub("--not-null ", message)
    parts = _MODEL.split(message)  # every second part is one of a model's parameters
    parts[::2] = [_PARAMETER.sub(_option, part) for part in parts[::2]]
    return "".join(parts)


def _as_parameters(found: re.Match[str]) -> str:
    pairs = _KEY.findall(found[1])
    return " and ".join(f"{name}={'' if '...' in value else value}" for name, value in pairs)


def _option(found: re.Match[str]) -> str:
    option, value = OPTIONS[found["name"]], found["value"]
    if found["name"] == "keep_tape":
        value = _TAPE.get(value, value)
    return option if value is None else f"{option} {value.strip('[]')}"
