"""TFLite's int8 operators, as its quantization specification and reference kernels have them.

Activations are int8 with zero points, weights symmetric int8: a scale for each channel of convolutions, one for fully
connected layers. Average pooling keeps the scale of what it reads. Sums become codes by two roundings
(numerics/known_rules.py). What is none of these operators stays float.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.numerics.known_rules import KNOWN_RULES

FAMILIES = frozenset(
    ("conv1d", "conv2d", "conv3d", "conv_transpose", "dense", "matmul", "add", "multiply", "concat", "mean", "avg_pool",
     "max_pool", "select", "shape", "pad", "table", "prelu")
)  # fmt: skip
INPUTS = TensorForm(("int8",), scheme="asymmetric")
OUT = ("int8",)  # sums leave no operator: the last layer's result is codes too

TFLITE = Backend(
    "tflite",
    families=FAMILIES,
    activations=("int8",),
    streams=(),
    requantize_rule=KNOWN_RULES["tflite"],
    operators=(
        OperatorEntry(("*",), inputs=INPUTS, output=OUT),
        OperatorEntry(
            ("conv*",), inputs=INPUTS, weights=WeightForm(("int8",), "per_channel", narrow_range=True), output=OUT
        ),
        OperatorEntry(
            ("dense",), inputs=INPUTS, weights=WeightForm(("int8",), "per_tensor", narrow_range=True), output=OUT
        ),
        OperatorEntry(("avg_pool",), inputs=INPUTS, same_scales=True, output=OUT),
    ),
)
