"""Which operator family an operator of an integer module serves, and whose sums biases and requantizes finish.

Tests: tests/test_device.py
"""

from __future__ import annotations

from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import COMPARISON, CONVOLUTION, SCATTER
from tvmq.graph.view import View, is_const, op_name, sizes_of
from tvmq.passes import OPS

CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "conv_transpose")
# Operator -> families it serves; () is part of any: biases, paddings, what makes codes of sums.
OPERATORS: dict[str, tuple[str, ...]] = {
    **{
        name: (OPS[name].split(".")[-1].removesuffix(":FAMILY"),)
        for name in OPS.keys() & (where(commutes_with_quantize=True) | where(kind=(CONVOLUTION, COMPARISON, SCATTER)))
    },
    "tvmq.conv_transpose": ("conv_transpose",),
    "matmul": ("dense", "matmul"),
    "tvmq.matmul": ("matmul",),
    "tvmq.add": ("add",),
    "tvmq.multiply": ("multiply",),
    "tvmq.scale_shift": ("scale_shift",),
    "tvmq.prelu": ("prelu",),
    "tvmq.sum": ("mean",),
    **dict.fromkeys(("tvmq.integer_softmax", "tvmq.add_mask"), ("integer_softmax",)),
    **{f"tvmq.{name}": (name,) for name in ("integer_layer_norm", "masked_mean")},
    **dict.fromkeys(("tvmq.sum_pool", "tvmq.adaptive_sum_pool"), ("avg_pool",)),
    **dict.fromkeys(("maximum", "minimum"), ("select", *CONVOLUTIONS)),
    "where": ("select",),
    "take": ("shape", "embedding"),
    **dict.fromkeys(("tvmq.requantize", "tvmq.table", "nn.pad", "add", "multiply", "astype"), ()),
}  # fmt: skip


def family_of(view: View, name: str) -> tuple[str, bool]:
    """Family of the operator that binds a variable, and whether it is a depthwise convolution; "" where none is known.

    Biases, clips and requantizes belong to the operator that made the sums which they finish.
    """
    seen: set[str] = set()
    while name in view.value and name not in seen:
        seen.add(name)
        value = view.value[name]
        if not isinstance(value, relax.Call):
            return "", False
        families = OPERATORS.get(op_name(value))
        if families is None:
            return "", False
        if op_name(value) == "matmul":
            families = ("dense",) if is_const(value.args[1]) else ("matmul",)
        if op_name(value) == "tvmq.table":
            families = ("table",)
        if len(families) == 1:
            return families[0], is_depthwise(value)
        source = next((arg for arg in value.args if isinstance(arg, relax.Var)), None)
        if source is None or op_name(value) == "take":
            return "", False
        name = source.name
    return "", False


def is_depthwise(value: relax.Expr) -> bool:
    """True for a convolution in groups whose filters read one channel each."""
    groups = int(getattr(getattr(value, "attrs", None), "groups", 1))
    return isinstance(value, relax.Call) and groups > 1 and len(value.args) > 1 and sizes_of(value.args[1])[1:2] == (1,)
