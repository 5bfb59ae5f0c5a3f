"""River's forest by kernel: answers, random numbers and objects are those of River's own loop."""

import importlib.util
import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from skstream import DelayedEvaluator, KFoldEvaluator, PrequentialEvaluator
from skstream.compat import from_river
from skstream.kernels import Declined, Task
from skstream.utils._numba import numba_enabled
from tests._examples import examples
from tests.kernels import _river
from tests.kernels._reference import both_ways, make_block, running
from tests.kernels._river import any_case, bare, rows_of, run_both, same

pd = pytest.importorskip("pandas")
forests = pytest.importorskip("river.forest")
drift = pytest.importorskip("river.drift")
kernel_of_forest = pytest.importorskip("skstream.compat._river_forest")
core = pytest.importorskip("skstream.compat._river_forest_core")
if not numba_enabled():
    pytest.skip("River's forest has a kernel only with numba", allow_module_level=True)
if kernel_of_forest.river_tree.digest_of_files(kernel_of_forest._FILES) not in (
    kernel_of_forest.KNOWN_FILES
):
    pytest.skip("the files of this River are not known", allow_module_level=True)

LABELS = np.array(["a", "b", "c"])


def detector_with(rng: np.random.Generator) -> Any:
    if rng.random() < 0.15:
        return drift.NoDrift()
    return drift.ADWIN(
        delta=float(rng.choice([0.9, 0.3, 0.001])),
        clock=int(rng.choice([1, 4, 32])),
        max_buckets=int(rng.choice([5, 5, 2])),
        min_window_length=int(rng.choice([5, 2])),
        grace_period=int(rng.choice([10, 0])),
    )


def forest_with(rng: np.random.Generator) -> Any:
    features: Any = ["sqrt", "log2", None, 1, 2, 0.7, 6, -1]
    return forests.ARFClassifier(
        n_models=int(rng.integers(1, 4)),
        max_features=features[rng.integers(0, len(features))],
        lambda_value=float(rng.choice([1, 2.5])) if rng.random() < 0.4 else 6,
        disable_weighted_vote=bool(rng.random() < 0.2),
        warning_detector=detector_with(rng),
        drift_detector=detector_with(rng),
        seed=int(rng.integers(0, 2**40)),
        **_river.tree_parameters(rng),
    )


def drifting(X: Any, rng: np.random.Generator) -> Any:
    """Labels that follow a column, with others from some row on, and a class that comes late."""
    n = len(X)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    y[rng.integers(0, n) :] ^= 1
    y[rng.random(n) < 0.1] = 0
    late = np.arange(n) >= rng.integers(0, n)
    y[late & (rng.random(n) < 0.3)] = 2
    return y


def check_law(
    seed: int, timeline: str, method: str, kind: str, is_weighted: bool, most: int = 90
) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, most)), int(rng.choice([1, 3, 3, 24]))
    X = rows_of(kind, n, rng, d)
    y = drifting(X, rng)
    task = Task(LABELS, method)

    def rows(X: Any) -> Any:
        return pd.DataFrame(X, columns=names) if has_names else X

    has_names, names = rng.random() < 0.3, rng.permutation([f"f{f}" for f in range(d)])
    weight = rng.integers(1, 4, n).astype(float) if is_weighted else None
    block = make_block(rows(X), y, timeline, rng, weight)
    kernel, literal = run_both(from_river(forest_with(rng)), block, task, rng)
    if seed % 3:  # River goes on from the kernel's forest, and the kernel from River's
        later = rows(rows_of(kind, 9, rng, d))
        for one in (kernel, literal):
            one.partial_fit(later, list("abcabcabc"))
        assert same(kernel.model_, literal.model_)
        n = int(rng.integers(2, 60))
        more = rows_of(kind, n, rng, d)
        block = make_block(rows(more), drifting(more, rng), timeline, rng)
        run_both(kernel, block, task, rng)


@any_case
@examples(28)
def test_kernel_is_river(seed, timeline, method, kind, is_weighted) -> None:
    check_law(seed, timeline, method, kind, is_weighted)


def stream(n: int = 1500) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(n, 4)), 3)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    y[n // 2 :] = 2 - y[n // 2 :]
    return X, LABELS[y]


def test_evaluators_give_rivers_answers_and_objects() -> None:
    X, y = stream()
    forest = forests.ARFClassifier(3, seed=1)
    result = PrequentialEvaluator("accuracy").evaluate({"f": forest}, X, y, return_models=True)
    assert result.paths == {"f": "kernel"}
    expected, literal = bare(forest.clone(), X, y)
    assert result.predictions("f", every_row=True).tolist()[1:] == expected
    assert same(result.models["f"].model_, literal)
    assert result.models["f"].model_._rng.getstate() == literal._rng.getstate()
    assert literal.n_warnings_detected() > 2 < literal.n_drifts_detected()
    assert max(tree.n_branches or 0 for tree in literal.data) > 1
    for other in (
        KFoldEvaluator("accuracy", n_folds=2, random_state=0),
        DelayedEvaluator("accuracy", delay=40),
    ):
        kernel, loop = both_ways(other, forest, X[:400], y[:400])
        assert kernel.scores == loop.scores


def test_river_objects_are_made_at_the_end_alone(monkeypatch) -> None:
    # Making and pickling them takes longer than thousands of rows.
    assert kernel_of_forest.why_not_this_river() is None
    written = []
    write = kernel_of_forest.ForestForm.write
    monkeypatch.setattr(
        kernel_of_forest.ForestForm, "write", lambda *args: written.append(args) or write(*args)
    )
    X, y = stream(3000)
    result = PrequentialEvaluator("accuracy").evaluate(
        {"f": forests.ARFClassifier(2, seed=0)}, X, y
    )
    assert len(written) == 1
    assert result.costs["f"].size > 1000


def test_many_drifts_take_no_more_room(rng: np.random.Generator) -> None:
    n = 20_000
    X = rng.random((n, 2))
    y = ((X[:, 0] > 0.5) ^ (np.arange(n) // 300 % 2 == 0)).astype(int)
    running_kernel = running(from_river(forests.ARFClassifier(2, seed=0)), Task(np.arange(2)))
    sizes = []
    for begin in range(0, n, 2000):
        rows = slice(begin, begin + 2000)
        running_kernel.run(make_block(X[rows], y[rows], "prequential", rng))
        forest = running_kernel.state.memory.learnt
        sizes.append(sum(one.nbytes for one in (*forest[1:], *forest.tree)))
    assert forest.n_alarms[1].sum() > 50
    assert sizes[-1] == sizes[3]


def test_a_fitted_forest_goes_on() -> None:
    X, y = stream(900)
    forest = forests.ARFClassifier(3)  # without a seed: its random numbers are known once it runs
    bare(forest, X[:500], y[:500])
    evaluator = PrequentialEvaluator("accuracy", n_warmup=0)
    result = evaluator.evaluate(
        {"f": forest}, X[500:], y[500:], warm_start=True, return_models=True
    )
    assert result.paths == {"f": "kernel"}
    answers = []
    for row, label in zip(X[500:].tolist(), y[500:].tolist(), strict=True):
        answers.append(forest.predict_one(dict(enumerate(row))))
        forest.learn_one(dict(enumerate(row)), label)
    assert result.predictions("f", every_row=True).tolist() == answers
    assert same(result.models["f"].model_, forest)


def test_what_cannot_be_read_is_left_to_river() -> None:
    X, y = stream(300)
    forest = forests.ARFClassifier(2, seed=0)
    bare(forest, X, y)
    forest.data[0]._active_leaf_size_estimate = 7.0
    result = PrequentialEvaluator("accuracy").evaluate({"f": forest}, X, y, warm_start=True)
    assert "has learnt cannot be read" in result.paths["f"]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"warning_detector": drift.PageHinkley()}, "the detector PageHinkley"),
        ({"drift_detector": drift.KSWIN(seed=0)}, "the detector KSWIN"),
        ({"drift_detector": drift.ADWIN(delta=1)}, "detector of unusual parameters"),
        ({"metric": "Kappa"}, "the metric"),
        ({"remove_poor_attrs": True}, "remove_poor_attrs=True"),
        ({"splitter": "Histogram"}, "the splitter HistogramSplitter"),
        ({"nominal_attributes": [0]}, "nominal_attributes"),
        ({"split_criterion": "hellinger"}, "split_criterion='hellinger'"),
        ({"lambda_value": 200}, "unusual"),
        ({"max_features": "third"}, "max_features='third'"),
        ({"memory_estimate_period": 30}, "memory_estimate_period"),
    ],
)
def test_other_forests_are_left_to_river(parameters, reason, rng: np.random.Generator) -> None:
    if "metric" in parameters:
        parameters = {"metric": pytest.importorskip("river.metrics").CohenKappa()}
    if "splitter" in parameters:
        splitters = pytest.importorskip("river.tree.splitter")
        parameters = {"splitter": splitters.HistogramSplitter()}
    X, y = rng.random((60, 2)), rng.integers(0, 2, 60)
    forest = forests.ARFClassifier(2, seed=3, **parameters)
    evaluator = PrequentialEvaluator("accuracy", error_score=np.nan)
    try:
        expected, _ = bare(forest.clone(), X, y)
    except Exception:  # River itself cannot, and says so at its row
        expected = None
    if expected is None:
        with pytest.warns(match="failed|third|error"):
            result = evaluator.evaluate({"f": forest}, X, y)
    else:
        result = evaluator.evaluate({"f": forest}, X, y)
        assert result.predictions("f", every_row=True).tolist()[1:] == expected
    assert reason in result.paths["f"]


def test_subclasses_and_forests_without_a_seed_are_left_to_river() -> None:
    class Own(forests.ARFClassifier):  # type: ignore[name-defined,misc]
        pass

    X, y = stream(80)
    own = {"f": Own(2, seed=0)}
    assert "loop" in PrequentialEvaluator("accuracy").evaluate(own, X, y).paths["f"]
    with pytest.raises(Declined, match="seed=None: give an integer"):
        find(from_river(forests.ARFClassifier(2)))
    with pytest.raises(Declined, match="random_state that is no integer"):
        find(from_river(forests.ARFClassifier(2), random_state=np.random.RandomState(0)))
    seeded = PrequentialEvaluator("accuracy", random_state=5)
    assert seeded.evaluate({"f": forests.ARFClassifier(2)}, X, y).paths == {"f": "kernel"}


def find(estimator: Any) -> Any:
    from skstream.kernels import find_kernel

    return find_kernel(clone(estimator), Task(LABELS))


def test_rows_that_river_takes_otherwise_are_left_to_it(rng: np.random.Generator) -> None:
    X, y = rng.random((9, 2)), rng.integers(0, 3, 9)
    kernel = running(from_river(forests.ARFClassifier(2, seed=0)), Task(LABELS))
    kernel.run(make_block(X, y, "prequential", rng))
    for rows, weight, reason in (
        (np.where(X > 0.9, np.nan, X), None, "NaN|missing|infinity"),
        (X, rng.random(9), "fractional weights"),
        (X > 0.5, None, "floats and integers"),
        (pd.DataFrame(X, columns=[7, 5]), None, "numbers for names"),
        ((10 * X).astype(int), None, "whole numbers before"),
    ):
        with pytest.raises(Declined, match=reason):
            kernel.run(make_block(rows, y, "prequential", rng, weight))


TWINS = {
    "the same": ("k - 1", "k - 1"),
    "another order of draws": (
        "range(n_trees + t, -1, -n_trees)",
        "range(t, 2 * n_trees, n_trees)",
    ),
    "another Poisson draw": ("p *= (high", "p *= 1.0 - (high"),
    "another pool of features": ("_below(twister, n - i)", "_below(twister, n)"),
    "a window checked one value late": (
        "counts[TICK] % int(rule[CLOCK]) == 0",
        "counts[TICK] % int(rule[CLOCK]) == 1",
    ),
    "votes that count the same": ("vote *= share", "vote *= 1.0"),
    "warnings that keep the old tree": ("begin_tree(forest, n_trees + t)", "pass"),
}


@pytest.mark.parametrize("name", TWINS)
def test_broken_twins_are_caught(name, tmp_path, monkeypatch) -> None:
    old, new = TWINS[name]
    source = inspect.getsource(core)
    assert source.count(old) == 1
    path = tmp_path / "twin.py"
    path.write_text(source.replace(old, new))
    spec = importlib.util.spec_from_file_location("twin", path)
    assert spec is not None
    assert spec.loader is not None
    broken = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(broken)
    monkeypatch.setattr(kernel_of_forest, "run_forest", broken.run_forest.uncompiled)
    with np.errstate(all="ignore"):
        assert kernel_of_forest._is_the_same_here(3) == (name == "the same")
    monkeypatch.undo()
    assert kernel_of_forest.why_not_this_river() is None


def test_the_example_of_rivers_docstring() -> None:
    """River's own evaluation of it, and the evaluator: the same warnings and drifts."""
    synth = pytest.importorskip("river.datasets.synth")
    rows = synth.ConceptDriftStream(seed=42, position=500, width=40).take(1000)
    forest = forests.ARFClassifier(seed=8, leaf_prediction="mc")
    mine, literal, path = _river.evaluated_as_by_river(forest, rows)
    assert path == "kernel"
    assert literal.n_warnings_detected() and literal.n_drifts_detected()
    assert mine.n_warnings_detected() == literal.n_warnings_detected()
