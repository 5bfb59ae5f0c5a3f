"""Each generator against the definition of its source."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

from skstream.streams import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    Drift,
    MarkovLabels,
    RandomRBF,
    RandomTree,
    RotatingHyperplane,
    Sine,
    Waveform,
    label_profile,
)


def test_sea():
    stream = SEA(4000, noise=0)
    X, y = stream.rows(0, 4000)
    thresholds = np.repeat([8, 9, 7, 9.5], 1000)
    assert np.array_equal(y, X[:, 0] + X[:, 1] > thresholds)
    assert stream.drifts == (Drift(1000, 1000), Drift(2000, 2000), Drift(3000, 3000))
    noisy = SEA(4000, noise=0.1).rows(0, 4000)[1]
    assert 0.08 < np.mean(noisy != y) < 0.12
    assert SEA(noise=0.9).bayes_error() == pytest.approx(0.1)


def test_stagger():
    stream = STAGGER(3000)
    X, y = stream.rows(0, 3000)
    size, colour, shape = X.T
    assert [set(column) for column in (size, colour, shape)] == [{0, 1, 2}] * 3
    rules = [(size == 0) & (colour == 0), (colour == 1) | (shape == 0), size >= 1]
    assert np.array_equal(y, np.choose(np.repeat([0, 1, 2], 1000), rules))
    shares = [y[part : part + 1000].mean() for part in (0, 1000, 2000)]
    assert shares == pytest.approx([1 / 9, 5 / 9, 2 / 3], abs=0.05)
    assert stream.drifts == (Drift(1000, 1000), Drift(2000, 2000))
    assert STAGGER(900, functions=(1, 1, 2)).drifts == (Drift(600, 600),)
    assert stream.bayes_error() == 0


def test_sine():
    stream = Sine(4000, functions=(1, 2, 3, 4), n_irrelevant=2)
    X, y = stream.rows(0, 4000)
    x, height = X[:, 0], X[:, 1]
    below = [height < np.sin(x), height < 0.5 + 0.3 * np.sin(3 * np.pi * x)]
    rules = [below[0], ~below[0], below[1], ~below[1]]
    assert np.array_equal(y, np.choose(np.repeat([0, 1, 2, 3], 1000), rules))
    # The area below the curves: 1 - cos(1), and .5 + .2 / pi.
    shares = [0.4597, 1 - 0.4597, 0.5637, 1 - 0.5637]
    assert y.reshape(4, 1000).mean(axis=1) == pytest.approx(shares, abs=0.05)
    assert stream.drifts == tuple(Drift(row, row) for row in (1000, 2000, 3000))


SEGMENTS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"


def test_led():
    segments = np.array([[int(c) for c in word] for word in SEGMENTS.split()])
    X, y = LED(20_000, noise=0).rows(0, 20_000)
    assert np.array_equal(X[:, :7], segments[y])
    assert np.bincount(y) / 20_000 == pytest.approx(np.full(10, 0.1), abs=0.01)
    assert X[:, 7:].mean(axis=0) == pytest.approx(np.full(17, 0.5), abs=0.02)
    noisy = LED(20_000).rows(0, 20_000)[0][:, :7]
    assert (noisy != segments[y]).mean(axis=0) == pytest.approx(np.full(7, 0.1), abs=0.01)


def test_features_of_led_change_places():
    stream = LED(3000, n_drifting=(0, 3, 7), noise=0, n_irrelevant=40)
    X, _ = stream.rows(0, 3000)
    still, _ = LED(3000, noise=0, n_irrelevant=40).rows(0, 3000)
    for concept, n_drifting in enumerate((0, 3, 7)):
        part = slice(1000 * concept, 1000 * (concept + 1))
        moved = np.flatnonzero((X[part] != still[part]).any(axis=0))
        assert (moved < 7).sum() == (moved >= 7).sum() == n_drifting
        # No feature is lost, and none is there twice.
        columns = [sorted(map(tuple, rows[part].T.tolist())) for rows in (X, still)]
        assert columns[0] == columns[1]
    assert stream.drifts == (Drift(1000, 1000), Drift(2000, 2000))


def test_bayes_error_of_led():
    stream = LED(200_000, n_irrelevant=0)
    X, y = stream.rows(0, 200_000)
    counts = np.zeros((128, 10), dtype=int)
    np.add.at(counts, (X.astype(int) @ 2 ** np.arange(7), y), 1)
    # The error of the best table, which knows the rows, is only a little too low.
    assert stream.bayes_error() == pytest.approx(1 - counts.max(axis=1).sum() / 200_000, abs=4e-3)
    assert stream.bayes_error() == pytest.approx(0.26, abs=5e-4)
    assert LED(noise=0).bayes_error() == 0
    assert LED(noise=0.5).bayes_error() == pytest.approx(0.9)


def in_group_a(function, row):
    """The source's ten rules, for one row."""
    salary, commission, age, elevel, _, _, hvalue, hyears, loan = row
    group = 0 if age < 40 else 1 if age < 60 else 2
    money = {1: (50, 100), 2: (75, 125), 3: (25, 75)}
    k = 1000
    if function == 1:
        return group != 1
    if function in (2, 6):
        low, high = money[group + 1]
        return low * k <= salary + (commission if function == 6 else 0) <= high * k
    if function == 3:
        return elevel in ({0, 1}, {1, 2, 3}, {2, 3, 4})[group]
    if function == 4:
        known = elevel in ({0, 1}, {1, 2, 3}, {2, 3, 4})[group]
        low, high = money[((1, 3), (2, 1), (3, 1))[group][known]]
        return low * k <= salary <= high * k
    if function == 5:
        low, high = money[group + 1]
        known = low * k <= salary <= high * k
        low = ((2, 1), (3, 2), (1, 3))[group][known] * 100 * k
        return low <= loan <= low + 200 * k
    equity = hvalue * (hyears - 20) / 10 if hyears >= 20 else 0
    left = 0.67 * (salary + commission)
    left -= {7: loan / 5 + 20 * k, 8: 5 * k * elevel + 20 * k}.get(function, 0)
    left -= {9: 5 * k * elevel + loan / 5 + 10 * k}.get(function, 0)
    left -= {10: 5 * k * elevel - equity / 5 + 10 * k}.get(function, 0)
    return left > 0


def test_agrawal():
    X, y = Agrawal(3000, functions=range(1, 11)).rows(0, 3000)
    groups = [in_group_a(1 + row // 300, values) for row, values in enumerate(X.tolist())]
    assert np.array_equal(y == 0, groups)
    salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan = X.T
    assert set(elevel) == set(range(5))
    assert set(car) == set(range(1, 21))
    assert set(zipcode) == set(range(9))
    assert set(age) == set(range(20, 81))
    assert set(hyears) == set(range(1, 31))
    assert np.all((commission == 0) == (salary >= 75_000))
    for column, low, high in [
        (salary, 20_000, 150_000),
        (commission[commission > 0], 10_000, 75_000),
        (hvalue / (9 - zipcode), 50_000, 150_000),
        (loan, 0, 500_000),
    ]:
        assert low <= column.min() < low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) < column.max() <= high


def test_perturbation_of_agrawal():
    X, y = Agrawal(2000).rows(0, 2000)
    moved_X, same_y = Agrawal(2000, perturbation=0.1).rows(0, 2000)
    assert np.array_equal(y, same_y)
    largest = np.abs(moved_X - X).max(axis=0)
    half = 0.05 * np.array([130_000, 65_000, 60, 0, 0, 0, 1_300_000, 29, 500_000])
    assert np.all(largest <= half + 1e-6)
    assert np.all(largest >= 0.95 * half)
    assert np.all(moved_X[X[:, 1] == 0, 1] == 0)
    assert Agrawal().bayes_error() == 0
    assert Agrawal(perturbation=0.1).bayes_error() is None


def test_hyperplane():
    stream = RotatingHyperplane(20_000, n_features=4, noise=0)
    X, y = stream.rows(0, 20_000)
    weights = stream.weights(0, 20_000)
    assert np.array_equal(y, (X * weights).sum(axis=1) >= weights.sum(axis=1) / 2)
    assert y.mean() == pytest.approx(0.5, abs=0.02)
    noisy = RotatingHyperplane(20_000, n_features=4, noise=0.1)
    assert (noisy.rows(0, 20_000)[1] != y).mean() == pytest.approx(0.1, abs=0.01)
    assert noisy.bayes_error() == 0.1
    assert stream.drifts == (Drift(1, 20_000),)
    assert RotatingHyperplane(n_drifting=0).drifts == ()


def test_weights_of_hyperplane():
    stream = RotatingHyperplane(None, n_drifting=3, magnitude=0.05, period=20, reversal=0.3)
    weights = stream.weights(0, 60_000)
    assert np.ptp(weights[:, 3:], axis=0).max() == 0
    moving = weights[:, :3]
    assert moving.min() >= 0
    assert moving.max() <= 1
    steps = np.diff(moving, axis=0)
    even = np.isclose(np.abs(steps), 0.05 / 20)
    assert np.all(even.mean(axis=0) > 0.98)  # but where a weight turns back
    turns = np.sign(steps[1:]) != np.sign(steps[:-1])
    turns[~(even[1:] & even[:-1])] = False
    assert set(np.flatnonzero(turns.any(axis=1)) % 20) == {19}
    assert turns[19::20].mean() == pytest.approx(0.3, abs=0.03)


def test_a_far_row_of_a_hyperplane(monkeypatch):
    monkeypatch.setattr("skstream.streams._generators._hyperplane._PERIODS", 7)
    make = partial(RotatingHyperplane, None, n_drifting=2, period=3)
    stream = make()
    forward = [stream.weights(row, row + 5) for row in range(0, 1000, 5)]
    assert np.array_equal(np.concatenate(forward), make().weights(0, 1000))
    for row in (998, 37, 500):
        assert np.array_equal(stream.weights(row, row + 1), make().weights(0, row + 1)[-1:])


def test_waveform():
    stream = Waveform(60_000, n_irrelevant=2)
    X, y = stream.rows(0, 60_000)
    points = np.arange(1, 22)
    waves = [np.maximum(6 - abs(points - top), 0) for top in (11, 15, 7)]
    for label, (one, other) in enumerate([(0, 1), (0, 2), (1, 2)]):
        of_class = X[y == label]
        assert len(of_class) == pytest.approx(20_000, rel=0.03)
        mean, variance = (waves[one] + waves[other]) / 2, 1 + (waves[one] - waves[other]) ** 2 / 12
        assert of_class[:, :21].mean(axis=0) == pytest.approx(mean, abs=0.07)
        assert of_class[:, :21].var(axis=0) == pytest.approx(variance, rel=0.06)
        assert of_class[:, 21:].std(axis=0) == pytest.approx(np.ones(2), abs=0.03)
        # The two waves stand in one proportion in all features of a row.
        expected = (waves[one] - waves[other])[5] * (waves[one] - waves[other])[15] / 12
        covariance = np.cov(of_class[:, 5], of_class[:, 15])[0, 1]
        assert covariance == pytest.approx(expected, abs=0.12)


def test_features_of_waveform_change_places():
    stream = Waveform(3000, n_drifting=(0, 5, 21))
    X, still = stream.rows(0, 3000)[0], Waveform(3000).rows(0, 3000)[0]
    for concept, n_drifting in enumerate((0, 5, 21)):
        part = slice(1000 * concept, 1000 * (concept + 1))
        assert (X[part] != still[part]).any(axis=0).sum() == n_drifting
        assert np.array_equal(np.sort(X[part], axis=1), np.sort(still[part], axis=1))
    assert stream.drifts == (Drift(1000, 1000), Drift(2000, 2000))


def test_bayes_error_of_waveform():
    points = np.arange(1, 22)
    waves = [np.maximum(6 - abs(points - top), 0) for top in (11, 15, 7)]
    # In the plane of the waves a class is a segment with normal noise in both directions.
    sides = np.array(waves)[1:] - waves[0]
    along = sides[0] / np.linalg.norm(sides[0])
    across = sides[1] - (sides[1] @ along) * along
    axes = np.stack([along, across / np.linalg.norm(across)])
    corners = np.concatenate([np.zeros((1, 2)), sides @ axes.T])
    step = 0.04
    x, y = (
        np.arange(a - 8, b + 8, step) for a, b in zip(corners.min(0), corners.max(0), strict=True)
    )
    densities = []
    for begin, end in ((0, 1), (0, 2), (1, 2)):
        length = np.linalg.norm(corners[end] - corners[begin])
        dx, dy = (corners[end] - corners[begin]) / length
        right, up = x[:, np.newaxis] - corners[begin, 0], y - corners[begin, 1]
        place = right * dx + up * dy
        on_the_line = (norm.cdf(place) - norm.cdf(place - length)) / length
        densities.append(on_the_line * norm.pdf(right * dy - up * dx))
    exact = 1 - np.max(densities, axis=0).sum() * step**2 / 3
    assert Waveform().bayes_error() == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("speed", [0.0, 0.001])
def test_rbf(speed):
    stream = RandomRBF(20_000, n_features=3, n_centroids=2, speed=speed)
    X, y = stream.rows(0, 20_000)
    places = np.stack([stream.centroids(row) for row in range(20_000)])
    assert places.min() >= 0
    assert places.max() <= 1
    offsets = X - places[np.arange(20_000), y]
    for label in (0, 1):
        length = np.linalg.norm(offsets[y == label], axis=1)
        deviation = np.sqrt((length**2).mean())
        assert 0 < deviation < 1.03
        # Lengths are absolute values of normal numbers, in all directions alike.
        assert length.mean() / deviation == pytest.approx(np.sqrt(2 / np.pi), abs=0.02)
        directions = offsets[y == label] / length[:, np.newaxis]
        assert directions.mean(axis=0) == pytest.approx(np.zeros(3), abs=0.04)
        assert np.cov(directions.T) == pytest.approx(np.eye(3) / 3, abs=0.03)
    steps = np.linalg.norm(np.diff(places, axis=0), axis=2)
    assert np.isclose(steps, speed).mean() > 0.98  # but where a centre is thrown back
    assert stream.drifts == ((Drift(1, 20_000),) if speed else ())


def test_some_centroids_move():
    stream = RandomRBF(1000, speed=0.01, n_drifting=7)
    is_moving = (stream.centroids(0) != stream.centroids(1)).any(axis=1)
    assert is_moving.sum() == 7
    assert RandomRBF(1000, speed=0.01, n_drifting=0).drifts == ()
    labels = RandomRBF(2000, n_classes=5, n_centroids=5).rows(0, 2000)[1]
    assert set(labels) == set(range(5))


def test_bayes_error_of_rbf():
    stream = RandomRBF(100, n_features=1, n_centroids=3, n_classes=2, random_state=4)
    # In one dimension a cloud is a normal distribution.
    x = np.linspace(-7, 8, 150_001)
    weights = np.diff(stream._weights, prepend=0) / stream._weights[-1]
    curves = weights[:, np.newaxis] * norm.pdf(
        x, stream.centroids(0), stream._deviations[:, np.newaxis]
    )
    of_class = [curves[stream._labels == label].sum(axis=0) for label in (0, 1)]
    exact = np.minimum(*of_class).sum() * (x[1] - x[0])
    assert stream.bayes_error() == pytest.approx(exact, abs=0.003)
    assert RandomRBF(None, speed=0.1).bayes_error() is None


def test_posterior_of_rbf_is_right():
    stream = RandomRBF(20_000, n_features=3, n_centroids=6, n_classes=3, speed=0.0001)
    X, y = stream.rows(0, 20_000)
    densities = stream._densities(X, np.arange(20_000))
    posterior = densities / densities.sum(axis=1, keepdims=True)
    answer = posterior.argmax(axis=1)
    assert stream.bayes_error() == pytest.approx((answer != y).mean(), abs=0.01)
    # Among rows of any posterior, as many are of the class as it says.
    for label in range(3):
        for low in (0.1, 0.4, 0.7):
            chosen = (low <= posterior[:, label]) & (posterior[:, label] < low + 0.2)
            share = posterior[chosen, label].mean()
            assert (y[chosen] == label).mean() == pytest.approx(share, abs=0.08)


def walked(tree, row, n_numeric):
    """Label of a row, node by node, and the features on the way."""
    node, path = 0, []
    while tree.child[node] != node:
        feature = tree.feature[node]
        path.append(feature)
        if feature < n_numeric:
            node = tree.child[node] + (row[feature] > tree.threshold[node])
        else:
            node = tree.child[node] + int(row[feature])
    return tree.label[node], path


def test_random_tree():
    stream = RandomTree(300, trees=(3, 1, 3), n_classes=3, n_values=4)
    X, y = stream.rows(0, 300)
    assert X[:, :5].min() >= 0
    assert X[:, :5].max() < 1
    assert {value for value in X[:, 5:].ravel()} == {0, 1, 2, 3}
    for row in range(300):
        tree = stream._trees[1 if 100 <= row < 200 else 3]
        label, path = walked(tree, X[row], 5)
        assert y[row] == label
        assert 3 <= len(path) <= 5
        nominal = [feature for feature in path if feature >= 5]
        assert len(nominal) == len(set(nominal))
    assert stream.drifts == (Drift(100, 100), Drift(200, 200))
    assert len(set(y)) == 3


def test_shapes_of_random_trees():
    # One test alone: the label hangs on one nominal feature.
    stump = RandomTree(500, n_numeric=0, max_depth=1)
    X, y = stump.rows(0, 500)
    feature = stump._trees[0].feature[0]
    assert all(len(set(y[X[:, feature] == value])) == 1 for value in range(5))
    # Deeper than there are features: each path ends when all are used.
    X, y = RandomTree(500, n_numeric=0, n_nominal=2, max_depth=9).rows(0, 500)
    assert all(len(set(y[(X == values).all(axis=1)])) == 1 for values in np.unique(X, axis=0))
    tree = RandomTree(n_nominal=0, max_depth=12, leaf_share=0.3)._trees[0]
    assert tree.depth == 12
    thresholds = tree.threshold[np.isfinite(tree.threshold)]
    assert thresholds.min() > 0
    assert thresholds.max() < 1


CHAIN = [[0.5, 0.5, 0.0], [0.1, 0.2, 0.7], [0.3, 0.0, 0.7]]


def test_transitions_and_profile_of_labels_are_recovered():
    stream = MarkovLabels(40_000, transitions=CHAIN)
    _, y = stream.rows(0, 40_000)
    counts = np.zeros((3, 3))
    np.add.at(counts, (y[:-1], y[1:]), 1)
    assert counts / counts.sum(axis=1, keepdims=True) == pytest.approx(np.array(CHAIN), abs=0.02)
    assert np.all(counts[np.array(CHAIN) == 0] == 0)
    assert stream.priors @ CHAIN == pytest.approx(stream.priors)
    profile = label_profile(stream)
    assert profile.priors == pytest.approx(stream.priors, abs=0.02)
    assert profile.persistence == pytest.approx(stream.priors @ np.diag(CHAIN), abs=0.02)
    firsts = [MarkovLabels(1, transitions=CHAIN, random_state=s).rows(0, 1)[1] for s in range(300)]
    assert np.bincount(np.ravel(firsts)) / 300 == pytest.approx(stream.priors, abs=0.1)


def test_features_and_bayes_error_of_markov_labels():
    stream = MarkovLabels(40_000, transitions=CHAIN, separation=1.5, n_features=4)
    X, y = stream.rows(0, 40_000)
    means = np.stack([X[y == label].mean(axis=0) for label in range(3)])
    shift = 1.5 / np.sqrt(2)
    assert means == pytest.approx(shift * np.eye(3, 4), abs=0.04)
    assert np.linalg.norm(means[0] - means[2]) == pytest.approx(1.5, abs=0.05)
    with np.errstate(divide="ignore"):
        logs = np.log(CHAIN)[y[:-1]]
    with_past = (logs + shift * X[1:, :3]).argmax(axis=1) != y[1:]
    without = (np.log(stream.priors) + shift * X[:, :3]).argmax(axis=1) != y
    assert stream.bayes_error() == pytest.approx(with_past.mean(), abs=3 * 0.5 / 200)
    assert stream.bayes_error(previous_label=False) == pytest.approx(without.mean(), abs=0.0075)
    two = MarkovLabels(transitions=[[0.5, 0.5], [0.5, 0.5]])
    assert two.bayes_error() == pytest.approx(norm.cdf(-1))
    assert MarkovLabels(separation=0).bayes_error() == pytest.approx(0.1)


CIRCLE = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("transitions", [CHAIN, CIRCLE, [[1, 0], [0, 1]]])
def test_any_order_of_blocks_has_the_same_labels(transitions, monkeypatch):
    monkeypatch.setattr("skstream.streams._generators._markov._PIECE", 50)
    stream = MarkovLabels(None, transitions=transitions, random_state=2)
    y = stream.rows(0, 2000)[1]
    for start in (1999, 1500, 1600, 3, 0, 700):
        assert np.array_equal(stream.rows(start, start + 1)[1], y[start : start + 1])
        fresh = MarkovLabels(None, transitions=transitions, random_state=2)
        assert np.array_equal(fresh.rows(start, 2000)[1], y[start:])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: STAGGER(functions=(1, 4)), "functions must be a sequence of integers from 1 to 3"),
        (lambda: STAGGER(functions=2), "one for each concept. Got 2 instead"),
        (lambda: Sine(functions=()), "functions must be a sequence of integers from 1 to 4"),
        (lambda: Sine(n_irrelevant=-1), "n_irrelevant must be an integer >= 0. Got -1"),
        (lambda: Agrawal(functions=(0,)), "functions must be a sequence of integers from 1 to 10"),
        (lambda: Agrawal(perturbation=2), "perturbation must be a number from 0 to 1"),
        (lambda: LED(n_drifting=(0, 8)), "n_drifting must be a sequence of integers from 0 to 7"),
        (lambda: LED(n_irrelevant=2, n_drifting=(3,)), "integers from 0 to 2"),
        (lambda: LED(None, n_drifting=(0, 1)), "An endless stream of 2 concepts"),
        (lambda: RotatingHyperplane(n_drifting=11), "n_drifting must be at most n_features=10"),
        (lambda: RotatingHyperplane(magnitude=-1), "magnitude must be a finite number >= 0"),
        (lambda: Waveform(n_drifting=(0, 1)), "n_drifting must not be 1"),
        (lambda: RandomRBF(n_centroids=1), "n_centroids must be an integer >= 2. Got 1"),
        (lambda: RandomRBF(speed="fast"), "speed must be a finite number >= 0. Got 'fast'"),
        (lambda: RandomTree(n_numeric=0, n_nominal=0), "A stream needs at least one feature"),
        (lambda: RandomTree(max_depth=0), "max_depth must be an integer >= 1"),
        (lambda: MarkovLabels(transitions=[0.5, 0.5]), "must be a square matrix"),
        (lambda: MarkovLabels(transitions="x"), "must be a square matrix"),
        (lambda: MarkovLabels(transitions=[[0.5, 0.5], [1.5, -0.5]]), "from 0 to 1"),
        (
            lambda: MarkovLabels(transitions=[[0.5, 0.5], [0.5, 0.4]]),
            "Each row of transitions must sum to 1. Row 1, the classes after class 1, sums to 0.9",
        ),
        (lambda: MarkovLabels(transitions=[[1, 0], [1, 0]]), "transitions never reach class 1"),
        (lambda: MarkovLabels(n_features=1), "n_features must be an integer >= 2"),
    ],
)
def test_bad_parameters(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"noise": 1.5}, "noise must be a number from 0 to 1. Got 1.5"),
        ({"thresholds": []}, "thresholds must be a sequence of finite numbers"),
        ({"change_rows": [5]}, "change_rows must be 3 increasing row numbers"),
        ({"n_rows": None}, "An endless stream of 4 concepts needs change_rows="),
    ],
)
def test_bad_input_of_sea(bad, words):
    with pytest.raises(ValueError, match=words):
        SEA(**bad)
