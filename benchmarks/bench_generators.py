"""Speed of the generators, beside those of River and CapyMOA where the interpreter has them.

    python -m benchmarks.bench_generators [--rows 1000000] [--repeats 3]

Each makes its rows in chunks, which are thrown away; a value is one feature of a row. The peers
give one row at a time, as their users take them, and make fewer of them. The fastest of the
repeats, taken in turns, by processor time (CapyMOA's by the clock, as its Java machine has threads
of its own).
"""

import argparse
import platform
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from typing import Any

import skstream
from skstream.streams import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    MarkovLabels,
    RandomRBF,
    RandomTree,
    RotatingHyperplane,
    Sine,
    Waveform,
    load_testbed,
)

PEER_ROWS = 5_000
Peer = tuple[str, dict[str, Any]]
TREE = {"n_num_features": 5, "n_cat_features": 5, "n_categories_per_feature": 5}
MOVING = {"n_features": 10, "n_centroids": 50, "change_speed": 0.001, "n_drift_centroids": 50}
# Name, our stream of so many rows, River's and CapyMOA's of the same kind with their parameters.
CASES: list[tuple[str, Callable[[int], Any], Peer | None, Peer | None]] = [
    ("SEA", SEA, ("SEA", {"noise": 0.1}), ("SEA", {})),
    (
        "RotatingHyperplane",
        RotatingHyperplane,
        ("Hyperplane", {"n_features": 10, "n_drift_features": 2, "mag_change": 0.001}),
        ("HyperPlaneClassification", {"magnitude_of_change": 0.001}),
    ),
    ("LED", LED, ("LED", {"irrelevant_features": True}), ("LEDGenerator", {})),
    (
        "LED, drifting",
        lambda n: LED(n, n_drifting=(0, 3, 5, 7)),
        ("LEDDrift", {"irrelevant_features": True, "n_drift_features": 7}),
        ("LEDGeneratorDrift", {}),
    ),
    (
        "RandomRBF",
        RandomRBF,
        ("RandomRBF", {"n_features": 10, "n_centroids": 50}),
        ("RandomRBFGenerator", {}),
    ),
    (
        "RandomRBF, moving",
        lambda n: RandomRBF(n, speed=0.001),
        ("RandomRBFDrift", MOVING),
        (
            "RandomRBFGeneratorDrift",
            {"number_of_drifting_centroids": 50, "magnitude_of_change": 0.001},
        ),
    ),
    ("Waveform", Waveform, ("Waveform", {}), ("WaveformGenerator", {})),
    (
        "Waveform, 40 features",
        lambda n: Waveform(n, n_irrelevant=19),
        ("Waveform", {"has_noise": True}),
        ("WaveformGenerator", {"noise": True}),
    ),
    ("RandomTree", RandomTree, ("RandomTree", TREE), ("RandomTreeGenerator", {})),
    (
        "Agrawal",
        lambda n: Agrawal(n, perturbation=0.05),
        ("Agrawal", {"perturbation": 0.05}),
        ("AgrawalGenerator", {}),
    ),
    ("STAGGER", STAGGER, ("STAGGER", {}), ("STAGGERGenerator", {})),
    ("Sine", Sine, ("Sine", {}), ("SineGenerator", {})),
    ("MarkovLabels", MarkovLabels, None, None),
    ("testbed NSCX", lambda n: load_testbed("NSCX", n_rows=n), None, None),
]


def ours(make: Callable[[int], Any], n: int) -> tuple[float, int]:
    """Seconds for so many rows, and the number of their features."""
    begin = time.process_time()
    for X, _, _ in make(n):
        n_features = X.shape[1]
    return time.process_time() - begin, n_features


def river_seconds(peer: Peer, n: int) -> float:
    name, parameters = peer
    seeds = ["seed"]
    if name.startswith("RandomRBF"):
        seeds = ["seed_model", "seed_sample"]
    elif name == "RandomTree":
        seeds = ["seed_tree", "seed_sample"]
    rows = getattr(import_module("river.datasets.synth"), name)(
        **dict.fromkeys(seeds, 1), **parameters
    )
    begin = time.process_time()
    for _ in islice(iter(rows), n):
        pass
    return time.process_time() - begin


def capymoa_seconds(peer: Peer, n: int) -> float:
    name, parameters = peer
    stream = getattr(import_module("capymoa.stream.generator"), name)(**parameters)
    begin = time.perf_counter()
    for _ in range(n):
        instance = stream.next_instance()
        _ = instance.x, instance.y_index
    return time.perf_counter() - begin


def release(package: str) -> str | None:
    """Version of a package, if it is there."""
    try:
        return version(package) if find_spec(package) else None
    except PackageNotFoundError:
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    peers = {name: release(name.lower()) for name in ("River", "CapyMOA")}
    there = ", ".join(f"{name} {number}" for name, number in peers.items() if number)
    print(
        f"skstream {skstream.__version__}, {there or 'no peers'}, "
        f"Python {platform.python_version()}; {options.rows:,} rows, {PEER_ROWS:,} of the peers\n"
    )
    print("| generator | features | million rows/s | million values/s | River | CapyMOA |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, make, river, capymoa in CASES:
        times, river_times, capymoa_times = [], [], []
        for _ in range(options.repeats):
            seconds, n_features = ours(make, options.rows)
            times.append(seconds)
            if river and peers["River"]:
                river_times.append(river_seconds(river, PEER_ROWS))
            if capymoa and peers["CapyMOA"]:
                capymoa_times.append(capymoa_seconds(capymoa, PEER_ROWS))
        rate = options.rows / min(times) / 1e6
        others = [
            f"{PEER_ROWS / min(kind) / 1e6:.3f}" if kind else ""
            for kind in (river_times, capymoa_times)
        ]
        print(
            f"| {name} | {n_features} | {rate:.1f} | {rate * n_features:.0f} | "
            f"{others[0]} | {others[1]} |"
        )


if __name__ == "__main__":
    main()
