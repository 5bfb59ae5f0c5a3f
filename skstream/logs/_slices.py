"""Scores of the groups of rows that a column names, from the tape of a result."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skstream.core.forgetting import as_forgetting
from skstream.core.measures.measure import Measure
from skstream.core.measures.registry import resolve_metrics
from skstream.core.result.result import EvaluationResult
from skstream.core.result.select import bin_meant, final_value, named, pick, rescored, with_scores
from skstream.core.run.tape import tape_of
from skstream.forgetting import Cumulative, Forgetting
from skstream.logs._slice_rows import (
    LEAST_OF_OTHERS,
    LEAST_ROWS,
    Estimate,
    Groups,
    Lines,
    groups_of,
    reads_all_labels,
)
from skstream.reports._compare import higher_is_better
from skstream.reports._report import scored_with, with_own
from skstream.stats._checks import check_alpha
from skstream.stats._report import plural
from skstream.utils._choices import check_count
from skstream.utils._optional import display, optional_import
from skstream.utils._tables import aligned, filled, listed

_MOST_NAMES = 5
_OF_DAYS = (
    "for the score of each day, evaluate with arrival=, forgetting='window:1D', record_every='1D'"
)


def score_slices(
    result: EvaluationResult,
    slices: ArrayLike | Mapping[str, ArrayLike] | Any,
    *,
    metrics: Any = None,
    forgetting: Any = None,
    max_slices: int = 20,
    n_quantiles: int = 4,
    alpha: float = 0.05,
    record_every: int | None = None,
) -> "SliceScores":
    """Score groups of rows given by a column: countries, customers, ranges of an amount.

    No model is run: the predictions come from the tape of the result, from an evaluator or a log of
    predictions.

    Parameters
    ----------
    result : EvaluationResult
        With a tape.
    slices : array-like of shape (n_rows,), or dict or frame of several of them
        The group of each row of the stream, including rows without a label. With several columns,
        the groups are the combinations that occur, such as "DE, mobile". Texts, booleans, and
        numbers with at most `max_slices` different values are used as groups directly; other
        numbers are cut into quantiles of the past. Rows without a value (None, NaN) are the group
        "missing".
    metrics : str, callable, list or dict, default=None
        As for the evaluators; None: the measures of the result.
    forgetting : str, Forgetting, list or dict, default=None
        As for the evaluators; None: the mechanisms of the result.
    max_slices : int, default=20
        Largest number of groups, those with most rows; all other rows form the group "other".
    n_quantiles : int, default=4
        Number of groups into which numbers are cut: 4 gives quartiles.
    alpha : float, default=0.05
        One minus the probability that the intervals of all groups are right at once.
    record_every : int, default=None
        Rows of the stream between checkpoints; None: about 1,000 checkpoints.

    Returns
    -------
    scores : SliceScores
        A result for each group, and comparisons of the groups.

    Raises
    ------
    ValueError
        If no tape was kept, if the number of values differs from the number of rows, if rows were
        scored in sets (holdout), or a parameter is not valid.
    TypeError
        If `slices` is a single text, or values of a column cannot be sorted.

    Notes
    -----
    A group is scored as if the models had predicted only its rows; the naive baselines keep the
    past of the whole stream. Checkpoints are rows of the stream, so that curves of groups can be
    compared. Quantile boundaries at a row come from the values before it, so they move with the
    stream; whether a column is cut, and which groups are the largest, depends on the whole column.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream import score_predictions, score_slices
    >>> rng = np.random.default_rng(0)
    >>> country = rng.choice(["DE", "FR", "US"], 3000)
    >>> y = rng.integers(0, 2, 3000)
    >>> errors = rng.random(3000) < np.where(country == "FR", 0.3, 0.1)
    >>> result = score_predictions(y, {"gbm": np.where(errors, 1 - y, y)}, metrics="accuracy")
    >>> scores = score_slices(result, country)
    >>> scores.worst().slice
    'FR'
    >>> scores.results["FR"].scores
    {'gbm': {'accuracy': 0.69...}}
    """
    tape = tape_of(result)
    if tape.sets is not None:
        raise ValueError(
            "Rows of a holdout evaluation are scored in sets, some of them perhaps several times: "
            "it cannot be sliced. Use PrequentialEvaluator."
        )
    check_count(max_slices, "max_slices", 1)
    check_count(n_quantiles, "n_quantiles", 2)
    alpha = check_alpha(alpha)
    groups = groups_of(slices, result, max_slices, n_quantiles)
    is_own = metrics is None
    metrics = {name: one.name for name, one in result.measures.items()} if is_own else metrics
    own = {name: result.details.mechanisms.get(name, name) for name in result.forgetting_names}
    mechanisms = as_forgetting(own if forgetting is None else forgetting)
    try:
        whole = result.rescore(metrics, forgetting=mechanisms, record_every=record_every)
    except ValueError as error:
        if not is_own:
            raise
        raise ValueError(
            "The measures of the result cannot all be computed by their names; pass metrics=. "
            f"{error}"
        ) from error
    if is_own:
        _check_same(result, whole)
    measures = resolve_metrics(metrics, classes=result.classes)
    return SliceScores(
        overall=whole,
        results=_results(whole, groups, measures, mechanisms, record_every),
        n_rows={name: len(rows) for name, rows in zip(groups.names, groups.rows, strict=True)},
        n_other=groups.n_other,
        alpha=alpha,
        _groups=groups,
        _measures=measures,
    )


class WorstSlice(NamedTuple):
    """The group in which a model is surely worst.

    Attributes
    ----------
    slice, model, metric : str
        The group, the model and the measure.
    n_rows : int
        Rows of the group that were scored.
    value, low, high : float
        The score of the group, and its interval, which is right for all groups at once.
    rest : float
        The score of all other rows; NaN where there are none.
    certain : bool
        Whether the group is worse than the rest, at the level of all groups together.
    """

    slice: str
    model: str
    metric: str
    n_rows: int
    value: float
    low: float
    high: float
    rest: float
    certain: bool

    def __str__(self) -> str:
        if not self.certain:
            return f"no group is significantly worse than the rest in {self.metric} of {self.model}"
        return (
            f"worst group: '{self.slice}' ({plural(self.n_rows, 'row')}), {self.metric} of "
            f"{self.model} {self.value:z.4f} in [{self.low:z.4f}, {self.high:z.4f}]; "
            f"{self.rest:z.4f} in the rest"
        )


class Reversal(NamedTuple):
    """A group in which another model is better than the one that is best over all rows.

    Attributes
    ----------
    slice, metric : str
        The group and the measure.
    best_overall, best : str
        The best model over all rows, and that of the group.
    difference : float
        How much better the latter is in the group.
    certain : bool
        Whether that is significant, at the level of all groups and models together.
    """

    slice: str
    metric: str
    best_overall: str
    best: str
    difference: float
    certain: bool


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SliceScores:
    """Scores of groups of rows.

    Attributes
    ----------
    results : mapping of str to EvaluationResult
        By group, an ordinary result. Its checkpoints are rows of the stream; its tape has all rows,
        but predictions only in rows of the group. Costs and alarms, which are those of all rows,
        are left out; the predictions are copied whenever a result is taken.
    overall : EvaluationResult
        The same scores of all rows.
    n_rows : dict of str to int
        Rows of the tape by group.
    n_other : int
        Number of groups that are together in "other".
    alpha : float
        One minus the probability that the intervals of all groups are right at once.

    Notes
    -----
    Scores of all rows under "cumulative" have intervals, by leaving out each of 20 blocks of the
    rows of a group (jackknife), of measures with bounds on the scale of log odds between them, or
    of the logarithm of the distance from the only one; accuracy and error have Wilson's interval
    for as many independent rows as would have this error. A group of fewer than 100 rows has only
    these, and means over classes, such as balanced accuracy, have none where a class has fewer than
    20; of fewer than 40 rows, as if its rows were independent, and is never called the worst.
    All are Bonferroni's for the number of groups. Dependence that is longer than a block makes
    intervals too narrow.
    """

    overall: EvaluationResult
    n_rows: dict[str, int]
    n_other: int
    alpha: float
    results: "_Results"
    _groups: "Groups"
    _measures: dict[str, Measure]
    _found: dict[Any, dict[str, Estimate]] = field(default_factory=dict, init=False)
    _scored: dict[str, "Lines"] = field(default_factory=dict, init=False)

    @property
    def slice_names(self) -> list[str]:
        """Names of the groups."""
        return list(self.n_rows)

    def to_frame(self) -> Any:
        """Return the last scores of all groups as a tidy data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns slice, model, metric, forgetting, value, n_rows (scored), low and high (NaN
            where there is no interval): a row each.
        """
        pandas = optional_import("pandas", "to_frame()")
        return pandas.DataFrame(list(self._records()))

    def _records(self) -> Iterator[dict[str, Any]]:
        whole = self.overall
        names = product(whole.model_names, whole.metric_names, whole.forgetting_names)
        for (model, metric, forgetting), name in product(names, self.slice_names):
            low, high = self.interval(name, model, metric, forgetting)
            yield {
                "slice": name,
                "model": model,
                "metric": metric,
                "forgetting": forgetting,
                "value": self._value(name, model, metric, forgetting),
                "n_rows": self.n_scored[name][model],
                "low": low,
                "high": high,
            }

    @cached_property
    def n_scored(self) -> dict[str, dict[str, int]]:
        """Scored rows, ``n_scored[slice][model]``."""
        lines = self._lines({})
        return {
            name: {model: int(one.sum()) for model, one in lines.scored(rows).items()}
            for name, rows in zip(self._groups.names, self._groups.rows, strict=True)
        }

    def interval(
        self,
        slice: str,
        model: str | None = None,
        metric: str | None = None,
        forgetting: str | None = None,
    ) -> tuple[float, float]:
        """Return the interval of the last score of a group; see the notes.

        Parameters
        ----------
        slice : str
            Name of the group.
        model, metric, forgetting : str, default=None
            Names; None: the first ones.

        Returns
        -------
        low, high : float
            Its ends; NaN where there is none.
        """
        model, metric = self._names(model, metric)
        pick(self.n_rows, slice, "slice")
        forgetting = self.overall.forgetting_names[0] if forgetting is None else forgetting
        if forgetting != self._cumulative or model in self.overall.failures:
            return np.nan, np.nan
        found = self._estimate(slice, metric)[model]
        return found.interval(self._measures[metric], self._alpha_of_one)

    def gap(self, model: str | None = None, metric: str | None = None) -> float:
        """Return the difference between the best and the worst group, under the first mechanism.

        Small groups are far from the others by chance, too: see `worst`.

        Parameters
        ----------
        model, metric : str, default=None
            Names; None: the first ones.

        Returns
        -------
        gap : float
            Never negative; NaN without two groups that have a value. "other", which is no group
            of its own, is left out.
        """
        model, metric = self._names(model, metric)
        values = np.array([self._value(name, model, metric) for name in self._compared])
        values = values[np.isfinite(values)]
        return float(np.ptp(values)) if len(values) > 1 else float("nan")

    def worst(self, model: str | None = None, metric: str | None = None) -> WorstSlice:
        """Return the group that is surely worst: by the better end of its interval.

        A small group with a bad score has a wide interval and is not chosen by luck. Groups of
        fewer than 40 rows are not chosen at all: how much their errors depend on each other is not
        known.

        Parameters
        ----------
        model, metric : str, default=None
            Names; None: the first ones.

        Returns
        -------
        worst : WorstSlice
            The group with its interval, and whether it is significantly worse than the rest, by
            the intervals of both (square-and-add). "other", which is no group of its own, is left
            out.

        Raises
        ------
        ValueError
            If no group has an interval, or it is unknown whether a higher value of the measure is
            better.
        """
        model, metric = self._names(model, metric)
        sign, cumulative = self._sign(metric), self._cumulative
        if cumulative is None:
            raise ValueError(
                "Intervals are about scores of all rows: pass forgetting='cumulative', too."
            )
        ends = {one: self.interval(one, model, metric, cumulative) for one in self._compared}
        better = {one: high if sign > 0 else -low for one, (low, high) in ends.items()}
        many = [one for one, n in self.n_scored.items() if n[model] >= LEAST_ROWS]
        better = {one: end for one, end in better.items() if np.isfinite(end) and one in many}
        if not better:
            raise ValueError(
                f"No group has an interval of {metric} of '{model}': all have fewer than "
                f"{LEAST_ROWS} rows ({LEAST_OF_OTHERS} for measures other than accuracy and error),"
                " or the model failed, or leaving out some of their rows makes the measure "
                "undefined, takes it to a bound or never changes it."
            )
        name = min(better, key=lambda one: better[one])
        low, high = ends[name]
        value = self._value(name, model, metric, cumulative)
        rest = self._estimate(name, metric, rest=True)[model]
        rest_low, rest_high = rest.interval(self._measures[metric], self._alpha_of_one)
        reach = (high - value, rest.value - rest_low)
        if sign < 0:
            reach = (value - low, rest_high - rest.value)
        n_rows = self.n_scored[name][model]
        certain = bool(sign * (rest.value - value) > np.hypot(*reach))
        return WorstSlice(name, model, metric, n_rows, value, low, high, rest.value, certain)

    def reversals(self, metric: str | None = None) -> list[Reversal]:
        """Return the groups in which another model than the best over all rows is better.

        Parameters
        ----------
        metric : str, default=None
            Name; None: the first one.

        Returns
        -------
        reversals : list of Reversal
            One for each such group; ``certain`` ones are more than luck. Empty if there are none.
        """
        _, metric = self._names(None, metric)
        sign, models = self._sign(metric), self.overall.model_names
        whole = {m: sign * final_value(self.overall.curve(m, metric)) for m in models}
        whole = {model: value for model, value in whole.items() if np.isfinite(value)}
        if len(whole) < 2:
            return []
        first = max(whole, key=lambda one: whole[one])
        reversals = []
        for name in self._compared:
            values = {model: sign * self._value(name, model, metric) for model in whole}
            values = {model: value for model, value in values.items() if np.isfinite(value)}
            best = max(values, key=lambda one: values[one], default=first)
            if first not in values or values[best] <= values[first]:
                continue
            certain = False
            if self.overall.forgetting_names[0] == self._cumulative:
                found = self._estimate(name, metric)
                alpha = self._alpha_of_one / (len(models) - 1)
                low, high = found[best].minus(found[first]).interval(None, alpha)
                certain = bool(low > 0 if sign > 0 else high < 0)
            ahead = values[best] - values[first]
            reversals.append(Reversal(name, metric, first, best, float(ahead), certain))
        return reversals

    def plot(self, metric: str | None = None, **options: Any) -> Any:
        """Plot a measure of the groups.

        Parameters
        ----------
        metric : str, default=None
            Measure; None: the first one.
        **options
            Passed to ``SliceDisplay.from_result``, such as ``kind`` ("lines" along the stream or
            "bars" at the end), ``model``, ``forgetting`` or ``ax``.

        Returns
        -------
        display : SliceDisplay
            With attributes ``ax_``, ``figure_``, ``lines_`` and ``legend_``.
        """
        return display("SliceDisplay").from_result(self, metric, **options)

    def __repr__(self) -> str:
        metric = self.overall.metric_names[0]
        model = self.overall.model_names[0]
        shown = [f"{n}: {self._value(n, model, metric):z.4f}" for n in self.slice_names]
        return (
            f"SliceScores({metric} of {model}: {listed(shown, _MOST_NAMES, 'groups')}; see "
            "results, worst(), to_frame(), plot())"
        )

    def __str__(self) -> str:
        whole, metric = self.overall, self.overall.metric_names[0]
        models, n_all = whole.model_names, sum(self.n_rows.values())
        # Several models: their first measure. One model: all its measures.
        cells = [(models[0], name) for name in whole.metric_names]
        first = whole.forgetting_names[0]
        scored = scored_with(whole, first) or "scores of all rows"
        spelling = whole.details.mechanisms.get(first, first)
        header, title = whole.metric_names, with_own(scored, "" if first == spelling else first)
        if len(models) > 1:
            cells, header = [(model, metric) for model in models], models
            title = f"{metric}, {title}"
        others = [name for name in whole.forgetting_names if name != first]
        title += f"; to_frame() has those of {', '.join(others)}, too" if others else ""
        rows = [
            [name, f"{n:,}", *(f"{self._value(name, *cell):z.4f}" for cell in cells), ""]
            for name, n in self.n_rows.items()
        ]
        of_all = [f"{final_value(whole.curve(*cell)):z.4f}" for cell in cells]
        rows.append(["all rows", f"{n_all:,}", *of_all, ""])
        lines = [f"{plural(len(self.n_rows), 'group')} of {plural(n_all, 'row')}: {title}"]
        lines += [line.rstrip() for line in aligned(["slice", "rows", *header, ""], rows)]
        if self.n_other:
            lines.append(f"other: {plural(self.n_other, 'smaller group')} together (max_slices)")
            if self._groups.of_times:
                lines.append(_OF_DAYS)
        if whole.measures[metric].higher_is_better is not None:
            lines += [filled(line, indent="  ") for line in self._sentences(metric)]
        return "\n".join(lines)

    def _sentences(self, metric: str) -> Iterator[str]:
        for model in self.overall.model_names if len(self._compared) > 1 else ():
            with suppress(ValueError):  # no group has an interval
                yield str(self.worst(model, metric))
        for one in self.reversals(metric):
            sure = "significant" if one.certain else "perhaps by chance"
            yield (
                f"{one.best_overall} is best over all rows, and in '{one.slice}' {one.best} is "
                f"better by {one.difference:z.4f} ({sure})"
            )

    # -- what they are made of

    @property
    def _compared(self) -> list[str]:
        """Groups of their own."""
        return self.slice_names[: -1 if self.n_other else None]

    @property
    def _cumulative(self) -> str | None:
        """Name of the mechanism that counts all rows alike, if there is one."""
        specs = self.overall.details.mechanisms
        return next((name for name, spec in specs.items() if spec == Cumulative().name), None)

    @property
    def _alpha_of_one(self) -> float:
        return self.alpha / len(self.n_rows)

    def _names(self, model: str | None, metric: str | None) -> tuple[str, str]:
        model = self.overall.model_names[0] if model is None else model
        self.overall.curve(model, metric)  # an error that says which there are
        return model, named(self.overall, metric, None)[0]

    def _sign(self, metric: str) -> int:
        return 1 if higher_is_better(metric, self.overall.measures[metric]) else -1

    def _value(self, name: str, model: str, metric: str, forgetting: str | None = None) -> float:
        one = pick(self.results.bare, name, "slice")
        return final_value(one.curve(model, metric, forgetting=forgetting))

    def _lines(self, measures: dict[str, Measure]) -> "Lines":
        bin = bin_meant(self.overall, None)
        return Lines(self.overall, measures, {"": Cumulative()}, bin)

    def _estimate(self, name: str, metric: str, *, rest: bool = False) -> dict[str, Estimate]:
        """Score a group, or all rows but it, without one block after the other, by model."""
        key = name, metric, rest
        if key not in self._found:
            if metric not in self._scored:
                self._scored[metric] = self._lines({metric: self._measures[metric]})
            among = self._groups.codes == self._groups.names.index(name)
            self._found[key] = self._scored[metric].estimates(np.flatnonzero(among != rest))
        return self._found[key]


class _Results(Mapping[str, EvaluationResult]):
    """Results of the groups; the answers of one are copied when it is taken.

    Parameters
    ----------
    bare : dict of str to EvaluationResult
        The results, with the tape of all rows.
    groups : Groups
        The groups.
    """

    def __init__(self, bare: dict[str, EvaluationResult], groups: "Groups") -> None:
        self.bare, self._groups = bare, groups

    def __getitem__(self, name: str) -> EvaluationResult:
        one = pick(self.bare, name, "slice")
        number = self._groups.names.index(name)
        return replace(one, tape=self._groups.tape(tape_of(one), number))

    def __iter__(self) -> Iterator[str]:
        return iter(self.bare)

    def __len__(self) -> int:
        return len(self.bare)

    def __repr__(self) -> str:
        return f"results of the slices {list(self.bare)}"


def _results(
    whole: EvaluationResult,
    groups: "Groups",
    measures: dict[str, Measure],
    mechanisms: dict[str, Forgetting],
    record_every: int | None,
) -> _Results:
    """Score all groups."""
    # Windows that depend on the answers, and measures that read the labels of all rows, are scored
    # over all rows, as if models were asked about those of the group alone.
    by_rows = {name: one for name, one in mechanisms.items() if _counts_rows(one)}
    quick = {name: one for name, one in measures.items() if not reads_all_labels(one)}
    places = [None] if whole.bins is None else list(whole.bins)
    lines = [Lines(whole, quick, by_rows, place) for place in places if quick and by_rows]
    base = replace(whole, costs={}, paths={}, models=None, n_unanswered={}, n_unlabelled=0)
    bare = {}
    for number, name in enumerate(groups.names):
        parts = [one.curves(groups.rows[number], whole.checkpoints) for one in lines]
        found = dict(parts[0]) if parts else {}
        if whole.bins is not None:
            found = {key: np.stack([part[key] for part in parts], axis=2) for key in found}
        tape = None
        for mechanism, one in mechanisms.items():
            some = measures.keys() - quick.keys() if mechanism in by_rows else measures.keys()
            if not some:
                continue
            tape = groups.tape(tape_of(whole), number) if tape is None else tape
            left = {metric: measures[metric] for metric in measures if metric in some}
            again = rescored(tape, left, {mechanism: one}, record_every)
            for model, curves in again["values"].items():
                for metric, curve in curves[mechanism].items():
                    kept = curve if whole.bins is None else curve[:, :, list(whole.bins)]
                    found[model, mechanism, metric] = kept
        values = {
            model: {
                mechanism: {metric: found[model, mechanism, metric] for metric in measures}
                for mechanism in mechanisms
            }
            for model in whole.model_names
        }
        of_group = replace(base, parameters={**whole.parameters, "slice": name})
        bare[name] = with_scores(of_group, whole.details.mechanisms, values=values)
    return _Results(bare, groups)


def _counts_rows(mechanism: Forgetting) -> bool:
    """Whether what it remembers depends on the number of rows alone."""
    return not mechanism.follows_loss and not mechanism.counts_time


def _check_same(result: EvaluationResult, overall: EvaluationResult) -> None:
    """Raise an error if a measure of the user has the name of one of ours."""
    for model, forgetting, metric in product(
        result.model_names, result.forgetting_names, result.metric_names
    ):
        if forgetting not in overall.forgetting_names:
            continue
        pair = [
            final_value(one.curve(model, metric, forgetting=forgetting))
            for one in (result, overall)
        ]
        if not np.isclose(pair[0], pair[1], rtol=1e-6, atol=1e-9, equal_nan=True):
            raise ValueError(
                f"Measure {metric!r} of '{model}' is {pair[0]:.6g} in the result, but "
                f"{pair[1]:.6g} if computed by its name. If it is a measure of your own, pass "
                "metrics=."
            )
