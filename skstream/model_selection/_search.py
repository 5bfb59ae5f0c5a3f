"""A search along a stream, and what it reports."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, cast

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from skstream._meta import with_tags_of
from skstream.base import (
    Method,
    check_can_learn,
    check_classes,
    check_rows,
    forget,
    offered_if,
)
from skstream.core.evaluators.evaluator import COMMON_CONSTRAINTS, known_classes, refuse_unknown
from skstream.core.evaluators.prequential import PrequentialEvaluator
from skstream.core.result.result import EvaluationResult, assemble
from skstream.core.rows.stream import as_drifts
from skstream.core.run.checkpoint import save_checkpoint
from skstream.forgetting import Cumulative
from skstream.logs._slice_rows import N_BLOCKS, NO_BLOCK, Lines, standard_error
from skstream.metrics import Measure
from skstream.model_selection._search_guesses import beside_guesses, naive_scores
from skstream.model_selection._search_plan import (
    Candidates,
    Plan,
    candidates_of,
    checked_rows,
    evaluate,
    evaluator_of,
    given_evaluator,
    plan_of,
    stream_of,
    too_short,
)
from skstream.model_selection._search_run import ALPHA, Interval, SearchRun, last_scores
from skstream.stats._report import plural
from skstream.streams import Drift
from skstream.utils._choices import check_count
from skstream.utils._content import NotComparable, content
from skstream.utils._tables import aligned
from skstream.utils._validation import as_learner, tags_of
from skstream.utils._warnings import warn

P = ParamSpec("P")
#: What to pass in place of parameters of other searches, and of evaluators.
_ELSEWHERE = {
    **{
        name: f"evaluator=PrequentialEvaluator({name}={{!r}})"
        for name in signature(PrequentialEvaluator).parameters
    },
    **dict.fromkeys(("scoring", "metrics"), "metric={!r}"),
    **dict.fromkeys(("param_distributions", "params", "grid"), "param_grid={!r}"),
    "cv": "evaluator=PrequentialEvaluator(), which predicts every row before it is learnt",
}


def _checked(
    init: Callable[Concatenate[Any, P], None],
) -> Callable[Concatenate[Any, P], None]:
    """Let an initializer say what to pass in place of a parameter that it does not have."""

    @wraps(init)
    def checked(self: Any, *args: P.args, **named: P.kwargs) -> None:
        refuse_unknown(type(self), named, TypeError, _ELSEWHERE)
        init(self, *args, **named)

    return cast(Callable[Concatenate[Any, P], None], checked)


def jackknife(result: EvaluationResult, metric: str, measure: Measure) -> Interval:
    """Interval from the values of a measure without one block of rows after the other.

    A block is left out of the scores as rows that were not asked: baselines know its labels.
    """
    (name,) = result.model_names
    score = result.scores[name][metric]
    if result.tape is None:
        return Interval.none(
            "it needs the predictions; keep them with run=RunOptions(keep_tape=True)"
        )
    lines = Lines(result, {metric: measure}, {"": Cumulative()}, None)
    every = np.arange(len(lines.y))
    rows = np.flatnonzero(lines.scored(every)[name])
    if len(rows) < 2 * N_BLOCKS:
        return Interval.none(f"fewer than {2 * N_BLOCKS} rows were scored after the tuning rows")
    blocks = np.full(len(every), NO_BLOCK)
    for number, block in enumerate(np.array_split(rows, N_BLOCKS)):
        blocks[block] = number
    values = lines.without_each(every, blocks)[0, :-1]
    if not (np.isfinite(values).all() and np.isfinite(score)):
        return Interval.none("the measure is undefined without some of the rows")
    error = standard_error(values)
    if np.isnan(error):
        return Interval.none("all blocks of rows have the same score, so there is no spread")
    half = float(stats.t.ppf(1 - ALPHA / 2, N_BLOCKS - 1) * error)
    low, high = measure.bounds
    return Interval(
        float(max(score - half, low)),
        float(min(score + half, high)),
        f"about {100 * (1 - ALPHA):g} %, from leaving out each of {N_BLOCKS} blocks of rows; it "
        "is too narrow if rows depend on each other over more than a block",
    )


#: Candidates in the printed table.
_MOST = 5


def cv_results(run: SearchRun, candidates: Candidates) -> dict[str, Any]:
    """Return the columns of `cv_results_`, a line for each candidate."""
    lanes, rules = run.tuning_outcome().lanes, run.rules
    # Any number for what failed, as in scikit-learn; it ranks last all the same.
    failed = run.settings.error_score
    lasts = [
        last_scores(lane) if lane.failure is None else dict.fromkeys(run.settings.metrics, failed)
        for lane in lanes
    ]
    ranks = np.empty(len(lanes), dtype=np.int32)
    ranks[rules.order(lanes)] = np.arange(1, len(lanes) + 1)
    results: dict[str, Any] = {"candidate": np.array(candidates.names, dtype=object)}
    for name in dict.fromkeys(name for one in candidates.params for name in one):
        column = MaskedArray(np.empty(len(lanes), dtype=object), mask=True)
        for number, one in enumerate(candidates.params):
            if name in one:
                column[number] = one[name]
        results[f"param_{name}"] = column
    results["params"] = [dict(one) for one in candidates.params]
    results["mean_test_score"] = np.array([last[rules.metric] for last in lasts])
    results["std_test_score"] = np.full(len(lanes), np.nan)
    results["rank_test_score"] = ranks
    if rules.tie_breaker is not None:
        results[rules.tie_breaker] = np.array([last[rules.tie_breaker] for last in lasts])
    results["seconds"] = np.array([lane.cost.seconds for lane in lanes])
    return results


def honest_interval(run: SearchRun) -> Interval:
    """Return the interval of the honest score: of the rows that came, where it is a mean loss."""
    problem = "" if run.honest_loss is None else run.honest_loss.problem
    if run.honest_loss is not None and not (problem or _why_none(run)):
        return run.honest_loss.interval()
    found = long_run_interval(run)
    if problem:
        why = f"{found.method}; no confidence sequence, because {problem}"
        return found._replace(method=why)
    return found


def _why_none(run: SearchRun) -> str:
    """Say why there is no interval of any kind; empty where there is."""
    if run.has_lost_chosen:
        return "the chosen candidate has failed"
    (name, forgetting) = next(iter(run.settings.forgetting.items()))
    if forgetting != Cumulative():
        return f"with {name} the score is about the newest rows only"
    return ""


def long_run_interval(run: SearchRun) -> Interval:
    """Return the interval of the score in the long run, by blocks of rows."""
    why = _why_none(run)
    if why:
        return Interval.none(why)
    result, metric = assemble(run.settings.header, run.outcome(), so_far=True), run.rules.metric
    return jackknife(result, metric, run.settings.metrics[metric])


def table(search: "PrequentialSearch") -> str:
    """Return what was found: the best, its scores, and the next calls."""
    run, rules = search.run_, search.run_.rules
    results = search.cv_results_
    best, metric = search.best_index_, rules.metric
    n_rows, score = run.tuning_outcome().n_rows, results["mean_test_score"][best]
    chosen = "so far" if run.tuned is None and rules.tuning else "it was chosen on these"
    n_tied = int(np.sum(results["mean_test_score"] == score))
    if n_tied > 1:
        chosen += f"; {n_tied} have this score: {run.instead} decided"
    lines = [
        f"{type(search).__name__}: the best of {plural(search.n_candidates_, 'candidate')} is",
        f"  {results['candidate'][best]}",
        f"{metric} on the {n_rows:,} tuning rows: {score:z.4f} "
        f"({f'undefined: {run.instead} decided' if np.isnan(score) else chosen})",
    ]
    if run.tuned is not None and rules.tuning is not None:
        low, high = search.honest_interval_
        between = "" if np.isnan(low) else f", in [{low:z.4f}, {high:z.4f}]"
        lines += [
            f"{metric} on the {run.n_honest:,} rows after them: "
            f"{search.honest_score_:z.4f}{between}",
            f"  ({search.honest_interval_method_})",
        ]
        score = search.honest_score_
    lines += beside_guesses(run, score)
    if rules.tuning is None:
        lines.append("There is no honest score: all rows were used to choose (pass tuning=).")
    elif run.tuned is None:
        when = f"after {rules.tuning:,}{run.at_end_of_batch}"
        lines.append(f"There is no honest score yet: the choice is made {when}.")
    failures = run.failures
    if failures:
        lines.append(f"{plural(len(failures), 'candidate')} failed: {', '.join(failures)}")
    lines += ["", *_best_rows(search, results)]
    why = run.settings.parameters.get("in_one_process")
    if why:
        lines.append(f"All in one process: {why}")
    calls = "cv_results_, best_params_, predict(X), result_.plot(), partial_fit(X, y), save(path)"
    return "\n".join([*lines, "", f"Next: {calls}"])


def _best_rows(search: "PrequentialSearch", results: dict[str, Any]) -> list[str]:
    """Table of the first candidates by rank."""
    metric, tie = search.run_.rules.metric, search.run_.rules.tie_breaker
    header = ["candidate", metric, *([tie] if tie else []), "rows", "seconds"]
    n_rows = search.run_.tuning_outcome().n_rows
    rows = [
        [
            results["candidate"][k],
            f"{results['mean_test_score'][k]:z.4f}",
            *([f"{results[tie][k]:z.4f}"] if tie else []),
            f"{n_rows:,}",
            f"{results['seconds'][k]:.2f}",
        ]
        for k in np.argsort(results["rank_test_score"])[:_MOST]
    ]
    more = search.n_candidates_ - len(rows)
    return [*aligned(header, rows), *([f"and {more} more"] if more > 0 else [])]


#: Parameters of a search, and of its evaluator, that may change while it goes on.
_FREE = ("refit", "evaluator")
_FREE_OF_EVALUATOR = ("n_jobs", "progress")
#: What parameters of the evaluator are called as those of a search.
_INNER = "evaluator__"


class OptimisticScoreWarning(UserWarning):
    """`best_score_` was read although there is an honest score.

    The best candidate was chosen by its score on the tuning rows, so this score is too good on
    average.
    """


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are equal, also where one was loaded from a file."""
    try:
        return content(one) == content(other)
    except NotComparable:
        return False


def _best_has(method: str) -> Callable[[Method], Method]:
    """Offer a method where the candidates have it."""

    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(
                f"With refit=False the best candidate is not kept, so there is no {method}."
            )
        getattr(search.estimator, method)  # raises the model's own AttributeError
        return True

    return offered_if(check)


class PrequentialSearch(MetaEstimatorMixin, BaseEstimator):
    """Search for the best parameters in one test-then-train pass along a stream.

    All candidates run side by side, each as in a `PrequentialEvaluator` of its own: every row is
    predicted, scored, then used for training. After the `tuning` rows the best one is chosen and
    continues alone; its score on the following rows is honest, because they were not used for
    selection.

    Parameters
    ----------
    estimator : estimator
        Model with ``partial_fit`` whose parameters are searched.
    param_grid : dict of str to list, or list of such dicts
        Values by parameter, as for `sklearn.model_selection.GridSearchCV`; with `n_iter` also
        distributions, as for `RandomizedSearchCV`.
    evaluator : PrequentialEvaluator, default=None
        How the candidates are evaluated; None: ``PrequentialEvaluator()``. Its settings have the
        same meaning as there; for `random_state` and `n_jobs` see the notes. Used are `forgetting`
        (one mechanism), `n_warmup`, `batch_size`, `record_every`, `missing_labels`, `unanswered`,
        `run`, `random_state`, `n_jobs` and `progress`. Not allowed are `metrics` and `error_score`,
        for which a search has its own parameters, and checkpoints.
    n_iter : int, default=None
        Number of candidates to sample. None: all of the grid.
    metric : str, callable, Measure, or dict with one of them, default="kappa_plus"
        Measure for choosing the best. Ties are broken by accuracy, then by order. Regressors need a
        different measure, such as "mae".
    tuning : int or float, default=None
        Number of tuning rows, after which the best is chosen, or their share if the length is
        known; extended to the end of a batch if `batch_size` is above 1 (of a later batch, if the
        warm-up has rows not used for training: without a label, or of weight 0). None: all rows are
        used to choose, and there is no honest score.
    refit : bool, default=True
        Whether to keep the best model for predictions. It is never fitted a second time.
    error_score : "raise" or float, default=nan
        Score of a candidate that fails, while the others continue; "raise": the search ends. A
        failure of the chosen one, after the choice, is always an error.

    Attributes
    ----------
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where the rows came in a data frame with string names.
    n_features_in_ : int
        Number of columns of the rows.

    Raises
    ------
    ValueError
        From `fit` and `partial_fit`, if a parameter is not valid.

    See Also
    --------
    PrequentialEvaluator : Evaluates models without choosing among them.
    sklearn.model_selection.GridSearchCV : Fits every candidate on every split.

    Notes
    -----
    The `random_state` of the evaluator is also the seed of the sampling; all candidates get the
    same seeds, those that a single model would get. Each of its `n_jobs` workers has some of the
    candidates.

    The best model is the very one that was evaluated, and ``partial_fit`` continues with it.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import PrequentialEvaluator, PrequentialSearch, TemporalCorrection
    >>> from skstream.streams import make_demo_stream
    >>> search = PrequentialSearch(
    ...     TemporalCorrection(SGDClassifier(loss="log_loss")),
    ...     {"fading_factor": [0.9, 0.99, 1.0], "estimator__alpha": [0.0001, 0.01]},
    ...     evaluator=PrequentialEvaluator(random_state=0),
    ...     metric="kappa_temporal",
    ...     tuning=1000,
    ... )
    >>> search = search.fit(make_demo_stream(3000))
    >>> search.n_candidates_, search.best_params_["estimator__alpha"]
    (6, 0.01)
    >>> low, high = search.honest_interval_
    >>> low < search.honest_score_ < high
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_iter": "no_validation",
        "refit": ["boolean"],
        "error_score": COMMON_CONSTRAINTS["error_score"],
    }

    # Weights decide what is learnt and scored here.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": True, "classes": UNUSED}
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {
        "sample_weight": True,
        "classes": UNUSED,
    }

    _run: SearchRun
    _candidates: Candidates
    _began_with: dict[str, Any]

    @_checked
    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        evaluator: PrequentialEvaluator | None = None,
        n_iter: int | None = None,
        metric: Any = "kappa_plus",
        tuning: int | float | None = None,
        refit: bool = True,
        error_score: Any = np.nan,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.evaluator = evaluator
        self.n_iter = n_iter
        self.metric = metric
        self.tuning = tuning
        self.refit = refit
        self.error_score = error_score

    # -- learning

    def fit(self, X: Any, y: Any = None, *, classes: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, then run all candidates along a stream, in one pass.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
            Features in time order; or, without `y`, any iterable of chunks ``(X, y)`` or
            ``(X, y, meta)``.
        y : array-like of shape (n_rows,), default=None
            Labels or targets.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur; found in `y` if it is an array.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for training and scoring; 0: predicted, but neither scored nor used for
            training.

        Returns
        -------
        self : object
            The search itself.

        Raises
        ------
        ValueError
            If a parameter, a row or a label is bad, or all candidates fail.
        EvaluationInterrupted
            On Ctrl-C. The search remains usable, and ``partial_fit`` continues after the rows so
            far; but not after a second Ctrl-C, or one inside a model, which stops in the middle of
            a row: `result_` has the scores before, and `fit` starts again. If workers run the
            candidates (`n_jobs`), nothing is kept: the error has the scores of those that finished,
            and `fit` starts again.
        ModelError
            If the chosen candidate fails after the choice.
        """
        before = dict(vars(self))
        try:  # the search stays as it was, unless the evaluation begins
            evaluator = self._check()
            self._forget()
            stream = stream_of(self, X, y, sample_weight)
            known = known_classes(stream) if classes is None else classes
            source = "y" if classes is None else "classes"
            drifts = as_drifts(stream.drifts)
            plan = self._plan(evaluator, known, stream.n_rows, source, drifts)
        except BaseException:
            self.__dict__ = before
            raise
        try:
            evaluate(self, plan, stream, self._keep)
        finally:
            self._note_columns()
        self._warn_of_failures()
        run = self._run
        run.warn_of_undefined()
        if run.tuned is None and run.rules.tuning is not None:
            kept = "The search has the scores so far"
            raise too_short(self.tuning, run.rules.tuning, run.n_rows, kept)
        if run.rules.tuning is not None and not run.n_honest:
            warn(
                f"The stream ended with the {run.n_rows:,} tuning rows: no row is left for the "
                "honest score, which is NaN. Pass a smaller tuning=, or continue with "
                "partial_fit.",
                UndefinedMetricWarning,
            )
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Continue with further rows: each is predicted, scored, then used for training.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Features, in time order.
        y : array-like of shape (n_rows,)
            Labels or targets.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required in the first call for classifiers.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for training and scoring.

        Returns
        -------
        self : object
            The search itself.

        Raises
        ------
        ValueError
            If a row or a label is bad, all candidates have failed, or the evaluator has a parameter
            that a search does not accept.
        RuntimeError
            If `fit` has ended the stream, or a second Ctrl-C has stopped the search in the middle
            of a row.

        Notes
        -----
        The parameters of a running search are fixed: only `refit`, and the evaluator's `n_jobs` and
        `progress`, may change before the next call; other changes are an error. The candidates are
        copies made in the first call.
        """
        first = not hasattr(self, "_run")
        if first:
            evaluator = self._check()
        else:
            self._check_unchanged()
        X, y, weight = checked_rows(self, X, y, sample_weight, reset=first)
        if first:
            plan = self._plan(evaluator, classes, None, "classes")
            self._run = plan.new_run()(plan.models)
        elif classes is not None and self._run.settings.classes is not None:
            check_classes(self, classes)
        if self._run.rules.tuning is None and self._run.tuned is not None:
            raise RuntimeError(
                "The candidates were evaluated by workers (n_jobs), and only the best is "
                "available here. Use n_jobs=None to continue with all of them, or tuning= to "
                "continue with the chosen one."
            )
        was_tuned = self._run.tuned is not None
        self._run.is_live = True
        self._run.learn(X, y, weight)
        self._warn_of_failures()
        if self._run.tuned is not None and not was_tuned:
            self._run.warn_of_undefined()
        return self

    def _check(self) -> PrequentialEvaluator:
        """Check the parameters; return the evaluator that does what they ask for."""
        self._validate_params()
        if self.n_iter is not None:
            check_count(self.n_iter, "n_iter", 1)
        check_can_learn(self.estimator)
        return evaluator_of(self)

    def _check_unchanged(self) -> None:
        """Raise an error if a parameter is another one than when the search began."""
        evaluator = given_evaluator(self)
        for name, value in self._began_with.items():
            own = name.removeprefix(_INNER)
            now = getattr(self if own == name else evaluator, own)
            if now is not value and not _is_same(now, value):
                raise ValueError(
                    f"{name} was {value!r} when the search began, but is {now!r} now: it cannot "
                    "change during a search. Restore it, or call fit, which starts again."
                )

    def _forget(self) -> None:
        forget(self)
        for name in ("_run", "_candidates", "_began_with", "_warned"):
            if name in vars(self):
                delattr(self, name)

    def _plan(
        self,
        evaluator: PrequentialEvaluator,
        classes: Any,
        n_rows: int | None,
        source: str,
        drifts: tuple[Drift, ...] = (),
    ) -> Plan:
        """Resolve the parameters; make the candidates."""
        candidates = candidates_of(self.param_grid, self.n_iter, evaluator.random_state)
        plan = plan_of(self, evaluator, candidates, classes, n_rows, source, drifts)
        self._candidates = candidates
        inner = given_evaluator(self).get_params(deep=False).items()
        self._began_with = {
            **{name: one for name, one in self.get_params(deep=False).items() if name not in _FREE},
            **{_INNER + name: one for name, one in inner if name not in _FREE_OF_EVALUATOR},
        }
        return plan

    def _keep(self, run: SearchRun) -> None:
        """Keep the run from its first row on: the search can be used when Ctrl-C comes."""
        self._run = run

    def _note_columns(self) -> None:
        """Note the columns of a stream, as `fit` of arrays has done."""
        schema = self._run.schema if hasattr(self, "_run") else None
        if schema is None or hasattr(self, "n_features_in_"):
            return
        if schema.width is not None:
            self.n_features_in_ = schema.width
        if schema.names is not None and all(isinstance(name, str) for name in schema.names):
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def _warn_of_failures(self) -> None:
        """Warn of candidates that have failed since the last warning; raise if all have."""
        run = self._run
        failures = run.failures
        warned = getattr(self, "_warned", ())
        for name in failures:
            if name not in warned:
                warn(failures[name], FitFailedWarning)
        self._warned = tuple(failures)
        run.check_some_left()

    # -- what was found

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_run") and self._run.has_learnt

    def _fitted(self) -> SearchRun:
        check_is_fitted(self)
        return self._run

    @property
    def run_(self) -> SearchRun:
        """The run, with the number of rows so far."""
        return self._fitted()

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted; regressors have none."""
        classes = self._fitted().settings.classes
        if classes is None:
            raise AttributeError("The candidates are regressors, which have no classes_.")
        return classes

    @property
    def n_candidates_(self) -> int:
        """Number of candidates."""
        self._fitted()
        return len(self._candidates)

    @property
    def best_index_(self) -> int:
        """Number of the best candidate (before the choice: best so far), as in `cv_results_`."""
        run = self._fitted()
        return self._candidates.names.index(run.chosen or run.name_of(run.best_number()))

    @property
    def best_params_(self) -> dict[str, Any]:
        """Parameters of the best candidate."""
        number = self.best_index_
        return dict(self._candidates.params[number])

    @property
    def best_estimator_(self) -> Any:
        """The best model: the very one that was evaluated, after training on all its rows."""
        run = self._fitted()
        if not self.refit:
            raise AttributeError("With refit=False there is no best_estimator_.")
        return run.estimator(run.best_number())

    @property
    def best_score_(self) -> float:
        """Score of the best candidate on the tuning rows, on which it was chosen."""
        run = self._fitted()
        if run.tuned is not None and run.rules.tuning is not None:
            warn(
                "best_score_ is the score on the tuning rows, on which the best of "
                f"{plural(len(self._candidates), 'candidate')} was chosen: it is too good on "
                "average. honest_score_ is the score on the rows after them.",
                OptimisticScoreWarning,
            )
        return last_scores(run.tuning_outcome().lanes[self.best_index_])[run.rules.metric]

    @property
    def cv_results_(self) -> dict[str, Any]:
        """Scores, ranks and costs of all candidates, named as in scikit-learn's searches."""
        return cv_results(self._fitted(), self._candidates)

    @property
    def result_(self) -> EvaluationResult:
        """Result of the tuning rows: curves, predictions and costs of all candidates."""
        run = self._fitted()
        return assemble(run.settings.header, run.tuning_outcome(), so_far=True)

    def _after_choice(self) -> SearchRun:
        run = self._fitted()
        if run.rules.tuning is None:
            raise AttributeError(
                "There is no honest score: all rows were used to choose (tuning=None). Pass "
                "tuning=, a number of rows or a share of them, to score the best candidate on the "
                "rows that follow."
            )
        if run.tuned is None:
            raise AttributeError(
                f"There is no honest score yet: the best candidate is chosen after "
                f"{run.rules.tuning:,} rows{run.at_end_of_batch}, and {run.n_rows:,} have come."
            )
        return run

    @property
    def honest_result_(self) -> EvaluationResult:
        """Result of the chosen candidate on the rows after the tuning rows."""
        run = self._after_choice()
        return assemble(run.settings.header, run.outcome(), so_far=True)

    @property
    def honest_score_(self) -> float:
        """Score of the chosen candidate on the rows after the tuning rows."""
        run = self._after_choice()
        return last_scores(run.outcome().lanes[0])[run.rules.metric]

    @property
    def honest_interval_(self) -> tuple[float, float]:
        """Interval of the honest score at level 0.95; NaN if there is none.

        For accuracy and error it is about the observed rows, and valid at all of them at once: it
        covers the mean of the expected errors of the rows, each given the rows before it. If an
        error makes the next one more probable, that mean varies, and the long-run accuracy can be
        outside: see `long_run_interval_`, which this equals for all other measures.
        """
        return honest_interval(self._after_choice())[:2]

    @property
    def long_run_interval_(self) -> tuple[float, float]:
        """Interval of the score of the chosen candidate over very many such rows.

        It is valid for one look, at a level of about 0.95, and computed by leaving out each of 20
        blocks of rows: errors may depend on each other within a block, and the stream must not
        drift. It needs the predictions (`keep_tape` of the evaluator); NaN if there is none.
        """
        return long_run_interval(self._after_choice())[:2]

    @property
    def honest_interval_method_(self) -> str:
        """How the interval was computed, or why there is none."""
        return honest_interval(self._after_choice()).method

    @property
    def naive_scores_(self) -> dict[str, float]:
        """Scores of naive guesses by name, on the rows of the honest score.

        Without an honest score they are those on the tuning rows so far. A search of classifiers
        has "persistent" and "majority" (`Persistent`, `MajorityClass`), of regressors "persistent"
        and "mean" (`PersistentRegressor`, `MeanRegressor`), as an evaluation of them beside the
        candidates would. Probabilities of the persistent one are 0 and 1. They are computed from
        the labels kept (`keep_tape` of the evaluator).
        """
        return naive_scores(self._fitted())

    def __str__(self) -> str:
        return table(self) if self.__sklearn_is_fitted__() else repr(self)

    # -- the best model

    @_best_has("predict")
    def predict(self, X: Any) -> Any:
        """Predict with the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        y_pred : ndarray of shape (n_rows,)
            Labels or targets.
        """
        return self._of_best("predict", X)

    @_best_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes by the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            In the order of ``classes_``.
        """
        return self._of_best("predict_proba", X)

    @_best_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Decision values of the best model.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        decision : ndarray of shape (n_rows,) or (n_rows, n_classes)
            As the model gives them.
        """
        return self._of_best("decision_function", X)

    @_best_has("score")
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of the best model by its own ``score``; the rows are not used for training.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Labels or targets.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights.

        Returns
        -------
        score : float
            Accuracy of classifiers, R² of regressors.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, texts=True)
        return float(self.best_estimator_.score(X, y, sample_weight=sample_weight))

    def _of_best(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, texts=True)
        return getattr(self.best_estimator_, method)(X)

    # -- files, tags

    def save(self, path: str | Path) -> Path:
        """Save the search, to continue with ``partial_fit`` after `skstream.load_run`.

        The file contains the models and is written by joblib: load it only if you trust its author.
        It is written completely or not at all.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        path : Path
            The file written.
        """
        save_checkpoint(self, Path(path))
        return Path(path)

    def __sklearn_tags__(self) -> Any:
        return with_tags_of(tags_of(as_learner(self.estimator)), super().__sklearn_tags__())
