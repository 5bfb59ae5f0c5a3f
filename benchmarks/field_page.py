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
from typing import Any

import numpy as np
from scipy.stats import kendalltau

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


def listing(names: Iterable[str]) -> str:
    """Names, in code style."""
    return ", ".join(f"`{name}`" for name in names) or "none"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; all columns but the first are numbers."""
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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


# -- answers: sentences, each with what bears it


def about_guesses(field: Field) -> Iterable[str]:
    """How many streams are beaten by a naive guess."""
    real = field.real
    alone = [name for name in real if not field.untold(field.beat(name))]
    ever = [name for name in real if not field.beat(name)]
    more = [name for name in alone if name not in ever]
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
    yield (
        f"**On {len(alone)} of {len(real)} real streams no learner by itself is certainly better "
        f"than the best naive guess**{f' ({listing(alone)})' if alone else ''}; on "
        f"{guesses.count('persistent')} of them that guess is the last label"
        + (f", and on {seasonal} a seasonal one." if seasonal else ".")
        + (
            f" On {len(worse)} of them every learner by itself is certainly *worse* than it "
            f"({listing(worse)})."
            if worse
            else ""
        )
    )
    gains = {
        e: [
            field.score(e, told) - field.score(e, alone_)
            for alone_, told in field.pairs().items()
            if {alone_, told} <= {*field.competing(e)}
        ]
        for e in real
    }
    pairs = [one for of_stream in gains.values() for one in of_stream]
    most = max(gains, key=lambda e: sum(gains[e]), default="")
    others = [one for e in real if e != most for one in gains[e]]
    gained = sum(difference > 0 for difference in pairs)
    yield (
        f"**Told the last label, learners beat it on {len(more)} more**"
        f"{f' ({listing(more)})' if more else ''}; on {len(ever)} of {len(real)} none of the "
        f"{len(field.ranked_learners)} does."
        + (
            f" {gained} of {len(pairs)} pairs of a stream and a learner with its twin that is told "
            f"({listing(field.pairs().values())}) score higher by it, "
            f"{points(float(np.median(pairs)))} points in the median and "
            f"{points(float(np.mean(pairs)))} in the mean, from {points(min(pairs))} to "
            f"{points(max(pairs))}"
            + (
                f" (mean {points(float(np.mean(others)))} without `{most}`, which gives most)."
                if others
                else "."
            )
            if pairs
            else ""
        )
    )


def best_five(ranking: Sequence[str], ranks: Mapping[str, float]) -> list[str]:
    """The five best average ranks, and those that are equal to the last of them."""
    worst = ranks[ranking[:5][-1]]
    return [f"`{name}` {ranks[name]:.1f}" for name in ranking if ranks[name] <= worst + 1e-9]


def about_ranks(field: Field) -> Iterable[str]:
    """Who is best over the streams."""
    found = field.ranks(field.real)
    if found is None:
        return
    ranks = dict(zip(found.names, found.average_ranks.tolist(), strict=True))
    top = best_five(found.ranking, ranks)
    first = found.ranking[0]
    same = [n for n in found.ranking if ranks[n] - ranks[first] < found.critical_difference][1:]
    yield (
        f"**The best average ranks** over {len(field.real)} real streams have {', '.join(top)} (of "
        f"{len(ranks)} learners). The critical difference is {found.critical_difference:.1f} "
        f"ranks: {plural(len(same), 'other learner')} cannot be told from `{first}`, and "
        f"{len(ranks) - 1 - len(same)} can."
    )


def about_certificates(field: Field) -> Iterable[str]:
    """Who may be the best over these streams."""
    for kind, board in field.record["leaderboards"].items():
        yield (
            f"**Certified on the {len(board['streams'])} {kind} streams** (of these alone, and "
            f"of first seeds where no seed changes the rows, at 95 %): {len(board['possible'])} of "
            f"{len(board['mean_losses'])} learners may be the best by mean accuracy: "
            f"{listing(board['possible'])}." + without_words(board)
        )


def without_words(board: Mapping[str, Any]) -> str:
    """Say who may be the best without the stream that weighs most."""
    if not (one := board.get("without")):
        return ""
    return (
        f" Without `{one['stream']}`, on which the {len(board['mean_losses'])} differ most, "
        f"{len(one['possible'])} may be: {listing(one['possible'])}."
    )


def about_costs(field: Field) -> Iterable[str]:
    """What points cost."""
    kinds = [field.first(kind) for kind in ("naive Bayes", "tree", "forest", "refitted")]
    names = [n for n in kinds if n is not None and all(n in field.competing(e) for e in field.real)]
    if len(names) < 2 or not field.real:
        return
    words = []
    for name in names:
        mean = np.mean([field.score(e, name) for e in field.real])
        time = field.cost_of(name, "microseconds", field.real)
        size = field.cost_of(name, "megabytes", field.real)
        words.append(f"`{name}` {percent(mean)} % for {cost(time)} µs and {cost(size)} MB")
    everywhere = [
        n for n in field.ranked_learners if all(n in field.competing(e) for e in field.real)
    ]
    means = {n: float(np.mean([field.score(e, n) for e in field.real])) for n in everywhere}
    micros = {n: field.cost_of(n, "microseconds", field.real) or 0.0 for n in everywhere}
    best = max(means, key=lambda n: means[n])
    near = min((n for n in means if means[n] > means[best] - 0.01), key=lambda n: micros[n])
    yield (
        "**What points cost**, as the mean accuracy over the real streams and the median time per "
        f"row and size: {'; '.join(words)}. More time does not buy more points: the best mean is "
        f"that of `{best}` ({percent(means[best])} % for {cost(micros[best])} µs)"
        + (
            f", and within one point of it is `{near}` ({percent(means[near])} % for "
            f"{cost(micros[near])} µs)."
            if near != best
            else "."
        )
    )
    tree, forest = field.first("tree"), field.first("forest")
    if tree in names and forest in names:
        gains = [field.score(e, forest) - field.score(e, tree) for e in field.real]
        ratios = [
            field.entries[e]["learners"][forest]["microseconds"]
            / field.entries[e]["learners"][tree]["microseconds"]
            for e in field.real
        ]
        yield (
            f"A forest costs {np.median(ratios):.0f} times as much as a tree, in the median of "
            f"the ratios by stream ({cost(min(ratios))} to {cost(max(ratios))}), for "
            f"{points(float(np.median(gains)))} points in the median and "
            f"{points(float(np.mean(gains)))} in the mean: more on "
            f"{sum(g > 0 for g in gains)} of {len(gains)} streams, from "
            f"{points(min(gains))} to {points(max(gains))}. Take the ratio as a rough size: times "
            "are by the clock, on one of two cores; tests ran on the other, and all learners took "
            f"turns.{few_words(field, forest)}"
        )


def few_words(field: Field, learner: str) -> str:
    """Say how much faster a learner is where few others take turns with it."""
    shares = [
        one["microseconds_among_few"] / one["microseconds"]
        for one in (field.entries[e]["learners"][learner] for e in field.real)
        if "microseconds_among_few" in one
    ]
    if not shares:
        return ""
    return (
        " With later seeds, where only learners with chance take turns, a forest takes "
        f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % of that time "
        f"({100 * median(shares):.0f} % in the median)."
    )


def about_refits(field: Field) -> Iterable[str]:
    """Where boosting that is refitted is best."""
    refits = field.of_family("refitted")
    if not refits or not field.real:
        return
    wins, online, by_first = [], [], 0
    for name in field.real:
        alone = field.untold(field.competing(name))
        there = [n for n in alone if n in refits]
        others = [n for n in alone if n not in refits]
        if there and others:
            margin = field.score(name, field.best(name, there)) - field.score(
                name, field.best(name, others)
            )
            online.append(margin)
            by_first += field.best(name, alone, 0) in refits
            if margin > 0:
                wins.append(f"`{name}` ({points(margin, 2)})")
    if not online:
        return
    yield (
        f"**Boosting that is refitted on the newest rows** ({listing(refits)}) is ahead of every "
        f"learner that learns row by row on {len(wins)} of {len(online)} real streams"
        f"{': ' + ', '.join(wins) if wins else ''} (points of accuracy; none told the last label"
        f"; by the first seed alone, on {by_first})."
        + (f" Elsewhere it is behind by up to {percent(-min(online))}." if min(online) < 0 else "")
    )


def about_delays(field: Field) -> Iterable[str]:
    """What changes when labels are late."""
    for which, by_stream in field.delays.items():
        entries = [name for stream, name in by_stream.items() if stream in field.entries]
        taus: list[float] = []
        losses: list[float] = []
        last: list[float] = []
        kept = 0
        for entry in entries:
            now = field.entries[entry]["stream"]
            names = [n for n in field.competing(now) if n in field.competing(entry)]
            if len(names) < 2:
                continue
            a, b = ([field.score(e, n) for n in names] for e in (now, entry))
            taus.append(float(kendalltau(a, b).statistic))
            losses.append(float(np.median(np.subtract(a, b))))
            kept += field.best(now, names) == field.best(entry, names)
            last.append(field.score(now, "persistent") - field.score(entry, "persistent"))
        if taus:
            lost, lost_by_last = percent(median(losses)), percent(median(last))
            yield (
                f"**Labels that are late** by {which} ({delay_words(entries)}): on "
                f"{plural(len(taus), 'real stream')} the learner that was best at once still is "
                f"on {kept}; the rank correlation of the two orders "
                f"(Kendall's tau) is {signed(np.nanmedian(taus))} in the median and "
                f"{signed(np.nanmin(taus))} at least. The median learner loses {lost} points of "
                f"accuracy at arrival in the median of the streams ({percent(min(losses))} to "
                f"{percent(max(losses))}), and the last known label {lost_by_last} "
                f"({percent(min(last))} to {percent(max(last))}; below 0: it gains, because the "
                "delay is a season)."
            )


def delay_words(entries: Sequence[str]) -> str:
    """Streams, with how many rows late their labels are."""
    words = [name.replace("+late", " ").replace("+", " ") for name in entries]
    return f"rows: {', '.join(words)}"


def about_late_ranks(field: Field) -> Iterable[str]:
    """Who is best over the streams where labels are late, and whether the last label helps."""
    now = field.ranks([field.entries[name]["stream"] for name in field.late])
    late = field.ranks(field.late)
    if now is None or late is None:
        return
    before, after = (
        dict(zip(one.names, one.average_ranks.tolist(), strict=True)) for one in (now, late)
    )
    top = best_five(late.ranking, after)
    told = [name for name in field.pairs().values() if name in before and name in after]
    near = after[late.ranking[0]] + late.critical_difference
    apart = sum(rank > near for rank in after.values())
    yield (
        "**With late labels the best average ranks** over "
        f"{plural(len(field.late), 'real stream')} "
        f"(longer delay) have {', '.join(top)}; the critical difference is "
        f"{late.critical_difference:.1f}, by which {apart or 'no'} other "
        f"{'learners' if apart > 1 else 'learner'} can be told from the first."
        + (
            f" On these streams, the {len(told)} told the last label have a mean rank of "
            f"{np.mean([before[name] for name in told]):.1f} with labels at once and of "
            f"{np.mean([after[name] for name in told]):.1f} with late ones."
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
            "**Where the best possible predictions are known** "
            f"({plural(len(gaps), 'generated stream')}), the best learner is "
            f"{percent(median(list(gaps.values())))} points below them in the median, and "
            f"{percent(gaps[far])} on `{far}`: the best of all learners, chosen for each stream "
            "after the fact."
        )


ANSWERS: tuple[Callable[[Field], Iterable[str]], ...] = (
    about_guesses,
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
        f"on `{e}` it is right in {percent(value)} % (best guess of the table "
        f"{percent(field.score(e, field.entries[e]['best_guess']))}, best learner "
        f"{percent(field.score(e, field.best(e)))})"
        for e, value in better.items()
    ]
    ahead = [e for e, value in better.items() if value >= field.score(e, field.best(e))]
    yield (
        "**Another guess.** The most frequent successor of the last label, counted over all rows "
        "(P(S) of [`label_profile`](temporal_dependence.md#profile-the-labels-first)), "
        f"is more than a point better than the best guess on {len(better)} of {len(known)} real "
        f"streams{': ' + '; '.join(words) if words else ''}."
        + (f" So on {listing(ahead)} what beats the guesses is no gain over it." if ahead else "")
    )


def other_seasons(field: Field) -> Iterable[str]:
    """The label a day, a week or a year before, as a guess; and the answers without it."""
    words, ahead = [], []
    for entry in field.real:
        there = [n for n in field.seasonal if n in field.entries[entry]["learners"]]
        if there:
            season, plain = (field.best(entry, names) for names in (there, field.guesses))
            words.append(
                f"`{entry}` `{season}` {percent(field.score(entry, season))} % (best of the other "
                f"guesses: `{plain}` {percent(field.score(entry, plain))})"
            )
            if field.score(entry, season) > field.score(entry, plain):
                ahead.append(entry)
    if words:
        with_it, without = (
            [e for e in field.real if not field.untold(field.beat(e, what))]
            for what in ("gain_is", "gain_plain_is")
        )
        yield (
            f"**Seasonal guesses.** {plural(len(words), 'real stream')} with a season have naive "
            "guesses of their own, the label a day, a week or a year before, the best of them "
            f"after the fact: {'; '.join(words)}. It is the best guess on {len(ahead)} of them"
            f"{f' ({listing(ahead)})' if ahead else ''}. Without the seasonal guesses, "
            f"{len(without)} instead of {len(with_it)} real streams would be those on which no "
            "learner by itself is certainly better. No learner was told a seasonal label."
        )


def other_settings(field: Field) -> Iterable[str]:
    """How the learners were chosen, and what that may do to them."""
    yield (
        "**The settings.** Nothing was tuned to a stream, but the learners were chosen after a "
        "look at the first 3,000 rows of some, and no ranking holds for other settings. "
        "`hgb-500` has no model for its first 500 rows and `hgb-2000` for its first 2,000, which "
        "is all of a short stream: part of their ranks is warm-up. Gaps of `gmsc` and `ozone` "
        "are read as 0, at the cost of linear models and naive Bayes. The rows of `covertype` "
        "are the beginning of its file, where classes are balanced by hand. `hat` has one seed, "
        "and breaks ties by the order in which Python holds texts in a set: some rows of a "
        "stream differ from process to process, unless PYTHONHASHSEED is set. River's trees read "
        "the codes of nominal columns as numbers. Boosting is refitted by rows, never by the "
        "clock, and no stream here has arrival times of its own labels: all delays are stated "
        "ones. Those of `electricity`, `bike` and `powersupply` are days and weeks, so that the "
        "last known label there is a seasonal guess."
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
        f"**The step size.** The linear models that differ in it alone ({listing(steps)}) lie "
        f"{percent(median(spans))} points apart on a stream in the median, and up to "
        f"{percent(max(spans))}. On {len(needed)} of {len(real)} streams some of "
        "them are certainly better than the naive guesses and others are not"
        + (": there the step decides, and not the kind of the model." if needed else ".")
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
            f"**A leak, or other columns.** `{name}` has the rows of `{plain}` with "
            f"{one['columns']} columns in the place of {field.entries[plain]['columns']}, and is "
            f"in no count and no rank. Learners gain {points(median(gains))} points by it in the "
            f"median, and {k} in the place of {first} are certainly better than the naive guesses."
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
        "**The warm-up.** Without the first fifth of the rows of each stream, "
        f"{len(alone)} of {len(real)} streams are those on which no learner by itself is certainly "
        f"better than the naive guesses, and {len(turned)} of {n_all} verdicts on a learner and a "
        f"stream (better, or not) are others; {len(changed)}, where *certainly worse* is a verdict "
        "of its own (fewer rows also tell less)."
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
            "**Seeds.** The highest and the lowest of three seeds of one learner with chance lie "
            f"{percent(median(spreads), 2)} points apart in the median, on the same rows of a "
            f"real stream with labels at once, and at most {percent(max(spreads), 2)}. On "
            f"{len(other)} of {len(field.real)} real streams another seed has another best learner"
            f"{f' ({listing(other)})' if other else ''}."
        )


def other_measures(field: Field) -> Iterable[str]:
    """Whether the winner depends on the measure."""
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
            yield (
                "**The measure.** The learner that is best by accuracy is also the best by "
                f"{metric} on {same} of {n_known} real streams that have it."
                + (f" {rare_words(field, full)}" if metric == "average_precision" else "")
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
    return f"There, accuracy says little; average precision: {'; '.join(words)}."


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


def table_of_streams(field: Field, names: Sequence[str]) -> str:
    """For every stream: the guess, the best learner, and how many beat the guess."""
    rows = []
    for name in names:
        one = field.entries[name]
        best = field.best(name)
        low, mean, high = one["learners"][best]["gain"]
        competing = field.competing(name)
        alone = field.untold(competing)
        beat = field.beat(name)
        rows.append(
            [
                f"{name}{' (head)' if one['head'] and not one['generated'] else ''}",
                f"{one['rows']:,}",
                f"{one['best_guess']} {percent(field.score(name, one['best_guess']))}",
                f"{best} {percent(field.score(name, best))}",
                f"{points(mean)} [{points(low)}, {points(high)}]",
                f"{len(field.untold(beat))} of {len(alone)}",
                f"{len(beat) - len(field.untold(beat))} of {len(competing) - len(alone)}",
                f"{cost(one['learners'][best]['microseconds'])}",
            ]
        )
    header = ["stream", "rows", "best guess, %", "best learner, %", "gain, points [interval]"]
    return table([*header, "beat it alone", "told the last label", "µs per row"], rows)


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
    header = ["learner", "average rank", "with late labels", "beats the guess on"]
    return table([*header, "median gain, points", "µs per row", "MB"], rows)


def table_of_scores(field: Field, entries: Sequence[str]) -> str:
    """Accuracy of every learner on every stream; the best of a column is bold."""
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
    return table(["in print", "theirs, %", "ours, %", "learner here", "what differs"], rows)


# -- the page


HEAD = """# What works

Keywords: benchmark of learners, naive guesses, late labels, cost, leaderboard.

When to use it: before you choose a learner for a stream, or believe that one works. {n_learners}
learners and {n_guesses} naive guesses ({guesses}) on {n_real} real and {n_generated} generated
streams, in one protocol: every row is predicted, then used for training.{seasons} The page and its
pictures are made of `docs/field.json` alone, by `python -m benchmarks.field_page`, and every figure
in a sentence is computed from it, but for settings and the figures in print with their reasons. The
record is that of `skstream bench field --out results` and `python -m benchmarks.field results`;
`make field` does all of it.

Here a learner is *better than the naive guesses* if it certainly is: its accuracy beats each of
them, by intervals that hold at every row, with drift and dependence, and for all learners of a
stream at once, with 95 %. The *best guess* of a stream is chosen after the fact, which makes it
harder to beat. *Not certainly better* does not mean *no better*: where a guess is right in 99 % of
the rows, hardly anything could be better, and where positives are rare, accuracy says little. The
95 % hold for each stream, and not for counts over streams.
"""
ABOUT_STREAMS = """Gain: accuracy of the best learner minus that of the best guess, with its
interval; the best of many learners is chosen after the fact, but the intervals hold for all of them
at once. Where no seed changes the rows, gain and interval of a learner with chance are those of its
first seed, and accuracies are means over seeds. *Head*: the first rows of a longer stream. µs per
row: of the best learner, by the clock, on one of two cores, where all learners took turns."""
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

Real streams are files in the folder that the environment variable SKSTREAM_DATA names. The last
line refuses rows whose checksums are not those of the record ([Benchmark
suites](benchmark_suites.md#your-model-in-the-table-of-a-stream))."""


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
            seasons=" Where a stream has\nseasons, the label a day, a week or a year before is a "
            "naive guess, too."
            if field.seasonal
            else "",
            n_real=len(real),
            n_generated=len(generated),
        )
    ]
    if record["missing"]:
        parts.append(missing_words(field))
    parts += ["## The answers", bullets(ANSWERS, field)]
    parts += [
        "![By how many points of accuracy the best learner of each real stream is ahead of the "
        f"best naive guess, with the interval](images/{PICTURES[0]})",
        "## What else could explain it",
        "Each was tried on the same results, but for the settings, which are only stated.",
        bullets(OBJECTIONS, field),
        "## Every real stream",
        table_of_streams(field, [*real, *apart]),
        ABOUT_STREAMS + shared_words(field),
        "## Every learner",
        f"Over the {len(real)} real streams with labels at once; *with late labels*: over those of "
        f"them that were also run with late labels, each by its longest delay ({len(field.late)}). "
        "Average ranks say nothing about the size of a difference; naive guesses, seasonal ones "
        "too, and a learner that failed or was not run on some stream have none. µs per row and MB "
        "are medians over the streams; what "
        "learners share, such as a scaler, is timed with the first of them. Gains and verdicts of "
        "learners with chance are of the first seed, ranks of the means.",
        table_of_learners(field),
        failure_words(field),
        *(
            f"![Average ranks with {labels}, and the critical difference](images/{picture})"
            for picture, entries, labels in field.ranked_pictures
            if field.ranks(entries) is not None
        ),
        "## Accuracy of every learner",
        "Accuracy in %, mean over the seeds. The other measures are in the record.",
        table_of_scores(field, [*real, *apart]) if real else "",
    ]
    if generated:
        parts += [
            "## Generated streams",
            table_of_streams(field, generated),
            table_of_scores(field, generated),
        ]
    if published := table_of_published(field):
        parts += [
            "## Figures in print",
            "Electricity with all eight columns, where others printed figures for such learners. "
            "The price of the row, from which the label was made, is among these columns: such "
            "figures tell learners apart, and not whether one is useful.",
            published,
            TRIED,
        ]
    parts += [
        OWN.format(stream=next(iter([*generated, *real]))),
        f"Made with {'; and with '.join(record['versions'])}.",
    ]
    return "\n\n".join(one.strip() for one in parts if one.strip()) + "\n"


def bullets(makers: Sequence[Callable[[Field], Iterable[str]]], field: Field) -> str:
    """Sentences as a list."""
    return "\n".join(f"- {one}" for make in makers for one in make(field))


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
    return f" {'; '.join(words)}: shown, and in no count and no rank."


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
    """Draw the three pictures by the displays of the library; return those that could be."""
    import matplotlib.pyplot as plt

    from skstream.plotting import CriticalDifferenceDisplay, SliceDisplay

    field = Field(record)
    displays: dict[str, Any] = {}
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
    displays[PICTURES[0]] = display
    for name, entries, _ in field.ranked_pictures:
        if (ranks := field.ranks(entries)) is not None:
            displays[name] = CriticalDifferenceDisplay.from_result(ranks)
    for name, one in displays.items():
        one.figure_.savefig(folder / name, dpi=120)
        plt.close(one.figure_)
    return [folder / name for name in displays]


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
