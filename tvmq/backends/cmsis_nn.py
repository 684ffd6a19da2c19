"""CMSIS-NN's int8 functions for Cortex-M: TFLite's types and, unless it is built for one rounding, its arithmetic.

They cover fewer operators. A CMSIS-NN that is built with CMSIS_NN_USE_SINGLE_ROUNDING requantizes by the rule
"cmsis_nn_single" (numerics/known_rules.py): show this description, and change requantize_rule.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from tvmq.backends.description import Backend
from tvmq.backends.operator_entry import OperatorEntry
from tvmq.backends.tensor_forms import TensorForm, WeightForm
from tvmq.numerics.known_rules import KNOWN_RULES

FAMILIES = frozenset(
    ("conv1d", "conv2d", "conv_transpose", "dense", "matmul", "add", "multiply", "concat", "mean", "avg_pool",
     "max_pool", "select", "shape", "pad", "table")
)  # fmt: skip
INPUTS = TensorForm(("int8",), scheme="asymmetric")

CMSIS_NN = Backend(
    "cmsis_nn",
    families=FAMILIES,
    activations=("int8",),
    streams=(),
    requantize_rule=KNOWN_RULES["cmsis_nn"],
    operators=(
        OperatorEntry(("*",), inputs=INPUTS),
        OperatorEntry(("conv*",), inputs=INPUTS, weights=WeightForm(("int8",), "per_channel", narrow_range=True)),
        OperatorEntry(("dense",), inputs=INPUTS, weights=WeightForm(("int8",), "per_tensor", narrow_range=True)),
        OperatorEntry(("avg_pool",), inputs=INPUTS, same_scales=True),
    ),
)
