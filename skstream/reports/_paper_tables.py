"""Scores as a table for a paper, a page or a notebook: LaTeX, Markdown and HTML."""

import re
from html import escape
from typing import Any, NamedTuple

import numpy as np

from skstream.core.result.result import EvaluationResult
from skstream.reports._answer import NAIVE
from skstream.reports._report import (
    NEXT_CALLS,
    blocks,
    different_rows,
    heading,
    notes,
    share_of_folds,
    table_cells,
    title,
    undefined_kappas,
)
from skstream.stats._report import plural
from skstream.utils._choices import check_count
from skstream.utils._tables import figure

#: What stands in place of a score that is undefined.
UNDEFINED = "–"
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
}

#: How names of models look in a notebook, where bold means the best.
_PLAIN = "text-align: left; font-weight: normal"
_RANK = re.compile(r"\(([\d.]+)\)$")
_LABEL = re.compile(r"[\w:./+ -]+")


class Cell(NamedTuple):
    """A score as text, its standard deviation over folds (empty for one), and if it is best."""

    score: str
    deviation: str
    is_best: bool

    def __str__(self) -> str:
        return f"{self.score} ± {self.deviation}" if self.deviation else self.score


def score_rows(result: EvaluationResult, digits: int = 4) -> dict[str, list[Cell]]:
    """Return the cells of each model, one for each measure, under the first mechanism.

    Scores that are written alike are best together. Models that failed are never best, and none is
    where all scores are written alike, where it is unknown whether a higher value of a measure is
    better, where the models are scored on different rows, or where a kappa of some model has no
    value.
    """
    check_count(digits, "digits", 0)
    scores = result.scores
    alike = not different_rows(result)
    whole = [name for name in scores if name not in result.failures]
    best: dict[str, str] = {}
    for metric in result.metric_names:
        is_higher = result.measures[metric].higher_is_better
        values = [scores[name][metric] for name in whole if np.isfinite(scores[name][metric])]
        if undefined_kappas(result, metric, whole):
            continue
        differ = len({_written(value, digits) for value in values}) > 1
        if differ and is_higher is not None and alike:
            best[metric] = _written(max(values) if is_higher else min(values), digits)
    rows: dict[str, list[Cell]] = {}
    for name, by_metric in scores.items():
        texts = {metric: _written(score, digits) for metric, score in by_metric.items()}
        rows[name] = [
            Cell(
                score=text,
                deviation=_deviation(result, name, metric, digits),
                is_best=name in whole and text == best.get(metric),
            )
            for metric, text in texts.items()
        ]
    return rows


def _written(score: float, digits: int) -> str:
    return UNDEFINED if np.isnan(score) else figure(score, digits)


def _deviation(result: EvaluationResult, name: str, metric: str, digits: int) -> str:
    curve = result.curve(name, metric)
    last = curve[-1:] if curve.ndim == 2 else curve[-1:, :, -1]
    if last.size < 2 or name in result.failures or np.isnan(last).any():
        return ""
    deviation = last.std(ddof=1)
    # One that would be written as 0 is shown with one more digit.
    return f"{deviation:.{digits + (0 < deviation < 0.5 * 10.0**-digits)}f}"


def about(result: EvaluationResult) -> list[str]:
    """Say in sentences what the numbers of the table are, and which models are not like others."""
    words = title(result.select(forgetting=result.forgetting_names[0]))
    lines = [f"{words[:1].upper()}{words[1:]}"]
    if result.n_folds > 1:
        lines[0] += " (± their standard deviation)"
    share = share_of_folds(result)
    lines[0] += f"; {share}" if share else ""
    lines += [unlike] if (unlike := different_rows(result)) else []
    lines += [f"{name} failed" for name in result.failures]
    return [f"{one}." for one in (*lines, *(f"{name} is left out" for name in result.left_out))]


def marks_explained(result: EvaluationResult, *, has_best: bool) -> list[str]:
    """Say what bold and italics mean in the tables of a page."""
    said = ["Bold: the best of a column."] if has_best else []
    if any(name in result.details.baselines for name in result.model_names):
        said.append(f"In italics: a {NAIVE}.")
    return said


def html(result: EvaluationResult) -> str:
    """Scores of all models as HTML tables, for a notebook."""
    parts, has_best = [f"<p><b>{escape(title(result))}</b></p>"], False
    share = share_of_folds(result)
    parts += [f"<p>{escape(plural(result.n_folds, 'fold'))}, {escape(share)}</p>"] if share else []
    for words, one in blocks(result):
        header, rows = table_cells(one)
        heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
        lines = []
        for cells, (name, *texts) in zip(score_rows(one).values(), rows, strict=True):
            has_best |= any(cell.is_best for cell in cells)
            tag = "i" if name in result.details.baselines else "span"
            scores = [f"<b>{cell}</b>" if cell.is_best else f"{cell}" for cell in cells]
            shown = [*scores, *map(escape, texts[len(cells) :])]
            named = f'<th scope="row" style="{_PLAIN}"><{tag}>{escape(name)}</{tag}></th>'
            lines.append(f"<tr>{named}{''.join(f'<td>{text}</td>' for text in shown)}</tr>")
        parts.append(
            f"<p>{escape(words or heading(one, one.forgetting_names[0]))}</p>"
            f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        )
    said = [" ".join(marks_explained(result, has_best=has_best)), *notes(result)]
    parts.extend(f"<p>{escape(line)}</p>" for line in said if line)
    return "\n".join([*parts, f"<p>Next: <code>{NEXT_CALLS}</code></p>"])


def to_markdown(result: EvaluationResult, digits: int) -> str:
    """Return the scores as a Markdown table; see `EvaluationResult.to_markdown`."""
    lines = [
        f"| {' | '.join(map(_markdown, ['model', *result.metric_names]))} |",
        f"|---|{'---:|' * len(result.metric_names)}",
    ]
    for name, cells in score_rows(result, digits).items():
        naive = f" *({NAIVE})*" if name in result.details.baselines else ""
        words = [f"**{one}**" if one.is_best else f"{one}" for one in cells]
        lines.append(f"| {' | '.join([_markdown(name) + naive, *words])} |")
    return "\n".join([*lines, "", " ".join(map(_markdown, about(result))), ""])


def to_latex(result: EvaluationResult, digits: int, label: str | None) -> str:
    """Return the scores as a table for LaTeX; see `EvaluationResult.to_latex`."""
    notes = list(map(_latex_words, about(result)))
    if any(name in result.details.baselines for name in result.model_names):
        notes.append(rf"$^\dagger$ {NAIVE}.")
    rows = []
    for name, cells in score_rows(result, digits).items():
        naive = r"$^\dagger$" if name in result.details.baselines else ""
        rows.append([_latex(name) + naive, *map(_latex_cell, cells)])
    return latex_table(["model", *result.metric_names], rows, " ".join(notes), label)


def latex_of_texts(header: list[str], rows: list[list[str]], notes: list[str], label: Any) -> str:
    """Return a table of texts for LaTeX; of those that end in a rank, the best is bold."""
    cells = []
    for row in rows:
        ranks = [float(found[1]) if (found := _RANK.search(one)) else np.inf for one in row]
        texts = [_latex_words(one).replace("nan", "--") for one in row[1:]]
        best = [np.isfinite(rank) and rank == min(ranks) for rank in ranks[1:]]
        bold = [rf"\textbf{{{one}}}" if its else one for one, its in zip(texts, best, strict=True)]
        cells.append([_latex(row[0]), *bold])
    lines = [one.replace("-\n", "-") for one in notes]  # a statement may be wrapped at a hyphen
    return latex_table(header, cells, " ".join(map(_latex_words, lines)), label)


def latex_table(header: list[str], rows: list[list[str]], caption: str, label: Any) -> str:
    """Return a table for LaTeX of cells and a caption that it can read."""
    if label is not None and not _LABEL.fullmatch(str(label)):
        raise ValueError(
            "label may have only letters, digits, blanks and : . / + - _, which LaTeX can read. "
            f"Got {label!r} instead."
        )
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        *([] if label is None else [rf"\label{{{label}}}"]),
        rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"\toprule",
        rf"{' & '.join(map(_latex, header))} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in rows),
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _latex_cell(cell: Cell) -> str:
    score = cell.score.replace("-", "$-$").replace(UNDEFINED, "--")
    shown = rf"\textbf{{{score}}}" if cell.is_best else score
    return shown + (rf" $\pm$ {cell.deviation}" if cell.deviation else "")


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#~&$])", r"\\\1", " ".join(str(text).split()))


def _latex_words(text: str) -> str:
    return _latex(text).replace("±", r"$\pm$")


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(str(text).split()))
