"""`tvmq.inspect`: forecast of the integer form of a model and its speedup, without data.

The model is quantized with nominal ranges, which decides exactly what becomes integer, and both forms are lowered to
kernels as `build` does, without compilation. The cost model (tvmq/codegen/cost.py) then estimates the time of each
call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import tvm

from tvmq.codegen.compile.build import params_first
from tvmq.codegen.performance.estimate import Estimate, estimates
from tvmq.codegen.performance.machine import machine_of
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import StageError
from tvmq.formats.relax import from_relax
from tvmq.graph.ledger import Ledger, get_ledger
from tvmq.graph.module_functions import plain_module
from tvmq.graph.symbolic import dynamic_dimensions, with_sizes
from tvmq.options.config import QConfig, current_qconfig
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.prepare import prepare
from tvmq.quantization.pipeline import quantize
from tvmq.tools.analysis.forecast_report import Forecast, Row
from tvmq.tools.analysis.lane_products import describe_weights

CONVERSIONS = ("quantize", "dequantize", "requantize", "quantize_to_nhwc", "dequantize_to_nchw", "to_nhwc", "to_nchw")
USUAL_SIZE = 64  # of a dynamic dimension that is no batch


@params_first
def inspect(
    mod: tvm.IRModule,
    params: Mapping[str, np.ndarray] | None = None,
    target: Any = "llvm",
    *,
    config: QConfig | None = None,
    sizes: Mapping[str, int] | None = None,
    threads: int = 1,
    clock: float | None = None,
) -> Forecast:
    """Forecast the speedup of a float model by int8 on a CPU, in a few seconds, without data or compilation.

    mod, params  as returned by `from_onnx` and `from_torch`, or a plain Relax module; a target may be given in place of
                 params
    target       as for `build`; "llvm" is this CPU. Weights are portable for it and for short names such as "avx2",
                 else those for the CPU that is named
    config       options, by default the current qconfig; ranges are always nominal
    sizes        {dynamic dimension: size}; by default 1 for a batch, 64 for others
    threads      threads of a run
    clock        clock of the CPU in Hz; measured if the target is this CPU
    raises       StageError for a module that is quantized already, TargetError for targets that are not CPUs

    >>> x, builder = tvm.relax.Var("x", tvm.relax.TensorType([1, 8], "float32")), tvm.relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(tvm.relax.op.matmul(x, tvm.relax.const(np.ones((8, 4), np.float32))))
    ...     _ = builder.emit_func_output(y)
    >>> inspect(builder.get(), "llvm -mcpu=znver4", clock=3.7e9).verdict.partition(":")[0]
    'int8 will not help'
    """
    cpu, mod = resolve_target(target), plain_module(mod)
    stage = get_ledger(mod).stage
    if stage not in ("imported", "prepared"):
        raise StageError(
            f"inspect: the model is '{stage}', a forecast needs the float one; tvmq.explain shows this one"
        )
    machine = machine_of(cpu, clock)
    options = config or current_qconfig()
    nominal = replace(options, calibrate_mode="global_scale", bias_correction=False, weight_rounding="nearest")
    named, weights = from_relax(mod, params)
    floats = _fix_sizes(fold_constants(prepare(named, weights)), sizes)
    # as `tvmq quantize --target` does: a short name says what to compile for, the weights stay portable
    is_portable = isinstance(target, str) and not target.startswith("llvm ")
    integers = _fix_sizes(quantize(named, weights, config=nominal, target=None if is_portable else cpu), sizes)
    before, float_seconds = estimates(floats, cpu, machine, threads=threads)
    after, int8_seconds = estimates(integers, cpu, machine, threads=threads)
    rows = _rows(get_ledger(integers), before, after)
    calls = len(before), len(after)
    facts = threads, *calls, describe_weights(integers)
    return Forecast(tuple(rows), float_seconds, int8_seconds, machine, cpu.isa.name, *facts)


def _fix_sizes(mod: tvm.IRModule, sizes: Mapping[str, int] | None) -> tvm.IRModule:
    """The module with all dynamic dimensions fixed."""
    dynamic = dynamic_dimensions(mod)
    chosen = {name: 1 if axis == 0 else USUAL_SIZE for name, (_, axis) in dynamic.items()} | dict(sizes or {})
    return fold_constants(with_sizes(mod, chosen)) if chosen else mod


def _rows(ledger: Ledger, before: list[Estimate], after: list[Estimate]) -> list[Row]:
    """Rows for the layers of the ledger, in order, and a last one for conversions and layouts of inputs and results."""
    owner = {source: key for key in reversed(list(ledger.layers)) for source in ledger.layers[key].get("layers", ())}
    heavy = {key for key, entry in ledger.layers.items() if entry.get("macs")}
    rows = {key: Row.of(key, entry) for key, entry in ledger.layers.items()}
    rest = Row("", ("(inputs, results, layouts)",), "conversion", "int8", "", "")
    for estimate in before:
        _find_row(estimate, owner, heavy, rows, rest).add_float(estimate)
    for estimate in after:
        row = _find_row(estimate, owner, heavy, rows, rest)
        row.add_int8(estimate, converts=estimate.work.kind in CONVERSIONS or _converts(estimate))
    return [row for row in (*rows.values(), rest) if row.float_seconds or row.int8_seconds or row.precision == "float"]


def _converts(estimate: Estimate) -> bool:
    """True for loops without a template that only convert and move data."""
    words = {word.rstrip("0123456789") for word in estimate.call.symbol.split("_")}
    return estimate.work.kind == "plain" and words <= {"fused", "quantize", "dequantize", "transpose", "reshape", "pad"}


def _find_row(estimate: Estimate, owner: Mapping[str, str], heavy: set[str], rows: Mapping[str, Row], rest: Row) -> Row:
    """Row of the layer that a call is counted for: the first that multiplies matrices, else the first."""
    keys = list(dict.fromkeys(owner[source] for source in estimate.sources if source in owner))
    chosen = next((key for key in keys if key in heavy), keys[0] if keys else None)
    return rest if chosen is None else rows[chosen]
