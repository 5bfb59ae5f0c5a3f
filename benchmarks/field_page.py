"""What works on streams, as a page: docs/what_works.md and its pictures, from docs/field.json.

    python -m benchmarks.field_page
    python -m benchmarks.field_page --record mine.json --page mine.md

Nothing is evaluated: every figure and every count in the sentences is computed from the record,
which `python -m benchmarks.field` writes. A test makes the page again and compares.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kendalltau

from benchmarks._field_names import LEARNERS, STREAMS
from benchmarks.field import FIELD, ranked
from skstream.stats import friedman_nemenyi
from skstream.stats._report import plural

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "what_works.md"
PICTURES = ("what_works_gains.png", "what_works_ranks.png", "what_works_late.png")
#: Accuracies in print, on all eight columns of Electricity: learner here, where, what differs.
PUBLISHED = (
    ("nb", "MOA, naive Bayes", 73.36, "there, days are counted; here, their codes are numbers"),
    ("tree", "MOA, Hoeffding tree", 79.19, "details of splits and ties"),
    ("bag", "CapyMOA's documentation, bagging of ten trees", 82.4, "other random weights"),
    ("forest", "CapyMOA's documentation, adaptive random forest", 89.36, "here ten trees"),
)
#: Streams of a table of accuracies, so that it is no wider than the page.
MOST_COLUMNS = 8
TRIED = """Tried, and not in the record: with 100 trees and one seed, the forest gets 88.75, by
`skstream evaluate electricity.parquet --target class --model "forest(n_estimators=100)"
--set random_state=0`. So its size explains about one point of the difference. The other reasons in
the last column were not tried."""


def percent(value: float, digits: int = 1) -> str:
    """A share in percent, or points."""
    return f"{100 * value:.{digits}f}".replace("-", "−")


def median(values: Sequence[float]) -> float:
    """The median."""
    return float(np.median(values))


def signed(value: float) -> str:
    """A correlation: two digits."""
    return f"{value:.2f}".replace("-", "−")


def points(value: float, digits: int = 1) -> str:
    """A difference of accuracies, with its sign."""
    return f"{'+' if value >= 0 else '−'}{100 * abs(value):.{digits}f}"


def cost(value: float | None) -> str:
    """Microseconds or megabytes: two digits."""
    return "–" if value is None else f"{float(f'{value:.2g}'):,g}"


def span(values: Sequence[float]) -> str:
    """Differences from the smallest to the largest, in points."""
    ends = dict.fromkeys(percent(one) for one in (min(values), max(values)))
    return " to ".join(ends)


def listing(names: Iterable[str]) -> str:
    """Names, in code style."""
    return ", ".join(f"`{name}`" for name in names) or "none"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; all columns but the first are numbers."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class Refit(NamedTuple):
    """How refitted boosting compares with the best other learner of a stream."""

    margin: float
    leads_by_first_seed: bool
    leads_by_every_seed: bool


class Late(NamedTuple):
    """What late labels change on a stream."""

    stream: str
    delay: str
    best_now: str
    best_late: str
    tau: float
    loss: float  # of the median learner
    last_loss: float  # of the last known label, as a guess


class Field:
    """The record, and what the page asks of it."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.record = record
        self.entries: dict[str, Any] = record["entries"]
        self.learners: dict[str, Any] = record["learners"]
        self.guesses, self.seasonal, optimal = (
            [n for n, one in self.learners.items() if one["family"] == family]
            for family in ("naive", "seasonal", "optimal")
        )
        self.left = [*self.guesses, *self.seasonal, *optimal]

    def names(self, *, generated: bool, late: bool = False, apart: bool = False) -> list[str]:
        """Entries of a kind; those that share rows with another stream count apart."""
        return [
            name
            for name, one in self.entries.items()
            if one["generated"] == generated
            and (one["delay"] != "at once") == late
            and bool(one["same_rows_as"]) == apart
        ]

    @cached_property
    def ranked_learners(self) -> list[str]:
        """Learners, without naive guesses and the best possible predictions."""
        return [name for name in self.learners if name not in self.left]

    @cached_property
    def real(self) -> list[str]:
        """Real streams with labels at once, each once."""
        return self.names(generated=False)

    @cached_property
    def delays(self) -> dict[str, dict[str, str]]:
        """Entries with late labels, by how late they are among those of a stream, and by stream."""
        found: dict[str, dict[str, str]] = {"the shorter delay": {}, "the longer delay": {}}
        for stream in self.real:
            late = [
                name
                for name in self.names(generated=False, late=True)
                if self.entries[name]["stream"] == stream
            ]
            late.sort(key=self._delay)
            if late:
                found["the shorter delay"][stream] = late[0]
            if len(late) > 1:
                found["the longer delay"][stream] = late[-1]
        return found

    @cached_property
    def late(self) -> list[str]:
        """Real streams with late labels, each once, by its longest delay."""
        shorter, longer = self.delays.values()
        return list({**shorter, **longer}.values())

    def _delay(self, name: str) -> float:
        rows = self.entries[name]["delay"].removeprefix("late")
        return float(rows) if rows.isdigit() else float("inf")

    def score(
        self, entry: str, learner: str, metric: str = "accuracy", seed: int | None = None
    ) -> float:
        """Mean of a measure over the seeds, or its value with one; NaN where there is none."""
        one = self.entries[entry]
        data = one["learners"].get(learner)
        if data is None or learner in one["failures"]:
            return float("nan")
        values = np.array(data["scores"][one["measures"].index(metric)], float)
        # One value stands for all seeds.
        return float(values.mean() if seed is None or len(values) == 1 else values[seed])

    def competing(self, entry: str) -> list[str]:
        """Learners with an interval to the naive guesses."""
        return [n for n, one in self.entries[entry]["learners"].items() if "gain" in one]

    def best(self, entry: str, among: Iterable[str] | None = None, seed: int | None = None) -> str:
        """The learner with the highest accuracy, by the mean over the seeds or by one."""
        return max(
            self.competing(entry) if among is None else among,
            key=lambda n: self.score(entry, n, seed=seed),
        )

    def beat(self, entry: str, what: str = "gain_is") -> list[str]:
        """Learners that are certainly better than every naive guess."""
        one = self.entries[entry]
        learners = {n: one["learners"][n] for n in self.competing(entry)}
        # Verdicts without seasonal guesses are only where there are some.
        return [n for n, data in learners.items() if data.get(what, data["gain_is"]) == 1]

    def untold(self, names: Iterable[str]) -> list[str]:
        """Those that are not told the last label."""
        return [name for name in names if not self.learners[name]["told"]]

    def ranks(self, entries: Sequence[str]) -> Any:
        """Ranks of the learners that have a score on all of some entries; None: too few."""
        names = ranked(self.entries, entries, self.left)
        scores = [[self.score(entry, name) for name in names] for entry in entries]
        if len(entries) < 2 or len(names) < 2:
            return None
        return friedman_nemenyi(scores, names, higher_is_better=True)

    @cached_property
    def ranked_pictures(self) -> tuple[tuple[str, list[str], str], ...]:
        """Pictures of ranks: file, entries, and what their labels are."""
        return (
            (PICTURES[1], self.real, "labels at once"),
            (PICTURES[2], self.late, "late labels"),
        )

    def cost_of(self, learner: str, what: str, entries: Sequence[str]) -> float | None:
        """Median of a cost over entries."""
        found = [self.entries[e]["learners"].get(learner, {}).get(what) for e in entries]
        known = [one for one in found if one is not None]
        return median(known) if known else None

    def pairs(self) -> dict[str, str]:
        """Learners told the last label, by what they are alone."""
        found = {}
        for name, one in self.learners.items():
            alone = name.removesuffix("+last")
            if one["told"] and alone != name and alone in self.learners:
                found[alone] = name
        return found

    def first(self, family: str) -> str | None:
        """The plain learner of a family: the first that is told nothing."""
        names = [n for n, one in self.learners.items() if one["family"] == family]
        return next(iter(self.untold(names)), None)

    def of_family(self, family: str) -> list[str]:
        """Learners of a family that are not told the last label."""
        return self.untold(n for n, one in self.learners.items() if one["family"] == family)

    @cached_property
    def unbeaten(self) -> list[str]:
        """Real streams on which no learner by itself beats every naive guess."""
        return [name for name in self.real if not self.untold(self.beat(name))]

    @cached_property
    def everywhere(self) -> list[str]:
        """Learners that compete on every real stream."""
        return [n for n in self.ranked_learners if all(n in self.competing(e) for e in self.real)]

    @cached_property
    def gains_by_last(self) -> dict[str, list[float]]:
        """By real stream: what each learner gains if it is given the last label."""
        return {
            e: [
                self.score(e, told) - self.score(e, alone)
                for alone, told in self.pairs().items()
                if {alone, told} <= {*self.competing(e)}
            ]
            for e in self.real
        }

    @cached_property
    def forest_by_tree(self) -> tuple[list[float], list[float]] | None:
        """What the forest gains on the tree, and how many times as long it takes, by stream."""
        tree, forest = self.first("tree"), self.first("forest")
        if not {tree, forest} <= {*self.everywhere} or not self.real:
            return None
        gains = [self.score(e, str(forest)) - self.score(e, str(tree)) for e in self.real]
        learners = [self.entries[e]["learners"] for e in self.real]
        return gains, [one[forest]["microseconds"] / one[tree]["microseconds"] for one in learners]

    @cached_property
    def refits(self) -> dict[str, "Refit"]:
        """By real stream: refitted boosting, and the best learner that learns row by row."""
        refits, found = self.of_family("refitted"), {}
        for name in self.real:
            alone = self.untold(self.competing(name))
            there = [n for n in alone if n in refits]
            others = [n for n in alone if n not in refits]
            if there and others:
                margin = self.score(name, self.best(name, there)) - self.score(
                    name, self.best(name, others)
                )
                seeds = range(len(self.entries[name]["commands"]))
                leads = [self.best(name, alone, seed) in refits for seed in seeds]
                found[name] = Refit(margin, leads[0], all(leads))
        return found

    @cached_property
    def late_effects(self) -> dict[str, list["Late"]]:
        """What late labels change, by how late they are."""
        return {
            which: [
                self._late_effect(name)
                for stream, name in by_stream.items()
                if stream in self.entries and len(self._in_both(name)) > 1
            ]
            for which, by_stream in self.delays.items()
        }

    def _in_both(self, entry: str) -> list[str]:
        now = self.entries[entry]["stream"]
        return [n for n in self.competing(now) if n in self.competing(entry)]

    def _late_effect(self, entry: str) -> "Late":
        now, names = self.entries[entry]["stream"], self._in_both(entry)
        a, b = ([self.score(e, n) for n in names] for e in (now, entry))
        return Late(
            stream=now,
            delay=self.entries[entry]["delay"].removeprefix("late"),
            best_now=self.best(now, names),
            best_late=self.best(entry, names),
            tau=float(kendalltau(a, b).statistic),
            loss=median(np.subtract(a, b).tolist()),
            last_loss=self.score(now, "persistent") - self.score(entry, "persistent"),
        )


# -- the answers: one line each, of figures that the details explain


def naive_headline(field: Field) -> Iterable[str]:
    """On how many streams no learner beats the naive guesses, and whether the last label helps."""
    guesses = [field.entries[e]["best_guess"] for e in field.unbeaten]
    yield (
        f"**On {len(field.unbeaten)} of {len(field.real)} real streams no learner beats the best "
        f"naive guess.** On {guesses.count('persistent')} of them that guess is the last label."
    )
    gains = [gain for of_stream in field.gains_by_last.values() for gain in of_stream]
    if gains:
        more = [e for e in field.unbeaten if field.beat(e)]
        where = f"beat the guess on {len(more)} of those" if more else "beat no guess on those"
        yield (
            f"**Giving learners the last label raises accuracy in {sum(g > 0 for g in gains)} of "
            f"{len(gains)} cases**, by {percent(median(gains))} points in the median; they still "
            f"{where} {plural(len(field.unbeaten), 'stream')}."
        )


def best_headline(field: Field) -> Iterable[str]:
    """Which learners are best over the streams."""
    found = field.ranks(field.real)
    if found is not None:
        worse = len(found.names) - 1 - len(not_worse(found))
        yield (
            f"**`{found.ranking[0]}` has the best average rank**, and {worse} of the other "
            f"{len(found.names) - 1} learners rank significantly worse."
        )
    if board := field.record["leaderboards"].get("real"):
        times = {n: field.cost_of(n, "microseconds", field.real) for n in board["possible"]}
        words = [f"`{n}` ({cost(time)} µs per row)" for n, time in times.items()]
        if len(words) <= 3:
            yield f"**By mean accuracy the best is {' or '.join(words)}**, with 95 % confidence."


def forest_headline(field: Field) -> Iterable[str]:
    """What a forest costs and gains."""
    if found := field.forest_by_tree:
        gains, ratios = found
        yield (
            f"**A forest takes {median(ratios):.0f} times as long as a tree** and gains "
            f"{percent(median(gains))} points, in the median; it is better on "
            f"{sum(g > 0 for g in gains)} of {len(gains)} streams."
        )


def refit_headline(field: Field) -> Iterable[str]:
    """Whether boosting that is refitted leads."""
    if field.refits:
        leads = sum(one.leads_by_every_seed for one in field.refits.values())
        behind = -min(one.margin for one in field.refits.values())
        yield (
            f"**Refitted boosting is clearly ahead on {leads or 'none'} of {len(field.refits)} "
            f"real streams**{f', and up to {percent(behind)} points behind' if behind > 0 else ''}."
        )


def late_headline(field: Field) -> Iterable[str]:
    """What late labels cost."""
    known = [effects for effects in field.late_effects.values() if effects]
    if known:
        losses, last = (
            [median([getattr(one, what) for one in effects]) for effects in known]
            for what in ("loss", "last_loss")
        )
        longest = known[-1]
        changed = sum(one.best_now != one.best_late for one in longest)
        yield (
            f"**Late labels cost a typical learner {span(losses)} points**, and the last label as "
            f"a guess {span(last)}; with the longer delay, another learner is best on {changed} of "
            f"{len(longest)} streams."
        )


ANSWERS: tuple[Callable[[Field], Iterable[str]], ...] = (
    naive_headline,
    best_headline,
    forest_headline,
    refit_headline,
    late_headline,
)


# -- the details of the answers


def about_guesses(field: Field) -> Iterable[str]:
    """Which streams have a guess that no learner beats."""
    alone = field.unbeaten
    guesses = [field.entries[name]["best_guess"] for name in alone]
    seasonal = sum(guess in field.seasonal for guess in guesses)
    worse = [
        e
        for e in alone
        if all(
            field.entries[e]["learners"][n]["gain_is"] == -1
            for n in field.untold(field.competing(e))
        )
    ]
    if alone:
        yield (
            f"**Naive guesses.** No learner beats the best guess on {listing(alone)}. That guess "
            f"is the last label on {guesses.count('persistent')} of them"
            + (f", and a seasonal one on {seasonal}." if seasonal else ".")
            + (
                f" On {listing(worse)} every learner is significantly *worse* than the guess. Not "
                "counted here are learners that are given the last label."
                if worse
                else " Not counted here are learners that are given the last label."
            )
        )


def about_last_label(field: Field) -> Iterable[str]:
    """What the last label gives a learner."""
    gains = field.gains_by_last
    pairs = [one for of_stream in gains.values() for one in of_stream]
    if not pairs:
        return
    more = [e for e in field.unbeaten if field.beat(e)]
    never = len(field.unbeaten) - len(more)
    further = f"{len(more)} more streams ({listing(more)})" if more else "no further stream"
    most = max(gains, key=lambda e: sum(gains[e]))
    others = [one for e in field.real if e != most for one in gains[e]]
    other_told = [
        n for n in field.ranked_learners
        if field.learners[n]["told"] and n not in field.pairs().values()
    ]  # fmt: skip
    yield (
        f"**The last label.** {plural(len(field.pairs()), 'learner')} also ran with the last known "
        f"label as a further column ({listing(field.pairs().values())}). That changes accuracy by "
        f"{points(min(pairs))} to {points(max(pairs))} points, "
        f"{points(float(np.mean(pairs)))} in the mean"
        + (
            f"; without `{most}`, which gives most, {points(float(np.mean(others)))} in the mean."
            if others
            else "."
        )
        + " With it, learners beat the best guess on "
        f"{further}; on {never} of {len(field.real)} none of the "
        f"{len(field.ranked_learners)} learners does."
        + (f" {listing(other_told)} uses the last label, too." if other_told else "")
    )


def best_five(ranking: Sequence[str], ranks: Mapping[str, float]) -> list[str]:
    """The five best average ranks, and those that are equal to the last of them."""
    worst = ranks[ranking[:5][-1]]
    return [f"`{name}` {ranks[name]:.1f}" for name in ranking if ranks[name] <= worst + 1e-9]


def ranks_of(found: Any) -> dict[str, float]:
    """Average ranks by learner."""
    return dict(zip(found.names, found.average_ranks.tolist(), strict=True))


def not_worse(found: Any) -> list[str]:
    """Learners that do not rank significantly worse than the first."""
    ranks = ranks_of(found)
    reach = ranks[found.ranking[0]] + found.critical_difference
    return [name for name in found.ranking[1:] if ranks[name] < reach]


def about_ranks(field: Field) -> Iterable[str]:
    """Who is best over the streams."""
    found = field.ranks(field.real)
    if found is None:
        return
    yield (
        f"**Average ranks** over {len(field.real)} real streams, of {len(found.names)} learners: "
        f"{', '.join(best_five(found.ranking, ranks_of(found)))}. Two learners differ "
        f"significantly if their ranks differ by {found.critical_difference:.1f} (the critical "
        f"difference), so {plural(len(not_worse(found)), 'other learner')} may be as good as "
        f"`{found.ranking[0]}`."
    )


def about_certificates(field: Field) -> Iterable[str]:
    """Who may be the best over these streams."""
    words = []
    for kind, board in field.record["leaderboards"].items():
        sentence = (
            f"On the {len(board['streams'])} {kind} streams {best_words(board)} the best mean "
            f"accuracy of {len(board['mean_losses'])} learners"
        )
        if one := board.get("without"):
            sentence += (
                f"; without `{one['stream']}`, on which learners differ most, {best_words(one)} it"
            )
        words.append(f"{sentence}.")
    if words:
        yield (
            f"**Best mean accuracy**, with 95 % confidence. {' '.join(words)} This holds for these "
            "streams alone, and for first seeds where no seed changes the rows."
        )


def best_words(board: Mapping[str, Any]) -> str:
    """Say which learners may be the best."""
    verb = "has" if len(board["possible"]) == 1 else "may have"
    return f"{' or '.join(f'`{name}`' for name in board['possible'])} {verb}"


def about_costs(field: Field) -> Iterable[str]:
    """What points cost."""
    kinds = [field.first(kind) for kind in ("naive Bayes", "tree", "forest", "refitted")]
    names = [n for n in kinds if n is not None and n in field.everywhere]
    if len(names) < 2:
        return
    means = {n: float(np.mean([field.score(e, n) for e in field.real])) for n in field.everywhere}
    micros = {n: field.cost_of(n, "microseconds", field.real) or 0.0 for n in field.everywhere}
    sizes = {n: cost(field.cost_of(n, "megabytes", field.real)) for n in names}
    words = {n: f"`{n}` {percent(means[n])} % for {cost(micros[n])} µs" for n in field.everywhere}
    best = max(means, key=lambda n: means[n])
    near = min((n for n in means if means[n] > means[best] - 0.01), key=lambda n: micros[n])
    yield (
        "**Cost.** Mean accuracy over the real streams, median time per row and size: "
        f"{'; '.join(f'{words[n]} and {sizes[n]} MB' for n in names)}. More time does not buy more "
        f"points: the best mean is {words[best]}"
        + (f", and within one point of it {words[near]}." if near != best else ".")
    )
    if found := field.forest_by_tree:
        gains, ratios = found
        yield (
            f"**Forest and tree.** By stream, a forest takes {cost(min(ratios))} to "
            f"{cost(max(ratios))} times as long, and changes accuracy by {points(min(gains))} to "
            f"{points(max(gains))} points, {points(float(np.mean(gains)))} in the mean. The ratio "
            "of times is rough: see [How to read the figures](#how-to-read-the-figures)."
            f"{few_words(field, 'forest')}"
        )


def few_words(field: Field, family: str) -> str:
    """Say how much faster a learner is where few others take turns with it."""
    learner = field.first(family)
    shares = [
        one["microseconds_among_few"] / one["microseconds"]
        for one in (field.entries[e]["learners"][learner] for e in field.real)
        if "microseconds_among_few" in one
    ]
    if not shares:
        return ""
    return (
        " Where only learners with chance take turns (later seeds), a forest takes "
        f"{100 * median(shares):.0f} % of its time here, in the median "
        f"({100 * min(shares):.0f} to {100 * max(shares):.0f} %)."
    )


def about_refits(field: Field) -> Iterable[str]:
    """Where boosting that is refitted is best."""
    if not field.refits:
        return
    names = listing(field.of_family("refitted"))
    wins = [f"`{e}` ({points(r.margin, 2)})" for e, r in field.refits.items() if r.margin > 0]
    yield (
        f"**Refitted boosting** ({names}) is compared with learners that learn row by row; none "
        f"is given the last label. By mean accuracy over the seeds it leads on {len(wins)} of "
        f"{len(field.refits)} real streams{': ' + ', '.join(wins) + ' points' if wins else ''}; "
        f"by the first seed alone on {sum(r.leads_by_first_seed for r in field.refits.values())}. "
        "*Clearly ahead* means that it leads with each seed of the others."
    )


def about_delays(field: Field) -> Iterable[str]:
    """What changes when labels are late."""
    words = []
    for which, effects in field.late_effects.items():
        if effects:
            taus, losses, last = (
                [getattr(one, what) for one in effects] for what in ("tau", "loss", "last_loss")
            )
            words.append(
                f"With {which} the median learner loses {percent(median(losses))} points of "
                f"accuracy in the median of the streams ({percent(min(losses))} to "
                f"{percent(max(losses))}), and the last known label {percent(median(last))} "
                f"({percent(min(last))} to {percent(max(last))}). Kendall's tau, of the orders of "
                f"learners with and without delay, is {signed(np.nanmedian(taus))} in the median, "
                f"{signed(np.nanmin(taus))} at least."
            )
    if words:
        yield (
            "**Late labels** (table below). The prediction at arrival is the one scored. "
            f"{' '.join(words)} Losses below 0 are gains: there the delay is a season."
        )


def about_late_ranks(field: Field) -> Iterable[str]:
    """Who is best over the streams where labels are late, and whether the last label helps."""
    now = field.ranks([field.entries[name]["stream"] for name in field.late])
    late = field.ranks(field.late)
    if now is None or late is None:
        return
    before, after = ranks_of(now), ranks_of(late)
    told = [name for name in field.pairs().values() if name in before and name in after]
    worse = len(after) - 1 - len(not_worse(late))
    yield (
        f"**Average ranks with late labels**, over {plural(len(field.late), 'real stream')}, the "
        f"longer delay: {', '.join(best_five(late.ranking, after))}. The critical difference is "
        f"{late.critical_difference:.1f}, so {worse or 'no'} "
        f"{'learners rank' if worse > 1 else 'learner ranks'} significantly worse than the first."
        + (
            f" The {len(told)} learners with `+last` have a mean rank of "
            f"{np.mean([before[name] for name in told]):.1f} on these streams with labels at once, "
            f"and of {np.mean([after[name] for name in told]):.1f} with late ones."
            if told
            else ""
        )
    )


def about_truth(field: Field) -> Iterable[str]:
    """How far learners are from the best possible predictions."""
    known = [
        n for n in field.names(generated=True) if "bayes-optimal" in field.entries[n]["learners"]
    ]
    gaps = {n: field.score(n, "bayes-optimal") - field.score(n, field.best(n)) for n in known}
    if gaps:
        far = max(gaps, key=lambda n: gaps[n])
        yield (
            f"**Best possible predictions** are known on {plural(len(gaps), 'generated stream')}. "
            f"The best learner of each, chosen after the fact, is "
            f"{percent(median(list(gaps.values())))} points below them in the median, and "
            f"{percent(gaps[far])} on `{far}`."
        )


DETAILS: tuple[Callable[[Field], Iterable[str]], ...] = (
    about_guesses,
    about_last_label,
    about_ranks,
    about_certificates,
    about_costs,
    about_refits,
    about_delays,
    about_late_ranks,
    about_truth,
)


# -- what else could explain it


def other_guesses(field: Field) -> Iterable[str]:
    """The most frequent successor of the last label, as a guess."""
    known = {e: field.entries[e]["succession"] for e in field.real}
    better = {
        e: value
        for e, value in known.items()
        if value is not None and value > field.score(e, field.entries[e]["best_guess"]) + 0.01
    }
    words = [
        f"on `{e}` it scores {percent(value)} % (best guess "
        f"{percent(field.score(e, field.entries[e]['best_guess']))}, best learner "
        f"{percent(field.score(e, field.best(e)))})"
        for e, value in better.items()
    ]
    ahead = [e for e, value in better.items() if value >= field.score(e, field.best(e))]
    yield (
        "**Another guess.** Labels may alternate instead of repeating. Guessing the most frequent "
        "successor of the last label, counted over all rows (P(S) of "
        "[`label_profile`](temporal_dependence.md#profile-the-labels-first)), is more than a point "
        f"better than the best guess on {len(better)} of {len(known)} real "
        f"streams{': ' + '; '.join(words) if words else ''}."
        + (f" On {listing(ahead)} no learner is better than it." if ahead else "")
    )


def other_seasons(field: Field) -> Iterable[str]:
    """The label a day, a week or a year before, as a guess; and the answers without it."""
    words, ahead = [], []
    for entry in field.real:
        there = [n for n in field.seasonal if n in field.entries[entry]["learners"]]
        if there:
            season, plain = (field.best(entry, names) for names in (there, field.guesses))
            words.append(
                f"`{entry}`: `{season}` {percent(field.score(entry, season))} %, `{plain}` "
                f"{percent(field.score(entry, plain))} %"
            )
            if field.score(entry, season) > field.score(entry, plain):
                ahead.append(entry)
    if words:
        with_it, without = (
            [e for e in field.real if not field.untold(field.beat(e, what))]
            for what in ("gain_is", "gain_plain_is")
        )
        yield (
            f"**Seasonal guesses.** {plural(len(words), 'real stream')} with a season have further "
            "guesses: the label a day, a week or a year before. The best of these and the best of "
            f"the others, after the fact: {'; '.join(words)}. The seasonal one is better on "
            f"{len(ahead)} of them{f' ({listing(ahead)})' if ahead else ''}. Without the seasonal "
            f"guesses, no learner would beat the best guess on {len(without)} streams instead of "
            f"{len(with_it)}. No learner was given a seasonal label."
        )


def other_settings(field: Field) -> Iterable[str]:
    """How the learners were chosen, and what that may do to them."""
    yield (
        "**The settings.** Nothing was tuned to a stream, but the learners were chosen after a "
        "look at the first 3,000 rows of some. No ranking holds for other settings."
    )
    yield (
        "**Short streams.** `hgb-500` has no model for its first 500 rows and `hgb-2000` for its "
        "first 2,000, which is all of a short stream. Part of their ranks is this start."
    )
    yield (
        "**Columns.** Gaps of `gmsc` and `ozone` are read as 0, which hurts linear models and "
        "naive Bayes. River's trees read the codes of nominal columns as numbers."
    )
    yield (
        "**Rows.** The rows of `covertype` are the beginning of its file, where the classes are "
        "balanced by hand."
    )
    yield (
        "**Ties of `hat`.** It has one seed, and breaks ties by the order in which Python holds "
        "texts in a set: some rows differ from process to process unless PYTHONHASHSEED is set."
    )
    yield (
        "**Clocks.** Boosting is refitted by rows, never by the clock. No stream here has arrival "
        "times of its own labels: all delays are chosen. Those of `electricity`, `bike` and "
        "`powersupply` are days and weeks, so the last known label there is a seasonal guess."
    )


def other_step_sizes(field: Field) -> Iterable[str]:
    """Linear models with several steps."""
    steps = [name for name in field.of_family("linear") if re.fullmatch(r"lin-[\d.]+", name)]
    real = [e for e in field.real if sum(n in field.competing(e) for n in steps) > 1]
    if not real:
        return
    spans, needed = [], []
    for entry in real:
        there = [n for n in steps if n in field.competing(entry)]
        scores = [field.score(entry, n) for n in there]
        spans.append(max(scores) - min(scores))
        beat = [n for n in there if n in field.beat(entry)]
        if 0 < len(beat) < len(there):
            needed.append(entry)
    yield (
        f"**The step size.** The linear models that differ only in their step ({listing(steps)}) "
        f"lie {percent(median(spans))} points apart on a stream in the median, and up to "
        f"{percent(max(spans))}. On {len(needed)} of {len(real)} streams some of them beat the "
        "naive guesses and others do not"
        + (": there the step decides, not the kind of the model." if needed else ".")
    )


def other_columns(field: Field) -> Iterable[str]:
    """Streams with other columns of the same rows."""
    for name in field.names(generated=False, apart=True):
        one = field.entries[name]
        plain = one["same_rows_as"]
        both = [n for n in field.competing(name) if n in field.competing(plain)]
        if not both:
            continue
        gains = [field.score(name, n) - field.score(plain, n) for n in both]
        k, first = len(field.beat(name)), len(field.beat(plain))
        yield (
            f"**Other columns of the same rows.** `{name}` has {one['columns']} columns, `{plain}` "
            f"{field.entries[plain]['columns']}{f' ({STREAMS[name]})' if name in STREAMS else ''}. "
            f"With all of them, {k} learners beat the naive guesses instead of {first}, and "
            f"learners gain {points(median(gains))} points in the median. `{name}` is in no count "
            "and no rank."
        )


def other_rows(field: Field) -> Iterable[str]:
    """Without the first rows."""
    real = field.real
    changed = [
        (e, n)
        for e in real
        for n in field.competing(e)
        if field.entries[e]["learners"][n]["gain_is"]
        != field.entries[e]["learners"][n]["gain_later_is"]
    ]
    turned = [
        (e, n) for e, n in changed if (n in field.beat(e)) != (n in field.beat(e, "gain_later_is"))
    ]
    n_all = sum(len(field.competing(e)) for e in real)
    alone = [e for e in real if not field.untold(field.beat(e, "gain_later_is"))]
    yield (
        "**The warm-up.** Without the first fifth of the rows of each stream, no learner beats the "
        f"best guess on {len(alone)} of {len(real)} streams, and only {len(turned)} of {n_all} "
        "verdicts (a learner beats the guesses of a stream, or not) change. If *significantly "
        f"worse* counts as a third verdict, {len(changed)} change; fewer rows also show less."
    )


def other_seeds(field: Field) -> Iterable[str]:
    """Spread over seeds, and whether another seed has another best learner."""
    chance = {
        name
        for one in field.entries.values()
        if not one["generated"]
        for name, data in one["learners"].items()
        if any(len(values) > 1 for values in data["scores"])
    }
    spreads, other = [], []
    for entry in field.real:
        n_seeds = len(field.entries[entry]["commands"])
        names = field.competing(entry)
        if n_seeds < 2 or not names:
            continue
        for name in chance & {*names}:
            values = [field.score(entry, name, seed=k) for k in range(n_seeds)]
            spreads.append(max(values) - min(values))
        if len({field.best(entry, names, k) for k in range(n_seeds)}) > 1:
            other.append(entry)
    if spreads:
        yield (
            "**Seeds.** The best and the worst of three seeds of a learner with chance lie "
            f"{percent(median(spreads), 2)} points apart on the same rows in the median, at most "
            f"{percent(max(spreads), 2)}. On {len(other)} of {len(field.real)} real streams the "
            f"best learner depends on the seed{f' ({listing(other)})' if other else ''}."
        )


def other_measures(field: Field) -> Iterable[str]:
    """Whether the winner depends on the measure."""
    words, rare = [], ""
    for metric in ("gmean", "average_precision"):
        full = {
            e: next((one for one in field.entries[e]["measures"] if one.startswith(metric)), "")
            for e in field.real
        }
        real = [entry for entry, name in full.items() if name]
        same, n_known = 0, 0
        for entry in real:
            values = {n: field.score(entry, n, full[entry]) for n in field.competing(entry)}
            values = {n: value for n, value in values.items() if np.isfinite(value)}
            if len(values) > 1:
                n_known += 1
                best = max(values, key=lambda n: values[n])
                same += best == field.best(entry, values)
        if n_known:
            words.append(f"by {metric} on {same} of {n_known} streams that have it")
            rare = rare_words(field, full) if metric == "average_precision" else ""
    if words:
        yield (
            "**The measure.** The learner that is best by accuracy is also the best "
            f"{' and '.join(words)}.{rare}"
        )


def rare_words(field: Field, measures: Mapping[str, str]) -> str:
    """The best average precision where positives are rare, and that of the best naive guess."""
    words = []
    for entry, metric in measures.items():
        if metric:
            values = {n: field.score(entry, n, metric) for n in field.competing(entry)}
            best = max(values, key=lambda n: np.nan_to_num(values[n], nan=-1))
            guesses = {n: field.score(entry, n, metric) for n in field.guesses}
            guess = max(guesses, key=lambda n: np.nan_to_num(guesses[n], nan=-1))
            words.append(
                f"`{entry}` {values[best]:.3f} by `{best}`, the best guess (`{guess}`) "
                f"{guesses[guess]:.3f}"
            )
    return (
        " Average precision is for rare positives, of which accuracy says little: "
        f"{'; '.join(words)}."
    )


OBJECTIONS: tuple[Callable[[Field], Iterable[str]], ...] = (
    other_guesses,
    other_seasons,
    other_step_sizes,
    other_columns,
    other_rows,
    other_seeds,
    other_settings,
    other_measures,
)


# -- tables


def learner_words(field: Field, name: str) -> str:
    """A learner, in words; its text where there are none."""
    text = field.learners[name]["model"]
    if alone := next((one for one, told in field.pairs().items() if told == name), ""):
        return f"`{alone}`, with the last known label as a further column"
    if lag := re.fullmatch(r"persistent\(lag=(\d+)\)", text):
        return f"naive guess: the label {lag[1]} rows before"
    return LEARNERS.get(text, f"`{text}`")


def table_of_names(field: Field) -> str:
    """What the names of learners stand for."""
    rows = [[f"`{name}`", learner_words(field, name)] for name in field.learners]
    return "\n".join(
        f"| {' | '.join(row)} |" for row in [["learner", "what it is"], ["---"] * 2, *rows]
    )


def table_of_rows(field: Field, names: Sequence[str]) -> str:
    """What the names of streams stand for, and how many rows and columns they have."""
    rows = []
    for name in names:
        one = field.entries[name]
        numbers = [f"{one[what]:,}" for what in ("rows", "columns", "classes")]
        rows.append([f"`{name}`", STREAMS.get(name, "–"), *numbers])
    header = ["stream", "what it is; the label", "rows", "columns", "classes"]
    text = table(header, rows).split("\n")
    return "\n".join([text[0], "| --- | --- | ---: | ---: | ---: |", *text[2:]])


def table_of_delays(field: Field) -> str:
    """What late labels change, by stream and delay."""
    rows = [
        [
            f"`{one.stream}`",
            one.delay,
            f"`{one.best_now}`",
            f"`{one.best_late}`",
            signed(one.tau),
            percent(one.loss),
            percent(one.last_loss),
        ]
        for effects in field.late_effects.values()
        for one in effects
    ]
    header = ["stream", "rows late", "best at once", "best late", "Kendall's tau"]
    last = ["median learner loses", "last label loses"]
    return table([*header, *last], rows) if rows else ""


def table_of_streams(field: Field, names: Sequence[str]) -> str:
    """For every stream: the guess, the best learner, and how many beat the guess."""
    rows = []
    for name in names:
        one = field.entries[name]
        best = field.best(name)
        low, mean, high = one["learners"][best]["gain"]
        # Gains are of the first seed where the guess has but one: its accuracy beside them.
        guess = one["learners"][one["best_guess"]]["scores"][0]
        seed = 0 if len(guess) == 1 else None
        competing = field.competing(name)
        alone = field.untold(competing)
        beat = field.beat(name)
        rows.append(
            [
                f"`{name}`",
                f"{one['best_guess']} {percent(field.score(name, one['best_guess']))}",
                f"{best} {percent(field.score(name, best, seed=seed))}",
                f"{points(mean)} [{points(low)}, {points(high)}]",
                f"{len(field.untold(beat))} of {len(alone)}",
                f"{len(beat) - len(field.untold(beat))} of {len(competing) - len(alone)}",
                f"{cost(one['learners'][best]['microseconds'])}",
            ]
        )
    header = ["stream", "best guess, %", "best learner, %", "gain, points [interval]"]
    return table([*header, "beat it", "beat it, with last label", "µs per row"], rows)


def table_of_learners(field: Field) -> str:
    """For every learner: rank, gain, costs; the best rank first."""
    found = field.ranks(field.real)
    ranks = (
        {} if found is None else dict(zip(found.names, found.average_ranks.tolist(), strict=True))
    )
    later = field.ranks(field.late)
    late_ranks = {} if later is None else dict(zip(later.names, later.average_ranks, strict=True))
    rows = []
    names = [n for n in field.learners if n not in field.left]
    for name in sorted(names, key=lambda n: ranks.get(n, np.inf)):
        there = [e for e in field.real if name in field.competing(e)]
        gains = [field.entries[e]["learners"][name]["gain"][1] for e in there]
        rows.append(
            [
                f"`{name}`",
                f"{ranks[name]:.2f}" if name in ranks else "–",
                f"{late_ranks[name]:.2f}" if name in late_ranks else "–",
                f"{sum(name in field.beat(e) for e in there)} of {len(there)}",
                points(median(gains)) if gains else "–",
                cost(field.cost_of(name, "microseconds", there)),
                cost(field.cost_of(name, "megabytes", there)),
            ]
        )
    header = ["learner", "average rank", "rank, late labels", "beats the guess on"]
    return table([*header, "median gain, points", "µs per row", "MB"], rows)


def tables_of_scores(field: Field, entries: Sequence[str]) -> list[str]:
    """Accuracy of every learner on every stream, a few streams a table; the best is bold."""
    n_tables = -(-len(entries) // MOST_COLUMNS)
    parts = [list(part) for part in np.array_split(np.array(entries, object), max(1, n_tables))]
    return [table_of_scores(field, part) for part in parts if part]


def table_of_scores(field: Field, entries: Sequence[str]) -> str:
    """Accuracy of every learner on some streams; the best of a column is bold."""
    names = [n for n in field.learners if any(n in field.entries[e]["learners"] for e in entries)]
    best = {e: max(field.score(e, n) for n in field.competing(e)) for e in entries}
    rows = []
    for name in names:
        cells = []
        for entry in entries:
            value = field.score(entry, name)
            text = "–" if np.isnan(value) else percent(value)
            is_best = value == best[entry] and name in field.competing(entry)
            cells.append(f"**{text}**" if is_best else text)
        rows.append([f"`{name}`", *cells])
    return table(["learner", *entries], rows)


def table_of_published(field: Field) -> str:
    """Figures in print beside ours."""
    eight = [
        name
        for name in field.names(generated=False, apart=True)
        if field.entries[name]["columns"] == 8 and name.startswith("elec")
    ]
    rows = [
        [where, f"{theirs:.2f}", f"{100 * field.score(name, learner):.2f}", f"`{learner}`", why]
        for name in eight[:1]
        for learner, where, theirs, why in PUBLISHED
        if not np.isnan(field.score(name, learner))
    ]
    if not rows:
        return ""
    return table(["published by", "theirs, %", "ours, %", "learner here", "what differs"], rows)


# -- the page


HEAD = """# What works

Keywords: benchmark of learners, naive guesses, late labels, cost, leaderboard.

When to use it: before you choose a learner for a stream, or believe that one works. {n_learners}
learners and {n_guesses} naive guesses ({guesses}) ran on {n_real} real and {n_generated} generated
streams. Every row is predicted, then used for training. A learner *beats* the guesses of a stream
only if its gain in accuracy on each of them is significant: 95 % intervals, valid at every row and
for all learners of the stream at once, are above zero. [Names](#names) says what each name is.
"""
HOW_TO_READ = (
    "**No learner beats the guess** does not mean that none is better. Where a guess is right in "
    "99 % of the rows, hardly anything could beat it; where positives are rare, accuracy says "
    "little.",
    "**The best guess and the best learner** of a stream are chosen after the fact. That makes the "
    "guess harder to beat. The intervals allow for the choice of the learner: they hold for all "
    "learners at once, with drift and dependence.",
    "**The 95 %** hold for each stream, not for counts over streams.",
    "**Seeds.** Accuracies are means over three seeds. Where no seed changes the rows, gains, "
    "intervals and counts of a learner with chance are those of its first seed, and so is the "
    "accuracy beside a gain.",
    "**Average ranks** say nothing about the size of a difference. They are of mean accuracies. "
    "Naive guesses have none, nor has a learner that failed or did not run on some stream.",
    "**Times** are by the clock, on one of two cores, while tests ran on the other and all "
    "learners took turns. So ratios of times are rough. What learners share, such as a scaler, is "
    "timed with the first of them.",
)
OWN = """## Your stream, your learner

Add a stream or a learner to the suite and run it, or show a learner among those of the record, with
the same rows and seeds:

```
skstream bench field --list > mine.toml
skstream bench mine.toml --out results
python -m benchmarks.field results --out mine.json
python -m benchmarks.field_page --record mine.json --page mine.md
skstream bench --against docs/field.json --model mine=my_module:MyModel --stream {stream}
```

Real streams are files in the folder that the environment variable SKSTREAM_DATA names; four of
them are downloaded if their file is missing ([the field](benchmark_suites.md#the-field)). The last
line refuses rows whose checksums are not those of the record ([Your model in the table of a
stream](benchmark_suites.md#your-model-in-the-table-of-a-stream)).

All figures of this page, but for settings and those published by others, are computed from
`docs/field.json`, by `python -m benchmarks.field_page`. `skstream bench field --out results` and
`python -m benchmarks.field results` make that record; `make field` does all of it."""


def page(record: Mapping[str, Any]) -> str:
    """The page, from the record alone."""
    field = Field(record)
    real, generated = field.real, field.names(generated=True)
    apart = field.names(generated=False, apart=True)
    n_learners = sum(name not in field.left for name in field.learners)
    parts = [
        HEAD.format(
            n_learners=n_learners,
            n_guesses=len(field.guesses),
            guesses=", ".join(f"`{name}`" for name in field.guesses),
            n_real=len(real),
            n_generated=len(generated),
        )
    ]
    if record["missing"]:
        parts.append(missing_words(field))
    told = [name for name in field.ranked_learners if field.learners[name]["told"]]
    parts += [
        "## The answers",
        bullets(one for make in ANSWERS for one in make(field)),
        "Details and reasons: [The answers in detail](#the-answers-in-detail). Limits: [What else "
        "could explain it](#what-else-could-explain-it).",
        "![By how many points of accuracy the best learner of each real stream is ahead of the "
        f"best naive guess, with the interval](images/{PICTURES[0]})",
        "## Every real stream",
        "Gain: accuracy of the best learner minus that of the best guess. *Beat it*: how many "
        "learners that are not given the last label, and how many that are"
        f"{f' ({listing(told)})' if told else ''}. Time is that of the best learner.",
        table_of_streams(field, [*real, *apart]),
        shared_words(field),
        "## Every learner",
        f"Over the {len(real)} real streams with labels at once; *late labels*: over the "
        f"{len(field.late)} of them that also ran with late labels, by the longer delay. Time per "
        "row and MB are medians over the streams.",
        table_of_learners(field),
        failure_words(field),
        *(
            f"![Average ranks with {labels}, and the critical difference](images/{picture})"
            for picture, entries, labels in field.ranked_pictures
            if field.ranks(entries) is not None
        ),
        "## Names",
        table_of_names(field),
        table_of_rows(field, [*real, *apart, *generated]),
        "## How to read the figures",
        bullets(HOW_TO_READ),
        "## The answers in detail",
        bullets(one for make in DETAILS for one in make(field)),
        table_of_delays(field),
        "## What else could explain it",
        "All of this was tried on the same results, but for what is only stated: settings, short "
        "streams, columns, rows, ties and clocks.",
        bullets(one for make in OBJECTIONS for one in make(field)),
        "## Accuracy of every learner",
        "Accuracy in %, mean over the seeds. The other measures are in the record.",
        *tables_of_scores(field, [*real, *apart]),
    ]
    if generated:
        parts += [
            "## Generated streams",
            table_of_streams(field, generated),
            *tables_of_scores(field, generated),
        ]
    if published := table_of_published(field):
        parts += [
            "## Published figures",
            "Others published accuracies on Electricity with all eight columns. One of these gives "
            "the label, so such figures compare learners, and do not show that one is useful.",
            published,
            TRIED,
        ]
    parts += [
        OWN.format(stream=next(iter([*generated, *real]))),
        f"Made with {'; and with '.join(record['versions'])}.",
    ]
    return "\n\n".join(one.strip() for one in parts if one.strip()) + "\n"


def bullets(sentences: Iterable[str]) -> str:
    """Sentences as a list."""
    return "\n".join(f"- {one}" for one in sentences)


def missing_words(field: Field) -> str:
    """Say what the suite has and the record has not."""
    missing = field.record["missing"]
    streams = dict.fromkeys(one.partition(",")[0] for one in missing)
    none = [name for name in streams if name not in field.entries]
    words = f"**Not in it**: {plural(len(missing), 'run')} of the suite."
    if none:
        words += f" Wholly missing: {', '.join(none)}."
    some = [name for name in streams if name in field.entries]
    if some:
        words += f" With fewer seeds than the suite has: {', '.join(some)}."
    return words


def shared_words(field: Field) -> str:
    """Say which streams share rows."""
    words = [
        f"`{name}` has the rows of `{one['same_rows_as']}`"
        for name, one in field.entries.items()
        if one["same_rows_as"] and one["delay"] == "at once"
    ]
    if not words:
        return ""
    return f"{'; '.join(words)}: shown, and in no count and no rank."


def failure_words(field: Field) -> str:
    """Say which learners failed, and where."""
    found = defaultdict(list)
    for name, one in field.entries.items():
        for learner in one["failures"]:
            found[learner].append(name)
    if not found:
        return ""
    words = [f"`{learner}` on {', '.join(names)}" for learner, names in found.items()]
    return f"Failed, and not ranked there: {'; '.join(words)}."


# -- pictures


def draw(record: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the three pictures; return those that could be."""
    import matplotlib.pyplot as plt

    from skstream.plotting import SliceDisplay

    field = Field(record)
    figures: dict[str, Any] = {}
    zero = "the best naive guess"
    gains = {e: field.entries[e]["learners"][field.best(e)]["gain"] for e in field.real}
    display = SliceDisplay(
        curves={**{e: np.array([100 * g[1]]) for e, g in gains.items()}, zero: np.zeros(1)},
        metric="gain in points of accuracy",
        forgetting="cumulative",
        baselines=(zero,),
        checkpoints=np.array([1]),
        intervals={e: (100 * g[0], 100 * g[2]) for e, g in gains.items()},
        n_rows={e: field.entries[e]["rows"] for e in gains},
        model="the best learner of each stream",
        kind="bars",
    ).plot()
    for text in display.ax_.texts:  # the line is the guess of each stream, and no mean of rows
        text.set_text(text.get_text().replace("all rows 0.0000", zero))
    display.ax_.set_xlabel("gain in points of accuracy\n(95 % intervals for all learners at once)")
    display.ax_.set_title("What the best learner gains on the best naive guess", loc="left")
    display.figure_.set_size_inches(5.5, 5.5)  # read on a phone
    figures[PICTURES[0]] = display.figure_
    for name, entries, labels in field.ranked_pictures:
        if (ranks := field.ranks(entries)) is not None:
            figures[name] = draw_ranks(ranks, f"Average ranks with {labels}")
    for name, figure in figures.items():
        figure.savefig(folder / name, dpi=120)
        plt.close(figure)
    return [folder / name for name in figures]


def draw_ranks(found: Any, title: str) -> Any:
    """Draw average ranks, a learner a line: the usual diagram is too dense for so many."""
    import matplotlib.pyplot as plt

    ranks = ranks_of(found)
    values = [ranks[name] for name in found.ranking]
    reach = values[0] + found.critical_difference
    figure, ax = plt.subplots(figsize=(5.5, 1.4 + 0.26 * len(values)), layout="constrained")
    ax.axvspan(values[0], reach, color="#0072B2", alpha=0.15, linewidth=0)
    ax.plot(values, range(len(values)), "o", color="#0072B2")
    for place, value in enumerate(values):
        ax.annotate(f"{value:.1f}", (value, place), (7, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(values)), found.ranking)
    ax.set(xlim=(1, len(values)), ylim=(len(values) - 0.5, -0.5), title=title)
    ax.grid(axis="y", alpha=0.3)
    ax.set_xlabel(
        f"average rank; 1 is best\nshaded: not significantly worse than {found.ranking[0]}\n"
        f"(critical difference {found.critical_difference:.1f}, Nemenyi, alpha = {found.alpha:g})"
    )
    return figure


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", type=Path, default=FIELD)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    record = json.loads(options.record.read_text("utf-8"))
    options.page.write_text(page(record), "utf-8")
    images = options.page.parent / "images"
    images.mkdir(exist_ok=True)
    for path in [options.page, *draw(record, images)]:
        print(f"Written: {path}")


if __name__ == "__main__":
    main()
