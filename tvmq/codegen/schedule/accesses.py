"""Reads and writes of a block of a loop nest: how far memory moves with each of its variables.

Only blocks of the form that TVM's operator library makes are described: one store, a loop for each variable. Everything
else is None, and the caller leaves it alone.

Tests: tests/codegen/schedule/test_generic.py
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import tvm
from tvm import sym, tirx
from tvm.ir.expr import TensorLoad
from tvm.ir.prim.expr import Let
from tvm.target import codegen

Expr = Any
OPERANDS = ("a", "b", "value", "body", "condition", "true_value", "false_value")
LEAVES = (tvm.ir.Var, tirx.IntImm, tirx.FloatImm)
NOMINAL = 64  # what a size that only a run tells counts as
CALL_COST = 20  # operations that one call is worth


def children(node: Expr) -> list[Expr]:
    """Operands of an expression."""
    if isinstance(node, TensorLoad):
        return list(node.indices)
    if isinstance(node, tvm.ir.Call):
        return list(node.args)
    if isinstance(node, LEAVES):
        return []
    kind: Any = type(node)  # mypy takes no class for hashable
    operands = [getattr(node, name) for name in _operands(kind)]
    return [child for child in operands if isinstance(child, tvm.ir.Expr)]


@cache
def _operands(kind: Hashable) -> tuple[str, ...]:
    """Names of the operands that expressions of a class have."""
    return tuple(name for name in OPERANDS if hasattr(kind, name))


def walk(node: Expr, addresses: bool = True) -> Iterator[Expr]:
    """The expression and all below it; `addresses`: the indices of loads as well."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if addresses or not isinstance(node, TensorLoad):
            waiting += children(node)[::-1]


def call_name(node: Expr) -> str:
    """Name of the operator that a Call calls, without its dialect; empty for others."""
    return str(getattr(node.op, "name", "")).rpartition(".")[2] if isinstance(node, tvm.ir.Call) else ""


def is_fence(node: Expr) -> bool:
    """True for a call of llvm.arithmetic.fence."""
    if call_name(node) != "call_llvm_pure_intrin":
        return False
    return int(node.args[0].value) == codegen.llvm_lookup_intrinsic_id("llvm.arithmetic.fence")


def _takes_vectors(call: Expr) -> bool:
    if call_name(call) in ("if_then_else", "reinterpret"):
        return True
    return isinstance(call.op, tvm.ir.Op) and bool(call.op.get_attr("TVectorizable"))


def _cost(node: Expr) -> int:
    if isinstance(node, (tirx.IntImm, tirx.FloatImm)) or is_fence(node):
        return 0
    return CALL_COST if isinstance(node, tvm.ir.Call) and call_name(node) != "if_then_else" else 1


def constant(expr: Expr) -> int | None:
    """The integer, or None if it is not constant."""
    return int(expr) if isinstance(expr, int) else int(expr.value) if isinstance(expr, tirx.IntImm) else None


@dataclass(frozen=True, eq=False)
class Access:
    """strides: elements per step of each variable of the block; None where it is no constant number."""

    itemsize: int
    strides: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class LoopBlock:
    """A block with one store.

    nodes      the stored expression and all below it
    computed   the same without the indices of loads
    extents    of its variables, in the order of the loops; NOMINAL of those that only a run tells
    dynamic    which of the variables these are
    reduced    which of the variables are summed over
    accesses   the store first, then all loads
    latent     True if it is a sum of floats: every term waits for the one before
    bare       variables that the value depends on other than by what it loads (conditions, positions)
    cuts       for each bare variable, where comparisons with constants change; None if it is used otherwise
    """

    nodes: tuple[Expr, ...]
    computed: tuple[Expr, ...]
    extents: tuple[int, ...]
    dynamic: frozenset[int]
    reduced: tuple[bool, ...]
    accesses: tuple[Access, ...]
    bare: frozenset[int]
    cuts: tuple[tuple[int, ...] | None, ...]
    latent: bool

    @property
    def iterations(self) -> int:
        """Number of times that the store runs."""
        return math.prod(self.extents)

    def extent(self, variables: Sequence[int]) -> int:
        """Number of iterations over some of the variables."""
        return math.prod(self.extents[variable] for variable in variables)

    @cached_property
    def operations(self) -> int:
        """Size of the stored expression: loads and operations on what they load."""
        return sum(map(_cost, self.computed))

    @cached_property
    def has_fence(self) -> bool:
        """True if a fence is in the expression."""
        return any(map(is_fence, self.nodes))

    @cached_property
    def takes_vectors(self) -> bool:
        """True if TVM can make vectors of all its calls."""
        calls = (node for node in self.nodes if isinstance(node, tvm.ir.Call))
        return all(is_fence(call) or _takes_vectors(call) for call in calls)

    @property
    def widest_bytes(self) -> int:
        """Bytes of the largest element that it loads or stores."""
        return max(access.itemsize for access in self.accesses)

    @property
    def binds(self) -> bool:
        """True if the value binds variables."""
        return any(isinstance(node, Let) for node in self.nodes)

    def is_bound(self, buffer: Any) -> bool:
        """True if the value of a variable reads this buffer."""
        bound = (below for node in self.nodes if isinstance(node, Let) for below in walk(node.value))
        return any(buffer.same_as(getattr(node, "source", None)) for node in bound)

    @property
    def conditional(self) -> bool:
        """True if the value depends on the position along the innermost variable of several values."""
        wide = [i for i, extent in enumerate(self.extents) if extent > 1]
        return bool(wide) and wide[-1] in self.bare

    @property
    def input_variable(self) -> int | None:
        """The variable along which the input runs, if it is one input and the output runs along the last."""
        store, *loads = self.accesses
        moving = {load.strides for load in loads if any(stride != 0 for stride in load.strides)}
        if len(moving) != 1 or any(self.reduced) or not self.extents or store.strides[-1] != 1:
            return None
        strides = moving.pop()[:-1]
        candidates = [i for i, stride in enumerate(strides) if stride == 1 and self.extents[i] > 1]
        return candidates[0] if len(candidates) == 1 and candidates[0] not in self.bare else None

    def is_contiguous(self, variables: Sequence[int]) -> bool:
        """True if memory moves element by element, or not at all, when these variables run as one loop."""
        if self.dynamic.intersection(variables) or any(v in self.bare for v in variables if self.extents[v] > 1):
            return False
        return all(_is_dense(access, variables, self.extents) for access in self.accesses)

    def contiguous_tail(self, variables: Sequence[int]) -> list[int]:
        """The longest run of last ones of these variables along which memory moves element by element."""
        count = 0
        while count < len(variables) and self.is_contiguous(variables[len(variables) - count - 1 :]):
            count += 1
        return list(variables[len(variables) - count :])


def _is_dense(access: Access, variables: Sequence[int], extents: tuple[int, ...]) -> bool:
    step, strides, dense = 1, [], []
    for variable in reversed(variables):
        if extents[variable] > 1:
            strides.append(access.strides[variable])
            dense.append(step)
        step *= extents[variable]
    return strides == dense or all(stride == 0 for stride in strides)


def describe(block: Any, *, any_size: bool = False) -> LoopBlock | None:
    """The block, or None if it has another form.

    any_size  also blocks of sizes that only a run tells
    """
    body = block.body
    if not isinstance(body, tirx.BufferStore) or block.match_buffers:
        return None
    variables = [iteration.var for iteration in block.iter_vars]
    extents = [constant(iteration.dom.extent) for iteration in block.iter_vars]
    begins = [constant(iteration.dom.min) for iteration in block.iter_vars]
    kinds = [iteration.iter_type for iteration in block.iter_vars]
    spatial, reduced = tirx.IterVar.DataPar, tirx.IterVar.CommReduce
    shapes = [body.buffer.shape, *(node.source.shape for node in walk(body.value) if isinstance(node, TensorLoad))]
    is_dynamic = None in extents or any(constant(size) is None for shape in shapes for size in shape)
    if (is_dynamic and not any_size) or any(begins) or any(kind not in (spatial, reduced) for kind in kinds):
        return None
    nodes, computed = tuple(walk(body.value)), tuple(walk(body.value, addresses=False))
    reached = [(body.buffer, body.indices)]
    reached += [(node.source, node.indices) for node in nodes if isinstance(node, TensorLoad)]
    accesses = [_access(buffer, indices, variables) for buffer, indices in reached]
    if any(access is None for access in accesses):
        return None
    return LoopBlock(
        nodes,
        computed,
        tuple(NOMINAL if extent is None else extent for extent in extents),
        frozenset(i for i, extent in enumerate(extents) if extent is None),
        tuple(kind == reduced for kind in kinds),
        tuple(access for access in accesses if access is not None),
        frozenset(i for i, variable in enumerate(variables) if any(map(variable.same_as, computed))),
        tuple(_cuts(computed, variable) for variable in variables),
        isinstance(body.value, tirx.Add) and "float" in str(body.buffer.dtype),
    )


def _access(buffer: Any, indices: Sequence[Expr], variables: Sequence[Any]) -> Access | None:
    shape = [constant(extent) for extent in buffer.shape]
    if len(buffer.strides):
        return None
    strides: list[int | None] = [0] * len(variables)
    step: int | None = 1
    for index, extent in reversed(list(zip(indices, shape, strict=True))):
        for position, factor in enumerate(_coefficients(index, variables)):
            known = strides[position]
            if factor != 0:
                strides[position] = None if factor is None or known is None or step is None else known + factor * step
        step = None if extent is None or step is None else step * extent
    return Access((tvm.DataType(str(buffer.dtype)).bits + 7) // 8, tuple(strides))


def _coefficients(index: Expr, variables: Sequence[Any]) -> list[int | None]:
    linear = sym.detect_linear_equation(index, list(variables))
    if linear:
        return [constant(factor) for factor in linear[:-1]]
    used = [node for node in walk(index) if isinstance(node, tvm.ir.Var)]
    return [None if any(v.same_as(u) for u in used) else 0 for v in variables]


def _cuts(computed: Sequence[Expr], variable: Any) -> tuple[int, ...] | None:
    """Values of the variable where a comparison with a constant changes; None if it is used otherwise."""
    cuts: set[int] = set()
    uses = sum(map(variable.same_as, computed))
    for node in computed:
        if isinstance(node, (tirx.LT, tirx.LE)):
            low, high = constant(node.a), constant(node.b)
            if variable.same_as(node.b) and low is not None:
                cuts.add(low + isinstance(node, tirx.LT))
                uses -= 1
            elif variable.same_as(node.a) and high is not None:
                cuts.add(high + isinstance(node, tirx.LE))
                uses -= 1
    return tuple(sorted(cuts)) if uses == 0 else None
