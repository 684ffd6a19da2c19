"""TensorRT's explicit quantization: symmetric int8 without zero points, a scale for each channel of weights.

Sums become codes in float32, half to even; biases are float32 beside them. Pooling, sums and what moves codes stay
int8; all else is computed in float32 (an engine built for float16 computes it there: change float_type).

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.numerics.known_rules import KNOWN_RULES

FAMILIES = frozenset(
    ("conv1d", "conv2d", "conv3d", "conv_transpose", "dense", "matmul", "add", "concat", "mean", "avg_pool", "max_pool",
     "shape", "pad")
)  # fmt: skip
INPUTS = TensorForm(("int8",), scheme="symmetric", narrow_range=True)

TENSORRT = Backend(
    "tensorrt",
    families=FAMILIES,
    activations=("int8",),
    zero_points=False,
    streams=(),
    bias="float32",
    requantize_rule=KNOWN_RULES["tensorrt"],
    operators=(
        OperatorEntry(("*",), inputs=INPUTS),
        OperatorEntry(
            ("conv*", "dense"), inputs=INPUTS, weights=WeightForm(("int8",), "per_channel", narrow_range=True)
        ),
    ),
)
