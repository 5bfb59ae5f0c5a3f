"""Check of a result: the evaluation is run again, and the first row that differs is named."""

from ast import literal_eval
from collections.abc import Iterator, Mapping
from contextlib import suppress
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
from skstream.core.forgetting import as_forgetting
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
#: Parts of a result that follow from the machine; of models that are not in it; and those that are
#: compared by a sentence of their own.
NOT_COMPARED = ("costs", "paths", "models", "left_out")
_BY_ITSELF = (
    *("tape", "checkpoints", "parameters", "record", "why_no_tape", "baselines", "generator"),
)
#: What is said of that.
_SAID = "Seconds, sizes and paths are not compared"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What `verify` has found; its text says it.

    Attributes
    ----------
    identical : bool
        Whether answers, scores at every checkpoint and all else that is read from a result are the
        same, to the last bit, and the data, models and settings, too.
    n_answers : int
        Answers that were compared, of all models and folds; 0 without a tape.
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
        what = f"{self.n_answers:,} answers and the curves" if self.n_answers else "the curves"
        why = "; ".join(self.reasons)
        if self.identical:
            spite = f" (in spite of {why})" if why else ""
            return f"identical: {what} of {models}{spite}. {_SAID}."
        if not self.first:
            return f"different: {what} of {models} are the same, but not the rest: {why}"
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
    """Run an evaluation again, and compare its result with an earlier one, bit for bit.

    Parameters
    ----------
    result : EvaluationResult
        The result to check, such as one that `skstream.load` has read.
    models : estimator, list of estimators, or dict of str to estimator
        The models, by the names that they have in the result. Fewer: only these are checked.
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
        The rows, as for ``evaluate``; arrays, frames and files of the same values are the same.
    y : array-like of shape (n_rows,), default=None
        Labels or targets.
    evaluator : StreamEvaluator, default=None
        The evaluator. None: one with the parameters that the result has recorded.
    **meta
        Further arguments of ``evaluate``: `sample_weight`, `arrival`, `label_time`, `classes`.

    Returns
    -------
    found : Verification
        Whether they are identical; else what differs first, and why.

    Raises
    ------
    ValueError
        If a model is not in the result, or a parameter was recorded as a text only: pass
        `evaluator` then.

    Notes
    -----
    All that a table, a page, a rank or a comparison reads from a result is compared. Not compared
    are costs (seconds and sizes) and paths (kernel or loop), which follow from the machine, and the
    name of the generator where the rows are not given as a generator.

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
    compared = result.select(models=list(named))
    folds, bins = result.details.selected_folds, getattr(result, "selected_bins", None)
    if folds is not None or bins is not None:
        again = again.select(folds=folds, bins=bins)
    found = _differences(compared, again, X if isinstance(X, Stream) else None)
    first = next(found, "") or next(_of_words(result, again, list(named)), "")
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
            "evaluator that made the result, evaluator=."
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
            "The evaluator cannot be made from what the result has recorded, since a parameter "
            f"was more than a number or a text: pass it, evaluator=. ({error})"
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
        found = list(_of_tapes(before, now, one.model_names))
        if found:
            place, what, was, is_now = min(found, key=lambda each: each[0])
            row = place if now.row is None else int(now.row[min(place, now.n_rows - 1)])
            where = "" if stream is None or now.sets is not None else stream.place_of(row)
            yield f"{what} at row {row:,} ({where or 'counted from 0'}) is {is_now} and was {was}"
        if before.n_rows != now.n_rows:
            yield f"there are {now.n_rows:,} rows and were {before.n_rows:,}, equal up to the last"
        yield from _unequal(before, now, "the tape")
    yield from _of_curves(one, again)
    yield from _unequal(one, again, "the result")
    own = [name for name in one.details.baselines if name in one.values]
    yield from _unequal(own, list(again.details.baselines), "the baselines")
    if again.details.generator:
        yield from _unequal(one.details.generator, again.details.generator, "the generator")


def _of_words(result: EvaluationResult, again: EvaluationResult, names: list[str]) -> Iterator[str]:
    """Say what a result tells of models that its scores do not bear out."""
    for name in names:
        was, now = name in result.failures, name in again.failures
        if was != now:
            yield f"{name!r} {'failed' if now else 'did not fail'}, and the result says otherwise"
        costs = [one.costs[name] for one in (result, again) if name in one.costs]
        if len(costs) == 2 and result.details.selected_folds is None:
            told = [(one.refit_rows, one.n_failed_refits) for one in costs]
            if told[0] != told[1]:
                yield f"the refits of {name!r} are {told[1]} and were {told[0]}"
    for name in (*result.failures, *result.left_out):
        if (name in result.values) == (name in result.left_out):
            yield f"{name!r} is said to have failed or to be left out, and its scores say otherwise"
    seed, drawn = (result.parameters.get(name) for name in ("random_state", "seed"))
    if seed is not None and seed != drawn:
        yield f"the seed is {seed} and was {drawn}"
    with suppress(KeyError, TypeError, ValueError):  # recorded as the text of an object
        spelled = as_forgetting(_value(result.parameters["forgetting"]))
        known = {name: one.name for name, one in spelled.items()}
        if not result.details.mechanisms.items() <= known.items():
            yield f"the forgetting is {result.details.mechanisms} and was {known}"


def _of_tapes(before: Tape, now: Tape, models: list[str]) -> Iterator[tuple[int, str, str, str]]:
    """Places at which labels, answers and scores differ first, and what they are there."""
    pairs = [("the label", (before.y, now.y), "")]
    for name in models:
        for fold in range(len(before.answers[name])):
            of_fold = f" in fold {fold}" if len(before.answers[name]) > 1 else ""
            answers = before.answers[name][fold], now.answers[name][fold]
            pairs.append((f"the answer of {name!r}{of_fold}", answers, "bin"))
            if name in before.scores and name in now.scores:
                scores = before.scores[name][fold], now.scores[name][fold]
                pairs.append((f"the score of {name!r}{of_fold}", scores, "column"))
    same_labels = np.array_equal(before.classes, now.classes)  # type: ignore[arg-type]
    for what, pair, part in pairs:
        are_labels = part != "column"
        was, is_now = map(np.asarray, pair)
        if are_labels and not same_labels:  # codes are places among other labels
            was, is_now = _decoded(was, before), _decoded(is_now, now)
        place = _first(was, is_now)
        if place is not None:
            was, is_now, at = _part(was[place], is_now[place])
            what += "".join(f", {part} {k}" for k in at) + "," * len(at)
            if are_labels and same_labels:
                was, is_now = _decoded(was, before), _decoded(is_now, now)
            yield place, what, _shown(was), _shown(is_now)


def _decoded(codes: np.ndarray, tape: Tape) -> np.ndarray:
    return LabelSpace(tape.classes).decode(codes)


def _of_curves(one: EvaluationResult, again: EvaluationResult) -> Iterator[str]:
    """Say which value differs first, of the curves at all checkpoints of either."""
    rows, found = one.checkpoints, []
    for model, by_forgetting in one.values.items():
        for forgetting, by_metric in by_forgetting.items():
            others = again.values[model].get(forgetting, {})
            if [*by_metric] != [*others]:
                yield f"the measures under {forgetting} are {[*others]} and were {[*by_metric]}"
                return
            for metric, old in by_metric.items():
                place = _first(old, others[metric])
                if place is not None:
                    spelling = one.details.mechanisms.get(forgetting, forgetting)
                    what = f"{metric} ({forgetting_words(spelling)}) of {model!r}"
                    first, second, at = _part(old[place], others[metric][place])
                    if at and one.n_folds > 1:
                        what += f" in fold {one.folds[at[0]]}"
                    what += "".join(f" in bin {(one.bins or at)[k]}" for k in at[1:])
                    found.append((place, what, _shown(second), _shown(first)))
    if found:
        place, what, now, was = min(found)
        after = f"at the checkpoint after {plural(int(rows[place]), 'row')}"
        yield f"{what} {after} is {now} and was {was}"
    yield from _unequal(rows, again.checkpoints, "the list of checkpoints")


def _unequal(was: Any, now: Any, name: str) -> Iterator[str]:
    """Name what differs between two values, part by part."""
    was, now = map(_parts, (was, now))
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            if key not in was or key not in now:
                yield f"{name}: {key} is {'' if key in now else 'not '}there, and was" + (
                    "" if key in was else " not"
                )
            else:
                yield from _unequal(was[key], now[key], f"{name}: {key}")
    elif np.shape(was) != np.shape(now) or _unlike(np.asarray(was), np.asarray(now)).any():
        yield f"{name} is {_shown(now)} and was {_shown(was)}"


def _parts(value: Any) -> Any:
    """Return the parts of a value by name, as far as they are compared."""
    if hasattr(value, "facts"):  # a measure, whose function is not in a file
        return dict(value.facts)
    if is_dataclass(value) and not isinstance(value, type):
        skipped = (*NOT_COMPARED, *_BY_ITSELF)
        names = [one.name for one in fields(value) if one.name not in skipped]
        return {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    return value


def _first(one: np.ndarray, other: np.ndarray) -> int | None:
    """Place of the first row that differs, of those that both have."""
    n = min(len(one), len(other))
    if one.shape[1:] != other.shape[1:]:
        return 0
    differs = np.argwhere(_unlike(one[:n], other[:n]))
    return int(differs[0, 0]) if len(differs) else None


def _unlike(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two arrays of one shape differ; NaN is like NaN."""
    unlike = np.asarray(one != other)
    if one.dtype.kind in "fmM" and other.dtype.kind == one.dtype.kind:
        unlike &= ~((one != one) & (other != other))
    return unlike


def _part(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Return the first values that differ of a row, as arrays of one value, and their place.

    The whole rows, and no place, where they have not the same shape.
    """
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return one, other, ()
    at = tuple(np.argwhere(_unlike(one, other))[0].tolist())
    return one[at].reshape(1), other[at].reshape(1), at


def _n_answered(answers: Any) -> int:
    answers = np.asarray(answers)
    given = ~np.isnan(answers) if answers.dtype.kind == "f" else answers >= 0
    return int(np.count_nonzero(given))


def _shown(value: Any) -> str:
    value = np.asarray(value)
    return repr(value.item()) if value.size == 1 else str(value.tolist())[:80]


def _reasons(one: EvaluationResult, again: EvaluationResult) -> tuple[list[str], list[str]]:
    """Say what else differs: what makes it another evaluation, and what may be another by right."""
    before, now = one.details.record, again.details.record
    settings = (
        {name: value for name, value in each.parameters.items() if name not in _FREE_PARAMETERS}
        for each in (one, again)
    )
    pairs = {
        "other data": (_facts_of_rows(before, now), _facts_of_rows(now, before)),
        **{
            f"another model {name!r}": (before.get("models", {}).get(name, {}), facts)
            for name, facts in now["models"].items()
        },
        "other settings": settings,
        "another order of rows": (
            {name: each[name] for name in ("timelines",) if name in each} for each in (before, now)
        ),
        "other versions": (each.get("versions", {}) for each in (before, now)),
        "another machine's arithmetic": (each.get("platform", {}) for each in (before, now)),
    }
    found = {}
    for words, (was, is_now) in pairs.items():
        names = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name)]
        if was and names:
            nothing = "not there"
            found[words] = f"{words}: " + ", ".join(
                f"{name} is {is_now.get(name, nothing)} and was {was.get(name, nothing)}"
                for name in names
            )
    by_right = [found.pop(words) for words in list(pairs)[-2:] if words in found]
    return list(found.values()), by_right


def _facts_of_rows(record: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of the rows; nothing, if they were not all read by an evaluator."""
    stream, beside = record.get("stream", {}), other.get("stream", {})
    if not (stream.get("checksums") and beside.get("checksums")):
        return {}
    names = {"names": stream["names"]} if stream["names"] and beside["names"] else {}
    return {"rows": stream["rows"], **names, **stream["checksums"]}
