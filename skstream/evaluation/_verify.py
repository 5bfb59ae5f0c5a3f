"""Check of a result: the evaluation is run again, and what differs is named, and why."""

from ast import literal_eval
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from skstream.engine.tape import Tape
from skstream.evaluation._evaluator import StreamEvaluator, known_classes
from skstream.evaluation._holdout import HoldoutEvaluator
from skstream.evaluation._kfold import KFoldEvaluator
from skstream.evaluation._prequential import PrequentialEvaluator
from skstream.evaluation._record import FREE
from skstream.evaluation._results._result import EvaluationResult
from skstream.evaluation._settings import named_models
from skstream.evaluation.delayed import DelayedEvaluator
from skstream.stats._report import forgetting_words, plural
from skstream.streams import Stream, as_stream
from skstream.utils._label_space import LabelSpace

_EVALUATORS: dict[str, type[StreamEvaluator]] = {
    one.protocol: one
    for one in (PrequentialEvaluator, KFoldEvaluator, HoldoutEvaluator, DelayedEvaluator)
}
#: Parameters that another evaluation of the same may have otherwise.
_FREE = (*FREE, "metrics", "forgetting", "monitors", "keep_tape", "return_models", "random_state")
#: What is said of other things than rows, where answers or scores differ, and why.
_CAUSES = {"versions": "other versions", "platform": "another machine's arithmetic"}


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What `verify` has found; its text says it.

    Attributes
    ----------
    identical : bool
        Whether answers, scores, data, models and settings are the same, to the last bit.
    n_answers : int
        Answers that were compared, of all models and folds; 0 without a tape.
    models : tuple of str
        Models that were compared.
    first : str
        The first row or checkpoint, model and measure that differ; empty if none does.
    reasons : tuple of str
        What else differs: the data, the models, the settings, versions, the machine.
    """

    identical: bool
    n_answers: int
    models: tuple[str, ...]
    first: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        models = f"{len(self.models)} model{'s' if len(self.models) > 1 else ''}"
        what = (
            f"{self.n_answers:,} answers of {models}" if self.n_answers else f"curves of {models}"
        )
        why = "; ".join(self.reasons)
        if self.identical:
            return f"identical: {what}" + (f" (in spite of {why})" if why else "")
        if not self.first:
            return f"different: the {what} are the same, but not the rest: {why}"
        return f"different: {self.first}. Why: " + (
            why or "no recorded cause; a model may depend on more than its parameters and the seed"
        )


def verify(
    result: EvaluationResult,
    X: Any,
    y: Any = None,
    *,
    models: Any,
    evaluator: StreamEvaluator | None = None,
    **meta: Any,
) -> Verification:
    """Run an evaluation again, and compare its result with an earlier one, bit for bit.

    Parameters
    ----------
    result : EvaluationResult
        The result to check, such as one that `skstream.load` has read.
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
        The rows, as for ``evaluate``; arrays, frames and files of the same values are the same.
    y : array-like of shape (n_rows,), default=None
        Labels or targets.
    models : estimator, list of estimators, or dict of str to estimator
        The models, by the names that they have in the result. Fewer: only these are checked.
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
    Checksums are 32 bits long: they find mistakes, not forgeries. What monitors have detected is
    not compared, since it follows from the answers; neither are costs.

    Examples
    --------
    >>> from skstream import Persistent, PrequentialEvaluator
    >>> from skstream.evaluation import verify
    >>> from skstream.streams import make_demo_stream
    >>> models = {"last": Persistent()}
    >>> result = PrequentialEvaluator("accuracy").evaluate(models, make_demo_stream(100))
    >>> print(verify(result, make_demo_stream(100), models=models))
    identical: 99 answers of 1 model
    >>> found = verify(result, make_demo_stream(100, random_state=1), models=models)
    >>> found.identical, found.reasons
    (False, ('other data: other features and labels',))
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
    again = _again(result, evaluator).evaluate(named, X, y, **meta)
    compared = result.select(models=list(named))
    folds, bins = result.details.selected_folds, getattr(result, "selected_bins", None)
    if folds is not None or bins is not None:
        again = again.select(folds=folds, bins=bins)
    first = next(_differences(compared, again, X if isinstance(X, Stream) else None), "")
    before, now = result.details.record, again.details.record
    causes = [*_of_data(result, again), *_of_models(before, now), *_of_settings(result, again)]
    about = [
        f"{words} ({_changes(before.get(key, {}), now[key])})"
        for key, words in _CAUSES.items()
        if key in before and before[key] != now[key]
    ]
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
    keep = {"keep_tape": result.tape is not None, "random_state": result.parameters.get("seed")}
    keep |= {"checkpoint": None}
    if given is not None:
        return copy(given).set_params(**keep)
    kind = _EVALUATORS.get(result.protocol)
    if kind is None:
        raise ValueError(
            f"The protocol {result.protocol!r} is none of {', '.join(_EVALUATORS)}: pass the "
            "evaluator that made the result, evaluator=."
        )
    known = set(signature(kind).parameters) - {*_FREE} | {"error_score"}
    own = {name: _value(one) for name, one in result.parameters.items() if name in known}
    metrics = _value(result.parameters.get("metrics"))
    try:
        made = kind(metrics, **own).set_params(**keep)
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
    """Say what differs of answers, then of curves; the first comes first."""
    before, now = one.tape, again.tape
    if before is not None and now is not None:
        found = list(_of_tapes(before, now, one.model_names))
        if found:
            place, what, was, is_now = min(found, key=lambda each: each[0])
            row = place if now.row is None else int(now.row[place])
            where = "" if stream is None or now.sets is not None else stream.place_of(row)
            yield f"{what} at row {row:,} ({where or 'counted from 0'}) is {is_now} and was {was}"
        if before.n_rows != now.n_rows:
            yield f"there are {now.n_rows:,} rows and were {before.n_rows:,}, equal up to the last"
    yield from _of_curves(one, again)


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
    same_labels = _same_labels(before.classes, now.classes)
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


def _same_labels(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def _decoded(codes: np.ndarray, tape: Tape) -> np.ndarray:
    return LabelSpace(tape.classes).decode(codes)


def _of_curves(one: EvaluationResult, again: EvaluationResult) -> Iterator[str]:
    rows, here, there = np.intersect1d(one.checkpoints, again.checkpoints, return_indices=True)
    if not len(rows) and (len(one.checkpoints) or len(again.checkpoints)):
        yield "the curves have no checkpoint in common"
    found = []
    for model, by_forgetting in one.values.items():
        for forgetting, by_metric in by_forgetting.items():
            others = again.values[model].get(forgetting, {})
            for metric in (name for name in by_metric if name in others):
                old, new = by_metric[metric][here], others[metric][there]
                place = _first(old, new)
                if place is not None:
                    spelling = one.details.mechanisms.get(forgetting, forgetting)
                    what = f"{metric} ({forgetting_words(spelling)}) of {model!r}"
                    first, second, at = _part(old[place], new[place])
                    if at and one.n_folds > 1:
                        what += f" in fold {one.folds[at[0]]}"
                    what += "".join(f" in bin {(one.bins or at)[k]}" for k in at[1:])
                    found.append((place, what, _shown(second), _shown(first)))
    if found:
        place, what, now, was = min(found, key=lambda each: each[0])
        after = f"at the checkpoint after {plural(int(rows[place]), 'row')}"
        yield f"{what} {after} is {now} and was {was}"


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
    if one.dtype.kind == "f" and other.dtype.kind == "f":
        unlike &= ~(np.isnan(one) & np.isnan(other))
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
    return repr(value.item()) if value.size == 1 else str(value.tolist())


def _of_data(result: EvaluationResult, again: EvaluationResult) -> Iterator[str]:
    before = result.details.record.get("stream", {})
    now = again.details.record["stream"]
    was, is_now = before.get("checksums", {}), now["checksums"]
    found = []
    if was and before["rows"] != now["rows"]:
        found.append(f"{now['rows']:,} rows instead of {before['rows']:,}")
    names, others = now.get("names"), before.get("names")
    if names and others and names != others:
        pairs = enumerate(zip(names, others, strict=False))
        renamed = [k for k, (one, other) in pairs if one != other]
        found.append(
            f"column {renamed[0]} is called {names[renamed[0]]!r} and was {others[renamed[0]]!r}"
            if renamed
            else f"{len(names)} columns instead of {len(others)}"
        )
    if was:
        other = [name for name in {**was, **is_now} if was.get(name) != is_now.get(name)]
        found += [f"other {' and '.join(other)}"] if other else []
    elif result.details.labels_read not in ("", again.details.labels_read):
        found.append("other labels")
    if found:
        yield f"other data: {', '.join(found)}"


def _of_models(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name, facts in now["models"].items():
        earlier = before.get("models", {}).get(name, facts)
        if facts != earlier:
            yield f"another model {name!r}: {_changes(earlier, facts)}"


def _of_settings(result: EvaluationResult, again: EvaluationResult) -> Iterator[str]:
    # The seed is the same.
    free = {*_FREE, "metrics", "forgetting", "record_every", "error_score", "seed"}
    free.add("in_one_process")
    was, now = (
        {name: one for name, one in each.parameters.items() if name not in free}
        for each in (result, again)
    )
    if {**now, **was} != {**was, **now}:
        yield f"other settings: {_changes(was, now)}"


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} is {now.get(name, 'not there')} and was {before.get(name, 'not there')}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    )
