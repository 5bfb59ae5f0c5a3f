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
    """A decision tree that learns row by row, and keeps no rows.

    A leaf counts the classes, and how the features are distributed in each. From time to time it
    asks which feature would make the purest parts, and splits if the best one is so far ahead of
    the second that more rows would not change the order, by Hoeffding's bound, or if the two are as
    good as equal (Domingos and Hulten 2000). Leaves answer by the majority, by naive Bayes, or by
    what has been right more often at the leaf (Gama, Rocha and Medas 2003; Holmes, Kirkby and
    Pfahringer 2005).

    Parameters
    ----------
    criterion : {"entropy", "gini"}, default="entropy"
        How pure a part is: by information gain, or by Gini impurity.
    grace_period : float, default=200
        Weight that a leaf learns between two attempts to split.
    delta : float, default=1e-7
        Probability of a wrong choice that is allowed at an attempt, above 0 and below 1.
    tau : float, default=0.05
        Features are as good as equal where the bound is below it.
    leaf_prediction : {"nba", "nb", "mc"}, default="nba"
        How leaves answer: "mc" by their majority, "nb" by naive Bayes, "nba" by the one of the two
        that has been right for more weight at the leaf.
    max_depth : int, default=None
        Greatest depth of a leaf; the root has depth 0. None: no limit.
    n_splits : int, default=10
        Number of thresholds tried for a numeric feature, evenly spaced over its range.
    zero_variance : {"exclude", "ignore"}, default="exclude"
        What naive Bayes makes of a feature that has had one value only in a class at a leaf. With
        "exclude" a row with another value is not of this class; with "ignore" the feature has no
        vote for this class.
    pre_prune : bool, default=False
        Whether not to split is a candidate that gains nothing: then a split has to be better than
        none by the bound (or by `tau`), so that a tree of noise stays small. Without, it only has
        to be better than the second feature, as in MOA and River, and the tree grows faster.
    nominal_features : sequence of str or int, default=None
        Columns whose values are categories, by name or position, although they are numbers. Columns
        of texts, and categorical columns of data frames, are nominal without being named. Applies
        from the next ``fit`` on.
    max_categories : int, default=256
        Categories that are told apart in a column; those that come when they are used up are one.
        Applies from the next ``fit`` on.
    max_bytes : int, default=None
        Memory for the tree and what is formed from it while it works. When it is used up, leaves
        that promise little (few rows are wrong there by the majority) watch the features no more,
        and at last no leaf is split any more. None: no limit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    tree_ : tuple of ndarray
        Nodes, and statistics of the leaves.
    columns_ : tuple
        Which columns are nominal, and the codes of their categories.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where all of them are strings.

    See Also
    --------
    skstream.compat.from_river : River's trees as estimators.
    skstream.ensemble.OnlineBagging : A bag of trees.
    sklearn.tree.DecisionTreeClassifier : A tree of rows that are learnt at once.

    Notes
    -----
    The numbers of a feature in a class are taken as normally distributed: a leaf keeps weight,
    mean, variance, smallest and largest value. A nominal feature splits into one branch for each
    category; naive Bayes counts every category once more than it has come (Laplace's rule). A
    missing value (NaN, None) has no vote, is not learnt, and takes the branch that most rows have
    come to, as does an unknown category.

    A leaf is not split where one class has more than 99 % of the weight; and only into parts of
    which two have more than 1 %.

    A row of weight w counts as w rows. Answers depend on the order of the rows, on nothing else.

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
            0 where the root is a leaf.
        """
        check_is_fitted(self)
        return int(self.tree_.nodes[: self.tree_.counts[N_NODES], DEPTH].max())

    def get_n_bytes(self) -> int:
        """Return the memory that `max_bytes` limits.

        Returns
        -------
        int
            Bytes of the tree, and of what is formed from it while it works.
        """
        check_is_fitted(self)
        return n_bytes(self.tree_)

    def export_text(self, *, feature_names: Sequence[str] | None = None, decimals: int = 2) -> str:
        """Return the rules of the tree as text.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            Names of the features. None: those of the data frame that was learnt, or x0, x1, ...
        decimals : int, default=2
            Digits of thresholds after the point; of small ones, significant digits.

        Returns
        -------
        str
            A line for each branch; behind a leaf its majority, and the weight that it has learnt.
        """
        check_is_fitted(self)
        names = feature_names
        if names is None:
            default = [f"x{place}" for place in range(self.n_features_in_)]
            names = getattr(self, "feature_names_in_", default)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"feature_names has {len(names)} names, and the tree has "
                f"{self.n_features_in_} features."
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
