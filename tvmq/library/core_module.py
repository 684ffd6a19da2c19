"""The integer core of a quantized model as a model of its own, whose inputs and outputs are codes.

    main(x): dequantize(conv2d(quantize(x), ...))   ->   main(codes): conv2d(codes, ...)

Its description has the scales and zero points of the codes, by which whoever calls it quantizes and dequantizes.

Tests: tests/library/test_core_library.py
"""

from __future__ import annotations

from typing import Any

import tvm

from tvmq.codegen.compile.module_description import describe_functions
from tvmq.errors import IntegralError, StageError
from tvmq.graph.analysis.integer_core import is_float
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import function_module, is_partitioned
from tvmq.graph.names import input_names, merge
from tvmq.graph.view import View
from tvmq.passes.integrality import integrality
from tvmq.passes.partition_conversions import partition_conversions

CORE = "quantized_main"
REMEDY = (
    "quantize with qconfig(partition_conversions='fully_integral'), which gives all layers an integer form or says why "
    "not, or export the whole model"
)


def extract_core(mod: tvm.IRModule) -> tuple[tvm.IRModule, dict[str, Any]]:
    """The core, and {"inputs", "outputs"} as its description has them, with scales and zero points.

    mod      a quantized module, in one function or in four
    raises   StageError for a float module, IntegralError naming the layer at an end that is no code, or behind it
    """
    if get_ledger(mod).stage != "realized":
        raise StageError("export_library: core=True takes a quantized model, this one is in floats; quantize it first")
    parts = mod if is_partitioned(mod) else partition_conversions(mod)
    core = function_module(parts, CORE)
    check_ends(View(core))
    for operator in integrality(mod).floats:
        if operator.place == "suffix":
            raise IntegralError(f"export_library: the core would end before {operator}")
    return core, describe_functions(parts)[CORE]


def check_ends(view: View) -> None:
    """IntegralError for the first input or output of floats."""
    names = input_names(view.func)
    for name, param in view.params.items():
        if is_float(param) and view.readers[name]:
            layers = ", ".join(merge(*map(view.sources, view.readers[name])))
            raise IntegralError(
                f"export_library: the core takes '{names[name]}' as {param.ty.dtype}, for layer '{layers}'; {REMEDY}"
            )
    for name in view.outputs:
        if is_float(view.var[name]):
            layers = ", ".join(view.sources(name))
            raise IntegralError(
                f"export_library: the core gives {view.var[name].ty.dtype}, the result of layer '{layers}'; {REMEDY}"
            )
