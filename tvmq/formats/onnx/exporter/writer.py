"""Writer of an integer module as ONNX: what each variable becomes.

codes       CodedTensor: QuantizeLinear and DequantizeLinear of the float tensor that they stand for
int32 sums  OnnxSums: the float operator, written when the requantize that reads them gives the scale
floats      the name of a tensor

Tests: tests/formats/onnx/exporter/test_to_onnx.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.exporter import values
from tvmq.formats.onnx.exporter.dialect_form import choose_form
from tvmq.formats.onnx.exporter.dialects import IR_VERSIONS, ONNXRUNTIME, Dialect
from tvmq.formats.onnx.exporter.graph import CodedTensor, OnnxGraph, Scale
from tvmq.formats.onnx.exporter.ops import WRITERS, Node
from tvmq.formats.onnx.exporter.recurrent import write_recurrent
from tvmq.formats.onnx.exporter.sums import OnnxSums, same_constants
from tvmq.formats.onnx.exporter.values import (
    COMPARED,
    THRESHOLDS,
    Rows,
    Thresholds,
    dims,
    info,
    is_tensor,
    is_tuple_of_tensors,
    number,
)
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import unpack_weights
from tvmq.graph.names import input_names, output_names
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, RECURRENT
from tvmq.graph.symbolic import dynamic_dimensions
from tvmq.graph.view import View, const_value, dtype_of, flatten_tuples, is_const, op_name, results_of, used_vars
from tvmq.numerics.code_type import CODES_16
from tvmq.version import __version__

if TYPE_CHECKING:
    import onnx

INTEGER = where(kind=(CONVOLUTION, PRODUCT), is_own=False)
# operators that mean the same on codes of one scale as on real numbers
ON_CODES = where(commutes_with_quantize=True) & WRITERS.keys() | {"maximum", "minimum", "where"}


class OnnxWriter:
    """Writes the bindings in order; `values` maps each variable to a name, a CodedTensor, OnnxSums, or a list."""

    def __init__(self, mod: tvm.IRModule, dialect: Dialect = ONNXRUNTIME, opset: int | None = None) -> None:
        self.view = View(unpack_weights(mod))
        self.ledger = get_ledger(mod)
        form = choose_form(self.view, self.ledger, dialect, opset)
        self.inputs = input_names(self.view.func)
        self.results = results_of(self.view.func)
        self.outputs = output_names(self.view.func, len(self.results))
        self.graph = OnnxGraph([*self.inputs.values(), *self.outputs], dynamic_dimensions(mod), form)
        self.values: dict[str, Any] = dict(self.inputs)
        self.pending_pads: dict[str, list[int]] = {}

    def run(self) -> onnx.ModelProto:
        """The model."""
        from onnx import helper

        for var, value in self.view.bindings:
            self.values[var.name] = self._value(var, value)
        outputs = [self._output(var, name) for var, name in zip(self.results, self.outputs, strict=True)]
        inputs = [info(self.view.params[param], name) for param, name in self.inputs.items()]
        graph = helper.make_graph(self.graph.nodes, "tvmq", inputs, outputs, self.graph.initializers)
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", self.graph.form.opset)],
            ir_version=IR_VERSIONS[self.graph.form.opset],
            producer_name="tvmq",
            producer_version=__version__,
        )

    # ---- what a variable became

    def _layers(self, name: str) -> tuple[str, ...]:
        return self.view.sources(name)

    def _coded_tensor(self, arg: relax.Expr) -> CodedTensor:
        """An activation in codes."""
        value = self.values[arg.name]
        if not isinstance(value, CodedTensor):
            if arg.name not in self.ledger.codes:
                raise self._unsupported_error(arg.name, f"'{arg.name}' holds codes of unknown scale, which")
            value = self.values[arg.name] = self.graph.dequantize_codes(value, arg.name, self._scale(arg.name))
        return value

    def _scale(self, name: str) -> Scale:
        scale, zero = self.ledger.codes[name]
        return Scale(np.asarray(scale, np.float32), np.asarray(zero, np.int32), dtype_of(self.view.var[name]))

    def _real_of(self, arg: relax.Expr) -> str:
        """The name of a tensor that a float operator reads."""
        if is_const(arg):
            return self.graph.constant(const_value(arg), "constant")
        if dtype_of(arg) in CODES_16:
            return self._coded_tensor(arg).real
        return str(self.values[arg.name])

    def _unsupported_error(self, name: str, what: str) -> UnsupportedOpError:
        layer = self._layers(name)[0]
        value = self.view.value.get(name, self.view.var[name])
        read = [dtype_of(self.view.var[used]) for used in used_vars(value)]
        on_codes = op_name(value).startswith("tvmq.") or not all(dtype.startswith("float") for dtype in read)
        advice = "keep this layer in float" if on_codes else "it is float already: replace it in the model"
        return UnsupportedOpError(f"to_onnx, layer '{layer}': {what} has no equivalent in ONNX; {advice}")

    # ---- bindings

    def _value(self, var: relax.Var, value: relax.Expr) -> Any:
        name = op_name(value)
        if isinstance(value, relax.Var):
            return self.values[value.name]
        if isinstance(value, relax.TupleGetItem):
            return self.values[value.tuple_value.name][value.index]
        handler = HANDLERS.get(name)
        if handler is not None:
            return handler(self, var, value)
        if name in INTEGER and dtype_of(var) == "int32":
            return self._sums(var, value)
        if name in ("add", "multiply") and dtype_of(var) == "int32":
            return self._add_bias(value)
        if name in WRITERS:
            return self._write_operator(var, value)
        raise self._unsupported_error(var.name, name or "this expression")

    def _node(self, var: relax.Var, call: relax.Call, inputs: list[str]) -> Node:
        tensors = [arg for arg in call.args if is_tensor(arg)]
        shapes = [dims(arg) for arg in tensors if not isinstance(arg.ty, tvm.ir.TupleType)]
        result = [] if isinstance(var.ty, tvm.ir.TupleType) else [dims(var)]
        others = [number(arg) for arg in call.args if arg not in tensors and not is_tuple_of_tensors(arg)]
        layer = self._layers(var.name)[0]
        return Node(self.graph, op_name(call), inputs, others, call.attrs, [*shapes, *result], layer, var.name)

    def _write_operator(self, var: relax.Var, call: relax.Call) -> Any:
        """A float operator, or one that moves codes."""
        tensors = [arg for arg in flatten_tuples(call.args) if is_tensor(arg)]
        if any(isinstance(self.values.get(getattr(arg, "name", "")), Thresholds) for arg in tensors):
            return self._comparison(var, call)
        coded = [arg for arg in tensors if dtype_of(arg) in CODES_16]
        if op_name(call) == "astype" and coded and dtype_of(var) == "int16":
            return self._coded_tensor(coded[0])  # codes beside thresholds
        if not coded:
            return WRITERS[op_name(call)](self._node(var, call, [self._real_of(arg) for arg in tensors]))
        if op_name(call) == "take" and is_const(call.args[0]):
            return self._rows(var, call)
        known = [arg for arg in coded if not is_const(arg)]
        if op_name(call) not in ON_CODES or not known:
            raise self._unsupported_error(var.name, f"{op_name(call)} of codes")
        scale = self._coded_tensor(known[0]).scale
        if op_name(call) == "nn.pad":
            return self._pad(var, call, scale)
        real = [self._constant(arg, scale) if arg in coded and is_const(arg) else self._real_of(arg) for arg in tensors]
        written = WRITERS[op_name(call)](self._node(var, call, real))
        if isinstance(written, list):
            return [self.graph.quantize(part, f"{var.name}_{i}", scale) for i, part in enumerate(written)]
        return self.graph.quantize(written, var.name, scale)

    def _constant(self, codes: relax.Expr, scale: Scale) -> str:
        """Constant codes of this scale (bounds of channels) as real numbers."""
        return self.graph.constant(numerics.dequantize(const_value(codes), scale.scale, scale.zero_point), "bound")

    def _rows(self, var: relax.Var, call: relax.Call) -> Any:
        """Rows of a table of codes: in the scale of the result, or in that of the dequantize that reads them."""
        if var.name not in self.ledger.codes:
            return Rows(self._node(var, call, []), const_value(call.args[0]), self._real_of(call.args[1]))
        scale = self._scale(var.name)
        rows = Rows(self._node(var, call, []), const_value(call.args[0]), self._real_of(call.args[1])).emit(scale)
        return self.graph.quantize(rows, var.name, scale)

    def _pad(self, var: relax.Var, call: relax.Call, scale: Scale) -> Any:
        """Padding with the zero point is padding with 0.0; in front of a convolution it belongs to that."""
        x = self._coded_tensor(call.args[0])
        value = (float(call.attrs.pad_value) - float(scale.zero_point)) * float(scale.scale)
        width = [int(w) for w in call.attrs.pad_width]
        readers = self.view.readers[var.name]
        if (
            not any(width[:4])
            and call.attrs.pad_mode == "constant"
            and value == 0.0
            and not self.view.is_output(var.name)
        ):
            if readers and all(op_name(self.view.value[r]).startswith("nn.conv") for r in readers):
                self.pending_pads[var.name] = [*width[4::2], *width[5::2]]
                return x
        attrs = SimpleNamespace(pad_width=width, pad_mode=call.attrs.pad_mode, pad_value=value)
        node = self._node(var, call, [x.real])
        written = WRITERS["nn.pad"](replace(node, attrs=attrs))
        return self.graph.quantize(str(written), var.name, scale)

    def _sums(self, var: relax.Var, call: relax.Call) -> OnnxSums:
        data, other = call.args
        x = self._coded_tensor(data)
        if is_const(other):
            node = self._node(var, call, [])
            attrs = call.attrs
            if op_name(call).startswith("nn.conv"):
                pads = self.pending_pads[data.name] if data.name in self.pending_pads else node.ints("padding")
                kept = ("strides", "dilation", "groups", "data_layout", "kernel_layout")
                attrs = SimpleNamespace(padding=pads, **{key: getattr(attrs, key) for key in kept})
            return OnnxSums(replace(node, attrs=attrs), [x], const_value(other))
        return OnnxSums(self._node(var, call, []), [x, self._coded_tensor(other)])

    def _average(self, var: relax.Var, call: relax.Call) -> OnnxSums:
        return OnnxSums(self._node(var, call, []), [self._coded_tensor(call.args[0])])

    def _add_bias(self, call: relax.Call) -> OnnxSums:
        """A bias; the factors of windows that differ in size belong to the average."""
        sums = self.values[call.args[0].name]
        return sums.with_bias(const_value(call.args[1])) if op_name(call) == "add" else sums

    def _requantize(self, var: relax.Var, call: relax.Call) -> CodedTensor:
        attrs, scale = call.attrs, self._scale(var.name)
        multiplier, shift = (const_value(arg) for arg in call.args[1:])
        s_y = np.float64(scale.scale)
        factor = numerics.real_factor(multiplier, shift, mode=str(attrs.mode))

        def fits(product: np.ndarray) -> np.ndarray:
            return same_constants(product / s_y, multiplier, shift, str(attrs.mode))

        sums = self.values[call.args[0].name]
        if dtype_of(call.args[0]) in CODES_16 and not isinstance(sums, Rows):  # of another width
            real = self._coded_tensor(call.args[0]).real
        elif isinstance(sums, Rows):
            real = sums.emit(_columns(sums, (factor * s_y).astype(np.float32)))
        else:
            real = sums.emit(factor * s_y, fits, self._facts(var.name))
        if attrs.negative_slope != 1.0:
            real = self._step("LeakyRelu", [real], var, alpha=float(attrs.negative_slope))
        return self._clip_and_quantize(real, var, int(attrs.qmin), int(attrs.qmax))

    def _facts(self, name: str) -> dict[str, Any]:
        return dict(self.ledger.layers.get(name, {}).get("facts", {}))

    def _step(self, op_type: str, inputs: Sequence[str], var: relax.Var, **attributes: Any) -> str:
        """A node that a group absorbed: it bears the group's last name."""
        layers = self._layers(var.name)
        layer = layers[-1] if len(layers) > 1 else f"{layers[0]}/{op_type}"
        return self.graph.node(op_type, list(inputs), layer, f"{var.name}_{op_type}", **attributes)

    def _clip_and_quantize(self, real: str, var: relax.Var, qmin: int, qmax: int) -> CodedTensor:
        """The codes of a real tensor within these bounds."""
        scale = self._scale(var.name)
        limits, zero = np.iinfo(scale.dtype), int(scale.zero_point)
        is_whole = self.graph.form.dialect.is_whole(limits, qmin, qmax)
        if qmin == zero > limits.min and qmax == limits.max:
            real = self._step("Relu", [real], var)
        elif not is_whole:
            bounds = [np.float32(q - zero) * np.float32(scale.scale) for q in (qmin, qmax)]
            names = [self.graph.constant(b, f"{var.name}_{k}") for b, k in zip(bounds, ("min", "max"), strict=True)]
            real = self._step("Clip", [real, *names], var)
        return self.graph.quantize(real, var.name, scale)

    def _add(self, var: relax.Var, call: relax.Call) -> CodedTensor:
        node = self._node(var, call, [self._coded_tensor(arg).real for arg in call.args])
        real = node.write("Sub" if call.attrs.b_multiplier < 0 else "Add")
        return self._clip_and_quantize(real, var, int(call.attrs.qmin), int(call.attrs.qmax))

    def _scale_shift(self, var: relax.Var, call: relax.Call) -> CodedTensor:
        """x * factor + summand, whose integers these are: see numerics.scale_shift_params."""
        x, attrs, y = self._coded_tensor(call.args[0]), call.attrs, self._scale(var.name)
        multiplier, offset = (const_value(arg).astype(np.float64) for arg in call.args[1:])
        step = np.float64(y.scale) * 2.0**-attrs.shift
        factor = (multiplier * (step / np.float64(x.scale.scale))).astype(np.float32)
        summand = ((offset - 2**attrs.shift // 2 + int(x.scale.zero_point) * multiplier) * step).astype(np.float32)
        node = self._node(var, call, [x.real])
        real = node.write("Mul", x.real, node.constant(factor, "factor"))
        if summand.any():
            real = self._step("Add", [real, node.constant(summand, "summand")], var)
        return self._clip_and_quantize(real, var, int(attrs.qmin), int(attrs.qmax))

    def _prelu(self, var: relax.Var, call: relax.Call) -> CodedTensor:
        x, attrs = self._coded_tensor(call.args[0]), call.attrs
        slopes = const_value(call.args[1]).astype(np.float64) / attrs.multiplier
        node = self._node(var, call, [x.real])
        real = node.write("PRelu", x.real, node.constant(slopes.astype(np.float32).reshape(slopes.shape[1:]), "slope"))
        return self._clip_and_quantize(real, var, int(attrs.qmin), int(attrs.qmax))

    def _quantize(self, var: relax.Var, call: relax.Call) -> Any:
        if int(call.attrs.axis) >= 0:
            raise self._unsupported_error(var.name, "quantizing an activation by channels")
        if var.name not in self.ledger.codes:
            numbers = (const_value(arg) for arg in call.args[1:])
            scale, zero = (value.item() for value in numbers)
            self.ledger.codes[var.name] = (scale, zero)
        return self._clip_and_quantize(self._real_of(call.args[0]), var, int(call.attrs.qmin), int(call.attrs.qmax))

    def _by_groups(self, var: relax.Var, call: relax.Call) -> Any:
        layer, rows = self._layers(var.name)[0], self.values.get(getattr(call.args[0], "name", ""))
        if self._is_of_loop(var):
            return call
        if is_const(call.args[0]):
            return values.grouped_weight(self.graph, call, layer)
        if not isinstance(rows, Rows):
            raise self._unsupported_error(var.name, "group_dequantize of an activation")
        return values.grouped_rows(self.graph, rows, self._real_of(call.args[1]), call, layer)

    def _by_rows(self, var: relax.Var, call: relax.Call) -> str:
        rows = self.values.get(getattr(call.args[0], "name", ""))
        if not isinstance(rows, Rows):
            raise self._unsupported_error(var.name, op_name(call))
        return values.rows(self.graph, rows, self._real_of(call.args[1]), self._layers(var.name)[0])

    def _dequantize(self, var: relax.Var, call: relax.Call) -> Any:
        if self._is_of_loop(var):
            return call
        if is_const(call.args[0]):
            return values.constant_weight(self.graph, call, self._layers(var.name)[0])
        scale = const_value(call.args[1]).astype(np.float64)
        axis = int(call.attrs.axis)
        sums = self.values.get(getattr(call.args[0], "name", ""))
        if isinstance(sums, Rows):
            numbers = [const_value(arg) for arg in call.args[1:]]
            return sums.emit(Scale(numbers[0], numbers[1], "int8", None if axis < 0 else sums.table.ndim - 1))
        if not isinstance(sums, OnnxSums):
            return self._coded_tensor(call.args[0]).real

        def fits(product: np.ndarray) -> np.ndarray:
            return product.astype(np.float32) == scale.astype(np.float32)

        return sums.emit(scale, fits, self._facts(var.name))

    def _table(self, var: relax.Var, call: relax.Call) -> Any:
        x = self._coded_tensor(call.args[0])
        real = x.real
        if call.attrs.function.startswith(THRESHOLDS):
            return Thresholds(x.real, call.attrs.function.removeprefix(THRESHOLDS))
        if call.attrs.function != "rescale":
            steps = self.ledger.layers.get(var.name, {}).get("function")
            if steps is None:
                raise self._unsupported_error(var.name, "a table of an unknown function")
            real = self._function(var, steps, real)
        return self.graph.quantize(real, var.name, self._scale(var.name)) if dtype_of(var) in CODES_16 else real

    def _comparison(self, var: relax.Var, call: relax.Call) -> str:
        """A comparison that was decided on codes."""
        y, x = (self.values[arg.name] for arg in call.args)
        op = COMPARED[op_name(call), x.kind]
        node = self._node(var, call, [x.real, y.real])
        return str(WRITERS[op](replace(node, op=op)))

    def _function(self, var: relax.Var, steps: list[dict[str, Any]], x: str) -> str:
        """The operators of a table."""
        results: list[str] = []
        shape = dims(var)
        for step in steps:
            if step["op"] not in WRITERS:
                raise self._unsupported_error(var.name, step["op"])
            inputs, numbers = [], []
            for arg in step["args"]:
                if isinstance(arg, dict):
                    inputs.append(x if arg["step"] == "x" else results[arg["step"]])
                elif step["op"] == "clip":
                    numbers.append(arg)
                else:
                    inputs.append(self.graph.constant(np.float32(arg), f"{var.name}_constant"))
            layer = step["layers"][0]
            attrs = SimpleNamespace(**step["attrs"])
            node = Node(self.graph, step["op"], inputs, numbers, attrs, [shape, shape], layer, f"{var.name}_real")
            results.append(str(WRITERS[step["op"]](node)))
        return results[-1]

    def _recurrent(self, var: relax.Var, call: relax.Call) -> str:
        """Write a recurrent layer; its constants are written with it."""
        inputs = [self._real_of(arg) for arg in (call.args[0], call.args[3])]
        inputs += [] if is_const(call.args[4]) else [self._real_of(call.args[4])]
        weight = call.args[1] if is_const(call.args[1]) else self.values[call.args[1].name]
        return write_recurrent(self._node(var, call, inputs), call, weight)

    def _is_of_loop(self, var: relax.Var) -> bool:
        """True for a weight that only recurrent layers read: they write it themselves, in their own order."""
        readers = [self.view.value[name] for name in self.view.readers[var.name]]
        return bool(readers) and all(
            op_name(call) in where(kind=RECURRENT)
            and [i for i, arg in enumerate(call.args) if isinstance(arg, relax.Var) and arg.name == var.name] == [1]
            for call in readers
        )

    # ---- results

    def _output(self, var: relax.Expr, name: str) -> onnx.ValueInfoProto:
        if is_const(var):
            value, layer = self.graph.constant(const_value(var), f"{name}_constant"), name
        else:
            value, layer = self.values[var.name], self._layers(var.name)[0]
        value = value.codes if isinstance(value, CodedTensor) else value
        self.graph.rename(value, name, {*self.inputs.values(), *self.outputs}, layer)
        return info(var, name)


def _columns(rows: Rows, scale: np.ndarray) -> Scale:
    """The scale of a table, one number or one for each column."""
    is_one = scale.size == 1
    numbers = scale.reshape(() if is_one else -1)
    return Scale(numbers, np.zeros(numbers.shape, np.int32), "int8", None if is_one else rows.table.ndim - 1)


HANDLERS: dict[str, Any] = {
    "tvmq.add": OnnxWriter._add,
    "tvmq.conv_transpose": OnnxWriter._sums,
    "tvmq.dequantize": OnnxWriter._dequantize,
    "tvmq.dynamic_dequantize": OnnxWriter._by_rows,
    "tvmq.group_dequantize": OnnxWriter._by_groups,
    "tvmq.matmul": OnnxWriter._sums,
    "tvmq.multiply": OnnxWriter._sums,
    "tvmq.prelu": OnnxWriter._prelu,
    "tvmq.quantize": OnnxWriter._quantize,
    **dict.fromkeys(where(kind=RECURRENT), OnnxWriter._recurrent),
    "tvmq.requantize": OnnxWriter._requantize,
    "tvmq.scale_shift": OnnxWriter._scale_shift,
    "tvmq.sum": OnnxWriter._average,
    "tvmq.sum_pool": OnnxWriter._average,
    "tvmq.table": OnnxWriter._table,
}
