"""The record of one Relax operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tvm import relax


@dataclass(frozen=True)
class Operator:
    """One Relax operator.

    name        as op_name gives it
    definition  of tvmq.numerics: arrays by position, attributes by keyword
    attributes  names of the attributes, which are the keywords of the definition
    """

    name: str
    definition: Callable[..., Any]
    attributes: tuple[str, ...] = ()

    def evaluate(self, call: relax.Call, *arrays: Any) -> Any:
        """What the definition gives for a call of the operator on these arrays."""
        return self.definition(*arrays, **{name: getattr(call.attrs, name) for name in self.attributes})
