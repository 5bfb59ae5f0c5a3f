"""
Are the alarms better than chance?
==================================

A detector that raises many alarms finds every drift. `score_detections` compares its scores with
those of the same number of random alarms.
"""

from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import PrequentialEvaluator, detect, make_stream_pipeline
from skstream.drift import ADWIN, DDM, PageHinkley, RandomAlarm, score_detections
from skstream.streams import RandomRBF, recurring

# %%
# Four detectors watch the errors of one model. Two concepts alternate: 3,100 rows of one, then
# 2,300 of the other.

monitors = {
    "ADWIN": ADWIN(direction="up"),
    "DDM": DDM(),
    "Page-Hinkley": PageHinkley(20, delta=0.05),
    "random": RandomAlarm(0.001, random_state=0),
}
one, two = (RandomRBF(None, n_centroids=20, random_state=seed) for seed in (1, 3))
stream = recurring(one, two, length=[3_100, 2_300], n_rows=40_000)
model = make_stream_pipeline(
    StandardScaler(), SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01)
)
evaluator = PrequentialEvaluator("error", forgetting="window:500", random_state=0)
result = evaluator.evaluate({"linear": model}, stream)
detections = detect(result, monitors)

# %%
# Alarms are marked above the curve; vertical lines mark the drifts.

result.plot(detections=detections)

# %%
scored = {}
for name, found in detections.items():
    scored[name] = score_detections(
        found["linear"].alarms, result.drifts, tolerance=500, n_rows=result.n_rows
    )
    print(f"{name}: {scored[name].verdict}")
# sphinx_gallery_start_ignore
good = {name for name, score in scored.items() if score.above_chance}
assert good == {"ADWIN", "DDM", "Page-Hinkley"}
# sphinx_gallery_end_ignore

# %%
# **Finding.** ADWIN, DDM and Page-Hinkley are above chance. Random alarms are not, of course.
