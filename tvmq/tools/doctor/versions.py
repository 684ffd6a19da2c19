"""Versions of Python packages and the ranges that tvmq requires, read from its own metadata.

Only the syntax in tvmq's metadata is parsed: release numbers, post, pre and development releases, and lists of
comparisons. The package `packaging` is not used because the doctor must work where packages are missing.

Tests: tests/tools/doctor/test_installation.py
"""

from __future__ import annotations

import re
from dataclasses import dataclass

REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)\s*(?P<bounds>[^;]*)(?:;\s*extra\s*==\s*[\"'](?P<extra>[\w-]+)[\"'])?")
BOUND = re.compile(r"(>=|<=|==|!=|<|>)\s*([\w.]+)")
PRE = {"a": 0, "b": 1, "rc": 2}
FINAL = 3


@dataclass(frozen=True)
class Requirement:
    """A package, its accepted versions ("<0.28,>=0.27"), and the extra that requires it ("" if always required)."""

    name: str
    bounds: str
    extra: str = ""

    def admits(self, version: str) -> bool:
        """True for a version within the bounds.

        >>> parse_requirement("apache-tvm<0.28,>=0.27.0.post1").admits("0.27.0")
        False
        """
        return all(_is_within(version, sign, bound) for sign, bound in BOUND.findall(self.bounds))


def parse_requirement(text: str) -> Requirement:
    """Parse a requirement from a line of a package's metadata.

    >>> parse_requirement('torch>=2.9; extra == "torch"')
    Requirement(name='torch', bounds='>=2.9', extra='torch')
    """
    match = REQUIREMENT.match(text)
    if match is None:
        return Requirement(text, "")
    return Requirement(match["name"], match["bounds"].strip(), match["extra"] or "")


def sort_key(version: str) -> tuple[tuple[int, ...], int, int, int]:
    """Sort key of a version: release number, then development, pre, final and post release.

    >>> sort_key("0.27.0rc1") < sort_key("0.27") < sort_key("0.27.0.post1") < sort_key("0.27.1")
    True
    """
    plain = version.lower().partition("+")[0]
    release = re.match(r"\d+(?:\.\d+)*", plain)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    pre = re.search(r"(a|b|rc)(\d+)", plain)
    development = re.search(r"dev(\d*)", plain)
    post = re.search(r"post(\d*)", plain)
    stage = PRE[pre[1]] if pre else -1 if development and not post else FINAL
    return tuple(numbers), stage, int(pre[2]) if pre else 0, int(post[1] or 0) + 1 if post else 0


def _is_within(version: str, sign: str, bound: str) -> bool:
    a, b = sort_key(version), sort_key(bound)
    if sign == "<":
        # as pip has it: a pre-release of the bound is not below it
        return a < b and a[0] != b[0]
    return {">=": a >= b, "<=": a <= b, "==": a == b, "!=": a != b, ">": a > b}[sign]
