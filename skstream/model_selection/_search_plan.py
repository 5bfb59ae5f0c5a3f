"""What a search will do: its candidates, and the plan of its runs."""

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any

import joblib
import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from skstream.base import check_labels, check_rows, check_some_weight, check_targets, check_weight
from skstream.core.evaluators.execution import EvaluationInterrupted, Execution
from skstream.core.evaluators.settings import (
    Settings,
    check_can_answer,
    named_models,
    run_options,
    warn_of_codes,
)
from skstream.core.measures.registry import CLASSIFICATION
from skstream.core.result.result import assemble
from skstream.core.rows.arrays import begins_again, refuse_chunks
from skstream.core.rows.stream import refuse_endless
from skstream.core.run.input import encoded
from skstream.core.run.run_outcome import Place
from skstream.core.timelines.timeline import Arrivals, rows_of_warmup
from skstream.evaluation import PrequentialEvaluator
from skstream.forgetting import Cumulative
from skstream.metrics import Measure
from skstream.model_selection._search_run import HonestLoss, Rules, SearchRun, all_failed
from skstream.streams import Drift, Stream, as_stream, take_rows
from skstream.utils._choices import is_integer, is_real, told_apart, written
from skstream.utils._labels import LabelSpace, is_given, refuse_single
from skstream.utils._rows import check_same_order
from skstream.utils._seeds import seed_estimator
from skstream.utils._validation import as_learner, is_regressor, unfitted_copy
from skstream.utils._warnings import warn

#: Longest text of a value in the name of a candidate.
_LONGEST = 40
#: Where an object is in memory, which another process writes otherwise.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Candidates:
    """The models of a search, in their order.

    Attributes
    ----------
    params : list of dict
        Parameters of each, as they are set.
    names : list of str
        Name of each.
    """

    params: list[dict[str, Any]]
    names: list[str]

    def __len__(self) -> int:
        return len(self.params)

    def models(self, estimator: Any) -> dict[str, Any]:
        """Return new unfitted models by name: copies of an estimator with the parameters."""
        models = [_model_with(estimator, some) for some in self.params]
        return dict(zip(self.names, models, strict=True))


def candidates_of(param_grid: Any, n_iter: int | None, random_state: Any) -> Candidates:
    """Return the candidates of a grid, or as many as are to be sampled from distributions.

    Parameters
    ----------
    param_grid : dict or list of dict
        Values by parameter; distributions too, with `n_iter`.
    n_iter : int or None
        Number of candidates that are sampled; None: all of the grid.
    random_state : int or None
        Seed of the sampling.

    Returns
    -------
    candidates : Candidates
        All different.

    Raises
    ------
    ValueError
        If there is no candidate, or two candidates of a grid are the same.
    """
    _check_grid(param_grid, n_iter)
    if n_iter is None:
        params = _different(list(ParameterGrid(param_grid)))
    else:
        params = _sampled(ParameterSampler(param_grid, n_iter, random_state=random_state))
    return Candidates(params, _names(params))


def _check_grid(param_grid: Any, n_iter: int | None) -> None:
    ParameterSampler(param_grid, 1)  # raises scikit-learn's errors about what is no grid
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    if odd := [name for grid in grids for name in grid if not isinstance(name, str)]:
        raise TypeError(f"param_grid must name parameters by texts. Got {odd[0]!r} instead.")
    if not any(grids):
        raise ValueError(
            f"param_grid={param_grid!r} is empty: name parameters and their values. To evaluate a "
            "single model, use PrequentialEvaluator."
        )
    drawn = [name for grid in grids for name, values in grid.items() if hasattr(values, "rvs")]
    if drawn and n_iter is None:
        raise ValueError(
            f"param_grid[{drawn[0]!r}] is a distribution: pass n_iter=, the number of candidates "
            "to sample, or a list of values."
        )


def _model_with(estimator: Any, params: Mapping[str, Any]) -> Any:
    model = unfitted_copy(estimator)
    _refuse_classes(model, params)
    if params:
        model.set_params(**clone(dict(params), safe=False))
    return model


def _refuse_classes(model: Any, params: Mapping[str, Any]) -> None:
    """Refuse a class where the model holds an object, such as a step of a pipeline."""
    classes = [
        name
        for name, value in params.items()
        if isinstance(value, type) and hasattr(value, "get_params")
    ]
    own = model.get_params() if classes else {}
    for name in classes:
        if name in own and not isinstance(own[name], type):
            given = params[name].__name__
            raise TypeError(
                f"param_grid[{name!r}] contains the class {given}, but a model needs an instance: "
                f"pass {given}()."
            )


def _keys(params: Sequence[Mapping[str, Any]]) -> list[str]:
    """Texts that are equal where candidates have equal parameters."""
    return [" ".join(f"{name}={_key(one[name])}" for name in sorted(one)) for one in params]


def _key(value: Any) -> str:
    try:
        return str(joblib.hash(_plain(value)))
    except Exception:  # what cannot be pickled, such as a lambda, equals itself alone
        return str(id(value))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _different(params: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first: dict[str, int] = {}
    for number, key in enumerate(_keys(params)):
        if first.setdefault(key, number) != number:
            raise ValueError(
                f"Candidates {first[key]} and {number} of param_grid are equal, {params[number]}: "
                "list every value once."
            )
    return params


def _sampled(sampler: ParameterSampler) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        # Its advice is another class; here, n_iter=None.
        warnings.filterwarnings("ignore", message="The total space of parameters")
        params = list(sampler)
    different = list(dict(zip(_keys(params), params, strict=True)).values())
    if len(different) < sampler.n_iter:
        warn(
            f"n_iter={sampler.n_iter} gave {len(different)} different candidates of param_grid; "
            "each is evaluated once. Use n_iter=None for the whole grid."
        )
    return different


def _names(params: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name candidates by the parameters in which they differ, each by another name.

    Paths are left out where the ends are enough, and digits of floats where six are enough.
    """
    paths = list(dict.fromkeys(name for one in params for name in one))
    ends = [path.rpartition("__")[2] for path in paths]
    shown = {p: end if ends.count(end) == 1 else p for p, end in zip(paths, ends, strict=True)}
    told = [path for path in paths if _differs(params, path)]

    def named(one: Mapping[str, Any], *, exact: bool) -> str:
        some = [path for path in one if path in told] or list(one)
        return ", ".join(f"{shown[path]}={_text(one[path], exact)}" for path in some)

    texts = [named(one, exact=False) for one in params]
    times = Counter(texts)
    texts = [
        named(one, exact=True) if times[text] > 1 else text
        for one, text in zip(params, texts, strict=True)
    ]
    return told_apart(texts)


def _differs(params: Sequence[Mapping[str, Any]], path: str) -> bool:
    """Whether a parameter is not the same in all candidates."""
    given = [one for one in params if path in one]
    return len(given) < len(params) or len(set(_keys([{path: one[path]} for one in given]))) > 1


def _text(value: Any, exact: bool) -> str:
    value = _plain(value)
    if isinstance(value, float):
        return written(value) if exact else f"{value:.6g}"
    if isinstance(value, str):
        text = value
    elif isinstance(value, type | FunctionType):
        text = value.__qualname__
    elif isinstance(value, set | frozenset):  # their order is another one in each process
        text = f"{{{', '.join(sorted(map(repr, value)))}}}"
    else:
        text = _ADDRESS.sub("", " ".join(repr(value).split()))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


# Measures are known by their formulas: a user may give any name to any measure.
_ACCURACY, _ERROR = CLASSIFICATION["accuracy"].formula, CLASSIFICATION["error"].formula

#: Parameters of an evaluator that a search refuses: the only value, and what there is instead.
_REFUSED: dict[str, tuple[Any, str]] = {
    "metrics": (
        None,
        "A search chooses by its own parameter metric; for other measures use "
        "result_.rescore(metrics), without running a model again.",
    ),
    "error_score": (
        "raise",
        "A candidate that fails gets the error_score of the search itself.",
    ),
}


def given_evaluator(search: Any) -> PrequentialEvaluator:
    """Return the evaluator that a search was given, or the default."""
    evaluator = search.evaluator
    if evaluator is None:
        return PrequentialEvaluator()
    if not isinstance(evaluator, PrequentialEvaluator):
        kind = evaluator if isinstance(evaluator, type) else type(evaluator)
        raise TypeError(
            "evaluator must be a PrequentialEvaluator, or None: a search predicts every row, then "
            f"trains on it. Got {'the class ' if kind is evaluator else ''}{kind.__name__} instead."
        )
    return evaluator


def evaluator_of(search: Any) -> PrequentialEvaluator:
    """Return the evaluator that does what a search asks for; it is checked."""
    metrics = search.metric if isinstance(search.metric, dict) else [search.metric]
    if len(metrics) != 1 or isinstance(search.metric, list | tuple):
        raise ValueError(
            f"metric must be one measure, by which the best is chosen. Got {search.metric!r}. For "
            "others use result_.rescore(metrics), without running a model again."
        )
    given = given_evaluator(search)
    for name, (only, instead) in _REFUSED.items():
        value = getattr(given, name)
        if value != only if isinstance(value, str) else value or only:
            raise ValueError(
                f"The evaluator of a search has {name}={value!r}, which a search does not accept. "
                f"{instead} Leave {name} of the evaluator {only!r}."
            )
    path = run_options(given.run).checkpoint
    if path is not None:
        raise ValueError(
            f"The evaluator of a search has checkpoint={path!r}, which a search does not accept. "
            "Save the search with save(path), and continue with load_run and partial_fit."
        )
    evaluator = copy(given).set_params(metrics=metrics, error_score=search.error_score)
    evaluator._validate()
    return evaluator


def with_tie_breaker(settings: Settings, tuning: int | None) -> Settings:
    """Return settings that also measure accuracy, which decides among equal candidates."""
    if len(settings.forgetting) > 1:
        raise ValueError(
            "forgetting must be one mechanism, by which the best is chosen. Got "
            f"{list(settings.forgetting)}. For others use result_.rescore(forgetting=...)."
        )
    metrics = dict(settings.metrics)
    if settings.classes is not None and all(m.formula != _ACCURACY for m in metrics.values()):
        name = "accuracy" if "accuracy" not in metrics else "plain accuracy"
        metrics[name] = CLASSIFICATION["accuracy"]
    parameters = {**settings.parameters, "tuning": tuning}
    return replace(settings, metrics=metrics, parameters=parameters)


def tuning_rows(
    tuning: Any, n_rows: int | None, *, n_warmup: int, batch_size: int = 1
) -> int | None:
    """Return the number of tuning rows: checked, a share in rows, up to the end of a batch."""
    if tuning is None:
        return None
    if is_integer(tuning) and tuning >= 1:
        n_tuning = int(tuning)
    elif is_real(tuning) and not is_integer(tuning) and 0 < tuning < 1:
        if n_rows is None:
            raise ValueError(
                f"tuning={tuning!r} is a share of the rows, but their number is not known: pass a "
                "number of rows."
            )
        n_tuning = math.ceil(Fraction(str(float(tuning))) * n_rows)  # 7 of 100 are 0.07
    else:
        raise ValueError(
            "tuning must be a number of rows (int of at least 1), a share of them (float between "
            f"0 and 1), or None. Got {tuning!r} instead."
        )
    whole = _end_of_batch(n_tuning, n_warmup, batch_size)
    if n_rows is not None and max(whole, n_tuning) >= n_rows:
        end = (
            f", up to the end of a batch ({batch_size=}, row {whole:,}),"
            if whole > n_tuning
            else ""
        )
        raise ValueError(
            f"tuning={tuning!r}{end} leaves no row for the honest score (n_samples={n_rows}). Pass "
            "fewer rows, or tuning=None to choose on all rows, without an honest score."
        )
    if n_tuning <= n_warmup:
        raise ValueError(
            f"tuning={tuning!r} rows are all in the warm-up (n_warmup={n_warmup}), so none is "
            "scored. Pass more."
        )
    if batch_size > n_tuning:
        raise ValueError(
            f"tuning={tuning!r} ends within the first batch (batch_size={batch_size}), so no "
            "candidate would be scored. Pass more rows, or a smaller batch_size."
        )
    return whole


def _end_of_batch(n_rows: int, n_warmup: int, batch_size: int) -> int:
    """Return the first row at or after `n_rows` at which no batch is open.

    The rows of a batch are answered and learnt together, by one and the same candidates.
    """
    return n_warmup + max(0, math.ceil((n_rows - n_warmup) / batch_size)) * batch_size


def rules_of(settings: Settings, tuning: int | None) -> Rules:
    """Return how candidates are compared, and check that they can be."""
    (metric, measure) = next(iter(settings.metrics.items()))
    if measure.higher_is_better is None:
        raise ValueError(
            f"It is not known whether a higher value of {metric!r} is better, so none can be the "
            "best. Pass metric=Measure(function, higher_is_better=...)."
        )
    others = [name for name in settings.metrics if name != metric]
    return Rules(
        metric=metric,
        lower_is_better=not measure.higher_is_better,
        tie_breaker=others[0] if others else None,
        tuning=tuning,
        honest=_honest_loss(settings, tuning, measure),
    )


def _honest_loss(settings: Settings, tuning: int | None, measure: Measure) -> HonestLoss | None:
    """Return what follows the errors of the chosen one, if its score is their mean."""
    (forgetting,) = settings.forgetting.values()
    if tuning is None or measure.formula not in (_ACCURACY, _ERROR) or forgetting != Cumulative():
        return None
    return HonestLoss(is_accuracy=measure.formula == _ACCURACY)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be done: the candidates, and how they are compared.

    Attributes
    ----------
    candidates : Candidates
        The candidates.
    evaluator : PrequentialEvaluator
        How they are evaluated.
    settings : Settings
        Of the evaluation.
    models : dict of (str, int) to estimator
        One prepared model per candidate.
    rules : Rules
        How they are compared.
    """

    candidates: Candidates
    evaluator: PrequentialEvaluator
    settings: Settings
    models: Mapping[Place, Any]
    rules: Rules

    def new_run(self, *, in_group: bool = False) -> Callable[..., SearchRun]:
        """Return the function that makes a run of some candidates."""
        return partial(SearchRun, self.settings, rules=self.rules, in_group=in_group)

    def groups(self, stream: Stream) -> Sequence[Sequence[Place]]:
        """Divide the candidates among workers."""
        tuning = self.rules.tuning
        first = stream if tuning is None else take_rows(stream, tuning)
        return self.execution(None, self.new_run(in_group=True), first).groups()

    def row_of_choice(self, tuning: int, stream: Stream) -> int:
        """Return the end of the batch in which the tuning rows end: the warm-up is rows learnt."""
        batch_size, n_missing = self.settings.batch_size, self.settings.n_warmup
        if batch_size == 1:
            return tuning
        space, n_rows = LabelSpace(self.settings.classes), 0
        for chunk in stream:
            rows = encoded(chunk, space, "skip", first_row=n_rows)
            learnable = Arrivals(0, is_given(rows.y), rows.weight).learnable
            n_rows += rows_of_warmup(n_missing, learnable)
            n_missing -= int(np.count_nonzero(learnable))
            if n_missing <= 0:
                break
        return _end_of_batch(tuning, n_rows, batch_size)

    def execution(
        self,
        search: Any,
        new_run: Callable[..., SearchRun],
        stream: Any,
        on_run: Callable[[SearchRun], None] | None = None,
    ) -> Execution:
        """Return what evaluates the candidates along a stream."""
        return Execution(
            settings=self.settings,
            new_run=new_run,
            models=self.models,
            stream=stream,
            n_jobs=self.evaluator.n_jobs,
            title=type(search).__name__,
            progress=self.evaluator.progress,
            on_run=on_run,
        )


def plan_of(
    search: Any,
    evaluator: PrequentialEvaluator,
    candidates: Candidates,
    classes: Any,
    n_rows: int | None,
    source: str,
    drifts: tuple[Drift, ...] = (),
) -> Plan:
    """Resolve the parameters of a search and of its evaluator, that of `evaluator_of`.

    `source` is where the classes come from.
    """
    if n_rows is not None and n_rows <= evaluator.n_warmup:
        raise ValueError(
            f"n_warmup={evaluator.n_warmup} leaves no row to score (n_samples={n_rows}): the "
            "warm-up is used only for training. Pass more rows, or a shorter warm-up."
        )
    tuning = tuning_rows(
        search.tuning, n_rows, n_warmup=evaluator.n_warmup, batch_size=evaluator.batch_size
    )
    named = named_models(candidates.models(search.estimator))
    settings = evaluator._settings(
        named, classes, n_rows=n_rows, source=source, drifts=drifts, all_have_scores=True
    )
    settings = with_tie_breaker(settings, tuning)
    # They are copies already, of this search alone. All have the seeds that an evaluator gives to
    # the model alone: what a candidate does depends on no other, and luck is the same for all.
    seed, alone = settings.parameters["seed"], type(as_learner(search.estimator)).__name__
    models = {(name, 0): seed_estimator(one, seed, alone, 0) for name, one in named.items()}
    if evaluator.n_warmup == 0:
        advice = "A search starts every candidate unfitted: pass n_warmup=1."
        check_can_answer(models, advice)
    return Plan(
        candidates=candidates,
        evaluator=evaluator,
        settings=settings,
        models=models,
        rules=rules_of(settings, tuning),
    )


def stream_of(search: Any, X: Any, y: Any, sample_weight: Any) -> Stream:
    """Return what `fit` is given as a stream."""
    if y is not None and isinstance(X, Stream):
        raise ValueError(
            f"X is a {type(X).__name__}, which contains its own labels, but y was given too. Leave "
            "y out."
        )
    if y is not None or hasattr(X, "shape"):
        refuse_chunks(X, "y")
        X, y, weight = checked_rows(search, X, y, sample_weight, reset=True)
        check_some_weight(weight)
        return as_stream(X, y, sample_weight=weight)
    stream = as_stream(X, sample_weight=sample_weight)
    refuse_endless(stream)
    warn_of_codes({type(search.estimator).__name__: search.estimator}, stream)
    n_jobs = given_evaluator(search).n_jobs
    if effective_n_jobs(n_jobs) > 1 and not begins_again(stream):
        raise ValueError(
            f"{n_jobs=} needs a stream that can be read again, by every worker, but this one is a "
            "one-shot iterator. Pass the generator function itself instead of its result, a list "
            "of chunks, or files; or n_jobs=None."
        )
    return stream


def checked_rows(
    search: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool
) -> tuple[Any, Any, Any]:
    """Check rows as scikit-learn's estimators do; values may be missing."""
    check_same_order({"X": X, "y": y, "sample_weight": sample_weight})
    X = check_rows(search, X, reset=reset, texts=True)
    if isinstance(y, str):
        refuse_single(y, "y")
    # Of a missing label the run names the row, where that is an error.
    if y is None or not (given_evaluator(search).missing_labels == "skip" or _has_none(y)):
        y = (check_targets if is_regressor(search.estimator) else check_labels)(search, y)
    return X, y, check_weight(sample_weight, len(y))


def _has_none(y: Any) -> bool:
    """Whether a label is missing, None or NaN, which would be compared with texts in vain."""
    values = np.asarray(y)
    return values.dtype == object and any(v is None or v != v for v in values.ravel().tolist())


#: What is said where Ctrl-C comes while workers run the candidates.
_LOST = (
    " The search keeps no results of its workers: fit starts again. With n_jobs=None it keeps "
    "all, and partial_fit continues."
)
Keep = Callable[[SearchRun], None]


def too_short(tuning: Any, end: int, n_rows: int, kept: str) -> ValueError:
    """Return the error for a stream that ended before the choice, which is at `end` or later."""
    whole = f", up to the end of a batch (row {end:,})," if end != tuning else ""
    return ValueError(
        f"tuning={tuning!r} rows{whole} did not come: the stream ended after {n_rows:,}. {kept}; "
        "pass fewer, or tuning=None for a search without an honest score."
    )


def evaluate(search: Any, plan: Plan, stream: Stream, keep: Keep) -> None:
    """Run all candidates along the tuning rows of a stream, and the best one along the rest.

    Parameters
    ----------
    search : PrequentialSearch
        The search, for its parameters.
    plan : Plan
        What is to be done.
    stream : Stream
        The rows.
    keep : callable
        Called with the run that the search has from now on, before it goes on.
    """
    header, groups = plan.settings.header, plan.groups(stream)
    if len(groups) == 1:
        plan.execution(search, plan.new_run(), stream, keep).in_one_pass(header)
        return
    run = _chosen_by_workers(search, plan, stream, groups)
    keep(run)
    if plan.rules.tuning is not None:  # after the rows it has read
        plan.execution(search, lambda _: run, stream, keep).in_one_pass(header)


def _chosen_by_workers(search: Any, plan: Plan, stream: Stream, groups: Any) -> SearchRun:
    """Let workers run the candidates along the tuning rows; return the run of the best."""
    tuning, header = plan.rules.tuning, plan.settings.header
    first = stream if tuning is None else take_rows(stream, plan.row_of_choice(tuning, stream))
    execution = plan.execution(search, plan.new_run(in_group=True), first)
    try:
        tuned, finished = execution.run(header, groups)
    except EvaluationInterrupted as interrupt:
        raise EvaluationInterrupted(interrupt.result, note=_LOST) from interrupt
    if tuning is not None and tuned.n_rows < tuning:
        error = too_short(
            search.tuning,
            tuning,
            tuned.n_rows,
            "The candidates were run by workers (n_jobs), and the search keeps none of them; the "
            "scores so far are in the attribute 'result' of this error",
        )
        error.result = assemble(header, tuned, so_far=True)  # type: ignore[attr-defined]
        raise error
    best = tuned.lanes[plan.rules.order(tuned.lanes)[0]]
    if best.failure is not None:
        raise all_failed(len(tuned.lanes), best.failure)
    run = next(one.run for one in finished if any(lane.name == best.name for lane in one.lanes))
    run.leave_group().choose(tuned)
    return run
