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
# sphinx_gallery_start_ignore
assert f"{result.scores['naive Bayes']['accuracy']:.3f}" == "0.824"
worst = str(scores.worst("naive Bayes", "accuracy"))
assert "'SE'" in worst
assert "0.6048 in [0.5667, 0.6416]; 0.8403 in the rest" in worst
# sphinx_gallery_end_ignore

# %%
# **Finding.** Over all rows the accuracy is 0.824. In the country "SE" it is only 0.605, with an
# interval from 0.567 to 0.642; in the rest it is 0.840.
