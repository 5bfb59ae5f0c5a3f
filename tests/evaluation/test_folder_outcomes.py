"""Outcomes as data: whatever a run did comes back from its file unchanged."""

import json
import re
import shutil
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.evaluation import RunFolder
from skstream.evaluation._folder import _run_folder
from skstream.evaluation._folder._group import load_outcome
from skstream.evaluation._parallel import _groups
from skstream.streams import make_demo_stream
from skstream.utils import _saved
from skstream.utils._saved import as_data, of_data, save_npz
from tests._crafted import crafted
from tests.evaluation._models import Breaks, numbered_rows

X, y = numbered_rows(60), np.tile(["a", "b", "b"], 20)
WEIGHT = np.tile([1.0, 2.0], 30)

EVALUATORS = {
    "prequential": sk.PrequentialEvaluator(forgetting={"all": "cumulative", "w": "window:9"}),
    "folds": sk.KFoldEvaluator("accuracy", n_folds=3, random_state=1),
    "holdout": sk.HoldoutEvaluator("accuracy", holdout=(X[:7], y[:7]), every=10),
    "next": sk.HoldoutEvaluator("accuracy", holdout="next", every=10),
    "delayed": sk.DelayedEvaluator("accuracy", delay=5, n_bins=3),
    "no tape": sk.PrequentialEvaluator("accuracy", keep_tape=False),
}


def run_of(evaluator, models, X, y, **options):
    """The header and the outcome of an evaluation in one run."""
    stream = sk.as_stream(X, y, **options)
    settings, prepared = evaluator._prepare(models, y, stream)
    run = evaluator._new_run(settings, stream)(prepared)
    for chunk in stream:
        run.feed(chunk)
    return settings.header, run.close().outcome()


def assert_equal_data(one, other):
    """Equal, down to types and bits."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_equal_data(a, b)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif hasattr(one, "__dataclass_fields__"):
        assert_equal_data(vars(one), vars(other))
    else:
        assert one == other


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVALUATORS)
@pytest.mark.parametrize("options", [{}, {"sample_weight": WEIGHT}], ids=["plain", "weighted"])
def test_an_outcome_comes_back_as_it_was(name, options, tmp_path):
    evaluator = EVALUATORS[name].set_params(error_score=0.0)
    models = {"sgd": SGDClassifier(random_state=0), "breaks": Breaks(at=33)}
    _, outcome = run_of(evaluator, models, X, y, **options)
    outcome = replace(outcome, read={"labels": (1, 2)})
    save_npz(tmp_path / "outcome.npz", outcome)
    assert_equal_data(load_outcome(tmp_path / "outcome.npz"), outcome)


def test_labels_that_are_no_data_are_refused():
    header, _ = run_of(sk.PrequentialEvaluator(), SGDClassifier(), X, y)
    with pytest.raises(ValueError, match="Labels of type tuple cannot be saved as data"):
        objects = np.empty(1, dtype=object)
        objects[0] = (1, 2)
        as_data(replace(header, classes=objects))


def test_numbers_that_json_has_not_come_back(tmp_path):
    value = {"a": np.nan, "b": [np.inf, (1.5, -np.inf)], "c": np.array([0.5, np.nan])}
    text = json.dumps(as_data(value), allow_nan=False)
    assert repr(of_data(json.loads(text), {})) == repr(value)
    evaluator = sk.PrequentialEvaluator("accuracy", error_score=np.nan, checkpoint=tmp_path)
    evaluator.evaluate(sk.Persistent(), X, y)
    for path in tmp_path.rglob("*.json"):
        assert "NaN" not in path.read_text()
    assert np.isnan(sk.load(tmp_path).parameters["error_score"])


def test_a_foreign_or_damaged_file_is_named(tmp_path):
    path = tmp_path / "outcome.npz"
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"outcome\.npz is not the outcome of a group of models"):
        load_outcome(path)
    result = sk.PrequentialEvaluator("accuracy").evaluate(sk.Persistent(), make_demo_stream(50))
    result.save(path)
    with pytest.raises(ValueError, match=r"outcome\.npz is not .*it holds a"):
        load_outcome(path)
    np.savez(path, header=np.array(json.dumps({"format": _saved.FORMAT})))
    with pytest.raises(ValueError, match="its parts are not those that its header lists"):
        load_outcome(path)


@pytest.mark.parametrize("file", ["outcome.npz", "run.checkpoint"])
@pytest.mark.parametrize("how", [{"alpha": 1.0}, {"seed": 1}, {}], ids=["alpha", "seed", "same"])
def test_files_of_another_run_are_refused(file, how, tmp_path):
    """As after a backup of another run was put back: its models have the same names."""
    is_stopped = file == "run.checkpoint"

    def evaluate(name, alpha=1e-4, seed=0):
        models = {"sgd": SGDClassifier(alpha=alpha)} | ({"m": Breaks(at=33)} if is_stopped else {})
        evaluator = sk.PrequentialEvaluator(
            "accuracy", random_state=seed, checkpoint=RunFolder(tmp_path / name, every=10)
        )
        return evaluator.evaluate(models, X, y)

    ended = pytest.raises(sk.ModelError) if is_stopped else nullcontext()
    for name, options in (("own", {}), ("other", how)):
        with ended:
            evaluate(name, **options)
    shutil.copy(*(tmp_path / name / "group-0" / file for name in ("other", "own")))
    with ended if not how else pytest.raises(ValueError, match=rf"{file} is of another run than"):
        evaluate("own")
    if how and not is_stopped:
        with pytest.raises(ValueError, match="is of another run than"):
            sk.load(tmp_path / "own")


def test_a_group_of_the_same_run_with_other_groups_is_refused(tmp_path, monkeypatch):
    """As after the folder of a call with more workers was copied: one of its models is missing."""
    monkeypatch.setattr(_groups, "_all_have_kernels", lambda *_: False)
    monkeypatch.setattr(_groups, "STARTS_THAT_PAY", 0.0)
    for name, n_jobs in (("own", 1), ("other", 2)):
        evaluator = sk.PrequentialEvaluator(
            "accuracy", random_state=0, n_jobs=n_jobs, checkpoint=tmp_path / name
        )
        with parallel_config(backend="threading"):
            evaluator.evaluate({"a": SGDClassifier(), "b": SGDClassifier(alpha=1.0)}, X, y)
    assert (tmp_path / "other" / "group-1").is_dir()
    shutil.copy(*(tmp_path / name / "group-0" / "outcome.npz" for name in ("other", "own")))
    with pytest.raises(ValueError, match=r"outcome\.npz is of another run than"):
        sk.load(tmp_path / "own")


@pytest.mark.parametrize(
    ("file", "part", "value"),
    [
        ("manifest.json", "measures", {"accuracy": 3}),
        ("manifest.json", "parameters", True),
        ("manifest.json", "places", [["other", 0]]),
        ("manifest.json", "n_rows", {}),
        ("outcome.npz", "n_rows", "x"),
        ("outcome.npz", "lanes", []),
    ],
)
def test_parts_of_wrong_types_are_one_error_on_collecting(file, part, value, tmp_path):
    sk.PrequentialEvaluator("accuracy", checkpoint=tmp_path).evaluate(sk.Persistent(), X, y)
    if file == "outcome.npz":
        crafted(tmp_path / "group-0" / file, **{part: value})
    else:
        plain = json.loads((tmp_path / file).read_text())
        (plain if part in plain else plain["header"])[part] = value
        own = {name: plain[name] for name in plain.keys() - {"kind", "format", "checksum"}}
        plain["checksum"] = _run_folder.checksum(own)
        (tmp_path / file).write_text(json.dumps(plain))
    with pytest.raises(ValueError, match=re.escape(file)):
        sk.load(tmp_path)
