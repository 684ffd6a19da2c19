"""Functions of loops, compiled for this CPU: what calibration computes by code of its own.

Tests: tests/codegen/compile/test_calibration.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvm

from tvmq.codegen.compile.kernel_objects import native_kernels
from tvmq.codegen.compile.vm_pipeline import ONE_AT_A_TIME, OPT_LEVEL, OPTIONS
from tvmq.codegen.target.cpu import resolve_target
from tvmq.runtime.artifact.native_library import load_native


def compile_functions(functions: Mapping[str, Any]) -> Any:
    """A library of functions of loops for this CPU, each from the cache of kernels where it is there."""
    module, target = tvm.IRModule(dict(functions)), resolve_target()
    compiler = target.as_tvm(**OPT_LEVEL)
    with ONE_AT_A_TIME:
        native = native_kernels(module, target, compiler, OPTIONS)
        if native is not None:
            return load_native(native)
        with tvm.transform.PassContext(**OPTIONS):
            return tvm.compile(module, compiler)
