"""A result as one page for readers without Python: HTML that needs no other file."""

import base64
import html
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from skstream.core.result.result import EvaluationResult
from skstream.core.result.select import as_passed, cautions
from skstream.drift._detect import each
from skstream.reports._answer import Answer, answer
from skstream.reports._paper_tables import Cell, about, marks_explained, score_rows
from skstream.reports._report import (
    blocks,
    notes,
    unusual_parameters,
)
from skstream.stats import Comparison
from skstream.streams._profile import LabelProfile, label_profile
from skstream.utils._optional import optional_import
from skstream.utils._saved import atomic_write
from skstream.utils._tables import listed
from skstream.utils._warnings import warn

#: Most pictures of measures, rows of alarms and names in a list, and letters of parameters.
_MOST_PICTURES, _MOST_ALARMS, _MOST_NAMES, _MOST_LETTERS = 6, 20, 40, 80
_FEW = 4  # from so many models on a heading counts them
#: Bytes of all pictures together, so that a page stays below two megabytes.
_ROOM = 1_400_000
#: So large are the letters in pictures that they can be read on a phone, in points and inches.
_PICTURES = {
    "font.size": 11.0,
    "legend.fontsize": "medium",
    "svg.fonttype": "path",
    "figure.figsize": (6.0, 4.2),
}
#: Characters that HTML cannot hold.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
#: How a page looks.
_STYLE = Path(__file__).with_name("page.css")


class _Html(str):
    """Text that is HTML already."""


def write_page(
    result: EvaluationResult,
    path: str | Path,
    *,
    title: str | None = None,
    also: Sequence[Any] = (),
    alpha: float = 0.05,
    detections: Mapping[str, Any],
) -> Path:
    """Write a result as a page; see `EvaluationResult.report`."""
    if isinstance(also, str) or not isinstance(also, Iterable):
        raise TypeError(f"also must be a list of results. Got {type(also).__name__} instead.")
    path = page_path(path)
    page = _page(result, title, list(also), answer(result, alpha), detections)
    with atomic_write(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def page_path(path: str | Path) -> Path:
    """Return the file of a page: ``.html`` is appended where it has no such suffix."""
    path = Path(path)
    if not path.name or path.suffix.lower() in (".html", ".htm"):
        return path
    return path.with_name(f"{path.name}.html")


def _page(
    result: EvaluationResult,
    name: str | None,
    also: list[Any],
    found: Answer,
    detections: Mapping[str, Any],
) -> str:
    name = f"{result.protocol} evaluation".capitalize() if name is None else str(name)
    room = _room_of_a_picture(result, also)
    body = [
        _tag("h1", name),
        _tag("p", about(result)[0]),
        _tag("div", *_paragraphs([found.headline, *found.details]), classes="answer"),
        *_section("Scores", _score_tables(result)),
        *_section("Pictures", _pictures(result, room, detections)),
        *_section("Significance", _paragraphs(found.tests)),
        *_section("Alarms and drifts", _alarms(result, detections)),
        *(part for one in also for part in _further(one, room)),
        *_section("Warnings and remarks", _paragraphs(_remarks(result))),
        *_section("Cost", _costs(result)),
        *_section("The stream", _stream(result)),
        *_section("Settings", _settings(result)),
        *_section("Models", _models(result)),
        *_section("Made with", _made_with(result)),
        _tag("footer", "This page is self-contained and has no scripts."),
    ]
    head = _Html(
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    )
    style = _Html(_STYLE.read_text("utf-8"))
    page = _tag(
        *("html", _tag("head", head, _tag("title", name), _tag("style", style))),
        _tag("body", *body),
        lang="en",
    )
    number = itertools.count(1)
    whole = re.sub(r"<svg.*?</svg>", lambda one: _own_ids(one[0], next(number)), page, flags=re.S)
    return f"<!DOCTYPE html>\n{whole}\n"


def _own_ids(drawing: str, number: int) -> str:
    """Give the parts of a picture names that no other picture of the page has."""
    return re.sub(r'( id="|="#|url\(#)', rf"\g<1>p{number}-", drawing)


# -- elements


def _tag(name: str, *inside: str, **attributes: str) -> _Html:
    """Return an element; what is inside it and is no HTML yet is escaped."""
    names = {"classes": "class"}
    given = "".join(
        f' {names.get(key, key)}="{_escaped(value)}"' for key, value in attributes.items() if value
    )
    text = "".join(one if isinstance(one, _Html) else _escaped(one) for one in inside)
    return _Html(f"<{name}{given}>{text}</{name}>\n" if name != "img" else f"<img{given}>")


def _escaped(text: str) -> str:
    return html.escape(_CONTROLS.sub("\ufffd", text))


def _paragraphs(sentences: Iterable[str]) -> list[_Html]:
    return [_tag("p", one) for one in sentences]


def _section(name: str, parts: Sequence[_Html]) -> list[_Html]:
    """Return a heading and what is below it; nothing where nothing is."""
    return [_tag("h2", name), *parts] if parts else []


def _table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str,
    *,
    quiet: bool = True,
    classes: str = "",
    naive: Sequence[str] = (),
) -> _Html:
    """Return a table, which scrolls where it is too wide; cells may be elements already.

    A `quiet` caption is read aloud and not seen: a heading says the same.
    """
    titles = (_tag("th", one, scope="col") for one in header)
    head = [_tag("thead", _tag("tr", *titles))] if header else []
    lines = [
        _tag(
            *("tr", _tag("th", first, scope="row")),
            *(one if isinstance(one, _Html) else _tag("td", one) for one in row),
            classes="naive" if first in naive else "",
        )
        for first, *row in rows
    ]
    named = _tag("caption", caption, classes="quiet" if quiet else "")
    whole = _tag("table", named, *head, _tag("tbody", *lines), classes=classes)
    return _tag("div", whole, classes="wide", tabindex="0")


# -- sections


def _score_tables(result: EvaluationResult) -> list[_Html]:
    """Scores under every mechanism; with delayed labels those at arrival and at the label."""
    naive, parts, has_best = result.details.baselines, [], False
    for words, one in blocks(result):
        cells_of = score_rows(one)
        has_best |= any(cell.is_best for cells in cells_of.values() for cell in cells)
        rows = [[name, *map(_cell, cells)] for name, cells in cells_of.items()]
        header = ["model", *one.metric_names]
        parts.append(_table(header, rows, words or "scores", quiet=not words, naive=naive))
    said = marks_explained(result, has_best=has_best)
    for direction in (True, False):
        names = [name for name, one in result.measures.items() if one.higher_is_better is direction]
        better = "Higher" if direction else "Lower"
        said += [f"{better} is better: {listed(names, _MOST_NAMES)}."] if names else []
    return [*parts, *_paragraphs([" ".join(said)] if said else [])]


def _cell(cell: Cell) -> _Html:
    return _tag("td", str(cell), classes="best" if cell.is_best else "")


def _room_of_a_picture(result: EvaluationResult, also: Sequence[Any]) -> int:
    """Bytes that each picture may take; 0 without matplotlib, which the page can do without."""
    try:
        optional_import("matplotlib", "A report with plots")
    except ImportError as error:
        warn(f"The report has no plots. {error}")
        return 0
    n = min(len(_wanted(result)), _MOST_PICTURES) + sum(hasattr(one, "plot") for one in also)
    return _ROOM // max(n, 1)


def _wanted(result: EvaluationResult) -> list[tuple[str, str]]:
    """Measures and mechanisms to draw: the first measure under each, the others under the first."""
    (first, *others), forgetting = result.metric_names, result.forgetting_names
    return [(first, one) for one in forgetting] + [(one, forgetting[0]) for one in others]


def _pictures(result: EvaluationResult, room: int, detections: Mapping[str, Any]) -> list[_Html]:
    if not room:
        return _paragraphs(["There are no plots: matplotlib was not installed."])
    if not len(result.checkpoints):
        return []
    flat = [one for one in _wanted(result) if _is_flat(result, *one)]
    wanted = [one for one in _wanted(result) if one not in flat]
    marked, parts = marks_of(result, detections), []
    for one, name in wanted[:_MOST_PICTURES]:
        draw = partial(result.plot, one, forgetting=name, legend="ends", **marked)
        parts.append(_drawn(draw, f"{one}, {name}", room))
        marked = {one: value for one, value in marked.items() if one != "detections"}
    for why, more in (("", wanted[_MOST_PICTURES:]), (", because all values are equal", flat)):
        names = listed([one for one, _ in more], _MOST_NAMES)
        parts += _paragraphs([f"Not drawn{why}: {names}."] if more else [])
    return parts


def _is_flat(result: EvaluationResult, metric: str, forgetting: str) -> bool:
    """Whether a measure has the same value, where it has one, for all models at all checkpoints."""
    curves = [result.curve(one, metric, forgetting=forgetting) for one in result.model_names]
    values = np.concatenate([curve.ravel() for curve in curves])
    return len(np.unique(values[np.isfinite(values)])) == 1


def marks_of(result: EvaluationResult, detections: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `plot` that mark alarms; of labels that come late, over time."""
    if not detections:
        return {}
    return {"detections": detections} | ({} if result.n_bins is None else {"kind": "time"})


def _drawn(draw: Callable[[], Any], words: str, room: int) -> _Html:
    """Return what a function draws as a picture inside the page, and close it.

    Lines take more room than dots where there are very many.
    """
    matplotlib = optional_import("matplotlib", "A picture")
    pyplot = optional_import("matplotlib.pyplot", "A picture")
    lines, dots = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context({**_PICTURES, "svg.hashsalt": words}):
        display = draw()
        figure = display.figure_
        last_values = getattr(display, "_summary", lambda: "")()
        words = last_values if last_values.startswith(words) else f"{words}. {last_values}"
        try:
            figure.savefig(lines, format="svg")
            element = _as_element(lines.getvalue().decode("utf-8"), words)
            if len(element) > room:
                figure.savefig(dots, format="png", dpi=100)
                data = base64.b64encode(dots.getvalue()).decode("ascii")
                element = _tag("img", src=f"data:image/png;base64,{data}", alt=words)
        finally:
            pyplot.close(figure)
    return element


def _as_element(drawing: str, words: str) -> _Html:
    """Return an SVG file as an element, with its words and shorter numbers."""
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<!--.*?-->\s*|<metadata>.*?</metadata>\s*", "", drawing, flags=re.DOTALL)
    drawing = re.sub(r'(?<= d=")[^"]*', _shorter, drawing)
    return _Html(drawing.replace("<svg", f'<svg role="img" aria-label="{_escaped(words)}"', 1))


def _shorter(numbers: re.Match[str]) -> str:
    """Cut coordinates after a tenth of a point; lines need no command at each of their points."""
    path = re.sub(r"(\.\d)\d+", r"\1", " ".join(numbers[0].split()))
    has_curves = "Q" in path or "C" in path
    return path if has_curves else path.replace(" L ", " ")


def _alarms(result: EvaluationResult, detections: Mapping[str, Any]) -> list[_Html]:
    parts = []
    if result.drifts:
        rows = [(f"{one.start:,}", f"{one.end:,}") for one in result.drifts]
        words = "Where the truth is known to change"
        parts.append(_table(["from row", "to row"], rows, words, quiet=False))
    found = each(detections)
    if found:
        has_folds = any(one.fold for one in found)
        rows_of = [
            (
                *(one.monitor, one.model, *([f"{one.fold}"] if has_folds else [])),
                f"{len(one.alarms):,}",
                listed([f"{row:,}" for row in one.alarms.tolist()], _MOST_ALARMS),
            )
            for one in found
        ]
        header = ["monitor", "model", *(["fold"] if has_folds else []), "alarms", "at row"]
        parts.append(_table(header, rows_of, "alarms of drift monitors", classes="text"))
    return parts


def _further(one: Any, room: int) -> list[_Html]:
    """Return a section of another result: what it prints, and what it draws."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(one).__name__).capitalize()
    parts = [_tag("pre", str(one))]
    if isinstance(one, Comparison):
        names = one.names if len(one.names) < _FEW else [f"{len(one.names)} models"]
        name = f"Comparison of {' and '.join(map(str, names))}"
        parts = _paragraphs([" ".join(str(one).split())])
    if room and hasattr(one, "plot"):
        parts.append(_drawn(one.plot, name, room))
    return _section(name, parts)


def _remarks(result: EvaluationResult) -> Iterator[str]:
    """Yield what the evaluation has warned of, as far as the result tells it, and its notes."""
    for message, _ in cautions(result):
        yield message
    yield from notes(result)
    for name, n in result.n_unanswered.items():
        if n:
            yield f"{name} made no prediction {n:,} times."


def _costs(result: EvaluationResult) -> list[_Html]:
    rows = [
        (
            *(name, f"{one.seconds:.2f}", _kilobytes(one.size), f"{one.ram_hours:.3g}"),
            result.paths.get(name, "").partition(":")[0],
        )
        for name, one in result.costs.items()
    ]
    header = ["model", "seconds", "size in kB", "RAM-hours", "path"]
    return [_table(header, rows, "cost")] if rows else []


def _kilobytes(size: float) -> str:
    return "" if np.isnan(size) else f"{size / 1e3:,.1f}"


def _stream(result: EvaluationResult) -> list[_Html]:
    """Describe the stream, as far as the result knows it."""
    known = result.details.record.get("stream", {})
    facts = [("rows", f"{known.get('rows', result.n_rows):,}")]
    if known.get("width") is not None:
        facts.append(("features", f"{known['width']:,}"))
    if known.get("names"):
        facts.append(("feature names", listed(list(map(str, known["names"])), _MOST_NAMES)))
    if known.get("types"):
        facts.append(("feature types", listed(list(map(str, known["types"])), _MOST_NAMES)))
    if result.times is not None and len(result.times):
        facts.append(("times of checkpoints", f"{result.times[0]} to {result.times[-1]}"))
    facts += _labels(result)
    for name, sums in known.get("checksums", {}).items():
        facts.append((f"checksum of {name}", listed(list(map(str, sums)), _MOST_NAMES)))
    waits = getattr(result, "waits", None)
    if waits is not None:
        facts.append(("labels known, never known", f"{waits.n_labelled:,}, {waits.n_never:,}"))
        facts.append(("delay of labels", waits.delays_as_text()))
    return [_table((), facts, "the stream", classes="text")]


def profile_of(result: EvaluationResult) -> LabelProfile | None:
    """Return the profile of the labels that were scored, where they are kept."""
    if result.tape is None or result.classes is None or not (result.tape.y >= 0).any():
        return None
    profile = label_profile(result.tape.y[result.tape.y >= 0])
    return replace(profile, classes=result.classes[profile.classes])


def _labels(result: EvaluationResult) -> list[tuple[str, str]]:
    """Shares of the classes, and how often a label is repeated, where labels were kept."""
    tape = result.tape
    if tape is None or result.details.scored_sets:
        return []
    if result.classes is None:
        y = tape.y[np.isfinite(tape.y)]
        targets = f"mean {y.mean():.6g}, from {y.min():.6g} to {y.max():.6g}" if len(y) else ""
        return [("targets", targets)] if targets else []
    profile = profile_of(result)
    if profile is None:
        return []
    shares = [f"{c} {p:.2%}" for c, p in zip(profile.classes, profile.priors.tolist(), strict=True)]
    facts = [("classes", listed(shares, _MOST_NAMES))]
    if result.bins is None and profile.n_rows > 1:
        facts.append(("labels equal to the previous one", f"{profile.persistence:.2%}"))
        facts.append(("what this means", profile.advice))
    return facts


def _settings(result: EvaluationResult) -> list[_Html]:
    unusual = as_passed(unusual_parameters(result))
    rows = [(name, str(value)) for name, value in result.parameters.items()]
    table = [_table((), rows, "settings", classes="text")] if rows else []
    return [*_paragraphs([f"Other than the defaults: {unusual}."] if unusual else []), *table]


def _models(result: EvaluationResult) -> list[_Html]:
    """Return the class of each model, and its parameters, folded where they are long."""
    parts = []
    for name, parameters in result.details.record.get("models", {}).items():
        kind = parameters.get("class", "")
        given = ", ".join(f"{key}={value}" for key, value in parameters.items() if key != "class")
        title, call = _tag("b", f"{name}: "), _tag("code", f"{kind}({given})")
        if len(given) > _MOST_LETTERS:
            short = _tag("summary", title, _tag("code", f"{kind.rpartition('.')[2]}(...)"))
            parts.append(_tag("details", short, call))
        else:
            parts.append(_tag("p", title, call))
    return parts


def _made_with(result: EvaluationResult) -> list[_Html]:
    record = result.details.record
    rows = [*record.get("versions", {}).items(), *record.get("platform", {}).items()]
    if record.get("command"):
        rows.append(("command", " ".join(map(str, ["skstream", *record["command"]]))))
    texts = [(name, str(value)) for name, value in rows]
    return [_table((), texts, "versions", classes="text")] if rows else []
