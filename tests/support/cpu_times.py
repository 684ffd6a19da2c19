"""CPU seconds of every test, fixtures that it sets up and programs that it starts included.

The ten longest are listed at the end of a run. In CI a test above MOST_SECONDS fails the run unless it is marked slow:
`make test` stays short. CPU seconds, for they do not grow because other work shares the machine.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

MOST_SECONDS = 10.0
LISTED = 10
CPU_SECONDS = "cpu_seconds"  # the property of a report


def cpu_seconds() -> float:
    """CPU seconds of this process and of the children that it waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def too_long(seconds: Mapping[str, float], environment: Mapping[str, str]) -> list[str]:
    """A line for each test above MOST_SECONDS; none outside of CI, whose machines are like each other."""
    if not environment.get("CI"):
        return []
    return [
        f"{name} took {value:.1f} s of CPU, a test of `make test` may take {MOST_SECONDS:.0f} s; "
        "make it smaller, or mark it with pytest.mark.slow"
        for name, value in seconds.items()
        if value > MOST_SECONDS
    ]


class CpuTimes:
    """A plugin of pytest: measures in each process, sums up in the one that reports."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.unmarked: dict[str, float] = {}
        self._start = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """The clock starts."""
        self._start = cpu_seconds()
        yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """The time goes with the report, from a worker of xdist too."""
        try:
            yield
        finally:
            item.user_properties.append((CPU_SECONDS, cpu_seconds() - self._start))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the time of a test."""
        seconds = dict(report.user_properties).get(CPU_SECONDS)
        if report.when == "call" and isinstance(seconds, float):
            self.seconds[report.nodeid] = seconds
            if "slow" not in report.keywords:
                self.unmarked[report.nodeid] = seconds

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A test that takes too long fails the run."""
        if too_long(self.unmarked, os.environ) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The tests that took longest, and what is wrong with it."""
        longest = sorted(self.seconds.items(), key=lambda one: -one[1])[:LISTED]
        if len(self.seconds) > LISTED:
            terminalreporter.section(f"most CPU seconds, of {sum(self.seconds.values()):.0f} in all tests")
            for name, value in longest:
                terminalreporter.line(f"{value:6.2f} {name}")
        for line in too_long(self.unmarked, os.environ):
            terminalreporter.line(line, red=True)
