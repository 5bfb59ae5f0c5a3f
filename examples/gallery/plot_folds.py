"""
Ten copies of every model, and a test that holds
================================================

One run gives one number per model. Ten copies, each with its own weights of the rows (bootstrap),
show how much such a number varies by chance, and which models can be told apart.
"""

from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import KFoldEvaluator, Persistent, make_stream_pipeline
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.plotting import CriticalDifferenceDisplay
from skstream.streams import make_demo_stream

# %%
models = {
    "logistic": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    "hinge": make_stream_pipeline(StandardScaler(), SGDClassifier()),
    "perceptron": make_stream_pipeline(StandardScaler(), Perceptron()),
    "naive Bayes": IncrementalGaussianNB(),
    "last label": Persistent(),
}
evaluator = KFoldEvaluator("accuracy", n_folds=10, random_state=0)
result = evaluator.evaluate(models, make_demo_stream(10_000))
print(result)

# %%
# Average ranks over the folds. Models under one bar are not told apart.

ranks = result.rank()
CriticalDifferenceDisplay.from_result(ranks)

# %%
# The finding:

print(result.compare("logistic", "hinge"))
print(result.compare("logistic", "last label", test="sign"))
