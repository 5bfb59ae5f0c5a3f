"""The demo stream has the traits that it is documented to have."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from skstream.streams import label_profile, make_demo_stream


def test_labels_are_sticky():
    profile = label_profile(make_demo_stream(50_000))
    assert profile.classes.tolist() == ["DOWN", "UP"]
    assert abs(profile.priors[0] - 4 / 7) < 0.02
    assert abs(profile.persistence - (1 - 2 * 0.16 * 3 / 7)) < 0.01
    # A Markov chain remembers one label.
    assert np.abs(profile.delta[:, :3]).max() < 0.03


def test_rows_are_the_same_everywhere():
    stream = make_demo_stream(100)
    golden = [
        [0.06974344416111, -0.3865666323875, 0.285087556843, 0.1392584675228],
        [0.2584358044097, -0.6632736709409, -0.4841164974832, -1.01027599244],
    ]
    assert (
        "".join(label[0] for label in stream.y[20:60]) == "DDDUUUUDDDDDDDDUUUUUDDUUUUUUUDUUUUUUUDDD"
    )
    np.testing.assert_allclose(stream.X[[1, 99]], golden, rtol=1e-11)


def test_seeds_differ():
    assert not np.array_equal(make_demo_stream(100).X, make_demo_stream(100, random_state=1).X)


def prequential_accuracy(model, X, y) -> tuple[float, float]:
    """Accuracy of blocks of 50 rows, predicted and then learnt: before and after the drift."""
    correct = np.zeros(len(y))
    for start in range(0, len(y), 50):
        rows = slice(start, start + 50)
        if start:
            correct[rows] = model.predict(X[rows]) == y[rows]
        model.partial_fit(X[rows], y[rows], classes=["DOWN", "UP"])
    half = len(y) // 2
    return correct[50:half].mean(), correct[half:].mean()


def test_naive_bayes_is_below_persistent_and_an_adaptive_model_above():
    stream = make_demo_stream()
    persistent = label_profile(stream).persistence
    bayes = prequential_accuracy(GaussianNB(), stream.X, stream.y)
    sgd = prequential_accuracy(
        SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1, random_state=0),
        stream.X,
        stream.y,
    )
    assert 0.6 < max(bayes) < persistent - 0.05
    assert np.mean(sgd) > persistent + 0.02


def test_there_is_one_drift():
    stream = make_demo_stream()
    X, y = stream.X, stream.y
    half = len(y) // 2
    model = SGDClassifier(random_state=0).fit(X[:half], y[:half])
    before, after = model.score(X[:half], y[:half]), model.score(X[half:], y[half:])
    assert before > 0.9
    assert after < before - 0.15


@pytest.mark.parametrize("n_rows", [0, 2.5])
def test_bad_lengths_are_refused(n_rows):
    with pytest.raises(ValueError, match="n_rows must be an integer >= 1"):
        make_demo_stream(n_rows)
