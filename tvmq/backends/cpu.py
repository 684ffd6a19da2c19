"""The portable CPU: what our kernels compute on every CPU, whatever its instruction set.

Tests: tests/backends
"""

from __future__ import annotations

from tvmq.backends.description import Backend

CPU = Backend("cpu", activations=("uint8", "int8", "int16"))
