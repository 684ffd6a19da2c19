"""Networks for tflite-micro: an int8 flatbuffer of a network's layers, and the arena that the interpreter needs.

    pip install --no-deps tflite-micro flatbuffers

Only shapes count here: the file has the weights' and biases' sizes, each activation a scale of its own, and channels
last. A border that is no "SAME" of TFLite is a PAD operator, as converters write it. The wheel is for this machine: its
pointers have 64 bits, and what it keeps for each operator is larger than on a 32-bit core; the part of the arena that
holds activations is the same.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.module_functions import function_module, unpack_weights
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION, RESHAPE
from tvmq.graph.view import View, const_value, is_const, op_name, shape_of

PASSED = {"tvmq.requantize", "add", "tvmq.fence"} | where(form=RESHAPE)
CONVOLUTIONS = where(kind=CONVOLUTION)
STEP = 0.05  # scale of all tensors; sums have its square


def sizes(mod: tvm.IRModule) -> tuple[int, int]:
    """(bytes of the flatbuffer, bytes of the smallest arena).

    raises  ModuleNotFoundError without the wheels, NotImplementedError for an operator that this file does not write
    """
    from tflite_micro.python.tflite_micro.runtime import Interpreter

    data = _Writer(View(unpack_weights(function_module(mod, "quantized_main")))).run()

    def works(arena: int) -> bool:
        """True if the arena is large enough; messages of the interpreter about smaller ones are discarded."""
        said, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            Interpreter.from_bytes(data, arena_size=arena)
        except RuntimeError:
            return False
        finally:
            os.dup2(said, 2)
            os.close(said)
            os.close(nowhere)
        return True

    low, high = 0, 1 << 24
    if not works(high):
        raise NotImplementedError("the interpreter does not take the file")
    while high - low > 64:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return len(data), high


class _Writer:
    """Walks the core; `place` is the tensor in the file of each variable."""

    def __init__(self, view: View) -> None:
        from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

        self.view, self.schema = view, schema
        self.graph, self.model = schema.SubGraphT(), schema.ModelT()
        self.graph.tensors, self.graph.operators = [], []
        self.model.buffers, self.model.operatorCodes = [schema.BufferT()], []
        self.codes: dict[int, int] = {}
        self.place: dict[str, int] = {}

    def run(self) -> bytes:
        """The flatbuffer."""
        import flatbuffers

        for param in self.view.func.params:
            self.place[param.name] = self.activation(shape_of(param))
        self.graph.inputs = list(self.place.values())
        for var, value in self.view.bindings:
            self.place[var.name] = self.operator(var, value)
        self.graph.outputs = [self.place[name] for name in self.view.outputs]
        self.model.subgraphs, self.model.version = [self.graph], 3
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def tensor(self, shape: tuple[int, ...], kind: int, data: np.ndarray | None = None, channels: int = 1) -> int:
        tensor, quantization = self.schema.TensorT(), self.schema.QuantizationParametersT()
        tensor.shape, tensor.type, tensor.name = list(shape), kind, f"t{len(self.graph.tensors)}"
        quantization.scale, quantization.zeroPoint = [STEP] * channels, [0] * channels
        tensor.quantization = quantization
        if data is not None:
            buffer = self.schema.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            tensor.buffer = len(self.model.buffers)
            self.model.buffers.append(buffer)
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def activation(self, shape: tuple[int, ...]) -> int:
        if len(shape) == 3:
            shape = (shape[0], shape[1], 1, shape[2])
        last = (shape[0], *shape[2:], shape[1]) if len(shape) == 4 else shape
        return self.tensor(last, self.schema.TensorType.INT8)

    def emit(self, code: int, inputs: list[int], result: int, kind: int = 0, options: Any = None) -> int:
        if code not in self.codes:
            self.codes[code] = len(self.model.operatorCodes)
            entry = self.schema.OperatorCodeT()
            entry.builtinCode, entry.deprecatedBuiltinCode, entry.version = code, min(code, 127), 1
            self.model.operatorCodes.append(entry)
        operator = self.schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = self.codes[code], inputs, [result]
        operator.builtinOptionsType, operator.builtinOptions = kind, options
        self.graph.operators.append(operator)
        return result

    def operator(self, var: relax.Var, value: relax.Call) -> int:
        name, b = op_name(value), self.schema.BuiltinOperator
        kinds, s = self.schema.BuiltinOptions, self.schema
        first = self.place[value.args[0].name] if isinstance(value.args[0], relax.Var) else -1
        if name in PASSED or (name in ("maximum", "permute_dims") and is_const(value.args[-1])):
            return first  # part of the layer before, or a change of shape that costs nothing
        if name == "permute_dims":
            return first  # channels are last already
        if name == "nn.pad":
            return first if self._same(var) else self.pad(var, value, first)
        if name in CONVOLUTIONS:
            return self.convolution(var, value, first)
        if name == "matmul":
            weight = const_value(value.args[1]).T
            inputs = [first, self.tensor(weight.shape, s.TensorType.INT8, weight), self.bias(len(weight))]
            return self.emit(b.FULLY_CONNECTED, inputs, self.activation(shape_of(var)),
                             kinds.FullyConnectedOptions, s.FullyConnectedOptionsT())  # fmt: skip
        if name == "concat":
            inputs, options = [self.place[arg.name] for arg in value.args[0].fields], s.ConcatenationOptionsT()
            options.axis = {0: 0, 1: 3, 2: 1, 3: 2}[int(value.attrs.axis)]
            result = self.activation(shape_of(var))
            return self.emit(b.CONCATENATION, inputs, result, kinds.ConcatenationOptions, options)
        if name == "tvmq.table":  # of the networks here a sigmoid, whose codes TFLite prescribes
            result = self.activation(shape_of(var))
            quantization = self.graph.tensors[result].quantization
            quantization.scale, quantization.zeroPoint = [1 / 256], [-128]
            return self.emit(b.LOGISTIC, [first], result)
        if name == "tvmq.multiply":
            inputs = [self.place[arg.name] for arg in value.args]
            return self.emit(b.MUL, inputs, self.activation(shape_of(var)), kinds.MulOptions, s.MulOptionsT())
        if name == "tvmq.add":
            inputs = [self.place[arg.name] for arg in value.args]
            return self.emit(b.ADD, inputs, self.activation(shape_of(var)), kinds.AddOptions, s.AddOptionsT())
        if name in ("tvmq.sum_pool", "nn.max_pool2d", "nn.max_pool1d"):
            return self.pool(var, value, first, b.AVERAGE_POOL_2D if "sum" in name else b.MAX_POOL_2D)
        if name == "tvmq.sum":
            axes, options = self.tensor((2,), s.TensorType.INT32, np.int32([1, 2])), s.ReducerOptionsT()
            options.keepDims = bool(value.attrs.keepdims)
            return self.emit(b.MEAN, [first, axes], self.activation(shape_of(var)), kinds.ReducerOptions, options)
        raise NotImplementedError(name)

    def bias(self, count: int, channels: int = 1) -> int:
        place = self.tensor((count,), self.schema.TensorType.INT32, np.zeros(count, np.int32), channels)
        self.graph.tensors[place].quantization.scale = [STEP * STEP] * channels
        return place

    def pad(self, var: relax.Var, value: relax.Call, first: int) -> int:
        width = np.asarray([int(w) for w in value.attrs.pad_width], np.int32).reshape(-1, 2)
        if len(width) == 3:
            width = np.stack([width[0], width[1], [0, 0], width[2]])
        last = np.ascontiguousarray(width[[0, 2, 3, 1]].astype(np.int32))
        constant = self.tensor((4, 2), self.schema.TensorType.INT32, last)
        options = self.schema.PadOptionsT()
        result = self.activation(shape_of(var))
        return self.emit(self.schema.BuiltinOperator.PAD, [first, constant], result,
                         self.schema.BuiltinOptions.PadOptions, options)  # fmt: skip

    def _same(self, pad: relax.Var) -> bool:
        """True if the convolution behind a border is one with TFLite's padding SAME."""
        value, reader = self.view.value[pad.name], self.view.value[self.view.readers[pad.name][0]]
        given = shape_of(value.args[0])[2:]
        result = shape_of(self.view.var[self.view.readers[pad.name][0]])[2:]
        strides = [int(x) for x in reader.attrs.strides]
        spans = [(k - 1) * int(d) + 1 for k, d in zip(shape_of(reader.args[1])[2:], reader.attrs.dilation, strict=True)]
        width = [int(w) for w in value.attrs.pad_width][4:]
        for axis, size in enumerate(given):
            out = -(-size // strides[axis])
            total = max((out - 1) * strides[axis] + spans[axis] - size, 0)
            if out != result[axis] or width[2 * axis : 2 * axis + 2] != [total // 2, total - total // 2]:
                return False
        return True

    def convolution(self, var: relax.Var, value: relax.Call, first: int) -> int:
        s, weight = self.schema, const_value(value.args[1])
        weight = weight[:, :, None] if weight.ndim == 3 else weight
        strides = [1, 1, *(int(x) for x in value.attrs.strides)][-2:]
        depthwise = int(value.attrs.groups) > 1
        order = weight.transpose(1, 2, 3, 0) if depthwise else weight.transpose(0, 2, 3, 1)
        place = self.tensor(order.shape, s.TensorType.INT8, np.ascontiguousarray(order), len(weight))
        self.graph.tensors[place].quantization.quantizedDimension = 3 if depthwise else 0
        options = s.DepthwiseConv2DOptionsT() if depthwise else s.Conv2DOptionsT()
        producer = self.view.producer(value.args[0])
        same = op_name(producer) == "nn.pad" and self._same(value.args[0])
        options.padding = s.Padding.SAME if same else s.Padding.VALID
        options.strideH, options.strideW = strides
        options.dilationHFactor = options.dilationWFactor = 1
        if depthwise:
            options.depthMultiplier = 1
        kinds, b = s.BuiltinOptions, s.BuiltinOperator
        code, kind = (
            (b.DEPTHWISE_CONV_2D, kinds.DepthwiseConv2DOptions) if depthwise else (b.CONV_2D, kinds.Conv2DOptions)
        )
        inputs = [first, place, self.bias(len(weight), len(weight))]
        return self.emit(code, inputs, self.activation(shape_of(var)), kind, options)

    def pool(self, var: relax.Var, value: relax.Call, first: int, code: int) -> int:
        options = self.schema.Pool2DOptionsT()
        kernel = getattr(value.attrs, "kernel", None) or value.attrs.pool_size
        options.padding = self.schema.Padding.VALID
        options.filterHeight, options.filterWidth = [1, *(int(k) for k in kernel)][-2:]
        options.strideH, options.strideW = [1, *(int(x) for x in value.attrs.strides)][-2:]
        return self.emit(
            code, [first], self.activation(shape_of(var)), self.schema.BuiltinOptions.Pool2DOptions, options
        )
