"""Functions of one tensor, which the module looks up in a table of 256 codes.

A table becomes an operator of TFLite where that gives the same code for each of the 256; any other table is looked up
by a gather: the codes as int32, plus 128, are the places.

Tests: tests/formats/tflite/test_to_tflite.py
"""

from __future__ import annotations

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.formats.exporting.core import CoreTensor
from tvmq.formats.exporting.layouts import to_file_order
from tvmq.formats.tflite import arithmetic
from tvmq.formats.tflite.writer import TfliteWriter, quantization_like
from tvmq.graph.view import const_value, dtype_of, is_const, shape_of
from tvmq.numerics.code_type import CODES_8

INT8_CODES = np.arange(-128, 128)


def table(writer: TfliteWriter, var: relax.Var, x: CoreTensor, values: np.ndarray) -> CoreTensor:
    """tvmq.table whose values are codes."""
    if values.dtype.name not in CODES_8:
        raise writer.unsupported_error(f"a {values.dtype} table")
    result = writer.codes_of(var, x.order)
    wanted = values.astype(np.int16) - result.uint8_offset
    for form in (_try_rescale, _try_clip):
        codes = form(writer, x, result, wanted)
        if codes is not None:
            return codes
    return _emit_gather(writer, x, result, wanted.astype(np.int8))


def _try_rescale(writer: TfliteWriter, x: CoreTensor, result: CoreTensor, wanted: np.ndarray) -> CoreTensor | None:
    """QUANTIZE: the same real values in another scale."""
    constants = arithmetic.multiplier_of(np.asarray(np.float64(x.scale) / np.float64(result.scale)))
    codes = arithmetic.multiply(INT8_CODES - x.zero, *constants) + result.zero
    if not np.array_equal(np.clip(codes, -128, 127), wanted):
        return None
    return writer.emit("QUANTIZE", [x], result, table="QuantizeOptions")


def _try_clip(writer: TfliteWriter, x: CoreTensor, result: CoreTensor, wanted: np.ndarray) -> CoreTensor | None:
    """MAXIMUM and MINIMUM: codes of one scale within bounds."""
    low, high = int(wanted.min()), int(wanted.max())
    same = (x.scale, x.zero) == (result.scale, result.zero)
    if not same or not np.array_equal(np.clip(INT8_CODES, low, high), wanted):
        return None
    return writer.clip_codes(x, result, low, high) if (low, high) != (-128, 127) else x


def prelu(writer: TfliteWriter, var: relax.Var, call: relax.Call) -> CoreTensor:
    """tvmq.prelu: the tables of all channels, concatenated."""
    x, attrs = writer.tensor(call.args[0]), call.attrs
    if not is_const(call.args[1]):
        raise writer.unsupported_error("tvmq.prelu with computed slopes")
    slopes, rank = const_value(call.args[1]), len(x.shape)
    whole = slopes.reshape((1,) * (rank - slopes.ndim) + slopes.shape)
    if x.shape != shape_of(var) or whole.size != max(whole.shape) or (whole.size > 1 and whole.shape[1] == 1):
        raise writer.unsupported_error("tvmq.prelu whose slopes vary along an axis other than the channels")
    options = {
        name: int(getattr(attrs, name)) for name in ("multiplier", "shift", "x_zero", "zero_point", "qmin", "qmax")
    }
    codes = (INT8_CODES + x.uint8_offset).astype(dtype_of(call.args[0]))
    values = numerics.prelu(codes[None], whole.reshape(-1, 1), dtype=str(attrs.dtype), **options)
    result = writer.codes_of(var, x.order)
    first = to_file_order(np.arange(whole.size, dtype=np.int32).reshape(whole.shape) * 256 + 128, x.order)
    codes = (values.astype(np.int16) - result.uint8_offset).astype(np.int8).ravel()
    return _emit_gather(writer, x, result, codes, first)


def _emit_gather(
    writer: TfliteWriter, x: CoreTensor, result: CoreTensor, values: np.ndarray, first: np.ndarray | None = None
) -> CoreTensor:
    """GATHER of the table at the codes, as int32, plus 128; `first` are the places of code 0, in the file's order."""
    first = np.asarray([128]) if first is None else first
    wide = writer.file.tensor(f"{writer.layer}_wide", x.sizes, "int32")
    writer.file.operator("CAST", [x.place], [wide], table="CastOptions", in_data_type=9, out_data_type=2)
    place = writer.file.tensor(f"{writer.layer}_places", x.sizes, "int32")
    writer.file.operator("ADD", [wide, writer.numbers(first, "first")], [place], table="AddOptions",
                       fused_activation_function=0)  # fmt: skip
    entries = writer.file.constant(f"{writer.layer}_table", values, quantization_like(result))
    writer.file.operator("GATHER", [entries, place], [result.place], version=2, table="GatherOptions", axis=0)
    return result
