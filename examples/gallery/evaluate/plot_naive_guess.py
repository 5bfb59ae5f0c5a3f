"""
Does a model beat the previous label?
=====================================

On a stream whose labels come in runs, repeating the last label is right most of the time. Accuracy
does not show whether a model knows more than that; kappa_temporal does: it is 0 for the naive
guess.
"""

from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import (
    MajorityClass,
    Persistent,
    PrequentialEvaluator,
    TemporallyAugmented,
    make_stream_pipeline,
)
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import make_demo_stream

# %%
# Two models, one of them also with the last label among its features, and two naive guesses.
# Every row is predicted before it is learnt.

models = {
    "majority": MajorityClass(),
    "persistent": Persistent(),
    "naive Bayes": IncrementalGaussianNB(),
    "naive Bayes, last label": TemporallyAugmented(IncrementalGaussianNB()),
    "linear": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
}
evaluator = PrequentialEvaluator(
    ["accuracy", "kappa", "kappa_temporal"],
    forgetting=["cumulative", "window:1000"],
    random_state=0,
)
result = evaluator.evaluate(models, make_demo_stream(20_000))
print(result)

# %%
# Below the grey area a model is worse than the better one of the two naive guesses.

result.plot("accuracy", forgetting="window:1000")

# %%
# The finding:

scores = result.scores
bayes, last, naive = (
    scores[name] for name in ("naive Bayes", "naive Bayes, last label", "persistent")
)
print(
    f"Naive Bayes has an accuracy of {bayes['accuracy']:.2f}, and repeating the last label has "
    f"{naive['accuracy']:.2f}: kappa_temporal is {bayes['kappa_temporal']:.2f}. Told the "
    "last label, "
    f"it has {last['accuracy']:.2f}, no more than the last label alone."
)
assert bayes["kappa_temporal"] < 0
