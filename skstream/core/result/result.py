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
        were asked about, each counted once; None where no rows were held out.
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
    **{f"{one}_test": f' Use compare("a", "b", test="{one}").' for one in ("sign", "mcnemar")},
    **{one: f' Use compare("a", "b", test="{one}").' for one in ("wilcoxon", "mcnemar")},
    "q_statistic": ' Use compare("a", "b", test="q"), with fold=0 where there are folds.',
    **dict.fromkeys(("friedman", "friedman_nemenyi"), ' Use compare(test="friedman").'),
    **dict.fromkeys(("summary", "table"), " Print the result, or use report()."),
    **dict.fromkeys(("to_dataframe", "to_pandas"), " Use to_frame()."),
    **dict.fromkeys(("best", "ranking"), " Use rank()."),
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EvaluationResult:
    """Result of an evaluation: immutable, can be printed, plotted and saved.

    Attributes
    ----------
    protocol : str
        How the models were evaluated, e.g. "prequential".
    checkpoints : ndarray of shape (n_checkpoints,), dtype int64
        Rows of the stream seen at every checkpoint; the last row is always one.
    times : ndarray of shape (n_checkpoints,), dtype datetime64[us] or float64, or None
        Time of each checkpoint: that of its row, or under ``record_every="1D"``, the end of the
        day. None where the stream does not say when rows came, or nothing counts time.
    values : dict
        ``values[model][forgetting][metric]``: ndarray of shape (n_checkpoints, n_folds) (and
        n_bins + 2 under delayed labels), NaN where nothing was scored yet or the measure is
        undefined.
    measures : dict of str to Measure
        Properties of each measure: its canonical name, whether a higher value is better, whether 0
        is the value of a naive guess, and its bounds.
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; None for regression.
    tape : Tape or None
        Labels and answers, where they were kept.
    costs : dict of str to Cost
        Time and size per model.
    paths : dict of str to str
        How each model was executed: "kernel", "loop", or "kernel and loop"; after a colon, why
        not all by a kernel, or why it was not compiled: "loop: SGDClassifier with average=True has
        no kernel".
    models : dict or None
        Fitted copies by model, where asked for (a list of them for several folds); None for one
        that could not be copied or sent back by a worker, of which there was a warning.
    failures : dict of str to str
        Error message per failed model. Its answers and scores up to the failure are kept; later
        scores are ``error_score``.
    failed_at : dict of str to list of (int or None)
        Per failed model and fold, how many rows (under delayed labels, labels) of the curves
        came before the failure; None for a fold that did not fail.
    left_out : dict of str to str
        Models that are not in this result because the evaluation ended before they had finished,
        and the reason.
    n_unanswered : dict of str to int
        Per model, the questions that it was asked and left without an answer (None or NaN), over
        all folds; under delayed labels a row is asked several times. Not a number of rows.
    n_unlabelled : int
        Rows that came without a label and, under ``missing_labels="skip"``, were neither learnt
        nor scored; 0 under delayed labels, where ``waits.n_never`` counts them.
    parameters : dict
        The evaluator's parameters, and the seed that was used.
    drifts : tuple of Drift
        Where the truth of the stream is known to change, in the rows of `checkpoints`: a value at
        a checkpoint up to ``drift.start`` is about the truth before. Empty where it is not known,
        as in live runs.
    details : ResultDetails
        Further facts, on which methods, tables and plots depend: ``mechanisms``, ``baselines``,
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

        In a holdout evaluation rows may have been learnt after it.
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
        """Numbers of the folds, from 0 on; fewer where `select` left some out."""
        selected = self.details.selected_folds
        return tuple(range(self.n_folds)) if selected is None else selected

    @property
    def n_bins(self) -> int | None:
        """Number of bins between arrival and label; None: this result has no bins."""
        return None

    @property
    def bins(self) -> tuple[int, ...] | None:
        """Numbers of the bins under delayed labels; None: this result has no bins."""
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

        The mean over folds; under delayed labels the value of the last bin. For others:
        ``result.select(forgetting="recent", bins=0).scores``.
        """
        forgetting = self.forgetting_names[0]
        return {
            model: Bunch(
                **{metric: final_value(one) for metric, one in by_forgetting[forgetting].items()}
            )
            for model, by_forgetting in self.values.items()
        }

    @property
    def mean_scores(self) -> dict[str, dict[str, float]]:
        """Mean of each curve over the stream, by model and measure, under the first mechanism.

        Under a window or fading, `scores` are about the newest rows alone, and these about the
        whole stream: over the checkpoints at which all models have a value. NaN for a model that
        failed.
        """
        forgetting = self.forgetting_names[0]
        ended = np.array([name in self.failures for name in self.values])
        means = {
            metric: mean_of_curves(
                np.array([curve_of_one(one[forgetting][metric]) for one in self.values.values()]),
                ended,
            ).tolist()
            for metric in self.metric_names
        }
        return {
            model: Bunch(**{metric: of_metric[place] for metric, of_metric in means.items()})
            for place, model in enumerate(self.values)
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
        """Return a narrower result, on which everything works; nothing is computed.

        Parameters
        ----------
        models, metrics, forgetting : str or sequence of str, default=None
            Names of the models, measures and forgetting mechanisms to keep, in this order: the
            first ones are the defaults of every method. A mechanism itself stands for its name.
            None: all.
        folds : int or sequence of int, default=None
            Numbers of the folds to keep, which keep their numbers. None: all.
        bins : int or sequence of int, default=None
            Numbers of the bins to keep under delayed labels, which keep their numbers; the last
            one is that of `scores`. None: all.

        Returns
        -------
        result : EvaluationResult
            The narrower result. Costs and counts of answers remain those of all folds.

        Raises
        ------
        KeyError
            If there is no such model, measure or mechanism.
        TypeError
            If something else than names was given.
        ValueError
            If there is no such fold or bin, or nothing is named.

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
            Columns model, forgetting, fold, row, metric, value: a row each. After row there is
            time, where there are `times`.
        """
        pandas = optional_import("pandas", "to_frame()")
        return pandas.DataFrame(tidy_columns(self))

    def costs_to_frame(self) -> Any:
        """Return the costs along the stream as a tidy data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns model, fold, row, seconds, size: a row for each checkpoint. After row there is
            time, where there are `times`. ``seconds`` are those in the model until then. They are
            noted at the ends of steps, each of which takes about a fifth of a second, and are
            divided by rows in between. ``size`` is that in bytes as it was last measured, NaN
            before: to measure it, the model is pickled, which is done only when the number of rows
            has doubled (from 1,024 on) and at the end; of models of other libraries at the end
            alone.

        Raises
        ------
        ValueError
            If they are not known, as in files of earlier versions.
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
        """Score the tape again with other measures or forgetting; no model is run.

        Parameters
        ----------
        metrics : str, callable, list or dict, default=None
            As for the evaluator; None: the standard measures.
        forgetting : str, Forgetting or dict, default="cumulative"
            As for the evaluator.
        record_every : int, str or timedelta, default=None
            As for the evaluator.

        Returns
        -------
        result : EvaluationResult
            The same answers with new scores.

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
            return f"fewer rows came than the warm-up and a whole set take ({needed})."
        if scored_sets or not 0 < self.n_rows <= n_warmup:
            return ""
        first = "row is" if n_warmup == 1 else f"{n_warmup:,} rows are"
        return f"the first {first} used only for training (n_warmup), and {self.n_rows:,} came."

    @property
    def _has_no_weight(self) -> bool:
        """Whether every weight was 0, as far as the tape tells."""
        weight = None if self.tape is None else self.tape.weight
        return weight is not None and len(weight) > 0 and not weight.any()

    def predictions(self, model: str, *, fold: int | None = None, every_row: bool = False) -> Any:
        """Return the rows that a model has answered, and its answers.

        Parameters
        ----------
        model : str
            Name of the model.
        fold : int, default=None
            Fold; None: the first.
        every_row : bool, default=False
            Return the answers alone, one for each row.

        Returns
        -------
        rows : ndarray of shape (n_answered,), dtype int
            Numbers of the rows in the stream: ``y[rows]`` are their labels. Of a holdout
            evaluation, whose sets may share rows, places in ``tape.y``. Rows that were not asked,
            or got no answer, are left out, also where that counts as a wrong one; rows that were
            asked and have no label are not.
        y_pred : ndarray of shape (n_answered,), or (n_rows,) with `every_row`
            Predicted labels, of the type of the labels, or targets. With `every_row` there is None
            or NaN for rows without an answer, and labels are objects if there are such rows.

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
        place = self._place_on_tape(model, fold)
        return tape.predictions(model, place) if every_row else tape.answered(model, place)

    def _place_on_tape(self, model: str, fold: int | None) -> int:
        """Position of a fold in the answers of a model, both checked."""
        pick(tape_of(self).answers, model, "model")
        return 0 if fold is None else self.folds.index(number(fold, self.folds, "fold"))

    def compare(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        test: str = "auto",
        metric: str | Measure | None = None,
        forgetting: str | Forgetting | None = None,
        at: int | None = None,
        since: int | None = None,
        fold: int | None = None,
        bin: int | None = None,
        over_time: bool = False,
        **options: Any,
    ) -> Any:
        """Test whether two models differ, or any of all: ``compare(test="friedman")``.

        Parameters
        ----------
        a, b : str, default=None
            Names of the models; None, with ``test="friedman"`` alone: all models. Choose them
            before you look at the scores: the best of several, tested because it is the best, is
            called better too often. Use `rank` for several models, or divide ``alpha`` by the
            number of pairs.
        test : {"auto", "wilcoxon", "sign", "friedman", "anytime", "mcnemar", "q"}, default="auto"
            "wilcoxon" and "sign" compare the values of `metric` over folds; so does "friedman", of
            any number of models, as `rank` does. The others compare the
            losses row by row: "anytime" is valid for any number of looks at the result. "auto" is
            "wilcoxon" for several folds and "anytime" for one (that of `fold`, if given).
        metric : str or Measure, default=None
            Measure; None: the first. The tests over rows take its loss of a row: 0/1 for accuracy
            and error, the log loss for log_loss, the Brier score for brier, absolute or squared
            errors for mae, mse and rmse. A named measure without such a loss is an error. If no
            measure is named and the first one has no such loss, they take the 0/1 loss (for
            regressors the absolute error), and the statement says so. Costs are compared by the
            measure itself, ``metric=cost(matrix)``, because results do not keep the matrix.
        forgetting : str or Forgetting, default=None
            Mechanism of the result; None: the first. For "q" and "mcnemar" it may be any other one
            too, such as ``"window:1000"``; "anytime" compares all rows so far, and other mechanisms
            are an error.
        at : int, default=None
            Use only the rows up to this one, at least 1. The tests over folds take the last
            checkpoint not after it; the statement names that row.
        since : int, default=None
            Use only the rows from this one on, counted from 1, in the tests over rows. Choose it
            before you look at the answers, such as the row of a known drift: a row that was
            chosen because a model is ahead from there on voids the test.
        fold : int, default=None
            Fold for the tests over rows.
        bin : int, default=None
            Bin for the tests over rows under delayed labels; None: the last.
        over_time : bool, default=False
            Whether a test over rows gives its statistic over the stream, too, to be drawn by
            `ComparisonDisplay`: "mcnemar" a `McNemarCurve` also where nothing is forgotten; "q" and
            "anytime" always do. Its checkpoints count the rows compared. The tests over folds
            compare at one row.
        **options
            Passed to the function of `skstream.stats`, such as ``alpha``. Log losses are at most
            36.04; with ``bounds=(0, 5)`` those above 5 are clipped to it, which
            makes "anytime" more certain. ``boundary="asymptotic"`` takes losses without bounds,
            and holds as rows become many, if no few large losses decide the mean.

        Returns
        -------
        result : frozen result of `skstream.stats`
            E.g. WilcoxonResult; prints a sentence that can be quoted, which names measure,
            forgetting, rows and folds (its `subject`).

        Raises
        ------
        KeyError
            If there is no such model, measure or (in the tests over folds) mechanism.
        ValueError
            If the test is unknown or does not go with the other parameters, if it is not known
            which direction of the measure is the better one, or if no tape was kept for a
            test over rows.
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
            Results of the same models on other streams, evaluated in the same way. None given:
            rank over the folds. Results of the same stream (identical labels), or of the same
            generator with other seeds, are one block: their mean.
        metric, forgetting : str, default=None
            Measure and mechanism; None: the first measure, the first mechanism.
        at : int, default=None
            Use the last checkpoint not after this row, at least 1.
        bin : int, default=None
            Bin under delayed labels; None: the last.
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
            If there is one model alone, or one fold and no other result, if the results hold
            other models or measures, if all are of the same stream, one is given twice, or they
            are of protocols with other parameters, or if it is not known which direction of the
            measure is the better one.
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
        display : PrequentialDisplay, or FoldDisplay of several folds
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
        """Write one HTML page for readers without Python; it needs no other file.

        The answer comes first: which model has the best score by the first measure, by how much,
        against which naive guess, and how sure that is. Then scores, pictures, tests in sentences,
        alarms, warnings, costs, the stream, settings and versions. Without matplotlib the page has
        no pictures and says so, and there is a warning.

        Parameters
        ----------
        path : str or Path
            File to write; ``.html`` is appended where its suffix is neither that nor ``.htm``.
        title : str, default=None
            Heading; None: the protocol.
        also : sequence of results, default=()
            Further results to show, such as slices, comparisons or class reports: what they
            print, and what their ``plot()`` draws.
        alpha : float, default=0.05
            Level of the tests of the best model against the others, in (0, 1), for all pairs of
            models together, because the best is chosen by the scores that are tested. Over rows
            each pair is tested at `alpha` divided by their number; over folds p-values are
            corrected as by Holm.
        detections : dict of str to dict of str to Detections, default=None
            What drift monitors found, from `detect`: marked in the pictures, and in a table.

        Returns
        -------
        path : Path
            The file written.

        Raises
        ------
        TypeError
            If `also` is no list.
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
        """Return the scores as a Markdown table: the best bold, naive guesses marked.

        Parameters
        ----------
        digits : int, default=4
            Digits after the point. Scores that are written alike are best together.

        Returns
        -------
        str
            A table under the first mechanism, with standard deviations over several folds, and a
            sentence that says what the numbers are.

        Raises
        ------
        ValueError
            If `digits` is no whole number of at least 0.

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
        """Return the scores as a table for a paper, for LaTeX's package booktabs.

        Parameters
        ----------
        digits : int, default=4
            Digits after the point. Scores that are written alike are best together.
        label : str, default=None
            What the table is referred to by: letters, digits, blanks and ``: . / + - _``.

        Returns
        -------
        str
            A ``table`` as `to_markdown`, with the sentence as its caption.

        Raises
        ------
        ValueError
            If LaTeX cannot read the label, or `digits` is no whole number of at least 0.
        """
        return str(report("paper_tables", "to_latex")(self, digits, label))

    def save(self, path: str | Path) -> Path:
        """Save as data: one NPZ file without pickles, to be read by `skstream.load`.

        Fitted models are not saved. A tape on disk is copied into the file.

        Parameters
        ----------
        path : str or Path
            File to write; ``.npz`` is appended where it has no suffix.

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
            nothing = np.full_like(next(one for one in beside if one is not None), np.nan)
            scores[name] = np.stack([nothing if one is None else one for one in beside])
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
                f"{many} of {name} failed, and the model before stayed: {which}{cost.failed_refit}"
            )
        never = sum(map(not_, folds))
        if never:
            where = "" if len(folds) == 1 else f" in {never} of {len(folds)} folds"
            lines.append(
                f"{name} was never refitted{where}: what it is before the first refit answered "
                "every question. Fewer rows between refits (every=, min_rows=) or more rows help."
            )
    return lines
