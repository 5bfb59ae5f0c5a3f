"""
Does a model beat the previous label?
=====================================

On a stream whose labels come in runs, repeating the previous label is right most of the time.
Accuracy does not show whether a model does better than that. kappa_temporal does: it is 0 for this
naive guess.
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
# Two models, one of them also with the previous label as a feature, and two naive baselines.
# Every row is predicted before models are trained on it.

models = {
    "majority": MajorityClass(),
    "persistent": Persistent(),
    "naive Bayes": IncrementalGaussianNB(),
    "naive Bayes, previous label": TemporallyAugmented(IncrementalGaussianNB()),
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
# A model inside the grey area is worse than the better of the two naive baselines.

result.plot("accuracy", forgetting="window:1000")

# %%
# The finding:

scores = result.scores
bayes, augmented, naive = (
    scores[name] for name in ("naive Bayes", "naive Bayes, previous label", "persistent")
)
print(
    f"Naive Bayes scores an accuracy of {bayes['accuracy']:.2f}, and repeating the previous label "
    f"{naive['accuracy']:.2f}: kappa_temporal is {bayes['kappa_temporal']:.2f}. Given the previous "
    f"label, naive Bayes scores {augmented['accuracy']:.2f}, no more than that label alone."
)
assert bayes["kappa_temporal"] < 0
