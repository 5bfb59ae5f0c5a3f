"""The result of a study over seeds, and what the results of studies share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from skstream.core.result.result import EvaluationResult, ResultDetails
from skstream.core.result.select import (
    chosen,
    curve_of_one,
    last_of_curves,
    mean_of_curves,
    named,
    pick,
)
from skstream.reports._compare import higher_is_better, rank
from skstream.reports._report import answers_of, heading
from skstream.stats import compare_with_best
from skstream.stats._best import BestModelResult, Correction, why_not_told
from skstream.stats._ranks import FriedmanNemenyiResult
from skstream.stats._report import forgetting_words, plural
from skstream.studies._recovery import RecoveryResult, recovery_after_drift
from skstream.utils._optional import display, optional_import
from skstream.utils._saved import save_npz
from skstream.utils._tables import aligned, filled

_LARGEST_SEED = 2**32 - 1  # of scikit-learn


class SavedStudy:
    """A study that prints its table, and is saved as data."""

    def table(self) -> str:
        """Return what was found as text; ``print(study)`` prints it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.table()

    def save(self, path: str | Path) -> Path:
        """Save as data: one NPZ file without pickles, to be read by `skstream.load`.

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


class StudyOfModels(SavedStudy):
    """A study whose results are all of the same models, measures and forgetting mechanisms."""

    @property
    def _first(self) -> Any:
        """One of its results, or studies."""
        raise NotImplementedError

    @property
    def model_names(self) -> list[str]:
        """Names of the models."""
        return self._first.model_names

    @property
    def metric_names(self) -> list[str]:
        """Names of the measures."""
        return self._first.metric_names

    @property
    def forgetting_names(self) -> list[str]:
        """Names of the forgetting mechanisms."""
        return self._first.forgetting_names

    def _check_alike(self, parts: Mapping[str, Any]) -> None:
        """Raise an error if parts, by what they are of, cannot be compared."""
        (first, one), *others = parts.items()
        for other, another in others:
            for names in ("model_names", "metric_names", "forgetting_names"):
                if getattr(one, names) != getattr(another, names):
                    raise ValueError(
                        f"All must have the same {names}. Those of {first} are "
                        f"{getattr(one, names)}, and those of {other} {getattr(another, names)}."
                    )


def of_value(result: EvaluationResult, metric: str, forgetting: str, value: str) -> str:
    """Name a measure, what it remembers, and the mean of a curve where it was taken."""
    of_curve = "mean of the curve, " if value == "mean" else ""
    spelling = result.details.mechanisms.get(forgetting, forgetting)
    return f"{metric} ({of_curve}{forgetting_words(spelling)})"


def with_models_of(first: EvaluationResult, result: EvaluationResult) -> EvaluationResult:
    """Add to a result the models without chance, which the first seed alone has run."""
    if result.model_names == first.model_names:
        return result

    def joined(name: str) -> Any:
        both = getattr(first, name) | getattr(result, name)
        return {model: both[model] for model in first.model_names if model in both}

    tape = result.tape
    if tape is not None and first.tape is not None:
        parts: Any = {
            name: getattr(first.tape, name) | getattr(tape, name)
            for name in ("answers", "scores", "methods")
        }
        tape = replace(tape, **parts)
    names = ("values", "costs", "paths", "failures", "failed_at", "n_unanswered")
    return replace(result, tape=tape, **{name: joined(name) for name in names})


def last_answers(result: EvaluationResult) -> str:
    """Say which answers are scored where labels are delayed; empty where they are not."""
    return "" if result.bins is None else answers_of(result, result.bins[-1])


#: What marks the best in a table, and models that do not differ from it significantly.
MARK = "*"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SeedStudy(StudyOfModels):
    """Results of the same models on streams that differ by their seeds alone.

    A value of a seed is the mean over its folds, and with delayed labels that of the last bin.

    Attributes
    ----------
    seeds : tuple of int
        The seeds.
    results : tuple of EvaluationResult
        The result of each, in their order.
    left_out : dict of int to str
        Seeds that are not in this study because it ended before they had finished, and the reason.
    same_streams : tuple of tuple of int
        Groups of seeds that gave the same rows. Where there are any, no models are compared.

    See Also
    --------
    evaluate_over_seeds : Makes it.
    """

    seeds: tuple[int, ...]
    results: tuple[EvaluationResult, ...]
    left_out: dict[int, str] = field(default_factory=dict)
    same_streams: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Check that the results can be compared."""
        of_seeds = zip(self.seeds, self.results, strict=True)
        self._check_alike({f"seed {seed}": one for seed, one in of_seeds})

    @property
    def _first(self) -> EvaluationResult:
        return self.results[0]

    @property
    def n_seeds(self) -> int:
        """Number of seeds."""
        return len(self.seeds)

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """Mean over the seeds of the final values, by model and measure.

        Under the first mechanism, as the `scores` of a result.
        """
        return self._over_seeds(lambda values: float(values.mean()))

    @property
    def deviations(self) -> dict[str, dict[str, float]]:
        """Standard deviation over the seeds of the final values (with ``n_seeds - 1``)."""
        return self._over_seeds(_deviation)

    def _over_seeds(self, summary: Any) -> dict[str, dict[str, float]]:
        found = [one.scores for one in self.results]
        return {
            model: {
                metric: summary(np.array([scores[model][metric] for scores in found]))
                for metric in self.metric_names
            }
            for model in self.model_names
        }

    @property
    def checkpoints(self) -> np.ndarray:
        """Rows of the checkpoints that all seeds have."""
        return self.combined.checkpoints

    @cached_property
    def combined(self) -> EvaluationResult:
        """The curves of all seeds in one result, whose folds are the seeds.

        Without tape, models, costs and detections. Its `compare` and `rank` test over the seeds as
        they do over folds; but seeds, unlike folds, are independent.
        """
        first, rows = self._first, self._first.checkpoints
        for one in self.results[1:]:
            rows = np.intersect1d(rows, one.checkpoints)
        if not len(rows) and any(len(one.checkpoints) for one in self.results):
            lengths = [f"{one.n_rows:,}" for one in self.results]
            raise ValueError(
                "The seeds have no checkpoint in common, so their curves have no mean: their last "
                f"checkpoints are {', '.join(lengths)}. Pass an evaluator with record_every=, or "
                "streams of equal length."
            )
        places = [np.searchsorted(one.checkpoints, rows) for one in self.results]
        values = {
            model: {
                forgetting: {
                    metric: np.column_stack(
                        [
                            curve_of_one(one.values[model][forgetting][metric])[place]
                            for one, place in zip(self.results, places, strict=True)
                        ]
                    )
                    for metric in self.metric_names
                }
                for forgetting in self.forgetting_names
            }
            for model in self.model_names
        }
        return EvaluationResult(
            protocol=first.protocol,
            checkpoints=rows,
            values=values,
            measures=first.measures,
            classes=first.classes,
            paths=first.paths,
            failures=self._failures(),
            parameters={**first.parameters, "seed": None},
            details=ResultDetails(
                mechanisms=first.details.mechanisms,
                baselines=first.details.baselines,
                scored_sets=first.details.scored_sets,
            ),
            drifts=first.drifts if len({one.drifts for one in self.results}) == 1 else (),
        )

    def curve(
        self, model: str, metric: str | None = None, *, forgetting: str | None = None
    ) -> np.ndarray:
        """Return the values of one measure of one model at the checkpoints, for each seed.

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
        values : ndarray of shape (n_checkpoints, n_seeds)
            Values at the ``checkpoints``.
        """
        return self.combined.curve(model, metric, forgetting=forgetting)

    def mean(
        self, model: str, metric: str | None = None, *, forgetting: str | None = None
    ) -> np.ndarray:
        """Return the mean of a curve over the seeds.

        Parameters
        ----------
        model : str
            Name of the model.
        metric, forgetting : str, default=None
            Names of measure and mechanism; None: the first.

        Returns
        -------
        values : ndarray of shape (n_checkpoints,)
            Means; NaN where a seed has no value.
        """
        return self.curve(model, metric, forgetting=forgetting).mean(axis=1)

    def std(
        self, model: str, metric: str | None = None, *, forgetting: str | None = None
    ) -> np.ndarray:
        """Return the standard deviation of a curve over the seeds (with ``n_seeds - 1``).

        Parameters
        ----------
        model : str
            Name of the model.
        metric, forgetting : str, default=None
            Names of measure and mechanism; None: the first.

        Returns
        -------
        values : ndarray of shape (n_checkpoints,)
            Standard deviations; NaN where a seed has no value, or there is one seed.
        """
        curve = self.curve(model, metric, forgetting=forgetting)
        return np.array([_deviation(values) for values in curve])

    def compare(
        self,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        value: str = "last",
        **options: Any,
    ) -> BestModelResult:
        """Find the best model, and those that Wilcoxon's test over the seeds does not tell from it.

        Parameters
        ----------
        metric, forgetting : str, default=None
            Measure and mechanism; None: the first.
        models : str or sequence of str, default=None
            Models to compare; None: all. Leave out a reference such as the Bayes classifier.
        value : {"last", "mean"}, default="last"
            What to compare: the last value of each curve, or the mean of its values over the
            checkpoints at which all models have one. With a window or fading, only the mean
            describes the whole stream.
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
            If there are fewer than two models or seeds, two seeds gave the same rows, a value is
            NaN, or it is unknown whether a higher value of the measure is better.
        """
        metric, forgetting = named(self._first, metric, forgetting)
        names = chosen(models, self.model_names, "model")
        facts = self._first.measures[metric]
        options["higher_is_better"] = higher_is_better(metric, facts, options)
        if min(self.n_seeds, len(names)) < 2:
            raise ValueError(
                "At least two seeds and two models are needed to compare models. Got "
                f"{plural(self.n_seeds, 'seed')} and {plural(len(names), 'model')}."
            )
        if self.same_streams:
            raise ValueError(
                f"Models cannot be compared over identical streams: {self._which_same()}. Make "
                "make_stream use its seed."
            )
        table = self._final(names, metric, forgetting, value)
        if bad := self._not_finite(table, names):
            raise ValueError(
                f"The {metric} of {bad}, which cannot be compared. Leave out this model with "
                "models=, or this seed."
            )
        best = compare_with_best(table, names, **options)
        over = plural(self.n_seeds, "seed")
        answers = last_answers(self._first)
        subject = of_value(self._first, metric, forgetting, value)
        subject = f"{subject} over {over}{f', {answers}' if answers else ''}"
        return replace(best, subject=subject, blocks="seeds")

    def rank(
        self,
        *,
        metric: str | None = None,
        forgetting: str | None = None,
        at: int | None = None,
        models: str | Sequence[str] | None = None,
        **options: Any,
    ) -> FriedmanNemenyiResult:
        """Rank the models over the seeds (Friedman, Nemenyi).

        Parameters
        ----------
        metric, forgetting : str, default=None
            Measure and mechanism; None: the first.
        at : int, default=None
            Use the last checkpoint not after this row, at least 1.
        models : str or sequence of str, default=None
            Models to rank; None: all. Leave out a reference such as the Bayes classifier.
        **options
            Passed to `skstream.stats.friedman_nemenyi`, such as ``alpha``.

        Returns
        -------
        result : FriedmanNemenyiResult
            Average ranks, the critical difference, and the groups that do not differ.

        Raises
        ------
        KeyError
            If there is no such model, measure or mechanism.
        ValueError
            If there are fewer than two models or seeds, or two seeds gave the same rows.

        See Also
        --------
        evaluate_over_streams : Ranks over streams, of which seeds are averaged.
        """
        names = None if models is None else chosen(models, self.model_names, "model")
        if self.same_streams:
            raise ValueError(
                f"Models cannot be ranked over identical streams: {self._which_same()}. Make "
                "make_stream use its seed."
            )
        if self.n_seeds < 2:
            raise ValueError("At least two seeds are needed to rank models over them. Got 1.")
        folds = [self.combined.select(models=names)]
        found: FriedmanNemenyiResult = rank(
            folds, metric=metric, forgetting=forgetting, at=at, bin=None, options=options
        )
        subject = found.subject.replace(f"{self.n_seeds} folds", f"{self.n_seeds} seeds")
        return replace(found, subject=subject, blocks="seeds")

    def _final(
        self, names: Sequence[str], metric: str, forgetting: str, value: str = "last"
    ) -> np.ndarray:
        """Return the last values, or the means of the curves, of shape (n_seeds, n_models)."""
        summary = pick(_SUMMARIES, value, "value")
        places = [self.model_names.index(name) for name in names]
        found = []
        for one in self.results:
            curves = [
                curve_of_one(one.values[name][forgetting][metric]) for name in self.model_names
            ]
            failed = [name in one.failures for name in self.model_names]
            found.append(summary(np.array(curves), np.array(failed))[places])
        return np.array(found)

    def _not_finite(self, table: np.ndarray, names: Sequence[str], stream: str = "") -> str:
        """Say which of the values, of shape (n_seeds, n_models), is not a number; empty if none."""
        bad = np.argwhere(~np.isfinite(table))
        if not bad.size:
            return ""
        seed, model = self.seeds[bad[0][0]], names[bad[0][1]]
        return f"{model} with seed {seed}{stream} is {table[tuple(bad[0])]}"

    def recovery_after_drift(
        self,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        drifts: Any = None,
        share: float = 0.95,
    ) -> RecoveryResult:
        """Say how far the models fell after each drift, and when they had recovered.

        Parameters
        ----------
        metric, forgetting : str, default=None
            Measure and mechanism; None: the first. A window of recent rows shows most.
        drifts : sequence of (int or pair of int), default=None
            Rows at which the truth changes; None: those of each seed's stream.
        share : float, default=0.95
            Share of the level before the drift at which a model has recovered.

        Returns
        -------
        result : RecoveryResult
            One value for each seed.

        See Also
        --------
        recovery_after_drift : What is computed, with its source.
        """
        return RecoveryResult.joined(
            [
                recovery_after_drift(one, metric, forgetting=forgetting, drifts=drifts, share=share)
                for one in self.results
            ],
            self.seeds,
        )

    def to_frame(self) -> Any:
        """Return all values as a tidy data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns model, forgetting, seed, row, metric, value: a row each; with the checkpoints
            that all seeds have.
        """
        optional_import("pandas", "to_frame()")
        frame = self.combined.to_frame().rename(columns={"fold": "seed"})
        frame["seed"] = np.asarray(self.seeds)[frame["seed"]]
        return frame

    def plot(self, metric: str | None = None, **options: Any) -> Any:
        """Plot a measure over the stream: its mean over the seeds, and its spread.

        Parameters
        ----------
        metric : str, default=None
            Measure; None: the first one.
        **options
            Passed to ``FoldDisplay.from_result``, such as ``models``, ``spread``, ``ax`` or
            properties of the lines.

        Returns
        -------
        display : FoldDisplay
            With attributes ``ax_``, ``figure_``, ``lines_`` and ``legend_``.
        """
        return display("FoldDisplay").from_result(self, metric, **options)

    def __repr__(self) -> str:
        metric, scores = self.metric_names[0], self.scores
        answers = ", ".join(f"{name}: {metric} {scores[name][metric]:z.4f}" for name in scores)
        return (
            f"SeedStudy({plural(self.n_seeds, 'seed')}, {self._first.protocol}; {answers}; "
            "see compare(), rank(), table(), to_frame(), plot(), recovery_after_drift(), save())"
        )

    def table(
        self,
        *,
        references: str | Sequence[str] = (),
        correction: Correction = "holm",
        alpha: float = 0.05,
        value: str = "last",
    ) -> str:
        """Return the scores as text; marked are the best and all that do not differ significantly.

        Parameters
        ----------
        references : str or sequence of str, default=()
            Models that are shown and not compared, such as the Bayes classifier.
        correction : {"holm", "none"}, default="holm"
            Whether the p-values are corrected for the number of models, as in
            `skstream.stats.compare_with_best`; Cervantes et al. print tables without.
        alpha : float, default=0.05
            Level of the tests.
        value : {"last", "mean"}, default="last"
            What stands for a curve: its last value, or the mean of its values.

        Returns
        -------
        table : str
            Mean and standard deviation over the seeds, by model and measure. ``print(study)``
            prints it.
        """
        left = chosen(references, self.model_names, "model") if len(references) else []
        compared = [name for name in self.model_names if name not in left]
        of_curve = " of the means of the curves" if value == "mean" else ""
        lines = [
            f"{plural(self.n_seeds, 'seed')}, {self._first.protocol}: mean ± standard deviation"
            f"{of_curve}"
        ]
        has_marks = False
        for forgetting in self.forgetting_names:
            columns = []
            for metric in self.metric_names:
                marked = self._marked(metric, forgetting, compared, correction, alpha, value)
                columns.append(self._column(metric, forgetting, marked, value))
                has_marks |= bool(marked)
            paths = [self._first.paths.get(name, "") for name in self.model_names]
            kinds = [path.partition(":")[0] for path in paths]
            rows = [list(row) for row in zip(self.model_names, *columns, kinds, strict=True)]
            if len(self.forgetting_names) > 1:
                lines.append(f"{heading(self._first, forgetting)}:")
            # A blank below the marks keeps the names above the numbers.
            header = ["model", *(f"{n} " for n in self.metric_names), "path"]
            lines.extend(aligned(header, rows, less_needed=["path"]))
        if answers := last_answers(self._first):
            lines.append(f"Labels are delayed: scores are those of {answers}")
        if has_marks:
            corrected = "corrected as by Holm" if correction == "holm" else "not corrected"
            words = (
                f"{MARK} the best, and models that do not differ from it significantly in pairwise "
                f"Wilcoxon tests over the seeds ({corrected}, alpha = {alpha:g})"
            )
            lines.append(filled(words, indent="  "))
        elif why := self._why_not_told(compared, correction, alpha):
            lines.append(f"Nothing is marked: {why}.")
        if left:
            lines.append(f"not compared: {', '.join(left)}")
        return "\n".join([*lines, *self._left_out_words()])

    def _left_out_words(self) -> list[str]:
        """Say which models failed, and which seeds are left out; a line each."""
        return [
            *(f"{name} failed, {why}" for name, why in self._failures().items()),
            *(f"seed {seed} is left out: {why}" for seed, why in self.left_out.items()),
        ]

    def _marked(
        self,
        metric: str,
        forgetting: str,
        names: Sequence[str],
        correction: Correction,
        alpha: float,
        value: str,
    ) -> tuple[str, ...]:
        """Return the best and what does not differ from it; nothing if that cannot be tested."""
        is_told = len(names) > 1 and not self._why_not_told(names, correction, alpha)
        if not is_told or self._first.measures[metric].higher_is_better is None:
            return ()
        if not np.isfinite(self._final(names, metric, forgetting, value)).all():
            return ()
        options: dict[str, Any] = {"correction": correction, "alpha": alpha, "value": value}
        best = self.compare(metric, forgetting=forgetting, models=names, **options)
        return best.not_told_apart

    def _why_not_told(self, names: Sequence[str], correction: Correction, alpha: float) -> str:
        """Say why no test over these seeds can find a difference; empty if one can."""
        if self.same_streams:
            return self._which_same()
        if len(names) < 2:
            return ""
        return why_not_told(self.n_seeds, len(names), correction, alpha, "seeds")

    @property
    def _has_one_stream(self) -> bool:
        """Whether all seeds gave the same rows, as far as the results say it."""
        labels = {one.details.labels_read for one in self.results}
        return len(labels) == 1 and "" not in labels

    def _which_same(self) -> str:
        """Say which seeds gave the same rows."""
        first = self.same_streams[0]
        if len(first) == self.n_seeds:
            return "all seeds gave the same rows"
        others = len(first) > 2 or len(self.same_streams) > 1
        more = ", and so did others" if others else ""
        return f"seeds {first[0]} and {first[1]} gave the same rows{more}"

    def _column(self, metric: str, forgetting: str, marked: Sequence[str], value: str) -> list[str]:
        table = self._final(self.model_names, metric, forgetting, value)
        return [
            f"{values.mean():z.4f} ± {_deviation(values):z.4f}{MARK if name in marked else ' '}"
            for name, values in zip(self.model_names, table.T, strict=True)
        ]

    def _failures(self) -> dict[str, str]:
        found: dict[str, list[int]] = {}
        words: dict[str, str] = {}
        for seed, one in zip(self.seeds, self.results, strict=True):
            for name, message in one.failures.items():
                found.setdefault(name, []).append(seed)
                words.setdefault(name, f"seed {seed}: {message}")
        return {
            name: f"with {len(seeds)} of {plural(self.n_seeds, 'seed')}, {words[name]}"
            if len(seeds) > 1
            else words[name]
            for name, seeds in found.items()
        }


#: What stands for a curve.
_SUMMARIES = {"last": last_of_curves, "mean": mean_of_curves}


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def checked_seeds(seeds: Iterable[int]) -> list[int]:
    """Return the seeds of a study, each once, or say what is wrong with them."""
    try:
        each = iter(seeds)
    except TypeError:
        raise TypeError(
            f"seeds must be several whole numbers, such as range(10) or [3, 5]. Got {seeds!r} "
            "instead."
        ) from None
    listed = list(each)
    for seed in listed:
        if (
            isinstance(seed, bool)
            or not hasattr(seed, "__index__")
            or not (0 <= seed <= _LARGEST_SEED)
        ):
            raise ValueError(f"Seeds must be whole numbers from 0 to 2**32 - 1. Got {seed!r}.")
    checked = [int(seed) for seed in listed]
    if not checked or len(set(checked)) < len(checked):
        what = "the same twice" if checked else "none"
        raise ValueError(
            f"seeds must contain at least one seed, without duplicates. Got {what}: {checked}."
        )
    return checked
