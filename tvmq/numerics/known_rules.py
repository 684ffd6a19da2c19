"""Requantize rules of tools and devices, by name.

Those of TFLite, TOSA and CMSIS-NN are read from their published reference code and specifications: gemmlowp's
SaturatingRoundingDoublingHighMul rounds half up (its division truncates what a nudge of 1 - 2^30 has moved), its
RoundingDivideByPOT half away from zero; TOSA's double rounding adds 2^30, signed as the value, to the half of one
shift: the same numbers; CMSIS-NN's two functions are gemmlowp's without the saturation of (-2^31)^2, which no positive
multiplier reaches. They differ in what leaves int32 at a shift to the left, which their documents leave open or forbid.

LiteRT's reference of FULLY_CONNECTED multiplies in float64 (its answers to benchmarks/black_boxes.py say so).
onnxruntime, OpenVINO and TensorRT compute in float32; onnxruntime makes its factors in float32, step by step.

Tests: tests/numerics
"""

from __future__ import annotations

from tvmq.numerics.requantize_rule import RequantizeRule, rule_of_mode

_GEMMLOWP = RequantizeRule("integer", roundings=("upward", "away"), left_overflow="wrap")

KNOWN_RULES: dict[str, RequantizeRule] = {
    "float": rule_of_mode("float"),
    "fixed_point": rule_of_mode("fixed_point"),
    "fixed_point_away": rule_of_mode("fixed_point", "TONEAREST"),
    "fixed_point_double": rule_of_mode("fixed_point", "DOUBLE"),
    "power_of_two": rule_of_mode("power_of_two"),
    "power_of_two_away": rule_of_mode("power_of_two", "TONEAREST"),
    "tflite": _GEMMLOWP,
    "tflite_single": RequantizeRule("integer", roundings=("upward",), left_shift="after"),
    "litert_fully_connected": RequantizeRule("float64", roundings=("away",)),
    "tosa": RequantizeRule("integer", roundings=("upward",), left_shift="after"),
    "tosa_double": RequantizeRule("integer", roundings=("upward", "away")),
    "cmsis_nn": _GEMMLOWP,
    "cmsis_nn_single": RequantizeRule("integer", roundings=("upward",), left_shift="after", left_overflow="wrap"),
    "onnxruntime": RequantizeRule(factors="float32"),
    "openvino": RequantizeRule(zero_point="before", fused=True),
    "tensorrt": RequantizeRule(),
}
