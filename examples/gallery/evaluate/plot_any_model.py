"""
Any model in one table
======================

scikit-learn's models with ``partial_fit``, River's models, boosting on a schedule, trees and
forests of this library, and a class of your own: all predict the same rows. The column ``path``
says how each was executed.
"""

from collections import Counter

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier

from skstream import PeriodicRefit, Persistent, PrequentialEvaluator
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import RandomRBF
from skstream.tree import AdaptiveRandomForestClassifier, HoeffdingTreeClassifier

# %%
# A class of your own needs no base class, only ``partial_fit`` and ``predict``.


class Commonest:
    """Predicts the most frequent label so far."""

    def __init__(self):
        self.counts = Counter()

    def partial_fit(self, X, y, classes=None):
        self.counts.update(y.tolist())
        return self

    def predict(self, X):
        return [self.counts.most_common(1)[0][0]] * len(X)


# %%
models = {
    "previous label": Persistent(),
    "my own": Commonest(),
    "naive Bayes": IncrementalGaussianNB(),
    "neural network": MLPClassifier(50, random_state=0),
    "boosting, refitted": PeriodicRefit(
        HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, early_stopping=False),
        every=1_000,
        window=2_000,
    ),
    "Hoeffding tree": HoeffdingTreeClassifier(),
    "adaptive random forest": AdaptiveRandomForestClassifier(random_state=0),
}
try:
    from river.tree import HoeffdingTreeClassifier as RiverTree
except ImportError:
    print("River is not installed: its tree is left out.")
else:
    models["River's tree"] = RiverTree()
evaluator = PrequentialEvaluator(
    ["accuracy", "kappa_m"], forgetting=["cumulative", "window:1000"], random_state=0
)
stream = RandomRBF(10_000, n_classes=3, n_centroids=30, random_state=1)
result = evaluator.evaluate(models, stream)
print(result)

# %%
result.plot("accuracy", forgetting="window:1000")

# %%
# **Finding.** The adaptive random forest is best. All models but the one of your own have a kernel,
# which gives the predictions of the model's own methods, faster.
