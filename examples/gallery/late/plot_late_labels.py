"""
What late labels cost
=====================

In use, a label comes hours or weeks after the question. `DelayedEvaluator` asks every row when it
arrives, again while it waits, and a last time when its label comes.
"""

from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import DelayedEvaluator, Persistent, Polling, make_stream_pipeline
from skstream.plotting import BinnedPerformanceDisplay
from skstream.streams import make_demo_stream

# %%
# Labels come 200 rows late. The time between is divided into 20 bins; waiting rows are asked again
# after every tenth label.

models = {
    "linear": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    "last label": Persistent(),
}
evaluator = DelayedEvaluator(
    "accuracy", delay=200, random_state=0, polling=Polling(n_bins=20, poll_every=10)
)
result = evaluator.evaluate(models, make_demo_stream(10_000))
print(result)

# %%
# At the left the predictions at arrival, at the right those given just before the label is learnt,
# which is all that test-then-train measures.

BinnedPerformanceDisplay.from_result(result)

# %%
# The finding:

at_arrival, at_label = result.select(bins=0).scores, result.scores
first, last = (one["last label"]["accuracy"] for one in (at_arrival, at_label))
linear = [one["linear"]["accuracy"] for one in (at_arrival, at_label)]
print(
    f"Measured when the label comes, repeating the last label has {last:.2f}; measured "
    "when the row "
    f"arrives, {first:.2f}. The linear model has {linear[1]:.2f} and {linear[0]:.2f}."
)
assert first < last
