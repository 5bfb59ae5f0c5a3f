"""How long the page of a result takes, and how large it is.

    python -m benchmarks.bench_report [--rows 45000]

Four models with the standard measures: over all rows; over all rows and the last 1,000, with a
monitor; over ten folds; with labels that come late. Then forty models. The first page of a process
loads matplotlib, and each is written twice: seconds are those by the clock of the first, and those
of the processor of both.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import matplotlib
import sklearn
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.drift import DDM
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import make_demo_stream

MODELS = {
    "persistent": sk.Persistent(),
    "majority": sk.MajorityClass(),
    "nb": IncrementalGaussianNB(),
    "sgd": SGDClassifier(),
}
MANY = {"persistent": sk.Persistent()} | {
    f"sgd {k}": SGDClassifier(alpha=10.0 ** -(k / 8)) for k in range(39)
}
RECENT = {"all": "cumulative", "recent": "window:1000"}
CASES = {
    "all rows": (sk.PrequentialEvaluator(random_state=0), MODELS),
    "all and recent rows, alarms": (
        sk.PrequentialEvaluator(forgetting=RECENT, random_state=0),
        MODELS,
    ),
    "ten folds": (sk.KFoldEvaluator(random_state=0), MODELS),
    "late labels": (sk.DelayedEvaluator(delay=100, random_state=0), MODELS),
    "forty models": (sk.PrequentialEvaluator(random_state=0), MANY),
}


def main(arguments=None):
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=45_000)
    options = parser.parse_args(arguments)
    stream = make_demo_stream(options.rows)
    print(
        f"{options.rows:,} rows; skstream {sk.__version__}, scikit-learn {sklearn.__version__}, "
        f"matplotlib {matplotlib.__version__}"
    )
    print(f"{'result':<28}{'seconds':>9}{'processor':>11}{'again':>9}{'kB':>9}")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, (evaluator, models) in CASES.items():
            result = evaluator.evaluate(models, stream)
            path, times = Path(folder, "report.html"), []
            found = sk.detect(result, {"ddm": DDM()}) if "alarms" in name else {}
            for _ in range(2):
                start, busy = time.perf_counter(), time.process_time()
                result.report(path, detections=found)
                times.append((time.perf_counter() - start, time.process_time() - busy))
            (first, worked), (_, again) = times
            size = path.stat().st_size / 1e3
            print(f"{name:<28}{first:>9.2f}{worked:>11.2f}{again:>9.2f}{size:>9.0f}")


if __name__ == "__main__":
    main()
