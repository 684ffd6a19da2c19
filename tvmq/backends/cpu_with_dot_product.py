"""CPUs that sum products of bytes in 32 bits (VNNI, dotprod on Arm): weights have the finest scales (docs/speed.md).

Tests: tests/passes/families/test_reduce_range.py
"""

from __future__ import annotations

from tvmq.backends.description import Backend

CPU_WITH_DOT_PRODUCT = Backend("cpu_with_dot_product", activations=("uint8", "int8", "int16"))
