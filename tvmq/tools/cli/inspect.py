"""`tvmq inspect`: forecast of what int8 would gain, before a model is quantized."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.tools.cli.arguments import Batch, Json, MaxBytes, Quiet, Texts, check_targets
from tvmq.tools.cli.console import notice, print_json, print_result, step
from tvmq.tools.cli.model import check_model, import_model


def inspect(
    model: Path, *, target: str = "llvm", shape: Texts = None, batch: Batch = 1, max_bytes: MaxBytes = None,
    threads: Annotated[int, typer.Option(min=1)] = 1, clock: Annotated[float | None, typer.Option(min=0.1)] = None,
    measure: bool = True, names: bool = False, as_json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Forecast the speedup of int8 for a float model in a few seconds, without data or compilation.

    One line per layer: whether it becomes int8, and if not, why; its kernel; what bounds it ("compute", "memory", or
    "call": the layer is so small that calling it dominates); its time in float and in int8, and the part of the latter
    for conversions around it. The last sentence says whether int8 will help. Times are estimates; for this machine a
    small network is measured once (with --no-measure only their order and ratios are meaningful).

    Example: tvmq inspect resnet18.onnx --target "llvm -mcpu=core-avx2"

    model    Trained float model: an .onnx file, or a torch program (.pt2).
    target   CPU to forecast for; "llvm" is this one. Others: "llvm -mcpu=core-avx2", "llvm -mcpu=sapphirerapids"
    threads  Threads of a run.
    clock    Clock of the CPU in GHz. Default: measured for this CPU, 3 for others.
    measure  Calibrate the cost model on this machine; done once, takes 4 s.
    names    Only list the layers and their operators, by the names that --rule takes.
    """
    check_targets([target])
    check_model(model)
    with step("import", quiet=quiet):
        mod, params, _, _ = import_model(model, None, shape or (), batch, max_bytes=max_bytes, quiet=quiet)
    if names:
        from tvmq.tools.analysis.work import list_layers

        _print_names(list_layers(mod, params), as_json=as_json)
        return
    if not quiet and (line := describe_dynamic_sizes(mod)):
        notice(line)
    if measure and clock is None and is_unknown(target):
        with step("measure this machine, once", quiet=quiet):
            tvmq.measure_machine()
    with step("inspect", quiet=quiet):
        forecast = tvmq.inspect(mod, params, target, threads=threads, clock=clock * 1e9 if clock else None)
    print_result(forecast, as_json=as_json)


def describe_dynamic_sizes(mod: Any) -> str:
    """Sizes that the forecast is for, where the model's are dynamic; "" where all are fixed."""
    from tvmq.graph.symbolic import dynamic_dimensions
    from tvmq.tools.analysis.forecast import USUAL_SIZE

    free = [f"{name} of '{param}'" for name, (param, axis) in dynamic_dimensions(mod).items() if axis != 0]
    return f"forecast for {USUAL_SIZE} as {', '.join(free)} (--shape chooses others)" if free else ""


def is_unknown(target: str) -> bool:
    """True if the target is this CPU, and nothing was measured of it."""
    from tvmq.codegen.performance.machine import known_speed
    from tvmq.codegen.target.cpu import resolve_target

    return resolve_target(target).mcpu == resolve_target().mcpu and known_speed() is None


def _print_names(layers: list[tuple[str, str]], *, as_json: bool) -> None:
    if as_json:
        print_json({"layers": [{"name": name, "operator": operator} for name, operator in layers]})
        return
    width = max((len(name) for name, _ in layers), default=0)
    for name, operator in layers:
        print(f"{name:<{width}}  {operator}")
