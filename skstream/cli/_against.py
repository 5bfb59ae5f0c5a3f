"""``skstream bench --against``: one's own models in the tables of streams that are recorded."""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skstream.cli._bench import FAILED, Plan, difference
from skstream.cli._from_text import by_name
from skstream.cli._output import say, show
from skstream.cli._suite import read_suite
from skstream.evaluation import EvaluationResult
from skstream.stats._report import plural
from skstream.utils._choices import check_choice
from skstream.utils._tables import aligned

#: Digits after the point of scores in the record.
DIGITS = 6


def against(options: argparse.Namespace, planned: Plan) -> int:
    """Evaluate models with the rows, seeds and protocol of a record, and show them in its tables.

    The record is what `benchmarks.field` writes. A suite, where one is given, must be its suite.
    """
    field = _read(options.against)
    if options.list:
        show("\n".join(field["entries"]))
        return 0
    if not options.model:
        raise ValueError("--against needs a model: --model mine=my_module:MyModel.")
    own = list(by_name("--model", options.model))
    if taken := [name for name in own if name in field["learners"]]:
        raise ValueError(
            f"--model has the name {taken[0]!r}, as a learner of {options.against} has. Give it "
            f"another one: --model mine={taken[0]}."
        )
    for name in options.stream:
        check_choice(name, "--stream", list(field["entries"]))
    runs = [] if options.suite is None else read_suite(options.suite).runs(Path())
    of_suite = {(run.stream, str(run.seed)): without_models(run.words) for run in runs}
    more = [word for one in options.model for word in ("--model", one)]
    more += [] if options.n_jobs is None else ["--n-jobs", str(options.n_jobs)]
    status = 0
    for name in options.stream or field["entries"]:
        results, entry = [], field["entries"][name]
        for place, (seed, words) in enumerate(entry["commands"].items()):
            where = f"{name}, seed {seed}"
            say(where)
            if runs and (there := of_suite.get((name, seed), [])) != words:
                said = difference(words, there) if there else "it has no such run"
                raise ValueError(
                    f"{options.suite} is not the suite of the record: {where}: {said}."
                )
            plan = planned([*words, *more])
            results.append(at_arrival(plan.evaluator.evaluate(plan.models, plan.opened.stream)))
            _check_same(results[-1], entry, place, where)
            for message in results[-1].failures.values():
                say(f"error: {message}")
                status = FAILED
        show(_table(entry, name, own, results))
    return status


def _read(path: Path) -> dict[str, Any]:
    try:
        field: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if field["format"] == 1:
            return field
    except (ValueError, KeyError, TypeError):
        pass
    raise ValueError(f"{path} is not a record written by `python -m benchmarks.field`.")


def without_models(words: Sequence[str]) -> list[str]:
    """Return the words of an evaluation but for those of its models."""
    before = ["", *words]
    return [w for w, last in zip(words, before, strict=False) if "--model" not in (w, last)]


def at_arrival(result: EvaluationResult) -> EvaluationResult:
    """Return a result; of late labels, that of the answers that were given when rows came."""
    return result if result.bins is None else result.select(bins=0)


def _check_same(result: EvaluationResult, entry: Mapping[str, Any], place: int, where: str) -> None:
    """Refuse other rows than those of the record, and another protocol: naive guesses show it."""
    metric = entry["measures"][0]
    then = {"checksums": list(entry["checksums"].values())[place]}
    now = {"checksums": result.details.record["stream"]["checksums"]}
    for name in (one for one in result.model_names if one in entry["learners"]):
        values = entry["learners"][name]["scores"][0]
        then[name] = values[min(place, len(values) - 1)]
        now[name] = round(result.scores[name][metric], DIGITS)
    if differs := [name for name in then if then[name] != now[name]]:
        what = differs[0] if differs[0] == "checksums" else f"{metric} of {differs[0]}"
        raise ValueError(
            f"{where}: other rows, or another protocol, than those of the record. Its {what}: "
            f"{then[differs[0]]}; here: {now[differs[0]]}."
        )


def _table(
    entry: Mapping[str, Any], name: str, own: Sequence[str], results: Sequence[EvaluationResult]
) -> str:
    """Return the table of a stream with one's own models, the best by the first measure first."""
    rows = {
        learner: [np.mean(np.array(one, float)) for one in data["scores"]]
        + [data["microseconds"] or math.nan, data["megabytes"] or math.nan]
        for learner, data in entry["learners"].items()
    }
    for model in own:
        scores = [np.round(list(one.scores[model].values()), DIGITS) for one in results]
        costs = [
            (1e6 * one.costs[model].seconds / one.n_rows, one.costs[model].size / 1e6)
            for one in results
        ]
        rows[model] = [*np.mean(scores, axis=0), *np.median(costs, axis=0)]
    measures = entry["measures"]
    sign = -1 if results[0].measures[measures[0]].higher_is_better else 1
    order = sorted(rows, key=lambda one: (math.isnan(rows[one][0]), sign * rows[one][0]))
    cells = [
        [f"{v:z.4f}" for v in rows[n][:-2]] + [f"{v:.3g}" for v in rows[n][-2:]] for n in order
    ]
    marked = [f"{place}{' *' if one in own else ''}" for place, one in enumerate(order, 1)]
    lines = aligned(
        ["", *measures, "µs per row", "MB", "learner"],
        [[mark, *one, learner] for mark, one, learner in zip(marked, cells, order, strict=True)],
    )
    return "\n".join([f"{name}, {plural(len(results), 'seed')}; * is yours:", *lines])
