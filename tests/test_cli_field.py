"""``skstream bench field``: the suite that ships, and what suites may say of single streams."""

import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from skstream import DelayedEvaluator, Polling, PrequentialEvaluator, RunOptions, load
from skstream.cli import main
from skstream.cli._from_text import KNOWN_STREAMS, make_stream, model_of
from skstream.cli._suite import SHIPPED_NAMES, read_suite
from skstream.streams import CSVStream, make_demo_stream
from tests._examples import newest_alone

pytestmark = newest_alone  # what a suite says does not depend on other packages

SUITE = """
metric = ["accuracy", "kappa_m"]
seeds = 3
chance = ["forest", "bag"]
references = ["persistent", "majority"]
bin = 0
missing = "skip"

[models]
nb = "nb"
"nb+last" = "augmented('nb')"
tree = "tree(grace_period=50)"
forest = "forest(n_estimators=3)"
bag = "skstream.ensemble:OnlineBagging('nb', n_estimators=3, detector=\\"adwin(direction='up')\\")"

[streams]
demo = {file = "$FIELD_DATA/demo.csv", target = "class", metric = "f1:UP", OWN}
"demo+late20" = {file = "$FIELD_DATA/demo.csv", target = "class", delay = 20, seeds = 1, LATE}
SEA = "SEA(n_rows=300)"
gone = {file = "$FIELD_DATA/gone.csv", target = "class"}
fetched = {file = "$FIELD_DATA/gone.csv", GENERATOR, target = "class", n-rows = 150}

[protocol]
n_warmup = 1
"""
LATE = 'bins = 1, set = {poll_every = 1_000_000, previous_label = "known_at_arrival"}'
OWN = 'models = {season-5 = "persistent(lag=5)"}'
SUITE = SUITE.replace("LATE", LATE).replace("OWN", OWN)
SUITE = SUITE.replace("GENERATOR", 'generator = "STAGGER(n_rows=200)", set = {n_warmup = 9}')
FILES = ("table.md", "summary.json")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    X, y, _ = next(iter(make_demo_stream(600).chunks()))
    lines = [[*map(repr, row.tolist()), label] for row, label in zip(X, y.tolist(), strict=True)]
    header = [*(f"x{number}" for number in range(X.shape[1])), "class"]
    text = "\n".join(",".join(line) for line in [header, *lines])
    (folder / "demo.csv").write_text(f"{text}\n")
    return folder


@pytest.fixture(autouse=True)
def folder_of_data(data, monkeypatch):
    monkeypatch.setenv("FIELD_DATA", str(data))


def run(folder, text=SUITE, status=0):
    folder.mkdir(exist_ok=True)
    (folder / "mine.toml").write_text(text)
    assert main(["bench", str(folder / "mine.toml"), "--out", str(folder)]) == status
    return json.loads((folder / "summary.json").read_text())


@pytest.fixture(scope="module")
def done(data, tmp_path_factory):
    """Folder of the suite above, finished."""
    folder = tmp_path_factory.mktemp("field")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIELD_DATA", str(data))
        run(folder)
    return folder


def result_of(folder, stream, seed=0):
    return load(folder / "results" / f"{stream}-{seed}.npz")


def test_twenty_random_cells_are_the_evaluator_called_by_hand(done, data):
    suite = read_suite(done / "suite.toml")
    runs = [one for one in suite.runs(done) if one.path.exists()]
    cells = [(one, name) for one in runs for name in load(one.path).model_names]
    rng = np.random.default_rng(0)
    for place in rng.choice(len(cells), 20, replace=False):
        one, name = cells[place]
        if name == "bayes-optimal":
            continue
        common = {"random_state": one.seed, "n_warmup": 1, "error_score": math.nan}
        metrics = ["accuracy", "kappa_m", *(["f1:UP"] if one.stream == "demo" else [])]
        if "--generator" in one.words:
            stream = make_stream(one.words[one.words.index("--generator") + 1])
        else:
            stream = CSVStream(data / "demo.csv", "class")
        if one.stream == "fetched":
            stream = KNOWN_STREAMS["take_rows"](stream, 150)
            common["n_warmup"] = 9
        evaluator = PrequentialEvaluator(metrics, **common)
        if "late" in one.stream:
            polling = Polling(n_bins=1, poll_every=1_000_000, previous_label="known_at_arrival")
            evaluator = DelayedEvaluator(metrics, delay=20, polling=polling, **common)
        model = model_of(suite.every_model.get(name, name), stream)
        by_hand = evaluator.set_params(run=RunOptions(keep_tape=True)).evaluate(
            {name: model}, stream
        )
        result = load(one.path)
        for metric in metrics:
            np.testing.assert_array_equal(
                by_hand.curve(name, metric), result.curve(name, metric), err_msg=f"{one} {name}"
            )
        np.testing.assert_array_equal(by_hand.tape.answers[name], result.tape.answers[name])


def test_models_without_chance_run_once_where_the_seeds_change_no_row(done):
    naive = ["persistent", "majority"]
    models = ["nb", "nb+last", "tree", "forest", "bag"]
    assert result_of(done, "demo", 0).model_names == [*naive, *models, "season-5"]
    for seed in (1, 2):
        assert result_of(done, "demo", seed).model_names == [*naive, "forest", "bag"]
        assert [n for n in result_of(done, "SEA", seed).model_names if n in models] == models
    assert not (done / "results" / "demo+late20-1.npz").exists()
    scores = json.loads((done / "summary.json").read_text())["scores"]
    of_seeds = [result_of(done, "demo", seed).scores for seed in range(3)]
    assert scores["demo"]["nb"]["accuracy"] == of_seeds[0]["nb"]["accuracy"]
    forest = [one["forest"]["accuracy"] for one in of_seeds]
    assert len(set(forest)) > 1
    assert scores["demo"]["forest"]["accuracy"] == pytest.approx(np.mean(forest))


def test_a_model_of_one_stream_stands_in_its_results_and_is_not_ranked(done, tmp_path):
    y = CSVStream(f"{os.environ['FIELD_DATA']}/demo.csv", "class")
    labels = np.concatenate([chunk.y for chunk in y.chunks()])
    known = [*labels[:4], *labels[:-5]]
    assert result_of(done, "demo").scores["season-5"]["accuracy"] == np.mean(known == labels[1:])
    ranked = (done / "table.md").read_text() + (done / "summary.json").read_text()
    assert "season" not in ranked
    # Of a model with chance, later seeds are run, too.
    text = SUITE.replace('"bag"]', '"bag", "season-5"]')
    (tmp_path / "mine.toml").write_text(text)
    runs = [
        one for one in read_suite(tmp_path / "mine.toml").runs(tmp_path) if one.stream == "demo"
    ]
    assert [" ".join(one.words).count("season-5=") for one in runs] == [1, 1, 1]


def test_a_model_that_is_said_to_have_no_chance_answers_the_same_for_every_seed(data, tmp_path):
    every = SUITE.replace('chance = ["forest", "bag"]\n', "")
    run(tmp_path, every[: every.index("SEA =")])
    first, second = (result_of(tmp_path, "demo", seed) for seed in (0, 1))
    same = [n for n in first.scores if first.scores[n] == second.scores[n]]
    assert same == ["persistent", "majority", "nb", "nb+last", "tree", "season-5"]


def test_the_answers_that_count_are_those_at_arrival(done):
    late = result_of(done, "demo+late20")
    assert late.bins == (0, 1, 2)
    summary = json.loads((done / "summary.json").read_text())
    at_arrival = late.select(bins=0).scores
    assert summary["scores"]["demo+late20"]["persistent"] == at_arrival["persistent"]
    assert at_arrival["persistent"]["accuracy"] < late.scores["persistent"]["accuracy"]
    assert "of predictions at arrival (bin 0)" in (done / "table.md").read_text()


def test_measures_of_a_stream_alone_stand_in_its_results(done):
    assert result_of(done, "demo").metric_names == ["accuracy", "kappa_m", "f1:UP"]
    assert result_of(done, "demo+late20").metric_names == ["accuracy", "kappa_m"]


def test_streams_stand_in_the_order_of_the_suite_without_those_that_are_not_there(done, capsys):
    summary = json.loads((done / "summary.json").read_text())
    assert list(summary["scores"]) == ["demo", "demo+late20", "SEA", "fetched"]
    assert main(["bench", str(done / "suite.toml"), "--out", str(done)]) == 0
    assert re.search(r"left out: gone, which is not here: .*gone\.csv", capsys.readouterr().err)
    assert result_of(done, "fetched").n_rows == 150


PLANTED = """
from pathlib import Path
import os
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from skstream.naive_bayes import IncrementalGaussianNB

LINES = (Path(os.environ["FIELD_DATA"]) / "demo.csv").read_text().splitlines()[1:]
LABELS = {line.rsplit(",", 1)[0].split(",")[-1]: line.rsplit(",", 1)[1] for line in LINES}

class Peeks(ClassifierMixin, BaseEstimator):
    def partial_fit(self, X, y, classes=None):
        self.classes_ = self.__dict__.get("classes_", classes)
        return self
    def predict(self, X):
        return np.array([LABELS[repr(float(row[-1]))] for row in X])

class Breaks(IncrementalGaussianNB):
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.n_ = self.__dict__.get("n_", 0) + len(X)
        if self.n_ > 300:
            raise RuntimeError("planted")
        return super().partial_fit(X, y, classes)
"""
OF_FILES = SUITE[: SUITE.index("SEA =")].replace(" seeds = 1,", "") + (
    'copy = {file = "$FIELD_DATA/demo.csv", target = "class", metric = "f1:UP"}\n'
)


def with_planted(tmp_path, monkeypatch, text, *lines):
    (tmp_path / "planted_models.py").write_text(PLANTED)
    monkeypatch.syspath_prepend(tmp_path)
    return text.replace("[models]\n", "\n".join(["[models]", *lines, ""]))


def test_a_model_that_peeks_at_the_label_is_the_best_and_alone(tmp_path, monkeypatch):
    text = with_planted(tmp_path, monkeypatch, OF_FILES, 'peeks = "planted_models:Peeks"')
    summary = run(tmp_path, text)
    assert summary["scores"]["demo"]["peeks"]["accuracy"] == 1
    assert summary["leaderboard"]["possible"] == ["peeks"]
    assert min(summary["leaderboard"]["mean_losses"].values()) == 0


def test_a_model_that_fails_half_way_leaves_the_others_as_they_were(tmp_path, monkeypatch):
    plain = run(tmp_path / "plain", OF_FILES)
    text = with_planted(tmp_path, monkeypatch, OF_FILES, 'breaks = "planted_models:Breaks"')
    summary = run(tmp_path / "with", text, status=2)
    failed = summary["scores"]["demo"].pop("breaks")
    summary["scores"].update(
        {k: {n: v for n, v in one.items() if n != "breaks"} for k, one in summary["scores"].items()}
    )
    assert failed["accuracy"] is None
    assert summary["scores"] == plain["scores"]
    assert summary["ranks"] == plain["ranks"]
    assert "breaks is left out: it failed on demo" in (tmp_path / "with" / "table.md").read_text()


def test_a_copied_stream_counts_once(tmp_path):
    text = re.sub(r"(?m)^.demo\+late20.*\n", "", OF_FILES) + 'SEA = "SEA(n_rows=300)"\n'
    with_copy = run(tmp_path / "with", text)
    without = run(tmp_path / "without", re.sub(r"(?m)^copy.*\n", "", text))
    table = (tmp_path / "with" / "table.md").read_text()
    assert with_copy["scores"]["copy"] == with_copy["scores"]["demo"]
    assert with_copy["leaderboard"] == without["leaderboard"]
    assert with_copy["ranks"] == without["ranks"]
    assert "over 2 streams" in table
    of_forest = [1 - with_copy["scores"][name]["forest"]["accuracy"] for name in ("demo", "SEA")]
    assert with_copy["leaderboard"]["mean_losses"]["forest"] == pytest.approx(np.mean(of_forest))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('chance = ["forest", "bag"]', 'chance = ["forrest"]', "unknown model 'forrest'. Did you"),
        ("bin = 0", "bin = -1", "bin must be the number of a bin"),
        ('missing = "skip"', 'missing = "ignore"', 'missing must be "error" or "skip"'),
        ('missing = "skip"', "", "The stream gone of the suite: .*gone.csv"),
        ("seeds = 1,", "seeds = 0,", "seeds of a stream must be a number above 0"),
        ("direction='up'", "direction='upp'", "direction"),
        ("season-5 =", "nb =", "the model 'nb' of the stream demo is 'persistent.lag=5.', and"),
        (OWN, 'models = "nb"', "models of the stream demo must be a table"),
        (OWN, "models = {season-5 = 5}", "models of the stream demo must map names to texts"),
        ("lag=5", "lag=0", "'lag' parameter of Persistent"),
    ],
)
def test_what_a_suite_says_wrongly_is_refused(tmp_path, capsys, old, new, words):
    assert old in SUITE
    (tmp_path / "mine.toml").write_text(SUITE.replace(old, new))
    assert main(["bench", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out")]) == 2
    assert re.search(words, capsys.readouterr().err)


def test_the_field_ships_and_its_short_form_is_a_part_of_it(capsys):
    whole, short = (read_suite(Path(name)) for name in SHIPPED_NAMES)
    assert main(["bench", "field", "--list"]) == 0
    assert capsys.readouterr().out.strip() == whole.text.strip()
    assert short.models.items() <= whole.models.items()
    assert set(short.streams) <= set(whole.streams)
    assert (short.metrics, short.bin, short.protocol) == (whole.metrics, whole.bin, whole.protocol)
    for text in whole.models.values():
        if not text.startswith("river"):
            model_of(text)
    for name, stream in whole.streams.items():
        late = re.search(r"\+late(\d+)$", name)
        delay = stream.get("delay") if isinstance(stream, dict) else None
        assert delay == (int(late[1]) if late else None)
        if late:  # the same rows as the entry without delay
            same = whole.streams[name[: late.start()]]
            own = ("delay", "bins", "set", "seeds", "models")
            assert {k: v for k, v in stream.items() if k not in own} == {
                k: v for k, v in same.items() if k not in own
            }
