"""Writer of an integral core as C: what each variable becomes, and the steps of the run function.

An operator that computes values one by one is a Formula, which its only reader writes into its own loop; every other
operator is a step that writes an array. A step stands behind those before it, and says what it reads and writes: so
the arena can be planned when all steps are known (arena.py).

Tests: tests/formats/c/test_export_c.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq.formats.c import loops, rescale
from tvmq.formats.c.constants import CConstants
from tvmq.formats.c.shared_functions import Library
from tvmq.formats.c.tensor import NAMES, CTensor, Formula, Ints, Operand, Storage, broadcast, in_arena, strides_of
from tvmq.formats.exporting.binding_writer import BindingWriter, Table
from tvmq.graph.operators import where
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, shape_of

Value = Any  # CTensor, Formula, or a list of them
Form = Callable[["CWriter", relax.Var, relax.Call], Value]


@dataclass
class CStep:
    """A statement of the run function.

    text     C, with marks for addresses
    reads, writes   arrays
    in_place  (result, operand): what may take whose place if nobody reads the operand later
    """

    layer: str
    text: str
    reads: Sequence[CTensor]
    writes: Sequence[CTensor]
    in_place: Sequence[tuple[CTensor, CTensor]] = field(default_factory=list)


@dataclass
class Epilogue:
    """Bias and requantize that a step applies to its sums before it stores them.

    var       the variable that the step computes
    bias      added to the sums of each channel; None for nothing
    call      the requantize; None keeps int32
    intermediates  variables on the way, which are not made
    """

    var: relax.Var
    bias: np.ndarray | None = None
    call: relax.Call | None = None
    intermediates: list[str] = field(default_factory=list)

    def follow(self, var: relax.Var) -> None:
        """Go on to the next variable."""
        self.intermediates.append(self.var.name)
        self.var = var


class CWriter(BindingWriter):
    """`values` holds the array or the formula of each variable, `steps` the statements in order."""

    caller, format = "export_c", "C"
    remedy = f"{BindingWriter.remedy}, or report the operator"

    def __init__(self, view: View, forms: Table) -> None:
        super().__init__(view, forms)
        self.library, self.constants = Library(), CConstants()
        self.steps: list[CStep] = []
        self.tensors: dict[str, CTensor] = {}

    def run(self, inputs: Sequence[str]) -> list[CTensor]:
        """Write all steps; the arrays that the function returns. `inputs` are names of its parameters in C."""
        for param, place in zip(self.view.func.params, inputs, strict=True):
            self.values[param.name] = CTensor(shape_of(param), NAMES[dtype_of(param)], Storage(0, place=place))
        self.write_bindings()
        return [self.array(self.view.var[name]) for name in self.view.outputs]

    # ---- what an expression is

    def write_call(self, var: relax.Var, call: relax.Call) -> Value:
        """Value of a call: a formula only where its reader writes it into its own loop."""
        result = super().write_call(var, call)
        if isinstance(result, Formula) and not self._is_read_once(var.name, result):
            result = self.write_formula(result)
        return result

    def constant_value(self, expr: relax.Constant) -> CTensor:
        """Array of a constant."""
        return self.constants.tensor(const_value(expr), "constant")

    def array(self, expr: relax.Expr) -> CTensor:
        """An argument as an array in memory."""
        value = self.value(expr)
        if isinstance(value, Formula):
            value = self.values[expr.name] = self.write_formula(value)
        return value

    def formula(self, expr: relax.Expr, shape: Ints) -> Formula:
        """An argument as a formula for results of that shape."""
        if is_const(expr) and const_value(expr).size == 1:
            return Formula(shape, NAMES[dtype_of(expr)], (), literal(int(const_value(expr).ravel()[0])))
        value = self.value(expr)
        if isinstance(value, Formula):
            if value.shape == shape:
                return value
            value = self.array(expr)
        return Formula(shape, value.type, (broadcast(value, shape),), "{0}")

    def _is_read_once(self, name: str, formula: Formula) -> bool:
        """True if the only reader computes one by one as well, at the same places."""
        reader = self.view.only_reader(name)
        if reader is None or reader in self.values or len(formula.operands) > 8:
            return False
        value = self.view.value[reader]
        times = sum(isinstance(arg, relax.Var) and arg.name == name for arg in getattr(value, "args", ()))
        return op_name(value) in ELEMENTWISE and times == 1 and shape_of(self.view.var[reader]) == formula.shape

    # ---- steps

    def add(self, step: CStep) -> None:
        """Append a step, and register its arrays for the plan of the arena."""
        for tensor in (*step.reads, *step.writes):
            self.tensors[tensor.mark] = tensor
        self.steps.append(step)

    def write(self, text: str, reads: Sequence[CTensor], writes: Sequence[CTensor]) -> None:
        """Append a step of the current layer."""
        self.add(CStep(self.layer, text, reads, writes))

    def result(self, var: relax.Var) -> CTensor:
        """A new array for a variable."""
        return in_arena(shape_of(var), dtype_of(var))

    def part(self, kind: str, shape: Ints) -> CTensor:
        """A new array for one of several results."""
        result = CTensor(shape, kind, Storage(0))
        result.storage.size = result.bytes
        return result

    def fill(self, result: CTensor, text: str) -> None:
        """Append a step that fills an array with one number."""
        formula = Formula(result.shape, result.type, (), text)
        self.write(loops.elementwise(formula, result), [], [result])

    def write_formula(self, formula: Formula) -> CTensor:
        """The array that a formula fills."""
        result = self.part(formula.type, formula.shape)
        reads = [operand.tensor for operand in formula.operands]
        unfit = {o.tensor.storage for o in formula.operands if not is_at_its_place(formula, o)}
        in_place = [(result, t) for t in reads if t.storage not in unfit and t.bytes >= result.bytes]
        self.add(CStep(self.layer, loops.elementwise(formula, result), reads, [result], in_place))
        return result

    def copy(self, source: Operand, shape: Ints, target: CTensor, offset: int = 0, strides: Ints | None = None) -> None:
        """Append a step that moves elements: those of `source`, a box of that shape, to places of `target`."""
        formula = Formula(shape, source.tensor.type, (source,), "{0}")
        text = loops.elementwise(formula, target, offset, strides or strides_of(shape))
        self.write(text, [source.tensor], [target])

    # ---- sums

    def find_epilogue(self, var: relax.Var, channel_axis: int) -> Epilogue:
        """Bias and requantize behind sums, as far as the step can apply them; their variables are written with it."""
        rank, channels = len(shape_of(var)), shape_of(var)[channel_axis]
        epilogue = Epilogue(var)
        reader = self.view.only_reader(var.name)
        if reader is not None and op_name(self.view.value[reader]) == "add":
            epilogue.bias = _bias(self.view.value[reader], var, channel_axis, rank, channels)
            if epilogue.bias is not None:
                epilogue.follow(self.view.var[reader])
                reader = self.view.only_reader(epilogue.var.name)
        if reader is not None and op_name(self.view.value[reader]) == "tvmq.requantize":
            call = self.view.value[reader]
            sizes = rescale.constants_of(call)[0].size if str(call.attrs.mode) != "float" else -1
            if sizes == 1 or (sizes == channels and int(call.attrs.axis) % rank == channel_axis % rank):
                epilogue.call = call
                epilogue.follow(self.view.var[reader])
        return epilogue

    def store_result(self, epilogue: Epilogue, result: CTensor) -> CTensor:
        """Record the result under all variables that the epilogue computes."""
        self.values.update(dict.fromkeys([*epilogue.intermediates, epilogue.var.name], result))
        return result


def literal(number: int) -> str:
    """A number in C, which has no negative ones: the lowest of a type is no negation of one that fits it.

    >>> literal(3), literal(-3), literal(-2**31)
    ('3', '(-3)', '(-2147483647 - 1)')
    """
    if number == -(2**63):
        return "(-9223372036854775807 - 1)"
    if number == -(2**31):
        return "(-2147483647 - 1)"
    return str(number) if number >= 0 else f"({number})"


def is_at_its_place(formula: Formula, operand: Operand) -> bool:
    """True if the formula reads each element of an operand where the result has it."""
    own = strides_of(formula.shape)
    same = all(a == b or n == 1 for a, b, n in zip(operand.strides, own, formula.shape, strict=True))
    return same and operand.offset == 0


def _bias(add: relax.Call, var: relax.Var, axis: int, rank: int, channels: int) -> np.ndarray | None:
    """The constant that an add adds to each channel; None if it adds something else."""
    (other,) = [arg for arg in add.args if not (isinstance(arg, relax.Var) and arg.name == var.name)] or [None]
    if other is None or not is_const(other) or dtype_of(other) != "int32":
        return None
    values = const_value(other)
    if values.ndim > rank:
        return None
    shape = (1,) * (rank - values.ndim) + values.shape
    wanted = tuple(channels if i == axis % rank else 1 for i in range(rank))
    if shape == wanted:
        return values.ravel()
    return np.full(channels, values.ravel()[0], values.dtype) if values.size == 1 else None


# Operators whose forms give formulas
ELEMENTWISE = frozenset(where(elementwise=True, integer=True)) | {
    "tvmq.requantize",
    "tvmq.add",
    "tvmq.multiply",
    "tvmq.add_mask",
    "tvmq.table",
    "tvmq.prelu",
    "tvmq.scale_shift",
    "tvmq.fence",
}
