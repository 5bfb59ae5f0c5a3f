"""Measures over the stream, with the spread of the seeds of a study."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skstream.plotting._drifts import Drifts
from skstream.plotting._folds import FoldDisplay, Spread
from skstream.plotting._prequential import contents_of
from skstream.studies import SeedStudy


@dataclass(kw_only=True, repr=False, eq=False)
class SeedDisplay(FoldDisplay):
    """One measure over the stream, as mean and spread over the seeds of a study.

    Everything else is as in `FoldDisplay`; its folds are the seeds.

    Parameters
    ----------
    spread : {"range", "std", "lines"}, default="std"
        Show the seeds as mean plus and minus one standard deviation, as the band from the lowest
        to the highest, or each as a thin line.

    Attributes
    ----------
    ax_, figure_, lines_, legend_
        As in `PrequentialDisplay`. The columns of `to_frame` are row, model, seed and value.

    Examples
    --------
    >>> from skstream import MajorityClass, evaluate_over_seeds
    >>> from skstream.plotting import SeedDisplay
    >>> from skstream.streams import SEA
    >>> study = evaluate_over_seeds(
    ...     lambda seed: SEA(500, random_state=seed), MajorityClass(), range(3)
    ... )
    >>> display = SeedDisplay.from_result(study)  # doctest: +SKIP
    >>> display.figure_.savefig("seeds.png")  # doctest: +SKIP
    """

    _repetition: ClassVar[str] = "seed"

    spread: Spread = "std"

    @classmethod
    def from_result(
        cls,
        result: Any,
        metric: str | None = None,
        *,
        forgetting: str | None = None,
        models: str | Sequence[str] | None = None,
        drifts: Drifts | None = None,
        spread: Spread = "std",
        **options: Any,
    ) -> Self:
        """Plot a study.

        Parameters
        ----------
        result : SeedStudy
            The study.
        metric : str, default=None
            Measure; None: the first one of the study.
        forgetting : str, default=None
            Forgetting mechanism; None: the first one.
        models : str or sequence of str, default=None
            Models to show; None: all.
        drifts : sequence of (int or pair of int), default=None
            Rows at which the truth is known to change, or pairs ``(start, end)``; None: those of
            the streams, if all seeds have the same; (): none.
        spread : {"range", "std", "lines"}, default="std"
            How to show the seeds.
        **options
            Options of `plot`: `ax`, `legend`, `styles` by model, and properties of all lines.

        Returns
        -------
        display : SeedDisplay
            The display, drawn.

        Raises
        ------
        KeyError
            If the study has no such measure, forgetting mechanism or model.
        TypeError
            If the result is of another kind, or a line has no such property.
        ValueError
            If `spread` or `legend` is none of the choices, or no model is named.
        """
        if not isinstance(result, SeedStudy):
            raise TypeError(f"Expected a study over seeds. Got {type(result).__name__}.")
        contents = contents_of(result.combined, metric, forgetting, models, drifts)
        return cls(**{**contents, "folds": result.seeds}, spread=spread).plot(**options)

    def _spread_of(self, curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.spread != "std":
            return super()._spread_of(curve)
        mean, deviation = curve.mean(axis=1), curve.std(axis=1, ddof=1)
        return mean - deviation, mean + deviation
