"""River's tree by kernel: answers and objects are those of River's own loop, to the last bit."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from skstream import DelayedEvaluator, KFoldEvaluator, PrequentialEvaluator
from skstream.compat import from_river
from skstream.kernels import Declined, Task
from skstream.tree import _arrays as arrays
from skstream.utils._numba import numba_enabled
from tests._examples import examples
from tests.kernels import _river
from tests.kernels._reference import both_ways, make_block, running
from tests.kernels._river import any_case, bare, rows_of, run_both, same, tree_parameters

pytest.importorskip("pandas")
river_tree = pytest.importorskip("river.tree")
river_tree_kernel = pytest.importorskip("skstream.compat._river_tree")
if not numba_enabled():
    pytest.skip("River's tree has a kernel only with numba", allow_module_level=True)
if river_tree_kernel.digest_of_files() not in river_tree_kernel.KNOWN_FILES:
    pytest.skip("the files of this River are not known", allow_module_level=True)

LABELS = np.array(["a", "b", "c"])


def check_law(
    seed: int, timeline: str, method: str, kind: str, is_weighted: bool, most: int = 60
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most))
    X, y = rows_of(kind, n, rng), rng.integers(0, 3, n)
    y[X[:, 0] > X[0, 0]] = 0
    block = make_block(X, y, timeline, rng, rng.random(n) + 0.1 if is_weighted else None)
    model = from_river(river_tree.HoeffdingTreeClassifier(**tree_parameters(rng)))
    task = Task(LABELS, method)
    kernel, literal = run_both(model, block, task, rng)
    if seed % 3:  # River goes on from the kernel's tree, and the kernel from River's
        later = rows_of(kind, 9, rng)
        for one in (kernel, literal):
            one.partial_fit(later, list("abcabcabc"))
        assert same(kernel.model_, literal.model_)
        X = rows_of(kind, 20, rng)
        run_both(kernel, make_block(X, rng.integers(0, 3, 20), timeline, rng), task, rng)


@any_case
@examples(60)
def test_kernel_is_river(seed, timeline, method, kind, is_weighted) -> None:
    check_law(seed, timeline, method, kind, is_weighted)


def test_evaluators_give_rivers_answers_and_objects() -> None:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(1500, 4)), 3)
    y = LABELS[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    tree = river_tree.HoeffdingTreeClassifier(grace_period=50, tau=0.2)
    evaluator = PrequentialEvaluator("accuracy")
    result = evaluator.evaluate({"tree": tree}, X, y, return_models=True)
    assert result.paths["tree"] == "kernel"
    expected, literal = bare(tree.clone(), X, y)
    assert result.predictions("tree", every_row=True).tolist()[1:] == expected
    assert same(result.models["tree"].model_, literal)
    assert literal.n_branches > 2
    for other in (
        KFoldEvaluator("accuracy", n_folds=3, random_state=0),
        DelayedEvaluator("accuracy", delay=40),
    ):
        kernel, loop = both_ways(other, tree, X, y)
        assert kernel.scores == loop.scores


def test_rows_that_come_alone_are_rivers_own_calls() -> None:
    """The kernel is left after some of them, and comes back for a block."""
    rng = np.random.default_rng(4)
    X = np.round(rng.normal(size=(1300, 3)), 3)
    y = LABELS[(X[:, 0] > 0).astype(int)]
    tree = river_tree.HoeffdingTreeClassifier(grace_period=50, tau=0.2)
    run = PrequentialEvaluator("accuracy").start({"tree": tree}, classes=LABELS)
    cuts, kernels, answers = [0, *range(100, 140), 740, *range(741, 801), 1300], [], []
    for begin, end in pairwise(cuts):
        answers.append(run.update(X[begin:end], y[begin:end])["tree"])
        kernels.append(run._engine.models[0].by_kernel.kernel is not None)
    expected, _ = bare(tree.clone(), X, y)
    assert np.concatenate(answers).tolist()[1:] == expected
    at = dict(zip(cuts[1:], kernels, strict=True))
    assert at[100] and not at[139] and at[740] and not at[800] and at[1300]
    assert "the loop is faster where rows come one at a time" in run.result().paths["tree"]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"remove_poor_attrs": True}, "remove_poor_attrs=True"),
        ({"stop_mem_management": True}, "stop_mem_management=True"),
        ({"nominal_attributes": [0]}, "nominal_attributes"),
        ({"split_criterion": "hellinger"}, "split_criterion='hellinger'"),
        ({"delta": 3.0}, "unusual"),
        ({"memory_estimate_period": 30}, "memory_estimate_period"),
    ],
)
def test_other_trees_are_left_to_river(parameters, reason, rng: np.random.Generator) -> None:
    X, y = rng.random((60, 2)), rng.integers(0, 2, 60)
    tree = river_tree.HoeffdingTreeClassifier(**parameters)
    try:
        expected, _ = bare(tree.clone(), X, y)
    except ValueError:  # River itself cannot, and says so at its row
        return
    result = PrequentialEvaluator("accuracy").evaluate({"tree": tree}, X, y)
    assert "loop" in result.paths["tree"]
    assert reason in result.paths["tree"]
    assert result.predictions("tree", every_row=True).tolist()[1:] == expected


def test_rows_that_river_takes_otherwise_are_left_to_it(rng: np.random.Generator) -> None:
    X, y = rng.random((9, 2)), rng.integers(0, 3, 9)
    kernel = running(from_river(river_tree.HoeffdingTreeClassifier()), Task(LABELS))
    kernel.run(make_block(X, y, "prequential", rng))
    for rows, reason in (
        (np.where(X > 0.9, np.nan, X), "NaN|missing|infinity"),
        (X * 1e151, "beyond 1e"),
        (X > 0.5, "floats and integers"),
        ((10 * X).astype(int), "whole numbers before"),
        (X.astype(str).astype(object), "no kernel"),
    ):
        with pytest.raises(Declined, match=reason):
            kernel.run(make_block(rows, y, "prequential", rng))


def test_another_river_has_no_kernel(monkeypatch, rng: np.random.Generator) -> None:
    X, y = rng.random((60, 2)), rng.integers(0, 2, 60)
    tree = river_tree.HoeffdingTreeClassifier()
    evaluator = PrequentialEvaluator("accuracy")
    monkeypatch.setattr(river_tree_kernel, "KNOWN_FILES", {"other"})
    river_tree_kernel.why_not_this_river.cache_clear()
    path = evaluator.evaluate({"tree": tree}, X, y).paths["tree"]
    assert path == (
        "loop: River's tree is called row by row in this version of River, "
        "whose files are not known"
    )
    monkeypatch.undo()
    for name, wrong in (("execute", broken), ("exact_squares", squares_next_to_it)):
        monkeypatch.setattr(river_tree_kernel, name, wrong)
        river_tree_kernel.why_not_this_river.cache_clear()
        path = evaluator.evaluate({"tree": tree}, X, y).paths["tree"]
        assert "where a test tree came out otherwise" in path
        monkeypatch.undo()
    river_tree_kernel.why_not_this_river.cache_clear()


def broken(tree: Any, settings: Any, *args: Any) -> Any:
    """The core with a rule of ours, by which constants exclude classes."""
    rule = settings._replace(river=False, null_gains_nothing=True)
    return arrays.execute(tree, rule._replace(constant_excludes=True), *args)


def squares_next_to_it(x: Any, mean: Any, two: float, out: Any) -> None:
    """Squares that are one bit off."""
    out[:] = np.nextafter(x * x, 0.0)


def test_the_example_of_rivers_docstring() -> None:
    """River's own evaluation of it, and the evaluator; nominal attributes are left to River."""
    synth = pytest.importorskip("river.datasets.synth")
    nominal = ["elevel", "car", "zipcode"]
    tree = river_tree.HoeffdingTreeClassifier(grace_period=100, delta=1e-5)
    for model, path in ((tree, "kernel"), (tree.clone({"nominal_attributes": nominal}), "loop")):
        rows = synth.Agrawal(classification_function=0, seed=42).take(1000)
        assert _river.evaluated_as_by_river(model, rows)[2].partition(":")[0] == path


@pytest.mark.parametrize("name", ["tree", "forest"])
def test_short_streams_are_looped_where_no_machine_code_is_at_hand(name, monkeypatch, rng):
    from skstream.compat import _river_forest
    from skstream.utils import _numba

    core = {"tree": river_tree_kernel.TreeForm, "forest": _river_forest.ForestForm}[name].core
    monkeypatch.delenv(_numba.ALWAYS_COMPILE)
    monkeypatch.setattr(_numba.Jitted, "_is_at_hand", False)
    for attribute in ("_announced", "_expected"):
        monkeypatch.setattr(core, attribute, 0.0)
    forest = pytest.importorskip("river.forest")
    model = {
        "tree": river_tree.HoeffdingTreeClassifier(),
        "forest": forest.ARFClassifier(3, seed=1),
    }
    X, y = rng.normal(size=(120, 2)), rng.integers(0, 2, 120)
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    looped = evaluator.evaluate({"m": model[name]}, X, y)
    words = f"loop: River's {name} is called row by row for so few rows: compiling, once, takes"
    assert looped.paths["m"].startswith(words) and looped.costs["m"].seconds_in_kernel == 0
    refusal = river_tree_kernel.RiverKernel.refusal
    adapted = from_river(model[name])
    with pytest.raises(Declined, match="for so few rows"):
        refusal(adapted, Task(np.array([0, 1]), expected_rows=1000))
    monkeypatch.setenv(_numba.ALWAYS_COMPILE, "1")
    assert evaluator.evaluate({"m": model[name]}, X, y).scores == looped.scores
    monkeypatch.delenv(_numba.ALWAYS_COMPILE)
    assert refusal(adapted, Task(np.array([0, 1]), expected_rows=100_000)) is None
