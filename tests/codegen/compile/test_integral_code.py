"""The code of an integral core has no float either: no kernel, no loop, no constant.

Integer division by every operand: a CPU ends the process at x / 0 and at the lowest number / -1.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import tvm
from tvm import relax

import tvmq
from tests.passes.nets import NETS
from tests.passes.stages import every_stage
from tests.support.models.built_modules import build_module
from tvmq.codegen.compile.vm_pipeline import CONFIG, fuse
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph.module_functions import function_module
from tvmq.passes.integrality import integrality
from tvmq.passes.partition_conversions import partition_conversions

SAMPLES = (
    "residual", "squeeze_excite", "concat_shared_part", "average_pool", "tables", "maxima", "dense_head_of_pixels",
)  # fmt: skip
# What keeps LLVM from moving a shuffle takes the bits of integers as floats, by its type alone: nothing is computed.
FENCE = re.compile(
    r'T\.call_llvm_pure_intrin\("float32x\d+", "llvm\.arithmetic\.fence", T\.reinterpret\("float32x\d+", '
)


def functions_with_floats(mod: tvm.IRModule, name: str) -> tuple[list[str], int]:
    """Functions of loops that a function of the module needs and that mention a float; and how many it needs."""
    cpu = resolve_target("llvm")
    lowered = Lowerer(function_module(mod, name), cpu.isa).run()
    with tvm.target.Target(cpu.tvm), tvm.transform.PassContext(opt_level=3, config=CONFIG):
        fused = fuse(lowered)
    loops = {var.name_hint: func for var, func in fused.functions_items() if isinstance(func, tvm.tirx.PrimFunc)}
    return [symbol for symbol, func in loops.items() if "float" in FENCE.sub("", func.script())], len(loops)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_no_float_in_the_code_of_the_core(name: str) -> None:
    made, outputs = NETS[name]()
    stages = every_stage(*tvmq.from_onnx(made.model(*outputs)), requantize="fixed_point")
    parts = partition_conversions(stages["fold_constants"])
    assert integrality(parts).is_integral
    found, count = functions_with_floats(parts, "quantized_main")
    assert not found and count > 1
    assert functions_with_floats(parts, "quantize_inputs")[0]


@pytest.mark.slow
def test_float_requantize_is_seen() -> None:
    made, outputs = NETS["residual"]()
    parts = every_stage(*tvmq.from_onnx(made.model(*outputs)))["partition_conversions"]
    assert functions_with_floats(parts, "quantized_main")[0]


OPERATORS = ("divide", "floor_divide", "mod", "floor_mod")
DTYPES = ("int8", "int32", "int64", "uint8")


def operands(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of numbers at the ends and around 0."""
    limits = np.iinfo(dtype)
    signed = [-1, -2, -7, limits.min + 1] if limits.min else []
    values = np.array([limits.min, limits.max, limits.max - 1, 0, 1, 2, 7, 100, *signed], dtype)
    a, b = np.meshgrid(values, values)
    return a.ravel(), b.ravel()


def expected(operator: str, a: np.ndarray, b: np.ndarray) -> list[int]:
    """Expected result in Python's numbers, wrapped into the type."""
    found = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        floor, cut = (x // y, abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)) if y else (0, 0)
        quotient = cut if operator in ("divide", "mod") else floor
        result = quotient if operator.endswith("divide") else x - quotient * y if y else 0
        bits = 8 * a.dtype.itemsize
        wrapped = result % 2**bits
        found.append(wrapped - 2**bits if a.dtype.kind == "i" and wrapped >= 2 ** (bits - 1) else wrapped)
    return found


@pytest.mark.slow
def test_every_operand_has_a_defined_result() -> None:
    """All operators and types in one module; what is compiled, the reference and Python's numbers are equal."""
    feed = {f"{name}_{dtype}": values for dtype in DTYPES for name, values in zip("xy", operands(dtype), strict=True)}

    def body(_: relax.BlockBuilder, *inputs: relax.Var) -> list[relax.Expr]:
        pairs = zip(inputs[::2], inputs[1::2], strict=True)
        return [getattr(relax.op, name)(x, y) for x, y in pairs for name in OPERATORS]

    mod, params = tvmq.from_relax(build_module(feed, body))
    compiled = tvmq.build(mod, params=params).run(feed)
    reference = tvmq.reference.run(mod, feed)
    names = [(dtype, name) for dtype in DTYPES for name in OPERATORS]
    for (dtype, name), got, defined in zip(names, compiled, reference, strict=True):
        a, b = operands(dtype)
        assert got.tolist() == expected(name, a, b), (dtype, name)
        np.testing.assert_array_equal(got, defined)
