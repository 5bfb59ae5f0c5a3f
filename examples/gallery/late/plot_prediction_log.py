"""
How good were the predictions in this log, day by day?
======================================================

In production, the predictions have already been made. `PredictionLog` scores a log of them as an
evaluation scores its models: under any forgetting, also by time, in hindsight or with the labels
known at the time.
"""

import numpy as np
import pandas as pd

from skstream import PredictionLog

# %%
# Two months of payments, with labels about five days late. From April 1st the model no longer
# recognises fraud.

rng = np.random.default_rng(0)
n = 20_000
when = pd.Timestamp("2025-03-01") + pd.to_timedelta(np.sort(rng.uniform(0, 60, n)), unit="D")
fraud = rng.random(n) < 0.1
seen = fraud & (when < "2025-04-01")
known = when + pd.to_timedelta(rng.exponential(5, n), unit="D")
log = pd.DataFrame(
    {
        "fraud": pd.Series(fraud.astype(int), dtype="Int64").mask(known > when[-1]),
        "p_model": np.clip(0.1 + 0.4 * seen + rng.normal(0, 0.1, n), 0.01, 0.99),
        "time": when,
        "label_time": known,
    }
)
payments = PredictionLog(
    log,
    target="fraud",
    probabilities={"model": "p_model"},
    arrival="time",
    label_time="label_time",
)
options = {"forgetting": "window:7D", "record_every": "1D"}
hindsight = payments.score("auc", **options)
known_then = payments.score("auc", view="as_known", **options)
print(hindsight)
print(known_then)

# %%
# The curve shows the last seven days, at the end of each day.

hindsight.plot()
# sphinx_gallery_start_ignore
days = [
    curve["time"][curve["value"] < 0.9].iloc[0].date().isoformat()
    for curve in (hindsight.to_frame(), known_then.to_frame())
]
assert days == ["2025-04-02", "2025-04-05"]
# sphinx_gallery_end_ignore

# %%
# **Finding.** In hindsight, the model was bad from 2025-04-02 on. With the labels known then, this
# showed three days later.
