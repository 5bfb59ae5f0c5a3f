"""A golden record: fingerprints of answers, curves and fitted attributes, to the last bit.

    python -m tests.golden record FILE      write the record of the code as it is
    python -m tests.golden check FILE       compare; every difference is named, exit code 1;
                                            what an older record does not hold is counted alone

A record holds on one machine with one set of versions alone: other processors and libraries add
in another order. It is for rebuilding the library without changing an answer: record first, then
check after every step.
"""

import argparse
import json
import platform
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy
import sklearn

from tests.golden.cases import all_records


def environment() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
    }


def differences(old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    for name in sorted(old):
        if name not in new:
            yield f"gone     {name}"
        elif old[name] != new[name]:
            yield f"changed  {name}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=["record", "check"])
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        record = dict(all_records(Path(folder)))
    if arguments.action == "record":
        content = {"environment": environment(), "record": record}
        arguments.file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        print(f"{len(record)} fingerprints in {arguments.file}")
        return 0
    content = json.loads(arguments.file.read_text("utf-8"))
    if content["environment"] != environment():
        print(f"recorded under {content['environment']}, here is {environment()}")
        return 2
    found = list(differences(content["record"], record))
    print("\n".join(found[:500]))
    print(f"{len(found)} differences among {len(record)} fingerprints")
    n_new = len(record.keys() - content["record"].keys())
    if n_new:
        print(f"{n_new} fingerprints are not in the record")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
