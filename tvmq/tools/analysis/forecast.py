"""`tvmq.inspect`: what quantization would make of a model and how much faster it would be, before any data are at hand.

The model is quantized with nominal ranges, which decides exactly what will be an integer and what will not, and both
forms are lowered as `build` does it, kernels chosen; nothing is compiled. The cost model (tvmq/codegen/cost.py) then
says how long each call takes.
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
from tvmq.graph.functions import plain_module
from tvmq.graph.ledger import Ledger, get_ledger
from tvmq.graph.symbolic import free_dimensions, with_sizes
from tvmq.options.config import QConfig, current_qconfig
from tvmq.passes.fold_constants import fold_constants
from tvmq.passes.prepare import prepare
from tvmq.quantization.pipeline import quantize
from tvmq.tools.analysis.forecast_report import Forecast, Row

CONVERSIONS = ("quantize", "dequantize", "requantize", "quantize_to_nhwc", "dequantize_to_nchw", "to_nhwc", "to_nchw")
USUAL_SIZE = 64  # of a free dimension that is no batch


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
    """Forecast the gain by int8 of a float model on a CPU; a few seconds, without data and without compiling.

    mod, params  as `from_onnx` and `from_torch` give them, or a plain Relax module; a target in the place of params is
                 taken as the target
    target       as for `build`; "llvm" is this CPU
    config       options; those of the qconfig around by default. Ranges are nominal, whatever they say
    sizes        {dynamic dimension: number}; by default a batch is 1, others are 64
    threads      that a run may use
    clock        cycles a second of the CPU; measured where the target is this CPU
    raises       StageError for a module that is quantized already, TargetError for what is no CPU

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
    integers = _fix_sizes(quantize(named, weights, config=nominal, target=cpu), sizes)
    before, float_seconds = estimates(floats, cpu, machine, threads=threads)
    after, int8_seconds = estimates(integers, cpu, machine, threads=threads)
    rows = _rows(get_ledger(integers), before, after)
    return Forecast(tuple(rows), float_seconds, int8_seconds, machine, cpu.isa.name, threads, len(before), len(after))


def _fix_sizes(mod: tvm.IRModule, sizes: Mapping[str, int] | None) -> tvm.IRModule:
    """The module with all its dimensions as numbers."""
    free = free_dimensions(mod)
    chosen = {name: 1 if axis == 0 else USUAL_SIZE for name, (_, axis) in free.items()} | dict(sizes or {})
    return fold_constants(with_sizes(mod, chosen)) if chosen else mod


def _rows(ledger: Ledger, before: list[Estimate], after: list[Estimate]) -> list[Row]:
    """Rows for the layers of the ledger, in its order, and a last one for conversions and layouts at the borders."""
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
    """True for loops without a template that only convert and move."""
    words = {word.rstrip("0123456789") for word in estimate.call.symbol.split("_")}
    return estimate.work.kind == "plain" and words <= {"fused", "quantize", "dequantize", "transpose", "reshape", "pad"}


def _find_row(estimate: Estimate, owner: Mapping[str, str], heavy: set[str], rows: Mapping[str, Row], rest: Row) -> Row:
    """The layer that a call counts for: the first one of those that it computes that multiplies matrices, or any."""
    keys = list(dict.fromkeys(owner[source] for source in estimate.sources if source in owner))
    chosen = next((key for key in keys if key in heavy), keys[0] if keys else None)
    return rest if chosen is None else rows[chosen]
