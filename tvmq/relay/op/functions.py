"""Where the functions of relay.* that make operators stand; those of relay.nn stand in nn.py."""

from __future__ import annotations

_FAMILIES = {
    "create": "arange full full_like ones ones_like zeros zeros_like",
    "elementwise": """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or bitwise_xor
        cast ceil clip cos cosh divide equal erf exp floor floor_divide floor_mod greater greater_equal isfinite isinf
        isnan left_shift less less_equal log logical_and logical_not logical_or logical_xor maximum minimum mod
        multiply negative not_equal power right_shift round rsqrt sigmoid sign sin sinh sqrt subtract tan tanh trunc""",
    "index": "fixed_point_multiply take where",
    "reduce": "argmax argmin max mean mean_std mean_variance min prod std sum variance",
    "shape_change": """batch_flatten broadcast_to broadcast_to_like concatenate copy expand_dims layout_transform
        repeat reshape reshape_like reverse reverse_reshape split squeeze stack strided_slice tile transpose""",
}

# Function -> "module:object"
FUNCTIONS = {
    name: f"tvmq.relay.op.{family}:{name}"
    for family, listed in _FAMILIES.items()
    for name in listed.split()
    if name != "batch_flatten"
}
