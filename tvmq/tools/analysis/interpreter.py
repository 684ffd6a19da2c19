"""An interpreter to subclass: a module operator by operator, with a method that may look at each or change it.

It is the NumPy execution of tvmq.reference, whose result each operator gives unless `run_node` is overridden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tvm import relax

from tvmq.codegen.lower.patterns.chains import HEADS
from tvmq.graph.names import merge
from tvmq.graph.view import op_name, used_vars
from tvmq.reference import Reference
from tvmq.tools.analysis.comparison import Model, module_of


@dataclass(frozen=True, eq=False)
class InterpreterNode:
    """An operator of a module as `Interpreter.run_node` gets it; a float convolution with its bias and clip is one.

    name     variable that holds its result; the passes keep it
    op       operator: "nn.conv2d", "tvmq.simulated_quantize"
    layers   names in the source model
    inputs   variables that it reads, in order
    call     expression of the operator, whose `attrs` are its attributes
    compute  function of arguments: the definition's result
    """

    name: str
    op: str
    layers: tuple[str, ...]
    inputs: tuple[str, ...]
    call: relax.Call
    compute: Callable[[Sequence[Any]], Any] = field(repr=False)


class Interpreter:
    """Runs a module operator by operator in NumPy; override `run_node` to observe, measure or change it.

    model    a module at any stage, an executable, or the (module, params) of an importer
    target   what float operators without a definition are compiled for; results do not depend on it

    >>> from tvm import relax
    >>> x, builder = relax.Var("x", relax.TensorType((2,), "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(relax.op.nn.relu(x), "y")
    ...     _ = builder.emit_func_output(builder.emit(relax.op.negative(y), "z"))
    >>> class Shapes(Interpreter):
    ...     def run_node(self, node, args):
    ...         result = super().run_node(node, args)
    ...         print(node.name, node.op, result.shape)
    ...         return result
    >>> Shapes(builder.get()).run({"x": np.float32([-1, 2])})
    y nn.relu (2,)
    z negative (2,)
    [array([-0., -2.], dtype=float32)]
    """

    def __init__(self, model: Model, *, target: Any = "llvm") -> None:
        self._reference = Reference(module_of(model), target=target)

    def run(self, inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray]) -> list[np.ndarray]:
        """Results of the module, one array an output.

        inputs   {input name: array} or arrays in order
        raises   DataError for inputs that do not fit the module
        """
        return self._reference.run(inputs, step=self._step)

    def run_node(self, node: InterpreterNode, args: Sequence[Any]) -> Any:
        """Result of an operator, which all that read it get: an array, or a list for an operator of several.

        args  an array for each argument, constants included, a list for a tuple; for a float operator without a
              definition, one for each of `node.inputs`
        """
        return node.compute(args)

    def _step(
        self, var: relax.Var, call: relax.Call, args: Sequence[Any], compute: Callable[[Sequence[Any]], Any]
    ) -> Any:
        view, members = self._reference.view, self._reference.members(var.name)
        head = next((member for member in members if op_name(view.value[member]) in HEADS), var.name)
        operator = call if head == var.name else view.value[head]
        inputs = dict.fromkeys(used for member in members for used in used_vars(view.value[member]))
        outside = tuple(used for used in inputs if used not in members)
        layers = merge(*(view.sources(member) for member in members))
        return self.run_node(InterpreterNode(var.name, op_name(operator), layers, outside, operator, compute), args)
