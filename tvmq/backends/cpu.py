"""The portable CPU: what our kernels compute on every CPU, whatever its instruction set.

Scales of its weights leave room for sums in 16-bit lanes, by which CPUs without VNNI multiply bytes (docs/speed.md).

Tests: tests/backends
"""

from __future__ import annotations

from tvmq.backends.description import Backend

CPU = Backend("cpu", activations=("uint8", "int8", "int16"), weight_scale="lanes")
