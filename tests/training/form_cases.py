"""A tiny model for each operator record that an integer module can contain, and for each kind of integers.

FORMS    {"record" or "record: what": model whose integer module has that operator}
OPTIONS  {what: the same few layers quantized otherwise}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tvm

from tests.support.models.networks import block

RANDOM, PICTURE, ROWS = np.random.default_rng(0), (2, 4, 6, 6), (2, 5, 8)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def weight(*shape: int) -> np.ndarray:
    return numbers(*shape) / np.float32(np.sqrt(np.prod(shape[1:])))


# by their names in the models; those that a model does not name are left out
CONSTANTS: dict[str, Any] = {
    **{name: weight(4, 4, 3, 3) for name in ("w1", "w2", "w3")},
    **{name: weight(8, 8) for name in ("m1", "m2", "m3", "m4", "m7")},
    "m5": weight(8, 16), "m6": weight(16, 8), "embedded": numbers(20, 8), "position": numbers(1, 5, 8),
    "gamma": 1 + 0.2 * numbers(8), "beta": 0.2 * numbers(8), "gamma4": 1 + 0.2 * numbers(4), "beta4": 0.2 * numbers(4),
    "channel": numbers(1, 4, 1, 1), "wide": np.abs(numbers(1, 4, 1, 1)) + np.float32(0.2), "bias": numbers(1, 4, 1, 1),
    "slopes": np.float32([0.1, 0.2, 1.3, -0.2]), "half": np.float32(0.5), "some": np.float32(0.1), "zero": np.float32(0),
    "two": np.float32(2), "exponent": np.float32(1.7), "share": np.float32(0.35), "low": np.float32(-10000),
    "rows": np.int64([3, 0, 5]), "first": np.int64([[0], [1]]), "pair": np.int64([1, 0]),
    "places": np.tile(np.int64([3, -1]).reshape(1, 1, 2, 1), (2, 4, 1, 6)), "updates": numbers(2, 4, 2, 6),
    "triangle": np.tril(np.ones((5, 5), bool)), "one": np.float32(1), "large": np.float32(-10000),
    "scores_bias": numbers(1, 5, 5), "integers": np.int32([3]),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model: bindings one a line, the shapes of its inputs and of its last binding, options of its quantization."""

    body: str
    result: tuple[int, ...] = PICTURE
    inputs: dict[str, Any] = field(default_factory=lambda: {"x": PICTURE})
    options: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)

    def module(self) -> tvm.IRModule:
        known = {**CONSTANTS, **self.constants}
        used = {k: np.asarray(v) for k, v in known.items() if re.search(rf"\b{k}\b", self.body)}
        inputs = [f'{name}: R.Tensor({shape}, "{_dtype(name)}")' for name, shape in self.inputs.items()]
        constants = [f'{name}: R.Tensor({array.shape}, "{array.dtype}")' for name, array in used.items()]
        return block(", ".join([*inputs, *constants]), self.body, f'{self.result}, "float32"', **used)

    def feeds(self, count: int = 4) -> list[dict[str, np.ndarray]]:
        random = np.random.default_rng(1)
        return [{name: _values(random, name, shape) for name, shape in self.inputs.items()} for _ in range(count)]


def _dtype(name: str) -> str:
    return "int64" if name in ("ids", "mask") else "float32"


def _values(random: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    if name == "ids":
        return random.integers(0, 20, shape)
    return (random.random(shape) > 0.3).astype(np.int64) if name == "mask" else random.standard_normal(shape).astype("f4")


def picture(body: str, shape: tuple[int, ...] = PICTURE, **options: Any) -> Case:
    """Convolutions before, h, and behind, of y."""
    lines = ("h = R.nn.conv2d(x, w1, padding=[1, 1, 1, 1])", *_lines(body))
    return Case("\n".join((*lines, "z = R.nn.conv2d(y, w2, padding=[1, 1, 1, 1])")), shape, options=options)


def two(body: str, shape: tuple[int, ...] = PICTURE, **options: Any) -> Case:
    """A case with a second tensor, g."""
    return picture("g = R.nn.conv2d(x, w3, padding=[1, 1, 1, 1])\n" + body, shape, **options)


def floating(body: str, shape: tuple[int, ...] = PICTURE) -> Case:
    """A case in which convolutions alone become integers."""
    return picture(body, shape, debug_enabled_ops=("nn.conv2d",))


def rows(body: str, shape: tuple[int, ...] = ROWS, **options: Any) -> Case:
    """A case of rows of eight numbers."""
    return Case("\n".join(_lines(body)), shape, {"x": ROWS}, options)


def masked(body: str, shape: tuple[int, ...] = ROWS, **options: Any) -> Case:
    return replace(rows(body, shape, **options), inputs={"x": ROWS, "mask": ROWS[:2]})


def _lines(body: str) -> list[str]:
    return [line.strip() for line in body.strip().splitlines()]


def spatial(axes: int, body: str, last: tuple[int, ...]) -> Case:
    """Convolutions of other ranks."""
    size = {1: (9,), 2: (6, 6), 3: (4, 4, 4)}[axes]
    taps = {name: weight(4, 4, *(3,) * axes) for name in ("ka", "kb")}
    first = f"h = R.nn.conv{axes}d(x, ka, padding={[1] * 2 * axes})"
    return Case("\n".join((first, *_lines(body))), last, {"x": (2, 4, *size)}, constants=taps)


SCORES = """
q = R.matmul(x, m1)
k = R.matmul(x, m3)
v = R.matmul(x, m4)
kt = R.permute_dims(k, axes=[0, 2, 1])
"""
ATTENTION = f"""{SCORES}
qk = R.matmul(q, kt)
sc = R.multiply(qk, share)
p = R.nn.softmax(sc, axis=-1)
o = R.matmul(p, v)
y0 = R.matmul(o, m2)
y = R.add(y0, x)
"""
TRANSFORMER = f"""{ATTENTION}
n = R.nn.layer_norm(y, gamma, beta, axes=[-1])
g = R.matmul(n, m5)
g1 = R.nn.gelu(g)
z = R.matmul(g1, m6)
last = R.add(z, y)
"""
RESIDUAL = """
g = R.nn.relu(h)
b = R.nn.conv2d(g, w3, padding=[1, 1, 1, 1])
c = R.add(b, bias)
a = R.add(c, g)
r = R.nn.relu(a)
y = R.nn.max_pool2d(r, pool_size=[2, 2], strides=[2, 2])
"""
MASKED_SOFTMAX = f"""{SCORES}
qk = R.matmul(q, kt)
mf = R.astype(mask, "float32")
me = R.expand_dims(mf, axis=1)
inverted = R.subtract(one, me)
added = R.multiply(inverted, large)
s = R.add(qk, added)
p = R.nn.softmax(s, axis=-1)
o = R.matmul(p, v)
y = R.matmul(o, m2)
"""
WHERE_SOFTMAX = f"""{SCORES}
qk = R.matmul(q, kt)
s = R.where(triangle, qk, low)
p = R.nn.softmax(s, axis=-1)
o = R.matmul(p, v)
y = R.matmul(o, m2)
"""
MASKED_MEAN = """
h = R.matmul(x, m1)
n = R.nn.layer_norm(h, gamma, beta, axes=[-1])
mf = R.astype(mask, "float32")
me = R.expand_dims(mf, axis=2)
kept = R.multiply(n, me)
total = R.sum(kept, axis=[1])
counts = R.sum(me, axis=[1])
least = R.clip(counts, 1e-9, 3e38)
d = R.divide(total, least)
dn = R.nn.layer_norm(d, gamma, beta, axes=[-1])
y = R.matmul(dn, m2)
"""
STREAM = """
h = R.take(embedded, ids, axis=0)
hp = R.add(h, position)
n = R.nn.layer_norm(hp, gamma, beta, axes=[-1])
z = R.matmul(n, m1)
y = R.add(z, hp)
n2 = R.nn.layer_norm(y, gamma, beta, axes=[-1])
z2 = R.matmul(n2, m2)
"""
INTEGER_STREAM: dict[str, Any] = {"residual_streams": "int16", "integer_layer_norm": True}
SYMMETRIC = {"scheme": "symmetric", "dtype_input": "int8"}
SIXTEEN = {"scheme": "symmetric", "dtype_input": "int16", "nbit_input": 16}
POWERS = {"requantize": "power_of_two", "weight_scale": "power2"}
FIXED = {"requantize": "fixed_point"}

OPTIONS: dict[str, Case] = {
    "a mask, then a constant": masked(
        MASKED_SOFTMAX.replace("s = R.add(qk, added)", "marked = R.add(qk, added)\ns = R.add(marked, scores_bias)"),
        integer_softmax=True,
    ),
    **{
        f"residual {name}": picture(RESIDUAL, (2, 4, 3, 3), **options)
        for name, options in {
            "float": {}, "fixed point": FIXED, "fixed point, nearest": {**FIXED, "rounding": "TONEAREST"},
            "powers of two": POWERS, "powers of two, nearest": {**POWERS, "rounding": "TONEAREST"},
            "symmetric": SYMMETRIC, "one scale": {"per_channel": False}, "4 bits by mse": {
                "weight_scale": "mse", "nbit_weight": 4,
            }, "2 bits": {"nbit_weight": 2, "nbit_input": 2}, "16 bits": SIXTEEN, "16 bits, fixed point": {
                **SIXTEEN, **FIXED,
            }, "12 and 3 bits": {**SIXTEEN, "nbit_input": 12, "nbit_weight": 3}, "7 bits": {"reduce_range": True},
            "equalized": {"equalization": True}, "8-bit biases": {"nbit_bias": 8}, "factors of float32": {
                **FIXED, "factors": "float32",
            }, "conversions apart": {"partition_conversions": "enabled"}, "a float layer": {"skip_conv_layers": (1,)},
            "rounded by data": {"weight_rounding": "calibrated", "bias_correction": True},
        }.items()
    },
    **{
        f"transformer {name}": rows(TRANSFORMER, **options)
        for name, options in {
            "float": {}, "symmetric": SYMMETRIC, "int16 streams": {"residual_streams": "int16"}, "integers": {
                **INTEGER_STREAM, "integer_softmax": True,
            }, "integers, fixed point": {**INTEGER_STREAM, "integer_softmax": True, **FIXED}, "integral": {
                **INTEGER_STREAM, "integer_softmax": True, "partition_conversions": "fully_integral",
            }, "powers of two": POWERS, "16 bits": SIXTEEN, "float matrices": {"skip_dense_layer": True},
        }.items()
    },
    "means by powers of two": picture("a = R.mean(h, axis=[2], keepdims=True)\ny = R.subtract(h, a)", **POWERS),
    "windows by powers of two": picture(
        "y = R.nn.avg_pool2d(h, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], count_include_pad=False)",
        (2, 4, 3, 3), **POWERS,
    ),
    "two roundings": picture("a = R.maximum(h, low4)\ny = R.minimum(a, wide)", **FIXED, rounding="DOUBLE"),
    "channels of their own bounds": picture("a = R.maximum(h, low4)\ny = R.minimum(a, wide)"),
}  # fmt: skip
CONSTANTS["low4"] = -CONSTANTS["wide"]

_UNARY = """
sigmoid tanh exp erf negative abs nn.silu nn.gelu nn.gelu_tanh nn.softplus nn.selu square sin cos atan sign floor ceil
round trunc asinh
""".split()
_OF_PART = ("tan", "sqrt", "rsqrt", "acosh", "asin", "acos", "atanh")
_RESIZE = (
    'y = R.image.resize2d(h, R.shape([12, 12]), roi=[0.0, 0.0, 0.0, 0.0], layout="NCHW", method="{}", '
    'coordinate_transformation_mode="{}", rounding_method="{}")'
)
_POOL = "pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]"
_JOINED = (2, 4, 12, 6)


def _of_part(name: str) -> Case:
    """A function of what lies in its domain."""
    factor = 1.1 if name == "acosh" else 0.3
    return replace(
        floating(f"a = R.sigmoid(h)\nb = R.add(a, half)\nc = R.multiply(b, factor)\ny = R.{name}(c)"),
        constants={"factor": np.float32(2 * factor)},
    )


FORMS: dict[str, Case] = {
    **{f"tvmq.table: {name}": picture(f"y = R.{name}(h)") for name in (*_UNARY[:3], "abs", "round", "square")},
    "tvmq.table: logic": picture(
        "a = R.greater(h, some)\nb = R.less(h, half)\nc = R.logical_and(a, b)\ny = R.where(c, h, some)"
    ),
    **{name: floating(f"y = R.{name}(h)") for name in _UNARY},
    **{name: _of_part(name) for name in _OF_PART},
    "nn.relu": floating("a = R.exp(h)\nb = R.subtract(a, one)\ny = R.nn.relu(b)"),
    "log": floating("a = R.abs(h)\nb = R.add(a, half)\ny = R.log(b)"),
    "tvmq.round_floats": floating('y = R.tvmq.round_floats(h, dtype="bfloat16")'),
    "clip": floating("a = R.exp(h)\nb = R.subtract(a, one)\ny = R.clip(b, -0.5, 0.7)"),
    "nn.leakyrelu": floating("a = R.exp(h)\nb = R.subtract(a, one)\ny = R.nn.leakyrelu(b, 0.1)"),
    "nn.prelu": floating("y = R.nn.prelu(h, slopes, axis=1)"),
    "add": floating("y = R.add(h, channel)"),
    "subtract": floating("y = R.subtract(some, h)"),
    "multiply": floating("y = R.multiply(h, h)"),
    "divide": floating("y = R.divide(channel, wide)\n".replace("y =", "q =") + "y = R.divide(h, q)"),
    "power": floating("a = R.abs(h)\nb = R.add(a, half)\ny = R.power(b, exponent)"),
    "atan2": two("y = R.atan2(h, g)"),
    "log_add_exp": two("y = R.log_add_exp(h, g)"),
    "floor_mod": two("k = R.exp(g)\ny = R.floor_mod(h, k)"),
    "mod": two("k = R.exp(g)\ny = R.mod(h, k)"),
    "floor_divide": two("k = R.exp(g)\na = R.floor_divide(h, k)\ny = R.add(a, h)"),
    "isnan": floating("a = R.isnan(h)\ny = R.where(a, zero, h)"),
    "isinf": floating("a = R.isinf(h)\ny = R.where(a, zero, h)"),
    "isfinite": floating("a = R.isfinite(h)\ny = R.where(a, h, zero)"),
    **{
        f"logical_{kind}": floating(
            f"a = R.greater(h, some)\nb = R.less(h, half)\nc = R.logical_{kind}(a, b)\ny = R.where(c, h, some)"
        )
        for kind in ("and", "or", "xor")
    },
    "logical_not": floating("a = R.greater(h, some)\nc = R.logical_not(a)\ny = R.where(c, h, some)"),
    "zeros_like": floating("a = R.zeros_like(h)\ny = R.maximum(h, a)"),
    "ones_like": floating("a = R.ones_like(h)\ny = R.minimum(h, a)"),
    "full_like": floating("a = R.full_like(h, half)\ny = R.minimum(h, a)"),
    **{
        f"{name}: of codes": two(f"m = R.{compared}(h, g)\ny = R.where(m, h, g)")
        for name, compared in {
            "less": "greater_equal", "greater_equal": "less", "equal": "equal", "not_equal": "not_equal",
        }.items()
    },
    **{
        name: floating(f"m = R.{name}(h, half)\ny = R.where(m, h, half)")
        for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
    },
    "where: of codes": two("m = R.greater(h, g)\ny = R.where(m, h, g)"),
    "where: of codes and a number": two("m = R.greater(h, g)\ny = R.where(m, h, half)"),
    "where: in front of an integer softmax": rows(WHERE_SOFTMAX, integer_softmax=True),
    "astype: of codes": two("m = R.less(h, g)\ny = R.where(m, h, g)"),
    "maximum: of codes": two("y = R.maximum(h, g)"),
    "minimum: of codes": two("y = R.minimum(h, g)"),
    "maximum: of codes and constants": picture("y = R.maximum(h, channel)"),
    "minimum: of floats": floating("y = R.minimum(h, half)"),
    "maximum: of floats": floating("y = R.maximum(h, half)"),
    "max: of codes": picture("a = R.max(h, axis=[2], keepdims=True)\ny = R.multiply(h, a)"),
    "min: of codes": picture("a = R.min(h, axis=[2], keepdims=True)\ny = R.add(h, a)"),
    "max: of floats": floating("a = R.max(h, axis=[1], keepdims=True)\ny = R.multiply(h, a)"),
    "min: of floats": floating("a = R.min(h, axis=[1], keepdims=True)\ny = R.multiply(h, a)"),
    # ---- moves
    "reshape": picture("y = R.reshape(h, R.shape([2, 4, 4, 9]))", (2, 4, 4, 9)),
    "flatten": picture("f = R.flatten(h)\ny = R.reshape(f, R.shape([2, 4, 6, 6]))"),
    "expand_dims": picture("a = R.expand_dims(h, axis=1)\nb = R.sigmoid(a)\ny = R.squeeze(b, axis=[1])"),
    "squeeze": picture("a = R.expand_dims(h, axis=1)\nb = R.sigmoid(a)\ny = R.squeeze(b, axis=[1])"),
    "permute_dims": picture("y = R.permute_dims(h, axes=[0, 1, 3, 2])"),
    "broadcast_to": picture("a = R.max(h, axis=[2], keepdims=True)\ny = R.broadcast_to(a, R.shape([2, 4, 6, 6]))"),
    "tile": picture("y = R.tile(h, repeats=[1, 1, 2, 1])", _JOINED),
    "repeat": picture("y = R.repeat(h, 2, axis=2)", _JOINED),
    "flip": picture("y = R.flip(h, axis=2)"),
    "strided_slice": picture(
        "y = R.strided_slice(h, (R.prim_value(2),), (R.prim_value(1),), (R.prim_value(5),), (R.prim_value(2),))",
        (2, 4, 2, 6),
    ),
    "take": picture("y = R.take(h, rows, axis=2)", (2, 4, 3, 6)),
    "take: rows of an embedding": Case(
        "h = R.take(embedded, ids, axis=0)\nz = R.matmul(h, m1)", ROWS, {"ids": ROWS[:2]},
    ),
    "take: rows of an int16 stream": Case(STREAM, ROWS, {"ids": ROWS[:2]}, INTEGER_STREAM),
    "gather_elements": picture("y = R.gather_elements(h, places, axis=2)", (2, 4, 2, 6)),
    "gather_nd": picture("y = R.gather_nd(h, first, batch_dims=0)"),
    "index_tensor": picture("y = R.index_tensor(h, (pair,))"),
    "concat": two("y = R.concat((h, g), axis=2)", _JOINED),
    "concat: with the input": picture("y = R.concat((h, x), axis=2)", _JOINED),
    "stack": two("a = R.stack((h, g), axis=2)\ny = R.reshape(a, R.shape([2, 4, 12, 6]))", _JOINED),
    "split": picture("a = R.split(h, 2, axis=2)\nb = a[0]\nc = a[1]\ny = R.multiply(b, c)", (2, 4, 3, 6)),
    "nn.pad": picture("y = R.nn.pad(h, pad_width=[0, 0, 0, 0, 1, 1, 2, 0])", (2, 4, 8, 8)),
    "nn.pad: reflected": picture(
        "y = R.nn.pad(h, pad_width=[0, 0, 0, 0, 1, 1, 2, 0], pad_mode='reflect')", (2, 4, 8, 8)
    ),
    "nn.pad: another number": picture(
        "y = R.nn.pad(h, pad_width=[0, 0, 0, 0, 1, 1, 2, 0], pad_value=-1.0)", (2, 4, 8, 8)
    ),
    "tril": picture("y = R.tril(h, 0)"),
    "triu": picture("y = R.triu(h, 0)"),
    "scatter_elements": picture("y = R.scatter_elements(h, places, updates, axis=2)"),
    "scatter_elements: computed": two(
        "u = R.strided_slice(g, (R.prim_value(2),), (R.prim_value(1),), (R.prim_value(3),))\n"
        "y = R.scatter_elements(h, places, u, axis=2)"
    ),
    "image.resize2d": picture(_RESIZE.format("nearest_neighbor", "asymmetric", "floor"), (2, 4, 12, 12)),
    "tvmq.resample": picture(_RESIZE.format("linear", "half_pixel", "round"), (2, 4, 12, 12)),
    "tvmq.resample: cubic": picture(_RESIZE.format("cubic", "half_pixel", "round"), (2, 4, 12, 12)),
    # ---- reductions, pools and what sorts
    "tvmq.sum: a mean": picture("a = R.mean(h, axis=[2], keepdims=True)\ny = R.subtract(h, a)"),
    "tvmq.sum": picture("a = R.sum(h, axis=[2], keepdims=True)\ny = R.subtract(h, a)"),
    "tvmq.float_sum": floating("a = R.mean(h, axis=[2], keepdims=True)\ny = R.subtract(h, a)"),
    "prod": picture("a = R.prod(h, axis=[2], keepdims=True)\ny = R.subtract(h, a)"),
    "variance": picture("a = R.variance(h, axis=[2], keepdims=True)\ny = R.multiply(h, a)"),
    "std": picture("a = R.std(h, axis=[2], keepdims=True)\ny = R.multiply(h, a)"),
    "cumsum": picture("y = R.cumsum(h, axis=2)"),
    "cumprod": picture("y = R.cumprod(h, axis=2)"),
    "nn.max_pool2d": picture(f"y = R.nn.max_pool2d(h, {_POOL})", (2, 4, 3, 3)),
    "nn.max_pool2d: of floats": floating(f"y = R.nn.max_pool2d(h, {_POOL})", (2, 4, 3, 3)),
    "tvmq.sum_pool": picture(f"y = R.nn.avg_pool2d(h, {_POOL}, count_include_pad=True)", (2, 4, 3, 3)),
    "tvmq.sum_pool: windows of several sizes": picture(f"y = R.nn.avg_pool2d(h, {_POOL})", (2, 4, 3, 3)),
    "tvmq.adaptive_sum_pool": picture("y = R.nn.adaptive_avg_pool2d(h, output_size=[4, 4])", (2, 4, 4, 4)),
    "nn.avg_pool2d": floating(f"y = R.nn.avg_pool2d(h, {_POOL})", (2, 4, 3, 3)),
    "nn.adaptive_avg_pool2d": floating("y = R.nn.adaptive_avg_pool2d(h, output_size=[4, 4])", (2, 4, 4, 4)),
    "argmax": picture('a = R.argmax(h, axis=1, keepdims=True)\nb = R.astype(a, "float32")\ny = R.add(h, b)'),
    "argmin": picture('a = R.argmin(h, axis=1, keepdims=True)\nb = R.astype(a, "float32")\ny = R.add(h, b)'),
    "argsort": picture('a = R.argsort(h, axis=2)\nb = R.astype(a, "float32")\ny = R.add(h, b)'),
    "sort": picture("y = R.sort(h, axis=2)"),
    "topk": picture("a = R.topk(h, 3, axis=2, ret_type='values')\ny = R.nn.relu(a)", (2, 4, 3, 6)),
    "one_hot": picture(
        "a = R.argmax(h, axis=3)\n"
        "b = R.one_hot(a, R.prim_value(T.float32(1.0)), R.prim_value(T.float32(0.0)), 6, axis=-1)\ny = R.multiply(h, b)"
    ),
    # ---- norms and softmax
    "tvmq.group_norm": picture("y = R.nn.group_norm(h, gamma4, beta4, num_groups=2, channel_axis=1, axes=[2, 3])"),
    "tvmq.group_norm: instances": picture("y = R.nn.instance_norm(h, gamma4, beta4, channel_axis=1, axes=[2, 3])"),
    "tvmq.softmax": rows("h = R.matmul(x, m1)\ny = R.nn.softmax(h, axis=-1)\nz = R.matmul(y, m2)"),
    "tvmq.log_softmax": rows("h = R.matmul(x, m1)\ny = R.nn.log_softmax(h, axis=-1)"),
    "tvmq.layer_norm": rows("h = R.matmul(x, m1)\ny = R.nn.layer_norm(h, gamma, beta, axes=[-1])\nz = R.matmul(y, m2)"),
    "tvmq.rms_norm": rows("h = R.matmul(x, m1)\ny = R.nn.rms_norm(h, gamma, axes=[-1])\nz = R.matmul(y, m2)"),
    "tvmq.integer_softmax": rows(ATTENTION, integer_softmax=True),
    "tvmq.add_mask": masked(MASKED_SOFTMAX, integer_softmax=True),
    "tvmq.integer_layer_norm": rows(TRANSFORMER, **INTEGER_STREAM),
    "tvmq.integer_layer_norm: without the mean": rows(
        TRANSFORMER.replace("layer_norm(y, gamma, beta", "rms_norm(y, gamma"), **INTEGER_STREAM
    ),
    "tvmq.masked_mean": masked(MASKED_MEAN, (2, 8), **INTEGER_STREAM),
    # ---- arithmetic on codes
    "tvmq.add": two("y = R.add(h, g)"),
    "tvmq.add: a difference": two("y = R.subtract(h, g)"),
    "tvmq.multiply": two("y = R.multiply(h, g)"),
    "tvmq.scale_shift": picture("y = R.divide(h, wide)"),
    "tvmq.prelu": picture("y = R.nn.prelu(h, slopes, axis=1)"),
    "tvmq.quantize": rows("y = R.matmul(x, m1)"),
    "tvmq.dequantize": rows("y = R.matmul(x, m1)"),
    "tvmq.requantize": rows("h = R.matmul(x, m1)\ny = R.matmul(h, m2)"),
    # ---- products
    "matmul": rows("y = R.matmul(x, m1)"),
    "matmul: of floats": rows(ATTENTION, **SIXTEEN),
    "tvmq.matmul": rows(ATTENTION),
    "nn.conv1d": spatial(1, "g = R.nn.relu(h)\nz = R.nn.conv1d(g, kb, strides=[2], dilation=[2])", (2, 4, 3)),
    "nn.conv2d": spatial(2, "g = R.nn.relu(h)\nz = R.nn.conv2d(g, kb, strides=[2, 1])", (2, 4, 2, 4)),
    "nn.conv3d": spatial(3, "g = R.nn.relu(h)\nz = R.nn.conv3d(g, kb)", (2, 4, 2, 2, 2)),
    "nn.conv2d: groups": picture("y = R.nn.conv2d(h, depthwise, padding=[1, 1, 1, 1], groups=4)"),
    "nn.conv2d: of floats": picture(RESIDUAL, (2, 4, 3, 3), skip_conv_layers=(1,)),
    "tvmq.conv_transpose": picture("y = R.nn.conv2d_transpose(h, w3, strides=[2, 2])", (2, 4, 13, 13)),
    "tvmq.conv_transpose: groups": picture(
        "y = R.nn.conv2d_transpose(h, grouped, strides=[2, 2], padding=[1, 1, 1, 1], groups=2)", (2, 4, 11, 11)
    ),
    "tvmq.conv_transpose: one axis": spatial(1, "z = R.nn.conv1d_transpose(h, kb, strides=[2])", (2, 4, 19)),
    "nn.conv2d_transpose": floating("y = R.nn.conv2d_transpose(h, w3, strides=[2, 2])", (2, 4, 13, 13)),
}  # fmt: skip
CONSTANTS.update(depthwise=weight(4, 1, 3, 3), grouped=weight(4, 2, 3, 3))

# Gradients that a float model does not have: jumps, poles, and codes too coarse for its own
JUMPS = (
    "tvmq.table: round", "tvmq.table: logic", "floor_mod", "floor_divide", "where: of codes and a number",
    *(f"residual {few}" for few in ("2 bits", "4 bits by mse", "12 and 3 bits")),
)  # fmt: skip

_RANKS = "another rank of a form that is here"
WITHOUT: dict[str, tuple[str, ...]] = {
    "prepare makes others of them": (
        *(f"nn.{kind}_norm" for kind in ("batch", "group", "instance", "layer", "rms")), "nn.softmax", "nn.log_softmax",
        "mean", "sum",
    ),
    _RANKS: (
        *(f"nn.{kind}_pool{axes}d" for kind in ("max", "avg", "adaptive_avg") for axes in (1, 3)),
        "nn.conv1d_transpose", "nn.conv3d_transpose",
    ),
    "of integers alone: no gradient, the definition's values": (
        *(f"bitwise_{kind}" for kind in ("and", "or", "xor", "not")), "left_shift", "right_shift", "arange", "full",
        "ones", "zeros", "shape_of", "nonzero", "unique", "vision.non_max_suppression",
    ),
    "TVM compiles them on no CPU": ("sinh", "cosh", "ewise_fma"),
    "by the same form as scatter_elements": ("scatter_nd", "index_put", "slice_scatter"),
    "by the same form as sort": ("median",),
    "of a shape that values say, which no model may have": ("dynamic_strided_slice",),
    "refused: recurrent loops, caches": ("tvmq.recurrent", "tvmq.recurrent_codes", "tvmq.tensor_scatter"),
    "of scales made at run time, and of weights alone": (
        *(f"tvmq.dynamic_{kind}" for kind in ("quantize", "dequantize", "scale")), "tvmq.group_dequantize",
        "tvmq.group_matmul", "tvmq.group_offset_matmul",
    ),
    "in no realized module": ("tvmq.fence", "tvmq.observe", "tvmq.simulated_quantize", "tvmq.unpack"),
}  # fmt: skip
