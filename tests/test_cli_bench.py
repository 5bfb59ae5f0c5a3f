"""``skstream bench``: suites, runs that go on after a kill, what is written, and its check."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from skstream import PrequentialEvaluator, load
from skstream.baselines import Persistent
from skstream.cli import _bench, main
from skstream.cli._from_text import make_stream
from skstream.cli._suite import SHIPPED, read_suite, seed_of, seeded
from skstream.studies._seed_study import SeedStudy
from tests._examples import newest_alone

pytestmark = newest_alone  # what is killed or run twice does not depend on other packages


SUITE = """
metric = ["accuracy", "kappa"]
seeds = 2
references = ["majority"]

[models]
nb = "nb"
slow = "sgd(alpha=0.001)"

[streams]
SEA = "SEA(n_rows=400)"
Sine = "Sine(n_rows=300)"
NSGT = "NSGT(n_rows=300)"
"""
FILES = ("suite.toml", "table.md", "summary.json")


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Folder of a finished suite."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "mine.toml").write_text(SUITE)
    assert main(["bench", str(folder / "mine.toml"), "--out", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture
def copied(done, tmp_path):
    return Path(shutil.copytree(done, tmp_path / "out"))


def texts(folder):
    return {name: (folder / name).read_text() for name in FILES}


def result_files(folder):
    return sorted(p.name for p in (folder / "results").glob("*.npz") if not p.name.startswith("."))


def changed(suite, *pairs):
    text = suite.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    suite.write_text(text)
    return suite


def test_every_run_is_one_evaluation_with_its_seed(done):
    assert result_files(done) == [f"{n}-{s}.npz" for n in ("NSGT", "SEA", "Sine") for s in (0, 1)]
    result = load(done / "results" / "SEA-1.npz")
    stream = make_stream(f"SEA(n_rows=400, random_state={seed_of('SEA', 1)})")
    again = PrequentialEvaluator("accuracy").evaluate({"p": Persistent()}, stream)
    assert result.scores["persistent"]["accuracy"] == again.scores["p"]["accuracy"]
    assert result.model_names[:4] == ["persistent", "majority", "nb", "slow"]
    other = load(done / "results" / "SEA-0.npz")
    assert other.details.labels_read != result.details.labels_read


def test_streams_of_one_seed_share_no_random_numbers():
    seeds = {seed_of(name, seed) for name in ("NSGT", "NSGT-F", "SEA") for seed in range(5)}
    assert len(seeds) == 15


def test_the_table_and_the_summary_say_what_the_results_do(done, matplotlib):
    summary = json.loads((done / "summary.json").read_text())
    results = [load(done / "results" / f"SEA-{seed}.npz") for seed in (0, 1)]
    mean = np.mean([one.scores["nb"]["kappa"] for one in results])
    assert summary["scores"]["SEA"]["nb"]["kappa"] == pytest.approx(mean)
    assert "majority" not in summary["ranks"]["average_ranks"]
    assert "majority" not in summary["leaderboard"]["mean_losses"]
    assert "nb" in summary["leaderboard"]["possible"]
    losses = [1 - summary["scores"][name]["nb"]["accuracy"] for name in ("SEA", "Sine", "NSGT")]
    assert summary["leaderboard"]["mean_losses"]["nb"] == pytest.approx(np.mean(losses))
    table = (done / "table.md").read_text()
    accuracy = summary["scores"]["SEA"]["slow"]["accuracy"]
    (line,) = [line for line in table.splitlines() if line.startswith("| SEA ")]
    assert f"| {accuracy:.4f} ± " in line
    assert "not ranked: majority" in table
    assert "With probability of at least 95 %" in table
    assert "bayes-optimal" not in table  # it is not on every stream
    assert (done / "critical_difference.png").read_bytes().startswith(b"\x89PNG")
    assert "(critical_difference.png)" in table


def test_the_same_command_runs_nothing_again(copied, suite, capsys):
    before = {path: path.stat().st_mtime_ns for path in (copied / "results").iterdir()}
    first = texts(copied)
    assert main(["bench", str(suite), "--out", str(copied)]) == 0
    assert "6 of 6 runs were finished before" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in (copied / "results").iterdir()} == before
    assert texts(copied) == first


def test_what_was_not_finished_is_run_and_nothing_else(copied, suite, capsys):
    first = texts(copied)
    (copied / "results" / "Sine-1.npz").unlink()
    (copied / "results" / ".Sine-1.12345678-1-abcdefabcdef.tmp.npz").write_bytes(b"half a file")
    assert main(["bench", str(suite), "--out", str(copied), "--n-jobs", "2"]) == 0
    words = capsys.readouterr().err
    assert "5 of 6 runs were finished before" in words
    assert "6 of 6: Sine, seed 1" in words
    assert words.count("seed 0,") == 0
    assert texts(copied) == first


def test_a_killed_run_loses_nothing_that_was_finished(tmp_path, suite):
    changed(suite, ("n_rows=400", "n_rows=4000"), ("seeds = 2", "seeds = 4"))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "skstream", "bench", str(suite), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while not (out / "results").is_dir() or not result_files(out):
            assert process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < until
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()
    kept = {name: (out / "results" / name).read_bytes() for name in result_files(out)}
    assert kept
    assert main(["bench", str(suite), "--out", str(out)]) == 0
    assert len(result_files(out)) == 12
    for name, data in kept.items():
        assert (out / "results" / name).read_bytes() == data
    assert not [path for path in (out / "results").iterdir() if ".tmp" in path.name]
    whole = tmp_path / "whole"
    assert main(["bench", str(suite), "--out", str(whole)]) == 0
    assert texts(whole) == texts(out)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads which processes there are")
def test_sigterm_ends_the_workers_and_loses_nothing_that_was_finished(tmp_path, suite):
    changed(suite, ("n_rows=400", "n_rows=4000"), ("n_rows=300", "n_rows=400_000"))
    suite.write_text(suite.read_text() + "\n[protocol]\nbatch_size = 50\n")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "skstream", "bench", str(suite), "--out", str(out)]
    process = subprocess.Popen([*command, "--n-jobs", "2"], stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 120
        while not (out / "results").is_dir() or not result_files(out):
            assert process.poll() is None, "it ended before it was told to"
            assert time.monotonic() < until
            time.sleep(0.005)
        workers = children_of(process.pid)
        assert workers
        process.terminate()
        words = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "the same command resumes" in words
    until = time.monotonic() + 20
    while any(is_running(one) for one in workers):
        assert time.monotonic() < until, "workers are left"
        time.sleep(0.05)
    for name in result_files(out):
        load(out / "results" / name)


def children_of(pid: int) -> list[int]:
    found = Path("/proc").glob("[0-9]*/stat")
    return [int(one.parent.name) for one in found if parent_of(one) == pid]


def parent_of(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return -1


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_streams_and_seeds_can_be_added(copied, suite, capsys):
    changed(suite, ("seeds = 2", "seeds = 3"), ("[streams]", '[streams]\nLED = "LED(n_rows=200)"'))
    assert main(["bench", str(suite), "--out", str(copied)]) == 0
    assert "6 of 12 runs were finished before" in capsys.readouterr().err
    assert len(result_files(copied)) == 12
    assert (copied / "suite.toml").read_text() == suite.read_text()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("alpha=0.001", "alpha=0.002", r"it has --model slow=sgd\(alpha=0.001\); the suite has"),
        ('nb = "nb"', 'nb = "nb"\ntree = "tree"', "the suite has --model tree=tree"),
        ('"accuracy", "kappa"', '"accuracy"', "it has --metric kappa"),
        ("n_rows=400", "n_rows=401", r"the suite has --generator SEA\(n_rows=401, "),
        ("seeds = 2", "seeds = 1", "-1.npz belongs to no stream and seed of this suite"),
        ('Sine = "Sine(n_rows=300)"', "", "Sine-0.npz belongs to no stream and seed of this suite"),
        ("[streams]", "[protocol]\nn_warmup = 5\n[streams]", "the suite has --set n_warmup=5"),
    ],
)
def test_another_suite_is_refused_with_what_differs(copied, suite, capsys, old, new, words):
    changed(suite, (old, new))
    before = texts(copied)
    assert main(["bench", str(suite), "--out", str(copied)]) == 2
    error = capsys.readouterr().err
    assert re.search(words, error), error
    assert texts(copied) == before


def test_a_folder_is_verified(done, capsys):
    assert main(["verify", str(done)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "SEA, seed 0: identical: 1,596 predictions and the curves of 4 models."
    )
    assert lines[-2:] == ["table.md: identical", "summary.json: identical"]
    assert len(lines) == 8
    assert main(["verify", str(done / "results" / "NSGT-1.npz")]) == 0
    assert capsys.readouterr().out.startswith("identical")


def test_a_changed_table_and_a_missing_result_are_found(copied, capsys):
    table = copied / "table.md"
    table.write_text(table.read_text().replace("0.", "0.9", 1))
    assert main(["verify", str(copied)]) == 1
    assert "table.md: different from what these results give" in capsys.readouterr().out
    (copied / "results" / "SEA-1.npz").unlink()
    assert main(["verify", str(copied)]) == 1
    assert "SEA, seed 1: missing" in capsys.readouterr().out


def test_a_changed_answer_is_found(copied, capsys):
    path = copied / "results" / "Sine-0.npz"
    result = load(path)
    result.tape.answers["nb"][0][7] ^= 1
    result.save(path)
    assert main(["verify", str(copied)]) == 1
    assert "Sine, seed 0: different: the prediction of 'nb' at row " in capsys.readouterr().out
    assert main(["report", str(copied), "--out", str(copied / "page.html")]) == 2
    error = capsys.readouterr().err
    assert "results of many runs, but a page is about one: name its file, such as " in error
    assert f"{copied / 'results' / 'NSGT-0.npz'}." in error


def test_files_are_streams_too(tmp_path, suite, capsys, pa, rng):
    rows = [f"{a:.3f},{b:.3f},{'ud'[int(a > b)]}" for a, b in rng.random((200, 2))]
    file = tmp_path / "power.csv"
    file.write_text("\n".join(["a,b,class", *rows]))
    entry = f'[streams]\npower = {{file = "{file.as_posix()}", target = "class", exclude = ["b"]}}'
    changed(suite, ("[streams]", entry))
    assert main(["bench", str(suite), "--out", str(tmp_path / "out")]) == 0
    result = load(tmp_path / "out" / "results" / "power-1.npz")
    assert result.details.record["stream"]["names"] == ["a"]
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if line.startswith("power ")]
    assert re.search(rf" {result.scores['nb']['accuracy']:.4f}, same rows \(", line)
    assert main(["verify", str(tmp_path / "out")]) == 0
    for other in (rows[:150], [*rows[:-1], rows[0]]):
        file.write_text("\n".join(["a,b,class", *other]))
        assert main(["verify", str(tmp_path / "out")]) == 1


def test_a_model_that_fails_is_named_and_not_ranked(tmp_path, suite, capsys):
    # Negative features, which NSGT has and SEA has not, are an error of this model.
    changed(suite, ("[models]", '[models]\nbad = "sklearn.naive_bayes:MultinomialNB"'))
    out = tmp_path / "out"
    assert main(["bench", str(suite), "--out", str(out)]) == 2
    assert "error: models that failed are not ranked: bad" in capsys.readouterr().err
    summary = json.loads((out / "summary.json").read_text())
    assert "bad" not in summary["ranks"]["average_ranks"]
    assert "bad" not in summary["leaderboard"]["mean_losses"]
    assert np.isfinite(summary["scores"]["SEA"]["bad"]["accuracy"])
    table = (out / "table.md").read_text()
    assert "bad is left out: it failed on NSGT (seed 0)" in table
    assert "not ranked: majority, bad" in table
    assert main(["verify", str(out)]) == 2  # naming a module runs its code
    assert "repeat all models" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:Model .* has no predict_proba:UserWarning")
def test_the_summary_is_json_where_a_measure_is_undefined(suite, tmp_path):
    changed(suite, ('"kappa"', '"log_loss"'), ("[models]", '[models]\nlinear = "perceptron"'))
    out = tmp_path / "out"
    assert main(["bench", str(suite), "--out", str(out)]) == 0

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    summary = json.loads((out / "summary.json").read_text(), parse_constant=refuse)
    assert summary["scores"]["SEA"]["linear"]["log_loss"] is None
    assert summary["scores"]["SEA"]["nb"]["log_loss"] > 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("seeds = 2", "seed = 2", "unknown key 'seed'. Did you mean 'seeds'"),
        ("seeds = 2", "seeds = 0", "seeds must be a number above 0"),
        ("seeds = 2", "seeds = [1, 1]", "seeds must be a number above 0"),
        ("seeds = 2", "seeds = -1", "seeds must be a number above 0"),
        ("seeds = 2", "seeds = [-1]", "must not be negative"),
        ("seeds = 2", "alpha = 2.0", "alpha must be a number between 0 and 1"),
        ("seeds = 2", "seeds = ", "is not a TOML file"),
        ("seeds = 2", "certify = true", "certify must be a measure, or false"),
        ('["accuracy", "kappa"]', '"kappa"', "No leaderboard can be certified by 'kappa'"),
        ('["accuracy", "kappa"]', '"acuracy"', "acuracy"),
        ('["majority"]', '["best"]', "references names 'best', but there are persistent, majority"),
        ("[models]", "[model]", "unknown key 'model'. Did you mean 'models'"),
        ("[streams]", "[protocol]\nholdout = 5\n[streams]", "--set holdout=5: Prequential"),
        ("[streams]", '[streams]\n"a/b" = "SEA"', "the name of a stream becomes that of a file"),
        (
            "[streams]",
            "[streams]\npower = 3",
            "a stream must be the text of a generator, or a table",
        ),
        (
            "[streams]",
            '[streams]\np = {fil = "x.csv"}',
            "unknown option 'fil'. Did you mean 'file'",
        ),
        ("[streams]", '[streams]\np = {file = "x.csv", target = "y"}', "The stream p of the suite"),
        ('"SEA(n_rows=400)"', '"SEE(n_rows=400)"', "'SEE"),
        ('nb = "nb"', 'nb = "n-b"', "n-b"),
        ("[streams]", '[streams]\nsea = "Sine"', "sea and SEA differ only in capitalisation"),
        ('nb = "nb"', '"a=b" = "nb"', "names without = ( ) and quotes"),
        ('nb = "nb"', 'persistent = "nb"', "'persistent'"),
        ("[models]", 'certify = "brier"\n[models]\np = "perceptron"', "without probabilities (p)"),
    ],
)
def test_a_wrong_suite_is_refused_before_anything_runs(tmp_path, suite, capsys, old, new, words):
    changed(suite, (old, new))
    assert main(["bench", str(suite), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert words in error, error
    assert not (tmp_path / "out" / "results").exists()


def test_ranks_by_kappa_may_stand_beside_a_leaderboard_by_accuracy_or_none(tmp_path, suite):
    changed(suite, ('["accuracy", "kappa"]', '"kappa"\ncertify = "accuracy"'))
    assert main(["bench", str(suite), "--out", str(tmp_path / "a")]) == 0
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert summary["metrics"] == ["kappa", "accuracy"]
    assert (tmp_path / "a" / "table.md").read_text().splitlines()[2].startswith("kappa")
    changed(suite, ('certify = "accuracy"', "certify = false"))
    assert main(["bench", str(suite), "--out", str(tmp_path / "b")]) == 0
    assert json.loads((tmp_path / "b" / "summary.json").read_text())["leaderboard"] is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SEA", "SEA(random_state=7)"),
        ("SEA()", "SEA(random_state=7)"),
        ("SEA(noise=0.2)", "SEA(noise=0.2, random_state=7)"),
        ("SEA(random_state=3)", "SEA(random_state=3)"),
        ("NSGT", "NSGT(random_state=7)"),
        ("take_rows('SEA', n=5)", "take_rows('SEA', n=5)"),
        ("concat('SEA(random_state={seed})', 'Sine')", "concat('SEA(random_state=7)', 'Sine')"),
        ("fetch_electricity", "fetch_electricity"),
    ],
)
def test_a_generator_gets_the_seed_where_it_has_a_place(text, expected):
    assert seeded(text, 7) == expected


def test_the_shipped_suite_can_be_run(capsys, tmp_path):
    assert main(["bench", "--list"]) == 0
    assert capsys.readouterr().out.strip() == SHIPPED.read_text().strip()
    suite = read_suite(None)
    assert len(suite.models) == 10
    for run in suite.runs(tmp_path):
        if run.seed == 0:
            generator = run.words[run.words.index("--generator") + 1]
            assert make_stream(generator).n_rows in (10_000, 10_001)
    from skstream.cli._commands import _planned_of

    _bench._check_plans(suite.runs(tmp_path)[:1], suite, _planned_of)


def test_streams_with_late_labels_say_which_answers_are_ranked(tmp_path, capsys):
    path = tmp_path / "late.toml"
    path.write_text(
        'metric = "accuracy"\nseeds = 2\n[models]\nnb = "nb"\nlast = "persistent"\n[streams]\n'
        'now = "SEA(n_rows=300)"\nlate = "with_delay(\'Sine(n_rows=300)\', delay=30)"\n'
    )
    assert main(["bench", str(path), "--out", str(tmp_path / "out")]) == 0
    said = "scores and ranks are those of predictions just before the label"
    board = "where labels are late of the predictions just before the label (bin 51)"
    printed = " ".join(capsys.readouterr().out.split())
    assert said in printed and board in printed
    table = (tmp_path / "out" / "table.md").read_text()
    assert said in table and board in table
    late = load(tmp_path / "out" / "results" / "late-0.npz")
    study = SeedStudy(seeds=(0,), results=(late,))
    assert "Labels are delayed: scores are those of predictions just before the label" in str(study)


def test_a_suite_that_cannot_be_read_is_named(tmp_path, capsys):
    (tmp_path / "mine.toml").write_bytes(b'metric = "accuracy" # \xe4')
    for name, words in (("none.toml", "There is no file"), ("mine.toml", "is not a TOML file")):
        assert main(["bench", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 2
        error = capsys.readouterr().err
        assert words in error
        assert name in error
