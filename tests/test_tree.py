"""Hoeffding trees: when they split, how leaves answer, categories, gaps, memory, messages."""

import math
from datetime import date
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from skstream.tree import HoeffdingTreeClassifier
from skstream.tree._arrays import n_bytes
from tests._examples import newest_alone


def tree_of(X: Any, y: Any, **parameters: Any) -> HoeffdingTreeClassifier:
    return HoeffdingTreeClassifier(**parameters).fit(X, y)


def frame(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


@pytest.mark.parametrize(("n", "splits"), [(40, False), (52, True)])
def test_a_leaf_splits_once_the_bound_says_so(n, splits) -> None:
    """The best feature gains 1 bit, the second none: sqrt(ln(1/delta) / 2n) has to be below 1."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * (n // 4))
    y = X[:, 0].astype(int)
    bound = math.sqrt(math.log(1 / 1e-42) / (2 * n))
    assert (bound < 1) == splits
    tree = tree_of(X, y, grace_period=n, delta=1e-42, tau=0)
    assert tree.get_n_leaves() == (2 if splits else 1)
    # With a tau above the bound the two need not differ.
    assert tree_of(X, y, grace_period=n, delta=1e-42, tau=2.0).get_n_leaves() == 2


def test_nothing_is_gained_where_features_say_nothing() -> None:
    X = np.array([[0.0], [1.0]] * 200)
    y = np.repeat([0, 1], 2).tolist() * 100
    assert tree_of(X, y, grace_period=100, tau=0, pre_prune=True).get_n_leaves() == 1


def test_noise_is_split_without_pre_pruning_only(rng: np.random.Generator) -> None:
    """The second best of one feature is not to split."""
    X, y = rng.random((4000, 1)), rng.integers(0, 2, 4000)
    assert tree_of(X, y, tau=0).get_n_leaves() > 10
    assert tree_of(X, y, tau=0, pre_prune=True).get_n_leaves() == 1


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_the_purest_of_two_features_is_taken(criterion, rng: np.random.Generator) -> None:
    y = rng.integers(0, 2, 2000)
    X = np.column_stack([y + rng.normal(0, 1, 2000), y + rng.normal(0, 0.2, 2000)])
    tree = tree_of(X, y, criterion=criterion, grace_period=100, max_depth=1)
    assert tree.export_text().startswith("x1 <= ")
    assert tree.get_depth() == 1


def test_naive_bayes_by_hand() -> None:
    X = np.array([[1.0, 5.0], [3.0, 5.0], [4.0, 5.0], [6.0, 7.0], [9.0, 7.5]])
    y = ["a", "a", "a", "b", "b"]
    tree = tree_of(X, y, leaf_prediction="nb", zero_variance="ignore")
    row = [[5.0, 6.0]]
    of_a = 3 / 5 * norm.pdf(5, np.mean([1, 3, 4]), np.std([1, 3, 4], ddof=1))  # constant: no vote
    of_b = 2 / 5 * norm.pdf(5, 7.5, np.std([6, 9], ddof=1))
    of_b *= norm.pdf(6, 7.25, np.std([7, 7.5], ddof=1))
    np.testing.assert_allclose(tree.predict_proba(row), [[of_a, of_b] / (of_a + of_b)])
    # In class a the second feature was always 5, so that a row with another value is of class b.
    excluding = tree_of(X, y, leaf_prediction="nb")
    assert excluding.predict_proba(row).tolist() == [[0.0, 1.0]]
    assert excluding.predict([[5.0, 5.0]]).tolist() == ["a"]
    # Where every class is excluded, the shares of the classes are left.
    both = tree_of([[1.0], [2.0]], ["a", "b"], leaf_prediction="nb")
    assert both.predict_proba([[3.0]]).tolist() == [[0.5, 0.5]]


def test_categories_and_gaps_by_hand() -> None:
    X = frame({"c": ["x", "x", "y", None, "x"], "n": [1.0, 2.0, 4.0, 6.0, np.nan]})
    y = ["a", "a", "a", "b", "b"]
    tree = tree_of(X, y, leaf_prediction="nb", zero_variance="ignore")
    of_a, of_b = 3 / 5 * (2 + 1) / (3 + 2), 2 / 5 * (1 + 1) / (1 + 2)
    asked = frame({"c": ["x", "new", None], "n": [np.nan] * 3})
    expected = [[of_a / (of_a + of_b), of_b / (of_a + of_b)], [0.6, 0.4], [0.6, 0.4]]
    np.testing.assert_allclose(tree.predict_proba(asked), expected)


def test_a_nominal_feature_has_a_branch_for_each_category(rng: np.random.Generator) -> None:
    colour = rng.choice(["red", "green", "blue"], 900)
    X = frame({"size": rng.random(900), "colour": colour.astype(object)})
    y = np.where(colour == "blue", 1, 0)
    tree = tree_of(X, y, grace_period=300)
    assert sorted(line.split(":")[0] for line in tree.export_text().splitlines()) == [
        *("colour = blue", "colour = green", "colour = red")
    ]
    asked = frame({"size": [0.5] * 4, "colour": ["blue", "red", "pink", None]})
    heaviest = max(set(colour), key=colour.tolist().count) == "blue"
    assert tree.predict(asked).tolist() == [1, 0, int(heaviest), int(heaviest)]
    pink = frame({"size": [0.5] * 3, "colour": ["pink"] * 3})
    tree.partial_fit(pink, [1, 1, 1])
    assert "colour = pink: 1 (3)" in tree.export_text()
    assert tree.predict(pink).tolist() == [1, 1, 1]


def test_too_many_categories_are_one() -> None:
    X = np.array([[f"c{k}"] for k in range(8)] * 100, dtype=object)
    y = [k % 2 for k in range(8)] * 100
    tree = tree_of(X, y, grace_period=400, max_categories=5)
    assert tree.get_n_leaves() == 5
    assert "another one" in tree.export_text()
    assert tree.predict([["c0"], ["c3"]]).tolist() == [0, 1]
    before = tree.columns_.codes
    tree.set_params(max_categories=2).partial_fit(X[:9], y[:9])  # for the next fit
    assert tree.columns_.codes == before
    assert tree.fit(X, y).columns_.codes == ({"c0": 0},)


@newest_alone
def test_memory_stays_below_the_limit_and_the_tree_goes_on_learning(rng):
    X = rng.random((20_000, 4))
    y = (np.floor(X[:, 0] * 4) + np.floor(X[:, 1] * 4)).astype(int) % 3
    sizes = {}
    for limit in (None, 60_000, 20_000):
        tree = HoeffdingTreeClassifier(grace_period=50, tau=0.2, max_bytes=limit)
        for begin in range(0, len(X), 1000):
            rows = slice(begin, begin + 1000)
            tree.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
            assert limit is None or tree.get_n_bytes() <= limit
        assert tree.get_n_bytes() == n_bytes(tree.tree_)
        sizes[limit] = tree.get_n_leaves(), tree.score(X, y)
    assert sizes[None][0] > sizes[60_000][0] > sizes[20_000][0] > 2
    assert sizes[None][1] > sizes[20_000][1] > 0.4
    with pytest.raises(ValueError, match=r"max_bytes=100 is too little: for 4 features"):
        tree_of(X, y, max_bytes=100)


def test_weights_count_as_rows_and_zero_weights_not_at_all(rng: np.random.Generator) -> None:
    X, y = rng.random((300, 2)), rng.integers(0, 2, 300)
    weight = rng.integers(0, 3, 300).astype(float)
    model = HoeffdingTreeClassifier(leaf_prediction="nb", max_depth=0)
    weighted = model.fit(X, y, sample_weight=weight).predict_proba(X)
    repeated = model.fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    np.testing.assert_allclose(weighted, repeated.predict_proba(X), rtol=1e-9)
    nothing = HoeffdingTreeClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=0 * weight)
    assert not hasattr(nothing, "tree_")


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([["a"], [3]], "Column 0 holds 3, a number, but earlier rows had 'a', a text"),
        (np.array([[3.5], ["a"]], dtype=object), "Column 0 holds 'a', a text"),
        ([[1.0], [np.inf]], "infinite|infinity"),
        (np.array([["2020-01-01"]] * 2, dtype="datetime64[D]"), "DatetimeFeatures"),
        (np.array([[[1]], [[2]]], dtype=object)[:, :, 0], None),
        (np.array([[10**400], [1]], dtype=object), "64 bits"),
        (np.array([[date(2020, 1, 1)], [1]], dtype=object), "neither a number nor a category"),
    ],
)
def test_bad_rows_get_a_sentence(X, said) -> None:
    X = np.array(X, dtype=object) if isinstance(X, list) and isinstance(X[0][0], str) else X
    if said is None:
        tree_of(X, [0, 1])
        return
    with pytest.raises(ValueError, match=said):
        tree_of(X, [0, 1])


def test_a_tree_is_the_same_in_any_pieces_and_when_saved() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.random((3000, 3)), rng.integers(0, 2, 3000)
    y[X[:, 0] > 0.5] = 1
    whole = tree_of(X, y, grace_period=50, tau=0.3)
    parts = HoeffdingTreeClassifier(grace_period=50, tau=0.3)
    for rows in np.array_split(np.arange(3000), 7):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert whole.export_text() == parts.export_text()
    assert whole.get_n_leaves() > 2
    np.testing.assert_array_equal(whole.predict_proba(X), parts.predict_proba(X))
    before = parts.tree_
    copy = [array.copy() for array in before]
    parts.partial_fit(X[:500], y[:500])
    assert all(map(np.array_equal, before, copy))  # what others hold does not change


def test_names_of_the_rules() -> None:
    X = np.array([[0.0], [1.0]] * 300)
    tree = tree_of(X, ["no", "yes"] * 300)
    assert tree.export_text(feature_names=["temp"], decimals=1).startswith("temp <= 0.")
    with pytest.raises(ValueError, match="feature_names has 2 names, but the tree has 1 features"):
        tree.export_text(feature_names=["a", "b"])
    assert tree_of(X[:10], ["no", "yes"] * 5).export_text() == "no (10)"


def test_numbers_in_lists_with_texts_stay_numbers(rng: np.random.Generator) -> None:
    numbers = rng.normal(size=1200)
    X, y = [["a", float(number)] for number in numbers], (numbers > 0).astype(int)
    tree = HoeffdingTreeClassifier().fit(X[:800], y[:800])
    assert tree.columns_.is_nominal == (True, False)
    assert (tree.predict(X[800:]) == y[800:]).mean() > 0.95


def test_probabilities_sum_to_one_where_logarithms_are_huge() -> None:
    """Beside a logarithm of -1e17, log(2) is lost."""
    X, y = np.array([[0.0], [1e-9]] * 4), [0, 0, 1, 1] * 2
    tree = tree_of(X, y, leaf_prediction="nb")
    np.testing.assert_allclose(tree.predict_proba([[1.0]]), [[0.5, 0.5]])


def test_the_text_of_a_tree_keeps_its_lines_and_small_thresholds(rng: np.random.Generator) -> None:
    X = rng.random((2000, 1)) * 1e-5
    labels = np.where(X[:, 0] > 5e-6, "b\n| fake: c (9)", "a")
    text = tree_of(X, labels, max_depth=1).export_text(feature_names=["x\ny"])
    first, second = text.splitlines()
    assert first.startswith("'x\\ny' <= 5.5e-06: a (")
    assert "'b\\n| fake: c (9)'" in second
    with pytest.raises(ValueError, match="decimals must be a whole number"):
        tree_of(X, labels).export_text(decimals=-1)


def test_numbers_are_categories_where_the_user_says_so(rng: np.random.Generator) -> None:
    X = frame({"code": rng.integers(0, 4, 800), "x": rng.random(800)})
    y = (X["code"] % 2).to_numpy()
    for named in (["code"], [0]):
        tree = tree_of(X, y, grace_period=200, nominal_features=named)
        assert tree.get_n_leaves() == 4
        assert (tree.predict(X) == y).all()
    for wrong, said in ((["z"], "'z'"), ([2], "2 columns"), ([-1], "-1")):
        with pytest.raises(ValueError, match=f"nominal_features holds .*{said}|{said}"):
            tree_of(X, y, nominal_features=wrong)
