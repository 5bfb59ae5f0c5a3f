"""Printed tables say whatever about an evaluation is not the default."""

import dataclasses
import html
import inspect
import io
import re

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.reports._report import DEFAULTS
from skstream.stats._report import over_rows
from skstream.streams import label_profile, make_demo_stream
from skstream.utils._tables import filled, line_width

EVALUATORS = (sk.PrequentialEvaluator, sk.KFoldEvaluator, sk.DelayedEvaluator)
#: Parameters that change no number, and those that a table shows otherwise.
WITHOUT_A_WORD = {
    "metrics", "forgetting", "record_every", "random_state", "n_jobs", "error_score", "progress",
    "n_folds", "run", "polling",
}  # fmt: skip


def last_answer(answers, durations):
    return answers[-1]


def heading(evaluator, n_rows=60):
    result = evaluator.evaluate(sk.Persistent(), make_demo_stream(n_rows, random_state=0))
    first = str(result).splitlines()[0]
    assert first in result._repr_html_().replace("&#x27;", "'")
    return first, repr(result)


@pytest.mark.parametrize(
    ("forgetting", "words"),
    [
        ("window:50", ", scores of the last 50 rows"),
        ({"mine": sk.SlidingWindow(50)}, ", scores of the last 50 rows"),
        ("fading:0.9", ", scores with fading factor 0.9"),
        ("adwin", ", scores with an adaptive window"),
        ("cumulative", ""),
        ({"mine": "cumulative"}, ""),
    ],
)
def test_the_only_forgetting_is_said_in_the_heading(forgetting, words):
    first, shown = heading(sk.PrequentialEvaluator("accuracy", forgetting=forgetting))
    assert first == f"prequential evaluation after 60 rows{words}"
    assert f"after 60 rows{words}; see" in shown


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cumulative", "over all rows"),
        ("window:1", "over the last 1 row"),
        ("window:1000", "over the last 1,000 rows"),
        ("window:7D", "over the last 7D"),
        ("fading:0.99", "with fading factor 0.99"),
        ("half-life:30", "with half-life 30 rows"),
        ("half-life:30D", "with half-life 30D"),
        ("adwin", "with an adaptive window"),
        ("mine", "under mine"),
    ],
)
def test_every_forgetting_is_said_in_words(name, words):
    assert over_rows(name) == words


def test_several_mechanisms_have_headings_in_words():
    evaluator = sk.PrequentialEvaluator(
        "accuracy", forgetting={"mine": "window:50", "cumulative": "cumulative"}
    )
    shown = str(evaluator.evaluate(sk.Persistent(), make_demo_stream(60, random_state=0)))
    assert "mine (last 50 rows):" in shown
    assert "cumulative (all rows so far):" in shown


@pytest.mark.parametrize(
    ("evaluator", "words"),
    [
        (sk.PrequentialEvaluator("accuracy", batch_size=50), "batch_size=50"),
        (sk.PrequentialEvaluator("accuracy", n_warmup=9), "n_warmup=9"),
        (sk.PrequentialEvaluator("accuracy", missing_labels="skip"), "missing_labels='skip'"),
        (sk.PrequentialEvaluator("accuracy", unanswered="wrong"), "unanswered='wrong'"),
        (
            sk.KFoldEvaluator("accuracy", n_folds=2, strategy="split:held_out"),
            "strategy='split:held_out'",
        ),
        (
            sk.DelayedEvaluator("accuracy", delay=3, polling=sk.Polling(poll_every=None)),
            "delay=3, poll_every=None",
        ),
        (
            sk.DelayedEvaluator("accuracy", delay=3, polling=sk.Polling(reduce=last_answer)),
            "delay=3, reduce=last_answer",
        ),
    ],
)
def test_what_is_not_the_default_is_said_in_the_heading(evaluator, words):
    first, shown = heading(evaluator)
    assert first.endswith(f"; {words}")
    assert f", {words}; Persistent: accuracy" in shown


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_every_parameter_is_known_with_its_default(evaluator):
    own = inspect.signature(evaluator).parameters, inspect.signature(sk.Polling).parameters
    for parameters in own[: 1 + ("polling" in own[0])]:
        for name, parameter in parameters.items():
            if name not in WITHOUT_A_WORD:
                assert DEFAULTS[name] == parameter.default, name


def test_rows_without_a_label_are_counted_saved_and_loaded(tmp_path):
    stream = make_demo_stream(200, random_state=0)
    y = np.array(stream.y, dtype=object)
    y[20:180:4] = None
    models = {"sgd": SGDClassifier(), "majority": sk.MajorityClass()}
    line = "40 rows without a label: neither scored nor used for training"
    for n_jobs, batch_size in ((None, 1), (2, 1), (None, 7)):
        evaluator = sk.PrequentialEvaluator(
            "accuracy",
            missing_labels="skip",
            batch_size=batch_size,
            n_jobs=n_jobs,
            random_state=0,
            run=sk.RunOptions(keep_tape=False),
        )
        result = evaluator.evaluate(models, stream.X, y)
        assert result.n_unlabelled == 40
        assert line in str(result).splitlines()
        assert line in result._repr_html_()
        assert sk.load(result.save(tmp_path / "result.npz")).n_unlabelled == 40
    targets = np.where(np.arange(200) == 60, np.nan, np.arange(200.0))
    run = sk.PrequentialEvaluator(
        "mae", missing_labels="skip", run=sk.RunOptions(keep_tape=True)
    ).start(sk.MeanRegressor())
    run.update(stream.X[:50], targets[:50])
    run.save(tmp_path / "run")
    assert run.result().n_unlabelled == 0
    run.update(stream.X[50:], targets[50:])
    result = run.result()
    assert "1 row without a label: neither scored nor used for training" in str(result)
    assert result.rescore("mse").n_unlabelled == 1


@pytest.mark.parametrize("width", [40, 80, 200])
def test_tables_and_sentences_fit_the_terminal(width, monkeypatch):
    """Costs are left out where the table would be too wide; text is wrapped, and complete."""
    models = {
        "a": sk.Persistent(),
        "a model with a name": SGDClassifier(loss="log_loss", average=True, random_state=0),
    }
    evaluator = sk.KFoldEvaluator(["accuracy", "kappa"], n_folds=3, forgetting="window:50")
    result = evaluator.evaluate(models, make_demo_stream(300))
    late = sk.DelayedEvaluator("accuracy", delay=9).evaluate(models, make_demo_stream(300))

    def shown():
        return str(late), str(result), str(result.compare(*models))

    texts = shown()
    profile = label_profile(make_demo_stream(300))
    monkeypatch.setenv("COLUMNS", str(width))
    for text, narrow in zip(texts, shown(), strict=True):
        assert max(map(len, narrow.splitlines())) <= max(width, 42)  # the table without costs
        if narrow.startswith(("k-fold", "delayed")) and width < 80:
            assert "seconds  path" in text and "seconds" not in narrow
        else:
            assert " ".join(narrow.split()) == " ".join(text.split())
    assert max(map(len, str(profile).splitlines()[4:])) <= max(width, 70)


def test_without_a_terminal_nothing_is_left_out_and_a_closed_output_is_none(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    closed = io.StringIO()
    closed.close()
    for stdout in (closed, None, io.StringIO()):
        monkeypatch.setattr("sys.stdout", stdout)
        assert line_width() is None and filled("a " * 100) == "a " * 100


def test_a_notebook_marks_the_best_and_naive_guesses_and_shows_deviations():
    models = {"last": sk.Persistent(), "sgd": SGDClassifier(random_state=0)}
    evaluator = sk.KFoldEvaluator(["accuracy", "error"], n_folds=3, random_state=0)
    result = evaluator.evaluate(models, make_demo_stream(300, random_state=0))
    shown = result._repr_html_()
    for metric, best in (("accuracy", max), ("error", min)):
        name = best(result.scores, key=lambda name: result.scores[name][metric])
        deviation = result.curve(name, metric)[-1].std(ddof=1)
        assert f"<td><b>{result.scores[name][metric]:.4f} ± {deviation:.4f}</b></td>" in shown
    assert shown.count("<b>") == 1 + 2
    assert "<i>last</i>" in shown and "<i>sgd</i>" not in shown
    assert "Bold: the best of a column." in shown and "In italics: a naive guess." in shown


def test_a_comparison_in_a_notebook_is_the_statement_with_its_answer_in_bold():
    models = {"<last>": sk.Persistent(), "sgd": SGDClassifier(random_state=0)}
    result = sk.PrequentialEvaluator("accuracy").evaluate(models, make_demo_stream(300))
    compared = result.compare("<last>", "sgd")
    shown = compared._repr_html_()
    text = html.unescape(re.sub(r"</?[pb]>", "", shown))
    assert text.split() == str(compared).split()
    assert shown.startswith("<p><b>") and "&lt;last&gt;" in shown.partition("</b>")[0]


@pytest.mark.parametrize(
    ("value", "written"), [(-1e-6, "0.0000"), (-6.7489e30, "-6.749e+30"), (9e6, "9000000.0000")]
)
def test_a_zero_has_no_sign_and_a_long_number_an_exponent(value, written, tmp_path):
    result = sk.KFoldEvaluator("kappa", n_folds=2, random_state=0).evaluate(
        {"a": sk.Persistent(), "b": sk.MajorityClass()}, make_demo_stream(200)
    )
    values = {
        model: {"cumulative": {"kappa": np.full_like(of["cumulative"]["kappa"], value)}}
        for model, of in result.values.items()
    }
    result = dataclasses.replace(result, values=values)
    texts = [str(result), repr(result), result._repr_html_(), result.to_markdown()]
    texts += [result.to_latex(), result.report(tmp_path / "page.html").read_text()]
    texts.append(result.plot()._summary())
    for text in texts[:4] + texts[5:]:
        assert written in text and not re.search("-0\\.0+(?!\\d)", text)
