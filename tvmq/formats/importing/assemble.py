"""Assembly of converted layers into the function that later stages take: one block, exact names, weights as parameters.

Tests: tests/formats/torch/importer/test_from_torch.py
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.ir import GenericConst

from tvmq.base.text import printable_name
from tvmq.errors import UnsupportedOpError
from tvmq.formats.importing.sizes import check_results
from tvmq.graph.indices import refuse_outside
from tvmq.graph.names import FLOAT_LAYERS, WEIGHTS, UniqueNames, identifier, with_names
from tvmq.graph.view import op_name

SHAPED_BY_DATA = ("dynamic_strided_slice", "nonzero", "unique")
RESERVED = frozenset({*keyword.kwlist, "I", "R", "T", "metadata"})  # names that TVMScript cannot read as variables


@dataclass(frozen=True)
class ConvertedNode:
    """Converted node: its bindings, and the variable of its result.

    name     what the result is called
    layer    source layer that the bindings belong to, mostly the same
    result   None if the node left no variable of its own (a constant, a shape, or one of its inputs)
    """

    name: str
    layer: str
    op_type: str
    bindings: list[relax.Binding]
    result: relax.Var | None


@dataclass(frozen=True)
class ConvertedModel:
    """Converted model: inputs and outputs as (source name, value), nodes in order, names of the weights.

    module  holds helper functions that some converters make (call_tir), no main function yet
    stage   the front end, for messages
    floats  layers that the source keeps in float
    """

    module: tvm.IRModule
    inputs: list[tuple[str, relax.Var]]
    nodes: list[ConvertedNode]
    outputs: list[tuple[str, Any]]
    weights: dict[GenericConst, str]
    stage: str = "from_onnx"
    floats: tuple[str, ...] = ()


def assemble(model: ConvertedModel, max_bytes: int) -> tuple[tvm.IRModule, dict[str, np.ndarray]]:
    """The module with its main function, and the weights by parameter name.

    Bindings that no output needs are left out. Floating-point weights of at least one dimension become
    parameters, in the order of their first use; scalars and integers stay constants. A single output is
    returned bare, several as a tuple.
    raises UnsupportedOpError if a layer's shape is only known at run time, or a constant index lies outside;
    MemoryLimitError if an input or result is larger than max_bytes.
    """
    for name, var in model.inputs:
        check_results([var], max_bytes, f"{model.stage}, input '{printable_name(name)}'")
    return _Assembler(model, max_bytes).run()


def variable_name(source: str) -> str:
    """A source name as a variable name that TVMScript can read back.

    >>> variable_name("/block/conv.0"), variable_name("lambda")
    ('block_conv_0', 'lambda_')
    """
    name = identifier(source)
    return f"{name}_" if name in RESERVED else name


def variables(expr: relax.Expr) -> Iterator[relax.Var]:
    """All variables inside calls, tuples and projections, in order."""
    if isinstance(expr, relax.Var):
        yield expr
    for child in _children(expr):
        yield from variables(child)


def constants(expr: relax.Expr) -> Iterator[GenericConst]:
    """All constants inside calls, tuples and projections, in order."""
    if isinstance(expr, GenericConst):
        yield expr
    for child in _children(expr):
        yield from constants(child)


def _children(expr: relax.Expr) -> list[relax.Expr]:
    if isinstance(expr, relax.Call):
        return list(expr.args)
    if isinstance(expr, relax.Tuple):
        return list(expr.fields)
    return [expr.tuple_value] if isinstance(expr, relax.TupleGetItem) else []


def substitute(expr: relax.Expr, values: Mapping[Any, relax.Expr]) -> relax.Expr:
    """The expression with variables and constants replaced by `values`."""
    if isinstance(expr, relax.Var | GenericConst):
        return values.get(expr, expr)
    if isinstance(expr, relax.Tuple):
        return relax.Tuple([substitute(item, values) for item in expr.fields])
    if isinstance(expr, relax.TupleGetItem):
        return relax.TupleGetItem(substitute(expr.tuple_value, values), expr.index)
    if isinstance(expr, relax.Call):
        return relax.Call(expr.op, [substitute(arg, values) for arg in expr.args], expr.attrs, expr.ty_args)
    return expr


def _is_settled_later(value: relax.Expr) -> bool:
    """True for a shape unknown only because of dynamic dimensions, which `settle_sizes` finds equal; not by data."""
    if not isinstance(value, relax.Call) or op_name(value) in SHAPED_BY_DATA:
        return False
    types = [arg.ty for arg in value.args if isinstance(arg.ty, relax.TensorType)]
    return any(ty.shape is None or any(not isinstance(size, tvm.tirx.IntImm) for size in ty.shape) for ty in types)


class _Assembler:
    """Emits the needed bindings again, in order, under their final names."""

    def __init__(self, model: ConvertedModel, max_bytes: int) -> None:
        self.model, self.max_bytes = model, max_bytes
        self.unique = UniqueNames([var.name for _, var in model.inputs])
        self.builder = relax.BlockBuilder()
        self.bindings: list[relax.VarBinding] = []
        self.needed_vars: set[relax.Var] = set()
        self.output_vars: set[relax.Var] = set()
        self.results: dict[relax.Var, str] = {}
        self.names: dict[str, list[str]] = {}
        self.params: dict[GenericConst, relax.Var] = {}
        self.values: dict[Any, relax.Expr] = {}  # in the place of old variables and of weights

    def run(self) -> tuple[tvm.IRModule, dict[str, np.ndarray]]:
        self._trace()
        # Results take their names first, to get exactly the layer's name; then weights, helper bindings last.
        self.results = {
            node.result: self.unique(variable_name(node.name))
            for node in self.model.nodes
            if node.result is not None and node.result in self.needed_vars
        }
        self._make_params()
        self.builder.begin_scope([var for _, var in self.model.inputs])
        try:
            for node in self.model.nodes:
                self._emit_node(node)
            outputs = [self._output(name, value) for name, value in self.model.outputs]
        finally:
            self.builder.end_scope()
        weights = {var.name: const.value.numpy() for const, var in self.params.items()}
        return self._module(outputs[0] if len(outputs) == 1 else relax.Tuple(outputs)), weights

    def _trace(self) -> None:
        """Find the variables that the outputs depend on, and those that are outputs themselves."""
        self.output_vars = {value for _, value in self.model.outputs if isinstance(value, relax.Var)}
        self.needed_vars = set(self.output_vars)
        for node in reversed(self.model.nodes):
            for binding in reversed(node.bindings):
                if binding.var in self.needed_vars:
                    self.needed_vars.update(variables(binding.value))
                if binding.var in self.output_vars and isinstance(binding.value, relax.Var):
                    self.output_vars.add(binding.value)

    def _make_params(self) -> None:
        """A parameter for every weight that a needed binding reads."""
        for node in self.model.nodes:
            for binding in node.bindings:
                for const in constants(binding.value) if binding.var in self.needed_vars else ():
                    if const not in self.params and self._is_weight(const):
                        name = self.model.weights[const]
                        param = relax.Var(self.unique(variable_name(name)), const.ty)
                        self.params[const] = self.values[const] = param
                        where = f"{self.model.stage}, weight '{printable_name(name)}'"
                        check_results([param], self.max_bytes, where)

    def _is_weight(self, const: GenericConst) -> bool:
        is_float = str(const.ty.dtype).startswith(("float", "bfloat"))
        return const in self.model.weights and is_float and const.ty.ndim > 0

    def _emit_node(self, node: ConvertedNode) -> None:
        bindings = [binding for binding in node.bindings if binding.var in self.needed_vars]
        # A match-cast defines symbolic sizes from values; its own variable may be unread.
        if bindings and any(isinstance(binding, relax.MatchCast) for binding in node.bindings):
            where = f"{self.model.stage}, layer '{printable_name(node.name)}'"
            raise UnsupportedOpError(
                f"{where}: {node.op_type}: the shape of its result depends on values "
                "known only at run time; fix the input shapes with shape=, or export this layer with fixed shapes"
            )
        for binding in bindings:
            value = substitute(binding.value, self.values)
            refuse_outside(value, f"{self.model.stage}, layer '{node.layer}': {node.op_type}")
            if not isinstance(value, relax.Var | GenericConst | relax.ShapeExpr):
                name = self.results.get(binding.var) or self.unique(_helper_name(node, binding.value))
                value = self._emit(value, name, node.layer, is_output=binding.var in self.output_vars)
            self.values[binding.var] = value

    def _emit(self, value: relax.Expr, name: str, layer: str, is_output: bool) -> relax.Var:
        """Bind a value; variables that the function returns are visible outside of the dataflow block."""
        value = self.builder.normalize(value)
        if isinstance(value.ty, relax.TensorType) and value.ty.shape is None and not _is_settled_later(value):
            raise UnsupportedOpError(
                f"{self.model.stage}, layer '{layer}': the shape of its result depends on values known only at run "
                "time; make these inputs constants"
            )
        var = (relax.Var if is_output else relax.DataflowVar)(name, value.ty)
        check_results([var], self.max_bytes, f"{self.model.stage}, layer '{printable_name(layer)}'")
        self.bindings.append(relax.VarBinding(var, value))
        self.names[name] = [layer]
        return var

    def _output(self, name: str, value: Any) -> relax.Var:
        """An output as a variable bound in the block; inputs and constants that are returned are copied."""
        bound = self.values.get(value) if isinstance(value, relax.Var) else None
        if isinstance(bound, relax.Var) and bound.name in self.names:
            return bound
        copy = _copy_value(substitute(value, self.values))
        return self._emit(copy, self.unique(variable_name(name)), name, is_output=True)

    def _module(self, result: relax.Expr) -> tvm.IRModule:
        inputs = [var for _, var in self.model.inputs]
        result = self.builder.normalize(result)
        body = self.builder.normalize(relax.SeqExpr([relax.DataflowBlock(self.bindings)], result))
        func = relax.Function([*inputs, *self.params.values()], body, result.ty, is_pure=True)
        attributes = {
            "global_symbol": "main",
            "num_input": len(inputs),
            "tvmq.inputs": json.dumps([name for name, _ in self.model.inputs]),
            "tvmq.outputs": json.dumps([name for name, _ in self.model.outputs]),
            WEIGHTS: json.dumps([self.model.weights[const] for const in self.params]),
            **({FLOAT_LAYERS: json.dumps(list(self.model.floats))} if self.model.floats else {}),
        }
        module = self._helpers()
        module["main"] = with_names(func.with_attrs(attributes), self.names)
        return module

    def _helpers(self) -> tvm.IRModule:
        """The helper functions that are still called."""
        used = [argument for binding in self.bindings for argument in _children(binding.value)]
        called = {argument for argument in used if isinstance(argument, tvm.ir.GlobalVar)}
        return tvm.IRModule({var: func for var, func in self.model.module.functions_items() if var in called})


def _copy_value(value: relax.Expr) -> relax.Expr:
    """A copy of the value; an empty constant becomes zeros, since TVM cannot save one."""
    dtype = str(value.ty.dtype)
    if isinstance(value, GenericConst) and 0 in value.value.shape:
        return relax.op.zeros([int(d) for d in value.value.shape], dtype)
    return relax.op.astype(value, dtype)


def _helper_name(node: ConvertedNode, value: relax.Expr) -> str:
    """<layer>_<operator>, or <layer>_<index> for an item of a tuple."""
    base = variable_name(node.name)
    if isinstance(value, relax.TupleGetItem):
        return f"{base}_{value.index}"
    return f"{base}_{value.op.name.split('.')[-1]}" if isinstance(value, relax.Call) else f"{base}_tuple"
