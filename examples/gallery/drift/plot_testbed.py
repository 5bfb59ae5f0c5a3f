"""
A stream whose smallest possible error is known
===============================================

The testbed of Cervantes et al. consists of mixtures of moving Gaussians. The smallest error that
any model can reach is known at every row, so a curve can be compared with it.
"""

from sklearn.linear_model import SGDClassifier

from skstream import PrequentialEvaluator
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.plotting import TestbedDisplay
from skstream.streams import load_testbed

# %%
# NSCX: one class appears between two parts of the other, turns, and becomes the larger one.

stream = load_testbed("NSCX", random_state=0)
models = {
    "naive Bayes": IncrementalGaussianNB(),
    "linear": SGDClassifier(learning_rate="constant", eta0=0.01, random_state=0),
    "nearest neighbour": WindowedKNeighborsClassifier(1, window_size=100),
}
evaluator = PrequentialEvaluator("error", forgetting=["cumulative", "window:500"], random_state=0)
result = evaluator.evaluate(models, stream)
print(result)

# %%
# Eight moments of the stream: the components as ellipses, rows drawn from them, and their paths.

TestbedDisplay.from_stream(stream, kind="filmstrip")

# %%
# The finding:

errors = {name: scores["error"] for name, scores in result.scores.items()}
best = min(errors, key=errors.get)
print(
    f"The smallest possible error is {stream.bayes_error():.3f} on average. The error of {best} is "
    f"{errors[best]:.3f}; that of naive Bayes, which forgets nothing, {errors['naive Bayes']:.3f}."
)
