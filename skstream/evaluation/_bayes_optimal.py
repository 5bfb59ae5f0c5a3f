"""Models that take the rows learnt as the time: where they do not fit an evaluation."""

from collections.abc import Mapping
from typing import Any

from skstream._meta import MetaClassifier
from skstream.base import learning_parts
from skstream.streams import Stream
from skstream.streams._composition._base import origin_of
from skstream.streams._composition._runs import FirstRows
from skstream.utils._validation import is_fitted

_TIME = "takes the number of rows learnt as the number of the row that is asked"


def check_rows_are_time(
    models: Mapping[str, Any],
    stream: Stream | None,
    *,
    missing_labels: str,
    protocol: str = "",
    warm_start: bool = False,
) -> None:
    """Refuse `BayesOptimal` where the rows learnt are not those before the row that is asked.

    Its answers would be those of other rows, and its error too high without a word. `stream` is
    None in a live run: nothing is known of its rows then.
    """
    for name, model in models.items():
        for part in learning_parts(model):
            if isinstance(part, MetaClassifier):
                part.check_fresh_models()
            if getattr(type(part), "_rows_are_time", False) is not True:
                continue
            n_learnt = part.n_rows_learnt_ if warm_start and is_fitted(part) else 0
            why = (
                _why_not_folds(protocol)
                or _why_not_skip(stream, missing_labels)
                or (None if stream is None else _why_not_rows(part.stream, stream, n_learnt))
            )
            if why is not None:
                raise ValueError(f"{type(part).__name__} (model '{name}') {_TIME}. {why}")


def _why_not_folds(protocol: str) -> str | None:
    if protocol != "k-fold":
        return None
    return (
        "A fold learns only some of the rows, or learns them with weights that it draws, and so "
        "BayesOptimal fits no folds. Evaluate it with PrequentialEvaluator."
    )


def _why_not_skip(stream: Stream | None, missing_labels: str) -> str | None:
    inner = stream.parts[0] if isinstance(stream, FirstRows) else stream
    if missing_labels != "skip" or hasattr(inner, "posterior"):  # whose rows all have a label
        return None
    return (
        'With missing_labels="skip" a row without a label is not learnt, and BayesOptimal would '
        "answer for an earlier row from there on. Evaluate it on the stream with all its labels, "
        'without missing_labels="skip", and the other models apart.'
    )


def _why_not_rows(own: Any, stream: Stream, n_learnt: int) -> str | None:
    """Compare the first and the last row of a stream with those that a model takes them for."""
    last = [] if stream.n_rows is None else [stream.n_rows - 1]
    for row in [0, *last]:
        origin = origin_of(stream, row)
        if origin is None:
            continue
        source, number = origin
        if not hasattr(source, "posterior"):
            continue
        if number != n_learnt + row:
            return (
                f"Row {row:,} of the stream evaluated is row {number:,} of the "
                f"{type(source).__name__} that it is made of, and BayesOptimal would take it for "
                f"row {n_learnt + row:,}. Evaluate the stream from its first row on; of the "
                "functions that cut a stream, take_rows(stream, n) keeps the row numbers, and "
                "drop_rows(stream, n) does not."
            )
        if not _same_truth(own, source):
            return (
                f"Row {row:,} of the stream evaluated comes from another {type(source).__name__} "
                "than that of BayesOptimal: their components differ. Pass BayesOptimal the stream "
                "that is evaluated."
            )
    return None


def _same_truth(one: Any, other: Any) -> bool:
    """Whether two mixtures have the same components; of other streams it is not known."""
    if one is other or not (hasattr(one, "components") and hasattr(other, "components")):
        return True
    return bool(one.components == other.components and one.class_weights == other.class_weights)
