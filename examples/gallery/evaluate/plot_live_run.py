"""
A live run that survives a crash
================================

Rows are passed to a run as they arrive. The run is saved now and then; after a crash, another
process loads the file and resumes. The result equals that of an uninterrupted run, bit for bit.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import Persistent, PrequentialEvaluator, load_run, make_stream_pipeline
from skstream.streams import make_demo_stream

stream = make_demo_stream(6_000)
models = {
    "linear": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    "previous label": Persistent(),
}
evaluator = PrequentialEvaluator("accuracy", forgetting="window:500", random_state=0)

# %%
# A process takes 100 rows at a time, saves after every 1,000, and dies after row 3,500.

program = """
import os, signal, sys
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from skstream import Persistent, PrequentialEvaluator, make_stream_pipeline
from skstream.streams import make_demo_stream

stream = make_demo_stream(6_000)
models = {
    "linear": make_stream_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    "previous label": Persistent(),
}
evaluator = PrequentialEvaluator("accuracy", forgetting="window:500", random_state=0)
run = evaluator.start(models, classes=["DOWN", "UP"])
for start in range(0, 6_000, 100):
    run.update(stream.X[start : start + 100], stream.y[start : start + 100])
    if run.n_rows % 1_000 == 0:
        run.save(sys.argv[1])
    if run.n_rows == 3_500:
        os._exit(9)
"""
checkpoint = Path(tempfile.mkdtemp(), "run.joblib")
ended = subprocess.run([sys.executable, "-c", program, str(checkpoint)], check=False)
print(f"The process ended with code {ended.returncode}.")

# %%
# Another process (here: this one) resumes from the file.

run = load_run(checkpoint)
rows_kept = run.n_rows
print(f"The file holds the run as it was after {rows_kept:,} rows.")
for start in range(rows_kept, 6_000, 100):
    run.update(stream.X[start : start + 100], stream.y[start : start + 100])
result = run.close().result()
result.plot()

# %%
# The same without a crash, for comparison:

uninterrupted = evaluator.evaluate(models, stream)
for name in models:
    print(name, "has equal curves:", (result.curve(name) == uninterrupted.curve(name)).all())
# sphinx_gallery_start_ignore
assert all((result.curve(name) == uninterrupted.curve(name)).all() for name in models)
# sphinx_gallery_end_ignore

# %%
# **Finding.** Every point of every curve equals that of an uninterrupted evaluation. The 500 rows
# after the last save were passed again.
