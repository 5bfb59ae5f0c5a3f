"""What works on streams, as data: reads a folder of `skstream bench`, and writes docs/field.json.

    python -m benchmarks.field FOLDER
    python -m benchmarks.field FOLDER --out mine.json

A file of results is an entry (a stream and how late its labels are) with a seed; an entry with a
plus, as in ``electricity+late48``, is the stream before it with late labels. Of late labels the
predictions at arrival are scored. What is there is read, and the record says which runs are
missing.

Written are the scores, costs and failures of all learners, the checksums of the rows, and what
needs the answers row by row: intervals of the difference to each naive guess, over all rows and
without the first fifth; and which learners are certainly not the best over all streams. The
intervals of an entry hold at once, for all learners, naive guesses and seeds, at every row, with
95 %. docs/what_works.md is made from this file alone, by `python -m benchmarks.field_page`.
"""

import argparse
import json
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skstream import label_profile, load
from skstream.cli._against import DIGITS, at_arrival, without_models
from skstream.cli._bench import SUITE
from skstream.cli._suite import OPTIMAL, RESULTS, read_suite
from skstream.evaluation import EvaluationResult
from skstream.studies._leaderboard import _share_rows
from skstream.studies._over_seeds import StreamStudy
from skstream.studies._seed_study import SeedStudy

FIELD = Path(__file__).resolve().parents[1] / "docs" / "field.json"
ALPHA = 0.05
#: Share of the rows without which intervals are taken a second time: the warm-up.
WITHOUT = 0.2
#: Learners by what their text names first; a refit of trees is a refit.
FAMILIES = {
    "refitted": r"\brefit\(|PeriodicRefit|\bfixed\(",
    "forest": r"\bforest\b|ARFClassifier|AdaptiveRandomForest",
    "bagging": r"Bagging|Boosting|Leveraging|Patches",
    "tree": r"\btree\b|HoeffdingTree|HoeffdingAdaptiveTree",
    "neighbours": r"\bknn\b|KNN|KNeighbors",
    "naive Bayes": r"\bnb\b|NaiveBayes|GaussianNB",
    "linear": r"sgd|perceptron|Perceptron|SGD|PassiveAggressive|LogisticRegression",
}
#: Texts of models that look at no column: naive guesses.
GUESS = re.compile(r"(skstream\.baselines:|(persistent|majority|random)\b(?!-reg))")
#: Of these, texts of seasonal ones, which only streams that have seasons are shown.
SEASONAL = re.compile(r"\blag=")
#: Files of rows that a generator has made.
MADE = re.compile(r"/sea_\d")
TOLD = re.compile(
    r"^(skstream\.temporal:)?(augmented|corrected|TemporallyAugmented|TemporalCorrection)\("
)


def family_of(model: str) -> str:
    """Kind of a learner, by its text."""
    plain = re.sub(r"HistGradientBoosting\w*", "hgb", model)
    return next((name for name, one in FAMILIES.items() if re.search(one, plain)), "other")


def learners_of(models: Mapping[str, str], names: Sequence[str], naive: Sequence[str]) -> Any:
    """What each learner is."""
    found = {}
    for name in names:
        text = models.get(name, name)
        kind = "optimal" if name == OPTIMAL else family_of(text)
        if name in naive:
            kind = "seasonal" if SEASONAL.search(text) else "naive"
        is_told = bool(TOLD.match(text)) and name not in naive
        found[name] = {"model": text, "family": kind, "told": is_told}
    return found


def rounded(value: float) -> float | None:
    """A number as it is written; None where there is none."""
    return round(float(value), DIGITS) if math.isfinite(value) else None


def read_folder(folder: Path) -> dict[str, dict[int, EvaluationResult]]:
    """Return the results by entry and seed; of late labels, those at arrival."""
    found: dict[str, dict[int, EvaluationResult]] = defaultdict(dict)
    for path in sorted((folder / RESULTS).glob("[!.]*.npz")):
        entry, _, seed = path.stem.rpartition("-")
        found[entry][int(seed)] = at_arrival(load(path))
    return {name: dict(sorted(of_seed.items())) for name, of_seed in found.items()}


def three_digits(value: float) -> float | None:
    """A cost: its first digits."""
    return float(f"{value:.3g}") if math.isfinite(value) else None


def over_seeds(values: Sequence[float]) -> list[float | None]:
    """Values by seed; one where all seeds have the same."""
    written = [rounded(one) for one in values]
    return written[:1] if all(one == written[0] for one in written) else written


# -- against the naive guesses


def intervals(
    results: Sequence[EvaluationResult], name: str, naive: Sequence[str], alpha: float, share: float
) -> dict[str, list[float]]:
    """By naive guess: low end, mean and high end of how much better a learner is, over the seeds.

    Rows count from a share of the stream on. Each interval has the level `alpha` divided by the
    number of seeds, so that their mean has `alpha`.
    """
    found = {}
    for guess in naive:
        ends = []
        for one in results:
            rows: dict[str, Any] = {"since": int(share * one.n_rows) + 1} if share else {}
            test = one.compare(name, guess, test="anytime", alpha=alpha / len(results), **rows)
            low, high = test.interval  # of the learner's loss minus that of the guess
            ends.append((-high, -float(test.differences[-1]), -low))
        found[guess] = np.mean(ends, axis=0).tolist()
    return found


def verdict(by_guess: Mapping[str, Sequence[float]]) -> int:
    """1: certainly better than every naive guess; -1: certainly worse than one; else 0."""
    if all(low > 0 for low, _, _ in by_guess.values()):
        return 1
    return -1 if any(high < 0 for _, _, high in by_guess.values()) else 0


def entry_of(
    name: str,
    by_seed: Mapping[int, EvaluationResult],
    naive: Sequence[str],
    seasonal: Sequence[str] = (),
) -> Any:
    """All that is kept of an entry; where it has seasonal guesses, verdicts without them, too."""
    first = next(iter(by_seed.values()))
    stream, _, delay = name.partition("+")
    names = list(dict.fromkeys(one for r in by_seed.values() for one in r.model_names))
    # Learners without chance have one seed where the rows are the same for all.
    of = {one: [r for r in by_seed.values() if one in r.model_names] for one in names}
    failures = {one: r.failures[one] for one in names for r in of[one] if one in r.failures}
    command = without_models(first.details.record["command"])
    made = " ".join(command)
    guesses = [one for one in naive if one in names and one not in failures]
    competing = [n for n in names if n not in failures and n not in (*naive, OPTIMAL)]
    level = ALPHA / max(1, len(competing) * len(guesses))
    best = max(guesses, key=lambda g: np.mean([r.scores[g]["accuracy"] for r in of[g]]))
    learners = {one: scores_and_costs(of[one], one, len(names)) for one in names}
    for one in competing:
        # Later seeds of rows that stay the same may be without the naive guesses.
        kept = [r for r in of[one] if {*guesses} <= {*r.model_names}]
        for share, what in ((0.0, "gain"), (WITHOUT, "gain_later")) if kept else ():
            by_guess = intervals(kept, one, guesses, level, share)
            learners[one][what] = list(map(rounded, by_guess[best]))
            learners[one][f"{what}_is"] = verdict(by_guess)
            if what == "gain" and {*guesses} & {*seasonal}:
                plain = {g: ends for g, ends in by_guess.items() if g not in seasonal}
                learners[one]["gain_plain_is"] = verdict(plain)
    return {
        "stream": stream,
        "delay": delay or "at once",
        "generated": bool(MADE.search(made)) or ("--generator" in command and "fetch_" not in made),
        "measures": first.metric_names,
        "commands": {
            str(seed): without_models(r.details.record["command"]) for seed, r in by_seed.items()
        },
        "rows": first.n_rows,
        "head": "--n-rows" in command or "take_rows(" in made,
        "classes": 0 if first.classes is None else len(first.classes),
        "columns": first.details.record["stream"]["width"],
        "checksums": {
            str(seed): r.details.record["stream"]["checksums"] for seed, r in by_seed.items()
        },
        "best_guess": best,
        "succession": rounded(label_profile(first.tape.y).succession) if first.tape else None,
        "learners": learners,
        "failures": failures,
    }


def scores_and_costs(
    results: Sequence[EvaluationResult], name: str, n_learners: int
) -> dict[str, Any]:
    """Scores of a learner by measure, one for each seed or one for all, and what it costs.

    Its time depends on what else is run, so that it is taken where all learners are; elsewhere, it
    is the time among few.
    """
    times: dict[bool, list[float]] = {True: [], False: []}
    for one in results:
        is_whole = len(one.model_names) == n_learners
        times[is_whole].append(1e6 * one.costs[name].seconds / one.n_rows)
    sizes = [r.costs[name].size / 1e6 for r in results]
    paths = {r.paths.get(name, "").partition(":")[0] for r in results}
    return {
        "scores": [
            over_seeds([r.scores[name][m] for r in results]) for m in results[0].metric_names
        ],
        "microseconds": three_digits(float(np.median(times[True] or times[False]))),
        **(
            {"microseconds_among_few": three_digits(float(np.median(times[False])))}
            if times[True] and times[False]
            else {}
        ),
        "megabytes": three_digits(float(np.median(sizes))),
        "path": " and ".join(sorted(paths)),
    }


# -- over the streams


def mark_shared(
    entries: Mapping[str, Any], found: Mapping[str, Mapping[int, EvaluationResult]]
) -> None:
    """Say of streams that share rows with another one that they count apart.

    The one with the fewest columns counts: of Electricity the five without the price of the row,
    from which the label was made.
    """
    at_once = [name for name, entry in entries.items() if entry["delay"] == "at once"]
    at_once.sort(key=lambda one: (entries[one]["columns"], -entries[one]["rows"]))
    first = {name: next(iter(found[name].values())) for name in at_once}
    apart: dict[str, str] = {}
    for place, name in enumerate(at_once):
        for other in at_once[:place]:
            if name not in apart and other not in apart and _share_rows(first[other], first[name]):
                apart[name] = other
    for entry in entries.values():
        entry["same_rows_as"] = apart.get(entry["stream"], "")


def leaderboard_of(
    found: Mapping[str, Mapping[int, EvaluationResult]], names: Sequence[str]
) -> dict[str, Any] | None:
    """Which learners are certainly not the best over some streams, by accuracy."""
    if len(found) < 2 or len(names) < 2:
        return None
    studies = {
        stream: SeedStudy(
            seeds=tuple(of_seed),
            results=tuple(
                one.select(models=list(names), metrics="accuracy") for one in of_seed.values()
            ),
        )
        for stream, by_seed in found.items()
        if (of_seed := {k: r for k, r in by_seed.items() if {*names} <= {*r.model_names}})
    }
    board = StreamStudy(studies).leaderboard("accuracy", alpha=ALPHA)
    return {
        "streams": list(board.streams),
        "rows": board.n_rows,
        "mean_losses": dict(zip(board.names, map(rounded, board.mean_losses), strict=True)),
        "possible": list(board.possible),
        "since": {name: one for name, one in board.since.items() if one is not None},
    }


def with_and_without(
    entries: Mapping[str, Any],
    found: Mapping[str, Mapping[int, EvaluationResult]],
    names: Sequence[str],
) -> dict[str, Any] | None:
    """Return a leaderboard, and what may be the best without the stream on which learners differ
    most: by the standard deviation of their accuracies, of which the mean over streams is made.
    """
    board = leaderboard_of(found, names)
    if board is None:
        return None
    place = {n: entries[n]["measures"].index("accuracy") for n in found}
    spread = {
        n: np.std([np.mean(entries[n]["learners"][one]["scores"][place[n]]) for one in names])
        for n in found
    }
    most = max(spread, key=lambda n: spread[n])
    rest = leaderboard_of({n: one for n, one in found.items() if n != most}, names)
    without = {} if rest is None else {"without": {"stream": most, "possible": rest["possible"]}}
    return {**board, **without}


def field_of(folder: Path) -> dict[str, Any]:
    """Everything that docs/field.json holds."""
    suite = read_suite(folder / SUITE)
    found = read_folder(folder)
    order = [name for name in suite.streams if name in found]
    found = {name: found[name] for name in [*order, *sorted(set(found) - set(order))]}
    every = list(
        dict.fromkeys(n for e in found.values() for r in e.values() for n in r.model_names)
    )
    naive = [
        name
        for name in every
        if name != OPTIMAL
        and (name in suite.references or GUESS.match(suite.every_model.get(name, name)))
    ]
    learners = learners_of(suite.every_model, every, naive)
    seasonal = [name for name in naive if learners[name]["family"] == "seasonal"]
    entries = {name: entry_of(name, by_seed, naive, seasonal) for name, by_seed in found.items()}
    mark_shared(entries, found)
    at_once = {
        name: by_seed
        for name, by_seed in found.items()
        if entries[name]["delay"] == "at once" and not entries[name]["same_rows_as"]
    }
    boards = {}
    for kind, is_generated in (("real", False), ("generated", True)):
        some = {n: e for n, e in at_once.items() if entries[n]["generated"] == is_generated}
        names = ranked(entries, list(some), [*naive, OPTIMAL])
        board = with_and_without(entries, some, names)
        if board is not None:
            boards[kind] = board
    versions = {
        ", ".join(f"{n} {one}" for n, one in r.details.record["versions"].items())
        for by_seed in found.values()
        for r in by_seed.values()
    }
    runs = suite.runs(folder)
    return {
        "format": 1,
        "alpha": ALPHA,
        "versions": sorted(versions),
        "learners": learners,
        "missing": [f"{one.stream}, seed {one.seed}" for one in runs if not one.path.exists()],
        "entries": entries,
        "leaderboards": boards,
    }


def ranked(entries: Mapping[str, Any], names: Sequence[str], left: Sequence[str]) -> list[str]:
    """Learners with a score on each of some entries, in their order."""
    if not names:
        return []
    return [
        one
        for one in entries[names[0]]["learners"]
        if one not in left
        and all(one in entries[n]["learners"] and one not in entries[n]["failures"] for n in names)
    ]


def write(field: Mapping[str, Any], path: Path) -> None:
    """Write the record: a line for each learner of an entry."""
    about = {name: one for name, one in field.items() if name != "entries"}
    entries = []
    for name, entry in field["entries"].items():
        lines = [f"   {json.dumps(one)}: {_short(data)}" for one, data in entry["learners"].items()]
        rest = {key: one for key, one in entry.items() if key != "learners"}
        learners = ",\n".join(lines)
        entries.append(f'  {json.dumps(name)}: {_short(rest)[:-1]}, "learners": {{\n{learners}}}}}')
    head = ",\n".join(f" {json.dumps(key)}: {_short(one)}" for key, one in about.items())
    text = f'{{\n{head},\n "entries": {{\n' + ",\n".join(entries) + "\n}}"
    path.write_text(f"{text}\n", "utf-8")


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def main() -> None:
    """Read the folder and write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="what was given to skstream bench as --out")
    parser.add_argument("--out", type=Path, default=FIELD)
    options = parser.parse_args()
    field = field_of(options.folder)
    write(field, options.out)
    print(f"{options.out}: {len(field['entries'])} entries, {len(field['missing'])} runs missing")


if __name__ == "__main__":
    main()
