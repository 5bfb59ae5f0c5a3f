"""
Ten copies of every model, and a valid test
===========================================

One run gives one number per model. Ten copies, each trained on different rows, show how much this
number varies by chance, and which models differ significantly. Their scores are not those of one
run, because a copy is trained on fewer rows.
"""

from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import KFoldEvaluator, Persistent, PrequentialEvaluator, make_stream_pipeline
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.plotting import CriticalDifferenceDisplay
from skstream.streams import make_demo_stream

# %%
# With ``strategy="cross"`` a copy is trained on nine of ten rows, with ``"bootstrap"`` (the
# default) on 63 % of them, with weights.

models = {
    "logistic": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    "hinge": make_stream_pipeline(StandardScaler(), SGDClassifier()),
    "perceptron": make_stream_pipeline(StandardScaler(), Perceptron()),
    "naive Bayes": IncrementalGaussianNB(),
    "last label": Persistent(),
}
stream = make_demo_stream(10_000)
result = KFoldEvaluator("accuracy", strategy="cross", random_state=0).evaluate(models, stream)
print(result)

# %%
# **Pitfall.** Every model loses accuracy if trained on fewer rows, most of all one that repeats the
# last label: where a copy was not trained on the previous row, it repeats an older label.

one_pass = PrequentialEvaluator("accuracy", random_state=0).evaluate(models, stream)
bootstrap = KFoldEvaluator("accuracy", random_state=0).evaluate(models, stream)
print(f"{'accuracy':12}{'one pass':>10}{'cross':>10}{'bootstrap':>10}")
for name in models:
    scores = (protocol.scores[name]["accuracy"] for protocol in (one_pass, result, bootstrap))
    print(f"{name:12}" + "".join(f"{score:10.4f}" for score in scores))

# %%
# Average ranks over the folds. Models joined by a bar do not differ significantly.

CriticalDifferenceDisplay.from_result(result.rank())

# %%
# The finding: folds show which model is better and how certain that is; one pass shows how good it
# is.

print(result.compare("logistic", "hinge"))
print(result.compare("logistic", "last label", test="sign"))
naive, crossed, drawn = (
    protocol.scores["last label"]["accuracy"] for protocol in (one_pass, result, bootstrap)
)
print(
    f"Repeating the last label scores {naive:.4f} in one pass, {crossed:.4f} over cross-validated "
    f"copies, and {drawn:.4f} over bootstrapped ones."
)
assert drawn < crossed < naive
