"""
How good is the model on rows that have no label yet?
=====================================================

The labels of the last ten days are missing. Three estimates are available: the score of the newest
labelled rows, the model's own confidence, and its confidence after calibration. Each is also made
for past days, and compared with the score once the labels had arrived.
"""

import numpy as np

from skstream import estimate_unlabelled

# %%
# A model whose probabilities of fraud are too high.

rng = np.random.default_rng(0)
n = 20_000
p_fraud = rng.beta(1, 3, n)
y = np.where(rng.random(n) < p_fraud**1.5, "fraud", "fine").astype(object)
arrival = np.datetime64("2026-01-01") + np.arange(n) * np.timedelta64(10, "m")
label_time = arrival + np.timedelta64(10, "D")
y[label_time > arrival[-1]] = None

estimates = estimate_unlabelled(
    y, {"model": p_fraud}, metrics="accuracy", arrival=arrival, label_time=label_time
)
print(estimates)

# %%
estimates.plot("accuracy")
# sphinx_gallery_start_ignore
errors = estimates.summary().set_index("method")["mae"]
methods = ["calibrated", "newest labels", "confidence"]
assert [f"{errors[method]:.3f}" for method in methods] == ["0.007", "0.013", "0.070"]
# sphinx_gallery_end_ignore

# %%
# **Finding.** Calibrated confidence is closest to the truth: its mean error is 0.007. That of the
# newest labels is 0.013, and that of the model's own confidence 0.070.
