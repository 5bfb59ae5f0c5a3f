"""
Ten copies of every model, and a test that holds
================================================

One run gives one number per model. Ten copies, each of which learns other rows, show how much such
a number varies by chance, and between which models there is a significant difference. Their scores
are not those of one run: a copy learns fewer rows.
"""

from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import KFoldEvaluator, Persistent, PrequentialEvaluator, make_stream_pipeline
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.plotting import CriticalDifferenceDisplay
from skstream.streams import make_demo_stream

# %%
# With ``strategy="cross"`` a copy learns nine of ten rows, with ``"bootstrap"`` (the default) 63 %,
# with weights.

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
# **Pitfall.** Every model loses by rows it does not learn, and most of all one that repeats the
# last label: where a copy has not learnt it, it repeats an older one.

one_pass = PrequentialEvaluator("accuracy", random_state=0).evaluate(models, stream)
bootstrap = KFoldEvaluator("accuracy", random_state=0).evaluate(models, stream)
print(f"{'accuracy':12}{'one pass':>10}{'cross':>10}{'bootstrap':>10}")
for name in models:
    scores = (one.scores[name]["accuracy"] for one in (one_pass, result, bootstrap))
    print(f"{name:12}" + "".join(f"{score:10.4f}" for score in scores))

# %%
# Average ranks over the folds. Between models under one bar there is no significant difference.

CriticalDifferenceDisplay.from_result(result.rank())

# %%
# The finding: folds say which model is better, and how surely; how good it is, one pass says.

print(result.compare("logistic", "hinge"))
print(result.compare("logistic", "last label", test="sign"))
naive, crossed, drawn = (
    one.scores["last label"]["accuracy"] for one in (one_pass, result, bootstrap)
)
print(
    f"Repeating the last label has {naive:.4f} in one pass, {crossed:.4f} over cross-validated "
    f"copies, and {drawn:.4f} over bootstrapped ones."
)
assert drawn < crossed < naive
