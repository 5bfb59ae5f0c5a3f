"""Options that evaluators take as one object, and the settings of a run with its models.

Settings are resolved once and passed to every worker.
"""

import numbers
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from operator import attrgetter
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.frozen import FrozenEstimator

from skstream.base import check_can_learn, learning_parts, nested, without_predict
from skstream.core.engine.answers import Task, failures_named, states_first_answer
from skstream.core.engine.run import Unanswered
from skstream.core.forgetting import duration_of
from skstream.core.measures.measure import Measure
from skstream.core.rows.stream import Drift, Stream
from skstream.core.run.run_outcome import ResultHeader
from skstream.core.timelines.timeline import Timeline
from skstream.utils._choices import names_as_text
from skstream.utils._labels import LabelSpace, as_labels, distinct_labels, listed
from skstream.utils._seeds import seed_estimator
from skstream.utils._sklearn import Interval, StrOptions, validate_parameter_constraints
from skstream.utils._validation import (
    as_learner,
    differs_from_new,
    fitted_copy,
    is_fitted,
    is_plain,
    is_regressor,
    plain_parts,
    tags_of,
    unfitted_copy,
)
from skstream.utils._warnings import warn

#: A number of at least 1.
COUNT = Interval(numbers.Integral, 1, None, closed="left")


class Options:
    """Base of frozen dataclasses whose parameters are checked when they are made."""

    _parameter_constraints: ClassVar[dict[str, Any]]

    def __post_init__(self) -> None:
        validate_parameter_constraints(
            self._parameter_constraints, vars(self), caller_name=type(self).__name__
        )

    def __repr__(self) -> str:
        """Return the call that makes it, without what has its default."""
        given = [(own.name, getattr(self, own.name), own.default) for own in fields(self)]  # type: ignore[arg-type]
        shown = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, repr=False)
class RunOptions(Options):
    """How an evaluation is executed, for the parameter `run` of evaluators.

    None of these options changes a score.

    Parameters
    ----------
    checkpoint : str or path-like, default=None
        Folder from which the same call of ``evaluate`` resumes where it stopped: the models are
        saved there while it runs. These files are pickles: use only folders that you trust.
        ``run="folder"`` is short for ``run=RunOptions(checkpoint="folder")``.
    every : str or timedelta, default="10min"
        Time between two checkpoints.
    kernels : bool, default=True
        Use exact kernels where they exist. False: call every model row by row.
    keep_tape : bool or "auto", default="auto"
        Keep labels and predictions, so that a result can be scored again and compared row by row.
        "auto": up to a gigabyte of them, and none in a live run.

    Examples
    --------
    >>> from skstream import Persistent, PrequentialEvaluator, RunOptions
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = PrequentialEvaluator("accuracy", run=RunOptions(keep_tape=False))
    >>> evaluator.evaluate(Persistent(), make_demo_stream(100)).tape is None
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "checkpoint": [str, os.PathLike, None],
        "every": [str, timedelta, np.timedelta64],
        "kernels": ["boolean"],
        "keep_tape": ["boolean", StrOptions({"auto"})],
    }

    checkpoint: str | os.PathLike[str] | None = None
    every: Any = "10min"
    kernels: bool = True
    keep_tape: bool | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if duration_of("RunOptions", "every", self.every) is None:
            raise ValueError(
                "The 'every' parameter of RunOptions must be a duration, such as '10min'. "
                f"Got {self.every!r} instead."
            )

    @property
    def seconds(self) -> float:
        """Seconds between two checkpoints."""
        return duration_of("RunOptions", "every", self.every) / np.timedelta64(1, "s")  # type: ignore[operator]


@dataclass(frozen=True, repr=False)
class Polling(Options):
    """How rows waiting for their label are predicted again, for `DelayedEvaluator`.

    Parameters
    ----------
    n_bins : int, default=50
        Bins between arrival and label.
    poll_every : int, default=10
        A waiting row is predicted again whenever this many labels have come since it arrived. None:
        never, which is the "delayed" protocol of Gomes et al. 2017.
    reduce : {"auto", "dominant", "mean"} or callable, default="auto"
        The prediction of a bin: the one in force longest (ties: the lowest class), the mean
        weighted by time, or ``f(answers, durations)``, called for every bin of every scored row
        with the predictions that were in force there and for how long (if the label comes
        immediately, once for all bins, with the newest prediction and the duration 0). "auto":
        "dominant" for classifiers and "mean" for regressors. Probabilities, if a measure needs
        them, are always the mean weighted by time.
    previous_label : {"newest", "known_at_arrival"}, default="newest"
        What the persistent baseline of kappa_temporal predicts: the label that came before the
        row's own, or, in all bins but the last, the newest label known when the row arrived, which
        is the only one that a real predictor could repeat.
    features : callable, default=None
        ``features(rows, times)`` returns the features of rows (by number) as known at the given
        times, if they change while a row waits: for every prediction but the first, and for
        training.

    Examples
    --------
    >>> from skstream import DelayedEvaluator, Persistent, Polling
    >>> from skstream.streams import make_demo_stream
    >>> evaluator = DelayedEvaluator("accuracy", delay=100, polling=Polling(n_bins=3))
    >>> evaluator.evaluate(Persistent(), make_demo_stream(500)).bins
    (0, 1, 2, 3, 4)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_bins": [COUNT],
        "poll_every": [COUNT, None],
        "reduce": [StrOptions({"auto", "dominant", "mean"}), callable],
        "previous_label": [StrOptions({"newest", "known_at_arrival"})],
        "features": [callable, None],
    }

    n_bins: int = 50
    poll_every: int | None = 10
    reduce: str | Callable[..., Any] = "auto"
    previous_label: str = "newest"
    features: Callable[..., Any] | None = None


_DEFAULT = RunOptions()


def run_options(run: Any) -> RunOptions:
    """Return the options of a run; a path is where its checkpoints are."""
    if run is None:
        return _DEFAULT
    return run if isinstance(run, RunOptions) else RunOptions(run)


def scores_asked(
    models: Mapping[str, Any], metrics: Mapping[str, Measure], error_score: Any
) -> dict[str, str | None]:
    """Return by which method each model is asked for scores: the richest that a measure needs.

    Parameters
    ----------
    models : dict of str to estimator
        Classifiers.
    metrics : dict of str to Measure
        What is measured.
    error_score : "raise", "all have them" or float
        A number: a model without what a measure needs has NaN there, with a warning. Else, or if no
        model has it, that is an error.

    Returns
    -------
    scores : dict of str to {"predict_proba", "decision_function"} or None
        Empty where no measure needs scores.
    """
    of_shares, of_ranks = [], []
    for name, measure in metrics.items():
        if measure.needs == "probabilities":
            of_shares.append(name)
        elif measure.needs == "scores":
            of_ranks.append(name)
    if not of_shares and not of_ranks:
        return {}
    scores: dict[str, str | None] = {}
    messages: dict[str, str] = {}
    for name, model in models.items():
        has_shares, has_values = (
            hasattr(model, method) for method in ("predict_proba", "decision_function")
        )
        ranks = "decision_function" if has_values and of_ranks else None
        scores[name] = "predict_proba" if has_shares else ranks
        lacking = [] if has_shares else [*of_shares, *([] if has_values else of_ranks)]
        if lacking:
            messages[name] = _lacks(name, model, lacking, metrics, has_values=has_values)
    if messages and error_score in ("raise", "all have them"):
        or_nan = ", or pass error_score=nan to get NaN instead" if error_score == "raise" else ""
        raise ValueError(
            f"{next(iter(messages.values()))} Leave out the model, or the measures{or_nan}."
        )
    if len(messages) == len(models):
        raise ValueError(f"{next(iter(messages.values()))} None of the models has what is needed.")
    for message in messages.values():
        warn(f"{message} These scores are NaN.")
    return scores


def _lacks(
    name: str, model: Any, lacking: list[str], metrics: Mapping[str, Measure], *, has_values: bool
) -> str:
    """Say what a model lacks, for which measures, and by which it can be scored."""
    what = "no predict_proba" if has_values else "neither predict_proba nor decision_function"
    others = [metric for metric in metrics if metric not in lacking] or ["measures of labels only"]
    ranked = not has_values or any(measure.needs == "scores" for measure in metrics.values())
    ranks = "" if ranked else " and rankings such as auc"
    return (
        f"Model '{name}' ({type(model).__name__}) has {what}, which {' and '.join(lacking)} "
        f"need{'s' if len(lacking) == 1 else ''}. It can be scored by {', '.join(others)}{ranks}."
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A run's settings, the same for all its models and workers.

    Attributes
    ----------
    protocol, late_labels, scored_sets
        What the evaluator says of its protocol.
    classes : ndarray or None
        Sorted labels; None for regression.
    metrics, forgetting : dict
        Resolved measures and mechanisms by name.
    timelines : list of Timeline
        One per fold.
    record_every : int, str, timedelta or None
        Distance of the checkpoints.
    missing_labels : {"error", "skip"}
        What to do with rows without a label.
    keep_tape : bool
        Whether answers are kept, and where.
    kernels : bool
        Whether kernels may be used.
    batch_size : int
        Rows per ``partial_fit``.
    n_warmup : int
        Rows learnt before anything is asked.
    unanswered : {"error", "wrong", "first"}
        Whether a question without an answer is an error or a wrong answer.
    error_score : "raise" or float
        Score of a failed model; "raise": a failure ends the run.
    return_models : bool
        Whether fitted copies are wanted.
    baselines : tuple of str
        Names of the models that are naive baselines.
    parameters : dict
        The evaluator's parameters, for the record.
    expected_rows : int
        Rows of the stream; 0 where that is not known.
    drifts : tuple of Drift
        Where the truth of the stream is known to change.
    generator : str
        Which generator made the stream; empty if none did.
    record : dict
        Versions, platform, models and timelines, for the record.
    score_methods : dict of str to {"predict_proba", "decision_function"} or None
        By model, what it is asked for besides labels; empty where no measure needs any.
    method : {"predict", "predict_proba", "decision_function"}
        What the models answer.
    """

    protocol: str
    late_labels: bool
    scored_sets: str
    classes: np.ndarray | None
    metrics: dict[str, Any]
    forgetting: dict[str, Any]
    timelines: list[Timeline]
    record_every: Any
    missing_labels: str
    keep_tape: bool
    kernels: bool
    batch_size: int
    n_warmup: int
    unanswered: Unanswered
    error_score: Any
    return_models: bool
    baselines: tuple[str, ...]
    parameters: dict[str, Any]
    expected_rows: int = 0
    drifts: tuple[Drift, ...] = ()
    generator: str = ""
    record: dict[str, Any] = field(default_factory=dict)
    score_methods: Mapping[str, str | None] = field(default_factory=dict)
    method: str = "predict"

    @property
    def counts_time(self) -> bool:
        """Whether a mechanism, or the distance of the checkpoints, counts time."""
        for mechanism in self.forgetting.values():
            if mechanism.counts_time:
                return True
        return duration_of("the evaluator", "record_every", self.record_every) is not None

    @property
    def n_scores(self) -> int:
        """Columns of scores that measures need; 0: none."""
        tasks = map(self.task_of, self.score_methods)
        return max(map(attrgetter("n_scores"), tasks), default=0)

    def task_of(self, model: str | None = None) -> Task:
        """Return the task of a model; None: of all, as far as answers alone are concerned."""
        return Task(
            classes=self.classes,
            method=self.method,
            batch_size=self.batch_size,
            n_warmup=self.n_warmup,
            late_labels=self.late_labels,
            scores=None if model is None else self.score_methods.get(model),
            expected_rows=self.expected_rows * len(self.timelines),
        )

    @property
    def header(self) -> ResultHeader:
        """The facts that a result repeats."""
        measures, mechanisms = {}, {}
        for name, measure in self.metrics.items():
            measures[name] = Measure(**measure.facts)
        for name, forgetting in self.forgetting.items():
            mechanisms[name] = forgetting.name
        return ResultHeader(
            protocol=self.protocol,
            scored_sets=self.scored_sets,
            measures=measures,
            mechanisms=mechanisms,
            classes=self.classes,
            baselines=self.baselines,
            parameters=self.parameters,
            survives=self.error_score != "raise",
            generator=self.generator,
            record=self.record,
        )


def named_models(models: Any) -> dict[str, Any]:
    """Models by name, from one model, a list or a dict; each must have ``partial_fit``.

    Those of libraries that `skstream.compat` knows are adapted.
    """
    if isinstance(models, Mapping):
        named = names_as_text(models, "models")
    else:
        is_one = isinstance(models, (str, bytes)) or hasattr(models, "partial_fit")
        several = isinstance(models, Sequence) and not (is_one or adapted(models) is not models)
        named, listed_models = {}, list(map(adapted, models if several else [models]))
        names, seen = list(map(name_of, listed_models)), Counter[str]()
        for name, model in zip(names, listed_models, strict=True):
            seen[name] += 1
            named[f"{name}-{seen[name]}" if names.count(name) > 1 else name] = model
    if not named:
        raise ValueError("No model was given; pass an estimator, a list or a dict of them.")
    for name, given in named.items():
        named[name] = model = adapted(given)
        if isinstance(model, type):
            raise TypeError(
                f"Model '{name}' is the class {model.__name__}, not an instance; "
                f"pass an instance, {model.__name__}()."
            )
        if isinstance(model, (str, bytes)):
            raise TypeError(
                f"Model '{name}' is the text {model!r}, but a model is an estimator with "
                "partial_fit, for example SGDClassifier(). The command line takes names of "
                "models; functions take the models."
            )
        try:
            check_can_learn(model)
        except TypeError as error:
            raise TypeError(f"Model '{name}': {error}") from error
        if not hasattr(model, "predict"):
            raise TypeError(f"Model '{name}': {without_predict(model)}")
        if tags_of(model).estimator_type == "clusterer":
            raise TypeError(
                f"Model '{name}' is a clusterer: it predicts cluster numbers, which are not labels."
            )
        with failures_named(name, 0, "being copied"):
            list(nested(model))  # asks for the parameters that a copy is made from
    return named


def is_regression(models: Mapping[str, Any]) -> bool:
    """Whether the models are regressors; a mixture is an error."""
    regressors = []
    for name, model in models.items():
        if is_regressor(model):
            regressors.append(name)
    if regressors and len(regressors) < len(models):
        raise ValueError(
            f"Models {sorted(regressors)} are regressors and the others are not; evaluate "
            "classifiers and regressors separately. The baselines of regressors are "
            "PersistentRegressor and MeanRegressor."
        )
    return bool(regressors)


def prepared_models(
    models: Mapping[str, Any],
    classes: np.ndarray | None,
    n_folds: int,
    *,
    seed: int,
    warm_start: bool,
    n_warmup: int,
) -> dict[tuple[str, int], Any]:
    """Make a seeded copy of every model for every fold; a fitted copy for a warm start.

    Models that could not answer the first question are refused.
    """
    if warm_start:
        models = _models_going_on(models, classes)
        _check_fitted_classes(models, classes)
        _warn_of_left_out_state(models)
    else:
        _warn_of_kept_state(models)
    prepared = {}
    for name, model in models.items():
        for fold in range(n_folds):
            with failures_named(name, fold, "being copied", n_folds):
                prepared[name, fold] = (
                    fitted_copy(model)
                    if warm_start
                    else seed_estimator(unfitted_copy(model), seed, name, fold)
                )
    if n_warmup == 0:
        check_can_answer(prepared)
    return prepared


def _models_going_on(models: Mapping[str, Any], classes: np.ndarray | None) -> dict[str, Any]:
    """Models for a warm start: those of River keep what they have learnt."""
    found = {}
    for name, model in models.items():
        with failures_named(name, 0, "being copied"):
            found[name] = model.going_on(classes) if hasattr(model, "going_on") else model
    return found


_NOMINAL = re.compile(r"(estimator__)*(model__)?(nominal_features|nominal_attributes)")


def unset_nominal(model: Any) -> str | None:
    """Return the parameter in which a tree would be told its nominal columns, if it is not set.

    Trees behind transformers, which make other columns, are left out.
    """
    if not hasattr(model, "get_params") or isinstance(model, type):
        return None
    params = model.get_params(deep=True)
    return next((n for n, v in params.items() if v is None and _NOMINAL.fullmatch(n)), None)


def coded_columns(stream: Stream) -> dict[int, str]:
    """Return the columns of a stream of files, by position, whose categories are given as codes."""
    source = stream.source_streams()[0]
    coded = {}
    if not getattr(source, "as_frame", True):
        for position, (name, kind) in enumerate(getattr(source, "kinds", {}).items()):
            if kind == "category":
                coded[position] = name
    return coded


def warn_of_codes(models: Mapping[str, Any], stream: Stream | None) -> None:
    """Warn where a tree would take the codes of categories for numbers."""
    coded = {} if stream is None else coded_columns(stream)
    for name, model in models.items() if coded else ():
        parameter = unset_nominal(model)
        if parameter is not None:
            shown = ", ".join(map(repr, [*coded.values()][:5])) + ", ..." * (len(coded) > 5)
            warn(
                f"The stream gives categories as codes (columns {shown}), which the tree in model "
                f"'{name}' would treat as numbers. Declare them, {parameter}={list(coded)}, or "
                "read frames, as_frame=True."
            )


def _warn_of_kept_state(models: Mapping[str, Any]) -> None:
    """Warn of plain objects that have learnt, where every model should begin with nothing.

    Also of those inside pipelines and meta-estimators, which are copied with them.
    """
    for name, model in models.items():
        for part in filter(differs_from_new, plain_parts(model)):
            kind = type(part).__name__
            what = f"Model '{name}'" if part is model else f"{kind} inside model '{name}'"
            warn(
                f"{what} has no get_params, so it is copied with its state, which is not that of a "
                f"new {kind}: it keeps its earlier training, perhaps on these very rows. Pass a "
                "new object, or give it get_params (sklearn.base.BaseEstimator has it); with "
                "warm_start=True, it continues from there without this warning."
            )


def _warn_of_left_out_state(models: Mapping[str, Any]) -> None:
    """Warn of parts that have learnt inside models that have not, so they start again."""
    for name, model in models.items():
        if is_plain(model) or is_fitted(model):
            continue
        with failures_named(name, 0, "being copied"):
            parts = list(learning_parts(model))
        for part in parts:
            if part is not model and _knows_more_than_a_clone(part):
                kind = type(model).__name__
                warn(
                    f"{name_of(part)} inside model '{name}' is fitted, but the {kind} around it is "
                    "not. It starts from scratch, even with warm_start=True: at its first "
                    f"training rows, a {kind} makes unfitted clones of its parts. Train the whole "
                    "on the earlier rows."
                )


def _knows_more_than_a_clone(part: Any) -> bool:
    if hasattr(part, "is_new_around_learnt") and part.is_new_around_learnt():
        return True
    # A transformer that needs no fitting is always fitted.
    return not is_plain(part) and is_fitted(part) and not is_fitted(unfitted_copy(part))


def check_can_answer(
    models: Mapping[tuple[str, int], Any],
    advice: str = "Fit it before and pass warm_start=True, or pass n_warmup=1.",
) -> None:
    """Refuse models that could not answer the first row, where there is no warm-up.

    Of plain objects it cannot be known: they are asked.
    """
    for (name, _), model in models.items():
        if not (is_fitted(model) or is_plain(model) or states_first_answer(model)):
            raise ValueError(
                f"Model '{name}' is untrained, but n_warmup=0 needs a prediction for the first "
                f"row. {advice} (The baselines that repeat, count or average labels can predict "
                "untrained.)"
            )


def _check_fitted_classes(models: Mapping[str, Any], classes: np.ndarray | None) -> None:
    """Refuse models that start fitted and may answer labels that are not among the classes."""
    if classes is None:
        return
    for name, model in models.items():
        own = getattr(model, "classes_", None)
        if own is None or np.ndim(own) != 1:
            continue
        labels = as_labels(own)
        others = labels[LabelSpace(classes).encode_answers(labels) < 0].tolist()
        if others:
            every = distinct_labels(as_labels([*classes.tolist(), *others]), "classes").tolist()
            raise ValueError(
                f"Model '{name}' was fitted before (warm_start=True) with the classes "
                f"{listed(labels.tolist())}, and may predict {listed(others)}, which "
                f"{'is' if len(others) == 1 else 'are'} not among the classes of this evaluation: "
                f"{listed(classes.tolist())}. Pass classes={listed(every)}."
            )
        new = classes[LabelSpace(labels).encode_answers(classes) < 0].tolist()
        if new and not _may_take_new_classes(model):
            raise ValueError(
                f"Model '{name}' was fitted before (warm_start=True) with the classes "
                f"{listed(labels.tolist())}, and cannot be trained on {listed(new)}, which "
                f"{'is' if len(new) == 1 else 'are'} among the classes of this evaluation. Fit it "
                f"with partial_fit(X, y, classes={listed(classes.tolist())}), or, if no such label "
                f"occurs, pass classes={listed(labels.tolist())}."
            )


def _may_take_new_classes(model: Any) -> bool:
    """Whether a fitted classifier may learn rows of further classes: not scikit-learn's, nor ours.

    A frozen one takes any row, because it learns none.
    """
    parts = list(learning_parts(model))
    homes = {type(part).__module__.partition(".")[0] for part in parts}
    is_frozen = any(isinstance(part, FrozenEstimator) for part in parts)
    return is_frozen or not homes <= {"sklearn", "skstream"}


def check_protocol(
    models: Mapping[str, Any],
    stream: Stream | None,
    *,
    missing_labels: str,
    protocol: str = "",
    warm_start: bool = False,
) -> None:
    """Refuse models whose answers would be wrong under a protocol, as they say themselves.

    A model, or one inside another, may have a method `why_not_evaluated`. `stream` is None in a
    live run: nothing is known of its rows then.
    """
    for name, model in models.items():
        for part in learning_parts(model):
            if part is not model and hasattr(part, "time_passes"):
                raise ValueError(
                    f"{type(part).__name__} inside model '{name}' counts time, but only the "
                    "evaluated model itself gets the time, not a model inside another. Let it "
                    f"count rows; for a pipeline, refit the whole: {type(part).__name__}(pipeline, "
                    "...)."
                )
            if isinstance(part, type) or not hasattr(part, "why_not_evaluated"):
                continue
            fitted = warm_start and is_fitted(part)
            why = part.why_not_evaluated(stream, protocol, missing_labels, fitted)
            if why is not None:
                raise ValueError(f"{type(part).__name__} (model '{name}') {why}")


#: What makes an estimator of a model, by the function that knows models of its library.
_ADAPTERS: dict[Callable[[Any], bool], Callable[[Any], Any]] = {}


def offer_adapter(is_known: Callable[[Any], bool], adapt: Callable[[Any], Any]) -> None:
    """Let models of another library be evaluated: those that `is_known` knows, by `adapt`.

    The estimators that `adapt` makes may have the methods `going_on(classes)`, an estimator that
    goes on from what the model inside has learnt, `is_new_around_learnt()`, whether the estimator
    has learnt nothing and the model inside has, and `inner_name()`, the name of that model.
    """
    _ADAPTERS[is_known] = adapt


def adapted(model: Any) -> Any:
    """Return a model of another library as an estimator; others as they learn along a stream."""
    if hasattr(model, "partial_fit"):
        return model
    known = (adapt for is_known, adapt in _ADAPTERS.items() if is_known(model))
    return next(known, as_learner)(model)


def name_of(model: Any) -> str:
    """Name of a model after its type, or that of the model inside where it is adapted."""
    if isinstance(model, type):
        return model.__name__
    return str(model.inner_name()) if hasattr(model, "inner_name") else type(model).__name__
