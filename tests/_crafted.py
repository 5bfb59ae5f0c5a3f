"""Saved files with other parts than those that were saved."""

import json

import numpy as np


def crafted(path, arrays=(), **header):
    """Replace arrays of a saved file, and parts of its header: `a__b` is what "b" is in "a"."""
    with np.load(path) as file:
        parts = dict(file) | dict(arrays)
    whole = json.loads(str(parts["header"]))
    for name, value in header.items():
        *outer, last = name.split("__")
        part = whole
        for key in outer:
            part = part[key]
        part[last] = value
    parts["header"] = np.array(json.dumps(whole))
    np.savez(path, **parts)
