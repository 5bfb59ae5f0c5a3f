"""River's tree and forest by kernel and by River itself, on random streams for as long as wanted.

    python -m tests.kernels.fuzz_river tree --minutes 60 [--seed 0]

The law is that of the tests, with longer streams among the short ones: answers, random numbers and
River objects are equal, to the last bit. A difference is printed with what makes it again; the
command then ends with an error.
"""

import argparse
import itertools
import sys
import warnings
from time import monotonic

import numpy as np

from tests.kernels import test_river_forest, test_river_tree
from tests.kernels._reference import TIMELINES
from tests.kernels._river import KINDS

LAWS = {
    "tree": (test_river_tree.check_law, 60, 6000),
    "forest": (test_river_forest.check_law, 90, 1500),
}


def main() -> int:
    """Run until the time is over; the number of differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=list(LAWS))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="of the first stream")
    options = parser.parse_args()
    check_law, short, long = LAWS[options.model]
    warnings.simplefilter("ignore")
    started, n_streams, n_bad = monotonic(), 0, 0
    for seed in itertools.count(options.seed):
        if monotonic() - started > 60 * options.minutes:
            break
        rng = np.random.default_rng([seed, 99])
        case = (
            *(seed, str(rng.choice(TIMELINES)), str(rng.choice(["predict", "predict_proba"]))),
            *(str(rng.choice(KINDS)), bool(rng.random() < 0.4)),
            long if rng.random() < 0.04 else short,
        )
        try:
            check_law(*case)
        except Exception as error:
            n_bad += 1
            print(f"check_law{case}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        n_streams += 1
        if n_streams % 1000 == 0:
            print(f"{n_streams} streams, {monotonic() - started:.0f} s", flush=True)
    print(
        f"{options.model}: {n_streams} streams from seed {options.seed} on, {n_bad} differences, "
        f"{(monotonic() - started) / 60:.0f} minutes, Python {sys.version.split()[0]}"
    )
    return min(n_bad, 1)


if __name__ == "__main__":
    sys.exit(main())
