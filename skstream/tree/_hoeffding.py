"""A decision tree that splits a leaf once the Hoeffding bound says which feature is best."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstream.base import ForgetfulFit, check_classes, check_labels, check_rows, check_weight
from skstream.preprocessing._categories import MixedTypes
from skstream.tree._arrays import (
    Rows,
    check_limit,
    copied,
    execute,
    n_bytes,
    new_tree,
    with_nominal,
)
from skstream.tree._core import (
    ADAPTIVE,
    BAYES,
    DEPTH,
    ENTROPY,
    FEATURE,
    FIRST,
    GINI,
    MAJORITY,
    N_NODES,
    N_STATS,
    SECOND,
    THRESHOLD,
)
from skstream.tree._features import Features, Read, read_columns
from skstream.tree._layout import Settings, Tree
from skstream.utils._few_columns import best_columns
from skstream.utils._label_space import LabelSpace
from skstream.utils._sklearn import Interval, StrOptions
from skstream.utils._values import holds_times

Floats = NDArray[np.float64]

_LEAVES = {"mc": MAJORITY, "nb": BAYES, "nba": ADAPTIVE}
_CRITERIA = {"entropy": ENTROPY, "gini": GINI}


class HoeffdingTreeClassifier(ForgetfulFit, ClassifierMixin, BaseEstimator):
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions({*_CRITERIA})],
        "grace_period": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "tau": [Interval(Real, 0, None, closed="left")],
        "leaf_prediction": [StrOptions({*_LEAVES})],
        "max_depth": [Interval(Integral, 0, None, closed="left"), None],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "zero_variance": [StrOptions({"exclude", "ignore"})],
        "pre_prune": ["boolean"],
        "nominal_features": ["array-like", None],
        "max_categories": [Interval(Integral, 2, None, closed="left")],
        "max_bytes": [Interval(Integral, 1, None, closed="left"), None],
    }

    classes_: NDArray[Any]
    tree_: Tree
    columns_: Features
    n_features_in_: int

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

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn rows, one after another.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows, oldest first. Numbers are finite, or missing.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. Required at the first call.
        sample_weight : array-like of shape (n_rows,), default=None
            Non-negative weights. A row of weight 0 is not learnt.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing at the first call, a label is not among them, the rows have
            another width than before, or a column holds texts and numbers.
        """
        self._validate_params()
        X = check_rows(self, X, reset=not hasattr(self, "tree_"))
        y = check_labels(self, y)
        check_consistent_length(X, y)
        weight = check_weight(sample_weight, len(y))
        check_classes(self, classes)
        codes = LabelSpace(self.classes_).encode(y)
        weight = np.ones(len(codes)) if weight is None else weight
        kept = np.flatnonzero(weight > 0)
        if len(kept) == 0:
            return self
        if hasattr(self, "tree_"):
            columns, tree = self.columns_, self.tree_
        else:
            names = getattr(self, "feature_names_in_", None)
            columns, tree = self._begun(self.n_features_in_, names, len(self.classes_))
        read = self._read(columns, X, kept, kept[:0])
        tree = with_nominal(copied(tree), read.features.is_nominal, self.max_bytes)
        self.tree_, _ = execute(
            *(tree, self._settings, self._rows(read, read.learnt), codes[kept], weight[kept]),
            *(Rows(read.asked, False), kept[:0], np.zeros(0, np.bool_), self.max_bytes),
        )
        self.columns_ = read.features
        return self

    def _begun(self, n_features: int, names: Any, n_classes: int) -> tuple[Features, Tree]:
        """Return columns and a tree that have learnt nothing."""
        nominal = self._places_of_nominal(n_features, names)
        columns = Features.of(n_features, nominal, self.max_categories)
        tree = new_tree(n_features, n_classes)
        tree = with_nominal(tree, columns.is_nominal, self.max_bytes)
        check_limit(tree, self.max_bytes)
        return columns, tree

    def _places_of_nominal(self, n_features: int, names: Any) -> list[int]:
        """Positions of the features that are named as nominal."""
        places = []
        for name in [] if self.nominal_features is None else list(self.nominal_features):
            if isinstance(name, Integral) and not isinstance(name, bool):
                place = int(name)
                if not 0 <= place < n_features:
                    raise ValueError(
                        f"nominal_features holds {place}, and the rows have {n_features} columns, "
                        "from 0 on."
                    )
            elif names is None or name not in names:
                known = "no names" if names is None else f"the names {list(names)}"
                raise ValueError(
                    f"nominal_features holds {name!r}, and the columns of X have {known}. Name "
                    "columns of a data frame, or give positions."
                )
            else:
                place = list(names).index(name)
            places.append(place)
        return places

    def _read(self, columns: Features, X: Any, learnt: Any, asked: Any) -> Read:
        """Read rows of one container, of which some are learnt and then others are asked."""
        if sparse.issparse(X):
            X = X.toarray()
        if holds_times(X):
            raise ValueError(
                "X holds dates or durations, which are neither numbers nor categories. Make "
                "numbers of them by skstream.preprocessing.DatetimeFeatures."
            )
        try:
            return read_columns(
                columns,
                [(X, np.arange(X.shape[0]))],
                learnt,
                asked,
                np.full(len(asked), len(learnt)),
            )
        except MixedTypes as error:
            names = getattr(self, "feature_names_in_", None)
            name = str(error.column) if names is None else repr(names[error.column])
            raise ValueError(
                f"Column {name} {error}. Columns hold finite numbers, or categories (texts), one "
                "of the two throughout; missing values are NaN or None."
            ) from None

    def _rows(self, read: Read, numbers: Floats) -> Rows:
        return Rows(numbers, any(one is True for one in read.features.is_nominal))

    @property
    def _settings(self) -> Settings:
        """Parameters as numbers."""
        return Settings(
            leaf=_LEAVES[self.leaf_prediction],
            criterion=_CRITERIA[self.criterion],
            grace_period=float(self.grace_period),
            delta=float(self.delta),
            tau=float(self.tau),
            max_depth=1 << 40 if self.max_depth is None else int(self.max_depth),
            n_splits=int(self.n_splits),
            constant_excludes=self.zero_variance == "exclude",
            null_gains_nothing=bool(self.pre_prune),
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row; of equal ones the lowest.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        codes = best_columns(self.predict_proba(X))
        answers: NDArray[Any] = self.classes_[codes]
        return answers

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probabilities of the classes for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        asked = np.arange(X.shape[0])
        read = self._read(self.columns_, X, asked[:0], asked)
        _, shares = execute(
            *(self.tree_, self._settings, Rows(read.learnt, False), asked[:0], np.zeros(0)),
            *(self._rows(read, read.asked), np.zeros_like(asked), np.zeros(len(asked), np.bool_)),
        )
        return shares

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            At least 1.
        """
        check_is_fitted(self)
        return int((self.tree_.nodes[: self.tree_.counts[N_NODES], FEATURE] < 0).sum())

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
            Digits of thresholds after the point.

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
        answer = f"{self.classes_[weights.argmax()]} ({weights.sum():.6g})"
        return f": {answer}" if is_behind_rule else answer

    def _branches(self, node: int, names: Any, decimals: int) -> list[tuple[int, str]]:
        """Children of a node, each with the rule that leads there."""
        feature, first, second = self.tree_.nodes[node, [FEATURE, FIRST, SECOND]].tolist()
        if not self.columns_.is_nominal[feature]:
            threshold = f"{self.tree_.values[node, THRESHOLD]:.{decimals}f}"
            return [
                (first, f"{names[feature]} <= {threshold}"),
                (second, f"{names[feature]} > {threshold}"),
            ]
        codes = self.columns_.codes[feature]
        values = dict(zip(codes.values(), codes, strict=True))
        children = self.tree_.branches[first : first + second].tolist()
        return [
            (child, f"{names[feature]} = {values.get(code, 'another one')}")
            for code, child in enumerate(children)
            if child >= 0
        ]

    def __sklearn_is_fitted__(self) -> bool:
        # Rows of weight 0 set the classes, but nothing is learnt yet.
        return hasattr(self, "tree_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags
