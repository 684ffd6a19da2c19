"""The portable CPU: what our kernels compute on every CPU, whatever its instruction set.

Weights have 8 bits, with scales by which neighbours can be summed in 16 bits ("lanes"): CPUs without VNNI then multiply
bytes, and others lose little by it (docs/speed.md).

Tests: tests/backends
"""

from __future__ import annotations

from tvmq.backends.description import Backend

CPU = Backend("cpu", activations=("uint8", "int8", "int16"), weight_scale="lanes")
