"""Errors of models, which name the model, the fold and the row."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from traceback import walk_tb
from typing import Any

#: What a model's methods may raise; of SystemExit see `ends_program`.
RAISED = (Exception, SystemExit)


class BadAnswer(ValueError):
    """An answer of the wrong shape or length, or one that is neither label nor number."""


class ModelError(ValueError):
    """A model failed during an evaluation; names the model, the fold and the row.

    Attributes
    ----------
    model : str
        Name of the model.
    fold : int
        Fold it ran in.
    row : int
        Row, counted from 0, at which it failed, of the holdout rows where it was asked about them;
        -1 before the first one.
    result : EvaluationResult or None
        Scores before the failure, if there are any; with several workers, of the models that had
        finished, or else of those that ran with the one that failed; of some folds where no model
        has all.
    """

    def __init__(self, message: str, model: str = "", fold: int = 0, row: int = -1):
        super().__init__(message)
        self.model = model
        self.fold = fold
        self.row = self.begin = row  # begin: the first row of the call that failed
        self.result: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        notes = {"__notes__": self.__notes__} if hasattr(self, "__notes__") else None
        return type(self), (str(self), self.model, self.fold, self.row), notes


@contextmanager
def failures_named(name: str, fold: int, action: str, n_folds: int = 1) -> Iterator[None]:
    """Turn any exception into a `ModelError` of a model and fold."""
    try:
        yield
    except ModelError:
        raise
    except RAISED as error:
        if ends_program(error):
            raise
        raise model_error(name, fold, n_folds, action, error) from error


def ends_program(error: BaseException) -> bool:
    """Whether this is a SystemExit raised by a handler of signals, and not by a model itself.

    A model that calls ``sys.exit`` has failed, and ``error_score`` applies. A program that is told
    to end by a signal (SIGTERM) must end, and its handler is called in the middle of whatever
    runs, mostly a model. Python gives the handler the frame that it interrupted, which is the one
    before it in the traceback; no other function has that.
    """
    if not isinstance(error, SystemExit):
        return False
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    for caller, frame in pairwise(frames):
        for value in frame.f_locals.values():
            values = value if isinstance(value, tuple) else (value,)
            if any(value is caller for value in values):
                return True
    return False


def model_error(
    name: str,
    fold: int,
    n_folds: int,
    action: str,
    cause: BaseException,
    row: int = -1,
) -> ModelError:
    """Return the error that says which model failed at what, and why."""
    of_fold = f" (fold {fold})" if n_folds > 1 else ""
    why = str(cause) if isinstance(cause, BadAnswer) else f"{type(cause).__name__}: {cause}"
    if isinstance(cause, AttributeError) and cause.__cause__ is not None:
        why += _why_not_offered(cause)
    return ModelError(f"Model '{name}'{of_fold} failed while {action}: {why}", name, fold, row)


def _why_not_offered(error: BaseException) -> str:
    """Say what the innermost model says of a method that is offered only in some cases."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f" ({error})."


def in_short(error: BaseException) -> str:
    """Return the type of an error, and the first line of its text."""
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}{text and f': {text}'}"
