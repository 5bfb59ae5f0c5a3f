"""The same evaluation on streams of several seeds, over workers, and on several streams."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import delayed

from skstream.core.engine.answers import RAISED
from skstream.core.evaluators.evaluator import StreamEvaluator
from skstream.core.evaluators.execution import (
    EvaluationInterrupted,
    carrying,
    portable_errors,
    progress_bar,
    run_group,
    why_one_process,
)
from skstream.core.evaluators.prequential import PrequentialEvaluator
from skstream.core.evaluators.settings import run_options
from skstream.core.result.result import EvaluationResult, assemble
from skstream.core.result.select import chosen, named
from skstream.core.run.run_outcome import Place, ResultHeader, RunOutcome
from skstream.reports._compare import higher_is_better
from skstream.reports._paper_tables import latex_of_texts
from skstream.reports._report import of_each_stream
from skstream.stats import compare_with_best, friedman_nemenyi
from skstream.stats._best import BestModelResult
from skstream.stats._ranks import FriedmanNemenyiResult, rank_rows
from skstream.stats._report import plural
from skstream.streams import Stream, as_stream
from skstream.studies._leaderboard import Leaderboard, leaderboard
from skstream.studies._seed_study import (
    SeedStudy,
    StudyOfModels,
    checked_seeds,
    last_answers,
    of_value,
)
from skstream.utils._optional import optional_import
from skstream.utils._sklearn import QuietParallel
from skstream.utils._tables import aligned
from skstream.utils._warnings import warn


@dataclass(frozen=True)
class _Task:
    """What is to be done for every seed."""

    make_stream: Callable[[int], Any]
    models: Any
    evaluator: StreamEvaluator
    classes: Any

    def stream_of(self, seed: int) -> Stream:
        made = self.make_stream(seed)
        return as_stream(*made) if isinstance(made, tuple) else as_stream(made)

    def prepared(self, seed: int, stream: Stream) -> tuple[Any, dict[Place, Any], ResultHeader]:
        """Return what makes a run, all models, and the facts of the evaluation."""
        evaluator = copy(self.evaluator).set_params(random_state=seed)
        models = self.models(stream) if _makes_models(self.models) else self.models
        settings, prepared = evaluator._prepare(models, self.classes, stream)
        return evaluator._new_run(settings, stream), prepared, settings.header


@dataclass(frozen=True)
class SameStream:
    """A function of the seed that gives one stream for all: seeds are those of the models alone."""

    stream: Any

    def __call__(self, seed: int) -> Any:
        return self.stream


@dataclass(frozen=True)
class _Done:
    """What became of a seed."""

    seed: int
    outcome: RunOutcome
    header: ResultHeader


def evaluate_over_seeds(
    make_stream: Callable[[int], Any],
    models: Any,
    seeds: Iterable[int],
    *,
    evaluator: StreamEvaluator | None = None,
    n_jobs: int | None = None,
    classes: Any = None,
) -> SeedStudy:
    """Evaluate models on streams that differ only by their seeds, and compare them over seeds.

    Parameters
    ----------
    make_stream : callable
        ``make_stream(seed)`` returns a stream, or ``(X, y)``: the same for the same seed, different
        for other seeds. If two seeds give the same rows, there is a warning, and the study marks
        and compares no models: using one stream twice adds no information.
    models : estimator, list of estimators, dict of str to estimator, or callable
        Models with ``partial_fit``. They are cloned; yours are left unchanged. A function is called
        with the stream of each seed and returns them, with the same names for all seeds.
    seeds : iterable of int
        Seeds, at least one, without duplicates, from 0 to 2**32 - 1. A seed is also the
        `random_state` of its evaluation: models without their own get different random numbers for
        each seed.
    evaluator : evaluator, default=None
        How the models are evaluated; None: ``PrequentialEvaluator()``. It must have no
        `random_state` and no checkpoint. With ``keep_tape="auto"`` of its `run` no tapes are kept;
        with ``progress=True`` there is a bar for all seeds.
    n_jobs : int, default=None
        Number of workers, as for joblib; None: that of the evaluator. Seeds are distributed over
        them, and the models of a seed if there are more workers than seeds. The result does not
        depend on it.
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur, if the streams do not state them.

    Returns
    -------
    study : SeedStudy
        Mean and spread of every curve, and a final table with the best models marked.

    Raises
    ------
    ValueError
        If there are no seeds, or duplicates, or the evaluator has a `random_state`, a `checkpoint`;
        or if a stream is bad.
    ModelError
        If a model fails; the message names the model and the row.
    EvaluationInterrupted
        On Ctrl-C; its `result` is the study of the finished seeds.

    Notes
    -----
    Any error that ends a study names its seed, and has the study of the finished seeds in its
    attribute ``result`` (None if there is none). ``evaluator.set_params(
    random_state=seed).evaluate(models, make_stream(seed))`` repeats one seed.

    Examples
    --------
    >>> from skstream import MajorityClass, evaluate_over_seeds
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> from skstream.streams import SEA
    >>> models = {"bayes": IncrementalGaussianNB(), "majority": MajorityClass()}
    >>> study = evaluate_over_seeds(lambda seed: SEA(500, random_state=seed), models, range(6))
    >>> study.compare("accuracy").best
    'bayes'
    """
    evaluator = PrequentialEvaluator() if evaluator is None else evaluator
    checked = checked_seeds(seeds)
    _check_evaluator(evaluator)
    if not callable(make_stream):
        raise TypeError(
            "make_stream must be a function of a seed that returns a stream. Got "
            f"{type(make_stream).__name__} instead."
        )
    n_jobs = evaluator.n_jobs if n_jobs is None else n_jobs
    options = run_options(evaluator.run)
    plain = copy(evaluator).set_params(
        n_jobs=None, progress=False, run=replace(options, keep_tape=options.keep_tape is True)
    )
    task = _Task(make_stream, models, plain, classes)
    study = _Study(checked, may_be_same=isinstance(make_stream, SameStream))
    try:
        with (
            progress_bar(None, "seeds", wanted=evaluator.progress) as bar,
            closing(_results(task, checked, n_jobs)) as results,
        ):
            for done in results:
                study.take(done)
                bar.update(done.outcome.n_rows * len(done.outcome.lanes))
        whole = study.so_far()
        assert whole is not None, "all seeds have finished"
        return whole
    except KeyboardInterrupt as interrupt:
        raise EvaluationInterrupted(study.so_far("the study was interrupted")) from interrupt
    except (Exception, SystemExit) as error:
        found = study.so_far(f"{type(error).__name__} ended the study")
        error.result = found  # type: ignore[union-attr]
        raise


def _check_evaluator(evaluator: Any) -> None:
    if not isinstance(evaluator, StreamEvaluator):
        raise TypeError(
            f"evaluator must be an evaluator, or None. Got {type(evaluator).__name__} instead."
        )
    if evaluator.random_state is not None:
        raise ValueError(
            f"The evaluator has random_state={evaluator.random_state}, but each seed is the "
            "random_state of its own evaluation. Leave it None."
        )
    if run_options(evaluator.run).checkpoint is not None:
        raise ValueError(
            "The evaluator has checkpoint=, which is for a single evaluation. Leave it None; on "
            "Ctrl-C, the seeds that have finished are kept."
        )


def _makes_models(models: Any) -> bool:
    """Whether a function was given in place of models."""
    return callable(models) and not isinstance(models, type) and not hasattr(models, "partial_fit")


def _results(task: _Task, seeds: Sequence[int], n_jobs: int | None) -> Generator[_Done]:
    """Evaluate on all seeds, here or in workers; yield what became of each when it has finished."""
    if min(effective_n_jobs(n_jobs), len(seeds)) < 2 or _is_small(task, seeds, n_jobs):
        for seed in seeds:
            yield _of_seed(task, seed)
        return
    parallel = QuietParallel(n_jobs=n_jobs)
    if parallel._backend.supports_return_generator:
        parallel = QuietParallel(n_jobs=n_jobs, return_as="generator_unordered")
    outcomes = parallel(delayed(_of_seed_in_worker)(task, seed) for seed in seeds)
    with closing(outcomes) if hasattr(outcomes, "close") else nullcontext():
        yield from outcomes


def _is_small(task: _Task, seeds: Sequence[int], n_jobs: int | None) -> bool:
    """Whether workers would not be faster."""
    try:
        stream = task.stream_of(seeds[0])
        new_run, models, _ = task.prepared(seeds[0], stream)
    except Exception:  # the first seed raises the same error, with its name
        return True
    return bool(why_one_process(n_jobs, new_run, models, stream, len(seeds)))


def _of_seed(task: _Task, seed: int) -> _Done:
    """Evaluate all models on one seed."""
    try:
        stream = task.stream_of(seed)
        new_run, models, header = task.prepared(seed, stream)
        with carrying(lambda _: None, stream):
            return _Done(seed, run_group(new_run, models, stream), header)
    except RAISED as error:
        error.add_note(
            f"This happened with seed {seed} of the study; the seeds that had finished "
            "are in the attribute 'result' of this error."
        )
        raise


def _of_seed_in_worker(task: _Task, seed: int) -> _Done:
    with portable_errors():
        return _of_seed(task, seed)


class _Study:
    """What has been done of each seed so far."""

    def __init__(self, seeds: Sequence[int], *, may_be_same: bool = False):
        self._seeds = seeds
        self._may_be_same = may_be_same
        self._results: dict[int, EvaluationResult] = {}
        self._by_rows: dict[Any, list[int]] = {}

    def take(self, done: _Done) -> None:
        """Take what became of a seed."""
        self._results[done.seed] = assemble(done.header, done.outcome)
        self._note_rows(done.seed, done.outcome)

    def _note_rows(self, seed: int, outcome: RunOutcome) -> None:
        """Note which rows a seed gave; warn, once, where another one gave the same."""
        if not outcome.n_rows:
            return
        known = self._same_streams
        same = self._by_rows.setdefault(outcome.rows_read, [])
        same.append(seed)
        if self._same_streams and not known and not self._may_be_same:
            warn(
                f"make_stream gave the same rows for the seeds {same[0]} and {same[1]}, so the "
                "study marks and compares no models. Make it use its seed, as in SEA(1000, "
                "random_state=seed)."
            )

    @property
    def _same_streams(self) -> tuple[tuple[int, ...], ...]:
        """Groups of seeds that gave the same rows, in the order of the seeds."""
        order = self._seeds.index
        groups = [sorted(same, key=order) for same in self._by_rows.values() if len(same) > 1]
        return tuple(tuple(same) for same in sorted(groups, key=lambda one: order(one[0])))

    def so_far(self, why: str = "") -> SeedStudy | None:
        """Return the study of the seeds that have finished; None: there is none."""
        finished = [seed for seed in self._seeds if seed in self._results]
        if not finished:
            return None
        return SeedStudy(
            seeds=tuple(finished),
            results=tuple(self._results[seed] for seed in finished),
            left_out={
                seed: f"it had not finished when {why}"
                for seed in self._seeds
                if seed not in finished
            },
            same_streams=self._same_streams,
        )


@dataclass(frozen=True, repr=False, eq=False)
class StreamStudy(StudyOfModels):
    """Results of the same models on several streams, each of one or several seeds.

    Streams are the blocks of tests: seeds of a stream are averaged, as more of them make its value
    more exact and are no more streams.

    Attributes
    ----------
    studies : dict of str to SeedStudy
        The study of each stream, by its name.

    See Also
    --------
    evaluate_over_streams : Makes it.
    """

    studies: dict[str, SeedStudy]

    def __post_init__(self) -> None:
        """Check that the studies can be compared."""
        self._check_alike(self.studies)

    @property
    def _first(self) -> SeedStudy:
        return next(iter(self.studies.values()))

    @property
    def stream_names(self) -> list[str]:
        """Names of the streams."""
        return list(self.studies)

    def rank(
        self,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        value: str = "last",
        **options: Any,
    ) -> FriedmanNemenyiResult:
        """Rank the models over the streams (Friedman, Nemenyi).

        Parameters
        ----------
        metric, forgetting : str, default=None
            Measure and mechanism; None: the first.
        models : str or sequence of str, default=None
            Models to rank; None: all. Leave out a reference such as the Bayes classifier.
        value : {"last", "mean"}, default="last"
            What is ranked of a curve: its last value, or the mean of its values.
        **options
            Passed to `skstream.stats.friedman_nemenyi`, such as ``alpha``.

        Returns
        -------
        result : FriedmanNemenyiResult
            Average ranks, the critical difference, and the groups that do not differ; its
            ``plot()`` draws them.

        Raises
        ------
        KeyError
            If there is no such model, measure or mechanism.
        ValueError
            If there are fewer than two models or different streams, a value is NaN, or it is
            unknown whether a higher value of the measure is better.
        """
        return self._tested(friedman_nemenyi, metric, forgetting, models, value, options)

    def compare(
        self,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        value: str = "last",
        **options: Any,
    ) -> BestModelResult:
        """Find the best model, and those not told from it by Wilcoxon's test over the streams.

        Parameters
        ----------
        metric, forgetting : str, default=None
            Measure and mechanism; None: the first.
        models : str or sequence of str, default=None
            Models to compare; None: all. Leave out a reference such as the Bayes classifier.
        value : {"last", "mean"}, default="last"
            What to compare: the last value of each curve, or the mean of its values.
        **options
            Passed to `skstream.stats.compare_with_best`, such as ``correction`` or ``alpha``.

        Returns
        -------
        result : BestModelResult
            The best, the p-values, and which models do not differ significantly from it.

        Raises
        ------
        KeyError
            If there is no such model, measure or mechanism.
        ValueError
            As of `rank`.
        """
        return self._tested(compare_with_best, metric, forgetting, models, value, options)

    def _tested(
        self,
        test: Callable[..., Any],
        metric: str | None,
        forgetting: str | None,
        models: str | Sequence[str] | None,
        value: str,
        options: dict[str, Any],
    ) -> Any:
        """Return what a test over the streams finds."""
        metric, forgetting = named(self._first.results[0], metric, forgetting)
        names = chosen(models, self.model_names, "model")
        if len(names) < 2:
            raise ValueError(f"At least two models are needed to test them. Got {names}.")
        results = [one for study in self.studies.values() for one in study.results]
        known = [k for k, study in enumerate(self.studies.values()) for _ in study.results]
        groups = of_each_stream(results, known)
        if len(groups) < 2:
            raise ValueError(
                "Tests over streams need at least two different streams. Got "
                f"{plural(len(self.studies), 'stream')}"
                f"{', which are the same' if len(self.studies) > 1 else ''}. Add other streams; "
                "to compare over the seeds of one stream, use its SeedStudy."
            )
        facts = self._first.results[0].measures[metric]
        options["higher_is_better"] = higher_is_better(metric, facts, options)
        of_streams = []
        for stream, study in self.studies.items():
            values = study._final(names, metric, forgetting, value)
            if bad := study._not_finite(values, names, f" of {stream}"):
                raise ValueError(
                    f"The {metric} of {bad}, which cannot be compared. Leave out this model with "
                    "models= (references= of a table), or this stream."
                )
            of_streams.append(values)
        each = np.concatenate(of_streams)
        table = np.array([each[group].mean(axis=0) for group in groups])
        found = test(table, names, **options)
        plain = value == "last" and forgetting == "cumulative"
        what = f"{metric}, over all rows of" if plain else self._words(metric, forgetting, value)
        subject = f"by {what}{'' if plain else ', over'} {len(groups)} streams"
        if len(groups) < len(self.studies):
            subject += f" (of {len(self.studies)} given, identical ones count once)"
        return replace(found, subject=subject, blocks="streams")

    def table(
        self,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        references: str | Sequence[str] = (),
        value: str = "last",
        alpha: float = 0.05,
    ) -> str:
        """Return scores and ranks as text: a line per stream, and the average ranks (Demšar).

        Parameters
        ----------
        metric, forgetting : str, default=None
            Measure and mechanism; None: the first.
        references : str or sequence of str, default=()
            Models that are shown and not ranked, such as the Bayes classifier.
        value : {"last", "mean"}, default="last"
            What stands for a curve: its last value, or the mean of its values.
        alpha : float, default=0.05
            Level of the test in the last sentence.

        Returns
        -------
        table : str
            Mean and standard deviation over the seeds of every stream, and in brackets the rank,
            of which 1 is best. Under it the sentence of `rank`, where models can be ranked.
        """
        title, header, rows, notes = self._parts_of_table(
            metric, forgetting=forgetting, references=references, value=value, alpha=alpha
        )
        return "\n".join([title, *aligned(header, rows), *notes])

    def to_latex(
        self,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        references: str | Sequence[str] = (),
        value: str = "last",
        alpha: float = 0.05,
        label: str | None = None,
    ) -> str:
        """Return `table` for a paper, for LaTeX's package booktabs.

        Parameters
        ----------
        metric, forgetting, references, value, alpha
            As of `table`.
        label : str, default=None
            What the table is referred to by: letters, digits, blanks and ``: . / + - _``.

        Returns
        -------
        str
            A ``table``, with the sentences below it as its caption. The best model of every stream,
            by its rank, is bold.

        Raises
        ------
        ValueError
            If LaTeX cannot read the label.
        """
        title, header, rows, notes = self._parts_of_table(
            metric, forgetting=forgetting, references=references, value=value, alpha=alpha
        )
        return latex_of_texts(header, rows, [f"{title}.", *notes], label)

    def _parts_of_table(
        self,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        references: str | Sequence[str] = (),
        value: str = "last",
        alpha: float = 0.05,
    ) -> tuple[str, list[str], list[list[str]], list[str]]:
        """Return the title of `table`, its header, its rows, and the sentences below it."""
        metric, forgetting = named(self._first.results[0], metric, forgetting)
        left = chosen(references, self.model_names, "model") if len(references) else []
        ranked = [name for name in self.model_names if name not in left]
        rows = []
        for stream, study in self.studies.items():
            final = study._final(self.model_names, metric, forgetting, value)
            means = dict(zip(self.model_names, final.mean(axis=0), strict=True))
            ranks = self._ranks([means[name] for name in ranked], metric)
            of_model = dict(zip(ranked, ranks, strict=True))
            cells = [
                _cell(values, of_model.get(name), same_rows=study._has_one_stream)
                for name, values in zip(self.model_names, final.T, strict=True)
            ]
            rows.append([stream, *cells, plural(study.n_seeds, "seed")])
        try:
            found = self.rank(
                metric, forgetting=forgetting, models=ranked, value=value, alpha=alpha
            )
            # Equal streams count once.
            average = {
                name: f"({one:.2f})" for name, one in zip(ranked, found.average_ranks, strict=True)
            }
            rows.append(["average rank", *(average.get(name, "") for name in self.model_names), ""])
            notes = [str(found)]
        except ValueError as error:
            notes = [f"Not ranked by a test: {error}"]
        answers = {name: last_answers(one.results[0]) for name, one in self.studies.items()}
        for words in dict.fromkeys(filter(None, answers.values())):
            late = ", ".join(name for name, one in answers.items() if one == words)
            notes.append(f"Labels are delayed in {late}: scores and ranks are those of {words}")
        if left:
            notes.append(f"not ranked: {', '.join(left)}")
        for stream, study in self.studies.items():
            notes += [f"{stream}: {line}" for line in study._left_out_words()]
        words = self._words(metric, forgetting, value)
        title = f"{words}: mean ± standard deviation over seeds (rank)"
        return title, ["stream", *self.model_names, ""], rows, notes

    def leaderboard(
        self,
        metric: str | None = None,
        *,
        models: str | Sequence[str] | None = None,
        alpha: float = 0.05,
    ) -> Leaderboard:
        """Say which models are certainly not the best over these streams, at any moment.

        Parameters
        ----------
        metric : str, default=None
            Measure that is the mean of a bounded loss of each row, such as accuracy, error, brier
            or log_loss; None: the first. A kappa is no such mean.
        models : str or sequence of str, default=None
            Models that compete; None: all. Leave out a reference such as the Bayes classifier.
        alpha : float, default=0.05
            Largest probability that any model is ever ruled out while it is the best, in (0, 1).

        Returns
        -------
        board : Leaderboard
            Losses, average ranks and evidence of all models; ``plot()`` draws which models
            could still be the best, along the streams.

        Raises
        ------
        KeyError
            If there is no such model or measure.
        ValueError
            If the measure is not the mean of a bounded loss, a result has no tape (evaluate with
            ``keep_tape=True``), scoring weights, several folds or sets of held-out rows, or fewer
            than two models are left. Models that failed are left out.

        Notes
        -----
        What is certified. All streams, and all their seeds, are read at the same pace: after the
        share p of the reading, the share p of the rows of each. The value of a model at that moment
        is the mean over the rows so far of the loss that was to be expected given everything
        before each row, where each stream weighs the same (and each seed the same within its
        stream). The best is the model with the smallest value at that moment; it may change.
        **With probability at least 1 - alpha no model is ruled out at a moment at which it is the
        best**, at all moments at once, whichever model is the best then and however often it
        changes, whatever drifts, and however rows depend on the past and models on each other.
        So the leaderboard may be looked at at any time, and the benchmark stopped.

        What is not certified: other streams than these (for them there is `rank`, which takes
        streams as a sample), the rows to come, what a model is worth now rather than over all rows
        so far, and which one of the others is better than a model that is ruled out. A model that
        was ruled out comes back where its later rows are good. Nor what another run would give:
        if errors come in bursts, models that are equal in the long run differ by their expected
        losses so far, and some are ruled out rightly.

        How. Let d be the loss of model i minus that of j in a row, times the row's weight as a part
        of the largest weight (a row of a short stream weighs more), S the sum of all d so far and
        V that of d**2. For d >= -1, ``exp(l S - psi(l) V)`` with ``psi(l) = -log(1 - l) - l`` is
        at most a supermartingale that starts at 1, as long as i is not worse than j (Fan et al.;
        Howard et al., Theorem 4); so is its mixture over l in (0, 1), and so is the mean of these
        mixtures over all j: the e-value against "i is the best". By Ville's inequality it reaches
        k / alpha with probability at most alpha / k at a moment at which i is the best, and any of
        the k models does with probability at most alpha. Were it known beforehand that one and the
        same model is the best at all moments, 1 / alpha would be enough; but which one is the best
        so far depends on the rows. The mean of the e-values of the pairs is never smaller than
        what a union bound over all k (k - 1) pairs takes of the largest.

        Streams and seeds that have the same labels, row by row, are no independent rows: of them
        the mean loss of each row is taken, as one row; of streams of which nine labels in ten are
        the same (one is the beginning of the other, or a generator has one seed and another
        length) the rows that both have. Other streams must share no rows. The number of rows of
        each stream counts as known beforehand.

        `benchmarks.verify_leaderboard` simulates the level with 100 models whose losses depend on
        each other and on their past.

        References
        ----------
        S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon. Time-uniform, nonparametric,
        nonasymptotic confidence sequences. Annals of Statistics 49, 2021, Theorem 4 and
        Proposition 9.
        X. Fan, I. Grama and Q. Liu. Exponential inequalities for martingales with applications.
        Electronic Journal of Probability 20, 2015.
        V. Vovk and R. Wang. E-values: calibration, combination and applications. Annals of
        Statistics 49, 2021, section 3 (means of dependent e-values).

        Examples
        --------
        >>> from skstream import MajorityClass, PrequentialEvaluator, RunOptions
        >>> from skstream import evaluate_over_streams
        >>> from skstream.naive_bayes import IncrementalGaussianNB
        >>> from skstream.streams import SEA, Sine
        >>> streams = {
        ...     "SEA": lambda seed: SEA(2000, random_state=seed),
        ...     "Sine": lambda seed: Sine(2000, random_state=seed + 100),
        ... }
        >>> models = {"bayes": IncrementalGaussianNB(), "majority": MajorityClass()}
        >>> evaluator = PrequentialEvaluator("accuracy", run=RunOptions(keep_tape=True))
        >>> study = evaluate_over_streams(streams, models, range(2), evaluator=evaluator)
        >>> study.leaderboard().possible
        ('bayes',)
        """
        return leaderboard(self.studies, metric, models, alpha)

    def to_frame(self) -> Any:
        """Return all values as a tidy data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns stream, model, forgetting, seed, row, metric, value: a row each.
        """
        pandas = optional_import("pandas", "to_frame()")
        frames = []
        for stream, study in self.studies.items():
            frame = study.to_frame()
            frame.insert(0, "stream", stream)
            frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def plot(self, metric: str | None = None, **options: Any) -> Any:
        """Draw the critical-difference diagram of the average ranks.

        Parameters
        ----------
        metric : str, default=None
            Measure; None: the first.
        **options
            ``forgetting``, ``models``, ``value`` and ``alpha`` are those of `rank`; the others of
            `skstream.plotting.CriticalDifferenceDisplay.plot`.

        Returns
        -------
        display : CriticalDifferenceDisplay
            The display, drawn.
        """
        of_rank = {
            name: options.pop(name)
            for name in ("forgetting", "models", "value", "alpha", "higher_is_better")
            if name in options
        }
        return self.rank(metric, **of_rank).plot(**options)

    def __repr__(self) -> str:
        return (
            f"StreamStudy({plural(len(self.studies), 'stream')}: "
            f"{', '.join(self.stream_names)}; {plural(len(self.model_names), 'model')}; see "
            "table(), rank(), compare(), plot(), to_frame(), to_latex(), save(), studies)"
        )

    def _ranks(self, values: Sequence[float], metric: str) -> np.ndarray:
        table = np.array([values])
        higher = self._first.results[0].measures[metric].higher_is_better
        if higher is None or not np.isfinite(table).all():
            return np.full(len(values), np.nan)
        (ranks,) = rank_rows(-table if higher else table)
        return np.asarray(ranks)

    def _words(self, metric: str, forgetting: str, value: str) -> str:
        return of_value(self._first.results[0], metric, forgetting, value)


def evaluate_over_streams(
    streams: Mapping[str, Any],
    models: Any,
    seeds: Iterable[int] = (0,),
    *,
    evaluator: StreamEvaluator | None = None,
    n_jobs: int | None = None,
    classes: Any = None,
) -> StreamStudy:
    """Evaluate models on several streams, each with several seeds, and rank them over the streams.

    Parameters
    ----------
    streams : dict of str to callable, stream or tuple
        By name: ``make_stream(seed)``, as for `evaluate_over_seeds`; or a stream that can be read
        again, or ``(X, y)``, whose rows are the same for all seeds: seeds then only affect the
        models and the protocol.
    models : estimator, list of estimators, dict of str to estimator, or callable
        As for `evaluate_over_seeds`.
    seeds : iterable of int, default=(0,)
        Seeds, without duplicates; the same for all streams.
    evaluator : evaluator, default=None
        How the models are evaluated; None: ``PrequentialEvaluator()``.
    n_jobs : int, default=None
        Number of workers, as for joblib; None: that of the evaluator.
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur, if the streams do not state them.

    Returns
    -------
    study : StreamStudy
        With the table of scores and ranks, the tests, and their plot.

    Raises
    ------
    ValueError
        If there are no streams, or a parameter, a stream or a seed is bad.
    ModelError
        If a model fails.
    EvaluationInterrupted
        On Ctrl-C; its `result` is the study of the finished streams, as is the ``result`` of other
        errors.

    References
    ----------
    Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research, 7, 1-30. Section 3.2.

    Examples
    --------
    >>> from skstream import MajorityClass, Persistent, evaluate_over_streams
    >>> from skstream.streams import SEA, STAGGER, Sine
    >>> streams = {
    ...     "SEA": lambda seed: SEA(300, random_state=seed),
    ...     "Sine": lambda seed: Sine(300, random_state=seed),
    ...     "STAGGER": lambda seed: STAGGER(300, random_state=seed),
    ... }
    >>> models = {"majority": MajorityClass(), "persistent": Persistent()}
    >>> study = evaluate_over_streams(streams, models, range(3))
    >>> study.rank("accuracy").n_blocks
    3
    """
    if not isinstance(streams, Mapping) or not streams:
        raise ValueError(
            "streams must be a dict of at least one stream, or function of a seed, by name. Got "
            f"{'an empty ' if not streams else ''}{type(streams).__name__} instead."
        )
    seeds = checked_seeds(seeds)
    done: dict[str, SeedStudy] = {}

    def so_far() -> StreamStudy | None:
        return StreamStudy(dict(done)) if done else None

    for name, stream in streams.items():
        make: Callable[[int], Any] = stream if _is_function(stream) else SameStream(stream)
        try:
            done[name] = evaluate_over_seeds(
                make, models, seeds, evaluator=evaluator, n_jobs=n_jobs, classes=classes
            )
        except KeyboardInterrupt as interrupt:
            raise EvaluationInterrupted(so_far()) from interrupt
        except Exception as error:
            error.add_note(f"This happened with the stream {name!r} of the study.")
            error.result = so_far()  # type: ignore[attr-defined]
            raise
    return StreamStudy(done)


def _is_function(stream: Any) -> bool:
    """Whether a function of the seed was given in place of a stream."""
    return callable(stream) and not hasattr(stream, "chunks")


def _cell(values: np.ndarray, rank: float | None, *, same_rows: bool) -> str:
    spread = f" ± {values.std(ddof=1):z.4f}" if len(values) > 1 else ""
    if spread and same_rows and (values == values[0]).all():
        spread = ", same rows"
    of_rank = "" if rank is None or np.isnan(rank) else f" ({rank:g})"
    return f"{values.mean():z.4f}{spread}{of_rank}"
