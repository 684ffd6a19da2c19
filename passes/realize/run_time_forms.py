"""The forms of layers without calibrated scales: codes whose scales are made at run time, or weights alone.

Before                                            After, with scales at run time
    m = matmul(x, w)                                  s = dynamic_scale(x), over `shared_axes`
                                                      q = dynamic_quantize(x, s)
                                                      m = dynamic_dequantize(matmul(q, int8 w) in int32, s, s_w)
    m = matmul(x, w in groups of 4 bits)              group_matmul, s and q of each group of a row; a weight on a grid
                                                      of its own keeps that, group_offset_matmul
    m = matmul(softmax(x), v)                         t = dynamic_scale(v), one for each row (token)
                                                      m = the same of softmax(x) * t and the codes of v
                                                  After, weights alone
                                                      m = matmul(x, dequantize(int8 w, s_w))

Tests: tests/passes/test_quantize_dynamic.py
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.errors import AccumulatorError
from tvmq.graph import ops
from tvmq.graph.operators import OPERATORS
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.view import const_value, is_const, op_name, rank_of, sizes_of
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import QConfig
from tvmq.passes.families.base import family_of_call
from tvmq.passes.families.run_time_scales import LARGEST_CODE, LOOP, shared_axes, sums_over_tokens
from tvmq.passes.families.weights import weight_axis
from tvmq.passes.realize.weight_codes import RoundingByData, WeightEncoder, WeightOptions


class RunTimeForms:
    """Forms of layers; what reads the same activation along the same axes shares its codes.

    config  with activations=None weights alone are codes
    """

    def __init__(self, rewriter: Rewriter, config: QConfig, rounding: RoundingByData | None) -> None:
        self.weights = WeightEncoder(rewriter.view, config, rounding)
        self._emit, self._view, self._value_of = rewriter.emit, rewriter.view, rewriter.value_of
        self._is_dynamic, self._group_size = config.activations is not None, config.group_size
        self._codes: dict[tuple[str, int, int], tuple[relax.Var, relax.Var]] = {}

    def realize(self, name: str, call: relax.Call, options: WeightOptions) -> relax.Expr:
        """The form of a layer.

        call    its value with the arguments of the new module
        raises  AccumulatorError where its sums could leave int32
        """
        op = op_name(call)
        if op == "take":
            return self._realize_embedding(name, call, options)
        if op == LOOP and self._is_dynamic:
            return self._realize_loop(name, call, options)
        if not self._is_dynamic:
            x, _, *rest = call.args
            return relax.Call(call.op, [x, self._dequantize_weight(name, call, options), *rest], call.attrs)
        is_matrix = op == "matmul" and is_const(call.args[1]) and rank_of(call.args[1]) == 2
        if is_matrix and self._group_size is not None and options.spec.bits <= numerics.PACKED_BITS:
            size = self._group_size
            codes, *scales = self.weights.encode_groups(name, call.args[1], options, 0, size)
            left, left_scale = self._encode_groups(call.args[0], size)
            product = ops.group_matmul if len(scales) == 1 else ops.group_offset_matmul
            return product(left, left_scale, codes, *scales, group_size=size)
        return self._realize_products(name, call, options)

    def _realize_products(self, name: str, call: relax.Call, options: WeightOptions) -> relax.Expr:
        """Sums of products of codes, of an activation and a weight or of two activations."""
        family, x, axes = family_of_call(call), call.args[0], shared_axes(call, 0)
        if is_const(call.args[1]):
            right, scale = self._encode_weight(name, call, options)
            right_scale = relax.const(family.spread_scale(call, const_value(scale)))
        elif sums_over_tokens(self._view, self._view.value[name]):
            right, scales = self._encode(call.args[1], rank_of(call.args[1]) - 1, 1)
            x = self._emit(relax.op.multiply(x, self._emit(_swap_last_axes(scales), f"{scales.name}_row")), f"{name}_x")
            # a row of the left operand may have more axes now: those of the right operand's scales
            right_scale, axes = relax.const(np.float32(1)), (rank_of(x) - 1, 1)
        else:
            right, right_scale = self._encode(call.args[1], *shared_axes(call, 1))
        left, left_scale = self._encode(x, *axes)
        sums = self._emit(family.sums(call, left, right), f"{name}_sums")
        return ops.dynamic_dequantize(sums, left_scale, right_scale)

    def _realize_loop(self, name: str, call: relax.Call, options: WeightOptions) -> relax.Expr:
        """A recurrent layer: codes of the state in each step, a scale for each gate of each hidden unit."""
        codes, scale = self._encode_weight(name, call, options)
        scales = relax.const(np.ascontiguousarray(np.broadcast_to(const_value(scale), int(codes.ty.shape[1]))))
        attributes = {attribute: getattr(call.attrs, attribute) for attribute in OPERATORS[LOOP].attributes}
        return ops.recurrent_codes(call.args[0], codes, *call.args[2:], scales, **attributes)

    def _realize_embedding(self, name: str, call: relax.Call, options: WeightOptions) -> relax.Expr:
        """Rows of codes and their scales."""
        table, indices = call.args
        rows = replace(options, spec=QuantSpec(options.spec.dtype, options.spec.bits, symmetric=True, per_channel=True))
        size = self._group_size
        codes, scale = self.weights.encode(name, table, rows, 0 if size is None else 1, size)
        row_codes = self._emit(relax.op.take(codes, indices, axis=0), f"{name}_codes")
        if size is not None:
            scales = self._emit(relax.op.take(scale, indices, axis=0), f"{name}_scale")
            return ops.group_dequantize(row_codes, scales, axis=rank_of(row_codes) - 1, group_size=size)
        columns = relax.const(const_value(scale).reshape(-1, 1))
        scales = self._emit(relax.op.take(columns, indices, axis=0), f"{name}_scale")
        return ops.dynamic_dequantize(row_codes, scales, relax.const(np.float32(1)))

    def _dequantize_weight(self, name: str, call: relax.Call, options: WeightOptions) -> relax.Expr:
        """The weight as floats, from its codes, at run time."""
        weight, size = call.args[1], self._group_size
        if size is not None and op_name(call) in ("matmul", LOOP):
            axis = rank_of(weight) - 2
            return ops.group_dequantize(
                *self.weights.encode(name, weight, options, axis, size), axis=axis, group_size=size
            )
        axis = weight_axis(call) if options.spec.per_channel else -1
        codes, scale = self.weights.encode(name, weight, options, axis)
        scales = const_value(scale)
        return ops.dequantize(codes, relax.const(scales), relax.const(np.zeros(scales.shape, np.int32)), axis=axis)

    # ---- codes

    def _encode_weight(self, name: str, call: relax.Call, options: WeightOptions) -> tuple[relax.Expr, relax.Expr]:
        """Codes and scales of a weight whose sums int32 holds whatever the activations are."""
        axis = weight_axis(call)
        codes, scale = self.weights.encode(name, call.args[1], options, axis if options.spec.per_channel else -1)
        array = np.abs(const_value(codes).astype(np.int64))
        largest = int(array.sum(axis=tuple(a for a in range(array.ndim) if a != axis)).max(initial=0)) * LARGEST_CODE
        if largest >= 2**31:
            raise AccumulatorError.of_layer(
                "quantize_dynamic",
                ", ".join(self._view.sources(name)),
                f"sums can reach {largest}, int32 ends at {2**31 - 1}",
                "use fewer bits for its weight, or Rule(..., None) to keep it in float",
            )
        return codes, scale

    def _encode(self, x: relax.Var, first: int, count: int) -> tuple[relax.Var, relax.Var]:
        """Codes and scales of an activation, made at run time; a scale is shared over `count` axes from `first` on."""
        key = x.name, first, count
        source: Any = self._value_of(x)
        if key not in self._codes and (first, count) == (rank_of(x) - 2, 1) and _is_turned(source):
            # codes are turned instead of floats: rows are read in the order of memory, and four bytes become one
            codes, scale = self._encode(source.args[0], rank_of(x) - 1, 1)
            turned = [self._emit(_swap_last_axes(one), f"{one.name}_turned") for one in (codes, scale)]
            self._codes[key] = turned[0], turned[1]
        if key not in self._codes:
            scale = ops.dynamic_scale(x, first=first, count=count, largest_code=LARGEST_CODE)
            scale = self._emit(scale, f"{x.name}_scale")
            codes = self._emit(ops.dynamic_quantize(x, scale, largest_code=LARGEST_CODE), f"{x.name}_q")
            self._codes[key] = codes, scale
        return self._codes[key]

    def _encode_groups(self, x: relax.Var, size: int) -> tuple[relax.Expr, relax.Expr]:
        """Codes of rows, and a scale for each group of neighbours, as the weight has them."""
        key = x.name, rank_of(x), size
        if key not in self._codes:
            *leading, depth = x.ty.shape
            groups = int(depth) // size
            apart = relax.op.reshape(x, relax.ShapeExpr([*leading, groups, size]))
            codes, scale = self._encode(self._emit(apart, f"{x.name}_groups"), rank_of(x), 1)
            codes = self._emit(relax.op.reshape(codes, x.ty.shape), f"{x.name}_groups_codes")
            scales = relax.op.reshape(scale, relax.ShapeExpr([*leading, groups]))
            self._codes[key] = codes, self._emit(scales, f"{x.name}_groups_scales")
        return self._codes[key]


def _is_turned(value: Any) -> bool:
    """True for a matrix whose rows and columns are exchanged."""
    if op_name(value) != "permute_dims" or not isinstance(value.args[0], relax.Var):
        return False
    rank = rank_of(value.args[0])
    return [int(axis) for axis in value.attrs.axes or ()] == [*range(rank - 2), rank - 1, rank - 2]


def _swap_last_axes(x: relax.Var) -> relax.Expr:
    """Columns as rows; of one column it is the same memory."""
    rank = rank_of(x)
    if sizes_of(x)[-1] == 1:
        *leading, rows, column = x.ty.shape
        return relax.op.reshape(x, relax.ShapeExpr([*leading, column, rows]))
    return relax.op.permute_dims(x, [*range(rank - 2), rank - 1, rank - 2])
