"""Methods that repair what rounding does: each an ordinary pass over a calibrated module."""

from __future__ import annotations

METHODS: dict[str, str] = {
    "bias_correction": "tvmq.methods.bias_correction:correct_bias",
    "weight_rounding": "tvmq.methods.weight_rounding:round_weights",
}
