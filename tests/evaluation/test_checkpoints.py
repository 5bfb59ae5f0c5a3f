"""Evaluations in a folder: stopped anywhere, they resume, and the result is the undisturbed one."""

import errno
import os

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.core.evaluators import record as _record
from skstream.core.run import checkpoint as _checkpoint
from skstream.core.run.checkpoint import load_run
from tests.evaluation._models import Diary, FailsLater

N = 120
X = np.random.default_rng(0).normal(size=(N, 3))
X[:, 0] = np.arange(N)
y = np.where(X[:, 1] + np.arange(N) % 7 / 10 > 0.3, "b", "a")
MODELS = {"sgd": SGDClassifier(), "nb": BernoulliNB(), "last": sk.Persistent()}

EVALUATORS = {
    "prequential": sk.PrequentialEvaluator(forgetting={"all": "cumulative", "w": "window:9"}),
    "adwin": sk.PrequentialEvaluator("accuracy", forgetting="adwin"),
    "batches": sk.PrequentialEvaluator("kappa", batch_size=7),
    "folds": sk.KFoldEvaluator("accuracy", n_folds=2, random_state=1),
    "holdout": sk.HoldoutEvaluator("accuracy", holdout=(X[:7], y[:7]), every=10),
    "next": sk.HoldoutEvaluator("accuracy", holdout="next", every=10),
    "delayed": sk.DelayedEvaluator("accuracy", delay=15, polling=sk.Polling(n_bins=3)),
}


class Source:
    """Chunks of the rows; breaks off before the chunk that starts at a row."""

    def __init__(self, stop=None, size=20):
        self.stop, self.size = stop, size

    def __call__(self):
        for first in range(0, N, self.size):
            if self.stop is not None and first >= self.stop:
                raise OSError("the line is dead")
            yield X[first : first + self.size], y[first : first + self.size]


def evaluator_in(name, folder, **params):
    options = sk.RunOptions(folder, keep_tape=True)
    params = {"random_state": 1, "run": options, **params}
    own = {k: v for k, v in EVALUATORS[name].get_params(deep=False).items() if k != "_begun"}
    return type(EVALUATORS[name])(**{**own, **params})


def evaluate(evaluator, source, models=MODELS):
    return evaluator.evaluate(models, source, classes=["a", "b"])


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


def assert_same_result(one, other):
    """All but how long it took, and where the checkpoints were."""
    for field in vars(one):
        if field not in ("costs", "parameters", "models"):
            assert_equal_data(getattr(one, field), getattr(other, field))


@pytest.fixture(autouse=True)
def always_saved(monkeypatch):
    """Write a checkpoint after every part of the rows."""
    monkeypatch.setattr(sk.RunOptions, "seconds", 0.0)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no power is lost here


@pytest.fixture(scope="module")
def undisturbed():
    """Results of evaluations without a folder."""
    results = {name: evaluate(evaluator_in(name, None), Source()) for name in EVALUATORS}
    return results


def files(folder):
    return sorted(os.listdir(folder))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", EVALUATORS)
def test_it_resumes_where_it_stopped(name, undisturbed, tmp_path):
    for stop in (20, 60, 100):
        with pytest.raises(ValueError, match="the line is dead"):
            evaluate(evaluator_in(name, tmp_path), Source(stop))
        assert load_run(tmp_path / "1-of-1.checkpoint").n_rows == stop
    result = evaluate(evaluator_in(name, tmp_path), Source(size=35))
    assert_same_result(result, undisturbed[name])
    assert files(tmp_path) == ["1-of-1.checkpoint"]
    assert_same_result(evaluate(evaluator_in(name, tmp_path), Source()), undisturbed[name])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", ["prequential", "folds", "next", "delayed"])
def test_workers_have_a_file_each_and_any_number_of_them_resumes(name, undisturbed, tmp_path):
    with parallel_config(backend="threading"):
        with pytest.raises(ValueError, match="the line is dead"):
            evaluate(evaluator_in(name, tmp_path, n_jobs=2), Source(60))
        for n_jobs in (3, 1):
            result = evaluate(evaluator_in(name, tmp_path, n_jobs=n_jobs), Source())
            assert_same_result(result, undisturbed[name])
    assert files(tmp_path) == ["1-of-2.checkpoint", "2-of-2.checkpoint"]


def test_a_finished_evaluation_is_not_computed_again(tmp_path):
    evaluator = evaluator_in("prequential", tmp_path, random_state=None)
    first = evaluator.evaluate({"diary": Diary()}, X, y, return_models=True)
    before = (tmp_path / "1-of-1.checkpoint").stat().st_mtime_ns
    again = evaluator.evaluate({"diary": Diary()}, X, y, return_models=True)
    assert (tmp_path / "1-of-1.checkpoint").stat().st_mtime_ns == before
    assert_same_result(again, first)
    assert again.costs == first.costs
    assert again.parameters["seed"] == first.parameters["seed"]
    assert again.models["diary"].calls_ == first.models["diary"].calls_


class NoParameters:
    """A model without get_params."""

    def __init__(self, value):
        self.value = value

    def partial_fit(self, X, y, classes=None):
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


def pipeline(**params):
    return sk.make_stream_pipeline(StandardScaler(), SGDClassifier(**params))


@pytest.mark.parametrize(
    ("params", "models", "message"),
    [
        ({"n_warmup": 3}, {}, r"the parameter n_warmup is 3 and was 1\. Make"),
        ({"random_state": 9}, {}, "the parameter random_state is 9 and was 1"),
        ({"metrics": "kappa"}, {}, "the parameter metrics is 'kappa' and was None"),
        ({"forgetting": "adwin"}, {}, "the parameter forgetting is 'adwin' and was {"),
        ({}, {"sgd": SGDClassifier(alpha=0.1)}, "alpha of model 'sgd' is 0.1 and was 0.0001"),
        ({}, {"sgd": sk.MajorityClass()}, r"class of model 'sgd' is \S+MajorityClass and was "),
        ({}, {"more": sk.MajorityClass()}, r"the names of the models is \[.*'more'\] and was"),
        ({}, {"own": NoParameters("b")}, "what model 'own' has learnt before is different"),
        (
            {},
            {"pipe": pipeline(alpha=0.5)},
            "sgdclassifier__alpha of model 'pipe' is 0.5 and was 0.0001",
        ),
    ],
)
def test_another_call_is_refused_by_what_differs(params, models, message, tmp_path):
    given = {**MODELS, "own": NoParameters("a"), "pipe": pipeline()}
    evaluate(evaluator_in("prequential", tmp_path), Source(), given)
    before = (tmp_path / "1-of-1.checkpoint").read_bytes()
    with pytest.raises(ValueError, match=f"belongs to another evaluation: {message}"):
        evaluate(evaluator_in("prequential", tmp_path, **params), Source(), {**given, **models})
    with pytest.raises(ValueError, match=r"the classes is \['a', 'b', 'c'\] and was \['a', 'b'\]"):
        evaluator_in("prequential", tmp_path).evaluate(given, Source(), classes=["a", "b", "c"])
    assert (tmp_path / "1-of-1.checkpoint").read_bytes() == before


def test_what_changes_no_score_may_change(tmp_path):
    first = evaluate(evaluator_in("prequential", tmp_path), Source())
    again = evaluator_in("prequential", str(tmp_path), n_jobs=2, error_score=0.0)
    assert evaluate(again, Source()).scores == first.scores


@pytest.mark.parametrize("stop", [60, None])
def test_a_stream_of_other_rows_is_refused(stop, tmp_path):
    evaluator = evaluator_in("prequential", tmp_path)
    n_read = stop or N
    if stop:
        with pytest.raises(ValueError, match="the line is dead"):
            evaluate(evaluator, Source(stop))
    else:
        evaluate(evaluator, Source())
    other = np.where(np.arange(N) == 3, "b" if y[3] == "a" else "a", y)
    for rows, message in [
        ((X + 1, y), f"its first {n_read} rows have other features"),
        ((X, other), f"its first {n_read} rows have other labels"),
        ((X[:20], y[:20]), f"it has 20 rows, but the run had read {n_read}"),
        ((np.round(X * 8).astype(np.float32), y), "the types of its columns"),
        ((X[:, :2], y), "the types of its columns|has 2 features"),
    ]:
        with pytest.raises(ValueError, match=message):
            evaluator.evaluate(MODELS, *rows, classes=["a", "b"])
    if not stop:
        more = np.vstack([X, X]), np.concatenate([y, y])
        with pytest.raises(ValueError, match=f"it has 240 rows, but the run had read {N}"):
            evaluator.evaluate(MODELS, *more)
    assert evaluator.evaluate(MODELS, X, y).n_rows == N


def test_held_out_rows_of_one_set_are_compared(tmp_path):
    def run(labels):
        evaluator = sk.HoldoutEvaluator(
            "accuracy", holdout=(X[:7], labels[:7]), every=20, random_state=0, run=tmp_path
        )
        return evaluator.evaluate(sk.MajorityClass(), X + 1, y)

    first = run(y)
    assert run(y.copy()).scores == first.scores
    other = np.where(np.arange(N) == 3, "b" if y[3] == "a" else "a", y)
    with pytest.raises(ValueError, match=r"The holdout has changed: .* other labels"):
        run(other)


@pytest.mark.parametrize("package", ["skstream", "scikit-learn", "numpy"])
def test_checkpoints_of_other_versions_are_refused(package, tmp_path, monkeypatch):
    evaluate(evaluator_in("prequential", tmp_path), Source())
    versions = _record._versions()
    monkeypatch.setattr(_record, "_versions", lambda: {**versions, package: "0.0"})
    with pytest.raises(
        ValueError, match=rf"the version of {package} is 0\.0 and was {versions[package]}"
    ):
        evaluate(evaluator_in("prequential", tmp_path), Source())


def test_a_damaged_or_foreign_file_is_named_and_not_unpickled(tmp_path, monkeypatch):
    evaluator = evaluator_in("prequential", tmp_path)
    evaluate(evaluator, Source())
    file = tmp_path / "1-of-1.checkpoint"
    content = file.read_bytes()
    monkeypatch.setattr(_checkpoint.joblib, "load", lambda file: pytest.fail("was unpickled"))
    file.write_bytes(content[:-1] + b"x")
    with pytest.raises(ValueError, match=r"1-of-1\.checkpoint is damaged"):
        evaluate(evaluator, Source())
    file.write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"1-of-1\.checkpoint is not a checkpoint"):
        evaluate(evaluator, Source())
    file.rename(tmp_path / "1-of-3.checkpoint")
    file.write_bytes(content)
    with pytest.raises(ValueError, match="holds checkpoints of several evaluations"):
        evaluate(evaluator, Source())


def test_a_full_disk_keeps_the_checkpoint_before_it(undisturbed, tmp_path, monkeypatch):
    evaluator = evaluator_in("prequential", tmp_path)
    save, n_rows = _checkpoint.save_checkpoint, []

    def full(run, *args):
        n_rows.append(run.n_rows)
        if len(n_rows) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        save(run, *args)

    with (
        monkeypatch.context() as patch,
        pytest.raises(OSError, match=r"checkpoint could not be written \(No space") as caught,
    ):
        patch.setattr(_checkpoint, "save_checkpoint", full)
        evaluate(evaluator, Source())
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.result.n_rows == n_rows[-1]
    assert load_run(tmp_path / "1-of-1.checkpoint").n_rows == n_rows[-2]
    assert_same_result(evaluate(evaluator, Source()), undisturbed["prequential"])


def test_what_cannot_resume_is_refused_before_the_first_row(tmp_path):
    evaluator = evaluator_in("prequential", tmp_path)
    with pytest.raises(ValueError, match="needs a stream that can be read again"):
        evaluate(evaluator, Source()())
    with pytest.raises(ValueError, match=r"checkpoint= is for evaluate"):
        evaluator.start(MODELS, classes=["a", "b"])
    with pytest.raises(TypeError, match="must be importable by their names"):
        evaluator.set_params(metrics=lambda t, p: 0.0).evaluate(MODELS, X, y)
    assert files(tmp_path) == []  # the call can be mended
    with parallel_config(backend="threading"), pytest.raises(TypeError, match="importable by"):
        evaluator.set_params(n_jobs=2).evaluate(MODELS, X, y)
    assert files(tmp_path) == []
    evaluator.set_params(metrics="accuracy", n_jobs=1).evaluate(MODELS, X, y)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file: pass a folder"):
        evaluator.set_params(run__checkpoint=tmp_path / "file").evaluate(MODELS, X, y)
    with pytest.raises(ValueError, match="The 'checkpoint' parameter"):
        evaluator.set_params(run__checkpoint=3).evaluate(MODELS, X, y)
    held_out = sk.HoldoutEvaluator(holdout=iter([(X, y)]), run=tmp_path / "new")
    with pytest.raises(ValueError, match="needs held-out rows that can be read again"):
        held_out.evaluate(MODELS, X, y)


def test_a_failure_with_a_score_is_kept(tmp_path):
    models = {"fails": FailsLater(50), "last": sk.Persistent()}
    evaluator = evaluator_in("prequential", None, error_score=0.0)
    with pytest.warns(Warning, match="no more"):
        alone = evaluate(evaluator, Source(), models)
    evaluator.set_params(run__checkpoint=tmp_path)
    with pytest.raises(ValueError, match="the line is dead"):
        evaluate(evaluator, Source(80), models)
    with pytest.warns(Warning, match="no more"):
        assert_same_result(evaluate(evaluator, Source(), models), alone)
