"""Packages of extras: whether a command has them is asked before its work, and without importing them.

Tests: tests/tools/cli/test_extras.py
"""

from __future__ import annotations

from importlib.util import find_spec

from tvmq.errors import ConfigError


def check_extra(command: str, package: str, what: str, extra: str) -> None:
    """Refuse to start a command whose package is not installed.

    what    what the package does for the command, as a clause
    raises  ConfigError with the line for pip

    >>> check_extra("report", "numpy", "which writes the page", "report")
    """
    try:
        is_there = find_spec(package) is not None
    except ValueError:  # it was made impossible to import
        is_there = False
    if not is_there:
        raise ConfigError(f"{command}: {package}, {what}, is not installed; pip install 'tvmq[{extra}]'")
