"""What the results of studies share: what they are called by, how they print, and their files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skstream.utils._saved import save_npz


class SavedStudy:
    """A study that prints its table, and is saved as data."""

    def table(self) -> str:
        """Return what was found as text; ``print(study)`` prints it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.table()

    def save(self, path: str | Path) -> Path:
        """Save as data: one NPZ file without pickles, to be read by `skstream.load`.

        Parameters
        ----------
        path : str or Path
            File to write; ``.npz`` is appended where it has no suffix.

        Returns
        -------
        path : Path
            The file written.
        """
        return save_npz(path, self)


class StudyOfModels(SavedStudy):
    """A study whose results are all of the same models, measures and forgetting mechanisms."""

    @property
    def _first(self) -> Any:
        """One of its results, or studies."""
        raise NotImplementedError

    @property
    def model_names(self) -> list[str]:
        """Names of the models."""
        names: list[str] = self._first.model_names
        return names

    @property
    def metric_names(self) -> list[str]:
        """Names of the measures."""
        names: list[str] = self._first.metric_names
        return names

    @property
    def forgetting_names(self) -> list[str]:
        """Names of the forgetting mechanisms."""
        names: list[str] = self._first.forgetting_names
        return names

    def _check_alike(self, parts: Mapping[str, Any]) -> None:
        """Raise an error if parts, by what they are of, cannot be compared."""
        (first, one), *others = parts.items()
        for other, another in others:
            for names in ("model_names", "metric_names", "forgetting_names"):
                if getattr(one, names) != getattr(another, names):
                    raise ValueError(
                        f"All must have the same {names}. Those of {first} are "
                        f"{getattr(one, names)}, and those of {other} {getattr(another, names)}."
                    )


def of_value(value: str) -> str:
    """Say that the mean of a curve was taken, where it was."""
    return "mean of the curve, " if value == "mean" else ""
