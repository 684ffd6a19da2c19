"""Records of our operators, tvmq.*; those without a definition have an adapter in tvmq/reference.

Tests: tests/graph
"""

from __future__ import annotations

from functools import partial

from tvmq import numerics
from tvmq.graph.operators.products import matrix_product, state_products
from tvmq.graph.operators.record import (
    ARITHMETIC,
    CONVERSION,
    FUNCTION,
    LOW,
    NORMALIZATION,
    POOL,
    PRODUCT,
    RECURRENT,
    REDUCTION,
    RESIZE,
    SOFTMAX,
    Record,
)

RESULT = ("zero_point", "dtype", "qmin", "qmax")
_ADD = ("a_multiplier", "b_multiplier", "offset", "shift", *RESULT)
_SOFTMAX = ("multiplier", "shift", "out_multiplier", "out_shift", *RESULT, "axis")
_LAYER_NORM = ("epsilon", "shift", *RESULT, "centred", "x_zero")
_Function = partial(Record, kind=FUNCTION, integer=True)
_Reduction = partial(Record, kind=REDUCTION, batch="reduces", integer=True)
_Pool = partial(Record, kind=POOL, batch="first", integer=True)
_Norm = partial(Record, kind=NORMALIZATION, batch="normalizes")

FUNCTIONS = (
    Record("tvmq.add", ARITHMETIC, batch="same rank", integer=True, definition=numerics.add, attributes=_ADD),
    Record(
        "tvmq.multiply",
        ARITHMETIC,
        batch="same rank",
        integer=True,
        definition=numerics.multiply,
        attributes=("a_zero", "b_zero"),
    ),
    _Function("tvmq.add_mask", batch="same rank", definition=numerics.add_mask, attributes=("multiplier", "offset")),
    _Function("tvmq.table", batch="same rank", definition=numerics.table),
    _Function("tvmq.fence", batch="same rank", commutes_with_quantize=True),
    _Function("tvmq.observe"),
    _Function(
        "tvmq.prelu",
        batch="constants along",
        definition=numerics.prelu,
        attributes=("multiplier", "shift", "x_zero", *RESULT),
    ),
    _Function(
        "tvmq.scale_shift", batch="constants along", definition=numerics.scale_shift, attributes=("shift", *RESULT)
    ),
    Record("tvmq.resample", RESIZE, batch="along", integer=True, definition=numerics.resample, attributes=("axis",)),
)
CONVERSIONS = (
    *(
        Record(f"tvmq.{name}", CONVERSION, batch="constants along", integer=True)
        for name in ("quantize", "requantize", "simulated_quantize")
    ),
    Record("tvmq.dequantize", CONVERSION, batch="constants along", integer=True, weight=0),
    Record(
        "tvmq.group_dequantize",
        CONVERSION,
        batch="along",
        integer=True,
        weight=0,
        definition=numerics.group_dequantize,
        attributes=("axis", "group_size"),
    ),
    Record("tvmq.dynamic_dequantize", CONVERSION, integer=True, definition=numerics.dynamic_dequantize),
    Record(
        "tvmq.dynamic_quantize",
        CONVERSION,
        integer=True,
        definition=numerics.dynamic_quantize,
        attributes=("largest_code",),
    ),
    Record("tvmq.dynamic_scale", REDUCTION, integer=True),
    Record("tvmq.unpack", CONVERSION, integer=True, definition=numerics.unpack_int4, attributes=("shape",)),
)
REDUCTIONS = (
    _Reduction("tvmq.sum", definition=numerics.sum, attributes=("axes", "keepdims", "zero_point")),
    _Reduction("tvmq.float_sum", definition=numerics.float_sum, attributes=("axes", "keepdims", "mean")),
    _Pool("tvmq.sum_pool", definition=numerics.sum_pool, attributes=("kernel", "strides", "padding", "zero_point")),
    _Pool("tvmq.adaptive_sum_pool", definition=numerics.adaptive_sum_pool, attributes=("out_size", "zero_point")),
    Record(
        "tvmq.masked_mean",
        REDUCTION,
        batch="along",
        integer=True,
        definition=numerics.masked_mean,
        attributes=("axis", "multiplier", "shift", "x_zero", *RESULT),
    ),
)
NORMALIZATIONS = (
    _Norm("tvmq.group_norm", definition=numerics.group_norm, attributes=("groups", "epsilon")),
    _Norm("tvmq.layer_norm", definition=numerics.layer_norm, attributes=("axes", "epsilon")),
    _Norm("tvmq.rms_norm", definition=numerics.rms_norm, attributes=("axes", "epsilon")),
    Record(
        "tvmq.integer_layer_norm",
        NORMALIZATION,
        batch="normalizes codes",
        integer=True,
        definition=numerics.integer_layer_norm,
        attributes=_LAYER_NORM,
    ),
    Record(
        "tvmq.softmax",
        SOFTMAX,
        batch="along",
        bounded_by_one=True,
        finite_at=(LOW,),
        definition=numerics.softmax,
        attributes=("axis",),
    ),
    Record(
        "tvmq.log_softmax",
        SOFTMAX,
        batch="along",
        propagates_infinity=(0,),
        definition=numerics.log_softmax,
        attributes=("axis",),
    ),
    Record(
        "tvmq.integer_softmax",
        SOFTMAX,
        batch="along",
        integer=True,
        definition=numerics.integer_softmax,
        attributes=_SOFTMAX,
    ),
)
PRODUCTS = (
    Record(
        "tvmq.matmul",
        PRODUCT,
        batch="product",
        integer=True,
        weight=1,
        weight_axis=-1,
        macs=matrix_product,
        definition=numerics.matmul,
        attributes=("a_zero", "b_zero"),
    ),
    Record(
        "tvmq.group_matmul",
        PRODUCT,
        integer=True,
        weight=2,
        weight_axis=-1,
        macs=matrix_product,
        definition=numerics.group_matmul,
        attributes=("group_size",),
    ),
)
_Recurrent = partial(
    Record,
    kind=RECURRENT,
    batch="loops",
    weight=1,
    weight_axis=1,
    macs=state_products,
    attributes=("kind", "activations", "clip", "reverse", "ends"),
)
LOOPS = (
    _Recurrent("tvmq.recurrent", definition=numerics.recurrent),
    _Recurrent("tvmq.recurrent_codes", definition=numerics.recurrent_codes),
)
OWN = (*FUNCTIONS, *CONVERSIONS, *REDUCTIONS, *NORMALIZATIONS, *PRODUCTS, *LOOPS)
