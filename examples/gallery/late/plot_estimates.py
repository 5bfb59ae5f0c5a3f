"""
How good is the model on rows whose labels are not there yet?
=============================================================

The labels of the last ten days are missing. Three guesses: the score of the newest labelled rows,
the model's own confidence, and the same after a calibration. Each was made in the past, too, and is
compared there with what the labels showed when they came.
"""

import numpy as np

from skstream import estimate_unlabelled

# %%
# A model that says p and is right less often than that.

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

# %%
# The finding:

table = estimates.summary().set_index("method")["mae"]
print(
    f"By its own confidence the model is off by {table['confidence']:.3f} on average, the newest "
    f"labels by {table['newest labels']:.3f}, calibrated confidence by {table['calibrated']:.3f}."
)
