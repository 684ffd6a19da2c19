"""Words of descriptions: other types than codes, operator patterns, observers; tests compare them with what they name.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from fnmatch import fnmatchcase

FLOAT_TYPES = ("float32", "float16", "bfloat16")
BIAS_TYPES = (*(f"int{bits}" for bits in (*range(8, 17), 32)), "float32")

# Operator families of the quantizer: tvmq.passes.FAMILIES has the same names.
FAMILIES = (
    "conv1d", "conv2d", "conv3d", "conv_transpose", "dense", "matmul", "add", "multiply", "concat", "mean", "avg_pool",
    "max_pool", "scale_shift", "prelu", "select", "compare", "shape", "pad", "table", "embedding", "integer_softmax",
    "integer_layer_norm", "masked_mean",
)  # fmt: skip
DEPTHWISE = "depthwise"  # a convolution whose filters read one channel each
PATTERNS = (*FAMILIES, DEPTHWISE)
# Families with one constant weight each.
WEIGHTED = ("conv1d", "conv2d", "conv3d", "conv_transpose", "dense")
# Families that can be told to keep the scale of what they read.
SCALE_KEEPERS = ("add", "avg_pool", "mean")

# Names of tvmq.calibration.observers.OBSERVERS and WEIGHT_OBSERVERS.
OBSERVERS = ("auto", "minmax", "moving_average", "percentile", "histogram", "kl_divergence", "global_scale")
WEIGHT_OBSERVERS = ("max", "power2", "mse", "lanes")


def matches(pattern: str, family: str, *, depthwise: bool = False) -> bool:
    """True if a pattern, a name or a glob, speaks of an operator of that family.

    >>> matches("conv*", "conv2d"), matches("depthwise", "conv2d"), matches("depthwise", "conv2d", depthwise=True)
    (True, False, True)
    """
    return fnmatchcase(family, pattern) or (depthwise and pattern == DEPTHWISE)


def names_nothing(pattern: str) -> bool:
    """True for a pattern that matches no operator family."""
    return not any(fnmatchcase(name, pattern) for name in PATTERNS)
