"""Results: scores over the stream, the tape of answers, and the costs of models.

`assemble` makes them from the outcomes of runs, in this process or in workers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import not_
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import Bunch

from skstream.core.forgetting import Forgetting
from skstream.core.measures.checkpoints import Curves
from skstream.core.measures.measure import Measure
from skstream.core.result.select import (
    as_passed,
    cost_columns,
    curve_of_one,
    end_at_failures,
    final_value,
    mean_of_curves,
    named,
    number,
    pick,
    rescored,
    select,
    tidy_columns,
    warn_of_cautions,
    with_scores,
)
from skstream.core.rows.stream import Drift
from skstream.core.run.input import why_no_weight
from skstream.core.run.run_outcome import Cost, ResultHeader, RunOutcome
from skstream.core.run.tape import Tape, ValuesByModel, fold_columns, tape_of
from skstream.utils._choices import did_you_mean
from skstream.utils._optional import display, optional_import, report
from skstream.utils._saved import NOT_SAVED, save_npz
from skstream.utils._warnings import warn


@dataclass(frozen=True, kw_only=True)
class ResultDetails:
    """What a result notes of the evaluation for its own methods, tables and plots.

    Attributes
    ----------
    mechanisms : dict of str to str
        Name of each mechanism, such as "window:1000".
    baselines : tuple of str
        Names of the models that are naive baselines.
    scored_sets : str
        "holdout rows", where rows are scored in sets, each on its own; empty where scores are
        running means.
    selected_folds : tuple of int or None
        The folds that are left, where `select` left some out, or the evaluation ended before the
        others had finished; None: all.
    unlabelled_held_out : tuple of two int, or None
        Held-out rows that came without a label and were not scored, and all held-out rows that
        were predicted, each counted once; None if no rows were held out.
    why_no_tape : str
        Why there is no tape, where its files are gone.
    labels_read : str
        Fingerprint of the labels of all rows, by which `rank` knows results of the same stream;
        empty in files of earlier versions.
    generator : str
        Which generator made the stream, whatever its seed; empty if none did.
    record : dict
        By what the result can be checked, with `skstream.evaluation.verify`: ``versions``,
        ``platform``, ``models`` (class and parameters of each), ``timelines`` and ``stream`` (rows,
        columns, types, and checksums of features and labels). Empty in files of earlier versions.
    """

    mechanisms: dict[str, str] = field(default_factory=dict)
    baselines: tuple[str, ...] = ()
    scored_sets: str = ""
    selected_folds: tuple[int, ...] | None = None
    unlabelled_held_out: tuple[int, int] | None = None
    why_no_tape: str = ""
    labels_read: str = ""
    generator: str = ""
    record: dict[str, Any] = field(default_factory=dict)


#: What is looked for on a result, and where it is.
_ELSEWHERE = {
    **{f"{test}_test": f' Use compare("a", "b", test="{test}").' for test in ("sign", "mcnemar")},
    **{test: f' Use compare("a", "b", test="{test}").' for test in ("wilcoxon", "mcnemar")},
    "q_statistic": ' Use compare("a", "b", test="q"), with fold=0 if there are folds.',
    **dict.fromkeys(("friedman", "friedman_nemenyi"), ' Use compare(test="friedman").'),
    **dict.fromkeys(("summary", "table"), " Print the result, or use report()."),
    **dict.fromkeys(("to_dataframe", "to_pandas"), " Use to_frame()."),
    **dict.fromkeys(("best", "ranking"), " Use rank()."),
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EvaluationResult:
    """Result of an evaluation. Immutable; can be printed, plotted and saved.

    Attributes
    ----------
    protocol : str
        How the models were evaluated, e.g. "prequential".
    checkpoints : ndarray of shape (n_checkpoints,), dtype int64
        Rows of the stream seen at every checkpoint; the last row is always one.
    times : ndarray of shape (n_checkpoints,), dtype datetime64[us] or float64, or None
        Time of each checkpoint: that of its row, or under ``record_every="1D"``, the end of the
        day. None if the stream has no arrival times, or nothing counts time.
    values : dict
        ``values[model][forgetting][metric]``: ndarray of shape (n_checkpoints, n_folds) (and n_bins
        + 2 with delayed labels), NaN if nothing was scored yet or the measure is undefined.
    measures : dict of str to Measure
        Properties of each measure: its canonical name, whether a higher value is better, whether 0
        is the value of a naive guess, and its bounds.
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; None for regression.
    tape : Tape or None
        Labels and predictions, if they were kept.
    costs : dict of str to Cost
        Time and size per model.
    paths : dict of str to str
        How each model was executed: "kernel", "loop", or "kernel and loop"; after a colon, why no
        kernel was used, or why it was not compiled: "loop: SGDClassifier with average=True has no
        kernel".
    models : dict or None
        Fitted copies by model, if requested (a list of them for several folds); None for a model
        that could not be copied or sent back by a worker, after a warning.
    failures : dict of str to str
        Error message per failed model. Its predictions and scores up to the failure are kept; later
        scores are ``error_score``.
    failed_at : dict of str to list of (int or None)
        Per failed model and fold, the number of rows (with delayed labels, of labels) before the
        failure; None for a fold that did not fail.
    left_out : dict of str to str
        Models missing from this result because the evaluation ended before they had finished, with
        the reason.
    n_unanswered : dict of str to int
        Per model, the number of missing predictions (None or NaN), over all folds. Not a number of
        rows: with delayed labels, a row is predicted several times.
    n_unlabelled : int
        Rows that came without a label and, with ``missing_labels="skip"``, were neither scored nor
        used for training; 0 with delayed labels, where ``waits.n_never`` counts them.
    parameters : dict
        The evaluator's parameters, and the seed that was used.
    drifts : tuple of Drift
        Known drifts of the stream, in the rows of `checkpoints`: a value at a checkpoint up to
        ``drift.start`` is about the concept before. Empty if unknown, as in live runs.
    details : ResultDetails
        Further facts used by methods, tables and plots: ``mechanisms``, ``baselines``,
        ``unlabelled_held_out`` and others.
    """

    protocol: str
    checkpoints: np.ndarray
    values: ValuesByModel
    times: np.ndarray | None = None
    measures: dict[str, Measure] = field(default_factory=dict)
    classes: np.ndarray | None = None
    tape: Tape | None = None
    costs: dict[str, Cost] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    models: dict[str, Any] | None = field(default=None, metadata=NOT_SAVED)
    failures: dict[str, str] = field(default_factory=dict)
    failed_at: dict[str, list[int | None]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    n_unanswered: dict[str, int] = field(default_factory=dict)
    n_unlabelled: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    drifts: tuple[Drift, ...] = ()
    details: ResultDetails = field(default_factory=ResultDetails)

    @property
    def n_rows(self) -> int:
        """Rows of the stream seen at the last checkpoint; 0 before the first.

        In a holdout evaluation, there may be training rows after it.
        """
        return int(self.checkpoints[-1]) if len(self.checkpoints) else 0

    @property
    def model_names(self) -> list[str]:
        """Names of the models."""
        return list(self.values)

    @property
    def forgetting_names(self) -> list[str]:
        """Names of the forgetting mechanisms."""
        return list(next(iter(self.values.values())))

    @property
    def metric_names(self) -> list[str]:
        """Names of the measures."""
        return list(self.values[self.model_names[0]][self.forgetting_names[0]])

    @property
    def _error_score(self) -> float:
        """Score of a model from its failure on; NaN where a failure ended the evaluation."""
        score = self.parameters.get("error_score", np.nan)
        return float("nan") if score == "raise" else float(score)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.curve(self.model_names[0]).shape[1])

    @property
    def folds(self) -> tuple[int, ...]:
        """Numbers of the folds, from 0; fewer if `select` left some out."""
        selected = self.details.selected_folds
        return tuple(range(self.n_folds)) if selected is None else selected

    @property
    def n_bins(self) -> int | None:
        """Number of bins between arrival and label; None if this result has no bins."""
        return None

    @property
    def bins(self) -> tuple[int, ...] | None:
        """Numbers of the bins with delayed labels; None if this result has no bins."""
        return None

    def __getattr__(self, name: str) -> Any:
        """Say by what other name that is which is looked for."""
        hint = _ELSEWHERE.get(name) or did_you_mean(name, dir(type(self)))
        if name in vars(self).get("measures", ()):
            hint = f" Use scores, as in result.scores[model][{name!r}]."
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.{hint}")

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """Final value by model and measure, under the first mechanism.

        A measure is also an attribute: ``scores["sgd"].kappa_temporal``.

        This is the mean over folds, and with delayed labels the value of the last bin. For others:
        ``result.select(forgetting="recent", bins=0).scores``.
        """
        forgetting = self.forgetting_names[0]
        return {
            model: Bunch(
                **{
                    metric: final_value(curve)
                    for metric, curve in by_forgetting[forgetting].items()
                }
            )
            for model, by_forgetting in self.values.items()
        }

    @property
    def mean_scores(self) -> dict[str, dict[str, float]]:
        """Mean of each curve over the stream, by model and measure, under the first mechanism.

        With a window or fading factor, `scores` describe only the newest rows, and these means the
        whole stream: all checkpoints at which every model has a value. NaN for a model that failed.
        """
        forgetting = self.forgetting_names[0]
        ended = np.array([name in self.failures for name in self.values])
        means = {
            metric: mean_of_curves(
                np.array([curve_of_one(its[forgetting][metric]) for its in self.values.values()]),
                ended,
            ).tolist()
            for metric in self.metric_names
        }
        return {
            model: Bunch(**{metric: of_metric[position] for metric, of_metric in means.items()})
            for position, model in enumerate(self.values)
        }

    def select(
        self,
        *,
        models: str | Sequence[str] | None = None,
        metrics: str | Sequence[str] | None = None,
        forgetting: str | Forgetting | Sequence[str | Forgetting] | None = None,
        folds: int | Sequence[int] | None = None,
        bins: int | Sequence[int] | None = None,
    ) -> Self:
        """Return a result with only some models, measures, mechanisms, folds or bins.

        Parameters
        ----------
        models, metrics, forgetting : str or sequence of str, default=None
            Names of the models, measures and forgetting mechanisms to keep, in this order: the
            first ones are the defaults of every method. A mechanism may be given instead of its
            name. None: all.
        folds : int or sequence of int, default=None
            Numbers of the folds to keep; they keep their numbers. None: all.
        bins : int or sequence of int, default=None
            Numbers of the bins to keep, with delayed labels; they keep their numbers, and `scores`
            are those of the last one. None: all.

        Returns
        -------
        result : EvaluationResult
            The selected part, on which every method works; nothing is recomputed. Costs and counts
            of predictions remain those of all folds.

        Raises
        ------
        KeyError
            If there is no such model, measure or mechanism.
        TypeError
            If anything but names was given.
        ValueError
            If there is no such fold or bin, or a selection is empty.

        Examples
        --------
        >>> from skstream import MajorityClass, Persistent, PrequentialEvaluator
        >>> from skstream.streams import make_demo_stream
        >>> evaluator = PrequentialEvaluator(
        ...     forgetting={"all": "cumulative", "recent": "window:50"}
        ... )
        >>> models = {"last": Persistent(), "majority": MajorityClass()}
        >>> result = evaluator.evaluate(models, make_demo_stream(200))
        >>> result.select(models="last", metrics=["kappa", "accuracy"], forgetting="recent").scores
        {'last': {'kappa': 0.64..., 'accuracy': 0.84}}
        """
        return select(self, models, metrics, forgetting, folds, bins)

    def curve(
        self, model: str, metric: str | None = None, *, forgetting: str | None = None
    ) -> np.ndarray:
        """Return the values of one measure of one model at the checkpoints.

        Parameters
        ----------
        model : str
            Name of the model.
        metric : str, default=None
            Name of the measure; None: the first.
        forgetting : str, default=None
            Name of the mechanism; None: the first.

        Returns
        -------
        values : ndarray of shape (n_checkpoints, n_folds)
            Values at the ``checkpoints``.
        """
        by_forgetting = pick(self.values, model, "model")
        metric, forgetting = named(self, metric, forgetting)
        return by_forgetting[forgetting][metric]

    def to_frame(self) -> Any:
        """Return all values as a tidy data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns model, forgetting, fold, row, metric, value: one row per value. After row there
            is time, if there are `times`.
        """
        pandas = optional_import("pandas", "to_frame()")
        return pandas.DataFrame(tidy_columns(self))

    def costs_to_frame(self) -> Any:
        """Return the costs along the stream as a tidy data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns model, fold, row, seconds, size: one row per checkpoint. After row there is
            time, if there are `times`. ``seconds`` is the time spent in the model so far. It is
            measured at the ends of steps of about a fifth of a second each, and interpolated by
            rows in between. ``size`` is the latest measured size in bytes, NaN before the first:
            the model is pickled to measure it, which happens only when the number of rows has
            doubled (from 1,024 on) and at the end; for models of other libraries only at the end.

        Raises
        ------
        ValueError
            If costs are not known, as in files of earlier versions.
        """
        pandas = optional_import("pandas", "costs_to_frame()")
        return pandas.DataFrame(cost_columns(self))

    def rescore(
        self,
        metrics: Any = None,
        *,
        forgetting: Any = "cumulative",
        record_every: Any = None,
    ) -> Self:
        """Score the tape with other measures or forgetting, without running the models again.

        Parameters
        ----------
        metrics : str, callable, list or dict, default=None
            As for the evaluator; None: the standard measures.
        forgetting : str, Forgetting, list or dict, default="cumulative"
            As for the evaluator.
        record_every : int, str or timedelta, default=None
            As for the evaluator.

        Returns
        -------
        result : EvaluationResult
            The same predictions with new scores.

        Raises
        ------
        ValueError
            If no tape was kept.
        """
        result = with_scores(self, **rescored(tape_of(self), metrics, forgetting, record_every))
        warn_of_cautions(result)
        return result

    def _why_nothing_scored(self) -> str:
        """Return why no row was scored; an empty text if a row was, or may still be, scored."""
        if self._has_no_weight:
            return why_no_weight(self.n_rows)
        n_warmup = self.parameters.get("n_warmup", 0)
        scored_sets = self.details.scored_sets
        if scored_sets and not len(self.checkpoints):
            given = ("n_warmup", "every")
            needed = as_passed({n: self.parameters[n] for n in given if n in self.parameters})
            return f"there were fewer rows than the warm-up and a whole set need ({needed})."
        if scored_sets or not 0 < self.n_rows <= n_warmup:
            return ""
        first = "row is" if n_warmup == 1 else f"{n_warmup:,} rows are"
        return (
            f"the first {first} used only for training (n_warmup), but only {self.n_rows:,} came."
        )

    @property
    def _has_no_weight(self) -> bool:
        """Whether every weight was 0, as far as the tape tells."""
        weight = None if self.tape is None else self.tape.weight
        return weight is not None and len(weight) > 0 and not weight.any()

    def predictions(self, model: str, *, fold: int | None = None, every_row: bool = False) -> Any:
        """Return a model's predictions, and the numbers of their rows.

        Parameters
        ----------
        model : str
            Name of the model.
        fold : int, default=None
            Fold; None: the first.
        every_row : bool, default=False
            Return only the predictions, one for each row.

        Returns
        -------
        rows : ndarray of shape (n_answered,), dtype int
            Numbers of the rows in the stream: ``y[rows]`` are their labels. For a holdout
            evaluation, whose sets may share rows, positions in ``tape.y``. Rows without a
            prediction are left out, even if that counts as an error; predicted rows without a label
            are included.
        y_pred : ndarray of shape (n_answered,), or (n_rows,) with `every_row`
            Predicted labels, of the type of the labels, or targets. With `every_row`, rows without
            a prediction have None or NaN, and labels are objects if there are such rows.

        Examples
        --------
        >>> from sklearn.metrics import accuracy_score
        >>> from skstream import Persistent, PrequentialEvaluator
        >>> y = ["a", "a", "b", "b"]
        >>> result = PrequentialEvaluator().evaluate(Persistent(), [[0], [0], [0], [0]], y)
        >>> rows, answers = result.predictions("Persistent")
        >>> rows.tolist(), answers.tolist()
        ([1, 2, 3], ['a', 'a', 'b'])
        >>> round(accuracy_score([y[row] for row in rows], answers), 3)
        0.667
        """
        tape = tape_of(self)
        position = self._position_on_tape(model, fold)
        return tape.predictions(model, position) if every_row else tape.answered(model, position)

    def _position_on_tape(self, model: str, fold: int | None) -> int:
        """Position of a fold in the answers of a model, both checked."""
        pick(tape_of(self).answers, model, "model")
        return 0 if fold is None else self.folds.index(number(fold, self.folds, "fold"))

    def compare(
        self,
        a: str | None = None,
        b: str | None = None,
        test: str = "auto",
        *,
        metric: str | Measure | None = None,
        forgetting: str | Forgetting | None = None,
        at: int | None = None,
        since: int | None = None,
        fold: int | None = None,
        bin: int | None = None,
        over_time: bool = False,
        **options: Any,
    ) -> Any:
        """Test whether two models differ, or any of them: ``compare(test="friedman")``.

        Parameters
        ----------
        a, b : str, default=None
            Names of the models; None, only with ``test="friedman"``: all models. Choose them before
            you look at the scores: testing the best of several because it is the best finds it
            better too often. Use `rank` for several models, or divide ``alpha`` by the number of
            pairs.
        test : {"auto", "wilcoxon", "sign", "friedman", "anytime", "mcnemar", "q"}, default="auto"
            "wilcoxon" and "sign" compare the values of `metric` over folds; so does "friedman", for
            any number of models, as in `rank`. The others compare losses row by row: "anytime"
            remains valid however often you look at the result. "auto" is "wilcoxon" for several
            folds and "anytime" for one (that of `fold`, if given).
        metric : str or Measure, default=None
            Measure; None: the first. Tests over rows use its loss per row: 0/1 for accuracy and
            error, the log loss for log_loss, the Brier score for brier, absolute or squared errors
            for mae, mse and rmse. A named measure without such a loss is an error. If no measure is
            given and the first one has no such loss, they use the 0/1 loss (for regressors the
            absolute error), and the statement says so. To compare costs, pass the measure itself,
            ``metric=cost(matrix)``, since results do not keep the matrix.
        forgetting : str or Forgetting, default=None
            Mechanism of the result; None: the first. "q" and "mcnemar" accept any other one too,
            such as ``"window:1000"``; "anytime" compares all rows so far, and other mechanisms are
            an error.
        at : int, default=None
            Use only the rows up to this one, at least 1. Tests over folds use the last checkpoint
            not after it; the statement names that row.
        since : int, default=None
            Use only the rows from this one on, counted from 1, in the tests over rows. Choose it
            before you look at the results, for example the row of a known drift: the test is
            invalid if the row was chosen because a model is ahead from there on.
        fold : int, default=None
            Fold for tests over rows.
        bin : int, default=None
            Bin for tests over rows with delayed labels; None: the last.
        over_time : bool, default=False
            Whether a test over rows also returns its statistic over the stream, to be drawn by
            `ComparisonDisplay`: for "mcnemar", a `McNemarCurve` even if nothing is forgotten; "q"
            and "anytime" always do. Its checkpoints count the compared rows. Tests over folds
            compare at one row.
        **options
            Passed to the function of `skstream.stats`, such as ``alpha``. Log losses are at most
            36.04; ``bounds=(0, 5)`` clips them at 5, which gives "anytime" more power.
            ``boundary="asymptotic"``, the default for errors of regressors without ``bounds``,
            accepts unbounded losses, and is valid for many rows if the mean is not dominated by a
            few large losses.

        Returns
        -------
        result : frozen result of `skstream.stats`
            For example WilcoxonResult; prints a quotable sentence that names measure, forgetting,
            rows and folds (its `subject`).

        Raises
        ------
        KeyError
            If there is no such model, measure or (in the tests over folds) mechanism.
        ValueError
            If the test is unknown or does not fit the other parameters, if it is unknown whether a
            higher value of the measure is better, or if no tape was kept for a test over rows.
        """
        return report("compare", "compare")(
            self, a, b, test, metric, forgetting, at, since, fold, bin, over_time, options
        )

    def rank(
        self,
        *others: "EvaluationResult",
        metric: str | None = None,
        forgetting: str | None = None,
        at: int | None = None,
        bin: int | None = None,
        **options: Any,
    ) -> Any:
        """Rank the models over folds, or over several streams (Friedman, Nemenyi).

        Parameters
        ----------
        *others : EvaluationResult
            Results of the same models on other streams, evaluated in the same way. Without any:
            rank over the folds. Results of the same stream (identical labels), or of the same
            generator with other seeds, are averaged into one block.
        metric, forgetting : str, default=None
            Measure and mechanism; None: the first measure, the first mechanism.
        at : int, default=None
            Use the last checkpoint not after this row, at least 1.
        bin : int, default=None
            Bin with delayed labels; None: the last.
        **options
            Passed to `skstream.stats.friedman_nemenyi`, such as ``alpha``.

        Returns
        -------
        result : FriedmanNemenyiResult
            Average ranks, the critical difference, and the groups that do not differ.

        Raises
        ------
        KeyError
            If there is no such measure or mechanism.
        ValueError
            If there is only one model, or one fold and no other result; if the results have
            different models or measures, are all of the same stream, contain one twice, or differ
            in protocol parameters; or if it is unknown whether a higher value of the measure is
            better.
        """
        return report("compare", "rank")([self, *others], metric, forgetting, at, bin, options)

    def plot(self, metric: str | None = None, **options: Any) -> Any:
        """Plot a measure over the stream.

        Parameters
        ----------
        metric : str, default=None
            Measure; None: the first one of the scores.
        **options
            Passed to the display's ``from_result``, such as ``models``, ``drifts``, ``ax``,
            ``legend`` or properties of the lines.

        Returns
        -------
        display : PrequentialDisplay, or FoldDisplay for several folds
            With attributes ``ax_``, ``figure_``, ``lines_`` and ``legend_``.
        """
        name = "FoldDisplay" if self.n_folds > 1 else "PrequentialDisplay"
        return display(name).from_result(self, metric, **options)

    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        also: Sequence[Any] = (),
        alpha: float = 0.05,
        detections: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write a self-contained HTML page for readers without Python.

        The conclusion comes first: which model has the best score by the first measure, by how
        much, compared with which naive baseline, and how certain that is. Then scores, plots, tests
        in sentences, alarms, warnings, costs, the stream, settings and versions. Without matplotlib
        the page has no plots and says so, and there is a warning.

        Parameters
        ----------
        path : str or Path
            File to write; ``.html`` is appended unless its suffix is ``.html`` or ``.htm``.
        title : str, default=None
            Heading; None: the protocol.
        also : sequence of results, default=()
            Further results to show, such as slices, comparisons or class reports: their printed
            form and their ``plot()``.
        alpha : float, default=0.05
            Level of the tests of the best model against the others, in (0, 1), for all pairs of
            models together, because the best is chosen by the very scores that are tested. Over
            rows, each pair is tested at `alpha` divided by the number of pairs; over folds,
            p-values have Holm's correction.
        detections : dict of str to dict of str to Detections, default=None
            Drift alarms from `detect`, shown in the plots and in a table.

        Returns
        -------
        path : Path
            The file written.

        Raises
        ------
        TypeError
            If `also` is not a list.
        ValueError
            If `alpha` is not in (0, 1).

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from skstream import MajorityClass, Persistent, PrequentialEvaluator
        >>> from skstream.streams import make_demo_stream
        >>> models = {"last": Persistent(), "majority": MajorityClass()}
        >>> result = PrequentialEvaluator("accuracy").evaluate(models, make_demo_stream(200))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(Path(folder, "report")).name
        'report.html'
        """
        return report("page", "write_page")(
            self, path, title=title, also=also, alpha=alpha, detections=detections or {}
        )

    def to_markdown(self, *, digits: int = 4) -> str:
        """Return the scores as a Markdown table, with the best in bold and baselines marked.

        Parameters
        ----------
        digits : int, default=4
            Digits after the point. Scores that look equal when rounded are both best.

        Returns
        -------
        str
            A table for the first mechanism, with standard deviations if there are several folds,
            and a sentence that explains the numbers.

        Raises
        ------
        ValueError
            If `digits` is not a whole number of at least 0.

        Examples
        --------
        >>> from skstream import MajorityClass, Persistent, PrequentialEvaluator
        >>> from skstream.streams import make_demo_stream
        >>> models = {"last": Persistent(), "majority": MajorityClass()}
        >>> result = PrequentialEvaluator("accuracy").evaluate(models, make_demo_stream(200))
        >>> print(result.to_markdown())
        | model | accuracy |
        |---|---:|
        | last *(naive guess)* | **0.8744** |
        | majority *(naive guess)* | 0.5377 |
        <BLANKLINE>
        Prequential evaluation after 200 rows.
        <BLANKLINE>
        """
        return str(report("paper_tables", "to_markdown")(self, digits))

    def to_latex(self, *, digits: int = 4, label: str | None = None) -> str:
        """Return the scores as a LaTeX table for a paper, with the package booktabs.

        Parameters
        ----------
        digits : int, default=4
            Digits after the point. Scores that look equal when rounded are both best.
        label : str, default=None
            Label for references to the table: letters, digits, blanks and ``: . / + - _``.

        Returns
        -------
        str
            A ``table`` as in `to_markdown`, with the sentence as its caption.

        Raises
        ------
        ValueError
            If LaTeX cannot read the label, or `digits` is not a whole number of at least 0.
        """
        return str(report("paper_tables", "to_latex")(self, digits, label))

    def save(self, path: str | Path) -> Path:
        """Save as plain data: one NPZ file without pickles, read by `skstream.load`.

        Fitted models are not saved. A tape on disk is copied into the file.

        Parameters
        ----------
        path : str or Path
            File to write; ``.npz`` is appended if it has no suffix.

        Returns
        -------
        path : Path
            The file written.
        """
        return save_npz(path, self)

    def __repr__(self) -> str:
        return str(report("report", "one_line")(self))

    def __str__(self) -> str:
        return str(report("report", "table")(self))

    def _repr_html_(self) -> str:
        return str(report("paper_tables", "html")(self))


def assemble(
    header: ResultHeader,
    outcome: RunOutcome,
    *,
    so_far: bool = False,
    left_out: Mapping[str, str] | None = None,
    folds: tuple[int, ...] | None = None,
) -> EvaluationResult:
    """Make a result from the outcome of a run, or of several joined.

    Parameters
    ----------
    header : ResultHeader
        Facts of the evaluation.
    outcome : RunOutcome
        Its lanes, in order, are all models and folds.
    so_far : bool, default=False
        Whether an error ended the evaluation: then there are no further warnings.
    left_out : dict of str to str, default=None
        Models that are not in the outcome, and the reason.
    folds : tuple of int, default=None
        The folds that are in the outcome, if not all are.

    Returns
    -------
    result : EvaluationResult
        The result; a `DelayedResult` where rows waited for their labels.
    """
    kind: type[EvaluationResult] = EvaluationResult
    further: dict[str, Any] = {}
    if outcome.waits is not None:
        from skstream.core.evaluators.delayed import DelayedResult

        kind, further = DelayedResult, {"waits": outcome.waits}
    curves: dict[str, list[Curves]] = {}
    costs: dict[str, Cost] = {}
    paths: dict[str, str] = {}
    fitted: dict[str, Any] = {}
    failures: dict[str, str] = {}
    failed_at: dict[str, list[int | None]] = {}
    n_unanswered: dict[str, int] = {}
    lost: list[str] = []
    for lane in outcome.lanes:
        name = lane.name
        curves.setdefault(name, []).append(lane.curves)
        costs[name] = costs.get(name, Cost()) + lane.cost
        paths.setdefault(name, lane.path)
        fitted.setdefault(name, []).append(lane.estimator)
        failed_at.setdefault(name, []).append(lane.n_valid)
        n_unanswered[name] = n_unanswered.get(name, 0) + lane.n_unanswered
        lost += lane.lost
        if lane.failure is not None:
            failures.setdefault(name, lane.failure)
    for name in curves:
        if name not in failures:
            del failed_at[name]
        if len(fitted[name]) == 1:
            (fitted[name],) = fitted[name]
    first = outcome.lanes[0].curves
    read = {} if so_far else outcome.read
    result = kind(
        protocol=header.protocol,
        checkpoints=first.checkpoints,
        times=first.times,
        values=fold_columns(curves),
        measures=dict(header.measures),
        classes=header.classes,
        tape=_joined_tape(header, outcome),
        costs=costs,
        paths=paths,
        models=fitted if header.parameters.get("return_models") else None,
        failures=failures,
        failed_at=failed_at,
        n_unanswered=n_unanswered,
        n_unlabelled=outcome.n_unlabelled,
        drifts=outcome.drifts,
        parameters=header.parameters,
        left_out=dict(left_out or {}),
        details=ResultDetails(
            mechanisms=header.mechanisms,
            baselines=header.baselines,
            scored_sets=header.scored_sets,
            selected_folds=folds,
            unlabelled_held_out=outcome.unlabelled_held_out,
            labels_read=outcome.labels_read,
            generator=header.generator,
            record=header.record_of(outcome.n_rows, outcome.columns, read),
        ),
        **further,
    )
    if failed_at:
        end_at_failures(result)
    if not so_far:
        try:
            # Without survivors the error is message enough.
            why = failures.values() if header.survives else ()
            for message in [*why, *failed_refits(result)]:
                warn(message, FitFailedWarning)
            for message in dict.fromkeys(lost):
                warn(message)
            warn_of_cautions(result)
        except Warning as warning:  # where the user makes errors of warnings
            warning.result = result  # type: ignore[attr-defined]
            warning.add_note("The result is in the attribute 'result' of this error.")
            raise
    return result


def _joined_tape(header: ResultHeader, outcome: RunOutcome) -> Tape | None:
    """Return the tape, if all models have one."""
    answers: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    methods: dict[str, str] = {}
    for lane in outcome.lanes:
        if lane.answers is None or outcome.labels is None:
            return None
        answers.setdefault(lane.name, []).append(lane.answers)
        scores.setdefault(lane.name, []).append(lane.scores)
        if lane.scores is not None:
            methods.setdefault(lane.name, str(lane.method))
    for name, folds in answers.items():
        answers[name] = np.stack(folds)
        beside = scores.pop(name)
        if name in methods:
            nothing = np.full_like(next(scored for scored in beside if scored is not None), np.nan)
            scores[name] = np.stack([nothing if scored is None else scored for scored in beside])
    return Tape(
        **(outcome.labels or {}),
        classes=header.classes,
        answers=answers,
        scores=scores,
        methods=methods,
    )


def failed_refits(result: "EvaluationResult") -> list[str]:
    """Say which models have a refit that failed, and which were never refitted."""
    lines = []
    for name, cost in result.costs.items():
        n, folds = cost.n_failed_refits, cost.refit_rows
        if n:
            many = "A refit" if n == 1 else f"{n:,} refits"
            which = "" if n == 1 else "the last: "
            lines.append(
                f"{many} of {name} failed, and the previous model stayed in use: "
                f"{which}{cost.failed_refit}"
            )
        never = sum(map(not_, folds))
        if never:
            where = "" if len(folds) == 1 else f" in {never} of {len(folds)} folds"
            lines.append(
                f"{name} was never refitted{where}: its initial model made all predictions. Use "
                "fewer rows between refits (every=, min_rows=) or more rows."
            )
    return lines
