"""`tvmq.check_backend`: is there anything in the core of an integer module that a backend description lacks?

Tests: tests/tools/analysis/test_conformity.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import tvm
from tvm import relax

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.chips.comparison.backend_checks import CHECKS, RULES, BindingSite
from tvmq.graph.analysis.core_bounds import Bounds
from tvmq.graph.analysis.integer_core import regions
from tvmq.graph.ledger import require_stage
from tvmq.graph.module_functions import inline_functions, plain_module, unpack_weights
from tvmq.graph.view import View, dtype_of, op_name
from tvmq.passes.integrality import integrality


@dataclass(frozen=True)
class Violation:
    """A part of a module that lies outside of the description.

    variable  of the module
    layers    names in the source
    operator  as it prints, without R.
    rule      one of RULES
    what      in words, with the numbers
    """

    variable: str
    layers: tuple[str, ...]
    operator: str
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.rule}: layer '{', '.join(self.layers)}', {self.operator} '{self.variable}': {self.what}"


@dataclass(frozen=True)
class Conformity:
    """Result of `tvmq.check_backend`; prints "conforms: yes", or "conforms: no" and every violation.

    backend     name of the description
    operators   {operator: how many of them the core has}
    dtypes      {element type: how many results of the core have it}
    violations  everything outside of the description, in the order of the module
    """

    backend: str
    operators: dict[str, int]
    dtypes: dict[str, int]
    violations: tuple[Violation, ...]

    @property
    def conforms(self) -> bool:
        """True if nothing is outside of the description."""
        return not self.violations

    def to_dict(self) -> dict[str, Any]:
        """Dictionary for JSON."""
        return {"conforms": self.conforms, **asdict(self)}

    def __str__(self) -> str:
        total = sum(self.operators.values())
        if self.conforms:
            return f"conforms: yes (all {total} operators of the core are in the description of {self.backend})"
        outside = len({violation.variable for violation in self.violations})
        head = f"conforms: no ({outside} of {total} operators of the core are outside of {self.backend})"
        return "\n  ".join([head, *map(str, self.violations)])


def check_backend(mod: tvm.IRModule, backend: str | Backend | None) -> Conformity:
    """Compare every operator, type and attribute of an integer module's core with a backend description.

    mod      as `quantize` gives it, in one function or in four; its core is what lies between the conversions of inputs
             and results (partition_conversions), and any floats after it that are more than functions of
             one result
    backend  a tvmq.Backend, its "module:object", or the name of one of tvmq.backends; None is the portable CPU
    raises   StageError for a module that is not quantized, ConfigError for an unknown backend

    Nothing that quantize decided is believed: types, zero points, factors and sizes are read from the module, and how
    large the sums can get is computed anew from weights and codes.
    """
    mod = plain_module(mod)
    scales = require_stage(mod, "check_backend", ("realized",)).codes
    description, mod = backend_named(backend), unpack_weights(inline_functions(mod))
    view = View(mod)
    core = {*regions(view).core, *(operator.variable for operator in integrality(mod).floats)}
    bounds = Bounds(view)
    violations: list[Violation] = []
    operators: Counter[str] = Counter()
    dtypes: Counter[str] = Counter()
    for var, value in view.bindings:
        if var.name not in core:
            continue
        operators[_operator_name(value)] += 1
        if isinstance(var.ty, relax.TensorType):
            dtypes[dtype_of(var)] += 1
        violations += _violations(BindingSite(view, var, value, bounds, description, scales))
    return Conformity(description.name, dict(operators), dict(dtypes), tuple(violations))


def _violations(site: BindingSite) -> Iterator[Violation]:
    """Everything that the checks find at one binding, each once."""
    faults = dict.fromkeys(fault for check in CHECKS for fault in check(site))
    for rule, what in faults:
        name = site.var.name
        yield Violation(name, site.view.sources(name), _operator_name(site.value), rule, what)


def _operator_name(value: relax.Expr) -> str:
    return op_name(value) or type(value).__name__


__all__ = ["RULES", "Conformity", "Violation", "check_backend"]
