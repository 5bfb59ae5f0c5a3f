"""What a live run needs to know where a failure has stopped it, until the user decides."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skstream.engine.run import Answered, Step
from skstream.utils._choices import check_choice

DECIDE = (
    "The run waits for your decision: go_on('retry') tries again what failed, go_on('skip') leaves "
    "the row out, go_on('leave_out') goes on without the model. save(path) works, and result() "
    "gives what came before the call."
)


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A step that a failure has stopped, and how it is noted in the end.

    `step` is what the models did. If they have not begun, it is None, `reason` says why, and
    `event` can be executed again.
    """

    note: Callable[[list[Answered]], None]
    step: Step | None = None
    event: tuple[Any, ...] = ()
    reason: str = ""


def check_on_error(on_error: str) -> None:
    """Check the parameter of the calls of a live run."""
    check_choice(on_error, "on_error", ("raise", "skip"))
