"""Findings of the doctor, each printed as a line with its remedy.

Tests: tests/tools/cli/test_doctor.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

OK, NOTE, PROBLEM = "ok", "note", "problem"
SUBJECT_WIDTH = 15


@dataclass(frozen=True)
class Finding:
    """A line of the doctor's report.

    status   "ok", "note" (worth knowing, nothing is broken) or "problem" (needs a fix)
    subject  what was checked, in a word or two
    what     the result, with its numbers
    remedy   how to fix it; empty where there is nothing to fix
    figures  the numbers by name, for JSON

    >>> print(Finding("note", "cache", "off: TVMQ_CACHE is empty", "unset it to build faster"))
    note     cache            off: TVMQ_CACHE is empty
                              -> unset it to build faster
    """

    status: str
    subject: str
    what: str
    remedy: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        head = f"{self.status:<7}  {self.subject:<{SUBJECT_WIDTH}}  "
        lines = self.what.splitlines() or [""]
        lines += [f"-> {line}" if not index else f"   {line}" for index, line in enumerate(self.remedy.splitlines())]
        return f"\n{' ' * len(head)}".join([head + lines[0], *lines[1:]])

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary, for JSON."""
        return {**vars(self), "figures": dict(self.figures)}


Check = Callable[[], Iterable[Finding]]


def ok(subject: str, what: str, **figures: Any) -> Finding:
    """Finding that needs no action."""
    return Finding(OK, subject, what, "", figures)


def note(subject: str, what: str, remedy: str = "", **figures: Any) -> Finding:
    """Finding that is worth knowing."""
    return Finding(NOTE, subject, what, remedy, figures)


def problem(subject: str, what: str, remedy: str, **figures: Any) -> Finding:
    """Finding that needs a fix, and the fix."""
    return Finding(PROBLEM, subject, what, remedy, figures)


def count_problems(findings: Iterable[Finding]) -> int:
    """Number of problems among the findings."""
    return sum(finding.status == PROBLEM for finding in findings)


def run_check(subject: str, check: Check) -> list[Finding]:
    """Run a check and return its findings; an exception becomes one more finding, so that later checks still run."""
    findings: list[Finding] = []
    try:
        findings.extend(check())
    except Exception as error:  # whatever a broken installation raises
        findings.append(report_check_failure(subject, error))
    return findings


def report_check_failure(subject: str, error: Exception) -> Finding:
    """Finding for a check that failed with an unexpected exception.

    >>> print(report_check_failure("memory", KeyError("level")))
    problem  memory           the check itself failed: KeyError: 'level'
                              -> report it, with the output of `tvmq doctor --json`
    """
    text = (str(error).splitlines() or [""])[0]
    remedy = "report it, with the output of `tvmq doctor --json`"
    return problem(subject, f"the check itself failed: {type(error).__name__}: {text}", remedy)
