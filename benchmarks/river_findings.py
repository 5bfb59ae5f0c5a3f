"""Four things that were found in River's trees, reproduced; docs/trees_in_detail.md has the words.

python -m benchmarks.river_findings
"""

import pickle
import random
import sys
from typing import Any

import numpy as np
import river
from river import proba, tree
from river.tree.nodes.hatc_nodes import AdaBranchClassifier

from benchmarks._delayed_streams import feature_names, read_columns
from skstream.tree import HoeffdingTreeClassifier


def splits_of_noise() -> str:
    """Branches of trees that learn one random number and a random label."""
    rng = np.random.default_rng(0)
    X, y = rng.random((20_000, 1)), rng.integers(0, 2, 20_000)
    model = tree.HoeffdingTreeClassifier()
    for x, label in zip(X[:, 0].tolist(), y.tolist(), strict=True):
        model.learn_one({0: x}, label)
    ours = HoeffdingTreeClassifier(pre_prune=True).fit(X, y)
    return f"{model.n_branches} with merit_preprune, {ours.get_n_leaves() - 1} where none gains 0"


def sums_of_probabilities() -> str:
    """Probabilities of a row that is far from all that was learnt."""
    model = tree.HoeffdingTreeClassifier(leaf_prediction="nb")
    for x, label in zip([0.0, 1e-9] * 4, [0, 0, 1, 1] * 2, strict=True):
        model.learn_one({"x": x}, label)
    return str(model.predict_proba_one({"x": 1.0}))


def size_of_a_distribution() -> str:
    """Bytes of a normal distribution, with its generator of random numbers and without."""
    with_one, without = proba.Gaussian(), proba.Gaussian()
    without._rng = None
    sizes = [len(pickle.dumps(one)) for one in (with_one, without, random.Random())]
    return "{} bytes pickled, {} without its generator ({})".format(*sizes)


def nodes_of(root: Any) -> dict[int, tuple[Any, Any, int]]:
    """Branches of a tree, without alternates, each with its parent and its place there."""
    found, waiting = {}, [(root, None, 0)]
    while waiting:
        node, parent, place = waiting.pop()
        if isinstance(node, AdaBranchClassifier):
            found[id(node)] = node, parent, place
            waiting += [(child, node, at) for at, child in enumerate(node.children)]
    return found


def has_alternate_leaf(branch: Any) -> bool:
    """Whether a branch has an alternate that is still a leaf."""
    alternate = branch._alternate_tree
    return alternate is not None and not isinstance(alternate, AdaBranchClassifier)


def replaced_by_a_split() -> str:
    """How often the adaptive tree replaces a subtree because its alternate leaf was split."""
    table = read_columns("electricity")
    columns = [table.column(name).cast("float64").to_numpy() for name in feature_names(table)]
    labels = np.unique(table.column("class").to_pylist(), return_inverse=True)[1].tolist()
    model, n_replaced = tree.HoeffdingAdaptiveTreeClassifier(seed=0), 0
    for row, label in zip(np.column_stack(columns).tolist(), labels, strict=True):
        before, n_switched = nodes_of(model._root), model.n_switch_alternate_trees
        waiting = [one for one in before.values() if has_alternate_leaf(one[0])]
        model.learn_one(dict(enumerate(row)), label)
        if not waiting or model.n_switch_alternate_trees > n_switched:
            continue
        after = nodes_of(model._root)
        for node, parent, place in waiting:
            if parent is None or id(parent) in after:
                now = model._root if parent is None else parent.children[place]
                n_replaced += now is not node and isinstance(now, AdaBranchClassifier)
    n_made, n_switched = model.n_alternate_trees, model.n_switch_alternate_trees
    return (
        f"of {n_made} alternates {n_switched} were switched to by the test, {n_replaced} replaced "
        "the subtree when they were split"
    )


def main() -> None:
    """Print all."""
    print(f"River {river.__version__}, Python {sys.version.split()[0]}")
    print(f"splits of noise: {splits_of_noise()}")
    print(f"probabilities: {sums_of_probabilities()}")
    print(f"a normal distribution: {size_of_a_distribution()}")
    print(f"the adaptive tree on Electricity: {replaced_by_a_split()}")


if __name__ == "__main__":
    main()
