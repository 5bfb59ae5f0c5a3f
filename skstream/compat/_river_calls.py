"""Calls of River's ``learn_one``, ``predict_one`` and ``predict_proba_one``."""

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.compat._river_parameters import models_in
from skstream.utils._label_space import LabelSpace
from skstream.utils._optional import optional_import
from skstream.utils._row_dicts import RowDicts


class RiverRegressorCalls:
    """Calls of a River regressor that has begun to learn."""

    def __init__(self, model: Any, missing: str):
        self.model = model
        self.learn_one = model.learn_one
        self._missing = missing
        self._dicts: list[RowDicts] = []

    def rows(self, X: Any, index: NDArray[np.intp]) -> Iterator[Any]:
        """Yield rows of a container as dictionaries; each is made once."""
        for dicts in self._dicts:
            if dicts.X is X:
                return dicts.rows(index)
        self._dicts.append(RowDicts(X, self._missing))
        return self._dicts[-1].rows(index)

    def targets(self, y: NDArray[Any]) -> list[Any]:
        """Return what is learnt for labels or targets."""
        targets: list[Any] = y.tolist()
        return targets

    def asker(self, method: str) -> Callable[[Any], Any]:
        """Return the River method that answers to one row."""
        ask: Callable[[Any], Any] = self.model.predict_one
        return ask

    def answered(self, answers: list[Any], method: str) -> NDArray[Any]:
        """Return predictions as an array; NaN for none."""
        return np.array(answers, dtype=np.float64)

    def learn_weighted(self, row: Any, target: Any, weight: float) -> None:
        """Learn a row with a weight; where there is no `w`, as often as it says."""
        if weight == 1.0:
            self.learn_one(row, target)
        elif takes_weight(self.model):
            self.learn_one(row, target, w=weight)
        elif weight == int(weight):
            for _ in range(int(weight)):
                self.learn_one(row, target)
        else:
            raise ValueError(
                f"River's {type(self.model).__name__} takes no weights, so a row of weight k is "
                f"learnt k times, but a weight is {weight}. Use whole numbers, or a model whose "
                "learn_one has a parameter w."
            )


class RiverClassifierCalls(RiverRegressorCalls):
    """Calls of a River classifier that has begun to learn.

    Models of two classes learn False and True, the others the labels themselves.
    """

    def __init__(self, model: Any, missing: str, classes: NDArray[Any]):
        super().__init__(model, missing)
        self._classes = classes
        labels = classes.tolist()
        own = labels if is_multiclass(model) else [False, True][: len(labels)]
        self._own_labels = dict(zip(labels, own, strict=True))
        self._places = {label: place for place, label in enumerate(own)}

    def targets(self, y: NDArray[Any]) -> list[Any]:
        """Return what the River model is given for labels."""
        return [self._own_labels[label] for label in y.tolist()]

    def asker(self, method: str) -> Callable[[Any], Any]:
        """Return the River method that answers to one row."""
        name = "predict_proba_one" if method == "predict_proba" else "predict_one"
        ask: Callable[[Any], Any] = getattr(self.model, name)
        if method != "predict_proba":
            return ask
        return lambda row: copy(ask(row))  # the model may write its next answer into the same dict

    def answered(self, answers: list[Any], method: str) -> NDArray[Any]:
        """Return labels, None for none, or probabilities in the order of the classes."""
        if method == "predict_proba":
            return self._probabilities(answers)
        places = [self._places.get(answer) for answer in answers]
        if None not in places:
            known: NDArray[Any] = self._classes[np.array(places, dtype=np.intp)]
            return known
        labels = np.empty(len(answers), dtype=object)
        for number, (answer, place) in enumerate(zip(answers, places, strict=True)):
            labels[number] = answer if place is None else self._classes.item(place)
        return labels

    def _probabilities(self, answers: list[dict[Any, float]]) -> NDArray[np.float64]:
        shares = np.zeros((len(answers), len(self._classes)))
        for share, answer in zip(shares, answers, strict=True):
            if not answer:
                share[:] = np.nan  # no answer
            for label, probability in answer.items():
                place = self._places.get(label)
                if place is not None:
                    share[place] = probability
                elif probability:
                    raise ValueError(LabelSpace(self._classes).unknown(label, "its answer is"))
        return shares


def takes_weight(model: Any) -> bool:
    """Whether ``learn_one`` of a model, or of the last step of a pipeline, has a parameter `w`."""
    last = getattr(model, "_last_step", model)
    return "w" in inspect.signature(type(last).learn_one).parameters


def is_multiclass(model: Any) -> bool:
    """Whether a classifier learns more than two classes.

    Some models that choose among others, such as bandits, do not say it: those others do.
    """
    model = getattr(model, "_last_step", model)
    if model._multiclass:
        return True
    base = optional_import("river.base", "A model of River")
    if type(model)._multiclass is not base.Classifier._multiclass:
        return False  # it says so itself
    inner = [part for part in models_in(model) if part is not model]
    learners = [part for part in inner if isinstance(part, base.Classifier)]
    return bool(learners) and all(part._multiclass for part in learners)
