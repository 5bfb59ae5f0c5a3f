"""A result as one page for readers without Python: HTML that needs no other file."""

import base64
import html
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skstream.core.result.select import as_passed, cautions
from skstream.drift._detect import each
from skstream.reports._answer import NAIVE, Answer, answer
from skstream.reports._paper_tables import Cell, about, score_rows
from skstream.reports._report import (
    blocks,
    notes,
    unusual_parameters,
)
from skstream.stats import Comparison
from skstream.streams import label_profile
from skstream.utils._optional import optional_import
from skstream.utils._saved import atomic_write
from skstream.utils._tables import listed
from skstream.utils._warnings import warn

if TYPE_CHECKING:
    from skstream.core.result.result import EvaluationResult

#: Most pictures of measures, rows of alarms and names in a list.
_MOST_PICTURES, _MOST_ALARMS, _MOST_NAMES = 6, 20, 40
#: Bytes of all pictures together, so that a page stays below two megabytes.
_ROOM = 1_400_000
#: So large are the letters in pictures that they can be read on a phone, in points and inches.
_PICTURES = {"font.size": 11.0, "legend.fontsize": "medium", "svg.fonttype": "path"}
_PICTURE_INCHES = (7.0, 4.2)
#: Characters that HTML cannot hold.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto;
  max-width: 52rem; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1.15rem; border-bottom: 1px solid #ccc; margin-top: 2rem; }
.answer { background: #eef4fb; border-left: .3rem solid #2b6cb0; padding: .25rem 1rem; }
.answer p:first-child { font-size: 1.15rem; font-weight: bold; }
.wide { overflow-x: auto; margin: 1rem 0; }
svg, img { display: block; margin: 1rem 0; width: 100%; max-width: 44rem; height: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right;
  vertical-align: top; overflow-wrap: normal; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child, .text td, .text th { text-align: left; }
td { white-space: nowrap; }
td:first-child { min-width: 6rem; max-width: 16rem; }
td:first-child, .text td:last-child { white-space: normal; overflow-wrap: anywhere; }
.text td:last-child { min-width: 12rem; }
.best { font-weight: bold; }
.naive td:first-child { font-style: italic; }
pre { overflow-x: auto; font-size: .8rem; background: #f6f6f6; padding: .5rem; }
code { font-size: .85rem; }
footer { color: #555; font-size: .85rem; margin-top: 2rem; }
@media print {
  body { max-width: none; font-size: 10.5pt; padding: 0; }
  .wide, pre { overflow: visible; }
  pre { white-space: pre-wrap; }
  h2 { break-after: avoid; }
  figure, svg, img, tr, .answer { break-inside: avoid; }
}
"""


class _Html(str):
    """Text that is HTML already."""


def write_page(
    result: "EvaluationResult",
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
    result: "EvaluationResult",
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
        *_section("How sure", _paragraphs(found.tests)),
        *_section("Alarms and drifts", _alarms(result, detections)),
        *(part for one in also for part in _further(one, room)),
        *_section("Warnings and remarks", _paragraphs(_remarks(result))),
        *_section("Cost", _costs(result)),
        *_section("The stream", _stream(result)),
        *_section("Settings", _settings(result)),
        *_section("Models", _models(result)),
        *_section("Made with", _made_with(result)),
        _tag("footer", "This page needs no other file, and holds no script."),
    ]
    head = _Html(
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    )
    page = _tag(
        *("html", _tag("head", head, _tag("title", name), _tag("style", _Html(_STYLE)))),
        _tag("body", *body),
        lang="en",
    )
    return f"<!DOCTYPE html>\n{page}\n"


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
    classes: str = "",
    naive: Sequence[str] = (),
) -> _Html:
    """Return a table, which scrolls where it is too wide; cells may be elements already."""
    head = [_tag("thead", _tag("tr", *(_tag("th", one) for one in header)))] if header else []
    lines = [
        _tag(
            *("tr", *(one if isinstance(one, _Html) else _tag("td", one) for one in row)),
            classes="naive" if row[0] in naive else "",
        )
        for row in rows
    ]
    whole = _tag("table", *head, _tag("tbody", *lines), classes=classes)
    return _tag("div", whole, classes="wide")


# -- sections


def _score_tables(result: "EvaluationResult") -> list[_Html]:
    """Scores under every mechanism; under delayed labels those at arrival and at the label."""
    naive, parts, has_best = result.details.baselines, [], False
    for words, one in blocks(result):
        parts += _paragraphs([f"{words}:"] if words else [])
        cells_of = score_rows(one)
        has_best |= any(cell.is_best for cells in cells_of.values() for cell in cells)
        rows = [[name, *map(_cell, cells)] for name, cells in cells_of.items()]
        parts.append(_table(["model", *one.metric_names], rows, naive=naive))
    said = ["Bold: the best of a column."] if has_best else []
    if any(name in naive for name in result.model_names):
        said.append(f"In italics: a {NAIVE}.")
    for direction in (True, False):
        names = [name for name, one in result.measures.items() if one.higher_is_better is direction]
        better = "Higher" if direction else "Lower"
        said += [f"{better} is better: {listed(names, _MOST_NAMES)}."] if names else []
    return [*parts, *_paragraphs([" ".join(said)] if said else [])]


def _cell(cell: Cell) -> _Html:
    return _tag("td", str(cell), classes="best" if cell.is_best else "")


def _room_of_a_picture(result: "EvaluationResult", also: Sequence[Any]) -> int:
    """Bytes that each picture may take; 0 without matplotlib, which the page can do without."""
    try:
        optional_import("matplotlib", "A report with pictures")
    except ImportError as error:
        warn(f"The report has no pictures. {error}")
        return 0
    n = min(len(_wanted(result)), _MOST_PICTURES) + sum(hasattr(one, "plot") for one in also)
    return _ROOM // max(n, 1)


def _wanted(result: "EvaluationResult") -> list[tuple[str, str]]:
    """Measures and mechanisms to draw: the first measure under each, the others under the first."""
    (first, *others), forgetting = result.metric_names, result.forgetting_names
    return [(first, one) for one in forgetting] + [(one, forgetting[0]) for one in others]


def _pictures(result: "EvaluationResult", room: int, detections: Mapping[str, Any]) -> list[_Html]:
    if not room:
        return _paragraphs(["There are none: matplotlib was not installed where this was written."])
    if not len(result.checkpoints):
        return []
    wanted, marked = _wanted(result), marks_of(result, detections)
    parts = [
        _drawn(partial(result.plot, one, forgetting=name, **marked), f"{one}, {name}", room)
        for one, name in wanted[:_MOST_PICTURES]
    ]
    more = [one for one, _ in wanted[_MOST_PICTURES:]]
    return [*parts, *_paragraphs([f"Not drawn: {listed(more, _MOST_NAMES)}."] if more else [])]


def marks_of(result: "EvaluationResult", detections: Mapping[str, Any]) -> dict[str, Any]:
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
        figure = draw().figure_
        try:
            figure.set_size_inches(_PICTURE_INCHES)
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


def _alarms(result: "EvaluationResult", detections: Mapping[str, Any]) -> list[_Html]:
    parts = []
    if result.drifts:
        rows = [(f"{one.start:,}", f"{one.end:,}") for one in result.drifts]
        parts += _paragraphs(["Where the truth is known to change:"])
        parts.append(_table(["from row", "to row"], rows))
    found = each(detections)
    if found:
        rows_of = [
            (
                *(one.monitor, one.model, f"{one.fold}", f"{len(one.alarms):,}"),
                listed([f"{row:,}" for row in one.alarms.tolist()], _MOST_ALARMS),
            )
            for one in found
        ]
        parts.append(
            _table(["monitor", "model", "fold", "alarms", "at row"], rows_of, classes="text")
        )
    return parts


def _further(one: Any, room: int) -> list[_Html]:
    """Return a section of another result: what it prints, and what it draws."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(one).__name__).capitalize()
    if isinstance(one, Comparison):
        return _section(name, _paragraphs([" ".join(str(one).split())]))
    parts = [_tag("pre", str(one))]
    if room and hasattr(one, "plot"):
        parts.append(_drawn(one.plot, name, room))
    return _section(name, parts)


def _remarks(result: "EvaluationResult") -> Iterator[str]:
    """Yield what the evaluation has warned of, as far as the result tells it, and its notes."""
    for message, _ in cautions(result):
        yield message
    yield from notes(result)
    for name, n in result.n_unanswered.items():
        if n:
            yield f"{name} left {n:,} questions without an answer."


def _costs(result: "EvaluationResult") -> list[_Html]:
    rows = [
        (
            *(name, f"{one.seconds:.2f}", _kilobytes(one.size), f"{one.ram_hours:.3g}"),
            result.paths.get(name, "").partition(":")[0],
        )
        for name, one in result.costs.items()
    ]
    return [_table(["model", "seconds", "size in kB", "RAM-hours", "path"], rows)] if rows else []


def _kilobytes(size: float) -> str:
    return "" if np.isnan(size) else f"{size / 1e3:,.1f}"


def _stream(result: "EvaluationResult") -> list[_Html]:
    """Describe the stream, as far as the result knows it."""
    known = result.details.record.get("stream", {})
    facts = [("rows", f"{known.get('rows', result.n_rows):,}")]
    if known.get("width") is not None:
        facts.append(("features", f"{known['width']:,}"))
    if known.get("names"):
        facts.append(("their names", listed(list(map(str, known["names"])), _MOST_NAMES)))
    if known.get("types"):
        facts.append(("their types", listed(list(map(str, known["types"])), _MOST_NAMES)))
    if result.times is not None and len(result.times):
        facts.append(("times of checkpoints", f"{result.times[0]} to {result.times[-1]}"))
    facts += _labels(result)
    for name, sums in known.get("checksums", {}).items():
        facts.append((f"checksum of {name}", listed(list(map(str, sums)), _MOST_NAMES)))
    waits = getattr(result, "waits", None)
    if waits is not None:
        facts.append(("labels that came, never came", f"{waits.n_labelled:,}, {waits.n_never:,}"))
        facts.append(("delay of labels", waits.delays_as_text()))
    return [_table((), facts, classes="text")]


def _labels(result: "EvaluationResult") -> list[tuple[str, str]]:
    """Shares of the classes, and how often a label is repeated, where labels were kept."""
    tape = result.tape
    if tape is None or result.details.scored_sets:
        return []
    if result.classes is None:
        y = tape.y[np.isfinite(tape.y)]
        targets = f"mean {y.mean():.6g}, from {y.min():.6g} to {y.max():.6g}" if len(y) else ""
        return [("targets", targets)] if targets else []
    codes = tape.y[tape.y >= 0]
    if not len(codes):
        return []
    profile = label_profile(codes)
    classes = [str(result.classes[code]) for code in profile.classes]
    shares = [f"{c} {p:.2%}" for c, p in zip(classes, profile.priors.tolist(), strict=True)]
    facts = [("classes", listed(shares, _MOST_NAMES))]
    if result.bins is None and len(codes) > 1:
        facts.append(("labels equal to the one before", f"{profile.persistence:.2%}"))
        facts.append(("what this means", profile.advice))
    return facts


def _settings(result: "EvaluationResult") -> list[_Html]:
    unusual = as_passed(unusual_parameters(result))
    rows = [(name, str(value)) for name, value in result.parameters.items()]
    table = [_table((), rows, classes="text")] if rows else []
    return [*_paragraphs([f"Not as usual: {unusual}."] if unusual else []), *table]


def _models(result: "EvaluationResult") -> list[_Html]:
    return [
        _tag("p", _tag("b", f"{name}: "), _tag("code", _call(parameters)))
        for name, parameters in result.details.record.get("models", {}).items()
    ]


def _call(parameters: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={value}" for name, value in parameters.items() if name != "class")
    return f"{parameters.get('class', '')}({given})"


def _made_with(result: "EvaluationResult") -> list[_Html]:
    record = result.details.record
    rows = [*record.get("versions", {}).items(), *record.get("platform", {}).items()]
    if record.get("command"):
        rows.append(("command", " ".join(map(str, ["skstream", *record["command"]]))))
    return (
        [_table((), [(name, str(value)) for name, value in rows], classes="text")] if rows else []
    )
