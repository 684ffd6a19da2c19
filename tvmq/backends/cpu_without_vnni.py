"""x86 CPUs without VNNI (AVX2, AVX-512BW): the portable CPU, faster with weights of 7 bits (docs/speed.md).

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from tvmq.backends.description import Backend

CPU_WITHOUT_VNNI = Backend("cpu_without_vnni", activations=("uint8", "int8", "int16"), reduce_range=True)
