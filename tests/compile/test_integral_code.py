"""The code of an integral core has no float either: no kernel, no loop, no constant."""

from __future__ import annotations

import pytest
import tvm

import tvmq
from tests.passes.nets import NETS
from tests.passes.stages import every_stage
from tvmq.compile.vm_pipeline import CONFIG, fuse
from tvmq.graph.functions import function_module
from tvmq.lower.lowerer import Lowerer
from tvmq.passes.integrality import integrality
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.target.cpu import resolve_target

SAMPLES = (
    "residual",
    "squeeze_excite",
    "concat_shared_part",
    "average_pool",
    "tables",
    "maxima",
    "dense_head_of_pixels",
)


def functions_with_floats(mod: tvm.IRModule, name: str) -> tuple[list[str], int]:
    """Functions of loops that a function of the module needs and that mention a float; and how many it needs."""
    cpu = resolve_target("llvm")
    lowered = Lowerer(function_module(mod, name), cpu.isa).run()
    with tvm.target.Target(cpu.tvm), tvm.transform.PassContext(opt_level=3, config=CONFIG):
        fused = fuse(lowered)
    loops = {var.name_hint: func for var, func in fused.functions_items() if isinstance(func, tvm.tirx.PrimFunc)}
    return [symbol for symbol, func in loops.items() if "float" in func.script()], len(loops)


@pytest.mark.parametrize("name", SAMPLES)
def test_no_float_in_the_code_of_the_core(name: str) -> None:
    made, outputs = NETS[name]()
    stages = every_stage(*tvmq.from_onnx(made.model(*outputs)), requantize="fixed_point")
    parts = partition_conversions(stages["fold_constants"])
    assert integrality(parts).is_integral
    found, count = functions_with_floats(parts, "quantized_main")
    assert not found and count > 1
    assert functions_with_floats(parts, "quantize_inputs")[0]


def test_float_requantize_is_seen() -> None:
    made, outputs = NETS["residual"]()
    parts = every_stage(*tvmq.from_onnx(made.model(*outputs)))["partition_conversions"]
    assert functions_with_floats(parts, "quantized_main")[0]
