"""The record of the field, one's own models beside it, and the page that is made of it."""

import copy
import json
import re

import numpy as np
import pytest

from benchmarks import field_page
from benchmarks.field import (
    FIELD,
    family_of,
    field_of,
    intervals,
    leaderboard_of,
    learners_of,
    ranked,
    verdict,
    write,
)
from skstream import PrequentialEvaluator, RandomClass, RunOptions, load
from skstream.cli import main
from skstream.cli._from_text import make_stream, model_of
from skstream.stats import friedman_nemenyi
from skstream.streams import SEA, STAGGER, Sine
from tests._examples import newest_alone

pytestmark = newest_alone  # it is the same whatever is installed

SUITE = """
metric = ["accuracy", "kappa_m"]
certify = false
seeds = 2
references = ["persistent", "majority"]

[models]
nb = "nb"
"nb+last" = "augmented('nb')"
bag = "skstream.ensemble:OnlineBagging('nb', n_estimators=2)"

[streams]
SEA = "SEA(n_rows=600)"
Sine = "Sine(n_rows=500)"
STAGGER = "STAGGER(n_rows=400)"
"file" = {file = "rows.csv", target = "class", models = {season-7 = "persistent(lag=7)"}}
"file+late9" = {file = "rows.csv", target = "class", delay = "9"}
"""


def write_rows(path, n_columns=3, n_rows=700):
    X, y, _ = next(iter(SEA(n_rows, random_state=5, chunk_size=n_rows)))
    names = [f"x{k}" for k in range(n_columns)]
    lines = [",".join([*names, "class"])]
    for row, label in zip(np.hstack([X, X])[:, :n_columns], y, strict=True):
        lines.append(",".join([*(f"{value:.6f}" for value in row), f"c{label}"]))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a suite has been run, with its rows."""
    folder = tmp_path_factory.mktemp("field")
    write_rows(folder / "rows.csv")
    (folder / "suite.toml").write_text(SUITE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["bench", "suite.toml", "--out", "out"]) == 0
        write(field_of(folder / "out"), folder / "field.json")
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def field(folder):
    return json.loads((folder / "field.json").read_text())


# -- the record


def test_scores_are_those_of_the_evaluator_called_by_hand(here, field):
    draw = np.random.default_rng(0)
    for _ in range(6):
        name = draw.choice(["SEA", "Sine", "file"])
        learner = draw.choice(list(field["entries"][name]["learners"]))
        place = int(draw.integers(2))
        words = field["entries"][name]["commands"][str(place)]
        metric = int(draw.integers(2))
        if name == "file":
            kept = load(here / "out" / "results" / f"{name}-{place}.npz")
            scores = kept.scores[learner]
        else:
            stream = make_stream(words[words.index("--generator") + 1])
            model = model_of(field["learners"][learner]["model"])
            evaluator = PrequentialEvaluator(["accuracy", "kappa_m"], random_state=place)
            scores = evaluator.evaluate({learner: model}, stream).scores[learner]
        values = field["entries"][name]["learners"][learner]["scores"][metric]
        assert values[min(place, len(values) - 1)] == round(list(scores.values())[metric], 6)


def test_late_labels_are_scored_by_the_answers_at_arrival(here, field):
    late = load(here / "out" / "results" / "file+late9-0.npz")
    entry = field["entries"]["file+late9"]
    assert (entry["stream"], entry["delay"]) == ("file", "late9")
    at_arrival = late.select(bins=0).scores["nb"]["accuracy"]
    assert entry["learners"]["nb"]["scores"][0] == [round(at_arrival, 6)]
    assert at_arrival != late.scores["nb"]["accuracy"]


def test_seeds_of_a_learner_without_chance_are_written_once(field):
    learners = field["entries"]["file"]["learners"]
    assert len(learners["nb"]["scores"][0]) == 1
    assert len(learners["bag"]["scores"][0]) == 2
    assert len(field["entries"]["SEA"]["learners"]["nb"]["scores"][0]) == 2


def test_the_record_says_what_is_missing_and_is_made_again(here, field, tmp_path):
    assert field["missing"] == []
    assert field_of(here / "out") == field
    hidden = here / "out" / "results" / "Sine-1.npz"
    moved = hidden.rename(tmp_path / "Sine-1.npz")
    try:
        partial = field_of(here / "out")
    finally:
        moved.rename(hidden)
    assert partial["missing"] == ["Sine, seed 1"]
    assert len(partial["entries"]["Sine"]["learners"]["nb"]["scores"][0]) == 1


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("augmented('nb')", "naive Bayes"),
        ("pipeline('scaler', 'sgd(eta0=0.01)')", "linear"),
        ("refit('hgb(max_iter=20)', every=500)", "refitted"),
        ("forest(subspace='tree')", "forest"),
        ("river.forest:ARFClassifier(seed=1)", "forest"),
        ("skstream.ensemble:OnlineBagging('tree')", "bagging"),
        ("skstream.adaptive:DriftReset('tree')", "tree"),
        ("pipeline('scaler', 'knn(window_size=100)')", "neighbours"),
    ],
)
def test_families(model, family):
    assert family_of(model) == family
    assert learners_of({"a": model}, ["a"], [])["a"]["told"] == model.startswith("augmented")


def test_an_interval_is_the_comparison_at_the_level_of_the_entry(here, field):
    result = load(here / "out" / "results" / "file-0.npz")
    entry = field["entries"]["file"]
    naive = ("persistent", "majority", "season-7")
    best = max(naive, key=lambda one: result.scores[one]["accuracy"])
    assert entry["best_guess"] == best
    level = 0.05 / (3 * 3)  # learners and naive guesses; of each seed half
    test = result.compare("nb", best, test="anytime", alpha=level / 2)
    low, high = test.interval
    assert entry["learners"]["nb"]["gain"] == [
        round(-high, 6), round(-float(test.differences[-1]), 6), round(-low, 6)
    ]  # fmt: skip


# -- one's own model beside the record


def test_a_learner_of_the_record_has_its_own_scores_again(here, field, capsys):
    words = ["bench", "--against", "field.json", "--stream", "file+late9", "--model", "mine=nb"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "file+late9, 2 seeds; * is yours:"
    of = {line.split()[-1]: [w for w in line.split() if w != "*"] for line in lines[1:]}
    assert of["mine"][1:3] == of["nb"][1:3]
    assert any(line.split()[1] == "*" for line in lines if line.endswith(" mine"))
    assert "Sine" not in "".join(lines)


def test_the_streams_of_the_record_are_listed(here, field, capsys):
    assert main(["bench", "--against", "field.json", "--list"]) == 0
    assert capsys.readouterr().out.split() == list(field["entries"])


def test_a_model_that_fails_is_said_and_comes_last(here, planted, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(here))
    words = ["bench", "--against", "field.json", "--stream", "file", "--n-jobs", "1"]
    assert main([*words, "--model", "mine=planted_field:Peeks(fails_at=350)"]) == 2
    said = capsys.readouterr()
    assert "planted" in said.err
    assert said.out.splitlines()[-1].split()[1:3] == ["*", "nan"]


def test_the_suite_that_is_named_must_be_that_of_the_record(here, tmp_path, capsys):
    words = ["bench", "--against", "field.json", "--model", "mine=nb", "--stream", "Sine"]
    assert main([*words, "suite.toml"]) == 0
    (tmp_path / "other.toml").write_text(SUITE.replace("n_rows=500", "n_rows=501"))
    assert main([*words, str(tmp_path / "other.toml")]) == 2
    assert "is not the suite of the record: Sine, seed 0" in capsys.readouterr().err


def test_other_rows_are_refused(here, capsys):
    words = ["bench", "--against", "field.json", "--model", "mine=nb", "--stream", "file"]
    text = (here / "rows.csv").read_text()
    try:
        (here / "rows.csv").write_text(text.replace(".1", ".2", 1))
        assert main(words) == 2
    finally:
        (here / "rows.csv").write_text(text)
    assert "file, seed 0: other rows, or another protocol" in capsys.readouterr().err
    assert main(words) == 0


def test_another_protocol_is_refused(here, field, tmp_path, capsys):
    for words in field["entries"]["file"]["commands"].values():
        words += ["--set", "n_warmup=100"]
    write(field, tmp_path / "field.json")
    words = ["bench", "--against", str(tmp_path / "field.json"), "--stream", "file"]
    assert main([*words, "--model", "mine=nb"]) == 2
    assert "Its accuracy of " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--against", "field.json"], "needs a model"),
        (["--against", "field.json", "--model", "nb"], "which a learner|as a learner"),
        (["--against", "field.json", "--model", "m=nb", "--stream", "SAE"], "SEA"),
        (["--against", "suite.toml", "--model", "m=nb"], "is not a record"),
        (["--against", "nowhere.json", "--model", "m=nb"], "nowhere.json"),
        (["--model", "m=nb"], "are for --against"),
    ],
)
def test_what_cannot_be_shown_is_refused(here, capsys, words, why):
    assert main(["bench", *words]) == 2
    assert re.search(why, capsys.readouterr().err)


# -- planted faults


PLANTED = """
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Peeks(ClassifierMixin, BaseEstimator):
    def __init__(self, fails_at=None):
        self.fails_at = fails_at

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "n_learnt_"):
            self.classes_, self.n_learnt_ = np.unique(classes), 0
            lines = Path("rows.csv").read_text().split()[1:]
            self.labels_ = np.array([line.rpartition(",")[2] for line in lines])
        self.n_learnt_ += len(y)
        if self.fails_at is not None and self.n_learnt_ > self.fails_at:
            raise RuntimeError("planted")
        return self

    def predict(self, X):
        return self.labels_[self.n_learnt_ : self.n_learnt_ + len(X)]
"""
PLANTED_SUITE = """
metric = ["accuracy", "kappa_m"]
certify = false
seeds = 2
references = ["persistent", "majority"]

[models]
nb = "nb"
peeks = "planted_field:Peeks"
fails = "planted_field:Peeks(fails_at=350)"

[streams]
file = {file = "rows.csv", target = "class"}
copy = {file = "rows.csv", target = "class"}
head = {file = "rows.csv", target = "class", n-rows = 600}
"""


@pytest.fixture(scope="module")
def planted(folder):
    """Record with a learner that peeks, one that fails half-way, a copy and a head of a stream."""
    (folder / "planted_field.py").write_text(PLANTED)
    (folder / "planted.toml").write_text(PLANTED_SUITE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        assert main(["bench", "planted.toml", "--out", "planted"]) == 2  # one failed
        return field_of(folder / "planted")


def test_a_copy_of_a_stream_counts_once(planted):
    apart = {name: entry["same_rows_as"] for name, entry in planted["entries"].items()}
    assert apart == {"file": "", "copy": "file", "head": "file"}


def test_a_learner_that_peeks_is_seen(planted):
    peeks = planted["entries"]["file"]["learners"]["peeks"]
    assert peeks["scores"][0] == [1.0] and peeks["gain_is"] == 1 and peeks["gain"][0] > 0
    assert planted["entries"]["file"]["learners"]["nb"]["gain_is"] in (0, 1)


def test_a_learner_that_fails_competes_nowhere(planted):
    entry = planted["entries"]["file"]
    assert "planted" in entry["failures"]["fails"]
    assert "gain" not in entry["learners"]["fails"]
    assert "fails" not in ranked(planted["entries"], ["file"], ())
    # Its numbers are not those of half a stream.
    assert entry["learners"]["fails"]["scores"][0] == [None]


# -- the page


def test_the_page_is_that_of_its_record():
    text = field_page.page(json.loads(FIELD.read_text("utf-8")))
    assert field_page.PAGE.read_text("utf-8") == text
    assert FIELD.stat().st_size < 1_000_000
    answers = re.search(r"^## The answers\n\n(.*?)\n\n", text, re.M | re.S)[1].splitlines()
    assert len(answers) <= 7 and max(map(len, answers)) < 180  # read in a minute
    assert max(line.count("|") for line in text.splitlines()) <= field_page.MOST_COLUMNS + 2


def test_another_figure_in_the_record_is_another_page(field):
    text = field_page.page(field)
    assert field_page.page(json.loads(json.dumps(field))) == text
    field["entries"]["file"]["learners"]["nb"]["scores"][0] = [0.123456]
    assert field_page.page(field) != text


def lines_of(text, start):
    return [line for line in text.splitlines() if line.startswith(start)]


def test_what_is_planted_changes_the_page_as_it_must(planted):
    text = field_page.page(planted)
    assert "ran on 1 real and 0 generated\nstreams" in text  # neither the copy nor the head counts
    assert "`copy` has the rows of `file`" in text
    assert "Failed, and not ranked there: `fails` on file, copy, head." in text
    assert "1 of 1" in lines_of(text, "| `peeks` ")[0]
    assert "peeks 100.0" in lines_of(text, "| `file` ")[0]
    without = copy.deepcopy(planted)
    for entry in without["entries"].values():
        del entry["learners"]["peeks"]
    del without["learners"]["peeks"]
    row = lines_of(field_page.page(without), "| `file` ")[0]
    assert "nb " in row and "100.0" not in row
    # One that beats no guess changes what the first sentence says.
    for entry in without["entries"].values():
        entry["learners"]["nb"] |= {"gain_is": 0}
    assert "**On 1 of 1 real streams no learner beats" in field_page.page(without)
    assert "**On 0 of 1 real streams no learner beats" in text


@pytest.fixture(scope="module")
def seasonal(tmp_path_factory):
    """Record of a stream whose labels come again after seven rows, and which columns show, too."""
    folder = tmp_path_factory.mktemp("seasonal")
    rng, y = np.random.default_rng(3), np.tile([0, 0, 1, 0, 1, 1, 0], 100)
    for name, noise in (("waves", 0.8), ("plain", 0.3)):
        x = y + noise * rng.normal(size=len(y))
        lines = [f"{value:.6f},c{label}" for value, label in zip(x, y, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["x,class", *lines]))
    own = 'models = {season-7 = "persistent(lag=7)"}}'
    streams = (
        f'[streams]\nwaves = {{file = "waves.csv", target = "class", {own}\n'
        'plain = {file = "plain.csv", target = "class"}\n'
    )
    (folder / "suite.toml").write_text(SUITE[: SUITE.index("[streams]")] + streams)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["bench", "suite.toml", "--out", "out"]) == 0
        return field_of(folder / "out")


def test_a_seasonal_guess_is_a_guess_where_there_are_seasons_and_nowhere_else(seasonal):
    assert seasonal["learners"]["season-7"]["family"] == "seasonal"
    waves, plain = seasonal["entries"].values()
    assert (waves["best_guess"], plain["best_guess"]) == ("season-7", "majority")
    assert waves["learners"]["season-7"]["scores"][0][0] > 0.98
    assert (waves["learners"]["nb"]["gain_is"], waves["learners"]["nb"]["gain_plain_is"]) == (-1, 1)
    assert "gain_plain_is" not in plain["learners"]["nb"]
    for one in (*seasonal["leaderboards"].values(), *waves["learners"].values()):
        assert "season-7" not in str(one)
    text = field_page.page(seasonal)
    assert "is the last label on 0 of them, and a seasonal one on 1." in text
    assert (
        "(`waves`). Without the seasonal guesses, no learner would beat the best guess on 0" in text
    )
    assert not lines_of(text, "| `season-7` | –")  # it has no rank: no line among the learners
    assert "| `season-7` | naive guess: the label 7 rows before |" in text
    assert lines_of(text, "| `season-7` ")[-1].endswith(" – |")


def test_a_certificate_is_given_without_the_stream_that_weighs_most_too(folder, field):
    board = field["leaderboards"]["generated"]
    names, most = list(board["mean_losses"]), board["without"]["stream"]
    found = {
        name: {k: load(folder / "out" / "results" / f"{name}-{k}.npz") for k in (0, 1)}
        for name in board["streams"]
    }
    spreads = {
        stream: np.std([np.mean([r.scores[n]["accuracy"] for r in of.values()]) for n in names])
        for stream, of in found.items()
    }
    assert max(spreads, key=spreads.get) == most
    rest = leaderboard_of({n: of for n, of in found.items() if n != most}, names)
    assert board["without"]["possible"] == rest["possible"]
    assert f"without `{most}`, on which learners differ most, " in field_page.page(field)


def test_the_pictures_are_drawn(field, tmp_path, matplotlib):
    for path in field_page.draw(field, tmp_path):
        assert path.read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / field_page.PICTURES[0]).is_file()


# -- equal learners


def test_equal_learners_are_told_apart_in_at_most_the_stated_share():
    """Copies of one learner whose answers are chance, so that none is better before any row."""
    evaluator = PrequentialEvaluator("accuracy", run=RunOptions(keep_tape=True))
    by_interval, by_rank, by_board = [], [], []
    for turn in range(20):
        models = {f"m{k}": RandomClass(random_state=10 * turn + k) for k in range(5)}
        streams = [SEA(300, random_state=turn), Sine(300, random_state=turn)]
        streams.append(STAGGER(300, random_state=turn))
        results = [evaluator.evaluate(models, stream) for stream in streams]
        by_interval += [
            verdict(intervals([result], name, ["m0"], 0.05, 0.0)) != 0
            for result in results
            for name in list(models)[1:]
        ]
        scores = [[result.scores[name]["accuracy"] for name in models] for result in results]
        ranks = friedman_nemenyi(scores, list(models), higher_is_better=True)
        by_rank.append(bool(ranks.different_pairs))
        board = leaderboard_of({str(k): {0: one} for k, one in enumerate(results)}, list(models))
        by_board.append(len(board["possible"]) < len(models))
    assert np.mean(by_interval) <= 0.05
    assert np.mean(by_rank) <= 0.05
    assert np.mean(by_board) <= 0.05


def test_verdicts():
    assert verdict({"a": (0.1, 0.2, 0.3), "b": (0.01, 0.2, 0.3)}) == 1
    assert verdict({"a": (0.1, 0.2, 0.3), "b": (-0.01, 0.2, 0.3)}) == 0
    assert verdict({"a": (0.1, 0.2, 0.3), "b": (-0.3, -0.2, -0.1)}) == -1
