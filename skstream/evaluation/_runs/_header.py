"""What a result says beside its curves and answers: plain facts, which files can hold."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skstream.evaluation._runs._run_outcome import Checksums


@dataclass(frozen=True, kw_only=True)
class ResultHeader:
    """Facts of an evaluation that do not depend on its rows.

    Attributes
    ----------
    protocol, scored_sets : str
        As in `EvaluationResult`.
    measures : dict of str to dict
        Facts of the measures, from which a `Measure` can be made.
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
    measures: dict[str, dict[str, Any]]
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

    def plain(self) -> dict[str, Any]:
        """Return everything as data for JSON."""
        classes = None if self.classes is None else _plain_classes(self.classes)
        return {**vars(self), "classes": classes, "baselines": list(self.baselines)}

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> "ResultHeader":
        """Make the header from the data that `plain` returned."""
        classes = plain["classes"]
        if classes is not None:
            classes = np.array(classes["values"], dtype=classes["dtype"])
        return cls(**{**plain, "classes": classes, "baselines": tuple(plain["baselines"])})


def _plain_classes(classes: np.ndarray) -> dict[str, Any]:
    values = classes.tolist()
    strange = [one for one in values if not isinstance(one, str | int | float)]
    if strange:
        raise ValueError(
            f"Labels of type {type(strange[0]).__name__} cannot be written as data; use strings "
            "or numbers as labels, or leave checkpoint out."
        )
    return {"dtype": classes.dtype.str, "values": values}
