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
    "previous label": Persistent(),
}
stream = make_demo_stream(10_000)
result = KFoldEvaluator("accuracy", strategy="cross", random_state=0).evaluate(models, stream)
print(result)

# %%
# **Pitfall.** Every model loses accuracy if trained on fewer rows, most of all one that repeats the
# previous label: where a copy was not trained on the previous row, it repeats an older label.

one_pass = PrequentialEvaluator("accuracy", random_state=0).evaluate(models, stream)
bootstrap = KFoldEvaluator("accuracy", random_state=0).evaluate(models, stream)
print(f"{'accuracy':14}{'one pass':>10}{'cross':>10}{'bootstrap':>10}")
for name in models:
    scores = (protocol.scores[name]["accuracy"] for protocol in (one_pass, result, bootstrap))
    print(f"{name:14}" + "".join(f"{score:10.4f}" for score in scores))

# %%
# Average ranks over the folds. Models joined by a bar do not differ significantly, if all five are
# compared at once.

CriticalDifferenceDisplay.from_result(result.rank())
# sphinx_gallery_start_ignore
found = [
    f"{protocol.scores['previous label']['accuracy']:.3f}"
    for protocol in (one_pass, result, bootstrap)
]
assert found == ["0.859", "0.849", "0.810"]
# sphinx_gallery_end_ignore

# %%
# If you choose two models before you look, a test of these two is more sensitive. Above, a bar
# joins "logistic" and "hinge", because the ranks test corrects for ten pairs of models. The test of
# this pair alone needs no correction, uses the sizes of the differences, and finds that they
# differ:

print(result.compare("logistic", "hinge"))
print(result.compare("logistic", "previous label", test="sign"))

# %%
# **Finding.** Folds show which model is better and how certain that is; one pass shows how good it
# is. Repeating the previous label scores 0.859 in one pass, but 0.849 over cross-validated copies
# and 0.810 over bootstrapped ones.
