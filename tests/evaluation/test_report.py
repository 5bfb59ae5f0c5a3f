"""The page of a result: the numbers are its own, the text is escaped, and nothing is fetched."""

import html
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.drift import DDM
from skstream.reports import _page
from skstream.stats import friedman_nemenyi
from skstream.streams import join_streams, make_demo_stream
from tests._examples import examples
from tests.evaluation._models import FailsLater

STREAM = make_demo_stream(300, random_state=0)
MODELS = {
    "persistent": sk.Persistent(),
    "majority": sk.MajorityClass(),
    "sgd": SGDClassifier(loss="log_loss", random_state=0),
}
FORGETTING = {"all": "cumulative", "recent": "window:50"}
#: Elements without an end.
VOID = {"meta"}


class Page(HTMLParser):
    """Headings, tables and paragraphs of a page, by section; whatever is open must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.sections: dict[str, list[list[list[str]]]] = {"": []}
        self.texts: dict[str, list[str]] = {"": []}
        self.bold: list[str] = []
        self._open: list[str] = []
        self._section = ""
        self._attributes: dict[str, str | None] = {}
        self._found = ""
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        self._attributes = dict(attrs)
        if tag in VOID:
            return
        self._open.append(tag)
        if tag in ("td", "th", "p", "details", "h1", "h2", "pre", "title"):
            self._found = ""
        if tag == "table":
            self.sections[self._section].append([])
        elif tag == "tr":
            self.sections[self._section][-1].append([])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "h2":
            self._section = self._found
            self.sections[self._section], self.texts[self._section] = [], []
        elif tag in ("td", "th"):
            self.sections[self._section][-1][-1].append(self._found)
            if self._attributes.get("class") == "best":
                self.bold.append(self._found)
        elif tag in ("p", "details", "h1", "pre", "title"):
            self.texts[self._section].append(self._found)

    def handle_data(self, data: str) -> None:
        self._found += data

    def handle_entityref(self, name: str) -> None:
        raise AssertionError("characters are converted")


@pytest.fixture(autouse=True, scope="module")
def no_pictures():
    """Leave the pictures out, which take most of the time, where a test does not ask for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_page, "_room_of_a_picture", lambda *_: 0)
        yield patch


@pytest.fixture
def pictures(no_pictures, matplotlib):
    """Draw the pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_page, "_room_of_a_picture", ROOM)
        yield


ROOM = _page._room_of_a_picture


def text_of(result: Any, folder: Path, **options: Any) -> str:
    return Path(result.report(folder / "report.html", **options)).read_text("utf-8")


def resumed(folder: Path) -> Any:
    """Result of a run that was saved on the way, and loaded."""
    run = sk.PrequentialEvaluator(random_state=0).start(MODELS, classes=STREAM.classes)
    run.update(STREAM.X[:120], STREAM.y[:120])
    run = sk.load_run(run.save(folder / "run"))
    run.update(STREAM.X[120:], STREAM.y[120:])
    return run.result()


def unbroken(**options: Any) -> Any:
    return sk.PrequentialEvaluator(random_state=0, **options).evaluate(MODELS, STREAM)


def regression() -> Any:
    X = np.random.default_rng(0).normal(size=(200, 2))
    models = {"mean": sk.MeanRegressor(), "last": sk.PersistentRegressor()}
    return sk.PrequentialEvaluator().evaluate(models, X, X[:, 0] * 3)


RESULTS: dict[str, Callable[[Path], Any]] = {
    "two mechanisms": lambda _: unbroken(forgetting=FORGETTING),
    "folds": lambda _: sk.KFoldEvaluator(n_folds=4, random_state=0).evaluate(MODELS, STREAM),
    "some folds": lambda _: (
        sk.KFoldEvaluator(n_folds=4, random_state=0).evaluate(MODELS, STREAM).select(folds=[1, 3])
    ),
    "holdout": lambda _: sk.HoldoutEvaluator(
        holdout=(STREAM.X[-50:], STREAM.y[-50:]), every=100, random_state=0
    ).evaluate(MODELS, STREAM.X[:-50], STREAM.y[:-50]),
    "delayed": lambda _: sk.DelayedEvaluator(
        delay=20, forgetting=FORGETTING, random_state=0, polling=sk.Polling(n_bins=3)
    ).evaluate(MODELS, STREAM),
    "regression": lambda _: regression(),
    "loaded": lambda folder: sk.load(unbroken(forgetting=FORGETTING).save(folder / "result.npz")),
    "without a tape": lambda _: unbroken(run=sk.RunOptions(keep_tape=False)),
    "resumed": resumed,
    "one model": lambda _: unbroken().select(models="sgd"),
    "forty models": lambda _: sk.score_predictions(
        STREAM.y,
        {
            f"model {k}": np.random.default_rng(k).permutation(np.asarray(STREAM.y))
            for k in range(40)
        },
    ),
    "a log": lambda _: sk.score_predictions(
        [0, 0, 1], {"a": [0, 1, 1]}, probabilities={"a": [0.2, 0.6, 0.7]}, metrics=["brier", "mcc"]
    ),
}


def check_numbers(page: Page, result: Any) -> None:
    """Raise where a score of the page is not the result's, rounded."""
    bins = [None] if result.bins is None else [result.bins[0], result.bins[-1]]
    tables = page.sections["Scores"]
    narrower = [
        result.select(forgetting=forgetting, bins=bin)
        for bin in bins
        for forgetting in result.forgetting_names
    ]
    assert len(tables) == len(narrower)
    for (header, *rows), one in zip(tables, narrower, strict=True):
        assert header == ["model", *one.metric_names]
        assert [row[0] for row in rows] == one.model_names
        for name, *cells in rows:
            for metric, cell in zip(one.metric_names, cells, strict=True):
                score, _, deviation = cell.partition(" ± ")
                check_rounded(score, one.scores[name][metric])
                curve = one.curve(name, metric)
                last = curve[-1] if curve.ndim == 2 else curve[-1, :, -1]
                if len(last) > 1 and np.isfinite(last).all() and name not in result.failures:
                    check_rounded(deviation, last.std(ddof=1))
                else:
                    assert not deviation


def check_rounded(text: str, value: float) -> None:
    if np.isnan(value):
        assert text == "–"
        return
    assert re.fullmatch(r"-?\d+\.\d{4}", text)
    assert abs(float(text) - value) <= 0.5001e-4


@pytest.mark.parametrize("kind", sorted(RESULTS))
def test_every_number_is_the_result_s(kind: str, tmp_path: Path) -> None:
    result = RESULTS[kind](tmp_path)
    page = Page(text_of(result, tmp_path))
    check_numbers(page, result)
    shown = [float(one) for text in page.texts[""] for one in re.findall(r"-?\d+\.\d{4}\b", text)]
    assert shown
    answered = result if result.bins is None else result.select(bins=0)
    of_first = [one[result.metric_names[0]] for one in answered.scores.values()]
    known = [value for one in answered.scores.values() for value in one.values()]
    known += [abs(a - b) for a in of_first for b in of_first]
    for value in shown:
        assert np.nanmin(np.abs(np.asarray(known) - value)) <= 0.5001e-4
    if result.costs:
        (_, *rows), *_ = page.sections["Cost"]
        for name, seconds, *_ in rows:
            assert seconds == f"{result.costs[name].seconds:.2f}"


def test_alarms_are_in_a_table_and_in_the_pictures(pictures: None, tmp_path: Path) -> None:
    result = unbroken(metrics="accuracy")
    found = sk.detect(result, {"ddm": DDM()})
    text = text_of(result, tmp_path, detections=found)
    (header, *rows), *_ = Page(text).sections["Alarms and drifts"]
    assert header == ["monitor", "model", "alarms", "at row"]  # there are no folds to number
    assert [name for _, name, *_ in rows] == list(MODELS)
    for _, name, n, at in rows:
        assert int(n) == len(found["ddm"][name].alarms)
        assert at == ", ".join(f"{row:,}" for row in found["ddm"][name].alarms)
    assert any(int(row[2]) for row in rows)
    assert text.count("<path") > text_of(result, tmp_path).count("<path")


def test_a_page_is_read_aloud_and_its_parts_have_names_of_their_own(
    pictures: None, tmp_path: Path
) -> None:
    result = unbroken(metrics=["accuracy", "kappa"])
    text = text_of(result, tmp_path, detections=sk.detect(result, {"ddm": DDM()}), also=[result])
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len(set(ids)) > 20
    assert {*re.findall(r'(?:url\(|=")#([^")]*)', text)} <= set(ids)
    pictures_of = re.findall(r'aria-label="([^"]*)"', text)
    for metric, words in zip(["accuracy", "kappa"], pictures_of, strict=False):
        for name in MODELS:
            assert f"{name}: {result.scores[name][metric]:.4f}" in words
    assert text.count("<table") == text.count("<caption")
    assert "<th>" not in text
    drawings = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    assert ["-axes_2" in one for one in drawings] == [True, False, False]  # alarms once
    assert "prefers-color-scheme: dark" in text


def test_a_page_is_the_same_of_a_resumed_or_loaded_result(tmp_path: Path) -> None:
    def but_costs(result: Any) -> str:
        return text_of(replace(result, costs={}), tmp_path)

    whole = unbroken()
    loaded = sk.load(whole.save(tmp_path / "result.npz"))
    assert but_costs(loaded) == but_costs(whole)
    tables = Page(but_costs(resumed(tmp_path))).sections["Scores"]
    assert tables == Page(but_costs(whole)).sections["Scores"]


def test_failures_are_named_and_never_best(tmp_path: Path) -> None:
    evaluator = sk.PrequentialEvaluator(["accuracy", "error"], error_score=1.0, random_state=0)
    with pytest.warns(match="failed <here> & there"):
        result = evaluator.evaluate(
            {**MODELS, "bad": FailsLater(100, partial(ValueError, "failed <here> & there"))}, STREAM
        )
    page = Page(text_of(result, tmp_path))
    assert result.scores["bad"]["accuracy"] == 1.0
    best = max(result.scores[name]["accuracy"] for name in MODELS)
    assert f"{best:.4f}" in page.bold
    assert "1.0000" not in page.bold
    assert "Not compared: bad (failed)." in page.texts[""]
    assert any("failed <here> & there" in text for text in page.texts["Warnings and remarks"])
    for table in (result.to_markdown(), result.to_latex()):
        assert "bad failed." in table


def test_what_was_warned_of_is_on_the_page(tmp_path: Path) -> None:
    models = {"last": sk.Persistent(), "majority": sk.MajorityClass()}
    with pytest.warns(match="Undefined at the last row"):
        result = sk.PrequentialEvaluator("kappa").evaluate(
            models, np.zeros((40, 1)), ["x"] * 40, classes=["x", "y"]
        )
    page = Page(text_of(result, tmp_path))
    assert page.texts[""][-2:] == [
        "No model can be called best: kappa of last, majority is undefined (NaN), for example "
        "because its baseline makes no error.",
        "Not compared: last, majority (no score).",
    ]
    assert page.texts["Warnings and remarks"][0].startswith("Undefined at the last row")
    check_numbers(page, result)


def test_settings_models_versions_and_the_stream_are_there(tmp_path: Path) -> None:
    result = unbroken(forgetting=FORGETTING, n_warmup=5)
    page = Page(text_of(result, tmp_path, title="Demand & <supply>"))
    assert page.texts[""][:2] == ["Demand & <supply>", "Demand & <supply>"]
    (settings,) = page.sections["Settings"]
    assert dict(settings) == {name: str(value) for name, value in result.parameters.items()}
    assert page.texts["Settings"] == ["Other than the defaults: n_warmup=5."]
    *others, sgd = (" ".join(one.split()) for one in page.texts["Models"])
    assert others[0] == "persistent: skstream.baselines.Persistent(lag=1)"
    assert sgd.startswith("sgd: SGDClassifier(...) sklearn.linear_model._stochastic_gradient.SGDC")
    assert "details" in page.tags and "SGDClassifier(alpha=0.0001," in sgd  # folded
    assert ["scikit-learn", result.details.record["versions"]["scikit-learn"]] in page.sections[
        "Made with"
    ][0]
    stream = dict(page.sections["The stream"][0])
    assert stream["rows"] == "300"
    assert stream["feature names"] == ", ".join(STREAM.feature_names)
    share = np.mean(np.asarray(STREAM.y) == STREAM.classes[0])
    assert stream["classes"].startswith(f"{STREAM.classes[0]} {share:.2%}, ")
    same = np.mean(np.asarray(STREAM.y)[1:] == np.asarray(STREAM.y)[:-1])
    assert stream["labels equal to the previous one"] == f"{same:.2%}"
    assert stream["checksum of labels"] == result.details.record["stream"]["checksums"]["labels"][0]


def test_drifts_of_the_stream_are_there(tmp_path: Path) -> None:
    stream = join_streams(STREAM, make_demo_stream(300, random_state=1), position=200, width=1)
    result = sk.PrequentialEvaluator("accuracy").evaluate(sk.Persistent(), stream)
    (_, row), *_ = Page(text_of(result, tmp_path)).sections["Alarms and drifts"]
    assert row == [f"{result.drifts[0].start:,}", f"{result.drifts[0].end:,}"]


def test_further_results_are_shown(tmp_path: Path) -> None:
    result = unbroken()
    slices = sk.score_slices(result, ["day", "night <&>"] * 150)
    comparison = result.compare("sgd", "majority")
    page = Page(text_of(result, tmp_path, also=[slices, comparison]))
    assert page.texts["Slice scores"] == [str(slices)]
    assert page.texts["Comparison of sgd and majority"] == [" ".join(str(comparison).split())]
    for wrong in (slices, "slices"):
        with pytest.raises(TypeError, match="also must be a list of results"):
            result.report(tmp_path / "report.html", also=wrong)


# -- text


@given(
    st.lists(
        st.one_of(
            st.text(min_size=1, max_size=12),
            st.sampled_from(
                ["<script>alert(1)</script>", "a & b", "\"'`", "&lt;", "]]>", "$x_{1}$"]
            ),
        ),
        min_size=1,
        max_size=3,
        unique_by=lambda name: " ".join(name.split()),
    )
)
@examples(40)
def test_names_are_escaped(tmp_path_factory: Any, names: list[str]) -> None:
    predictions = {name: np.arange(20) % (k + 2) % 2 for k, name in enumerate(names)}
    result = sk.score_predictions(np.arange(20) % 2, predictions)
    details = replace(result.details, baselines=(names[0],))
    result = replace(result, details=details)
    page = Page(text_of(result, tmp_path_factory.mktemp("page"), title=names[0]))
    assert page.tags == Page(text_of(plain(), tmp_path_factory.mktemp("page"))).tags
    (_, *rows), *_ = page.sections["Scores"]
    shown = [re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "\ufffd", n) for n in names]
    assert [row[0] for row in rows] == shown
    markdown = result.to_markdown().splitlines()
    for line in markdown[: 2 + len(names)]:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 2 + len(result.metric_names)
        assert not set("<$") & set(line.replace("\\<", "").replace("\\$", ""))
    latex = result.to_latex().splitlines()
    rows_of_latex = latex[latex.index(r"\midrule") + 1 : latex.index(r"\bottomrule")]
    assert len(rows_of_latex) == len(names)
    for line in rows_of_latex:
        line = line.removesuffix(r" \\").replace(r"$^\dagger$", "").replace("$-$", "-")
        assert len(re.findall(r"(?<!\\)&", line)) == len(result.metric_names)
        plain_text = re.sub(
            r"\\text(backslash|asciitilde|asciicircum|less|greater|bar)\{\}|\\[&%$#_{}]", "", line
        )
        plain_text = re.sub(r"\\textbf\{([^{}]*)\}", r"\1", plain_text)
        assert not re.search(r"[\\%$#_{}~^<>|]", plain_text)


def plain() -> Any:
    result = sk.score_predictions(
        np.arange(20) % 2, {"a": np.arange(20) % 2, "b": np.zeros(20, int)}
    )
    return replace(result, details=replace(result.details, baselines=("a",)))


def test_tables_for_papers_mark_the_best_and_naive_guesses() -> None:
    result = unbroken(metrics=["accuracy", "error"])
    scores = result.scores
    best = max(one["accuracy"] for one in scores.values())
    least = min(one["error"] for one in scores.values())
    markdown = result.to_markdown(digits=3)
    assert markdown.splitlines()[:2] == ["| model | accuracy | error |", "|---|---:|---:|"]
    assert f"**{best:.3f}** | **{least:.3f}**" in markdown
    assert markdown.count("**") == 4
    assert "| persistent *(naive guess)* |" in markdown
    assert "| sgd |" in markdown
    assert markdown.endswith("\n\nPrequential evaluation after 300 rows.\n")
    latex = result.to_latex(label="tab:demand")
    assert rf"\textbf{{{best:.4f}}} & \textbf{{{least:.4f}}} \\" in latex
    assert r"persistent$^\dagger$ & " in latex
    assert r"\label{tab:demand}" in latex
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lrr}"):
        assert rule in latex


# -- tables for papers


@pytest.mark.parametrize("digits", [-1, 2.5, True, "4"])
def test_digits_are_a_whole_number(digits: Any) -> None:
    for table in (plain().to_markdown, plain().to_latex):
        with pytest.raises(ValueError, match="digits must be an integer >= 0"):
            table(digits=digits)


@pytest.mark.parametrize("label", ["a}b", "50%", "a\\b", "tab#1", "a~b", "", "a\nb"])
def test_a_label_that_latex_cannot_read_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="label may have only letters"):
        plain().to_latex(label=label)


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("v1.2", "v1.2.html"),
        ("page", "page.html"),
        ("old.htm", "old.htm"),
        ("a.HTML", "a.HTML"),
        ("x.pdf", "x.pdf.html"),
    ],
)
def test_a_page_is_a_file_that_a_browser_opens(given: str, written: str, tmp_path: Path) -> None:
    assert plain().report(tmp_path / given) == tmp_path / written
    assert (tmp_path / written).read_text().startswith("<!DOCTYPE html>")


def test_tables_of_folds_have_deviations() -> None:
    result = sk.KFoldEvaluator("accuracy", n_folds=4, random_state=0).evaluate(MODELS, STREAM)
    last = result.curve("sgd")[-1]
    assert f"{last.mean():.4f} ± {last.std(ddof=1):.4f}" in result.to_markdown()
    assert rf"{last.std(ddof=1):.4f} \\" in result.to_latex()
    assert "mean of 4 folds (± their standard deviation)" in result.to_markdown()
    caption = re.search(r"\\caption\{(.*)\}", result.to_latex())
    assert caption is not None
    assert r"mean of 4 folds ($\pm$ their standard deviation); bootstrap: each" in caption[1]


def test_a_deviation_that_would_be_written_as_0_has_one_more_digit() -> None:
    result = sk.KFoldEvaluator("accuracy", n_folds=4, random_state=0).evaluate(MODELS, STREAM)
    deviation = result.curve("sgd")[-1].std(ddof=1)
    assert 0.005 < deviation < 0.05
    assert f"± {deviation:.2f}**" in result.to_markdown(digits=1)
    curve = np.full_like(result.curve("sgd"), 0.5)
    same = replace(result, values={"sgd": {"cumulative": {"accuracy": curve}}})
    assert "0.5 ± 0.0 |" in same.to_markdown(digits=1)


@pytest.mark.parametrize(
    ("strategy", "share"), [("bootstrap", "about 63 %"), ("cross", "75 %"), ("split", "25 %")]
)
def test_it_is_said_how_much_each_copy_learns(strategy: Any, share: str, tmp_path: Path) -> None:
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=4, strategy=strategy, random_state=0)
    result = evaluator.evaluate(MODELS, STREAM)
    said = f"{strategy}: each copy is trained on {share} of the rows"
    assert str(result).splitlines()[1].startswith(f"4 folds, {said}")
    assert said in result._repr_html_()
    assert any(said in text for text in Page(text_of(result, tmp_path)).texts[""])
    assert f"1 fold, {said}" in str(result.select(folds=1))
    assert "each copy" not in str(unbroken())


def test_equal_scores_are_best_together_and_one_alone_is_not_best() -> None:
    y = np.arange(20) % 2
    result = sk.score_predictions(y, {"a": y, "b": y, "c": 1 - y}, metrics="accuracy")
    assert result.to_markdown().count("**1.0000**") == 2
    for equal in ("a", ["a", "b"]):
        assert "**" not in result.select(models=equal).to_markdown()


# -- the file


def test_the_page_needs_no_other_file(pictures: None, tmp_path: Path) -> None:
    nasty = {"<script>alert(1)</script>": sk.Persistent(), '"a" & $b_{1}$ -->': sk.MajorityClass()}
    result = sk.PrequentialEvaluator(forgetting=FORGETTING).evaluate(nasty, STREAM)
    slices = sk.score_slices(result, ["day", "<b>night</b>"] * 150, metrics="accuracy")
    ranks = friedman_nemenyi([[0.8, 0.7], [0.9, 0.6], [0.7, 0.8]], ["sgd", "bayes"])
    path = result.report(tmp_path / "report", also=[slices, ranks])
    assert path == tmp_path / "report.html"
    text = path.read_text("utf-8")
    page = Page(text)
    assert "script" not in page.tags
    assert not {"link", "iframe", "object", "style-sheet", "image", "img"} & page.tags
    assert text.count("<svg") == 7  # the last of critical differences; kappa_plus is 0 for both
    assert path.stat().st_size < 2_000_000
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("src", "href", "xlink:href"):
            assert str(value).startswith(("#", "data:image/png;base64,"))
    assert not re.search(r"url\((?!#)|@import", text)
    import matplotlib.pyplot as pyplot

    assert not pyplot.get_fignums()
    assert text == path.read_text("utf-8") == text_of(result, tmp_path, also=[slices, ranks])


def test_many_points_become_dots_so_that_the_page_stays_small(pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(_page, "_ROOM", 10_000)
    text = text_of(unbroken(metrics="accuracy"), tmp_path)
    assert "<svg" not in text
    assert 'src="data:image/png;base64,' in text


def test_without_matplotlib_the_page_says_so(no_pictures, tmp_path, monkeypatch):
    monkeypatch.setattr(_page, "_room_of_a_picture", ROOM)
    for name in {name for name in sys.modules if name.partition(".")[0] == "matplotlib"}:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = unbroken()
    with pytest.warns(match=r'The report has no plots.*pip install "skstream\[plot\]"'):
        text = text_of(result, tmp_path, also=[sk.score_slices(result, ["a", "b"] * 150)])
    assert "matplotlib was not installed" in text
    check_numbers(Page(text), result)


def test_results_before_the_first_checkpoint_have_a_page(pictures: None, tmp_path: Path) -> None:
    run = sk.PrequentialEvaluator("accuracy").start(MODELS, classes=STREAM.classes)
    run.update(STREAM.X[:0], STREAM.y[:0])
    result = run.result()
    page = Page(text_of(result, tmp_path))
    assert "No model has a score." in page.texts[""]


@pytest.mark.parametrize("alpha", [0, 1, "often"])
def test_a_wrong_level_is_refused(alpha: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="alpha must be in"):
        unbroken().report(tmp_path / "report.html", alpha=alpha)
    assert not list(tmp_path.iterdir())


# -- in a browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
#: Frame of a phone's width, whose page is measured; what scrolls by itself may be wider inside.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><title>waiting</title>
<iframe width="{width}" height="800" style="border: 0" srcdoc="{page}"></iframe>
<script>
onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const inside = one => one.parentElement.closest(".wide, pre, svg");
  const wide = [...page.querySelectorAll("body *")].filter(one =>
    one.getBoundingClientRect().right > {width} + 1 && !inside(one));
  document.title = [page.documentElement.scrollWidth, page.querySelectorAll("svg").length,
    ...wide.map(one => one.tagName)].join(" ");
}};
</script>"""


def seen(page: str, folder: Path, width: int) -> tuple[int, int, list[str], str]:
    """Width of a page, its pictures, elements that are too wide, and what the browser has said."""
    frame = folder / "frame.html"
    frame.write_text(FRAME.format(page=html.escape(page), width=width), "utf-8")
    flags = "--headless --no-sandbox --disable-gpu --hide-scrollbars --enable-logging=stderr"
    found = subprocess.run(
        [
            str(BROWSER),
            *flags.split(),
            "--dump-dom",
            f"--user-data-dir={folder / 'profile'}",
            frame.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    title = re.search(r"<title>(\d+) (\d+)(.*?)</title>", found.stdout)
    assert title is not None, found.stdout[:200]
    said = "\n".join(line for line in found.stderr.splitlines() if "CONSOLE" in line)
    return int(title[1]), int(title[2]), title[3].split(), said


@pytest.mark.skipif(BROWSER is None, reason=f"no browser on the PATH: {', '.join(BROWSERS)}")
def test_the_page_fits_a_phone_and_says_nothing_to_the_console(pictures, tmp_path):
    models = {**MODELS, "a_very_long_name_without_a_space_" * 3: sk.Persistent()}
    result = sk.PrequentialEvaluator(forgetting=FORGETTING).evaluate(models, STREAM)
    also = [sk.score_slices(result, ["day", "night"] * 150)]
    text = text_of(result, tmp_path, also=also, detections=sk.detect(result, {"ddm": DDM()}))
    width, n_pictures, wide, said = seen(text, tmp_path, 390)
    assert (width, n_pictures, wide, said) == (390, 6, [], "")
    # And what the test looks for is found.
    broken = text.replace("<h1>", '<h1 style="width: 500px" onclick="nothing">')
    broken = broken.replace("</body>", "<script>undefined_function()</script></body>")
    width, _, wide, said = seen(broken, tmp_path, 390)
    assert width > 390
    assert "H1" in wide
    assert "undefined_function is not defined" in said


def test_drawings_get_shorter_and_stay_what_they_are() -> None:
    lines, letter = ' d="M 1.25 2 L 3.999 4.5\nL 5 6.0001" ', ' d="M 1 2 Q 3 4.06 5 6 L 7 8 z" '
    short = _page._as_element(f"<svg>{lines}{letter}<!-- a name --></svg>", "a & b")
    assert ' d="M 1.2 2 3.9 4.5 5 6.0" ' in short
    assert ' d="M 1 2 Q 3 4.0 5 6 L 7 8 z" ' in short
    assert "name" not in short
    assert short.startswith('<svg role="img" aria-label="a &amp; b">')
