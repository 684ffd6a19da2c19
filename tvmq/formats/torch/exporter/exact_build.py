"""An integer module as a torch module that computes the same integers: codes stay codes, sums are int32.

Integer operators are those of integer_operators.py. All others (moves of codes, floats between them) are written by the
exporter of ONNX, an operator at a time, and translated as build.py does.

Tests: tests/formats/torch/exporter/test_to_torch.py
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import onnx
import tvm
from torch import fx
from tvm import relax

from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.exporter.graph import OnnxGraph
from tvmq.formats.onnx.exporter.ops import WRITERS
from tvmq.formats.onnx.exporter.values import is_tensor
from tvmq.formats.onnx.exporter.writer import HANDLERS, OnnxWriter
from tvmq.formats.torch.exporter.build_module import TorchBuilder, _identifier
from tvmq.formats.torch.exporter.integer_operators import EXACT, run_exact
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RECURRENT
from tvmq.graph.symbolic import dynamic_dimensions
from tvmq.graph.view import const_value, dtype_of, flatten_tuples, is_const, op_name
from tvmq.numerics.code_type import CODE_TYPES, CODES_16

INTEGERS = (*CODES_16, "int32")
EXACT_IN_FLOAT32 = 2**24


class ExactBuilder(TorchBuilder):
    """Writes one module; `values` holds what each variable became."""

    def __init__(self, exporter: OnnxWriter, mod: tvm.IRModule) -> None:
        super().__init__(onnx.ModelProto())
        self.exporter, self.source = exporter, exporter.view
        names = [*self.source.params, *(var.name for var, _ in self.source.bindings)]
        exporter.graph = self.onnx = OnnxGraph(names, dynamic_dimensions(mod), exporter.graph.form)

    def module(self) -> fx.GraphModule:
        """The module, in evaluation mode."""
        for param, name in self.exporter.inputs.items():
            self.values[param] = self.values[name] = self.graph.placeholder(_identifier(name))
        for var, value in self.source.bindings:
            self.values[var.name] = self._value(var, value)
        return self._finish([self._argument(result) for result in self.exporter.results])

    def _value(self, var: relax.Var, value: relax.Expr) -> Any:
        if isinstance(value, relax.Var):
            return self.values[value.name]
        if isinstance(value, relax.TupleGetItem):
            return self.graph.call_function(operator.getitem, (self.values[value.tuple_value.name], value.index))
        name = op_name(value)
        if name in EXACT and self._is_integer(var, value):
            attributes = {key: _python_value(getattr(value.attrs, key)) for key in EXACT[name][0]}
            if name == "matmul" or name.startswith("nn.conv"):
                attributes["sums"] = _type_of_sums(value)
            return self.graph.call_function(run_exact, (name, attributes, *map(self._argument, value.args)))
        if name in ("add", "multiply") and dtype_of(var) == "int32":
            function = operator.add if name == "add" else operator.mul
            return self.graph.call_function(function, tuple(map(self._argument, value.args)))
        if name in WRITERS:
            return self._write_as_onnx(var, value)
        way_out = "keep this layer in float"
        if name in HANDLERS:
            way_out = f"use form='decomposed', or {way_out}"
        if not self._is_integer(var, value):
            way_out = "it is float already: replace it in the model"
        if name in where(kind=RECURRENT):
            way_out = "keep the module, or leave the layer out"
        layer = self.source.sources(var.name)[0]
        raise UnsupportedOpError(f"to_torch, layer '{layer}': {name} has no exact equivalent in torch; {way_out}")

    @staticmethod
    def _is_integer(var: relax.Var, call: relax.Call) -> bool:
        """True for an operator that reads or gives codes or sums of them."""
        tensors = [arg for arg in call.args if is_tensor(arg)]
        return any(dtype_of(tensor) in INTEGERS for tensor in (var, *tensors[:1]))

    def _argument(self, arg: relax.Expr) -> Any:
        if is_const(arg):
            return self._buffer(f"operand:{len(self._buffers)}", const_value(arg))
        return self.values[arg.name]

    def _write_as_onnx(self, var: relax.Var, call: relax.Call) -> Any:
        """Build the nodes that the exporter of ONNX writes for a call, on codes and floats alike."""
        done, stored = len(self.onnx.nodes), len(self.onnx.initializers)
        tensors = [arg for arg in flatten_tuples(call.args) if is_tensor(arg)]
        names = [self.onnx.constant(const_value(a), "constant") if is_const(a) else a.name for a in tensors]
        written = WRITERS[op_name(call)](self.exporter._node(var, call, names))
        self.view.store(self.onnx.initializers[stored:])
        for node in self.onnx.nodes[done:]:
            self._write(node)
        return [self.values[name] for name in written] if isinstance(written, list) else self.values[written]


def _type_of_sums(call: relax.Call) -> str:
    """A float that holds all sums of a layer with a constant weight."""
    weight = call.args[1]
    if not is_const(weight):
        return "float64"
    codes = np.abs(const_value(weight).astype(np.int64))
    axis = 0 if op_name(call).startswith("nn.conv") else codes.ndim - 1
    largest = int(codes.sum(axis=tuple(i for i in range(codes.ndim) if i != axis)).max(initial=0))
    return "float32" if largest * CODE_TYPES[dtype_of(call.args[0])].largest_code < EXACT_IN_FLOAT32 else "float64"


def _python_value(value: Any) -> Any:
    """Python value of an attribute."""
    if isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "__len__"):
        return [int(item) for item in value]
    return str(value)[:]
