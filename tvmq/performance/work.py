"""What each call of a compiled module does, for the cost model: read from the keys of kernels and from shapes."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from typing import TypeVar

from tvmq.compile.calls import Call, Tensor
from tvmq.cost import Machine, Work
from tvmq.kernels.attention.shape import SOFTMAX_CYCLES, Attention, BatchMatmul
from tvmq.kernels.conv.conv2d import instructions_for
from tvmq.kernels.conv.shape import ConvShape
from tvmq.kernels.isa import instructions
from tvmq.kernels.isa.generic import Instructions
from tvmq.kernels.parts.float_vectors import FloatVectors, float_vectors
from tvmq.kernels.parts.tiling import Product, Tiling, choose_tiling, cycles
from tvmq.kernels.parts.types import Add, Conv2d, Isa

Found = TypeVar("Found")

# Multiply-accumulates in a cycle, and cycles for an input element that is copied to the ring (64-byte vectors).
DEPTHWISE_MACS, DEPTHWISE_COPY = 26.0, 0.13
DEPTHWISE_FLOAT_MACS = 10.0
# Of Winograd's convolution to the direct one: 36 int16 products for 144 of int8, and the transforms.
WINOGRAD_SHARE = 0.78
# The same without VNNI, where the direct one has int16 products as well.
WINOGRAD_SHARES = {"avx2": 0.41, "avx512bw": 0.37}
# Cycles that were measured (on Zen 4) to those of the model that chooses tiles, which needs ratios of tiles alone.
MEASURED = {"avx2": 0.49, "avx2_lanes": 0.58, "avx512bw": 0.68, "avx512bw_lanes": 0.66}
MEASURED_FLOATS = {"avx2": 0.64}  # the same of float32
# Cycles for an output that the first dots of the next tile hide: of sums that become codes, and of floats.
HIDDEN_CODES, HIDDEN_FLOATS = 0.15, 0.25
# Multiply-accumulates in a cycle without a template; of sizes that only a run tells, for each tap of `dot`.
PLAIN_MACS = 8.0
FREE_MACS = 4.0
# Cycles for 64 bytes of the widest tensor that a call reads or writes, everything in the nearest cache.
VECTOR_CYCLES: dict[str, float] = {
    "quantize": 5.0, "quantize_view": 2.0, "dequantize": 3.0, "requantize": 3.0, "quantize_to_nhwc": 6.0,
    "dequantize_to_nchw": 4.0,
    "add": 12.0, "multiply": 16.0, "table": 3.0, "concat": 1.5, "pad": 3.0, "max_pool": 4.0, "sum_pool": 4.0,
    "softmax": 40.0, "layer_norm": 11.0, "rms_norm": 8.0, "group_norm": 11.0, "to_nhwc": 6.0, "to_nchw": 8.0,
    "free_scores": 40.0, "resize": 8.0, "depth_to_space": 8.0, "stack_depth": 8.0,
}  # fmt: skip
# The same for operators without a template, by the words of what TVM calls them.
PLAIN_CYCLES: dict[str, float] = {
    **dict.fromkeys(("cos", "sin", "log"), 100.0), "exp": 20.0, **dict.fromkeys(("sigmoid", "silu", "tanh"), 30.0),
    **dict.fromkeys(("divide", "mean", "sum", "max", "concatenate"), 4.0), "sqrt": 6.0, "power": 30.0,
    **dict.fromkeys(("gather", "take", "pool", "resize2d", "layernorm"), 16.0), "softmax": 40.0,
    **dict.fromkeys(("erf", "gelu"), 40.0), "prelu": 5.0, "transpose": 6.0,
}  # fmt: skip
PLAIN_STEP = 1.5
GATHERS = {"take", "gather"}  # they read some rows of a table
BYTES = {"float32": 4, "int32": 4, "uint8": 1, "int8": 1, "bool": 1, "int16": 2, "float16": 2, "int64": 8, "float64": 8}


def work_of(call: Call, keys: Mapping[str, object], isa: Isa, machine: Machine) -> Work:
    """What a call does.

    keys     {symbol: key} of the kernels, as the walk over the module has them
    isa      instruction set that the kernels are made for
    """
    key = keys.get(call.symbol, ())
    kind = family(call.kernel) if call.kernel else "plain"
    moved, weights = sum(map(_bytes, (*call.inputs, *call.outputs))), sum(map(_bytes, call.constants))
    scale = 64 / isa.vector_bytes
    conv, product = find(key, Conv2d), find(key, BatchMatmul)
    if conv is not None:
        steps = scale * _steps(key) * math.prod(conv.out_shape) / 64
        arithmetic = steps + _convolution(kind, conv, key, isa, machine)
        return Work(kind, arithmetic, moved, weights, _macs(conv), conv.x_dtype != "float32")
    if product is not None:
        total = _batch_matmul(product, isa, machine)
        return Work(kind, total, moved, weights, _product_macs(product), product.a.dtype != "float32")
    attention = find(key, Attention)
    if attention is not None:
        return Work(kind, _attention(attention, isa, machine), moved, weights, attention.macs, True)
    if kind == "free_matmul":
        macs = math.prod(call.outputs[0][0]) * call.inputs[0][0][-1]
        return Work(kind, macs / (FREE_MACS * instructions(isa).taps), moved, weights, macs, True)
    if kind != "plain":
        return Work(kind, scale * VECTOR_CYCLES.get(kind, 8.0) * _vectors(call), moved, weights)
    if GATHERS.intersection(call.symbol.split("_")):
        return Work(kind, scale * PLAIN_CYCLES["take"] * _bytes(call.outputs[0]) / 64, 2 * _bytes(call.outputs[0]))
    macs = _plain_macs(call)
    if macs:
        return Work(kind, macs / PLAIN_MACS, moved, weights, macs, call.inputs[0][1] != "float32")
    return Work(kind, scale * _plain_cycles(call.symbol) * _vectors(call), moved, weights)


def family(kernel: str) -> str:
    """Family of a kernel by its name.

    >>> family("conv2d_avx512vbmi_6x4"), family("quantize_to_nhwc_avx2"), family("free_matmul_avx2")
    ('conv2d', 'quantize_to_nhwc', 'free_matmul')
    """
    words = kernel.split("_")
    end = next((i for i, word in enumerate(words) if word[:3] in ("avx", "gen", "neo") or word.isdigit()), len(words))
    return "_".join(words[:end])


def _steps(key: object) -> float:
    """Cycles for 64 codes of the sums and tables behind a convolution."""
    added, looked_up = len(list(_all(key, Add))), list(_all(key, str)).count("table")
    return VECTOR_CYCLES["add"] * added + VECTOR_CYCLES["table"] * looked_up


def find(key: object, kind: type[Found]) -> Found | None:
    """The first part of that type in a key."""
    return next(_all(key, kind), None)


def _all(key: object, kind: type[Found]) -> Iterator[Found]:
    if isinstance(key, kind):
        yield key
    elif isinstance(key, tuple):
        for part in key:
            yield from _all(part, kind)


def product_of(key: object, isa: Isa) -> tuple[Product, Instructions] | None:
    """The product whose tile a kernel was made with, and its instructions; None for kernels without tiles."""
    conv, product = find(key, Conv2d), find(key, BatchMatmul)
    if product is not None:
        ins: Instructions = float_vectors(isa) if product.a.dtype == "float32" else instructions(isa)
        return Product(product.rows, -(-product.columns // ins.lanes), -(-product.depth // ins.taps)), ins
    if conv is None or find(key, Tiling) is None:
        return None
    own = _instructions_of(key, conv, isa)
    return ConvShape(conv, own, 0).product, own


def _instructions_of(key: object, conv: Conv2d, isa: Isa) -> Instructions:
    """What a kernel of a convolution multiplies with."""
    if conv.x_dtype == "float32":
        found: Instructions = float_vectors(isa)
        return found
    form = instructions(isa).lane_form
    return form if form is not None and form.name in _all(key, str) else instructions_for(conv, isa)


def on_machine(ins: Instructions, machine: Machine) -> Instructions:
    """The instructions with the issue time of this machine."""
    if not machine.splits or ins.vector_bytes != 64:
        return ins
    slower = copy.copy(ins)
    slower.dot_cycles = 2 * ins.dot_cycles
    return slower


def _cycles(product: Product, tiling: Tiling, ins: Instructions) -> float:
    """Of the tiles' model, as they were measured."""
    shares = MEASURED_FLOATS if isinstance(ins, FloatVectors) else MEASURED
    return shares.get(ins.name, 1.0) * cycles(product, tiling, ins)


def _convolution(kind: str, conv: Conv2d, key: object, isa: Isa, machine: Machine) -> float:
    scale = 64 / isa.vector_bytes
    outputs, inputs = math.prod(conv.out_shape), conv.batch * conv.height * conv.width * conv.channels
    if kind.startswith("depthwise"):
        taps = math.prod(conv.kernel)
        if conv.x_dtype == "float32":
            return scale * outputs * taps / DEPTHWISE_FLOAT_MACS
        return scale * (outputs * taps / DEPTHWISE_MACS + inputs * DEPTHWISE_COPY)
    ins = on_machine(_instructions_of(key, conv, isa), machine)
    shape = ConvShape(conv, ins, 0)
    tiling = find(key, Tiling) or choose_tiling(shape.product, ins)
    total = conv.groups * _cycles(shape.product, tiling, ins)
    hidden = HIDDEN_FLOATS if conv.x_dtype == "float32" else HIDDEN_CODES
    total = max(0.6 * total, total - scale * hidden * outputs)
    if kind.startswith("winograd"):
        return WINOGRAD_SHARES.get(ins.name, WINOGRAD_SHARE) * total
    copied = shape.data_bytes - outputs if shape.staged else 0
    return total + scale * VECTOR_CYCLES["pad"] * copied / 64


def _batch_matmul(product: BatchMatmul, isa: Isa, machine: Machine) -> float:
    made = product_of(product, isa)
    assert made is not None  # of a product there is one
    one, ins = made[0], on_machine(made[1], machine)
    packing = (product.rows + 4 * product.columns) * product.depth / 32
    return math.prod(product.batch) * (_cycles(one, choose_tiling(one, ins), ins) + packing)


def _attention(shape: Attention, isa: Isa, machine: Machine) -> float:
    """Both products, and softmax of the scores between them."""
    sizes = (shape.batch, shape.rows, shape.depth, shape.keys), (shape.batch, shape.rows, shape.keys, shape.columns)
    products = (BatchMatmul(*size, shape.q, shape.k, shape.y, 0, 0) for size in sizes)
    softmax = 64 / isa.vector_bytes * SOFTMAX_CYCLES * shape.matrices * shape.rows * shape.keys
    return softmax + sum(_batch_matmul(product, isa, machine) for product in products)


def _macs(conv: Conv2d) -> int:
    return math.prod(conv.out_shape) * conv.channels // conv.groups * math.prod(conv.kernel)


def _product_macs(product: BatchMatmul) -> int:
    return math.prod(product.batch) * product.rows * product.depth * product.columns


def _plain_macs(call: Call) -> int:
    """Of a convolution or product without a template."""
    words = call.symbol.split("_")
    outputs = math.prod(call.outputs[0][0]) if call.outputs else 0
    tensors = [shape for shape, _ in (*call.inputs, *call.constants) if len(shape) > 1]
    if any(word.startswith(("conv2d", "conv1d", "conv3d")) for word in words):
        weight = max((shape for shape in tensors[1:]), key=math.prod, default=(1, 1))
        return outputs * math.prod(weight[1:])
    if any(word.startswith("matmul") for word in words) and tensors:
        return outputs * tensors[0][-1]
    return 0


def _plain_cycles(symbol: str) -> float:
    words = [word.rstrip("0123456789") for word in symbol.replace("layer_norm", "layernorm").split("_")]
    return sum(PLAIN_CYCLES.get(word, PLAIN_STEP) for word in words if word not in ("fused", "reshape", "fence", ""))


def _vectors(call: Call) -> float:
    """Vectors of 64 bytes of the widest tensor that is read or written."""
    return max(map(_bytes, (*call.inputs, *call.outputs)), default=0) / 64


def _bytes(tensor: Tensor) -> int:
    shape, dtype = tensor
    return math.prod(shape) * BYTES.get(dtype, 4)
