"""
A stream whose best possible error is known
===========================================

The testbed of Cervantes et al. are mixtures of Gaussians that move. At every row the smallest error
that any model can reach is known, so that a curve can be read against it.
"""

from sklearn.linear_model import SGDClassifier

from skstream import PrequentialEvaluator
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.plotting import TestbedDisplay
from skstream.streams import load_testbed

# %%
# NSCX: one class passes between two parts of the other, turns, and takes over.

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
# Eight moments of the stream: ellipses of the components, rows drawn from them, and their paths.

TestbedDisplay.from_stream(stream, kind="filmstrip")

# %%
# The finding:

errors = {name: one["error"] for name, one in result.scores.items()}
best = min(errors, key=errors.get)
print(
    f"The smallest possible error is {stream.bayes_error():.3f} on average. {best} has "
    f"{errors[best]:.3f}, naive Bayes, which forgets nothing, {errors['naive Bayes']:.3f}."
)
