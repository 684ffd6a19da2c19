"""Conversion of ONNX nodes to Relax, one node at a time: our repairs first, TVM's converters otherwise.

Tests: tests/formats/onnx/importer/test_shape_folding.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import tvm
from tvm import relax, tirx
from tvm.ir import GenericConst

from tvmq.base.foreign_errors import clause
from tvmq.errors import ModelError, TvmqError, UnsupportedOpError
from tvmq.formats.importing.assemble import ConvertedModel, ConvertedNode, variable_name
from tvmq.formats.importing.importers import check_result, onnx_importer, own_onnx_operators
from tvmq.formats.importing.sizes import check_results
from tvmq.formats.onnx.importer.dims import arithmetic
from tvmq.formats.onnx.importer.expand import layer_of
from tvmq.formats.onnx.importer.half import widen_codes
from tvmq.formats.onnx.importer.layer import element_type, refuse_unknown
from tvmq.formats.onnx.importer.load import opset_of
from tvmq.formats.onnx.importer.repairs import REPAIRS, Dims, NodeCall, load_repair
from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, tensor_constant
from tvmq.formats.onnx.importer.shapes import dimensions, graph_inputs
from tvmq.formats.onnx.importer.size_sums import size_sums
from tvmq.graph.multiples import OnlyMultiples, cut_size, find_multiple, unequal_sizes
from tvmq.graph.names import UniqueNames, identifier
from tvmq.graph.required_equals import OnlyEqual, representative, require_equal_dimensions
from tvmq.graph.required_sums import OnlySum, read_sum, require_sum
from tvmq.graph.size_text import size_text

if TYPE_CHECKING:
    import onnx

# Operators whose operands must have equal sizes
SAME_SIZES = frozenset(
    """
    Add And Concat Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mul Or Pow PRelu Sub Sum Where Xor
    """.split()
)
DIMS_AS_DATA = frozenset({"ConstantOfShape", "Range"})  # their repairs take dimensions as first input


def imported_operators() -> set[str]:
    """ONNX operators that TVM's converters or our repairs import, and "domain::Operator" of the user's importers."""
    from tvm.relax.frontend.onnx import onnx_frontend

    return {*onnx_frontend._get_convert_map(), *REPAIRS, *own_onnx_operators()}


def convert(model: onnx.ModelProto, max_bytes: int) -> ConvertedModel:
    """All nodes of a model as bindings grouped by node, see ConvertedModel.

    Where a layer holds for multiples of a dynamic dimension only, the inputs are cut to them (graph/multiples.py).

    raises UnsupportedOpError naming the layer, its operator, and what to do; MemoryLimitError for results that are
    larger than max_bytes.
    """
    multiples: dict[str, int] = {}
    sums: dict[str, str] = {}
    equals: dict[str, str] = {}
    while True:
        try:
            return _OnnxImporter(model, max_bytes, multiples, sums, equals).run()
        except OnlyEqual as needed:
            if needed.name in equals:  # of names that are not those of dimensions: nothing is gained
                what = f"dimensions '{needed.name}' and '{needed.other}' must be equal"
                raise UnsupportedOpError(f"from_onnx: {what}; {FIX_SHAPES}") from None
            equals[needed.name] = needed.other
        except OnlySum as needed:
            if needed.name in sums:  # of names that are not those of dimensions: nothing is gained
                what = f"dimension '{needed.name}' must be {needed.text}"
                raise UnsupportedOpError(f"from_onnx: {what}; {FIX_SHAPES}") from None
            sums[needed.name] = needed.text
        except OnlyMultiples as needed:
            multiples[needed.name] = math.lcm(multiples.get(needed.name, 1), needed.multiple)


class _OnnxImporter:
    """State of one import: the builder, the value of every ONNX name, the steps so far.

    multiples  {dynamic dimension: number}: the inputs have multiples of it
    sums       {dynamic dimension: text}: it is a sum of others (graph/required_sums.py)
    equals     {dynamic dimension: another that it is equal to} (graph/required_equals.py)
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        max_bytes: int,
        multiples: Mapping[str, int],
        sums: Mapping[str, str],
        equals: Mapping[str, str],
    ) -> None:
        self.multiples, self.sums, self.equals = multiples, sums, equals
        from onnx import numpy_helper
        from tvm.relax.frontend.onnx import onnx_frontend

        self.graph, self.max_bytes = model.graph, max_bytes
        self.opset = opset_of(model)
        self.frontend = onnx_frontend
        self.converters = onnx_frontend._get_convert_map()
        self.builder = relax.BlockBuilder()
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}  # value computed from sizes: the layer from which on it is one, not a size
        self.read = {name for node in self.graph.node for name in node.input} | {v.name for v in self.graph.output}
        self.types = {v.name: v.type.tensor_type.elem_type for v in self.graph.value_info}
        self.weights: dict[GenericConst, str] = {}
        for tensor in self.graph.initializer:
            array = widen_codes(tensor, self.graph)
            if array is None:
                element_type(tensor.data_type, f"constant '{tensor.name}'")
                array = numpy_helper.to_array(tensor)
            constant = tensor_constant(array)
            self.values[tensor.name] = constant
            self.weights[constant] = tensor.name
        self.inputs = self._make_inputs()

    def _make_inputs(self) -> list[tuple[str, relax.Var]]:
        """Parameters for the graph's inputs; equal names of dimensions are one symbol, sums of them an expression."""
        unique, inputs = UniqueNames(), []
        sums, sizes = size_sums(self.graph), dict[str, Any]()
        names = {d for value in graph_inputs(self.graph) for d in dimensions(value) or () if isinstance(d, str)}
        plain = {identifier(name): name for name in names - {"?"} if name not in sums}
        plain = {own: name for own, name in plain.items() if own not in self.sums}

        def size_of(name: str) -> Any:
            """A symbol, or the sum of others: by its name, or because a layer needs it."""
            if name in sums:
                return reduce(add, (part if isinstance(part, int) else size_of(part) for part in sums[name]))
            own = representative(identifier(name), self.equals)
            text = self.sums.get(own)
            known = {own: size_of(one) for own, one in plain.items()} | sizes if text is not None else {}
            size = None if text is None else read_sum(text, {str(one): var for one, var in known.items()})
            return sizes.setdefault(own, tirx.Var(own, "int64")) if size is None else size

        for value in graph_inputs(self.graph):
            if not value.type.HasField("tensor_type"):
                raise ModelError(f"from_onnx: input '{value.name}' is not a tensor; export with tensor inputs only")
            dims = dimensions(value)
            if dims is None:
                raise ModelError(
                    f"from_onnx: input '{value.name}' has unknown rank; pass shape={{'{value.name}': (...)}}"
                )
            dtype = element_type(value.type.tensor_type.elem_type, f"input '{value.name}'")
            var_name = unique(variable_name(value.name))
            shape = [
                d if isinstance(d, int) else size_of(f"{var_name}_d{axis}" if d == "?" else d)
                for axis, d in enumerate(dims)
            ]
            var = relax.Var(var_name, relax.TensorType(shape, dtype))
            self.values[value.name] = var
            inputs.append((value.name, var))
        return inputs

    def run(self) -> ConvertedModel:
        nodes = list(self.graph.node)
        refuse_unknown(nodes, imported_operators())
        self.builder.begin_scope([var for _, var in self.inputs])
        try:
            steps = [self._cut_step(name) for name, var in self.inputs if self._is_cut(var)]
            steps += [self._step(node) for node in nodes]
            dims = [value.name for value in self.graph.output if isinstance(self.values[value.name], Dims)]
            steps += [self._dims_step(name) for name in dims]
        finally:
            self.builder.end_scope()
        outputs = [(value.name, self.values[value.name]) for value in self.graph.output]
        return ConvertedModel(self.builder.get(), self.inputs, steps, outputs, self.weights)

    def _step(self, node: onnx.NodeProto) -> ConvertedNode:
        """Convert one node; its bindings are those of a block of its own."""
        for code in filter(None, (self.types.get(result) for result in node.output)):
            element_type(code, f"layer '{node.name}', {node.op_type}")  # refuses what TVM's kernels do not compute
        call = self._call(node)
        self.builder._begin_binding_block()
        try:
            result = self._record(call, self._emit(self._convert(call)))
            self._check_shapes(call)
            self._trace_sizes(node)
        except (TvmqError, OnlyMultiples, OnlySum, OnlyEqual):
            raise
        except Exception as error:  # TVM's converters raise anything
            raise UnsupportedOpError(
                f"from_onnx, layer '{node.name}': operator {node.op_type} (opset {self.opset}) cannot be imported "
                f"for inputs {call.describe_inputs()}{clause(error)}; export this layer with simpler operators, or fix "
                "its shapes with shape="
            ) from error
        finally:
            block = self.builder._end_block()
        own = [binding.var for binding in block.bindings]
        check_results(own, self.max_bytes, f"from_onnx, layer '{node.name}' ({node.op_type})")
        result = result if any(var.same_as(result) for var in own) else None
        return ConvertedNode(node.name, layer_of(node), node.op_type, list(block.bindings), result)

    def _is_cut(self, var: relax.Var) -> bool:
        """True for an input with a dimension of which only multiples are taken."""
        return any(isinstance(size, tirx.Var) and size.name in self.multiples for size in var.ty.shape)

    def _cut_step(self, name: str) -> ConvertedNode:
        """Cut the dimensions of an input to multiples."""
        var = self.values[name]
        shape = [cut_size(d, self.multiples.get(getattr(d, "name", ""), 1)) for d in var.ty.shape]
        self.builder._begin_binding_block()
        try:
            self.values[name] = self._emit(relax.op.reshape(var, shape))
        finally:
            block = self.builder._end_block()
        return ConvertedNode(name, name, "Reshape", list(block.bindings), self.values[name])

    def _check_shapes(self, call: NodeCall) -> None:
        """Refuse results whose shape is known only at run time.

        raises OnlyMultiples, OnlySum, OnlyEqual where the operands have equal sizes for multiples or sums of
               dimensions, or where two dimensions are one
        """
        for name in filter(None, call.outputs):
            ty = getattr(self.values[name], "ty", None)
            if isinstance(ty, relax.TensorType) and ty.shape is None:
                self._ask_for_multiples(call)
                if call.origins:
                    raise call.not_constant_error(min(call.origins), "the sizes of its result")
                raise call.unsupported_error(
                    "the shape of its result depends on values known only at run time",
                    "make these inputs constants, or fix the input shapes with shape=",
                )

    def _ask_for_multiples(self, call: NodeCall) -> None:
        """Raise what operands of a concatenation or an element-wise operator need of dimensions, see _check_shapes."""
        if call.op_type not in SAME_SIZES:
            return
        shapes = [value.ty.shape for value in call.inputs if isinstance(getattr(value, "ty", None), relax.TensorType)]
        if not shapes or None in shapes:
            return
        skipped = call.axis(0) if call.op_type == "Concat" else None
        for one, other in unequal_sizes([list(shape) for shape in shapes], skipped):
            require_sum(one, other)
            needed = find_multiple(one, other)
            if needed is not None:
                raise OnlyMultiples(*needed)
            require_equal_dimensions(one, other)
            what = f"sizes {size_text(one)} and {size_text(other)} of its inputs are not proved to be equal"
            raise call.unsupported_error(what, FIX_SHAPES)

    def _call(self, node: onnx.NodeProto) -> NodeCall:
        """The node with its inputs as Relax values, attributes in the form that TVM's converters take."""
        from onnx import helper

        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        return NodeCall(
            name=node.name,
            op_type=node.op_type,
            opset=self.opset,
            builder=self.builder,
            # TVM's converters index past the end of their inputs; this list of theirs gives None there
            inputs=self.frontend.onnx_input(self.values[used] if used else None for used in node.input),
            attributes={name: tuple(v) if isinstance(v, list) else v for name, v in attributes.items()},
            outputs=self._read_outputs(node),
            output_count=len(node.output),
            origins={i: self.origins[name] for i, name in enumerate(node.input) if name in self.origins},
        )

    def _trace_sizes(self, node: onnx.NodeProto) -> None:
        """Remember where short vectors that come from sizes became values, which messages name."""
        origin = next((self.origins[name] for name in node.input if name in self.origins), None)
        if origin is None and any(isinstance(self.values.get(name), Dims) for name in node.input):
            origin = f"'{node.name}' ({node.op_type})"
        for name in filter(None, node.output):
            shape = getattr(getattr(self.values.get(name), "ty", None), "shape", None)
            if origin and not isinstance(self.values.get(name), Dims) and shape is not None and len(shape) <= 1:
                self.origins[name] = origin

    def _dims_step(self, name: str) -> ConvertedNode:
        """Convert an output made of dimensions to a tensor."""
        self.builder._begin_binding_block()
        try:
            self.values[name] = self._emit(self.values[name].tensor())
        finally:
            block = self.builder._end_block()
        return ConvertedNode(name, name, "Shape", list(block.bindings), self.values[name])

    def _read_outputs(self, node: onnx.NodeProto) -> list[str]:
        """Names of the outputs up to the last one that is read; "" for unread ones between."""
        names = [name if name in self.read else "" for name in node.output]
        while names and not names[-1]:
            names.pop()
        return names

    def _convert(self, call: NodeCall) -> Any:
        """Convert by the user's importer, by shape arithmetic, else by our repair, else by TVM."""
        own = onnx_importer(call.op_type)
        if own is not None:
            self._materialize(call, len(call.inputs))
            result = check_result(call, own(call))
            return relax.Tuple(result) if isinstance(result, tuple) else result
        dims = arithmetic(call)
        if dims is not None:
            return dims
        self._materialize(call, 0 if call.op_type in DIMS_AS_DATA else 1)
        repair = load_repair(call.op_type)
        result = repair(call) if repair else None
        if result is None:
            self._materialize(call, len(call.inputs))
            converter = self.converters[call.op_type].get_converter(self.opset)
            attributes = {**call.attributes, "tvm_custom": {"name": call.name, "num_outputs": call.output_count}}
            result = converter(self.builder, call.inputs, attributes, [self.values, {}])
        return result

    def _materialize(self, call: NodeCall, count: int) -> None:
        """Convert those of the first `count` inputs that are dimensions to tensors."""
        for index, value in enumerate(call.inputs[:count]):
            if isinstance(value, Dims):
                call.inputs[index] = self._emit(self.builder.normalize(value.tensor()))

    def _emit(self, result: Any) -> Any:
        """Bind a tensor or tuple to a variable; constants and shapes stay, TVM's converters test for them."""
        if not isinstance(result, relax.Call | relax.TupleGetItem | relax.Tuple):
            return result
        result = self.builder.normalize(result)
        bindable = isinstance(result.ty, relax.TensorType | tvm.ir.TupleType)
        return self.builder.emit(result) if bindable and not isinstance(result, relax.Tuple) else result

    def _record(self, call: NodeCall, result: Any) -> Any:
        """Remember the values of the node's outputs; returns the only output, or the tuple of all."""
        values = [result]
        if isinstance(result, relax.Tuple):
            values = [self._emit(item) for item in result.fields]
        elif isinstance(result, relax.Expr) and isinstance(result.ty, tvm.ir.TupleType):
            count = min(len(result.ty.fields), len(call.outputs))
            values = [self._emit(relax.TupleGetItem(result, i)) for i in range(count)]
        if len(values) < len(call.outputs):
            raise call.unsupported_error(f"its output {len(values)} is not supported", "use only the outputs before it")
        for name, value in zip(call.outputs, values, strict=False):
            if name:
                self.values[name] = value
        return values[0] if len(call.outputs) == 1 or isinstance(result, relax.Tuple) else result
