"""Conversion of ONNX nodes to Relax, one node at a time: our repairs first, TVM's converters otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tvm
from tvm import relax
from tvm.ir import GenericConst

from tvmq.errors import ModelError, TvmqError, UnsupportedOpError
from tvmq.frontends.assemble import Converted, Step, variable_name
from tvmq.frontends.onnx_dims import arithmetic
from tvmq.frontends.onnx_expand import layer_of
from tvmq.frontends.onnx_load import opset_of
from tvmq.frontends.onnx_ops import REPAIRS, Dims, NodeCall, load_repair
from tvmq.frontends.onnx_ops.node import tensor_constant
from tvmq.frontends.onnx_shapes import dimensions, graph_inputs
from tvmq.graph.names import UniqueNames, identifier

if TYPE_CHECKING:
    import onnx

DIMS_AS_DATA = frozenset({"ConstantOfShape", "Range"})  # their repairs take dimensions as first input
REFUSED = {
    **dict.fromkeys(
        ("If", "Loop", "Scan", "SequenceMap"),
        "control flow is not supported; export the model without it, for example by tracing with fixed inputs",
    ),
    **dict.fromkeys(
        ("Optional", "OptionalGetElement", "OptionalHasElement", "SequenceAt", "SequenceConstruct", "SequenceEmpty")
        + ("SequenceErase", "SequenceInsert", "SequenceLength", "ConcatFromSequence", "SplitToSequence"),
        "sequences and optional values are not supported; export the model with tensors only",
    ),
    **dict.fromkeys(
        ("ConvInteger", "QLinearConv", "QLinearMatMul"),
        "models that are already quantized are not supported in this form; give the float model",
    ),
    **dict.fromkeys(
        ("AllClassNMS", "Compress", "NonMaxSuppression", "NonZero", "Unique"),
        "its result's shape depends on values; leave it out of the graph and run it after the network",
    ),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), "recurrent layers are not supported; unroll them before the export"),
}
ELEMENT_TYPES = frozenset(
    "BOOL INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 FLOAT16 BFLOAT16 FLOAT DOUBLE".split()
)
DOMAINS = {"", "ai.onnx", "com.microsoft"}


def imported_operators() -> set[str]:
    """ONNX operators that TVM's converters or our repairs import."""
    from tvm.relax.frontend.onnx import onnx_frontend

    return {*onnx_frontend._get_convert_map(), *REPAIRS}


def convert(model: onnx.ModelProto) -> Converted:
    """All nodes of a model as bindings grouped by node, see Converted.

    raises UnsupportedOpError naming the layer, its operator, and what to do.
    """
    return _Importer(model).run()


class _Importer:
    """State of one import: the builder, the value of every ONNX name, the steps so far."""

    def __init__(self, model: onnx.ModelProto) -> None:
        from onnx import numpy_helper
        from tvm.relax.frontend.onnx import onnx_frontend

        self.graph = model.graph
        self.opset = opset_of(model)
        self.frontend = onnx_frontend
        self.converters = onnx_frontend._get_convert_map()
        self.builder = relax.BlockBuilder()
        self.values: dict[str, Any] = {}
        self.read = {name for node in self.graph.node for name in node.input} | {v.name for v in self.graph.output}
        self.types = {v.name: v.type.tensor_type.elem_type for v in self.graph.value_info}
        self.weights: dict[GenericConst, str] = {}
        for tensor in self.graph.initializer:
            _element_type(tensor.data_type, f"constant '{tensor.name}'")
            constant = tensor_constant(numpy_helper.to_array(tensor))
            self.values[tensor.name] = constant
            self.weights[constant] = tensor.name
        self.inputs = self._make_inputs()

    def _make_inputs(self) -> list[tuple[str, relax.Var]]:
        unique, sizes, inputs = UniqueNames(), {}, []
        for value in graph_inputs(self.graph):
            if not value.type.HasField("tensor_type"):
                raise ModelError(f"from_onnx: input '{value.name}' is no tensor; only tensors can be fed")
            dims = dimensions(value)
            if dims is None:
                raise ModelError(
                    f"from_onnx: input '{value.name}' has unknown rank; give its shape, shape={{'{value.name}': (...)}}"
                )
            dtype = _element_type(value.type.tensor_type.elem_type, f"input '{value.name}'")
            var_name = unique(variable_name(value.name))
            shape = [
                d if isinstance(d, int) else _symbol(d if d != "?" else f"{var_name}_d{axis}", sizes)
                for axis, d in enumerate(dims)
            ]
            var = relax.Var(var_name, relax.TensorType(shape, dtype))
            self.values[value.name] = var
            inputs.append((value.name, var))
        return inputs

    def run(self) -> Converted:
        nodes = list(self.graph.node)
        self._refuse_unknown(nodes)
        self.builder.begin_scope([var for _, var in self.inputs])
        try:
            steps = [self._step(node) for node in nodes]
            steps += [self._dims_step(value.name) for value in self.graph.output if self._is_dims(value.name)]
        finally:
            self.builder.end_scope()
        outputs = [(value.name, self.values[value.name]) for value in self.graph.output]
        return Converted(self.builder.get(), self.inputs, steps, outputs, self.weights)

    def _refuse_unknown(self, nodes: list[onnx.NodeProto]) -> None:
        unknown = []
        for node in nodes:
            if node.op_type in REFUSED:
                raise UnsupportedOpError(f"from_onnx, layer '{node.name}': {node.op_type}: {REFUSED[node.op_type]}")
            known = node.op_type in self.converters or node.op_type in REPAIRS
            if not known or node.domain not in DOMAINS:
                unknown.append((f"{node.domain}.{node.op_type}".lstrip("."), node.name))
        if unknown:
            op_type, name = unknown[0]
            others = sorted({op for op, _ in unknown} - {op_type})
            more = f" (nor are {', '.join(others)})" if others else ""
            raise UnsupportedOpError(
                f"from_onnx, layer '{name}': operator {op_type} is not supported{more}; "
                "export the model with simpler operators, or leave this part out of the graph"
            )

    def _step(self, node: onnx.NodeProto) -> Step:
        """Convert one node; its bindings are those of a block of its own."""
        self._check_types(node)
        call = self._call(node)
        self.builder._begin_binding_block()
        try:
            result = self._record(call, self._emit(self._convert(call)))
        except TvmqError:
            raise
        except Exception as error:  # TVM's converters raise anything
            raise UnsupportedOpError(
                f"from_onnx, layer '{node.name}': operator {node.op_type} (opset {self.opset}) cannot be imported: "
                f"{_reason(error)}; export this layer with simpler operators or fixed shapes (shape=)"
            ) from error
        finally:
            block = self.builder._end_block()
        own = [binding.var for binding in block.bindings]
        result = result if any(var.same_as(result) for var in own) else None
        return Step(node.name, layer_of(node), node.op_type, list(block.bindings), result)

    def _check_types(self, node: onnx.NodeProto) -> None:
        """Refuse results whose element type TVM's kernels do not compute."""
        for result in node.output:
            code = self.types.get(result, 0)
            if code:
                _element_type(code, f"layer '{node.name}', {node.op_type}")

    def _call(self, node: onnx.NodeProto) -> NodeCall:
        attributes = _attributes(node)
        inputs = self.frontend.onnx_input()
        for used in node.input:
            inputs.append(self.values[used] if used else None)
        outputs = self._read_outputs(node)
        count = len(node.output)
        return NodeCall(node.name, node.op_type, self.opset, self.builder, inputs, attributes, outputs, count)

    def _is_dims(self, name: str) -> bool:
        return isinstance(self.values[name], Dims)

    def _dims_step(self, name: str) -> Step:
        """An output made of dimensions, as a tensor."""
        self.builder._begin_binding_block()
        try:
            self.values[name] = self._emit(self.values[name].tensor())
        finally:
            block = self.builder._end_block()
        return Step(name, name, "Shape", list(block.bindings), self.values[name])

    def _read_outputs(self, node: onnx.NodeProto) -> list[str]:
        """Names of the outputs without those at the end that nobody reads; "" for those between."""
        names = [name if name in self.read else "" for name in node.output]
        while names and not names[-1]:
            names.pop()
        return names

    def _convert(self, call: NodeCall) -> Any:
        """Shape arithmetic, else our repair's result, else TVM's."""
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
        """Make tensors of the first inputs that are dimensions."""
        for index, value in enumerate(call.inputs[:count]):
            if isinstance(value, Dims):
                call.inputs[index] = self._emit(self.builder.normalize(value.tensor()))

    def _emit(self, result: Any) -> Any:
        """Bind a tensor or tuple to a variable; constants and shapes stay as they are (converters test for them)."""
        if isinstance(result, relax.Call | relax.TupleGetItem | relax.Tuple):
            result = self.builder.normalize(result)
            if isinstance(result.ty, relax.TensorType | tvm.ir.TupleType) and not isinstance(result, relax.Tuple):
                return self.builder.emit(result)
        return result

    def _record(self, call: NodeCall, result: Any) -> Any:
        """Remember the values of the node's outputs; returns its main result: the only output, else all of them."""
        values = [result]
        if isinstance(result, relax.Tuple):
            values = [self._emit(item) for item in result.fields]
        elif isinstance(result, relax.Expr) and isinstance(result.ty, tvm.ir.TupleType):
            count = min(len(result.ty.fields), len(call.outputs))
            values = [self._emit(relax.TupleGetItem(result, i)) for i in range(count)]
        if len(values) < len(call.outputs):
            raise call.unsupported(f"its output {len(values)} is not supported", "use only the outputs before it")
        for name, value in zip(call.outputs, values, strict=False):
            if name:
                self.values[name] = value
        return values[0] if len(call.outputs) == 1 or isinstance(result, relax.Tuple) else result


def _element_type(code: int, what: str) -> str:
    """Name of an ONNX element type; text, complex numbers and types below 8 bits or of 8-bit floats are refused."""
    from onnx import TensorProto, helper

    name = TensorProto.DataType.Name(code)
    if name not in ELEMENT_TYPES:
        raise UnsupportedOpError(
            f"from_onnx, {what}: element type {name.lower()} is not supported; export the model in float32"
        )
    return str(helper.tensor_dtype_to_np_dtype(code))


def _symbol(name: str, known: dict[str, tvm.tirx.Var]) -> tvm.tirx.Var:
    """The symbolic size of that name, one object for all inputs."""
    if name not in known:
        known[name] = tvm.tirx.Var(identifier(name), "int64")
    return known[name]


def _attributes(node: onnx.NodeProto) -> dict[str, Any]:
    """Attributes by name, in the form TVM's converters take: lists as tuples, text as bytes."""
    from onnx import helper

    values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _reason(error: Exception) -> str:
    """The telling line of an exception: TVM appends long C++ traces."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).rstrip(".;")
