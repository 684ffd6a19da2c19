"""Dynamic dimensions that are one: two names for a size that a layer needs to be equal.

Exporters from Keras name each unknown size anew, so the batch of one input is `unk__330` and that of the other
`unk__331`, or has no name at all. A layer that joins or adds them tells that there is one dimension.

Tests: tests/graph/test_required_equals.py
"""

from __future__ import annotations

from collections.abc import Mapping

import tvm
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars

from tvmq.graph.sizes import Dim, is_number


class OnlyEqual(Exception):
    """Two dynamic dimensions must have one size: the importer makes them one, and begins anew."""

    def __init__(self, name: str, other: str) -> None:
        super().__init__(name, other)
        self.name, self.other = name, other


def require_equal_dimensions(one: Dim, other: Dim) -> None:
    """Ask for two dimensions to be one where only this makes two sizes equal, as of `batch` and `n`.

    raises  OnlyEqual where the sizes depend on a dimension each, and are equal where these are
    """
    first, second = _dimensions(one), _dimensions(other)
    if len(first) != 1 or len(second) != 1 or first[0].same_as(second[0]):
        return
    analyzer = Analyzer()
    analyzer.bind(second[0], first[0])
    if analyzer.can_prove_equal(one, other):
        raise OnlyEqual(str(second[0].name), str(first[0].name))


def representative(name: str, equals: Mapping[str, str]) -> str:
    """The dimension that stands for one and for all that are equal to it.

    >>> representative("c", {"c": "b", "b": "a"}), representative("a", {"c": "b", "b": "a"})
    ('a', 'a')
    """
    while name in equals:
        name = equals[name]
    return name


def _dimensions(size: Dim) -> list[tvm.ir.Var]:
    return [] if is_number(size) else list(undefined_vars(size))
