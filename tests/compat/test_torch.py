"""A torch module through skorch, as the page of other libraries shows it."""

import pickle

import numpy as np
import pytest

from skstream import PrequentialEvaluator

torch = pytest.importorskip("torch")
skorch = pytest.importorskip("skorch")


def network():
    torch.manual_seed(0)
    return skorch.NeuralNetClassifier(
        torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)),
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=1,
        train_split=None,
        verbose=0,
        classes=[0, 1],
        lr=0.1,
    )


def test_batches_are_the_protocol(rng: np.random.Generator) -> None:
    X = rng.normal(size=(400, 3)).astype("float32")
    y = (X[:, 0] > 0).astype(int)
    by_hand, answers = network(), []
    for begin in range(0, 400, 16):
        rows = slice(begin, begin + 16)
        if begin:
            answers += by_hand.predict(X[rows]).tolist()
        by_hand.partial_fit(X[rows], y[rows])
    torch.manual_seed(0)
    evaluator = PrequentialEvaluator("accuracy", batch_size=16, n_warmup=16)
    result = evaluator.evaluate({"net": network()}, X, y, return_models=True)
    assert result.predictions("net", every_row=True)[16:].tolist() == answers
    assert result.scores["net"]["accuracy"] > 0.7
    fitted = pickle.loads(pickle.dumps(result.models["net"]))
    np.testing.assert_array_equal(fitted.predict(X), by_hand.predict(X))
