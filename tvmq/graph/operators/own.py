"""Records of our operators, tvmq.*."""

from __future__ import annotations

from tvmq import numerics
from tvmq.graph.operators.record import Operator

CODES = ("zero_point", "dtype", "qmin", "qmax")

OWN = (
    Operator("tvmq.add", numerics.add, ("a_multiplier", "b_multiplier", "offset", "shift", *CODES)),
    Operator("tvmq.add_mask", numerics.add_mask, ("multiplier", "offset")),
    Operator("tvmq.dynamic_dequantize", numerics.dynamic_dequantize),
    Operator("tvmq.dynamic_quantize", numerics.dynamic_quantize, ("largest_code",)),
    Operator("tvmq.group_dequantize", numerics.group_dequantize, ("axis", "group_size")),
    Operator("tvmq.group_norm", numerics.group_norm, ("groups", "epsilon")),
    Operator("tvmq.integer_layer_norm", numerics.integer_layer_norm, ("epsilon", "shift", *CODES, "centred", "x_zero")),
    Operator(
        "tvmq.integer_softmax",
        numerics.integer_softmax,
        ("multiplier", "shift", "out_multiplier", "out_shift", *CODES, "axis"),
    ),
    Operator("tvmq.layer_norm", numerics.layer_norm, ("axes", "epsilon")),
    Operator("tvmq.log_softmax", numerics.log_softmax, ("axis",)),
    Operator("tvmq.masked_mean", numerics.masked_mean, ("axis", "multiplier", "shift", "x_zero", *CODES)),
    Operator("tvmq.matmul", numerics.matmul, ("a_zero", "b_zero")),
    Operator("tvmq.multiply", numerics.multiply, ("a_zero", "b_zero")),
    Operator("tvmq.prelu", numerics.prelu, ("multiplier", "shift", "x_zero", *CODES)),
    Operator("tvmq.resample", numerics.resample, ("axis",)),
    Operator("tvmq.rms_norm", numerics.rms_norm, ("axes", "epsilon")),
    Operator("tvmq.scale_shift", numerics.scale_shift, ("shift", *CODES)),
    Operator("tvmq.softmax", numerics.softmax, ("axis",)),
    Operator("tvmq.table", numerics.table),
)
