"""The same evaluation on several streams, each of several seeds, and the ranks over the streams."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skstream.evaluation._evaluator import StreamEvaluator
from skstream.evaluation._execution import EvaluationInterrupted
from skstream.evaluation._results._compare import higher_is_better
from skstream.evaluation._results._select import chosen, pick
from skstream.evaluation._results._which_stream import of_each_stream
from skstream.stats import FriedmanNemenyiResult, friedman_nemenyi
from skstream.stats._ranks import rank_rows
from skstream.stats._report import plural
from skstream.studies._over_seeds import SameStream, evaluate_over_seeds
from skstream.studies._seed_study import SeedStudy, seed_study_of
from skstream.utils._npz import by_number, npz_path, numbered, write_npz
from skstream.utils._optional import optional_import
from skstream.utils._seeds import checked_seeds
from skstream.utils._tables import aligned

#: Format and kind of the files.
FORMAT, KIND = 1, "StreamStudy"


@dataclass(frozen=True, repr=False, eq=False)
class StreamStudy:
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
        first = self._first
        for stream, study in self.studies.items():
            for names in ("model_names", "metric_names", "forgetting_names"):
                if getattr(study, names) != getattr(first, names):
                    raise ValueError(
                        f"All streams must have the same {names}. Those of {self.stream_names[0]} "
                        f"are {getattr(first, names)}, and those of {stream} "
                        f"{getattr(study, names)}."
                    )

    @property
    def _first(self) -> SeedStudy:
        return next(iter(self.studies.values()))

    @property
    def stream_names(self) -> list[str]:
        """Names of the streams."""
        return list(self.studies)

    @property
    def model_names(self) -> list[str]:
        """Names of the models."""
        return self._first.model_names

    @property
    def metric_names(self) -> list[str]:
        """Names of the measures."""
        return self._first.metric_names

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
            If there are fewer than two models or different streams, a value is NaN, or it is not
            known which direction of the measure is the better one.
        """
        metric, forgetting = self._chosen(metric, forgetting)
        names = chosen(models, self.model_names, "model")
        if len(names) < 2:
            raise ValueError(f"Ranking needs at least two models. Got {names}.")
        results = [one for study in self.studies.values() for one in study.results]
        known = [k for k, study in enumerate(self.studies.values()) for _ in study.results]
        groups = of_each_stream(results, known)
        if len(groups) < 2:
            raise ValueError(
                "Models are ranked over at least two different streams. Got "
                f"{plural(len(self.studies), 'stream')}"
                f"{', which are the same' if len(self.studies) > 1 else ''}. Add other streams; "
                "study.rank() of a SeedStudy ranks over the seeds of one."
            )
        facts = self._first.results[0].measures[metric]
        options["higher_is_better"] = higher_is_better(metric, facts, options)
        of_streams = []
        for stream, study in self.studies.items():
            found = study._final(names, metric, forgetting, value)
            if bad := study._not_finite(found, names, f" of {stream}"):
                raise ValueError(
                    f"The {metric} of {bad}, which cannot be ranked. Leave out this model with "
                    "models= (references= of a table), or this stream."
                )
            of_streams.append(found)
        each = np.concatenate(of_streams)
        table = np.array([each[group].mean(axis=0) for group in groups])
        ranked = friedman_nemenyi(table, names, **options)
        subject = f"{self._words(metric, forgetting, value)}, over {len(groups)} streams"
        if len(groups) < len(self.studies):
            subject += f" (of {len(self.studies)} given, those that are the same count once)"
        return replace(ranked, subject=subject, blocks="streams")

    def table(
        self,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        references: str | Sequence[str] = (),
        value: str = "last",
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

        Returns
        -------
        table : str
            Mean and standard deviation over the seeds of every stream, and in brackets the rank,
            of which 1 is best. Under it the sentence of `rank`, where models can be ranked.
        """
        metric, forgetting = self._chosen(metric, forgetting)
        left = chosen(references, self.model_names, "model") if len(references) else []
        ranked = [name for name in self.model_names if name not in left]
        rows, all_ranks = [], []
        for stream, study in self.studies.items():
            final = study._final(self.model_names, metric, forgetting, value)
            means = dict(zip(self.model_names, final.mean(axis=0), strict=True))
            ranks = self._ranks([means[name] for name in ranked], metric)
            all_ranks.append(ranks)
            of_model = dict(zip(ranked, ranks, strict=True))
            cells = [
                _cell(values, of_model.get(name))
                for name, values in zip(self.model_names, final.T, strict=True)
            ]
            rows.append([stream, *cells, plural(study.n_seeds, "seed")])
        averages = np.mean(all_ranks, axis=0)
        try:
            found = self.rank(metric, forgetting=forgetting, models=ranked, value=value)
            # Of different streams: those that are the same are one.
            averages, verdict = found.average_ranks, str(found)
        except ValueError as error:
            verdict = f"Not ranked by a test: {error}"
        average = dict(zip(ranked, averages, strict=True))
        shown = [
            f"({average[name]:.2f})" if np.isfinite(average.get(name, np.nan)) else ""
            for name in self.model_names
        ]
        if any(shown):
            rows.append(["average rank", *shown, ""])
        words = self._words(metric, forgetting, value)
        lines = [
            f"{words}: mean ± standard deviation over seeds (rank)",
            *aligned(["stream", *self.model_names, ""], rows),
            verdict,
        ]
        if left:
            lines.append(f"not ranked: {', '.join(left)}")
        for stream, study in self.studies.items():
            lines += [f"{stream}: {line}" for line in study._left_out_words()]
        return "\n".join(lines)

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
        path = npz_path(path)
        parts = [study.packed() for study in self.studies.values()]
        header = {
            "format": FORMAT,
            "kind": KIND,
            "load_with": "skstream.load",
            "streams": self.stream_names,
            "studies": [of_study for of_study, _ in parts],
        }
        write_npz(path, header, numbered(arrays for _, arrays in parts), compress=True)
        return path

    def __repr__(self) -> str:
        return (
            f"StreamStudy({plural(len(self.studies), 'stream')}: "
            f"{', '.join(self.stream_names)}; {plural(len(self.model_names), 'model')}; see "
            "table(), rank(), plot(), to_frame(), save(), studies)"
        )

    def __str__(self) -> str:
        return self.table()

    def _chosen(self, metric: str | None, forgetting: str | None) -> tuple[str, str]:
        first = self._first.results[0]
        metric = first.metric_names[0] if metric is None else metric
        forgetting = first.forgetting_names[0] if forgetting is None else forgetting
        pick(first.measures, metric, "measure")
        pick(first.values[self.model_names[0]], forgetting, "forgetting")
        return metric, forgetting

    def _ranks(self, values: Sequence[float], metric: str) -> np.ndarray:
        table = np.array([values])
        higher = self._first.results[0].measures[metric].higher_is_better
        if higher is None or not np.isfinite(table).all():
            return np.full(len(values), np.nan)
        (ranks,) = rank_rows(-table if higher else table)
        return np.asarray(ranks)

    def _words(self, metric: str, forgetting: str, value: str) -> str:
        return f"{metric} ({'mean of the curve, ' if value == 'mean' else ''}{forgetting})"


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
        By name: ``make_stream(seed)``, as `evaluate_over_seeds` takes it; or a stream that can be
        read again, or ``(X, y)``, whose rows are the same for all seeds: there, seeds are those of
        the models and of the protocol alone.
    models : estimator, list of estimators, dict of str to estimator, or callable
        As `evaluate_over_seeds` takes them.
    seeds : iterable of int, default=(0,)
        Seeds, each once; the same for all streams.
    evaluator : evaluator, default=None
        How the models are evaluated; None: ``PrequentialEvaluator()``.
    n_jobs : int, default=None
        Number of workers, as joblib takes it; None: that of the evaluator.
    classes : array-like of shape (n_classes,), default=None
        All labels that may come, where the streams do not say so.

    Returns
    -------
    study : StreamStudy
        With the table of scores and ranks, the tests, and their picture.

    Raises
    ------
    ValueError
        If there are no streams, or a parameter, a stream or a seed is bad.
    ModelError
        If a model fails.
    EvaluationInterrupted
        On Ctrl-C; its `result` is the study of the streams that had finished. The ``result`` of
        other errors, too.

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
            f"{type(streams).__name__} instead."
            if not isinstance(streams, Mapping)
            else "streams holds none: pass at least one stream, or function of a seed, by name."
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
    """Whether a function of the seed was given in the place of a stream."""
    return callable(stream) and not hasattr(stream, "chunks")


def _cell(values: np.ndarray, rank: float | None) -> str:
    spread = f" ± {values.std(ddof=1):.4f}" if len(values) > 1 else ""
    of_rank = "" if rank is None or np.isnan(rank) else f" ({rank:g})"
    return f"{values.mean():.4f}{spread}{of_rank}"


def stream_study_of(
    path: Path, arrays: dict[str, np.ndarray], header: dict[str, Any]
) -> StreamStudy:
    """Make a study from the header and the arrays that hold it; `path` is for messages."""
    parts = by_number(arrays, len(header["studies"]))
    found = zip(header["streams"], parts, header["studies"], strict=True)
    return StreamStudy({str(name): seed_study_of(path, own, one) for name, own, one in found})
