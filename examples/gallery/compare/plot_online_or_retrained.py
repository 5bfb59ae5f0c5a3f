"""
Train on every row, or refit on a schedule?
===========================================

Boosting has no ``partial_fit``; `PeriodicRefit` refits it on the newest rows at regular intervals.
So it can be compared, on the same rows, with models trained on every row. The outcome depends on
how these are trained: the linear model appears with scikit-learn's default steps, and with long
and short steps of constant length.
"""

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import PeriodicRefit, Persistent, PrequentialEvaluator, make_stream_pipeline
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import SEA

# %%
# SEA: the label says whether the sum of two features is above a threshold, which changes three
# times; one label in ten is wrong. scikit-learn's default step size is 10 at first, and about 0.5
# after 20,000 rows.

boosting = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, early_stopping=False)
short = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01)
long = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=1.0)
models = {
    "linear, default steps": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    "linear, steps of 1": make_stream_pipeline(StandardScaler(), long),
    "linear, steps of 0.01": make_stream_pipeline(StandardScaler(), short),
    "naive Bayes": IncrementalGaussianNB(),
    "refitted often": PeriodicRefit(boosting, every=200, window=1_000),
    "refitted seldom": PeriodicRefit(boosting, every=2_000, window=4_000),
    "fitted once": PeriodicRefit(boosting, every=None, min_rows=2_000),
    "previous label": Persistent(),
}
evaluator = PrequentialEvaluator(
    "accuracy", forgetting=["cumulative", "window:1000"], random_state=0
)
result = evaluator.evaluate(models, SEA(20_000, random_state=0))
print(result)

# %%
# Dotted lines mark the changes of the threshold. Models far below are not drawn.

shown = ["linear, default steps", "linear, steps of 0.01", "naive Bayes", "refitted often"]
result.plot(forgetting="window:1000", models=shown)
# sphinx_gallery_start_ignore
accuracy = {name: scores["accuracy"] for name, scores in result.scores.items()}
assert max(accuracy, key=accuracy.get) == "linear, steps of 0.01"
assert accuracy["fitted once"] < accuracy["refitted often"]
# sphinx_gallery_end_ignore

# %%
# Is the difference more than chance?

print(result.compare("linear, steps of 0.01", "refitted often"))

# %%
# **Finding.** Training on every row with short steps of constant length is best here. With the
# default steps, the same model is worse than boosting fitted once. The reason is not that it
# forgets too little: its steps are too long, so each wrong label moves it far, as with steps of 1.
