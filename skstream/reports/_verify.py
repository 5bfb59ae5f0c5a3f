"""Check of a result: the evaluation is run again, and the first row that differs is named."""

from ast import literal_eval
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from inspect import signature
from typing import Any

import numpy as np

from skstream.core.evaluators.delayed import DelayedEvaluator
from skstream.core.evaluators.evaluator import StreamEvaluator, known_classes
from skstream.core.evaluators.holdout import HoldoutEvaluator
from skstream.core.evaluators.prequential import KFoldEvaluator, PrequentialEvaluator
from skstream.core.evaluators.record import FREE
from skstream.core.evaluators.settings import Polling, RunOptions, named_models, run_options
from skstream.core.result.result import EvaluationResult
from skstream.core.run.tape import Tape
from skstream.stats._report import forgetting_words, plural
from skstream.streams import Stream, as_stream
from skstream.utils._labels import LabelSpace

_EVALUATORS: dict[str, type[StreamEvaluator]] = {
    one.protocol: one
    for one in (PrequentialEvaluator, KFoldEvaluator, HoldoutEvaluator, DelayedEvaluator)
}
#: Parameters that may differ, or whose effect is compared: measures, forgetting, tape and seed.
_FREE_PARAMETERS = {
    *(*FREE, "metrics", "forgetting", "run", "keep_tape", "return_models", "random_state", "seed"),
    "in_one_process",
}
#: Parts of a result that follow from the machine, or are of models that are not in it.
NOT_COMPARED = ("costs", "paths", "models", "left_out")
#: And those that are compared by a sentence of their own.
_NOT_PARTS = {
    *(*NOT_COMPARED, "tape", "values", "checkpoints", "parameters", "record", "why_no_tape"),
    "generator",
}
#: What is said of that.
_SAID = "Seconds, sizes and paths are not compared"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The finding of `verify`; its text says it.

    Attributes
    ----------
    identical : bool
        Whether predictions, curves and all else that is read from a result are the same, to the
        last bit, and the data, models and settings, too.
    n_answers : int
        Predictions that were compared, of all models and folds; 0 without a tape.
    models : tuple of str
        Models that were compared.
    first : str
        The first row or checkpoint, model and measure that differ, or another part of the result;
        empty if none does.
    reasons : tuple of str
        What else differs: the data, the models, the settings, versions, the machine.
    """

    identical: bool
    n_answers: int
    models: tuple[str, ...]
    first: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        models = plural(len(self.models), "model")
        what = f"{self.n_answers:,} predictions and the curves" if self.n_answers else "the curves"
        why = "; ".join(self.reasons)
        if self.identical:
            despite = f" (despite {why})" if why else ""
            return f"identical: {what} of {models}{despite}. {_SAID}."
        if not self.first:
            return f"different: {what} of {models} are the same, but the rest is not: {why}"
        return f"different: {self.first}. Why: " + (
            why or "no recorded cause; a model may depend on more than its parameters and the seed"
        )


def verify(
    result: EvaluationResult,
    models: Any,
    X: Any,
    y: Any = None,
    *,
    evaluator: StreamEvaluator | None = None,
    **meta: Any,
) -> Verification:
    """Repeat an evaluation, and compare its result with an earlier one, bit for bit.

    Parameters
    ----------
    result : EvaluationResult
        The result to check, such as one that `skstream.load` has read.
    models : estimator, list of estimators, or dict of str to estimator
        The models, by their names in the result. If fewer, only these are checked.
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
        The rows, as for ``evaluate``; arrays, frames and files of the same values are the same.
    y : array-like of shape (n_rows,), default=None
        Labels or targets.
    evaluator : StreamEvaluator, default=None
        The evaluator. None: one with the parameters recorded in the result.
    **meta
        Further arguments of ``evaluate``: `sample_weight`, `arrival`, `label_time`, `classes`.

    Returns
    -------
    found : Verification
        Whether they are identical; if not, what differs first, and why.

    Raises
    ------
    ValueError
        If a model is not in the result, or a parameter was recorded only as a text: then pass
        `evaluator`.

    Notes
    -----
    Everything that tables, pages, ranks and comparisons read from a result is compared. Costs
    (seconds and sizes) and paths (kernel or loop) are not, as they depend on the machine, nor is
    the name of the generator if the rows are not given as a generator.

    Examples
    --------
    >>> from skstream import Persistent, PrequentialEvaluator
    >>> from skstream.evaluation import verify
    >>> from skstream.streams import make_demo_stream
    >>> models = {"last": Persistent()}
    >>> result = PrequentialEvaluator("accuracy").evaluate(models, make_demo_stream(100))
    >>> verify(result, models, make_demo_stream(100)).identical
    True
    >>> found = verify(result, models, make_demo_stream(100, random_state=1))
    >>> found.identical, len(found.reasons)
    (False, 1)
    """
    named = named_models(models)
    unknown = [name for name in named if name not in result.values]
    if unknown:
        raise ValueError(
            f"The result has no model {unknown[0]!r}; it has {', '.join(result.model_names)}. Give "
            "the models by these names: models={name: model}."
        )
    if y is None and "classes" not in meta:
        X = as_stream(X)
        if known_classes(X) is None:  # as where classes= was passed
            meta["classes"] = result.classes
    if result.parameters.get("warm_start"):
        meta["warm_start"] = True
    again = _again(result, evaluator).evaluate(named, X, y, **meta)
    compared = result
    if list(named) != result.model_names:
        compared = result.select(models=list(named))
    folds, bins = result.details.selected_folds, getattr(result, "selected_bins", None)
    if folds is not None or bins is not None:
        again = again.select(folds=folds, bins=bins)
    first = next(_differences(compared, again, X if isinstance(X, Stream) else None), "")
    causes, about = _reasons(compared, again)
    tapes = [one.tape for one in (compared, again) if one.tape is not None]
    answers = tapes[1].answers if len(tapes) > 1 else {}
    return Verification(
        identical=not first and not causes,
        n_answers=sum(_n_answered(one) for folds in answers.values() for one in folds),
        models=tuple(named),
        first=first,
        reasons=(*causes, *about),
    )


def _again(result: EvaluationResult, given: StreamEvaluator | None) -> StreamEvaluator:
    """Return the evaluator that made a result."""
    recorded = {name: _value(one) for name, one in result.parameters.items()}
    kernels = recorded.get("kernels", True) if given is None else run_options(given.run).kernels
    keep = {
        "run": RunOptions(kernels=kernels, keep_tape=result.tape is not None),
        "random_state": result.parameters.get("seed"),
    }
    if given is not None:
        return copy(given).set_params(**keep)
    kind = _EVALUATORS.get(result.protocol)
    if kind is None:
        raise ValueError(
            f"The protocol {result.protocol!r} is none of {', '.join(_EVALUATORS)}: pass the "
            "evaluator of the result, evaluator=."
        )
    known = set(signature(kind).parameters) - _FREE_PARAMETERS | {"error_score"}
    own = {name: value for name, value in recorded.items() if name in known}
    options = {one.name for one in fields(Polling)} & set(recorded)
    try:
        if options:
            own["polling"] = Polling(**{name: recorded[name] for name in options})
        made = kind(recorded.get("metrics"), **own).set_params(**keep)
        if result.protocol != HoldoutEvaluator.protocol:
            made.set_params(forgetting=dict(result.details.mechanisms))
        made._validate()
        return made
    except (TypeError, ValueError) as error:
        raise ValueError(
            "The evaluator cannot be rebuilt from the result, since a parameter was not a number "
            f"or a text: pass it, evaluator=. ({error})"
        ) from error


def _value(recorded: Any) -> Any:
    """Return the value of a parameter that was recorded as it is, or as the text of a list."""
    if isinstance(recorded, str) and recorded[:1] in ("(", "[", "{"):
        try:
            return literal_eval(recorded)
        except (ValueError, SyntaxError):
            return recorded
    return recorded


def _differences(
    one: EvaluationResult, again: EvaluationResult, stream: Stream | None
) -> Iterator[str]:
    """Say what differs of answers, then of curves, then of the rest; the first comes first."""
    before, now = one.tape, again.tape
    if before is not None and now is not None:
        for row, what, values in _first(_columns_of(before, now, one)):
            place = row if now.row is None else int(now.row[min(row, now.n_rows - 1)])
            where = "" if stream is None or now.sets is not None else stream.place_of(place)
            yield f"{what} at row {place:,} ({where or 'counted from 0'}) {values}"
        if before.n_rows != now.n_rows:
            yield f"{now.n_rows:,} rows instead of {before.n_rows:,}; those that are in both agree"
    for point, what, values in _first(_curves_of(one, again)):
        after = plural(int(one.checkpoints[point]), "row")
        yield f"{what} at the checkpoint after {after} {values}"
    for name in ("checkpoints", "values", "tape"):
        yield from _unequal(getattr(one, name), getattr(again, name), f"the result: {name}")
    yield from _unequal(one, again, "the result")
    yield from _unequal(_refits(one), _refits(again), "the refits")
    if again.details.generator:
        yield from _unequal(one.details.generator, again.details.generator, "the generator")


#: What is compared, the values of both sides, and what their axes after the first count.
_Column = tuple[str, np.ndarray, np.ndarray, dict[str, Any]]


def _columns_of(before: Tape, now: Tape, result: EvaluationResult) -> Iterator[_Column]:
    """Labels, answers and scores by row; labels as what they stand for, where they differ."""
    same_labels = np.array_equal(before.classes, now.classes)  # type: ignore[arg-type]

    def labels(what: str, was: Any, is_now: Any) -> Iterator[_Column]:
        if not (same_labels and np.array_equal(was, is_now)):
            decoded = LabelSpace(before.classes).decode(was), LabelSpace(now.classes).decode(is_now)
            yield what, *decoded, {"fold": result.folds, "bin": range(was.shape[-1])}

    yield from labels("the label", before.y, now.y)
    for name in result.model_names:
        answers = (np.swapaxes(tape.answers[name], 0, 1) for tape in (before, now))
        yield from labels(f"the prediction of {name!r}", *answers)
        if name in before.scores and name in now.scores:
            was, is_now = (np.swapaxes(tape.scores[name], 0, 1) for tape in (before, now))
            axes = {"fold": result.folds, "column": range(was.shape[-1])}
            yield f"the score of {name!r}", was, is_now, axes


def _curves_of(one: EvaluationResult, again: EvaluationResult) -> Iterator[_Column]:
    """Curves of measures that both results have, by checkpoint."""
    for model, by_forgetting in one.values.items():
        for forgetting, by_metric in by_forgetting.items():
            words = forgetting_words(one.details.mechanisms.get(forgetting, forgetting))
            others = again.values[model].get(forgetting, {})
            for metric in by_metric.keys() & others.keys():
                what = f"{metric} ({words}) of {model!r}"
                axes = {"fold": one.folds, "bin": one.bins}
                yield what, by_metric[metric], others[metric], axes


def _first(columns: Iterator[_Column]) -> list[tuple[int, str, str]]:
    """Return the first row that differs in any column, if there is one, what, and both values."""
    found = []
    for what, was, now, axes in columns:
        n = min(len(was), len(now))
        if was.shape[1:] == now.shape[1:]:
            for row, *rest in np.argwhere(_unlike(was[:n], now[:n]))[:1].tolist():
                parts = zip(axes.items(), rest, was.shape[1:], strict=False)
                what += "".join(f" in {axis} {of[k]}" for (axis, of), k, m in parts if m > 1)
                values = (_shown(each[row, *rest]) for each in (now, was))
                found.append((row, what, "is {} and was {}".format(*values)))
    return sorted(found, key=lambda each: each[0])[:1]


def _refits(result: EvaluationResult) -> dict[str, Any]:
    """Rows after which models were refitted, and how often that failed, which are no seconds."""
    return {name: [one.refit_rows, one.n_failed_refits] for name, one in result.costs.items()}


def _unequal(was: Any, now: Any, name: str) -> Iterator[str]:
    """Name what differs between two values, part by part."""
    was, now = map(_parts, (was, now))
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            if key not in was or key not in now:
                yield f"{name}: {key} is {'new' if key in now else 'missing'}"
            else:
                yield from _unequal(was[key], now[key], f"{name}: {key}")
    elif np.shape(was) != np.shape(now) or _unlike(np.asarray(was), np.asarray(now)).any():
        yield f"{name} is {_shown(now)} and was {_shown(was)}"


def _parts(value: Any) -> Any:
    """Return the parts of a value by name, as far as they are compared."""
    if hasattr(value, "facts"):  # a measure, whose function is not in a file
        return dict(value.facts)
    if is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in fields(value) if one.name not in _NOT_PARTS]
        return {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value


def _unlike(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two arrays of one shape differ; NaN is like NaN."""
    unlike = np.asarray(one != other)
    if one.dtype.kind in "fmM" and other.dtype.kind == one.dtype.kind:
        unlike &= ~((one != one) & (other != other))
    return unlike


def _n_answered(answers: Any) -> int:
    answers = np.asarray(answers)
    given = ~np.isnan(answers) if answers.dtype.kind == "f" else answers >= 0
    return int(np.count_nonzero(given))


def _shown(value: Any) -> str:
    value = np.asarray(value)
    return repr(value.item()) if value.size == 1 else str(value.tolist())[:80]


def _reasons(one: EvaluationResult, again: EvaluationResult) -> tuple[list[str], list[str]]:
    """Say what else differs: what makes it another evaluation, and what may be another by right."""
    before, now = _recorded(one, again), _recorded(again, one)
    found = {}
    for words, is_now in now.items():
        was = before.get(words, {})
        names = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name)]
        if was and names:
            found[words] = f"{words}: " + ", ".join(
                f"{name} is {is_now.get(name, 'not there')} and was {was.get(name, 'not there')}"
                for name in names
            )
    by_right = [found.pop(words) for words in list(now)[-2:] if words in found]
    return list(found.values()), by_right


def _recorded(result: EvaluationResult, other: EvaluationResult) -> dict[str, dict[str, Any]]:
    """Return what a result says of its making, by what is said where it differs from another's."""
    record = result.details.record
    given = {name: one for name, one in result.parameters.items() if name not in _FREE_PARAMETERS}
    timelines = {name: one for name, one in record.items() if name == "timelines"}
    return {
        "other data": _facts_of_rows(record, other.details.record),
        **{f"another model {name!r}": one for name, one in record.get("models", {}).items()},
        "other settings": given,
        "another order of rows": timelines,
        "other versions": record.get("versions", {}),
        "another machine's arithmetic": record.get("platform", {}),
    }


def _facts_of_rows(record: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of the rows; nothing, if they were not all read by an evaluator."""
    stream, beside = record.get("stream", {}), other.get("stream", {})
    if not (stream.get("checksums") and beside.get("checksums")):
        return {}
    names = {"names": stream["names"]} if stream["names"] and beside["names"] else {}
    return {"rows": stream["rows"], **names, **stream["checksums"]}
