"""What a result says beside its curves and answers: plain facts, which files can hold."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skstream.evaluation._runs._run_outcome import Checksums
from skstream.metrics import Measure


@dataclass(frozen=True, kw_only=True)
class ResultHeader:
    """Facts of an evaluation that do not depend on its rows.

    Attributes
    ----------
    protocol, scored_sets : str
        As in `EvaluationResult`.
    measures : dict of str to Measure
        What the measures say of their values, without their functions and formulas.
    mechanisms : dict of str to str
        Specification of each forgetting mechanism.
    classes : ndarray or None
        Sorted labels; None for regression.
    baselines : tuple of str
        Names of the models that are naive baselines.
    parameters : dict
        The evaluator's parameters, and the seed that was used.
    survives : bool
        Whether the others go on where a model fails.
    generator : str
        Which generator made the stream; empty if none did.
    record : dict
        Versions, platform, models and timelines: see `ResultDetails`.
    """

    protocol: str
    scored_sets: str
    measures: dict[str, Measure]
    mechanisms: dict[str, str]
    classes: np.ndarray | None
    baselines: tuple[str, ...]
    parameters: dict[str, Any]
    survives: bool
    generator: str = ""
    record: dict[str, Any] = field(default_factory=dict)

    def record_of(self, n_rows: int, columns: dict[str, Any], read: Checksums) -> dict[str, Any]:
        """Return the record of a result, with the fingerprint of the stream.

        It has no checksums where the rows were not all read, or not by the evaluator.
        """
        if not self.record:
            return {}
        checksums = {name: [f"{one:08x}" for one in sums] for name, sums in read.items()}
        known = self.record.get("names")  # files may have them, and give arrays
        names = list(map(str, known)) if known else columns.get("names")
        stream = {"rows": n_rows, **columns, "names": names, "checksums": checksums}
        return {name: one for name, one in self.record.items() if name != "names"} | {
            "stream": stream
        }
