"""Cases of kernels: kernel, inputs, result by definition. The table of their sizes is table.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tests.codegen.kernels.harness import conv_operands, epilogue_for, expected_conv, levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.attention.attention import attention
from tvmq.codegen.kernels.attention.batch_matmul import batch_matmul
from tvmq.codegen.kernels.attention.shape import Attention, BatchMatmul, MatrixOperand
from tvmq.codegen.kernels.conv.conv2d import conv2d
from tvmq.codegen.kernels.depthwise.depthwise import depthwise
from tvmq.codegen.kernels.elementwise.add import add
from tvmq.codegen.kernels.elementwise.convert import dequantize, quantize, requantize
from tvmq.codegen.kernels.elementwise.multiply import multiply
from tvmq.codegen.kernels.elementwise.table import table
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.move.concat import concat
from tvmq.codegen.kernels.move.constant_pad import pad
from tvmq.codegen.kernels.move.repeat_pixels import repeat_pixels
from tvmq.codegen.kernels.move.transpose import dequantize_to_nchw, quantize_to_nhwc, to_nchw, to_nhwc
from tvmq.codegen.kernels.norm.group_norm import GroupNorm, group_norm
from tvmq.codegen.kernels.norm.softmax import softmax
from tvmq.codegen.kernels.parts.float_vectors import CodeLimits
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Conv2d, Dequantize, Isa, Kernel, Requantize
from tvmq.codegen.kernels.pool import global_sum, max_pool, sum_pool, takes_floats
from tvmq.codegen.kernels.pool_windows import Pool2d
from tvmq.tools.analysis.verification import unequal_bits

SCALE = np.float32(0.037)
SUMS = np.array([0, 1, -1, 255, -256, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31), 2**30, 12345], np.int32)
REALS = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e-45, -1e-45, 0.5, -1.5, 1e9, -1e9])


# Named edge cases: all elements are this float, or the code that is nearest to it; "mixed" has a bit of everything
EDGES = {"lowest": -np.inf, "highest": np.inf, "zero": -0.0, "nan": np.nan}


class Case(NamedTuple):
    """make(isa) gives the kernel; its result on `inputs` must equal `expected`."""

    name: str
    make: Callable[[Isa], Kernel]
    inputs: tuple[np.ndarray, ...]
    expected: np.ndarray


def codes(shape: Sequence[int], dtype: str = "uint8", seed: int = 0, edge: str = "mixed") -> np.ndarray:
    """Random codes, a quarter of them extreme; or all as an edge case has them."""
    if edge != "mixed":
        return np.full(shape, {"lowest": np.iinfo(dtype).min, "highest": np.iinfo(dtype).max}.get(edge, 0), dtype)
    random = np.random.default_rng(seed)
    if dtype == "int16":
        values = random.integers(-(2**15), 2**15, shape).astype(np.int16)
        values[random.random(values.shape) < 0.25] = -(2**15)
        return values
    values = random.integers(0, 256, shape).astype(np.uint8)
    values[random.random(values.shape) < 0.25] = 255
    return (values ^ 128).view(np.int8) if dtype == "int8" else values


def reals(shape: Sequence[int], seed: int = 0, edge: str = "mixed") -> np.ndarray:
    """Random numbers, ties of a quantization by SCALE, infinities, NaN, denormals, huge ones; or an edge case."""
    if edge != "mixed":
        return np.full(shape, EDGES[edge], np.float32)
    random = np.random.default_rng(seed)
    values = (random.normal(size=shape) * 3).astype(np.float32)
    ties = (random.integers(-300, 300, values.size) + np.float32(0.5)).astype(np.float32) * SCALE
    special = np.resize(np.concatenate([REALS, ties[: 3 * len(REALS)]]), values.size)
    return np.where(random.random(shape) < 0.3, special.reshape(shape), values)


def moved(array: np.ndarray, *axes: int) -> np.ndarray:
    """A transposed copy."""
    return np.ascontiguousarray(array.transpose(axes))


def add_cases(shapes: Sequence[tuple[int, ...]], edge: str = "mixed") -> Iterator[Case]:
    """Both ways of the constants: multipliers within int16, and larger ones."""
    for number, shape in enumerate(shapes):
        a_dtype, b_dtype, dtype = [("uint8", "uint8", "uint8"), ("int8", "uint8", "int8")][number % 2]
        scales = [(0.5, 0.3, 0.6), (40.0, 0.01, 0.011)][number % 3 // 2]
        params = numerics.add_params(scales[0], 7, scales[1], 11, scales[2])
        step = AddStep(*params, zero_point=5, qmin=2, qmax=120, b_dtype=b_dtype, dtype=dtype)
        a, b = codes(shape, a_dtype, edge=edge), codes(shape, b_dtype, 1, edge)
        expected = numerics.add(a, b, **params._asdict(), zero_point=5, dtype=dtype, qmin=2, qmax=120)
        yield Case(f"add {shape}", partial(add, shape, step, a_dtype=a_dtype), (a, b), expected)


def table_cases(shapes: Sequence[tuple[int, ...]], edge: str = "mixed") -> Iterator[Case]:
    """All pairs of types."""
    kinds = [("uint8", "uint8"), ("int8", "uint8"), ("uint8", "int8"), ("int8", "int8")]
    for number, shape in enumerate(shapes):
        dtype, out_dtype = kinds[number % 4]
        values, x = codes((256,), out_dtype, 3), codes(shape, dtype, edge=edge)
        make = partial(table, shape, dtype, values)
        yield Case(f"table {shape}", make, (x,), numerics.table(x, values))


def multiply_cases(shapes: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], edge: str = "mixed") -> Iterator[Case]:
    """Products of centred codes; some saturate."""
    for number, (shape, b_shape) in enumerate(shapes):
        a_dtype, b_dtype = [("uint8", "uint8"), ("int8", "uint8"), ("uint8", "int8")][number % 3]
        a, b = codes(shape, a_dtype, edge=edge), codes(b_shape, b_dtype, 1, edge)
        zeros = {"a_zero": 3 + number, "b_zero": number - 1 if b_dtype == "int8" else number}
        step = Requantize(np.float32([1 / 256, 0.0071, 3e7][number % 3]), 9, 1, 250)
        product = numerics.multiply(a, b, **zeros)
        expected = numerics.requantize(product, step.multiplier, zero_point=9, qmin=1, qmax=250, dtype="uint8")
        kinds = {**zeros, "a_dtype": a_dtype, "b_dtype": b_dtype}
        make = partial(multiply, shape, b_shape, step, **kinds)
        yield Case(f"multiply {shape} by {b_shape}", make, (a, b), expected)


def convert_cases(shapes: Sequence[tuple[int, ...]], edge: str = "mixed") -> Iterator[Case]:
    """quantize, dequantize and requantize, with one parameter and one for each channel."""
    for shape in shapes:
        for dtype, zero, qmin, qmax in (("uint8", 120, 0, 255), ("int8", -3, -127, 100), ("int16", 5, -2000, 2000)):
            x, kinds = reals(shape, edge=edge), {"dtype": dtype, "qmin": qmin, "qmax": qmax}
            make = partial(quantize, shape, SCALE, zero, **kinds)
            yield Case(f"quantize {shape} {dtype}", make, (x,), numerics.quantize(x, SCALE, zero, **kinds))
        yield from _dequantize_cases(shape, edge)
        yield from _requantize_cases(shape, edge)


def _sums(shape: tuple[int, ...], edge: str) -> np.ndarray:
    return np.resize(SUMS, shape) if edge == "mixed" else codes(shape, "int32", edge=edge)


def _channel_values(shape: tuple[int, ...]) -> tuple[np.ndarray, int | None]:
    """Small numbers for the channels of the last axis, and that axis; one number for one channel."""
    values = (np.random.default_rng(5).uniform(0.5, 1.5, shape[-1]) * 2.0**-20).astype(np.float32)
    return (values, len(shape) - 1) if shape[-1] > 1 else (values[0], None)


def _dequantize_cases(shape: tuple[int, ...], edge: str) -> Iterator[Case]:
    scales, axis = _channel_values(shape)
    zeros = np.arange(shape[-1]) - 4 if axis is not None else -4
    for q, scale, zero, its_axis in (
        (codes(shape, edge=edge), SCALE, 120, None),
        (codes(shape, "int8", edge=edge), scales, zeros, axis),
        (_sums(shape, edge), scales, 0, axis),
    ):
        expected = numerics.dequantize(q, scale, zero, axis=its_axis)
        make = partial(dequantize, shape, str(q.dtype), scale, zero)
        yield Case(f"dequantize {shape} {q.dtype}", make, (q,), expected)


def _requantize_cases(shape: tuple[int, ...], edge: str) -> Iterator[Case]:
    multipliers, axis = _channel_values(shape)
    sums = _sums(shape, edge)
    for multiplier, its_axis in ((np.float32(2.0**-20), None), (multipliers, axis), (np.float32(1e30), None)):
        limits = {"zero_point": 9, "qmin": 1, "qmax": 250, "dtype": "uint8"}
        expected = numerics.requantize(sums, multiplier, axis=its_axis, **limits)
        make = partial(requantize, shape, Requantize(multiplier, 9, 1, 250))
        yield Case(f"requantize {shape} {np.ravel(multiplier)[0]}", make, (sums,), expected)


def window_options(pool: Pool2d) -> dict[str, Any]:
    """Options of numerics for a Pool2d."""
    names = ("kernel", "strides", "padding", "dilation", "ceil_mode")
    return {name: getattr(pool, name) for name in names}


def pool_cases(pools: Sequence[Pool2d], edge: str = "mixed") -> Iterator[Case]:
    """Maximum, sums, and averages with and without padding in the count."""
    for number, pool in enumerate(pools):
        dtype = ("uint8", "int8")[number % 2]
        x = codes((pool.batch, pool.height, pool.width, pool.channels), dtype, edge=edge)
        nchw, options = x.transpose(0, 3, 1, 2), window_options(pool)
        expected = moved(numerics.max_pool(nchw, **options), 0, 2, 3, 1)
        name = f"{pool.height} {pool.channels} {pool.kernel} {dtype}"
        yield Case(f"max pool {name}", partial(max_pool, pool, dtype=dtype), (x,), expected)
        reals = np.random.default_rng(number).choice(REALS, x.shape)  # many are equal, zeros of both signs
        expected = moved(numerics.max_pool(reals.transpose(0, 3, 1, 2), **options), 0, 2, 3, 1)
        if takes_floats(pool):
            yield Case(f"max pool floats {name}", partial(max_pool, pool, dtype="float32"), (reals,), expected)
        sums = moved(numerics.sum_pool(nchw, zero_point=7, **options), 0, 2, 3, 1)
        kinds: dict[str, Any] = {"zero_point": 7, "dtype": dtype}
        make = partial(sum_pool, pool, (), **kinds)
        yield Case(f"sum pool {name}", make, (x,), sums)
        counts = numerics.window_counts((pool.height, pool.width), **options)
        if counts.min() > 0:
            factors, divisor = numerics.average_factors(counts)
            kinds = {**kinds, "factors": factors}
            multiplier = (np.random.default_rng(1).uniform(0.5, 2, pool.channels) / divisor).astype(np.float32)
            step = Requantize(multiplier, 5, 0, 255)
            scaled = sums * factors[:, :, None]
            expected = numerics.requantize(scaled, multiplier, axis=3, zero_point=5, dtype="uint8")
            make = partial(sum_pool, pool, (step,), **kinds)
            yield Case(f"average pool {name}", make, (x,), expected)


def global_sum_cases(shapes: Sequence[tuple[int, ...]], edge: str = "mixed") -> Iterator[Case]:
    """Global averages."""
    for shape in shapes:
        x, multiplier = codes(shape, edge=edge), np.float32(0.9 / (shape[1] * shape[2]))
        expected = numerics.requantize(numerics.sum(x, (1, 2), True, 4), multiplier, zero_point=5, dtype="uint8")
        step = Requantize(multiplier, 5, 0, 255)
        make = partial(global_sum, shape, (step,), zero_point=4)
        yield Case(f"global sum {shape}", make, (x,), expected)


def softmax_cases(shapes: Sequence[tuple[tuple[int, ...], int]], edge: str = "mixed") -> Iterator[Case]:
    """Rows of special values among others."""
    for shape, axis in shapes:
        x = reals(shape, edge=edge)
        make = partial(softmax, shape, axis=axis)
        yield Case(f"softmax {shape} {axis}", make, (x,), numerics.softmax(x, axis))


def norm_cases(norms: Sequence[GroupNorm]) -> Iterator[Case]:
    """Layer, rms and group norms; rows of ordinary numbers, one of large ones, one with an infinity."""
    for norm in norms:
        random = np.random.default_rng(norm.length)
        x = (random.normal(size=(norm.batch, norm.channels, norm.positions)) * 3 + 1).astype(np.float32)
        x[-1] *= np.float32(1e20)
        x.flat[-1] = np.inf
        gamma, beta = random.normal(size=(2, norm.channels)).astype(np.float32)
        if norm.centred:
            expected = numerics.group_norm(x, gamma, beta, groups=norm.groups, epsilon=norm.epsilon)
        else:
            expected = numerics.rms_norm(x[..., 0], gamma, epsilon=norm.epsilon)[..., None]
        inputs = (x, gamma, beta) if norm.centred else (x, gamma)
        yield Case(f"norm {norm}", partial(group_norm, norm), inputs, expected)


def copy_cases(shapes: Sequence[tuple[int, int, int, int]], edge: str = "mixed") -> Iterator[Case]:
    """repeat_pixels, pad and the transposes of pictures (NHWC)."""
    for number, shape in enumerate(shapes):
        dtype = ("uint8", "float32", "int8", "int32")[number % 4]
        x = codes(shape, edge=edge).astype(dtype)
        make = partial(repeat_pixels, shape, (2, 3), dtype=dtype)
        yield Case(f"repeat_pixels {shape} {dtype}", make, (x,), x.repeat(2, 1).repeat(3, 2))
        width = ((0, 0), (number, 1), (2, 0), (0, 0)) if number % 2 else ((1, 0), (0, 1), (0, 0), (3, 70))
        make = partial(pad, shape, width, 100, dtype=dtype)
        yield Case(f"pad {shape} {dtype}", make, (x,), np.pad(x, width, constant_values=100))
        nchw = moved(x, 0, 3, 1, 2)
        make = partial(to_nhwc, nchw.shape, dtype=dtype)
        yield Case(f"to_nhwc {nchw.shape} {dtype}", make, (nchw,), x)
        make = partial(to_nchw, shape, dtype=dtype)
        yield Case(f"to_nchw {shape} {dtype}", make, (x,), nchw)
        picture = reals(nchw.shape, edge=edge)
        expected = moved(numerics.quantize(picture, SCALE, 9, dtype="uint8", qmax=200), 0, 2, 3, 1)
        make = partial(quantize_to_nhwc, nchw.shape, SCALE, 9, qmax=200)
        yield Case(f"quantize_to_nhwc {nchw.shape}", make, (picture,), expected)
        q = codes(shape, "int8", edge=edge)
        expected = moved(numerics.dequantize(q, SCALE, -5), 0, 3, 1, 2)
        make = partial(dequantize_to_nchw, shape, "int8", SCALE, -5)
        yield Case(f"dequantize_to_nchw {shape}", make, (q,), expected)


def concat_cases(groups: Sequence[tuple[Sequence[tuple[int, ...]], int]], edge: str = "mixed") -> Iterator[Case]:
    """Plain, and with tables for some inputs."""
    for number, (shapes, axis) in enumerate(groups):
        dtype = ("uint8", "int8")[number % 2]
        inputs = tuple(codes(shape, dtype, seed, edge) for seed, shape in enumerate(shapes))
        make = partial(concat, shapes, axis, dtype=dtype)
        yield Case(f"concat {shapes}", make, inputs, np.concatenate(inputs, axis))
        tables = [codes((256,), dtype, 9) if i % 2 == 0 else None for i in range(len(shapes))]
        rescaled = [x if t is None else numerics.table(x, t) for x, t in zip(inputs, tables, strict=True)]
        make = partial(concat, shapes, axis, dtype=dtype, tables=tables)
        yield Case(f"concat with tables {shapes}", make, inputs, np.concatenate(rescaled, axis))


def conv_cases(convs: Sequence[tuple[Conv2d, str]], kernel: Callable[..., Kernel] = conv2d) -> Iterator[Case]:
    """Convolutions with an epilogue by its name in epilogue_for."""
    for conv, kind in convs:
        x, weight, bias = conv_operands(conv)
        epilogue, others = epilogue_for(conv, kind)
        expected = expected_conv(conv, (x, weight, bias), 7, epilogue, others)
        make = partial(kernel, conv, weight, bias, 7, epilogue)
        yield Case(f"{conv} {kind}", make, (x, *others), expected)


def depthwise_cases(convs: Sequence[Conv2d]) -> Iterator[Case]:
    """Cases of depthwise kernels with all epilogue steps."""
    for conv in convs:
        operands = conv_operands(conv)
        epilogue, others = epilogue_for(conv, "all")
        expected = expected_conv(conv, operands, 9, epilogue, others)
        make = partial(depthwise, conv, *operands[1:], 9, epilogue)
        yield Case(f"depthwise {conv.channels}", make, (operands[0], *others), expected)


def dense(shape: tuple[int, ...], dtype: str, *, turned: bool = False) -> MatrixOperand:
    """All of a tensor [*batch, rows, columns]; `turned`: rows and columns exchanged."""
    strides = [int(np.prod(shape[axis + 1 :], dtype=int)) for axis in range(len(shape))]
    row, column = strides[-1:-3:-1] if turned else strides[-2:]
    return MatrixOperand(shape, dtype, 0, tuple(strides[:-2]), row, column)


def batch_matmul_cases(sizes: Sequence[tuple[int, int, int, int]]) -> Iterator[Case]:
    """Matrices as they are and turned, floats and codes."""
    for number, (batch, rows, depth, columns) in enumerate(sizes):
        a, b = codes((batch, rows, depth)), codes((batch, depth, columns), "int8", 1)
        sums = numerics.matmul(a, b, a_zero=77, b_zero=-3)
        turned = number % 2 == 1
        stored = np.ascontiguousarray(b.transpose(0, 2, 1)) if turned else b
        operands = dense(a.shape, "uint8"), dense(stored.shape, "int8", turned=turned)
        y = dense((batch, rows, columns), "")
        product = BatchMatmul((batch,), rows, depth, columns, *operands, y, 77, -3)
        step = Dequantize(SCALE) if number % 2 else Requantize(np.full(columns, 0.001, np.float32), 9, 0, 255)
        expected = numerics.dequantize(sums, SCALE, np.int32(0))
        if isinstance(step, Requantize):
            expected = numerics.requantize(sums, np.float32(0.001), zero_point=9, dtype="uint8", qmin=0, qmax=255)
        make = partial(batch_matmul, product, step)
        yield Case(f"batch_matmul {batch, rows, depth, columns}", make, (a, stored), expected)


def attention_of(batch: tuple[int, ...], rows: int, keys: int, depth: int, columns: int, **changes: Any) -> Attention:
    """Dense operands, k given transposed."""
    named: dict[str, Any] = {
        "q": dense((*batch, rows, depth), "uint8"),
        "k": dense((*batch, keys, depth), "uint8", turned=True),
        "v": dense((*batch, keys, columns), "uint8"),
        "y": dense((*batch, rows, columns), "uint8"),
    }
    named |= {"mask": None, "zeros": (126, 132, 125), "codes": CodeLimits(0, 0, 255, "uint8")}
    return Attention(batch, rows, keys, depth, columns, **named | changes)


def expected_attention(
    shape: Attention, arrays: list[np.ndarray], scales: tuple[float, float], step: Requantize | Dequantize
) -> np.ndarray:
    """The definition; arrays: q, k, v as matrices, and the mask."""
    q, k, v, *mask = arrays
    q_zero, k_zero, v_zero = shape.zeros
    sums = numerics.matmul(q, k, a_zero=q_zero, b_zero=k_zero)
    scores = numerics.dequantize(sums, np.float32(scales[0]), np.int32(0))
    if mask:
        scores = scores + mask[0]
    own = shape.codes
    weights = numerics.quantize(
        numerics.softmax(scores), np.float32(scales[1]), np.int32(own.zero_point),
        dtype=np.dtype(own.dtype).type, qmin=own.qmin, qmax=own.qmax,
    )  # fmt: skip
    sums = numerics.matmul(weights, v, a_zero=own.zero_point, b_zero=v_zero)
    if isinstance(step, Dequantize):
        return numerics.dequantize(sums, step.scale, np.zeros(shape.columns, np.int32), axis=sums.ndim - 1)
    limits = {"zero_point": step.zero_point, "dtype": step.dtype, "qmin": step.qmin, "qmax": step.qmax}
    return numerics.requantize(sums, step.multiplier[0], **limits)


def attention_step(columns: int) -> Requantize:
    """Codes of what attention computes."""
    return Requantize(np.full(columns, 0.006, np.float32), 129, 0, 255, "uint8")


def attention_cases(sizes: Sequence[tuple[int, int, int, int, int]]) -> Iterator[Case]:
    """batch, rows, keys, depth, columns; dense operands, k given transposed, a mask for every row."""
    for batch, rows, keys, depth, columns in sizes:
        mask = np.random.default_rng(4).choice(np.float32([0, -1, -np.inf]), (rows, keys))
        lines = MatrixOperand(mask.shape, "float32", 0, (0,), keys, 1)
        shape = attention_of((batch,), rows, keys, depth, columns, mask=lines)
        q, k, v = (codes(one.shape, one.dtype, seed) for seed, one in enumerate((shape.q, shape.k, shape.v)))
        scales, step = (1e-4, 1 / 255), attention_step(columns)
        expected = expected_attention(shape, [q, np.swapaxes(k, -1, -2), v, mask], scales, step)
        make = partial(attention, shape, *scales, step)
        yield Case(f"attention {batch, rows, keys, depth, columns}", make, (q, k, v, mask), expected)


def check(case: Case, level: str) -> None:
    """Assert that the kernel gives the bits of the definition."""
    found = run_kernel(case.make(isa_named(level)), case.inputs, level)
    differing = unequal_bits(found, case.expected)
    assert not differing.any(), (found[differing][:5], case.expected[differing][:5])


LEVELS = levels("generic", "avx2", "avx512bw", "avx512vnni")
# for kernels in plain TIR: what they take of a level is the width of its vectors
WIDTHS = levels("generic", "avx2", "avx512bw")
