"""A decision tree that splits a leaf once the Hoeffding bound says which feature is best."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skstream.tree._arrays import (
    Rows,
    Tree,
    check_limit,
    copied,
    execute,
    n_bytes,
    n_leaves,
    new_tree,
    with_nominal,
)
from skstream.tree._base import Bools, Codes, Floats, Read, TreeLearner
from skstream.tree._core import DEPTH, FEATURE, FIRST, N_NODES, N_STATS, SECOND, THRESHOLD
from skstream.utils._choices import is_integer


class HoeffdingTreeClassifier(TreeLearner):
    """Hoeffding tree: a decision tree trained row by row, without storing rows.

    A leaf counts the classes and tracks the distribution of each feature within them. From time to
    time it determines which feature would give the purest split, and splits if, by Hoeffding's
    bound, the best one is so far ahead of the second that more rows would not change the order, or
    if the two are practically equal (Domingos and Hulten 2000). Leaves predict the majority, use
    naive Bayes, or whichever of the two has been right more often at the leaf (Gama, Rocha and
    Medas 2003; Holmes, Kirkby and Pfahringer 2005).

    Parameters
    ----------
    criterion : {"entropy", "gini"}, default="entropy"
        Measure of purity: information gain, or Gini impurity.
    grace_period : float, default=200
        Training weight at a leaf between two attempts to split.
    delta : float, default=1e-7
        Allowed probability of a wrong choice at an attempt, above 0 and below 1.
    tau : float, default=0.05
        Features count as equally good if the bound is below this.
    leaf_prediction : {"nba", "nb", "mc"}, default="nba"
        How leaves predict: "mc" the majority class, "nb" naive Bayes, "nba" whichever of the two
        has been right for more weight at the leaf.
    max_depth : int, default=None
        Greatest depth of a leaf; the root has depth 0. None: no limit.
    n_splits : int, default=10
        Number of thresholds tried for a numeric feature, evenly spaced over its range.
    zero_variance : {"exclude", "ignore"}, default="exclude"
        How naive Bayes treats a feature with a single value in a class at a leaf. "exclude": a row
        with another value is not of this class; "ignore": the feature is ignored for this class.
    pre_prune : bool, default=False
        Whether "no split" is a candidate with gain 0: then a split must be better than none by the
        bound (or by `tau`), so a tree grown on noise stays small. Otherwise it must only be better
        than the second feature, as in MOA and River, and the tree grows faster.
    nominal_features : sequence of str or int, default=None
        Numeric columns to treat as categories, by name or position. Text columns, and categorical
        columns of data frames, are always nominal. Applies from the next ``fit`` on.
    max_categories : int, default=256
        Largest number of distinct categories in a column; all later ones count as one. Applies from
        the next ``fit`` on.
    max_bytes : int, default=None
        Memory limit for the tree and its working arrays. When it is reached, unpromising leaves
        (where the majority is wrong on few rows) stop tracking features, and finally no leaf is
        split any more. None: no limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    tree_ : tuple of ndarray
        Nodes, and statistics of the leaves.
    columns_ : tuple
        The nominal columns, and the codes of their categories.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where all of them are strings.

    See Also
    --------
    skstream.compat.from_river : River's trees as estimators.
    skstream.ensemble.OnlineBagging : Bagging of trees.
    sklearn.tree.DecisionTreeClassifier : A tree fitted on all rows at once.

    Notes
    -----
    Numeric features are modelled as normal within a class: a leaf keeps weight, mean, variance,
    smallest and largest value. A nominal feature splits into one branch per category; naive Bayes
    adds one to the count of every category (Laplace's rule). A missing value (NaN, None) is ignored
    in training and voting, and takes the branch with most rows, as does an unknown category.

    A leaf is not split if one class has more than 99 % of the weight, and only if at least two
    parts have more than 1 %.

    A row of weight w counts as w rows. Predictions depend only on the rows and their order.

    References
    ----------
    .. [1] Domingos and Hulten, "Mining high-speed data streams", KDD 2000.
    .. [2] Gama, Rocha and Medas, "Accurate decision trees for mining high-speed data streams",
       KDD 2003.
    .. [3] Holmes, Kirkby and Pfahringer, "Stress-testing Hoeffding trees", PKDD 2005.

    Examples
    --------
    >>> from skstream.tree import HoeffdingTreeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 500, ["low", "low", "high", "high"] * 500
    >>> tree = HoeffdingTreeClassifier().fit(X, y)
    >>> print(tree.export_text())
    x0 <= 1.09: low (1000)
    x0 > 1.09: high (1000)
    >>> tree.get_n_leaves(), tree.get_depth()
    (2, 1)
    """

    _model_name = "tree_"
    tree_: Tree

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        grace_period: float = 200,
        delta: float = 1e-7,
        tau: float = 0.05,
        leaf_prediction: str = "nba",
        max_depth: int | None = None,
        n_splits: int = 10,
        zero_variance: str = "exclude",
        pre_prune: bool = False,
        nominal_features: Sequence[Any] | None = None,
        max_categories: int = 256,
        max_bytes: int | None = None,
    ):
        self.criterion = criterion
        self.grace_period = grace_period
        self.delta = delta
        self.tau = tau
        self.leaf_prediction = leaf_prediction
        self.max_depth = max_depth
        self.n_splits = n_splits
        self.zero_variance = zero_variance
        self.pre_prune = pre_prune
        self.nominal_features = nominal_features
        self.max_categories = max_categories
        self.max_bytes = max_bytes

    def _new_model(self, n_features: int, n_classes: int) -> Tree:
        tree = new_tree(n_features, n_classes)
        check_limit(tree, self.max_bytes)
        return tree

    def _executed(
        self, model: Tree, read: Read, y: Codes, weight: Floats, stamp: Codes, is_next: Bools
    ) -> tuple[Tree, Floats]:
        nominal = read.features.is_nominal
        if len(y):
            model = copied(model)
        model = with_nominal(model, nominal, self.max_bytes)
        learnt = asked = Rows.of(read.learnt, True in nominal)
        if read.asked is not read.learnt:
            asked = Rows.of(read.asked, True in nominal)
        return execute(
            *(model, self._settings, learnt, y, weight),
            *(asked, stamp, is_next, self.max_bytes),
        )

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            At least 1.
        """
        check_is_fitted(self)
        return n_leaves(self.tree_)

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf.

        Returns
        -------
        int
            0 if the root is a leaf.
        """
        check_is_fitted(self)
        return int(self.tree_.nodes[: self.tree_.counts[N_NODES], DEPTH].max())

    def get_n_bytes(self) -> int:
        """Return the memory that `max_bytes` limits.

        Returns
        -------
        int
            Bytes of the tree and of its working arrays.
        """
        check_is_fitted(self)
        return n_bytes(self.tree_)

    def export_text(self, *, feature_names: Sequence[str] | None = None, decimals: int = 2) -> str:
        """Return the rules of the tree as text.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            Names of the features. None: those of the training data frame, or x0, x1, ...
        decimals : int, default=2
            Digits of thresholds after the point; for small ones, significant digits.

        Returns
        -------
        str
            A line for each branch; after a leaf its majority, and its training weight.
        """
        check_is_fitted(self)
        names = feature_names
        if names is None:
            default = [f"x{place}" for place in range(self.n_features_in_)]
            names = getattr(self, "feature_names_in_", default)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"feature_names has {len(names)} names, but the tree has {self.n_features_in_} "
                "features."
            )
        if not is_integer(decimals) or decimals < 0:
            raise ValueError(f"decimals must be a whole number of at least 0. Got {decimals!r}.")
        lines: list[str] = []
        waiting = [(0, "", 0)]
        while waiting:
            node, rule, depth = waiting.pop()
            is_leaf = self.tree_.nodes[node, FEATURE] < 0
            if rule or is_leaf:
                lines.append("|   " * max(depth - 1, 0) + rule + self._answer_at(node, bool(rule)))
            below = [] if is_leaf else self._branches(node, names, decimals)
            waiting += [(child, branch, depth + 1) for child, branch in reversed(below)]
        return "\n".join(lines)

    def _answer_at(self, node: int, is_behind_rule: bool) -> str:
        """Majority and weight of a leaf; nothing of a branch."""
        if self.tree_.nodes[node, FEATURE] >= 0:
            return ""
        known = self.tree_.orders[node, : self.tree_.nodes[node, N_STATS]]
        weights = np.zeros(len(self.classes_))
        weights[known] = self.tree_.stats[node, known]
        answer = f"{_in_a_line(self.classes_[weights.argmax()])} ({weights.sum():.6g})"
        return f": {answer}" if is_behind_rule else answer

    def _branches(self, node: int, names: Any, decimals: int) -> list[tuple[int, str]]:
        """Children of a node, each with the rule that leads there."""
        feature, first, second = self.tree_.nodes[node, [FEATURE, FIRST, SECOND]].tolist()
        name = _in_a_line(names[feature])
        if not self.columns_.is_nominal[feature]:
            threshold = self.tree_.values[node, THRESHOLD]
            is_small = 0 < abs(threshold) < 10.0 ** (1 - decimals)
            shown = f"{threshold:.{max(decimals, 1)}g}" if is_small else f"{threshold:.{decimals}f}"
            return [(first, f"{name} <= {shown}"), (second, f"{name} > {shown}")]
        codes = self.columns_.codes[feature]
        values = dict(zip(codes.values(), codes, strict=True))
        children = self.tree_.branches[first : first + second].tolist()
        return [
            (child, f"{name} = {_in_a_line(values.get(code, 'another one'))}")
            for code, child in enumerate(children)
            if child >= 0
        ]


def _in_a_line(value: Any) -> str:
    """Name, label or category as text; in quotes if it is empty or breaks lines."""
    text = str(value)
    return text if text.strip() and text.isprintable() else repr(text)
