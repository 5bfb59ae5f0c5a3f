"""
For whom is the model bad?
==========================

A score over all rows averages over groups. `score_slices` scores each group from the predictions
that the result keeps, without running a model again, and names the group that is significantly
worst.
"""

import numpy as np

from skstream import PrequentialEvaluator, as_stream, score_slices
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import SEA

# %%
# Five countries. In one of them, with a fifteenth of the rows, a third of the labels are flipped.

rng = np.random.default_rng(0)
X, y = next(iter(SEA(20_000, chunk_size=20_000, random_state=0)))[:2]
country = rng.choice(["DE", "FR", "IT", "PL", "SE"], len(y), p=[0.4, 0.25, 0.15, 0.13, 0.07])
classes = np.unique(y)
flipped = (country == "SE") & (rng.random(len(y)) < 0.35)
y = np.where(flipped, classes[::-1][np.searchsorted(classes, y)], y)

evaluator = PrequentialEvaluator(["accuracy", "kappa"], random_state=0)
result = evaluator.evaluate({"naive Bayes": IncrementalGaussianNB()}, as_stream(X, y))
scores = score_slices(result, country)
print(scores)

# %%
scores.plot(kind="bars", model="naive Bayes")

# %%
# The finding:

worst = scores.worst("naive Bayes", "accuracy")
print(f"Over all rows accuracy is {result.scores['naive Bayes']['accuracy']:.3f}. The {worst}.")
