"""TOSA's integer profile: int8 activations with zero points, int8 weights, int32 sums, RESCALE with one rounding.

RESCALE's multiplier has 31 bits (scale32), its shift 2..62; a scale for each channel of what it reads. Average pooling
has zero points and no scale of its own.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.numerics.known_rules import KNOWN_RULES

FAMILIES = frozenset(
    ("conv1d", "conv2d", "conv3d", "conv_transpose", "dense", "matmul", "add", "multiply", "concat", "mean", "avg_pool",
     "max_pool", "select", "scale_shift", "shape", "pad", "table")
)  # fmt: skip
INPUTS = TensorForm(("int8",), scheme="asymmetric")

TOSA = Backend(
    "tosa",
    families=FAMILIES,
    activations=("int8",),
    streams=(),
    requantize_rule=KNOWN_RULES["tosa"],
    operators=(
        OperatorEntry(("*",), inputs=INPUTS),
        OperatorEntry(("conv*", "dense"), inputs=INPUTS, weights=WeightForm(("int8", "int4"), "per_channel")),
        OperatorEntry(("avg_pool",), inputs=INPUTS, same_scales=True),
    ),
)
