"""
Learn from every row, or refit on a schedule?
=============================================

Boosting has no ``partial_fit``; `PeriodicRefit` fits it again on the newest rows, every so many
rows. So it stands in the same table as a model that learns from every row, asked about the same
rows.
"""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import PeriodicRefit, Persistent, PrequentialEvaluator, make_stream_pipeline
from skstream.streams import SEA

# %%
# SEA: the sum of two features is above a threshold or not, and the threshold changes three times;
# one label of ten is wrong.

boosting = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, early_stopping=False)
models = {
    "row by row": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    "refitted often": PeriodicRefit(boosting, every=200, window=1_000),
    "refitted seldom": PeriodicRefit(boosting, every=2_000, window=4_000),
    "fitted once": PeriodicRefit(boosting, every=None, min_rows=2_000),
    "last label": Persistent(),
}
evaluator = PrequentialEvaluator(
    "accuracy", forgetting=["cumulative", "window:1000"], random_state=0
)
result = evaluator.evaluate(models, SEA(20_000, random_state=0))
print(result)

# %%
# Dotted lines are the changes of the threshold.

result.plot(forgetting="window:1000", models=[name for name in models if name != "last label"])

# %%
# The finding:

online, often, once = (
    result.scores[name]["accuracy"] for name in ("row by row", "refitted often", "fitted once")
)
print(
    f"Fitted once, boosting has {once:.3f}; refitted every 200 rows {often:.3f}; the linear model "
    f"that learns from every row {online:.3f}. {result.compare('row by row', 'refitted often')}"
)
assert once < often
