"""Base class of the evaluators."""

import numbers
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import partial, wraps
from inspect import signature
from itertools import repeat
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator

from skstream.base import learning_parts
from skstream.core.evaluators.execution import Execution
from skstream.core.evaluators.record import facts_of_call, record
from skstream.core.evaluators.settings import (
    COUNT,
    Polling,
    RunOptions,
    Settings,
    check_protocol,
    is_regression,
    named_models,
    prepared_models,
    run_options,
    scores_asked,
    warn_of_codes,
)
from skstream.core.forgetting import Forgetting, as_forgetting
from skstream.core.measures.measure import warn_of_calls
from skstream.core.measures.registry import resolve_metrics
from skstream.core.result.result import EvaluationResult, assemble
from skstream.core.rows.arrays import as_stream
from skstream.core.rows.stream import Drift, Stream, as_drifts, refuse_endless
from skstream.core.run.checkpoint import CheckpointFolder
from skstream.core.run.run import EvaluationRun
from skstream.core.run.run_outcome import Place
from skstream.core.run.tape import automatic_tape
from skstream.core.timelines.timeline import Timeline
from skstream.utils._choices import did_you_mean
from skstream.utils._labels import find_classes
from skstream.utils._sklearn import (
    Interval,
    StrOptions,
    is_plain_gaussian_nb,
    validate_parameter_constraints,
)
from skstream.utils._warnings import warn

# Arrays up to this size are shown by their values in the heading of a result.
_FEW_VALUES = 8

Kind = TypeVar("Kind")
Call = TypeVar("Call", bound=Callable[..., Any])

#: What to pass in place of parameters that other libraries have.
_ELSEWHERE = {
    **dict.fromkeys(("window", "window_size"), "forgetting='window:{}'"),
    **dict.fromkeys(("decay", "fading_factor"), "forgetting='fading:{}'"),
    **dict.fromkeys(("metric", "scoring"), "metrics={!r}"),
    **{"n_wait": "record_every={!r}", "pretrain_size": "n_warmup={!r}", "method": "strategy={!r}"},
    **dict.fromkeys(("k", "n_splits", "cv"), "n_folds={!r}"),
    **dict.fromkeys(("max_samples", "n_rows"), "streams.take_rows(stream, {!r}) as the stream"),
    **{name: f"run=RunOptions({name}={{!r}})" for name in ("checkpoint", "kernels", "keep_tape")},
    **{option.name: f"polling=Polling({option.name}={{!r}})" for option in fields(Polling)},
    **{name: f"it to evaluate, (..., {name}={{!r}})" for name in ("warm_start", "return_models")},
    "label_time": "it to evaluate of a DelayedEvaluator",
    "target": "streams.as_stream(frame, target={!r}) as the stream",
    "max_pending": "it to start, (..., max_pending={!r})",
    "engine": "run=RunOptions(kernels=False), for the plain loop",
}

#: Parameters and attributes of an evaluator that its settings take unchanged.
_AS_GIVEN = (
    *("protocol", "late_labels", "scored_sets", "record_every", "missing_labels"),
    *("batch_size", "n_warmup", "unanswered", "error_score"),
)
#: Which values the parameters take; others are checked where they are read.
COMMON_CONSTRAINTS: dict[str, Any] = {
    "n_warmup": [Interval(numbers.Integral, 0, None, closed="left")],
    "record_every": [COUNT, str, timedelta, np.timedelta64, None],
    "missing_labels": [StrOptions({"error", "skip"})],
    "random_state": [Interval(numbers.Integral, 0, 2**32 - 1, closed="both"), None],
    "n_jobs": [COUNT, Interval(numbers.Integral, None, -1, closed="right"), None],
    "unanswered": [StrOptions({"error", "wrong", "first"})],
    "error_score": [StrOptions({"raise"}), numbers.Real],
    "progress": ["boolean"],
    "warm_start": ["boolean"],  # of evaluate and start
    "return_models": ["boolean"],
    "run": [RunOptions, str, os.PathLike, None],
}


def advise(call: Call, made: Any = None) -> Call:
    """Let a method say what to pass in place of an unknown keyword; `made`: a constructor's."""
    known = signature(call).parameters

    @wraps(call)
    def checked(*positional: Any, **named: Any) -> Any:
        if not named.keys() <= known.keys():
            refuse_unknown(made or call, named, TypeError)
        return call(*positional, **named)

    return checked  # type: ignore[return-value]


@dataclass(kw_only=True, repr=False, eq=False)
class StreamEvaluator(BaseEstimator):
    """Base class of the evaluators, with the parameters that all of them have.

    An `evaluator` is a dataclass: the fields it adds are its own parameters, stored as given. Its
    docstring describes these alone: those below are added to it.

    Parameters
    ----------
    metrics : str, callable, list or dict, default=None
        Measures: names, functions ``f(y_true, y_pred)``, or ``functools.partial`` of the
        functions of `skstream.metrics`. None: accuracy, kappa, kappa_m, kappa_temporal and
        kappa_plus; for regressors mae, rmse and r2.
    forgetting : str, Forgetting, list or dict, default="cumulative"
        Which rows count in the running means of the measures: "cumulative", "adwin", or a
        specification such as ``SlidingWindow(1000)``. Several at once: a list, or a dict that
        gives them names.
    n_warmup : int, default=1
        Initial rows, used only for training: an untrained model cannot predict. They are not
        scored, but the baselines are trained on their labels. A model that cannot be trained on the
        first row alone (`IncrementalPCA`, `MiniBatchKMeans` as a step) gets all of them in one
        call. 0: no warm-up. Models must then be able to predict without training: fitted models,
        with `warm_start`, and the baselines that repeat, count or average labels, which start with
        the lowest class, or 0.
    record_every : int, str or timedelta, default=None
        Distance between checkpoints of the curves, in rows; or a duration, such as "1D" for the end
        of every day, if the stream has arrival times. None: at most 1,024 checkpoints, whose
        distance doubles as the stream grows. The last row is always a checkpoint.
    missing_labels : {"error", "skip"}, default="error"
        Rows without a label are an error, or are predicted but neither scored nor used for
        training.
    unanswered : {"error", "wrong", "first"}, default="error"
        A missing prediction (None or NaN) is a failure of the model, or is scored as an error, or
        as the first class, as in CapyMOA 0.15.1 (classifiers only). Rows that arrive before a model
        has been trained are not affected.
    error_score : "raise" or float, default="raise"
        Score of a model from the row at which it fails, while the others continue; its earlier
        scores and predictions are kept. Measures of probabilities are NaN for a model without
        probabilities. "raise": a failure ends the evaluation, and missing probabilities are an
        error before it starts.
    n_jobs : int, default=None
        Number of parallel workers, through joblib. Results do not depend on it. Each worker reads
        the stream once, for a group of models and folds of about equal cost. If workers would not
        be faster, everything runs in this process, and the printed result says so.
    random_state : int, default=None
        Seed of every random_state parameter that is None, including nested ones, and of the random
        choices of the protocol. None: drawn, and recorded in the result.
    progress : bool, default=False
        Show a progress bar (needs tqdm).
    run : RunOptions, str or path-like, default=None
        How the evaluation is executed: checkpoints, kernels, tape. A path: the folder in which it
        is saved, and from which the same call resumes.
    """

    _parameter_constraints: ClassVar[dict[str, Any]]
    # What results and tables call the protocol.
    protocol: ClassVar[str]
    # Whether rows are predicted together with others whose labels are not learnt before them.
    late_labels: ClassVar[bool] = False
    # Name of the rows if they are predicted and scored in sets, such as "holdout rows"; empty if
    # scores are running means.
    scored_sets: ClassVar[str] = ""

    metrics: Any = field(default=None, kw_only=False)
    forgetting: Any = "cumulative"
    n_warmup: int = 1
    record_every: Any = None
    missing_labels: Literal["error", "skip"] = "error"
    random_state: int | None = None
    n_jobs: int | None = None
    unanswered: Literal["error", "wrong", "first"] = "error"
    error_score: Any = "raise"
    progress: bool = False
    run: RunOptions | str | os.PathLike[str] | None = None

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those inside, as ``forgetting__window_size=500``.

        Parameters
        ----------
        **params
            Values by name. Mechanisms of forgetting and the options of `run` are frozen: they are
            replaced by some with the new value, and other users of the old ones see no change.

        Returns
        -------
        self : StreamEvaluator
            This evaluator.

        Raises
        ------
        ValueError
            If there is no such parameter, or a mechanism refuses the value.
        """
        nested = [key for key in params if key.startswith("forgetting__")]
        if nested:
            forgetting = params.get("forgetting", self.forgetting)
            if not isinstance(forgetting, str | Forgetting):
                raise ValueError(
                    f"{nested[0]!r} sets a parameter of one mechanism, but forgetting is "
                    f"{forgetting!r}. Set all of it: forgetting=..."
                )
            (mechanism,) = as_forgetting(forgetting).values()
            own = {key.partition("__")[2]: params.pop(key) for key in nested}
            params["forgetting"] = mechanism.set_params(**own)
        for key in [key for key in params if key.startswith(("run__", "polling__"))]:
            name, _, option = key.partition("__")
            options = run_options(self.run) if name == "run" else getattr(self, name)
            params[name] = replace(params.get(name, options), **{option: params.pop(key)})
        refuse_unknown(type(self), params, ValueError)
        super().set_params(**params)
        return self

    @advise
    def evaluate(
        self,
        models: Any,
        X: Any,
        y: Any = None,
        *,
        classes: Any = None,
        sample_weight: Any = None,
        arrival: Any = None,
        warm_start: bool = False,
        return_models: bool = False,
    ) -> EvaluationResult:
        """Evaluate models on a stream.

        Parameters
        ----------
        models : estimator, list of estimators, or dict of str to estimator
            Models with ``partial_fit``. They are cloned; yours are left unchanged.
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
            Features in time order; or, without `y`, any iterable of chunks ``(X, y)`` or
            ``(X, y, meta)``, a data set of River, or any iterable of rows ``(dict, y)``.
        y : array-like of shape (n_rows,), default=None
            Labels or targets.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; found in `y` if it is an array.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for training and scoring; rows of weight 0 are predicted only.
        arrival : array-like of shape (n_rows,), default=None
            When the rows came, as datetimes that never go back; needed where the forgetting or
            `record_every` counts time.
        warm_start : bool, default=False
            Start from copies of fitted models instead of unfitted clones.
        return_models : bool, default=False
            Return the fitted copies in the attribute `models` of the result.

        Returns
        -------
        result : EvaluationResult
            Scores, curves, answers and costs.

        Raises
        ------
        ValueError
            If rows or labels are bad; says which row.
        TypeError
            If a model cannot learn row by row.
        ModelError
            If a model fails; says which, and at which row.
        EvaluationInterrupted
            On Ctrl-C; carries the result so far.
        OSError
            If a checkpoint cannot be written; the one before it stays.

        Notes
        -----
        Any exception that ends an evaluation (also SystemExit), from a model, the rows or the
        stream, has an attribute ``result`` with the result so far, None before the first row. With
        workers it has only the models that have finished all folds. If there are none, it has the
        finished folds, or else, if a model has failed, what its worker had up to the failure; its
        `left_out` names the other models and the reason. None: nothing had finished.
        """
        stream = as_stream(X, y, sample_weight=sample_weight, arrival=arrival)
        called = {"warm_start": warm_start, "return_models": return_models}
        return self._evaluate(models, stream, classes, **called)

    def start(
        self,
        models: Any,
        *,
        classes: Any = None,
        warm_start: bool = False,
        return_models: bool = False,
    ) -> EvaluationRun:
        """Start a run to which you pass the rows yourself; the stream may be endless.

        Parameters
        ----------
        models : estimator, list of estimators, or dict of str to estimator
            Models with ``partial_fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; not for regressors.
        warm_start : bool, default=False
            Start from copies of fitted models instead of unfitted clones.
        return_models : bool, default=False
            Return the fitted copies in the attribute `models` of results.

        Returns
        -------
        run : EvaluationRun
            With ``update(X, y)``, ``result()``, ``close()`` and ``save(path)``.
        """
        if run_options(self.run).checkpoint is not None:
            raise ValueError(
                "checkpoint= is for evaluate, which reads the stream itself. Save a live run at "
                "any time with run.save(path), and continue it with load_run(path)."
            )
        called = {"warm_start": warm_start, "return_models": return_models}
        settings, prepared = self._prepare(models, classes, None, **called)
        run: EvaluationRun = self._new_run(settings, None)(prepared)
        run.is_live = run.waits = True
        return run

    def _evaluate(
        self, models: Any, stream: Stream, classes: Any, **called: bool
    ) -> EvaluationResult:
        folder, options = None, run_options(self.run)
        if options.checkpoint is not None:
            self._validate()  # before a folder is made
            refuse_endless(stream)
            self._check_can_resume(stream)
            folder = CheckpointFolder.opened(options.checkpoint)
        seed = None if folder is None else folder.seed
        settings, prepared = self._prepare(models, classes, stream, seed, **called)
        if folder is not None:
            facts = facts_of_call(self, named_models(models), settings, called)
            seed = settings.parameters["seed"]
            folder = replace(folder, facts=facts, seed=seed, every=options.seconds)
        execution = Execution(
            settings=settings,
            new_run=self._new_run(settings, stream),
            models=prepared,
            stream=stream,
            n_jobs=self.n_jobs,
            title=type(self).__name__,
            progress=self.progress,
            folder=folder,
        )
        groups = execution.groups()
        knows, header = stream.knows_drifts, settings.header
        outcome, _ = execution.run(header, groups)
        result = assemble(header, outcome)
        return result if knows else self._with_drifts(result, stream)

    def _with_drifts(self, result: EvaluationResult, stream: Stream) -> EvaluationResult:
        """Add drifts that are known only now that the rows were counted; warn if they are not."""
        if stream.knows_drifts and not self.late_labels:
            return replace(result, drifts=as_drifts(stream.drifts))
        warn(
            "The rows of the true drifts could not be counted, since a part of the stream does "
            "not state its number of rows: result.drifts is empty. Pass drifts=[rows] if you need "
            "them."
        )
        return result

    def _check_can_resume(self, stream: Stream) -> None:
        """Raise an error if an evaluation could not go on from a checkpoint."""
        if not stream.reiterable:
            raise ValueError(
                "checkpoint= needs a stream that can be read again, but this one is a one-shot "
                "iterator: a resumed evaluation reads the earlier rows again. Pass the generator "
                "function itself instead of its result, a list of chunks, or files."
            )

    def _prepare(
        self,
        models: Any,
        classes: Any,
        stream: Stream | None = None,
        seed: int | None = None,
        **called: bool,
    ) -> tuple[Settings, dict[Place, Any]]:
        """Resolve the settings; copy and seed the models.

        `stream` is what will be evaluated, and must end; None for a live run. `seed` is the one
        drawn by a call that resumes, and `called` what evaluate and start take beside the rows.
        """
        self._validate(**called)
        called = {"warm_start": False, "return_models": False, **called}
        n_rows, source = None, "classes"
        drifts: tuple[Drift, ...] = ()
        if stream is not None:
            refuse_endless(stream)
            n_rows, drifts = stream.n_rows, as_drifts(stream.drifts)
            if classes is None:
                classes, source = known_classes(stream), "y"
        named = named_models(models)
        warn_of_codes(named, stream)
        settings = self._settings(
            named,
            classes,
            n_rows=n_rows,
            source=source,
            seed=seed,
            drifts=drifts,
            stream=stream,
            called=called,
        )
        check_protocol(
            named,
            stream,
            missing_labels=self.missing_labels,
            protocol=settings.protocol,
            warm_start=called["warm_start"],
        )
        prepared = prepared_models(
            named,
            settings.classes,
            len(settings.timelines),
            seed=settings.parameters["seed"],
            warm_start=called["warm_start"],
            n_warmup=self.n_warmup,
        )
        return settings, prepared

    def _new_run(self, settings: Settings, stream: Stream | None) -> Callable[..., Any]:
        """Return the function that makes a run of models; it is sent to the workers.

        `stream` is what will be evaluated; None for a live run.
        """
        return partial(EvaluationRun, settings)

    def _timelines(self, seed: int) -> list[Timeline]:
        """Return one timeline per fold."""
        raise TypeError(f"{type(self).__name__} does not define its timelines.")

    def _n_answers(self, n_rows: int) -> int:
        """Return the number of answers of one model in one fold to a stream of so many rows."""
        return n_rows

    def _validate(self, **called: Any) -> None:
        """Refuse wrong parameters; `called` are those of evaluate or start."""
        validate_parameter_constraints(
            self._parameter_constraints,
            self.get_params(deep=False) | called,
            caller_name=type(self).__name__,
        )

    def _checked_timelines(self, seed: int) -> list[Timeline]:
        """Return one timeline per fold; an error if the class says what cannot be."""
        name = type(self).__name__
        if self.scored_sets and type(self)._new_run is StreamEvaluator._new_run:
            raise TypeError(
                f"{name}.scored_sets is {self.scored_sets!r}, but its rows are scored by running "
                "means, not in sets: leave it out, or subclass HoldoutEvaluator."
            )
        timelines: Any = self._timelines(seed)
        is_list = isinstance(timelines, list | tuple)
        if not (is_list and timelines and set(map(hasattr, timelines, repeat("step"))) == {True}):
            raise TypeError(
                f"{name}._timelines must return a list of timelines, one per fold, with the "
                f"methods initial() and step(state, event). Got {timelines!r} instead."
            )
        return list(timelines)

    def _parameters(self) -> dict[str, Any]:
        """Return all parameters that decide what a result holds, also those inside others."""
        given = self.get_params(deep=False)
        given.pop("run", None)  # a subclass may have fewer parameters
        options, polling = run_options(self.run), given.pop("polling", None)
        taken = {"kernels": options.kernels, "keep_tape": options.keep_tape}
        return {**given, **taken, **({} if polling is None else vars(polling))}

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the parameters as plain data, for the record of a result."""
        plain = self._parameters()
        for name, value in plain.items():
            plain[name] = _plain(value)
        return plain

    def _settings(
        self,
        named: Mapping[str, Any],
        classes: Any,
        *,
        n_rows: int | None,
        source: str,
        seed: int | None = None,
        drifts: tuple[Drift, ...] = (),
        stream: Stream | None = None,
        all_have_scores: bool = False,
        called: Mapping[str, bool] | None = None,
    ) -> Settings:
        options = run_options(self.run)
        called = {"warm_start": False, "return_models": False} | dict(called or {})
        labels = None
        if not is_regression(named):
            if classes is None:
                raise ValueError(
                    "The possible labels are not known: this stream does not state its classes. "
                    "Pass classes=[...]."
                )
            labels = find_classes(classes, source)
            many = len(labels) > 50 and 10 * len(labels) > min(n_rows or 1000, 1000)
            in_memory = source == "y" and not hasattr(stream, "kinds")  # the CLI says it of files
            if in_memory and labels.dtype.kind in "iu" and many:
                warn(
                    f"The labels are {len(labels):,} different whole numbers, and each is taken as "
                    "a class. If they are amounts, evaluate regressors; if they are classes, pass "
                    "classes=, and there is no warning."
                )
        elif self.unanswered != "error":
            raise ValueError(
                f'unanswered="{self.unanswered}" is for classifiers: a missing number has no '
                'finite error. Use unanswered="error", and let the regressor always predict.'
            )
        if self.batch_size == 1:
            _warn_of_gaussian_nb(named)
        elif n_rows and self.batch_size > n_rows and not self.scored_sets:
            first = f" but the first, as many as n_warmup={self.n_warmup}," if self.n_warmup else ""
            warn(
                f"batch_size={self.batch_size} is more than the {n_rows:,} rows: all{first} are "
                "predicted before any of them is used for training."
            )
        metrics = resolve_metrics(self.metrics, classes=labels)
        warn_of_calls(metrics, n_rows, self.record_every)
        if self.random_state is not None:
            seed = int(self.random_state)
        elif seed is None:
            seed = secrets.randbits(32)
        lacking = "all have them" if all_have_scores else self.error_score
        score_methods = scores_asked(named, metrics, lacking)
        timelines = self._checked_timelines(seed)
        baselines = []
        for name, model in named.items():
            if getattr(type(model), "is_baseline", False):
                baselines.append(name)
        settings = Settings(
            **dict(zip(_AS_GIVEN, attrgetter(*_AS_GIVEN)(self), strict=True)),
            classes=labels,
            metrics=metrics,
            forgetting=as_forgetting(self.forgetting),
            timelines=timelines,
            keep_tape=options.keep_tape is True,
            kernels=options.kernels,
            return_models=called["return_models"],
            baselines=tuple(baselines),
            parameters={**self._plain_parameters(), **called, "seed": seed},
            expected_rows=n_rows or 0,
            drifts=drifts,
            score_methods=score_methods,
            generator="" if stream is None else stream.name_of_generator(),
            record={
                **record(named, timelines),
                "names": getattr(stream, "feature_names", None),
                "kinds": stream and getattr(stream.source_streams()[0], "kinds", None),
            },
        )
        if options.keep_tape == "auto" and n_rows is not None:
            n_answers = len(timelines) * self._n_answers(n_rows)
            n_scores = list(map(attrgetter("n_scores"), map(settings.task_of, named)))
            settings = replace(settings, keep_tape=automatic_tape(n_answers, labels, n_scores))
        return settings


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
def evaluator(cls: type[Kind]) -> type[Kind]:
    """Make a dataclass of an evaluator; its signature names its own parameters before the common.

    All but the first are keywords, so that their order is free: readers look for the own ones.
    """
    made = dataclass(kw_only=True, repr=False, eq=False)(cls)
    common = {parameter.name for parameter in fields(StreamEvaluator)}
    given = signature(made.__init__)
    ordered = sorted(given.parameters.values(), key=lambda its: (its.kind, its.name in common))
    init = advise(vars(made)["__init__"], made)
    vars(init)["__signature__"] = given.replace(parameters=ordered)
    made.__doc__ = _with_common_parameters(cls.__doc__ or "", [its.name for its in ordered[1:]])
    type.__setattr__(made, "__init__", init)
    return made


def _with_common_parameters(text: str, names: Sequence[str]) -> str:
    """Add the common parameters to a docstring, each in the order of the signature."""
    before, heading, after = text.partition("    Parameters\n    ----------\n")
    own, rest, after = after.partition("\n\n")
    common = (StreamEvaluator.__doc__ or "").partition(heading)[2].rstrip() if heading else ""
    entries = {
        entry.partition(" :")[0].strip(): entry.rstrip()
        for entry in re.split(r"\n(?=    \w)", f"{common}\n{own}")
    }
    described = "\n".join(entries[name] for name in names if name in entries)
    return f"{before}{heading}{described}{rest}{after}"


def refuse_unknown(kind: Any, given: Any, error: type[Exception], names: Any = None) -> None:
    """Raise an error that says what to pass in place of an unknown parameter."""
    known = signature(kind).parameters
    for name in [name for name in given if name.partition("__")[0] not in known]:
        ours = (names or _ELSEWHERE).get(name, "")
        kinds = StreamEvaluator.__subclasses__()
        having = max((it.__name__ for it in kinds if name in signature(it).parameters), default="")
        hint = f" {having} has it." if having else did_you_mean(name, known)
        if having and not isinstance(kind, type):  # of a method
            hint = f" Pass it to the evaluator, as in {having}({name}=...)."
        elif name == "forgetting":
            hint = " Each of its scores is that of one holdout set, not a mean over past rows."
        if ours.partition("=")[0] in known or ours.startswith(("streams", "it to")):
            hint = f" Pass {ours.format(given[name])}."
        raise error(f"{kind.__name__} has no parameter {name!r}.{hint}")


def known_classes(stream: Any) -> Any:
    """Classes that a stream declares, or that its labels in memory contain; None if unknown."""
    if stream.classes is None and hasattr(stream, "y"):
        return stream.y
    return stream.classes


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, list | np.ndarray) or hasattr(value, "to_numpy"):
        values = np.asarray(value)  # a delay for every row
        if values.dtype.kind in "iuf" and values.size > _FEW_VALUES:
            low, high = np.nanmin(values), np.nanmax(values)
            return f"array({values.size:,} values from {low:g} to {high:g})"
        if values.size > _FEW_VALUES:
            return f"array({values.size:,} values)"
    return repr(value)


def _warn_of_gaussian_nb(models: Mapping[str, Any]) -> None:
    for name, model in models.items():
        for part in learning_parts(model, refitted=False):
            if not is_plain_gaussian_nb(part):
                continue
            warn(
                f"Model '{name}' trains GaussianNB row by row. GaussianNB takes its variance "
                "floor from the rows of the current call, and for a single row that is 0: "
                "features that are (nearly) constant in a class give NaN or erratic predictions. "
                "Use skstream.naive_bayes.IncrementalGaussianNB, whose floor follows all "
                "training rows.",
            )
            return
