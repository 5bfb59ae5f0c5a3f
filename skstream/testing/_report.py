"""What the checks of an estimator have found."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["passed", "failed", "xfail", "skipped"]

_SHOWN: dict[Status, str] = {
    "passed": "passed",
    "failed": "FAILED",
    "xfail": "failed as expected",
    "skipped": "left out",
}


@dataclass(frozen=True)
class CheckResult:
    """What one check has found.

    Attributes
    ----------
    name : str
        Name of the check, as `expected_failed_checks` takes it.
    words : str
        What holds where the check passes.
    status : {"passed", "failed", "xfail", "skipped"}
        "xfail": it failed, as was expected; "skipped": it does not apply.
    reason : str
        Why it did not pass; empty where it did.

    Examples
    --------
    >>> from skstream.testing import CheckResult
    >>> print(CheckResult("check_fit_forgets", "fit forgets what was learnt before", "passed"))
    passed: fit forgets what was learnt before
    """

    name: str
    words: str
    status: Status
    reason: str = ""

    def __str__(self) -> str:
        why = f"\n    {self.name}: {self.reason}" if self.reason else ""
        return f"{_SHOWN[self.status]}: {self.words}{why}"


@dataclass(frozen=True, repr=False)
class CheckReport:
    """What all checks of an estimator have found, in words; print it.

    Attributes
    ----------
    estimator : str
        Name of the estimator's type.
    results : tuple of CheckResult
        One for each check, in the order in which they were run.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream.testing import check_stream_estimator
    >>> report = check_stream_estimator(SGDClassifier(), n_learns=1000)
    >>> report.passed, [result.name for result in report.failed]
    (True, [])
    """

    estimator: str
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed, but for those expected to."""
        return not self.failed

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that failed, and were not expected to."""
        return tuple(result for result in self.results if result.status == "failed")

    def __repr__(self) -> str:
        return "\n".join([f"{self._title()}", *(f"  {result}" for result in self.results)])

    def _title(self) -> str:
        numbers = [
            (sum(result.status == status for result in self.results), shown)
            for status, shown in _SHOWN.items()
        ]
        counts = ", ".join(f"{number} {shown}" for number, shown in numbers if number)
        return f"{self.estimator}: {len(self.results)} checks of an estimator on a stream, {counts}"
