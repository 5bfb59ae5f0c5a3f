"""What a result shows, in sentences: which model is ahead, of which naive guess, and how sure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any

import numpy as np

from skstream import stats
from skstream.core.result.result import EvaluationResult
from skstream.reports._compare import ScoresAtCheckpoint
from skstream.reports._report import (
    different_rows,
    of_bin,
    scored_with,
    undefined_kappas,
    with_own,
)
from skstream.reports._row_tests import row_loss
from skstream.stats._checks import check_alpha
from skstream.utils._tables import figure, listed

#: What the tables call a naive baseline.
NAIVE = "naive guess"
#: Most names in a sentence.
_MOST_NAMES = 8


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a result shows.

    Attributes
    ----------
    headline : str
        The whole in a sentence.
    details : list of str
        Distances, and what was shown by tests.
    tests : list of str
        The statement of each test.
    """

    headline: str
    details: list[str]
    tests: list[str]


@dataclass(kw_only=True)
class _Tested:
    """From which models the best one differs significantly; each other model is in one of four.

    `worse` and `better` than it was shown, `open` neither, `untested` for the reason given.
    """

    n_pairs: int
    basis: str = ""
    too_few: str = ""
    qualifier: str = ""
    worse: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    untested: dict[str, str] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)


def answer(result: EvaluationResult, alpha: float = 0.05) -> Answer:
    """Say which model has the best score by the first measure, and what tests show about it.

    The best one is chosen by the scores that are tested. So each test is one of all pairs of models
    (for one fold the level is divided by their number, over folds it is Holm's correction), as in
    `skstream.stats.compare_with_best`. With delayed labels the predictions of the first bin are
    compared, those at arrival. Rows are compared by their losses, which may not be what
    the measure is about; then the sentences say it.

    Parameters
    ----------
    result : EvaluationResult
        A result.
    alpha : float, default=0.05
        Level of the tests, for all pairs of models together, in (0, 1).

    Returns
    -------
    answer : Answer
        The sentences.

    Raises
    ------
    ValueError
        If `alpha` is not in (0, 1).
    """
    alpha = check_alpha(alpha)
    if result.bins is not None:  # what a forecast is judged by is what was said at arrival
        result = result.select(bins=result.bins[0])
    metric = result.metric_names[0]
    is_higher = result.measures[metric].higher_is_better
    ranked = _ranked(result, is_higher)
    without = _without_score(result, ranked)
    left = [name for name in result.scores if name not in result.failures]
    undefined = undefined_kappas(result, metric, left)
    if undefined and len(result.checkpoints):
        none = (
            f"No model can be called best: {metric} of {_names(undefined)} is undefined (NaN), for "
            "example because its baseline makes no error."
        )
        return Answer(headline=none, details=without, tests=[])
    if not ranked:
        return Answer(headline="No model has a score.", details=without, tests=[])
    if is_higher is None:
        unknown = f"No model can be called best: it is unknown whether a higher {metric} is better."
        return Answer(headline=unknown, details=without, tests=[])
    naive = [name for name in ranked if name in result.details.baselines]
    standing = _Standing(result, is_higher, ranked, naive)
    if len(ranked) == 1:
        details = [standing.direction, *standing.without_a_guess(), *without]
        return Answer(headline=standing.of_one(), details=details, tests=[])
    tested = _tested(result, ranked, alpha)
    details = [*standing.distances(), *standing.without_a_guess()]
    details += _certainty(result, ranked[0], tested, alpha)
    unlike = different_rows(result)
    headline = f"{standing.headline(tested)}{f' {unlike}.' if unlike else ''}"
    return Answer(headline=headline, details=[*details, *without], tests=tested.statements)


def _ranked(result: EvaluationResult, is_higher: bool | None) -> list[str]:
    """Models from good to bad; those that failed or have no score are left out."""
    metric, scores = result.metric_names[0], result.scores
    whole = [
        name
        for name in scores
        if not np.isnan(scores[name][metric]) and name not in result.failures
    ]
    return sorted(whole, key=lambda name: scores[name][metric], reverse=bool(is_higher))


def _without_score(result: EvaluationResult, ranked: Sequence[str]) -> list[str]:
    """Name the models that are not compared."""
    others = [name for name in result.model_names if name not in ranked]
    failed = [name for name in others if name in result.failures]
    undefined = [name for name in others if name not in failed]
    words = {
        "failed": failed,
        "no score": undefined,
        "left out": list(result.left_out),
    }
    said = [f"{_names(names)} ({why})" for why, names in words.items() if names]
    return [f"Not compared: {', '.join(said)}."] if said else []


class _Standing:
    """Models from good to bad, and their scores."""

    def __init__(
        self, result: EvaluationResult, is_higher: bool, ranked: list[str], naive: list[str]
    ) -> None:
        self.result, self.ranked, self.naive = result, ranked, naive
        self.metric = result.metric_names[0]
        self.measure = with_own(self.metric, result.measures[self.metric].name)
        self.scores = {name: result.scores[name][self.metric] for name in ranked}
        self.most, self.more, self.less = (
            ("highest", "higher", "lower") if is_higher else ("lowest", "lower", "higher")
        )
        self.best = ranked[0]
        self.equal = [name for name in ranked if self.scores[name] == self.scores[self.best]]

    @property
    def guess(self) -> str | None:
        """The best naive guess."""
        return self.naive[0] if self.naive else None

    @property
    def direction(self) -> str:
        """Which values are better, and what they are about where that is not all rows so far."""
        result = self.result
        bin = of_bin(result, None if result.bins is None else result.bins[-1])
        scored = scored_with(result, result.forgetting_names[0]) or ("scores" if bin else "")
        about = f"; these are {scored}{bin.replace(', bin', ' in bin')}" if scored else ""
        return f"A {self.more} {self.metric} is better{about}."

    def of_one(self) -> str:
        """Say the score of the only model that has one."""
        return (
            f"One model has a score: {self._named(self.best)}, {self.measure} "
            f"{self._shown(self.best)}."
        )

    def headline(self, tested: _Tested) -> str:
        """Say which model is ahead, and whether it is shown to be better than a naive guess."""
        best, guess = self.best, self.guess
        if len(self.naive) == len(self.ranked):
            return (
                f"There are only naive baselines: {best} has the {self.most} {self.measure}, "
                f"{self._shown(best)}."
            )
        if guess in self.equal:
            same = [name for name in self.equal if name != guess]
            also = f"; the same: {_names(same)}" if same else ""
            return (
                f"No model has a {self.more} {self.measure} than the {NAIVE} {guess}, "
                f"{self._shown(guess)}{also}."
            )
        alone = len(self.equal) == 1
        these, it = (f"{best} has", "") if alone else (f"{_names(self.equal)} have", f" {best}")
        ahead = f"{these} the {self.most} {self.measure} of {len(self.ranked)} models"
        if guess is None:
            return f"{ahead}, {self._shown(best)}."
        figures, against = self._shown(best), f"the {NAIVE} {guess} ({self._shown(guess)})"
        if tested.qualifier and guess not in tested.untested:  # the test is not of the figures
            figures, against = f"{figures} ({guess}: {self._shown(guess)})", f"the {NAIVE} {guess}"
        if guess in tested.worse:
            every = len(self.naive) > 1 and set(self.naive) <= set(tested.worse)
            against = f"every {NAIVE}" if every else against
            verdict = f"and{tested.qualifier}{it} is shown to be better than {against}"
        elif guess in tested.untested:
            gap = f"{self._gap(guess)} {self.more} than {against}"
            verdict = f"{gap}; this difference was not tested for significance"
        elif guess in tested.better:
            verdict = f"but{tested.qualifier}{it} is shown to be worse than {against}"
        else:
            verdict = f"but{tested.qualifier}{it} is not shown to be better than {against}"
        ahead_of_best = [name for name in self.naive if name in tested.better and name != guess]
        if ahead_of_best:  # the test is of another loss than the measure
            verdict += f"; by the same test, it is worse than the {NAIVE} {_names(ahead_of_best)}"
        return f"{ahead}, {figures}, {verdict}."

    def distances(self) -> list[str]:
        """Say by how much the best one is ahead of the naive guess, and of the next model."""
        best, guess = self.best, self.guess
        behind = [name for name in self.ranked if name not in self.equal and name != guess]
        sentences = [self.direction]
        if guess is not None and guess not in self.equal:
            sentences.append(
                f"The best {NAIVE}, {guess}, has {self._shown(guess)}; {best} is "
                f"{self._gap(guess)} {self.more}."
            )
        models = [name for name in behind if name not in self.naive]
        following = models if guess in self.equal and models else behind
        if following:
            kind = "The best other model" if guess in self.equal else "The next model"
            sentences.append(
                f"{kind}, {self._named(following[0])}, has {self._shown(following[0])}, "
                f"{self._gap(following[0])} {self.less}."
            )
        if guess is not None and guess not in self.equal:
            later = self.ranked[self.ranked.index(guess) + 1 :]
            beaten = [name for name in later if name not in self.naive]
            if beaten:
                sentences.append(f"No {self.more} than that {NAIVE}: {_names(beaten)}.")
        return [" ".join(sentences)]

    def without_a_guess(self) -> list[str]:
        """Say what the scores can be compared with where no naive guess is among the models."""
        if self.naive:
            return []
        result, best = self.result, self.best
        zeros = [
            f"{name} (here {figure(result.scores[best][name])})"
            for name in result.metric_names
            if result.measures[name].baseline_is_zero
        ]
        of_zero = f" A {NAIVE} scores 0 in {_names(zeros)}." if zeros else ""
        return [
            f"No {NAIVE} is among the models with a score, so there is little to compare {best} "
            f"with: evaluate one of skstream.baselines, too.{of_zero}"
        ]

    def _named(self, name: str) -> str:
        return f"{name} (a {NAIVE})" if name in self.naive else name

    def _shown(self, name: str) -> str:
        return figure(self.scores[name])

    def _gap(self, name: str) -> str:
        gap = abs(self.scores[self.best] - self.scores[name])
        return figure(gap) if gap >= 5e-5 else "less than 0.0001"


def _tested(result: EvaluationResult, ranked: Sequence[str], alpha: float) -> _Tested:
    """Test the best model against each other one, as one of all pairs."""
    if result.n_folds > 1:
        return _tested_over_folds(result, ranked, alpha)
    return _tested_over_rows(result, ranked, alpha)


def _tested_over_folds(result: EvaluationResult, ranked: Sequence[str], alpha: float) -> _Tested:
    others = ranked[1:]
    scores = ScoresAtCheckpoint(result, None, None, None)
    tested = stats.compare_with_best(
        np.stack([scores.of_folds(name) for name in ranked], axis=1),
        list(ranked),
        higher_is_better=bool(scores.facts.higher_is_better),
        alpha=alpha,
    )
    basis = f"{scores.subject} {scores.place}, over {result.n_folds} folds"
    found = replace(tested, subject=basis, blocks="folds")
    open_ = [name for name in others if name in found.not_told_apart]
    return _Tested(
        n_pairs=comb(len(ranked), 2),
        basis=basis,
        worse=[name for name in others if name not in open_],
        open=open_,
        too_few=found._warning,
        statements=[" ".join(str(found).split())],
    )


def _tested_over_rows(result: EvaluationResult, ranked: Sequence[str], alpha: float) -> _Tested:
    best, *others = ranked
    # Also pairs with models that failed or ended early: the best was chosen among them, too.
    tested = _Tested(n_pairs=comb(len(result.model_names), 2), qualifier=_qualifier(result))
    options: dict[str, Any] = {"alpha": alpha / tested.n_pairs}
    subjects: dict[str, str] = {}
    for name in others:
        try:
            found = result.compare(best, name, test="anytime", **options)
        except ValueError as error:
            tested.untested[name] = str(error)
            continue
        {best: tested.worse, name: tested.better, None: tested.open}[found.better].append(name)
        # What each interval promises is the same, and so is mostly what was compared: said once.
        *said, promise = found._sentences()
        tested.statements.append(" ".join(said))
        subjects.setdefault(found.subject, promise)
    tested.basis = "; ".join(subjects)
    if result.classes is None:  # errors of numbers have no bounds
        tested.basis += " (valid for many rows)"
    tested.statements += list(dict.fromkeys(subjects.values()))
    if subjects and tested.n_pairs > 1:
        divided = f"{100 * alpha:g} % divided by the {tested.n_pairs} pairs of models"
        tested.statements.append(f"The level of each interval is {divided}.")
    return tested


def _qualifier(result: EvaluationResult) -> str:
    """Say what a test over rows is about, where that is not what the scores are about."""
    loss, facts = row_loss(result, "anytime", None), result.measures[result.metric_names[0]]
    words = [] if loss.kind == facts.row_loss else [f"by {loss.words}"]
    if scored_with(result, result.forgetting_names[0]) and not result.details.scored_sets:
        words.append("over all rows")
    return f", {' '.join(words)}," if words else ""


def _certainty(result: EvaluationResult, best: str, tested: _Tested, alpha: float) -> list[str]:
    """Say from which models the best one differs significantly."""
    sentences = []
    scored = scored_with(result, result.forgetting_names[0]) if result.n_folds == 1 else ""
    pairs = f", for all {tested.n_pairs} pairs of models together" if tested.n_pairs > 1 else ""
    level = f"at the level of {100 * alpha:g} %{pairs}"
    if tested.worse:
        sentences.append(f"{best} is shown to be better than {_names(tested.worse)}, {level}.")
    if tested.open:
        sentences.append(
            f"{best} does not differ significantly from {_names(tested.open)}, {level}; this does "
            "not show that they are equal."
        )
    if tested.too_few:
        sentences.append(f"{tested.too_few[0].upper()}{tested.too_few[1:]}.")
    if tested.better:
        why = "the losses that the test compares contradict the measure"
        if scored and not result.details.scored_sets:
            why = f"the test compares all rows, while {best} is best by {scored}"
        sentences.append(
            f"{_names(tested.better)} {'is' if len(tested.better) == 1 else 'are'} shown to be "
            f"better than {best}, {level}: {why}."
        )
    if sentences:
        unlike = f", and not by {scored}" if scored else ""
        sentences.append(f"Compared {tested.basis}{unlike}.")
    reasons: dict[str, list[str]] = {}
    for name, why in tested.untested.items():
        reasons.setdefault(why, []).append(name)
    sentences += [
        f"Whether {best} differs from {_names(names)} significantly was not tested: {why}"
        for why, names in reasons.items()
    ]
    return sentences


def _names(names: Sequence[str]) -> str:
    return listed(names, _MOST_NAMES)
