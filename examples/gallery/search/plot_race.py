"""
A thousand models raced
=======================

Most candidates of a large grid are soon seen to be worse than others. A race drops them when that
is shown, at a level that holds at every row; those that are left answer as they would have
without it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier

from skstream import PrequentialEvaluator, PrequentialSearch
from skstream.streams import RotatingHyperplane

# %%
# 1,000 candidates: ten losses and penalties, ten strengths, ten rates.

grid = {
    "loss": ["log_loss", "hinge", "modified_huber", "squared_hinge", "perceptron"],
    "penalty": ["l2", "l1"],
    "alpha": np.logspace(-6, -1, 10),
    "eta0": np.logspace(-4, 0, 10),
}
search = PrequentialSearch(
    SGDClassifier(learning_rate="constant"),
    grid,
    metric="accuracy",
    race={"kind": "anytime", "indifference": 0.01},
    tuning=8_000,
    evaluator=PrequentialEvaluator(random_state=0),
)
search.fit(RotatingHyperplane(10_000, random_state=0))
print(search)

# %%
# How many candidates are left after so many rows.

dropped = search.cv_results_["dropped_at"]
rows = np.unique(np.concatenate([[0], dropped[dropped >= 0], [8_000]]))
left = [np.count_nonzero((dropped < 0) | (dropped > row)) for row in rows]
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.step(rows, left, where="post")
ax.set(xlabel="rows", ylabel="candidates left", yscale="log", title="A race of 1,000 models")

# %%
# The finding:

low, high = search.honest_interval_
work = np.where(dropped < 0, 8_000, dropped).sum() / (8_000 * len(dropped))
print(
    f"{left[-1]} of {len(dropped):,} candidates are left, for {work:.0%} of the work. The best has "
    f"an accuracy of {search.honest_score_:.3f}, between {low:.3f} and {high:.3f}, on rows that "
    "chose nothing."
)
