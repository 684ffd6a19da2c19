"""Operators that a lowering takes, as its function sees them.

Tests: tests/codegen/custom_lowering/test_own_functions.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax, te

from tvmq.errors import ConfigError
from tvmq.graph.view import dtype_of, op_name, sizes_of


@dataclass(frozen=True, eq=False)
class Match:
    """Operators that become one call.

    name       of the lowering
    layers     their names in the source
    calls      {variable: call} in the order of computation; the last one gives the result
    inputs     variables that are computed outside, in the order in which the calls read them, each once
    constants  the constants that the calls read, in the same order
    result     the variable that the last call is bound to; its type is that of the result
    captured   {name of an annotation: expression} of a pattern with annotations

    All tensors are as in the module: pictures NCHW, weights OIHW. A dynamic batch is 1: samples are run one by one.
    """

    name: str
    layers: tuple[str, ...]
    calls: Mapping[str, relax.Call]
    inputs: tuple[relax.Var, ...]
    constants: tuple[np.ndarray, ...]
    result: relax.Var
    captured: Mapping[str, relax.Expr] = field(default_factory=dict)
    _placeholders: list[te.Tensor] = field(default_factory=list, init=False, repr=False)

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the operators, in order."""
        return tuple(op_name(call) for call in self.calls.values())

    def call(self, operator: str) -> relax.Call:
        """The first call of an operator.

        raises   ConfigError if there is none
        """
        for call in self.calls.values():
            if op_name(call) == operator:
                return call
        raise ConfigError(
            f"lowering '{self.name}': its match has no {operator}, it has {', '.join(self.operators)}; ask for one of "
            "these"
        )

    def attrs(self, operator: str) -> Any:
        """The attributes of the first call of an operator; ConfigError if there is none."""
        return self.call(operator).attrs

    def placeholders(self) -> list[te.Tensor]:
        """TE tensors for the inputs, then for the constants: what a computation in TE begins with. Every call gives
        the same ones."""
        if not self._placeholders:
            inputs = [te.placeholder(list(var.ty.shape), dtype_of(var), var.name) for var in self.inputs]
            constants = [te.placeholder(a.shape, str(a.dtype), f"constant_{i}") for i, a in enumerate(self.constants)]
            self._placeholders.extend((*inputs, *constants))
        return list(self._placeholders)

    def parameter_types(self) -> list[str]:
        """Types of the parameters of a function for it: inputs, constants, result."""
        types = [f"{dtype_of(var)}{list(sizes_of(var))}" for var in (*self.inputs, self.result)]
        return [*types[:-1], *(f"{a.dtype}{list(a.shape)}" for a in self.constants), types[-1]]

    def __repr__(self) -> str:
        return f"Match({self.name}: {', '.join(self.layers)}: {' -> '.join(self.operators)})"
